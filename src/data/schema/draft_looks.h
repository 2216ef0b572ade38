/*
 * What the cells of a column look like to a person who reads a draft: dates that can be read in two ways,
 * numbers with units, levels that differ in case alone, codes for missing values. A draft says so beside the
 * column; nothing is changed by it.
 */
#pragma once

#include "data/table.h"

enum { DRAFT_REMARK = 240 };

/* About a category: false where there is nothing to say. */
bool draft_look_at_texts(const tacit_column *column, char out[DRAFT_REMARK]);

/* About numbers. */
bool draft_look_at_numbers(const tacit_column *column, size_t rows, char out[DRAFT_REMARK]);
