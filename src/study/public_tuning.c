#include "study/public_tuning.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "data/schema/text.h"

enum { DRAWS = 4, TRIALS = 3, LEAST_ROWS = 12 };
static const double TESTED = 1.0 / 3, MOST_EPSILON = 1e6;

tacit_status tacit_candidates_parse(tacit_candidates *out, const char *text, tacit_error *error) {
    tacit_candidates made = { .count = 0 };
    const size_t most = sizeof made.lambda / sizeof *made.lambda;
    for (const char *at = text; *at != 0; at += *at == ',') {
        size_t length = strcspn(at, ",");
        double number;
        if (made.count == most || !tacit_text_to_number(at, length, &number) || !(number > 0) ||
            isinf(number))
            return tacit_fail(error, TACIT_USAGE, "'%.60s' is not a list of at most %zu lambdas above 0",
                              text, most);
        made.lambda[made.count++] = number;
        at += length;
    }
    if (made.count < 2)
        return tacit_fail(error, TACIT_USAGE, "a choice of lambda needs two candidates or more, not '%.60s'",
                          text);
    *out = made;
    return TACIT_OK;
}

/* The settings of a plan, as a simulation takes them. */
enum { MOST_SETTINGS = 32 };
typedef struct chosen {
    tacit_setting_value setting[MOST_SETTINGS];
    char text[MOST_SETTINGS][TACIT_SETTING_SIZE];
} chosen;

static size_t settings_of(const tacit_plan *plan, chosen *out) {
    size_t count = 0;
    for (const tacit_parameter *one = plan->method->parameters; one != NULL && one->name != NULL;
         one++, count++) {
        assert(count < MOST_SETTINGS);
        out->setting[count] =
            (tacit_setting_value){ one->name, tacit_plan_print(plan, one, out->text[count]) };
    }
    return count;
}

/* One candidate on one draw of the rows: all training rows are one party's. */
static tacit_status try_lambda(double *sum, const tacit_plan *plan, double lambda, const tacit_dataset *rows,
                               const tacit_split *drawn, size_t draw, size_t private_rows, tacit_pool *pool,
                               tacit_error *error) {
    chosen settings;
    size_t train = tacit_split_count(drawn, TACIT_PART_TRAIN), ends[2] = { 0, train };
    tacit_split whole = { 1, ends, drawn->index + drawn->start[TACIT_PART_TRAIN], 0 };
    double epsilon = fmin(MOST_EPSILON, plan->epsilon * (double)private_rows / (double)train);
    tacit_run run;
    tacit_simulation simulation = { .dataset = rows,
                                    .schema = plan->schema,
                                    .split = &whole,
                                    .test = tacit_split_view(drawn, rows, TACIT_PART_TEST),
                                    .methods = &plan->method,
                                    .method_count = 1,
                                    .epsilons = &epsilon,
                                    .epsilon_count = 1,
                                    .delta = plan->delta,
                                    .lambda = lambda,
                                    .settings = settings.setting,
                                    .setting_count = settings_of(plan, &settings),
                                    .trials = TRIALS,
                                    .seed = draw,
                                    .pool = pool };
    TACIT_TRY(tacit_simulate(&simulation, &run, NULL, error));
    *sum += rows->classes.count == 2 && !isnan(run.auc.mean) ? run.auc.mean : run.accuracy.mean;
    return TACIT_OK;
}

tacit_status tacit_choose_lambda(double *out, const tacit_candidates *candidates, const tacit_plan *plan,
                                 const tacit_dataset *rows, size_t private_rows, tacit_pool *pool,
                                 tacit_error *error) {
    double score[sizeof candidates->lambda / sizeof *candidates->lambda] = { 0 };
    if (rows->rows < LEAST_ROWS || rows->label == NULL)
        return tacit_fail(error, TACIT_INPUT,
                          "to choose lambda on them, public rows must be %d or more, with labels",
                          (int)LEAST_ROWS);
    tacit_stream root = tacit_stream_from_seed(0);
    for (size_t d = 0; d < DRAWS; d++) {
        tacit_split *drawn = NULL;
        tacit_stream stream = tacit_stream_fork(&root, "public rows", d, 0);
        TACIT_TRY(tacit_split_holdout(&drawn, rows->rows, TESTED, 0, &stream, error));
        tacit_status status = TACIT_OK;
        for (size_t c = 0; status == TACIT_OK && c < candidates->count; c++)
            status =
                try_lambda(&score[c], plan, candidates->lambda[c], rows, drawn, d, private_rows, pool, error);
        tacit_split_free(drawn);
        TACIT_TRY(status);
    }
    size_t best = 0;
    for (size_t c = 1; c < candidates->count; c++)
        if (score[c] > score[best] ||
            (score[c] == score[best] && candidates->lambda[c] > candidates->lambda[best]))
            best = c;
    *out = candidates->lambda[best];
    return TACIT_OK;
}
