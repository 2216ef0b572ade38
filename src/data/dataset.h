/*
 * Encoded rows, all inside the unit ball, with their labels: what methods train on.
 */
#pragma once

#include "base/progress.h"
#include "base/spill.h"
#include "data/encode.h"
#include "data/reading/row_filter.h"
#include "num/matrix.h"

typedef enum tacit_storage {
    TACIT_STORAGE_AUTO, /* sparse when tacit_schema_density is below a quarter */
    TACIT_STORAGE_DENSE,
    TACIT_STORAGE_SPARSE,
} tacit_storage;

/* What a dataset has from somebody else, who keeps it longer: freeing leaves it alone. */
enum {
    TACIT_LENT_VALUES = 1, /* of dense or sparse rows */
    TACIT_LENT_COLUMNS = 2,
    TACIT_LENT_STARTS = 4,
    TACIT_LENT_LABELS = 8, /* and groups */
    TACIT_LENT_ALL = 16,   /* everything but the structure itself */
};

/* The label of a row that has none, where the schema says missing: unlabelled. No method meets it that does
 * not take such rows (tacit_plan_check). */
enum { TACIT_UNLABELLED = -1 };

/* What of rows that are too many for memory lies in a file of its own (base/spill.h). */
typedef enum tacit_spilled {
    TACIT_SPILLED_VALUES, /* of dense or sparse rows */
    TACIT_SPILLED_COLUMNS,
    TACIT_SPILLED_STARTS,
    TACIT_SPILLED_LABELS,
    TACIT_SPILLED_RESPONSES,
    TACIT_SPILLED_GROUPS,
    TACIT_SPILLED_IDENTITIES,
    TACIT_SPILLED_COUNT
} tacit_spilled;

typedef struct tacit_dataset {
    size_t rows, features;
    unsigned lent; /* TACIT_LENT_..., added together */
    bool is_sparse;
    tacit_matrix dense; /* unless is_sparse */
    tacit_csr sparse;   /* if is_sparse */
    tacit_spill spilled[TACIT_SPILLED_COUNT];
    int32_t *label; /* 0..classes-1 of each row; NULL when the file had none and that was allowed */
    /* of each row, within the schema's bounds, where the schema's label is numeric: then there are no classes
     * and no labels; else NULL */
    double *response;
    size_t response_columns; /* numbers of a row's response, one row after the other; 0 counts as 1 */
    tacit_levels classes;
    char **feature_names; /* one a feature; NULL for LIBSVM: see tacit_dataset_feature_name */
    int32_t *group;       /* of each row, when a group column was asked for; else NULL */
    tacit_levels groups;
    bool persons;    /* groups are the schema's persons */
    uint8_t *absent; /* which cells were missing (tacit_encoder_absent), absent_bytes a row; NULL: none */
    size_t absent_bytes;
    bool has_intercept;
    bool bounds_from_data; /* something of the schema was read off rows (schema.h): not private */
    tacit_encode_counts counts;
    tacit_missing_cells missing;
    /* of each row, a hash of all cells it has in its source (table.h); NULL: not asked for */
    uint64_t *identity;
    /* with terms over columns that are imputed: the schema's columns of each row, levels by their number (-1:
     * none of them), NaN where something is missing; else NULL */
    double *raw;
    size_t raw_columns; /* of the schema */
} tacit_dataset;

/* The vocabulary of a text column without a schema: hashed, or read off the rows, which is not private. */
typedef struct tacit_text_draft {
    unsigned grams;
    tacit_strip strip;
    size_t buckets; /* > 0: hashed */
    tacit_term_limits limits;
} tacit_text_draft;

typedef struct tacit_load_options {
    const char *label;       /* NULL: the schema's, or the last column */
    const char *positive;    /* NULL: the schema's second class, or the larger value */
    tacit_response response; /* without a schema: what the label is */
    const char *group; /* a column whose values become groups; NULL: the schema's persons, if it names them */
    bool no_header;
    char separator;      /* 0: detect */
    bool label_optional; /* with a schema: a file without the label column is fine (prediction) */
    bool label_ignored;  /* with a schema: what the label column holds, if there is one, is not read */
    tacit_storage storage;
    size_t dimension; /* of a LIBSVM file without schema; 0: infer */
    const tacit_progress *progress;
    const char *text; /* without a schema: a column that holds texts; NULL: none */
    tacit_text_draft text_draft;
    const tacit_row_filter *rows; /* NULL: all. With a schema only; what others hold is not looked at */
    bool only_count;              /* with a schema: nothing is kept of any row, they are counted */
    /* labels, responses and groups only, to deal rows out before they are read: there is no matrix then */
    bool no_features;
    const char *link;   /* as in tacit_source_options; NULL: none */
    bool tidy;          /* without a schema: the draft is for people (tacit_draft_options) */
    bool of_model;      /* with a schema: rows to evaluate a model on (TACIT_LABEL_OF_MODEL) */
    const char *terms;  /* without a schema: the draft gets these (tacit_schema_set_terms); NULL: none */
    const char *subset; /* the same (tacit_schema_set_subset) */
    bool identified;    /* with a schema: rows get an identity */
    const char *fill, *fill_value; /* as in tacit_source_options; NULL: none */
    bool unlabelled; /* without a schema: the draft keeps rows without a label, where there are any */
} tacit_load_options;

#define TACIT_LOAD_DEFAULTS                                                                                  \
    {                                                                                                        \
        NULL, NULL, TACIT_RESPONSE_CLASS, NULL, false, 0, false, false, TACIT_STORAGE_AUTO, 0, NULL, NULL,   \
            { 1, TACIT_STRIP_NOTHING, 0, { 0.005, 0.5, 0 } }, NULL, false, false, NULL, false, false, NULL,  \
            NULL, false, NULL, NULL, false                                                                   \
    }

/* Load the rows of any source (source/source.h). With a schema they are encoded as they stream by. Without
 * (NULL) one is drafted from the data, marked so, and the draft is handed out through `drafted` unless that
 * is NULL; load the test file with it. Rows without a label are errors unless the schema says otherwise. Out:
 * *out and *drafted owned by the caller. */
tacit_status tacit_dataset_load(tacit_dataset **out, tacit_schema **drafted, const char *name,
                                const tacit_schema *schema, const tacit_load_options *options,
                                tacit_error *error);

/* tacit_dataset_load from an open input, which is left at its end. */
tacit_status tacit_dataset_read(tacit_dataset **out, tacit_schema **drafted, tacit_input *input,
                                const tacit_schema *schema, const tacit_load_options *options,
                                tacit_error *error);

/* The same from an open source, which is left at its end. Here the options must be given. */
tacit_status tacit_dataset_read_source(tacit_dataset **out, tacit_schema **drafted, tacit_source *source,
                                       const tacit_schema *schema, const tacit_load_options *options,
                                       tacit_error *error);

/* Read a source of columns into a table, for `data info` and drafts. */
tacit_status tacit_table_load(tacit_table **out, tacit_source *source, const tacit_load_options *options,
                              tacit_error *error);

/* A dense dataset of zeros with labels 0 and features x1, x2, ...: for generators to fill. */
tacit_status tacit_dataset_create(tacit_dataset **out, size_t rows, size_t features,
                                  const char *const *class_names, size_t classes, tacit_error *error);

/* Features, names, classes and intercept of a dataset that is otherwise empty. */
tacit_status tacit_dataset_describe(tacit_dataset *dataset, const tacit_schema *schema, tacit_error *error);

tacit_dataset *tacit_dataset_free(tacit_dataset *dataset);

tacit_rows tacit_dataset_rows(const tacit_dataset *dataset);

/* The name of feature j; `scratch` is used where names are only numbers. */
const char *tacit_dataset_feature_name(const tacit_dataset *dataset, size_t feature, char scratch[32]);

/* Some rows of a dataset in a chosen order. Borrowed: dataset and index must outlive it. `label` and
 * `group` are those of stored rows, as tacit_glm_problem wants them. */
typedef struct tacit_view {
    tacit_rows rows;
    const int32_t *label;
    const int32_t *group;
    bool persons; /* groups are the schema's persons */
    size_t classes;
    const double *response;  /* of stored rows; NULL when the rows have classes */
    size_t response_columns; /* as those of the data set */
    size_t shortened;        /* rows of the whole data set that its schema's clip has shortened */
    const uint8_t *absent;   /* of stored rows, as that of the data set */
    size_t absent_bytes;
    uint64_t absent_cells;              /* of the whole data set */
    const tacit_missing_cells *missing; /* of stored rows; NULL: not known */
    const uint64_t *identity;           /* of stored rows, as that of the data set; NULL: not known */
    const double *raw;                  /* of stored rows, as that of the data set, raw_columns each */
    size_t raw_columns;
    /* rows lie in a file (base/spill.h): those that a pass is done with need not stay in memory */
    bool spilled;
    bool all_left_out; /* the rows that the data set leaves out count as this view's, and nobody else's */
} tacit_view;

tacit_view tacit_dataset_view(const tacit_dataset *dataset);

/* The stored rows named by `index`. */
tacit_view tacit_dataset_subset(const tacit_dataset *dataset, const uint32_t *index, size_t count);

/* `count` view rows from `begin`. */
tacit_view tacit_view_slice(const tacit_view *view, size_t begin, size_t count);

static inline int32_t tacit_view_label(const tacit_view *view, size_t i) {
    return view->label[tacit_rows_stored(&view->rows, i)];
}

/* How many rows of the view have a label. */
size_t tacit_view_labelled(const tacit_view *view);

/* y in {-1, +1} of a two-class view. */
static inline double tacit_view_sign(const tacit_view *view, size_t i) {
    return tacit_view_label(view, i) == 1 ? 1.0 : -1.0;
}

static inline size_t tacit_view_columns(const tacit_view *view) {
    return view->response_columns > 1 ? view->response_columns : 1;
}

/* All numbers of a row's response, and the first of them. */
static inline const double *tacit_view_responses(const tacit_view *view, size_t i) {
    return view->response + tacit_rows_stored(&view->rows, i) * tacit_view_columns(view);
}

static inline double tacit_view_response(const tacit_view *view, size_t i) {
    return *tacit_view_responses(view, i);
}

/* How many cells of each column of the schema, and of the label behind them, were missing in the rows of a
 * view and in those left out before them. Out: `columns` numbers; returns how many rows were left out. */
uint64_t tacit_view_missing(const tacit_view *view, size_t columns, uint64_t *out);

/* How many persons, or other groups, the rows of a view are of. */
tacit_status tacit_view_groups(const tacit_view *view, size_t *out, tacit_error *error);

/* Called with consecutive blocks of a view; `first` is the block's first row in the whole view. */
typedef tacit_status tacit_block_function(void *context, const tacit_view *block, size_t first,
                                          tacit_error *error);

/* Visit a view in blocks of at most `block_rows` rows (0: 4096), in order. Stops at the first failure. */
tacit_status tacit_dataset_map(const tacit_view *view, size_t block_rows, tacit_block_function *function,
                               void *context, tacit_error *error);

/* Write the encoded features (without the intercept) and the label, called "label", as CSV. */
tacit_status tacit_dataset_write_csv(const tacit_dataset *dataset, const char *path, tacit_error *error);
