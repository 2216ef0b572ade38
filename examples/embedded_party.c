/*
 * A device that takes part in a study with measurements that are only in its memory.
 *
 *     cc embedded_party.c $(pkg-config --cflags --libs tacit) -o embedded_party
 *     ./embedded_party FOLDER DEVICE FILE      the first time, with a file that holds the invitation
 *     ./embedded_party FOLDER DEVICE           after a restart: goes on where it stopped
 *
 * The study is embedded.study.yaml beside this file. What leaves the device is what the study's method sends,
 * never a measurement; before anything leaves, the ledger in FOLDER is charged, and refuses beyond the limit
 * that is set below.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tacit/tacit.h>

enum { MEASUREMENTS = 64, COLUMNS = 2 };

/* What the device has seen, newest last; single precision, as sensors often deliver it. */
typedef struct device {
    float value[MEASUREMENTS][COLUMNS]; /* degrees Celsius, millimetres per second */
    int32_t failed[MEASUREMENTS];       /* did the pump fail within a day? 0: no, 1: yes */
} device;

/* Stands in for the sensors: the warmer and the shakier, the more failures. */
static void measure(device *self, unsigned number) {
    srand(number);
    for (int i = 0; i < MEASUREMENTS; i++) {
        double heat = rand() / (double)RAND_MAX, shake = rand() / (double)RAND_MAX;
        self->value[i][0] = (float)(20 + 60 * heat);
        self->value[i][1] = (float)(10 * shake);
        self->failed[i] = heat + shake > 1;
    }
}

/* Lend the measurements to the library, and say what is public about them: the same as the study's schema. */
static tacit_status describe(tacit_frame **out, const device *self, tacit_error *error) {
    static const char *const names[COLUMNS] = { "temperature", "vibration" };
    static const char *const classes[] = { "no", "yes" };
    static const double low[COLUMNS] = { 0, 0 }, high[COLUMNS] = { 100, 20 };
    tacit_frame *frame = NULL;
    tacit_status status = tacit_frame_dense(&frame, self->value, TACIT_NUMBER_FLOAT, MEASUREMENTS, COLUMNS,
                                            sizeof self->value[0], sizeof self->value[0][0], error);
    if (status == TACIT_OK) status = tacit_frame_set_names(frame, names, error);
    if (status == TACIT_OK) status = tacit_frame_set_bounds(frame, low, high, true, error);
    if (status == TACIT_OK) status = tacit_frame_set_classes(frame, self->failed, 2, classes, error);
    if (status == TACIT_OK)
        *out = frame;
    else
        tacit_frame_free(frame);
    return status;
}

/* What may be lost in all, whatever is asked, by whomever: an epsilon of 3. Set once, before the first
 * study. */
static tacit_status limit(const char *folder, tacit_error *error) {
    char path[4096];
    tacit_ledger *ledger = NULL;
    snprintf(path, sizeof path, "%s/ledger.db", folder);
    tacit_status status = tacit_ledger_at(&ledger, path, "pump", error);
    if (status == TACIT_OK) status = tacit_ledger_limit(ledger, false, 3, 1e-6, error);
    tacit_ledger_free(ledger);
    return status;
}

/* Look at the study, consent if the rules above allow it, and join. */
static tacit_status join(tacit_site **out, const char *folder, const char *invitation,
                         const tacit_frame *frame, const tacit_site_listener *listener, tacit_error *error) {
    tacit_options *options = NULL;
    tacit_site *site = NULL;
    char *terms = NULL;
    tacit_status status = tacit_options_create(&options, error);
    if (status == TACIT_OK) status = tacit_options_set(options, "home", folder, error);
    if (status == TACIT_OK && invitation != NULL)
        status = tacit_options_set(options, "source", "pump", error);
    if (status == TACIT_OK)
        status = invitation != NULL ? tacit_site_invited(&site, invitation, frame, options, listener, error)
                                    : tacit_site_joined(&site, "pumps", frame, options, listener, error);
    /* A device with a screen would show this to its owner and wait for a word. */
    if (status == TACIT_OK) status = tacit_site_document(&terms, site, error);
    if (status == TACIT_OK && invitation != NULL) printf("%s\n", terms);
    if (status == TACIT_OK && invitation != NULL) status = tacit_site_accept(site, error);
    tacit_string_free(terms);
    tacit_options_free(options);
    if (status == TACIT_OK)
        *out = site;
    else
        tacit_site_free(site);
    return status;
}

/* What the finished model makes of the newest measurement. */
static tacit_status use(const tacit_model *model, const device *self, tacit_error *error) {
    tacit_frame *newest = NULL;
    double probability[2];
    tacit_status status = tacit_frame_dense(&newest, self->value[MEASUREMENTS - 1], TACIT_NUMBER_FLOAT, 1,
                                            COLUMNS, 0, sizeof(float), error);
    if (status == TACIT_OK) status = tacit_model_predict(probability, 2, NULL, 0, model, newest, 1, error);
    if (status == TACIT_OK) printf("the pump fails within a day with probability %.2f\n", probability[1]);
    tacit_frame_free(newest);
    return status;
}

static void notify(void *context, const char *line) {
    (void)context;
    fprintf(stderr, "%s\n", line);
    fflush(stderr);
}

/* An invitation is as secret as a password, so it is read from a file: arguments can be read by others. NULL:
 * it cannot be read. */
static const char *read_invitation(const char *path) {
    static char text[16384];
    FILE *file = fopen(path, "r");
    if (file == NULL) return NULL;
    size_t length = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[length] = 0;
    return text;
}

int main(int count, char **words) {
    tacit_error error = TACIT_ERROR_INIT;
    const tacit_site_listener listener = { .news = notify };
    static device pump;
    tacit_frame *frame = NULL;
    tacit_site *site = NULL;
    tacit_model *model = NULL;
    if (count != 3 && count != 4) {
        fprintf(stderr, "usage: embedded_party FOLDER DEVICE [FILE]\n");
        return 2;
    }
    const char *folder = words[1], *invitation = count == 4 ? read_invitation(words[3]) : NULL;
    if (count == 4 && invitation == NULL) {
        perror(words[3]);
        return 1;
    }
    measure(&pump, (unsigned)strtoul(words[2], NULL, 10));

    tacit_status status = describe(&frame, &pump, &error);
    if (status == TACIT_OK && invitation != NULL) status = limit(folder, &error);
    if (status == TACIT_OK) status = join(&site, folder, invitation, frame, &listener, &error);
    if (status == TACIT_OK) notify(NULL, "joined; waiting for questions");
    if (status == TACIT_OK) status = tacit_site_answer(&model, site, &error); /* until the study ends */
    if (status == TACIT_OK) status = use(model, &pump, &error);

    if (status != TACIT_OK) fprintf(stderr, "%s\n", error.text);
    tacit_model_free(model);
    tacit_site_free(site);
    tacit_frame_free(frame); /* after the site: it has borrowed the frame, and the frame the measurements */
    return tacit_status_exit_code(status);
}
