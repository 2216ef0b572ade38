# A party of a study: rows of a data frame, used where they lie, or of a file; both stay here.

tacit_site <- function(invitation = NULL, data = NULL, schema = NULL, home, source = NULL, study = NULL, ...) {
  if (is.null(invitation) == is.null(study)) usage("give an invitation, or the name of a study that was joined before as study =")
  home <- path.expand(home)
  if (!dir.exists(home)) dir.create(home, mode = "0700", recursive = TRUE)
  frame <- NULL
  if (is.data.frame(data)) {
    if (is.null(source)) source <- deparse(substitute(data))[1]
    frame <- table_frame(data)
    if (!is.null(schema)) { # the owner's own; else they are read as the study's schema says
      about <- option_list(schema = path.expand(schema))
      checked(.Call(glue_frame_describe, frame, about$names, about$values))
    }
    data <- schema <- NULL
  } else if (!is.null(data) && !(is.character(data) && length(data) == 1)) {
    usage("data is a data frame, or the path of a file")
  }
  given <- if (is.null(study)) {
    option_list(home = home, data = if (!is.null(data)) path.expand(data), schema = if (!is.null(schema)) path.expand(schema), source = source, ...)
  } else {
    option_list(home = home, ...)
  }
  site <- new.env(parent = emptyenv())
  site$pointer <- checked(.Call(glue_site_look, invitation, study, frame, given$names, given$values))
  site$document <- json_read(checked(.Call(glue_site_document, site$pointer)))
  structure(site, class = "tacit_site")
}

# What an invitation asks, before there are any rows.
tacit_preview <- function(invitation, home, write_schema = NULL, write_template = NULL, proxy = NULL) {
  expanded <- function(path) if (!is.null(path)) path.expand(path)
  given <- option_list(home = path.expand(home), write_schema = expanded(write_schema), write_template = expanded(write_template), proxy = proxy)
  asked <- json_read(checked(.Call(glue_site_preview, invitation, given$names, given$values)))
  field <- function(name) vapply(asked$columns, function(one) as.character(one[[name]]), "")
  asked$columns <- data.frame(name = field("name"), role = field("role"), values = field("values"), missing = field("missing"), stringsAsFactors = FALSE)
  asked
}

site_pointer <- function(site) {
  if (.Call(glue_is_null, site$pointer)) usage("this site was closed; go on with tacit_site(study = ...)")
  site$pointer
}

tacit_accept <- function(site) {
  checked(.Call(glue_site_accept, site_pointer(site)))
  invisible(site)
}

tacit_answer <- function(site) {
  result <- described(checked(.Call(glue_site_answer, site_pointer(site))))
  result$method <- result$document$guarantee$method
  if (length(result$document$classes) > 0) result$classes <- result$document$classes
  structure(result, class = "tacit_model")
}

# Consent and answer until the study ends.
run.tacit_site <- function(object, ...) {
  tacit_accept(object)
  result <- tacit_answer(object)
  close(object)
  result
}

tacit_leave <- function(site) checked(.Call(glue_site_leave, site_pointer(site)))

close.tacit_site <- function(con, ...) {
  .Call(glue_site_close, con$pointer)
  invisible(NULL)
}

print.tacit_site <- function(x, ...) {
  asked <- x$document
  cat("Study ", asked$study, if (!is.null(asked$title)) paste0(": ", asked$title), ", of ", asked$coordinator, "\n", sep = "")
  for (part in c("leaves", "seen_by", "guarantee")) if (!is.null(asked[[part]])) cat(paste(strwrap(asked[[part]], exdent = 2), collapse = "\n"), "\n", sep = "")
  cat(if (isTRUE(asked$allowed)) "Your rules allow it.\n" else paste0("Your rules do not allow it: ", spelled(asked$remedy), "\n"))
  invisible(x)
}
