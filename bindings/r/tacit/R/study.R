# Studies from the side of the statistician: a coordinator, its studies, and what they find.

tacit_coordinator <- function(where, token = NULL, name = NULL, listen = NULL, url = NULL, dashboard = NULL, test = NULL) {
  coordinator <- new.env(parent = emptyenv())
  coordinator$runs <- FALSE
  if (grepl("^https?://", where)) {
    coordinator$pointer <- checked(.Call(glue_coordinator_connect, where, token))
  } else {
    coordinator$folder <- path.expand(where)
    given <- option_list(name = name, listen = listen, url = url, dashboard = dashboard, test = test)
    answer <- .Call(glue_coordinator_start, coordinator$folder, given$names, given$values)
    coordinator$runs <- !inherits(answer, "tacit_failure")
    if (!coordinator$runs && grepl("another coordinator serves", answer$text, fixed = TRUE)) # which goes on beside us
      answer <- .Call(glue_coordinator_connect, coordinator$folder, NULL)
    coordinator$pointer <- checked(answer)
  }
  coordinator$address <- .Call(glue_coordinator_address, coordinator$pointer)
  structure(coordinator, class = "tacit_coordinator")
}

coordinator_pointer <- function(coordinator) {
  if (!inherits(coordinator, "tacit_coordinator")) usage("coordinator must be one that tacit_coordinator() made")
  if (.Call(glue_is_null, coordinator$pointer)) usage("this coordinator was closed")
  coordinator$pointer
}

close.tacit_coordinator <- function(con, ...) {
  .Call(glue_coordinator_stop, con$pointer)
  invisible(NULL)
}

print.tacit_coordinator <- function(x, ...) {
  cat("Coordinator ", if (is.null(x$folder)) x$address else x$folder, if (x$runs) ", running in this session", "\n", sep = "")
  invisible(x)
}

# What comes by a name of its own is an option of the call.
study_ask <- function(.what, .coordinator = NULL, .study = NULL, .definition = NULL, ..., settings = list()) {
  given <- option_list(..., settings = settings)
  pointer <- if (!is.null(.coordinator)) coordinator_pointer(.coordinator)
  checked(.Call(glue_study_ask, .what, pointer, .study, .definition, given$names, given$values))
}

study_fetch <- function(coordinator, study, what) checked(.Call(glue_study_fetch, coordinator_pointer(coordinator), study, what))

tacit_token <- function(coordinator, scope = c("read", "manage"), expires = 30, study = NULL, called = NULL) {
  json_read(study_ask("token", coordinator, NULL, NULL, scope = match.arg(scope), expires = expires, study = study, "for" = called))$token
}

tacit_studies <- function(coordinator) {
  found <- json_read(study_fetch(coordinator, NULL, "list"))$studies
  text <- function(name) vapply(found, function(one) as.character(one[[name]]), "")
  data.frame(study = text("name"), title = text("title"), method = text("method"), state = text("state"),
    joined = vapply(found, function(one) one$parties$joined, 0), expected = vapply(found, function(one) one$parties$expected, 0),
    rounds = vapply(found, function(one) one$rounds, 0), stringsAsFactors = FALSE)
}

# ---- drafting and adding ----

formula_text <- function(formula) {
  if (inherits(formula, "formula")) paste(trimws(deparse(formula, width.cutoff = 500L)), collapse = " ") else formula
}

# A schema as a file: one that is text is written, to be unlinked after the call.
schema_file <- function(schema) {
  if (is.null(schema)) return(list(path = NULL, made = character()))
  if (!is.character(schema)) usage("schema is the path of a file, or its text")
  if (length(schema) == 1 && !grepl("\n", schema, fixed = TRUE)) return(list(path = path.expand(schema), made = character()))
  file <- tempfile(fileext = ".schema.yaml")
  writeLines(enc2utf8(schema), file, useBytes = TRUE)
  list(path = file, made = file)
}

tacit_draft <- function(name, formula = NULL, method = "estimate", parties, schema, lambda = NULL, settings = list(), ...) {
  schema <- schema_file(schema)
  on.exit(unlink(schema$made))
  study_ask("draft", NULL, NULL, NULL, name = name, formula = formula_text(formula), method = method, parties = parties, schema = schema$path,
    lambda = lambda, ..., settings = settings)
}

tacit_check_study <- function(definition, coordinator, force = FALSE) {
  json_read(study_ask("check", coordinator, NULL, definition, force = force))
}

tacit_study <- function(name, formula = NULL, method = "estimate", sites = character(), coordinator, schema = NULL, parties = length(sites),
                        settings = list(), draft = FALSE, force = FALSE, file = NULL, ...) {
  if (!is.null(file)) {
    name <- json_read(study_ask("add", coordinator, NULL, NULL, file = path.expand(file), draft = draft, force = force))$study
  } else if (!missing(formula) || length(sites) > 0) {
    schema <- schema_file(schema)
    on.exit(unlink(schema$made))
    given <- option_list(method = method, schema = schema$path, draft = draft, force = force, ..., settings = settings)
    checked(.Call(glue_study_create, coordinator_pointer(coordinator), name, formula_text(formula), as.double(parties), given$names, given$values))
  }
  study <- structure(list2env(list(name = name, coordinator = coordinator, invitations = character()), parent = emptyenv()),
    class = "tacit_study")
  study_status(study) # it is there
  if (!draft) for (site in sites) invite_missing(study, site)
  study
}

study_pointer <- function(study) coordinator_pointer(study$coordinator)
study_status <- function(study) json_read(study_fetch(study$coordinator, study$name, "status"))
study_parties <- function(study) json_read(study_fetch(study$coordinator, study$name, "parties"))$parties

invite_missing <- function(study, site) {
  known <- vapply(study_parties(study), function(one) {
    if (is.null(one$called) || one$state %in% c("expired", "revoked")) "" else one$called
  }, "")
  if (!site %in% known) tacit_invite(study, site)
}

tacit_invite <- function(study, site = NULL, days = 7, url = NULL) {
  line <- json_read(study_ask("invite", study$coordinator, study$name, NULL, "for" = site, days = days, url = url))$invitations
  if (!is.null(site)) study$invitations[[site]] <- line
  invisible(line)
}

# A site in this session, as one program plays all parts in tests and trials: it answers on a thread of its own.
tacit_study_site <- function(study, site, data, ...) {
  if (!is.data.frame(data)) usage("data must be a data frame")
  line <- if (site %in% names(study$invitations)) study$invitations[[site]]
  given <- option_list(invitation = line, ...)
  checked(.Call(glue_study_site, study_pointer(study), study$name, site, table_frame(data), given$names, given$values))
  study$invitations <- study$invitations[names(study$invitations) != site]
  invisible(study)
}

# ---- its life ----

study_change <- function(study, verb) {
  checked(.Call(glue_study_change, study_pointer(study), study$name, verb))
  invisible(study)
}
tacit_open <- function(study) study_change(study, "open")
tacit_pause <- function(study) study_change(study, "pause")
tacit_resume <- function(study) study_change(study, "resume")
tacit_close <- function(study) study_change(study, "close")

tacit_amend <- function(study, definition = NULL, file = NULL) {
  json_read(study_ask("amend", study$coordinator, study$name, definition, file = if (!is.null(file)) path.expand(file)))
}

# ---- watching ----

# `changed` is called with the status, at once and whenever the study has changed, until it has ended or says FALSE.
tacit_watch <- function(study, changed) {
  known <- NULL
  repeat {
    text <- checked(.Call(glue_study_watch, study_pointer(study), study$name, known))
    if (is.null(text)) break
    known <- text
    status <- json_read(text)
    if (isFALSE(changed(status)) || status$state %in% c("done", "failed", "closed")) break
  }
  invisible(study)
}

run <- function(object, ...) UseMethod("run")

run.tacit_study <- function(object, progress = interactive(), ...) {
  show <- if (is.function(progress)) progress else if (isTRUE(progress)) function(status) message(study_line(object, status)) else function(status) TRUE
  tacit_watch(object, show)
  tacit_result(object)
}

study_line <- function(study, status) {
  text <- paste0(status$name, ": ", status$state)
  if (status$state == "recruiting") {
    waiting <- Filter(function(one) identical(one$state, "invited"), study_parties(study))
    waiting <- vapply(waiting, function(one) if (is.null(one$called)) "one more" else one$called, "")
    text <- paste0(text, ", ", status$parties$joined, " of ", status$parties$expected, " sites have joined",
      if (length(waiting) > 0) paste0("; not yet: ", paste(waiting, collapse = ", ")))
  } else if (status$state %in% c("running", "done")) {
    text <- paste0(text, ", ", status$rounds, " rounds")
  }
  if (!status$state %in% c("recruiting", "running") && nzchar(status$reason)) text <- paste0(text, ": ", status$reason)
  text
}

# ---- what it has found ----

tacit_fetch <- function(study, what = c("status", "definition", "parties", "rounds", "model", "table", "evaluation", "card", "card.html", "audit"),
                        file = NULL) {
  what <- match.arg(what)
  text <- study_fetch(study$coordinator, study$name, what)
  if (!is.null(file)) {
    writeBin(charToRaw(enc2utf8(text)), path.expand(file))
    return(invisible(file))
  }
  if (what %in% c("status", "parties", "rounds", "table", "evaluation")) json_read(text) else text
}

tacit_result <- function(study) {
  status <- study_status(study)
  if (status$state %in% c("failed", "closed")) raise("IO", paste0("study '", study$name, "' is ", status$state, ": ", status$reason))
  result <- described(checked(.Call(glue_model_from_json, study_fetch(study$coordinator, study$name, "model"))))
  result$method <- result$document$guarantee$method
  if (length(result$document$classes) > 0) result$classes <- result$document$classes
  result$rows <- result$document$summary$rows
  result$study <- study
  structure(result, class = c("tacit_study_fit", "tacit_model"))
}

tacit_card <- function(fit, file = NULL) {
  if (!inherits(fit, "tacit_study_fit")) usage("a card is made of what run() or tacit_result() found")
  page <- !is.null(file) && grepl("[.]html?$", file)
  text <- study_fetch(fit$study$coordinator, fit$study$name, if (page) "card.html" else "card")
  if (!is.null(file)) writeBin(charToRaw(enc2utf8(text)), path.expand(file))
  invisible(text)
}

# The coefficients as broom has them.
tidy <- function(x, ...) UseMethod("tidy")

tidy.tacit_study_fit <- function(x, ...) {
  estimates <- estimates_of(x)
  if (is.null(estimates)) usage(no_errors(x))
  column <- function(name) vapply(estimates$coefficients, function(row) json_number(row[[name]]), 0)
  data.frame(term = coefficient_names(estimates), estimate = column("estimate"), std.error = column("error"), statistic = column("statistic"),
    p.value = column("p"), conf.low = column("low"), conf.high = column("high"), stringsAsFactors = FALSE)
}

summary.tacit_study <- function(object, ...) study_status(object)

print.tacit_study <- function(x, ...) {
  cat("Study ", study_line(x, study_status(x)), "\n", sep = "")
  invisible(x)
}
