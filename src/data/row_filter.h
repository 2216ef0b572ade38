/* Which rows of a source are kept, counted from 0 in the order in which they are read. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct tacit_row_choice {
    bool (*keeps)(const void *context, uint64_t row);
    const void *context;
} tacit_row_choice;

/* No row at all. */
static inline bool tacit_keeps_none(const void *context, uint64_t row) {
    (void)context;
    (void)row;
    return false;
}

static inline bool tacit_row_chosen(const tacit_row_choice *choice, uint64_t row) {
    return choice == NULL || choice->keeps(choice->context, row);
}
