# Without noise the numbers are those of glm(), to six digits and more.
library(tacit)
near <- function(ours, theirs, tolerance = 1e-6) {
  far <- max(abs(ours - theirs) / pmax(abs(theirs), 1e-12))
  cat(sprintf("  largest relative difference %.1e\n", far))
  stopifnot(identical(dim(ours), dim(theirs)), far <= tolerance)
}
same <- function(ours, theirs) {
  wald <- confint.default(theirs)
  if (family(theirs)$family == "gaussian") # Student's quantile, as summary() has it
    wald <- coef(theirs) + outer(sqrt(diag(vcov(theirs))), qt(c(0.025, 0.975), df.residual(theirs)))
  stopifnot(identical(names(coef(ours)), names(coef(theirs))))
  near(coef(ours), coef(theirs))
  near(coef(summary(ours))[, 1:3], coef(summary(theirs))[, 1:3])
  near(confint(ours), unname(wald) + 0 * confint(ours))
  near(c(summary(ours)$estimates$deviance, summary(ours)$estimates$null_deviance), c(deviance(theirs), theirs$null.deviance))
  near(summary(ours)$estimates$aic, AIC(theirs))
}
tight <- glm.control(epsilon = 1e-14, maxit = 100)

cells <- diagnosis ~ mean_radius + mean_texture + mean_smoothness
model <- tacit_glm(cells, breast_cancer, method = "estimate")
same(model, glm(cells, binomial, breast_cancer, control = tight))
stopifnot(identical(rownames(confint(model, "mean_texture", 0.9)), "mean_texture"))
print(summary(model))

# Predictions, and the linear predictor.
reference <- glm(cells, binomial, breast_cancer, control = tight)
near(predict(model, breast_cancer), fitted(reference), 1e-5)
near(predict(model, breast_cancer, type = "link"), predict(reference), 1e-5)
stopifnot(identical(names(predict(model, breast_cancer[3:5, ])), c("3", "4", "5")),
  identical(unname(predict(model, breast_cancer, type = "class") == "malignant"), unname(fitted(reference) > 0.5)))

# Factors, products, and numbers in a response; warpbreaks and cars come with R.
same(tacit_glm(breaks ~ wool * tension, warpbreaks, method = "estimate", family = poisson), glm(breaks ~ wool * tension, poisson, warpbreaks, control = tight))
same(tacit_glm(dist ~ speed + I(speed^2), cars, method = "estimate", family = gaussian), glm(dist ~ speed + I(speed^2), gaussian, cars, control = tight))

# Missing values are left out, as glm() does.
holes <- breast_cancer
holes$mean_radius[c(3, 30, 300)] <- NA
same(tacit_glm(cells, holes, method = "estimate"), glm(cells, binomial, holes, control = tight))

# Some of the rows, as glm() chooses them; what is not known of a row leaves it out.
same(tacit_glm(cells, holes, method = "estimate", subset = mean_radius > 12 & mean_texture < 25),
  glm(cells, binomial, holes, subset = mean_radius > 12 & mean_texture < 25, control = tight))
shares <- tacit_simulate(cells, breast_cancer, "estimate", parties = rep(1:3, length.out = nrow(breast_cancer)), test = breast_cancer, seed = 1,
  lambda = 1e-9, subset = mean_radius > 12)
stopifnot(shares$model$rows == sum(breast_cancer$mean_radius > 12))
stopifnot(inherits(tryCatch(tacit_glm(cells, breast_cancer, method = "estimate", subset = mean_radius), error = identity), "tacit_usage"))

# A fit with a price beyond all measure comes near. What is left of the noise is some 1e-5; a smaller lambda would add more, since it
# pays for the solver's error by that error over lambda.
wide <- list(mean_radius = c(5, 30), mean_texture = c(5, 40), mean_smoothness = c(0, 0.2))
huge <- tacit_glm(cells, breast_cancer, epsilon = 1e6, lambda = 1e-7, bounds = wide, classes = c("benign", "malignant"))
near(coef(huge), coef(tacit_glm(cells, breast_cancer, method = "batch", lambda = 1e-7, bounds = wide)), 1e-3)
near(coef(huge), coef(reference), 1e-2)

# So does Newton's method in fixed point.
secure <- tacit_glm(cells, breast_cancer, method = "newton")
near(coef(summary(secure))[, 1:2], coef(summary(reference))[, 1:2], 1e-3)

# A shrunken model has intervals only with a warning.
small <- tacit_glm(cells, breast_cancer, method = "estimate", lambda = 1e-3)
stopifnot(inherits(tryCatch(confint(small), warning = identity), "warning"))

# Without a constant there is none.
origin <- diagnosis ~ mean_radius + mean_texture - 1
near(coef(tacit_glm(origin, breast_cancer, method = "batch", lambda = 1e-9)), coef(glm(origin, binomial, breast_cancer)), 1e-3)
near(coef(tacit_glm(origin, breast_cancer, method = "estimate")), coef(glm(origin, binomial, breast_cancer, control = tight)), 1e-5)
stopifnot(inherits(tryCatch(tacit_glm(origin, breast_cancer, method = "newton"), error = identity), "tacit_usage"))

# ---- as R's own tools use a glm (a formula keeps no environment with rows in it, so that they find `cars` here) ----
cars <- transform(mtcars, cyl = factor(cyl))
ours <- tacit_glm(mpg ~ wt + cyl + qsec, cars, method = "estimate", family = gaussian)
own <- glm(mpg ~ wt + cyl + qsec, gaussian, cars)
stopifnot(max(abs(drop1(ours)$AIC - drop1(own)$AIC)) < 1e-5, identical(formula(step(ours, trace = 0)), formula(step(own, trace = 0))))
wrong <- tryCatch(tacit_glm(mpg ~ wt, gaussian, cars), tacit_error = conditionMessage)
stopifnot(grepl("family = gaussian", wrong, fixed = TRUE))
file <- tempfile(fileext = ".json")
tacit_save(ours, file)
wrong <- tryCatch(predict(tacit_load(file), cars), tacit_error = conditionMessage)
stopifnot(grepl("saveRDS", wrong))
