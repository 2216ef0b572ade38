/*
 * A party's home in which one file was tampered with. The first byte says which; a definition is signed by
 * the coordinator again, so that what it says is looked at. Whatever is in the file, the study is opened as
 * it says or refused with a sentence.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "outside.h"
#include "site/site_parts.h"
#include "web/web.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

#define STUDY "study@0123456789ab"

static const char settings[] =
    "{\"url\":\"https://localhost:1\",\"coordinator\":\"c\",\"data\":\"/nowhere.csv\",\"schema\":"
    "\"/nowhere.yaml\",\"source\":\"rows\",\"no_header\":false,\"allow_entrusted\":false}";
static const char rules[] =
    "{\"study_epsilon\":1.5,\"minimum_rows\":5,\"minimum_parties\":2,\"methods\":[\"avg\"]}";
static const char definition[] =
    "name: study\ntitle: Study\nmethod: gossip\nlambda: 0.05\nparties: {expected: 3}\n"
    "minimum_rows: 5\nschema: |\n  label: {name: y, classes: [n, p]}\n  columns:\n"
    "    - {name: a, kind: number, low: 0, high: 1}\n";

static const struct {
    char letter;
    const char *name, *usual;
} files[] = {
    { 's', SITE_SETTINGS_FILE, settings }, { 'r', "rules.json", rules },
    { 'd', SITE_DEFINITION_FILE, NULL },   { 'g', SITE_SIGNATURE_FILE, NULL },
    { 'a', SITE_AMENDED_FILE, NULL },      { 'c', SITE_CERTIFICATE_FILE, NULL },
    { 'n', SITE_NUMBER_FILE, NULL },       { 'k', SITE_SUM_KEY_FILE, NULL },
    { 'v', SITE_REVOKED_FILE, NULL },      { 'p', SITE_POINTS_FILE, NULL },
    { 'w', "page.credential", NULL },
};

enum { FILES = sizeof files / sizeof files[0] };

static void put(const char *name, const void *bytes, size_t length) {
    char path[256] = "studies/" STUDY "/";
    bool of_home = strcmp(name, "rules.json") == 0 || strcmp(name, "page.credential") == 0;
    outside_file(of_home ? name : strcat(path, name), bytes, length);
}

static void put_signed(const char *name, const char *signature_name, const void *bytes, size_t length) {
    tacit_buffer signature = TACIT_BUFFER_LIMITED(TACIT_SIGNATURE_BYTES_MAX);
    outside_must(
        tacit_authority_sign(&signature, outside_authority(), TACIT_STUDY_PURPOSE, bytes, length, NULL));
    put(name, bytes, length);
    put(signature_name, signature.bytes, signature.length);
    tacit_buffer_clear(&signature);
}

static tacit_buffer canonical; /* the study's usual definition */

static void begin(void) {
    tacit_study *study = NULL;
    outside_must(tacit_study_parse(&study, definition, strlen(definition), "study", NULL));
    outside_must(tacit_buffer_append(&canonical, study->canonical.bytes, study->canonical.length, NULL));
    tacit_study_free(study);
}

/* All files as they should be; those that need not be there are not. */
static void put_usual(void) {
    const char *pem = tacit_authority_pem(outside_authority());
    char folder[4096];
    strcpy(folder, outside_path("studies"));
    outside_remove(folder);
    mkdir(folder, 0700);
    outside_remove(outside_path("page.credential"));
    put(SITE_AUTHORITY_FILE, pem, strlen(pem));
    put(SITE_CERTIFICATE_FILE, pem, strlen(pem));
    put_signed(SITE_DEFINITION_FILE, SITE_SIGNATURE_FILE, canonical.bytes, canonical.length);
    for (size_t i = 0; i < FILES; i++)
        if (files[i].usual != NULL) put(files[i].name, files[i].usual, strlen(files[i].usual));
}

static tacit_status visit(void *context, const tacit_site_summary *joined, tacit_error *error) {
    (void)context, (void)error;
    if (joined->study == NULL || joined->source == NULL) abort();
    return TACIT_OK;
}

/* All that is done with a study's folder before rows are read or somebody is called. */
static void use(tacit_site *site) {
    tacit_error error = TACIT_ERROR_INIT;
    site_rules owner;
    tacit_masks *masks = NULL;
    tacit_mail *mail = NULL;
    site_links *links = NULL;
    size_t number;
    int64_t time;
    if (site->listen != NULL && tacit_address_check(site->listen, NULL) != TACIT_OK) abort();
    outside_explained(site_check_signature(site, &error), &error);
    outside_explained(site_read_rules(site, &owner, &error), &error);
    outside_explained(site_number(site, &number, &error), &error);
    outside_explained(site_renewal_time(site, &time, &error), &error);
    outside_explained(site_check_role(site, &error), &error);
    outside_explained(site_stored_points(site, NULL, &error), &error);
    tacit_status status = site_masks(site, &masks, &error);
    outside_explained(status, &error);
    /* Nobody is to listen here. */
    if (status == TACIT_OK && masks != NULL && site->listen == NULL)
        outside_explained(site_mail(site, masks, &links, &mail, &error), &error);
    tacit_mail_free(mail);
    site_links_free(links);
    tacit_masks_free(masks);
    outside_explained(site_save_settings(site, &error), &error);
}

static void try_home(void) {
    const tacit_site_callbacks callbacks = { .context = NULL };
    tacit_error error = TACIT_ERROR_INIT;
    tacit_site *site = NULL;
    tacit_site_version unused;
    outside_explained(tacit_site_list(outside_folder(), visit, NULL, &error), &error);
    tacit_status status = site_open_folder(&site, outside_folder(), "study", &error);
    outside_explained(status, &error);
    if (status == TACIT_OK) use(site);
    tacit_site_free(site);
    site = NULL;
    /* There are no rows: the definition is taken in, and then that is what is wrong. */
    status = tacit_site_review(&site, &unused, outside_folder(), "study", NULL, &callbacks, &error);
    if (status == TACIT_OK) abort();
    outside_explained(status, &error);
}

static void try_credential(void) {
    web_login login;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_status status = web_login_open(&login, outside_folder(), &error);
    outside_explained(status, &error);
    if (status == TACIT_OK) web_login_close(&login);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    if (canonical.length == 0) begin();
    if (length == 0) return 0;
    size_t which = 0;
    while (which + 1 < FILES && files[which].letter != (char)bytes[0]) which++;
    put_usual();
    if (files[which].letter == 'd')
        put_signed(SITE_DEFINITION_FILE, SITE_SIGNATURE_FILE, bytes + 1, length - 1);
    else if (files[which].letter == 'a')
        put_signed(SITE_AMENDED_FILE, SITE_AMENDED_SIGNATURE_FILE, bytes + 1, length - 1);
    else
        put(files[which].name, bytes + 1, length - 1);
    if (files[which].letter == 'w')
        try_credential();
    else
        try_home();
    return 0;
}
