/* A study's folder in the party's home: what is needed to go on after a crash or a restart. */
#include <dirent.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "model/classifier/classifier.h"
#include "net/identity.h"
#include "privacy/ledger/ledger.h"
#include "site/site_parts.h"
#include "study/home.h"

tacit_status site_path(const tacit_site *site, const char *name, char out[PATH_MAX], tacit_error *error) {
    return tacit_path_join(out, PATH_MAX, site->folder, name, error);
}

bool site_file_exists(const tacit_site *site, const char *name) {
    char path[PATH_MAX];
    return site_path(site, name, path, NULL) == TACIT_OK && access(path, F_OK) == 0;
}

static tacit_status write_file(const tacit_site *site, const char *name, const void *bytes, size_t length,
                               tacit_error *error) {
    char path[PATH_MAX];
    TACIT_TRY(site_path(site, name, path, error));
    return tacit_file_write(path, bytes, length, 0600, error);
}

/* Files are found again from any working folder. */
static json_t *absolute(const char *path) {
    char *full = realpath(path, NULL);
    json_t *text = json_string(full != NULL ? full : path);
    free(full);
    return text;
}

tacit_status site_save_settings(const tacit_site *site, tacit_error *error) {
    json_t *root = json_pack(
        "{s:s,s:s,s:s,s:o,s:o,s:s,s:s*,s:s*,s:b,s:b,s:b,s:b,s:b,s:b,s:b,s:b,s:s*,s:s*,s:s*,s:s*,s:s*,s:s*}",
        "id", site->id, "url", site->url, "coordinator", site->coordinator, "data", absolute(site->data),
        "schema", absolute(site->schema_path), "source", site->source, "label", site->label, "positive",
        site->positive, "no_header", site->no_header, "allow_entrusted", site->allow_entrusted, "allow_exact",
        site->allow_exact, "allow_neighbours", site->allow_neighbours, "allow_difference",
        site->allow_difference, "allow_site", site->allow_site, "allow_reuse", site->allow_reuse, "ask_again",
        site->ask_again, "local", site->local, "listen", site->listen, "link", site->link, "role", site->role,
        "proxy", site->proxy, "called", site->called[0] != 0 ? site->called : NULL);
    char *text = root != NULL ? json_dumps(root, JSON_INDENT(2)) : NULL;
    tacit_status status =
        text != NULL ? write_file(site, SITE_SETTINGS_FILE, text, strlen(text), error)
                     : tacit_fail(error, TACIT_INPUT, "a path or name is not UTF-8, or memory ran out");
    free(text);
    json_decref(root);
    return status;
}

tacit_status site_save(const tacit_site *site, tacit_error *error) {
    TACIT_TRY(tacit_folder_make(site->folder, error));
    /* The chain first: whatever is there of the two is right together. */
    if (site->chain.count > 0)
        TACIT_TRY(
            write_file(site, SITE_HANDOVER_FILE, site->chain.text.bytes, site->chain.text.length, error));
    TACIT_TRY(write_file(site, SITE_AUTHORITY_FILE, site->anchor.bytes, site->anchor.length, error));
    TACIT_TRY(write_file(site, SITE_DEFINITION_FILE, site->study->canonical.bytes,
                         site->study->canonical.length, error));
    TACIT_TRY(write_file(site, SITE_SIGNATURE_FILE, site->signature.bytes, site->signature.length, error));
    if (site->study->document.length > 0)
        TACIT_TRY(write_file(site, SITE_DOCUMENT_FILE, site->study->document.bytes,
                             site->study->document.length, error));
    /* Never written again, since whoever serves has it locked. */
    if (!site_file_exists(site, SITE_LOCK_FILE)) TACIT_TRY(write_file(site, SITE_LOCK_FILE, "", 0, error));
    return site_save_settings(site, error);
}

/* ---- opening again ---- */

static tacit_status take_text(char **out, const char *text, tacit_error *error) {
    if (text == NULL) return TACIT_OK;
    *out = tacit_copy_text(text);
    return *out != NULL ? TACIT_OK : tacit_fail_memory(error);
}

static tacit_status read_settings(tacit_site *site, tacit_error *error) {
    char path[PATH_MAX];
    tacit_buffer text = TACIT_BUFFER_LIMITED(1 << 20);
    json_t *root = NULL;
    const char *id = NULL, *url = NULL, *coordinator = NULL, *data = NULL, *schema = NULL, *source = NULL,
               *label = NULL, *positive = NULL, *local = NULL, *listen = NULL, *link = NULL, *role = NULL,
               *proxy = NULL, *called = NULL;
    int no_header = 0, allow_entrusted = 0, allow_exact = 0, allow_neighbours = 0, allow_difference = 0,
        allow_site = 0, allow_reuse = 0, ask_again = 0;
    tacit_status status;
    TACIT_CHECK(site_path(site, SITE_SETTINGS_FILE, path, error));
    TACIT_CHECK(tacit_file_read(path, &text, error));
    root = json_loadb(tacit_buffer_text(&text), text.length, 0, NULL);
    if (root == NULL ||
        json_unpack(
            root,
            "{s?:s,s:s,s:s,s:s,s:s,s:s,s?:s,s?:s,s:b,s:b,s?:b,s?:b,s?:b,s?:b,s?:b,s?:b,s?:s,s?:s,s?:s,s?:"
            "s,s?:s,s?:s}",
            "id", &id, "url", &url, "coordinator", &coordinator, "data", &data, "schema", &schema, "source",
            &source, "label", &label, "positive", &positive, "no_header", &no_header, "allow_entrusted",
            &allow_entrusted, "allow_exact", &allow_exact, "allow_neighbours", &allow_neighbours,
            "allow_difference", &allow_difference, "allow_site", &allow_site, "allow_reuse", &allow_reuse,
            "ask_again", &ask_again, "local", &local, "listen", &listen, "link", &link, "role", &role,
            "proxy", &proxy, "called", &called) != 0 ||
        (id != NULL && strlen(id) >= sizeof site->id) || strlen(url) >= sizeof site->url ||
        strlen(coordinator) >= sizeof site->coordinator ||
        (called != NULL && tacit_party_name_check(called, NULL) != TACIT_OK) ||
        (listen != NULL && tacit_address_check(listen, NULL) != TACIT_OK))
        TACIT_CHECK(
            tacit_fail(error, TACIT_CORRUPT, "%s is damaged: join again with a new invitation", path));
    if (id != NULL) snprintf(site->id, sizeof site->id, "%s", id);
    snprintf(site->url, sizeof site->url, "%s", url);
    snprintf(site->coordinator, sizeof site->coordinator, "%s", coordinator);
    snprintf(site->called, sizeof site->called, "%s", called != NULL ? called : "");
    site->no_header = no_header != 0;
    site->allow_entrusted = allow_entrusted != 0;
    site->allow_exact = allow_exact != 0;
    site->allow_neighbours = allow_neighbours != 0;
    site->allow_difference = allow_difference != 0;
    site->allow_site = allow_site != 0;
    site->allow_reuse = allow_reuse != 0;
    site->ask_again = ask_again != 0;
    TACIT_CHECK(take_text(&site->data, data, error));
    TACIT_CHECK(take_text(&site->schema_path, schema, error));
    TACIT_CHECK(take_text(&site->source, source, error));
    TACIT_CHECK(take_text(&site->label, label, error));
    TACIT_CHECK(take_text(&site->positive, positive, error));
    TACIT_CHECK(take_text(&site->local, local, error));
    TACIT_CHECK(take_text(&site->listen, listen, error));
    TACIT_CHECK(take_text(&site->link, link, error));
    TACIT_CHECK(take_text(&site->role, role, error));
    TACIT_CHECK(take_text(&site->proxy, proxy, error));
    if (local != NULL)
        TACIT_CHECK(tacit_fail_in(error, tacit_classifier_check(local, true, error), "%s", path));
cleanup:
    json_decref(root);
    tacit_buffer_clear(&text);
    return status;
}

static tacit_status check_unchanged(const tacit_site *site, tacit_error *error) {
    tacit_buffer text = TACIT_BUFFER_LIMITED(TACIT_STUDY_BYTES_LIMIT);
    const tacit_buffer *now = &site->study->canonical;
    tacit_status status = site_read_file(site, SITE_DEFINITION_FILE, &text, error);
    if (status == TACIT_OK &&
        (text.length != now->length || memcmp(text.bytes, now->bytes, now->length) != 0))
        status = tacit_fail(error, TACIT_REFUSED,
                            "study '%s' was amended since you joined: tacit party %s, then tacit consent %s",
                            site->study->name, site->study->name, site->study->name);
    tacit_buffer_clear(&text);
    return status;
}

tacit_status site_check_source(tacit_site *site, tacit_error *error) {
    tacit_site before = { .home = NULL };
    memcpy(before.id, site->id, sizeof before.id);
    memcpy(before.folder, site->folder, sizeof before.folder);
    tacit_status status = read_settings(&before, error);
    if (status == TACIT_OK && strcmp(before.source, site->source) != 0)
        status = tacit_fail(error, TACIT_USAGE,
                            "this study was joined with %s: one home is one party of a study, so set "
                            "TACIT_HOME to another folder to join with %s",
                            before.source, site->source);
    if (status == TACIT_OK) status = check_unchanged(site, error);
    if (status == TACIT_OK) memcpy(site->id, before.id, sizeof site->id);
    free(before.data);
    free(before.schema_path);
    free(before.source);
    free(before.label);
    free(before.positive);
    free(before.local);
    free(before.listen);
    free(before.link);
    free(before.role);
    free(before.proxy);
    return status;
}

tacit_status site_read_file(const tacit_site *site, const char *name, tacit_buffer *out, tacit_error *error) {
    char path[PATH_MAX];
    TACIT_TRY(site_path(site, name, path, error));
    return tacit_file_read(path, out, error);
}

static tacit_status read_definition(tacit_site *site, tacit_error *error) {
    tacit_buffer text = TACIT_BUFFER_LIMITED(TACIT_STUDY_BYTES_LIMIT);
    tacit_status status;
    TACIT_CHECK(site_read_file(site, SITE_DEFINITION_FILE, &text, error));
    TACIT_CHECK(
        tacit_study_parse(&site->study, tacit_buffer_text(&text), text.length, SITE_DEFINITION_FILE, error));
    TACIT_CHECK(site_load_trust(site, error));
    if (site_file_exists(site, SITE_SIGNATURE_FILE))
        TACIT_CHECK(site_read_file(site, SITE_SIGNATURE_FILE, &site->signature, error));
cleanup:
    tacit_buffer_clear(&text);
    return status;
}

/* The folder of a study: named in full (name@authority), as the ledger calls a version of it
 * (name@authority+version), or, when only one fits, by the study's name. */
static tacit_status find_folder(tacit_site *site, const char *studies, const char *study,
                                tacit_error *error) {
    char known[300] = "";
    size_t used = 0, matches = 0, length = strcspn(study, "+");
    DIR *folder = opendir(studies);
    if (folder == NULL)
        return tacit_fail(error, TACIT_NOT_FOUND, "no study has been joined yet (tacit join --help)");
    for (const struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        const char *name = entry->d_name;
        if (name[0] == '.' || strlen(name) >= sizeof site->id) continue;
        if (used < sizeof known)
            used += (size_t)snprintf(known + used, sizeof known - used, "%s%s", used > 0 ? ", " : "", name);
        if (strncmp(name, study, length) != 0 || (name[length] != 0 && name[length] != '@')) continue;
        snprintf(site->id, sizeof site->id, "%s", name);
        matches++;
    }
    closedir(folder);
    if (matches == 1) return tacit_path_join(site->folder, sizeof site->folder, studies, site->id, error);
    return tacit_fail(error, TACIT_NOT_FOUND, "%s joined study is called '%s'; there are: %s",
                      matches == 0 ? "no" : "more than one", study, known);
}

tacit_status site_open_folder(tacit_site **out, const char *home, const char *study, tacit_error *error) {
    tacit_site *site = TACIT_NEW(tacit_site, 1);
    char studies[PATH_MAX];
    tacit_status status;
    if (site == NULL) return tacit_fail_memory(error);
    TACIT_CHECK(take_text(&site->home, home, error));
    TACIT_CHECK(tacit_path_join(studies, sizeof studies, home, "studies", error));
    TACIT_CHECK(find_folder(site, studies, study, error));
    if (!site_file_exists(site, SITE_CERTIFICATE_FILE) && !site_file_exists(site, SITE_BOX_FILE))
        TACIT_CHECK(tacit_fail(error, TACIT_NOT_FOUND,
                               "joining study '%s' was not finished: tacit join again", study));
    TACIT_CHECK(site_finish_renewal(site, error));
    TACIT_CHECK(read_settings(site, error));
    TACIT_CHECK(read_definition(site, error));
    site->joined = true;
    *out = site;
    site = NULL;
cleanup:
    tacit_site_free(site);
    return status;
}

tacit_status tacit_site_open(tacit_site **out, const char *home, const char *study,
                             const tacit_site_callbacks *callbacks, tacit_error *error) {
    tacit_site *site = NULL;
    TACIT_TRY(site_open_folder(&site, home, study, error));
    site->callbacks = *callbacks;
    tacit_status status = site_load_rows(site, error);
    if (status == TACIT_OK)
        *out = site;
    else
        tacit_site_free(site);
    return status;
}

tacit_status tacit_site_keep_end(const tacit_site *site, const char *state, tacit_error *error) {
    char path[PATH_MAX];
    TACIT_TRY(site_path(site, SITE_ENDED_FILE, path, error));
    return tacit_file_write(path, state, strlen(state), 0600, error);
}

static bool has_ended(const tacit_site *site) {
    return !site_file_exists(site, SITE_AMENDED_FILE) &&
           (site_file_exists(site, SITE_ENDED_FILE) || site_file_exists(site, SITE_MODEL_FILE));
}

tacit_status tacit_site_has_ended(bool *out, const char *home, const char *study, tacit_error *error) {
    tacit_site *site = NULL;
    TACIT_TRY(site_open_folder(&site, home, study, error));
    *out = has_ended(site);
    tacit_site_free(site);
    return TACIT_OK;
}

static int is_study(const struct dirent *entry) { return strchr(entry->d_name, '@') != NULL; }

static tacit_status visit_site(const tacit_site *site, tacit_site_visit *visit, void *context,
                               tacit_error *error) {
    tacit_buffer signature = TACIT_BUFFER_LIMITED(TACIT_SIGNATURE_BYTES_MAX);
    tacit_study *next = NULL;
    char words[TACIT_ERROR_TEXT_SIZE];
    bool amended = site_file_exists(site, SITE_AMENDED_FILE);
    site_describe_trust(site, words, sizeof words);
    if (amended && site_read_amended(site, &next, &signature, NULL) != TACIT_OK) next = NULL;
    tacit_site_summary joined = { .id = site->id,
                                  .coordinator = site->coordinator,
                                  .source = site->source,
                                  .called = site->called,
                                  .study = site->study,
                                  .amended = amended,
                                  .next = next,
                                  .authority = words,
                                  .distrusted = site->distrusted,
                                  .has_model = site_file_exists(site, SITE_MODEL_FILE),
                                  .ended = has_ended(site),
                                  .allow_difference = site->allow_difference };
    tacit_status status = visit(context, &joined, error);
    tacit_study_free(next);
    tacit_buffer_clear(&signature);
    return status;
}

tacit_status tacit_site_list(const char *home, tacit_site_visit *visit, void *context, tacit_error *error) {
    char studies[PATH_MAX];
    struct dirent **found = NULL;
    TACIT_TRY(tacit_path_join(studies, sizeof studies, home, "studies", error));
    int count = scandir(studies, &found, is_study, alphasort); /* -1 when no study has been joined yet */
    tacit_status status = TACIT_OK;
    for (int i = 0; i < count; i++) {
        tacit_site *site = NULL;
        if (status == TACIT_OK && site_open_folder(&site, home, found[i]->d_name, NULL) == TACIT_OK)
            status = visit_site(site, visit, context, error);
        tacit_site_free(site);
        free(found[i]);
    }
    free(found);
    return status;
}
