# The figures that terms are compared with, from R's own glm and splines:
#
#     Rscript glm.R WILMS_CSV CASES_CSV > glm.csv
#
# glm.csv beside this file was written by R 4.2.2. spline() and poly() are those of Tacit, on the bounds 0 and 200 of age that
# the schema has; everything else is R's own.
words <- commandArgs(trailingOnly = TRUE)
library(splines)
rows <- read.csv(words[1])
rows$relapse <- rows$relapse == "yes"
rows$stage <- factor(rows$stage)
cases <- read.csv(words[2])
spline <- function(x, df) ns(x, knots = 200 * seq_len(df - 1) / df, Boundary.knots = c(0, 200))
poly <- function(x, degree, raw = FALSE) {
  if (raw) return(stats::poly(x, degree, raw = TRUE))
  u <- x / 100 - 1
  cbind(u, (3 * u^2 - 1) / 2, (5 * u^3 - 3 * u) / 2)[, seq_len(degree)] |> unname()
}

cat("case|name|a|b|c|d|e|f\n")
for (k in seq_len(nrow(cases))) {
  family <- cases$family[k]
  weighted <- grepl("weights(study)", cases$formula[k], fixed = TRUE) # glm has them as an argument
  weight <- if (weighted) rows$study else rep(1, nrow(rows))
  chosen <- if (nzchar(cases$subset[k])) eval(parse(text = cases$subset[k]), rows) else rep(TRUE, nrow(rows))
  formula <- as.formula(sub(" + weights(study)", "", cases$formula[k], fixed = TRUE))
  fit <- glm(formula, family = family, data = rows, weights = weight, subset = chosen, control = list(epsilon = 1e-14, maxit = 100))
  table <- coef(summary(fit))
  reach <- if (family == "gaussian") qt(0.975, fit$df.residual) else qnorm(0.975)
  for (name in rownames(table)) {
    row <- table[name, ]
    cat(cases$case[k], name, sprintf("%.15g", c(row, row[1] + c(-1, 1) * reach * row[2])), sep = "|")
    cat("\n")
  }
  figures <- c(fit$deviance, fit$null.deviance, fit$aic, fit$df.residual, fit$df.null, summary(fit)$dispersion)
  cat(cases$case[k], "fit", sprintf("%.15g", figures), sep = "|")
  cat("\n")
}
