/* An archive of documents, and the words of each: any bytes are either read or refused with a sentence. */
#include <stdlib.h>
#include <string.h>

#include "data/schema/vocabulary.h"
#include "data/source/documents.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

static void check_bag(const tacit_bag *bag, size_t buckets) {
    double square = 0;
    for (size_t k = 0; k < bag->count; k++) {
        if (bag->feature[k] >= buckets || !(bag->value[k] > 0)) abort();
        square += bag->value[k] * bag->value[k];
    }
    if (bag->count > 0 && !(square > 0.999 && square < 1.001)) abort();
}

static void encode(const char *text, size_t length, unsigned grams, tacit_strip strip) {
    tacit_vocabulary hashed = { grams, strip, 97, TACIT_LEVELS_INIT, NULL };
    tacit_bag bag = TACIT_BAG_INIT;
    if (tacit_vocabulary_encode(&hashed, text, length, &bag, NULL) == TACIT_OK) check_bag(&bag, 97);
    tacit_bag_clear(&bag);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    tacit_documents *documents = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    encode((const char *)bytes, length, 2, TACIT_STRIP_NOTHING);
    encode((const char *)bytes, length, 1, TACIT_STRIP_NEWS);
    if (tacit_documents_open_memory(&documents, bytes, length, "fuzz", &error) != TACIT_OK) return 0;
    for (size_t i = 0; i < 1000; i++) {
        tacit_document one;
        tacit_status status = tacit_documents_next(documents, &one, &error);
        if ((status != TACIT_OK) != (error.text[0] != 0)) abort();
        if (status != TACIT_OK || one.path == NULL) break;
        if (strlen(one.text) != one.length) abort();
        encode(one.text, one.length, 2, TACIT_STRIP_NEWS);
    }
    tacit_documents_free(documents);
    return 0;
}
