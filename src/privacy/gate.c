#include "privacy/gate.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "privacy/ledger/ledger_class_parts.h"

tacit_status tacit_gate_init(tacit_gate *out, tacit_ledger *ledger, const tacit_policy *policy,
                             tacit_gate_mode mode, tacit_error *error) {
    bool durable = tacit_ledger_is_durable(ledger);
    if (mode == TACIT_GATE_REAL && !durable)
        return tacit_fail(error, TACIT_USAGE, "a real party needs a durable ledger, not one in memory");
    if (mode != TACIT_GATE_REAL && durable)
        return tacit_fail(error, TACIT_USAGE, "a simulation must not write into a real party's ledger");
    *out = (tacit_gate){ ledger, policy, mode };
    return TACIT_OK;
}

/* Nothing that only a simulation may do passes a real party's gate. */
static tacit_status check_real(const tacit_policy *policy, const tacit_release *release, tacit_error *error) {
    if (release->noise == TACIT_NOISE_SIMULATED)
        return tacit_fail(error, TACIT_REFUSED,
                          "method %s drew simulated noise, which protects nobody: a real party must draw its "
                          "noise from the operating system's entropy",
                          release->method);
    /* Exact values: sums, never answers of their own, and only if the owner said so. What a method without a
     * center lets out has a rule of its own in the policy. */
    bool exact = release->kind != TACIT_RELEASE_CHARGED && (policy->allow_exact || release->without_center);
    if (!isfinite(release->price.epsilon) && !exact)
        return tacit_fail(error, TACIT_REFUSED,
                          "method %s has an infinite epsilon: it runs in simulations only, unless the owner "
                          "allows exact sums or words to neighbours; choose a private method",
                          release->method);
    return TACIT_OK;
}

/* The ledger holds a study to its limit, by composition; so the rule is that there is one, and that it is no
 * more than this. Whatever has no price is for other rules. */
static tacit_status check_study_budget(const tacit_gate *gate, const tacit_release *release,
                                       tacit_error *error) {
    const double most = gate->policy->most_study_epsilon;
    tacit_account account;
    if (most == 0 || release->price.epsilon == 0) return TACIT_OK;
    TACIT_TRY(tacit_ledger_account(&account, gate->ledger, release->study, release->price.unit, error));
    if (account.limited && account.limit_epsilon <= most && isfinite(release->price.epsilon)) return TACIT_OK;
    return tacit_fail(error, TACIT_REFUSED,
                      "study %s may take epsilon %g, more than the owner's %g for one study: ask for a "
                      "cheaper study, lower what it may take (tacit ledger limit --study), or raise the rule "
                      "(tacit rules set --study-epsilon)",
                      release->study,
                      account.limited && isfinite(release->price.epsilon) ? account.limit_epsilon : INFINITY,
                      most);
}

static tacit_status check(const tacit_gate *gate, const tacit_release *release, tacit_error *error) {
    TACIT_TRY(tacit_release_check(release, error));
    /* The long proof is for what is real; simulations have thousands of parties. */
    if (gate->mode == TACIT_GATE_REAL || release->event.sampling == 1)
        TACIT_TRY(tacit_release_prove(release, error));
    if (gate->mode == TACIT_GATE_REAL) TACIT_TRY(check_real(gate->policy, release, error));
    if (gate->mode == TACIT_GATE_REAL) TACIT_TRY(check_study_budget(gate, release, error));
    return tacit_policy_check(gate->policy, release, error);
}

/* The asker hears the reason even when the log cannot take it, and hears that too. */
static void log_refusal(tacit_gate *gate, const tacit_release *release, tacit_error *said) {
    tacit_error log_error = TACIT_ERROR_INIT;
    if (gate->ledger->class->refuse(gate->ledger, release, said->text, &log_error) == TACIT_OK) return;
    size_t used = strlen(said->text);
    snprintf(said->text + used, sizeof said->text - used, " (not logged: %s)", log_error.text);
}

tacit_status tacit_gate_release(tacit_gate *gate, const tacit_release *release, tacit_buffer *out,
                                tacit_error *error) {
    /* ours, because the log needs the sentence and `error` may be NULL */
    tacit_error said = TACIT_ERROR_INIT;
    bool stored = false;
    uint8_t *room = NULL;
    tacit_status status = check(gate, release, &said);
    /* Room first: once charged, nothing may fail any more. */
    if (status == TACIT_OK) status = tacit_buffer_reserve(out, release->payload_length, &room, &said);
    if (status == TACIT_OK) status = gate->ledger->class->charge(&stored, gate->ledger, release, out, &said);
    if (status == TACIT_OK && !stored)
        status = tacit_buffer_append(out, release->payload, release->payload_length, &said);
    if (status == TACIT_REFUSED || status == TACIT_INPUT) log_refusal(gate, release, &said);
    if (status != TACIT_OK) return tacit_fail(error, status, "%s", said.text);
    return TACIT_OK;
}

tacit_status tacit_gate_has_answer(bool *out, tacit_gate *gate,
                                   const uint8_t answer_id[TACIT_ANSWER_ID_BYTES],
                                   const uint8_t question_hash[TACIT_HASH_BYTES], tacit_error *error) {
    return gate->ledger->class->has_answer(out, gate->ledger, answer_id, question_hash, error);
}

tacit_status tacit_gate_state(bool *found, tacit_gate *gate, const char *study, tacit_buffer *out,
                              tacit_error *error) {
    return gate->ledger->class->state(found, gate->ledger, study, out, error);
}

tacit_status tacit_gate_refuse(tacit_gate *gate, const tacit_release *release, tacit_error *error,
                               const char *reason) {
    tacit_error said = TACIT_ERROR_INIT;
    tacit_fail(&said, TACIT_REFUSED, "%s", reason);
    log_refusal(gate, release, &said);
    return tacit_fail(error, TACIT_REFUSED, "%s", said.text);
}

tacit_status tacit_gate_state_fact(tacit_gate *gate, const tacit_release *about, tacit_error *error) {
    tacit_consent consent = TACIT_CONSENT_NONE;
    uint8_t hash[TACIT_HASH_BYTES] = { 0 };
    if (gate->mode == TACIT_GATE_REAL)
        TACIT_TRY(tacit_ledger_consent_hash(&consent, hash, gate->ledger, about->study, error));
    if (consent != TACIT_CONSENT_GIVEN || memcmp(hash, about->study_hash, sizeof hash) != 0)
        return tacit_gate_refuse(
            gate, about, error,
            "the owner has not consented to the study as it is: nothing is said about the "
            "rows before that");
    return tacit_ledger_note_statement(gate->ledger, about, error);
}

tacit_status tacit_gate_pass(tacit_gate *gate, const tacit_release *release, size_t most, tacit_buffer *out,
                             tacit_error *error) {
    tacit_consent consent = TACIT_CONSENT_NONE;
    TACIT_TRY(tacit_release_check(release, error));
    if (release->kind != TACIT_RELEASE_SEALED || release->price.epsilon != 0 || release->price.delta != 0 ||
        release->parameters != 0 || release->payload_length > most)
        return tacit_gate_refuse(gate, release, error,
                                 "a message between steps may carry nothing of the rows");
    if (gate->mode == TACIT_GATE_REAL)
        TACIT_TRY(tacit_ledger_consent_state(&consent, gate->ledger, release->study, error));
    if (gate->mode == TACIT_GATE_REAL && consent != TACIT_CONSENT_GIVEN)
        return tacit_gate_refuse(
            gate, release, error,
            consent == TACIT_CONSENT_WITHDRAWN
                ? "the owner has withdrawn from the study: to take part again, consent again"
                : "the owner has not consented to the study: read what it asks, then consent");
    return tacit_buffer_append(out, release->payload, release->payload_length, error);
}
