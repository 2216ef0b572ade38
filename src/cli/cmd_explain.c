/* tacit explain: what leaves a party, who sees it, what is guaranteed, and what it really costs. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "cli/arguments.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/json.h"
#include "cli/text.h"
#include "method/methods.h"
#include "session/masked.h"

static tacit_sum_way way_of(const char *name) {
    tacit_sum_way way = TACIT_SUMS_MASKED;
    while (strcmp(tacit_sum_way_name(way), name) != 0) way++;
    return way;
}

static tacit_status make_plan(const tacit_arguments *arguments, tacit_plan *out, tacit_error *error) {
    const tacit_method *method = NULL;
    size_t count = 0;
    TACIT_TRY(tacit_method_require(&method, tacit_arguments_operand(arguments, "METHOD"), error));
    *out = (tacit_plan){
        .method = method,
        .study = "explain",
        .epsilon = method->noise_free ? INFINITY : tacit_arguments_number(arguments, "epsilon"),
        .delta = tacit_arguments_number(arguments, "delta"),
        .lambda = tacit_arguments_number(arguments, "lambda"),
        .features = (size_t)tacit_arguments_integer(arguments, "features"),
        .classes = (size_t)tacit_arguments_integer(arguments, "classes"),
        .parties = (size_t)tacit_arguments_integer(arguments, "parties"),
        .minimum_parties = 1,
        .sums = way_of(tacit_arguments_text(arguments, "sum")),
        .dropouts = tacit_arguments_number(arguments, "dropouts"),
        .colluders = tacit_arguments_number(arguments, "colluders"),
        .minimum_rows = (size_t)tacit_arguments_integer(arguments, "rows"),
    };
    if (method->most_columns > 0 && !tacit_arguments_given(arguments, "features"))
        out->features = method->most_columns;
    const tacit_setting *settings = tacit_arguments_settings(arguments, "set", &count);
    for (size_t i = 0; i < count; i++)
        TACIT_TRY(tacit_plan_set(out, settings[i].key, settings[i].value, error));
    return tacit_plan_check(out, error);
}

static void print_item(const tacit_console *console, const char *title, const char *text) {
    tacit_wrap wrap = { .out = console->out, .width = console->width, .indent = 12 };
    int wide = fprintf(console->out, strlen(title) < 12 ? "%-12s" : "%s  ", title);
    wrap.column = wide > 12 ? (size_t)wide : 12;
    tacit_wrap_text(&wrap, text);
    fputc('\n', console->out);
}

/* What a number that is left to the method will be, where that is known: rounds that are priced one by one. */
static void value_text(char *out, size_t size, const tacit_plan *plan, const tacit_parameter *one,
                       const tacit_prices *prices) {
    if (!tacit_plan_leaves_open(plan, one))
        snprintf(out, size, "%s", tacit_plan_text(plan, one->name));
    else if (strcmp(one->name, "rounds") == 0 && prices->event.count > 0)
        snprintf(out, size, "automatic (%llu)", (unsigned long long)prices->event.count);
    else
        snprintf(out, size, "automatic");
}

static void print_settings(const tacit_console *console, const tacit_plan *plan, const tacit_prices *prices) {
    char text[512];
    int used =
        snprintf(text, sizeof text, "%zu parties of at least %zu rows, %zu features, %zu classes, lambda %g",
                 plan->parties, plan->minimum_rows, plan->features, plan->classes, plan->lambda);
    for (const tacit_parameter *one = plan->method->parameters; one != NULL && one->name != NULL; one++) {
        char value[TACIT_SETTING_SIZE];
        value_text(value, sizeof value, plan, one, prices);
        if (used > 0 && (size_t)used < sizeof text)
            used += snprintf(text + used, sizeof text - (size_t)used, ", %s=%s", one->name, value);
    }
    print_item(console, "here", text);
}

/* How a deployed study adds up, and what that rests on. */
static tacit_status sums_text(char *out, size_t size, const tacit_plan *plan, tacit_error *error) {
    static const char *const rests_on[] = {
        [TACIT_SUMS_MASKED] =
            "the coordinator sees the sum under masks that cancel, and no single contribution",
        [TACIT_SUMS_CLEAR] = "the coordinator sees every contribution",
        [TACIT_SUMS_PAILLIER] = "the coordinator adds up ciphertexts; the party that joined first holds the "
                                "key and decrypts the sum, "
                                "under masks that only the coordinator can take off. The two together, or a "
                                "coordinator that lies to "
                                "the key holder, can read every single contribution",
    };
    size_t minimum = 0;
    if (plan->method->compute != NULL) {
        snprintf(out, size, "encrypted: server A adds up ciphertexts, and only B has their key");
        return TACIT_OK;
    }
    int used = snprintf(out, size, "%s: %s", tacit_sum_way_name(plan->sums), rests_on[plan->sums]);
    if (plan->sums == TACIT_SUMS_CLEAR) return TACIT_OK;
    if (plan->parties < 2) return TACIT_OK; /* nothing to hide in: a study of one is refused */
    TACIT_TRY(tacit_secure_minimum(&minimum, plan, error));
    used += snprintf(
        out + used, size - (size_t)used,
        ". Opened from at least %zu of %zu parties, of which at most %zu collude with the coordinator",
        minimum, plan->parties, tacit_plan_colluders(plan));
    if (tacit_plan_shares_noise(plan))
        snprintf(out + used, size - (size_t)used,
                 "; each adds one share of the noise, and %zu are worth the price",
                 tacit_plan_noise_shares(plan));
    return TACIT_OK;
}

static void print_text(tacit_console *console, const tacit_plan *plan, const tacit_prices *prices,
                       const tacit_noise_law *noise, const char *sums) {
    const tacit_method *method = plan->method;
    char text[512], price[TACIT_PRICE_TEXT_SIZE];
    snprintf(text, sizeof text, "%s (%s)", method->title, method->reference);
    print_item(console, method->name, text);
    print_settings(console, plan, prices);
    print_item(console, "leaves", method->leaves);
    print_item(console, "how", tacit_release_kind_name(method->release_kind(plan)));
    print_item(console, "seen by", method->seen_by);
    if (method->undeployable == NULL) print_item(console, "sums", sums);
    print_item(console, "guarantee", method->guarantee);
    print_item(console, "assuming", method->assumption);
    print_item(console, "theorem", method->theorem);
    print_item(console, "charged",
               isinf(prices->charged.epsilon) ? "nothing is private"
                                              : tacit_price_text(price, &prices->charged));
    if (!method->noise_free) {
        snprintf(text, sizeof text, "%s; %s", tacit_price_text(price, &prices->claimed), method->claim);
        print_item(console, "paper", text);
        snprintf(
            text, sizeof text,
            "%s in %zu dimensions, s = %.4g, added to %s, of L2 sensitivity %.4g; in %s its norm is %s %.4g",
            noise->law, noise->dimension, noise->scale, noise->added_to, noise->sensitivity,
            noise->norm_in != NULL ? noise->norm_in : "the published model",
            noise->in_objective ? "at most about" : "about", noise->mean_norm);
        print_item(console, "noise", text);
    }
    if (method->undeployable != NULL) {
        snprintf(text, sizeof text, "refused: %s", method->undeployable);
        print_item(console, "deployed", text);
    } else if (method->meetings != NULL) {
        print_item(console, "deployed",
                   "if the owner says --allow-neighbours; words go through the coordinator, sealed for each "
                   "neighbour");
    }
    print_item(console, "caveats", method->caveats);
}

/* ---- the method's table beside the paper's ---- */

enum { MOST_CELLS = 16 };

/* The cells of the line at *text, ended by NULs; *text moves on. How many there are, 0 at the end. */
static size_t split_line(char **text, char *cells[MOST_CELLS]) {
    size_t count = 0;
    char *end = strchr(*text, '\n');
    if (end == NULL) return 0;
    *end = 0;
    for (char *at = *text; at != NULL && count < MOST_CELLS; count++) {
        cells[count] = at;
        at = strchr(at, '\t');
        if (at != NULL) *at++ = 0;
    }
    *text = end + 1;
    return count;
}

static tacit_status print_comparison(tacit_console *console, const char *title, char *text,
                                     tacit_error *error) {
    char *cells[MOST_CELLS];
    tacit_grid_column columns[MOST_CELLS];
    tacit_grid *grid = NULL;
    size_t count = split_line(&text, cells);
    for (size_t c = 0; c < count; c++) columns[c] = (tacit_grid_column){ cells[c], TACIT_RIGHT };
    tacit_wrap wrap = { .out = console->out, .width = console->width };
    fputc('\n', console->out);
    tacit_wrap_text(&wrap, title);
    fputs("\n\n", console->out);
    TACIT_TRY(tacit_grid_create(&grid, columns, count, error));
    while ((count = split_line(&text, cells)) > 0)
        for (size_t c = 0; c < count; c++) tacit_grid_cell(grid, "%s", cells[c]);
    tacit_status status = tacit_console_grid(console, grid, error);
    tacit_grid_free(grid);
    return status;
}

/* A list of objects, all values as the text that would be printed. */
static json_t *comparison_document(char *text) {
    char *titles[MOST_CELLS], *cells[MOST_CELLS];
    size_t columns = split_line(&text, titles), count;
    json_t *rows = json_array();
    while ((count = split_line(&text, cells)) > 0) {
        json_t *row = json_object();
        for (size_t c = 0; c < count && c < columns; c++)
            json_object_set_new(row, titles[c], json_string(cells[c]));
        rows = tacit_json_append(rows, row);
    }
    return rows;
}

/* The method's own table goes last, in either form. */
static tacit_status tell(tacit_console *console, const tacit_plan *plan, const tacit_prices *prices,
                         const tacit_noise_law *noise, const char *sums, tacit_error *error) {
    const tacit_method *method = plan->method;
    tacit_buffer table = TACIT_BUFFER_INIT;
    tacit_status status = TACIT_OK;
    json_t *all = NULL;
    char *text = NULL;
    TACIT_CHECK(tacit_json_explanation(&all, plan, error));
    json_object_set_new(all, "sums", json_string(sums));
    if (method->comparison != NULL) {
        TACIT_CHECK(method->comparison(&table, error));
        text = tacit_copy_text(tacit_buffer_text(&table));
        if (text == NULL) TACIT_CHECK(tacit_fail_memory(error));
    }
    if (!console->json) print_text(console, plan, prices, noise, sums);
    if (text != NULL && !console->json)
        TACIT_CHECK(print_comparison(console, method->comparison_title, text, error));
    if (text != NULL && console->json) json_object_set_new(all, "comparison", comparison_document(text));
    status = tacit_console_document(console, all, error);
    all = NULL;
cleanup:
    json_decref(all);
    free(text);
    tacit_buffer_clear(&table);
    return status;
}

static tacit_status run_explain(const tacit_arguments *arguments, tacit_console *console,
                                tacit_error *error) {
    tacit_plan plan;
    tacit_prices prices = { .event = { .count = 0 } };
    tacit_noise_law noise = { .law = "" };
    char sums[1024];
    TACIT_TRY(make_plan(arguments, &plan, error));
    TACIT_TRY(sums_text(sums, sizeof sums, &plan, error));
    TACIT_TRY(plan.method->price(&plan, &prices, error));
    if (plan.method->noise != NULL) TACIT_TRY(plan.method->noise(&plan, &noise, error));
    return tell(console, &plan, &prices, &noise, sums, error);
}

/* A whole number from 1 upwards. */
#define OPTION_COUNT(option, letter, value, text)                                                            \
    {                                                                                                        \
        .name = option, .kind = TACIT_OPTION_INTEGER, .placeholder = letter, .fallback = value,              \
        .help = text, .rules = TACIT_RULE_RANGE, .least = 1, .most = 1e9                                     \
    }

const tacit_command tacit_command_explain = {
    .name = "explain",
    .section = "Learning",
    .summary = "what leaves a party, who sees it, what it costs",
    .description = "Says for one method what is guaranteed, to whom, per record or per party, under which "
                   "assumption and by "
                   "which theorem; the paper's own claim beside what the ledger is charged; and how much "
                   "noise that means "
                   "for the numbers given.",
    .operands =
        (const tacit_operand[]){
            { "METHOD", 1, 1, "as `tacit methods` lists them" },
            { .name = NULL },
        },
    .options =
        (const tacit_option[]){
            { .name = "epsilon",
              .kind = TACIT_OPTION_NUMBER,
              .placeholder = "E",
              .fallback = "1",
              .help = "the price to explain",
              .rules = TACIT_RULE_RANGE | TACIT_RULE_ABOVE,
              .least = 0,
              .most = 1e6 },
            { .name = "delta",
              .kind = TACIT_OPTION_NUMBER,
              .placeholder = "D",
              .fallback = "0",
              .help = "where the method uses one",
              .rules = TACIT_RULE_RANGE | TACIT_RULE_BELOW,
              .least = 0,
              .most = 1 },
            { .name = "lambda",
              .kind = TACIT_OPTION_NUMBER,
              .placeholder = "L",
              .fallback = "0.01",
              .help = "weight of the regulariser",
              .rules = TACIT_RULE_RANGE | TACIT_RULE_ABOVE,
              .least = 0,
              .most = 1e6 },
            OPTION_COUNT("parties", "M", "10", "how many take part"),
            OPTION_COUNT("rows", "N", "100", "the fewest rows a party may have"),
            OPTION_COUNT("features", "D", "10", "of an encoded row, the intercept included"),
            OPTION_COUNT("classes", "K", "2", "of the label"),
            { .name = "sum",
              .kind = TACIT_OPTION_CHOICE,
              .placeholder = "masked|paillier|clear",
              .fallback = "masked",
              .help = "how a deployed study adds up" },
            TACIT_OPTION_FRACTIONS,
            { .name = "set",
              .kind = TACIT_OPTION_SETTING,
              .placeholder = "KEY=VALUE",
              .help = "a setting of the method" },
            { .name = NULL },
        },
    .examples =
        (const tacit_example[]){
            { "What would five hospitals pay, and how loud is the noise?",
              "tacit explain avg --epsilon 2 --parties 5 --rows 80 --features 31 --lambda 0.05" },
            { .text = NULL },
        },
    .run = run_explain,
};
