/*
 * The last question of dpnewton for two classes (line=asked): how the published scores lie to the responses,
 * by two numbers of all rows.
 *
 *   z = w.x at the mean w of the tail;   t = (z - m)/s, between -2 and 2;   r = clip(sigma(z) - y, +-1/2)
 *   sum r (1, t)/sqrt(5),   m and s the scores' mean and standard deviation by the moments, in the question
 *
 * A gradient says the same of w, with d numbers and their noise: along w that is |w| times the noise of one,
 * while scores are known to be within a few s, which is far less where noise makes most of w. What the two
 * numbers say of the line from scores to log-odds is in num/noisy/clipped_link.h.
 *
 * Proof note. Adjacency: replace one row of one party (unit=record). |r| <= 1/2 and |t| <= 2 for the computed
 *   numbers, whatever the row, w, m and s: what is no number is taken for a bound. So a row's term has norm
 *   at most 1/2 and the sum moves by at most 1, like a gradient (dpnewton.c); the chain of additions is
 *   gradient.h's, of terms of norm at most 1. The question has its share of mu^2.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "method/private/dpnewton.h"

static double within(double value, double most) {
    return value > -most ? (value < most ? value : most) : -most;
}

/* Where n mu is at least ENOUGH: with less the two numbers are noise too (at n mu = 120 that in the slope is
 * about .3, which is what is not known of it anyway). And below FEW for each column: with more the steps say
 * enough. */
static const double ENOUGH = 120, FEW = 8;

bool dpnewton_asks_line(const tacit_plan *plan, const dpnewton_design *design) {
    const dpnewton_settings *settings = dpnewton_settings_of(plan);
    const double rows = dpnewton_rows(plan) * design->strength;
    return settings->line == DPNEWTON_LINE_ASKED && design->family->law != NULL && settings->folds == 0 &&
           settings->unit == DPNEWTON_PER_RECORD && rows >= ENOUGH && rows < FEW * (double)design->width;
}

/* ---- the party's half ---- */

/* Rows from `begin` on, added to `out`. */
static void add_rows(const tacit_party *party, const dpnewton_design *design, const double *encoded,
                     const double *law, size_t begin, size_t end, double out[2]) {
    const double least = 1e-9, by = 1 / hypot(1, DPNEWTON_LINE_REACH);
    double scores[DPNEWTON_BLOCK], along[DPNEWTON_BLOCK];
    for (size_t first = begin; first < end; first += DPNEWTON_BLOCK) {
        size_t count = end - first < DPNEWTON_BLOCK ? end - first : DPNEWTON_BLOCK;
        for (size_t i = 0; i < count; i++) {
            scores[i] = tacit_rows_dot(&party->rows.rows, first + i, encoded);
            along[i] = within((scores[i] - law[0]) / fmax(law[1], least), DPNEWTON_LINE_REACH);
        }
        design->family->residuals(design, &party->rows, first, count, scores);
        for (size_t i = 0; i < count; i++) {
            out[0] += scores[i] * by;
            out[1] += scores[i] * along[i] * by;
        }
    }
}

/* `weights` has the model's and then m and s. */
tacit_status dpnewton_sum_line(tacit_party *party, const dpnewton_design *design, const double *weights,
                               double *out, tacit_error *error) {
    const dpnewton_scaling *by = &design->scaling;
    size_t d = design->width, rows = party->rows.rows.count;
    TACIT_TRY(gradient_check_rows(party, error));
    TACIT_TRY(dpnewton_check_response(party, design, error));
    double *encoded = TACIT_NEW(double, d);
    if (encoded == NULL) return tacit_fail_memory(error);
    for (size_t j = 0; j < d; j++)
        encoded[j] = weights[j] * (by->encoded > 0 && j == d - 1 ? by->intercept : by->feature);
    out[0] = out[1] = 0;
    for (size_t begin = 0; begin < rows; begin += GRADIENT_SLICE) {
        double slice[2] = { 0, 0 };
        size_t end = rows - begin < GRADIENT_SLICE ? rows : begin + GRADIENT_SLICE;
        add_rows(party, design, encoded, weights + d, begin, end, slice);
        out[0] += slice[0];
        out[1] += slice[1];
    }
    free(encoded);
    return party->reducer == NULL ? TACIT_OK : party->reducer->sum(party->reducer->context, out, 2, error);
}

/* ---- the coordinator's half ---- */

tacit_status dpnewton_ask_line(tacit_session *session, const dpnewton_design *design, dpnewton_state *state,
                               tacit_error *error) {
    tacit_message message = TACIT_MESSAGE_INIT;
    tacit_sum sum = TACIT_SUM_INIT;
    const size_t d = design->width;
    const dpnewton_release *release = &design->release[design->rounds + 1];
    tacit_status status;
    double mean, variance, *weights = TACIT_NEW(double, d + 2);
    if (weights == NULL) TACIT_CHECK(tacit_fail_memory(error));
    memcpy(weights, state->mean, d * sizeof *weights);
    design->family->law(design, state, state->mean, &mean, &variance);
    weights[d] = mean;
    weights[d + 1] = sqrt(variance);
    TACIT_CHECK(tacit_message_add_numbers(&message, "weights", weights, d + 2, error));
    TACIT_CHECK(dpnewton_ask(session, "line", &message, &design->line, release, 2, &sum, error));
    state->parties = sum.parties;
    double unit = 2 * design->clip * hypot(1, DPNEWTON_LINE_REACH) / state->rows;
    state->line = (dpnewton_line){ .asked = true,
                                   .mean = mean,
                                   .variance = variance,
                                   .pull = { unit * sum.values[0], unit * sum.values[1] },
                                   .noise = unit * unit * release->deviation * release->deviation };
cleanup:
    tacit_sum_clear(&sum);
    tacit_message_clear(&message);
    free(weights);
    return status;
}
