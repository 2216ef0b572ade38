/* A node's half of newton, privlogit-hessian and privlogit-local, and what all sides derive from the plan
 * (logit.h). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "crypto/paillier/multiexp.h"
#include "method/row_sums.h"
#include "method/secure/logit.h"

enum { MOST_WIDTH = 400, SLOT_BITS = 82 /* of 127, 43 for masks and 2 to spare */, LEAST_BITS = 44 };
static const double LEAST_RANGE = 64;

const char tacit_logit_assumption[] =
    "the two center servers follow the protocol and do not show each other what they see; Paillier "
    "encryption under server B's key (decisional composite residuosity, short exponents)";

/* ---- what follows from the plan ---- */

/* The factor that undoes the division by the largest norm. */
double tacit_logit_schema_scale(const tacit_plan *plan) {
    if (plan->schema == NULL) return 2 * sqrt((double)plan->features);
    double columns = plan->schema->formula != NULL ? tacit_schema_reach(plan->schema) : 0;
    for (size_t c = 0; plan->schema->formula == NULL && c < plan->schema->cols; c++)
        columns += plan->schema->columns[c].kind != TACIT_SCHEMA_SKIP;
    double norm = plan->schema->rows == TACIT_ROWS_CLIP ? plan->schema->clip : sqrt(fmax(1, columns));
    return norm * (plan->schema->intercept ? M_SQRT2 : 1);
}

double tacit_logit_scale(const tacit_plan *plan) {
    double given = tacit_logit_settings_of(plan)->scale;
    return given > 0 ? given : tacit_logit_schema_scale(plan);
}

unsigned tacit_logit_fraction(const tacit_plan *plan) {
    return (unsigned)tacit_logit_settings_of(plan)->fraction;
}

bool tacit_logit_infers(const tacit_plan *plan) {
    return tacit_logit_settings_of(plan)->inference == TACIT_LOGIT_INFERENCE &&
           tacit_logit_private(plan) == 0;
}

double tacit_logit_private(const tacit_plan *plan) { return tacit_logit_settings_of(plan)->dp; }

const tacit_family *tacit_logit_family(const tacit_plan *plan) {
    tacit_response response = plan->schema != NULL ? plan->schema->response : TACIT_RESPONSE_CLASS;
    if (response == TACIT_RESPONSE_CLASS) return plan->classes == 2 ? &tacit_family_logistic : NULL;
    return response != TACIT_RESPONSE_TIME ? tacit_family_of(response, 0) : NULL;
}

double tacit_logit_curvature(const tacit_plan *plan) { return tacit_logit_family(plan)->loss.curvature(0); }

/* The least and the largest response, in units of the loss. */
static void responses_of(const tacit_plan *plan, double out[2]) {
    tacit_design scale;
    out[0] = 0;
    out[1] = 1;
    if (tacit_logit_family(plan)->loss.of_classes) return;
    tacit_design_scale(&scale, tacit_logit_family(plan), plan->schema);
    out[0] = (plan->schema->low - scale.middle) / scale.half;
    out[1] = (plan->schema->high - scale.middle) / scale.half;
}

/* l' grows with t, by convexity, and falls with y, of which it is a linear function: |l'| is largest at a
 * corner. */
double tacit_logit_steepest(const tacit_plan *plan, double furthest) {
    double y[2], most = 0;
    responses_of(plan, y);
    for (int k = 0; k < 4; k++)
        most = fmax(most, fabs(tacit_family_slope(tacit_logit_family(plan), 0, &y[k % 2],
                                                  k < 2 ? furthest : -furthest)));
    return most;
}

/* B; 0 where L and c say it. */
static double bound_of(const tacit_plan *plan) {
    const tacit_family *family = tacit_logit_family(plan);
    double y[2];
    if (isfinite(family->loss.slope)) return 0;
    responses_of(plan, y);
    return family->bound(1, y[1], NULL);
}

double tacit_logit_range(const tacit_plan *plan) {
    const double scale = tacit_logit_scale(plan), bound = bound_of(plan);
    const double slope = tacit_logit_family(plan)->loss.slope, curvature = tacit_logit_curvature(plan);
    if (!(bound > 0)) return fmax(LEAST_RANGE, fmax(scale * slope, scale * scale * curvature));
    const double range = fmax(LEAST_RANGE, bound * fmax(1, scale * scale));
    return isfinite(curvature) ? range : exp2(ceil(log2(range)));
}

unsigned tacit_logit_finer(const tacit_plan *plan) {
    const double bound = bound_of(plan);
    return bound > 0 ? (unsigned)ilogb(tacit_logit_range(plan) / bound) : 0;
}

size_t tacit_logit_head(const tacit_plan *plan) { return tacit_logit_family(plan)->measured + 1; }

/* Whether the methods have a way to fit the label's family. */
static tacit_status check_family(const tacit_plan *plan, tacit_error *error) {
    const char *name = plan->method->name;
    const tacit_family *family = tacit_logit_family(plan);
    if (plan->classes > 0 && family == NULL)
        return tacit_fail(error, TACIT_USAGE, "method %s needs a label of two classes, and this one has %zu",
                          name, plan->classes);
    if (family == NULL)
        return tacit_fail(error, TACIT_USAGE,
                          "method %s needs a label of two classes, or of kind number or count with its "
                          "bounds in a schema",
                          name);
    if (!tacit_logit_settings_of(plan)->newton && !isfinite(tacit_logit_curvature(plan)))
        return tacit_fail(error, TACIT_USAGE,
                          "method %s needs one matrix that is beyond every Hessian, and there is none for "
                          "%s, whose curvature has no bound: choose method newton",
                          name, family->title);
    if (tacit_logit_private(plan) > 0 && !isfinite(tacit_logit_curvature(plan)))
        return tacit_fail(error, TACIT_USAGE,
                          "dp needs a bound of what one row adds to a Hessian, and there is none for %s: "
                          "choose method dpnewton, which clips",
                          family->title);
    if (!family->loss.of_classes && tacit_logit_settings_of(plan)->start != 0)
        return tacit_fail(error, TACIT_USAGE,
                          "method %s finds by itself where to begin with a number or a count: leave 'start' "
                          "out",
                          name);
    return TACIT_OK;
}

tacit_status tacit_logit_check(const tacit_plan *plan, tacit_error *error) {
    const char *name = plan->method->name;
    tacit_design design;
    TACIT_TRY(check_family(plan, error));
    TACIT_TRY(tacit_design_create(&design, tacit_logit_family(plan), plan->schema, plan->features, error));
    size_t width = design.width;
    tacit_design_clear(&design);
    if (width > MOST_WIDTH)
        return tacit_fail(error, TACIT_USAGE,
                          "method %s factors an encrypted matrix of %zu columns: have at most %d, or choose "
                          "method estimate",
                          name, width, MOST_WIDTH);
    /* Numbers of the range must leave half of the digits before the point to what is computed from them. */
    int bits, room = 63 - (int)tacit_logit_fraction(plan);
    frexp(tacit_logit_range(plan), &bits);
    const bool unproved = !isfinite(tacit_logit_curvature(plan));
    /* And where the check of a solution has nothing better for a trace, for steps of 8 (logit_solve.c). */
    if (bits + (unproved ? (int)ceil(log2((double)width) / 2) : 0) > room - (unproved ? 5 : 4))
        return tacit_fail(error, TACIT_USAGE,
                          "with scale %g and fraction %u sums %swould overflow 64 bits: lower one of them",
                          tacit_logit_scale(plan), tacit_logit_fraction(plan),
                          unproved ? "of counts as large as the schema allows " : "");
    return TACIT_OK;
}

double tacit_logit_ridge(const tacit_plan *plan, double n) {
    const double scale = tacit_logit_scale(plan);
    if (tacit_logit_settings_of(plan)->penalty == TACIT_LOGIT_SUM) return plan->lambda / n;
    if (plan->lambda == 0 && tacit_logit_private(plan) > 0) return 1 / n;
    return plan->lambda * scale * scale;
}

/* mu: the least eigenvalue of the matrix over n that numbers have room for. */
static double least_curvature(const tacit_plan *plan, double n) {
    static const double WITHOUT_RIDGE = 0x1p-20;
    const double ridge = tacit_logit_ridge(plan, n);
    return ridge > 0 ? ridge : WITHOUT_RIDGE;
}

tacit_status tacit_logit_price(const tacit_plan *plan, tacit_prepared **prepared, tacit_prices *out,
                               tacit_error *error) {
    double epsilon = tacit_logit_private(plan);
    if (epsilon == 0) return tacit_nonprivate_price(plan, prepared, out, error);
    out->charged = out->claimed =
        (tacit_price){ TACIT_UNIT_RECORD, epsilon, tacit_logit_settings_of(plan)->dp_delta };
    return TACIT_OK;
}

tacit_release_kind tacit_logit_kind(const tacit_plan *plan) {
    (void)plan;
    return TACIT_RELEASE_SEALED;
}

tacit_status tacit_logit_slots(tacit_masked_slots *out, const tacit_plan *plan,
                               const tacit_paillier_public *key, tacit_error *error) {
    return tacit_masked_slots_plan(out, key, tacit_logit_range(plan), tacit_logit_fraction(plan), 0,
                                   plan->parties, error);
}

size_t tacit_logit_answer_numbers(const tacit_plan *plan) {
    const size_t width = plan->features + 2,
                 sums = width * (width + 1) / 2 + 2 * width + TACIT_LOGIT_HEAD_MOST;
    return (sums + width) * (TACIT_PAILLIER_BITS_MOST / 4 / sizeof(double) + 1);
}

size_t tacit_logit_length(const tacit_plan *plan, size_t width, tacit_row_weight weight) {
    return tacit_logit_head(plan) - 1 + tacit_sums_length(weight, width);
}

static unsigned bits_of(double value) {
    int bits;
    frexp(value, &bits);
    return bits > 0 ? (unsigned)bits : 0;
}

static size_t smaller(size_t a, size_t b) { return a < b ? a : b; }

/* P/sqrt(mu) of the proof below. */
static double room_of_steps(const tacit_plan *plan, size_t width, double mu) {
    const double scale = tacit_logit_scale(plan);
    return (sqrt((double)width) * tacit_logit_curvature(plan) * scale * scale + mu) / sqrt(mu);
}

/*
 * Bits of numbers between the servers. Let A be the matrix over n: its eigenvalues are at least mu, the
 * ridge (without one they are taken to be; the check of each solution sees where they are not), its entries
 * at most R = 1.5 (that of logit.h + mu). Where rounding leaves half of the least eigenvalue (the claim in
 * crypto/garble/circuits_linear.h; the check of the solution sees where it does not), 1/D, D^-1 M and A^-1
 * are within 2/mu, and A^-1 times the vector of that check within 2 sqrt(d)/mu; objectives and sums are
 * within R. The other numbers of factoring and inverting are within max(R, sqrt(2 R/mu)), and twice that for
 * the sum of two.
 *
 * Solving, PrivLogit from beta = 0. b = Z^T r/n + mu beta, |r_i| <= 1, A = Z^T Z/(4n) + mu I. With the
 * singular values s of Z/sqrt(n), b^T A^-1 b <= (max s/sqrt(s^2/4 + mu) + sqrt(mu) |beta|)^2 <= (2 + sqrt(2
 * log 2))^2 < 11: no step lowers the likelihood, so mu |beta|^2/2 is at most the objective log 2 of beta = 0.
 * Rounding may double it: q <= 22. Then y = L^-1 b has y_k^2 <= D_k q, and D^-1 y and x are within sqrt(2
 * q/mu) = sqrt(44/mu), less than sqrt(2 R/mu) as R >= 96. Newton's method has no such bound: r^T W^-1 r/n
 * takes the place of s^2/(s^2/4 + mu), which is 4 at beta = 0 and grows where a fit runs away. Its solutions
 * have all bits, and so has everything under `dp`, whose noise is in A and b.
 *
 * Solving, a number, by any of the methods: A = Z^T Z/n + mu I is the Hessian itself, and every step goes to
 * the minimum of F(beta) = |r|^2/(2n) + mu |beta|^2/2, r = Z beta - y. Responses are within [-1, 1], so F <=
 * 1/2 at beta = 0 and, no step raising F, ever after, except for rounding; |r|^2/n + mu |beta|^2 <= 1. So
 *     |b_j| = |sum r_i z_ij/n + mu beta_j| <= S + sqrt(mu),  of any rows alone |sum r_i z_ij/n| <= S
 * by Cauchy and Schwarz, objectives are within 1/2 and traces within S^2: within R = 2 S^2 or 64. And b^T
 * A^-1 b <= (|r|/sqrt(n) + sqrt(mu) |beta|)^2 <= 2: the q above is within 22, and what is said of PrivLogit
 * holds of solutions here. A step from 0 is within 1/sqrt(mu), for which the check of a solution has room
 * where 2^(w-1-f) >= 8 P/sqrt(mu), P the row sum there, at most doubled by rounding to a power of two.
 *
 * A count: entries are within R where the check of the solution says so, and all numbers have 64 bits.
 */
void tacit_logit_widths(tacit_secure_settings *out, const tacit_plan *plan, size_t width, double n) {
    enum { MOST = 64 };
    unsigned fraction = tacit_logit_fraction(plan);
    double mu = least_curvature(plan, n), most = 1.5 * (tacit_logit_range(plan) + mu);
    const tacit_logit_settings *settings = tacit_logit_settings_of(plan);
    out->format = (tacit_fixed){ MOST, fraction };
    if (tacit_logit_private(plan) > 0 || !(mu > 0)) return;
    const tacit_family *family = tacit_logit_family(plan);
    double largest = 2 * fmax(most, sqrt((double)width) / mu), entry = 2 * fmax(most, sqrt(2 * most / mu));
    if (family->quadratic) largest = fmax(largest, 8 * room_of_steps(plan, width, mu));
    if (isfinite(tacit_logit_curvature(plan)))
        out->format.width = smaller(MOST, 1 + fraction + bits_of(largest));
    out->factor_width = smaller(out->format.width, 1 + fraction + bits_of(entry));
    /* stop=converged looks how far Newton's step goes. */
    bool proved = settings->start == 0 &&
                  (family->quadratic || (!settings->newton && settings->stop != TACIT_LOGIT_CONVERGED));
    out->solution_width = proved ? out->factor_width : out->format.width;
}

/* The least eigenvalue of H/n is mu or more, so the inverse has no entry above 1/mu; without a ridge that is
 * taken to be so, and there is room for all numbers that pass between the servers. Gradients over n are at
 * most S. What is left of a slot is shared between the digits of the two. */
typedef struct digits {
    double largest, steepest;
    uint64_t additions;
    unsigned inverse, gradient; /* behind the point; both 0 where too few are left */
} digits;

static digits digits_of(const tacit_plan *plan, size_t width, double n) {
    unsigned fraction = tacit_logit_fraction(plan);
    tacit_secure_settings between = tacit_secure_defaults();
    tacit_logit_widths(&between, plan, width, n);
    const bool ridge = tacit_logit_ridge(plan, n) > 0;
    digits out = { .largest = ridge ? 1 / least_curvature(plan, n)
                                    : ldexp(1, (int)between.format.width - 1 - (int)fraction),
                   .steepest = tacit_logit_scale(plan) * (1 + 1e-9), /* of a number, too: |r|^2/n <= 1 */
                   .additions = (uint64_t)width * plan->parties };
    unsigned used = bits_of(out.largest) + bits_of(out.steepest) + bits_of((double)out.additions);
    if (used + LEAST_BITS > SLOT_BITS) return out;
    unsigned left = SLOT_BITS - used, half = (left + 4) / 2;
    out.gradient = half < fraction ? half : fraction;
    out.inverse = left - out.gradient < fraction ? left - out.gradient : fraction;
    return out;
}

unsigned tacit_logit_gradient_bits(const tacit_plan *plan, size_t width, double n) {
    return digits_of(plan, width, n).gradient;
}

tacit_status tacit_logit_inverse_plan(tacit_logit_inverse *out, const tacit_plan *plan,
                                      const tacit_paillier_public *key, size_t width, double n,
                                      tacit_error *error) {
    const digits has = digits_of(plan, width, n);
    if (has.gradient == 0)
        return tacit_fail(error, TACIT_LIMIT,
                          "%g rows at lambda %g leave too few digits for the encrypted inverse: raise "
                          "lambda or leave it out, lower scale, or choose method privlogit-hessian",
                          n, plan->lambda);
    out->gradient_bits = has.gradient;
    out->largest = has.largest;
    TACIT_TRY(tacit_masked_slots_plan(&out->slots, key, has.largest, has.inverse,
                                      has.gradient + bits_of(has.steepest) + 1, has.additions, error));
    out->blocks = (width + out->slots.slots.slots - 1) / out->slots.slots.slots;
    return TACIT_OK;
}

/* ---- sums over the node's rows ---- */

typedef struct pass {
    const tacit_plan *plan;
    const tacit_family *family;
    tacit_design design;
    size_t head, length; /* of values: terms and objective; all */
    double *w;
    double scale, n;
    double *values; /* what is encrypted: terms, objective, gradient, triangle; over n */
    int64_t *grid;
} pass;

static void end_pass(pass *self) {
    tacit_design_clear(&self->design);
    free(self->w);
    free(self->values);
    free(self->grid);
}

/* In units of the loss. What the schema does not allow was refused or moved where rows were read. */
static void response(const void *context, const tacit_view *rows, size_t i, double *y) {
    const pass *self = context;
    if (self->family->loss.of_classes) {
        tacit_row_class(NULL, rows, i, y);
        return;
    }
    const tacit_schema *schema = self->plan->schema;
    const double raw = fmax(schema->low, fmin(schema->high, tacit_view_response(rows, i)));
    *y = (raw - self->design.middle) / self->design.half;
}

static tacit_status add_terms(void *context, const tacit_view *block, size_t first, tacit_error *error) {
    pass *self = context;
    (void)first;
    (void)error;
    for (size_t i = 0; i < block->rows.count; i++) {
        double y, terms[TACIT_FAMILY_TERMS];
        response(self, block, i, &y);
        tacit_family_terms(self->family, &y, terms);
        for (size_t k = 0; k + 1 < self->head; k++) self->values[k] += terms[k];
    }
    return TACIT_OK;
}

/* With noise, shortening is the price of less of it, and the owner's choice; without, it would only
 * falsify. */
static tacit_status check_rows(const tacit_party *party, tacit_error *error) {
    if (tacit_logit_private(party->plan) > 0) return TACIT_OK;
    return tacit_design_check_rows(party->plan->schema, &party->rows, error);
}

/* n of the question, believed only within what it can be: not fewer rows than this node has. */
static tacit_status read_rows(const tacit_party *party, const tacit_question *question, double *n,
                              tacit_error *error) {
    const double *total;
    TACIT_TRY(tacit_message_numbers(question->message, "rows", 1, &total, error));
    if (!(*total >= (double)party->total_rows && *total <= 1e12))
        return tacit_fail(error, TACIT_REFUSED,
                          "the coordinator speaks of %g rows in all and this party has %zu", *total,
                          party->total_rows);
    *n = *total;
    return TACIT_OK;
}

/* A Hessian whose trace is R, so that the check of the solution ends the run (logit_solve.c); and an
 * objective that no other is near. */
static void say_beyond(pass *self, double range) {
    memset(self->values, 0, self->length * sizeof *self->values);
    self->values[self->head - 1] = range;
    self->values[self->head + self->design.width] = range;
}

/* values = sums over n in units of beta: x.w = z.beta with w = S beta. A private run has no use for the head,
 * and sends none; nor has the loss that a family begins at. */
static void scale_sums(pass *self, tacit_row_weight weight, bool beginning) {
    const double range = tacit_logit_range(self->plan), finer = exp2(tacit_logit_finer(self->plan));
    const bool private = tacit_logit_private(self->plan) > 0;
    const double head = private || beginning ? 0 : finer;
    double matrix = self->scale * self->scale;
    if (weight == TACIT_WEIGH_ONE) matrix *= tacit_logit_curvature(self->plan);
    bool beyond = false;
    for (size_t j = 0; j < self->length; j++) {
        double factor = j < self->head ? head : j < self->head + self->design.width ? self->scale : matrix;
        double value = self->values[j] * factor / self->n;
        beyond = beyond || !(fabs(value) <= range);
        self->values[j] = fmax(-range, fmin(range, value)); /* beyond it only where a fit runs away */
    }
    if (beyond && !isfinite(self->family->loss.curvature(0)) && weight != TACIT_WEIGH_NONE)
        say_beyond(self, range);
}

/* `beginning`: of the loss that the family begins at. */
static tacit_status make_sums(pass *self, tacit_party *party, const tacit_question *question,
                              tacit_row_weight weight, bool beginning, tacit_error *error) {
    const double *beta;
    const tacit_family *family = tacit_logit_family(party->plan);
    const bool classes = family->loss.of_classes;
    *self = (pass){ .plan = party->plan,
                    .family = beginning ? family->begins : family,
                    .scale = tacit_logit_scale(party->plan),
                    .head = tacit_logit_head(party->plan) };
    if (classes ? party->rows.label == NULL : party->rows.response == NULL)
        return tacit_fail(error, TACIT_INPUT, "the rows have no %s", classes ? "classes" : "response");
    TACIT_TRY(check_rows(party, error));
    TACIT_TRY(read_rows(party, question, &self->n, error));
    TACIT_TRY(tacit_design_create(&self->design, family, party->plan->schema, party->plan->features, error));
    size_t width = self->design.width;
    self->length = tacit_logit_length(party->plan, width, weight);
    TACIT_TRY(tacit_message_numbers(question->message, "weights", width, &beta, error));
    self->w = TACIT_NEW(double, width);
    self->values = TACIT_NEW(double, self->length);
    self->grid = TACIT_NEW(int64_t, self->length);
    if (self->w == NULL || self->values == NULL || self->grid == NULL) return tacit_fail_memory(error);
    for (size_t j = 0; j < width; j++) self->w[j] = self->scale * beta[j];
    tacit_row_sums how = { .family = self->family,
                           .weight = weight,
                           .width = width,
                           .w = self->w,
                           .kept = self->design.kept,
                           .response = response,
                           .context = self,
                           .pool = party->pool };
    TACIT_TRY(tacit_dataset_map(&party->rows, 0, add_terms, self, error));
    TACIT_TRY(tacit_row_sums_make(self->values + self->head - 1, &how, &party->rows, error));
    if (party->reducer != NULL)
        TACIT_TRY(party->reducer->sum(party->reducer->context, self->values, self->length, error));
    scale_sums(self, weight, beginning);
    return TACIT_OK;
}

/* ---- sealing ---- */

/* How an answer leaves. A private run is paid for once, with the first answer. */
static tacit_status begin_reply(const tacit_party *party, bool pays, tacit_reply *reply, tacit_error *error) {
    tacit_prices prices = { .event = { .count = 0 } };
    TACIT_TRY(tacit_party_price(party, &prices, error));
    bool private = isfinite(prices.charged.epsilon), real = party->gate->mode == TACIT_GATE_REAL;
    reply->kind = TACIT_RELEASE_SEALED;
    reply->assumption = tacit_logit_assumption;
    reply->price = prices.charged;
    reply->noise = !private ? TACIT_NOISE_NONE : real ? TACIT_NOISE_EXACT : TACIT_NOISE_SIMULATED;
    if (private && !pays) {
        reply->price = (tacit_price){ TACIT_UNIT_RECORD, 0, 0 };
        reply->noise = TACIT_NOISE_NONE;
    }
    return tacit_message_add_integers(&reply->message, "rows", &(int64_t){ (int64_t)party->total_rows }, 1,
                                      error);
}

static tacit_status add_ciphertexts(tacit_reply *reply, const char *name,
                                    const tacit_ciphertexts *ciphertexts, tacit_error *error) {
    tacit_buffer bytes = TACIT_BUFFER_INIT;
    tacit_status status = tacit_ciphertexts_write(ciphertexts, &bytes, error);
    if (status == TACIT_OK)
        status = tacit_message_add_bytes(&reply->message, name, bytes.bytes, bytes.length, error);
    tacit_buffer_clear(&bytes);
    return status;
}

/* Round, pack, encrypt, and add to the answer. */
tacit_status tacit_logit_seal(tacit_reply *reply, const double *values, int64_t *grid, size_t count,
                              const tacit_masked_slots *layout, const tacit_paillier_public *key,
                              tacit_pool *pool, tacit_error *error) {
    tacit_plaintexts *plain = NULL;
    tacit_ciphertexts *sealed = NULL;
    tacit_entropy *entropy = NULL;
    tacit_status status;
    size_t vectors = tacit_slots_plaintexts(&layout->slots, count);
    TACIT_CHECK(tacit_slots_encode(grid, &layout->slots, values, count, error));
    TACIT_CHECK(tacit_plaintexts_create(&plain, key, vectors, error));
    TACIT_CHECK(tacit_slots_pack(plain, &layout->slots, grid, count, error));
    TACIT_CHECK(tacit_ciphertexts_create(&sealed, key, vectors, error));
    TACIT_CHECK(tacit_entropy_create(&entropy, error));
    TACIT_CHECK(tacit_paillier_encrypt(sealed, plain, TACIT_PAILLIER_SHORT, entropy, pool, error));
    TACIT_CHECK(add_ciphertexts(reply, "sums", sealed, error));
cleanup:
    tacit_plaintexts_free(plain);
    tacit_ciphertexts_free(sealed);
    tacit_entropy_free(entropy);
    return status;
}

static tacit_status seal(tacit_reply *reply, const pass *self, size_t count, const tacit_plan *plan,
                         const tacit_paillier_public *key, tacit_pool *pool, tacit_error *error) {
    tacit_masked_slots layout;
    TACIT_TRY(tacit_logit_slots(&layout, plan, key, error));
    return tacit_logit_seal(reply, self->values, self->grid, count, &layout, key, pool, error);
}

tacit_status tacit_logit_answer_rows(tacit_party *party, const tacit_question *question, tacit_reply *reply,
                                     tacit_error *error) {
    (void)question;
    TACIT_TRY(check_rows(party, error));
    return begin_reply(party, true, reply, error);
}

tacit_status tacit_logit_answer_sums(tacit_party *party, const tacit_question *question, tacit_reply *reply,
                                     tacit_error *error) {
    const tacit_paillier_public *key = NULL;
    tacit_paillier_public *owned = NULL;
    const int64_t *weight;
    pass self = { .scale = 0 };
    tacit_status status;
    TACIT_CHECK(tacit_party_center_key(party, question, &key, &owned, error));
    TACIT_CHECK(tacit_message_integers(question->message, "matrix", 1, &weight, error));
    const bool beginning = *weight == TACIT_LOGIT_BEGIN && tacit_logit_family(party->plan)->begins != NULL;
    if (!beginning && *weight != TACIT_WEIGH_NONE && *weight != TACIT_WEIGH_CURVATURE &&
        *weight != TACIT_WEIGH_ONE)
        TACIT_CHECK(tacit_fail(error, TACIT_PROTOCOL, "the coordinator asks for an unknown matrix"));
    TACIT_CHECK(make_sums(&self, party, question,
                          beginning ? TACIT_WEIGH_CURVATURE : (tacit_row_weight)*weight, beginning, error));
    TACIT_CHECK(begin_reply(party, false, reply, error));
    TACIT_CHECK(seal(reply, &self, self.length, party->plan, key, party->pool, error));
cleanup:
    end_pass(&self);
    tacit_paillier_public_free(owned);
    return status;
}

/* Enc(H^-1) (x) g_i = Enc(H^-1 g_i): Algorithm 8, line 6. The gradient has this node's part of the ridge in
 * it, n_i/n of (lambda/n) beta, so that the sum over nodes has all of it (line 9). With dp the servers add
 * the ridge, which is public, so that nothing but rows is in what is rounded here. */
static tacit_status multiply_inverse(tacit_reply *reply, pass *self, tacit_party *party,
                                     const tacit_question *question, const tacit_paillier_public *key,
                                     tacit_error *error) {
    size_t width = self->design.width, length;
    const uint8_t *bytes;
    tacit_logit_inverse layout;
    tacit_ciphertexts *inverse = NULL, *step = NULL;
    tacit_entropy *entropy = NULL;
    double part = tacit_logit_private(party->plan) > 0 ? 0 : (double)party->total_rows / self->n;
    double ridge = tacit_logit_ridge(party->plan, self->n) * part / self->scale;
    tacit_status status;
    TACIT_CHECK(tacit_logit_inverse_plan(&layout, party->plan, key, width, self->n, error));
    TACIT_CHECK(tacit_message_bytes(question->message, "inverse", &bytes, &length, error));
    TACIT_CHECK(tacit_ciphertexts_read(&inverse, key, bytes, length, layout.blocks * width, error));
    if (tacit_ciphertexts_count(inverse) != layout.blocks * width)
        TACIT_CHECK(
            tacit_fail(error, TACIT_PROTOCOL, "the encrypted inverse has another size than the study's"));
    unsigned factor_bits = layout.slots.slots.factor_bits;
    int64_t most = ((int64_t)1 << (factor_bits - 1)) - 1;
    for (size_t j = 0; j < width; j++) {
        double slope = self->values[self->head + j] + ridge * self->w[j];
        int64_t whole = llrint(ldexp(slope, (int)layout.gradient_bits));
        self->grid[j] = whole > most ? most : whole < -most ? -most : whole;
    }
    TACIT_CHECK(tacit_ciphertexts_create(&step, key, layout.blocks, error));
    TACIT_CHECK(tacit_paillier_multiply_matrix(step, inverse, self->grid, width, factor_bits,
                                               TACIT_FACTORS_SECRET, party->pool, error));
    TACIT_CHECK(tacit_entropy_create(&entropy, error));
    TACIT_CHECK(tacit_paillier_rerandomise(step, TACIT_PAILLIER_SHORT, entropy, party->pool, error));
    TACIT_CHECK(add_ciphertexts(reply, "step", step, error));
cleanup:
    tacit_ciphertexts_free(inverse);
    tacit_ciphertexts_free(step);
    tacit_entropy_free(entropy);
    return status;
}

tacit_status tacit_logit_answer_step(tacit_party *party, const tacit_question *question, tacit_reply *reply,
                                     tacit_error *error) {
    const tacit_paillier_public *key = NULL;
    tacit_paillier_public *owned = NULL;
    pass self = { .scale = 0 };
    tacit_status status;
    TACIT_CHECK(tacit_party_center_key(party, question, &key, &owned, error));
    TACIT_CHECK(make_sums(&self, party, question, TACIT_WEIGH_NONE, false, error));
    TACIT_CHECK(begin_reply(party, false, reply, error));
    TACIT_CHECK(multiply_inverse(reply, &self, party, question, key, error));
    TACIT_CHECK(seal(reply, &self, self.head, party->plan, key, party->pool, error));
cleanup:
    end_pass(&self);
    tacit_paillier_public_free(owned);
    return status;
}
