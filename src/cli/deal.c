#include "cli/deal_parts.h"

#include <string.h>

#include "cli/reading.h"
#include "data/text.h"
#include "data/together.h"

static const double USUAL_TEST_FRACTION = 0.2;

void tacit_deal_clear(tacit_deal *deal) {
    tacit_split_free(deal->parties);
    tacit_split_free(deal->holdout);
    tacit_split_free(deal->kept);
    tacit_schema_free(deal->schema);
    tacit_dataset_free(deal->test_data);
    tacit_dataset_free(deal->aux_data);
    tacit_dataset_free(deal->target_data);
    tacit_dataset_free(deal->data);
    *deal = (tacit_deal)TACIT_DEAL_INIT;
}

void tacit_deal_range(const tacit_deal *deal, size_t *least, size_t *most) {
    *least = SIZE_MAX;
    *most = 0;
    for (size_t k = 0; k < deal->parties->parts; k++) {
        size_t rows = tacit_split_count(deal->parties, k);
        if (rows < *least) *least = rows;
        if (rows > *most) *most = rows;
    }
}

/* Only rank 0 looks at rows to test on, and at those of a target. */
static tacit_status read_rows(tacit_deal *deal, const tacit_arguments *arguments,
                              const tacit_load_options *options, bool first_rank, tacit_error *error) {
    const char *schema = tacit_arguments_text(arguments, "schema");
    const char *train = tacit_arguments_text(arguments, "train");
    const char *test = tacit_arguments_text(arguments, "test");
    const char *aux = tacit_arguments_text(arguments, "aux");
    if (schema != NULL) TACIT_TRY(tacit_schema_load(&deal->schema, schema, error));
    TACIT_TRY(tacit_dataset_load(&deal->data, schema != NULL ? NULL : &deal->schema, train, deal->schema,
                                 options, error));
    /* The schema has taken label and positive class in; groups only say which party has a row. */
    tacit_load_options others = *options;
    others.label = others.positive = others.group = NULL;
    others.no_features = others.only_count = false;
    if (test != NULL && first_rank)
        TACIT_TRY(tacit_dataset_load(&deal->test_data, NULL, test, deal->schema, &others, error));
    if (tacit_arguments_text(arguments, "target") != NULL && first_rank)
        TACIT_TRY(tacit_dataset_load(&deal->target_data, NULL, tacit_arguments_text(arguments, "target"),
                                     deal->schema, &others, error));
    others.label_ignored = true;
    if (aux != NULL) TACIT_TRY(tacit_dataset_load(&deal->aux_data, NULL, aux, deal->schema, &others, error));
    return TACIT_OK;
}

/* Drop rows as --undersample CLASS=SHARE says, once for each time it is given. */
static tacit_status undersample(tacit_deal *deal, const tacit_arguments *arguments, size_t groups,
                                const tacit_stream *root, tacit_view *rows, tacit_error *error) {
    size_t count = 0;
    const tacit_setting *given = tacit_arguments_settings(arguments, "undersample", &count);
    for (size_t i = 0; i < count; i++) {
        tacit_stream stream = tacit_stream_fork(root, "undersampling", i, 0);
        tacit_split *kept = NULL;
        double share = 0;
        int32_t label = tacit_levels_find(&deal->data->classes, given[i].key, strlen(given[i].key));
        if (label < 0)
            return tacit_fail(error, TACIT_USAGE, "--undersample: '%s' is no class of the label",
                              given[i].key);
        if (!tacit_text_to_number(given[i].value, strlen(given[i].value), &share) ||
            !(share > 0 && share <= 1))
            return tacit_fail(error, TACIT_USAGE,
                              "--undersample %s=SHARE needs a number above 0, at most 1, not '%s'",
                              given[i].key, given[i].value);
        TACIT_TRY(tacit_undersample(&kept, rows, groups, label, share, &stream, error));
        tacit_split_free(deal->kept);
        deal->kept = kept;
        *rows = tacit_split_view(kept, deal->data, 0);
    }
    return TACIT_OK;
}

/* The rows to train on; deal->test and deal->auxiliary are set to the others. `groups` above 0: those of a group stay
 * together. */
static tacit_status hold_out(tacit_deal *deal, const tacit_arguments *arguments, size_t groups,
                             const tacit_stream *root, tacit_view *train, tacit_error *error) {
    double aux_fraction = tacit_arguments_given(arguments, "aux-fraction")
                              ? tacit_arguments_number(arguments, "aux-fraction")
                              : 0;
    double test_fraction = tacit_arguments_given(arguments, "test") ? 0
                           : tacit_arguments_given(arguments, "test-fraction")
                               ? tacit_arguments_number(arguments, "test-fraction")
                               : USUAL_TEST_FRACTION;
    if (test_fraction + aux_fraction >= 1)
        return tacit_fail(error, TACIT_USAGE, "--test-fraction and --aux-fraction leave no rows to train on");
    tacit_stream stream = tacit_stream_fork(root, "test rows", 0, 0);
    *train = tacit_dataset_view(deal->data);
    TACIT_TRY(undersample(deal, arguments, groups, root, train, error));
    if (test_fraction + aux_fraction > 0) {
        TACIT_TRY(groups > 0 ? tacit_together_holdout(&deal->holdout, train, groups, test_fraction,
                                                      aux_fraction, &stream, error)
                             : tacit_split_holdout(&deal->holdout, train->rows.count, test_fraction,
                                                   aux_fraction, &stream, error));
        for (size_t i = 0; deal->kept != NULL && groups == 0 && i < train->rows.count; i++)
            deal->holdout->index[i] = deal->kept->index[deal->holdout->index[i]];
        *train = tacit_split_view(deal->holdout, deal->data, TACIT_PART_TRAIN);
        deal->test = tacit_split_view(deal->holdout, deal->data, TACIT_PART_TEST);
        deal->auxiliary = tacit_split_view(deal->holdout, deal->data, TACIT_PART_AUX);
    }
    if (deal->test_data != NULL) deal->test = tacit_dataset_view(deal->test_data);
    if (deal->aux_data != NULL) deal->auxiliary = tacit_dataset_view(deal->aux_data);
    return TACIT_OK;
}

/* A group all of whose rows are test rows has nothing to train on. */
static void drop_empty_parties(tacit_deal *deal) {
    tacit_split *split = deal->parties;
    size_t kept = 0;
    for (size_t k = 0; k < split->parts; k++)
        if (tacit_split_count(split, k) > 0) split->start[kept++] = split->start[k];
    split->start[kept] = split->start[split->parts];
    deal->empty_groups = split->parts - kept;
    split->parts = kept;
}

static tacit_status make_deal(tacit_deal *deal, const tacit_arguments *arguments, tacit_console *console,
                              uint64_t seed, const tacit_split_plan *plan, tacit_error *error) {
    size_t parties = tacit_arguments_given(arguments, "parties")
                         ? (size_t)tacit_arguments_integer(arguments, "parties")
                         : 0;
    if (parties == 0 && (plan->kind == TACIT_SPLIT_EVEN || plan->kind == TACIT_SPLIT_DIRICHLET))
        return tacit_fail(error, TACIT_USAGE,
                          "how many parties? give --parties M, or a --split that says it (fractions, or "
                          "by:COLUMN)");
    tacit_load_options options = tacit_reading_draft(arguments, console);
    const char *together = tacit_arguments_text(arguments, "together");
    if (together != NULL && plan->column != NULL)
        return tacit_fail(error, TACIT_USAGE, "give either --together or --split by:COLUMN");
    options.group = together != NULL ? together : plan->column;
    bool spread = tacit_ranks_count(console->ranks) > 1;
    options.no_features = spread;
    options.only_count = spread && options.group == NULL && !tacit_arguments_given(arguments, "undersample");
    TACIT_TRY(read_rows(deal, arguments, &options, tacit_ranks_own(console->ranks) == 0, error));
    tacit_stream root = tacit_stream_from_seed(seed);
    tacit_view train;
    size_t groups = deal->data->groups.count;
    TACIT_TRY(hold_out(deal, arguments, together != NULL ? groups : 0, &root, &train, error));
    tacit_stream stream = tacit_stream_fork(&root, "party rows", 0, 0);
    TACIT_TRY(together != NULL
                  ? tacit_together_make(&deal->parties, plan, &train, groups, parties, &stream, error)
                  : tacit_split_make(&deal->parties, plan, &train, groups, parties, &stream, error));
    drop_empty_parties(deal);
    deal->range = (tacit_party_range){ console->ranks, 0, deal->parties->parts };
    if (!spread) return TACIT_OK;
    return tacit_deal_take_part(deal, tacit_arguments_text(arguments, "train"), &options, console->ranks,
                                error);
}

tacit_status tacit_deal_make(tacit_deal *out, const tacit_arguments *arguments, tacit_console *console,
                             uint64_t seed, tacit_error *error) {
    tacit_deal deal = TACIT_DEAL_INIT;
    tacit_split_plan *plan = NULL;
    TACIT_TRY(tacit_split_plan_parse(&plan, tacit_arguments_text(arguments, "split"), error));
    tacit_status status = make_deal(&deal, arguments, console, seed, plan, error);
    tacit_split_plan_free(plan);
    if (status == TACIT_OK)
        *out = deal;
    else
        tacit_deal_clear(&deal);
    return status;
}
