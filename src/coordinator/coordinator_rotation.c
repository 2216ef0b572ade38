/* A coordinator whose authority is replaced, by `tacit rotate` beside it (net/rotation.h). */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "coordinator/coordinator_parts.h"
#include "net/clock.h"

const tacit_authority *coordinator_issuer(coordinator *self) { return atomic_load(&self->keys)->present; }

const tacit_authority *coordinator_signer(coordinator *self) { return atomic_load(&self->keys)->shown; }

/* A thief of an earlier authority's key gets nothing by it: whatever it issues is in no registry. So a party
 * that comes late may still use its certificate, which is in there, to ask for the next one, and for nothing
 * else. */
bool coordinator_retired(coordinator *self, const char *issuer_id, tacit_endpoint endpoint) {
    return (tacit_endpoint_rules(endpoint) & TACIT_ENDPOINT_TAKES_RETIRED) == 0 &&
           tacit_authority_keys_retired(atomic_load(&self->keys), issuer_id);
}

/* Whoever asks: the statements prove themselves, and are needed by those who cannot know the present
 * authority yet. */
tacit_status coordinator_authority(coordinator *self, const char *party, const tacit_buffer *body,
                                   coordinator_reply *out, tacit_error *error) {
    (void)party, (void)body, (void)error;
    out->lent = &atomic_load(&self->keys)->chain.text;
    return TACIT_OK;
}

static void look_at_file(const coordinator *self, struct stat *out) {
    char path[PATH_MAX];
    memset(out, 0, sizeof *out);
    if (tacit_path_join(path, sizeof path, self->settings.folder, TACIT_HANDOVER_FILE, NULL) != TACIT_OK ||
        stat(path, out) != 0)
        memset(out, 0, sizeof *out);
}

/* For whoever looks at the server from this folder (tacit doctor). */
static tacit_status write_trust(const coordinator *self, const tacit_authority_keys *keys,
                                tacit_error *error) {
    char path[PATH_MAX];
    tacit_buffer trusted = TACIT_BUFFER_INIT;
    tacit_status status;
    if (keys->chain.count == 0) return TACIT_OK;
    TACIT_TRY(tacit_path_join(path, sizeof path, self->settings.folder, TACIT_TRUST_FILE, error));
    TACIT_CHECK(
        tacit_handovers_trusted(&keys->chain, NULL, tacit_clock_wall_seconds(), &trusted, NULL, error));
    TACIT_CHECK(tacit_file_write(path, trusted.bytes, trusted.length, 0644, error));
cleanup:
    tacit_buffer_clear(&trusted);
    return status;
}

tacit_status coordinator_load_keys(coordinator *self, tacit_error *error) {
    tacit_authority_keys *keys = NULL;
    struct stat file;
    look_at_file(self, &file); /* first: what comes after it is seen at the next look */
    TACIT_TRY(tacit_authority_keys_load(&keys, self->settings.folder, tacit_clock_wall_seconds(), error));
    tacit_status status = write_trust(self, keys, error);
    if (status != TACIT_OK) {
        tacit_authority_keys_free(keys);
        return status;
    }
    keys->next = atomic_load(&self->keys);
    atomic_store(&self->keys, keys);
    self->handover = file;
    return TACIT_OK;
}

void coordinator_free_keys(coordinator *self) {
    tacit_authority_keys *keys = atomic_load(&self->keys), *next;
    for (; keys != NULL; keys = next) {
        next = keys->next;
        tacit_authority_keys_free(keys);
    }
}

static bool has_changed(const coordinator *self) {
    struct stat now;
    look_at_file(self, &now);
    return now.st_ino != self->handover.st_ino || now.st_size != self->handover.st_size ||
           now.st_mtim.tv_sec != self->handover.st_mtim.tv_sec ||
           now.st_mtim.tv_nsec != self->handover.st_mtim.tv_nsec;
}

static void notify(coordinator *self, const tacit_authority_keys *before) {
    const tacit_authority_keys *keys = atomic_load(&self->keys);
    const size_t count = keys->chain.count;
    char day[32];
    if (count > before->chain.count) {
        const tacit_handover *last = &keys->chain.entries[count - 1];
        tacit_handover_until(last, day);
        if (last->stolen)
            coordinator_warn(self, NULL,
                             "the authority was replaced because its key was stolen: parties wait until "
                             "their owners confirm the fingerprint %s",
                             last->new.fingerprint);
        else
            coordinator_news(
                self, "the authority was replaced: parties follow to %s, and trust the old one until %s",
                last->new.fingerprint, day);
    }
    if (keys->oldest > before->oldest && before->oldest < before->chain.count)
        coordinator_news(self, "authority %s is trusted no longer, and its key was removed",
                         keys->chain.entries[keys->oldest - 1].old.fingerprint);
}

/* Whoever polls is sent away and comes back, and looks whom to trust when it does. */
void coordinator_follow_rotation(coordinator *self) {
    tacit_error error = TACIT_ERROR_INIT;
    const tacit_authority_keys *before = atomic_load(&self->keys);
    bool over = before->changes != 0 && tacit_clock_wall_seconds() >= before->changes;
    if (!over && !has_changed(self)) return;
    if (coordinator_load_keys(self, &error) != TACIT_OK) { /* perhaps it is being replaced at this moment */
        coordinator_log_at(self, TACIT_LOG_WARN, "authority", "the authority cannot be read now: %s",
                           error.text);
        return;
    }
    notify(self, before);
    coordinator_restart_server(self, "serving with the authorities that are trusted now",
                               "the server could not be started with the new authority");
}
