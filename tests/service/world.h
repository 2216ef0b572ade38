/* A registry with one study "s", and how parties come into it, for the tests of registries. */
#pragma once

#include <sqlite3.h>

#include "../store/folder.h"
#include "check.h"
#include "study/registry.h"

enum { NOW = 1000, LATER = 5000, SEATS = 3 };

typedef struct world {
    folder place;
    tacit_registry *registry;
    tacit_error error;
} world;

static inline world begin(void) {
    world w = { .place = folder_make(), .error = TACIT_ERROR_INIT };
    CHECK_OK(tacit_registry_open(&w.registry, w.place.path, true, &w.error), w.error);
    CHECK_OK(tacit_registry_add_study(w.registry, "s", "definition", NULL, &w.error), w.error);
    return w;
}

static inline void end(world *w) {
    tacit_registry_close(w->registry);
    folder_remove(&w->place);
}

static inline tacit_study_record look_up(world *w, const char *study) {
    tacit_study_record record;
    CHECK_OK(tacit_registry_study(w->registry, study, &record, NULL, &w->error), w->error);
    return record;
}

static inline void fails(world *w, tacit_status status, tacit_status expected, const char *says) {
    if (status != expected || strstr(w->error.text, says) == NULL)
        fail_msg("expected %s with '%s', got %s: %s", tacit_status_name(expected), says,
                 tacit_status_name(status), w->error.text);
    w->error = (tacit_error)TACIT_ERROR_INIT;
}

static inline void set_state(world *w, const char *study, tacit_study_state state) {
    CHECK_OK(tacit_registry_set_state(w->registry, study, state, "", NULL, &w->error), w->error);
}

static inline void read_secret(const world *w, uint8_t out[TACIT_STREAM_KEY_BYTES]) {
    char path[128];
    sqlite3 *file = NULL;
    sqlite3_stmt *get = NULL;
    snprintf(path, sizeof path, "%s/coordinator.db", w->place.path);
    assert_int_equal(sqlite3_open(path, &file), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(file, "SELECT secret FROM study WHERE name = 's'", -1, &get, NULL),
                     SQLITE_OK);
    assert_int_equal(sqlite3_step(get), SQLITE_ROW);
    assert_int_equal(sqlite3_column_bytes(get, 0), TACIT_STREAM_KEY_BYTES);
    memcpy(out, sqlite3_column_blob(get, 0), TACIT_STREAM_KEY_BYTES);
    sqlite3_finalize(get);
    sqlite3_close(file);
}

/* ---- invitations ---- */

typedef struct ticket {
    uint8_t hash[TACIT_TOKEN_HASH_BYTES];
} ticket;

static inline ticket invite(world *w, int number) {
    ticket made = { { (uint8_t)number } };
    CHECK_OK(tacit_registry_invite(w->registry, "s", made.hash, LATER, "", &w->error), w->error);
    return made;
}

static inline tacit_status redeem(tacit_registry *registry, const ticket *used, int key, int64_t now,
                                  char party[TACIT_ID_SIZE], tacit_buffer *certificate, tacit_error *error) {
    uint8_t request[TACIT_HASH_BYTES] = { (uint8_t)key };
    return tacit_registry_redeem(registry, used->hash, request, now, SEATS, party, certificate, error);
}

/* Redeem and admit, as the coordinator does. */
static inline void join(world *w, const ticket *used, int key, char party[TACIT_ID_SIZE]) {
    tacit_buffer none = TACIT_BUFFER_INIT;
    char fingerprint[32];
    CHECK_OK(redeem(w->registry, used, key, NOW, party, &none, &w->error), w->error);
    assert_int_equal(none.length, 0);
    snprintf(fingerprint, sizeof fingerprint, "print-%d", key);
    CHECK_OK(tacit_registry_admit(w->registry, used->hash, "certificate", fingerprint, NOW, &w->error),
             w->error);
}
