/*
 * dpnewton for every family: no neighbour moves a step beyond the declared sensitivity, whatever the weights
 * and the responses, and without clipping it would; without noise the steps end where the clipped equation is
 * solved; with noise the model is worth having; a response that no family takes is refused with the remedy.
 */
#include "check.h"

#include "lab/audit/audit.h"
#include "method/private/dpnewton.h"
#include "parties.h"

enum { FEATURES = 4, CLASSES = 3, MOST = FEATURES * CLASSES };

/* A family by its label. */
typedef struct kind {
    const char *name, *label;
    size_t classes;
    double low, high;
} kind;

static const kind kinds[] = {
    { "logistic", "{name: y, classes: [a, b]}", 2, 0, 0 },
    { "softmax", "{name: y, classes: [a, b, c]}", CLASSES, 0, 0 },
    { "linear", "{name: y, kind: number, low: -20, high: 40}", 0, -20, 40 },
    { "poisson", "{name: y, kind: count, low: 0, high: 9}", 0, 0, 9 },
};
enum { KINDS = sizeof kinds / sizeof *kinds };

static tacit_schema *schema_of(const char *label) {
    char text[400];
    tacit_error error = TACIT_ERROR_INIT;
    tacit_schema *schema = NULL;
    snprintf(text, sizeof text,
             "label: %s\ncolumns:\n"
             "  - {name: u, kind: number, low: -1, high: 1}\n"
             "  - {name: v, kind: number, low: -1, high: 1}\n"
             "  - {name: w, kind: number, low: -1, high: 1}\n"
             "intercept: yes\n",
             label);
    CHECK_OK(tacit_schema_parse(&schema, text, strlen(text), "test", &error), error);
    return schema;
}

/* Three features, and the intercept as the schema encodes it. */
static void set_row(tacit_dataset *data, size_t i, const tacit_schema *schema, const double u[3]) {
    double intercept = tacit_schema_intercept_value(schema);
    for (size_t j = 0; j < 3; j++)
        data->dense.values[i * FEATURES + j] = u[j] / sqrt(3) * sqrt(1 - intercept * intercept);
    data->dense.values[i * FEATURES + 3] = intercept;
}

/* The response of scores, one a class or one, that are the features themselves. */
static void set_response(tacit_dataset *data, size_t i, const kind *of, const double u[3],
                         tacit_stream *stream) {
    if (of->classes > 0) {
        double most = -INFINITY;
        for (size_t k = 0; k < of->classes; k++) {
            double score = (of->classes == 2 ? (double)k * 2 : 1) * u[k] * 3 -
                           log(-log(tacit_stream_unit(stream) * (1 - 1e-12) + 1e-13));
            if (score > most) data->label[i] = (int32_t)k;
            most = fmax(most, score);
        }
        return;
    }
    if (of->low < 0) {
        double noise = tacit_stream_unit(stream) + tacit_stream_unit(stream) - 1;
        data->response[i] = fmin(fmax(5 + 12 * u[0] - 8 * u[1] + 4 * noise, of->low), of->high);
        return;
    }
    double left = exp(0.4 + 0.6 * u[0] - 0.4 * u[1]), count = 0;
    while ((left += log(tacit_stream_unit(stream) * (1 - 1e-12) + 1e-13)) > 0 && count < of->high) count++;
    data->response[i] = count;
}

static tacit_dataset *rows_of(const kind *of, const tacit_schema *schema, size_t rows, uint64_t seed) {
    static const char *const names[] = { "a", "b", "c" };
    tacit_error error = TACIT_ERROR_INIT;
    tacit_dataset *data = NULL;
    tacit_stream stream = tacit_stream_from_seed(seed);
    CHECK_OK(tacit_dataset_create(&data, rows, FEATURES, names, of->classes > 0 ? of->classes : 2, &error),
             error);
    if (of->classes == 0) {
        tacit_levels_clear(&data->classes);
        free(data->label);
        data->label = NULL;
        data->response = TACIT_NEW(double, rows);
        assert_non_null(data->response);
    }
    for (size_t i = 0; i < rows; i++) {
        double u[3];
        for (size_t j = 0; j < 3; j++) u[j] = 2 * tacit_stream_unit(&stream) - 1;
        set_row(data, i, schema, u);
        set_response(data, i, of, u, &stream);
    }
    return data;
}

static parties world_of(const kind *of, tacit_schema *schema, size_t rows, size_t count, const char *noise) {
    parties world;
    tacit_error error = TACIT_ERROR_INIT;
    parties_make(&world, rows_of(of, schema, rows, 7), count, NULL);
    world.plan.method = &tacit_method_dpnewton;
    world.plan.lambda = 0.001;
    world.plan.delta = 1e-5;
    world.plan.schema = schema;
    CHECK_OK(tacit_plan_set(&world.plan, "noise", noise, &error), error);
    return world;
}

static dpnewton_design design_of(const tacit_plan *plan) {
    tacit_error error = TACIT_ERROR_INIT;
    dpnewton_design design;
    CHECK_OK(dpnewton_describe(plan, &design, &error), error);
    return design;
}

/* The sum of step 1 at some weights. */
static void ask(parties *self, const double *weights, double *out) {
    tacit_error error = TACIT_ERROR_INIT;
    dpnewton_design design = design_of(&self->plan);
    tacit_session session = parties_begin(self, 1);
    tacit_message message = TACIT_MESSAGE_INIT;
    tacit_sum sum = TACIT_SUM_INIT;
    size_t size = design.scores * design.width;
    session.round = 1;
    CHECK_OK(tacit_message_add_numbers(&message, "weights", weights, size, &error), error);
    CHECK_OK(tacit_ask_sum(&session, "gradient", &message, &design.gradient, &sum, &error), error);
    memcpy(out, sum.values, size * sizeof *out);
    tacit_sum_clear(&sum);
    tacit_message_clear(&message);
}

static double distance(const double *a, const double *b, size_t count) {
    double square = 0;
    for (size_t j = 0; j < count; j++) square += (a[j] - b[j]) * (a[j] - b[j]);
    return sqrt(square);
}

/* Put a random row in place of the first: half of them with a response at an end of what there can be. */
static void replace_first(parties *self, const kind *of, tacit_stream *stream) {
    double u[3];
    for (size_t j = 0; j < 3; j++) u[j] = 2 * tacit_stream_unit(stream) - 1;
    set_row(self->data, 0, self->plan.schema, u);
    if (of->classes > 0)
        self->data->label[0] = (int32_t)tacit_stream_below(stream, of->classes);
    else
        self->data->response[0] = tacit_stream_below(stream, 2) ? of->low : of->high;
}

/* ---- sensitivity ---- */

/* A control: residuals as they are, for everything but their clip. */
static void unclipped(const dpnewton_design *design, const tacit_view *rows, size_t begin, size_t count,
                      double *scores) {
    for (size_t i = 0; i < count; i++) {
        double *score = scores + i * design->scores, y;
        if (design->scores > 1) {
            for (size_t k = 0; k < design->scores; k++)
                score[k] = ((double)(score[k] > 0) - (k == (size_t)tacit_view_label(rows, begin + i))) /
                           (2 * design->clip);
            continue;
        }
        y = design->classes > 0 ? tacit_view_label(rows, begin + i)
                                : (tacit_view_response(rows, begin + i) - design->middle) / design->half;
        *score = (design->family->family->mean(fmin(*score, 20)) - y) / (2 * design->clip);
    }
}

static void sum_at(parties *self, const dpnewton_design *design, const double *weights, double *out) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_party party = { .plan = &self->plan,
                          .rows = tacit_dataset_view(self->data),
                          .total_rows = self->data->rows };
    CHECK_OK(dpnewton_sum_gradient(&party, design, weights, out, &error), error);
}

/* The largest shift of a step over neighbours and weights of any size, of what is declared. */
static double largest_ratio(const kind *of, bool clips) {
    enum { NEIGHBOURS = 300 };
    static const double size[] = { 0, 1, 40, 1e6, 1e308 };
    tacit_stream stream = tacit_stream_from_seed(29);
    tacit_schema *schema = schema_of(of->label);
    parties world = world_of(of, schema, 40, 2, "coordinator");
    world.plan.epsilon = 1;
    dpnewton_design design = design_of(&world.plan);
    dpnewton_family broken = *design.family;
    broken.residuals = unclipped;
    if (!clips) design.family = &broken;
    double most = 0;
    size_t count = design.scores * design.width;
    for (int i = 0; i < NEIGHBOURS; i++) {
        double weights[MOST], before[MOST], after[MOST];
        for (size_t j = 0; j < count; j++) weights[j] = (tacit_stream_unit(&stream) - 0.5) * size[i % 5];
        sum_at(&world, &design, weights, before);
        replace_first(&world, of, &stream);
        sum_at(&world, &design, weights, after);
        most = fmax(most, distance(before, after, count) / design.release[1].mechanism.sensitivity);
    }
    parties_end(&world);
    tacit_schema_free(schema);
    return most;
}

static void no_neighbour_moves_a_step_of_any_family_beyond_what_is_declared(void **state) {
    (void)state;
    for (size_t k = 0; k < KINDS; k++) {
        double ratio = largest_ratio(&kinds[k], true), control = largest_ratio(&kinds[k], false);
        print_message("# %s: %.3f of what is declared; without clipping %.3f\n", kinds[k].name, ratio,
                      control);
        assert_true(ratio > 0.7 && ratio <= 1);
        assert_true(control > 1.2);
    }
}

/* Scores that are no numbers, and responses outside of their bounds, still pull by at most one half. */
static void no_response_and_no_score_pulls_harder_than_one_half(void **state) {
    (void)state;
    static const double odd[] = { NAN, INFINITY, -INFINITY, 1e308, -1e308, 0 };
    enum { ODD = sizeof odd / sizeof *odd };
    for (size_t k = 0; k < KINDS; k++) {
        tacit_schema *schema = schema_of(kinds[k].label);
        parties world = world_of(&kinds[k], schema, 40, 1, "coordinator");
        dpnewton_design design = design_of(&world.plan);
        tacit_view rows = tacit_dataset_view(world.data);
        for (size_t i = 0; i < ODD * ODD; i++) {
            double scores[CLASSES] = { odd[i % ODD], odd[i / ODD], 0 }, square = 0;
            if (kinds[k].classes == 0) world.data->response[0] = odd[i / ODD];
            design.family->residuals(&design, &rows, 0, 1, scores);
            for (size_t s = 0; s < design.scores; s++) square += scores[s] * scores[s];
            assert_true(sqrt(square) <= 0.5 * (1 + 1e-15)); /* no NaN either */
        }
        parties_end(&world);
        tacit_schema_free(schema);
    }
}

/* ---- persons ---- */

static void check_refused(const tacit_plan *plan, const char *words) {
    tacit_error error = TACIT_ERROR_INIT;
    assert_int_equal(tacit_plan_check(plan, &error), TACIT_USAGE);
    if (strstr(error.text, words) == NULL) fail_msg("%s", error.text);
}

/* Rows of persons: the first has `rows` rows, the others two each. */
static tacit_dataset *rows_of_persons(const kind *of, const tacit_schema *schema, size_t rows,
                                      uint64_t seed) {
    enum { OTHERS = 20 };
    tacit_dataset *data = rows_of(of, schema, 2 * OTHERS + rows, 7);
    tacit_stream stream = tacit_stream_from_seed(seed);
    data->group = TACIT_NEW(int32_t, data->rows);
    assert_non_null(data->group);
    data->persons = true;
    for (size_t i = 0; i < data->rows; i++) data->group[i] = (int32_t)(i < 2 * OTHERS ? 1 + i / 2 : 0);
    double u[3];
    for (size_t j = 0; j < 3; j++) u[j] = 2 * tacit_stream_unit(&stream) - 1;
    for (size_t i = 2 * OTHERS; i < data->rows; i++) { /* all alike, and all wrong */
        set_row(data, i, schema, u);
        if (of->classes > 0)
            data->label[i] = (int32_t)(seed % of->classes);
        else
            data->response[i] = seed % 2 == 0 ? of->low : of->high;
    }
    return data;
}

static tacit_plan plan_of_persons(const kind *of, const tacit_schema *schema, const char *unit) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_plan plan = { .method = &tacit_method_dpnewton,
                        .study = "test",
                        .epsilon = 1,
                        .delta = 1e-5,
                        .lambda = 0.01,
                        .features = FEATURES,
                        .classes = of->classes,
                        .parties = 1,
                        .minimum_parties = 1,
                        .minimum_rows = 10,
                        .schema = schema };
    CHECK_OK(tacit_plan_set(&plan, "noise", "party", &error), error);
    CHECK_OK(tacit_plan_set(&plan, "unit", unit, &error), error);
    CHECK_OK(tacit_plan_set(&plan, "person-rows", "3", &error), error);
    CHECK_OK(tacit_plan_check(&plan, &error), error);
    return plan;
}

enum { MOMENTS = FEATURES * (FEATURES + 1) / 2 };

static void sums_of(tacit_plan *plan, tacit_dataset *data, const double *weights, double *moments,
                    double *gradient) {
    tacit_error error = TACIT_ERROR_INIT;
    dpnewton_design design = design_of(plan);
    tacit_party party = { .plan = plan, .rows = tacit_dataset_view(data), .total_rows = data->rows };
    CHECK_OK(dpnewton_sum_moments(&party, &design, moments, &error), error);
    CHECK_OK(dpnewton_sum_gradient(&party, &design, weights, gradient, &error), error);
}

/* The largest shifts of moments and step, of what is declared, when a person with some rows takes the place
 * of one with others. */
static void shifts_of_persons(const kind *of, const char *unit, double most[2]) {
    tacit_schema *schema = schema_of(of->label);
    schema->person = tacit_copy_text("patient");
    tacit_plan plan = plan_of_persons(of, schema, unit);
    dpnewton_design design = design_of(&plan);
    tacit_stream stream = tacit_stream_from_seed(3);
    most[0] = most[1] = 0;
    for (uint64_t i = 0; i < 150; i++) {
        double weights[MOST], moments[2][MOMENTS + 1], gradient[2][MOST];
        for (size_t j = 0; j < MOST; j++)
            weights[j] = (tacit_stream_unit(&stream) - 0.5) * (i % 3 == 0 ? 100 : 1);
        for (uint64_t side = 0; side < 2; side++) {
            tacit_dataset *data =
                rows_of_persons(of, schema, 1 + tacit_stream_below(&stream, 12), 2 * i + side);
            sums_of(&plan, data, weights, moments[side], gradient[side]);
            tacit_dataset_free(data);
        }
        if (strcmp(unit, "person") == 0) assert_true(moments[0][MOMENTS] == 21 && moments[1][MOMENTS] == 21);
        most[0] = fmax(most[0],
                       distance(moments[0], moments[1], MOMENTS) / design.release[0].mechanism.sensitivity);
        most[1] = fmax(most[1], distance(gradient[0], gradient[1], design.scores * design.width) /
                                    design.release[1].mechanism.sensitivity);
    }
    tacit_schema_free(schema);
}

static void no_person_moves_an_answer_beyond_what_is_declared_whatever_its_rows(void **state) {
    (void)state;
    for (size_t k = 0; k < KINDS; k++) {
        double most[2], control[2];
        shifts_of_persons(&kinds[k], "person", most);
        shifts_of_persons(&kinds[k], "record", control);
        print_message("# %s: moments %.3f, step %.3f of what is declared; per record %.3f and %.3f\n",
                      kinds[k].name, most[0], most[1], control[0], control[1]);
        for (int i = 0; i < 2; i++) assert_true(most[i] > 0.5 && most[i] <= 1 && control[i] > 2);
    }
}

/* Too few persons are too few, however many rows they have; and persons must be known. */
static void a_party_with_too_few_persons_or_none_known_refuses(void **state) {
    (void)state;
    tacit_schema *schema = schema_of(kinds[0].label);
    tacit_error error = TACIT_ERROR_INIT;
    schema->person = tacit_copy_text("patient");
    tacit_plan plan = plan_of_persons(&kinds[0], schema, "person");
    tacit_dataset *data = rows_of_persons(&kinds[0], schema, 5, 1);
    dpnewton_design design = design_of(&plan);
    double moments[MOMENTS + 1];
    tacit_party party = { .plan = &plan, .rows = tacit_dataset_view(data), .total_rows = data->rows };
    plan.minimum_rows = 21;
    CHECK_OK(dpnewton_sum_moments(&party, &design, moments, &error), error);
    plan.minimum_rows = 22; /* of 45 rows */
    assert_int_equal(dpnewton_sum_moments(&party, &design, moments, &error), TACIT_REFUSED);
    plan.minimum_rows = 1;
    party.rows.persons = false;
    assert_int_equal(dpnewton_sum_moments(&party, &design, moments, &error), TACIT_INPUT);
    free(schema->person);
    schema->person = NULL;
    plan.minimum_rows = 10;
    check_refused(&plan, "(person: COLUMN)");
    tacit_dataset_free(data);
    tacit_schema_free(schema);
}

/* ---- what it finds ---- */

typedef struct last_step {
    double values[MOST];
} last_step;

static void keep_last(void *context, const double *values, size_t count) {
    last_step *last = context;
    if (count <= MOST) memcpy(last->values, values, count * sizeof *values);
}

/* At the end of the steps 2c g + l w = 0: the last gradient gives w, and that w the gradient again. */
static void without_noise_every_family_solves_its_clipped_equation(void **state) {
    (void)state;
    for (size_t k = 0; k < KINDS; k++) {
        tacit_error error = TACIT_ERROR_INIT;
        tacit_schema *schema = schema_of(kinds[k].label);
        parties world = world_of(&kinds[k], schema, 600, 3, "coordinator");
        double weights[MOST], again[MOST];
        last_step last;
        tacit_watch watch = { keep_last, &last };
        tacit_outcome outcome = TACIT_OUTCOME_INIT;
        CHECK_OK(tacit_plan_set(&world.plan, "rounds", "64", &error), error);
        world.plan.lambda = 0.01;
        dpnewton_design design = design_of(&world.plan);
        size_t size = design.scores * design.width;
        tacit_session session = parties_begin(&world, 1);
        session.watch = &watch;
        CHECK_OK(world.plan.method->coordinate(&session, &outcome, &error), error);
        tacit_outcome_clear(&outcome);
        /* l is n lambda over how much rows are shortened, which the moments tell: find it along the
         * solution. */
        double best = INFINITY;
        for (double l = 600 * 0.01; l < 600 * 0.04; l *= 1.001) {
            for (size_t j = 0; j < size; j++) weights[j] = -2 * design.clip * last.values[j] / l;
            ask(&world, weights, again);
            double length = distance(last.values, (double[MOST]){ 0 }, size);
            best = fmin(best, distance(again, last.values, size) / length);
        }
        print_message("# %s: %.3g from a solution\n", kinds[k].name, best);
        assert_true(best < 0.02);
        parties_end(&world);
        tacit_schema_free(schema);
    }
}

static tacit_metrics measured(const tacit_model *model, const tacit_dataset *data) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_metrics metrics;
    tacit_view rows = tacit_dataset_view(data);
    CHECK_OK(tacit_model_evaluate(model, &rows, NULL, &metrics, &error), error);
    return metrics;
}

static double loss_of(const tacit_model *model, const tacit_dataset *data) {
    tacit_metrics metrics = measured(model, data);
    return isnan(metrics.log_loss) ? metrics.deviance : metrics.log_loss;
}

/* Without columns: all weights 0 but the intercept's, which says the classes' shares or the mean. */
static double base_loss(const kind *of, const tacit_dataset *data) {
    double n = (double)data->rows, sum = 0, loss = 0, count[CLASSES] = { 0 };
    for (size_t i = 0; i < data->rows; i++) {
        if (of->classes > 0)
            count[data->label[i]]++;
        else
            sum += data->response[i] / n;
    }
    for (size_t k = 0; k < of->classes; k++) loss -= count[k] / n * log(count[k] / n);
    for (size_t i = 0; of->classes == 0 && i < data->rows; i++)
        loss +=
            (of->low < 0 ? tacit_family_linear : tacit_family_poisson).deviance(&data->response[i], sum) / n;
    return loss;
}

/* The model without noise is near the pooled one; that with noise is far better than none. Seeds are
 * fixed. */
static void with_noise_every_family_is_worth_having(void **state) {
    (void)state;
    static const char *const who[] = { "coordinator", "party", "shares" };
    for (size_t k = 0; k < KINDS; k++)
        for (size_t n = 0; n < 3; n++) {
            tacit_error error = TACIT_ERROR_INIT;
            tacit_schema *schema = schema_of(kinds[k].label);
            parties world = world_of(&kinds[k], schema, 5000, 5, who[n]);
            double loss[2], base = base_loss(&kinds[k], world.data);
            for (int noisy = 0; noisy < 2; noisy++) {
                world.plan.epsilon = noisy ? 1 : INFINITY;
                CHECK_OK(dpnewton_lambda(&world.plan, &world.plan.lambda, &error), error);
                tacit_model *model = parties_run(&world, 1, NULL);
                assert_string_equal(model->family->name, kinds[k].name);
                loss[noisy] = loss_of(model, world.data);
                tacit_model_free(model);
            }
            print_message("# %s, noise=%s: loss %.4f, without noise %.4f, without a model %.4f\n",
                          kinds[k].name, who[n], loss[1], loss[0], base);
            assert_true(loss[0] < 0.9 * base);
            assert_true((loss[1] - loss[0]) / (base - loss[0]) < 0.5);
            parties_end(&world);
            tacit_schema_free(schema);
        }
}

/* ---- refusals ---- */

static void a_response_that_no_family_takes_is_refused_with_the_remedy(void **state) {
    (void)state;
    tacit_schema *number = schema_of(kinds[2].label),
                 *time = schema_of("{name: [y, e], kind: time, low: 0, high: 9}");
    parties world = world_of(&kinds[0], number, 40, 2, "coordinator");
    tacit_plan plan = world.plan;
    plan.epsilon = 1;
    plan.schema = NULL;
    plan.classes = 65;
    check_refused(&plan, "at most 64 classes, and there are 65; for more use dpgd or dpsgd");
    plan.classes = 0;
    check_refused(&plan, "two or more classes, or of kind number or count with low and high in the schema");
    plan.schema = time;
    check_refused(&plan, "two or more classes, or of kind number or count with low and high in the schema");
    plan.schema = number;
    CHECK_OK(tacit_plan_check(&plan, NULL), (tacit_error)TACIT_ERROR_INIT);
    parties_end(&world);
    tacit_schema_free(number);
    tacit_schema_free(time);
}

/* ---- audit ---- */

static tacit_audit_result audited(const char *name, size_t runs) {
    static const tacit_setting_value settings[] = { { "rounds", "2" }, { "noise", "party" } };
    tacit_error error = TACIT_ERROR_INIT;
    tacit_audit audit = { .setup = { .epsilon = 3, .delta = 0.05, .settings = settings, .setting_count = 2 },
                          .runs = runs,
                          .confidence = 1 - 1e-10,
                          .seed = 5 };
    tacit_audit_result result;
    CHECK_OK(tacit_auditable_require(&audit.subject, name, &error), error);
    CHECK_OK(tacit_audit_run(&result, &audit, &error), error);
    print_message("# %s, charged %g: at least %.4f, reach %.4f\n", name, result.charged.epsilon,
                  result.epsilon_lower, result.reach);
    return result;
}

/* A sound subject is called broken with probability at most 1e-10; seeds are fixed. */
static void an_audit_of_every_family_finds_most_of_what_is_charged(void **state) {
    (void)state;
    static const char *const subjects[] = { "dpnewton-softmax", "dpnewton-linear", "dpnewton-poisson" };
    for (size_t i = 0; i < 3; i++) {
        tacit_audit_result result = audited(subjects[i], 10000);
        assert_false(result.broken);
        assert_true(result.epsilon_lower > 1.4 && result.reach > 0.95 && result.reach <= 1);
    }
}

/* The same; of a promise per row a person with three rows breaks it. */
static void an_audit_finds_persons_protected_with_unit_person_only(void **state) {
    (void)state;
    tacit_audit_result person = audited("dpnewton-person", 10000),
                       rows = audited("dpnewton-person-rows", 2000);
    assert_false(person.broken);
    assert_true(person.epsilon_lower > 1.4 && person.reach > 0.95 && person.reach <= 1);
    assert_true(rows.broken && rows.reach > 2.8);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_neighbour_moves_a_step_of_any_family_beyond_what_is_declared),
        cmocka_unit_test(no_response_and_no_score_pulls_harder_than_one_half),
        cmocka_unit_test(no_person_moves_an_answer_beyond_what_is_declared_whatever_its_rows),
        cmocka_unit_test(a_party_with_too_few_persons_or_none_known_refuses),
        cmocka_unit_test(without_noise_every_family_solves_its_clipped_equation),
        cmocka_unit_test(with_noise_every_family_is_worth_having),
        cmocka_unit_test(a_response_that_no_family_takes_is_refused_with_the_remedy),
        cmocka_unit_test(an_audit_of_every_family_finds_most_of_what_is_charged),
        cmocka_unit_test(an_audit_finds_persons_protected_with_unit_person_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
