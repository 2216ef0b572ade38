/*
 * Yao's protocol between two parties that follow it: the garbler encrypts a circuit gate by gate, the
 * evaluator decrypts one row of each and learns labels, not bits (free XOR, half gates; the hash is described
 * in cipher_parts.h, transfers of the evaluator's inputs in ot.h). Gates stream: the garbler sends tables in
 * chunks as it makes them, the evaluator works behind it, and neither keeps any.
 *
 * Security: semi-honest. The garbler learns nothing but what is revealed to it, the evaluator likewise, if
 * both follow the protocol; one that does not can spoil the result, and a garbler that garbles another
 * circuit can learn the evaluator's input. Neither can make the other hang past the deadline, read out of
 * bounds, or allocate.
 *
 * Both ends create their builder at the same time over one channel, borrowed, and run the same circuit
 * (crypto/garble/circuit.h). A builder is used by one thread.
 */
#pragma once

#include "crypto/engine.h"
#include "crypto/garble/circuit.h"
#include "net/channel.h"
#include "rand/stream.h"

typedef struct tacit_garble_settings {
    tacit_engine engine;
    /* Hash under one fixed key instead of a new one each gate: for comparison; the bound is worse. The
     * garbler decides, the evaluator must want the same. */
    bool fixed_key;
    /* Where labels and secrets come from; borrowed. NULL: the operating system. Others only in tests. */
    tacit_stream *stream;
} tacit_garble_settings;

tacit_garble_settings tacit_garble_defaults(void);

tacit_status tacit_garbler_create(tacit_builder **out, tacit_channel *channel,
                                  const tacit_garble_settings *settings, tacit_error *error);
tacit_status tacit_evaluator_create(tacit_builder **out, tacit_channel *channel,
                                    const tacit_garble_settings *settings, tacit_error *error);
