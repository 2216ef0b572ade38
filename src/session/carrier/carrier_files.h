/*
 * A carrier without a connection: what the other side has sent is in an envelope already, and what is said to
 * it goes into another, for somebody to write to a file (net/envelope.h).
 */
#pragma once

#include "net/envelope.h"
#include "session/carrier/carrier.h"

/* Enclosures that are no requests: the invitation's line, and the key that opens what is for the
 * coordinator. */
enum { TACIT_ENCLOSED_INVITATION = 0x100, TACIT_ENCLOSED_BOX_KEY };

typedef struct tacit_envelope_pair {
    tacit_envelope in;  /* replies, once it is open */
    tacit_envelope out; /* requests; to each endpoint one, the last */
    bool polled;        /* the reply to a poll was heard, and there is no other */
} tacit_envelope_pair;

void tacit_envelope_pair_clear(tacit_envelope_pair *envelopes);
