/* A study from a few words, in one call: drafted, compared with the one of that name, and added. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/option/options.h"
#include "api/study/client_parts.h"
#include "base/error.h"
#include "base/file.h"

typedef struct creation {
    tacit_coordinator *coordinator;
    const char *name;
    tacit_options *draft; /* of tacit_study_draft */
    tacit_options *add;   /* of tacit_study_check and tacit_study_add */
    char *yaml;
} creation;

static bool is_given(const tacit_options *options, const char *name) {
    for (size_t i = 0; options != NULL && i < options->count; i++)
        if (strcmp(options->items[i].name, name) == 0) return true;
    return false;
}

static tacit_status sort_options(creation *self, const tacit_options *options, tacit_error *error) {
    for (size_t i = 0; options != NULL && i < options->count; i++) {
        const option_text *one = &options->items[i];
        const bool adding = strcmp(one->name, "draft") == 0 || strcmp(one->name, "force") == 0;
        TACIT_TRY(tacit_options_set(adding ? self->add : self->draft, one->name, one->value, error));
    }
    return TACIT_OK;
}

/* NAME.schema.yaml or schema.yaml of the coordinator's folder. */
static tacit_status find_schema(creation *self, tacit_error *error) {
    const char *folder = self->coordinator->folder;
    char names[2][PATH_MAX], path[PATH_MAX];
    snprintf(names[0], sizeof names[0], "%.200s.schema.yaml", self->name);
    snprintf(names[1], sizeof names[1], "schema.yaml");
    for (int k = 0; folder != NULL && k < 2 && strchr(self->name, '/') == NULL; k++) {
        TACIT_TRY(tacit_path_join(path, sizeof path, folder, names[k], error));
        if (access(path, F_OK) == 0) return tacit_options_set(self->draft, "schema", path, error);
    }
    if (folder == NULL)
        return tacit_fail(error, TACIT_USAGE,
                          "which columns do the sites have? Name the schema with the option 'schema'");
    return tacit_fail(error, TACIT_USAGE,
                      "which columns do the sites have? Put the schema into %.200s as %.80s.schema.yaml or "
                      "schema.yaml, or name it with the option 'schema'",
                      folder, self->name);
}

/* Is there a study of this name already, with this definition? */
static tacit_status is_known(bool *out, const creation *self, tacit_error *error) {
    void *found = NULL;
    char *json = NULL;
    tacit_error quiet = TACIT_ERROR_INIT;
    json_t *document = NULL;
    *out = false;
    tacit_status status =
        tacit_study_fetch(&found, NULL, self->coordinator, self->name, "definition", &quiet);
    if (status == TACIT_NOT_FOUND) return TACIT_OK;
    if (status != TACIT_OK) return tacit_fail(error, status, "%s", quiet.text);
    TACIT_CHECK(tacit_study_check(&json, self->coordinator, self->yaml, self->add, error));
    document = json_loads(json, 0, NULL);
    const char *wanted = json_string_value(json_object_get(document, "definition"));
    *out = wanted != NULL && strcmp(wanted, found) == 0;
    if (!*out)
        TACIT_CHECK(tacit_fail(error, TACIT_USAGE,
                               "study '%s' exists already and has another definition: amend it, or use "
                               "another name",
                               self->name));
cleanup:
    json_decref(document);
    tacit_string_free(json);
    tacit_bytes_free(found);
    return status;
}

static tacit_status create(creation *self, const char *formula, size_t parties, const tacit_options *options,
                           tacit_error *error) {
    bool known = false;
    TACIT_TRY(tacit_options_create(&self->draft, error));
    TACIT_TRY(tacit_options_create(&self->add, error));
    TACIT_TRY(sort_options(self, options, error));
    TACIT_TRY(tacit_options_set(self->draft, "name", self->name, error));
    TACIT_TRY(tacit_options_set_count(self->draft, "parties", parties, error));
    if (formula != NULL) TACIT_TRY(tacit_options_set(self->draft, "formula", formula, error));
    if (!is_given(options, "method")) TACIT_TRY(tacit_options_set(self->draft, "method", "estimate", error));
    if (!is_given(options, "schema")) TACIT_TRY(find_schema(self, error));
    TACIT_TRY(tacit_study_draft(&self->yaml, self->draft, error));
    TACIT_TRY(is_known(&known, self, error));
    return known ? TACIT_OK : tacit_study_add(NULL, self->coordinator, self->yaml, self->add, error);
}

tacit_status tacit_study_create(tacit_coordinator *coordinator, const char *name, const char *formula,
                                size_t parties, const tacit_options *options, tacit_error *error) {
    creation self = { .coordinator = coordinator, .name = name };
    TACIT_TRY(tacit_require(coordinator, "the coordinator", error));
    TACIT_TRY(tacit_require(name, "the study's name", error));
    tacit_status status = create(&self, formula, parties, options, error);
    tacit_string_free(self.yaml);
    tacit_options_free(self.draft);
    tacit_options_free(self.add);
    return status;
}
