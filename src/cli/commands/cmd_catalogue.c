/* tacit catalogue: what coordinators offer. */
#include <limits.h>
#include <math.h>
#include <sodium.h>
#include <string.h>

#include "api/document/json_text.h"
#include "base/file.h"
#include "cli/commands.h"
#include "cli/invitation_file.h"
#include "cli/terms.h"
#include "site/enrol/enrol.h"
#include "study/home.h"

typedef struct listing {
    tacit_console *console;
    json_t *studies;
    size_t count;
} listing;

static void print_news(void *context, const char *line) { tacit_console_note(context, "%s", line); }

static const char *standing(const tacit_offer *offer) {
    if (!offer->joined) return offer->offered ? "offered to you: tacit enrol" : "not joined";
    if (offer->withdrawn) return "withdrawn";
    return offer->consented ? "consented" : "amended: consent again";
}

static tacit_status show(void *context, const tacit_offer *offer, tacit_error *error) {
    listing *self = context;
    const tacit_study *study = offer->study;
    const tacit_plan *plan = &study->plan;
    tacit_prices prices = { .event = { .count = 0 } };
    char price[TACIT_PRICE_TEXT_SIZE], document[2 * TACIT_HASH_BYTES + 1] = "";
    TACIT_TRY(tacit_plan_price(plan, &prices, error));
    tacit_price_text(price, &prices.charged);
    if (study->document.length > 0)
        sodium_bin2hex(document, sizeof document, study->document_hash, sizeof study->document_hash);
    tacit_console_print(self->console, "%s%s  %s\n", self->count++ > 0 ? "\n" : "", study->name,
                        study->title);
    tacit_console_print(self->console, "  state      %s at %s; you: %s\n", offer->state, offer->coordinator,
                        standing(offer));
    tacit_console_print(self->console, "  method     %s, %s\n", plan->method->name, plan->method->title);
    tacit_console_print(self->console, "  guarantee  %s\n", plan->method->guarantee);
    tacit_console_print(self->console, "  price      %s\n", price);
    tacit_console_print(self->console, "  approval   %s\n",
                        study->approval[0] != 0 ? study->approval : "none named");
    tacit_console_print(self->console, "  document   %s\n", document[0] != 0 ? document : "none");
    self->studies = tacit_json_append(
        self->studies,
        json_pack("{s:s,s:o,s:s,s:o,s:s,s:s,s:o,s:o,s:s,s:s}", "study", study->name, "title",
                  tacit_json_text(study->title), "state", offer->state, "coordinator",
                  tacit_json_text(offer->coordinator), "you", standing(offer), "method", plan->method->name,
                  "guarantee", tacit_json_text(plan->method->guarantee), "approval",
                  tacit_json_text(study->approval), "price", price, "document", document));
    return TACIT_OK;
}

/* A catalogue is as its coordinator wrote it, and may try to steer a terminal. */
static bool is_plain(const char *text) {
    return tacit_name_check("text", text, 4 * TACIT_TITLE_SIZE, NULL) == TACIT_OK;
}

/* What anybody may see, as the catalogue itself has it. */
static tacit_status show_public(listing *self, const char *address, const char *home, tacit_error *error) {
    const tacit_site_callbacks callbacks = { .news = print_news, .context = self->console };
    const json_t *each;
    json_t *catalogue = NULL;
    size_t i;
    TACIT_TRY(tacit_folder_make(home, error));
    TACIT_TRY(tacit_enrol_catalogue(&catalogue, address, home, &callbacks, error));
    json_array_foreach(json_object_get(catalogue, "studies"), i, each) {
        const char *name = NULL, *title = NULL, *enrolment = NULL, *state = NULL;
        const char *approval = json_string_value(json_object_get(each, "approval"));
        if (json_unpack((json_t *)(uintptr_t)each, "{s:s,s:s,s:s,s:s}", "name", &name, "title", &title,
                        "enrolment", &enrolment, "state", &state) != 0 ||
            !is_plain(name) || !is_plain(title) || !is_plain(enrolment) || !is_plain(state) ||
            (approval != NULL && !is_plain(approval)))
            continue;
        tacit_console_print(self->console, "%s%s  %s\n  state      %s; enrolment: %s\n  approval   %s\n",
                            i > 0 ? "\n" : "", name, title, state, enrolment,
                            approval != NULL ? approval : "none named");
    }
    return tacit_console_document(self->console, catalogue, error);
}

static tacit_status run_catalogue(const tacit_arguments *arguments, tacit_console *console,
                                  tacit_error *error) {
    const char *operand = tacit_arguments_operand(arguments, "INVITE");
    char home[PATH_MAX];
    tacit_buffer invitation = TACIT_BUFFER_LIMITED(TACIT_INVITATION_TEXT_MAX);
    listing self = { .console = console, .studies = json_array() };
    tacit_site_callbacks callbacks = { .news = print_news, .context = console };
    tacit_status status;
    TACIT_CHECK(tacit_home_path(home, sizeof home, "", error));
    if (operand != NULL && strncmp(operand, "https://", 8) == 0) {
        status = show_public(&self, operand, home, error);
        goto cleanup;
    }
    if (operand != NULL) TACIT_CHECK(tacit_invitation_read(operand, &invitation, error));
    TACIT_CHECK(tacit_site_catalogue(home, operand != NULL ? tacit_buffer_text(&invitation) : NULL,
                                     invitation.length, &callbacks, show, &self, error));
    status = tacit_console_document(console, json_pack("{s:o}", "studies", self.studies), error);
    self.studies = NULL;
cleanup:
    json_decref(self.studies);
    tacit_buffer_clear(&invitation);
    return status;
}

const tacit_command tacit_command_catalogue = {
    .name = "catalogue",
    .section = "Taking part",
    .summary = "the studies that coordinators offer",
    .description =
        "Asks the coordinator of an invitation, without using it up, or every coordinator of a joined study: "
        "state, method, guarantee, price, approval and the consent document's version of each study. "
        "Definitions are shown only when the coordinator's signature is right.",
    .operands =
        (const tacit_operand[]){
            { "INVITE", 0, 1,
              "a file that holds an invitation, - for standard input, or the address of a public catalogue" },
            { .name = NULL },
        },
    .examples =
        (const tacit_example[]){
            { "What is there?", "tacit catalogue" },
            { .text = NULL },
        },
    .run = run_catalogue,
};
