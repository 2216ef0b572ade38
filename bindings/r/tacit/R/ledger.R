# What a data source has been charged, and what it may still be.

tacit_ledger <- function(path, source, epsilon = NULL, delta = 0, unit = c("record", "party")) {
  ledger <- new.env(parent = emptyenv())
  ledger$path <- path.expand(path)
  ledger$source <- source
  ledger$pointer <- checked(.Call(glue_ledger_at, ledger$path, source))
  class(ledger) <- "tacit_ledger"
  if (!is.null(epsilon)) tacit_limit(ledger, epsilon, delta, unit)
  ledger
}

# A ledger that was saved with a session is opened again.
ledger_pointer <- function(ledger) {
  if (.Call(glue_is_null, ledger$pointer)) ledger$pointer <- checked(.Call(glue_ledger_at, ledger$path, ledger$source))
  ledger$pointer
}

tacit_limit <- function(ledger, epsilon, delta = 0, unit = c("record", "party")) {
  unit <- match.arg(unit)
  checked(.Call(glue_ledger_limit, ledger_pointer(ledger), unit == "party", number(epsilon, "epsilon", 0), number(delta, "delta", 0, 1)))
  invisible(ledger)
}

tacit_verify <- function(ledger) json_read(checked(.Call(glue_ledger_verdict, ledger_pointer(ledger))))

# The accounts of the source, or of one study of it.
summary.tacit_ledger <- function(object, ...) {
  accounts <- ledger_document(object)$accounts
  price <- function(name, part) vapply(accounts, function(account) json_number(account[[name]][[part]]), 0)
  data.frame(study = vapply(accounts, function(account) if (is.null(account$study)) NA_character_ else account$study, ""),
    unit = vapply(accounts, function(account) account$unit, ""),
    epsilon_limit = price("limit", "epsilon"), epsilon_spent = price("spent", "epsilon"), epsilon_remaining = price("remaining", "epsilon"),
    delta_limit = price("limit", "delta"), delta_spent = price("spent", "delta"), delta_remaining = price("remaining", "delta"),
    stringsAsFactors = FALSE)
}

as.data.frame.tacit_ledger <- function(x, ...) {
  entries <- ledger_document(x)$entries
  text <- function(name) vapply(entries, function(entry) if (is.null(entry[[name]])) NA_character_ else as.character(entry[[name]]), "")
  price <- function(part) vapply(entries, function(entry) json_number(entry$price[[part]]), 0)
  data.frame(number = vapply(entries, function(entry) json_number(entry$number), 0), when = text("when"), entry = text("entry"),
    study = text("study"), method = text("method"), epsilon = price("epsilon"), delta = price("delta"), stringsAsFactors = FALSE)
}

ledger_document <- function(ledger) {
  document <- json_read(checked(.Call(glue_ledger_document, ledger_pointer(ledger))))
  if (is.null(document$sources)) return(document)
  if (length(document$sources) == 0) list() else document$sources[[1]]
}

print.tacit_ledger <- function(x, ...) {
  cat("Ledger of ", x$source, " (", x$path, ")\n", sep = "")
  accounts <- summary(x)
  accounts <- accounts[is.na(accounts$study), ]
  for (i in seq_len(nrow(accounts))) {
    account <- accounts[i, ]
    if (is.na(account$epsilon_limit)) {
      if (account$epsilon_spent > 0) cat("per ", account$unit, ": epsilon ", format(account$epsilon_spent), " spent\n", sep = "")
    } else {
      cat("per ", account$unit, ": epsilon ", format(account$epsilon_spent), " of ", format(account$epsilon_limit), " spent, ",
        format(account$epsilon_remaining), " left; delta ", format(account$delta_spent), " of ", format(account$delta_limit), "\n", sep = "")
    }
  }
  if (all(is.na(accounts$epsilon_limit))) cat("No limit is set, and without one nothing is released: see tacit_limit().\n")
  invisible(x)
}
