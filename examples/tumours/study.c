/* A regression over three sites: prints an invitation for each, waits for them, prints the table as JSON.
 *     cc study.c $(pkg-config --cflags --libs tacit) -o study && ./study FOLDER SCHEMA */
#include <stdio.h>
#include <string.h>

#include <tacit/tacit.h>

#define TRY(call)                                                                                            \
    if ((call) != TACIT_OK) return fprintf(stderr, "%s\n", error.text), 1

int main(int count, char **words) {
    const char *sites[] = { "Vienna", "Graz", "Linz" },
               *said[][2] = { { "name", "tumours" },
                              { "method", "estimate" },
                              { "parties", "3" },
                              { "formula", "relapse ~ histology * stage + age" },
                              { "schema", count > 2 ? words[2] : "" } };
    tacit_error error = TACIT_ERROR_INIT;
    tacit_coordinator *coordinator = NULL;
    tacit_options *options = NULL;
    char *yaml = NULL, *json = NULL;
    void *table = NULL;
    TRY(tacit_coordinator_start(&coordinator, words[1], NULL, NULL, &error));
    TRY(tacit_options_create(&options, &error));
    for (int i = 0; i < 5; i++) TRY(tacit_options_set(options, said[i][0], said[i][1], &error));
    TRY(tacit_study_draft(&yaml, options, &error));
    TRY(tacit_study_add(NULL, coordinator, yaml, NULL, &error));
    for (int i = 0; i < 3; i++) {
        tacit_options *site = NULL;
        TRY(tacit_options_create(&site, &error));
        TRY(tacit_options_set(site, "for", sites[i], &error));
        TRY(tacit_study_invite(&json, coordinator, "tumours", site, &error));
        char *line = strstr(strstr(json, "\"invitations\""), "tacit");
        printf("%s %.*s\n", sites[i], (int)strcspn(line, "\""), line);
        tacit_string_free(json);
        tacit_options_free(site);
    }
    fflush(stdout);
    TRY(tacit_study_watch(coordinator, "tumours", &(tacit_study_watcher){ NULL, NULL, NULL }, &error));
    TRY(tacit_study_fetch(&table, NULL, coordinator, "tumours", "table", &error));
    puts(table);
    tacit_bytes_free(table);
    tacit_string_free(yaml);
    tacit_options_free(options);
    tacit_coordinator_free(coordinator);
    return 0;
}
