/*
 * A rank's part of the rows. The deal is made from labels and groups alone, the same on every rank; then the
 * file is read again, and a rank keeps the rows of its own parties and the public ones, and rank 0 those to
 * test on. No rank ever holds all of them.
 */
#include <stdlib.h>
#include <string.h>

#include "api/partition.h"
#include "base/memory.h"

/* A set of rows, and where each of them is among those that are kept. */
typedef struct kept_rows {
    uint64_t *word;   /* 64 rows each */
    uint32_t *before; /* kept rows before each word */
    size_t words;
} kept_rows;

static tacit_status kept_create(kept_rows *out, size_t rows, tacit_error *error) {
    size_t words = rows / 64 + 1;
    *out = (kept_rows){ TACIT_NEW(uint64_t, words), TACIT_NEW(uint32_t, words), words };
    return out->word != NULL && out->before != NULL ? TACIT_OK : tacit_fail_memory(error);
}

static void kept_clear(kept_rows *self) {
    free(self->word);
    free(self->before);
}

static void keep(kept_rows *self, const uint32_t *row, size_t count) {
    for (size_t i = 0; i < count; i++) self->word[row[i] / 64] |= UINT64_C(1) << row[i] % 64;
}

static void count_kept(kept_rows *self) {
    for (size_t w = 1; w < self->words; w++)
        self->before[w] = self->before[w - 1] + (uint32_t)__builtin_popcountll(self->word[w - 1]);
}

static bool is_kept(const void *context, uint64_t row) {
    const kept_rows *self = context;
    return row / 64 < self->words && (self->word[row / 64] >> row % 64 & 1) != 0;
}

static uint32_t place_of(const kept_rows *self, uint32_t row) {
    uint64_t below = self->word[row / 64] & ((UINT64_C(1) << row % 64) - 1);
    return self->before[row / 64] + (uint32_t)__builtin_popcountll(below);
}

/* The parts of a split that stay, from `first` up to `end`, with their rows' new places; the sizes of all
 * parts stay known. */
static tacit_status shrink(tacit_split *split, size_t first, size_t end, const kept_rows *kept,
                           tacit_error *error) {
    size_t from = split->start[first], count = split->start[end] - from;
    uint32_t *index = TACIT_NEW(uint32_t, count);
    if (index == NULL) return tacit_fail_memory(error);
    for (size_t i = 0; i < count; i++) index[i] = place_of(kept, split->index[from + i]);
    free(split->index);
    split->index = index;
    split->skipped = from;
    return TACIT_OK;
}

static tacit_status read_again(tacit_partition *partition, tacit_dataset **data, const char *path,
                               const tacit_load_options *options, const kept_rows *kept, tacit_error *error) {
    const tacit_row_filter filter = { is_kept, kept };
    tacit_load_options reading = *options;
    size_t rows = partition->data->rows;
    reading.label = reading.positive = reading.group = reading.text = NULL; /* the schema has taken them in */
    reading.no_features = reading.only_count = false;
    reading.rows = &filter;
    *data = tacit_dataset_free(*data);
    partition->data = NULL;
    TACIT_TRY(tacit_dataset_load(data, NULL, path, partition->schema, &reading, error));
    partition->data = *data;
    size_t expected = 0;
    for (size_t i = 0; i < rows; i++) expected += is_kept(kept, i);
    if (partition->data->rows == expected) return TACIT_OK;
    return tacit_fail(error, TACIT_INPUT, "%s has changed while it was read", path);
}

tacit_status tacit_partition_load_own(tacit_partition *partition, tacit_dataset **data, const char *path,
                                      const tacit_load_options *options, tacit_ranks *ranks,
                                      tacit_error *error) {
    kept_rows kept = { .word = NULL };
    tacit_split *parties = partition->parties, *holdout = partition->holdout;
    size_t held = tacit_ranks_own(ranks) == 0 ? TACIT_PART_TEST : TACIT_PART_AUX;
    tacit_status status;
    partition->range = tacit_party_range_of(parties, ranks);
    size_t first = partition->range.first, end = partition->range.end;
    TACIT_CHECK(kept_create(&kept, partition->data->rows, error));
    keep(&kept, parties->index + parties->start[first], parties->start[end] - parties->start[first]);
    if (holdout != NULL)
        keep(&kept, holdout->index + holdout->start[held], holdout->start[3] - holdout->start[held]);
    count_kept(&kept);
    TACIT_CHECK(shrink(parties, first, end, &kept, error));
    if (holdout != NULL) TACIT_CHECK(shrink(holdout, held, 3, &kept, error));
    partition->kept = tacit_split_free(partition->kept);
    TACIT_CHECK(read_again(partition, data, path, options, &kept, error));
    if (holdout != NULL) {
        if (partition->test_data == NULL && held == TACIT_PART_TEST)
            partition->test = tacit_split_view(holdout, partition->data, TACIT_PART_TEST);
        if (partition->aux_data == NULL)
            partition->auxiliary = tacit_split_view(holdout, partition->data, TACIT_PART_AUX);
    }
cleanup:
    kept_clear(&kept);
    return status;
}
