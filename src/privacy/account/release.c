#include "privacy/account/release.h"

#include <math.h>
#include <string.h>

const char *tacit_release_kind_name(tacit_release_kind kind) {
    switch (kind) {
    case TACIT_RELEASE_CHARGED: return "charged";
    case TACIT_RELEASE_SEALED: return "sealed";
    case TACIT_RELEASE_ENTRUSTED: return "entrusted";
    }
    return "unknown kind";
}

const char *tacit_noise_name(tacit_noise noise) {
    switch (noise) {
    case TACIT_NOISE_NONE: return "none";
    case TACIT_NOISE_SIMULATED: return "simulated";
    case TACIT_NOISE_EXACT: return "exact";
    }
    return "unknown noise";
}

/* Bytes of the UTF-8 character at `text`, or 0: also for control characters, overlong forms, surrogates. */
static size_t printable_character(const unsigned char *text) {
    if (text[0] < 0x80) return text[0] >= 0x20 && text[0] != 0x7f ? 1 : 0;
    size_t length = text[0] >= 0xf0 ? 4 : text[0] >= 0xe0 ? 3 : 2;
    if (text[0] < 0xc2 || text[0] > 0xf4) return 0;
    uint32_t code = text[0] & (0x7fu >> length);
    for (size_t i = 1; i < length; i++) {
        if ((text[i] & 0xc0) != 0x80) return 0; /* a NUL stops here too */
        code = code << 6 | (text[i] & 0x3fu);
    }
    static const uint32_t smallest[5] = { 0, 0, 0xa0, 0x800, 0x10000 }; /* 0x80 to 0x9f are controls */
    if (code < smallest[length] || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) return 0;
    return length;
}

tacit_status tacit_name_check(const char *what, const char *text, size_t most, tacit_error *error) {
    if (text == NULL || text[0] == 0) return tacit_fail(error, TACIT_INPUT, "%s is missing", what);
    if (strnlen(text, most + 1) > most)
        return tacit_fail(error, TACIT_INPUT, "%s is longer than %zu bytes: shorten it", what, most);
    for (const unsigned char *at = (const unsigned char *)text; *at != 0;) {
        size_t length = printable_character(at);
        if (length == 0)
            return tacit_fail(error, TACIT_INPUT,
                              "%s holds a control character or is not UTF-8: use printable text", what);
        at += length;
    }
    return TACIT_OK;
}

/* A price says what the noise buys: a finite one needs noise, none at all is worth an infinite epsilon. Only
 * what is sealed may cost nothing. */
static tacit_status check_price(const tacit_release *release, tacit_error *error) {
    tacit_price price = release->price;
    bool free_of_charge = release->kind == TACIT_RELEASE_SEALED && price.epsilon == 0 && price.delta == 0;
    if (free_of_charge) price.epsilon = 1; /* the unit must be right all the same */
    TACIT_TRY(tacit_price_check(&price, error));
    if (!free_of_charge && isfinite(price.epsilon) && release->noise == TACIT_NOISE_NONE)
        return tacit_fail(error, TACIT_INPUT,
                          "the answer is priced at epsilon %g but has no noise: add noise or price it at inf",
                          price.epsilon);
    return TACIT_OK;
}

tacit_event tacit_release_event(const tacit_release *release) {
    const tacit_price *price = &release->price;
    if (release->event.count > 0) return release->event;
    uint64_t count = price->epsilon > 0 || price->delta > 0;
    return tacit_event_replaced(price->delta > 0
                                    ? tacit_event_approximate(price->epsilon, price->delta, count)
                                    : tacit_event_pure(price->epsilon, count));
}

/* Whether `accountant`, which holds the release's event, keeps within its price. Basic composition is asked
 * first: it is cheap and settles all but Gaussians. */
static tacit_status keeps_within(bool *out, const tacit_accountant *accountant, const tacit_event *event,
                                 const tacit_price *price, tacit_error *error) {
    const double slack = 1 + 0x1p-40;
    tacit_spending spent = { .epsilon = price->epsilon * slack, .delta = 1 };
    if (event->kind == TACIT_EVENT_CONCENTRATED) {
        TACIT_TRY(tacit_accountant_epsilon_by(&spent.epsilon, accountant, TACIT_COMPOSITION_ZCDP,
                                              price->delta, error));
        spent.delta = price->delta;
    } else if (event->sampling < 1) {
        TACIT_TRY(tacit_accountant_epsilon(&spent, accountant, price->delta, error));
    } else {
        if (event->kind != TACIT_EVENT_GAUSSIAN)
            TACIT_TRY(tacit_accountant_delta_by(&spent.delta, accountant, TACIT_COMPOSITION_BASIC,
                                                spent.epsilon, error));
        if (!tacit_amount_within(spent.delta, price->delta))
            TACIT_TRY(tacit_accountant_delta(&spent, accountant, spent.epsilon, error));
    }
    *out =
        tacit_amount_within(spent.epsilon, price->epsilon) && tacit_amount_within(spent.delta, price->delta);
    return TACIT_OK;
}

/* One pure release: its event says what its price says, and needs no accountant. */
static bool plainly_within(const tacit_event *event, const tacit_price *price) {
    return event->kind == TACIT_EVENT_PURE && event->replaced && event->count == 1 &&
           event->parameter <= price->epsilon;
}

tacit_status tacit_release_prove(const tacit_release *release, tacit_error *error) {
    if (release->event.count == 0 || plainly_within(&release->event, &release->price)) return TACIT_OK;
    tacit_accountant *accountant = NULL;
    bool proved = false;
    tacit_status status;
    TACIT_CHECK(tacit_accountant_create(&accountant, TACIT_REPLACE, error));
    TACIT_CHECK(tacit_accountant_add(accountant, &release->event, error));
    status = keeps_within(&proved, accountant, &release->event, &release->price, NULL);
    if (status == TACIT_USAGE) status = TACIT_OK; /* no accountant proves anything at this delta */
    if (status != TACIT_OK)
        status = tacit_fail(error, status, "%s", tacit_status_text(status));
    else if (!proved)
        status = tacit_fail(
            error, TACIT_INPUT,
            "the answer's noise does not buy its price of epsilon %g, delta %g: price it by its event",
            release->price.epsilon, release->price.delta);
cleanup:
    tacit_accountant_free(accountant);
    return status;
}

static tacit_status check_event(const tacit_release *release, tacit_error *error) {
    tacit_error inner = TACIT_ERROR_INIT;
    if (release->event.count == 0) return TACIT_OK;
    tacit_status status = tacit_event_check(&release->event, &inner);
    if (status != TACIT_OK)
        return tacit_fail(error, TACIT_INPUT, "the answer's event makes no sense: %s", inner.text);
    if (!(release->price.epsilon > 0 && isfinite(release->price.epsilon)))
        return tacit_fail(error, TACIT_INPUT, "the answer has an event but a price of epsilon %g",
                          release->price.epsilon);
    return TACIT_OK;
}

tacit_status tacit_release_check(const tacit_release *release, tacit_error *error) {
    if (release->kind < TACIT_RELEASE_CHARGED || release->kind > TACIT_RELEASE_ENTRUSTED)
        return tacit_fail(error, TACIT_INPUT, "%d is not a kind of release", (int)release->kind);
    if (release->noise < TACIT_NOISE_NONE || release->noise > TACIT_NOISE_EXACT)
        return tacit_fail(error, TACIT_INPUT, "%d is not a kind of noise", (int)release->noise);
    TACIT_TRY(tacit_name_check("the study's name", release->study, TACIT_NAME_MOST, error));
    TACIT_TRY(tacit_name_check("the method's name", release->method, TACIT_NAME_MOST, error));
    TACIT_TRY(tacit_name_check("the question's name", release->question, TACIT_NAME_MOST, error));
    TACIT_TRY(tacit_name_check("the coordinator's name", release->coordinator, TACIT_NAME_MOST, error));
    if (release->kind == TACIT_RELEASE_SEALED)
        TACIT_TRY(tacit_name_check("the assumption that the seal rests on", release->assumption,
                                   TACIT_ASSUMPTION_MOST, error));
    TACIT_TRY(check_price(release, error));
    TACIT_TRY(check_event(release, error));
    if (release->parties_minimum > release->parties_declared)
        return tacit_fail(error, TACIT_INPUT, "the study wants at least %llu parties but has only %llu",
                          (unsigned long long)release->parties_minimum,
                          (unsigned long long)release->parties_declared);
    if (release->payload_length > TACIT_PAYLOAD_MOST)
        return tacit_fail(error, TACIT_INPUT, "an answer of %zu bytes is longer than the allowed %d",
                          release->payload_length, (int)TACIT_PAYLOAD_MOST);
    if (release->payload_length > 0 && release->payload == NULL)
        return tacit_fail(error, TACIT_INPUT, "the answer has a length but no bytes");
    return TACIT_OK;
}
