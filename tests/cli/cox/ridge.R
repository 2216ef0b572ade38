# The figures that method cox is compared with where there is a ridge, and baselines with strata and both ways with ties, from R's survival:
#
#     Rscript ridge.R WILMS_TIMES_CSV > ridge.csv
#
# ridge.csv beside this file was written by R 4.2.2 with survival 3.5. Times are put on the grid that the method uses: cells of 30 days. The method adds n lambda/2 |w|^2, w being the
# weights of p columns that run over [-1, 1]/sqrt(2 p): a coefficient of a column over [0, 1] is w times sqrt(2/p), and R's theta n lambda p/2.
library(survival)
words <- commandArgs(trailingOnly = TRUE)
wilms <- read.csv(words[1])
wilms$cell <- pmax(1, ceiling(wilms$days / 30))
tight <- coxph.control(eps = 1e-13, toler.chol = 1e-14, iter.max = 60, outer.max = 60)
line <- function(...) cat(paste(sapply(list(...), function(x) if (is.character(x)) x else sprintf("%.15g", x)), collapse = "|"), "\n", sep = "")

cat("case|name|a|b\n")
n <- nrow(wilms)
for (lambda in c(0.001, 0.1)) {
  one <- coxph(Surv(cell, relapse) ~ ridge(unfavourable, theta = n * lambda / 2, scale = FALSE), wilms, control = tight)
  line(sprintf("one %g", lambda), "unfavourable", coef(one), sqrt(one$var2[1, 1]))
  two <- coxph(Surv(cell, relapse) ~ ridge(unfavourable, late_unfavourable, theta = n * lambda, scale = FALSE), wilms, ties = "breslow", control = tight)
  for (k in 1:2) line(sprintf("two %g", lambda), c("unfavourable", "late_unfavourable")[k], coef(two)[k], sqrt(two$var2[k, k]))
}
show <- function(case, formula, ties) {
  base <- basehaz(suppressWarnings(coxph(formula, wilms, ties = ties, control = tight)), centered = FALSE)
  strata <- if (is.null(base$strata)) rep("0", nrow(base)) else sub("stage=", "", as.character(base$strata))
  for (stratum in unique(strata)) {
    steps <- diff(c(0, base$hazard[strata == stratum]))
    times <- base$time[strata == stratum]
    for (k in which(steps > 1e-12)) line(case, paste(stratum, 30 * times[k]), steps[k], 0)
  }
}
for (ties in c("efron", "breslow")) {
  show(paste("base", ties), Surv(cell, relapse) ~ unfavourable + factor(stage) + age, ties)
  show(paste("base strata", ties), Surv(cell, relapse) ~ unfavourable + age + strata(stage), ties)
}
