/* Every allocation of every call fails once: the call must say so, leak nothing and leave its outputs alone.
 * Linked with --wrap for the allocators; leaks are found by the address sanitizer. */
#include "check.h"
#include "scratch.h"
#include "survive.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "data/dataset.h"
#include "data/generate.h"
#include "data/graph/mixing.h"
#include "data/measure/metrics.h"
#include "data/split.h"

static const char csv_text[] =
    "site,age,\"s,ex\",empty,y\n1,5,f,NA,no\n2,17.5,m,,yes\n1,,f,?,no\n3,90,\"x\",,yes\n";
static const char svm_text[] = "1 1:2 5:1\n-1 2:3\n1 3:1\n";
static const char yaml_text[] =
    "label: {name: y, classes: [no, yes], others: no}\n"
    "columns:\n- {name: age, kind: number, low: 0, high: 99}\n"
    "- {name: 's,ex', kind: category, levels: [f, m]}\n- {name: empty, kind: skip}\n";

static tacit_status read_text(const char *text, const tacit_schema *schema, bool sparse, const char *group,
                              tacit_error *error) {
    tacit_input *input = NULL;
    tacit_dataset *dataset = NULL;
    tacit_schema *drafted = NULL;
    tacit_load_options options = TACIT_LOAD_DEFAULTS;
    options.group = group;
    options.storage = sparse ? TACIT_STORAGE_SPARSE : TACIT_STORAGE_AUTO;
    TACIT_TRY(tacit_input_open_memory(&input, text, strlen(text), "t", error));
    tacit_status status = tacit_dataset_read(&dataset, &drafted, input, schema, &options, error);
    assert_true((dataset != NULL) == (status == TACIT_OK));
    assert_true((drafted != NULL) == (status == TACIT_OK && schema == NULL));
    tacit_dataset_free(dataset);
    tacit_schema_free(drafted);
    tacit_input_free(input);
    return status;
}

static tacit_status draft_csv(tacit_error *error) { return read_text(csv_text, NULL, false, "site", error); }

static tacit_status draft_libsvm(tacit_error *error) { return read_text(svm_text, NULL, false, NULL, error); }

static tacit_status with_schema(bool sparse, tacit_error *error) {
    tacit_schema *schema = NULL;
    TACIT_TRY(tacit_schema_parse(&schema, yaml_text, sizeof yaml_text - 1, "s.yaml", error));
    tacit_status status = read_text(csv_text, schema, sparse, "site", error);
    tacit_schema_free(schema);
    return status;
}

static tacit_status schema_dense(tacit_error *error) { return with_schema(false, error); }

static tacit_status schema_sparse(tacit_error *error) { return with_schema(true, error); }

static tacit_status numeric_labels(tacit_error *error) {
    static const char rows[] = "a,y\n1,3\n2,0\n3,7\n";
    static const char counts[] = "label: {name: y, kind: count, low: 0, high: 5}\n"
                                 "columns: [{name: a, kind: number, low: 0, high: 4}]\n";
    static const char sparse[] = "label: {name: y, kind: number, low: -1, high: 1}\nsparse: 5\nrows: unit\n";
    tacit_load_options options = TACIT_LOAD_DEFAULTS;
    tacit_schema *drafted = NULL, *schema = NULL, *of_svm = NULL;
    tacit_dataset *data = NULL, *other = NULL, *third = NULL, *made = NULL;
    tacit_input *first = NULL, *second = NULL, *svm = NULL;
    tacit_stream stream = tacit_stream_from_seed(1);
    tacit_status status;
    options.response = TACIT_RESPONSE_NUMBER;
    TACIT_CHECK(tacit_input_open_memory(&first, rows, sizeof rows - 1, "t", error));
    TACIT_CHECK(tacit_input_open_memory(&second, rows, sizeof rows - 1, "t", error));
    TACIT_CHECK(tacit_input_open_memory(&svm, svm_text, sizeof svm_text - 1, "t.svm", error));
    TACIT_CHECK(tacit_dataset_read(&data, &drafted, first, NULL, &options, error));
    TACIT_CHECK(tacit_schema_parse(&schema, counts, sizeof counts - 1, "s.yaml", error));
    TACIT_CHECK(tacit_dataset_read(&other, NULL, second, schema, NULL, error));
    TACIT_CHECK(tacit_schema_parse(&of_svm, sparse, sizeof sparse - 1, "s.yaml", error));
    TACIT_CHECK(tacit_dataset_read(&third, NULL, svm, of_svm, NULL, error));
    TACIT_CHECK(tacit_generate_response(&made, 5, 2, TACIT_RESPONSE_COUNT, NULL, &stream, error));
    assert_true(drafted->response == TACIT_RESPONSE_NUMBER && drafted->low == 0 && drafted->high == 7);
    assert_true(data->label == NULL && data->classes.count == 0 && data->response[2] == 7);
    assert_true(other->response[2] == 5 && other->counts.outside_bounds == 1); /* moved to its bound */
    assert_true(third->response[1] == -1 && tacit_dataset_view(third).response == third->response);
cleanup:
    tacit_schema_free(drafted);
    tacit_schema_free(schema);
    tacit_schema_free(of_svm);
    tacit_dataset_free(data);
    tacit_dataset_free(other);
    tacit_dataset_free(third);
    tacit_dataset_free(made);
    tacit_input_free(first);
    tacit_input_free(second);
    tacit_input_free(svm);
    return status;
}

static tacit_status print_schema(tacit_error *error) {
    tacit_schema *schema = NULL;
    tacit_buffer text = TACIT_BUFFER_INIT;
    TACIT_TRY(tacit_schema_parse(&schema, yaml_text, sizeof yaml_text - 1, "s.yaml", error));
    tacit_status status = tacit_schema_print(schema, "note", &text, error);
    if (status == TACIT_OK) status = tacit_schema_canonical(schema, &text, error);
    tacit_buffer_clear(&text);
    tacit_schema_free(schema);
    return status;
}

static tacit_status deal(const char *text, const tacit_dataset *dataset, tacit_error *error) {
    tacit_split_plan *plan = NULL;
    tacit_split *split = NULL;
    tacit_stream stream = tacit_stream_from_seed(1);
    tacit_view view = tacit_dataset_view(dataset);
    TACIT_TRY(tacit_split_plan_parse(&plan, text, error));
    tacit_status status = tacit_split_make(&split, plan, &view, 0, 2, &stream, error);
    tacit_split_free(split);
    tacit_split_plan_free(plan);
    return status;
}

static tacit_status generate_and_split(tacit_error *error) {
    tacit_stream stream = tacit_stream_from_seed(1);
    tacit_dataset *dataset = NULL;
    tacit_split *split = NULL;
    double score[20] = { 1 }, area;
    tacit_status status = TACIT_OK;
    TACIT_TRY(tacit_generate_ball(&dataset, 20, 3, NULL, &stream, error));
    TACIT_CHECK(tacit_auc(&area, NULL, dataset->label, score, 20, error));
    TACIT_CHECK(tacit_split_holdout(&split, 20, 0.2, 0.1, &stream, error));
    TACIT_CHECK(deal("even", dataset, error));
    TACIT_CHECK(deal("dirichlet:1", dataset, error));
    TACIT_CHECK(deal("0.5,0.5", dataset, error));
cleanup:
    tacit_split_free(split);
    tacit_dataset_free(dataset);
    return status;
}

static tacit_status graph_and_weights(tacit_error *error) {
    tacit_stream stream = tacit_stream_from_seed(1);
    tacit_topology_plan plan = { .kind = TACIT_TOPOLOGY_GEOMETRIC };
    tacit_topology *graph = NULL;
    tacit_mixing mixing = TACIT_MIXING_INIT;
    tacit_changes changes = { .present = NULL };
    tacit_status status;
    double least, second;
    TACIT_CHECK(tacit_topology_make(&graph, &plan, 9, &stream, error));
    TACIT_CHECK(tacit_mixing_create(&mixing, graph, error));
    TACIT_CHECK(tacit_changes_create(&changes, graph, 0.5, 0.1, 2, error));
    tacit_mixing_metropolis(&mixing, graph, &changes);
    TACIT_CHECK(tacit_mixing_spectrum(&mixing, &least, &second, error));
cleanup:
    tacit_changes_clear(&changes);
    tacit_mixing_clear(&mixing);
    tacit_topology_free(graph);
    return status;
}

static char csv_path[512];

/* A failed write leaves the file that was there. */
static void check_old_file(void) {
    char text[8] = "";
    FILE *file = fopen(csv_path, "rb");
    assert_non_null(file);
    assert_int_equal(fread(text, 1, 3, file), 3);
    fclose(file);
    assert_string_equal(text, "old");
}

static tacit_status generate_and_write(tacit_error *error) {
    tacit_stream stream = tacit_stream_from_seed(1);
    tacit_dataset *dataset = NULL;
    tacit_status status = tacit_generate_logistic(&dataset, 20, 3, NULL, &stream, error);
    if (status == TACIT_OK) status = tacit_dataset_write_csv(dataset, csv_path, error);
    tacit_dataset_free(dataset);
    if (status != TACIT_OK) check_old_file();
    return status;
}

SURVIVES(draft_csv)
SURVIVES(draft_libsvm)
SURVIVES(schema_dense)
SURVIVES(schema_sparse)
SURVIVES(numeric_labels)
SURVIVES(print_schema)
SURVIVES(generate_and_split)
SURVIVES(graph_and_weights)

static void generate_and_write_survives_any_failed_allocation(void **state) {
    strcpy(csv_path, scratch_write(*state, "g.csv", "old", 3));
    survive(generate_and_write);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(draft_csv_survives_any_failed_allocation),
        cmocka_unit_test(draft_libsvm_survives_any_failed_allocation),
        cmocka_unit_test(schema_dense_survives_any_failed_allocation),
        cmocka_unit_test(schema_sparse_survives_any_failed_allocation),
        cmocka_unit_test(numeric_labels_survives_any_failed_allocation),
        cmocka_unit_test(print_schema_survives_any_failed_allocation),
        cmocka_unit_test(generate_and_split_survives_any_failed_allocation),
        cmocka_unit_test(graph_and_weights_survives_any_failed_allocation),
        cmocka_unit_test(generate_and_write_survives_any_failed_allocation),
    };
    return cmocka_run_group_tests(tests, scratch_open, scratch_close);
}
