#include "cli/terms.h"

#include <math.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/ledger_use.h"
#include "cli/print/missing_report.h"
#include "cli/prospect.h"
#include "method/neighbours/neighbours.h"
#include "session/masked/masked.h"
#include "session/plan/wording.h"
#include "study/study_settings.h"

/* A text of several lines, beside its name. */
static void show_text(tacit_console *console, const char *name, const tacit_buffer *text) {
    const char *at = (const char *)text->bytes, *end = at + text->length;
    while (at < end) {
        const char *line = memchr(at, '\n', (size_t)(end - at));
        size_t length = (size_t)((line != NULL ? line : end) - at);
        tacit_console_note(console, "%-10s %.*s", name, (int)length, at);
        at += length + 1;
        name = "";
    }
}

/* An envelope is opened without reading the rows. */
static bool rows_are_read(const tacit_site *site) {
    return tacit_site_has_rows(site) && (tacit_site_rows(site) > 0 || tacit_site_dataset(site) != NULL);
}

/* Of a study with auxiliary points: what is done with them here. */
static void show_points(tacit_console *console, const tacit_site *site) {
    const tacit_study *study = tacit_site_study(site);
    const tacit_plan *plan = &study->plan;
    size_t points = study->point_count;
    const bool labels = plan->method->local != NULL;
    if (labels)
        tacit_console_note(console, "trains     %s on your rows; the classifier stays here",
                           tacit_site_local(site) != NULL ? tacit_site_local(site)
                                                          : plan->method->local(plan));
    tacit_console_note(console,
                       "points     %zu public points are fetched and checked against the hash you consent to",
                       points);
    if (labels && rows_are_read(site))
        tacit_console_note(console, "           your classifier labels them: %zu labels, from %zu rows",
                           points, tacit_site_rows(site));
}

/* Of a study about a model: which. */
static void show_model(tacit_console *console, const tacit_study *study) {
    char digest[2 * TACIT_HASH_BYTES + 1];
    const char *method = study->model->guarantee.method;
    tacit_console_note(console, "model      %s, made by %s, is part of what you consent to; hash %s",
                       study->model->family->title, method[0] != 0 ? method : "an unnamed method",
                       sodium_bin2hex(digest, sizeof digest, study->model_hash, sizeof study->model_hash));
}

/* How many others may be on the coordinator's side. */
static void show_withstood(tacit_console *console, const tacit_plan *plan, const char *coordinator) {
    const size_t colluders = tacit_plan_colluders(plan);
    if (colluders > 0)
        tacit_console_note(console,
                           "withstands %zu of the other parties telling %s all they know; from %zu on, your "
                           "contribution may be read",
                           colluders, coordinator, colluders + 1);
    else
        tacit_console_note(
            console,
            "withstands nobody: one party that tells %s all it knows may be enough to read your contribution",
            coordinator);
}

/* How many contributions the least sum has; for other answers, how many parties must give one. */
static tacit_status least_parties(size_t *out, const tacit_plan *plan, tacit_error *error) {
    *out = plan->minimum_parties;
    if (tacit_plan_hearing(plan) != TACIT_HEARS_SUMS || plan->sums == TACIT_SUMS_CLEAR) return TACIT_OK;
    return tacit_secure_minimum(out, plan, error);
}

static void show_ciphertexts(tacit_console *console, const tacit_site *site) {
    const tacit_plan *plan = &tacit_site_study(site)->plan;
    char key[2 * TACIT_HASH_BYTES + 1];
    tacit_console_note(
        console,
        "sums       encrypted: %s, server A, adds up ciphertexts, and only center server B has their key",
        tacit_site_coordinator(site));
    tacit_console_note(console, "key        %s: compare it with what the operator of server B says",
                       sodium_bin2hex(key, sizeof key, plan->center_key, sizeof plan->center_key));
}

/* What the coordinator sees of the parties' contributions to a sum. */
static tacit_status show_sums(tacit_console *console, const tacit_site *site, tacit_error *error) {
    const tacit_plan *plan = &tacit_site_study(site)->plan;
    const char *coordinator = tacit_site_coordinator(site);
    size_t least;
    TACIT_TRY(least_parties(&least, plan, error));
    if (tacit_plan_hearing(plan) == TACIT_HEARS_CIPHERTEXTS) {
        show_ciphertexts(console, site);
    } else if (tacit_plan_hearing(plan) == TACIT_HEARS_SINGLE) {
        tacit_console_note(console, "sums       none: %s sees your answer%s", coordinator,
                           isinf(plan->epsilon) ? "" : ", with the noise already in it");
    } else if (plan->sums == TACIT_SUMS_CLEAR) {
        tacit_console_note(console, "sums       in clear: %s sees your contributions one by one",
                           coordinator);
    } else {
        tacit_console_note(
            console, "sums       %s: %s sees sums of at least %zu parties' contributions, and no single one",
            tacit_sum_way_name(plan->sums), coordinator, least);
        if (plan->sums == TACIT_SUMS_PAILLIER)
            tacit_console_note(
                console,
                "key holder the party that joined first holds the key (%u bits) and decrypts sums under "
                "masks; together with %s it could read your contributions one by one",
                plan->key_bits, coordinator);
        show_withstood(console, plan, coordinator);
    }
    if (plan->method->schedule != NULL)
        tacit_console_note(
            console,
            "neighbours graph %s, %llu rounds: those next to you see exactly what you send them, and %s "
            "carries it encrypted; compare the roster that is shown when the study starts",
            tacit_neighbour_settings_of(plan)->graph,
            (unsigned long long)plan->method->scheduled_rounds(plan), coordinator);
    return TACIT_OK;
}

/* Whom the owner trusts with exact values, and with what. */
static void show_trust(tacit_console *console, const tacit_site *site, const tacit_price *charged) {
    const tacit_plan *plan = &tacit_site_study(site)->plan;
    bool sums = tacit_plan_hearing(plan) == TACIT_HEARS_SUMS && plan->sums != TACIT_SUMS_CLEAR;
    if (plan->method->schedule != NULL || plan->method->release_kind(plan) != TACIT_RELEASE_ENTRUSTED) return;
    tacit_console_note(console,
                       "trust      %s gets %s, and only its word assures you that it %skeeps %s to itself",
                       tacit_site_coordinator(site), sums ? "the exact sum" : "your exact values",
                       isinf(charged->epsilon) ? "" : "adds the noise and ", sums ? "the sum" : "them");
}

static void show_price(tacit_console *console, const tacit_plan *plan, const tacit_price *charged) {
    char price[TACIT_PRICE_TEXT_SIZE];
    if (isinf(charged->epsilon)) {
        tacit_console_note(console,
                           "price      epsilon infinite, per %s: nothing bounds what the results may reveal, "
                           "and no limit in your ledger stops such answers",
                           tacit_unit_name(charged->unit));
        tacit_console_note(console, "           once one has left, your ledger counts this data source as "
                                    "spent, and refuses every later answer that has a finite price");
    } else {
        tacit_console_note(console, "price      %s", tacit_price_text(price, charged));
    }
    tacit_console_note(console, "noise      %s", tacit_wording_noise(plan, charged));
    if (tacit_plan_shares_noise(plan))
        tacit_console_note(
            console,
            "shares     %zu shares of the noise are worth the price, and no sum is opened that has fewer",
            tacit_plan_noise_shares(plan));
}

/* What exact sums tell together with those of earlier studies and versions. */
static tacit_status show_past(tacit_console *console, const tacit_site *site, tacit_error *error) {
    tacit_buffer text = TACIT_BUFFER_INIT;
    if (!tacit_site_has_rows(site)) return TACIT_OK;
    tacit_status status = tacit_site_sum_history(site, &text, error);
    if (status == TACIT_OK && text.length > 0)
        tacit_console_note(console, "past       %s", tacit_buffer_text(&text));
    tacit_buffer_clear(&text);
    return status;
}

/* When there is enough, and which look this is. */
static void show_stop(tacit_console *console, const tacit_stop *stop) {
    static const char *const targets[] = { "", "standard error", "width of the interval", "power" };
    if (stop->target == TACIT_TARGET_NONE) return;
    tacit_console_note(console, "stops      when the %s of %s is %s %g; look %zu of at most %zu",
                       targets[stop->target], stop->column,
                       stop->target == TACIT_TARGET_POWER ? "at least" : "at most", stop->limit, stop->look,
                       stop->looks);
    if (stop->look < stop->looks)
        tacit_console_note(
            console, "           before another look you are asked for consent again, at a price of its own");
}

/* What was written for people: what it is for, who approved it, when it runs, the document. */
static void show_about(tacit_console *console, const tacit_study *study) {
    char from[TACIT_TIME_TEXT], until[TACIT_TIME_TEXT], hash[2 * TACIT_HASH_BYTES + 1],
        terms[TACIT_STUDY_VALUE_SIZE];
    if (study->description.length > 0) show_text(console, "about", &study->description);
    for (const tacit_study_setting *one = tacit_study_settings; one->name != NULL; one++)
        if (tacit_study_setting_terms(study, one, terms)[0] != 0)
            tacit_console_note(console, "%-10s %s", one->name, terms);
    if (study->schema->formula != NULL) /* whole, however long: it says what is asked of the rows */
        tacit_console_note(console, "terms      the model is made of these functions of the columns: %s",
                           tacit_formula_text(study->schema->formula));
    if (study->schema->subset != NULL)
        tacit_console_note(console, "subset     of your rows only those for which this holds: %s",
                           tacit_condition_text(study->schema->subset));
    if (study->from != 0 || study->until != 0)
        tacit_console_note(console, "schedule   %s%s%s%s", study->from != 0 ? "not before " : "",
                           study->from != 0 ? tacit_study_time_text(from, study->from) : "",
                           study->until != 0 ? (study->from != 0 ? ", until " : "until ") : "",
                           study->until != 0 ? tacit_study_time_text(until, study->until) : "");
    if (study->document.length == 0) return;
    tacit_console_note(console, "document   version %s",
                       sodium_bin2hex(hash, sizeof hash, study->document_hash, sizeof study->document_hash));
    show_text(console, "", &study->document);
}

/* What this party is called there, before it is in any list. */
static void show_name(tacit_console *console, const tacit_site *site) {
    const char *called = tacit_site_called(site);
    if (called[0] == 0) return;
    tacit_console_note(
        console,
        "called     %s: so %s names you in its lists, its log and its audit; no other party is "
        "told",
        called, tacit_site_coordinator(site));
    if (!tacit_site_is_joined(site))
        tacit_console_note(console,
                           "           if that is not you, or you do not want the name, do not join: "
                           "ask for another invitation");
}

static void show_parties(tacit_console *console, const tacit_site *site, size_t least) {
    const tacit_plan *plan = &tacit_site_study(site)->plan;
    if (!rows_are_read(site)) {
        tacit_console_note(console,
                           "parties    %zu expected, and nothing is computed from fewer than %zu; at least "
                           "%zu %s of yours are required",
                           plan->parties, least, plan->minimum_rows,
                           tacit_plan_counts_persons(plan) ? "persons" : "rows");
        return;
    }
    tacit_console_note(console,
                       "parties    %zu expected, and nothing is computed from fewer than %zu; yours has %zu "
                       "rows, and at least %zu %sare required",
                       plan->parties, least, tacit_site_rows(site), plan->minimum_rows,
                       tacit_plan_counts_persons(plan) ? "persons " : "");
    if (tacit_site_dataset(site) != NULL && plan->schema->subset != NULL)
        tacit_console_note(console, "           %llu more are not of the subset",
                           (unsigned long long)tacit_site_dataset(site)->counts.outside);
    if (tacit_site_dataset(site) != NULL && tacit_schema_counts_missing(plan->schema))
        tacit_missing_note(console, plan->schema, tacit_site_dataset(site));
}

static tacit_status show_terms(tacit_console *console, const tacit_site *site, const tacit_wording *words,
                               tacit_error *error) {
    const tacit_study *study = tacit_site_study(site);
    const tacit_plan *plan = &study->plan;
    const tacit_method *method = plan->method;
    tacit_prices prices = { .event = { .count = 0 } };
    size_t least;
    TACIT_TRY(tacit_plan_price(plan, &prices, error));
    TACIT_TRY(least_parties(&least, plan, error));
    tacit_console_note(console, "study      %s (%s), asked by %s", study->name, study->title,
                       tacit_site_coordinator(site));
    show_name(console, site);
    show_about(console, study);
    tacit_console_note(console, "method     %s: %s", method->name, method->title);
    tacit_console_note(console, "leaves     %s", words->leaves);
    tacit_console_note(console, "seen by    %s", words->seen_by);
    if (study->point_count > 0) show_points(console, site);
    if (study->model != NULL) show_model(console, study);
    TACIT_TRY(show_sums(console, site, error));
    TACIT_TRY(show_past(console, site, error));
    show_trust(console, site, &prices.charged);
    tacit_console_note(console, "guarantee  %s", words->guarantee);
    tacit_console_note(console, "assuming   %s", words->assumption);
    show_price(console, plan, &prices.charged);
    show_parties(console, site, least);
    TACIT_TRY(tacit_prospect_show(console, site, error));
    show_stop(console, &study->stop);
    if (tacit_site_local(site) != NULL)
        tacit_console_note(console, "local      %s, as you said", tacit_site_local(site));
    tacit_console_note(console, "caveats    %s", words->caveats);
    return TACIT_OK;
}

tacit_status tacit_terms_show(tacit_console *console, const tacit_site *site, tacit_error *error) {
    tacit_wording words = TACIT_WORDING_INIT;
    TACIT_TRY(tacit_wording_make(&words, &tacit_site_study(site)->plan, error));
    tacit_status status = show_terms(console, site, &words, error);
    tacit_wording_clear(&words);
    return status;
}

void tacit_terms_compare(tacit_console *console, const tacit_site *site) {
    tacit_error error = TACIT_ERROR_INIT;
    if (tacit_site_overlaps(site, tacit_overlap_warn, console, &error) != TACIT_OK)
        tacit_console_warn(console, "the rows could not be compared with your other data sources: %s",
                           error.text);
}

tacit_status tacit_terms_ask(const tacit_arguments *arguments, tacit_error *error) {
    if (tacit_arguments_flag(arguments, "yes")) return TACIT_OK;
    if (!isatty(STDIN_FILENO))
        return tacit_fail(error, TACIT_REFUSED,
                          "nobody is there to consent: read the above, then repeat with --yes");
    char line[16] = "";
    fprintf(stderr, "Take part? [y/N] ");
    if (fgets(line, sizeof line, stdin) == NULL || (line[0] != 'y' && line[0] != 'Y'))
        return tacit_fail(error, TACIT_REFUSED, "no consent, nothing was sent");
    return TACIT_OK;
}
