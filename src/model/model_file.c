/* Models as JSON. A file comes from anywhere, so a load checks every length and every number. */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "model/model.h"
#include "model/stack_file.h"

enum { FORMAT_VERSION = 1, FILE_BYTES_LIMIT = 1 << 30 };

/* JSON has no infinity; a noise-free model has no price at all, so only finite ones are written. */
static json_t *price_to_json(const tacit_price *price) {
    return json_pack("{s:s,s:f,s:f}", "unit", tacit_unit_name(price->unit), "epsilon", price->epsilon,
                     "delta", price->delta);
}

const char *tacit_lambda_from_name(tacit_lambda_from from) {
    static const char *const names[] = {
        [TACIT_LAMBDA_GIVEN] = "given",        [TACIT_LAMBDA_RULE] = "public numbers",
        [TACIT_LAMBDA_USUAL] = "default",      [TACIT_LAMBDA_VALIDATED] = "cross-validation",
        [TACIT_LAMBDA_PUBLIC] = "public rows", [TACIT_LAMBDA_PAID] = "private rows"
    };
    return names[from];
}

static json_t *guarantee_to_json(const tacit_guarantee *guarantee) {
    json_t *object = json_pack("{s:s,s:s,s:b,s:I,s:f}", "method", guarantee->method, "study",
                               guarantee->study, "private", guarantee->is_private, "parties",
                               (json_int_t)guarantee->parties, "lambda", guarantee->lambda);
    if (object != NULL && guarantee->lambda_from != TACIT_LAMBDA_GIVEN)
        json_object_set_new(object, "lambda_from",
                            json_string(tacit_lambda_from_name(guarantee->lambda_from)));
    if (object != NULL && guarantee->is_private) {
        json_object_set_new(object, "charged", price_to_json(&guarantee->charged));
        json_object_set_new(object, "claimed", price_to_json(&guarantee->claimed));
    }
    if (object != NULL && (guarantee->is_private || guarantee->noise != TACIT_NOISE_NONE))
        json_object_set_new(object, "noise", json_string(tacit_noise_name(guarantee->noise)));
    if (object != NULL && !guarantee->is_private && guarantee->reason[0] != 0)
        json_object_set_new(object, "reason", json_string(guarantee->reason));
    return object;
}

/* The hidden layers, a number for a dense one, what their units do, and the shape of the rows if a layer
 * asks; outputs follow from the classes. */
static json_t *network_to_json(const tacit_network *network) {
    json_t *hidden = json_array();
    char name[TACIT_LAYER_NAME];
    for (size_t l = 0; l + 1 < network->layers; l++) {
        tacit_network_layer_name(network, l, name);
        json_array_append_new(hidden, network->layer[l].kind == TACIT_LAYER_DENSE
                                          ? json_integer((json_int_t)network->width[l + 1])
                                          : json_string(name));
    }
    if (json_array_size(hidden) != network->layers - 1) {
        json_decref(hidden);
        return NULL;
    }
    tacit_network_shape_name(network, name);
    return json_pack("{s:o,s:s,s:s*}", "hidden", hidden, "activation",
                     tacit_activation_name(network->activation), "shape", name[0] != 0 ? name : NULL);
}

/* The new part is taken, also on failure. */
static tacit_status add(json_t *root, const char *key, json_t *part, tacit_error *error) {
    if (json_object_set_new(root, key, part) == 0) return TACIT_OK;
    return tacit_fail(error, TACIT_NO_MEMORY, "out of memory, or a name in the model's %s is not UTF-8", key);
}

tacit_status tacit_model_print(const tacit_model *model, tacit_buffer *out, tacit_error *error) {
    tacit_buffer schema = TACIT_BUFFER_INIT;
    json_t *weights = json_array(), *names = json_array(), *root = NULL;
    char *text = NULL;
    tacit_status status = TACIT_OK;
    size_t plain = model->stack == NULL ? tacit_model_size(model) : 0; /* a stack's are with its members */
    for (size_t i = 0; i < plain; i++) json_array_append_new(weights, json_real(model->weights[i]));
    for (size_t k = 0; k < model->class_names.count; k++)
        json_array_append_new(names, json_string(model->class_names.text[k]));
    if (model->schema != NULL) TACIT_CHECK(tacit_schema_canonical(model->schema, &schema, error));
    root = json_pack("{s:s,s:i,s:s,s:I,s:I,s:O,s:O,s:s,s:o}", "format", "tacit-model", "version",
                     FORMAT_VERSION, "loss", model->family->name, "features", (json_int_t)model->features,
                     "classes", (json_int_t)model->classes, "weights", weights, "class_names", names,
                     "schema", tacit_buffer_text(&schema), "guarantee", guarantee_to_json(&model->guarantee));
    const char *shape = model->family->loss.shape_name;
    if (root != NULL && shape != NULL) json_object_set_new(root, shape, json_real(model->shape));
    if (model->network.layers > 0) TACIT_CHECK(add(root, "network", network_to_json(&model->network), error));
    if (model->estimates != NULL)
        TACIT_CHECK(add(root, "estimates", tacit_estimates_to_json(model->estimates), error));
    if (model->moments != NULL)
        TACIT_CHECK(add(root, "moments", tacit_released_moments_to_json(model->moments), error));
    if (model->noise_share > 0) TACIT_CHECK(add(root, "noise_share", json_real(model->noise_share), error));
    if (model->report != NULL) TACIT_CHECK(add(root, "report", tacit_report_to_json(model->report), error));
    if (model->validation != NULL)
        TACIT_CHECK(add(root, "validation", tacit_report_to_json(model->validation), error));
    if (model->missing_counts != NULL)
        TACIT_CHECK(add(root, "missing_counts", tacit_report_to_json(model->missing_counts), error));
    if (model->tree != NULL) TACIT_CHECK(add(root, "tree", tacit_tree_to_json(model->tree), error));
    if (model->stack != NULL)
        TACIT_CHECK(add(root, "stack", tacit_stack_to_json(model->stack, model->weights), error));
    bool whole = json_array_size(weights) == plain && json_array_size(names) == model->class_names.count;
    /* 17 digits bring back the same double. */
    text = root != NULL && whole ? json_dumps(root, JSON_INDENT(1) | JSON_REAL_PRECISION(17)) : NULL;
    status = text != NULL ? tacit_buffer_print(out, error, "%s\n", text)
                          : tacit_fail(error, TACIT_NO_MEMORY, "out of memory, or a class name is not UTF-8");
cleanup:
    free(text);
    json_decref(root);
    json_decref(weights);
    json_decref(names);
    tacit_buffer_clear(&schema);
    return status;
}

static bool read_price(const json_t *object, tacit_price *out) {
    const char *unit = NULL;
    if (json_unpack((json_t *)object, "{s:s,s:F,s:F}", "unit", &unit, "epsilon", &out->epsilon, "delta",
                    &out->delta) != 0)
        return false;
    out->unit = strcmp(unit, "party") == 0 ? TACIT_UNIT_PARTY : TACIT_UNIT_RECORD;
    return (out->unit == TACIT_UNIT_PARTY || strcmp(unit, "record") == 0) &&
           tacit_price_check(out, NULL) == TACIT_OK;
}

/* Files of earlier versions have none. */
static bool read_reason(const json_t *object, tacit_guarantee *out) {
    const json_t *reason = json_object_get(object, "reason");
    if (reason == NULL) return true;
    if (!json_is_string(reason) || out->is_private || json_string_length(reason) >= sizeof out->reason)
        return false;
    for (const char *at = json_string_value(reason); *at != 0; at++) /* it is shown to people */
        if ((unsigned char)*at < ' ' || *at == 0x7F) return false;
    memcpy(out->reason, json_string_value(reason), json_string_length(reason) + 1);
    out->settled = out->reason[0] != 0; /* by whoever wrote it */
    return true;
}

/* Files of earlier versions have none, nor do those whose lambda was given. */
static bool read_lambda_from(const json_t *object, tacit_guarantee *out) {
    const json_t *from = json_object_get(object, "lambda_from");
    if (from == NULL) return true;
    for (int one = TACIT_LAMBDA_GIVEN; json_is_string(from) && one <= TACIT_LAMBDA_PAID; one++)
        if (strcmp(json_string_value(from), tacit_lambda_from_name((tacit_lambda_from)one)) == 0) {
            out->lambda_from = (tacit_lambda_from)one;
            return true;
        }
    return false;
}

static bool read_guarantee(const json_t *object, tacit_guarantee *out) {
    const char *method = NULL, *study = NULL, *noise = NULL;
    int is_private = 0;
    json_int_t parties = 0;
    if (json_unpack((json_t *)object, "{s:s,s:s,s:b,s:I,s:F}", "method", &method, "study", &study, "private",
                    &is_private, "parties", &parties, "lambda", &out->lambda) != 0 ||
        strlen(method) >= sizeof out->method || strlen(study) >= sizeof out->study || parties < 0)
        return false;
    memcpy(out->method, method, strlen(method) + 1);
    memcpy(out->study, study, strlen(study) + 1);
    out->is_private = is_private != 0;
    out->parties = (size_t)parties;
    if (!read_reason(object, out) || !read_lambda_from(object, out)) return false;
    if (json_unpack((json_t *)object, "{s:s}", "noise", &noise) != 0) return !out->is_private;
    int grade = TACIT_NOISE_NONE;
    while (grade <= TACIT_NOISE_EXACT && strcmp(noise, tacit_noise_name((tacit_noise)grade)) != 0) grade++;
    if (grade > TACIT_NOISE_EXACT) return false;
    out->noise = (tacit_noise)grade;
    if (!out->is_private) return true;
    return read_price(json_object_get(object, "charged"), &out->charged) &&
           read_price(json_object_get(object, "claimed"), &out->claimed);
}

/* A file without it has the solver's default. */
static tacit_status read_shape(tacit_model *model, const json_t *root, tacit_error *error) {
    const tacit_loss *loss = &model->family->loss;
    if (loss->shape_name == NULL) return TACIT_OK;
    const json_t *shape = json_object_get(root, loss->shape_name);
    model->shape = shape != NULL ? json_number_value(shape) : loss->shape_default;
    if (!(model->shape > 0 && model->shape <= loss->shape_most))
        return tacit_fail(error, TACIT_INPUT, "the %s loss has a %s above 0 and at most %g",
                          model->family->name, loss->shape_name, loss->shape_most);
    return TACIT_OK;
}

static tacit_status read_weights(tacit_model *model, const json_t *weights, tacit_error *error) {
    if (json_array_size(weights) != tacit_model_size(model))
        return tacit_fail(error, TACIT_INPUT, "%zu weights where %zu belong", json_array_size(weights),
                          tacit_model_size(model));
    for (size_t i = 0; i < tacit_model_size(model); i++) {
        const json_t *weight = json_array_get(weights, i);
        if (!json_is_number(weight) || !isfinite(json_number_value(weight)))
            return tacit_fail(error, TACIT_INPUT, "weight %zu is not a finite number", i + 1);
        model->weights[i] = json_number_value(weight);
    }
    return TACIT_OK;
}

static tacit_status read_names(tacit_model *model, const json_t *names, tacit_error *error) {
    if (json_array_size(names) != 0 && json_array_size(names) != model->classes)
        return tacit_fail(error, TACIT_INPUT, "%zu class names for %zu classes", json_array_size(names),
                          model->classes);
    for (size_t k = 0; k < json_array_size(names); k++) {
        const json_t *name = json_array_get(names, k);
        int32_t code;
        if (!json_is_string(name))
            return tacit_fail(error, TACIT_INPUT, "class name %zu is not a text", k + 1);
        TACIT_TRY(tacit_levels_add(&model->class_names, json_string_value(name), json_string_length(name),
                                   &code, error));
        if ((size_t)code != k) return tacit_fail(error, TACIT_INPUT, "class name %zu appears twice", k + 1);
    }
    return TACIT_OK;
}

static tacit_status check_schema(const tacit_model *model, tacit_error *error) {
    if (model->schema == NULL) return TACIT_OK;
    size_t features = tacit_schema_features(model->schema), classes = model->schema->classes.count;
    if (features == model->features && classes == model->classes) return TACIT_OK;
    return tacit_fail(error, TACIT_INPUT,
                      "the schema makes %zu features and %zu classes, the model has %zu and %zu", features,
                      classes, model->features, model->classes);
}

/* A file without it has a linear model. */
static tacit_status read_network(tacit_network *out, const json_t *root, size_t features, size_t classes,
                                 tacit_error *error) {
    const json_t *object = json_object_get(root, "network"), *hidden = json_object_get(object, "hidden");
    const char *activation = json_string_value(json_object_get(object, "activation"));
    int kind = 0;
    *out = (tacit_network){ .layers = 0 };
    if (object == NULL) return TACIT_OK;
    while (activation != NULL && kind < TACIT_ACTIVATIONS &&
           strcmp(activation, tacit_activation_name((tacit_activation)kind)) != 0)
        kind++;
    if (activation == NULL || kind == TACIT_ACTIVATIONS || !json_is_array(hidden) ||
        json_array_size(hidden) >= TACIT_NETWORK_LAYERS)
        return tacit_fail(error, TACIT_INPUT, "the network's layers or their activation are damaged");
    char list[TACIT_NETWORK_LAYERS * TACIT_LAYER_NAME] = "";
    for (size_t l = 0, used = 0; l < json_array_size(hidden); l++) {
        const json_t *layer = json_array_get(hidden, l);
        json_int_t units = json_integer_value(layer);
        const char *name = json_string_value(layer);
        if (name == NULL ? units < 1 || units > 65536 : strlen(name) + 2 > TACIT_LAYER_NAME)
            return tacit_fail(error, TACIT_INPUT, "hidden layer %zu of the network is damaged", l + 1);
        used +=
            (size_t)(name != NULL
                         ? snprintf(list + used, sizeof list - used, "%s%s", l > 0 ? "," : "", name)
                         : snprintf(list + used, sizeof list - used, "%s%d", l > 0 ? "," : "", (int)units));
    }
    const char *shape = json_string_value(json_object_get(object, "shape"));
    tacit_status status = tacit_network_parse(out, list, shape != NULL ? shape : "", (tacit_activation)kind,
                                              features, classes, error);
    return status == TACIT_USAGE ? TACIT_INPUT : status;
}

/* Its weights: a report has none of its own, and a file with both is damaged. */
static tacit_status read_report(tacit_model **out, const json_t *root, size_t features, size_t classes,
                                tacit_error *error) {
    tacit_report *report = NULL;
    if (json_object_get(root, "stack") != NULL || json_object_get(root, "network") != NULL ||
        json_object_get(root, "tree") != NULL || json_object_get(root, "estimates") != NULL)
        return tacit_fail(error, TACIT_INPUT,
                          "a report is no stack, no tree, no network and has no coefficients");
    TACIT_TRY(tacit_report_from_json(&report, json_object_get(root, "report"), error));
    return tacit_model_create_report(out, report, features, classes, error);
}

/* What says of which kind a model is. */
typedef struct model_head {
    const tacit_family *family;
    size_t features, classes;
    tacit_network network; /* no layers: it is none */
    const json_t *stack, *tree, *report, *weights, *names, *guarantee;
    const char *schema;
} model_head;

static tacit_status read_members(model_head *out, json_t *root, tacit_error *error) {
    const char *format = NULL, *loss = NULL;
    int version = 0;
    json_int_t features = 0, classes = 0;
    if (json_unpack(root, "{s:s,s:i}", "format", &format, "version", &version) != 0 ||
        strcmp(format, "tacit-model") != 0)
        return tacit_fail(error, TACIT_INPUT, "not a Tacit model");
    if (version != FORMAT_VERSION)
        return tacit_fail(error, TACIT_INPUT,
                          "model format %d, and this program reads %d: update the older of the two", version,
                          FORMAT_VERSION);
    if (json_unpack(root, "{s:s,s:I,s:I,s:o,s:o,s:s,s:o}", "loss", &loss, "features", &features, "classes",
                    &classes, "weights", &out->weights, "class_names", &out->names, "schema", &out->schema,
                    "guarantee", &out->guarantee) != 0 ||
        features <= 0 || features > TACIT_FEATURE_LIMIT || classes < 0 || classes == 1 || classes > 1000000)
        return tacit_fail(error, TACIT_INPUT, "a part of the model is missing or out of range");
    out->features = (size_t)features;
    out->classes = (size_t)classes;
    out->stack = json_object_get(root, "stack");
    out->tree = json_object_get(root, "tree");
    out->report = json_object_get(root, "report");
    out->family = tacit_family_find(loss);
    if (out->family == NULL || strcmp(out->family->name, loss) != 0)
        return tacit_fail(error, TACIT_INPUT, "unknown loss '%.40s'", loss);
    return read_network(&out->network, root, out->features, out->classes, error);
}

/* Before anything of the size that it claims is allocated. */
static tacit_status read_head(model_head *out, json_t *root, tacit_error *error) {
    *out = (model_head){ .family = NULL };
    TACIT_TRY(read_members(out, root, error));
    const tacit_family *family = out->family;
    const bool network = out->network.layers > 0;
    if (!tacit_family_takes(family, out->classes))
        return tacit_fail(error, TACIT_INPUT, "a model with the %s loss has %s classes, not %zu",
                          family->name, tacit_family_classes(family), out->classes);
    out->network.response = family->response;
    if (network && (family->response == TACIT_RESPONSE_TIME ||
                    family != tacit_family_of(family->response, out->classes)))
        return tacit_fail(error, TACIT_INPUT, "a network for %zu classes has no %s loss", out->classes,
                          family->name);
    if (out->tree != NULL && (out->stack != NULL || network || family != tacit_family_for(out->classes)))
        return tacit_fail(error, TACIT_INPUT,
                          "a tree for %zu classes is no stack and no network, and has no %s loss",
                          out->classes, family->name);
    if (out->stack != NULL && (!family->loss.of_classes || family->loss.rows == NULL))
        return tacit_fail(error, TACIT_INPUT, "a stack has a loss of two classes, not the %s one",
                          family->name);
    size_t scores = tacit_family_scores(family, out->classes);
    size_t size = out->stack != NULL || out->report != NULL ? 0
                  : network                                 ? tacit_network_size(&out->network)
                  : out->tree != NULL ? scores * json_array_size(json_object_get(out->tree, "feature"))
                                      : scores * out->features;
    if (json_array_size(out->weights) == size) return TACIT_OK;
    return tacit_fail(error, TACIT_INPUT, "%zu weights where %zu belong", json_array_size(out->weights),
                      size);
}

/* The model is the caller's, also on failure. */
static tacit_status read_body(tacit_model **out, const model_head *head, const json_t *root,
                              tacit_error *error) {
    if (head->report != NULL) return read_report(out, root, head->features, head->classes, error);
    if (head->stack != NULL) {
        TACIT_TRY(tacit_stack_from_json(out, head->stack, head->features, error));
        (*out)->family = head->family;
        return read_shape(*out, root, error);
    }
    if (head->tree != NULL) {
        tacit_tree *tree = NULL;
        TACIT_TRY(tacit_tree_from_json(&tree, head->tree, head->features, error));
        TACIT_TRY(tacit_model_create_tree(out, tree, head->features, head->classes, error));
        return read_weights(*out, head->weights, error);
    }
    TACIT_TRY(head->network.layers > 0
                  ? tacit_model_create_network(out, &head->network, error)
                  : tacit_model_create(out, head->family, head->features, head->classes, error));
    TACIT_TRY(read_shape(*out, root, error));
    return read_weights(*out, head->weights, error);
}

/* What a model may have besides. */
static tacit_status read_extras(tacit_model *model, const json_t *root, tacit_error *error) {
    const json_t *estimates = json_object_get(root, "estimates"), *moments = json_object_get(root, "moments");
    const json_t *validation = json_object_get(root, "validation"),
                 *missing = json_object_get(root, "missing_counts");
    /* For a remark alone: a number that is none, or too large, is as good as none. */
    const double noise = json_number_value(json_object_get(root, "noise_share"));
    model->noise_share = noise > 0 && noise <= 1 ? noise : 0;
    if (estimates != NULL) TACIT_TRY(tacit_estimates_from_json(&model->estimates, estimates, error));
    if (moments != NULL)
        TACIT_TRY(tacit_released_moments_from_json(&model->moments, moments, model->features, error));
    if (missing != NULL) TACIT_TRY(tacit_report_from_json(&model->missing_counts, missing, error));
    if (validation == NULL || json_object_get(root, "report") != NULL) return TACIT_OK;
    return tacit_report_from_json(&model->validation, validation, error);
}

static tacit_status read_model(tacit_model **out, json_t *root, tacit_error *error) {
    model_head head;
    tacit_model *model = NULL;
    tacit_status status;
    TACIT_CHECK(read_head(&head, root, error));
    TACIT_CHECK(read_body(&model, &head, root, error));
    TACIT_CHECK(read_names(model, head.names, error));
    if (head.schema[0] != 0)
        TACIT_CHECK(tacit_schema_parse(&model->schema, head.schema, strlen(head.schema), "schema", error));
    TACIT_CHECK(check_schema(model, error));
    if (!read_guarantee(head.guarantee, &model->guarantee))
        TACIT_CHECK(tacit_fail(error, TACIT_INPUT, "the guarantee is damaged"));
    tacit_guarantee_settle(&model->guarantee, model->schema); /* whatever the file claims */
    TACIT_CHECK(read_extras(model, root, error));
    *out = model;
cleanup:
    if (status != TACIT_OK) tacit_model_free(model);
    return status;
}

tacit_status tacit_model_parse(tacit_model **out, const void *bytes, size_t length, const char *name,
                               tacit_error *error) {
    json_error_t problem;
    if (length == 0) return tacit_fail(error, TACIT_INPUT, "%s is empty, not a Tacit model", name);
    json_t *root = json_loadb(bytes, length, JSON_REJECT_DUPLICATES, &problem);
    if (root == NULL)
        return tacit_fail(error, TACIT_INPUT, "%s:%d: not a Tacit model: %s", name, problem.line,
                          problem.text);
    tacit_status status = read_model(out, root, error);
    json_decref(root);
    return status == TACIT_OK ? status : tacit_fail_in(error, status, "%s", name);
}

tacit_status tacit_model_save(const tacit_model *model, const char *path, tacit_error *error) {
    TACIT_TRY(tacit_require(model, "the model", error));
    TACIT_TRY(tacit_require(path, "the path", error));
    tacit_buffer text = TACIT_BUFFER_INIT;
    tacit_status status = tacit_model_print(model, &text, error);
    if (status == TACIT_OK) status = tacit_file_write(path, text.bytes, text.length, 0644, error);
    tacit_buffer_clear(&text);
    return status;
}

tacit_status tacit_model_load(tacit_model **out, const char *path, tacit_error *error) {
    TACIT_TRY(tacit_require(out, "where to put the result", error));
    TACIT_TRY(tacit_require(path, "the path", error));
    tacit_buffer text = TACIT_BUFFER_LIMITED(FILE_BYTES_LIMIT);
    tacit_status status = tacit_file_read(path, &text, error);
    if (status == TACIT_OK) status = tacit_model_parse(out, text.bytes, text.length, path, error);
    tacit_buffer_clear(&text);
    return status;
}
