/* A schema from YAML; what is accepted must survive being written and read again, byte for byte. */
#include <stdlib.h>
#include <string.h>

#include "data/schema/schema.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    tacit_schema *schema = NULL, *again = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    if (tacit_schema_parse(&schema, (const char *)bytes, length, "fuzz.yaml", &error) != TACIT_OK) {
        if (error.text[0] == 0) abort();
        return 0;
    }
    tacit_buffer text = TACIT_BUFFER_INIT, canonical = TACIT_BUFFER_INIT, repeated = TACIT_BUFFER_INIT;
    if (tacit_schema_print(schema, "comment", &text, NULL) != TACIT_OK) abort();
    if (tacit_schema_parse(&again, tacit_buffer_text(&text), text.length, "again", NULL) != TACIT_OK) abort();
    if (tacit_schema_canonical(schema, &canonical, NULL) != TACIT_OK) abort();
    if (tacit_schema_canonical(again, &repeated, NULL) != TACIT_OK) abort();
    if (strcmp(tacit_buffer_text(&canonical), tacit_buffer_text(&repeated)) != 0) abort();
    tacit_buffer_clear(&text);
    tacit_buffer_clear(&canonical);
    tacit_buffer_clear(&repeated);
    tacit_schema_free(schema);
    tacit_schema_free(again);
    return 0;
}
