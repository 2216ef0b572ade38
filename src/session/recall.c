#include "session/recall.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

typedef struct entry {
    tacit_recall_key key;
    void *bytes;
    size_t length;
} entry;

/* A sweep keeps a handful of things, so they are searched one by one. */
struct tacit_recall {
    entry *entries;
    size_t count;
};

tacit_status tacit_recall_create(tacit_recall **out, tacit_error *error) {
    tacit_recall *recall = TACIT_NEW(tacit_recall, 1);
    if (recall == NULL) return tacit_fail_memory(error);
    *out = recall;
    return TACIT_OK;
}

tacit_recall *tacit_recall_free(tacit_recall *recall) {
    if (recall == NULL) return NULL;
    for (size_t i = 0; i < recall->count; i++) free(recall->entries[i].bytes);
    free(recall->entries);
    free(recall);
    return NULL;
}

tacit_recall_key tacit_recall_begin(const char *purpose) {
    tacit_recall_key key = { { 0 } };
    tacit_recall_add(&key, purpose, strlen(purpose));
    return key;
}

/* Each part is hashed with its length and what came before, so that parts cannot run into each other. */
void tacit_recall_add(tacit_recall_key *key, const void *bytes, size_t length) {
    uint64_t size = length;
    crypto_generichash_state state;
    crypto_generichash_init(&state, NULL, 0, sizeof key->hash);
    crypto_generichash_update(&state, key->hash, sizeof key->hash);
    crypto_generichash_update(&state, (const uint8_t *)&size, sizeof size);
    crypto_generichash_update(&state, bytes, length);
    crypto_generichash_final(&state, key->hash, sizeof key->hash);
}

static entry *find(const tacit_recall *recall, const tacit_recall_key *key) {
    for (size_t i = 0; recall != NULL && i < recall->count; i++)
        if (memcmp(&recall->entries[i].key, key, sizeof *key) == 0) return &recall->entries[i];
    return NULL;
}

bool tacit_recall_find(const tacit_recall *recall, const tacit_recall_key *key, void *out, size_t length) {
    const entry *found = find(recall, key);
    if (found == NULL || found->length != length) return false;
    memcpy(out, found->bytes, length);
    return true;
}

void tacit_recall_keep(tacit_recall *recall, const tacit_recall_key *key, const void *bytes, size_t length) {
    if (recall == NULL || find(recall, key) != NULL) return;
    void *copy = tacit_allocate(length, 1);
    entry *entries = tacit_grow(recall->entries, recall->count + 1, sizeof *entries);
    if (entries != NULL) recall->entries = entries;
    if (copy == NULL || entries == NULL) {
        free(copy);
        return;
    }
    memcpy(copy, bytes, length);
    entries[recall->count++] = (entry){ *key, copy, length };
}
