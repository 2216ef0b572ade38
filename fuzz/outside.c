#include "outside.h"

#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"

void outside_must(tacit_status status) {
    if (status != TACIT_OK) abort();
}

void outside_explained(tacit_status status, const tacit_error *error) {
    if (status != TACIT_OK && error->text[0] == 0) abort();
}

/* ---- a peer ---- */

typedef struct outside_peer {
    tacit_channel common;
    const uint8_t *bytes;
    size_t left;
} outside_peer;

static tacit_status drop(tacit_channel *channel, const uint8_t *bytes, size_t length, tacit_error *error) {
    (void)channel, (void)bytes, (void)length, (void)error;
    return TACIT_OK;
}

static tacit_status say(size_t *got, tacit_channel *channel, uint8_t *out, size_t most, tacit_error *error) {
    outside_peer *self = (outside_peer *)channel;
    if (self->left == 0) return tacit_channel_peer_gone(error);
    *got = most < self->left ? most : self->left;
    memcpy(out, self->bytes, *got);
    self->bytes += *got;
    self->left -= *got;
    return TACIT_OK;
}

static void leave(tacit_channel *channel, bool goodbye) { (void)channel, (void)goodbye; }

int outside_nothing(void) { return open("/dev/null", O_RDWR | O_CLOEXEC); }

tacit_channel *outside_channel(const uint8_t *bytes, size_t length) {
    static const tacit_channel_kind kind = { .write = drop, .read = say, .close = leave };
    outside_peer *self = TACIT_NEW(outside_peer, 1);
    if (self == NULL) abort();
    self->bytes = bytes;
    self->left = length;
    outside_must(tacit_channel_start(&self->common, &kind, outside_nothing(), NULL));
    return &self->common;
}

void outside_change(tacit_buffer *message, const uint8_t *bytes, size_t length) {
    while (length >= 4) {
        size_t place = (size_t)bytes[0] << 16 | (size_t)bytes[1] << 8 | bytes[2], count = bytes[3];
        bytes += 4;
        length -= 4;
        if (place == 0xffffff) {
            message->length = message->length * count / 256;
            outside_must(tacit_buffer_append(message, bytes, length, NULL));
            return;
        }
        if (count > length) count = length;
        for (size_t i = 0; i < count; i++) message->bytes[(place + i) % message->length] = bytes[i];
        bytes += count;
        length -= count;
    }
}

/* ---- files ---- */

static char folder[PATH_MAX];
static pid_t owner;

static int remove_one(const char *path, const struct stat *about, int kind, struct FTW *place) {
    (void)about, (void)kind, (void)place;
    return remove(path);
}

void outside_remove(const char *path) { nftw(path, remove_one, 8, FTW_DEPTH | FTW_PHYS); }

static void remove_folder(void) {
    if (getpid() == owner) outside_remove(folder);
}

const char *outside_folder(void) {
    const char *parent = getenv("TMPDIR");
    if (folder[0] != 0) return folder;
    snprintf(folder, sizeof folder, "%s/tacit-fuzz-XXXXXX", parent != NULL ? parent : "/tmp");
    if (mkdtemp(folder) == NULL) abort();
    owner = getpid();
    atexit(remove_folder);
    return folder;
}

const char *outside_path(const char *name) {
    static char path[PATH_MAX + 256];
    snprintf(path, sizeof path, "%s/%s", outside_folder(), name);
    return path;
}

/* Nothing here has to outlive a crash of the machine: in place of the C library's, also for what the library
 * writes. */
int fsync(int file) { return file < 0 ? -1 : 0; }
int fdatasync(int file) { return file < 0 ? -1 : 0; }

const char *outside_file(const char *name, const void *bytes, size_t length) {
    static char path[PATH_MAX + 256];
    snprintf(path, sizeof path, "%s", outside_path(name));
    char *slash = strrchr(path + strlen(folder) + 1, '/');
    if (slash != NULL) {
        *slash = 0;
        mkdir(path, 0700);
        *slash = '/';
    }
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (file < 0 || write(file, bytes, length) != (ssize_t)length) abort();
    close(file);
    return path;
}

/* ---- a signature ---- */

tacit_authority *outside_authority(void) {
    static tacit_authority *authority;
    if (authority == NULL) outside_must(tacit_authority_create(&authority, outside_folder(), "fuzz", NULL));
    return authority;
}

void outside_sign(char out[OUTSIDE_HEX_SIZE], const char *purpose, const void *bytes, size_t length) {
    tacit_buffer signature = TACIT_BUFFER_LIMITED(TACIT_SIGNATURE_BYTES_MAX);
    outside_must(tacit_authority_sign(&signature, outside_authority(), purpose, bytes, length, NULL));
    sodium_bin2hex(out, OUTSIDE_HEX_SIZE, signature.bytes, signature.length);
    tacit_buffer_clear(&signature);
}
