/* JSON documents that both the program's --json and the pages on loopback show. All return new references;
 * NULL stands for "out of memory" and may be passed on: json_pack takes it as a failure, so that only the
 * last step needs a check. */
#pragma once

#include <jansson.h>

#include "privacy/ledger/ledger.h"
#include "session/method.h"
#include "study/registry.h"
#include "study/study.h"

/* A number as this program writes it: infinity is the string "inf", NaN is null. */
json_t *tacit_json_number(double value);

/* Text from outside, such as a path: where it is not UTF-8, which JSON cannot hold, each byte beyond ASCII
 * becomes \xNN. */
json_t *tacit_json_escaped(const char *text);

/* Append `item`, taken over, to `list` and return it; when either is NULL the list is given up. */
json_t *tacit_json_append(json_t *list, json_t *item);

/* {"unit", "epsilon", "delta"} */
json_t *tacit_json_price(const tacit_price *price);

/* Who learns what under this plan, in the method's own words, with prices and noise: what `tacit explain`
 * prints. */
tacit_status tacit_json_explanation(json_t **out, const tacit_plan *plan, tacit_error *error);

/* {name: value} of the settings of a definition that are numbers, yes or no, or lines of text, as its
 * canonical text has them. */
json_t *tacit_json_study_settings(const tacit_study *study);

/* Where a study stands and what it asks, as everybody may know it who uses the coordinator's folder. */
json_t *tacit_json_study(const tacit_study_record *record, const tacit_study *study);
