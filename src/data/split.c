#include "data/split.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "data/schema/text.h"
#include "rand/fast.h"

tacit_split *tacit_split_free(tacit_split *split) {
    if (split == NULL) return NULL;
    free(split->start);
    free(split->index);
    free(split);
    return NULL;
}

tacit_view tacit_split_view(const tacit_split *split, const tacit_dataset *dataset, size_t part) {
    return tacit_dataset_subset(dataset, split->index + (split->start[part] - split->skipped),
                                tacit_split_count(split, part));
}

tacit_split_plan *tacit_split_plan_free(tacit_split_plan *plan) {
    if (plan == NULL) return NULL;
    free(plan->fraction);
    free(plan->column);
    free(plan);
    return NULL;
}

static tacit_status parse_fractions(tacit_split_plan *plan, const char *text, tacit_error *error) {
    size_t count = 1;
    for (const char *at = text; *at != 0; at++) count += *at == ',';
    plan->fraction = TACIT_NEW(double, count);
    if (plan->fraction == NULL) return tacit_fail_memory(error);
    double sum = 0;
    for (size_t k = 0; k < count; k++) {
        char piece[TACIT_NUMBER_TEXT], shown[TACIT_CELL_TEXT];
        size_t length = strcspn(text, ",");
        double value = 0;
        bool fits = length < sizeof piece;
        if (fits) memcpy(piece, text, length);
        piece[fits ? length : 0] = 0;
        if (!fits || !tacit_text_to_number(piece, length, &value) || !(value > 0))
            return tacit_fail(error, TACIT_USAGE, "the option 'split': '%s' is not a positive fraction",
                              tacit_text_shown(text, length, shown));
        plan->fraction[k] = value;
        sum += value;
        text += length + 1;
    }
    if (!(fabs(sum - 1) <= 1e-9))
        return tacit_fail(error, TACIT_USAGE, "the option 'split': the %zu fractions sum to %.10g, not to 1",
                          count, sum);
    plan->fractions = count;
    return TACIT_OK;
}

static tacit_status parse_concentration(tacit_split_plan *plan, const char *name, const char *text,
                                        tacit_error *error) {
    char shown[TACIT_CELL_TEXT];
    if (tacit_text_to_number(text, strlen(text), &plan->concentration) && plan->concentration > 0)
        return TACIT_OK;
    return tacit_fail(error, TACIT_USAGE, "the option 'split=%s:A' needs a positive number, not '%s'", name,
                      tacit_text_shown(text, strlen(text), shown));
}

static tacit_status parse_plan(tacit_split_plan *plan, const char *text, tacit_error *error) {
    char shown[TACIT_CELL_TEXT];
    if (strcmp(text, "even") == 0) {
        plan->kind = TACIT_SPLIT_EVEN;
        return TACIT_OK;
    }
    if (strncmp(text, "dirichlet:", 10) == 0) {
        plan->kind = TACIT_SPLIT_DIRICHLET;
        return parse_concentration(plan, "dirichlet", text + 10, error);
    }
    if (strncmp(text, "labels:", 7) == 0) {
        plan->kind = TACIT_SPLIT_LABELS;
        return parse_concentration(plan, "labels", text + 7, error);
    }
    if (strncmp(text, "by:", 3) == 0) {
        plan->kind = TACIT_SPLIT_GROUPS;
        if (text[3] == 0)
            return tacit_fail(error, TACIT_USAGE, "the option 'split=by:COLUMN' needs the name of a column");
        plan->column = tacit_copy_text(text + 3);
        return plan->column != NULL ? TACIT_OK : tacit_fail_memory(error);
    }
    if (strspn(text, " +-.") < strlen(text) && strchr("0123456789", text[strspn(text, " +-.")]) != NULL) {
        plan->kind = TACIT_SPLIT_FRACTIONS;
        return parse_fractions(plan, text, error);
    }
    return tacit_fail(error, TACIT_USAGE,
                      "the option 'split': '%s' is not one of even, dirichlet:A, labels:A, fractions such as "
                      "0.2,0.3,0.5, or by:COLUMN",
                      tacit_text_shown(text, strlen(text), shown));
}

tacit_status tacit_split_plan_parse(tacit_split_plan **out, const char *text, tacit_error *error) {
    tacit_split_plan *plan = TACIT_NEW(tacit_split_plan, 1);
    if (plan == NULL) return tacit_fail_memory(error);
    tacit_status status = parse_plan(plan, text, error);
    if (status != TACIT_OK) {
        tacit_split_plan_free(plan);
        return status;
    }
    *out = plan;
    return TACIT_OK;
}

static tacit_status create(tacit_split **out, size_t parts, size_t rows, tacit_error *error) {
    tacit_split *split = TACIT_NEW(tacit_split, 1);
    if (split == NULL) return tacit_fail_memory(error);
    split->parts = parts;
    split->start = TACIT_NEW(size_t, parts + 1);
    split->index = TACIT_NEW(uint32_t, rows);
    if (split->start == NULL || split->index == NULL) {
        tacit_split_free(split);
        return tacit_fail_memory(error);
    }
    *out = split;
    return TACIT_OK;
}

tacit_status tacit_split_in_order(tacit_split **out, size_t parts, size_t rows, tacit_error *error) {
    TACIT_TRY(create(out, parts, rows, error));
    for (size_t k = 0; k <= parts; k++) (*out)->start[k] = k * rows / parts;
    for (size_t i = 0; i < rows; i++) (*out)->index[i] = (uint32_t)i;
    return TACIT_OK;
}

/* Fisher and Yates, in place. */
static void shuffle(uint32_t *items, size_t count, tacit_stream *stream) {
    for (size_t i = count; i > 1; i--) {
        size_t j = (size_t)tacit_stream_below(stream, i);
        uint32_t held = items[i - 1];
        items[i - 1] = items[j];
        items[j] = held;
    }
}

static void even_starts(size_t *start, size_t parts, size_t rows) {
    size_t each = rows / parts, longer = rows % parts;
    start[0] = 0;
    for (size_t k = 0; k < parts; k++) start[k + 1] = start[k] + each + (k < longer);
}

/* One row each, and the rest in the given proportions: the k-th boundary is the rounded cumulative share, so
 * that no size is off by more than one. */
static void share_starts(size_t *start, size_t parts, size_t rows, const double *share) {
    double rest = (double)(rows - parts), cumulative = 0;
    start[0] = 0;
    for (size_t k = 0; k < parts; k++) {
        cumulative += share[k];
        size_t given = (size_t)fmin(rest, floor(rest * cumulative + 0.5));
        if (k + 1 == parts) given = rows - parts;
        start[k + 1] = k + 1 + given;
    }
}

static tacit_status dirichlet_starts(size_t *start, size_t parts, size_t rows, double concentration,
                                     tacit_stream *stream, tacit_error *error) {
    double *share = TACIT_NEW(double, parts);
    if (share == NULL) return tacit_fail_memory(error);
    tacit_fast_dirichlet(stream, share, parts, concentration);
    share_starts(start, parts, rows, share);
    free(share);
    return TACIT_OK;
}

/* Fractions are of all rows: round the cumulative share, then see that nobody is left empty-handed. */
static void fraction_starts(size_t *start, size_t parts, size_t rows, const double *fraction) {
    double cumulative = 0;
    start[0] = 0;
    for (size_t k = 0; k < parts; k++) {
        cumulative += fraction[k];
        size_t end = (size_t)floor((double)rows * cumulative + 0.5);
        size_t least = start[k] + 1, most = rows - (parts - 1 - k);
        start[k + 1] = end < least ? least : end > most ? most : end;
    }
    start[parts] = rows;
}

/* Group g's rows in the view's order: a counting sort. Groups without rows are left out at the end: a party
 * without rows is none. */
static tacit_status deal_groups(tacit_split *split, const tacit_view *view, tacit_error *error) {
    for (size_t i = 0; i < view->rows.count; i++) {
        int32_t group = view->group[tacit_rows_stored(&view->rows, i)];
        if (group < 0 || (size_t)group >= split->parts)
            return tacit_fail(error, TACIT_INTERNAL, "row %zu is in no group", i);
        split->start[group + 1]++;
    }
    for (size_t k = 0; k < split->parts; k++) split->start[k + 1] += split->start[k];
    size_t *next = TACIT_NEW(size_t, split->parts);
    if (next == NULL) return tacit_fail_memory(error);
    memcpy(next, split->start, split->parts * sizeof *next);
    for (size_t i = 0; i < view->rows.count; i++) {
        size_t stored = tacit_rows_stored(&view->rows, i);
        split->index[next[view->group[stored]]++] = (uint32_t)stored;
    }
    free(next);
    size_t kept = 0;
    for (size_t k = 0; k < split->parts; k++)
        if (tacit_split_count(split, k) > 0) split->start[++kept] = split->start[k + 1];
    split->parts = kept;
    return TACIT_OK;
}

/* ---- classes that parties have in different proportions ---- */

/* Of one class, whose rows are a stretch of `order`: each party's share is drawn, and rounded as a cumulative
 * sum. */
static void deal_class(const uint32_t *order, size_t count, const double *share, size_t parts,
                       uint32_t *party) {
    double cumulative = 0;
    size_t next = 0;
    for (size_t k = 0; k < parts && next < count; k++) {
        cumulative += share[k];
        size_t end =
            k + 1 == parts ? count : (size_t)fmin((double)count, floor((double)count * cumulative + 0.5));
        for (; next < end; next++) party[order[next]] = (uint32_t)k;
    }
}

/* A party without rows takes one from somebody who has more than one. */
static void feed_empty(size_t *counts, size_t parts, size_t rows, uint32_t *party) {
    size_t row = 0;
    for (size_t k = 0; k < parts; k++) {
        if (counts[k] > 0) continue;
        while (row < rows && counts[party[row]] < 2) row++;
        counts[party[row]]--;
        party[row] = (uint32_t)k;
        counts[k] = 1;
    }
}

/* Which rows of a shuffled split each party has: `party` says it of each place. */
static tacit_status gather_parties(tacit_split *split, size_t rows, size_t *counts, uint32_t *party,
                                   tacit_error *error) {
    uint32_t *moved = TACIT_NEW(uint32_t, rows);
    if (moved == NULL) return tacit_fail_memory(error);
    for (size_t i = 0; i < rows; i++) counts[party[i]]++;
    feed_empty(counts, split->parts, rows, party);
    split->start[0] = 0;
    for (size_t k = 0; k < split->parts; k++) split->start[k + 1] = split->start[k] + counts[k];
    memcpy(counts, split->start, split->parts * sizeof *counts);
    for (size_t i = 0; i < rows; i++) moved[counts[party[i]]++] = split->index[i];
    memcpy(split->index, moved, rows * sizeof *moved);
    free(moved);
    return TACIT_OK;
}

/* The rows lie shuffled in the split. Those without a label count as a class of their own, the first. */
static tacit_status deal_labels(tacit_split *split, const tacit_view *view, double concentration,
                                tacit_stream *stream, tacit_error *error) {
    const size_t rows = view->rows.count, classes = view->classes + 1;
    size_t *start = TACIT_NEW(size_t, classes + 1), *counts = TACIT_NEW(size_t, split->parts);
    uint32_t *order = TACIT_NEW(uint32_t, rows), *party = TACIT_NEW(uint32_t, rows);
    double *share = TACIT_NEW(double, split->parts);
    tacit_status status = TACIT_OK;
    if (start == NULL || counts == NULL || order == NULL || party == NULL || share == NULL)
        TACIT_CHECK(tacit_fail_memory(error));
    for (size_t i = 0; i < rows; i++) start[view->label[split->index[i]] + 2]++;
    for (size_t c = 0; c < classes; c++) start[c + 1] += start[c];
    for (size_t i = 0; i < rows; i++) order[start[view->label[split->index[i]] + 1]++] = (uint32_t)i;
    for (size_t c = 0, begin = 0; c < classes; begin = start[c++]) { /* now a class ends where it has begun */
        tacit_fast_dirichlet(stream, share, split->parts, concentration);
        deal_class(order + begin, start[c] - begin, share, split->parts, party);
    }
    TACIT_CHECK(gather_parties(split, rows, counts, party, error));
cleanup:
    free(start);
    free(counts);
    free(order);
    free(party);
    free(share);
    return status;
}

static tacit_status count_parties(const tacit_split_plan *plan, const tacit_view *view, size_t groups,
                                  size_t *parties, tacit_error *error) {
    size_t planned = plan->kind == TACIT_SPLIT_FRACTIONS ? plan->fractions
                     : plan->kind == TACIT_SPLIT_GROUPS  ? groups
                                                         : *parties;
    if (plan->kind == TACIT_SPLIT_GROUPS && view->group == NULL)
        return tacit_fail(error, TACIT_USAGE,
                          "the option 'split=by:%s': the rows were read without that column", plan->column);
    if (plan->kind == TACIT_SPLIT_LABELS && view->label == NULL)
        return tacit_fail(
            error, TACIT_USAGE,
            "the option 'split=labels:A' needs a label with classes: choose dirichlet:A for sizes");
    if (*parties != 0 && *parties != planned)
        return tacit_fail(error, TACIT_USAGE,
                          "the option 'parties=%zu' does not fit the option 'split', which makes %zu",
                          *parties, planned);
    if (planned == 0) return tacit_fail(error, TACIT_USAGE, "the option 'parties' must be at least 1");
    if (plan->kind != TACIT_SPLIT_GROUPS && view->rows.count < planned)
        return tacit_fail(error, TACIT_INPUT,
                          "%zu rows cannot be divided among %zu parties; each needs at least one",
                          view->rows.count, planned);
    *parties = planned;
    return TACIT_OK;
}

tacit_status tacit_split_make(tacit_split **out, const tacit_split_plan *plan, const tacit_view *view,
                              size_t groups, size_t parties, tacit_stream *stream, tacit_error *error) {
    TACIT_TRY(count_parties(plan, view, groups, &parties, error));
    size_t rows = view->rows.count;
    tacit_split *split = NULL;
    TACIT_TRY(create(&split, parties, rows, error));
    tacit_status status = TACIT_OK;
    switch (plan->kind) {
    case TACIT_SPLIT_EVEN: even_starts(split->start, parties, rows); break;
    case TACIT_SPLIT_DIRICHLET:
        TACIT_CHECK(dirichlet_starts(split->start, parties, rows, plan->concentration, stream, error));
        break;
    case TACIT_SPLIT_FRACTIONS: fraction_starts(split->start, parties, rows, plan->fraction); break;
    case TACIT_SPLIT_GROUPS: TACIT_CHECK(deal_groups(split, view, error)); break;
    case TACIT_SPLIT_LABELS: break; /* below */
    }
    if (plan->kind != TACIT_SPLIT_GROUPS) {
        for (size_t i = 0; i < rows; i++) split->index[i] = (uint32_t)tacit_rows_stored(&view->rows, i);
        shuffle(split->index, rows, stream);
    }
    if (plan->kind == TACIT_SPLIT_LABELS)
        TACIT_CHECK(deal_labels(split, view, plan->concentration, stream, error));
    *out = split;
    split = NULL;
cleanup:
    tacit_split_free(split);
    return status;
}

static int by_place(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

void tacit_split_sort(tacit_split *split) {
    for (size_t part = 0; part < split->parts; part++)
        qsort(split->index + split->start[part], tacit_split_count(split, part), sizeof *split->index,
              by_place);
}

/* A positive fraction takes at least one row. */
static size_t part_size(size_t rows, double fraction) {
    size_t size = (size_t)floor((double)rows * fraction + 0.5);
    return fraction > 0 && size == 0 ? 1 : size;
}

tacit_status tacit_split_holdout(tacit_split **out, size_t rows, double test_fraction, double aux_fraction,
                                 tacit_stream *stream, tacit_error *error) {
    if (!(test_fraction >= 0 && aux_fraction >= 0 && test_fraction + aux_fraction < 1))
        return tacit_fail(
            error, TACIT_USAGE,
            "the test fraction %g and the auxiliary fraction %g must be at least 0 and sum to less than 1",
            test_fraction, aux_fraction);
    size_t test = part_size(rows, test_fraction), aux = part_size(rows, aux_fraction);
    if (rows > UINT32_MAX || test + aux >= rows)
        return tacit_fail(error, TACIT_INPUT,
                          "%zu rows are too few to hold out %zu for testing and %zu auxiliary", rows, test,
                          aux);
    tacit_split *split = NULL;
    TACIT_TRY(create(&split, 3, rows, error));
    for (size_t i = 0; i < rows; i++) split->index[i] = (uint32_t)i;
    shuffle(split->index, rows, stream);
    split->start[TACIT_PART_TEST] = rows - test - aux;
    split->start[TACIT_PART_AUX] = rows - aux;
    split->start[3] = rows;
    *out = split;
    return TACIT_OK;
}
