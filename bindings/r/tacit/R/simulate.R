# Methods over simulated parties.

tacit_simulate <- function(formula, data, method, epsilon = NULL, parties = NULL, test = NULL, auxiliary = NULL, target = NULL,
                           bounds = NULL, classes = NULL, delta = 0, lambda = NULL, family = stats::binomial(), trials = 1,
                           seed = NULL, settings = list(), contrasts = NULL, threads = NULL, subset = NULL, ...) {
  condition <- substitute(subset)
  plan <- design(formula, data, bounds, response_kind(family), stats::na.pass, contrasts, classes, condition)
  if (!is.null(plan$offset)) usage("offset() is for tacit_glm() with method = \"estimate\"")
  labelled <- function(rows) {
    if (is.null(rows)) return(NULL)
    rows <- subset_of(condition, rows, environment(formula))$data
    other <- stats::model.frame(stats::formula(stats::terms(formula, data = data)), rows, na.action = stats::na.pass, xlev = plan$xlevels)
    y <- response_like(stats::model.response(other), plan$y)
    frame_response(design_frame(plan, design_rows(plan, rows)), y)
  }
  train <- marked(frame_response(design_frame(plan), plan$y), plan)
  points <- if (!is.null(auxiliary)) design_frame(plan, design_rows(plan, auxiliary))
  count <- NULL
  if (length(parties) == 1) {
    count <- number(parties, "parties", 1)
  } else if (!is.null(parties)) {
    if (!is.null(condition) && length(parties) == nrow(data)) parties <- parties[subset_of(condition, data, environment(formula))$kept]
    if (length(parties) != plan$rows) usage("parties must be a number, or say for each row whose it is")
    parties <- as.factor(parties)
    checked(.Call(glue_frame_parties, train, as.integer(parties) - 1L, nlevels(parties)))
  }
  options <- option_list(method = method, epsilon = epsilon, delta = delta, lambda = lambda, parties = count, trials = trials,
    seed = seed, threads = threads, ..., settings = settings)
  answer <- checked(.Call(glue_frame_simulate, list(train, labelled(test), points, labelled(target)), options$names, options$values))
  document <- json_read(answer[[1]])
  for (refused in unique(unlist(lapply(document$runs, `[[`, "failed")))) warning(spelled(refused), call. = FALSE)
  model <- if (!is.null(answer[[2]])) simulated_model(answer[[2]], plan)
  structure(class = "tacit_simulation", list(call = match.call(), runs = runs_table(document$runs), seed = document$seed,
    document = document, model = model))
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

simulated_model <- function(pointer, plan) {
  result <- described(pointer, list(simulated = TRUE, rows = plan$rows, kind = plan$y$kind, classes = plan$y$classes))
  result$method <- result$document$guarantee$method
  result$design <- plan[c("terms", "contrasts", "xlevels", "columns", "intercept", "bounds", "from_data", "raw")]
  class(result) <- c("tacit_glm", "tacit_model")
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
