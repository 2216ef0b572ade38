/* What people call a party ("St. Anna, Vienna"): free text that the coordinator's statistician gives with an
 * invitation, for people to read and to say. No key, mask or seat follows from it; parties are told apart by
 * the random name in their certificate. */
#pragma once

#include "base/error.h"

enum { TACIT_PARTY_NAME_MOST = 120 /* bytes */, TACIT_PARTY_NAME_SIZE = TACIT_PARTY_NAME_MOST + 1 };

/* TACIT_USAGE unless `name` is 1 to TACIT_PARTY_NAME_MOST bytes of UTF-8 that are shown as they are, on one
 * line, and cannot be mistaken for another name or for a party's random one: no control or invisible
 * characters, no spaces but single ones between words. */
tacit_status tacit_party_name_check(const char *name, tacit_error *error);
