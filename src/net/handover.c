#include "net/handover.h"

#include <ctype.h>
#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define PURPOSE_OLD "tacit handover"
#define PURPOSE_NEW "tacit handover accepted"
#define HEADER "tacit handover 1\n"

enum { LINE_MOST = 2 * TACIT_HANDOVER_AUTHORITY_MOST };

/* ---- reading ---- */

static tacit_status damaged(size_t statement, const char *what, tacit_error *error) {
    return tacit_fail(error, TACIT_PROTOCOL, "hand-over statement %zu is damaged: %s", statement + 1, what);
}

/* The rest of a line that begins with `key`; moves on. `text` ends with NUL. */
static bool take_line(const char **at, const char *key, char *value, size_t size) {
    size_t skip = strlen(key);
    const char *end = strchr(*at, '\n');
    if (end == NULL || strncmp(*at, key, skip) != 0) return false;
    size_t length = (size_t)(end - *at) - skip;
    if (length == 0 || length >= size) return false;
    memcpy(value, *at + skip, length);
    value[length] = 0;
    *at = end + 1;
    return true;
}

/* Digits only, the shortest way to write the number, of at most 18. */
static bool take_number(const char **at, const char *key, int64_t *out) {
    char digits[20];
    if (!take_line(at, key, digits, sizeof digits) || strlen(digits) > 18) return false;
    if (strspn(digits, "0123456789") != strlen(digits) || (digits[0] == '0' && digits[1] != 0)) return false;
    *out = (int64_t)strtoll(digits, NULL, 10);
    return true;
}

static bool take_certificate(const char **at, const char *key, uint8_t *der, size_t *length,
                             tacit_certificate_info *info) {
    char text[LINE_MOST];
    const char *end = NULL;
    if (!take_line(at, key, text, sizeof text)) return false;
    if (sodium_base642bin(der, TACIT_HANDOVER_AUTHORITY_MOST, text, strlen(text), NULL, length, &end,
                          sodium_base64_VARIANT_ORIGINAL) != 0 ||
        *end != 0)
        return false;
    return tacit_certificate_inspect(info, der, *length, NULL) == TACIT_OK && info->authority;
}

static tacit_status check_signature(const char *start, const char **at, const char *key, const char *purpose,
                                    const uint8_t *der, size_t der_length, size_t statement,
                                    tacit_error *error) {
    char hex[2 * TACIT_SIGNATURE_BYTES_MAX + 1];
    uint8_t signature[TACIT_SIGNATURE_BYTES_MAX];
    size_t length = 0;
    const char *covered = *at, *end = NULL;
    if (!take_line(at, key, hex, sizeof hex) ||
        sodium_hex2bin(signature, sizeof signature, hex, strlen(hex), NULL, &length, &end) != 0 || *end != 0)
        return damaged(statement, key, error);
    tacit_status status = tacit_authority_check(der, der_length, purpose, start, (size_t)(covered - start),
                                                signature, length, NULL);
    if (status == TACIT_OK) return TACIT_OK;
    return tacit_fail(error, status == TACIT_NO_MEMORY ? status : TACIT_REFUSED,
                      "hand-over statement %zu is not signed by the %s authority", statement + 1,
                      purpose[sizeof PURPOSE_OLD - 1] == 0 ? "old" : "new");
}

/* What a statement says must follow from the one before it. */
static tacit_status check_order(const tacit_handover *one, const tacit_handover *before, size_t number,
                                tacit_error *error) {
    if (one->sequence != number + 1) return damaged(number, "its number is not the next", error);
    if (one->until < one->from) return damaged(number, "it ends before it begins", error);
    if (strcmp(one->old.fingerprint, one->new.fingerprint) == 0)
        return damaged(number, "the new authority is the old one", error);
    if (before == NULL) return TACIT_OK;
    if (before->new_length != one->old_length || memcmp(before->new_der, one->old_der, one->old_length) != 0)
        return damaged(number, "it does not begin with the authority of the one before", error);
    if (one->from < before->from || (!one->stolen && one->until < before->until))
        return damaged(number, "its dates lie before those of the one before", error);
    return TACIT_OK;
}

static tacit_status read_statement(tacit_handover *out, const char *text, const char **at, size_t number,
                                   const tacit_handover *before, tacit_error *error) {
    const char *start = *at;
    char reason[16];
    int64_t sequence = 0;
    if (strncmp(start, HEADER, strlen(HEADER)) != 0)
        return tacit_fail(error, TACIT_PROTOCOL, "hand-over statement %zu is not of this version",
                          number + 1);
    *at += strlen(HEADER);
    if (!take_number(at, "sequence ", &sequence) || !take_number(at, "from ", &out->from) ||
        !take_number(at, "until ", &out->until))
        return damaged(number, "numbers", error);
    if (!take_line(at, "reason ", reason, sizeof reason) ||
        (strcmp(reason, "planned") != 0 && strcmp(reason, "stolen") != 0))
        return damaged(number, "its reason", error);
    if (!take_certificate(at, "old ", out->old_der, &out->old_length, &out->old) ||
        !take_certificate(at, "new ", out->new_der, &out->new_length, &out->new))
        return damaged(number, "a certificate", error);
    out->sequence = (uint64_t)sequence;
    out->stolen = strcmp(reason, "stolen") == 0;
    out->start = (size_t)(start - text);
    out->terms = (size_t)(*at - text);
    TACIT_TRY(check_order(out, before, number, error));
    TACIT_TRY(check_signature(start, at, "old-signature ", PURPOSE_OLD, out->old_der, out->old_length, number,
                              error));
    TACIT_TRY(check_signature(start, at, "new-signature ", PURPOSE_NEW, out->new_der, out->new_length, number,
                              error));
    out->end = (size_t)(*at - text);
    return TACIT_OK;
}

tacit_status tacit_handovers_read(tacit_handovers *out, const void *bytes, size_t length,
                                  tacit_error *error) {
    tacit_handovers read = { .text = TACIT_BUFFER_LIMITED(TACIT_HANDOVERS_BYTES_MAX) };
    tacit_status status;
    TACIT_CHECK(tacit_buffer_append(&read.text, bytes, length, error));
    const char *text = tacit_buffer_text(&read.text), *at = text;
    if (strlen(text) != length) TACIT_CHECK(damaged(0, "it is no text", error));
    while (*at != 0) {
        if (read.count == TACIT_HANDOVERS_MOST)
            TACIT_CHECK(tacit_fail(error, TACIT_LIMIT, "more than %d hand-over statements in a chain",
                                   TACIT_HANDOVERS_MOST));
        tacit_handover *longer = realloc(read.entries, (read.count + 1) * sizeof *longer);
        if (longer == NULL) TACIT_CHECK(tacit_fail_memory(error));
        read.entries = longer;
        memset(&longer[read.count], 0, sizeof *longer);
        TACIT_CHECK(read_statement(&longer[read.count], text, &at, read.count,
                                   read.count > 0 ? &longer[read.count - 1] : NULL, error));
        read.count++;
    }
    *out = read;
    return TACIT_OK;
cleanup:
    tacit_handovers_clear(&read);
    return status;
}

void tacit_handovers_clear(tacit_handovers *chain) {
    tacit_buffer_clear(&chain->text);
    free(chain->entries);
    *chain = (tacit_handovers){ .count = 0 };
}

/* ---- writing ---- */

static tacit_status put_certificate(tacit_buffer *out, const char *key, const tacit_authority *authority,
                                    tacit_error *error) {
    const char *pem = tacit_authority_pem(authority);
    tacit_buffer der = TACIT_BUFFER_LIMITED(TACIT_HANDOVER_AUTHORITY_MOST);
    char text[LINE_MOST];
    tacit_status status = tacit_certificate_to_der(&der, pem, strlen(pem), error);
    if (status == TACIT_OK) {
        sodium_bin2base64(text, sizeof text, der.bytes, der.length, sodium_base64_VARIANT_ORIGINAL);
        status = tacit_buffer_print(out, error, "%s%s\n", key, text);
    }
    tacit_buffer_clear(&der);
    return status;
}

static tacit_status put_signature(tacit_buffer *out, size_t start, const char *key, const char *purpose,
                                  const tacit_authority *authority, tacit_error *error) {
    tacit_buffer signature = TACIT_BUFFER_LIMITED(TACIT_SIGNATURE_BYTES_MAX);
    char hex[2 * TACIT_SIGNATURE_BYTES_MAX + 1];
    tacit_status status =
        tacit_authority_sign(&signature, authority, purpose, out->bytes + start, out->length - start, error);
    if (status == TACIT_OK) {
        sodium_bin2hex(hex, sizeof hex, signature.bytes, signature.length);
        status = tacit_buffer_print(out, error, "%s%s\n", key, hex);
    }
    tacit_buffer_clear(&signature);
    return status;
}

tacit_status tacit_handovers_add(tacit_handovers *chain, const tacit_authority *old,
                                 const tacit_authority *new, int64_t from, int64_t until, bool stolen,
                                 tacit_error *error) {
    tacit_buffer text = TACIT_BUFFER_LIMITED(TACIT_HANDOVERS_BYTES_MAX);
    tacit_handovers longer = { .count = 0 };
    size_t start = chain->text.length;
    tacit_status status;
    TACIT_CHECK(tacit_buffer_append(&text, chain->text.bytes, start, error));
    TACIT_CHECK(tacit_buffer_print(&text, error, HEADER "sequence %zu\nfrom %" PRId64 "\nuntil %" PRId64 "\n",
                                   chain->count + 1, from, until));
    TACIT_CHECK(tacit_buffer_print(&text, error, "reason %s\n", stolen ? "stolen" : "planned"));
    TACIT_CHECK(put_certificate(&text, "old ", old, error));
    TACIT_CHECK(put_certificate(&text, "new ", new, error));
    TACIT_CHECK(put_signature(&text, start, "old-signature ", PURPOSE_OLD, old, error));
    TACIT_CHECK(put_signature(&text, start, "new-signature ", PURPOSE_NEW, new, error));
    status = tacit_handovers_read(&longer, text.bytes, text.length, error);
    /* with the sentence of reading */
    if (status == TACIT_PROTOCOL || status == TACIT_REFUSED) status = TACIT_USAGE;
    if (status != TACIT_OK) goto cleanup;
    tacit_handovers_clear(chain);
    *chain = longer;
cleanup:
    tacit_buffer_clear(&text);
    return status;
}

/* ---- who is trusted ---- */

size_t tacit_handovers_oldest(const tacit_handovers *chain, int64_t now) {
    size_t oldest = 0;
    for (size_t i = 0; i < chain->count; i++)
        if (chain->entries[i].stolen || now > chain->entries[i].until) oldest = i + 1;
    return oldest;
}

/* Authority i of the chain, 0 for the first one. */
static tacit_status put_pem(tacit_buffer *out, const tacit_handovers *chain, size_t i, tacit_error *error) {
    const tacit_handover *one = &chain->entries[i > 0 ? i - 1 : 0];
    return i > 0 ? tacit_certificate_to_pem(out, one->new_der, one->new_length, error)
                 : tacit_certificate_to_pem(out, one->old_der, one->old_length, error);
}

static tacit_status put_from(const tacit_handovers *chain, const tacit_buffer *only, size_t oldest,
                             tacit_buffer *out, tacit_error *error) {
    if (chain->count == 0) return tacit_buffer_append(out, only->bytes, only->length, error);
    for (size_t i = chain->count + 1; i-- > oldest;) TACIT_TRY(put_pem(out, chain, i, error));
    return TACIT_OK;
}

tacit_status tacit_handovers_trusted(const tacit_handovers *chain, const tacit_buffer *only, int64_t now,
                                     tacit_buffer *out, int64_t *changes, tacit_error *error) {
    size_t oldest = tacit_handovers_oldest(chain, now);
    if (changes != NULL) *changes = oldest < chain->count ? chain->entries[oldest].until + 1 : 0;
    return put_from(chain, only, oldest, out, error);
}

tacit_status tacit_handovers_all(const tacit_handovers *chain, const tacit_buffer *only, tacit_buffer *out,
                                 tacit_error *error) {
    return put_from(chain, only, 0, out, error);
}

bool tacit_handovers_know(const tacit_handovers *chain, const char *fingerprint) {
    for (size_t i = 0; i < chain->count; i++)
        if (strcmp(chain->entries[i].old.fingerprint, fingerprint) == 0 ||
            strcmp(chain->entries[i].new.fingerprint, fingerprint) == 0)
            return true;
    return false;
}

bool tacit_handovers_lead(const tacit_handovers *chain, const char *from, const char *to) {
    if (chain->count == 0 || strcmp(chain->entries[chain->count - 1].new.fingerprint, to) != 0) return false;
    for (size_t i = chain->count; i-- > 0 && !chain->entries[i].stolen;)
        if (strcmp(chain->entries[i].old.fingerprint, from) == 0) return true;
    return false;
}

/* ---- following ---- */

/* Both say the same; an ECDSA signature can be rewritten by anybody, so it does not count. */
static bool same_terms(const tacit_handovers *a, const tacit_handovers *b, size_t i) {
    const tacit_handover *one = &a->entries[i], *other = &b->entries[i];
    size_t length = one->terms - one->start;
    return length == other->terms - other->start &&
           memcmp(a->text.bytes + one->start, b->text.bytes + other->start, length) == 0;
}

/* How many statements of `heard` are behind us: those that we know, or those before the anchor. */
static tacit_status find_place(const tacit_handovers *known, const char *anchor, const tacit_handovers *heard,
                               size_t *out, tacit_error *error) {
    for (size_t i = 0; i < known->count && i < heard->count; i++)
        if (!same_terms(known, heard, i))
            return tacit_fail(error, TACIT_REFUSED,
                              "there are two hand-over statements with number %zu: whoever made the second "
                              "one has a key of the coordinator's that nobody else should have",
                              i + 1);
    if (heard->count < known->count)
        return tacit_fail(
            error, TACIT_REFUSED,
            "the coordinator shows an earlier state: %zu hand-over statements, and we have followed %zu",
            heard->count, known->count);
    if (!tacit_handovers_know(heard, anchor))
        return tacit_fail(
            error, TACIT_REFUSED,
            "the coordinator's hand-over statements are not about the authority of the invitation");
    *out = known->count;
    if (known->count > 0) return TACIT_OK;
    while (*out < heard->count && strcmp(heard->entries[*out].old.fingerprint, anchor) != 0) (*out)++;
    return TACIT_OK;
}

static tacit_status adopt(tacit_handovers *known, const tacit_handovers *heard, tacit_error *error) {
    tacit_handovers copy = { .count = 0 };
    TACIT_TRY(tacit_handovers_read(&copy, heard->text.bytes, heard->text.length, error));
    tacit_handovers_clear(known);
    *known = copy;
    return TACIT_OK;
}

/* The owner has heard from people who the authority is; the chain only says that it is of this consortium. */
static tacit_status adopt_confirmed(tacit_handovers *known, const char *anchor, const tacit_handovers *heard,
                                    const char *confirmed, tacit_following *result, tacit_error *error) {
    if (heard->count == 0 || !tacit_handovers_know(heard, anchor))
        return tacit_fail(error, TACIT_REFUSED,
                          "the coordinator shows no hand-over from the authority of the invitation");
    const char *present = heard->entries[heard->count - 1].new.fingerprint;
    if (strcmp(present, confirmed) != 0)
        return tacit_fail(error, TACIT_REFUSED,
                          "the coordinator's authority has the fingerprint %s, and not the one that was "
                          "given: ask the coordinator's people again, by telephone or in person",
                          present);
    if (tacit_handovers_know(known, confirmed) &&
        strcmp(known->entries[known->count - 1].new.fingerprint, confirmed) != 0)
        return tacit_fail(
            error, TACIT_REFUSED,
            "the authority with the fingerprint %s was left behind before: an earlier state is played back",
            confirmed);
    *result = TACIT_FOLLOWING_DONE;
    return adopt(known, heard, error);
}

tacit_status tacit_handovers_follow(tacit_handovers *known, const tacit_buffer *anchor,
                                    const tacit_handovers *heard, int64_t now, const char *confirmed,
                                    tacit_following *result, tacit_error *error) {
    tacit_certificate_info info;
    size_t place = 0;
    *result = TACIT_FOLLOWING_NOTHING;
    TACIT_TRY(tacit_certificate_inspect(&info, anchor->bytes, anchor->length, error));
    if (confirmed != NULL) return adopt_confirmed(known, info.fingerprint, heard, confirmed, result, error);
    if (known->count == 0 && heard->count == 0) return TACIT_OK;
    TACIT_TRY(find_place(known, info.fingerprint, heard, &place, error));
    if (known->count == heard->count) return TACIT_OK;
    for (size_t i = place; i < heard->count; i++) {
        if (heard->entries[i].stolen)
            *result = TACIT_FOLLOWING_STOLEN;
        else if (now > heard->entries[i].until + TACIT_HANDOVER_SKEW && *result == TACIT_FOLLOWING_NOTHING)
            *result = TACIT_FOLLOWING_LATE;
    }
    if (*result != TACIT_FOLLOWING_NOTHING) return TACIT_OK;
    *result = TACIT_FOLLOWING_DONE;
    return adopt(known, heard, error);
}

tacit_status tacit_fingerprint_read(char out[TACIT_FINGERPRINT_SIZE], const char *text, tacit_error *error) {
    size_t used = 0;
    for (; *text != 0 && used < TACIT_FINGERPRINT_SIZE; text++) {
        if (*text == ':' || *text == ' ') continue;
        if (!isxdigit((unsigned char)*text)) break;
        if (used < TACIT_FINGERPRINT_SIZE - 1) out[used] = (char)tolower((unsigned char)*text);
        used++;
    }
    if (*text != 0 || used != TACIT_FINGERPRINT_SIZE - 1)
        return tacit_fail(error, TACIT_USAGE,
                          "a fingerprint has 64 hexadecimal digits: give all of them, as `tacit rotate` and "
                          "`tacit doctor` show them at the coordinator");
    out[used] = 0;
    return TACIT_OK;
}
