/* Rows of a program: numbers or columns where they lie, or a file; and how they become encoded rows. */
#pragma once

#include "base/pool.h"
#include "data/dataset.h"
#include "data/source/arrays.h"
#include "tacit/tacit.h"

typedef enum frame_kind { FRAME_DENSE, FRAME_SPARSE, FRAME_FILE, FRAME_TABLE } frame_kind;
typedef enum frame_scaling { SCALE_UNKNOWN, SCALE_BOUNDS, SCALE_NORM, SCALE_FROM_DATA } frame_scaling;

/* Columns of a program, in batches of rows. */
typedef struct frame_table {
    tacit_levels names;
    tacit_batch *batches;
    size_t count, capacity;
    size_t column_capacity;   /* of a table that is filled column by column, which has one batch */
    struct ArrowArray *arrow; /* what the batches were made of, one each; NULL: the caller's memory */
    struct frame_own *own;    /* levels and dictionaries */
} frame_table;

/* What is borrowed is the caller's; texts, bounds and names are copies. */
struct tacit_frame {
    frame_kind kind;
    size_t rows, columns;
    /* dense: element (i, j) lies i * row_bytes + j * column_bytes after `values` */
    const char *values;
    tacit_number_type type;
    ptrdiff_t row_bytes, column_bytes;
    /* sparse */
    const double *value;
    const void *column, *start;
    tacit_index_type index;
    /* file and table: read by its own schema, and how to read it by another one */
    char *path; /* for messages, of a table */
    char *group;
    bool no_header;
    frame_table *table;
    tacit_dataset *data;
    tacit_schema *schema; /* NULL: a table that nobody has described yet */
    /* labels */
    const int32_t *label; /* TACIT_UNLABELLED of rows that have none */
    bool unlabelled;      /* there are such rows */
    tacit_levels classes;
    const double *response;
    const int32_t *event; /* of times: whether it was seen then; NULL: the response is a number or count */
    const double *entry;  /* since when each row is observed; NULL: from 0 on */
    double response_low, response_high;
    bool counts;
    const int32_t *party;
    size_t parties;
    /* encoding */
    frame_scaling scaling;
    double *low, *high, norm;
    bool intercept;
    bool complete;                           /* NaN is refused */
    bool label_from_data, columns_from_data; /* what they are was read off the rows */
    char **names;                            /* NULL: x1, x2, ... */
};

/* Bytes k of an array of indexes. */
static inline int64_t frame_index(const void *indexes, tacit_index_type type, size_t k) {
    return type == TACIT_INDEX_INT32 ? ((const int32_t *)indexes)[k] : ((const int64_t *)indexes)[k];
}

/* Whether its rows are read from a source, cell by cell. */
static inline bool frame_has_source(const tacit_frame *frame) {
    return frame->kind == FRAME_FILE || frame->kind == FRAME_TABLE;
}

/* tacit_dataset_load, of a frame that has a source. */
tacit_status frame_read(tacit_dataset **out, tacit_schema **drafted, const tacit_frame *frame,
                        const tacit_schema *schema, const tacit_load_options *options, tacit_error *error);

/* TACIT_USAGE for a frame that has a source, whose schema says it; `what` begins the sentence. */
tacit_status frame_check_memory(const tacit_frame *frame, const char *what, tacit_error *error);

/* The labels or responses of the rows, as the schema has them. */
tacit_status frame_set_labels(tacit_dataset *data, const tacit_frame *frame, const tacit_schema *schema,
                              tacit_error *error);

/* A frame of kind table without rows and columns. */
tacit_status frame_table_create(tacit_frame **out, tacit_error *error);
frame_table *frame_table_free(frame_table *table);

/* Whether a schema makes more of a dense frame's numbers than scaled ones, as of levels that are numbers;
 * and the frame as a table, which borrows what it borrows. New. */
bool frame_needs_table(const tacit_frame *frame, const tacit_schema *schema);
tacit_status frame_as_table(tacit_frame **out, const tacit_frame *frame, const tacit_schema *schema,
                            tacit_error *error);

/* Memory that lives as long as the table; zero-filled, NULL when there is none left. */
void *frame_table_own(frame_table *table, size_t count, size_t size);

/* The name of column j, for errors and schemas. */
const char *frame_column_name(const tacit_frame *frame, size_t column, char scratch[32]);

/* Rows [first, first + count) as doubles, count x columns row-major. TACIT_INPUT, naming row and column, for
 * an infinite number. */
tacit_status frame_gather(const tacit_frame *frame, size_t first, size_t count, double *out,
                          tacit_error *error);

/* TACIT_INPUT, naming the first missing value, of a frame that has `missing` but is to have none: by its
 * owner's word, or by the schema it is encoded by. */
tacit_status frame_check_complete(const tacit_frame *frame, const tacit_schema *schema, size_t missing,
                                  tacit_error *error);

/* What is public about the columns, as the frame's owner said it, or (from data) read off the rows. New.
 * TACIT_USAGE for a frame whose owner said neither. */
tacit_status frame_schema(tacit_schema **out, const tacit_frame *frame, tacit_pool *pool, tacit_error *error);

/* The same of any frame, with terms and a subset (NULL: none); *out stays NULL where the frame's own schema
 * will do. */
tacit_status frame_schema_with(tacit_schema **out, const tacit_frame *frame, const char *terms,
                               const char *subset, tacit_pool *pool, tacit_error *error);

/* A copy of a schema. */
tacit_status frame_copy_schema(tacit_schema **out, const tacit_schema *schema, tacit_error *error);

/* With an identity: tacit_dataset.identity. */
typedef enum frame_need { NEED_LABELS, NEED_ROWS, NEED_IDENTITY } frame_need;

/* Encode by `schema`; the frame's own or another one with as many columns. What can be used where it lies is
 * lent by the frame, which must outlive the result. */
tacit_status frame_encode(tacit_dataset **out, const tacit_frame *frame, const tacit_schema *schema,
                          frame_need need, tacit_pool *pool, tacit_error *error);

/* A copy of the rows of a frame in memory that a schema's subset is about, with their labels. */
typedef struct frame_picked {
    tacit_frame frame; /* borrows these, and the rest from the frame that they were picked of */
    double *values, *response, *entry;
    int32_t *label, *party, *event;
} frame_picked;

#define FRAME_PICKED_INIT                                                                                    \
    { .values = NULL }

tacit_status frame_pick(frame_picked *out, const tacit_frame *frame, const tacit_schema *schema,
                        tacit_error *error);

/* The data set that was made of them owns from now on what it borrows. */
void frame_picked_give(frame_picked *picked, tacit_dataset *data);
void frame_picked_clear(frame_picked *picked);

/* How rows of numbers are encoded by a schema; for blocks of a frame. */
typedef struct frame_map {
    const tacit_schema *schema;
    double *numbers; /* the columns' scales; NULL for a sparse schema */
    size_t *place;   /* with terms: where each column of the schema stands in a row */
    size_t columns, features;
    double reach, inside; /* data/encode.h */
    double factor;        /* of every row, where it does not depend on the row */
} frame_map;

#define FRAME_MAP_INIT                                                                                       \
    { .numbers = NULL }

/* TACIT_USAGE when the schema's columns are not numbers or not as many as the frame has. */
tacit_status frame_map_create(frame_map *out, const tacit_schema *schema, const tacit_frame *frame,
                              tacit_error *error);
void frame_map_clear(frame_map *map);

/* Encode one row of map->columns numbers; `counts` learns of missing values and shortened rows. False when
 * one of them is infinite. */
bool frame_map_row(const frame_map *map, const double *raw, double *out, tacit_encode_counts *counts);

/* How many columns the rows have that a schema is for. */
size_t frame_schema_columns(const tacit_schema *schema);
