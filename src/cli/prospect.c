#include "cli/prospect.h"

#include <string.h>

#include "api/described.h"
#include "api/document/outlook.h"

void tacit_prospect_say(void *context, tacit_saying kind, const char *line) {
    tacit_console *console = context;
    if (kind == TACIT_SAY_EXPECTED)
        tacit_console_print(console, "  expected %s\n", line);
    else if (kind == TACIT_SAY_WARNING)
        tacit_console_warn(console, "%s", line);
    else
        tacit_console_note(console, "%s", line);
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
    char doubt[TACIT_REMARK_SIZE];
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
    if (tacit_outlook_doubtful(&outlook, one, doubt)) tacit_console_warn(console, "%s", doubt);
    tacit_outlook_clear(&outlook);
    return TACIT_OK;
}

tacit_status tacit_prospect_show(tacit_console *console, const tacit_site *site, tacit_error *error) {
    const tacit_study *study = tacit_site_study(site);
    const tacit_dataset *own = tacit_site_dataset(site);
    if (!tacit_study_is_foreseen(study)) return TACIT_OK;
    TACIT_TRY(show_one(console, study, NULL, error));
    if (own == NULL || own->label == NULL || tacit_schema_keeps_unlabelled(study->schema) ||
        console->logs != NULL)
        return TACIT_OK; /* a log is no screen */
    return show_one(console, study, own, error);
}
