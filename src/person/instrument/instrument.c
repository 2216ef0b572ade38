/* Questionnaires: texts, answers, scores, and the columns that a study may name. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "data/formula/condition.h"
#include "data/schema/date.h"
#include "data/schema/text.h"
#include "person/instrument/instrument_parts.h"

static void clear_said(tacit_said *said) {
    for (size_t k = 0; k < TACIT_INSTRUMENT_LANGUAGES; k++) free(said->in[k]);
}

tacit_instrument *tacit_instrument_free(tacit_instrument *instrument) {
    if (instrument == NULL) return NULL;
    for (size_t i = 0; i < instrument->item_count; i++) {
        tacit_item *item = &instrument->items[i];
        clear_said(&item->ask);
        tacit_levels_clear(&item->values);
        for (size_t k = 0; k < item->says_count; k++)
            if (item->says != NULL) clear_said(&item->says[k]);
        free(item->says);
        free(item->show_if);
        tacit_condition_free(item->condition);
    }
    free(instrument->items);
    free(instrument->scores);
    clear_said(&instrument->title);
    clear_said(&instrument->about);
    free(instrument->licence);
    free(instrument->source);
    tacit_levels_clear(&instrument->languages);
    tacit_schema_free(instrument->schema);
    free(instrument);
    return NULL;
}

const char *tacit_said_in(const tacit_instrument *instrument, const tacit_said *said, const char *language) {
    int32_t code =
        language != NULL ? tacit_levels_find(&instrument->languages, language, strlen(language)) : 0;
    return said->in[code >= 0 ? code : 0];
}

/* ---- answers ---- */

/* An answer as a number: of a choice its place, of a text 0; NaN where there is none. False: it does not
 * fit. */
static bool value_of(const tacit_item *item, const char *answer, double *out) {
    size_t length = answer != NULL ? strlen(answer) : 0;
    int32_t day;
    *out = NAN;
    if (length == 0) return true;
    switch (item->kind) {
    case TACIT_ITEM_CHOICE: *out = tacit_levels_find(&item->values, answer, length); return *out >= 0;
    case TACIT_ITEM_TEXT:
        *out = 0;
        return length <= TACIT_INSTRUMENT_TEXT && tacit_text_is_utf8(answer, length);
    case TACIT_ITEM_DATE:
        if (!tacit_text_to_day(answer, length, &day)) return false;
        *out = day;
        break;
    default:
        if (!tacit_text_to_number(answer, length, out)) return false;
        if (item->kind == TACIT_ITEM_SCALE && *out != floor(*out)) return false;
    }
    return *out >= item->low && *out <= item->high;
}

static tacit_status unfit(const tacit_item *item, const char *answer, tacit_error *error) {
    char shown[TACIT_CELL_TEXT], low[TACIT_NUMBER_TEXT], high[TACIT_NUMBER_TEXT], from[TACIT_DAY_TEXT],
        to[TACIT_DAY_TEXT];
    tacit_text_shown(answer, strlen(answer), shown);
    if (item->kind == TACIT_ITEM_CHOICE)
        return tacit_fail(error, TACIT_USAGE, "'%s' is no choice of '%s': answer e.g. '%s'", shown,
                          item->name, item->values.text[0]);
    if (item->kind == TACIT_ITEM_TEXT)
        return tacit_fail(error, TACIT_USAGE, "the answer to '%s' must be UTF-8 text of at most %d bytes",
                          item->name, TACIT_INSTRUMENT_TEXT);
    if (item->kind == TACIT_ITEM_DATE)
        return tacit_fail(error, TACIT_USAGE, "'%s' is no answer to '%s': give a day from %s to %s", shown,
                          item->name, tacit_day_text((int32_t)item->low, from),
                          tacit_day_text((int32_t)item->high, to));
    return tacit_fail(error, TACIT_USAGE, "'%s' is no answer to '%s': give a %snumber from %s to %s", shown,
                      item->name, item->kind == TACIT_ITEM_SCALE ? "whole " : "",
                      tacit_number_to_text(item->low, low), tacit_number_to_text(item->high, high));
}

/* One item, when those before it are decided: is it shown, and what is its value? Of an item that is hidden
 * the value is missing, and so it is for conditions that look at it. */
static bool decide(const tacit_instrument *instrument, size_t i, const char *answer, double *value,
                   bool *shown) {
    const tacit_item *item = &instrument->items[i];
    double about[TACIT_INSTRUMENT_ITEMS];
    const size_t *columns = NULL;
    *shown = true;
    if (item->condition != NULL) {
        size_t count = tacit_condition_columns(item->condition, &columns);
        for (size_t k = 0; k < count; k++) about[k] = value[columns[k]];
        *shown = tacit_condition_holds(item->condition, about);
    }
    value[i] = NAN;
    return !*shown || value_of(item, answer, &value[i]);
}

void tacit_instrument_shown(bool *shown, const tacit_instrument *instrument, const char *const *answers) {
    double value[TACIT_INSTRUMENT_ITEMS];
    for (size_t i = 0; i < instrument->item_count; i++)
        if (!decide(instrument, i, answers[i], value, &shown[i])) value[i] = NAN;
}

/* NaN where too few are answered. */
static double score_of(const tacit_instrument *instrument, const tacit_score *score, const double *value) {
    double sum = 0;
    size_t answered = 0;
    for (size_t k = 0; k < score->count; k++) {
        const tacit_item *item = &instrument->items[score->items[k]];
        double one = value[score->items[k]];
        if (isnan(one)) continue;
        answered++;
        sum += score->reversed[k] ? item->low + item->high - one : one;
    }
    if (answered < score->least_answered) return NAN;
    if (answered == score->count && !score->mean) return sum; /* exactly, where nothing is missing */
    return sum * (score->mean ? 1 : (double)score->count) / (double)answered;
}

void tacit_filled_clear(tacit_filled *answers) {
    for (size_t i = 0; answers->cells != NULL && i < answers->count; i++) free(answers->cells[i]);
    free(answers->cells);
    free(answers->shown);
    *answers = (tacit_filled){ .count = 0 };
}

static tacit_status keep_cell(tacit_filled *out, size_t place, const tacit_item *item, const char *answer,
                              double value, tacit_error *error) {
    char text[TACIT_NUMBER_TEXT], day[TACIT_DAY_TEXT];
    if (isnan(value)) return TACIT_OK;
    if (item == NULL || item->kind == TACIT_ITEM_SCALE || item->kind == TACIT_ITEM_NUMBER)
        answer = tacit_number_to_text(value, text);
    else if (item->kind == TACIT_ITEM_DATE)
        answer = tacit_day_text((int32_t)value, day);
    out->cells[place] = tacit_copy_text(answer);
    return out->cells[place] != NULL ? TACIT_OK : tacit_fail_memory(error);
}

static tacit_status fill_answers(tacit_filled *out, const tacit_instrument *instrument,
                                 const char *const *answers, tacit_error *error) {
    double value[TACIT_INSTRUMENT_ITEMS];
    const size_t items = instrument->item_count;
    for (size_t i = 0; i < items; i++) {
        const tacit_item *item = &instrument->items[i];
        if (!decide(instrument, i, answers[i], value, &out->shown[i])) return unfit(item, answers[i], error);
        if (item->required && out->shown[i] && isnan(value[i]))
            return tacit_fail(error, TACIT_USAGE, "'%s' must be answered", item->name);
        TACIT_TRY(keep_cell(out, i, item, answers[i], value[i], error));
    }
    for (size_t k = 0; k < instrument->score_count; k++)
        TACIT_TRY(keep_cell(out, items + k, NULL, NULL, score_of(instrument, &instrument->scores[k], value),
                            error));
    return TACIT_OK;
}

tacit_status tacit_instrument_answer(tacit_filled *out, const tacit_instrument *instrument,
                                     const char *const *answers, tacit_error *error) {
    tacit_filled made = { .count = instrument->item_count + instrument->score_count };
    made.cells = TACIT_NEW(char *, made.count);
    made.shown = TACIT_NEW(bool, instrument->item_count);
    tacit_status status = made.cells != NULL && made.shown != NULL ? TACIT_OK : tacit_fail_memory(error);
    if (status == TACIT_OK) status = fill_answers(&made, instrument, answers, error);
    if (status == TACIT_OK)
        *out = made;
    else
        tacit_filled_clear(&made);
    return status;
}

/* ---- schemas ---- */

static tacit_status print_quoted(tacit_buffer *out, const char *text, tacit_error *error) {
    TACIT_TRY(tacit_buffer_append(out, "'", 1, error));
    for (; *text != 0; text++)
        TACIT_TRY(tacit_buffer_append(out, *text == '\'' ? "''" : text, *text == '\'' ? 2 : 1, error));
    return tacit_buffer_append(out, "'", 1, error);
}

static tacit_status print_levels(tacit_buffer *out, const char *key, const tacit_item *item,
                                 tacit_error *error) {
    TACIT_TRY(tacit_buffer_print(out, error, ", %s: [", key));
    for (size_t k = 0; k < item->values.count; k++) {
        if (k > 0) TACIT_TRY(tacit_buffer_print(out, error, ", "));
        TACIT_TRY(print_quoted(out, item->values.text[k], error));
    }
    return tacit_buffer_print(out, error, "]");
}

static tacit_status print_bounds(tacit_buffer *out, double low, double high, tacit_error *error) {
    char from[TACIT_NUMBER_TEXT], to[TACIT_NUMBER_TEXT];
    return tacit_buffer_print(out, error, ", low: %s, high: %s", tacit_number_to_text(low, from),
                              tacit_number_to_text(high, to));
}

tacit_status instrument_print_item(tacit_buffer *out, const tacit_item *item, tacit_error *error) {
    TACIT_TRY(tacit_buffer_print(out, error, "  - {name: %s, kind: %s", item->name,
                                 item->kind == TACIT_ITEM_TEXT     ? "skip"
                                 : item->kind == TACIT_ITEM_CHOICE ? "category"
                                                                   : "number"));
    if (item->kind == TACIT_ITEM_CHOICE) TACIT_TRY(print_levels(out, "levels", item, error));
    if (item->kind == TACIT_ITEM_DATE)
        TACIT_TRY(tacit_buffer_print(out, error, ", date: days since 1970-01-01"));
    if (item->kind != TACIT_ITEM_CHOICE && item->kind != TACIT_ITEM_TEXT)
        TACIT_TRY(print_bounds(out, item->low, item->high, error));
    return tacit_buffer_print(out, error, "}\n");
}

static tacit_status print_label(tacit_buffer *out, const tacit_instrument *instrument, const char *label,
                                tacit_error *error) {
    for (size_t i = 0; i < instrument->item_count; i++) {
        const tacit_item *item = &instrument->items[i];
        if (strcmp(item->name, label) != 0) continue;
        if (item->kind == TACIT_ITEM_TEXT || item->kind == TACIT_ITEM_DATE)
            return tacit_fail(error, TACIT_USAGE,
                              "'%s' is a %s: a label is a scale, a number, a choice or a score", label,
                              tacit_item_kind_name(item->kind));
        TACIT_TRY(tacit_buffer_print(out, error, "label: {name: %s", label));
        if (item->kind == TACIT_ITEM_CHOICE)
            TACIT_TRY(print_levels(out, "classes", item, error));
        else
            TACIT_TRY(tacit_buffer_print(out, error, ", kind: number"));
        if (item->kind != TACIT_ITEM_CHOICE) TACIT_TRY(print_bounds(out, item->low, item->high, error));
        return tacit_buffer_print(out, error, "}\n");
    }
    for (size_t k = 0; k < instrument->score_count; k++) {
        const tacit_score *score = &instrument->scores[k];
        if (strcmp(score->name, label) != 0) continue;
        TACIT_TRY(tacit_buffer_print(out, error, "label: {name: %s, kind: number", label));
        TACIT_TRY(print_bounds(out, score->low, score->high, error));
        return tacit_buffer_print(out, error, "}\n");
    }
    return tacit_fail(error, TACIT_USAGE, "questionnaire '%s' has no item or score '%.60s'", instrument->name,
                      label);
}

tacit_status tacit_instrument_schema(tacit_buffer *out, const tacit_instrument *instrument, const char *label,
                                     tacit_error *error) {
    TACIT_TRY(tacit_buffer_print(out, error, "# What questionnaire %s, version %u, says about its columns.\n",
                                 instrument->name, instrument->version));
    TACIT_TRY(print_label(out, instrument, label, error));
    TACIT_TRY(tacit_buffer_print(out, error, "columns:\n"));
    for (size_t i = 0; i < instrument->item_count; i++)
        if (strcmp(instrument->items[i].name, label) != 0)
            TACIT_TRY(instrument_print_item(out, &instrument->items[i], error));
    for (size_t k = 0; k < instrument->score_count; k++) {
        const tacit_score *score = &instrument->scores[k];
        if (strcmp(score->name, label) == 0) continue;
        TACIT_TRY(tacit_buffer_print(out, error, "  - {name: %s, kind: number", score->name));
        TACIT_TRY(print_bounds(out, score->low, score->high, error));
        TACIT_TRY(tacit_buffer_print(out, error, "}\n"));
    }
    return TACIT_OK;
}
