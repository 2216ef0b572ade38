#include "study/stop.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "method/methods.h"
#include "num/special.h"

/* ---- looks ---- */

size_t tacit_stop_parties(const tacit_stop *stop, size_t first, size_t look) {
    size_t parties = first + (look - 1) * stop->more;
    return stop->participants > 0 && parties > stop->participants ? stop->participants : parties;
}

size_t tacit_stop_looks(const tacit_stop *stop, size_t first) {
    if (stop->participants <= first || stop->more == 0) return stop->looks;
    size_t needed = 1 + (stop->participants - first + stop->more - 1) / stop->more;
    return stop->looks == 1 || needed < stop->looks ? needed : stop->looks;
}

/* ---- what fits ---- */

static tacit_status find_column(const tacit_design *design, const char *column, bool *found,
                                tacit_error *error) {
    tacit_buffer name = TACIT_BUFFER_INIT;
    tacit_status status = TACIT_OK;
    *found = false;
    for (size_t j = 0; j < design->width && !*found; j++) {
        name.length = 0;
        TACIT_CHECK(tacit_design_name(design, j, &name, error));
        *found = strcmp(tacit_buffer_text(&name), column) == 0;
    }
cleanup:
    tacit_buffer_clear(&name);
    return status;
}

static tacit_status check_column(const tacit_stop *stop, const tacit_plan *plan, tacit_error *error) {
    tacit_design design;
    bool found;
    char others[TACIT_METHODS_TEXT];
    if (plan->method->infers == NULL || !plan->method->infers(plan))
        return tacit_fail(
            error, TACIT_USAGE,
            "method %s%s gives no standard errors to stop at: choose %s, with inference and without noise",
            plan->method->name, plan->method->infers != NULL ? " as it is set" : "",
            tacit_methods_with("infers", "or", others));
    /* Names are the same for every family. */
    TACIT_TRY(tacit_design_create(&design, &tacit_family_logistic, plan->schema, plan->features, error));
    tacit_status status = find_column(&design, stop->column, &found, error);
    tacit_design_clear(&design);
    if (status != TACIT_OK || found) return status;
    return tacit_fail(error, TACIT_USAGE,
                      "stop names column '%s', and the model has no such coefficient: name one as the table "
                      "of coefficients does, e.g. age or sex=m",
                      stop->column);
}

tacit_status tacit_stop_check(const tacit_stop *stop, const tacit_plan *plan, tacit_error *error) {
    bool again = stop->looks > 1 || stop->more > 0;
    if (stop->target != TACIT_TARGET_NONE) TACIT_TRY(check_column(stop, plan, error));
    if (again && stop->target == TACIT_TARGET_NONE)
        return tacit_fail(error, TACIT_USAGE,
                          "'looks' and 'more' go on until a target is reached: say one (se, width or power)");
    if (stop->more > 0 && plan->sums != TACIT_SUMS_CLEAR && stop->more < plan->minimum_parties)
        return tacit_fail(error, TACIT_USAGE,
                          "two looks together show sums over the parties that are new, so 'more' must be 0 "
                          "or at least the minimum of %zu parties, not %zu",
                          plan->minimum_parties, stop->more);
    return TACIT_OK;
}

/* ---- the verdict ---- */

double tacit_stop_power(const tacit_stop *stop, double standard_error, double level, double degrees) {
    double tail = (1 - level) / (double)stop->looks / 2;
    double critical =
        isinf(degrees) ? tacit_normal_tail_quantile(log(tail)) : tacit_student_quantile(tail, degrees);
    double shift = fabs(stop->effect) / standard_error;
    return tacit_normal_tail(critical - shift) + tacit_normal_tail(critical + shift);
}

tacit_status tacit_stop_judge(tacit_stop_verdict *out, const tacit_stop *stop,
                              const tacit_estimates *estimates, tacit_error *error) {
    const tacit_coefficient *found = NULL;
    for (size_t j = 0; estimates != NULL && j < estimates->count; j++)
        if (strcmp(estimates->coefficient[j].name, stop->column) == 0) found = &estimates->coefficient[j];
    if (found == NULL)
        return tacit_fail(error, TACIT_NOT_FOUND, "the model has no coefficient '%s' to stop at",
                          stop->column);
    if (stop->target == TACIT_TARGET_POWER) {
        double degrees = estimates->student ? tacit_estimates_degrees(estimates) : INFINITY;
        out->value = tacit_stop_power(stop, found->error, estimates->level, degrees);
        out->met = out->value >= stop->limit;
        return TACIT_OK;
    }
    out->value = stop->target == TACIT_TARGET_ERROR ? found->error : found->high - found->low;
    out->met = out->value <= stop->limit;
    return TACIT_OK;
}

char *tacit_stop_text(char out[TACIT_STOP_TEXT_SIZE], const tacit_stop *stop,
                      const tacit_stop_verdict *verdict) {
    if (stop->target == TACIT_TARGET_POWER)
        tacit_format(out, TACIT_STOP_TEXT_SIZE,
                     "the power to find an effect of %g on %s is %.3g, and at least %g is asked for",
                     stop->effect, stop->column, verdict->value, stop->limit);
    else
        tacit_format(out, TACIT_STOP_TEXT_SIZE, "the %s of %s is %.4g, and at most %g is asked for",
                     stop->target == TACIT_TARGET_ERROR ? "standard error" : "width of the interval",
                     stop->column, verdict->value, stop->limit);
    return out;
}
