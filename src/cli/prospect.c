#include "cli/prospect.h"

#include <math.h>

#include <string.h>

#include "api/described.h"
#include "api/document/outlook.h"

static void print_expected(tacit_console *console, const tacit_outlook *outlook) {
    const tacit_outlook_method *one = &outlook->methods[0];
    const tacit_outlook_figure *together = tacit_outlook_main(&one->expected),
                               *alone = tacit_outlook_main(&outlook->alone);
    tacit_console_print(
        console,
        "  expected %s %.3f (%.3f to %.3f) with %llu rounds; a site alone %.3f, all rows pooled "
        "%.3f, on rows drawn to the schema with a signal of %.2f: %s\n",
        tacit_outlook_main_name(outlook), together->mean, together->low, together->high,
        (unsigned long long)one->rounds, alone->mean, tacit_outlook_main(&outlook->pooled)->mean,
        outlook->signal, tacit_outlook_verdict_text(one->verdict));
}

static tacit_status refuse_hopeless(tacit_console *console, const tacit_outlook *outlook,
                                    const tacit_study *study, bool forced, tacit_error *error) {
    const tacit_outlook_method *one = &outlook->methods[0];
    double together = tacit_outlook_main(&one->expected)->mean,
           alone = tacit_outlook_main(&outlook->alone)->mean;
    if (!tacit_outlook_hopeless(outlook, one)) {
        if (one->verdict == TACIT_OUTLOOK_DOES_NOT)
            tacit_console_warn(console,
                               "a site alone is expected to do better (%s %.3f) than the study (%.3f): more "
                               "rows, a larger epsilon or another method may change that: tacit plan",
                               tacit_outlook_main_name(outlook), alone, together);
        return TACIT_OK;
    }
    if (!forced)
        return tacit_fail(error, TACIT_USAGE,
                          "study '%s' is hopeless: method %s at epsilon %g with %zu rows is expected to have "
                          "an %s of %.3f, and a site alone %.3f. See what would do with tacit plan, or add "
                          "it all the same with --force",
                          study->name, study->plan.method->name, study->plan.epsilon, outlook->rows,
                          tacit_outlook_main_name(outlook), together, alone);
    tacit_console_warn(console,
                       "the study is hopeless (expected %s %.3f, a site alone %.3f) and is added by --force",
                       tacit_outlook_main_name(outlook), together, alone);
    return TACIT_OK;
}

static tacit_status take_lambda(tacit_study *study, const tacit_outlook *outlook, tacit_error *error) {
    double lambda = outlook->methods[0].plan.lambda;
    if (!study->lambda_chosen || lambda == study->plan.lambda) return TACIT_OK;
    return tacit_study_set_lambda(study, lambda, error);
}

/* Whether there is a model whose worth can be foreseen. */
static bool is_foreseen(const tacit_study *study) {
    const tacit_method *method = study->plan.method;
    return study->expected_rows > 0 && !method->noise_free && method->reports == NULL;
}

tacit_status tacit_prospect_check(tacit_console *console, tacit_study *study, const tacit_model *described,
                                  const tacit_arguments *arguments, tacit_error *error) {
    double positives = described != NULL ? tacit_described_positives(described, study->plan.schema) : 0;
    tacit_outlook outlook = TACIT_OUTLOOK_INIT;
    tacit_error why = TACIT_ERROR_INIT;
    double signal =
        tacit_arguments_given(arguments, "signal") ? tacit_arguments_number(arguments, "signal") : 0;
    if (!is_foreseen(study)) return TACIT_OK;
    tacit_status status = tacit_study_outlook(&outlook, study, NULL, signal, positives, NULL,
                                              tacit_console_progress(console), &why);
    if (status == TACIT_CANCELLED || status == TACIT_NO_MEMORY) {
        if (error != NULL) *error = why;
        return status;
    }
    if (status != TACIT_OK || outlook.count == 0) {
        tacit_console_note(console, "what the study will be worth cannot be foreseen: %s",
                           status != TACIT_OK ? why.text : outlook.refused[0].why);
        tacit_outlook_clear(&outlook);
        return TACIT_OK;
    }
    TACIT_CHECK(take_lambda(study, &outlook, error));
    TACIT_CHECK(refuse_hopeless(console, &outlook, study, tacit_arguments_flag(arguments, "force"), error));
    print_expected(console, &outlook);
cleanup:
    tacit_outlook_clear(&outlook);
    return status;
}

tacit_status tacit_prospect_remarks(tacit_console *console, const tacit_model *described,
                                    const tacit_schema *schema, tacit_error *error) {
    tacit_buffer text = TACIT_BUFFER_INIT;
    tacit_status status = tacit_described_remarks(described, schema, &text, error);
    for (char *line = status == TACIT_OK ? (char *)text.bytes : NULL, *end; line != NULL; line = end) {
        end = memchr(line, '\n', (size_t)((char *)text.bytes + text.length - line));
        if (end != NULL) *end++ = 0;
        if (end != NULL) tacit_console_note(console, "described: %s", line);
    }
    tacit_buffer_clear(&text);
    return status;
}

/* ---- for owners ---- */

/* One outlook, on rows drawn to the schema or like the owner's own. */
static tacit_status show_one(tacit_console *console, const tacit_study *study, const tacit_dataset *own,
                             tacit_error *error) {
    tacit_outlook outlook = TACIT_OUTLOOK_INIT;
    tacit_status status =
        tacit_study_outlook(&outlook, study, own, 0, 0, NULL, tacit_console_progress(console), error);
    if (status != TACIT_OK || outlook.count == 0) {
        tacit_outlook_clear(&outlook);
        return status == TACIT_CANCELLED || status == TACIT_NO_MEMORY ? status : TACIT_OK;
    }
    const tacit_outlook_method *one = &outlook.methods[0];
    const tacit_outlook_figure *together = tacit_outlook_main(&one->expected);
    tacit_console_note(console, "%s %s alone %s %.3f, together %.3f (%.3f to %.3f), %s: %s",
                       own != NULL ? "          " : "expected  ", own != NULL ? "you" : "a site",
                       tacit_outlook_main_name(&outlook), tacit_outlook_main(&outlook.alone)->mean,
                       together->mean, together->low, together->high,
                       own != NULL ? "on rows like your own, for your eyes only and charged nothing"
                                   : "on rows drawn to the schema",
                       tacit_outlook_verdict_text(one->verdict));
    tacit_outlook_clear(&outlook);
    return TACIT_OK;
}

tacit_status tacit_prospect_show(tacit_console *console, const tacit_site *site, tacit_error *error) {
    const tacit_study *study = tacit_site_study(site);
    const tacit_dataset *own = tacit_site_dataset(site);
    if (!is_foreseen(study)) return TACIT_OK;
    TACIT_TRY(show_one(console, study, NULL, error));
    if (own == NULL || own->label == NULL || console->logs != NULL) return TACIT_OK; /* a log is no screen */
    return show_one(console, study, own, error);
}
