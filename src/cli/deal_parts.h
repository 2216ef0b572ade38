/* Dealing rows out, and keeping a rank's part of them. For deal*.c only. */
#pragma once

#include "cli/deal.h"

/* After the deal was made from a data set without features: read `path` again as `options` say, and keep what this rank needs. */
tacit_status tacit_deal_take_part(tacit_deal *deal, const char *path, const tacit_load_options *options,
                                  tacit_ranks *ranks, tacit_error *error);
