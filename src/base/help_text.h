/* Sentences of help and of the reference, which only a program prints: a library for parties alone
 * (-Dparty_only=true) is without them. */
#pragma once

#ifdef TACIT_PARTY_ONLY
#define TACIT_HELP(text) NULL
#else
#define TACIT_HELP(text) text
#endif
