/* Wang 2018, table 5.1, its largest set: SimuX400 with 50,000,000 rows, 160 GB of numbers. What the nodes
 * compute over their rows is measured on 1,000,000 rows that are generated block by block, so that no more
 * than a block is kept, and extrapolated: sums over rows take time in proportion to the rows. */
#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "base/memory.h"
#include "data/generate.h"
#include "lab/reproduce/logit_sets.h"
#include "lab/reproduce/reproduce.h"
#include "method/row_sums.h"

enum { BLOCK = 20000, BLOCKS = 50, PARTIES = 5 };
static const double THESIS_ROWS = 50e6;
static const size_t NEWTON_ITERATIONS = 8, PRIVLOGIT_ITERATIONS = 206; /* as printed */

#define EXTRAPOLATED ", 50,000,000 rows, extrapolated, s"
static const tacit_variant curves[] = {
    { .method = "newton", .label = "rows measured" },
    { .method = "newton", .label = "newton, an iteration, s" },
    { .method = "privlogit-hessian", .label = "privlogit, the matrix once, s" },
    { .method = "privlogit-hessian", .label = "privlogit, an iteration, s" },
    { .method = "newton", .label = "newton, 8 iterations" EXTRAPOLATED },
    { .method = "privlogit-hessian", .label = "privlogit, 206 iterations" EXTRAPOLATED },
    { .method = NULL },
};
enum { ROWS, NEWTON, MATRIX, GRADIENT, ALL_NEWTON, ALL_PRIVLOGIT };
static const tacit_setup sets[] = { { "data set", "SimuX400", PARTIES, "even" } };
static const double epsilons[] = { INFINITY };

static double processor_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* What a node does over the rows of a block: the sums of an iteration with this weight. */
static tacit_status add_up(double *seconds, const tacit_dataset *block, const double *beta,
                           tacit_row_weight weight, double *sums, tacit_pool *pool, tacit_error *error) {
    tacit_view rows = tacit_dataset_view(block);
    tacit_row_sums how = { .family = &tacit_family_logistic,
                           .weight = weight,
                           .width = block->features,
                           .w = beta,
                           .response = tacit_row_class,
                           .pool = pool };
    double before = processor_seconds();
    TACIT_TRY(tacit_row_sums_make(sums, &how, &rows, error));
    *seconds += processor_seconds() - before;
    return TACIT_OK;
}

static tacit_status measure(double seconds[4], const tacit_simulation *simulation, size_t columns,
                            tacit_error *error) {
    tacit_stream root = tacit_stream_from_seed(simulation->seed);
    double *beta = TACIT_NEW(double, columns);
    double *sums = TACIT_NEW(double, tacit_sums_length(TACIT_WEIGH_ONE, columns));
    tacit_dataset *block = NULL;
    tacit_status status = TACIT_OK;
    if (beta == NULL || sums == NULL) TACIT_CHECK(tacit_fail_memory(error));
    for (size_t j = 0; j < columns; j++) beta[j] = j % 2 == 0 ? 0.1 : -0.1;
    for (size_t b = 0; b < BLOCKS; b++) {
        tacit_stream stream = tacit_stream_fork(&root, "block", b, 0);
        if (tacit_progress_cancelled(simulation->progress))
            TACIT_CHECK(tacit_fail(error, TACIT_CANCELLED, "interrupted"));
        tacit_progress_report(simulation->progress, "blocks", b, BLOCKS);
        block = tacit_dataset_free(block);
        TACIT_CHECK(tacit_generate_logistic(&block, BLOCK, columns, NULL, &stream, error));
        TACIT_CHECK(
            add_up(&seconds[NEWTON], block, beta, TACIT_WEIGH_CURVATURE, sums, simulation->pool, error));
        TACIT_CHECK(add_up(&seconds[MATRIX], block, beta, TACIT_WEIGH_ONE, sums, simulation->pool, error));
        TACIT_CHECK(add_up(&seconds[GRADIENT], block, beta, TACIT_WEIGH_NONE, sums, simulation->pool, error));
    }
cleanup:
    tacit_dataset_free(block);
    free(sums);
    free(beta);
    return status;
}

static tacit_status run(const tacit_simulation *simulation, const tacit_setup *setup, tacit_run *runs,
                        tacit_error *error) {
    double seconds[4] = { 0 }, rows = (double)BLOCK * BLOCKS, more = THESIS_ROWS / rows;
    TACIT_TRY(measure(seconds, simulation, tacit_logit_set_find(setup->name)->columns, error));
    const double values[] = {
        rows,
        seconds[NEWTON],
        seconds[MATRIX],
        seconds[GRADIENT],
        more * (double)NEWTON_ITERATIONS * seconds[NEWTON],
        more * (seconds[MATRIX] + (double)PRIVLOGIT_ITERATIONS * seconds[GRADIENT]),
    };
    for (size_t c = 0; curves[c].method != NULL; c++)
        runs[c] =
            (tacit_run){ .label = curves[c].label, .lambda = NAN, .trials = 1, .accuracy = { values[c], 0 } };
    return TACIT_OK;
}

static const tacit_claim claims[] = {
    { .says = "an iteration of PrivLogit costs the nodes less than one of Newton's method",
      .above = { "newton, an iteration, s", 0, NULL, 0 },
      .below = { "privlogit, an iteration, s", 0, NULL, 0 } },
    { .says = "the nodes' part is cheap: less than the printed 110,598 s of all for 50,000,000 rows "
              "(extrapolated)",
      .above = { NULL, 0, NULL, 110598 },
      .below = { "privlogit, 206 iterations" EXTRAPOLATED, 0, NULL, 0 } },
};

const tacit_experiment tacit_experiment_wang_rows = {
    .id = "wang-rows",
    .paper = "Wang 2018",
    .figure = "table 5.1, its largest set",
    .title = "What the nodes compute over the rows of SimuX400, measured on 1,000,000 and extrapolated to "
             "50,000,000",
    .differs = "Rows are generated block by block, 20,000 at a time, and each block is summed as a node sums "
               "its rows. Seconds are of the processor, all nodes together, without encryption and network, "
               "whose cost does not depend on the rows; wang-table51 has those. Iterations are as printed. "
               "The last two lines are not measured: they are 50 times the measured ones.",
    .says = "The nodes' part is cheap beside that of the servers.",
    .source = "generated here from the seed",
    .measures = "processor seconds of the nodes over their rows",
    .less_is_better = true,
    .curves = curves,
    .setups = sets,
    .setup_count = 1,
    .epsilons = epsilons,
    .epsilon_count = 1,
    .by_setup = true,
    .own_rows = true,
    .is_in_ball = true,
    .quick = { 1, 1, 0 },
    .full = { 1, 1, 0 },
    .claims = claims,
    .claim_count = sizeof claims / sizeof *claims,
    .read = tacit_logit_read_nothing,
    .run = run,
};
