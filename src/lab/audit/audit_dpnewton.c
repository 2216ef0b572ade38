/*
 * An audit of dpnewton. Whoever takes part sees the moments and every step, so it is those answers that are
 * audited, at weights of the audit's choice: one party alone, one row (s, c) or (s, -c) that the weights take
 * for wrong, so that its clipped gradient is (s, c)/2 or (s, -c)/2 and the product of its two features
 * changes sign. Steps are averaged by their shares of the budget, and the moment is scaled to noise of the
 * same size: along the line through both outputs that is the best there is. dpnewton-softmax, -linear and
 * -poisson are the same row under a label of that kind: the weights take it for so wrong that its residual is
 * clipped. dpnewton-folds is the row with three folds, which two of three models see: their answers are added
 * up. dpnewton-missing counts missing values too, for a third of the budget: nothing of the row is missing on
 * one side, and everything on the other; its counts are averaged with the steps. dpnewton-person turns all
 * rows of one person about, under unit=person, and dpnewton-person-rows does so under a promise per row,
 * which does not cover it.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "lab/audit/audit_parts.h"
#include "lab/audit/turned_rows.h"
#include "method/methods.h"
#include "method/private/dpnewton.h"
#include "num/noisy/noisy_moments.h"
#include "privacy/account/gaussian.h"

enum {
    DIMENSION = 2,
    ROWS = 50,
    USUAL_ROUNDS = 10,
    CLASSES = 3,
    PERSON_ROWS = 3,
    FOLDS = 3,
    COUNTED = 2 /* columns whose missing values are counted */
};

static const double SINE = 0.2;

/* The label of a family. */
typedef struct newton_label {
    tacit_response response;
    size_t classes;
} newton_label;

typedef struct newton_case {
    newton_label label;
    bool folds;   /* cross-validation */
    bool missing; /* missing values are counted */
    bool person;  /* the first rows are one person's, and all turned about */
    tacit_schema_column column[COUNTED];
    tacit_schema schema; /* of a numeric response, or of persons; without columns, as rows are made encoded */
    tacit_turned_rows rows;
    tacit_plan plan, exact;
    dpnewton_design design, silent;
    bool sees[FOLDS]; /* whether a model sees the first row */
} newton_case;

static void close_case(tacit_audit_case *subject) {
    newton_case *self = subject->state;
    if (self == NULL) return;
    tacit_turned_rows_clear(&self->rows);
    free(self);
    subject->state = NULL;
}

/* All responses 0: far below what the weights predict for the first row; or classes, of which it has the
 * first. */
static tacit_status set_label(tacit_dataset *data, const newton_label *label, tacit_error *error) {
    if (label->classes == 2) return TACIT_OK;
    if (label->classes > 2) return tacit_levels_add(&data->classes, "another", 7, NULL, error);
    data->response = TACIT_NEW(double, data->rows);
    if (data->response == NULL) return tacit_fail_memory(error);
    tacit_levels_clear(&data->classes);
    free(data->label);
    data->label = NULL;
    return TACIT_OK;
}

/* The first rows are all the first one, and one person's; every other row is a person's of its own. */
static tacit_status set_persons(tacit_dataset *data, tacit_error *error) {
    data->group = TACIT_NEW(int32_t, data->rows);
    if (data->group == NULL) return tacit_fail_memory(error);
    data->persons = true;
    for (size_t i = 0; i < data->rows; i++) {
        data->group[i] = (int32_t)(i < PERSON_ROWS ? 0 : i);
        if (i >= PERSON_ROWS) continue;
        data->label[i] = data->label[0];
        for (size_t j = 0; j < DIMENSION; j++) data->dense.values[i * DIMENSION + j] = data->dense.values[j];
    }
    return TACIT_OK;
}

static tacit_status make_rows(newton_case *self, tacit_error *error) {
    TACIT_TRY(tacit_turned_rows_make(&self->rows, ROWS, SINE, error));
    for (int side = 0; side < 2; side++) {
        TACIT_TRY(set_label(self->rows.data[side], &self->label, error));
        if (self->person) TACIT_TRY(set_persons(self->rows.data[side], error));
        for (uint32_t j = 0; self->missing && side == 1 && j < COUNTED; j++)
            TACIT_TRY(tacit_missing_cells_add(&self->rows.data[side]->missing, 0, j, error));
    }
    return tacit_turned_rows_start(&self->rows, error);
}

/* The second moment that is off the diagonal, packed. */
static tacit_status ask_moment(tacit_session *session, const dpnewton_design *design, double *out,
                               tacit_error *error) {
    tacit_sum sum = TACIT_SUM_INIT;
    tacit_status status = audit_ask_at(session, "moments", NULL, 0, &design->moments, &sum, error);
    if (status == TACIT_OK) *out = sum.values[1];
    tacit_sum_clear(&sum);
    return status;
}

/* With classes the last row of weights, that of a class which the first row has not, and the mean of its two
 * classes' pulls, opposite and alike, as one number: (g_last - g_first)/sqrt(2). */
static tacit_status add_step(tacit_session *session, const dpnewton_design *design, double weight,
                             double *into, tacit_error *error) {
    double at[CLASSES * DIMENSION] = { 0 };
    size_t size = design->scores * DIMENSION, last = size - DIMENSION;
    at[last] = 100;
    tacit_sum sum = TACIT_SUM_INIT;
    tacit_status status = audit_ask_at(session, "gradient", at, size, &design->gradient, &sum, error);
    for (size_t j = 0; status == TACIT_OK && j < DIMENSION; j++)
        into[j] += weight * (last == 0 ? sum.values[j] : (sum.values[last + j] - sum.values[j]) * M_SQRT1_2);
    tacit_sum_clear(&sum);
    return status;
}

/* The same of all models that see the row, by the root of their number, which leaves the noise as it is. */
static tacit_status add_fold_step(const newton_case *self, tacit_session *session,
                                  const dpnewton_design *design, double weight, double *into,
                                  tacit_error *error) {
    double at[FOLDS * DIMENSION] = { 0 };
    tacit_sum sum = TACIT_SUM_INIT;
    for (size_t f = 0; f < FOLDS; f++) at[f * DIMENSION] = 100;
    tacit_status status =
        audit_ask_at(session, "gradient", at, design->gradient.length, &design->gradient, &sum, error);
    for (size_t f = 0; status == TACIT_OK && f < FOLDS; f++)
        for (size_t j = 0; self->sees[f] && j < DIMENSION; j++)
            into[j] += weight * sum.values[f * DIMENSION + j] / sqrt(FOLDS - 1);
    tacit_sum_clear(&sum);
    return status;
}

/* The counts, which all move alike, as one number with the noise of the mean of the steps. */
static tacit_status ask_missing(const newton_case *self, tacit_session *session,
                                const dpnewton_design *design, double rest, double *out, tacit_error *error) {
    const dpnewton_release *release = &self->design.missing.release;
    tacit_sum sum = TACIT_SUM_INIT;
    double mean = 0;
    if (!self->missing) return TACIT_OK;
    TACIT_TRY(audit_ask_at(session, "missing", NULL, 0, &design->missing.spec, &sum, error));
    for (size_t j = 0; j < COUNTED; j++) mean += sum.values[j] / sqrt(COUNTED);
    *out = mean * sqrt(release->share / rest) * self->design.release[1].mechanism.sensitivity /
           release->mechanism.sensitivity;
    tacit_sum_clear(&sum);
    return TACIT_OK;
}

/* Which models see the first row. */
static tacit_status find_folds(newton_case *self, tacit_error *error) {
    const tacit_view rows = tacit_dataset_view(self->rows.data[0]);
    tacit_folds folds;
    if (!self->folds) return TACIT_OK;
    TACIT_TRY(tacit_folds_assign_places(&folds, &rows, self->design.folds, error));
    for (size_t f = 0; f < FOLDS; f++) self->sees[f] = folds.fold[0] != f;
    tacit_folds_clear(&folds);
    return TACIT_OK;
}

static tacit_status draw_answers(tacit_audit_case *subject, int side, const tacit_stream *stream, double *out,
                                 tacit_error *error) {
    newton_case *self = subject->state;
    const dpnewton_design *design = stream != NULL ? &self->design : &self->silent;
    const dpnewton_release *releases = self->design.release;
    double first = releases[0].share,
           rest = 1 - first - self->design.held_out.share - self->design.missing.release.share;
    tacit_session session;
    TACIT_TRY(tacit_turned_rows_begin(&self->rows, side, &self->plan, &self->exact, stream,
                                      subject->entropy != NULL, &session, error));
    memset(out, 0, subject->length * sizeof *out);
    TACIT_TRY(ask_moment(&session, design, &out[DIMENSION], error));
    out[DIMENSION] *=
        sqrt(first / rest) * releases[1].mechanism.sensitivity / releases[0].mechanism.sensitivity;
    for (size_t t = 1; t <= design->rounds; t++) {
        const double weight = releases[t].share / rest;
        TACIT_TRY(self->folds ? add_fold_step(self, &session, design, weight, out, error)
                              : add_step(&session, design, weight, out, error));
    }
    return ask_missing(self, &session, design, rest, &out[DIMENSION + 1], error);
}

/* How far apart the mean of the steps is without noise, of the sensitivity that the method declares. */
static tacit_status measure_reach(tacit_audit_case *out, tacit_error *error) {
    newton_case *self = out->state;
    double at[2][DIMENSION + 2], square = 0;
    for (int side = 0; side < 2; side++) TACIT_TRY(draw_answers(out, side, NULL, at[side], error));
    for (size_t j = 0; j < DIMENSION + 2; j++)
        if (j != DIMENSION && j < out->length) square += pow(at[0][j] - at[1][j], 2);
    const double counts = self->design.missing.release.share,
                 rest = 1 - self->design.release[0].share - self->design.held_out.share - counts;
    out->reach = sqrt(square / (1 + counts / rest)) / self->design.release[1].mechanism.sensitivity;
    return TACIT_OK;
}

/* The noise of a price at which each step alone costs what all together are charged. */
static tacit_status thin_noise(tacit_plan *plan, size_t rounds, tacit_error *error) {
    double sigma = 0;
    TACIT_TRY(tacit_gaussian_sigma(&sigma, plan->epsilon, plan->delta, 1, error));
    return tacit_gaussian_epsilon(&plan->epsilon, sigma / sqrt((double)rounds), plan->delta, error);
}

/* A column for each feature; what is missing of them is filled. */
static tacit_status set_missing(newton_case *self, tacit_error *error) {
    static char names[COUNTED][2] = { "a", "b" };
    for (size_t j = 0; j < COUNTED; j++)
        self->column[j] = (tacit_schema_column){
            .name = names[j], .kind = TACIT_SCHEMA_NUMBER, .low = -1, .high = 1, .missing = TACIT_MISSING_FILL
        };
    self->schema.columns = self->column;
    self->schema.cols = COUNTED;
    self->plan.schema = &self->schema;
    return tacit_plan_set(&self->plan, "missing_counts", "0.333", error);
}

/* The schema of rows that are made encoded says what the response is, and that persons are known. */
static tacit_status set_schema(newton_case *self, bool per_person, tacit_error *error) {
    static char patient[] = "patient";
    char number[32];
    self->schema = (tacit_schema){ .response = self->label.response, .high = 9 };
    if (self->label.classes == 0 || self->person) self->plan.schema = &self->schema;
    if (self->missing) return set_missing(self, error);
    if (!self->person) return TACIT_OK;
    self->schema.person = patient;
    snprintf(number, sizeof number, "%d", PERSON_ROWS);
    TACIT_TRY(tacit_plan_set(&self->plan, "person-rows", number, error));
    return tacit_plan_set(&self->plan, "unit", per_person ? "person" : "record", error);
}

static tacit_status set_plan(newton_case *self, const tacit_audit_setup *setup, bool thin,
                             tacit_audit_case *out, tacit_error *error) {
    tacit_plan *plan = &self->plan;
    tacit_prices prices = { .event = { .count = 0 } };
    char number[32];
    TACIT_TRY(tacit_audit_plan(plan, &tacit_method_dpnewton, setup, error));
    TACIT_TRY(tacit_turned_rows_plan(plan, DIMENSION, self->person ? ROWS - PERSON_ROWS + 1 : ROWS, error));
    uint64_t set = dpnewton_settings_of(plan)->rounds;
    snprintf(number, sizeof number, "%zu", set > 0 ? (size_t)set : USUAL_ROUNDS);
    TACIT_TRY(tacit_plan_set(plan, "rounds", number, error));
    snprintf(number, sizeof number, "%d", self->folds ? FOLDS : 0);
    TACIT_TRY(tacit_plan_set(plan, "folds", number, error));
    plan->classes = self->label.classes;
    TACIT_TRY(set_schema(self, !thin, error));
    if (plan->lambda == 0) plan->lambda = 0.01;
    TACIT_TRY(tacit_plan_check(plan, error));
    TACIT_TRY(tacit_plan_price(plan, &prices, error));
    out->charged = prices.charged;
    self->exact = *plan;
    self->exact.epsilon = INFINITY;
    if (thin && !self->person) TACIT_TRY(thin_noise(plan, dpnewton_settings_of(plan)->rounds, error));
    TACIT_TRY(dpnewton_describe(plan, &self->design, error));
    return dpnewton_describe(&self->exact, &self->silent, error);
}

/* `thin`: too little noise, as if one step were all or, of a person, as if its rows were strangers'. */
static tacit_status open_any(tacit_audit_case *out, const tacit_audit_setup *setup, newton_case like,
                             bool thin, tacit_error *error) {
    newton_case *self = TACIT_NEW(newton_case, 1);
    if (self == NULL) return tacit_fail_memory(error);
    out->state = self;
    *self = like;
    out->length = DIMENSION + 1 + self->missing;
    TACIT_TRY(make_rows(self, error));
    TACIT_TRY(set_plan(self, setup, thin, out, error));
    TACIT_TRY(find_folds(self, error));
    snprintf(out->pair, sizeof out->pair, "%s turned about%s, seen through the moments and %zu steps%s",
             self->person ? "all rows of one person" : "one row", self->missing ? " and missing" : "",
             self->design.rounds, self->missing ? ", and counts" : "");
    return measure_reach(out, error);
}

static tacit_status open_case(tacit_audit_case *out, const tacit_audit_setup *setup, newton_label label,
                              bool person, bool thin, tacit_error *error) {
    return open_any(out, setup, (newton_case){ .label = label, .person = person }, thin, error);
}

static const newton_label two_classes = { TACIT_RESPONSE_CLASS, 2 };

static tacit_status open_folds(tacit_audit_case *out, const tacit_audit_setup *setup, tacit_error *error) {
    return open_any(out, setup, (newton_case){ .label = two_classes, .folds = true }, false, error);
}

static tacit_status open_missing(tacit_audit_case *out, const tacit_audit_setup *setup, tacit_error *error) {
    return open_any(out, setup, (newton_case){ .label = two_classes, .missing = true }, false, error);
}

static tacit_status open_sound(tacit_audit_case *out, const tacit_audit_setup *setup, tacit_error *error) {
    return open_case(out, setup, two_classes, false, false, error);
}

static tacit_status open_softmax(tacit_audit_case *out, const tacit_audit_setup *setup, tacit_error *error) {
    return open_case(out, setup, (newton_label){ TACIT_RESPONSE_CLASS, CLASSES }, false, false, error);
}

static tacit_status open_linear(tacit_audit_case *out, const tacit_audit_setup *setup, tacit_error *error) {
    return open_case(out, setup, (newton_label){ TACIT_RESPONSE_NUMBER, 0 }, false, false, error);
}

static tacit_status open_poisson(tacit_audit_case *out, const tacit_audit_setup *setup, tacit_error *error) {
    return open_case(out, setup, (newton_label){ TACIT_RESPONSE_COUNT, 0 }, false, false, error);
}

static tacit_status open_thin(tacit_audit_case *out, const tacit_audit_setup *setup, tacit_error *error) {
    return open_case(out, setup, two_classes, false, true, error);
}

static tacit_status open_person(tacit_audit_case *out, const tacit_audit_setup *setup, tacit_error *error) {
    return open_case(out, setup, two_classes, true, false, error);
}

static tacit_status open_person_rows(tacit_audit_case *out, const tacit_audit_setup *setup,
                                     tacit_error *error) {
    return open_case(out, setup, two_classes, true, true, error);
}

const tacit_auditable tacit_audit_dpnewton = {
    .name = "dpnewton",
    .title = "Newton steps with noise, the moments and all steps seen",
    .open = open_sound,
    .draw = draw_answers,
    .close = close_case,
};

#define FAMILY_SUBJECT(family, words)                                                                        \
    const tacit_auditable tacit_audit_dpnewton_##family = {                                                  \
        .name = "dpnewton-" #family,                                                                         \
        .title = "the same with " words,                                                                     \
        .open = open_##family,                                                                               \
        .draw = draw_answers,                                                                                \
        .close = close_case,                                                                                 \
    };
FAMILY_SUBJECT(softmax, "three classes")
FAMILY_SUBJECT(linear, "a number as the response")
FAMILY_SUBJECT(poisson, "a count as the response")
FAMILY_SUBJECT(folds, "cross-validation, the models' steps seen")
FAMILY_SUBJECT(missing, "missing values counted, the counts seen")
FAMILY_SUBJECT(person, "all rows of a person protected (unit=person)")

const tacit_auditable tacit_audit_dpnewton_person_rows = {
    .name = "dpnewton-person-rows",
    .title = "the same with rows protected one by one: a control that an audit must find broken",
    .open = open_person_rows,
    .draw = draw_answers,
    .close = close_case,
};

const tacit_auditable tacit_audit_dpnewton_thin = {
    .name = "dpnewton-thin",
    .title = "the same with noise as if one step were all: a control that an audit must find broken",
    .open = open_thin,
    .draw = draw_answers,
    .close = close_case,
};
