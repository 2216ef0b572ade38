/* Invitations: what goes in comes out, and nothing else does. */
#include "check.h"

#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "net/invitation.h"
#include "rand/stream.h"

static tacit_invitation sample(void) {
    tacit_invitation made = { .url = "https://coordinator.example:8443",
                              .study = "heart-2024",
                              .expires = 1800000000 };
    for (size_t i = 0; i < TACIT_TOKEN_BYTES; i++) made.token[i] = (uint8_t)(i * 7);
    made.authority_length = 400;
    for (size_t i = 0; i < made.authority_length; i++) made.authority[i] = (uint8_t)(i * 31);
    return made;
}

static tacit_buffer encode(const tacit_invitation *invitation) {
    tacit_buffer text = TACIT_BUFFER_INIT;
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_invitation_encode(&text, invitation, &error), error);
    return text;
}

static void expect_refused(const char *text, size_t length, const char *words) {
    tacit_invitation out = { .url = "untouched" };
    tacit_error error = TACIT_ERROR_INIT;
    assert_int_equal(tacit_invitation_parse(&out, text, length, &error), TACIT_INPUT);
    assert_string_equal(out.url, "untouched");
    if (words != NULL && strstr(error.text, words) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", error.text, words);
}

static void random_invitation(tacit_invitation *made, tacit_stream *stream) {
    *made = (tacit_invitation){ .url = "https://" };
    size_t url = 1 + (size_t)tacit_stream_below(stream, TACIT_INVITATION_URL_MAX - 8);
    for (size_t i = 0; i < url; i++) made->url[8 + i] = (char)(0x21 + tacit_stream_below(stream, 0x5e));
    size_t study = 1 + (size_t)tacit_stream_below(stream, TACIT_INVITATION_STUDY_MAX);
    for (size_t i = 0; i < study; i++) made->study[i] = (char)(0x20 + tacit_stream_below(stream, 0x5f));
    tacit_stream_bytes(stream, made->token, sizeof made->token);
    made->expires = (int64_t)(tacit_stream_u64(stream) >> 1);
    made->authority_length = 1 + (size_t)tacit_stream_below(stream, TACIT_INVITATION_AUTHORITY_MAX);
    tacit_stream_bytes(stream, made->authority, made->authority_length);
    if (tacit_stream_below(stream, 2) == 0)
        strcpy(made->called, "Sankt Anna Kinderspital, Wien IX, \xc3\x96sterreich");
}

static void what_goes_in_comes_out_however_it_is_pasted(void **state) {
    (void)state;
    uint64_t seed = (uint64_t)time(NULL);
    print_message("# seed %llu\n", (unsigned long long)seed);
    tacit_stream stream = tacit_stream_from_seed(seed);
    for (int round = 0; round < 500; round++) {
        tacit_invitation made, parsed;
        random_invitation(&made, &stream);
        tacit_buffer text = encode(&made);
        assert_null(strpbrk(tacit_buffer_text(&text), " \n\r\t=+/"));
        /* A mail program breaks lines anywhere. */
        tacit_buffer pasted = TACIT_BUFFER_INIT;
        assert_int_equal(tacit_buffer_append(&pasted, "\n  ", 3, NULL), TACIT_OK);
        for (size_t i = 0; i < text.length; i++) {
            assert_int_equal(tacit_buffer_append(&pasted, text.bytes + i, 1, NULL), TACIT_OK);
            if (tacit_stream_below(&stream, 70) == 0)
                assert_int_equal(tacit_buffer_append(&pasted, "\r\n\t ", 4, NULL), TACIT_OK);
        }
        tacit_error error = TACIT_ERROR_INIT;
        CHECK_OK(tacit_invitation_parse(&parsed, tacit_buffer_text(&pasted), pasted.length, &error), error);
        assert_memory_equal(&parsed, &made, sizeof made);
        tacit_buffer_clear(&text);
        tacit_buffer_clear(&pasted);
    }
}

static void every_truncation_is_refused(void **state) {
    (void)state;
    tacit_invitation made = sample();
    tacit_buffer text = encode(&made);
    for (size_t length = 0; length < text.length; length++)
        expect_refused(tacit_buffer_text(&text), length, length < 7 ? "not an invitation" : "damaged");
    tacit_buffer_clear(&text);
}

static void every_flipped_bit_and_swapped_character_is_refused(void **state) {
    (void)state;
    tacit_invitation made = sample();
    tacit_buffer text = encode(&made);
    for (size_t bit = 0; bit < 8 * text.length; bit++) {
        text.bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        expect_refused(tacit_buffer_text(&text), text.length, NULL);
        text.bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    for (size_t i = 7; i + 1 < text.length; i++) {
        uint8_t first = text.bytes[i], second = text.bytes[i + 1];
        if (first == second) continue;
        text.bytes[i] = second;
        text.bytes[i + 1] = first;
        expect_refused(tacit_buffer_text(&text), text.length, "damaged");
        text.bytes[i] = first;
        text.bytes[i + 1] = second;
    }
    assert_int_equal(tacit_buffer_append(&text, "A", 1, NULL), TACIT_OK);
    expect_refused(tacit_buffer_text(&text), text.length, "damaged");
    tacit_buffer_clear(&text);
}

static void other_texts_are_told_apart(void **state) {
    (void)state;
    const char *foreign[] = {
        "", "hello", "tacit", "tacit-", "tacit1", "tacit01-AAAA", "https://coordinator.example", "Tacit1-AAAA"
    };
    for (size_t i = 0; i < sizeof foreign / sizeof foreign[0]; i++)
        expect_refused(foreign[i], strlen(foreign[i]), "not an invitation");
    expect_refused("tacit2-AAAA", 11, "newer version");
    expect_refused("tacit10-AAAA", 12, "newer version");
    expect_refused("tacit1-", 7, "damaged");
    expect_refused("tacit1-!!!!", 11, "damaged");
    char *huge = malloc(TACIT_INVITATION_TEXT_MAX + 1);
    memset(huge, 'A', TACIT_INVITATION_TEXT_MAX + 1);
    memcpy(huge, "tacit1-", 7);
    expect_refused(huge, TACIT_INVITATION_TEXT_MAX + 1, "not an invitation");
    expect_refused(huge, TACIT_INVITATION_TEXT_MAX, "damaged");
    free(huge);
}

static void unusable_members_are_refused_before_encoding(void **state) {
    (void)state;
    tacit_buffer text = TACIT_BUFFER_INIT;
    tacit_invitation made = sample();
    strcpy(made.url, "http://coordinator.example");
    assert_int_equal(tacit_invitation_encode(&text, &made, NULL), TACIT_USAGE);
    strcpy(made.url, "https://two words");
    assert_int_equal(tacit_invitation_encode(&text, &made, NULL), TACIT_USAGE);
    made = sample();
    memset(made.url + 8, 'u', sizeof made.url - 8); /* not even terminated */
    assert_int_equal(tacit_invitation_encode(&text, &made, NULL), TACIT_USAGE);
    made = sample();
    strcpy(made.study, "");
    assert_int_equal(tacit_invitation_encode(&text, &made, NULL), TACIT_USAGE);
    strcpy(made.study, "two\nlines");
    assert_int_equal(tacit_invitation_encode(&text, &made, NULL), TACIT_USAGE);
    made = sample();
    made.authority_length = 0;
    assert_int_equal(tacit_invitation_encode(&text, &made, NULL), TACIT_USAGE);
    made.authority_length = TACIT_INVITATION_AUTHORITY_MAX + 1;
    assert_int_equal(tacit_invitation_encode(&text, &made, NULL), TACIT_USAGE);
    made = sample();
    made.expires = -1;
    assert_int_equal(tacit_invitation_encode(&text, &made, NULL), TACIT_USAGE);
    assert_int_equal(text.length, 0);
}

static void random_texts_do_no_harm(void **state) {
    (void)state;
    tacit_invitation made = sample();
    tacit_buffer text = encode(&made);
    tacit_stream stream = tacit_stream_from_seed(7);
    static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    for (int round = 0; round < 20000; round++) {
        char bytes[4096];
        size_t length = text.length;
        memcpy(bytes, text.bytes, length);
        if (round % 3 == 0) length = (size_t)tacit_stream_below(&stream, sizeof bytes);
        size_t from = round % 3 == 0 ? 7 : length;
        for (size_t i = from; i < length; i++) bytes[i] = alphabet[tacit_stream_below(&stream, 64)];
        for (uint64_t edits = 1 + tacit_stream_below(&stream, 4); edits > 0 && length > 0; edits--) {
            /* Always another character than before, and never one that is skipped. */
            char *at = &bytes[tacit_stream_below(&stream, length)];
            *at = (char)(*at == '!' ? '?' : round % 2 == 0 ? '!' : alphabet[tacit_stream_below(&stream, 64)]);
        }
        if (length == text.length && memcmp(bytes, text.bytes, length) == 0) continue;
        expect_refused(bytes, length, NULL);
    }
    tacit_buffer_clear(&text);
}

/* A line with a right checksum over whatever record. */
static tacit_buffer forge(const uint8_t *record, size_t length) {
    static const uint8_t key[] = "tacit invitation checksum";
    uint8_t bytes[8192], digest[32];
    tacit_buffer text = TACIT_BUFFER_INIT;
    char digits[12000];
    memcpy(bytes, record, length);
    crypto_generichash(digest, sizeof digest, record, length, key, sizeof key - 1);
    memcpy(bytes + length, digest, 4);
    assert_non_null(sodium_bin2base64(digits, sizeof digits, bytes, length + 4,
                                      sodium_base64_VARIANT_URLSAFE_NO_PADDING));
    assert_int_equal(tacit_buffer_print(&text, NULL, "tacit1-%s", digits), TACIT_OK);
    return text;
}

/* The checksum is no secret: what stands behind it is hostile, too. */
static void a_forged_record_with_a_right_checksum_does_no_harm(void **state) {
    (void)state;
    tacit_invitation made = sample(), out;
    tacit_buffer text = encode(&made);
    uint8_t record[4096];
    size_t length;
    assert_int_equal(sodium_base642bin(record, sizeof record, tacit_buffer_text(&text) + 7, text.length - 7,
                                       NULL, &length, NULL, sodium_base64_VARIANT_URLSAFE_NO_PADDING),
                     0);
    tacit_buffer_clear(&text);
    length -= 4;
    text = forge(record, length);
    assert_int_equal(tacit_invitation_parse(&out, tacit_buffer_text(&text), text.length, NULL), TACIT_OK);
    tacit_buffer_clear(&text);
    for (size_t cut = 0; cut < length; cut++) {
        text = forge(record, cut);
        expect_refused(tacit_buffer_text(&text), text.length, NULL);
        tacit_buffer_clear(&text);
    }
    record[0] = 3;
    text = forge(record, length);
    expect_refused(tacit_buffer_text(&text), text.length, "newer version");
    tacit_buffer_clear(&text);
    record[0] = 2; /* without the name that it then has */
    text = forge(record, length);
    expect_refused(tacit_buffer_text(&text), text.length, "do not follow the format");
    tacit_buffer_clear(&text);
    record[0] = 1;
    tacit_stream stream = tacit_stream_from_seed(11);
    for (int round = 0; round < 5000; round++) {
        uint8_t changed[4096];
        memcpy(changed, record, length);
        /* Mostly the lengths and their surroundings. */
        for (int edits = 0; edits < 3; edits++)
            changed[tacit_stream_below(&stream, round % 2 == 0 ? length : 60)] =
                (uint8_t)tacit_stream_below(&stream, 256);
        text = forge(changed, length);
        (void)tacit_invitation_parse(&out, tacit_buffer_text(&text), text.length, NULL);
        tacit_buffer_clear(&text);
    }
}

/* What is forged behind the checksum is shown to an owner: it must not steer a terminal or look like another
 * name. */
static void a_hostile_name_in_an_invitation_is_refused(void **state) {
    (void)state;
    static const char *const hostile[] = { "",
                                           " leads",
                                           "ends ",
                                           "two  spaces",
                                           "two\nlines",
                                           "esc\x1b[2J",
                                           "not \xff utf-8",
                                           "cut \xc3",
                                           "right to left \xe2\x80\xae",
                                           "zero\xe2\x80\x8bwidth",
                                           "no\302\240break",
                                           "party-5f0c1d2e3a4b",
                                           "Center-A" };
    tacit_invitation made = sample();
    tacit_buffer text = encode(&made);
    uint8_t record[4096];
    size_t length;
    assert_int_equal(sodium_base642bin(record, sizeof record, tacit_buffer_text(&text) + 7, text.length - 7,
                                       NULL, &length, NULL, sodium_base64_VARIANT_URLSAFE_NO_PADDING),
                     0);
    tacit_buffer_clear(&text);
    record[0] = 2;
    length -= 4;
    for (size_t i = 0; i < sizeof hostile / sizeof hostile[0]; i++) {
        const size_t bytes = strlen(hostile[i]);
        record[length] = (uint8_t)bytes; /* little-endian, as tacit_buffer_append_u32 */
        memset(record + length + 1, 0, 3);
        memcpy(record + length + 4, hostile[i], bytes);
        text = forge(record, length + 4 + bytes);
        expect_refused(tacit_buffer_text(&text), text.length, "do not follow the format");
        tacit_buffer_clear(&text);
        if (bytes == 0) continue; /* to a maker: no name */
        strcpy(made.called, hostile[i]);
        assert_int_equal(tacit_invitation_encode(&text, &made, NULL), TACIT_USAGE);
    }
    memset(made.called, 'x', sizeof made.called - 1);
    made.called[sizeof made.called - 1] = 0;
    text = encode(&made);
    tacit_buffer_clear(&text);
    memset(made.called, 'x', sizeof made.called); /* not even terminated */
    assert_int_equal(tacit_invitation_encode(&text, &made, NULL), TACIT_USAGE);
}

static void a_token_is_fresh_and_its_hash_is_fixed(void **state) {
    (void)state;
    uint8_t first[TACIT_TOKEN_BYTES], second[TACIT_TOKEN_BYTES], hash[TACIT_TOKEN_HASH_BYTES],
        again[TACIT_TOKEN_HASH_BYTES];
    tacit_token_create(first);
    tacit_token_create(second);
    assert_memory_not_equal(first, second, sizeof first);
    tacit_token_hash(hash, first);
    tacit_token_hash(again, first);
    assert_memory_equal(hash, again, sizeof hash);
    assert_memory_not_equal(hash, first, sizeof hash);
    tacit_token_hash(again, second);
    assert_memory_not_equal(hash, again, sizeof hash);
    first[TACIT_TOKEN_BYTES - 1] ^= 1; /* every byte of it counts */
    tacit_token_hash(again, first);
    assert_memory_not_equal(hash, again, sizeof hash);
    tacit_invitation made = sample();
    tacit_invitation_wipe(&made);
    assert_int_equal(made.token[1], 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_goes_in_comes_out_however_it_is_pasted),
        cmocka_unit_test(every_truncation_is_refused),
        cmocka_unit_test(every_flipped_bit_and_swapped_character_is_refused),
        cmocka_unit_test(other_texts_are_told_apart),
        cmocka_unit_test(unusable_members_are_refused_before_encoding),
        cmocka_unit_test(random_texts_do_no_harm),
        cmocka_unit_test(a_forged_record_with_a_right_checksum_does_no_harm),
        cmocka_unit_test(a_hostile_name_in_an_invitation_is_refused),
        cmocka_unit_test(a_token_is_fresh_and_its_hash_is_fixed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
