/* The inside of the coordinator's half of a secure sum, for its files. */
#pragma once

#include "crypto/sum/securesum_parts.h"

/* What a party dealt to a neighbour, and what came back, by slot; the last slot is its own. */
typedef struct tacit_sum_dealt {
    bool given, complained, opened;
    union { /* there are many of them, and a sealed one is passed on before any is opened */
        uint8_t sealed[TACIT_SUM_SEALED_BYTES];
        uint8_t share[TACIT_SECRET_BYTES]; /* of the one secret that is opened */
    };
    uint8_t commitment[TACIT_SUM_SECRETS][TACIT_DIGEST_BYTES];
} tacit_sum_dealt;

typedef struct tacit_sum_member {
    bool expected, answered;            /* in this step */
    bool dealer, survivor, consented;   /* what it did in earlier ones */
    uint8_t answer[TACIT_DIGEST_BYTES]; /* of this step */
    tacit_sum_keys keys;
    tacit_sum_dealt *dealt; /* degree + 1, of the server's; NULL until it dealt */
    uint8_t consent[TACIT_SIGNATURE_BYTES];
} tacit_sum_member;

struct tacit_securesum_server {
    const tacit_securesum *sum;
    tacit_pool *pool;
    tacit_securesum_step step;
    bool failed;
    tacit_sum_member *members;
    /* degree + 1 for each member, in one piece, which goes back to the system when the sum is over: in pieces
     * among all that comes and goes meanwhile they would keep holes open for as long as the program runs.
     * NULL until somebody dealt. */
    tacit_sum_dealt *dealt;
    uint8_t *sets; /* dealers, then survivors */
    uint8_t survivors_digest[TACIT_DIGEST_BYTES];
    uint64_t *total;
};

/* Take all masks off the total, from the shares that came in. */
tacit_status tacit_sum_server_open(tacit_securesum_server *server, tacit_error *error);
