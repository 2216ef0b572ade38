/* The rows of several files are those of one file that has them all. */
#include <stdio.h>
#include <stdlib.h>

#include "reading.h"
#include "survive.h"

#include "data/reading/concatenate.h"

#define COLUMNS                                                                                              \
    "columns:\n- {name: age, kind: number, low: 0, high: 99, missing: indicator}\n"                          \
    "- {name: sex, kind: category, levels: [f, m], missing: level}\n"
#define CLASSES "label: {name: y, classes: [no, yes], missing: complete-case}\n" COLUMNS
#define HEADER "who,age,sex,y\n"

static const char *const rows[] = { "a,5,f,no\nb,,m,yes\n", "c,90,,no\nd,7,f,\n",
                                    "e,300,x,yes\ne,8,f,yes\n" };
enum { PARTS = sizeof rows / sizeof *rows };

static tacit_status read_parts(tacit_dataset *out[PARTS], const tacit_schema *schema,
                               const tacit_load_options *options, tacit_error *error) {
    for (size_t k = 0; k < PARTS; k++) {
        char text[256];
        snprintf(text, sizeof text, HEADER "%s", rows[k]);
        TACIT_TRY(read_text(&out[k], NULL, text, schema, options, error));
    }
    return TACIT_OK;
}

static void free_parts(tacit_dataset *parts[PARTS]) {
    for (size_t k = 0; k < PARTS; k++) tacit_dataset_free(parts[k]);
}

static void assert_same_rows(const tacit_dataset *a, const tacit_dataset *b) {
    assert_int_equal(a->rows, b->rows);
    assert_int_equal(a->features, b->features);
    assert_int_equal(a->is_sparse, b->is_sparse);
    if (a->is_sparse) {
        const size_t entries = a->sparse.start[a->rows];
        assert_memory_equal(a->sparse.start, b->sparse.start, (a->rows + 1) * sizeof(size_t));
        assert_memory_equal(a->sparse.column, b->sparse.column, entries * sizeof(uint32_t));
        assert_memory_equal(a->sparse.value, b->sparse.value, entries * sizeof(double));
    } else {
        assert_memory_equal(a->dense.values, b->dense.values, a->rows * a->features * sizeof(double));
    }
    if (b->label != NULL) assert_memory_equal(a->label, b->label, a->rows * sizeof *a->label);
    if (b->response != NULL)
        assert_memory_equal(a->response, b->response, a->rows * a->response_columns * sizeof(double));
    assert_int_equal(a->response_columns, b->response_columns);
    assert_memory_equal(&a->counts, &b->counts, sizeof a->counts);
    assert_int_equal(a->absent == NULL, b->absent == NULL);
    if (b->absent != NULL) assert_memory_equal(a->absent, b->absent, a->rows * a->absent_bytes);
    assert_int_equal(a->missing.count, b->missing.count);
    assert_memory_equal(a->missing.row, b->missing.row, a->missing.count * sizeof(uint32_t));
    assert_memory_equal(a->missing.column, b->missing.column, a->missing.count * sizeof(uint32_t));
    assert_int_equal(a->missing.left_out, b->missing.left_out);
    assert_memory_equal(a->missing.left_out_cells, b->missing.left_out_cells,
                        a->missing.columns * sizeof(uint64_t));
}

static void assert_as_one_file(const char *yaml, tacit_storage storage) {
    tacit_load_options options = TACIT_LOAD_DEFAULTS;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_schema *schema = schema_of(yaml);
    tacit_dataset *parts[PARTS] = { NULL }, *whole = NULL, *one = NULL;
    int32_t *site = NULL;
    char text[512];
    options.storage = storage;
    snprintf(text, sizeof text, HEADER "%s%s%s", rows[0], rows[1], rows[2]);
    CHECK_OK(read_text(&one, NULL, text, schema, &options, &error), error);
    CHECK_OK(read_parts(parts, schema, &options, &error), error);
    CHECK_OK(tacit_dataset_concatenate(&whole, &site, parts, PARTS, schema, &error), error);
    assert_same_rows(whole, one);
    for (size_t i = 0, k = 0, left = parts[0]->rows; i < whole->rows; i++, left--) {
        while (left == 0) left = parts[++k]->rows;
        assert_int_equal(site[i], k);
    }
    free(site);
    tacit_dataset_free(whole);
    tacit_dataset_free(one);
    free_parts(parts);
    tacit_schema_free(schema);
}

static void dense_and_sparse_rows_are_those_of_one_file(void **state) {
    (void)state;
    assert_as_one_file(CLASSES, TACIT_STORAGE_DENSE);
    assert_as_one_file(CLASSES, TACIT_STORAGE_SPARSE);
}

static void numeric_responses_too(void **state) {
    (void)state;
    static const char yaml[] = "label: {name: age, kind: number, low: 0, high: 99, missing: complete-case}\n"
                               "columns: [{name: sex, kind: category, levels: [f, m]}]\n";
    assert_as_one_file(yaml, TACIT_STORAGE_DENSE);
}

static void persons_of_different_files_are_different_people(void **state) {
    (void)state;
    tacit_load_options options = TACIT_LOAD_DEFAULTS;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_schema *schema = schema_of(CLASSES "person: who\n");
    tacit_dataset *parts[2] = { NULL }, *whole = NULL;
    size_t persons = 0;
    for (size_t k = 0; k < 2; k++)
        CHECK_OK(
            read_text(&parts[k], NULL, HEADER "a,1,f,no\na,2,m,yes\nb,3,f,no\n", schema, &options, &error),
            error);
    CHECK_OK(tacit_dataset_concatenate(&whole, NULL, parts, 2, schema, &error), error);
    assert_true(whole->persons);
    const tacit_view view = tacit_dataset_view(whole);
    CHECK_OK(tacit_view_groups(&view, &persons, &error), error);
    assert_int_equal(persons, 4);
    assert_int_equal(whole->group[0], whole->group[1]);
    assert_int_not_equal(whole->group[0], whole->group[3]);
    tacit_dataset_free(whole);
    for (size_t k = 0; k < 2; k++) tacit_dataset_free(parts[k]);
    tacit_schema_free(schema);
}

static tacit_status put_together(tacit_error *error) {
    tacit_load_options options = TACIT_LOAD_DEFAULTS;
    tacit_schema *schema = NULL;
    tacit_dataset *parts[PARTS] = { NULL }, *whole = NULL;
    int32_t *site = NULL;
    static const char yaml[] = CLASSES "person: who\n";
    tacit_status status;
    TACIT_CHECK(tacit_schema_parse(&schema, yaml, sizeof yaml - 1, "s.yaml", error));
    TACIT_CHECK(read_parts(parts, schema, &options, error));
    TACIT_CHECK(tacit_dataset_concatenate(&whole, &site, parts, PARTS, schema, error));
cleanup:
    free(site);
    tacit_dataset_free(whole);
    free_parts(parts);
    tacit_schema_free(schema);
    return status;
}

SURVIVES(put_together)

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dense_and_sparse_rows_are_those_of_one_file),
        cmocka_unit_test(numeric_responses_too),
        cmocka_unit_test(persons_of_different_files_are_different_people),
        cmocka_unit_test(put_together_survives_any_failed_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
