#include "data/reading/input.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef TACIT_PARTY_ONLY
#include <lzma.h>
#include <zlib.h>
#endif

#include "base/memory.h"

#ifdef TACIT_PARTY_ONLY /* for devices with little memory */
enum { RAW_BYTES = 1 << 12, CHUNK_BYTES = 1 << 14 };
#else
enum { RAW_BYTES = 1 << 16, CHUNK_BYTES = 1 << 18 };

/* An xz file may ask for gigabytes of dictionary; the largest preset (xz -9) needs 65 MiB. */
static const uint64_t xz_memory = UINT64_C(256) << 20;
#endif

typedef enum coding { CODING_PLAIN, CODING_GZIP, CODING_XZ } coding;

struct tacit_input {
    char *name;
    int file;          /* -1 over memory */
    struct stat found; /* of the file, when it was opened */
    const uint8_t *memory;
    size_t memory_length, memory_left;
    coding coding;
    const uint8_t *raw_at; /* compressed bytes not yet decoded */
    size_t raw_left;
    bool raw_ended;
    bool ended;
    bool member_ended; /* between two members of a gzip file */
#ifndef TACIT_PARTY_ONLY
    z_stream gzip;
    lzma_stream xz;
#endif
    bool peeked;
    const uint8_t *chunk_at; /* what a peek showed */
    size_t chunk_length;
    uint8_t raw[RAW_BYTES];
    uint8_t chunk[CHUNK_BYTES];
};

const char *tacit_input_name(const tacit_input *input) { return input->name; }

static tacit_status read_file(tacit_input *input, uint8_t *to, size_t size, size_t *got, tacit_error *error) {
    size_t filled = 0;
    while (filled < size) {
        ssize_t count = read(input->file, to + filled, size - filled);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return tacit_fail_errno(error, "reading", input->name);
        if (count == 0) break;
        filled += (size_t)count;
    }
    *got = filled;
    return TACIT_OK;
}

/* Rows of two versions of a file belong to no table. */
static tacit_status check_unchanged(const tacit_input *input, tacit_error *error) {
    struct stat now;
    if (!S_ISREG(input->found.st_mode)) return TACIT_OK;
    if (fstat(input->file, &now) != 0) return tacit_fail_errno(error, "reading", input->name);
    if (now.st_size == input->found.st_size && now.st_mtim.tv_sec == input->found.st_mtim.tv_sec &&
        now.st_mtim.tv_nsec == input->found.st_mtim.tv_nsec)
        return TACIT_OK;
    return tacit_fail(error, TACIT_INPUT, "%s has changed while it was read: try again when it is whole",
                      input->name);
}

/* Have compressed bytes at hand, unless the source ended. */
static tacit_status refill_raw(tacit_input *input, tacit_error *error) {
    if (input->raw_left > 0 || input->raw_ended) return TACIT_OK;
    if (input->file < 0) {
        input->raw_at = input->memory;
        input->raw_left = input->memory_left;
        input->memory_left = 0;
    } else {
        TACIT_TRY(read_file(input, input->raw, RAW_BYTES, &input->raw_left, error));
        input->raw_at = input->raw;
        if (input->raw_left < RAW_BYTES) TACIT_TRY(check_unchanged(input, error));
    }
    input->raw_ended = input->raw_left == 0;
    return TACIT_OK;
}

#ifdef TACIT_PARTY_ONLY
/* A device's rows are not compressed: it is spared two libraries. */
static tacit_status start_decoder(tacit_input *input, tacit_error *error) {
    TACIT_TRY(refill_raw(input, error));
    const uint8_t *at = input->raw_at;
    if (input->raw_left >= 6 && (memcmp(at,
                                        "\xFD"
                                        "7zXZ",
                                        6) == 0 ||
                                 memcmp(at, "\x1F\x8B", 2) == 0))
        return tacit_fail(error, TACIT_INPUT,
                          "%s: compressed files are not read by a library for parties only: unpack it first",
                          input->name);
    return TACIT_OK;
}
#else
static tacit_status start_decoder(tacit_input *input, tacit_error *error) {
    static const uint8_t xz_magic[] = { 0xFD, '7', 'z', 'X', 'Z', 0 };
    TACIT_TRY(refill_raw(input, error));
    if (input->raw_left >= sizeof xz_magic && memcmp(input->raw_at, xz_magic, sizeof xz_magic) == 0) {
        if (lzma_stream_decoder(&input->xz, xz_memory, LZMA_CONCATENATED) != LZMA_OK)
            return tacit_fail_memory(error);
        input->coding = CODING_XZ;
    } else if (input->raw_left >= 2 && input->raw_at[0] == 0x1F && input->raw_at[1] == 0x8B) {
        enum { GZIP_ONLY = 16 + MAX_WBITS };
        if (inflateInit2(&input->gzip, GZIP_ONLY) != Z_OK) return tacit_fail_memory(error);
        input->coding = CODING_GZIP;
    }
    return TACIT_OK;
}

static tacit_status damaged(const tacit_input *input, bool truncated, tacit_error *error) {
    const char *form = input->coding == CODING_GZIP ? "gzip" : "xz";
    if (truncated)
        return tacit_fail(error, TACIT_INPUT, "%s: the %s file is truncated; fetch it again", input->name,
                          form);
    return tacit_fail(error, TACIT_INPUT, "%s: the %s file is damaged; fetch it again", input->name, form);
}

/* Decode what is at hand into the rest of the chunk. Sets `ended` after the last member. */
static tacit_status decode_gzip(tacit_input *input, size_t *filled, tacit_error *error) {
    z_stream *gzip = &input->gzip;
    if (input->member_ended) { /* members may follow each other (RFC 1952, 2.2) */
        if (input->raw_left == 0) {
            input->ended = true;
            return TACIT_OK;
        }
        if (inflateReset(gzip) != Z_OK) return damaged(input, false, error);
        input->member_ended = false;
    }
    gzip->next_in = (uint8_t *)(uintptr_t)input->raw_at; /* zlib does not write there */
    size_t given = input->raw_left < RAW_BYTES ? input->raw_left : RAW_BYTES;
    gzip->avail_in = (uInt)given;
    gzip->next_out = input->chunk + *filled;
    gzip->avail_out = (uInt)(CHUNK_BYTES - *filled);
    int result = inflate(gzip, Z_NO_FLUSH);
    *filled = CHUNK_BYTES - gzip->avail_out;
    input->raw_at += given - gzip->avail_in;
    input->raw_left -= given - gzip->avail_in;
    if (result == Z_MEM_ERROR) return tacit_fail_memory(error);
    if (result == Z_STREAM_END)
        input->member_ended = true;
    else if (result == Z_BUF_ERROR && input->raw_ended)
        return damaged(input, true, error);
    else if (result != Z_OK && result != Z_BUF_ERROR)
        return damaged(input, false, error);
    return TACIT_OK;
}

static tacit_status decode_xz(tacit_input *input, size_t *filled, tacit_error *error) {
    lzma_stream *xz = &input->xz;
    xz->next_in = input->raw_at;
    xz->avail_in = input->raw_left;
    xz->next_out = input->chunk + *filled;
    xz->avail_out = CHUNK_BYTES - *filled;
    lzma_ret result = lzma_code(xz, input->raw_ended ? LZMA_FINISH : LZMA_RUN);
    *filled = CHUNK_BYTES - xz->avail_out;
    input->raw_at = xz->next_in;
    input->raw_left = xz->avail_in;
    switch (result) {
    case LZMA_OK: return TACIT_OK;
    case LZMA_STREAM_END: input->ended = true; return TACIT_OK;
    case LZMA_MEM_ERROR: return tacit_fail_memory(error);
    case LZMA_MEMLIMIT_ERROR:
        return tacit_fail(
            error, TACIT_LIMIT,
            "%s: the xz file needs more than 256 MiB to unpack; compress it with a smaller preset",
            input->name);
    case LZMA_BUF_ERROR: return damaged(input, true, error);
    default: return damaged(input, false, error);
    }
}
#endif

static tacit_status next_chunk(tacit_input *input, const uint8_t **bytes, size_t *length,
                               tacit_error *error) {
    if (input->coding == CODING_PLAIN) {
        TACIT_TRY(refill_raw(input, error));
        *bytes = input->raw_at;
        *length = input->raw_left;
        input->raw_left = 0;
        return TACIT_OK;
    }
    size_t filled = 0;
#ifndef TACIT_PARTY_ONLY
    while (filled < CHUNK_BYTES && !input->ended) {
        TACIT_TRY(refill_raw(input, error));
        if (input->coding == CODING_GZIP)
            TACIT_TRY(decode_gzip(input, &filled, error));
        else
            TACIT_TRY(decode_xz(input, &filled, error));
    }
#endif
    *bytes = input->chunk;
    *length = filled;
    return TACIT_OK;
}

tacit_status tacit_input_peek(tacit_input *input, const uint8_t **bytes, size_t *length, tacit_error *error) {
    if (!input->peeked) {
        TACIT_TRY(next_chunk(input, &input->chunk_at, &input->chunk_length, error));
        input->peeked = true;
    }
    *bytes = input->chunk_at;
    *length = input->chunk_length;
    return TACIT_OK;
}

tacit_status tacit_input_next(tacit_input *input, const uint8_t **bytes, size_t *length, tacit_error *error) {
    if (!input->peeked) return next_chunk(input, bytes, length, error);
    input->peeked = false;
    *bytes = input->chunk_at;
    *length = input->chunk_length;
    return TACIT_OK;
}

static void stop_decoder(tacit_input *input) {
#ifndef TACIT_PARTY_ONLY
    if (input->coding == CODING_GZIP) inflateEnd(&input->gzip);
    if (input->coding == CODING_XZ) lzma_end(&input->xz);
    input->gzip = (z_stream){ .next_in = NULL };
    input->xz = (lzma_stream)LZMA_STREAM_INIT;
#endif
    input->coding = CODING_PLAIN;
}

tacit_input *tacit_input_free(tacit_input *input) {
    if (input == NULL) return NULL;
    if (input->file >= 0) close(input->file);
    stop_decoder(input);
    free(input->name);
    free(input);
    return NULL;
}

tacit_status tacit_input_rewind(tacit_input *input, tacit_error *error) {
    if (input->file >= 0) {
        if (lseek(input->file, 0, SEEK_SET) != 0)
            return tacit_fail(error, TACIT_INPUT,
                              "%s cannot be read twice, which this needs: it is no plain file", input->name);
        TACIT_TRY(check_unchanged(input, error));
    }
    stop_decoder(input);
    input->memory_left = input->memory_length;
    input->raw_left = 0;
    input->raw_ended = input->ended = input->member_ended = input->peeked = false;
    return start_decoder(input, error);
}

static tacit_status create(tacit_input **out, const char *name, tacit_error *error) {
    tacit_input *input = TACIT_NEW(tacit_input, 1);
    if (input == NULL) return tacit_fail_memory(error);
    input->file = -1;
#ifndef TACIT_PARTY_ONLY
    input->xz = (lzma_stream)LZMA_STREAM_INIT;
#endif
    input->name = tacit_copy_text(name);
    if (input->name == NULL) {
        tacit_input_free(input);
        return tacit_fail_memory(error);
    }
    *out = input;
    return TACIT_OK;
}

static tacit_status start(tacit_input **out, tacit_input *input, tacit_error *error) {
    tacit_status status = start_decoder(input, error);
    if (status == TACIT_OK)
        *out = input;
    else
        tacit_input_free(input);
    return status;
}

tacit_status tacit_input_open(tacit_input **out, const char *path, tacit_error *error) {
    tacit_input *input = NULL;
    TACIT_TRY(create(&input, path, error));
    input->file = open(path, O_RDONLY | O_CLOEXEC);
    if (input->file < 0 || fstat(input->file, &input->found) != 0) {
        tacit_status status = tacit_fail_errno(error, "opening", path);
        tacit_input_free(input);
        return status;
    }
    return start(out, input, error);
}

tacit_status tacit_input_open_memory(tacit_input **out, const void *bytes, size_t length, const char *name,
                                     tacit_error *error) {
    tacit_input *input = NULL;
    TACIT_TRY(create(&input, name, error));
    input->memory = bytes;
    input->memory_left = input->memory_length = length;
    return start(out, input, error);
}
