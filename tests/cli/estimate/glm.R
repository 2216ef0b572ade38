# The figures that method estimate is compared with, from R's own glm:
#
#     Rscript glm.R BREAST_CANCER_CSV CLAIMS_CSV > glm.csv
#
# glm.csv beside this file was written by R 4.2.2. claims.csv is simulated: 240 made-up people. Convergence is driven to
# the end (epsilon 1e-14); glm's usual 1e-8 leaves coefficients a little short of the maximum.
words <- commandArgs(trailingOnly = TRUE)
cells <- read.csv(words[1])
claims <- read.csv(words[2], stringsAsFactors = TRUE)
cells$malignant <- cells$diagnosis == "malignant"

show <- function(case, formula, family, data) {
  fit <- glm(formula, family = family, data = data, control = list(epsilon = 1e-14, maxit = 100))
  table <- coef(summary(fit))
  reach <- if (family == "gaussian") qt(0.975, fit$df.residual) else qnorm(0.975)
  for (name in rownames(table)) {
    row <- table[name, ]
    ends <- row[1] + c(-1, 1) * reach * row[2]
    cat(case, gsub("[()]", "", name), sprintf("%.15g", c(row, ends)), sep = ",")
    cat("\n")
  }
  figures <- c(fit$deviance, fit$null.deviance, fit$aic, fit$df.residual, fit$df.null, summary(fit)$dispersion)
  cat(case, "fit", sprintf("%.15g", figures), sep = ",")
  cat("\n")
}

cat("case,name,a,b,c,d,e,f\n")
show("cells-logistic", malignant ~ mean_radius + mean_texture + mean_smoothness, "binomial", cells)
show("cells-linear", mean_perimeter ~ mean_texture + mean_smoothness + worst_concavity, "gaussian", cells)
show("claims-poisson", visits ~ age + sex + region, "poisson", claims)
show("claims-logistic", ill ~ age + sex + region, "binomial", claims)
show("claims-linear", cost ~ age + sex + region, "gaussian", claims)
