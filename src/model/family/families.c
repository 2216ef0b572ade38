/* The table of families, and what follows from any of its entries. */
#include <math.h>
#include <string.h>

#include "model/family/family.h"

#define ENTRY(name) &tacit_family_##name,
static const tacit_family *const families[] = { TACIT_FAMILIES(ENTRY) NULL };

const tacit_family *tacit_family_at(size_t place) { return families[place]; }

void tacit_family_measure_classes(const tacit_family_sums *at, tacit_family_fit *out) {
    out->deviance = 2 * at->objective;
    out->null_deviance = 2 * at->terms[2];
    out->aic = out->deviance + 2 * at->coefficients;
    out->dispersion = 1;
}

const tacit_family *tacit_family_find(const char *name) {
    for (size_t i = 0; families[i] != NULL; i++)
        if (strcmp(families[i]->name, name) == 0) return families[i];
    for (size_t i = 0; families[i] != NULL; i++)
        if (families[i]->r_family != NULL && strcmp(families[i]->r_family, name) == 0) return families[i];
    return NULL;
}

const tacit_family *tacit_family_of(tacit_response response, size_t classes) {
    const tacit_family *found = NULL;
    for (size_t i = 0; families[i] != NULL && found == NULL; i++)
        if (families[i]->response == response && families[i]->likelihood &&
            tacit_family_takes(families[i], classes))
            found = families[i];
    return found;
}

const tacit_family *tacit_family_for(size_t classes) {
    return tacit_family_of(TACIT_RESPONSE_CLASS, classes > 2 ? classes : 2);
}

bool tacit_family_takes(const tacit_family *family, size_t classes) {
    if (!family->loss.of_classes) return classes == 0;
    return tacit_family_has_scores(family) ? classes >= 2 : classes == 2;
}

const char *tacit_family_classes(const tacit_family *family) {
    if (!family->loss.of_classes) return "no";
    return tacit_family_has_scores(family) ? "two or more" : "two";
}

void tacit_family_terms(const tacit_family *family, const double *y, double out[TACIT_FAMILY_TERMS]) {
    out[0] = y[0];
    out[1] = y[0] * y[0];
    out[2] = 0;
    if (family->terms != NULL) family->terms(y, out);
}

double tacit_family_slope(const tacit_family *family, double shape, const double *y, double t) {
    double loss, slope, curvature;
    family->loss.rows(tacit_kernels_choose(), tacit_loss_shape(&family->loss, shape), 1, y, &t, &loss, &slope,
                      &curvature);
    return slope;
}

double tacit_family_residual(const tacit_family *family, tacit_residual kind, const double *y, double mean) {
    switch (kind) {
    case TACIT_RESIDUAL_RESPONSE: break;
    case TACIT_RESIDUAL_PEARSON: return (*y - mean) / sqrt(family->variance(mean));
    case TACIT_RESIDUAL_DEVIANCE: return copysign(sqrt(fmax(0, family->deviance(y, mean))), *y - mean);
    }
    return *y - mean;
}
