/* Mappings from YAML, and times from texts. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "data/schema/date.h"
#include "data/schema/text.h"
#include "data/schema/yaml.h"
#include "person/sensor/sensor.h"

typedef struct reading {
    tacit_yaml yaml;
    tacit_sensor *made;
    tacit_error *error;
} reading;

static const char *const takes[] = { "sum", "mean", "min", "max", "count", NULL };
static const char *const pers[] = { "day", "week", "row", NULL };
static const char *const forms[] = { "text", "seconds", "milliseconds", NULL };
static const char *const formats[] = { "csv", "json-lines", NULL };

static tacit_status require(const reading *r, const yaml_node_t *within, const yaml_node_t *node,
                            const char *key, const char *what) {
    if (node != NULL) return TACIT_OK;
    return tacit_yaml_fail(&r->yaml, within, r->error, "%s has no '%s': add it", what, key);
}

static tacit_status take_text(const reading *r, const yaml_node_t *node, const char *what, char *out,
                              size_t size) {
    const char *text;
    size_t length;
    TACIT_TRY(tacit_yaml_text(&r->yaml, node, what, &text, &length, r->error));
    if (length >= size)
        return tacit_yaml_fail(&r->yaml, node, r->error, "%s has %zu bytes: at most %zu fit", what, length,
                               size - 1);
    memcpy(out, text, length + 1);
    return TACIT_OK;
}

/* One of some words; as it was where the node is NULL. */
static tacit_status take_word(const reading *r, const yaml_node_t *node, const char *what,
                              const char *const *words, unsigned *out) {
    char text[64], known[128] = "";
    if (node == NULL) return TACIT_OK;
    TACIT_TRY(take_text(r, node, what, text, sizeof text));
    for (unsigned k = 0; words[k] != NULL; k++) {
        size_t used = strlen(known);
        snprintf(known + used, sizeof known - used, "%s%s", k > 0 ? ", " : "", words[k]);
        if (strcmp(text, words[k]) != 0) continue;
        *out = k;
        return TACIT_OK;
    }
    return tacit_yaml_fail(&r->yaml, node, r->error, "%s is one of %s", what, known);
}

/* "+01:00", "-0330", "Z": minutes east; false: it is none. */
static bool read_offset(const char *text, int *minutes) {
    if (strcmp(text, "Z") == 0 || strcmp(text, "UTC") == 0) {
        *minutes = 0;
        return true;
    }
    int digits[4], count = 0;
    if (text[0] != '+' && text[0] != '-') return false;
    for (const char *at = text + 1; *at != 0; at++) {
        if (*at == ':' && count == 2) continue;
        if (!isdigit((unsigned char)*at) || count == 4) return false;
        digits[count++] = *at - '0';
    }
    if (count == 2) digits[2] = digits[3] = 0;
    if (count != 2 && count != 4) return false;
    *minutes = (digits[0] * 10 + digits[1]) * 60 + digits[2] * 10 + digits[3];
    if (*minutes > 14 * 60 || digits[2] > 5) return false;
    if (text[0] == '-') *minutes = -*minutes;
    return true;
}

static tacit_status take_zone(const reading *r, const yaml_node_t *node) {
    char text[32];
    tacit_sensor *made = r->made;
    made->as_written = made->form == TACIT_TIME_TEXT_FORM;
    if (node == NULL) return TACIT_OK;
    TACIT_TRY(take_text(r, node, "'zone'", text, sizeof text));
    if (strcmp(text, "as written") == 0 && made->as_written) return TACIT_OK;
    made->as_written = false;
    if (read_offset(text, &made->zone)) return TACIT_OK;
    return tacit_yaml_fail(
        &r->yaml, node, r->error,
        "'zone' is 'as written' (of times that are texts), UTC, or an offset such as +01:00; "
        "names of zones and summer time are not known");
}

static tacit_status take_value(reading *r, const yaml_node_t *node, tacit_sensor_value *out) {
    enum { COLUMN, NAME, TAKE, UNIT, LOW, HIGH, KEYS };
    static const char *const keys[KEYS] = { "column", "name", "take", "unit", "low", "high" };
    const yaml_node_t *values[KEYS];
    unsigned take = 0;
    *out = (tacit_sensor_value){ .low = -INFINITY, .high = INFINITY };
    TACIT_TRY(tacit_yaml_mapping(&r->yaml, node, "a value", keys, KEYS, values, r->error));
    for (size_t k = COLUMN; k <= TAKE; k++) TACIT_TRY(require(r, node, values[k], keys[k], "a value"));
    TACIT_TRY(take_text(r, values[COLUMN], "'column'", out->column, sizeof out->column));
    TACIT_TRY(take_text(r, values[NAME], "'name'", out->name, sizeof out->name));
    TACIT_TRY(take_word(r, values[TAKE], "'take'", takes, &take));
    out->take = (tacit_take)take;
    if (values[UNIT] != NULL) TACIT_TRY(take_text(r, values[UNIT], "'unit'", out->unit, sizeof out->unit));
    if (values[LOW] != NULL)
        TACIT_TRY(tacit_yaml_number(&r->yaml, values[LOW], "'low'", &out->low, r->error));
    if (values[HIGH] != NULL)
        TACIT_TRY(tacit_yaml_number(&r->yaml, values[HIGH], "'high'", &out->high, r->error));
    if (!tacit_collection_name_fits(out->name))
        return tacit_yaml_fail(&r->yaml, values[NAME], r->error,
                               "'name' must be letters, digits, _ and -, beginning with a letter");
    for (const tacit_sensor_value *other = r->made->values; other < out; other++)
        if (strcmp(other->name, out->name) == 0)
            return tacit_yaml_fail(&r->yaml, values[NAME], r->error, "there are two values '%s': rename one",
                                   out->name);
    return out->low <= out->high
               ? TACIT_OK
               : tacit_yaml_fail(&r->yaml, node, r->error, "'low' must not be above 'high'");
}

static tacit_status take_values(reading *r, const yaml_node_t *node) {
    if (node->type != YAML_SEQUENCE_NODE)
        return tacit_yaml_fail(&r->yaml, node, r->error, "'values' must be a list");
    size_t count = (size_t)(node->data.sequence.items.top - node->data.sequence.items.start);
    if (count < 1 || count > TACIT_SENSOR_VALUES)
        return tacit_yaml_fail(&r->yaml, node, r->error, "'values' has 1 to %d entries", TACIT_SENSOR_VALUES);
    for (; r->made->count < count; r->made->count++)
        TACIT_TRY(take_value(
            r, yaml_document_get_node(&r->yaml.document, node->data.sequence.items.start[r->made->count]),
            &r->made->values[r->made->count]));
    return TACIT_OK;
}

static tacit_status take_time(reading *r, const yaml_node_t *node) {
    static const char *const keys[] = { "column", "form" };
    const yaml_node_t *values[2];
    unsigned form = TACIT_TIME_TEXT_FORM;
    TACIT_TRY(tacit_yaml_mapping(&r->yaml, node, "'time'", keys, 2, values, r->error));
    TACIT_TRY(require(r, node, values[0], "column", "'time'"));
    TACIT_TRY(take_text(r, values[0], "'column'", r->made->time, sizeof r->made->time));
    TACIT_TRY(take_word(r, values[1], "'form'", forms, &form));
    r->made->form = (tacit_time_form)form;
    return TACIT_OK;
}

static tacit_status take_only(reading *r, const yaml_node_t *node) {
    static const char *const keys[] = { "column", "is" };
    const yaml_node_t *values[2];
    if (node == NULL) return TACIT_OK;
    TACIT_TRY(tacit_yaml_mapping(&r->yaml, node, "'only'", keys, 2, values, r->error));
    for (size_t k = 0; k < 2; k++) TACIT_TRY(require(r, node, values[k], keys[k], "'only'"));
    TACIT_TRY(take_text(r, values[0], "'column'", r->made->only, sizeof r->made->only));
    return take_text(r, values[1], "'is'", r->made->is, sizeof r->made->is);
}

static tacit_status take_root(reading *r, const yaml_node_t *root) {
    enum { IMPORT, FORMAT, TIME, PER, VALUES, ZONE, ONLY, KEYS };
    static const char *const keys[KEYS] = { "import", "format", "time", "per", "values", "zone", "only" };
    const yaml_node_t *values[KEYS];
    unsigned per = 0, format = 0;
    TACIT_TRY(tacit_yaml_mapping(&r->yaml, root, "the mapping", keys, KEYS, values, r->error));
    for (size_t k = IMPORT; k <= VALUES; k++) TACIT_TRY(require(r, root, values[k], keys[k], "the mapping"));
    TACIT_TRY(take_text(r, values[IMPORT], "'import'", r->made->name, sizeof r->made->name));
    if (!tacit_collection_name_fits(r->made->name))
        return tacit_yaml_fail(&r->yaml, values[IMPORT], r->error,
                               "'import' must be letters, digits, _ and -, beginning with a letter");
    TACIT_TRY(take_word(r, values[FORMAT], "'format'", formats, &format));
    r->made->json_lines = format == 1;
    TACIT_TRY(take_time(r, values[TIME]));
    TACIT_TRY(take_word(r, values[PER], "'per'", pers, &per));
    r->made->per = (tacit_per)per;
    TACIT_TRY(take_zone(r, values[ZONE]));
    TACIT_TRY(take_only(r, values[ONLY]));
    return take_values(r, values[VALUES]);
}

void tacit_sensor_clear(tacit_sensor *sensor) { tacit_buffer_clear(&sensor->text); }

tacit_status tacit_sensor_parse(tacit_sensor *out, const char *text, size_t length, const char *name,
                                tacit_error *error) {
    reading r = { .error = error };
    if (length > TACIT_SENSOR_BYTES)
        return tacit_fail(error, TACIT_INPUT, "%s: a mapping has at most %d bytes", name, TACIT_SENSOR_BYTES);
    *out = (tacit_sensor){ .count = 0 };
    r.made = out;
    TACIT_TRY(tacit_yaml_open(&r.yaml, text, length, name, error));
    const yaml_node_t *root = tacit_yaml_root(&r.yaml);
    tacit_status status = root != NULL
                              ? take_root(&r, root)
                              : tacit_fail(error, TACIT_INPUT, "%s is empty: it has no mapping in it", name);
    tacit_yaml_close(&r.yaml);
    if (status == TACIT_OK) status = tacit_buffer_append(&out->text, text, length, error);
    return status;
}

/* ---- times ---- */

static int32_t floor_day(int64_t ms) {
    const int64_t day = 86400000;
    return (int32_t)(ms / day - (ms % day < 0));
}

/* Two digits up to `most`. */
static bool two(const char **at, int most, int *out) {
    const char *from = *at;
    if (!isdigit((unsigned char)from[0]) || !isdigit((unsigned char)from[1])) return false;
    *out = (from[0] - '0') * 10 + from[1] - '0';
    *at = from + 2;
    return *out <= most;
}

/* What follows the day: nothing, or "T07:30", "07:30:15.25", "... +01:00". */
static bool read_clock(const char *at, int64_t *ms, bool *has_offset, int *offset) {
    int hour = 0, minute = 0, second = 0;
    *has_offset = false;
    *ms = 0;
    if (*at == 0) return true;
    if (*at != 'T' && *at != ' ') return false;
    at++;
    if (!two(&at, 23, &hour) || *at++ != ':' || !two(&at, 59, &minute)) return false;
    if (*at == ':') {
        at++;
        if (!two(&at, 60, &second)) return false;
        if (*at == '.' || *at == ',') {
            at++;
            if (!isdigit((unsigned char)*at)) return false;
            int64_t scale = 100;
            for (; isdigit((unsigned char)*at); at++, scale /= 10) *ms += scale * (*at - '0');
        }
    }
    *ms += ((int64_t)hour * 60 + minute) * 60000 + (int64_t)second * 1000;
    while (*at == ' ') at++;
    if (*at == 0) return true;
    *has_offset = true;
    return read_offset(at, offset);
}

bool tacit_sensor_time(const tacit_sensor *sensor, const char *text, int64_t *time_ms, int32_t *day) {
    double number;
    int64_t clock;
    int offset = 0;
    bool has_offset;
    if (sensor->form != TACIT_TIME_TEXT_FORM) {
        if (!tacit_text_to_number(text, strlen(text), &number)) return false;
        number = sensor->form == TACIT_TIME_SECONDS ? number * 1000 : number;
        if (!(fabs(number) < 2.5e14)) return false;
        *time_ms = (int64_t)floor(number);
        *day = floor_day(*time_ms + (int64_t)sensor->zone * 60000);
        return true;
    }
    if (strlen(text) < 10 || !tacit_text_to_day(text, 10, day) ||
        !read_clock(text + 10, &clock, &has_offset, &offset))
        return false;
    if (!has_offset) offset = sensor->zone;
    *time_ms = (int64_t)*day * 86400000 + clock - (int64_t)offset * 60000;
    if (!sensor->as_written) *day = floor_day(*time_ms + (int64_t)sensor->zone * 60000);
    return true;
}
