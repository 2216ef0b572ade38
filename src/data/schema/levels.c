#include "data/schema/levels.h"

#include <string.h>
#include <strings.h>

#include "base/growing.h"
#include "base/memory.h"

/* FNV-1a. The list is capped by its owner and private to one process, so a hostile file can at worst make
 * its own reading slow. */
static uint64_t hash_text(const char *text, size_t length) {
    uint64_t hash = UINT64_C(14695981039346656037);
    for (size_t i = 0; i < length; i++) hash = (hash ^ (uint8_t)text[i]) * UINT64_C(1099511628211);
    return hash ^ hash >> 29;
}

/* The slot that holds the text, or the empty one where it belongs. */
static size_t find_slot(const tacit_levels *levels, const char *text, size_t length) {
    size_t mask = levels->slot_count - 1;
    for (size_t slot = (size_t)hash_text(text, length) & mask;; slot = (slot + 1) & mask) {
        uint32_t held = levels->slots[slot];
        if (held == 0) return slot;
        const char *other = levels->text[held - 1];
        if (strlen(other) == length && memcmp(other, text, length) == 0) return slot;
    }
}

int32_t tacit_levels_find(const tacit_levels *levels, const char *text, size_t length) {
    if (levels->count == 0) return -1;
    return (int32_t)levels->slots[find_slot(levels, text, length)] - 1;
}

static tacit_status make_room(tacit_levels *levels, tacit_error *error) {
    char **text = tacit_grow_by_one(levels->text, levels->count, &levels->capacity, 8, sizeof *text);
    if (text == NULL) return tacit_fail_memory(error);
    levels->text = text;
    if (2 * (levels->count + 1) <= levels->slot_count) return TACIT_OK;
    tacit_levels wider = *levels;
    wider.slot_count = levels->slot_count > 0 ? 2 * levels->slot_count : 16;
    wider.slots = TACIT_NEW(uint32_t, wider.slot_count);
    if (wider.slots == NULL) return tacit_fail_memory(error);
    for (size_t i = 0; i < levels->count; i++)
        wider.slots[find_slot(&wider, levels->text[i], strlen(levels->text[i]))] = (uint32_t)i + 1;
    free(levels->slots);
    *levels = wider;
    return TACIT_OK;
}

tacit_status tacit_levels_add(tacit_levels *levels, const char *text, size_t length, int32_t *code,
                              tacit_error *error) {
    int32_t found = tacit_levels_find(levels, text, length);
    if (found < 0) {
        if (levels->count >= INT32_MAX) return tacit_fail(error, TACIT_LIMIT, "more than 2^31 texts");
        TACIT_TRY(make_room(levels, error));
        char *copy = malloc(length + 1);
        if (copy == NULL) return tacit_fail_memory(error);
        memcpy(copy, text, length);
        copy[length] = 0;
        found = (int32_t)levels->count;
        levels->slots[find_slot(levels, text, length)] = (uint32_t)found + 1;
        levels->text[levels->count++] = copy;
    }
    if (code != NULL) *code = found;
    return TACIT_OK;
}

tacit_status tacit_levels_copy(tacit_levels *out, const tacit_levels *levels, tacit_error *error) {
    tacit_levels copy = TACIT_LEVELS_INIT;
    for (size_t i = 0; i < levels->count; i++) {
        tacit_status status = tacit_levels_add(&copy, levels->text[i], strlen(levels->text[i]), NULL, error);
        if (status != TACIT_OK) {
            tacit_levels_clear(&copy);
            return status;
        }
    }
    *out = copy;
    return TACIT_OK;
}

void tacit_levels_clear(tacit_levels *levels) {
    if (levels == NULL) return;
    for (size_t i = 0; i < levels->count; i++) free(levels->text[i]);
    free(levels->text);
    free(levels->slots);
    *levels = (tacit_levels)TACIT_LEVELS_INIT;
}

bool tacit_levels_differ_in_case(const tacit_levels *a, const tacit_levels *b, const char **first,
                                 const char **second) {
    for (size_t i = 0; i < a->count; i++)
        for (size_t j = 0; j < b->count; j++)
            if (strcasecmp(a->text[i], b->text[j]) == 0 && strcmp(a->text[i], b->text[j]) != 0) {
                *first = a->text[i];
                *second = b->text[j];
                return true;
            }
    return false;
}

tacit_status tacit_recode_add(tacit_recode *recode, const char *text, size_t length, int32_t level,
                              tacit_error *error) {
    int32_t code;
    int32_t *to = tacit_grow(recode->to, recode->from.count + 1, sizeof *to);
    if (to == NULL) return tacit_fail_memory(error);
    recode->to = to;
    TACIT_TRY(tacit_levels_add(&recode->from, text, length, &code, error));
    recode->to[code] = level;
    return TACIT_OK;
}

void tacit_recode_clear(tacit_recode *recode) {
    tacit_levels_clear(&recode->from);
    free(recode->to);
    recode->to = NULL;
}
