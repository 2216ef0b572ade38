/* The table of methods: one line a method. */
#pragma once

#include "session/method.h"

#define TACIT_ALL_METHODS(X)                                                                                 \
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
    X(dptree)                                                                                                \
    X(psgd)                                                                                                  \
    X(dpiw)                                                                                                  \
    X(dphtl)                                                                                                 \
    X(dpsgd)                                                                                                 \
    X(dpstgd)                                                                                                \
    X(estimate)                                                                                              \
    X(meta)                                                                                                  \
    X(mixed)                                                                                                 \
    X(cox)                                                                                                   \
    X(dpcox)                                                                                                 \
    X(survival)                                                                                              \
    X(survival_exact)                                                                                        \
    X(describe)                                                                                              \
    X(describe_exact)                                                                                        \
    X(evaluate)                                                                                              \
    X(evaluate_exact)                                                                                        \
    X(histogram)                                                                                             \
    X(consensus)                                                                                             \
    X(gossip)                                                                                                \
    X(extra)                                                                                                 \
    X(newton)                                                                                                \
    X(privlogit_hessian)                                                                                     \
    X(privlogit_local)                                                                                       \
    X(cox_servers)

/* A library for parties has those that it was built with (-Dparty_methods). */
#ifdef TACIT_PARTY_ONLY
#include "method/party_methods.h"
#else
#define TACIT_METHODS(X) TACIT_ALL_METHODS(X)
#endif

#define TACIT_METHOD_DECLARE(name) extern const tacit_method tacit_method_##name;
TACIT_ALL_METHODS(TACIT_METHOD_DECLARE)
#undef TACIT_METHOD_DECLARE

/* All methods, ending with NULL. */
extern const tacit_method *const tacit_methods[];

/* By name; NULL when there is none so called. */
const tacit_method *tacit_method_find(const char *name);

/* The same, with a sentence that lists the methods there are (TACIT_USAGE). */
tacit_status tacit_method_require(const tacit_method **out, const char *name, tacit_error *error);

/* TACIT_USAGE where the plan's method does not take its label, with a sentence that says what kinds of labels
 * which methods and families take; or other things that its schema wants, with the methods that do. */
tacit_status tacit_methods_check(const tacit_plan *plan, tacit_error *error);
tacit_status tacit_methods_check_label(const tacit_plan *plan, tacit_error *error);

/*
 * Names of the methods with a trait, in the order of the table, as people list them: "a, b or c" with the
 * word `last` before the last one, or commas only (NULL). NULL: no such trait. Traits are in methods.c.
 */
enum { TACIT_METHODS_TEXT = 600 };
const char *tacit_methods_with(const char *trait, const char *last, char out[TACIT_METHODS_TEXT]);

/* A name among others of such a list: "a", then ", b", and " or c" for the last of `count`. */
void tacit_methods_append(char out[TACIT_METHODS_TEXT], size_t i, size_t count, const char *last,
                          const char *name);
