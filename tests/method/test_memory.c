/* Every allocation of ours fails once while a method runs: the run ends with that sentence and nothing
 * leaks. */
#include "check.h"

#include "failing.h"
#include "parties.h"

static void check_run_for(parties *self, const tacit_view *own) {
    long at = 1;
    for (bool failed = true; failed; at++) {
        tacit_error error = TACIT_ERROR_INIT;
        tacit_stream root = tacit_stream_from_seed(1);
        tacit_outcome outcome = TACIT_OUTCOME_INIT;
        tacit_session session;
        fail_allocation(at);
        tacit_status status = tacit_local_begin(self->local, &self->plan, &root, NULL, &session, &error);
        session.own = own;
        if (status == TACIT_OK) status = self->plan.method->coordinate(&session, &outcome, &error);
        failed = allocation_failed();
        /* What a simulation keeps for later runs may be lost without a word. */
        if (status != TACIT_OK && !(failed && status == TACIT_NO_MEMORY))
            fail_msg("%s, allocation %ld: %s", self->plan.method->name, at, error.text);
        tacit_outcome_clear(&outcome);
    }
    assert_true(at > 20);
}

static void check_run(parties *self) { check_run_for(self, NULL); }

static void estimate_survives_each_failure(void **state) {
    (void)state;
    static const char *const optimisers[] = { "newton", "lbfgs", "newton" };
    static const char *const families[] = { "logistic", "huber", "logistic" };
    for (int k = 0; k < 3; k++) {
        parties self;
        tacit_error error = TACIT_ERROR_INIT;
        parties_make(&self, ball(30, 2, 1), 2, NULL);
        self.plan.method = &tacit_method_estimate;
        CHECK_OK(tacit_plan_set(&self.plan, "optimiser", optimisers[k], &error), error);
        CHECK_OK(tacit_plan_set(&self.plan, "family", families[k], &error), error);
        if (k == 2) self.plan.lambda = 0;
        CHECK_OK(tacit_plan_set(&self.plan, "bias", k == 2 ? "firth" : "none", &error), error);
        check_run(&self);
        parties_end(&self);
    }
}

static void cross_validation_survives_each_failure(void **state) {
    (void)state;
    parties self;
    tacit_error error = TACIT_ERROR_INIT;
    parties_make(&self, ball(60, 2, 1), 2, NULL);
    self.plan.method = &tacit_method_estimate;
    CHECK_OK(tacit_plan_set(&self.plan, "folds", "2", &error), error);
    check_run(&self);
    parties_end(&self);
}

static void meta_survives_each_failure(void **state) {
    (void)state;
    for (int k = 0; k < 2; k++) {
        parties self;
        tacit_error error = TACIT_ERROR_INIT;
        parties_make(&self, ball(60, 2, 1), 4, NULL);
        self.plan.method = &tacit_method_meta;
        CHECK_OK(tacit_plan_set(&self.plan, "forest", k == 0 ? "no" : "yes", &error), error);
        check_run(&self);
        parties_end(&self);
    }
}

static void mixed_survives_each_failure(void **state) {
    (void)state;
    static const char *const schemas[] = {
        "label: {name: y, kind: number, low: 0, high: 40}\nperson: who\ncolumns: [{name: x, kind: number, "
        "low: 0, high: 1}]\n",
        "label: {name: y, kind: count, low: 0, high: 40}\nperson: who\ncolumns: [{name: x, kind: number, "
        "low: 0, high: 1}]\n",
    };
    for (int k = 0; k < 2; k++) {
        char path[] = "/tmp/tacit-memory-XXXXXX.csv";
        tacit_error error = TACIT_ERROR_INIT;
        tacit_load_options options = TACIT_LOAD_DEFAULTS;
        tacit_schema *schema = NULL;
        tacit_dataset *data = NULL;
        parties self;
        FILE *file = fdopen(mkstemps(path, 4), "w");
        assert_non_null(file);
        fprintf(file, "who,x,y\n");
        for (int i = 0; i < 48; i++)
            fprintf(file, "p%d,%.2f,%d\n", i / 4, i * 7 % 40 / 40.0, 2 + i / 4 % 3 * 5 + i * 11 % 7);
        fclose(file);
        CHECK_OK(tacit_schema_parse(&schema, schemas[k], strlen(schemas[k]), "test", &error), error);
        CHECK_OK(tacit_dataset_load(&data, NULL, path, schema, &options, &error), error);
        remove(path);
        parties_make(&self, data, 2, NULL);
        self.plan.method = &tacit_method_mixed;
        self.plan.schema = schema;
        self.plan.lambda = 0;
        check_run(&self);
        parties_end(&self);
        tacit_schema_free(schema);
    }
}

static void cox_survives_each_failure(void **state) {
    (void)state;
    static const char SCHEMA[] = "label: {name: [t, e], kind: time, low: 0, high: 8}\n"
                                 "columns: [{name: x, kind: number, low: 0, high: 1}, "
                                 "{name: g, kind: category, levels: [a, b]}]\n";
    char path[] = "/tmp/tacit-memory-XXXXXX.csv";
    tacit_error error = TACIT_ERROR_INIT;
    tacit_load_options options = TACIT_LOAD_DEFAULTS;
    tacit_schema *schema = NULL;
    tacit_dataset *data = NULL;
    FILE *file = fdopen(mkstemps(path, 4), "w");
    assert_non_null(file);
    fprintf(file, "x,g,t,e\n");
    for (int i = 0; i < 40; i++)
        fprintf(file, "%.2f,%c,%d,%d\n", i * 7 % 40 / 40.0, "ab"[i % 2], 1 + i * 11 % 7, i % 3 > 0);
    fclose(file);
    CHECK_OK(tacit_schema_parse(&schema, SCHEMA, sizeof SCHEMA - 1, "test", &error), error);
    CHECK_OK(tacit_dataset_load(&data, NULL, path, schema, &options, &error), error);
    remove(path);
    for (int k = 0; k < 2; k++) {
        parties self;
        parties_make(&self, data, 2, NULL);
        self.plan.method = &tacit_method_cox;
        self.plan.schema = schema;
        self.plan.lambda = 0.01;
        CHECK_OK(tacit_plan_set(&self.plan, "strata", k == 0 ? "none" : "g", &error), error);
        CHECK_OK(tacit_plan_set(&self.plan, "least", "2", &error), error);
        check_run(&self);
        self.plan.method = &tacit_method_survival_exact;
        CHECK_OK(tacit_plan_set(&self.plan, "by", k == 0 ? "none" : "g", &error), error);
        check_run(&self);
        self.plan.method = &tacit_method_survival;
        self.plan.epsilon = 1;
        self.plan.delta = 1e-5;
        CHECK_OK(tacit_plan_set(&self.plan, "by", k == 0 ? "none" : "g", &error), error);
        CHECK_OK(tacit_plan_set(&self.plan, "noise", k == 0 ? "shares" : "party", &error), error);
        check_run(&self);
        self.plan.method = &tacit_method_dpcox;
        CHECK_OK(tacit_plan_set(&self.plan, "noise", k == 0 ? "shares" : "party", &error), error);
        check_run(&self);
        self.plan.epsilon = INFINITY;
        if (k == 0) self.data = NULL;
        parties_end(&self);
    }
    tacit_schema_free(schema);
}

/* With lambda by cross-validation. */
static void yardsticks_survive_each_failure(void **state) {
    (void)state;
    static const tacit_method *const methods[] = { &tacit_method_batch, &tacit_method_indiv };
    for (size_t i = 0; i < 2; i++) {
        parties self;
        parties_make(&self, ball(30, 2, 1), 2, NULL);
        self.plan.method = methods[i];
        self.plan.lambda = 0;
        check_run(&self);
        parties_end(&self);
    }
}

static void dptree_survives_each_failure(void **state) {
    (void)state;
    static const char SCHEMA[] = "label: {name: y, classes: [no, yes]}\n"
                                 "columns: [{name: x, kind: number, low: 0, high: 1}, "
                                 "{name: g, kind: category, levels: [a, b]}]\n";
    tacit_error error = TACIT_ERROR_INIT;
    tacit_buffer text = TACIT_BUFFER_INIT;
    tacit_schema *schema = NULL;
    parties self;
    CHECK_OK(tacit_schema_parse(&schema, SCHEMA, sizeof SCHEMA - 1, "test", &error), error);
    CHECK_OK(tacit_buffer_print(&text, &error, "x,g,y\n"), error);
    for (int i = 0; i < 60; i++)
        CHECK_OK(
            tacit_buffer_print(&text, &error, "%.2f,%c,%s\n", i / 60.0, "ab"[i % 2], i < 30 ? "no" : "yes"),
            error);
    parties_read(&self, &text, schema, 2, &tacit_method_dptree);
    CHECK_OK(tacit_plan_set(&self.plan, "depth", "2", &error), error);
    CHECK_OK(tacit_plan_set(&self.plan, "cells", "3", &error), error);
    check_run(&self);
    parties_end(&self);
    tacit_schema_free(schema);
}

static void histogram_survives_each_failure(void **state) {
    (void)state;
    parties self;
    parties_make(&self, ball(30, 2, 1), 2, NULL);
    self.plan.method = &tacit_method_histogram;
    self.plan.epsilon = 1;
    check_run(&self);
    parties_end(&self);
}

static void histogram_of_numbers_survives_each_failure(void **state) {
    (void)state;
    static const char document[] = "label: {name: y, kind: number, low: 0, high: 9}\ncolumns:\n"
                                   "  - {name: u, kind: number, low: 0, high: 1}\n";
    tacit_error error = TACIT_ERROR_INIT;
    tacit_schema *schema = NULL;
    tacit_buffer text = TACIT_BUFFER_INIT;
    parties self;
    CHECK_OK(tacit_schema_parse(&schema, document, sizeof document - 1, "schema", &error), error);
    CHECK_OK(tacit_buffer_print(&text, &error, "u,y\n"), error);
    for (int i = 0; i < 12; i++)
        CHECK_OK(tacit_buffer_print(&text, &error, "%.2f,%d\n", i / 12.0, i / 2), error);
    parties_read(&self, &text, schema, 2, &tacit_method_histogram);
    self.plan.delta = 0;
    self.plan.lambda = 1e-4;
    self.plan.epsilon = 1;
    CHECK_OK(tacit_plan_set(&self.plan, "cells", "2", &error), error);
    check_run(&self);
    parties_end(&self);
    tacit_schema_free(schema);
}

static void evaluate_survives_each_failure(void **state) {
    (void)state;
    static const char *const noise[] = { "coordinator", "shares" };
    tacit_error error = TACIT_ERROR_INIT;
    for (size_t i = 0; i < 2; i++) {
        parties self;
        tacit_model *model = NULL;
        parties_make(&self, ball(30, 2, 1), 2, NULL);
        CHECK_OK(tacit_model_create(&model, tacit_family_for(2), 2, 2, &error), error);
        self.plan.method = &tacit_method_evaluate;
        self.plan.model = model;
        self.plan.epsilon = 1;
        CHECK_OK(tacit_plan_set(&self.plan, "noise", noise[i], &error), error);
        check_run(&self);
        parties_end(&self);
        tacit_model_free(model);
    }
}

static void descriptions_survive_each_failure(void **state) {
    static const tacit_method *const methods[] = { &tacit_method_describe, &tacit_method_describe_exact };
    (void)state;
    for (size_t k = 0; k < 2; k++) {
        parties self;
        tacit_error error = TACIT_ERROR_INIT;
        parties_make(&self, ball(30, 1, 1), 2, NULL);
        self.plan.method = methods[k];
        self.plan.epsilon = k == 0 ? 1 : INFINITY;
        self.plan.delta = 1e-5;
        self.plan.lambda = 0;
        if (k == 0) CHECK_OK(tacit_plan_set(&self.plan, "cells", "4", &error), error);
        CHECK_OK(tacit_plan_set(&self.plan, "by", "label", &error), error);
        CHECK_OK(tacit_plan_set(&self.plan, "cross", "label*label", &error), error);
        check_run(&self);
        parties_end(&self);
    }
}

static void dpnewton_of_three_classes_survives_each_failure(void **state) {
    (void)state;
    parties self;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_dataset *data = ball(30, 2, 1);
    CHECK_OK(tacit_levels_add(&data->classes, "another", 7, NULL, &error), error);
    parties_make(&self, data, 2, NULL);
    self.plan.method = &tacit_method_dpnewton;
    self.plan.epsilon = 1;
    self.plan.delta = 1e-5;
    CHECK_OK(tacit_plan_set(&self.plan, "noise", "coordinator", &error), error);
    CHECK_OK(tacit_plan_set(&self.plan, "rounds", "2", &error), error);
    check_run(&self);
    parties_end(&self);
}

static void private_cross_validation_survives_each_failure(void **state) {
    (void)state;
    static const char *const who[] = { "coordinator", "shares" };
    for (size_t w = 0; w < 2; w++) {
        parties self;
        tacit_error error = TACIT_ERROR_INIT;
        parties_make(&self, ball(30, 2, 1), 2, NULL);
        self.plan.method = &tacit_method_dpnewton;
        self.plan.epsilon = 1;
        self.plan.delta = 1e-5;
        CHECK_OK(tacit_plan_set(&self.plan, "noise", who[w], &error), error);
        CHECK_OK(tacit_plan_set(&self.plan, "rounds", "1", &error), error);
        CHECK_OK(tacit_plan_set(&self.plan, "folds", "2", &error), error);
        check_run(&self);
        parties_end(&self);
    }
}

static void gradient_methods_survive_each_failure(void **state) {
    (void)state;
    static const struct {
        const tacit_method *method;
        const char *noise;
    } cases[] = { { &tacit_method_dpgd, "coordinator" }, { &tacit_method_dpgd, "party" },
                  { &tacit_method_dpgd, "shares" },      { &tacit_method_dpnewton, "coordinator" },
                  { &tacit_method_dpnewton, "party" },   { &tacit_method_dpnewton, "shares" },
                  { &tacit_method_psgd, "both" },        { &tacit_method_histogram, "shares" } };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        parties self;
        tacit_error error = TACIT_ERROR_INIT;
        parties_make(&self, ball(30, 2, 1), 2, NULL);
        self.plan.method = cases[i].method;
        self.plan.epsilon = 1;
        self.plan.delta = 1e-5;
        CHECK_OK(tacit_plan_set(&self.plan, "noise", cases[i].noise, &error), error);
        if (tacit_method_takes(cases[i].method, "rounds"))
            CHECK_OK(tacit_plan_set(&self.plan, "rounds", "2", &error), error);
        check_run(&self);
        parties_end(&self);
    }
}

static void inference_survives_each_failure(void **state) {
    (void)state;
    static const char *const who[] = { "coordinator", "party", "shares" };
    for (size_t w = 0; w < 3; w++) {
        parties self;
        tacit_error error = TACIT_ERROR_INIT;
        parties_make(&self, ball(30, 2, 1), 2, NULL);
        self.plan.method = &tacit_method_dpnewton;
        self.plan.epsilon = w < 2 ? 300 : 10; /* 300: so that there are estimates */
        self.plan.delta = 1e-5;
        CHECK_OK(tacit_plan_set(&self.plan, "noise", who[w], &error), error);
        CHECK_OK(tacit_plan_set(&self.plan, "purpose", "inference", &error), error);
        check_run(&self);
        parties_end(&self);
    }
}

/* Each way to add noise, and a sum, or what a party sends, turned into signs. */
static void dpsgd_survives_each_failure(void **state) {
    (void)state;
    static const char *const who[] = { "coordinator", "shares", "party", "party" };
    for (size_t w = 0; w < 4; w++) {
        parties self;
        tacit_error error = TACIT_ERROR_INIT;
        parties_make(&self, ball(20, 2, 1), 2, NULL);
        self.plan.method = &tacit_method_dpsgd;
        self.plan.epsilon = 1;
        self.plan.delta = 1e-5;
        CHECK_OK(tacit_plan_set(&self.plan, "noise", who[w], &error), error);
        CHECK_OK(tacit_plan_set(&self.plan, "hidden", "3", &error), error);
        CHECK_OK(tacit_plan_set(&self.plan, "sampling", "1", &error), error);
        CHECK_OK(tacit_plan_set(&self.plan, "epochs", "1", &error), error);
        CHECK_OK(tacit_plan_set(&self.plan, "weights", "1,2", &error), error);
        if (w != 2) CHECK_OK(tacit_plan_set(&self.plan, "upload", "ternary", &error), error);
        check_run(&self);
        parties_end(&self);
    }
}

/* dpiw, and each model of dphtl, full width and along public directions. */
static void transfer_survives_each_failure(void **state) {
    (void)state;
    static const struct {
        const tacit_method *method;
        const char *model, *project, *hypothesis;
    } cases[] = { { &tacit_method_dpiw, NULL, "none", NULL },
                  { &tacit_method_dpiw, NULL, "public:2", NULL },
                  { &tacit_method_dphtl, "dphtl", "public:2", "output" },
                  { &tacit_method_dphtl, "average", "none", "plr" },
                  { &tacit_method_dphtl, "source", "none", "output" },
                  { &tacit_method_dphtl, "sources", "none", "output" },
                  { &tacit_method_dphtl, "soft", "none", "output" },
                  { &tacit_method_dphtl, "weak", "public:2", "output" } };
    tacit_error error = TACIT_ERROR_INIT;
    tacit_dataset *others = ball(24, 3, 2);
    tacit_view all = tacit_dataset_view(others), own = tacit_view_slice(&all, 12, 12);
    tacit_view public_rows = tacit_view_slice(&all, 0, 12);
    tacit_points points = TACIT_POINTS_INIT;
    CHECK_OK(tacit_points_of(&points, &public_rows.rows, NULL, &error), error);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        parties self;
        parties_make(&self, ball(30, 3, 1), 2, NULL);
        self.plan.method = cases[i].method;
        self.plan.epsilon = 1;
        self.plan.points = &points;
        CHECK_OK(tacit_plan_set(&self.plan, "project", cases[i].project, &error), error);
        if (cases[i].model != NULL) {
            CHECK_OK(tacit_plan_set(&self.plan, "model", cases[i].model, &error), error);
            CHECK_OK(tacit_plan_set(&self.plan, "hypothesis", cases[i].hypothesis, &error), error);
            CHECK_OK(tacit_plan_set(&self.plan, "target_labels", "0.5", &error), error);
        }
        check_run_for(&self, &own);
        parties_end(&self);
    }
    tacit_points_clear(&points);
    tacit_dataset_free(others);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(estimate_survives_each_failure),
        cmocka_unit_test(cross_validation_survives_each_failure),
        cmocka_unit_test(meta_survives_each_failure),
        cmocka_unit_test(mixed_survives_each_failure),
        cmocka_unit_test(cox_survives_each_failure),
        cmocka_unit_test(yardsticks_survive_each_failure),
        cmocka_unit_test(dptree_survives_each_failure),
        cmocka_unit_test(histogram_survives_each_failure),
        cmocka_unit_test(histogram_of_numbers_survives_each_failure),
        cmocka_unit_test(evaluate_survives_each_failure),
        cmocka_unit_test(descriptions_survive_each_failure),
        cmocka_unit_test(dpnewton_of_three_classes_survives_each_failure),
        cmocka_unit_test(private_cross_validation_survives_each_failure),
        cmocka_unit_test(gradient_methods_survive_each_failure),
        cmocka_unit_test(inference_survives_each_failure),
        cmocka_unit_test(dpsgd_survives_each_failure),
        cmocka_unit_test(transfer_survives_each_failure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
