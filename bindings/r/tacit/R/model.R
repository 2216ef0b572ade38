# What can be done with a model.

coef.tacit_model <- function(object, ...) {
  if (!is.null(object$beside)) return(coefficient_table(estimates_of(object))[, 1])
  pointer <- model_pointer(object)
  raw <- checked(.Call(glue_model_coefficients, pointer))
  last <- nrow(raw)
  raw <- raw[c(last, seq_len(last - 1)), !is.na(raw[1, ]), drop = FALSE]
  columns <- if (!is.null(object$design)) object$design$columns else column_names(object)
  rownames(raw) <- c("(Intercept)", columns)
  if (!has_intercept(object)) raw <- raw[-1, , drop = FALSE]
  if (ncol(raw) == 1) return(raw[, 1])
  colnames(raw) <- object$classes
  raw
}

# That of a regression of times is the baseline.
has_intercept <- function(object) if (identical(object$kind, "time")) FALSE else if (!is.null(object$design)) object$design$intercept else !identical(object$intercept, FALSE)

column_names <- function(object) {
  if (!is.null(object$columns)) return(object$columns)
  names <- object$document$names
  if (is.null(names)) paste0("x", seq_len(object$document$columns)) else names
}

predict.tacit_glm <- function(object, newdata, type = c("response", "class", "link"), se.fit = FALSE, threads = NULL, ...) {
  type <- match.arg(type)
  if (missing(newdata)) usage("newdata is needed: a model keeps none of the rows it was made of")
  x <- design_rows(object$design, newdata)
  offset <- offset_of(object, newdata)
  fit <- if (type == "link") {
    linear_predictor(object, x) + offset
  } else if (!is.null(object$beside)) {
    by_predictor(object, linear_predictor(object, x) + offset, type)
  } else {
    scored(object, x, as.integer(object$design$intercept), type, threads)
  }
  if (!se.fit) fit else with_errors(object, x, type, fit, offset)
}

# The offset of other rows: offset() of the formula, and that of the argument.
offset_of <- function(object, newdata) {
  frame <- stats::model.frame(object$design$terms, newdata, na.action = stats::na.pass, xlev = object$design$xlevels)
  inside <- stats::model.offset(frame)
  given <- object$design$offset
  outside <- if (is.null(given)) 0 else eval(given, newdata, environment(object$design$terms))
  if (is.null(inside)) outside else inside + outside
}

# Of a model whose columns have no names in the library: from the linear predictor.
by_predictor <- function(object, eta, type) {
  mean <- if (object$kind == "time") exp(eta) else family_of(object$kind)$linkinv(eta)
  if (type == "response") return(mean)
  if (is.null(object$classes)) usage("this model predicts a number and no class")
  stats::setNames(factor(object$classes[1L + (mean > 0.5)], levels = object$classes), names(eta))
}

predict.tacit_model <- function(object, newdata, type = c("response", "class"), threads = NULL, ...) {
  type <- match.arg(type)
  if (missing(newdata)) usage("newdata is needed: a model keeps none of the rows it was made of")
  columns <- column_names(object)
  if (is.data.frame(newdata) && !all(vapply(newdata[intersect(columns, names(newdata))], is_plain_number, NA))) {
    lacking <- setdiff(columns, names(newdata))
    if (length(lacking) > 0) usage(lacks(lacking, newdata))
    return(scored(object, newdata[columns], 0L, type, threads))
  }
  scored(object, columns_of(newdata, columns), 0L, type, threads)
}

is_plain_number <- function(column) (is.numeric(column) || is.logical(column)) && !is.object(column)

# What rows lack; a model of R's model matrix that was saved has its columns, and not the factors that they were made of.
lacks <- function(lacking, newdata) {
  made <- is.data.frame(newdata) && any(vapply(names(newdata), function(name) any(startsWith(lacking, name)), NA))
  paste0("newdata lacks the model's columns ", paste(lacking, collapse = ", "),
    if (made) ": tacit_save() keeps the columns of model.matrix(); saveRDS() keeps the formula, and tacit_export() the columns themselves")
}

# Columns by their names where both sides have such; a model of a matrix without names has x1, x2, ..., and takes them in order.
columns_of <- function(newdata, columns) {
  given <- colnames(newdata)
  lacking <- setdiff(columns, given)
  named <- !identical(columns, paste0("x", seq_along(columns)))
  if (named && !is.null(given) && length(lacking) > 0) usage(lacks(lacking, newdata))
  if (!is.null(given) && length(lacking) == 0 && !identical(given, columns)) newdata <- newdata[, columns, drop = FALSE]
  if (!is.data.frame(newdata)) return(newdata)
  texts <- names(newdata)[!vapply(newdata, function(column) is.numeric(column) || is.logical(column), NA)]
  if (length(texts) > 0) usage("the column ", texts[1], " of newdata is not numeric")
  data.matrix(newdata)
}

scored <- function(object, x, skip, type, threads) {
  classes <- object$classes
  names <- rownames(x)
  if (type == "class" && is.null(classes)) usage("this model predicts a number and no class")
  if (nrow(x) == 0) return(if (type == "class") factor(character(), levels = classes) else numeric())
  answer <- checked(.Call(glue_model_predict, model_pointer(object), if (is.data.frame(x)) table_frame(x) else rows_frame(x, skip), as.integer(if (is.null(threads)) 0 else threads),
    type == "class"))
  if (type == "class") return(stats::setNames(factor(classes[answer[[2]] + 1L], levels = classes), names))
  scores <- answer[[1]]
  if (nrow(scores) == 1) return(stats::setNames(scores[1, ], names))
  if (nrow(scores) == 2) return(stats::setNames(scores[2, ], names)) # of the second class, as glm() has it
  matrix(t(scores), ncol(scores), dimnames = list(names, classes))
}

# On rows as the model sees them: within the bounds, and in their middle where a value is missing. Unlike the logarithm of odds
# it stays exact where a probability is 0 or 1 in double precision.
linear_predictor <- function(object, x) {
  weights <- as.matrix(coef(object))
  columns <- object$design$columns
  for (column in columns) {
    limits <- object$design$bounds[column, ]
    missing <- is.na(x[, column])
    x[, column] <- pmin(pmax(x[, column], limits[1]), limits[2])
    x[missing, column] <- mean(limits)
  }
  result <- x[, rownames(weights), drop = FALSE] %*% weights
  if (ncol(result) == 1) result[, 1] else result
}

print.tacit_model <- function(x, digits = max(3L, getOption("digits") - 3L), ...) {
  print_call(x$call)
  weights <- tryCatch(coef(x), tacit_usage = function(problem) NULL)
  if (is.null(weights)) {
    cat("No coefficients: the model is not linear.\n")
  } else {
    cat("Coefficients:\n")
    print(format(weights, digits = digits), quote = FALSE)
  }
  cat("\n", paste(strwrap(promise_text(x)), collapse = "\n"), "\n", sep = "")
  invisible(x)
}

print_call <- function(call) if (!is.null(call)) cat("Call: ", paste(deparse(call), collapse = "\n"), "\n\n", sep = "")

# One sentence or two on what was promised.
promise_text <- function(x) {
  guarantee <- x$document$guarantee
  price <- function(epsilon, delta, unit) paste0("epsilon = ", format(json_number(epsilon)), ", delta = ", format(json_number(delta)), " per ", unit)
  if (x$method %in% exact_methods) return(paste0("Exact, by ", x$method, ": no differential privacy."))
  if (isTRUE(x$simulated)) return(paste0("Simulated by ", x$method, ": can be repeated, and is not private."))
  if (!isTRUE(guarantee$private) && !is.null(guarantee$reason)) return(paste0("By ", x$method, ", not private; ", guarantee$reason, "."))
  if (!isTRUE(guarantee$private)) return(paste0("By ", x$method, ": no differential privacy."))
  charged <- guarantee$charged
  paste0("Private: ", price(charged$epsilon, charged$delta, charged$unit), " by ", x$method, ".",
    if (!is.null(x$ledger)) paste0(" Charged to ", x$ledger, ".") else if (!is.null(x$epsilon)) " No ledger was charged: keep count yourself.")
}
