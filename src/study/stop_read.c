/* Reading and printing what a definition says of its end. */
#include <math.h>
#include <string.h>

#include "data/schema/text.h"
#include "study/stop.h"
#include "study/study_parts.h"

enum { ROUNDS, CONVERGED, PARTICIPANTS, SE, WIDTH, POWER, LOOKS, MORE, THEN, KEYS };
static const char *const keys[KEYS] = { "rounds", "converged", "participants", "se",  "width",
                                        "power",  "looks",     "more",         "then" };

static tacit_status read_number(tacit_yaml *yaml, const yaml_node_t *node, const char *what, double least,
                                double most, double *out, tacit_error *error) {
    TACIT_TRY(tacit_yaml_number(yaml, node, what, out, error));
    if (*out >= least && *out <= most) return TACIT_OK;
    return tacit_yaml_fail(yaml, node, error, "%s must be from %g to %g, not %g", what, least, most, *out);
}

static tacit_status read_whole(tacit_yaml *yaml, const yaml_node_t *node, const char *what, double least,
                               double most, size_t *out, tacit_error *error) {
    double value = 0;
    if (node == NULL) return TACIT_OK;
    TACIT_TRY(read_number(yaml, node, what, least, most, &value, error));
    if (value != floor(value))
        return tacit_yaml_fail(yaml, node, error, "%s must be a whole number, not %g", what, value);
    *out = (size_t)value;
    return TACIT_OK;
}

static tacit_status read_column(tacit_stop *out, tacit_yaml *yaml, const yaml_node_t *node,
                                tacit_error *error) {
    const char *text;
    size_t length;
    TACIT_TRY(tacit_yaml_text(yaml, node, "column", &text, &length, error));
    if (!study_is_plain_line(text, TACIT_STOP_COLUMN_SIZE))
        return tacit_yaml_fail(yaml, node, error,
                               "column must be the name of one coefficient, of fewer than %d bytes without "
                               "quotes, backslashes and control characters",
                               TACIT_STOP_COLUMN_SIZE);
    memcpy(out->column, text, length + 1);
    return TACIT_OK;
}

/* {column: NAME, at_most: X}, and for power {column: NAME, effect: E, at_least: P}. */
static tacit_status read_target(tacit_stop *out, tacit_yaml *yaml, const yaml_node_t *node, int key,
                                tacit_error *error) {
    enum { COLUMN, LIMIT, EFFECT, COUNT };
    const bool power = key == POWER;
    const char *const names[COUNT] = { "column", power ? "at_least" : "at_most", "effect" };
    const yaml_node_t *values[COUNT] = { NULL };
    TACIT_TRY(tacit_yaml_mapping(yaml, node, keys[key], names, power ? COUNT : EFFECT, values, error));
    if (values[COLUMN] == NULL || values[LIMIT] == NULL || (power && values[EFFECT] == NULL))
        return tacit_yaml_fail(yaml, node, error,
                               power ? "power needs 'column', 'effect' and 'at_least'"
                                     : "%s needs 'column' and 'at_most'",
                               keys[key]);
    TACIT_TRY(read_column(out, yaml, values[COLUMN], error));
    TACIT_TRY(read_number(yaml, values[LIMIT], names[LIMIT], power ? 0.01 : 1e-300, power ? 0.9999 : 1e300,
                          &out->limit, error));
    if (power) TACIT_TRY(read_number(yaml, values[EFFECT], "effect", -1e300, 1e300, &out->effect, error));
    if (power && out->effect == 0)
        return tacit_yaml_fail(yaml, values[EFFECT], error, "effect must not be 0: no power finds that");
    out->target = power ? TACIT_TARGET_POWER : key == SE ? TACIT_TARGET_ERROR : TACIT_TARGET_WIDTH;
    return TACIT_OK;
}

static tacit_status read_then(tacit_stop *out, tacit_yaml *yaml, const yaml_node_t *node,
                              tacit_error *error) {
    const char *text;
    size_t length;
    if (node == NULL) return TACIT_OK;
    TACIT_TRY(tacit_yaml_text(yaml, node, "then", &text, &length, error));
    if (strcmp(text, "validate") != 0)
        return tacit_yaml_fail(yaml, node, error, "then must be validate, not '%.40s'", text);
    if (out->target == TACIT_TARGET_NONE)
        return tacit_yaml_fail(yaml, node, error,
                               "then: validate needs a target to be met: se, width or power");
    out->validates = true;
    return TACIT_OK;
}

tacit_status tacit_stop_read(tacit_stop *out, tacit_yaml *yaml, const yaml_node_t *node, tacit_error *error) {
    const yaml_node_t *values[KEYS];
    size_t rounds = 0;
    *out = (tacit_stop)TACIT_STOP_INIT;
    TACIT_TRY(tacit_yaml_mapping(yaml, node, "stop", keys, KEYS, values, error));
    TACIT_TRY(read_whole(yaml, values[ROUNDS], "rounds", 1, 1e9, &rounds, error));
    out->rounds = rounds;
    if (values[CONVERGED] != NULL)
        TACIT_TRY(read_number(yaml, values[CONVERGED], "converged", 1e-12, 0.5, &out->converged, error));
    TACIT_TRY(read_whole(yaml, values[PARTICIPANTS], "participants", 1, 1e9, &out->participants, error));
    for (int key = SE; key <= POWER; key++) {
        if (values[key] == NULL) continue;
        if (out->target != TACIT_TARGET_NONE)
            return tacit_yaml_fail(yaml, values[key], error, "stop has one target: se, width or power");
        TACIT_TRY(read_target(out, yaml, values[key], key, error));
    }
    TACIT_TRY(read_then(out, yaml, values[THEN], error));
    TACIT_TRY(read_whole(yaml, values[LOOKS], "looks", 1, TACIT_STOP_MOST_LOOKS, &out->looks, error));
    return read_whole(yaml, values[MORE], "more", 0, 1e6, &out->more, error);
}

tacit_status tacit_stop_parse(tacit_stop *out, const char *text, tacit_error *error) {
    tacit_yaml yaml;
    TACIT_TRY(tacit_yaml_open(&yaml, text, strlen(text), "the option 'stop'", error));
    const yaml_node_t *root = tacit_yaml_root(&yaml);
    tacit_status status = root != NULL ? tacit_stop_read(out, &yaml, root, error)
                                       : tacit_fail(error, TACIT_INPUT, "the option 'stop' is empty");
    tacit_yaml_close(&yaml);
    return status;
}

/* Numbers in their shortest form, keys in one order. */
static tacit_status add(tacit_buffer *out, const char **before, const char *name, double value,
                        tacit_error *error) {
    char text[TACIT_NUMBER_TEXT];
    if (value == 0) return TACIT_OK;
    TACIT_TRY(tacit_buffer_print(out, error, "%s%s: %s", *before, name, tacit_number_to_text(value, text)));
    *before = ", ";
    return TACIT_OK;
}

static tacit_status add_target(const tacit_stop *stop, tacit_buffer *out, const char **before,
                               tacit_error *error) {
    char limit[TACIT_NUMBER_TEXT], effect[TACIT_NUMBER_TEXT];
    const bool power = stop->target == TACIT_TARGET_POWER;
    if (stop->target == TACIT_TARGET_NONE) return TACIT_OK;
    TACIT_TRY(tacit_buffer_print(out, error, "%s%s: {column: \"%s\", %s: %s%s%s}", *before,
                                 keys[SE + (int)stop->target - TACIT_TARGET_ERROR], stop->column,
                                 power ? "at_least" : "at_most", tacit_number_to_text(stop->limit, limit),
                                 power ? ", effect: " : "",
                                 power ? tacit_number_to_text(stop->effect, effect) : ""));
    *before = ", ";
    return TACIT_OK;
}

tacit_status tacit_stop_print(const tacit_stop *stop, tacit_buffer *out, tacit_error *error) {
    const char *before = "stop: {";
    TACIT_TRY(add(out, &before, keys[ROUNDS], (double)stop->rounds, error));
    TACIT_TRY(add(out, &before, keys[CONVERGED], stop->converged, error));
    TACIT_TRY(add(out, &before, keys[PARTICIPANTS], (double)stop->participants, error));
    TACIT_TRY(add_target(stop, out, &before, error));
    TACIT_TRY(add(out, &before, keys[LOOKS], stop->looks > 1 ? (double)stop->looks : 0, error));
    TACIT_TRY(add(out, &before, keys[MORE], (double)stop->more, error));
    if (stop->validates) TACIT_TRY(tacit_buffer_print(out, error, "%sthen: validate", before));
    return before[0] == ',' || stop->validates ? tacit_buffer_print(out, error, "}\n") : TACIT_OK;
}

/* ---- as settings of a definition ---- */

tacit_status study_read_stop(reading *r, const yaml_node_t *node) {
    tacit_stop *stop = &r->study->stop;
    tacit_plan *plan = &r->study->plan;
    *stop = (tacit_stop)TACIT_STOP_INIT;
    if (node != NULL) TACIT_TRY(tacit_stop_read(stop, &r->yaml, node, r->error));
    plan->most_rounds = stop->rounds;
    plan->enough = stop->converged;
    return TACIT_OK;
}

tacit_status study_print_stop(const tacit_study *study, tacit_buffer *out, tacit_error *error) {
    return tacit_stop_print(&study->stop, out, error);
}

/* Which look this is, only the coordinator says, in the text that parties consent to. */
tacit_status study_read_look(reading *r, const yaml_node_t *node) {
    size_t *look = &r->study->stop.look;
    if (node != NULL) TACIT_TRY(study_read_whole(r, node, "look", 1, 1e9, look));
    if (*look <= TACIT_STOP_MOST_LOOKS) return TACIT_OK;
    return tacit_yaml_fail(&r->yaml, node, r->error, "look must be at most %d", TACIT_STOP_MOST_LOOKS);
}

tacit_status study_print_look(const tacit_study *study, tacit_buffer *out, tacit_error *error) {
    const size_t look = study->stop.look;
    return look > 1 ? tacit_buffer_print(out, error, "look: %zu\n", look) : TACIT_OK;
}

tacit_status study_check_stop(reading *r) {
    const yaml_node_t *node = study_node(r, "stop");
    const tacit_stop *stop = &r->study->stop;
    const size_t first = r->study->first_parties;
    if (stop->participants > 0 && stop->more == 0 && stop->participants != first)
        return tacit_yaml_fail(&r->yaml, study_node(r, "parties"), r->error,
                               "%zu parties are expected, and recruiting stops with %zu: make them the same, "
                               "or say how many come from look to look (more)",
                               first, stop->participants);
    if (stop->participants > 0 && stop->participants < first)
        return tacit_yaml_fail(&r->yaml, node, r->error,
                               "participants must not be fewer than the %zu that are expected", first);
    if (stop->look > stop->looks)
        return tacit_fail(r->error, TACIT_INPUT, "%s: the study has no look %zu", r->yaml.name, stop->look);
    static const char ending[] = "-validation"; /* as study/archive has it */
    if (stop->validates && r->written && strlen(r->study->name) + sizeof ending - 1 > 40)
        return tacit_yaml_fail(&r->yaml, node, r->error,
                               "the validation would be called %s%s, which is longer than 40 letters: "
                               "give the study a shorter name",
                               r->study->name, ending);
    tacit_status status = tacit_stop_check(stop, &r->study->plan, r->error);
    if (node == NULL) return status;
    return tacit_fail_in(r->error, status, "%s:%zu", r->yaml.name, node->start_mark.line + 1);
}
