/* Answering a study's questions until it ends. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/number.h"
#include "net/clock.h"
#include "privacy/gate.h"
#include "session/run.h"
#include "site/site_parts.h"
#include "study/home.h"
#include "tacit.pb-c.h"

enum {
    POLL_MS = 45000, /* longer than the coordinator's longest suspension */
    ANSWER_MS = 300000,
    FIRST_PAUSE_MS = 200,
    LONGEST_PAUSE_MS = 10000,
    PAUSED_LOOK_MS = 1000,    /* how often a loop asks whether it is paused still */
    PAUSED_AGAIN_MS = 900000, /* and when to take a step again: what phones call a short while */
    FIRST_IDLE_MS = 1000,     /* between steps that find nothing asked, */
    LONGEST_IDLE_MS = 600000, /* at most, and a third of what a round waits for stragglers */
    LONGEST_WAIT_MS = 20000,  /* what a step may have the coordinator hold a poll for */
    STEP_MS = 30000,          /* and the time for everything else about it */
    RENEWAL_PAUSE_S = 60,     /* before a renewal that failed is tried again */
};

typedef struct serving {
    tacit_site *site;
    tacit_carrier *carrier;
    tacit_ledger *ledger;
    tacit_pool *pool;
    site_rules owner;
    tacit_gate gate;
    tacit_memo memo;
    tacit_entropy *entropy;
    tacit_masks *masks; /* NULL: the study has no secure sums */
    tacit_mail *mail;   /* NULL: the study has a center */
    site_links *links;  /* NULL as mail */
    size_t number;      /* of this party; see site_number */
    unsigned pause_ms;  /* before the next try; 0 while all is well */
    tacit_site_result *result;
    int64_t renew_at; /* when the certificate is to be renewed, wall time */
    int lock;         /* an open file that says: this study is being served; -1 when not */
    bool finished, roster_told;
    bool stepwise;     /* whoever calls waits, not we; then for each step: */
    bool asked;        /* there was a question */
    bool paused;       /* as the owner's hook said */
    unsigned wait_ms;  /* that a poll may take */
    unsigned again_ms; /* when to try again what did not get through; 0: it did */
    unsigned idle_ms;  /* between the last steps that found nothing asked */
    bool listen_up;    /* ask whether the coordinator's authority was replaced */
    bool rows_settled; /* the study has begun: its rows stay as they are */
} serving;

static bool cancelled(const serving *self) {
    const tacit_site_callbacks *callbacks = &self->site->callbacks;
    return callbacks->cancelled != NULL && callbacks->cancelled(callbacks->context);
}

static void news(const serving *self, const char *format, ...) TACIT_PRINTF(2, 3);

static void news(const serving *self, const char *format, ...) {
    const tacit_site_callbacks *callbacks = &self->site->callbacks;
    if (callbacks->news == NULL) return;
    char line[768];
    va_list arguments;
    va_start(arguments, format);
    tacit_format_list(line, sizeof line, format, arguments);
    va_end(arguments);
    callbacks->news(callbacks->context, line);
}

/* ---- trying again ---- */

static void wait_for(const serving *self, unsigned left) {
    while (left > 0 && !cancelled(self)) {
        unsigned step = left < 100 ? left : 100;
        poll(NULL, 0, (int)step);
        left -= step;
    }
}

static void wait_while_paused(serving *self) {
    if (!self->paused) news(self, "paused: nothing is sent until this side goes on");
    self->paused = true;
    if (!self->stepwise) wait_for(self, PAUSED_LOOK_MS);
}

/* Wait twice as long each time, with a random part so that many parties do not return at once. */
static void pause_before_retry(serving *self, const char *why) {
    self->listen_up = true;
    if (self->pause_ms == 0) {
        news(self, "%s; trying again until the coordinator is back", why);
        unsigned told = self->site->callbacks.retry_ms;
        self->pause_ms = told > 0 ? told : FIRST_PAUSE_MS;
    } else if (self->pause_ms < LONGEST_PAUSE_MS) {
        self->pause_ms *= 2;
    }
    self->again_ms = self->pause_ms / 2 + randombytes_uniform(self->pause_ms);
    if (!self->stepwise) wait_for(self, self->again_ms);
}

/* ---- answering ---- */

static tacit_status send_answer(serving *self, const tacit_buffer *answer, tacit_error *error) {
    tacit_carried carried = { .reply = TACIT_BUFFER_LIMITED(1 << 16) };
    tacit_status status =
        tacit_carrier_send(self->carrier, TACIT_ENDPOINT_ANSWER, answer, ANSWER_MS, &carried, error);
    if (status == TACIT_OK && carried.result == TACIT_RESULT_CLOSED) {
        news(self, "the round had closed before our answer arrived");
    } else if (status == TACIT_OK && carried.result == TACIT_RESULT_LATER) {
        /* Asked again by the next poll, we send the stored bytes again. */
        pause_before_retry(self, "the coordinator could not take our answer");
    } else if (status == TACIT_OK && carried.result != TACIT_RESULT_DONE) {
        status = tacit_fail(error, TACIT_PROTOCOL, "the coordinator rejected our answer (%u): %.300s",
                            carried.code, tacit_buffer_text(&carried.reply));
    }
    tacit_buffer_clear(&carried.reply);
    return status;
}

/* Tell the coordinator that there is no answer. The reason stays here: what is left of a budget, which rows
 * differ from earlier ones, or why a fit failed, is nobody else's business. So the sentence is always the
 * same. */
static tacit_status send_refusal(serving *self, const tacit_question *question, tacit_status why,
                                 tacit_error *error) {
    tacit_answer answer = tacit_answer_to(question);
    tacit_buffer bytes = TACIT_BUFFER_INIT;
    snprintf(
        answer.refusal, sizeof answer.refusal, "%s",
        why == TACIT_REFUSED
            ? "refused by its owner's budget, consent or rules, among them that exact sums and folds differ "
              "by at least the owner's minimum of rows; only the party itself shows which, and what its "
              "owner can allow"
            : "the party could not compute an answer");
    tacit_status status = tacit_answer_encode(&answer, &bytes, error);
    if (status == TACIT_OK) status = send_answer(self, &bytes, error);
    tacit_buffer_clear(&bytes);
    return status;
}

/* Rows may have arrived while the study recruited. From its first charge on they are those of one moment, as
 * long as this process lives; a source that cannot be read just now is used as it was. */
static tacit_status settle_rows(serving *self, tacit_error *error) {
    tacit_site *site = self->site;
    tacit_account account;
    tacit_error problem = TACIT_ERROR_INIT;
    if (self->rows_settled) return TACIT_OK;
    TACIT_TRY(tacit_ledger_account(&account, self->ledger, site->id, TACIT_UNIT_RECORD, error));
    size_t before = site->total_rows;
    if (account.sum_epsilon == 0 && site_load_rows(site, &problem) != TACIT_OK)
        news(self, "the rows could not be read again, and are used as they were: %s", problem.text);
    if (site->total_rows != before)
        news(self, "the study begins with %zu rows; there were %zu when we joined", site->total_rows, before);
    TACIT_TRY(site_hold_rows(site, self->owner.policy.minimum_rows, account.sum_epsilon != 0, error));
    self->rows_settled = true;
    return TACIT_OK;
}

static tacit_status fail_amended(const tacit_site *site, tacit_error *error) {
    const char *name = site->study->name;
    return tacit_fail(error, TACIT_REFUSED,
                      "study '%s' was amended, and nothing leaves for a version that you have not consented "
                      "to: read it and consent with tacit consent %s, then go on with tacit party %s",
                      name, name, name);
}

/* Between rounds an owner who has withdrawn is not asked at all, and no round waits for an answer. Nor is one
 * whose consent to an amended version was cut short: answers would be charged to the version before, and
 * again to this one. */
static tacit_status check_consent(serving *self, tacit_error *error) {
    tacit_consent consent = TACIT_CONSENT_NONE;
    if (site_is_adopting(self->site)) return fail_amended(self->site, error);
    TACIT_TRY(tacit_ledger_consent_state(&consent, self->ledger, self->site->id, error));
    if (consent != TACIT_CONSENT_WITHDRAWN) return TACIT_OK;
    (void)site_notify_leaving(self->site, NULL); /* a refusal says the same, round by round */
    return tacit_fail(error, TACIT_REFUSED,
                      "the owner has withdrawn from study '%s': to take part again, tacit consent %s",
                      self->site->study->name, self->site->study->name);
}

static tacit_status compute_answer(serving *self, const site_received *received, tacit_buffer *answer,
                                   tacit_error *error) {
    tacit_site *site = self->site;
    tacit_keep keep = { site_read_kept, site_write_kept, site };
    if (site_arm_column(site) != NULL && !site->has_arm)
        return tacit_fail(error, TACIT_REFUSED, "the coordinator asks before our arm of study '%s' is drawn",
                          site->study->name);
    TACIT_TRY(settle_rows(self, error));
    TACIT_TRY(site_check_signature(site, error));
    TACIT_TRY(site_read_rules(site, &self->owner, error));
    TACIT_TRY(tacit_study_check_time(site->study, tacit_clock_wall_seconds(), error));
    tacit_noise_source noise = { .entropy = self->entropy };
    tacit_party party =
        tacit_run_party(&site->study->plan, site->coordinator, site->id, tacit_dataset_view(site->rows),
                        site->total_rows, noise, &self->memo, &self->gate);
    party.role = site->role;
    party.called = site->called[0] != 0 ? site->called : NULL;
    party.number = self->number;
    party.pool = self->pool;
    party.keep = &keep;
    party.local = site->local;
    party.masks = self->masks;
    party.mail = self->mail;
    site_spread(site, &party);
    memcpy(party.study_hash, site->study->hash, sizeof party.study_hash);
    return tacit_party_answer(&party, &received->read.question, received->hash, answer, error);
}

/* In its first step of the first secure sum, or with the cards, the roster is settled: owners who compare its
 * fingerprint know that they see the same parties. */
static void report_answer(serving *self, const tacit_question *question, size_t bytes) {
    const tacit_plan *plan = &self->site->study->plan;
    const char *step = tacit_question_step(plan, question);
    char roster[TACIT_ROSTER_TEXT_SIZE];
    if (step != NULL && tacit_masks_roster(self->masks) != NULL && !self->roster_told) {
        tacit_roster_text(roster, tacit_masks_roster(self->masks));
        news(self, "roster %s of %zu parties: other owners should see the same", roster, plan->parties);
        self->roster_told = true;
    }
    news(self, "round %llu: answering '%s'%s%s (%zu bytes)", (unsigned long long)question->round + 1,
         question->name, step != NULL ? ", step " : "", step != NULL ? step : "", bytes);
}

static tacit_status handle_question(serving *self, const ProtobufCBinaryData *bytes, tacit_error *error) {
    const site_received *received;
    tacit_buffer answer = TACIT_BUFFER_INIT;
    tacit_status status;
    self->asked = true;
    TACIT_CHECK(site_receive(self->site, bytes->data, bytes->len, &received, error));
    const tacit_question *question = &received->read.question;
    tacit_status answered = compute_answer(self, received, &answer, error);
    if (answered == TACIT_OK) {
        report_answer(self, question, answer.length);
        TACIT_CHECK(site_links_pass(self->links, question, &answer, error));
        TACIT_CHECK(send_answer(self, &answer, error));
    } else {
        /* A full disk or want of memory passes: started again, the party answers the question that is still
         * open. */
        tacit_error unsent = TACIT_ERROR_INIT;
        if (answered != TACIT_IO && answered != TACIT_NO_MEMORY)
            send_refusal(self, question, answered, &unsent);
        (void)check_consent(self, NULL); /* a poll that crossed a withdrawal took part again */
        status = answered;               /* the reason, for the owner */
    }
cleanup:
    site_drop_received(self->site);
    tacit_buffer_clear(&answer);
    return status;
}

static tacit_status take_result(serving *self, const Tacit__Wire__Finished *finished, tacit_error *error) {
    tacit_site_result *out = self->result;
    snprintf(out->state, sizeof out->state, "%s", finished->state);
    snprintf(out->reason, sizeof out->reason, "%s", finished->reason);
    self->finished = true;
    if (strcmp(out->state, "done") != 0) return TACIT_OK;
    TACIT_TRY(site_check_model(self->site, finished->model.data, finished->model.len, error));
    TACIT_TRY(site_keep_moments(self->site, finished->model.data, finished->model.len, error));
    return tacit_buffer_append(&out->model, finished->model.data, finished->model.len, error);
}

static tacit_status take_amended(serving *self, const Tacit__Wire__Amended *amended, tacit_error *error) {
    TACIT_TRY(site_keep_amended(self->site, amended->definition, amended->signature.data,
                                amended->signature.len, error));
    return fail_amended(self->site, error);
}

/* One poll: a question, the end, an amendment, or nothing yet. */
static tacit_status poll_once(serving *self, tacit_error *error) {
    uint8_t consented[TACIT_HASH_BYTES];
    Tacit__Wire__PollRequest request = TACIT__WIRE__POLL_REQUEST__INIT;
    Tacit__Wire__PollReply *reply = NULL;
    tacit_carried carried = { .reply = TACIT_BUFFER_LIMITED(TACIT_WIRE_LIMIT) };
    unsigned version;
    tacit_status status;
    request.study = self->site->study->name;
    memcpy(consented, self->site->study->hash, sizeof consented);
    request.consented = (ProtobufCBinaryData){ sizeof consented, consented };
    request.wait_ms = self->stepwise ? self->wait_ms : 0;
    TACIT_CHECK(site_send(self->carrier, TACIT_ENDPOINT_POLL, &request,
                          self->stepwise ? self->wait_ms + STEP_MS : POLL_MS, &carried, error));
    if (self->paused) news(self, "no longer paused");
    self->paused = false;
    if (carried.result == TACIT_RESULT_LATER) {
        pause_before_retry(self, "the coordinator is not ready");
        goto cleanup;
    }
    if (self->pause_ms > 0) news(self, "connected again");
    self->pause_ms = 0;
    if (carried.result == TACIT_RESULT_NOTHING) goto cleanup;
    if (carried.result != TACIT_RESULT_DONE)
        TACIT_CHECK(tacit_fail(error, TACIT_PROTOCOL, "the coordinator answered %u: %.300s", carried.code,
                               tacit_buffer_text(&carried.reply)));
    TACIT_CHECK(tacit_wire_hear((void **)&reply, &tacit__wire__poll_reply__descriptor, &carried.reply,
                                &version, error));
    if (reply->authority > self->site->chain.count) self->listen_up = true;
    TACIT_CHECK(site_links_revoke(self->links, reply->revocations.data, reply->revocations.len, error));
    if (reply->event_case == TACIT__WIRE__POLL_REPLY__EVENT_QUESTION)
        TACIT_CHECK(handle_question(self, &reply->question, error));
    else if (reply->event_case == TACIT__WIRE__POLL_REPLY__EVENT_FINISHED)
        TACIT_CHECK(take_result(self, reply->finished, error));
    else if (reply->event_case == TACIT__WIRE__POLL_REPLY__EVENT_AMENDED)
        TACIT_CHECK(take_amended(self, reply->amended, error));
cleanup:
    tacit_wire_free(reply);
    tacit_buffer_clear(&carried.reply);
    return status;
}

/* Before the first answer the auxiliary points must be here; *ready says whether to go on. */
static tacit_status need_points(serving *self, bool *ready, tacit_error *error) {
    tacit_study *study = self->site->study;
    tacit_carried carried;
    *ready = true;
    if (study->point_count == 0 || study->plan.points != NULL) return TACIT_OK;
    TACIT_TRY(site_fetch_points(self->site, self->carrier, self->pool, &carried, error));
    if (carried.result == TACIT_RESULT_DONE) {
        news(self, "received %zu auxiliary points (%zu bytes), as consented to", study->point_count,
             study->point_bytes.length);
        tacit_buffer_clear(&study->point_bytes);
    } else if (carried.result == TACIT_RESULT_LATER) {
        *ready = false;
        pause_before_retry(self, "the coordinator is not ready");
    } else if (carried.result != TACIT_RESULT_CLOSED) { /* then the study has ended, as the next poll tells */
        return tacit_fail(error, TACIT_PROTOCOL, "the coordinator has no auxiliary points for us (%u)",
                          carried.code);
    }
    return TACIT_OK;
}

/* The rows are whole once the arm is drawn; until then there is nothing to answer, and nothing is asked. */
static tacit_status need_arm(serving *self, bool *ready, tacit_error *error) {
    bool drawn = false, changed = false;
    tacit_request_result result = TACIT_RESULT_DONE;
    TACIT_TRY(site_ask_arm(self->site, self->carrier, &drawn, &changed, &result, error));
    if (result == TACIT_RESULT_LATER) {
        *ready = false;
        pause_before_retry(self, "the coordinator is not ready");
    }
    if (!changed) return TACIT_OK;
    news(self, "our arm was drawn: %s (tacit arm show %s)", site_arm_value(self->site),
         self->site->study->name);
    return site_load_rows(self->site, error);
}

/* A certificate that cannot be renewed now is good for a while yet. Where a life is shorter than the hour
 * allowed for clocks, a third is left from the start: then half of what is left is waited for. */
static tacit_status keep_certificate(serving *self, tacit_error *error) {
    tacit_error problem = TACIT_ERROR_INIT;
    int64_t now = tacit_clock_wall_seconds(), ends = 0;
    if (now < self->renew_at) return TACIT_OK;
    tacit_status status = site_renew(self->site, self->carrier, &ends, &problem);
    if (status == TACIT_CANCELLED) return TACIT_OK; /* the caller looks */
    if (status == TACIT_NETWORK && tacit_carrier_last_failure(self->carrier) == TACIT_FAILURE_PAUSED)
        return tacit_fail(error, status, "%s", problem.text);
    if (status != TACIT_OK) {
        news(self, "the certificate could not be renewed, and will be tried again: %s", problem.text);
        self->renew_at = now + RENEWAL_PAUSE_S;
        return TACIT_OK;
    }
    TACIT_TRY(site_renewal_time(self->site, &self->renew_at, error));
    if (self->renew_at < now + (ends - now) / 2) self->renew_at = now + (ends - now) / 2;
    if (!site_is_from_present(self->site)) self->renew_at = now + RENEWAL_PAUSE_S;
    news(self, "the certificate was renewed");
    self->carrier = tacit_carrier_free(self->carrier);
    site_links_renew(self->links);
    return site_carrier(self->site, true, NULL, &self->carrier, error);
}

/* Whom we trust has changed: connections are made again, and the present authority is asked for a
 * certificate. */
static tacit_status use_trust(serving *self, bool followed, tacit_error *error) {
    char words[TACIT_ERROR_TEXT_SIZE];
    site_describe_trust(self->site, words, sizeof words);
    if (followed) news(self, "the coordinator's authority was replaced as planned, and we follow: %s", words);
    self->carrier = tacit_carrier_free(self->carrier);
    site_links_renew(self->links);
    if (!site_is_from_present(self->site)) self->renew_at = 0;
    return site_carrier(self->site, true, NULL, &self->carrier, error);
}

static tacit_status keep_trust(serving *self, tacit_error *error) {
    tacit_site *site = self->site;
    bool followed = false;
    if (site->trust_changes != 0 && tacit_clock_wall_seconds() >= site->trust_changes) {
        TACIT_TRY(site_apply_trust(site, error));
        news(self, "the coordinator's earlier authority is trusted no longer");
        TACIT_TRY(use_trust(self, false, error));
    }
    if (!self->listen_up) return TACIT_OK;
    TACIT_TRY(site_follow(site, self->carrier, &followed, error));
    self->listen_up = false;
    return followed ? use_trust(self, true, error) : TACIT_OK;
}

/* Whoever answers has a certificate of an authority that we do not know. Did ours hand over to it? */
static tacit_status look_for_successor(serving *self, const tacit_error *problem, tacit_error *error) {
    bool followed = false;
    TACIT_TRY(site_follow(self->site, NULL, &followed, error));
    return followed ? use_trust(self, true, error) : tacit_fail(error, TACIT_NETWORK, "%s", problem->text);
}

static tacit_status step(serving *self, tacit_error *error) {
    bool ready;
    TACIT_TRY(keep_trust(self, error));
    TACIT_TRY(keep_certificate(self, error));
    TACIT_TRY(need_points(self, &ready, error));
    if (ready) TACIT_TRY(need_arm(self, &ready, error));
    return ready ? poll_once(self, error) : TACIT_OK;
}

/* One turn; what is worth trying again is no failure. */
static tacit_status turn(serving *self, tacit_error *error) {
    tacit_error problem = TACIT_ERROR_INIT;
    if (cancelled(self)) return tacit_fail(error, TACIT_CANCELLED, "interrupted");
    TACIT_TRY(check_consent(self, error));
    const tacit_status status = step(self, &problem);
    const tacit_carrier_failure failure =
        status == TACIT_NETWORK ? tacit_carrier_last_failure(self->carrier) : TACIT_FAILURE_NONE;
    if (failure == TACIT_FAILURE_PAUSED)
        wait_while_paused(self);
    else if (failure == TACIT_FAILURE_AWAY)
        pause_before_retry(self, problem.text);
    else if (failure == TACIT_FAILURE_STRANGER)
        return look_for_successor(self, &problem, error);
    else if (status != TACIT_OK)
        return tacit_fail(error, status, "%s", problem.text);
    return TACIT_OK;
}

/* Two processes would each keep their own half of a masked sum. The lock ends with the process, however that
 * ends. */
static tacit_status lock_study(serving *self, tacit_error *error) {
    char path[PATH_MAX];
    TACIT_TRY(site_path(self->site, SITE_LOCK_FILE, path, error));
    self->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (self->lock < 0) return tacit_fail_errno(error, "opening", path);
    if (flock(self->lock, LOCK_EX | LOCK_NB) == 0) return TACIT_OK;
    if (errno != EWOULDBLOCK) return tacit_fail_errno(error, "locking", path);
    return tacit_fail(error, TACIT_USAGE, "another process serves study '%s' of this home already",
                      self->site->study->name);
}

static serving *stop(serving *self) {
    if (self == NULL) return NULL;
    tacit_memo_clear(&self->memo);
    site_links_free(self->links);
    tacit_mail_free(self->mail);
    tacit_masks_free(self->masks);
    tacit_carrier_free(self->carrier);
    tacit_pool_free(self->pool);
    tacit_entropy_free(self->entropy);
    tacit_ledger_free(self->ledger);
    if (self->lock >= 0) close(self->lock);
    free(self);
    return NULL;
}

static tacit_status start(serving **out, tacit_site *site, tacit_error *error) {
    serving *self = TACIT_NEW(serving, 1);
    char path[PATH_MAX];
    tacit_status status;
    if (self == NULL) return tacit_fail_memory(error);
    *self = (serving){ .site = site, .lock = -1 };
    TACIT_CHECK(site_check_reuse(site, error));
    TACIT_CHECK(site_check_spread(site, error));
    TACIT_CHECK(site_check_moments(site, error));
    TACIT_CHECK(lock_study(self, error));
    TACIT_CHECK(site_read_rules(site, &self->owner, error));
    TACIT_CHECK(tacit_path_join(path, sizeof path, site->home, TACIT_LEDGER_NAME, error));
    TACIT_CHECK(tacit_ledger_open(&self->ledger, path, site->source, TACIT_LEDGER_EXISTING, error));
    TACIT_CHECK(tacit_gate_init(&self->gate, self->ledger, &self->owner.policy, TACIT_GATE_REAL, error));
    TACIT_CHECK(tacit_pool_create(&self->pool, tacit_ranks_threads(site->callbacks.ranks), error));
    TACIT_CHECK(tacit_entropy_create(&self->entropy, error));
    TACIT_CHECK(site_number(site, &self->number, error));
    TACIT_CHECK(site_masks(site, &self->masks, error));
    TACIT_CHECK(site_mail(site, self->masks, &self->links, &self->mail, error));
    TACIT_CHECK(site_stored_points(site, self->pool, error));
    TACIT_CHECK(site_carrier(site, true, NULL, &self->carrier, error));
    TACIT_CHECK(site_renewal_time(site, &self->renew_at, error));
    if (!site_is_from_present(site)) self->renew_at = 0;
    if (site_goes_by_files(site)) self->renew_at = INT64_MAX; /* no connection needs one */
    self->listen_up = true;
    *out = self;
    self = NULL;
cleanup:
    stop(self);
    return status;
}

static tacit_status end(serving *self, tacit_error *error) {
    TACIT_TRY(tacit_ledger_end(self->ledger, self->site->id, error)); /* what it did not use is free again */
    site_mail_finish(self->site, self->links);
    return TACIT_OK;
}

tacit_status tacit_site_serve(tacit_site *site, tacit_site_result *out, tacit_error *error) {
    serving *self = NULL;
    tacit_status status;
    *out = (tacit_site_result){ .model = TACIT_BUFFER_INIT };
    site_stop_serving(site);
    TACIT_CHECK(start(&self, site, error));
    self->result = out;
    while (!self->finished) TACIT_CHECK(turn(self, error));
    TACIT_CHECK(end(self, error));
cleanup:
    if (status != TACIT_OK) tacit_buffer_clear(&out->model);
    stop(self);
    return status;
}

/* ---- by steps ---- */

/* Nothing is asked: look twice as late each time, but not so late that a round would close without us. */
static unsigned idle(serving *self) {
    const double late = self->site->study->patience * 1000 / 3;
    const unsigned most = late < LONGEST_IDLE_MS ? (unsigned)late + 1 : LONGEST_IDLE_MS;
    self->idle_ms = self->idle_ms == 0 ? FIRST_IDLE_MS : 2 * self->idle_ms;
    if (self->idle_ms > most) self->idle_ms = most;
    return self->idle_ms / 2 + randombytes_uniform(self->idle_ms);
}

static tacit_site_stepped what_came_of_it(serving *self) {
    tacit_site_stepped stepped = { TACIT_SITE_STEP_ANSWERED, 0 };
    if (self->finished)
        stepped.progress = TACIT_SITE_STEP_ENDED;
    else if (self->paused)
        stepped = (tacit_site_stepped){ TACIT_SITE_STEP_PAUSED, PAUSED_AGAIN_MS };
    else if (self->again_ms > 0)
        stepped = (tacit_site_stepped){ TACIT_SITE_STEP_AWAY, self->again_ms };
    else if (!self->asked)
        stepped = (tacit_site_stepped){ TACIT_SITE_STEP_NOTHING, idle(self) };
    if (stepped.progress != TACIT_SITE_STEP_NOTHING) self->idle_ms = 0;
    return stepped;
}

tacit_status tacit_site_take_step(tacit_site *site, unsigned wait_ms, tacit_site_stepped *stepped,
                                  tacit_site_result *out, tacit_error *error) {
    tacit_status status = TACIT_OK;
    *out = (tacit_site_result){ .model = TACIT_BUFFER_INIT };
    if (site->serving == NULL) TACIT_TRY(start(&site->serving, site, error));
    serving *self = site->serving;
    self->stepwise = true;
    self->asked = false;
    self->again_ms = 0;
    self->wait_ms = wait_ms > LONGEST_WAIT_MS ? LONGEST_WAIT_MS : wait_ms > 0 ? wait_ms : 1;
    self->result = out;
    TACIT_CHECK(turn(self, error));
    if (self->finished) TACIT_CHECK(end(self, error));
    *stepped = what_came_of_it(self);
cleanup:
    if (status != TACIT_OK) tacit_buffer_clear(&out->model);
    if (status != TACIT_OK || self->finished) site_stop_serving(site);
    return status;
}

void site_stop_serving(tacit_site *site) { site->serving = stop(site->serving); }

void tacit_site_set_paused(tacit_site *site, bool (*paused)(void *context), void *context) {
    site->callbacks.paused = paused;
    site->callbacks.paused_context = context;
    site_stop_serving(site); /* its connection has asked another */
}
