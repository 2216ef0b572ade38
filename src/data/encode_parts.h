/* What encodes rows, for encode.c (one by one) and encode_block.c (column by column). */
#pragma once

#include "data/encode.h"
#include "num/kernel/kernel.h"

/* A column of the table and where its features go. */
typedef struct encode_slot {
    const tacit_column *column;
    const tacit_schema_column *declared;
    uint32_t position; /* of `declared` in the schema */
    uint32_t feature;
    tacit_scale scale; /* number */
    int32_t *level;    /* category: the schema's level of each code of the table, or unknown */
    size_t levels;     /* how many codes the table had when `level` was made */
} encode_slot;

struct tacit_encoder {
    const tacit_schema *schema;
    const tacit_kernels *kernels;
    tacit_encode_counts counts;
    size_t features;
    size_t slots, entries; /* columns, and the most entries of a row */
    double reach;          /* the square of the largest norm before scaling */
    encode_slot *slot;
    uint32_t *column; /* entries of the row at hand */
    double *value;
    size_t gaps; /* columns that are missing in it */
    uint32_t *gap;
    double *number; /* with terms: the raw values of the schema's columns in the row at hand */
    int32_t *level;
};

/* The level of a category in the schema, or a negative number for all zeros. */
int32_t encode_find_level(const encode_slot *from, size_t row, tacit_encode_counts *counts);

/* A sum of d squares, each product rounded, is off by at most about d eps in any order; twice that, for our
 * sum and the reader's, is taken off so that no computed norm exceeds 1. */
double encode_inside_ball(const tacit_schema *schema, size_t features);

double encode_row_factor(const tacit_schema *schema, double norm, double reach, tacit_encode_counts *counts);
