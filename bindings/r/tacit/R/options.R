# Options of a call as the library takes them: names and texts, in order.

option_list <- function(..., settings = list()) {
  given <- Filter(Negate(is.null), list(...))
  names <- gsub("_", "-", names(given))
  values <- vapply(given, option_text, "", USE.NAMES = FALSE)
  if (length(settings) > 0) {
    if (is.null(names(settings)) || any(names(settings) == "")) usage("settings must be a list with names, such as list(loss = \"huber\")")
    names <- c(names, rep("set", length(settings)))
    values <- c(values, paste0(names(settings), "=", vapply(settings, option_text, "")))
  }
  list(names = as.character(names), values = as.character(values))
}

# R's TRUE is yes; a number is written with as many digits as tell it apart.
option_text <- function(value) {
  if (is.logical(value)) value <- ifelse(value, "yes", "no")
  if (is.numeric(value)) value <- vapply(as.double(value), number_text, "")
  paste(value, collapse = ",")
}

number_text <- function(value) {
  if (!is.finite(value)) return(if (isTRUE(value > 0)) "inf" else as.character(value))
  pointed <- function(text) chartr(",", ".", text) # a session may have a locale with commas
  short <- pointed(format(value, digits = 15, scientific = abs(value) >= 2^53 || (value != 0 && abs(value) < 1e-4), decimal.mark = "."))
  if (as.numeric(short) == value) short else pointed(formatC(value, digits = 17, format = "g", width = 1, decimal.mark = "."))
}
