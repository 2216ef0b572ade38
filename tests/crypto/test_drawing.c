/* Drawing the seed of a sparse graph: whoever follows the protocol gets one seed, and nobody chooses it. */
#include "check.h"

#include <math.h>
#include <string.h>

#include "crypto/sum/drawing.h"
#include "failing.h"
#include "rand/stream.h"

enum { MOST = 200, FEW = 5, MANY = 300 };

typedef struct table {
    uint8_t keys[MANY][crypto_sign_PUBLICKEYBYTES], secret_keys[MANY][crypto_sign_SECRETKEYBYTES];
    uint8_t secrets[MANY][TACIT_DRAWING_SECRET_BYTES];
    tacit_signing_roster roster;
    tacit_drawing drawing;
} table;

static void set_roster(table *self) {
    tacit_securesum_roster_digest(self->drawing.roster, &self->roster);
    self->drawing.signers = tacit_securesum_ed25519_roster(&self->roster);
}

static table *table_of(uint32_t parties, uint32_t colluders) {
    table *self = calloc(1, sizeof *self);
    assert_non_null(self);
    tacit_stream stream = tacit_stream_from_seed(7);
    for (uint32_t i = 0; i < parties; i++) {
        uint8_t seed[crypto_sign_SEEDBYTES];
        tacit_stream_bytes(&stream, seed, sizeof seed);
        crypto_sign_seed_keypair(self->keys[i], self->secret_keys[i], seed);
        tacit_stream_bytes(&stream, self->secrets[i], sizeof self->secrets[i]);
    }
    self->roster =
        (tacit_signing_roster){ parties, (const uint8_t(*)[crypto_sign_PUBLICKEYBYTES])self->keys };
    self->drawing = (tacit_drawing){ .study = "heart",
                                     .parties = parties,
                                     .least = tacit_drawing_least(parties, colluders) };
    set_roster(self);
    return self;
}

static tacit_buffer commit(const table *self, uint32_t i) {
    tacit_buffer out = TACIT_BUFFER_INIT;
    const tacit_securesum_signer signer = tacit_securesum_ed25519_signer(self->secret_keys[i]);
    assert_int_equal(tacit_drawing_commit(&self->drawing, i, self->secrets[i], &signer, &out, NULL),
                     TACIT_OK);
    return out;
}

static tacit_buffer reveal(const table *self, uint32_t i, const tacit_buffer *list) {
    tacit_buffer out = TACIT_BUFFER_INIT;
    const tacit_securesum_signer signer = tacit_securesum_ed25519_signer(self->secret_keys[i]);
    tacit_drawing_list read;
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_drawing_read_list(&read, &self->drawing, list->bytes, list->length, &error), error);
    assert_int_equal(tacit_drawing_open(&self->drawing, i, self->secrets[i], &read, &signer, &out, NULL),
                     TACIT_OK);
    return out;
}

/* All but `absent` commit, and all who did open. */
static tacit_buffer draw(const table *self, uint32_t absent) {
    tacit_drawing_server *server = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_buffer proof = TACIT_BUFFER_INIT;
    CHECK_OK(tacit_drawing_server_create(&server, &self->drawing, &error), error);
    while (tacit_drawing_server_step(server) != TACIT_DRAWING_DONE) {
        for (uint32_t i = 0; i < self->drawing.parties; i++) {
            if (i == absent || !tacit_drawing_server_expects(server, i)) continue;
            tacit_buffer said = tacit_drawing_server_step(server) == TACIT_DRAWING_COMMITTING
                                    ? commit(self, i)
                                    : reveal(self, i, tacit_drawing_server_question(server));
            for (int again = 0; again < 2; again++)
                CHECK_OK(tacit_drawing_server_receive(server, i, said.bytes, said.length, &error), error);
            tacit_buffer_clear(&said);
        }
        CHECK_OK(tacit_drawing_server_close(server, &error), error);
    }
    const tacit_buffer *said = tacit_drawing_server_question(server);
    CHECK_OK(tacit_buffer_append(&proof, said->bytes, said->length, &error), error);
    tacit_drawing_server_free(server);
    return proof;
}

static tacit_status seed_of(const table *self, const tacit_buffer *proof,
                            uint8_t seed[TACIT_GRAPH_SEED_BYTES]) {
    tacit_drawing_list list;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_status status =
        tacit_drawing_read_proof(seed, &list, &self->drawing, proof->bytes, proof->length, &error);
    assert_true((status == TACIT_OK) == (error.text[0] == 0));
    return status;
}

static void test_everybody_gets_one_seed_from_the_bytes_of_all_who_committed(void **state) {
    (void)state;
    table *self = table_of(FEW, 1);
    uint8_t all[TACIT_GRAPH_SEED_BYTES], other[TACIT_GRAPH_SEED_BYTES];
    tacit_buffer proof = draw(self, FEW);
    assert_int_equal(seed_of(self, &proof, all), TACIT_OK);
    tacit_buffer_clear(&proof);
    for (uint32_t i = 0; i < FEW; i++) { /* each one's bytes count, and so does who is there */
        self->secrets[i][0] ^= 1;
        proof = draw(self, FEW);
        assert_int_equal(seed_of(self, &proof, other), TACIT_OK);
        assert_memory_not_equal(all, other, sizeof all);
        tacit_buffer_clear(&proof);
        self->secrets[i][0] ^= 1;
        proof = draw(self, i);
        assert_int_equal(seed_of(self, &proof, other), TACIT_OK);
        assert_memory_not_equal(all, other, sizeof all);
        tacit_buffer_clear(&proof);
    }
    free(self);
}

/* Two lists of this many share more than the colluders. */
static void test_two_lists_share_an_honest_party(void **state) {
    (void)state;
    for (uint32_t n = 3; n < 300; n++)
        for (uint32_t c = 0; c < n; c++) {
            const uint32_t least = tacit_drawing_least(n, c);
            assert_true(least <= n);
            assert_true(least == n || 2 * least - n > c);
        }
}

/* A bit of each byte: places, commitments, signatures and openings. */
static void test_a_proof_with_any_byte_changed_is_refused(void **state) {
    (void)state;
    table *self = table_of(FEW, 1);
    tacit_buffer proof = draw(self, FEW);
    uint8_t seed[TACIT_GRAPH_SEED_BYTES];
    for (size_t i = 0; i < proof.length; i++) {
        proof.bytes[i] ^= (uint8_t)(1u << i % 8);
        assert_int_not_equal(seed_of(self, &proof, seed), TACIT_OK);
        proof.bytes[i] ^= (uint8_t)(1u << i % 8);
    }
    for (size_t length = 0; length < proof.length; length++) {
        const tacit_buffer less = { proof.bytes, length, 0, 0 };
        assert_int_not_equal(seed_of(self, &less, seed), TACIT_OK);
    }
    assert_int_equal(seed_of(self, &proof, seed), TACIT_OK);
    /* Nor is it one of another version, study or roster. */
    self->drawing.version[0] ^= 1;
    assert_int_equal(seed_of(self, &proof, seed), TACIT_REFUSED);
    self->drawing.version[0] ^= 1;
    self->drawing.study[0] ^= 1;
    assert_int_equal(seed_of(self, &proof, seed), TACIT_REFUSED);
    self->drawing.study[0] ^= 1;
    self->drawing.roster[0] ^= 1;
    assert_int_equal(seed_of(self, &proof, seed), TACIT_REFUSED);
    tacit_buffer_clear(&proof);
    free(self);
}

/* The logarithm to base 2 of the chance that as many as are checked are all good, if `good` of them are. */
static double log2_passing(uint32_t listed, uint32_t good, uint32_t checked) {
    double bits = 0;
    for (uint32_t i = 0; i < checked; i++)
        if (good <= i)
            return -INFINITY;
        else
            bits += log2((double)(good - i) / (double)(listed - i));
    return bits;
}

/* A list with one good signature too few passes with a chance of 2^-80 at most, and no more is checked than
 * that takes. */
static void test_enough_signatures_are_checked(void **state) {
    (void)state;
    for (uint32_t n = 257; n <= 65535; n += n / 7)
        for (uint32_t colluders = 0; colluders <= n / 3; colluders += 1 + n / 9) {
            const uint32_t least = tacit_drawing_least(n, colluders);
            for (uint32_t listed = least; listed <= n; listed += 1 + (n - least) / 5) {
                const uint32_t checked = tacit_drawing_checked(listed, least);
                assert_true(checked <= listed);
                if (listed <= 256 || listed == least) {
                    assert_int_equal(checked, listed);
                    continue;
                }
                assert_true(log2_passing(listed, least - 1, checked) <= -80 + 1e-6);
                assert_true(log2_passing(listed, least - 1, checked - 1) > -80 - 1e-6);
            }
        }
    for (uint32_t n = 3; n <= 256; n++) assert_int_equal(tacit_drawing_checked(n, n / 2 + 1), n);
    assert_true(tacit_drawing_checked(10000, tacit_drawing_least(10000, 1000)) < 100);
}

/* Break the opening's signature of every party from `first` on. */
static void break_signatures(tacit_buffer *proof, uint32_t parties, uint32_t first) {
    uint8_t *openings = proof->bytes + 4 + (size_t)parties * TACIT_DRAWING_ENTRY_BYTES;
    for (uint32_t i = first; i < parties; i++)
        openings[(size_t)i * TACIT_DRAWING_OPENING_BYTES + TACIT_DRAWING_SECRET_BYTES] ^= 1;
}

/* Of a long list, a proof that too few have signed is refused: it passes with a chance below 2^-80. What
 * makes the seed is checked of everybody. Control: a sample of one would pass more often than not. */
static void test_a_long_list_that_too_few_signed_is_refused(void **state) {
    (void)state;
    table *self = table_of(MANY, 30);
    tacit_buffer proof = draw(self, MANY);
    uint8_t seed[TACIT_GRAPH_SEED_BYTES];
    assert_true(tacit_drawing_checked(MANY, self->drawing.least) < MANY / 2);
    assert_int_equal(seed_of(self, &proof, seed), TACIT_OK);
    uint8_t *openings = proof.bytes + 4 + (size_t)MANY * TACIT_DRAWING_ENTRY_BYTES;
    for (uint32_t i = 0; i < MANY; i++) {
        openings[(size_t)i * TACIT_DRAWING_OPENING_BYTES] ^= 1; /* the bytes that it contributes */
        assert_int_equal(seed_of(self, &proof, seed), TACIT_REFUSED);
        openings[(size_t)i * TACIT_DRAWING_OPENING_BYTES] ^= 1;
    }
    break_signatures(&proof, MANY, self->drawing.least - 1);
    for (int trial = 0; trial < 20; trial++) assert_int_equal(seed_of(self, &proof, seed), TACIT_REFUSED);
    assert_true(log2_passing(MANY, self->drawing.least - 1, 1) > -1);
    tacit_buffer_clear(&proof);
    free(self);
}

static void test_who_committed_must_open(void **state) {
    (void)state;
    table *self = table_of(FEW, 1);
    tacit_drawing_server *server = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_drawing_server_create(&server, &self->drawing, &error), error);
    for (uint32_t i = 0; i < self->drawing.least - 1; i++) {
        tacit_buffer said = commit(self, i);
        CHECK_OK(tacit_drawing_server_receive(server, i, said.bytes, said.length, &error), error);
        tacit_buffer_clear(&said);
    }
    assert_int_equal(tacit_drawing_server_close(server, &error), TACIT_REFUSED); /* one too few */
    tacit_buffer last = commit(self, FEW - 1);
    assert_int_equal(tacit_drawing_server_receive(server, 0, last.bytes, last.length, &error),
                     TACIT_PROTOCOL);
    assert_int_equal(tacit_drawing_server_receive(server, FEW, last.bytes, last.length, &error),
                     TACIT_REFUSED);
    assert_int_equal(tacit_drawing_server_receive(server, FEW - 2, last.bytes, last.length, &error),
                     TACIT_PROTOCOL); /* another's */
    error = (tacit_error)TACIT_ERROR_INIT;
    CHECK_OK(tacit_drawing_server_receive(server, FEW - 1, last.bytes, last.length, &error), error);
    CHECK_OK(tacit_drawing_server_close(server, &error), error);
    assert_false(tacit_drawing_server_expects(server, FEW - 2)); /* it has not committed */
    assert_int_equal(tacit_drawing_server_needs(server), self->drawing.least);
    tacit_buffer first = reveal(self, 0, tacit_drawing_server_question(server));
    CHECK_OK(tacit_drawing_server_receive(server, 0, first.bytes, first.length, &error), error);
    assert_int_equal(tacit_drawing_server_close(server, &error), TACIT_REFUSED);
    assert_non_null(strstr(error.text, "and all must"));
    tacit_buffer_clear(&first);
    tacit_buffer_clear(&last);
    tacit_drawing_server_free(server);
    free(self);
}

/* ---- the coordinator that grinds ---- */

enum { PUPPETS = 20, VICTIM = 0, WANTED = 14, KEYS = 100000 };

/* How many puppets, the last places, are neighbours of the victim. */
static uint32_t beside(const tacit_graph_shape *shape, const uint8_t seed[TACIT_GRAPH_SEED_BYTES]) {
    tacit_graph *graph = NULL;
    uint32_t count = 0;
    assert_int_equal(tacit_graph_create(&graph, shape, seed, NULL), TACIT_OK);
    for (uint32_t slot = 0; slot < shape->degree; slot++)
        count += tacit_graph_neighbour(graph, VICTIM, slot) >= MOST - PUPPETS;
    tacit_graph_free(graph);
    return count;
}

static tacit_graph_shape shape_of_many(void) {
    tacit_graph_shape shape;
    const tacit_graph_assumption assumption = tacit_graph_assumption_default(MOST);
    assert_int_equal(tacit_graph_plan(&shape, &assumption, NULL), TACIT_OK);
    assert_true(shape.degree < MOST - 1);
    return shape;
}

/* Try something of the last puppet until a hash of it suits; whether one does. */
static bool grind(const tacit_graph_shape *shape, const char *label, const table *self, uint8_t trial[32]) {
    uint8_t seed[TACIT_GRAPH_SEED_BYTES];
    for (uint64_t i = 0; i < KEYS; i++) {
        tacit_digest digest;
        memcpy(trial, &i, sizeof i);
        tacit_digest_begin(&digest, label, NULL);
        tacit_digest_bytes(&digest, self->keys, (MOST - 1) * sizeof self->keys[0]);
        tacit_digest_bytes(&digest, trial, 32);
        tacit_digest_end(&digest, seed);
        if (beside(shape, seed) >= WANTED) return true;
    }
    return false;
}

/* Were the seed a hash of the roster, whoever joins last would have its puppets beside the victim: 14 of 20
 * where 7 are expected. Drawn, what it prepares beforehand is worth nothing, and what it prepares afterwards
 * is refused. All of it from fixed seeds. */
static void test_grinding_puts_no_puppets_beside_a_victim(void **state) {
    (void)state;
    table *self = table_of(MOST, PUPPETS);
    const tacit_graph_shape shape = shape_of_many();
    uint8_t trial[32] = { 0 }, seed[TACIT_GRAPH_SEED_BYTES];
    assert_true(grind(&shape, "a hash of the roster", self, trial));
    memcpy(self->secrets[MOST - 1], trial, sizeof trial); /* the best that it knows of when it commits */
    tacit_buffer proof = draw(self, MOST);
    assert_int_equal(seed_of(self, &proof, seed), TACIT_OK);
    assert_in_range(beside(&shape, seed), 0, WANTED - 1);
    /* Now it knows everybody's bytes. It finds some of its own that would do, and cannot use them. */
    uint8_t *opening = proof.bytes + proof.length - TACIT_DRAWING_OPENING_BYTES;
    assert_memory_equal(opening, trial, sizeof trial);
    assert_true(grind(&shape, "any other hash", self, opening));
    assert_int_equal(seed_of(self, &proof, seed), TACIT_REFUSED);
    /* With another commitment it is another list, which the others have not signed. */
    memcpy(self->secrets[MOST - 1], opening, sizeof trial);
    tacit_buffer said = commit(self, MOST - 1);
    memcpy(proof.bytes + 4 + (size_t)(MOST - 1) * TACIT_DRAWING_ENTRY_BYTES + 4, said.bytes, said.length);
    assert_int_equal(seed_of(self, &proof, seed), TACIT_REFUSED);
    tacit_buffer_clear(&said);
    tacit_buffer_clear(&proof);
    free(self);
}

/* ---- memory ---- */

static void test_each_failing_allocation_of_the_coordinator_is_survived(void **state) {
    (void)state;
    table *self = table_of(FEW, 1);
    tacit_buffer committed[FEW], opened[FEW], expected = draw(self, FEW);
    const tacit_buffer list = { expected.bytes, 4 + FEW * TACIT_DRAWING_ENTRY_BYTES, 0, 0 };
    for (uint32_t i = 0; i < FEW; i++) committed[i] = commit(self, i), opened[i] = reveal(self, i, &list);
    long at = 1;
    for (bool failed = true; failed; at++) {
        tacit_drawing_server *server = NULL;
        tacit_status status = TACIT_OK;
        fail_allocation(at);
        status = tacit_drawing_server_create(&server, &self->drawing, NULL);
        for (uint32_t i = 0; i < FEW && status == TACIT_OK; i++)
            status = tacit_drawing_server_receive(server, i, committed[i].bytes, committed[i].length, NULL);
        while (server != NULL && tacit_drawing_server_step(server) == TACIT_DRAWING_COMMITTING)
            status = tacit_drawing_server_close(server, NULL);
        for (uint32_t i = 0; server != NULL && i < FEW; i++)
            assert_int_equal(tacit_drawing_server_receive(server, i, opened[i].bytes, opened[i].length, NULL),
                             TACIT_OK);
        while (server != NULL && tacit_drawing_server_step(server) == TACIT_DRAWING_OPENING)
            status = tacit_drawing_server_close(server, NULL);
        failed = allocation_failed();
        assert_true(status == TACIT_OK || (failed && server == NULL));
        if (server != NULL)
            assert_memory_equal(tacit_drawing_server_question(server)->bytes, expected.bytes,
                                expected.length);
        tacit_drawing_server_free(server);
    }
    assert_true(at > 3);
    for (uint32_t i = 0; i < FEW; i++) {
        tacit_buffer_clear(&committed[i]);
        tacit_buffer_clear(&opened[i]);
    }
    tacit_buffer_clear(&expected);
    free(self);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_everybody_gets_one_seed_from_the_bytes_of_all_who_committed),
        cmocka_unit_test(test_two_lists_share_an_honest_party),
        cmocka_unit_test(test_a_proof_with_any_byte_changed_is_refused),
        cmocka_unit_test(test_enough_signatures_are_checked),
        cmocka_unit_test(test_a_long_list_that_too_few_signed_is_refused),
        cmocka_unit_test(test_who_committed_must_open),
        cmocka_unit_test(test_grinding_puts_no_puppets_beside_a_victim),
        cmocka_unit_test(test_each_failing_allocation_of_the_coordinator_is_survived),
    };
    if (sodium_init() < 0) return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
