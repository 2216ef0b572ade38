/* Rows that are too many for the memory that they may have lie in a file that has no name, and are the same. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "reading.h"

static char folder[] = "/tmp/tacit-spill-XXXXXX";

static int begin(void **state) {
    (void)state;
    return mkdtemp(folder) == NULL;
}

static int end(void **state) {
    (void)state;
    return rmdir(folder); /* fails where something was left */
}

static void spill_to(const char *where, const char *memory) {
    if (where != NULL)
        setenv("TACIT_SPILL", where, 1);
    else
        unsetenv("TACIT_SPILL");
    setenv("TACIT_MEMORY", memory, 1);
}

static tacit_buffer make_rows(size_t rows) {
    tacit_buffer text = TACIT_BUFFER_INIT;
    assert_int_equal(tacit_buffer_print(&text, NULL, "a,b,place,y\n"), TACIT_OK);
    for (size_t i = 0; i < rows; i++)
        assert_int_equal(tacit_buffer_print(&text, NULL, "%zu,%s,p%zu,%s\n", i % 97,
                                            i % 13 == 0 ? "" : "0.25", i % 5, i % 3 == 0 ? "yes" : "no"),
                         TACIT_OK);
    return text;
}

static tacit_schema *make_schema(void) {
    return schema_of("label: {name: y, classes: [\"no\", \"yes\"]}\ncolumns:\n"
                     "  - {name: a, kind: number, low: 0, high: 90}\n"
                     "  - {name: b, kind: number, low: 0, high: 1}\n"
                     "  - {name: place, kind: category, levels: [p0, p1, p2, p3, p4]}\n");
}

static size_t files_in(const char *path) {
    size_t count = 0;
    DIR *all = opendir(path);
    assert_non_null(all);
    for (struct dirent *one; (one = readdir(all)) != NULL;)
        count += one->d_name[0] != '.' || one->d_name[1] == 't';
    closedir(all);
    return count;
}

static void rows_in_a_file_are_those_in_memory_to_the_last_bit(void **state) {
    (void)state;
    static const tacit_storage storages[] = { TACIT_STORAGE_DENSE, TACIT_STORAGE_SPARSE };
    tacit_buffer text = make_rows(20000);
    tacit_schema *schema = make_schema();
    for (size_t k = 0; k < 2; k++) {
        tacit_dataset *here = NULL, *there = NULL;
        tacit_error error = TACIT_ERROR_INIT;
        tacit_load_options options = TACIT_LOAD_DEFAULTS;
        options.storage = storages[k];
        options.identified = true;
        spill_to(NULL, "100k");
        CHECK_OK(read_text(&here, NULL, tacit_buffer_text(&text), schema, &options, &error), error);
        assert_null(here->spilled[0].address);
        spill_to(folder, "100k");
        CHECK_OK(read_text(&there, NULL, tacit_buffer_text(&text), schema, &options, &error), error);
        assert_non_null(there->spilled[0].address);
        assert_int_equal(files_in(folder), 0); /* it has no name */
        assert_int_equal(there->rows, here->rows);
        assert_int_equal(there->features, here->features);
        assert_memory_equal(there->label, here->label, here->rows * sizeof *here->label);
        assert_memory_equal(there->identity, here->identity, here->rows * sizeof *here->identity);
        assert_non_null(there->spilled[TACIT_SPILLED_LABELS].address); /* nothing grows with the rows */
        assert_non_null(there->spilled[TACIT_SPILLED_IDENTITIES].address);
        assert_true((there->spilled[TACIT_SPILLED_STARTS].address != NULL) == (k == 1));
        if (k == 0) {
            assert_memory_equal(there->dense.values, here->dense.values,
                                here->rows * here->features * sizeof(double));
        } else {
            const size_t entries = here->sparse.start[here->rows];
            assert_int_equal(there->sparse.start[here->rows], entries);
            assert_memory_equal(there->sparse.value, here->sparse.value, entries * sizeof(double));
            assert_memory_equal(there->sparse.column, here->sparse.column, entries * sizeof(uint32_t));
        }
        tacit_dataset_free(here);
        tacit_dataset_free(there);
    }
    tacit_schema_free(schema);
    tacit_buffer_clear(&text);
}

/* Pages of this process that are in its memory, of those that the rows lie in. */
static size_t resident_pages(const tacit_spill *spill) {
    char line[256];
    unsigned long from = 0, to = 0;
    size_t kilobytes = SIZE_MAX;
    bool here = false;
    FILE *maps = fopen("/proc/self/smaps", "r");
    assert_non_null(maps);
    while (fgets(line, sizeof line, maps) != NULL) {
        if (sscanf(line, "%lx-%lx ", &from, &to) == 2)
            here = from == (unsigned long)(uintptr_t)spill->address;
        if (here && sscanf(line, "Rss: %zu kB", &kilobytes) == 1) break;
    }
    fclose(maps);
    return kilobytes / 4;
}

static tacit_status add_up(void *context, const tacit_view *block, size_t first, tacit_error *error) {
    double *sum = context;
    (void)first;
    (void)error;
    for (size_t i = 0; i < block->rows.count; i++)
        for (size_t j = 0; j < block->rows.cols; j++)
            *sum += block->rows.dense[tacit_rows_stored(&block->rows, i) * block->rows.stride + j];
    return TACIT_OK;
}

static void a_pass_over_rows_in_a_file_leaves_none_of_them_in_memory(void **state) {
    (void)state;
    tacit_buffer text = make_rows(20000);
    tacit_schema *schema = make_schema();
    tacit_dataset *rows = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_load_options options = TACIT_LOAD_DEFAULTS;
    double sums[2] = { 0, 0 };
    options.storage = TACIT_STORAGE_DENSE;
    spill_to(folder, "100k");
    CHECK_OK(read_text(&rows, NULL, tacit_buffer_text(&text), schema, &options, &error), error);
    assert_true(resident_pages(&rows->spilled[0]) > 100);
    for (size_t k = 0; k < 2; k++) {
        tacit_view view = tacit_dataset_view(rows);
        CHECK_OK(tacit_dataset_map(&view, 0, add_up, &sums[k], &error), error);
        assert_true(resident_pages(&rows->spilled[0]) <=
                    32); /* the kernel may bring some that follow the last */
    }
    assert_true(sums[0] != 0 && sums[0] == sums[1]);
    tacit_dataset_free(rows);
    tacit_schema_free(schema);
    tacit_buffer_clear(&text);
}

static void drafted_rows_may_lie_there_too_and_few_stay_in_memory(void **state) {
    (void)state;
    tacit_buffer text = make_rows(5000);
    tacit_dataset *rows = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    spill_to(folder, "1k");
    CHECK_OK(read_text(&rows, NULL, tacit_buffer_text(&text), NULL, NULL, &error), error);
    assert_non_null(rows->spilled[0].address);
    tacit_dataset_free(rows);
    spill_to(folder, "1G");
    CHECK_OK(read_text(&rows, NULL, tacit_buffer_text(&text), NULL, NULL, &error), error);
    assert_null(rows->spilled[0].address);
    tacit_dataset_free(rows);
    tacit_buffer_clear(&text);
}

static void a_wrong_folder_or_size_is_named(void **state) {
    (void)state;
    static const struct {
        const char *where, *memory, *says;
        tacit_status status;
    } wrong[] = { { "/nowhere/at/all", "1k", "TACIT_SPILL", TACIT_IO },
                  { folder, "much", "TACIT_MEMORY", TACIT_USAGE },
                  { folder, "-1", "TACIT_MEMORY", TACIT_USAGE },
                  { folder, "5GB", "TACIT_MEMORY", TACIT_USAGE },
                  { folder, "99999999999999999T", "TACIT_MEMORY", TACIT_USAGE } };
    tacit_buffer text = make_rows(5000);
    tacit_schema *schema = make_schema();
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
        tacit_dataset *rows = NULL;
        tacit_error error = TACIT_ERROR_INIT;
        spill_to(wrong[k].where, wrong[k].memory);
        tacit_status status = read_text(&rows, NULL, tacit_buffer_text(&text), schema, NULL, &error);
        if (status != wrong[k].status || strstr(error.text, wrong[k].says) == NULL)
            fail_msg("%s %s: %d %s", wrong[k].where, wrong[k].memory, (int)status, error.text);
    }
    tacit_schema_free(schema);
    tacit_buffer_clear(&text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_in_a_file_are_those_in_memory_to_the_last_bit),
        cmocka_unit_test(a_pass_over_rows_in_a_file_leaves_none_of_them_in_memory),
        cmocka_unit_test(drafted_rows_may_lie_there_too_and_few_stay_in_memory),
        cmocka_unit_test(a_wrong_folder_or_size_is_named),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
