/* tacit plan: what each method will be worth, before anybody is asked. */
#include <math.h>
#include <string.h>

#include "api/described.h"
#include "api/document/outlook.h"
#include "api/document/tables.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/prospect.h"

static void add_figure(tacit_grid *grid, const tacit_outlook_figure *figure) {
    if (isnan(figure->mean))
        tacit_grid_cell(grid, "-");
    else
        tacit_grid_cell(grid, "%.3f (%.3f to %.3f)", figure->mean, figure->low, figure->high);
}

/* Of classes accuracy, AUC and log-loss, of numbers the rest: what applies to a pooled model. */
static void add_metrics(tacit_grid *grid, const tacit_outlook *outlook,
                        const tacit_outlook_metrics *metrics) {
    bool classes = outlook->response == TACIT_RESPONSE_CLASS;
    for (int k = classes ? 0 : TACIT_BELIEF_SHARE; k < (classes ? TACIT_BELIEF_SHARE : TACIT_BELIEF_FIGURES);
         k++)
        add_figure(grid, &metrics->figure[k]);
}

static void add_yardstick(tacit_grid *grid, const char *name, const tacit_outlook *outlook,
                          const tacit_outlook_metrics *metrics) {
    tacit_grid_cell(grid, "%s", name);
    add_metrics(grid, outlook, metrics);
    for (int empty = 0; empty < 5; empty++) tacit_grid_cell(grid, "%s", "");
}

static void add_method(tacit_grid *grid, const tacit_outlook *outlook, const tacit_outlook_method *one,
                       bool unpriced) {
    tacit_grid_cell(grid, "%s", one->plan.method->name);
    add_metrics(grid, outlook, &one->expected);
    tacit_grid_cell(grid, "%llu", (unsigned long long)one->rounds);
    tacit_grid_cell(grid, "%llu", (unsigned long long)one->handovers);
    tacit_grid_cell(grid, "%llu", (unsigned long long)one->bytes_per_party);
    if (unpriced)
        tacit_grid_cell(grid, "-");
    else if (isnan(one->pays_from))
        tacit_grid_cell(grid, "above 20");
    else
        tacit_grid_cell(grid, "%g", one->pays_from);
    tacit_grid_cell(grid, "%s", tacit_outlook_verdict_text(one->verdict));
}

static tacit_status print_table(tacit_console *console, const tacit_outlook *outlook, bool brief,
                                tacit_error *error) {
    static const char *const figures[][3] = { { "accuracy", "AUC", "log-loss" },
                                              { "R^2", "squared error", NULL },
                                              { "share of the deviance", "deviance", NULL } };
    static const tacit_grid_column others[] = { { "rounds", TACIT_RIGHT },
                                                { "hand-overs", TACIT_RIGHT },
                                                { "bytes/party", TACIT_RIGHT },
                                                { "pays from epsilon", TACIT_RIGHT },
                                                { "verdict", TACIT_LEFT } };
    tacit_grid_column columns[9] = { { "method", TACIT_LEFT } };
    size_t count = 1;
    for (size_t k = 0; k < 3 && figures[outlook->response][k] != NULL; k++)
        columns[count++] = (tacit_grid_column){ figures[outlook->response][k], TACIT_RIGHT };
    for (size_t k = 0; k < sizeof others / sizeof *others; k++) columns[count++] = others[k];
    tacit_grid *grid = NULL;
    TACIT_TRY(tacit_grid_create(&grid, columns, count, error));
    add_yardstick(grid, "a site alone", outlook, &outlook->alone);
    add_yardstick(grid, "all rows pooled", outlook, &outlook->pooled);
    for (size_t m = 0; m < outlook->count; m++)
        add_method(grid, outlook, &outlook->methods[m], brief || m != outlook->recommended);
    tacit_status status = tacit_console_grid(console, grid, error);
    tacit_grid_free(grid);
    return status;
}

/* What rows the figures rest on. */
static void print_belief(tacit_console *console, const tacit_planning *all) {
    const tacit_outlook *outlook = &all->outlook;
    const char *source = all->own != NULL    ? "rows like your own"
                         : all->like != NULL ? "rows like the given ones"
                                             : "rows drawn to the schema";
    tacit_console_print(console,
                        "%zu parties with %zu rows together, %zu features; epsilon %g, delta %g per record\n"
                        "Played on %s, with a signal of ",
                        outlook->parties, outlook->rows, outlook->features, outlook->epsilon, outlook->delta,
                        source);
    if (outlook->response == TACIT_RESPONSE_CLASS)
        tacit_console_print(console, "AUC %.3f and %.0f%% positives", outlook->signal,
                            100 * outlook->positives);
    else
        tacit_console_print(console, "%.0f%% of the %s", 100 * outlook->signal,
                            outlook->response == TACIT_RESPONSE_COUNT ? "deviance" : "variance");
    if (outlook->simulated < outlook->rows)
        tacit_console_print(console, ", thinned to %zu with as much less noise", outlook->simulated);
    tacit_console_print(console, "; in brackets, where nine runs in ten lie\n\n");
}

static void print_other(tacit_console *console, const char *what, const char *figure,
                        const tacit_outlook_other *other, const tacit_outlook_method *best) {
    if (other->rows == 0) return;
    tacit_console_print(console, "%s (%zu parties, %zu rows): %s %.3f instead of %.3f; a site alone %.3f\n",
                        what, other->parties, other->rows, figure, tacit_outlook_score(&other->expected),
                        tacit_outlook_score(&best->expected), tacit_outlook_score(&other->alone));
}

/* The lines of a study's definition; a doubt about it is a comment among them, which is copied with them. */
static void print_definition(tacit_console *console, const tacit_plan *plan, const char *doubt) {
    const char *between = "  set: {";
    tacit_console_print(console, "\nIn the study's definition:\n");
    if (doubt[0] != 0) tacit_console_print(console, "  # %s\n", doubt);
    tacit_console_print(console, "  method: %s\n", plan->method->name);
    for (const tacit_parameter *one = plan->method->parameters; one != NULL && one->name != NULL; one++) {
        char text[TACIT_SETTING_SIZE], usual[TACIT_SETTING_SIZE];
        tacit_plan_print(plan, one, text);
        if (strcmp(text, tacit_setting_print(plan->method->defaults, one, usual)) == 0) continue;
        tacit_console_print(console, "%s%s: %s", between, one->name, text);
        between = ", ";
    }
    if (between[0] == ',') tacit_console_print(console, "}\n");
    if (!plan->method->noise_free) tacit_console_print(console, "  epsilon: %g\n", plan->epsilon);
    if (plan->delta > 0) tacit_console_print(console, "  delta: %g\n", plan->delta);
    if (!plan->method->lambda_may_vanish && !tacit_plan_lambda_after(plan))
        tacit_console_print(console, "  lambda: %.6g\n", plan->lambda);
    tacit_console_print(console, "  expected_rows: %zu\n", plan->expected_rows);
}

/* Where another method is better than the study's own, what is to be said of that one. */
static void warn_of_own(tacit_console *console, const tacit_planning *all) {
    const tacit_outlook *outlook = &all->outlook;
    const tacit_plan *study = all->request.study;
    char doubt[TACIT_REMARK_SIZE];
    for (size_t m = 0; study != NULL && m < outlook->count; m++)
        if (m != outlook->recommended && outlook->methods[m].plan.method == study->method &&
            tacit_outlook_doubtful(outlook, &outlook->methods[m], doubt))
            tacit_console_warn(console, "the study's own method, %s: %s", study->method->name, doubt);
}

static void print_recommendation(tacit_console *console, const tacit_planning *all) {
    const tacit_outlook *outlook = &all->outlook;
    if (outlook->recommended == outlook->count) {
        tacit_console_print(console, "\nNo method suits.\n");
        return;
    }
    const tacit_outlook_method *best = &outlook->methods[outlook->recommended];
    char price[TACIT_PRICE_TEXT_SIZE], doubt[TACIT_REMARK_SIZE];
    double gain = tacit_outlook_score(&best->expected) - tacit_outlook_score(&outlook->alone);
    tacit_console_print(console, "\nBest: %s, at %s. ", best->plan.method->name,
                        tacit_price_text(price, &best->charged));
    if (best->verdict == TACIT_OUTLOOK_NONE)
        tacit_console_print(console,
                            "No verdict: pooled rows would score above %g, where assumed rows "
                            "cannot tell who is ahead.\n",
                            TACIT_OUTLOOK_SURE);
    else
        tacit_console_print(console, "For a site, %s: %+.3f in %s.\n",
                            tacit_outlook_verdict_text(best->verdict), gain,
                            tacit_outlook_main_name(outlook));
    if (tacit_outlook_doubtful(outlook, best, doubt)) tacit_console_warn(console, "%s", doubt);
    warn_of_own(console, all);
    print_other(console, "Twice the parties", tacit_outlook_main_name(outlook), &outlook->more_parties, best);
    print_other(console, "Twice the rows at each", tacit_outlook_main_name(outlook), &outlook->more_rows,
                best);
    print_definition(console, &best->plan, doubt);
}

static void note_remarks(tacit_console *console, const tacit_planning *all) {
    if (all->rows_guessed)
        tacit_console_warn(
            console, "the study says no expected_rows: planned for its parties times minimum_rows, %zu rows",
            all->outlook.rows);
    if (all->own != NULL)
        tacit_console_note(console,
                           "your rows were looked at here and for you alone: nothing is released, no ledger "
                           "is charged and nothing is written. Do not pass the figures on.");
    for (size_t m = 0; m < all->outlook.refusals; m++)
        tacit_console_note(console, "left out: %s: %s", all->outlook.refused[m].method->name,
                           all->outlook.refused[m].why);
}

static tacit_status run_plan(const tacit_arguments *arguments, tacit_console *console, tacit_error *error) {
    tacit_planning all = TACIT_PLANNING_INIT;
    tacit_status status;
    TACIT_CHECK(tacit_planning_make(&all, arguments, tacit_console_progress(console), error));
    note_remarks(console, &all);
    if (all.described != NULL)
        TACIT_CHECK(tacit_prospect_remarks(console, all.described, all.request.belief.schema, error));
    print_belief(console, &all);
    TACIT_CHECK(print_table(console, &all.outlook, all.request.brief, error));
    print_recommendation(console, &all);
    TACIT_CHECK(tacit_console_document(console, tacit_outlook_document(&all.outlook), error));
cleanup:
    tacit_planning_clear(&all);
    return status;
}

const tacit_command tacit_command_plan = {
    .name = "plan",
    .section = "Learning",
    .summary = "what each method will be worth, before anybody is asked",
    .usage = (const char *const[]){ "STUDY [OPTIONS]",
                                    "--schema FILE --parties M --rows N --epsilon E [OPTIONS]", NULL },
    .description = "Runs the real mechanism of every method that suits the schema and the numbers on assumed "
                   "rows, and shows what to expect of it beside all rows pooled and beside a site alone, "
                   "both without noise; the epsilon from which joining pays; what more parties or rows would "
                   "buy; and the lines of a study's definition that make it so. By default rows are drawn to "
                   "the schema, with a stated signal; better are rows like public ones (--like) or, at a "
                   "site, like its own (--own). The label is of classes, a number or a count.\n\n"
                   "Nothing is released, no ledger is charged and nothing is written. Where pooled rows "
                   "would have an AUC above 0.95 no verdict is given.",
    .operands = tacit_plan_operands,
    .options = tacit_plan_options,
    .examples =
        (const tacit_example[]){
            { "Twenty hospitals with 4,000 rows: is it worth asking them at epsilon 1?",
              "tacit plan --schema examples/breast_cancer.schema.yaml --parties 20 --rows 4000 --epsilon 1" },
            { "An owner, before joining, with the own rows.",
              "tacit plan examples/breast_cancer.study.yaml --own patients.csv" },
            { .text = NULL },
        },
    .run = run_plan,
};
