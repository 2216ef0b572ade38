/* tacit join and tacit party: a site's side of a study. */
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "cli/arguments.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/json.h"
#include "cli/reading.h"
#include "net/invitation.h"
#include "service/home.h"
#include "service/site.h"
#include "session/masked.h"

static void print_news(void *context, const char *line) { tacit_console_note(context, "%s", line); }

static bool cancelled(void *context) { return tacit_progress_cancelled(tacit_console_progress(context)); }

/* The invitation itself, or a file that holds it, or - for standard input. */
static tacit_status read_invitation(const char *operand, tacit_buffer *out, tacit_error *error) {
    if (strcmp(operand, "-") == 0) return tacit_file_read("/dev/stdin", out, error);
    if (strchr(operand, '/') != NULL || access(operand, F_OK) == 0)
        return tacit_file_read(operand, out, error);
    return tacit_buffer_append(out, operand, strlen(operand), error);
}

/* Of a study with auxiliary points: what is trained, what is told of it, and to whom. */
static void show_points(tacit_console *console, const tacit_site *site) {
    const tacit_study *study = tacit_site_study(site);
    const tacit_plan *plan = &study->plan;
    size_t labels = study->point_count;
    if (tacit_method_takes(plan->method, "local"))
        tacit_console_note(console, "trains     %s on your rows; the classifier stays here",
                           tacit_site_local(site) != NULL ? tacit_site_local(site)
                                                          : tacit_plan_text(plan, "local"));
    tacit_console_note(
        console,
        "points     %zu public points are fetched, checked against the hash you consent to, and "
        "labelled: %.3g labels for each of your rows",
        labels, (double)labels / (double)tacit_site_rows(site));
    if (plan->method->release_kind(plan) == TACIT_RELEASE_ENTRUSTED && plan->sums == TACIT_SUMS_CLEAR)
        tacit_console_note(console,
                           "entrusted  your labels go to %s in clear, which is trusted to add them to the "
                           "others', to add the noise, and to keep them to itself",
                           tacit_site_coordinator(site));
}

/* What the coordinator sees of the parties' contributions to a sum. */
static tacit_status show_sums(tacit_console *console, const tacit_site *site, tacit_error *error) {
    const tacit_plan *plan = &tacit_site_study(site)->plan;
    const char *coordinator = tacit_site_coordinator(site);
    size_t minimum;
    if (plan->sums == TACIT_SUMS_CLEAR) {
        tacit_console_note(console, "sums       in clear: %s sees your contributions one by one",
                           coordinator);
        return TACIT_OK;
    }
    TACIT_TRY(tacit_secure_minimum(&minimum, plan, error));
    tacit_console_note(
        console, "sums       %s: %s sees the sum of at least %zu parties' contributions, and no single one",
        tacit_sum_way_name(plan->sums), coordinator, minimum);
    if (plan->sums == TACIT_SUMS_PAILLIER)
        tacit_console_note(
            console,
            "key holder the party that joined first holds the key (%u bits) and decrypts sums under "
            "masks; together with %s it could read your contributions one by one",
            plan->key_bits, coordinator);
    tacit_console_note(
        console, "assumes    at most %zu of %zu parties vanish in a sum, and at most %zu help %s to look",
        tacit_plan_dropouts(plan), plan->parties, tacit_plan_colluders(plan), coordinator);
    if (tacit_plan_shares_noise(plan))
        tacit_console_note(
            console, "shares     you add a share of the noise: one of %zu that together are worth the price",
            tacit_plan_noise_shares(plan));
    if (plan->method->meetings != NULL)
        tacit_console_note(console,
                           "neighbours graph %s, %s rounds: those next to you see your words exactly, and %s "
                           "carries them sealed; compare the roster that is shown when the study starts",
                           tacit_plan_text(plan, "graph"), tacit_plan_text(plan, "rounds"), coordinator);
    else if (plan->method->release_kind(plan) == TACIT_RELEASE_ENTRUSTED)
        tacit_console_note(
            console,
            "entrusted  the sum goes to %s in clear, which is trusted to add the noise and to keep "
            "the sum to itself",
            tacit_site_coordinator(site));
    return TACIT_OK;
}

/* What the owner is asked to agree to. */
static tacit_status show_study(tacit_console *console, const tacit_site *site, tacit_error *error) {
    const tacit_study *study = tacit_site_study(site);
    const tacit_plan *plan = &study->plan;
    const tacit_method *method = plan->method;
    tacit_prices prices = { .event = { .count = 0 } };
    char price[TACIT_PRICE_TEXT_SIZE];
    TACIT_TRY(method->price(plan, &prices, error));
    tacit_console_note(console, "study      %s (%s), asked by %s", study->name, study->title,
                       tacit_site_coordinator(site));
    tacit_console_note(console, "method     %s: %s", method->name, method->title);
    tacit_console_note(console, "leaves     %s", method->leaves);
    tacit_console_note(console, "seen by    %s", method->seen_by);
    if (study->point_count > 0) show_points(console, site);
    TACIT_TRY(show_sums(console, site, error));
    tacit_console_note(console, "guarantee  %s", method->guarantee);
    tacit_console_note(console, "price      %s (%s)", tacit_price_text(price, &prices.charged),
                       tacit_release_kind_name(method->release_kind(plan)));
    tacit_console_note(console,
                       "parties    %zu expected, at least %zu must answer; yours has %zu rows, %zu needed",
                       plan->parties, plan->minimum_parties, tacit_site_rows(site), plan->minimum_rows);
    if (tacit_site_local(site) != NULL)
        tacit_console_note(console, "local      %s, as you said", tacit_site_local(site));
    if (isinf(prices.charged.epsilon))
        tacit_console_note(console, "noise      none: what leaves is exact");
    else
        tacit_console_note(console, "noise      exact: real-valued, rounded once (docs/noise.md)");
    return TACIT_OK;
}

static tacit_status ask_consent(const tacit_arguments *arguments, tacit_error *error) {
    if (tacit_arguments_flag(arguments, "yes")) return TACIT_OK;
    if (!isatty(STDIN_FILENO))
        return tacit_fail(error, TACIT_REFUSED,
                          "nobody is there to consent: read the above, then repeat with --yes");
    char line[16] = "";
    fprintf(stderr, "Take part? [y/N] ");
    if (fgets(line, sizeof line, stdin) == NULL || (line[0] != 'y' && line[0] != 'Y'))
        return tacit_fail(error, TACIT_REFUSED, "no consent, nothing was sent");
    return TACIT_OK;
}

/* Serve, then keep the model. */
static tacit_status take_part(const tacit_arguments *arguments, tacit_console *console, tacit_site *site,
                              tacit_error *error) {
    const char *out = tacit_arguments_text(arguments, "out"), *name = tacit_site_study(site)->name;
    char path[PATH_MAX];
    tacit_site_result result;
    tacit_status status;
    TACIT_TRY(tacit_site_serve(site, &result, error));
    if (strcmp(result.state, "done") != 0)
        TACIT_CHECK(tacit_fail(error, TACIT_IO, "study '%s' ended without a model: %s: %s", name,
                               result.state, result.reason));
    if (out == NULL)
        TACIT_CHECK(tacit_path_join(path, sizeof path, tacit_site_folder(site), "model.json", error));
    else
        snprintf(path, sizeof path, "%s", out);
    TACIT_CHECK(tacit_file_write(path, result.model.bytes, result.model.length, 0644, error));
    tacit_console_print(console, "Study '%s' is done. The model is in %s\n", name, path);
    TACIT_CHECK(tacit_console_document(
        console,
        json_pack("{s:s,s:s,s:o}", "study", name, "state", result.state, "model", tacit_json_text(path)),
        error));
cleanup:
    tacit_buffer_clear(&result.model);
    return status;
}

static tacit_status run_join(const tacit_arguments *arguments, tacit_console *console, tacit_error *error) {
    const char *data = tacit_arguments_text(arguments, "data"),
               *given = tacit_arguments_text(arguments, "source");
    char home[PATH_MAX], source[PATH_MAX];
    tacit_load_options reading = tacit_reading_options(arguments, console);
    tacit_buffer invitation = TACIT_BUFFER_LIMITED(TACIT_INVITATION_TEXT_MAX);
    tacit_site *site = NULL;
    tacit_status status;
    TACIT_CHECK(read_invitation(tacit_arguments_operand(arguments, "INVITE"), &invitation, error));
    TACIT_CHECK(tacit_home_path(home, sizeof home, "", error));
    TACIT_CHECK(tacit_source_id(source, sizeof source, given != NULL ? given : data, error));
    tacit_site_settings settings = { .home = home,
                                     .data = data,
                                     .schema = tacit_arguments_text(arguments, "schema"),
                                     .source = source,
                                     .label = reading.label,
                                     .positive = reading.positive,
                                     .no_header = reading.no_header,
                                     .allow_entrusted = tacit_arguments_flag(arguments, "allow-entrusted"),
                                     .allow_exact = tacit_arguments_flag(arguments, "allow-exact"),
                                     .allow_neighbours = tacit_arguments_flag(arguments, "allow-neighbours"),
                                     .listen = tacit_arguments_text(arguments, "listen"),
                                     .local = tacit_arguments_text(arguments, "local"),
                                     .role = tacit_arguments_text(arguments, "role") };
    tacit_site_callbacks callbacks = { cancelled, print_news, console };
    TACIT_CHECK(tacit_site_look(&site, tacit_buffer_text(&invitation), invitation.length, &settings,
                                &callbacks, error));
    TACIT_CHECK(show_study(console, site, error));
    TACIT_CHECK(tacit_site_check(site, error));
    TACIT_CHECK(ask_consent(arguments, error));
    TACIT_CHECK(tacit_site_join(site, error));
    tacit_console_note(console, "joined; waiting for questions (after a restart: tacit party %s)",
                       tacit_site_study(site)->name);
    TACIT_CHECK(take_part(arguments, console, site, error));
cleanup:
    tacit_site_free(site);
    tacit_buffer_clear(&invitation);
    return status;
}

#define OPTION_OUT                                                                                           \
    {                                                                                                        \
        .name = "out", .kind = TACIT_OPTION_FILE, .placeholder = "MODEL",                                    \
        .help = "where to write the model; into the study's folder unless told"                              \
    }

const tacit_command tacit_command_join = {
    .name = "join",
    .section = "Taking part",
    .summary = "take part in a study with one's own rows",
    .description = "Shows what the study asks, who sees it and what it costs, asks for consent, joins, and "
                   "answers questions "
                   "until the study ends. The rows stay in this process; every answer passes the gate, which "
                   "charges the ledger "
                   "and refuses beyond its limit. Set a limit first: tacit ledger limit.\n\n"
                   "The schema is the owner's own statement of what is public about the columns; it must say "
                   "the same as the "
                   "study's.",
    .operands =
        (const tacit_operand[]){
            { "INVITE", 1, 1, "the invitation, or a file that holds it, or - for standard input" },
            { .name = NULL },
        },
    .options =
        (const tacit_option[]){
            { .name = "data",
              .kind = TACIT_OPTION_FILE,
              .placeholder = "FILE",
              .help = "the rows: CSV or LIBSVM, also compressed",
              .rules = TACIT_RULE_REQUIRED },
            { .name = "schema",
              .kind = TACIT_OPTION_FILE,
              .placeholder = "FILE",
              .help = "what is public about the columns, YAML",
              .rules = TACIT_RULE_REQUIRED },
            { .name = "source",
              .kind = TACIT_OPTION_TEXT,
              .placeholder = "NAME",
              .help = "the data source that is charged; the data file unless told" },
            { .name = "allow-entrusted",
              .kind = TACIT_OPTION_FLAG,
              .help = "values in clear may go to this coordinator, trusted to add the noise" },
            { .name = "allow-exact",
              .kind = TACIT_OPTION_FLAG,
              .help = "exact sums may leave, which no differential privacy protects; the ledger counts them "
                      "as an "
                      "infinite epsilon, so that no private method can use this data source after" },
            { .name = "allow-neighbours",
              .kind = TACIT_OPTION_FLAG,
              .help =
                  "in a study without a centre, neighbours may see exactly what it makes of the rows, round "
                  "by round; no differential privacy, and the ledger counts it as an infinite epsilon" },
            { .name = "listen",
              .kind = TACIT_OPTION_TEXT,
              .placeholder = "HOST:PORT",
              .help =
                  "in a study without a centre, let neighbours bring their words here directly; without it "
                  "parties only dial out, and words go sealed through the coordinator" },
            { .name = "local",
              .kind = TACIT_OPTION_TEXT,
              .placeholder = "KIND",
              .help = "the local classifier of an ensemble method, in place of the study's choice: logistic, "
                      "svm, tree, "
                      "bayes, bernoulli, knn:K, mlp:H, or exec:CMD, a program of your own "
                      "(docs/classifiers.md)" },
            { .name = "role",
              .kind = TACIT_OPTION_TEXT,
              .placeholder = "ROLE",
              .help = "what this party is in a study whose parties differ: source or target (pst-h)" },
            { .name = "yes", .kind = TACIT_OPTION_FLAG, .help = "consent without being asked" },
            OPTION_OUT,
            TACIT_OPTIONS_READING,
            { .name = NULL },
        },
    .examples =
        (const tacit_example[]){
            { "Join with the clinic's table.",
              "tacit join invitation.txt --data patients.csv --schema patients.schema.yaml" },
            { .text = NULL },
        },
    .run = run_join,
};

static tacit_status run_party(const tacit_arguments *arguments, tacit_console *console, tacit_error *error) {
    char home[PATH_MAX];
    tacit_site *site = NULL;
    tacit_site_callbacks callbacks = { cancelled, print_news, console };
    tacit_status status;
    TACIT_CHECK(tacit_home_path(home, sizeof home, "", error));
    TACIT_CHECK(tacit_site_open(&site, home, tacit_arguments_operand(arguments, "STUDY"), &callbacks, error));
    TACIT_CHECK(take_part(arguments, console, site, error));
cleanup:
    tacit_site_free(site);
    return status;
}

const tacit_command tacit_command_party = {
    .name = "party",
    .section = "Taking part",
    .summary = "go on with a study that was joined before",
    .description =
        "After a restart or an interruption. An answer already given is sent again as it was, without a "
        "second charge.",
    .operands =
        (const tacit_operand[]){
            { "STUDY", 1, 1, "its name, as `tacit join` showed it" },
            { .name = NULL },
        },
    .options = (const tacit_option[]){ OPTION_OUT, { .name = NULL } },
    .examples =
        (const tacit_example[]){
            { "The machine was restarted.", "tacit party breast-cancer" },
            { .text = NULL },
        },
    .run = run_party,
};
