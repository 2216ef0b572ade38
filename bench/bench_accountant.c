/* Times the accountants on one account and prints a JSON line. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "privacy/account/accountant.h"

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

int main(int count, char **arguments) {
    if (count != 7) {
        fprintf(stderr, "usage: bench_accountant rdp|pld SAMPLING SIGMA RUNS DELTA REPEATS\n");
        return 2;
    }
    bool pld = arguments[1][0] == 'p';
    tacit_event event = tacit_event_sampled(
        tacit_event_gaussian(atof(arguments[3]), strtoull(arguments[4], NULL, 10)), atof(arguments[2]));
    double delta = atof(arguments[5]), epsilon = 0;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_accountant *accountant = NULL;
    tacit_status status = tacit_accountant_create(&accountant, TACIT_ADD_OR_REMOVE, &error);
    if (status == TACIT_OK) status = tacit_accountant_add(accountant, &event, &error);
    printf("{\"seconds\": [");
    for (int i = 0; i < atoi(arguments[6]) && status == TACIT_OK; i++) {
        double start = now();
        status = tacit_accountant_epsilon_by(
            &epsilon, accountant, pld ? TACIT_COMPOSITION_PLD : TACIT_COMPOSITION_RDP, delta, &error);
        printf("%s%.6f", i > 0 ? ", " : "", now() - start);
    }
    printf("], \"epsilon\": %.9g}\n", epsilon);
    tacit_accountant_free(accountant);
    if (status != TACIT_OK) fprintf(stderr, "%s\n", error.text);
    return tacit_status_exit_code(status);
}
