/* The record of what exact sums were made of: rows and parties that differ by few from earlier ones are
 * refused. */
#include "check.h"

#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "failing.h"
#include "folder.h"
#include "site/history/sum_history.h"
#include "store/store.h"

enum { ROWS = 40, MINIMUM = 10, KEYS = 8 };

#define SCHEMA_OF(low)                                                                                       \
    "label: {name: y, classes: [no, yes]}\ncolumns: [{name: a, kind: number, low: " low                      \
    ", high: 1}, {name: b, kind: number, low: -1, high: 1}]\n"

typedef struct world {
    folder place;
    char path[PATH_MAX];
    tacit_sum_history *history;
    tacit_schema *schema, *other;
} world;

static tacit_schema *schema_of(const char *text) {
    tacit_schema *schema = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_schema_parse(&schema, text, strlen(text), "test", &error), error);
    return schema;
}

static world open_world(void) {
    world self = { .place = folder_make(),
                   .schema = schema_of(SCHEMA_OF("-1")),
                   .other = schema_of(SCHEMA_OF("-2")) };
    tacit_error error = TACIT_ERROR_INIT;
    snprintf(self.path, sizeof self.path, "%s", self.place.file);
    CHECK_OK(tacit_sum_history_open(&self.history, self.path, &error), error);
    return self;
}

static void close_world(world *self) {
    tacit_sum_history_free(self->history);
    tacit_schema_free(self->schema);
    tacit_schema_free(self->other);
    folder_remove(&self->place);
}

/* Started again, it still knows. */
static void open_again(world *self) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_sum_history_free(self->history);
    CHECK_OK(tacit_sum_history_open(&self->history, self->path, &error), error);
}

/* Rows number `from` to `from + count` of one long table. */
static tacit_dataset *rows_of(size_t from, size_t count) {
    tacit_dataset *rows = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    const char *const classes[] = { "no", "yes" };
    CHECK_OK(tacit_dataset_create(&rows, count, 2, classes, 2, &error), error);
    for (size_t i = 0; i < count; i++) {
        double *row = rows->dense.values + (count - 1 - i) * rows->dense.cols; /* in any order */
        row[0] = (double)(from + i) / 1000;
        row[1] = (double)((from + i) * 7 % 13) / 13;
        rows->label[count - 1 - i] = (int32_t)((from + i) % 2);
    }
    return rows;
}

typedef struct asked {
    const char *study;
    size_t from, count;
    bool begun, noised, allowed, other_schema, relabelled;
    const tacit_schema *schema; /* in place of the usual ones */
    bool identified;
    size_t without; /* a row that is not there; 0: none */
} asked;

/* As a file's rows have it: whichever columns a study looks at. */
static void identify(tacit_dataset *rows, const asked *what) {
    rows->identity = calloc(what->count, sizeof *rows->identity);
    assert_non_null(rows->identity);
    for (size_t i = 0; i < what->count; i++) rows->identity[what->count - 1 - i] = what->from + i;
    if (what->without > 0) rows->identity[what->count - 1 - (what->without - what->from)] = 12345;
}

static tacit_status hold(world *self, const asked *what, tacit_error *error) {
    tacit_dataset *rows = rows_of(what->from, what->count);
    if (what->identified) identify(rows, what);
    if (what->relabelled) rows->label[0] = 1 - rows->label[0];
    const tacit_sum_history_rows about = { .source = "clinic.csv",
                                           .study = what->study,
                                           .rows = rows,
                                           .total = what->count,
                                           .schema = what->schema != NULL ? what->schema
                                                     : what->other_schema ? self->other
                                                                          : self->schema,
                                           .begun = what->begun,
                                           .exact = !what->noised,
                                           .allowed = what->allowed,
                                           .minimum = MINIMUM };
    tacit_status status = tacit_sum_history_hold_rows(self->history, &about, error);
    tacit_dataset_free(rows);
    return status;
}

static void takes(world *self, asked what) {
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(hold(self, &what, &error), error);
}

static void refuses(world *self, asked what, const char *says) {
    tacit_error error = TACIT_ERROR_INIT;
    assert_int_equal(hold(self, &what, &error), TACIT_REFUSED);
    if (strstr(error.text, says) == NULL) fail_msg("'%s' does not say '%s'", error.text, says);
}

/* ---- rows ---- */

static void test_rows_stay_once_a_study_has_begun(void **state) {
    (void)state;
    world self = open_world();
    takes(&self, (asked){ .study = "a", .count = ROWS, .noised = true });
    takes(&self, (asked){ .study = "a", .count = ROWS + 1, .noised = true }); /* nothing has left yet */
    open_again(&self);
    takes(&self, (asked){ .study = "a", .count = ROWS + 1, .noised = true, .begun = true });
    refuses(&self, (asked){ .study = "a", .count = ROWS, .noised = true, .begun = true },
            "have changed since");
    refuses(&self, (asked){ .study = "a", .from = 1, .count = ROWS + 1, .noised = true, .begun = true },
            "have changed since");
    close_world(&self);
}

static void test_exact_studies_do_not_differ_by_few_rows(void **state) {
    (void)state;
    world self = open_world();
    takes(&self, (asked){ .study = "a", .count = ROWS });
    takes(&self, (asked){ .study = "b", .count = ROWS }); /* the same ones */
    open_again(&self);
    refuses(&self, (asked){ .study = "c", .count = ROWS - 1 }, "differ by 1 from those that study a");
    refuses(&self, (asked){ .study = "c", .from = 2, .count = ROWS }, "differ by 4");
    refuses(&self, (asked){ .study = "c", .count = ROWS, .relabelled = true }, "differ by 2");
    refuses(&self, (asked){ .study = "c", .count = ROWS + MINIMUM - 1 }, "fewer than your minimum of 10");
    takes(&self, (asked){ .study = "c", .count = ROWS + MINIMUM });
    takes(&self, (asked){ .study = "d", .from = 200, .count = ROWS });
    refuses(&self, (asked){ .study = "e", .count = ROWS + MINIMUM + 1 }, "study c"); /* of any earlier one */
    takes(&self, (asked){ .study = "e", .count = ROWS + 1, .allowed = true });
    close_world(&self);
}

/* Noise covers what a row changes, and the sums of a study with noise are no sums to take from others. */
static void test_studies_with_noise_may_differ(void **state) {
    (void)state;
    world self = open_world();
    takes(&self, (asked){ .study = "a", .count = ROWS });
    takes(&self, (asked){ .study = "b", .count = ROWS + 1, .noised = true });
    takes(&self, (asked){ .study = "c", .count = ROWS });
    refuses(&self, (asked){ .study = "d", .count = ROWS + 1 }, "study");
    /* What was first seen with noise is known by its rows once it is summed exactly. */
    takes(&self, (asked){ .study = "e", .count = 100, .noised = true });
    takes(&self, (asked){ .study = "f", .count = 100 });
    refuses(&self, (asked){ .study = "g", .count = 101 }, "differ by 1");
    close_world(&self);
}

/* Other columns hide which rows they are: what is left is their number. */
static void test_rows_of_another_schema_are_counted(void **state) {
    (void)state;
    world self = open_world();
    takes(&self, (asked){ .study = "a", .count = ROWS });
    refuses(&self, (asked){ .study = "b", .count = ROWS + 2, .other_schema = true }, "differ by 2");
    takes(&self, (asked){ .study = "b", .count = ROWS, .other_schema = true });
    refuses(&self, (asked){ .study = "c", .count = ROWS - 2, .other_schema = true }, "differ by");
    close_world(&self);
}

/* Two studies that leave out different incomplete rows have as many rows; which they are can be compared,
 * since rows that are there are encoded alike. */
static void test_rows_left_out_for_different_columns_are_told_apart(void **state) {
    (void)state;
    world self = open_world();
    static const char rows[] =
        "label: {name: y, classes: [no, yes]}\ncolumns: [{name: a, kind: number, low: -1, "
        "high: 1%s}, {name: b, kind: number, low: -1, high: 1%s}]\n";
    char text[2][300];
    snprintf(text[0], sizeof text[0], rows, ", missing: complete-case", "");
    snprintf(text[1], sizeof text[1], rows, "", ", missing: complete-case");
    tacit_schema *first = schema_of(text[0]), *second = schema_of(text[1]);
    takes(&self, (asked){ .study = "a", .count = ROWS, .schema = first });
    refuses(&self, (asked){ .study = "b", .from = 1, .count = ROWS, .schema = second },
            "differ by 2 from those that study a");
    takes(&self, (asked){ .study = "b", .count = ROWS, .schema = second });
    refuses(&self, (asked){ .study = "c", .count = ROWS - 1 }, "differ by 1 from those that study a");
    takes(&self, (asked){ .study = "d", .from = MINIMUM, .count = ROWS, .schema = second });
    tacit_schema_free(first);
    tacit_schema_free(second);
    close_world(&self);
}

static tacit_schema *schema_with_subset(const char *low, const char *subset) {
    char text[400];
    snprintf(text, sizeof text,
             "label: {name: y, classes: [no, yes]}\ncolumns: [{name: a, kind: number, low: %s, high: 1}, "
             "{name: b, kind: number, low: -1, high: 1}]\n%s",
             low, subset);
    return schema_of(text);
}

/* Two studies that choose rows by conditions and look at different columns: which rows they are is known all the
 * same, so that one row more is refused, and other rows are not taken for a few more or less. */
static void test_subsets_are_compared_whatever_columns_a_study_looks_at(void **state) {
    (void)state;
    world self = open_world();
    tacit_schema *some = schema_with_subset("-1", "subset: a > 0\n"),
                 *others = schema_with_subset("-2", "subset: a > 0.1\n");
    takes(&self, (asked){ .study = "a", .count = ROWS, .schema = some, .identified = true });
    open_again(&self);
    refuses(&self, (asked){ .study = "b", .from = 1, .count = ROWS, .schema = others, .identified = true },
            "about fewer rows than your minimum of 10; the study's subset is a > 0.1");
    takes(&self,
          (asked){ .study = "b", .from = 100, .count = ROWS - 3, .schema = others, .identified = true });
    takes(
        &self,
        (asked){
            .study = "c", .from = 1, .count = ROWS, .schema = others, .identified = true, .allowed = true });
    tacit_schema_free(some);
    tacit_schema_free(others);
    close_world(&self);
}

/* The first half, the second half, and the whole with one row exchanged. */
static void test_three_subsets_together_must_not_tell_of_few_rows(void **state) {
    (void)state;
    world self = open_world();
    tacit_schema *some = schema_with_subset("-1", "subset: a > 0\n"), *others = schema_with_subset("-2", "");
    takes(&self, (asked){ .study = "a", .count = ROWS, .schema = some, .identified = true });
    takes(&self, (asked){ .study = "b", .from = ROWS, .count = ROWS, .schema = some, .identified = true });
    refuses(&self,
            (asked){ .study = "c", .count = 2 * ROWS, .schema = others, .identified = true, .without = 5 },
            "added to those of earlier studies");
    takes(&self, (asked){ .study = "c", .count = 2 * ROWS, .schema = others, .identified = true });
    tacit_schema_free(some);
    tacit_schema_free(others);
    close_world(&self);
}

/* As the first version of the program wrote it. */
static void test_an_older_record_is_read_and_goes_on(void **state) {
    (void)state;
    static const char *const scripts[] = {
        "CREATE TABLE secret (key BLOB NOT NULL);"
        "CREATE TABLE rowset (digest BLOB PRIMARY KEY, encoding BLOB NOT NULL, total INTEGER NOT NULL,"
        " hashes BLOB);"
        "CREATE TABLE used (source TEXT NOT NULL, study TEXT NOT NULL, digest BLOB NOT NULL REFERENCES "
        "rowset,"
        " exact INTEGER NOT NULL, time INTEGER NOT NULL, PRIMARY KEY (source, study));"
        "CREATE TABLE summed (source TEXT NOT NULL, study TEXT NOT NULL, coordinator TEXT NOT NULL,"
        " keys BLOB NOT NULL, time INTEGER NOT NULL, PRIMARY KEY (source, study));"
        "INSERT INTO rowset VALUES (zeroblob(32), zeroblob(32), 42, zeroblob(336));"
        "INSERT INTO used VALUES ('clinic.csv', 'old', zeroblob(32), 1, 0);",
    };
    static const tacit_store_schema first = {
        .what = "record of past sums", .application_id = 0x54505354, .scripts = scripts, .script_count = 1
    };
    world self = open_world();
    tacit_error error = TACIT_ERROR_INIT;
    tacit_store *store = NULL;
    tacit_sum_history_free(self.history);
    assert_int_equal(remove(self.path), 0);
    CHECK_OK(tacit_store_open(&store, self.path, &first, TACIT_STORE_CREATE, &error), error);
    tacit_store_close(store);
    CHECK_OK(tacit_sum_history_open(&self.history, self.path, &error), error);
    refuses(&self, (asked){ .study = "a", .count = ROWS, .identified = true },
            "differ by 2 from those that study old");
    takes(&self, (asked){ .study = "a", .count = ROWS + MINIMUM + 2, .identified = true });
    close_world(&self);
}

/* ---- parties ---- */

static tacit_status sum_over(world *self, const char *study, const char *coordinator, const char *who,
                             bool allowed, tacit_error *error) {
    uint8_t keys[KEYS][32];
    size_t count = 0;
    for (size_t k = 0; who[k] != 0; k++)
        if (who[k] == '1') memset(keys[count++], (int)(0xf0 - 16 * k), sizeof keys[0]);
    const tacit_sum_history_set about = { .source = "clinic.csv",
                                          .study = study,
                                          .coordinator = coordinator,
                                          .keys = (const uint8_t(*)[32])keys,
                                          .count = count,
                                          .few = 2,
                                          .allowed = allowed };
    return tacit_sum_history_hold_set(self->history, &about, error);
}

static void sums(world *self, const char *study, const char *who) {
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(sum_over(self, study, "@uni", who, false, &error), error);
}

static void does_not_sum(world *self, const char *study, const char *who) {
    tacit_error error = TACIT_ERROR_INIT;
    assert_int_equal(sum_over(self, study, "@uni", who, false, &error), TACIT_REFUSED);
    assert_non_null(strstr(error.text, "the option 'allow-difference'"));
}

static void test_sums_do_not_differ_by_few_parties(void **state) {
    (void)state;
    world self = open_world();
    tacit_error error = TACIT_ERROR_INIT;
    size_t others, parties;
    sums(&self, "a@uni", "11111000");
    open_again(&self);
    sums(&self, "a@uni", "11111000"); /* again after a crash */
    sums(&self, "b@uni", "11111000");
    does_not_sum(&self, "a@uni+1234", "11110000");
    does_not_sum(&self, "c@uni", "11110100"); /* one for another: with a colluder, one */
    sums(&self, "c@uni", "11111111");
    does_not_sum(&self, "d@uni", "11111110");
    CHECK_OK(sum_over(&self, "d@uni", "@uni", "11110000", true, &error), error);
    CHECK_OK(tacit_sum_history_count(self.history, "clinic.csv", "a@uni", &others, &parties, &error), error);
    assert_int_equal(parties, 5);
    close_world(&self);
}

/* No two of them differ by fewer than five, and the three together tell of two. */
static void test_three_sums_do_not_tell_of_few_parties(void **state) {
    (void)state;
    world self = open_world();
    sums(&self, "a@uni", "11111100");
    sums(&self, "b@uni", "11100011");
    does_not_sum(&self, "c@uni", "00011111");
    close_world(&self);
}

/* Keys are one coordinator's: another's parties cannot be compared (docs/securesum.md says so). */
static void test_parties_of_another_coordinator_are_not_compared(void **state) {
    (void)state;
    world self = open_world();
    tacit_error error = TACIT_ERROR_INIT;
    sums(&self, "a@uni", "11111000");
    CHECK_OK(sum_over(&self, "a@lab", "@lab", "11110000", false, &error), error);
    close_world(&self);
}

/* ---- want of memory ---- */

static void test_every_allocation_may_fail_once(void **state) {
    (void)state;
    world self = open_world();
    tacit_dataset *rows = rows_of(0, ROWS);
    tacit_sum_history_rows about = { .source = "clinic.csv",
                                     .rows = rows,
                                     .total = ROWS,
                                     .schema = self.schema,
                                     .exact = true,
                                     .minimum = MINIMUM };
    takes(&self, (asked){ .study = "a", .count = ROWS + MINIMUM });
    sums(&self, "a@uni", "11111000");
    bool failed = true;
    for (long at = 1; failed; at++) {
        tacit_error error = TACIT_ERROR_INIT;
        char study[32];
        snprintf(study, sizeof study, "study-%ld", at);
        about.study = study;
        fail_allocation(at);
        tacit_status status = tacit_sum_history_hold_rows(self.history, &about, &error);
        failed = allocation_failed();
        assert_int_equal(status, failed ? TACIT_NO_MEMORY : TACIT_OK);
    }
    failed = true;
    for (long at = 1; failed; at++) {
        tacit_error error = TACIT_ERROR_INIT;
        fail_allocation(at);
        tacit_status status = sum_over(&self, "b@uni", "@uni", "11111111", false, &error);
        failed = allocation_failed();
        assert_int_equal(status, failed ? TACIT_NO_MEMORY : TACIT_OK);
    }
    tacit_dataset_free(rows);
    close_world(&self);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows_stay_once_a_study_has_begun),
        cmocka_unit_test(test_exact_studies_do_not_differ_by_few_rows),
        cmocka_unit_test(test_studies_with_noise_may_differ),
        cmocka_unit_test(test_rows_of_another_schema_are_counted),
        cmocka_unit_test(test_rows_left_out_for_different_columns_are_told_apart),
        cmocka_unit_test(test_subsets_are_compared_whatever_columns_a_study_looks_at),
        cmocka_unit_test(test_three_subsets_together_must_not_tell_of_few_rows),
        cmocka_unit_test(test_an_older_record_is_read_and_goes_on),
        cmocka_unit_test(test_sums_do_not_differ_by_few_parties),
        cmocka_unit_test(test_three_sums_do_not_tell_of_few_parties),
        cmocka_unit_test(test_parties_of_another_coordinator_are_not_compared),
        cmocka_unit_test(test_every_allocation_may_fail_once),
    };
    if (sodium_init() < 0) return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
