/* A rule for stopping and a list of candidates, as texts of a command line or a definition: what is accepted
 * says the same when printed and read again. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "outside.h"
#include "study/public_tuning.h"
#include "study/stop.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

static void try_stop(const char *text) {
    tacit_stop stop, again;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_buffer printed = TACIT_BUFFER_INIT;
    char sentence[TACIT_STOP_TEXT_SIZE];
    tacit_stop_verdict verdict = { 0.5, false };
    tacit_status status = tacit_stop_parse(&stop, text, &error);
    outside_explained(status, &error);
    if (status == TACIT_OK) {
        outside_must(tacit_stop_print(&stop, &printed, NULL));
        const char *line = tacit_buffer_text(&printed);
        if (strncmp(line, "stop: ", 6) == 0) {
            outside_must(tacit_stop_parse(&again, line + 6, NULL));
            if (again.target != stop.target || again.rounds != stop.rounds || again.looks != stop.looks ||
                again.more != stop.more || strcmp(again.column, stop.column) != 0)
                abort();
        }
        double power = tacit_stop_power(&stop, 0.1, 0.95, INFINITY);
        if (stop.target == TACIT_TARGET_POWER && !(power >= 0 && power <= 1)) abort();
        tacit_stop_text(sentence, &stop, &verdict);
    }
    tacit_buffer_clear(&printed);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    tacit_buffer text = TACIT_BUFFER_INIT;
    tacit_candidates candidates;
    tacit_error error = TACIT_ERROR_INIT;
    if (length == 0) return 0;
    outside_must(tacit_buffer_append(&text, bytes + 1, length - 1, NULL));
    if (bytes[0] == 'c') {
        tacit_status status = tacit_candidates_parse(&candidates, tacit_buffer_text(&text), &error);
        outside_explained(status, &error);
        for (size_t i = 0; status == TACIT_OK && i < candidates.count; i++)
            if (!(candidates.lambda[i] > 0) || isinf(candidates.lambda[i])) abort();
    } else {
        try_stop(tacit_buffer_text(&text));
    }
    tacit_buffer_clear(&text);
    return 0;
}
