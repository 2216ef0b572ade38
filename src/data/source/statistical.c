/*
 * Files of SAS, Stata and SPSS, read by ReadStat: clinic.sas7bdat, clinic.xpt, clinic.dta, clinic.sav,
 * clinic.zsav.
 *
 * A value that the file calls missing, by the system's mark or by a code that its author declared, is an
 * empty cell. Codes with labels become the labels' texts where at least two values that are not missing have
 * one (1 = male, 2 = female); a single label marks something special in a column of numbers, which it stays.
 * Dates become 2024-02-29, whatever day the program counts from.
 *
 * SAS keeps labels in a catalogue apart from the rows: clinic.sas7bcat beside clinic.sas7bdat, or else
 * formats.sas7bcat there.
 *
 * ReadStat pushes values, and a source is asked for blocks: the parser runs in a thread of its own that
 * waits whenever a block is full. Only one of the two works at a time.
 */
#include <limits.h>
#include <math.h>
#include <pthread.h>
#include <readstat.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "data/schema/date.h"
#include "data/source/source_parts.h"

typedef readstat_error_t parse_function(readstat_parser_t *parser, const char *path, void *context);

typedef struct file_format {
    size_t offset, length;
    const char *bytes;
    parse_function *parse;
    const char *what;
} file_format;

#define MAGIC(bytes) sizeof(bytes) - 1, bytes

static const file_format formats[] = {
    { 12, MAGIC("\xC2\xEA\x81\x60\xB3\x14\x11\xCF\xBD\x92\x08\x00"), readstat_parse_sas7bdat,
      "a SAS file (.sas7bdat)" },
    { 0, MAGIC("HEADER RECORD*******LIB"), readstat_parse_xport, "a SAS transport file (.xpt)" },
    { 0, MAGIC("<stata_dta>"), readstat_parse_dta, "a Stata file (.dta)" },
    { 0, MAGIC("$FL2"), readstat_parse_sav, "an SPSS file (.sav)" },
    { 0, MAGIC("$FL3"), readstat_parse_sav, "an SPSS file (.zsav)" },
};

enum { FIRST_BYTES = 32, OLDEST_STATA = 104, LAST_OLD_STATA = 115 };

/* Before version 13 a Stata file begins with its version, the order of its bytes, 1 and 0. */
static bool is_old_stata(const uint8_t *bytes, size_t length) {
    return length >= 4 && bytes[0] >= OLDEST_STATA && bytes[0] <= LAST_OLD_STATA &&
           (bytes[1] == 1 || bytes[1] == 2) && bytes[2] == 1 && bytes[3] == 0;
}

/* NULL: none of them. */
static const file_format *find_format(const uint8_t *bytes, size_t length) {
    static const file_format old_stata = { .parse = readstat_parse_dta, .what = "a Stata file (.dta)" };
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (length >= formats[i].offset + formats[i].length &&
            memcmp(bytes + formats[i].offset, formats[i].bytes, formats[i].length) == 0)
            return &formats[i];
    return is_old_stata(bytes, length) ? &old_stata : NULL;
}

static bool takes(const tacit_place *place) {
    return place->bytes != NULL && find_format(place->bytes, place->length) != NULL;
}

/* ---- what is known of columns ---- */

typedef struct label {
    char *set, *text;
    double value; /* of a number */
    char *word;   /* of a text; NULL for a number */
} label;

/* What a number of a column stands for. */
typedef enum meaning { MEANS_NUMBER, MEANS_LABEL, MEANS_DAYS, MEANS_SECONDS } meaning;

typedef struct column {
    char *set; /* of labels; NULL: none */
    meaning meaning;
    double per_day;       /* of MEANS_SECONDS: units in a day */
    double epoch;         /* the day that is 0, counted from 1970-01-01 */
    size_t first, labels; /* its labels */
    bool settled;         /* it is known whether they name categories */
} column;

typedef struct statistical {
    tacit_source base;
    const file_format *format;
    column *columns;
    size_t column_count;
    label *labels;
    size_t label_count;
    filling block;
    /* Who works: the reader, who asks, or the parser in its thread. */
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t moved;
    bool started, parsing, stopping, ended;
    size_t most;
    tacit_row_block *out;
    bool chosen; /* the row that comes in */
    tacit_status status;
    tacit_error error;
} statistical;

/* ---- dates ---- */

typedef struct date_form {
    const char *prefix;
    double per_day; /* 0: the numbers are days */
    double epoch;
} date_form;

enum { EPOCH_1960 = -3653, EPOCH_1582 = -141428 };
enum { DAY_SECONDS = 86400, DAY_MILLISECONDS = 86400000 };

static const date_form stata_dates[] = {
    { "%td", 0, EPOCH_1960 }, { "%d", 0, EPOCH_1960 }, { "%tc", DAY_MILLISECONDS, EPOCH_1960 }, { NULL, 0, 0 }
};
static const date_form spss_dates[] = {
    { "DATE", DAY_SECONDS, EPOCH_1582 },  { "ADATE", DAY_SECONDS, EPOCH_1582 },
    { "EDATE", DAY_SECONDS, EPOCH_1582 }, { "JDATE", DAY_SECONDS, EPOCH_1582 },
    { "SDATE", DAY_SECONDS, EPOCH_1582 }, { NULL, 0, 0 }
};
static const date_form sas_dates[] = {
    { "DATETIME", DAY_SECONDS, EPOCH_1960 },
    { "E8601DT", DAY_SECONDS, EPOCH_1960 },
    { "DATE", 0, EPOCH_1960 },
    { "DDMMYY", 0, EPOCH_1960 },
    { "MMDDYY", 0, EPOCH_1960 },
    { "YYMMDD", 0, EPOCH_1960 },
    { "E8601DA", 0, EPOCH_1960 },
    { "B8601DA", 0, EPOCH_1960 },
    { NULL, 0, 0 },
};

static void find_date(column *one, parse_function *parse, const char *format) {
    const date_form *form = parse == readstat_parse_dta   ? stata_dates
                            : parse == readstat_parse_sav ? spss_dates
                                                          : sas_dates;
    for (; format != NULL && form->prefix != NULL; form++) {
        if (strncmp(format, form->prefix, strlen(form->prefix)) != 0) continue;
        one->meaning = form->per_day > 0 ? MEANS_SECONDS : MEANS_DAYS;
        one->per_day = form->per_day;
        one->epoch = form->epoch;
        return;
    }
}

/* ---- the first pass: columns and labels, no values ---- */

static int give_up(statistical *self, tacit_status status) {
    self->status = status;
    return READSTAT_HANDLER_ABORT;
}

static int hear_variable(int index, readstat_variable_t *variable, const char *set, void *context) {
    statistical *self = context;
    (void)index;
    column *columns = tacit_grow(self->columns, self->column_count + 1, sizeof *columns);
    if (columns == NULL) return give_up(self, tacit_fail_memory(&self->error));
    self->columns = columns;
    column *one = &columns[self->column_count++];
    *one = (column){ .meaning = MEANS_NUMBER };
    const bool number = readstat_variable_get_type_class(variable) == READSTAT_TYPE_CLASS_NUMERIC;
    if (number) find_date(one, self->format->parse, readstat_variable_get_format(variable));
    if (set != NULL && set[0] != 0 && (one->set = tacit_copy_text(set)) == NULL)
        return give_up(self, tacit_fail_memory(&self->error));
    const char *name = readstat_variable_get_name(variable);
    tacit_column_hint hint = number ? TACIT_HINT_NONE : TACIT_HINT_CATEGORY;
    tacit_status status = source_add_column(&self->base, name != NULL ? name : "", hint, &self->error);
    return status == TACIT_OK ? READSTAT_HANDLER_OK : give_up(self, status);
}

static int hear_label(const char *set, readstat_value_t value, const char *text, void *context) {
    statistical *self = context;
    const bool word = readstat_value_type(value) == READSTAT_TYPE_STRING;
    if (set == NULL || text == NULL || (word && readstat_string_value(value) == NULL) ||
        readstat_value_is_system_missing(value) || readstat_value_is_tagged_missing(value))
        return READSTAT_HANDLER_OK;
    label *labels = tacit_grow(self->labels, self->label_count + 1, sizeof *labels);
    if (labels == NULL) return give_up(self, tacit_fail_memory(&self->error));
    self->labels = labels;
    label *one = &labels[self->label_count++];
    *one = (label){ .set = tacit_copy_text(set),
                    .text = tacit_copy_text(text),
                    .value = word ? 0 : readstat_double_value(value),
                    .word = word ? tacit_copy_text(readstat_string_value(value)) : NULL };
    if (one->set != NULL && one->text != NULL && (!word || one->word != NULL)) return READSTAT_HANDLER_OK;
    return give_up(self, tacit_fail_memory(&self->error));
}

static int compare_labels(const void *a, const void *b) {
    const label *one = a, *other = b;
    const int sets = strcmp(one->set, other->set);
    if (sets != 0) return sets;
    if (one->word != NULL && other->word != NULL) return strcmp(one->word, other->word);
    return (one->value > other->value) - (one->value < other->value);
}

/* Each column's own labels lie together. */
static void settle_labels(statistical *self) {
    if (self->label_count > 0) qsort(self->labels, self->label_count, sizeof *self->labels, compare_labels);
    for (size_t j = 0; j < self->column_count; j++) {
        column *one = &self->columns[j];
        if (one->set == NULL) continue;
        while (one->first < self->label_count && strcmp(self->labels[one->first].set, one->set) < 0)
            one->first++;
        while (one->first + one->labels < self->label_count &&
               strcmp(self->labels[one->first + one->labels].set, one->set) == 0)
            one->labels++;
    }
}

/* ---- values ---- */

/* The label of a number, or of a text; NULL: it has none. */
static const char *find_label(const statistical *self, const column *one, double value, const char *word) {
    size_t low = one->first, high = one->first + one->labels;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const label *at = &self->labels[middle];
        if ((word == NULL) != (at->word == NULL)) return NULL;
        const int order = word != NULL ? strcmp(word, at->word) : (value > at->value) - (value < at->value);
        if (order == 0) return at->text;
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return NULL;
}

/* Labels of codes that are not missing values: with two of them the codes name categories. */
static bool names_categories(const statistical *self, column *one, readstat_variable_t *variable) {
    size_t named = 0;
    if (one->meaning == MEANS_LABEL || one->settled) return one->meaning == MEANS_LABEL;
    one->settled = true;
    for (size_t k = one->first; k < one->first + one->labels && named < 2; k++) {
        const label *at = &self->labels[k];
        readstat_value_t value = { .type = at->word != NULL ? READSTAT_TYPE_STRING : READSTAT_TYPE_DOUBLE };
        if (at->word != NULL)
            value.v.string_value = at->word;
        else
            value.v.double_value = at->value;
        named += !readstat_value_is_defined_missing(value, variable);
    }
    if (named == 2) one->meaning = MEANS_LABEL;
    return named == 2;
}

static tacit_status add_text(statistical *self, const char *text, tacit_error *error) {
    const size_t length = text != NULL ? strlen(text) : 0;
    const uint64_t line = self->base.row + 1;
    if (length > FIELD_LIMIT)
        return tacit_source_fail(&self->base, line, self->block.count % self->column_count, error,
                                 TACIT_LIMIT, "a value is longer than %d bytes", FIELD_LIMIT);
    return filling_add_text(&self->block, TACIT_CELL_PLAIN, text, length, line, error);
}

/* A day as people write it; what lies outside their calendar stays a number. */
static tacit_status add_date(statistical *self, const column *one, double value, tacit_error *error) {
    char text[TACIT_DAY_TEXT];
    const double day = floor(one->meaning == MEANS_SECONDS ? value / one->per_day : value) + one->epoch;
    if (!(day >= TACIT_FIRST_DAY && day <= TACIT_LAST_DAY))
        return filling_add_number(&self->block, value, self->base.row + 1, error);
    return add_text(self, tacit_day_text((int32_t)day, text), error);
}

/* Refused where it is used, as in a file; a NaN is no value. */
static tacit_status add_endless(statistical *self, double value, tacit_error *error) {
    return add_text(self, isnan(value) ? "" : value > 0 ? "inf" : "-inf", error);
}

static tacit_status add_value(statistical *self, readstat_variable_t *variable, readstat_value_t value,
                              tacit_error *error) {
    column *one = &self->columns[readstat_variable_get_index(variable)];
    if (readstat_value_is_missing(value, variable)) return add_text(self, "", error);
    const bool is_text = readstat_value_type_class(value) == READSTAT_TYPE_CLASS_STRING;
    const char *word = is_text ? readstat_string_value(value) : NULL;
    const double number = is_text ? 0 : readstat_double_value(value);
    if (is_text && word == NULL) return add_text(self, "", error);
    if (one->labels > 1 && names_categories(self, one, variable)) {
        const char *text = find_label(self, one, number, word);
        if (text != NULL) return add_text(self, text, error);
    }
    if (is_text) return add_text(self, word, error);
    if (!isfinite(number)) return add_endless(self, number, error);
    if (one->meaning == MEANS_DAYS || one->meaning == MEANS_SECONDS)
        return add_date(self, one, number, error);
    return filling_add_number(&self->block, number, self->base.row + 1, error);
}

/* ---- taking turns ---- */

/* The reader's turn, until it asks again. True: it wants no more. */
static bool hand_over(statistical *self) {
    pthread_mutex_lock(&self->lock);
    self->parsing = false;
    pthread_cond_broadcast(&self->moved);
    while (!self->parsing) pthread_cond_wait(&self->moved, &self->lock);
    const bool stopping = self->stopping;
    pthread_mutex_unlock(&self->lock);
    return stopping;
}

/* The parser works until a block is full or all has been read. */
static void await_parser(statistical *self) {
    pthread_mutex_lock(&self->lock);
    while (self->parsing) pthread_cond_wait(&self->moved, &self->lock);
    pthread_mutex_unlock(&self->lock);
}

/* Its turn again. */
static void wake_parser(statistical *self) {
    pthread_mutex_lock(&self->lock);
    self->parsing = true;
    pthread_cond_broadcast(&self->moved);
    pthread_mutex_unlock(&self->lock);
    await_parser(self);
}

static int hear_value(int row, readstat_variable_t *variable, readstat_value_t value, void *context) {
    statistical *self = context;
    const int index = readstat_variable_get_index(variable);
    (void)row;
    if (index < 0 || (size_t)index >= self->column_count)
        return give_up(self, tacit_fail(&self->error, TACIT_INPUT,
                                        "%s is damaged: it has a column more than "
                                        "it says",
                                        self->base.name));
    if (index == 0) {
        tacit_row_block *out = self->out;
        if (out->rows + out->left_out >= self->most || filling_is_full(&self->block))
            if (hand_over(self)) return READSTAT_HANDLER_ABORT;
        self->chosen = tacit_row_filter_keeps(self->base.filter, self->base.row);
    }
    if (self->chosen) {
        tacit_status status = add_value(self, variable, value, &self->error);
        if (status != TACIT_OK) return give_up(self, status);
    }
    if ((size_t)index + 1 < self->column_count) return READSTAT_HANDLER_OK;
    self->out->rows += self->chosen;
    self->out->left_out += !self->chosen;
    self->base.row++;
    return READSTAT_HANDLER_OK;
}

/* They are known from the first pass; without anybody who hears them ReadStat does not make them. */
static int hear_variable_again(int index, readstat_variable_t *variable, const char *set, void *context) {
    (void)index;
    (void)variable;
    (void)set;
    (void)context;
    return READSTAT_HANDLER_OK;
}

/* `what` the file is: "a Stata file". */
static tacit_status finish(const statistical *self, readstat_error_t code, const char *path, const char *what,
                           tacit_error *error) {
    if (self->status != TACIT_OK) return tacit_fail(error, self->status, "%s", self->error.text);
    if (code == READSTAT_OK || self->stopping) return TACIT_OK;
    if (code == READSTAT_ERROR_MALLOC) return tacit_fail_memory(error);
    return tacit_fail(error, TACIT_INPUT, "%s is %s that cannot be read: %s", path, what,
                      readstat_error_message(code));
}

/* Parse from the first byte. With `values`, rows; else columns and labels. */
static tacit_status parse_file(statistical *self, bool values, tacit_error *error) {
    readstat_parser_t *parser = readstat_parser_init();
    if (parser == NULL) return tacit_fail_memory(error);
    if (values) {
        readstat_set_variable_handler(parser, hear_variable_again);
        readstat_set_value_handler(parser, hear_value);
    } else {
        readstat_set_variable_handler(parser, hear_variable);
        readstat_set_value_label_handler(parser, hear_label);
    }
    readstat_error_t code = self->format->parse(parser, self->base.name, self);
    readstat_parser_free(parser);
    return finish(self, code, self->base.name, self->format->what, error);
}

/* The catalogue of a SAS file: of its own name, or the one that SAS calls formats. False: there is none. */
static bool find_catalogue(const statistical *self, char out[PATH_MAX]) {
    static const char end[] = ".sas7bdat";
    const char *name = self->base.name, *slash = strrchr(name, '/');
    const size_t length = strlen(name), tail = sizeof end - 1;
    if (self->format->parse != readstat_parse_sas7bdat) return false;
    if (length > tail && strcasecmp(name + length - tail, end) == 0 &&
        snprintf(out, PATH_MAX, "%.*s.sas7bcat", (int)(length - tail), name) < PATH_MAX &&
        access(out, F_OK) == 0)
        return true;
    const int folder = slash != NULL ? (int)(slash - name) + 1 : 0;
    return snprintf(out, PATH_MAX, "%.*sformats.sas7bcat", folder, name) < PATH_MAX && access(out, F_OK) == 0;
}

static tacit_status read_catalogue(statistical *self, tacit_error *error) {
    char path[PATH_MAX];
    if (!find_catalogue(self, path)) return TACIT_OK;
    readstat_parser_t *parser = readstat_parser_init();
    if (parser == NULL) return tacit_fail_memory(error);
    readstat_set_value_label_handler(parser, hear_label);
    readstat_error_t code = readstat_parse_sas7bcat(parser, path, self);
    readstat_parser_free(parser);
    return finish(self, code, path, "a catalogue of SAS formats", error);
}

static void *run_parser(void *context) {
    statistical *self = context;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_status status = parse_file(self, true, &error);
    pthread_mutex_lock(&self->lock);
    self->status = status;
    self->error = error;
    self->ended = true;
    self->parsing = false;
    pthread_cond_broadcast(&self->moved);
    pthread_mutex_unlock(&self->lock);
    return NULL;
}

static tacit_status start_parser(statistical *self, tacit_error *error) {
    self->parsing = true;
    if (pthread_create(&self->thread, NULL, run_parser, self) != 0)
        return tacit_fail(error, TACIT_NO_MEMORY, "%s: no thread could be started to read it",
                          self->base.name);
    self->started = true;
    await_parser(self);
    return TACIT_OK;
}

static void stop_parser(statistical *self) {
    if (!self->started) return;
    if (!self->ended) {
        self->stopping = true;
        wake_parser(self);
    }
    pthread_join(self->thread, NULL);
    self->started = self->stopping = self->ended = false;
    self->status = TACIT_OK;
    self->error = (tacit_error)TACIT_ERROR_INIT;
}

static tacit_status statistical_next(tacit_source *source, size_t most, tacit_row_block *out,
                                     tacit_error *error) {
    statistical *self = (statistical *)source;
    filling_empty(&self->block);
    self->most = most;
    self->out = out;
    if (!self->started)
        TACIT_TRY(start_parser(self, error));
    else if (!self->ended)
        wake_parser(self);
    if (self->ended && self->status != TACIT_OK)
        return tacit_fail(error, self->status, "%s", self->error.text);
    out->ended = self->ended;
    filling_finish(&self->block);
    out->cells = self->block.cells;
    return TACIT_OK;
}

static tacit_status statistical_rewind(tacit_source *source, tacit_error *error) {
    stop_parser((statistical *)source);
    source->row = 0;
    return tacit_input_rewind(source->input, error); /* refuses a file that has changed */
}

/* ---- opening ---- */

static void statistical_free(tacit_source *source) {
    statistical *self = (statistical *)source;
    stop_parser(self);
    pthread_cond_destroy(&self->moved);
    pthread_mutex_destroy(&self->lock);
    for (size_t j = 0; j < self->column_count; j++) free(self->columns[j].set);
    for (size_t k = 0; k < self->label_count; k++) {
        free(self->labels[k].set);
        free(self->labels[k].text);
        free(self->labels[k].word);
    }
    free(self->columns);
    free(self->labels);
    filling_clear(&self->block);
}

/* ReadStat opens the file by its path, so the bytes must lie there as they are. */
static tacit_status check_plain(const tacit_place *place, tacit_error *error) {
    uint8_t bytes[FIRST_BYTES];
    FILE *file = fopen(place->name, "rb");
    size_t length = file != NULL ? fread(bytes, 1, sizeof bytes, file) : 0;
    if (file != NULL) fclose(file);
    if (find_format(bytes, length) == find_format(place->bytes, place->length)) return TACIT_OK;
    return tacit_fail(error, TACIT_INPUT,
                      "%s holds a file of SAS, Stata or SPSS, which is read by its path and not compressed: "
                      "unpack it first",
                      place->name);
}

static tacit_status statistical_open(tacit_source **out, const tacit_place *place,
                                     const tacit_source_options *options, tacit_error *error) {
    statistical *self = NULL;
    tacit_status status;
    (void)options;
    TACIT_TRY(check_plain(place, error));
    TACIT_TRY(source_create(&self, sizeof *self, &tacit_source_statistical, place->name, error));
    pthread_mutex_init(&self->lock, NULL);
    pthread_cond_init(&self->moved, NULL);
    self->format = find_format(place->bytes, place->length);
    TACIT_CHECK(parse_file(self, false, error));
    TACIT_CHECK(read_catalogue(self, error));
    if (self->column_count == 0)
        TACIT_CHECK(tacit_fail(error, TACIT_INPUT, "%s has no columns", place->name));
    settle_labels(self);
    *out = &self->base;
    self = NULL;
cleanup:
    if (self != NULL) tacit_source_free(&self->base);
    return status;
}

const tacit_source_kind tacit_source_statistical = { .name = "statistical",
                                                     .row = "row",
                                                     .takes = takes,
                                                     .open = statistical_open,
                                                     .next = statistical_next,
                                                     .rewind = statistical_rewind,
                                                     .free = statistical_free };
