/* Public points of a study: told by number and hash, checked, and taken in where they fit. */
#include <unistd.h>

#include "../store/folder.h"
#include "definition_read.h"

static const char HASH[] = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";

static const char *with_points(char text[DEFINITION_SIZE], const char *method, const char *auxiliary) {
    char whole[DEFINITION_SIZE];
    definition_with(whole, "method", method);
    char *set = strstr(whole, "set: {noise: party}\n");
    assert_non_null(set);
    memmove(set, set + strlen("set: {noise: party}\n"), strlen(set + strlen("set: {noise: party}\n")) + 1);
    snprintf(text, DEFINITION_SIZE, "%sauxiliary: %s\n", whole, auxiliary);
    return text;
}

static void points_are_told_by_number_and_hash(void **state) {
    (void)state;
    char text[DEFINITION_SIZE], line[200];
    snprintf(line, sizeof line, "{hash: %s, points: 7}", HASH);
    tacit_study *study = parse(with_points(text, "soft-stat", line));
    assert_int_equal(study->point_count, 7);
    assert_int_equal(study->point_hash[1], 0x11);
    assert_null(study->plan.points);
    assert_int_equal(study->point_bytes.length, 0);
    snprintf(line, sizeof line, "\nauxiliary: {points: 7, hash: %s}\n", HASH);
    assert_non_null(strstr(tacit_buffer_text(&study->canonical), line));
    tacit_study *again = parse(tacit_buffer_text(&study->canonical));
    assert_memory_equal(again->hash, study->hash, sizeof study->hash);
    tacit_study_free(again);
    snprintf(line, sizeof line, "{points: 8, hash: %s}", HASH);
    again = parse(with_points(text, "soft-stat", line));
    assert_memory_not_equal(again->hash, study->hash, sizeof study->hash);
    tacit_study_free(again);
    tacit_study_free(study);
}

static void wrong_points_are_told_with_their_line(void **state) {
    (void)state;
    char text[DEFINITION_SIZE], line[200];
    fails(with_points(text, "soft-stat", "points.csv"), TACIT_INPUT,
          "s.yaml:14: a study from elsewhere may not");
    fails(with_points(text, "soft-stat", "{points: 7}"), TACIT_INPUT, "s.yaml:14: auxiliary needs");
    fails(with_points(text, "soft-stat", "{points: 7, hash: 00ff}"), TACIT_INPUT,
          "s.yaml:14: hash must be 64");
    snprintf(line, sizeof line, "{points: 7, hash: %s0}", HASH);
    fails(with_points(text, "soft-stat", line), TACIT_INPUT, "s.yaml:14: hash must be 64");
    snprintf(line, sizeof line, "{points: 7, hash: %.63sg}", HASH);
    fails(with_points(text, "soft-stat", line), TACIT_INPUT, "s.yaml:14: hash must be 64");
    snprintf(line, sizeof line, "{points: 0, hash: %s}", HASH);
    fails(with_points(text, "soft-stat", line), TACIT_INPUT, "s.yaml:14: points must be from 1");
    snprintf(line, sizeof line, "{points: 100000000, hash: %s}", HASH);
    fails(with_points(text, "soft-stat", line), TACIT_INPUT,
          "s.yaml:14: 100000000 auxiliary points are more");
    snprintf(line, sizeof line, "{points: 7, hash: %s}", HASH);
    fails(with_points(text, "avg", line), TACIT_USAGE, "s.yaml:14: method avg uses no auxiliary points");
    with_points(text, "vote", "");
    *strstr(text, "auxiliary") = 0;
    fails(text, TACIT_USAGE, "s.yaml:3: method vote needs public points");
}

static void settings_that_are_text_are_checked_where_they_stand(void **state) {
    (void)state;
    char text[DEFINITION_SIZE], line[200];
    snprintf(line, sizeof line, "{points: 7, hash: %s}\nset: {local: 'tree,exec:rm -r x'}", HASH);
    fails(with_points(text, "vote", line), TACIT_REFUSED, "s.yaml:15: setting 'local' names a program");
    snprintf(line, sizeof line, "{points: 7, hash: %s}\nset: {local: oak}", HASH);
    fails(with_points(text, "vote", line), TACIT_USAGE, "s.yaml:15: ");
    snprintf(line, sizeof line, "{points: 7, hash: %s}\nset: {local: 'a\"b'}", HASH);
    fails(with_points(text, "vote", line), TACIT_INPUT, "s.yaml:15: a setting's value must");
}

/* A study in a folder with its file of points. */
typedef struct located {
    folder place;
    char study[128], points[128];
} located;

static located locate(const char *text, const char *points) {
    located at = { .place = folder_make() };
    snprintf(at.study, sizeof at.study, "%s/s.yaml", at.place.path);
    snprintf(at.points, sizeof at.points, "%s/p.csv", at.place.path);
    write_text(at.study, text);
    write_text(at.points, points);
    return at;
}

static void points_of_a_file_become_part_of_the_study(void **state) {
    (void)state;
    char text[DEFINITION_SIZE];
    located at = locate(with_points(text, "vote", "p.csv"), "y,a\nwhatever,0.25\n,1\nn,0.5\n");
    tacit_study *study = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_study_load(&study, at.study, &error), error);
    assert_int_equal(study->point_count, 3);
    assert_ptr_equal(study->plan.points, &study->points);
    assert_int_equal(study->points.rows.count, 3);
    assert_true(study->point_bytes.length <= tacit_study_point_limit(study));
    assert_null(strstr(tacit_buffer_text(&study->canonical), "p.csv"));

    tacit_study *elsewhere = parse(tacit_buffer_text(&study->canonical));
    tacit_buffer bytes = TACIT_BUFFER_INIT;
    CHECK_OK(tacit_buffer_append(&bytes, study->point_bytes.bytes, study->point_bytes.length, &error), error);
    for (size_t i = 0; i < bytes.length; i++) { /* a bit of any byte */
        bytes.bytes[i] ^= 0x10;
        assert_int_equal(tacit_study_take_points(elsewhere, &bytes, NULL, NULL), TACIT_REFUSED);
        bytes.bytes[i] ^= 0x10;
    }
    assert_null(elsewhere->plan.points);
    assert_int_equal(bytes.length, study->point_bytes.length);
    CHECK_OK(tacit_study_take_points(elsewhere, &bytes, NULL, &error), error);
    assert_int_equal(bytes.length, 0);
    assert_int_equal(elsewhere->plan.points->rows.count, 3);
    assert_true(elsewhere->plan.points->kappa == study->plan.points->kappa);
    tacit_study_free(elsewhere);
    tacit_study_free(study);
    folder_remove(&at.place);
}

/* The hash of something else than points of this many numbers can be consented to, but not used. */
static void points_of_another_shape_are_refused(void **state) {
    (void)state;
    char text[DEFINITION_SIZE], line[200], hex[65];
    located at = locate(with_points(text, "vote", "p.csv"), "a\n0.25\n1\n");
    tacit_study *study = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_study_load(&study, at.study, &error), error);
    for (size_t i = 0; i < sizeof study->point_hash; i++)
        snprintf(hex + 2 * i, 3, "%02x", study->point_hash[i]);
    snprintf(line, sizeof line, "{points: 3, hash: %s}", hex);
    tacit_study *other = parse(with_points(text, "vote", line));
    assert_int_equal(tacit_study_take_points(other, &study->point_bytes, NULL, &error), TACIT_REFUSED);
    assert_non_null(strstr(error.text, "are 2 with 2 features"));
    tacit_study_free(other);
    tacit_study_free(study);
    folder_remove(&at.place);
}

static void without_lambda_one_is_chosen_where_the_study_is_made(void **state) {
    (void)state;
    static const char *const methods[] = { "soft-stat", "soft" };
    for (size_t i = 0; i < 2; i++) {
        char text[DEFINITION_SIZE];
        with_points(text, methods[i], "p.csv");
        char *lambda = strstr(text, "lambda: 0.05\n");
        assert_non_null(lambda);
        memset(lambda, ' ', strlen("lambda: 0.05"));
        located at = locate(text, "a\n0\n0.1\n0.2\n0.25\n0.6\n0.8\n0.9\n1\n");
        tacit_study *study = NULL, *again = NULL;
        tacit_error error = TACIT_ERROR_INIT;
        CHECK_OK(tacit_study_load(&study, at.study, &error), error);
        if (i == 0) /* it chooses after its release */
            assert_true(study->plan.lambda == 0);
        else
            assert_true(study->plan.lambda > 0 && study->plan.lambda <= 1);
        CHECK_OK(tacit_study_load(&again, at.study, &error), error);
        assert_memory_equal(again->hash, study->hash, sizeof study->hash); /* chosen alike each time */
        tacit_study_free(again);
        again = parse(tacit_buffer_text(&study->canonical));
        assert_true(again->plan.lambda == study->plan.lambda);
        tacit_study_free(again);
        tacit_study_free(study);
        folder_remove(&at.place);
        fails(text, TACIT_INPUT, "has no 'lambda'"); /* from elsewhere it must be a number */
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(points_are_told_by_number_and_hash),
        cmocka_unit_test(wrong_points_are_told_with_their_line),
        cmocka_unit_test(settings_that_are_text_are_checked_where_they_stand),
        cmocka_unit_test(points_of_a_file_become_part_of_the_study),
        cmocka_unit_test(points_of_another_shape_are_refused),
        cmocka_unit_test(without_lambda_one_is_chosen_where_the_study_is_made),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
