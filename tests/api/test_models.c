/* Fits, models, ledgers and documents through the public header; where the program says the same, byte for
 * byte what it prints. */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include "library.h"

static sample made;

static int make(void **state) {
    (void)state;
    sample_make(&made);
    return 0;
}

/* ---- fits ---- */

static void every_method_that_needs_nobody_else_fits(void **state) {
    (void)state;
    static const struct {
        const char *method, *setting;
    } ways[] = { { "output", NULL },         { "plr", NULL },   { "gop", NULL },
                 { "output", "loss=huber" }, { "pst-s", NULL }, { "pst-f", "groups=2" } };
    tacit_frame *frame = bounded_frame(&made);
    for (size_t k = 0; k < sizeof ways / sizeof *ways; k++) {
        tacit_error error = TACIT_ERROR_INIT;
        tacit_options *options = OPTIONS("method", ways[k].method, "epsilon", "3", "delta",
                                         strcmp(ways[k].method, "gop") == 0 ? "1e-5" : "0");
        tacit_model *model = NULL;
        char *text = NULL;
        if (ways[k].setting != NULL)
            CHECK_OK(tacit_options_set(options, "set", ways[k].setting, &error), error);
        CHECK_OK(tacit_frame_fit(&model, frame, options, NULL, NULL, &error), error);
        CHECK_OK(tacit_model_document(&text, model, &error), error);
        assert_non_null(strstr(text, "\"private\": true"));
        assert_non_null(strstr(text, "\"noise\": \"exact\""));
        assert_non_null(strstr(text, "\"epsilon\": 3.0"));
        tacit_string_free(text);
        tacit_model_free(model);
        tacit_options_free(options);
    }
    tacit_frame_free(frame);
}

static void a_model_says_when_it_is_not_private(void **state) {
    (void)state;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_frame *frame = bounded_frame(&made);
    tacit_model *model = fit_seeded(frame), *loaded = NULL;
    char *text = NULL, *json = model_text(model);
    CHECK_OK(tacit_model_from_json(&loaded, json, strlen(json), &error), error);
    CHECK_OK(tacit_model_document(&text, loaded, &error), error);
    assert_non_null(strstr(text, "\"private\": false"));
    assert_non_null(strstr(text, "\"noise\": \"simulated\""));
    tacit_string_free(text);
    tacit_string_free(json);
    tacit_model_free(loaded);
    tacit_model_free(model);
    CHECK_OK(tacit_frame_set_bounds_from_data(frame, true, &error), error);
    model = fit_with(frame, OPTIONS("method", "output", "epsilon", "1"));
    CHECK_OK(tacit_model_document(&text, model, &error), error);
    assert_non_null(strstr(text, "\"private\": false"));
    assert_non_null(strstr(text, "\"charged\": null"));
    tacit_string_free(text);
    tacit_model_free(model);
    tacit_frame_free(frame);
}

static void a_seed_is_repeatable_on_any_number_of_threads(void **state) {
    (void)state;
    tacit_frame *frame = bounded_frame(&made);
    char *text[2];
    for (int k = 0; k < 2; k++) {
        tacit_model *model = fit_with(
            frame, OPTIONS("method", "plr", "epsilon", "2", "seed", "9", "threads", k == 0 ? "1" : "3"));
        text[k] = model_text(model);
        tacit_model_free(model);
    }
    assert_string_equal(text[0], text[1]);
    tacit_string_free(text[0]);
    tacit_string_free(text[1]);
    tacit_frame_free(frame);
}

static void wrong_options_are_told(void **state) {
    (void)state;
    static const struct {
        const char *name, *value, *says;
    } wrong[] = { { "epsilom", "1", "fit has no option 'epsilom'; it has method" },
                  { "train", "a.csv", "no option 'train'" },
                  { "epsilon", "0", "the option 'epsilon' must be above 0" },
                  { "epsilon", "many", "the option 'epsilon' takes a number, not 'many'" },
                  { "method", "batch", "method batch is not private" },
                  { "method", "avg", "needs others" },
                  { "method", "magic", "no method is called 'magic'" },
                  { "lambda", "-2", "the option 'lambda' is a number above 0" },
                  { "set", "x", "the option 'set' takes a name" } };
    tacit_frame *frame = bounded_frame(&made);
    tacit_model *model = NULL;
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
        tacit_error error = TACIT_ERROR_INIT;
        tacit_options *options = NULL;
        CHECK_OK(tacit_options_create(&options, &error), error);
        CHECK_OK(tacit_options_set(options, wrong[k].name, wrong[k].value, &error), error);
        if (strcmp(wrong[k].name, "method") != 0)
            CHECK_OK(tacit_options_set(options, "method", "output", &error), error);
        if (strcmp(wrong[k].name, "epsilon") != 0)
            CHECK_OK(tacit_options_set(options, "epsilon", "1", &error), error);
        CHECK_FAILS(tacit_frame_fit(&model, frame, options, NULL, NULL, failed), TACIT_USAGE, wrong[k].says);
        tacit_options_free(options);
    }
    tacit_options *none = NULL;
    CHECK_FAILS(tacit_frame_fit(&model, frame, none, NULL, NULL, failed), TACIT_USAGE,
                "fit needs the option 'method'");
    assert_null(model);
    tacit_frame_free(frame);
}

static bool is_cancelled(void *context) {
    (void)context;
    return true;
}

static void a_cancelled_call_gives_nothing(void **state) {
    (void)state;
    const tacit_progress progress = { .cancelled = is_cancelled };
    tacit_frame *frame = bounded_frame(&made);
    tacit_options *fit = OPTIONS("method", "output", "epsilon", "1"),
                  *simulate = OPTIONS("method", "avg", "epsilon", "1", "parties", "3");
    tacit_model *model = NULL;
    char *json = NULL;
    CHECK_FAILS(tacit_frame_fit(&model, frame, fit, NULL, &progress, failed), TACIT_CANCELLED, "interrupted");
    CHECK_FAILS(tacit_frame_simulate(&json, &model, frame, NULL, NULL, NULL, simulate, &progress, failed),
                TACIT_CANCELLED, "interrupted");
    assert_null(model);
    assert_null(json);
    tacit_options_free(fit);
    tacit_options_free(simulate);
    tacit_frame_free(frame);
}

/* ---- what models make of rows ---- */

static void coefficients_reproduce_scores(void **state) {
    (void)state;
    tacit_error error = TACIT_ERROR_INIT;
    static double probability[ROWS][2];
    static int32_t label[ROWS];
    double out[COLUMNS + 1];
    tacit_frame *frame = bounded_frame(&made);
    tacit_model *model = fit_seeded(frame);
    assert_int_equal(tacit_model_outputs(model), 2);
    assert_int_equal(tacit_model_columns(model), COLUMNS);
    CHECK_OK(tacit_model_predict(&probability[0][0], ROOM(probability), label, ROWS, model, frame, 2, &error),
             error);
    CHECK_OK(tacit_model_coefficients(out, ROOM(out), model, &error), error);
    for (size_t i = 0; i < ROWS; i++) {
        double score = out[COLUMNS];
        for (size_t j = 0; j < COLUMNS; j++) score += out[j] * made.value[i][j];
        CHECK_NEAR(probability[i][1], 1 / (1 + exp(-score)), 1e-12);
        CHECK_NEAR(probability[i][0] + probability[i][1], 1, 1e-12);
        assert_int_equal(label[i], score > 0);
    }
    tacit_frame_free(frame);
    CHECK_OK(
        tacit_frame_dense(&frame, made.value, TACIT_NUMBER_DOUBLE, ROWS, 2, sizeof made.value[0], 8, &error),
        error);
    CHECK_FAILS(tacit_model_predict(&probability[0][0], ROOM(probability), NULL, 0, model, frame, 1, failed),
                TACIT_USAGE, "2 columns where 4 belong");
    tacit_frame_free(frame);
    tacit_model_free(model);
}

static void several_classes_have_a_row_of_coefficients_each(void **state) {
    (void)state;
    tacit_error error = TACIT_ERROR_INIT;
    static double probability[ROWS][3];
    static int32_t third[ROWS];
    static const char *const names[] = { "low", "middle", "high" };
    double out[3][COLUMNS + 1];
    for (size_t i = 0; i < ROWS; i++) third[i] = made.response[i] < -1 ? 0 : made.response[i] < 1 ? 1 : 2;
    tacit_frame *frame = bounded_frame(&made);
    CHECK_OK(tacit_frame_set_classes(frame, third, 3, names, &error), error);
    tacit_model *model = fit_seeded(frame);
    CHECK_OK(tacit_model_predict(&probability[0][0], ROOM(probability), NULL, 0, model, frame, 1, &error),
             error);
    CHECK_OK(tacit_model_coefficients(&out[0][0], ROOM(out), model, &error), error);
    double sum = 0, score[3];
    for (size_t k = 0; k < 3; k++) {
        score[k] = out[k][COLUMNS];
        for (size_t j = 0; j < COLUMNS; j++) score[k] += out[k][j] * made.value[0][j];
        sum += exp(score[k]);
    }
    for (size_t k = 0; k < 3; k++) CHECK_NEAR(probability[0][k], exp(score[k]) / sum, 1e-12);
    tacit_model_free(model);
    tacit_frame_free(frame);
}

/* Such a model is made elsewhere: two rows of weights for two classes, and one of coefficients. */
static void two_classes_have_one_row_of_coefficients(void **state) {
    (void)state;
    static const char json[] = "{\"format\": \"tacit-model\", \"version\": 1, \"loss\": \"softmax\", "
                               "\"features\": 2, \"classes\": 2, "
                               "\"weights\": [0.5, 1, 2.5, -1], \"class_names\": [\"no\", \"yes\"], "
                               "\"schema\": \"label: {name: y, classes: ['no', 'yes']}\\ncolumns:\\n"
                               "  - {name: a, kind: number, low: -1, high: 3}\\n\", "
                               "\"guarantee\": {\"method\": \"\", \"study\": \"\", \"private\": false, "
                               "\"parties\": 0, \"lambda\": 0.0}}";
    tacit_error error = TACIT_ERROR_INIT;
    double out[] = { 0, 0, 17, 17 }, probability[ROWS][2];
    tacit_model *model = NULL;
    tacit_frame *frame = NULL;
    CHECK_OK(tacit_model_from_json(&model, json, strlen(json), &error), error);
    CHECK_OK(tacit_frame_dense(&frame, made.value, TACIT_NUMBER_DOUBLE, ROWS, 1, sizeof made.value[0],
                               sizeof(double), &error),
             error);
    CHECK_OK(tacit_model_predict(&probability[0][0], ROOM(probability), NULL, 0, model, frame, 1, &error),
             error);
    CHECK_OK(tacit_model_coefficients(out, ROOM(out), model, &error), error);
    assert_true(out[2] == 17 && out[3] == 17);
    for (size_t i = 0; i < ROWS; i++)
        CHECK_NEAR(probability[i][1], 1 / (1 + exp(-out[0] * made.value[i][0] - out[1])), 1e-12);
    tacit_model_free(model);
    tacit_frame_free(frame);
}

/* ---- beside the program ---- */

static char folder[64];

static int make_folder(void **state) {
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/tacit_api_XXXXXX");
    return mkdtemp(folder) != NULL ? 0 : -1;
}

static int remove_folder(void **state) {
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command);
}

/* What the program prints; to be freed. */
static char *tacit(const char *words) {
    char command[2048];
    size_t used = 0, size = 1 << 20;
    char *out = malloc(size);
    snprintf(command, sizeof command, "OPENBLAS_NUM_THREADS=1 '%s' %s", getenv("TACIT"), words);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    assert_non_null(out);
    for (size_t got; (got = fread(out + used, 1, size - used - 1, pipe)) > 0;) used += got;
    out[used] = 0;
    assert_int_equal(pclose(pipe), 0);
    return out;
}

static void check_printed(const char *words, char *text) {
    char *printed = tacit(words);
    assert_int_equal(strlen(printed), strlen(text) + 1); /* and the line's end */
    assert_memory_equal(printed, text, strlen(text));
    free(printed);
    tacit_string_free(text);
}

static void documents_are_what_the_program_prints(void **state) {
    (void)state;
    tacit_error error = TACIT_ERROR_INIT;
    char *text = NULL;
    CHECK_OK(tacit_methods_document(&text, &error), error);
    check_printed("methods --json", text);
    tacit_options *options = OPTIONS("method", "avg", "epsilon", "2", "parties", "5", "set", "noise=party");
    CHECK_OK(tacit_explain_document(&text, options, &error), error);
    check_printed("explain avg --epsilon 2 --parties 5 --set noise=party --json", text);
    tacit_options_free(options);
    options = OPTIONS("method", "laplace", "epsilon", "1", "runs", "2000", "seed", "3");
    CHECK_OK(tacit_audit_document(&text, options, NULL, &error), error);
    check_printed("audit laplace --epsilon 1 --runs 2000 --seed 3 --json", text);
    tacit_options_free(options);
}

/* All but how long it took. */
static void blank_seconds(char *text) {
    for (char *at = text; (at = strstr(at, "\"seconds\": ")) != NULL;) {
        at += strlen("\"seconds\": ");
        size_t length = strcspn(at, ",\n");
        memmove(at, at + length, strlen(at + length) + 1);
    }
}

/* The same document as the program's; `tested`: on rows that are brought, so that none is held out of those
 * to train on. */
static void check_simulation(bool tested) {
    tacit_error error = TACIT_ERROR_INIT;
    char path[512], words[2048], *text = NULL;
    tacit_frame *frame = NULL;
    tacit_model *model = NULL;
    snprintf(path, sizeof path, "%s/breast_cancer.schema.yaml", getenv("TACIT_EXAMPLES"));
    tacit_options *reading = OPTIONS("schema", path),
                  *options = OPTIONS("method", "batch,avg,plr", "epsilon", "1,4", "parties", "5", "lambda",
                                     "0.05", "trials", "2", "seed", "11");
    snprintf(path, sizeof path, "%s/breast_cancer.csv", getenv("TACIT_EXAMPLES"));
    CHECK_OK(tacit_frame_load(&frame, path, reading, NULL, &error), error);
    CHECK_FAILS(tacit_frame_refuse_missing(frame, failed), TACIT_USAGE, "missing values of a file");
    assert_int_equal(tacit_frame_rows(frame), 569);
    CHECK_OK(
        tacit_frame_simulate(&text, &model, frame, tested ? frame : NULL, NULL, NULL, options, NULL, &error),
        error);
    snprintf(
        words, sizeof words,
        "simulate --train '%s' --schema '%s/breast_cancer.schema.yaml' --method batch,avg,plr --epsilon 1,4 "
        "--parties 5 --lambda 0.05 --trials 2 --seed 11 --json%s%s%s",
        path, getenv("TACIT_EXAMPLES"), tested ? " --test '" : "", tested ? path : "", tested ? "'" : "");
    char *printed = tacit(words);
    blank_seconds(printed);
    blank_seconds(text);
    printed[strlen(printed) - 1] = 0;
    assert_string_equal(printed, text);
    free(printed);
    tacit_string_free(text);
    tacit_model_free(model);
    tacit_frame_free(frame);
    tacit_options_free(options);
    tacit_options_free(reading);
}

static void a_simulation_is_the_programs(void **state) {
    (void)state;
    check_simulation(false);
    check_simulation(true);
}

/* The first rows of the sample and their classes as a file in the folder. */
static void write_rows(const char *path, size_t count) {
    FILE *rows = fopen(path, "w");
    assert_non_null(rows);
    fputs("x1,x2,x3,x4,label\n", rows);
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < COLUMNS; j++) fprintf(rows, "%.17g,", made.value[i][j]);
        fprintf(rows, "%d\n", made.label[i]);
    }
    fclose(rows);
}

/* A frame of a file reads it again by the schema of a model: results are as many as the frame said it has
 * rows. */
static void a_file_that_changed_is_not_predicted_for(void **state) {
    (void)state;
    tacit_error error = TACIT_ERROR_INIT;
    static double probability[ROWS][2];
    char path[128];
    tacit_frame *frame = bounded_frame(&made), *file = NULL;
    tacit_model *model = fit_seeded(frame);
    snprintf(path, sizeof path, "%s/rows.csv", folder);
    write_rows(path, ROWS);
    CHECK_OK(tacit_frame_load(&file, path, NULL, NULL, &error), error);
    CHECK_OK(tacit_model_predict(&probability[0][0], ROOM(probability), NULL, 0, model, file, 1, &error),
             error);
    write_rows(path, ROWS - 1);
    CHECK_FAILS(tacit_model_predict(&probability[0][0], ROOM(probability), NULL, 0, model, file, 1, failed),
                TACIT_INPUT, "rows.csv has changed since it was loaded, from 300 rows to 299");
    tacit_frame_free(file);
    tacit_frame_free(frame);
    tacit_model_free(model);
}

/* A model's schema that says `missing: error` holds for rows in memory, too, those it is tested on among
 * them. */
static void a_schema_may_refuse_missing_values(void **state) {
    (void)state;
    static sample holes;
    static double probability[ROWS][2];
    tacit_error error = TACIT_ERROR_INIT;
    char path[128], schema[128], *json = NULL;
    tacit_frame *train = NULL;
    tacit_model *none = NULL;
    snprintf(path, sizeof path, "%s/rows.csv", folder);
    snprintf(schema, sizeof schema, "%s/schema.yaml", folder);
    write_rows(path, ROWS);
    FILE *file = fopen(schema, "w");
    assert_non_null(file);
    fputs("label: {name: label, classes: ['0', '1']}\nmissing: error\ncolumns:\n", file);
    for (size_t j = 0; j < COLUMNS; j++)
        fprintf(file, "  - {name: x%zu, kind: number, low: -1, high: 3}\n", j + 1);
    fclose(file);
    tacit_options *reading = OPTIONS("schema", schema),
                  *simulation = OPTIONS("method", "avg", "epsilon", "1", "parties", "3");
    CHECK_OK(tacit_frame_load(&train, path, reading, NULL, &error), error);
    tacit_model *model = fit_seeded(train);
    holes = made;
    tacit_frame *frame = bounded_frame(&holes);
    CHECK_OK(tacit_model_predict(&probability[0][0], ROOM(probability), NULL, 0, model, frame, 1, &error),
             error);
    holes.value[41][2] = NAN;
    CHECK_FAILS(tacit_model_predict(&probability[0][0], ROOM(probability), NULL, 0, model, frame, 1, failed),
                TACIT_INPUT, "row 42, column x3: NaN");
    CHECK_FAILS(tacit_frame_simulate(&json, &none, train, frame, NULL, NULL, simulation, NULL, failed),
                TACIT_INPUT, "row 42, column x3: NaN");
    assert_null(json);
    tacit_options_free(reading);
    tacit_options_free(simulation);
    tacit_frame_free(train);
    tacit_frame_free(frame);
    tacit_model_free(model);
}

/* The model of a frame, saved, predicts from a CSV file of the same rows what the library predicts from
 * memory. */
static void a_saved_model_predicts_the_same_from_a_file(void **state) {
    (void)state;
    tacit_error error = TACIT_ERROR_INIT;
    static double probability[ROWS][2];
    char path[128], words[512];
    tacit_frame *frame = bounded_frame(&made), *file = NULL;
    tacit_model *model = fit_seeded(frame), *loaded = NULL;
    CHECK_OK(tacit_model_predict(&probability[0][0], ROOM(probability), NULL, 0, model, frame, 1, &error),
             error);
    snprintf(path, sizeof path, "%s/rows.csv", folder);
    FILE *rows = fopen(path, "w");
    assert_non_null(rows);
    fputs("x1,x2,x3,x4\n", rows);
    for (size_t i = 0; i < ROWS; i++)
        for (size_t j = 0; j < COLUMNS; j++)
            fprintf(rows, "%.17g%c", made.value[i][j], j + 1 < COLUMNS ? ',' : '\n');
    fclose(rows);
    snprintf(path, sizeof path, "%s/model.json", folder);
    CHECK_OK(tacit_model_save(model, path, &error), error);
    CHECK_OK(tacit_model_load(&loaded, path, &error), error);
    snprintf(words, sizeof words, "predict '%s/model.json' '%s/rows.csv'", folder, folder);
    char *printed = tacit(words), *line = strchr(printed, '\n');
    for (size_t i = 0; i < ROWS; i++) {
        double first, second;
        size_t row;
        char label[8];
        assert_non_null(line);
        assert_int_equal(sscanf(line + 1, "%zu,%7[^,],%lf,%lf", &row, label, &first, &second), 4);
        assert_true(first == probability[i][0] && second == probability[i][1]);
        line = strchr(line + 1, '\n');
    }
    free(printed);
    tacit_frame_free(frame);
    tacit_model_free(model);
    tacit_model_free(loaded);
    tacit_frame_free(file);
}

static void models_are_exported(void **state) {
    (void)state;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_frame *frame = bounded_frame(&made);
    tacit_model *model = fit_seeded(frame);
    void *bytes = NULL;
    char *xml = NULL;
    size_t length = 0;
    CHECK_OK(tacit_model_to_onnx(&bytes, &length, model, &error), error);
    CHECK_OK(tacit_model_to_pmml(&xml, model, &error), error);
    assert_true(length > 100);
    assert_non_null(strstr(xml, "<PMML"));
    tacit_bytes_free(bytes);
    tacit_string_free(xml);
    tacit_model_free(model);
    tacit_frame_free(frame);
}

/* ---- ledgers ---- */

static void a_ledger_is_charged_once_and_refuses_beyond_its_limit(void **state) {
    (void)state;
    tacit_error error = TACIT_ERROR_INIT;
    char path[128], *text[2], *json = NULL;
    snprintf(path, sizeof path, "%s/ledger.db", folder);
    tacit_frame *frame = bounded_frame(&made);
    tacit_options *cheap = OPTIONS("method", "output", "epsilon", "1"),
                  *dear = OPTIONS("method", "output", "epsilon", "2"),
                  *seeded = OPTIONS("method", "output", "epsilon", "1", "seed", "1");
    tacit_model *model = NULL;
    tacit_ledger *ledger = NULL;
    CHECK_OK(tacit_ledger_at(&ledger, path, "patients", &error), error);
    CHECK_FAILS(tacit_frame_fit(&model, frame, cheap, ledger, NULL, failed), TACIT_REFUSED,
                "no limit is set for patients");
    CHECK_OK(tacit_ledger_limit(ledger, false, 2.5, 0, &error), error);
    for (int k = 0; k < 2; k++) {
        CHECK_OK(tacit_frame_fit(&model, frame, cheap, ledger, NULL, &error), error);
        text[k] = model_text(model);
        model = tacit_model_free(model);
    }
    assert_string_equal(text[0], text[1]); /* the same request: the same model, one charge */
    CHECK_FAILS(tacit_frame_fit(&model, frame, dear, ledger, NULL, failed), TACIT_REFUSED,
                "limit of patients");
    CHECK_FAILS(tacit_frame_fit(&model, frame, seeded, ledger, NULL, failed), TACIT_USAGE, "seed");
    CHECK_OK(tacit_frame_set_bounds_from_data(frame, true, &error), error);
    CHECK_FAILS(tacit_frame_fit(&model, frame, cheap, ledger, NULL, failed), TACIT_REFUSED,
                "read off the rows");
    CHECK_OK(tacit_ledger_document(&json, ledger, &error), error);
    char *charge = strstr(json, "\"entry\": \"charge\"");
    assert_non_null(charge);
    assert_null(strstr(charge + 1, "\"entry\": \"charge\""));
    tacit_string_free(json);
    CHECK_OK(tacit_ledger_verdict(&json, ledger, &error), error);
    assert_non_null(strstr(json, "\"sound\": true"));
    CHECK_FAILS(tacit_ledger_limit(ledger, false, -1, 0, failed), TACIT_USAGE, "limit");
    tacit_string_free(json);
    tacit_string_free(text[0]);
    tacit_string_free(text[1]);
    tacit_ledger_free(ledger);
    tacit_options_free(cheap);
    tacit_options_free(dear);
    tacit_options_free(seeded);
    tacit_frame_free(frame);
}

/* ---- several threads ---- */

static void *fit_in_thread(void *context) {
    const tacit_frame *frame = context;
    tacit_options *options = NULL;
    tacit_model *model = NULL;
    bool good = tacit_options_create(&options, NULL) == TACIT_OK &&
                tacit_options_set(options, "method", "gop", NULL) == TACIT_OK &&
                tacit_options_set(options, "epsilon", "1", NULL) == TACIT_OK &&
                tacit_options_set(options, "delta", "1e-6", NULL) == TACIT_OK &&
                tacit_frame_fit(&model, frame, options, NULL, NULL, NULL) == TACIT_OK;
    tacit_model_free(model);
    tacit_options_free(options);
    return good ? context : NULL;
}

static void threads_may_start_at_once(void **state) {
    (void)state;
    enum { THREADS = 4 };
    pthread_t thread[THREADS];
    tacit_frame *frame[THREADS];
    for (int k = 0; k < THREADS; k++) {
        frame[k] = bounded_frame(&made);
        assert_int_equal(pthread_create(&thread[k], NULL, fit_in_thread, frame[k]), 0);
    }
    for (int k = 0; k < THREADS; k++) {
        void *good = NULL;
        pthread_join(thread[k], &good);
        assert_non_null(good);
        tacit_frame_free(frame[k]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_may_start_at_once), /* first: nothing has been started yet */
        cmocka_unit_test(every_method_that_needs_nobody_else_fits),
        cmocka_unit_test(a_model_says_when_it_is_not_private),
        cmocka_unit_test(a_seed_is_repeatable_on_any_number_of_threads),
        cmocka_unit_test(wrong_options_are_told),
        cmocka_unit_test(a_cancelled_call_gives_nothing),
        cmocka_unit_test(coefficients_reproduce_scores),
        cmocka_unit_test(several_classes_have_a_row_of_coefficients_each),
        cmocka_unit_test(two_classes_have_one_row_of_coefficients),
        cmocka_unit_test(documents_are_what_the_program_prints),
        cmocka_unit_test(a_simulation_is_the_programs),
        cmocka_unit_test_setup_teardown(a_saved_model_predicts_the_same_from_a_file, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(a_schema_may_refuse_missing_values, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(a_file_that_changed_is_not_predicted_for, make_folder, remove_folder),
        cmocka_unit_test(models_are_exported),
        cmocka_unit_test_setup_teardown(a_ledger_is_charged_once_and_refuses_beyond_its_limit, make_folder,
                                        remove_folder),
    };
    return cmocka_run_group_tests(tests, make, NULL);
}
