/*
 * A party whose rows are spread over ranks (base/ranks.h). Rank 0 is the party: it dials, consents, keeps
 * ledger and gate. The others hold rows, each its part of the files or every n-th row, and do what rank 0
 * says: read them, and run the handler of a question beside it, so that sums over rows are sums over all of
 * them. What they compute leaves them through the reducer alone, and goes to rank 0 alone.
 */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "data/source/part.h"
#include "method/methods.h"
#include "net/clock.h"
#include "privacy/gate.h"
#include "session/run.h"
#include "site/site_parts.h"

typedef enum order_kind { ORDER_LOAD, ORDER_ASK, ORDER_END } order_kind;

/* How to read the rows. Borrowed texts. */
typedef struct reading {
    const char *data, *link, *schema, *label, *positive;
    bool no_header;
    const char *terms, *subset;    /* the study's; NULL: none */
    const char *fill, *fill_value; /* the column of its arms, and this party's; NULL: none */
} reading;

static bool is_own_row(const void *context, uint64_t row) {
    const tacit_ranks *ranks = context;
    return row % tacit_ranks_count(ranks) == tacit_ranks_own(ranks);
}

/* What people hear while many rows are read. */
typedef struct reading_news {
    const tacit_site_callbacks *program;
    int64_t next_ms;
} reading_news;

static void tell_rows(void *context, const char *stage, uint64_t done, uint64_t total) {
    enum { EVERY_MS = 5000 };
    reading_news *self = context;
    char line[80];
    (void)total;
    if (self->program->news == NULL || tacit_clock_monotonic_ms() < self->next_ms) return;
    snprintf(line, sizeof line, "%s: %llu rows so far", stage, (unsigned long long)done);
    self->program->news(self->program->context, line);
    self->next_ms = tacit_clock_monotonic_ms() + EVERY_MS;
}

static bool is_cancelled(void *context) {
    const tacit_site_callbacks *program = ((reading_news *)context)->program;
    return program->cancelled != NULL && program->cancelled(program->context);
}

/* Its own part of the files; of a source that has no parts, every n-th row. */
static tacit_status load_part(tacit_dataset **rows, const char *data, const tacit_schema *schema,
                              tacit_load_options *options, const tacit_ranks *ranks, tacit_error *error) {
    const tacit_row_filter filter = { is_own_row, ranks };
    const tacit_source_options opening = { .no_header = options->no_header,
                                           .dimension = schema->sparse,
                                           .link = options->link,
                                           .fill = options->fill,
                                           .fill_value = options->fill_value };
    tacit_source *source = NULL;
    bool is_part = false;
    TACIT_TRY(tacit_source_open_part(&source, &is_part, data, &opening, tacit_ranks_own(ranks),
                                     tacit_ranks_count(ranks), error));
    options->rows = !is_part && tacit_ranks_count(ranks) > 1 ? &filter : NULL;
    tacit_status status = tacit_dataset_read_source(rows, NULL, source, schema, options, error);
    tacit_source_free(source);
#if defined(TACIT_PARTY_ONLY) && defined(__GLIBC__)
    malloc_trim(0); /* reading took more than the rows have: a device has use for it */
#endif
    return status;
}

static tacit_status load_here(tacit_dataset **rows, tacit_schema **schema, const reading *how,
                              const tacit_ranks *ranks, const tacit_progress *progress, tacit_error *error) {
    tacit_load_options options = TACIT_LOAD_DEFAULTS;
    options.label = how->label;
    options.positive = how->positive;
    options.no_header = how->no_header;
    options.link = how->link;
    options.fill = how->fill;
    options.fill_value = how->fill_value;
    options.progress = progress;
    tacit_schema *read = NULL;
    options.identified = tacit_ranks_count(ranks) <= 1;
    TACIT_TRY(tacit_schema_load_terms(&read, how->schema, how->terms, how->subset, error));
    tacit_status status = tacit_fail_in(error, tacit_schema_check_public(read, error), "%s", how->schema);
    if (status == TACIT_OK) status = load_part(rows, how->data, read, &options, ranks, error);
    if (status == TACIT_OK)
        *schema = read;
    else
        tacit_schema_free(read);
    return status;
}

/* Every rank has read its rows, or none of them counts. */
static tacit_status count_rows(size_t *total, size_t own, tacit_ranks *ranks, tacit_status status,
                               tacit_error *error) {
    double rows = (double)own;
    status = tacit_ranks_agree(ranks, status, error);
    if (status == TACIT_OK) status = tacit_ranks_sum(ranks, &rows, 1, error);
    if (status == TACIT_OK) *total = (size_t)rows;
    tacit_ranks_go_on(ranks);
    return status;
}

/* ---- orders ---- */

static tacit_status append_text(tacit_buffer *out, const char *text, tacit_error *error) {
    size_t length = text != NULL ? strlen(text) + 1 : 0; /* 0: none */
    TACIT_TRY(tacit_buffer_append_u64(out, length, error));
    return tacit_buffer_append(out, text, length, error);
}

static bool read_text(tacit_cursor *cursor, const char **out) {
    uint64_t length = 0;
    const uint8_t *bytes = NULL;
    if (!tacit_cursor_read_u64(cursor, &length) || !tacit_cursor_skip(cursor, &bytes, (size_t)length))
        return false;
    if (length > 0 && bytes[length - 1] != 0) return false;
    *out = length > 0 ? (const char *)bytes : NULL;
    return true;
}

static tacit_status lost(tacit_error *error) {
    return tacit_fail(error, TACIT_INTERNAL,
                      "what rank 0 says cannot be read: are all ranks the same program?");
}

static tacit_status order_load(tacit_ranks *ranks, const reading *how, tacit_error *error) {
    tacit_buffer bytes = TACIT_BUFFER_INIT;
    tacit_status status;
    TACIT_CHECK(tacit_buffer_append_u64(&bytes, ORDER_LOAD, error));
    TACIT_CHECK(tacit_buffer_append_u64(&bytes, how->no_header, error));
    TACIT_CHECK(append_text(&bytes, how->data, error));
    TACIT_CHECK(append_text(&bytes, how->link, error));
    TACIT_CHECK(append_text(&bytes, how->schema, error));
    TACIT_CHECK(append_text(&bytes, how->label, error));
    TACIT_CHECK(append_text(&bytes, how->positive, error));
    TACIT_CHECK(append_text(&bytes, how->terms, error));
    TACIT_CHECK(append_text(&bytes, how->subset, error));
    TACIT_CHECK(append_text(&bytes, how->fill, error));
    TACIT_CHECK(append_text(&bytes, how->fill_value, error));
    TACIT_CHECK(tacit_ranks_spread(ranks, &bytes, error));
cleanup:
    tacit_buffer_clear(&bytes);
    return status;
}

static tacit_status order_answer(void *context, const tacit_question *question, tacit_error *error) {
    tacit_site *site = context;
    tacit_question bare = *question; /* how the sum is hidden is rank 0's business */
    tacit_buffer bytes = TACIT_BUFFER_INIT;
    tacit_status status;
    bare.kind = TACIT_ROUND_PLAIN;
    TACIT_CHECK(tacit_buffer_append_u64(&bytes, ORDER_ASK, error));
    TACIT_CHECK(append_text(&bytes, tacit_buffer_text(&site->study->canonical), error));
    TACIT_CHECK(tacit_question_encode(&bare, &bytes, error));
    TACIT_CHECK(tacit_ranks_spread(site->callbacks.ranks, &bytes, error));
cleanup:
    tacit_buffer_clear(&bytes);
    return status;
}

/* A question that one rank cannot answer is answered by none. */
static tacit_status settle_answer(void *context, tacit_status status, tacit_error *error) {
    tacit_ranks *ranks = ((tacit_site *)context)->callbacks.ranks;
    status = tacit_ranks_agree(ranks, status, error);
    tacit_ranks_go_on(ranks);
    return status;
}

static tacit_status sum_over_ranks(void *context, double *values, size_t count, tacit_error *error) {
    return tacit_ranks_sum(context, values, count, error);
}

/* ---- rank 0 ---- */

/* Rows that the program has in its memory, or those of the owner's files. */
static tacit_status get_rows(tacit_dataset **rows, tacit_schema **schema, const tacit_site *site,
                             const reading *how, tacit_error *error) {
    enum { QUIET_MS = 5000 };
    const tacit_site_callbacks *program = &site->callbacks;
    if (program->lend != NULL && site_arm_column(site) != NULL)
        return tacit_fail(
            error, TACIT_USAGE,
            "study '%s' has arms, whose column is filled as rows are read: name a file, a database or a "
            "store, not rows in memory",
            site->study->name);
    if (program->lend != NULL)
        return program->lend(program->lender, site->study->schema, schema, rows, error);
    if (site_rows_in_memory(site))
        return tacit_fail(
            error, TACIT_NOT_FOUND,
            "the rows of %s are in the memory of the program that joined the study: start that program",
            site->source);
    reading_news news = { program, tacit_clock_monotonic_ms() + QUIET_MS };
    const tacit_progress progress = { .report = tell_rows, .cancelled = is_cancelled, .context = &news };
    return load_here(rows, schema, how, program->ranks, &progress, error);
}

tacit_status site_load_rows(tacit_site *site, tacit_error *error) {
    if (site->joined && !site->has_arm) TACIT_TRY(site_load_arm(site, error));
    const tacit_formula *formula = site->study != NULL ? site->study->schema->formula : NULL;
    const tacit_condition *subset = site->study != NULL ? site->study->schema->subset : NULL;
    const reading how = { site->data,
                          site->link,
                          site->schema_path,
                          site->label,
                          site->positive,
                          site->no_header,
                          formula != NULL ? tacit_formula_text(formula) : NULL,
                          subset != NULL ? tacit_condition_text(subset) : NULL,
                          site_arm_column(site),
                          site_arm_value(site) };
    tacit_ranks *ranks = site->callbacks.ranks;
    tacit_schema *schema = NULL;
    tacit_dataset *rows = NULL;
    size_t total = 0;
    if (ranks != NULL) TACIT_TRY(order_load(ranks, &how, error));
    tacit_status status = get_rows(&rows, &schema, site, &how, error);
    if (ranks != NULL)
        status = count_rows(&total, rows != NULL ? rows->rows : 0, ranks, status, error);
    else if (status == TACIT_OK)
        total = rows->rows;
    if (status != TACIT_OK) {
        tacit_dataset_free(rows);
        tacit_schema_free(schema);
        return status;
    }
    tacit_dataset_free(site->rows);
    tacit_schema_free(site->schema);
    site->rows = rows;
    site->schema = schema;
    site->total_rows = total;
    return TACIT_OK;
}

tacit_status site_check_eligible(const tacit_site *site, tacit_error *error) {
    const tacit_condition *eligible = site->study->eligible;
    tacit_schema *schema = NULL;
    tacit_dataset *rows = NULL;
    tacit_error why = TACIT_ERROR_INIT;
    if (eligible == NULL) return TACIT_OK;
    if (site->callbacks.lend != NULL || tacit_ranks_count(site->callbacks.ranks) > 1)
        return tacit_fail(
            error, TACIT_REFUSED,
            "study '%s' has a rule about who is eligible, which is looked up in a file, a store or "
            "a database, by one process: join with one",
            site->study->name);
    const reading how = { .data = site->data,
                          .link = site->link,
                          .schema = site->schema_path,
                          .label = site->label,
                          .positive = site->positive,
                          .no_header = site->no_header,
                          .subset = tacit_condition_text(eligible),
                          .fill = site_arm_column(site),
                          .fill_value = site_arm_value(site) };
    tacit_status status = load_here(&rows, &schema, &how, NULL, NULL, &why);
    const bool none = status == TACIT_INPUT; /* the same rows were read before, without the condition */
    tacit_dataset_free(rows);
    tacit_schema_free(schema);
    if (none)
        return tacit_fail(
            error, TACIT_REFUSED,
            "study '%s' is for those with a row for which this holds: %s. None of yours is known to "
            "be one, so you cannot take part; nobody was told",
            site->study->name, tacit_condition_text(eligible));
    return status == TACIT_OK ? TACIT_OK : tacit_fail(error, status, "%s", why.text);
}

void site_spread(tacit_site *site, tacit_party *party) {
    if (site->callbacks.ranks == NULL) return;
    site->reducer = (tacit_reducer){ sum_over_ranks, site->callbacks.ranks };
    site->holders = (tacit_holders){ order_answer, settle_answer, site };
    party->reducer = &site->reducer;
    party->holders = &site->holders;
}

tacit_status site_check_spread(const tacit_site *site, tacit_error *error) {
    const tacit_method *method = site->study->plan.method;
    tacit_buffer names = TACIT_BUFFER_INIT;
    tacit_status status = TACIT_OK;
    if (tacit_ranks_count(site->callbacks.ranks) < 2 || method->spreads) return TACIT_OK;
    for (size_t i = 0; status == TACIT_OK && tacit_methods[i] != NULL; i++)
        if (tacit_methods[i]->spreads)
            status = tacit_buffer_print(&names, error, "%s%s", names.length > 0 ? ", " : "",
                                        tacit_methods[i]->name);
    if (status == TACIT_OK)
        status = tacit_fail(error, TACIT_REFUSED,
                            "method %s needs all rows of a party in one process: start tacit without mpirun; "
                            "rows spread over ranks serve %s",
                            method->name, tacit_buffer_text(&names));
    tacit_buffer_clear(&names);
    return status;
}

tacit_status tacit_site_dismiss(tacit_ranks *ranks, tacit_error *error) {
    tacit_buffer bytes = TACIT_BUFFER_INIT;
    if (ranks == NULL) return TACIT_OK;
    tacit_status status = tacit_buffer_append_u64(&bytes, ORDER_END, error);
    if (status == TACIT_OK) status = tacit_ranks_spread(ranks, &bytes, error);
    tacit_buffer_clear(&bytes);
    return status;
}

/* ---- the others ---- */

typedef struct holding {
    tacit_ranks *ranks;
    tacit_dataset *rows;
    tacit_schema *schema;
    size_t total;
    tacit_study *study;
    tacit_memo memo;
    tacit_pool *pool;
    tacit_entropy *entropy;
} holding;

static tacit_status load(holding *self, tacit_cursor *cursor, tacit_error *error) {
    reading how = { .data = NULL };
    tacit_dataset *rows = NULL;
    tacit_schema *schema = NULL;
    uint64_t no_header = 0;
    bool whole = tacit_cursor_read_u64(cursor, &no_header) && read_text(cursor, &how.data) &&
                 read_text(cursor, &how.link) && read_text(cursor, &how.schema) &&
                 read_text(cursor, &how.label) && read_text(cursor, &how.positive) &&
                 read_text(cursor, &how.terms) && read_text(cursor, &how.subset) &&
                 read_text(cursor, &how.fill) && read_text(cursor, &how.fill_value);
    if (!whole || how.data == NULL || how.schema == NULL) return lost(error);
    how.no_header = no_header != 0;
    tacit_error said = TACIT_ERROR_INIT;
    tacit_status status = load_here(&rows, &schema, &how, self->ranks, NULL, &said);
    status = count_rows(&self->total, rows != NULL ? rows->rows : 0, self->ranks, status, &said);
    if (status != TACIT_OK) { /* rank 0 says what comes of it */
        tacit_dataset_free(rows);
        tacit_schema_free(schema);
        return TACIT_OK;
    }
    tacit_memo_clear(&self->memo);
    tacit_dataset_free(self->rows);
    tacit_schema_free(self->schema);
    self->rows = rows;
    self->schema = schema;
    return TACIT_OK;
}

/* The study as it was consented to at rank 0; read once. */
static tacit_status take_study(holding *self, const char *text, tacit_error *error) {
    if (self->study != NULL && strcmp(tacit_buffer_text(&self->study->canonical), text) == 0) return TACIT_OK;
    tacit_memo_clear(&self->memo);
    self->study = tacit_study_free(self->study);
    return tacit_study_parse(&self->study, text, strlen(text), "the study", error);
}

static tacit_status compute(holding *self, tacit_cursor *cursor, tacit_error *error) {
    const char *definition = NULL;
    tacit_received received = TACIT_RECEIVED_INIT;
    tacit_reply reply = { .message = TACIT_MESSAGE_INIT };
    tacit_reducer reducer = { sum_over_ranks, self->ranks };
    tacit_gate gate = { NULL, NULL, TACIT_GATE_REAL }; /* nothing leaves from here */
    const tacit_handler_entry *handler = NULL;
    tacit_status status;
    if (!read_text(cursor, &definition) || definition == NULL || self->rows == NULL) TACIT_CHECK(lost(error));
    TACIT_CHECK(take_study(self, definition, error));
    TACIT_CHECK(tacit_question_decode(&received, cursor->bytes, cursor->left, error));
    tacit_noise_source noise = { .entropy = self->entropy };
    tacit_party party =
        tacit_run_party(&self->study->plan, NULL, self->study->name, tacit_dataset_view(self->rows),
                        self->total, noise, &self->memo, &gate);
    party.follows = true;
    party.reducer = &reducer;
    party.pool = self->pool;
    TACIT_CHECK(tacit_party_handler(&party, &received.question, &handler, error));
    TACIT_CHECK(handler->answer(&party, &received.question, &reply, error));
cleanup:
    tacit_reply_clear(&reply);
    tacit_received_clear(&received);
    return status;
}

/* Whether it went well or not, rank 0 is told, and speaks for all. */
static void answer(holding *self, tacit_cursor *cursor) {
    tacit_error said = TACIT_ERROR_INIT;
    tacit_status status = compute(self, cursor, &said);
    tacit_ranks_agree(self->ranks, status, &said);
    tacit_ranks_go_on(self->ranks);
}

static tacit_status obey(holding *self, bool *ended, tacit_error *error) {
    tacit_buffer bytes = TACIT_BUFFER_INIT;
    uint64_t kind = ORDER_END;
    tacit_status status;
    TACIT_CHECK(tacit_ranks_spread(self->ranks, &bytes, error));
    tacit_cursor cursor = tacit_cursor_over(bytes.bytes, bytes.length);
    if (!tacit_cursor_read_u64(&cursor, &kind)) TACIT_CHECK(lost(error));
    *ended = kind == ORDER_END;
    if (kind == ORDER_LOAD) TACIT_CHECK(load(self, &cursor, error));
    if (kind == ORDER_ASK) answer(self, &cursor);
cleanup:
    tacit_buffer_clear(&bytes);
    return status;
}

tacit_status tacit_site_hold(tacit_ranks *ranks, tacit_error *error) {
    holding self = { .ranks = ranks };
    tacit_status status;
    TACIT_CHECK(tacit_pool_create(&self.pool, tacit_ranks_threads(ranks), error));
    TACIT_CHECK(tacit_entropy_create(&self.entropy, error));
    for (bool ended = false; !ended;) TACIT_CHECK(obey(&self, &ended, error));
cleanup:
    tacit_memo_clear(&self.memo);
    tacit_study_free(self.study);
    tacit_dataset_free(self.rows);
    tacit_schema_free(self.schema);
    tacit_pool_free(self.pool);
    tacit_entropy_free(self.entropy);
    return status;
}
