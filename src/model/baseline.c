#include "model/baseline.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"

enum { MOST_STEPS = 1 << 20, FIELDS = 5 };

tacit_status tacit_baseline_create(tacit_baseline **out, size_t count, tacit_error *error) {
    tacit_baseline *baseline = TACIT_NEW(tacit_baseline, 1);
    if (baseline == NULL) return tacit_fail_memory(error);
    baseline->count = count;
    baseline->step = TACIT_NEW(tacit_baseline_step, count);
    if (baseline->step == NULL) {
        tacit_baseline_free(baseline);
        return tacit_fail_memory(error);
    }
    *out = baseline;
    return TACIT_OK;
}

tacit_baseline *tacit_baseline_free(tacit_baseline *baseline) {
    if (baseline != NULL) free(baseline->step);
    free(baseline);
    return NULL;
}

double tacit_baseline_events(const tacit_baseline *baseline) {
    double events = 0;
    for (size_t k = 0; k < baseline->count; k++) events += baseline->step[k].events;
    return events;
}

json_t *tacit_baseline_to_json(const tacit_baseline *baseline) {
    json_t *list = json_array();
    for (size_t k = 0; k < baseline->count; k++) {
        const tacit_baseline_step *one = &baseline->step[k];
        json_array_append_new(list, json_pack("[I,f,f,f,f]", (json_int_t)one->stratum, one->time,
                                              one->leaving, one->events, one->hazard));
    }
    return list;
}

static bool read_step(tacit_baseline_step *out, const json_t *list) {
    double value[FIELDS];
    if (!json_is_array(list) || json_array_size(list) != FIELDS) return false;
    for (size_t j = 0; j < FIELDS; j++) {
        value[j] = json_number_value(json_array_get(list, j));
        if (!json_is_number(json_array_get(list, j)) || !isfinite(value[j]) || value[j] < 0) return false;
    }
    if (value[0] > MOST_STEPS || value[3] > value[2]) return false;
    *out = (tacit_baseline_step){ (size_t)value[0], value[1], value[2], value[3], value[4] };
    return true;
}

bool tacit_baseline_from_json(tacit_baseline **out, const json_t *list) {
    size_t count = json_array_size(list);
    tacit_baseline *baseline = NULL;
    if (!json_is_array(list) || count == 0 || count > MOST_STEPS ||
        tacit_baseline_create(&baseline, count, NULL) != TACIT_OK)
        return false;
    for (size_t k = 0; k < count; k++)
        if (!read_step(&baseline->step[k], json_array_get(list, k))) {
            tacit_baseline_free(baseline);
            return false;
        }
    *out = baseline;
    return true;
}
