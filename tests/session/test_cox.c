/* Method cox through real gates: an honest fit is answered; a coordinator that asks about few rows, cuts time otherwise than it may, or chooses weights that
 * single rows out is refused. */
#include "lying.h"

#include <math.h>

#include "method/methods.h"
#include "method/time/cox.h"
#include "session/center/center_servers.h"

enum { GROUP = 4, EACH = 150 };

static const char SCHEMA[] = "label: {name: [t, e], kind: time, low: 0, high: 20}\n"
                             "columns:\n"
                             "  - {name: x, kind: number, low: -1, high: 1}\n"
                             "  - {name: z, kind: number, low: 0, high: 4}\n"
                             "  - {name: arm, kind: category, levels: [a, b]}\n";

/* The same rows, some of which are observed from a later time on, each somebody's. */
static const char LATER[] = "label: {name: [s, t, e], kind: time, low: 0, high: 20}\n"
                            "columns:\n"
                            "  - {name: x, kind: number, low: -1, high: 1}\n"
                            "  - {name: z, kind: number, low: 0, high: 4}\n"
                            "  - {name: arm, kind: category, levels: [a, b]}\n"
                            "person: who\n";

typedef enum rows_kind { PLAIN, LATE, RARE } rows_kind;

/* With RARE few rows have a z that is not 0, and these twelve times the hazard. */
static void make_table(table *out, rows_kind kind) {
    uint64_t state = 5;
    char path[] = "/tmp/tacit-cox-XXXXXX.csv";
    FILE *file = fdopen(mkstemps(path, 4), "w");
    assert_non_null(file);
    fprintf(file, "x,z,arm,t,e,s,who\n");
    for (size_t i = 0; i < GROUP * EACH; i++) {
        double u[5];
        for (size_t j = 0; j < 5; j++) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            u[j] = (double)(state >> 11) * 0x1p-53;
        }
        bool rare = kind == RARE && i % 50 == 0;
        double x = 2 * u[0] - 1, time = -log(1 - u[2]) * exp(-x) * 6 / (rare ? 12 : 1);
        if (kind == RARE) u[1] = rare;
        double end = fmin(time, 20 * u[3]) + 0.01, begin = i % 3 == 0 && end > 1 ? end / 2 : 0;
        fprintf(file, "%.5f,%.5f,%c,%.5f,%d,%.5f,%zu\n", x, 4 * u[1], u[4] < 0.5 ? 'a' : 'b', end,
                time <= 20 * u[3], begin, i / 2);
    }
    read_table(out, file, path, kind == LATE ? LATER : SCHEMA);
}

/* A question of this name is changed by this function; a lie has no context of its own. */
typedef void change(tacit_message *message);
static struct {
    change *change;
    const char *at;
} lying;

static void lie_now(tacit_question *question) {
    if (strcmp(question->name, lying.at) == 0) lying.change((tacit_message *)(uintptr_t)question->message);
}

/* As ask_sum, where each answer counts by itself, for cox-servers. */
static tacit_status ask_each(void *context, const tacit_question *question, tacit_answers *out,
                             tacit_error *error) {
    world *self = context;
    tacit_question asked = *question;
    if (self->lie != NULL) self->lie(&asked);
    out->answer = calloc(self->bench->parties, sizeof *out->answer);
    assert_non_null(out->answer);
    for (size_t k = 0; k < self->bench->parties; k++) {
        static const uint8_t hash[TACIT_HASH_BYTES];
        tacit_buffer bytes = TACIT_BUFFER_INIT;
        memcpy(asked.answer_id, &question->round, sizeof question->round);
        tacit_status status = tacit_party_answer(&self->bench->sites[k].party, &asked, hash, &bytes, error);
        if (status == TACIT_OK)
            status = tacit_answer_decode(&out->answer[k], bytes.bytes, bytes.length, error);
        tacit_buffer_clear(&bytes);
        TACIT_TRY(status);
        out->count++;
    }
    return TACIT_OK;
}

/* Parties encrypt for nobody but the server that their study names. */
static void name_center(tacit_plan *plan) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_paillier_secret *secret = NULL;
    CHECK_OK(tacit_center_simulated_key(&secret, &error), error);
    memcpy(plan->center_key, tacit_paillier_fingerprint(tacit_paillier_public_of(secret)),
           sizeof plan->center_key);
    tacit_paillier_secret_free(secret);
}

static tacit_status fit_by(const tacit_method *which, change *what, const char *at, rows_kind kind,
                           const char *const *settings, double *out, tacit_error *error) {
    world self = { .lie = what != NULL ? lie_now : NULL };
    tacit_outcome outcome = TACIT_OUTCOME_INIT;
    lying.change = what;
    lying.at = at;
    make_table(&self.rows, kind);
    tacit_plan *plan = open_world(&self, which, GROUP, 3);
    name_center(plan);
    for (; settings != NULL && *settings != NULL; settings += 2)
        CHECK_OK(tacit_plan_set(plan, settings[0], settings[1], error), *error);
    self.bench->session.transport.ask = ask_each;
    tacit_status status = tacit_run_coordinate(&self.bench->session, &outcome, error);
    if (status == TACIT_OK && out != NULL) *out = outcome.models[0]->estimates->coefficient[0].estimate;
    tacit_outcome_clear(&outcome);
    close_world(&self);
    return status;
}

static tacit_status fit_with(change *what, const char *at, rows_kind kind, const char *const *settings,
                             double *out, tacit_error *error) {
    return fit_by(&tacit_method_cox, what, at, kind, settings, out, error);
}

static tacit_status fit(change *what, const char *setting, const char *value, double *out,
                        tacit_error *error) {
    return fit_with(what, "sums", PLAIN, (const char *const[]){ setting, value, NULL }, out, error);
}

static tacit_field *part(tacit_message *message, const char *name) {
    for (size_t i = 0; i < message->count; i++)
        if (strcmp(message->fields[i].name, name) == 0) return &message->fields[i];
    fail_msg("there is no field %s", name);
    return NULL;
}

static void test_an_honest_fit_is_answered(void **state) {
    (void)state;
    tacit_error error = TACIT_ERROR_INIT;
    double slope = 0;
    CHECK_OK(fit(NULL, NULL, NULL, &slope, &error), error);
    assert_true(slope > 0.5 && slope < 1.5);
    CHECK_OK(fit(NULL, "ties", "breslow", &slope, &error), error);
    CHECK_OK(fit(NULL, "strata", "arm", &slope, &error), error);
}

/* A whole step of Newton's from w = 0 would give the few rows almost all of the hazards. */
static void test_a_strong_effect_of_few_rows_is_reached_by_steps_that_owners_allow(void **state) {
    (void)state;
    tacit_error error = TACIT_ERROR_INIT;
    double slope = 0;
    CHECK_OK(fit_with(NULL, "", RARE, NULL, &slope, &error), error);
    assert_true(slope > 0.5 && slope < 1.5);
}

static void test_groups_below_the_owners_minimum_are_refused(void **state) {
    (void)state;
    tacit_error error = TACIT_ERROR_INIT;
    assert_int_equal(fit(NULL, "least", "3", NULL, &error), TACIT_REFUSED);
    assert_non_null(strstr(error.text, "the owner's minimum is 10"));
}

static void say_fewer(tacit_message *message) {
    part(message, "leaving")->value.numbers[1] = 9;
    part(message, "events")->value.numbers[1] = 1;
}

static void leave_a_gap(tacit_message *message) {
    tacit_field *last = part(message, "last");
    last->value.integers[last->count - 1]--;
}

static void go_back(tacit_message *message) { part(message, "last")->value.integers[1] = 0; }

static void say_too_many_events(tacit_message *message) { part(message, "events")->value.numbers[0] = 1e9; }

static void say_no_groups(tacit_message *message) { part(message, "groups")->value.integers[0] = 0; }

static void say_a_billion_groups(tacit_message *message) {
    part(message, "groups")->value.integers[0] = INT64_MAX;
}

static void single_rows_out(tacit_message *message) { part(message, "weights")->value.numbers[0] = 1e4; }

static void lead_by_few(tacit_message *message) { part(message, "weights")->value.numbers[0] = 60; }

static void shift_away(tacit_message *message) { part(message, "shift")->value.numbers[0] = 1e3; }

static void ask_for_more_room(tacit_message *message) { part(message, "room")->value.integers[0] = 62; }

static void say_fewer_rows(tacit_message *message) { part(message, "rows")->value.numbers[0] = EACH - 1; }

static void test_lies_are_refused(void **state) {
    (void)state;
    static const struct {
        change *lie;
        tacit_status status;
        const char *says;
    } cases[] = {
        { say_fewer, TACIT_REFUSED, "sums over 9 rows" },
        { leave_a_gap, TACIT_PROTOCOL, "leave out cells" },
        { go_back, TACIT_PROTOCOL, "not in order" },
        { say_too_many_events, TACIT_PROTOCOL, "not in order" },
        { say_no_groups, TACIT_PROTOCOL, "cannot be" },
        { say_a_billion_groups, TACIT_PROTOCOL, "cannot be" },
        { single_rows_out, TACIT_REFUSED, "scores beyond 30" },
        { lead_by_few, TACIT_REFUSED, "make up almost all" },
        { shift_away, TACIT_REFUSED, "scores beyond 30" },
        { ask_for_more_room, TACIT_PROTOCOL, "no room" },
        { say_fewer_rows, TACIT_REFUSED, "rows in all" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tacit_error error = TACIT_ERROR_INIT;
        tacit_status status = fit(cases[i].lie, NULL, NULL, NULL, &error);
        if (status != cases[i].status || strstr(error.text, cases[i].says) == NULL)
            fail_msg("lie %zu: %s: %s", i, tacit_status_name(status), error.text);
    }
}

static const char *const ROBUST[] = { "errors", "robust", "proportional", "km", NULL };
static const char *const CLUSTERED[] = {
    "errors", "cluster", "proportional", "rank", "ties", "breslow", NULL
};

static void test_an_honest_fit_with_all_that_follows_is_answered(void **state) {
    (void)state;
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(fit_with(NULL, "", PLAIN, ROBUST, NULL, &error), error);
    CHECK_OK(fit_with(NULL, "", LATE, ROBUST, NULL, &error), error);
    CHECK_OK(fit_with(NULL, "", LATE, CLUSTERED, NULL, &error), error);
}

static void say_fewer_enter(tacit_message *message) {
    tacit_field *entering = part(message, "entering");
    entering->value.numbers[entering->count - 1] = 3;
}

static void say_less_than_nobody_enters(tacit_message *message) {
    part(message, "entering")->value.numbers[1] = -1;
}

static void move_a_mean(tacit_message *message) { part(message, "steps")->value.numbers[1 + 3] = 5; }

static void fall_in_hazard(tacit_message *message) { part(message, "steps")->value.numbers[0] = -1; }

static void raise_hazards(tacit_message *message) {
    tacit_field *steps = part(message, "steps");
    for (size_t k = 0; k < steps->count; k++)
        if (k % 11 != 4 && k % 11 != 5 && k % 11 != 6) steps->value.numbers[k] *= 100;
}

static void single_one_out(tacit_message *message) { part(message, "weights")->value.numbers[0] = 60; }

/* Of all events only those of the last group. */
static void weigh_the_last(tacit_message *message) {
    tacit_field *time = part(message, "time");
    for (size_t k = 0; k < time->count; k++) time->value.numbers[k] = k + 1 == time->count ? 1 : -0.001;
}

static void let_time_fall(tacit_message *message) {
    tacit_field *time = part(message, "time");
    for (size_t k = 0; k < time->count; k++) time->value.numbers[k] = k % 2 == 0 ? 1 : -1;
}

static void let_time_run(tacit_message *message) { part(message, "time")->value.numbers[0] = -1e6; }

static void test_lies_after_the_fit_are_refused(void **state) {
    (void)state;
    static const struct {
        change *lie;
        const char *at;
        rows_kind kind;
        tacit_status status;
        const char *says;
    } cases[] = {
        { say_fewer_enter, "sums", LATE, TACIT_REFUSED, "or 3 that enter" },
        { say_less_than_nobody_enters, "sums", LATE, TACIT_PROTOCOL, "not in order" },
        { move_a_mean, "scores", PLAIN, TACIT_REFUSED, "none that rows" },
        { fall_in_hazard, "scores", PLAIN, TACIT_REFUSED, "none that rows" },
        { raise_hazards, "scores", PLAIN, TACIT_REFUSED, "more events than" },
        { single_one_out, "scores", PLAIN, TACIT_REFUSED, "make up almost all" },
        { weigh_the_last, "trend", PLAIN, TACIT_REFUSED, "weighs few events" },
        { let_time_fall, "trend", PLAIN, TACIT_REFUSED, "it falls" },
        { let_time_run, "trend", LATE, TACIT_REFUSED, "it falls" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tacit_error error = TACIT_ERROR_INIT;
        tacit_status status = fit_with(cases[i].lie, cases[i].at, cases[i].kind, ROBUST, NULL, &error);
        if (status != cases[i].status || strstr(error.text, cases[i].says) == NULL)
            fail_msg("lie %zu: %s: %s", i, tacit_status_name(status), error.text);
    }
}

static void test_counts_of_scores_are_of_enough_rows_and_asked_once(void **state) {
    (void)state;
    static const char *const yes[] = { "concordance", "yes", NULL };
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(fit_with(NULL, "", PLAIN, yes, NULL, &error), error);
    assert_int_equal(fit_with(say_fewer, "ranks", PLAIN, yes, NULL, &error), TACIT_REFUSED);
    assert_non_null(strstr(error.text, "sums over 9 rows"));
    error = (tacit_error)TACIT_ERROR_INIT;
    assert_int_equal(fit_with(single_one_out, "ranks", PLAIN, yes, NULL, &error), TACIT_REFUSED);
    assert_non_null(strstr(error.text, "make up almost all"));
}

/* ---- cox-servers: server A asks, and may lie ---- */

/* Weights are of columns with a spread of 1 here. */
static void lead_by_some(tacit_message *message) { part(message, "weights")->value.numbers[0] = 20; }

static void hand_out_another_key(tacit_message *message) { part(message, "key")->value.bytes[20] ^= 1; }

static void test_two_servers_get_what_an_honest_fit_gives(void **state) {
    (void)state;
    tacit_error error = TACIT_ERROR_INIT;
    double slope = 0, between = 0;
    CHECK_OK(fit_with(NULL, "", RARE, (const char *const[]){ "width", "2", "ties", "breslow", NULL }, &slope,
                      &error),
             error);
    CHECK_OK(fit_by(&tacit_method_cox_servers, NULL, "", RARE, (const char *const[]){ "width", "2", NULL },
                    &between, &error),
             error);
    CHECK_NEAR(between, slope, 0.05); /* cells are put together there, and not here */
}

static void test_lies_of_server_a_are_refused(void **state) {
    (void)state;
    static const struct {
        change *lie;
        const char *says;
    } cases[] = {
        { single_rows_out, "scores beyond 30" },
        { lead_by_some, "make up almost all" },
        { say_fewer_rows, "rows in all" },
        { hand_out_another_key, "" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tacit_error error = TACIT_ERROR_INIT;
        tacit_status status = fit_by(&tacit_method_cox_servers, cases[i].lie, "sums", PLAIN,
                                     (const char *const[]){ "width", "5", NULL }, NULL, &error);
        if ((status != TACIT_REFUSED && status != TACIT_INPUT) || strstr(error.text, cases[i].says) == NULL)
            fail_msg("lie %zu: %s: %s", i, tacit_status_name(status), error.text);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_honest_fit_is_answered),
        cmocka_unit_test(test_a_strong_effect_of_few_rows_is_reached_by_steps_that_owners_allow),
        cmocka_unit_test(test_groups_below_the_owners_minimum_are_refused),
        cmocka_unit_test(test_lies_are_refused),
        cmocka_unit_test(test_an_honest_fit_with_all_that_follows_is_answered),
        cmocka_unit_test(test_lies_after_the_fit_are_refused),
        cmocka_unit_test(test_counts_of_scores_are_of_enough_rows_and_asked_once),
        cmocka_unit_test(test_two_servers_get_what_an_honest_fit_gives),
        cmocka_unit_test(test_lies_of_server_a_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
