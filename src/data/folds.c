#include "data/folds.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* A row, or a person, on its way into a fold. */
typedef struct assigned {
    int32_t class;
    uint64_t hash;
    size_t place; /* of the row in the view, or the person's number */
} assigned;

static int compare_dealt(const void *a, const void *b) {
    const assigned *first = a, *second = b;
    if (first->class != second->class) return first->class < second->class ? -1 : 1;
    if (first->hash != second->hash) return first->hash < second->hash ? -1 : 1;
    return (first->place > second->place) - (first->place < second->place);
}

/* What is in the row, without its place in the file. */
static uint64_t identity_of(const tacit_view *rows, size_t i, double *scratch) {
    static const uint8_t key[crypto_shorthash_KEYBYTES];
    const size_t stored = tacit_rows_stored(&rows->rows, i), width = rows->rows.cols,
                 columns = tacit_view_columns(rows);
    uint64_t hash;
    if (rows->identity != NULL) return rows->identity[stored];
    tacit_rows_copy(&rows->rows, i, scratch);
    scratch[width] = rows->label != NULL ? rows->label[stored] : 0;
    for (size_t k = 0; k < columns; k++)
        scratch[width + 1 + k] = rows->response != NULL ? rows->response[stored * columns + k] : 0;
    crypto_shorthash((uint8_t *)&hash, (const uint8_t *)scratch, (width + 1 + columns) * sizeof *scratch,
                     key);
    return hash;
}

static uint64_t keyed(uint64_t identity, uint64_t seed) {
    uint8_t key[crypto_shorthash_KEYBYTES] = { 0 }, bytes[8];
    uint64_t hash;
    for (int b = 0; b < 8; b++) {
        key[b] = (uint8_t)(seed >> (8 * b));
        bytes[b] = (uint8_t)(identity >> (8 * b));
    }
    crypto_shorthash((uint8_t *)&hash, bytes, sizeof bytes, key);
    return hash;
}

/* Each row by itself: rows of the view in the order in which they are assigned. */
static tacit_status assign_rows(tacit_folds *self, const tacit_view *rows, const assigned *row,
                                tacit_error *error) {
    size_t n = rows->rows.count;
    assigned *order = TACIT_NEW(assigned, n + 1);
    if (order == NULL) return tacit_fail_memory(error);
    memcpy(order, row, n * sizeof *order);
    qsort(order, n, sizeof *order, compare_dealt);
    for (size_t r = 0; r < n; r++) self->fold[order[r].place] = (uint8_t)(r % self->count);
    free(order);
    return TACIT_OK;
}

/* Whole persons. Rows of nobody are a person each, in their own order behind the others. */
static tacit_status assign_persons(tacit_folds *self, const tacit_view *rows, const assigned *row,
                                   tacit_error *error) {
    size_t n = rows->rows.count, groups = 0, persons = 0;
    for (size_t i = 0; i < n; i++) {
        int32_t code = rows->group[tacit_rows_stored(&rows->rows, i)];
        if (code >= 0 && (size_t)code >= groups) groups = (size_t)code + 1;
    }
    assigned *person = TACIT_NEW(assigned, groups + n + 1);
    uint8_t *fold = TACIT_NEW(uint8_t, groups + n + 1);
    size_t *place = TACIT_NEW(size_t, groups + n + 1); /* of each group among the persons, from 1 */
    tacit_status status =
        person != NULL && fold != NULL && place != NULL ? TACIT_OK : tacit_fail_memory(error);
    for (size_t i = 0; status == TACIT_OK && i < n; i++) {
        int32_t code = rows->group[tacit_rows_stored(&rows->rows, i)];
        size_t group = code >= 0 ? (size_t)code : groups + i;
        if (place[group] == 0) {
            place[group] = ++persons;
            person[persons - 1] = (assigned){ .hash = row[i].hash, .place = group };
        }
        assigned *at = &person[place[group] - 1];
        if (row[i].hash < at->hash) at->hash = row[i].hash;
    }
    if (status == TACIT_OK) {
        qsort(person, persons, sizeof *person, compare_dealt);
        for (size_t r = 0; r < persons; r++) fold[person[r].place] = (uint8_t)(r % self->count);
        for (size_t i = 0; i < n; i++) {
            int32_t code = rows->group[tacit_rows_stored(&rows->rows, i)];
            self->fold[i] = fold[code >= 0 ? (size_t)code : groups + i];
        }
    }
    free(person);
    free(fold);
    free(place);
    return status;
}

static void write_index(tacit_folds *self, const tacit_view *rows) {
    size_t at = 0;
    for (size_t k = 0; k < self->count; k++) {
        self->start[k] = at;
        for (size_t i = 0; i < rows->rows.count; i++)
            if (self->fold[i] == k) self->index[at++] = (uint32_t)tacit_rows_stored(&rows->rows, i);
    }
    self->start[self->count] = at;
}

/* What each row is assigned by: what is in it, and its class. */
static tacit_status hash_rows(assigned *out, const tacit_view *rows, uint64_t seed, tacit_error *error) {
    double *scratch = TACIT_NEW(double, rows->rows.cols + 1 + tacit_view_columns(rows));
    if (scratch == NULL) return tacit_fail_memory(error);
    for (size_t i = 0; i < rows->rows.count; i++)
        out[i] = (assigned){ .class = rows->label != NULL ? tacit_view_label(rows, i) : 0,
                             .hash = keyed(identity_of(rows, i, scratch), seed),
                             .place = i };
    free(scratch);
    return TACIT_OK;
}

static tacit_status assign(tacit_folds *out, const tacit_view *rows, tacit_fold_plan plan, bool by_place,
                           tacit_error *error) {
    const size_t n = rows->rows.count;
    *out = (tacit_folds){ .count = plan.count };
    if (plan.count < 2 || plan.count > TACIT_FOLDS_MOST)
        return tacit_fail(error, TACIT_USAGE, "there are 2 to %d folds, not %zu", TACIT_FOLDS_MOST,
                          plan.count);
    assigned *row = TACIT_NEW(assigned, n + 1);
    out->fold = TACIT_NEW(uint8_t, n + 1);
    out->index = TACIT_NEW(uint32_t, n + 1);
    out->others = TACIT_NEW(uint32_t, n + 1);
    tacit_status status = row != NULL && out->fold != NULL && out->index != NULL && out->others != NULL
                              ? TACIT_OK
                              : tacit_fail_memory(error);
    if (status == TACIT_OK && by_place)
        for (size_t i = 0; i < n; i++) row[i] = (assigned){ .hash = keyed(i, plan.seed), .place = i };
    else if (status == TACIT_OK)
        status = hash_rows(row, rows, plan.seed, error);
    if (status == TACIT_OK)
        status = (!by_place && rows->persons && rows->group != NULL ? assign_persons
                                                                    : assign_rows)(out, rows, row, error);
    free(row);
    if (status == TACIT_OK)
        write_index(out, rows);
    else
        tacit_folds_clear(out);
    return status;
}

tacit_status tacit_folds_assign(tacit_folds *out, const tacit_view *rows, tacit_fold_plan plan,
                                tacit_error *error) {
    return assign(out, rows, plan, false, error);
}

tacit_status tacit_folds_assign_places(tacit_folds *out, const tacit_view *rows, tacit_fold_plan plan,
                                       tacit_error *error) {
    return assign(out, rows, plan, true, error);
}

void tacit_folds_clear(tacit_folds *folds) {
    free(folds->fold);
    free(folds->index);
    free(folds->others);
    *folds = (tacit_folds){ .count = 0 };
}

tacit_status tacit_folds_admit(const tacit_folds *folds, uint64_t minimum, tacit_error *error) {
    size_t least = SIZE_MAX;
    for (size_t k = 0; k < folds->count; k++)
        if (folds->start[k + 1] - folds->start[k] < least) least = folds->start[k + 1] - folds->start[k];
    if (least >= minimum) return TACIT_OK;
    return tacit_fail(
        error, TACIT_REFUSED,
        "the smallest of %zu folds of this party's rows has %zu, fewer than the owner's minimum "
        "of %llu: exact sums with and without it would reveal these rows. Ask for fewer folds, "
        "or lower the minimum (tacit rules set --minimum-rows)",
        folds->count, least, (unsigned long long)minimum);
}

/* The same rows as far as they are stored, which is what labels and responses go by. */
static tacit_view chosen(const tacit_view *rows, const uint32_t *index, size_t count) {
    tacit_view view = *rows;
    tacit_rows all = rows->rows;
    all.index = NULL;
    view.rows = tacit_rows_select(&all, index, count);
    view.all_left_out = false;
    return view;
}

tacit_view tacit_folds_inside(const tacit_folds *folds, const tacit_view *rows, size_t fold) {
    return chosen(rows, folds->index + folds->start[fold], folds->start[fold + 1] - folds->start[fold]);
}

tacit_view tacit_folds_outside(tacit_folds *folds, const tacit_view *rows, size_t fold) {
    size_t before = folds->start[fold], behind = folds->start[folds->count] - folds->start[fold + 1];
    memcpy(folds->others, folds->index, before * sizeof *folds->others);
    memcpy(folds->others + before, folds->index + folds->start[fold + 1], behind * sizeof *folds->others);
    return chosen(rows, folds->others, before + behind);
}
