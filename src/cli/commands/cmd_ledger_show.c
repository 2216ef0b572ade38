/* tacit ledger show: what was asked, what left, what it cost, what is left. */
#include <limits.h>
#include <math.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/ledger_use.h"
#include "data/schema/names.h"
#include "data/schema/text.h"
#include "site/site.h"

/* The view of one data source, filled as its entries are visited. */
typedef struct showing {
    tacit_ledger *ledger;
    const char *source;
    size_t entries;
    tacit_grid *log, *accounts;
    tacit_buffer refusals; /* sentences, printed under the log */
    tacit_buffer others;   /* what the same comes to by other accountants, printed under the accounts */
    tacit_buffer overlaps; /* sentences about other sources, printed last */
    tacit_buffer called;   /* sentences about the party's names in its studies */
    tacit_buffer reused;   /* and about what studies use again */
    const char *charged;   /* the source as studies of this home name it */
    json_t *entry_list, *account_list, *overlap_list, *called_list, *reused_list;
    bool limited;  /* in total, in any unit */
    bool exact;    /* exact answers have left: they spend more than any limit */
    bool unproved; /* nothing is proved, at the delta of a limit in total, about what has left */
} showing;

static void add_price(tacit_grid *grid, const tacit_entry *entry) {
    const tacit_price *price = &entry->about.price;
    const char *before = entry->kind == TACIT_ENTRY_REFUSAL ? "none, for " : "";
    if (!tacit_entry_has_price(entry))
        tacit_grid_cell(grid, "%s", "");
    else if (price->delta > 0)
        tacit_grid_cell(grid, "%s%.6g, delta %.6g per %s", before, price->epsilon, price->delta,
                        tacit_unit_name(price->unit));
    else
        tacit_grid_cell(grid, "%s%.6g per %s", before, price->epsilon, tacit_unit_name(price->unit));
}

/* Noise and the event that the accountants compose: "exact; 10 x Gaussian 3.73". */
static void add_event(tacit_grid *grid, const tacit_release *about) {
    const tacit_event *event = &about->event;
    char times[32] = "", sampled[32] = "";
    if (event->count > 1) snprintf(times, sizeof times, "%llu x ", (unsigned long long)event->count);
    if (event->sampling < 1) snprintf(sampled, sizeof sampled, " sampled at %.4g", event->sampling);
    tacit_grid_cell(grid, "%s; %s%s %.4g%s", tacit_noise_name(about->noise), times,
                    tacit_event_kind_name(event->kind), event->parameter, sampled);
}

static void add_to_log(tacit_grid *grid, const tacit_entry *entry) {
    char when[TACIT_WHEN_SIZE];
    const tacit_release *about = &entry->about;
    const bool said = tacit_entry_is_release(entry) || entry->kind == TACIT_ENTRY_STATEMENT;
    tacit_grid_cell(grid, "%llu", (unsigned long long)entry->number);
    tacit_grid_cell(grid, "%s", tacit_when_text(when, entry->time));
    tacit_grid_cell(grid, "%s", said ? about->coordinator : "the owner");
    tacit_grid_cell(grid, "%s", about->study);
    tacit_grid_cell(grid, "%s", said ? about->question : "");
    tacit_grid_cell(grid, "%s",
                    entry->kind == TACIT_ENTRY_CHARGE ? tacit_release_kind_name(about->kind)
                                                      : tacit_entry_kind_name(entry->kind));
    add_price(grid, entry);
    if (tacit_entry_is_release(entry) && about->event.count > 0)
        add_event(grid, about);
    else
        tacit_grid_cell(grid, "%s", tacit_entry_is_release(entry) ? tacit_noise_name(about->noise) : "");
}

static tacit_status visit_entry(void *context, const tacit_entry *entry, tacit_error *error) {
    showing *view = context;
    view->entries++;
    add_to_log(view->log, entry);
    if (entry->kind == TACIT_ENTRY_REFUSAL)
        TACIT_TRY(tacit_buffer_print(&view->refusals, error, "entry %llu was refused: %s\n",
                                     (unsigned long long)entry->number, entry->reason));
    view->entry_list = tacit_json_append(view->entry_list, tacit_entry_document(entry));
    return view->entry_list != NULL ? TACIT_OK : tacit_fail_memory(error);
}

static void add_amount(tacit_grid *grid, bool applies, double value) {
    char text[TACIT_NUMBER_TEXT];
    tacit_grid_cell(grid, "%s", applies ? tacit_number_to_text(value, text) : "-");
}

/* One line for each other accountant: for information, because the way of counting is fixed with the
 * limit. */
static tacit_status add_others(showing *view, const tacit_account *account, tacit_unit unit, json_t *document,
                               tacit_error *error) {
    double ways[TACIT_ALTERNATIVES];
    bool known = false;
    TACIT_TRY(tacit_ledger_alternatives(&known, ways, view->ledger, unit, error));
    if (document == NULL || json_object_set_new(document, "otherwise",
                                                known ? tacit_alternatives_document(ways) : json_null()) != 0)
        return tacit_fail_memory(error);
    if (!known) return TACIT_OK;
    TACIT_TRY(tacit_buffer_print(
        &view->others, error, "\nepsilon per %s at delta %.6g by each accountant, for information; %s%s:\n",
        tacit_unit_name(unit), account->spent_delta,
        account->limited ? "the limit is counted by " : "no limit is set",
        account->limited ? tacit_count_name(account->counting.count) : ""));
    for (int i = 0; i < TACIT_ALTERNATIVES; i++)
        if (isnan(ways[i]))
            TACIT_TRY(tacit_buffer_print(&view->others, error, "  %-5s  does not apply to these answers\n",
                                         tacit_alternative_name((tacit_alternative)i)));
        else
            TACIT_TRY(tacit_buffer_print(&view->others, error, "  %-5s  %.6g\n",
                                         tacit_alternative_name((tacit_alternative)i), ways[i]));
    return TACIT_OK;
}

/* The totals of one study, or (NULL) of the data source. */
static tacit_status add_accounts(showing *view, const char *study, tacit_error *error) {
    for (int unit = 0; unit < TACIT_UNITS; unit++) {
        tacit_account account;
        TACIT_TRY(tacit_ledger_account(&account, view->ledger, study, (tacit_unit)unit, error));
        if (!tacit_account_is_shown(&account, study)) continue;
        bool limited = account.limited;
        view->limited = view->limited || (limited && study == NULL);
        view->exact = view->exact || (isinf(account.sum_epsilon) && study == NULL);
        view->unproved = view->unproved || (limited && isinf(account.spent_epsilon) && study == NULL);
        tacit_grid_cell(view->accounts, "%s", study != NULL ? study : "in total");
        tacit_grid_cell(view->accounts, "%s", tacit_unit_name((tacit_unit)unit));
        add_amount(view->accounts, true, account.sum_epsilon);
        add_amount(view->accounts, true, account.sum_delta);
        tacit_grid_cell(view->accounts, "%.6g", account.spent_epsilon);
        add_amount(view->accounts, true, account.spent_delta);
        tacit_grid_cell(view->accounts, "%s", tacit_composition_name(account.by));
        tacit_grid_cell(view->accounts, "%s", limited ? tacit_count_name(account.counting.count) : "-");
        add_amount(view->accounts, limited, account.limit_epsilon);
        if (limited)
            tacit_grid_cell(view->accounts, "%.6g",
                            tacit_remaining(account.spent_epsilon, limited, account.limit_epsilon));
        else
            tacit_grid_cell(view->accounts, "-");
        json_t *document = tacit_account_document(&account, study, (tacit_unit)unit);
        tacit_status status =
            study == NULL ? add_others(view, &account, (tacit_unit)unit, document, error) : TACIT_OK;
        view->account_list = tacit_json_append(view->account_list, document);
        TACIT_TRY(status);
    }
    return view->account_list != NULL ? TACIT_OK : tacit_fail_memory(error);
}

static tacit_status collect_name(void *context, const char *name, tacit_error *error) {
    int32_t code;
    return tacit_levels_add(context, name, strlen(name), &code, error);
}

static tacit_status add_overlap(void *context, const tacit_overlap *overlap, tacit_error *error) {
    showing *view = context;
    char shown[TACIT_SOURCE_SHOWN_SIZE];
    TACIT_TRY(tacit_buffer_print(&view->overlaps, error, "\n"));
    TACIT_TRY(tacit_overlap_text(&view->overlaps, overlap, error));
    TACIT_TRY(tacit_buffer_print(&view->overlaps, error,
                                 ". If they are the same people, let both share one limit: "));
    TACIT_TRY(tacit_overlap_remedy(&view->overlaps, overlap, error));
    TACIT_TRY(tacit_buffer_print(&view->overlaps, error, "\n"));
    view->overlap_list = tacit_json_append(
        view->overlap_list,
        json_pack("{s:o,s:o,s:o}", "source", tacit_json_text(tacit_source_shown(shown, overlap->other)),
                  "part", tacit_json_number(overlap->part), "column",
                  overlap->column[0] != 0 ? tacit_json_text(overlap->column) : json_null()));
    return view->overlap_list != NULL ? TACIT_OK : tacit_fail_memory(error);
}

/* Sketches are an aid: where they cannot be read, the ledger is shown all the same. */
static tacit_status collect_overlaps(showing *view, const char *source, tacit_error *error) {
    char home[PATH_MAX];
    tacit_error quiet = TACIT_ERROR_INIT;
    TACIT_TRY(tacit_home_path(home, sizeof home, "", error));
    tacit_status status = tacit_sketch_overlaps(home, source, add_overlap, view, &quiet);
    if (status == TACIT_OK) return TACIT_OK;
    if (status == TACIT_NO_MEMORY) return tacit_fail_memory(error);
    return tacit_buffer_print(&view->overlaps, error, "\nother data sources could not be compared: %s\n",
                              quiet.text);
}

static tacit_status add_called(showing *view, const tacit_site_summary *joined, tacit_error *error) {
    if (joined->called[0] == 0 || strcmp(joined->source, view->charged) != 0) return TACIT_OK;
    TACIT_TRY(tacit_buffer_print(&view->called, error, "\nin %s the coordinator's people call you %s\n",
                                 joined->id, joined->called));
    view->called_list =
        tacit_json_append(view->called_list, json_pack("{s:o,s:s}", "study", tacit_json_text(joined->id),
                                                       "called", joined->called));
    return view->called_list != NULL ? TACIT_OK : tacit_fail_memory(error);
}

/* What a study builds on that was released before: it is in no charge. */
static tacit_status add_reused(showing *view, const tacit_site_summary *joined, tacit_error *error) {
    const tacit_study *study = joined->study;
    if (study->model == NULL || study->plan.method->builds_on == NULL ||
        strcmp(joined->source, view->charged) != 0)
        return TACIT_OK;
    const char *earlier = study->model->guarantee.study;
    TACIT_TRY(tacit_buffer_print(&view->reused, error,
                                 "\n%s builds on the second moments that study %s released; reused: costs "
                                 "nothing\n",
                                 joined->id, earlier));
    view->reused_list =
        tacit_json_append(view->reused_list, json_pack("{s:o,s:o}", "study", tacit_json_text(joined->id),
                                                       "of", tacit_json_text(earlier)));
    return view->reused_list != NULL ? TACIT_OK : tacit_fail_memory(error);
}

static tacit_status add_joined(void *context, const tacit_site_summary *joined, tacit_error *error) {
    TACIT_TRY(add_called(context, joined, error));
    return add_reused(context, joined, error);
}

/* What the party is called in the studies that ask this source, and what these use again. */
static tacit_status collect_joined(showing *view, tacit_error *error) {
    char home[PATH_MAX];
    TACIT_TRY(tacit_home_path(home, sizeof home, "", error));
    return tacit_site_list(home, add_joined, view, error);
}

static tacit_status collect(showing *view, tacit_error *error) {
    tacit_levels studies = TACIT_LEVELS_INIT;
    tacit_status status;
    TACIT_CHECK(tacit_ledger_list(view->ledger, 0, visit_entry, view, error));
    TACIT_CHECK(add_accounts(view, NULL, error));
    TACIT_CHECK(tacit_ledger_studies(view->ledger, collect_name, &studies, error));
    for (size_t i = 0; i < studies.count; i++) TACIT_CHECK(add_accounts(view, studies.text[i], error));
cleanup:
    tacit_levels_clear(&studies);
    return status;
}

/* What the limit, or that there is none, means for the next answer. */
static void print_outlook(tacit_console *console, const showing *view) {
    if (view->exact)
        tacit_console_print(console,
                            "\nexact answers have left, which spend epsilon without bound: no answer "
                            "with a finite price leaves any more%s. Further exact answers leave where "
                            "you have allowed them.\n",
                            view->limited ? ", whatever the limit" : "");
    else if (view->unproved)
        tacit_console_print(
            console,
            "\nat the limit's delta nothing is proved about the answers that have left, and no "
            "further one leaves: set the limit with a larger --delta (tacit ledger limit "
            "--source %s)\n",
            view->source);
    else if (!view->limited)
        tacit_console_print(
            console,
            "\nno limit is set: no answer with a finite price leaves until you set one (tacit "
            "ledger limit --source %s --epsilon E). Exact answers, where you have allowed them, "
            "need no limit.\n",
            view->source);
}

static tacit_status print_source(tacit_console *console, const showing *view, tacit_error *error) {
    tacit_console_print(console, "data source %s\n\n", view->source);
    TACIT_TRY(tacit_console_grid(console, view->log, error));
    tacit_console_print(console, "%s\n", tacit_buffer_text(&view->refusals));
    TACIT_TRY(tacit_console_grid(console, view->accounts, error));
    tacit_console_print(console, "%s", tacit_buffer_text(&view->others));
    print_outlook(console, view);
    tacit_console_print(console, "%s", tacit_buffer_text(&view->reused));
    tacit_console_print(console, "%s", tacit_buffer_text(&view->called));
    tacit_console_print(console, "%s", tacit_buffer_text(&view->overlaps));
    return TACIT_OK;
}

static tacit_status show_source(json_t *sources, tacit_console *console, const char *source,
                                tacit_error *error) {
    static const tacit_grid_column log[] = { { "entry", TACIT_RIGHT },   { "when", TACIT_LEFT },
                                             { "asked by", TACIT_LEFT }, { "study", TACIT_LEFT },
                                             { "question", TACIT_LEFT }, { "kind", TACIT_LEFT },
                                             { "charge", TACIT_LEFT },   { "noise", TACIT_LEFT } };
    static const tacit_grid_column accounts[] = {
        { "study", TACIT_LEFT },      { "unit", TACIT_LEFT },   { "sum epsilon", TACIT_RIGHT },
        { "sum delta", TACIT_RIGHT }, { "spent", TACIT_RIGHT }, { "at delta", TACIT_RIGHT },
        { "by", TACIT_LEFT },         { "count", TACIT_LEFT },  { "limit", TACIT_RIGHT },
        { "left", TACIT_RIGHT },
    };
    char path[PATH_MAX], shown[TACIT_SOURCE_SHOWN_SIZE];
    showing view = { .source = tacit_source_shown(shown, source),
                     .charged = source,
                     .called_list = json_array(),
                     .reused_list = json_array(),
                     .entry_list = json_array(),
                     .account_list = json_array(),
                     .overlap_list = json_array() };
    tacit_status status;
    TACIT_CHECK(tacit_grid_create(&view.log, log, sizeof log / sizeof *log, error));
    TACIT_CHECK(tacit_grid_create(&view.accounts, accounts, sizeof accounts / sizeof *accounts, error));
    TACIT_CHECK(tacit_ledger_use_open(&view.ledger, path, sizeof path, source, error));
    TACIT_CHECK(collect(&view, error));
    TACIT_CHECK(collect_overlaps(&view, source, error));
    TACIT_CHECK(collect_joined(&view, error));
    TACIT_CHECK(print_source(console, &view, error));
    json_t *document = json_pack("{s:o,s:O,s:O,s:O,s:O,s:O}", "source", tacit_json_text(shown), "entries",
                                 view.entry_list, "accounts", view.account_list, "same_people",
                                 view.overlap_list, "called", view.called_list, "reused", view.reused_list);
    if (json_array_append_new(sources, document) != 0) TACIT_CHECK(tacit_fail_memory(error));
cleanup:
    tacit_ledger_free(view.ledger);
    tacit_grid_free(view.log);
    tacit_grid_free(view.accounts);
    tacit_buffer_clear(&view.refusals);
    tacit_buffer_clear(&view.others);
    tacit_buffer_clear(&view.overlaps);
    tacit_buffer_clear(&view.called);
    tacit_buffer_clear(&view.reused);
    json_decref(view.called_list);
    json_decref(view.reused_list);
    json_decref(view.entry_list);
    json_decref(view.overlap_list);
    json_decref(view.account_list);
    return status;
}

/* A source is named as it is charged, or as it is shown. */
static bool is_named(const char *source, const char *name) {
    char shown[TACIT_SOURCE_SHOWN_SIZE];
    return strcmp(source, name) == 0 || strcmp(tacit_source_shown(shown, source), name) == 0;
}

/* The names of sources may hold passwords: those that are there are told as they may be shown. */
static tacit_status check_name(const tacit_levels *sources, const char *name, const char *path,
                               tacit_error *error) {
    char shown[TACIT_SOURCE_SHOWN_SIZE];
    tacit_levels names = TACIT_LEVELS_INIT;
    tacit_status status = TACIT_OK;
    size_t ignored;
    for (size_t i = 0; i < sources->count; i++) {
        if (is_named(sources->text[i], name)) goto cleanup;
        TACIT_CHECK(collect_name(&names, tacit_source_shown(shown, sources->text[i]), error));
    }
    status = tacit_names_find(&names, name, "data source", "--source", path, &ignored, error);
cleanup:
    tacit_levels_clear(&names);
    return status;
}

/* Which data sources the ledger knows; `only` must be among them. */
static tacit_status find_sources(tacit_levels *out, char path[PATH_MAX], const char *only,
                                 tacit_error *error) {
    tacit_ledger *ledger = NULL;
    TACIT_TRY(tacit_ledger_use_open(&ledger, path, PATH_MAX, NULL, error));
    tacit_status status = tacit_ledger_sources(ledger, collect_name, out, error);
    tacit_ledger_free(ledger);
    if (status == TACIT_OK && only != NULL) status = check_name(out, only, path, error);
    return status;
}

static tacit_status run_show(const tacit_arguments *arguments, tacit_console *console, tacit_error *error) {
    const char *given = tacit_arguments_text(arguments, "source");
    char only[TACIT_NAME_MOST + 1], path[PATH_MAX];
    tacit_levels sources = TACIT_LEVELS_INIT;
    json_t *list = json_array();
    tacit_status status;
    if (given != NULL) TACIT_CHECK(tacit_source_id(only, sizeof only, given, error));
    TACIT_CHECK(find_sources(&sources, path, given != NULL ? only : NULL, error));
    bool first = true;
    for (size_t i = 0; i < sources.count; i++) {
        if (given != NULL && !is_named(sources.text[i], only)) continue;
        if (!first) tacit_console_print(console, "\n");
        first = false;
        TACIT_CHECK(show_source(list, console, sources.text[i], error));
    }
    TACIT_CHECK(tacit_console_document(
        console, json_pack("{s:o,s:O}", "ledger", tacit_json_text(path), "sources", list), error));
cleanup:
    json_decref(list);
    tacit_levels_clear(&sources);
    return status;
}

const tacit_command tacit_command_ledger_show = {
    .name = "ledger show",
    .section = "Ledger",
    .summary = "what left, what it cost and what may still be spent",
    .description =
        "Every answer that left, every refusal and every act of the owner, for each data source; then what "
        "is spent and what is left per record and per party: the sum of the prices, and the epsilon that is "
        "proved about all answers together at the limit's delta, by the way of counting that was fixed with "
        "the limit. What a running study holds counts as spent until it ends. What other accountants make of "
        "the same answers is shown for information. Other data sources that seem to hold the same people, "
        "and do not share the limit, are named, and so are the names that this party has in its studies. The "
        "ledger is in $TACIT_HOME, or in ~/.local/share/tacit.",
    .options =
        (const tacit_option[]){
            { .name = "source",
              .kind = TACIT_OPTION_TEXT,
              .placeholder = "NAME",
              .help = "only this data source: a file, or the name under which it is used" },
            { .name = NULL },
        },
    .examples =
        (const tacit_example[]){
            { "See what a file has been used for.", "tacit ledger show --source patients.csv" },
            { .text = NULL },
        },
    .run = run_show,
};
