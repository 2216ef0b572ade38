/* The signed list of certificates that count no more: read back, newer over older, and refused when anything
 * was changed. */
#include <string.h>

#include "../store/folder.h"
#include "check.h"
#include "net/revocations.h"

#define PRINT "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define OTHER "fedcba9876543210fedcba9876543210fedcba9876543210fedcba9876543210"

typedef struct world {
    folder place;
    tacit_authority *authority;
    tacit_buffer pem;
    tacit_revocations list;
    tacit_error error;
} world;

static world begin(void) {
    world w = { .place = folder_make(), .error = TACIT_ERROR_INIT };
    CHECK_OK(tacit_authority_create(&w.authority, w.place.path, "test", &w.error), w.error);
    const char *pem = tacit_authority_pem(w.authority);
    CHECK_OK(tacit_buffer_append(&w.pem, pem, strlen(pem), &w.error), w.error);
    return w;
}

static void end(world *w) {
    tacit_authority_free(w->authority);
    tacit_buffer_clear(&w->pem);
    tacit_revocations_clear(&w->list);
    folder_remove(&w->place);
}

static tacit_buffer make(world *w, const char *text) {
    tacit_buffer made = TACIT_BUFFER_INIT;
    CHECK_OK(tacit_buffer_append(&made, text, strlen(text), &w->error), w->error);
    CHECK_OK(tacit_revocations_sign(&made, w->authority, &w->error), w->error);
    return made;
}

static tacit_status take(world *w, const tacit_buffer *list, const char *study, bool *newer) {
    w->error = (tacit_error)TACIT_ERROR_INIT;
    return tacit_revocations_take(&w->list, newer, &w->pem, study, list->bytes, list->length, &w->error);
}

static void a_newer_list_counts(void **state) {
    (void)state;
    world w = begin();
    tacit_buffer first = make(&w, "tacit revocations 1\nstudy s\nserial 1\n" PRINT " party-1\n");
    tacit_buffer second =
        make(&w, "tacit revocations 1\nstudy s\nserial 4\n" PRINT " party-1\n" OTHER " party-2\n");
    bool newer = false;
    CHECK_OK(take(&w, &first, "s", &newer), w.error);
    assert_true(newer);
    assert_true(tacit_revocations_certificate(&w.list, PRINT));
    assert_false(tacit_revocations_certificate(&w.list, OTHER));
    CHECK_OK(take(&w, &second, NULL, &newer), w.error);
    assert_true(newer && tacit_revocations_certificate(&w.list, OTHER));
    assert_true(tacit_revocations_party(&w.list, "party-2") && !tacit_revocations_party(&w.list, "party-"));
    CHECK_OK(take(&w, &first, "s", &newer), w.error);
    assert_false(newer);
    assert_int_equal(w.list.count, 2);
    assert_int_equal(take(&w, &first, "t", &newer), TACIT_REFUSED);
    tacit_buffer_clear(&first);
    tacit_buffer_clear(&second);
    end(&w);
}

static void any_changed_byte_or_missing_end_is_refused(void **state) {
    (void)state;
    world w = begin();
    tacit_buffer list = make(&w, "tacit revocations 1\nstudy s\nserial 1\n" PRINT " party-1\n");
    bool newer = false;
    for (size_t i = 0; i < list.length; i++) {
        list.bytes[i] ^= 1;
        assert_int_not_equal(take(&w, &list, "s", &newer), TACIT_OK);
        list.bytes[i] ^= 1;
    }
    for (size_t length = list.length; length-- > 0;) {
        tacit_buffer cut = { list.bytes, length, 0, 0 };
        assert_int_not_equal(take(&w, &cut, "s", &newer), TACIT_OK);
    }
    assert_int_equal(w.list.serial, 0);
    CHECK_OK(take(&w, &list, "s", &newer), w.error); /* the control */
    tacit_buffer_clear(&list);
    /* Another authority's list is refused too. */
    world stranger = begin();
    list = make(&stranger, "tacit revocations 1\nstudy s\nserial 9\n");
    assert_int_equal(take(&w, &list, "s", &newer), TACIT_REFUSED);
    tacit_buffer_clear(&list);
    end(&stranger);
    end(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_newer_list_counts),
        cmocka_unit_test(any_changed_byte_or_missing_end_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
