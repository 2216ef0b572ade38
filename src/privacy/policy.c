#include "privacy/policy.h"

#include <string.h>

tacit_policy tacit_policy_default(void) { return (tacit_policy){ .minimum_rows = 10, .minimum_parties = 2 }; }

tacit_policy tacit_policy_none(void) {
    return (tacit_policy){ .allow_entrusted = true, .allow_neighbours = true, .allow_site = true };
}

static bool method_allowed(const tacit_policy *policy, const char *method) {
    if (policy->method_count == 0) return true;
    for (size_t i = 0; i < policy->method_count; i++)
        if (strcmp(policy->methods[i], method) == 0) return true;
    return false;
}

/* Written so that a NaN rule refuses. */
static bool parameters_allowed(const tacit_policy *policy, const tacit_release *release) {
    if (policy->most_parameters_per_row == 0) return true;
    return (double)release->parameters <= policy->most_parameters_per_row * (double)release->rows;
}

tacit_status tacit_policy_check(const tacit_policy *policy, const tacit_release *release,
                                tacit_error *error) {
    if (!method_allowed(policy, release->method))
        return tacit_fail(
            error, TACIT_REFUSED,
            "method %s is not among those the owner allows: the owner can add it (tacit rules set --methods)",
            release->method);
    if (release->without_center && !policy->allow_neighbours)
        return tacit_fail(error, TACIT_REFUSED,
                          "study %s has no center: neighbours would see what method %s makes of the rows, "
                          "exactly, which the owner's rules do not allow: join with the option "
                          "'allow-neighbours', or ask for a method with a center",
                          release->study, release->method);
    if (release->of_one_site && !policy->allow_site)
        return tacit_fail(
            error, TACIT_REFUSED,
            "study %s publishes figures of each site by itself, which the owner's rules do not "
            "allow: join with the option 'allow-site', or ask for a study of all sites together",
            release->study);
    if (release->kind == TACIT_RELEASE_ENTRUSTED && !release->without_center && !policy->allow_entrusted)
        return tacit_fail(error, TACIT_REFUSED,
                          "study %s would entrust values in clear to coordinator %s, which the owner's rules "
                          "do not allow: choose a sealed method, or let the owner allow entrusting",
                          release->study, release->coordinator);
    if (release->rows < policy->minimum_rows)
        return tacit_fail(error, TACIT_REFUSED,
                          "the answer rests on %llu rows, fewer than the owner's minimum of %llu: add rows, "
                          "or let the owner lower the minimum (tacit rules set --minimum-rows)",
                          (unsigned long long)release->rows, (unsigned long long)policy->minimum_rows);
    if (release->parties_minimum < policy->minimum_parties)
        return tacit_fail(
            error, TACIT_REFUSED,
            "study %s opens results from %llu parties, fewer than the owner's minimum of %llu: raise the "
            "study's minimum, or let the owner lower the rule (tacit rules set --minimum-parties)",
            release->study, (unsigned long long)release->parties_minimum,
            (unsigned long long)policy->minimum_parties);
    if (!parameters_allowed(policy, release))
        return tacit_fail(
            error, TACIT_REFUSED,
            "the answer holds %llu numbers from %llu rows, more than the owner's %g per row: choose a "
            "smaller model or fewer auxiliary points, add rows, or let the owner raise the ratio",
            (unsigned long long)release->parameters, (unsigned long long)release->rows,
            policy->most_parameters_per_row);
    return TACIT_OK;
}
