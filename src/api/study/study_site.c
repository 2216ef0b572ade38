/* A site that takes part from within this process: a thread beside the coordinator's, for one program that
 * plays all parts. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "api/option/options.h"
#include "api/study/client_parts.h"
#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"

struct client_site {
    client_site *next;
    char *study, *name, *invitation; /* made here; of one that has not joined, for the next attempt */
    tacit_frame *frame;
    tacit_site *site;
    pthread_t thread;
    bool started;
    atomic_bool stop, ended;
    tacit_status status; /* how it ended */
    tacit_error failure;
};

/* ---- its thread ---- */

static bool stopped(void *context) { return atomic_load(&((client_site *)context)->stop); }

static void *answer(void *context) {
    client_site *self = context;
    self->status = tacit_site_answer(NULL, self->site, &self->failure);
    atomic_store(&self->ended, true);
    return NULL;
}

static void free_site(client_site *self) {
    if (self == NULL) return;
    atomic_store(&self->stop, true);
    if (self->started) pthread_join(self->thread, NULL);
    tacit_site_free(self->site);
    tacit_frame_free(self->frame);
    free(self->study);
    free(self->name);
    free(self->invitation);
    free(self);
}

void client_sites_free(client_site *sites) {
    for (client_site *one = sites; one != NULL; one = one->next) atomic_store(&one->stop, true);
    while (sites != NULL) {
        client_site *next = sites->next;
        free_site(sites);
        sites = next;
    }
}

tacit_status client_sites_check(tacit_coordinator *coordinator, const char *study, tacit_error *error) {
    tacit_status status = TACIT_OK;
    pthread_mutex_lock(&coordinator->turn);
    for (const client_site *one = coordinator->sites; one != NULL && status == TACIT_OK; one = one->next)
        if (strcmp(one->study, study) == 0 && atomic_load(&one->ended) && one->status != TACIT_OK)
            status = tacit_fail(error, one->status, "site %s: %s", one->name, one->failure.text);
    pthread_mutex_unlock(&coordinator->turn);
    return status;
}

/* ---- what it is told ---- */

static const char *find(const tacit_options *options, const char *name) {
    for (size_t i = 0; options != NULL && i < options->count; i++)
        if (strcmp(options->items[i].name, name) == 0) return options->items[i].value;
    return NULL;
}

static tacit_status set_default(tacit_options *all, const char *name, const char *value, tacit_error *error) {
    return find(all, name) == NULL ? tacit_options_set(all, name, value, error) : TACIT_OK;
}

/* sites/NAME of the coordinator's folder, for this user alone. */
static tacit_status make_home(char out[PATH_MAX], const tacit_coordinator *coordinator, const char *name,
                              tacit_error *error) {
    char sites[PATH_MAX];
    if (coordinator->folder == NULL || name[0] == 0 || name[0] == '.' || strchr(name, '/') != NULL)
        return tacit_fail(
            error, TACIT_USAGE,
            "site %s needs a folder for its keys and its ledger: name it with the option 'home'", name);
    TACIT_TRY(tacit_path_join(sites, sizeof sites, coordinator->folder, "sites", error));
    TACIT_TRY(tacit_path_join(out, PATH_MAX, sites, name, error));
    TACIT_TRY(tacit_folder_make(sites, error));
    return tacit_folder_make(out, error);
}

/* The caller's options and, where they say nothing, consent to all that the definition asks. */
static tacit_status settle(tacit_options *all, const tacit_coordinator *coordinator, const char *name,
                           const tacit_options *options, tacit_error *error) {
    static const char *const allowed[] = { "allow-entrusted", "allow-exact", "allow-difference",
                                           "allow-neighbours" };
    char home[PATH_MAX];
    for (size_t i = 0; options != NULL && i < options->count; i++)
        if (strcmp(options->items[i].name, "invitation") != 0)
            TACIT_TRY(tacit_options_set(all, options->items[i].name, options->items[i].value, error));
    for (size_t k = 0; k < sizeof allowed / sizeof *allowed; k++)
        TACIT_TRY(set_default(all, allowed[k], "yes", error));
    TACIT_TRY(set_default(all, "source", name, error));
    if (find(all, "home") != NULL) return TACIT_OK;
    TACIT_TRY(make_home(home, coordinator, name, error));
    return tacit_options_set(all, "home", home, error);
}

/* One invitation for the name; the caller frees it. */
static tacit_status invite(char **out, tacit_coordinator *coordinator, const char *study, const char *name,
                           tacit_error *error) {
    tacit_options *options = NULL;
    char *json = NULL;
    json_t *document = NULL;
    tacit_status status;
    TACIT_CHECK(tacit_options_create(&options, error));
    TACIT_CHECK(tacit_options_set(options, "for", name, error));
    TACIT_CHECK(tacit_study_invite(&json, coordinator, study, options, error));
    document = json_loads(json, 0, NULL);
    const char *line = json_string_value(json_array_get(json_object_get(document, "invitations"), 0));
    *out = line != NULL ? tacit_copy_text(line) : NULL;
    if (*out == NULL) TACIT_CHECK(tacit_fail_memory(error));
cleanup:
    json_decref(document);
    tacit_string_free(json);
    tacit_options_free(options);
    return status;
}

/* ---- joining ---- */

/* A name has one invitation at a time: what an earlier attempt made and did not use is used now. */
static void take_invitation(client_site *self, tacit_coordinator *coordinator) {
    pthread_mutex_lock(&coordinator->turn);
    for (client_site *one = coordinator->sites; one != NULL; one = one->next)
        if (!one->started && self->invitation == NULL && one->invitation != NULL &&
            strcmp(one->study, self->study) == 0 && strcmp(one->name, self->name) == 0) {
            self->invitation = one->invitation;
            one->invitation = NULL;
        }
    pthread_mutex_unlock(&coordinator->turn);
}

/* The list's from now on; of one that has not joined, what the next attempt needs. */
static void keep(client_site *self, tacit_coordinator *coordinator) {
    if (!self->started) {
        self->site = tacit_site_free(self->site);
        self->frame = tacit_frame_free(self->frame);
    }
    pthread_mutex_lock(&coordinator->turn);
    self->next = coordinator->sites;
    coordinator->sites = self;
    pthread_mutex_unlock(&coordinator->turn);
}

static tacit_status join(client_site *self, tacit_coordinator *coordinator, const tacit_options *options,
                         tacit_error *error) {
    const tacit_site_listener listener = { .cancelled = stopped, .context = self };
    const char *given = find(options, "invitation");
    tacit_options *all = NULL;
    tacit_status status;
    TACIT_CHECK(tacit_options_create(&all, error));
    TACIT_CHECK(settle(all, coordinator, self->name, options, error));
    if (given == NULL) take_invitation(self, coordinator);
    if (given == NULL && self->invitation == NULL)
        TACIT_CHECK(invite(&self->invitation, coordinator, self->study, self->name, error));
    TACIT_CHECK(tacit_site_invited(&self->site, given != NULL ? given : self->invitation, self->frame, all,
                                   &listener, error));
    TACIT_CHECK(tacit_site_accept(self->site, error));
    self->started = pthread_create(&self->thread, NULL, answer, self) == 0;
    if (!self->started)
        TACIT_CHECK(tacit_fail(error, TACIT_NO_MEMORY, "starting a thread: the system allows no more"));
cleanup:
    tacit_options_free(all);
    return status;
}

tacit_status tacit_study_site(tacit_coordinator *coordinator, const char *study, const char *name,
                              tacit_frame *frame, const tacit_options *options, tacit_error *error) {
    client_site *self = TACIT_NEW(client_site, 1);
    tacit_status status = self != NULL ? TACIT_OK : tacit_fail_memory(error);
    if (self == NULL) {
        tacit_frame_free(frame);
        return status;
    }
    self->frame = frame;
    TACIT_CHECK(tacit_require(coordinator, "the coordinator", error));
    TACIT_CHECK(tacit_require(study, "the study's name", error));
    TACIT_CHECK(tacit_require(name, "the site's name", error));
    TACIT_CHECK(tacit_require(frame, "the site's rows", error));
    self->study = tacit_copy_text(study);
    self->name = tacit_copy_text(name);
    if (self->study == NULL || self->name == NULL) TACIT_CHECK(tacit_fail_memory(error));
    status = join(self, coordinator, options, error);
    if (status == TACIT_OK || self->invitation != NULL) {
        keep(self, coordinator);
        self = NULL;
    }
cleanup:
    free_site(self);
    return status;
}
