/* Files into the store: records, periods, rows. */
#include "person/sensor/sensor.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>

#include "base/growing.h"
#include "data/schema/text.h"
#include "data/source/source.h"

/* One day, week or record. */
typedef struct period {
    int32_t day;
    int64_t time_ms; /* of its last record */
    uint64_t count[TACIT_SENSOR_VALUES];
    double sum[TACIT_SENSOR_VALUES], least[TACIT_SENSOR_VALUES], most[TACIT_SENSOR_VALUES];
} period;

typedef struct importing {
    const tacit_sensor *sensor;
    const char *path;
    period *periods; /* by their days, where they are not rows */
    size_t count, capacity;
    tacit_imported *out;
    tacit_error *error;
} importing;

/* A record's texts; NULL or "": nothing. */
typedef struct record {
    uint64_t line;
    const char *time, *kind, *values[TACIT_SENSOR_VALUES];
} record;

static int32_t period_of(const tacit_sensor *sensor, int32_t day) {
    int32_t weekday = (day + 3) % 7; /* 1970-01-01 was a Thursday; 0: Monday */
    return sensor->per == TACIT_PER_WEEK ? day - (weekday < 0 ? weekday + 7 : weekday) : day;
}

static tacit_status find_period(importing *self, int32_t day, period **out) {
    size_t low = 0, high = self->count;
    if (self->sensor->per == TACIT_PER_ROW) low = high;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (self->periods[middle].day < day)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < self->count && self->periods[low].day == day) {
        *out = &self->periods[low];
        return TACIT_OK;
    }
    if (self->count >= TACIT_SENSOR_PERIODS)
        return tacit_fail(self->error, TACIT_LIMIT, "%s gives more than %d rows: aggregate per day or week",
                          self->path, TACIT_SENSOR_PERIODS);
    period *periods = tacit_grow_by_one(self->periods, self->count, &self->capacity, 64, sizeof *periods);
    if (periods == NULL) return tacit_fail_memory(self->error);
    self->periods = periods;
    memmove(periods + low + 1, periods + low, (self->count - low) * sizeof *periods);
    self->count++;
    periods[low] = (period){ .day = day, .time_ms = INT64_MIN };
    *out = &periods[low];
    return TACIT_OK;
}

static tacit_status wrong(const importing *self, const record *one, const char *column, const char *text,
                          const char *what) {
    char shown[TACIT_CELL_TEXT];
    return tacit_fail(self->error, TACIT_INPUT, "%s:%" PRIu64 " (%s): '%s' is no %s", self->path, one->line,
                      column, tacit_text_shown(text, strlen(text), shown), what);
}

static tacit_status add_record(importing *self, const record *one) {
    const tacit_sensor *sensor = self->sensor;
    period *to = NULL;
    int64_t time_ms;
    int32_t day;
    if (sensor->only[0] != 0 && (one->kind == NULL || strcmp(one->kind, sensor->is) != 0)) return TACIT_OK;
    if (one->time == NULL || !tacit_sensor_time(sensor, one->time, &time_ms, &day))
        return wrong(self, one, sensor->time, one->time != NULL ? one->time : "", "time of this form");
    self->out->records++;
    TACIT_TRY(find_period(self, period_of(sensor, day), &to));
    if (time_ms > to->time_ms) to->time_ms = time_ms;
    for (size_t k = 0; k < sensor->count; k++) {
        const char *text = one->values[k];
        double value;
        if (text == NULL || tacit_text_is_missing(text, strlen(text))) continue;
        if (!tacit_text_to_number(text, strlen(text), &value))
            return wrong(self, one, sensor->values[k].column, text, "number");
        if (value < sensor->values[k].low || value > sensor->values[k].high) {
            self->out->beyond++;
            continue;
        }
        to->least[k] = to->count[k] == 0 ? value : fmin(to->least[k], value);
        to->most[k] = to->count[k] == 0 ? value : fmax(to->most[k], value);
        to->sum[k] += value;
        to->count[k]++;
    }
    return TACIT_OK;
}

/* ---- tables ---- */

static tacit_status read_table(importing *self) {
    const tacit_sensor *sensor = self->sensor;
    tacit_source *rows = NULL;
    size_t time, kind = 0, columns[TACIT_SENSOR_VALUES], width;
    tacit_row_block block = { .ended = false };
    tacit_status status;
    TACIT_CHECK(tacit_source_open(&rows, self->path, NULL, self->error));
    width = rows->columns.count;
    TACIT_CHECK(tacit_source_require(rows, sensor->time, "the mapping", &time, self->error));
    if (sensor->only[0] != 0)
        TACIT_CHECK(tacit_source_require(rows, sensor->only, "the mapping", &kind, self->error));
    for (size_t k = 0; k < sensor->count; k++)
        TACIT_CHECK(
            tacit_source_require(rows, sensor->values[k].column, "the mapping", &columns[k], self->error));
    while (!block.ended) {
        TACIT_CHECK(tacit_source_next(rows, 4096, &block, self->error));
        for (size_t i = 0; i < block.rows; i++) {
            const tacit_cell *cells = block.cells + i * width;
            char scratch[TACIT_SENSOR_VALUES + 2][TACIT_NUMBER_TEXT];
            record one = { .line = cells[0].line };
            one.time = tacit_cell_as_text(&cells[time], scratch[0]).text;
            if (sensor->only[0] != 0) one.kind = tacit_cell_as_text(&cells[kind], scratch[1]).text;
            for (size_t k = 0; k < sensor->count; k++)
                one.values[k] = tacit_cell_as_text(&cells[columns[k]], scratch[2 + k]).text;
            TACIT_CHECK(add_record(self, &one));
        }
    }
cleanup:
    tacit_source_free(rows);
    return status;
}

/* ---- JSON lines ---- */

/* A member as text; NULL where it is none of text and number. */
static const char *member(const json_t *object, const char *key, char scratch[TACIT_NUMBER_TEXT]) {
    const json_t *value = json_object_get(object, key);
    if (json_is_string(value)) return json_string_value(value);
    if (!json_is_number(value)) return NULL;
    if (json_is_integer(value)) {
        snprintf(scratch, TACIT_NUMBER_TEXT, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
        return scratch;
    }
    return tacit_number_to_text(json_number_value(value), scratch);
}

static tacit_status take_line(importing *self, uint64_t line, const tacit_buffer *text) {
    const tacit_sensor *sensor = self->sensor;
    char scratch[TACIT_SENSOR_VALUES + 2][TACIT_NUMBER_TEXT];
    record one = { .line = line };
    json_error_t why;
    size_t blank = 0;
    while (blank < text->length && strchr(" \t\r", text->bytes[blank]) != NULL) blank++;
    if (blank == text->length) return TACIT_OK;
    json_t *object = json_loadb((const char *)text->bytes, text->length, JSON_REJECT_DUPLICATES, &why);
    if (!json_is_object(object)) {
        const char *problem = object == NULL ? why.text : "it is something else";
        json_decref(object);
        return tacit_fail(self->error, TACIT_INPUT, "%s:%" PRIu64 ": each line must be one JSON object: %s",
                          self->path, line, problem);
    }
    one.time = member(object, sensor->time, scratch[0]);
    if (sensor->only[0] != 0) one.kind = member(object, sensor->only, scratch[1]);
    for (size_t k = 0; k < sensor->count; k++)
        one.values[k] = member(object, sensor->values[k].column, scratch[2 + k]);
    tacit_status status = add_record(self, &one);
    json_decref(object);
    return status;
}

static tacit_status read_lines(importing *self) {
    tacit_input *input = NULL;
    tacit_buffer line = TACIT_BUFFER_LIMITED(TACIT_SENSOR_LINE);
    const uint8_t *bytes;
    size_t length;
    uint64_t number = 1;
    tacit_status status;
    TACIT_CHECK(tacit_input_open(&input, self->path, self->error));
    for (;;) {
        TACIT_CHECK(tacit_input_next(input, &bytes, &length, self->error));
        if (length == 0) break;
        while (length > 0) {
            const uint8_t *end = memchr(bytes, '\n', length);
            size_t part = end != NULL ? (size_t)(end - bytes) : length;
            if (line.length + part >= TACIT_SENSOR_LINE)
                TACIT_CHECK(tacit_fail(self->error, TACIT_LIMIT,
                                       "%s:%" PRIu64 ": a line is longer than %d bytes", self->path, number,
                                       TACIT_SENSOR_LINE));
            TACIT_CHECK(tacit_buffer_append(&line, bytes, part, self->error));
            bytes += part + (end != NULL);
            length -= part + (end != NULL);
            if (end == NULL) continue;
            TACIT_CHECK(take_line(self, number++, &line));
            line.length = 0;
        }
    }
    if (line.length > 0) TACIT_CHECK(take_line(self, number, &line));
cleanup:
    tacit_input_free(input);
    tacit_buffer_clear(&line);
    return status;
}

/* ---- into the store ---- */

static const char *cell_of(const period *one, const tacit_sensor_value *value, size_t k,
                           char out[TACIT_NUMBER_TEXT]) {
    const double count = (double)one->count[k];
    if (value->take == TACIT_TAKE_COUNT) return tacit_number_to_text(count, out);
    if (one->count[k] == 0) return NULL;
    return tacit_number_to_text(value->take == TACIT_TAKE_SUM    ? one->sum[k]
                                : value->take == TACIT_TAKE_MEAN ? one->sum[k] / count
                                : value->take == TACIT_TAKE_MIN  ? one->least[k]
                                                                 : one->most[k],
                                out);
}

static size_t column_of(const tacit_collection *held, const char *name) {
    size_t j = 0;
    while (strcmp(held->columns[j].name, name) != 0) j++;
    return j;
}

static tacit_status add_periods(const importing *self, tacit_vault *vault, const tacit_collection *held,
                                int64_t origin) {
    const tacit_sensor *sensor = self->sensor;
    char texts[TACIT_SENSOR_VALUES][TACIT_NUMBER_TEXT];
    const char **cells = TACIT_NEW(const char *, held->count);
    tacit_status status = cells != NULL ? TACIT_OK : tacit_fail_memory(self->error);
    for (size_t i = 0; status == TACIT_OK && i < self->count; i++) {
        const period *one = &self->periods[i];
        int64_t id;
        for (size_t k = 0; k < sensor->count; k++)
            cells[column_of(held, sensor->values[k].name)] = cell_of(one, &sensor->values[k], k, texts[k]);
        const tacit_collection_row row = { 0, origin, one->day, one->time_ms, cells };
        status = tacit_row_add(vault, held, &row, &id, self->error);
    }
    free(cells);
    return status;
}

/* The file, and who vouches for it: the name that goes with the key, and the key's first digits. */
static void label_origin(tacit_origin *origin, const char *file, const tacit_signed_file *signer) {
    char key[2 * TACIT_SIGNED_KEY + 1];
    sodium_bin2hex(key, sizeof key, signer->key, sizeof signer->key);
    if (signer->is_signed)
        snprintf(origin->label, sizeof origin->label, "%.80s, signed by %s (key %.16s)", file, signer->name,
                 key);
    else
        snprintf(origin->label, sizeof origin->label, "%s", file);
}

static tacit_status check_signer(tacit_signed_file *out, const char *path, const uint8_t *key,
                                 tacit_error *error) {
    TACIT_TRY(tacit_signed_file_check(out, path, error));
    if (key == NULL || (out->is_signed && memcmp(key, out->key, TACIT_SIGNED_KEY) == 0)) return TACIT_OK;
    return tacit_fail(error, TACIT_REFUSED,
                      out->is_signed ? "%s is signed with another key" : "%s has no signature beside it",
                      path);
}

static tacit_status keep(const importing *self, tacit_vault *vault, int64_t now_ms) {
    const tacit_sensor *sensor = self->sensor;
    tacit_collection_column columns[TACIT_SENSOR_VALUES];
    tacit_collection wanted = { .kind = TACIT_COLLECTION_MEASURED,
                                .count = sensor->count,
                                .columns = columns },
                     held = { .id = 0 };
    tacit_origin origin = { .time_ms = now_ms, .text = sensor->text };
    const char *name = strrchr(self->path, '/') != NULL ? strrchr(self->path, '/') + 1 : self->path;
    int64_t id;
    memcpy(wanted.name, sensor->name, sizeof wanted.name);
    for (size_t k = 0; k < sensor->count; k++) {
        columns[k] = (tacit_collection_column){ .is_number = true };
        memcpy(columns[k].name, sensor->values[k].name, sizeof columns[k].name);
        memcpy(columns[k].unit, sensor->values[k].unit, sizeof columns[k].unit);
    }
    label_origin(&origin, name, &self->out->signer);
    TACIT_TRY(tacit_signed_file_hash(origin.hash, self->path, self->error));
    if (self->out->signer.is_signed && memcmp(origin.hash, self->out->signer.hash, sizeof origin.hash) != 0)
        return tacit_fail(self->error, TACIT_REFUSED, "%s was changed while it was being read", self->path);
    TACIT_TRY(tacit_vault_begin(vault, self->error));
    tacit_status status = tacit_collection_prepare(&held, vault, &wanted, self->error);
    if (status == TACIT_OK)
        status = tacit_rows_remove(vault, &held, self->out->first, self->out->last, self->error);
    if (status == TACIT_OK) status = tacit_origin_add(vault, &held, &origin, &id, self->error);
    if (status == TACIT_OK) status = add_periods(self, vault, &held, id);
    tacit_collection_clear(&held);
    if (status == TACIT_OK) return tacit_vault_commit(vault, self->error);
    tacit_vault_rollback(vault);
    return status;
}

tacit_status tacit_sensor_import(tacit_imported *out, tacit_vault *vault, const tacit_sensor *sensor,
                                 const char *path, const uint8_t *key, int64_t now_ms, tacit_error *error) {
    tacit_imported made = { .first = INT32_MAX, .last = INT32_MIN };
    importing self = { .sensor = sensor, .path = path, .out = &made, .error = error };
    TACIT_TRY(check_signer(&made.signer, path, key, error));
    tacit_status status = sensor->json_lines ? read_lines(&self) : read_table(&self);
    if (status == TACIT_OK && self.count == 0)
        status = tacit_fail(error, TACIT_INPUT, "%s has no record that the mapping asks for", path);
    for (size_t i = 0; i < self.count; i++) {
        const int32_t day = self.periods[i].day;
        if (day < made.first) made.first = day;
        if (day > made.last) made.last = day;
    }
    made.rows = self.count;
    if (status == TACIT_OK) status = keep(&self, vault, now_ms);
    free(self.periods);
    if (status == TACIT_OK) *out = made;
    return status;
}
