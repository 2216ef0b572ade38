/* Apart from the other tables, which a library for parties alone does without. */
#include "api/document/tables.h"
#include "api/option/row_options.h"

const tacit_option tacit_join_options[] = {
    TACIT_OPTIONS_JOINING_ROWS,
    { .name = "listen",
      .kind = TACIT_OPTION_TEXT,
      .placeholder = "HOST:PORT",
      .help = TACIT_HELP(
          "in a study without a center, let neighbours bring their words here directly; without it "
          "parties only dial out, and words go sealed through the coordinator") },
    { .name = "proxy",
      .kind = TACIT_OPTION_TEXT,
      .placeholder = "URL",
      .help = TACIT_HELP(
          "reach the coordinator through this HTTP proxy, e.g. http://proxy.example.org:3128; kept for "
          "later. By default, as HTTPS_PROXY and NO_PROXY say, a loopback address directly. The proxy "
          "sees whom you talk to and how much, not what") },
    TACIT_OPTIONS_JOINING_WORD,
    { .name = "no-wait",
      .kind = TACIT_OPTION_FLAG,
      .help = TACIT_HELP("join and return; `tacit party` then answers, for all studies of this home") },
    TACIT_OPTION_RETRY,
    TACIT_OPTION_MODEL,
    TACIT_OPTIONS_READING,
    { .name = NULL },
};
