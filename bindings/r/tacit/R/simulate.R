# Methods over simulated parties.

tacit_simulate <- function(formula, data, method, epsilon = NULL, parties = NULL, test = NULL, auxiliary = NULL, target = NULL,
                           bounds = NULL, classes = NULL, delta = 0, lambda = NULL, family = stats::binomial(), trials = 1,
                           seed = NULL, settings = list(), contrasts = NULL, threads = NULL, subset = NULL, ...) {
  condition <- substitute(subset)
  marks <- marks_of(formula, data)
  for (one in if (has_marks(marks)) method) settings <- check_marks(marks, one, settings)
  data <- rows_with_marks(marks, data, environment(formula))
  plan <- design(marks$formula, data, bounds, response_kind(family), if (has_marks(marks)) stats::na.omit else stats::na.pass, contrasts, classes, condition)
  if (!is.null(plan$offset)) usage("offset() is for tacit_glm() with method = \"estimate\"")
  columns <- mark_rows(marks, data, environment(formula), plan)
  dealt <- dealt_out(parties, plan, data, condition, environment(formula))
  by_party <- identical(settings$group, "party")
  framed <- function(x, y, columns) {
    if (has_marks(marks)) return(table_of(plan, x, y, NULL, marks, columns, by_party))
    marked(frame_response(design_frame(plan, x), y), plan)
  }
  labelled <- function(rows) {
    if (is.null(rows)) return(NULL)
    rows <- rows_with_marks(marks, subset_of(condition, rows, environment(formula))$data, environment(formula))
    other <- stats::model.frame(stats::formula(stats::terms(marks$formula, data = data)), rows, na.action = stats::na.pass, xlev = plan$xlevels)
    y <- response_like(stats::model.response(other), plan$y)
    framed(design_rows(plan, rows), y, if (has_marks(marks)) mark_columns(marks, rows, environment(formula), levels(columns$strata)))
  }
  train <- framed(plan$x, plan$y, columns)
  points <- if (!is.null(auxiliary)) design_frame(plan, design_rows(plan, auxiliary))
  if (!is.null(dealt$names)) checked(.Call(glue_frame_parties, train, as.integer(dealt$names) - 1L, nlevels(dealt$names)))
  options <- option_list(method = method, epsilon = epsilon, delta = delta, lambda = lambda, parties = dealt$count, trials = trials,
    seed = seed, threads = threads, ..., settings = settings)
  answer <- with_their_names(checked(.Call(glue_frame_simulate, list(train, labelled(test), points, labelled(target)), options$names, options$values)), if (has_marks(marks)) plan)
  document <- json_read(answer[[1]])
  for (refused in unique(unlist(lapply(document$runs, `[[`, "failed")))) warning(spelled(refused), call. = FALSE)
  model <- if (!is.null(answer[[2]])) simulated_model(answer[[2]], plan, has_marks(marks))
  structure(class = "tacit_simulation", list(call = match.call(), runs = runs_table(document$runs), seed = document$seed,
    document = document, model = model))
}

# How many parties there are, or a factor that says for each row whose it is.
dealt_out <- function(parties, plan, data, condition, environment) {
  if (is.null(parties)) return(list())
  if (length(parties) == 1) return(list(count = number(parties, "parties", 1)))
  if (!is.null(condition) && length(parties) == nrow(data)) parties <- parties[subset_of(condition, data, environment)$kept]
  if (!is.null(plan$left_out) && length(parties) == plan$rows + length(plan$left_out)) parties <- parties[-plan$left_out]
  if (length(parties) != plan$rows) usage("parties must be a number, or say for each row whose it is")
  list(names = as.factor(parties))
}

# A response of other rows with the classes, or the bounds, of the first ones.
response_like <- function(y, first) {
  if (is.null(y)) usage("the response is missing from the rows to test on")
  if (first$kind == "time") {
    if (!inherits(y, "Surv") || ncol(y) != 2 + !is.null(first$entry)) usage("the response of the rows to test on is not such a Surv()")
    return(utils::modifyList(first, time_response(y, "", NULL)[c("response", "event", "entry")]))
  }
  if (first$kind != "class") return(utils::modifyList(first, list(response = as.double(y))))
  label <- match(as.character(if (is.logical(y) || is.numeric(y)) y else as.character(y)), first$classes) - 1L
  if (anyNA(label)) usage("a row to test on has a class that the others do not have")
  list(kind = "class", label = label, classes = first$classes)
}

simulated_model <- function(pointer, plan, by_terms = FALSE) {
  result <- described(pointer, list(simulated = TRUE, rows = plan$rows, kind = plan$y$kind, classes = plan$y$classes))
  result$method <- result$document$guarantee$method
  result$design <- plan[c("terms", "contrasts", "xlevels", "columns", "intercept", "bounds", "from_data", "raw")]
  if (by_terms) {
    result <- as_named(result, plan)
    result$beside <- list(offset = FALSE, weights = FALSE)
  }
  class(result) <- c(if (!is.null(result$random)) "tacit_mixed", "tacit_glm", "tacit_model")
  result
}

# A row for each run. Means and prices are spread out: accuracy, accuracy_sd, charged_epsilon, ...
runs_table <- function(runs) {
  flat <- lapply(runs, function(run) {
    pieces <- lapply(names(run), function(name) {
      value <- run[[name]]
      if (!is.list(value)) return(stats::setNames(list(scalar(value)), name))
      names(value) <- sub("_mean$", "", paste(name, names(value), sep = "_"))
      lapply(value, scalar)
    })
    do.call(c, pieces)
  })
  columns <- unique(unlist(lapply(flat, names)))
  result <- lapply(columns, function(column) do.call(c, lapply(flat, function(run) if (is.null(run[[column]])) NA else run[[column]])))
  as.data.frame(stats::setNames(result, columns), stringsAsFactors = FALSE)
}

scalar <- function(value) {
  if (is.null(value)) NA else if (identical(value, "inf")) Inf else if (length(value) == 1 && !is.list(value)) value else NA
}

print.tacit_simulation <- function(x, digits = 3, ...) {
  shown <- c("method", "epsilon", "accuracy", "accuracy_sd", "auc", "logloss", "rmse", "charged_epsilon", "charged_unit")
  runs <- x$runs[intersect(shown, names(x$runs))]
  runs <- runs[!vapply(runs, function(column) all(is.na(column)), NA)]
  print(runs, digits = digits, row.names = FALSE)
  cat("\nA simulation (seed ", format(x$seed, scientific = FALSE), "): good for comparing methods, and not private.\n", sep = "")
  invisible(x)
}

as.data.frame.tacit_simulation <- function(x, ...) x$runs
