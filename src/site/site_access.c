#include "site/site_access.h"

#include <string.h>

#include "data/source/source.h"
#include "site/site_parts.h"

void tacit_site_access_joining(tacit_harden_settings *settings, const tacit_site_settings *joining) {
    tacit_harden_allow(settings, joining->home, true);
    if (joining->data != NULL) tacit_source_allow(settings, joining->data);
    tacit_harden_allow_around(settings, joining->schema, false);
    if (joining->local != NULL && strstr(joining->local, "exec:") != NULL) settings->runs_programs = true;
}

static void reach_site(tacit_harden_settings *settings, const tacit_site *site) {
    tacit_site_access_joining(settings, &(tacit_site_settings){
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

void tacit_site_access_home(tacit_harden_settings *settings, const char *home, const char *study) {
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
