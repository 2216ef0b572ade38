/* A regression over three sites, whose rows are in memory; prints the table of coefficients as JSON.
 *     cc study.c $(pkg-config --cflags --libs tacit) -lm -o study && ./study FOLDER
 * The folder is the coordinator's, and has tumours.schema.yaml in it. */
#include <stdio.h>

#include <tacit/tacit.h>

#include "patients.h"

#define TRY(call)                                                                                            \
    if ((call) != TACIT_OK) return fprintf(stderr, "%s\n", error.text), 1

int main(int count, char **words) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_coordinator *coordinator = NULL;
    void *table = NULL;
    TRY(tacit_coordinator_start(&coordinator, count > 1 ? words[1] : "consortium", NULL, NULL, &error));
    TRY(tacit_study_create(coordinator, "tumours", "relapse ~ histology * stage + age", SITES, NULL, &error));
    for (int i = 0; i < SITES; i++) {
        const patients *at = patients_of(i);
        tacit_frame *own = NULL;
        TRY(tacit_frame_table(&own, PATIENTS, &error));
        TRY(tacit_frame_add_categories(own, "histology", at->kind, TACIT_VALUE_INT8, 0, 0, kinds, 3, &error));
        TRY(tacit_frame_add_texts(own, "stage", at->stage, &error));
        TRY(tacit_frame_add_numbers(own, "age", at->age, TACIT_VALUE_DOUBLE, 0, NULL, &error));
        TRY(tacit_frame_add_texts(own, "relapse", at->relapse, &error));
        TRY(tacit_study_site(coordinator, "tumours", at->site, own, NULL, &error));
    }
    TRY(tacit_study_watch(coordinator, "tumours", NULL, &error));
    TRY(tacit_study_fetch(&table, NULL, coordinator, "tumours", "table", &error));
    puts(table);
    tacit_bytes_free(table);
    tacit_coordinator_free(coordinator);
    return 0;
}
