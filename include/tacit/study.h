/*
 * Studies from the side of the statistician: draft a definition, add it, invite parties, watch the rounds,
 * fetch what was found. tacit.h includes this header; status.h holds the rules that every call follows.
 *
 *     tacit_coordinator *coordinator = NULL;
 *     tacit_coordinator_start(&coordinator, "consortium", NULL, NULL, &error);     (one runs in this process)
 *     tacit_study_create(coordinator, "tumours", "relapse ~ histology * stage + age", 3, NULL, &error);
 *     tacit_study_invite(&json, coordinator, "tumours", for_vienna, &error);        (a line to pass on)
 *     tacit_study_site(coordinator, "tumours", "Graz", rows, NULL, &error);       (or a site in this process)
 *     tacit_study_watch(coordinator, "tumours", NULL, &error);                    (until the study has ended)
 *     tacit_study_fetch(&bytes, &length, coordinator, "tumours", "model", &error);
 *
 * A coordinator is one of three: one that this process runs (tacit_coordinator_start), the folder of one that
 * runs elsewhere or not at all (tacit_coordinator_connect with a path), or the HTTP interface of a running
 * one (with an address on this machine and a token). The calls and their errors are the same for all three,
 * and those of the commands `tacit study ...`.
 *
 * Threads: calls on one coordinator may come from several threads, except for tacit_coordinator_free; through
 * a token they take turns, and a watch has a connection of its own.
 */
#ifndef TACIT_STUDY_H
#define TACIT_STUDY_H

#include <stdbool.h>
#include <stddef.h>

#include "tacit/frame.h"
#include "tacit/options.h"
#include "tacit/progress.h"
#include "tacit/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tacit_coordinator tacit_coordinator;

/* Told one line for people now and then, from a thread of the coordinator. The line is the call's. */
typedef struct tacit_coordinator_listener {
    void (*news)(void *context, const char *line);
    void *context;
} tacit_coordinator_listener;

/*
 * Run a coordinator in this process, on threads of its own, until it is freed.
 *
 * Out:     out       the coordinator; the caller frees it.
 * In:      folder    its folder, made where it is missing, with a certificate authority of its own.
 *          options   NULL or: name (what parties see; "Tacit coordinator"), listen (ADDRESS[:PORT]; 127.0.0.1
 *                    and the port of the last time), url (how parties reach it), dashboard (a port for the
 *                    pages and the HTTP interface; 0: any free one; none are served by default), test
 *                    (labelled rows for the dashboard's curve).
 *          listener  NULL, or told what happens. It must stay until the coordinator is freed.
 * Returns: TACIT_OK when parties can come. TACIT_USAGE where another coordinator serves the folder.
 */
tacit_status tacit_coordinator_start(tacit_coordinator **out, const char *folder,
                                     const tacit_options *options, const tacit_coordinator_listener *listener,
                                     tacit_error *error) TACIT_CHECKED TACIT_NONNULL(1, 2);

/*
 * Use a coordinator that runs elsewhere.
 *
 * Out:     out    the coordinator; the caller frees it.
 * In:      where  a coordinator's folder; or http://127.0.0.1:PORT, where `tacit coordinator --dashboard`
 *                 serves.
 *          token  for an address: made by `tacit study token`. NULL for a folder.
 * Returns: TACIT_OK. TACIT_NOT_FOUND where the folder is none; TACIT_USAGE for an address that is not of this
 *          machine; TACIT_NETWORK where nobody answers; TACIT_REFUSED where the token is not good.
 */
tacit_status tacit_coordinator_connect(tacit_coordinator **out, const char *where, const char *token,
                                       tacit_error *error) TACIT_CHECKED TACIT_NONNULL(1, 2);

/* End what was started, with the studies where they are; nothing else happens to them. Waits for the threads
 * and, for some seconds, until parties that wait for the end of a study which has ended have heard of it.
 * Accepts NULL and returns NULL. */
tacit_coordinator *tacit_coordinator_free(tacit_coordinator *coordinator);

/*
 * Make a token for the HTTP interface, as `tacit study token`.
 *
 * Out:     json     {"token", "id", "scope", "study", "for", "created", "expires", "state"}: the token itself
 *                   is told this once.
 * In:      options  NULL or: scope (read by default, or manage), expires (days; 30), study, for.
 * Returns: TACIT_OK. TACIT_USAGE through a token: tokens are made in the folder.
 */
tacit_status tacit_coordinator_token(char **json, tacit_coordinator *coordinator,
                                     const tacit_options *options, tacit_error *error) TACIT_CHECKED
    TACIT_NONNULL(1, 2);

/* The address of the pages and the HTTP interface, "http://127.0.0.1:PORT"; "" where none is known.
 * Borrowed. */
const char *tacit_coordinator_address(const tacit_coordinator *coordinator);

/*
 * Write a definition from a few words, as `tacit study draft`.
 *
 * Out:     yaml     the definition, which names no file; tacit_string_free frees it.
 * In:      options  name, method, schema (a file) and parties are needed; formula, subset, minimum-parties,
 *                   minimum-rows (10), expected-rows, epsilon, delta, lambda, set, sum, title, description,
 *                   approval.
 * Returns: TACIT_OK for a text that is a definition; TACIT_INPUT or TACIT_USAGE with what is wrong.
 */
tacit_status tacit_study_draft(char **yaml, const tacit_options *options, tacit_error *error) TACIT_CHECKED
    TACIT_NONNULL(1);

/*
 * Check a definition, and add it: as `tacit study new` does.
 *
 * Out:     json        check: {"study", "method", "hash", "definition", "parties", "features", "lambda",
 *                      "price", "remarks"}. add: {"study", "method", "state", "remarks"}.
 * In:      definition  YAML. NULL: the option `file` names it, and files that it names lie beside it.
 *          options     NULL or: file, draft (yes: parties cannot join before tacit_study_open), force,
 *                      signal.
 * Returns: TACIT_OK. TACIT_INPUT for a definition that is none; TACIT_REFUSED or TACIT_USAGE for one that is
 *          hopeless (force adds it all the same), and for a name that is taken.
 */
tacit_status tacit_study_check(char **json, tacit_coordinator *coordinator, const char *definition,
                               const tacit_options *options, tacit_error *error) TACIT_CHECKED
    TACIT_NONNULL(2);
tacit_status tacit_study_add(char **json, tacit_coordinator *coordinator, const char *definition,
                             const tacit_options *options, tacit_error *error) TACIT_CHECKED TACIT_NONNULL(2);

/*
 * Draft a study and add it, in one: tacit_study_draft and tacit_study_add. A study of that name with the very
 * same definition is taken up where it is.
 *
 * In:      name     of the study.
 *          formula  as R writes it; NULL: each column of the schema.
 *          parties  how many are expected.
 *          options  NULL or those of tacit_study_draft, draft and force. Without method it is "estimate";
 *                   without schema the file NAME.schema.yaml or schema.yaml of the coordinator's folder.
 * Returns: TACIT_OK; what tacit_study_draft and tacit_study_add return; TACIT_USAGE where a study of that
 *          name has another definition.
 */
tacit_status tacit_study_create(tacit_coordinator *coordinator, const char *name, const char *formula,
                                size_t parties, const tacit_options *options,
                                tacit_error *error) TACIT_CHECKED TACIT_NONNULL(1, 2);

/*
 * Replace the definition of a study that does not run, as `tacit study amend`: parties are asked again.
 *
 * Out:     json        {"study", "state", "version", "outdated"}
 * In:      study       its name, which the definition keeps.
 *          definition  as for tacit_study_add; options: file.
 */
tacit_status tacit_study_amend(char **json, tacit_coordinator *coordinator, const char *study,
                               const char *definition, const tacit_options *options,
                               tacit_error *error) TACIT_CHECKED TACIT_NONNULL(2, 3);

/*
 * Make single-use invitations, as `tacit study invite`: each is a line to pass on like a password.
 *
 * Out:     json     {"study", "expires", "invitations": [...], "called"}
 * In:      options  NULL or: for (the party's name), count (1), days (7), url.
 */
tacit_status tacit_study_invite(char **json, tacit_coordinator *coordinator, const char *study,
                                const tacit_options *options, tacit_error *error) TACIT_CHECKED
    TACIT_NONNULL(1, 2, 3);

/*
 * Have a site take part from within this process, as one program plays all parts in tests, notebooks and
 * trials: it is invited by its name, consents, and answers on a thread of its own until the study ends or the
 * coordinator is freed. The call is the owner's consent to all that the definition asks, exact sums and sums
 * in trust included. What a site elsewhere does is tacit_site_invited.
 *
 * In:      name     the site's, as the study calls it.
 *          frame    its rows, with columns as the study's schema names them. Handed over, also on failure: it
 *                   is freed with the coordinator, and what it borrows must stay until then.
 *          options  NULL or: invitation (one that was made for it before), and those of tacit_site_invited
 *                   with a frame. Without home it is the folder sites/NAME of the coordinator's; without
 *                   source, NAME.
 * Returns: TACIT_OK when the site has joined. What it fails with later tacit_study_watch returns.
 */
tacit_status tacit_study_site(tacit_coordinator *coordinator, const char *study, const char *name,
                              tacit_frame *frame, const tacit_options *options,
                              tacit_error *error) TACIT_CHECKED TACIT_NONNULL(1, 2, 3, 4);

/* Open a draft, ask nothing for now, go on, end without a model. TACIT_USAGE for a study in another state. */
tacit_status tacit_study_open(tacit_coordinator *coordinator, const char *study,
                              tacit_error *error) TACIT_CHECKED TACIT_NONNULL(1, 2);
tacit_status tacit_study_pause(tacit_coordinator *coordinator, const char *study,
                               tacit_error *error) TACIT_CHECKED TACIT_NONNULL(1, 2);
tacit_status tacit_study_resume(tacit_coordinator *coordinator, const char *study,
                                tacit_error *error) TACIT_CHECKED TACIT_NONNULL(1, 2);
tacit_status tacit_study_close(tacit_coordinator *coordinator, const char *study,
                               tacit_error *error) TACIT_CHECKED TACIT_NONNULL(1, 2);

/*
 * Watch a study until it has ended, or until the watcher has seen enough.
 *
 * In:      watcher  NULL: nothing is told, until the study has ended. changed: called at once, and then
 *                   whenever the study has changed (its state, who has joined, rounds), on the thread that
 *                   calls, with the document of its status; false ends the watch.
 *                   cancelled: NULL, or asked at least ten times a second; true ends it with TACIT_CANCELLED.
 * Returns: TACIT_OK; TACIT_NOT_FOUND; TACIT_NETWORK where an address does not answer any more; and what ended
 *          the coordinator or a site that this process runs, if that has failed.
 */
typedef struct tacit_study_watcher {
    bool (*changed)(void *context, const char *json);
    bool (*cancelled)(void *context);
    void *context;
} tacit_study_watcher;

tacit_status tacit_study_watch(tacit_coordinator *coordinator, const char *study,
                               const tacit_study_watcher *watcher, tacit_error *error) TACIT_CHECKED
    TACIT_NONNULL(1, 2);

/*
 * Fetch what a study is, or has found.
 *
 * Out:     bytes   a copy with a NUL behind; tacit_bytes_free frees it.
 *          length  how many, without the NUL; may be NULL.
 * In:      study   NULL for what = "list".
 *          what    "list", "status", "definition", "parties", "rounds"; of a study that is done "model" (what
 *                  tacit_model_from_json reads), "table" (coefficients with standard errors, or the tables of
 *                  a report), "evaluation", "card" (Markdown), "card.html", "audit" (tacit export-audit
 *                  --verify checks it).
 * Returns: TACIT_OK; TACIT_NOT_FOUND for a study that is not there or has no model yet; TACIT_USAGE for one
 *          that has no such thing.
 */
tacit_status tacit_study_fetch(void **bytes, size_t *length, tacit_coordinator *coordinator,
                               const char *study, const char *what, tacit_error *error) TACIT_CHECKED
    TACIT_NONNULL(1, 3, 5);

#ifdef __cplusplus
}
#endif
#endif
