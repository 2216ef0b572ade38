#include "api/document/model_card.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "api/document/card_page.h"
#include "api/document/results.h"
#include "base/memory.h"
#include "base/number.h"
#include "data/encode.h"
#include "data/schema/text.h"
#include "method/uncounted.h"
#include "session/plan/wording.h"

enum { LINE = 600, MOST_ROWS = 200, MOST_COLUMNS = 16, CELL = 64 };

/* ---- do the files belong together? ---- */

static tacit_status check_report(const tacit_model *report, const char *kind, tacit_error *error) {
    if (report == NULL) return TACIT_OK;
    if (report->report == NULL)
        return tacit_fail(error, TACIT_USAGE,
                          "the option '%s' names a report, and this is a model: make one with method %s",
                          strcmp(kind, "evaluate") == 0 ? "evaluation" : kind, kind);
    if (strcmp(report->report->kind, kind) != 0)
        return tacit_fail(error, TACIT_USAGE, "this is a report of kind '%.30s', and one of '%s' is needed",
                          report->report->kind, kind);
    return TACIT_OK;
}

tacit_status tacit_model_card_check(const tacit_model_card *card, tacit_error *error) {
    if (card->model->report != NULL)
        return tacit_fail(error, TACIT_USAGE,
                          "%.200s is a report, not a model: name the model, and the report with the option "
                          "'evaluation' or 'describe'",
                          card->file);
    for (size_t k = 0; k < card->evaluations; k++)
        TACIT_TRY(check_report(card->evaluation[k].report, "evaluate", error));
    TACIT_TRY(check_report(card->describe, "describe", error));
    const char *study = card->model->guarantee.study;
    if (card->study != NULL && study[0] != 0 && strcmp(study, card->study->name) != 0)
        return tacit_fail(error, TACIT_USAGE, "the model is of study '%.60s', and the definition of '%s'",
                          study, card->study->name);
    return TACIT_OK;
}

/* ---- parts of the page ---- */

typedef struct writing {
    const tacit_model_card *card;
    tacit_card_page page;
    tacit_error *error;
} writing;

static tacit_status item(const writing *self, const char *name, const char *text) {
    return tacit_page_item(&self->page, name, text, self->error);
}

static tacit_status heading(const writing *self, const char *text) {
    return tacit_page_heading(&self->page, text, self->error);
}

static const char *what_it_is(const tacit_model *model) {
    if (model->stack != NULL) return tacit_stack_title(model->stack);
    if (model->tree != NULL) return "a decision tree";
    if (model->network.layers > 0) return "a network of layers";
    return model->family->title;
}

/* The formula as R prints it, which names the offset and the weights of rows, and which rows the model is
 * about. */
static tacit_status write_terms(const writing *self) {
    const tacit_schema *schema = self->card->model->schema;
    if (schema == NULL || schema->sparse > 0) return TACIT_OK;
    TACIT_TRY(item(self, "Terms",
                   schema->formula != NULL ? tacit_formula_text(schema->formula) : "each column by itself"));
    return schema->subset != NULL ? item(self, "Rows", tacit_condition_text(schema->subset)) : TACIT_OK;
}

static tacit_status write_facts(const writing *self) {
    const tacit_model_card *card = self->card;
    const tacit_model *model = card->model;
    char text[LINE];
    tacit_format(text, sizeof text, "%s, %zu feature%s", what_it_is(model), model->features,
                 model->features == 1 ? "" : "s");
    TACIT_TRY(heading(self, "What it is"));
    TACIT_TRY(tacit_page_list(&self->page, true, self->error));
    TACIT_TRY(item(self, "Model", text));
    TACIT_TRY(write_terms(self));
    TACIT_TRY(item(self, "File", card->file));
    if (card->written != NULL) TACIT_TRY(item(self, "Written", card->written));
    TACIT_TRY(item(self, "BLAKE2b-256", card->hash));
    TACIT_TRY(item(self, "Method",
                   model->guarantee.method[0] != 0 ? model->guarantee.method : "unknown to the file"));
    if (model->guarantee.study[0] != 0) TACIT_TRY(item(self, "Study", model->guarantee.study));
    if (card->study != NULL) TACIT_TRY(item(self, "Title", card->study->title));
    if (card->study != NULL && card->study->approval[0] != 0)
        TACIT_TRY(item(self, "Approval", card->study->approval));
    if (card->study != NULL && card->study->description.length > 0)
        TACIT_TRY(item(self, "What for", tacit_buffer_text(&card->study->description)));
    tacit_format(text, sizeof text, "%g (%s)", model->guarantee.lambda,
                 tacit_lambda_from_name(model->guarantee.lambda_from));
    TACIT_TRY(item(self, "Lambda", text));
    return tacit_page_list(&self->page, false, self->error);
}

/* Levels with commas between, as many as there is room for. */
static void list_levels(char *out, size_t size, const tacit_levels *levels) {
    size_t used = 0;
    out[0] = 0;
    for (size_t k = 0; k < levels->count; k++) {
        size_t need = strlen(levels->text[k]) + 2;
        if (used + need + 16 > size) {
            tacit_format(out + used, size - used, " and %zu more", levels->count - k);
            return;
        }
        used += (size_t)tacit_format(out + used, size - used, "%s%s", k > 0 ? ", " : "", levels->text[k]);
    }
}

static tacit_status write_column(const writing *self, const tacit_schema_column *column) {
    char about[LINE];
    static const char *const kinds[] = { "number", "category", "skipped", "text" };
    if (column->kind == TACIT_SCHEMA_SKIP) return TACIT_OK;
    if (column->kind == TACIT_SCHEMA_NUMBER)
        tacit_format(about, sizeof about, "%g to %g", column->low, column->high);
    else if (column->kind == TACIT_SCHEMA_CATEGORY)
        list_levels(about, sizeof about, &column->levels);
    else
        tacit_format(about, sizeof about, "its words");
    const char *cells[] = { column->name, kinds[column->kind], about };
    return tacit_page_row(&self->page, cells, 3, false, self->error);
}

static tacit_status write_label(const writing *self, const tacit_schema *schema) {
    char text[LINE], classes[LINE];
    if (schema->response == TACIT_RESPONSE_CLASS) {
        list_levels(classes, sizeof classes, &schema->classes);
        tacit_format(text, sizeof text, "Predicts %.100s: %.400s.", schema->label, classes);
    } else {
        tacit_format(text, sizeof text, "Predicts %.100s, a %s from %g to %g.", schema->label,
                     tacit_response_name(schema->response), schema->low, schema->high);
    }
    return tacit_page_paragraph(&self->page, text, self->error);
}

static tacit_status write_columns(const writing *self) {
    const tacit_schema *schema = self->card->model->schema;
    static const char *const head[] = { "column", "kind", "bounds or levels" };
    TACIT_TRY(heading(self, "Columns"));
    if (schema == NULL)
        return tacit_page_paragraph(&self->page, "The file does not say how rows are encoded.", self->error);
    if (schema->label != NULL) TACIT_TRY(write_label(self, schema));
    if (schema->cols == 0) return TACIT_OK;
    TACIT_TRY(tacit_page_table(&self->page, head, 3, false, self->error));
    for (size_t i = 0; i < schema->cols && i < MOST_ROWS; i++)
        TACIT_TRY(write_column(self, &schema->columns[i]));
    TACIT_TRY(tacit_page_table_end(&self->page, self->error));
    if (schema->cols <= MOST_ROWS) return TACIT_OK;
    char text[LINE];
    tacit_format(text, sizeof text, "And %zu more columns.", schema->cols - MOST_ROWS);
    return tacit_page_paragraph(&self->page, text, self->error);
}

static const char *number_cell(char out[CELL], double value) {
    if (isnan(value))
        tacit_format(out, CELL, "-");
    else
        tacit_format(out, CELL, "%.5g", value);
    return out;
}

static tacit_status write_estimates(const writing *self, const tacit_estimates *estimates) {
    static const char *const head[] = { "", "estimate", "standard error", "low", "high", "p" };
    char text[LINE], cell[5][CELL];
    TACIT_TRY(tacit_page_table(&self->page, head, 6, true, self->error));
    for (size_t i = 0; i < estimates->count && i < MOST_ROWS; i++) {
        const tacit_coefficient *one = &estimates->coefficient[i];
        const char *cells[] = { one->name,
                                number_cell(cell[0], one->estimate),
                                number_cell(cell[1], one->error),
                                number_cell(cell[2], one->low),
                                number_cell(cell[3], one->high),
                                number_cell(cell[4], one->p) };
        TACIT_TRY(tacit_page_row(&self->page, cells, 6, true, self->error));
    }
    TACIT_TRY(tacit_page_table_end(&self->page, self->error));
    tacit_format(text, sizeof text, "Per unit of the raw column, with %g%% intervals%s; %.0f rows.",
                 100 * estimates->level, estimates->noisy ? " that include the privacy noise" : "",
                 estimates->rows);
    return tacit_page_paragraph(&self->page, text, self->error);
}

/* Weights of a linear model per unit of the raw columns, without errors. */
static tacit_status write_weights(const writing *self) {
    static const char *const head[] = { "", "weight" };
    const tacit_model *model = self->card->model;
    tacit_feature *feature = TACIT_NEW(tacit_feature, model->features);
    tacit_status status = feature != NULL ? TACIT_OK : tacit_fail_memory(self->error);
    if (status != TACIT_OK) return status;
    if (tacit_schema_linear(model->schema, feature, NULL) != TACIT_OK) {
        TACIT_CHECK(tacit_page_paragraph(
            &self->page, "Features are no linear function of the columns: there is no coefficient for each.",
            self->error));
        goto cleanup;
    }
    TACIT_CHECK(tacit_page_table(&self->page, head, 2, true, self->error));
    for (size_t j = 0; j < model->features && j < MOST_ROWS; j++) {
        const tacit_feature *one = &feature[j];
        char name[LINE], cell[CELL];
        if (one->column == SIZE_MAX) {
            tacit_format(name, sizeof name, "(Intercept)");
        } else {
            const tacit_schema_column *column = &model->schema->columns[one->column];
            bool level = one->level != SIZE_MAX && one->level < column->levels.count;
            tacit_format(name, sizeof name, "%.250s%s%.250s", column->name, level ? "=" : "",
                         level ? column->levels.text[one->level] : "");
        }
        const char *cells[] = { name, number_cell(cell, model->weights[j] * one->scale) };
        TACIT_CHECK(tacit_page_row(&self->page, cells, 2, true, self->error));
    }
    TACIT_CHECK(tacit_page_table_end(&self->page, self->error));
    TACIT_CHECK(tacit_page_paragraph(
        &self->page, "Per unit of the raw column, without standard errors: this method has none.",
        self->error));
cleanup:
    free(feature);
    return status;
}

static tacit_status write_coefficients(const writing *self) {
    const tacit_model *model = self->card->model;
    bool linear = tacit_model_is_linear(model) && tacit_model_scores_per_row(model) == 1;
    TACIT_TRY(heading(self, "Coefficients"));
    if (model->estimates != NULL) return write_estimates(self, model->estimates);
    if (linear && model->schema != NULL && model->schema->sparse == 0) return write_weights(self);
    return tacit_page_paragraph(&self->page, "This kind of model has no coefficient for each column.",
                                self->error);
}

/* ---- reports ---- */

static const char *value_cell(char out[CELL], const tacit_report_table *table, size_t row, size_t col) {
    double value = table->value[row * table->cols + col], error = table->error[row * table->cols + col];
    if (isnan(value) || isnan(error)) return number_cell(out, value);
    tacit_format(out, CELL, "%.5g (noise %.2g)", value, error);
    return out;
}

static tacit_status write_table(const writing *self, const tacit_report_table *table) {
    const char *cells[MOST_COLUMNS + 1];
    char cell[MOST_COLUMNS][CELL];
    size_t cols = table->cols < MOST_COLUMNS ? table->cols : MOST_COLUMNS;
    TACIT_TRY(tacit_page_paragraph(&self->page, table->title, self->error));
    cells[0] = "";
    for (size_t j = 0; j < cols; j++) cells[j + 1] = table->column[j];
    TACIT_TRY(tacit_page_table(&self->page, cells, cols + 1, true, self->error));
    for (size_t i = 0; i < table->rows && i < MOST_ROWS; i++) {
        cells[0] = table->label[i];
        for (size_t j = 0; j < cols; j++) cells[j + 1] = value_cell(cell[j], table, i, j);
        TACIT_TRY(tacit_page_row(&self->page, cells, cols + 1, true, self->error));
    }
    return tacit_page_table_end(&self->page, self->error);
}

/* Curves are for drawing: in a card they would be hundreds of lines. */
static bool belongs(const tacit_report_table *table) {
    static const char *const left_out[] = { "roc", "threshold_intervals", "histogram", "cross" };
    for (size_t k = 0; k < sizeof left_out / sizeof *left_out; k++)
        if (strncmp(table->name, left_out[k], strlen(left_out[k])) == 0) return false;
    return strchr(table->name, '@') == NULL;
}

/* Two columns of a table as a curve. */
static tacit_status write_curve(const writing *self, const tacit_report *report, const char *name,
                                const char *x_name, const char *y_name, const char *title) {
    const tacit_report_table *table = tacit_report_find(report, name);
    if (table == NULL || table->rows == 0) return TACIT_OK;
    size_t x_at = tacit_report_column(table, x_name), y_at = tacit_report_column(table, y_name);
    if (x_at == SIZE_MAX || y_at == SIZE_MAX) return TACIT_OK;
    double *x = TACIT_NEW(double, 2 * table->rows), *y = x + table->rows;
    if (x == NULL) return tacit_fail_memory(self->error);
    for (size_t i = 0; i < table->rows; i++) {
        x[i] = table->value[i * table->cols + x_at];
        y[i] = table->value[i * table->cols + y_at];
    }
    tacit_status status = tacit_page_curve(&self->page, title, x, y, table->rows, self->error);
    free(x);
    return status;
}

static tacit_status write_promise(const writing *self, const tacit_guarantee *guarantee) {
    char price[TACIT_PRICE_TEXT_SIZE], text[LINE + TACIT_REASON_SIZE];
    if (guarantee->is_private)
        tacit_format(text, sizeof text, "Promised: %s, charged to each party; noise: %s.",
                     tacit_price_text(price, &guarantee->charged), tacit_noise_name(guarantee->noise));
    else
        tacit_format(text, sizeof text, "Not differentially private%s%s.",
                     guarantee->reason[0] != 0 ? ": " : "", guarantee->reason);
    return tacit_page_paragraph(&self->page, text, self->error);
}

static tacit_status write_report(const writing *self, const tacit_model *from, const char *title,
                                 const char *about, const char *otherwise) {
    TACIT_TRY(heading(self, title));
    if (from == NULL) return tacit_page_paragraph(&self->page, otherwise, self->error);
    const tacit_report *report = from->report != NULL ? from->report : from->validation;
    char text[LINE];
    tacit_format(text, sizeof text, "On %s%.0f rows%s; %zu %s.", report->noisy ? "about " : "", report->rows,
                 report->noisy ? ", with noise in every number" : "", from->guarantee.parties,
                 from->guarantee.parties == 1 ? "party" : "parties");
    TACIT_TRY(tacit_page_paragraph(&self->page, text, self->error));
    if (about != NULL) TACIT_TRY(tacit_page_paragraph(&self->page, about, self->error));
    const tacit_report_fact *folds = tacit_report_find_fact(report, "cross-validation");
    if (folds != NULL) {
        tacit_format(text, sizeof text, "%s.", folds->text);
        TACIT_TRY(tacit_page_paragraph(&self->page, text, self->error));
    }
    for (size_t t = 0; t < report->tables; t++)
        if (belongs(&report->table[t])) TACIT_TRY(write_table(self, &report->table[t]));
    TACIT_TRY(write_curve(self, report, "roc", "false_positives", "sensitivity",
                          "ROC: sensitivity over the share of false positives"));
    TACIT_TRY(write_curve(self, report, "calibration", "predicted", "observed",
                          "Calibration: observed over predicted"));
    return write_promise(self, &from->guarantee);
}

tacit_card_rows tacit_card_rows_of(const tacit_model *model, const tacit_model *report) {
    const char *made = model->guarantee.study, *judged = report->guarantee.study;
    return made[0] != 0 && strcmp(made, judged) == 0 ? TACIT_CARD_ROWS_TRAINED : TACIT_CARD_ROWS_UNKNOWN;
}

/* Each with what is known of its rows, which decides what its figures say. */
static tacit_status write_evaluations(const writing *self) {
    static const char *const about[] = {
        [TACIT_CARD_ROWS_UNKNOWN] =
            "The files do not say whether the model was trained on these rows: on such "
            "rows, figures flatter it.",
        [TACIT_CARD_ROWS_TRAINED] = "On rows that the model may have been trained on, those of parties that "
                                    "helped to make it: figures on such rows flatter it.",
        [TACIT_CARD_ROWS_OTHERS] = "On rows of parties that took no part in making the model.",
    };
    static const char title[] = "Evaluation";
    const tacit_model_card *card = self->card;
    char text[LINE];
    if (card->evaluations == 0 && card->model->validation == NULL)
        return write_report(self, NULL, title, NULL, "No evaluation was given with the model.");
    for (size_t k = 0; k < card->evaluations; k++) {
        const tacit_card_evaluation *one = &card->evaluation[k];
        const char *study = one->report->guarantee.study;
        tacit_format(text, sizeof text, "%s %zu%s%s", title, k + 1, study[0] != 0 ? ": study " : "", study);
        TACIT_TRY(
            write_report(self, one->report, card->evaluations > 1 ? text : title, about[one->rows], NULL));
    }
    return TACIT_OK;
}

/* How many values were missing, as far as the study counted them beside its model. */
static tacit_status write_missing(const writing *self) {
    const tacit_report *report = self->card->model->missing_counts;
    char text[2 * LINE];
    if (report == NULL) return TACIT_OK;
    TACIT_TRY(heading(self, "Missing values"));
    for (size_t k = 0; k < report->facts; k++) {
        tacit_format(text, sizeof text, "%s: %s.", report->fact[k].name,
                     report->fact[k].text != NULL ? report->fact[k].text : "");
        TACIT_TRY(tacit_page_paragraph(&self->page, text, self->error));
    }
    for (size_t t = 0; t < report->tables; t++) TACIT_TRY(write_table(self, &report->table[t]));
    return TACIT_OK;
}

/* ---- guarantee, parties, limits ---- */

static tacit_status write_guarantee(const writing *self) {
    const tacit_guarantee *guarantee = &self->card->model->guarantee;
    const tacit_study *study = self->card->study;
    tacit_wording wording = TACIT_WORDING_INIT;
    tacit_status status;
    TACIT_CHECK(heading(self, "Guarantee, and who learns what"));
    TACIT_CHECK(write_promise(self, guarantee));
    if (guarantee->is_private)
        TACIT_CHECK(tacit_page_paragraph(
            &self->page,
            guarantee->charged.unit == TACIT_UNIT_PARTY
                ? "Neighbours: two sets of rows in which all rows of one party differ."
                : "Neighbours: two sets of rows of which one row, or person where the unit says so, differs.",
            self->error));
    if (study == NULL) goto cleanup;
    TACIT_CHECK(tacit_wording_make(&wording, &study->plan, self->error));
    TACIT_CHECK(tacit_page_list(&self->page, true, self->error));
    TACIT_CHECK(item(self, "What leaves a party", wording.leaves));
    TACIT_CHECK(item(self, "Who sees it", wording.seen_by));
    TACIT_CHECK(item(self, "What is guaranteed", wording.guarantee));
    TACIT_CHECK(item(self, "On what that rests", wording.assumption));
    TACIT_CHECK(item(self, "By which theorem", wording.theorem));
    TACIT_CHECK(tacit_page_list(&self->page, false, self->error));
cleanup:
    tacit_wording_clear(&wording);
    return status;
}

static tacit_status write_parties(const writing *self) {
    const tacit_model_card *card = self->card;
    char text[LINE];
    TACIT_TRY(heading(self, "Who took part"));
    if (card->model->guarantee.parties > 0)
        tacit_format(text, sizeof text, "%zu %s.", card->model->guarantee.parties,
                     card->model->guarantee.parties == 1 ? "party" : "parties");
    else
        tacit_format(text, sizeof text, "The file does not say how many parties there were.");
    TACIT_TRY(tacit_page_paragraph(&self->page, text, self->error));
    if (card->parties == 0) return TACIT_OK;
    TACIT_TRY(tacit_page_list(&self->page, true, self->error));
    for (size_t i = 0; i < card->parties; i++) TACIT_TRY(item(self, NULL, card->party[i]));
    return tacit_page_list(&self->page, false, self->error);
}

enum { MOST_LIMITS = 12 };

static bool has_trained(const tacit_model_card *card) {
    bool found = false;
    for (size_t k = 0; k < card->evaluations; k++)
        found = found || card->evaluation[k].rows == TACIT_CARD_ROWS_TRAINED;
    return found;
}

static bool has_noisy(const tacit_model_card *card) {
    bool found = false;
    for (size_t k = 0; k < card->evaluations; k++) found = found || card->evaluation[k].report->report->noisy;
    return found;
}

/* What a reader must not conclude. All texts are constant, but the one about missing values. */
static size_t find_limits(const tacit_model_card *card, const char *out[MOST_LIMITS],
                          char uncounted[TACIT_UNCOUNTED_SIZE]) {
    const tacit_model *model = card->model;
    const tacit_guarantee *guarantee = &model->guarantee;
    size_t count = 0;
    out[count++] = "It describes rows like those of the parties: nothing is known about other populations, "
                   "times or ways of measuring.";
    if (card->evaluations == 0 && model->validation != NULL)
        out[count++] =
            "How good it is was found by cross-validation on the parties' own rows: on other rows it "
            "may do worse.";
    else if (card->evaluations == 0)
        out[count++] = "How good it is has not been shown: no evaluation was given with it.";
    if (has_trained(card))
        out[count++] =
            "It was evaluated on rows that it may have been trained on: on others it may do worse.";
    if (has_noisy(card))
        out[count++] = "The figures of its evaluation have privacy noise in them; differences smaller than "
                       "their intervals mean nothing.";
    if (tacit_missing_uncounted(model, uncounted)) out[count++] = uncounted;
    if (!guarantee->is_private)
        out[count++] = "It is not differentially private: it may tell something about single rows.";
    if (guarantee->is_private && guarantee->noise == TACIT_NOISE_SIMULATED)
        out[count++] =
            "Its noise was simulated: good for comparing methods, not for a model of private rows.";
    if (model->schema != NULL && tacit_schema_is_from_rows(model->schema))
        out[count++] = "Bounds or levels of its columns were read off rows.";
    if (model->estimates != NULL && model->estimates->needs_rows > 0)
        out[count++] = "At this price and with these rows there is no estimate with an interval.";
    if (!tacit_model_is_numeric(model) && !tacit_model_has_probabilities(model))
        out[count++] = "Its scores are no probabilities.";
    out[count++] = "Coefficients are associations, not causes.";
    return count;
}

static tacit_status write_limits(const writing *self) {
    const char *limits[MOST_LIMITS];
    char uncounted[TACIT_UNCOUNTED_SIZE];
    size_t count = find_limits(self->card, limits, uncounted);
    TACIT_TRY(heading(self, "Limits"));
    TACIT_TRY(tacit_page_list(&self->page, true, self->error));
    for (size_t i = 0; i < count; i++) TACIT_TRY(item(self, NULL, limits[i]));
    return tacit_page_list(&self->page, false, self->error);
}

tacit_status tacit_model_card_print(const tacit_model_card *card, bool html, tacit_buffer *out,
                                    tacit_error *error) {
    const writing self = { card, { out, html }, error };
    char title[LINE];
    const tacit_schema *schema = card->model->schema;
    tacit_format(title, sizeof title, "Model card: %.300s",
                 card->study != NULL                       ? card->study->title
                 : schema != NULL && schema->label != NULL ? schema->label
                                                           : card->file);
    TACIT_TRY(tacit_model_card_check(card, error));
    TACIT_TRY(tacit_page_begin(&self.page, title, error));
    TACIT_TRY(write_facts(&self));
    TACIT_TRY(write_columns(&self));
    TACIT_TRY(write_report(&self, card->describe, "Data", NULL,
                           "No descriptive statistics were given with the model."));
    TACIT_TRY(write_missing(&self));
    TACIT_TRY(write_coefficients(&self));
    TACIT_TRY(write_evaluations(&self));
    if (card->model->validation != NULL)
        TACIT_TRY(write_report(&self, card->model, "Cross-validation", NULL, ""));
    TACIT_TRY(write_guarantee(&self));
    TACIT_TRY(write_parties(&self));
    TACIT_TRY(write_limits(&self));
    return tacit_page_end(&self.page, error);
}

/* ---- as a document ---- */

static json_t *columns_document(const tacit_schema *schema) {
    json_t *list = json_array();
    for (size_t i = 0; schema != NULL && i < schema->cols; i++)
        if (schema->columns[i].kind != TACIT_SCHEMA_SKIP)
            list = tacit_json_append(list, tacit_json_text(schema->columns[i].name));
    return list;
}

static json_t *report_or_null(const tacit_model *model) {
    return model != NULL ? tacit_report_document(model) : json_null();
}

static json_t *terms_document(const tacit_schema *schema) {
    return schema != NULL && schema->formula != NULL ? tacit_json_text(tacit_formula_text(schema->formula))
                                                     : json_null();
}

static json_t *subset_document(const tacit_schema *schema) {
    return schema != NULL && schema->subset != NULL ? tacit_json_text(tacit_condition_text(schema->subset))
                                                    : json_null();
}

static json_t *evaluations_document(const tacit_model_card *card) {
    static const char *const names[] = { [TACIT_CARD_ROWS_UNKNOWN] = "unknown",
                                         [TACIT_CARD_ROWS_TRAINED] = "maybe trained on",
                                         [TACIT_CARD_ROWS_OTHERS] = "others" };
    json_t *list = json_array();
    for (size_t k = 0; k < card->evaluations; k++)
        list = tacit_json_append(list, json_pack("{s:s,s:s,s:o}", "study",
                                                 card->evaluation[k].report->guarantee.study, "rows",
                                                 names[card->evaluation[k].rows], "report",
                                                 report_or_null(card->evaluation[k].report)));
    return list;
}

json_t *tacit_model_card_document(const tacit_model_card *card) {
    const tacit_model *model = card->model;
    const char *limits[MOST_LIMITS];
    char uncounted[TACIT_UNCOUNTED_SIZE];
    size_t count = find_limits(card, limits, uncounted);
    json_t *list = json_array(), *party = json_array();
    for (size_t i = 0; i < count; i++) list = tacit_json_append(list, json_string(limits[i]));
    for (size_t i = 0; i < card->parties; i++)
        party = tacit_json_append(party, tacit_json_text(card->party[i]));
    json_t *made =
        json_pack("{s:o,s:s,s:o,s:s,s:I,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "model",
                  tacit_json_text(card->file), "kind", what_it_is(model), "written",
                  card->written != NULL ? json_string(card->written) : json_null(), "hash", card->hash,
                  "features", (json_int_t)model->features, "columns", columns_document(model->schema),
                  "terms", terms_document(model->schema), "subset", subset_document(model->schema), "summary",
                  model->estimates != NULL ? tacit_summary_document(model) : json_null(), "describe",
                  report_or_null(card->describe), "evaluation",
                  report_or_null(card->evaluations > 0 ? card->evaluation[0].report : NULL), "evaluations",
                  evaluations_document(card), "guarantee", tacit_guarantee_document(&model->guarantee),
                  "parties", party, "limits", list);
    if (made != NULL && card->study != NULL)
        json_object_set_new(made, "title", tacit_json_text(card->study->title));
    if (made != NULL && model->missing_counts != NULL)
        json_object_set_new(made, "missing_counts", tacit_report_to_json(model->missing_counts));
    return made;
}
