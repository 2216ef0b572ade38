#include "site/reach.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "site/site_parts.h"

static void allow_below_home(tacit_harden_settings *settings, const char *name) {
    char path[PATH_MAX];
    const char *home = getenv("HOME");
    if (home != NULL && snprintf(path, sizeof path, "%s/%s", home, name) < (int)sizeof path)
        tacit_harden_allow(settings, path, false);
}

/* Where libpq looks for services, passwords and certificates. */
static void allow_postgres(tacit_harden_settings *settings) {
    tacit_harden_allow(settings, getenv("PGPASSFILE"), false);
    tacit_harden_allow(settings, getenv("PGSERVICEFILE"), false);
    tacit_harden_allow(settings, getenv("PGSYSCONFDIR"), false);
    allow_below_home(settings, ".pgpass");
    allow_below_home(settings, ".pg_service.conf");
    allow_below_home(settings, ".postgresql");
}

/* Who reads a SQLite file writes beside it, where it has a log. */
static void allow_sqlite(tacit_harden_settings *settings, const char *source) {
    char path[PATH_MAX];
    if (snprintf(path, sizeof path, "%.*s", (int)strcspn(source, "?"), source) < (int)sizeof path)
        tacit_harden_allow_around(settings, path, true);
}

static void allow_rows(tacit_harden_settings *settings, const char *data) {
    struct stat found;
    if (strncmp(data, "postgres:", 9) == 0)
        allow_postgres(settings);
    else if (strncmp(data, "sqlite:", 7) == 0)
        allow_sqlite(settings, data + 7);
    else if (stat(data, &found) == 0 && S_ISDIR(found.st_mode))
        tacit_harden_allow(settings, data, false);
    else
        tacit_harden_allow_around(settings, data, false);
}

void tacit_reach_joining(tacit_harden_settings *settings, const tacit_site_settings *joining) {
    tacit_harden_allow(settings, joining->home, true);
    if (joining->data != NULL) allow_rows(settings, joining->data);
    tacit_harden_allow_around(settings, joining->schema, false);
    if (joining->local != NULL && strstr(joining->local, "exec:") != NULL) settings->runs_programs = true;
}

static void reach_site(tacit_harden_settings *settings, const tacit_site *site) {
    tacit_reach_joining(settings, &(tacit_site_settings){
                                      .home = site->home,
                                      .data = site_rows_in_memory(site) ? NULL : site->data,
                                      .schema = site->schema_path,
                                      .local = site->local,
                                  });
}

static tacit_status add(void *context, const tacit_site_summary *joined, tacit_error *error) {
    tacit_harden_settings *settings = context;
    tacit_site *site = NULL;
    (void)error;
    if (site_open_folder(&site, settings->paths[0], joined->id, NULL) != TACIT_OK) return TACIT_OK;
    reach_site(settings, site);
    tacit_site_free(site);
    return TACIT_OK;
}

void tacit_reach_home(tacit_harden_settings *settings, const char *home, const char *study) {
    tacit_site *site = NULL;
    if (study != NULL && site_open_folder(&site, home, study, NULL) == TACIT_OK) {
        reach_site(settings, site);
        tacit_site_free(site);
        return;
    }
    settings->reads_all = true;
    tacit_harden_allow(settings, home, true);
    if (settings->count > 0) (void)tacit_site_list(home, add, settings, NULL);
}
