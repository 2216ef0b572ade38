/*
 * Tacit: train one model together while the data stay where they are.
 *
 * This is the only header a program includes; status.h holds the rules that every call follows.
 */
#ifndef TACIT_TACIT_H
#define TACIT_TACIT_H

#include "tacit/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The version of the linked library, e.g. "0.1.0". */
const char *tacit_version(void);

#ifdef __cplusplus
}
#endif
#endif
