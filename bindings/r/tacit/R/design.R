# From a formula and a data frame to numbers, and what is needed to do the same to other rows.

design <- function(formula, data, bounds, response, na.action, contrasts, classes = NULL, condition = NULL) {
  chosen <- subset_of(condition, data, environment(formula))
  data <- chosen$data
  frame <- stats::model.frame(formula, data, na.action = na.action, drop.unused.levels = FALSE)
  terms <- attr(frame, "terms")
  if (attr(terms, "response") == 0) usage("the formula needs a response, as in y ~ .")
  x <- stats::model.matrix(terms, frame, contrasts)
  intercept <- 0 %in% attr(x, "assign")
  columns <- colnames(x)[attr(x, "assign") > 0]
  if (length(columns) == 0) usage("the formula names no variable to predict from")
  given <- as_bounds(bounds)
  result <- list(
    x = x, intercept = intercept, columns = columns, rows = nrow(x),
    y = response_of(stats::model.response(frame), names(frame)[1], response, given, classes),
    terms = without_rows(stats::delete.response(terms)), contrasts = attr(x, "contrasts"), xlevels = stats::.getXlevels(terms, frame),
    from_data = is.null(given), read_off = c(read_off_rows(terms, frame, data), chosen$read_off), offset = stats::model.offset(frame),
    full = without_rows(terms), chosen = chosen$kept, left_out = attr(frame, "na.action"), raw = raw_columns(terms, data, given)
  )
  # Bounds that are read off the rows are the library's to take, so that the model says so; kept for the linear predictor.
  result$bounds <- if (is.null(given)) {
    widened(t(apply(x[, columns, drop = FALSE], 2, range, na.rm = TRUE)))
  } else {
    column_bounds(columns, frame[-1], result$contrasts, given)
  }
  if (!intercept) result$bounds <- symmetric(result$bounds)
  colnames(result$bounds) <- c("low", "high")
  result
}

# The rows for which `condition`, an expression as of glm's subset, holds; where it is not known it does not. A condition that
# looks at other rows, such as x > mean(x), is read off the rows.
subset_of <- function(condition, data, environment) {
  if (is.null(condition)) return(list(data = data))
  if (!is.data.frame(data)) usage("subset needs a data frame")
  value <- eval(condition, data, environment)
  if (!is.logical(value) || length(value) != nrow(data)) usage("subset must say TRUE or FALSE of each row")
  alone <- same_alone(condition, value, data, data, environment)
  kept <- !is.na(value) & value
  if (!any(kept)) usage("no row is of the subset ", deparse1(condition))
  list(data = data[kept, , drop = FALSE], kept = kept,
    read_off = if (!alone) paste0("subset = ", deparse1(condition), " (write it with known numbers, such as age > 50)"))
}

# A formula remembers where it was written: in a function, with all that is there, such as the rows. A model must not.
without_rows <- function(formula) {
  if (inherits(formula, "formula")) environment(formula) <- topenv(environment(formula))
  formula
}

# A column that is constant has bounds on either side of it, as the library takes them.
widened <- function(bounds) {
  by <- ifelse(bounds[, 1] == bounds[, 2], pmax(1, abs(bounds[, 1])), 0)
  bounds + cbind(-by, by)
}

# The model matrix of other rows; missing numbers stay missing, and the library takes the middle of their bounds.
design_rows <- function(design, data) {
  frame <- stats::model.frame(design$terms, data, na.action = stats::na.pass, xlev = design$xlevels)
  classes <- attr(design$terms, "dataClasses")
  if (!is.null(classes)) stats::.checkMFClasses(classes, frame)
  stats::model.matrix(design$terms, frame, contrasts.arg = design$contrasts)
}

# What else the rows would decide about the model matrix: levels of texts and of factors that the formula makes, bases such as
# those of poly() and scale(), and whatever comes out otherwise for a row that is alone, such as x - mean(x).
read_off_rows <- function(terms, frame, data) {
  variables <- as.list(attr(terms, "variables"))[-1]
  fitted <- !mapply(identical, variables, as.list(attr(terms, "predvars"))[-1])
  texts <- vapply(frame, is.character, NA)
  texts[1] <- FALSE # what the response's classes are, and whether the rows said it, class_response() knows
  calls <- which(vapply(variables, is.call, NA) & !fitted & !texts)
  alone <- calls[!vapply(calls, function(k) same_alone(variables[[k]], frame[[k]], frame, data, environment(terms)), NA)]
  made <- alone[vapply(frame[alone], is.factor, NA)]
  levels <- names(frame)[c(which(texts), made)]
  numbers <- names(frame)[c(which(fitted), setdiff(alone, made))]
  c(if (length(levels) > 0) paste0("the levels of ", paste(levels, collapse = ", "), " (make it a factor with publicly known levels)"),
    if (length(numbers) > 0) paste0(paste(numbers, collapse = ", "), " (write it with known numbers, such as I(x^2))"))
}

# Has each of a few rows the same value when the call sees no other row? Looked at are rows all over, and where the value is
# least and greatest. Whatever has as many rows as the data is cut to that row, also what only the formula's environment has.
same_alone <- function(call, value, frame, data, environment) {
  count <- nrow(frame) + length(attr(frame, "na.action"))
  kept <- setdiff(seq_len(count), attr(frame, "na.action"))
  if (count < 2 || length(kept) == 0) return(TRUE)
  if (is.environment(data)) environment <- data
  found <- lapply(stats::setNames(nm = all.vars(call)), function(name) {
    if (!is.environment(data) && name %in% names(data)) data[[name]] else get0(name, environment)
  })
  found <- Filter(function(one) !is.null(one) && !is.function(one), found)
  row <- function(from, i) if (length(dim(from)) == 2) from[i, , drop = FALSE] else from[i]
  order <- if (is.factor(value)) as.integer(value) else if (is.matrix(value)) value[, 1] else value
  rows <- unique(c(round(seq(1, length(kept), length.out = 5)), which.min(order), which.max(order)))
  all(vapply(rows, function(i) {
    seen <- lapply(found, function(one) if (NROW(one) == count) row(one, kept[i]) else one)
    alone <- suppressWarnings(tryCatch(eval(call, seen, environment), error = function(problem) NULL))
    if (is.factor(value) && !identical(levels(alone), levels(value))) return(FALSE)
    same_numbers(as.vector(unclass(alone)), as.vector(unclass(row(value, i))))
  }, NA))
}

# Except for the last bits, which a sum in another order may change.
same_numbers <- function(a, b) {
  if (length(a) != length(b) || !identical(is.na(a), is.na(b))) return(FALSE)
  known <- !is.na(a)
  all(a[known] == b[known] | abs(a[known] - b[known]) <= 1e-12 * abs(b[known]))
}

# `kind` is class, number or count; a response that Surv() made is a time. Labels are classes from 0.
response_of <- function(y, name, kind, bounds, classes = NULL) {
  if (inherits(y, "Surv")) return(time_response(y, name, bounds))
  if (is.matrix(y)) usage("the response must be one column")
  if (anyNA(y)) usage("the response has missing values; leave these rows out")
  if (kind == "class") return(class_response(y, classes))
  if (!is.null(classes)) usage("classes are for family binomial")
  if (!is.numeric(y)) usage("family gaussian or poisson needs a numeric response")
  limits <- if (name %in% rownames(bounds)) unname(bounds[name, ]) else range(y)
  if (kind == "count") limits[1] <- max(0, limits[1])
  if (limits[1] == limits[2]) limits[2] <- limits[1] + 1
  list(kind = kind, response = as.double(y), bounds = limits, from_data = !name %in% rownames(bounds))
}

# A response made by survival's Surv(): a time with an event, and where there is one since when a row is observed. Bounds are
# those of the variable that Surv() takes its time from.
time_response <- function(y, name, bounds) {
  type <- attr(y, "type")
  if (!type %in% c("right", "counting")) usage("Surv() of type ", type, " is not supported: give (time, event) or (entry, time, event)")
  if (anyNA(y)) usage("the response has missing values; leave these rows out")
  parts <- unclass(y)
  time <- unname(parts[, if (type == "right") "time" else "stop"])
  variable <- tryCatch({
    words <- as.list(match.call(function(time, time2, event, ...) NULL, str2lang(name)))
    deparse1(if (type == "right") words$time else words$time2)
  }, error = function(problem) name)
  known <- variable %in% rownames(bounds)
  limits <- if (known) pmax(0, unname(bounds[variable, ])) else c(0, max(time))
  list(kind = "time", response = as.double(time), event = as.integer(parts[, "status"]),
    entry = if (type == "counting") as.double(parts[, "start"]), bounds = limits, from_data = !known)
}

# Levels of a factor may have come from the rows, as factor(y) takes them: only `classes`, truth values, and 0 and 1 are known without.
class_response <- function(y, classes = NULL) {
  known <- TRUE
  if (!is.null(classes)) {
    classes <- as.character(classes)
    if (anyNA(classes) || anyDuplicated(classes)) usage("classes must name each class once")
    strange <- setdiff(as.character(unique(y)), classes)
    if (length(strange) > 0) usage("the response has a class that is none of classes: ", strange[1])
    y <- factor(as.character(y), levels = classes)
  } else if (is.logical(y)) {
    y <- factor(y, levels = c(FALSE, TRUE))
  } else if (is.numeric(y) && all(y %in% 0:1)) {
    y <- factor(y, levels = c(0, 1))
  } else {
    known <- FALSE
    if (is.character(y)) y <- factor(y)
  }
  if (!is.factor(y)) usage("the response must be a factor, logical, or 0 and 1; for numbers say family = gaussian or poisson")
  if (nlevels(y) < 2) usage("the response must have at least two classes")
  list(kind = "class", label = unclass(y) - 1L, classes = levels(y), from_data = !known)
}
