#include "model/one_sided.h"

#include <math.h>
#include <stdlib.h>

#include "base/clean.h"
#include "base/memory.h"
#include "base/number.h"

typedef struct moments {
    double mean, variance;
} moments;

/* The part of column `at` in the score: a number evenly between its bounds, or each level as often. */
static moments spread_of(const tacit_model *model, const tacit_feature *features, size_t at) {
    const tacit_schema_column *column = &model->schema->columns[at];
    double sum = 0, squares = 0, levels = 0;
    for (size_t j = 0; j < model->features; j++) {
        const tacit_feature *one = &features[j];
        if (one->column != at) continue;
        if (one->level == SIZE_MAX) {
            const double low = one->scale * column->low + one->shift,
                         high = one->scale * column->high + one->shift, w = model->weights[j];
            return (moments){ w * (low + high) / 2, w * w * (high - low) * (high - low) / 12 };
        }
        const double part = model->weights[j] * one->scale;
        sum += part;
        squares += part * part;
        levels++;
    }
    if (levels == 0) return (moments){ 0, 0 };
    return (moments){ sum / levels, squares / levels - sum / levels * (sum / levels) };
}

static bool measure(const tacit_model *model, moments *out) {
    tacit_feature *features = TACIT_NEW(tacit_feature, model->features);
    const bool linear = features != NULL && tacit_schema_features(model->schema) == model->features &&
                        tacit_schema_linear(model->schema, features, NULL) == TACIT_OK;
    *out = (moments){ 0, 0 };
    for (size_t i = 0; linear && i < model->schema->cols; i++) {
        const moments one = spread_of(model, features, i);
        out->mean += one.mean;
        out->variance += one.variance;
    }
    if (linear && model->schema->intercept)
        out->mean += model->weights[model->features - 1] * features[model->features - 1].scale;
    free(features);
    return linear;
}

bool tacit_model_one_sided(const tacit_model *model, char out[TACIT_REMARK_SIZE]) {
    static const double FAR = 3;
    moments score;
    out[0] = 0;
    if (model->schema == NULL || model->schema->sparse > 0 || !tacit_model_is_linear(model) ||
        model->classes != 2 || tacit_model_scores_per_row(model) != 1 || !measure(model, &score) ||
        !(fabs(score.mean) > FAR * sqrt(fmax(score.variance, 0))))
        return false;
    const size_t class = score.mean > 0 ? 1 : 0;
    char name[61]; /* whole characters: what is no text cannot be told on */
    tacit_text_clean(name, sizeof name,
                     class < model->class_names.count ? model->class_names.text[class]
                     : class == 1                     ? "1"
                                                      : "0");
    tacit_format(
        out, TACIT_REMARK_SIZE,
        "rows spread evenly over the schema's ranges would nearly all be called '%s': the columns have "
        "little weight beside the intercept. Either that class is far the more frequent one, or lambda (%g) "
        "or the noise is too large for these rows; compare AUC and log-loss on rows that you may look at",
        name, model->guarantee.lambda);
    return true;
}

bool tacit_mostly_noise(double share, char out[TACIT_REMARK_SIZE]) {
    static const double MOST = 0.5;
    out[0] = 0;
    if (!(share > MOST)) return false;
    tacit_format(
        out, TACIT_REMARK_SIZE,
        "noise makes about %.0f%% of what the model says, by what was released: unless the signal is strong, "
        "it is no better than the commonest class, and its probabilities are worse than each class's share. "
        "More rows, more parties or a larger epsilon helps; compare AUC and log-loss on rows that you may "
        "look at",
        100 * share);
    return true;
}

bool tacit_model_doubtful(const tacit_model *model, char out[TACIT_REMARK_SIZE]) {
    return tacit_mostly_noise(model->noise_share, out) || tacit_model_one_sided(model, out);
}
