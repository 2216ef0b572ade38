/* Entries to canonical bytes and back. */
#include <sodium.h>
#include <string.h>
#include <time.h>

#include "privacy/ledger/ledger_log_parts.h"

/* Version 2 has the event behind the price, and what is then spent of each limit; version 3 how a limit is
 * counted. */
enum { BODY_VERSION_FIRST = 1, BODY_VERSION_EVENTS = 2, BODY_VERSION = 3 };

static const uint32_t UNKNOWN_BALANCE = UINT32_MAX; /* in place of an accountant, or of a way of counting */

_Static_assert(TACIT_HASH_BYTES == crypto_generichash_BYTES, "BLAKE2b-256");

const char *tacit_entry_kind_name(tacit_entry_kind kind) {
    switch (kind) {
    case TACIT_ENTRY_CHARGE: return "charge";
    case TACIT_ENTRY_REFUSAL: return "refusal";
    case TACIT_ENTRY_LIMIT: return "limit";
    case TACIT_ENTRY_CONSENT: return "consent";
    case TACIT_ENTRY_WITHDRAWAL: return "withdrawal";
    case TACIT_ENTRY_END: return "end";
    case TACIT_ENTRY_LINK: return "link";
    case TACIT_ENTRY_STATEMENT: return "statement";
    case TACIT_ENTRY_CONTACT: return "contact";
    }
    return "unknown entry";
}

static const char *text_or_empty(const char *text) { return text != NULL ? text : ""; }

tacit_entry tacit_entry_make(tacit_entry_kind kind, const char *source, const tacit_release *about,
                             const char *reason) {
    struct timespec now = { 0, 0 };
    clock_gettime(CLOCK_REALTIME, &now);
    tacit_entry entry = { .kind = kind, .source = source, .reason = text_or_empty(reason), .about = *about };
    entry.time = (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
    entry.about.assumption = text_or_empty(about->assumption);
    entry.about.coordinator = text_or_empty(about->coordinator);
    entry.about.study = text_or_empty(about->study);
    entry.about.method = text_or_empty(about->method);
    entry.about.question = text_or_empty(about->question);
    if (kind == TACIT_ENTRY_CHARGE)
        crypto_generichash(entry.payload_hash, sizeof entry.payload_hash, about->payload,
                           about->payload_length, NULL, 0);
    return entry;
}

/* Length, bytes and a NUL, so that a decoded text needs no copy. */
static tacit_status put_text(tacit_buffer *out, const char *text, tacit_error *error) {
    size_t length = strlen(text);
    TACIT_TRY(tacit_buffer_append_u32(out, (uint32_t)length, error));
    return tacit_buffer_append(out, text, length + 1, error);
}

static tacit_status put_event(tacit_buffer *out, const tacit_event *event, tacit_error *error) {
    TACIT_TRY(tacit_buffer_append_u32(out, (uint32_t)event->kind, error));
    TACIT_TRY(tacit_buffer_append_u32(out, event->replaced, error));
    TACIT_TRY(tacit_buffer_append_double(out, event->parameter, error));
    TACIT_TRY(tacit_buffer_append_double(out, event->delta, error));
    TACIT_TRY(tacit_buffer_append_double(out, event->sampling, error));
    return tacit_buffer_append_u64(out, event->count, error);
}

static tacit_status put_balances(tacit_buffer *out, const tacit_entry *entry, tacit_error *error) {
    for (size_t i = 0; i < 2; i++)
        for (size_t unit = 0; unit < TACIT_UNITS; unit++) {
            const tacit_balance *after = &entry->after[i][unit];
            TACIT_TRY(
                tacit_buffer_append_u32(out, after->known ? (uint32_t)after->by : UNKNOWN_BALANCE, error));
            TACIT_TRY(tacit_buffer_append_double(out, after->epsilon, error));
            TACIT_TRY(tacit_buffer_append_double(out, after->delta, error));
        }
    return TACIT_OK;
}

tacit_status tacit_entry_encode(tacit_buffer *out, const tacit_entry *entry, tacit_error *error) {
    const tacit_release *about = &entry->about;
    const uint32_t codes[] = { BODY_VERSION, (uint32_t)entry->kind, (uint32_t)about->kind,
                               (uint32_t)about->noise, (uint32_t)about->price.unit };
    const uint64_t counts[] = { (uint64_t)entry->time,   about->round,           about->rows,
                                about->parties_declared, about->parties_minimum, about->parameters,
                                about->payload_length };
    const char *const texts[] = { entry->source, entry->reason, about->assumption, about->coordinator,
                                  about->study,  about->method, about->question };
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        TACIT_TRY(tacit_buffer_append_u32(out, codes[i], error));
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        TACIT_TRY(tacit_buffer_append_u64(out, counts[i], error));
    TACIT_TRY(tacit_buffer_append_double(out, about->price.epsilon, error));
    TACIT_TRY(tacit_buffer_append_double(out, about->price.delta, error));
    TACIT_TRY(put_event(out, &about->event, error));
    TACIT_TRY(put_balances(out, entry, error));
    TACIT_TRY(tacit_buffer_append_u32(out, entry->counted ? (uint32_t)entry->counting.count : UNKNOWN_BALANCE,
                                      error));
    TACIT_TRY(tacit_buffer_append_double(out, entry->counting.order, error));
    TACIT_TRY(tacit_buffer_append(out, about->answer_id, sizeof about->answer_id, error));
    TACIT_TRY(tacit_buffer_append(out, about->study_hash, sizeof about->study_hash, error));
    TACIT_TRY(tacit_buffer_append(out, about->question_hash, sizeof about->question_hash, error));
    TACIT_TRY(tacit_buffer_append(out, entry->payload_hash, sizeof entry->payload_hash, error));
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) TACIT_TRY(put_text(out, texts[i], error));
    return TACIT_OK;
}

static bool take_text(tacit_cursor *cursor, const char **out) {
    uint32_t length;
    const uint8_t *start;
    if (!tacit_cursor_read_u32(cursor, &length) || length > TACIT_ENTRY_BODY_MOST) return false;
    if (!tacit_cursor_skip(cursor, &start, (size_t)length + 1)) return false;
    if (memchr(start, 0, (size_t)length + 1) != start + length) return false;
    *out = (const char *)start;
    return true;
}

static bool take_event(tacit_cursor *cursor, tacit_event *event) {
    uint32_t kind, replaced;
    if (!tacit_cursor_read_u32(cursor, &kind) || !tacit_cursor_read_u32(cursor, &replaced)) return false;
    event->kind = (tacit_event_kind)kind;
    event->replaced = replaced != 0;
    return replaced <= 1 && tacit_cursor_read_double(cursor, &event->parameter) &&
           tacit_cursor_read_double(cursor, &event->delta) &&
           tacit_cursor_read_double(cursor, &event->sampling) && tacit_cursor_read_u64(cursor, &event->count);
}

static bool take_balances(tacit_cursor *cursor, tacit_entry *entry) {
    for (size_t i = 0; i < 2; i++)
        for (size_t unit = 0; unit < TACIT_UNITS; unit++) {
            tacit_balance *after = &entry->after[i][unit];
            uint32_t by;
            if (!tacit_cursor_read_u32(cursor, &by) || !tacit_cursor_read_double(cursor, &after->epsilon) ||
                !tacit_cursor_read_double(cursor, &after->delta))
                return false;
            after->known = by != UNKNOWN_BALANCE;
            if (after->known && by >= TACIT_COMPOSITIONS) return false;
            after->by = after->known ? (tacit_composition)by : TACIT_COMPOSITION_BASIC;
        }
    return true;
}

static bool take_counting(tacit_cursor *cursor, tacit_entry *entry) {
    uint32_t way;
    if (!tacit_cursor_read_u32(cursor, &way) || !tacit_cursor_read_double(cursor, &entry->counting.order))
        return false;
    entry->counted = way != UNKNOWN_BALANCE;
    if (entry->counted && way >= TACIT_COUNTS) return false;
    entry->counting.count = entry->counted ? (tacit_count)way : TACIT_COUNT_LEAST;
    return true;
}

/* A refusal may be about a release whose codes are nonsense: those are kept as they came, and only the
 * entry's own kind is checked. */
static bool take_numbers(tacit_cursor *cursor, tacit_entry *entry) {
    uint32_t version, kind, release_kind, noise, unit;
    uint64_t time, payload_length;
    tacit_release *about = &entry->about;
    if (!tacit_cursor_read_u32(cursor, &version) || !tacit_cursor_read_u32(cursor, &kind) ||
        !tacit_cursor_read_u32(cursor, &release_kind) || !tacit_cursor_read_u32(cursor, &noise) ||
        !tacit_cursor_read_u32(cursor, &unit))
        return false;
    if (version < BODY_VERSION_FIRST || version > BODY_VERSION || kind >= TACIT_ENTRY_KINDS) return false;
    entry->kind = (tacit_entry_kind)kind;
    about->kind = (tacit_release_kind)release_kind;
    about->noise = (tacit_noise)noise;
    about->price.unit = (tacit_unit)unit;
    if (!tacit_cursor_read_u64(cursor, &time) || !tacit_cursor_read_u64(cursor, &about->round) ||
        !tacit_cursor_read_u64(cursor, &about->rows) ||
        !tacit_cursor_read_u64(cursor, &about->parties_declared) ||
        !tacit_cursor_read_u64(cursor, &about->parties_minimum) ||
        !tacit_cursor_read_u64(cursor, &about->parameters) || !tacit_cursor_read_u64(cursor, &payload_length))
        return false;
    entry->time = (int64_t)time;
    about->payload_length = (size_t)payload_length;
    if (!tacit_cursor_read_double(cursor, &about->price.epsilon) ||
        !tacit_cursor_read_double(cursor, &about->price.delta))
        return false;
    return version == BODY_VERSION_FIRST ||
           (take_event(cursor, &about->event) && take_balances(cursor, entry) &&
            (version == BODY_VERSION_EVENTS || take_counting(cursor, entry)));
}

static bool take_bytes_and_texts(tacit_cursor *cursor, tacit_entry *entry) {
    tacit_release *about = &entry->about;
    return tacit_cursor_read(cursor, about->answer_id, sizeof about->answer_id) &&
           tacit_cursor_read(cursor, about->study_hash, sizeof about->study_hash) &&
           tacit_cursor_read(cursor, about->question_hash, sizeof about->question_hash) &&
           tacit_cursor_read(cursor, entry->payload_hash, sizeof entry->payload_hash) &&
           take_text(cursor, &entry->source) && take_text(cursor, &entry->reason) &&
           take_text(cursor, &about->assumption) && take_text(cursor, &about->coordinator) &&
           take_text(cursor, &about->study) && take_text(cursor, &about->method) &&
           take_text(cursor, &about->question) && cursor->left == 0;
}

tacit_status tacit_entry_decode(tacit_entry *out, const uint8_t *body, size_t length, tacit_error *error) {
    tacit_cursor cursor = tacit_cursor_over(body, length);
    tacit_entry entry = { .number = 0 };
    if (!take_numbers(&cursor, &entry) || !take_bytes_and_texts(&cursor, &entry))
        return tacit_fail(error, TACIT_CORRUPT, "its bytes are not an entry");
    *out = entry;
    return TACIT_OK;
}

void tacit_entry_hash(uint8_t out[TACIT_HASH_BYTES], const uint8_t previous[TACIT_HASH_BYTES],
                      const uint8_t *body, size_t length) {
    crypto_generichash_state state;
    crypto_generichash_init(&state, NULL, 0, TACIT_HASH_BYTES);
    crypto_generichash_update(&state, previous, TACIT_HASH_BYTES);
    crypto_generichash_update(&state, body, length);
    crypto_generichash_final(&state, out, TACIT_HASH_BYTES);
}
