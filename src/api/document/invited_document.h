/* What an invitation asks, before there are any rows, as a document. */
#pragma once

#include <jansson.h>

#include "site/site.h"

/* Study, method, what leaves and who sees it, price, and the columns that rows need. The caller's. */
tacit_status tacit_invited_document(json_t **out, const tacit_site *site, tacit_error *error);
