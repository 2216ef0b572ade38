/* The two servers' half of newton, privlogit-hessian and privlogit-local (logit.h). Each function is run by
 * both. */
#include "method/secure/logit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "net/clock.h"

/* A step of this many columns may take d^3/1200 seconds on a slow machine, and nodes ten minutes. */
enum { NODE_PATIENCE_MS = 600000 };

void tacit_logit_be_patient(tacit_logit *self) {
    double order = (double)self->width;
    tacit_center_set_timeout(self->center, NODE_PATIENCE_MS + (int64_t)(1000 * order * order * order / 1200));
}

static bool is_a(const tacit_logit *self) { return self->center->role == TACIT_GARBLER; }

static double now(void) { return 1e-3 * (double)tacit_clock_monotonic_ms(); }

/* ---- beginning and end ---- */

static tacit_status open_secure(tacit_logit *self, tacit_error *error) {
    tacit_secure_settings settings = tacit_secure_defaults();
    settings.engine = tacit_logit_settings_of(self->plan)->engine;
    tacit_logit_widths(&settings, self->plan, self->width, self->n);
    self->bits = (unsigned)settings.format.width;
    settings.pool = self->center->pool;
    return tacit_secure_create(&self->secure, self->center->role, self->center->channel, &settings, error);
}

static tacit_status read_rows(const tacit_message *answer, int64_t *out, tacit_error *error) {
    const int64_t *rows;
    TACIT_TRY(tacit_message_integers(answer, "rows", 1, &rows, error));
    *out = *rows;
    if (*rows >= 1 && *rows <= (int64_t)1 << 40) return TACIT_OK;
    return tacit_fail(error, TACIT_PROTOCOL, "a party says that it has %lld rows", (long long)*rows);
}

tacit_status tacit_logit_rows_usable(const tacit_plan *plan, const tacit_message *answer,
                                     tacit_error *error) {
    (void)plan;
    int64_t rows;
    return read_rows(answer, &rows, error);
}

/* The nodes' rows add up to n; A tells B, who has not spoken with them. */
tacit_status tacit_logit_count_rows(tacit_logit *self, tacit_error *error) {
    int64_t told[2] = { 0, 0 }; /* rows, nodes */
    if (is_a(self)) {
        tacit_answers answers = TACIT_ANSWERS_INIT;
        tacit_status status = tacit_ask(self->center->session, "rows", NULL, &answers, error);
        for (size_t i = 0; i < answers.count && status == TACIT_OK; i++) {
            int64_t rows;
            status = read_rows(&answers.answer[i].message, &rows, error);
            if (status == TACIT_OK) told[0] += rows;
        }
        told[1] = (int64_t)answers.count;
        tacit_answers_clear(&answers);
        TACIT_TRY(status);
    }
    TACIT_TRY(tacit_center_share_public(self->center, told, 2, error));
    if (told[0] < 1 || told[0] > (int64_t)1 << 50 || told[1] < 1 || told[1] > (int64_t)self->plan->parties)
        return tacit_fail(error, TACIT_PROTOCOL, "the other center server speaks of %lld rows of %lld nodes",
                          (long long)told[0], (long long)told[1]);
    self->n = (double)told[0];
    self->parties = (size_t)told[1];
    return TACIT_OK;
}

tacit_status tacit_logit_make_room(tacit_logit *self, double start, tacit_error *error) {
    size_t d = self->width;
    self->beta = TACIT_NEW(int64_t, d);
    self->before = TACIT_NEW(int64_t, d + 1);
    self->head = TACIT_NEW(tacit_share, self->terms + 1 + d + self->triangle);
    self->whole = TACIT_NEW(tacit_share, d * d);
    self->step = TACIT_NEW(tacit_share, d);
    if (self->beta == NULL || self->before == NULL || self->head == NULL || self->whole == NULL ||
        self->step == NULL)
        return tacit_fail_memory(error);
    self->objective = self->head + self->terms;
    self->gradient = self->objective + 1;
    self->matrix = self->gradient + d;
    for (size_t j = 0; j < d; j++) self->beta[j] = llrint(ldexp(start, (int)self->fraction));
    return TACIT_OK;
}

/* Noise is drawn once: a run that died might have opened numbers, at B at least, and new noise on the same
 * sums would be a second release that nobody has paid for. So a private run leaves a mark, and is not taken
 * up again. */
static tacit_status begin_private(tacit_logit *self, tacit_error *error) {
    int64_t mark = 1;
    bool known = false;
    tacit_logit_release release;
    if (tacit_logit_private(self->plan) == 0) return TACIT_OK;
    TACIT_TRY(tacit_logit_release_of(&release, self->plan, self->width, self->n, NULL, true, error));
    TACIT_TRY(tacit_center_known(self->center, &known, &mark, 1, error));
    if (known)
        return tacit_fail(error, TACIT_REFUSED,
                          "a run with dp cannot be resumed after an interruption, since its noise would "
                          "be drawn twice: start a new study");
    return tacit_center_keep(self->center, &mark, 1, error);
}

/* Without c it is seen between the servers: R, a power of two. */
static void bound_trace(tacit_logit *self) {
    const double curvature = tacit_logit_curvature(self->plan);
    self->unproved = !isfinite(curvature);
    self->trace = self->unproved ? tacit_logit_range(self->plan) : curvature * self->scale * self->scale;
}

tacit_status tacit_logit_begin(tacit_logit *self, tacit_center_server *center, tacit_error *error) {
    *self = (tacit_logit){ .center = center,
                           .plan = center->plan,
                           .family = tacit_logit_family(center->plan),
                           .terms = tacit_logit_head(center->plan) - 1,
                           .fraction = tacit_logit_fraction(center->plan),
                           .finer = tacit_logit_finer(center->plan),
                           .scale = tacit_logit_scale(center->plan) };
    TACIT_TRY(
        tacit_design_create(&self->design, self->family, self->plan->schema, self->plan->features, error));
    self->width = self->design.width;
    self->triangle = self->width * (self->width + 1) / 2;
    TACIT_TRY(tacit_logit_make_room(self, tacit_logit_settings_of(self->plan)->start, error));
    TACIT_TRY(tacit_logit_slots(&self->slots, self->plan, center->key, error));
    TACIT_TRY(tacit_paillier_public_write(center->key, &self->key, error));
    tacit_logit_be_patient(self);
    TACIT_TRY(tacit_logit_count_rows(self, error));
    self->ridge = tacit_logit_ridge(self->plan, self->n);
    bound_trace(self);
    TACIT_TRY(begin_private(self, error));
    return open_secure(self, error);
}

void tacit_logit_end(tacit_logit *self) {
    if (self->secure != NULL) self->center->report.costs = tacit_secure_cost(self->secure);
    tacit_secure_free(self->secure);
    tacit_design_clear(&self->design);
    tacit_buffer_clear(&self->key);
    free(self->beta);
    free(self->before);
    free(self->inverse);
    free(self->head);
    free(self->whole);
    free(self->step);
}

/* ---- from the nodes ---- */

static tacit_status make_question(const tacit_logit *self, tacit_row_weight weight,
                                  const tacit_buffer *inverse, tacit_message *out, tacit_error *error) {
    double *beta = TACIT_NEW(double, self->width);
    tacit_status status = beta != NULL ? TACIT_OK : tacit_fail_memory(error);
    if (status != TACIT_OK) return status;
    for (size_t j = 0; j < self->width; j++) beta[j] = ldexp((double)self->beta[j], -(int)self->fraction);
    TACIT_CHECK(tacit_message_add_numbers(out, "rows", &self->n, 1, error));
    TACIT_CHECK(tacit_message_add_numbers(out, "weights", beta, self->width, error));
    TACIT_CHECK(tacit_message_add_bytes(out, "key", self->key.bytes, self->key.length, error));
    if (inverse != NULL)
        TACIT_CHECK(tacit_message_add_bytes(out, "inverse", inverse->bytes, inverse->length, error));
    else
        TACIT_CHECK(tacit_message_add_integers(
            out, "matrix", &(int64_t){ self->beginning ? TACIT_LOGIT_BEGIN : (int64_t)weight }, 1, error));
cleanup:
    free(beta);
    return status;
}

/* Enc(a) (+) Enc(b) ...: the sum of one field of all answers, `count` ciphertexts each. */
tacit_status tacit_logit_add_up(const tacit_logit *self, const tacit_answers *answers, const char *field,
                                size_t count, tacit_ciphertexts **out, tacit_error *error) {
    const tacit_paillier_public *key = self->center->key;
    tacit_ciphertexts *sum = NULL;
    tacit_status status = TACIT_OK;
    for (size_t i = 0; i < answers->count; i++) {
        tacit_ciphertexts *one = NULL;
        const uint8_t *bytes;
        size_t length;
        TACIT_CHECK(tacit_message_bytes(&answers->answer[i].message, field, &bytes, &length, error));
        TACIT_CHECK(tacit_ciphertexts_read(&one, key, bytes, length, count, error));
        if (tacit_ciphertexts_count(one) != count)
            status = tacit_fail(error, TACIT_PROTOCOL, "a party sent %zu ciphertexts where %zu belong",
                                tacit_ciphertexts_count(one), count);
        if (status == TACIT_OK && sum != NULL)
            status = tacit_paillier_add(sum, sum, one, self->center->pool, error);
        if (sum == NULL) {
            sum = one;
            one = NULL;
        }
        tacit_ciphertexts_free(one);
        if (status != TACIT_OK) goto cleanup;
    }
    *out = sum;
    sum = NULL;
cleanup:
    tacit_ciphertexts_free(sum);
    return status;
}

/* The same nodes must answer in each round: their rows add up to n. */
static tacit_status same_nodes(const tacit_logit *self, const tacit_answers *answers, tacit_error *error) {
    double rows = 0;
    for (size_t i = 0; i < answers->count; i++) {
        const int64_t *own;
        TACIT_TRY(tacit_message_integers(&answers->answer[i].message, "rows", 1, &own, error));
        rows += (double)*own;
    }
    if (rows == self->n && answers->count == self->parties) return TACIT_OK;
    return tacit_fail(error, TACIT_REFUSED,
                      "other parties answered than the round before: the sums need the same ones in every "
                      "round; run the study again");
}

tacit_status tacit_logit_ask(tacit_logit *self, const char *question, tacit_row_weight weight,
                             const tacit_buffer *inverse, tacit_answers *out, tacit_error *error) {
    tacit_message message = TACIT_MESSAGE_INIT;
    double begun = now();
    tacit_status status;
    TACIT_CHECK(make_question(self, weight, inverse, &message, error));
    TACIT_CHECK(tacit_ask(self->center->session, question, &message, out, error));
    TACIT_CHECK(same_nodes(self, out, error));
cleanup:
    self->center->report.node_seconds += now() - begun;
    tacit_message_clear(&message);
    return status;
}

/* ridge I on the matrix, ridge beta on the gradient, (ridge/2)|beta|^2 on the objective: public,
 * so A adds them. */
void tacit_logit_regularise(tacit_logit *self, bool has_gradient, bool has_matrix) {
    double square = 0;
    if (!is_a(self)) return;
    for (size_t j = 0; j < self->width; j++) {
        double beta = ldexp((double)self->beta[j], -(int)self->fraction);
        square += beta * beta;
        if (has_gradient) self->gradient[j] += tacit_share_of(llrint(self->ridge * (double)self->beta[j]));
        if (has_matrix)
            self->matrix[tacit_triangle(j, j)] +=
                tacit_share_of(llrint(ldexp(self->ridge, (int)self->fraction)));
    }
    *self->objective += tacit_share_of(llrint(ldexp(0.5 * self->ridge * square, tacit_logit_digits(self))));
}

tacit_status tacit_logit_gather(tacit_logit *self, tacit_row_weight weight, tacit_error *error) {
    size_t count = tacit_logit_length(self->plan, self->width, weight);
    tacit_answers answers = TACIT_ANSWERS_INIT;
    tacit_ciphertexts *sum = NULL;
    tacit_status status = TACIT_OK;
    tacit_logit_be_patient(self);
    if (is_a(self)) {
        TACIT_CHECK(tacit_logit_ask(self, "sums", weight, NULL, &answers, error));
        TACIT_CHECK(tacit_logit_add_up(self, &answers, "sums",
                                       tacit_slots_plaintexts(&self->slots.slots, count), &sum, error));
    }
    double begun = now();
    TACIT_CHECK(tacit_secure_from_ciphertexts(self->secure, self->head, count, &self->slots, sum,
                                              self->center->secret, 0, error));
    self->center->report.center_seconds += now() - begun;
    tacit_logit_regularise(self, true, weight != TACIT_WEIGH_NONE);
cleanup:
    tacit_answers_clear(&answers);
    tacit_ciphertexts_free(sum);
    return status;
}

tacit_status tacit_logit_gather_beginning(tacit_logit *self, tacit_error *error) {
    self->beginning = true;
    tacit_status status = tacit_logit_gather(self, TACIT_WEIGH_CURVATURE, error);
    self->beginning = false;
    return status;
}

tacit_status tacit_logit_gather_step(tacit_logit *self, const tacit_buffer *inverse, tacit_share *step,
                                     tacit_error *error) {
    tacit_logit_inverse layout;
    tacit_answers answers = TACIT_ANSWERS_INIT;
    tacit_ciphertexts *sum = NULL, *steps = NULL;
    tacit_status status;
    tacit_logit_be_patient(self);
    TACIT_CHECK(
        tacit_logit_inverse_plan(&layout, self->plan, self->center->key, self->width, self->n, error));
    if (is_a(self)) {
        TACIT_CHECK(tacit_logit_ask(self, "step", TACIT_WEIGH_NONE, inverse, &answers, error));
        TACIT_CHECK(tacit_logit_add_up(self, &answers, "sums", 1, &sum, error));
        TACIT_CHECK(tacit_logit_add_up(self, &answers, "step", layout.blocks, &steps, error));
    }
    double begun = now();
    unsigned drop = layout.slots.slots.fraction_bits + layout.gradient_bits - self->fraction;
    const bool private = self->inverse != NULL; /* digits are lost once the noise is in the step */
    TACIT_CHECK(tacit_secure_from_ciphertexts(self->secure, self->head, self->terms + 1, &self->slots, sum,
                                              self->center->secret, 0, error));
    TACIT_CHECK(tacit_secure_from_ciphertexts(self->secure, step, self->width, &layout.slots, steps,
                                              self->center->secret, private ? 0 : drop, error));
    if (private) TACIT_CHECK(tacit_logit_noisy_step(self, &layout, step, error));
    self->center->report.center_seconds += now() - begun;
    tacit_logit_regularise(self, false, false);
cleanup:
    tacit_answers_clear(&answers);
    tacit_ciphertexts_free(sum);
    tacit_ciphertexts_free(steps);
    return status;
}

/* The bytes are a whole number of 64-bit words, so that they can be written down as opened numbers are. */
static tacit_status inverse_words(const tacit_logit *self, size_t *out, tacit_error *error) {
    enum { HEAD_BYTES = 24 };
    tacit_logit_inverse layout;
    TACIT_TRY(tacit_logit_inverse_plan(&layout, self->plan, self->center->key, self->width, self->n, error));
    size_t each = tacit_paillier_bits(self->center->key) / 4;
    *out = (HEAD_BYTES + layout.blocks * self->width * each) / sizeof(int64_t);
    return TACIT_OK;
}

tacit_status tacit_logit_inverse_known(tacit_logit *self, bool *known, tacit_buffer *out,
                                       tacit_error *error) {
    size_t words = 0;
    uint8_t *at;
    int64_t flag = 0;
    TACIT_TRY(inverse_words(self, &words, error));
    if (is_a(self)) {
        TACIT_TRY(tacit_buffer_reserve(out, words * sizeof(int64_t), &at, error));
        TACIT_TRY(tacit_session_opened(self->center->session, known, (int64_t *)(void *)at, words, error));
        if (*known) out->length += words * sizeof(int64_t);
        flag = *known;
    }
    TACIT_TRY(tacit_center_share_public(self->center, &flag, 1, error));
    *known = flag == 1;
    return TACIT_OK;
}

static tacit_status keep_inverse(tacit_logit *self, const tacit_buffer *sealed, tacit_error *error) {
    size_t words = 0;
    TACIT_TRY(inverse_words(self, &words, error));
    if (sealed->length != words * sizeof(int64_t))
        return tacit_fail(error, TACIT_INTERNAL, "the encrypted inverse has %zu bytes", sealed->length);
    return tacit_session_keep_opened(self->center->session, (const int64_t *)(const void *)sealed->bytes,
                                     words, error);
}

tacit_status tacit_logit_encrypt_inverse(tacit_logit *self, const tacit_share *inverse, tacit_buffer *out,
                                         tacit_error *error) {
    tacit_logit_inverse layout;
    TACIT_TRY(tacit_logit_inverse_plan(&layout, self->plan, self->center->key, self->width, self->n, error));
    size_t d = self->width, slots = layout.slots.slots.slots, count = layout.blocks * d * slots;
    tacit_share *values = TACIT_NEW(tacit_share, count);
    tacit_ciphertexts *sealed = NULL;
    double begun = now();
    tacit_status status = values != NULL ? TACIT_OK : tacit_fail_memory(error);
    if (status != TACIT_OK) goto cleanup;
    for (size_t block = 0; block < layout.blocks; block++)
        for (size_t column = 0; column < d; column++)
            for (size_t i = block * slots; i < d && i < (block + 1) * slots; i++)
                values[(block * d + column) * slots + i % slots] =
                    inverse[i >= column ? tacit_triangle(i, column) : tacit_triangle(column, i)];
    tacit_shares_drop(values, self->fraction - layout.slots.slots.fraction_bits, count, self->center->role);
    if (is_a(self))
        TACIT_CHECK(tacit_ciphertexts_create(&sealed, self->center->key, layout.blocks * d, error));
    TACIT_CHECK(tacit_secure_to_ciphertexts(self->secure, sealed, self->center->key, &layout.slots, values,
                                            count, error));
    if (is_a(self)) {
        TACIT_CHECK(tacit_ciphertexts_write(sealed, out, error));
        TACIT_CHECK(keep_inverse(self, out, error));
    }
cleanup:
    self->center->report.center_seconds += now() - begun;
    tacit_ciphertexts_free(sealed);
    free(values);
    return status;
}
