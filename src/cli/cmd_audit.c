/* tacit audit: an empirical lower bound on epsilon, and whether the promise survives it. */
#include <math.h>

#include "base/memory.h"
#include "cli/arguments.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/json.h"
#include "lab/audit.h"

static const uint64_t SEED_BITS = (UINT64_C(1) << 53) - 1; /* survives being read as a double */

static uint64_t read_seed(const tacit_arguments *arguments) {
    if (tacit_arguments_given(arguments, "seed")) return (uint64_t)tacit_arguments_integer(arguments, "seed");
    tacit_stream entropy = tacit_stream_from_entropy();
    return tacit_stream_u64(&entropy) & SEED_BITS;
}

static tacit_status read_audit(tacit_audit *out, tacit_choice **settings, const tacit_arguments *arguments,
                               tacit_error *error) {
    size_t count = 0;
    const tacit_setting *given = tacit_arguments_settings(arguments, "set", &count);
    *out = (tacit_audit){
        .setup = { .epsilon = tacit_arguments_number(arguments, "epsilon"),
                   .delta = tacit_arguments_number(arguments, "delta"),
                   .lambda = tacit_arguments_given(arguments, "lambda")
                                 ? tacit_arguments_number(arguments, "lambda")
                                 : 0,
                   .setting_count = count },
        .runs = (size_t)tacit_arguments_integer(arguments, "runs"),
        .confidence = tacit_arguments_number(arguments, "confidence"),
        .seed = read_seed(arguments),
    };
    TACIT_TRY(tacit_auditable_require(&out->subject, tacit_arguments_operand(arguments, "METHOD"), error));
    *settings = TACIT_NEW(tacit_choice, count);
    if (*settings == NULL) return tacit_fail_memory(error);
    for (size_t i = 0; i < count; i++) (*settings)[i] = (tacit_choice){ given[i].key, given[i].value };
    out->setup.settings = *settings;
    return TACIT_OK;
}

static const char *verdict(const tacit_audit_result *result) { return result->broken ? "broken" : "holds"; }

static tacit_status print_table(tacit_console *console, const tacit_audit *audit,
                                const tacit_audit_result *result, tacit_error *error) {
    static const tacit_grid_column columns[] = { { "method", TACIT_LEFT },    { "charged", TACIT_LEFT },
                                                 { "at least", TACIT_RIGHT }, { "confidence", TACIT_RIGHT },
                                                 { "runs", TACIT_RIGHT },     { "verdict", TACIT_LEFT } };
    char price[TACIT_PRICE_TEXT_SIZE];
    tacit_grid *grid = NULL;
    TACIT_TRY(tacit_grid_create(&grid, columns, sizeof columns / sizeof *columns, error));
    tacit_grid_cell(grid, "%s", audit->subject->name);
    tacit_grid_cell(grid, "%s", tacit_price_text(price, &result->charged));
    tacit_grid_cell(grid, "%.4f", result->epsilon_lower);
    tacit_grid_cell(grid, "%g%%", 100 * audit->confidence);
    tacit_grid_cell(grid, "2 x %zu", audit->runs);
    tacit_grid_cell(grid, "%s", verdict(result));
    tacit_status status = tacit_console_grid(console, grid, error);
    tacit_grid_free(grid);
    return status;
}

static tacit_status print_text(tacit_console *console, const tacit_audit *audit,
                               const tacit_audit_result *result, tacit_error *error) {
    tacit_console_print(console, "%s; seed %llu\n", audit->subject->title, (unsigned long long)audit->seed);
    tacit_console_print(console, "pair: %s\n", result->pair);
    if (isfinite(result->reach))
        tacit_console_print(console, "      it moves the output by %.1f%% of the declared sensitivity\n",
                            100 * result->reach);
    tacit_console_print(console, "\n");
    TACIT_TRY(print_table(console, audit, result, error));
    tacit_console_print(console,
                        "\nOne event was seen in %llu of %zu runs on one data set and in %llu on its\n"
                        "neighbour: probabilities of at least %.4g and at most %.4g.\n",
                        (unsigned long long)result->hits, result->counted,
                        (unsigned long long)result->other_hits, result->at_least, result->at_most);
    return TACIT_OK;
}

static json_t *document(const tacit_audit *audit, const tacit_audit_result *result) {
    return json_pack("{s:s,s:o,s:o,s:s,s:o,s:o,s:I,s:s,s:s,s:o,s:I}", "method", audit->subject->name,
                     "epsilon", tacit_json_number(result->charged.epsilon), "delta",
                     tacit_json_number(result->charged.delta), "unit", tacit_unit_name(result->charged.unit),
                     "epsilon_lower", tacit_json_number(result->epsilon_lower), "confidence",
                     tacit_json_number(audit->confidence), "runs", (json_int_t)audit->runs, "verdict",
                     verdict(result), "pair", result->pair, "reach", tacit_json_number(result->reach), "seed",
                     (json_int_t)audit->seed);
}

static tacit_status run_audit(const tacit_arguments *arguments, tacit_console *console, tacit_error *error) {
    tacit_audit audit;
    tacit_audit_result result;
    tacit_choice *settings = NULL;
    tacit_pool *pool = NULL;
    tacit_status status;
    unsigned threads = tacit_arguments_given(arguments, "threads")
                           ? (unsigned)tacit_arguments_integer(arguments, "threads")
                           : 0;
    TACIT_CHECK(read_audit(&audit, &settings, arguments, error));
    TACIT_CHECK(tacit_pool_create(&pool, threads, error));
    audit.pool = pool;
    audit.progress = tacit_console_progress(console);
    TACIT_CHECK(tacit_audit_run(&result, &audit, error));
    TACIT_CHECK(print_text(console, &audit, &result, error));
    TACIT_CHECK(tacit_console_document(console, document(&audit, &result), error));
    if (result.broken)
        status = tacit_fail(
            error, TACIT_INTERNAL,
            "%s is charged epsilon %g and loses at least %.4f (confidence %g%%): its promise is broken",
            audit.subject->name, result.charged.epsilon, result.epsilon_lower, 100 * audit.confidence);
cleanup:
    tacit_pool_free(pool);
    free(settings);
    return status;
}

static const tacit_option options[] = {
    { .name = "epsilon",
      .kind = TACIT_OPTION_NUMBER,
      .placeholder = "E",
      .rules = TACIT_RULE_REQUIRED | TACIT_RULE_RANGE | TACIT_RULE_ABOVE,
      .least = 0,
      .most = 1e6,
      .help = "the promise to test" },
    { .name = "delta",
      .kind = TACIT_OPTION_NUMBER,
      .placeholder = "D",
      .fallback = "0",
      .rules = TACIT_RULE_RANGE | TACIT_RULE_BELOW,
      .least = 0,
      .most = 1,
      .help = "for methods whose guarantee has one" },
    { .name = "lambda",
      .kind = TACIT_OPTION_NUMBER,
      .placeholder = "L",
      .rules = TACIT_RULE_RANGE | TACIT_RULE_ABOVE,
      .least = 0,
      .most = 1e6,
      .help = "weight of the regulariser; the one at which the pair is worst unless told" },
    { .name = "runs",
      .kind = TACIT_OPTION_INTEGER,
      .placeholder = "N",
      .fallback = "200000",
      .rules = TACIT_RULE_RANGE,
      .least = TACIT_AUDIT_LEAST_RUNS,
      .most = 1e9,
      .help = "on each of the two data sets" },
    { .name = "confidence",
      .kind = TACIT_OPTION_NUMBER,
      .placeholder = "C",
      .fallback = "0.999",
      .rules = TACIT_RULE_RANGE | TACIT_RULE_ABOVE | TACIT_RULE_BELOW,
      .least = 0,
      .most = 1,
      .help = "that the lower bound is one" },
    { .name = "seed",
      .kind = TACIT_OPTION_INTEGER,
      .placeholder = "S",
      .rules = TACIT_RULE_RANGE,
      .least = 0,
      .most = 9007199254740991,
      .help = "all chance follows from it, on any number of threads; drawn and printed unless told" },
    { .name = "set",
      .kind = TACIT_OPTION_SETTING,
      .placeholder = "NAME=VALUE",
      .help = "a setting of the method" },
    { .name = "threads",
      .kind = TACIT_OPTION_INTEGER,
      .placeholder = "N",
      .rules = TACIT_RULE_RANGE,
      .least = 1,
      .most = 1024,
      .help = "processors to use; all unless told" },
    { .name = NULL },
};

const tacit_command tacit_command_audit = {
    .name = "audit",
    .section = "Learning",
    .summary = "try to break a promise of privacy by experiment",
    .description =
        "Runs a method many times on two neighbouring data sets, the worst pair that is known for it, and "
        "derives "
        "from how differently the outputs fall a lower bound on the epsilon that was really spent. A bound "
        "above "
        "the charged epsilon proves the promise wrong (verdict broken, exit 1). A bound below it proves "
        "nothing, "
        "but shows how much of epsilon this pair uses.\n\n"
        "Half of the runs, at most 500,000, choose what to look for and the others count; bounds are "
        "Clopper-Pearson's, and the confidence covers all of them together.",
    .operands =
        (const tacit_operand[]){
            { "METHOD", 1, 1,
              "a method (avg, output, plr, gop), a mechanism (laplace, gamma-norm, gaussian), or the broken "
              "control "
              "laplace-halved" },
            { .name = NULL },
        },
    .options = options,
    .examples =
        (const tacit_example[]){
            { "Is the noise of avg enough for one record?", "tacit audit avg --epsilon 1" },
            { "And for all rows of a party that adds its own noise?",
              "tacit audit avg --epsilon 1 --set unit=party --set noise=party" },
            { "See the audit catch noise that is too small.", "tacit audit laplace-halved --epsilon 1" },
            { .text = NULL },
        },
    .run = run_audit,
};
