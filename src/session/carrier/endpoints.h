/*
 * What parties can ask of a coordinator: the table of endpoints. One line makes an endpoint: whom it lets in,
 * how long its body may be, its figures for Prometheus, its path over HTTPS (/v1/NAME), its line in the
 * reference (`tacit help endpoints`), and the declaration of what does it, coordinator_NAME
 * (coordinator/coordinator_parts.h).
 */
#pragma once

/* Rules of an endpoint. By default only parties of a study are let in, with a certificate of the present
 * authority. */
enum {
    TACIT_ENDPOINT_IS_OPEN = 1,       /* whoever asks */
    TACIT_ENDPOINT_TAKES_RETIRED = 2, /* also with a certificate of an authority that was replaced */
    TACIT_ENDPOINT_IS_LONG = 4        /* its body may be as long as the open question makes an answer */
};

/* ENDPOINT(NAME, name, METHOD, rules, help) */
/* clang-format off */
#define TACIT_ENDPOINT_TABLE(ENDPOINT)                                                                       \
    ENDPOINT(LOOK, look, POST, TACIT_ENDPOINT_IS_OPEN, "the definition of the study that an invitation is for, signed") \
    ENDPOINT(JOIN, join, POST, TACIT_ENDPOINT_IS_OPEN, "a certificate for an invitation, once its owner has consented") \
    ENDPOINT(CATALOGUE, catalogue, POST, TACIT_ENDPOINT_IS_OPEN, "the studies that may be seen, with an invitation or a certificate") \
    ENDPOINT(ENROL, enrol, POST, TACIT_ENDPOINT_IS_OPEN, "ask to join a study that takes strangers, or one that is offered to this party") \
    ENDPOINT(POLL, poll, POST, 0, "the next question or the end of the study; waits until there is one")     \
    ENDPOINT(ANSWER, answer, POST, TACIT_ENDPOINT_IS_LONG, "take an answer to the open question")            \
    ENDPOINT(POINTS, points, GET, 0, "the study's public auxiliary points")                                  \
    ENDPOINT(RENEW, renew, POST, TACIT_ENDPOINT_TAKES_RETIRED, "the party's next certificate")               \
    ENDPOINT(AUTHORITY, authority, GET, TACIT_ENDPOINT_IS_OPEN, "the statements by which authorities were replaced") \
    ENDPOINT(ARM, arm, POST, 0, "register the key of the party's arm, give a share, get the list")           \
    ENDPOINT(RECEIPT, receipt, POST, 0, "a receipt for a participant who has answered all that was asked")   \
    ENDPOINT(CONTACT, contact, POST, 0, "take contact details, sealed for the researchers")
/* clang-format on */

#define TACIT_ENDPOINT_NUMBER(NAME, name, METHOD, rules, help) TACIT_ENDPOINT_##NAME,
typedef enum tacit_endpoint { TACIT_ENDPOINT_TABLE(TACIT_ENDPOINT_NUMBER) TACIT_ENDPOINTS } tacit_endpoint;

/* The rules of an endpoint; 0 of none (TACIT_ENDPOINTS). */
unsigned tacit_endpoint_rules(tacit_endpoint endpoint);
