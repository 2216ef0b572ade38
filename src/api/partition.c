#include "api/partition.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "data/grouped_split.h"
#include "data/schema/text.h"

static const double USUAL_TEST_FRACTION = 0.2;

void tacit_partition_clear(tacit_partition *partition) {
    tacit_split_free(partition->parties);
    tacit_split_free(partition->holdout);
    tacit_split_free(partition->kept);
    free(partition->labelled);
    *partition = (tacit_partition)TACIT_PARTITION_INIT;
}

void tacit_partition_range(const tacit_partition *partition, size_t *least, size_t *most) {
    *least = SIZE_MAX;
    *most = 0;
    for (size_t k = 0; k < partition->parties->parts; k++) {
        size_t rows = tacit_split_count(partition->parties, k);
        if (rows < *least) *least = rows;
        if (rows > *most) *most = rows;
    }
}

/* Drop rows as --undersample CLASS=SHARE says, once for each time it is given. */
static tacit_status undersample(tacit_partition *partition, const tacit_arguments *arguments, size_t groups,
                                const tacit_stream *root, tacit_view *rows, tacit_error *error) {
    size_t count = 0;
    const tacit_setting *given = tacit_arguments_settings(arguments, "undersample", &count);
    for (size_t i = 0; i < count; i++) {
        tacit_stream stream = tacit_stream_fork(root, "undersampling", i, 0);
        tacit_split *kept = NULL;
        double share = 0;
        int32_t label = tacit_levels_find(&partition->data->classes, given[i].key, strlen(given[i].key));
        if (label < 0)
            return tacit_fail(error, TACIT_USAGE, "the option 'undersample': '%s' is no class of the label",
                              given[i].key);
        if (!tacit_text_to_number(given[i].value, strlen(given[i].value), &share) ||
            !(share > 0 && share <= 1))
            return tacit_fail(error, TACIT_USAGE,
                              "the option 'undersample=%s=SHARE' needs a number above 0, at most 1, not '%s'",
                              given[i].key, given[i].value);
        TACIT_TRY(tacit_undersample(&kept, rows, groups, label, share, &stream, error));
        tacit_split_free(partition->kept);
        partition->kept = kept;
        *rows = tacit_split_view(kept, partition->data, 0);
    }
    return TACIT_OK;
}

/* A model is judged by rows with a label. */
static tacit_status keep_labelled_tests(tacit_partition *partition, tacit_error *error) {
    const tacit_view *test = &partition->test;
    const tacit_dataset *from = partition->test_data != NULL ? partition->test_data : partition->data;
    const size_t count = tacit_view_labelled(test);
    size_t next = 0;
    if (test->rows.count == 0 || test->label == NULL || count == test->rows.count) return TACIT_OK;
    if (count == 0)
        return tacit_fail(
            error, TACIT_INPUT,
            "none of the %zu test rows has a label to judge a model by: name labelled rows with the "
            "option 'test'",
            test->rows.count);
    partition->labelled = TACIT_NEW(uint32_t, count);
    if (partition->labelled == NULL) return tacit_fail_memory(error);
    for (size_t i = 0; i < test->rows.count; i++)
        if (tacit_view_label(test, i) != TACIT_UNLABELLED)
            partition->labelled[next++] = (uint32_t)tacit_rows_stored(&test->rows, i);
    partition->test = tacit_dataset_subset(from, partition->labelled, count);
    return TACIT_OK;
}

/* The rows to train on; partition->test and partition->auxiliary are set to the others. `groups` above 0:
 * those of a group stay together. */
static tacit_status hold_out(tacit_partition *partition, const tacit_arguments *arguments, size_t groups,
                             const tacit_stream *root, tacit_view *train, tacit_error *error) {
    double aux_fraction = tacit_arguments_given(arguments, "aux-fraction")
                              ? tacit_arguments_number(arguments, "aux-fraction")
                              : 0;
    /* by this rank or another */
    bool brought = partition->test_data != NULL || tacit_arguments_given(arguments, "test");
    double test_fraction = brought ? 0
                           : tacit_arguments_given(arguments, "test-fraction")
                               ? tacit_arguments_number(arguments, "test-fraction")
                               : USUAL_TEST_FRACTION;
    if (test_fraction + aux_fraction >= 1)
        return tacit_fail(
            error, TACIT_USAGE,
            "the option 'test-fraction' and the option 'aux-fraction' leave no rows to train on");
    tacit_stream stream = tacit_stream_fork(root, "test rows", 0, 0);
    *train = tacit_dataset_view(partition->data);
    TACIT_TRY(undersample(partition, arguments, groups, root, train, error));
    if (test_fraction + aux_fraction > 0) {
        TACIT_TRY(groups > 0 ? tacit_grouped_split_holdout(&partition->holdout, train, groups, test_fraction,
                                                           aux_fraction, &stream, error)
                             : tacit_split_holdout(&partition->holdout, train->rows.count, test_fraction,
                                                   aux_fraction, &stream, error));
        for (size_t i = 0; partition->kept != NULL && groups == 0 && i < train->rows.count; i++)
            partition->holdout->index[i] = partition->kept->index[partition->holdout->index[i]];
        *train = tacit_split_view(partition->holdout, partition->data, TACIT_PART_TRAIN);
        partition->test = tacit_split_view(partition->holdout, partition->data, TACIT_PART_TEST);
        partition->auxiliary = tacit_split_view(partition->holdout, partition->data, TACIT_PART_AUX);
    }
    if (partition->test_data != NULL) partition->test = tacit_dataset_view(partition->test_data);
    if (partition->aux_data != NULL) partition->auxiliary = tacit_dataset_view(partition->aux_data);
    return keep_labelled_tests(partition, error);
}

/* A group all of whose rows are test rows has nothing to train on. */
static void drop_empty_parties(tacit_partition *partition) {
    tacit_split *split = partition->parties;
    size_t kept = 0;
    for (size_t k = 0; k < split->parts; k++)
        if (tacit_split_count(split, k) > 0) split->start[kept++] = split->start[k];
    split->start[kept] = split->start[split->parts];
    partition->empty_groups = split->parts - kept;
    split->parts = kept;
}

tacit_status tacit_partition_make(tacit_partition *partition, const tacit_arguments *arguments,
                                  const tacit_split_plan *plan, uint64_t seed, tacit_error *error) {
    size_t parties = tacit_arguments_given(arguments, "parties")
                         ? (size_t)tacit_arguments_integer(arguments, "parties")
                         : 0;
    tacit_stream root = tacit_stream_from_seed(seed);
    tacit_view train;
    size_t groups = partition->groups;
    TACIT_TRY(hold_out(partition, arguments, partition->grouped ? groups : 0, &root, &train, error));
    if (partition->site != NULL) train.group = partition->site;
    tacit_stream stream = tacit_stream_fork(&root, "party rows", 0, 0);
    TACIT_TRY(
        partition->grouped
            ? tacit_grouped_split_make(&partition->parties, plan, &train, groups, parties, &stream, error)
            : tacit_split_make(&partition->parties, plan, &train, groups, parties, &stream, error));
    drop_empty_parties(partition);
    partition->range = (tacit_party_range){ NULL, 0, partition->parties->parts };
    return TACIT_OK;
}
