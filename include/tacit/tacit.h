/*
 * Tacit: train one model together while the data stay where they are.
 *
 * This is the only header a program includes; status.h holds the rules that every call follows. Four things
 * are here:
 *
 *   a frame     rows of the caller, numbers or columns in memory or a file, with what is public about them
 *   a model     what was learnt, with its guarantee inside
 *   a ledger    what a data source has been charged, and what it may still be
 *   a site      a party of a study that a coordinator runs elsewhere
 *
 * What a call is asked to do is said by options: the flags of the command line without their dashes, as
 * texts, with the same defaults and the same errors ("epsilon" "0.5"; "set" "clip=2", as often as there are
 * settings). What it found comes back as the JSON document that the command prints with --json. So whatever
 * the program can do can be said here, and a newer library keeps programs that were built with an older one.
 *
 * A sentence of an error names an option as "the option 'epsilon'", or "the option 'delta=1e-5'" with a
 * value, so that a program can spell it as its users know it.
 *
 * What a call cannot do without must not be NULL: it is then TACIT_USAGE, and no crash. Where NULL means
 * something, the call says so; `error` and what a free function is given may always be NULL.
 *
 * A flag is "yes" or "no". Numbers are read and written with a decimal point, whatever locale the program has
 * set.
 */
#ifndef TACIT_TACIT_H
#define TACIT_TACIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tacit/arrow.h"
#include "tacit/progress.h"
#include "tacit/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The version of the linked library, e.g. "0.1.0". */
const char *tacit_version(void);

/* Texts and bytes that a call handed out. */
char *tacit_string_free(char *text);
void *tacit_bytes_free(void *bytes);

/* ---- options ---- */

typedef struct tacit_options tacit_options;

tacit_status tacit_options_create(tacit_options **out, tacit_error *error);

/* Name and value are copied. Names are checked by the call that uses them, which lists those it knows. A name
 * may come again where the flag may: "set", "undersample". */
tacit_status tacit_options_set(tacit_options *options, const char *name, const char *value,
                               tacit_error *error);
tacit_options *tacit_options_free(tacit_options *options);

/* ---- frames ---- */

typedef struct tacit_frame tacit_frame;

typedef enum tacit_number_type { TACIT_NUMBER_DOUBLE, TACIT_NUMBER_FLOAT } tacit_number_type;
typedef enum tacit_index_type { TACIT_INDEX_INT32, TACIT_INDEX_INT64 } tacit_index_type;

/* Rows in the caller's memory, which is read and never copied as a whole: it must stay as it is until the
 * frame is freed. Element (i, j) lies i * row_bytes + j * column_bytes bytes after `values`, so that rows
 * first, columns first and slices of either will do. NaN is a missing value: the middle of its column's
 * bounds, as in a schema. */
tacit_status tacit_frame_dense(tacit_frame **out, const void *values, tacit_number_type type, size_t rows,
                               size_t columns, ptrdiff_t row_bytes, ptrdiff_t column_bytes,
                               tacit_error *error);

/* Compressed sparse rows: row i has value[k] in column[k] for start[i] <= k < start[i + 1]; columns of a row
 * in any order, none twice. Every index is checked. */
tacit_status tacit_frame_sparse(tacit_frame **out, const double *value, const void *column, const void *start,
                                tacit_index_type type, size_t rows, size_t columns, tacit_error *error);

/* Rows as `tacit simulate --train` reads them: a file, a folder of CSV files or documents, sqlite:PATH?QUERY
 * or postgres:CONNINFO?QUERY (docs/data.md). Options: schema (a file), label, positive, no-header,
 * response, group (the column whose values are the parties). Without a schema bounds and classes are read off
 * the rows: not private. So is what a schema marks `from: rows`.
 * The file is read again where another schema than its own is to be used, as by tacit_model_predict;
 * TACIT_INPUT when it then has more rows or fewer. */
tacit_status tacit_frame_load(tacit_frame **out, const char *path, const tacit_options *options,
                              const tacit_progress *progress, tacit_error *error);

/* A table of columns with names, of numbers, categories, texts and dates, in the caller's memory, which is
 * read and not copied: it must stay as it is until the frame is freed. It has no columns at first; add them
 * with the calls below. What a value becomes is said by a schema: that of a model to predict, that of a
 * study to join, or by tacit_frame_describe that of the table itself. Columns are found by their names; the
 * label is one of them. A value is read as the same one in a CSV file: one that is empty or reads NA is
 * missing, a date is 2024-02-29, a truth value 0 or 1.
 *   Out: *out   a table of `rows` rows without columns
 *   In: rows    from 1 to 2^32 - 1 */
tacit_status tacit_frame_table(tacit_frame **out, size_t rows, tacit_error *error);

typedef enum tacit_value_type {
    TACIT_VALUE_DOUBLE,
    TACIT_VALUE_FLOAT,
    TACIT_VALUE_INT8,
    TACIT_VALUE_INT16,
    TACIT_VALUE_INT32,
    TACIT_VALUE_INT64,
    TACIT_VALUE_UINT8,
    TACIT_VALUE_UINT16,
    TACIT_VALUE_UINT32,
    TACIT_VALUE_UINT64,
    TACIT_VALUE_BOOL /* a byte: 0, or something else */
} tacit_value_type;

/* A column of numbers. NaN is a missing value.
 *   In: name      copied; no other column may have it
 *       values    one of each row; value i lies i * step bytes after the first
 *       step      bytes; 0: values lie next to each other
 *       missing   a byte for each row, not 0 where the value is missing; NULL: none is */
tacit_status tacit_frame_add_numbers(tacit_frame *frame, const char *name, const void *values,
                                     tacit_value_type type, ptrdiff_t step, const uint8_t *missing,
                                     tacit_error *error);

/* A column of categories: a whole number for each row, and what the numbers stand for.
 *   In: codes     of an integer type; `first` is the first level, below it is a missing value. TACIT_INPUT
 *                 names the row for one beyond the last level
 *       first     0 in most languages, 1 for the factors of R
 *       levels    copied; `level_count` of them */
tacit_status tacit_frame_add_categories(tacit_frame *frame, const char *name, const void *codes,
                                        tacit_value_type type, ptrdiff_t step, int64_t first,
                                        const char *const *levels, size_t level_count, tacit_error *error);

/* A column of texts in UTF-8, each with a NUL behind; NULL is a missing one. */
tacit_status tacit_frame_add_texts(tacit_frame *frame, const char *name, const char *const *texts,
                                   tacit_error *error);

/* A column of dates: days since 1970-01-01. `missing` as above. */
tacit_status tacit_frame_add_dates(tacit_frame *frame, const char *name, const int32_t *days,
                                   const uint8_t *missing, tacit_error *error);

/* The same table from another library, by the Arrow C data interface (pyarrow, pandas, polars, DuckDB,
 * ...), without a copy: a struct of columns, or a stream of such. Taken are int8 to uint64, float, double,
 * bool, utf8, large_utf8, utf8_view, date32, date64, timestamp (without a zone, or UTC; the day counts),
 * null, and dictionaries of these; TACIT_INPUT names another column with what to do. Lengths, offsets and
 * places in dictionaries are checked; that buffers are as large as they must be is the producer's word.
 *   In: schema, array, stream   handed over, also on failure: each is marked as released, and what it
 *                               held is released with the frame at the latest. TACIT_USAGE for one that
 *                               was released before */
tacit_status tacit_frame_arrow(tacit_frame **out, struct ArrowSchema *schema, struct ArrowArray *array,
                               tacit_error *error);
tacit_status tacit_frame_arrow_stream(tacit_frame **out, struct ArrowArrayStream *stream, tacit_error *error);

/* Say what is publicly known about the columns of a table, which tacit_frame_fit and tacit_frame_simulate
 * ask for; tacit_model_predict and tacit_site_invited do not. No column can be added afterwards.
 *   In: options   schema (a file) or schema-text (YAML or JSON), label, positive, response, group, terms,
 *                 subset: as for tacit_frame_load. Without a schema bounds and levels are read off the
 *                 rows: not private */
tacit_status tacit_frame_describe(tacit_frame *frame, const tacit_options *options,
                                  const tacit_progress *progress, tacit_error *error);

/* What the rows are labelled with: a class 0..classes-1 each, or a number each within public bounds. Borrowed
 * like the rows; the names are copied, NULL stands for "0", "1", ... */
tacit_status tacit_frame_set_classes(tacit_frame *frame, const int32_t *label, size_t classes,
                                     const char *const *names, tacit_error *error);
tacit_status tacit_frame_set_response(tacit_frame *frame, const double *response, double low, double high,
                                      bool counts, tacit_error *error);

/* The rows are labelled with times, for cox and survival-exact: until something happened, or was last known
 * not to have. Borrowed.
 *   In: time, event   the time of each row, and 1 where the event was seen then, 0 where not
 *       entry         since when each row is observed, before its time; NULL: from 0 on
 *       low, high     publicly known bounds: a later time counts as `high`, with no event seen yet */
tacit_status tacit_frame_set_times(tacit_frame *frame, const double *time, const int32_t *event,
                                   const double *entry, double low, double high, tacit_error *error);

/* Which party has which row, 0..parties-1: for simulations. Borrowed. */
tacit_status tacit_frame_set_parties(tacit_frame *frame, const int32_t *party, size_t parties,
                                     tacit_error *error);

/* How rows come into the unit ball, on which every guarantee rests. One of:
 *   bounds   low[j] <= x_ij <= high[j], publicly known; what lies outside is moved to the bound. Each
 *            column then becomes (2 x - low - high)/(high - low), divided by the root of the number of
 *            features;
 *   norm     rows are divided by `norm`, publicly known; longer ones are shortened to the unit ball. Rows
 *            are then used where they lie if they can be: doubles, norm 1, none longer (rounding included: than 1 - (columns + 8)
 *            2^-51), nothing missing, no intercept, columns next to each other and rows too, sparse ones with
 *            ascending columns;
 *   from data: bounds are the extremes of these very rows, of sparse ones the largest norm. NOT PRIVATE: for
 *   trying things out. The
 *            model says so, and neither a ledger nor a study takes such a frame (TACIT_REFUSED).
 * With `intercept` there is one feature more, a constant. */
tacit_status tacit_frame_set_bounds(tacit_frame *frame, const double *low, const double *high, bool intercept,
                                    tacit_error *error);
tacit_status tacit_frame_set_norm(tacit_frame *frame, double norm, bool intercept, tacit_error *error);
tacit_status tacit_frame_set_bounds_from_data(tacit_frame *frame, bool intercept, tacit_error *error);

/* Say that what the frame tells of its labels (classes, or the bounds of a response), or of its columns
 * (bounds, the levels behind indicators, a basis), was read off the rows, which only the caller can know. NOT
 * PRIVATE, with the same consequences as bounds from data. */
tacit_status tacit_frame_mark_from_data(tacit_frame *frame, bool label, bool columns, tacit_error *error);

/* Have a NaN be an error (TACIT_INPUT, naming row and column) wherever the rows are read, before anything is
 * charged, instead of a missing value. It is one in any case where the schema of a model or a study says
 * `missing: error`. */
tacit_status tacit_frame_refuse_missing(tacit_frame *frame, tacit_error *error);

/* Copied; they go into the model. NULL stands for x1, x2, ... */
tacit_status tacit_frame_set_names(tacit_frame *frame, const char *const *columns, tacit_error *error);

size_t tacit_frame_rows(const tacit_frame *frame);
size_t tacit_frame_columns(const tacit_frame *frame);
tacit_frame *tacit_frame_free(tacit_frame *frame);

/* ---- models ---- */

typedef struct tacit_model tacit_model;
typedef struct tacit_ledger tacit_ledger;

/* Fit a private model of one owner's rows, as `tacit fit`. Options: method, epsilon, delta, lambda (a number,
 * or choose:L1,L2,...), set, threads, seed.
 *
 * With a ledger this is a release: exact noise from the operating system, the charge is durable before the
 * model is handed out, and the same request on the same rows gives the same model without a second charge.
 * Without (NULL) the model says what it costs and whoever calls keeps count. With a `seed` it is a
 * simulation, which can be repeated and is not private; a ledger is then refused. */
tacit_status tacit_frame_fit(tacit_model **out, const tacit_frame *frame, const tacit_options *options,
                             tacit_ledger *ledger, const tacit_progress *progress, tacit_error *error);

/* `tacit simulate` over frames: `test` and `auxiliary` (public points, labels not read) and `target` may be
 * NULL; options are those of the command except for its files. `json` receives the document, `model` (may be
 * NULL) the model of the last run's first trial, or NULL where a method ends with several. */
tacit_status tacit_frame_simulate(char **json, tacit_model **model, const tacit_frame *train,
                                  const tacit_frame *test, const tacit_frame *auxiliary,
                                  const tacit_frame *target, const tacit_options *options,
                                  const tacit_progress *progress, tacit_error *error);

/* What a model makes of rows: `scores`, with room for `score_capacity` numbers, receives rows x
 * tacit_model_outputs of them (probabilities of the classes in their order, where the model has such; else
 * votes, margins, or the mean of a number), `labels`, with room for `label_capacity`, a class each. Either
 * may be NULL. TACIT_LIMIT, and nothing is written, where there is too little room. The frame needs neither
 * labels nor bounds: the model has its own encoding. Columns are those the model was made of, in their order;
 * where the frame has names, they must be the model's. Those of a table are found by name, and it may have
 * others. TACIT_USAGE for labels of a model of a number. */
tacit_status tacit_model_predict(double *scores, size_t score_capacity, int32_t *labels,
                                 size_t label_capacity, const tacit_model *model, const tacit_frame *frame,
                                 unsigned threads, tacit_error *error);
size_t tacit_model_outputs(const tacit_model *model);
size_t tacit_model_columns(const tacit_model *model); /* of the rows it is for */

/* Coefficients of a linear model on the columns as they were given: `out`, with room for `capacity` numbers,
 * receives tacit_model_outputs rows (one for two classes) of tacit_model_columns numbers and the constant
 * last; TACIT_LIMIT where there is too little room. They hold for rows within bounds and norm. TACIT_USAGE
 * for other models, for columns that are no numbers, and where every row is divided by its own norm. */
tacit_status tacit_model_coefficients(double *out, size_t capacity, const tacit_model *model,
                                      tacit_error *error);

/* "kind" (linear, stack, network), "loss", "features", "columns", "outputs", "names", "classes",
 * "probabilities", "guarantee", and where there are such, coefficients with standard errors in "summary". */
tacit_status tacit_model_document(char **json, const tacit_model *model, tacit_error *error);

/* One JSON file; or ONNX and PMML with the encoding inside. */
tacit_status tacit_model_save(const tacit_model *model, const char *path, tacit_error *error);
tacit_status tacit_model_load(tacit_model **out, const char *path, tacit_error *error);
tacit_status tacit_model_to_json(char **json, const tacit_model *model, tacit_error *error);
tacit_status tacit_model_from_json(tacit_model **out, const char *json, size_t length, tacit_error *error);
tacit_status tacit_model_to_onnx(void **bytes, size_t *length, const tacit_model *model, tacit_error *error);
tacit_status tacit_model_to_pmml(char **xml, const tacit_model *model, tacit_error *error);
tacit_model *tacit_model_free(tacit_model *model);

/* ---- what methods promise ---- */

/* `tacit methods`, `tacit explain METHOD`, `tacit audit METHOD`, each with the options of the command
 * ("method" names it). */
tacit_status tacit_methods_document(char **json, tacit_error *error);
tacit_status tacit_explain_document(char **json, const tacit_options *options, tacit_error *error);
tacit_status tacit_audit_document(char **json, const tacit_options *options, const tacit_progress *progress,
                                  tacit_error *error);

/* `tacit plan`: what each method will be worth, before anybody is asked ("study" names a definition; or
 * schema, parties, rows and epsilon). Nothing is released and nothing charged. */
tacit_status tacit_plan_document(char **json, const tacit_options *options, const tacit_progress *progress,
                                 tacit_error *error);

/* ---- ledgers ---- */

/* The ledger of one data source in the file `path`, which is made where it is missing. */
tacit_status tacit_ledger_at(tacit_ledger **out, const char *path, const char *source, tacit_error *error);

/* What may be spent in all, per record or, with `whole_party`, per party. Without a limit nothing is
 * released. */
tacit_status tacit_ledger_limit(tacit_ledger *ledger, bool whole_party, double epsilon, double delta,
                                tacit_error *error);

/* "source", "entries" and "accounts", as `tacit ledger show` has them of a data source; and whether the file
 * is sound ("sound", "entries", "broken", "head", "problem"). */
tacit_status tacit_ledger_document(char **json, tacit_ledger *ledger, tacit_error *error);
tacit_status tacit_ledger_verdict(char **json, tacit_ledger *ledger, tacit_error *error);
tacit_ledger *tacit_ledger_free(tacit_ledger *ledger);

/* ---- a party of a study ---- */

typedef struct tacit_site tacit_site;

/* Told one line for people now and then; asked whether to stop. All members optional. Called on the thread
 * that calls. */
typedef struct tacit_site_listener {
    void (*news)(void *context, const char *line);
    bool (*cancelled)(void *context);
    void *context;
} tacit_site_listener;

/* Look at a study that the party was invited to. Rows are those of `frame`, which must stay until the site is
 * freed; or, with NULL, those that the option "data" names. Options: home (a folder for keys and ledger),
 * source (the data source as the ledger calls it; needed with a frame), allow-entrusted, allow-exact,
 * allow-difference, allow-neighbours, role, local, listen, proxy, retry, and without a frame data, schema,
 * link, label, positive, no-header. A frame must be described as the study's schema describes its columns and
 * classes, or TACIT_REFUSED says where they differ; a table that nobody described is read as the study's
 * schema says. Nothing is promised yet. */
tacit_status tacit_site_invited(tacit_site **out, const char *invitation, const tacit_frame *frame,
                                const tacit_options *options, const tacit_site_listener *listener,
                                tacit_error *error);

/* A study that was joined before, by its name; as amended, where it was amended since, and then to be
 * accepted again. A frame is needed again if it was joined with one. Options: home, retry. */
tacit_status tacit_site_joined(tacit_site **out, const char *study, const tacit_frame *frame,
                               const tacit_options *options, const tacit_site_listener *listener,
                               tacit_error *error);

/* What is asked, by whom, what leaves and who sees it, the price, and whether the owner's rules allow it
 * ("allowed", "remedy"). */
tacit_status tacit_site_document(char **json, tacit_site *site, tacit_error *error);

/* Consent and join; then answer until the study ends, reconnecting by itself. `model` (may be NULL) receives
 * what it ended with: a model of the columns and classes, of the kind and with the guarantee of the
 * definition that was accepted. Whatever else the coordinator sends is TACIT_PROTOCOL. */
tacit_status tacit_site_accept(tacit_site *site, tacit_error *error);
tacit_status tacit_site_answer(tacit_model **model, tacit_site *site, tacit_error *error);

/* From the next question on nothing leaves; what has left stays where it is. *told: the coordinator could be
 * reached. */
tacit_status tacit_site_leave(bool *told, tacit_site *site, tacit_error *error);
tacit_site *tacit_site_free(tacit_site *site);

#ifdef __cplusplus
}
#endif
#endif
