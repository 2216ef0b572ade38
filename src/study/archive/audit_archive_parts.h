/* Shared by the audit's files only. */
#pragma once

#include <jansson.h>

#include "privacy/ledger/ledger.h"
#include "study/archive/audit_export.h"

#define AUDIT_PURPOSE "tacit audit"
#define AUDIT_FIRST "{\"hash\":\""
#define AUDIT_MIDDLE "\",\"record\":"
#define AUDIT_LAST "}\n"

enum { AUDIT_FORMAT = 1 };

/* The chain's next hash. */
void audit_chain(uint8_t hash[TACIT_HASH_BYTES], const void *record, size_t length);

/* A ledger's entry in words, with its bytes: made by the writer, and again by the reader to compare. Texts
 * that are not UTF-8 are escaped; the bytes hold them as they are. New reference. */
json_t *audit_entry(const tacit_entry *entry, const uint8_t *body, size_t length,
                    const uint8_t hash[TACIT_HASH_BYTES]);
