/* The ledger commands over a ledger that real answers have been charged to. */
#include "check.h"

#include <jansson.h>

#include "cli/commands.h"
#include "cli/program.h"
#include "folder.h"
#include "privacy/gate.h"

typedef struct home {
    folder place;
    tacit_ledger *ledger;
    tacit_policy policy;
    tacit_gate gate;
    tacit_event event; /* of the releases */
} home;

/* One unit of budget for data source ward-7, and consent to the study heart. */
static void home_open(home *self) {
    tacit_error error = TACIT_ERROR_INIT;
    static const uint8_t hash[TACIT_HASH_BYTES] = { 9 };
    const tacit_price limit = { TACIT_UNIT_RECORD, 1, 1e-5 };
    char path[128];
    *self = (home){ .place = folder_make(), .policy = tacit_policy_default() };
    snprintf(path, sizeof path, "%s/ledger.db", self->place.path);
    assert_int_equal(setenv("TACIT_HOME", self->place.path, 1), 0);
    CHECK_OK(tacit_ledger_open(&self->ledger, path, "ward-7", TACIT_LEDGER_CREATE, &error), error);
    CHECK_OK(tacit_ledger_set_limit(self->ledger, NULL, &limit, &error), error);
    CHECK_OK(tacit_ledger_consent(self->ledger, "heart", hash, &error), error);
    CHECK_OK(tacit_gate_init(&self->gate, self->ledger, &self->policy, TACIT_GATE_REAL, &error), error);
}

static void home_close(home *self) {
    tacit_ledger_free(self->ledger);
    folder_remove(&self->place);
}

static tacit_status release(home *self, uint8_t number, double epsilon, double delta) {
    tacit_buffer out = TACIT_BUFFER_INIT;
    tacit_release about = { .kind = TACIT_RELEASE_CHARGED,
                            .noise = TACIT_NOISE_EXACT,
                            .price = { TACIT_UNIT_RECORD, epsilon, delta },
                            .event = self->event,
                            .coordinator = "uni-hospital",
                            .study = "heart",
                            .method = "avg",
                            .question = "weights",
                            .round = number,
                            .study_hash = { 9 },
                            .question_hash = { number },
                            .answer_id = { number },
                            .rows = 100,
                            .parties_declared = 5,
                            .parties_minimum = 3,
                            .parameters = 31,
                            .payload = (const uint8_t *)"w",
                            .payload_length = 1 };
    tacit_status status = tacit_gate_release(&self->gate, &about, &out, NULL);
    tacit_buffer_clear(&out);
    return status;
}

/* Run a command; its standard output, to be freed. */
static char *run(int code, const char *const *words, size_t count) {
    char *text = NULL, *said = NULL;
    size_t length, said_length;
    FILE *out = open_memstream(&text, &length), *err = open_memstream(&said, &said_length);
    assert_true(out != NULL && err != NULL);
    int ended = tacit_program_run(tacit_commands, words, count, out, err);
    fclose(out);
    fclose(err);
    if (ended != code) fail_msg("exit code %d: %s", ended, said);
    free(said);
    return text;
}

static json_t *run_json(int code, const char *const *words, size_t count) {
    char *text = run(code, words, count);
    json_t *document = json_loads(text, 0, NULL);
    assert_non_null(document);
    free(text);
    return document;
}

static const char *const show[] = { "ledger", "show", "--json" };
static const char *const verify[] = { "ledger", "verify", "--json" };

static double amount(const json_t *account, const char *which, const char *of) {
    return json_number_value(json_object_get(json_object_get(account, which), of));
}

static void show_tells_what_left_what_was_refused_and_what_is_left(void **state) {
    (void)state;
    home self;
    home_open(&self);
    assert_int_equal(release(&self, 1, 0.25, 1e-6), TACIT_OK);
    assert_int_equal(release(&self, 2, 0.5, 0), TACIT_OK);
    assert_int_equal(release(&self, 3, 0.5, 0), TACIT_REFUSED);
    json_t *told = run_json(0, show, 3);
    const json_t *source = json_array_get(json_object_get(told, "sources"), 0);
    const json_t *entries = json_object_get(source, "entries");
    assert_int_equal(json_array_size(entries), 5);
    static const char *const kinds[] = { "limit", "consent", "charge", "charge", "refusal" };
    for (size_t i = 0; i < 5; i++)
        assert_string_equal(json_string_value(json_object_get(json_array_get(entries, i), "entry")),
                            kinds[i]);
    const json_t *charge = json_array_get(entries, 2), *refusal = json_array_get(entries, 4);
    assert_string_equal(json_string_value(json_object_get(charge, "asked_by")), "uni-hospital");
    assert_string_equal(json_string_value(json_object_get(charge, "question")), "weights");
    assert_string_equal(json_string_value(json_object_get(charge, "kind")), "charged");
    assert_string_equal(json_string_value(json_object_get(charge, "noise")), "exact");
    CHECK_NEAR(amount(charge, "price", "epsilon"), 0.25, 0);
    assert_non_null(strstr(json_string_value(json_object_get(refusal, "reason")), "limit"));
    const json_t *accounts = json_object_get(source, "accounts"), *total = json_array_get(accounts, 0);
    CHECK_NEAR(amount(total, "sum", "epsilon"), 0.75, 1e-15);
    CHECK_NEAR(amount(total, "sum", "delta"), 1e-6, 1e-15);
    double spent = amount(total, "spent", "epsilon"); /* all that is known of both is a price */
    CHECK_NEAR(spent, 0.75, 1e-12);
    CHECK_NEAR(amount(total, "spent", "delta"), 1e-5, 0);
    assert_string_equal(json_string_value(json_object_get(total, "count")), "both");
    CHECK_NEAR(amount(total, "limit", "epsilon"), 1, 0);
    CHECK_NEAR(amount(total, "remaining", "epsilon"), 1 - spent, 1e-15);
    CHECK_NEAR(amount(total, "remaining", "delta"), 1e-5, 0);
    assert_string_equal(json_string_value(json_object_get(json_array_get(accounts, 2), "study")), "heart");
    json_decref(told);
    char *text = run(0, show, 2);
    assert_non_null(strstr(text, "uni-hospital"));
    assert_non_null(strstr(text, "0.25, delta 1e-06 per record"));
    assert_non_null(strstr(text, "entry 5 was refused: "));
    assert_non_null(strstr(text, "sum epsilon"));
    free(text);
    home_close(&self);
}

/* Gaussians with their event: the sum of the prices passes the limit long before the composition does. */
static void show_tells_which_accountant_made_it_cheaper(void **state) {
    (void)state;
    home self;
    home_open(&self);
    self.event = tacit_event_replaced(tacit_event_gaussian(20, 1));
    for (uint8_t i = 1; i <= 8; i++) assert_int_equal(release(&self, i, 0.25, 1e-6), TACIT_OK);
    json_t *told = run_json(0, show, 3);
    const json_t *source = json_array_get(json_object_get(told, "sources"), 0);
    const json_t *charge = json_array_get(json_object_get(source, "entries"), 2);
    const json_t *event = json_object_get(charge, "event"),
                 *total = json_array_get(json_object_get(source, "accounts"), 0);
    assert_string_equal(json_string_value(json_object_get(event, "kind")), "Gaussian");
    CHECK_NEAR(json_number_value(json_object_get(event, "parameter")), 20, 0);
    assert_string_equal(json_string_value(json_object_get(total, "accountant")), "Gaussian");
    CHECK_NEAR(amount(total, "sum", "epsilon"), 2, 1e-12);
    assert_true(amount(total, "spent", "epsilon") < 0.7);
    json_decref(told);
    char *text = run(0, show, 2);
    assert_non_null(strstr(text, "exact; Gaussian 20"));
    free(text);
    const char *const limit[] = {
        "ledger", "limit", "--source", "ward-7", "--epsilon", "1", "--delta", "1e-6"
    };
    text = run(0, limit, 8);
    assert_non_null(strstr(text, "by Gaussian composition (the prices add up to epsilon 2, delta 8e-06)"));
    free(text);
    home_close(&self);
}

static void a_limit_below_what_is_spent_is_set_with_a_warning(void **state) {
    (void)state;
    home self;
    home_open(&self);
    assert_int_equal(release(&self, 1, 0.5, 0), TACIT_OK);
    const char *const limit[] = { "ledger", "limit", "--source", "ward-7", "--epsilon", "0.25", "--json" };
    json_t *told = run_json(0, limit, 7);
    CHECK_NEAR(amount(told, "spent", "epsilon"), 0.5, 0);
    CHECK_NEAR(amount(told, "remaining", "epsilon"), 0, 0);
    json_decref(told);
    assert_int_equal(release(&self, 2, 0.01, 0), TACIT_REFUSED);
    home_close(&self);
}

static void verify_counts_every_entry(void **state) {
    (void)state;
    home self;
    home_open(&self);
    assert_int_equal(release(&self, 1, 0.5, 0), TACIT_OK);
    json_t *told = run_json(0, verify, 3);
    assert_int_equal(json_integer_value(json_object_get(told, "entries")), 3);
    assert_true(json_is_true(json_object_get(told, "sound")));
    assert_int_equal(json_string_length(json_object_get(told, "head")), 64);
    json_decref(told);
    home_close(&self);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(show_tells_what_left_what_was_refused_and_what_is_left),
        cmocka_unit_test(show_tells_which_accountant_made_it_cheaper),
        cmocka_unit_test(a_limit_below_what_is_spent_is_set_with_a_warning),
        cmocka_unit_test(verify_counts_every_entry),
    };
    return cmocka_run_group_tests_name("ledger", tests, NULL, NULL);
}
