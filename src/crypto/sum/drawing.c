#include "crypto/sum/drawing.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "rand/stream.h"

uint32_t tacit_drawing_least(uint32_t parties, uint32_t colluders) {
    const uint32_t least = (parties + colluders) / 2 + 1;
    return least < parties ? least : parties;
}

/* ---- what is hashed and signed ---- */

static void begin(tacit_digest *digest, const char *label, const uint8_t *key, const tacit_drawing *drawing) {
    tacit_digest_begin(digest, label, key);
    tacit_digest_text(digest, drawing->study);
    tacit_digest_bytes(digest, drawing->version, sizeof drawing->version);
    tacit_digest_bytes(digest, drawing->roster, sizeof drawing->roster);
    tacit_digest_u64(digest, drawing->parties);
    tacit_digest_u64(digest, drawing->least);
}

/* The hash of 32 uniform bytes hides them and binds to them. */
static void commitment_to(uint8_t out[TACIT_DIGEST_BYTES], const tacit_drawing *drawing, uint32_t place,
                          const uint8_t secret[TACIT_DRAWING_SECRET_BYTES]) {
    tacit_digest digest;
    begin(&digest, "tacit graph drawing commitment", secret, drawing);
    tacit_digest_u64(&digest, place);
    tacit_digest_end(&digest, out);
}

static void signed_digest(uint8_t out[TACIT_DIGEST_BYTES], const char *label, const tacit_drawing *drawing,
                          uint32_t place, const uint8_t about[TACIT_DIGEST_BYTES]) {
    tacit_digest digest;
    begin(&digest, label, NULL, drawing);
    tacit_digest_u64(&digest, place);
    tacit_digest_bytes(&digest, about, TACIT_DIGEST_BYTES);
    tacit_digest_end(&digest, out);
}

static const char COMMITTED[] = "tacit graph drawing committed", OPENED[] = "tacit graph drawing opened";

static tacit_status sign(tacit_buffer *out, const char *label, const tacit_drawing *drawing, uint32_t place,
                         const uint8_t about[TACIT_DIGEST_BYTES], const tacit_securesum_signer *signer,
                         tacit_error *error) {
    uint8_t digest[TACIT_DIGEST_BYTES], signature[TACIT_SIGNATURE_BYTES];
    signed_digest(digest, label, drawing, place, about);
    TACIT_TRY(signer->sign(signer->self, signature, digest, sizeof digest, error));
    return tacit_buffer_append(out, signature, sizeof signature, error);
}

static bool is_signed(const char *label, const tacit_drawing *drawing, uint32_t place,
                      const uint8_t about[TACIT_DIGEST_BYTES], const uint8_t *signature) {
    uint8_t digest[TACIT_DIGEST_BYTES];
    signed_digest(digest, label, drawing, place, about);
    return drawing->signers.verify(drawing->signers.self, place, signature, digest, sizeof digest);
}

/* ---- whose signatures are checked ---- */

/*
 * That two lists with proofs share an honest party (drawing.h) takes `least` parties of each that have signed
 * it, and no more. Of a long list, signatures of some are checked, drawn each time by whoever checks,
 * after it has the list: were fewer than `least` of m good, s of them drawn without replacement would all be
 * good with a chance of at most (least - 1)/m (least - 2)/(m - 1) ..., s factors. s is such that this is at
 * most 2^-80; a list of no more than `least` is checked whole, and so is a short one. What signatures do not
 * vouch for is always checked whole: order, commitments and openings, which alone make the seed.
 */
enum { WHOLE = 256 };
static const double MISTAKEN = 0x1p-80;

uint32_t tacit_drawing_checked(uint32_t listed, uint32_t least) {
    double chance = 1;
    uint32_t count = 0;
    if (listed <= WHOLE || least >= listed) return listed;
    for (; chance > MISTAKEN && count < least; count++)
        chance *= (double)(least - 1 - count) / (double)(listed - count);
    return count;
}

/* Goes through a list, and draws `left` of the `ahead` that are still to come. */
typedef struct sample {
    uint32_t left, ahead;
    tacit_stream stream;
} sample;

static sample sample_of(uint32_t listed, uint32_t least) {
    return (sample){ tacit_drawing_checked(listed, least), listed, tacit_stream_from_entropy() };
}

static bool is_drawn(sample *self) {
    const bool drawn = self->left == self->ahead ||
                       (self->left > 0 && tacit_stream_below(&self->stream, self->ahead) < self->left);
    self->left -= drawn;
    self->ahead--;
    return drawn;
}

/* ---- a party ---- */

tacit_status tacit_drawing_commit(const tacit_drawing *drawing, uint32_t place,
                                  const uint8_t secret[TACIT_DRAWING_SECRET_BYTES],
                                  const tacit_securesum_signer *signer, tacit_buffer *out,
                                  tacit_error *error) {
    uint8_t commitment[TACIT_DIGEST_BYTES];
    commitment_to(commitment, drawing, place, secret);
    TACIT_TRY(tacit_buffer_append(out, commitment, sizeof commitment, error));
    return sign(out, COMMITTED, drawing, place, commitment, signer, error);
}

/* Places and commitments; signatures are checked, and not part of what is agreed on. */
static void digest_list(tacit_drawing_list *list, const tacit_drawing *drawing) {
    tacit_digest digest;
    begin(&digest, "tacit graph drawing list", NULL, drawing);
    tacit_digest_u64(&digest, list->count);
    for (uint32_t i = 0; i < list->count; i++)
        tacit_digest_bytes(&digest, list->entries + (size_t)i * TACIT_DRAWING_ENTRY_BYTES,
                           4 + TACIT_DIGEST_BYTES);
    tacit_digest_end(&digest, list->digest);
}

static uint32_t place_of(const tacit_drawing_list *list, uint32_t i) {
    tacit_cursor cursor =
        tacit_cursor_over(list->entries + (size_t)i * TACIT_DRAWING_ENTRY_BYTES, sizeof(uint32_t));
    uint32_t place = 0;
    tacit_cursor_read_u32(&cursor, &place);
    return place;
}

static const uint8_t *commitment_of(const tacit_drawing_list *list, uint32_t i) {
    return list->entries + (size_t)i * TACIT_DRAWING_ENTRY_BYTES + 4;
}

/* Read from the cursor, which then stands behind the list. */
static tacit_status read_list(tacit_drawing_list *out, const tacit_drawing *drawing, tacit_cursor *cursor,
                              tacit_error *error) {
    tacit_drawing_list list = { 0 };
    if (!tacit_cursor_read_u32(cursor, &list.count) || list.count > drawing->parties ||
        !tacit_cursor_skip(cursor, &list.entries, (size_t)list.count * TACIT_DRAWING_ENTRY_BYTES))
        return tacit_fail(error, TACIT_PROTOCOL, "a list of commitments to the graph is malformed");
    if (list.count < drawing->least)
        return tacit_fail(error, TACIT_REFUSED,
                          "%lu parties have committed to the drawing of the graph, and it takes %lu",
                          (unsigned long)list.count, (unsigned long)drawing->least);
    sample checked = sample_of(list.count, drawing->least);
    for (uint32_t i = 0; i < list.count; i++) {
        const uint32_t place = place_of(&list, i);
        if (place >= drawing->parties || (i > 0 && place <= place_of(&list, i - 1)))
            return tacit_fail(error, TACIT_PROTOCOL,
                              "a list of commitments to the graph names party %lu twice or out of order",
                              (unsigned long)place);
        const uint8_t *commitment = commitment_of(&list, i);
        if (is_drawn(&checked) &&
            !is_signed(COMMITTED, drawing, place, commitment, commitment + TACIT_DIGEST_BYTES))
            return tacit_fail(error, TACIT_REFUSED,
                              "party %lu has not signed the commitment to the graph that is shown as its own",
                              (unsigned long)place);
    }
    digest_list(&list, drawing);
    *out = list;
    return TACIT_OK;
}

tacit_status tacit_drawing_read_list(tacit_drawing_list *out, const tacit_drawing *drawing,
                                     const uint8_t *bytes, size_t length, tacit_error *error) {
    tacit_cursor cursor = tacit_cursor_over(bytes, length);
    TACIT_TRY(read_list(out, drawing, &cursor, error));
    if (cursor.left > 0)
        return tacit_fail(error, TACIT_PROTOCOL, "a list of commitments to the graph is malformed");
    return TACIT_OK;
}

bool tacit_drawing_is_on(const tacit_drawing_list *list, const tacit_drawing *drawing, uint32_t place,
                         const uint8_t secret[TACIT_DRAWING_SECRET_BYTES], bool *found) {
    uint8_t commitment[TACIT_DIGEST_BYTES];
    *found = false;
    for (uint32_t i = 0; i < list->count && !*found; i++) {
        if (place_of(list, i) != place) continue;
        *found = true;
        commitment_to(commitment, drawing, place, secret);
        return memcmp(commitment, commitment_of(list, i), sizeof commitment) == 0;
    }
    return false;
}

tacit_status tacit_drawing_open(const tacit_drawing *drawing, uint32_t place,
                                const uint8_t secret[TACIT_DRAWING_SECRET_BYTES],
                                const tacit_drawing_list *list, const tacit_securesum_signer *signer,
                                tacit_buffer *out, tacit_error *error) {
    TACIT_TRY(tacit_buffer_append(out, secret, TACIT_DRAWING_SECRET_BYTES, error));
    return sign(out, OPENED, drawing, place, list->digest, signer, error);
}

/* The opening of number i on the list. */
static tacit_status check_opening(const tacit_drawing *drawing, const tacit_drawing_list *list, uint32_t i,
                                  const uint8_t *opening, bool signature, tacit_error *error) {
    const uint32_t place = place_of(list, i);
    uint8_t commitment[TACIT_DIGEST_BYTES];
    commitment_to(commitment, drawing, place, opening);
    if (memcmp(commitment, commitment_of(list, i), sizeof commitment) != 0)
        return tacit_fail(error, TACIT_REFUSED, "party %lu has not committed to what is shown as its opening",
                          (unsigned long)place);
    if (signature && !is_signed(OPENED, drawing, place, list->digest, opening + TACIT_DRAWING_SECRET_BYTES))
        return tacit_fail(error, TACIT_REFUSED,
                          "party %lu has not signed this list of commitments to the graph",
                          (unsigned long)place);
    return TACIT_OK;
}

tacit_status tacit_drawing_read_proof(uint8_t seed[TACIT_GRAPH_SEED_BYTES], tacit_drawing_list *list,
                                      const tacit_drawing *drawing, const uint8_t *bytes, size_t length,
                                      tacit_error *error) {
    tacit_cursor cursor = tacit_cursor_over(bytes, length);
    tacit_digest digest;
    _Static_assert((int)TACIT_GRAPH_SEED_BYTES == (int)TACIT_DIGEST_BYTES, "a digest is a seed");
    TACIT_TRY(read_list(list, drawing, &cursor, error));
    if (cursor.left != (size_t)list->count * TACIT_DRAWING_OPENING_BYTES)
        return tacit_fail(error, TACIT_REFUSED,
                          "the drawing of the graph does not have the openings of all who committed");
    begin(&digest, "tacit graph drawing seed", NULL, drawing);
    tacit_digest_bytes(&digest, list->digest, sizeof list->digest);
    sample checked = sample_of(list->count, drawing->least);
    for (uint32_t i = 0; i < list->count; i++) {
        const uint8_t *opening = cursor.bytes + (size_t)i * TACIT_DRAWING_OPENING_BYTES;
        TACIT_TRY(check_opening(drawing, list, i, opening, is_drawn(&checked), error));
        tacit_digest_bytes(&digest, opening, TACIT_DRAWING_SECRET_BYTES);
    }
    tacit_digest_end(&digest, seed);
    return TACIT_OK;
}

/* ---- the coordinator ---- */

typedef struct member {
    bool committed, opened;
    uint32_t number; /* on the list */
    uint8_t commitment[TACIT_DRAWING_COMMITMENT_BYTES], opening[TACIT_DRAWING_OPENING_BYTES];
} member;

struct tacit_drawing_server {
    tacit_drawing drawing;
    tacit_drawing_step step;
    member *members;
    uint32_t committed, opened;
    tacit_buffer said; /* the list, then the proof */
    tacit_drawing_list list;
};

tacit_status tacit_drawing_server_create(tacit_drawing_server **out, const tacit_drawing *drawing,
                                         tacit_error *error) {
    tacit_drawing_server *server = TACIT_NEW(tacit_drawing_server, 1);
    if (server == NULL) return tacit_fail_memory(error);
    server->drawing = *drawing;
    server->members = TACIT_NEW(member, drawing->parties);
    if (server->members == NULL) {
        free(server);
        return tacit_fail_memory(error);
    }
    *out = server;
    return TACIT_OK;
}

tacit_drawing_server *tacit_drawing_server_free(tacit_drawing_server *server) {
    if (server == NULL) return NULL;
    tacit_buffer_clear(&server->said);
    free(server->members);
    free(server);
    return NULL;
}

tacit_drawing_step tacit_drawing_server_step(const tacit_drawing_server *server) { return server->step; }

bool tacit_drawing_server_expects(const tacit_drawing_server *server, uint32_t place) {
    if (place >= server->drawing.parties || server->step == TACIT_DRAWING_DONE) return false;
    return server->step == TACIT_DRAWING_COMMITTING || server->members[place].committed;
}

bool tacit_drawing_server_has(const tacit_drawing_server *server, uint32_t place) {
    if (!tacit_drawing_server_expects(server, place)) return false;
    const member *of = &server->members[place];
    return server->step == TACIT_DRAWING_COMMITTING ? of->committed : of->opened;
}

uint32_t tacit_drawing_server_needs(const tacit_drawing_server *server) {
    return server->step == TACIT_DRAWING_COMMITTING ? server->drawing.least : server->committed;
}

const tacit_buffer *tacit_drawing_server_question(const tacit_drawing_server *server) {
    return &server->said;
}

static tacit_status take_commitment(tacit_drawing_server *server, uint32_t place, const uint8_t *answer,
                                    tacit_error *error) {
    member *of = &server->members[place];
    if (!is_signed(COMMITTED, &server->drawing, place, answer, answer + TACIT_DIGEST_BYTES))
        return tacit_fail(error, TACIT_PROTOCOL, "its commitment to the graph is not signed by it");
    memcpy(of->commitment, answer, sizeof of->commitment);
    of->committed = true;
    server->committed++;
    return TACIT_OK;
}

static tacit_status take_opening(tacit_drawing_server *server, uint32_t place, const uint8_t *answer,
                                 tacit_error *error) {
    member *of = &server->members[place];
    if (check_opening(&server->drawing, &server->list, of->number, answer, true, error) != TACIT_OK)
        return TACIT_PROTOCOL;
    memcpy(of->opening, answer, sizeof of->opening);
    of->opened = true;
    server->opened++;
    return TACIT_OK;
}

tacit_status tacit_drawing_server_receive(tacit_drawing_server *server, uint32_t place, const uint8_t *answer,
                                          size_t length, tacit_error *error) {
    const bool committing = server->step == TACIT_DRAWING_COMMITTING;
    if (!tacit_drawing_server_expects(server, place))
        return tacit_fail(error, TACIT_REFUSED, "party %lu has no part in this step of drawing the graph",
                          (unsigned long)place);
    _Static_assert((int)TACIT_DRAWING_COMMITMENT_BYTES == (int)TACIT_DRAWING_OPENING_BYTES, "of one length");
    const member *of = &server->members[place];
    const uint8_t *before = committing ? of->commitment : of->opening;
    if (length != TACIT_DRAWING_OPENING_BYTES)
        return tacit_fail(error, TACIT_PROTOCOL, "party %lu: an answer to the drawing is malformed",
                          (unsigned long)place);
    if (tacit_drawing_server_has(server, place))
        return memcmp(before, answer, length) == 0
                   ? TACIT_OK
                   : tacit_fail(error, TACIT_PROTOCOL,
                                "party %lu: two different answers to the drawing of the graph",
                                (unsigned long)place);
    tacit_status status = committing ? take_commitment(server, place, answer, error)
                                     : take_opening(server, place, answer, error);
    return status == TACIT_OK ? TACIT_OK : tacit_fail_in(error, status, "party %lu", (unsigned long)place);
}

static tacit_status close_commitments(tacit_drawing_server *server, tacit_error *error) {
    uint32_t number = 0;
    if (server->committed < server->drawing.least)
        return tacit_fail(error, TACIT_REFUSED,
                          "%lu parties have committed to the drawing of the graph, and it takes %lu",
                          (unsigned long)server->committed, (unsigned long)server->drawing.least);
    TACIT_TRY(tacit_buffer_append_u32(&server->said, server->committed, error));
    for (uint32_t i = 0; i < server->drawing.parties; i++) {
        member *of = &server->members[i];
        if (!of->committed) continue;
        of->number = number++;
        TACIT_TRY(tacit_buffer_append_u32(&server->said, i, error));
        TACIT_TRY(tacit_buffer_append(&server->said, of->commitment, sizeof of->commitment, error));
    }
    server->list = (tacit_drawing_list){ number, server->said.bytes + 4, { 0 } };
    digest_list(&server->list, &server->drawing);
    return TACIT_OK;
}

static tacit_status close_openings(tacit_drawing_server *server, tacit_error *error) {
    if (server->opened < server->committed)
        return tacit_fail(error, TACIT_REFUSED,
                          "%lu of %lu parties have opened their commitment to the graph, and all must",
                          (unsigned long)server->opened, (unsigned long)server->committed);
    for (uint32_t i = 0; i < server->drawing.parties; i++)
        if (server->members[i].committed)
            TACIT_TRY(tacit_buffer_append(&server->said, server->members[i].opening,
                                          sizeof server->members[i].opening, error));
    return TACIT_OK;
}

tacit_status tacit_drawing_server_close(tacit_drawing_server *server, tacit_error *error) {
    const size_t before = server->said.length;
    if (server->step == TACIT_DRAWING_DONE) return tacit_fail(error, TACIT_USAGE, "the graph has been drawn");
    tacit_status status = server->step == TACIT_DRAWING_COMMITTING ? close_commitments(server, error)
                                                                   : close_openings(server, error);
    if (status != TACIT_OK) server->said.length = before;
    server->list.entries = server->said.bytes + 4; /* which may have moved */
    if (status == TACIT_OK) server->step++;
    return status;
}
