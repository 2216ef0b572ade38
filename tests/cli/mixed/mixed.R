# The figures that method mixed is compared with, from R's lme4, its optimiser tightened:
#
#     Rscript mixed.R SLEEPSTUDY_CSV CBPP_CSV VISITS_CSV TRIALS_CSV > mixed.csv
#
# mixed.csv beside this file was written by R 4.2.2 with lme4 1.1-31. sleepstudy.csv is data set `sleepstudy` of that package (reaction times of 18 people deprived of sleep; Belenky
# 2003) and cbpp.csv `cbpp` (pleuropneumonia in 15 herds; Lesnoff 2004), a line for each animal; the rows of visits.csv and trials.csv are made by the test.
suppressMessages(library(lme4))
words <- commandArgs(trailingOnly = TRUE)
sleep <- read.csv(words[1])
cbpp <- read.csv(words[2])
cbpp$period <- factor(cbpp$period)
visits <- read.csv(words[3])
trials <- read.csv(words[4])
strict <- list(xtol_abs = 1e-12, xtol_rel = 1e-12, ftol_abs = 1e-14, ftol_rel = 1e-14, maxeval = 100000)
lm_control <- lmerControl(optimizer = "nloptwrap", optCtrl = strict, calc.derivs = FALSE, check.conv.singular = "ignore")
glm_control <- glmerControl(optimizer = "bobyqa", optCtrl = list(rhoend = 1e-9, maxfun = 1e5), tolPwrss = 1e-12, check.conv.singular = "ignore")

line <- function(...) cat(paste(sapply(list(...), function(x) if (is.character(x)) x else sprintf("%.15g", x)), collapse = ","), "\n", sep = "")

# Standard errors from the Hessian of lme4's own deviance, by differences of the fourth order: those that it prints are of the second, with steps of 1e-4, and are off by up to 1e-4.
hessian_errors <- function(fit) {
  deviance <- update(fit, devFunOnly = TRUE)
  at <- c(getME(fit, "theta"), fixef(fit))
  second <- function(step) {
    outer(seq_along(at), seq_along(at), Vectorize(function(i, j) {
      moved <- function(a, b) deviance(at + step * (a * (seq_along(at) == i) + b * (seq_along(at) == j)))
      (moved(1, 1) - moved(1, -1) - moved(-1, 1) + moved(-1, -1)) / (4 * step^2)
    }))
  }
  sqrt(diag(2 * solve((4 * second(5e-3) - second(1e-2)) / 3)))[-seq_along(getME(fit, "theta"))]
}

# `left_out`: what lme4 leaves out of the log-likelihood.
show <- function(case, fit, left_out = 0) {
  table <- coef(summary(fit))
  if (isGLMM(fit)) table[, 2] <- hessian_errors(fit)
  for (name in rownames(table)) line(case, "fixed", name, table[name, 1], table[name, 2])
  for (k in seq_len(nrow(parts <- as.data.frame(VarCorr(fit))))) {
    part <- parts[k, ]
    if (!is.na(part$var2)) line(case, "correlation", part$var2, part$sdcor, NA)
    else line(case, "random", if (part$grp == "Residual") "residual" else part$var1, part$vcov, part$sdcor)
  }
  line(case, "fact", "log-likelihood", as.numeric(logLik(fit)) + left_out, NA)
  line(case, "fact", "AIC", AIC(fit) - 2 * left_out, NA)
}

cat("case,kind,name,value,error\n")
show("sleep slope ML", lmer(Reaction ~ Days + (Days | Subject), sleep, REML = FALSE, control = lm_control))
show("sleep slope REML", lmer(Reaction ~ Days + (Days | Subject), sleep, control = lm_control))
show("sleep ML", lmer(Reaction ~ Days + (1 | Subject), sleep, REML = FALSE, control = lm_control))
show("sleep REML", lmer(Reaction ~ Days + (1 | Subject), sleep, control = lm_control))
show("cbpp", glmer(ill ~ period + (1 | herd), cbpp, binomial, nAGQ = 25, control = glm_control))
show("cbpp Laplace", glmer(ill ~ period + (1 | herd), cbpp, binomial, control = glm_control))
show("visits", glmer(falls ~ age + (1 | who), visits, poisson, nAGQ = 25, control = glm_control),
     sum(dpois(visits$falls, visits$falls, log = TRUE))) # with several nodes, that of a model with a mean for each row
show("visits slope", glmer(falls ~ age + (age | who), visits, poisson, control = glm_control))
show("visits nothing", lmer(noise ~ age + (1 | who), visits, REML = FALSE, control = lm_control))
show("trials slope", glmer(ill ~ dose + (dose | who), trials, binomial, control = glm_control))
