# The glue under a collector that runs at every allocation: nothing is lost that is still used.
library(tacit)
x <- as.matrix(breast_cancer[1:40, 1:2])
y <- breast_cancer$diagnosis[1:40]
options <- tacit:::option_list(method = "plr", epsilon = 2, lambda = 0.01)
wrong <- tacit:::option_list(method = "plr", epsilon = 2, no_such_option = 1)
path <- tempfile()

# Calls alone: R would compile a function of its own, which takes a minute so.
gctorture(TRUE)
frame <- tacit:::rows_frame(x + 0)
.Call(tacit:::glue_frame_names, frame, c("a", "b"))
.Call(tacit:::glue_frame_bounds, frame, c(0, 0), c(40, 40), TRUE)
.Call(tacit:::glue_frame_classes, frame, unclass(y) - 1L, levels(y))
model <- .Call(tacit:::glue_frame_fit, frame, options$names, options$values, NULL)
failed <- .Call(tacit:::glue_frame_fit, frame, wrong$names, wrong$values, NULL)
scores <- .Call(tacit:::glue_model_predict, model, frame, 1L, TRUE)
weights <- .Call(tacit:::glue_model_coefficients, model)
text <- .Call(tacit:::glue_model_to_json, model)
again <- .Call(tacit:::glue_model_to_json, .Call(tacit:::glue_model_from_json, text))
turned <- .Call(tacit:::glue_sparse_by_rows, as.double(1:4), c(0L, 1L, 2L, 0L), c(0L, 2L, 4L), 3L)
ledger <- .Call(tacit:::glue_ledger_document, .Call(tacit:::glue_ledger_at, path, "rows"))
gctorture(FALSE)

linear <- x %*% weights[1:2, 1] + weights[3, 1]
stopifnot(
  all.equal(scores[[1]][2, ], plogis(linear[, 1]), check.attributes = FALSE),
  identical(scores[[2]], as.integer(linear[, 1] > 0)),
  identical(text, again), inherits(failed, "tacit_failure"), failed$status == "USAGE",
  identical(turned, list(c(1, 4, 2, 3), c(0L, 1L, 0L, 1L), c(0L, 2L, 3L, 4L))),
  is.list(tacit:::json_read(ledger))
)
