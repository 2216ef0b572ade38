# Reads the library's documents. Arrays of numbers, strings or logicals become vectors, other arrays and objects lists.

json_token <- "\"(?:[^\"\\\\]++|\\\\.)*+\"|-?[0-9][0-9.eE+-]*+|true|false|null|[\\[\\]{},:]"

json_read <- function(text) {
  token <- regmatches(text, gregexpr(json_token, text, perl = TRUE))[[1]]
  place <- 0L
  take <- function() token[[place <<- place + 1L]]
  peek <- function() token[[place + 1L]]

  value <- function() {
    word <- take()
    switch(substr(word, 1, 1),
      "{" = object(),
      "[" = array(),
      "\"" = json_string(word),
      t = TRUE,
      f = FALSE,
      n = NULL,
      as.numeric(word)
    )
  }
  object <- function() {
    result <- list()
    while (peek() != "}") {
      name <- json_string(take())
      take() # the colon
      result[name] <- list(value())
      if (peek() == ",") take()
    }
    take()
    result
  }
  array <- function() {
    result <- list()
    while (peek() != "]") {
      result[length(result) + 1L] <- list(value())
      if (peek() == ",") take()
    }
    take()
    plain <- function(is) length(result) > 0 && all(vapply(result, is, NA) & lengths(result) == 1)
    if (plain(is.numeric) || plain(is.character) || plain(is.logical)) unlist(result) else result
  }

  if (length(token) == 0) raise("CORRUPT", "the document is empty")
  result <- tryCatch(value(), error = function(problem) raise("CORRUPT", "the document ends too early"))
  if (place != length(token)) raise("CORRUPT", "the document goes on after its end")
  result
}

# The text of a quoted string.
json_string <- function(quoted) {
  inside <- substr(quoted, 2, nchar(quoted) - 1)
  if (!grepl("\\", inside, fixed = TRUE)) return(inside)
  escape <- gregexpr("\\\\(u[dD][89abAB][0-9a-fA-F]{2}\\\\u[0-9a-fA-F]{4}|u[0-9a-fA-F]{4}|.)", inside, perl = TRUE)
  regmatches(inside, escape)[[1]] <- vapply(regmatches(inside, escape)[[1]], json_escape, "")
  inside
}

json_escape <- function(escape) {
  if (substr(escape, 2, 2) != "u") {
    letter <- substr(escape, 2, 2)
    return(switch(letter, n = "\n", t = "\t", r = "\r", b = "\b", f = "\f", letter))
  }
  code <- strtoi(c(substr(escape, 3, 6), substr(escape, 9, 12)), 16L)
  if (nchar(escape) > 6) code[1] <- 65536L + (code[1] - 55296L) * 1024L + (code[2] - 56320L)
  intToUtf8(code[1])
}

# A number of a document, which writes infinity as a string and what does not apply as null.
json_number <- function(value) if (is.null(value)) NA_real_ else if (identical(value, "inf")) Inf else as.numeric(value)
