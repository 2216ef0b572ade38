/* Looking at an invitation, consenting and joining. Serving is in site_serve.c, the folder in site_folder.c.
 */
#include "site/site.h"

#include <math.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/number.h"
#include "data/source/source.h"
#include "model/classifier/classifier.h"
#include "net/clock.h"
#include "net/identity.h"
#include "privacy/ledger/ledger.h"
#include "session/mail/mail.h"
#include "session/wire/wire.h"
#include "site/site_parts.h"
#include "study/home.h"
#include "tacit.pb-c.h"

enum { REQUEST_MS = 30000 };

tacit_site *tacit_site_free(tacit_site *site) {
    if (site == NULL) return NULL;
    site_stop_serving(site);
    site_drop_received(site);
    tacit_dataset_free(site->rows);
    tacit_schema_free(site->schema);
    tacit_study_free(site->study);
    free(site->home);
    free(site->data);
    free(site->schema_path);
    free(site->source);
    free(site->label);
    free(site->positive);
    free(site->local);
    free(site->listen);
    free(site->link);
    free(site->proxy);
    free(site->role);
    tacit_buffer_clear(&site->anchor);
    tacit_handovers_clear(&site->chain);
    tacit_buffer_clear(&site->authority);
    tacit_buffer_clear(&site->every);
    tacit_buffer_clear(&site->signature);
    sodium_memzero(site->token, sizeof site->token);
    free(site);
    return NULL;
}

const tacit_study *tacit_site_study(const tacit_site *site) { return site->study; }
const char *tacit_site_coordinator(const tacit_site *site) { return site->coordinator; }
const char *tacit_site_called(const tacit_site *site) { return site->called; }
const char *tacit_site_home(const tacit_site *site) { return site->home; }
const char *tacit_site_folder(const tacit_site *site) { return site->folder; }
size_t tacit_site_rows(const tacit_site *site) { return site->total_rows; }

const tacit_dataset *tacit_site_dataset(const tacit_site *site) {
    return site->rows != NULL && site->rows->rows == site->total_rows ? site->rows : NULL;
}
const tacit_site_callbacks *tacit_site_calls(const tacit_site *site) { return &site->callbacks; }
bool tacit_site_is_joined(const tacit_site *site) { return site->joined; }
const char *tacit_site_local(const tacit_site *site) { return site->local; }

/* ---- looking ---- */

static tacit_status copy_if_given(char **out, const char *text, tacit_error *error) {
    if (text == NULL) return TACIT_OK;
    *out = tacit_copy_text(text);
    return *out != NULL ? TACIT_OK : tacit_fail_memory(error);
}

/* The owner's choice, with programs named so that they are found again from any working folder. */
static tacit_status choose_local(tacit_site *site, const char *local, tacit_error *error) {
    tacit_buffer settled = TACIT_BUFFER_INIT;
    if (local == NULL) return TACIT_OK;
    tacit_status status = tacit_classifier_settle(local, &settled, error);
    if (status == TACIT_OK) status = copy_if_given(&site->local, tacit_buffer_text(&settled), error);
    tacit_buffer_clear(&settled);
    return status;
}

/* What stands in the study's folder for rows that no other program can read. */
#define MEMORY_PREFIX "memory:"

static tacit_status name_memory(char **out, const char *source, tacit_error *error) {
    tacit_buffer name = TACIT_BUFFER_INIT;
    tacit_status status = tacit_buffer_print(&name, error, MEMORY_PREFIX "%s", source);
    if (status == TACIT_OK) status = copy_if_given(out, tacit_buffer_text(&name), error);
    tacit_buffer_clear(&name);
    return status;
}

bool tacit_site_has_rows(const tacit_site *site) { return !site->without_rows; }

bool site_rows_in_memory(const tacit_site *site) {
    return strncmp(site->data, MEMORY_PREFIX, strlen(MEMORY_PREFIX)) == 0;
}

static tacit_status name_rows(tacit_site *site, const tacit_site_settings *settings, tacit_error *error) {
    if (settings->data == NULL) {
        TACIT_TRY(name_memory(&site->data, settings->source, error));
        return copy_if_given(&site->schema_path, site->data, error);
    }
    TACIT_TRY(copy_if_given(&site->data, settings->data, error));
    return copy_if_given(&site->schema_path, settings->schema, error);
}

static tacit_status make_site(tacit_site **out, const tacit_site_settings *settings,
                              const tacit_site_callbacks *callbacks, tacit_error *error) {
    tacit_site *site = TACIT_NEW(tacit_site, 1);
    tacit_status status;
    if (site == NULL) return tacit_fail_memory(error);
    TACIT_CHECK(tacit_source_check(settings->data != NULL ? settings->data : "", error));
    TACIT_CHECK(tacit_source_check(settings->source != NULL ? settings->source : "", error));
    site->callbacks = *callbacks;
    site->no_header = settings->no_header;
    site->allow_entrusted = settings->allow_entrusted;
    site->allow_exact = settings->allow_exact;
    site->allow_difference = settings->allow_difference;
    site->allow_neighbours = settings->allow_neighbours;
    site->allow_site = settings->allow_site;
    site->allow_reuse = settings->allow_reuse;
    site->ask_again = settings->ask_again;
    TACIT_CHECK(copy_if_given(&site->home, settings->home, error));
    site->without_rows = settings->data == NULL && callbacks->lend == NULL;
    if (!site->without_rows) TACIT_CHECK(name_rows(site, settings, error));
    TACIT_CHECK(copy_if_given(&site->source, settings->source, error));
    TACIT_CHECK(copy_if_given(&site->link, settings->link, error));
    TACIT_CHECK(copy_if_given(&site->label, settings->label, error));
    TACIT_CHECK(copy_if_given(&site->positive, settings->positive, error));
    TACIT_CHECK(choose_local(site, settings->local, error));
    if (settings->listen != NULL) TACIT_CHECK(tacit_address_check(settings->listen, error));
    TACIT_CHECK(copy_if_given(&site->listen, settings->listen, error));
    TACIT_CHECK(copy_if_given(&site->proxy, settings->proxy, error));
    TACIT_CHECK(copy_if_given(&site->role, settings->role, error));
    *out = site;
cleanup:
    if (status != TACIT_OK) tacit_site_free(site);
    return status;
}

tacit_status site_adopt_invitation(tacit_site *site, const tacit_invitation *invitation, tacit_error *error) {
    tacit_certificate_info authority;
    char name[TACIT_ID_SIZE];
    TACIT_TRY(
        tacit_certificate_inspect(&authority, invitation->authority, invitation->authority_length, error));
    if (snprintf(name, sizeof name, "%s", invitation->study) >= (int)sizeof name || strchr(name, '/') != NULL)
        return tacit_fail(error, TACIT_INPUT, "the invitation names an impossible study");
    snprintf(site->url, sizeof site->url, "%s", invitation->url);
    snprintf(site->called, sizeof site->called, "%s", invitation->called);
    memcpy(site->token, invitation->token, sizeof site->token);
    return site_set_id(site, name, authority.fingerprint, error);
}

tacit_status site_set_id(tacit_site *site, const char *name, const char *fingerprint, tacit_error *error) {
    char studies[PATH_MAX];
    snprintf(site->id, sizeof site->id, "%s@%.12s", name, fingerprint);
    TACIT_TRY(tacit_path_join(studies, sizeof studies, site->home, "studies", error));
    return tacit_path_join(site->folder, sizeof site->folder, studies, site->id, error);
}

static tacit_status ask_definition(tacit_site *site, tacit_carrier *carrier, tacit_error *error) {
    Tacit__Wire__LookRequest request = TACIT__WIRE__LOOK_REQUEST__INIT;
    Tacit__Wire__LookReply *reply = NULL;
    tacit_status status;
    request.token = (ProtobufCBinaryData){ sizeof site->token, site->token };
    TACIT_CHECK(site_ask(carrier, TACIT_ENDPOINT_LOOK, &request, TACIT_STUDY_BYTES_LIMIT + 65536,
                         &tacit__wire__look_reply__descriptor, (void **)&reply, error));
    TACIT_CHECK(site_check_signed(site, reply->definition, strlen(reply->definition), reply->signature.data,
                                  reply->signature.len, error));
    TACIT_CHECK(
        tacit_study_parse(&site->study, reply->definition, strlen(reply->definition), "the study", error));
    TACIT_CHECK(tacit_buffer_append(&site->signature, reply->signature.data, reply->signature.len, error));
    TACIT_CHECK(site_check_signature(site, error));
    TACIT_CHECK(site_check_name(site, error));
    TACIT_CHECK(tacit_name_check("the coordinator's name", reply->coordinator, TACIT_ID_SIZE - 1, error));
    snprintf(site->coordinator, sizeof site->coordinator, "%s", reply->coordinator);
cleanup:
    tacit_wire_free(reply);
    return status;
}

tacit_status site_check_role(const tacit_site *site, tacit_error *error) {
    const tacit_method *method = site->study->plan.method;
    const char *role = site->role;
    if (method->roles == NULL && role != NULL)
        return tacit_fail(error, TACIT_USAGE, "method %s has no roles: leave the option 'role' out",
                          method->name);
    if (method->roles == NULL) return TACIT_OK;
    for (const char *at = method->roles; role != NULL && *at != 0; at += *at == '|') {
        size_t length = strcspn(at, "|");
        if (strlen(role) == length && strncmp(at, role, length) == 0) return TACIT_OK;
        at += length;
    }
    return tacit_fail(error, TACIT_USAGE,
                      "parties of method %s are one of %s: say which with the option 'role'", method->name,
                      method->roles);
}

/* The owner's schema and the study's must say the same: the encoding into the unit ball is what bounds
 * sensitivity. */
tacit_status site_compare_schemas(const tacit_site *site, tacit_error *error) {
    tacit_buffer ours = TACIT_BUFFER_INIT, theirs = TACIT_BUFFER_INIT;
    tacit_status status;
    TACIT_CHECK(tacit_schema_canonical(site->schema, &ours, error));
    TACIT_CHECK(tacit_schema_canonical(site->study->schema, &theirs, error));
    if (ours.length == theirs.length && memcmp(ours.bytes, theirs.bytes, ours.length) == 0) goto cleanup;
    const char *a = tacit_buffer_text(&ours), *b = tacit_buffer_text(&theirs), *line = b;
    for (; *a != 0 && *a == *b; a++, b++)
        if (*b == '\n') line = b + 1;
    int length = (int)strcspn(line, "\n");
    status =
        site->callbacks.lend != NULL
            ? tacit_fail(error, TACIT_REFUSED,
                         "the frame is not as the study's schema says; they first differ at '%.*s': give the "
                         "frame the study's names, bounds and classes",
                         length, line)
            : tacit_fail(error, TACIT_REFUSED,
                         "%s is not the study's schema; they first differ where the study says '%.*s': agree "
                         "on one%s",
                         site->schema_path, length, line,
                         site->earlier[0] == 0 ? ""
                                               : ". If you do, name the file with the option 'schema' of "
                                                 "tacit consent: one that is not "
                                                 "there yet is written as the study says");
cleanup:
    tacit_buffer_clear(&ours);
    tacit_buffer_clear(&theirs);
    return status;
}

/* Rows that are here before the study is known: no need to ask for bad ones. */
static bool loads_first(const tacit_site *site) {
    return !site->without_rows && site->callbacks.lend == NULL;
}

/* Does the study ask for what the owner has? */
static tacit_status compare_with_study(tacit_site *site, tacit_error *error) {
    TACIT_TRY(site_check_role(site, error));
    const tacit_schema *schema = site->study->schema;
    if (!loads_first(site) || schema->formula != NULL || schema->subset != NULL ||
        site->study->arms.count > 0)
        TACIT_TRY(site_load_rows(site, error)); /* a study says what becomes of columns, and which rows */
    TACIT_TRY(site_compare_schemas(site, error));
    TACIT_TRY(site_check_spread(site, error));
    return site_check_moments(site, error);
}

/* Rows that cannot be read, unless it is the study that has the column they lack. */
static tacit_status judge_rows(const tacit_site *site, tacit_status looked, tacit_status loaded,
                               const tacit_error *problem, tacit_error *error) {
    if (loaded == TACIT_OK || (looked == TACIT_OK && site->study->arms.count > 0)) return looked;
    if (error != NULL) *error = (tacit_error)TACIT_ERROR_INIT;
    return tacit_fail(error, loaded, "%s", problem->text);
}

static tacit_status look(tacit_site *site, const tacit_invitation *invitation, tacit_error *error) {
    tacit_carrier *carrier = NULL;
    tacit_error problem = TACIT_ERROR_INIT;
    char authority[PATH_MAX];
    tacit_status status;
    TACIT_CHECK(site_adopt_invitation(site, invitation, error));
    tacit_status loaded = loads_first(site) ? site_load_rows(site, &problem) : TACIT_OK;
    TACIT_CHECK(tacit_folder_make(site->home, error));
    status = site_meet(site, invitation, authority, &carrier, error);
    if (status == TACIT_OK) status = ask_definition(site, carrier, error);
    unlink(authority);
    TACIT_CHECK(judge_rows(site, status, loaded, &problem, error));
    if (!site->without_rows) status = compare_with_study(site, error);
cleanup:
    tacit_carrier_free(carrier);
    return status;
}

tacit_status tacit_site_look(tacit_site **out, const char *invitation, size_t length,
                             const tacit_site_settings *settings, const tacit_site_callbacks *callbacks,
                             tacit_error *error) {
    tacit_invitation read;
    tacit_site *site = NULL;
    tacit_status status;
    TACIT_TRY(tacit_invitation_parse(&read, invitation, length, error));
    if (read.expires <= tacit_clock_wall_seconds()) {
        status = tacit_fail(error, TACIT_INPUT, "this invitation has expired; ask for a new one");
        goto cleanup;
    }
    TACIT_CHECK(make_site(&site, settings, callbacks, error));
    TACIT_CHECK(look(site, &read, error));
    *out = site;
    site = NULL;
cleanup:
    tacit_site_free(site);
    tacit_invitation_wipe(&read);
    return status;
}

/* ---- the owner's rules, asked in advance ---- */

static tacit_status no_limit(const char *given, const tacit_price *price, tacit_error *error) {
    char shown[TACIT_SOURCE_SHOWN_SIZE];
    const char *source = tacit_source_shown(shown, given);
    char delta[48] = "";
    /* the line is there to be copied */
    const char *quote = strpbrk(source, " \t()&;|<>*?$#\"") != NULL ? "'" : "";
    if (price->delta > 0) tacit_format(delta, sizeof delta, " --delta %g", price->delta);
    return tacit_fail(error, TACIT_REFUSED,
                      "no limit is set for %s, and an answer with a price needs one: tacit ledger limit "
                      "--source %s%s%s --epsilon %g%s",
                      source, quote, source, quote, price->epsilon, delta);
}

/* Whether any limit bounds the charge is asked first, to say how to set one. */
tacit_status site_check_ledger(tacit_ledger *ledger, const char *study, const tacit_prices *prices,
                               tacit_error *error) {
    const tacit_price *price = &prices->charged;
    tacit_account record, party;
    tacit_error quiet = TACIT_ERROR_INIT;
    TACIT_TRY(tacit_ledger_account(&record, ledger, NULL, TACIT_UNIT_RECORD, error));
    TACIT_TRY(tacit_ledger_account(&party, ledger, NULL, TACIT_UNIT_PARTY, error));
    if (!record.limited && !(price->unit == TACIT_UNIT_PARTY && party.limited))
        return no_limit(tacit_ledger_source(ledger), price, error);
    tacit_status status = tacit_ledger_fits(ledger, study, price, &prices->event, &quiet);
    if (status == TACIT_OK) return TACIT_OK;
    return tacit_fail(error, status, "this costs epsilon %g, and %s", price->epsilon, quiet.text);
}

tacit_status site_check_budget(const char *home, const char *source, const char *study,
                               const tacit_prices *prices, tacit_error *error) {
    tacit_ledger *ledger = NULL;
    char path[PATH_MAX];
    TACIT_TRY(tacit_path_join(path, sizeof path, home, TACIT_LEDGER_NAME, error));
    tacit_error quiet = TACIT_ERROR_INIT;
    tacit_status status = tacit_ledger_open(&ledger, path, source, TACIT_LEDGER_EXISTING, &quiet);
    if (status == TACIT_NOT_FOUND) return no_limit(source, &prices->charged, error);
    if (status != TACIT_OK) return tacit_fail(error, status, "%s", quiet.text);
    status = site_check_ledger(ledger, study, prices, error);
    tacit_ledger_free(ledger);
    return status;
}

tacit_status site_read_rules(const tacit_site *site, site_rules *out, tacit_error *error) {
    TACIT_TRY(tacit_rules_load(&out->rules, site->home, error));
    out->policy = tacit_policy_default();
    tacit_rules_apply(&out->rules, out->methods, &out->policy);
    out->policy.allow_entrusted = site->allow_entrusted;
    out->policy.allow_exact = site->allow_exact;
    out->policy.allow_neighbours = site->allow_neighbours;
    out->policy.allow_site = site->allow_site;
    return TACIT_OK;
}

/* As the gate will, of an answer as the definition lets expect it. */
static tacit_status check_policy(const tacit_site *site, const tacit_price *price, tacit_error *error) {
    const tacit_plan *plan = &site->study->plan;
    site_rules owner;
    TACIT_TRY(site_read_rules(site, &owner, error));
    const double most = owner.policy.most_study_epsilon;
    if (most > 0 && !(price->epsilon <= most))
        return tacit_fail(error, TACIT_REFUSED,
                          "study %s costs epsilon %g, more than the owner's %g for one study: ask for a "
                          "cheaper study, or raise the rule (tacit rules set --study-epsilon)",
                          site->study->name, price->epsilon, most);
    tacit_release expected = { .kind = plan->method->release_kind(plan),
                               .price = *price,
                               .coordinator = site->coordinator,
                               .study = site->id,
                               .method = plan->method->name,
                               .without_center = plan->method->schedule != NULL,
                               .of_one_site = tacit_plan_sites_apart(plan),
                               .rows = site->total_rows,
                               .parties_declared = plan->parties,
                               .parties_minimum = plan->minimum_parties,
                               .parameters = site->study->point_count * (plan->classes - 1) };
    TACIT_TRY(tacit_policy_check(&owner.policy, &expected, error));
    const bool allowed = site->allow_exact || !isinf(price->epsilon); /* else that is said first */
    return allowed ? site_foresee_rows(site, owner.policy.minimum_rows, error) : TACIT_OK;
}

/* One rule for all that a method without a center lets out: words to neighbours, the number of rows, the sum
 * at the end. */
static tacit_status check_neighbours(const tacit_site *site, const tacit_price *price, tacit_error *error) {
    const tacit_method *method = site->study->plan.method;
    if (!site->allow_neighbours)
        return tacit_fail(
            error, TACIT_REFUSED,
            "method %s shows other parties, your neighbours in its graph, what it makes of your rows, "
            "exactly and round by round, which no differential privacy protects: allow that with the option "
            "'allow-neighbours', or ask for a study with a private method",
            method->name);
    return check_policy(site, price, error);
}

tacit_status tacit_site_check(tacit_site *site, tacit_error *error) {
    const tacit_plan *plan = &site->study->plan;
    tacit_prices prices = { .event = { .count = 0 } };
    TACIT_TRY(site_check_reuse(site, error));
    TACIT_TRY(tacit_plan_price(plan, &prices, error));
    TACIT_TRY(site_check_eligible(site, error));
    TACIT_TRY(site_check_newcomer(site, error));
    if (site->total_rows < plan->minimum_rows)
        return tacit_fail(error, TACIT_REFUSED, "%s has %zu rows and the study needs at least %zu",
                          site->data, site->total_rows, plan->minimum_rows);
    if (plan->method->schedule != NULL) return check_neighbours(site, &prices.charged, error);
    if (site->listen != NULL)
        return tacit_fail(error, TACIT_USAGE,
                          "method %s has a center and parties only dial out: leave the option 'listen' out",
                          plan->method->name);
    if (plan->method->release_kind(plan) == TACIT_RELEASE_ENTRUSTED && !site->allow_entrusted)
        return tacit_fail(
            error, TACIT_REFUSED, "'%s' gets %s, %s: allow that with the option 'allow-entrusted'%s",
            site->coordinator,
            plan->sums != TACIT_SUMS_CLEAR && tacit_plan_hearing(plan) == TACIT_HEARS_SUMS
                ? "the exact sum of all parties' values"
                : "your exact values",
            isinf(prices.charged.epsilon) ? "to which no noise is added" : "and is trusted to add the noise",
            isinf(prices.charged.epsilon)                         ? " and the option 'allow-exact'"
            : tacit_method_offers(plan->method, "noise", "party") ? ", or ask for a study with noise=party"
                                                                  : "");
    TACIT_TRY(check_policy(site, &prices.charged, error));
    if (!isinf(prices.charged.epsilon))
        return site_check_budget(site->home, site->source, site->id, &prices, error);
    if (!site->allow_exact)
        return tacit_fail(error, TACIT_REFUSED,
                          "method %s sends exact sums, which no differential privacy protects: allow that "
                          "with the option 'allow-exact', or ask for a study with a private method",
                          plan->method->name);
    return TACIT_OK;
}

/* ---- joining ---- */

static tacit_status make_request(const tacit_site *site, tacit_buffer *out, tacit_error *error) {
    char key[PATH_MAX], path[PATH_MAX];
    TACIT_TRY(site_path(site, SITE_KEY_FILE, key, error));
    TACIT_TRY(site_path(site, SITE_REQUEST_FILE, path, error));
    /* went on after a crash */
    if (site_file_exists(site, SITE_REQUEST_FILE)) return tacit_file_read(path, out, error);
    if (!site_file_exists(site, SITE_KEY_FILE)) TACIT_TRY(tacit_key_create(key, error));
    TACIT_TRY(tacit_key_request(out, key, "party", error));
    return tacit_file_write(path, out->bytes, out->length, 0600, error);
}

static tacit_status request_certificate(const tacit_site *site, tacit_carrier *carrier,
                                        const tacit_buffer *signing, tacit_buffer *certificate,
                                        tacit_error *error) {
    Tacit__Wire__JoinRequest request = TACIT__WIRE__JOIN_REQUEST__INIT;
    Tacit__Wire__JoinReply *reply = NULL;
    uint8_t token[TACIT_TOKEN_BYTES], hash[TACIT_HASH_BYTES], sum_key[TACIT_SIGNING_KEY_BYTES],
        sum_secret[crypto_sign_SECRETKEYBYTES], sum_proof[crypto_sign_BYTES], digest[TACIT_DIGEST_BYTES];
    tacit_status status;
    TACIT_CHECK(site_sum_key(site, sum_key, sum_secret, error));
    memcpy(token, site->token, sizeof token);
    memcpy(hash, site->study->hash, sizeof hash);
    request.token = (ProtobufCBinaryData){ sizeof token, token };
    request.signing_request = (char *)signing->bytes;
    request.definition_hash = (ProtobufCBinaryData){ sizeof hash, hash };
    tacit_sum_key_digest(digest, hash, request.signing_request, sum_key);
    crypto_sign_detached(sum_proof, NULL, digest, sizeof digest, sum_secret);
    request.sum_key = (ProtobufCBinaryData){ sizeof sum_key, sum_key };
    request.sum_proof = (ProtobufCBinaryData){ sizeof sum_proof, sum_proof };
    request.listens = site->listen != NULL;
    TACIT_CHECK(site_state_eligible(site, error));
    request.eligible = site->study->eligible != NULL;
    request.ask_again = site->study->ask_again && site->ask_again;
    if (site_goes_by_files(site)) { /* the certificate comes with the first question */
        tacit_carried posted = { .reply = TACIT_BUFFER_INIT };
        status = site_send(carrier, TACIT_ENDPOINT_JOIN, &request, REQUEST_MS, &posted, error);
        tacit_buffer_clear(&posted.reply);
        goto cleanup;
    }
    TACIT_CHECK(site_ask(carrier, TACIT_ENDPOINT_JOIN, &request, 1 << 20,
                         &tacit__wire__join_reply__descriptor, (void **)&reply, error));
    TACIT_CHECK(tacit_buffer_append(certificate, reply->certificate, strlen(reply->certificate), error));
cleanup:
    sodium_memzero(token, sizeof token);
    sodium_memzero(sum_secret, sizeof sum_secret);
    tacit_wire_free(reply);
    return status;
}

/* Consent is to the price that was shown. A coordinator that asks on and on is stopped there, not only where
 * the data source has nothing left. A limit that the owner set for the study stays. */
static tacit_status bound_study(const tacit_site *site, tacit_ledger *ledger, const tacit_prices *prices,
                                tacit_error *error) {
    tacit_account account;
    /* exact values: nothing bounds them but the owner's rule */
    if (isinf(prices->charged.epsilon)) return TACIT_OK;
    TACIT_TRY(tacit_ledger_account(&account, ledger, site->id, prices->charged.unit, error));
    return account.limited ? TACIT_OK : tacit_ledger_set_limit(ledger, site->id, &prices->charged, error);
}

/* All that the study will cost is held for it from here on, so that it does not end half way for lack of
 * budget. */
static tacit_status hold_budget(const tacit_site *site, tacit_ledger *ledger, tacit_error *error) {
    const tacit_plan *plan = &site->study->plan;
    tacit_prices prices = { .event = { .count = 0 } };
    TACIT_TRY(tacit_plan_price(plan, &prices, error));
    TACIT_TRY(bound_study(site, ledger, &prices, error));
    return tacit_ledger_reserve(ledger, site->id, site->study->hash, &prices.charged, &prices.event, error);
}

tacit_status site_record_consent(const tacit_site *site, tacit_error *error) {
    tacit_ledger *ledger = NULL;
    char path[PATH_MAX];
    TACIT_TRY(tacit_path_join(path, sizeof path, site->home, TACIT_LEDGER_NAME, error));
    TACIT_TRY(tacit_ledger_open(
        &ledger, path, site->source,
        site->allow_exact || site->allow_neighbours ? TACIT_LEDGER_CREATE : TACIT_LEDGER_EXISTING, error));
    /* Nothing more is asked of the version that this one replaces: what it held is free for this one. */
    tacit_status status = site->earlier[0] != 0 ? tacit_ledger_end(ledger, site->earlier, error) : TACIT_OK;
    if (status == TACIT_OK) status = hold_budget(site, ledger, error);
    tacit_ledger_free(ledger);
    return status;
}

tacit_status tacit_site_join(tacit_site *site, tacit_error *error) {
    tacit_carrier *carrier = NULL;
    tacit_buffer signing = TACIT_BUFFER_LIMITED(TACIT_REQUEST_BYTES_MAX), certificate = TACIT_BUFFER_INIT;
    char key[PATH_MAX], path[PATH_MAX];
    tacit_status status = TACIT_OK;
    if (site->without_rows) return tacit_fail(error, TACIT_USAGE, "a study is joined with rows: name them");
    bool before = !site_goes_by_files(site) && site_file_exists(site, SITE_CERTIFICATE_FILE);
    if (before && site_is_refused(site)) {
        TACIT_TRY(site_check_source(site, error));
        TACIT_TRY(site_forget_identity(site, error));
        before = false;
    }
    if (before) {
        TACIT_TRY(site_check_source(site, error));
        TACIT_TRY(site_save_settings(site, error));
        return site_record_consent(site, error);
    }
    TACIT_CHECK(tacit_site_check(site, error));
    TACIT_CHECK(site_save(site, error));
    TACIT_CHECK(site_record_consent(site, error));
    TACIT_CHECK(make_request(site, &signing, error));
    TACIT_CHECK(site_carrier(site, false, NULL, &carrier, error));
    TACIT_CHECK(request_certificate(site, carrier, &signing, &certificate, error));
    if (site_goes_by_files(site)) goto cleanup;
    TACIT_CHECK(site_path(site, SITE_KEY_FILE, key, error));
    TACIT_CHECK(tacit_certificate_check_key(certificate.bytes, certificate.length, key, error));
    TACIT_CHECK(site_path(site, SITE_CERTIFICATE_FILE, path, error));
    TACIT_CHECK(tacit_file_write(path, certificate.bytes, certificate.length, 0600, error));
    TACIT_CHECK(site_register_arm(site, error));
cleanup:
    tacit_carrier_free(carrier);
    tacit_buffer_clear(&signing);
    tacit_buffer_clear(&certificate);
    return status;
}
