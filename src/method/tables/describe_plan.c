/*
 * The vector of sums, laid out from public numbers.
 *
 *   rows | for each number, by group: sum u, sum c (u^2 - 1/2); its tree of counts | for each category, by
 *   group: its levels and the missing | cross-tables | with missing=counted: missing values of each column
 *   and of the label, rows left out
 *
 * u is the column mapped to [-1, 1] by the schema's bounds; a missing number adds (0, 0) to its moments.
 *
 * Sensitivity, replacing one row. Rows: 0. Moments: two rows u and v move them by (u - v)^2 (1 + c^2 (u +
 * v)^2) <= 4 for c = 1.66 (the largest, at u - v = 1.25 and the sum as far out as it can be, is 3.98); a row
 * that becomes missing, or goes to another group, by at most twice 1 + c^2/4, which is less. A tree: sqrt(2
 * depth), a category or cross-table: sqrt(2), groups or not, for each level of a tree is one histogram of all
 * rows. Missing values: a row adds 0 or 1 to each of the m counts, whether it was left out or not, so that
 * two differ by sqrt(m). Each kind is multiplied so that its square is its part of the budget, and all
 * together have 1.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "method/private/gradient.h"
#include "method/tables/describe.h"
#include "privacy/account/gaussian.h"

static const double SQUARE = 1.66;
static const double ROUNDING = 0x1p-12;             /* of the party's sums (describe_rows.c), in L2 norm */
static const double PARTS[] = { 0.25, 0.60, 0.15 }; /* of the budget: moments, trees, levels */
static const double MISSING_PART = 0.10;            /* beside them, where missing values are counted */
static const double ROWS_WEIGHT = 1024;             /* noise on the number of rows protects nobody */

/* ---- variables ---- */

static void add_label(describe_design *out, const tacit_plan *plan) {
    const tacit_schema *schema = plan->schema;
    const char *name = schema != NULL ? schema->label : "label";
    if (plan->classes > 0) {
        out->variable[out->variables++] =
            (describe_variable){ .name = name,
                                 .source = DESCRIBE_CLASS,
                                 .names = schema != NULL ? &schema->classes : NULL,
                                 .levels = plan->classes,
                                 .cells = plan->classes };
        return;
    }
    if (schema == NULL || schema->response == TACIT_RESPONSE_CLASS) return;
    out->variable[out->variables++] = (describe_variable){
        .name = name, .source = DESCRIBE_RESPONSE, .number = true, .low = schema->low, .high = schema->high
    };
    if (schema->event != NULL)
        out->variable[out->variables++] = (describe_variable){ .name = schema->event,
                                                               .source = DESCRIBE_EVENT,
                                                               .levels = tacit_schema_causes(schema) + 1,
                                                               .cells = tacit_schema_causes(schema) + 1 };
}

static tacit_status add_variables(describe_design *out, const tacit_plan *plan, tacit_error *error) {
    TACIT_TRY(tacit_cells_create(&out->cells, plan->schema, plan->features, error));
    out->variable = TACIT_NEW(describe_variable, out->cells.count + 2);
    if (out->variable == NULL) return tacit_fail_memory(error);
    add_label(out, plan);
    for (size_t c = 0; c < out->cells.count; c++) {
        const tacit_cell_column *from = &out->cells.column[c];
        out->variable[out->variables++] =
            (describe_variable){ .name = from->name,
                                 .source = DESCRIBE_CELL,
                                 .cell = c,
                                 .number = from->levels == NULL,
                                 .low = from->low,
                                 .high = from->high,
                                 .names = from->levels,
                                 .levels = from->levels != NULL ? from->levels->count : 0,
                                 .cells = from->levels != NULL ? from->levels->count + 1 : 0 };
    }
    for (size_t k = 0; k < out->variables; k++) {
        out->numbers += out->variable[k].number;
        out->categories += !out->variable[k].number;
    }
    return TACIT_OK;
}

const char *describe_level(const describe_variable *variable, size_t level, char scratch[32]) {
    if (level >= variable->levels) return "(missing)";
    if (variable->names != NULL) return variable->names->text[level];
    snprintf(scratch, 32, "%zu", level);
    return scratch;
}

/* The category so called, of `length` characters. */
static tacit_status find_category(const describe_design *design, const char *name, size_t length,
                                  const char *setting, size_t *out, tacit_error *error) {
    for (size_t k = 0; k < design->variables; k++) {
        const describe_variable *one = &design->variable[k];
        if (strlen(one->name) != length || strncmp(one->name, name, length) != 0) continue;
        if (one->number)
            return tacit_fail(error, TACIT_USAGE,
                              "setting %s: '%s' is a number; rows are grouped by a category", setting,
                              one->name);
        *out = k;
        return TACIT_OK;
    }
    return tacit_fail(error, TACIT_USAGE, "setting %s: no category of the schema is called '%.*s'", setting,
                      (int)length, name);
}

/* "a*b,c*d". */
static tacit_status read_pairs(describe_design *out, const char *text, tacit_error *error) {
    while (*text != 0) {
        size_t length = strcspn(text, ","), middle = strcspn(text, "*,");
        if (out->pairs == DESCRIBE_MOST_PAIRS)
            return tacit_fail(error, TACIT_USAGE, "setting cross: at most %d pairs", DESCRIBE_MOST_PAIRS);
        if (middle >= length)
            return tacit_fail(error, TACIT_USAGE,
                              "setting cross is pairs of categories: sex*stage,sex*outcome");
        describe_pair *pair = &out->pair[out->pairs++];
        TACIT_TRY(find_category(out, text, middle, "cross", &pair->first, error));
        TACIT_TRY(find_category(out, text + middle + 1, length - middle - 1, "cross", &pair->second, error));
        for (size_t k = 0; k + 1 < out->pairs; k++)
            if (out->pair[k].first == pair->first && out->pair[k].second == pair->second)
                return tacit_fail(error, TACIT_USAGE, "setting cross has the same pair twice");
        text += length + (text[length] == ',');
    }
    return TACIT_OK;
}

/* ---- layout ---- */

size_t describe_counts(const describe_design *design, const describe_variable *variable) {
    return variable->number ? tacit_count_tree_size(design->tree) : variable->cells;
}

static tacit_status lay_out(describe_design *out, tacit_error *error) {
    double length = 1;
    out->length = 1;
    for (size_t k = 0; k < out->variables; k++) {
        describe_variable *one = &out->variable[k];
        one->groups = k == out->by ? 1 : out->groups;
        one->moments = out->length;
        one->counts = one->moments + (one->number ? DESCRIBE_MOMENTS * one->groups : 0);
        one->place = out->places;
        length += (double)one->groups * (DESCRIBE_MOMENTS + (double)describe_counts(out, one));
        if (length > DESCRIBE_MOST_NUMBERS) break;
        out->length = one->counts + one->groups * describe_counts(out, one);
        out->places += one->number ? tacit_count_tree_leaves(out->tree) : one->cells;
    }
    for (size_t k = 0; k < out->pairs; k++) {
        describe_pair *pair = &out->pair[k];
        double cells = (double)out->variable[pair->first].cells * (double)out->variable[pair->second].cells;
        pair->counts = out->length;
        pair->place = out->places++;
        length += cells;
        if (length > DESCRIBE_MOST_NUMBERS) break;
        out->length += (size_t)cells;
    }
    out->missing = out->length;
    out->length += out->missing_counts;
    if (length + (double)out->missing_counts <= DESCRIBE_MOST_NUMBERS) return TACIT_OK;
    return tacit_fail(error, TACIT_USAGE,
                      "describing these columns takes more than %d numbers: skip columns in the schema, or "
                      "have fewer levels, groups or cross-tables",
                      DESCRIBE_MOST_NUMBERS);
}

/* ---- noise ---- */

static void set_weights(describe_design *out) {
    double tables = (double)(out->categories + out->pairs), numbers = (double)out->numbers;
    double missing = (double)out->missing_counts;
    double sum = (numbers > 0 ? PARTS[0] + PARTS[1] : 0) + (tables > 0 ? PARTS[2] : 0) +
                 (missing > 0 ? MISSING_PART : 0);
    out->rows_weight = ROWS_WEIGHT;
    out->square = SQUARE;
    if (numbers > 0) out->moment_weight = sqrt(PARTS[0] / sum / (4 * numbers));
    if (numbers > 0) out->tree_weight = sqrt(PARTS[1] / sum / (2 * (double)out->tree.depth * numbers));
    if (tables > 0) out->level_weight = sqrt(PARTS[2] / sum / (2 * tables));
    if (missing > 0) out->missing_weight = sqrt(MISSING_PART / sum / missing);
}

/* The noise of one level of a tree alone, as a variance in shares of the rows. */
static tacit_status tree_noise(const describe_design *design, const tacit_plan *plan, double *out,
                               tacit_error *error) {
    double sigma = 0, rows = tacit_plan_expected_rows(plan), numbers = fmax(1, (double)design->numbers);
    double shares = describe_settings_of(plan)->noise == DESCRIBE_BY_SHARES
                        ? (double)plan->parties / (double)tacit_plan_noise_shares(plan)
                        : (double)plan->parties;
    *out = 0;
    if (isinf(plan->epsilon)) return TACIT_OK;
    TACIT_TRY(tacit_gaussian_sigma(&sigma, plan->epsilon, plan->delta, 1, error));
    *out = sigma * sigma * shares * 2 * numbers / PARTS[1] / (rows * rows);
    return TACIT_OK;
}

static tacit_status set_noise(describe_design *out, const tacit_plan *plan, tacit_error *error) {
    double bound = (double)GRADIENT_MOST_ROWS * fmax(1, out->rows_weight);
    return one_release_make(&out->release, plan, describe_by_shares(plan), out->length, bound, ROUNDING,
                            error);
}

/* One level of few cells, two of many. */
static tacit_count_tree tree_of(uint64_t cells) {
    enum { FEW = 32 };
    if (cells <= FEW) return (tacit_count_tree){ cells < 2 ? 2 : (size_t)cells, 1 };
    return (tacit_count_tree){ (size_t)ceil(sqrt((double)cells)), 2 };
}

static tacit_status make(describe_design *out, const tacit_plan *plan, bool grouped,
                         const describe_site *sites, size_t count, tacit_error *error) {
    const describe_settings *settings = describe_settings_of(plan);
    static const tacit_count_tree fine = { 16, 2 }, halves = { 2, 8 };
    double noise = 0;
    *out = (describe_design){
        .by = SIZE_MAX, .groups = sites != NULL ? count : 1, .site = sites, .exact = settings->exact != 0
    };
    out->tree = out->exact ? halves : fine;
    TACIT_TRY(add_variables(out, plan, error));
    if (strcmp(settings->by, "none") != 0 && grouped) {
        TACIT_TRY(find_category(out, settings->by, strlen(settings->by), "by", &out->by, error));
        out->groups = out->variable[out->by].cells;
    }
    if (strcmp(settings->cross, "none") != 0) TACIT_TRY(read_pairs(out, settings->cross, error));
    if (!out->exact) TACIT_TRY(tree_noise(out, plan, &noise, error));
    if (settings->cells > 0)
        out->tree = tree_of(settings->cells);
    else if (noise > 0)
        out->tree = tacit_count_tree_choose(noise);
    if (!out->exact) out->missing_counts = describe_missing_counts(plan);
    TACIT_TRY(lay_out(out, error));
    out->rows_weight = out->moment_weight = out->tree_weight = out->level_weight = out->square = 1;
    if (!out->exact) set_weights(out);
    TACIT_TRY(set_noise(out, plan, error));
    if (sites != NULL) out->release.deviation /= sqrt((double)plan->parties); /* of each alone */
    out->threshold = (double)settings->threshold;
    out->veto = describe_veto(out->threshold, plan->parties);
    return tacit_sum_spec_for(&out->bounds, out->length, out->veto, plan->parties, error);
}

static tacit_status make_or_clear(describe_design *out, const tacit_plan *plan, bool grouped,
                                  const describe_site *sites, size_t count, tacit_error *error) {
    tacit_status status = make(out, plan, grouped, sites, count, error);
    if (status != TACIT_OK) describe_clear(out);
    return status;
}

tacit_status describe_make(describe_design *out, const tacit_plan *plan, tacit_error *error) {
    return make_or_clear(out, plan, true, NULL, 0, error);
}

tacit_status describe_make_whole(describe_design *out, const tacit_plan *plan, tacit_error *error) {
    return make_or_clear(out, plan, false, NULL, 0, error);
}

tacit_status describe_make_sites(describe_design *out, const tacit_plan *plan, const describe_site *sites,
                                 size_t count, tacit_error *error) {
    return make_or_clear(out, plan, false, sites, count, error);
}

void describe_clear(describe_design *design) {
    tacit_cells_clear(&design->cells);
    free(design->variable);
    design->variable = NULL;
}
