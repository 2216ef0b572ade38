/*
 * Yao et al. 2019, section 4.1 and figures 1 to 4 on NEWS20: articles of the newsgroups sci.* against talk.*.
 * Words and their weights come from the articles of all other newsgroups, which take no part and count as
 * public.
 */
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "data/schema/vocabulary.h"
#include "data/source/documents.h"
#include "lab/reproduce/reproduce_yao.h"

/* ---- the rows ---- */

static const tacit_data_file files[] = {
    { "news20/20news-bydate.tar", "18,846 articles in 20 newsgroups" },
    { NULL, NULL },
};
static const tacit_term_limits limits = { .lowest = 0.002, .highest = 0.5, .most = 1500 };

/* 1 for sci, 0 for talk, -1 for the other groups. */
static int32_t class_of(const char *folder) {
    if (strncmp(folder, "sci.", 4) == 0) return 1;
    return strncmp(folder, "talk.", 5) == 0 ? 0 : -1;
}

typedef tacit_status article_function(void *context, const tacit_document *article, tacit_error *error);

static tacit_status each_article(const tacit_reading_context *context, article_function *function,
                                 void *state, tacit_error *error) {
    char path[PATH_MAX];
    tacit_documents *documents = NULL;
    tacit_document article;
    tacit_status status;
    TACIT_CHECK(tacit_data_find(path, sizeof path, context->folder, &files[0], error));
    TACIT_CHECK(tacit_documents_open(&documents, path, error));
    for (;;) {
        TACIT_CHECK(tacit_documents_next(documents, &article, error));
        if (article.path == NULL) break;
        TACIT_CHECK(function(state, &article, error));
        if (tacit_progress_cancelled(context->progress))
            TACIT_CHECK(tacit_fail(error, TACIT_CANCELLED, "reading %s was cancelled", files[0].name));
    }
cleanup:
    tacit_documents_free(documents);
    return status;
}

static tacit_status learn_words(void *state, const tacit_document *article, tacit_error *error) {
    if (class_of(article->folder) >= 0) return TACIT_OK;
    return tacit_terms_add(state, article->text, article->length, error);
}

typedef struct encoding {
    tacit_vocabulary vocabulary;
    tacit_bag bag;
    tacit_row_builder builder;
} encoding;

static tacit_status encode_article(void *state, const tacit_document *article, tacit_error *error) {
    encoding *self = state;
    int32_t class = class_of(article->folder);
    if (class < 0) return TACIT_OK;
    TACIT_TRY(tacit_vocabulary_encode(&self->vocabulary, article->text, article->length, &self->bag, error));
    for (size_t e = 0; e < self->bag.count; e++)
        TACIT_TRY(tacit_row_builder_entry(&self->builder, self->bag.feature[e], self->bag.value[e], error));
    return tacit_row_builder_end_row(&self->builder, class, error);
}

static tacit_status read_articles(tacit_material *out, const tacit_reading_context *context,
                                  tacit_error *error) {
    static const char *const classes[] = { "talk", "sci" };
    encoding self = { TACIT_VOCABULARY_INIT, TACIT_BAG_INIT, TACIT_ROW_BUILDER_INIT };
    tacit_terms *terms = NULL;
    tacit_status status;
    TACIT_CHECK(tacit_terms_create(&terms, 1, context->strip, error));
    TACIT_CHECK(each_article(context, learn_words, terms, error));
    TACIT_CHECK(tacit_terms_choose(terms, &limits, &self.vocabulary, error));
    TACIT_CHECK(each_article(context, encode_article, &self, error));
    TACIT_CHECK(tacit_row_builder_finish(&out->train, &self.builder, tacit_vocabulary_size(&self.vocabulary),
                                         classes, 2, error));
cleanup:
    tacit_terms_free(terms);
    tacit_vocabulary_clear(&self.vocabulary);
    tacit_bag_clear(&self.bag);
    tacit_row_builder_clear(&self.builder);
    return status;
}

/* ---- figures 1 to 3 ---- */

#define NEWS_NOTE                                                                                            \
    "Articles without header, quotations and signature become tf-idf of 1,500 words; words and idf come "    \
    "from the other newsgroups, "                                                                            \
    "components and importances from 2,000 other articles of sci and talk that count as public: the whole "  \
    "is private as charged. The paper "                                                                      \
    "takes components and importances from the training rows. "

#define NEWS                                                                                                 \
    .paper = "Yao et al. 2019", .source = "qwone.com/~jason/20Newsgroups (bydate)", .files = files,          \
    .rows_each = 4321, .auxiliary_rows = 2000, .held_out_rows = 643, .dimensions = 100,                      \
    .scale = TACIT_ROWS_NORMALISED, .reads_texts = true, .shows_auc = true, .measures = "AUC",               \
    .quick = { 2, 1, 0 }, .full = { 10, 1, 0 }, .read = read_articles

static const tacit_setup whole[] = { { "NEWS20, sci and talk", NULL, 1, "even" } };
static const double one[] = { 1 };

const tacit_experiment tacit_experiment_yao_fig1_news = {
    NEWS,
    TACIT_YAO_CLAIMS(tacit_yao_epsilon_claims),
    .id = "yao-fig1-news",
    .figure = "figure 1 (NEWS20)",
    .title = "Stacking against plr over epsilon: 4,321 articles, 100 features, K = 5",
    .differs =
        NEWS_NOTE "Each curve says its lambda; the paper tunes it on training rows and does not print it.",
    .says = "PST-F(W) is best, then PST-F(U); both have better AUC than PST-S and PLR; PST-S can be inferior "
            "to PLR.",
    .run = tacit_yao_run,
    .curves = tacit_yao_by_epsilon,
    .setups = whole,
    .setup_count = 1,
    .epsilons = tacit_yao_epsilons,
    .epsilon_count = TACIT_YAO_EPSILONS,
};

const tacit_experiment tacit_experiment_yao_fig2_news = {
    NEWS,
    TACIT_YAO_CLAIMS(tacit_yao_group_claims),
    .id = "yao-fig2-news",
    .figure = "figure 2 (NEWS20)",
    .title = "The number of groups K, epsilon = 1",
    .differs = NEWS_NOTE "K = 1 is plr on all rows.",
    .says = "With very small K ensemble learning is not effective; with K too large feature correlation is "
            "lost and the AUC falls.",
    .by_setup = true,
    .run = tacit_yao_run,
    .curves = tacit_yao_by_groups,
    .setups = tacit_yao_groups,
    .adjustments = tacit_yao_with_groups,
    .setup_count = TACIT_YAO_STEPS,
    .epsilons = one,
    .epsilon_count = 1,
};

const tacit_experiment tacit_experiment_yao_fig3_news = {
    NEWS,
    TACIT_YAO_CLAIMS(tacit_yao_power_claims),
    .id = "yao-fig3-news",
    .figure = "figure 3 (NEWS20)",
    .title = "Right and wrong importances, epsilon = 1, K = 5: below 1 the leading components count more, "
             "above 1 less",
    .differs = NEWS_NOTE "PST-F(U) does not depend on alpha.",
    .says = "With properly assigned weights (alpha < 1) the AUC is higher; if less important features are "
            "more valued it falls and may not be better than PST-F(U).",
    .by_setup = true,
    .run = tacit_yao_run,
    .curves = tacit_yao_by_power,
    .setups = tacit_yao_powers,
    .adjustments = tacit_yao_with_powers,
    .setup_count = TACIT_YAO_STEPS,
    .epsilons = one,
    .epsilon_count = 1,
};

/* ---- figure 4: members and combiners, all of one private stack ---- */

enum { MEMBERS = 5 };

static const tacit_variant by_combiner[] = {
    YAO_STACK("pst-f", "C-hl", 0.01, YAO_SCALED, YAO_WEIGHTED),
    YAO_STACK("pst-f", "C-wmv", 0.01, YAO_SCALED, YAO_WEIGHTED),
    YAO_STACK("pst-f", "C-mv", 0.01, YAO_SCALED, YAO_WEIGHTED),
    YAO_STACK("pst-f", "C-0", 0.01, YAO_SCALED, YAO_WEIGHTED),
    YAO_STACK("pst-f", "C-1", 0.01, YAO_SCALED, YAO_WEIGHTED),
    YAO_STACK("pst-f", "C-2", 0.01, YAO_SCALED, YAO_WEIGHTED),
    YAO_STACK("pst-f", "C-3", 0.01, YAO_SCALED, YAO_WEIGHTED),
    YAO_STACK("pst-f", "C-4", 0.01, YAO_SCALED, YAO_WEIGHTED),
    { .method = NULL },
};

/* The AUC of the stack by itself, by votes, or of one member: curve c of the list. A member is a stack of
 * one, whose weight of 1 in the high model leaves the order of its margins. */
static tacit_status measure_curve(const tacit_simulation *simulation, const tacit_model *model, size_t c,
                                  tacit_metrics *out, tacit_error *error) {
    static const tacit_combiner rules[] = { TACIT_COMBINE_HIGH, TACIT_COMBINE_WEIGHTED,
                                            TACIT_COMBINE_MAJORITY };
    tacit_stack view = *model->stack;
    tacit_model shown = *model;
    shown.stack = &view;
    if (c < 3) view.combiner = rules[c];
    double *weights = NULL;
    size_t start[2] = { 0, 0 };
    if (c >= 3) {
        size_t k = c - 3, first = model->stack->start[k];
        start[1] = model->stack->start[k + 1] - first;
        weights = TACIT_NEW(double, start[1] + 1);
        if (weights == NULL) return tacit_fail_memory(error);
        memcpy(weights, model->weights + first, start[1] * sizeof *weights);
        weights[start[1]] = 1;
        view.members = 1;
        view.start = start;
        view.column = model->stack->column + first;
        view.scale = model->stack->scale + k;
        shown.weights = weights;
    }
    tacit_status status = tacit_model_evaluate(&shown, &simulation->test, simulation->pool, out, error);
    free(weights);
    return status;
}

static tacit_status run_combiners(const tacit_simulation *simulation, const tacit_setup *setup,
                                  tacit_run *runs, tacit_error *error) {
    tacit_simulation stacked = *simulation;
    tacit_model *model = NULL;
    tacit_run run;
    tacit_status status;
    (void)setup;
    stacked.method_count = 1;
    stacked.trials = 1;
    TACIT_CHECK(tacit_simulate(&stacked, &run, &model, error));
    if (model->stack == NULL || model->stack->members != MEMBERS)
        TACIT_CHECK(tacit_fail(error, TACIT_INTERNAL, "figure 4 needs a stack of %d", (int)MEMBERS));
    for (size_t c = 0; c < simulation->method_count; c++) {
        tacit_metrics metrics;
        TACIT_CHECK(measure_curve(simulation, model, c, &metrics, error));
        runs[c] = run;
        runs[c].auc = (tacit_spread){ metrics.auc, 0 };
    }
cleanup:
    tacit_model_free(model);
    return status;
}

#define AT_MOST(text, better, worse, ...)                                                                    \
    { .says = text, .above = { better, 0, NULL, 0 }, .below = { worse, 0, NULL, 0 }, __VA_ARGS__ }
static const tacit_claim combiner_claims[] = {
    AT_MOST("C-0 has the best performance of all single models (C-1)", "C-0", "C-1", .why = NULL),
    AT_MOST("C-0 has the best performance of all single models (C-4)", "C-0", "C-4", .why = NULL),
    AT_MOST("the high-level model combines better than a majority", "C-hl", "C-mv", .why = NULL),
    AT_MOST("the high-level model combines better than a weighted majority", "C-hl", "C-wmv", .why = NULL),
    AT_MOST("the high-level model is better than the best member", "C-hl", "C-0",
            .why = "the other members are near .5, so that there is nothing to combine: both are level"),
};

const tacit_experiment tacit_experiment_yao_fig4 = {
    NEWS,
    TACIT_YAO_CLAIMS(combiner_claims),
    .id = "yao-fig4",
    .figure = "figure 4 (NEWS20)",
    .title = "Members of PST-F(W) alone and combined, epsilon = 1, K = 5, lambda = .01",
    .differs = NEWS_NOTE
    "C-0 to C-4 are the members alone, C-mv and C-wmv their (weighted) majority, C-hl the high-level model.",
    .says = "C-0 has the best performance of all single low-level models, as it contains the most important "
            "features; C-hl is the best way to combine them and better than any of them.",
    .curves = by_combiner,
    .setups = whole,
    .setup_count = 1,
    .epsilons = one,
    .epsilon_count = 1,
    .run = run_combiners,
};
