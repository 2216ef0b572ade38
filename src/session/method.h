/*
 * What a method is, as the session sees it: a coordinator's half that asks, a party's half that answers, a
 * price, and the sentences that say who learns what. src/method/ has one file a method.
 */
#pragma once

#include "data/dataset.h"
#include "data/folds.h"
#include "data/graph/round_schedule.h"
#include "data/points.h"
#include "model/model.h"
#include "privacy/mechanism/mechanism.h"
#include "session/plan/settings.h"
#include "session/wire/message.h"
#include "session/wire/question.h"

typedef struct tacit_method tacit_method;
typedef struct tacit_prepared tacit_prepared; /* prepared.h: what a method prepared from its plan */
typedef struct tacit_session tacit_session;   /* session.h: what the coordinator's half asks through */
typedef struct tacit_party tacit_party;       /* party.h: what the party's half works on */
/* center_servers.h: what each of two center servers works on */
typedef struct tacit_center_server tacit_center_server;

/* How deployed parties contribute to a sum. A simulation adds up what secure summation would give. */
typedef enum tacit_sum_way {
    TACIT_SUMS_MASKED,  /* under masks that cancel: nobody but all others together sees a contribution */
    TACIT_SUMS_CLEAR,   /* as it is: the coordinator sees every one */
    TACIT_SUMS_PAILLIER /* encrypted for one party, the key holder, which decrypts sums for the coordinator */
} tacit_sum_way;

/* "masked", "clear", "paillier". */
const char *tacit_sum_way_name(tacit_sum_way sums);

/* The values of a method's settings. */
typedef struct tacit_settings {
    /* whose they are; another than the method's, such as NULL: its defaults count */
    const tacit_parameter *table;
    _Alignas(max_align_t) unsigned char values[TACIT_SETTINGS_BYTES]; /* the method's own struct */
    /* name, NUL, text, NUL of each number not given in its shortest form */
    char spelling[TACIT_SPELLING_BYTES];
} tacit_settings;

/*
 * All that coordinator and parties agree on before a study runs: public, and the same for both halves.
 */
typedef struct tacit_plan {
    const tacit_method *method;
    char study[TACIT_ID_SIZE];
    double epsilon, delta;
    double lambda;                 /* 0 until tacit_plan_choose_lambda */
    tacit_lambda_from lambda_from; /* for people: no method reads it */
    size_t features, classes;      /* no classes: a numeric response */
    size_t parties;                /* declared for the study */
    size_t minimum_parties;        /* nothing is opened from fewer */
    tacit_sum_way sums;
    unsigned key_bits; /* of the key that sums are encrypted with; 0: 2048 */
    double dropouts,
        colluders; /* the largest fractions of the parties that vanish, or that share what they know with the
                                   coordinator, in [0, 1) */
    /* in which a masked sum is made, 1 or 2, of keys known from joining; 0: step by step */
    unsigned exchanges;
    bool complete;                        /* each party masks with every other one, however many they are */
    uint8_t center_key[TACIT_HASH_BYTES]; /* fingerprint of center server B's key; zeros: none is named */
    size_t minimum_rows; /* a party with fewer refuses: the sensitivity is declared for this many */
    /* of all parties together, as everybody expects: tunes, and guards nothing; 0: the parties times their
     * least */
    size_t expected_rows;
    const tacit_points *points; /* public auxiliary points, borrowed; NULL: none */
    const tacit_model *model;   /* a public one that the study is about, borrowed; NULL: none */
    uint64_t most_rounds; /* a method that stops early ends after this many iterations; 0: as it is set */
    double enough;        /* or where its weights hardly change any more (tacit_plan_stops); 0: never */
    const tacit_schema *schema; /* of the rows, borrowed; NULL: unknown (rows that were generated encoded) */
    tacit_settings settings;
} tacit_plan;

/* Set a parameter; TACIT_USAGE names the allowed values, or the method's parameters when there is none so
 * called. */
tacit_status tacit_plan_set(tacit_plan *plan, const char *name, const char *value, tacit_error *error);

/* The plan's settings as the struct that the method's table describes, or one that it begins with. */
#define TACIT_SETTINGS(type, plan) ((const type *)tacit_plan_settings((plan), sizeof(type)))
const void *tacit_plan_settings(const tacit_plan *plan, size_t size);

/* The text of a setting as it was given, or of its default: what is hashed and shown. */
const char *tacit_plan_print(const tacit_plan *plan, const tacit_parameter *one,
                             char out[TACIT_SETTING_SIZE]);

/* Whether a number is left to the method, which 0 then stands for. */
bool tacit_plan_leaves_open(const tacit_plan *plan, const tacit_parameter *parameter);

/* Whether two plans agree in all that methods read. Points and schemas are the same if they are one
 * object. */
bool tacit_plan_equal(const tacit_plan *a, const tacit_plan *b);

/* How many rows all parties have together, as far as public numbers say: what rounds, ridge and grids are
 * chosen for. At least 1. */
double tacit_plan_expected_rows(const tacit_plan *plan);

/* A setting law=auto|pure|gaussian: what adds the noise, auto being the Gaussian law where the study has a
 * delta. */
typedef enum tacit_law_setting { TACIT_LAW_AUTO, TACIT_LAW_PURE, TACIT_LAW_BELL } tacit_law_setting;
bool tacit_plan_gaussian(const tacit_plan *plan, tacit_law_setting law);

/* The declared fractions in whole parties: at most this many. Of four parties or more at least one colludes,
 * whatever the fraction comes to, unless it is 0. */
enum { TACIT_COLLUDER_FROM = 4 };
size_t tacit_plan_dropouts(const tacit_plan *plan);
size_t tacit_plan_colluders(const tacit_plan *plan);

/* What the coordinator hears of the parties' answers: their sums, each of them, or nothing but
 * ciphertexts. */
typedef enum tacit_hearing { TACIT_HEARS_SUMS, TACIT_HEARS_SINGLE, TACIT_HEARS_CIPHERTEXTS } tacit_hearing;
tacit_hearing tacit_plan_hearing(const tacit_plan *plan);

/* Whether figures of each party by itself are published. */
bool tacit_plan_sites_apart(const tacit_plan *plan);

/* A tacit_method.single that is always so. */
bool tacit_plan_always_single(const tacit_plan *plan);

/* Whether each party adds only a share of the noise (noise=shares), so that the guarantee rests on secure
 * summation. */
bool tacit_plan_shares_noise(const tacit_plan *plan);

/* Who adds the noise: "shares" (every party a part of it), "coordinator" or "party" (each all of its own);
 * NULL: nobody. */
const char *tacit_plan_noise_by(const tacit_plan *plan);

/* Whether a public model belongs to the plan. */
bool tacit_plan_needs_model(const tacit_plan *plan);

/* Whether plan.minimum_rows counts persons (schema.h), since the method protects them. */
bool tacit_plan_counts_persons(const tacit_plan *plan);

/* Whether the study releases, beside its model, how many values were missing and how many rows were left out;
 * perhaps: no schema says yet what becomes of them. */
typedef enum tacit_counted { TACIT_COUNTED_NOT, TACIT_COUNTED, TACIT_COUNTED_PERHAPS } tacit_counted;
tacit_counted tacit_plan_counts_missing(const tacit_plan *plan);

/* Nothing is opened from fewer: the declared minimum or, where each party adds only a share of the noise, all
 * but the declared dropouts. At least 1. */
size_t tacit_plan_survivors(const tacit_plan *plan);

/* How many shares of noise are in every sum that nobody who looks at it knows: those of the survivors but the
 * colluders. */
size_t tacit_plan_noise_shares(const tacit_plan *plan);

/*
 * Whether a method that stops early (tacit_method.stops_early) has ended after `done` iterations:
 * most_rounds, or |now - before| <= enough |now| of its weights, which are then kept as the next `before`.
 * Weights of every iteration are published to all parties, so where it ends tells nothing more and costs
 * nothing: it is post-processing. Noise is made for all rounds that are set, and ending earlier gives none of
 * it back. To be asked before a checkpoint: a half that is run again then comes to the same end.
 *
 * `before` from tacit_plan_before, to be freed: a copy of the weights, or NULL where nothing is compared.
 */
tacit_status tacit_plan_before(double **before, const tacit_plan *plan, const double *weights, size_t count,
                               tacit_error *error);
bool tacit_plan_stops(const tacit_plan *plan, uint64_t done, double *before, const double *now, size_t count);

/* TACIT_NOT_CONVERGED where the study allows no further iteration of a method that has nothing to show before
 * it converges. */
tacit_status tacit_plan_allows(const tacit_plan *plan, uint64_t done, tacit_error *error);

/* Whether the method has a parameter so called. */
bool tacit_method_takes(const tacit_method *method, const char *name);

/* Whether the label may be of that kind. */
bool tacit_method_takes_label(const tacit_method *method, tacit_response response);

/* Whether it has a choice so called with this word. */
bool tacit_method_offers(const tacit_method *method, const char *name, const char *word);

/* Give a plan whose lambda is 0 the one that its method chooses from public quantities, or 0.01, and note
 * where it is from. A yardstick that tunes it on rows keeps the 0. TACIT_USAGE for a plan that the method
 * would not accept with any. */
tacit_status tacit_plan_choose_lambda(tacit_plan *plan, tacit_error *error);

/* The choice of a method that uses none. */
tacit_status tacit_plan_no_lambda(const tacit_plan *plan, double *out, tacit_error *error);

/* Write down what a plan leaves to its method: rounds, rates and the like, which follow from its public
 * numbers. It then means the same whatever rule a later version has. */
tacit_status tacit_plan_settle(tacit_plan *plan, tacit_error *error);

/* Whether the coordinator's half chooses lambda from what was released (tacit_method.lambda_after). */
bool tacit_plan_lambda_after(const tacit_plan *plan);

/* A setting that is open, with its number. */
tacit_status tacit_plan_settle_number(tacit_plan *plan, const char *name, double value, tacit_error *error);

/* Where nothing useful can come of the plan, by its public numbers alone, the sentence that says why goes to
 * `out`; "" elsewhere. TACIT_NO_MEMORY. */
enum { TACIT_HOPELESS_SIZE = 512 };
tacit_status tacit_plan_hopeless(const tacit_plan *plan, char out[TACIT_HOPELESS_SIZE], tacit_error *error);

/* A tacit_method.hopeless for noise on weights whose norm is at most `largest` without it: hopeless
 * where the noise in the score of a row of norm 1 has a larger standard deviation than any score can have.
 * `help` says what to do instead, after "or". */
tacit_status tacit_plan_drowns(const tacit_plan *plan, double largest, const char *help,
                               char out[TACIT_HOPELESS_SIZE], tacit_error *error);

/* TACIT_USAGE unless the plan's numbers make sense and the method accepts them. */
tacit_status tacit_plan_check(const tacit_plan *plan, tacit_error *error);

/* TACIT_USAGE where the schema wants what the method does not take: an offset, weights, strata, clusters,
 * random effects, imputed values; the sentence ends with the `others` to choose instead. tacit_plan_check
 * asks this too; methods.h has the same with the names of those that would suit. */
tacit_status tacit_plan_check_wants(const tacit_plan *plan, const char *others, tacit_error *error);
bool tacit_plan_would_suit(const tacit_plan *plan, const tacit_method *other);

/* The members of an entry for a table of settings and their defaults. */
#define TACIT_SETTINGS_OF(table, usual)                                                                      \
    .parameters = (table), .defaults = &(usual), .settings_size = sizeof(usual)

/* What the party is charged, and what the paper says it costs. */
typedef struct tacit_prices {
    tacit_price charged, claimed;
    /* Of all answers that cost `charged` together: whether it fits is asked in advance. Count 0, as the
     * caller sets it: not known. */
    tacit_event event;
} tacit_prices;

/* For a yardstick without privacy: an infinite price, and values as they are. */
tacit_status tacit_nonprivate_price(const tacit_plan *plan, tacit_prepared **prepared, tacit_prices *out,
                                    tacit_error *error);
tacit_release_kind tacit_nonprivate_kind(const tacit_plan *plan);

/* The noise that buys the price. */
typedef struct tacit_noise_law {
    const char *law;      /* e.g. "gamma-norm G(d, s)" */
    const char *added_to; /* e.g. "the sum of the parties' weights" */
    size_t dimension;
    double sensitivity;  /* L2, of what it is added to */
    double scale;        /* s */
    double mean_norm;    /* of the noise in the published model, or in what `norm_in` says */
    const char *norm_in; /* NULL: the published model */
    bool in_objective; /* it tilts what is minimised: sensitivity is not that of a model, mean_norm a bound */
    bool of_fewest; /* mean_norm is that for parties with the fewest rows: those that have more make less */
} tacit_noise_law;

/* Models a method ended with. Usually one; several when the figure of interest is their mean (indiv). */
typedef struct tacit_outcome {
    tacit_model **models;
    size_t count;
    size_t parties; /* whose answers are in it */
    double lambda;  /* that was chosen on the way; 0: the plan's; NaN: models have different ones */
} tacit_outcome;

#define TACIT_OUTCOME_INIT                                                                                   \
    { NULL, 0, 0, 0 }

/* Append a model, which the outcome then owns (also on failure). */
tacit_status tacit_outcome_add(tacit_outcome *outcome, tacit_model *model, tacit_error *error);
/* Append the model whose weights are the mean of a sum of parties' weights. */
tacit_status tacit_outcome_add_mean(tacit_outcome *outcome, const tacit_plan *plan,
                                    const tacit_family *family, const double *sum, size_t parties,
                                    tacit_error *error);
void tacit_outcome_clear(tacit_outcome *outcome);

/* What a handler hands back: values, and what letting them out means. The runtime takes it through the
 * gate. */
typedef struct tacit_reply {
    tacit_release_kind kind;
    tacit_noise noise; /* of what is not in `noised`: the noise promised, for an entrusted release */
    tacit_price price;
    /* where the price comes from, for the ledger; count 0: that of `noised`, or not known */
    tacit_event event;
    const char *assumption; /* sealed only */
    tacit_message message;  /* an answer of its own */
    size_t packed; /* numbers that it holds packed into bytes; those in fields of numbers are counted */
    double *contribution; /* or, entrusted or sealed, question->sum.length numbers for a sum */
    /* or, charged or sealed, the same with noise: what its grade says, the gate is told */
    tacit_noised *noised;
} tacit_reply;

typedef tacit_status tacit_handler(tacit_party *party, const tacit_question *question, tacit_reply *reply,
                                   tacit_error *error);

/* The contributions of several parties in one process, added to `total` all at once: the same integers modulo
 * 2^64 as their handlers' answers give, sooner; rounding may decide an exact tie otherwise. */
typedef tacit_status tacit_adder(tacit_party *parties, size_t count, const tacit_question *question,
                                 uint64_t *total, tacit_error *error);

typedef struct tacit_handler_entry {
    const char *question;
    tacit_handler *answer;

    /* The contribution follows from the party's rows, the plan's points and the question's own message alone,
     * without chance. A simulation then reuses the sum in all trials, epsilons and methods that ask the same;
     * every party is still charged each time. */
    bool repeatable;
    tacit_adder *add_up; /* of a repeatable question; NULL: one by one */

    bool to_neighbours; /* the answer is a word to neighbours, and never the coordinator's to read */

    /* Of a question whose single answers are used: TACIT_PROTOCOL unless the coordinator's half could use
     * this one. Such an answer is refused at the door and counts for nothing, so that whoever gives it harms
     * only its own part. NULL: any will do. */
    tacit_status (*usable)(const tacit_plan *plan, const tacit_message *answer, tacit_error *error);

    /* The numbers in a single answer, or its bytes in eights: what is much longer is not read. NULL: as many
     * as the model has weights, a few times. */
    size_t (*answer_numbers)(const tacit_plan *plan);
} tacit_handler_entry;

/* Which formulas (data/formula/formula.h) a method takes. */
typedef enum tacit_terms_taken {
    TACIT_TERMS_FEATURES, /* any terms: they are features like others; no offset */
    TACIT_TERMS_CONSTANT, /* the same, with an intercept */
    TACIT_TERMS_ALL,      /* with an offset, and without an intercept, too */
    TACIT_TERMS_NONE,     /* it works on the columns themselves */
} tacit_terms_taken;

struct tacit_method {
    const char *name, *title, *reference;
    unsigned version;                          /* raised whenever questions or answers change */
    const char *units;                         /* "record", "party", "record|party" or "record|person" */
    bool noise_free;                           /* no privacy: epsilon is infinite */
    bool needs_points;                         /* public auxiliary points */
    bool takes_points;                         /* it may use them, where there are any */
    bool needs_model;                          /* a public model (plan.model) */
    bool (*builds_on)(const tacit_plan *plan); /* the same under these settings: what an earlier study ended
                                                * with; NULL: never */
    /* the same: it begins its search there, wherever that ends. NULL: never */
    bool (*starts_at)(const tacit_plan *plan);
    bool needs_target;   /* rows of whoever runs the coordinator's half (tacit_session.own) */
    size_t most_columns; /* it works for; 0: any number */
    bool takes_numbers;  /* a numeric response too; else classes only */
    /* why such a method refuses counts; NULL: it takes them */
    const char *no_counts;
    bool takes_times;      /* times until an event, and nothing else */
    bool takes_unlabelled; /* rows without a label too */
    tacit_terms_taken terms;
    bool lambda_may_vanish; /* lambda = 0 is no regulariser; else it is above 0 */
    bool needs_delta;       /* a delta above 0, unless epsilon is infinite */
    const char *at_delta_0; /* the method to use there instead; NULL: none that is like it */
    /* its handlers see rows only in sums over all who hold them: a party's may be spread over ranks */
    bool spreads;
    bool fits_alone;          /* one party needs nobody else, whatever the settings */
    bool fits_alone_by_party; /* or where it adds all of the noise (noise=party) */
    bool chooses_lambda;      /* among candidates, for a price: it has the settings candidates and select */
    bool tunes_lambda;        /* by cross-validation inside the rows, where the plan's is 0: a yardstick */
    bool each_alone;          /* the model of each party by itself: what joining must beat */
    bool makes_stacks;        /* of models, where they are not linear */
    bool makes_trees;         /* its model is a decision tree */
    const char *reports; /* the kind of report that it ends with (model/report/report.h); NULL: a model */
    bool stops_early;    /* plan.most_rounds and plan.enough count */
    bool takes_strata;   /* strata() in a formula */
    /* the column of the schema whose levels rows are counted by, beside a model that may have terms; NULL:
     * none */
    const char *(*subgroups)(const tacit_plan *plan);
    bool takes_random;        /* random effects in a formula */
    bool imputes;             /* takes columns whose missing values are imputed (data/schema/missing.h) */
    bool in_turns;            /* asks one party a round, another the next (tacit_ask_one) */
    const char *roles;        /* "source|target": each owner says which; NULL: all do the same */
    const char *undeployable; /* why a deployed study is refused; NULL when it may be deployed */
    const tacit_parameter *parameters; /* ends with a NULL name; NULL: none */
    const void *defaults; /* of the settings, whose struct has this many bytes (TACIT_SETTINGS_OF) */
    size_t settings_size;

    /* Why a study with these settings is refused; NULL, or returning NULL: it may be deployed. */
    const char *(*undeployable_as)(const tacit_plan *plan);

    /* Who learns what, for `tacit explain` and for whoever is asked to consent. All are filled (a test checks
     * it). With clauses for single settings: to be read through session/plan/wording.h. */
    const char *leaves;     /* what leaves a party */
    const char *seen_by;    /* who sees it */
    const char *guarantee;  /* what is guaranteed, to whom */
    const char *assumption; /* on what that rests */
    const char *theorem;    /* by which theorem, with its constants */
    const char *claim;      /* what the paper says, where that differs */
    const char *caveats;    /* what a user should know before trusting it */

    /* A table of the paper with ours beside it, for `tacit explain`: lines of tab-separated cells, the first
     * of headings; NULL: none. */
    const char *comparison_title;
    tacit_status (*comparison)(tacit_buffer *out, tacit_error *error);

    /* What follows from the plan alone and both halves need: its noise, rounds, grids; a struct of
     * `prepared_size` bytes. TACIT_USAGE when the plan does not fit this method. Both halves are handed it
     * (tacit_session_prepared, tacit_party_prepared), and so are `price` and `noise`, from `prepared`
     * (tacit_prepared_take). NULL: nothing. */
    tacit_status (*prepare)(const tacit_plan *plan, void *out, tacit_error *error);
    void (*clear_prepared)(void *prepared); /* frees what it points to; NULL: it has no pointers of its own */
    size_t prepared_size;
    /* what is prepared for a plan without one describes no rows, and is handed to no half */
    bool needs_schema;
    bool prepares_long; /* seconds: tacit_plan_check leaves it to `check` to say whether the plan fits */

    /* The same for what `prepare` does not see; NULL: nothing. */
    tacit_status (*check)(const tacit_plan *plan, tacit_error *error);

    /* Asked through tacit_plan_price (prepared.h). */
    tacit_status (*price)(const tacit_plan *plan, tacit_prepared **prepared, tacit_prices *out,
                          tacit_error *error);

    /* Whether its model comes with standard errors under this plan; NULL: never. Where noise protects what
     * leaves, they come from what was released with it, and include it. */
    bool (*infers)(const tacit_plan *plan);

    /* A lambda from public quantities alone, for a plan without one; NULL: 0.01. What it follows from, for
     * `tacit explain`: "1/(n mu)". */
    tacit_status (*choose_lambda)(const tacit_plan *plan, double *out, tacit_error *error);
    const char *lambda_rule;
    /* Whether a lambda that is left open stays 0 in the plan, because the coordinator's half chooses it from
     * what was released, which is free; NULL: never. */
    bool (*lambda_after)(const tacit_plan *plan);

    /* Give settings that are left open (0) the numbers that this plan takes for them, so that a definition
     * can say
     * them: the plan then does what it did. Asked about plans that pass tacit_plan_check, with their lambda.
     * NULL: none is left open. */
    tacit_status (*settle)(tacit_plan *plan, tacit_error *error);

    /* tacit_plan_hopeless of a plan that passes tacit_plan_check; NULL: never. */
    tacit_status (*hopeless)(const tacit_plan *plan, char out[TACIT_HOPELESS_SIZE], tacit_error *error);

    /* Whether persons are protected under this plan, and plan.minimum_rows counts them; NULL: rows are. */
    bool (*per_person)(const tacit_plan *plan);

    /* Whether counts of missing values are released beside the model (method/missing_counts.h); NULL:
     * never. */
    tacit_counted (*counts_missing)(const tacit_plan *plan);

    /* The noise under this plan, asked through tacit_plan_noise; NULL for a method without. */
    tacit_status (*noise)(const tacit_plan *plan, tacit_prepared **prepared, tacit_noise_law *out,
                          tacit_error *error);

    /* Whether each party adds only a share of the noise, so that the guarantee rests on secure summation.
     * NULL: never. */
    bool (*shares_noise)(const tacit_plan *plan);

    /* The network that its model is; NULL: no network. */
    tacit_status (*network)(tacit_network *out, const tacit_plan *plan, tacit_error *error);

    /* What the parties train, where the study may choose it (model/classifier/classifier.h); NULL: the method
     * says what. */
    const char *(*local)(const tacit_plan *plan);

    /* Whether the coordinator is told what each party answers, with its noise in it, instead of sums. NULL:
     * never. */
    bool (*single)(const tacit_plan *plan);

    /* Whether figures of each party by itself are published under this plan, which its owner must allow.
     * NULL: never. */
    bool (*sites_apart)(const tacit_plan *plan);

    /* The folds of cross-validation, whose rows exact sums are about as well. NULL: none. */
    tacit_fold_plan (*folds)(const tacit_plan *plan);

    /* How a party's values leave under this plan: charged, sealed or entrusted. */
    tacit_release_kind (*release_kind)(const tacit_plan *plan);

    /* How many questions a run asks each party under this plan, at most, one after the other: in a study by
     * files, how often a file goes to a site and one comes back. NULL, or 0: not known before. */
    uint64_t (*exchanges)(const tacit_plan *plan);
    uint64_t fewest; /* where that depends on settings, the least that it can be; 0: nothing is promised */
    /* where that is not known before, what is usual, with clauses as in `leaves`. NULL: nothing is said */
    const char *asks;

    /* The coordinator's half: sequential code, deterministic given the answers and the session's noise. */
    tacit_status (*coordinate)(tacit_session *session, tacit_outcome *out, tacit_error *error);

    /* With two center servers: what both run at the same time, `coordinate` being tacit_center_coordinate.
     * Only server A fills `out`. NULL: the method has one center or none. */
    tacit_status (*compute)(tacit_center_server *center, tacit_outcome *out, tacit_error *error);

    /* The party's half; ends with a NULL question. */
    const tacit_handler_entry *handlers;

    /* Of a method without a center: who meets whom, from the plan alone, and the session's round of meeting
     * 0. NULL: it has a center. */
    tacit_status (*schedule)(tacit_round_schedule **out, const tacit_plan *plan, tacit_error *error);
    uint64_t first_scheduled_round;
    uint64_t (*scheduled_rounds)(const tacit_plan *plan);
};

/* A half that runs at the center only: a library for parties (-Dparty_only=true) is without. */
#ifdef TACIT_PARTY_ONLY
#define TACIT_CENTER_HALF(function) (0 ? (function) : NULL)
#else
#define TACIT_CENTER_HALF(function) (function)
#endif

/* For methods that ask once, or twice, whatever their settings (tacit_method.exchanges). */
uint64_t tacit_one_exchange(const tacit_plan *plan);
uint64_t tacit_two_exchanges(const tacit_plan *plan);

/* How many questions a method asks each party whatever its settings, and at least; 0: nothing can be said. */
uint64_t tacit_method_rounds(const tacit_method *method);
uint64_t tacit_method_fewest(const tacit_method *method);

/* What the method says of the plan; 0: not known before. */
uint64_t tacit_plan_exchanges(const tacit_plan *plan);

/* How often something goes to each party and comes back for so many questions: a masked sum takes one or two
 * exchanges where people carry files, and more (exchanges = 0) between parties with a connection. */
uint64_t tacit_plan_handovers(const tacit_plan *plan, unsigned exchanges, uint64_t questions);

/* The same for people, or what is usual. Returns out; NULL: a method without a center, whose parties ask each
 * other. */
enum { TACIT_EXCHANGES_TEXT = 400 };
const char *tacit_exchanges_text(const tacit_plan *plan, char out[TACIT_EXCHANGES_TEXT]);

/* How many hand-overs a study by files takes. NULL: people cannot carry it. */
const char *tacit_handovers_text(const tacit_plan *plan, char out[TACIT_EXCHANGES_TEXT]);
