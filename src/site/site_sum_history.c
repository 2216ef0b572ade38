/* What exact sums of this home's data sources were made of, asked and kept on behalf of one study
 * (site/history/sum_history.h). */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "data/folds.h"
#include "site/history/sum_history.h"
#include "site/site_parts.h"

static tacit_status open_past(const tacit_site *site, tacit_sum_history **out, tacit_error *error) {
    char path[PATH_MAX];
    TACIT_TRY(tacit_path_join(path, sizeof path, site->home, TACIT_SUM_HISTORY_NAME, error));
    return tacit_sum_history_open(out, path, error);
}

/* The rows outside each fold of cross-validation are sets of their own, under names of their own. */
static tacit_status hold_folds(tacit_sum_history *history, const tacit_site *site,
                               const tacit_sum_history_rows *whole, tacit_fold_plan plan,
                               tacit_error *error) {
    const tacit_view rows = tacit_dataset_view(site->rows);
    char name[TACIT_SITE_ID_SIZE + 32];
    tacit_folds folds;
    TACIT_TRY(tacit_folds_assign(&folds, &rows, plan, error));
    tacit_status status = tacit_folds_admit(&folds, whole->minimum, error);
    for (size_t k = 0; status == TACIT_OK && k < folds.count; k++) {
        const tacit_view outside = tacit_folds_outside(&folds, &rows, k);
        tacit_sum_history_rows part = *whole;
        snprintf(name, sizeof name, "%s%sfold%zu", site->id, strchr(site->id, '+') != NULL ? "." : "+",
                 k + 1);
        part.study = name;
        part.index = outside.rows.index;
        part.count = part.total = outside.rows.count;
        status = tacit_sum_history_hold_rows(history, &part, error);
    }
    tacit_folds_clear(&folds);
    return status;
}

static tacit_sum_history_rows rows_of(const tacit_site *site, uint64_t minimum) {
    return (tacit_sum_history_rows){ .source = site->source,
                                     .study = site->id,
                                     .rows = site->rows,
                                     .total = site->total_rows,
                                     .schema = site->schema,
                                     .exact = tacit_plan_is_exact(&site->study->plan),
                                     .allowed = site->allow_difference,
                                     .minimum = minimum };
}

static tacit_status hold_all(const tacit_site *site, const tacit_sum_history_rows *about,
                             tacit_error *error) {
    const tacit_plan *plan = &site->study->plan;
    const tacit_fold_plan folds =
        plan->method->folds != NULL ? plan->method->folds(plan) : (tacit_fold_plan){ .count = 0 };
    tacit_sum_history *history = NULL;
    tacit_status status = open_past(site, &history, error);
    if (status == TACIT_OK) status = tacit_sum_history_hold_rows(history, about, error);
    if (status == TACIT_OK && folds.count > 0 && site->rows->rows == site->total_rows)
        status = hold_folds(history, site, about, folds, error);
    tacit_sum_history_free(history);
    return status;
}

tacit_status site_hold_rows(const tacit_site *site, uint64_t minimum, bool begun, tacit_error *error) {
    tacit_sum_history_rows about = rows_of(site, minimum);
    about.begun = begun;
    return hold_all(site, &about, error);
}

tacit_status site_foresee_rows(const tacit_site *site, uint64_t minimum, tacit_error *error) {
    tacit_sum_history_rows about = rows_of(site, minimum);
    about.foreseen = true;
    if (site->rows == NULL || !about.exact) return TACIT_OK;
    return hold_all(site, &about, error);
}

static tacit_status hold_set(void *context, const uint8_t (*keys)[TACIT_SIGNING_KEY_BYTES], size_t count,
                             tacit_error *error) {
    const tacit_site *site = context;
    char coordinator[TACIT_SITE_ID_SIZE];
    tacit_sum_history *history = NULL;
    snprintf(coordinator, sizeof coordinator, "%s",
             strchr(site->id, '@') != NULL ? strchr(site->id, '@') : "");
    coordinator[strcspn(coordinator, "+")] = 0;
    const tacit_sum_history_set about = { .source = site->source,
                                          .study = site->id,
                                          .coordinator = coordinator,
                                          .keys = keys,
                                          .count = count,
                                          .few = 1 + tacit_plan_colluders(&site->study->plan),
                                          .allowed = site->allow_difference };
    tacit_status status = open_past(site, &history, error);
    if (status == TACIT_OK) status = tacit_sum_history_hold_set(history, &about, error);
    tacit_sum_history_free(history);
    return status;
}

tacit_masks_past site_sets(tacit_site *site) { return (tacit_masks_past){ hold_set, site }; }

static tacit_status count_past(const char *home, const char *source, const char *study, size_t *others,
                               size_t *parties, tacit_error *error) {
    char base[TACIT_SITE_ID_SIZE], path[PATH_MAX];
    tacit_sum_history *history = NULL;
    TACIT_TRY(tacit_path_join(path, sizeof path, home, TACIT_SUM_HISTORY_NAME, error));
    if (access(path, F_OK) != 0) return TACIT_OK;
    snprintf(base, sizeof base, "%s", study);
    base[strcspn(base, "+")] = 0;
    tacit_status status = tacit_sum_history_open(&history, path, error);
    if (status == TACIT_OK) status = tacit_sum_history_count(history, source, base, others, parties, error);
    tacit_sum_history_free(history);
    return status;
}

#define DIFFERENCE "sums of two groups may become known that differ by one party, or by a few rows of yours."

const char *tacit_sum_history_allowing(void) { return "Allow it: " DIFFERENCE; }

tacit_status tacit_sum_history_text(tacit_buffer *out, const char *home,
                                    const tacit_sum_history_question *about, tacit_error *error) {
    const size_t few = 1 + tacit_plan_colluders(about->plan);
    size_t others = 0, parties = 0;
    if (!tacit_plan_is_exact(about->plan)) return TACIT_OK;
    TACIT_TRY(count_past(home, about->source, about->study, &others, &parties, error));
    if (parties > 0)
        TACIT_TRY(tacit_buffer_print(
            out, error,
            "An earlier version of this study had exact sums over %zu parties, yours among them. If you "
            "consent, sums of two groups will be known, of those parties and of this version's: where they "
            "differ by one party, or by up to %zu, what these gave is known as well. ",
            parties, few));
    else if (others > 0)
        TACIT_TRY(tacit_buffer_print(
            out, error,
            "Exact sums of these rows were made in %zu other %s: where the parties of two differ by one, or "
            "by up to %zu, or your rows by a few, the difference shows what these gave. ",
            others, others == 1 ? "study" : "studies", few));
    if (about->allowed)
        return tacit_buffer_print(out, error, "You allow that (the option 'allow-difference'): " DIFFERENCE);
    if (parties == 0 && others == 0) return TACIT_OK;
    return tacit_buffer_print(
        out, error, "This party refuses such a sum unless you allow it: the option 'allow-difference'.");
}

tacit_status tacit_site_sum_history(const tacit_site *site, tacit_buffer *out, tacit_error *error) {
    const tacit_sum_history_question about = { site->source, site->id, &site->study->plan,
                                               site->allow_difference };
    return tacit_sum_history_text(out, site->home, &about, error);
}

tacit_status tacit_site_overlaps(const tacit_site *site, tacit_overlap_visit *visit, void *context,
                                 tacit_error *error) {
    tacit_load_options options = TACIT_LOAD_DEFAULTS;
    options.no_header = site->no_header;
    const tacit_sketch_source about = { site->home, site->source, site->data, site->link, &options };
    if (site->callbacks.lend != NULL || site_rows_in_memory(site)) return TACIT_OK;
    TACIT_TRY(tacit_sketch_take(&about, error));
    return tacit_sketch_overlaps(site->home, site->source, visit, context, error);
}
