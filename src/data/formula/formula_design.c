/* The design: which columns the terms have, as R's model.matrix lays them out, and how they are scaled. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "data/formula/formula_build.h"
#include "data/formula/formula_parts.h"

static const formula_variable *variable_at(const tacit_formula *formula, const formula_term *term, size_t k) {
    return &formula->variable[term->variable[k]];
}

static bool is_category(const tacit_formula *formula, const formula_term *term, size_t k) {
    return variable_at(formula, term, k)->kind == FORMULA_VARIABLE_CATEGORY;
}

/* ---- coding ---- */

/* Whether a term before `last` contains all factors of `term` but the one at `dropped`. */
static bool is_covered(const tacit_formula *formula, const formula_term *term, size_t dropped) {
    if (term->factors == 1) return true;
    for (const formula_term *other = formula->term; other != term; other++) {
        size_t found = 0;
        for (size_t i = 0; i < term->factors; i++) {
            if (i == dropped) continue;
            for (size_t j = 0; j < other->factors; j++) found += other->variable[j] == term->variable[i];
        }
        if (found + 1 == term->factors) return true;
    }
    return false;
}

/* Contrasts to the first level where the rest of the term is in the model, all levels where not; without an
 * intercept the first category of all has all its levels. R: TermCode and modelmatrix. */
static void choose_coding(tacit_formula *formula) {
    bool first = !formula->intercept;
    for (size_t t = 0; t < formula->terms; t++) {
        formula_term *term = &formula->term[t];
        for (size_t k = 0; k < term->factors; k++) term->full[k] = !is_covered(formula, term, k);
    }
    for (size_t t = 0; t < formula->terms && first; t++)
        for (size_t k = 0; k < formula->term[t].factors && first; k++)
            if (is_category(formula, &formula->term[t], k)) {
                formula->term[t].full[k] = true;
                first = false;
            }
}

static size_t width_of(const tacit_formula *formula, const formula_term *term, size_t k) {
    size_t columns = variable_at(formula, term, k)->columns;
    return is_category(formula, term, k) && !term->full[k] ? columns - 1 : columns;
}

/* ---- shifts ---- */

/* The term that is left without some factors, coded alike; false: there is none. */
static bool find_rest(const tacit_formula *formula, const formula_term *term, unsigned dropped,
                      uint32_t *out) {
    formula_term rest = { .factors = 0 };
    for (size_t k = 0; k < term->factors; k++) {
        if (dropped >> k & 1) continue;
        rest.full[rest.factors] = term->full[k];
        rest.variable[rest.factors++] = term->variable[k];
    }
    *out = FORMULA_NONE;
    if (rest.factors == 0) return formula->intercept;
    for (const formula_term *other = formula->term; other != term; other++) {
        bool same = other->factors == rest.factors;
        for (size_t k = 0; k < rest.factors && same; k++)
            same = other->variable[k] == rest.variable[k] &&
                   (!is_category(formula, other, k) || other->full[k] == rest.full[k]);
        if (!same) continue;
        *out = (uint32_t)(other - formula->term);
        return true;
    }
    return false;
}

static unsigned numbers_of(const tacit_formula *formula, const formula_term *term) {
    unsigned mask = 0;
    for (size_t k = 0; k < term->factors; k++)
        if (!is_category(formula, term, k)) mask |= 1u << k;
    return mask;
}

/* Numbers are shifted where what the shifts leave behind is in the model. */
static void choose_shift(const tacit_formula *formula, formula_term *term) {
    unsigned numbers = numbers_of(formula, term);
    term->centered = true;
    for (unsigned dropped = numbers; dropped > 0 && term->centered; dropped = (dropped - 1) & numbers)
        term->centered = find_rest(formula, term, dropped, &term->without[dropped]);
}

static double reach_of(const tacit_formula *formula, const formula_term *term) {
    double reach = 1;
    for (size_t k = 0; k < term->factors; k++) {
        const formula_variable *one = variable_at(formula, term, k);
        double sum = 0;
        if (one->kind == FORMULA_VARIABLE_CATEGORY) continue;
        for (size_t j = 0; j < one->columns; j++)
            sum += term->centered ? one->scale[j].most * one->scale[j].most : 1;
        reach *= sum;
    }
    return reach;
}

static tacit_status lay_out_term(tacit_formula *formula, formula_term *term, tacit_error *error) {
    size_t entries = 1;
    term->first = formula->features;
    term->columns = 1;
    for (size_t k = 0; k < term->factors; k++) {
        term->columns *= width_of(formula, term, k);
        if (variable_at(formula, term, k)->kind == FORMULA_VARIABLE_BASIS)
            entries *= variable_at(formula, term, k)->columns;
        if (term->columns > TACIT_FORMULA_FEATURES)
            return formula_fail(&formula->tree, variable_at(formula, term, k)->node, error,
                                "the formula has more than %d columns", TACIT_FORMULA_FEATURES);
    }
    choose_shift(formula, term);
    formula->features += term->columns;
    formula->entries += entries;
    formula->reach += reach_of(formula, term) * (1 + 1e-14);
    return TACIT_OK;
}

/* One that is no term, within [-1, 1]. */
static void add_feature(tacit_formula *formula) {
    formula->features++;
    formula->entries++;
    formula->reach += 1;
}

tacit_status formula_lay_out(tacit_formula *formula, tacit_error *error) {
    choose_coding(formula);
    for (size_t t = 0; t < formula->terms; t++) {
        TACIT_TRY(lay_out_term(formula, &formula->term[t], error));
        if (formula->features > TACIT_FORMULA_FEATURES)
            return formula_fail(&formula->tree, formula->tree.root, error,
                                "the formula has more than %d columns", TACIT_FORMULA_FEATURES);
    }
    if (formula->offset != FORMULA_NONE) {
        double largest = fmax(fabs(formula->offset_low), fabs(formula->offset_high));
        formula->offset_scale = largest > 0 ? 1 / largest : 1;
        formula->offset_feature = formula->features;
        add_feature(formula);
    }
    if (formula->weights != SIZE_MAX) {
        formula->weights_feature = formula->features;
        add_feature(formula);
    }
    if (formula->strata > 0) { /* at most one of them is not 0 */
        formula->strata_feature = formula->features;
        add_feature(formula);
        formula->features += formula->strata_levels - 1;
    }
    return TACIT_OK;
}

/* ---- what others ask ---- */

static const formula_term *term_of(const tacit_formula *formula, size_t feature) {
    size_t low = 0, high = formula->terms;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (formula->term[middle].first <= feature)
            low = middle;
        else
            high = middle;
    }
    return &formula->term[low];
}

static bool is_beside(const tacit_formula *formula, size_t feature) {
    return feature == formula->offset_feature || feature == formula->weights_feature ||
           (formula->strata > 0 && feature >= formula->strata_feature);
}

size_t tacit_formula_terms(const tacit_formula *formula) { return formula->terms; }

size_t tacit_formula_term(const tacit_formula *formula, size_t feature) {
    return is_beside(formula, feature) ? formula->terms : (size_t)(term_of(formula, feature) - formula->term);
}

tacit_status tacit_formula_term_name(const tacit_formula *formula, size_t term, tacit_buffer *out,
                                     tacit_error *error) {
    const formula_term *one = &formula->term[term];
    for (size_t k = 0; k < one->factors; k++)
        TACIT_TRY(
            tacit_buffer_print(out, error, "%s%s", k > 0 ? ":" : "", variable_at(formula, one, k)->text));
    return TACIT_OK;
}

size_t tacit_formula_offset(const tacit_formula *formula, double *scale, double *low, double *high) {
    if (formula->offset == FORMULA_NONE) return SIZE_MAX;
    *scale = formula->offset_scale;
    *low = formula->offset_low;
    *high = formula->offset_high;
    return formula->offset_feature;
}

size_t tacit_formula_weights(const tacit_formula *formula, double *most, size_t *column) {
    if (formula->weights == SIZE_MAX) return SIZE_MAX;
    *most = formula->schema->columns[formula->weights].high;
    *column = formula->weights;
    return formula->weights_feature;
}

/* Which column of each factor a feature is made of: the first factor runs fastest. */
static void columns_of(const tacit_formula *formula, const formula_term *term, size_t feature, size_t *out) {
    size_t left = feature - term->first;
    for (size_t k = 0; k < term->factors; k++) {
        size_t width = width_of(formula, term, k);
        out[k] = left % width;
        left /= width;
    }
}

static tacit_status print_factor(const tacit_formula *formula, const formula_term *term, size_t k,
                                 size_t column, tacit_buffer *out, tacit_error *error) {
    const formula_variable *one = variable_at(formula, term, k);
    TACIT_TRY(tacit_buffer_print(out, error, "%s", one->text));
    if (one->kind == FORMULA_VARIABLE_BASIS && one->columns > 1)
        return tacit_buffer_print(out, error, "%zu", column + 1);
    if (one->kind != FORMULA_VARIABLE_CATEGORY) return TACIT_OK;
    size_t level = term->full[k] ? column : column + 1;
    if (one->level != NULL) return tacit_buffer_print(out, error, "%.15g", one->level[level]);
    const tacit_levels *levels = &formula->schema->columns[one->column].levels;
    return tacit_buffer_print(out, error, "%s", level < levels->count ? levels->text[level] : "(missing)");
}

tacit_status tacit_formula_name(const tacit_formula *formula, size_t feature, tacit_buffer *out,
                                tacit_error *error) {
    size_t column[TACIT_FORMULA_FACTORS];
    if (feature == formula->weights_feature)
        return tacit_buffer_print(out, error, "weights(%s)", formula->schema->columns[formula->weights].name);
    if (formula->strata > 0 && feature >= formula->strata_feature) {
        TACIT_TRY(tacit_buffer_print(out, error, formula->subgroups ? "subgroups(" : "strata("));
        TACIT_TRY(formula_name_stratum(formula, feature - formula->strata_feature, out, error));
        return tacit_buffer_print(out, error, ")");
    }
    if (feature == formula->offset_feature) {
        TACIT_TRY(tacit_buffer_print(out, error, "offset("));
        TACIT_TRY(formula_print(&formula->tree, formula->offset, out, error));
        return tacit_buffer_print(out, error, ")");
    }
    const formula_term *term = term_of(formula, feature);
    columns_of(formula, term, feature, column);
    for (size_t k = 0; k < term->factors; k++) {
        if (k > 0) TACIT_TRY(tacit_buffer_print(out, error, ":"));
        TACIT_TRY(print_factor(formula, term, k, column[k], out, error));
    }
    return TACIT_OK;
}

bool tacit_formula_plain(const tacit_formula *formula, size_t feature, size_t *column, size_t *level) {
    size_t at[TACIT_FORMULA_FACTORS];
    if (feature >= formula->features || is_beside(formula, feature)) return false;
    const formula_term *term = term_of(formula, feature);
    const formula_variable *first = variable_at(formula, term, 0);
    columns_of(formula, term, feature, at);
    *level = SIZE_MAX;
    *column = first->column;
    if (first->kind == FORMULA_VARIABLE_NUMBER) return term->factors == 1 && first->column != SIZE_MAX;
    for (size_t k = 0; k < term->factors; k++)
        if (!is_category(formula, term, k)) return false;
    *level = at[0] + !term->full[0];
    if (term->factors > 1 || first->level != NULL) *column = SIZE_MAX;
    return true;
}

/* The place of a feature without some of its factors, in the term that has the others. */
static size_t rest_of(const tacit_formula *formula, const formula_term *term, const size_t *column,
                      unsigned dropped) {
    if (dropped != 0 && term->without[dropped] == FORMULA_NONE) return SIZE_MAX;
    const formula_term *rest = dropped != 0 ? &formula->term[term->without[dropped]] : term;
    size_t at = rest->first, stride = 1;
    for (size_t k = 0; k < term->factors; k++) {
        if (dropped >> k & 1) continue;
        at += column[k] * stride;
        stride *= width_of(formula, term, k);
    }
    return at;
}

size_t tacit_formula_parts(const tacit_formula *formula, size_t feature, tacit_formula_part *out) {
    size_t column[TACIT_FORMULA_FACTORS], count = 0;
    if (is_beside(formula, feature)) return 0;
    const formula_term *term = term_of(formula, feature);
    columns_of(formula, term, feature, column);
    unsigned numbers = term->centered ? numbers_of(formula, term) : 0;
    for (unsigned dropped = numbers;; dropped = (dropped - 1) & numbers) {
        double coefficient = 1;
        for (size_t k = 0; k < term->factors; k++) {
            if (is_category(formula, term, k)) continue;
            const formula_scale *scale = &variable_at(formula, term, k)->scale[column[k]];
            coefficient /= term->centered ? scale->half : scale->largest;
            if (dropped >> k & 1) coefficient *= -scale->middle;
        }
        out[count++] = (tacit_formula_part){ rest_of(formula, term, column, dropped), coefficient };
        if (dropped == 0) break;
    }
    return count;
}

/* ---- rows ---- */

static double clamp(double value, double most) { return fmin(fmax(value, -most), most); }

/* The level of a category, or -1. */
static ptrdiff_t level_of(const formula_variable *one, const formula_cells *cells) {
    if (one->level == NULL) return cells->level[one->column];
    double value = formula_cell(cells, one->column);
    for (size_t i = 0; i < one->columns; i++)
        if (one->level[i] == value) return (ptrdiff_t)i;
    return -1;
}

/* What a factor says of a row: `values` from column *first on; none at all: 0. */
static size_t factor_values(const tacit_formula *formula, const formula_term *term, size_t k,
                            const formula_cells *cells, size_t *first, double *values) {
    const formula_variable *one = variable_at(formula, term, k);
    *first = 0;
    if (one->kind == FORMULA_VARIABLE_CATEGORY) {
        ptrdiff_t level = level_of(one, cells) - !term->full[k];
        if (level < 0) return 0;
        *first = (size_t)level;
        *values = 1;
        return 1;
    }
    if (one->kind == FORMULA_VARIABLE_BASIS)
        formula_basis_values(one->basis, formula_number(&formula->tree, one->basis->argument, cells), values);
    else
        *values = one->column != SIZE_MAX ? formula_cell(cells, one->column)
                                          : formula_number(&formula->tree, one->node, cells);
    for (size_t j = 0; j < one->columns; j++) {
        const formula_scale *scale = &one->scale[j];
        values[j] = term->centered ? clamp((values[j] - scale->middle) / scale->half, scale->most)
                                   : clamp(values[j] / scale->largest, 1);
    }
    return one->columns;
}

/* Without `column` every feature has its place. */
static size_t term_row(const tacit_formula *formula, const formula_term *term, const formula_cells *cells,
                       uint32_t *column, double *value) {
    double values[TACIT_FORMULA_FACTORS][TACIT_FORMULA_BASIS];
    size_t stride[TACIT_FORMULA_FACTORS], counts[TACIT_FORMULA_FACTORS], start = term->first, all = 1;
    size_t used = 0, width = 1;
    for (size_t k = 0; k < term->factors; k++) {
        size_t first;
        counts[k] = factor_values(formula, term, k, cells, &first, values[k]);
        if (counts[k] == 0) return 0;
        stride[k] = width;
        start += first * width;
        width *= width_of(formula, term, k);
        all *= counts[k];
    }
    for (size_t i = 0; i < all; i++) {
        size_t left = i, at = start;
        double product = 1;
        for (size_t k = 0; k < term->factors; k++) {
            product *= values[k][left % counts[k]];
            at += left % counts[k] * stride[k];
            left /= counts[k];
        }
        if (column == NULL) value[at] = product;
        if (column == NULL || product == 0) continue;
        column[used] = (uint32_t)at;
        value[used++] = product;
    }
    return used;
}

static double offset_of(const tacit_formula *formula, const formula_cells *cells) {
    return clamp(formula_number(&formula->tree, formula->offset, cells) * formula->offset_scale, 1);
}

static double weight_of(const tacit_formula *formula, const formula_cells *cells) {
    return clamp(formula_cell(cells, formula->weights) / formula->schema->columns[formula->weights].high, 1);
}

size_t tacit_formula_row(const tacit_formula *formula, const double *number, const size_t *place,
                         const int32_t *level, uint32_t *column, double *value) {
    formula_cells cells = { formula->schema, number, place, level, false };
    size_t used = 0;
    for (size_t t = 0; t < formula->terms; t++)
        used += term_row(formula, &formula->term[t], &cells, column + used, value + used);
    if (formula->offset != FORMULA_NONE) {
        column[used] = (uint32_t)formula->offset_feature;
        value[used] = offset_of(formula, &cells);
        used += value[used] != 0;
    }
    if (formula->weights != SIZE_MAX) {
        column[used] = (uint32_t)formula->weights_feature;
        value[used++] = weight_of(formula, &cells);
    }
    size_t stratum = formula->strata > 0 ? formula_stratum_of(formula, &cells) : SIZE_MAX;
    if (stratum != SIZE_MAX) {
        column[used] = (uint32_t)(formula->strata_feature + stratum);
        value[used++] = 1;
    }
    return used;
}

void tacit_formula_dense_row(const tacit_formula *formula, const double *number, const size_t *place,
                             const int32_t *level, double *out) {
    formula_cells cells = { formula->schema, number, place, level, false };
    memset(out, 0, formula->features * sizeof *out);
    for (size_t t = 0; t < formula->terms; t++) term_row(formula, &formula->term[t], &cells, NULL, out);
    if (formula->offset != FORMULA_NONE) out[formula->offset_feature] = offset_of(formula, &cells);
    if (formula->weights != SIZE_MAX) out[formula->weights_feature] = weight_of(formula, &cells);
    size_t stratum = formula->strata > 0 ? formula_stratum_of(formula, &cells) : SIZE_MAX;
    if (stratum != SIZE_MAX) out[formula->strata_feature + stratum] = 1;
}
