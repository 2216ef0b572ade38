/*
 * The coordinator's half: it collects, checks, passes on, and in the end adds.
 *
 * It never holds the vector of a single party. A vector arrives with the party's self-mask and masks with its
 * neighbours on it, is added to the running total and forgotten. What is opened later, self-mask seeds of
 * survivors and masking keys of those that vanished, is of no use against it: the total has all of them on it
 * already, and of no party both are opened (graph.h).
 */
#include "crypto/sum/securesum_server.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

tacit_status tacit_securesum_server_create(tacit_securesum_server **out, const tacit_securesum *sum,
                                           tacit_pool *pool, tacit_error *error) {
    tacit_securesum_server *server = TACIT_NEW(tacit_securesum_server, 1);
    if (server == NULL) return tacit_fail_memory(error);
    server->sum = sum;
    server->pool = pool;
    server->members = TACIT_NEW(tacit_sum_member, sum->terms.shape.parties);
    server->sets = TACIT_NEW(uint8_t, 2 * sum->set_bytes);
    server->total = TACIT_NEW(uint64_t, sum->terms.length);
    if (server->members == NULL || server->sets == NULL || server->total == NULL) {
        tacit_securesum_server_free(server);
        return tacit_fail_memory(error);
    }
    for (uint32_t i = 0; i < sum->terms.shape.parties; i++) server->members[i].expected = true;
    *out = server;
    return TACIT_OK;
}

tacit_securesum_server *tacit_securesum_server_free(tacit_securesum_server *server) {
    if (server == NULL) return NULL;
    free(server->dealt);
    free(server->members);
    free(server->sets);
    free(server->total);
    free(server);
    return NULL;
}

tacit_securesum_step tacit_securesum_server_step(const tacit_securesum_server *server) {
    return server->step;
}

bool tacit_securesum_server_expects(const tacit_securesum_server *server, uint32_t party) {
    return party < server->sum->terms.shape.parties && !server->failed && server->step < TACIT_SUM_OPENED &&
           server->members[party].expected;
}

bool tacit_securesum_server_has(const tacit_securesum_server *server, uint32_t party) {
    return tacit_securesum_server_expects(server, party) && server->members[party].answered;
}

const int64_t *tacit_securesum_server_sum(const tacit_securesum_server *server) {
    return server->step == TACIT_SUM_OPENED ? (const int64_t *)server->total : NULL;
}

bool tacit_securesum_server_survived(const tacit_securesum_server *server, uint32_t party) {
    return server->step == TACIT_SUM_OPENED && party < server->sum->terms.shape.parties &&
           server->members[party].survivor;
}

static const tacit_sum_member *neighbour(const tacit_securesum_server *server, uint32_t party,
                                         uint32_t slot) {
    return &server->members[tacit_graph_neighbour(server->sum->graph, party, slot)];
}

/* ---- what to ask ---- */

static bool is_expected(const tacit_sum_member *member) { return member->expected; }
static bool is_dealer(const tacit_sum_member *member) { return member->dealer; }

/* The header of a list about the neighbours that are in it, and how many these are. */
static tacit_status begin_list(const tacit_securesum_server *server, uint32_t party, tacit_sum_kind kind,
                               bool (*listed)(const tacit_sum_member *member), tacit_buffer *out,
                               tacit_error *error) {
    uint32_t count = 0;
    for (uint32_t slot = 0; slot < server->sum->terms.shape.degree; slot++)
        count += listed(neighbour(server, party, slot));
    TACIT_TRY(tacit_sum_write_header(out, server->sum, kind, party, error));
    return tacit_buffer_append_u32(out, count, error);
}

static tacit_status write_key_list(const tacit_securesum_server *server, uint32_t party, tacit_buffer *out,
                                   tacit_error *error) {
    const uint32_t degree = server->sum->terms.shape.degree;
    TACIT_TRY(begin_list(server, party, TACIT_SUM_KEY_LIST, is_expected, out, error));
    for (uint32_t slot = 0; slot < degree; slot++) {
        if (!neighbour(server, party, slot)->expected) continue;
        TACIT_TRY(
            tacit_buffer_append_u32(out, tacit_graph_neighbour(server->sum->graph, party, slot), error));
        TACIT_TRY(tacit_sum_write_keys(out, &neighbour(server, party, slot)->keys, error));
    }
    return TACIT_OK;
}

/* What `other` dealt to `party`; the two are neighbours. */
static tacit_sum_dealt *dealt_by(const tacit_securesum_server *server, uint32_t other, uint32_t party) {
    uint32_t slot = 0;
    tacit_graph_slot(server->sum->graph, other, party, &slot);
    return &server->members[other].dealt[slot];
}

static tacit_status write_dealt_list(const tacit_securesum_server *server, uint32_t party, tacit_buffer *out,
                                     tacit_error *error) {
    const uint32_t degree = server->sum->terms.shape.degree;
    TACIT_TRY(begin_list(server, party, TACIT_SUM_DEALT_LIST, is_dealer, out, error));
    for (uint32_t slot = 0; slot < degree; slot++) {
        if (!neighbour(server, party, slot)->dealer) continue;
        uint32_t other = tacit_graph_neighbour(server->sum->graph, party, slot);
        const tacit_sum_dealt *dealt = dealt_by(server, other, party);
        TACIT_TRY(tacit_buffer_append_u32(out, other, error));
        TACIT_TRY(tacit_buffer_append(out, dealt->sealed, sizeof dealt->sealed, error));
        TACIT_TRY(tacit_buffer_append(out, dealt->commitment, sizeof dealt->commitment, error));
    }
    return TACIT_OK;
}

static tacit_status write_survivors(const tacit_securesum_server *server, uint32_t party, tacit_buffer *out,
                                    tacit_error *error) {
    TACIT_TRY(tacit_sum_write_header(out, server->sum, TACIT_SUM_SURVIVORS, party, error));
    return tacit_buffer_append(out, server->sets, 2 * server->sum->set_bytes, error);
}

static uint32_t count_consents(const tacit_securesum_server *server, uint32_t party) {
    uint32_t count = 0;
    for (uint32_t slot = 0; slot < server->sum->terms.shape.degree; slot++)
        count += neighbour(server, party, slot)->consented;
    return count;
}

/* As many as the party must see, with its own. It verifies each, and more would tell it nothing. */
static tacit_status write_consents(const tacit_securesum_server *server, uint32_t party, tacit_buffer *out,
                                   tacit_error *error) {
    const tacit_graph_shape *shape = &server->sum->terms.shape;
    uint32_t left = count_consents(server, party);
    if (left > shape->threshold - 1) left = shape->threshold - 1;
    TACIT_TRY(tacit_sum_write_header(out, server->sum, TACIT_SUM_CONSENTS, party, error));
    TACIT_TRY(tacit_buffer_append_u32(out, left, error));
    for (uint32_t slot = 0; slot < shape->degree && left > 0; slot++) {
        const tacit_sum_member *other = neighbour(server, party, slot);
        if (!other->consented) continue;
        left--;
        TACIT_TRY(
            tacit_buffer_append_u32(out, tacit_graph_neighbour(server->sum->graph, party, slot), error));
        TACIT_TRY(tacit_buffer_append(out, other->consent, sizeof other->consent, error));
    }
    return TACIT_OK;
}

tacit_status tacit_securesum_server_question(const tacit_securesum_server *server, uint32_t party,
                                             tacit_buffer *out, tacit_error *error) {
    const size_t before = out->length;
    if (!tacit_securesum_server_expects(server, party))
        return tacit_fail(error, TACIT_NOT_FOUND, "party %lu is not to be asked in this step of a secure sum",
                          (unsigned long)party);
    tacit_status status = TACIT_OK;
    switch (server->step) {
    case TACIT_SUM_SHARE: status = write_key_list(server, party, out, error); break;
    case TACIT_SUM_MASK: status = write_dealt_list(server, party, out, error); break;
    case TACIT_SUM_CONSENT: status = write_survivors(server, party, out, error); break;
    case TACIT_SUM_UNMASK: status = write_consents(server, party, out, error); break;
    default: break; /* advertise: the terms are all a party needs */
    }
    if (status != TACIT_OK) out->length = before;
    return status;
}

/* ---- answers ---- */

/* A point of small order has no secret in common with anybody; given on, it would stop all neighbours. */
static bool weak_key(const uint8_t key[TACIT_KEY_BYTES]) {
    static const uint8_t any[TACIT_KEY_BYTES] = { 1 };
    uint8_t point[crypto_scalarmult_BYTES];
    return crypto_scalarmult(point, any, key) != 0;
}

static tacit_status take_keys(tacit_securesum_server *server, uint32_t party, tacit_cursor *cursor,
                              tacit_error *error) {
    tacit_sum_keys keys;
    uint8_t digest[TACIT_DIGEST_BYTES];
    if (cursor->left != TACIT_SUM_KEYS_BYTES || !tacit_sum_read_keys(cursor, &keys))
        return tacit_sum_malformed(error, "the keys");
    tacit_sum_keys_digest(digest, server->sum, party, &keys);
    if (!tacit_sum_verify(server->sum, party, digest, keys.signature))
        return tacit_fail(error, TACIT_PROTOCOL, "the keys are not signed by the party that sent them");
    if (weak_key(keys.sealing) || weak_key(keys.masking))
        return tacit_fail(error, TACIT_PROTOCOL, "a key is a point of small order");
    server->members[party].keys = keys;
    return TACIT_OK;
}

static tacit_status read_dealt(const tacit_securesum_server *server, uint32_t party, tacit_cursor *cursor,
                               tacit_sum_dealt *dealt, tacit_error *error) {
    const uint32_t degree = server->sum->terms.shape.degree;
    uint32_t count, next = 0, slot;
    if (!tacit_cursor_read(cursor, dealt[degree].commitment[TACIT_SUM_SELF], TACIT_DIGEST_BYTES))
        return tacit_sum_malformed(error, "a list of shares");
    dealt[degree].given = true;
    TACIT_TRY(tacit_sum_read_count(cursor, degree, 4 + TACIT_SUM_DEALT_BYTES, 0, &count, error));
    for (uint32_t i = 0; i < count; i++) {
        TACIT_TRY(tacit_sum_read_neighbour(cursor, server->sum, party, degree, &next, &slot, error));
        tacit_cursor_read(cursor, dealt[slot].sealed, sizeof dealt[slot].sealed);
        tacit_cursor_read(cursor, dealt[slot].commitment, sizeof dealt[slot].commitment);
        dealt[slot].given = true;
    }
    for (slot = 0; slot < degree; slot++)
        if (dealt[slot].given != neighbour(server, party, slot)->expected)
            return tacit_fail(error, TACIT_PROTOCOL, "shares for party %lu are %s",
                              (unsigned long)tacit_graph_neighbour(server->sum->graph, party, slot),
                              dealt[slot].given ? "there, but were not asked for" : "missing");
    return TACIT_OK;
}

static tacit_status take_dealt(tacit_securesum_server *server, uint32_t party, tacit_cursor *cursor,
                               tacit_error *error) {
    const tacit_graph_shape *shape = &server->sum->terms.shape;
    const size_t each = (size_t)shape->degree + 1;
    if (server->dealt == NULL) server->dealt = TACIT_NEW(tacit_sum_dealt, shape->parties * each);
    if (server->dealt == NULL) return tacit_fail_memory(error);
    tacit_sum_dealt *dealt = server->dealt + party * each;
    tacit_status status = read_dealt(server, party, cursor, dealt, error);
    if (status != TACIT_OK) {
        memset(dealt, 0, each * sizeof *dealt);
        return status;
    }
    server->members[party].dealt = dealt;
    return TACIT_OK;
}

/* All is checked before anything is added. */
static tacit_status take_vector(tacit_securesum_server *server, uint32_t party, tacit_cursor *cursor,
                                tacit_error *error) {
    const uint32_t degree = server->sum->terms.shape.degree;
    const size_t length = server->sum->terms.length;
    uint32_t count, next = 0, slot;
    uint64_t claimed;
    TACIT_TRY(tacit_sum_read_count(cursor, degree, 4, 8 + length * sizeof(uint64_t), &count, error));
    tacit_cursor complaints = *cursor;
    for (uint32_t i = 0; i < count; i++) {
        TACIT_TRY(tacit_sum_read_neighbour(cursor, server->sum, party, degree, &next, &slot, error));
        if (!neighbour(server, party, slot)->dealer)
            return tacit_fail(error, TACIT_PROTOCOL, "it complains of shares that it was not given");
    }
    if (!tacit_cursor_read_u64(cursor, &claimed) || claimed != length)
        return tacit_sum_malformed(error, "a masked vector");
    for (uint32_t i = 0; i < count; i++) {
        uint32_t other = 0;
        tacit_cursor_read_u32(&complaints, &other);
        dealt_by(server, other, party)->complained = true;
    }
    for (size_t i = 0; i < length; i++) {
        uint64_t word;
        memcpy(&word, cursor->bytes + i * sizeof word, sizeof word);
        server->total[i] += le64toh(word);
    }
    return TACIT_OK;
}

static tacit_status take_consent(tacit_securesum_server *server, uint32_t party, tacit_cursor *cursor,
                                 tacit_error *error) {
    uint8_t signature[TACIT_SIGNATURE_BYTES];
    if (cursor->left != sizeof signature || !tacit_cursor_read(cursor, signature, sizeof signature))
        return tacit_sum_malformed(error, "a consent");
    if (!tacit_sum_verify(server->sum, party, server->survivors_digest, signature))
        return tacit_fail(error, TACIT_PROTOCOL,
                          "the consent is not a signature of the survivors by this party");
    memcpy(server->members[party].consent, signature, sizeof signature);
    return TACIT_OK;
}

/* One pass checks the shares against what their dealers are committed to, and a second one keeps them. */
static tacit_status read_openings(tacit_securesum_server *server, uint32_t party, tacit_cursor *cursor,
                                  bool keep, tacit_error *error) {
    const uint32_t degree = server->sum->terms.shape.degree;
    uint32_t count, next = 0, slot;
    TACIT_TRY(tacit_sum_read_count(cursor, degree + 1, TACIT_SUM_OPENING_BYTES, 0, &count, error));
    for (uint32_t i = 0; i < count; i++) {
        uint8_t which = 0, share[TACIT_SECRET_BYTES], seen[TACIT_DIGEST_BYTES];
        TACIT_TRY(tacit_sum_read_neighbour(cursor, server->sum, party, degree + 1, &next, &slot, error));
        tacit_cursor_read(cursor, &which, sizeof which);
        tacit_cursor_read(cursor, share, sizeof share);
        const uint32_t dealer = tacit_graph_neighbour(server->sum->graph, party, slot);
        const tacit_sum_member *member = &server->members[dealer];
        if (!member->dealer || which != (member->survivor ? TACIT_SUM_SELF : TACIT_SUM_MASKING))
            return tacit_fail(error, TACIT_PROTOCOL,
                              "it opens a secret of party %lu that is not to be opened",
                              (unsigned long)dealer);
        tacit_sum_dealt *dealt = dealt_by(server, dealer, party);
        tacit_sum_commit_share(seen, server->sum, dealer, party, (tacit_sum_secret)which, share);
        if (memcmp(seen, dealt->commitment[which], sizeof seen) != 0)
            return tacit_fail(error, TACIT_PROTOCOL, "its share of a secret of party %lu is wrong",
                              (unsigned long)dealer);
        if (!keep) continue;
        memcpy(dealt->share, share, sizeof share);
        dealt->opened = true;
    }
    return TACIT_OK;
}

static tacit_status take_openings(tacit_securesum_server *server, uint32_t party, tacit_cursor *cursor,
                                  tacit_error *error) {
    tacit_cursor again = *cursor;
    TACIT_TRY(read_openings(server, party, cursor, false, error));
    return read_openings(server, party, &again, true, error);
}

typedef tacit_status taker(tacit_securesum_server *server, uint32_t party, tacit_cursor *cursor,
                           tacit_error *error);
static const struct {
    tacit_sum_kind kind;
    taker *take;
} steps[TACIT_SUM_OPENED] = {
    [TACIT_SUM_ADVERTISE] = { TACIT_SUM_KEYS, take_keys },
    [TACIT_SUM_SHARE] = { TACIT_SUM_DEALT, take_dealt },
    [TACIT_SUM_MASK] = { TACIT_SUM_VECTOR, take_vector },
    [TACIT_SUM_CONSENT] = { TACIT_SUM_CONSENTED, take_consent },
    [TACIT_SUM_UNMASK] = { TACIT_SUM_OPENINGS, take_openings },
};

static tacit_status check_due(const tacit_securesum_server *server, uint32_t party, const uint8_t *answer,
                              size_t length, tacit_error *error) {
    int kind = tacit_sum_kind_of(answer, length);
    for (int step = 0; step < (int)server->step; step++)
        if (kind == (int)steps[step].kind)
            return tacit_fail(error, TACIT_REFUSED,
                              "its answer to %s came after that step of the secure sum had ended",
                              tacit_securesum_step_name((tacit_securesum_step)step));
    if (!tacit_securesum_server_expects(server, party))
        return tacit_fail(error, TACIT_REFUSED, "it has no part in this step of the secure sum");
    return TACIT_OK;
}

static tacit_status receive(tacit_securesum_server *server, uint32_t party, const uint8_t *answer,
                            size_t length, tacit_error *error) {
    tacit_cursor cursor = tacit_cursor_over(answer, length);
    tacit_digest digest;
    uint8_t seen[TACIT_DIGEST_BYTES];
    TACIT_TRY(check_due(server, party, answer, length, error));
    tacit_sum_member *member = &server->members[party];
    tacit_digest_begin(&digest, "tacit secure sum answer", NULL);
    tacit_digest_bytes(&digest, answer, length);
    tacit_digest_end(&digest, seen);
    if (member->answered && memcmp(seen, member->answer, sizeof seen) == 0) return TACIT_OK;
    if (member->answered)
        return tacit_fail(error, TACIT_PROTOCOL, "it sent two different answers to %s of the secure sum",
                          tacit_securesum_step_name(server->step));
    TACIT_TRY(tacit_sum_read_header(&cursor, server->sum, steps[server->step].kind, party, error));
    TACIT_TRY(steps[server->step].take(server, party, &cursor, error));
    memcpy(member->answer, seen, sizeof seen);
    member->answered = true;
    return TACIT_OK;
}

tacit_status tacit_securesum_server_receive(tacit_securesum_server *server, uint32_t party,
                                            const uint8_t *answer, size_t length, tacit_error *error) {
    tacit_status status = receive(server, party, answer, length, error);
    return status == TACIT_OK ? TACIT_OK : tacit_fail_in(error, status, "party %lu", (unsigned long)party);
}

/* ---- the end of a step ---- */

/* Parties with too few neighbours left would refuse to go on, and leave others with too few. */
static uint32_t keep_connected(tacit_securesum_server *server) {
    const tacit_graph_shape *shape = &server->sum->terms.shape;
    uint32_t left = 0;
    for (bool changed = true; changed;) {
        changed = false;
        left = 0;
        for (uint32_t i = 0; i < shape->parties; i++) {
            if (!server->members[i].expected) continue;
            uint32_t beside = 1;
            for (uint32_t slot = 0; slot < shape->degree; slot++)
                beside += neighbour(server, i, slot)->expected;
            if (beside >= shape->threshold) {
                left++;
                continue;
            }
            server->members[i].expected = false;
            changed = true;
        }
    }
    return left;
}

static tacit_status check_left(const tacit_securesum_server *server, uint32_t left, tacit_error *error) {
    const tacit_graph_shape *shape = &server->sum->terms.shape;
    if (left >= shape->minimum) return TACIT_OK;
    return tacit_fail(error, TACIT_REFUSED,
                      "after %s, %lu of %lu parties are left of a secure sum that opens for at least %lu; "
                      "nothing is opened",
                      tacit_securesum_step_name(server->step), (unsigned long)left,
                      (unsigned long)shape->parties, (unsigned long)shape->minimum);
}

/* Every dealer's secret, whichever is to be opened, must have enough good shares among the survivors. */
static tacit_status check_holders(const tacit_securesum_server *server, tacit_error *error) {
    const tacit_graph_shape *shape = &server->sum->terms.shape;
    for (uint32_t i = 0; i < shape->parties; i++) {
        uint32_t holders = server->members[i].survivor, complaints = 0;
        for (uint32_t slot = 0; server->members[i].dealer && slot < shape->degree; slot++) {
            const tacit_sum_dealt *dealt = &server->members[i].dealt[slot];
            complaints += dealt->complained;
            holders += neighbour(server, i, slot)->survivor && !dealt->complained;
        }
        if (!server->members[i].dealer || holders >= shape->threshold) continue;
        if (holders + complaints >= shape->threshold)
            return tacit_fail(error, TACIT_PROTOCOL,
                              "%lu parties could not open the shares of party %lu of a secure sum; leave it "
                              "out of the next",
                              (unsigned long)complaints, (unsigned long)i);
        return tacit_fail(error, TACIT_REFUSED,
                          "%lu parties are left that hold shares of party %lu of a secure sum, and it takes "
                          "%lu; nothing is opened",
                          (unsigned long)holders, (unsigned long)i, (unsigned long)shape->threshold);
    }
    return TACIT_OK;
}

static tacit_status close_mask(tacit_securesum_server *server, uint32_t left, tacit_error *error) {
    uint8_t *survivors = server->sets + server->sum->set_bytes;
    TACIT_TRY(check_left(server, left, error));
    for (uint32_t i = 0; i < server->sum->terms.shape.parties; i++) {
        server->members[i].survivor = server->members[i].expected;
        if (server->members[i].dealer) tacit_set_add(server->sets, i);
        if (server->members[i].survivor) tacit_set_add(survivors, i);
    }
    TACIT_TRY(tacit_graph_check_survivors(server->sum->graph, survivors, error));
    TACIT_TRY(check_holders(server, error));
    tacit_sum_survivors_digest(server->survivors_digest, server->sum, server->sets);
    return TACIT_OK;
}

/* Whoever sees too few consents cannot unmask, though its own consent counts for others. */
static void close_consent(tacit_securesum_server *server) {
    const tacit_graph_shape *shape = &server->sum->terms.shape;
    for (uint32_t i = 0; i < shape->parties; i++) server->members[i].consented = server->members[i].expected;
    for (uint32_t i = 0; i < shape->parties; i++)
        if (count_consents(server, i) + 1 < shape->threshold) server->members[i].expected = false;
}

static tacit_status close_step(tacit_securesum_server *server, uint32_t left, tacit_error *error) {
    switch (server->step) {
    case TACIT_SUM_ADVERTISE: return check_left(server, keep_connected(server), error);
    case TACIT_SUM_SHARE:
        left = keep_connected(server);
        for (uint32_t i = 0; i < server->sum->terms.shape.parties; i++)
            server->members[i].dealer = server->members[i].expected;
        return check_left(server, left, error);
    case TACIT_SUM_MASK: return close_mask(server, left, error);
    case TACIT_SUM_CONSENT: close_consent(server); return TACIT_OK;
    default: return tacit_sum_server_open(server, error);
    }
}

tacit_status tacit_securesum_server_close(tacit_securesum_server *server, tacit_error *error) {
    uint32_t left = 0;
    if (server->failed || server->step == TACIT_SUM_OPENED)
        return tacit_fail(error, TACIT_USAGE, "this secure sum has ended");
    for (uint32_t i = 0; i < server->sum->terms.shape.parties; i++) {
        server->members[i].expected = server->members[i].answered;
        left += server->members[i].answered;
    }
    tacit_status status = close_step(server, left, error);
    if (status != TACIT_OK) {
        server->failed = status != TACIT_NO_MEMORY;
        return status;
    }
    for (uint32_t i = 0; i < server->sum->terms.shape.parties; i++) server->members[i].answered = false;
    server->step++;
    return TACIT_OK;
}
