# The figures that method cox is compared with, from R's survival:
#
#     Rscript cox.R WILMS_TIMES_CSV > cox.csv
#
# cox.csv beside this file was written by R 4.2.2 with survival 3.5. Times are put on the grid that the method uses: cells of 30 days.
library(survival)
words <- commandArgs(trailingOnly = TRUE)
wilms <- read.csv(words[1])
wilms$cell <- pmax(1, ceiling(wilms$days / 30))
tight <- coxph.control(eps = 1e-13, toler.chol = 1e-14, iter.max = 60)

show <- function(case, formula, ties) {
  fit <- suppressWarnings(coxph(formula, wilms, ties = ties, control = tight))
  table <- coef(summary(fit))
  for (name in rownames(table)) {
    row <- table[name, ]
    ends <- row[1] + c(-1, 1) * qnorm(0.975) * row[3]
    cat(case, gsub("factor[(]stage[)]", "stage=", name), sprintf("%.15g", c(row[c(1, 3, 4, 5)], ends)), sep = ",")
    cat("\n")
  }
  # Scores of rows that are alike may differ in the last bit, by the BLAS that R has.
  order <- concordance(Surv(days, relapse) ~ signif(predict(fit, reference = "zero"), 12), wilms, reverse = TRUE)$concordance
  cat(case, "fit", sprintf("%.15g", c(-2 * fit$loglik[2:1], AIC(fit), nrow(wilms), sum(wilms$relapse), order)), sep = ",")
  cat("\n")
}

cat("case,name,a,b,c,d,e,f\n")
all <- Surv(cell, relapse) ~ unfavourable + factor(stage) + late_unfavourable + age + study
show("efron", all, "efron")
show("breslow", all, "breslow")
show("strata", Surv(cell, relapse) ~ unfavourable + strata(stage) + late_unfavourable + age + study, "efron")
