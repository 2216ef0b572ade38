/*
 * What a person keeps at home, in a vault: sources of rows (answers to a questionnaire, measurements of a
 * device), where each row came from, and the person's rules about studies that ask for them.
 *
 *   collection   a source by its name, with its columns, which only become more
 *   origin    of a collection: the questionnaire in one version, or one imported file, whole, with its hash
 *   row       of a collection: the day and moment it is about, its origin, and a text for each column that it
 *             has
 *   rule      which studies may use which collections: allow, ask or refuse
 *
 * Rows of one person are brought together by their days, here and nowhere else
 * (data/source/personal_source.c). Everything read is checked; a record that says something impossible is
 * TACIT_CORRUPT.
 */
#pragma once

#include "person/vault.h"

enum {
    TACIT_COLLECTION_NAME = 64, /* with the NUL */
    TACIT_COLLECTION_COLUMNS = 512,
    TACIT_ORIGIN_LABEL = 256,
    TACIT_ORIGIN_HASH = 32,
    TACIT_ORIGIN_TEXT_MOST = 1 << 20,
    TACIT_PERSONAL_CELL_MOST = 1 << 20,
};

/* Where the store of a home is. */
#define TACIT_PERSONAL_FILE "personal.store"
/* Names the file whose first line is the passphrase, for programs that nobody sits in front of. */
#define TACIT_PASSPHRASE_VARIABLE "TACIT_STORE_PASSPHRASE_FILE"

/* The passphrase in the first line of a file that only its owner can read: TACIT_REFUSED with the chmod. */
tacit_status tacit_passphrase_read(const char *path, char out[TACIT_PASSPHRASE_MOST + 1], tacit_error *error);

/* Open a store by the passphrase in the file that the environment names. TACIT_REFUSED, with what to do,
 * where it names none. */
tacit_status tacit_personal_open_unattended(tacit_vault **out, const char *path, tacit_error *error);

typedef enum tacit_collection_kind {
    TACIT_COLLECTION_ANSWERS = 1,
    TACIT_COLLECTION_MEASURED = 2
} tacit_collection_kind;

typedef struct tacit_collection_column {
    char name[TACIT_COLLECTION_NAME];
    char unit[32]; /* "": none */
    bool is_number;
} tacit_collection_column;

typedef struct tacit_collection {
    int64_t id;
    tacit_collection_kind kind;
    char name[TACIT_COLLECTION_NAME];
    size_t count;
    tacit_collection_column *columns;
} tacit_collection;

void tacit_collection_clear(tacit_collection *collection);

/* A name of a collection or a column: letters, digits, underscores and hyphens, beginning with a letter. */
bool tacit_collection_name_fits(const char *name);

/* Find a collection by its name; TACIT_NOT_FOUND says which there are. */
tacit_status tacit_collection_find(tacit_collection *out, tacit_vault *vault, const char *name,
                                   tacit_error *error);

/* The same, made where there is none, with these columns added. TACIT_USAGE for one of the other kind, or a
 * column that held texts and is to hold numbers. `out` is the collection as it is then. */
tacit_status tacit_collection_prepare(tacit_collection *out, tacit_vault *vault,
                                      const tacit_collection *wanted, tacit_error *error);

typedef tacit_status tacit_collection_visit(void *context, const tacit_collection *collection,
                                            tacit_error *error);
tacit_status tacit_collections_each(tacit_vault *vault, tacit_collection_visit *visit, void *context,
                                    tacit_error *error);

/* ---- origins ---- */

typedef struct tacit_origin {
    int64_t id;
    int64_t time_ms;                 /* when it came into the store */
    char label[TACIT_ORIGIN_LABEL];  /* "steps.csv", "mood, version 2" */
    uint8_t hash[TACIT_ORIGIN_HASH]; /* BLAKE2b-256 of the file, or of the questionnaire as signed */
    tacit_buffer text;               /* the questionnaire, or the mapping by which the file was read */
} tacit_origin;

void tacit_origin_clear(tacit_origin *origin);
tacit_status tacit_origin_add(tacit_vault *vault, const tacit_collection *collection,
                              const tacit_origin *origin, int64_t *id, tacit_error *error);
typedef tacit_status tacit_origin_visit(void *context, const tacit_origin *origin, tacit_error *error);
tacit_status tacit_origins_each(tacit_vault *vault, const tacit_collection *collection,
                                tacit_origin_visit *visit, void *context, tacit_error *error);

/* ---- rows ---- */

typedef struct tacit_collection_row {
    int64_t id, origin;
    int32_t day;        /* that it is about, counted from 1970-01-01, where the person was */
    int64_t time_ms;    /* the moment, since 1970 UTC */
    const char **cells; /* one a column of the collection; NULL: it has none */
} tacit_collection_row;

tacit_status tacit_row_add(tacit_vault *vault, const tacit_collection *collection,
                           const tacit_collection_row *row, int64_t *id, tacit_error *error);
typedef tacit_status tacit_row_visit(void *context, const tacit_collection_row *row, tacit_error *error);
/* In the order in which they were added. */
tacit_status tacit_rows_each(tacit_vault *vault, const tacit_collection *collection, tacit_row_visit *visit,
                             void *context, tacit_error *error);
/* How many rows there are, and the first and the last day that they are about (0 of none). */
typedef struct tacit_rows_span {
    uint64_t count;
    int32_t first, last;
} tacit_rows_span;
tacit_status tacit_rows_measure(tacit_vault *vault, const tacit_collection *collection, tacit_rows_span *out,
                                tacit_error *error);
/* Take away the rows about these days, both included: a newer export of them is about to come. */
tacit_status tacit_rows_remove(tacit_vault *vault, const tacit_collection *collection, int32_t from,
                               int32_t until, tacit_error *error);

/* ---- rules ---- */

typedef enum tacit_reuse { TACIT_REUSE_ASK, TACIT_REUSE_ALLOW, TACIT_REUSE_REFUSE } tacit_reuse;
const char *tacit_reuse_name(tacit_reuse reuse); /* "ask", "allow", "refuse" */
bool tacit_reuse_parse(tacit_reuse *out, const char *text);

typedef struct tacit_reuse_rule {
    int64_t id;
    char who[128];                          /* a study's name, its coordinator's name, or "*" */
    char collection[TACIT_COLLECTION_NAME]; /* or "*" */
    char purpose[200];                      /* in the person's own words; "": none given */
    tacit_reuse reuse;
} tacit_reuse_rule;

/* Set a rule; one about the same study and collection is replaced. */
tacit_status tacit_reuse_set(tacit_vault *vault, const tacit_reuse_rule *rule, tacit_error *error);
typedef tacit_status tacit_reuse_visit(void *context, const tacit_reuse_rule *rule, tacit_error *error);
tacit_status tacit_reuse_each(tacit_vault *vault, tacit_reuse_visit *visit, void *context,
                              tacit_error *error);

/* What the rules say of a collection and a study. The most particular rule counts: one that names the study
 * before one that names its coordinator before "*", and then one that names the collection before "*".
 * Without a rule the person is asked. */
tacit_status tacit_reuse_of(tacit_reuse *out, tacit_vault *vault, const char *collection, const char *study,
                            const char *coordinator, tacit_error *error);
