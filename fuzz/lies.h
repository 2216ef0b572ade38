/*
 * A coordinator that lies to real parties over several rounds of masked sums, and what it can work out from
 * what they answer. A script of bytes says what it asks whom, in which order; the parties are those of a
 * deployed study (session/party.h) with everything that they keep, and their assumptions hold: there are no
 * more puppets among them than a study withstands, and owners compare rosters: a party that was shown another
 * than the rest goes on until it would mask, when its owner stops it. Of the puppets the coordinator knows
 * everything.
 *
 * What it works out is counted, not computed. A secret is open when shares of it from as many holders as the
 * threshold are known. A group of honest parties whose vectors are there, whose self-masks are open, and that
 * masked with nobody outside whose mask is still closed, is summed alone. It has won when both secrets of an
 * honest party are open in one sum, or when
 *  - in sums without noise of their own, the span of all such groups, over all rounds, has one honest party
 *    in it;
 *  - in sums with shares of the noise, a group has fewer honest parties than the noise is made for;
 * and beside sums, when a party takes a second roster or one that is no roster; or, where the parties draw
 * who masks with whom, when one opens its commitment for two lists or for one that is too short, or two go by
 * different seeds.
 */
#pragma once

#include "crypto/sum/securesum_parts.h"
#include "session/party.h"

enum { LIES_PARTIES_MOST = 8, LIES_SUMS_MOST = 12 };

typedef struct lies_settings {
    size_t parties, minimum;
    double dropouts, colluders; /* as a definition says them */
    uint32_t puppets;           /* a bit for each, by place */
    bool shares;                /* parties add shares of the noise */
    bool draws;                 /* they draw the graph, as if it were sparse: it is complete all the same */
    bool forgetful;             /* a party that is started again has lost its roster and its drawing */
    bool strict;                /* judge sums with shares of the noise as if they had none */
} lies_settings;

/* Rosters: as it is; two places swapped; a party replaced by a puppet; a key twice; the last missing; a
 * puppet more. */
typedef enum lies_roster_kind {
    LIES_ROSTER_TRUE,
    LIES_ROSTER_SWAPPED,
    LIES_ROSTER_REPLACED,
    LIES_ROSTER_TWICE,
    LIES_ROSTER_SHORT,
    LIES_ROSTER_LONG,
    LIES_ROSTERS
} lies_roster_kind;

typedef struct lies lies;

/* NULL when the settings make no study. Ends the process without memory. */
lies *lies_open(const lies_settings *settings);
lies *lies_close(lies *self);

/* Play a script to its end, or until the coordinator has won: then *how says what it has, else NULL. Returns
 * the number of questions that were answered. */
size_t lies_play(lies *self, const uint8_t *script, size_t length, const char **how);

/* Settings from the first bytes of a script, `used` of them; those of a study that withstands its puppets. */
lies_settings lies_read_settings(const uint8_t *script, size_t length, size_t *used);

/* Single moves, for scripts in words. Parties, keys, dealers and survivors are sets, a bit for each place. */
void lies_begin(lies *self, uint64_t round, unsigned question); /* or go back to a sum that was begun */
void lies_show_roster(lies *self, lies_roster_kind kind,
                      uint32_t at); /* in sums that are begun from now on */
void lies_draw(lies *self, uint32_t whom);
void lies_reveal(lies *self, uint32_t whom, uint32_t members, uint32_t nonce); /* of the puppets' bytes */
void lies_advertise(lies *self, uint32_t whom);
void lies_share(lies *self, uint32_t whom, uint32_t keys);
void lies_mask(lies *self, uint32_t whom, uint32_t dealers);
void lies_consent(lies *self, uint32_t whom, uint32_t dealers, uint32_t survivors);
void lies_unmask(lies *self, uint32_t whom);
void lies_restart(lies *self, uint32_t whom);
const char *lies_won(lies *self); /* NULL: not yet */
size_t lies_answered(const lies *self);
