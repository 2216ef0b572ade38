/* tacit rotate: replace a consortium's authority. tacit follow: a party's owner confirms another one. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "api/option/arguments.h"
#include "center/center.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "net/clock.h"
#include "net/rotation.h"
#include "site/site.h"
#include "study/home.h"

static void print_planned(tacit_console *console, const tacit_handover *made) {
    char day[32];
    tacit_handover_until(made, day);
    tacit_console_print(
        console,
        "The authority is replaced. The new one has the fingerprint\n\n  %s\n\n"
        "and issues all certificates of parties from now on. Parties and center servers follow by themselves "
        "at their next contact, as long as that is before %s; then the old authority is trusted no longer "
        "and "
        "its key is removed. Who has not followed: tacit doctor DIR. Make a backup now: one from before does "
        "not have the new key.\n",
        made->new.fingerprint, day);
}

static void print_stolen(tacit_console *console, const tacit_handover *made) {
    tacit_console_print(
        console,
        "The authority is replaced, and nobody is to trust the old one from now on. The new one has the "
        "fingerprint\n\n  %s\n\n"
        "Whoever stole the old key can write a hand-over too, so parties do not follow by themselves: tell "
        "every owner this fingerprint by telephone or in person, for\n\n  tacit follow %s\n\n"
        "and give center server B the new ca.crt (tacit center --coordinator). Open invitations are of no "
        "use "
        "any more: make new ones. Make a backup now, and destroy earlier ones.\n",
        made->new.fingerprint, made->new.fingerprint);
}

static tacit_status run_rotate(const tacit_arguments *arguments, tacit_console *console, tacit_error *error) {
    const char *folder = tacit_arguments_operand(arguments, "DIR");
    const bool stolen = tacit_arguments_flag(arguments, "stolen");
    const int64_t overlap = (int64_t)(tacit_arguments_number(arguments, "overlap-days") * 86400);
    tacit_handovers chain = { .count = 0 };
    tacit_registry *registry = NULL;
    tacit_status status;
    if (stolen && tacit_arguments_given(arguments, "overlap-days"))
        return tacit_fail(error, TACIT_USAGE, "with --stolen there is no overlap: leave --overlap-days out");
    TACIT_CHECK(tacit_home_check(folder, error));
    /* a center server's is named in studies */
    TACIT_CHECK(tacit_registry_open(&registry, folder, false, error));
    TACIT_CHECK(tacit_authority_rotate(folder, tacit_clock_wall_seconds(), overlap, stolen, &chain, error));
    if (stolen) tacit_center_drop_identity(folder);
    const tacit_handover *made = &chain.entries[chain.count - 1];
    if (stolen)
        print_stolen(console, made);
    else
        print_planned(console, made);
    TACIT_CHECK(tacit_console_document(
        console,
        json_pack("{s:s,s:s,s:I,s:I,s:b}", "old", made->old.fingerprint, "new", made->new.fingerprint,
                  "sequence", (json_int_t)made->sequence, "until", (json_int_t)made->until, "stolen", stolen),
        error));
cleanup:
    tacit_handovers_clear(&chain);
    tacit_registry_close(registry);
    return status;
}

const tacit_command tacit_command_rotate = {
    .name = "rotate",
    .section = "Operation",
    .summary = "replace the authority of a consortium",
    .description = "Makes a new certificate authority for the folder, and a hand-over statement that the old "
                   "and the new one sign. A coordinator may run or not: one that runs serves with the new "
                   "authority a moment later, and studies go on. Parties that are in touch before the "
                   "overlap ends follow without their owners, and renew their certificates; those that come "
                   "later need their owner's confirmation (tacit follow).\n\n"
                   "With --stolen nobody trusts the old authority from now on, and every owner must confirm "
                   "the new fingerprint: a thief of the key could sign a hand-over as well.",
    .operands =
        (const tacit_operand[]){
            { "DIR", 1, 1, "the coordinator's folder" },
            { .name = NULL },
        },
    .options =
        (const tacit_option[]){
            { .name = "overlap-days",
              .kind = TACIT_OPTION_NUMBER,
              .placeholder = "DAYS",
              .fallback = "30",
              .help = "how long the old authority is trusted beside the new one",
              .rules = TACIT_RULE_RANGE,
              .least = 0.00001,
              .most = 3650 },
            { .name = "stolen",
              .kind = TACIT_OPTION_FLAG,
              .help = "the old key is in wrong hands: no overlap, and no party follows without its owner" },
            { .name = NULL },
        },
    .examples =
        (const tacit_example[]){
            { "Once in a few years, before the authority ends.", "tacit rotate consortium" },
            { "The server was broken into.", "tacit rotate consortium --stolen" },
            { .text = NULL },
        },
    .run = run_rotate,
};

/* ---- a party's owner ---- */

static void print_news(void *context, const char *line) { tacit_console_note(context, "%s", line); }

static tacit_status run_follow(const tacit_arguments *arguments, tacit_console *console, tacit_error *error) {
    const char *fingerprint = tacit_arguments_operand(arguments, "FINGERPRINT"),
               *study = tacit_arguments_operand(arguments, "STUDY");
    char home[PATH_MAX];
    size_t followed = 0;
    const tacit_site_callbacks callbacks = { .news = print_news, .context = console };
    TACIT_TRY(tacit_home_path(home, sizeof home, "", error));
    TACIT_TRY(tacit_site_confirm(home, study, fingerprint, &callbacks, &followed, error));
    tacit_console_print(
        console,
        "%zu joined %s this authority from now on. A party that serves (tacit party) renews its "
        "certificate with it.\n",
        followed, followed == 1 ? "study trusts" : "studies trust");
    return tacit_console_document(console, json_pack("{s:I}", "followed", (json_int_t)followed), error);
}

const tacit_command tacit_command_follow = {
    .name = "follow",
    .section = "Taking part",
    .summary = "trust a coordinator's new authority, by its fingerprint",
    .description =
        "A coordinator that replaces its authority as planned is followed without your confirmation, while "
        "the old authority is trusted. This command is for the other cases: the old key was stolen, or this "
        "party was away for too long. Get the fingerprint from the coordinator's people, by telephone or in "
        "person, and not from a message that only this network could have brought. The coordinator is asked "
        "for its hand-over statements; only if they lead from the authority that you know to the one with "
        "this fingerprint is it trusted.",
    .operands =
        (const tacit_operand[]){
            { "FINGERPRINT", 1, 1, "of the new authority: 64 hexadecimal digits" },
            { "STUDY", 0, 1,
              "one study by its name; if omitted, all whose coordinator shows this authority" },
            { .name = NULL },
        },
    .examples =
        (const tacit_example[]){
            { "The coordinator's people said on the telephone who they are now.",
              "tacit follow 3f5a0c11e2d4976b8a0f1c2d3e4f5061728394a5b6c7d8e9f00112233445566a" },
            { .text = NULL },
        },
    .run = run_follow,
};
