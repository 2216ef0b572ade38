/* Encoded rows piling up, their number unknown until the file ends. Used by the loaders only. */
#pragma once

#include "data/dataset.h"

/* Dense rows are kept in blocks of this many. */
enum { TACIT_GATHER_BLOCK = 4096 };

typedef struct tacit_gather {
    size_t features;
    bool is_sparse;
    bool has_label, has_response, has_group, has_identity;
    bool bare; /* no features: nothing is encoded */
    size_t rows, row_capacity;
    int32_t *label, *group;
    double *response;
    uint64_t *identity;
    size_t response_columns;
    size_t block_count, block_capacity;
    double **block;     /* dense */
    tacit_matrix whole; /* dense, when the number of rows was announced: no blocks then */
    size_t *start;      /* sparse */
    size_t entries, entry_capacity;
    uint32_t *column;
    double *value;
    uint8_t *absent;                  /* which cells are missing, absent_bytes a row; NULL: none so far */
    size_t absent_bytes, absent_rows; /* 0 bytes: not kept; rows that there is room for */
    tacit_missing_cells missing;
    bool may_spill; /* rows that need more than `most` bytes go to files (base/spill.h) */
    uint64_t most;
    bool is_spilled; /* then `whole`, or `value` and `column`, lie there, and the others once they grow */
    tacit_spill spilled[TACIT_SPILLED_COUNT]; /* as those of the data set */
    size_t passed; /* dense rows there that need not stay in memory until somebody looks at them */
    double *raw;   /* raw_columns of each row; NULL: not kept */
    size_t raw_columns, raw_capacity;
} tacit_gather;

/* The number of rows is known after all: dense rows then go straight to their final place. */
tacit_status tacit_gather_expect(tacit_gather *gather, size_t rows, tacit_error *error);

/* Encode and append all rows of a table, with the class or the response, column by column, and the group of
 * each (NULL: none). */
tacit_status tacit_gather_table(tacit_gather *gather, tacit_encoder *encoder, const tacit_table *table,
                                const int32_t *label, const double *const *response, const int32_t *group,
                                tacit_error *error);

/* Move everything into a dataset that is otherwise empty. */
tacit_status tacit_gather_finish(tacit_gather *gather, tacit_dataset *dataset, tacit_error *error);

void tacit_gather_clear(tacit_gather *gather);
