# A party of a study: rows of a data.frame or a file, which stay here.

tacit_site <- function(invitation = NULL, data = NULL, schema = NULL, home, source = NULL, study = NULL, ...) {
  if (is.null(invitation) == is.null(study)) usage("give an invitation, or the name of a study that was joined before as study =")
  home <- path.expand(home)
  if (!dir.exists(home)) dir.create(home, mode = "0700", recursive = TRUE)
  rows <- NULL
  if (is.data.frame(data)) {
    if (is.null(source)) source <- deparse(substitute(data))[1]
    rows <- site_rows(data, home, source)
    data <- rows
  }
  given <- if (is.null(study)) {
    option_list(home = home, data = if (!is.null(data)) path.expand(data), schema = if (!is.null(schema)) path.expand(schema), source = source, ...)
  } else {
    option_list(home = home, ...)
  }
  site <- new.env(parent = emptyenv())
  site$rows <- rows
  site$pointer <- checked(.Call(glue_site_look, invitation, study, given$names, given$values))
  site$document <- json_read(checked(.Call(glue_site_document, site$pointer)))
  structure(site, class = "tacit_site")
}

# The library reads rows a block at a time, for every answer: from a file in the site's own folder, which only its owner can read.
# Numbers are written so that they read the same to the last bit.
site_rows <- function(data, home, source) {
  folder <- file.path(home, "rows")
  if (!dir.exists(folder)) dir.create(folder, mode = "0700")
  path <- file.path(folder, paste0(gsub("[^A-Za-z0-9_.-]", "_", source), ".csv"))
  written <- as.data.frame(lapply(data, function(column) {
    if (is.double(column) && is.null(attr(column, "class")))
      ifelse(is.na(column), NA_character_, vapply(column, number_text, "")) else as.character(column)
  }), optional = TRUE, stringsAsFactors = FALSE)
  names(written) <- names(data)
  before <- Sys.umask("077")
  on.exit(Sys.umask(before))
  utils::write.csv(written, path, row.names = FALSE, na = "", quote = TRUE, fileEncoding = "UTF-8")
  path
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

# Consent and answer until the study ends; then the copy of the rows goes.
run.tacit_site <- function(object, ...) {
  tacit_accept(object)
  result <- tacit_answer(object)
  close(object)
  result
}

tacit_leave <- function(site) checked(.Call(glue_site_leave, site_pointer(site)))

close.tacit_site <- function(con, ...) {
  .Call(glue_site_close, con$pointer)
  if (!is.null(con$rows)) unlink(con$rows)
  invisible(NULL)
}

print.tacit_site <- function(x, ...) {
  asked <- x$document
  cat("Study ", asked$study, if (!is.null(asked$title)) paste0(": ", asked$title), ", of ", asked$coordinator, "\n", sep = "")
  for (part in c("leaves", "seen_by", "guarantee")) if (!is.null(asked[[part]])) cat(paste(strwrap(asked[[part]], exdent = 2), collapse = "\n"), "\n", sep = "")
  cat(if (isTRUE(asked$allowed)) "Your rules allow it.\n" else paste0("Your rules do not allow it: ", spelled(asked$remedy), "\n"))
  invisible(x)
}
