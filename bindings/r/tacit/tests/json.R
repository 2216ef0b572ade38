# The reader of documents.
library(tacit)
read <- tacit:::json_read

stopifnot(
  identical(read("{\"a\": [1, 2, -3.5e-4], \"b\": {\"c\": null}}"), list(a = c(1, 2, -3.5e-4), b = list(c = NULL))),
  identical(read("[]"), list()),
  identical(read("{}"), list()),
  identical(read("[true, false]"), c(TRUE, FALSE)),
  identical(read("[1, null, \"x\"]"), list(1, NULL, "x")),
  identical(read("[{\"k\": 1}, {\"k\": [\"a\", \"b\"]}]"), list(list(k = 1), list(k = c("a", "b")))),
  identical(read("\"\""), ""),
  identical(read("\"a\\n\\t\\\\ \\\"q\\\" \\/\""), "a\n\t\\ \"q\" /"),
  identical(read("\"\\u00e9\\ud83d\\ude00\""), "\u00e9\U0001f600"),
  identical(read("\"{not, an: [object]}\""), "{not, an: [object]}"),
  identical(read("1.7976931348623157e308"), .Machine$double.xmax)
)

# A long string with many escapes does not exhaust the pattern's stack.
long <- paste(rep("line\\n", 1e5), collapse = "")
stopifnot(nchar(read(paste0("\"", long, "\""))) == 5e5)

# A thousand random numbers come back as they went.
set.seed(7)
numbers <- rnorm(1000) * 10^sample(-300:300, 1000, replace = TRUE)
text <- vapply(numbers, tacit:::number_text, "")
stopifnot(identical(read(paste0("[", paste(text, collapse = ","), "]")), numbers))

# Nor does it matter how the session writes them.
before <- options(OutDec = ",")
comma <- vapply(numbers, tacit:::number_text, "")
options(before)
stopifnot(identical(comma, text), grepl(".", text[1], fixed = TRUE))

for (broken in c("", "{\"a\": [1", "{\"a\"", "[1] 2"))
  stopifnot(inherits(tryCatch(read(broken), error = identity), "tacit_corrupt"))

# Options are texts; a setting comes as often as there are settings.
options <- tacit:::option_list(epsilon = c(0.1, Inf), test_fraction = 0.25, lambda = NULL, settings = list(loss = "huber", inference = TRUE))
stopifnot(
  identical(options$names, c("epsilon", "test-fraction", "set", "set")),
  identical(options$values, c("0.1,inf", "0.25", "loss=huber", "inference=yes"))
)
