# Times until an event: the numbers of coxph(); and data frames with factors for models with categories.
library(tacit)
near <- function(ours, theirs, tolerance = 1e-8) {
  far <- max(abs(unname(ours) - unname(theirs)) / pmax(abs(theirs), 1e-3))
  cat(sprintf("  largest relative difference %.1e\n", far))
  stopifnot(length(ours) == length(theirs), far <= tolerance)
}
refused <- function(call, words) {
  problem <- tryCatch({
    call
    NULL
  }, tacit_error = identity)
  if (is.null(problem) || !grepl(words, conditionMessage(problem), fixed = TRUE))
    stop("expected '", words, "', not: ", if (is.null(problem)) "success" else conditionMessage(problem))
}

# A model of a study with categories, as a file.
model <- tacit_load("wards.model.json")
rows <- data.frame(age = c(30, 64, NA), ward = factor(c("B", NA, "A"), levels = c("B", "A")), since = as.Date(c("2004-02-29", NA, "2010-01-01")))
near(predict(model, rows), c(0.3764226434711227, 0.38931086302076207, 0.29049446520868943)) # of the program, from a file
texts <- rows
texts$ward <- as.character(rows$ward)
texts$since <- as.POSIXct(format(rows$since), tz = "UTC")
texts$other <- TRUE
stopifnot(identical(predict(model, rows), predict(model, texts)), identical(levels(predict(model, rows, type = "class")), c("no", "yes")))
refused(predict(model, rows["ward"]), "age")
refused(predict(model, transform(rows, since = since - since)), "column since is of class difftime")

if (requireNamespace("survival", quietly = TRUE)) {
  Surv <- survival::Surv
  lung <- na.omit(survival::lung[c("time", "status", "age", "sex", "ph.ecog")])
  lung$sex <- factor(lung$sex, labels = c("male", "female"))
  exact <- list(width = 1, least = 1)
  fit <- tacit_glm(Surv(time, status) ~ age * sex + ph.ecog, lung, settings = exact)
  reference <- survival::coxph(Surv(time, status) ~ age * sex + ph.ecog, lung)
  stopifnot(identical(names(coef(fit)), names(coef(reference))), identical(fit$method, "cox"))
  near(coef(fit), coef(reference))
  near(coef(summary(fit))[, "Std. Error"], sqrt(diag(vcov(reference))))
  near(diff(predict(fit, lung, type = "link")), diff(predict(reference, lung, type = "lp")), 1e-6)
  near(log(predict(fit, lung[1, ]) / predict(fit, lung[9, ])), diff(predict(reference, lung[c(9, 1), ], type = "lp")), 1e-6)

  # Rows that are observed from a later time on; bounds of the time by its name.
  heart <- survival::heart
  heart$since <- floor(heart$start)
  heart$until <- pmax(floor(heart$stop), heart$since + 1)
  late <- tacit_glm(Surv(since, until, event) ~ age + surgery, heart, settings = exact, bounds = list(until = c(0, 1800), age = c(-50, 50), surgery = c(0, 1)))
  near(coef(late), coef(survival::coxph(Surv(since, until, event) ~ age + surgery, heart)))
  stopifnot(!late$from_data)

  simulated <- suppressWarnings(tacit_simulate(Surv(time, status) ~ age + sex, lung, "cox", parties = 5, test = lung, settings = exact, seed = 1))
  near(coef(simulated$model), coef(survival::coxph(Surv(time, status) ~ age + sex, lung)), 1e-7)

  refused(tacit_glm(Surv(time, status) ~ age, lung, method = "plr", epsilon = 1), "time")
  refused(tacit_glm(Surv(time, time + 1, status, type = "interval") ~ age, lung), "not supported")
  strata <- survival::strata
  refused(tacit_glm(Surv(time, status) ~ age + strata(sex), lung), "strata()")
}
