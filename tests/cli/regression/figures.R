# The figures that method estimate is compared with beyond those of ../estimate/glm.R, from R's own glm, lm, sandwich, nnet and MASS:
#
#     Rscript figures.R WILMS_CSV PBCSEQ_CSV CLAIMS_CSV HOUSING_CSV QUINE_CSV LUNG_CSV SLEEPSTUDY_CSV CBPP_CSV > figures.csv
#
# figures.csv beside this file was written by R 4.2.2 with sandwich 3.0, nnet 7.3 and MASS 7.3. Optimisers are driven to the end. In pbcseq a missing number
# counts as the middle of its bounds and a missing level as the first one, as its schema says; lung is of complete rows, as its schema says.
suppressMessages({
  library(sandwich)
  library(MASS)
  library(nnet)
})
words <- commandArgs(trailingOnly = TRUE)
show <- function(case, what, name, value) cat(case, what, gsub(",", ";", name), sprintf("%.15g", value), sep = ",", fill = 1000)

wald <- function(b, V) sum(b * solve(V, b))

# car's vif, which is Fox and Monette's: of coefficients without intercepts.
inflation <- function(V, term) {
  R <- cov2cor(V)
  vapply(unique(term), function(one) {
    own <- term == one
    det(R[own, own, drop = FALSE]) * det(R[!own, !own, drop = FALSE]) / det(R)
  }, 0)
}

fit_figures <- function(case, fit, term, null) {
  n <- nobs(fit)
  show(case, "measure", "log_likelihood", logLik(fit))
  show(case, "measure", "bic", BIC(fit))
  show(case, "measure", "deviance", deviance(fit))
  show(case, "measure", "aic", AIC(fit))
  gained <- 2 * as.numeric(logLik(fit) - logLik(null))
  if (inherits(fit, "lm") && !inherits(fit, "glm")) {
    about <- summary(fit)
    show(case, "measure", "r_squared", about$r.squared)
    show(case, "measure", "adjusted_r_squared", about$adj.r.squared)
    show(case, "measure", "statistic", about$fstatistic[1])
    show(case, "measure", "p", pf(about$fstatistic[1], about$fstatistic[2], about$fstatistic[3], lower.tail = FALSE))
  } else {
    cox <- 1 - exp(-gained / n)
    show(case, "measure", "mcfadden", 1 - as.numeric(logLik(fit) / logLik(null)))
    show(case, "measure", "cox_snell", cox)
    show(case, "measure", "nagelkerke", cox / (1 - exp(2 * as.numeric(logLik(null)) / n)))
    show(case, "measure", "statistic", gained)
    show(case, "measure", "p", pchisq(gained, length(term), lower.tail = FALSE))
  }
}

term_figures <- function(case, b, V, term, degrees = NULL, gvif = TRUE) {
  factor <- if (gvif) inflation(V, term)
  for (one in unique(term)) {
    own <- term == one
    chi <- wald(b[own], V[own, own, drop = FALSE])
    k <- sum(own)
    show(case, "term_statistic", one, if (is.null(degrees)) chi else chi / k)
    show(case, "term_p", one, if (is.null(degrees)) pchisq(chi, k, lower.tail = FALSE) else pf(chi / k, k, degrees, lower.tail = FALSE))
    if (gvif) show(case, "term_inflation", one, factor[[one]])
  }
}

coefficients_of <- function(case, b, V) {
  for (name in names(b)) show(case, "estimate", name, b[[name]])
  for (name in names(b)) show(case, "error", name, sqrt(V[name, name]))
}

ratio_figures <- function(case, b, V) {
  for (name in names(b)) {
    ends <- exp(b[[name]] + c(-1, 1) * qnorm(0.975) * sqrt(V[name, name]))
    show(case, "ratio", name, exp(b[[name]]))
    show(case, "ratio_low", name, ends[1])
    show(case, "ratio_high", name, ends[2])
  }
}

robust_figures <- function(case, fit, cluster = NULL) {
  for (kind in c("HC0", "HC1", "HC2", "HC3")) {
    V <- vcovHC(fit, type = kind)
    for (name in names(coef(fit))) show(case, kind, name, sqrt(V[name, name]))
  }
  if (!is.null(cluster)) {
    V <- vcovCL(fit, cluster = cluster)
    for (name in names(coef(fit))) show(case, "cluster", name, sqrt(V[name, name]))
  }
}

influence_figures <- function(case, fit) {
  pearson <- sum(residuals(fit, "pearson")^2)
  h <- hatvalues(fit)
  show(case, "influence", "pearson", pearson)
  show(case, "influence", "dispersion", pearson / df.residual(fit))
  show(case, "influence", "leverage", sum(h))
  show(case, "influence", "leverage_squares", sum(h^2))
  show(case, "influence", "cook_rows", sum(cooks.distance(fit) > 4 / nobs(fit)))
}

tight <- list(epsilon = 1e-14, maxit = 100)

wilms <- read.csv(words[1], stringsAsFactors = TRUE)
wilms$stage <- factor(wilms$stage)
full <- glm(relapse ~ unfavourable + stage + late_unfavourable + age + study, binomial, wilms, control = tight)
null <- update(full, . ~ 1)
term <- attr(terms(full), "term.labels")[attr(model.matrix(full), "assign")]
V <- vcov(full)
coefficients_of("wilms", coef(full), V)
fit_figures("wilms", full, term, null)
show("wilms", "measure", "tjur", mean(fitted(full)[wilms$relapse == "yes"]) - mean(fitted(full)[wilms$relapse == "no"]))
term_figures("wilms", coef(full)[-1], V[-1, -1], term)
ratio_figures("wilms", coef(full)[-1], V)
robust_figures("wilms", full)
influence_figures("wilms", full)
small <- update(full, . ~ . - stage - late_unfavourable)
test <- anova(small, full, test = "Chisq")
show("wilms", "anova", "deviance", test$Deviance[2])
show("wilms", "anova", "degrees", test$Df[2])
show("wilms", "anova", "p", test$`Pr(>Chi)`[2])

liver <- read.csv(words[2], stringsAsFactors = TRUE)
liver$platelet[is.na(liver$platelet)] <- 500
liver$ascites[is.na(liver$ascites)] <- 0
for (name in c("stage", "edema", "ascites")) liver[[name]] <- factor(liver[[name]])
liver$sex <- factor(liver$sex, levels = c("f", "m"))
full <- lm(albumin ~ age + sex + stage + edema + ascites + platelet + bili, liver)
null <- update(full, . ~ 1)
term <- attr(terms(full), "term.labels")[attr(model.matrix(full), "assign")]
V <- vcov(full)
coefficients_of("liver", coef(full), V)
fit_figures("liver", full, term, null)
term_figures("liver", coef(full)[-1], V[-1, -1], term, df.residual(full))
robust_figures("liver", full, liver$id)
influence_figures("liver", full)
V <- vcovCL(full, cluster = liver$id)
term_figures("liver-cluster", coef(full)[-1], V[-1, -1], term, df.residual(full), FALSE)
small <- update(full, . ~ . - stage - bili)
test <- anova(small, full)
show("liver", "anova", "deviance", test$`Sum of Sq`[2])
show("liver", "anova", "degrees", test$Df[2])
show("liver", "anova", "p", test$`Pr(>F)`[2])
men <- glm(I(sex == "m") ~ age + albumin + bili, binomial, liver, control = tight)
V <- vcovCL(men, cluster = liver$id)
for (name in names(coef(men))) show("men", "cluster", name, sqrt(V[name, name]))

claims <- read.csv(words[3], stringsAsFactors = TRUE)
full <- glm(visits ~ age + sex + region, poisson, claims, control = tight)
null <- update(full, . ~ 1)
term <- attr(terms(full), "term.labels")[attr(model.matrix(full), "assign")]
coefficients_of("visits", coef(full), vcov(full))
fit_figures("visits", full, term, null)
term_figures("visits", coef(full)[-1], vcov(full)[-1, -1], term)
ratio_figures("visits", coef(full)[-1], vcov(full))
robust_figures("visits", full)
influence_figures("visits", full)
test <- anova(update(full, . ~ . - region), full, test = "Chisq")
show("visits", "anova", "deviance", test$Deviance[2])
show("visits", "anova", "degrees", test$Df[2])
show("visits", "anova", "p", test$`Pr(>Chi)`[2])

# All of a generalised linear model, and of its test beside a smaller one.
all_figures <- function(case, full, small = NULL) {
  null <- update(full, . ~ 1)
  term <- attr(terms(full), "term.labels")[attr(model.matrix(full), "assign")]
  V <- vcov(full)
  coefficients_of(case, coef(full), V)
  fit_figures(case, full, term, null)
  term_figures(case, coef(full)[-1], V[-1, -1], term)
  ratio_figures(case, coef(full)[-1], V)
  robust_figures(case, full)
  influence_figures(case, full)
  if (is.null(small)) return(invisible())
  test <- anova(small, full, test = "Chisq")
  show(case, "anova", "deviance", test$Deviance[2])
  show(case, "anova", "degrees", test$Df[2])
  show(case, "anova", "p", test$`Pr(>Chi)`[2])
}

quine <- read.csv(words[5], stringsAsFactors = TRUE)
full <- glm(Days ~ Eth + Sex + Age + Lrn, poisson, quine, control = tight)
all_figures("absent", full, update(full, . ~ . - Age))
lung <- read.csv(words[6], stringsAsFactors = TRUE)
lung <- na.omit(lung[c("age", "sex", "karnofsky", "karnofsky_patient", "weight_loss", "died")])
full <- glm(died ~ age + sex + karnofsky + karnofsky_patient + weight_loss, binomial, lung, control = tight)
show("lung", "measure", "tjur", mean(fitted(full)[lung$died == "yes"]) - mean(fitted(full)[lung$died == "no"]))
all_figures("lung", full)

cluster_figures <- function(case, fit, cluster) {
  V <- vcovCL(fit, cluster = cluster)
  for (name in names(coef(fit))) show(case, "cluster", name, sqrt(V[name, name]))
}

sleep <- read.csv(words[7])
cluster_figures("sleep", lm(Reaction ~ Days, sleep), sleep$Subject)
herds <- read.csv(words[8], colClasses = c(period = "factor"))
cluster_figures("herds", glm(ill ~ period, binomial, herds, control = tight), herds$herd)

homes <- read.csv(words[4])
homes <- homes[rep(seq_len(nrow(homes)), homes$Freq), ]
homes$Sat <- factor(homes$Sat, levels = c("Low", "Medium", "High"), ordered = TRUE)
homes$Infl <- factor(homes$Infl, levels = c("Low", "Medium", "High"))
homes$Type <- factor(homes$Type, levels = c("Tower", "Apartment", "Atrium", "Terrace"))
homes$Cont <- factor(homes$Cont, levels = c("Low", "High"))

likelihood_figures <- function(case, likelihood, outcome, parameters, slopes) {
  n <- length(outcome)
  counts <- table(outcome)
  without <- sum(counts * log(counts / n))
  gained <- 2 * (likelihood - without)
  show(case, "measure", "log_likelihood", likelihood)
  show(case, "measure", "deviance", -2 * likelihood)
  show(case, "measure", "null_deviance", -2 * without)
  show(case, "measure", "aic", -2 * likelihood + 2 * parameters)
  show(case, "measure", "bic", -2 * likelihood + log(n) * parameters)
  show(case, "measure", "mcfadden", 1 - likelihood / without)
  show(case, "measure", "cox_snell", 1 - exp(-gained / n))
  show(case, "measure", "nagelkerke", (1 - exp(-gained / n)) / (1 - exp(2 * without / n)))
  show(case, "measure", "statistic", gained)
  show(case, "measure", "p", pchisq(gained, slopes, lower.tail = FALSE))
}

anova_figures <- function(case, larger, less, parameters) {
  show(case, "anova", "deviance", less$deviance - larger)
  show(case, "anova", "degrees", parameters - less$edf)
  show(case, "anova", "p", pchisq(less$deviance - larger, parameters - less$edf, lower.tail = FALSE))
}

sandwich_figures <- function(case, V, scores) {
  S <- V %*% crossprod(scores) %*% V
  n <- nrow(scores)
  for (name in rownames(V)) show(case, "HC0", name, sqrt(S[name, name]))
  for (name in rownames(V)) show(case, "HC1", name, sqrt(S[name, name] * n / (n - ncol(V))))
  S
}

# multinom's BFGS stops early: Newton's steps from there, with the Hessian that it knows, go to the end.
multinomial_figures <- function(case, formula, fewer, data) {
  fit <- function(formula) {
    do.call(multinom, list(formula, data, trace = FALSE, reltol = 1e-15, abstol = 1e-20, maxit = 10000, Hess = TRUE))
  }
  several <- fit(formula)
  X <- model.matrix(several)
  outcome <- data[[all.vars(formula)[1]]]
  Y <- sapply(levels(outcome), function(one) outcome == one)
  others <- nlevels(outcome) - 1
  b <- t(coef(several))
  own <- function(k) (k - 1) * ncol(X) + seq_len(ncol(X))
  H <- matrix(0, others * ncol(X), others * ncol(X))
  for (step in 1:8) {
    P <- exp(cbind(0, X %*% b))
    P <- P / rowSums(P)
    for (k in 1:others) for (l in 1:others) H[own(k), own(l)] <- crossprod(X, X * (P[, k + 1] * ((k == l) - P[, l + 1])))
    b <- b + matrix(solve(H, as.vector(crossprod(X, Y[, -1] - P[, -1])), tol = 0), ncol(X))
  }
  stopifnot(max(abs(b - t(coef(several))) / (1 + abs(b))) < 1e-3)
  V <- solve(H, tol = 0)
  names_of <- as.vector(outer(colnames(X), levels(outcome)[-1], function(x, k) paste0(k, ":", x)))
  flat <- setNames(as.vector(b), names_of)
  dimnames(V) <- list(names_of, names_of)
  likelihood <- sum(log(P[Y]))
  term <- rep(c("", attr(terms(several), "term.labels")[attr(X, "assign")]), others)
  coefficients_of(case, flat, V)
  likelihood_figures(case, likelihood, outcome, length(flat), sum(term != ""))
  term_figures(case, flat[term != ""], V[term != "", term != ""], term[term != ""], gvif = FALSE)
  ratio_figures(case, flat[term != ""], V)
  sandwich_figures(case, V, do.call(cbind, lapply(1:others, function(k) X * (Y[, k + 1] - P[, k + 1]))))
  less <- fit(fewer)
  anova_figures(case, -2 * likelihood, list(deviance = deviance(less), edf = less$edf), length(flat))
}

# The same of polr: Newton on the sum of log(F(zeta_k - eta) - F(zeta_k-1 - eta)), from where its optimiser stops.
ordinal_fit <- function(formula, data) {
  ordered <- do.call(polr, list(formula, data, Hess = TRUE, control = list(reltol = 1e-15, maxit = 10000)))
  X <- model.matrix(ordered)[, -1, drop = FALSE]
  level <- as.integer(data[[all.vars(formula)[1]]])
  theta <- c(coef(ordered), ordered$zeta)
  pieces <- function(theta) {
    eta <- drop(X %*% theta[seq_len(ncol(X))])
    zeta <- c(-Inf, theta[-seq_len(ncol(X))], Inf)
    list(high = plogis(zeta[level + 1] - eta), low = plogis(zeta[level] - eta))
  }
  J <- function(upper) cbind(-X, sapply(seq_along(ordered$zeta), function(k) as.numeric(level + upper - 1 == k)))
  A <- J(1)
  B <- J(0)
  for (step in 1:8) {
    at <- pieces(theta)
    p <- at$high - at$low
    fh <- at$high * (1 - at$high)
    fl <- at$low * (1 - at$low)
    gh <- fh * (1 - 2 * at$high)
    gl <- fl * (1 - 2 * at$low)
    scores <- (A * fh - B * fl) / p
    H <- -(crossprod(A, A * (gh / p)) - crossprod(B, B * (gl / p)) - crossprod(scores))
    theta <- theta + solve(H, colSums(scores))
  }
  stopifnot(max(abs(theta - c(coef(ordered), ordered$zeta)) / (1 + abs(theta))) < 1e-3)
  V <- solve(H, tol = 0)
  dimnames(V) <- list(names(theta), names(theta))
  list(theta = theta, V = V, scores = scores, likelihood = sum(log(with(pieces(theta), high - low))), fit = ordered)
}

ordinal_figures <- function(case, formula, fewer, data) {
  found <- ordinal_fit(formula, data)
  term <- attr(terms(found$fit), "term.labels")[attr(model.matrix(found$fit), "assign")]
  slopes <- seq_along(term)
  coefficients_of(case, found$theta, found$V)
  likelihood_figures(case, found$likelihood, data[[all.vars(formula)[1]]], length(found$theta), length(slopes))
  term_figures(case, found$theta[slopes], found$V[slopes, slopes], term)
  ratio_figures(case, found$theta[slopes], found$V)
  S <- sandwich_figures(case, found$V, found$scores)
  # polr stops too early for its own Hessian where a column has large numbers
  if (startsWith(case, "homes")) stopifnot(max(abs(sqrt(diag(sandwich(found$fit))) / sqrt(diag(S)) - 1)) < 1e-3)
  less <- ordinal_fit(fewer, data)
  anova_figures(case, -2 * found$likelihood, list(deviance = -2 * less$likelihood, edf = length(less$theta)), length(found$theta))
}

multinomial_figures("homes-multinomial", Sat ~ Infl + Type + Cont, Sat ~ Infl + Type, homes)
ordinal_figures("homes-ordinal", Sat ~ Infl + Type + Cont, Sat ~ Infl + Type, homes)
wilms$stage <- factor(wilms$stage, ordered = TRUE)
multinomial_figures("stages-multinomial", stage ~ unfavourable + age + relapse, stage ~ unfavourable + age, wilms)
ordinal_figures("stages-ordinal", stage ~ unfavourable + age + relapse, stage ~ unfavourable + age, wilms)
liver$stage <- factor(liver$stage, ordered = TRUE)
multinomial_figures("fibrosis-multinomial", stage ~ age + sex + albumin + platelet, stage ~ age + sex + platelet, liver)
ordinal_figures("fibrosis-ordinal", stage ~ age + sex + albumin + platelet, stage ~ age + sex + platelet, liver)
