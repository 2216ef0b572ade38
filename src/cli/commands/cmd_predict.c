/* tacit predict: a model's answer for each row of a file. */
#include <string.h>

#include "api/outputs.h"
#include "base/memory.h"
#include "cli/commands.h"
#include "cli/output_file.h"
#include "cli/row_reading.h"
#include "data/schema/text.h"

/* Predictions are about private rows: for the owner's eyes only. */
enum { PREDICTIONS_MODE = 0600 };

typedef struct answers {
    const tacit_model *model;
    size_t rows;
    size_t each;     /* scores a row */
    double *scores;  /* rows x each */
    double *columns; /* scratch: what is written for one row */
} answers;

static const char *class_name(const tacit_model *model, size_t k, char scratch[TACIT_NUMBER_TEXT]) {
    if (k < model->class_names.count) return model->class_names.text[k];
    snprintf(scratch, TACIT_NUMBER_TEXT, "%zu", k);
    return scratch;
}

/* The predicted class of row i, or the mean of its numeric response. */
static const char *predicted_text(const answers *all, size_t i, char scratch[TACIT_NUMBER_TEXT]) {
    const double *scores = all->scores + i * all->each;
    if (tacit_model_is_numeric(all->model))
        return tacit_number_to_text(tacit_model_mean(all->model, scores[0]), scratch);
    return class_name(all->model, (size_t)tacit_model_class(all->model, scores), scratch);
}

/* What is known of row i: the probability of each class, or the score. */
static const double *fill_columns(const answers *all, size_t i) {
    tacit_outputs_of(all->model, all->scores + i * all->each, all->columns);
    return all->columns;
}

/* A CSV cell, quoted where it must be. */
static void put_cell(FILE *out, const char *text) {
    if (text[strcspn(text, ",;\t\"\r\n")] == 0 && text[0] != 0 && text[0] != ' ') {
        fputs(text, out);
        return;
    }
    fputc('"', out);
    for (; *text != 0; text++) {
        if (*text == '"') fputc('"', out);
        fputc(*text, out);
    }
    fputc('"', out);
}

static void write_header(FILE *out, const tacit_model *model) {
    fputs("row,predicted", out);
    if (!tacit_model_has_probabilities(model)) fputs(",score", out);
    for (size_t k = 0; tacit_model_has_probabilities(model) && k < model->classes; k++) {
        char scratch[TACIT_NUMBER_TEXT], name[256];
        snprintf(name, sizeof name, "p(%.200s)", class_name(model, k, scratch));
        fputc(',', out);
        put_cell(out, name);
    }
    fputc('\n', out);
}

static void write_rows(FILE *out, const answers *all) {
    char scratch[TACIT_NUMBER_TEXT];
    write_header(out, all->model);
    for (size_t i = 0; i < all->rows; i++) {
        const double *columns = fill_columns(all, i);
        fprintf(out, "%zu,", i + 1);
        put_cell(out, predicted_text(all, i, scratch));
        for (size_t k = 0; k < tacit_model_outputs(all->model); k++)
            fprintf(out, ",%s", tacit_number_to_text(columns[k], scratch));
        fputc('\n', out);
    }
}

static json_t *row_document(const answers *all, size_t i) {
    char scratch[TACIT_NUMBER_TEXT];
    const tacit_model *model = all->model;
    const double *columns = fill_columns(all, i);
    json_t *row =
        json_pack("{s:I,s:o}", "row", (json_int_t)i + 1, "predicted",
                  tacit_model_is_numeric(model) ? tacit_json_number(tacit_model_mean(model, columns[0]))
                                                : tacit_json_text(predicted_text(all, i, scratch)));
    if (!tacit_model_has_probabilities(model)) {
        json_object_set_new(row, "score", json_real(columns[0]));
        return row;
    }
    json_t *list = json_array();
    for (size_t k = 0; k < model->classes; k++) list = tacit_json_append(list, json_real(columns[k]));
    json_object_set_new(row, "probabilities", list);
    return row;
}

static json_t *answers_document(const answers *all) {
    char scratch[TACIT_NUMBER_TEXT];
    json_t *classes = json_array(), *rows = json_array();
    for (size_t k = 0; k < all->model->classes; k++)
        classes = tacit_json_append(classes, tacit_json_text(class_name(all->model, k, scratch)));
    for (size_t i = 0; i < all->rows; i++) rows = tacit_json_append(rows, row_document(all, i));
    return json_pack("{s:o,s:o}", "classes", classes, "predictions", rows);
}

static tacit_status write_answers(const answers *all, const char *path, tacit_console *console,
                                  tacit_error *error) {
    if (path == NULL && console->json) return tacit_console_document(console, answers_document(all), error);
    tacit_output output;
    TACIT_TRY(tacit_output_open(&output, path, console->out, PREDICTIONS_MODE, error));
    write_rows(output.stream, all);
    TACIT_TRY(tacit_output_close(&output, TACIT_OK, error));
    if (path == NULL) return TACIT_OK;
    tacit_console_note(console, "wrote %s", path);
    return tacit_console_document(
        console, json_pack("{s:o,s:I}", "out", tacit_json_text(path), "rows", (json_int_t)all->rows), error);
}

static tacit_status run_predict(const tacit_arguments *arguments, tacit_console *console,
                                tacit_error *error) {
    tacit_model_use use = TACIT_MODEL_USE_INIT;
    tacit_pool *pool = NULL;
    answers all = { .scores = NULL };
    tacit_status status;
    TACIT_CHECK(tacit_model_use_load(&use, arguments, console, true, error));
    TACIT_CHECK(tacit_pool_create(&pool, 0, error));
    tacit_rows rows = tacit_dataset_rows(use.rows);
    all.model = use.model;
    all.rows = rows.count;
    all.each = tacit_model_scores_per_row(use.model);
    all.scores = TACIT_NEW(double, all.rows *all.each);
    all.columns = TACIT_NEW(double, tacit_model_outputs(use.model));
    if (all.scores == NULL || all.columns == NULL) TACIT_CHECK(tacit_fail_memory(error));
    TACIT_CHECK(tacit_model_scores(use.model, &rows, pool, all.scores, error));
    TACIT_CHECK(write_answers(&all, tacit_arguments_text(arguments, "out"), console, error));
cleanup:
    free(all.columns);
    free(all.scores);
    tacit_pool_free(pool);
    tacit_model_use_clear(&use);
    return status;
}

const tacit_command tacit_command_predict = {
    .name = "predict",
    .section = "Learning",
    .summary = "the predicted class of each row of a file, with probabilities",
    .description = "Writes CSV: the row's number from 1, the predicted class, and the probability of each "
                   "class. Rows are encoded by the schema inside the model; the label column may be missing.",
    .operands =
        (const tacit_operand[]){
            { "MODEL", 1, 1, "a model as 'tacit fit', 'tacit simulate --out' or a study wrote it" },
            { "FILE", 1, 1, "rows: " TACIT_SOURCES_HELP },
            { .name = NULL },
        },
    .options =
        (const tacit_option[]){
            TACIT_OPTIONS_READING,
            { .name = "out",
              .kind = TACIT_OPTION_FILE,
              .placeholder = "FILE",
              .help = "write there; to standard output by default" },
            { .name = NULL },
        },
    .examples =
        (const tacit_example[]){
            { "Predict for new rows.", "tacit predict model.json new-patients.csv --out predictions.csv" },
            { .text = NULL },
        },
    .run = run_predict,
};
