/*
 * Tacit: train one model together while the data stay where they are.
 *
 * This is the only header a program includes; status.h holds the rules that every call follows, options.h the
 * options, frame.h the frames and study.h the studies. Five things are here:
 *
 *   a frame     rows of the caller, numbers or columns in memory or a file, with what is public about them
 *   a model     what was learnt, with its guarantee inside
 *   a ledger    what a data source has been charged, and what it may still be
 *   a site      a party of a study that a coordinator runs elsewhere
 *   a coordinator, with its studies (study.h): one in this process, or one that runs elsewhere
 *
 * What a call is asked to do is said by options: the flags of the command line without their dashes, as
 * texts, with the same defaults and the same errors ("epsilon" "0.5"; "set" "clip=2", as often as there are
 * settings). What it found comes back as the JSON document that the command prints with --json. So whatever
 * the program can do can be said here, and a newer library keeps programs that were built with an older one.
 *
 * A sentence of an error names an option as "the option 'epsilon'", or "the option 'delta=1e-5'" with a
 * value, so that a program can spell it as its users know it.
 *
 * Each call is described by what goes In, what comes Out and what it Returns. A call that returns a
 * tacit_status returns TACIT_OK, or what went wrong, with a sentence in `error`; only statuses that ask for
 * something particular are named below.
 *
 * What a call cannot do without must not be NULL: it is then TACIT_USAGE, and no crash. Where NULL means
 * something, the call says so; `error` and what a free function is given may always be NULL. Compilers of
 * GNU's kind warn of such a NULL, and of a status that nobody looks at; -DTACIT_NO_ATTRIBUTES keeps them
 * quiet.
 *
 * Types are opaque, except for tacit_error, tacit_progress and tacit_site_listener, which stay as they are,
 * and those with a `size`: set it by their INIT, so that a newer library knows how much room there is.
 *
 * A flag is "yes" or "no". Numbers are read and written with a decimal point, whatever locale the program has
 * set.
 */
#ifndef TACIT_TACIT_H
#define TACIT_TACIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tacit/frame.h"
#include "tacit/options.h"
#include "tacit/progress.h"
#include "tacit/status.h"
#include "tacit/study.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- versions ---- */

/* Of this header; of the library that is linked tacit_version tells. */
#define TACIT_VERSION_MAJOR 0
#define TACIT_VERSION_MINOR 1
#define TACIT_VERSION_PATCH 0

/* Which programs run with a library: the number behind libtacit.so. */
#define TACIT_ABI 1

/* The version of the linked library.
 *   Returns: e.g. "0.1.0"; never NULL */
const char *tacit_version(void);

/* ---- what calls hand out ---- */

/* Free a text that a call handed out.
 *   In: text   may be NULL
 *   Returns: NULL */
char *tacit_string_free(char *text);

/* Free bytes that a call handed out.
 *   In: bytes   may be NULL
 *   Returns: NULL */
void *tacit_bytes_free(void *bytes);

/* ---- models ---- */

typedef struct tacit_model tacit_model;
typedef struct tacit_ledger tacit_ledger;

/* Fit a private model of one owner's rows, as `tacit fit`.
 *
 * With a ledger this is a release: exact noise from the operating system, the charge is durable before the
 * model is handed out, and the same request on the same rows gives the same model without a second charge.
 * Without the model says what it costs and whoever calls keeps count. With a `seed` it is a simulation, which
 * can be repeated and is not private; a ledger is then refused.
 *   Out: *out      freed with tacit_model_free
 *   In: frame      with labels, and what is public about its columns
 *       options    method, epsilon, delta, lambda (a number, or choose:L1,L2,...), set, terms, subset,
 *                  threads, seed; may be NULL
 *       ledger     charged; may be NULL
 *       progress   may be NULL */
tacit_status tacit_frame_fit(tacit_model **out, const tacit_frame *frame, const tacit_options *options,
                             tacit_ledger *ledger, const tacit_progress *progress,
                             tacit_error *error) TACIT_CHECKED TACIT_NONNULL(1, 2);

/* `tacit simulate` over frames.
 *   Out: *json       the document; freed with tacit_string_free
 *        *model      the model of the last run's first trial, or NULL where a method ends with several; freed
 *                    with tacit_model_free. `model` may be NULL
 *   In: train        the parties' rows
 *       test         rows to judge by; may be NULL
 *       auxiliary    public points, whose labels are not read; may be NULL
 *       target       may be NULL
 *       options      those of the command except for its files; may be NULL
 *       progress     may be NULL */
tacit_status tacit_frame_simulate(char **json, tacit_model **model, const tacit_frame *train,
                                  const tacit_frame *test, const tacit_frame *auxiliary,
                                  const tacit_frame *target, const tacit_options *options,
                                  const tacit_progress *progress, tacit_error *error) TACIT_CHECKED
    TACIT_NONNULL(1, 3);

/* What a model makes of rows. TACIT_LIMIT, and nothing is written, where there is too little room.
 * TACIT_USAGE for labels of a model of a number.
 *   Out: scores            rows x tacit_model_outputs numbers: probabilities of the classes in their order,
 *                          where the model has such; else votes, margins, or the mean of a number. May be
 *                          NULL
 *        labels            a class each; may be NULL
 *   In: score_capacity     room for this many scores
 *       label_capacity     room for this many labels
 *       frame              needs neither labels nor bounds: the model has its own encoding. Columns are those
 *                          the model was made of, in their order; where the frame has names, they must be the
 *                          model's. Those of a table are found by name, and it may have others
 *       threads            0: as many as there are processors */
tacit_status tacit_model_predict(double *scores, size_t score_capacity, int32_t *labels,
                                 size_t label_capacity, const tacit_model *model, const tacit_frame *frame,
                                 unsigned threads, tacit_error *error) TACIT_CHECKED TACIT_NONNULL(5, 6);

/* How many scores a model gives a row.
 *   Returns: 0 for NULL */
size_t tacit_model_outputs(const tacit_model *model);

/* How many columns the rows have that a model is for.
 *   Returns: 0 for NULL */
size_t tacit_model_columns(const tacit_model *model);

/* Coefficients of a linear model on the columns as they were given; they hold for rows within bounds and
 * norm. TACIT_LIMIT where there is too little room. TACIT_USAGE for other models, for columns that are no
 * numbers, and where every row is divided by its own norm.
 *   Out: out         tacit_model_outputs rows (one for two classes) of tacit_model_columns numbers and the
 *                    constant last
 *   In: capacity     room for this many numbers */
tacit_status tacit_model_coefficients(double *out, size_t capacity, const tacit_model *model,
                                      tacit_error *error) TACIT_CHECKED TACIT_NONNULL(1, 3);

/* What a model promises, and at what price. */
typedef struct tacit_promise {
    size_t size;           /* of this structure, as TACIT_PROMISE_INIT sets it */
    bool is_private;       /* false: nothing is promised; epsilon is infinite and delta 1 */
    bool whole_party;      /* the price is per party; else per record */
    bool simulated;        /* the noise can be repeated: for trying things out */
    double epsilon, delta; /* what each party was charged */
} tacit_promise;

#define TACIT_PROMISE_INIT                                                                                   \
    { sizeof(tacit_promise), false, false, false, 0, 0 }

/* The guarantee of a model, as "guarantee" in its document has it.
 *   Out: *out   as much of it as out->size has room for */
tacit_status tacit_model_promise(tacit_promise *out, const tacit_model *model,
                                 tacit_error *error) TACIT_CHECKED TACIT_NONNULL(1, 2);

/* All about a model: "kind" (linear, stack, tree, network), "loss", "features", "columns", "outputs",
 * "names", "classes", "probabilities", "guarantee", and where there are such, coefficients with standard
 * errors in "summary".
 *   Out: *json   freed with tacit_string_free */
tacit_status tacit_model_document(char **json, const tacit_model *model, tacit_error *error) TACIT_CHECKED
    TACIT_NONNULL(1, 2);

/* Write a model as one JSON file.
 *   In: path   replaced as a whole, or not at all */
tacit_status tacit_model_save(const tacit_model *model, const char *path, tacit_error *error) TACIT_CHECKED
    TACIT_NONNULL(1, 2);

/* Read a model that tacit_model_save or the program wrote.
 *   Out: *out   freed with tacit_model_free */
tacit_status tacit_model_load(tacit_model **out, const char *path, tacit_error *error) TACIT_CHECKED
    TACIT_NONNULL(1, 2);

/* What tacit_model_save would write.
 *   Out: *json   freed with tacit_string_free */
tacit_status tacit_model_to_json(char **json, const tacit_model *model, tacit_error *error) TACIT_CHECKED
    TACIT_NONNULL(1, 2);

/* The model of such a text.
 *   Out: *out    freed with tacit_model_free
 *   In: length   bytes of json, which needs no NUL behind */
tacit_status tacit_model_from_json(tacit_model **out, const char *json, size_t length,
                                   tacit_error *error) TACIT_CHECKED TACIT_NONNULL(1, 2);

/* A model as ONNX, with the encoding inside.
 *   Out: *bytes    freed with tacit_bytes_free
 *        *length   how many */
tacit_status tacit_model_to_onnx(void **bytes, size_t *length, const tacit_model *model,
                                 tacit_error *error) TACIT_CHECKED TACIT_NONNULL(1, 2, 3);

/* A model as PMML, with the encoding inside.
 *   Out: *xml   freed with tacit_string_free */
tacit_status tacit_model_to_pmml(char **xml, const tacit_model *model, tacit_error *error) TACIT_CHECKED
    TACIT_NONNULL(1, 2);

/* Free a model.
 *   In: model   may be NULL
 *   Returns: NULL */
tacit_model *tacit_model_free(tacit_model *model);

/* ---- what methods promise ---- */

/* `tacit methods`.
 *   Out: *json   freed with tacit_string_free */
tacit_status tacit_methods_document(char **json, tacit_error *error) TACIT_CHECKED TACIT_NONNULL(1);

/* `tacit explain METHOD`.
 *   Out: *json     freed with tacit_string_free
 *   In: options    of the command; "method" names it */
tacit_status tacit_explain_document(char **json, const tacit_options *options,
                                    tacit_error *error) TACIT_CHECKED TACIT_NONNULL(1);

/* `tacit audit METHOD`.
 *   Out: *json      freed with tacit_string_free
 *   In: options     of the command; "method" names it
 *       progress    may be NULL */
tacit_status tacit_audit_document(char **json, const tacit_options *options, const tacit_progress *progress,
                                  tacit_error *error) TACIT_CHECKED TACIT_NONNULL(1);

/* `tacit plan`: what each method will be worth, before anybody is asked. Nothing is released and nothing
 * charged.
 *   Out: *json      freed with tacit_string_free
 *   In: options     "study" names a definition; or schema, parties, rows and epsilon
 *       progress    may be NULL */
tacit_status tacit_plan_document(char **json, const tacit_options *options, const tacit_progress *progress,
                                 tacit_error *error) TACIT_CHECKED TACIT_NONNULL(1);

/* ---- ledgers ---- */

/* The ledger of one data source.
 *   Out: *out    freed with tacit_ledger_free
 *   In: path     a file, which is made where it is missing
 *       source   how the ledger calls the rows */
tacit_status tacit_ledger_at(tacit_ledger **out, const char *path, const char *source,
                             tacit_error *error) TACIT_CHECKED TACIT_NONNULL(1, 2, 3);

/* What may be spent in all. Without a limit nothing is released.
 *   In: whole_party      per party; else per record
 *       epsilon, delta   epsilon finite and not negative, 0 <= delta < 1 */
tacit_status tacit_ledger_limit(tacit_ledger *ledger, bool whole_party, double epsilon, double delta,
                                tacit_error *error) TACIT_CHECKED TACIT_NONNULL(1);

/* What a data source has been charged, and what it may still be. */
typedef struct tacit_spent {
    size_t size;                       /* of this structure, as TACIT_SPENT_INIT sets it */
    bool limited;                      /* whether there is a limit; else the limits and what is left are 0 */
    double epsilon, delta;             /* all charges together, composed */
    double limit_epsilon, limit_delta; /* what may be spent in all */
    double left_epsilon;               /* what is left of it, not below 0 */
} tacit_spent;

#define TACIT_SPENT_INIT                                                                                     \
    { sizeof(tacit_spent), false, 0, 0, 0, 0, 0 }

/* The account of a ledger's data source, as "accounts" in its document has it.
 *   Out: *out           as much of it as out->size has room for
 *   In: whole_party     per party; else per record */
tacit_status tacit_ledger_spent(tacit_spent *out, tacit_ledger *ledger, bool whole_party,
                                tacit_error *error) TACIT_CHECKED TACIT_NONNULL(1, 2);

/* "source", "entries" and "accounts", as `tacit ledger show` has them of a data source.
 *   Out: *json   freed with tacit_string_free */
tacit_status tacit_ledger_document(char **json, tacit_ledger *ledger, tacit_error *error) TACIT_CHECKED
    TACIT_NONNULL(1, 2);

/* Whether the file of a ledger is sound: "sound", "entries", "broken", "head", "problem".
 *   Out: *json   freed with tacit_string_free */
tacit_status tacit_ledger_verdict(char **json, tacit_ledger *ledger, tacit_error *error) TACIT_CHECKED
    TACIT_NONNULL(1, 2);

/* Close a ledger.
 *   In: ledger   may be NULL
 *   Returns: NULL */
tacit_ledger *tacit_ledger_free(tacit_ledger *ledger);

/* ---- noise by itself, and what many releases cost together ---- */

/* Add noise to numbers that a program made of its rows, and to whose sensitivity it answers: by how much they
 * change, in the norm of the law, when one record (or party) is replaced. Options: law (laplace, gamma-norm,
 * gaussian, discrete-laplace, discrete-gaussian; docs/mechanisms.md), sensitivity, epsilon, delta, unit
 * (record or party), seed. The result lies on a grid of 2^-20 of the noise's scale or finer; beyond 2^40
 * times the scale it is cut.
 *
 * With a ledger it is a release that is charged before `out` is written, and so is every call: an answer that
 * came again because two numbers are equal would tell that they are. With a seed it is a simulation, for
 * which a ledger is refused.
 *   Out: *out     `count` numbers with noise
 *   In: values    `count` numbers
 *       options   as above; may be NULL
 *       ledger    what is charged; NULL: whoever calls keeps count */
tacit_status tacit_noise_add(double *out, const double *values, size_t count, const tacit_options *options,
                             tacit_ledger *ledger, tacit_error *error) TACIT_CHECKED TACIT_NONNULL(1, 2);

/* Which of several candidates has a high score, without telling the scores. Options: rule (permute-and-flip,
 * exponential, noisy-max), sensitivity (of each score), monotone (replacing a record moves all scores up or
 * all down), epsilon, delta (charged, not used by the choice: for what the candidates cost), unit, seed.
 *   Out: *chosen   its index, from 0
 *   In: scores     `count` numbers
 *       options    as above; may be NULL
 *       ledger     as for tacit_noise_add */
tacit_status tacit_noise_choose(size_t *chosen, const double *scores, size_t count,
                                const tacit_options *options, tacit_ledger *ledger,
                                tacit_error *error) TACIT_CHECKED TACIT_NONNULL(1, 2);

/* What many releases on the same rows cost together (docs/accounting.md). Options: event, as often as there
 * are kinds ("gaussian sigma=4 count=1000 sampling=0.01", "laplace scale=2", "pure epsilon=1", "approximate
 * epsilon=1 delta=1e-6", "zcdp rho=0.1"; "replaced=yes" where the number is about a replaced row already),
 * adjacency (replace or add-or-remove), and either delta, at which the least epsilon is found, or epsilon.
 * "epsilon", "delta", "by", and in "accountants" what each of them proves; null where one does not apply.
 *   Out: *json    freed with tacit_string_free
 *   In: options   as above */
tacit_status tacit_compose_document(char **json, const tacit_options *options,
                                    tacit_error *error) TACIT_CHECKED TACIT_NONNULL(1);

/* ---- a party of a study ---- */

typedef struct tacit_site tacit_site;

/* Told one line for people now and then; asked whether to stop. All members optional. Called on the thread
 * that calls. */
typedef struct tacit_site_listener {
    void (*news)(void *context, const char *line);
    bool (*cancelled)(void *context);
    void *context;
} tacit_site_listener;

/* Read what an invitation asks before there are any rows, as `tacit look`: "study", "method", "leaves",
 * "seen_by", "guarantee", "price", "parties", "minimum_rows", and in "columns" what rows need. The invitation
 * stays good.
 *   Out: *json          freed with tacit_string_free
 *   In: invitation      as the coordinator sent it
 *       options         home, proxy, write-schema (a file for the study's schema), write-template (a CSV file
 *                       for the names of its columns); may be NULL */
tacit_status tacit_site_preview(char **json, const char *invitation, const tacit_options *options,
                                tacit_error *error) TACIT_CHECKED TACIT_NONNULL(1, 2);

/* Look at a study that the party was invited to. Nothing is promised yet. A frame must be described as the
 * study's schema describes its columns and classes, or TACIT_REFUSED says where they differ; a table that
 * nobody described is read as the study's schema says.
 *   Out: *out         freed with tacit_site_free
 *   In: invitation    as the coordinator sent it
 *       frame         the rows, which must stay until the site is freed; NULL: those that the option "data"
 *                     names
 *       options       home (a folder for keys and ledger), source (the data source as the ledger calls it;
 *                     needed with a frame), allow-entrusted, allow-exact, allow-difference, allow-neighbours,
 *                     role, local, listen, proxy, retry, and without a frame data, schema, link, label,
 *                     positive, no-header; may be NULL
 *       listener      may be NULL */
tacit_status tacit_site_invited(tacit_site **out, const char *invitation, const tacit_frame *frame,
                                const tacit_options *options, const tacit_site_listener *listener,
                                tacit_error *error) TACIT_CHECKED TACIT_NONNULL(1, 2);

/* A study that was joined before; as amended, where it was amended since, and then to be accepted again.
 *   Out: *out       freed with tacit_site_free
 *   In: study       its name
 *       frame       needed again if it was joined with one; else NULL
 *       options     home, retry; may be NULL
 *       listener    may be NULL */
tacit_status tacit_site_joined(tacit_site **out, const char *study, const tacit_frame *frame,
                               const tacit_options *options, const tacit_site_listener *listener,
                               tacit_error *error) TACIT_CHECKED TACIT_NONNULL(1, 2);

/* What is asked, by whom, what leaves and who sees it, the price, and whether the owner's rules allow it
 * ("allowed", "remedy").
 *   Out: *json   freed with tacit_string_free */
tacit_status tacit_site_document(char **json, tacit_site *site, tacit_error *error) TACIT_CHECKED
    TACIT_NONNULL(1, 2);

/* Consent and join. */
tacit_status tacit_site_accept(tacit_site *site, tacit_error *error) TACIT_CHECKED TACIT_NONNULL(1);

/* Answer until the study ends, reconnecting by itself.
 *   Out: *model   what it ended with: a model of the columns and classes, of the kind and with the guarantee
 *                 of the definition that was accepted; whatever else the coordinator sends is TACIT_PROTOCOL.
 *                 Freed with tacit_model_free. `model` may be NULL */
tacit_status tacit_site_answer(tacit_model **model, tacit_site *site, tacit_error *error) TACIT_CHECKED
    TACIT_NONNULL(2);

/* What a step came to. */
typedef enum tacit_site_state {
    TACIT_SITE_WAITING,  /* nothing is asked now */
    TACIT_SITE_ANSWERED, /* a question was answered, and there may be more */
    TACIT_SITE_AWAY,     /* the coordinator cannot be reached now */
    TACIT_SITE_PAUSED,   /* the hook of tacit_site_set_pause said so: nothing was sent */
    TACIT_SITE_ENDED     /* the study has, with a model */
} tacit_site_state;

typedef struct tacit_site_next {
    size_t size; /* of this structure, as TACIT_SITE_NEXT_INIT sets it */
    tacit_site_state state;
    uint32_t after_ms; /* when to take the next step; sooner does no harm */
} tacit_site_next;

#define TACIT_SITE_NEXT_INIT                                                                                 \
    { sizeof(tacit_site_next), TACIT_SITE_WAITING, 0 }

/* Do one exchange with the coordinator, for a program that has a loop or a scheduler of its own, in place of
 * tacit_site_answer: ask what there is to answer, and answer it
 * (where it is due, a certificate is renewed before). Returns after `wait_ms` where nothing is asked, and
 * where the network fails after at most 30 s more (an answer under way has five minutes; the listener's
 * `cancelled` ends either). The process may end or be killed between steps, and during one: take the study up
 * with tacit_site_joined. An answer that was charged is then sent again, not charged again. A failure is one
 * of the study's, as of tacit_site_answer; a coordinator that is away is none.
 *   Out: *next     what came of it, and when to call again
 *        *model    what the study ended with, in the step that says so; as in tacit_site_answer. `model` may
 *                  be NULL
 *   In: wait_ms    how long the coordinator may keep the question waiting for news; at most 20000 */
tacit_status tacit_site_step(tacit_site_next *next, tacit_model **model, tacit_site *site, uint32_t wait_ms,
                             tacit_error *error) TACIT_CHECKED TACIT_NONNULL(1, 3);

/* Have a program say when nothing may be sent: the battery is low, the network is metered. The hook is asked
 * before each use of the network on behalf of this site from here on, on the thread that calls; while it says
 * yes tacit_site_step says TACIT_SITE_PAUSED, tacit_site_answer waits, tacit_site_accept fails with
 * TACIT_NETWORK, and tacit_site_leave leaves without telling. Looking at a study (tacit_site_invited) has
 * used the network before.
 *   In: paused    NULL: nothing is paused any more */
tacit_status tacit_site_set_pause(tacit_site *site, bool (*paused)(void *context), void *context,
                                  tacit_error *error) TACIT_CHECKED TACIT_NONNULL(1);

/* From the next question on nothing leaves; what has left stays where it is.
 *   Out: *told   whether the coordinator could be reached; `told` may be NULL */
tacit_status tacit_site_leave(bool *told, tacit_site *site, tacit_error *error) TACIT_CHECKED
    TACIT_NONNULL(2);

/* Free a site; the frame that it borrowed is the caller's again.
 *   In: site   may be NULL
 *   Returns: NULL */
tacit_site *tacit_site_free(tacit_site *site);

#ifdef __cplusplus
}
#endif
#endif
