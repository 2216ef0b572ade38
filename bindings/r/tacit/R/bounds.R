# What is publicly known about columns: a matrix with a row for each name, and low and high.

as_bounds <- function(bounds) {
  if (is.null(bounds)) return(NULL)
  if (is.data.frame(bounds) || is.matrix(bounds)) {
    bounds <- as.data.frame(bounds)
    if (!all(c("low", "high") %in% names(bounds))) usage("bounds must have the columns low and high")
    names <- if ("name" %in% names(bounds)) as.character(bounds$name) else rownames(bounds)
    result <- cbind(low = as.double(bounds$low), high = as.double(bounds$high))
  } else if (is.list(bounds) && all(vapply(bounds, function(pair) is.numeric(pair) && length(pair) == 2, NA))) {
    names <- names(bounds)
    result <- matrix(as.double(unlist(bounds)), ncol = 2, byrow = TRUE, dimnames = list(NULL, c("low", "high")))
  } else {
    usage("bounds must be a list such as list(age = c(18, 100)), or a data frame with name, low and high")
  }
  if (is.null(names) || anyNA(names) || any(names == "") || anyDuplicated(names)) usage("bounds must name each variable once")
  wrong <- !is.finite(result[, "low"]) | !is.finite(result[, "high"]) | !(result[, "low"] < result[, "high"])
  if (any(wrong)) usage("bounds of ", names[wrong][1], " must be two numbers, the lower first")
  rownames(result) <- names
  result
}

# Bounds of each column of a model matrix: as given by the column's name; of a factor by its contrasts; of a product by those
# of its parts.
column_bounds <- function(columns, frame, contrasts, bounds) {
  known <- rbind(bounds, factor_bounds(frame, contrasts), matrix_bounds(frame, bounds))
  known <- known[!duplicated(rownames(known)), , drop = FALSE]
  result <- t(vapply(columns, function(column) {
    if (column %in% rownames(known)) return(known[column, ])
    parts <- strsplit(column, ":", fixed = TRUE)[[1]]
    if (length(parts) < 2 || !all(parts %in% rownames(known))) return(c(low = NA, high = NA))
    Reduce(interval_product, lapply(parts, function(part) known[part, ]))
  }, c(low = 0, high = 0)))
  lacking <- columns[is.na(result[, "low"])]
  if (length(lacking) > 0)
    usage("bounds lacks ", paste(lacking, collapse = ", "), "; give c(low, high) for each, known without looking at the rows",
      " (bounds = NULL reads all bounds off the rows, which is not private)")
  result
}

# The middle of the bounds becomes 0. Without an intercept that must be 0 itself, or there would be a constant after all.
symmetric <- function(bounds) {
  far <- pmax(abs(bounds[, 1]), abs(bounds[, 2]))
  cbind(low = -far, high = far)
}

interval_product <- function(a, b) {
  ends <- outer(a, b)
  c(low = min(ends), high = max(ends))
}

# A factor's columns are named by levels (0 or 1 each) or by the columns of its contrasts.
factor_bounds <- function(frame, contrasts) {
  one <- function(name) {
    variable <- frame[[name]]
    levels <- if (is.logical(variable)) c("FALSE", "TRUE") else levels(as.factor(variable))
    coding <- contrasts[[name]]
    if (is.character(coding)) coding <- match.fun(coding)(levels)
    labels <- if (is.null(colnames(coding))) seq_len(ncol(coding)) else colnames(coding)
    result <- rbind(t(apply(coding, 2, range)), matrix(c(0, 1), length(levels), 2, byrow = TRUE))
    dimnames(result) <- list(paste0(name, c(labels, levels)), c("low", "high"))
    result
  }
  do.call(rbind, lapply(names(contrasts), one))
}

# Bounds of a variable that is a matrix hold for each of its columns.
matrix_bounds <- function(frame, bounds) {
  one <- function(name) {
    labels <- colnames(frame[[name]])
    if (is.null(labels)) labels <- seq_len(ncol(frame[[name]]))
    result <- bounds[rep(name, length(labels)), , drop = FALSE]
    rownames(result) <- paste0(name, labels)
    result
  }
  wide <- names(frame)[vapply(frame, is.matrix, NA)]
  do.call(rbind, lapply(intersect(wide, rownames(bounds)), one))
}
