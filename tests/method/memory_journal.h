/* A journal in memory, whose disk may go before a given record. */
#pragma once

#include "check.h"

#include "session/session.h"

enum { MOST_RECORDS = 400 };

typedef struct memory_journal {
    uint64_t number[MOST_RECORDS];
    tacit_buffer record[MOST_RECORDS];
    size_t count;
    size_t dies_after; /* records */
} memory_journal;

static inline tacit_status read_memory(void *context, uint64_t round, bool *found, tacit_buffer *out,
                                       tacit_error *error) {
    memory_journal *self = context;
    *found = false;
    for (size_t i = 0; i < self->count; i++)
        if (self->number[i] == round) {
            *found = true;
            return tacit_buffer_append(out, self->record[i].bytes, self->record[i].length, error);
        }
    return TACIT_OK;
}

static inline tacit_status write_memory(void *context, uint64_t round, const uint8_t *bytes, size_t length,
                                        tacit_error *error) {
    memory_journal *self = context;
    if (self->count == self->dies_after) return tacit_fail(error, TACIT_IO, "the disk is gone");
    assert_true(self->count < MOST_RECORDS);
    self->number[self->count] = round;
    self->record[self->count] = (tacit_buffer)TACIT_BUFFER_INIT;
    TACIT_TRY(tacit_buffer_append(&self->record[self->count], bytes, length, error));
    self->count++;
    return TACIT_OK;
}

static inline tacit_status no_checkpoint(void *context, bool *found, uint64_t *round, tacit_buffer *out,
                                         tacit_error *error) {
    (void)context;
    (void)round;
    (void)out;
    (void)error;
    *found = false;
    return TACIT_OK;
}
