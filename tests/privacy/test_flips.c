/* A bit turned in a ledger's file: either verifying finds it, or everything that the file says, and what the
 * ledger does next, is as before. With TACIT_FLIPS=all every byte has its turn, in the bit that follows from
 * its place; else a few.
 *
 * Bytes are turned many at once first. Where that is found by nothing, and neither what the file says nor
 * what the ledger does next is changed, none of them matters: most lie in the unused part of a page. Else
 * both halves are turned by themselves, down to each byte alone, which then must be found. */
#include "party.h"

#include <fcntl.h>
#include <limits.h>
#include <math.h>

enum { IMAGE_MOST = 1 << 20, STEP_FEW = 499, AT_ONCE = 256 };

static const char *const tables[] = { "log",      "head",  "answer",  "spending",  "limits",
                                      "consent",  "event", "balance", "seal",      "kept",
                                      "counting", "block", "loose",   "loose_sum", "people" };

enum { TABLES = sizeof tables / sizeof *tables };

/* Every value of every row, with its kind and length. Of `log` and `head`, which hold the time, nothing after
 * a charge. */
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

/* The file as it was, with some bytes turned; nothing of earlier connections beside it. */
static void put_image(const party *self, const uint8_t *image, size_t length) {
    static const char *const beside[] = { "-wal", "-shm", "-journal" };
    char path[PATH_MAX];
    for (size_t i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s%s", self->place.file, beside[i]);
        unlink(path);
    }
    int file = open(self->place.file, O_WRONLY | O_TRUNC);
    assert_true(file >= 0);
    assert_int_equal(write(file, image, length), (ssize_t)length);
    close(file);
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

typedef struct flips {
    party self;
    uint8_t *image;
    size_t length, step, noticed, harmless;
    tacit_buffer before, then; /* what the file says, and what it says after some more was asked */
} flips;

static bool same(const tacit_buffer *one, const tacit_buffer *other) {
    return one->length == other->length && memcmp(one->bytes, other->bytes, one->length) == 0;
}

static void turn(flips *all, size_t from, size_t to) {
    for (size_t byte = from; byte < to; byte += all->step)
        all->image[byte] ^= (uint8_t)(1u << (byte * 5 + 3) % 8);
}

typedef enum effect { NOTICED, SAYS_ANOTHER, DOES_ANOTHER, NONE } effect;

static effect effect_of(flips *all, size_t from, size_t to) {
    tacit_buffer now = TACIT_BUFFER_INIT;
    effect seen = NONE;
    turn(all, from, to);
    put_image(&all->self, all->image, all->length);
    turn(all, from, to);
    if (found(&all->self)) {
        assert_true(strlen(all->self.error.text) > 20);
        return NOTICED;
    }
    if (!dump(&now, all->self.place.file, false) || !same(&now, &all->before)) seen = SAYS_ANOTHER;
    tacit_buffer_clear(&all->self.out);
    if (seen == NONE && (!act(&all->self, &now) || !same(&now, &all->then))) seen = DOES_ANOTHER;
    tacit_buffer_clear(&now);
    return seen;
}

static void examine(flips *all, size_t from, size_t to) {
    const size_t count = (to - from + all->step - 1) / all->step;
    effect seen = effect_of(all, from, to);
    if (seen == NONE) {
        all->harmless += count;
    } else if (count > 1) {
        const size_t middle = from + count / 2 * all->step;
        examine(all, from, middle);
        examine(all, middle, to);
    } else if (seen == NOTICED) {
        all->noticed++;
    } else {
        fail_msg("byte %zu was turned, is not found, and changes what %s: %s", from,
                 seen == SAYS_ANOTHER ? "the ledger says" : "happens next", all->self.error.text);
    }
}

static void a_turned_bit_is_found_or_changes_nothing(void **state) {
    (void)state;
    static uint8_t image[IMAGE_MOST];
    const char *every = getenv("TACIT_FLIPS");
    flips all = { .image = image,
                  .step = every != NULL && strcmp(every, "all") == 0 ? 1 : STEP_FEW,
                  .before = TACIT_BUFFER_INIT,
                  .then = TACIT_BUFFER_INIT };
    make_ledger(&all.self);
    FILE *file = fopen(all.self.place.file, "rb");
    assert_non_null(file);
    all.length = fread(image, 1, sizeof image, file);
    fclose(file);
    assert_in_range(all.length, 4096, sizeof image - 1);
    assert_true(dump(&all.before, all.self.place.file, false));
    assert_false(found(&all.self));
    put_image(&all.self, image, all.length);
    assert_true(act(&all.self, &all.then));
    const size_t stride = AT_ONCE * all.step;
    for (size_t from = 0; from < all.length; from += stride)
        examine(&all, from, from + stride < all.length ? from + stride : all.length);
    print_message("# %zu bytes turned: %zu found, %zu without effect\n", all.noticed + all.harmless,
                  all.noticed, all.harmless);
    assert_true(all.noticed > 0 && all.harmless > 0);
    tacit_buffer_clear(&all.before);
    tacit_buffer_clear(&all.then);
    party_end(&all.self);
}

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(a_turned_bit_is_found_or_changes_nothing) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
