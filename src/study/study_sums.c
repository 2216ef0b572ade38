/* How the parties' answers come together: in sums, of one kind or another, or along a graph of neighbours. */
#include <limits.h>
#include <math.h>
#include <string.h>

#include "data/graph/round_schedule.h"
#include "data/graph/topology.h"
#include "method/neighbours/neighbours.h"
#include "session/masked/masked.h"
#include "study/study_parts.h"

/* ---- sums ---- */

/* Whether the coordinator sees contributions or only their sum: as little as possible by default. */
tacit_status study_read_sum(reading *r, const yaml_node_t *node) {
    tacit_plan *plan = &r->study->plan;
    const char *text = "masked";
    size_t length;
    if (node != NULL) TACIT_TRY(tacit_yaml_text(&r->yaml, node, "sum", &text, &length, r->error));
    if (node == NULL && plan->method->compute != NULL) text = "clear"; /* it has none: all is encrypted */
    plan->sums = strcmp(text, "clear") == 0      ? TACIT_SUMS_CLEAR
                 : strcmp(text, "paillier") == 0 ? TACIT_SUMS_PAILLIER
                                                 : TACIT_SUMS_MASKED;
    if (strcmp(text, tacit_sum_way_name(plan->sums)) != 0)
        return tacit_yaml_fail(&r->yaml, node, r->error, "sum must be masked, paillier or clear, not '%.40s'",
                               text);
    return TACIT_OK;
}

tacit_status study_print_sum(const tacit_study *study, tacit_buffer *out, tacit_error *error) {
    return tacit_buffer_print(out, error, "sum: %s\n", tacit_sum_way_name(study->plan.sums));
}

tacit_status study_read_key_bits(reading *r, const yaml_node_t *node) {
    tacit_plan *plan = &r->study->plan;
    double bits = 2048;
    if (plan->sums != TACIT_SUMS_PAILLIER) {
        if (node == NULL) return TACIT_OK;
        return tacit_yaml_fail(&r->yaml, node, r->error, "key_bits belongs to sum: paillier: leave it out");
    }
    if (node != NULL) TACIT_TRY(tacit_yaml_number(&r->yaml, node, "key_bits", &bits, r->error));
    if (bits != 2048 && bits != 3072)
        return tacit_yaml_fail(&r->yaml, node, r->error, "key_bits must be 2048 or 3072, not %g", bits);
    plan->key_bits = (unsigned)bits;
    return TACIT_OK;
}

tacit_status study_print_key_bits(const tacit_study *study, tacit_buffer *out, tacit_error *error) {
    if (study->plan.sums != TACIT_SUMS_PAILLIER) return TACIT_OK;
    return tacit_buffer_print(out, error, "key_bits: %u\n", study->plan.key_bits);
}

/* ---- files in place of a network ---- */

tacit_status study_read_transport(reading *r, const yaml_node_t *node) {
    tacit_plan *plan = &r->study->plan;
    const char *text = "network";
    size_t length;
    if (node != NULL) TACIT_TRY(tacit_yaml_text(&r->yaml, node, "transport", &text, &length, r->error));
    if (strcmp(text, "network") == 0) return TACIT_OK;
    if (strcmp(text, "files") != 0)
        return tacit_yaml_fail(&r->yaml, node, r->error, "transport must be network or files, not '%.40s'",
                               text);
    if (plan->sums == TACIT_SUMS_PAILLIER)
        return tacit_yaml_fail(&r->yaml, node, r->error,
                               "sum: paillier takes a key holder that is there all the time: by files, sums "
                               "are masked");
    if (plan->method->schedule != NULL || plan->method->compute != NULL)
        return tacit_yaml_fail(&r->yaml, node, r->error,
                               "method %s talks too often to be carried by people: it needs a network",
                               plan->method->name);
    r->study->by_files = true;
    if (plan->sums == TACIT_SUMS_MASKED) plan->exchanges = 1;
    return TACIT_OK;
}

tacit_status study_print_transport(const tacit_study *study, tacit_buffer *out, tacit_error *error) {
    return study->by_files ? tacit_buffer_print(out, error, "transport: files\n") : TACIT_OK;
}

tacit_status study_read_exchange(reading *r, const yaml_node_t *node) {
    tacit_plan *plan = &r->study->plan;
    const char *text = "one";
    size_t length;
    if (node == NULL) return TACIT_OK;
    TACIT_TRY(tacit_yaml_text(&r->yaml, node, "exchange", &text, &length, r->error));
    if (plan->exchanges == 0)
        return tacit_yaml_fail(&r->yaml, node, r->error,
                               "exchange belongs to masked sums with transport: files: leave it out");
    if (strcmp(text, "one") != 0 && strcmp(text, "two") != 0)
        return tacit_yaml_fail(&r->yaml, node, r->error, "exchange must be one or two, not '%.40s'", text);
    plan->exchanges = strcmp(text, "two") == 0 ? 2 : 1;
    return TACIT_OK;
}

tacit_status study_print_exchange(const tacit_study *study, tacit_buffer *out, tacit_error *error) {
    return study->plan.exchanges == 2 ? tacit_buffer_print(out, error, "exchange: two\n") : TACIT_OK;
}

/* The fewest decimals that make a fraction of exactly so many parties. */
static double fraction_of(size_t some, size_t parties) {
    for (double scale = 10;; scale *= 10) {
        const double fraction = ceil((double)some * scale / (double)parties) / scale;
        if (floor(fraction * (double)parties * (1 + 1e-12)) == (double)some) return fraction;
    }
}

/* A study that shares its noise and can do without some parties, but whose sums by files would open with all
 * or not at all, gets two exchanges, and dropouts for as many as its minimum leaves out, where its author
 * says neither. Definitions that were agreed on stay what they are. */
static tacit_status choose_exchange(reading *r) {
    tacit_study *study = r->study;
    tacit_plan *plan = &study->plan;
    size_t minimum;
    if (!r->written || study_node(r, "exchange") != NULL || plan->exchanges != 1 ||
        plan->minimum_parties >= plan->parties || !tacit_plan_shares_noise(plan))
        return TACIT_OK;
    const size_t absent = plan->parties - plan->minimum_parties;
    plan->exchanges = 2;
    if (study_node(r, "dropouts") == NULL && tacit_plan_dropouts(plan) < absent)
        plan->dropouts = fraction_of(absent, plan->parties);
    study->exchange_chosen = tacit_plan_dropouts(plan) > 0;
    if (!study->exchange_chosen) { /* nobody may be absent, by its author's own words */
        plan->exchanges = 1;
        return TACIT_OK;
    }
    return study_fail_at(
        r, study_node(r, "parties"),
        tacit_fail_in(r->error, tacit_secure_minimum(&minimum, plan, r->error),
                      "with transport: files and shares of noise (noise: shares) 'minimum: %zu' takes "
                      "exchange: two, since a sum in one exchange opens with all %zu parties or not at all",
                      plan->minimum_parties, plan->parties));
}

/* How many parties may vanish, or help the coordinator, is for secure sums and for shares of noise alike. */
tacit_status study_check_sums(reading *r) {
    const tacit_plan *plan = &r->study->plan;
    size_t minimum;
    TACIT_TRY(choose_exchange(r));
    if (plan->sums == TACIT_SUMS_CLEAR && tacit_plan_shares_noise(plan))
        return tacit_yaml_fail(&r->yaml, study_node(r, "sum"), r->error,
                               "sum: clear would show the coordinator contributions with a share of the "
                               "noise only (noise: shares): choose sum: masked or paillier");
    if (plan->sums == TACIT_SUMS_CLEAR) return TACIT_OK;
    const yaml_node_t *node =
        study_node(r, "dropouts") != NULL ? study_node(r, "dropouts") : study_node(r, "colluders");
    return study_fail_at(r, node, tacit_secure_minimum(&minimum, plan, r->error));
}

/* ---- rows that are expected in the sums ---- */

tacit_status study_read_expected_rows(reading *r, const yaml_node_t *node) {
    tacit_study *study = r->study;
    tacit_plan *plan = &study->plan;
    double value = 0, least = (double)study->first_parties * (double)plan->minimum_rows;
    if (node == NULL) return TACIT_OK;
    TACIT_TRY(tacit_yaml_number(&r->yaml, node, "expected_rows", &value, r->error));
    if (!(value >= 1 && value <= 1e12) || value != floor(value))
        return tacit_yaml_fail(&r->yaml, node, r->error,
                               "expected_rows must be a whole number from 1 to 1e12, not %g", value);
    if (value < least)
        return tacit_yaml_fail(&r->yaml, node, r->error,
                               "expected_rows counts the rows of all parties together, and %zu parties of at "
                               "least %zu rows have %.0f: %.0f is fewer",
                               study->first_parties, plan->minimum_rows, least, value);
    study->expected_rows = (size_t)value;
    plan->expected_rows = (size_t)(value * (double)plan->parties / (double)study->first_parties);
    return TACIT_OK;
}

tacit_status study_print_expected_rows(const tacit_study *study, tacit_buffer *out, tacit_error *error) {
    if (study->expected_rows == 0) return TACIT_OK;
    return tacit_buffer_print(out, error, "expected_rows: %zu\n", study->expected_rows);
}

/* ---- neighbours ---- */

/* A method without a center has every party as a node, and gives the coordinator no weights but in a masked
 * sum. */
tacit_status study_check_neighbours(reading *r) {
    const tacit_plan *plan = &r->study->plan;
    enum {
        MOST_NODES = 1000
    }; /* whoever reads the definition makes the graph, and a random one up to a hundred times */
    if (plan->method->schedule == NULL) return TACIT_OK;
    if (plan->parties > MOST_NODES)
        return tacit_yaml_fail(&r->yaml, study_node(r, "parties"), r->error,
                               "method %s has no center: a study of it has at most %d parties",
                               plan->method->name, MOST_NODES);
    if (plan->minimum_parties != plan->parties)
        return tacit_yaml_fail(&r->yaml, study_node(r, "parties"), r->error,
                               "method %s has no center, and each party is a node of its graph: leave out "
                               "'minimum', or make it %zu",
                               plan->method->name, plan->parties);
    if (plan->sums != TACIT_SUMS_MASKED)
        return tacit_yaml_fail(
            &r->yaml, study_node(r, "sum"), r->error,
            "method %s has no center, and its last sum is masked: with 'sum: clear' the coordinator would "
            "see every party's weights, and with 'sum: paillier' a party would be the center; leave it out",
            plan->method->name);
    return TACIT_OK;
}

/* The graph of a file becomes part of the definition, edge by edge: parties find their neighbours there and
 * nowhere else. */
#ifdef TACIT_WITHOUT_NEIGHBOURS
tacit_status study_read_graph(reading *r) {
    (void)r; /* no method has a graph */
    return TACIT_OK;
}
#else
tacit_status study_read_graph(reading *r) {
    tacit_plan *plan = &r->study->plan;
    tacit_topology_plan about, file;
    tacit_topology *graph = NULL;
    tacit_round_schedule *schedule = NULL;
    tacit_buffer text = TACIT_BUFFER_INIT;
    char path[PATH_MAX];
    tacit_status status;
    if (plan->method->schedule == NULL) return TACIT_OK;
    TACIT_CHECK(tacit_topology_plan_parse(&about, tacit_neighbour_settings_of(plan)->graph, r->error));
    if (about.kind == TACIT_TOPOLOGY_FILE) {
        TACIT_CHECK(study_find_file(r, study_node(r, "set"), about.path, path));
        file = (tacit_topology_plan){ .kind = TACIT_TOPOLOGY_FILE, .path = path };
        TACIT_CHECK(tacit_topology_make(&graph, &file, plan->parties, NULL, r->error));
        TACIT_CHECK(tacit_buffer_print(&text, r->error, "edges:"));
        TACIT_CHECK(tacit_topology_print(graph, &text, r->error));
        if (text.length >= TACIT_SETTING_SIZE)
            TACIT_CHECK(tacit_fail(
                r->error, TACIT_USAGE,
                "the graph in %s has %zu edges, too many for a definition: choose one of the families", path,
                graph->edges));
        TACIT_CHECK(tacit_plan_set(plan, "graph", tacit_buffer_text(&text), r->error));
    }
    /* a graph that cannot be made is found here */
    TACIT_CHECK(plan->method->schedule(&schedule, plan, r->error));
cleanup:
    tacit_round_schedule_free(schedule);
    tacit_topology_free(graph);
    tacit_buffer_clear(&text);
    return status == TACIT_OK ? TACIT_OK : tacit_fail_in(r->error, status, "%s", r->yaml.name);
}
#endif
