/* The audits of vote, soft, soft-stat and pate: entries of the table in audit_table.c. */
#pragma once

#include "lab/audit/audit.h"

extern const tacit_auditable tacit_audit_vote, tacit_audit_soft, tacit_audit_soft_stat, tacit_audit_pate;
