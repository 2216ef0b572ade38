/*
 * Methods without a center: every node of a graph of any shape ends at the minimiser of all rows pooled,
 * exactly (extra) or as near as its step allows; also when links fail and nodes leave; and nobody but
 * neighbours hears a word.
 */
#include "check.h"

#include "parties.h"
#include "session/party.h"

/* How far the nodes are from each other and from the pooled minimiser after a run, in the words they said
 * last. */
typedef struct ending {
    double disagreement; /* max_i |w_i - mean| */
    double distance;     /* |mean - w*| */
} ending;

static void pooled_minimiser(const parties *self, double *out) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_model *model = NULL;
    tacit_view all = tacit_dataset_subset(self->data, self->split->index, self->data->rows);
    tacit_linear_fit fit = { .lambda = self->plan.lambda, .gradient_tolerance = 1e-12 * self->plan.lambda };
    CHECK_OK(tacit_model_fit_linear(&model, &all, &fit, &error), error);
    memcpy(out, model->weights, tacit_model_size(model) * sizeof *out);
    tacit_model_free(model);
}

static const double *word_of(const parties *self, size_t party, size_t count) {
    const double *weights = NULL;
    const tacit_message *word = tacit_local_word(self->local, party);
    assert_non_null(word);
    assert_int_equal(tacit_message_numbers(word, "weights", count, &weights, NULL), TACIT_OK);
    return weights;
}

static double distance(const double *a, const double *b, size_t count) {
    double square = 0;
    for (size_t j = 0; j < count; j++) square += (a[j] - b[j]) * (a[j] - b[j]);
    return sqrt(square);
}

enum { MOST_WEIGHTS = 64 };

/* Run, and check on the way that the outcome is the mean of the words. */
static ending run(parties *self, uint64_t seed) {
    double mean[MOST_WEIGHTS] = { 0 }, best[MOST_WEIGHTS];
    size_t answered;
    tacit_model *model = parties_run(self, seed, &answered);
    size_t count = tacit_model_size(model), nodes = self->plan.parties;
    ending out = { 0, 0 };
    assert_true(count <= MOST_WEIGHTS && answered == nodes);
    for (size_t k = 0; k < nodes; k++)
        for (size_t j = 0; j < count; j++) mean[j] += word_of(self, k, count)[j] / (double)nodes;
    assert_true(distance(mean, model->weights, count) < 1e-10);
    pooled_minimiser(self, best);
    for (size_t k = 0; k < nodes; k++)
        out.disagreement = fmax(out.disagreement, distance(word_of(self, k, count), mean, count));
    out.distance = distance(mean, best, count);
    tacit_model_free(model);
    return out;
}

static void set(parties *self, const char *name, const char *value) {
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_plan_set(&self->plan, name, value, &error), error);
}

/* Parties that see one class each, mostly: the hardest for methods without a center. */
static void make(parties *self, const tacit_method *method, size_t count, size_t rows_each, double lambda,
                 const char *graph, const char *rounds) {
    tacit_dataset *data = ball(count * rows_each, 5, 11);
    for (size_t at = 0, end = data->rows; at < end;) { /* class 0 to the front, class 1 to the back */
        if (data->label[at] == 0) {
            at++;
            continue;
        }
        end--;
        for (size_t j = 0; j < data->features; j++) {
            double *a = data->dense.values + at * data->features + j,
                   *b = data->dense.values + end * data->features + j, kept = *a;
            *a = *b;
            *b = kept;
        }
        int32_t label = data->label[at];
        data->label[at] = data->label[end];
        data->label[end] = label;
    }
    parties_make(self, data, count, NULL);
    self->plan.method = method;
    self->plan.lambda = lambda;
    set(self, "graph", graph);
    set(self, "rounds", rounds);
}

static void extra_ends_at_the_pooled_minimiser_in_a_hundred_nodes(void **state) {
    (void)state;
    static const struct {
        const char *graph, *rounds;
    } known[] = { { "geometric", "1000" }, { "random", "200" } };
    for (size_t i = 0; i < 2; i++) {
        parties world;
        make(&world, &tacit_method_extra, 100, 6, 0.1, known[i].graph, known[i].rounds);
        ending end = run(&world, 1);
        if (!(end.distance < 1e-10 && end.disagreement < 1e-10))
            fail_msg("%s: %g from the optimum, %g apart", known[i].graph, end.distance, end.disagreement);
        parties_end(&world);
    }
}

static void extra_is_exact_for_unequal_parties_and_many_classes(void **state) {
    (void)state;
    for (size_t classes = 2; classes <= 3; classes++) {
        static const char *const names[] = { "a", "b", "c" };
        tacit_dataset *data = ball(60, 4, 5);
        parties world;
        tacit_levels_clear(&data->classes);
        for (size_t k = 0; k < classes; k++)
            assert_int_equal(tacit_levels_add(&data->classes, names[k], 1, &(int32_t){ 0 }, NULL), TACIT_OK);
        for (size_t i = 0; i < data->rows; i++) data->label[i] = (int32_t)(i * i % classes);
        parties_make(&world, data, 8, NULL);
        world.split->start[1] = 1; /* the first has one row, the second many */
        world.plan.minimum_rows = 1;
        world.plan.method = &tacit_method_extra;
        set(&world, "graph", "ring");
        set(&world, "rounds", "800");
        ending end = run(&world, 1);
        assert_true(end.distance < 1e-10 && end.disagreement < 1e-10);
        parties_end(&world);
    }
}

/* A fixed step stops short of the optimum, nearer the shorter it is; a diminishing one goes on. extra does
 * not stop. */
static void consensus_stops_near_the_optimum_with_a_fixed_step(void **state) {
    (void)state;
    static const struct {
        const char *schedule, *step;
    } ways[] = { { "fixed", "1" }, { "fixed", "0.1" }, { "diminishing", "auto" } };
    double reached[3], apart[3];
    for (size_t i = 0; i < 3; i++) {
        parties world;
        make(&world, &tacit_method_consensus, 12, 10, 0.1, "grid", "1000");
        set(&world, "schedule", ways[i].schedule);
        set(&world, "step", ways[i].step);
        ending end = run(&world, 1);
        reached[i] = end.distance;
        apart[i] = end.disagreement;
        parties_end(&world);
    }
    assert_true(reached[0] > 1e-4 && apart[0] > 1e-2);
    assert_true(reached[1] < reached[0] / 3 && apart[1] < apart[0] / 3);
    assert_true(reached[1] > 1e-8 && apart[1] > 1e-4);
    assert_true(apart[2] < apart[1] / 3 && reached[2] < reached[0]);
}

static void gossip_comes_nearer_with_every_round(void **state) {
    (void)state;
    static const char *const rounds[] = { "60", "480", "3840" };
    ending end[3];
    for (size_t i = 0; i < 3; i++) {
        parties world;
        make(&world, &tacit_method_gossip, 12, 6, 0.1, "geometric", rounds[i]);
        end[i] = run(&world, 1);
        parties_end(&world);
    }
    for (size_t i = 1; i < 3; i++) assert_true(end[i].disagreement < end[i - 1].disagreement / 3);
    assert_true(end[2].distance < end[0].distance / 10);
    assert_true(end[2].distance < 0.01);
}

static void extra_converges_while_links_fail_and_nodes_leave_and_come_back(void **state) {
    (void)state;
    parties world;
    make(&world, &tacit_method_extra, 16, 6, 0.1, "geometric", "2500");
    set(&world, "links", "0.8");
    set(&world, "leave", "0.02");
    set(&world, "away", "5");
    ending end = run(&world, 3);
    if (!(end.distance < 1e-10 && end.disagreement < 1e-10))
        fail_msg("%g from the optimum, %g apart", end.distance, end.disagreement);
    parties_end(&world);
}

/* Rows move on: at the end only the second half of each party's counts, and that is where the nodes are. */
/* Gradients of points up to ten steps old: the minimiser stays the minimiser, for steps that are shorter by as
 * much as is said. The control: with the step that does without delay, the run with delay grows without
 * bound. */
static void old_gradients_reach_the_same_minimiser_with_shorter_steps(void **state) {
    (void)state;
    static const struct {
        const tacit_method *method;
        const char *step, *delay;
        double within; /* INFINITY: it grows */
    } cases[] = { { &tacit_method_extra, "auto", "10", 1e-10 },
                  { &tacit_method_extra, "0.6", "0", 1e-10 },
                  { &tacit_method_extra, "0.6", "10", INFINITY },
                  { &tacit_method_consensus, "auto", "10", 0.01 },
                  { &tacit_method_gossip, "auto", "10", 0.02 } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        parties world;
        tacit_error error = TACIT_ERROR_INIT;
        tacit_outcome outcome = TACIT_OUTCOME_INIT;
        make(&world, cases[i].method, 20, 6, 1, "random", "2000");
        set(&world, "step", cases[i].step);
        set(&world, "delay", cases[i].delay);
        if (isinf(cases[i].within)) {
            tacit_session session = parties_begin(&world, 1);
            assert_int_equal(world.plan.method->coordinate(&session, &outcome, &error), TACIT_USAGE);
            assert_non_null(strstr(error.text, "(2 D + 1)th"));
            tacit_outcome_clear(&outcome);
        } else {
            ending end = run(&world, 1), again = run(&world, 1);
            print_message("# %s, step %s, delay %s: %.2g off, %.2g apart\n", cases[i].method->name,
                          cases[i].step, cases[i].delay, end.distance, end.disagreement);
            assert_true(end.distance < cases[i].within);
            assert_true(end.distance == again.distance && end.disagreement == again.disagreement);
        }
        parties_end(&world);
    }
}

static void extra_follows_rows_that_change(void **state) {
    (void)state;
    enum { PARTIES = 10, ROWS = 8 };
    parties world, late;
    make(&world, &tacit_method_extra, PARTIES, ROWS, 0.1, "ring", "1600");
    set(&world, "drift", "3");
    run(&world, 1);
    make(&late, &tacit_method_extra, PARTIES, ROWS, 0.1, "ring", "1600");
    for (size_t k = 0, used = 0; k < PARTIES; k++) {
        late.split->start[k] = used;
        for (size_t i = ROWS / 2; i < ROWS; i++) late.split->index[used++] = (uint32_t)(k * ROWS + i);
        late.split->start[k + 1] = used;
    }
    tacit_error error = TACIT_ERROR_INIT;
    tacit_model *model = NULL;
    tacit_view rows = tacit_dataset_subset(late.data, late.split->index, PARTIES * ROWS / 2);
    tacit_linear_fit fit = { .lambda = 0.1, .gradient_tolerance = 1e-13 };
    CHECK_OK(tacit_model_fit_linear(&model, &rows, &fit, &error), error);
    for (size_t k = 0; k < PARTIES; k++)
        assert_true(distance(word_of(&world, k, 5), model->weights, 5) < 1e-10);
    tacit_model_free(model);
    parties_end(&world);
    parties_end(&late);
}

static void the_same_seed_gives_the_same_bits_on_any_threads(void **state) {
    (void)state;
    const tacit_method *methods[] = { &tacit_method_consensus, &tacit_method_gossip, &tacit_method_extra };
    for (size_t m = 0; m < 3; m++) {
        double first[MOST_WEIGHTS];
        for (unsigned threads = 1; threads <= 4; threads += 3) {
            tacit_error error = TACIT_ERROR_INIT;
            tacit_pool *pool = NULL;
            parties world;
            CHECK_OK(tacit_pool_create(&pool, threads, &error), error);
            parties_make(&world, ball(70 * 5, 5, 2), 70, pool);
            world.plan.method = methods[m];
            set(&world, "rounds", "40");
            set(&world, "links", "0.7");
            set(&world, "leave", "0.05");
            tacit_model *model = parties_run(&world, 9, NULL);
            if (threads == 1) memcpy(first, model->weights, 5 * sizeof *first);
            assert_memory_equal(first, model->weights, 5 * sizeof *first);
            tacit_model_free(model);
            parties_end(&world);
            tacit_pool_free(pool);
        }
    }
}

/* News travels one link a round: whatever the first party's rows are, nodes further away than that do not
 * know. */
static void a_word_is_heard_by_neighbours_only(void **state) {
    (void)state;
    enum { PARTIES = 20, ROUNDS = 5 };
    parties world, other;
    make(&world, &tacit_method_extra, PARTIES, 4, 0.1, "ring", "5");
    make(&other, &tacit_method_extra, PARTIES, 4, 0.1, "ring", "5");
    for (size_t i = 0; i < 4; i++) other.data->label[i] = 1 - other.data->label[i];
    run(&world, 1);
    run(&other, 1);
    for (size_t k = 0; k < PARTIES; k++) {
        size_t far = k < PARTIES - k ? k : PARTIES - k;
        bool same = memcmp(word_of(&world, k, 5), word_of(&other, k, 5), 5 * sizeof(double)) == 0;
        assert_true(same == (far >= ROUNDS));
    }
    parties_end(&world);
    parties_end(&other);
}

/* ---- what goes wrong ---- */

static tacit_status try_run(parties *self, const char *name, const char *value, tacit_error *error) {
    tacit_outcome outcome = TACIT_OUTCOME_INIT;
    if (name != NULL) set(self, name, value);
    TACIT_TRY(tacit_plan_check(&self->plan, error));
    tacit_stream root = tacit_stream_from_seed(1);
    tacit_session session;
    TACIT_TRY(tacit_local_begin(self->local, &self->plan, &root, NULL, &session, error));
    tacit_status status = self->plan.method->coordinate(&session, &outcome, error);
    tacit_outcome_clear(&outcome);
    return status;
}

static void mistakes_are_told_with_their_remedy(void **state) {
    (void)state;
    static const struct {
        const char *name, *value, *says;
        tacit_status status;
    } wrong[] = { { "graph", "star", "setting graph of method extra: a graph is one of", TACIT_USAGE },
                  { "graph", "random:0.0001", "pieces", TACIT_USAGE },
                  { "graph", "file:/nowhere/edges", "/nowhere/edges", TACIT_IO },
                  { "step", "-1", "auto or a number above 0", TACIT_USAGE },
                  { "step", "1000", "choose a shorter step", TACIT_USAGE } };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        tacit_error error = TACIT_ERROR_INIT;
        parties world;
        make(&world, &tacit_method_extra, 10, 5, 0.1, "ring", "2000");
        tacit_status status = try_run(&world, wrong[i].name, wrong[i].value, &error);
        if (status != wrong[i].status || strstr(error.text, wrong[i].says) == NULL)
            fail_msg("%s=%s: %s: %s", wrong[i].name, wrong[i].value, tacit_status_name(status), error.text);
        parties_end(&world);
    }
}

static void a_party_that_refuses_leaves_no_hole_in_the_graph(void **state) {
    (void)state;
    tacit_error error = TACIT_ERROR_INIT;
    parties world;
    make(&world, &tacit_method_extra, 10, 5, 0.1, "ring", "10");
    world.split->start[1] = 3;
    world.plan.minimum_rows = 4;
    assert_int_equal(try_run(&world, NULL, NULL, &error), TACIT_REFUSED);
    assert_non_null(strstr(error.text, "9 of 10 parties take part"));
    parties_end(&world);
}

static void without_a_transport_for_neighbours_it_is_refused(void **state) {
    (void)state;
    tacit_error error = TACIT_ERROR_INIT;
    parties world;
    tacit_outcome outcome = TACIT_OUTCOME_INIT;
    make(&world, &tacit_method_extra, 10, 5, 0.1, "ring", "10");
    tacit_session session = parties_begin(&world, 1);
    session.transport.exchange = NULL;
    assert_int_equal(world.plan.method->coordinate(&session, &outcome, &error), TACIT_REFUSED);
    assert_non_null(strstr(error.text, "cannot hear each other"));
    parties_end(&world);
}

/* Every word passes the gate, and what it costs is told honestly: no finite number. */
static void every_word_is_charged_without_bound(void **state) {
    (void)state;
    tacit_error error = TACIT_ERROR_INIT;
    parties world;
    tacit_account account;
    make(&world, &tacit_method_consensus, 6, 5, 0.1, "ring", "3");
    assert_int_equal(world.plan.method->release_kind(&world.plan), TACIT_RELEASE_ENTRUSTED);
    run(&world, 1);
    CHECK_OK(tacit_local_charged(world.local, TACIT_UNIT_RECORD, &account, &error), error);
    assert_true(isinf(account.sum_epsilon));
    parties_end(&world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(extra_ends_at_the_pooled_minimiser_in_a_hundred_nodes),
        cmocka_unit_test(extra_is_exact_for_unequal_parties_and_many_classes),
        cmocka_unit_test(consensus_stops_near_the_optimum_with_a_fixed_step),
        cmocka_unit_test(gossip_comes_nearer_with_every_round),
        cmocka_unit_test(extra_converges_while_links_fail_and_nodes_leave_and_come_back),
        cmocka_unit_test(old_gradients_reach_the_same_minimiser_with_shorter_steps),
        cmocka_unit_test(extra_follows_rows_that_change),
        cmocka_unit_test(the_same_seed_gives_the_same_bits_on_any_threads),
        cmocka_unit_test(a_word_is_heard_by_neighbours_only),
        cmocka_unit_test(mistakes_are_told_with_their_remedy),
        cmocka_unit_test(a_party_that_refuses_leaves_no_hole_in_the_graph),
        cmocka_unit_test(without_a_transport_for_neighbours_it_is_refused),
        cmocka_unit_test(every_word_is_charged_without_bound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
