/*
 * A coordinator's folder and its server. The folder holds the certificate authority, the server's identity,
 * the registry of studies, the log, and the models of finished studies. The server hosts every study of the
 * folder at once; parties dial in and it never dials out.
 */
#pragma once

#include "base/log_file.h"
#include "study/registry.h"

struct web_further;
struct tacit_study;

/* Make what a coordinator's folder needs (authority, registry) if it is not there yet. `name` is what parties
 * see. */
tacit_status tacit_coordinator_prepare(const char *folder, const char *name, tacit_error *error);

/* Write the keys of this folder into a definition that has arms or a compensation: a study's keys are made of
 * its name and the folder's secret, so that they stay the same when it is amended. */
tacit_status tacit_coordinator_settle_keys(const char *folder, struct tacit_study *study, tacit_error *error);

/* What a desk does with a receipt: check it by the study's key, and redeem it once. TACIT_INPUT for a text
 * that is none, TACIT_REFUSED for one that is forged or was redeemed before. `study` receives whose it is. */
tacit_status tacit_coordinator_redeem(const char *folder, const char *text, char study[TACIT_ID_SIZE],
                                      tacit_error *error);

/* What everybody may check of a group's arms, as JSON appended to `out`. TACIT_NOT_FOUND before all shares
 * are there. */
tacit_status tacit_coordinator_arm_record(const char *folder, const char *study, uint32_t group,
                                          tacit_buffer *out, tacit_error *error);

typedef struct tacit_coordinator_settings {
    const char *folder;
    const char *address;  /* to listen on; NULL: 127.0.0.1 */
    uint16_t port;        /* 0: the port used last time, and no other; the first time any free one */
    const char *url;      /* how parties reach it; NULL: made from address and port */
    unsigned connections; /* most at once, one for each waiting party and some to join by; 0: 1000 */
    /* seconds that a certificate is good, the server's and a party's; 0: 365 days */
    int64_t certificate_life;
    bool dashboard;          /* serve a page for people, on 127.0.0.1 */
    uint16_t dashboard_port; /* 0: any free one */
    /* further ones of the dashboard (web/web.h), whose context is `folder` */
    const struct web_further *routes;
    size_t route_count;
    /* Publishes a study that has ended, for definitions with `archive: yes`; `id` receives its permanent id.
     * NULL: nothing is published. */
    tacit_status (*archive)(const char *folder, const char *study, char *id, size_t size, tacit_error *error);
    bool catalogue;                /* serve the public catalogue, which anybody may read */
    const char *catalogue_address; /* numeric; NULL: 127.0.0.1 */
    uint16_t catalogue_port;       /* 0: that of last time, the first time any free one */
    /* rows of this coordinator's own, for studies that transfer to a target; NULL: none */
    const char *target;
    const char *test; /* labelled rows, to judge finished models on for the dashboard; NULL: none */
    bool until_done;  /* end when no study is left that recruits or runs */
    void (*ready)(void *context); /* called once, when parties can come; NULL: not told */
    void (*shown)(void *context, const char *address); /* of the dashboard; NULL: not told */
    bool (*cancelled)(void *context);
    /* when cancelled, parties that wait for the end of a study which has ended hear it first */
    bool tells_end;
    bool metrics;                /* serve figures for Prometheus on 127.0.0.1 (web/prometheus.h) */
    uint16_t metrics_port;       /* 0: any free one */
    tacit_log_format log_format; /* of coordinator.log in the folder */
    tacit_log_level log_level;   /* lines below it are dropped */
    /* One line of news; also written to that log. */
    void (*news)(void *context, tacit_log_level level, const char *line);
    void *context;
} tacit_coordinator_settings;

/* Serve until cancelled (TACIT_OK) or done. The address served is in the file `address` of the folder
 * meanwhile. */
tacit_status tacit_coordinator_run(const tacit_coordinator_settings *settings, tacit_error *error);

/* One single-use invitation to a study, as a line of text appended to `out`. `url` NULL: that of the
 * coordinator that runs, or ran last. `called` is what people call the party (net/invitation.h); NULL: no
 * name. */
tacit_status tacit_coordinator_invite(const char *folder, const char *study, const char *url, int64_t expires,
                                      const char *called, tacit_buffer *out, tacit_error *error);

/* ---- studies whose questions and answers people carry (coordinator_envelopes.c, coordinator_files.c) ----
 *
 * What there is for couriers is in the folder envelopes/STUDY of the coordinator's: a coordinator that runs
 * writes an envelope for every site and question, and says so in its log. */

/* An envelope that invites one site, appended to `text`; `words` receives those of the authority, for the
 * telephone. */
enum { TACIT_COORDINATOR_WORDS_SIZE = 40 };
tacit_status tacit_coordinator_invite_envelope(const char *folder, const char *study, int64_t expires,
                                               const char *called, tacit_buffer *text,
                                               char words[TACIT_COORDINATOR_WORDS_SIZE], tacit_error *error);

/* What came from a site. */
typedef struct tacit_taken {
    char study[TACIT_ID_SIZE];
    bool joins;                               /* the site joins; else it answers */
    uint64_t round;                           /* of the answer */
    char words[TACIT_COORDINATOR_WORDS_SIZE]; /* of the site's key */
} tacit_taken;

/* Take an envelope that a site wrote, for the coordinator that serves the folder to work on. TACIT_REFUSED,
 * in a sentence that says why, when it is forged, for somebody else, of another version, roster or round, or
 * was taken before. */
tacit_status tacit_coordinator_take(const char *folder, const char *text, size_t length, tacit_taken *out,
                                    tacit_error *error);

/* The file that holds what a look found, of a study with a statistical target (study/stop.h). */
tacit_status tacit_coordinator_look_path(const char *folder, const char *study, size_t look, char *out,
                                         size_t size, tacit_error *error);

/* The file a finished study's model is written to. */
tacit_status tacit_coordinator_model_path(const char *folder, const char *study, char *out, size_t size,
                                          tacit_error *error);
