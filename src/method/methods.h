/* The table of methods: one line a method. */
#pragma once

#include "session/method.h"

#define TACIT_METHODS(X)                                                                                     \
    X(batch)                                                                                                 \
    X(indiv)                                                                                                 \
    X(avg)                                                                                                   \
    X(output)                                                                                                \
    X(plr)                                                                                                   \
    X(gop)                                                                                                   \
    X(pst_s)                                                                                                 \
    X(pst_f)                                                                                                 \
    X(pst_h)                                                                                                 \
    X(vote)                                                                                                  \
    X(soft)                                                                                                  \
    X(soft_stat)                                                                                             \
    X(pate)                                                                                                  \
    X(dpnewton)                                                                                              \
    X(dpgd)                                                                                                  \
    X(psgd)                                                                                                  \
    X(dpiw)                                                                                                  \
    X(dphtl)                                                                                                 \
    X(dpsgd)                                                                                                 \
    X(dpstgd)                                                                                                \
    X(estimate)                                                                                              \
    X(histogram)                                                                                             \
    X(consensus)                                                                                             \
    X(gossip)                                                                                                \
    X(extra)                                                                                                 \
    X(newton)                                                                                                \
    X(privlogit_hessian)                                                                                     \
    X(privlogit_local)

#define TACIT_METHOD_DECLARE(name) extern const tacit_method tacit_method_##name;
TACIT_METHODS(TACIT_METHOD_DECLARE)
#undef TACIT_METHOD_DECLARE

/* All methods, ending with NULL. */
extern const tacit_method *const tacit_methods[];

/* By name; NULL when there is none so called. */
const tacit_method *tacit_method_find(const char *name);

/* The same, with a sentence that lists the methods there are (TACIT_USAGE). */
tacit_status tacit_method_require(const tacit_method **out, const char *name, tacit_error *error);
