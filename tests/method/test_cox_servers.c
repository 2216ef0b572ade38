/*
 * cox-servers: between two servers comes out what cox has of the sums in the clear, on either engine, with
 * strata, entries, a ridge and cells that nobody leaves; nodes that lie and servers that are none end the
 * run, and nothing is opened; nothing but ciphertexts and numbers of rows leaves a node.
 */
#include "check.h"

#include <math.h>
#include <pthread.h>

#include "method/secure/cox_servers.h"
#include "net/clock.h"
#include "parties.h"

enum { ROWS = 240, NODES = 3 };

static const char schema_text[] = "label: {name: [since, weeks, ill], kind: time, low: 0, high: 60}\n"
                                  "columns:\n"
                                  "  - {name: age, kind: number, low: 0, high: 1}\n"
                                  "  - {name: arm, kind: category, levels: [a, b]}\n"
                                  "  - {name: site, kind: category, levels: [x, y, z]}\n";

typedef struct world {
    tacit_schema *schema;
    parties all;
    size_t opened; /* coefficients that anybody was told */
    tacit_watch watch;
} world;

static void hear(void *context, const double *values, size_t count) {
    world *self = context;
    (void)values, (void)count;
    self->opened++;
}

static void make(world *out, const tacit_method *method) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_stream stream = tacit_stream_from_seed(12);
    tacit_buffer text = TACIT_BUFFER_INIT;
    *out = (world){ .watch = { hear, out } };
    CHECK_OK(tacit_schema_parse(&out->schema, schema_text, sizeof schema_text - 1, "test", &error), error);
    CHECK_OK(tacit_buffer_print(&text, &error, "age,arm,site,since,weeks,ill\n"), error);
    for (size_t i = 0; i < ROWS; i++) {
        bool arm = tacit_stream_below(&stream, 2) > 0;
        double age = tacit_stream_unit(&stream),
               time = -log(tacit_stream_unit(&stream)) * 30 * exp(-age - arm),
               seen = 10 + 30 * tacit_stream_unit(&stream), last = fmin(time, seen) + 0.01;
        CHECK_OK(tacit_buffer_print(&text, &error, "%.3f,%s,%c,%.3f,%.3f,%d\n", age, arm ? "b" : "a",
                                    "xyz"[i % 3], i % 4 == 0 && last > 14 ? last / 2 : 0.0, last,
                                    time <= seen),
                 error);
    }
    parties_read(&out->all, &text, out->schema, NODES, method);
}

static void end(world *self) {
    parties_end(&self->all);
    tacit_schema_free(self->schema);
}

static tacit_model *fit(const tacit_method *method, double lambda, const char *const *settings) {
    tacit_error error = TACIT_ERROR_INIT;
    world self;
    make(&self, method);
    self.all.plan.lambda = lambda;
    for (; *settings != NULL; settings += 2)
        if (tacit_method_takes(method, settings[0]))
            CHECK_OK(tacit_plan_set(&self.all.plan, settings[0], settings[1], &error), error);
    tacit_model *model = parties_run(&self.all, 5, NULL);
    end(&self);
    return model;
}

static void check_same(double lambda, const char *const *settings) {
    tacit_model *ours = fit(&tacit_method_cox_servers, lambda, settings),
                *theirs = fit(&tacit_method_cox, lambda, settings);
    const tacit_estimates *mine = ours->estimates, *other = theirs->estimates;
    assert_int_equal(mine->count, other->count);
    for (size_t k = 0; k < mine->count; k++) {
        assert_string_equal(mine->coefficient[k].name, other->coefficient[k].name);
        CHECK_NEAR(mine->coefficient[k].estimate, other->coefficient[k].estimate, 1e-8);
        if (lambda == 0) CHECK_NEAR(mine->coefficient[k].error, other->coefficient[k].error, 1e-8);
    }
    CHECK_NEAR(mine->deviance, other->deviance, 1e-7);
    CHECK_NEAR(mine->null_deviance, other->null_deviance, 1e-7);
    assert_null(mine->baseline); /* it is nobody's to see */
    tacit_model_free(ours);
    tacit_model_free(theirs);
}

static void what_comes_out_is_what_cox_has_of_sums_in_the_clear(void **state) {
    (void)state;
    check_same(0, (const char *const[]){ "width", "5", "least", "1", "ties", "breslow", NULL });
    check_same(0, (const char *const[]){ "width", "6", "least", "1", "ties", "breslow", "strata", "site",
                                         "level", "0.9", NULL });
    check_same(0.02, (const char *const[]){ "width", "6", "least", "1", "ties", "breslow", NULL });
}

static void garbled_circuits_do_too(void **state) {
    (void)state;
    check_same(0, (const char *const[]){ "width", "6", "least", "1", "ties", "breslow", "engine", "yao",
                                         "strata", "none", NULL });
}

/* ---- what a plan may not say ---- */

static void what_cannot_be_is_refused_with_what_to_do(void **state) {
    (void)state;
    static const char *const cases[][3] = { { "ties", "efron", "method cox" },
                                            { "width", "0.0005", "choose a larger width" } };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        tacit_error error = TACIT_ERROR_INIT;
        world self;
        make(&self, &tacit_method_cox_servers);
        CHECK_OK(tacit_plan_set(&self.all.plan, cases[k][0], cases[k][1], &error), error);
        assert_int_equal(tacit_plan_check(&self.all.plan, &error), TACIT_USAGE);
        assert_non_null(strstr(error.text, cases[k][2]));
        end(&self);
    }
}

/* ---- nodes that lie ---- */

typedef enum fault { SHORT, NOISE, FOREIGN, ABSENT, MANY_ROWS, LEAK, FAULTS } fault;

typedef struct tamper {
    tacit_transport honest;
    fault what;
} tamper;

static tacit_field *field_of(tacit_message *message, const char *name) {
    for (size_t f = 0; f < message->count; f++)
        if (strcmp(message->fields[f].name, name) == 0) return &message->fields[f];
    return NULL;
}

/* Node 0 lies, or is not there; with LEAK nobody does, and what leaves is looked at. */
static tacit_status ask_tampered(void *context, const tacit_question *question, tacit_answers *out,
                                 tacit_error *error) {
    const tamper *self = context;
    TACIT_TRY(self->honest.ask(self->honest.context, question, out, error));
    for (size_t i = 0; i < out->count; i++)
        for (size_t f = 0; f < out->answer[i].message.count; f++) {
            const char *name = out->answer[i].message.fields[f].name;
            assert_true(strcmp(name, "rows") == 0 || strcmp(name, "sums") == 0);
        }
    tacit_message *message = &out->answer[0].message;
    tacit_field *sums = field_of(message, "sums"), *rows = field_of(message, "rows");
    if (self->what == MANY_ROWS) rows->value.integers[0] = (int64_t)1 << 60;
    if (sums == NULL || self->what == LEAK) return TACIT_OK;
    if (self->what == SHORT) sums->count -= 1;
    if (self->what == NOISE) memset(sums->value.bytes + 24, 0xff, sums->count - 24);
    if (self->what == FOREIGN) sums->value.bytes[10] ^= 1; /* another key's fingerprint */
    if (self->what != ABSENT) return TACIT_OK;
    tacit_answer_clear(&out->answer[0]);
    out->count--;
    memmove(out->answer, out->answer + 1, out->count * sizeof *out->answer);
    return TACIT_OK;
}

static void a_node_that_lies_ends_the_run_and_nothing_is_opened(void **state) {
    (void)state;
    for (fault what = SHORT; what < FAULTS; what++) {
        tacit_error error = TACIT_ERROR_INIT;
        tacit_outcome outcome = TACIT_OUTCOME_INIT;
        world self;
        make(&self, &tacit_method_cox_servers);
        CHECK_OK(tacit_plan_set(&self.all.plan, "width", "6", &error), error);
        tacit_session session = parties_begin(&self.all, 5);
        tamper liar = { session.transport, what };
        session.transport.ask = ask_tampered;
        session.transport.context = &liar;
        session.watch = &self.watch;
        tacit_status status = self.all.plan.method->coordinate(&session, &outcome, &error);
        if (what == LEAK) {
            CHECK_OK(status, error);
        } else {
            assert_true(status == TACIT_PROTOCOL || status == TACIT_INPUT || status == TACIT_REFUSED);
            assert_int_equal(self.opened, 0);
            assert_int_equal(outcome.count, 0);
        }
        tacit_outcome_clear(&outcome);
        end(&self);
    }
}

/* ---- a server B that is none ---- */

typedef struct impostor {
    tacit_channel *channel;
    size_t sends; /* random bytes; 0: it hangs up */
    pthread_t thread;
} impostor;

static void *impostor_main(void *argument) {
    impostor *self = argument;
    tacit_stream stream = tacit_stream_from_seed(self->sends);
    uint8_t bytes[256];
    tacit_channel_set_deadline(self->channel, tacit_clock_monotonic_ms() + 20000);
    for (size_t sent = 0; sent < self->sends; sent += sizeof bytes) {
        tacit_stream_bytes(&stream, bytes, sizeof bytes);
        if (tacit_channel_send(self->channel, bytes, sizeof bytes, NULL) != TACIT_OK) break;
    }
    tacit_channel_flush(self->channel, NULL);
    self->channel = tacit_channel_free(self->channel);
    return NULL;
}

static void either_server_survives_another_that_is_none(void **state) {
    (void)state;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_paillier_secret *secret = NULL;
    CHECK_OK(tacit_center_simulated_key(&secret, &error), error);
    for (size_t k = 0; k < 4; k++) {
        tacit_outcome outcome = TACIT_OUTCOME_INIT;
        tacit_error said = TACIT_ERROR_INIT;
        tacit_channel *far = NULL;
        impostor other = { .sends = k % 2 == 0 ? 0 : 200000 };
        world self;
        tacit_status status;
        make(&self, &tacit_method_cox_servers);
        CHECK_OK(tacit_channel_memory_pair(&far, &other.channel, &error), error);
        assert_int_equal(pthread_create(&other.thread, NULL, impostor_main, &other), 0);
        if (k < 2) {
            tacit_session session = parties_begin(&self.all, 5);
            struct tacit_center_link link = { far, tacit_paillier_public_of(secret) };
            session.center = &link;
            session.watch = &self.watch;
            status = self.all.plan.method->coordinate(&session, &outcome, &said);
        } else
            status = tacit_center_assist(&self.all.plan, far, secret, NULL, &said);
        assert_true(status == TACIT_NETWORK || status == TACIT_PROTOCOL || status == TACIT_INPUT);
        assert_true(said.text[0] != 0);
        assert_true(self.opened == 0 && outcome.count == 0);
        tacit_channel_free(far);
        pthread_join(other.thread, NULL);
        end(&self);
    }
    tacit_paillier_secret_free(secret);
}

/* ---- a fit that runs away ---- */

/* Nobody of arm b falls ill: there is no finite estimate, and the run ends with a sentence. */
static void no_finite_estimate_is_said(void **state) {
    (void)state;
    static const char text_of[] = "label: {name: [weeks, ill], kind: time, low: 0, high: 60}\n"
                                  "columns:\n  - {name: arm, kind: category, levels: [a, b]}\n";
    tacit_error error = TACIT_ERROR_INIT;
    tacit_outcome outcome = TACIT_OUTCOME_INIT;
    tacit_buffer text = TACIT_BUFFER_INIT;
    world self = { .opened = 0 };
    CHECK_OK(tacit_schema_parse(&self.schema, text_of, sizeof text_of - 1, "test", &error), error);
    CHECK_OK(tacit_buffer_print(&text, &error, "arm,weeks,ill\n"), error);
    for (int i = 0; i < 60; i++)
        CHECK_OK(
            tacit_buffer_print(&text, &error, "%c,%d,%d\n", i % 2 == 0 ? 'a' : 'b', 5 + i % 50, i % 2 == 0),
            error);
    parties_read(&self.all, &text, self.schema, NODES, &tacit_method_cox_servers);
    CHECK_OK(tacit_plan_set(&self.all.plan, "width", "10", &error), error);
    tacit_session session = parties_begin(&self.all, 5);
    tacit_status status = self.all.plan.method->coordinate(&session, &outcome, &error);
    if (status != TACIT_NOT_CONVERGED && status != TACIT_LIMIT && status != TACIT_REFUSED)
        fail_msg("%s: %s", tacit_status_name(status), error.text);
    assert_non_null(strstr(error.text, "lambda"));
    end(&self);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_comes_out_is_what_cox_has_of_sums_in_the_clear),
        cmocka_unit_test(garbled_circuits_do_too),
        cmocka_unit_test(what_cannot_be_is_refused_with_what_to_do),
        cmocka_unit_test(a_node_that_lies_ends_the_run_and_nothing_is_opened),
        cmocka_unit_test(either_server_survives_another_that_is_none),
        cmocka_unit_test(no_finite_estimate_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
