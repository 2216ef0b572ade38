# What R asks of a fitted model: likelihood, terms, tests between models, residuals, figures.

# TRUE where the usual likelihood of a table of exact estimates holds; else an error that says why not.
needs_likelihood <- function(object, what) {
  estimates <- estimates_of(object)
  if (is.null(estimates)) usage(sub("standard errors", what, no_errors(object), fixed = TRUE))
  if (is.null(estimates$deviance)) usage("There is no ", what, ": the sums that ", object$method, " released do not tell it.")
  estimates
}

# The likelihood of a model with random effects counts their variances too.
logLik.tacit_mixed <- function(object, ...) {
  estimates <- estimates_of(object)
  likelihood <- json_number(estimates$likelihood)
  structure(likelihood, df = json_number(estimates$aic) / 2 + likelihood, nobs = object$rows, class = "logLik")
}

logLik.tacit_model <- function(object, ...) {
  estimates <- needs_likelihood(object, "likelihood")
  parameters <- length(estimates$coefficients) + (identical(object$kind, "number"))
  structure(parameters - json_number(estimates$aic) / 2, df = parameters, nobs = object$rows, class = "logLik")
}

nobs.tacit_model <- function(object, ...) {
  if (is.null(object$rows)) usage("a model from a file does not know its number of rows")
  object$rows
}

deviance.tacit_model <- function(object, ...) json_number(needs_likelihood(object, "deviance")$deviance)

df.residual.tacit_model <- function(object, ...) json_number(needs_likelihood(object, "degrees of freedom")$degrees)

family.tacit_model <- function(object, ...) {
  family <- if (!is.null(object$kind)) family_of(object$kind)
  if (is.null(family)) usage("this model has no family as glm() has: it is from a file, or of another kind")
  family
}

formula.tacit_glm <- function(x, ...) if (!is.null(x$formula)) x$formula else stats::formula(x$design$terms)

terms.tacit_glm <- function(x, ...) if (!is.null(x$terms)) x$terms else x$design$terms

model.matrix.tacit_glm <- function(object, data, ...) {
  if (missing(data)) usage("data is needed: a model keeps none of the rows it was made of")
  design_rows(object$design, data)
}

# Of rows that are given: the model has none.
residuals.tacit_glm <- function(object, type = c("deviance", "pearson", "response"), data, ...) {
  type <- match.arg(type)
  if (missing(data)) usage("residuals need data: a model keeps none of the rows it was made of, and residuals of private rows are not private")
  family <- family.tacit_model(object)
  if (length(object$classes) > 2) usage("residuals are for two classes, or numbers")
  frame <- stats::model.frame(terms.tacit_glm(object), data, na.action = stats::na.pass, xlev = object$design$xlevels)
  y <- stats::model.response(frame)
  if (is.null(y)) usage("data lacks the response")
  y <- if (object$kind == "class") as.double(match(as.character(y), object$classes) - 1L) else as.double(y)
  mean <- predict.tacit_glm(object, data)
  result <- switch(type, response = y - mean, pearson = (y - mean) / sqrt(family$variance(mean)),
    deviance = sign(y - mean) * sqrt(pmax(family$dev.resids(y, mean, rep(1, length(y))), 0)))
  stats::setNames(result, rownames(frame))
}

# Nested models, as anova.glm compares them; by default F for numbers and chi-square for others.
anova.tacit_glm <- function(object, ..., test = NULL) {
  models <- list(object, ...)
  if (length(models) < 2 || !all(vapply(models, inherits, NA, "tacit_glm")))
    usage("anova() compares two or more nested models of tacit_glm(); for terms of one, ", "settings = list(anova = \"drop1\") of a study with terms")
  rows <- vapply(models, nobs.tacit_model, 0)
  if (any(rows != rows[1])) usage("the models are of different numbers of rows: ", paste(unique(rows), collapse = ", "))
  degrees <- vapply(models, df.residual.tacit_model, 0)
  deviance <- vapply(models, deviance.tacit_model, 0)
  if (is.null(test)) test <- if (identical(object$kind, "number")) "F" else "Chisq"
  table <- data.frame(degrees, deviance, c(NA, -diff(degrees)), c(NA, -diff(deviance)))
  largest <- models[[which.min(degrees)]]
  dispersion <- json_number(estimates_of(largest)$dispersion)
  formulas <- vapply(models, function(model) deparse1(formula.tacit_glm(model)), "")
  names <- c("Resid. Df", "Resid. Dev", "Df", "Deviance")
  dimnames(table) <- list(seq_along(models), names)
  if (test %in% c("Chisq", "F", "LRT")) table <- stats::stat.anova(table, test, dispersion, min(degrees), max(rows))
  structure(table, heading = c("Analysis of Deviance Table\n", paste0("Model ", seq_along(models), ": ", formulas, collapse = "\n")),
    class = c("anova", "data.frame"))
}

# Coefficients with their intervals, where there are such.
plot.tacit_model <- function(x, level = 0.95, main = "Coefficients", xlab = "estimate", ...) {
  if (is.matrix(coef(x))) usage("plot() is for models of two classes, or numbers")
  shown <- setdiff(names(coef(x)), "(Intercept)")
  estimate <- coef(x)[shown]
  ends <- if (is.null(estimates_of(x))) cbind(estimate, estimate) else confint(x, shown, level)
  at <- rev(seq_along(shown))
  old <- graphics::par(mar = graphics::par("mar") + c(0, max(0, max(nchar(shown)) / 2 - 2), 0, 0))
  on.exit(graphics::par(old))
  graphics::plot(estimate, at, xlim = range(0, ends), yaxt = "n", ylab = "", xlab = xlab, main = main, pch = 19, ...)
  graphics::axis(2, at, shown, las = 1)
  graphics::abline(v = 0, lty = 3)
  graphics::segments(ends[, 1], at, ends[, 2], at)
  invisible(x)
}

# A figure over epsilon, a line for each method; methods without noise are lines across.
plot.tacit_simulation <- function(x, figure = NULL, ...) {
  runs <- x$runs
  if (is.null(figure)) figure <- intersect(c("accuracy", "auc", "rmse", "logloss"), names(runs))[1]
  if (is.na(figure) || !figure %in% names(runs)) usage("no run has the figure ", figure)
  methods <- unique(runs$method)
  finite <- is.finite(runs$epsilon)
  at <- if (any(finite)) runs$epsilon[finite] else 1
  graphics::plot(range(at), range(runs[[figure]], na.rm = TRUE), log = "x", type = "n", xlab = "epsilon", ylab = figure, ...)
  for (k in seq_along(methods)) {
    these <- runs[runs$method == methods[k] & finite, ]
    graphics::lines(these$epsilon, these[[figure]], type = "b", col = k, pch = 19)
    across <- runs[runs$method == methods[k] & !finite, ]
    if (nrow(across) > 0) graphics::abline(h = across[[figure]], col = k, lty = 2)
  }
  graphics::legend("bottomright", methods, col = seq_along(methods), lty = 1, bty = "n")
  invisible(x)
}

# Standard errors of predictions, by the covariance of the coefficients.
with_errors <- function(object, x, type, fit, offset) {
  if (type == "class") usage("se.fit is for type \"link\" or \"response\"")
  covariance <- vcov(object)
  columns <- x[, rownames(covariance), drop = FALSE]
  errors <- sqrt(rowSums((columns %*% covariance) * columns))
  family <- family.tacit_model(object)
  if (type == "response") errors <- errors * abs(family$mu.eta(drop(columns %*% coef(object)[rownames(covariance)]) + offset))
  dispersion <- estimates_of(object)$dispersion
  list(fit = fit, se.fit = stats::setNames(errors, names(fit)), residual.scale = if (is.null(dispersion)) 1 else sqrt(json_number(dispersion)))
}
