# The figures that method estimate with intercepts=party is compared with, from R's glm and lm with a factor of sites:
#
#     Rscript sites.R SITES_CSV > sites.csv
#
# sites.csv beside this file was written by R 4.2.2; the rows of SITES_CSV are made by tests/cli/test_meta.py.
rows <- read.csv(commandArgs(trailingOnly = TRUE)[1])
line <- function(...) cat(paste(sapply(list(...), function(x) if (is.character(x)) x else sprintf("%.15g", x)), collapse = ","), "\n", sep = "")

show <- function(case, common, apart, test) {
  table <- coef(summary(apart))
  for (name in c("age", "armb")) line(case, name, table[name, 1], table[name, 2], table[name, 4])
  line(case, "deviance", deviance(apart), df.residual(apart), AIC(apart))
  compared <- anova(common, apart, test = test)
  if (test == "F") line(case, "sites", compared$F[2], compared$Df[2], compared[["Pr(>F)"]][2])
  else line(case, "sites", compared$Deviance[2], compared$Df[2], compared[["Pr(>Chi)"]][2])
}

cat("case,name,value,error,p\n")
strict <- glm.control(epsilon = 1e-14, maxit = 100)
for (count in c(5, 20)) {
  own <- rows[rows$site <= count, ]
  show(paste("pressure", count), lm(pressure ~ age + arm, own), lm(pressure ~ age + arm + factor(site), own), "F")
  show(paste("ill", count), glm(ill ~ age + arm, binomial, own, control = strict), glm(ill ~ age + arm + factor(site), binomial, own, control = strict), "Chisq")
}
