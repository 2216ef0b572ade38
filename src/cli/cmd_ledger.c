/* tacit ledger limit and verify; showing it is in cmd_ledger_show.c. */
#include <limits.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "cli/commands.h"
#include "cli/ledger_use.h"

static tacit_status set_limit(tacit_ledger *ledger, const tacit_arguments *arguments, const char *source,
                              tacit_console *console, tacit_error *error) {
    const char *study = tacit_arguments_text(arguments, "study");
    tacit_account account;
    char text[TACIT_PRICE_TEXT_SIZE];
    tacit_price limit = { strcmp(tacit_arguments_text(arguments, "unit"), "party") == 0 ? TACIT_UNIT_PARTY
                                                                                        : TACIT_UNIT_RECORD,
                          tacit_arguments_number(arguments, "epsilon"),
                          tacit_arguments_number(arguments, "delta") };
    TACIT_TRY(tacit_ledger_set_limit(ledger, study, &limit, error));
    TACIT_TRY(tacit_ledger_account(&account, ledger, study, limit.unit, error));
    tacit_console_print(console, "%s%s%s: limit %s\n", source, study != NULL ? ", study " : "",
                        study != NULL ? study : "", tacit_price_text(text, &limit));
    tacit_console_print(
        console,
        "spent at delta %.12g: epsilon %.12g, by %s composition (the prices add up to epsilon "
        "%.12g, delta %.12g); left: epsilon %.12g\n",
        limit.delta, account.spent_epsilon, tacit_composition_name(account.by), account.sum_epsilon,
        account.sum_delta, tacit_remaining(account.spent_epsilon, true, limit.epsilon));
    if (!tacit_amount_within(account.spent_epsilon, limit.epsilon))
        tacit_console_warn(console, "more than this limit is spent already: no further answer with a finite "
                                    "price leaves");
    json_t *document = tacit_account_document(&account, study, limit.unit);
    if (document != NULL) json_object_set_new(document, "source", tacit_json_text(source));
    return tacit_console_document(console, document, error);
}

/* A slip of the pen would limit nothing that there is: say what is taken for a name. */
static void note_name(const char *given, tacit_console *console) {
    bool is_query = strncmp(given, "sqlite:", 7) == 0 || strncmp(given, "postgres:", 9) == 0;
    if (!is_query && access(given, F_OK) != 0)
        tacit_console_note(console, "%s is no file here: the limit is for a source of that name", given);
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
    if (status == TACIT_OK) note_name(tacit_arguments_text(arguments, "source"), console);
    tacit_ledger_free(ledger);
    return status;
}

const tacit_command tacit_command_ledger_limit = {
    .name = "ledger limit",
    .section = "Ledger",
    .summary = "set how much may be spent of a data source",
    .description =
        "With no limit set, no answer that has a finite price leaves a data source; exact answers, which "
        "have "
        "none, leave only where the owner allows them, and need no limit. A release must fit every limit it "
        "counts towards: "
        "that of its study, if there is one, and that of the data source. A charge per party counts towards "
        "both units, a charge per record towards the record limit only. Setting a limit again replaces it; "
        "what is spent stays spent.\n\n"
        "What is spent of a limit is the least epsilon that is proved, at the limit's delta, about all "
        "answers "
        "together; where their deltas fit too, it is never more than the sum of their prices. With delta 0 "
        "it "
        "is the sum, and answers whose guarantee has a delta are refused. A delta such as 1e-6 lets many "
        "answers cost less together than one by one.",
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
