#include "session/party.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "session/party_parts.h"

void tacit_reply_clear(tacit_reply *reply) {
    if (reply == NULL) return;
    tacit_message_clear(&reply->message);
    free(reply->contribution);
    tacit_noised_free(reply->noised);
    *reply = (tacit_reply){ .message = TACIT_MESSAGE_INIT };
}

tacit_status tacit_party_local_model(tacit_party *party, double tolerance, const tacit_model **out,
                                     tacit_model **owned, tacit_error *error) {
    tacit_linear_fit fit = { .lambda = party->plan->lambda,
                             .gradient_tolerance = tolerance,
                             .best_effort = true };
    return tacit_party_linear_model(party, &fit, out, owned, error);
}

tacit_status tacit_party_linear_model(tacit_party *party, const tacit_linear_fit *given,
                                      const tacit_model **out, tacit_model **owned, tacit_error *error) {
    char purpose[sizeof party->memo->made_for];
    tacit_format(purpose, sizeof purpose, "linear lambda %.17g tolerance %.17g %s %.17g", given->lambda,
                 given->gradient_tolerance, given->family != NULL ? given->family->name : "", given->shape);
    tacit_memo *memo = party->memo;
    if (memo != NULL && memo->model != NULL && strcmp(memo->made_for, purpose) == 0) {
        *out = memo->model;
        return TACIT_OK;
    }
    tacit_linear_fit fit = *given;
    fit.total_rows = party->total_rows;
    fit.reducer = party->reducer;
    fit.pool = party->pool;
    tacit_model *model = NULL;
    TACIT_TRY(tacit_model_fit_linear(&model, &party->rows, &fit, error));
    if (memo != NULL) {
        tacit_model_free(memo->model);
        memo->model = model;
        memcpy(memo->made_for, purpose, sizeof purpose);
    } else {
        *owned = model;
    }
    *out = model;
    return TACIT_OK;
}

void tacit_memo_clear(tacit_memo *memo) {
    if (memo == NULL) return;
    tacit_model_free(memo->model);
    tacit_classifier_free(memo->classifier);
    free(memo->state);
    tacit_prepared_free(memo->prepared);
    free(memo->derived);
    tacit_paillier_public_free(memo->center_key);
    tacit_packed_rows_free(memo->packed);
    *memo = (tacit_memo){ .model = NULL };
}

void tacit_party_forget(tacit_party *party) {
    if (party->memo == NULL) return;
    free(party->memo->state);
    party->memo->state = NULL;
    party->memo->state_count = 0;
}

void tacit_party_unpack(tacit_party *party) {
    if (party->memo != NULL) party->memo->packed = tacit_packed_rows_free(party->memo->packed);
}

tacit_status tacit_party_state(tacit_party *party, size_t count, double **out, tacit_error *error) {
    tacit_memo *memo = party->memo;
    if (memo == NULL)
        return tacit_fail(error, TACIT_REFUSED, "method %s needs a party that remembers the round before",
                          party->plan->method->name);
    if (memo->state_count != count) {
        tacit_party_forget(party);
        memo->state = TACIT_NEW(double, count);
        if (memo->state == NULL) return tacit_fail_memory(error);
        memo->state_count = count;
    }
    *out = memo->state;
    return TACIT_OK;
}

typedef struct tacit_derived {
    tacit_plan plan;
    tacit_deriver *derive;
    double about;
    size_t size;
    max_align_t value[];
} tacit_derived;

/* From `place`, or derived and kept there. */
static tacit_status derive_once(tacit_derived **place, const tacit_plan *plan, tacit_deriver *derive,
                                double about, void *out, size_t size, tacit_error *error) {
    tacit_derived *kept = *place;
    if (kept != NULL && kept->derive == derive && kept->about == about && kept->size == size &&
        tacit_plan_equal(&kept->plan, plan)) {
        memcpy(out, kept->value, size);
        return TACIT_OK;
    }
    TACIT_TRY(derive(plan, about, out, error));
    kept = tacit_allocate(1, sizeof *kept + size);
    if (kept == NULL) return tacit_fail_memory(error);
    kept->plan = *plan;
    kept->derive = derive;
    kept->about = about;
    kept->size = size;
    memcpy(kept->value, out, size);
    free(*place);
    *place = kept;
    return TACIT_OK;
}

tacit_status tacit_party_derive(tacit_party *party, tacit_deriver *derive, double about, void *out,
                                size_t size, tacit_error *error) {
    if (party->common != NULL) {
        pthread_mutex_lock(&party->common->mutex);
        tacit_status status =
            derive_once(&party->common->derived, party->plan, derive, about, out, size, error);
        pthread_mutex_unlock(&party->common->mutex);
        return status;
    }
    if (party->memo == NULL) return derive(party->plan, about, out, error);
    return derive_once(&party->memo->derived, party->plan, derive, about, out, size, error);
}

tacit_status tacit_party_prepared(const tacit_party *party, void *out, tacit_error *error) {
    const tacit_plan *plan = party->plan;
    if (party->common != NULL || party->memo != NULL)
        return tacit_common_prepared(party->common, party->memo != NULL ? &party->memo->prepared : NULL, plan,
                                     out, error);
    if (plan->method->clear_prepared == NULL) return plan->method->prepare(plan, out, error);
    return tacit_fail(error, TACIT_REFUSED, "method %s needs a party that keeps what it prepared",
                      plan->method->name);
}

tacit_status tacit_party_price(const tacit_party *party, tacit_prices *out, tacit_error *error) {
    *out = (tacit_prices){ .event = { .count = 0 } };
    if (party->common == NULL && party->memo == NULL) return tacit_plan_price(party->plan, out, error);
    return tacit_common_price(party->common, party->memo != NULL ? &party->memo->prepared : NULL, party->plan,
                              out, error);
}

/* Chance in training follows from the party's number only, so that a classifier is the same whenever it is
 * trained. */
tacit_status tacit_party_classifier(tacit_party *party, const char *kinds, double lambda,
                                    const tacit_classifier **out, tacit_classifier **owned,
                                    tacit_error *error) {
    char kind[TACIT_SETTING_SIZE], purpose[sizeof party->memo->trained_as];
    TACIT_TRY(tacit_classifier_of_party(party->local != NULL ? party->local : kinds, party->number, kind,
                                        sizeof kind, error));
    tacit_format(purpose, sizeof purpose, "%s lambda %.17g", kind, lambda);
    tacit_memo *memo = party->memo;
    if (memo != NULL && memo->classifier != NULL && strcmp(memo->trained_as, purpose) == 0) {
        *out = memo->classifier;
        return TACIT_OK;
    }
    tacit_stream root = tacit_stream_from_seed(0);
    tacit_training training = {
        .lambda = lambda,
        .stream = tacit_stream_fork(&root, "local training", party->number, 0),
        .pool = party->pool,
    };
    tacit_classifier *classifier = NULL;
    TACIT_TRY(tacit_classifier_train(&classifier, kind, &party->rows, &training, error));
    if (memo != NULL) {
        tacit_classifier_free(memo->classifier);
        memo->classifier = classifier;
        memcpy(memo->trained_as, purpose, sizeof purpose);
    } else {
        *owned = classifier;
    }
    *out = classifier;
    return TACIT_OK;
}

tacit_status tacit_party_read_total(const tacit_party *party, const tacit_question *question, double most,
                                    double *out, tacit_error *error) {
    const double *total;
    TACIT_TRY(tacit_message_numbers(question->message, "rows", 1, &total, error));
    if (!(*total >= (double)party->total_rows && *total <= most * (double)party->plan->parties))
        return tacit_fail(error, TACIT_REFUSED,
                          "the coordinator speaks of %g rows in all and this party has %zu", *total,
                          party->total_rows);
    *out = *total;
    return TACIT_OK;
}

tacit_status tacit_party_handler(const tacit_party *party, const tacit_question *question,
                                 const tacit_handler_entry **out, tacit_error *error) {
    const tacit_method *method = party->plan->method;
    if (strcmp(question->study, party->plan->study) != 0)
        return tacit_fail(error, TACIT_PROTOCOL, "the question is about study '%s', not '%s'",
                          question->study, party->plan->study);
    if (strcmp(question->method, method->name) != 0)
        return tacit_fail(error, TACIT_REFUSED, "the question is of method %s, but consent was given to %s",
                          question->method, method->name);
    if (question->method_version != method->version)
        return tacit_fail(error, TACIT_PROTOCOL,
                          "the coordinator runs version %u of method %s, this party version %u: update the "
                          "older of the two",
                          question->method_version, method->name, method->version);
    for (size_t i = 0; method->handlers != NULL && method->handlers[i].question != NULL; i++)
        if (strcmp(method->handlers[i].question, question->name) == 0) {
            *out = &method->handlers[i];
            return TACIT_OK;
        }
    return tacit_fail(error, TACIT_PROTOCOL, "method %s has no question '%s'", method->name, question->name);
}

static tacit_status enough_rows(const tacit_party *party, tacit_error *error) {
    if (party->total_rows >= party->plan->minimum_rows) return TACIT_OK;
    return tacit_fail(error, TACIT_REFUSED, "this party has %zu rows and the study needs at least %zu",
                      party->total_rows, party->plan->minimum_rows);
}

/* Where others hold some of the rows they run the handler too, and all of them or none come to its end. */
static tacit_status answer_together(tacit_party *party, const tacit_handler_entry *handler,
                                    const tacit_question *question, tacit_reply *reply, tacit_error *error) {
    const tacit_holders *holders = party->holders;
    if (holders == NULL) return handler->answer(party, question, reply, error);
    TACIT_TRY(holders->ask(holders->context, question, error));
    tacit_status status = handler->answer(party, question, reply, error);
    return holders->settle(holders->context, status, error);
}

tacit_status tacit_party_compute(tacit_party *party, const tacit_question *question, tacit_reply *reply,
                                 tacit_error *error) {
    const tacit_handler_entry *handler = NULL;
    TACIT_TRY(tacit_party_handler(party, question, &handler, error));
    TACIT_TRY(enough_rows(party, error));
    TACIT_TRY(tacit_party_restore(party, error));
    TACIT_TRY(answer_together(party, handler, question, reply, error));
    if (reply->noised != NULL) {
        reply->noise = tacit_noised_grade(reply->noised);
        if (reply->event.count == 0) reply->event = tacit_noised_event(reply->noised, &reply->price);
    }
    bool summed = reply->contribution != NULL || reply->noised != NULL;
    /* Noise is in what is charged; a share of it is in what is sealed and has a price. */
    bool shared = reply->kind == TACIT_RELEASE_SEALED && tacit_plan_shares_noise(party->plan) &&
                  reply->price.epsilon > 0;
    bool noised = reply->kind == TACIT_RELEASE_CHARGED || shared;
    if (question->wants_sum != summed || (summed && noised != (reply->noised != NULL)))
        return tacit_fail(error, TACIT_INTERNAL,
                          "method %s answers '%s' with something other than what was asked for",
                          question->method, question->name);
    return TACIT_OK;
}

tacit_status tacit_party_grid_steps(const tacit_question *question, const tacit_reply *reply, int64_t *out,
                                    tacit_error *error) {
    const tacit_sum_spec *sum = &question->sum;
    if (reply->noised == NULL) return tacit_sum_quantise(sum, reply->contribution, out, error);
    if (tacit_noised_count(reply->noised) != sum->length ||
        tacit_noised_grid_bits(reply->noised) != sum->grid_bits)
        return tacit_fail(error, TACIT_INTERNAL, "method %s adds noise on another grid than that of its sum",
                          question->method);
    memcpy(out, tacit_noised_steps(reply->noised), sum->length * sizeof *out);
    return TACIT_OK;
}

tacit_status tacit_party_stored_reply(const tacit_party *party, const tacit_question *question,
                                      tacit_reply *reply, tacit_error *error) {
    const tacit_method *method = party->plan->method;
    const tacit_handler_entry *unused = NULL;
    tacit_prices prices;
    TACIT_TRY(tacit_party_handler(party, question, &unused, error));
    TACIT_TRY(tacit_party_price(party, &prices, error));
    reply->kind = method->release_kind(party->plan);
    reply->noise = isinf(prices.charged.epsilon) ? TACIT_NOISE_NONE : tacit_noise_source_grade(&party->noise);
    reply->price = prices.charged;
    reply->event = prices.event;
    if (reply->kind == TACIT_RELEASE_SEALED) reply->assumption = "that of the stored answer";
    return TACIT_OK;
}

tacit_release tacit_party_describe(const tacit_party *party, const tacit_question *question,
                                   const tacit_reply *reply, const uint8_t *question_hash) {
    tacit_release release = {
        .kind = reply->kind,
        .noise = reply->noise,
        .price = reply->price,
        .event = reply->event,
        .assumption = reply->assumption,
        .coordinator = party->coordinator,
        .study = party->study,
        .method = question->method,
        .question = question->name,
        .round = question->round,
        .rows = party->total_rows,
        .without_center = party->plan->method->schedule != NULL,
        .of_one_site = tacit_plan_sites_apart(party->plan),
        .parties_declared = party->plan->parties,
        .parties_minimum = party->plan->minimum_parties,
        .parameters = question->wants_sum ? question->sum.length : reply->packed,
    };
    for (size_t i = 0; i < reply->message.count; i++)
        if (reply->message.fields[i].kind <= TACIT_FIELD_INTEGERS)
            release.parameters += reply->message.fields[i].count;
    memcpy(release.study_hash, party->study_hash, sizeof release.study_hash);
    memcpy(release.answer_id, question->answer_id, sizeof release.answer_id);
    if (question_hash != NULL) memcpy(release.question_hash, question_hash, sizeof release.question_hash);
    return release;
}

static tacit_status encode_reply(const tacit_question *question, const tacit_reply *reply, tacit_buffer *out,
                                 tacit_error *error) {
    tacit_answer answer = tacit_answer_to(question);
    answer.message = reply->message;
    tacit_status status = TACIT_OK;
    if (question->wants_sum) {
        answer.length = question->sum.length;
        answer.contribution = TACIT_NEW(int64_t, answer.length);
        if (answer.contribution == NULL) return tacit_fail_memory(error);
        TACIT_CHECK(tacit_party_grid_steps(question, reply, answer.contribution, error));
    }
    TACIT_CHECK(tacit_answer_encode(&answer, out, error));
cleanup:
    free(answer.contribution);
    return status;
}

tacit_release tacit_party_describe_message(const tacit_party *party, const tacit_question *question,
                                           const uint8_t *question_hash, const char *assumption) {
    static const tacit_reply nothing = { .kind = TACIT_RELEASE_SEALED, .message = TACIT_MESSAGE_INIT };
    tacit_release release = tacit_party_describe(party, question, &nothing, question_hash);
    release.parameters = 0;
    release.assumption = assumption;
    return release;
}

tacit_status tacit_party_log_problem(const tacit_party *party, const tacit_release *release,
                                     tacit_status status, const tacit_error *said, tacit_error *error) {
    if (status != TACIT_REFUSED && status != TACIT_PROTOCOL)
        return tacit_fail(error, status, "%s", said->text);
    tacit_gate_refuse(party->gate, release, error, said->text);
    return status;
}

tacit_status tacit_party_encode_bytes(const tacit_question *question, const char *field,
                                      const tacit_buffer *body, tacit_buffer *out, tacit_error *error) {
    tacit_answer answer = tacit_answer_to(question);
    tacit_status status = tacit_message_add_bytes(&answer.message, field, body->bytes, body->length, error);
    if (status == TACIT_OK) status = tacit_answer_encode(&answer, out, error);
    tacit_message_clear(&answer.message);
    return status;
}

/* In a study with secure sums no coordinator gets a contribution for the asking, and never a word to
 * neighbours. */
static tacit_status refuse_in_clear(tacit_party *party, const tacit_question *question,
                                    const uint8_t *question_hash, tacit_error *error) {
    static const tacit_reply nothing = { .kind = TACIT_RELEASE_ENTRUSTED, .message = TACIT_MESSAGE_INIT };
    const tacit_handler_entry *handler = NULL;
    if (party->gate->mode != TACIT_GATE_REAL) return TACIT_OK;
    TACIT_TRY(tacit_party_handler(party, question, &handler, error));
    bool summed = question->wants_sum && party->plan->sums != TACIT_SUMS_CLEAR;
    if (!summed && !handler->to_neighbours) return TACIT_OK;
    tacit_release release = tacit_party_describe(party, question, &nothing, question_hash);
    return tacit_gate_refuse(
        party->gate, &release, error,
        summed ? "the coordinator asks for a contribution in clear, and the study hides them in its sums"
               : "the coordinator asks for a word to neighbours in clear");
}

static tacit_status answer_in_clear(tacit_party *party, const tacit_question *question,
                                    const uint8_t question_hash[TACIT_HASH_BYTES], tacit_buffer *out,
                                    tacit_error *error) {
    tacit_reply reply = { .message = TACIT_MESSAGE_INIT };
    tacit_buffer payload = TACIT_BUFFER_LIMITED(TACIT_PAYLOAD_MOST);
    tacit_status status;
    bool stored = false;
    TACIT_TRY(refuse_in_clear(party, question, question_hash, error));
    TACIT_CHECK(tacit_gate_has_answer(&stored, party->gate, question->answer_id, question_hash, error));
    if (stored) { /* asked again: the stored bytes go out again, whatever a new computation would give */
        TACIT_CHECK(tacit_party_stored_reply(party, question, &reply, error));
    } else {
        TACIT_CHECK(tacit_party_compute(party, question, &reply, error));
        TACIT_CHECK(encode_reply(question, &reply, &payload, error));
    }
    tacit_release release = tacit_party_describe(party, question, &reply, question_hash);
    release.payload = payload.bytes;
    release.payload_length = payload.length;
    TACIT_CHECK(tacit_gate_release(party->gate, &release, out, error));
cleanup:
    tacit_buffer_clear(&payload);
    tacit_reply_clear(&reply);
    return status;
}

static const char *no_step(const tacit_plan *plan, const tacit_question *question) {
    (void)plan, (void)question;
    return NULL;
}

static const party_round party_plain_round = { answer_in_clear, no_step };
static const party_round *const rounds[] = { [TACIT_ROUND_PLAIN] = &party_plain_round,
                                             [TACIT_ROUND_SECURE] = &party_secure_round,
                                             [TACIT_ROUND_MAIL] = &party_mail_round };

tacit_status tacit_party_answer(tacit_party *party, const tacit_question *question,
                                const uint8_t question_hash[TACIT_HASH_BYTES], tacit_buffer *out,
                                tacit_error *error) {
    return rounds[question->kind]->answer(party, question, question_hash, out, error);
}

const char *tacit_question_step(const tacit_plan *plan, const tacit_question *question) {
    return rounds[question->kind]->step(plan, question);
}

tacit_status tacit_party_contribute(tacit_party *party, const tacit_question *question, uint64_t *total,
                                    tacit_error *error) {
    tacit_reply reply = { .message = TACIT_MESSAGE_INIT };
    tacit_buffer released = TACIT_BUFFER_INIT;
    size_t length = question->sum.length;
    int64_t *grid = TACIT_NEW(int64_t, length);
    tacit_status status = TACIT_OK;
    if (grid == NULL) {
        status = tacit_fail_memory(error);
        goto cleanup;
    }
    TACIT_CHECK(tacit_party_compute(party, question, &reply, error));
    TACIT_CHECK(tacit_party_grid_steps(question, &reply, grid, error));
    tacit_release release = tacit_party_describe(party, question, &reply, NULL);
    release.payload = (const uint8_t *)grid;
    release.payload_length = length * sizeof *grid;
    TACIT_CHECK(tacit_gate_release(party->gate, &release, &released, error));
    for (size_t j = 0; j < length; j++) {
        int64_t value;
        memcpy(&value, released.bytes + j * sizeof value, sizeof value); /* what was released, nothing else */
        total[j] += (uint64_t)value;
    }
cleanup:
    tacit_buffer_clear(&released);
    free(grid);
    tacit_reply_clear(&reply);
    return status;
}

tacit_status tacit_party_contribute_blank(tacit_party *party, const tacit_question *question,
                                          tacit_error *error) {
    tacit_reply reply = { .message = TACIT_MESSAGE_INIT };
    tacit_buffer released = TACIT_BUFFER_INIT;
    TACIT_TRY(enough_rows(party, error));
    TACIT_TRY(tacit_party_stored_reply(party, question, &reply, error));
    tacit_release release = tacit_party_describe(party, question, &reply, NULL);
    static const uint8_t stand_in; /* a simulated gate wants bytes, and these go nowhere */
    release.payload = &stand_in;
    release.payload_length = 1;
    tacit_status status = tacit_gate_release(party->gate, &release, &released, error);
    tacit_buffer_clear(&released);
    return status;
}
