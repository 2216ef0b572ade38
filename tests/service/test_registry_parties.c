/* Parties in a coordinator's registry: invitations that work once, also for processes at once; certificates,
 * states and versions of their study, journals. */
#include <fcntl.h>
#include <pthread.h>

#include <sodium.h>

#include "coordinator/coordinator_parts.h"
#include "session/wire/wire.h"
#include "tacit.pb-c.h"
#include "world.h"

/* ---- invitations ---- */

static void an_invitation_works_once_for_one_key(void **state) {
    (void)state;
    world w = begin();
    ticket first = invite(&w, 1);
    char party[TACIT_ID_SIZE], again[TACIT_ID_SIZE], study[TACIT_ID_SIZE];
    tacit_buffer certificate = TACIT_BUFFER_INIT;
    assert_int_equal(look_up(&w, "s").joined, 0);
    CHECK_OK(tacit_registry_look(w.registry, first.hash, NOW, study, &w.error), w.error);
    assert_string_equal(study, "s");
    join(&w, &first, 7, party);
    assert_int_equal(look_up(&w, "s").joined, 1);
    CHECK_OK(redeem(w.registry, &first, 7, NOW, again, &certificate, &w.error), w.error);
    assert_string_equal(again, party);
    assert_string_equal(tacit_buffer_text(&certificate), "certificate");
    fails(&w, redeem(w.registry, &first, 8, NOW, again, &certificate, &w.error), TACIT_REFUSED,
          "has been used");
    /* A second certificate for the same request changes nothing: the stored one counts. */
    CHECK_OK(tacit_registry_admit(w.registry, first.hash, "late", "print-late", NOW, &w.error), w.error);
    tacit_buffer_clear(&certificate);
    CHECK_OK(redeem(w.registry, &first, 7, NOW, again, &certificate, &w.error), w.error);
    assert_string_equal(tacit_buffer_text(&certificate), "certificate");
    assert_true(tacit_registry_revoked(w.registry, "print-late"));
    tacit_buffer_clear(&certificate);
    end(&w);
}

/* ---- keys for secure sums ---- */

/* In a roster one party would otherwise count as two. */
static void two_parties_do_not_have_the_same_key_for_sums(void **state) {
    (void)state;
    world w = begin();
    const uint8_t key[TACIT_SIGNING_KEY_BYTES] = { 1 }, other[TACIT_SIGNING_KEY_BYTES] = { 2 };
    ticket tickets[2] = { invite(&w, 1), invite(&w, 2) };
    char first[TACIT_ID_SIZE], second[TACIT_ID_SIZE];
    join(&w, &tickets[0], 7, first);
    join(&w, &tickets[1], 8, second);
    CHECK_OK(tacit_registry_set_signer(w.registry, first, key, &w.error), w.error);
    CHECK_OK(tacit_registry_set_signer(w.registry, first, key, &w.error), w.error); /* after a crash */
    fails(&w, tacit_registry_set_signer(w.registry, second, key, &w.error), TACIT_REFUSED,
          "has joined with the same key");
    CHECK_OK(tacit_registry_set_signer(w.registry, "of-another-study", key, &w.error), w.error);
    CHECK_OK(tacit_registry_set_signer(w.registry, second, other, &w.error), w.error);
    end(&w);
}

static tacit_status shows(const char *request, const uint8_t definition[TACIT_HASH_BYTES],
                          const uint8_t key[TACIT_SIGNING_KEY_BYTES], const uint8_t *proof, size_t length,
                          tacit_error *error) {
    return coordinator_check_sum_key(
        (ProtobufCBinaryData){ TACIT_HASH_BYTES, (uint8_t *)(uintptr_t)definition }, request,
        (ProtobufCBinaryData){ TACIT_SIGNING_KEY_BYTES, (uint8_t *)(uintptr_t)key },
        (ProtobufCBinaryData){ length, (uint8_t *)(uintptr_t)proof }, error);
}

/* A key that was seen on another roster cannot be joined with, nor the words of somebody who joined elsewhere
 * be said again. */
static void who_joins_shows_that_its_key_for_sums_is_its_own(void **state) {
    (void)state;
    world w = begin();
    uint8_t key[TACIT_SIGNING_KEY_BYTES], secret[crypto_sign_SECRETKEYBYTES], digest[TACIT_DIGEST_BYTES],
        proof[crypto_sign_BYTES], foreign[TACIT_SIGNING_KEY_BYTES], unused[crypto_sign_SECRETKEYBYTES];
    const uint8_t definition[TACIT_HASH_BYTES] = { 3 }, another[TACIT_HASH_BYTES] = { 4 };
    static const char says[] = "is its own";
    crypto_sign_keypair(key, secret);
    crypto_sign_keypair(foreign, unused);
    tacit_sum_key_digest(digest, definition, "request", key);
    crypto_sign_detached(proof, NULL, digest, sizeof digest, secret);
    CHECK_OK(shows("request", definition, key, proof, sizeof proof, &w.error), w.error);
    fails(&w, shows("request", definition, foreign, proof, sizeof proof, &w.error), TACIT_PROTOCOL, says);
    fails(&w, shows("other", definition, key, proof, sizeof proof, &w.error), TACIT_PROTOCOL, says);
    fails(&w, shows("request", another, key, proof, sizeof proof, &w.error), TACIT_PROTOCOL, says);
    fails(&w, shows("request", definition, key, proof, sizeof proof - 1, &w.error), TACIT_PROTOCOL, says);
    fails(&w, shows("request", definition, key, NULL, 0, &w.error), TACIT_PROTOCOL, "update its program");
    end(&w);
}

/* Owners compare what is shown: two rosters that differ look different, in 160 bits or more. */
static void a_roster_is_told_by_192_bits(void **state) {
    (void)state;
    char text[TACIT_ROSTER_TEXT_SIZE], other[TACIT_ROSTER_TEXT_SIZE];
    uint8_t digest[TACIT_DIGEST_BYTES] = { 0x1e, 0x13 };
    tacit_roster_text(text, digest);
    assert_string_equal(text, "1e130000-00000000-00000000-00000000-00000000-00000000");
    for (size_t i = 0; i < 192 / 8; i++) {
        digest[i] ^= 1;
        tacit_roster_text(other, digest);
        assert_string_not_equal(other, text);
        digest[i] ^= 1;
    }
}

static void an_invitation_is_refused_when_unknown_expired_or_too_late(void **state) {
    (void)state;
    world w = begin();
    ticket known = invite(&w, 1), used = invite(&w, 2), unknown = { { 99 } };
    char text[TACIT_ID_SIZE];
    tacit_buffer none = TACIT_BUFFER_INIT;
    fails(&w, tacit_registry_look(w.registry, unknown.hash, NOW, text, &w.error), TACIT_REFUSED, "not known");
    fails(&w, tacit_registry_look(w.registry, known.hash, LATER, text, &w.error), TACIT_REFUSED, "expired");
    fails(&w, redeem(w.registry, &known, 1, LATER, text, &none, &w.error), TACIT_REFUSED, "expired");
    join(&w, &used, 1, text);
    CHECK_OK(tacit_registry_look(w.registry, used.hash, LATER, text, &w.error), w.error); /* in is in */
    set_state(&w, "s", TACIT_STUDY_RUNNING);
    fails(&w, tacit_registry_look(w.registry, known.hash, NOW, text, &w.error), TACIT_REFUSED, "has begun");
    fails(&w, redeem(w.registry, &known, 5, NOW, text, &none, &w.error), TACIT_REFUSED, "has begun");
    CHECK_OK(redeem(w.registry, &used, 1, LATER, text, &none, &w.error), w.error); /* after a crash */
    tacit_buffer_clear(&none);
    set_state(&w, "s", TACIT_STUDY_CLOSED);
    fails(&w, tacit_registry_look(w.registry, known.hash, NOW, text, &w.error), TACIT_REFUSED, "has ended");
    fails(&w, tacit_registry_look(w.registry, used.hash, NOW, text, &w.error), TACIT_REFUSED, "has ended");
    end(&w);
}

static void no_more_parties_join_than_the_study_has_seats(void **state) {
    (void)state;
    world w = begin();
    char party[SEATS + 1][TACIT_ID_SIZE];
    tacit_buffer none = TACIT_BUFFER_INIT;
    for (int i = 0; i < SEATS; i++) {
        ticket one = invite(&w, i);
        join(&w, &one, i, party[i]);
    }
    ticket extra = invite(&w, 50);
    fails(&w, redeem(w.registry, &extra, 50, NOW, party[SEATS], &none, &w.error), TACIT_REFUSED,
          "all its 3 parties");
    CHECK_OK(tacit_registry_revoke(w.registry, party[0], &w.error), w.error); /* its seat is free again */
    join(&w, &extra, 50, party[SEATS]);
    end(&w);
}

/* ---- two processes at once ---- */

enum { PROCESSES = 6 };

static void redeem_in_child(const char *path, int key, const int ready[2]) {
    tacit_registry *registry = NULL;
    ticket one = { { 1 } };
    char party[TACIT_ID_SIZE], byte;
    tacit_buffer none = TACIT_BUFFER_INIT;
    if (tacit_registry_open(&registry, path, false, NULL) != TACIT_OK) _exit(9);
    close(ready[1]);
    if (read(ready[0], &byte, 1) != 0) _exit(8); /* the pipe's end is the signal to start, for all at once */
    tacit_status status = redeem(registry, &one, key, NOW, party, &none, NULL);
    tacit_registry_close(registry);
    _exit(status == TACIT_OK ? 0 : status == TACIT_REFUSED ? 3 : 1);
}

static void of_processes_that_redeem_one_token_at_once_one_wins(void **state) {
    (void)state;
    for (int round = 0; round < 5; round++) {
        world w = begin();
        int ready[2], won = 0;
        pid_t child[PROCESSES];
        invite(&w, 1);
        w.registry = tacit_registry_close(w.registry);
        assert_int_equal(pipe(ready), 0);
        for (int i = 0; i < PROCESSES; i++) {
            child[i] = fork();
            assert_true(child[i] >= 0);
            if (child[i] == 0) redeem_in_child(w.place.path, i + 1, ready);
        }
        close(ready[0]);
        close(ready[1]);
        for (int i = 0; i < PROCESSES; i++) {
            int status = 0;
            assert_int_equal(waitpid(child[i], &status, 0), child[i]);
            assert_true(WIFEXITED(status));
            assert_true(WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == 3);
            won += WEXITSTATUS(status) == 0;
        }
        assert_int_equal(won, 1);
        end(&w);
    }
}

static void *add_and_read(void *context) {
    world *w = context;
    for (int i = 0; i < 50; i++) {
        tacit_study_record record;
        char value[32];
        if (tacit_registry_set(w->registry, "url", "https://x", NULL) != TACIT_OK) return w;
        if (tacit_registry_get(w->registry, "url", value, sizeof value, NULL) != TACIT_OK) return w;
        if (tacit_registry_study(w->registry, "s", &record, NULL, NULL) != TACIT_OK) return w;
        if (!tacit_registry_revoked(w->registry, "nobody")) return w;
    }
    return NULL;
}

static void any_thread_may_use_it(void **state) {
    (void)state;
    world w = begin();
    pthread_t threads[4];
    for (int i = 0; i < 4; i++) assert_int_equal(pthread_create(&threads[i], NULL, add_and_read, &w), 0);
    for (int i = 0; i < 4; i++) {
        void *failed = &w;
        assert_int_equal(pthread_join(threads[i], &failed), 0);
        assert_null(failed);
    }
    end(&w);
}

/* ---- parties and journals ---- */

static tacit_status count_party(void *context, const char *party, bool away, tacit_error *error) {
    (void)error;
    assert_non_null(strstr(party, "party-"));
    *(size_t *)context += !away;
    return TACIT_OK;
}

static void a_revoked_party_is_out(void **state) {
    (void)state;
    world w = begin();
    ticket one = invite(&w, 1), two = invite(&w, 2);
    char party[TACIT_ID_SIZE], other[TACIT_ID_SIZE], study[TACIT_ID_SIZE];
    size_t count = 0;
    join(&w, &one, 1, party);
    join(&w, &two, 2, other);
    assert_string_not_equal(party, other);
    CHECK_OK(tacit_registry_party_study(w.registry, party, study, &w.error), w.error);
    assert_string_equal(study, "s");
    fails(&w, tacit_registry_party_study(w.registry, "party-none", study, &w.error), TACIT_NOT_FOUND,
          "no part");
    assert_false(tacit_registry_revoked(w.registry, "print-1"));
    assert_true(tacit_registry_revoked(w.registry, "print-unknown"));
    CHECK_OK(tacit_registry_revoke(w.registry, party, &w.error), w.error);
    assert_true(tacit_registry_revoked(w.registry, "print-1"));
    assert_false(tacit_registry_revoked(w.registry, "print-2"));
    CHECK_OK(tacit_registry_parties(w.registry, "s", count_party, &count, &w.error), w.error);
    assert_int_equal(count, 1);
    assert_int_equal(look_up(&w, "s").joined, 1);
    fails(&w, tacit_registry_revoke(w.registry, "party-none", &w.error), TACIT_NOT_FOUND, "party-none");
    end(&w);
}

static void a_party_has_its_renewed_certificates_too(void **state) {
    (void)state;
    world w = begin();
    ticket one = invite(&w, 1);
    char party[TACIT_ID_SIZE], print[32];
    uint8_t request[TACIT_HASH_BYTES] = { 9 };
    tacit_buffer found = TACIT_BUFFER_INIT;
    join(&w, &one, 1, party);
    CHECK_OK(tacit_registry_find_renewal(w.registry, party, request, NOW, &found, &w.error), w.error);
    assert_int_equal(found.length, 0);
    CHECK_OK(
        tacit_registry_keep_renewal(w.registry, party, request, "next", "print-next", LATER, NOW, &w.error),
        w.error);
    CHECK_OK(tacit_registry_find_renewal(w.registry, party, request, NOW, &found, &w.error), w.error);
    assert_string_equal(tacit_buffer_text(&found), "next");
    assert_false(tacit_registry_revoked(w.registry, "print-1"));
    assert_false(tacit_registry_revoked(w.registry, "print-next"));
    /* Not without bound, unless earlier ones have ended. */
    for (uint8_t i = 0; i < 15; i++) {
        request[1] = (uint8_t)(i + 1);
        snprintf(print, sizeof print, "print-more-%d", i);
        CHECK_OK(tacit_registry_keep_renewal(w.registry, party, request, "more", print, LATER, NOW, &w.error),
                 w.error);
    }
    fails(&w, tacit_registry_keep_renewal(w.registry, party, request, "x", "print-x", LATER, NOW, &w.error),
          TACIT_REFUSED, "certificates");
    CHECK_OK(
        tacit_registry_keep_renewal(w.registry, party, request, "x", "print-x", LATER + 9, LATER, &w.error),
        w.error);
    assert_true(tacit_registry_revoked(w.registry, "print-next")); /* ended, and forgotten */
    assert_false(tacit_registry_revoked(w.registry, "print-x"));
    CHECK_OK(tacit_registry_revoke(w.registry, party, &w.error), w.error);
    assert_true(tacit_registry_revoked(w.registry, "print-1"));
    assert_true(tacit_registry_revoked(w.registry, "print-x"));
    tacit_buffer_clear(&found);
    CHECK_OK(tacit_registry_revocations(w.registry, "s", &found, &w.error), w.error);
    assert_non_null(strstr(tacit_buffer_text(&found), "tacit revocations 1\nstudy s\nserial 2\n"));
    assert_non_null(strstr(tacit_buffer_text(&found), "\nprint-1 party-"));
    assert_non_null(strstr(tacit_buffer_text(&found), "\nprint-x party-"));
    tacit_buffer_clear(&found);
    CHECK_OK(tacit_registry_revocations(w.registry, "another", &found, &w.error), w.error);
    assert_int_equal(found.length, 0);
    end(&w);
}

/* ---- drafts, pauses, versions ---- */

static void a_study_moves_between_its_states_only_as_it_may(void **state) {
    (void)state;
    world w = begin();
    CHECK_OK(tacit_registry_add_draft(w.registry, "d", "draft", NULL, &w.error), w.error);
    assert_int_equal(look_up(&w, "d").state, TACIT_STUDY_DRAFT);
    fails(&w, tacit_registry_pause(w.registry, "d", &w.error), TACIT_USAGE, "is draft");
    fails(&w, tacit_registry_resume(w.registry, "d", &w.error), TACIT_USAGE, "is draft");
    CHECK_OK(tacit_registry_open_draft(w.registry, "d", &w.error), w.error);
    fails(&w, tacit_registry_open_draft(w.registry, "d", &w.error), TACIT_USAGE, "recruiting");
    static const tacit_study_state under_way[] = { TACIT_STUDY_RECRUITING, TACIT_STUDY_RUNNING };
    for (size_t i = 0; i < 2; i++) {
        set_state(&w, "d", under_way[i]);
        CHECK_OK(tacit_registry_pause(w.registry, "d", &w.error), w.error);
        assert_int_equal(look_up(&w, "d").state, TACIT_STUDY_PAUSED);
        fails(&w, tacit_registry_pause(w.registry, "d", &w.error), TACIT_USAGE, "paused");
        CHECK_OK(tacit_registry_resume(w.registry, "d", &w.error), w.error);
        assert_int_equal(look_up(&w, "d").state, under_way[i]);
    }
    fails(&w, tacit_registry_pause(w.registry, "none", &w.error), TACIT_NOT_FOUND, "'none'");
    set_state(&w, "d", TACIT_STUDY_CLOSED);
    fails(&w, tacit_registry_resume(w.registry, "d", &w.error), TACIT_USAGE, "closed");
    fails(&w, tacit_registry_amend(w.registry, "d", "new", NULL, &w.error), TACIT_USAGE, "closed");
    end(&w);
}

static tacit_presence presence_of(world *w, const char *party) {
    tacit_presence presence;
    CHECK_OK(tacit_registry_presence(w->registry, party, &presence, &w->error), w->error);
    return presence;
}

static size_t seated(world *w) {
    size_t count = 0;
    CHECK_OK(tacit_registry_parties(w->registry, "s", count_party, &count, &w->error), w->error);
    return count;
}

static void a_study_that_failed_recruits_again_when_it_is_amended(void **state) {
    (void)state;
    world w = begin();
    ticket first = invite(&w, 1);
    char one[TACIT_ID_SIZE];
    bool changed = false;
    uint8_t secret[TACIT_STREAM_KEY_BYTES];
    join(&w, &first, 1, one);
    set_state(&w, "s", TACIT_STUDY_RUNNING);
    CHECK_OK(tacit_registry_set_state(w.registry, "s", TACIT_STUDY_FAILED, "lost", NULL, &w.error), w.error);
    fails(&w, tacit_registry_amend(w.registry, "s", "definition", NULL, &w.error), TACIT_USAGE, "already");
    CHECK_OK(tacit_registry_amend(w.registry, "s", "new", NULL, &w.error), w.error);
    tacit_study_record record = look_up(&w, "s");
    assert_true(record.version == 2 && record.joined == 0 && record.outdated == 1 && record.rounds == 0);
    assert_int_equal(record.state, TACIT_STUDY_RECRUITING);
    assert_string_equal(record.reason, "");
    read_secret(&w, secret); /* there is one again */
    CHECK_OK(tacit_registry_enter(w.registry, one, 2, 1, &changed, &w.error), w.error);
    assert_true(!changed && presence_of(&w, one).consented);
    /* Other ends stay. */
    CHECK_OK(tacit_registry_set_state(w.registry, "s", TACIT_STUDY_CLOSED, "", NULL, &w.error), w.error);
    fails(&w, tacit_registry_amend(w.registry, "s", "newer", NULL, &w.error), TACIT_USAGE,
          "a draft, recruiting, paused or failed can be amended");
    end(&w);
}

static void an_amended_study_has_no_parties_until_they_consent(void **state) {
    (void)state;
    world w = begin();
    ticket first = invite(&w, 1), second = invite(&w, 2);
    char one[TACIT_ID_SIZE], two[TACIT_ID_SIZE];
    uint8_t before[TACIT_STREAM_KEY_BYTES], after[TACIT_STREAM_KEY_BYTES];
    tacit_buffer definition = TACIT_BUFFER_INIT;
    tacit_study_record record;
    join(&w, &first, 1, one);
    join(&w, &second, 2, two);
    read_secret(&w, before);
    fails(&w, tacit_registry_amend(w.registry, "s", "definition", NULL, &w.error), TACIT_USAGE, "already");
    set_state(&w, "s", TACIT_STUDY_RUNNING);
    fails(&w, tacit_registry_amend(w.registry, "s", "new", NULL, &w.error), TACIT_USAGE, "running");
    CHECK_OK(tacit_registry_pause(w.registry, "s", &w.error), w.error);
    CHECK_OK(tacit_registry_amend(w.registry, "s", "new", NULL, &w.error), w.error);
    CHECK_OK(tacit_registry_study(w.registry, "s", &record, &definition, &w.error), w.error);
    assert_string_equal(tacit_buffer_text(&definition), "new");
    assert_true(record.version == 2 && record.joined == 0 && record.outdated == 2 && record.rounds == 0);
    assert_int_equal(record.state, TACIT_STUDY_PAUSED);
    assert_int_equal(seated(&w), 0);
    read_secret(&w, after);
    assert_memory_not_equal(before, after,
                            sizeof before); /* no answer id of the earlier version comes again */
    CHECK_OK(tacit_registry_resume(w.registry, "s", &w.error), w.error);
    assert_int_equal(look_up(&w, "s").state, TACIT_STUDY_RECRUITING); /* rounds begin again */
    assert_false(presence_of(&w, one).consented);
    bool changed = false;
    CHECK_OK(tacit_registry_enter(w.registry, one, 1, 1, &changed, &w.error), w.error);
    assert_true(changed); /* consent to the version before is none to this one */
    assert_false(presence_of(&w, one).consented);
    CHECK_OK(tacit_registry_enter(w.registry, one, 2, 1, &changed, &w.error), w.error);
    assert_false(changed);
    assert_true(presence_of(&w, one).consented && !presence_of(&w, one).away);
    assert_int_equal(look_up(&w, "s").joined, 1);
    assert_int_equal(seated(&w), 1);
    CHECK_OK(tacit_registry_leave(w.registry, one, &w.error), w.error);
    assert_true(presence_of(&w, one).away);
    assert_int_equal(seated(&w), 0);
    fails(&w, tacit_registry_enter(w.registry, two, 2, 1, &changed, &w.error), TACIT_REFUSED,
          "all its 1 parties");
    assert_false(presence_of(&w, two).consented);
    CHECK_OK(tacit_registry_enter(w.registry, one, 2, 1, &changed, &w.error),
             w.error); /* its seat is its own */
    fails(&w, tacit_registry_start(w.registry, "s", 1, &w.error), TACIT_USAGE, "changed meanwhile");
    CHECK_OK(tacit_registry_start(w.registry, "s", 2, &w.error), w.error);
    fails(&w, tacit_registry_start(w.registry, "s", 2, &w.error), TACIT_USAGE, "changed meanwhile");
    assert_int_equal(look_up(&w, "s").state, TACIT_STUDY_RUNNING);
    tacit_presence unused;
    fails(&w, tacit_registry_presence(w.registry, "nobody", &unused, &w.error), TACIT_NOT_FOUND, "nobody");
    tacit_buffer_clear(&definition);
    end(&w);
}

/* Whether the coordinator answers a poll with the amended definition. `text` is the definition that the party
 * has consented to. */
static bool is_told(world *w, coordinator *self, const char *party, const char *text) {
    uint8_t hash[TACIT_HASH_BYTES];
    Tacit__Wire__PollRequest request = TACIT__WIRE__POLL_REQUEST__INIT;
    coordinator_reply reply = { .study = "s", .bytes = TACIT_BUFFER_INIT };
    tacit_buffer body = TACIT_BUFFER_INIT;
    bool leaving = true, amended = false;
    crypto_generichash(hash, sizeof hash, (const uint8_t *)text, strlen(text), NULL, 0);
    request.study = (char *)(uintptr_t) "s";
    request.consented = (ProtobufCBinaryData){ sizeof hash, hash };
    CHECK_OK(tacit_wire_say(&body, &request, 0, &w->error), w->error);
    CHECK_OK(coordinator_take_standing(self, party, &body, &reply, &leaving, &amended, &w->error), w->error);
    assert_false(leaving);
    tacit_buffer_clear(&body);
    return amended;
}

/* The main loop looks at the registry ten times a second: in between it serves a version that is no more. */
static void who_consented_to_an_amendment_before_it_is_served_is_not_told_again(void **state) {
    (void)state;
    world w = begin();
    ticket first = invite(&w, 1);
    char party[TACIT_ID_SIZE];
    tacit_study old = { .name = "s" };
    hosted behind = { .study = &old, .version = 1 };
    static coordinator self;
    self = (coordinator){ .registry = w.registry, .studies = &behind };
    pthread_mutex_init(&self.mutex, NULL);
    crypto_generichash(old.hash, sizeof old.hash, (const uint8_t *)"definition", 10, NULL, 0);
    join(&w, &first, 1, party);
    assert_false(is_told(&w, &self, party, "definition"));
    CHECK_OK(tacit_registry_amend(w.registry, "s", "new", NULL, &w.error), w.error);
    assert_true(is_told(&w, &self, party, "definition"));
    assert_true(is_told(&w, &self, party, "another"));
    assert_false(is_told(&w, &self, party, "new"));
    assert_false(presence_of(&w, party).consented); /* it enters once the new version is served */
    self.studies = NULL;
    assert_false(is_told(&w, &self, party, "new"));
    assert_true(is_told(&w, &self, party, "definition"));
    pthread_mutex_destroy(&self.mutex);
    end(&w);
}

static void a_journal_gives_back_what_was_written(void **state) {
    (void)state;
    world w = begin();
    tacit_journal journal, other;
    tacit_buffer out = TACIT_BUFFER_INIT;
    const uint8_t bytes[] = { 0, 1, 255, 0 };
    bool found = true;
    uint64_t round = 99;
    CHECK_OK(tacit_registry_add_study(w.registry, "t", "definition", NULL, &w.error), w.error);
    CHECK_OK(tacit_registry_journal(w.registry, "s", &journal, &w.error), w.error);
    CHECK_OK(tacit_registry_journal(w.registry, "t", &other, &w.error), w.error);
    CHECK_OK(journal.read(journal.context, 0, &found, &out, &w.error), w.error);
    assert_false(found);
    CHECK_OK(journal.write(journal.context, 0, bytes, sizeof bytes, &w.error), w.error);
    assert_int_not_equal(journal.write(journal.context, 0, bytes, 1, NULL),
                         TACIT_OK); /* a round is written once */
    CHECK_OK(journal.read(journal.context, 0, &found, &out, &w.error), w.error);
    assert_true(found);
    assert_int_equal(out.length, sizeof bytes);
    assert_memory_equal(out.bytes, bytes, sizeof bytes);
    CHECK_OK(other.read(other.context, 0, &found, &out, &w.error), w.error);
    assert_false(found);
    CHECK_OK(journal.read_checkpoint(journal.context, &found, &round, &out, &w.error), w.error);
    assert_false(found);
    CHECK_OK(journal.write_checkpoint(journal.context, 3, bytes, sizeof bytes, &w.error), w.error);
    CHECK_OK(journal.write_checkpoint(journal.context, 7, bytes, 2, &w.error), w.error);
    tacit_buffer_clear(&out);
    CHECK_OK(journal.read_checkpoint(journal.context, &found, &round, &out, &w.error), w.error);
    assert_true(found);
    assert_int_equal(round, 7);
    assert_int_equal(out.length, 2);
    assert_int_equal(look_up(&w, "s").rounds, 1);
    tacit_buffer_clear(&out);
    free(journal.context);
    free(other.context);
    end(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_invitation_works_once_for_one_key),
        cmocka_unit_test(two_parties_do_not_have_the_same_key_for_sums),
        cmocka_unit_test(who_joins_shows_that_its_key_for_sums_is_its_own),
        cmocka_unit_test(a_roster_is_told_by_192_bits),
        cmocka_unit_test(an_invitation_is_refused_when_unknown_expired_or_too_late),
        cmocka_unit_test(no_more_parties_join_than_the_study_has_seats),
        cmocka_unit_test(of_processes_that_redeem_one_token_at_once_one_wins),
        cmocka_unit_test(any_thread_may_use_it),
        cmocka_unit_test(a_revoked_party_is_out),
        cmocka_unit_test(a_party_has_its_renewed_certificates_too),
        cmocka_unit_test(a_study_moves_between_its_states_only_as_it_may),
        cmocka_unit_test(a_study_that_failed_recruits_again_when_it_is_amended),
        cmocka_unit_test(an_amended_study_has_no_parties_until_they_consent),
        cmocka_unit_test(who_consented_to_an_amendment_before_it_is_served_is_not_told_again),
        cmocka_unit_test(a_journal_gives_back_what_was_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
