/*
 * A party's part in drawing the graph of its sums (crypto/sum/drawing.h has the protocol). Of the bytes that
 * it contributes and of the one list that it signs a record is on the disk before either leaves, so that
 * after a crash it says the same again; a second list is refused, and so is a second seed. The record is of
 * one version of a study: a consent to another begins again.
 */
#include <sodium.h>
#include <string.h>

#include "session/masked/masked_parts.h"

#define GRAPH_NAME "sum.graph"

enum { GRAPH_VERSION = 1, HAS_SECRET = 1, HAS_LIST = 2, HAS_SEED = 4, ANSWER_MOST = 1024 };

typedef struct graph_record {
    uint8_t has; /* which of these */
    uint8_t secret[TACIT_DRAWING_SECRET_BYTES], list[TACIT_DIGEST_BYTES], seed[TACIT_GRAPH_SEED_BYTES];
} graph_record;

static tacit_status load(const stepping *self, graph_record *out, tacit_error *error) {
    const tacit_masks_store *store = &self->masks->store;
    tacit_buffer bytes = TACIT_BUFFER_INIT;
    uint8_t version = 0;
    bool found = false;
    tacit_status status;
    *out = (graph_record){ .has = 0 };
    TACIT_CHECK(store->read(store->context, GRAPH_NAME, &found, &bytes, error));
    if (!found) goto cleanup;
    tacit_cursor cursor = tacit_cursor_over(bytes.bytes, bytes.length);
    const bool whole = tacit_cursor_read(&cursor, &version, 1) && version == GRAPH_VERSION &&
                       tacit_cursor_read(&cursor, &out->has, 1) &&
                       tacit_cursor_read(&cursor, out->secret, sizeof out->secret) &&
                       tacit_cursor_read(&cursor, out->list, sizeof out->list) &&
                       tacit_cursor_read(&cursor, out->seed, sizeof out->seed) && cursor.left == 0;
    if (!whole)
        TACIT_CHECK(
            tacit_fail(error, TACIT_CORRUPT, "the record of the graph of this study's sums is damaged"));
cleanup:
    if (bytes.bytes != NULL) sodium_memzero(bytes.bytes, bytes.length);
    tacit_buffer_clear(&bytes);
    return status;
}

static tacit_status save(const stepping *self, const graph_record *record, tacit_error *error) {
    const tacit_masks_store *store = &self->masks->store;
    uint8_t bytes[2 + sizeof record->secret + sizeof record->list + sizeof record->seed] = { GRAPH_VERSION,
                                                                                             record->has };
    uint8_t *at = bytes + 2;
    memcpy(at, record->secret, sizeof record->secret);
    memcpy(at += sizeof record->secret, record->list, sizeof record->list);
    memcpy(at + sizeof record->list, record->seed, sizeof record->seed);
    tacit_status status = store->write(store->context, GRAPH_NAME, bytes, sizeof bytes, error);
    sodium_memzero(bytes, sizeof bytes);
    return status;
}

static tacit_drawing drawing_of(const stepping *self) {
    const tacit_masks *masks = self->masks;
    return tacit_masked_drawing(masks->plan, self->question->study, self->party->study_hash, masks->digest,
                                &masks->roster);
}

static tacit_status commit(const stepping *self, graph_record *record, tacit_buffer *body,
                           tacit_error *error) {
    const tacit_drawing drawing = drawing_of(self);
    if ((record->has & (HAS_SECRET | HAS_SEED)) == HAS_SEED)
        return tacit_fail(error, TACIT_REFUSED,
                          "the graph of this study's sums was drawn without this party");
    if (!(record->has & HAS_SECRET)) {
        randombytes_buf(record->secret, sizeof record->secret);
        record->has |= HAS_SECRET;
        TACIT_TRY(save(self, record, error));
    }
    return tacit_drawing_commit(&drawing, self->masks->place, record->secret, &self->signer, body, error);
}

/* Once the bytes are out, whoever could have another list signed could choose among seeds. */
static tacit_status take_list(const stepping *self, graph_record *record, const tacit_drawing_list *list,
                              tacit_error *error) {
    if (!(record->has & HAS_LIST)) {
        memcpy(record->list, list->digest, sizeof record->list);
        record->has |= HAS_LIST;
        return save(self, record, error);
    }
    if (memcmp(record->list, list->digest, sizeof record->list) == 0) return TACIT_OK;
    return tacit_fail(error, TACIT_REFUSED,
                      "the coordinator shows a second list of commitments to the graph: whoever could have "
                      "two would choose who masks with whom");
}

static tacit_status reveal(const stepping *self, graph_record *record, tacit_buffer *body,
                           tacit_error *error) {
    const tacit_drawing drawing = drawing_of(self);
    const tacit_buffer *question = &self->step->body;
    tacit_drawing_list list;
    bool found = false;
    if (!(record->has & HAS_SECRET))
        return tacit_fail(error, TACIT_REFUSED,
                          "the coordinator asks for the opening of a commitment that this party never made");
    TACIT_TRY(tacit_drawing_read_list(&list, &drawing, question->bytes, question->length, error));
    if (!tacit_drawing_is_on(&list, &drawing, self->masks->place, record->secret, &found))
        return tacit_fail(error, TACIT_REFUSED,
                          "this party's commitment is %s the list from which the graph would be drawn",
                          found ? "changed in" : "missing from");
    TACIT_TRY(take_list(self, record, &list, error));
    return tacit_drawing_open(&drawing, self->masks->place, record->secret, &list, &self->signer, body,
                              error);
}

tacit_status masked_draw(stepping *self, tacit_buffer *out, tacit_error *error) {
    graph_record record = { .has = 0 };
    tacit_buffer body = TACIT_BUFFER_INIT;
    tacit_status status;
    TACIT_CHECK(load(self, &record, error));
    if (self->step->step == TACIT_MASKED_DRAW)
        TACIT_CHECK(commit(self, &record, &body, error));
    else
        TACIT_CHECK(reveal(self, &record, &body, error));
    TACIT_CHECK(masked_pass(self, &body, ANSWER_MOST, out, error));
cleanup:
    sodium_memzero(&record, sizeof record);
    tacit_buffer_clear(&body);
    return status;
}

/* A party that came late is on no list, and takes the seed of those who are. */
static tacit_status take_proof(const stepping *self, graph_record *record, tacit_error *error) {
    const tacit_drawing drawing = drawing_of(self);
    const tacit_buffer *proof = &self->step->body;
    tacit_drawing_list list;
    uint8_t seed[TACIT_GRAPH_SEED_BYTES];
    bool found = false;
    TACIT_TRY(tacit_drawing_read_proof(seed, &list, &drawing, proof->bytes, proof->length, error));
    const bool own = tacit_drawing_is_on(&list, &drawing, self->masks->place, record->secret, &found);
    if (found != own || (found && !(record->has & HAS_SECRET)))
        return tacit_fail(error, TACIT_REFUSED,
                          "the graph was drawn with a commitment that this party did not make");
    if ((record->has & HAS_LIST) && memcmp(record->list, list.digest, sizeof record->list) != 0)
        return tacit_fail(error, TACIT_REFUSED,
                          "the graph was not drawn from the list of commitments that this party signed");
    if ((record->has & HAS_SEED) && memcmp(record->seed, seed, sizeof seed) != 0)
        return tacit_fail(error, TACIT_REFUSED,
                          "the coordinator has changed who masks with whom since it first showed it");
    if (record->has & HAS_SEED) return TACIT_OK;
    memcpy(record->seed, seed, sizeof record->seed);
    record->has |= HAS_SEED;
    return save(self, record, error);
}

tacit_status masked_seed(const stepping *self, uint8_t seed[TACIT_GRAPH_SEED_BYTES], tacit_error *error) {
    graph_record record = { .has = 0 };
    tacit_status status;
    TACIT_CHECK(load(self, &record, error));
    if (self->step->step == TACIT_SUM_ADVERTISE && self->step->body.length > 0)
        TACIT_CHECK(take_proof(self, &record, error));
    if (!(record.has & HAS_SEED))
        TACIT_CHECK(tacit_fail(
            error, TACIT_REFUSED,
            "the coordinator starts a sum, and has not shown how it was drawn who masks with whom"));
    memcpy(seed, record.seed, sizeof record.seed);
cleanup:
    sodium_memzero(&record, sizeof record);
    return status;
}
