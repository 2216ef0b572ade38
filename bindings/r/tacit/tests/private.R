# Private models: promises, refusals, and what they do not tell.
library(tacit)
failure <- function(expression) tryCatch(expression, error = identity)
cells <- diagnosis ~ mean_radius + mean_texture
known <- c("benign", "malignant")
fit <- function(..., bounds = breast_cancer_bounds, classes = known) {
  tacit_glm(cells, breast_cancer, lambda = 0.01, bounds = bounds, classes = classes, ...)
}

model <- fit(epsilon = 4)
print(model)
print(summary(model))
stopifnot(
  identical(names(coef(model)), c("(Intercept)", "mean_radius", "mean_texture")), all(is.finite(coef(model))),
  model$document$guarantee$charged$epsilon == 4, isTRUE(model$document$guarantee$private)
)

# No intervals that leave the noise out.
problem <- failure(confint(model))
stopifnot(inherits(problem, "tacit_usage"), grepl("noise", conditionMessage(problem)))

# Options of a sentence are spelled as arguments.
stopifnot(
  identical(tacit:::spelled("the option 'test-fraction' and the option 'delta=1e-5'"), "test_fraction = and delta = 1e-5"),
  identical(tacit:::spelled(c("no option", "größer: the option 'p=é'")), c("no option", "größer: p = é")),
  identical(tacit:::named_option("the option 'test-fraction' and the option 'delta=1e-5'"), "test_fraction"), is.null(tacit:::named_option("no option"))
)

# Intervals that include it; at a price that is too low, what would be enough.
infer <- function(epsilon) fit(method = "dpnewton", settings = list(purpose = "inference", noise = "party"), epsilon = epsilon, delta = 1e-5, seed = 1)
inferred <- infer(50)
print(summary(inferred))
stopifnot(
  identical(dim(vcov(inferred)), c(3L, 3L)), isSymmetric(vcov(inferred)), identical(rownames(vcov(inferred)), names(coef(inferred))),
  all.equal(unname(sqrt(diag(vcov(inferred)))), unname(summary(inferred)$coefficients[, 2])), all(confint(inferred)[, 1] < confint(inferred)[, 2])
)
poor <- infer(0.1)
stopifnot(any(grepl("needs about", capture.output(print(summary(poor))))), grepl("needs about", conditionMessage(failure(confint(poor)))))

# Missing values that were counted beside a model, of one that predicts and of one with standard errors; NA: too few to be shown.
counted <- tacit:::json_read(paste0('{"kind": "missing", "tables": [{"name": "missing", "rows": [{"label": "age: fill", "values": [412.25],',
  ' "noise_errors": [26.4]}, {"label": "rows left out", "values": [null], "noise_errors": [26.4]}]}]}'))
told <- inferred
told$document$summary$missing_counts <- counted
stopifnot(
  identical(tacit:::missing_counts(list(report = counted)), summary(told)$missing_counts), is.null(summary(inferred)$missing_counts),
  identical(unname(summary(told)$missing_counts[, "Count"]), c(412.25, NA)),
  any(grepl("rows left out +- +26.4", capture.output(print(summary(told)))))
)

# Noise is drawn again; with a seed it is repeated.
stopifnot(
  !identical(coef(fit(epsilon = 4)), coef(model)),
  identical(coef(fit(epsilon = 4, seed = 5)), coef(fit(epsilon = 4, seed = 5)))
)

# Bounds read off the rows: a warning, and never a release.
warned <- tryCatch(fit(epsilon = 1, bounds = NULL), warning = identity)
stopifnot(inherits(warned, "tacit_not_private"), grepl("bounds", conditionMessage(warned)))
open <- suppressWarnings(fit(epsilon = 1, bounds = NULL))
stopifnot(any(grepl("not private", capture.output(print(open)))))

# So are classes: one flipped label tells an error from a model, and a rare one shows, but never in a model that claims to be private.
labels <- function(...) c(..., rep("no", 569 - length(c(...))))
outcome <- function(y, ...) tryCatch({
  found <- suppressWarnings(tacit_fit(as.matrix(breast_cancer[1]), y, epsilon = 0.01, bounds = breast_cancer_bounds, method = "output", ...))
  list(found$classes, found$document$guarantee)
}, tacit_usage = function(problem) "error")
for (as in list(identity, factor)) {
  stopifnot(identical(outcome(as(labels())), "error"))
  for (rare in list("yes", c("yes", "rare"))) {
    found <- outcome(as(labels(rare)))
    stopifnot(setequal(found[[1]], c("no", rare)), identical(found[[2]]$private, FALSE), grepl("the classes of", found[[2]]$reason))
  }
  for (y in list(as(labels()), as(labels("yes")))) {
    found <- outcome(y, classes = c("no", "yes"))
    stopifnot(identical(found[[1]], c("no", "yes")), identical(found[[2]]$private, TRUE), is.null(found[[2]]$reason))
  }
}
stopifnot(identical(outcome(labels("yes") == "yes")[[2]]$private, TRUE), identical(outcome(as.integer(labels() == "yes"))[[2]]$private, TRUE))
warned <- tryCatch(fit(epsilon = 1, classes = NULL), warning = identity)
stopifnot(inherits(warned, "tacit_not_private"), grepl("classes", conditionMessage(warned)))
problem <- failure(fit(epsilon = 1, classes = c("benign", "other")))
stopifnot(inherits(problem, "tacit_usage"), grepl("none of classes", conditionMessage(problem)))
# Columns too: a level that the formula takes from the rows.
open <- suppressWarnings(tacit_glm(diagnosis ~ mean_radius + cut(mean_radius, 3), breast_cancer, epsilon = 1, lambda = 0.01, classes = known,
  bounds = breast_cancer_bounds))
stopifnot(identical(open$document$guarantee$private, FALSE), grepl("columns", open$document$guarantee$reason))

# A ledger charges, gives the same again for nothing, and refuses.
file <- tempfile(fileext = ".db")
ledger <- tacit_ledger(file, "patients")
stopifnot(inherits(failure(fit(epsilon = 0.5, ledger = ledger)), "tacit_refused"))
tacit_limit(ledger, 1)
stopifnot(inherits(failure(fit(epsilon = 0.5, ledger = ledger, bounds = NULL)), "tacit_refused"))
stopifnot(inherits(failure(fit(epsilon = 0.5, ledger = ledger, classes = NULL)), "tacit_refused"))
released <- fit(epsilon = 0.6, ledger = ledger)
again <- fit(epsilon = 0.6, ledger = ledger)
stopifnot(identical(coef(released), coef(again)))
account <- function() subset(summary(ledger), is.na(study) & unit == "record")
stopifnot(abs(account()$epsilon_spent - 0.6) < 1e-12)
refusal <- failure(fit(epsilon = 0.5, ledger = ledger))
stopifnot(inherits(refusal, "tacit_refused"), inherits(refusal, "tacit_error"), abs(account()$epsilon_spent - 0.6) < 1e-12)
stopifnot(inherits(failure(fit(epsilon = 0.1, ledger = ledger, seed = 1)), "tacit_error"))
stopifnot(isTRUE(tacit_verify(ledger)$sound), "charge" %in% as.data.frame(ledger)$entry)
print(ledger)

# A level that one row has alone is no public knowledge, and neither is a class.
marked <- transform(breast_cancer, group = c("rare person", rep(c("a", "b"), length.out = 568)))
for (formula in list(diagnosis ~ mean_radius + factor(group), factor(group) ~ mean_radius, diagnosis ~ cut(mean_radius, 3),
  diagnosis ~ I(mean_radius - mean(mean_radius)))) {
  refusal <- failure(tacit_glm(formula, marked, epsilon = 0.1, method = "output", lambda = 0.01, ledger = ledger,
    bounds = list(mean_radius = c(5, 20), "I(mean_radius - mean(mean_radius))" = c(-10, 10))))
  stopifnot(inherits(refusal, "tacit_refused"), grepl("taken from the rows", conditionMessage(refusal)))
}
stopifnot(abs(account()$epsilon_spent - 0.6) < 1e-12)

# Another session reads what was spent.
stopifnot(abs(subset(summary(tacit_ledger(file, "patients")), is.na(study) & unit == "record")$epsilon_spent - 0.6) < 1e-12)

# Files: the same predictions, and the price travels along.
path <- tempfile(fileext = ".json")
tacit_save(released, path)
loaded <- tacit_load(path)
x <- as.matrix(breast_cancer[c("mean_radius", "mean_texture")])
stopifnot(
  all.equal(unname(predict(loaded, x)), unname(predict(released, breast_cancer))),
  loaded$document$guarantee$charged$epsilon == 0.6,
  all.equal(unname(coef(loaded)), unname(coef(released)))
)
stopifnot(inherits(failure(tacit_load(tempfile())), "tacit_error"))

# Columns go by their names, and those that are no numbers are not taken for some.
stopifnot(
  identical(predict(loaded, x[, 2:1]), predict(loaded, x)), identical(predict(loaded, breast_cancer), predict(loaded, as.data.frame(x))),
  identical(unname(predict(loaded, unname(x))), unname(predict(loaded, x)))
)
other <- x
colnames(other) <- c("mean_radius", "mean_area")
problem <- failure(predict(loaded, other))
stopifnot(inherits(problem, "tacit_usage"), grepl("lacks the model's columns mean_texture", conditionMessage(problem)))
problem <- failure(predict(loaded, transform(breast_cancer, mean_texture = "rough")))
stopifnot(inherits(problem, "tacit_input"), grepl("(mean_texture): 'rough' is not a number", conditionMessage(problem), fixed = TRUE))
written <- transform(breast_cancer, mean_texture = factor(mean_texture)) # read by its levels, and not by their places
stopifnot(all.equal(unname(predict(loaded, written)), unname(predict(loaded, breast_cancer))))
unnamed <- tacit_fit(unname(x), breast_cancer$diagnosis, epsilon = 4, lambda = 0.01, bounds = list(x1 = c(5, 20), x2 = c(10, 30)),
  classes = known)
stopifnot(identical(predict(unnamed, x), predict(unnamed, as.data.frame(x))))

# Other programs read other files; the end of the name says which.
onnx <- tempfile(fileext = ".onnx")
pmml <- tempfile(fileext = ".pmml")
tacit_export(released, onnx)
tacit_export(released, pmml)
stopifnot(file.size(onnx) > 100, any(grepl("<PMML", readLines(pmml), fixed = TRUE)), any(grepl("mean_texture", readLines(pmml), fixed = TRUE)))
stopifnot(inherits(failure(tacit_export(released, tempfile(fileext = ".csv"))), "tacit_usage"))

# A model survives being saved with a session, and carries no rows, whatever the call held.
saved <- tempfile()
saveRDS(do.call(tacit_glm, list(cells, breast_cancer, epsilon = 2, lambda = 0.01, bounds = breast_cancer_bounds, classes = known)), saved)
restored <- readRDS(saved)
inside <- function(rows) {
  formula <- diagnosis ~ log(mean_radius) + mean_texture
  do.call(tacit_glm, list(formula, rows, epsilon = 2, lambda = 0.01, classes = known,
    bounds = list("log(mean_radius)" = c(1, 4), mean_texture = c(10, 30))))
}
kept <- inside(breast_cancer)
stopifnot(length(serialize(kept, NULL)) < 1e4, is.finite(predict(kept, breast_cancer[1, ])))
stopifnot(file.size(saved) < 1e4, all(is.finite(predict(restored, breast_cancer[1:5, ]))))
stopifnot(inherits(failure(predict(restored)), "tacit_usage"))

# Three classes: a column of coefficients each, and probabilities that add up.
flowers <- tacit_glm(Species ~ Petal.Length + Petal.Width, iris, epsilon = 50, method = "output", lambda = 0.01,
  bounds = list(Petal.Length = c(0, 8), Petal.Width = c(0, 3)), classes = levels(iris$Species))
chances <- predict(flowers, iris)
stopifnot(
  identical(dim(coef(flowers)), c(3L, 3L)), identical(colnames(coef(flowers)), levels(iris$Species)),
  identical(dim(chances), c(150L, 3L)), all(abs(rowSums(chances) - 1) < 1e-12),
  all.equal(log(chances[, 2] / chances[, 1]), apply(predict(flowers, iris, type = "link"), 1, function(row) row[[2]] - row[[1]])),
  identical(levels(predict(flowers, iris, type = "class")), levels(iris$Species))
)

# Beyond the bounds a row is at the bound, also in the linear predictor; a missing value is in the middle.
far <- data.frame(mean_radius = c(1e6, 20, NA, 12.5), mean_texture = 20)
stopifnot(
  identical(predict(model, far)[[1]], predict(model, far)[[2]]), identical(predict(model, far)[[3]], predict(model, far)[[4]]),
  all.equal(qlogis(predict(model, far)), predict(model, far, type = "link")), length(predict(model, far[0, ])) == 0
)

# A matrix gives what the formula gives; sparse ones too.
same <- tacit_fit(x, breast_cancer$diagnosis, epsilon = 4, lambda = 0.01, classes = known, bounds = breast_cancer_bounds, seed = 5)
stopifnot(all.equal(unname(coef(same)), unname(coef(fit(epsilon = 4, seed = 5)))))
short <- x / 50
dense <- tacit_fit(short, breast_cancer$diagnosis, epsilon = 4, lambda = 0.01, classes = known, norm = 1, intercept = FALSE, seed = 5)
if (requireNamespace("Matrix", quietly = TRUE)) {
  by_column <- methods::as(short, "CsparseMatrix")
  by_row <- methods::as(by_column, "RsparseMatrix")
  for (sparse in list(by_column, by_row)) {
    other <- tacit_fit(sparse, breast_cancer$diagnosis, epsilon = 4, lambda = 0.01, classes = known, norm = 1, intercept = FALSE, seed = 5)
    stopifnot(all.equal(predict(other, sparse), unname(predict(dense, short)), check.attributes = FALSE))
  }
}

# Wrong arguments are usage errors that name what is wrong.
for (problem in list(
  failure(fit()), failure(fit(epsilon = -1)), failure(fit(epsilon = 1, method = "no-such-method")), failure(fit(epsilon = 1, method = "estimate")),
  failure(fit(epsilon = 1, settings = list(no_such_setting = 1))), failure(fit(epsilon = 1, settings = list(1))), failure(fit(epsilon = 1, delta = 2))
)) stopifnot(inherits(problem, "tacit_usage"), nchar(conditionMessage(problem)) > 10)
