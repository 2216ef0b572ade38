/* Envelopes that somebody carried, between a coordinator and two sites. The first byte says how:
 *
 *   r        the bytes are the file
 *   c, C     the file of an honest answer, or of an honest question, is changed as they say
 *   m, M     its record is changed so, and gets a checksum that fits
 *   x, X     a byte of which each bit makes one thing of an honest answer, or question, another than is expected (study, version, roster, round, site,
 *            receiver, kind, and whether it was taken before), and changes of its record: replayed, swapped and addressed to somebody else
 *
 * Whatever is then taken must be the one that is expected, in every field and letter, and for the first time. */
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "net/envelope.h"
#include "outside.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

enum { STUDY, VERSION, ROSTER, ROUND, PARTY, RECEIVER, KIND, AGAIN, BITS };
enum { POLL = 3, ANSWER = 4 };

static const uint8_t coordinator_seed[crypto_sign_SEEDBYTES] = { 9 };
static uint8_t coordinator_secret[32], coordinator_key[32];

/* A site, and what opens envelopes for it. */
typedef struct site {
    uint8_t key[crypto_sign_PUBLICKEYBYTES], secret[crypto_sign_SECRETKEYBYTES];
    uint8_t box_key[32], box_secret[32];
} site;

static site sites[2];

static void make_keys(void) {
    static bool made = false;
    if (made) return;
    crypto_generichash(coordinator_secret, sizeof coordinator_secret, coordinator_seed,
                       sizeof coordinator_seed, NULL, 0);
    crypto_scalarmult_base(coordinator_key, coordinator_secret);
    for (size_t i = 0; i < 2; i++) {
        const uint8_t seed[crypto_sign_SEEDBYTES] = { (uint8_t)(i + 1) };
        crypto_sign_seed_keypair(sites[i].key, sites[i].secret, seed);
        tacit_envelope_box_secret(sites[i].box_secret, sites[i].secret);
        outside_must(tacit_envelope_box_key(sites[i].box_key, sites[i].key, NULL));
    }
    made = true;
}

/* What an honest envelope says outside, `other` having a bit for what is not as expected. */
static tacit_envelope_address address_of(bool question, unsigned other) {
    const tacit_envelope_kind kinds[2][2] = { { TACIT_ENVELOPE_ANSWER, TACIT_ENVELOPE_JOIN },
                                              { TACIT_ENVELOPE_QUESTION, TACIT_ENVELOPE_INVITATION } };
    tacit_envelope_address address = { .kind = kinds[question][other >> KIND & 1], .step = 1 };
    const site *one = &sites[other >> PARTY & 1], *wrong = &sites[!(other >> PARTY & 1)];
    strcpy(address.study, other >> STUDY & 1 ? "trials" : "trial");
    memset(address.version, other >> VERSION & 1 ? 4 : 3, sizeof address.version);
    memset(address.roster, other >> ROSTER & 1 ? 6 : 5, sizeof address.roster);
    address.round = other >> ROUND & 1 ? 0 : 1;
    memcpy(address.party, one->key, sizeof address.party);
    const uint8_t *receiver = question ? one->box_key : coordinator_key;
    if (other >> RECEIVER & 1) receiver = wrong->box_key;
    memcpy(address.receiver, receiver, sizeof address.receiver);
    return address;
}

static void write_honest(tacit_buffer *text, bool question, unsigned other) {
    tacit_envelope made = { .address = address_of(question, other) };
    const site *one = &sites[other >> PARTY & 1];
    const tacit_envelope_sender sender = { .authority = question ? outside_authority() : NULL,
                                           .secret_key = question ? NULL : one->secret,
                                           .seed = question ? coordinator_secret : one->box_secret };
    outside_must(tacit_envelope_put(&made, POLL, "poll", 4, NULL));
    outside_must(tacit_envelope_put(&made, ANSWER, "answer", 6, NULL));
    outside_must(tacit_envelope_write(&made, &sender, text, NULL));
    tacit_envelope_clear(&made);
}

/* Made once: of each direction, and of each choice of bits. */
static const tacit_buffer *honest(bool question, unsigned other) {
    static tacit_buffer all[2][1 << AGAIN];
    tacit_buffer *one = &all[question][other & ((1U << AGAIN) - 1)];
    if (one->length == 0) write_honest(one, question, other);
    return one;
}

static void unpack(const tacit_buffer *text, tacit_buffer *record) {
    const char *begin = strchr(tacit_buffer_text(text), '\n') + 1, *end = strstr(begin, "-----END");
    size_t read = 0;
    uint8_t *at;
    outside_must(tacit_buffer_reserve(record, (size_t)(end - begin), &at, NULL));
    if (sodium_base642bin(at, (size_t)(end - begin), begin, (size_t)(end - begin), "\n", &read, NULL,
                          sodium_base64_VARIANT_ORIGINAL) != 0)
        abort();
    record->length = read;
}

static void armour(tacit_buffer *out, tacit_buffer *changed) {
    static const char label[] = "tacit envelope checksum";
    uint8_t sum[32];
    if (changed->length < 8) return;
    crypto_generichash(sum, sizeof sum, changed->bytes, changed->length - 8, (const uint8_t *)label,
                       strlen(label));
    memcpy(changed->bytes + changed->length - 8, sum, 8);
    const size_t size = sodium_base64_encoded_len(changed->length, sodium_base64_VARIANT_ORIGINAL);
    char *encoded = malloc(size);
    if (encoded == NULL) abort();
    sodium_bin2base64(encoded, size, changed->bytes, changed->length, sodium_base64_VARIANT_ORIGINAL);
    outside_must(tacit_buffer_print(
        out, NULL, "-----BEGIN TACIT ENVELOPE-----\n%s\n-----END TACIT ENVELOPE-----\n", encoded));
    free(encoded);
}

static bool holds(const tacit_envelope *read, uint32_t errand, const char *text) {
    const tacit_buffer *found = tacit_envelope_find(read, errand);
    return found != NULL && found->length == strlen(text) && memcmp(found->bytes, text, found->length) == 0;
}

static bool is_expected(const tacit_envelope *read, bool question) {
    const tacit_envelope_address wanted = address_of(question, 0), *got = &read->address;
    return got->kind == wanted.kind && strcmp(got->study, wanted.study) == 0 && got->round == wanted.round &&
           got->step == wanted.step && memcmp(got->version, wanted.version, sizeof wanted.version) == 0 &&
           memcmp(got->roster, wanted.roster, sizeof wanted.roster) == 0 &&
           memcmp(got->party, wanted.party, sizeof wanted.party) == 0 &&
           memcmp(got->receiver, wanted.receiver, sizeof wanted.receiver) == 0 && read->count == 2 &&
           holds(read, POLL, "poll") && holds(read, ANSWER, "answer");
}

/* As a coordinator, or a site, reads it; `taken` is what it keeps of those that it has taken in this round. */
static bool take(const tacit_buffer *text, bool question, bool *taken) {
    const tacit_envelope_address wanted = address_of(question, 0);
    const tacit_envelope_expected expected = { .kind = wanted.kind,
                                               .study = wanted.study,
                                               .version = wanted.version,
                                               .roster = wanted.roster,
                                               .party = wanted.party,
                                               .round = &wanted.round };
    const uint8_t *key = question ? sites[0].box_key : coordinator_key;
    const uint8_t *secret = question ? sites[0].box_secret : coordinator_secret;
    const char *pem = tacit_authority_pem(outside_authority());
    tacit_envelope read = TACIT_ENVELOPE_INIT;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_status status = tacit_envelope_read(&read, tacit_buffer_text(text), text->length, &error);
    outside_explained(status, &error);
    if (status != TACIT_OK) return false;
    status = question ? tacit_envelope_check_authority(&read, pem, strlen(pem), &error)
                      : tacit_envelope_check_party(&read, &error);
    outside_explained(status, &error);
    if (status == TACIT_OK) status = tacit_envelope_expect(&read, &expected, &error);
    outside_explained(status, &error);
    if (status == TACIT_OK) status = tacit_envelope_open(&read, key, secret, &error);
    outside_explained(status, &error);
    const bool accepted = status == TACIT_OK && !*taken;
    if (accepted && !is_expected(&read, question)) abort();
    *taken = *taken || accepted;
    tacit_envelope_clear(&read);
    return accepted;
}

static void play(const tacit_buffer *text, bool question, bool before, unsigned other, bool changed) {
    bool taken = false;
    if (before && !take(honest(question, 0), question, &taken)) abort(); /* the honest one came first */
    const bool accepted = take(text, question, &taken);
    if (accepted && (before || other != 0)) abort();
    if (!accepted && !changed && !before && other == 0) abort();
    if (accepted && take(text, question, &taken)) abort(); /* it comes again */
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    tacit_buffer text = TACIT_BUFFER_INIT, changed = TACIT_BUFFER_INIT;
    make_keys();
    if (length == 0) return 0;
    const uint8_t way = bytes[0];
    const bool question = way == 'C' || way == 'M' || way == 'X', swapped = way == 'x' || way == 'X';
    const unsigned said = swapped && length > 1 ? bytes[1] : 0, other = said & ((1U << AGAIN) - 1);
    const size_t head = swapped ? 2 : 1, left = length > head ? length - head : 0;
    const uint8_t *rest = left > 0 ? bytes + head : NULL;
    if (way == 'c' || way == 'C') {
        const tacit_buffer *file = honest(question, 0);
        outside_must(tacit_buffer_append(&text, file->bytes, file->length, NULL));
        if (left > 0) outside_change(&text, rest, left);
    } else if (way == 'm' || way == 'M' || swapped) {
        unpack(honest(question, other), &changed);
        if (left > 0) outside_change(&changed, rest, left);
        armour(&text, &changed);
    } else if (left > 0) {
        outside_must(tacit_buffer_append(&text, rest, left, NULL));
    }
    const bool raw = !swapped && way != 'c' && way != 'C' && way != 'm' && way != 'M';
    play(&text, question, swapped && (said >> AGAIN & 1) != 0, other, raw || left > 0);
    tacit_buffer_clear(&text);
    tacit_buffer_clear(&changed);
    return 0;
}
