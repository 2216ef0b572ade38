/* tacit explain: what leaves a party, who sees it, what is guaranteed, and what it really costs. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "api/document/explain.h"
#include "api/document/json_text.h"
#include "api/document/tables.h"
#include "base/number.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/help/text_width.h"
#include "method/methods.h"
#include "session/masked/masked.h"
#include "session/plan/wording.h"

static void print_item(const tacit_console *console, const char *title, const char *text) {
    tacit_wrap wrap = { .out = console->out, .width = console->width, .indent = 12 };
    int wide = fprintf(console->out, strlen(title) < 12 ? "%-12s" : "%s  ", title);
    wrap.column = wide > 12 ? (size_t)wide : 12;
    tacit_wrap_text(&wrap, text);
    fputc('\n', console->out);
}

/* A number that is left to the method, with what it will be where the method says that (settle), or what
 * leaving it open means, if that is one word (never). */
static void value_text(char out[TACIT_SETTING_SIZE], const tacit_plan *plan, const tacit_plan *settled,
                       const tacit_parameter *one) {
    char text[TACIT_SETTING_SIZE];
    if (!tacit_plan_leaves_open(plan, one))
        tacit_plan_print(plan, one, out);
    else if (!tacit_plan_leaves_open(settled, one))
        tacit_format(out, TACIT_SETTING_SIZE, "automatic (%.40s)", tacit_plan_print(settled, one, text));
    else
        tacit_format(out, TACIT_SETTING_SIZE, "%s", strchr(one->zero, ' ') == NULL ? one->zero : "automatic");
}

/* With where it is from. */
static void lambda_text(char *out, size_t size, const tacit_plan *plan) {
    const char *rule = plan->method->lambda_rule;
    if (plan->lambda_from == TACIT_LAMBDA_VALIDATED)
        snprintf(out, size, "by cross-validation");
    else if (tacit_plan_lambda_after(plan))
        snprintf(out, size, "chosen from what is released");
    else if (plan->lambda_from == TACIT_LAMBDA_RULE)
        snprintf(out, size, "%.3g (from public numbers%s%s)", plan->lambda, rule != NULL ? ": " : "",
                 rule != NULL ? rule : "");
    else
        snprintf(out, size, "%g", plan->lambda);
}

static void print_settings(const tacit_console *console, const tacit_plan *plan) {
    char text[1024], lambda[512];
    tacit_plan settled = *plan;
    if (tacit_plan_settle(&settled, NULL) != TACIT_OK) settled = *plan;
    lambda_text(lambda, sizeof lambda, plan);
    int used =
        snprintf(text, sizeof text, "%zu parties of at least %zu rows, %zu features, %zu classes, lambda %s",
                 plan->parties, plan->minimum_rows, plan->features, plan->classes, lambda);
    if (plan->delta > 0 && used > 0 && (size_t)used < sizeof text)
        used += snprintf(text + used, sizeof text - (size_t)used, ", delta %g", plan->delta);
    for (const tacit_parameter *one = plan->method->parameters; one != NULL && one->name != NULL; one++) {
        char value[TACIT_SETTING_SIZE];
        value_text(value, plan, &settled, one);
        if (used > 0 && (size_t)used < sizeof text)
            used += snprintf(text + used, sizeof text - (size_t)used, ", %s=%s", one->name, value);
    }
    print_item(console, "here", text);
}

static void print_noise(tacit_console *console, const tacit_explanation *about) {
    const tacit_noise_law *noise = &about->noise;
    char text[512], price[TACIT_PRICE_TEXT_SIZE];
    snprintf(text, sizeof text, "%s; %s", tacit_price_text(price, &about->prices.claimed),
             about->plan.method->claim);
    print_item(console, "paper", text);
    snprintf(
        text, sizeof text,
        "%s; %s in %zu dimensions, s = %.4g, added to %s, of L2 sensitivity %.4g; in %s its norm is %s %.4g",
        tacit_wording_noise(&about->plan, &about->prices.charged), noise->law, noise->dimension, noise->scale,
        noise->added_to, noise->sensitivity, noise->norm_in != NULL ? noise->norm_in : "the published model",
        noise->in_objective ? "at most about" : "about", noise->mean_norm);
    print_item(console, "noise", text);
}

static void print_text(tacit_console *console, const tacit_explanation *about, const tacit_wording *words) {
    const tacit_plan *plan = &about->plan;
    const tacit_method *method = plan->method;
    const tacit_price *charged = &about->prices.charged;
    char text[512], price[TACIT_PRICE_TEXT_SIZE], terms[TACIT_TERMS_TEXT];
    snprintf(text, sizeof text, "%s (%s)", method->title, method->reference);
    print_item(console, method->name, text);
    print_settings(console, plan);
    print_item(console, "terms", tacit_method_terms_text(method, terms));
    print_item(console, "leaves", words->leaves);
    if (method->undeployable == NULL) print_item(console, "how", tacit_wording_release(plan, charged));
    print_item(console, "seen by", words->seen_by);
    if (method->undeployable == NULL) print_item(console, "sums", about->sums);
    const char *exchanges = method->undeployable == NULL ? tacit_exchanges_text(plan, text) : NULL;
    if (exchanges != NULL) print_item(console, "exchanges", exchanges);
    const char *carried = method->undeployable == NULL ? tacit_handovers_text(plan, text) : NULL;
    if (carried != NULL) print_item(console, "by files", carried);
    print_item(console, "guarantee", words->guarantee);
    print_item(console, "assuming", words->assumption);
    print_item(console, "theorem", words->theorem);
    print_item(console, "charged",
               isinf(charged->epsilon) ? "epsilon infinite: no limit on what can be inferred is promised"
                                       : tacit_price_text(price, charged));
    if (!method->noise_free)
        print_noise(console, about);
    else if (method->undeployable == NULL)
        print_item(console, "noise", tacit_wording_noise(plan, charged));
    if (method->undeployable != NULL) {
        snprintf(text, sizeof text, "refused: %s", method->undeployable);
        print_item(console, "deployed", text);
    } else if (method->schedule != NULL) {
        print_item(console, "deployed",
                   "only if the owner says --allow-neighbours; messages go through the coordinator, "
                   "encrypted for each neighbour");
    }
    print_item(console, "caveats", words->caveats);
}

/* ---- the method's table beside the paper's ---- */

static tacit_status print_comparison(tacit_console *console, const char *title, char *text,
                                     tacit_error *error) {
    char *cells[TACIT_EXPLANATION_CELLS];
    tacit_grid_column columns[TACIT_EXPLANATION_CELLS];
    tacit_grid *grid = NULL;
    size_t count = tacit_explanation_cells(&text, cells);
    for (size_t c = 0; c < count; c++) columns[c] = (tacit_grid_column){ cells[c], TACIT_RIGHT };
    tacit_wrap wrap = { .out = console->out, .width = console->width };
    fputc('\n', console->out);
    tacit_wrap_text(&wrap, title);
    fputs("\n\n", console->out);
    TACIT_TRY(tacit_grid_create(&grid, columns, count, error));
    while ((count = tacit_explanation_cells(&text, cells)) > 0)
        for (size_t c = 0; c < count; c++) tacit_grid_cell(grid, "%s", cells[c]);
    tacit_status status = tacit_console_grid(console, grid, error);
    tacit_grid_free(grid);
    return status;
}

static tacit_status run_explain(const tacit_arguments *arguments, tacit_console *console,
                                tacit_error *error) {
    tacit_explanation about = TACIT_EXPLANATION_INIT;
    tacit_wording words = TACIT_WORDING_INIT;
    tacit_status status;
    TACIT_CHECK(tacit_explanation_make(&about, arguments, error));
    TACIT_CHECK(tacit_wording_make(&words, &about.plan, error));
    if (console->json) {
        json_t *document = NULL;
        TACIT_CHECK(tacit_explanation_document(&document, &about, error));
        TACIT_CHECK(tacit_console_document(console, document, error));
    } else {
        print_text(console, &about, &words);
        if (about.comparison != NULL)
            TACIT_CHECK(
                print_comparison(console, about.plan.method->comparison_title, about.comparison, error));
    }
cleanup:
    tacit_wording_clear(&words);
    tacit_explanation_clear(&about);
    return status;
}

const tacit_command tacit_command_explain = {
    .name = "explain",
    .section = "Learning",
    .summary = "what leaves a party, who sees it, what it costs",
    .description = "Says for one method what is guaranteed, to whom, per record or per party, under which "
                   "assumption and by which theorem; the paper's own claim beside what the ledger is "
                   "charged; and how much noise that means for the numbers given.",
    .operands = tacit_explain_operands,
    .options = tacit_explain_options,
    .examples =
        (const tacit_example[]){
            { "What would five hospitals pay, and how loud is the noise?",
              "tacit explain avg --epsilon 2 --parties 5 --rows 80 --features 31 --lambda 0.05" },
            { .text = NULL },
        },
    .run = run_explain,
};
