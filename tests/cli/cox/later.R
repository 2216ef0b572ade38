# The figures that method cox is compared with where rows enter later, errors are robust or clustered, and hazards are tested:
#
#     Rscript later.R WILMS_TIMES_CSV > later.csv
#
# later.csv beside this file was written by R 4.2.2 with survival 3.5. later() makes entries and persons of the rows as tests/cli/test_cox.py does.
library(survival)
words <- commandArgs(trailingOnly = TRUE)
wilms <- read.csv(words[1])
wilms$row <- seq_len(nrow(wilms))
cells <- function(t) ceiling(t / 30 * (1 - 1e-12))
wilms$stop <- pmax(1, cells(wilms$days))
wilms$since <- ifelse(wilms$row %% 3 == 0 & wilms$days > 400, (wilms$row * 7) %% 300, 0)
wilms$start <- cells(wilms$since)
wilms$person <- wilms$row %/% 2
wilms$stage <- factor(wilms$stage)
tight <- coxph.control(eps = 1e-13, toler.chol = 1e-14, iter.max = 60)

fitted <- function(formula, ties, robust = FALSE, clustered = FALSE) {
  if (clustered) formula <- update(formula, . ~ . + cluster(person))
  suppressWarnings(coxph(formula, wilms, ties = ties, control = tight, x = TRUE, robust = robust || clustered))
}
line <- function(...) cat(..., "\n", sep = "|")
show <- function(case, fit) {
  table <- coef(summary(fit))
  for (name in rownames(table)) line(case, name, paste(sprintf("%.15g", c(table[name, 1], sqrt(diag(fit$var))[match(name, rownames(table))])), collapse = "|"))
  late <- concordance(Surv(since, days, relapse) ~ signif(predict(fit, reference = "zero"), 12), wilms, reverse = TRUE)$concordance
  early <- concordance(Surv(days, relapse) ~ signif(predict(fit, reference = "zero"), 12), wilms, reverse = TRUE)$concordance
  line(case, "fit", paste(sprintf("%.15g", c(-2 * fit$loglik[2:1], if (startsWith(case, "robust")) early else late)), collapse = "|"))
}
tests <- function(case, fit) {
  for (transform in c("km", "identity", "log", "rank")) {
    table <- cox.zph(fit, transform)$table
    for (name in rownames(table)) line(paste0(case, "-", transform), name, paste(sprintf("%.15g", table[name, ]), collapse = "|"))
  }
}

cat("case|name|a|b|c\n")
for (ties in c("efron", "breslow")) {
  early <- Surv(stop, relapse) ~ unfavourable * age + stage
  late <- Surv(start, stop, relapse) ~ unfavourable * age + stage
  show(paste0("entry-", ties), fitted(late, ties))
  show(paste0("robust-", ties), fitted(early, ties, robust = TRUE))
  show(paste0("cluster-", ties), fitted(late, ties, clustered = TRUE))
  tests(paste0("trend-", ties), fitted(early, ties))
}
show("entry-strata", fitted(Surv(start, stop, relapse) ~ unfavourable + age + strata(stage), "efron", clustered = TRUE))
tests("trend-strata", fitted(Surv(start, stop, relapse) ~ unfavourable + age + strata(stage), "efron"))
