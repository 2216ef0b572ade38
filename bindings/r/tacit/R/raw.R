# Models for other programs: inputs are the columns of the data, and the formula is worked out inside.
#
# A model here is fitted to the columns of R's model matrix. The library knows R's formulas too (docs/terms.md), with an encoding of its
# own. Its features at made-up rows are found by asking it about one weight at a time; the weights that give R's linear predictor
# there then solve a linear system, and are checked at all of these rows.

# What is known of each column that the formula names: levels, or bounds. Of the rows only where bounds were read off them anyway.
raw_columns <- function(terms, data, bounds) {
  if (is.environment(data)) return(NULL)
  names <- intersect(all.vars(stats::delete.response(terms)), names(data))
  stats::setNames(lapply(names, function(name) {
    value <- data[[name]]
    if (is.logical(value)) return(list(levels = c("FALSE", "TRUE")))
    if (is.factor(value)) return(list(levels = levels(value)))
    if (is.character(value)) return(list(levels = sort(unique(value))))
    if (name %in% rownames(bounds)) return(list(bounds = unname(bounds[name, ])))
    if (is.null(bounds) && is.numeric(value)) return(list(bounds = as.vector(widened(matrix(range(value, na.rm = TRUE), 1)))))
    list()
  }), names)
}

# Does the model matrix have other columns than the data?
needs_raw <- function(object) {
  variables <- names(object$design$raw)
  inherits(object, "tacit_glm") && object$kind %in% c("class", "number", "count") && (!is.null(object$beside) || !setequal(object$design$columns, variables))
}

# What the label is called in a file: the first column that the response is made of.
raw_label <- function(object) all.vars(object$terms)[1]

yaml_text <- function(text) paste0("\"", gsub("([\"\\\\])", "\\\\\\1", text), "\"")

raw_schema <- function(object, schema) {
  column <- function(name) {
    about <- object$design$raw[[name]]
    kind <- if (!is.null(about$levels)) {
      paste0("kind: category, levels: [", paste(yaml_text(about$levels), collapse = ", "), "]")
    } else if (!is.null(about$bounds)) {
      paste0("kind: number, low: ", number_text(about$bounds[1]), ", high: ", number_text(about$bounds[2]))
    } else {
      usage("the exported model takes the column ", name, " itself: name it in bounds too")
    }
    paste0("  - {name: ", yaml_text(name), ", ", kind, "}")
  }
  lines <- strsplit(schema, "\n", fixed = TRUE)[[1]]
  from <- match("columns:", lines)
  label <- sub("name: \"[^\"]*\"", paste0("name: ", yaml_text(raw_label(object))), lines[seq_len(from - 1)])
  settings <- grep("^(terms|intercept|subset):", grep("^[a-z]", lines[-seq_len(from)], value = TRUE), value = TRUE, invert = TRUE)
  settings <- grep("^(missing|strict|rows|from):", settings, value = TRUE)
  terms <- paste0("terms: ", yaml_text(paste("~", paste(deparse(stats::formula(object$design$terms)[[2]], width.cutoff = 500L), collapse = " "))))
  paste0(paste(c(label, "columns:", vapply(names(object$design$raw), column, ""), terms, settings,
    paste("intercept:", if (object$design$intercept) "yes" else "no")), collapse = "\n"), "\n")
}

# Rows that nobody has: evenly spread over bounds and levels.
made_up <- function(raw, count) {
  roots <- sqrt(c(2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71))
  as.data.frame(stats::setNames(lapply(seq_along(raw), function(k) {
    share <- (seq_len(count) * roots[(k - 1) %% length(roots) + 1] * (1 + (k - 1) %/% length(roots))) %% 1
    about <- raw[[k]]
    if (!is.null(about$levels)) return(about$levels[1 + floor(share * length(about$levels))])
    about$bounds[1] + share * (about$bounds[2] - about$bounds[1])
  }), names(raw)), stringsAsFactors = FALSE, optional = TRUE)
}

as_given <- function(rows, object) {
  for (name in names(object$design$raw)) {
    levels <- object$design$raw[[name]]$levels
    if (is.null(levels)) next
    rows[[name]] <- if (identical(object$design$raw[[name]]$levels, c("FALSE", "TRUE")) && identical(unname(attr(object$design$terms, "dataClasses")[name]), "logical"))
      rows[[name]] == "TRUE" else factor(rows[[name]], levels = levels)
    if (identical(unname(attr(object$design$terms, "dataClasses")[name]), "character")) rows[[name]] <- as.character(rows[[name]])
  }
  rows
}

# The scores that a model in text gives to rows in a file: of two classes the log-odds, of a number its link.
text_scores <- function(json, frame, kind) {
  answer <- checked(.Call(glue_model_predict, checked(.Call(glue_model_from_json, json)), frame, 0L, FALSE))[[1]]
  if (kind == "class") return(log(answer[2, ]) - log(answer[1, ]))
  if (kind == "count") log(answer[1, ]) else answer[1, ]
}

# The model over the columns themselves, as the library's text.
raw_json <- function(object) {
  if (length(object$classes) > 2) usage("a model of more than two classes with factors is exported over the columns of its model matrix only: fit it by tacit_fit()")
  json <- object$handle$json
  document <- json_read(json)
  features <- length(object$design$columns) + object$design$intercept
  schema <- raw_schema(object, document$schema)
  text <- function(weights) {
    blocks <- length(document$weights) %/% document$features
    if (blocks == 2) weights <- c(0 * weights, weights)
    result <- sub("\"weights\": \\[[^]]*\\]", paste0("\"weights\": [", paste(vapply(weights, number_text, ""), collapse = ", "), "]"), json)
    result <- sub("\"features\": [0-9]+", paste0("\"features\": ", features), result)
    at <- regexpr("\"schema\": \"(?:[^\"\\\\]|\\\\.)*\"", result, perl = TRUE)
    regmatches(result, at) <- paste0("\"schema\": ", json_quoted(schema))
    result
  }
  rows <- made_up(object$design$raw, max(60, 12 * features))
  file <- tempfile(fileext = ".csv")
  on.exit(unlink(file))
  label <- stats::setNames(data.frame(rep(if (object$kind == "class") object$classes[1] else "0", nrow(rows))), raw_label(object))
  utils::write.csv(cbind(rows, label), file, row.names = FALSE)
  options <- option_list(schema = local({
    path <- sub("csv$", "yaml", file)
    writeLines(enc2utf8(schema), path, useBytes = TRUE)
    path
  }))
  on.exit(unlink(sub("csv$", "yaml", file)), add = TRUE)
  frame <- checked(.Call(glue_frame_load, file, options$names, options$values))
  zero <- text_scores(text(rep(0, features)), frame, object$kind)
  each <- vapply(seq_len(features), function(j) text_scores(text(as.double(seq_len(features) == j)), frame, object$kind) - zero, zero)
  given <- as_given(rows, object)
  wanted <- linear_predictor(object, design_rows(object$design, given)) + offset_of(object, given)
  weights <- qr.coef(qr(each, tol = 1e-12), wanted - zero)
  off <- max(abs(each %*% weights + zero - wanted))
  if (!isTRUE(off <= 1e-7 * max(1, abs(wanted)))) usage("the formula has something that the library works out in another way than R, so that the model cannot be exported over the columns themselves: fit it by tacit_fit() to columns that you made")
  text(weights)
}

json_quoted <- function(text) paste0("\"", gsub("\n", "\\\\n", gsub("([\"\\\\])", "\\\\\\1", text)), "\"")
