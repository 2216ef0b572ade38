/* A bit turned in a ledger's file: either verifying finds it, or everything that the file says, and what the ledger does next, is as
 * before. Bits are taken in steps that are prime to 8, so that every byte, and every place in a byte, has its turn; in steps of 7 with
 * TACIT_FLIPS=all. */
#include "party.h"

#include <math.h>

enum { IMAGE_MOST = 1 << 20, STEP_ALL = 7, STEP_FEW = 4001 };

static const char *const tables[] = { "log",      "head",  "answer",  "spending",  "limits",
                                      "consent",  "event", "balance", "seal",      "kept",
                                      "counting", "block", "loose",   "loose_sum", "people" };

enum { TABLES = sizeof tables / sizeof *tables };

/* Every value of every row, with its kind and length. Of `log` and `head`, which hold the time, nothing after a charge. */
static bool dump(tacit_buffer *out, const char *path, bool timeless) {
    sqlite3 *connection = NULL;
    bool read = sqlite3_open_v2(path, &connection, SQLITE_OPEN_READWRITE, NULL) == SQLITE_OK;
    tacit_buffer_clear(out);
    for (size_t i = timeless ? 2 : 0; read && i < TABLES; i++) {
        char sql[64];
        sqlite3_stmt *query = NULL;
        snprintf(sql, sizeof sql, "SELECT * FROM %s", tables[i]);
        read = sqlite3_prepare_v2(connection, sql, -1, &query, NULL) == SQLITE_OK;
        int code = SQLITE_DONE;
        while (read && (code = sqlite3_step(query)) == SQLITE_ROW)
            for (int c = 0; c < sqlite3_column_count(query); c++) {
                const void *bytes = sqlite3_column_blob(query, c);
                uint32_t size[2] = { (uint32_t)sqlite3_column_type(query, c),
                                     (uint32_t)sqlite3_column_bytes(query, c) };
                assert_int_equal(tacit_buffer_append(out, size, sizeof size, NULL), TACIT_OK);
                if (size[1] > 0) assert_int_equal(tacit_buffer_append(out, bytes, size[1], NULL), TACIT_OK);
            }
        read = read && code == SQLITE_DONE;
        sqlite3_finalize(query);
        assert_int_equal(tacit_buffer_append(out, "", 1, NULL), TACIT_OK);
    }
    sqlite3_close(connection);
    return read;
}

static void put_image(party *self, const uint8_t *image, size_t length) {
    folder_remove(&self->place);
    self->place = folder_make();
    FILE *file = fopen(self->place.file, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(image, 1, length, file), length);
    fclose(file);
}

/* Whether opening or verifying tells. */
static bool found(party *self) {
    tacit_verdict verdict;
    self->error = (tacit_error)TACIT_ERROR_INIT;
    tacit_status status =
        tacit_ledger_open(&self->ledger, self->place.file, SOURCE, TACIT_LEDGER_READING, &self->error);
    if (status == TACIT_OK) status = tacit_ledger_verify(&verdict, self->ledger, &self->error);
    self->ledger = tacit_ledger_free(self->ledger);
    return status != TACIT_OK;
}

/* One more charge, one refusal, and an answer sent again; then all that the ledger holds. */
static bool act(party *self, tacit_buffer *after) {
    bool right = true;
    self->error = (tacit_error)TACIT_ERROR_INIT;
    if (tacit_ledger_open(&self->ledger, self->place.file, SOURCE, TACIT_LEDGER_EXISTING, &self->error) !=
        TACIT_OK)
        return false;
    CHECK_OK(tacit_gate_init(&self->gate, self->ledger, &self->policy, TACIT_GATE_REAL, &self->error),
             self->error);
    for (int i = 0; i < 3; i++) {
        tacit_release release = sample_release(i);
        if (i == 2) release.price.epsilon = 100;
        right = party_release(self, &release) == (i == 2 ? TACIT_REFUSED : TACIT_OK) && right;
    }
    self->ledger = tacit_ledger_free(self->ledger);
    return right && dump(after, self->place.file, true);
}

static void make_ledger(party *self) {
    party_ready(self);
    const tacit_price limit = { TACIT_UNIT_RECORD, 2, 1e-5 }, held = { TACIT_UNIT_RECORD, 0.5, 0 };
    tacit_release release = sample_release(0);
    static const uint8_t kept[] = "where the party goes on from";
    CHECK_OK(tacit_ledger_set_limit(self->ledger, NULL, &limit, &self->error), self->error);
    CHECK_OK(tacit_ledger_reserve(self->ledger, "lungs", release.study_hash, &held, NULL, &self->error),
             self->error);
    release.state = kept;
    release.state_length = sizeof kept;
    CHECK_OK(party_release(self, &release), self->error);
    tacit_ledger *copy = NULL;
    CHECK_OK(tacit_ledger_open(&copy, self->place.file, "copy", TACIT_LEDGER_EXISTING, &self->error),
             self->error);
    CHECK_OK(tacit_ledger_link(copy, SOURCE, &self->error), self->error);
    tacit_ledger_free(copy);
    self->ledger = tacit_ledger_free(self->ledger);
}

static void a_turned_bit_is_found_or_changes_nothing(void **state) {
    (void)state;
    party self;
    static uint8_t image[IMAGE_MOST];
    tacit_buffer before = TACIT_BUFFER_INIT, now = TACIT_BUFFER_INIT, then = TACIT_BUFFER_INIT,
                 later = TACIT_BUFFER_INIT;
    const char *all = getenv("TACIT_FLIPS");
    size_t step = all != NULL && strcmp(all, "all") == 0 ? STEP_ALL : STEP_FEW, noticed = 0, harmless = 0;
    make_ledger(&self);
    FILE *file = fopen(self.place.file, "rb");
    assert_non_null(file);
    size_t length = fread(image, 1, sizeof image, file);
    fclose(file);
    assert_in_range(length, 4096, sizeof image - 1);
    assert_true(dump(&before, self.place.file, false));
    assert_false(found(&self));
    put_image(&self, image, length);
    assert_true(act(&self, &then));
    for (size_t bit = 3; bit < 8 * length; bit += step) {
        image[bit / 8] ^= (uint8_t)(1u << bit % 8);
        put_image(&self, image, length);
        image[bit / 8] ^= (uint8_t)(1u << bit % 8);
        tacit_buffer_clear(&self.out);
        if (found(&self)) {
            assert_true(strlen(self.error.text) > 20);
            noticed++;
            continue;
        }
        harmless++;
        if (!dump(&now, self.place.file, false) || now.length != before.length ||
            memcmp(now.bytes, before.bytes, now.length) != 0)
            fail_msg("bit %zu of byte %zu was turned, is not found, and changes what the ledger says",
                     bit % 8, bit / 8);
        if (!act(&self, &later) || later.length != then.length ||
            memcmp(later.bytes, then.bytes, then.length) != 0)
            fail_msg("bit %zu of byte %zu was turned, is not found, and changes what happens next: %s",
                     bit % 8, bit / 8, self.error.text);
    }
    print_message("# %zu bits turned: %zu found, %zu in unused bytes and without effect\n",
                  noticed + harmless, noticed, harmless);
    assert_true(noticed > 0 && harmless > 0);
    tacit_buffer_clear(&before);
    tacit_buffer_clear(&now);
    tacit_buffer_clear(&then);
    tacit_buffer_clear(&later);
    party_end(&self);
}

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(a_turned_bit_is_found_or_changes_nothing) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
