/*
 * A private model of columns as a program has them: numbers, categories, dates, some of them missing.
 *
 *     cc mixed_table.c $(pkg-config --cflags --libs tacit) -o mixed_table
 *     ./mixed_table
 *
 * What is public about the columns is said by a schema, which is known without the rows.
 */
#include <math.h>
#include <stdio.h>

#include <tacit/tacit.h>

enum { PATIENTS = 200 };

static const char schema[] = "label: {name: relapse, classes: [\"no\", \"yes\"]}\n"
                             "columns:\n"
                             "  - {name: age, kind: number, low: 0, high: 100}\n"
                             "  - {name: stage, kind: category, levels: [I, II, III], missing: level}\n"
                             "  - {name: seen, kind: number, date: year, low: 2000, high: 2030}\n";

static struct patients {
    double age[PATIENTS];
    int8_t stage[PATIENTS]; /* -1: not known */
    int32_t seen[PATIENTS]; /* days since 1970-01-01 */
    bool relapse[PATIENTS];
} patients;

static void fill(struct patients *out) {
    for (int i = 0; i < PATIENTS; i++) {
        out->age[i] = i % 17 == 0 ? NAN : 30 + i % 50;
        out->stage[i] = (int8_t)(i * 7 % 4 - 1);
        out->seen[i] = 12000 + 30 * i;
        out->relapse[i] = out->stage[i] == 2 || i % 5 == 0;
    }
}

static tacit_status make_table(tacit_frame **out, const struct patients *from, tacit_error *error) {
    static const char *const stages[] = { "I", "II", "III" }, *const answers[] = { "no", "yes" };
    tacit_frame *table = NULL;
    tacit_status status = tacit_frame_table(&table, PATIENTS, error);
    if (status == TACIT_OK)
        status = tacit_frame_add_numbers(table, "age", from->age, TACIT_VALUE_DOUBLE, 0, NULL, error);
    if (status == TACIT_OK)
        status =
            tacit_frame_add_categories(table, "stage", from->stage, TACIT_VALUE_INT8, 0, 0, stages, 3, error);
    if (status == TACIT_OK) status = tacit_frame_add_dates(table, "seen", from->seen, NULL, error);
    if (status == TACIT_OK) /* false is the first level */
        status = tacit_frame_add_categories(table, "relapse", from->relapse, TACIT_VALUE_UINT8, 0, 0, answers,
                                            2, error);
    if (status == TACIT_OK)
        *out = table;
    else
        tacit_frame_free(table);
    return status;
}

int main(void) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_promise promise = TACIT_PROMISE_INIT;
    tacit_frame *table = NULL;
    tacit_options *about = NULL, *how = NULL;
    tacit_model *model = NULL;
    double probability[PATIENTS * 2];
    fill(&patients);
    tacit_status status = make_table(&table, &patients, &error);
    if (status == TACIT_OK) status = tacit_options_create(&about, &error);
    if (status == TACIT_OK) status = tacit_options_set(about, "schema-text", schema, &error);
    if (status == TACIT_OK) status = tacit_frame_describe(table, about, NULL, &error);
    if (status == TACIT_OK) status = tacit_options_create(&how, &error);
    if (status == TACIT_OK) status = tacit_options_set(how, "method", "plr", &error);
    if (status == TACIT_OK) status = tacit_options_set_number(how, "epsilon", 1, &error);
    if (status == TACIT_OK) status = tacit_options_set_number(how, "lambda", 0.05, &error);
    if (status == TACIT_OK) status = tacit_frame_fit(&model, table, how, NULL, NULL, &error);
    if (status == TACIT_OK) status = tacit_model_promise(&promise, model, &error);
    if (status == TACIT_OK)
        status = tacit_model_predict(probability, PATIENTS * 2, NULL, 0, model, table, 1, &error);
    if (status == TACIT_OK)
        printf("epsilon %g per record; the first patient relapses with probability %.2f\n", promise.epsilon,
               probability[1]);
    else
        fprintf(stderr, "%s\n", error.text);
    tacit_model_free(model);
    tacit_options_free(how);
    tacit_options_free(about);
    tacit_frame_free(table); /* and then the columns are the program's again */
    return tacit_status_exit_code(status);
}
