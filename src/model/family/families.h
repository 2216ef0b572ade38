/* The table of families: a line here and the file NAME.c beside it, which the build finds by it, make a
 * family (family.h). Where several fit, the first is used. */
#pragma once

/* One score a row: these can also be estimated from sums over rows (method estimate). */
#define TACIT_ROW_FAMILIES(F)                                                                                \
    F(logistic)                                                                                              \
    F(linear)                                                                                                \
    F(poisson)                                                                                               \
    F(huber)

/* A score a class. */
#define TACIT_CLASS_FAMILIES(F)                                                                              \
    F(softmax)                                                                                               \
    F(ordinal)

/* A hazard a row, relative to a baseline that stays open: fitted by who is at risk (method cox). */
#define TACIT_HAZARD_FAMILIES(F) F(hazard)

#define TACIT_FAMILIES(F) TACIT_ROW_FAMILIES(F) TACIT_CLASS_FAMILIES(F) TACIT_HAZARD_FAMILIES(F)

/* "|logistic|linear|...": for the choices of a setting. */
#define TACIT_FAMILY_CHOICE(name) "|" #name
