/* Authorities, keys, requests and certificates. */
#include "world.h"

#include <gnutls/abstract.h>
#include <gnutls/x509.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "net/clock.h"
#include "rand/stream.h"

static unsigned mode_of(const char *path) {
    struct stat about;
    assert_int_equal(stat(path, &about), 0);
    return about.st_mode & 07777;
}

static void an_authority_is_made_once_and_loaded_again(void **state) {
    (void)state;
    world here;
    char path[PATH_MAX];
    world_open(&here);
    const tacit_certificate_info *made = tacit_authority_info(here.authority);
    assert_string_equal(made->name, "test authority");
    assert_true(made->authority && !made->client_use && !made->server_use);
    int64_t years = (made->valid_until - tacit_clock_wall_seconds()) / (365 * 86400);
    assert_true(years == 9 || years == 10);
    assert_int_equal(mode_of(world_path(path, &here, "ca.key")), 0600);
    assert_int_equal(mode_of(world_path(path, &here, "server.key")), 0600);
    tacit_authority *again = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    assert_int_equal(tacit_authority_create(&again, here.folder, "other", &error), TACIT_USAGE);
    assert_non_null(strstr(error.text, "already holds"));
    error = (tacit_error)TACIT_ERROR_INIT;
    CHECK_OK(tacit_authority_load(&again, here.folder, &error), error);
    assert_string_equal(tacit_authority_info(again)->fingerprint, made->fingerprint);
    assert_string_equal(tacit_authority_pem(again), tacit_authority_pem(here.authority));
    tacit_authority_free(again);
    again = NULL;
    assert_int_equal(tacit_authority_load(&again, world_path(path, &here, "nowhere"), NULL), TACIT_NOT_FOUND);
    assert_null(again);
    assert_null(tacit_authority_free(NULL));
    world_close(&here);
}

static void a_key_that_others_can_read_is_refused(void **state) {
    (void)state;
    world here;
    party alice;
    world_open(&here);
    party_join_now(&alice, &here, "alice");
    assert_int_equal(mode_of(alice.key_file), 0600);
    assert_int_equal(tacit_key_check_private(alice.key_file, NULL), TACIT_OK);
    const unsigned modes[] = { 0644, 0640, 0604, 0620 };
    for (size_t i = 0; i < 4; i++) {
        tacit_error error = TACIT_ERROR_INIT;
        tacit_buffer request = TACIT_BUFFER_INIT;
        assert_int_equal(chmod(alice.key_file, modes[i]), 0);
        assert_int_equal(tacit_key_check_private(alice.key_file, NULL), TACIT_REFUSED);
        assert_int_equal(tacit_key_request(&request, alice.key_file, "alice", &error), TACIT_REFUSED);
        assert_non_null(strstr(error.text, "chmod 600"));
        assert_int_equal(request.length, 0);
    }
    char path[PATH_MAX];
    tacit_authority *authority = NULL;
    tacit_server_identity identity;
    assert_int_equal(chmod(world_path(path, &here, "ca.key"), 0644), 0);
    assert_int_equal(tacit_authority_load(&authority, here.folder, NULL), TACIT_REFUSED);
    assert_int_equal(chmod(world_path(path, &here, "server.key"), 0644), 0);
    assert_int_equal(tacit_server_identity_load(&identity, here.folder, NULL), TACIT_REFUSED);
    tacit_error error = TACIT_ERROR_INIT;
    assert_int_equal(tacit_key_create(alice.key_file, &error), TACIT_USAGE);
    assert_non_null(strstr(error.text, "never overwritten"));
    world_close(&here);
}

static void a_certificate_tells_who_and_how_long(void **state) {
    (void)state;
    world here;
    party alice, bob;
    world_open(&here);
    tacit_validity validity = { 1700000000, 1900000000 };
    party_join(&alice, &here, here.authority, "alice", validity);
    party_join(&bob, &here, here.authority, "bob", validity);
    assert_string_equal(alice.info.name, "alice");
    assert_int_equal(alice.info.valid_from, validity.from);
    assert_int_equal(alice.info.valid_until, validity.until);
    assert_int_equal(strlen(alice.info.fingerprint), 64);
    assert_int_equal(strlen(alice.info.serial), 32);
    assert_string_not_equal(alice.info.serial, bob.info.serial);
    assert_true(alice.info.client_use && !alice.info.server_use && !alice.info.authority);
    tacit_buffer pem = TACIT_BUFFER_INIT, der = TACIT_BUFFER_INIT, back = TACIT_BUFFER_INIT;
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_file_read(alice.certificate_file, &pem, &error), error);
    CHECK_OK(tacit_certificate_to_der(&der, pem.bytes, pem.length, &error), error);
    CHECK_OK(tacit_certificate_to_pem(&back, der.bytes, der.length, &error), error);
    assert_string_equal(tacit_buffer_text(&back), tacit_buffer_text(&pem));
    tacit_certificate_info same;
    CHECK_OK(tacit_certificate_inspect(&same, der.bytes, der.length, &error), error);
    assert_memory_equal(&same, &alice.info, sizeof same);
    CHECK_OK(tacit_certificate_check_key(pem.bytes, pem.length, alice.key_file, &error), error);
    assert_int_equal(tacit_certificate_check_key(pem.bytes, pem.length, bob.key_file, NULL), TACIT_INPUT);
    for (size_t length = 0; length < der.length; length++)
        assert_int_equal(tacit_certificate_inspect(&same, der.bytes, length, NULL), TACIT_INPUT);
    assert_int_equal(tacit_certificate_inspect(&same, der.bytes, TACIT_CERTIFICATE_BYTES_MAX + 1, NULL),
                     TACIT_LIMIT);
    tacit_buffer_clear(&pem);
    tacit_buffer_clear(&der);
    tacit_buffer_clear(&back);
    world_close(&here);
}

/* A certificate of `name`, any bytes, signed by itself. */
static tacit_buffer forge_certificate(const void *name, unsigned length) {
    gnutls_x509_privkey_t key;
    gnutls_x509_crt_t certificate;
    gnutls_datum_t der;
    const uint8_t serial[] = { 1 };
    assert_int_equal(gnutls_x509_privkey_init(&key), 0);
    assert_int_equal(gnutls_x509_privkey_generate(key, GNUTLS_PK_ECDSA, 256, 0), 0);
    assert_int_equal(gnutls_x509_crt_init(&certificate), 0);
    assert_int_equal(gnutls_x509_crt_set_version(certificate, 3), 0);
    assert_int_equal(gnutls_x509_crt_set_serial(certificate, serial, sizeof serial), 0);
    assert_int_equal(gnutls_x509_crt_set_activation_time(certificate, 1700000000), 0);
    assert_int_equal(gnutls_x509_crt_set_expiration_time(certificate, 1900000000), 0);
    assert_int_equal(gnutls_x509_crt_set_dn_by_oid(certificate, GNUTLS_OID_X520_COMMON_NAME, 0, name, length),
                     0);
    assert_int_equal(gnutls_x509_crt_set_key(certificate, key), 0);
    assert_int_equal(gnutls_x509_crt_sign2(certificate, certificate, key, GNUTLS_DIG_SHA256, 0), 0);
    assert_int_equal(gnutls_x509_crt_export2(certificate, GNUTLS_X509_FMT_DER, &der), 0);
    tacit_buffer out = TACIT_BUFFER_INIT;
    assert_int_equal(tacit_buffer_append(&out, der.data, der.size, NULL), TACIT_OK);
    gnutls_free(der.data);
    gnutls_x509_crt_deinit(certificate);
    gnutls_x509_privkey_deinit(key);
    return out;
}

static void a_name_hides_nothing(void **state) {
    (void)state;
    tacit_certificate_info info;
    tacit_buffer plain = forge_certificate("alice", 5), hidden = forge_certificate("alice\0mallory", 13);
    assert_int_equal(tacit_certificate_inspect(&info, plain.bytes, plain.length, NULL), TACIT_OK);
    assert_string_equal(info.name, "alice");
    tacit_status status = tacit_certificate_inspect(&info, hidden.bytes, hidden.length, NULL);
    assert_true(status == TACIT_INPUT || strcmp(info.name, "alice") != 0);
    tacit_buffer_clear(&plain);
    tacit_buffer_clear(&hidden);
}

/* Whoever steals a party's key cannot issue certificates, and the authority certifies no other authority. */
static void the_authority_alone_issues(void **state) {
    (void)state;
    world here;
    gnutls_x509_crt_t certificate;
    unsigned critical = 0, authority = 0;
    int path = -1;
    world_open(&here);
    const char *pem = tacit_authority_pem(here.authority);
    gnutls_datum_t text = { (unsigned char *)(uintptr_t)pem, (unsigned)strlen(pem) };
    assert_int_equal(gnutls_x509_crt_init(&certificate), 0);
    assert_int_equal(gnutls_x509_crt_import(certificate, &text, GNUTLS_X509_FMT_PEM), 0);
    assert_true(gnutls_x509_crt_get_basic_constraints(certificate, &critical, &authority, &path) >= 0);
    assert_true(authority != 0 && critical != 0);
    assert_int_equal(path, 0);
    gnutls_x509_crt_deinit(certificate);
    world_close(&here);
}

/* A request as a greedy client would make it. */
static tacit_buffer forge_request(gnutls_pk_algorithm_t algorithm, unsigned bits, bool greedy) {
    gnutls_x509_privkey_t key;
    gnutls_privkey_t signer;
    gnutls_x509_crq_t request;
    gnutls_datum_t der;
    assert_int_equal(gnutls_x509_privkey_init(&key), 0);
    assert_int_equal(gnutls_x509_privkey_generate(key, algorithm, bits, 0), 0);
    assert_int_equal(gnutls_privkey_init(&signer), 0);
    assert_int_equal(gnutls_privkey_import_x509(signer, key, 0), 0);
    assert_int_equal(gnutls_x509_crq_init(&request), 0);
    assert_int_equal(gnutls_x509_crq_set_version(request, 1), 0);
    assert_int_equal(gnutls_x509_crq_set_dn(request, "CN=root,O=Evil", NULL), 0);
    assert_int_equal(gnutls_x509_crq_set_key(request, key), 0);
    if (greedy) {
        assert_int_equal(gnutls_x509_crq_set_basic_constraints(request, 1, 5), 0);
        assert_int_equal(gnutls_x509_crq_set_key_usage(request, GNUTLS_KEY_KEY_CERT_SIGN), 0);
        assert_int_equal(gnutls_x509_crq_set_key_purpose_oid(request, GNUTLS_KP_TLS_WWW_SERVER, 0), 0);
        assert_int_equal(
            gnutls_x509_crq_set_subject_alt_name(request, GNUTLS_SAN_DNSNAME, "coordinator.example", 19, 0),
            0);
    }
    assert_int_equal(gnutls_x509_crq_privkey_sign(request, signer, GNUTLS_DIG_SHA256, 0), 0);
    assert_int_equal(gnutls_x509_crq_export2(request, GNUTLS_X509_FMT_DER, &der), 0);
    tacit_buffer out = TACIT_BUFFER_INIT;
    assert_int_equal(tacit_buffer_append(&out, der.data, der.size, NULL), TACIT_OK);
    gnutls_free(der.data);
    gnutls_x509_crq_deinit(request);
    gnutls_privkey_deinit(signer);
    gnutls_x509_privkey_deinit(key);
    return out;
}

static void what_a_request_asks_for_is_ignored(void **state) {
    (void)state;
    world here;
    world_open(&here);
    tacit_buffer request =
        forge_request(GNUTLS_PK_ECDSA, GNUTLS_CURVE_TO_BITS(GNUTLS_ECC_CURVE_SECP256R1), true);
    tacit_buffer certificate = TACIT_BUFFER_INIT;
    tacit_certificate_info info;
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_authority_issue_client(&certificate, here.authority, request.bytes, request.length,
                                          "party 7", validity_now(), &error),
             error);
    CHECK_OK(tacit_certificate_inspect(&info, certificate.bytes, certificate.length, &error), error);
    assert_string_equal(info.name, "party 7");
    assert_true(info.client_use && !info.server_use && !info.authority);
    gnutls_x509_crt_t parsed;
    gnutls_datum_t pem = { certificate.bytes, (unsigned)certificate.length };
    char text[256];
    size_t size = sizeof text;
    unsigned usage, critical;
    assert_int_equal(gnutls_x509_crt_init(&parsed), 0);
    assert_int_equal(gnutls_x509_crt_import(parsed, &pem, GNUTLS_X509_FMT_PEM), 0);
    assert_int_equal(gnutls_x509_crt_get_subject_alt_name(parsed, 0, text, &size, NULL),
                     GNUTLS_E_REQUESTED_DATA_NOT_AVAILABLE);
    size = sizeof text;
    assert_int_equal(gnutls_x509_crt_get_dn(parsed, text, &size), 0);
    assert_string_equal(text, "CN=party 7");
    assert_int_equal(gnutls_x509_crt_get_key_usage(parsed, &usage, &critical), 0);
    assert_int_equal(usage, GNUTLS_KEY_DIGITAL_SIGNATURE);
    gnutls_x509_crt_deinit(parsed);
    tacit_buffer_clear(&request);
    tacit_buffer_clear(&certificate);
    world_close(&here);
}

static tacit_status issue(const world *here, const void *request, size_t length, const char *name,
                          tacit_validity validity) {
    tacit_buffer certificate = TACIT_BUFFER_INIT;
    tacit_status status =
        tacit_authority_issue_client(&certificate, here->authority, request, length, name, validity, NULL);
    assert_int_equal(certificate.length == 0, status != TACIT_OK);
    tacit_buffer_clear(&certificate);
    return status;
}

static void unusable_requests_are_refused(void **state) {
    (void)state;
    world here;
    world_open(&here);
    tacit_buffer good =
        forge_request(GNUTLS_PK_ECDSA, GNUTLS_CURVE_TO_BITS(GNUTLS_ECC_CURVE_SECP256R1), false);
    tacit_buffer wide =
        forge_request(GNUTLS_PK_ECDSA, GNUTLS_CURVE_TO_BITS(GNUTLS_ECC_CURVE_SECP384R1), false);
    tacit_buffer rsa = forge_request(GNUTLS_PK_RSA, 2048, false);
    tacit_validity now = validity_now(), backwards = { now.until, now.from };
    assert_int_equal(issue(&here, good.bytes, good.length, "a", now), TACIT_OK);
    assert_int_equal(issue(&here, wide.bytes, wide.length, "a", now), TACIT_INPUT);
    assert_int_equal(issue(&here, rsa.bytes, rsa.length, "a", now), TACIT_INPUT);
    assert_int_equal(issue(&here, good.bytes, good.length, "a", backwards), TACIT_USAGE);
    assert_int_equal(issue(&here, good.bytes, good.length, "", now), TACIT_USAGE);
    assert_int_equal(issue(&here, good.bytes, good.length, "two\nlines", now), TACIT_USAGE);
    char long_name[66];
    memset(long_name, 'n', 65);
    long_name[65] = 0;
    assert_int_equal(issue(&here, good.bytes, good.length, long_name, now), TACIT_USAGE);
    long_name[64] = 0;
    assert_int_equal(issue(&here, good.bytes, good.length, long_name, now), TACIT_OK);
    assert_int_equal(issue(&here, "", 0, "a", now), TACIT_INPUT);
    assert_int_equal(issue(&here, "garbage", 7, "a", now), TACIT_INPUT);
    const char empty_pem[] =
        "-----BEGIN NEW CERTIFICATE REQUEST-----\n-----END NEW CERTIFICATE REQUEST-----\n";
    assert_int_equal(issue(&here, empty_pem, strlen(empty_pem), "a", now), TACIT_INPUT);
    /* A huge one is not even looked at: there is nothing behind this pointer. */
    assert_int_equal(issue(&here, (const void *)16, (size_t)1 << 40, "a", now), TACIT_LIMIT);
    for (size_t length = 0; length < good.length; length++)
        assert_int_equal(issue(&here, good.bytes, length, "a", now), TACIT_INPUT);
    tacit_buffer_clear(&good);
    tacit_buffer_clear(&wide);
    tacit_buffer_clear(&rsa);
    world_close(&here);
}

static void a_request_with_any_flipped_bit_is_refused(void **state) {
    (void)state;
    world here;
    world_open(&here);
    tacit_buffer good =
        forge_request(GNUTLS_PK_ECDSA, GNUTLS_CURVE_TO_BITS(GNUTLS_ECC_CURVE_SECP256R1), false);
    for (size_t bit = 0; bit < 8 * good.length; bit++) {
        good.bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        if (issue(&here, good.bytes, good.length, "a", validity_now()) == TACIT_OK)
            fail_msg("bit %zu of the request does not matter", bit);
        good.bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    tacit_buffer_clear(&good);
    world_close(&here);
}

static void random_requests_and_certificates_do_no_harm(void **state) {
    (void)state;
    world here;
    party alice;
    world_open(&here);
    party_join_now(&alice, &here, "alice");
    tacit_buffer good =
        forge_request(GNUTLS_PK_ECDSA, GNUTLS_CURVE_TO_BITS(GNUTLS_ECC_CURVE_SECP256R1), true);
    tacit_buffer certificate = TACIT_BUFFER_INIT;
    assert_int_equal(tacit_file_read(alice.certificate_file, &certificate, NULL), TACIT_OK);
    const uint64_t seed = 20240229;
    tacit_stream stream = tacit_stream_from_seed(seed);
    for (int round = 0; round < 3000; round++) {
        uint8_t bytes[2048];
        const tacit_buffer *source = round % 2 == 0 ? &good : &certificate;
        size_t length = source->length < sizeof bytes ? source->length : sizeof bytes;
        memcpy(bytes, source->bytes, length);
        length -= (size_t)tacit_stream_below(&stream, round % 5 == 0 ? length : 1);
        for (uint64_t edits = 1 + tacit_stream_below(&stream, 6); edits > 0; edits--)
            bytes[tacit_stream_below(&stream, length)] = (uint8_t)tacit_stream_below(&stream, 256);
        tacit_certificate_info info;
        (void)issue(&here, bytes, length, "a", validity_now());
        (void)tacit_certificate_inspect(&info, bytes, length, NULL);
    }
    tacit_buffer_clear(&good);
    tacit_buffer_clear(&certificate);
    world_close(&here);
}

static void a_signature_is_good_for_one_document_one_purpose_and_one_authority(void **state) {
    (void)state;
    world here, elsewhere;
    world_open(&here);
    world_open(&elsewhere);
    tacit_error error = TACIT_ERROR_INIT;
    tacit_buffer sign = TACIT_BUFFER_INIT;
    const char *ours = tacit_authority_pem(here.authority),
               *theirs = tacit_authority_pem(elsewhere.authority);
    CHECK_OK(tacit_authority_sign(&sign, here.authority, "study", "text", 4, &error), error);
    assert_true(sign.length <= TACIT_SIGNATURE_BYTES_MAX);
    CHECK_OK(tacit_authority_check(ours, strlen(ours), "study", "text", 4, sign.bytes, sign.length, &error),
             error);
    struct {
        const char *authority, *purpose, *text;
        size_t length;
    } wrong[] = { { theirs, "study", "text", sign.length },
                  { ours, "model", "text", sign.length },
                  { ours, "study", "tex_", sign.length },
                  { ours, "study", "text", sign.length - 1 },
                  { ours, "study", "text", 0 } };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_int_equal(tacit_authority_check(wrong[i].authority, strlen(wrong[i].authority),
                                               wrong[i].purpose, wrong[i].text, 4, sign.bytes,
                                               wrong[i].length, &error),
                         TACIT_REFUSED);
    for (size_t i = 0; i < sign.length; i++) {
        sign.bytes[i] ^= 1;
        assert_int_equal(
            tacit_authority_check(ours, strlen(ours), "study", "text", 4, sign.bytes, sign.length, &error),
            TACIT_REFUSED);
        sign.bytes[i] ^= 1;
    }
    tacit_buffer_clear(&sign);
    world_close(&elsewhere);
    world_close(&here);
}

static void a_server_certificate_needs_usable_names(void **state) {
    (void)state;
    world here;
    world_open(&here);
    const char *bad[] = { "", "two words", "a/b", "line\n" };
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(
            tacit_authority_issue_server(here.authority, here.folder, &bad[i], 1, validity_now(), NULL),
            TACIT_USAGE);
    assert_int_equal(tacit_authority_issue_server(here.authority, here.folder, bad, 0, validity_now(), NULL),
                     TACIT_USAGE);
    /* A new pair replaces the old one, and a torn pair is noticed. */
    const char *name = "coordinator.example";
    char key_path[PATH_MAX], certificate_path[PATH_MAX];
    tacit_buffer old_key = TACIT_BUFFER_INIT;
    tacit_error error = TACIT_ERROR_INIT;
    world_path(key_path, &here, "server.key");
    world_path(certificate_path, &here, "server.crt");
    CHECK_OK(tacit_file_read(key_path, &old_key, &error), error);
    CHECK_OK(tacit_authority_issue_server(here.authority, here.folder, &name, 1, validity_now(), &error),
             error);
    tacit_server_identity identity;
    CHECK_OK(tacit_server_identity_load(&identity, here.folder, &error), error);
    tacit_server_identity_clear(&identity);
    CHECK_OK(tacit_file_write(key_path, old_key.bytes, old_key.length, 0600, &error), error);
    assert_int_equal(tacit_server_identity_load(&identity, here.folder, NULL), TACIT_INPUT);
    tacit_buffer_clear(&old_key);
    world_close(&here);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_authority_is_made_once_and_loaded_again),
        cmocka_unit_test(a_key_that_others_can_read_is_refused),
        cmocka_unit_test(a_certificate_tells_who_and_how_long),
        cmocka_unit_test(a_name_hides_nothing),
        cmocka_unit_test(the_authority_alone_issues),
        cmocka_unit_test(what_a_request_asks_for_is_ignored),
        cmocka_unit_test(unusable_requests_are_refused),
        cmocka_unit_test(a_request_with_any_flipped_bit_is_refused),
        cmocka_unit_test(random_requests_and_certificates_do_no_harm),
        cmocka_unit_test(a_signature_is_good_for_one_document_one_purpose_and_one_authority),
        cmocka_unit_test(a_server_certificate_needs_usable_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
