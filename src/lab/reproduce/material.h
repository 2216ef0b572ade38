/*
 * The rows of an experiment: found in the data folder, read as they are published, and then brought into the
 * unit ball from public rows alone.
 */
#pragma once

#include "data/dataset.h"
#include "data/reading/input.h"

typedef struct tacit_material {
    tacit_dataset *train;
    tacit_dataset *test;  /* NULL: test rows are held out of `train` */
    const char *stand_in; /* where the rows are not those of the source: a sentence that says so */
} tacit_material;

#define TACIT_MATERIAL_INIT                                                                                  \
    { NULL, NULL, NULL }

void tacit_material_clear(tacit_material *material);

/* A file that an experiment reads: "har/X_train.txt", kept plain or with .xz or .gz after its name. */
typedef struct tacit_data_file {
    const char *name;
    const char *shape; /* "7,352 rows of 561 numbers" */
} tacit_data_file;

/* The path of a file, plain or compressed; TACIT_NOT_FOUND with a sentence that says what to do. `folder`
 * NULL: the variable TACIT_DATA is not set. */
tacit_status tacit_data_find(char *out, size_t size, const char *folder, const tacit_data_file *file,
                             tacit_error *error);
tacit_status tacit_data_open(tacit_input **out, const char *folder, const tacit_data_file *file,
                             tacit_error *error);

/* All numbers of a file of lines of `columns` numbers separated by spaces or commas, after `skip` lines of
 * something else; *rows says how many lines. Owned by the caller. A line with more or fewer, or a word that
 * is no number, is TACIT_INPUT with its line. */
tacit_status tacit_data_numbers(double **out, size_t *rows, const char *folder, const tacit_data_file *file,
                                size_t skip, size_t columns, const tacit_progress *progress,
                                tacit_error *error);

/* Sparse rows piling up; columns must ascend within a row. */
typedef struct tacit_row_builder {
    size_t rows, row_capacity, entries, entry_capacity;
    size_t *start;
    uint32_t *column;
    double *value;
    int32_t *label;
} tacit_row_builder;

#define TACIT_ROW_BUILDER_INIT                                                                               \
    { 0, 0, 0, 0, NULL, NULL, NULL, NULL }

tacit_status tacit_row_builder_entry(tacit_row_builder *builder, uint32_t column, double value,
                                     tacit_error *error);
tacit_status tacit_row_builder_end_row(tacit_row_builder *builder, int32_t label, tacit_error *error);

/* Move the pile into a sparse dataset; the pile is then empty. */
tacit_status tacit_row_builder_finish(tacit_dataset **out, tacit_row_builder *builder, size_t features,
                                      const char *const *class_names, size_t classes, tacit_error *error);
void tacit_row_builder_clear(tacit_row_builder *builder);

typedef enum tacit_row_scale {
    TACIT_ROWS_NORMALISED, /* every row gets norm 1 (or stays 0) */
    TACIT_ROWS_BY_LARGEST, /* all divided by the largest norm of a public row; a longer one gets norm 1 */
} tacit_row_scale;

typedef struct tacit_preparation {
    size_t dimensions;           /* principal components to keep; 0: all features as they are */
    tacit_row_scale scale;       /* ignored when the rows are in the ball already */
    bool is_in_ball;             /* the rows need no scaling */
    const uint32_t *public_rows; /* training rows from which components and norms are taken */
    size_t public_count;
} tacit_preparation;

/* New rows for every one of `raw`, all within the unit ball. */
tacit_status tacit_material_prepare(tacit_material *out, const tacit_material *raw,
                                    const tacit_preparation *how, const tacit_progress *progress,
                                    tacit_error *error);
