/* tacit ledger limit and verify; showing it is in cmd_ledger_show.c. */
#include <limits.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "cli/commands.h"
#include "cli/ledger_use.h"

static const char *count_text(tacit_count count) {
    switch (count) {
    case TACIT_COUNT_LEAST:
        return "the least of all accountants, which holds where kinds and numbers of answers are fixed in "
               "advance";
    case TACIT_COUNT_SUM: return "prices add up";
    case TACIT_COUNT_RDP: return "Renyi divergences add up, however the next study is chosen";
    case TACIT_COUNT_GDP: return "squared Gaussian shifts add up, however the next study is chosen";
    case TACIT_COUNT_BOTH: return "rdp or gdp, each at its part of delta, however the next study is chosen";
    }
    return "";
}

/* NULL: as before, or the usual one for a first limit. */
static tacit_status apply_limit(tacit_ledger *ledger, const char *study, const tacit_price *limit,
                                const char *count, tacit_error *error) {
    for (int i = TACIT_COUNT_SUM; count != NULL && i < TACIT_COUNTS; i++)
        if (strcmp(count, tacit_count_name((tacit_count)i)) == 0)
            return tacit_ledger_set_limit_counted(ledger, study, limit, (tacit_count)i, error);
    return tacit_ledger_set_limit(ledger, study, limit, error);
}

static tacit_status set_limit(tacit_ledger *ledger, const tacit_arguments *arguments, const char *source,
                              tacit_console *console, tacit_error *error) {
    const char *study = tacit_arguments_text(arguments, "study");
    tacit_account account, before;
    char text[TACIT_PRICE_TEXT_SIZE];
    tacit_price limit = { strcmp(tacit_arguments_text(arguments, "unit"), "party") == 0 ? TACIT_UNIT_PARTY
                                                                                        : TACIT_UNIT_RECORD,
                          tacit_arguments_number(arguments, "epsilon"),
                          tacit_arguments_number(arguments, "delta") };
    TACIT_TRY(tacit_ledger_account(&before, ledger, study, limit.unit, error));
    TACIT_TRY(apply_limit(ledger, study, &limit, tacit_arguments_text(arguments, "count"), error));
    TACIT_TRY(tacit_ledger_account(&account, ledger, study, limit.unit, error));
    tacit_console_print(console, "%s%s%s: limit %s\n", source, study != NULL ? ", study " : "",
                        study != NULL ? study : "", tacit_price_text(text, &limit));
    tacit_console_print(
        console,
        "spent at delta %.12g: epsilon %.12g, by %s composition (the prices add up to epsilon "
        "%.12g, delta %.12g); left: epsilon %.12g\n",
        limit.delta, account.spent_epsilon, tacit_composition_name(account.by), account.sum_epsilon,
        account.sum_delta, tacit_remaining(account.spent_epsilon, true, limit.epsilon));
    tacit_console_print(console, "counted by %s: %s\n", tacit_count_name(account.counting.count),
                        count_text(account.counting.count));
    bool moved = before.limited && (before.counting.count != account.counting.count ||
                                    before.limit_delta != account.limit_delta);
    if (moved && before.sum_epsilon > 0)
        tacit_console_warn(console,
                           "answers have left under another way of counting or another delta: what holds for "
                           "all of them together is delta %.12g, the deltas of both added up",
                           before.limit_delta + account.limit_delta);
    if (!tacit_amount_within(account.spent_epsilon, limit.epsilon))
        tacit_console_warn(
            console, "more than this limit is spent already: no further answer with a finite price leaves");
    json_t *document = tacit_account_document(&account, study, limit.unit);
    if (document != NULL) json_object_set_new(document, "source", tacit_json_text(source));
    return tacit_console_document(console, document, error);
}

/* A typing error would limit nothing that there is: say what is taken for a name. Rows that can be read are
 * compared with those of other sources. */
static void look_at_rows(const char *given, const char *source, const char *home, tacit_console *console) {
    tacit_load_options options = TACIT_LOAD_DEFAULTS;
    options.progress = tacit_console_progress(console);
    const tacit_sketch_source about = { home, source, given, NULL, &options };
    if (!tacit_source_is_query(given) && access(given, F_OK) != 0)
        tacit_console_note(console, "%s is no file here: the limit is for a source of that name", given);
    else
        tacit_overlaps_warn(console, &about);
}

static tacit_status run_limit(const tacit_arguments *arguments, tacit_console *console, tacit_error *error) {
    char source[TACIT_NAME_MOST + 1], path[PATH_MAX], folder[PATH_MAX];
    tacit_ledger *ledger = NULL;
    TACIT_TRY(tacit_source_id(source, sizeof source, tacit_arguments_text(arguments, "source"), error));
    TACIT_TRY(tacit_source_check(source, error));
    TACIT_TRY(tacit_home_path(path, sizeof path, TACIT_LEDGER_NAME, error));
    TACIT_TRY(tacit_home_path(folder, sizeof folder, "", error));
    TACIT_TRY(tacit_folder_make(folder, error));
    TACIT_TRY(tacit_ledger_open(&ledger, path, source, TACIT_LEDGER_CREATE, error));
    tacit_status status = set_limit(ledger, arguments, source, console, error);
    if (status == TACIT_OK) look_at_rows(tacit_arguments_text(arguments, "source"), source, folder, console);
    tacit_ledger_free(ledger);
    return status;
}

const tacit_command tacit_command_ledger_limit = {
    .name = "ledger limit",
    .section = "Ledger",
    .summary = "set how much may be spent of a data source",
    .description =
        "With no limit set, no answer that has a finite price leaves a data source; exact answers, which "
        "have none, leave only where the owner allows them, and need no limit. A release must fit every "
        "limit it counts towards: that of its study, if there is one, and that of the data source. A charge "
        "per party counts towards both units, a charge per record towards the record limit only. Setting a "
        "limit again replaces it; what is spent stays spent.\n\n"
        "What is spent is counted at the limit's delta, in a way that is fixed when the limit is set and "
        "holds even when each study is chosen in view of the answers to those before: both (the default), "
        "for mixtures of noise; gdp, for owners who allow Gaussian noise only, which it counts exactly; rdp; "
        "or sum, which adds prices. A study alone costs its price in each. With delta 0 it is the sum, and "
        "answers whose guarantee has a delta are refused. A delta such as 1e-6 lets many answers cost less "
        "together than one by one. Moving to another way, or another delta, after answers have left adds up "
        "the deltas.",
    .options =
        (const tacit_option[]){
            { .name = "source",
              .kind = TACIT_OPTION_TEXT,
              .placeholder = "NAME",
              .rules = TACIT_RULE_REQUIRED,
              .help = "the data source: a file, or the name under which it is used" },
            { .name = "epsilon",
              .kind = TACIT_OPTION_NUMBER,
              .placeholder = "E",
              .rules = TACIT_RULE_REQUIRED | TACIT_RULE_RANGE,
              .least = 0,
              .most = INFINITY,
              .help = "most epsilon to be spent in all; 0 stops everything" },
            { .name = "delta",
              .kind = TACIT_OPTION_NUMBER,
              .placeholder = "D",
              .fallback = "0",
              .rules = TACIT_RULE_RANGE | TACIT_RULE_BELOW,
              .least = 0,
              .most = 1,
              .help =
                  "the delta at which epsilon is counted; 0 adds prices up and refuses whatever has one" },
            { .name = "unit",
              .kind = TACIT_OPTION_CHOICE,
              .placeholder = "record|party",
              .fallback = "record",
              .help = "whose protection the limit is about: one record, or all records of this party" },
            { .name = "count",
              .kind = TACIT_OPTION_CHOICE,
              .placeholder = "both|rdp|gdp|sum",
              .help = "how what is spent of the limit is counted; a limit set again keeps its way" },
            { .name = "study",
              .kind = TACIT_OPTION_TEXT,
              .placeholder = "NAME",
              .help = "limit what this study may take, instead of all studies together" },
            { .name = NULL },
        },
    .examples =
        (const tacit_example[]){
            { "Let all studies together spend 3 of this file.",
              "tacit ledger limit --source patients.csv --epsilon 3" },
            { .text = NULL },
        },
    .run = run_limit,
};

static tacit_status run_link(const tacit_arguments *arguments, tacit_console *console, tacit_error *error) {
    char source[TACIT_NAME_MOST + 1], other[TACIT_NAME_MOST + 1], path[PATH_MAX];
    tacit_ledger *ledger = NULL;
    tacit_account account;
    tacit_status status;
    TACIT_TRY(tacit_source_id(source, sizeof source, tacit_arguments_text(arguments, "source"), error));
    TACIT_TRY(tacit_source_id(other, sizeof other, tacit_arguments_text(arguments, "same-people-as"), error));
    TACIT_TRY(tacit_home_path(path, sizeof path, TACIT_LEDGER_NAME, error));
    TACIT_TRY(tacit_ledger_open(&ledger, path, source, TACIT_LEDGER_EXISTING, error));
    TACIT_CHECK(tacit_ledger_link(ledger, other, error));
    TACIT_CHECK(tacit_ledger_account(&account, ledger, NULL, TACIT_UNIT_RECORD, error));
    tacit_console_print(console, "%s holds the same people as %s: one limit for both, that of %s\n", source,
                        other, other);
    json_t *document = tacit_account_document(&account, NULL, TACIT_UNIT_RECORD);
    if (document != NULL) json_object_set_new(document, "source", tacit_json_text(source));
    if (document != NULL) json_object_set_new(document, "same_people_as", tacit_json_text(other));
    TACIT_CHECK(tacit_console_document(console, document, error));
cleanup:
    tacit_ledger_free(ledger);
    return status;
}

const tacit_command tacit_command_ledger_link = {
    .name = "ledger link",
    .section = "Ledger",
    .summary = "say that two data sources hold the same people",
    .description =
        "A ledger goes by the name of a data source: a file's path, or a query. A copy, a renamed file or a "
        "second query of the same table is a source of its own to it, with a limit of its own. Whoever is in "
        "both is then protected by neither limit alone; where sources have rows or keys in common, Tacit "
        "warns. Linked sources share the limit of the second, and what was charged to either counts towards "
        "it, from the first answer on. A link is not undone.",
    .options =
        (const tacit_option[]){
            { .name = "source",
              .kind = TACIT_OPTION_TEXT,
              .placeholder = "NAME",
              .rules = TACIT_RULE_REQUIRED,
              .help = "the data source: a file, or the name under which it is used" },
            { .name = "same-people-as",
              .kind = TACIT_OPTION_TEXT,
              .placeholder = "NAME",
              .rules = TACIT_RULE_REQUIRED,
              .help = "the data source whose limit holds for both" },
            { .name = NULL },
        },
    .examples =
        (const tacit_example[]){
            { "A copy of a file has no budget of its own.",
              "tacit ledger link --source copy.csv --same-people-as patients.csv" },
            { .text = NULL },
        },
    .run = run_link,
};

static tacit_status run_verify(const tacit_arguments *arguments, tacit_console *console, tacit_error *error) {
    (void)arguments;
    char path[PATH_MAX], head[TACIT_HEAD_SIZE];
    tacit_ledger *ledger = NULL;
    tacit_verdict verdict = { 0 };
    TACIT_TRY(tacit_ledger_use_open(&ledger, path, sizeof path, NULL, error));
    tacit_status status = tacit_ledger_verify(&verdict, ledger, error);
    tacit_ledger_free(ledger);
    if (status != TACIT_OK && status != TACIT_CORRUPT) return status;
    bool sound = status == TACIT_OK;
    tacit_console_print(console, "%s: %llu %s sound, head %s\n", path, (unsigned long long)verdict.entries,
                        sound ? "entries, all" : "entries are", tacit_head_text(head, verdict.head));
    json_t *document = json_pack("{s:o}", "ledger", tacit_json_text(path)),
           *told = tacit_verdict_document(&verdict, status);
    if (json_object_update(document, told) != 0) document = (json_decref(document), NULL);
    json_decref(told);
    tacit_status kept = tacit_console_document(console, document, error);
    return sound ? kept : status;
}

const tacit_command tacit_command_ledger_verify = {
    .name = "ledger verify",
    .section = "Ledger",
    .summary = "check that no entry was changed, lost or reordered",
    .description =
        "Examines the whole file: the chain of hashes, and that totals, limits, consents and stored answers "
        "are exactly what the entries say. Note the head elsewhere: whoever may write the file could rebuild "
        "the whole chain, and then only a head that was noted before tells.",
    .examples =
        (const tacit_example[]){
            { "Check, and note the head.", "tacit ledger verify" },
            { .text = NULL },
        },
    .run = run_verify,
};
