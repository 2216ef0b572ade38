/* The parties, what the coordinator asks them, and what it keeps of their answers. */
#include "lies_parts.h"

#include <math.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void lies_must(tacit_status status) {
    if (status != TACIT_OK) abort();
}

/* ---- a method whose parties give a constant ---- */

static tacit_price price_of(const tacit_plan *plan) {
    return (tacit_price){ TACIT_UNIT_RECORD, tacit_plan_shares_noise(plan) ? 0.1 : INFINITY, 0 };
}

/* How much noise it is does not matter here, and what it is added to neither. */
static tacit_status answer_noised(tacit_party *party, const tacit_question *question, tacit_reply *reply,
                                  tacit_error *error) {
    const tacit_mechanism mechanism = { TACIT_LAW_LAPLACE, 1, reply->price };
    const double value = 0.5;
    return tacit_mechanism_release(&reply->noised, &party->noise, &mechanism, &value, 1,
                                   question->sum.grid_bits, question->sum.bound, error);
}

static tacit_status answer_value(tacit_party *party, const tacit_question *question, tacit_reply *reply,
                                 tacit_error *error) {
    reply->kind = party->plan->method->release_kind(party->plan);
    reply->noise = reply->kind == TACIT_RELEASE_SEALED ? TACIT_NOISE_EXACT : TACIT_NOISE_NONE;
    reply->price = price_of(party->plan);
    reply->assumption = "the sum is secure";
    if (reply->kind == TACIT_RELEASE_SEALED) return answer_noised(party, question, reply, error);
    reply->contribution = calloc(question->sum.length, sizeof *reply->contribution);
    return reply->contribution != NULL ? TACIT_OK : tacit_fail_memory(error);
}

static tacit_status price_of_sum(const tacit_plan *plan, tacit_prepared **prepared, tacit_prices *out,
                                 tacit_error *error) {
    (void)prepared;
    (void)error;
    out->charged = out->claimed = price_of(plan);
    if (tacit_plan_shares_noise(plan)) out->event = tacit_event_pure(0.1, LIES_ROUNDS);
    return TACIT_OK;
}

static tacit_release_kind kind_of_sum(const tacit_plan *plan) {
    return tacit_plan_shares_noise(plan) ? TACIT_RELEASE_SEALED : TACIT_RELEASE_ENTRUSTED;
}

static const tacit_handler_entry handlers[] = { { .question = "value", .answer = answer_value },
                                                { .question = NULL } };
typedef struct method_settings {
    enum { NOBODYS, SHARED } noise;
} method_settings;
static const method_settings defaults = { .noise = NOBODYS };
static const tacit_parameter parameters[] = { TACIT_CHOICE(method_settings, noise, "noise", "none|shares",
                                                           "whose noise is in the sum"),
                                              TACIT_SETTINGS_END };
static bool is_shared(const tacit_plan *plan) {
    return TACIT_SETTINGS(method_settings, plan)->noise == SHARED;
}
static const tacit_method method = { .name = "lies",
                                     .version = 1,
                                     .handlers = handlers,
                                     TACIT_SETTINGS_OF(parameters, defaults),
                                     .shares_noise = is_shared,
                                     .price = price_of_sum,
                                     .release_kind = kind_of_sum };

/* ---- parties ---- */

static tacit_status read_kept(void *context, const char *name, bool *found, tacit_buffer *out,
                              tacit_error *error) {
    const lies_party *self = context;
    *found = false;
    for (size_t i = 0; i < LIES_FILES; i++) {
        if (strcmp(self->names[i], name) != 0) continue;
        *found = true;
        return tacit_buffer_append(out, self->kept[i].bytes, self->kept[i].length, error);
    }
    return TACIT_OK;
}

static tacit_status write_kept(void *context, const char *name, const uint8_t *bytes, size_t length,
                               tacit_error *error) {
    lies_party *self = context;
    size_t i = 0;
    while (i < LIES_FILES && self->names[i][0] != 0 && strcmp(self->names[i], name) != 0) i++;
    if (i == LIES_FILES) abort();
    snprintf(self->names[i], sizeof self->names[i], "%s", name);
    tacit_buffer_clear(&self->kept[i]);
    return tacit_buffer_append(&self->kept[i], bytes, length, error);
}

static void start(lies *self, lies_party *party) {
    const tacit_masks_store store = { read_kept, write_kept, party };
    tacit_masks_free(party->masks);
    for (size_t i = 0; i < LIES_FILES && self->settings.forgetful; i++)
        if (strcmp(party->names[i], "roster") == 0 || strcmp(party->names[i], "sum.graph") == 0)
            snprintf(party->names[i], sizeof party->names[i], "lost");
    lies_must(tacit_masks_create(&party->masks, &self->plan, party->secret_key, &store, NULL));
    party->masks->draws = self->settings.draws;
    party->party.masks = party->masks;
}

static void open_party(lies *self, size_t k) {
    lies_party *party = &self->party[k];
    uint8_t seed[crypto_sign_SEEDBYTES] = { (uint8_t)k, 77 };
    crypto_sign_seed_keypair(self->keys[k], party->secret_key, seed);
    if (lies_is_puppet(self, (uint32_t)k)) return;
    lies_must(tacit_ledger_create(&party->ledger, NULL));
    party->policy = tacit_policy_default();
    party->policy.allow_entrusted = true;
    lies_must(tacit_gate_init(&party->gate, party->ledger, &party->policy, TACIT_GATE_SIMULATED, NULL));
    party->party = (tacit_party){ .plan = &self->plan,
                                  .coordinator = "liar",
                                  .noise = { .stream = &party->stream },
                                  .number = k,
                                  .study = "study@liar",
                                  .total_rows = 50,
                                  .gate = &party->gate };
    start(self, party);
}

lies *lies_open(const lies_settings *settings) {
    lies *self = calloc(1, sizeof *self);
    if (self == NULL || sodium_init() < 0) abort();
    self->settings = *settings;
    self->plan = (tacit_plan){ .method = &method,
                               .study = "study",
                               .epsilon = 1,
                               .parties = settings->parties,
                               .minimum_parties = settings->minimum,
                               .sums = TACIT_SUMS_MASKED,
                               .dropouts = settings->dropouts,
                               .colluders = settings->colluders };
    if (settings->shares) lies_must(tacit_plan_set(&self->plan, "noise", "shares", NULL));
    if (settings->parties > LIES_PARTIES_MOST ||
        tacit_masked_shape(&self->shape, &self->plan, NULL) != TACIT_OK ||
        (settings->shares && tacit_plan_noise_shares(&self->plan) == 0)) {
        free(self);
        return NULL;
    }
    for (size_t k = 0; k < settings->parties; k++) open_party(self, k);
    lies_make_roster(self, &self->roster, LIES_ROSTER_TRUE, 0);
    lies_must(tacit_sum_spec_for(&self->spec, 1, 1, settings->parties, NULL));
    return self;
}

lies *lies_close(lies *self) {
    if (self == NULL) return NULL;
    for (size_t k = 0; k < self->settings.parties; k++) {
        lies_party *party = &self->party[k];
        tacit_masks_free(party->masks);
        tacit_ledger_free(party->ledger);
        for (size_t i = 0; i < LIES_FILES; i++) tacit_buffer_clear(&party->kept[i]);
    }
    for (size_t s = 0; s < self->sums; s++) {
        tacit_securesum_free(self->sum[s].sum);
        tacit_buffer_clear(&self->sum[s].proof);
    }
    free(self);
    return NULL;
}

void lies_restart(lies *self, uint32_t whom) {
    for (uint32_t k = 0; k < self->settings.parties; k++)
        if (lies_has(whom, k) && !lies_is_puppet(self, k)) start(self, &self->party[k]);
}

size_t lies_answered(const lies *self) { return self->answered; }

/* ---- a sum, as the coordinator sees it ---- */

static void ask_about(const lies *self, const lies_sum *sum, tacit_question *out, tacit_message *message) {
    *out = (tacit_question){ .study = "study",
                             .method = "lies",
                             .method_version = 1,
                             .round = sum->round,
                             .name = "value",
                             .message = message,
                             .wants_sum = true,
                             .sum = self->spec };
    const double at = 1 + 1e-9 * sum->question;
    lies_must(tacit_message_add_numbers(message, "at", &at, 1, NULL));
}

static void add_puppet(lies *self, lies_sum *sum, uint32_t k) {
    lies_seen *of = &sum->of[k];
    uint8_t digest[TACIT_DIGEST_BYTES], secret[TACIT_KEY_BYTES] = { (uint8_t)(k + 1), 5 };
    uint8_t signing[crypto_sign_SECRETKEYBYTES];
    tacit_key_pair pair;
    lies_secret_of(self, &sum->roster, k, signing);
    tacit_key_pair_from(&pair, secret);
    memcpy(of->keys.sealing, pair.shown, sizeof of->keys.sealing);
    memcpy(of->keys.masking, pair.shown, sizeof of->keys.masking);
    tacit_sum_keys_digest(digest, sum->sum, k, &of->keys);
    crypto_sign_detached(of->keys.signature, NULL, digest, sizeof digest, signing);
    of->advertised = true;
}

static bool is_sum(const lies *self, const lies_sum *sum, uint64_t round, unsigned question) {
    return sum->round == round && sum->question == question && sum->roster.kind == self->kind &&
           (self->kind == LIES_ROSTER_TRUE || sum->roster.at == self->at) &&
           (!self->settings.draws ||
            (sum->members == self->drawn.members && sum->nonce == self->drawn.nonce));
}

static void open_sum(lies *self, lies_sum *sum) {
    tacit_question asked;
    tacit_message message = TACIT_MESSAGE_INIT;
    uint8_t seed[TACIT_GRAPH_SEED_BYTES] = { 0 };
    const tacit_securesum_roster roster = tacit_securesum_ed25519_roster(&sum->roster.signers);
    ask_about(self, sum, &asked, &message);
    lies_must(tacit_masked_id(sum->id, &asked, NULL));
    if (self->settings.draws) lies_write_proof(self, sum->members, sum->nonce, &sum->proof, seed);
    tacit_securesum_terms terms = tacit_masked_terms(&self->shape, &asked, sum->id, sum->roster.digest,
                                                     self->settings.draws ? seed : NULL);
    lies_must(tacit_securesum_create(&sum->sum, &terms, &roster, NULL));
    tacit_message_clear(&message);
    for (uint32_t k = 0; k < self->settings.parties; k++)
        if (lies_has(sum->roster.puppets, k)) add_puppet(self, sum, k);
}

void lies_begin(lies *self, uint64_t round, unsigned question) {
    for (size_t s = 0; s < self->sums; s++)
        if (is_sum(self, &self->sum[s], round, question)) {
            self->now = s;
            return;
        }
    if (self->sums == LIES_SUMS_MOST) return;
    lies_sum *sum = &self->sum[self->sums];
    *sum = (lies_sum){
        .round = round, .question = question, .members = self->drawn.members, .nonce = self->drawn.nonce
    };
    lies_make_roster(self, &sum->roster, self->kind, self->at);
    open_sum(self, sum);
    self->now = self->sums++;
}

/* Put `body` to whoever is at place k as a step of the sum; what it answers is in `out`. */
bool lies_ask(lies *self, lies_sum *sum, uint32_t k, unsigned which, const tacit_buffer *body,
              tacit_answer *out) {
    static const uint8_t hash[TACIT_HASH_BYTES];
    tacit_question asked;
    tacit_message message = TACIT_MESSAGE_INIT;
    tacit_masked_step step = { .step = which, .body = *body, .roster = TACIT_BUFFER_INIT };
    tacit_buffer reply = TACIT_BUFFER_INIT;
    tacit_error error = TACIT_ERROR_INIT;
    ask_about(self, sum, &asked, &message);
    if (which != TACIT_SUM_MASK) asked.message = NULL;
    memcpy(step.sum_id, sum->id, sizeof step.sum_id);
    if (which == TACIT_SUM_ADVERTISE || which == TACIT_MASKED_DRAW)
        lies_must(tacit_buffer_append(&step.roster, sum->roster.keys,
                                      sum->roster.count * sizeof sum->roster.keys[0], NULL));
    if (which == TACIT_MASKED_DRAW || which == TACIT_MASKED_REVEAL) asked.round = 0;
    asked.kind = TACIT_ROUND_SECURE;
    asked.masked = &step;
    k = sum->roster.who[k];
    asked.answer_id[0] = (uint8_t)k;
    asked.answer_id[1] = (uint8_t)sum->round;
    asked.answer_id[2] = (uint8_t)sum->question;
    self->party[k].stream = tacit_stream_from_seed(sum->round); /* the same noise for the same answer */
    tacit_status status = tacit_party_answer(&self->party[k].party, &asked, hash, &reply, &error);
    if (status == TACIT_OK) {
        if (which == TACIT_SUM_ADVERTISE || which == TACIT_MASKED_DRAW) lies_took_roster(self, sum, k);
        lies_must(tacit_answer_decode(out, reply.bytes, reply.length, NULL));
        self->answered++;
    } else if (error.text[0] == 0 || reply.length != 0) {
        abort(); /* a refusal has a sentence, and nothing else leaves with it */
    }
    tacit_buffer_clear(&step.roster);
    tacit_buffer_clear(&reply);
    tacit_message_clear(&message);
    return status == TACIT_OK;
}

/* The same, with what the coordinator keeps of the answer. */
static void ask_and_keep(lies *self, uint32_t k, tacit_securesum_step which, const tacit_buffer *body,
                         void (*keep)(lies *self, lies_sum *sum, uint32_t k, tacit_cursor *cursor)) {
    lies_sum *sum = &self->sum[self->now];
    tacit_answer answer = TACIT_ANSWER_INIT;
    if (lies_ask(self, sum, k, which, body, &answer)) {
        if (answer.message.count != 1 || answer.message.fields[0].kind != TACIT_FIELD_BYTES) abort();
        const tacit_field *field = &answer.message.fields[0];
        tacit_cursor cursor = tacit_cursor_over(field->value.bytes, field->count);
        const uint8_t *header;
        if (!tacit_cursor_skip(&cursor, &header, TACIT_SUM_HEADER_BYTES)) abort();
        keep(self, sum, k, &cursor);
    }
    tacit_answer_clear(&answer);
}

static bool can_ask(const lies *self, uint32_t whom, uint32_t k) {
    return self->sums > 0 && lies_has(whom, k) && !lies_has(self->sum[self->now].roster.puppets, k);
}

/* Owners compare rosters before there is anything to lose. */
static bool can_ask_for_masks(const lies *self, uint32_t whom, uint32_t k) {
    return can_ask(self, whom, k) && self->sum[self->now].roster.kind == LIES_ROSTER_TRUE;
}

/* ---- the steps ---- */

static void keep_keys(lies *self, lies_sum *sum, uint32_t k, tacit_cursor *cursor) {
    (void)self;
    if (!tacit_sum_read_keys(cursor, &sum->of[k].keys)) abort();
    sum->of[k].advertised = true;
}

void lies_advertise(lies *self, uint32_t whom) {
    for (uint32_t k = 0; k < self->settings.parties; k++)
        if (can_ask(self, whom, k))
            ask_and_keep(self, k, TACIT_SUM_ADVERTISE, &self->sum[self->now].proof, keep_keys);
}

/* What each puppet is dealt it can open, and tell. */
static void keep_dealt(lies *self, lies_sum *sum, uint32_t k, tacit_cursor *cursor) {
    const uint8_t *commitment, *dealt;
    uint32_t count, holder;
    if (!tacit_cursor_skip(cursor, &commitment, TACIT_DIGEST_BYTES) || !tacit_cursor_read_u32(cursor, &count))
        abort();
    for (uint32_t i = 0; i < count; i++) {
        if (!tacit_cursor_read_u32(cursor, &holder) ||
            !tacit_cursor_skip(cursor, &dealt, TACIT_SUM_DEALT_BYTES) || holder >= self->settings.parties)
            abort();
        memcpy(sum->of[k].dealt[holder], dealt, TACIT_SUM_DEALT_BYTES);
        sum->of[k].dealt_to |= 1u << holder;
        if (!lies_has(sum->roster.puppets, holder)) continue;
        for (int which = 0; which < TACIT_SUM_SECRETS; which++) sum->of[k].known[which] |= 1u << holder;
    }
}

/* A list for party k of what the coordinator has of those in `chosen`. */
typedef bool write_item(const lies *self, const lies_sum *sum, uint32_t of, uint32_t to, tacit_buffer *out);

static void write_list(const lies *self, const lies_sum *sum, tacit_sum_kind kind, uint32_t k,
                       uint32_t chosen, write_item *item, tacit_buffer *out) {
    tacit_buffer items = TACIT_BUFFER_INIT;
    uint32_t count = 0;
    for (uint32_t other = 0; other < self->settings.parties; other++)
        if (other != k && lies_has(chosen, other)) count += item(self, sum, other, k, &items);
    lies_must(tacit_sum_write_header(out, sum->sum, kind, k, NULL));
    lies_must(tacit_buffer_append_u32(out, count, NULL));
    lies_must(tacit_buffer_append(out, items.bytes, items.length, NULL));
    tacit_buffer_clear(&items);
}

static bool write_keys_of(const lies *self, const lies_sum *sum, uint32_t of, uint32_t to,
                          tacit_buffer *out) {
    (void)self;
    (void)to;
    if (!sum->of[of].advertised) return false;
    lies_must(tacit_buffer_append_u32(out, of, NULL));
    lies_must(tacit_sum_write_keys(out, &sum->of[of].keys, NULL));
    return true;
}

void lies_share(lies *self, uint32_t whom, uint32_t keys) {
    for (uint32_t k = 0; k < self->settings.parties; k++) {
        if (!can_ask(self, whom, k)) continue;
        tacit_buffer body = TACIT_BUFFER_INIT;
        write_list(self, &self->sum[self->now], TACIT_SUM_KEY_LIST, k, keys, write_keys_of, &body);
        ask_and_keep(self, k, TACIT_SUM_SHARE, &body, keep_dealt);
        tacit_buffer_clear(&body);
    }
}

/* Of a puppet something that does not open: nobody cares for its secrets. */
static bool write_dealt_of(const lies *self, const lies_sum *sum, uint32_t of, uint32_t to,
                           tacit_buffer *out) {
    if (!lies_is_puppet(self, of) && !lies_has(sum->of[of].dealt_to, to)) return false;
    lies_must(tacit_buffer_append_u32(out, of, NULL));
    lies_must(tacit_buffer_append(out, sum->of[of].dealt[to], TACIT_SUM_DEALT_BYTES, NULL));
    return true;
}

static void keep_vector(lies *self, lies_sum *sum, uint32_t k, tacit_cursor *cursor) {
    (void)cursor;
    sum->of[k].masked_with = self->told;
    sum->of[k].sent = true;
}

void lies_mask(lies *self, uint32_t whom, uint32_t dealers) {
    for (uint32_t k = 0; k < self->settings.parties; k++) {
        if (!can_ask_for_masks(self, whom, k)) continue;
        const lies_sum *sum = &self->sum[self->now];
        tacit_buffer body = TACIT_BUFFER_INIT;
        write_list(self, sum, TACIT_SUM_DEALT_LIST, k, dealers, write_dealt_of, &body);
        self->told = 0;
        for (uint32_t other = 0; other < self->settings.parties; other++)
            if (other != k && lies_has(dealers, other) &&
                (lies_is_puppet(self, other) || lies_has(sum->of[other].dealt_to, k)))
                self->told |= 1u << other;
        ask_and_keep(self, k, TACIT_SUM_MASK, &body, keep_vector);
        tacit_buffer_clear(&body);
    }
}

static void keep_consent(lies *self, lies_sum *sum, uint32_t k, tacit_cursor *cursor) {
    if (!tacit_cursor_read(cursor, sum->of[k].signature, TACIT_SIGNATURE_BYTES)) abort();
    memcpy(sum->of[k].sets, self->sets, sizeof self->sets);
    sum->of[k].consented = true;
}

void lies_consent(lies *self, uint32_t whom, uint32_t dealers, uint32_t survivors) {
    _Static_assert(LIES_PARTIES_MOST <= 8, "a set is a byte");
    for (uint32_t k = 0; k < self->settings.parties; k++) {
        if (!can_ask_for_masks(self, whom, k)) continue;
        tacit_buffer body = TACIT_BUFFER_INIT;
        self->sets[0] = (uint8_t)dealers;
        self->sets[1] = (uint8_t)survivors;
        lies_must(tacit_sum_write_header(&body, self->sum[self->now].sum, TACIT_SUM_SURVIVORS, k, NULL));
        lies_must(tacit_buffer_append(&body, self->sets, sizeof self->sets, NULL));
        ask_and_keep(self, k, TACIT_SUM_CONSENT, &body, keep_consent);
        tacit_buffer_clear(&body);
    }
}

/* The consent of `of` to what `to` consented to; puppets sign anything. */
static bool write_consent_of(const lies *self, const lies_sum *sum, uint32_t of, uint32_t to,
                             tacit_buffer *out) {
    uint8_t digest[TACIT_DIGEST_BYTES], signature[TACIT_SIGNATURE_BYTES];
    const uint8_t *sets = sum->of[to].sets;
    if (!lies_has(sets[1], of)) return false;
    if (lies_is_puppet(self, of)) {
        tacit_sum_survivors_digest(digest, sum->sum, sets);
        crypto_sign_detached(signature, NULL, digest, sizeof digest, self->party[of].secret_key);
    } else {
        if (!sum->of[of].consented || memcmp(sum->of[of].sets, sets, sizeof sum->of[of].sets) != 0)
            return false;
        memcpy(signature, sum->of[of].signature, sizeof signature);
    }
    lies_must(tacit_buffer_append_u32(out, of, NULL));
    lies_must(tacit_buffer_append(out, signature, sizeof signature, NULL));
    return true;
}

static void keep_openings(lies *self, lies_sum *sum, uint32_t k, tacit_cursor *cursor) {
    uint32_t count, dealer;
    uint8_t which;
    const uint8_t *share;
    if (!tacit_cursor_read_u32(cursor, &count)) abort();
    for (uint32_t i = 0; i < count; i++) {
        if (!tacit_cursor_read_u32(cursor, &dealer) || !tacit_cursor_read(cursor, &which, 1) ||
            !tacit_cursor_skip(cursor, &share, TACIT_SECRET_BYTES) || dealer >= self->settings.parties ||
            which >= TACIT_SUM_SECRETS)
            abort();
        sum->of[dealer].known[which] |= 1u << k;
    }
}

void lies_unmask(lies *self, uint32_t whom) {
    for (uint32_t k = 0; k < self->settings.parties; k++) {
        if (!can_ask_for_masks(self, whom, k) || !self->sum[self->now].of[k].consented) continue;
        tacit_buffer body = TACIT_BUFFER_INIT;
        write_list(self, &self->sum[self->now], TACIT_SUM_CONSENTS, k, UINT32_MAX, write_consent_of, &body);
        ask_and_keep(self, k, TACIT_SUM_UNMASK, &body, keep_openings);
        tacit_buffer_clear(&body);
    }
}
