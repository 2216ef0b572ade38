#include "session/wire/wire.h"

#include <math.h>
#include <protobuf-c/protobuf-c.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "tacit.pb-c.h"

/* A two-byte empty submessage becomes a structure of some 100 bytes: without a budget a hostile body would be
 * multiplied fifty times in memory. Honest bodies are mostly arrays, which grow at most twofold while
 * read. */
enum { PARSE_GROWTH = 4, PARSE_SPARE = 1 << 20 };

typedef struct parse_budget {
    size_t left;
    bool no_memory; /* the system had none, whatever is left */
} parse_budget;

static void *budgeted_allocate(void *context, size_t size) {
    parse_budget *budget = context;
    if (size > budget->left) return NULL;
    budget->left -= size;
    void *memory = malloc(size > 0 ? size : 1);
    budget->no_memory = budget->no_memory || memory == NULL;
    return memory;
}

static void plain_free(void *budget, void *memory) {
    (void)budget;
    free(memory);
}

tacit_status tacit_wire_parse(void **out, const ProtobufCMessageDescriptor *type, const uint8_t *bytes,
                              size_t length, tacit_error *error) {
    if (length > TACIT_WIRE_LIMIT)
        return tacit_fail(error, TACIT_LIMIT, "a message of %zu bytes is larger than the allowed %d", length,
                          TACIT_WIRE_LIMIT);
    parse_budget budget = { PARSE_GROWTH * length + PARSE_SPARE, false };
    ProtobufCAllocator allocator = { budgeted_allocate, plain_free, &budget };
    ProtobufCMessage *message = protobuf_c_message_unpack(type, &allocator, length, bytes);
    if (message == NULL && budget.no_memory) return tacit_fail_memory(error);
    if (message == NULL)
        return tacit_fail(error, TACIT_PROTOCOL, "the message is damaged or not a %s", type->short_name);
    *out = message;
    return TACIT_OK;
}

void tacit_wire_free(void *message) {
    if (message == NULL) return;
    ProtobufCAllocator allocator = { budgeted_allocate, plain_free, NULL };
    protobuf_c_message_free_unpacked(message, &allocator);
}

tacit_status tacit_wire_pack(tacit_buffer *out, const void *message, tacit_error *error) {
    size_t size = protobuf_c_message_get_packed_size(message);
    uint8_t *at;
    if (size == 0) return TACIT_OK;
    TACIT_TRY(tacit_buffer_reserve(out, size, &at, error));
    out->length += protobuf_c_message_pack(message, at);
    return TACIT_OK;
}

static tacit_status copy_name(char *out, const char *what, const char *text, tacit_error *error) {
    size_t length = text != NULL ? strlen(text) : 0;
    if (length == 0 || length >= TACIT_ID_SIZE)
        return tacit_fail(error, TACIT_PROTOCOL, "the %s in a message must have 1 to %d characters", what,
                          TACIT_ID_SIZE - 1);
    memcpy(out, text, length + 1);
    return TACIT_OK;
}

static tacit_status copy_answer_id(uint8_t out[TACIT_ANSWER_ID_BYTES], ProtobufCBinaryData id,
                                   tacit_error *error) {
    if (id.len != TACIT_ANSWER_ID_BYTES)
        return tacit_fail(error, TACIT_PROTOCOL, "an answer id has %d bytes, not %zu", TACIT_ANSWER_ID_BYTES,
                          id.len);
    memcpy(out, id.data, id.len);
    return TACIT_OK;
}

/* ---- versions ---- */

enum { RANGE_TEXT = 40 };

static const char *range_text(char out[RANGE_TEXT], const tacit_versions *range) {
    if (range->lowest < range->highest)
        snprintf(out, RANGE_TEXT, "versions %u to %u", range->lowest, range->highest);
    else
        snprintf(out, RANGE_TEXT, "version %u", range->lowest);
    return out;
}

static tacit_status agree(unsigned *out, tacit_versions own, const tacit_versions *peer,
                          const char *their_name, const char *own_name, tacit_error *error) {
    const unsigned lowest = own.lowest > peer->lowest ? own.lowest : peer->lowest;
    const unsigned highest = own.highest < peer->highest ? own.highest : peer->highest;
    char theirs[RANGE_TEXT], ours[RANGE_TEXT];
    if (lowest <= highest) {
        *out = highest;
        return TACIT_OK;
    }
    return tacit_fail(error, TACIT_PROTOCOL, "the %s speaks protocol %s, the %s %s: update the %s's program",
                      their_name, range_text(theirs, peer), own_name, range_text(ours, &own),
                      peer->highest < own.lowest ? their_name : own_name);
}

/* Of a question or an answer, which is written as before by programs that agree on a later version. */
static tacit_status check_written(uint32_t version, const char *writer, const char *reader,
                                  tacit_error *error) {
    const tacit_versions readable = { TACIT_QUESTION_VERSION, tacit_versions_spoken().highest };
    unsigned unused;
    return agree(&unused, readable, &(tacit_versions){ version, version }, writer, reader, error);
}

/* The place of a field in a message that has it. */
static void *field_at(const ProtobufCMessage *message, const char *name) {
    const ProtobufCFieldDescriptor *field =
        protobuf_c_message_descriptor_get_field_by_name(message->descriptor, name);
    return field != NULL ? (char *)message + field->offset : NULL;
}

tacit_status tacit_wire_say(tacit_buffer *out, void *message, unsigned version, tacit_error *error) {
    const tacit_versions own = tacit_versions_spoken();
    Tacit__Wire__Versions speaks = TACIT__WIRE__VERSIONS__INIT;
    speaks.lowest = own.lowest;
    speaks.highest = own.highest;
    *(uint32_t *)field_at(message, "protocol") = version != 0 ? version : own.lowest;
    *(Tacit__Wire__Versions **)field_at(message, "speaks") = &speaks;
    tacit_status status = tacit_wire_pack(out, message, error);
    *(Tacit__Wire__Versions **)field_at(message, "speaks") = NULL;
    return status;
}

tacit_status tacit_wire_hear(void **out, const ProtobufCMessageDescriptor *type, const tacit_buffer *bytes,
                             unsigned *version, tacit_error *error) {
    void *message = NULL;
    TACIT_TRY(tacit_wire_parse(&message, type, bytes->bytes, bytes->length, error));
    const Tacit__Wire__Versions *speaks = *(Tacit__Wire__Versions **)field_at(message, "speaks");
    const uint32_t written = *(uint32_t *)field_at(message, "protocol");
    const tacit_versions peer = { speaks != NULL ? speaks->lowest : written,
                                  speaks != NULL ? speaks->highest : written };
    const bool asks = strstr(type->short_name, "Request") != NULL;
    tacit_status status = agree(version, tacit_versions_spoken(), &peer, asks ? "party" : "coordinator",
                                asks ? "coordinator" : "party", error);
    if (status == TACIT_OK)
        *out = message;
    else
        tacit_wire_free(message);
    return status;
}

/* ---- fields and letters ---- */

/* The fields of a message, laid out as protobuf wants them; the values are borrowed. */
typedef struct field_list {
    Tacit__Wire__Field **pointers;
    Tacit__Wire__Field *fields;
    Tacit__Wire__Numbers *numbers;
    Tacit__Wire__Integers *integers;
} field_list;

static void field_list_clear(field_list *list) {
    free(list->pointers);
    free(list->fields);
    free(list->numbers);
    free(list->integers);
}

static tacit_status field_list_fill(field_list *list, const tacit_message *message, tacit_error *error) {
    size_t count = message != NULL ? message->count : 0;
    *list = (field_list){ TACIT_NEW(Tacit__Wire__Field *, count), TACIT_NEW(Tacit__Wire__Field, count),
                          TACIT_NEW(Tacit__Wire__Numbers, count), TACIT_NEW(Tacit__Wire__Integers, count) };
    if (list->pointers == NULL || list->fields == NULL || list->numbers == NULL || list->integers == NULL)
        return tacit_fail_memory(error);
    for (size_t i = 0; i < count; i++) {
        const tacit_field *from = &message->fields[i];
        Tacit__Wire__Field *to = list->pointers[i] = &list->fields[i];
        tacit__wire__field__init(to);
        tacit__wire__numbers__init(&list->numbers[i]);
        tacit__wire__integers__init(&list->integers[i]);
        to->name = from->name;
        switch (from->kind) {
        case TACIT_FIELD_NUMBERS:
            to->value_case = TACIT__WIRE__FIELD__VALUE_NUMBERS;
            to->numbers = &list->numbers[i];
            to->numbers->values = from->value.numbers;
            to->numbers->n_values = from->count;
            break;
        case TACIT_FIELD_INTEGERS:
            to->value_case = TACIT__WIRE__FIELD__VALUE_INTEGERS;
            to->integers = &list->integers[i];
            to->integers->values = from->value.integers;
            to->integers->n_values = from->count;
            break;
        case TACIT_FIELD_TEXT:
            to->value_case = TACIT__WIRE__FIELD__VALUE_TEXT;
            to->text = from->value.text;
            break;
        case TACIT_FIELD_BYTES:
            to->value_case = TACIT__WIRE__FIELD__VALUE_BYTES;
            to->bytes = (ProtobufCBinaryData){ from->count, from->value.bytes };
            break;
        }
    }
    return TACIT_OK;
}

/* Letters, laid out as protobuf wants them; the bodies are borrowed. */
typedef struct letter_list {
    Tacit__Wire__Letter **pointers;
    Tacit__Wire__Letter *letters;
} letter_list;

static void letter_list_clear(letter_list *list) {
    free(list->pointers);
    free(list->letters);
}

static tacit_status letter_list_fill(letter_list *list, const tacit_letters *from, tacit_error *error) {
    *list = (letter_list){ TACIT_NEW(Tacit__Wire__Letter *, from->count),
                           TACIT_NEW(Tacit__Wire__Letter, from->count) };
    if (list->pointers == NULL || list->letters == NULL) return tacit_fail_memory(error);
    for (size_t i = 0; i < from->count; i++) {
        Tacit__Wire__Letter *to = list->pointers[i] = &list->letters[i];
        tacit__wire__letter__init(to);
        to->party = from->letter[i].party;
        to->round = from->letter[i].round;
        to->body = (ProtobufCBinaryData){ from->letter[i].body.length, from->letter[i].body.bytes };
    }
    return TACIT_OK;
}

static tacit_status read_letters(tacit_letters *out, Tacit__Wire__Letter **from, size_t count,
                                 tacit_error *error) {
    enum { MOST_LETTERS = 100000 }; /* one for each party of a large study */
    if (count > MOST_LETTERS)
        return tacit_fail(error, TACIT_PROTOCOL, "a message has at most %d letters, not %zu", MOST_LETTERS,
                          count);
    for (size_t i = 0; i < count; i++)
        TACIT_TRY(tacit_letters_add(out, from[i]->party, from[i]->round, from[i]->body.data,
                                    from[i]->body.len, error));
    return TACIT_OK;
}

static tacit_status read_field(tacit_message *out, const Tacit__Wire__Field *field, tacit_error *error) {
    char name[TACIT_ID_SIZE];
    TACIT_TRY(copy_name(name, "field name", field->name, error));
    switch (field->value_case) {
    case TACIT__WIRE__FIELD__VALUE_NUMBERS:
        return tacit_message_add_numbers(out, name, field->numbers->values, field->numbers->n_values, error);
    case TACIT__WIRE__FIELD__VALUE_INTEGERS:
        return tacit_message_add_integers(out, name, field->integers->values, field->integers->n_values,
                                          error);
    case TACIT__WIRE__FIELD__VALUE_TEXT: return tacit_message_add_text(out, name, field->text, error);
    case TACIT__WIRE__FIELD__VALUE_BYTES:
        return tacit_message_add_bytes(out, name, field->bytes.data, field->bytes.len, error);
    default: return tacit_fail(error, TACIT_PROTOCOL, "message field '%s' has no value", name);
    }
}

static tacit_status read_fields(tacit_message *out, Tacit__Wire__Field **fields, size_t count,
                                tacit_error *error) {
    enum { MOST_FIELDS = 256 }; /* a method's message has a handful */
    if (count > MOST_FIELDS)
        return tacit_fail(error, TACIT_PROTOCOL, "a message has at most %d fields, not %zu", MOST_FIELDS,
                          count);
    tacit_message message = TACIT_MESSAGE_INIT;
    for (size_t i = 0; i < count; i++) {
        tacit_status status = read_field(&message, fields[i], error);
        if (status != TACIT_OK) {
            tacit_message_clear(&message);
            return status;
        }
    }
    *out = message;
    return TACIT_OK;
}

/* ---- questions ---- */

tacit_status tacit_question_encode_head(const tacit_question *question, tacit_buffer *out,
                                        tacit_error *error) {
    tacit_question copy = *question; /* protobuf-c wants pointers to non-const */
    Tacit__Wire__Question wire = TACIT__WIRE__QUESTION__INIT;
    wire.protocol = TACIT_QUESTION_VERSION;
    wire.study = copy.study;
    wire.method = copy.method;
    wire.method_version = copy.method_version;
    wire.round = copy.round;
    wire.name = copy.name;
    wire.answer_id = (ProtobufCBinaryData){ sizeof copy.answer_id, copy.answer_id };
    return tacit_wire_pack(out, &wire, error);
}

/* What belongs to a step; the lists are for the caller to clear. */
static tacit_status fill_mail(Tacit__Wire__Mail *out, const tacit_mail_step *step, letter_list *cards,
                              letter_list *words, tacit_error *error) {
    TACIT_TRY(letter_list_fill(cards, &step->cards, error));
    TACIT_TRY(letter_list_fill(words, &step->words, error));
    out->step = step->step;
    out->roster = (ProtobufCBinaryData){ step->roster.length, step->roster.bytes };
    out->n_cards = step->cards.count;
    out->cards = cards->pointers;
    out->n_words = step->words.count;
    out->words = words->pointers;
    return TACIT_OK;
}

tacit_status tacit_question_encode_rest(const tacit_question *question, tacit_buffer *out,
                                        tacit_error *error) {
    Tacit__Wire__Question wire = TACIT__WIRE__QUESTION__INIT;
    Tacit__Wire__Sum sum = TACIT__WIRE__SUM__INIT;
    Tacit__Wire__MaskedStep masked = TACIT__WIRE__MASKED_STEP__INIT;
    Tacit__Wire__Mail mail = TACIT__WIRE__MAIL__INIT;
    letter_list cards = { NULL, NULL }, words = { NULL, NULL };
    field_list list;
    tacit_status status;
    TACIT_CHECK(field_list_fill(&list, question->message, error));
    wire.fields = list.pointers;
    wire.n_fields = question->message != NULL ? question->message->count : 0;
    if (question->wants_sum) {
        sum.length = question->sum.length;
        sum.bound = question->sum.bound;
        sum.grid_bits = question->sum.grid_bits;
        wire.sum = &sum;
    }
    if (question->kind == TACIT_ROUND_SECURE) {
        const tacit_masked_step *step = question->masked;
        masked.step = step->step;
        masked.sum_id = (ProtobufCBinaryData){ sizeof step->sum_id, (uint8_t *)step->sum_id };
        masked.body = (ProtobufCBinaryData){ step->body.length, step->body.bytes };
        masked.roster = (ProtobufCBinaryData){ step->roster.length, step->roster.bytes };
        wire.step_case = TACIT__WIRE__QUESTION__STEP_MASKED;
        wire.masked = &masked;
    } else if (question->kind == TACIT_ROUND_MAIL) {
        TACIT_CHECK(fill_mail(&mail, question->mail, &cards, &words, error));
        wire.step_case = TACIT__WIRE__QUESTION__STEP_MAIL;
        wire.mail = &mail;
    }
    TACIT_CHECK(tacit_wire_pack(out, &wire, error));
cleanup:
    field_list_clear(&list);
    letter_list_clear(&cards);
    letter_list_clear(&words);
    return status;
}

tacit_status tacit_question_encode(const tacit_question *question, tacit_buffer *out, tacit_error *error) {
    TACIT_TRY(tacit_question_encode_head(question, out, error));
    return tacit_question_encode_rest(question, out, error);
}

static tacit_status read_sum(tacit_sum_spec *out, const Tacit__Wire__Sum *sum, tacit_error *error) {
    enum { MOST_LENGTH = TACIT_WIRE_LIMIT / 8, WIDEST_GRID = 1000 };
    if (sum->length == 0 || sum->length > MOST_LENGTH || !(sum->bound > 0) || !isfinite(sum->bound) ||
        sum->grid_bits < -WIDEST_GRID || sum->grid_bits > WIDEST_GRID ||
        ldexp(sum->bound, sum->grid_bits) > 0x1p62)
        return tacit_fail(error, TACIT_PROTOCOL,
                          "the question asks for a sum with impossible length, bound or grid");
    *out = (tacit_sum_spec){ sum->length, sum->bound, sum->grid_bits };
    return TACIT_OK;
}

static tacit_status read_masked(tacit_masked_step *out, const Tacit__Wire__MaskedStep *wire,
                                tacit_error *error) {
    if (wire->sum_id.len != sizeof out->sum_id)
        return tacit_fail(error, TACIT_PROTOCOL, "the id of a masked sum has %d bytes, not %zu",
                          TACIT_MASKED_ID_BYTES, wire->sum_id.len);
    out->step = wire->step;
    memcpy(out->sum_id, wire->sum_id.data, sizeof out->sum_id);
    TACIT_TRY(tacit_buffer_append(&out->body, wire->body.data, wire->body.len, error));
    return tacit_buffer_append(&out->roster, wire->roster.data, wire->roster.len, error);
}

static tacit_status read_mail(tacit_mail_step *out, const Tacit__Wire__Mail *wire, tacit_error *error) {
    out->step = wire->step;
    TACIT_TRY(tacit_buffer_append(&out->roster, wire->roster.data, wire->roster.len, error));
    TACIT_TRY(read_letters(&out->cards, wire->cards, wire->n_cards, error));
    return read_letters(&out->words, wire->words, wire->n_words, error);
}

static tacit_status read_step(tacit_received *out, const Tacit__Wire__Question *wire, tacit_error *error) {
    tacit_question *question = &out->question;
    switch (wire->step_case) {
    case TACIT__WIRE__QUESTION__STEP_MASKED:
        question->kind = TACIT_ROUND_SECURE;
        question->masked = &out->masked;
        return read_masked(&out->masked, wire->masked, error);
    case TACIT__WIRE__QUESTION__STEP_MAIL:
        question->kind = TACIT_ROUND_MAIL;
        question->mail = &out->mail;
        return read_mail(&out->mail, wire->mail, error);
    default: question->kind = TACIT_ROUND_PLAIN; return TACIT_OK;
    }
}

tacit_status tacit_question_decode(tacit_received *out, const uint8_t *bytes, size_t length,
                                   tacit_error *error) {
    Tacit__Wire__Question *wire = NULL;
    tacit_question *question = &out->question;
    tacit_status status;
    *out = (tacit_received)TACIT_RECEIVED_INIT;
    question->message = &out->message;
    TACIT_CHECK(tacit_wire_parse((void **)&wire, &tacit__wire__question__descriptor, bytes, length, error));
    TACIT_CHECK(check_written(wire->protocol, "coordinator", "party", error));
    TACIT_CHECK(copy_name(question->study, "study", wire->study, error));
    TACIT_CHECK(copy_name(question->method, "method", wire->method, error));
    TACIT_CHECK(copy_name(question->name, "question", wire->name, error));
    TACIT_CHECK(copy_answer_id(question->answer_id, wire->answer_id, error));
    question->method_version = wire->method_version;
    question->round = wire->round;
    question->wants_sum = wire->sum != NULL;
    if (question->wants_sum) TACIT_CHECK(read_sum(&question->sum, wire->sum, error));
    TACIT_CHECK(read_fields(&out->message, wire->fields, wire->n_fields, error));
    TACIT_CHECK(read_step(out, wire, error));
cleanup:
    if (status != TACIT_OK) tacit_received_clear(out);
    tacit_wire_free(wire);
    return status;
}

void tacit_received_clear(tacit_received *received) {
    tacit_message_clear(&received->message);
    tacit_masked_step_clear(&received->masked);
    tacit_mail_step_clear(&received->mail);
}

/* ---- answers ---- */

tacit_answer tacit_answer_to(const tacit_question *question) {
    tacit_answer answer = { .round = question->round };
    memcpy(answer.study, question->study, sizeof answer.study);
    memcpy(answer.answer_id, question->answer_id, sizeof answer.answer_id);
    return answer;
}

tacit_status tacit_answer_encode(const tacit_answer *answer, tacit_buffer *out, tacit_error *error) {
    tacit_answer copy = *answer;
    Tacit__Wire__Answer wire = TACIT__WIRE__ANSWER__INIT;
    Tacit__Wire__Integers contribution = TACIT__WIRE__INTEGERS__INIT;
    letter_list words = { NULL, NULL };
    field_list list;
    tacit_status status;
    TACIT_CHECK(field_list_fill(&list, &answer->message, error));
    wire.protocol = TACIT_QUESTION_VERSION;
    wire.study = copy.study;
    wire.round = copy.round;
    wire.answer_id = (ProtobufCBinaryData){ sizeof copy.answer_id, copy.answer_id };
    wire.fields = list.pointers;
    wire.n_fields = answer->message.count;
    if (answer->refusal[0] != 0) {
        wire.instead_case = TACIT__WIRE__ANSWER__INSTEAD_REFUSAL;
        wire.refusal = copy.refusal;
    } else if (answer->contribution != NULL) {
        contribution.values = answer->contribution;
        contribution.n_values = answer->length;
        wire.instead_case = TACIT__WIRE__ANSWER__INSTEAD_CONTRIBUTION;
        wire.contribution = &contribution;
    }
    TACIT_CHECK(letter_list_fill(&words, &answer->words, error));
    wire.words = words.pointers;
    wire.n_words = answer->words.count;
    TACIT_CHECK(tacit_wire_pack(out, &wire, error));
cleanup:
    field_list_clear(&list);
    letter_list_clear(&words);
    return status;
}

static tacit_status read_contribution(tacit_answer *out, const Tacit__Wire__Integers *wire,
                                      tacit_error *error) {
    out->contribution = TACIT_NEW(int64_t, wire->n_values);
    if (out->contribution == NULL) return tacit_fail_memory(error);
    if (wire->n_values > 0) memcpy(out->contribution, wire->values, wire->n_values * sizeof *wire->values);
    out->length = wire->n_values;
    return TACIT_OK;
}

/* No method answers with such a number, and none should have to look before the round is closed. */
static tacit_status check_finite(const tacit_message *message, tacit_error *error) {
    for (size_t i = 0; i < message->count; i++) {
        const tacit_field *field = &message->fields[i];
        for (size_t j = 0; field->kind == TACIT_FIELD_NUMBERS && j < field->count; j++)
            if (!isfinite(field->value.numbers[j]))
                return tacit_fail(error, TACIT_PROTOCOL, "an answer holds a value that is not finite");
    }
    return TACIT_OK;
}

tacit_status tacit_answer_decode(tacit_answer *out, const uint8_t *bytes, size_t length, tacit_error *error) {
    Tacit__Wire__Answer *wire = NULL;
    tacit_answer answer = TACIT_ANSWER_INIT;
    tacit_status status;
    TACIT_CHECK(tacit_wire_parse((void **)&wire, &tacit__wire__answer__descriptor, bytes, length, error));
    TACIT_CHECK(check_written(wire->protocol, "party", "coordinator", error));
    TACIT_CHECK(copy_name(answer.study, "study", wire->study, error));
    TACIT_CHECK(copy_answer_id(answer.answer_id, wire->answer_id, error));
    answer.round = wire->round;
    TACIT_CHECK(read_fields(&answer.message, wire->fields, wire->n_fields, error));
    TACIT_CHECK(check_finite(&answer.message, error));
    if (wire->instead_case == TACIT__WIRE__ANSWER__INSTEAD_REFUSAL)
        snprintf(answer.refusal, sizeof answer.refusal, "%s", wire->refusal);
    else if (wire->instead_case == TACIT__WIRE__ANSWER__INSTEAD_CONTRIBUTION)
        TACIT_CHECK(read_contribution(&answer, wire->contribution, error));
    TACIT_CHECK(read_letters(&answer.words, wire->words, wire->n_words, error));
    *out = answer;
cleanup:
    if (status != TACIT_OK) tacit_answer_clear(&answer);
    tacit_wire_free(wire);
    return status;
}

void tacit_answer_clear(tacit_answer *answer) {
    if (answer == NULL) return;
    tacit_message_clear(&answer->message);
    free(answer->contribution);
    tacit_letters_clear(&answer->words);
    *answer = (tacit_answer)TACIT_ANSWER_INIT;
}

/* ---- checkpoints ---- */

tacit_status tacit_checkpoint_encode(const tacit_message *state, uint64_t releases, tacit_buffer *out,
                                     tacit_error *error) {
    Tacit__Wire__Checkpoint wire = TACIT__WIRE__CHECKPOINT__INIT;
    field_list list;
    tacit_status status = field_list_fill(&list, state, error);
    wire.releases = releases;
    wire.fields = list.pointers;
    wire.n_fields = state->count;
    if (status == TACIT_OK) status = tacit_wire_pack(out, &wire, error);
    field_list_clear(&list);
    return status;
}

/* As a checkpoint was before it had a message of its own. */
static tacit_status decode_earlier(tacit_message *out, uint64_t *releases, const tacit_buffer *bytes,
                                   tacit_error *error) {
    tacit_answer wrapped = TACIT_ANSWER_INIT;
    TACIT_TRY(tacit_answer_decode(&wrapped, bytes->bytes, bytes->length, error));
    *out = wrapped.message;
    *releases = wrapped.round;
    wrapped.message = (tacit_message)TACIT_MESSAGE_INIT;
    tacit_answer_clear(&wrapped);
    return TACIT_OK;
}

tacit_status tacit_checkpoint_decode(tacit_message *out, uint64_t *releases, const tacit_buffer *bytes,
                                     tacit_error *error) {
    Tacit__Wire__Checkpoint *wire = NULL;
    tacit_status status;
    TACIT_TRY(tacit_wire_parse((void **)&wire, &tacit__wire__checkpoint__descriptor, bytes->bytes,
                               bytes->length, error));
    if (wire->base.n_unknown_fields > 0) {
        status = decode_earlier(out, releases, bytes, error);
    } else {
        *releases = wire->releases;
        status = read_fields(out, wire->fields, wire->n_fields, error);
        if (status == TACIT_OK) status = check_finite(out, error);
    }
    tacit_wire_free(wire);
    return status;
}
