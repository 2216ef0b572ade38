# What a study will be worth, before anybody is asked.

tacit_plan <- function(study = NULL, schema = NULL, parties = NULL, rows = NULL, epsilon = NULL, delta = NULL, methods = NULL, like = NULL,
                       own = NULL, signal = NULL, positives = NULL, brief = FALSE, ...) {
  options <- option_list(study = study, schema = schema, parties = parties, rows = rows, epsilon = epsilon, delta = delta, methods = methods,
    like = like, own = own, signal = signal, positives = positives, brief = if (isTRUE(brief)) TRUE, ...)
  structure(class = "tacit_plan", json_read(checked(.Call(glue_plan, options$names, options$values))))
}

# A row for a site alone, for all rows pooled and for every method, with the figures that apply to the label.
as.data.frame.tacit_plan <- function(x, ...) {
  figures <- if (identical(x$response, "class")) c("accuracy", "auc", "logloss") else c("explained", "deviance")
  row <- function(name, about, verdict) {
    means <- lapply(figures, function(figure) if (is.null(about[[figure]])) NA_real_ else json_number(about[[figure]]$mean))
    data.frame(method = name, stats::setNames(means, figures), verdict = verdict, stringsAsFactors = FALSE)
  }
  rows <- c(list(row("a site alone", x$alone, NA_character_), row("all rows pooled", x$pooled, NA_character_)),
    lapply(x$methods, function(one) row(one$method, one$expected, one$verdict)))
  do.call(rbind, rows)
}

print.tacit_plan <- function(x, ...) {
  cat(format(x$parties), " parties with ", format(x$rows), " rows together, ", format(x$features), " features; epsilon ",
    format(json_number(x$epsilon)), ", delta ", format(json_number(x$delta)), "\n\n", sep = "")
  print(as.data.frame(x), digits = 3, row.names = FALSE)
  if (is.character(x$recommended)) cat("\nBest: ", x$recommended, ".\n", sep = "")
  invisible(x)
}
