/* The coordinator's last step: secrets from shares, masks from secrets, and the masks off the total. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "crypto/sum/mask.h"
#include "crypto/sum/securesum_server.h"

typedef struct opening {
    const tacit_securesum_server *server;
    size_t *first; /* where the masks of each party begin; one more, the count, at the end */
    tacit_mask *masks;
} opening;

/* Masks to take off because of party i: its self-mask if it survived; else those that its surviving
 * neighbours put on for it. */
static size_t masks_of(const tacit_securesum_server *server, uint32_t i) {
    const tacit_securesum *sum = server->sum;
    size_t count = 0;
    if (!server->members[i].dealer) return 0;
    if (server->members[i].survivor) return 1;
    for (uint32_t slot = 0; slot < sum->terms.shape.degree; slot++)
        count += server->members[tacit_graph_neighbour(sum->graph, i, slot)].survivor;
    return count;
}

static tacit_status combine(uint8_t secret[TACIT_SECRET_BYTES], const tacit_securesum_server *server,
                            uint32_t i, tacit_error *error) {
    const tacit_graph_shape *shape = &server->sum->terms.shape;
    uint32_t count = 0;
    tacit_secret_share *shares = TACIT_NEW(tacit_secret_share, shape->threshold);
    if (shares == NULL) return tacit_fail_memory(error);
    for (uint32_t slot = 0; slot <= shape->degree && count < shape->threshold; slot++) {
        const tacit_sum_dealt *dealt = &server->members[i].dealt[slot];
        if (!dealt->opened) continue;
        shares[count].place = tacit_sum_place(tacit_graph_neighbour(server->sum->graph, i, slot));
        memcpy(shares[count++].bytes, dealt->share, sizeof dealt->share);
    }
    tacit_status status;
    if (count < shape->threshold)
        status = tacit_fail(
            error, TACIT_REFUSED,
            "%lu shares of a secret of party %lu came in, and it takes %lu; the secure sum stays closed",
            (unsigned long)count, (unsigned long)i, (unsigned long)shape->threshold);
    else
        status = tacit_shamir_combine(secret, shares, count, shape->threshold, error);
    sodium_memzero(shares, shape->threshold * sizeof *shares);
    free(shares);
    return status;
}

/* All shares are what the party is committed to; so if they do not make the secret, it dealt wrong ones. */
static tacit_status wrong_dealer(uint32_t i, tacit_error *error) {
    return tacit_fail(
        error, TACIT_PROTOCOL,
        "party %lu dealt shares in a secure sum that do not fit together; leave it out of the next",
        (unsigned long)i);
}

static tacit_status open_self(tacit_mask *mask, const tacit_securesum_server *server, uint32_t i,
                              tacit_error *error) {
    uint8_t seen[TACIT_DIGEST_BYTES];
    TACIT_TRY(combine(mask->seed, server, i, error));
    tacit_sum_commit_self(seen, server->sum, i, mask->seed);
    if (memcmp(seen, server->members[i].keys.self_mask, sizeof seen) != 0) return wrong_dealer(i, error);
    mask->subtract = true;
    return TACIT_OK;
}

static tacit_status open_pairs(tacit_mask *masks, const tacit_securesum_server *server, uint32_t i,
                               tacit_error *error) {
    const tacit_securesum *sum = server->sum;
    uint8_t secret[TACIT_SECRET_BYTES];
    tacit_key_pair pair;
    tacit_status status;
    TACIT_CHECK(combine(secret, server, i, error));
    tacit_key_pair_from(&pair, secret);
    if (memcmp(pair.shown, server->members[i].keys.masking, sizeof pair.shown) != 0)
        TACIT_CHECK(wrong_dealer(i, error));
    for (uint32_t slot = 0; slot < sum->terms.shape.degree; slot++) {
        uint32_t other = tacit_graph_neighbour(sum->graph, i, slot);
        if (!server->members[other].survivor) continue;
        TACIT_CHECK(tacit_sum_pair_seed(masks->seed, sum, &pair, server->members[other].keys.masking, error));
        masks->subtract = other < i; /* the smaller number had added it */
        masks++;
    }
cleanup:
    sodium_memzero(secret, sizeof secret);
    sodium_memzero(&pair, sizeof pair);
    return status;
}

static tacit_status open_some(void *context, size_t begin, size_t end, unsigned worker, tacit_error *error) {
    const opening *self = context;
    (void)worker;
    for (size_t i = begin; i < end; i++) {
        const tacit_sum_member *member = &self->server->members[i];
        tacit_mask *masks = self->masks + self->first[i];
        if (self->first[i + 1] == self->first[i]) continue;
        if (member->survivor)
            TACIT_TRY(open_self(masks, self->server, (uint32_t)i, error));
        else
            TACIT_TRY(open_pairs(masks, self->server, (uint32_t)i, error));
    }
    return TACIT_OK;
}

tacit_status tacit_sum_server_open(tacit_securesum_server *server, tacit_error *error) {
    const uint32_t parties = server->sum->terms.shape.parties;
    opening self = { .server = server, .first = TACIT_NEW(size_t, (size_t)parties + 1) };
    tacit_status status;
    if (self.first == NULL) return tacit_fail_memory(error);
    for (uint32_t i = 0; i < parties; i++) self.first[i + 1] = self.first[i] + masks_of(server, i);
    self.masks = TACIT_NEW(tacit_mask, self.first[parties]);
    if (self.masks == NULL) TACIT_CHECK(tacit_fail_memory(error));
    TACIT_CHECK(tacit_pool_for(server->pool, parties, 0, open_some, &self, error));
    TACIT_CHECK(tacit_mask_apply(server->total, server->sum->terms.length, self.masks, self.first[parties],
                                 server->pool, error));
cleanup:
    if (self.masks != NULL) sodium_memzero(self.masks, self.first[parties] * sizeof *self.masks);
    free(self.masks);
    free(self.first);
    return status;
}
