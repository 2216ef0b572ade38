/* A questionnaire from YAML, and answers to it: what follows a NUL byte goes to every item in turn. What is
 * accepted must yield a schema, and shows what it scores. */
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "data/schema/schema.h"
#include "person/instrument/instrument.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

static void answer(const tacit_instrument *made, const char *text) {
    const char *answers[TACIT_INSTRUMENT_ITEMS];
    bool shown[TACIT_INSTRUMENT_ITEMS];
    tacit_filled got;
    tacit_error error = TACIT_ERROR_INIT;
    for (size_t i = 0; i < made->item_count; i++) answers[i] = i % 3 == 2 ? NULL : text;
    tacit_instrument_shown(shown, made, answers);
    if (tacit_instrument_answer(&got, made, answers, &error) != TACIT_OK) {
        if (error.text[0] == 0) abort();
        return;
    }
    for (size_t i = 0; i < made->item_count; i++)
        if (got.shown[i] != shown[i] || (!shown[i] && got.cells[i] != NULL)) abort();
    tacit_filled_clear(&got);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    const uint8_t *end = length > 0 ? memchr(bytes, 0, length) : NULL;
    size_t text = end != NULL ? (size_t)(end - bytes) : length;
    tacit_instrument *made = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    if (sodium_init() < 0) abort();
    if (tacit_instrument_parse(&made, (const char *)bytes, text, "fuzz.yaml", &error) != TACIT_OK) {
        if (error.text[0] == 0) abort();
        return 0;
    }
    char *given = strndup(end != NULL ? (const char *)end + 1 : "", end != NULL ? length - text - 1 : 0);
    if (given == NULL) abort();
    answer(made, given);
    answer(made, "1");
    tacit_buffer out = TACIT_BUFFER_INIT;
    tacit_schema *schema = NULL;
    const char *label = made->score_count > 0 ? made->scores[0].name : made->items[0].name;
    if (tacit_instrument_schema(&out, made, label, NULL) == TACIT_OK)
        (void)tacit_schema_parse(&schema, tacit_buffer_text(&out), out.length, "schema", NULL);
    tacit_schema_free(schema);
    tacit_buffer_clear(&out);
    free(given);
    tacit_instrument_free(made);
    return 0;
}
