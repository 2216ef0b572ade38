/*
 * A model as PMML 4.4: the encoding (data/schema/schema.h) as derived fields, then a RegressionModel over
 * them, or over what the members of a stack or the leaves of a tree say, or a NeuralNetwork. A linear
 * classifier without probabilities, and votes, have no classification that PMML would not turn into
 * probabilities: they are a regression of the score, and the class is an output derived from it.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "model/export/export_fields.h"
#include "tacit/tacit.h"

/* ---- outputs ---- */

/* A name that no field has yet: "_" is added until it fits. `of` goes with it unless it is NULL or long. */
static pmml_name output_name(const pmml *p, const char *what, const char *of) {
    enum { LONG = PMML_NAME / 2 };
    pmml_name name;
    bool plain = of == NULL || strlen(of) > LONG;
    snprintf(name.text, sizeof name.text, "%s%s%s%s", what, plain ? "" : "(", plain ? "" : of,
             plain ? "" : ")");
    size_t length = strlen(name.text);
    while (length + 1 < sizeof name.text && tacit_levels_find(&p->taken, name.text, length) >= 0) {
        name.text[length++] = '_';
        name.text[length] = 0;
    }
    return name;
}

/* The class by the sign of a score. */
static void label_output(pmml *p, const char *score) {
    char scratch[2][EXPORT_CLASS_NAME];
    xml_open(&p->x, "OutputField", "name", output_name(p, "predicted", p->label).text, "optype",
             "categorical", "dataType", "string", "feature", "transformedValue", XML_END);
    pmml_apply(p, "if", NULL);
    pmml_apply(p, "greaterThan", NULL);
    pmml_ref(p, score);
    pmml_constant(p, 0);
    pmml_end(p);
    pmml_text_constant(p, export_class_name(p->plan->model, 1, scratch[1]));
    pmml_text_constant(p, export_class_name(p->plan->model, 0, scratch[0]));
    pmml_end(p);
    xml_close(&p->x, "OutputField");
}

static void probability_outputs(pmml *p) {
    const tacit_model *model = p->plan->model;
    char scratch[EXPORT_CLASS_NAME], number[48];
    xml_leaf(&p->x, "OutputField", "name", output_name(p, "predicted", p->label).text, "optype",
             "categorical", "dataType", "string", "feature", "predictedValue", XML_END);
    for (size_t k = 0; k < model->classes; k++) {
        const char *class = export_class_name(model, k, scratch);
        snprintf(number, sizeof number, "probability %zu", k + 1);
        bool is_long = strlen(class) > PMML_NAME / 2;
        xml_leaf(&p->x, "OutputField", "name", output_name(p, is_long ? number : "probability", class).text,
                 "optype", "continuous", "dataType", "double", "feature", "probability", "value", class,
                 XML_END);
    }
}

static void outputs(pmml *p) {
    xml_open(&p->x, "Output", XML_END);
    if (tacit_model_has_probabilities(p->plan->model)) {
        probability_outputs(p);
    } else {
        bool numeric = tacit_model_is_numeric(p->plan->model);
        pmml_name name = numeric ? output_name(p, "predicted", p->label) : output_name(p, "score", NULL);
        xml_leaf(&p->x, "OutputField", "name", name.text, "optype", "continuous", "dataType", "double",
                 "feature", "predictedValue", XML_END);
        if (!numeric) label_output(p, name.text);
    }
    xml_close(&p->x, "Output");
}

/* ---- stacks ---- */

/* sum_c x_c w_c of a member. */
static void weighted_sum(pmml *p, size_t member) {
    const tacit_stack *stack = p->plan->model->stack;
    pmml_apply(p, "sum", NULL);
    for (size_t c = stack->start[member]; c < stack->start[member + 1]; c++) {
        pmml_apply(p, "*", NULL);
        pmml_ref(p, pmml_feature(p, stack->column[c]).text);
        pmml_constant(p, p->plan->model->weights[c]);
        pmml_end(p);
    }
    pmml_end(p);
}

/* |x_(k)|, as a field. */
static void member_norm(pmml *p, size_t member) {
    const tacit_stack *stack = p->plan->model->stack;
    pmml_derived(p, pmml_own(p, "length", member + 1).text, NULL);
    pmml_apply(p, "sqrt", NULL);
    pmml_apply(p, "sum", NULL);
    for (size_t c = stack->start[member]; c < stack->start[member + 1]; c++) {
        pmml_name feature = pmml_feature(p, stack->column[c]);
        pmml_apply(p, "*", NULL);
        pmml_ref(p, feature.text);
        pmml_ref(p, feature.text);
        pmml_end(p);
    }
    pmml_end(p);
    pmml_end(p);
    pmml_derived_end(p);
}

/* What the tree says that a member is. */
static void tree_margin(pmml *p, const tacit_tree *tree, size_t member) {
    const tacit_model *model = p->plan->model;
    pmml_derived(p, pmml_own(p, "margin", member + 1).text, NULL);
    pmml_tree(p, tree, 1, model->weights + model->stack->start[member], 0);
    pmml_derived_end(p);
}

/* t_k of stack.h: a row whose features of the member are all 0 has margin 0. */
static void margin(pmml *p, size_t member) {
    const tacit_stack *stack = p->plan->model->stack;
    double scale = stack->scale[member];
    pmml_name length = pmml_own(p, "length", member + 1);
    if (stack->rows_normalised) member_norm(p, member);
    pmml_derived(p, pmml_own(p, "margin", member + 1).text, NULL);
    if (stack->rows_normalised) {
        pmml_apply(p, "if", NULL);
        pmml_apply(p, "greaterThan", NULL);
        pmml_ref(p, length.text);
        pmml_constant(p, 0);
        pmml_end(p);
        pmml_apply(p, "/", NULL);
    }
    bool scaled = stack->rows_normalised || scale != 1;
    if (scaled) pmml_apply(p, "*", NULL);
    weighted_sum(p, member);
    if (scaled) pmml_constant(p, scale * TACIT_STACK_INSIDE);
    if (scaled) pmml_end(p);
    if (stack->rows_normalised) {
        pmml_ref(p, length.text);
        pmml_end(p);
        pmml_constant(p, 0);
        pmml_end(p);
    }
    pmml_derived_end(p);
}

/* 1, -1 or 0. */
static void sign_expression(pmml *p, const char *field) {
    pmml_apply(p, "if", NULL);
    pmml_apply(p, "greaterThan", NULL);
    pmml_ref(p, field);
    pmml_constant(p, 0);
    pmml_end(p);
    pmml_constant(p, 1);
    pmml_apply(p, "if", NULL);
    pmml_apply(p, "lessThan", NULL);
    pmml_ref(p, field);
    pmml_constant(p, 0);
    pmml_end(p);
    pmml_constant(p, -1);
    pmml_constant(p, 0);
    pmml_end(p);
    pmml_end(p);
}

/* 1/(1 + exp(-t)). */
static void sigma_expression(pmml *p, const char *field) {
    pmml_apply(p, "/", NULL);
    pmml_constant(p, 1);
    pmml_apply(p, "+", NULL);
    pmml_constant(p, 1);
    pmml_apply(p, "exp", NULL);
    pmml_apply(p, "*", NULL);
    pmml_constant(p, -1);
    pmml_ref(p, field);
    pmml_end(p);
    pmml_end(p);
    pmml_end(p);
    pmml_end(p);
}

/* m_k of stack.h. */
static void meta_feature(pmml *p, size_t member) {
    const tacit_stack *stack = p->plan->model->stack;
    double factor = TACIT_STACK_INSIDE / sqrt((double)stack->members);
    pmml_derived(p, pmml_own(p, "meta", member + 1).text, NULL);
    pmml_apply(p, "*", NULL);
    if (stack->is_centered) {
        pmml_apply(p, "-", NULL);
        pmml_apply(p, "*", NULL);
        pmml_constant(p, 2);
    }
    sigma_expression(p, pmml_own(p, "margin", member + 1).text);
    if (stack->is_centered) {
        pmml_end(p);
        pmml_constant(p, 1);
        pmml_end(p);
    }
    pmml_constant(p, factor);
    pmml_end(p);
    pmml_derived_end(p);
}

/* The sum of the votes over that of their weights: one field, since single terms would round. */
static void vote(pmml *p) {
    const tacit_stack *stack = p->plan->model->stack;
    bool weighted = stack->combiner == TACIT_COMBINE_WEIGHTED;
    double all = 0;
    pmml_derived(p, pmml_own(p, "vote", 1).text, NULL);
    pmml_apply(p, "/", NULL);
    pmml_apply(p, "sum", NULL);
    for (size_t k = 0; k < stack->members; k++) {
        all += weighted ? stack->scale[k] : 1;
        if (weighted) pmml_apply(p, "*", NULL);
        sign_expression(p, pmml_own(p, "margin", k + 1).text);
        if (weighted) pmml_constant(p, stack->scale[k]);
        if (weighted) pmml_end(p);
    }
    pmml_end(p);
    pmml_constant(p, all);
    pmml_end(p);
    pmml_derived_end(p);
}

static void stack_fields(pmml *p) {
    const tacit_stack *stack = p->plan->model->stack;
    for (size_t k = 0; k < stack->members; k++) {
        const tacit_tree *tree = tacit_stack_tree(stack, k);
        if (tree != NULL)
            tree_margin(p, tree, k);
        else
            margin(p, k);
    }
    if (stack->combiner != TACIT_COMBINE_HIGH) {
        vote(p);
        return;
    }
    for (size_t k = 0; k < stack->members; k++) meta_feature(p, k);
}

/* What the tree says, a field a score. */
static void leaf_fields(pmml *p) {
    const tacit_model *model = p->plan->model;
    const size_t each = tacit_model_scores_per_row(model);
    for (size_t k = 0; k < each; k++) {
        pmml_derived(p, pmml_own(p, "leaf", k + 1).text, NULL);
        pmml_tree(p, model->tree, each, model->weights, k);
        pmml_derived_end(p);
    }
}

static void transformations(pmml *p) {
    xml_open(&p->x, "LocalTransformations", XML_END);
    pmml_encoding(p);
    if (p->plan->model->stack != NULL) stack_fields(p);
    if (p->plan->model->tree != NULL) leaf_fields(p);
    xml_close(&p->x, "LocalTransformations");
}

/* ---- regression ---- */

static void predictor(pmml *p, const char *field, double weight) {
    xml_leaf(&p->x, "NumericPredictor", "name", field, "coefficient", XML_NUMBER(weight), XML_END);
}

/* A score, that of a class. `category` is NULL for a regression. */
static void table(pmml *p, const char *category, size_t score) {
    const export_plan *plan = p->plan;
    const tacit_stack *stack = plan->model->stack;
    const double *weights = plan->model->weights + (stack == NULL ? score * plan->model->features : 0);
    bool linear = tacit_model_is_linear(plan->model), constant = linear && plan->intercept;
    xml_open(&p->x, "RegressionTable", "intercept",
             XML_NUMBER(constant ? weights[plan->raw] * plan->intercept_value : 0), "targetCategory",
             category, XML_END);
    if (plan->model->tree != NULL)
        predictor(p, pmml_own(p, "leaf", score + 1).text, 1);
    else if (linear)
        for (size_t j = 0; j < plan->raw; j++) predictor(p, pmml_feature(p, j).text, weights[j]);
    else if (stack->combiner == TACIT_COMBINE_HIGH)
        for (size_t k = 0; k < stack->members; k++)
            predictor(p, pmml_own(p, "meta", k + 1).text, weights[tacit_stack_low_size(stack) + k]);
    else
        predictor(p, pmml_own(p, "vote", 1).text, 1);
    xml_close(&p->x, "RegressionTable");
}

/* Two classes are a softmax over (0, t), which is what a logistic function of t says. PMML's logit would be
 * the same except for ties: it names the second class first, and whoever takes the first of two equals should
 * get the class that tacit predicts. */
static void regression_tables(pmml *p) {
    const tacit_model *model = p->plan->model;
    char scratch[EXPORT_CLASS_NAME];
    if (!tacit_model_has_probabilities(model)) {
        table(p, NULL, 0);
        return;
    }
    bool pair = tacit_model_scores_per_row(model) == 1;
    if (pair)
        xml_leaf(&p->x, "RegressionTable", "intercept", "0", "targetCategory",
                 export_class_name(model, 0, scratch), XML_END);
    for (size_t k = pair; k < model->classes; k++) table(p, export_class_name(model, k, scratch), k - pair);
}

static void regression_model(pmml *p) {
    const tacit_model *model = p->plan->model;
    bool classes = tacit_model_has_probabilities(model);
    const char *link = classes || tacit_model_is_numeric(model) ? model->family->pmml : "none";
    xml_open(&p->x, "RegressionModel", "modelName", "tacit", "functionName",
             classes ? "classification" : "regression", "algorithmName",
             model->guarantee.method[0] != 0 ? model->guarantee.method : NULL, "normalizationMethod", link,
             XML_END);
    pmml_mining_schema(p, classes || tacit_model_is_numeric(model));
    outputs(p);
    transformations(p);
    regression_tables(p);
    xml_close(&p->x, "RegressionModel");
}

/* ---- networks ---- */

static void neuron(pmml *p, const char *id, double bias) {
    xml_open(&p->x, "Neuron", "id", id, "bias", XML_NUMBER(bias), XML_END);
}

static void connection(pmml *p, const char *from, double weight) {
    xml_leaf(&p->x, "Con", "from", from, "weight", XML_NUMBER(weight), XML_END);
}

static pmml_name neuron_name(size_t layer, size_t unit) {
    pmml_name name;
    snprintf(name.text, sizeof name.text, "%zu,%zu", layer, unit + 1);
    return name;
}

static void neural_inputs(pmml *p, size_t features) {
    xml_open(&p->x, "NeuralInputs", "numberOfInputs", XML_NUMBER((double)features), XML_END);
    for (size_t j = 0; j < features; j++) {
        xml_open(&p->x, "NeuralInput", "id", neuron_name(0, j).text, XML_END);
        xml_open(&p->x, "DerivedField", "optype", "continuous", "dataType", "double", XML_END);
        pmml_ref(p, pmml_feature(p, j).text);
        xml_close(&p->x, "DerivedField");
        xml_close(&p->x, "NeuralInput");
    }
    xml_close(&p->x, "NeuralInputs");
}

/* The neuron of the first of two classes: softmax over (0, t) is what a logistic output of t says. */
static void still_neuron(pmml *p, size_t layer) {
    neuron(p, neuron_name(layer, 0).text, 0);
    connection(p, neuron_name(layer - 1, 0).text, 0);
    xml_close(&p->x, "Neuron");
}

/* From a score to the mean of a count; classes have their probabilities from softmax. */
static const char *output_function(const tacit_model *model) {
    return model->family->response == TACIT_RESPONSE_COUNT ? "exponential" : "identity";
}

static void neural_layer(pmml *p, size_t layer) {
    const tacit_model *model = p->plan->model;
    const tacit_network *network = &model->network;
    bool last = layer == network->layers, classes = last && model->classes > 0;
    size_t inputs = network->width[layer - 1], units = network->width[layer], first = classes && units == 1;
    const double *weights = model->weights + tacit_network_weights_at(network, layer - 1);
    const double *biases = model->weights + tacit_network_biases_at(network, layer - 1);
    xml_open(&p->x, "NeuralLayer", "numberOfNeurons", XML_NUMBER((double)(units + first)),
             "activationFunction", last ? output_function(model) : NULL, "normalizationMethod",
             classes ? "softmax" : NULL, XML_END);
    if (first == 1) still_neuron(p, layer);
    for (size_t u = 0; u < units; u++) {
        neuron(p, neuron_name(layer, u + first).text, biases[u]);
        for (size_t i = 0; i < inputs; i++)
            connection(p, neuron_name(layer - 1, i).text, weights[u * inputs + i]);
        xml_close(&p->x, "Neuron");
    }
    xml_close(&p->x, "NeuralLayer");
}

static void neural_outputs(pmml *p) {
    const tacit_model *model = p->plan->model;
    char scratch[EXPORT_CLASS_NAME];
    const size_t outputs = model->classes > 0 ? model->classes : 1;
    xml_open(&p->x, "NeuralOutputs", "numberOfOutputs", XML_NUMBER((double)outputs), XML_END);
    for (size_t k = 0; k < outputs; k++) {
        xml_open(&p->x, "NeuralOutput", "outputNeuron", neuron_name(model->network.layers, k).text, XML_END);
        xml_open(&p->x, "DerivedField", "optype", "continuous", "dataType", "double", XML_END);
        if (model->classes > 0)
            xml_leaf(&p->x, "NormDiscrete", "field", p->label, "value", export_class_name(model, k, scratch),
                     XML_END);
        else
            pmml_ref(p, p->label);
        xml_close(&p->x, "DerivedField");
        xml_close(&p->x, "NeuralOutput");
    }
    xml_close(&p->x, "NeuralOutputs");
}

static void neural_network(pmml *p) {
    const tacit_model *model = p->plan->model;
    static const char *const activation[] = { [TACIT_ACTIVATION_TANH] = "tanh",
                                              [TACIT_ACTIVATION_SIGMOID] = "logistic",
                                              [TACIT_ACTIVATION_RELU] = "rectifier" };
    xml_open(&p->x, "NeuralNetwork", "modelName", "tacit", "functionName",
             model->classes > 0 ? "classification" : "regression", "algorithmName",
             model->guarantee.method[0] != 0 ? model->guarantee.method : NULL, "activationFunction",
             activation[model->network.activation], XML_END);
    pmml_mining_schema(p, true);
    outputs(p);
    transformations(p);
    neural_inputs(p, model->features);
    for (size_t l = 1; l <= model->network.layers; l++) neural_layer(p, l);
    neural_outputs(p);
    xml_close(&p->x, "NeuralNetwork");
}

/* ---- the document ---- */

static void header(pmml *p) {
    xml_open(&p->x, "Header", "description", tacit_buffer_text(&p->plan->words), XML_END);
    for (size_t i = 0; i < p->plan->facts; i++)
        xml_leaf(&p->x, "Extension", "extender", "tacit", "name", p->plan->fact[i].key, "value",
                 p->plan->fact[i].value, XML_END);
    xml_leaf(&p->x, "Application", "name", "tacit", "version", tacit_version(), XML_END);
    xml_close(&p->x, "Header");
}

static void document(pmml *p) {
    p->x.status = tacit_buffer_print(p->x.out, p->x.error, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    xml_open(&p->x, "PMML", "xmlns", "http://www.dmg.org/PMML-4_4", "version", "4.4", XML_END);
    header(p);
    pmml_data_dictionary(p);
    if (p->plan->model->network.layers > 0)
        neural_network(p);
    else
        regression_model(p);
    xml_close(&p->x, "PMML");
}

tacit_status tacit_model_export_pmml(const tacit_model *model, tacit_buffer *out, tacit_error *error) {
    export_plan plan = EXPORT_PLAN_INIT;
    size_t before = out->length;
    pmml p = { .plan = &plan,
               .x = { .out = out, .error = error },
               .label = model->schema != NULL ? model->schema->label : "label",
               .taken = TACIT_LEVELS_INIT };
    tacit_status status = TACIT_OK;
    if (!tacit_network_is_dense(&model->network))
        TACIT_CHECK(tacit_fail(error, TACIT_USAGE,
                               "PMML has neither windows nor recurrent layers: export this network as ONNX"));
    TACIT_CHECK(export_plan_make(&plan, model, error));
    TACIT_CHECK(pmml_take_names(&p, error));
    document(&p);
    TACIT_CHECK(p.x.status);
cleanup:
    if (status != TACIT_OK) out->length = before;
    tacit_levels_clear(&p.taken);
    export_plan_clear(&plan);
    return status;
}
