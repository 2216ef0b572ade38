/* Which rows of a source are kept, counted from 0 in the order in which they are read. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct tacit_row_filter {
    bool (*keeps)(const void *context, uint64_t row);
    const void *context;
} tacit_row_filter;

/* No row at all. */
static inline bool tacit_row_filter_none(const void *context, uint64_t row) {
    (void)context;
    (void)row;
    return false;
}

static inline bool tacit_row_filter_keeps(const tacit_row_filter *filter, uint64_t row) {
    return filter == NULL || filter->keeps(filter->context, row);
}
