#include "session/result_cache.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

typedef struct entry {
    tacit_cache_key key;
    void *bytes;
    size_t length;
} entry;

/* A sweep keeps a handful of things, so they are searched one by one. */
struct tacit_result_cache {
    entry *entries;
    size_t count;
};

tacit_status tacit_result_cache_create(tacit_result_cache **out, tacit_error *error) {
    tacit_result_cache *cache = TACIT_NEW(tacit_result_cache, 1);
    if (cache == NULL) return tacit_fail_memory(error);
    *out = cache;
    return TACIT_OK;
}

tacit_result_cache *tacit_result_cache_free(tacit_result_cache *cache) {
    if (cache == NULL) return NULL;
    for (size_t i = 0; i < cache->count; i++) free(cache->entries[i].bytes);
    free(cache->entries);
    free(cache);
    return NULL;
}

tacit_cache_key tacit_cache_key_begin(const char *purpose) {
    tacit_cache_key key = { { 0 } };
    tacit_cache_key_add(&key, purpose, strlen(purpose));
    return key;
}

/* Each part is hashed with its length and what came before, so that parts cannot run into each other. */
void tacit_cache_key_add(tacit_cache_key *key, const void *bytes, size_t length) {
    uint64_t size = length;
    crypto_generichash_state state;
    crypto_generichash_init(&state, NULL, 0, sizeof key->hash);
    crypto_generichash_update(&state, key->hash, sizeof key->hash);
    crypto_generichash_update(&state, (const uint8_t *)&size, sizeof size);
    crypto_generichash_update(&state, bytes, length);
    crypto_generichash_final(&state, key->hash, sizeof key->hash);
}

static entry *find(const tacit_result_cache *cache, const tacit_cache_key *key) {
    for (size_t i = 0; cache != NULL && i < cache->count; i++)
        if (memcmp(&cache->entries[i].key, key, sizeof *key) == 0) return &cache->entries[i];
    return NULL;
}

bool tacit_result_cache_find(const tacit_result_cache *cache, const tacit_cache_key *key, void *out,
                             size_t length) {
    const entry *found = find(cache, key);
    if (found == NULL || found->length != length) return false;
    memcpy(out, found->bytes, length);
    return true;
}

void tacit_result_cache_keep(tacit_result_cache *cache, const tacit_cache_key *key, const void *bytes,
                             size_t length) {
    if (cache == NULL || find(cache, key) != NULL) return;
    void *copy = tacit_allocate(length, 1);
    entry *entries = tacit_grow(cache->entries, cache->count + 1, sizeof *entries);
    if (entries != NULL) cache->entries = entries;
    if (copy == NULL || entries == NULL) {
        free(copy);
        return;
    }
    memcpy(copy, bytes, length);
    entries[cache->count++] = (entry){ *key, copy, length };
}
