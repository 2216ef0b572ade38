/* Secrets that stay in memory for long. */
#pragma once

#include <stddef.h>

/* Keep the pages of a secret out of swap and core dumps, as far as the limit of locked memory goes. They stay
 * so until they are unmapped: another secret may be on the same page. */
void tacit_secret_lock(const void *secret, size_t length);
