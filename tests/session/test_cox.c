/* Method cox through real gates: an honest fit is answered; a coordinator that asks about few rows, cuts time otherwise than it may, or chooses weights that
 * single rows out is refused. */
#include "secure_bench.h"

#include <math.h>

#include "data/dataset.h"
#include "method/cox.h"
#include "method/methods.h"

enum { GROUP = 4, EACH = 150 };

static const char SCHEMA[] = "label: {name: [t, e], kind: time, low: 0, high: 20}\n"
                             "columns:\n"
                             "  - {name: x, kind: number, low: -1, high: 1}\n"
                             "  - {name: z, kind: number, low: 0, high: 4}\n"
                             "  - {name: arm, kind: category, levels: [a, b]}\n";

typedef struct table {
    tacit_schema *schema;
    tacit_dataset *data;
    uint32_t index[GROUP * EACH];
} table;

static void make_table(table *out) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_load_options options = TACIT_LOAD_DEFAULTS;
    uint64_t state = 5;
    char path[] = "/tmp/tacit-cox-XXXXXX.csv";
    FILE *file = fdopen(mkstemps(path, 4), "w");
    assert_non_null(file);
    fprintf(file, "x,z,arm,t,e\n");
    for (size_t i = 0; i < GROUP * EACH; i++) {
        double u[5];
        for (size_t j = 0; j < 5; j++) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            u[j] = (double)(state >> 11) * 0x1p-53;
        }
        double x = 2 * u[0] - 1, time = -log(1 - u[2]) * exp(-x) * 6;
        fprintf(file, "%.5f,%.5f,%c,%.5f,%d\n", x, 4 * u[1], u[4] < 0.5 ? 'a' : 'b', fmin(time, 20 * u[3]),
                time <= 20 * u[3]);
        out->index[i] = (uint32_t)i;
    }
    fclose(file);
    out->schema = NULL;
    out->data = NULL;
    CHECK_OK(tacit_schema_parse(&out->schema, SCHEMA, sizeof SCHEMA - 1, "test", &error), error);
    CHECK_OK(tacit_dataset_load(&out->data, NULL, path, out->schema, &options, &error), error);
    remove(path);
}

static void clear_table(table *self) {
    tacit_dataset_free(self->data);
    tacit_schema_free(self->schema);
}

/* What the coordinator asks is handed to the parties' gates, after a liar has changed it. */
typedef void lie(tacit_message *message);

typedef struct world {
    table rows;
    bench *bench;
    lie *lie;
} world;

static tacit_status ask_sum(void *context, const tacit_question *question, uint64_t *total, size_t *parties,
                            tacit_error *error) {
    world *self = context;
    tacit_question asked = *question;
    memcpy(asked.answer_id, &question->round, sizeof question->round);
    if (self->lie != NULL && strcmp(question->name, "sums") == 0)
        self->lie((tacit_message *)(uintptr_t)asked.message);
    for (size_t k = 0; k < self->bench->parties; k++)
        TACIT_TRY(tacit_party_contribute(&self->bench->sites[k].party, &asked, total, error));
    *parties = self->bench->parties;
    return TACIT_OK;
}

static tacit_status fit(lie *change, const char *setting, const char *value, double *out,
                        tacit_error *error) {
    world self = { .lie = change };
    tacit_outcome outcome = TACIT_OUTCOME_INIT;
    self.bench = bench_of(TACIT_SUMS_MASKED, GROUP, 3);
    make_table(&self.rows);
    tacit_plan *plan = &self.bench->plan;
    plan->method = &tacit_method_cox;
    plan->epsilon = INFINITY;
    plan->features = self.rows.data->features;
    plan->classes = 0;
    plan->schema = self.rows.schema;
    if (setting != NULL) CHECK_OK(tacit_plan_set(plan, setting, value, error), *error);
    for (size_t k = 0; k < GROUP; k++) {
        self.bench->sites[k].party.rows =
            tacit_dataset_subset(self.rows.data, self.rows.index + k * EACH, EACH);
        self.bench->sites[k].party.total_rows = EACH;
        self.bench->sites[k].policy.allow_exact = true;
    }
    self.bench->session =
        (tacit_session){ .plan = plan, .transport = { .ask_sum = ask_sum, .context = &self } };
    tacit_status status = plan->method->coordinate(&self.bench->session, &outcome, error);
    if (status == TACIT_OK && out != NULL) *out = outcome.models[0]->estimates->coefficient[0].estimate;
    tacit_outcome_clear(&outcome);
    bench_close(self.bench);
    clear_table(&self.rows);
    return status;
}

static tacit_field *field(tacit_message *message, const char *name) {
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

static void test_groups_below_the_owners_minimum_are_refused(void **state) {
    (void)state;
    tacit_error error = TACIT_ERROR_INIT;
    assert_int_equal(fit(NULL, "least", "3", NULL, &error), TACIT_REFUSED);
    assert_non_null(strstr(error.text, "the owner's minimum is 10"));
}

static void say_fewer(tacit_message *message) {
    field(message, "leaving")->value.numbers[1] = 9;
    field(message, "events")->value.numbers[1] = 1;
}

static void leave_a_gap(tacit_message *message) {
    tacit_field *last = field(message, "last");
    last->value.integers[last->count - 1]--;
}

static void go_back(tacit_message *message) { field(message, "last")->value.integers[1] = 0; }

static void say_too_many_events(tacit_message *message) { field(message, "events")->value.numbers[0] = 1e9; }

static void say_no_groups(tacit_message *message) { field(message, "groups")->value.integers[0] = 0; }

static void say_a_billion_groups(tacit_message *message) {
    field(message, "groups")->value.integers[0] = INT64_MAX;
}

static void single_rows_out(tacit_message *message) { field(message, "weights")->value.numbers[0] = 1e4; }

static void lead_by_few(tacit_message *message) { field(message, "weights")->value.numbers[0] = 60; }

static void shift_away(tacit_message *message) { field(message, "shift")->value.numbers[0] = 1e3; }

static void ask_for_more_room(tacit_message *message) { field(message, "room")->value.integers[0] = 62; }

static void say_fewer_rows(tacit_message *message) { field(message, "rows")->value.numbers[0] = EACH - 1; }

static void test_lies_are_refused(void **state) {
    (void)state;
    static const struct {
        lie *lie;
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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_honest_fit_is_answered),
        cmocka_unit_test(test_groups_below_the_owners_minimum_are_refused),
        cmocka_unit_test(test_lies_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
