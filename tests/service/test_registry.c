/* What a coordinator remembers: studies and their ends, and who may read the file. */
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <sqlite3.h>
#include <sys/stat.h>

#include "world.h"

static void a_folder_without_a_registry_is_told(void **state) {
    (void)state;
    world w = { .place = folder_make(), .error = TACIT_ERROR_INIT };
    fails(&w, tacit_registry_open(&w.registry, w.place.path, false, &w.error), TACIT_NOT_FOUND,
          "coordinator.db");
    folder_remove(&w.place);
}

static void settings_are_kept(void **state) {
    (void)state;
    world w = begin();
    char value[32] = "x";
    CHECK_OK(tacit_registry_get(w.registry, "name", value, sizeof value, &w.error), w.error);
    assert_string_equal(value, "");
    CHECK_OK(tacit_registry_set(w.registry, "name", "first", &w.error), w.error);
    CHECK_OK(tacit_registry_set(w.registry, "name", "second", &w.error), w.error);
    CHECK_OK(tacit_registry_get(w.registry, "name", value, sizeof value, &w.error), w.error);
    assert_string_equal(value, "second");
    end(&w);
}

static void studies_are_listed_as_added_and_names_are_unique(void **state) {
    (void)state;
    world w = begin();
    tacit_study_record *records = NULL, one;
    tacit_buffer definition = TACIT_BUFFER_INIT;
    size_t count = 0;
    CHECK_OK(tacit_registry_add_study(w.registry, "a", "other", NULL, &w.error), w.error);
    fails(&w, tacit_registry_add_study(w.registry, "s", "again", NULL, &w.error), TACIT_USAGE,
          "already there");
    CHECK_OK(tacit_registry_studies(w.registry, &records, &count, &w.error), w.error);
    assert_int_equal(count, 2);
    assert_string_equal(records[0].name, "s");
    assert_string_equal(records[1].name, "a");
    free(records);
    CHECK_OK(tacit_registry_study(w.registry, "s", &one, &definition, &w.error), w.error);
    assert_string_equal(tacit_buffer_text(&definition), "definition");
    assert_int_equal(one.state, TACIT_STUDY_RECRUITING);
    assert_int_equal(one.joined + one.invited + one.rounds, 0);
    fails(&w, tacit_registry_study(w.registry, "none", &one, NULL, &w.error), TACIT_NOT_FOUND, "'none'");
    tacit_buffer_clear(&definition);
    end(&w);
}

static bool has_step(world *w, const tacit_board_steps *steps, uint64_t round, unsigned step) {
    tacit_buffer out = TACIT_BUFFER_INIT;
    bool found = false;
    CHECK_OK(steps->read(steps->context, round, step, &found, &out, &w->error), w->error);
    assert_int_equal(out.length, found ? 1 : 0);
    tacit_buffer_clear(&out);
    return found;
}

/* A later sum drops the steps of earlier ones; who is in all sums and how the graph was drawn stay until an
 * amendment. */
static void steps_of_earlier_sums_go_and_the_drawing_stays(void **state) {
    (void)state;
    world w = begin();
    tacit_board_steps steps;
    const unsigned kept[] = { TACIT_BOARD_SET, TACIT_MASKED_DRAW, TACIT_MASKED_REVEAL };
    CHECK_OK(tacit_registry_steps(w.registry, "s", &steps, &w.error), w.error);
    for (size_t i = 0; i < 3; i++)
        CHECK_OK(steps.write(steps.context, 0, kept[i], (const uint8_t *)"x", 1, &w.error), w.error);
    CHECK_OK(steps.write(steps.context, 0, TACIT_SUM_MASK, (const uint8_t *)"x", 1, &w.error), w.error);
    assert_string_equal(look_up(&w, "s").step, "consent"); /* the next of the open sum */
    CHECK_OK(steps.write(steps.context, 1, 0, (const uint8_t *)"x", 1, &w.error), w.error);
    assert_false(has_step(&w, &steps, 0, TACIT_SUM_MASK));
    assert_true(has_step(&w, &steps, 1, 0));
    for (size_t i = 0; i < 3; i++) assert_true(has_step(&w, &steps, 0, kept[i]));
    CHECK_OK(tacit_registry_amend(w.registry, "s", "new", NULL, &w.error), w.error);
    for (size_t i = 0; i < 3; i++) assert_false(has_step(&w, &steps, 0, kept[i]));
    free(steps.context);
    end(&w);
}

/* The record of many parties is written in pieces, and read as one; it goes with its sum. */
static void a_long_record_is_read_as_it_was_written(void **state) {
    (void)state;
    enum { LENGTH = (9 << 20) + 5 };
    world w = begin();
    tacit_board_steps steps;
    tacit_buffer out = TACIT_BUFFER_INIT;
    uint8_t *long_one = malloc(LENGTH);
    bool found = false;
    assert_non_null(long_one);
    for (size_t i = 0; i < LENGTH; i++) long_one[i] = (uint8_t)(i * 2654435761u >> 13);
    CHECK_OK(tacit_registry_steps(w.registry, "s", &steps, &w.error), w.error);
    CHECK_OK(steps.write(steps.context, 0, TACIT_SUM_SHARE, long_one, LENGTH, &w.error), w.error);
    assert_string_equal(look_up(&w, "s").step, "mask");
    CHECK_OK(steps.read(steps.context, 0, TACIT_SUM_SHARE, &found, &out, &w.error), w.error);
    assert_true(found);
    assert_int_equal(out.length, LENGTH);
    assert_memory_equal(out.bytes, long_one, LENGTH);
    CHECK_OK(steps.write(steps.context, 1, 0, (const uint8_t *)"x", 1, &w.error), w.error);
    out.length = 0;
    CHECK_OK(steps.read(steps.context, 0, TACIT_SUM_SHARE, &found, &out, &w.error), w.error);
    assert_false(found);
    CHECK_OK(steps.write(steps.context, 0, TACIT_SUM_SHARE, (const uint8_t *)"y", 1, &w.error), w.error);
    assert_true(has_step(&w, &steps, 0, TACIT_SUM_SHARE)); /* no piece of the long one is left */
    tacit_buffer_clear(&out);
    free(long_one);
    free(steps.context);
    end(&w);
}

static void check_step(world *w, const tacit_board_steps *steps, unsigned step, const char *expected) {
    tacit_buffer out = TACIT_BUFFER_INIT;
    bool found = false;
    CHECK_OK(steps->read(steps->context, 0, step, &found, &out, &w->error), w->error);
    assert_int_equal(found, expected != NULL);
    if (found) assert_string_equal(tacit_buffer_text(&out), expected);
    tacit_buffer_clear(&out);
}

static void append(world *w, const tacit_board_steps *steps, unsigned step, bool first, const char *text) {
    CHECK_OK(steps->append(steps->context, 0, step, first, (const uint8_t *)text, strlen(text), &w->error),
             w->error);
}

static void write_last(world *w, const tacit_board_steps *steps, unsigned step, const char *text) {
    CHECK_OK(steps->write(steps->context, 0, step, (const uint8_t *)text, strlen(text), &w->error), w->error);
}

/* A record that is appended to is none until it is written: what a program leaves that is killed in between
 * does not show, and is gone with the next record of the step, appended to or not. */
static void a_record_in_parts_is_none_until_it_is_written(void **state) {
    (void)state;
    world w = begin();
    tacit_board_steps steps, again;
    CHECK_OK(tacit_registry_steps(w.registry, "s", &steps, &w.error), w.error);
    write_last(&w, &steps, TACIT_SUM_ADVERTISE, "keys ");
    append(&w, &steps, TACIT_SUM_SHARE, true, "one ");
    append(&w, &steps, TACIT_SUM_SHARE, false, "two ");
    check_step(&w, &steps, TACIT_SUM_SHARE, NULL);
    assert_string_equal(look_up(&w, "s").step, "share"); /* the open one */
    write_last(&w, &steps, TACIT_SUM_SHARE, "three ");
    check_step(&w, &steps, TACIT_SUM_SHARE, "one two three ");
    check_step(&w, &steps, TACIT_SUM_ADVERTISE, "keys ");
    append(&w, &steps, TACIT_SUM_MASK, true, "lost ");
    append(&w, &steps, TACIT_SUM_MASK, false, "lost too ");
    append(&w, &steps, TACIT_SUM_CONSENT, true, "lost as well ");
    CHECK_OK(tacit_registry_steps(w.registry, "s", &again, &w.error), w.error); /* as after a restart */
    check_step(&w, &again, TACIT_SUM_MASK, NULL);
    append(&w, &again, TACIT_SUM_MASK, true, "four ");
    write_last(&w, &again, TACIT_SUM_MASK, "");
    check_step(&w, &again, TACIT_SUM_MASK, "four ");
    write_last(&w, &again, TACIT_SUM_CONSENT, "five ");
    check_step(&w, &again, TACIT_SUM_CONSENT, "five ");
    check_step(&w, &again, TACIT_SUM_SHARE, "one two three ");
    free(steps.context);
    free(again.context);
    end(&w);
}

static void points_are_kept_beside_the_study(void **state) {
    (void)state;
    world w = begin();
    tacit_buffer points = TACIT_BUFFER_INIT, out = TACIT_BUFFER_INIT;
    const uint8_t bytes[] = { 0, 255, 0, 7 };
    CHECK_OK(tacit_registry_points(w.registry, "s", &out, &w.error), w.error);
    assert_int_equal(out.length, 0);
    CHECK_OK(tacit_buffer_append(&points, bytes, sizeof bytes, &w.error), w.error);
    CHECK_OK(tacit_registry_add_study(w.registry, "t", "definition", &points, &w.error), w.error);
    fails(&w, tacit_registry_add_study(w.registry, "s", "again", &points, &w.error), TACIT_USAGE,
          "already there");
    tacit_registry_close(w.registry);
    CHECK_OK(tacit_registry_open(&w.registry, w.place.path, false, &w.error), w.error);
    CHECK_OK(tacit_registry_points(w.registry, "s", &out, &w.error), w.error);
    assert_int_equal(out.length, 0);
    CHECK_OK(tacit_registry_points(w.registry, "t", &out, &w.error), w.error);
    assert_int_equal(out.length, sizeof bytes);
    assert_memory_equal(out.bytes, bytes, sizeof bytes);
    tacit_buffer_clear(&points);
    tacit_buffer_clear(&out);
    end(&w);
}

/* A folder of the version before studies had points goes on working. */
static void an_older_file_is_brought_up(void **state) {
    (void)state;
    world w = begin();
    tacit_registry_close(w.registry);
    char path[128];
    sqlite3 *file = NULL;
    snprintf(path, sizeof path, "%s/coordinator.db", w.place.path);
    assert_int_equal(sqlite3_open(path, &file), SQLITE_OK);
    assert_int_equal(
        sqlite3_exec(file,
                     "DROP INDEX invitation_free; DROP INDEX invitation_used; DROP INDEX invitation_party; "
                     "DROP INDEX party_study; DROP INDEX party_gone; DROP INDEX signer_key; "
                     "DROP TABLE arm; DROP TABLE arm_group; DROP TABLE answered; DROP TABLE receipt; DROP "
                     "TABLE redeemed; DROP TABLE contact; "
                     "DROP TABLE points; DROP TABLE masked_step; DROP TABLE roster; DROP TABLE signer; "
                     "DROP TABLE applicant; DROP TABLE archived; ALTER TABLE party DROP COLUMN ask_again;"
                     "DROP TABLE pass; DROP TABLE earlier_version; DROP TABLE renewal; DROP TABLE "
                     "revocation; ALTER TABLE "
                     "study DROP COLUMN version;"
                     "ALTER TABLE study DROP COLUMN resumes; ALTER TABLE party DROP COLUMN version;"
                     "ALTER TABLE party DROP COLUMN away; ALTER TABLE party DROP COLUMN called;"
                     "ALTER TABLE invitation DROP COLUMN called;"
                     "PRAGMA user_version = 1",
                     NULL, NULL, NULL),
        SQLITE_OK);
    sqlite3_close(file);
    tacit_buffer points = TACIT_BUFFER_INIT;
    CHECK_OK(tacit_registry_open(&w.registry, w.place.path, false, &w.error), w.error);
    CHECK_OK(tacit_registry_points(w.registry, "s", &points, &w.error), w.error);
    assert_int_equal(points.length, 0);
    CHECK_OK(tacit_buffer_append(&points, "p", 1, &w.error), w.error);
    CHECK_OK(tacit_registry_add_study(w.registry, "t", "definition", &points, &w.error), w.error);
    tacit_buffer_clear(&points);
    end(&w);
}

static void an_ended_study_stays_as_it_is(void **state) {
    (void)state;
    static const tacit_study_state ends[] = { TACIT_STUDY_DONE, TACIT_STUDY_FAILED, TACIT_STUDY_CLOSED };
    for (size_t i = 0; i < 3; i++) {
        world w = begin();
        tacit_stream secret;
        tacit_buffer model = TACIT_BUFFER_INIT, kept = TACIT_BUFFER_INIT;
        CHECK_OK(tacit_buffer_append(&model, "model", 5, &w.error), w.error);
        set_state(&w, "s", TACIT_STUDY_RUNNING);
        CHECK_OK(tacit_registry_secret(w.registry, "s", &secret, &w.error), w.error);
        fails(&w, tacit_registry_model(w.registry, "s", &kept, &w.error), TACIT_NOT_FOUND, "no model");
        CHECK_OK(tacit_registry_set_state(w.registry, "s", ends[i], "why", &model, &w.error), w.error);
        for (int other = TACIT_STUDY_RECRUITING; other <= TACIT_STUDY_CLOSED; other++)
            fails(&w, tacit_registry_set_state(w.registry, "s", (tacit_study_state)other, "", NULL, &w.error),
                  TACIT_USAGE, "already");
        assert_int_equal(look_up(&w, "s").state, ends[i]);
        assert_string_equal(look_up(&w, "s").reason, "why");
        CHECK_OK(tacit_registry_model(w.registry, "s", &kept, &w.error), w.error);
        assert_string_equal(tacit_buffer_text(&kept), "model");
        fails(&w, tacit_registry_secret(w.registry, "s", &secret, &w.error), TACIT_NOT_FOUND, "ended");
        tacit_buffer_clear(&model);
        tacit_buffer_clear(&kept);
        end(&w);
    }
}

/* Whether the bytes are anywhere in the files of the folder. */
static bool files_hold(const world *w, const void *bytes, size_t length) {
    DIR *listing = opendir(w->place.path);
    bool found = false;
    for (const struct dirent *entry; (entry = readdir(listing)) != NULL;) {
        char path[512];
        struct stat about;
        snprintf(path, sizeof path, "%s/%s", w->place.path, entry->d_name);
        int file = open(path, O_RDONLY);
        if (file < 0 || fstat(file, &about) != 0 || !S_ISREG(about.st_mode)) continue;
        char *all = malloc((size_t)about.st_size + 1);
        ssize_t got = read(file, all, (size_t)about.st_size);
        close(file);
        found = found || (got > 0 && memmem(all, (size_t)got, bytes, length) != NULL);
        free(all);
    }
    closedir(listing);
    return found;
}

static const char entrusted[] = "the exact sum of all local weights";

/* Secret and entrusted sums would each tell the noise of the published model. */
static void the_end_erases_secret_and_journal_from_the_files(void **state) {
    (void)state;
    static const tacit_study_state ends[] = { TACIT_STUDY_DONE, TACIT_STUDY_FAILED, TACIT_STUDY_CLOSED };
    for (size_t i = 0; i < 3; i++) {
        world w = begin();
        uint8_t secret[TACIT_STREAM_KEY_BYTES];
        tacit_journal journal;
        tacit_buffer model = TACIT_BUFFER_INIT;
        CHECK_OK(tacit_registry_journal(w.registry, "s", &journal, &w.error), w.error);
        CHECK_OK(journal.write(journal.context, 0, (const uint8_t *)entrusted, sizeof entrusted, &w.error),
                 w.error);
        CHECK_OK(journal.write_checkpoint(journal.context, 1, (const uint8_t *)entrusted, sizeof entrusted,
                                          &w.error),
                 w.error);
        read_secret(&w, secret);
        assert_true(files_hold(&w, secret, sizeof secret));
        assert_true(files_hold(&w, entrusted, sizeof entrusted - 1));
        for (int k = 0; k < 2000; k++) CHECK_OK(tacit_buffer_append(&model, "0.5, ", 5, &w.error), w.error);
        CHECK_OK(tacit_registry_set_state(w.registry, "s", ends[i], "", &model, &w.error), w.error);
        assert_false(files_hold(&w, secret, sizeof secret));
        assert_false(files_hold(&w, entrusted, sizeof entrusted - 1));
        assert_int_equal(look_up(&w, "s").rounds, 1); /* that there was a round is no secret */
        free(journal.context);
        tacit_buffer_clear(&model);
        end(&w);
    }
}

static void the_file_is_for_its_owner_only(void **state) {
    (void)state;
    world w = begin();
    char path[128];
    struct stat about;
    snprintf(path, sizeof path, "%s/coordinator.db", w.place.path);
    assert_int_equal(stat(path, &about), 0);
    assert_int_equal(about.st_mode & 0777, 0600);
    end(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_folder_without_a_registry_is_told),
        cmocka_unit_test(settings_are_kept),
        cmocka_unit_test(studies_are_listed_as_added_and_names_are_unique),
        cmocka_unit_test(steps_of_earlier_sums_go_and_the_drawing_stays),
        cmocka_unit_test(a_long_record_is_read_as_it_was_written),
        cmocka_unit_test(a_record_in_parts_is_none_until_it_is_written),
        cmocka_unit_test(points_are_kept_beside_the_study),
        cmocka_unit_test(an_older_file_is_brought_up),
        cmocka_unit_test(an_ended_study_stays_as_it_is),
        cmocka_unit_test(the_end_erases_secret_and_journal_from_the_files),
        cmocka_unit_test(the_file_is_for_its_owner_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
