# The figures that method cox-servers is compared with, from R's survival: Breslow's ties, times in cells of a year (nwtco) and of 30 days (lung).
#
#     Rscript servers.R WILMS_TIMES_CSV LUNG_CSV_GZ > servers.csv
#
# servers.csv beside this file was written by R 4.2.2 with survival 3.5.
library(survival)
words <- commandArgs(trailingOnly = TRUE)
tight <- coxph.control(eps = 1e-13, toler.chol = 1e-14, iter.max = 60)

show <- function(case, formula, rows) {
  fit <- coxph(formula, rows, ties = "breslow", control = tight)
  table <- coef(summary(fit))
  for (name in rownames(table)) {
    row <- table[name, ]
    ends <- row[1] + c(-1, 1) * qnorm(0.975) * row[3]
    cat(case, gsub("factor[(]stage[)]", "stage=", name), sprintf("%.15g", c(row[c(1, 3, 4, 5)], ends)), sep = ",")
    cat("\n")
  }
  cat(case, "fit", sprintf("%.15g", c(-2 * fit$loglik[2:1], AIC(fit), nrow(rows))), sep = ",")
  cat("\n")
}

cat("case,name,a,b,c,d,e,f\n")
wilms <- read.csv(words[1])
wilms$cell <- pmax(1, ceiling(wilms$days / 365.25))
show("nwtco", Surv(cell, relapse) ~ unfavourable + factor(stage) + late_unfavourable + age + study, wilms)
show("nwtco-strata", Surv(cell, relapse) ~ unfavourable + strata(stage) + late_unfavourable + age + study, wilms)
lung <- read.csv(gzfile(words[2]))
lung$sex <- factor(lung$sex, c("m", "f"))
lung$cell <- pmax(1, ceiling(lung$days / 30))
show("lung", Surv(cell, died) ~ age + sex + ecog, lung)
# Rows that are observed from a later month on, as tests/cli/test_cox.py makes them.
lung$since <- ifelse(lung$days > 120, (seq_len(nrow(lung)) %% 4) * 30, 0)
show("lung-entry", Surv(since / 30, cell, died) ~ age + sex + ecog, lung)
show("lung-entry-strata", Surv(since / 30, cell, died) ~ age + ecog + strata(sex), lung)
