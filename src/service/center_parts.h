/* Shared by the centre servers' files only. */
#pragma once

#include "service/center.h"

enum { CENTER_DEFINITION_MOST = 8 << 20 };

/* B: take the definition that A shows, and with it the list of revoked certificates (empty: none), look at that, and say yes
 * with the key or no with the reason. */
typedef tacit_status center_look(void *context, const tacit_study *study, const tacit_buffer *revocations,
                                 tacit_error *error);
tacit_status center_welcome(tacit_study **out, tacit_channel *channel, const tacit_paillier_secret *secret,
                            center_look *look, void *context, tacit_error *error);

/* A: show the definition, get the key. */
tacit_status center_greet(tacit_paillier_public **out, tacit_channel *channel, const tacit_study *study,
                          const tacit_buffer *revocations, tacit_error *error);

tacit_status center_split_address(const char *text, char *host, size_t size, uint16_t *port,
                                  tacit_error *error);
