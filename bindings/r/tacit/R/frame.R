# Frames: R's own memory, described to the library.

# A matrix of doubles; or Matrix's dgRMatrix as it is, dgCMatrix turned round once. The pointer keeps what it borrows.
rows_frame <- function(x, skip = 0L) {
  if (methods::is(x, "dgCMatrix")) {
    turned <- .Call(glue_sparse_by_rows, methods::slot(x, "x"), methods::slot(x, "i"), methods::slot(x, "p"), nrow(x))
    return(checked(.Call(glue_frame_sparse, turned[[1]], turned[[2]], turned[[3]], ncol(x))))
  }
  if (methods::is(x, "dgRMatrix"))
    return(checked(.Call(glue_frame_sparse, methods::slot(x, "x"), methods::slot(x, "j"), methods::slot(x, "p"), ncol(x))))
  if (!is.matrix(x) || !(is.numeric(x) || is.logical(x))) usage("x must be a numeric matrix, a dgRMatrix or a dgCMatrix")
  if (typeof(x) != "double") storage.mode(x) <- "double"
  checked(.Call(glue_frame_dense, x, skip))
}

# A data frame of numbers, truth values, factors, texts and dates, as a table that a model's or a study's schema describes. The
# pointer keeps what it borrows.
table_frame <- function(data) {
  if (ncol(data) == 0) usage("the data frame has no columns")
  if (nrow(data) == 0) usage("the data frame has no rows")
  if (anyNA(names(data)) || any(names(data) == "")) usage("column ", which(is.na(names(data)) | names(data) == "")[1], " of the data frame has no name")
  kinds <- character()
  levels <- vector("list", length(data))
  columns <- vector("list", length(data))
  for (j in seq_along(data)) {
    column <- data[[j]]
    if (inherits(column, "POSIXct")) column <- as.Date(format(column, "%Y-%m-%d")) # of its own time zone
    kinds[j] <- if (is.factor(column)) "c" else if (inherits(column, "Date")) "d" else if (is.character(column)) "t" else
      if (is.logical(column) || is.integer(column) && !is.object(column)) "i" else if (is.double(column) && !is.object(column)) "n" else ""
    if (kinds[j] == "" || length(dim(column)) > 1)
      usage("column ", names(data)[j], " is of class ", class(column)[1], ": make it numbers, a factor, texts or dates, or leave it out")
    if (kinds[j] == "d") {
      far <- which(!is.na(column) & !(abs(as.numeric(column)) <= 4e6))
      if (length(far) > 0) usage("column ", names(data)[j], " has a date in row ", far[1], " that is not of the years 1 to 9999")
    }
    levels[j] <- list(if (kinds[j] == "c") enc2utf8(base::levels(column)) else character())
    columns[[j]] <- switch(kinds[j], d = as.integer(floor(as.numeric(column))), t = enc2utf8(column), i = as.integer(column),
      c = unclass(column), n = column)
  }
  checked(.Call(glue_frame_table, columns, names(data), paste(kinds, collapse = ""), levels, nrow(data)))
}

# The rows of a model matrix; its column of ones is the library's business.
design_frame <- function(design, x = design$x) {
  frame <- rows_frame(x, as.integer(design$intercept))
  checked(.Call(glue_frame_names, frame, design$columns))
  if (design$from_data && design$intercept) {
    checked(.Call(glue_frame_bounds_from_data, frame, design$intercept))
  } else {
    checked(.Call(glue_frame_bounds, frame, design$bounds[, "low"], design$bounds[, "high"], design$intercept))
  }
  frame
}

frame_response <- function(frame, y) {
  if (y$kind == "class") {
    checked(.Call(glue_frame_classes, frame, as.integer(y$label), y$classes))
  } else if (y$kind == "time") {
    checked(.Call(glue_frame_times, frame, y$response, y$event, y$entry, as.double(y$bounds)))
  } else {
    checked(.Call(glue_frame_response, frame, y$response, as.double(y$bounds), y$kind == "count"))
  }
  frame
}
