# What methods there are, what they promise, and whether that holds.

tacit_version <- function() .Call(glue_version)

tacit_methods <- function() {
  document <- json_read(checked(.Call(glue_methods)))
  text <- function(name) vapply(document, function(method) as.character(method[[name]]), "")
  table <- data.frame(name = text("name"), title = text("title"), unit = text("unit"), reference = text("reference"),
    stringsAsFactors = FALSE)
  settings <- stats::setNames(lapply(document, function(method) settings_table(method$parameters)), table$name)
  structure(table, settings = settings, class = c("tacit_methods", "data.frame"))
}

settings_table <- function(parameters) {
  text <- function(name) vapply(parameters, function(setting) paste(format(setting[[name]]), collapse = ", "), "")
  data.frame(name = text("name"), default = text("default"), help = text("help"), stringsAsFactors = FALSE)
}

print.tacit_methods <- function(x, ...) {
  for (i in seq_len(nrow(x))) cat(strwrap(x$title[i], 100, initial = formatC(x$name[i], width = -20), prefix = strrep(" ", 20)), sep = "\n")
  cat("\nattr(, \"settings\")[[\"plr\"]] lists the settings of plr; tacit_explain(\"plr\") says what it promises.\n")
  invisible(x)
}

tacit_explain <- function(method, epsilon = 1, delta = NULL, lambda = NULL, parties = NULL, rows = NULL, features = NULL, classes = NULL,
                          settings = list(), ...) {
  options <- option_list(method = method, epsilon = epsilon, delta = delta, lambda = lambda, parties = parties, rows = rows,
    features = features, classes = classes, ..., settings = settings)
  structure(class = "tacit_explanation", json_read(checked(.Call(glue_explain, options$names, options$values))))
}

print.tacit_explanation <- function(x, ...) {
  cat(x$method, ": ", x$title, "\n\n", sep = "")
  for (name in c("leaves", "seen_by", "guarantee", "assumption", "theorem", "claim", "caveats", "sums")) {
    text <- x[[name]]
    if (is.character(text)) cat(strwrap(text, 100, initial = formatC(gsub("_", " ", name), width = -12), prefix = strrep(" ", 12)), sep = "\n")
  }
  price <- function(what) paste0("epsilon = ", format(json_number(what$epsilon)), ", delta = ", format(json_number(what$delta)), " per ", what$unit)
  if (is.list(x$charged)) cat(formatC("charged", width = -12), price(x$charged), "\n", sep = "")
  if (is.list(x$noise)) cat(formatC("noise", width = -12), x$noise$law, ", mean norm ", format(x$noise$mean_norm, digits = 3), ", on ", x$noise$added_to, "\n", sep = "")
  invisible(x)
}

tacit_audit <- function(method, epsilon, delta = 0, lambda = NULL, runs = 200000, confidence = 0.999, seed = NULL, settings = list(),
                        threads = NULL, exact = NULL, search = NULL) {
  options <- option_list(method = method, epsilon = epsilon, delta = delta, lambda = lambda, runs = as.double(runs),
    confidence = confidence, seed = seed, threads = threads, exact = exact, search = search, settings = settings)
  structure(class = "tacit_audit", json_read(checked(.Call(glue_audit, options$names, options$values))))
}

print.tacit_audit <- function(x, ...) {
  cat("Audit of ", x$method, ": epsilon ", format(json_number(x$epsilon)), " was promised, at least ",
    format(json_number(x$epsilon_lower), digits = 3), " was spent (confidence ", format(x$confidence), ", ", format(x$runs, big.mark = ","),
    " runs).\n", sep = "")
  cat(if (identical(x$verdict, "broken")) "The promise is broken." else "No contradiction: the promise may hold.", "\n", sep = "")
  if (is.character(x$pair)) cat(strwrap(x$pair, 100, initial = "Data sets: ", prefix = "  "), sep = "\n")
  invisible(x)
}
