/* Exported models: what is in the files, names that need care, and every allocation failing once. How they
 * score is compared in tests/cli/test_export.py. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "failing.h"
#include "model/export/export.h"
#include "onnx_subset.pb-c.h"

typedef tacit_status export_function(const tacit_model *model, tacit_buffer *out, tacit_error *error);

static const char mixed[] =
    "label: {name: 'out<come>', classes: [\"n&o\", 'yes \"1\"']}\n"
    "columns:\n"
    "  - {name: 'a<b', kind: number, low: 0, high: 120}\n"
    "  - {name: \"s\\te\\nx\", kind: category, levels: [f, \"m'&\"], coding: effect}\n"
    "  - {name: note, kind: text, terms: [fever, cough], idf: [1.5, 2]}\n"
    "  - {name: scores, kind: number, low: 1, high: 2, mean: 1.25, sd: 0.5}\n"
    "missing: error\n"
    "strict: yes\n";
enum { MIXED_FEATURES = 6 };

static tacit_schema *schema_of(const char *text) {
    tacit_schema *schema = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_schema_parse(&schema, text, strlen(text), "test", &error), error);
    return schema;
}

/* Give a model its encoding and a guarantee. */
static tacit_model *described(tacit_model *model, const char *text) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_schema *schema = schema_of(text);
    for (size_t i = 0; i < tacit_model_size(model); i++) model->weights[i] = 0.1 * (double)i - 0.25;
    CHECK_OK(tacit_model_describe(model, &schema->classes, schema, &error), error);
    tacit_schema_free(schema);
    model->guarantee = (tacit_guarantee){ .method = "avg",
                                          .study = "he\"art",
                                          .is_private = true,
                                          .charged = { TACIT_UNIT_PARTY, 1.0 / 3, 1e-7 },
                                          .claimed = { TACIT_UNIT_RECORD, 2, 0 },
                                          .noise = TACIT_NOISE_EXACT,
                                          .parties = 5,
                                          .lambda = 0.05 };
    return model;
}

static tacit_model *linear(const char *text, size_t features) {
    tacit_model *model = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_model_create(&model, &tacit_family_logistic, features, 2, &error), error);
    return described(model, text);
}

static tacit_model *network(void) {
    tacit_model *model = NULL;
    tacit_network shape;
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_network_parse(&shape, "3", "", TACIT_ACTIVATION_SIGMOID, MIXED_FEATURES, 2, &error),
             error);
    CHECK_OK(tacit_model_create_network(&model, &shape, &error), error);
    return described(model, mixed);
}

static tacit_model *stack(tacit_combiner combiner) {
    tacit_model *model = NULL;
    tacit_stack *two = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_stack_create(&two, 2, 5, &error), error);
    two->start[1] = 2;
    two->start[2] = 5;
    for (uint32_t c = 0; c < 5; c++) two->column[c] = c < 2 ? c : c - 1;
    two->scale[1] = 0.5;
    two->combiner = combiner;
    two->rows_normalised = two->is_centered = true;
    CHECK_OK(tacit_model_create_stack(&model, two, MIXED_FEATURES, &error), error);
    return described(model, mixed);
}

/* Of three leaves, by a number and by a level. */
static tacit_model *tree(void) {
    tacit_model *model = NULL;
    tacit_tree *three = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_tree_create(&three, 5, &error), error);
    three->node[0] = (tacit_tree_node){ .feature = 0, .left = 1, .right = 2, .threshold = 0.25 };
    three->node[2] = (tacit_tree_node){ .feature = 1, .left = 3, .right = 4, .threshold = 0 };
    CHECK_OK(tacit_model_create_tree(&model, three, MIXED_FEATURES, 2, &error), error);
    return described(model, mixed);
}

/* A linear member and a tree. */
static tacit_model *forest(void) {
    tacit_model *model = NULL;
    tacit_stack *two = NULL;
    tacit_tree *three = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_stack_create(&two, 2, 7, &error), error);
    two->start[1] = 2;
    two->start[2] = 7;
    two->column[1] = 1;
    CHECK_OK(tacit_tree_create(&three, 5, &error), error);
    three->node[0] = (tacit_tree_node){ .feature = 0, .left = 1, .right = 2, .threshold = 0.25 };
    three->node[2] = (tacit_tree_node){ .feature = 1, .left = 3, .right = 4, .threshold = 0 };
    CHECK_OK(tacit_stack_plant(two, 1, three, &error), error);
    CHECK_OK(tacit_model_create_stack(&model, two, MIXED_FEATURES, &error), error);
    return described(model, mixed);
}

static tacit_buffer exported(const tacit_model *model, export_function *function) {
    tacit_buffer out = TACIT_BUFFER_INIT;
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(function(model, &out, &error), error);
    return out;
}

static Tacit__Onnx__Model *read_onnx(const tacit_model *model) {
    tacit_buffer out = exported(model, tacit_model_export_onnx);
    Tacit__Onnx__Model *file = tacit__onnx__model__unpack(NULL, out.length, out.bytes);
    assert_non_null(file);
    tacit_buffer_clear(&out);
    return file;
}

static const char *fact_of(const Tacit__Onnx__Model *file, const char *key) {
    for (size_t i = 0; i < file->n_facts; i++)
        if (strcmp(file->facts[i]->key, key) == 0) return file->facts[i]->value;
    fail_msg("no fact %s", key);
    return NULL;
}

static void an_onnx_file_names_raw_columns_in_order_and_keeps_outputs_apart(void **state) {
    (void)state;
    tacit_model *model = linear(mixed, MIXED_FEATURES);
    Tacit__Onnx__Model *file = read_onnx(model);
    static const char *const inputs[] = { "a<b", "s\te\nx", "note", "scores" };
    static const char *const outputs[] = { "label", "probabilities", "scores_" };
    static const int64_t width[] = { 1, 1, 2, 1 };
    assert_int_equal(file->graph->n_inputs, 4);
    for (size_t i = 0; i < 4; i++) {
        const Tacit__Onnx__Shape *shape = file->graph->inputs[i]->type->tensor->shape;
        assert_string_equal(file->graph->inputs[i]->name, inputs[i]);
        assert_string_equal(shape->dims[0]->name, "rows");
        assert_int_equal(shape->dims[1]->size, width[i]);
    }
    assert_int_equal(file->graph->n_outputs, 3);
    for (size_t i = 0; i < 3; i++) assert_string_equal(file->graph->outputs[i]->name, outputs[i]);
    assert_int_equal(file->ir_version, 7);
    assert_int_equal(file->operators[0]->version, 13);
    tacit__onnx__model__free_unpacked(file, NULL);
    tacit_model_free(model);
}

/* Each value is made once, before it is used, as ONNX demands. */
static void check_order(const Tacit__Onnx__Graph *graph) {
    tacit_levels known = TACIT_LEVELS_INIT;
    tacit_error error = TACIT_ERROR_INIT;
    size_t made = 0;
    for (size_t i = 0; i < graph->n_inputs; i++, made++)
        CHECK_OK(
            tacit_levels_add(&known, graph->inputs[i]->name, strlen(graph->inputs[i]->name), NULL, &error),
            error);
    for (size_t i = 0; i < graph->n_constants; i++, made++)
        CHECK_OK(tacit_levels_add(&known, graph->constants[i]->name, strlen(graph->constants[i]->name), NULL,
                                  &error),
                 error);
    for (size_t i = 0; i < graph->n_nodes; i++, made++) {
        const Tacit__Onnx__Node *node = graph->nodes[i];
        for (size_t k = 0; k < node->n_inputs; k++)
            assert_true(tacit_levels_find(&known, node->inputs[k], strlen(node->inputs[k])) >= 0);
        CHECK_OK(tacit_levels_add(&known, node->outputs[0], strlen(node->outputs[0]), NULL, &error), error);
    }
    assert_int_equal(known.count, made);
    for (size_t i = 0; i < graph->n_outputs; i++)
        assert_true(tacit_levels_find(&known, graph->outputs[i]->name, strlen(graph->outputs[i]->name)) >= 0);
    tacit_levels_clear(&known);
}

static void every_onnx_graph_makes_each_value_once_before_its_use(void **state) {
    (void)state;
    tacit_model *models[] = { linear(mixed, MIXED_FEATURES), network(), stack(TACIT_COMBINE_HIGH),
                              stack(TACIT_COMBINE_WEIGHTED), tree(),    forest() };
    for (size_t i = 0; i < 6; i++) {
        Tacit__Onnx__Model *file = read_onnx(models[i]);
        check_order(file->graph);
        tacit__onnx__model__free_unpacked(file, NULL);
        tacit_model_free(models[i]);
    }
}

static void the_guarantee_travels_with_an_onnx_file(void **state) {
    (void)state;
    tacit_model *model = linear(mixed, MIXED_FEATURES);
    Tacit__Onnx__Model *file = read_onnx(model);
    assert_string_equal(fact_of(file, "tacit.method"), "avg");
    assert_string_equal(fact_of(file, "tacit.study"), "he\"art");
    assert_string_equal(fact_of(file, "tacit.charged.unit"), "party");
    assert_string_equal(fact_of(file, "tacit.charged.epsilon"), "0.3333333333333333");
    assert_string_equal(fact_of(file, "tacit.claimed.epsilon"), "2");
    assert_string_equal(fact_of(file, "tacit.noise"), "exact");
    assert_string_equal(fact_of(file, "tacit.parties"), "5");
    assert_string_equal(fact_of(file, "tacit.lambda"), "0.05");
    assert_non_null(strstr(fact_of(file, "tacit.schema"), "fever"));
    assert_non_null(strstr(file->words, "in study he\"art"));
    assert_non_null(strstr(file->words, "drawn exactly"));
    tacit__onnx__model__free_unpacked(file, NULL);
    model->guarantee = (tacit_guarantee){ .is_private = false };
    file = read_onnx(model);
    assert_string_equal(fact_of(file, "tacit.private"), "no");
    assert_non_null(strstr(file->words, "Nothing is promised"));
    tacit__onnx__model__free_unpacked(file, NULL);
    tacit_model_free(model);
}

static void pmml_escapes_every_name(void **state) {
    (void)state;
    tacit_model *model = linear(mixed, MIXED_FEATURES);
    tacit_buffer out = exported(model, tacit_model_export_pmml);
    const char *text = tacit_buffer_text(&out);
    static const char *const wanted[] = { "name=\"a&lt;b\"",
                                          "name=\"s&#9;e&#10;x\"",
                                          "value=\"m'&amp;\"",
                                          "targetCategory=\"yes &quot;1&quot;\"",
                                          "name=\"out&lt;come&gt;\"",
                                          "name=\"note=fever\"",
                                          "name=\"predicted(out&lt;come&gt;)\"",
                                          "name=\"tacit.study\" value=\"he&quot;art\"",
                                          "missingValueTreatment=\"returnInvalid\"",
                                          "invalidValueTreatment=\"returnInvalid\"" };
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        if (strstr(text, wanted[i]) == NULL) fail_msg("no %s", wanted[i]);
    assert_int_equal(strspn(text, "\n"), 0);
    assert_string_equal(text + out.length - strlen("</PMML>\n"), "</PMML>\n");
    tacit_buffer_clear(&out);
    tacit_model_free(model);
}

static void what_cannot_be_written_is_refused_and_leaves_the_buffer(void **state) {
    (void)state;
    static const struct {
        const char *schema;
        size_t features;
        export_function *function;
        const char *says;
    } cases[] = {
        { "label: {name: y, classes: [a, b]}\ncolumns: [{name: x, kind: category, levels: [f, "
          "\"m\\u0007\"]}]\n",
          3, tacit_model_export_pmml, "control character" },
        { "label: {name: y, classes: [a, b]}\ncolumns: [{name: n, kind: text, terms: [hot]}, "
          "{name: 'n=hot', kind: number, low: 0, high: 1}]\n",
          3, tacit_model_export_pmml, "'n=hot'" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tacit_model *model = linear(cases[i].schema, cases[i].features);
        tacit_buffer out = TACIT_BUFFER_INIT;
        tacit_error error = TACIT_ERROR_INIT;
        CHECK_OK(tacit_buffer_print(&out, &error, "before"), error);
        assert_int_equal(cases[i].function(model, &out, &error), TACIT_INPUT);
        if (strstr(error.text, cases[i].says) == NULL) fail_msg("%s", error.text);
        assert_int_equal(out.length, strlen("before"));
        tacit_buffer_clear(&out);
        tacit_model_free(model);
    }
}

/* Models that no file of ours holds, but a program can make. */
static void models_that_do_not_hang_together_are_refused(void **state) {
    (void)state;
    static export_function *const functions[] = { tacit_model_export_onnx, tacit_model_export_pmml };
    static const char text[] =
        "label: {name: y, classes: [a, b]}\ncolumns: [{name: x, kind: number, low: 0, high: 1}]\n";
    static const char *const says[] = { "not UTF-8", "uses no column", "2 features and the model has 1" };
    for (size_t k = 0; k < 6; k++) {
        tacit_model *model = linear(text, 2);
        tacit_buffer out = TACIT_BUFFER_INIT;
        tacit_error error = TACIT_ERROR_INIT;
        if (k / 2 == 0) model->class_names.text[1][0] = '\xFF';
        if (k / 2 == 1) model->schema->columns[0].kind = TACIT_SCHEMA_SKIP;
        if (k / 2 >= 1) model->features = 1;
        assert_int_equal(functions[k % 2](model, &out, &error), TACIT_INPUT);
        if (strstr(error.text, says[k / 2]) == NULL) fail_msg("%s", error.text);
        assert_int_equal(out.length, 0);
        tacit_buffer_clear(&out);
        tacit_model_free(model);
    }
}

/* Names of our own start with a prefix that no column has. */
static void a_column_may_be_called_as_our_own_values_are(void **state) {
    (void)state;
    static const char text[] = "label: {name: tacit.., classes: [a, b]}\n"
                               "columns: [{name: tacit.x1, kind: number, low: 0, high: 1}]\n";
    tacit_model *model = linear(text, 2);
    Tacit__Onnx__Model *file = read_onnx(model);
    check_order(file->graph);
    tacit__onnx__model__free_unpacked(file, NULL);
    tacit_buffer out = exported(model, tacit_model_export_pmml);
    assert_non_null(strstr(tacit_buffer_text(&out), "name=\"tacit...x1\""));
    tacit_buffer_clear(&out);
    tacit_model_free(model);
}

/* Without a schema the rows come encoded. */
static void a_model_without_a_schema_takes_encoded_rows(void **state) {
    (void)state;
    tacit_model *model = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_model_create(&model, &tacit_family_softmax, 7, 3, &error), error);
    Tacit__Onnx__Model *file = read_onnx(model);
    assert_int_equal(file->graph->n_inputs, 1);
    assert_string_equal(file->graph->inputs[0]->name, "features");
    assert_int_equal(file->graph->inputs[0]->type->tensor->shape->dims[1]->size, 7);
    assert_string_equal(fact_of(file, "tacit.inputs"), "rows encoded beforehand");
    tacit__onnx__model__free_unpacked(file, NULL);
    tacit_buffer out = exported(model, tacit_model_export_pmml);
    assert_non_null(strstr(tacit_buffer_text(&out), "<DataField name=\"x7\""));
    tacit_buffer_clear(&out);
    tacit_model_free(model);
}

static void exports_survive_each_failure(void **state) {
    (void)state;
    static export_function *const functions[] = { tacit_model_export_onnx, tacit_model_export_pmml };
    tacit_model *models[] = { linear(mixed, MIXED_FEATURES), network(), stack(TACIT_COMBINE_HIGH),
                              stack(TACIT_COMBINE_MAJORITY), tree(),    forest() };
    for (size_t k = 0; k < 12; k++) {
        long at = 1;
        for (bool failed = true; failed; at++) {
            tacit_buffer out = TACIT_BUFFER_INIT;
            tacit_error error = TACIT_ERROR_INIT;
            fail_allocation(at);
            tacit_status status = functions[k % 2](models[k / 2], &out, &error);
            failed = allocation_failed();
            if (status != (failed ? TACIT_NO_MEMORY : TACIT_OK))
                fail_msg("case %zu, allocation %ld: %s", k, at, error.text);
            if (failed) assert_int_equal(out.length, 0);
            tacit_buffer_clear(&out);
        }
        assert_true(at > 20);
    }
    for (size_t i = 0; i < 6; i++) tacit_model_free(models[i]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_onnx_file_names_raw_columns_in_order_and_keeps_outputs_apart),
        cmocka_unit_test(every_onnx_graph_makes_each_value_once_before_its_use),
        cmocka_unit_test(the_guarantee_travels_with_an_onnx_file),
        cmocka_unit_test(pmml_escapes_every_name),
        cmocka_unit_test(what_cannot_be_written_is_refused_and_leaves_the_buffer),
        cmocka_unit_test(models_that_do_not_hang_together_are_refused),
        cmocka_unit_test(a_column_may_be_called_as_our_own_values_are),
        cmocka_unit_test(a_model_without_a_schema_takes_encoded_rows),
        cmocka_unit_test(exports_survive_each_failure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
