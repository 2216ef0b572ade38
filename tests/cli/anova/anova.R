# The figures that tests of terms, and errors and Firth's penalty beside an offset or weights, are compared with:
#
#     Rscript anova.R WILMS_CSV CASES_CSV > anova.csv
#
# anova.csv beside this file was written by R 4.2.2 with MASS, nnet, sandwich and brglm2. spline() and poly() are those of Tacit, as in terms/glm.R.
words <- commandArgs(trailingOnly = TRUE)
suppressMessages({
  library(splines)
  library(MASS)
  library(nnet)
  library(sandwich)
  library(brglm2)
})
rows <- read.csv(words[1])
rows$relapse <- rows$relapse == "yes"
rows$stage <- factor(rows$stage)
cases <- read.csv(words[2])
spline <- function(x, df) ns(x, knots = 200 * seq_len(df - 1) / df, Boundary.knots = c(0, 200))
poly <- function(x, degree) {
  u <- x / 100 - 1
  unname(cbind(u, (3 * u^2 - 1) / 2, (5 * u^3 - 3 * u) / 2)[, seq_len(degree)])
}
line <- function(...) cat(paste(..., sep = "|"), sep = "\n")
digits <- function(x) paste(sprintf("%.15g", x), collapse = "|")

ordinal_fit <- function(y, x, weight) polr(y ~ x, data.frame(y, x = I(x), weight), weight, Hess = TRUE, control = list(reltol = 1e-15, maxit = 1000))
multinomial_fit <- function(y, x, weight) {
  multinom(y ~ x, data.frame(y, x = I(x), weight), weight, Hess = TRUE, reltol = 1e-15, abstol = 1e-12, maxit = 5000, trace = FALSE)
}

# polr's Hessian is of differences: here that of its gradient, by a complex step.
ordinal_errors <- function(b, y, x, weight) {
  k <- as.integer(y)
  most <- nlevels(y)
  slopes <- ncol(x)
  gradient <- function(b) {
    eta <- drop(x %*% b[seq_len(slopes)])
    zeta <- b[-seq_len(slopes)]
    above <- 1 / (1 + exp(eta - zeta[pmin(k, most - 1)]))
    below <- 1 / (1 + exp(eta - zeta[pmax(k - 1, 1)]))
    above[k == most] <- 1
    below[k == 1] <- 0
    up <- weight * above * (1 - above) / (above - below)
    down <- weight * below * (1 - below) / (above - below)
    c(drop(t(x) %*% (up - down)), vapply(seq_along(zeta), function(j) sum(down[k == j + 1]) - sum(up[k == j]), 0i))
  }
  hessian <- sapply(seq_along(b), function(j) Im(gradient(b + 1e-20i * (seq_along(b) == j))) / 1e-20)
  sqrt(diag(solve(hessian)))
}

# The coefficients of several classes that weights have a part in, and their errors.
several_coefficients <- function(case, y, x, weight) {
  if (case$family == "ordinal") {
    fit <- ordinal_fit(y, x, weight)
    b <- c(coef(fit), fit$zeta)
    error <- ordinal_errors(b, y, x, weight)
    names(b) <- c(colnames(x), sub("|", "/", names(fit$zeta), fixed = TRUE))
  } else {
    fit <- multinomial_fit(y, x, weight)
    b <- t(coef(fit))
    rownames(b)[-1] <- colnames(x)
    b <- setNames(as.vector(b), paste0(rep(colnames(b), each = nrow(b)), ":", rownames(b)))
    error <- sqrt(diag(vcov(fit)))
  }
  for (k in seq_along(b)) line(case$case, "coefficient", names(b)[k], digits(c(b[[k]], error[[k]])))
}

# A fit whose design is some columns of a model matrix; log-likelihood at its optimum, or the residual sum of squares.
reduced <- function(case, y, x, offset, weight) {
  switch(case$family,
    ordinal = if (ncol(x) == 0) NA else deviance(ordinal_fit(y, x, weight)),
    multinomial = deviance(multinomial_fit(y, x, weight)),
    deviance(glm.fit(cbind(x), y, weight, offset = offset, family = get(case$family)(), control = list(epsilon = 1e-14, maxit = 100))))
}

# Wald's test of the coefficients of a term.
wald <- function(case, name, b, v, df, rest) {
  statistic <- drop(b %*% solve(v, b))
  if (is.na(rest)) line(case, "wald", name, digits(c(df, statistic, pchisq(statistic, df, lower.tail = FALSE))))
  else line(case, "wald", name, digits(c(df, statistic / df, pf(statistic / df, df, rest, lower.tail = FALSE))))
}

# Whether no other term contains it.
droppable <- function(factors, k) !any(vapply(seq_len(ncol(factors))[-k], function(j) all(factors[factors[, k] > 0, j] > 0), NA))

cat("case|what|name|a|b|c|d\n")
for (k in seq_len(nrow(cases))) {
  case <- cases[k, ]
  weighted <- grepl("weights(study)", case$formula, fixed = TRUE)
  weight <- if (weighted) rows$study else rep(1, nrow(rows))
  formula <- as.formula(sub(" + weights(study)", "", case$formula, fixed = TRUE))
  frame <- model.frame(formula, rows)
  terms <- attr(frame, "terms")
  x <- model.matrix(terms, frame)
  y <- model.response(frame)
  offset <- model.offset(frame)
  assign <- attr(x, "assign")
  labels <- attr(terms, "term.labels")
  setting <- strsplit(case$settings, "=")[[1]]
  plain <- case$family %in% c("binomial", "poisson", "gaussian")
  if (plain) fit <- glm(formula, case$family, rows, weights = weight, control = list(epsilon = 1e-14, maxit = 100))
  if (setting[1] == "errors") {
    v <- vcovHC(fit, type = setting[2])
    for (name in names(coef(fit))) line(case$case, "coefficient", name, digits(c(coef(fit)[[name]], sqrt(v[name, name]))))
    next
  }
  if (setting[1] == "bias") {
    fit <- glm(formula, case$family, rows, weights = weight, method = "brglmFit", type = "AS_mean", control = list(epsilon = 1e-12, maxit = 1000))
    for (name in names(coef(fit))) line(case$case, "coefficient", name, digits(c(coef(fit)[[name]], sqrt(vcov(fit)[name, name]))))
    next
  }
  intercept <- assign == 0
  design <- if (plain) x else x[, !intercept, drop = FALSE]
  group <- if (plain) assign else assign[!intercept]
  if (plain) {
    b <- coef(fit)
    v <- vcov(fit)
    rest <- if (case$family == "gaussian") fit$df.residual else NA
    for (t in seq_along(labels)) wald(case$case, labels[t], b[assign == t], v[assign == t, assign == t, drop = FALSE], sum(assign == t), rest)
  } else {
    rest <- NA
  }
  if (!plain && weighted) several_coefficients(case, y, design, weight)
  whole <- reduced(case, y, design, offset, weight)
  scores <- if (case$family == "multinomial") nlevels(y) - 1 else 1
  tested <- function(t, df, smaller, less) {
    if (is.na(rest)) line(case$case, setting[2], labels[t], digits(c(df, smaller, less, pchisq(less, df, lower.tail = FALSE))))
    else {
      f <- less / df / (whole / rest)
      line(case$case, setting[2], labels[t], digits(c(df, smaller, f, pf(f, df, rest, lower.tail = FALSE))))
    }
  }
  if (setting[2] == "drop1") {
    for (t in seq_along(labels)) if (droppable(attr(terms, "factors"), t)) {
      smaller <- reduced(case, y, design[, group != t, drop = FALSE], offset, weight)
      tested(t, scores * sum(group == t), smaller, smaller - whole)
    }
    if (plain && !weighted && case$family != "gaussian") { # that this is R's own test
      own <- drop1(fit, test = "Chisq")[-1, ]
      stopifnot(abs(own$LRT - vapply(rownames(own), function(name) reduced(case, y, design[, group != match(name, labels), drop = FALSE], offset, weight) - whole, 0)) < 1e-6)
    }
  } else {
    before <- reduced(case, y, design[, group == 0, drop = FALSE], offset, weight)
    for (t in seq_along(labels)) {
      after <- reduced(case, y, design[, group <= t, drop = FALSE], offset, weight)
      tested(t, sum(group == t), after, before - after)
      before <- after
    }
    if (case$family == "binomial") stopifnot(abs(anova(fit, test = "Chisq")[-1, "Resid. Dev"] - vapply(seq_along(labels), function(t) reduced(case, y, design[, group <= t, drop = FALSE], offset, weight), 0)) < 1e-6)
  }
}
