/* A schema read off the data. Not private, and says so wherever it is written. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/memory.h"
#include "data/encode.h"
#include "data/schema/draft_looks.h"
#include "data/schema/names.h"
#include "data/schema/schema.h"
#include "data/schema/text.h"

const char tacit_schema_draft_comment[] =
    "DRAFT, NOT PRIVATE: what is marked 'from: rows' below was read off the data, and so reveals something\n"
    "about its rows. While a mark is left, this schema serves simulations only. For each mark: replace the\n"
    "values beside it by what is publicly known (round limits from general knowledge, the codes of the\n"
    "questionnaire, the range of the instrument), then remove ', from: rows'. For 'rows', write 'bound', or\n"
    "'scaled' where docs/reference/schema.md says that the method is better with it.";

/* sign * k * 10^exponent as the double nearest to that decimal. */
static double two_digits(double sign, int k, int exponent) {
    char text[TACIT_NUMBER_TEXT];
    double value = 0;
    int length = snprintf(text, sizeof text, "%de%d", k, exponent);
    if (!tacit_text_to_number(text, (size_t)length, &value)) return sign * INFINITY;
    return sign * value;
}

/* Round |value| to two significant digits, away from zero or towards it. */
static double round_magnitude(double value, bool away) {
    double sign = value < 0 ? -1 : 1, size = fabs(value);
    if (size == 0 || !isfinite(size)) return value;
    if (size < 1e-290) return away ? sign * 1e-290 : 0; /* powers of ten run out */
    int exponent = (int)floor(log10(size)) - 1;
    int k = (int)floor(size / pow(10, exponent)); /* right except for rounding: settled by comparing below */
    while (two_digits(1, k, exponent) > size) k--;
    while (two_digits(1, k + 1, exponent) <= size) k++;
    if (away && two_digits(1, k, exponent) < size) k++;
    return two_digits(sign, k, exponent);
}

double tacit_round_up(double value) { return round_magnitude(value, value > 0); }

double tacit_round_down(double value) { return round_magnitude(value, value < 0); }

/* One value of a label, with its number if all values are numbers. */
typedef struct class_value {
    const char *text;
    double number;
} class_value;

static int compare_numbers(const void *a, const void *b) {
    double x = ((const class_value *)a)->number, y = ((const class_value *)b)->number;
    return (x > y) - (x < y);
}

static int compare_texts(const void *a, const void *b) {
    return strcmp(((const class_value *)a)->text, ((const class_value *)b)->text);
}

static class_value *sorted_values(const tacit_levels *values) {
    class_value *sorted = TACIT_NEW(class_value, values->count);
    if (sorted == NULL) return NULL;
    bool all_numbers = true;
    for (size_t i = 0; i < values->count; i++) {
        sorted[i].text = values->text[i];
        all_numbers &= tacit_text_to_number(values->text[i], strlen(values->text[i]), &sorted[i].number);
    }
    qsort(sorted, values->count, sizeof *sorted, all_numbers ? compare_numbers : compare_texts);
    return sorted;
}

/* The position of the positive value among the sorted ones; count when it is not there. */
static size_t find_positive(const class_value *sorted, size_t count, const char *positive) {
    double wanted, number;
    for (size_t i = 0; i < count; i++)
        if (strcmp(sorted[i].text, positive) == 0) return i;
    if (!tacit_text_to_number(positive, strlen(positive), &wanted)) return count;
    for (size_t i = 0; i < count; i++)
        if (tacit_text_to_number(sorted[i].text, strlen(sorted[i].text), &number) && number == wanted)
            return i;
    return count;
}

static tacit_status add_class(tacit_schema *schema, const char *text, tacit_error *error) {
    return tacit_levels_add(&schema->classes, text, strlen(text), NULL, error);
}

/* One class against all the others. */
static tacit_status set_against_rest(tacit_schema *schema, const char *positive, tacit_error *error) {
    tacit_buffer rest = TACIT_BUFFER_INIT;
    tacit_status status = tacit_buffer_print(&rest, error, "not %s", positive);
    if (status == TACIT_OK) status = add_class(schema, tacit_buffer_text(&rest), error);
    if (status == TACIT_OK) status = add_class(schema, positive, error);
    schema->others = 0;
    tacit_buffer_clear(&rest);
    return status;
}

tacit_status tacit_schema_set_classes(tacit_schema *schema, const tacit_levels *values, const char *positive,
                                      const char *file, tacit_error *error) {
    char shown[TACIT_CELL_TEXT];
    size_t count = values->count;
    schema->label_from_rows = true;
    if (count < 2)
        return tacit_fail(error, TACIT_INPUT,
                          "%s: label '%s' has one value only ('%s'); there is nothing to tell apart", file,
                          schema->label, tacit_text_shown(values->text[0], strlen(values->text[0]), shown));
    class_value *sorted = sorted_values(values);
    if (sorted == NULL) return tacit_fail_memory(error);
    tacit_status status = TACIT_OK;
    size_t last = count - 1, at = positive != NULL ? find_positive(sorted, count, positive) : last;
    if (at == count) {
        size_t ignored;
        TACIT_CHECK(tacit_names_find(values, positive, "label value", "the option 'positive'", file, &ignored,
                                     error));
    } else if (positive != NULL && count > 2) {
        TACIT_CHECK(set_against_rest(schema, sorted[at].text, error));
    } else {
        for (size_t i = 0; i < count; i++)
            if (i != at) TACIT_CHECK(add_class(schema, sorted[i].text, error));
        TACIT_CHECK(add_class(schema, sorted[at].text, error));
    }
cleanup:
    free(sorted);
    return status;
}

/* The distinct values of a numeric label as texts, in ascending order; gives up past the limit. */
static tacit_status distinct_numbers(tacit_levels *out, const tacit_column *column, size_t rows,
                                     tacit_error *error) {
    double seen[TACIT_LEVEL_LIMIT + 1];
    size_t count = 0;
    for (size_t i = 0; i < rows && count <= TACIT_LEVEL_LIMIT; i++) {
        double value = column->number[i];
        size_t at = 0;
        if (isnan(value)) continue; /* no label */
        while (at < count && seen[at] < value) at++;
        if (at < count && seen[at] == value) continue;
        memmove(seen + at + 1, seen + at, (count - at) * sizeof *seen);
        seen[at] = value;
        count++;
    }
    for (size_t i = 0; i < count; i++) {
        char text[TACIT_NUMBER_TEXT];
        tacit_number_to_text(seen[i], text);
        TACIT_TRY(tacit_levels_add(out, text, strlen(text), NULL, error));
    }
    return TACIT_OK;
}

/* The rarer of two values of the label; NULL when they are as frequent. */
static const char *rarer_value(const tacit_column *column, size_t rows, const tacit_levels *values) {
    double second = 0;
    size_t seconds = 0;
    if (column->kind == TACIT_COLUMN_NUMBER)
        tacit_text_to_number(values->text[1], strlen(values->text[1]), &second);
    for (size_t i = 0; i < rows; i++)
        seconds += column->kind == TACIT_COLUMN_NUMBER ? column->number[i] == second : column->code[i] == 1;
    if (2 * seconds == rows) return NULL;
    return values->text[2 * seconds < rows];
}

static tacit_status draft_label(tacit_schema *schema, const tacit_table *table, const tacit_column *column,
                                const tacit_draft_options *options, tacit_error *error) {
    const char *positive = options->positive;
    schema->label = tacit_copy_text(column->name);
    if (schema->label == NULL) return tacit_fail_memory(error);
    if (column->missing > 0 && !options->unlabelled)
        return tacit_fail(
            error, TACIT_INPUT,
            "%s: %zu rows have no label in column '%s'. Give them one, or a schema whose label says "
            "missing: complete-case to leave them out",
            table->name, column->missing, column->name);
    if (column->missing > 0) schema->label_missing = TACIT_MISSING_UNLABELLED;
    tacit_levels numbers = TACIT_LEVELS_INIT;
    const tacit_levels *values = &column->levels;
    tacit_status status = TACIT_OK;
    if (column->kind == TACIT_COLUMN_NUMBER) {
        TACIT_CHECK(distinct_numbers(&numbers, column, table->rows, error));
        values = &numbers;
    }
    if (column->overflow || values->count > TACIT_LEVEL_LIMIT)
        TACIT_CHECK(tacit_fail(error, TACIT_INPUT,
                               "%s: column '%s' has more than %d different values, too many for classes; "
                               "%sname another label with the option 'label'",
                               table->name, column->name, TACIT_LEVEL_LIMIT,
                               column->kind == TACIT_COLUMN_NUMBER
                                   ? "for a regression on numbers give the option 'response' as number, or "
                                   : ""));
    const char *one, *other;
    if (options->tidy && tacit_levels_differ_in_case(values, values, &one, &other))
        TACIT_CHECK(
            tacit_fail(error, TACIT_INPUT,
                       "%s: values '%s' and '%s' of label '%s' differ in case alone, and would be two "
                       "classes; write them alike",
                       table->name, one, other, column->name));
    if (options->tidy && positive == NULL && values->count == 2)
        positive = rarer_value(column, table->rows, values);
    TACIT_CHECK(tacit_schema_set_classes(schema, values, positive, table->name, error));
cleanup:
    tacit_levels_clear(&numbers);
    return status;
}

static int compare_pointers(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Levels in strcmp order, so that the order of the rows does not show. */
static tacit_status copy_sorted(tacit_levels *out, const tacit_levels *levels, tacit_error *error) {
    const char **sorted = TACIT_NEW(const char *, levels->count);
    if (sorted == NULL) return tacit_fail_memory(error);
    for (size_t i = 0; i < levels->count; i++) sorted[i] = levels->text[i];
    qsort(sorted, levels->count, sizeof *sorted, compare_pointers);
    tacit_status status = TACIT_OK;
    for (size_t i = 0; i < levels->count && status == TACIT_OK; i++)
        status = tacit_levels_add(out, sorted[i], strlen(sorted[i]), NULL, error);
    free(sorted);
    return status;
}

/* After what is noted already. */
static tacit_status add_note(tacit_schema_column *column, const char *text, tacit_error *error) {
    tacit_buffer both = TACIT_BUFFER_INIT;
    if (column->note != NULL) TACIT_TRY(tacit_buffer_print(&both, error, "%s; %s", column->note, text));
    char *note = tacit_copy_text(column->note != NULL ? tacit_buffer_text(&both) : text);
    tacit_buffer_clear(&both);
    if (note == NULL) return tacit_fail_memory(error);
    free(column->note);
    column->note = note;
    return TACIT_OK;
}

static tacit_status skip_column(tacit_schema_column *column, const char *why, tacit_error *error) {
    column->kind = TACIT_SCHEMA_SKIP;
    return add_note(column, why, error);
}

static tacit_status draft_number(tacit_schema_column *out, const tacit_column *column, size_t rows,
                                 tacit_error *error) {
    static const double largest = 1e100, narrowest = 1e-100;
    double low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i < rows; i++) {
        if (column->number[i] < low) low = column->number[i];
        if (column->number[i] > high) high = column->number[i];
    }
    if (low > high) return skip_column(out, "every value is missing", error);
    low = fmin(fmax(low, -largest), largest);
    high = fmin(fmax(high, -largest), largest);
    if (high - low < narrowest) return skip_column(out, "every value is the same", error);
    out->low = tacit_round_down(low);
    out->high = tacit_round_up(high);
    return TACIT_OK;
}

/* ---- identifiers ---- */

enum { IDENTIFIER_ROWS = 20 }; /* from this many rows on, values that are all different mean something */

static int compare_doubles(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static bool is_named_like_an_identifier(const char *name) {
    static const char *const words[] = { "id",  "pid",    "uid", "subjid", "patid", "mrn",   "no",      "nr",
                                         "num", "number", "key", "code",   "index", "seqno", "rownames" };
    size_t length = strlen(name);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t tail = strlen(words[i]);
        if (length < tail || strcasecmp(name + length - tail, words[i]) != 0) continue;
        if (length == tail || strchr("_-. ", name[length - tail - 1]) != NULL) return true;
        if (name[length - tail] == 'I' && name[length - tail - 1] >= 'a') return true; /* patientId */
    }
    return false;
}

/* Whole numbers, all different, that count the rows or are named like a number of something. */
static tacit_status is_identifier(bool *out, const tacit_column *column, size_t rows, tacit_error *error) {
    *out = false;
    if (rows < IDENTIFIER_ROWS || column->missing > 0 || column->date.use != TACIT_DATE_NONE) return TACIT_OK;
    for (size_t i = 0; i < rows; i++)
        if (column->number[i] != floor(column->number[i])) return TACIT_OK;
    double *sorted = TACIT_NEW(double, rows);
    if (sorted == NULL) return tacit_fail_memory(error);
    memcpy(sorted, column->number, rows * sizeof *sorted);
    qsort(sorted, rows, sizeof *sorted, compare_doubles);
    bool different = true;
    for (size_t i = 1; i < rows && different; i++) different = sorted[i] != sorted[i - 1];
    /* measurements as dense as that would repeat */
    bool counts = sorted[rows - 1] - sorted[0] < 1.5 * (double)rows;
    free(sorted);
    *out = different && (counts || is_named_like_an_identifier(column->name));
    return TACIT_OK;
}

/* ---- rare levels ---- */

/* Levels with less than half a percent of the rows, or fewer than five, become one: there must be two of
 * them, and two others. */
static tacit_status join_rare_levels(tacit_schema_column *out, const tacit_column *column, size_t rows,
                                     tacit_error *error) {
    static const char name[] = "other";
    size_t count = column->levels.count, rare = 0;
    double least = fmax(5, .005 * (double)rows);
    size_t *seen = TACIT_NEW(size_t, count);
    tacit_levels kept = TACIT_LEVELS_INIT;
    tacit_status status = TACIT_OK;
    if (seen == NULL) return tacit_fail_memory(error);
    for (size_t i = 0; i < rows; i++)
        if (column->code[i] >= 0) seen[column->code[i]]++;
    for (size_t k = 0; k < count; k++) rare += (double)seen[k] < least;
    if (rare < 2 || count - rare < 2) goto cleanup;
    for (size_t k = 0; k < out->levels.count; k++) {
        const char *text = out->levels.text[k];
        int32_t code = tacit_levels_find(&column->levels, text, strlen(text));
        if ((double)seen[code] >= least)
            TACIT_CHECK(tacit_levels_add(&kept, text, strlen(text), NULL, error));
    }
    TACIT_CHECK(tacit_levels_add(&kept, name, strlen(name), &out->others, error));
    char note[80];
    snprintf(note, sizeof note, "%zu rare values are joined as 'other'", rare);
    TACIT_CHECK(add_note(out, note, error));
    tacit_levels_clear(&out->levels);
    out->levels = kept;
    kept = (tacit_levels)TACIT_LEVELS_INIT;
cleanup:
    tacit_levels_clear(&kept);
    free(seen);
    return status;
}

/* ---- columns ---- */

static const char date_note[] = "a date; or date: year, or date: age at 2020-01-01, with bounds to match";

static tacit_status draft_date(tacit_schema_column *out, const tacit_column *column, tacit_error *error) {
    if (column->date.use == TACIT_DATE_NONE || out->kind == TACIT_SCHEMA_SKIP) return TACIT_OK;
    out->date = column->date;
    return add_note(out, date_note, error);
}

/* A column by which the rows are dealt out says who holds a row, not what is in it. */
static bool names_parties(const tacit_table *table, const tacit_column *column) {
    for (size_t i = 0; i < table->cols; i++)
        if (table->columns[i].extra && table->columns[i].source == column->source) return true;
    return false;
}

static tacit_status draft_category(tacit_schema_column *out, const tacit_column *column, size_t rows,
                                   bool tidy, tacit_error *error) {
    char why[DRAFT_REMARK], look[DRAFT_REMARK];
    bool remarkable = tidy && draft_look_at_texts(column, look);
    snprintf(why, sizeof why, "more than %zu different texts", column->level_limit);
    if (column->overflow) return skip_column(out, remarkable ? look : why, error);
    if (column->levels.count < 2) return skip_column(out, "every value is the same", error);
    if (tidy && rows >= IDENTIFIER_ROWS && 2 * column->levels.count > rows)
        return skip_column(
            out, remarkable ? look : "nearly every row has a value of its own: an identifier or free text",
            error);
    TACIT_TRY(copy_sorted(&out->levels, &column->levels, error));
    if (remarkable) TACIT_TRY(add_note(out, look, error));
    return tidy ? join_rare_levels(out, column, rows, error) : TACIT_OK;
}

static tacit_status draft_column(tacit_schema *schema, const tacit_table *table, const tacit_column *column,
                                 bool tidy, tacit_error *error) {
    size_t rows = table->rows;
    bool identifier = false;
    tacit_schema_column *out;
    tacit_schema_kind kind = column->kind == TACIT_COLUMN_NUMBER ? TACIT_SCHEMA_NUMBER
                             : column->kind == TACIT_COLUMN_TEXT ? TACIT_SCHEMA_TEXT
                                                                 : TACIT_SCHEMA_CATEGORY;
    TACIT_TRY(tacit_schema_add_column(schema, &out, column->name, kind, error));
    if (names_parties(table, column)) return skip_column(out, "names the party", error);
    out->from_rows = kind != TACIT_SCHEMA_TEXT || column->vocabulary->buckets == 0;
    if (kind == TACIT_SCHEMA_TEXT) return tacit_vocabulary_copy(&out->text, column->vocabulary, error);
    if (kind == TACIT_SCHEMA_CATEGORY) return draft_category(out, column, rows, tidy, error);
    if (tidy) TACIT_TRY(is_identifier(&identifier, column, rows, error));
    if (identifier) return skip_column(out, "every row has a number of its own: an identifier", error);
    TACIT_TRY(draft_number(out, column, rows, error));
    char look[DRAFT_REMARK];
    if (tidy && out->kind == TACIT_SCHEMA_NUMBER && draft_look_at_numbers(column, rows, look))
        TACIT_TRY(add_note(out, look, error));
    return draft_date(out, column, error);
}

static tacit_status draft_clip(tacit_schema *schema, const tacit_table *table, tacit_error *error) {
    schema->rows = TACIT_ROWS_CLIP;
    schema->clip = 1;
    schema->clip_from_rows = true;
    tacit_encoder *encoder = NULL;
    TACIT_TRY(tacit_encoder_create(&encoder, schema, table, error));
    double largest = 0;
    for (size_t i = 0; i < table->rows; i++) largest = fmax(largest, tacit_encoder_norm(encoder, i));
    if (largest > 0) schema->clip = tacit_round_up(largest);
    tacit_encoder_free(encoder);
    return TACIT_OK;
}

/* Bounds of a numeric response, with the sentence that a draft's comment says of all bounds. */
static tacit_status draft_response(tacit_schema *schema, const tacit_table *table, const tacit_column *column,
                                   tacit_response response, tacit_error *error) {
    tacit_schema_column bounds = { .name = NULL };
    schema->label = tacit_copy_text(column->name);
    if (schema->label == NULL) return tacit_fail_memory(error);
    if (column->kind != TACIT_COLUMN_NUMBER)
        return tacit_fail(error, TACIT_INPUT, "%s: column '%s' holds texts, and a %s was asked for",
                          table->name, column->name, tacit_response_name(response));
    if (column->missing > 0)
        return tacit_fail(error, TACIT_INPUT, "%s: %zu rows have no label in column '%s'", table->name,
                          column->missing, column->name);
    tacit_status status = draft_number(&bounds, column, table->rows, error);
    bool varies = bounds.note == NULL;
    free(bounds.note);
    TACIT_TRY(status);
    if (!varies)
        return tacit_fail(error, TACIT_INPUT,
                          "%s: label '%s' has one value only; there is nothing to explain", table->name,
                          column->name);
    schema->response = response;
    schema->label_from_rows = true;
    schema->low = response == TACIT_RESPONSE_COUNT ? 0 : bounds.low;
    schema->high = response == TACIT_RESPONSE_COUNT ? fmax(1, ceil(bounds.high)) : bounds.high;
    return TACIT_OK;
}

static tacit_status nothing_to_learn(const tacit_schema *schema, const tacit_table *table,
                                     tacit_error *error) {
    char first[DRAFT_REMARK + 2 * TACIT_CELL_TEXT] = "", shown[TACIT_CELL_TEXT];
    if (schema->cols > 0 && schema->columns[0].note != NULL)
        snprintf(first, sizeof first, ". Column '%s': %s",
                 tacit_text_shown(schema->columns[0].name, strlen(schema->columns[0].name), shown),
                 schema->columns[0].note);
    return tacit_fail(error, TACIT_INPUT,
                      "%s: no column but the label holds anything to learn from (constant columns, "
                      "identifiers and free text are skipped)%s",
                      table->name, first);
}

tacit_status tacit_schema_draft(tacit_schema **out, const tacit_table *table,
                                const tacit_draft_options *options, tacit_error *error) {
    size_t label_at = table->cols - 1;
    while (label_at > 0 && table->columns[label_at].extra) label_at--;
    if (options->label != NULL)
        TACIT_TRY(tacit_table_find(table, options->label, "the option 'label'", &label_at, error));
    tacit_schema *schema = NULL;
    TACIT_TRY(tacit_schema_create(&schema, error));
    tacit_status status = TACIT_OK;
    if (options->response == TACIT_RESPONSE_CLASS)
        TACIT_CHECK(draft_label(schema, table, &table->columns[label_at], options, error));
    else
        TACIT_CHECK(draft_response(schema, table, &table->columns[label_at], options->response, error));
    for (size_t i = 0; i < table->cols; i++)
        if (i != label_at && !table->columns[i].extra)
            TACIT_CHECK(draft_column(schema, table, &table->columns[i], options->tidy, error));
    if (tacit_schema_features(schema) == schema->intercept)
        TACIT_CHECK(nothing_to_learn(schema, table, error));
    TACIT_CHECK(draft_clip(schema, table, error));
    *out = schema;
    schema = NULL;
cleanup:
    tacit_schema_free(schema);
    return status;
}
