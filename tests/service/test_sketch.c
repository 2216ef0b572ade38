/* Which data sources of a home hold the same people: what is found, and that unrelated ones are not taken for
 * the same. */
#include "check.h"

#include <sodium.h>
#include <sqlite3.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/file.h"
#include "failing.h"
#include "folder.h"
#include "privacy/ledger/ledger.h"
#include "site/history/sketch.h"
#include "study/home.h"

enum { ROWS = 300, COLUMNS = 6 };

typedef struct home {
    folder place;
    int found;
    tacit_overlap_kind kind;
    double part;
    char text[2048];
} home;

static home open_home(void) {
    home self = { .place = folder_make() };
    char path[PATH_MAX];
    tacit_ledger *ledger = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    const tacit_price limit = { TACIT_UNIT_RECORD, 1, 0 };
    snprintf(path, sizeof path, "%s/" TACIT_LEDGER_NAME, self.place.path);
    CHECK_OK(tacit_ledger_open(&ledger, path, "any", TACIT_LEDGER_CREATE, &error), error);
    CHECK_OK(tacit_ledger_set_limit(ledger, NULL, &limit, &error), error);
    tacit_ledger_free(ledger);
    return self;
}

static const char *path_of(const home *self, const char *name) {
    static char paths[2][PATH_MAX];
    static int turn;
    turn = !turn;
    snprintf(paths[turn], sizeof paths[turn], "%s/%s", self->place.path, name);
    return paths[turn];
}

/* ---- tables ---- */

/* A number of row i and column j of the person who stands there; other seeds are other people. */
static uint64_t value_of(uint64_t seed, size_t i, size_t j) {
    uint64_t words[3] = { seed, i, j }, out = 0;
    crypto_generichash((uint8_t *)&out, sizeof out, (const uint8_t *)words, sizeof words, NULL, 0);
    return out;
}

typedef struct table {
    uint64_t seed;
    size_t from, count;       /* which people */
    bool backwards, decimals; /* rows in another order; numbers written with a point and zeros */
    bool numbered, dated;     /* a first column that counts rows, or days */
    bool identified;          /* a first column with a number that is the person's own */
    unsigned columns;         /* bits of those that are there; 0: all */
    unsigned levels;          /* of each value; 0: a thousand */
} table;

static void write_table(const home *self, const char *name, const table *about) {
    FILE *file = fopen(path_of(self, name), "w");
    const unsigned columns = about->columns != 0 ? about->columns : (1u << COLUMNS) - 1;
    assert_non_null(file);
    fprintf(file, "%s", about->numbered ? "nr," : about->dated ? "day," : about->identified ? "person," : "");
    for (unsigned j = 0, first = 1; j < COLUMNS; j++)
        if (columns >> j & 1) fprintf(file, "%sc%u", first ? "" : ",", j), first = 0;
    for (size_t r = 0; r < about->count; r++) {
        size_t i = about->from + (about->backwards ? about->count - 1 - r : r);
        fprintf(file, "\n");
        if (about->numbered) fprintf(file, "%zu,", r + 1);
        if (about->dated) fprintf(file, "20%02zu-%02zu-%02zu,", r / 336, r / 28 % 12 + 1, r % 28 + 1);
        if (about->identified)
            fprintf(file, "%llu,", (unsigned long long)(value_of(about->seed, i, 99) % 100000000));
        for (unsigned j = 0, first = 1; j < COLUMNS; j++) {
            unsigned value =
                (unsigned)(value_of(about->seed, i, j) % (about->levels > 0 ? about->levels : 1000));
            if (columns >> j & 1)
                fprintf(file, about->decimals ? "%s%u.00" : "%s%u", first ? "" : ",", value), first = 0;
        }
    }
    fprintf(file, "\n");
    fclose(file);
}

/* ---- looking ---- */

static tacit_status take_overlap(void *context, const tacit_overlap *overlap, tacit_error *error) {
    home *self = context;
    tacit_buffer text = TACIT_BUFFER_INIT;
    self->found++;
    self->kind = overlap->kind;
    self->part = overlap->part;
    tacit_status status = tacit_overlap_text(&text, overlap, error);
    if (status == TACIT_OK) status = tacit_buffer_print(&text, error, " | ");
    if (status == TACIT_OK) status = tacit_overlap_remedy(&text, overlap, error);
    if (status == TACIT_OK) snprintf(self->text, sizeof self->text, "%s", tacit_buffer_text(&text));
    tacit_buffer_clear(&text);
    return status;
}

static void sketch(home *self, const char *source, const char *data, const char *link) {
    static const tacit_load_options options = TACIT_LOAD_DEFAULTS;
    const tacit_sketch_source about = { self->place.path, source, data, link, &options };
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_sketch_take(&about, &error), error);
    self->found = 0;
    CHECK_OK(tacit_sketch_overlaps(self->place.path, source, take_overlap, self, &error), error);
}

/* Two tables, one after the other; what is then found of the second. */
static int overlaps(home *self, const table *first, const table *second) {
    write_table(self, "first.csv", first);
    sketch(self, "first.csv", path_of(self, "first.csv"), NULL);
    write_table(self, "second.csv", second);
    sketch(self, "second.csv", path_of(self, "second.csv"), NULL);
    return self->found;
}

static void finds(const table *first, const table *second, tacit_overlap_kind kind, double part) {
    home self = open_home();
    assert_int_equal(overlaps(&self, first, second), 1);
    assert_int_equal(self.kind, kind);
    CHECK_NEAR(self.part, part, 0.05);
    assert_non_null(strstr(self.text, "protected by neither limit alone"));
    assert_non_null(strstr(self.text, "tacit ledger link --source second.csv --same-people-as first.csv"));
    folder_remove(&self.place);
}

static void the_same_people_are_found(void **state) {
    (void)state;
    const table one = { .seed = 1, .count = ROWS }, numbered = { .seed = 1, .count = ROWS, .numbered = true };
    finds(&one, &one, TACIT_OVERLAP_SAME, 1);
    finds(&one, &(table){ .seed = 1, .count = ROWS, .backwards = true }, TACIT_OVERLAP_SAME, 1);
    finds(&one, &(table){ .seed = 1, .count = ROWS, .decimals = true }, TACIT_OVERLAP_SAME, 1);
    finds(&one, &(table){ .seed = 1, .from = 100, .count = 60 }, TACIT_OVERLAP_ROWS, 1);
    finds(&(table){ .seed = 1, .from = 100, .count = 60 }, &one, TACIT_OVERLAP_ROWS, 1);
    finds(&one, &(table){ .seed = 1, .from = ROWS / 2, .count = ROWS }, TACIT_OVERLAP_ROWS, 0.5);
    finds(&one, &numbered, TACIT_OVERLAP_SAME, 1);
    finds(&numbered, &(table){ .seed = 1, .count = ROWS, .backwards = true, .numbered = true },
          TACIT_OVERLAP_SAME, 1);
    for (unsigned j = 0; j < COLUMNS; j++) /* a column fewer, and one more */
        for (int turn = 0; turn < 2; turn++) {
            const table fewer = { .seed = 1, .count = ROWS, .backwards = true, .columns = ~(1u << j) & 0x3f };
            finds(turn ? &one : &fewer, turn ? &fewer : &one, TACIT_OVERLAP_PART, 1);
        }
}

/* Few different rows: a copy is one where the order is the same too. */
static void a_copy_of_rows_that_repeat_is_found(void **state) {
    (void)state;
    const table coarse = { .seed = 1, .count = ROWS, .levels = 2 };
    finds(&coarse, &coarse, TACIT_OVERLAP_SAME, 1);
    const table coarser = { .seed = 1, .count = ROWS, .levels = 2, .columns = 3 };
    finds(&coarser, &coarser, TACIT_OVERLAP_SAME, 1);
}

/* Two questions to one table that have nothing but the key in common. */
static void two_queries_of_one_table_are_found_by_their_key(void **state) {
    (void)state;
    home self = open_home();
    char source[PATH_MAX];
    sqlite3 *file = NULL;
    assert_int_equal(sqlite3_open(path_of(&self, "clinic.db"), &file), SQLITE_OK);
    assert_int_equal(
        sqlite3_exec(file, "CREATE TABLE visit (mrn TEXT, a REAL, b REAL, c REAL, d REAL)", NULL, NULL, NULL),
        SQLITE_OK);
    for (size_t i = 0; i < ROWS; i++) {
        char sql[200];
        snprintf(sql, sizeof sql, "INSERT INTO visit VALUES ('P-%llx', %d, %d, %d, %d)",
                 (unsigned long long)value_of(3, i, 0), (int)(value_of(3, i, 1) % 90),
                 (int)(value_of(3, i, 2) % 90), (int)(value_of(3, i, 3) % 90), (int)(value_of(3, i, 4) % 90));
        assert_int_equal(sqlite3_exec(file, sql, NULL, NULL, NULL), SQLITE_OK);
    }
    sqlite3_close(file);
    snprintf(source, sizeof source, "sqlite:%s?SELECT mrn, a, b FROM visit", path_of(&self, "clinic.db"));
    sketch(&self, "one query", source, NULL);
    snprintf(source, sizeof source, "sqlite:%s?SELECT d, c, mrn FROM visit ORDER BY c",
             path_of(&self, "clinic.db"));
    sketch(&self, "another", source, NULL);
    assert_int_equal(self.found, 1);
    assert_int_equal(self.kind, TACIT_OVERLAP_KEY);
    assert_non_null(strstr(self.text, "100% of the values of column 'mrn'"));
    assert_non_null(strstr(self.text, "--same-people-as 'one query'"));
    folder_remove(&self.place);
}

/* A declared key counts whatever it looks like, and whatever it is called. */
static void a_declared_key_is_compared(void **state) {
    (void)state;
    home self = open_home();
    write_table(&self, "first.csv", &(table){ .seed = 1, .count = ROWS, .numbered = true });
    write_table(&self, "second.csv", &(table){ .seed = 2, .count = ROWS, .numbered = true });
    sketch(&self, "first.csv", path_of(&self, "first.csv"), "nr");
    sketch(&self, "second.csv", path_of(&self, "second.csv"), "nr");
    assert_int_equal(self.found, 1);
    assert_int_equal(self.kind, TACIT_OVERLAP_KEY);
    folder_remove(&self.place);
}

static void rows_of_a_libsvm_file_are_found_in_any_order(void **state) {
    (void)state;
    home self = open_home();
    for (int k = 0; k < 3; k++) {
        FILE *file = fopen(path_of(&self, k == 0 ? "a.libsvm" : k == 1 ? "b.libsvm" : "c.libsvm"), "w");
        assert_non_null(file);
        for (size_t r = 0; r < 100; r++) {
            size_t i = k == 1 ? 99 - r : r;
            fprintf(file, "%d 1:%d 7:%d 9:%d%s", (int)(value_of(k == 2, i, 0) % 2),
                    (int)(value_of(k == 2, i, 1) % 1000), (int)(value_of(k == 2, i, 2) % 1000),
                    (int)(value_of(k == 2, i, 3) % 1000), r < 99 ? " # row\n" : "");
        }
        fclose(file);
    }
    sketch(&self, "a.libsvm", path_of(&self, "a.libsvm"), NULL);
    sketch(&self, "c.libsvm", path_of(&self, "c.libsvm"), NULL);
    assert_int_equal(self.found, 0);
    sketch(&self, "b.libsvm", path_of(&self, "b.libsvm"), NULL);
    assert_int_equal(self.found, 1);
    assert_int_equal(self.kind, TACIT_OVERLAP_SAME);
    folder_remove(&self.place);
}

/* People of one law, others each time, with values from coarse to fine; rows numbered, dated, or with numbers
 * of their own. The chance of a false alarm is at most 1e-9 for a view; the people are the same in each run,
 * and what is drawn again, the groups of columns, makes four views for each of 88 pairs: below 1e-6. The
 * control: pairs that share a tenth of their people. */
static void unrelated_sources_are_not_taken_for_the_same(void **state) {
    (void)state;
    static const unsigned levels[] = { 2, 3, 4, 5, 6, 8, 10, 15, 30, 100, 1000 };
    home self = open_home();
    int false_alarms = 0, found = 0, fine = 0;
    for (size_t k = 0; k < sizeof levels / sizeof *levels; k++)
        for (uint64_t round = 0; round < 8; round++) {
            table one = { .seed = 100 + 2 * round, .count = 400, .levels = levels[k] }, other = one;
            other.seed++;
            other.count = 250;
            one.numbered = other.numbered = round % 4 == 0;
            one.dated = other.dated = round % 4 == 1;
            one.identified = other.identified = round % 4 == 2;
            false_alarms += overlaps(&self, &one, &other);
            other.seed = one.seed;
            other.from = 400 - 40;
            if (levels[k] < 10) continue;
            fine++;
            found += overlaps(&self, &one, &other);
        }
    print_message("# %d false alarms; a tenth in common is found in %d of %d\n", false_alarms, found, fine);
    assert_int_equal(false_alarms, 0);
    assert_int_equal(found, fine);
    folder_remove(&self.place);
}

/* ---- the file ---- */

static void linked_sources_are_not_told_again(void **state) {
    (void)state;
    home self = open_home();
    const table one = { .seed = 1, .count = ROWS };
    tacit_ledger *ledger = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    assert_int_equal(overlaps(&self, &one, &one), 1);
    CHECK_OK(tacit_ledger_open(&ledger, path_of(&self, TACIT_LEDGER_NAME), "second.csv",
                               TACIT_LEDGER_EXISTING, &error),
             error);
    CHECK_OK(tacit_ledger_link(ledger, "first.csv", &error), error);
    tacit_ledger_free(ledger);
    self.found = 0;
    CHECK_OK(tacit_sketch_overlaps(self.place.path, NULL, take_overlap, &self, &error), error);
    assert_int_equal(self.found, 0);
    folder_remove(&self.place);
}

static void sketches_are_the_owners_alone_and_go_with_the_ledger(void **state) {
    (void)state;
    home self = open_home();
    const table one = { .seed = 1, .count = ROWS, .identified = true };
    struct stat file;
    tacit_buffer bytes = TACIT_BUFFER_INIT;
    char value[32];
    overlaps(&self, &one, &one);
    assert_int_equal(stat(path_of(&self, TACIT_SKETCHES_NAME), &file), 0);
    assert_int_equal(file.st_mode & 0777, 0600);
    assert_int_equal(tacit_file_read(path_of(&self, TACIT_SKETCHES_NAME), &bytes, NULL), TACIT_OK);
    for (size_t i = 0; i < ROWS; i++) { /* no value of a row is in it */
        snprintf(value, sizeof value, "%llu", (unsigned long long)(value_of(1, i, 99) % 100000000));
        if (strlen(value) >= 7) assert_null(memmem(bytes.bytes, bytes.length, value, strlen(value)));
    }
    assert_int_equal(remove(path_of(&self, TACIT_LEDGER_NAME)), 0);
    sketch(&self, "third.csv", path_of(&self, "second.csv"), NULL);
    assert_int_equal(self.found, 0); /* what was known before is gone */
    tacit_buffer_clear(&bytes);
    folder_remove(&self.place);
}

static void a_changed_file_is_looked_at_again(void **state) {
    (void)state;
    home self = open_home();
    const table one = { .seed = 1, .count = ROWS }, other = { .seed = 2, .count = ROWS };
    assert_int_equal(overlaps(&self, &one, &other), 0);
    assert_int_equal(overlaps(&self, &one, &one), 1);
    assert_int_equal(overlaps(&self, &other, &one), 0);
    folder_remove(&self.place);
}

static void every_allocation_may_fail_once(void **state) {
    (void)state;
    home self = open_home();
    static const tacit_load_options options = TACIT_LOAD_DEFAULTS;
    write_table(&self, "first.csv", &(table){ .seed = 1, .count = 70, .identified = true });
    sketch(&self, "other", path_of(&self, "first.csv"), NULL);
    bool failed = true;
    for (long at = 1; failed; at++) {
        char name[32];
        snprintf(name, sizeof name, "source-%ld", at);
        const tacit_sketch_source about = { self.place.path, name, path_of(&self, "first.csv"), NULL,
                                            &options };
        tacit_error error = TACIT_ERROR_INIT;
        fail_allocation(at);
        tacit_status status = tacit_sketch_take(&about, &error);
        failed = allocation_failed();
        assert_int_equal(status, failed ? TACIT_NO_MEMORY : TACIT_OK);
    }
    failed = true;
    for (long at = 1; failed; at++) {
        tacit_error error = TACIT_ERROR_INIT;
        fail_allocation(at);
        tacit_status status = tacit_sketch_overlaps(self.place.path, NULL, take_overlap, &self, &error);
        failed = allocation_failed();
        assert_int_equal(status, failed ? TACIT_NO_MEMORY : TACIT_OK);
    }
    assert_int_equal(self.kind, TACIT_OVERLAP_SAME);
    folder_remove(&self.place);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_people_are_found),
        cmocka_unit_test(a_copy_of_rows_that_repeat_is_found),
        cmocka_unit_test(two_queries_of_one_table_are_found_by_their_key),
        cmocka_unit_test(a_declared_key_is_compared),
        cmocka_unit_test(rows_of_a_libsvm_file_are_found_in_any_order),
        cmocka_unit_test(unrelated_sources_are_not_taken_for_the_same),
        cmocka_unit_test(linked_sources_are_not_told_again),
        cmocka_unit_test(sketches_are_the_owners_alone_and_go_with_the_ledger),
        cmocka_unit_test(a_changed_file_is_looked_at_again),
        cmocka_unit_test(every_allocation_may_fail_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
