/* Examining a party's home: its ledger, its rules, and each study that was joined. */
#include <stdio.h>
#include <unistd.h>

#include "base/file.h"
#include "net/certificate.h"
#include "privacy/ledger/ledger.h"
#include "site/doctor_parts.h"
#include "site/history/sketch.h"
#include "site/site_parts.h"
#include "study/home.h"

static void check_ledger(const examination *self) {
    char path[PATH_MAX], well[64];
    tacit_ledger *ledger = NULL;
    tacit_verdict verdict = { 0 };
    tacit_error error = TACIT_ERROR_INIT;
    if (tacit_path_join(path, sizeof path, self->folder, TACIT_LEDGER_NAME, &error) != TACIT_OK) return;
    if (access(path, F_OK) != 0) {
        doctor_find(self, TACIT_FINDING_WARN, "ledger", "tacit ledger limit begins one",
                    "there is none yet, so that nothing may leave");
        return;
    }
    doctor_check_key(self, path, TACIT_LEDGER_NAME);
    tacit_status status = tacit_ledger_open(&ledger, path, "-", TACIT_LEDGER_READING, &error);
    if (status == TACIT_OK) status = tacit_ledger_verify(&verdict, ledger, &error);
    snprintf(well, sizeof well, "%llu entries, all sound", (unsigned long long)verdict.entries);
    doctor_judge(self, "ledger", status, &error, "", well);
    tacit_ledger_free(ledger);
}

static tacit_status find_overlap(void *context, const tacit_overlap *overlap, tacit_error *error) {
    tacit_buffer text = TACIT_BUFFER_INIT, remedy = TACIT_BUFFER_INIT;
    tacit_status status;
    TACIT_CHECK(tacit_overlap_text(&text, overlap, error));
    TACIT_CHECK(tacit_overlap_remedy(&remedy, overlap, error));
    doctor_find(context, TACIT_FINDING_WARN, "data sources", tacit_buffer_text(&remedy), "%s",
                tacit_buffer_text(&text));
cleanup:
    tacit_buffer_clear(&text);
    tacit_buffer_clear(&remedy);
    return status;
}

static void check_sources(const examination *self) {
    tacit_error error = TACIT_ERROR_INIT;
    char path[PATH_MAX];
    if (tacit_path_join(path, sizeof path, self->folder, TACIT_SKETCHES_NAME, &error) != TACIT_OK) return;
    doctor_check_key(self, path, TACIT_SKETCHES_NAME);
    if (tacit_sketch_overlaps(self->folder, NULL, find_overlap, (void *)(uintptr_t)self, &error) != TACIT_OK)
        doctor_find(self, TACIT_FINDING_WARN, "data sources",
                    "remove the file: a new one is made as sources are used", "%s", error.text);
}

static void check_rules(const examination *self) {
    tacit_rules rules;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_status status = tacit_rules_load(&rules, self->folder, &error);
    doctor_judge(self, "rules", status, &error, "tacit rules set --help", "can be read");
}

static void check_identity(const examination *self, const tacit_site *site) {
    static const char *const keys[] = { SITE_KEY_FILE, SITE_SUM_KEY_FILE, TACIT_MAIL_KEY_NAME };
    char path[PATH_MAX], key[PATH_MAX], name[PATH_MAX];
    tacit_buffer pem = TACIT_BUFFER_LIMITED(TACIT_CERTIFICATE_BYTES_MAX);
    tacit_error error = TACIT_ERROR_INIT;
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        snprintf(name, sizeof name, "%s of %s", keys[i], site->id);
        if (site_path(site, keys[i], path, NULL) == TACIT_OK) doctor_check_key(self, path, name);
    }
    if (site_path(site, SITE_CERTIFICATE_FILE, path, NULL) != TACIT_OK ||
        site_path(site, SITE_KEY_FILE, key, NULL) != TACIT_OK)
        return;
    snprintf(name, sizeof name, "%s of %s", SITE_CERTIFICATE_FILE, site->id);
    doctor_check_certificate(
        self, path, name,
        "a party that serves (tacit party) renews it; once ended, ask for a new invitation");
    tacit_status status = tacit_file_read(path, &pem, &error);
    if (status == TACIT_OK) status = tacit_certificate_check_key(pem.bytes, pem.length, key, &error);
    if (status != TACIT_OK)
        doctor_find(self, TACIT_FINDING_FAIL, name, "ask for a new invitation", "%s", error.text);
    tacit_buffer_clear(&pem);
}

static void check_data(const examination *self, tacit_site *site, const char *check) {
    tacit_error error = TACIT_ERROR_INIT;
    char well[64];
    tacit_status status = site_load_rows(site, &error);
    if (status == TACIT_OK) status = site_compare_schemas(site, &error);
    snprintf(well, sizeof well, "%zu rows can be read", status == TACIT_OK ? site->total_rows : 0);
    doctor_judge(self, check, status, &error, "make the source and its schema readable again", well);
}

static void check_network(const examination *self, const tacit_site *site, const char *check) {
    tacit_carrier *carrier = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_status status = site_carrier(site, true, NULL, &carrier, &error);
    if (status == TACIT_OK)
        doctor_check_coordinator(self, check, site->url, carrier, true);
    else
        doctor_find(self, TACIT_FINDING_FAIL, check, "", "%s", error.text);
    tacit_carrier_free(carrier);
}

static void check_trust(const examination *self, const tacit_site *site, const char *check) {
    char words[TACIT_ERROR_TEXT_SIZE];
    tacit_error error = TACIT_ERROR_INIT;
    bool planned = false;
    tacit_status status = site_examine_trust(site, &planned, &error);
    site_describe_trust(site, words, sizeof words);
    if (status == TACIT_REFUSED)
        doctor_find(self, TACIT_FINDING_FAIL, check, "", "%s", error.text);
    else if (planned)
        doctor_find(self, TACIT_FINDING_WARN, check, "a party that serves follows by itself: tacit party",
                    "the coordinator's authority was replaced as planned");
    else if (words[0] != 0)
        doctor_find(self, TACIT_FINDING_OK, check, "", "%s", words);
}

static tacit_status examine_study(void *context, const tacit_site_summary *joined, tacit_error *error) {
    const examination *self = context;
    tacit_site *site = NULL;
    char check[TACIT_SITE_ID_SIZE + 32];
    tacit_error said = TACIT_ERROR_INIT;
    (void)error;
    if (site_open_folder(&site, self->folder, joined->id, &said) != TACIT_OK) {
        doctor_find(self, TACIT_FINDING_FAIL, joined->id, "", "%s", said.text);
        return TACIT_OK;
    }
    bool ended = site_file_exists(site, SITE_ENDED_FILE) || joined->has_model;
    snprintf(check, sizeof check, "study %s", site->id);
    tacit_status status = site_check_signature(site, &said);
    if (status == TACIT_OK && joined->amended)
        doctor_find(self, TACIT_FINDING_WARN, check, "tacit consent shows what is new and asks",
                    "was amended, and is not answered until the owner consents");
    else
        doctor_judge(self, check, status, &said, "ask for a new invitation",
                     ended ? "has ended" : "its definition is signed by its coordinator");
    if (!ended) {
        check_identity(self, site);
        snprintf(check, sizeof check, "data of %s", site->id);
        check_data(self, site, check);
        snprintf(check, sizeof check, "authority of %s", site->id);
        check_trust(self, site, check);
        snprintf(check, sizeof check, "coordinator of %s", site->id);
        check_network(self, site, check);
    }
    tacit_site_free(site);
    return TACIT_OK;
}

void doctor_examine_party(const examination *self) {
    tacit_error error = TACIT_ERROR_INIT;
    check_ledger(self);
    check_sources(self);
    check_rules(self);
    if (tacit_site_list(self->folder, examine_study, (void *)(uintptr_t)self, &error) != TACIT_OK)
        doctor_find(self, TACIT_FINDING_FAIL, "studies", "", "%s", error.text);
}
