# Pages with code: a small Markdown whose blocks marked r are run, and shown with what they print. For the vignette and the
# project's own pages, so that neither needs more than R. Known: headings, paragraphs, lists, tables, blocks, `code`, **strong**,
# *emphasis* and [links](to). A block marked "r error" is intended to fail, and one marked "r quiet" shows no code.

page_weave <- function(file, encoding = "UTF-8", ...) {
  lines <- readLines(file, encoding = "UTF-8", warn = FALSE)
  title <- sub(".*VignetteIndexEntry\\{(.*)\\}.*", "\\1", grep("VignetteIndexEntry", lines, value = TRUE)[1])
  body <- page_html(lines, new.env(parent = globalenv()))
  output <- sub("[.]md$", ".html", basename(file))
  writeLines(enc2utf8(c("<!DOCTYPE html>", "<html lang=\"en\"><head><meta charset=\"utf-8\">", paste0("<title>", page_escape(title), "</title>"),
    "<style>", page_style, "</style></head><body>", body, "</body></html>")), output, useBytes = TRUE)
  output
}

page_tangle <- function(file, encoding = "UTF-8", ...) {
  output <- sub("[.]md$", ".R", basename(file))
  code <- lapply(Filter(function(part) part$run, page_parts(readLines(file, encoding = "UTF-8", warn = FALSE))), function(part) {
    if (part$fails) c("try({", part$lines, "})", "") else c(part$lines, "")
  })
  writeLines(enc2utf8(as.character(unlist(code))), output, useBytes = TRUE)
  output
}

page_style <- c("body { max-width: 46em; margin: 2em auto; padding: 0 1em; font: 16px/1.5 sans-serif; color: #222 }",
  "pre { background: #f4f4f4; padding: .7em; overflow-x: auto; font-size: 13px; line-height: 1.35 }", "pre.output { background: #fff; border-left: 3px solid #bbb }",
  "code { font-family: monospace } table { border-collapse: collapse } td, th { padding: .2em .8em; border-bottom: 1px solid #ddd; text-align: left }")

# Text and blocks in their order; comments are left out.
page_parts <- function(lines) {
  lines <- strsplit(gsub("(?s)<!--.*?-->", "", paste(lines, collapse = "\n"), perl = TRUE), "\n", fixed = TRUE)[[1]]
  fence <- which(grepl("^```", lines))
  if (length(fence) %% 2 == 1) usage("a block of code has no end")
  start <- fence[c(TRUE, FALSE)]
  end <- fence[c(FALSE, TRUE)]
  parts <- list()
  text <- function(from, to) if (from <= to) parts[[length(parts) + 1]] <<- list(code = FALSE, run = FALSE, lines = lines[from:to])
  last <- 0
  for (k in seq_along(start)) {
    text(last + 1, start[k] - 1)
    mark <- strsplit(sub("^```", "", lines[start[k]]), " +")[[1]]
    parts[[length(parts) + 1]] <- list(code = TRUE, run = "r" %in% mark, fails = "error" %in% mark, quiet = "quiet" %in% mark,
      lines = lines[seq_len(end[k] - start[k] - 1) + start[k]])
    last <- end[k]
  }
  text(last + 1, length(lines))
  parts
}

page_html <- function(lines, environment) {
  unlist(lapply(page_parts(lines), function(part) {
    if (part$run) page_run(part, environment) else if (part$code) page_block(part$lines) else page_text(part$lines)
  }))
}

page_escape <- function(text) gsub(">", "&gt;", gsub("<", "&lt;", gsub("&", "&amp;", text, fixed = TRUE), fixed = TRUE), fixed = TRUE)

page_block <- function(lines, class = "code") paste0("<pre class=\"", class, "\"><code>", paste(page_escape(lines), collapse = "\n"), "</code></pre>")

# Each expression with what it prints; warnings and errors as R tells them.
page_run <- function(part, environment) {
  code <- parse(text = part$lines, keep.source = TRUE)
  one <- function(k) {
    problem <- NULL
    told <- function(condition, kind) problem <<- c(problem, strwrap(paste0(kind, ": ", conditionMessage(condition)), 96, exdent = 2))
    printed <- utils::capture.output(withCallingHandlers(
      tryCatch({
        value <- withVisible(eval(code[[k]], environment))
        if (value$visible) print(value$value)
      }, error = function(condition) if (part$fails) told(condition, "Error") else stop(condition)),
      warning = function(condition) {
        told(condition, "Warning")
        invokeRestart("muffleWarning")
      }))
    shown <- c(printed, problem)
    c(if (!part$quiet) page_block(as.character(attr(code, "srcref")[[k]])), if (length(shown) > 0) page_block(shown, "output"))
  }
  unlist(lapply(seq_along(code), one))
}

# Blocks of text are separated by empty lines.
page_text <- function(lines) {
  group <- cumsum(lines == "")
  blocks <- Filter(length, lapply(split(lines, group), function(block) block[block != ""]))
  vapply(blocks, function(block) {
    if (grepl("^#+ ", block[1])) {
      level <- nchar(sub("^(#+) .*", "\\1", block[1]))
      return(paste0("<h", level, ">", page_inline(sub("^#+ ", "", block[1])), "</h", level, ">", if (length(block) > 1) page_text(block[-1])))
    }
    if (grepl("^- ", block[1])) {
      item <- cumsum(grepl("^- ", block))
      items <- vapply(split(block, item), function(part) page_inline(paste(sub("^(- | +)", "", part), collapse = " ")), "")
      return(paste0("<ul>", paste0("<li>", items, "</li>", collapse = "\n"), "</ul>"))
    }
    if (grepl("^\\|", block[1])) return(page_table(block))
    paste0("<p>", page_inline(paste(block, collapse = "\n")), "</p>")
  }, "")
}

page_table <- function(block) {
  cells <- lapply(block[!grepl("^\\|[-|: ]+\\|$", block)], function(line) trimws(strsplit(gsub("^\\||\\|$", "", line), "|", fixed = TRUE)[[1]]))
  row <- function(cell, tag) paste0("<tr>", paste0("<", tag, ">", page_inline(cell), "</", tag, ">", collapse = ""), "</tr>")
  paste(c("<table>", row(cells[[1]], "th"), vapply(cells[-1], row, "", "td"), "</table>"), collapse = "\n")
}

# Code is put aside while the rest is marked up.
page_inline <- function(text) {
  vapply(page_escape(text), function(line) {
    found <- gregexpr("`[^`]+`", line)
    code <- regmatches(line, found)[[1]]
    regmatches(line, found) <- list(rep("\001", length(code)))
    line <- gsub("\\*\\*([^*]+)\\*\\*", "<strong>\\1</strong>", line)
    line <- gsub("\\*([^*]+)\\*", "<em>\\1</em>", line)
    line <- gsub("\\[([^]]+)\\]\\(([^)]+)\\)", "<a href=\"\\2\">\\1</a>", line)
    regmatches(line, gregexpr("\001", line)) <- list(paste0("<code>", gsub("`", "", code, fixed = TRUE), "</code>"))
    line
  }, "", USE.NAMES = FALSE)
}
