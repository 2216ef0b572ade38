/* The party's half of method mixed: the likelihood of its own clusters (mixed.c says what it is for). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "method/exact/mixed.h"
#include "method/methods.h"

/* ---- what both halves know ---- */

static const tacit_family *family_of(const tacit_plan *plan) {
    char name[TACIT_SETTING_SIZE];
    const unsigned family = mixed_settings_of(plan)->family;
    if (family != MIXED_FAMILY_AUTO)
        return tacit_family_find(tacit_setting_word(MIXED_FAMILIES, family, name));
    tacit_response response = plan->schema != NULL ? plan->schema->response : TACIT_RESPONSE_NUMBER;
    return plan->classes > 0 ? tacit_family_for(plan->classes) : tacit_family_of(response, 0);
}

static tacit_status find_slope(mixed_design *out, const char *name, tacit_error *error) {
    tacit_buffer text = TACIT_BUFFER_INIT;
    tacit_status status = TACIT_OK;
    for (out->slope = 0; out->slope < out->columns.width && status == TACIT_OK; out->slope++) {
        tacit_buffer_clear(&text);
        status = tacit_design_name(&out->columns, out->slope, &text, error);
        if (status == TACIT_OK && strcmp(tacit_buffer_text(&text), name) == 0) break;
    }
    tacit_buffer_clear(&text);
    if (status == TACIT_OK && out->slope == out->columns.width)
        status =
            tacit_fail(error, TACIT_USAGE,
                       "slope=%s: there is no coefficient of that name; it is one of a column or term", name);
    return status;
}

/* That there is one, and that label and likelihood are such as clusters have here. */
static tacit_status check_family(const tacit_family *family, const tacit_plan *plan, tacit_error *error) {
    if (family == NULL) return tacit_methods_check_label(plan, error);
    bool classes = family->response == TACIT_RESPONSE_CLASS,
         known = family->quadratic || family->skewness != NULL;
    if (!known || family->loss.several != NULL || family->loss.columns != 1)
        return tacit_fail(error, TACIT_USAGE,
                          "method mixed has families linear, logistic and poisson, not %s", family->name);
    if (classes ? plan->classes != 2 : plan->classes > 0 || plan->schema == NULL)
        return tacit_fail(error, TACIT_USAGE, "family %s needs a label of %s", family->name,
                          classes ? "two classes" : "numbers");
    if (family->response == TACIT_RESPONSE_COUNT && plan->schema->response != TACIT_RESPONSE_COUNT)
        return tacit_fail(error, TACIT_USAGE, "family %s needs a label of kind count", family->name);
    return TACIT_OK;
}

/* By the setting, or by the formula's random effects, which the setting must not contradict. NULL: there
 * is none. */
static tacit_status choose_slope(const tacit_plan *plan, const char **out, tacit_error *error) {
    const mixed_settings *settings = mixed_settings_of(plan);
    bool party;
    const char *slope;
    *out = strcmp(settings->slope, "none") == 0 ? NULL : settings->slope;
    if (plan->schema == NULL || plan->schema->formula == NULL ||
        !tacit_formula_random(plan->schema->formula, &party, &slope))
        return TACIT_OK;
    if (party != (settings->group == MIXED_BY_PARTY))
        return tacit_fail(error, TACIT_USAGE,
                          "the terms have random effects of each %s: set group=%s, or change the terms",
                          party ? "party" : "person", party ? "party" : "person");
    if (*out != NULL && (slope == NULL || strcmp(*out, slope) != 0))
        return tacit_fail(error, TACIT_USAGE,
                          "slope=%s is not the effect that the terms have random: leave the setting out, or "
                          "change the terms",
                          *out);
    *out = slope;
    return TACIT_OK;
}

tacit_status mixed_design_create(mixed_design *out, const tacit_plan *plan, tacit_error *error) {
    const char *slope = NULL;
    TACIT_TRY(choose_slope(plan, &slope, error));
    *out = (mixed_design){ .family = family_of(plan), .terms = slope == NULL ? 1 : 2, .slope_name = slope };
    TACIT_TRY(check_family(out->family, plan, error));
    TACIT_TRY(tacit_design_create(&out->columns, out->family, plan->schema, plan->features, error));
    out->theta = mixed_theta_count(out->terms);
    out->fields = out->columns.width + 1;
    if (out->terms == 1) return TACIT_OK;
    tacit_status status = find_slope(out, slope, error);
    if (status != TACIT_OK) mixed_design_clear(out);
    return status;
}

void mixed_design_clear(mixed_design *design) { tacit_design_clear(&design->columns); }

static int party_bits(const tacit_plan *plan) {
    int bits;
    frexp((double)plan->parties, &bits);
    return bits;
}

tacit_sum_spec mixed_start_sum(const tacit_plan *plan) {
    enum { BITS = 36 };
    return (tacit_sum_spec){ MIXED_START + missing_sum_behind(plan), ldexp(1, BITS),
                             61 - BITS - party_bits(plan) };
}

tacit_sum_spec mixed_sum(const tacit_plan *plan, double n, int room, size_t length) {
    double bound = ldexp(fmax(1, n), room);
    int bits;
    frexp(bound, &bits);
    return (tacit_sum_spec){ MIXED_HEAD + length, bound, 62 - bits - party_bits(plan) };
}

size_t mixed_squares_length(const mixed_design *design) { return design->fields * (design->fields + 1) / 2; }

size_t mixed_sums_length(const mixed_design *design) {
    if (design->family->quadratic) return mixed_linear_length(design->terms, design->fields);
    return mixed_length(design->columns.width, design->terms);
}

double mixed_opened(const mixed_design *design, uint64_t round) {
    if (design->family->quadratic) return round < 2 ? 0 : (double)(round - 1) * (double)(1 + design->theta);
    return (double)round;
}

/* ---- clusters ---- */

/* Rows by cluster: those of cluster c are order[start[c]] to order[start[c + 1]] - 1. */
typedef struct clustering {
    size_t count;
    size_t *start;
    uint32_t *order;
    int32_t *place; /* of a group, from 1 on; 0: no row is of it */
    size_t most;    /* rows of the largest */
} clustering;

static void clear_clustering(clustering *self) {
    free(self->start);
    free(self->order);
    free(self->place);
}

static tacit_status place_groups(clustering *out, const tacit_view *rows, tacit_error *error) {
    int32_t most = 0;
    for (size_t i = 0; i < rows->rows.count; i++) {
        int32_t group = rows->group[tacit_rows_stored(&rows->rows, i)];
        if (group < 0) return tacit_fail(error, TACIT_INPUT, "row %zu is nobody's", i + 1);
        if (group > most) most = group;
    }
    out->place = TACIT_NEW(int32_t, (size_t)most + 1);
    if (out->place == NULL) return tacit_fail_memory(error);
    for (size_t i = 0; i < rows->rows.count; i++) {
        int32_t *place = &out->place[rows->group[tacit_rows_stored(&rows->rows, i)]];
        if (*place == 0) *place = (int32_t)++out->count;
    }
    return TACIT_OK;
}

static size_t cluster_of(const clustering *self, const tacit_view *rows, size_t i) {
    if (self->place == NULL) return 0;
    return (size_t)self->place[rows->group[tacit_rows_stored(&rows->rows, i)]] - 1;
}

static tacit_status make_clustering(clustering *out, const tacit_party *party, tacit_error *error) {
    const tacit_view *rows = &party->rows;
    *out = (clustering){ .count = 1 };
    if (mixed_settings_of(party->plan)->group == MIXED_BY_PERSON) {
        out->count = 0;
        if (rows->group == NULL || !rows->persons)
            return tacit_fail(error, TACIT_INPUT,
                              "group=person needs to know whose row each is, and the rows have no column "
                              "that the schema names as 'person'");
        TACIT_TRY(place_groups(out, rows, error));
    }
    out->start = TACIT_NEW(size_t, out->count + 2);
    out->order = TACIT_NEW(uint32_t, rows->rows.count + 1);
    if (out->start == NULL || out->order == NULL) return tacit_fail_memory(error);
    for (size_t i = 0; i < rows->rows.count; i++) out->start[cluster_of(out, rows, i) + 2]++;
    for (size_t c = 0; c < out->count; c++) {
        if (out->start[c + 2] > out->most) out->most = out->start[c + 2];
        out->start[c + 2] += out->start[c + 1];
    }
    for (size_t i = 0; i < rows->rows.count; i++)
        out->order[out->start[cluster_of(out, rows, i) + 1]++] = (uint32_t)i;
    return TACIT_OK;
}

/* ---- a pass over the rows ---- */

enum { FAR, CURVATURES, CURVATURES_SQUARED, LOOKS };

typedef struct pass {
    const tacit_party *party;
    mixed_design design;
    clustering clusters;
    double *row; /* all features of a row */
    double *x;   /* of a cluster's rows: their columns; then slopes, responses, room */
    double look[LOOKS];
} pass;

static tacit_status begin_pass(pass *self, const tacit_party *party, tacit_error *error) {
    const tacit_view *rows = &party->rows;
    *self = (pass){ .party = party };
    TACIT_TRY(tacit_design_check_rows(party->plan->schema, rows, error));
    TACIT_TRY(tacit_party_prepared(party, &self->design, error));
    bool classes = self->design.family->loss.of_classes;
    if (classes ? rows->label == NULL : rows->response == NULL || tacit_view_columns(rows) != 1)
        return tacit_fail(error, TACIT_INPUT, "the rows have no %s", classes ? "classes" : "response");
    TACIT_TRY(make_clustering(&self->clusters, party, error));
    const size_t most = self->clusters.most, width = self->design.columns.width;
    self->row = TACIT_NEW(double, party->plan->features);
    self->x = TACIT_NEW(double, most *(width + 2) + mixed_room(most, width, self->design.terms));
    return self->row != NULL && self->x != NULL ? TACIT_OK : tacit_fail_memory(error);
}

static void end_pass(pass *self) {
    free(self->row);
    free(self->x);
    clear_clustering(&self->clusters);
}

static double response_of(const pass *self, size_t i) {
    const tacit_view *rows = &self->party->rows;
    if (self->design.family->loss.of_classes) return tacit_view_label(rows, i);
    return (tacit_view_response(rows, i) - self->design.columns.middle) / self->design.columns.half;
}

/* The rows of a cluster, side by side. */
static mixed_rows gather(pass *self, size_t cluster) {
    const size_t first = self->clusters.start[cluster], count = self->clusters.start[cluster + 1] - first;
    const size_t width = self->design.columns.width;
    double *z = self->x + count * width, *y = z + count;
    for (size_t k = 0; k < count; k++) {
        size_t i = self->clusters.order[first + k];
        tacit_rows_copy(&self->party->rows.rows, i, self->row);
        for (size_t j = 0; j < width; j++) self->x[k * width + j] = self->row[self->design.columns.kept[j]];
        z[k] = self->x[k * width + self->design.slope];
        y[k] = response_of(self, i);
    }
    return (mixed_rows){ .family = self->design.family,
                         .count = count,
                         .width = width,
                         .terms = self->design.terms,
                         .x = self->x,
                         .z = self->design.terms > 1 ? z : NULL,
                         .y = y,
                         .room = y + count };
}

/* S = Z^T Z and T = Z^T F of a cluster. */
static void products(const mixed_rows *rows, double s[4], double *t) {
    const size_t width = rows->width, fields = width + 1;
    memset(s, 0, 4 * sizeof *s);
    memset(t, 0, 2 * fields * sizeof *t);
    for (size_t k = 0; k < rows->count; k++) {
        double z = rows->z != NULL ? rows->z[k] : 0;
        s[0] += 1;
        s[1] += z;
        s[3] += z * z;
        for (size_t j = 0; j < fields; j++) {
            double value = j < width ? rows->x[k * width + j] : rows->y[k];
            t[j] += value;
            t[fields + j] += z * value;
        }
    }
    s[2] = s[1];
}

/* ---- what a party looks at before exact sums leave ---- */

static bool is_real(const tacit_party *party) {
    return party->gate != NULL && party->gate->mode == TACIT_GATE_REAL;
}

static tacit_status check_clusters(const pass *self, const tacit_question *question, tacit_error *error) {
    const tacit_party *party = self->party;
    const double minimum = (double)party->gate->policy->minimum_rows;
    if (question->round >= MIXED_MOST_ROUNDS)
        return tacit_fail(error, TACIT_REFUSED,
                          "the coordinator asks in round %llu, and an honest fit takes fewer than %d",
                          (unsigned long long)question->round, MIXED_MOST_ROUNDS);
    if (mixed_settings_of(party->plan)->group == MIXED_BY_PERSON) {
        if ((double)self->clusters.count >= minimum) return TACIT_OK;
        return tacit_fail(error, TACIT_REFUSED,
                          "a party has fewer persons than its owner's minimum of %.0f: sums over few persons "
                          "can be solved for them",
                          minimum);
    }
    double others = (double)party->plan->minimum_parties - (double)tacit_plan_colluders(party->plan);
    if (mixed_opened(&self->design, question->round) < others) return TACIT_OK;
    return tacit_fail(error, TACIT_REFUSED,
                      "with group: party every sum has one term for each party, and by round %llu as many "
                      "have been opened as determine each party's: that takes more parties",
                      (unsigned long long)question->round);
}

static tacit_status check_weights(const pass *self, tacit_error *error) {
    const double *look = self->look, minimum = (double)self->party->gate->policy->minimum_rows;
    if (look[FAR] > 0)
        return tacit_fail(error, TACIT_REFUSED,
                          "at the coordinator's weights %.0f rows of this party have scores beyond %g: there "
                          "is no finite estimate, or the weights are intended to single rows out",
                          look[FAR], MIXED_MOST_SCORE);
    if (look[CURVATURES] * look[CURVATURES] >= minimum * look[CURVATURES_SQUARED]) return TACIT_OK;
    return tacit_fail(error, TACIT_REFUSED,
                      "at the coordinator's weights %.3g rows make up almost all of this party's sums, fewer "
                      "than the owner's minimum of %.0f: exact sums would reveal these rows",
                      look[CURVATURES] * look[CURVATURES] / look[CURVATURES_SQUARED], minimum);
}

/* Scores without random effects. */
static void look_at_rows(pass *self, const mixed_rows *rows, const double *beta) {
    const tacit_loss *loss = &rows->family->loss;
    for (size_t k = 0; k < rows->count; k++) {
        double score = 0, value, slope, curvature;
        for (size_t j = 0; j < rows->width; j++) score += rows->x[k * rows->width + j] * beta[j];
        loss->rows(tacit_kernels_choose(), loss->shape_default, 1, rows->y + k, &score, &value, &slope,
                   &curvature);
        self->look[FAR] += !(fabs(score) <= MIXED_MOST_SCORE);
        self->look[CURVATURES] += curvature;
        self->look[CURVATURES_SQUARED] += curvature * curvature;
    }
}

/* ---- answers ---- */

static tacit_status begin_reply(const tacit_party *party, const tacit_question *question,
                                const tacit_sum_spec *spec, tacit_reply *reply, tacit_error *error) {
    if (!question->wants_sum || !tacit_sum_spec_equal(&question->sum, spec))
        return tacit_fail(error, TACIT_REFUSED,
                          "the coordinator asks for another sum than the study defines");
    return tacit_estimate_begin_reply(party, spec->length, reply, error);
}

static void finish_reply(const tacit_party *party, const tacit_sum_spec *spec, double *values) {
    values[0] = ldexp((double)party->total_rows, -spec->grid_bits);
    for (size_t j = 0; j < spec->length; j++) values[j] = fmax(-spec->bound, fmin(spec->bound, values[j]));
}

static tacit_status answer_rows(tacit_party *party, const tacit_question *question, tacit_reply *reply,
                                tacit_error *error) {
    tacit_sum_spec spec = mixed_start_sum(party->plan);
    pass self;
    tacit_status status = begin_pass(&self, party, error);
    if (status != TACIT_OK) goto cleanup;
    TACIT_CHECK(begin_reply(party, question, &spec, reply, error));
    if (is_real(party)) TACIT_CHECK(check_clusters(&self, question, error));
    double *values = reply->contribution;
    values[1] = (double)self.clusters.count;
    for (size_t i = 0; i < party->rows.rows.count && !self.design.family->quadratic; i++) {
        double y = response_of(&self, i);
        values[2] += y;
        if (!self.design.family->loss.of_classes) values[3] += lgamma(y + 1);
    }
    values[0] = (double)party->total_rows;
    for (size_t j = 0; j < MIXED_START; j++) values[j] = fmin(spec.bound, values[j]);
    if (spec.length > MIXED_START)
        TACIT_CHECK(missing_sum_add_up(party, spec.bound, values + MIXED_START, error));
cleanup:
    end_pass(&self);
    return status;
}

static tacit_status answer_squares(tacit_party *party, const tacit_question *question, tacit_reply *reply,
                                   tacit_error *error) {
    double n;
    pass self;
    TACIT_TRY(tacit_estimate_read_total(party, question, &n, error));
    tacit_status status = begin_pass(&self, party, error);
    if (status != TACIT_OK) goto cleanup;
    tacit_sum_spec spec = mixed_sum(party->plan, n, 0, mixed_squares_length(&self.design));
    if (!self.design.family->quadratic)
        TACIT_CHECK(tacit_fail(error, TACIT_REFUSED,
                               "the coordinator asks for squares, which family %s has no use for",
                               self.design.family->name));
    TACIT_CHECK(begin_reply(party, question, &spec, reply, error));
    if (is_real(party)) TACIT_CHECK(check_clusters(&self, question, error));
    for (size_t c = 0; c < self.clusters.count; c++) {
        mixed_rows rows = gather(&self, c);
        for (size_t k = 0; k < rows.count; k++) {
            double *out = reply->contribution + MIXED_HEAD;
            const double *x = rows.x + k * rows.width;
            for (size_t i = 0; i <= rows.width; i++)
                for (size_t j = 0; j <= i; j++)
                    *out++ += (i < rows.width ? x[i] : rows.y[k]) * (j < rows.width ? x[j] : rows.y[k]);
        }
    }
    finish_reply(party, &spec, reply->contribution);
cleanup:
    end_pass(&self);
    return status;
}

static void add_linear(pass *self, const double *theta, double *out) {
    double s[4];
    for (size_t c = 0; c < self->clusters.count; c++) {
        mixed_rows rows = gather(self, c);
        products(&rows, s, rows.room);
        mixed_linear_add(self->design.terms, theta, s, rows.room, self->design.fields, out);
    }
}

/* Where a cluster has no mode within reach the likelihood is as small as can be said. */
static void add_others(pass *self, const double *beta, const double *theta, double bound, double *out) {
    mixed_quadrature quadrature;
    mixed_quadrature_make(&quadrature,
                          self->design.terms > 1 ? 1 : mixed_settings_of(self->party->plan)->nodes);
    for (size_t c = 0; c < self->clusters.count; c++) {
        mixed_rows rows = gather(self, c);
        look_at_rows(self, &rows, beta);
        if (!mixed_add(&rows, &quadrature, beta, theta, out)) out[0] = -bound;
    }
    for (size_t j = 0; j < mixed_sums_length(&self->design); j++)
        if (!isfinite(out[j])) out[j] = -bound;
}

static tacit_status read_theta(const tacit_question *question, size_t count, const double **out,
                               tacit_error *error) {
    TACIT_TRY(tacit_message_numbers(question->message, "theta", count, out, error));
    for (size_t k = 0; k < count; k++)
        if (!(fabs((*out)[k]) <= MIXED_MOST_THETA))
            return tacit_fail(error, TACIT_REFUSED, "the coordinator names a random effect beyond %g",
                              MIXED_MOST_THETA);
    return TACIT_OK;
}

static tacit_status answer_sums(tacit_party *party, const tacit_question *question, tacit_reply *reply,
                                tacit_error *error) {
    const int64_t *room;
    const double *theta, *beta;
    double n;
    pass self;
    TACIT_TRY(tacit_estimate_read_total(party, question, &n, error));
    tacit_status status = begin_pass(&self, party, error);
    if (status != TACIT_OK) goto cleanup;
    const bool linear = self.design.family->quadratic;
    TACIT_CHECK(tacit_message_integers(question->message, "room", 1, &room, error));
    TACIT_CHECK(read_theta(question, self.design.theta, &theta, error));
    if (!linear)
        TACIT_CHECK(
            tacit_message_numbers(question->message, "weights", self.design.columns.width, &beta, error));
    if (*room < 0 || *room > MIXED_MOST_ROOM)
        TACIT_CHECK(tacit_fail(error, TACIT_PROTOCOL, "the coordinator asks for a sum with no room"));
    tacit_sum_spec spec = mixed_sum(party->plan, n, (int)*room, mixed_sums_length(&self.design));
    TACIT_CHECK(begin_reply(party, question, &spec, reply, error));
    if (is_real(party)) TACIT_CHECK(check_clusters(&self, question, error));
    if (linear)
        add_linear(&self, theta, reply->contribution + MIXED_HEAD);
    else
        add_others(&self, beta, theta, spec.bound, reply->contribution + MIXED_HEAD);
    if (is_real(party) && !linear) TACIT_CHECK(check_weights(&self, error));
    finish_reply(party, &spec, reply->contribution);
cleanup:
    end_pass(&self);
    return status;
}

const tacit_handler_entry mixed_handlers[] = {
    { .question = "rows", .answer = answer_rows },
    { .question = "squares", .answer = answer_squares },
    { .question = "sums", .answer = answer_sums },
    { .question = NULL },
};
