/*
 * A study as it is archived: one JSON document with its definition, questionnaires, approval, table or model,
 * card, evaluation and the version of the program, in a canonical form (keys sorted, no blanks), so that its
 * BLAKE2b-256 hash is a permanent id: whoever has the id can tell that a document is this one, wherever it
 * comes from. There are no names of parties in it.
 */
#pragma once

#include <jansson.h>

#include "base/buffer.h"
#include "study/study.h"

enum { TACIT_ARCHIVE_ID_SIZE = 2 * TACIT_HASH_BYTES + 1, TACIT_ARCHIVE_MOST = 64 << 20 };

/* What goes in; all borrowed. */
typedef struct tacit_archive_parts {
    const char *coordinator; /* its name */
    const tacit_study *study;
    const char *state, *reason;
    unsigned version; /* of the definition */
    size_t parties;   /* that took part */
    const tacit_buffer *model, *card;
    const json_t *table;       /* NULL: the model has none */
    const json_t *evaluation;  /* NULL: none */
    const json_t *instruments; /* array of texts; NULL: none */
} tacit_archive_parts;

/* Append the document; `id` receives its id. */
tacit_status tacit_archive_make(tacit_buffer *out, char id[TACIT_ARCHIVE_ID_SIZE],
                                const tacit_archive_parts *parts, tacit_error *error);

/* TACIT_USAGE unless the text has the form of an id. */
tacit_status tacit_archive_check_id(const char *id, tacit_error *error);

/* TACIT_REFUSED unless these bytes are the document of this id. */
tacit_status tacit_archive_verify(const void *bytes, size_t length, const char *id, tacit_error *error);

/* Read a document: its id, and the document as a new reference. TACIT_INPUT when it is none. */
tacit_status tacit_archive_read(json_t **out, char id[TACIT_ARCHIVE_ID_SIZE], const void *bytes,
                                size_t length, const char *name, tacit_error *error);

/* ---- derive.c ---- */

/* What the validation of a study is called; false: there is no room for it. */
bool tacit_validating_name(char out[TACIT_ID_SIZE], const char *study);

/* The definition by which later parties evaluate the model of a study (stop: {..., then: validate}),
 * appended: the same columns, numbers of parties, approval and consent document; method evaluate at the same
 * price, or of exact sums where the study has no price. */
tacit_status tacit_validating_print(tacit_buffer *out, const tacit_study *study, const tacit_buffer *model,
                                    tacit_error *error);

typedef struct tacit_derivation {
    const char *name;   /* of the next study */
    bool offer_earlier; /* to participants who said that they may be asked */
} tacit_derivation;

/* The draft of a definition from an archived one, which it cites, appended: its settings, under another name,
 * except public points and keys. TACIT_INPUT for one that names a file. */
tacit_status tacit_archive_derive(tacit_buffer *out, const json_t *archived, const char *id,
                                  const tacit_derivation *how, tacit_error *error);
