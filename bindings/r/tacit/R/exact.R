# What only the exact method estimate has: an offset, weights of rows, no intercept. To the library they are terms.

# A column of glm's weights or offset, evaluated as there; NULL where it was not given.
beside_of <- function(expression, data, environment, what) {
  if (is.null(expression)) return(NULL)
  value <- eval(expression, data, environment)
  if (is.null(value)) return(NULL)
  if (!is.numeric(value)) usage(what, " must be a number for each row")
  as.double(value)
}

# Weights and offset of the rows that the model frame has kept.
beside_rows <- function(weights, offset, plan, method) {
  weights <- rows_kept(weights, plan, "weights")
  offset <- rows_kept(offset, plan, "offset")
  if (!is.null(plan$offset)) offset <- plan$offset + if (is.null(offset)) 0 else offset
  if (!is.null(weights)) {
    if (anyNA(weights) || any(weights <= 0)) usage("weights must be above 0; leave other rows out by subset")
    if (method != "estimate") usage("weights are for method = \"estimate\": the noise of ", method, " is for rows that count once, and a weight of 50 would need 50 times of it")
  }
  if (!is.null(offset)) {
    if (anyNA(offset)) usage("the offset has missing values")
    if (method != "estimate") usage("an offset is for method = \"estimate\"")
  }
  list(weights = weights, offset = offset)
}

rows_kept <- function(value, plan, what) {
  if (is.null(value)) return(NULL)
  if (!is.null(plan$chosen) && length(value) == length(plan$chosen)) value <- value[plan$chosen]
  if (!is.null(plan$left_out) && length(value) == plan$rows + length(plan$left_out)) value <- value[-plan$left_out]
  if (length(value) != plan$rows) usage("there must be ", what, " for each row")
  value
}

# The inverse of the information at the coefficients, which the rows at hand give: kept where it has the standard errors of the table.
exact_covariance <- function(result, plan, beside) {
  estimates <- estimates_of(result)
  if (is.null(estimates) || !result$method %in% c("estimate", "newton") || is.null(estimates$deviance)) return(NULL)
  if (!is.null(estimates$noise_share) || length(plan$y$classes) > 2) return(NULL)
  table <- coefficient_table(estimates)
  x <- plan$x[, c(if (plan$intercept) "(Intercept)", plan$columns), drop = FALSE]
  if (anyNA(x) || nrow(table) != ncol(x)) return(NULL)
  mean <- family_of(plan$y$kind)
  eta <- drop(x %*% table[, 1]) + if (is.null(beside$offset)) 0 else beside$offset
  weight <- mean$variance(mean$linkinv(eta)) * if (is.null(beside$weights)) 1 else beside$weights # canonical links
  result <- tryCatch(chol2inv(chol(crossprod(x * sqrt(weight)))) * json_number(estimates$dispersion), error = function(problem) NULL)
  if (is.null(result) || any(abs(sqrt(diag(result)) - table[, 2]) > 1e-3 * table[, 2])) return(NULL)
  dimnames(result) <- list(rownames(table), rownames(table))
  result
}

family_of <- function(kind) switch(kind, class = stats::binomial(), number = stats::gaussian(), count = stats::poisson())

# For step() and drop1(), as glm's: the coefficients are counted, a dispersion is not.
extractAIC.tacit_glm <- function(fit, scale = 0, k = 2, ...) {
  edf <- stats::nobs(fit) - stats::df.residual(fit)
  c(edf, stats::AIC(fit) + (k - 2) * edf)
}
