# Failures of the library as conditions. Class tacit_error, and before it the status: tacit_usage, tacit_refused, tacit_input, ...

checked <- function(answer) {
  if (inherits(answer, "tacit_failure")) raise(answer$status, spelled(answer$text), named_option(answer$text))
  answer
}

# A sentence of the library with its options written as arguments: test_fraction =, delta = 1e-5.
spelled <- function(text) {
  vapply(text, function(one) {
    part <- .Call(glue_text_options, one)
    if (length(part$name) == 0) return(one)
    paste0(c(rbind(part$before, gsub("-", "_", part$name), ifelse(is.na(part$value), " =", paste(" =", part$value))), part$rest), collapse = "")
  }, "", USE.NAMES = FALSE)
}

# The first of these arguments, or NULL.
named_option <- function(text) {
  name <- .Call(glue_text_options, text)$name
  if (length(name) > 0) gsub("-", "_", name[1])
}

# The argument that the sentence names is in the condition's `option`.
raise <- function(status, text, option = NULL) {
  status <- paste0("tacit_", tolower(status))
  if (status == "tacit_cancelled") interrupt(text)
  stop(structure(class = c(status, "tacit_error", "error", "condition"), list(message = text, call = NULL, option = option)))
}

usage <- function(...) raise("USAGE", paste0(...))

# The library noticed Ctrl-C. Go on as R does when it notices by itself: handlers of interrupts first, then the top level.
interrupt <- function(text) {
  signalCondition(structure(class = c("tacit_cancelled", "interrupt", "condition"), list(message = text, call = NULL)))
  invokeRestart("abort")
}

not_private <- function(...) {
  warning(structure(class = c("tacit_not_private", "warning", "condition"), list(message = paste0(...), call = NULL)))
}

# One number within limits, or an error that names the argument.
number <- function(value, name, low = -Inf, high = Inf) {
  if (!is.numeric(value) || length(value) != 1 || is.na(value) || value < low || value > high) {
    limits <- if (is.finite(high)) paste0(" from ", low, " to ", high) else if (is.finite(low)) paste0(" of at least ", low)
    usage(name, " must be one number", limits)
  }
  as.double(value)
}
