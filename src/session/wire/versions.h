/*
 * The versions of the protocol that a program speaks: a range. Whoever asks says its own in `speaks`, and in
 * `protocol` the lowest, which programs that know of one version only go by; the reply is in the highest that
 * both speak (wire.h). Where there is none, both ranges are named, and whose program is to be updated.
 */
#pragma once

typedef struct tacit_versions {
    unsigned lowest, highest;
} tacit_versions;

/* Of this program; tests of programs to come bring their own (versions.c has nothing else in it). */
tacit_versions tacit_versions_spoken(void);

/* The version since which questions and answers are written as they are. It is hashed with them, by parties
 * that must know a question again and by the journal, so that it does not go up with what two programs agree
 * on. */
enum { TACIT_QUESTION_VERSION = 2 };
