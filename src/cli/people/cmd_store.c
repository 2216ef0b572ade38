/* tacit store new, passphrase, show and remove: a person's own store. */
#include <limits.h>
#include <sodium.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "cli/commands.h"
#include "cli/passphrase.h"
#include "data/schema/date.h"
#include "study/home.h"

/* ---- new and passphrase ---- */

static tacit_status run_new(const tacit_arguments *arguments, tacit_console *console, tacit_error *error) {
    char home[PATH_MAX], path[PATH_MAX], passphrase[TACIT_PASSPHRASE_MOST + 1];
    TACIT_TRY(tacit_home_path(home, sizeof home, "", error));
    TACIT_TRY(tacit_home_path(path, sizeof path, TACIT_PERSONAL_FILE, error));
    TACIT_TRY(tacit_folder_make(home, error));
    if (access(path, F_OK) == 0)
        return tacit_fail(error, TACIT_USAGE, "%s is there already: look at it with tacit store show", path);
    TACIT_TRY(
        tacit_passphrase_take(arguments, "passphrase-file", "A new passphrase: ", true, passphrase, error));
    tacit_status status = tacit_vault_create(path, passphrase, NULL, error);
    sodium_memzero(passphrase, sizeof passphrase);
    TACIT_TRY(status);
    tacit_console_print(console,
                        "Made %s. Nobody can recover a forgotten passphrase: keep a copy of it where you "
                        "keep other papers.\n",
                        path);
    return tacit_console_document(console, json_pack("{s:o}", "store", tacit_json_text(path)), error);
}

static tacit_status run_passphrase(const tacit_arguments *arguments, tacit_console *console,
                                   tacit_error *error) {
    char passphrase[TACIT_PASSPHRASE_MOST + 1];
    tacit_vault *vault = NULL;
    TACIT_TRY(tacit_store_take(arguments, &vault, error));
    tacit_status status = tacit_passphrase_take(arguments, "new-passphrase-file",
                                                "The new passphrase: ", true, passphrase, error);
    if (status == TACIT_OK) status = tacit_vault_change(vault, passphrase, error);
    sodium_memzero(passphrase, sizeof passphrase);
    if (status == TACIT_OK) {
        tacit_console_print(console,
                            "The new passphrase opens %s. A copy of the file that was made before still "
                            "opens by the old one.\n",
                            tacit_vault_path(vault));
        status = tacit_console_document(
            console, json_pack("{s:o}", "store", tacit_json_text(tacit_vault_path(vault))), error);
    }
    tacit_vault_close(vault);
    return status;
}

/* ---- show ---- */

typedef struct listing {
    tacit_vault *vault;
    tacit_console *console;
    json_t *sources, *rules, *origins;
} listing;

static tacit_status show_origin(void *context, const tacit_origin *origin, tacit_error *error) {
    listing *self = context;
    char hash[2 * TACIT_ORIGIN_HASH + 1];
    sodium_bin2hex(hash, sizeof hash, origin->hash, sizeof origin->hash);
    tacit_console_print(self->console, "  from     %s, hash %.16s\n", origin->label, hash);
    self->origins =
        tacit_json_append(self->origins, json_pack("{s:o,s:s,s:I}", "from", tacit_json_text(origin->label),
                                                   "hash", hash, "time_ms", (json_int_t)origin->time_ms));
    return self->origins != NULL ? TACIT_OK : tacit_fail_memory(error);
}

static tacit_status show_source(void *context, const tacit_collection *held, tacit_error *error) {
    listing *self = context;
    char first[TACIT_DAY_TEXT] = "", last[TACIT_DAY_TEXT] = "";
    tacit_rows_span span;
    json_t *columns = json_array();
    self->origins = json_array();
    TACIT_TRY(tacit_rows_measure(self->vault, held, &span, error));
    if (span.count > 0) tacit_day_text(span.first, first);
    if (span.count > 0) tacit_day_text(span.last, last);
    tacit_console_print(self->console, "%s: %s, %llu rows%s%s%s%s\n", held->name,
                        held->kind == TACIT_COLLECTION_ANSWERS ? "a questionnaire" : "measured",
                        (unsigned long long)span.count, span.count > 0 ? ", " : "", first,
                        span.count > 0 ? " to " : "", last);
    tacit_console_print(self->console, "  columns ");
    for (size_t j = 0; j < held->count; j++) {
        tacit_console_print(self->console, "%s %s", j > 0 ? "," : "", held->columns[j].name);
        if (held->columns[j].unit[0] != 0) tacit_console_print(self->console, " (%s)", held->columns[j].unit);
        columns = tacit_json_append(columns, tacit_json_text(held->columns[j].name));
    }
    tacit_console_print(self->console, "\n");
    TACIT_TRY(tacit_origins_each(self->vault, held, show_origin, self, error));
    tacit_console_print(self->console, "  rows for a study: store:%s?%s\n", tacit_vault_path(self->vault),
                        held->name);
    self->sources = tacit_json_append(
        self->sources,
        json_pack("{s:s,s:s,s:I,s:o,s:o,s:o,s:o}", "name", held->name, "kind",
                  held->kind == TACIT_COLLECTION_ANSWERS ? "answers" : "measured", "rows",
                  (json_int_t)span.count, "first", span.count > 0 ? json_string(first) : json_null(), "last",
                  span.count > 0 ? json_string(last) : json_null(), "columns", columns, "origins",
                  self->origins));
    self->origins = NULL;
    return self->sources != NULL ? TACIT_OK : tacit_fail_memory(error);
}

static tacit_status show_rule(void *context, const tacit_reuse_rule *rule, tacit_error *error) {
    listing *self = context;
    tacit_console_print(self->console, "rule: %s %s for %s%s%s\n", tacit_reuse_name(rule->reuse),
                        strcmp(rule->collection, "*") == 0 ? "everything" : rule->collection,
                        strcmp(rule->who, "*") == 0 ? "every study" : rule->who,
                        rule->purpose[0] != 0 ? ": " : "", rule->purpose);
    self->rules = tacit_json_append(
        self->rules,
        json_pack("{s:o,s:s,s:s,s:o}", "who", tacit_json_text(rule->who), "source", rule->collection, "reuse",
                  tacit_reuse_name(rule->reuse), "purpose", tacit_json_text(rule->purpose)));
    return self->rules != NULL ? TACIT_OK : tacit_fail_memory(error);
}

static tacit_status run_show(const tacit_arguments *arguments, tacit_console *console, tacit_error *error) {
    listing self = { .console = console, .sources = json_array(), .rules = json_array() };
    tacit_status status;
    TACIT_CHECK(tacit_store_take(arguments, &self.vault, error));
    TACIT_CHECK(tacit_collections_each(self.vault, show_source, &self, error));
    TACIT_CHECK(tacit_reuse_each(self.vault, show_rule, &self, error));
    if (json_array_size(self.sources) == 0) tacit_console_print(console, "There is nothing in it yet.\n");
    status = tacit_console_document(console,
                                    json_pack("{s:o,s:o,s:o}", "store",
                                              tacit_json_text(tacit_vault_path(self.vault)), "sources",
                                              self.sources, "rules", self.rules),
                                    error);
    self.sources = self.rules = NULL;
cleanup:
    json_decref(self.sources);
    json_decref(self.rules);
    json_decref(self.origins);
    tacit_vault_close(self.vault);
    return status;
}

static tacit_status run_remove(const tacit_arguments *arguments, tacit_console *console, tacit_error *error) {
    const char *name = tacit_arguments_operand(arguments, "SOURCE");
    tacit_collection held = { .id = 0 };
    tacit_vault *vault = NULL;
    tacit_status status;
    TACIT_CHECK(tacit_store_take(arguments, &vault, error));
    TACIT_CHECK(tacit_collection_find(&held, vault, name, error));
    TACIT_CHECK(tacit_vault_remove(vault, held.id, error));
    tacit_console_print(console, "Removed '%s' with all its rows.\n", name);
    TACIT_CHECK(tacit_console_document(console, json_pack("{s:s}", "removed", name), error));
cleanup:
    tacit_collection_clear(&held);
    tacit_vault_close(vault);
    return status;
}

/* ---- the table ---- */

static const tacit_option only_passphrase[] = { TACIT_OPTION_PASSPHRASE, { .name = NULL } };

const tacit_command tacit_command_store_new = {
    .name = "store new",
    .section = "Taking part",
    .summary = "make a store for one's own rows, under a passphrase",
    .description = "Makes the file personal.store in this home. What is kept in it is encrypted under the "
                   "passphrase, and a study asks about it where it is.",
    .options = only_passphrase,
    .examples = (const tacit_example[]){ { "Begin.", "tacit store new" }, { .text = NULL } },
    .run = run_new,
};

const tacit_command tacit_command_store_passphrase = {
    .name = "store passphrase",
    .section = "Taking part",
    .summary = "change the passphrase of one's store",
    .options = (const tacit_option[]){ TACIT_OPTION_PASSPHRASE,
                                       { .name = "new-passphrase-file",
                                         .kind = TACIT_OPTION_FILE,
                                         .placeholder = "FILE",
                                         .help = "whose first line is the new one; asked for by default" },
                                       { .name = NULL } },
    .examples = (const tacit_example[]){ { "Somebody saw it.", "tacit store passphrase" }, { .text = NULL } },
    .run = run_passphrase,
};

const tacit_command tacit_command_store_show = {
    .name = "store show",
    .section = "Taking part",
    .summary = "what is in one's store, where it came from, and who may use it",
    .options = only_passphrase,
    .examples = (const tacit_example[]){ { "What do I have?", "tacit store show" }, { .text = NULL } },
    .run = run_show,
};

const tacit_command tacit_command_store_remove = {
    .name = "store remove",
    .section = "Taking part",
    .summary = "take a source out of one's store",
    .description =
        "Removes the source with all its rows. What studies have learned from them stays learned, and "
        "the ledger keeps what it cost.",
    .operands = (const tacit_operand[]){ { "SOURCE", 1, 1, "by its name in the store" }, { .name = NULL } },
    .options = only_passphrase,
    .examples = (const tacit_example[]){ { "No more steps.", "tacit store remove steps" }, { .text = NULL } },
    .run = run_remove,
};
