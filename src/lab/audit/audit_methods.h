/* Audits of methods that have files of their own; the table is in audit_table.c. */
#pragma once

#include "lab/audit/audit.h"

extern const tacit_auditable tacit_audit_describe, tacit_audit_evaluate, tacit_audit_exponential,
    tacit_audit_histogram, tacit_audit_survival, tacit_audit_dpcox, tacit_audit_dpcox_thin,
    tacit_audit_dptree, tacit_audit_dptree_thin;
extern const tacit_auditable tacit_audit_pst_s, tacit_audit_pst_f, tacit_audit_pst_h,
    tacit_audit_pst_h_printed, tacit_audit_pst_s_trees, tacit_audit_pst_s_trees_thin;
extern const tacit_auditable tacit_audit_vote, tacit_audit_soft, tacit_audit_soft_stat, tacit_audit_pate;
extern const tacit_auditable tacit_audit_newton, tacit_audit_privlogit_hessian, tacit_audit_privlogit_local,
    tacit_audit_newton_undivided;
