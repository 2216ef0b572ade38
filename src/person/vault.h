/*
 * A file of records that only a passphrase opens: what a person keeps at home.
 *
 * A random key encrypts every record (XChaCha20-Poly1305, with kind, parent and number of the record bound to
 * it, so that no record can stand in another's place). That key is kept in the file itself, encrypted under
 * one that Argon2id makes of the passphrase and a random salt. Whoever has the file alone learns how many
 * records there are, of which kind and how long, and nothing that is in them; whoever can write to it can put
 * back an earlier state of the whole file, and take records away.
 *
 * A vault is used by one thread at a time; several processes may open one file. What a call wrote is on the
 * disk when it returns, and a process that is killed leaves all of it or nothing. Names, times and contents
 * are the business of personal.h.
 */
#pragma once

#include "base/buffer.h"

typedef struct tacit_vault tacit_vault;

enum {
    TACIT_PASSPHRASE_LEAST = 8,
    TACIT_PASSPHRASE_MOST = 1024, /* bytes */
    TACIT_VAULT_RECORD_MOST = 4 << 20,
};

/* What guessing costs, as libsodium counts it: passes over this many bytes of memory. */
typedef struct tacit_vault_cost {
    unsigned long long operations;
    size_t memory;
} tacit_vault_cost;

/* Make a new file, of mode 0600. A file that is there stays as it is: TACIT_USAGE. `cost` NULL: 3 passes over
 * 64 MiB, about a quarter of a second. */
tacit_status tacit_vault_create(const char *path, const char *passphrase, const tacit_vault_cost *cost,
                                tacit_error *error);

/* TACIT_NOT_FOUND without a file, TACIT_REFUSED for another passphrase. */
tacit_status tacit_vault_open(tacit_vault **out, const char *path, const char *passphrase,
                              tacit_error *error);
tacit_vault *tacit_vault_close(tacit_vault *vault);
const char *tacit_vault_path(const tacit_vault *vault);

/* From now on the other passphrase opens the file. The records stay encrypted as they are: who copied the
 * file before and knows the old passphrase can read that copy. */
tacit_status tacit_vault_change(tacit_vault *vault, const char *passphrase, tacit_error *error);

/* Several changes as one. Calls that change something make one of their own where none is open. */
tacit_status tacit_vault_begin(tacit_vault *vault, tacit_error *error);
tacit_status tacit_vault_commit(tacit_vault *vault, tacit_error *error);
void tacit_vault_rollback(tacit_vault *vault);

/* Where a record belongs: its kind, and the record that it is part of (0: none). */
typedef struct tacit_vault_place {
    uint32_t kind;
    int64_t parent;
} tacit_vault_place;

/* Keep a new record; *id says how it is called. */
tacit_status tacit_vault_add(tacit_vault *vault, const tacit_vault_place *place, const tacit_buffer *record,
                             int64_t *id, tacit_error *error);
/* Put other bytes in its place. TACIT_NOT_FOUND. */
tacit_status tacit_vault_replace(tacit_vault *vault, const tacit_vault_place *place, int64_t id,
                                 const tacit_buffer *record, tacit_error *error);
/* Take a record away, with all that are part of it. */
tacit_status tacit_vault_remove(tacit_vault *vault, int64_t id, tacit_error *error);

/* Visit the records of a place in the order in which they were added. The bytes are borrowed, and overwritten
 * afterwards. TACIT_CORRUPT for one that was tampered with. The visit must change nothing. */
typedef tacit_status tacit_vault_visit(void *context, int64_t id, const uint8_t *bytes, size_t length,
                                       tacit_error *error);
tacit_status tacit_vault_each(tacit_vault *vault, const tacit_vault_place *place, tacit_vault_visit *visit,
                              void *context, tacit_error *error);
