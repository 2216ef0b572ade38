#include "site/enrol/enrol.h"

#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "net/certificate.h"
#include "net/clock.h"
#include "net/pinned.h"
#include "session/wire/wire.h"
#include "site/site_parts.h"
#include "study/archive/archive.h"
#include "tacit.pb-c.h"

/* The coordinator's own date counts; this one only says when the file may be thrown away. */
enum { CATALOGUE_MOST = 32 << 20, KEEP_DAYS = 90, REPLY_MOST = 65536 };

/* ---- the catalogue ---- */

static tacit_status fetch(tacit_buffer *out, tacit_buffer *authority, const char *address, const char *path,
                          const char *home, const tacit_site_callbacks *callbacks, tacit_error *error) {
    tacit_pinned from;
    TACIT_TRY(tacit_pinned_parse(&from, address, error));
    const tacit_pinned_request request = { path, home, callbacks->cancelled, callbacks->context };
    return tacit_pinned_fetch(out, authority, &from, &request, error);
}

static tacit_status read_catalogue(json_t **out, tacit_buffer *authority, const char *address,
                                   const char *home, const tacit_site_callbacks *callbacks,
                                   tacit_error *error) {
    tacit_buffer bytes = TACIT_BUFFER_LIMITED(CATALOGUE_MOST);
    json_t *read = NULL;
    tacit_status status;
    TACIT_CHECK(fetch(&bytes, authority, address, "/catalogue.json", home, callbacks, error));
    read = json_loadb(tacit_buffer_text(&bytes), bytes.length, JSON_REJECT_DUPLICATES, NULL);
    if (!json_is_array(json_object_get(read, "studies")) || !json_is_string(json_object_get(read, "address")))
        TACIT_CHECK(tacit_fail(error, TACIT_PROTOCOL, "what %s says is not a catalogue of studies", address));
    *out = json_incref(read);
cleanup:
    json_decref(read);
    tacit_buffer_clear(&bytes);
    return status;
}

tacit_status tacit_enrol_catalogue(json_t **out, const char *address, const char *home,
                                   const tacit_site_callbacks *callbacks, tacit_error *error) {
    return read_catalogue(out, NULL, address, home, callbacks, error);
}

tacit_status tacit_enrol_archived(tacit_buffer *out, const char *address, const char *id, const char *home,
                                  const tacit_site_callbacks *callbacks, tacit_error *error) {
    char path[TACIT_ARCHIVE_ID_SIZE + 32];
    TACIT_TRY(tacit_archive_check_id(id, error));
    snprintf(path, sizeof path, "/archive/%s.json", id);
    tacit_buffer bytes = TACIT_BUFFER_LIMITED(TACIT_ARCHIVE_MOST);
    tacit_status status = fetch(&bytes, NULL, address, path, home, callbacks, error);
    if (status == TACIT_OK) status = tacit_archive_verify(bytes.bytes, bytes.length, id, error);
    if (status == TACIT_OK) status = tacit_buffer_append(out, bytes.bytes, bytes.length, error);
    tacit_buffer_clear(&bytes);
    return status;
}

/* ---- asking ---- */

static tacit_status put_authority(tacit_invitation *out, const char *pem, size_t length, tacit_error *error) {
    tacit_buffer der = TACIT_BUFFER_LIMITED(sizeof out->authority);
    tacit_status status = tacit_certificate_to_der(&der, pem, length, error);
    if (status == TACIT_OK) {
        memcpy(out->authority, der.bytes, der.length);
        out->authority_length = der.length;
    }
    tacit_buffer_clear(&der);
    return status;
}

static tacit_status draw(tacit_invitation *out, const char *study, const char *url, tacit_error *error) {
    if (strlen(study) >= sizeof out->study || strlen(url) >= sizeof out->url)
        return tacit_fail(error, TACIT_LIMIT, "the study's name or the coordinator's address is too long");
    memcpy(out->study, study, strlen(study) + 1);
    memcpy(out->url, url, strlen(url) + 1);
    out->expires = tacit_clock_wall_seconds() + KEEP_DAYS * 86400L;
    tacit_token_create(out->token);
    return TACIT_OK;
}

/* By one carrier. */
static tacit_status send(tacit_carrier *carrier, const tacit_invitation *invitation, const char *words,
                         char state[TACIT_ENROL_STATE_SIZE], tacit_error *error) {
    Tacit__Wire__EnrolRequest request = TACIT__WIRE__ENROL_REQUEST__INIT;
    Tacit__Wire__EnrolReply *reply = NULL;
    uint8_t hash[TACIT_TOKEN_HASH_BYTES];
    char study[sizeof invitation->study];
    memcpy(study, invitation->study, sizeof study);
    tacit_token_hash(hash, invitation->token);
    request.study = study;
    request.token_hash = (ProtobufCBinaryData){ sizeof hash, hash };
    request.words = (char *)(uintptr_t)(words != NULL ? words : "");
    TACIT_TRY(site_ask(carrier, TACIT_ENDPOINT_ENROL, &request, REPLY_MOST,
                       &tacit__wire__enrol_reply__descriptor, (void **)&reply, error));
    tacit_status status =
        tacit_name_check("the coordinator's answer", reply->state, TACIT_ENROL_STATE_SIZE - 1, error);
    if (status == TACIT_OK) memcpy(state, reply->state, strlen(reply->state) + 1);
    tacit_wire_free(reply);
    return status;
}

/* As a stranger: whoever has the address of an invitation knows whom to trust. */
static tacit_status ask_stranger(const tacit_enrol_request *request, const tacit_invitation *invitation,
                                 const tacit_site_callbacks *callbacks, char state[TACIT_ENROL_STATE_SIZE],
                                 tacit_error *error) {
    tacit_site *site = TACIT_NEW(tacit_site, 1);
    tacit_carrier *carrier = NULL;
    char path[PATH_MAX] = "";
    tacit_status status;
    if (site == NULL) return tacit_fail_memory(error);
    site->callbacks = *callbacks;
    site->home = tacit_copy_text(request->home);
    if (site->home == NULL) TACIT_CHECK(tacit_fail_memory(error));
    TACIT_CHECK(site_adopt_invitation(site, invitation, error));
    TACIT_CHECK(site_meet(site, invitation, path, &carrier, error));
    TACIT_CHECK(send(carrier, invitation, request->words, state, error));
cleanup:
    if (path[0] != 0) unlink(path);
    tacit_carrier_free(carrier);
    tacit_site_free(site);
    return status;
}

/* Whether the catalogue has the study; its coordinator's address. */
static tacit_status find_study(const json_t *catalogue, const tacit_enrol_request *request, const char **url,
                               tacit_error *error) {
    const json_t *each, *studies = json_object_get(catalogue, "studies");
    tacit_buffer names = TACIT_BUFFER_INIT;
    tacit_status status = TACIT_OK;
    bool found = false;
    size_t i;
    json_array_foreach(studies, i, each) {
        const char *name = json_string_value(json_object_get(each, "name"));
        if (name == NULL || tacit_name_check("study", name, TACIT_ID_SIZE - 1, NULL) != TACIT_OK) continue;
        found = found || strcmp(name, request->study) == 0;
        if (status == TACIT_OK)
            status = tacit_buffer_print(&names, error, "%s%s", names.length > 0 ? ", " : "", name);
    }
    *url = json_string_value(json_object_get(catalogue, "address"));
    if (status == TACIT_OK && !found)
        status = tacit_fail(error, TACIT_NOT_FOUND,
                            "the catalogue has no study '%.60s' that takes whoever asks; %s%.300s",
                            request->study, names.length > 0 ? "there is " : "it is empty at the moment",
                            names.length > 0 ? tacit_buffer_text(&names) : "");
    tacit_buffer_clear(&names);
    return status;
}

static tacit_status make_by_catalogue(tacit_invitation *out, const tacit_enrol_request *request,
                                      const tacit_site_callbacks *callbacks, tacit_error *error) {
    tacit_buffer authority = TACIT_BUFFER_INIT;
    json_t *catalogue = NULL;
    const char *url = NULL;
    tacit_status status;
    TACIT_CHECK(read_catalogue(&catalogue, &authority, request->address, request->home, callbacks, error));
    TACIT_CHECK(find_study(catalogue, request, &url, error));
    TACIT_CHECK(draw(out, request->study, url, error));
    TACIT_CHECK(put_authority(out, (const char *)authority.bytes, authority.length, error));
cleanup:
    json_decref(catalogue);
    tacit_buffer_clear(&authority);
    return status;
}

/* ---- as an earlier participant ---- */

typedef struct offering {
    const tacit_enrol_request *request;
    const tacit_site_callbacks *callbacks;
    tacit_enrol_keep *keep;
    void *keep_context;
    tacit_invitation *invitation;
    tacit_buffer *text;
    char *state;
    tacit_error why; /* of the last one that did not */
} offering;

static tacit_status keep(const offering *self, tacit_error *error) {
    if (self->text->length == 0) TACIT_TRY(tacit_invitation_encode(self->text, self->invitation, error));
    return self->keep != NULL ? self->keep(self->keep_context, self->text, error) : TACIT_OK;
}

static tacit_status ask_as(offering *self, const char *id, tacit_error *error) {
    tacit_site *site = NULL;
    tacit_carrier *carrier = NULL;
    tacit_status status;
    TACIT_CHECK(site_open_folder(&site, self->request->home, id, error));
    site->callbacks = *self->callbacks;
    TACIT_CHECK(site_carrier(site, true, NULL, &carrier, error));
    if (self->text->length == 0) {
        TACIT_CHECK(draw(self->invitation, self->request->study, site->url, error));
        TACIT_CHECK(put_authority(self->invitation, (const char *)site->authority.bytes,
                                  site->authority.length, error));
    }
    TACIT_CHECK(send(carrier, self->invitation, self->request->words, self->state, error));
    TACIT_CHECK(keep(self, error));
cleanup:
    tacit_carrier_free(carrier);
    tacit_site_free(site);
    return status;
}

static tacit_status try_study(void *context, const tacit_site_summary *joined, tacit_error *error) {
    offering *self = context;
    if (self->state[0] != 0) return TACIT_OK;
    tacit_status status = ask_as(self, joined->id, &self->why);
    return status == TACIT_CANCELLED ? tacit_fail(error, status, "%s", self->why.text) : TACIT_OK;
}

static tacit_status ask_offered(offering *self, tacit_error *error) {
    TACIT_TRY(tacit_site_list(self->request->home, try_study, self, error));
    if (self->state[0] != 0) return TACIT_OK;
    return tacit_fail(error, TACIT_REFUSED,
                      self->why.text[0] != 0
                          ? "study '%.60s' is not offered to you by any coordinator of your studies: %s"
                          : "study '%.60s' cannot be offered to you: you have joined none yet%s",
                      self->request->study, self->why.text);
}

tacit_status tacit_enrol_ask(const tacit_enrol_request *request, const tacit_site_callbacks *callbacks,
                             tacit_enrol_keep *keep_it, void *keep_context, tacit_buffer *invitation,
                             char state[TACIT_ENROL_STATE_SIZE], tacit_error *error) {
    tacit_invitation made = { .expires = 0 };
    offering self = { request, callbacks, keep_it, keep_context, &made, invitation, state, TACIT_ERROR_INIT };
    const bool again = invitation->length > 0;
    tacit_status status = TACIT_OK;
    state[0] = 0;
    if (again)
        TACIT_CHECK(tacit_invitation_parse(&made, tacit_buffer_text(invitation), invitation->length, error));
    if (again && strcmp(made.study, request->study) != 0)
        TACIT_CHECK(tacit_fail(error, TACIT_USAGE,
                               "there is an application already, and it is to study '%s': name another file",
                               made.study));
    if (request->address == NULL) {
        TACIT_CHECK(ask_offered(&self, error));
        goto cleanup;
    }
    if (!again) TACIT_CHECK(make_by_catalogue(&made, request, callbacks, error));
    TACIT_CHECK(keep(&self, error));
    TACIT_CHECK(ask_stranger(request, &made, callbacks, state, error));
cleanup:
    tacit_invitation_wipe(&made);
    return status;
}
