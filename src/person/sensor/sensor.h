/*
 * Exports of watches, phones and scales, brought into a person's store by a mapping that says what is what:
 *
 *   import: steps                  # the source's name in the store
 *   format: csv                    # or json-lines: one object a line
 *   time: {column: start, form: text}     # text (ISO 8601), seconds or milliseconds since 1970
 *   zone: as written               # whose day counts: the text's own, or a fixed one such as +01:00
 *   only: {column: type, is: StepCount}   # of a file of many kinds; may be left out
 *   per: day                       # day, week (named by its Monday) or row
 *   values:
 *     - {column: value, name: steps, unit: count, take: sum, low: 0, high: 100000}
 *
 * `take` is sum, mean, min, max or count. A value beyond low and high is left out, and counted. A new export
 * of the same days takes the place of the earlier one, from its first to its last day.
 */
#pragma once

#include "person/personal.h"
#include "person/sensor/signed_file.h"

enum {
    TACIT_SENSOR_VALUES = 32,
    TACIT_SENSOR_BYTES = 64 << 10,  /* of a mapping */
    TACIT_SENSOR_LINE = 1 << 20,    /* of a file of JSON lines */
    TACIT_SENSOR_PERIODS = 1000000, /* rows that come of one file, at most */
};

typedef enum tacit_take {
    TACIT_TAKE_SUM,
    TACIT_TAKE_MEAN,
    TACIT_TAKE_MIN,
    TACIT_TAKE_MAX,
    TACIT_TAKE_COUNT
} tacit_take;
typedef enum tacit_per { TACIT_PER_DAY, TACIT_PER_WEEK, TACIT_PER_ROW } tacit_per;
typedef enum tacit_time_form {
    TACIT_TIME_TEXT_FORM,
    TACIT_TIME_SECONDS,
    TACIT_TIME_MILLISECONDS
} tacit_time_form;

typedef struct tacit_sensor_value {
    char column[TACIT_COLLECTION_NAME], name[TACIT_COLLECTION_NAME], unit[32];
    tacit_take take;
    double low, high; /* infinite where nothing was said */
} tacit_sensor_value;

typedef struct tacit_sensor {
    char name[TACIT_COLLECTION_NAME], time[TACIT_COLLECTION_NAME], only[TACIT_COLLECTION_NAME], is[128];
    bool json_lines, as_written;
    tacit_time_form form;
    int zone; /* minutes east of UTC, where it is not as written */
    tacit_per per;
    size_t count;
    tacit_sensor_value values[TACIT_SENSOR_VALUES];
    tacit_buffer text; /* the mapping as it was read, for the origin */
} tacit_sensor;

/* TACIT_INPUT with line, key and remedy. */
tacit_status tacit_sensor_parse(tacit_sensor *out, const char *text, size_t length, const char *name,
                                tacit_error *error);
void tacit_sensor_clear(tacit_sensor *sensor);

/* The moment and the day that a text names; false: it is none. */
bool tacit_sensor_time(const tacit_sensor *sensor, const char *text, int64_t *time_ms, int32_t *day);

typedef struct tacit_imported {
    uint64_t records, beyond; /* that were of the kind asked for; values that were beyond their bounds */
    size_t rows;
    int32_t first, last; /* days */
    tacit_signed_file signer;
} tacit_imported;

/* Read a file by a mapping into the store, all of it or nothing; `now_ms` is when. One with a signature
 * beside it is checked first (TACIT_REFUSED), and its origin says who signed it. `key` (NULL: any, or none)
 * is whose signature it must have. */
tacit_status tacit_sensor_import(tacit_imported *out, tacit_vault *vault, const tacit_sensor *sensor,
                                 const char *path, const uint8_t *key, int64_t now_ms, tacit_error *error);
