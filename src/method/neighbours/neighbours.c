#include "method/neighbours/neighbours.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "data/schema/text.h"
#include "num/kernel/kernel.h"

static bool by_rows(const tacit_plan *plan) {
    return tacit_neighbour_settings_of(plan)->weigh == TACIT_WEIGH_BY_ROWS;
}

uint64_t tacit_neighbours_rounds(const tacit_plan *plan) { return tacit_neighbour_settings_of(plan)->rounds; }

const tacit_family *tacit_neighbours_family(const tacit_plan *plan) {
    const tacit_response response = plan->schema != NULL ? plan->schema->response : TACIT_RESPONSE_CLASS;
    const bool robust = tacit_neighbour_settings_of(plan)->loss == TACIT_LOSS_HUBER;
    if (response == TACIT_RESPONSE_CLASS)
        return !robust ? tacit_family_for(plan->classes) : plan->classes == 2 ? &tacit_family_huber : NULL;
    if (response == TACIT_RESPONSE_TIME) return NULL;
    return robust ? tacit_family_of(response, 0)->clipped : tacit_family_of(response, 0);
}

/* What a model that minimises that loss is called. */
static const tacit_family *model_family(const tacit_plan *plan) {
    const tacit_family *family = tacit_neighbours_family(plan);
    return family->loss.of_classes ? family : tacit_family_of(plan->schema->response, 0);
}

static size_t weight_count(const tacit_plan *plan) {
    return tacit_family_scores(tacit_neighbours_family(plan), plan->classes) * plan->features;
}

/* The largest response that there can be, in size. */
static double largest_response(const tacit_plan *plan) {
    return plan->schema != NULL ? fmax(fabs(plan->schema->low), fabs(plan->schema->high)) : 1;
}

/* The loss's shape: a clipped one's is the largest response. */
static double shape_of(const tacit_plan *plan) {
    const tacit_family *family = tacit_neighbours_family(plan);
    return family != model_family(plan) ? largest_response(plan) : tacit_loss_shape(&family->loss, 0);
}

/* What weights are multiplied by to be in the response's units: those of a clipped square are in its
 * largest. */
static double unit_of(const tacit_plan *plan) {
    const tacit_family *family = tacit_neighbours_family(plan);
    return family != model_family(plan) && family->quadratic ? largest_response(plan) : 1;
}

static tacit_status check_loss(const tacit_plan *plan, tacit_error *error) {
    if (tacit_neighbours_family(plan) != NULL) return TACIT_OK;
    if (plan->schema == NULL || plan->schema->response == TACIT_RESPONSE_CLASS)
        return tacit_fail(
            error, TACIT_USAGE,
            "loss=huber of method %s is for two classes, numbers and counts: choose loss=auto, which has a "
            "loss for every label but times",
            plan->method->name);
    return tacit_fail(error, TACIT_USAGE,
                      "method %s takes a label of kind class, number or count, and '%s' is a %s",
                      plan->method->name, plan->schema->label, tacit_response_name(plan->schema->response));
}

/* A step's length, or 0 for "auto". */
static tacit_status read_step(const tacit_plan *plan, double *out, tacit_error *error) {
    const char *text = tacit_neighbour_settings_of(plan)->step;
    *out = 0;
    if (strcmp(text, "auto") == 0) return TACIT_OK;
    if (!tacit_text_to_number(text, strlen(text), out) || !(*out > 0))
        return tacit_fail(error, TACIT_USAGE,
                          "setting step of method %s is auto or a number above 0, not '%s'",
                          plan->method->name, text);
    return TACIT_OK;
}

tacit_status tacit_neighbours_check(const tacit_plan *plan, tacit_error *error) {
    tacit_topology_plan graph;
    double step;
    TACIT_TRY(check_loss(plan, error));
    tacit_status status = tacit_topology_plan_parse(&graph, tacit_neighbour_settings_of(plan)->graph, error);
    if (status != TACIT_OK)
        return tacit_fail_in(error, status, "setting graph of method %s", plan->method->name);
    return read_step(plan, &step, error);
}

tacit_release_kind tacit_neighbours_kind(const tacit_plan *plan) {
    (void)plan;
    return TACIT_RELEASE_ENTRUSTED;
}

/* ---- rows in use ---- */

size_t tacit_neighbours_stretch(const tacit_plan *plan, uint64_t round) {
    double drift = (double)tacit_neighbour_settings_of(plan)->drift;
    double rounds = (double)tacit_neighbours_rounds(plan);
    if (round == 0) return 0;
    return (size_t)fmin(drift, floor((double)(round - 1) * (drift + 1) / rounds));
}

tacit_view tacit_neighbours_rows(const tacit_plan *plan, const tacit_view *rows, size_t stretch) {
    size_t drift = tacit_neighbour_settings_of(plan)->drift;
    tacit_view view = *rows;
    if (drift == 0) return view;
    size_t used = (rows->rows.count + 1) / 2, others = rows->rows.count - used;
    view.rows =
        tacit_rows_slice(&rows->rows, (size_t)((double)others * (double)stretch / (double)drift), used);
    return view;
}

/* ---- delay ---- */

/* Numbers that a node keeps for it. */
static size_t past_size(const tacit_plan *plan) {
    const size_t delay = tacit_neighbour_settings_of(plan)->delay;
    return delay > 0 ? 1 + (delay + 1) * weight_count(plan) : 0;
}

/* The age of what a node's step number `taken`, from 0, goes by: 0 to delay, and no older than its first. */
static uint64_t age_of(const tacit_plan *plan, size_t place, uint64_t taken) {
    const tacit_neighbour_settings *settings = tacit_neighbour_settings_of(plan);
    tacit_stream seed = tacit_stream_from_seed(settings->draw);
    tacit_stream stream = tacit_stream_fork(&seed, "delay", taken, place);
    uint64_t age = tacit_stream_below(&stream, settings->delay + 1);
    return age < taken ? age : taken;
}

/* Put the point of this step with the others, and take the one that its gradient is of. */
static const double *point_of(tacit_node *node, const double *weights) {
    const tacit_plan *plan = node->party->plan;
    const uint64_t kept = tacit_neighbour_settings_of(plan)->delay + 1;
    if (node->past == NULL) return weights;
    const uint64_t taken = (uint64_t)node->past[0];
    double *points = node->past + 1;
    memcpy(points + taken % kept * node->count, weights, node->count * sizeof *weights);
    node->past[0] += 1;
    return points + (taken - age_of(plan, node->party->heard->place, taken)) % kept * node->count;
}

/* ---- the party's half ---- */

/* What the gate is told: no noise, entrusted to the neighbours, at a price without bound. */
static void price_of(tacit_reply *reply, const tacit_plan *plan) {
    reply->kind = tacit_neighbours_kind(plan);
    reply->noise = TACIT_NOISE_NONE;
    reply->price = (tacit_price){ TACIT_UNIT_RECORD, INFINITY, 0 };
}

tacit_status tacit_node_rows(tacit_party *party, const tacit_question *question, tacit_reply *reply,
                             tacit_error *error) {
    (void)question;
    tacit_view used = tacit_neighbours_rows(party->plan, &party->rows, 0);
    int64_t rows = (int64_t)used.rows.count;
    price_of(reply, party->plan);
    return tacit_message_add_integers(&reply->message, "rows", &rows, 1, error);
}

tacit_status tacit_node_begin(tacit_party *party, const tacit_question *question, tacit_reply *reply,
                              tacit_error *error) {
    (void)question;
    size_t count = weight_count(party->plan);
    double *zeros = TACIT_NEW(double, count);
    if (zeros == NULL) return tacit_fail_memory(error);
    tacit_party_forget(party);
    price_of(reply, party->plan);
    tacit_status status = tacit_message_add_numbers(&reply->message, "weights", zeros, count, error);
    free(zeros);
    return status;
}

/* mixed = own w_i + sum_j a_ij w_j. */
static tacit_status mix(tacit_node *node, tacit_error *error) {
    const tacit_heard *heard = node->party->heard;
    if (heard == NULL)
        return tacit_fail(error, TACIT_PROTOCOL,
                          "a step is made with what neighbours say, and none was heard");
    for (size_t j = 0; j < node->count; j++) node->mixed[j] = heard->own * node->weights[j];
    for (size_t i = 0; i < heard->count; i++) {
        const double *theirs = NULL;
        if (heard->word[i] == NULL) return tacit_fail(error, TACIT_PROTOCOL, "a neighbour has said nothing");
        TACIT_TRY(tacit_message_numbers(heard->word[i], "weights", node->count, &theirs, error));
        for (size_t j = 0; j < node->count; j++) node->mixed[j] += heard->weight[i] * theirs[j];
    }
    return TACIT_OK;
}

tacit_status tacit_node_open(tacit_node *out, tacit_party *party, const tacit_question *question, size_t more,
                             tacit_error *error) {
    tacit_message none = TACIT_MESSAGE_INIT;
    const tacit_message *message = question->message != NULL ? question->message : &none;
    const double *steps = NULL;
    const int64_t *times = NULL;
    tacit_node node = { .party = party, .count = weight_count(party->plan) };
    tacit_status status;
    TACIT_CHECK(tacit_message_numbers(message, "step", 2, &steps, error));
    TACIT_CHECK(tacit_message_integers(message, "round", 1, &times, error));
    const size_t past = past_size(party->plan);
    TACIT_CHECK(tacit_party_state(party, node.count + more + past, &node.weights, error));
    node.kept = node.weights + node.count;
    node.past = past > 0 ? node.kept + more : NULL;
    node.step = steps[0];
    node.rows = steps[1];
    node.round = (uint64_t)times[0];
    if (node.round != question->round - TACIT_FIRST_SCHEDULED_ROUND)
        TACIT_CHECK(tacit_fail(error, TACIT_PROTOCOL, "step %llu is asked for in round %llu of the study",
                               (unsigned long long)node.round, (unsigned long long)question->round + 1));
    node.stretch = tacit_neighbours_stretch(party->plan, node.round);
    node.mixed = TACIT_NEW(double, 2 * node.count);
    if (node.mixed == NULL) TACIT_CHECK(tacit_fail_memory(error));
    node.gradient = node.mixed + node.count;
    TACIT_CHECK(mix(&node, error));
    *out = node;
    node.mixed = NULL;
cleanup:
    free(node.mixed);
    return status;
}

void tacit_node_close(tacit_node *node) {
    free(node->mixed);
    node->mixed = node->gradient = NULL;
}

/* The mean gradient of a numeric response's loss, with the regulariser's: such losses have no bound on
 * slopes, so that the solver, whose gradients are certified, does not take them. */
static void numeric_gradient(const tacit_plan *plan, const tacit_view *rows, const double *weights,
                             double *out) {
    enum { BLOCK = 256 };
    const tacit_loss *loss = &tacit_neighbours_family(plan)->loss;
    const tacit_kernels *kernels = tacit_kernels_choose();
    const size_t count = rows->rows.count;
    double y[BLOCK], t[BLOCK], value[BLOCK], slope[BLOCK], curvature[BLOCK];
    memset(out, 0, plan->features * sizeof *out);
    for (size_t begin = 0; begin < count; begin += BLOCK) {
        const size_t some = count - begin < BLOCK ? count - begin : BLOCK;
        for (size_t i = 0; i < some; i++) {
            y[i] = tacit_view_response(rows, begin + i);
            t[i] = tacit_rows_dot(&rows->rows, begin + i, weights);
        }
        loss->rows(kernels, shape_of(plan), some, y, t, value, slope, curvature);
        for (size_t i = 0; i < some; i++)
            tacit_rows_add(&rows->rows, begin + i, slope[i] / (double)count, out);
    }
    for (size_t j = 0; j < plan->features; j++) out[j] += plan->lambda * weights[j];
}

tacit_status tacit_node_gradient(tacit_node *node, const double *now, tacit_error *error) {
    const tacit_plan *plan = node->party->plan;
    const double *weights = point_of(node, now);
    const tacit_family *family = tacit_neighbours_family(plan);
    tacit_view used = tacit_neighbours_rows(plan, &node->party->rows, node->stretch);
    tacit_glm_problem problem = {
        .loss = &family->loss,
        .x = used.rows,
        .label = used.label,
        .classes = plan->classes,
        .lambda = plan->lambda,
    };
    double c = by_rows(plan) ? (double)used.rows.count / node->rows : 1;
    if (family->loss.of_classes)
        TACIT_TRY(tacit_glm_certify(&problem, node->party->pool, weights, node->gradient, NULL, error));
    else
        numeric_gradient(plan, &used, weights, node->gradient);
    for (size_t j = 0; j < node->count; j++) { /* only the loss has the weight c */
        double pull = plan->lambda * weights[j];
        node->gradient[j] = c * (node->gradient[j] - pull) + pull;
    }
    return TACIT_OK;
}

double tacit_node_diminished(const tacit_node *node, double times) {
    return node->step / (1 + node->step * node->party->plan->lambda * times / 2);
}

static tacit_status diverged(const tacit_plan *plan, tacit_error *error) {
    const tacit_neighbour_settings *settings = tacit_neighbour_settings_of(plan);
    return tacit_fail(error, TACIT_USAGE,
                      "the weights grow without bound: choose a shorter step (setting step), or step=auto%s",
                      settings->delay > 0 ? "; gradients of delay=D want the (2 D + 1)th part"
                      : settings->links < 1 || settings->leave > 0
                          ? "; links fail and parties leave, which some methods tolerate badly"
                          : "");
}

tacit_status tacit_node_say(const tacit_node *node, tacit_reply *reply, tacit_error *error) {
    static const double FAR = 1e150; /* squares are still finite */
    for (size_t j = 0; j < node->count; j++)
        if (!(fabs(node->weights[j]) < FAR)) return diverged(node->party->plan, error);
    price_of(reply, node->party->plan);
    return tacit_message_add_numbers(&reply->message, "weights", node->weights, node->count, error);
}

tacit_status tacit_node_weights(tacit_party *party, const tacit_question *question, tacit_reply *reply,
                                tacit_error *error) {
    size_t count = weight_count(party->plan);
    double *weights = party->memo != NULL ? party->memo->state : NULL;
    if (weights == NULL || party->memo->state_count < count || !question->wants_sum ||
        question->sum.length != count)
        return tacit_fail(error, TACIT_REFUSED, "there are no weights of a run to add to the sum");
    if (question->round != TACIT_FIRST_SCHEDULED_ROUND + tacit_neighbours_rounds(party->plan) + 1)
        return tacit_fail(
            error, TACIT_REFUSED,
            "the sum of the weights is asked for in round %llu, and the study's rounds are not over",
            (unsigned long long)question->round + 1);
    for (size_t j = 0; j < count; j++)
        if (!(fabs(weights[j]) <= question->sum.bound)) return diverged(party->plan, error);
    price_of(reply, party->plan);
    reply->contribution = TACIT_NEW(double, count);
    if (reply->contribution == NULL) return tacit_fail_memory(error);
    memcpy(reply->contribution, weights, count * sizeof *weights);
    return TACIT_OK;
}

/* ---- the coordinator's half ---- */

typedef struct rounds {
    tacit_round_schedule *schedule;
    double mean_rows; /* N/M */
    double largest;   /* c_i of the largest party */
    double step;
} rounds;

/* How many rows there are; every party must answer, for the graph has a node for each. */
static tacit_status count_rows(rounds *self, tacit_session *session, tacit_error *error) {
    const tacit_plan *plan = session->plan;
    tacit_answers answers = TACIT_ANSWERS_INIT;
    double sum = 0, most = 0;
    tacit_status status;
    TACIT_CHECK(tacit_ask(session, "rows", NULL, &answers, error));
    if (answers.count != plan->parties)
        TACIT_CHECK(tacit_fail(error, TACIT_REFUSED,
                               "%zu of %zu parties take part, and the graph has a node for each: leave out "
                               "the others, or lower the minimum of %zu rows",
                               answers.count, plan->parties, plan->minimum_rows));
    for (size_t k = 0; k < answers.count; k++) {
        const int64_t *rows = NULL;
        TACIT_CHECK(tacit_message_integers(&answers.answer[k].message, "rows", 1, &rows, error));
        if (rows[0] < 1) TACIT_CHECK(tacit_fail(error, TACIT_PROTOCOL, "a party has no rows"));
        sum += (double)rows[0];
        most = fmax(most, (double)rows[0]);
    }
    self->mean_rows = sum / (double)plan->parties;
    self->largest = by_rows(plan) ? most / self->mean_rows : 1;
cleanup:
    tacit_answers_clear(&answers);
    return status;
}

/* 1 + the smallest eigenvalue of W. Where links or nodes come and go, or the graph is too large, a bound that
 * holds for every subgraph: a_ii >= 1/(1 + d_i), so by Gershgorin's discs the eigenvalues are at least 2/(1 +
 * d_max) - 1. Pairs have the eigenvalues 0 and 1. */
static tacit_status least_eigenvalue(const rounds *self, double *out, tacit_error *error) {
    const tacit_round_schedule *schedule = self->schedule;
    bool changes = schedule->changes.link_probability < 1 || schedule->changes.leave_probability > 0;
    double second;
    *out = 0;
    if (schedule->in_pairs) return TACIT_OK;
    *out = 2 / (1 + (double)tacit_topology_largest_degree(schedule->graph)) - 1;
    if (changes || schedule->graph->nodes > TACIT_MOST_SPECTRUM) return TACIT_OK;
    return tacit_mixing_spectrum(&schedule->mixing, out, &second, error);
}

/* The smoothness of every f_i is at most L = c_max s + lambda on rows within the unit ball, s = 1/4 for the
 * logistic loss, 1/2 for softmax, 1 for squares, clipped or not, and for Huber's hinge of width 1/2,
 * sqrt(H) + 1 for clipped residuals of counts up to H. Poisson's loss has no such bound: s is the largest
 * count, which is right while means stay within the bound of the counts; a run that leaves it and grows
 * ends with the advice to take a shorter step. Both consensus (Yuan, Ling and Yin 2016) and extra (Shi et
 * al. 2015) want a step below (1 + lambda_min(W))/L; we take .9 of it, at most 1/L, and with delay D the (2
 * D + 1)th part. */
static tacit_status choose_step(rounds *self, const tacit_plan *plan, tacit_error *error) {
    const tacit_loss *loss = &tacit_neighbours_family(plan)->loss;
    double least, steepest = loss->curvature(shape_of(plan));
    if (isinf(steepest)) steepest = fmax(1, largest_response(plan));
    double smoothness = self->largest * steepest + plan->lambda;
    TACIT_TRY(read_step(plan, &self->step, error));
    if (self->step > 0) return TACIT_OK;
    TACIT_TRY(least_eigenvalue(self, &least, error));
    const double delay = (double)tacit_neighbour_settings_of(plan)->delay;
    self->step = fmin(1, 0.9 * (1 + least)) / smoothness / (2 * delay + 1);
    return TACIT_OK;
}

tacit_status tacit_neighbours_schedule(tacit_round_schedule **out, const tacit_plan *plan,
                                       tacit_error *error) {
    const tacit_neighbour_settings *settings = tacit_neighbour_settings_of(plan);
    tacit_round_schedule_plan about = {
        .nodes = plan->parties,
        .draw = settings->draw,
        .rounds = settings->rounds,
        .link_probability = settings->links,
        .leave_probability = settings->leave,
        .rounds_away = settings->away,
        .in_pairs = settings->in_pairs,
        .most_pairs = settings->pairs,
    };
    TACIT_TRY(tacit_topology_plan_parse(&about.graph, settings->graph, error));
    return tacit_round_schedule_create(out, &about, error);
}

/* Round t: one step of everybody who is there. */
static tacit_status run_round(rounds *self, tacit_session *session, tacit_error *error) {
    tacit_message message = TACIT_MESSAGE_INIT;
    const double steps[] = { self->step, self->mean_rows };
    tacit_status status;
    tacit_round_schedule_advance(self->schedule);
    const int64_t number = (int64_t)self->schedule->round;
    TACIT_CHECK(tacit_message_add_numbers(&message, "step", steps, 2, error));
    TACIT_CHECK(tacit_message_add_integers(&message, "round", &number, 1, error));
    status = tacit_ask_neighbours(session, "step", &message, &self->schedule->mixing, error);
cleanup:
    tacit_message_clear(&message);
    return status;
}

/* m such that minimisers of any f_i have |w|^2 <= c_i m/lambda: lambda |w|^2 = -c_i mean of t l'(t) at the
 * optimum, t = w.x, and m bounds -t l'(t). Classes: the family's pull, W((K-1)/e) for the logistic loss (see
 * avg.c). Squares: t (y - t) <= y^2/4, and y^2 is at most that of the bounds. Poisson: t (y - exp(t)) is at
 * most y log y where t > 0, since t < log y there or it is negative, and |t| exp(t) <= 1/e where t < 0. */
static double pull_of(const tacit_plan *plan) {
    const tacit_family *family = tacit_neighbours_family(plan);
    const double most = largest_response(plan);
    if (family->pull != NULL) return family->pull(shape_of(plan), plan->classes);
    return family->quadratic ? most * most / 4 : fmax(1 / M_E, most > 1 ? most * log(most) : 0);
}

/* The mean of the nodes' weights; nodes on their way to a minimiser may overshoot, and the bound has room for
 * that. */
static tacit_status take_mean(const rounds *self, tacit_session *session, tacit_outcome *out,
                              tacit_error *error) {
    static const double ROOM = 8;
    const tacit_plan *plan = session->plan;
    tacit_sum_spec spec;
    tacit_sum sum = TACIT_SUM_INIT;
    tacit_status status;
    double bound = ROOM * sqrt(fmax(1, self->largest) * pull_of(plan) / plan->lambda);
    TACIT_CHECK(tacit_sum_spec_for(&spec, weight_count(plan), bound, plan->parties, error));
    TACIT_CHECK(tacit_ask_sum(session, "weights", NULL, &spec, &sum, error));
    for (size_t j = 0; j < spec.length; j++) sum.values[j] *= unit_of(plan);
    status = tacit_outcome_add_mean(out, plan, model_family(plan), sum.values, sum.parties, error);
cleanup:
    tacit_sum_clear(&sum);
    return status;
}

tacit_status tacit_neighbours_coordinate(tacit_session *session, tacit_outcome *out, tacit_error *error) {
    rounds self = { .schedule = NULL };
    tacit_status status;
    TACIT_CHECK(tacit_neighbours_schedule(&self.schedule, session->plan, error));
    TACIT_CHECK(count_rows(&self, session, error));
    TACIT_CHECK(choose_step(&self, session->plan, error));
    TACIT_CHECK(tacit_ask_neighbours(session, "begin", NULL, &self.schedule->mixing, error));
    while (self.schedule->round < self.schedule->rounds) {
        TACIT_CHECK(run_round(&self, session, error));
        tacit_progress_report(session->progress, "rounds", self.schedule->round, self.schedule->rounds);
    }
    TACIT_CHECK(take_mean(&self, session, out, error));
cleanup:
    tacit_round_schedule_free(self.schedule);
    return status;
}
