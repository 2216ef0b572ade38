/* Coordinators and studies, and a party of one. */
#include <stdlib.h>
#include <string.h>

#include "glue.h"

/* ---- coordinators ---- */

static void free_coordinator(SEXP pointer) {
    tacit_coordinator_free(R_ExternalPtrAddr(pointer));
    R_ClearExternalPtr(pointer);
}

static const char *text_or_null(SEXP text) {
    return text == R_NilValue ? NULL : Rf_translateCharUTF8(STRING_ELT(text, 0));
}

SEXP glue_coordinator_start(SEXP folder, SEXP names, SEXP values) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_status status = TACIT_OK;
    SEXP options = PROTECT(glue_options(names, values, &status, &error));
    SEXP pointer = PROTECT(glue_pointer("coordinator", R_NilValue, free_coordinator));
    tacit_coordinator *coordinator = NULL;
    if (status == TACIT_OK)
        status = tacit_coordinator_start(&coordinator, Rf_translateChar(STRING_ELT(folder, 0)),
                                         R_ExternalPtrAddr(options), NULL, &error);
    if (status == TACIT_OK) R_SetExternalPtrAddr(pointer, coordinator);
    UNPROTECT(2);
    return status == TACIT_OK ? pointer : glue_failure(&error);
}

SEXP glue_coordinator_connect(SEXP where, SEXP token) {
    tacit_error error = TACIT_ERROR_INIT;
    SEXP pointer = PROTECT(glue_pointer("coordinator", R_NilValue, free_coordinator));
    tacit_coordinator *coordinator = NULL;
    tacit_status status = tacit_coordinator_connect(&coordinator, Rf_translateChar(STRING_ELT(where, 0)),
                                                    text_or_null(token), &error);
    if (status == TACIT_OK) R_SetExternalPtrAddr(pointer, coordinator);
    UNPROTECT(1);
    return status == TACIT_OK ? pointer : glue_failure(&error);
}

SEXP glue_coordinator_stop(SEXP pointer) {
    free_coordinator(pointer);
    return R_NilValue;
}

SEXP glue_coordinator_address(SEXP pointer) {
    return Rf_mkString(tacit_coordinator_address(glue_address(pointer, "coordinator")));
}

/* The text that a call left, or how it failed. */
static SEXP answer(SEXP holder, char *text, tacit_status status, const tacit_error *error) {
    if (status != TACIT_OK) return glue_failure(error);
    R_SetExternalPtrAddr(holder, text);
    return glue_text(holder);
}

/* ---- calls that take options and answer a text ---- */

/* `what` is draft, token, check, add, amend or invite; `study` and `definition` may be NULL. */
static tacit_status ask(char **text, const char *what, tacit_coordinator *coordinator, const char *study,
                        const char *definition, const tacit_options *options, tacit_error *error) {
    if (strcmp(what, "draft") == 0) return tacit_study_draft(text, options, error);
    if (strcmp(what, "token") == 0) return tacit_coordinator_token(text, coordinator, options, error);
    if (strcmp(what, "check") == 0) return tacit_study_check(text, coordinator, definition, options, error);
    if (strcmp(what, "add") == 0) return tacit_study_add(text, coordinator, definition, options, error);
    if (strcmp(what, "amend") == 0)
        return tacit_study_amend(text, coordinator, study, definition, options, error);
    return tacit_study_invite(text, coordinator, study, options, error);
}

SEXP glue_study_ask(SEXP what, SEXP coordinator, SEXP study, SEXP definition, SEXP names, SEXP values) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_status status = TACIT_OK;
    SEXP options = PROTECT(glue_options(names, values, &status, &error));
    SEXP holder = PROTECT(glue_string_holder());
    char *text = NULL;
    if (status == TACIT_OK)
        status = ask(&text, Rf_translateCharUTF8(STRING_ELT(what, 0)),
                     glue_address_or_null(coordinator, "coordinator"), text_or_null(study),
                     text_or_null(definition), R_ExternalPtrAddr(options), &error);
    SEXP result = answer(holder, text, status, &error);
    UNPROTECT(2);
    return result;
}

SEXP glue_study_change(SEXP coordinator, SEXP study, SEXP verb) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_coordinator *at = glue_address(coordinator, "coordinator");
    const char *name = text_or_null(study), *what = text_or_null(verb);
    tacit_status status = strcmp(what, "open") == 0     ? tacit_study_open(at, name, &error)
                          : strcmp(what, "pause") == 0  ? tacit_study_pause(at, name, &error)
                          : strcmp(what, "resume") == 0 ? tacit_study_resume(at, name, &error)
                                                        : tacit_study_close(at, name, &error);
    return status == TACIT_OK ? R_NilValue : glue_failure(&error);
}

SEXP glue_study_fetch(SEXP coordinator, SEXP study, SEXP what) {
    tacit_error error = TACIT_ERROR_INIT;
    SEXP holder = PROTECT(glue_bytes_holder());
    void *bytes = NULL;
    size_t length = 0;
    tacit_status status =
        tacit_study_fetch(&bytes, &length, glue_address(coordinator, "coordinator"), text_or_null(study),
                          Rf_translateCharUTF8(STRING_ELT(what, 0)), &error);
    if (status == TACIT_OK) R_SetExternalPtrAddr(holder, bytes);
    SEXP result = status == TACIT_OK ? Rf_ScalarString(Rf_mkCharLenCE(bytes, (int)length, CE_UTF8))
                                     : glue_failure(&error);
    UNPROTECT(1);
    return result;
}

SEXP glue_study_create(SEXP coordinator, SEXP study, SEXP formula, SEXP parties, SEXP names, SEXP values) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_status status = TACIT_OK;
    SEXP options = PROTECT(glue_options(names, values, &status, &error));
    if (status == TACIT_OK)
        status = tacit_study_create(glue_address(coordinator, "coordinator"), text_or_null(study),
                                    text_or_null(formula), (size_t)Rf_asReal(parties),
                                    R_ExternalPtrAddr(options), &error);
    UNPROTECT(1);
    return status == TACIT_OK ? R_NilValue : glue_failure(&error);
}

/* The coordinator's from now on, which also keeps what the frame borrows. */
SEXP glue_study_site(SEXP coordinator, SEXP study, SEXP name, SEXP frame, SEXP names, SEXP values) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_status status = TACIT_OK;
    SEXP options = PROTECT(glue_options(names, values, &status, &error));
    tacit_coordinator *at = glue_address(coordinator, "coordinator");
    tacit_frame *rows = glue_address(frame, "frame");
    const char *of = text_or_null(study), *called = text_or_null(name);
    SEXP kept = PROTECT(Rf_cons(R_ExternalPtrProtected(frame), R_ExternalPtrProtected(coordinator)));
    R_SetExternalPtrProtected(coordinator, kept);
    if (status == TACIT_OK) {
        R_ClearExternalPtr(frame);
        status = tacit_study_site(at, of, called, rows, R_ExternalPtrAddr(options), &error);
    }
    UNPROTECT(2);
    return status == TACIT_OK ? R_NilValue : glue_failure(&error);
}

/* ---- watching ---- */

typedef struct news {
    const char *known;
    char *told;
    glue_interrupt interrupt;
} news;

static bool changed(void *context, const char *json) {
    news *self = context;
    if (self->known != NULL && strcmp(self->known, json) == 0) return true;
    self->told = malloc(strlen(json) + 1);
    if (self->told != NULL) memcpy(self->told, json, strlen(json) + 1);
    return false;
}

static bool interrupted(void *context) {
    const tacit_progress *progress = &((news *)context)->interrupt.progress;
    return progress->cancelled(progress->context);
}

/* The study's status once it differs from `known`; NULL where it has ended as it was. */
SEXP glue_study_watch(SEXP coordinator, SEXP study, SEXP known) {
    tacit_error error = TACIT_ERROR_INIT;
    news self = { .known = text_or_null(known) };
    const tacit_study_watcher watcher = { .changed = changed, .cancelled = interrupted, .context = &self };
    SEXP holder = PROTECT(glue_string_holder());
    glue_interrupt_begin(&self.interrupt);
    tacit_status status =
        tacit_study_watch(glue_address(coordinator, "coordinator"), text_or_null(study), &watcher, &error);
    R_SetExternalPtrAddr(holder, self.told);
    SEXP result = status != TACIT_OK  ? glue_failure(&error)
                  : self.told != NULL ? glue_text(holder)
                                      : R_NilValue;
    UNPROTECT(1);
    return result;
}

/* ---- a party ---- */

typedef struct party {
    tacit_site *site;
    glue_interrupt interrupt;
    tacit_site_listener listener;
} party;

static void free_party(SEXP pointer) {
    party *self = R_ExternalPtrAddr(pointer);
    if (self != NULL) tacit_site_free(self->site);
    free(self);
    R_ClearExternalPtr(pointer);
}

static bool party_interrupted(void *context) {
    const tacit_progress *progress = &((party *)context)->interrupt.progress;
    return progress->cancelled(progress->context);
}

/* By an invitation, or by the name of a study that was joined before; `frame` may be NULL. */
SEXP glue_site_look(SEXP invitation, SEXP study, SEXP frame, SEXP names, SEXP values) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_status status = TACIT_OK;
    SEXP options = PROTECT(glue_options(names, values, &status, &error));
    SEXP pointer = PROTECT(glue_pointer("site", frame, free_party)); /* which keeps the rows */
    const tacit_frame *rows = glue_address_or_null(frame, "frame");
    party *self = calloc(1, sizeof *self);
    if (self == NULL) Rf_error("out of memory");
    R_SetExternalPtrAddr(pointer, self);
    self->listener = (tacit_site_listener){ .cancelled = party_interrupted, .context = self };
    glue_interrupt_begin(&self->interrupt);
    if (status == TACIT_OK)
        status = invitation != R_NilValue
                     ? tacit_site_invited(&self->site, text_or_null(invitation), rows,
                                          R_ExternalPtrAddr(options), &self->listener, &error)
                     : tacit_site_joined(&self->site, text_or_null(study), rows, R_ExternalPtrAddr(options),
                                         &self->listener, &error);
    UNPROTECT(2);
    return status == TACIT_OK ? pointer : glue_failure(&error);
}

SEXP glue_site_preview(SEXP invitation, SEXP names, SEXP values) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_status status = TACIT_OK;
    SEXP options = PROTECT(glue_options(names, values, &status, &error));
    SEXP holder = PROTECT(glue_string_holder());
    char *text = NULL;
    if (status == TACIT_OK)
        status = tacit_site_preview(&text, text_or_null(invitation), R_ExternalPtrAddr(options), &error);
    SEXP result = answer(holder, text, status, &error);
    UNPROTECT(2);
    return result;
}

static party *party_of(SEXP pointer) {
    party *self = glue_address(pointer, "site");
    glue_interrupt_begin(&self->interrupt);
    return self;
}

SEXP glue_site_document(SEXP site) {
    tacit_error error = TACIT_ERROR_INIT;
    SEXP holder = PROTECT(glue_string_holder());
    char *text = NULL;
    tacit_status status = tacit_site_document(&text, party_of(site)->site, &error);
    SEXP result = answer(holder, text, status, &error);
    UNPROTECT(1);
    return result;
}

SEXP glue_site_accept(SEXP site) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_status status = tacit_site_accept(party_of(site)->site, &error);
    return status == TACIT_OK ? R_NilValue : glue_failure(&error);
}

SEXP glue_site_answer(SEXP site) {
    tacit_error error = TACIT_ERROR_INIT;
    SEXP pointer = PROTECT(glue_model_pointer());
    tacit_model *model = NULL;
    tacit_status status = tacit_site_answer(&model, party_of(site)->site, &error);
    if (status == TACIT_OK) R_SetExternalPtrAddr(pointer, model);
    UNPROTECT(1);
    return status == TACIT_OK ? pointer : glue_failure(&error);
}

SEXP glue_site_leave(SEXP site) {
    tacit_error error = TACIT_ERROR_INIT;
    bool told = false;
    tacit_status status = tacit_site_leave(&told, party_of(site)->site, &error);
    return status == TACIT_OK ? Rf_ScalarLogical(told) : glue_failure(&error);
}

SEXP glue_site_close(SEXP site) {
    free_party(site);
    return R_NilValue;
}
