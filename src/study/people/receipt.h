/*
 * A receipt for having completed a study: a random number of the participant's, and the value of the study's
 * blind function of it (crypto/prf/voprf.h), which only the coordinator can have made and has never seen. One
 * line of text:
 *
 *   tacit-receipt-1.STUDY.BASE64
 */
#pragma once

#include "study/study.h"

enum { TACIT_RECEIPT_NONCE = 32, TACIT_RECEIPT_TEXT = 256 };

typedef struct tacit_receipt {
    char study[TACIT_ID_SIZE];
    uint8_t nonce[TACIT_RECEIPT_NONCE], value[TACIT_VOPRF_BYTES];
} tacit_receipt;

/* What the function is computed of. */
enum { TACIT_RECEIPT_INPUT = 16 + TACIT_ID_SIZE + TACIT_RECEIPT_NONCE };
size_t tacit_receipt_input(const tacit_receipt *receipt, uint8_t out[TACIT_RECEIPT_INPUT]);

/* What is written down of one that was redeemed. */
void tacit_receipt_id(const tacit_receipt *receipt, uint8_t out[TACIT_HASH_BYTES]);

/* Returns out. */
char *tacit_receipt_print(const tacit_receipt *receipt, char out[TACIT_RECEIPT_TEXT]);

/* Blanks and line feeds around it are passed over. TACIT_INPUT when it is none. */
tacit_status tacit_receipt_parse(tacit_receipt *out, const char *text, tacit_error *error);
