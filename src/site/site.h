/*
 * A party's side of a deployed study: look at an invitation, consent, join, and answer questions until the
 * study ends. Dials out only. Everything it keeps is in its home folder: the ledger, and for each study a
 * folder with the definition consented to, the private key (which never leaves) and the certificate.
 */
#pragma once

#include "base/ranks.h"
#include "net/invitation.h"
#include "site/history/sketch.h"
#include "study/study.h"

typedef struct tacit_site tacit_site;

/* What the owner says; texts are copied. */
typedef struct tacit_site_settings {
    const char *home; /* the party's folder */
    /* the rows: a file, or any other source (data/source/source.h); NULL: the program lends them, or there
     * are none */
    const char *data;
    const char *link;             /* the column that says whom a row is about; NULL: none */
    const char *schema;           /* the owner's own statement of what is public about the columns */
    const char *source;           /* the data source as the ledger calls it */
    const char *label, *positive; /* as for reading any file; NULL: as the schema says */
    bool no_header;
    bool allow_entrusted;  /* values in clear may go to this coordinator */
    bool allow_exact;      /* exact sums may leave: no differential privacy */
    bool allow_difference; /* two of them may differ by few parties or rows */
    /* neighbours in a study without a center may see exact values: no differential privacy */
    bool allow_neighbours;
    bool allow_site; /* figures of this party alone may be published */
    /* studies that are derived from this one may be offered to this party, where it asks so */
    bool ask_again;
    bool allow_reuse; /* what is in the person's store may be used, where the rules there say 'ask' */
    /* HOST:PORT where neighbours may reach this party directly; NULL: it only dials out */
    const char *listen;
    /* http://HOST:PORT through which the coordinator is reached; NULL: as the environment says */
    const char *proxy;
    /* kinds of local classifier (model/classifier/classifier.h), exec too; NULL: the study's */
    const char *local;
    const char *role; /* the party's, for a method that has several; else NULL */
} tacit_site_settings;

typedef struct tacit_site_callbacks {
    bool (*cancelled)(void *context);
    void (*news)(void *context, const char *line); /* one line, for people */
    void *context;
    bool (*paused)(void *context); /* asked before anything goes out; true: nothing does now. NULL: never */
    void *paused_context;
    unsigned retry_ms; /* the first pause before dialling a coordinator again that is not there; 0: 200 ms */
    /* Rows in the memory of the program, with what is public about them; `study` is what the study says of
     * it. NULL: they are where the settings' `data` says. */
    tacit_status (*lend)(const void *lender, const tacit_schema *study, tacit_schema **schema,
                         tacit_dataset **rows, tacit_error *error);
    const void *lender;
    /* that share the rows; this is rank 0, and the others are in tacit_site_hold. NULL: all rows are here */
    tacit_ranks *ranks;
    /* what people have carried here (session/carrier_files.h); NULL: nothing */
    struct tacit_envelope_pair *envelopes;
} tacit_site_callbacks;

/* For every rank but 0: hold rows, and help to answer, until rank 0 dismisses them or fails. */
tacit_status tacit_site_hold(tacit_ranks *ranks, tacit_error *error);
tacit_status tacit_site_dismiss(tacit_ranks *ranks, tacit_error *error);

/* Read the invitation and the owner's files, and ask the coordinator what the study is. Nothing is used up,
 * nothing is promised. TACIT_INPUT for an unreadable or expired invitation or unusable rows, TACIT_USAGE for
 * an unknown local classifier, TACIT_REFUSED when the coordinator refuses the invitation, the study's schema
 * is not the owner's or the study would have a program run. Without rows, neither in a file nor lent, the
 * study can be read and not joined. */
tacit_status tacit_site_look(tacit_site **out, const char *invitation, size_t length,
                             const tacit_site_settings *settings, const tacit_site_callbacks *callbacks,
                             tacit_error *error);

/* Take up a study that was joined before, by its name in `home`. TACIT_NOT_FOUND lists what there is. */
tacit_status tacit_site_open(tacit_site **out, const char *home, const char *study,
                             const tacit_site_callbacks *callbacks, tacit_error *error);

tacit_site *tacit_site_free(tacit_site *site);

/* ---- without a connection (site_envelope.c) ---- */

/* As tacit_site_look, of an envelope that holds an invitation; the callbacks' envelopes receives it, and must
 * stay. */
tacit_status tacit_site_look_envelope(tacit_site **out, const char *text, size_t length,
                                      const tacit_site_settings *settings,
                                      const tacit_site_callbacks *callbacks, tacit_error *error);

/* Consent and join, as tacit_site_join; what the coordinator is to get is appended to `text`. The same again
 * after a crash gives the same text. */
tacit_status tacit_site_join_envelope(tacit_site *site, tacit_buffer *text, tacit_error *error);

/* What an envelope of a joined study asks; all for people. */
typedef struct tacit_site_asked {
    char event[16]; /* "question", "amended" or "finished" */
    uint64_t round;
    char question[TACIT_ID_SIZE], step[24]; /* "" where there is none */
} tacit_site_asked;

/* Open an envelope for a joined study of the home: whether it is from the study's coordinator, for this site,
 * this version, roster and round; TACIT_REFUSED in a sentence that says what is not. The callbacks' envelopes
 * receives it, and must stay. */
tacit_status tacit_site_open_envelope(tacit_site **out, const char *home, const char *text, size_t length,
                                      const tacit_site_callbacks *callbacks, tacit_site_asked *asked,
                                      tacit_error *error);

/* Answer it, as tacit_site_serve does: the same envelope gets the same text, and is charged once. Where there
 * is nothing to send (the study has ended) the text stays empty, and `result` is as tacit_site_serve says. A
 * refusal is told the coordinator too: then the text is there, and the status is TACIT_REFUSED. */
struct tacit_site_result;
tacit_status tacit_site_answer_envelope(tacit_site *site, struct tacit_site_result *result,
                                        tacit_buffer *text, tacit_error *error);

/* The words by which people know this site's key, and the coordinator's. */
enum { TACIT_SITE_WORDS_SIZE = 40 };
tacit_status tacit_site_words(const tacit_site *site, char own[TACIT_SITE_WORDS_SIZE],
                              char coordinator[TACIT_SITE_WORDS_SIZE], tacit_error *error);

enum { TACIT_SITE_ID_SIZE = 2 * TACIT_ID_SIZE };

/* Withdraw from a joined study. Effective from the next answer on, also for a party that is serving now; what
 * has left stays where it is. The coordinator is told, so that no round waits; *told says whether it could be
 * reached. `id` receives the study as the ledger calls it. Of the callbacks, which may be NULL, `paused` is
 * asked. */
tacit_status tacit_site_withdraw(const char *home, const char *study, const tacit_site_callbacks *callbacks,
                                 char id[TACIT_SITE_ID_SIZE], bool *told, tacit_error *error);

/* What an owner may say again when consenting; what is not said stays as it was when joining. */
typedef struct tacit_site_word {
    bool allow_entrusted, allow_exact, allow_neighbours, allow_difference, allow_site,
        allow_reuse;  /* true: from now on */
    const char *role; /* NULL: as before */
    /* another file; one that is not there is written, as the study says. NULL: as before */
    const char *schema;
} tacit_site_word;

/* What a review has before it. */
typedef enum tacit_site_version {
    TACIT_SITE_UNCHANGED, /* the version that was last consented to: the coordinator has no newer one */
    TACIT_SITE_AMENDED,   /* a newer one */
    TACIT_SITE_UNASKED    /* that version too: the coordinator was not asked, or could not be */
} tacit_site_version;

/* Open a joined study for its owner to consent to: as amended, when the coordinator has amended it, else as
 * before. `word` may be NULL: nothing is said again, and the coordinator is asked for a newer version only
 * if the study has ended. */
tacit_status tacit_site_review(tacit_site **out, tacit_site_version *found, const char *home,
                               const char *study, const tacit_site_word *word,
                               const tacit_site_callbacks *callbacks, tacit_error *error);

/* For whoever is to consent: what exact sums of this study tell together with earlier ones of the same rows;
 * nothing where there is nothing to say. */
tacit_status tacit_site_sum_history(const tacit_site *site, tacit_buffer *out, tacit_error *error);

/* The same of a version that is only looked at. `study` as the ledger calls it; `allowed` as the owner
 * said. */
typedef struct tacit_sum_history_question {
    const char *source, *study;
    const tacit_plan *plan;
    bool allowed;
} tacit_sum_history_question;
tacit_status tacit_sum_history_text(tacit_buffer *out, const char *home,
                                    const tacit_sum_history_question *about, tacit_error *error);
/* What an owner says who allows it, for a box to tick. */
const char *tacit_sum_history_allowing(void);

/* Consent to the study as reviewed. The ledger then lets it have its price; what earlier versions had stays
 * counted. */
tacit_status tacit_site_consent(tacit_site *site, tacit_error *error);
const char *tacit_site_id(const tacit_site *site); /* the study as the ledger calls it; borrowed */

/* A study that was joined, as its folder tells; borrowed for the visit. */
typedef struct tacit_site_summary {
    const char *id; /* as the ledger calls it */
    const char *coordinator, *source;
    const char *called; /* what the coordinator's people call this party; "" when they gave no name */
    const tacit_study *study;
    bool amended;            /* there is a version that the owner has not consented to */
    const tacit_study *next; /* that version; NULL: none, or it cannot be read */
    bool has_model;          /* it has ended, and the model is in its folder */
    const char *authority;   /* who the coordinator's authority is, in words; "" when it was never replaced */
    bool distrusted;         /* its key was stolen, and the owner has not confirmed another one */
    bool ended;              /* nothing more will be asked, with a model or without */
    bool allow_difference;   /* the owner has allowed that exact sums differ by few */
} tacit_site_summary;

typedef tacit_status tacit_site_visit(void *context, const tacit_site_summary *joined, tacit_error *error);

/* Visit every study that was joined, in the order of their names. A folder that cannot be read is passed
 * over. */
tacit_status tacit_site_list(const char *home, tacit_site_visit *visit, void *context, tacit_error *error);

/* Write down that a study has ended, "done" or otherwise: after its model is kept, because nobody asks for it
 * again. */
tacit_status tacit_site_keep_end(const tacit_site *site, const char *state, tacit_error *error);

/* Whether a joined study has ended, as far as this home was told. */
tacit_status tacit_site_has_ended(bool *out, const char *home, const char *study, tacit_error *error);

/* The owner says, having heard it from people, that a coordinator's authority has this fingerprint: every
 * joined study of `home` whose coordinator shows it, or `study` only, trusts it from now on. *followed
 * receives how many; what others said is told as news. TACIT_REFUSED when there was none. */
tacit_status tacit_site_confirm(const char *home, const char *study, const char *fingerprint,
                                const tacit_site_callbacks *callbacks, size_t *followed, tacit_error *error);

/* What is asked, by whom, of how many rows; borrowed. */
const tacit_study *tacit_site_study(const tacit_site *site);
const char *tacit_site_coordinator(const tacit_site *site);
const char *tacit_site_called(const tacit_site *site); /* what it calls this party; "" without a name */
const tacit_site_callbacks *tacit_site_calls(const tacit_site *site);
const char *tacit_site_home(const tacit_site *site);
const char *tacit_site_folder(const tacit_site *site);
bool tacit_site_has_rows(const tacit_site *site); /* false: the study is only looked at */
size_t tacit_site_rows(const tacit_site *site);
/* for their owner to look at; NULL: they are not all here */
const tacit_dataset *tacit_site_dataset(const tacit_site *site);
bool tacit_site_is_joined(const tacit_site *site);    /* before: it was opened, not looked at */
const char *tacit_site_local(const tacit_site *site); /* as it will be run; NULL: the study's choice */

/* One study that a coordinator offers, and how this home stands to it. All borrowed for the time of the
 * visit. */
typedef struct tacit_offer {
    const char *coordinator, *state;
    const tacit_study *study;
    bool joined, consented; /* to the study as offered */
    bool withdrawn;
    bool offered; /* to this home, which took part in the study that it is derived from (tacit enrol) */
} tacit_offer;

typedef tacit_status tacit_offer_visit(void *context, const tacit_offer *offer, tacit_error *error);

/* Ask what is offered: the coordinator of an invitation, or with `invitation` NULL every coordinator that a
 * study of `home` was joined at. Definitions are checked against the coordinator's signature. A coordinator
 * that cannot be reached is told as news. */
tacit_status tacit_site_catalogue(const char *home, const char *invitation, size_t length,
                                  const tacit_site_callbacks *callbacks, tacit_offer_visit *visit,
                                  void *context, tacit_error *error);

/* Keep a sketch of the rows' source, and visit which other sources of the home seem to hold the same people.
 * Nothing happens where a program lends the rows. */
tacit_status tacit_site_overlaps(const tacit_site *site, tacit_overlap_visit *visit, void *context,
                                 tacit_error *error);

/* Would the owner's rules let the study's answers out? TACIT_REFUSED with the remedy: no limit set, limit too
 * small, entrusting not allowed, too few rows or parties. A courtesy before consenting; the gate decides
 * again for each answer. */
tacit_status tacit_site_check(tacit_site *site, tacit_error *error);

/* Consent to the study as looked at, and join it. The ledger then lets the study have its price and no more.
 * After a crash the same call goes on where it stopped. */
tacit_status tacit_site_join(tacit_site *site, tacit_error *error);

/* How a study ended. */
typedef struct tacit_site_result {
    char state[TACIT_ID_SIZE]; /* done, failed or closed */
    char reason[TACIT_ERROR_TEXT_SIZE];
    tacit_buffer model; /* the model file, when done */
} tacit_site_result;

/* Answer until the study ends, reconnecting by itself. TACIT_REFUSED when the study was amended and the owner
 * has not consented to that yet, or when an answer was refused by the owner's gate: the coordinator was told
 * so, without the reason. TACIT_CANCELLED when asked to stop. */
tacit_status tacit_site_serve(tacit_site *site, tacit_site_result *out, tacit_error *error);

/* What a step came to. */
typedef enum tacit_site_progress {
    TACIT_SITE_STEP_NOTHING,  /* nothing is asked now */
    TACIT_SITE_STEP_ANSWERED, /* a question was, and there may be more */
    TACIT_SITE_STEP_AWAY,     /* the coordinator cannot be reached, or cannot now */
    TACIT_SITE_STEP_PAUSED,   /* the callbacks' `paused` said so */
    TACIT_SITE_STEP_ENDED     /* the result says how */
} tacit_site_progress;

typedef struct tacit_site_stepped {
    tacit_site_progress progress;
    unsigned after_ms; /* when to take the next one */
} tacit_site_stepped;

/* The same in pieces, for a program with a loop of its own: one exchange (a poll that is waited for at most
 * `wait_ms`, and the answer to what it asked; now and then before it what is due about certificates, points,
 * arms), never a pause. Between steps the connection and the study's lock are kept until it has ended, fails
 * or the site is freed. `out` is filled when it has ended. Fails as tacit_site_serve. */
tacit_status tacit_site_take_step(tacit_site *site, unsigned wait_ms, tacit_site_stepped *stepped,
                                  tacit_site_result *out, tacit_error *error);

/* Ask this before anything goes out from here on; NULL: nobody. */
void tacit_site_set_paused(tacit_site *site, bool (*paused)(void *context), void *context);

/* ---- arms, receipts, contact (site_arm.c, site_receipt.c) ---- */

/* The arm of a joined study, "" before it is drawn, and the file with the record that proves it. */
typedef struct tacit_site_arm_shown {
    char study[TACIT_ID_SIZE], arm[TACIT_TITLE_SIZE], path[4096];
} tacit_site_arm_shown;
tacit_status tacit_site_arm(const char *home, const char *study, tacit_site_arm_shown *out,
                            tacit_error *error);

/* Ask the coordinator of a study that has ended for the receipt, and keep it; one that is kept already is
 * given again. `text` receives its line, `path` the file. TACIT_REFUSED when it was not made with the key
 * that was consented to. */
enum { TACIT_SITE_RECEIPT_TEXT = 256 };
tacit_status tacit_site_receipt(const char *home, const char *study, const tacit_site_callbacks *callbacks,
                                char text[TACIT_SITE_RECEIPT_TEXT], char path[4096], tacit_error *error);

/* Send contact details to the researchers of a study, sealed with their key. The ledger's log says that they
 * were sent, and not what they are. */
tacit_status tacit_site_contact(const char *home, const char *study, const char *details,
                                const tacit_site_callbacks *callbacks, tacit_error *error);
