/* The list of commands, in the order in which help shows them. X(NAME) stands for the entry
 * tacit_command_NAME, defined in a cmd_*.c. */
#pragma once

#include "cli/command.h"

#define TACIT_COMMANDS(X)                                                                                    \
    X(methods)                                                                                               \
    X(explain)                                                                                               \
    X(plan)                                                                                                  \
    X(simulate)                                                                                              \
    X(fit)                                                                                                   \
    X(audit)                                                                                                 \
    X(reproduce)                                                                                             \
    X(describe)                                                                                              \
    X(summary)                                                                                               \
    X(anova)                                                                                                 \
    X(evaluate)                                                                                              \
    X(predict)                                                                                               \
    X(card)                                                                                                  \
    X(export)                                                                                                \
    X(data_info)                                                                                             \
    X(data_draft_schema)                                                                                     \
    X(data_check)                                                                                            \
    X(data_convert)                                                                                          \
    X(data_sign)                                                                                             \
    X(study_new)                                                                                             \
    X(study_invite)                                                                                          \
    X(study_status)                                                                                          \
    X(study_open)                                                                                            \
    X(study_pause)                                                                                           \
    X(study_resume)                                                                                          \
    X(study_amend)                                                                                           \
    X(study_close)                                                                                           \
    X(study_draft)                                                                                           \
    X(study_applicants)                                                                                      \
    X(study_accept)                                                                                          \
    X(study_decline)                                                                                         \
    X(study_archive)                                                                                         \
    X(study_derive)                                                                                          \
    X(study_token)                                                                                           \
    X(arm_close)                                                                                             \
    X(arm_record)                                                                                            \
    X(receipt_redeem)                                                                                        \
    X(contact_key)                                                                                           \
    X(contact_list)                                                                                          \
    X(envelope_invite)                                                                                       \
    X(envelope_take)                                                                                         \
    X(coordinator)                                                                                           \
    X(center)                                                                                                \
    X(revoke)                                                                                                \
    X(rotate)                                                                                                \
    X(doctor)                                                                                                \
    X(backup)                                                                                                \
    X(restore)                                                                                               \
    X(export_audit)                                                                                          \
    X(catalogue)                                                                                             \
    X(enrol)                                                                                                 \
    X(look)                                                                                                  \
    X(join)                                                                                                  \
    X(party)                                                                                                 \
    X(envelope_open)                                                                                         \
    X(envelope_join)                                                                                         \
    X(envelope_answer)                                                                                       \
    X(envelope_close)                                                                                        \
    X(follow)                                                                                                \
    X(consent)                                                                                               \
    X(rules_show)                                                                                            \
    X(rules_set)                                                                                             \
    X(withdraw)                                                                                              \
    X(arm_show)                                                                                              \
    X(arm_verify)                                                                                            \
    X(receipt_get)                                                                                           \
    X(contact_send)                                                                                          \
    X(instrument_check)                                                                                      \
    X(instrument_sign)                                                                                       \
    X(instrument_show)                                                                                       \
    X(store_new)                                                                                             \
    X(store_passphrase)                                                                                      \
    X(store_take)                                                                                            \
    X(store_answer)                                                                                          \
    X(store_import)                                                                                          \
    X(store_show)                                                                                            \
    X(store_rule)                                                                                            \
    X(store_remove)                                                                                          \
    X(page)                                                                                                  \
    X(ledger_show)                                                                                           \
    X(ledger_limit)                                                                                          \
    X(ledger_link)                                                                                           \
    X(ledger_verify)                                                                                         \
    X(help)                                                                                                  \
    X(version)

#define TACIT_COMMAND_DECLARE(name) extern const tacit_command tacit_command_##name;
TACIT_COMMANDS(TACIT_COMMAND_DECLARE)
#undef TACIT_COMMAND_DECLARE

/* All of them, ending with NULL. */
extern const tacit_command *const tacit_commands[];
