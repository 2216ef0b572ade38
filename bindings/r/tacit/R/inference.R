# Standard errors and intervals, where a method has such.

# The table of a method that works from exact sums; NULL for others.
estimates_of <- function(object) object$document$summary

no_errors <- function(object) {
  if (!object$method %in% exact_methods) {
    paste0("There are no standard errors: the noise in these coefficients spreads them by more than the usual",
      " formulas say, and what would measure the spread was not released. method = \"dpnewton\" with purpose = \"inference\" releases it;",
      " method = \"estimate\" has standard errors, and no privacy.")
  } else {
    paste0("There are no standard errors: ", object$method, " does not compute any; method = \"estimate\" does.")
  }
}

summary.tacit_model <- function(object, ...) {
  estimates <- estimates_of(object)
  table <- if (is.null(estimates)) tryCatch(coef(object), tacit_usage = function(problem) NULL) else coefficient_table(estimates)
  structure(class = "summary.tacit_model", list(call = object$call, coefficients = table, estimates = estimates,
    why = if (is.null(estimates)) no_errors(object), promise = promise_text(object), rows = object$rows, random = object$random,
    lambda = object$document$guarantee$lambda, missing_counts = missing_counts(object$document)))
}

# How many values were missing, by column and what became of them, with the standard error of the noise; NULL where the study did not
# release it. NA: too few to be shown.
missing_counts <- function(document) {
  report <- document$summary$missing_counts
  if (is.null(report)) report <- document$report$missing_counts
  if (is.null(report) && identical(document$report$kind, "missing")) report <- document$report
  if (is.null(report)) return(NULL)
  rows <- Filter(function(table) table$name == "missing", report$tables)[[1]]$rows
  column <- function(name) vapply(rows, function(row) if (is.null(row[[name]])) NA_real_ else json_number(row[[name]][[1]]), 0)
  matrix(c(column("values"), column("noise_errors")), ncol = 2, dimnames = list(vapply(rows, function(row) row$label, ""),
    c("Count", "Std. Error")))
}

coefficient_table <- function(estimates) {
  column <- function(name) vapply(estimates$coefficients, function(row) json_number(row[[name]]), 0)
  test <- if (identical(estimates$statistic, "t")) c("t value", "Pr(>|t|)") else c("z value", "Pr(>|z|)")
  matrix(c(column("estimate"), column("error"), column("statistic"), column("p")), ncol = 4, dimnames = list(
    coefficient_names(estimates), c("Estimate", "Std. Error", test)))
}

coefficient_names <- function(estimates) vapply(estimates$coefficients, function(row) row$name, "")

# The share of privacy noise in each variance; NULL where there is no such noise.
noise_shares <- function(estimates) {
  if (is.null(estimates$noise_share)) return(NULL)
  stats::setNames(vapply(estimates$noise_share, json_number, 0), coefficient_names(estimates))
}

needs_text <- function(needs) {
  epsilon <- json_number(needs$epsilon)
  paste0("Not estimable at this price: needs about ", format(json_number(needs$rows)), " rows",
    if (is.finite(epsilon)) paste0(" or epsilon ", format(epsilon)), ". The least is known of ", needs$weakest, ".")
}

vcov.tacit_model <- function(object, ...) {
  estimates <- estimates_of(object)
  if (is.null(estimates)) usage(no_errors(object))
  if (!is.null(estimates$not_estimable)) usage(needs_text(estimates$not_estimable))
  if (!is.null(object$covariance)) return(object$covariance)
  if (is.null(estimates$covariance)) usage("The model has no covariance of its coefficients: only standard errors were kept.")
  names <- coefficient_names(estimates)
  matrix(as.numeric(unlist(estimates$covariance)), length(names), dimnames = list(names, names))
}

print.summary.tacit_model <- function(x, digits = max(3L, getOption("digits") - 3L), ...) {
  print_call(x$call)
  if (!is.null(x$estimates)) {
    cat("Coefficients:\n")
    if (!is.null(x$estimates$not_estimable)) {
      cat(paste(strwrap(needs_text(x$estimates$not_estimable)), collapse = "\n"), "\n", sep = "")
    } else {
      stats::printCoefmat(x$coefficients, digits = digits)
    }
    noise <- noise_shares(x$estimates)
    if (!is.null(x$random)) print_random(x, digits)
    else if (is.null(noise)) print_deviance(x$estimates, digits)
    else if (is.null(x$estimates$not_estimable)) {
      cat("\nStandard errors include the privacy noise. Its share of each variance:\n")
      print(round(noise, 2))
    }
    if (isTRUE(x$lambda > 0) && is.null(noise)) cat(paste(strwrap(shrunken(x$lambda)), collapse = "\n"), "\n", sep = "")
  } else if (!is.null(x$coefficients)) {
    cat("Coefficients, on the scale of the data:\n")
    print(cbind(Estimate = x$coefficients), digits = digits)
    cat("\n", paste(strwrap(x$why), collapse = "\n"), "\n", sep = "")
  }
  if (!is.null(x$missing_counts)) {
    cat("\nMissing values, and the standard error of the noise:\n")
    print(round(x$missing_counts, 1), na.print = "-")
  }
  cat("\n", x$rows, " rows. ", paste(strwrap(x$promise), collapse = "\n"), "\n", sep = "")
  invisible(x)
}

shrunken <- function(lambda) paste0("With lambda = ", format(lambda), " coefficients are shrunken; their standard errors leave that bias out.")

print_deviance <- function(estimates, digits) {
  shown <- function(value) format(signif(json_number(value), max(5L, digits + 1L)))
  cat("\n(Dispersion parameter taken to be ", shown(estimates$dispersion), ")\n\n", sep = "")
  if (is.null(estimates$deviance)) return()
  cat("    Null deviance: ", shown(estimates$null_deviance), " on ", estimates$null_degrees, " degrees of freedom\n",
    "Residual deviance: ", shown(estimates$deviance), " on ", estimates$degrees, " degrees of freedom\n",
    "AIC: ", shown(estimates$aic), "\n", sep = "")
}

print_random <- function(x, digits) {
  cat("\nRandom effects of ", x$estimates$groups, " groups:\n", sep = "")
  print(x$random, digits = digits, na.print = "")
  cat("\nLog-likelihood: ", format(json_number(x$estimates$likelihood), digits = digits + 3L), ", AIC: ", format(json_number(x$estimates$aic), digits = digits + 3L), "\n", sep = "")
}

confint.tacit_model <- function(object, parm, level = 0.95, ...) {
  estimates <- estimates_of(object)
  if (is.null(estimates)) usage(sub("standard errors", "confidence intervals", no_errors(object), fixed = TRUE))
  if (!(number(level, "level", 0, 1) > 0 && level < 1)) usage("level must be above 0 and below 1")
  lambda <- object$document$guarantee$lambda
  if (!is.null(estimates$not_estimable)) usage(needs_text(estimates$not_estimable))
  if (isTRUE(lambda > 0) && is.null(estimates$noise_share)) warning("With lambda = ", format(lambda), " intervals leave out the bias of the shrunken coefficients.", call. = FALSE)
  table <- coefficient_table(estimates)
  tail <- (1 - level) / 2
  reach <- if (identical(estimates$statistic, "t")) stats::qt(tail, json_number(estimates$degrees)) else stats::qnorm(tail)
  result <- table[, 1] + outer(table[, 2], c(reach, -reach))
  colnames(result) <- paste(format(100 * c(tail, 1 - tail), trim = TRUE, digits = 3), "%")
  if (missing(parm)) result else result[parm, , drop = FALSE]
}
