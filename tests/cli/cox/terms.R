# The figures that method cox with terms is compared with, from R's survival:
#
#     Rscript terms.R WILMS_TIMES_CSV terms.txt > terms.csv
#
# terms.csv beside this file was written by R 4.2.2 with survival 3.5. Times are put on the grid that the method uses: cells of 30 days.
library(survival)
library(splines)
surv <- Surv
words <- commandArgs(trailingOnly = TRUE)
wilms <- read.csv(words[1])
wilms <- transform(wilms, days = pmax(1, ceiling(days / 30)), stage = factor(stage), study = factor(study))
tight <- coxph.control(eps = 1e-13, toler.chol = 1e-14, iter.max = 60)

cat("case|name|estimate|error|statistic|p|low|high\n")
for (line in strsplit(readLines(words[2]), "|", fixed = TRUE)) {
  formula <- as.formula(line[3])
  if (length(formula) == 2 || formula[[2]] == as.name("days")) formula <- update(formula, Surv(days, relapse) ~ .)
  fit <- suppressWarnings(coxph(formula, wilms, ties = line[2], control = tight))
  table <- coef(summary(fit))
  for (name in rownames(table)) {
    row <- table[name, ]
    ends <- row[1] + c(-1, 1) * qnorm(0.975) * row[3]
    cat(line[1], name, sprintf("%.15g", c(row[c(1, 3, 4, 5)], ends)), sep = "|")
    cat("\n")
  }
  cat(line[1], "fit", sprintf("%.15g", c(-2 * fit$loglik[2:1], AIC(fit), fit$n, fit$nevent)), sep = "|")
  cat("\n")
}
