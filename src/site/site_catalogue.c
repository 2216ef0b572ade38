/* What coordinators offer: to the holder of an invitation, or to the parties of this home. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "data/schema/levels.h"
#include "net/clock.h"
#include "net/identity.h"
#include "privacy/ledger/ledger.h"
#include "session/wire/wire.h"
#include "site/site_parts.h"
#include "study/home.h"
#include "tacit.pb-c.h"

enum { CATALOGUE_BYTES_MOST = 32 << 20 };

typedef struct asking {
    const char *home;
    const tacit_site_callbacks *callbacks;
    tacit_offer_visit *visit;
    void *context;
} asking;

/* The consent that the ledger holds for a joined study; the one that counts is to the definition in its
 * folder. */
static tacit_status find_consent(const tacit_site *site, tacit_offer *offer, tacit_error *error) {
    tacit_consent consent = TACIT_CONSENT_NONE;
    tacit_ledger *ledger = NULL;
    char path[PATH_MAX];
    TACIT_TRY(tacit_path_join(path, sizeof path, site->home, TACIT_LEDGER_NAME, error));
    tacit_status status = tacit_ledger_open(&ledger, path, site->source, TACIT_LEDGER_READING, error);
    if (status == TACIT_OK) status = tacit_ledger_consent_state(&consent, ledger, site->id, error);
    tacit_ledger_free(ledger);
    offer->withdrawn = consent == TACIT_CONSENT_WITHDRAWN;
    offer->consented = consent == TACIT_CONSENT_GIVEN &&
                       memcmp(site->study->hash, offer->study->hash, sizeof site->study->hash) == 0;
    return status;
}

/* How this home stands to a study of the same authority. */
static tacit_status find_standing(const asking *self, const char *authority, tacit_offer *offer,
                                  tacit_error *error) {
    tacit_site *joined = NULL;
    char id[TACIT_SITE_ID_SIZE];
    if (snprintf(id, sizeof id, "%s@%s", offer->study->name, authority) >= (int)sizeof id) return TACIT_OK;
    tacit_status status = site_open_folder(&joined, self->home, id, NULL);
    if (status == TACIT_NOT_FOUND) return TACIT_OK;
    if (status == TACIT_OK) {
        offer->joined = true;
        status = find_consent(joined, offer, error);
    }
    tacit_site_free(joined);
    return status;
}

static tacit_status show_offer(const asking *self, const tacit_site *site, const char *coordinator,
                               const Tacit__Wire__Offer *wire, tacit_error *error) {
    tacit_study *study = NULL;
    const char *at = strchr(site->id, '@');
    char authority[TACIT_SITE_ID_SIZE] = "";
    tacit_offer offer = { .coordinator = coordinator, .state = wire->state, .offered = wire->offered };
    tacit_status status;
    TACIT_CHECK(tacit_authority_check(site->authority.bytes, site->authority.length, TACIT_STUDY_PURPOSE,
                                      wire->definition, strlen(wire->definition), wire->signature.data,
                                      wire->signature.len, error));
    TACIT_CHECK(
        tacit_study_parse(&study, wire->definition, strlen(wire->definition), "an offered study", error));
    offer.study = study;
    if (at != NULL) snprintf(authority, sizeof authority, "%.12s", at + 1);
    TACIT_CHECK(find_standing(self, authority, &offer, error));
    TACIT_CHECK(self->visit(self->context, &offer, error));
cleanup:
    tacit_study_free(study);
    return status;
}

static tacit_status ask(const asking *self, tacit_site *site, tacit_carrier *carrier, tacit_error *error) {
    Tacit__Wire__CatalogueRequest request = TACIT__WIRE__CATALOGUE_REQUEST__INIT;
    Tacit__Wire__CatalogueReply *reply = NULL;
    tacit_status status;
    request.token = (ProtobufCBinaryData){ sizeof site->token, site->token };
    TACIT_CHECK(site_ask(carrier, TACIT_ENDPOINT_CATALOGUE, &request, CATALOGUE_BYTES_MOST,
                         &tacit__wire__catalogue_reply__descriptor, (void **)&reply, error));
    TACIT_CHECK(tacit_name_check("the coordinator's name", reply->coordinator, TACIT_ID_SIZE - 1, error));
    for (size_t i = 0; i < reply->n_offers; i++) {
        TACIT_CHECK(tacit_name_check("a study's state", reply->offers[i]->state, TACIT_ID_SIZE - 1, error));
        TACIT_CHECK(show_offer(self, site, reply->coordinator, reply->offers[i], error));
    }
cleanup:
    tacit_wire_free(reply);
    return status;
}

/* ---- with an invitation ---- */

static tacit_status ask_invited(const asking *self, const tacit_invitation *invitation, tacit_error *error) {
    tacit_site *site = TACIT_NEW(tacit_site, 1);
    tacit_carrier *carrier = NULL;
    char path[PATH_MAX];
    tacit_status status;
    if (site == NULL) return tacit_fail_memory(error);
    site->callbacks = *self->callbacks;
    site->home = tacit_copy_text(self->home);
    if (site->home == NULL) TACIT_CHECK(tacit_fail_memory(error));
    TACIT_CHECK(site_adopt_invitation(site, invitation, error));
    TACIT_CHECK(tacit_folder_make(site->home, error));
    status = site_meet(site, invitation, path, &carrier, error);
    if (status == TACIT_OK) status = ask(self, site, carrier, error);
    unlink(path);
cleanup:
    tacit_carrier_free(carrier);
    tacit_site_free(site);
    return status;
}

/* ---- as a party ---- */

/* Each authority is asked once, by whichever of its studies comes first. */
static tacit_status ask_folder(const asking *self, const char *name, tacit_levels *asked,
                               tacit_error *error) {
    const char *at = strchr(name, '@');
    tacit_site *site = NULL;
    tacit_carrier *carrier = NULL;
    tacit_error problem = TACIT_ERROR_INIT;
    tacit_status status;
    int32_t code;
    if (at == NULL || tacit_levels_find(asked, at + 1, strlen(at + 1)) >= 0) return TACIT_OK;
    status = site_open_folder(&site, self->home, name, &problem);
    if (status == TACIT_NOT_FOUND) return TACIT_OK; /* joining was never finished */
    if (status == TACIT_OK) site->callbacks = *self->callbacks;
    if (status == TACIT_OK) status = site_carrier(site, true, NULL, &carrier, &problem);
    if (status == TACIT_OK) status = ask(self, site, carrier, &problem);
    if (status == TACIT_NETWORK && self->callbacks->news != NULL) {
        char line[TACIT_ERROR_TEXT_SIZE + 64];
        snprintf(line, sizeof line, "%s: %s", name, problem.text);
        self->callbacks->news(self->callbacks->context, line);
        status = TACIT_OK;
    } else if (status != TACIT_OK) {
        tacit_fail(error, status, "%s", problem.text);
    } else {
        status = tacit_levels_add(asked, at + 1, strlen(at + 1), &code, error);
    }
    tacit_carrier_free(carrier);
    tacit_site_free(site);
    return status;
}

static tacit_status ask_joined(const asking *self, tacit_error *error) {
    char studies[PATH_MAX];
    tacit_levels asked = TACIT_LEVELS_INIT;
    tacit_status status = TACIT_OK;
    TACIT_TRY(tacit_path_join(studies, sizeof studies, self->home, "studies", error));
    DIR *folder = opendir(studies);
    if (folder == NULL)
        return tacit_fail(
            error, TACIT_NOT_FOUND,
            "no study has been joined yet: give an invitation to see what its coordinator offers");
    for (const struct dirent *entry; status == TACIT_OK && (entry = readdir(folder)) != NULL;)
        if (entry->d_name[0] != '.') status = ask_folder(self, entry->d_name, &asked, error);
    closedir(folder);
    tacit_levels_clear(&asked);
    return status;
}

tacit_status tacit_site_catalogue(const char *home, const char *invitation, size_t length,
                                  const tacit_site_callbacks *callbacks, tacit_offer_visit *visit,
                                  void *context, tacit_error *error) {
    asking self = { home, callbacks, visit, context };
    tacit_invitation read;
    if (invitation == NULL) return ask_joined(&self, error);
    TACIT_TRY(tacit_invitation_parse(&read, invitation, length, error));
    tacit_status status =
        read.expires <= tacit_clock_wall_seconds()
            ? tacit_fail(error, TACIT_INPUT, "this invitation has expired; ask for a new one")
            : ask_invited(&self, &read, error);
    tacit_invitation_wipe(&read);
    return status;
}
