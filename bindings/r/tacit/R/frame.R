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
  } else {
    checked(.Call(glue_frame_response, frame, y$response, as.double(y$bounds), y$kind == "count"))
  }
  frame
}
