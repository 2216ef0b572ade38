/*
 * What consensus, gossip and extra share: no center. Every party is a node of a public graph and has an
 * objective of its own,
 *
 *   f_i(w) = (c_i/n_i) sum_r loss(w; x_r, y_r) + (lambda/2)|w|^2,
 *       c_i = n_i M/N (weigh=rows) or 1 (weigh=parties)
 *
 * whose mean over the M nodes is the objective of all N rows pooled (weigh=rows), or that in which parties of
 * any size count the same. In a round a node hears the weights of its neighbours, mixes them with its own by
 * the round's doubly stochastic matrix (data/graph/mixing.h), moves, and says where it is now. The
 * coordinator hands out the step, counts rounds, and at the end gets the sum of the nodes' weights. Who meets
 * whom is public (data/graph/round_schedule.h).
 *
 * The loss is that of the label: logistic or softmax of classes, half the square of a number's residual,
 * Poisson's of a count. With loss=huber one of bounded slope: Huber's hinge for two classes, the clipped
 * residuals of method/bounded_label.h of numbers (Huber's loss; weights are in units of the largest until the
 * end) and counts. These are the M-estimators of Wang 2018, 2.1.
 *
 * Asynchronous (delay=D; Wang 2018, 2.1; Tsitsiklis, Bertsekas and Athans 1986): a node that is still busy
 * with a gradient of earlier weights moves by that one. In its k-th step it uses the gradient at the point
 * of its step k - a, where the age a, 0 to D, is public chance: of the draw, the node's place and k. Mixing
 * stays doubly stochastic, and at the minimiser old and new points are the same, so what is reached is what
 * is reached without delay. Steps must be shorter: one direction of curvature h moves by x' = x - s h x_a,
 * which for a = D throughout dies out if and only if s h < 2 sin(pi/(2 (2 D + 1))); as sin(t) >= 2 t/pi, s h
 * < 2/(2 D + 1) is enough. step=auto is that without delay, at most 1/L, over 2 D + 1: half of this bound
 * at most. For ages that change and nodes that mix there is no such equation here; tests show convergence.
 *
 * Graphs change: links fail, nodes leave and come back (links, leave, away). Objectives drift (drift): half
 * of a node's rows are in use, and that half moves on during the run.
 *
 * Nothing here is differentially private: neighbours see weights, round by round, in clear. What they see is
 * entrusted to them, at an infinite price.
 */
#pragma once

#include "session/party.h"
#include "session/session.h"

/* The settings of all of them; a method's table has some. */
typedef struct tacit_neighbour_settings {
    char graph[TACIT_SETTING_SIZE];
    uint64_t draw, rounds;
    char step[TACIT_SETTING_SIZE];
    enum { TACIT_WEIGH_BY_ROWS, TACIT_WEIGH_BY_PARTIES } weigh;
    double links, leave;
    uint64_t away, drift;
    enum { TACIT_STEPS_DIMINISH, TACIT_STEPS_FIXED } schedule;
    uint64_t pairs;
    bool in_pairs; /* of the method, no setting */
    enum { TACIT_LOSS_OF_LABEL, TACIT_LOSS_HUBER } loss;
    uint64_t delay;
} tacit_neighbour_settings;

#define TACIT_NEIGHBOUR_DEFAULTS                                                                             \
    .graph = "geometric", .draw = 1, .rounds = 1000, .step = "auto", .links = 1, .away = 10

static inline const tacit_neighbour_settings *tacit_neighbour_settings_of(const tacit_plan *plan) {
    return TACIT_SETTINGS(tacit_neighbour_settings, plan);
}

/* Those that all have, for a method's table. */
#define TACIT_NEIGHBOUR_PARAMETERS                                                                           \
    TACIT_TEXT(tacit_neighbour_settings, graph, "graph",                                                     \
               "who is whose neighbour: " TACIT_TOPOLOGY_FORMS " (lines of two parties, from 1)"),           \
        TACIT_COUNT(tacit_neighbour_settings, draw, "draw", 0, 1e9,                                          \
                    "which of the random graphs, with its links, leaves and pairs; all methods get the "     \
                    "same"),                                                                                 \
        TACIT_COUNT(tacit_neighbour_settings, rounds, "rounds", 1, 1e7, "how often neighbours talk"),        \
        TACIT_TEXT(tacit_neighbour_settings, step, "step",                                                   \
                   "length of a step, or auto: from public constants"),                                      \
        TACIT_CHOICE(tacit_neighbour_settings, weigh, "weigh", "rows|parties",                               \
                     "what counts the same: every row, or every party"),                                     \
        TACIT_NUMBER(tacit_neighbour_settings, links, "links", 1e-6, 1,                                      \
                     "the probability that a link is up in a round"),                                        \
        TACIT_NUMBER(tacit_neighbour_settings, leave, "leave", 0, 0.99,                                      \
                     "the chance that a party leaves in a round"),                                           \
        TACIT_COUNT(tacit_neighbour_settings, away, "away", 1, 1e6,                                          \
                    "rounds after which a party that left is back"),                                         \
        TACIT_COUNT(tacit_neighbour_settings, drift, "drift", 0, 1e6,                                        \
                    "how often the rows in use change: half of them at a time, moving on during the run")

/* At the end of a method's table. */
#define TACIT_NEIGHBOUR_LOSS                                                                                 \
    TACIT_LATER_CHOICE(                                                                                      \
        tacit_neighbour_settings, loss, "loss", "auto|huber", "auto",                                        \
        "what is minimised: by the label (logistic, softmax, squares for numbers, Poisson for "              \
        "counts), or what makes outliers count for less (Huber's hinge for two classes, clipped residuals "  \
        "of "                                                                                                \
        "numbers and counts)")

#define TACIT_NEIGHBOUR_DELAY                                                                                \
    TACIT_LATER_COUNT(tacit_neighbour_settings, delay, "delay", 0, 100, "0",                                 \
                      "asynchronous: a party's gradient may be of its weights up to this many of its own "   \
                      "steps ago; step=auto is shorter for it")

/* The family whose loss is minimised; NULL: the label is of a kind that none fits. */
const tacit_family *tacit_neighbours_family(const tacit_plan *plan);

uint64_t tacit_neighbours_rounds(const tacit_plan *plan); /* a tacit_method.scheduled_rounds */

/* TACIT_USAGE for a graph or a step that makes no sense. No file is opened. */
tacit_status tacit_neighbours_check(const tacit_plan *plan, tacit_error *error);

/* Entrusted: to the neighbours, in clear. */
tacit_release_kind tacit_neighbours_kind(const tacit_plan *plan);

/* ---- the party's half ---- */

/* A node in one round. */
typedef struct tacit_node {
    tacit_party *party;
    size_t count;     /* of weights */
    double *weights;  /* the node's own, kept between rounds */
    double *kept;     /* what else the method keeps, zeros at first */
    double *mixed;    /* sum_j a_ij w_j, its own included; then whatever the method likes */
    double *gradient; /* as tacit_node_gradient leaves it */
    double *past;     /* with delay: how many steps there were, and the points of the last ones, by turns */
    double step;      /* as the coordinator says */
    double rows;      /* n: this many rows have the weight of one party's mean loss */
    size_t stretch;   /* of the run: which rows are in use */
    uint64_t round;   /* from 1 */
} tacit_node;

/* Take up the state, with room to keep `more` numbers besides the weights, and mix what is heard. */
tacit_status tacit_node_open(tacit_node *out, tacit_party *party, const tacit_question *question, size_t more,
                             tacit_error *error);
void tacit_node_close(tacit_node *node);

/* node->gradient = gradient of f_i at `weights`, over the rows in use; with delay at those of an earlier
 * step. Once a step. */
tacit_status tacit_node_gradient(tacit_node *node, const double *weights, tacit_error *error);

/* The node's next word: its weights. TACIT_USAGE when they have left the finite numbers. */
tacit_status tacit_node_say(const tacit_node *node, tacit_reply *reply, tacit_error *error);

/* step/(1 + step lambda t/2): 2/(lambda t) in the long run, which is what strongly convex objectives want. */
double tacit_node_diminished(const tacit_node *node, double times);

/* The other questions: how many rows, begin, and the sum at the end. A method adds its own "step". */
tacit_handler tacit_node_rows, tacit_node_begin, tacit_node_weights;
#define TACIT_NEIGHBOUR_HANDLERS                                                                             \
    { .question = "rows", .answer = tacit_node_rows },                                                       \
        { .question = "begin", .answer = tacit_node_begin, .to_neighbours = true },                          \
        { .question = "weights", .answer = tacit_node_weights }, {                                           \
        .question = NULL                                                                                     \
    }

/* The rows in use in a stretch of the run, of a plan that may drift. */
tacit_view tacit_neighbours_rows(const tacit_plan *plan, const tacit_view *rows, size_t stretch);
size_t tacit_neighbours_stretch(const tacit_plan *plan, uint64_t round);

/* ---- the coordinator's half ---- */

/* The session's round in which parties say their first word; in the one before they have told their rows. */
enum { TACIT_FIRST_SCHEDULED_ROUND = 1 };

/* Who meets whom, from the plan alone; in pairs where the method has a setting for them. */
tacit_status tacit_neighbours_schedule(tacit_round_schedule **out, const tacit_plan *plan,
                                       tacit_error *error);

/* All rounds; the outcome is the mean of the nodes' weights. */
tacit_status tacit_neighbours_coordinate(tacit_session *session, tacit_outcome *out, tacit_error *error);
