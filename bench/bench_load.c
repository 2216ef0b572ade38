/*
 * A swarm of parties in one process, which answer whatever is asked with zeros, and a bare peer to compare
 * with; run_load runs it.
 *
 *     bench_load join KEY CERTIFICATES AUTHORITY < INVITATIONS      one key, a certificate for each invitation
 *     bench_load swarm PORT KEY CERTIFICATES CONNECTIONS STUDY      until the study ends, or standard input does
 *     bench_load peer FOLDER KEY CERTIFICATES CONNECTIONS ROUNDS DOWN UP THREADS
 *                                                                   the same bytes between the same ends, and
 *                                                                   nothing else
 *
 * CERTIFICATES is a file of PEM, one after another. Results are lines of JSON.
 */
#include <ctype.h>
#include <pthread.h>
#include <sodium.h>
#include <stdatomic.h>
#include <sys/eventfd.h>
#include <sys/wait.h>

#include "base/file.h"
#include "base/memory.h"
#include "net/client.h"
#include "net/identity.h"
#include "net/invitation.h"
#include "net/x509.h"
#include "session/masked/masked.h"
#include "session/wire/wire.h"
#include "tacit.pb-c.h"
#include "wires.h"

enum { SHAKING_MOST = 64, EVENTS = 256, ROUNDS_MOST = 100000 };

static void must(tacit_status status, const tacit_error *error) {
    if (status == TACIT_OK) return;
    fprintf(stderr, "bench_load: %s\n", error->text);
    exit(1);
}

/* ---- joining ---- */

static void ask(tacit_client *client, const char *path, const void *message, tacit_buffer *out,
                tacit_error *error) {
    tacit_buffer body = TACIT_BUFFER_INIT;
    unsigned http = 0;
    must(tacit_wire_pack(&body, message, error), error);
    must(tacit_client_send(&http, out, client,
                           &(tacit_client_request){ .method = "POST",
                                                    .path = path,
                                                    .body = body.bytes,
                                                    .body_length = body.length,
                                                    .timeout_ms = 60000 },
                           error),
         error);
    tacit_buffer_clear(&body);
    if (http == 200) return;
    fprintf(stderr, "bench_load: %s: %u: %s\n", path, http, tacit_buffer_text(out));
    exit(1);
}

static void look(tacit_client *client, uint8_t token[TACIT_TOKEN_BYTES], uint8_t hash[TACIT_HASH_BYTES],
                 tacit_error *error) {
    Tacit__Wire__LookRequest request = TACIT__WIRE__LOOK_REQUEST__INIT;
    Tacit__Wire__LookReply *reply = NULL;
    tacit_buffer out = TACIT_BUFFER_INIT;
    request.protocol = TACIT_QUESTION_VERSION;
    request.token = (ProtobufCBinaryData){ TACIT_TOKEN_BYTES, token };
    ask(client, "/v1/look", &request, &out, error);
    must(
        tacit_wire_parse((void **)&reply, &tacit__wire__look_reply__descriptor, out.bytes, out.length, error),
        error);
    crypto_generichash(hash, TACIT_HASH_BYTES, (const uint8_t *)reply->definition, strlen(reply->definition),
                       NULL, 0);
    tacit_wire_free(reply);
    tacit_buffer_clear(&out);
}

static void join(tacit_client *client, uint8_t token[TACIT_TOKEN_BYTES], const char *signing_request,
                 uint8_t hash[TACIT_HASH_BYTES], FILE *certificates, tacit_error *error) {
    Tacit__Wire__JoinRequest request = TACIT__WIRE__JOIN_REQUEST__INIT;
    Tacit__Wire__JoinReply *reply = NULL;
    tacit_buffer out = TACIT_BUFFER_INIT;
    request.protocol = TACIT_QUESTION_VERSION;
    request.token = (ProtobufCBinaryData){ TACIT_TOKEN_BYTES, token };
    request.signing_request = (char *)(uintptr_t)signing_request;
    request.definition_hash = (ProtobufCBinaryData){ TACIT_HASH_BYTES, hash };
    uint8_t key[crypto_sign_PUBLICKEYBYTES], secret[crypto_sign_SECRETKEYBYTES], proof[crypto_sign_BYTES],
        digest[TACIT_DIGEST_BYTES];
    crypto_sign_keypair(key, secret); /* no sum is masked here */
    tacit_sum_key_digest(digest, hash, signing_request, key);
    crypto_sign_detached(proof, NULL, digest, sizeof digest, secret);
    request.sum_key = (ProtobufCBinaryData){ sizeof key, key };
    request.sum_proof = (ProtobufCBinaryData){ sizeof proof, proof };
    ask(client, "/v1/join", &request, &out, error);
    must(
        tacit_wire_parse((void **)&reply, &tacit__wire__join_reply__descriptor, out.bytes, out.length, error),
        error);
    fputs(reply->certificate, certificates);
    tacit_wire_free(reply);
    tacit_buffer_clear(&out);
}

/* Every invitation of standard input, which all are to one study of one coordinator. */
static int run_join(const char *key, const char *path, const char *authority) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_buffer signing_request = TACIT_BUFFER_INIT;
    tacit_client *client = NULL;
    tacit_invitation invitation;
    uint8_t hash[TACIT_HASH_BYTES];
    char *line = NULL;
    size_t room = 0, count = 0;
    FILE *certificates = fopen(path, "w");
    if (certificates == NULL) give_up(path);
    must(tacit_key_create(key, &error), &error);
    must(tacit_key_request(&signing_request, key, "party", &error), &error);
    double start = now();
    for (ssize_t length; (length = getline(&line, &room, stdin)) > 0; count++) {
        must(tacit_invitation_parse(&invitation, line, (size_t)length, &error), &error);
        if (client == NULL) {
            tacit_client_settings settings = { .url = invitation.url, .authority_file = authority };
            must(tacit_client_create(&client, &settings, &error), &error);
            look(client, invitation.token, hash, &error);
        }
        join(client, invitation.token, tacit_buffer_text(&signing_request), hash, certificates, &error);
    }
    printf("{\"joined\": %zu, \"seconds\": %.3f}\n", count, now() - start);
    fclose(certificates);
    tacit_client_free(client);
    tacit_buffer_clear(&signing_request);
    free(line);
    return 0;
}

/* ---- certificates ---- */

typedef struct purse {
    gnutls_certificate_credentials_t *own;
    size_t count;
} purse;

static purse read_purse(const char *certificates, const char *key) {
    static const char end[] = "-----END CERTIFICATE-----\n";
    tacit_error error = TACIT_ERROR_INIT;
    tacit_buffer pem = TACIT_BUFFER_INIT, secret = TACIT_BUFFER_INIT;
    purse out = { NULL, 0 };
    must(tacit_file_read(certificates, &pem, &error), &error);
    must(tacit_file_read(key, &secret, &error), &error);
    gnutls_datum_t private = { secret.bytes, (unsigned)secret.length };
    for (const char *at = tacit_buffer_text(&pem), *next; (next = strstr(at, end)) != NULL;
         at = next + sizeof end - 1) {
        gnutls_datum_t one = { (unsigned char *)(uintptr_t)at, (unsigned)(next - at + sizeof end - 1) };
        out.own = realloc(out.own, (out.count + 1) * sizeof *out.own);
        if (out.own == NULL) give_up("memory");
        must_tls(gnutls_certificate_allocate_credentials(&out.own[out.count]), "credentials");
        must_tls(gnutls_certificate_set_x509_key_mem(out.own[out.count], &one, &private, GNUTLS_X509_FMT_PEM),
                 "certificate");
        out.count++;
    }
    tacit_buffer_clear(&pem);
    tacit_buffer_clear(&secret);
    return out;
}

/* ---- as much of protobuf as is needed ---- */

typedef struct field {
    unsigned number;
    uint64_t value; /* or the length of the bytes */
    const uint8_t *bytes;
} field;

static uint64_t read_varint(const uint8_t **at, const uint8_t *end) {
    uint64_t value = 0;
    for (unsigned shift = 0; *at < end && shift < 64; shift += 7) {
        uint8_t byte = *(*at)++;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) break;
    }
    return value;
}

static bool next_field(field *out, const uint8_t **at, const uint8_t *end) {
    if (*at >= end) return false;
    uint64_t key = read_varint(at, end);
    *out = (field){ .number = (unsigned)(key >> 3) };
    if ((key & 7) == 0) {
        out->value = read_varint(at, end);
    } else {
        out->value = (key & 7) == 1 ? 8 : read_varint(at, end);
        out->bytes = *at;
        if (out->value > (uint64_t)(end - *at)) return false;
        *at += out->value;
    }
    return true;
}

static char *put_varint(char *at, uint64_t value) {
    for (; value > 0x7f; value >>= 7) *at++ = (char)(value | 0x80);
    *at++ = (char)value;
    return at;
}

static char *put_head(char *at, unsigned number, uint64_t length) {
    return put_varint(put_varint(at, number << 3 | 2), length);
}

/* ---- the swarm ---- */

typedef struct swarm {
    purse purse;
    wire *wires;
    size_t count, dialled, open, ended;
    int epoll;
    uint16_t port;
    const char *study;
    double *first; /* when a round's first question came */
    uint64_t rounds, answers;
    bool told_idle;
} swarm;

static void request(wire *self, const char *path, size_t length) {
    char head[128];
    int used = snprintf(head, sizeof head,
                        "POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Length: %zu\r\n\r\n", path, length);
    memcpy(wire_append(self, (size_t)used), head, (size_t)used);
}

static void poll_again(swarm *all, wire *self) {
    char body[128], *at = put_varint(put_varint(body, 1 << 3), TACIT_QUESTION_VERSION);
    at = put_head(at, 2, strlen(all->study));
    at = mempcpy(at, all->study, strlen(all->study));
    request(self, "/v1/poll", (size_t)(at - body));
    memcpy(wire_append(self, (size_t)(at - body)), body, (size_t)(at - body));
    wire_flush(self);
}

typedef struct asked {
    const uint8_t *id;
    uint64_t id_length, round, length; /* of the sum */
} asked;

static asked read_question(const uint8_t *at, const uint8_t *end) {
    asked out = { .id = NULL };
    field each, inner;
    while (next_field(&each, &at, end)) {
        const uint8_t *inside = each.bytes;
        if (each.number == 5) out.round = each.value;
        if (each.number == 7) out.id = each.bytes, out.id_length = each.value;
        if (each.number == 9 && next_field(&inner, &inside, each.bytes + each.value))
            out.length = inner.value;
    }
    return out;
}

/* Zeros, as many as are asked for. */
static void answer(swarm *all, wire *self, const asked *question) {
    char head[256], *at = put_varint(put_varint(head, 1 << 3), TACIT_QUESTION_VERSION), inner[16];
    uint64_t bytes = 8 * question->length;
    at = put_head(at, 2, strlen(all->study));
    at = mempcpy(at, all->study, strlen(all->study));
    at = put_varint(put_varint(at, 3 << 3), question->round);
    at = put_head(at, 4, question->id_length);
    at = mempcpy(at, question->id, question->id_length);
    size_t inner_length = (size_t)(put_head(inner, 1, bytes) - inner);
    at = put_head(at, 6, inner_length + bytes);
    at = mempcpy(at, inner, inner_length);
    request(self, "/v1/answer", (size_t)(at - head) + bytes);
    memcpy(wire_append(self, (size_t)(at - head)), head, (size_t)(at - head));
    memset(wire_append(self, bytes), 0, bytes);
    wire_flush(self);
    all->answers++;
}

static void take_news(swarm *all, wire *self, const uint8_t *at, size_t length) {
    const uint8_t *end = at + length;
    field each;
    while (next_field(&each, &at, end)) {
        if (each.number == 3) all->ended++;
        if (each.number != 2) continue;
        asked question = read_question(each.bytes, each.bytes + each.value);
        if (question.round < ROUNDS_MOST && question.round >= all->rounds) {
            all->rounds = question.round + 1;
            all->first[question.round] = now();
        }
        answer(all, self, &question);
    }
}

/* One whole reply at the front of what has come; false: not yet. */
static bool take_reply(swarm *all, wire *self) {
    if (self->in_length < 16) return false;
    char *stop = memmem(self->in, self->in_length, "\r\n\r\n", 4);
    if (stop == NULL) return false;
    size_t head = (size_t)(stop - self->in) + 4, length = 0;
    *stop = 0;
    const char *said = strcasestr(self->in, "\r\ncontent-length:");
    if (said != NULL) length = strtoul(said + 17, NULL, 10);
    *stop = '\r';
    if (self->in_length < head + length) return false;
    int status = atoi(self->in + 9);
    size_t ended = all->ended;
    uint64_t answers = all->answers;
    if (status != 200 && status != 204) {
        fprintf(stderr, "bench_load: %.*s\n", (int)(head + length), self->in);
        exit(1);
    }
    if (status == 200 && length > 0) take_news(all, self, (const uint8_t *)self->in + head, length);
    wire_consume(self, head + length);
    if (all->ended == ended && all->answers == answers) poll_again(all, self);
    return true;
}

static void dial_more(swarm *all) {
    while (all->dialled < all->count && all->dialled - all->open < SHAKING_MOST) {
        wire *self = &all->wires[all->dialled];
        self->number = all->dialled++;
        wire_dial(self, all->epoll, all->port, all->purse.own[self->number % all->purse.count]);
    }
}

static void wake(swarm *all, wire *self) {
    bool opened;
    bool alive = wire_advance(self, &opened);
    if (opened) {
        all->open++;
        poll_again(all, self);
        dial_more(all);
    }
    while (self->state == WIRE_OPEN && take_reply(all, self)) {
    }
    if (alive || all->ended > 0) return;
    fprintf(stderr, "bench_load: connection %zu was closed\n", self->number);
    exit(1);
}

static uint64_t total(const swarm *all, bool sent) {
    uint64_t bytes = 0;
    for (size_t i = 0; i < all->count; i++) bytes += sent ? all->wires[i].sent : all->wires[i].got;
    return bytes;
}

/* The seconds from each round's first question to the next one's. */
static void print_rounds(const swarm *all) {
    printf("{\"rounds\": %llu, \"answers\": %llu, \"sent\": %llu, \"got\": %llu, \"seconds\": [",
           (unsigned long long)all->rounds, (unsigned long long)all->answers,
           (unsigned long long)total(all, true), (unsigned long long)total(all, false));
    for (uint64_t i = 0; i + 1 < all->rounds; i++)
        printf("%s%.4f", i > 0 ? ", " : "", all->first[i + 1] - all->first[i]);
    printf("]}\n");
}

static int run_swarm(uint16_t port, const char *key, const char *certificates, size_t count,
                     const char *study) {
    swarm all = { .purse = read_purse(certificates, key),
                  .wires = calloc(count, sizeof(wire)),
                  .count = count,
                  .epoll = epoll_create1(EPOLL_CLOEXEC),
                  .port = port,
                  .study = study,
                  .first = calloc(ROUNDS_MOST, sizeof(double)) };
    struct epoll_event events[EVENTS], said = { .events = EPOLLIN, .data.ptr = NULL };
    bool stopped = false;
    if (all.wires == NULL || all.first == NULL || all.purse.count == 0)
        give_up("no memory, or no certificates");
    epoll_ctl(all.epoll, EPOLL_CTL_ADD, STDIN_FILENO, &said);
    dial_more(&all);
    while (!stopped && all.ended < all.count) {
        int ready = epoll_wait(all.epoll, events, EVENTS, -1);
        for (int i = 0; i < ready; i++) {
            if (events[i].data.ptr == NULL)
                stopped = true;
            else
                wake(&all, events[i].data.ptr);
        }
        if (all.open == all.count && !all.told_idle) {
            all.told_idle = true;
            printf("{\"connected\": %zu}\n", all.open);
            fflush(stdout);
        }
    }
    print_rounds(&all);
    return 0;
}

/* ---- the bare peer ---- */

typedef struct bare bare;

/* One thread of its server, with its share of the connections. */
typedef struct hall {
    bare *owner;
    wire *wires;
    size_t count, accepted, open;
    int epoll, bell;
    pthread_t thread;
} hall;

struct bare {
    size_t count, rounds, down, up, threads;
    gnutls_certificate_credentials_t own;
    int listener;
    hall *halls;
    atomic_size_t open, answered; /* the latter in this round */
    size_t round;
    double start;
};

static void ring(bare *all) {
    uint64_t one = 1;
    for (size_t k = 0; k < all->threads; k++)
        if (write(all->halls[k].bell, &one, sizeof one) != sizeof one) give_up("ringing");
}

static void ask_all(hall *self) {
    for (size_t i = 0; i < self->count; i++) {
        memset(wire_append(&self->wires[i], self->owner->down), 1, self->owner->down);
        wire_flush(&self->wires[i]);
    }
}

static void serve(hall *self, wire *each) {
    bare *all = self->owner;
    bool opened;
    wire_advance(each, &opened);
    if (opened && atomic_fetch_add(&all->open, 1) + 1 == all->count) {
        all->start = now();
        ring(all);
    }
    if (each->in_length < all->up) return;
    wire_consume(each, all->up);
    if (atomic_fetch_add(&all->answered, 1) + 1 < all->count) return;
    atomic_store(&all->answered, 0);
    all->round++;
    ring(all);
}

static void accept_more(hall *self) {
    while (self->accepted < self->count) {
        int taken = accept4(self->owner->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (taken < 0) return;
        wire *each = &self->wires[self->accepted++];
        each->socket = taken;
        wire_begin(each, self->epoll, GNUTLS_SERVER, self->owner->own);
    }
    epoll_ctl(self->epoll, EPOLL_CTL_DEL, self->owner->listener, NULL);
}

static void *hall_main(void *argument) {
    hall *self = argument;
    struct epoll_event events[EVENTS];
    for (;;) {
        int ready = epoll_wait(self->epoll, events, EVENTS, -1);
        for (int i = 0; i < ready; i++) {
            if (events[i].data.ptr == self) {
                uint64_t rung;
                if (read(self->bell, &rung, sizeof rung) != sizeof rung) continue;
                if (self->owner->round >= self->owner->rounds) return NULL;
                ask_all(self);
            } else if (events[i].data.ptr == self->owner) {
                accept_more(self);
            } else {
                serve(self, events[i].data.ptr);
            }
        }
    }
}

static void open_hall(bare *all, size_t k) {
    hall *self = &all->halls[k];
    *self = (hall){ .owner = all,
                    .count = all->count / all->threads + (k < all->count % all->threads),
                    .epoll = epoll_create1(EPOLL_CLOEXEC),
                    .bell = eventfd(0, EFD_NONBLOCK) };
    self->wires = calloc(self->count, sizeof(wire));
    struct epoll_event door = { .events = EPOLLIN, .data.ptr = all };
    struct epoll_event bell = { .events = EPOLLIN, .data.ptr = self };
    if (self->wires == NULL || epoll_ctl(self->epoll, EPOLL_CTL_ADD, all->listener, &door) != 0 ||
        epoll_ctl(self->epoll, EPOLL_CTL_ADD, self->bell, &bell) != 0 ||
        pthread_create(&self->thread, NULL, hall_main, self) != 0)
        give_up("a thread of the peer");
}

/* The parties of the bare peer: what comes is answered as soon as it is whole. */
static void be_parties(uint16_t port, const purse *mine, const bare *all) {
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    wire *wires = calloc(all->count, sizeof *wires);
    struct epoll_event events[EVENTS];
    size_t dialled = 0, open = 0, over = 0;
    if (wires == NULL) give_up("memory");
    while (over < all->count) {
        for (; dialled < all->count && dialled - open < SHAKING_MOST; dialled++)
            wire_dial(&wires[dialled], epoll, port, mine->own[dialled % mine->count]);
        int ready = epoll_wait(epoll, events, EVENTS, -1);
        for (int i = 0; i < ready; i++) {
            wire *each = events[i].data.ptr;
            bool opened, alive = wire_advance(each, &opened);
            open += opened;
            for (; each->state == WIRE_OPEN && each->in_length >= all->down;) {
                wire_consume(each, all->down);
                memset(wire_append(each, all->up), 0, all->up);
                wire_flush(each);
                over += ++each->number == all->rounds;
            }
            if (!alive && each->number < all->rounds) give_up("the peer hung up");
        }
    }
    _exit(0);
}

static int run_peer(const char *folder, const char *key, const char *certificates, bare all) {
    char server_key[4096], server_certificate[4096];
    purse mine = read_purse(certificates, key);
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t size = sizeof at;
    snprintf(server_key, sizeof server_key, "%s/server.key", folder);
    snprintf(server_certificate, sizeof server_certificate, "%s/server.crt", folder);
    all.listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (all.listener < 0 || bind(all.listener, (struct sockaddr *)&at, sizeof at) != 0 ||
        listen(all.listener, 1024) != 0 || getsockname(all.listener, (struct sockaddr *)&at, &size) != 0)
        give_up("listening");
    pid_t parties = fork();
    if (parties < 0) give_up("fork");
    if (parties == 0) be_parties(ntohs(at.sin_port), &mine, &all);
    must_tls(gnutls_certificate_allocate_credentials(&all.own), "credentials");
    must_tls(
        gnutls_certificate_set_x509_key_file(all.own, server_certificate, server_key, GNUTLS_X509_FMT_PEM),
        "the server's certificate");
    all.halls = calloc(all.threads, sizeof *all.halls);
    if (all.halls == NULL) give_up("memory");
    for (size_t k = 0; k < all.threads; k++) open_hall(&all, k);
    for (size_t k = 0; k < all.threads; k++) pthread_join(all.halls[k].thread, NULL);
    double seconds = now() - all.start;
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    printf("{\"rounds\": %zu, \"seconds\": %.4f, \"memory\": %ld, \"processor\": %.3f}\n", all.rounds,
           seconds, used.ru_maxrss,
           (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
               1e-6 * (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec));
    waitpid(parties, NULL, 0);
    return 0;
}

int main(int count, char **words) {
    if (sodium_init() < 0) return 1;
    allow_files();
    if (count == 5 && strcmp(words[1], "join") == 0) return run_join(words[2], words[3], words[4]);
    if (count == 7 && strcmp(words[1], "swarm") == 0)
        return run_swarm((uint16_t)atoi(words[2]), words[3], words[4], strtoul(words[5], NULL, 10), words[6]);
    if (count == 10 && strcmp(words[1], "peer") == 0)
        return run_peer(words[2], words[3], words[4],
                        (bare){ .count = strtoul(words[5], NULL, 10),
                                .rounds = strtoul(words[6], NULL, 10),
                                .down = strtoul(words[7], NULL, 10),
                                .up = strtoul(words[8], NULL, 10),
                                .threads = strtoul(words[9], NULL, 10) });
    fputs("bench_load: run bench/run_load\n", stderr);
    return 2;
}
