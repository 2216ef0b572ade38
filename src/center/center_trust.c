/* Whom center server B trusts as the coordinator. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "center/center_parts.h"
#include "net/clock.h"

#define COORDINATOR_FILE "coordinator.crt"
#define CHAIN_FILE "coordinator.handover.txt"
#define TRUST_FILE "coordinator.trust.crt"

static tacit_status path_of(const center_trust *self, const char *name, char out[PATH_MAX],
                            tacit_error *error) {
    return tacit_path_join(out, PATH_MAX, self->folder, name, error);
}

/* Another certificate than before is the owner's word: statements that led away from the earlier one count no
 * more. */
static tacit_status take_given(center_trust *self, const char *path, const char *given, tacit_error *error) {
    char chain[PATH_MAX];
    tacit_certificate_info info;
    TACIT_TRY(tacit_file_read(given, &self->anchor, error));
    TACIT_TRY(tacit_fail_in(error,
                            tacit_certificate_inspect(&info, self->anchor.bytes, self->anchor.length, error),
                            "the option 'coordinator'"));
    if (!info.authority)
        return tacit_fail(error, TACIT_USAGE,
                          "the certificate given with the option 'coordinator' is no authority's: give the "
                          "file ca.crt of the coordinator's folder");
    TACIT_TRY(path_of(self, CHAIN_FILE, chain, error));
    if (tacit_handovers_know(&self->chain, info.fingerprint) &&
        strcmp(self->chain.entries[self->chain.count - 1].new.fingerprint, info.fingerprint) != 0)
        return tacit_fail(
            error, TACIT_USAGE,
            "the certificate given with the option 'coordinator' is of an authority that has handed over to "
            "another one: leave the option 'coordinator' out, or give the present one");
    if (!tacit_handovers_know(&self->chain, info.fingerprint)) {
        unlink(chain);
        tacit_handovers_clear(&self->chain);
    }
    return tacit_file_write(path, self->anchor.bytes, self->anchor.length, 0644, error);
}

static tacit_status load_chain(center_trust *self, tacit_error *error) {
    char path[PATH_MAX];
    tacit_buffer text = TACIT_BUFFER_LIMITED(TACIT_HANDOVERS_BYTES_MAX);
    TACIT_TRY(path_of(self, CHAIN_FILE, path, error));
    if (access(path, F_OK) != 0) return TACIT_OK;
    tacit_status status = tacit_file_read(path, &text, error);
    if (status == TACIT_OK)
        status = tacit_fail_in(error, tacit_handovers_read(&self->chain, text.bytes, text.length, error),
                               "%s", path);
    tacit_buffer_clear(&text);
    return status;
}

tacit_status center_trust_open(center_trust *self, const char *folder, const char *given,
                               tacit_error *error) {
    char path[PATH_MAX];
    pthread_mutex_init(&self->mutex, NULL);
    self->folder = folder;
    self->anchor.limit = TACIT_CERTIFICATE_BYTES_MAX;
    TACIT_TRY(path_of(self, COORDINATOR_FILE, path, error));
    if (given == NULL && access(path, F_OK) != 0)
        return tacit_fail(error, TACIT_USAGE,
                          "whose studies to serve is not known yet: give the option 'coordinator' with the "
                          "certificate of the coordinator's authority, the file ca.crt of its folder");
    TACIT_TRY(load_chain(self, error));
    return given != NULL ? take_given(self, path, given, error) : tacit_file_read(path, &self->anchor, error);
}

void center_trust_close(center_trust *self) {
    if (self->folder == NULL) return;
    pthread_mutex_destroy(&self->mutex);
    tacit_buffer_clear(&self->anchor);
    tacit_handovers_clear(&self->chain);
}

/* With the lock held. */
static tacit_status put_trusted(const center_trust *self, bool every, tacit_buffer *out, tacit_error *error) {
    int64_t now = tacit_clock_wall_seconds() - TACIT_HANDOVER_SKEW;
    return every ? tacit_handovers_all(&self->chain, &self->anchor, out, error)
                 : tacit_handovers_trusted(&self->chain, &self->anchor, now, out, NULL, error);
}

tacit_status center_trust_read(center_trust *self, bool every, tacit_buffer *out, tacit_error *error) {
    pthread_mutex_lock(&self->mutex);
    tacit_status status = put_trusted(self, every, out, error);
    pthread_mutex_unlock(&self->mutex);
    return status;
}

/* Written when it has changed: calls come one beside another. */
tacit_status center_trust_file(center_trust *self, char path[PATH_MAX], tacit_error *error) {
    tacit_buffer trusted = TACIT_BUFFER_INIT, before = TACIT_BUFFER_LIMITED(TACIT_HANDOVERS_BYTES_MAX);
    TACIT_TRY(path_of(self, TRUST_FILE, path, error));
    pthread_mutex_lock(&self->mutex);
    tacit_status status = put_trusted(self, false, &trusted, error);
    bool same = status == TACIT_OK && tacit_file_read(path, &before, NULL) == TACIT_OK &&
                before.length == trusted.length && memcmp(before.bytes, trusted.bytes, trusted.length) == 0;
    if (status == TACIT_OK && !same)
        status = tacit_file_write(path, trusted.bytes, trusted.length, 0644, error);
    pthread_mutex_unlock(&self->mutex);
    tacit_buffer_clear(&trusted);
    tacit_buffer_clear(&before);
    return status;
}

static tacit_status follow(center_trust *self, const tacit_handovers *heard, tacit_following *result,
                           tacit_error *error) {
    char path[PATH_MAX];
    TACIT_TRY(tacit_handovers_follow(&self->chain, &self->anchor, heard, tacit_clock_wall_seconds(), NULL,
                                     result, error));
    if (*result == TACIT_FOLLOWING_NOTHING) return TACIT_OK;
    if (*result != TACIT_FOLLOWING_DONE)
        return tacit_fail(error, TACIT_REFUSED,
                          "the coordinator's authority was replaced %s: get the new ca.crt from the "
                          "coordinator's people, and give it with the option 'coordinator'",
                          *result == TACIT_FOLLOWING_STOLEN ? "because its key was stolen" : "too long ago");
    TACIT_TRY(path_of(self, CHAIN_FILE, path, error));
    return tacit_file_write(path, self->chain.text.bytes, self->chain.text.length, 0644, error);
}

tacit_status center_trust_hear(center_trust *self, const tacit_buffer *chain,
                               char present[TACIT_FINGERPRINT_SIZE], tacit_error *error) {
    tacit_handovers heard = { .count = 0 };
    tacit_following result = TACIT_FOLLOWING_NOTHING;
    present[0] = 0;
    TACIT_TRY(tacit_handovers_read(&heard, chain->bytes, chain->length, error));
    pthread_mutex_lock(&self->mutex);
    tacit_status status = follow(self, &heard, &result, error);
    if (status == TACIT_OK && result == TACIT_FOLLOWING_DONE)
        memcpy(present, self->chain.entries[self->chain.count - 1].new.fingerprint, TACIT_FINGERPRINT_SIZE);
    pthread_mutex_unlock(&self->mutex);
    tacit_handovers_clear(&heard);
    return status;
}
