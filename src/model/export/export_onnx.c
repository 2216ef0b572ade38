/*
 * A model as an ONNX graph, in double precision throughout: raw columns, their encoding
 * (data/schema/schema.h), the model's scores, and what they mean.
 */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "data/formula/formula_build.h"
#include "model/export/export_graph.h"

/* A graph under way: the columns encoded so far, and which rows the schema refuses. */
typedef struct writing {
    const export_plan *plan;
    onnx_graph g;
    graph_value number[2]; /* 0 and 1, once they are needed */
    graph_value *raw;      /* of each input */
    size_t blocks, columns;
    graph_value *block;
    uint32_t *place; /* the column among the blocks that is feature j */
    size_t checks;
    graph_value *check; /* above 0 for a row that is refused */
} writing;

/* A constant that is 0 or 1. */
static graph_value constant(writing *w, int bit) {
    if (w->number[bit] == NULL) w->number[bit] = graph_number(&w->g, bit);
    return w->number[bit];
}

/* ---- encoding ---- */

static double *numbers_of(writing *w, size_t count) { return graph_allocate(&w->g, count, sizeof(double)); }

/* What the caller gives, in the order of the schema. */
static void declare_inputs(writing *w) {
    for (size_t i = 0; i < w->plan->inputs && !w->g.failed; i++) {
        const export_input *input = &w->plan->input[i];
        bool wide = input->kind == EXPORT_COUNTS || input->kind == EXPORT_VALUES;
        w->raw[i] =
            graph_input(&w->g, input->name, input->kind == EXPORT_CATEGORY ? GRAPH_TEXT : GRAPH_NUMBER,
                        wide ? input->width : 1);
    }
}

/* Put a block of columns behind the others: the features of an input. */
static void add_block(writing *w, const export_input *input, graph_value block) {
    for (size_t k = 0; k < input->width; k++) w->place[input->first + k] = (uint32_t)(w->columns + k);
    w->block[w->blocks++] = block;
    w->columns += input->width;
}

/* The number columns, as places among the inputs; a single one is listed twice, since a constant of one
 * element may be dropped (export_graph.h). */
static size_t list_numbers(writing *w, size_t *list) {
    size_t count = 0;
    for (size_t i = 0; i < w->plan->inputs; i++)
        if (w->plan->input[i].kind == EXPORT_NUMBER) list[count++] = i;
    if (count != 1) return count;
    list[1] = list[0];
    return 2;
}

/* What missing numbers become, and which rows they make refused. */
static void encode_missing(writing *w, size_t count, const size_t *list, graph_value missing,
                           graph_value scaled) {
    onnx_graph *g = &w->g;
    double *fill = numbers_of(w, count), *refuses = numbers_of(w, count);
    bool filled = false, indicated = false;
    size_t refusing = 0;
    if (g->failed) return;
    for (size_t i = 0; i < count; i++) {
        const export_input *from = &w->plan->input[list[i]];
        fill[i] = from->fill;
        refuses[i] = from->refuses_missing;
        filled = filled || from->fill != 0;
        indicated = indicated || from->indicator;
        refusing += from->refuses_missing;
    }
    graph_value filling = filled ? graph_matrix(g, 1, count, fill) : constant(w, 0);
    w->block[w->blocks++] = GRAPH(g, "Where", missing, filling, scaled);
    w->columns = count;
    if (!indicated && refusing == 0) return;
    graph_value gaps = graph_cast(g, missing, GRAPH_NUMBER);
    for (size_t i = count; indicated && i-- > 0;)
        if (w->plan->input[list[i]].indicator)
            w->place[w->plan->input[list[i]].first + 1] = (uint32_t)(count + i);
    if (indicated) {
        w->block[w->blocks++] = gaps;
        w->columns += count;
    }
    if (refusing == 0) return;
    if (refusing < count) gaps = GRAPH(g, "Mul", gaps, graph_matrix(g, 1, count, refuses));
    w->check[w->checks++] = graph_sum(g, gaps);
}

/* All number columns side by side: one formula for all of them. */
static void encode_numbers(writing *w) {
    onnx_graph *g = &w->g;
    const export_input *input = w->plan->input;
    size_t *list = graph_allocate(g, w->plan->inputs + 1, sizeof *list);
    size_t count = list != NULL ? list_numbers(w, list) : 0;
    double *low = numbers_of(w, count), *high = numbers_of(w, count);
    double *middle = numbers_of(w, count), *half = numbers_of(w, count);
    graph_value *raw = graph_allocate(g, count, sizeof *raw);
    if (g->failed || count == 0) return;
    for (size_t i = count; i-- > 0;) {
        const export_input *from = &input[list[i]];
        low[i] = from->column->low;
        high[i] = from->column->high;
        middle[i] = from->middle;
        half[i] = from->half_width;
        raw[i] = w->raw[list[i]];
        w->place[from->first] = (uint32_t)i;
    }
    graph_value joined = graph_join(g, count, raw), missing = GRAPH(g, "IsNaN", joined);
    graph_value lowered = GRAPH(g, "Min", joined, graph_matrix(g, 1, count, high));
    graph_value moved = GRAPH(g, "Max", lowered, graph_matrix(g, 1, count, low));
    graph_value centered = GRAPH(g, "Sub", moved, graph_matrix(g, 1, count, middle));
    graph_value scaled = GRAPH(g, "Div", centered, graph_matrix(g, 1, count, half));
    encode_missing(w, count, list, missing, scaled);
}

enum { CODE_UNKNOWN = -1, CODE_MISSING = -2 };

/* The level's position in the schema, or a negative number. */
static graph_value encode_level(writing *w, const export_input *input, graph_value raw) {
    onnx_graph *g = &w->g;
    const tacit_levels *levels = &input->column->levels;
    size_t count = levels->count;
    char **text = graph_allocate(g, count + 1, sizeof *text);
    int64_t *code = graph_allocate(g, count + 1, sizeof *code);
    static char missing[] = "";
    if (g->failed) return "";
    for (size_t k = 0; k < count; k++) {
        text[k] = levels->text[k];
        code[k] = (int64_t)k;
    }
    if (tacit_levels_find(levels, missing, 0) < 0) {
        const tacit_schema_column *column = input->column;
        text[count] = missing;
        code[count] = column->missing == TACIT_MISSING_LEVEL   ? (int64_t)count
                      : column->missing == TACIT_MISSING_VALUE ? column->fill_level
                                                               : CODE_MISSING;
        count++;
    }
    graph_value found = GRAPH(g, "LabelEncoder", raw);
    graph_set_domain(g, "ai.onnx.ml");
    graph_set_texts(g, "keys_strings", count, text);
    graph_set_integers(g, "values_int64s", count, code);
    graph_set(g, "default_int64", input->column->others >= 0 ? input->column->others : CODE_UNKNOWN);
    return found;
}

/* 1 where the code is that of a level, one column a level from `first` on. */
static graph_value indicators(writing *w, graph_value code, size_t first, size_t count) {
    int64_t *wanted = graph_allocate(&w->g, count, sizeof *wanted);
    if (wanted == NULL) return "";
    for (size_t k = 0; k < count; k++) wanted[k] = (int64_t)(first + k);
    return graph_cast(&w->g, GRAPH(&w->g, "Equal", code, graph_integers(&w->g, count, wanted)), GRAPH_NUMBER);
}

/* Whether a level that is missing or unknown makes a row refused. */
static void check_level(writing *w, const export_input *input, graph_value code) {
    onnx_graph *g = &w->g;
    if (input->refuses_missing)
        w->check[w->checks++] =
            graph_cast(g, GRAPH(g, "Equal", code, graph_integer(g, CODE_MISSING)), GRAPH_NUMBER);
    if (w->plan->refuses_unknown)
        w->check[w->checks++] =
            graph_cast(g, GRAPH(g, "Equal", code, graph_integer(g, CODE_UNKNOWN)), GRAPH_NUMBER);
}

static void encode_category(writing *w, const export_input *input, graph_value raw) {
    onnx_graph *g = &w->g;
    graph_value code = encode_level(w, input, raw);
    if (input->width > 0) {
        graph_value own = indicators(w, code, 0, input->width);
        if (input->column->effect) own = GRAPH(g, "Sub", own, indicators(w, code, input->width, 1));
        add_block(w, input, own);
    }
    check_level(w, input, code);
}

/* The norm of each row, as a column. */
static graph_value norm_of(onnx_graph *g, graph_value rows) {
    return GRAPH(g, "Sqrt", graph_sum(g, GRAPH(g, "Mul", rows, rows)));
}

/* The same, but 1 for a zero row: to divide by. */
static graph_value divisor_of(writing *w, graph_value rows) {
    graph_value norm = norm_of(&w->g, rows);
    return GRAPH(&w->g, "Where", GRAPH(&w->g, "Greater", norm, constant(w, 0)), norm, constant(w, 1));
}

static void encode_counts(writing *w, const export_input *input, graph_value counts) {
    onnx_graph *g = &w->g;
    const double *idf = input->column->text.idf;
    if (idf != NULL) counts = GRAPH(g, "Mul", counts, graph_matrix(g, 1, input->width, idf));
    add_block(w, input, GRAPH(g, "Div", counts, divisor_of(w, counts)));
}

/* Of a sparse schema what is missing is 0; encoded rows are the caller's, as they are. */
static void encode_values(writing *w, const export_input *input, graph_value raw) {
    onnx_graph *g = &w->g;
    if (w->plan->model->schema != NULL) {
        graph_value missing = GRAPH(g, "IsNaN", raw);
        raw = GRAPH(g, "Where", missing, constant(w, 0), raw);
        if (w->plan->refuses_missing)
            w->check[w->checks++] = graph_sum(g, graph_cast(g, missing, GRAPH_NUMBER));
    }
    add_block(w, input, raw);
}

/* ---- terms ---- */

/* The place among the inputs of a column of the schema. */
static size_t input_of(const writing *w, size_t column) {
    size_t i = 0;
    while (w->plan->input[i].column != &w->plan->model->schema->columns[column]) i++;
    return i;
}

/* Numbers within their bounds and codes of levels, and which rows are refused. */
static void clean_inputs(writing *w) {
    onnx_graph *g = &w->g;
    for (size_t i = 0; i < w->plan->inputs && !g->failed; i++) {
        const export_input *input = &w->plan->input[i];
        if (input->kind == EXPORT_CATEGORY) {
            w->raw[i] = encode_level(w, input, w->raw[i]);
            check_level(w, input, w->raw[i]);
            continue;
        }
        graph_value missing = GRAPH(g, "IsNaN", w->raw[i]);
        graph_value lowered = GRAPH(g, "Min", w->raw[i], graph_number(g, input->column->high));
        graph_value moved = GRAPH(g, "Max", lowered, graph_number(g, input->column->low));
        if (input->refuses_missing) w->check[w->checks++] = graph_cast(g, missing, GRAPH_NUMBER);
        w->raw[i] = GRAPH(g, "Where", missing, graph_number(g, input->fill), moved);
    }
}

static const char *failed_or(const writing *w, graph_value value) { return w->g.failed ? NULL : value; }

static const char *term_column(void *context, size_t column) {
    writing *w = context;
    return w->raw[input_of(w, column)];
}

static const char *term_level(void *context, size_t column, size_t level) {
    writing *w = context;
    graph_value same =
        GRAPH(&w->g, "Equal", w->raw[input_of(w, column)], graph_integer(&w->g, (int64_t)level));
    return failed_or(w, graph_cast(&w->g, same, GRAPH_NUMBER));
}

static const char *term_number(void *context, double value) {
    writing *w = context;
    return failed_or(w, graph_number(&w->g, value));
}

static const char *term_apply(void *context, const char *operation, const char *a, const char *b) {
    static const char *const names[][2] = { { "+", "Add" },   { "-", "Sub" },   { "*", "Mul" },
                                            { "/", "Div" },   { "^", "Pow" },   { "min", "Min" },
                                            { "max", "Max" }, { "log", "Log" }, { "sqrt", "Sqrt" },
                                            { "exp", "Exp" }, { "abs", "Abs" }, { "equal", "Equal" } };
    writing *w = context;
    const char *name = names[0][1];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i][0], operation) == 0) name = names[i][1];
    graph_value value = b != NULL ? GRAPH(&w->g, name, a, b) : GRAPH(&w->g, name, a);
    if (strcmp(name, "Equal") == 0) value = graph_cast(&w->g, value, GRAPH_NUMBER);
    return failed_or(w, value);
}

/* One column a feature. Constants, of which there is the weight of rows, get as many rows as the first
 * input. */
static graph_value encode_terms(writing *w) {
    onnx_graph *g = &w->g;
    const tacit_formula_builder builder = { term_column, term_level, term_number, term_apply, w };
    graph_value *feature = graph_allocate(g, w->plan->raw, sizeof *feature);
    size_t column;
    double most;
    declare_inputs(w);
    graph_value first = w->raw[0];
    clean_inputs(w);
    if (g->failed || tacit_formula_build(w->plan->formula, &builder, feature, NULL) != TACIT_OK) {
        g->failed = true;
        return "";
    }
    const size_t weights = tacit_formula_weights(w->plan->formula, &most, &column);
    if (weights != SIZE_MAX) {
        graph_value none = GRAPH(g, "Equal", first, first); /* 1 or 0 in each row, whatever it holds */
        feature[weights] = GRAPH(g, "Mul", graph_cast(g, none, GRAPH_NUMBER), constant(w, 0));
    }
    return graph_join(g, w->plan->raw, feature);
}

/* The features in their order. */
static graph_value encode(writing *w) {
    const export_plan *plan = w->plan;
    if (plan->formula != NULL) return encode_terms(w);
    declare_inputs(w);
    encode_numbers(w);
    for (size_t i = 0; i < plan->inputs && !w->g.failed; i++) {
        const export_input *input = &plan->input[i];
        switch (input->kind) {
        case EXPORT_NUMBER: break;
        case EXPORT_CATEGORY: encode_category(w, input, w->raw[i]); break;
        case EXPORT_COUNTS: encode_counts(w, input, w->raw[i]); break;
        case EXPORT_VALUES: encode_values(w, input, w->raw[i]); break;
        }
    }
    graph_value rows = graph_join(&w->g, w->blocks, w->block);
    bool in_order = w->columns == plan->raw;
    for (size_t j = 0; j < plan->raw && !w->g.failed; j++) in_order = in_order && w->place[j] == j;
    return in_order ? rows : graph_gather(&w->g, rows, plan->raw, w->place);
}

/* Bring the rows inside the ball and put the intercept behind them. */
static graph_value bring_inside(writing *w, graph_value rows) {
    onnx_graph *g = &w->g;
    const export_plan *plan = w->plan;
    graph_value over = NULL;
    if (plan->rows == EXPORT_ROWS_UNIT) over = divisor_of(w, rows);
    if (plan->rows == EXPORT_ROWS_CLIP) over = GRAPH(g, "Max", norm_of(g, rows), graph_number(g, plan->clip));
    if (over != NULL) rows = GRAPH(g, "Mul", rows, GRAPH(g, "Div", graph_number(g, plan->factor), over));
    if (plan->rows == EXPORT_ROWS_TIMES) rows = graph_times(g, rows, plan->factor);
    if (!plan->intercept) return rows;
    const int64_t one_behind[] = { 0, 0, 0, 1 };
    return GRAPH(g, "Pad", rows, graph_integers(g, 4, one_behind), graph_number(g, plan->intercept_value));
}

/* ---- scores ---- */

/* t_k of stack.h. */
static graph_value margin(writing *w, graph_value rows, size_t member) {
    onnx_graph *g = &w->g;
    const tacit_stack *stack = w->plan->model->stack;
    size_t first = stack->start[member], width = stack->start[member + 1] - first;
    double scale = stack->scale[member];
    const tacit_tree *tree = tacit_stack_tree(stack, member);
    if (tree != NULL) return graph_tree(g, tree, 1, w->plan->model->weights + first, rows);
    graph_value own = graph_gather(g, rows, width, stack->column + first);
    graph_value sum = graph_weigh(g, own, width, w->plan->model->weights + first);
    if (!stack->rows_normalised && scale == 1) return sum;
    sum = graph_times(g, sum, scale * TACIT_STACK_INSIDE);
    return stack->rows_normalised ? GRAPH(g, "Div", sum, divisor_of(w, own)) : sum;
}

static graph_value score_stack(writing *w, graph_value rows) {
    onnx_graph *g = &w->g;
    const tacit_model *model = w->plan->model;
    const tacit_stack *stack = model->stack;
    graph_value *each = graph_allocate(g, stack->members, sizeof *each);
    double *vote = numbers_of(w, stack->members), all = 0;
    for (size_t k = 0; !g->failed && k < stack->members; k++) {
        each[k] = margin(w, rows, k);
        vote[k] = stack->combiner == TACIT_COMBINE_WEIGHTED ? stack->scale[k] : 1;
        all += vote[k];
    }
    graph_value margins = graph_join(g, stack->members, each);
    if (stack->combiner != TACIT_COMBINE_HIGH)
        return graph_over(g, graph_weigh(g, GRAPH(g, "Sign", margins), stack->members, vote), all);
    graph_value part = GRAPH(g, "Sigmoid", margins);
    if (stack->is_centered) part = GRAPH(g, "Sub", GRAPH(g, "Mul", part, graph_number(g, 2)), constant(w, 1));
    part = graph_times(g, part, TACIT_STACK_INSIDE / sqrt((double)stack->members));
    return graph_linear(g, part, 1, stack->members, model->weights + tacit_stack_low_size(stack), NULL);
}

static graph_value score(writing *w, graph_value rows) {
    const tacit_model *model = w->plan->model;
    if (model->stack != NULL) return score_stack(w, rows);
    if (model->network.layers > 0) return graph_network(&w->g, model, rows);
    if (model->tree != NULL)
        return graph_tree(&w->g, model->tree, tacit_model_scores_per_row(model), model->weights, rows);
    return graph_linear(&w->g, rows, tacit_model_scores_per_row(model), model->features, model->weights,
                        NULL);
}

/* ---- what scores mean ---- */

/* One value a row. */
static graph_value flatten(onnx_graph *g, graph_value column) {
    return GRAPH(g, "Reshape", column, graph_integers(g, 1, (const int64_t[]){ -1 }));
}

/* Whether the schema refuses a row, as a column; NULL when it refuses none. */
static graph_value refused(writing *w) {
    if (w->checks == 0) return NULL;
    return GRAPH(&w->g, "Greater", graph_sum(&w->g, graph_join(&w->g, w->checks, w->check)), constant(w, 0));
}

static graph_value unless(writing *w, graph_value refusal, graph_value instead, graph_value value) {
    return refusal == NULL ? value : GRAPH(&w->g, "Where", refusal, instead, value);
}

/* The names of classes at the places of the largest scores. */
static graph_value class_of(writing *w, graph_value scores) {
    onnx_graph *g = &w->g;
    const tacit_model *model = w->plan->model;
    char **names = graph_allocate(g, model->classes, sizeof *names);
    for (size_t k = 0; !g->failed && k < model->classes; k++) {
        char *scratch = graph_allocate(g, EXPORT_CLASS_NAME, 1);
        if (scratch != NULL) names[k] = (char *)export_class_name(model, k, scratch);
    }
    if (g->failed) return "";
    graph_value place;
    if (tacit_model_scores_per_row(model) > 1) {
        place = GRAPH(g, "ArgMax", scores);
        graph_set(g, "axis", 1);
        graph_set(g, "keepdims", 0);
    } else {
        place = flatten(g, graph_cast(g, GRAPH(g, "Greater", scores, constant(w, 0)), GRAPH_INTEGER));
    }
    return GRAPH(g, "Gather", graph_texts(g, model->classes, names), place);
}

static graph_value probabilities_of(writing *w, graph_value scores) {
    onnx_graph *g = &w->g;
    const char *operator= w->plan->model->family->onnx;
    if (tacit_model_scores_per_row(w->plan->model) > 1) {
        graph_value shares = GRAPH(g, operator, scores);
        graph_set(g, "axis", 1);
        return shares;
    }
    graph_value pair[] = { GRAPH(g, "Neg", scores), scores };
    return GRAPH(g, operator, graph_join(g, 2, pair));
}

/* The name of an output, which no column may have. */
static const char *output_name(writing *w, const char *name) {
    char *own = graph_allocate(&w->g, strlen(name) + w->plan->inputs + 1, 1);
    if (own == NULL) return "";
    strcpy(own, name);
    for (size_t i = 0; i < w->plan->inputs;) {
        bool same = strcmp(w->plan->input[i].name, own) == 0;
        if (same) strcat(own, "_");
        i = same ? 0 : i + 1;
    }
    return own;
}

static void notify(writing *w, graph_value scores) {
    onnx_graph *g = &w->g;
    const tacit_model *model = w->plan->model;
    size_t each = tacit_model_scores_per_row(model);
    graph_value refusal = refused(w), nothing = refusal != NULL ? graph_number(g, NAN) : NULL;
    if (tacit_model_is_numeric(model)) {
        const char *operator= model->family->onnx;
        graph_value mean = operator!= NULL ? GRAPH(g, operator, scores) : scores;
        graph_output(g, output_name(w, "label"), flatten(g, unless(w, refusal, nothing, mean)), GRAPH_NUMBER,
                     0);
    } else {
        static char no_class[] = "";
        char *const texts[] = { no_class };
        graph_value flat = refusal != NULL ? flatten(g, refusal) : NULL;
        graph_value label = class_of(w, scores);
        if (flat != NULL) label = unless(w, flat, graph_texts(g, 1, texts), label);
        graph_output(g, output_name(w, "label"), label, GRAPH_TEXT, 0);
    }
    if (tacit_model_has_probabilities(model))
        graph_output(g, output_name(w, "probabilities"),
                     unless(w, refusal, nothing, probabilities_of(w, scores)), GRAPH_NUMBER, model->classes);
    graph_output(g, output_name(w, "scores"), unless(w, refusal, nothing, scores), GRAPH_NUMBER, each);
}

tacit_status tacit_model_export_onnx(const tacit_model *model, tacit_buffer *out, tacit_error *error) {
    export_plan plan = EXPORT_PLAN_INIT;
    writing w = { .plan = &plan, .g = ONNX_GRAPH_INIT(&plan) };
    tacit_status status;
    TACIT_CHECK(export_plan_make(&plan, model, error));
    w.raw = graph_allocate(&w.g, plan.inputs, sizeof *w.raw);
    w.block = graph_allocate(&w.g, plan.inputs + 2, sizeof *w.block);
    w.place = graph_allocate(&w.g, plan.raw, sizeof *w.place);
    w.check = graph_allocate(&w.g, 2 * plan.inputs, sizeof *w.check);
    notify(&w, score(&w, bring_inside(&w, encode(&w))));
    TACIT_CHECK(graph_write(&w.g, out, error));
cleanup:
    graph_clear(&w.g);
    export_plan_clear(&plan);
    return status;
}
