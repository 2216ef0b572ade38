/*
 * A device whose scheduler says when it may work: it takes part in a study one exchange at a time, and sends
 * nothing while it is to be left alone.
 *
 *     cc stepping_party.c $(pkg-config --cflags --libs tacit) -o stepping_party
 *     ./stepping_party FOLDER join FILE NAME=VALUE...   consent to the invitation in FILE, and join
 *     ./stepping_party FOLDER step STUDY                one exchange: what a phone's job scheduler calls
 *     ./stepping_party FOLDER run STUDY                 one after the other until the study ends
 *
 * NAME=VALUE are the options of joining, as data=rows.csv; the model comes to FOLDER/model.json. While there is a file FOLDER/paused (write it when
 * the battery is low, or the network is metered) nothing is sent. Kill it whenever you like: what was charged
 * is not charged again.
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <tacit/tacit.h>

/* What may be lost in all, whatever is asked, by whomever. */
enum { LIMIT_EPSILON = 3 };
static const double limit_delta = 1e-5;

/* How long the coordinator may keep a question waiting: long enough to be told of the next round at once. */
enum { WAIT_MS = 2000 };

static const char *const states[] = { "waiting", "answered", "away", "paused", "ended" };

static bool is_paused(void *context) { return access(context, F_OK) == 0; }

static void notify(void *context, const char *line) {
    (void)context;
    fprintf(stderr, "%s\n", line);
}

static tacit_status set_options(tacit_options *options, const char *folder, char **words,
                                tacit_error *error) {
    tacit_status status = tacit_options_set(options, "home", folder, error);
    for (; status == TACIT_OK && *words != NULL; words++) {
        char *value = strchr(*words, '=');
        if (value == NULL) continue;
        *value++ = 0;
        status = tacit_options_set(options, *words, value, error);
    }
    return status;
}

static tacit_status set_limit(const char *folder, tacit_error *error) {
    char path[4096];
    tacit_ledger *ledger = NULL;
    snprintf(path, sizeof path, "%s/ledger.db", folder);
    tacit_status status = tacit_ledger_at(&ledger, path, "rows", error);
    if (status == TACIT_OK) status = tacit_ledger_limit(ledger, false, LIMIT_EPSILON, limit_delta, error);
    tacit_ledger_free(ledger);
    return status;
}

/* A device with a screen would show tacit_site_document to its owner before it accepts. */
static tacit_status join(const char *folder, const char *path, char **words, tacit_error *error) {
    static char invitation[16384];
    tacit_options *options = NULL;
    tacit_site *site = NULL;
    FILE *file = fopen(path, "r");
    if (file == NULL) {
        perror(path);
        return TACIT_INPUT;
    }
    size_t length = fread(invitation, 1, sizeof invitation - 1, file);
    fclose(file);
    invitation[length] = 0;
    tacit_status status = set_limit(folder, error);
    if (status == TACIT_OK) status = tacit_options_create(&options, error);
    if (status == TACIT_OK) status = tacit_options_set(options, "source", "rows", error);
    if (status == TACIT_OK) status = set_options(options, folder, words, error);
    if (status == TACIT_OK) status = tacit_site_invited(&site, invitation, NULL, options, NULL, error);
    if (status == TACIT_OK) status = tacit_site_accept(site, error);
    tacit_site_free(site);
    tacit_options_free(options);
    return status;
}

/* One step, or all of them. The program's own events would be in the same poll. */
static tacit_status take_steps(tacit_site *site, const char *folder, bool all, tacit_error *error) {
    char path[4096];
    tacit_site_next next = TACIT_SITE_NEXT_INIT;
    tacit_model *model = NULL;
    tacit_status status;
    do {
        poll(NULL, 0, next.after_ms < 1000 ? (int)next.after_ms : 1000);
        status = tacit_site_step(&next, &model, site, WAIT_MS, error);
        if (status == TACIT_OK) printf("%s %u\n", states[next.state], (unsigned)next.after_ms);
        fflush(stdout);
    } while (status == TACIT_OK && all && next.state != TACIT_SITE_ENDED);
    snprintf(path, sizeof path, "%s/model.json", folder);
    if (model != NULL) status = tacit_model_save(model, path, error);
    tacit_model_free(model);
    return status;
}

static tacit_status take_part(const char *folder, const char *study, bool all, tacit_error *error) {
    const tacit_site_listener listener = { .news = notify };
    char *none[] = { NULL };
    char paused[4096];
    tacit_options *options = NULL;
    tacit_site *site = NULL;
    snprintf(paused, sizeof paused, "%s/paused", folder);
    tacit_status status = tacit_options_create(&options, error);
    if (status == TACIT_OK) status = set_options(options, folder, none, error);
    if (status == TACIT_OK) status = tacit_site_joined(&site, study, NULL, options, &listener, error);
    if (status == TACIT_OK) status = tacit_site_set_pause(site, is_paused, paused, error);
    if (status == TACIT_OK) status = take_steps(site, folder, all, error);
    tacit_site_free(site);
    tacit_options_free(options);
    return status;
}

int main(int count, char **words) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_status status;
    if (count >= 4 && strcmp(words[2], "join") == 0) {
        status = join(words[1], words[3], words + 4, &error);
    } else if (count == 4 && (strcmp(words[2], "step") == 0 || strcmp(words[2], "run") == 0)) {
        status = take_part(words[1], words[3], strcmp(words[2], "run") == 0, &error);
    } else {
        fprintf(stderr, "usage: stepping_party FOLDER (join FILE NAME=VALUE... | step STUDY | run STUDY)\n");
        return 2;
    }
    if (status != TACIT_OK) fprintf(stderr, "%s\n", error.text);
    return tacit_status_exit_code(status);
}
