# tidy, glance and augment of the package generics (and so of broom), which need not be there: they are registered when it is loaded.

tidy.tacit_model <- function(x, conf.int = FALSE, conf.level = 0.95, exponentiate = FALSE, ...) {
  estimates <- estimates_of(x)
  weights <- coef(x)
  if (is.matrix(weights)) {
    result <- data.frame(y.level = rep(colnames(weights), each = nrow(weights)), term = rep(rownames(weights), ncol(weights)),
      estimate = as.vector(weights), stringsAsFactors = FALSE)
  } else {
    result <- data.frame(term = names(weights), estimate = unname(weights), stringsAsFactors = FALSE)
  }
  known <- !is.null(estimates) && is.null(estimates$not_estimable) && !is.matrix(weights)
  table <- if (known) coefficient_table(estimates) else matrix(NA_real_, nrow(result), 4)
  result$std.error <- unname(table[, 2])
  result$statistic <- unname(table[, 3])
  result$p.value <- unname(table[, 4])
  if (conf.int) {
    ends <- confint(x, level = conf.level)
    result$conf.low <- unname(ends[, 1])
    result$conf.high <- unname(ends[, 2])
  }
  if (exponentiate) for (column in intersect(c("estimate", "conf.low", "conf.high"), names(result))) result[[column]] <- exp(result[[column]])
  result
}

glance.tacit_model <- function(x, ...) {
  estimates <- estimates_of(x)
  charged <- x$document$guarantee$charged
  figure <- function(name) json_number(estimates[[name]])
  likelihood <- tryCatch(logLik.tacit_model(x), tacit_usage = function(problem) NULL)
  data.frame(method = x$method, private = isTRUE(x$document$guarantee$private), epsilon = json_number(charged$epsilon),
    delta = json_number(charged$delta), null.deviance = figure("null_deviance"), df.null = figure("null_degrees"),
    logLik = if (is.null(likelihood)) NA_real_ else as.numeric(likelihood), AIC = if (is.null(likelihood)) NA_real_ else stats::AIC(likelihood),
    BIC = if (is.null(likelihood)) NA_real_ else stats::BIC(likelihood), deviance = figure("deviance"), df.residual = figure("degrees"),
    nobs = if (is.null(x$rows)) NA_real_ else x$rows, stringsAsFactors = FALSE)
}

augment.tacit_glm <- function(x, data = newdata, newdata, type.predict = c("link", "response"), se_fit = FALSE, ...) {
  type <- match.arg(type.predict)
  if (missing(data) && missing(newdata)) usage("data is needed: a model keeps none of the rows it was made of")
  found <- predict.tacit_glm(x, data, type = type, se.fit = se_fit)
  result <- as.data.frame(data)
  if (se_fit) {
    result$.fitted <- unname(found$fit)
    result$.se.fit <- unname(found$se.fit)
  } else if (is.matrix(found)) {
    result <- cbind(result, stats::setNames(as.data.frame(found), paste0(".fitted.", colnames(found))))
  } else {
    result$.fitted <- unname(found)
  }
  residual <- tryCatch(residuals.tacit_glm(x, data = data), tacit_usage = function(problem) NULL, error = function(problem) NULL)
  if (!is.null(residual)) result$.resid <- unname(residual)
  result
}
