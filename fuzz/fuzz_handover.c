/* The chain of hand-over statements that a coordinator shows and a party keeps. The first byte says how: 'r',
 * the bytes are all there is; 'c', an honest chain of two statements is changed as they say. */
#include <stdlib.h>
#include <string.h>

#include "net/handover.h"
#include "outside.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

static tacit_handovers honest;

static void make_honest(void) {
    tacit_authority *second = NULL, *third = NULL;
    if (honest.count > 0) return;
    outside_must(tacit_authority_create(&second, outside_path("second"), "test", NULL));
    outside_must(tacit_authority_create(&third, outside_path("third"), "test", NULL));
    outside_must(tacit_handovers_add(&honest, outside_authority(), second, 1000, 2000, false, NULL));
    outside_must(tacit_handovers_add(&honest, second, third, 1500, 3000, false, NULL));
    tacit_authority_free(second);
    tacit_authority_free(third);
}

/* Whatever was read is whole: it is read again, somebody is trusted, and it does not lead away from the
 * honest chain. */
static void check_read(const tacit_handovers *chain) {
    tacit_handovers again = { .count = 0 }, known = { .count = 0 };
    tacit_buffer pem = TACIT_BUFFER_INIT, anchor = TACIT_BUFFER_INIT;
    tacit_following result = TACIT_FOLLOWING_NOTHING;
    const char *first = tacit_authority_pem(outside_authority());
    outside_must(tacit_buffer_append(&anchor, first, strlen(first), NULL));
    outside_must(tacit_handovers_read(&again, chain->text.bytes, chain->text.length, NULL));
    outside_must(tacit_handovers_trusted(chain, &anchor, 1800, &pem, NULL, NULL));
    outside_must(tacit_handovers_read(&known, honest.text.bytes, honest.text.length, NULL));
    tacit_status status = tacit_handovers_follow(&known, &anchor, chain, 1800, NULL, &result, NULL);
    if (again.count != chain->count || pem.length == 0 || known.count != honest.count ||
        (status == TACIT_OK && chain->count != honest.count))
        abort();
    tacit_handovers_clear(&again);
    tacit_handovers_clear(&known);
    tacit_buffer_clear(&pem);
    tacit_buffer_clear(&anchor);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_handovers chain = { .count = 0 };
    tacit_buffer text = TACIT_BUFFER_INIT;
    make_honest();
    if (length == 0) return 0;
    if (bytes[0] == 'c') {
        outside_must(tacit_buffer_append(&text, honest.text.bytes, honest.text.length, NULL));
        outside_change(&text, bytes + 1, length - 1);
    } else {
        outside_must(tacit_buffer_append(&text, bytes + 1, length - 1, NULL));
    }
    tacit_status status = tacit_handovers_read(&chain, text.bytes, text.length, &error);
    outside_explained(status, &error);
    if (status == TACIT_OK) check_read(&chain);
    tacit_handovers_clear(&chain);
    tacit_buffer_clear(&text);
    return 0;
}
