/* tacit study new|invite|status: the consortium statistician's side, in a coordinator's folder. */
#include <stdlib.h>

#include "api/described.h"
#include "api/document/json_text.h"
#include "api/document/tables.h"
#include "api/option/arguments.h"
#include "api/study/desk.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/prospect.h"
#include "cli/row_reading.h"
#include "coordinator/coordinator.h"
#include "net/rotation.h"
#include "session/masked/masked.h"
#include "session/plan/wording.h"
#include "study/study.h"

static const tacit_operand folder_and_study[] = {
    { "DIR", 1, 1, "the coordinator's folder" },
    { "STUDY", 1, 1, "the study's name" },
    { .name = NULL },
};

/* ---- new ---- */

/* How often people carry files to each site and back: known, or what is usual. */
static tacit_status describe_carrying(tacit_console *console, const tacit_study *study, tacit_error *error) {
    const tacit_plan *plan = &study->plan;
    const unsigned exchanges = (unsigned)plan->exchanges;
    const uint64_t known = tacit_plan_handovers(plan, exchanges, tacit_plan_exchanges(plan));
    const bool twice = tacit_plan_handovers(plan, exchanges, 1) == 2;
    tacit_buffer text = TACIT_BUFFER_INIT;
    if (!study->by_files || (known == 0 && plan->method->asks == NULL)) return TACIT_OK;
    tacit_status status =
        known > 0
            ? tacit_buffer_print(&text, error, "%llu %s to each site and back, at most",
                                 (unsigned long long)known, tacit_plural(known, "hand-over", "hand-overs"))
            : tacit_wording_text(&text, plan->method->asks, plan, error);
    if (status == TACIT_OK)
        tacit_console_print(console, "  carried  %s%s\n", tacit_buffer_text(&text),
                            !twice      ? ""
                            : known > 0 ? " (two for each sum: exchange: two)"
                                        : "; each takes two hand-overs (exchange: two)");
    tacit_buffer_clear(&text);
    return status;
}

/* Tables of rows have none. */
static void show_lambda(tacit_console *console, const tacit_plan *plan) {
    const char *rule = plan->lambda_from == TACIT_LAMBDA_RULE ? plan->method->lambda_rule : NULL;
    if (plan->method->reports != NULL && plan->lambda == 0) return;
    if (tacit_plan_lambda_after(plan)) {
        tacit_console_print(console, "  lambda   chosen from what is released\n");
        return;
    }
    tacit_console_print(console, "  lambda   %g", plan->lambda);
    if (plan->lambda_from != TACIT_LAMBDA_GIVEN)
        tacit_console_print(console, " (%s%s%s)", tacit_lambda_from_name(plan->lambda_from),
                            rule != NULL ? ": " : "", rule != NULL ? rule : "");
    tacit_console_print(console, "\n");
}

static void describe(tacit_console *console, const tacit_study *study, const char *folder) {
    tacit_prices prices = { .event = { .count = 0 } };
    char text[TACIT_PRICE_TEXT_SIZE];
    tacit_console_print(console, "Study '%s' added to %s: %s\n", study->name, folder, study->title);
    tacit_console_print(console, "  method   %s, %s\n", study->plan.method->name, study->plan.method->title);
    if (tacit_plan_price(&study->plan, &prices, NULL) == TACIT_OK)
        tacit_console_print(console, "  price    %s\n", tacit_price_text(text, &prices.charged));
    show_lambda(console, &study->plan);
    if (study->point_count > 0)
        tacit_console_print(console, "  points   %zu public points, %zu bytes to each party\n",
                            study->point_count, study->point_bytes.length);
    const tacit_stop *stop = &study->stop;
    if (stop->target != TACIT_TARGET_NONE)
        tacit_console_print(console, "  stops    at its target for %s, after %zu %s at most\n", stop->column,
                            stop->looks, tacit_plural(stop->looks, "look", "looks"));
    tacit_console_print(console, "  starts   when %zu parties have joined; at least %zu must answer\n",
                        study->plan.parties, study->plan.minimum_parties);
}

/* What a report of the rows says about the study, if one was given. */
static tacit_status take_described(tacit_model **out, tacit_study *study, const tacit_arguments *arguments,
                                   tacit_console *console, tacit_error *error) {
    const char *path = tacit_arguments_text(arguments, "described");
    if (path == NULL) return TACIT_OK;
    TACIT_TRY(tacit_described_load(out, path, error));
    bool said = study->expected_rows > 0;
    TACIT_TRY(tacit_study_expect_rows(study, tacit_described_rows(*out), error));
    TACIT_TRY(tacit_prospect_remarks(console, *out, study->plan.schema, error));
    if (!said && study->expected_rows > 0)
        tacit_console_note(console, "described: expected_rows: %zu becomes part of the definition",
                           study->expected_rows);
    return TACIT_OK;
}

static tacit_status run_new(const tacit_arguments *arguments, tacit_console *console, tacit_error *error) {
    const char *folder = tacit_arguments_operand(arguments, "DIR");
    const bool draft = tacit_arguments_flag(arguments, "draft");
    tacit_study *study = NULL;
    tacit_model *described = NULL;
    json_t *document = NULL;
    tacit_vetting how = { .forced = tacit_arguments_flag(arguments, "force"),
                          .progress = tacit_console_progress(console),
                          .say = tacit_prospect_say,
                          .context = console };
    tacit_status status;
    TACIT_CHECK(tacit_study_load(&study, tacit_arguments_operand(arguments, "FILE"), error));
    TACIT_CHECK(take_described(&described, study, arguments, console, error));
    TACIT_CHECK(tacit_name_check("the coordinator's name", tacit_arguments_text(arguments, "coordinator"),
                                 TACIT_ID_SIZE - 1, error));
    how.described = described;
    if (tacit_arguments_given(arguments, "signal")) how.signal = tacit_arguments_number(arguments, "signal");
    TACIT_CHECK(tacit_study_vet(study, &how, error));
    TACIT_CHECK(tacit_coordinator_prepare(folder, tacit_arguments_text(arguments, "coordinator"), error));
    TACIT_CHECK(tacit_desk_store(&document, folder, study, draft, error));
    describe(console, study, folder);
    TACIT_CHECK(describe_carrying(console, study, error));
    if (draft)
        tacit_console_print(console, "  state    draft: nobody can join until `tacit study open %s %s`\n",
                            folder, study->name);
    json_object_set_new(document, "folder", tacit_json_text(folder));
    TACIT_CHECK(tacit_console_document(console, json_incref(document), error));
cleanup:
    json_decref(document);
    tacit_model_free(described);
    tacit_study_free(study);
    return status;
}

const tacit_command tacit_command_study_new = {
    .name = "study new",
    .section = "Studies",
    .summary = "add a study to a coordinator's folder",
    .description =
        "Reads the study's definition (YAML), checks it, and stores it. The folder is made if missing, with "
        "a certificate authority of its own; keep it private. Schema and consent document named in the "
        "definition become part of it; so do the number and hash of the auxiliary points, and the lambda, "
        "rounds and rates that the definition leaves to the method.\n\n"
        "A definition of a private model is tried out on rows drawn to its schema, as tacit plan does it: "
        "lambda is chosen by that, what to expect is said, and a study that is hopeless (no better than "
        "guessing, on average or in one of twenty runs where a site alone does better, or worse than a site "
        "alone in nine of ten runs) is refused unless --force is given. Without expected_rows this is done "
        "for the fewest rows that the study takes, its parties times minimum_rows, and a study that would be "
        "hopeless with those is added with a warning; with --force it is not tried out.",
    .operands =
        (const tacit_operand[]){
            { "DIR", 1, 1, "the coordinator's folder" },
            { "FILE", 1, 1, "the study's definition, YAML" },
            { .name = NULL },
        },
    .options =
        (const tacit_option[]){
            { .name = "coordinator",
              .kind = TACIT_OPTION_TEXT,
              .placeholder = "NAME",
              .fallback = "Tacit coordinator",
              .help = "what parties see as the coordinator's name, when the folder is made" },
            { .name = "draft", .kind = TACIT_OPTION_FLAG, .help = "do not open it to parties yet" },
            { .name = "signal",
              .kind = TACIT_OPTION_NUMBER,
              .placeholder = "AUC",
              .help = "the AUC that a model of unlimited rows would have, for what is expected of the study; "
                      "0.75 by default",
              .rules = TACIT_RULE_RANGE | TACIT_RULE_ABOVE,
              .least = 0.5,
              .most = 0.999 },
            TACIT_OPTION_DESCRIBED,
            { .name = "force",
              .kind = TACIT_OPTION_FLAG,
              .help = "add it also if it is expected to be worth nothing" },
            { .name = NULL },
        },
    .examples =
        (const tacit_example[]){
            { "Add a study and invite five clinics.",
              "tacit study new consortium examples/breast_cancer.study.yaml" },
            { .text = NULL },
        },
    .run = run_new,
};

/* ---- invite ---- */

static tacit_status run_invite(const tacit_arguments *arguments, tacit_console *console, tacit_error *error) {
    const tacit_desk_invitations wanted = { .called = tacit_arguments_text(arguments, "for"),
                                            .url = tacit_arguments_text(arguments, "url"),
                                            .count = tacit_arguments_integer(arguments, "count"),
                                            .days = tacit_arguments_number(arguments, "days") };
    json_t *document = NULL, *each;
    size_t i;
    TACIT_TRY(tacit_desk_invite(&document, tacit_arguments_operand(arguments, "DIR"),
                                tacit_arguments_operand(arguments, "STUDY"), &wanted, error));
    json_array_foreach(json_object_get(document, "invitations"), i, each)
        tacit_console_print(console, "%s\n", json_string_value(each));
    tacit_console_note(console, "each line lets one party join once; pass it on like a password");
    return tacit_console_document(console, document, error);
}

const tacit_command tacit_command_study_invite = {
    .name = "study invite",
    .section = "Studies",
    .summary = "print single-use invitations to a study",
    .description =
        "An invitation carries the coordinator's address and certificate and a secret token. It can be used "
        "once, until it expires; the party's private key is made at the party and never leaves it.\n\n"
        "With --for the party has a name for people, kept beside its random one: the invitation carries it, "
        "so that the party sees what it will be called before it joins, and study status, the dashboard, the "
        "log, the exported audit and tacit revoke use it. It is unique in the study.",
    .operands = folder_and_study,
    .options =
        (const tacit_option[]){
            { .name = "count",
              .kind = TACIT_OPTION_INTEGER,
              .placeholder = "N",
              .fallback = "1",
              .help = "how many invitations",
              .rules = TACIT_RULE_RANGE,
              .least = 1,
              .most = 10000 },
            { .name = "days",
              .kind = TACIT_OPTION_NUMBER,
              .placeholder = "D",
              .fallback = "7",
              .help = "for how many days they are good",
              .rules = TACIT_RULE_RANGE,
              .least = 0,
              .most = 365 },
            { .name = "url",
              .kind = TACIT_OPTION_TEXT,
              .placeholder = "URL",
              .help = "how parties reach the coordinator; that of the running one by default" },
            { .name = "for",
              .kind = TACIT_OPTION_TEXT,
              .placeholder = "NAME",
              .help = "what people call the party that is invited, up to 120 bytes" },
            { .name = NULL },
        },
    .examples =
        (const tacit_example[]){
            { "For one party, by name.",
              "tacit study invite consortium breast-cancer --for 'St. Anna, Vienna'" },
            { "Five invitations, one a line.", "tacit study invite consortium breast-cancer --count 5" },
            { .text = NULL },
        },
    .run = run_invite,
};

/* ---- status ---- */

/* How a study adds up, as its definition says. */
typedef struct sums_shown {
    tacit_hearing hearing;
    const char *way;
    size_t minimum;
    double dropouts, colluders;
} sums_shown;

static const char *way_of(const tacit_plan *plan) {
    switch (tacit_plan_hearing(plan)) {
    case TACIT_HEARS_SINGLE: return "single answers";
    case TACIT_HEARS_CIPHERTEXTS: return "encrypted";
    case TACIT_HEARS_SUMS: break;
    }
    return tacit_sum_way_name(plan->sums);
}

static tacit_status look_at_sums(sums_shown *out, tacit_registry *registry, const char *name,
                                 tacit_error *error) {
    tacit_buffer text = TACIT_BUFFER_INIT;
    tacit_study *study = NULL;
    tacit_study_record record;
    tacit_status status;
    TACIT_CHECK(tacit_registry_study(registry, name, &record, &text, error));
    TACIT_CHECK(tacit_study_parse(&study, tacit_buffer_text(&text), text.length, name, error));
    *out = (sums_shown){ .hearing = tacit_plan_hearing(&study->plan),
                         .way = way_of(&study->plan),
                         .minimum = study->plan.minimum_parties,
                         .dropouts = study->plan.dropouts,
                         .colluders = study->plan.colluders };
    if (out->hearing == TACIT_HEARS_SUMS)
        TACIT_CHECK(tacit_secure_minimum(&out->minimum, &study->plan, error));
cleanup:
    tacit_study_free(study);
    tacit_buffer_clear(&text);
    return status;
}

typedef struct followers {
    size_t parties, followed;
} followers;

static tacit_status count_followed(void *context, const char *party, bool away, tacit_error *error) {
    followers *self = context;
    (void)party;
    (void)error;
    self->parties++;
    self->followed += !away;
    return TACIT_OK;
}

/* When an authority has handed over to another one: how many parties of the study have followed, until all
 * have. */
static tacit_status add_followed(json_t *document, tacit_console *console, tacit_registry *registry,
                                 const tacit_handovers *chain, const tacit_study_record *record,
                                 tacit_error *error) {
    followers found = { 0, 0 };
    if (chain->count == 0 || record->state >= TACIT_STUDY_DONE) return TACIT_OK;
    TACIT_TRY(tacit_registry_followers(registry, record->name, chain->entries[chain->count - 1].new.key_id,
                                       count_followed, &found, error));
    if (found.followed < found.parties)
        tacit_console_note(
            console, "%s: %zu of %zu parties have followed to the new authority; the others: tacit doctor",
            record->name, found.followed, found.parties);
    json_object_set_new(document, "followed", json_integer((json_int_t)found.followed));
    return TACIT_OK;
}

/* ---- who takes part ---- */

enum { PEOPLE_MOST = 10000 };

typedef struct people {
    json_t *list;
    tacit_grid *grid; /* NULL: only the list */
} people;

static tacit_status add_person(void *context, const tacit_person *person, tacit_error *error) {
    people *self = context;
    const char *standing = tacit_party_standing_name(person->standing);
    char when[TACIT_TIME_TEXT];
    tacit_study_time_text(when, person->time);
    self->list = tacit_json_append(
        self->list, json_pack("{s:o,s:o,s:s,s:s}", "called",
                              person->called[0] != 0 ? json_string(person->called) : json_null(), "party",
                              person->name[0] != 0 ? json_string(person->name) : json_null(), "state",
                              standing, person->name[0] != 0 ? "joined" : "expires", when));
    if (self->list == NULL) return tacit_fail_memory(error);
    if (self->grid == NULL) return TACIT_OK;
    tacit_grid_cell(self->grid, "%s", person->called);
    tacit_grid_cell(self->grid, "%s", standing);
    tacit_grid_cell(self->grid, "%s%s",
                    person->name[0] != 0                      ? "joined "
                    : person->standing == TACIT_PARTY_EXPIRED ? "expired "
                                                              : "until ",
                    when);
    tacit_grid_cell(self->grid, "%s", person->name);
    return TACIT_OK;
}

/* The parties of one study, and who is invited by name; printed where one study was asked for. */
static tacit_status show_people(json_t *document, tacit_console *console, tacit_registry *registry,
                                const char *study, bool printed, tacit_error *error) {
    static const tacit_grid_column columns[] = {
        { "party", TACIT_LEFT }, { "state", TACIT_LEFT }, { "since", TACIT_LEFT }, { "id", TACIT_LEFT }
    };
    people self = { json_array(), NULL };
    tacit_status status;
    if (printed)
        TACIT_CHECK(tacit_grid_create(&self.grid, columns, sizeof columns / sizeof columns[0], error));
    TACIT_CHECK(tacit_registry_people(registry, study, PEOPLE_MOST, add_person, &self, error));
    if (printed && json_array_size(self.list) > 0) {
        tacit_console_print(console, "\n");
        TACIT_CHECK(tacit_console_grid(console, self.grid, error));
    }
    if (json_object_set(document, "parties", self.list) != 0) status = tacit_fail_memory(error);
cleanup:
    json_decref(self.list);
    tacit_grid_free(self.grid);
    return status;
}

static json_t *record_document(const tacit_study_record *record, const sums_shown *sums) {
    return json_pack("{s:s,s:s,s:o,s:I,s:I,s:I,s:I,s:I,s:s,s:{s:s,s:I,s:o,s:o}}", "study", record->name,
                     "state", tacit_study_state_name(record->state), "reason",
                     tacit_json_text(record->reason), "version", (json_int_t)record->version, "outdated",
                     (json_int_t)record->outdated, "joined", (json_int_t)record->joined, "invited",
                     (json_int_t)record->invited, "rounds", (json_int_t)record->rounds, "step", record->step,
                     "sums", "way", sums->way, "minimum", (json_int_t)sums->minimum, "dropouts",
                     tacit_json_number(sums->dropouts), "colluders", tacit_json_number(sums->colluders));
}

static tacit_status show(tacit_console *console, const char *folder, tacit_registry *registry,
                         const tacit_study_record *records, size_t count, bool named, tacit_error *error) {
    static const tacit_grid_column columns[] = { { "study", TACIT_LEFT },    { "state", TACIT_LEFT },
                                                 { "version", TACIT_RIGHT }, { "joined", TACIT_RIGHT },
                                                 { "invited", TACIT_RIGHT }, { "rounds", TACIT_RIGHT },
                                                 { "sums", TACIT_LEFT },     { "step", TACIT_LEFT },
                                                 { "reason", TACIT_LEFT } };
    tacit_grid *grid = NULL;
    tacit_handovers chain = { .count = 0 };
    json_t *list = json_array();
    tacit_status status;
    TACIT_CHECK(tacit_handovers_load(&chain, folder, error));
    TACIT_CHECK(tacit_grid_create(&grid, columns, sizeof columns / sizeof columns[0], error));
    for (size_t i = 0; i < count; i++) {
        tacit_grid_cell(grid, "%s", records[i].name);
        tacit_grid_cell(grid, "%s", tacit_study_state_name(records[i].state));
        tacit_grid_cell(grid, "%u", records[i].version);
        tacit_grid_cell(grid, "%zu", records[i].joined);
        tacit_grid_cell(grid, "%zu", records[i].invited);
        tacit_grid_cell(grid, "%llu", (unsigned long long)records[i].rounds);
        sums_shown sums;
        TACIT_CHECK(look_at_sums(&sums, registry, records[i].name, error));
        if (sums.hearing == TACIT_HEARS_SUMS)
            tacit_grid_cell(grid, "%s of %zu or more, dropouts %g, colluders %g", sums.way, sums.minimum,
                            sums.dropouts, sums.colluders);
        else
            tacit_grid_cell(grid, "%s of %zu or more", sums.way, sums.minimum);
        tacit_grid_cell(grid, "%s", records[i].step);
        tacit_grid_cell(grid, "%s", records[i].reason);
        json_t *document = record_document(&records[i], &sums);
        list = tacit_json_append(list, document);
        TACIT_CHECK(add_followed(document, console, registry, &chain, &records[i], error));
    }
    TACIT_CHECK(tacit_console_grid(console, grid, error));
    for (size_t i = 0; i < count; i++)
        TACIT_CHECK(show_people(json_array_get(list, i), console, registry, records[i].name, named, error));
    status = tacit_console_document(console, json_pack("{s:o}", "studies", list), error);
    list = NULL;
cleanup:
    json_decref(list);
    tacit_grid_free(grid);
    tacit_handovers_clear(&chain);
    return status;
}

static tacit_status run_status(const tacit_arguments *arguments, tacit_console *console, tacit_error *error) {
    const char *name = tacit_arguments_operand(arguments, "STUDY"),
               *folder = tacit_arguments_operand(arguments, "DIR");
    tacit_registry *registry = NULL;
    tacit_study_record *records = NULL, one;
    size_t count = 0;
    tacit_status status;
    TACIT_CHECK(tacit_registry_open(&registry, folder, false, error));
    if (name != NULL)
        TACIT_CHECK(tacit_registry_study(registry, name, &one, NULL, error));
    else
        TACIT_CHECK(tacit_registry_studies(registry, &records, &count, error));
    TACIT_CHECK(name != NULL ? show(console, folder, registry, &one, 1, true, error)
                             : show(console, folder, registry, records, count, false, error));
cleanup:
    free(records);
    tacit_registry_close(registry);
    return status;
}

const tacit_command tacit_command_study_status = {
    .name = "study status",
    .section = "Studies",
    .summary = "state, parties and rounds of the studies in a folder",
    .description = "Of one study also who takes part, by the names that people gave them (tacit study invite "
                   "--for) and by their random ones, and who was invited by name and has not joined yet.",
    .operands =
        (const tacit_operand[]){
            { "DIR", 1, 1, "the coordinator's folder" },
            { "STUDY", 0, 1, "one study; all of them by default" },
            { .name = NULL },
        },
    .examples =
        (const tacit_example[]){
            { "How far are we?", "tacit study status consortium" },
            { "Who has joined?", "tacit study status consortium breast-cancer" },
            { .text = NULL },
        },
    .run = run_status,
};
