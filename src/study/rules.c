#include "study/rules.h"

#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "method/methods.h"

#define RULES_FILE "rules.json"

static tacit_status check(const tacit_rules *rules, tacit_error *error) {
    if (!(rules->study_epsilon >= 0) || isinf(rules->study_epsilon))
        return tacit_fail(error, TACIT_USAGE,
                          "the epsilon of one study must be 0 (no rule) or more, and finite");
    if (rules->minimum_rows < 1 || rules->minimum_parties < 1)
        return tacit_fail(error, TACIT_USAGE, "at least 1 row and 1 party are needed for anything");
    for (size_t i = 0; i < rules->method_count; i++) {
        const tacit_method *unused;
        TACIT_TRY(tacit_method_require(&unused, rules->methods[i], error));
    }
    return TACIT_OK;
}

static bool read_methods(tacit_rules *out, const json_t *list) {
    size_t i;
    const json_t *each;
    if (!json_is_array(list) || json_array_size(list) > TACIT_RULE_METHODS) return false;
    json_array_foreach(list, i, each) {
        const char *name = json_string_value(each);
        if (name == NULL || strlen(name) >= TACIT_RULE_METHOD_SIZE) return false;
        memcpy(out->methods[i], name, strlen(name) + 1);
    }
    out->method_count = json_array_size(list);
    return true;
}

static bool read_rules(tacit_rules *out, const tacit_buffer *text) {
    json_t *root = json_loadb((const char *)text->bytes, text->length, 0, NULL);
    const json_t *methods = NULL;
    json_int_t rows = 0, parties = 0;
    bool sound = json_unpack(root, "{s:F,s:I,s:I,s:o!}", "study_epsilon", &out->study_epsilon, "minimum_rows",
                             &rows, "minimum_parties", &parties, "methods", &methods) == 0 &&
                 rows > 0 && parties > 0 && read_methods(out, methods);
    out->minimum_rows = (uint64_t)rows;
    out->minimum_parties = (uint64_t)parties;
    json_decref(root);
    return sound && check(out, NULL) == TACIT_OK;
}

tacit_status tacit_rules_load(tacit_rules *out, const char *home, tacit_error *error) {
    tacit_policy usual = tacit_policy_default();
    tacit_rules rules = { .minimum_rows = usual.minimum_rows, .minimum_parties = usual.minimum_parties };
    tacit_buffer text = TACIT_BUFFER_LIMITED(1 << 16);
    char path[PATH_MAX];
    TACIT_TRY(tacit_path_join(path, sizeof path, home, RULES_FILE, error));
    if (access(path, F_OK) != 0 && errno == ENOENT) { /* else reading it fails, and says why */
        *out = rules;
        return TACIT_OK;
    }
    tacit_status status = tacit_file_read(path, &text, error);
    if (status == TACIT_OK && !read_rules(&rules, &text))
        status = tacit_fail(error, TACIT_REFUSED,
                            "%s is damaged, so nothing may leave: remove it and set the owner's rules again "
                            "(tacit rules set)",
                            path);
    if (status == TACIT_OK) *out = rules;
    tacit_buffer_clear(&text);
    return status;
}

tacit_status tacit_rules_save(const tacit_rules *rules, const char *home, tacit_error *error) {
    char path[PATH_MAX];
    TACIT_TRY(check(rules, error));
    TACIT_TRY(tacit_folder_make(home, error));
    TACIT_TRY(tacit_path_join(path, sizeof path, home, RULES_FILE, error));
    json_t *methods = json_array();
    bool made = methods != NULL;
    for (size_t i = 0; i < rules->method_count && made; i++)
        made = json_array_append_new(methods, json_string(rules->methods[i])) == 0;
    json_t *root = json_pack("{s:f,s:I,s:I,s:o}", "study_epsilon", rules->study_epsilon, "minimum_rows",
                             (json_int_t)rules->minimum_rows, "minimum_parties",
                             (json_int_t)rules->minimum_parties, "methods", methods);
    char *text = made && root != NULL ? json_dumps(root, JSON_INDENT(2)) : NULL;
    tacit_status status =
        text != NULL ? tacit_file_write(path, text, strlen(text), 0600, error) : tacit_fail_memory(error);
    free(text);
    json_decref(root);
    return status;
}

void tacit_rules_apply(const tacit_rules *rules, const char *names[TACIT_RULE_METHODS],
                       tacit_policy *policy) {
    for (size_t i = 0; i < rules->method_count; i++) names[i] = rules->methods[i];
    policy->minimum_rows = rules->minimum_rows;
    policy->minimum_parties = rules->minimum_parties;
    policy->most_study_epsilon = rules->study_epsilon;
    policy->methods = names;
    policy->method_count = rules->method_count;
}
