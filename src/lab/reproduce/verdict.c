#include "lab/reproduce/verdict.h"

#include <math.h>
#include <string.h>

const char *tacit_paper_verdict_text(tacit_paper_verdict verdict) {
    static const char *const texts[] = { "",      "not run",      "as printed", "better", "not reproducible",
                                         "holds", "does not hold" };
    return texts[verdict];
}

/* ---- printed numbers ---- */

static const double SHARE_APART = 0.02, SHARE_APART_AT_MOST = 0.05, DIGIT = 0.005;

tacit_paper_verdict tacit_finding_verdict(const tacit_experiment *experiment, const tacit_finding *finding) {
    if (isnan(finding->printed)) return TACIT_PAPER_NONE;
    if (finding->trials == 0 || isnan(finding->mean)) return TACIT_PAPER_NOT_RUN;
    bool is_share = !experiment->own_rows && !experiment->is_unbounded;
    double apart = is_share ? SHARE_APART : DIGIT * fmax(1, fabs(finding->printed));
    if (finding->trials > 1) apart = fmax(apart, 2 * finding->sd);
    if (is_share) apart = fmin(apart, SHARE_APART_AT_MOST);
    double gain = finding->mean - finding->printed;
    if (experiment->shows_errors || experiment->less_is_better) gain = -gain;
    if (fabs(gain) <= apart) return TACIT_PAPER_PRINTED;
    return gain > 0 ? TACIT_PAPER_BETTER : TACIT_PAPER_OTHERWISE;
}

/* ---- claims ---- */

/* What the figure shows of a finding: for rounds of methods without a center how far the last is from the
 * optimum. */
static double shown(const tacit_reproduction *result, const tacit_finding *finding) {
    if (!result->experiment->by_round) return finding->mean;
    double last = NAN;
    for (size_t i = 0; i < result->trace.count; i++)
        if (strcmp(result->trace.points[i].curve, finding->curve) == 0)
            last = result->trace.points[i].distance;
    return last;
}

static bool is_named(const tacit_reproduction *result, size_t setup, const char *name) {
    return strcmp(tacit_setup_name(&result->experiment->setups[setup]), name) == 0;
}

/* A side's number in this setup at this epsilon, unless it has its own, without `plus`; NaN: not run. */
static double side_value(const tacit_reproduction *result, const tacit_claim_side *side, size_t setup,
                         double epsilon) {
    if (side->curve == NULL) return side->plus;
    double wanted = side->epsilon > 0 ? side->epsilon : epsilon;
    for (size_t i = 0; i < result->count; i++) {
        const tacit_finding *one = &result->findings[i];
        bool fits = side->setup != NULL ? is_named(result, one->setup, side->setup) : one->setup == setup;
        if (one->trials == 0 || !fits || strcmp(one->curve, side->curve) != 0) continue;
        if (one->is_alone || one->epsilon == wanted) return shown(result, one);
    }
    return NAN;
}

static double added(const tacit_claim_side *side) { return side->curve == NULL ? 0 : side->plus; }

static void count_case(tacit_claim_outcome *out, const tacit_claim *claim, double above, double below) {
    if (isnan(above) || isnan(below)) return;
    bool holds = above + added(&claim->above) >= below + added(&claim->below),
         first_against = !holds && out->held == out->cases;
    if (out->cases == 0 || first_against) {
        out->above = above;
        out->below = below;
    }
    out->cases++;
    out->held += holds;
}

tacit_claim_outcome tacit_claim_check(const tacit_reproduction *result, const tacit_claim *claim) {
    const tacit_experiment *experiment = result->experiment;
    tacit_claim_outcome out = { .verdict = TACIT_PAPER_NOT_RUN, .above = NAN, .below = NAN };
    const tacit_claim_side *above = &claim->above, *below = &claim->below;
    bool one_setup =
        (above->setup != NULL || above->curve == NULL) && (below->setup != NULL || below->curve == NULL);
    bool one_epsilon =
        (above->epsilon > 0 || above->curve == NULL) && (below->epsilon > 0 || below->curve == NULL);
    for (size_t s = 0; s < (one_setup ? 1 : experiment->setup_count); s++)
        for (size_t e = 0; e < (one_epsilon ? 1 : experiment->epsilon_count); e++)
            count_case(&out, claim, side_value(result, above, s, experiment->epsilons[e]),
                       side_value(result, below, s, experiment->epsilons[e]));
    if (out.cases == 0) return out;
    bool holds = claim->mostly ? 2 * out.held > out.cases : out.held == out.cases;
    if (claim->ours)
        out.verdict = holds ? TACIT_PAPER_HOLDS : TACIT_PAPER_FAILS;
    else
        out.verdict = holds ? TACIT_PAPER_PRINTED : TACIT_PAPER_OTHERWISE;
    return out;
}
