/*
 * The public catalogue: on a listener of its own, the studies that take whoever asks, and the archive of
 * those that have ended. The main loop puts documents on a shelf (web/shelf.h) when something has changed,
 * and requests are answered from there, so that strangers cost the parties nothing.
 *
 * Its address names the authority behind the server's certificate by fingerprint, after the '#', which no
 * browser
 * sends: whoever has the address from a place that they trust reads this coordinator's catalogue, or none.
 */
#include <limits.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "coordinator/coordinator_parts.h"
#include "net/certificate.h"
#include "net/clock.h"
#include "study/json_value.h"
#include "web/shelf.h"
#include "web/web_files.h"

enum { LOOK_EVERY_MS = 500, ADDRESS_SIZE = TACIT_INVITATION_URL_MAX + TACIT_FINGERPRINT_SIZE + 32 };

#define ADDRESS_FILE "catalogue-address"

struct public_shelf {
    web_shelf *shelf;
    int64_t looked; /* monotonic milliseconds */
    char address[ADDRESS_SIZE];
    char *known;     /* the catalogue as it lies there; NULL: none yet */
    size_t archived; /* documents of the archive that lie there */
};

/* The host that parties use, at this listener's port. */
static void name_address(coordinator *self, struct public_shelf *public) {
    const char *url = self->settings.url;
    const char *address =
        self->settings.catalogue_address != NULL ? self->settings.catalogue_address : "127.0.0.1";
    const bool six = strchr(address, ':') != NULL;
    char host[300];
    if (url != NULL) {
        const char *from = url + strlen("https://");
        snprintf(host, sizeof host, "%.*s",
                 (int)(from[0] == '[' ? strcspn(from, "]") + 1 : strcspn(from, ":/")), from);
    } else {
        snprintf(host, sizeof host, "%s%s%s", six ? "[" : "", address, six ? "]" : "");
    }
    snprintf(public->address, sizeof public->address, "https://%s:%u/#%s", host,
             (unsigned)web_shelf_port(public->shelf),
             tacit_authority_info(coordinator_signer(self))->fingerprint);
}

static tacit_status listen_at(coordinator *self, struct public_shelf *public, uint16_t port,
                              tacit_error *error) {
    tacit_server_identity identity = { NULL, NULL, NULL };
    const web_shelf_settings settings = { self->settings.catalogue_address, port };
    TACIT_TRY(tacit_server_identity_load(&identity, self->settings.folder, error));
    tacit_status status = web_shelf_start(&public->shelf, &identity, &settings, error);
    tacit_server_identity_clear(&identity);
    return status;
}

/* What does not change with studies. */
static tacit_status put_fixed(coordinator *self, struct public_shelf *public, tacit_error *error) {
    const char *pem = tacit_authority_pem(coordinator_signer(self));
    TACIT_TRY(web_shelf_put(public->shelf, "/authority.crt", "application/x-pem-file", pem, strlen(pem),
                            false, error));
    for (const web_file *each = web_files; each->path != NULL; each++)
        if (strcmp(each->path, "/app.css") == 0)
            TACIT_TRY(web_shelf_put(public->shelf, each->path, each->type, each->bytes, each->length, false,
                                    error));
    return TACIT_OK;
}

/* ---- what lies there ---- */

static tacit_status add_archived(void *context, const tacit_archived *one, tacit_error *error) {
    json_t **list = context;
    *list = tacit_json_append(
        *list, json_pack("{s:s,s:s,s:s}", "id", one->id, "study", one->study, "title", one->title));
    return *list != NULL ? TACIT_OK : tacit_fail_memory(error);
}

static tacit_status add_open(coordinator *self, const tacit_study_record *record, json_t **list,
                             tacit_error *error) {
    const hosted *host = coordinator_find(self, record->name);
    json_t *one = NULL;
    if (record->state != TACIT_STUDY_RECRUITING || host == NULL) return TACIT_OK;
    if (host->study->enrolment == TACIT_ENROL_INVITED) return TACIT_OK;
    TACIT_TRY(public_study(&one, record, host->study, error));
    *list = tacit_json_append(*list, one);
    return *list != NULL ? TACIT_OK : tacit_fail_memory(error);
}

static tacit_status make_catalogue(coordinator *self, json_t **out, tacit_error *error) {
    tacit_study_record *records = NULL;
    json_t *studies = json_array(), *archive = json_array();
    char url[TACIT_INVITATION_URL_MAX + 1];
    size_t count = 0;
    tacit_status status;
    TACIT_CHECK(tacit_registry_get(self->registry, "url", url, sizeof url, error));
    TACIT_CHECK(tacit_registry_studies(self->registry, &records, &count, error));
    for (size_t i = 0; i < count; i++) TACIT_CHECK(add_open(self, &records[i], &studies, error));
    TACIT_CHECK(tacit_registry_archive_list(self->registry, add_archived, &archive, error));
    *out = json_pack("{s:s,s:s,s:s,s:O,s:O}", "coordinator", self->name, "catalogue", self->shelf->address,
                     "address", url, "studies", studies, "archive", archive);
    if (*out == NULL) status = tacit_fail_memory(error);
cleanup:
    json_decref(studies);
    json_decref(archive);
    free(records);
    return status;
}

static tacit_status put_archive(coordinator *self, const json_t *catalogue, tacit_error *error) {
    struct public_shelf *public = self->shelf;
    const json_t *each, *archive = json_object_get(catalogue, "archive");
    size_t i;
    if (json_array_size(archive) == public->archived) return TACIT_OK;
    json_array_foreach(archive, i, each) {
        const char *id = json_string_value(json_object_get(each, "id"));
        char path[2 * TACIT_HASH_BYTES + 32];
        tacit_buffer bytes = TACIT_BUFFER_INIT;
        snprintf(path, sizeof path, "/archive/%s.json", id);
        tacit_status status = tacit_registry_archive_bytes(self->registry, id, &bytes, error);
        if (status == TACIT_OK)
            status = web_shelf_put(public->shelf, path, "application/json", bytes.bytes, bytes.length, true,
                                   error);
        tacit_buffer_clear(&bytes);
        if (status != TACIT_OK) return status;
    }
    public->archived = json_array_size(archive);
    return TACIT_OK;
}

static tacit_status put_catalogue(coordinator *self, tacit_error *error) {
    struct public_shelf *public = self->shelf;
    json_t *catalogue = NULL;
    char *text = NULL;
    tacit_buffer page = TACIT_BUFFER_INIT;
    tacit_status status;
    TACIT_CHECK(make_catalogue(self, &catalogue, error));
    TACIT_CHECK(put_archive(self, catalogue, error)); /* first: no link leads nowhere */
    text = json_dumps(catalogue, JSON_COMPACT | JSON_SORT_KEYS);
    if (text == NULL) TACIT_CHECK(tacit_fail_memory(error));
    if (public->known != NULL && strcmp(public->known, text) == 0) goto cleanup;
    TACIT_CHECK(public_page(&page, catalogue, error));
    TACIT_CHECK(web_shelf_put(public->shelf, "/catalogue.json", "application/json", text, strlen(text), false,
                              error));
    TACIT_CHECK(
        web_shelf_put(public->shelf, "/", "text/html; charset=utf-8", page.bytes, page.length, false, error));
    free(public->known);
    public->known = text;
    text = NULL;
cleanup:
    free(text);
    tacit_buffer_clear(&page);
    json_decref(catalogue);
    return status;
}

void coordinator_tend_public(coordinator *self) {
    struct public_shelf *public = self->shelf;
    tacit_error error = TACIT_ERROR_INIT;
    if (public == NULL || public->shelf == NULL ||
        (public->known != NULL && tacit_clock_monotonic_ms() - public->looked < LOOK_EVERY_MS))
        return;
    public->looked = tacit_clock_monotonic_ms();
    if (put_catalogue(self, &error) != TACIT_OK)
        coordinator_log_at(self, TACIT_LOG_WARN, "catalogue", "the public catalogue is not up to date: %s",
                           error.text);
}

/* ---- starting and stopping ---- */

static tacit_status announce(coordinator *self, tacit_error *error) {
    char path[PATH_MAX], port[16];
    const char *address = self->shelf->address;
    snprintf(port, sizeof port, "%u", (unsigned)web_shelf_port(self->shelf->shelf));
    TACIT_TRY(tacit_registry_set(self->registry, "catalogue-port", port, error));
    TACIT_TRY(tacit_path_join(path, sizeof path, self->settings.folder, ADDRESS_FILE, error));
    TACIT_TRY(tacit_file_write(path, address, strlen(address), 0644, error));
    coordinator_news(self, "the public catalogue is at %s", address);
    return TACIT_OK;
}

tacit_status coordinator_start_public(coordinator *self, tacit_error *error) {
    char last[16] = "";
    if (!self->settings.catalogue) return TACIT_OK;
    self->shelf = TACIT_NEW(struct public_shelf, 1);
    if (self->shelf == NULL) return tacit_fail_memory(error);
    TACIT_TRY(tacit_registry_get(self->registry, "catalogue-port", last, sizeof last, error));
    const uint16_t port =
        self->settings.catalogue_port != 0 ? self->settings.catalogue_port : (uint16_t)atoi(last);
    tacit_status status = listen_at(self, self->shelf, port, error);
    if (status != TACIT_OK) return tacit_fail_in(error, status, "the public catalogue");
    name_address(self, self->shelf);
    TACIT_TRY(put_fixed(self, self->shelf, error));
    TACIT_TRY(put_catalogue(self, error));
    return announce(self, error);
}

void coordinator_renew_public(coordinator *self) {
    struct public_shelf *public = self->shelf;
    tacit_error error = TACIT_ERROR_INIT;
    if (public == NULL || public->shelf == NULL) return;
    const uint16_t port = web_shelf_port(public->shelf);
    public->shelf = web_shelf_free(public->shelf);
    free(public->known);
    public->known = NULL;
    public->archived = 0;
    tacit_status status = listen_at(self, public, port, &error);
    if (status == TACIT_OK) name_address(self, public);
    if (status == TACIT_OK) status = put_fixed(self, public, &error);
    if (status == TACIT_OK) status = announce(self, &error);
    if (status != TACIT_OK) coordinator_complain(self, "the public catalogue is closed: %s", error.text);
}

void coordinator_stop_public(coordinator *self) {
    char path[PATH_MAX];
    if (self->shelf == NULL) return;
    web_shelf_free(self->shelf->shelf);
    free(self->shelf->known);
    free(self->shelf);
    self->shelf = NULL;
    if (tacit_path_join(path, sizeof path, self->settings.folder, ADDRESS_FILE, NULL) == TACIT_OK)
        unlink(path);
}
