/* A study's definition as it comes over the network. The canonical text is what is hashed and consented to,
 * so reading it must give the same bytes: else coordinator and party would disagree on what was agreed. */
#include <stdlib.h>
#include <string.h>

#include "study/study.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    tacit_study *study = NULL, *again = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    if (tacit_study_parse(&study, (const char *)bytes, length, "fuzz.yaml", &error) != TACIT_OK) {
        if (error.text[0] == 0) abort();
        return 0;
    }
    const tacit_buffer *text = &study->canonical;
    if (tacit_study_parse(&again, (const char *)text->bytes, text->length, "again", NULL) != TACIT_OK)
        abort();
    if (again->canonical.length != text->length) abort();
    if (memcmp(again->canonical.bytes, text->bytes, text->length) != 0) abort();
    if (memcmp(again->hash, study->hash, sizeof study->hash) != 0) abort();
    tacit_study_free(study);
    tacit_study_free(again);
    return 0;
}
