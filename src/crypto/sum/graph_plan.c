/* The choice of degree and threshold; graph.h says what they must do. */
#include <math.h>

#include "crypto/sum/graph.h"
#include "num/special.h"

tacit_graph_assumption tacit_graph_assumption_default(uint32_t parties) {
    return (tacit_graph_assumption){
        .parties = parties, .dropouts = 0.1, .colluders = 0.1, .security_bits = 40, .failure_bits = 30
    };
}

/* P(X = i) = C(marked, i) C(total - marked, drawn - i)/C(total, drawn). */
static double log_probability(uint32_t total, uint32_t marked, uint32_t drawn, uint32_t i) {
    return tacit_log_binomial(marked, i) + tacit_log_binomial(total - marked, drawn - i) -
           tacit_log_binomial(total, drawn);
}

/* P(X = i + 1)/P(X = i), which falls with i. */
static double step_up(uint32_t total, uint32_t marked, uint32_t drawn, uint32_t i) {
    return (double)(marked - i) / (i + 1.0) * (drawn - i) / ((double)total - marked - drawn + i + 1.0);
}

/* Each term follows from the one before. Once they fall, no later one is larger: fewer than 2^16 of them that
 * are below 2^-70 of the sum come to less than 2^-54 of it. A sum that overflows begins far below the mode:
 * the bound is 1. */
double tacit_graph_log2_tail(uint32_t total, uint32_t marked, uint32_t drawn, uint32_t x) {
    uint32_t most = marked < drawn ? marked : drawn;
    uint32_t least = drawn > total - marked ? drawn - (total - marked) : 0;
    if (x >= most) return -INFINITY;
    const uint32_t first = x + 1 > least ? x + 1 : least;
    double sum = 1, term = 1, ratio = INFINITY;
    for (uint32_t i = first; i < most && (ratio >= 1 || term > 0x1p-70 * sum); i++) {
        ratio = step_up(total, marked, drawn, i);
        term *= ratio;
        sum += term;
    }
    /* Each logarithm is within 1e-13 (1 + n) and n < 2^16, so that their sum is within 2e-8; far less is lost
     * in adding. */
    const double log_tail = log_probability(total, marked, drawn, first) + log(sum);
    return fmin(0, (log_tail + 1e-6) / log(2) + 1e-6);
}

/* The smallest x with parties * P(X > x) <= 2^-bits. P falls with x. */
static uint32_t most_marked(uint32_t parties, uint32_t total, uint32_t marked, uint32_t drawn, double bits) {
    uint32_t low = 0, high = marked < drawn ? marked : drawn;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (log2(parties) + tacit_graph_log2_tail(total, marked, drawn, middle) <= -bits)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* What is assumed, in whole parties, against the favour of the asker. */
typedef struct numbers {
    uint32_t parties, missing, colluding, minimum;
    double security_bits, failure_bits; /* one more than asked for, as each bounds two events */
} numbers;

static tacit_status read_assumption(numbers *out, const tacit_graph_assumption *given, tacit_error *error) {
    if (given->parties < 2 || given->parties > TACIT_GRAPH_PARTIES_MOST)
        return tacit_fail(error, TACIT_USAGE, "a secure sum takes 2 to %d parties, not %lu",
                          TACIT_GRAPH_PARTIES_MOST, (unsigned long)given->parties);
    if (!(given->dropouts >= 0 && given->dropouts < 1) || !(given->colluders >= 0 && given->colluders < 1))
        return tacit_fail(
            error, TACIT_USAGE,
            "the fractions of dropouts and colluders must be at least 0 and below 1, not %g and %g",
            given->dropouts, given->colluders);
    if (given->security_bits < 1 || given->security_bits > 100 || given->failure_bits < 1 ||
        given->failure_bits > 100)
        return tacit_fail(error, TACIT_USAGE, "the security and failure bits of a secure sum are 1 to 100");
    if (given->minimum > given->parties)
        return tacit_fail(error, TACIT_USAGE, "a secure sum of %lu parties cannot wait for at least %lu",
                          (unsigned long)given->parties, (unsigned long)given->minimum);
    const double n = given->parties;
    *out = (numbers){ .parties = given->parties,
                      .missing = (uint32_t)ceil(given->dropouts * n * (1 - 1e-12)),
                      .colluding = (uint32_t)ceil(given->colluders * n * (1 - 1e-12)),
                      .security_bits = given->security_bits + 1.0,
                      .failure_bits = given->failure_bits + 1.0 };
    out->minimum = given->minimum != 0 ? given->minimum : out->parties - out->missing;
    return TACIT_OK;
}

/* Two honest survivors at least, and as many as open a secret. */
static void settle_minimum(tacit_graph_shape *shape, const numbers *assumed) {
    uint32_t least = assumed->colluding + 2;
    shape->minimum = assumed->minimum;
    if (shape->minimum < least) shape->minimum = least;
    if (shape->minimum < shape->threshold) shape->minimum = shape->threshold;
}

static bool plan_complete(tacit_graph_shape *out, const numbers *assumed) {
    tacit_graph_shape shape = { .parties = assumed->parties, .degree = assumed->parties - 1 };
    shape.threshold = (assumed->parties + assumed->colluding) / 2 + 1;
    settle_minimum(&shape, assumed);
    if (shape.minimum > shape.parties || assumed->parties - assumed->missing < shape.threshold) return false;
    *out = shape;
    return true;
}

static bool plan_ring(tacit_graph_shape *out, const numbers *assumed, uint32_t degree) {
    const uint32_t n = assumed->parties, h = degree / 2;
    tacit_graph_shape shape = { .parties = n, .degree = degree };
    uint32_t beside = most_marked(n, n - 1, assumed->colluding, degree, assumed->security_bits);
    shape.threshold = (degree + 1 + beside) / 2 + 1;
    shape.window_least = most_marked(n, n, assumed->colluding, h, assumed->security_bits) + 1;
    if (shape.threshold > degree || shape.window_least > h) return false;
    double lost = tacit_graph_log2_tail(n - 1, assumed->missing, degree, degree - shape.threshold);
    double thin = tacit_graph_log2_tail(n, assumed->missing, h, h - shape.window_least);
    if (log2(n) + lost > -assumed->failure_bits || log2(n) + thin > -assumed->failure_bits) return false;
    settle_minimum(&shape, assumed);
    if (shape.minimum > n) return false;
    *out = shape;
    return true;
}

tacit_status tacit_graph_plan(tacit_graph_shape *out, const tacit_graph_assumption *assumption,
                              tacit_error *error) {
    numbers assumed = { 0 };
    TACIT_TRY(read_assumption(&assumed, assumption, error));
    bool ring = assumed.parties > TACIT_GRAPH_COMPLETE_MOST && !assumption->complete;
    for (uint32_t degree = 4; ring && degree < assumed.parties - 1; degree += 2)
        if (plan_ring(out, &assumed, degree)) return TACIT_OK;
    if (plan_complete(out, &assumed)) return TACIT_OK;
    return tacit_fail(error, TACIT_USAGE,
                      "%lu parties are too few for a secure sum in which %lu may vanish and %lu collude; "
                      "declare fewer of either, or wait for more parties",
                      (unsigned long)assumed.parties, (unsigned long)assumed.missing,
                      (unsigned long)assumed.colluding);
}
