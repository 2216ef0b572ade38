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

  # Strata and clusters as coxph has them, also with late entry, missing values and a subset.
  strata <- survival::strata
  cluster <- survival::cluster
  same <- function(formula, data, ...) {
    ours <- tacit_glm(formula, data, settings = exact, ...)
    theirs <- survival::coxph(formula, data, ...)
    stopifnot(identical(names(coef(ours)), names(coef(theirs))), nobs(ours) == theirs$n)
    near(coef(ours), coef(theirs))
    near(coef(summary(ours))[, "Std. Error"], sqrt(diag(vcov(theirs))))
    near(as.numeric(logLik(ours)), as.numeric(logLik(theirs)))
    ours
  }
  lung$site <- seq_len(nrow(lung)) %/% 3
  holes <- lung
  holes$sex[3] <- holes$site[7] <- holes$age[9] <- NA
  same(Surv(time, status) ~ age + ph.ecog + strata(sex), lung)
  same(Surv(time, status) ~ age * ph.ecog + strata(sex, age > 60), lung)
  same(Surv(time, status) ~ age + ph.ecog + strata(sex) + cluster(site), holes)
  same(Surv(since, until, event) ~ age + year + strata(surgery) + cluster(id), heart)
  some <- tacit_glm(Surv(time, status) ~ age + strata(sex), lung, settings = c(exact, proportional = "km"), subset = time > 30)
  near(coef(some), coef(survival::coxph(Surv(time, status) ~ age + strata(sex), lung, subset = time > 30)))
  near(some$document$summary$proportional$tests[[1]]$statistic, survival::cox.zph(survival::coxph(Surv(time, status) ~ age + strata(sex), lung, subset = time > 30))$table["age", 1])
  stopifnot(some$document$summary$proportional$tests[[1]]$name == "age")
  all <- tacit_glm(Surv(time, status) ~ . + strata(sex) + cluster(site), lung, settings = exact)
  stopifnot(identical(names(coef(all)), c("age", "ph.ecog")))
  near(log(predict(all, lung[1, ]) / predict(all, lung[9, ])), sum(coef(all) * as.numeric(lung[1, names(coef(all))] - lung[9, names(coef(all))])), 1e-6)
  simulated <- tacit_simulate(Surv(time, status) ~ age + strata(sex) + cluster(site), lung, "cox", parties = 5, test = lung, settings = exact, seed = 1)
  reference <- survival::coxph(Surv(time, status) ~ age + strata(sex) + cluster(site), lung)
  near(c(coef(simulated$model), coef(summary(simulated$model))[, 2]), c(coef(reference), sqrt(vcov(reference))))

  refused(tacit_glm(Surv(time, status) ~ age * strata(sex), lung), "stand by themselves")
  refused(tacit_glm(Surv(time, status) ~ age + frailty(site), lung), "frailty() are not known")
  refused(tacit_glm(Surv(time, status) ~ age + cluster(site, sex), lung), "one column")
  refused(tacit_glm(Surv(time, status) ~ age + I(0 * age) + strata(sex), lung, settings = exact), "I(0 * age)")
}

# Random effects: the numbers of lme4 1.1-31, its optimiser tightened.
chicks <- as.data.frame(ChickWeight)
slopes <- weight ~ Time + Diet + (Time | Chick)
mixed <- tacit_glm(slopes, chicks, family = gaussian)
near(coef(summary(mixed))[, 1:2], c(26.35634023, 8.443897235, 2.838235575, 2.007487124, 9.254696698, 2.243388846, 0.5348663709, 2.265471489, 2.265471489, 2.26861667), 1e-5)
near(mixed$random$variance, c(147.6967839, 13.84585894, 163.4397282), 2e-5)
near(c(logLik(mixed), AIC(mixed), attr(logLik(mixed), "df")), c(-2408.041072, 4834.082143, 9), 1e-7)
restricted <- tacit_simulate(slopes, chicks, "mixed", parties = 5, test = chicks, seed = 1, family = gaussian, settings = list(likelihood = "REML"))$model
near(coef(summary(restricted))[, 1:2], c(26.35615756, 8.443778459, 2.838619295, 2.00443049, 9.254784081, 2.290715455, 0.5403084988, 2.362696687, 2.362696687, 2.365726192), 1e-5)
# Parties by the rows' own word, and each of them a group.
apart <- tacit_simulate(weight ~ Time + Diet + (1 | Chick), chicks, "mixed", parties = chicks$Chick, test = chicks, seed = 1, family = gaussian, settings = list(group = "party"))$model
near(c(coef(apart), apart$random$variance), c(11.23107454, 8.717520743, 16.21932402, 36.55265735, 30.0255078, 477.9702748, 797.8045396), 1e-5)
print(summary(mixed))
stopifnot(identical(names(coef(mixed)), names(coef(lm(weight ~ Time + Diet, chicks)))), nrow(confint(mixed)) == 5)
near(predict(mixed, chicks[1:3, ]), coef(mixed)[[1]] + coef(mixed)[["Time"]] * chicks$Time[1:3])
refused(tacit_glm(weight ~ Time + (Time + Diet | Chick), chicks, family = gaussian), "before | stands 1")
refused(tacit_glm(weight ~ Diet + (Time | Chick), chicks, family = gaussian), "needs Time among the formula's columns")
refused(tacit_glm(slopes, chicks, family = gaussian, method = "estimate"), "method = \"mixed\"")

# Errors by cluster of any exact regression: the sandwich by hand.
clustered <- tacit_glm(weight ~ Time + Diet + cluster(Chick), chicks, method = "estimate", family = gaussian)
plain <- lm(weight ~ Time + Diet, chicks)
x <- model.matrix(plain)
scores <- rowsum(x * residuals(plain), chicks$Chick)
few <- 50 / 49 * (nrow(x) - 1) / (nrow(x) - ncol(x)) # as sandwich's vcovCL
near(coef(summary(clustered))[, 2], sqrt(few * diag(solve(crossprod(x)) %*% crossprod(scores) %*% solve(crossprod(x)))))
