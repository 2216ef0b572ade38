/* tacit consent and tacit withdraw: the owner's word on a study that was joined. */
#include <limits.h>

#include <sodium.h>

#include "cli/commands.h"
#include "cli/terms.h"
#include "study/home.h"

static void print_news(void *context, const char *line) { tacit_console_note(context, "%s", line); }

/* Which version consent is to, and whether there may be a newer one. */
static void print_version(tacit_console *console, const tacit_site *site, tacit_site_version found) {
    const tacit_study *study = tacit_site_study(site);
    char hash[2 * TACIT_HASH_BYTES + 1];
    sodium_bin2hex(hash, sizeof hash, study->hash, sizeof study->hash);
    tacit_console_print(console, "Consent to %s is given, for the definition %s (version %.8s).\n",
                        tacit_site_id(site),
                        found == TACIT_SITE_AMENDED ? "as amended" : "that you last consented to", hash);
    if (found == TACIT_SITE_UNCHANGED)
        tacit_console_note(
            console,
            "the coordinator offers no newer version. If you expect an amended one, wait until "
            "the coordinator offers it, and run tacit consent %s again",
            study->name);
    if (found == TACIT_SITE_UNASKED)
        tacit_console_note(console,
                           "the coordinator could not be asked for a newer version. If you expect an amended "
                           "one, run tacit consent %s again once the coordinator can be reached "
                           "or has sent an envelope",
                           study->name);
}

static json_t *version_document(const tacit_site *site, tacit_site_version found) {
    char hash[2 * TACIT_HASH_BYTES + 1];
    sodium_bin2hex(hash, sizeof hash, tacit_site_study(site)->hash, TACIT_HASH_BYTES);
    return json_pack("{s:s,s:b,s:b,s:s,s:b}", "study", tacit_site_id(site), "consent", true, "amended",
                     found == TACIT_SITE_AMENDED, "version", hash, "coordinator_asked",
                     found != TACIT_SITE_UNASKED);
}

static tacit_status run_consent(const tacit_arguments *arguments, tacit_console *console,
                                tacit_error *error) {
    char home[PATH_MAX];
    tacit_site *site = NULL;
    tacit_site_callbacks callbacks = { .news = print_news, .context = console };
    tacit_site_word word = { .allow_entrusted = tacit_arguments_flag(arguments, "allow-entrusted"),
                             .allow_exact = tacit_arguments_flag(arguments, "allow-exact"),
                             .allow_difference = tacit_arguments_flag(arguments, "allow-difference"),
                             .allow_neighbours = tacit_arguments_flag(arguments, "allow-neighbours"),
                             .allow_site = tacit_arguments_flag(arguments, "allow-site"),
                             .allow_reuse = tacit_arguments_flag(arguments, "allow-reuse"),
                             .role = tacit_arguments_text(arguments, "role"),
                             .schema = tacit_arguments_text(arguments, "schema") };
    tacit_site_version found = TACIT_SITE_UNASKED;
    tacit_status status;
    TACIT_CHECK(tacit_home_path(home, sizeof home, "", error));
    TACIT_CHECK(tacit_site_review(&site, &found, home, tacit_arguments_operand(arguments, "STUDY"), &word,
                                  &callbacks, error));
    if (found == TACIT_SITE_AMENDED) {
        TACIT_CHECK(tacit_terms_show(console, site, error));
        TACIT_CHECK(tacit_site_check(site, error));
        TACIT_CHECK(tacit_terms_ask(arguments, error));
    }
    TACIT_CHECK(tacit_site_consent(site, error));
    print_version(console, site, found);
    TACIT_CHECK(tacit_console_document(console, version_document(site, found), error));
cleanup:
    tacit_site_free(site);
    return status;
}

static tacit_status run_withdraw(const tacit_arguments *arguments, tacit_console *console,
                                 tacit_error *error) {
    char home[PATH_MAX], id[TACIT_SITE_ID_SIZE];
    bool told = false, ended = false;
    const char *study = tacit_arguments_operand(arguments, "STUDY");
    TACIT_TRY(tacit_home_path(home, sizeof home, "", error));
    TACIT_TRY(tacit_site_has_ended(&ended, home, study, error));
    TACIT_TRY(tacit_site_withdraw(home, study, NULL, id, &told, error));
    tacit_console_print(
        console,
        "Withdrawn from %s: %s What has left cannot be called back, and stays part of whatever "
        "was or will be made from it.\n",
        id,
        ended ? "the study had ended before, and nothing more was going to leave."
              : "nothing leaves for it from now on. From the next round on the study goes on without you, or "
                "ends: if too few are left, or if its sums are exact.");
    if (!told && !ended)
        tacit_console_note(console,
                           "the coordinator could not be told now; rounds may wait for you meanwhile");
    return tacit_console_document(
        console, json_pack("{s:s,s:b,s:b}", "study", id, "consent", false, "told", told), error);
}

static const tacit_operand operands[] = {
    { "STUDY", 1, 1, "its name, as `tacit join` showed it" },
    { .name = NULL },
};

const tacit_command tacit_command_consent = {
    .name = "consent",
    .section = "Taking part",
    .summary = "consent to a study that was amended, or again after withdrawing",
    .description = "After withdrawing, to the definition that was last consented to. When the coordinator "
                   "has amended the study, shows the new version with its price and consent document, and "
                   "asks; its price is counted beside that of the earlier one. `tacit party` then goes on.",
    .operands = operands,
    .options =
        (const tacit_option[]){
            { .name = "allow-entrusted",
              .kind = TACIT_OPTION_FLAG,
              .help = "from now on: this coordinator may see exact sums or values, and is trusted to keep "
                      "them to itself and to add the noise, if any" },
            { .name = "allow-exact",
              .kind = TACIT_OPTION_FLAG,
              .help = "from now on: exact sums may leave, which no differential privacy protects" },
            { .name = "allow-difference",
              .kind = TACIT_OPTION_FLAG,
              .help = "from now on: exact sums of this study may differ from earlier ones by few parties or "
                      "rows, and so show what these gave" },
            { .name = "allow-neighbours",
              .kind = TACIT_OPTION_FLAG,
              .help =
                  "from now on: neighbours may see exactly what a study without a center makes of the rows" },
            { .name = "allow-site",
              .kind = TACIT_OPTION_FLAG,
              .help = "from now on: figures of this site by itself may be published" },
            { .name = "allow-reuse",
              .kind = TACIT_OPTION_FLAG,
              .help = "from now on: the study may use what is in your personal store, where your rules ask" },
            { .name = "role",
              .kind = TACIT_OPTION_TEXT,
              .placeholder = "ROLE",
              .help = "what this party is from now on, in a study whose parties differ" },
            { .name = "schema",
              .kind = TACIT_OPTION_FILE,
              .placeholder = "FILE",
              .help =
                  "from now on: what the columns are, where an amended study says so otherwise; a file that "
                  "is not there is written as the study says" },
            { .name = "yes", .kind = TACIT_OPTION_FLAG, .help = "consent without being asked" },
            { .name = NULL },
        },
    .examples =
        (const tacit_example[]){
            { "Take part again.", "tacit consent breast-cancer" },
            { "The amended study entrusts sums to the coordinator, and that is fine.",
              "tacit consent breast-cancer --allow-entrusted" },
            { "The amended study merges two levels: write its schema, and read rows by it from now on.",
              "tacit consent breast-cancer --schema merged.yaml" },
            { .text = NULL },
        },
    .run = run_consent,
};

const tacit_command tacit_command_withdraw = {
    .name = "withdraw",
    .section = "Taking part",
    .summary = "let nothing more leave for a study",
    .description =
        "Effective from the next answer on, also for a party that is running now, and for answers already "
        "stored. It is written to the ledger's log, and the coordinator is told not to wait. Withdrawing "
        "cannot undo what was released before: earlier answers keep their influence on it.",
    .operands = operands,
    .examples =
        (const tacit_example[]){
            { "Stop taking part.", "tacit withdraw breast-cancer" },
            { .text = NULL },
        },
    .run = run_withdraw,
};
