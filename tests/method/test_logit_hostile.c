/*
 * Center servers and nodes that die, lie about a length or send garbage: the others end with a sentence,
 * nobody waits for ever, and nothing is opened. And what passes between the two servers: none of the numbers
 * they compute on.
 */
#include "logit_world.h"

#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#include "net/clock.h"

static const tacit_method *const methods[] = { &tacit_method_newton, &tacit_method_privlogit_hessian,
                                               &tacit_method_privlogit_local };

/* ---- a server B that is none ---- */

typedef struct impostor {
    tacit_channel *channel;
    size_t reads; /* bytes, then */
    size_t sends; /* random ones; 0: it hangs up */
    pthread_t thread;
} impostor;

static void *impostor_main(void *argument) {
    impostor *self = argument;
    tacit_stream stream = tacit_stream_from_seed(self->reads);
    uint8_t bytes[256];
    tacit_channel_set_deadline(self->channel, tacit_clock_monotonic_ms() + 20000);
    for (size_t i = 0; i < self->reads; i++)
        if (tacit_channel_receive(self->channel, bytes, 1, NULL) != TACIT_OK) break;
    for (size_t sent = 0; sent < self->sends; sent += sizeof bytes) {
        for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (uint8_t)tacit_stream_u64(&stream);
        if (tacit_channel_send(self->channel, bytes, sizeof bytes, NULL) != TACIT_OK) break;
    }
    tacit_channel_flush(self->channel, NULL);
    self->channel = tacit_channel_free(self->channel);
    return NULL;
}

static void server_a_survives_a_server_b_that_is_none(void **state) {
    (void)state;
    static const size_t reads[] = { 0, 16, 32 }, sends[] = { 0, 200000 };
    tacit_error error = TACIT_ERROR_INIT;
    tacit_paillier_secret *secret = NULL;
    CHECK_OK(tacit_center_simulated_key(&secret, &error), error);
    logit_world world;
    world_make(&world, methods[0]);
    for (size_t r = 0; r < 3; r++)
        for (size_t s = 0; s < 2; s++) {
            tacit_channel *end = NULL;
            impostor b = { .reads = reads[r], .sends = sends[s] };
            tacit_outcome outcome = TACIT_OUTCOME_INIT;
            world_use(&world, methods[r]);
            CHECK_OK(tacit_channel_memory_pair(&end, &b.channel, &error), error);
            assert_int_equal(pthread_create(&b.thread, NULL, impostor_main, &b), 0);
            tacit_session session = world_begin(&world);
            struct tacit_center_link link = { end, tacit_paillier_public_of(secret) };
            session.center = &link;
            tacit_error said = TACIT_ERROR_INIT;
            tacit_status status = world.parties.plan.method->coordinate(&session, &outcome, &said);
            assert_true(status == TACIT_NETWORK || status == TACIT_PROTOCOL || status == TACIT_INPUT);
            assert_true(said.text[0] != 0);
            assert_int_equal(world.count, 0);
            assert_int_equal(outcome.count, 0);
            tacit_channel_free(end);
            pthread_join(b.thread, NULL);
        }
    world_end(&world);
    tacit_paillier_secret_free(secret);
}

static void server_b_survives_a_server_a_that_is_none(void **state) {
    (void)state;
    static const size_t sends[] = { 0, 256, 200000 };
    tacit_error error = TACIT_ERROR_INIT;
    tacit_paillier_secret *secret = NULL;
    CHECK_OK(tacit_center_simulated_key(&secret, &error), error);
    for (size_t s = 0; s < 3; s++) {
        logit_world world;
        tacit_channel *end = NULL;
        impostor a = { .sends = sends[s] };
        world_make(&world, methods[s]);
        CHECK_OK(tacit_channel_memory_pair(&end, &a.channel, &error), error);
        assert_int_equal(pthread_create(&a.thread, NULL, impostor_main, &a), 0);
        tacit_error said = TACIT_ERROR_INIT;
        tacit_status status = tacit_center_assist(&world.parties.plan, end, secret, NULL, &said);
        assert_true(status == TACIT_NETWORK || status == TACIT_PROTOCOL || status == TACIT_INPUT);
        assert_true(said.text[0] != 0);
        tacit_channel_free(end);
        pthread_join(a.thread, NULL);
        world_end(&world);
    }
    tacit_paillier_secret_free(secret);
}

/* ---- nodes ---- */

typedef enum fault { NO_FAULT, SHORT, LONG, NOISE, FOREIGN, ABSENT, MANY_ROWS, NO_ROWS, FAULTS } fault;

typedef struct tamper {
    tacit_transport honest;
    fault what;
    uint64_t from; /* round */
} tamper;

static tacit_field *field_of(tacit_message *message, const char *name) {
    for (size_t f = 0; f < message->count; f++)
        if (strcmp(message->fields[f].name, name) == 0) return &message->fields[f];
    return NULL;
}

/* Node 0 lies, or is not there. */
static tacit_status ask_tampered(void *context, const tacit_question *question, tacit_answers *out,
                                 tacit_error *error) {
    tamper *self = context;
    TACIT_TRY(self->honest.ask(self->honest.context, question, out, error));
    if (question->round < self->from) return TACIT_OK;
    tacit_message *message = &out->answer[0].message;
    tacit_field *sums = field_of(message, "sums"), *rows = field_of(message, "rows");
    switch (self->what) {
    case SHORT:
        if (sums != NULL) sums->count -= 1;
        break;
    case LONG: /* the count in its head says more than there is */
        if (sums != NULL) sums->value.bytes[6] = 0x7f;
        break;
    case NOISE:
        if (sums != NULL) memset(sums->value.bytes + 24, 0xff, sums->count - 24);
        break;
    case FOREIGN: /* another key's fingerprint */
        if (sums != NULL) sums->value.bytes[10] ^= 1;
        break;
    case ABSENT:
        tacit_answer_clear(&out->answer[0]);
        out->count--;
        memmove(out->answer, out->answer + 1, out->count * sizeof *out->answer);
        break;
    case MANY_ROWS: rows->value.integers[0] = (int64_t)1 << 60; break;
    case NO_ROWS: rows->value.integers[0] = -5; break;
    default: break;
    }
    return TACIT_OK;
}

static void a_node_that_lies_ends_the_run_and_nothing_is_opened(void **state) {
    (void)state;
    logit_world world;
    world_make(&world, methods[0]);
    for (fault what = SHORT; what < FAULTS; what++) {
        tacit_error error = TACIT_ERROR_INIT;
        tacit_outcome outcome = TACIT_OUTCOME_INIT;
        world_use(&world, methods[what % 3]);
        tacit_session session = world_begin(&world);
        tamper liar = { session.transport, what, what == MANY_ROWS || what == NO_ROWS ? 0 : 1 };
        session.transport.ask = ask_tampered;
        session.transport.context = &liar;
        tacit_status status = world.parties.plan.method->coordinate(&session, &outcome, &error);
        if (status != TACIT_PROTOCOL && status != TACIT_INPUT && status != TACIT_LIMIT &&
            status != TACIT_REFUSED)
            fail_msg("fault %d: %s: %s", what, tacit_status_name(status), error.text);
        assert_true(error.text[0] != 0);
        assert_int_equal(world.count, 0);
        assert_int_equal(outcome.count, 0);
    }
    world_end(&world);
}

/* How many rows a node says it has is looked at when it is said: it may say another, or stay out. */
static void rows_of_no_use_are_refused_at_the_door(void **state) {
    (void)state;
    static const int64_t said[] = { 1, (int64_t)1 << 40, 0, -1, ((int64_t)1 << 40) + 1, INT64_MIN };
    for (size_t m = 0; m < 3; m++) {
        const tacit_handler_entry *entry = methods[m]->handlers;
        while (strcmp(entry->question, "rows") != 0) entry++;
        assert_non_null(entry->usable);
        for (size_t k = 0; k < sizeof said / sizeof *said; k++) {
            tacit_message message = TACIT_MESSAGE_INIT;
            assert_int_equal(entry->usable(NULL, &message, NULL), TACIT_PROTOCOL); /* nothing is said */
            assert_int_equal(tacit_message_add_integers(&message, "rows", &said[k], 1, NULL), TACIT_OK);
            assert_int_equal(entry->usable(NULL, &message, NULL), k < 2 ? TACIT_OK : TACIT_PROTOCOL);
            tacit_message_clear(&message);
        }
        tacit_message message = TACIT_MESSAGE_INIT;
        assert_int_equal(tacit_message_add_numbers(&message, "rows", (double[]){ 5 }, 1, NULL), TACIT_OK);
        assert_int_equal(entry->usable(NULL, &message, NULL), TACIT_PROTOCOL);
        tacit_message_clear(&message);
    }
}

/* ---- between the servers ---- */

/* One direction. */
typedef struct tap {
    int from, to;
    tacit_buffer seen;
    pthread_t thread;
} tap;

static void *tap_main(void *argument) {
    tap *self = argument;
    uint8_t bytes[65536];
    for (ssize_t got; (got = read(self->from, bytes, sizeof bytes)) > 0;) {
        if (tacit_buffer_append(&self->seen, bytes, (size_t)got, NULL) != TACIT_OK) break;
        for (ssize_t sent = 0; sent < got;) {
            ssize_t now = send(self->to, bytes + sent, (size_t)(got - sent), MSG_NOSIGNAL);
            if (now <= 0) return NULL;
            sent += now;
        }
    }
    shutdown(self->to, SHUT_WR);
    return NULL;
}

typedef struct helper {
    const tacit_plan *plan;
    tacit_channel *channel;
    tacit_paillier_secret *secret;
    pthread_t thread;
    tacit_status status;
} helper;

static void *helper_main(void *argument) {
    helper *self = argument;
    self->status = tacit_center_assist(self->plan, self->channel, self->secret, NULL, NULL);
    self->channel = tacit_channel_free(self->channel);
    return NULL;
}

/* Numbers of 8 bytes that must not be on the wire. */
typedef struct needles {
    uint64_t value[6000];
    size_t count;
    uint8_t starts[1 << 13]; /* a bit for each beginning of 16 bits */
} needles;

static void add_needle(needles *self, const void *bytes) {
    uint64_t value;
    memcpy(&value, bytes, sizeof value);
    assert_true(self->count < sizeof self->value / sizeof *self->value);
    self->value[self->count++] = value;
    self->starts[(value & 0xffff) >> 3] |= (uint8_t)(1u << (value & 7));
}

static int compare(const void *a, const void *b) {
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* Random bytes hold one of some 3,000 needles with a chance of 3,000/2^64 a place: 1e-9 in six million
 * places. */
static bool finds(const tap *self, needles *wanted) {
    qsort(wanted->value, wanted->count, sizeof *wanted->value, compare);
    for (size_t at = 0; at + 8 <= self->seen.length; at++) {
        uint64_t here;
        memcpy(&here, self->seen.bytes + at, sizeof here);
        if ((wanted->starts[(here & 0xffff) >> 3] >> (here & 7) & 1) == 0) continue;
        if (bsearch(&here, wanted->value, wanted->count, sizeof here, compare) != NULL) return true;
    }
    return false;
}

/* All sums at beta = 0 of all rows and of each node's, over n, as doubles and on the grid. */
static void add_sums(needles *self, const logit_world *world, tacit_row_weight weight) {
    tacit_error error = TACIT_ERROR_INIT;
    const double *x = world->parties.data->dense.values;
    double scale = tacit_logit_scale(&world->parties.plan), w[WIDTH] = { 0 }, y[ROWS];
    double square = scale * scale * (weight == TACIT_WEIGH_ONE ? 0.25 : 1);
    for (size_t i = 0; i < ROWS; i++) y[i] = world->parties.data->label[i];
    for (size_t node = 0; node <= NODES; node++) {
        size_t first = node < NODES ? ROWS * node / NODES : 0;
        size_t last = node < NODES ? ROWS * (node + 1) / NODES : ROWS;
        tacit_sums sums;
        double packed[1 + WIDTH + WIDTH * (WIDTH + 1) / 2];
        CHECK_OK(tacit_sums_create(&sums, &tacit_family_logistic.loss, weight, WIDTH, w, &error), error);
        for (size_t i = first; i < last; i++)
            tacit_sums_add(
                &sums, &(tacit_rows){ .count = 1, .cols = WIDTH, .dense = x, .stride = WIDTH, .first = i },
                NULL, y + i);
        tacit_sums_pack(&sums, packed);
        tacit_sums_clear(&sums);
        for (size_t j = 1; j < sizeof packed / sizeof *packed; j++) {
            double value = packed[j] * (j <= WIDTH ? scale : square) / ROWS;
            int64_t grid = llrint(ldexp(value, (int)tacit_logit_fraction(&world->parties.plan)));
            add_needle(self, &value);
            for (int64_t off = -3; off <= 3; off++) add_needle(self, &(int64_t){ grid + off });
        }
    }
}

/* Every number of every row. */
static void add_rows(needles *self, const logit_world *world) {
    for (size_t k = 0; k < (size_t)ROWS * WIDTH; k++) add_needle(self, &world->parties.data->dense.values[k]);
}

/* What nodes answer, as it would travel. */
typedef struct listener {
    tacit_transport honest;
    tap heard;
} listener;

static tacit_status ask_and_listen(void *context, const tacit_question *question, tacit_answers *out,
                                   tacit_error *error) {
    listener *self = context;
    TACIT_TRY(self->honest.ask(self->honest.context, question, out, error));
    for (size_t i = 0; i < out->count; i++)
        for (size_t f = 0; f < out->answer[i].message.count; f++) {
            const tacit_field *field = &out->answer[i].message.fields[f];
            bool sealed = strcmp(field->name, "sums") == 0 || strcmp(field->name, "step") == 0;
            if (!sealed) assert_string_equal(field->name, "rows"); /* and nothing else leaves a node */
            TACIT_TRY(tacit_buffer_append(&self->heard.seen, field->value.bytes,
                                          sealed ? field->count : sizeof(int64_t), error));
        }
    return TACIT_OK;
}

typedef struct wires {
    int a[2], b[2];
    tap out, back;
    helper server;
    tacit_channel *end;
} wires;

static void wires_make(wires *self, const tacit_plan *plan) {
    tacit_error error = TACIT_ERROR_INIT;
    *self = (wires){ .end = NULL };
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, self->a), 0);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, self->b), 0);
    self->out = (tap){ .from = self->a[1], .to = self->b[1] };
    self->back = (tap){ .from = self->b[1], .to = self->a[1] };
    CHECK_OK(tacit_channel_stream(&self->end, self->a[0], &error), error);
    CHECK_OK(tacit_channel_stream(&self->server.channel, self->b[0], &error), error);
    CHECK_OK(tacit_center_simulated_key(&self->server.secret, &error), error);
    self->server.plan = plan;
    assert_int_equal(pthread_create(&self->out.thread, NULL, tap_main, &self->out), 0);
    assert_int_equal(pthread_create(&self->back.thread, NULL, tap_main, &self->back), 0);
    assert_int_equal(pthread_create(&self->server.thread, NULL, helper_main, &self->server), 0);
}

static void wires_join(wires *self) {
    tacit_channel_free(self->end);
    pthread_join(self->server.thread, NULL);
    pthread_join(self->out.thread, NULL);
    pthread_join(self->back.thread, NULL);
    assert_int_equal(self->server.status, TACIT_OK);
}

static void wires_end(wires *self) {
    tacit_buffer_clear(&self->out.seen);
    tacit_buffer_clear(&self->back.seen);
    tacit_paillier_secret_free(self->server.secret);
    close(self->a[1]);
    close(self->b[1]);
}

static void listen_to(logit_world *world, wires *between, tacit_buffer *answers) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_outcome outcome = TACIT_OUTCOME_INIT;
    tacit_session session = world_begin(world);
    struct tacit_center_link link = { between->end, tacit_paillier_public_of(between->server.secret) };
    listener nodes = { .honest = session.transport };
    session.center = &link;
    session.transport.ask = ask_and_listen;
    session.transport.context = &nodes;
    CHECK_OK(world->parties.plan.method->coordinate(&session, &outcome, &error), error);
    tacit_outcome_clear(&outcome);
    *answers = nodes.heard.seen;
}

static void no_row_and_no_sum_is_on_any_wire(void **state) {
    (void)state;
    static const char *const engines[] = { "yao", "shares" };
    logit_world world;
    world_make(&world, &tacit_method_newton);
    for (size_t run = 0; run < 6; run++) {
        wires between;
        tap answers = { .from = -1 };
        world_use(&world, methods[run / 2]);
        world_set(&world, "engine", engines[run % 2]);
        world.parties.plan.lambda = 30; /* few iterations */
        wires_make(&between, &world.parties.plan);
        listen_to(&world, &between, &answers.seen);
        wires_join(&between);
        needles wanted = { .count = 0 }, public = { .count = 0 }, node = { .count = 0 };
        add_needle(&public, &(int64_t){ ROWS });
        assert_true(finds(&between.out, &public)); /* what is public is there: the taps work */
        add_needle(&node, &(int64_t){ ROWS / NODES });
        assert_true(finds(&answers, &node));
        add_sums(&wanted, &world, TACIT_WEIGH_CURVATURE);
        add_sums(&wanted, &world, TACIT_WEIGH_ONE);
        add_rows(&wanted, &world);
        assert_false(finds(&between.out, &wanted) || finds(&between.back, &wanted) ||
                     finds(&answers, &wanted));
        tacit_buffer_clear(&answers.seen);
        wires_end(&between);
    }
    world_end(&world);
}

/* A node encrypts for nobody but the server that its study names. */
static void a_node_refuses_another_key(void **state) {
    (void)state;
    logit_world world;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_outcome outcome = TACIT_OUTCOME_INIT;
    world_make(&world, &tacit_method_newton);
    memset(world.parties.plan.center_key, 7, sizeof world.parties.plan.center_key);
    tacit_session session = world_begin(&world);
    assert_int_equal(world.parties.plan.method->coordinate(&session, &outcome, &error), TACIT_REFUSED);
    const char *first = "";
    assert_int_equal(tacit_local_refusals(world.parties.local, &first), NODES);
    assert_non_null(strstr(first, "another key"));
    world_end(&world);
}

/* It is read without looking at its primes. */
static void the_key_of_simulations_is_as_good_as_a_stored_one(void **state) {
    (void)state;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_paillier_secret *secret = NULL, *again = NULL;
    tacit_buffer bytes = TACIT_BUFFER_INIT;
    CHECK_OK(tacit_center_simulated_key(&secret, &error), error);
    CHECK_OK(tacit_paillier_secret_write(secret, &bytes, &error), error);
    CHECK_OK(tacit_paillier_secret_read(&again, bytes.bytes, bytes.length, &error), error);
    assert_true(tacit_paillier_same_key(tacit_paillier_public_of(secret), tacit_paillier_public_of(again)));
    tacit_buffer_clear(&bytes);
    tacit_paillier_secret_free(secret);
    tacit_paillier_secret_free(again);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(server_a_survives_a_server_b_that_is_none),
        cmocka_unit_test(server_b_survives_a_server_a_that_is_none),
        cmocka_unit_test(a_node_that_lies_ends_the_run_and_nothing_is_opened),
        cmocka_unit_test(rows_of_no_use_are_refused_at_the_door),
        cmocka_unit_test(no_row_and_no_sum_is_on_any_wire),
        cmocka_unit_test(a_node_refuses_another_key),
        cmocka_unit_test(the_key_of_simulations_is_as_good_as_a_stored_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
