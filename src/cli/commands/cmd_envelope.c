/* tacit envelope open|join|answer|close at a site without a connection, and invite|take at its
 * coordinator. */
#include <limits.h>
#include <string.h>
#include <time.h>

#include "api/document/json_text.h"
#include "api/document/tables.h"
#include "api/option/arguments.h"
#include "api/option/row_options.h"
#include "base/file.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/process/hardening.h"
#include "cli/row_reading.h"
#include "cli/terms.h"
#include "coordinator/coordinator.h"
#include "net/clock.h"
#include "session/carrier/carrier_files.h"
#include "site/site.h"
#include "site/site_access.h"
#include "study/home.h"

static void print_news(void *context, const char *line) { tacit_console_note(context, "%s", line); }

static bool cancelled(void *context) { return tacit_progress_cancelled(tacit_console_progress(context)); }

static tacit_site_callbacks callbacks_of(tacit_console *console, tacit_envelope_pair *envelopes) {
    return (tacit_site_callbacks){
        .cancelled = cancelled, .news = print_news, .context = console, .envelopes = envelopes
    };
}

static tacit_status read_envelope(const tacit_arguments *arguments, tacit_buffer *out, tacit_error *error) {
    const char *file = tacit_arguments_operand(arguments, "FILE");
    *out = (tacit_buffer)TACIT_BUFFER_LIMITED(TACIT_ENVELOPE_TEXT_MOST);
    return strcmp(file, "-") == 0 ? tacit_input_read(out, error) : tacit_file_read(file, out, error);
}

/* The home must be there to be confined to; nothing else is written but the envelope. */
static tacit_status prepare_home(char home[PATH_MAX], tacit_error *error) {
    TACIT_TRY(tacit_home_path(home, PATH_MAX, "", error));
    return tacit_folder_make(home, error);
}

static tacit_status show_words(tacit_console *console, const tacit_site *site, tacit_error *error) {
    char own[TACIT_SITE_WORDS_SIZE], theirs[TACIT_SITE_WORDS_SIZE];
    TACIT_TRY(tacit_site_words(site, own, theirs, error));
    tacit_console_note(console, "words      of the coordinator: %s", theirs);
    tacit_console_note(console, "           of this site: %s", own);
    tacit_console_note(console, "           read both out on the telephone: the other side sees the same");
    return TACIT_OK;
}

/* ---- open ---- */

static tacit_status show_asked(tacit_console *console, const tacit_site *site, const tacit_site_asked *asked,
                               tacit_error *error) {
    const tacit_study *study = tacit_site_study(site);
    if (strcmp(asked->event, "question") == 0)
        tacit_console_print(console, "Study '%s' asks '%s'%s%s in round %llu.\n", study->name,
                            asked->question, asked->step[0] != 0 ? ", step " : "", asked->step,
                            (unsigned long long)asked->round + 1);
    else if (strcmp(asked->event, "amended") == 0)
        tacit_console_print(console,
                            "Study '%s' was amended. Have it kept with tacit envelope answer, read it and "
                            "consent with tacit consent %s, then answer the same envelope again.\n",
                            study->name, study->name);
    else
        tacit_console_print(console, "Study '%s' has ended: tacit envelope answer keeps the model.\n",
                            study->name);
    return tacit_console_document(console,
                                  json_pack("{s:s,s:s,s:I,s:s,s:s}", "study", study->name, "event",
                                            asked->event, "round", (json_int_t)asked->round + 1, "question",
                                            asked->question, "step", asked->step),
                                  error);
}

static tacit_status open_invitation(tacit_console *console, const char *home, const tacit_buffer *text,
                                    tacit_envelope_pair *envelopes, tacit_error *error) {
    const tacit_site_settings settings = { .home = home };
    const tacit_site_callbacks callbacks = callbacks_of(console, envelopes);
    tacit_site *site = NULL;
    tacit_status status;
    TACIT_CHECK(
        tacit_site_look_envelope(&site, tacit_buffer_text(text), text->length, &settings, &callbacks, error));
    TACIT_CHECK(tacit_terms_show(console, site, error));
    const char *name = tacit_site_study(site)->name;
    tacit_console_print(
        console, "Study '%s' invites this site: tacit envelope join FILE --data ... --schema ...\n", name);
    TACIT_CHECK(
        tacit_console_document(console, json_pack("{s:s,s:s}", "study", name, "event", "invitation"), error));
cleanup:
    tacit_site_free(site);
    return status;
}

static tacit_status run_open(const tacit_arguments *arguments, tacit_console *console, tacit_error *error) {
    char home[PATH_MAX];
    tacit_buffer text;
    tacit_envelope_pair envelopes = { .polled = false };
    tacit_harden_settings hardening = { .count = 0 };
    tacit_envelope outside = TACIT_ENVELOPE_INIT;
    tacit_site_asked asked;
    tacit_site *site = NULL;
    tacit_status status;
    TACIT_CHECK(read_envelope(arguments, &text, error));
    TACIT_CHECK(prepare_home(home, error));
    tacit_harden_allow(&hardening, home, true);
    tacit_harden_program(console, &hardening, home);
    TACIT_CHECK(tacit_envelope_read(&outside, tacit_buffer_text(&text), text.length, error));
    const tacit_site_callbacks callbacks = callbacks_of(console, &envelopes);
    if (outside.address.kind == TACIT_ENVELOPE_INVITATION) {
        TACIT_CHECK(open_invitation(console, home, &text, &envelopes, error));
        goto cleanup;
    }
    TACIT_CHECK(tacit_site_open_envelope(&site, home, tacit_buffer_text(&text), text.length, &callbacks,
                                         &asked, error));
    TACIT_CHECK(tacit_terms_show(console, site, error));
    TACIT_CHECK(show_words(console, site, error));
    TACIT_CHECK(show_asked(console, site, &asked, error));
cleanup:
    tacit_site_free(site);
    tacit_envelope_clear(&outside);
    tacit_envelope_pair_clear(&envelopes);
    tacit_buffer_clear(&text);
    return status;
}

static const tacit_operand one_file[] = {
    { "FILE", 1, 1, "the envelope, or - for standard input" },
    { .name = NULL },
};

const tacit_command tacit_command_envelope_open = {
    .name = "envelope open",
    .section = "Taking part",
    .summary = "show what an envelope asks, who wrote it, and what it costs",
    .description =
        "For sites without a connection: somebody carries envelopes between the coordinator and this "
        "machine, by mail or on a stick. An envelope is opened only if it was signed by the study's "
        "coordinator, for this site, this version of the study, this roster of parties and this "
        "round. Nothing is answered or charged.",
    .operands = one_file,
    .examples =
        (const tacit_example[]){
            { "A courier has brought an envelope.", "tacit envelope open round-1.tacit" },
            { .text = NULL },
        },
    .run = run_open,
};

/* ---- join ---- */

#define OPTION_OUT(what, ...)                                                                                \
    { .name = "out", .kind = TACIT_OPTION_FILE, .placeholder = "FILE", .help = what, __VA_ARGS__ }

static tacit_status join(const tacit_arguments *arguments, tacit_console *console, const char *home,
                         const tacit_buffer *text, tacit_envelope_pair *envelopes, tacit_error *error) {
    const char *data = tacit_arguments_text(arguments, "data"),
               *given = tacit_arguments_text(arguments, "source"),
               *file = tacit_arguments_text(arguments, "out");
    const tacit_site_callbacks callbacks = callbacks_of(console, envelopes);
    tacit_harden_settings hardening = { .count = 0 };
    tacit_buffer reply = TACIT_BUFFER_INIT;
    tacit_site *site = NULL;
    char source[PATH_MAX];
    tacit_status status;
    TACIT_CHECK(tacit_source_id(source, sizeof source, given != NULL ? given : data, error));
    const tacit_site_settings settings = tacit_joining_settings(arguments, home, data, source);
    tacit_site_access_joining(&hardening, &settings);
    tacit_harden_allow_around(&hardening, file, true);
    tacit_harden_program(console, &hardening, home);
    TACIT_CHECK(
        tacit_site_look_envelope(&site, tacit_buffer_text(text), text->length, &settings, &callbacks, error));
    TACIT_CHECK(tacit_terms_show(console, site, error));
    TACIT_CHECK(tacit_site_check(site, error));
    TACIT_CHECK(tacit_terms_ask(arguments, error));
    TACIT_CHECK(tacit_site_join_envelope(site, &reply, error));
    TACIT_CHECK(tacit_file_write(file, reply.bytes, reply.length, 0600, error));
    TACIT_CHECK(show_words(console, site, error));
    tacit_console_print(console, "Joined study '%s' once the coordinator has taken %s.\n",
                        tacit_site_study(site)->name, file);
    TACIT_CHECK(tacit_console_document(console,
                                       json_pack("{s:s,s:s,s:o}", "study", tacit_site_study(site)->name,
                                                 "state", "joined", "out", tacit_json_text(file)),
                                       error));
cleanup:
    tacit_site_free(site);
    tacit_buffer_clear(&reply);
    return status;
}

static tacit_status run_join(const tacit_arguments *arguments, tacit_console *console, tacit_error *error) {
    char home[PATH_MAX];
    tacit_buffer text;
    tacit_envelope_pair envelopes = { .polled = false };
    tacit_status status;
    TACIT_CHECK(read_envelope(arguments, &text, error));
    TACIT_CHECK(prepare_home(home, error));
    TACIT_CHECK(join(arguments, console, home, &text, &envelopes, error));
cleanup:
    tacit_envelope_pair_clear(&envelopes);
    tacit_buffer_clear(&text);
    return status;
}

const tacit_command tacit_command_envelope_join = {
    .name = "envelope join",
    .section = "Taking part",
    .summary = "consent to a study and join it without a connection",
    .description =
        "Shows what the study asks, who sees it and what it costs, asks for consent, and writes an "
        "envelope for the coordinator: the keys of this site, signed. Its secret keys stay here. Then "
        "compare the words that both sides see, on the telephone.",
    .operands = one_file,
    .options =
        (const tacit_option[]){
            TACIT_OPTIONS_JOINING_ROWS,
            TACIT_OPTIONS_JOINING_WORD,
            OPTION_OUT("where to write the envelope for the coordinator", .rules = TACIT_RULE_REQUIRED),
            TACIT_OPTIONS_READING,
            { .name = NULL },
        },
    .examples =
        (const tacit_example[]){
            { "Join with the clinic's table.",
              "tacit envelope join invitation.tacit --data patients.csv --schema "
              "patients.schema.yaml --out joining.tacit" },
            { .text = NULL },
        },
    .run = run_join,
};

/* ---- answer ---- */

static tacit_status keep_end(tacit_console *console, tacit_site *site, const tacit_site_result *result,
                             tacit_error *error) {
    const char *name = tacit_site_study(site)->name;
    char path[PATH_MAX];
    TACIT_TRY(tacit_path_join(path, sizeof path, tacit_site_folder(site), "model.json", error));
    if (strcmp(result->state, "done") == 0)
        TACIT_TRY(tacit_file_write(path, result->model.bytes, result->model.length, 0644, error));
    TACIT_TRY(tacit_site_keep_end(site, result->state, error));
    if (strcmp(result->state, "done") != 0)
        return tacit_fail(error, TACIT_IO, "study '%s' ended without a model: %s: %s", name, result->state,
                          result->reason);
    tacit_console_print(console, "Study '%s' is done. The model is in %s\n", name, path);
    return tacit_console_document(
        console,
        json_pack("{s:s,s:s,s:o}", "study", name, "state", result->state, "model", tacit_json_text(path)),
        error);
}

/* Written to `file`, unless the study has ended. */
static tacit_status answer(const char *file, tacit_console *console, tacit_site *site, tacit_error *error) {
    const char *name = tacit_site_study(site)->name;
    tacit_site_result result;
    tacit_buffer reply = TACIT_BUFFER_INIT;
    tacit_status status = tacit_site_answer_envelope(site, &result, &reply, error), answered = status;
    if (reply.length > 0) { /* a refusal is carried to the coordinator too */
        TACIT_CHECK(tacit_file_write(file, reply.bytes, reply.length, 0600, error));
        tacit_console_note(console, "wrote %s, for the coordinator", file);
    }
    if (answered != TACIT_OK) {
        status = answered;
        goto cleanup;
    }
    if (result.state[0] != 0) {
        TACIT_CHECK(keep_end(console, site, &result, error));
        goto cleanup;
    }
    tacit_console_print(console, "Study '%s': the answer is in %s. Have it carried to the coordinator.\n",
                        name, file);
    TACIT_CHECK(tacit_console_document(
        console, json_pack("{s:s,s:s,s:o}", "study", name, "state", "answered", "out", tacit_json_text(file)),
        error));
cleanup:
    tacit_buffer_clear(&result.model);
    tacit_buffer_clear(&reply);
    return status;
}

/* Before anything is answered, and charged: is there somewhere to write it, or is it an end, as a close
 * needs? */
static tacit_status check_meant(const tacit_site_asked *asked, const char *file, bool closing,
                                tacit_error *error) {
    if (strcmp(asked->event, "finished") == 0) return TACIT_OK;
    if (closing)
        return tacit_fail(error, TACIT_USAGE,
                          "the study has not ended: answer the envelope with tacit envelope answer FILE");
    if (file == NULL)
        return tacit_fail(error, TACIT_USAGE,
                          "the envelope wants an answer: say with the option 'out' which file it goes to");
    return TACIT_OK;
}

/* Answer the envelope to `file`, or close the study with it. */
static tacit_status run_served(const tacit_arguments *arguments, tacit_console *console, const char *file,
                               bool closing, tacit_error *error) {
    char home[PATH_MAX];
    tacit_buffer text;
    tacit_envelope_pair envelopes = { .polled = false };
    tacit_envelope outside = TACIT_ENVELOPE_INIT;
    tacit_harden_settings hardening = { .count = 0 };
    tacit_site_asked asked;
    tacit_site *site = NULL;
    tacit_status status;
    TACIT_CHECK(read_envelope(arguments, &text, error));
    TACIT_CHECK(prepare_home(home, error));
    TACIT_CHECK(tacit_envelope_read(&outside, tacit_buffer_text(&text), text.length, error));
    tacit_site_access_home(&hardening, home, outside.address.study);
    if (file != NULL) tacit_harden_allow_around(&hardening, file, true);
    tacit_harden_program(console, &hardening, home);
    const tacit_site_callbacks callbacks = callbacks_of(console, &envelopes);
    TACIT_CHECK(tacit_site_open_envelope(&site, home, tacit_buffer_text(&text), text.length, &callbacks,
                                         &asked, error));
    TACIT_CHECK(check_meant(&asked, file, closing, error));
    TACIT_CHECK(answer(file, console, site, error));
cleanup:
    tacit_site_free(site);
    tacit_envelope_clear(&outside);
    tacit_envelope_pair_clear(&envelopes);
    tacit_buffer_clear(&text);
    return status;
}

static tacit_status run_answer(const tacit_arguments *arguments, tacit_console *console, tacit_error *error) {
    return run_served(arguments, console, tacit_arguments_text(arguments, "out"), false, error);
}

static tacit_status run_close(const tacit_arguments *arguments, tacit_console *console, tacit_error *error) {
    return run_served(arguments, console, NULL, true, error);
}

const tacit_command tacit_command_envelope_answer = {
    .name = "envelope answer",
    .section = "Taking part",
    .summary = "answer an envelope with another one",
    .description =
        "The answer passes consent, rules, ledger and gate exactly as over a network, and goes into an "
        "envelope that only the coordinator can open. The same envelope again gets the same bytes and "
        "is charged once, whatever happened in between. No connection is opened.",
    .operands = one_file,
    .options =
        (const tacit_option[]){
            OPTION_OUT("where to write the envelope for the coordinator; an end needs none", .rules = 0),
            { .name = NULL },
        },
    .examples =
        (const tacit_example[]){
            { "Answer, and hand the result to the courier.",
              "tacit envelope answer round-1.tacit --out answer-1.tacit" },
            { .text = NULL },
        },
    .run = run_answer,
};

const tacit_command tacit_command_envelope_close = {
    .name = "envelope close",
    .section = "Taking part",
    .summary = "keep the model of a study that has ended",
    .description =
        "For the last envelope of a study: the site keeps the model, or learns that there is none, and "
        "nothing is carried back. An envelope that still asks something is refused, and not answered.",
    .operands = one_file,
    .examples =
        (const tacit_example[]){
            { "The courier has brought the end of the study.", "tacit envelope close end.tacit" },
            { .text = NULL },
        },
    .run = run_close,
};

/* ---- the coordinator ---- */

static tacit_status run_invite(const tacit_arguments *arguments, tacit_console *console, tacit_error *error) {
    const char *study = tacit_arguments_operand(arguments, "STUDY"),
               *file = tacit_arguments_text(arguments, "out");
    const int64_t expires =
        tacit_clock_wall_seconds() + (int64_t)(tacit_arguments_number(arguments, "days") * 86400);
    char words[TACIT_COORDINATOR_WORDS_SIZE];
    tacit_buffer text = TACIT_BUFFER_INIT;
    tacit_status status;
    TACIT_CHECK(tacit_coordinator_invite_envelope(tacit_arguments_operand(arguments, "DIR"), study, expires,
                                                  tacit_arguments_text(arguments, "for"), &text, words,
                                                  error));
    TACIT_CHECK(tacit_file_write(file, text.bytes, text.length, 0600, error));
    tacit_console_print(console,
                        "The invitation is in %s; it lets one site join once, and is as secret as a "
                        "password.\nWords of this coordinator: %s\n",
                        file, words);
    TACIT_CHECK(tacit_console_document(
        console, json_pack("{s:s,s:o,s:s}", "study", study, "out", tacit_json_text(file), "words", words),
        error));
cleanup:
    tacit_buffer_clear(&text);
    return status;
}

const tacit_command tacit_command_envelope_invite = {
    .name = "envelope invite",
    .section = "Studies",
    .summary = "write an envelope that invites a site by hand",
    .description =
        "For studies with transport: files. The envelope holds the definition, signed, and a single-use "
        "invitation. A coordinator that runs (tacit coordinator) then writes an envelope for every site "
        "and question into DIR/envelopes/STUDY, and takes what comes back (tacit envelope take).",
    .operands =
        (const tacit_operand[]){
            { "DIR", 1, 1, "the coordinator's folder" },
            { "STUDY", 1, 1, "the study's name" },
            { .name = NULL },
        },
    .options =
        (const tacit_option[]){
            OPTION_OUT("where to write the envelope", .rules = TACIT_RULE_REQUIRED),
            { .name = "for",
              .kind = TACIT_OPTION_TEXT,
              .placeholder = "NAME",
              .help = "what people call the site that is invited, up to 120 bytes" },
            { .name = "days",
              .kind = TACIT_OPTION_NUMBER,
              .placeholder = "D",
              .fallback = "30",
              .help = "for how many days it is good",
              .rules = TACIT_RULE_RANGE,
              .least = 0,
              .most = 365 },
            { .name = NULL },
        },
    .examples =
        (const tacit_example[]){
            { "Invite a hospital whose machines dial nowhere.",
              "tacit envelope invite consortium breast-cancer --for 'St. Anna' --out anna.tacit" },
            { .text = NULL },
        },
    .run = run_invite,
};

static tacit_status run_take(const tacit_arguments *arguments, tacit_console *console, tacit_error *error) {
    tacit_buffer text;
    tacit_taken taken;
    tacit_status status;
    TACIT_CHECK(read_envelope(arguments, &text, error));
    TACIT_CHECK(tacit_coordinator_take(tacit_arguments_operand(arguments, "DIR"), tacit_buffer_text(&text),
                                       text.length, &taken, error));
    if (taken.joins)
        tacit_console_print(console, "A site joins study '%s'. Words of the site: %s\n", taken.study,
                            taken.words);
    else
        tacit_console_print(console, "Study '%s': an answer in round %llu was taken, of the site %s\n",
                            taken.study, (unsigned long long)taken.round + 1, taken.words);
    TACIT_CHECK(
        tacit_console_document(console,
                               json_pack("{s:s,s:b,s:I,s:s}", "study", taken.study, "joins", taken.joins,
                                         "round", (json_int_t)taken.round + 1, "words", taken.words),
                               error));
cleanup:
    tacit_buffer_clear(&text);
    return status;
}

const tacit_command tacit_command_envelope_take = {
    .name = "envelope take",
    .section = "Studies",
    .summary = "take an envelope that came from a site",
    .description =
        "Checks who wrote it, and that it belongs to this study, version, roster and round; an envelope "
        "that was edited, swapped, cut, addressed to somebody else or taken before is refused. The "
        "coordinator that runs in DIR does the rest.",
    .operands =
        (const tacit_operand[]){
            { "DIR", 1, 1, "the coordinator's folder" },
            { "FILE", 1, 1, "the envelope, or - for standard input" },
            { .name = NULL },
        },
    .examples =
        (const tacit_example[]){
            { "A courier is back.", "tacit envelope take consortium answer-1.tacit" },
            { .text = NULL },
        },
    .run = run_take,
};
