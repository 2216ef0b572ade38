# Fits over a table of columns with terms: where the library must know more of a row than its features.

# The columns of the model matrix are called v1, v2, ..., since their names in R may be any text; the table of coefficients then has R's.
plan_names <- function(plan) paste0("v", seq_along(plan$columns))

# How the schema describes the label, and its columns.
table_label <- function(y) {
  bounds <- if (!is.null(y$bounds)) paste0(", low: ", number_text(y$bounds[1]), ", high: ", number_text(y$bounds[2]))
  switch(y$kind,
    class = list(text = paste0("{name: y, classes: [", paste(yaml_text(y$classes), collapse = ", "), "]}"), columns = list(y = factor(y$classes[y$label + 1L], levels = y$classes))),
    time = list(text = paste0("{name: [", if (!is.null(y$entry)) "since, ", "until, event], kind: time", bounds, "}"),
      columns = c(if (!is.null(y$entry)) list(since = y$entry), list(until = y$response, event = y$event))),
    list(text = paste0("{name: y, kind: ", y$kind, bounds, "}"), columns = list(y = y$response)))
}

# The terms over these columns. A random effect of each party has the library's word for it.
table_terms <- function(plan, beside, marks, by_party = FALSE) {
  names <- plan_names(plan)
  random <- marks$random
  if (!is.null(random)) {
    slope <- match(random$slope, plan$columns)
    if (!is.null(random$slope) && is.na(slope)) usage("(", random$slope, " | ", deparse1(random$group), ") needs ", random$slope, " among the formula's columns too, as a number")
    random <- paste0("(", if (is.null(random$slope)) "1" else names[slope], " | ", if (by_party) "site" else "person", ")")
  }
  paste("~", paste(c(if (plan$intercept) "1" else "0", names, if (!is.null(beside$offset)) "offset(o)", if (!is.null(beside$weights)) "weights(w)",
    if (length(marks$strata) > 0) "strata(stratum)", if (!is.null(marks$cluster) && is.null(random)) "cluster(person)", random), collapse = " + "))
}

# The schema: `limits` are rows of low and high for the numbers.
table_schema <- function(label, limits, strata, person) {
  number <- paste0("  - {name: ", rownames(limits), ", kind: number, low: ", vapply(limits[, 1], number_text, ""), ", high: ", vapply(limits[, 2], number_text, ""), "}")
  paste0(paste(c(paste0("label: ", label), if (person) "person: person", "columns:", number,
    if (!is.null(strata)) paste0("  - {name: stratum, kind: category, levels: [", paste(yaml_text(strata), collapse = ", "), "]}")), collapse = "\n"), "\n")
}

# A frame of rows with what stands beside them: `x` the model matrix, `columns` as mark_columns() has them.
table_of <- function(plan, x, y, beside = NULL, marks = NULL, columns = NULL, by_party = FALSE) {
  x <- x[, plan$columns, drop = FALSE]
  limits <- if (!plan$intercept && plan$from_data) widened(t(apply(x, 2, range))) else plan$bounds
  rownames(limits) <- plan_names(plan)
  data <- as.data.frame(x)
  names(data) <- plan_names(plan)
  add <- function(name, value, ends) {
    data[[name]] <<- value
    limits <<- rbind(limits, matrix(ends, 1, dimnames = list(name, NULL)))
  }
  if (!is.null(beside$offset)) add("o", beside$offset, widened(matrix(range(beside$offset), 1)))
  if (!is.null(beside$weights)) add("w", beside$weights, c(min(beside$weights) * if (min(beside$weights) < max(beside$weights)) 1 else 0.5, max(beside$weights)))
  label <- table_label(y)
  schema <- table_schema(label$text, limits, levels(columns$strata), !is.null(columns$person))
  rows <- c(label$columns, as.list(data), list(stratum = columns$strata, person = columns$person))
  frame <- table_frame(structure(Filter(Negate(is.null), rows), class = "data.frame", row.names = .set_row_names(nrow(x))))
  options <- option_list(schema_text = schema, terms = table_terms(plan, beside, marks, by_party))
  checked(.Call(glue_frame_describe, frame, options$names, options$values))
  frame
}

# Fit by terms, as one owner has the rows.
fit_table <- function(plan, promise, beside, marks, columns) {
  frame <- table_of(plan, plan$x, plan$y, beside, marks, columns)
  result <- as_named(with_their_names(fit_frame(frame, promise, NULL, plan$from_data), plan), plan)
  result$beside <- list(offset = !is.null(beside$offset), weights = !is.null(beside$weights))
  result
}

# The figures of a fit with R's names of columns. Of a report of random effects the fixed ones are the table of coefficients.
as_named <- function(result, plan) {
  report <- result$document$report
  if (identical(report$kind, "mixed")) {
    result$document$summary <- mixed_summary(report)
    result$random <- mixed_random(report, plan)
  }
  coefficients <- result$document$summary$coefficients
  shown <- c(if (plan$intercept && plan$y$kind != "time") "(Intercept)", plan$columns)
  result$document$summary$coefficients <- Map(function(row, name) { row$name <- name; row }, coefficients, shown)
  tests <- result$document$summary$proportional$tests
  if (!is.null(tests)) result$document$summary$proportional$tests <- lapply(tests, function(test) { test$name <- with_names(test$name, plan); test })
  result
}

# Errors that name a column of the table name the one that it is in R.
with_their_names <- function(call, plan) {
  tryCatch(call, tacit_error = function(problem) {
    for (k in rev(seq_along(plan$columns))) problem$message <- gsub(paste0("\\bv", k, "\\b"), gsub("\\", "\\\\", plan$columns[k], fixed = TRUE), problem$message)
    stop(problem)
  })
}

with_names <- function(name, plan) if (is.na(at <- match(name, plan_names(plan)))) name else plan$columns[at]

report_table <- function(report, name) {
  table <- Filter(function(one) one$name == name, report$tables)[[1]]
  values <- t(vapply(table$rows, function(row) vapply(row$values, json_number, 0), numeric(length(table$columns))))
  dimnames(values) <- list(vapply(table$rows, function(row) row$label, ""), unlist(table$columns))
  values
}

report_fact <- function(report, name) {
  found <- Filter(function(one) one$name == name, report$facts)
  if (length(found) == 0) NULL else found[[1]]$number
}

mixed_summary <- function(report) {
  fixed <- report_table(report, "fixed")
  rows <- lapply(seq_len(nrow(fixed)), function(k) list(name = rownames(fixed)[k], estimate = fixed[k, "estimate"], error = fixed[k, "error"], statistic = fixed[k, "z"], p = fixed[k, "p"]))
  likelihood <- report_fact(report, "log-likelihood")
  list(coefficients = rows, statistic = "z", aic = report_fact(report, "AIC"), likelihood = likelihood, groups = report_fact(report, "groups"))
}

mixed_random <- function(report, plan) {
  random <- report_table(report, "random")
  rownames(random) <- vapply(rownames(random), with_names, "", plan)
  as.data.frame(random)
}
