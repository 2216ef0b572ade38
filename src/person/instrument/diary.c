#include "person/instrument/diary.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/memory.h"

/* ---- taking up ---- */

static tacit_status columns_of(tacit_collection *out, const tacit_instrument *instrument,
                               tacit_error *error) {
    *out = (tacit_collection){ .kind = TACIT_COLLECTION_ANSWERS,
                               .count = instrument->item_count + instrument->score_count };
    _Static_assert(sizeof out->name == sizeof instrument->name, "names fit");
    memcpy(out->name, instrument->name, sizeof out->name);
    out->columns = TACIT_NEW(tacit_collection_column, out->count);
    if (out->columns == NULL) return tacit_fail_memory(error);
    for (size_t i = 0; i < instrument->item_count; i++) {
        const tacit_item *item = &instrument->items[i];
        memcpy(out->columns[i].name, item->name, sizeof item->name);
        out->columns[i].is_number = item->kind == TACIT_ITEM_SCALE || item->kind == TACIT_ITEM_NUMBER;
    }
    for (size_t k = 0; k < instrument->score_count; k++) {
        tacit_collection_column *column = &out->columns[instrument->item_count + k];
        memcpy(column->name, instrument->scores[k].name, sizeof column->name);
        column->is_number = true;
    }
    return TACIT_OK;
}

/* The last origin of a collection. */
typedef struct last_origin {
    int64_t id;
    uint8_t hash[TACIT_ORIGIN_HASH];
    tacit_buffer text;
} last_origin;

static tacit_status note_origin(void *context, const tacit_origin *origin, tacit_error *error) {
    last_origin *last = context;
    last->id = origin->id;
    memcpy(last->hash, origin->hash, sizeof last->hash);
    last->text.length = 0;
    return tacit_buffer_append(&last->text, origin->text.bytes, origin->text.length, error);
}

static tacit_status check_newer(const last_origin *last, const tacit_instrument *instrument,
                                tacit_error *error) {
    tacit_instrument *before = NULL;
    if (last->id == 0) return TACIT_OK;
    TACIT_TRY(tacit_instrument_parse(&before, (const char *)last->text.bytes, last->text.length,
                                     instrument->name, error));
    const unsigned version = before->version;
    tacit_instrument_free(before);
    if (instrument->version > version) return TACIT_OK;
    return tacit_fail(error, TACIT_USAGE,
                      "the store has version %u of '%s', and this is another version %u: a changed "
                      "questionnaire has a higher one",
                      version, instrument->name, instrument->version);
}

static tacit_status take_up(tacit_vault *vault, const tacit_instrument *instrument, const char *text,
                            size_t length, int64_t now_ms, tacit_error *error) {
    tacit_collection wanted = { .id = 0 }, held = { .id = 0 };
    tacit_origin origin = { .time_ms = now_ms };
    last_origin last = { .id = 0 };
    int64_t id;
    tacit_status status;
    TACIT_CHECK(columns_of(&wanted, instrument, error));
    TACIT_CHECK(tacit_collection_prepare(&held, vault, &wanted, error));
    TACIT_CHECK(tacit_origins_each(vault, &held, note_origin, &last, error));
    if (last.id != 0 && memcmp(last.hash, instrument->hash, sizeof last.hash) == 0) goto cleanup;
    TACIT_CHECK(check_newer(&last, instrument, error));
    snprintf(origin.label, sizeof origin.label, "%s, version %u", instrument->name, instrument->version);
    memcpy(origin.hash, instrument->hash, sizeof origin.hash);
    TACIT_CHECK(tacit_buffer_append(&origin.text, text, length, error));
    TACIT_CHECK(tacit_origin_add(vault, &held, &origin, &id, error));
cleanup:
    tacit_buffer_clear(&last.text);
    tacit_origin_clear(&origin);
    tacit_collection_clear(&wanted);
    tacit_collection_clear(&held);
    return status;
}

tacit_status tacit_diary_take(tacit_vault *vault, const tacit_instrument *instrument, const char *text,
                              size_t length, int64_t now_ms, tacit_error *error) {
    TACIT_TRY(tacit_vault_begin(vault, error));
    tacit_status status = take_up(vault, instrument, text, length, now_ms, error);
    if (status == TACIT_OK) return tacit_vault_commit(vault, error);
    tacit_vault_rollback(vault);
    return status;
}

static tacit_status load(tacit_instrument **out, int64_t *origin, tacit_collection *held, tacit_vault *vault,
                         const char *name, tacit_error *error) {
    last_origin last = { .id = 0 };
    tacit_status status;
    TACIT_CHECK(tacit_collection_find(held, vault, name, error));
    if (held->kind != TACIT_COLLECTION_ANSWERS)
        TACIT_CHECK(tacit_fail(error, TACIT_USAGE, "'%s' is no questionnaire", held->name));
    TACIT_CHECK(tacit_origins_each(vault, held, note_origin, &last, error));
    TACIT_CHECK(
        tacit_instrument_parse(out, (const char *)last.text.bytes, last.text.length, held->name, error));
    *origin = last.id;
cleanup:
    tacit_buffer_clear(&last.text);
    return status;
}

tacit_status tacit_diary_load(tacit_instrument **out, tacit_vault *vault, const char *name,
                              tacit_error *error) {
    tacit_collection held = { .id = 0 };
    int64_t origin;
    tacit_status status = load(out, &origin, &held, vault, name, error);
    tacit_collection_clear(&held);
    return status;
}

/* ---- answering ---- */

static tacit_status sort_answers(const char **out, const tacit_instrument *instrument,
                                 const tacit_diary_answer *answers, size_t count, tacit_error *error) {
    for (size_t i = 0; i < instrument->item_count; i++) out[i] = NULL;
    for (size_t k = 0; k < count; k++) {
        size_t i = 0;
        while (i < instrument->item_count && strcmp(instrument->items[i].name, answers[k].item) != 0) i++;
        if (i == instrument->item_count)
            return tacit_fail(error, TACIT_USAGE, "'%s' has no item '%.60s'", instrument->name,
                              answers[k].item);
        if (out[i] != NULL)
            return tacit_fail(error, TACIT_USAGE, "there are two answers to '%s'", answers[k].item);
        out[i] = answers[k].text;
    }
    return TACIT_OK;
}

static tacit_status add_row(tacit_vault *vault, const tacit_collection *held,
                            const tacit_instrument *instrument, const tacit_filled *got,
                            tacit_collection_row *row, tacit_error *error) {
    const size_t items = instrument->item_count;
    const char **cells = TACIT_NEW(const char *, held->count);
    int64_t id;
    if (cells == NULL) return tacit_fail_memory(error);
    for (size_t k = 0; k < got->count; k++) {
        const char *name = k < items ? instrument->items[k].name : instrument->scores[k - items].name;
        for (size_t j = 0; j < held->count; j++)
            if (strcmp(held->columns[j].name, name) == 0) cells[j] = got->cells[k];
    }
    row->cells = cells;
    tacit_status status = tacit_row_add(vault, held, row, &id, error);
    free(cells);
    return status;
}

tacit_status tacit_diary_fill(tacit_filled *out, tacit_vault *vault, const char *name,
                              const tacit_diary_answer *answers, size_t count, int32_t day, int64_t now_ms,
                              tacit_error *error) {
    const char *sorted[TACIT_INSTRUMENT_ITEMS];
    tacit_collection_row row = { .day = day, .time_ms = now_ms };
    tacit_collection held = { .id = 0 };
    tacit_instrument *instrument = NULL;
    tacit_filled got = { .count = 0 };
    tacit_status status;
    TACIT_CHECK(load(&instrument, &row.origin, &held, vault, name, error));
    TACIT_CHECK(sort_answers(sorted, instrument, answers, count, error));
    TACIT_CHECK(tacit_instrument_answer(&got, instrument, sorted, error));
    TACIT_CHECK(add_row(vault, &held, instrument, &got, &row, error));
    if (out != NULL) {
        *out = got;
        got = (tacit_filled){ .count = 0 };
    }
cleanup:
    tacit_filled_clear(&got);
    tacit_instrument_free(instrument);
    tacit_collection_clear(&held);
    return status;
}

/* ---- when ---- */

static tacit_status note_day(void *context, const tacit_collection_row *row, tacit_error *error) {
    tacit_diary_state *state = context;
    (void)error;
    if (!state->answered || row->day > state->last) state->last = row->day;
    state->answered = true;
    state->rows++;
    return TACIT_OK;
}

tacit_status tacit_diary_look(tacit_diary_state *out, tacit_vault *vault, const tacit_instrument *instrument,
                              int32_t today, tacit_error *error) {
    tacit_diary_state state = { .rows = 0 };
    tacit_collection held = { .id = 0 };
    TACIT_TRY(tacit_collection_find(&held, vault, instrument->name, error));
    tacit_status status = tacit_rows_each(vault, &held, note_day, &state, error);
    tacit_collection_clear(&held);
    TACIT_TRY(status);
    state.again = !state.answered || instrument->prompt_days > 0;
    state.next = state.answered ? state.last + instrument->prompt_days : today;
    state.due = state.again && state.next <= today;
    *out = state;
    return TACIT_OK;
}

int32_t tacit_diary_today(int64_t now_ms) {
    const time_t seconds = (time_t)(now_ms / 1000);
    struct tm here = { 0 };
    localtime_r(&seconds, &here);
    return (int32_t)((seconds + here.tm_gmtoff) / 86400);
}
