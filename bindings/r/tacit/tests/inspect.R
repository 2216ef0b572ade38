# What R asks of a fitted model is what it would hear from glm(); where there is no answer, there is a reason.
library(tacit)
near <- function(ours, theirs, tolerance = 1e-6) stopifnot(isTRUE(all.equal(ours, theirs, tolerance = tolerance)))
failure <- function(expression) tryCatch(expression, error = identity)
refused <- function(expression, words) {
  problem <- failure(expression)
  if (!inherits(problem, "tacit_usage") || !grepl(words, conditionMessage(problem))) stop("not refused for '", words, "': ", format(problem))
}
tight <- glm.control(epsilon = 1e-14, maxit = 100)

pairs <- list(
  list(diagnosis ~ mean_radius + mean_texture, binomial, breast_cancer),
  list(breaks ~ wool * tension, poisson, warpbreaks),
  list(dist ~ speed + I(speed^2), gaussian, cars))
for (pair in pairs) {
  ours <- tacit_glm(pair[[1]], pair[[3]], method = "estimate", family = pair[[2]])
  theirs <- glm(pair[[1]], pair[[2]], pair[[3]], control = tight)
  near(vcov(ours), vcov(theirs), 1e-5)
  near(c(logLik(ours)), c(logLik(theirs)))
  stopifnot(attr(logLik(ours), "df") == attr(logLik(theirs), "df"), nobs(ours) == nobs(theirs), df.residual(ours) == df.residual(theirs))
  near(c(AIC(ours), BIC(ours), deviance(ours)), c(AIC(theirs), BIC(theirs), deviance(theirs)))
  stopifnot(identical(attr(terms(ours), "term.labels"), attr(terms(theirs), "term.labels")), formula(ours) == formula(theirs))
  near(model.matrix(ours, pair[[3]]), model.matrix(theirs))
  for (type in c("deviance", "pearson", "response"))
    near(residuals(ours, type, data = pair[[3]]), residuals(theirs, type), 1e-5)
  for (type in c("link", "response")) {
    found <- predict(ours, pair[[3]], type = type, se.fit = TRUE)
    known <- predict(theirs, pair[[3]], type = type, se.fit = TRUE)
    near(found$fit, known$fit, 1e-5)
    near(found$se.fit, known$se.fit, 1e-4)
    near(found$residual.scale, known$residual.scale)
  }
  refused(residuals(ours), "keeps none of the rows")
  refused(model.matrix(ours), "keeps none of the rows")
}

# Nested models.
less <- tacit_glm(breaks ~ wool, warpbreaks, method = "estimate", family = poisson)
more <- tacit_glm(breaks ~ wool * tension, warpbreaks, method = "estimate", family = poisson)
theirs <- anova(glm(breaks ~ wool, poisson, warpbreaks), glm(breaks ~ wool * tension, poisson, warpbreaks), test = "Chisq")
table <- anova(less, more)
print(table)
for (column in c("Resid. Df", "Resid. Dev", "Df", "Deviance", "Pr(>Chi)")) near(table[[column]], theirs[[column]], 1e-5)
line <- tacit_glm(dist ~ speed, cars, method = "estimate", family = gaussian)
curve <- tacit_glm(dist ~ speed + I(speed^2), cars, method = "estimate", family = gaussian)
theirs <- anova(glm(dist ~ speed, gaussian, cars), glm(dist ~ speed + I(speed^2), gaussian, cars), test = "F")
near(anova(line, curve)[["Pr(>F)"]], theirs[["Pr(>F)"]], 1e-5)
refused(anova(less), "two or more nested models")

# Weights, an offset, no intercept: as glm has them.
rows <- transform(warpbreaks, exposure = rep(1:6, 9), often = rep(c(1, 2, 3), 18))
same <- function(ours, theirs, data) {
  stopifnot(identical(names(coef(ours)), names(coef(theirs))))
  near(coef(ours), coef(theirs), 1e-5)
  near(coef(summary(ours))[, 2], coef(summary(theirs))[, 2], 1e-4)
  near(vcov(ours), vcov(theirs), 1e-4)
  near(deviance(ours), deviance(theirs))
  near(predict(ours, data), predict(theirs, data, type = "response"), 1e-5)
  near(predict(ours, data, type = "link"), predict(theirs, data), 1e-5)
}
same(tacit_glm(breaks ~ wool + offset(log(exposure)), rows, method = "estimate", family = poisson),
  glm(breaks ~ wool + offset(log(exposure)), poisson, rows, control = tight), rows)
same(tacit_glm(breaks ~ wool, rows, method = "estimate", family = poisson, offset = log(exposure), weights = often),
  glm(breaks ~ wool, poisson, rows, offset = log(exposure), weights = often, control = tight), rows)
same(tacit_glm(breaks ~ 0 + tension + exposure, rows, method = "estimate", family = gaussian),
  glm(breaks ~ 0 + tension + exposure, gaussian, rows, control = tight), rows)
same(tacit_glm(breaks > 25 ~ exposure + wool, rows, method = "estimate", weights = often, subset = exposure > 1),
  glm(breaks > 25 ~ exposure + wool, binomial, rows, weights = often, subset = exposure > 1, control = tight), subset(rows, exposure > 1))
same(tacit_glm(breaks ~ wool, rows, method = "estimate", family = poisson, weights = rep(2, 54)),
  glm(breaks ~ wool, poisson, rows, weights = rep(2, 54), control = tight), rows)
public <- list(bounds = breast_cancer_bounds, classes = c("benign", "malignant"))
private <- function(...) do.call(tacit_glm, c(list(diagnosis ~ mean_radius, breast_cancer, epsilon = 1, lambda = 0.01), public, list(...)))
refused(private(weights = rep(2, 569)), "50 times of it")
refused(private(offset = rep(2, 569)), "an offset is for method = \"estimate\"")
refused(tacit_glm(breaks ~ wool, rows, method = "estimate", family = poisson, weights = often - 1), "above 0")
refused(tacit_glm(breaks ~ wool, rows, method = "newton", family = poisson, weights = often), "weights are for")

# A private model says why there is nothing to say.
model <- private()
for (ask in list(vcov, logLik, AIC, BIC, deviance, df.residual)) refused(ask(model), "the noise in these coefficients")
refused(predict(model, breast_cancer, se.fit = TRUE), "the noise in these coefficients")
stopifnot(nobs(model) == 569, identical(family(model)$family, "binomial"))

# Figures are drawn.
pdf(NULL)
plot(more)
plot(model)
plot(tacit_simulate(diagnosis ~ mean_radius, breast_cancer, c("batch", "avg"), epsilon = c(1, 10), parties = 3, bounds = breast_cancer_bounds,
  classes = c("benign", "malignant"), seed = 1))
invisible(dev.off())

# Tables of broom, where generics is there.
if (requireNamespace("generics", quietly = TRUE)) {
  exact <- glm(breaks ~ wool * tension, poisson, warpbreaks, control = tight)
  found <- generics::tidy(more, conf.int = TRUE)
  stopifnot(identical(names(found), c("term", "estimate", "std.error", "statistic", "p.value", "conf.low", "conf.high")))
  near(found$estimate, unname(coef(exact)), 1e-5)
  near(found$std.error, unname(coef(summary(exact))[, 2]), 1e-4)
  near(generics::tidy(more, exponentiate = TRUE)$estimate, unname(exp(coef(exact))), 1e-5)
  line <- generics::glance(more)
  near(c(line$AIC, line$BIC, line$deviance, line$null.deviance), c(AIC(exact), BIC(exact), deviance(exact), exact$null.deviance))
  beside <- generics::augment(more, warpbreaks, type.predict = "response", se_fit = TRUE)
  near(beside$.fitted, unname(fitted(exact)), 1e-5)
  near(beside$.resid, unname(residuals(exact)), 1e-5)
  stopifnot(ncol(beside) == ncol(warpbreaks) + 3, all(is.na(generics::tidy(model)$std.error)), isTRUE(generics::glance(model)$private),
    generics::glance(model)$epsilon == 1, is.na(generics::glance(model)$AIC))
}
