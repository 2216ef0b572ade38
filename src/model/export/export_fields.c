#include "model/export/export_fields.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "data/formula/formula_build.h"
#include "data/schema/text.h"

pmml_name pmml_own(const pmml *p, const char *word, size_t number) {
    pmml_name name;
    snprintf(name.text, sizeof name.text, "%s%s%zu", p->plan->prefix, word, number);
    return name;
}

pmml_name pmml_feature(const pmml *p, size_t j) { return pmml_own(p, "x", j + 1); }

/* How many fields an input is, and the name of each. */
static size_t field_count(const export_input *input) {
    return input->kind == EXPORT_COUNTS || input->kind == EXPORT_VALUES ? input->width : 1;
}

static const char *field_name(const pmml *p, const export_input *input, size_t k, pmml_name *scratch) {
    if (input->kind == EXPORT_COUNTS) return p->plan->feature[input->first + k];
    if (input->kind != EXPORT_VALUES) return input->name;
    snprintf(scratch->text, sizeof scratch->text, "x%zu", k + 1);
    return scratch->text;
}

static tacit_status take(pmml *p, const char *name, tacit_error *error) {
    size_t before = p->taken.count;
    char shown[TACIT_CELL_TEXT];
    TACIT_TRY(tacit_levels_add(&p->taken, name, strlen(name), NULL, error));
    if (p->taken.count > before) return TACIT_OK;
    return tacit_fail(
        error, TACIT_INPUT,
        "two fields of the document would be called '%s': rename the column in the schema and fit again",
        tacit_text_shown(name, strlen(name), shown));
}

tacit_status pmml_take_names(pmml *p, tacit_error *error) {
    pmml_name scratch;
    TACIT_TRY(take(p, p->label, error));
    for (size_t i = 0; i < p->plan->inputs; i++)
        for (size_t k = 0; k < field_count(&p->plan->input[i]); k++)
            TACIT_TRY(take(p, field_name(p, &p->plan->input[i], k, &scratch), error));
    return TACIT_OK;
}

/* ---- what is given ---- */

static void number_field(pmml *p, const char *name) {
    xml_leaf(&p->x, "DataField", "name", name, "optype", "continuous", "dataType", "double", XML_END);
}

static void open_category(pmml *p, const char *name) {
    xml_open(&p->x, "DataField", "name", name, "optype", "categorical", "dataType", "string", XML_END);
}

static void label_field(pmml *p) {
    const tacit_model *model = p->plan->model;
    char scratch[EXPORT_CLASS_NAME];
    if (tacit_model_is_numeric(model)) {
        number_field(p, p->label);
        return;
    }
    open_category(p, p->label);
    for (size_t k = 0; k < model->classes; k++)
        xml_leaf(&p->x, "Value", "value", export_class_name(model, k, scratch), XML_END);
    xml_close(&p->x, "DataField");
}

void pmml_data_dictionary(pmml *p) {
    pmml_name scratch;
    xml_open(&p->x, "DataDictionary", "numberOfFields", XML_NUMBER((double)p->taken.count), XML_END);
    for (size_t i = 0; i < p->plan->inputs; i++) {
        const export_input *input = &p->plan->input[i];
        if (input->kind != EXPORT_CATEGORY) {
            for (size_t k = 0; k < field_count(input); k++)
                number_field(p, field_name(p, input, k, &scratch));
            continue;
        }
        open_category(p, input->name);
        for (size_t k = 0; k < input->column->levels.count; k++)
            xml_leaf(&p->x, "Value", "value", input->column->levels.text[k], XML_END);
        xml_close(&p->x, "DataField");
    }
    label_field(p);
    xml_close(&p->x, "DataDictionary");
}

/* A text that is no level: the one of the others, no result, or zeros. As missing it is zeros, too, unless
 * the column says more of missing values; as it is, it equals no level. */
static const char *invalid_treatment(const export_plan *plan, const export_input *input) {
    if (input->column->others >= 0) return "asValue";
    if (plan->refuses_unknown) return "returnInvalid";
    bool more = input->refuses_missing || input->column->missing == TACIT_MISSING_LEVEL ||
                input->column->missing == TACIT_MISSING_VALUE;
    return more ? "asIs" : "asMissing";
}

/* Numbers outside their bounds are moved to them; levels that the schema does not have count as its `others`,
 * or as missing unless it is strict. */
void pmml_mining_schema(pmml *p, bool with_target) {
    pmml_name scratch;
    xml_open(&p->x, "MiningSchema", XML_END);
    for (size_t i = 0; i < p->plan->inputs; i++) {
        const export_input *input = &p->plan->input[i];
        const char *missing = input->refuses_missing ? "returnInvalid" : NULL;
        if (input->kind == EXPORT_NUMBER)
            xml_leaf(&p->x, "MiningField", "name", input->name, "usageType", "active", "outliers",
                     "asExtremeValues", "lowValue", XML_NUMBER(input->column->low), "highValue",
                     XML_NUMBER(input->column->high), "missingValueTreatment", missing, XML_END);
        else if (input->kind == EXPORT_CATEGORY)
            xml_leaf(&p->x, "MiningField", "name", input->name, "usageType", "active",
                     "missingValueTreatment", missing, "invalidValueTreatment",
                     invalid_treatment(p->plan, input), "invalidValueReplacement",
                     input->column->others >= 0 ? input->column->levels.text[input->column->others] : NULL,
                     XML_END);
        else
            for (size_t k = 0; k < field_count(input); k++)
                xml_leaf(&p->x, "MiningField", "name", field_name(p, input, k, &scratch), "usageType",
                         "active", XML_END);
    }
    if (with_target) xml_leaf(&p->x, "MiningField", "name", p->label, "usageType", "target", XML_END);
    xml_close(&p->x, "MiningSchema");
}

/* ---- expressions ---- */

void pmml_apply(pmml *p, const char *function, const char *missing) {
    xml_open(&p->x, "Apply", "function", function, "mapMissingTo", missing, XML_END);
}

void pmml_end(pmml *p) { xml_close(&p->x, "Apply"); }

void pmml_ref(pmml *p, const char *field) { xml_leaf(&p->x, "FieldRef", "field", field, XML_END); }

void pmml_constant(pmml *p, double number) {
    xml_text(&p->x, "Constant", XML_NUMBER(number), "dataType", "double", XML_END);
}

void pmml_text_constant(pmml *p, const char *text) {
    xml_text(&p->x, "Constant", text, "dataType", "string", XML_END);
}

void pmml_derived(pmml *p, const char *name, const char *shown) {
    xml_open(&p->x, "DerivedField", "name", name, "displayName", shown, "optype", "continuous", "dataType",
             "double", XML_END);
}

void pmml_derived_end(pmml *p) { xml_close(&p->x, "DerivedField"); }

/* ---- encoding ---- */

static void squared(pmml *p, const char *field) {
    pmml_apply(p, "*", NULL);
    pmml_ref(p, field);
    pmml_ref(p, field);
    pmml_end(p);
}

/* field, or 1 where that is 0: to divide by. */
static void or_one(pmml *p, const char *field) {
    pmml_apply(p, "if", NULL);
    pmml_apply(p, "greaterThan", NULL);
    pmml_ref(p, field);
    pmml_constant(p, 0);
    pmml_end(p);
    pmml_ref(p, field);
    pmml_constant(p, 1);
    pmml_end(p);
}

/* 1 where the field is missing, and 0 else. */
static void missing_expression(pmml *p, const export_input *input) {
    pmml_apply(p, "if", NULL);
    pmml_apply(p, "isMissing", NULL);
    pmml_ref(p, input->name);
    pmml_end(p);
    pmml_constant(p, 1);
    pmml_constant(p, 0);
    pmml_end(p);
}

static void number_expression(pmml *p, const export_input *input) {
    char fill[TACIT_NUMBER_TEXT];
    pmml_apply(p, "/", tacit_number_to_text(input->fill, fill));
    pmml_apply(p, "-", NULL);
    pmml_ref(p, input->name);
    pmml_constant(p, input->middle);
    pmml_end(p);
    pmml_constant(p, input->half_width);
    pmml_end(p);
}

/* A missing value is a level of its own, or counts as one, or as none. */
static void level_expression(pmml *p, const export_input *input, size_t k) {
    const tacit_schema_column *column = input->column;
    bool filled = column->missing == TACIT_MISSING_VALUE && (size_t)column->fill_level == k;
    if (k == column->levels.count)
        missing_expression(p, input);
    else
        xml_leaf(&p->x, "NormDiscrete", "field", input->name, "value", column->levels.text[k], "mapMissingTo",
                 filled ? "1" : "0", XML_END);
}

static void category_expression(pmml *p, const export_input *input, size_t k) {
    if (!input->column->effect) {
        level_expression(p, input, k);
        return;
    }
    pmml_apply(p, "-", NULL);
    level_expression(p, input, k);
    level_expression(p, input, input->width);
    pmml_end(p);
}

/* A count times its weight; one that is not given is 0. */
static void count_expression(pmml *p, const export_input *input, size_t k) {
    const double *idf = input->column->text.idf;
    pmml_apply(p, "*", "0");
    pmml_ref(p, p->plan->feature[input->first + k]);
    pmml_constant(p, idf != NULL ? idf[k] : 1);
    pmml_end(p);
}

/* The norm of a text's weighted counts, and what to divide them by. */
static void text_norm(pmml *p, size_t number, const export_input *input) {
    pmml_derived(p, pmml_own(p, "text", number).text, NULL);
    pmml_apply(p, "sqrt", NULL);
    pmml_apply(p, "sum", NULL);
    for (size_t k = 0; k < input->width; k++) {
        pmml_apply(p, "*", NULL);
        count_expression(p, input, k);
        count_expression(p, input, k);
        pmml_end(p);
    }
    pmml_end(p);
    pmml_end(p);
    pmml_derived_end(p);
    pmml_derived(p, pmml_own(p, "over", number).text, NULL);
    or_one(p, pmml_own(p, "text", number).text);
    pmml_derived_end(p);
}

static void input_expression(pmml *p, size_t number, const export_input *input, size_t k) {
    pmml_name scratch;
    switch (input->kind) {
    case EXPORT_NUMBER:
        if (k > 0)
            missing_expression(p, input);
        else
            number_expression(p, input);
        break;
    case EXPORT_CATEGORY: category_expression(p, input, k); break;
    case EXPORT_COUNTS:
        pmml_apply(p, "/", NULL);
        count_expression(p, input, k);
        pmml_ref(p, pmml_own(p, "over", number).text);
        pmml_end(p);
        break;
    case EXPORT_VALUES:
        xml_leaf(&p->x, "FieldRef", "field", field_name(p, input, k, &scratch), "mapMissingTo", "0", XML_END);
        break;
    }
}

/* Features before the row is scaled, or scaled at once where the factor is the same for all rows. */
static void unscaled_features(pmml *p, const char *word) {
    bool scaled = p->plan->rows == EXPORT_ROWS_TIMES;
    for (size_t i = 0; i < p->plan->inputs; i++) {
        const export_input *input = &p->plan->input[i];
        if (input->kind == EXPORT_COUNTS) text_norm(p, i + 1, input);
        for (size_t k = 0; k < input->width; k++) {
            size_t j = input->first + k;
            pmml_derived(p, pmml_own(p, word, j + 1).text,
                         p->plan->feature != NULL ? p->plan->feature[j] : NULL);
            if (scaled) pmml_apply(p, "*", NULL);
            input_expression(p, i + 1, input, k);
            if (scaled) pmml_constant(p, p->plan->factor);
            if (scaled) pmml_end(p);
            pmml_derived_end(p);
        }
    }
}

static void row_factor(pmml *p) {
    pmml_name norm = pmml_own(p, "norm", 1);
    pmml_derived(p, norm.text, NULL);
    pmml_apply(p, "sqrt", NULL);
    pmml_apply(p, "sum", NULL);
    for (size_t j = 0; j < p->plan->raw; j++) squared(p, pmml_own(p, "u", j + 1).text);
    pmml_end(p);
    pmml_end(p);
    pmml_derived_end(p);
    pmml_derived(p, pmml_own(p, "factor", 1).text, NULL);
    pmml_apply(p, "/", NULL);
    pmml_constant(p, p->plan->factor);
    if (p->plan->rows == EXPORT_ROWS_UNIT) {
        or_one(p, norm.text);
    } else {
        pmml_apply(p, "max", NULL);
        pmml_ref(p, norm.text);
        pmml_constant(p, p->plan->clip);
        pmml_end(p);
    }
    pmml_end(p);
    pmml_derived_end(p);
}

/* ---- terms ---- */

/* Values are fields: their names live as long as the builder. */
typedef struct term_fields {
    pmml *p;
    size_t made;
    tacit_levels names;
} term_fields;

static const char *next_field(term_fields *self) {
    const pmml_name name = pmml_own(self->p, "v", ++self->made);
    int32_t at = 0;
    if (tacit_levels_add(&self->names, name.text, strlen(name.text), &at, NULL) != TACIT_OK) return NULL;
    pmml_derived(self->p, name.text, NULL);
    return self->names.text[at];
}

static const export_input *input_of(const pmml *p, size_t column) {
    size_t i = 0;
    while (p->plan->input[i].column != &p->plan->model->schema->columns[column]) i++;
    return &p->plan->input[i];
}

/* Bounds are the mining schema's. */
static const char *term_column(void *context, size_t column) {
    term_fields *self = context;
    const export_input *input = input_of(self->p, column);
    const char *name = next_field(self);
    if (name == NULL) return NULL;
    xml_leaf(&self->p->x, "FieldRef", "field", input->name, "mapMissingTo", XML_NUMBER(input->fill), XML_END);
    pmml_derived_end(self->p);
    return name;
}

static const char *term_level(void *context, size_t column, size_t level) {
    term_fields *self = context;
    const char *name = next_field(self);
    if (name == NULL) return NULL;
    level_expression(self->p, input_of(self->p, column), level);
    pmml_derived_end(self->p);
    return name;
}

static const char *term_number(void *context, double value) {
    term_fields *self = context;
    const char *name = next_field(self);
    if (name == NULL) return NULL;
    pmml_constant(self->p, value);
    pmml_derived_end(self->p);
    return name;
}

static const char *term_apply(void *context, const char *operation, const char *a, const char *b) {
    term_fields *self = context;
    pmml *p = self->p;
    const bool equal = strcmp(operation, "equal") == 0;
    const char *name = next_field(self);
    if (name == NULL) return NULL;
    if (equal) pmml_apply(p, "if", NULL);
    pmml_apply(p,
               strcmp(operation, "^") == 0     ? "pow"
               : strcmp(operation, "log") == 0 ? "ln"
                                               : operation,
               NULL);
    pmml_ref(p, a);
    if (b != NULL) pmml_ref(p, b);
    pmml_end(p);
    if (equal) {
        pmml_constant(p, 1);
        pmml_constant(p, 0);
        pmml_end(p);
    }
    pmml_derived_end(p);
    return name;
}

static void term_features(pmml *p, const char *word) {
    const export_plan *plan = p->plan;
    term_fields self = { .p = p, .names = TACIT_LEVELS_INIT };
    const tacit_formula_builder builder = { term_column, term_level, term_number, term_apply, &self };
    const char **feature = TACIT_NEW(const char *, plan->raw);
    tacit_error *error = p->x.error;
    if (p->x.status == TACIT_OK)
        p->x.status = feature != NULL ? tacit_formula_build(plan->formula, &builder, feature, error)
                                      : tacit_fail_memory(error);
    for (size_t j = 0; j < plan->raw && p->x.status == TACIT_OK; j++) {
        pmml_derived(p, pmml_own(p, word, j + 1).text, plan->feature[j]);
        if (plan->rows == EXPORT_ROWS_TIMES) pmml_apply(p, "*", NULL);
        pmml_ref(p, feature[j]);
        if (plan->rows == EXPORT_ROWS_TIMES) {
            pmml_constant(p, plan->factor);
            pmml_end(p);
        }
        pmml_derived_end(p);
    }
    free(feature);
    tacit_levels_clear(&self.names);
}

void pmml_encoding(pmml *p) {
    const export_plan *plan = p->plan;
    bool by_norm = plan->rows == EXPORT_ROWS_UNIT || plan->rows == EXPORT_ROWS_CLIP;
    (plan->formula != NULL ? term_features : unscaled_features)(p, by_norm ? "u" : "x");
    if (by_norm) {
        row_factor(p);
        for (size_t j = 0; j < plan->raw; j++) {
            pmml_derived(p, pmml_feature(p, j).text, plan->feature != NULL ? plan->feature[j] : NULL);
            pmml_apply(p, "*", NULL);
            pmml_ref(p, pmml_own(p, "u", j + 1).text);
            pmml_ref(p, pmml_own(p, "factor", 1).text);
            pmml_end(p);
            pmml_derived_end(p);
        }
    }
    if (!plan->intercept) return;
    pmml_derived(p, pmml_feature(p, plan->raw).text, "(intercept)");
    pmml_constant(p, plan->intercept_value);
    pmml_derived_end(p);
}
