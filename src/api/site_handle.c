/* A party of a study inside a program. */
#include "site/site.h"

#include <limits.h>
#include <string.h>

#include "api/document/document.h"
#include "api/document/invited_document.h"
#include "api/document/tables.h"
#include "api/frame/frame.h"
#include "api/option/arguments.h"
#include "api/option/options.h"
#include "api/option/row_options.h"
#include "base/file.h"
#include "base/memory.h"
#include "data/schema/needed_columns.h"
#include "model/model.h"
#include "study/home.h"

/* What a frame's owner says in its place; and what only a person at a terminal needs. */
static const char *const of_files[] = { "data",      "schema", "link",    "label", "positive",
                                        "no-header", "yes",    "no-wait", "out",   NULL };
static const char *const of_people[] = { "yes", "no-wait", "out", NULL };
static const tacit_option more_options[] = {
    { .name = "home",
      .kind = TACIT_OPTION_FILE,
      .placeholder = "FOLDER",
      .help = "the folder for keys and ledger" },
    { .name = NULL },
};
static const tacit_option joined_options[] = { TACIT_OPTION_RETRY, { .name = NULL } };

/* ---- rows of a frame ---- */

/* What a study's schema says beside the numbers themselves is not for a frame to say otherwise: names, */
static tacit_status follow_name(char **ours, const char *theirs, tacit_error *error) {
    if (*ours == NULL || theirs == NULL) return TACIT_OK;
    char *copy = tacit_copy_text(theirs);
    if (copy == NULL) return tacit_fail_memory(error);
    free(*ours);
    *ours = copy;
    return TACIT_OK;
}

/* and what becomes of rows. */
static tacit_status follow_study(tacit_schema *schema, const tacit_schema *study, tacit_error *error) {
    TACIT_TRY(follow_name(&schema->label, study->label, error));
    TACIT_TRY(follow_name(&schema->event, study->event, error));
    TACIT_TRY(follow_name(&schema->entry, study->entry, error));
    schema->others = study->others;
    schema->strict = study->strict;
    schema->missing_is_error = study->missing_is_error;
    schema->complete_case = study->complete_case;
    schema->imputes = study->imputes;
    schema->label_missing = study->label_missing;
    if (schema->sparse == 0 &&
        schema->rows == TACIT_ROWS_BOUND) { /* a frame with bounds leaves open how rows are scaled */
        schema->rows = study->rows;
        schema->clip = study->clip;
    }
    return TACIT_OK;
}

static tacit_status describe(tacit_schema **out, const tacit_frame *frame, const tacit_schema *study,
                             tacit_error *error) {
    const char *terms = study->formula != NULL ? tacit_formula_text(study->formula) : NULL;
    tacit_schema *schema = NULL;
    tacit_status status;
    if (frame->kind == FRAME_TABLE && frame->schema == NULL) /* its columns are read as the study says */
        return frame_copy_schema(out, study, error);
    if (frame_has_source(frame)) {
        TACIT_CHECK(frame_copy_schema(&schema, frame->schema, error));
    } else {
        TACIT_CHECK(frame_schema(&schema, frame, NULL, error));
        TACIT_CHECK(follow_study(schema, study, error));
    }
    if (terms != NULL) TACIT_CHECK(tacit_schema_set_terms(schema, terms, error));
    if (study->subset != NULL)
        TACIT_CHECK(tacit_schema_set_subset(schema, tacit_condition_text(study->subset), error));
    *out = schema;
    schema = NULL;
cleanup:
    tacit_schema_free(schema);
    return status;
}

static tacit_status lend(const void *lender, const tacit_schema *study, tacit_schema **schema_out,
                         tacit_dataset **rows_out, tacit_error *error) {
    const tacit_frame *frame = lender;
    const bool own = frame_has_source(frame) && frame->schema != NULL;
    tacit_schema *schema = NULL;
    tacit_dataset *rows = NULL;
    tacit_status status;
    TACIT_CHECK(describe(&schema, frame, study, error));
    TACIT_CHECK(tacit_schema_check_public(schema, error));
    const bool plain = study->formula == NULL && study->subset == NULL;
    TACIT_CHECK(
        frame_encode(&rows, frame, own && plain ? frame->schema : schema, NEED_IDENTITY, NULL, error));
    *schema_out = schema;
    *rows_out = rows;
    schema = NULL;
    rows = NULL;
cleanup:
    tacit_schema_free(schema);
    tacit_dataset_free(rows);
    return status;
}

/* ---- finding a study ---- */

static tacit_site_callbacks callbacks_of(const tacit_site_listener *listener, const tacit_frame *frame,
                                         const tacit_arguments *arguments) {
    tacit_site_callbacks callbacks = { .retry_ms =
                                           (unsigned)(1000 * tacit_arguments_number(arguments, "retry")) };
    if (listener != NULL) {
        callbacks.cancelled = listener->cancelled;
        callbacks.news = listener->news;
        callbacks.context = listener->context;
    }
    if (frame != NULL) {
        callbacks.lend = lend;
        callbacks.lender = frame;
    }
    return callbacks;
}

static tacit_status find_home(char out[PATH_MAX], const tacit_arguments *arguments, tacit_error *error) {
    const char *home = tacit_arguments_text(arguments, "home");
    if (home == NULL) return tacit_home_path(out, PATH_MAX, "", error);
    if (strlen(home) >= PATH_MAX) return tacit_fail(error, TACIT_LIMIT, "the home's path is too long");
    TACIT_TRY(tacit_home_check(home, error));
    memcpy(out, home, strlen(home) + 1);
    return TACIT_OK;
}

static tacit_status look(tacit_site **out, const char *invitation, const tacit_frame *frame,
                         const tacit_arguments *arguments, const tacit_site_listener *listener,
                         tacit_error *error) {
    const char *data = frame == NULL ? tacit_arguments_text(arguments, "data") : NULL,
               *given = tacit_arguments_text(arguments, "source");
    char home[PATH_MAX], source[PATH_MAX];
    tacit_site_callbacks callbacks = callbacks_of(listener, frame, arguments);
    if (data == NULL && given == NULL)
        return tacit_fail(
            error, TACIT_USAGE,
            "a frame has no name of its own: say with the option source how the ledger calls its rows");
    TACIT_TRY(find_home(home, arguments, error));
    TACIT_TRY(tacit_source_id(source, sizeof source, given != NULL ? given : data, error));
    tacit_site_settings settings = tacit_joining_settings(arguments, home, data, source);
    settings.listen = tacit_arguments_text(arguments, "listen");
    settings.proxy = tacit_arguments_text(arguments, "proxy");
    return tacit_site_look(out, invitation, strlen(invitation), &settings, &callbacks, error);
}

tacit_status tacit_site_invited(tacit_site **out, const char *invitation, const tacit_frame *frame,
                                const tacit_options *options, const tacit_site_listener *listener,
                                tacit_error *error) {
    TACIT_TRY(tacit_require(out, "where to put the result", error));
    const tacit_form form = { .name = "joining a study",
                              .options = tacit_join_options,
                              .more = more_options,
                              .without = frame != NULL ? of_files : of_people };
    tacit_arguments *arguments = NULL;
    if (invitation == NULL) return tacit_fail(error, TACIT_USAGE, "which invitation?");
    TACIT_TRY(tacit_form_take(&arguments, &form, options, error));
    tacit_status status = look(out, invitation, frame, arguments, listener, error);
    tacit_arguments_free(arguments);
    return status;
}

tacit_status tacit_site_joined(tacit_site **out, const char *study, const tacit_frame *frame,
                               const tacit_options *options, const tacit_site_listener *listener,
                               tacit_error *error) {
    TACIT_TRY(tacit_require(out, "where to put the result", error));
    static const tacit_form form = { .name = "a joined study",
                                     .options = joined_options,
                                     .more = more_options };
    tacit_arguments *arguments = NULL;
    char home[PATH_MAX];
    tacit_site_version unused;
    tacit_status status;
    if (study == NULL) return tacit_fail(error, TACIT_USAGE, "which study?");
    TACIT_CHECK(tacit_form_take(&arguments, &form, options, error));
    TACIT_CHECK(find_home(home, arguments, error));
    tacit_site_callbacks callbacks = callbacks_of(listener, frame, arguments);
    TACIT_CHECK(tacit_site_review(out, &unused, home, study, NULL, &callbacks, error));
cleanup:
    tacit_arguments_free(arguments);
    return status;
}

/* ---- before there are any rows ---- */

static const tacit_option preview_options[] = {
    { .name = "write-schema",
      .kind = TACIT_OPTION_FILE,
      .placeholder = "FILE",
      .help = "write the study's schema here" },
    { .name = "write-template",
      .kind = TACIT_OPTION_FILE,
      .placeholder = "FILE",
      .help = "write a CSV file here that has the names of the columns and no rows" },
    { .name = "proxy", .kind = TACIT_OPTION_TEXT, .placeholder = "URL", .help = "an HTTP proxy" },
    { .name = NULL },
};

static tacit_status write_preview(const tacit_site *site, const tacit_arguments *arguments,
                                  tacit_error *error) {
    const tacit_study *study = tacit_site_study(site);
    const char *schema = tacit_arguments_text(arguments, "write-schema"),
               *template = tacit_arguments_text(arguments, "write-template");
    tacit_buffer line = TACIT_BUFFER_INIT;
    tacit_status status = TACIT_OK;
    if (schema != NULL) TACIT_CHECK(tacit_study_write_schema(study, schema, error));
    if (template != NULL) TACIT_CHECK(tacit_schema_header(study->schema, &line, error));
    if (template != NULL) TACIT_CHECK(tacit_file_write(template, line.bytes, line.length, 0644, error));
cleanup:
    tacit_buffer_clear(&line);
    return status;
}

tacit_status tacit_site_preview(char **json, const char *invitation, const tacit_options *options,
                                tacit_error *error) {
    static const tacit_form form = { .name = "reading an invitation",
                                     .options = preview_options,
                                     .more = more_options };
    tacit_arguments *arguments = NULL;
    tacit_site *site = NULL;
    json_t *document = NULL;
    char home[PATH_MAX];
    tacit_status status;
    TACIT_TRY(tacit_require(json, "where to put the document", error));
    TACIT_TRY(tacit_require(invitation, "the invitation", error));
    TACIT_CHECK(tacit_form_take(&arguments, &form, options, error));
    TACIT_CHECK(find_home(home, arguments, error));
    const tacit_site_settings settings = { .home = home, .proxy = tacit_arguments_text(arguments, "proxy") };
    const tacit_site_callbacks callbacks = { .context = NULL };
    TACIT_CHECK(tacit_site_look(&site, invitation, strlen(invitation), &settings, &callbacks, error));
    TACIT_CHECK(write_preview(site, arguments, error));
    TACIT_CHECK(tacit_invited_document(&document, site, error));
    TACIT_CHECK(tacit_document_text(json, document, error));
cleanup:
    tacit_site_free(site);
    tacit_arguments_free(arguments);
    return status;
}

/* ---- what it asks ---- */

/* Other data sources of the owner that seem to hold the same people. */
static json_t *same_people(const tacit_site *site) {
    json_t *list = json_array();
    tacit_error why = TACIT_ERROR_INIT;
    if (tacit_site_overlaps(site, tacit_overlap_append, &list, &why) != TACIT_OK)
        list = tacit_overlaps_failed(list, &why);
    return list;
}

static json_t *text_or_null(const char *text) { return text[0] != 0 ? tacit_json_text(text) : json_null(); }

tacit_status tacit_site_document(char **json, tacit_site *site, tacit_error *error) {
    TACIT_TRY(tacit_require(json, "where to put the document", error));
    TACIT_TRY(tacit_require(site, "the site", error));
    const tacit_study *study = tacit_site_study(site);
    const tacit_plan *plan = &study->plan;
    tacit_error remedy = TACIT_ERROR_INIT;
    json_t *explanation = NULL;
    TACIT_TRY(tacit_json_explanation(&explanation, plan, error));
    tacit_status allowed = tacit_site_check(site, &remedy);
    if (allowed != TACIT_OK && allowed != TACIT_REFUSED && allowed != TACIT_USAGE) {
        json_decref(explanation);
        return tacit_fail(error, allowed, "%s", remedy.text);
    }
    json_t *document = json_pack(
        "{s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:s,s:I,s:I,s:I,s:I,s:b,s:b,s:o}", "same_people", same_people(site),
        "study", tacit_json_text(study->name), "id", tacit_json_text(tacit_site_id(site)), "title",
        text_or_null(study->title), "description", text_or_null(tacit_buffer_text(&study->description)),
        "approval", text_or_null(study->approval), "document",
        text_or_null(tacit_buffer_text(&study->document)), "coordinator",
        tacit_json_text(tacit_site_coordinator(site)), "sums", tacit_sum_way_name(plan->sums), "parties",
        (json_int_t)plan->parties, "minimum_parties", (json_int_t)plan->minimum_parties, "minimum_rows",
        (json_int_t)plan->minimum_rows, "rows", (json_int_t)tacit_site_rows(site), "joined",
        (int)tacit_site_is_joined(site), "allowed", (int)(allowed == TACIT_OK), "remedy",
        text_or_null(remedy.text));
    if (json_object_update(document, explanation) != 0) {
        json_decref(document);
        document = NULL;
    }
    json_decref(explanation);
    return tacit_document_text(json, document, error);
}

/* ---- taking part ---- */

tacit_status tacit_site_accept(tacit_site *site, tacit_error *error) {
    TACIT_TRY(tacit_require(site, "the site", error));
    TACIT_TRY(tacit_site_check(site, error));
    return tacit_site_is_joined(site) ? tacit_site_consent(site, error) : tacit_site_join(site, error);
}

/* The model that a study ended with; the result is used up. */
static tacit_status take_model(tacit_model **model, const tacit_site *site, tacit_site_result *result,
                               tacit_error *error) {
    tacit_status status = TACIT_OK;
    if (strcmp(result->state, "done") != 0)
        TACIT_CHECK(tacit_fail(error, TACIT_IO, "study '%s' ended without a model: %s: %s",
                               tacit_site_study(site)->name, result->state, result->reason));
    if (model != NULL)
        TACIT_CHECK(
            tacit_model_parse(model, result->model.bytes, result->model.length, "the study's model", error));
cleanup:
    tacit_buffer_clear(&result->model);
    return status;
}

tacit_status tacit_site_answer(tacit_model **model, tacit_site *site, tacit_error *error) {
    TACIT_TRY(tacit_require(site, "the site", error));
    tacit_site_result result;
    TACIT_TRY(tacit_site_serve(site, &result, error));
    return take_model(model, site, &result, error);
}

tacit_status tacit_site_step(tacit_site_next *next, tacit_model **model, tacit_site *site, uint32_t wait_ms,
                             tacit_error *error) {
    static const tacit_site_state states[] = {
        [TACIT_SITE_STEP_NOTHING] = TACIT_SITE_WAITING, [TACIT_SITE_STEP_ANSWERED] = TACIT_SITE_ANSWERED,
        [TACIT_SITE_STEP_AWAY] = TACIT_SITE_AWAY,       [TACIT_SITE_STEP_PAUSED] = TACIT_SITE_PAUSED,
        [TACIT_SITE_STEP_ENDED] = TACIT_SITE_ENDED,
    };
    TACIT_TRY(tacit_require(next, "where to put what comes next", error));
    TACIT_TRY(tacit_require(site, "the site", error));
    tacit_site_next known = TACIT_SITE_NEXT_INIT;
    tacit_site_stepped stepped;
    tacit_site_result result;
    if (next->size < sizeof known) /* said before anything is sent */
        return tacit_fill_sized(next, next->size, &known, sizeof known, sizeof known, "TACIT_SITE_NEXT_INIT",
                                error);
    TACIT_TRY(tacit_site_take_step(site, wait_ms, &stepped, &result, error));
    known.state = states[stepped.progress];
    known.after_ms = stepped.after_ms;
    if (stepped.progress == TACIT_SITE_STEP_ENDED) TACIT_TRY(take_model(model, site, &result, error));
    return tacit_fill_sized(next, next->size, &known, sizeof known, sizeof known, "TACIT_SITE_NEXT_INIT",
                            error);
}

tacit_status tacit_site_set_pause(tacit_site *site, bool (*paused)(void *context), void *context,
                                  tacit_error *error) {
    TACIT_TRY(tacit_require(site, "the site", error));
    tacit_site_set_paused(site, paused, context);
    return TACIT_OK;
}

tacit_status tacit_site_leave(bool *told, tacit_site *site, tacit_error *error) {
    TACIT_TRY(tacit_require(site, "the site", error));
    char id[TACIT_SITE_ID_SIZE];
    bool reached = false;
    TACIT_TRY(tacit_site_withdraw(tacit_site_home(site), tacit_site_id(site), tacit_site_calls(site), id,
                                  &reached, error));
    if (told != NULL) *told = reached;
    return TACIT_OK;
}
