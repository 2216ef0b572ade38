/*
 * A carrier without a connection: what the other side has sent is in the pouch already, and what is said to it
 * goes into the pouch, for somebody to write to a file (net/envelope.h).
 */
#pragma once

#include "net/envelope.h"
#include "session/carrier/carrier.h"

/* Enclosures that are no errands: the invitation's line, and the key that opens what is for the coordinator. */
enum { TACIT_POUCH_INVITATION = 0x100, TACIT_POUCH_BOX_KEY };

typedef struct tacit_pouch {
    tacit_envelope in;  /* replies, once it is open */
    tacit_envelope out; /* errands; each of a kind once, the last one said */
    bool polled;        /* the reply to a poll was heard, and there is no other */
} tacit_pouch;

void tacit_pouch_clear(tacit_pouch *pouch);
