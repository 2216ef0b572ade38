/* The table of settings: every line is read, written, shown and listed, and older definitions keep their
 * hash. */
#include <limits.h>
#include <sodium.h>

#include "definition_read.h"
#include "net/identity.h"
#include "store/folder.h"
#include "study/json_value.h"
#include "study/study_settings.h"

static const tacit_study_setting *find(const char *name) {
    const tacit_study_setting *one = tacit_study_settings;
    while (one->name != NULL && strcmp(one->name, name) != 0) one++;
    assert_non_null(one->name);
    return one;
}

/* As versions before the table wrote it: whoever consented to it has consented to this hash. */
static void the_hash_of_a_definition_stays(void **state) {
    static const char text[] = "name: two-sites\ntitle: Two sites\ndescription: what it is for\n"
                               "approval: Ethics board 2026-114\nschedule: {from: 2027-01-01}\nmethod: avg\n"
                               "set: {noise: party}\nepsilon: 2\ndelta: 0\nlambda: 0.05\n"
                               "parties: {expected: 4, minimum: 3}\nminimum_rows: 100000000\npatience: 1.5\n"
                               "colluders: 0.2\nstop: {participants: 4}\nschema: |\n"
                               "  label: {name: y, classes: [n, p]}\n  columns:\n"
                               "    - {name: a, kind: number, low: 0, high: 1}\n";
    char hex[2 * TACIT_HASH_BYTES + 1];
    (void)state;
    tacit_study *study = parse(text);
    sodium_bin2hex(hex, sizeof hex, study->hash, sizeof study->hash);
    assert_string_equal(hex, "7e127867981041b1cd0ce566620b7ea86efe451031f468a8147863c238654e19");
    tacit_study_free(study);
}

static void every_setting_says_what_it_is(void **state) {
    char form[TACIT_STUDY_VALUE_SIZE], standard[TACIT_STUDY_VALUE_SIZE];
    (void)state;
    for (const tacit_study_setting *one = tacit_study_settings; one->name != NULL; one++) {
        assert_true(one->help != NULL && one->help[0] != 0);
        assert_true(tacit_study_setting_form(one, form)[0] != 0);
        assert_true((one->kind == TACIT_STUDY_KIND_MADE) == (one->read != NULL && one->print != NULL));
        assert_true((one->applies != NULL) == (one->belongs != NULL));
        if (one->kind != TACIT_STUDY_KIND_MADE && (one->rules & TACIT_STUDY_REQUIRED))
            assert_string_equal(tacit_study_setting_default(one, standard), "");
        for (const tacit_study_setting *other = tacit_study_settings; other < one; other++)
            assert_string_not_equal(other->name, one->name);
    }
}

/* A setting that came later is not written where it has its default. */
static void a_quiet_setting_is_written_where_it_is_not_the_default(void **state) {
    char text[DEFINITION_SIZE];
    (void)state;
    assert_true(find("complete")->rules & TACIT_STUDY_QUIET);
    tacit_study *without = parse(definition_with(text, NULL, NULL)),
                *said = parse(definition_with(text, "complete", "no")),
                *other = parse(definition_with(text, "complete", "yes"));
    assert_null(strstr(tacit_buffer_text(&without->canonical), "complete"));
    assert_memory_equal(said->hash, without->hash, sizeof said->hash);
    assert_non_null(strstr(tacit_buffer_text(&other->canonical), "\ncomplete: yes\n"));
    tacit_study_free(other);
    tacit_study_free(said);
    tacit_study_free(without);
}

/* Of a method that can do without: what is said counts, and what is left open is chosen and travels. */
static void a_lambda_of_zero_stays_and_one_left_open_is_chosen(void **state) {
    static const char text[] =
        "name: two-sites\ntitle: Two sites\nmethod: dpsgd\nset: {hidden: %s}\n"
        "epsilon: 1\ndelta: 1e-5\n%sparties: {expected: 4, minimum: 3}\nminimum_rows: 100\n"
        "schema: |\n  label: {name: y, classes: [n, p]}\n  columns:\n"
        "    - {name: a, kind: number, low: 0, high: 1}\n";
    static const struct {
        const char *hidden, *lambda;
        bool above;
    } cases[] = { { "none", "lambda: 0\n", false }, { "none", "", true }, { "8", "", false } };
    folder place = folder_make();
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char said[1024], path[PATH_MAX];
        tacit_error error = TACIT_ERROR_INIT;
        tacit_study *study = NULL;
        snprintf(said, sizeof said, text, cases[i].hidden, cases[i].lambda);
        snprintf(path, sizeof path, "%s/study.yaml", place.path);
        write_text(path, said);
        CHECK_OK(tacit_study_load(&study, path, &error), error);
        tacit_study *again = parse(tacit_buffer_text(&study->canonical));
        assert_true((study->plan.lambda > 0) == cases[i].above);
        assert_true(again->plan.lambda == study->plan.lambda);
        assert_memory_equal(again->hash, study->hash, sizeof study->hash);
        tacit_study_free(again);
        tacit_study_free(study);
    }
    folder_remove(&place);
}

static const char newton_text[] = "name: two-sites\ntitle: Two sites\nmethod: newton\nset: {%s}\n"
                                  "lambda: 1\nparties: {expected: 4, minimum: 3}\nminimum_rows: 100\n"
                                  "center:\n  address: \"localhost:9\"\n  key: \"%064d\"\n"
                                  "  certificate: \"%s\"\n"
                                  "schema: |\n  label: {name: y, classes: [n, p]}\n  columns:\n"
                                  "    - {name: a, kind: number, low: 0, high: 1}\n";

/* newton's lambda was beside the sum over rows, and is now beside their mean. An agreed definition that does
 * not say which is of the time before, and stays what it was, to the last byte. */
static void a_definition_agreed_on_before_a_setting_came_keeps_its_meaning(void **state) {
    char certificate[8192], text[3][12288];
    tacit_error error = TACIT_ERROR_INIT;
    tacit_authority *authority = NULL;
    tacit_buffer der = TACIT_BUFFER_INIT;
    folder place = folder_make();
    (void)state;
    CHECK_OK(tacit_authority_create(&authority, place.path, "b", &error), error);
    const char *pem = tacit_authority_pem(authority);
    CHECK_OK(tacit_certificate_to_der(&der, pem, strlen(pem), &error), error);
    sodium_bin2base64(certificate, sizeof certificate, der.bytes, der.length, sodium_base64_VARIANT_ORIGINAL);
    const char *const said[] = { "engine: shares", "engine: shares, penalty: sum",
                                 "engine: shares, penalty: mean" };
    for (size_t i = 0; i < 3; i++) snprintf(text[i], sizeof text[i], newton_text, said[i], 1, certificate);
    tacit_study *before = parse(text[0]), *sum = parse(text[1]), *mean = parse(text[2]);
    assert_true(setting_is(&before->plan, "penalty", "sum"));
    assert_null(strstr(tacit_buffer_text(&before->canonical), "penalty"));
    assert_memory_equal(before->hash, sum->hash, sizeof sum->hash);
    assert_non_null(strstr(tacit_buffer_text(&mean->canonical), "  penalty: \"mean\"\n"));
    tacit_study *again = parse(tacit_buffer_text(&mean->canonical));
    assert_true(setting_is(&again->plan, "penalty", "mean"));
    tacit_study_free(again);
    tacit_study_free(mean);
    tacit_study_free(sum);
    tacit_study_free(before);
    tacit_buffer_clear(&der);
    tacit_authority_free(authority);
    folder_remove(&place);
}

static void numbers_are_kept_in_the_parts_that_are_written(void **state) {
    char text[DEFINITION_SIZE];
    (void)state;
    tacit_study *study = parse(definition_with(text, "patience", "0.12345"));
    assert_true(study->patience == 0.123);
    assert_non_null(strstr(tacit_buffer_text(&study->canonical), "\npatience: 0.123\n"));
    tacit_study_free(study);
}

static void owners_read_the_terms_of_a_setting(void **state) {
    char text[DEFINITION_SIZE], terms[TACIT_STUDY_VALUE_SIZE];
    (void)state;
    tacit_study *study = parse(definition_with(text, "approval", "Ethics board 7"));
    assert_string_equal(tacit_study_setting_terms(study, find("approval"), terms), "Ethics board 7");
    assert_string_equal(tacit_study_setting_terms(study, find("patience"), terms), "");
    tacit_study_free(study);
    study = parse(definition_with(text, NULL, NULL));
    assert_string_equal(tacit_study_setting_terms(study, find("approval"), terms), "");
    tacit_study_setting waits = *find("patience");
    waits.terms = "a round waits {} seconds";
    assert_string_equal(tacit_study_setting_terms(study, &waits, terms), "a round waits 1.5 seconds");
    tacit_study_free(study);
}

static void documents_show_what_applies(void **state) {
    char text[DEFINITION_SIZE];
    (void)state;
    tacit_study *study = parse(definition_with(text, NULL, NULL));
    json_t *all = tacit_json_study_settings(study);
    assert_true(json_real_value(json_object_get(all, "patience")) == 1.5);
    assert_int_equal(json_integer_value(json_object_get(all, "minimum_rows")), 5);
    assert_true(json_is_false(json_object_get(all, "complete")));
    assert_string_equal(json_string_value(json_object_get(all, "title")), "Two sites");
    assert_null(json_object_get(all, "approval"));
    json_decref(all);
    tacit_study_free(study);
    study = parse(definition_with(text, "sum", "clear"));
    all = tacit_json_study_settings(study);
    assert_null(json_object_get(all, "dropouts"));
    json_decref(all);
    tacit_study_free(study);
}

/* Shares of noise by files, of which some parties may be absent, with these lines too. */
static const char *carried_shares(char out[DEFINITION_SIZE], const char *more) {
    snprintf(out, DEFINITION_SIZE,
             "name: carried\ntitle: Carried\nmethod: dpgd\nset: {noise: shares, rounds: 3}\nepsilon: 2\n"
             "delta: 1e-5\nlambda: 0.05\nminimum_rows: 5\ntransport: files\n%sschema: |\n"
             "  label: {name: y, classes: [n, p]}\n  columns:\n"
             "    - {name: a, kind: number, low: 0, high: 1}\n",
             more);
    return out;
}

static tacit_study *composed(const char *text) {
    tacit_study *study = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_study_compose(&study, text, strlen(text), "s.yaml", &error), error);
    return study;
}

static void shares_of_noise_by_files_survive_absence_where_the_minimum_allows_it(void **state) {
    static const struct {
        const char *more;
        unsigned exchanges;
        size_t dropouts;
    } cases[] = {
        { "parties: {expected: 6, minimum: 5}\n", 2, 1 },
        { "parties: {expected: 30, minimum: 23}\n", 2, 7 },
        { "parties: {expected: 30, minimum: 28}\n", 2, 3 }, /* a tenth, as ever */
        { "parties: {expected: 30, minimum: 23}\ndropouts: 0.15\n", 2, 4 },
        { "parties: {expected: 6}\n", 1, 0 },
        { "parties: {expected: 6, minimum: 5}\nexchange: one\n", 1, 0 },
        { "parties: {expected: 6, minimum: 5}\ndropouts: 0\n", 1, 0 },
    };
    char text[DEFINITION_SIZE];
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tacit_study *study = composed(carried_shares(text, cases[i].more));
        assert_int_equal(study->plan.exchanges, cases[i].exchanges);
        assert_int_equal(tacit_plan_dropouts(&study->plan), cases[i].dropouts);
        /* Whoever reads the definition then finds it there. */
        tacit_study *again = parse(tacit_buffer_text(&study->canonical));
        assert_memory_equal(again->hash, study->hash, sizeof study->hash);
        assert_int_equal(again->plan.exchanges, cases[i].exchanges);
        assert_int_equal(tacit_plan_dropouts(&again->plan), cases[i].dropouts);
        tacit_study_free(again);
        tacit_study_free(study);
    }
    tacit_study *study = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    carried_shares(text, "parties: {expected: 4, minimum: 3}\n");
    assert_int_equal(tacit_study_compose(&study, text, strlen(text), "s.yaml", &error), TACIT_USAGE);
    assert_non_null(strstr(error.text, "takes exchange: two"));
    assert_non_null(strstr(error.text, "too few"));
}

/* What was agreed on when nobody chose two exchanges has one, and keeps its hash. */
static void an_agreed_definition_keeps_its_one_exchange(void **state) {
    char text[DEFINITION_SIZE];
    (void)state;
    tacit_study *made = composed(carried_shares(text, "parties: {expected: 6, minimum: 5}\nexchange: one\n"));
    assert_null(strstr(tacit_buffer_text(&made->canonical), "exchange"));
    tacit_study *agreed = parse(tacit_buffer_text(&made->canonical));
    assert_int_equal(agreed->plan.exchanges, 1);
    assert_memory_equal(agreed->hash, made->hash, sizeof made->hash);
    tacit_study_free(agreed);
    tacit_study_free(made);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_hash_of_a_definition_stays),
        cmocka_unit_test(every_setting_says_what_it_is),
        cmocka_unit_test(a_quiet_setting_is_written_where_it_is_not_the_default),
        cmocka_unit_test(a_lambda_of_zero_stays_and_one_left_open_is_chosen),
        cmocka_unit_test(a_definition_agreed_on_before_a_setting_came_keeps_its_meaning),
        cmocka_unit_test(numbers_are_kept_in_the_parts_that_are_written),
        cmocka_unit_test(owners_read_the_terms_of_a_setting),
        cmocka_unit_test(documents_show_what_applies),
        cmocka_unit_test(shares_of_noise_by_files_survive_absence_where_the_minimum_allows_it),
        cmocka_unit_test(an_agreed_definition_keeps_its_one_exchange),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
