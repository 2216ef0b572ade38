/*
 * What follows from dptree's plan: columns in cells, depth, shares of the budget, noise. All from public
 * numbers, before anything is asked.
 *
 * Depth. With n rows, p columns, K classes and mu of all noise there is, a question about m columns has noise
 * of sqrt(2 m)/mu times sqrt(1/share) on a count, and a half of a column's cells some three times that. D
 * grows by one where q = (2/K) n mu/sqrt(20 p) doubles: D = log2 q - 2, from 1 to 8, and leaves of at least
 * 20 rows. Cells, columns kept and the leaves' share were tried on training rows of the sets of
 * docs/methods/dptree.md.
 */
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "data/reading/cells.h"
#include "method/private/dptree.h"
#include "session/prepared.h"

enum { USUAL_CELLS = 10, USUAL_DEPTH = 8, LEAST_COLUMNS = 3, LEAF_ROWS = 20 };

static const double UNITS = 1000, LEAVES = 200; /* of the budget: all of it, and for the last question */

const dptree_settings dptree_defaults = { .engine = { .noise = DPNEWTON_BY_SHARES } };

const tacit_parameter dptree_parameters[] = {
    TACIT_OPEN_COUNT(dptree_settings, depth, "depth", DPTREE_MOST_DEPTH,
                     "splits from the root to a leaf, each a question to every party",
                     "chosen from public "
                     "numbers"),
    TACIT_OPEN_COUNT(dptree_settings, cells, "cells", DPTREE_MOST_CELLS,
                     "of equal width that a number's range is cut into: splits are between them", "10"),
    TACIT_OPEN_COUNT(dptree_settings, columns, "columns", DPTREE_MOST_COLUMNS,
                     "that are asked about after the first question, which is about all: those that split "
                     "the root best",
                     "a third of them, at least 3"),
    TACIT_OPEN_COUNT(dptree_settings, engine.rows, "rows", 1e12,
                     "how many rows all parties have together, as everybody expects: the depth is chosen for "
                     "it",
                     "as the study expects, or the parties times the least rows of each"),
    TACIT_CHOICE(
        dptree_settings, engine.noise, "noise", "coordinator|party|shares",
        "who adds it: a coordinator entrusted with the counts, each party itself (more noise, no trust), or "
        "each party a share, which secure summation adds up to little more than the coordinator's"),
    TACIT_SETTINGS_END,
};

/* ---- columns ---- */

/* A threshold lies a millionth of the range above where cells meet, so that a number that stands exactly
 * there is left of it whatever roundings it went through. */
static dptree_column number_of(const tacit_cell_column *from, size_t cells) {
    const double above = 1e-6, range = (from->high - from->low) * from->factor;
    return (dptree_column){ .first = from->first,
                            .cells = cells,
                            .number = true,
                            .low = (from->low - from->middle) * from->factor + above * range,
                            .width = range / (double)cells };
}

static tacit_status set_columns(const tacit_plan *plan, dptree_design *out, tacit_error *error) {
    const size_t set = (size_t)dptree_settings_of(plan)->cells, along = set > 0 ? set : USUAL_CELLS;
    tacit_cells cells;
    if (along < 2) return tacit_fail(error, TACIT_USAGE, "setting cells: have at least 2, or 0");
    TACIT_TRY(tacit_cells_create(&cells, plan->schema, plan->features, error));
    out->column = TACIT_NEW(dptree_column, cells.count);
    tacit_status status = out->column != NULL || cells.count == 0 ? TACIT_OK : tacit_fail_memory(error);
    for (size_t c = 0; c < cells.count && status == TACIT_OK; c++) {
        const tacit_cell_column *from = &cells.column[c];
        out->column[out->columns++] = from->levels == NULL
                                          ? number_of(from, along)
                                          : (dptree_column){ .first = from->first, .cells = from->width + 1 };
    }
    tacit_cells_clear(&cells);
    if (status != TACIT_OK) return status;
    if (out->columns == 0 || out->columns > DPTREE_MOST_COLUMNS)
        return tacit_fail(error, TACIT_USAGE, "method dptree has %zu columns: have at least 1 and at most %d",
                          out->columns, DPTREE_MOST_COLUMNS);
    return TACIT_OK;
}

void dptree_cut(const dptree_column *column, size_t c, tacit_tree_node *out) {
    out->feature = (uint32_t)(column->number ? column->first : column->first + c);
    out->threshold = column->number ? column->low + (double)(c + 1) * column->width : 0;
}

/* ---- questions ---- */

size_t dptree_asked(const dptree_design *design, size_t t) {
    if (t == design->depth) return 0;
    return t == 0 ? design->columns : design->kept;
}

static int more_cells(const void *a, const void *b) {
    const size_t *one = a, *other = b;
    return (*one < *other) - (*one > *other);
}

/* The most numbers that a leaf can have in question t: by the columns of most cells. */
static tacit_status widest(const dptree_design *design, size_t asked, double *out, tacit_error *error) {
    size_t *cells = TACIT_NEW(size_t, design->columns);
    if (cells == NULL) return tacit_fail_memory(error);
    for (size_t c = 0; c < design->columns; c++) cells[c] = design->column[c].cells;
    qsort(cells, design->columns, sizeof *cells, more_cells);
    *out = asked == 0 ? (double)design->classes : 0;
    for (size_t c = 0; c < asked; c++) *out += (double)(cells[c] * design->classes);
    free(cells);
    return TACIT_OK;
}

static size_t choose_depth(const tacit_plan *plan, const dptree_design *design, double strength) {
    const double rows = dpnewton_rows(plan), classes = (double)design->classes;
    const double ratio = 2 / classes * rows * strength / sqrt(20 * (double)design->columns);
    const double depth = fmin(round(log2(ratio)) - 2, floor(log2(rows / LEAF_ROWS)));
    return (size_t)fmin(fmax(depth, 1), USUAL_DEPTH);
}

/* Less deep where a question would be too long. */
static tacit_status set_depth(const tacit_plan *plan, dptree_design *out, tacit_error *error) {
    const dptree_settings *settings = dptree_settings_of(plan);
    const double third = ceil((double)out->columns / 3);
    double strength = 0, first = 0, later = 0;
    TACIT_TRY(dpnewton_strength(plan, &strength, error));
    out->kept = settings->columns > 0 ? (size_t)settings->columns : (size_t)fmax(third, LEAST_COLUMNS);
    if (out->kept > out->columns) out->kept = out->columns;
    out->depth = settings->depth > 0 ? (size_t)settings->depth : choose_depth(plan, out, strength);
    TACIT_TRY(widest(out, out->columns, &first, error));
    TACIT_TRY(widest(out, out->kept, &later, error));
    while (settings->depth == 0 && out->depth > 1 &&
           later * ldexp(1, (int)out->depth - 1) > DPTREE_MOST_NUMBERS)
        out->depth--;
    if (fmax(first, out->depth > 1 ? later * ldexp(1, (int)out->depth - 1) : 0) > DPTREE_MOST_NUMBERS)
        return tacit_fail(error, TACIT_USAGE,
                          "counting these columns takes more than %d numbers in a question: have fewer "
                          "cells, levels, columns or splits",
                          DPTREE_MOST_NUMBERS);
    return TACIT_OK;
}

/* Questions about splits have equal parts of what the leaves leave, in whole thousandths. */
static tacit_status set_noise(const tacit_plan *plan, dptree_design *out, tacit_error *error) {
    const double most = (double)GRADIENT_MOST_ROWS, left = UNITS - LEAVES;
    for (size_t t = 0; t <= out->depth; t++) {
        const size_t asked = dptree_asked(out, t);
        const double depth = (double)out->depth;
        double numbers = 0;
        TACIT_TRY(widest(out, asked, &numbers, error));
        out->release[t].share =
            asked == 0 ? LEAVES / UNITS
                       : (round(left * (double)(t + 1) / depth) - round(left * (double)t / depth)) / UNITS;
        TACIT_TRY(dpnewton_set_release(plan, &out->release[t], &out->sum[t], (size_t)numbers << t, most,
                                       sqrt(2 * (double)(asked > 0 ? asked : 1)) * (1 + 1e-14), error));
    }
    return TACIT_OK;
}

tacit_status dptree_describe(const tacit_plan *plan, dptree_design *out, tacit_error *error) {
    *out = (dptree_design){ .classes = plan->classes, .features = plan->features };
    if (plan->classes < 2 || plan->classes > DPTREE_MOST_CLASSES)
        return tacit_fail(error, TACIT_USAGE, "method dptree takes a label of 2 to %d classes",
                          DPTREE_MOST_CLASSES);
    TACIT_TRY(set_columns(plan, out, error));
    TACIT_TRY(set_depth(plan, out, error));
    return set_noise(plan, out, error);
}

void dptree_clear(dptree_design *design) {
    free(design->column);
    design->column = NULL;
}

/* ---- what others ask of the plan ---- */

tacit_status dptree_settle(tacit_plan *plan, tacit_error *error) {
    dptree_design design;
    tacit_status status = dptree_describe(plan, &design, error);
    if (status == TACIT_OK) status = tacit_plan_settle_number(plan, "depth", (double)design.depth, error);
    if (status == TACIT_OK) status = tacit_plan_settle_number(plan, "columns", (double)design.kept, error);
    dptree_clear(&design);
    return status;
}

tacit_status dptree_noise_law(const tacit_plan *plan, tacit_prepared **prepared, tacit_noise_law *out,
                              tacit_error *error) {
    const bool shares = tacit_plan_shares_noise(plan),
               party = dptree_settings_of(plan)->engine.noise == DPNEWTON_BY_PARTY;
    dptree_design design;
    TACIT_TRY(tacit_prepared_take(prepared, plan, &design, error));
    const dpnewton_release *first = &design.release[0];
    *out = (tacit_noise_law){
        .law = shares ? "discrete Gaussian in shares, together near N(0, s^2), in every question; s of "
                        "the first, largest"
                      : "Gaussian N(0, s^2), in every question; s of the first, largest",
        .added_to = party ? "each party's counts" : "the counts of all parties together",
        .dimension = design.sum[0].length,
        .sensitivity = first->mechanism.sensitivity,
        .scale = shares ? first->deviation : first->scale,
        .mean_norm = first->deviation * sqrt((double)design.sum[0].length),
        .norm_in = "the counts of the first question",
    };
    return TACIT_OK;
}
