/* Shared by the coordinator's files only. */
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/stat.h>

#include <jansson.h>
#include <protobuf-c/protobuf-c.h>

#include "base/log_file.h"
#include "coordinator/coordinator.h"
#include "net/rotation.h"
#include "session/board/board.h"
#include "session/carrier/carrier.h"
#include "study/study.h"

typedef struct coordinator coordinator;
typedef struct dashboard dashboard; /* dashboard.c */

/* How far a study's method says that it is, where it knows a total. */
typedef struct hosted_progress {
    char stage[32];
    uint64_t done, total; /* 0: not known */
} hosted_progress;

/* A study that this process serves. */
typedef struct hosted {
    coordinator *owner;
    tacit_study *study;
    tacit_board *board;
    tacit_board_steps steps; /* of its masked sums */
    unsigned version;        /* of the definition */
    tacit_dataset *target;   /* rows of this coordinator's own; NULL: none */
    tacit_view own;          /* all of them */
    pthread_t thread;
    bool started;
    atomic_bool leaving; /* the study's thread must end */
    atomic_bool again;   /* it has ended, and the registry has the definition of the next look */
    atomic_int center;   /* socket to center server B; -1: none */
    atomic_bool ended;   /* the registry holds its final state */
    uint8_t roster[TACIT_DIGEST_BYTES]; /* once it is fixed; zeros before */
    tacit_levels told; /* parties that have been told the end; guarded by the coordinator's mutex */
    char problem[TACIT_ERROR_TEXT_SIZE]; /* told last; main loop only */
    uint64_t bytes_per_party;     /* points, questions and answers, once done; the study's thread only */
    _Atomic uint64_t points_sent; /* bytes of auxiliary points, to all parties, by this process */
    /* parties that have asked or answered; like the next two, guarded by the coordinator's mutex */
    tacit_levels seen;
    int64_t *seen_at; /* when each last did, monotonic milliseconds */
    size_t seen_room;
    hosted_progress progress; /* guarded by the coordinator's mutex */
    uint64_t arms_stamp;      /* of the arms as they were last looked at; main loop only */
    struct hosted *next;
} hosted;

/* What is said to a party. */
typedef struct coordinator_reply {
    tacit_request_result result; /* done, nothing, or later */
    bool waits;                  /* nothing yet: it may be answered when there is */
    unsigned wait_ms;            /* but no later than this; 0: as the carrier likes */
    bool is_end;                 /* the end of the study: coordinator_told_end, when it is on its way */
    tacit_buffer bytes;          /* for the carrier to clear */
    const tacit_buffer *lent;    /* in their place, as long as the program serves; NULL: none */
    bool in_parts;               /* by the carrier: it can send `rest`, too */
    tacit_shared_bytes *rest;    /* follows the bytes; for the carrier to free; NULL: nothing */
    bool only_look;              /* by the carrier: whether there is something to say, and not what */
    char study[TACIT_ID_SIZE];
    unsigned version;    /* of the protocol */
    const char *address; /* where it goes, numeric; NULL: into a file */
} coordinator_reply;

/* Who has asked to join which study in the last minute, as keyed hashes (coordinator_enrol.c). */
enum { COORDINATOR_ASKED = 4096 };
typedef struct coordinator_asked {
    uint64_t who;
    int64_t until; /* it counts, in monotonic milliseconds; 0: no more */
} coordinator_asked;

/* The rows of a target, read as the study's schema says, where its method needs them. They stay in this
 * process. */
tacit_status coordinator_load_target(coordinator *self, hosted *host, tacit_error *error);

typedef struct waiter waiter; /* a party's poll that waits for something to say; coordinator_https.c */

enum { COORDINATOR_WAITER_LISTS = 1024 };
enum { METRIC_PATHS = TACIT_ENDPOINTS + 1, METRIC_BUCKETS = 13, METRIC_REASONS = 7, METRIC_FAILURES = 5 };

/* Counted since the start (coordinator_metrics.c). */
typedef struct coordinator_figures {
    int64_t started;
    _Atomic uint64_t taken[METRIC_PATHS][METRIC_BUCKETS], taken_ns[METRIC_PATHS];
    _Atomic uint64_t refusals[METRIC_REASONS], failures[METRIC_FAILURES];
    _Atomic uint64_t received, sent;
} coordinator_figures;

struct coordinator {
    tacit_coordinator_settings settings;
    char name[TACIT_ID_SIZE];
    tacit_registry *registry;
    /* replaced ones are kept behind it, since a thread may still use one */
    tacit_authority_keys *_Atomic keys;
    struct stat handover;                 /* the file that they were read from; main loop only */
    struct tacit_server *server;          /* coordinator_https.c */
    dashboard *dashboard;                 /* NULL: none */
    struct public_shelf *shelf;           /* the public catalogue; NULL: none (coordinator_public.c) */
    struct tacit_metrics_server *metrics; /* NULL: none */
    coordinator_figures figures;
    tacit_pool *pool;
    tacit_log_file log;
    tacit_log_limiter limiter; /* guarded by the mutex, as is the log */
    /* when the server's certificate is to be renewed; main loop only, as is the next */
    int64_t server_renewal;
    uint64_t revocations;  /* applied */
    int64_t envelopes_at;  /* when envelopes were last looked at; main loop only */
    int lock;              /* an open file that says: this folder is being served; -1 when not */
    pthread_mutex_t mutex; /* guards what follows, and the log */
    pthread_cond_t wake;   /* something for the main loop to look at */
    coordinator_asked asked[COORDINATOR_ASKED];
    size_t asked_next;
    uint8_t asked_key[16]; /* drawn when the program begins */
    hosted *studies;
    hosted *retired; /* paused or amended meanwhile; kept because a handler may still look at one */
    waiter *waiters[COORDINATOR_WAITER_LISTS]; /* by exchange */
    size_t ready_from; /* in the lists before it nobody is ready to be told something */
    bool handing_out;  /* a thread tells those who are ready */
    size_t under_way;  /* bytes that were made in this beat, and are not sent */
    unsigned beat;     /* goes on every second */
    int64_t beat_at;
    tacit_levels archived; /* studies that are archived, or need not be; main loop only */
    /* a study ended before this process began, and its parties may not know; main loop only */
    bool owes_end_notice;
    /* of a study that can go on once the cause is removed: the coordinator ends with it */
    tacit_status failed;
    tacit_error failure;
    char problem[TACIT_ERROR_TEXT_SIZE]; /* told last, of a study that could not be hosted; main loop only */
};

/* Archive a study that has ended, where its definition says so, once (coordinator_archive.c). */
void coordinator_archive_ended(coordinator *self, const tacit_study_record *record);

/* Write a line to the log and hand it to settings.news: what happens, what somebody should look at, what
 * failed (coordinator_log.c). A peer, named by `who`, can cause lines at a bounded rate only; what was held
 * back is told in the end. */
void coordinator_news(coordinator *self, const char *format, ...) TACIT_PRINTF(2, 3);
void coordinator_mention(coordinator *self, const char *who, const char *format, ...) TACIT_PRINTF(3, 4);
void coordinator_warn(coordinator *self, const char *who, const char *format, ...) TACIT_PRINTF(3, 4);
void coordinator_log_at(coordinator *self, tacit_log_level level, const char *who, const char *format, ...)
    TACIT_PRINTF(4, 5);
void coordinator_log_held(coordinator *self);

/* A party for people: the name that they gave it, if any, and its random one. Returns out. */
enum { COORDINATOR_SHOWN_SIZE = TACIT_PARTY_NAME_SIZE + TACIT_ID_SIZE + 8 };
const char *coordinator_shown(coordinator *self, const char *party, char out[COORDINATOR_SHOWN_SIZE]);
void coordinator_complain(coordinator *self, const char *format, ...) TACIT_PRINTF(2, 3);

/* Figures: served when the settings ask for it. */
tacit_status coordinator_start_metrics(coordinator *self, tacit_error *error);
int64_t coordinator_nanoseconds(void);
void coordinator_count_request(coordinator *self, tacit_endpoint endpoint, size_t received, int64_t took);
void coordinator_count_refusal(coordinator *self, size_t reason); /* a tacit_standing */
void coordinator_count_failure(coordinator *self, unsigned http);
void coordinator_count_sent(coordinator *self, size_t bytes);

/* By name; NULL when this process does not serve it. */
hosted *coordinator_find(coordinator *self, const char *study);

/* Tell the main loop to look again; tell waiting parties of a study. */
void coordinator_wake_loop(coordinator *self);
void coordinator_wake(coordinator *self, const char *study);
void coordinator_beat(coordinator *self);

/* Masked sums (coordinator_sums.c): who is who in them from now on, with a fingerprint that owners can
 * compare; and a line of the log for the step that was pinned. */
/* TACIT_PROTOCOL unless the key that a party wants to sum with is its own, for the definition and certificate
 * that it asks for. */
tacit_status coordinator_check_sum_key(ProtobufCBinaryData definition, const char *signing_request,
                                       ProtobufCBinaryData key, ProtobufCBinaryData proof,
                                       tacit_error *error);
tacit_status coordinator_fix_roster(coordinator *self, hosted *host, tacit_error *error);
void coordinator_report_step(hosted *host);

/* The study of this name, from the registry (coordinator_interim_looks.c). */
tacit_status coordinator_read_study(const coordinator *self, const char *name, tacit_study **out,
                                    tacit_error *error);

/* What a study's life takes beside rounds (coordinator_life.c): stop serving it for now; may it be started,
 * or is it to be closed, by its schedule? */
void coordinator_retire(coordinator *self, hosted *host);
tacit_status coordinator_keep_schedule(coordinator *self, const hosted *host, bool *due, tacit_error *error);

/* The ends of studies, for a program that goes when nothing is left to do: one that ended in an earlier
 * process, which may have died before the parties knew; have all of them been told; write down that nobody
 * waits for them any more. */
tacit_status coordinator_owe_end_notice(coordinator *self, const tacit_study_record *record,
                                        tacit_error *error);
bool coordinator_all_told(coordinator *self, size_t *told);
bool coordinator_is_awaited(coordinator *self);
void coordinator_told_end(coordinator *self, const char *study, const char *party);
tacit_status coordinator_remember_end_notices(coordinator *self, tacit_error *error);
/* A seat for whoever has consented, in the registry's order. */
tacit_status coordinator_seat_parties(coordinator *self, hosted *host, tacit_error *error);

/* Take in what a poll about the reply's study says of the owner's will; which version both speak, and how
 * long to wait, go to the reply. *leaving: nothing is to be asked any more; *amended: the party should be
 * told of a definition that it has not consented to. */
tacit_status coordinator_take_standing(coordinator *self, const char *party, const tacit_buffer *body,
                                       coordinator_reply *out, bool *leaving, bool *amended,
                                       tacit_error *error);
tacit_status coordinator_pack_amended(coordinator *self, const char *study, unsigned version,
                                      tacit_buffer *out, tacit_error *error);

/* What is done for each endpoint, in the file of its subject. The party is NULL for whoever has no
 * certificate. */
#define COORDINATOR_SERVICE(NAME, name, METHOD, rules, help)                                                 \
    tacit_status coordinator_##name(coordinator *self, const char *party, const tacit_buffer *body,          \
                                    coordinator_reply *out, tacit_error *error);
TACIT_ENDPOINT_TABLE(COORDINATOR_SERVICE)
#undef COORDINATOR_SERVICE

/* The signature of a definition, appended. */
tacit_status coordinator_sign(coordinator *self, const tacit_buffer *definition, tacit_buffer *out,
                              tacit_error *error);

/* A study with two center servers (coordinator_center.c): dial B and compute with it, again when it was lost,
 * until the study ends. */
tacit_status coordinator_with_center(hosted *host, tacit_session *session, tacit_outcome *outcome,
                                     tacit_error *error);
/* Have the study's thread end: its board and its connection to B fail from now on. */
void coordinator_cancel(hosted *host);

/* Certificates (coordinator_renewal.c): how long one issued now is good; note when the server's own is to be
 * renewed; do so when it is time; issue a party's next. */
tacit_validity coordinator_validity(const coordinator *self, int64_t now);
tacit_status coordinator_note_identity(coordinator *self, const tacit_server_identity *identity,
                                       tacit_error *error);
void coordinator_renew_server(coordinator *self);

/* The authorities (coordinator_rotation.c). Take them in as they are in the folder; look whether the
 * authority was replaced, or the time of an earlier one is over, and then serve with what is so now. The one
 * that issues the certificates of parties, and the one that signs whatever parties check. The answer to who
 * they are. */
tacit_status coordinator_load_keys(coordinator *self, tacit_error *error);
void coordinator_follow_rotation(coordinator *self);
void coordinator_free_keys(coordinator *self);
const tacit_authority *coordinator_issuer(coordinator *self);
const tacit_authority *coordinator_signer(coordinator *self);
bool coordinator_retired(coordinator *self, const char *issuer_id, tacit_endpoint endpoint);

/* Write down for a later audit that a party has answered (audit_export.h); nothing depends on it. */
void coordinator_note_answer(coordinator *self, const hosted *host, const char *party, uint64_t round);

/* Parties that were revoked since the last look are waited for no more; the signed list of a study,
 * appended. */
tacit_status coordinator_apply_revocations(coordinator *self, tacit_error *error);
tacit_status coordinator_revocations(coordinator *self, const char *study, tacit_buffer *out,
                                     tacit_error *error);
/* Whether the model reaches the study's target (coordinator_interim_looks.c). *again: it does not, and the
 * registry recruits for the next look; the host is left behind. Else `reason` says how it stands, "" without
 * a target. */
tacit_status coordinator_judge(hosted *host, const tacit_model *model, const tacit_buffer *text, bool *again,
                               char reason[TACIT_STOP_TEXT_SIZE + 64], tacit_error *error);

/* A request to an endpoint (coordinator_api.c): `party` is who makes it, by a certificate that was checked;
 * NULL: a stranger. And how long its body may be. Where a poll waits, ask coordinator_news_for with the same
 * reply when coordinator_wake is called. */
enum { COORDINATOR_SMALL_BODY = 16 * 1024, COORDINATOR_SMALL_ANSWER = 64 * 1024 };
tacit_status coordinator_serve(coordinator *self, tacit_endpoint endpoint, const char *party,
                               const tacit_buffer *body, coordinator_reply *out, tacit_error *error);
size_t coordinator_body_most(coordinator *self, tacit_endpoint endpoint, const char *party);
tacit_status coordinator_news_for(coordinator *self, const char *party, coordinator_reply *out,
                                  tacit_error *error);
tacit_status coordinator_token(ProtobufCBinaryData token, uint8_t hash[TACIT_TOKEN_HASH_BYTES],
                               tacit_error *error);

/* The carrier of requests (coordinator_https.c): start it, also again; tell where it is. And what it tells a
 * party that was revoked. */
tacit_status coordinator_start_server(coordinator *self, tacit_error *error);
void coordinator_restart_server(coordinator *self, const char *done, const char *failed);
void coordinator_stop_server(coordinator *self);
tacit_status coordinator_announce(coordinator *self, tacit_error *error);
const char *coordinator_path(size_t endpoint); /* for figures; "other" after the last */
tacit_status coordinator_say_revoked(tacit_error *error);

/* Arms and receipts (coordinator_people.c). May the study start, as far as arms go? The list is closed when
 * all are there, and waiting parties are woken when something has changed. Has the party something to do
 * about its arm? And note that it has answered, where the study gives receipts; *counted: for the first time
 * in this round, which is taken back if the answer is refused. */
tacit_status coordinator_tend_arms(coordinator *self, hosted *host, const tacit_study_record *record,
                                   bool *due, tacit_error *error);
bool coordinator_arm_is_due(coordinator *self, const hosted *host, const char *party);
tacit_status coordinator_note_round(coordinator *self, const hosted *host, const char *party, uint64_t round,
                                    bool *counted, tacit_error *error);
void coordinator_drop_round(coordinator *self, const hosted *host, const char *party, uint64_t round);

/* Envelopes (coordinator_files.c): do what those that were taken ask, and write those that are due. Main loop
 * only. */
void coordinator_tend_envelopes(coordinator *self);

/* The public catalogue (coordinator_public.c): started when the settings ask for it, kept up to date by the
 * main loop, and started again with a new certificate. */
tacit_status coordinator_start_public(coordinator *self, tacit_error *error);
void coordinator_tend_public(coordinator *self);
void coordinator_renew_public(coordinator *self);
void coordinator_stop_public(coordinator *self);

/* What is in it (public_catalogue.c, public_page.c): a study that takes strangers, as a new reference; and
 * the page that shows a catalogue, appended. */
tacit_status public_study(json_t **out, const tacit_study_record *record, const tacit_study *study,
                          tacit_error *error);
tacit_status public_page(tacit_buffer *out, const json_t *catalogue, tacit_error *error);

/* Whether joining and asking to join go by the study's own rules (coordinator_enrol.c). */
tacit_status coordinator_check_eligible(const tacit_study *study, bool said_so, tacit_error *error);
/* Is the study, which takes nobody else, offered to this party? */
tacit_status coordinator_offers(coordinator *self, const tacit_study *study, const char *party, bool *out,
                                tacit_error *error);

/* The page for people (dashboard.c): started when the settings ask for it, looked after by the main loop, and
 * told of a party that has asked or answered. */
tacit_status dashboard_start(coordinator *self, tacit_error *error);
void dashboard_look(coordinator *self);
void dashboard_stop(coordinator *self);
void coordinator_record_contact(coordinator *self, const char *study, const char *party);
size_t coordinator_seen(coordinator *self, hosted *host); /* parties that did in the last minute */
tacit_progress coordinator_progress(hosted *host); /* keeps what a session says (dashboard_parties.c) */
