/*
 * What parties can want of a coordinator: the table of errands. One line makes an errand: whom it lets in,
 * how long its body may be, its figures for Prometheus, its path over HTTPS (/v1/NAME), its line in the
 * reference (`tacit help endpoints`), and the declaration of what does it, coordinator_NAME
 * (coordinator/coordinator_parts.h).
 */
#pragma once

/* Rules of an errand. By default only parties of a study are let in, with a certificate of the present
 * authority. */
enum {
    TACIT_ERRAND_IS_OPEN = 1,       /* whoever asks */
    TACIT_ERRAND_TAKES_RETIRED = 2, /* also with a certificate of an authority that was replaced */
    TACIT_ERRAND_IS_LONG = 4        /* its body may be as long as the open question makes an answer */
};

/* ERRAND(NAME, name, METHOD, rules, help) */
/* clang-format off */
#define TACIT_ERRAND_TABLE(ERRAND)                                                                                                 \
    ERRAND(LOOK, look, POST, TACIT_ERRAND_IS_OPEN, "the definition of the study that an invitation is for, signed")               \
    ERRAND(JOIN, join, POST, TACIT_ERRAND_IS_OPEN, "a certificate for an invitation, once its owner has consented")               \
    ERRAND(CATALOGUE, catalogue, POST, TACIT_ERRAND_IS_OPEN, "the studies that may be seen, with an invitation or a certificate") \
    ERRAND(ENROL, enrol, POST, TACIT_ERRAND_IS_OPEN, "ask to join a study that takes strangers, or one that is offered to this party")   \
    ERRAND(POLL, poll, POST, 0, "the next question or the end of the study; waits until there is one")                            \
    ERRAND(ANSWER, answer, POST, TACIT_ERRAND_IS_LONG, "take an answer to the open question")                                     \
    ERRAND(POINTS, points, GET, 0, "the study's public auxiliary points")                                                         \
    ERRAND(RENEW, renew, POST, TACIT_ERRAND_TAKES_RETIRED, "the party's next certificate")                                        \
    ERRAND(AUTHORITY, authority, GET, TACIT_ERRAND_IS_OPEN, "the statements by which authorities were replaced")                  \
    ERRAND(ARM, arm, POST, 0, "register the key of the party's arm, give a share, get the list")                                  \
    ERRAND(RECEIPT, receipt, POST, 0, "a receipt for a participant who has answered all that was asked")                          \
    ERRAND(CONTACT, contact, POST, 0, "take contact details, sealed for the researchers")
/* clang-format on */

#define TACIT_ERRAND_NUMBER(NAME, name, METHOD, rules, help) TACIT_ERRAND_##NAME,
typedef enum tacit_errand { TACIT_ERRAND_TABLE(TACIT_ERRAND_NUMBER) TACIT_ERRANDS } tacit_errand;

/* The rules of an errand; 0 of none (TACIT_ERRANDS). */
unsigned tacit_errand_rules(tacit_errand errand);
