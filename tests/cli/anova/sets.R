# Tests of terms on two more data sets, with missing values in one of them, by R's own drop1 and anova:
#
#     Rscript sets.R LUNG_CSV PBC_CSV > sets.csv
#
# sets.csv beside this file was written by R 4.2.2.
words <- commandArgs(trailingOnly = TRUE)
lung <- read.csv(words[1])
lung$ecog <- pmin(lung$ecog, 2) # one row has 3
pbc <- read.csv(words[2])
control <- glm.control(epsilon = 1e-14, maxit = 100)
fits <- list(
  lung = glm(died == "yes" ~ sex * age + factor(ecog), binomial, lung, control = control),
  pbc = glm(death == "yes" ~ sex * age + log(bili) + factor(stage), binomial, pbc, control = control))
cat("case|what|name|a|b|c|d\n")
for (case in names(fits)) for (what in c("drop1", "sequential")) {
  table <- if (what == "drop1") drop1(fits[[case]], test = "Chisq") else anova(fits[[case]], test = "Chisq")
  deviance <- if (what == "drop1") table$Deviance else table$"Resid. Dev"
  statistic <- if (what == "drop1") table$LRT else table$Deviance
  for (k in seq_len(nrow(table))[-1])
    cat(case, what, rownames(table)[k], paste(sprintf("%.15g", c(table$Df[k], deviance[k], statistic[k], table$"Pr(>Chi)"[k])), collapse = "|"), sep = "|", fill = 200)
}
