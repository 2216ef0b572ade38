/*
 * What every kind of source must do, run against each of them: a form makes a source of its kind with given
 * rows, and the suite does not know which. A kind without a form fails the first test. PostgreSQL needs a
 * server, which sources.py starts; without one its form is left out.
 */
#include <string.h>

#include "source_forms.h"

#include "failing.h"

/* ---- the suite ---- */

static void every_kind_of_the_table_is_tried(void **state) {
    (void)state;
    for (size_t i = 0; source_kind(i) != NULL; i++) {
        bool found = false;
        for (size_t k = 0; k < FORMS; k++) found = found || strcmp(forms[k].kind, source_kind(i)->name) == 0;
        if (!found) fail_msg("kind %s has no form here", source_kind(i)->name);
    }
}

static void the_same_rows_and_columns_come_from_every_kind(void **state) {
    (void)state;
    EACH_FORM(one) {
        char name[512];
        reading got = { .count = 0 };
        tacit_error error = TACIT_ERROR_INIT;
        make(one, name, 11, false);
        tacit_source *source = open_rows(one, name);
        assert_int_equal(source->columns.count, one->columns);
        for (size_t j = 0; one->columns == COLUMNS && j < COLUMNS; j++)
            assert_string_equal(source->columns.text[j], reference_columns[j]);
        CHECK_OK(read_rest(source, 1000, &got, &error), error);
        assert_int_equal(got.count, 11);
        assert_int_equal(source->row, 11);
        expect_rows(one, &got, 11, false, 1);
        reading_clear(&got);
        tacit_source_free(source);
    }
}

static void the_same_blocks_come_after_a_rewind_from_anywhere(void **state) {
    (void)state;
    EACH_FORM(one) {
        char name[512];
        reading first = { .count = 0 }, again = { .count = 0 }, part = { .count = 0 };
        tacit_error error = TACIT_ERROR_INIT;
        bool ended = false;
        size_t rows = one->columns == 3 ? 200 : 5000;
        make(one, name, rows, false);
        tacit_source *source = open_rows(one, name);
        CHECK_OK(read_rest(source, 700, &first, &error), error);
        CHECK_OK(tacit_source_rewind(source, &error), error);
        CHECK_OK(read_block(source, 700, &part, &ended, &error), error); /* and from the middle */
        CHECK_OK(tacit_source_rewind(source, &error), error);
        CHECK_OK(read_rest(source, 700, &again, &error), error);
        assert_int_equal(again.count, rows);
        assert_true(first.widest <= 700);
        assert_string_equal(tacit_buffer_text(&first.blocks), tacit_buffer_text(&again.blocks));
        assert_true(strcmp(tacit_buffer_text(&first.rows), tacit_buffer_text(&again.rows)) == 0);
        expect_rows(one, &again, rows, false, 1);
        reading_clear(&first);
        reading_clear(&again);
        reading_clear(&part);
        tacit_source_free(source);
    }
}

/* A block is bounded however many rows are asked for, and never has more than were. */
static void blocks_are_bounded(void **state) {
    (void)state;
    EACH_FORM(one) {
        char name[512];
        reading all = { .count = 0 }, single = { .count = 0 };
        tacit_error error = TACIT_ERROR_INIT;
        size_t rows = one->columns == 3 ? 2000 : 9000, width = one->columns > 0 ? one->columns : 1;
        make(one, name, rows, false);
        tacit_source *source = open_rows(one, name);
        CHECK_OK(read_rest(source, SIZE_MAX, &all, &error), error);
        assert_int_equal(all.count, rows);
        assert_true((all.widest - 1) * width < BLOCK_CELLS);
        CHECK_OK(tacit_source_rewind(source, &error), error);
        CHECK_OK(read_rest(source, 1, &single, &error), error);
        assert_int_equal(single.widest, 1);
        assert_true(strcmp(tacit_buffer_text(&all.rows), tacit_buffer_text(&single.rows)) == 0);
        reading_clear(&all);
        reading_clear(&single);
        tacit_source_free(source);
    }
}

static void a_row_larger_than_a_block_comes_whole(void **state) {
    (void)state;
    EACH_FORM(one) {
        char name[512];
        reading got = { .count = 0 };
        tacit_error error = TACIT_ERROR_INIT;
        make(one, name, 5, true);
        tacit_source *source = open_rows(one, name);
        CHECK_OK(read_rest(source, 100, &got, &error), error);
        assert_int_equal(got.count, 5);
        expect_rows(one, &got, 5, true, 1);
        reading_clear(&got);
        tacit_source_free(source);
    }
}

static bool every_third(const void *context, uint64_t row) {
    (void)context;
    return row % 3 == 0;
}

static void rows_that_nobody_chose_are_passed_over_and_counted(void **state) {
    (void)state;
    const tacit_row_filter third = { every_third, NULL }, none = { tacit_row_filter_none, NULL };
    EACH_FORM(one) {
        char name[512];
        reading some = { .count = 0 }, nothing = { .count = 0 };
        tacit_error error = TACIT_ERROR_INIT;
        make(one, name, 100, false);
        tacit_source *source = open_rows(one, name);
        source->filter = &third;
        CHECK_OK(read_rest(source, 7, &some, &error), error);
        assert_int_equal(some.count, 34);
        assert_int_equal(some.left_out, 66);
        expect_rows(one, &some, 100, false, 3);
        CHECK_OK(tacit_source_rewind(source, &error), error);
        source->filter = &none;
        CHECK_OK(read_rest(source, 1000, &nothing, &error), error);
        assert_int_equal(nothing.count, 0);
        assert_int_equal(nothing.left_out, 100);
        reading_clear(&some);
        reading_clear(&nothing);
        tacit_source_free(source);
    }
}

static void an_error_names_the_place(void **state) {
    (void)state;
    EACH_FORM(one) {
        char name[512];
        tacit_error error = TACIT_ERROR_INIT;
        tacit_schema *schema = schema_of(one);
        tacit_dataset *rows = NULL;
        one->spoil(name);
        assert_int_equal(tacit_dataset_load(&rows, NULL, name, schema, NULL, &error), TACIT_INPUT);
        if (strstr(error.text, one->spoiled_place) == NULL)
            fail_msg("%s: expected '%s' in: %s", one->kind, one->spoiled_place, error.text);
        tacit_schema_free(schema);
    }
}

static void a_source_without_rows_says_so(void **state) {
    (void)state;
    EACH_FORM(one) {
        char name[512];
        tacit_error error = TACIT_ERROR_INIT;
        tacit_schema *schema = schema_of(one);
        tacit_dataset *rows = NULL;
        make(one, name, 0, false);
        assert_int_equal(tacit_dataset_load(&rows, NULL, name, schema, NULL, &error), TACIT_INPUT);
        if (strstr(error.text, "no rows") == NULL && strstr(error.text, "no documents") == NULL)
            fail_msg("%s: %s", one->kind, error.text);
        tacit_schema_free(schema);
    }
}

/* Somebody writes while it is read: the rows are those of before, or there is an error that names the
 * source. */
static void rows_of_two_moments_never_mix(void **state) {
    (void)state;
    EACH_FORM(one) {
        char name[512];
        if (one->change == NULL) continue;
        for (int when = 0; when < 2; when++) { /* while it is read; before it is read again */
            reading got = { .count = 0 };
            tacit_error error = TACIT_ERROR_INIT;
            tacit_status status = TACIT_OK;
            bool ended = false;
            make(one, name, 6000, false);
            tacit_source *source = open_rows(one, name);
            CHECK_OK(read_block(source, 2, &got, &ended, &error), error);
            if (when == 1) {
                CHECK_OK(read_rest(source, 5000, &got, &error), error);
                reading_clear(&got);
            }
            one->change(6000);
            if (when == 1) status = tacit_source_rewind(source, &error);
            if (status == TACIT_OK) status = read_rest(source, 5000, &got, &error);
            if (status == TACIT_OK)
                expect_rows(one, &got, 6000, false, 1);
            else if (status != TACIT_INPUT || strstr(error.text, "changed") == NULL)
                fail_msg("%s: %s", one->kind, error.text);
            reading_clear(&got);
            tacit_source_free(source);
        }
    }
}

static void a_source_that_vanishes_gives_its_rows_or_an_error(void **state) {
    (void)state;
    EACH_FORM(one) {
        char name[512];
        reading got = { .count = 0 };
        tacit_error error = TACIT_ERROR_INIT;
        bool ended = false;
        size_t rows = one->columns == 3 ? 500 : 30000;
        make(one, name, rows, false);
        tacit_source *source = open_rows(one, name);
        CHECK_OK(read_block(source, 2, &got, &ended, &error), error);
        one->vanish();
        tacit_status status = read_rest(source, 5000, &got, &error);
        if (status == TACIT_OK) {
            expect_rows(one, &got, rows, false, 1);
            reading_clear(&got);
            status = tacit_source_rewind(source, &error);
            if (status == TACIT_OK) status = read_rest(source, 5000, &got, &error);
            if (status == TACIT_OK) expect_rows(one, &got, rows, false, 1);
        }
        if (status != TACIT_OK && (status != one->vanished && status != TACIT_IO))
            fail_msg("%s: %d, %s", one->kind, (int)status, error.text);
        if (status != TACIT_OK) assert_true(strlen(error.text) > 10);
        reading_clear(&got);
        tacit_source_free(source);
    }
}

static tacit_status read_twice(const char *name, const char *link, tacit_error *error) {
    const tacit_source_options options = { .link = link };
    tacit_source *source = NULL;
    tacit_row_block block = { .ended = false };
    tacit_status status;
    TACIT_CHECK(tacit_source_open(&source, name, &options, error));
    while (!block.ended) TACIT_CHECK(tacit_source_next(source, 4, &block, error));
    TACIT_CHECK(tacit_source_rewind(source, error));
    do TACIT_CHECK(tacit_source_next(source, 4, &block, error));
    while (!block.ended);
cleanup:
    tacit_source_free(source);
    return status;
}

static void every_kind_survives_each_failed_allocation(void **state) {
    (void)state;
    EACH_FORM(one) {
        char name[512];
        make(one, name, 9, false);
        for (int linked = 0; linked < (one->columns == COLUMNS ? 2 : 1); linked++) {
            long at = 1;
            for (bool failed = true; failed; at++) {
                tacit_error error = TACIT_ERROR_INIT;
                fail_allocation(at);
                tacit_status status = read_twice(name, linked ? "who" : NULL, &error);
                failed = allocation_failed();
                if (status != (failed ? TACIT_NO_MEMORY : TACIT_OK))
                    fail_msg("%s, allocation %ld: %d, %s", one->kind, at, (int)status, error.text);
            }
            assert_true(at > 3);
        }
    }
}

static void a_linking_file_takes_every_kind_of_table(void **state) {
    (void)state;
    EACH_FORM(one) {
        char name[512], linked[512];
        reading got = { .count = 0 };
        tacit_error error = TACIT_ERROR_INIT;
        if (one->columns != COLUMNS || one == &forms[FORM_LINKING]) continue;
        make(one, name, 300, false);
        link_with_itself(name, linked);
        tacit_source *source = open_rows(&forms[FORM_LINKING], linked);
        CHECK_OK(read_rest(source, 70, &got, &error), error);
        expect_rows(one, &got, 300, false, 1);
        reading_clear(&got);
        tacit_source_free(source);
        one->spoil(name);
        link_with_itself(name, linked);
        tacit_schema *schema = schema_of(one);
        tacit_dataset *rows = NULL;
        assert_int_equal(tacit_dataset_load(&rows, NULL, linked, schema, NULL, &error), TACIT_INPUT);
        if (strstr(error.text, one->spoiled_place) == NULL)
            fail_msg("%s: expected '%s' in: %s", one->kind, one->spoiled_place, error.text);
        tacit_schema_free(schema);
    }
}

/* ---- all the way to a dataset ---- */

static void tables_of_every_kind_load_to_the_same_bits_and_drafts_are_marked(void **state) {
    (void)state;
    tacit_dataset *first = NULL;
    tacit_buffer first_draft = TACIT_BUFFER_INIT;
    EACH_FORM(one) {
        char name[512];
        tacit_error error = TACIT_ERROR_INIT;
        if (one->columns != COLUMNS) continue;
        tacit_schema *schema = schema_of(one), *drafted = NULL;
        tacit_dataset *rows = NULL, *others = NULL;
        tacit_buffer draft = TACIT_BUFFER_INIT;
        make(one, name, 5000, false);
        CHECK_OK(tacit_dataset_load(&rows, NULL, name, schema, NULL, &error), error);
        CHECK_OK(tacit_dataset_load(&others, &drafted, name, NULL, NULL, &error), error);
        assert_true(others->bounds_from_data);
        assert_false(rows->bounds_from_data);
        CHECK_OK(tacit_schema_print(drafted, NULL, &draft, &error), error);
        assert_non_null(strstr(tacit_buffer_text(&draft), "from: rows"));
        if (first == NULL) {
            first = rows;
            first_draft = draft;
        } else {
            assert_int_equal(rows->rows, first->rows);
            assert_memory_equal(rows->label, first->label, rows->rows * sizeof *rows->label);
            assert_memory_equal(rows->dense.values, first->dense.values,
                                rows->rows * rows->features * sizeof(double));
            assert_string_equal(tacit_buffer_text(&draft), tacit_buffer_text(&first_draft));
            tacit_dataset_free(rows);
            tacit_buffer_clear(&draft);
        }
        tacit_dataset_free(others);
        tacit_schema_free(drafted);
        tacit_schema_free(schema);
    }
    tacit_dataset_free(first);
    tacit_buffer_clear(&first_draft);
}

static void a_vocabulary_is_drafted_from_every_kind(void **state) {
    (void)state;
    EACH_FORM(one) {
        char name[512];
        tacit_error error = TACIT_ERROR_INIT;
        tacit_schema *drafted = NULL;
        tacit_dataset *rows = NULL;
        tacit_load_options options = TACIT_LOAD_DEFAULTS;
        if (one->columns == 0) continue;
        options.text = one->columns == 3 ? "text" : "note";
        options.text_draft.limits = (tacit_term_limits){ 0, 1, 0 };
        make(one, name, 40, false);
        CHECK_OK(tacit_dataset_load(&rows, &drafted, name, NULL, &options, &error), error);
        assert_int_equal(rows->rows, 40);
        tacit_dataset_free(rows);
        tacit_schema_free(drafted);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_of_the_table_is_tried),
        cmocka_unit_test(the_same_rows_and_columns_come_from_every_kind),
        cmocka_unit_test(the_same_blocks_come_after_a_rewind_from_anywhere),
        cmocka_unit_test(blocks_are_bounded),
        cmocka_unit_test(a_row_larger_than_a_block_comes_whole),
        cmocka_unit_test(rows_that_nobody_chose_are_passed_over_and_counted),
        cmocka_unit_test(an_error_names_the_place),
        cmocka_unit_test(a_source_without_rows_says_so),
        cmocka_unit_test(rows_of_two_moments_never_mix),
        cmocka_unit_test(a_source_that_vanishes_gives_its_rows_or_an_error),
        cmocka_unit_test(a_linking_file_takes_every_kind_of_table),
        cmocka_unit_test(every_kind_survives_each_failed_allocation),
        cmocka_unit_test(tables_of_every_kind_load_to_the_same_bits_and_drafts_are_marked),
        cmocka_unit_test(a_vocabulary_is_drafted_from_every_kind),
    };
    return cmocka_run_group_tests(tests, forms_begin, forms_end);
}
