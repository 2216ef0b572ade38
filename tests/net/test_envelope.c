/* Envelopes: what goes in comes out at the receiver, and every other one is refused in a sentence that says why. */
#include "check.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "net/envelope.h"

typedef struct site {
    uint8_t key[crypto_sign_PUBLICKEYBYTES], secret[crypto_sign_SECRETKEYBYTES], box[32], box_secret[32];
} site;

static const uint8_t coordinator_secret[32] = { 9, 9 };
static uint8_t coordinator_key[32];

static site site_of(uint8_t number) {
    site made;
    uint8_t seed[crypto_sign_SEEDBYTES] = { number };
    tacit_error error = TACIT_ERROR_INIT;
    crypto_sign_seed_keypair(made.key, made.secret, seed);
    CHECK_OK(tacit_envelope_box_key(made.box, made.key, &error), error);
    tacit_envelope_box_secret(made.box_secret, made.secret);
    crypto_scalarmult_base(coordinator_key, coordinator_secret);
    return made;
}

/* An answer of a site to the coordinator. */
static tacit_envelope answer_of(const site *who, const char *said) {
    tacit_envelope made = { .address = { .kind = TACIT_ENVELOPE_ANSWER, .study = "trial", .round = 2 } };
    tacit_error error = TACIT_ERROR_INIT;
    memset(made.address.version, 5, sizeof made.address.version);
    memset(made.address.roster, 6, sizeof made.address.roster);
    memcpy(made.address.party, who->key, sizeof made.address.party);
    memcpy(made.address.receiver, coordinator_key, sizeof made.address.receiver);
    CHECK_OK(tacit_envelope_put(&made, 3, said, strlen(said), &error), error);
    CHECK_OK(tacit_envelope_put(&made, 4, "", 0, &error), error);
    return made;
}

static tacit_buffer written(const tacit_envelope *envelope, const site *who) {
    tacit_buffer text = TACIT_BUFFER_INIT;
    tacit_error error = TACIT_ERROR_INIT;
    const tacit_envelope_sender sender = { .secret_key = who->secret, .seed = who->box_secret };
    CHECK_OK(tacit_envelope_write(envelope, &sender, &text, &error), error);
    return text;
}

static tacit_buffer answered(const site *who, const char *said) {
    tacit_envelope made = answer_of(who, said);
    tacit_buffer text = written(&made, who);
    tacit_envelope_clear(&made);
    return text;
}

/* Read, check, open. */
static tacit_status taken(const tacit_buffer *text, tacit_envelope *out, tacit_error *error) {
    TACIT_TRY(tacit_envelope_read(out, tacit_buffer_text(text), text->length, error));
    tacit_status status = tacit_envelope_check_party(out, error);
    if (status == TACIT_OK) status = tacit_envelope_open(out, coordinator_key, coordinator_secret, error);
    if (status != TACIT_OK) tacit_envelope_clear(out);
    return status;
}

static void test_what_goes_in_comes_out_and_writing_again_gives_the_same_bytes(void **state) {
    (void)state;
    site who = site_of(1);
    tacit_buffer text = answered(&who, "the sum"), again = answered(&who, "the sum");
    tacit_envelope read = TACIT_ENVELOPE_INIT;
    tacit_error error = TACIT_ERROR_INIT;
    assert_string_equal(tacit_buffer_text(&text), tacit_buffer_text(&again));
    assert_null(strstr(tacit_buffer_text(&text), "the sum"));
    CHECK_OK(taken(&text, &read, &error), error);
    assert_string_equal(read.address.study, "trial");
    assert_int_equal(read.address.round, 2);
    assert_string_equal(tacit_buffer_text(tacit_envelope_find(&read, 3)), "the sum");
    assert_int_equal(tacit_envelope_find(&read, 4)->length, 0);
    assert_null(tacit_envelope_find(&read, 5));
    tacit_envelope_clear(&read);
    tacit_buffer_clear(&text);
    tacit_buffer_clear(&again);
}

static void test_mail_does_not_hurt_it(void **state) {
    (void)state;
    site who = site_of(1);
    tacit_buffer text = answered(&who, "the sum"), mailed = TACIT_BUFFER_INIT;
    tacit_envelope read = TACIT_ENVELOPE_INIT;
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_buffer_print(&mailed, &error, "Dear colleague,\r\n\r\n"), error);
    for (size_t i = 0; i < text.length; i++) {
        if (text.bytes[i] == '\n') CHECK_OK(tacit_buffer_print(&mailed, &error, " \r"), error);
        CHECK_OK(tacit_buffer_append(&mailed, &text.bytes[i], 1, &error), error);
    }
    CHECK_OK(tacit_buffer_print(&mailed, &error, "-- \nSt. Anna\n"), error);
    CHECK_OK(taken(&mailed, &read, &error), error);
    tacit_envelope_clear(&read);
    tacit_buffer_clear(&text);
    tacit_buffer_clear(&mailed);
}

static void expect(const tacit_buffer *text, const char *words) {
    tacit_envelope read = TACIT_ENVELOPE_INIT;
    tacit_error error = TACIT_ERROR_INIT;
    assert_int_not_equal(taken(text, &read, &error), TACIT_OK);
    if (strstr(error.text, words) == NULL) fail_msg("\"%s\" does not say \"%s\"", error.text, words);
}

static void test_an_edited_one_is_refused_wherever_it_was_edited(void **state) {
    (void)state;
    site who = site_of(1);
    tacit_buffer text = answered(&who, "the sum");
    const char *end = strstr(tacit_buffer_text(&text), "-----END");
    for (size_t i = strlen("-----BEGIN TACIT ENVELOPE-----\n"); i < (size_t)(end - (char *)text.bytes); i++) {
        const uint8_t before = text.bytes[i];
        if (before == '\n') continue;
        text.bytes[i] = before == 'A' ? 'B' : 'A';
        expect(&text, "damaged");
        text.bytes[i] = before;
    }
    tacit_buffer_clear(&text);
}

static void test_a_truncated_one_is_refused_and_says_so(void **state) {
    (void)state;
    site who = site_of(1);
    tacit_buffer text = answered(&who, "the sum");
    for (size_t length = strlen("-----BEGIN TACIT ENVELOPE-----"); length < text.length - 29; length += 7) {
        tacit_buffer cut = { .bytes = text.bytes, .length = length };
        tacit_envelope read = TACIT_ENVELOPE_INIT;
        tacit_error error = TACIT_ERROR_INIT;
        assert_int_equal(tacit_envelope_read(&read, (const char *)cut.bytes, cut.length, &error),
                         TACIT_INPUT);
        assert_non_null(strstr(error.text, "cut"));
    }
    tacit_buffer_clear(&text);
}

/* Take an envelope apart, change its record, and put it together again with a checksum that fits. */
static tacit_buffer forged(const tacit_buffer *text, size_t at, uint8_t with) {
    static const char label[] = "tacit envelope checksum";
    const char *begin = strchr(tacit_buffer_text(text), '\n') + 1, *end = strstr(begin, "-----END");
    uint8_t record[8192], sum[32];
    size_t length = 0;
    char encoded[16384];
    tacit_buffer out = TACIT_BUFFER_INIT;
    tacit_error error = TACIT_ERROR_INIT;
    assert_int_equal(sodium_base642bin(record, sizeof record, begin, (size_t)(end - begin), "\n", &length,
                                       NULL, sodium_base64_VARIANT_ORIGINAL),
                     0);
    record[at] ^= with;
    crypto_generichash(sum, sizeof sum, record, length - 8, (const uint8_t *)label, strlen(label));
    memcpy(record + length - 8, sum, 8);
    sodium_bin2base64(encoded, sizeof encoded, record, length, sodium_base64_VARIANT_ORIGINAL);
    CHECK_OK(tacit_buffer_print(
                 &out, &error, "-----BEGIN TACIT ENVELOPE-----\n%s\n-----END TACIT ENVELOPE-----\n", encoded),
             error);
    return out;
}

static void test_one_that_was_edited_with_care_is_refused_by_its_signature(void **state) {
    (void)state;
    site who = site_of(1);
    tacit_buffer text = answered(&who, "the sum");
    const size_t places[] = {
        7, 11, 12, 50, 78, 86, 90, 125, 200, 300
    }; /* study, version, roster, round, ... */
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        tacit_buffer changed = forged(&text, places[i], 1);
        tacit_envelope read = TACIT_ENVELOPE_INIT;
        tacit_error error = TACIT_ERROR_INIT;
        assert_int_not_equal(taken(&changed, &read, &error), TACIT_OK);
        assert_true(strstr(error.text, "changed since") != NULL || strstr(error.text, "damaged") != NULL);
        tacit_buffer_clear(&changed);
    }
    tacit_buffer changed = forged(&text, 0, 3);
    expect(&changed, "format 2");
    tacit_buffer_clear(&changed);
    tacit_buffer_clear(&text);
}

static void test_a_swapped_box_is_refused_although_it_is_signed(void **state) {
    (void)state;
    site who = site_of(1), thief = site_of(2);
    tacit_buffer text = answered(&who, "the sum"), own = answered(&thief, "nothing");
    tacit_envelope stolen = TACIT_ENVELOPE_INIT, read = TACIT_ENVELOPE_INIT;
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_envelope_read(&stolen, tacit_buffer_text(&text), text.length, &error), error);
    CHECK_OK(tacit_envelope_read(&read, tacit_buffer_text(&own), own.length, &error), error);
    tacit_buffer box = read.sealed; /* the thief's signature is his own to give, over any box */
    read.sealed = stolen.sealed;
    assert_int_equal(tacit_envelope_open(&read, coordinator_key, coordinator_secret, &error), TACIT_REFUSED);
    assert_non_null(strstr(error.text, "swapped"));
    read.sealed = box;
    tacit_envelope_clear(&read);
    tacit_envelope_clear(&stolen);
    tacit_buffer_clear(&text);
    tacit_buffer_clear(&own);
}

static void test_a_re_addressed_one_is_refused(void **state) {
    (void)state;
    site who = site_of(1), other = site_of(2);
    tacit_buffer text = answered(&who, "the sum");
    tacit_envelope read = TACIT_ENVELOPE_INIT;
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_envelope_read(&read, tacit_buffer_text(&text), text.length, &error), error);
    assert_int_equal(tacit_envelope_open(&read, other.box, other.box_secret, &error), TACIT_REFUSED);
    assert_non_null(strstr(error.text, "addressed to somebody else"));
    memcpy(read.address.receiver, other.box, sizeof other.box);
    error = (tacit_error)TACIT_ERROR_INIT;
    assert_int_equal(tacit_envelope_open(&read, other.box, other.box_secret, &error), TACIT_REFUSED);
    assert_non_null(strstr(error.text, "sealed for somebody else"));
    tacit_envelope_clear(&read);
    tacit_buffer_clear(&text);
}

static void test_study_version_roster_round_and_party_are_told_apart(void **state) {
    (void)state;
    site who = site_of(1);
    tacit_envelope made = answer_of(&who, "x");
    uint8_t version[32], roster[32], zeros[32] = { 0 };
    const uint64_t round = 2, next = 3;
    memset(version, 5, sizeof version);
    memset(roster, 6, sizeof roster);
    const tacit_envelope_expected right = {
        TACIT_ENVELOPE_ANSWER, "trial", version, roster, who.key, &round
    };
    struct {
        tacit_envelope_expected expected;
        const char *words;
    } wrong[] = { { right, "a question belongs" }, { right, "study 'trial', not to 'other'" },
                  { right, "another version" },    { right, "another roster" },
                  { right, "another site" },       { right, "round 3, and round 4 is open" } };
    wrong[0].expected.kind = TACIT_ENVELOPE_QUESTION;
    wrong[1].expected.study = "other";
    wrong[2].expected.version = zeros;
    wrong[3].expected.roster = zeros;
    wrong[4].expected.party = zeros;
    wrong[5].expected.round = &next;
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_envelope_expect(&made, &right, &error), error);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        error = (tacit_error)TACIT_ERROR_INIT;
        assert_int_equal(tacit_envelope_expect(&made, &wrong[i].expected, &error), TACIT_REFUSED);
        if (strstr(error.text, wrong[i].words) == NULL)
            fail_msg("\"%s\" does not say \"%s\"", error.text, wrong[i].words);
    }
    assert_int_equal(tacit_envelope_check_authority(&made, "", 0, &error), TACIT_REFUSED);
    tacit_envelope_clear(&made);
}

static void test_words_are_eight_and_follow_from_every_byte(void **state) {
    (void)state;
    char first[TACIT_WORDS_SIZE], second[TACIT_WORDS_SIZE];
    tacit_envelope_words(first, "key", 3);
    tacit_envelope_words(second, "kez", 3);
    assert_int_equal(strlen(first), 39);
    for (size_t i = 4; i < 39; i += 5) assert_int_equal(first[i], '-');
    assert_string_not_equal(first, second);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_goes_in_comes_out_and_writing_again_gives_the_same_bytes),
        cmocka_unit_test(test_mail_does_not_hurt_it),
        cmocka_unit_test(test_an_edited_one_is_refused_wherever_it_was_edited),
        cmocka_unit_test(test_a_truncated_one_is_refused_and_says_so),
        cmocka_unit_test(test_one_that_was_edited_with_care_is_refused_by_its_signature),
        cmocka_unit_test(test_a_swapped_box_is_refused_although_it_is_signed),
        cmocka_unit_test(test_a_re_addressed_one_is_refused),
        cmocka_unit_test(test_study_version_roster_round_and_party_are_told_apart),
        cmocka_unit_test(test_words_are_eight_and_follow_from_every_byte),
    };
    if (sodium_init() < 0) return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
