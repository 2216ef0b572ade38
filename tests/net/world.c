#include "world.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "net/clock.h"

void world_open(world *all) {
    tacit_error error = TACIT_ERROR_INIT;
    snprintf(all->folder, sizeof all->folder, "/tmp/tacit-net-XXXXXX");
    assert_non_null(mkdtemp(all->folder));
    CHECK_OK(tacit_authority_create(&all->authority, all->folder, "test authority", &error), error);
    const char *names[] = { "127.0.0.1", "localhost", "::1" };
    CHECK_OK(tacit_authority_issue_server(all->authority, all->folder, names, 3, validity_now(), &error),
             error);
    CHECK_OK(tacit_server_identity_load(&all->identity, all->folder, &error), error);
}

static void remove_tree(const char *folder) {
    DIR *listing = opendir(folder);
    if (listing == NULL) return;
    for (struct dirent *entry; (entry = readdir(listing)) != NULL;) {
        char path[PATH_MAX];
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
        if (tacit_path_join(path, sizeof path, folder, entry->d_name, NULL) != TACIT_OK) continue;
        if (unlink(path) != 0) remove_tree(path);
    }
    closedir(listing);
    rmdir(folder);
}

void world_close(world *all) {
    tacit_authority_free(all->authority);
    tacit_server_identity_clear(&all->identity);
    remove_tree(all->folder);
}

const char *world_path(char out[PATH_MAX], const world *all, const char *name) {
    assert_int_equal(tacit_path_join(out, PATH_MAX, all->folder, name, NULL), TACIT_OK);
    return out;
}

tacit_authority *world_foreign_authority(const world *all) {
    char folder[PATH_MAX];
    tacit_authority *foreign = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    /* The same name on purpose: only the signature can tell them apart. */
    CHECK_OK(tacit_authority_create(&foreign, world_path(folder, all, "foreign"), "test authority", &error),
             error);
    return foreign;
}

tacit_validity validity_now(void) { return tacit_validity_days(tacit_clock_wall_seconds(), 30); }

tacit_validity validity_past(void) {
    int64_t now = tacit_clock_wall_seconds();
    return (tacit_validity){ now - 86400, now - 60 };
}

void party_join(party *out, const world *all, const tacit_authority *issuer, const char *name,
                tacit_validity validity) {
    char file[128];
    tacit_error error = TACIT_ERROR_INIT;
    tacit_buffer request = TACIT_BUFFER_INIT, certificate = TACIT_BUFFER_INIT;
    snprintf(file, sizeof file, "%.64s.key", name);
    world_path(out->key_file, all, file);
    snprintf(file, sizeof file, "%.64s.crt", name);
    world_path(out->certificate_file, all, file);
    CHECK_OK(tacit_key_create(out->key_file, &error), error);
    CHECK_OK(tacit_key_request(&request, out->key_file, "whatever", &error), error);
    CHECK_OK(tacit_authority_issue_client(&certificate, issuer, request.bytes, request.length, name, validity,
                                          &error),
             error);
    CHECK_OK(tacit_file_write(out->certificate_file, certificate.bytes, certificate.length, 0644, &error),
             error);
    CHECK_OK(tacit_certificate_inspect(&out->info, certificate.bytes, certificate.length, &error), error);
    tacit_buffer_clear(&request);
    tacit_buffer_clear(&certificate);
}

void party_join_now(party *out, const world *all, const char *name) {
    party_join(out, all, all->authority, name, validity_now());
}

tacit_client *client_for(const world *all, const party *who, uint16_t port) {
    char url[64], authority[PATH_MAX];
    snprintf(url, sizeof url, "https://127.0.0.1:%u", port);
    tacit_client_settings settings = { .url = url,
                                       .authority_file = world_path(authority, all, "ca.crt"),
                                       .certificate_file = who != NULL ? who->certificate_file : NULL,
                                       .key_file = who != NULL ? who->key_file : NULL };
    tacit_client *client = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_client_create(&client, &settings, &error), error);
    return client;
}

tacit_status ask(tacit_client *client, const char *method, const char *path, const char *body,
                 unsigned *status, tacit_buffer *response, tacit_error *error) {
    tacit_buffer unwanted = TACIT_BUFFER_INIT;
    tacit_client_request request = { .method = method,
                                     .path = path,
                                     .body = body,
                                     .body_length = body != NULL ? strlen(body) : 0,
                                     .timeout_ms = 120000 };
    tacit_status result =
        tacit_client_send(status, response != NULL ? response : &unwanted, client, &request, error);
    tacit_buffer_clear(&unwanted);
    return result;
}
