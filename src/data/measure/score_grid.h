/*
 * How good scores are, from counts alone: how many rows of either class have a score in each cell of a public
 * grid of [0, 1]. Whoever has rows can count them; counts of several add up; so everything here can be found
 * from a sum, or from a sum with noise in it.
 *
 * A row whose score is p lies in cell floor(p C) of C (the last one at p = 1) and counts as if its score were
 * the cell's middle, (i + 1/2)/C. All results are those of the rows with their scores moved there, which is
 * 1/(2C) at most; ties count half, as in data/measure/metrics.h. A threshold lies on an edge between cells,
 * so what is at or above it is the same before and after.
 *
 * Counts with noise. `noise` is the standard deviation of independent noise of mean 0 in every count. Counts
 * are then used as they come, below 0 too: sums of them, and products of a count of positives with one of
 * negatives, have the right mean, which counts set to 0 have not. To each result belong two standard errors,
 * one from the rows, as they are drawn from a population, and one from the noise, both by the delta method.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

enum { TACIT_SCORE_CELLS = 1000, TACIT_SCORE_CELLS_MOST = 10000 };

/* Borrowed. */
typedef struct tacit_score_grid {
    size_t cells;
    const double *positives, *negatives; /* counts of each cell */
    double noise;                        /* of each count; 0: they are exact */
} tacit_score_grid;

/* The cell of a score; beyond [0, 1] the nearest. A score must be a number. */
size_t tacit_score_cell(double score, size_t cells);

/* The middle of a cell, which its rows' scores count as. */
double tacit_score_middle(size_t cell, size_t cells);

/* A number with its two standard errors and the interval that both make, cut to where the number can be; all
 * NaN where it is not defined. */
typedef struct tacit_figure {
    double value, error, noise, low, high;
} tacit_figure;

/* From a value with its errors: cut to [least, most], the value too, which noise can carry beyond. */
tacit_figure tacit_figure_of(double value, double error, double noise, double confidence, double least,
                             double most);

/* What one threshold does: a row counts as positive whose score is at or above it. Net benefit is that of
 * Vickers and Elkin 2006, TP/n - FP/n t/(1 - t); `treat_all` is that of calling everybody positive. */
typedef struct tacit_threshold_figures {
    double threshold;
    tacit_figure sensitivity, specificity, ppv, npv, accuracy, flagged, net_benefit, treat_all;
} tacit_threshold_figures;

/* A group of rows of neighbouring scores: cells from..until-1. */
typedef struct tacit_calibration_group {
    size_t from, until;
    double rows;
    tacit_figure predicted, observed; /* means of the score and of the outcome */
} tacit_calibration_group;

/* The curve from (0, 0) to (1, 1), from the highest threshold down. */
typedef struct tacit_curve_point {
    double threshold, sensitivity, false_positives; /* shares of the positive and the negative rows */
} tacit_curve_point;

enum { TACIT_THRESHOLDS_MOST = 99, TACIT_CALIBRATION_GROUPS_MOST = 100, TACIT_CURVE_MOST = 51 };

typedef struct tacit_score_figures {
    size_t cells;
    double confidence;
    tacit_figure rows, prevalence;
    tacit_figure auc; /* DeLong's error */
    double auc_grid;  /* by how much the area of the scores themselves can differ from it */
    tacit_figure brier, log_loss;
    double brier_grid; /* likewise */
    /* y on logit p: of a calibrated score the slope is 1, and the intercept at slope 1 is 0. */
    tacit_figure slope, intercept, in_the_large;
    size_t threshold_count, group_count, point_count;
    tacit_threshold_figures threshold[TACIT_THRESHOLDS_MOST];
    tacit_calibration_group group[TACIT_CALIBRATION_GROUPS_MOST];
    tacit_curve_point point[TACIT_CURVE_MOST];
} tacit_score_figures;

typedef struct tacit_score_wishes {
    double confidence;        /* of intervals */
    const double *thresholds; /* each is moved to the nearest edge between cells */
    size_t threshold_count;   /* at most TACIT_THRESHOLDS_MOST */
    size_t groups;            /* of the calibration curve, at most TACIT_CALIBRATION_GROUPS_MOST */
    double least;             /* rows in a group of the curves: smaller ones are joined with the next */
} tacit_score_wishes;

/* .05, .1, .2, ... .9, ten groups and 95%. */
tacit_score_wishes tacit_score_wishes_usual(void);

/* Into *out; TACIT_INPUT for counts that are not numbers, or exact ones below 0; TACIT_USAGE for wishes
 * beyond the limits. What is not defined, such as an area with one class only, is NaN. */
tacit_status tacit_score_figures_make(tacit_score_figures *out, const tacit_score_grid *grid,
                                      const tacit_score_wishes *wishes, tacit_error *error);

/* Several grids of the same rows and cells, one a class, the class's rows being its positives: mean -log of
 * the probability of the own class, and mean over rows of the sum of squared differences. `noise` of all is
 * that of the first. */
tacit_status tacit_score_figures_classes(tacit_figure *brier, tacit_figure *log_loss,
                                         const tacit_score_grid *grid, size_t classes, double confidence,
                                         tacit_error *error);
