#include "rand/entropy.h"

#include <errno.h>
#include <sodium.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include "rand/bits_parts.h"

enum { KEY_BYTES = crypto_stream_chacha20_KEYBYTES, RENEW_BYTES = 1 << 20 };

/* Lives in pages of its own, which the kernel gives a child as zeros (and keeps out of core files), so that
 * `keyed` is false there. Where the kernel cannot, the process number tells parent from child. */
struct tacit_entropy {
    bool keyed;
    pid_t owner;
    size_t since_renewal; /* bytes given out under bits of the system that are this old */
    uint8_t key[KEY_BYTES];
    tacit_bits bits;
};

/* Fast key erasure (Bernstein 2017): the first bytes of the key's own stream are the next key. */
static void fill(void *context, uint64_t *words, size_t count) {
    static const uint8_t nonce[crypto_stream_chacha20_NONCEBYTES];
    tacit_entropy *entropy = context;
    struct {
        uint8_t key[KEY_BYTES];
        uint64_t words[TACIT_BITS_WORDS];
    } made;
    while (count > 0) {
        size_t piece = count < TACIT_BITS_WORDS ? count : TACIT_BITS_WORDS;
        crypto_stream_chacha20((unsigned char *)&made, sizeof made, nonce, entropy->key);
        memcpy(entropy->key, made.key, KEY_BYTES);
        memcpy(words, made.words, piece * sizeof *words);
        entropy->since_renewal += piece * sizeof *words;
        words += piece;
        count -= piece;
    }
    sodium_memzero(&made, sizeof made);
}

static tacit_status system_bytes(uint8_t *out, size_t length, tacit_error *error) {
    while (length > 0) {
        ssize_t got = getrandom(out, length, 0);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return tacit_fail_errno(error, "asking the operating system for", "random bits");
        out += got;
        length -= (size_t)got;
    }
    return TACIT_OK;
}

/* A new key out of the system's bits and the key so far, and nothing left over from before. */
static tacit_status renew(tacit_entropy *entropy, tacit_error *error) {
    uint8_t fresh[KEY_BYTES];
    TACIT_TRY(system_bytes(fresh, sizeof fresh, error));
    crypto_generichash(entropy->key, KEY_BYTES, entropy->key, KEY_BYTES, fresh, sizeof fresh);
    sodium_memzero(fresh, sizeof fresh);
    tacit_bits_init(&entropy->bits, fill, entropy);
    entropy->owner = getpid();
    entropy->since_renewal = 0;
    entropy->keyed = true;
    return TACIT_OK;
}

tacit_status tacit_entropy_create(tacit_entropy **out, tacit_error *error) {
    tacit_entropy *entropy =
        mmap(NULL, sizeof *entropy, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (entropy == MAP_FAILED) return tacit_fail_memory(error);
    madvise(entropy, sizeof *entropy, MADV_WIPEONFORK); /* either may be unknown to the kernel: */
    madvise(entropy, sizeof *entropy, MADV_DONTDUMP);   /* the owner's number stands in for the first */
    tacit_status status = renew(entropy, error);
    if (status != TACIT_OK) {
        tacit_entropy_free(entropy);
        return status;
    }
    *out = entropy;
    return TACIT_OK;
}

tacit_entropy *tacit_entropy_free(tacit_entropy *entropy) {
    if (entropy == NULL) return NULL;
    sodium_memzero(entropy, sizeof *entropy);
    munmap(entropy, sizeof *entropy);
    return NULL;
}

tacit_status tacit_entropy_bits(tacit_bits **out, tacit_entropy *entropy, tacit_error *error) {
    if (entropy == NULL) return tacit_fail(error, TACIT_USAGE, "no source of random bits was given");
    if (!entropy->keyed || entropy->owner != getpid() || entropy->since_renewal >= RENEW_BYTES)
        TACIT_TRY(renew(entropy, error));
    entropy->bits.failed = false;
    *out = &entropy->bits;
    return TACIT_OK;
}

tacit_status tacit_entropy_bytes(void *out, size_t length, tacit_entropy *entropy, tacit_error *error) {
    tacit_bits *bits;
    TACIT_TRY(tacit_entropy_bits(&bits, entropy, error));
    for (uint8_t *at = out; length > 0;) {
        uint64_t word = tacit_bits_word(bits);
        size_t piece = length < sizeof word ? length : sizeof word;
        memcpy(at, &word, piece);
        at += piece;
        length -= piece;
    }
    return TACIT_OK;
}

tacit_status tacit_entropy_below(uint64_t *out, tacit_entropy *entropy, uint64_t bound, tacit_error *error) {
    if (bound == 0) return tacit_fail(error, TACIT_USAGE, "there is no number below 0");
    tacit_bits *bits;
    TACIT_TRY(tacit_entropy_bits(&bits, entropy, error));
    *out = tacit_bits_below(bits, bound);
    return TACIT_OK;
}
