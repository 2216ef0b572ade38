#include "data/grouped_split.h"

#include <stdbool.h>
#include <string.h>

#include "base/memory.h"

/* The groups of a view that have rows, numbered from 0, and the rows of each. */
typedef struct gathered {
    size_t count;
    size_t *start;   /* count + 1 offsets into `row` */
    uint32_t *row;   /* stored row numbers, group by group in the view's order */
    uint32_t *place; /* of each of the view's group numbers; those without rows have none */
} gathered;

static void gathered_clear(gathered *all) {
    free(all->start);
    free(all->row);
    free(all->place);
}

static tacit_status check_groups(const tacit_view *view, size_t groups, tacit_error *error) {
    if (view->group == NULL) return tacit_fail(error, TACIT_INTERNAL, "the rows have no groups");
    for (size_t i = 0; i < view->rows.count; i++) {
        int32_t group = view->group[tacit_rows_stored(&view->rows, i)];
        if (group < 0 || (size_t)group >= groups)
            return tacit_fail(error, TACIT_INTERNAL, "row %zu is in no group", i);
    }
    return TACIT_OK;
}

/* A counting sort. */
static tacit_status gather(gathered *out, const tacit_view *view, size_t groups, tacit_error *error) {
    size_t rows = view->rows.count, *sizes = TACIT_NEW(size_t, groups);
    gathered all = { 0, TACIT_NEW(size_t, groups + 1), TACIT_NEW(uint32_t, rows),
                     TACIT_NEW(uint32_t, groups) };
    tacit_status status = TACIT_OK;
    if (sizes == NULL || all.start == NULL || all.row == NULL || all.place == NULL)
        TACIT_CHECK(tacit_fail_memory(error));
    TACIT_CHECK(check_groups(view, groups, error));
    for (size_t i = 0; i < rows; i++) sizes[view->group[tacit_rows_stored(&view->rows, i)]]++;
    for (size_t g = 0; g < groups; g++) {
        if (sizes[g] == 0) continue;
        all.place[g] = (uint32_t)all.count;
        all.start[all.count + 1] = all.start[all.count] + sizes[g];
        all.count++;
    }
    memset(sizes, 0, groups * sizeof *sizes);
    for (size_t i = 0; i < rows; i++) {
        size_t stored = tacit_rows_stored(&view->rows, i), place = all.place[view->group[stored]];
        all.row[all.start[place] + sizes[place]++] = (uint32_t)stored;
    }
    *out = all;
    all = (gathered){ 0, NULL, NULL, NULL };
cleanup:
    free(sizes);
    gathered_clear(&all);
    return status;
}

/* The rows of the groups that a split names. */
static tacit_status expand(tacit_split **out, const tacit_split *of_groups, const gathered *all,
                           tacit_error *error) {
    tacit_split *split = TACIT_NEW(tacit_split, 1);
    if (split == NULL) return tacit_fail_memory(error);
    size_t used = 0;
    split->parts = of_groups->parts;
    split->start = TACIT_NEW(size_t, split->parts + 1);
    split->index = TACIT_NEW(uint32_t, all->start[all->count]);
    if (split->start == NULL || split->index == NULL) {
        tacit_split_free(split);
        return tacit_fail_memory(error);
    }
    for (size_t k = 0; k < split->parts; k++) {
        for (size_t i = of_groups->start[k]; i < of_groups->start[k + 1]; i++) {
            size_t g = of_groups->index[i], size = all->start[g + 1] - all->start[g];
            memcpy(split->index + used, all->row + all->start[g], size * sizeof *split->index);
            used += size;
        }
        split->start[k + 1] = used;
    }
    *out = split;
    return TACIT_OK;
}

tacit_status tacit_grouped_split_make(tacit_split **out, const tacit_split_plan *plan, const tacit_view *view,
                                      size_t groups, size_t parties, tacit_stream *stream,
                                      tacit_error *error) {
    gathered all = { 0, NULL, NULL, NULL };
    tacit_split *of_groups = NULL;
    tacit_status status;
    if (plan->kind == TACIT_SPLIT_GROUPS)
        return tacit_fail(
            error, TACIT_USAGE,
            "the option 'split=by:%s' makes a party of each value: rows cannot be kept together besides",
            plan->column);
    if (plan->kind == TACIT_SPLIT_LABELS)
        return tacit_fail(
            error, TACIT_USAGE,
            "the option 'split=labels:A' deals rows out one by one: they cannot be kept together "
            "besides");
    TACIT_CHECK(gather(&all, view, groups, error));
    if (all.count < parties)
        TACIT_CHECK(tacit_fail(error, TACIT_INPUT,
                               "rows that stay together make %zu %s, which cannot be divided among %zu "
                               "parties; each needs at least one",
                               all.count, all.count == 1 ? "group" : "groups", parties));
    const tacit_view as_rows = { .rows = { .count = all.count } };
    TACIT_CHECK(tacit_split_make(&of_groups, plan, &as_rows, 0, parties, stream, error));
    TACIT_CHECK(expand(out, of_groups, &all, error));
cleanup:
    tacit_split_free(of_groups);
    gathered_clear(&all);
    return status;
}

tacit_status tacit_grouped_split_holdout(tacit_split **out, const tacit_view *view, size_t groups,
                                         double test_fraction, double aux_fraction, tacit_stream *stream,
                                         tacit_error *error) {
    gathered all = { 0, NULL, NULL, NULL };
    tacit_split *of_groups = NULL;
    tacit_status status;
    TACIT_CHECK(gather(&all, view, groups, error));
    TACIT_CHECK(tacit_split_holdout(&of_groups, all.count, test_fraction, aux_fraction, stream, error));
    TACIT_CHECK(expand(out, of_groups, &all, error));
cleanup:
    tacit_split_free(of_groups);
    gathered_clear(&all);
    return status;
}

/* ---- undersampling ---- */

/* For each group, whether it is kept: drawn for all of them, and those with a row of another class always. */
static tacit_status choose_groups(bool **out, const tacit_view *view, size_t groups, int32_t label,
                                  double share, tacit_stream *stream, tacit_error *error) {
    TACIT_TRY(check_groups(view, groups, error));
    bool *kept = TACIT_NEW(bool, groups);
    if (kept == NULL) return tacit_fail_memory(error);
    for (size_t g = 0; g < groups; g++) kept[g] = tacit_stream_unit(stream) < share;
    for (size_t i = 0; i < view->rows.count; i++)
        if (tacit_view_label(view, i) != label) kept[view->group[tacit_rows_stored(&view->rows, i)]] = true;
    *out = kept;
    return TACIT_OK;
}

tacit_status tacit_undersample(tacit_split **out, const tacit_view *view, size_t groups, int32_t label,
                               double share, tacit_stream *stream, tacit_error *error) {
    size_t rows = view->rows.count;
    bool *kept = NULL;
    tacit_split *split = TACIT_NEW(tacit_split, 1);
    tacit_status status = TACIT_OK;
    if (split == NULL) return tacit_fail_memory(error);
    split->parts = 1;
    split->start = TACIT_NEW(size_t, 2);
    split->index = TACIT_NEW(uint32_t, rows);
    if (split->start == NULL || split->index == NULL) TACIT_CHECK(tacit_fail_memory(error));
    if (groups > 0) TACIT_CHECK(choose_groups(&kept, view, groups, label, share, stream, error));
    for (size_t i = 0; i < rows; i++) {
        size_t stored = tacit_rows_stored(&view->rows, i);
        bool keep = kept != NULL ? kept[view->group[stored]]
                                 : view->label[stored] != label || tacit_stream_unit(stream) < share;
        if (keep) split->index[split->start[1]++] = (uint32_t)stored;
    }
    if (split->start[1] == 0)
        TACIT_CHECK(tacit_fail(error, TACIT_INPUT, "undersampling leaves none of %zu rows", rows));
    *out = split;
    split = NULL;
cleanup:
    free(kept);
    tacit_split_free(split);
    return status;
}
