# Fitting.

# Methods without noise: regression from sums, as one party sees it. The library fits these by a simulation of that party.
exact_methods <- c("batch", "cox", "cox-servers", "estimate", "mixed", "newton", "privlogit-hessian", "privlogit-local")

families <- list(binomial = c("logit", "class"), gaussian = c("identity", "number"), poisson = c("log", "count"))

# "class", "number" or "count", by a family as glm() takes it.
response_kind <- function(family) {
  if (is.character(family)) family <- get(family, mode = "function", envir = parent.frame(2))
  if (is.function(family)) family <- family()
  known <- families[[family$family]]
  if (is.null(known) || known[1] != family$link) usage("family must be binomial, gaussian or poisson, with its usual link")
  known[2]
}

tacit_glm <- function(formula, data, epsilon, method = "plr", delta = 0, lambda = NULL, bounds = NULL, classes = NULL,
                      family = stats::binomial(), ledger = NULL, seed = NULL, settings = list(), na.action = NULL, contrasts = NULL,
                      threads = NULL, subset = NULL, weights = NULL, offset = NULL) {
  call <- match.call()
  # A call that holds the rows themselves (do.call) must not carry them into a saved model; nor this whole function.
  call[[1]] <- quote(tacit_glm)
  if (!is.language(call$data)) call$data <- quote(data)
  if (missing(data)) data <- environment(formula)
  if (is.function(data) || inherits(data, "family")) usage("the second argument is the data: give the family by its name, as in tacit_glm(y ~ x, data, family = gaussian)")
  marks <- marks_of(formula, data)
  if (missing(method)) method <- method_of(formula, marks)
  settings <- check_marks(marks, method, settings)
  exact <- method %in% exact_methods
  # Leaving rows out would tell which have something missing; exact methods do as glm() does.
  if (is.null(na.action)) na.action <- if (exact) stats::na.omit else stats::na.pass
  data <- rows_with_marks(marks, data, environment(formula))
  plan <- design(marks$formula, data, bounds, response_kind(family), na.action, contrasts, classes, substitute(subset))
  promise <- list(method = method, epsilon = if (!missing(epsilon)) epsilon, delta = delta, lambda = lambda, seed = seed,
    settings = settings, threads = threads)
  warn_of_rows(plan, promise, ledger)
  beside <- beside_rows(beside_of(substitute(weights), data, environment(formula), "weights"),
    beside_of(substitute(offset), data, environment(formula), "offset"), plan, method)
  columns <- mark_rows(marks, data, environment(formula), plan)
  by_terms <- length(columns) > 0 || (method == "estimate" && (!plan$intercept || !is.null(beside$weights) || !is.null(beside$offset)))
  if (!by_terms) check_constant(method, plan$intercept)
  if (!exact && plan$from_data && !plan$intercept) usage("a model without an intercept needs bounds")
  result <- if (by_terms) {
    fit_table(plan, promise, beside, marks, columns)
  } else {
    fit_frame(marked(frame_response(design_frame(plan), plan$y), plan), promise, ledger, plan$from_data)
  }
  if (inherits(call$formula, "formula")) call$formula <- without_rows(call$formula)
  result$call <- call
  result$formula <- without_rows(formula)
  result$rows <- plan$rows
  result$terms <- plan$full
  result$design <- plan[c("terms", "contrasts", "xlevels", "columns", "intercept", "bounds", "from_data", "raw")]
  result$kind <- plan$y$kind
  result$classes <- plan$y$classes
  result$covariance <- exact_covariance(result, plan, beside)
  if (!is.null(beside$offset) && !is.null(call$offset)) result$design$offset <- call$offset
  class(result) <- c(if (!is.null(result$random)) "tacit_mixed", "tacit_glm", "tacit_model")
  result
}

tacit_fit <- function(x, y, epsilon, method = "plr", delta = 0, lambda = NULL, bounds = NULL, norm = NULL, intercept = TRUE,
                      classes = NULL, family = stats::binomial(), ledger = NULL, seed = NULL, settings = list(), threads = NULL) {
  if (!is.null(bounds) && !is.null(norm)) usage("give bounds or norm, not both")
  given <- as_bounds(bounds)
  columns <- if (is.null(colnames(x))) paste0("x", seq_len(ncol(x))) else colnames(x)
  lacking <- setdiff(columns, rownames(given))
  if (!is.null(given) && length(lacking) > 0) usage("bounds lacks ", paste(lacking, collapse = ", "))
  response <- response_of(y, "y", response_kind(family), given, classes)
  promise <- list(method = method, epsilon = if (!missing(epsilon)) epsilon, delta = delta, lambda = lambda, seed = seed,
    settings = settings, threads = threads)
  plan <- list(y = response, from_data = is.null(given) && is.null(norm))
  warn_of_rows(plan, promise, ledger)
  check_constant(method, intercept)
  frame <- rows_frame(x)
  if (is.matrix(x)) checked(.Call(glue_frame_names, frame, columns)) # a sparse model of many columns goes without
  if (!is.null(norm)) {
    checked(.Call(glue_frame_norm, frame, number(norm, "norm"), intercept))
  } else if (!is.null(given)) {
    limits <- if (intercept) given[columns, , drop = FALSE] else symmetric(given[columns, , drop = FALSE])
    checked(.Call(glue_frame_bounds, frame, limits[, "low"], limits[, "high"], intercept))
  } else {
    if (!intercept) usage("without an intercept say bounds or norm")
    checked(.Call(glue_frame_bounds_from_data, frame, intercept))
  }
  result <- fit_frame(marked(frame_response(frame, response), plan), promise, ledger, plan$from_data)
  result$call <- match.call()
  result$call[[1]] <- quote(tacit_fit)
  if (!is.language(result$call$x)) result$call$x <- quote(x)
  if (!is.language(result$call$y)) result$call$y <- quote(y)
  result$rows <- nrow(x)
  result$columns <- columns
  result$intercept <- intercept
  result$kind <- response$kind
  result$classes <- response$classes
  class(result) <- "tacit_model"
  result
}

# Standard errors per unit of a column are worked out with a constant.
check_constant <- function(method, intercept) {
  if (!intercept && method %in% setdiff(exact_methods, c("batch", "cox", "cox-servers", "mixed")))
    usage(method, " needs a constant: leave - 1 out of the formula, or use tacit_glm() with method = \"estimate\"")
}

# Privacy rests on what is known without the rows. Nothing to lose where nothing is promised.
warn_of_rows <- function(plan, promise, ledger) {
  if (promise$method %in% exact_methods) {
    if (!is.null(ledger)) usage(promise$method, " adds no noise, so that no ledger can be charged for it")
    return()
  }
  read <- c(if (plan$from_data) "bounds of the columns (say bounds = list(age = c(18, 100), ...))",
    if (isTRUE(plan$y$from_data) && plan$y$kind == "class") "the classes (say classes = c(\"no\", \"yes\"), all that there may be)",
    if (isTRUE(plan$y$from_data) && plan$y$kind != "class") "bounds of the response (name it in bounds)", plan$read_off)
  if (length(read) == 0) return()
  text <- paste0("taken from the rows: ", paste(read, collapse = "; "))
  if (!is.null(ledger)) raise("REFUSED", paste0("a release must not depend on what was ", text))
  not_private("the guarantee does not hold: ", text)
}

# The frame, saying which parts of it the rows decided; the model then says so too.
marked <- function(frame, plan) {
  checked(.Call(glue_frame_mark, frame, isTRUE(plan$y$from_data), length(plan$read_off) > 0))
  frame
}

# The model of a frame, with what R keeps of it.
fit_frame <- function(frame, promise, ledger, from_data) {
  exact <- promise$method %in% exact_methods
  if (exact && !is.null(promise$epsilon) && is.finite(promise$epsilon))
    usage(promise$method, " adds no noise: leave epsilon out, or choose a private method such as plr")
  if (!exact && is.null(promise$epsilon)) usage("epsilon, the price per record, is needed by ", promise$method)
  if (!is.null(promise$epsilon)) number(promise$epsilon, "epsilon", 0)
  number(promise$delta, "delta", 0, 1)
  pointer <- if (exact) fit_exact(frame, promise) else fit_private(frame, promise, ledger)
  described(pointer, list(method = promise$method, epsilon = promise$epsilon, delta = promise$delta, ledger = if (!is.null(ledger)) ledger$source,
    simulated = !is.null(promise$seed) && !exact, from_data = from_data))
}

fit_private <- function(frame, promise, ledger) {
  if (!is.null(ledger) && !inherits(ledger, "tacit_ledger")) usage("ledger must be made by tacit_ledger()")
  options <- option_list(method = promise$method, epsilon = promise$epsilon, delta = promise$delta, lambda = promise$lambda,
    seed = promise$seed, threads = promise$threads, settings = promise$settings)
  checked(.Call(glue_frame_fit, frame, options$names, options$values, if (!is.null(ledger)) ledger_pointer(ledger)))
}

# Nothing is drawn by chance but how the rows are dealt out, and they all go to one party.
fit_exact <- function(frame, promise) {
  options <- option_list(method = promise$method, parties = 1, lambda = promise$lambda, seed = 1, threads = promise$threads,
    terms = promise$terms, settings = promise$settings)
  answer <- checked(.Call(glue_frame_simulate, list(frame, frame, NULL, NULL), options$names, options$values))
  if (is.null(answer[[2]])) usage(promise$method, " makes no single model; use tacit_simulate()")
  answer[[2]]
}

# The handle of a model: the pointer, which lasts as long as the session, and the text it can be made from again.
described <- function(pointer, result = list()) {
  handle <- new.env(parent = emptyenv())
  handle$pointer <- pointer
  handle$json <- checked(.Call(glue_model_to_json, pointer))
  result$handle <- handle
  result$document <- json_read(checked(.Call(glue_model_document, pointer)))
  result
}

model_pointer <- function(model) {
  if (.Call(glue_is_null, model$handle$pointer)) model$handle$pointer <- checked(.Call(glue_model_from_json, model$handle$json))
  model$handle$pointer
}
