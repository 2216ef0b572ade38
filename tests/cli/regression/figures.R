# The figures that method estimate is compared with beyond those of ../estimate/glm.R, from R's own glm, lm, sandwich, nnet and MASS:
#
#     Rscript figures.R WILMS_CSV PBCSEQ_CSV CLAIMS_CSV HOUSING_CSV > figures.csv
#
# figures.csv beside this file was written by R 4.2.2 with sandwich 3.0, nnet 7.3 and MASS 7.3. Optimisers are driven to the end. A missing number
# counts as the middle of its bounds and a missing level as the first one, as the schema says.
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

homes <- read.csv(words[4])
homes <- homes[rep(seq_len(nrow(homes)), homes$Freq), ]
homes$Sat <- factor(homes$Sat, levels = c("Low", "Medium", "High"), ordered = TRUE)
homes$Infl <- factor(homes$Infl, levels = c("Low", "Medium", "High"))
homes$Type <- factor(homes$Type, levels = c("Tower", "Apartment", "Atrium", "Terrace"))
homes$Cont <- factor(homes$Cont, levels = c("Low", "High"))

# multinom's BFGS stops early: Newton's steps from there, with the Hessian that it knows, go to the end.
several <- multinom(Sat ~ Infl + Type + Cont, homes, trace = FALSE, reltol = 1e-15, abstol = 1e-20, maxit = 1000, Hess = TRUE)
X <- model.matrix(several)
Y <- sapply(levels(homes$Sat), function(one) homes$Sat == one)
b <- t(coef(several))
for (step in 1:5) {
  P <- exp(cbind(0, X %*% b))
  P <- P / rowSums(P)
  H <- matrix(0, 2 * ncol(X), 2 * ncol(X))
  own <- function(k) (k - 1) * ncol(X) + seq_len(ncol(X))
  for (k in 1:2) for (l in 1:2) H[own(k), own(l)] <- crossprod(X, X * (P[, k + 1] * ((k == l) - P[, l + 1])))
  b <- b + matrix(solve(H, as.vector(crossprod(X, Y[, -1] - P[, -1]))), ncol(X))
}
stopifnot(max(abs(b - t(coef(several)))) < 1e-4)
V <- solve(H)
names_of <- as.vector(outer(colnames(X), levels(homes$Sat)[-1], function(x, k) paste0(k, ":", x)))
flat <- setNames(as.vector(b), names_of)
dimnames(V) <- list(names_of, names_of)
likelihood <- sum(log(P[Y]))
counts <- table(homes$Sat)
without <- sum(counts * log(counts / nrow(homes)))
term <- rep(c("", attr(terms(several), "term.labels")[attr(X, "assign")]), 2)
likelihood_figures <- function(case, likelihood, parameters, slopes) {
  n <- nrow(homes)
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
coefficients_of("multinomial", flat, V)
likelihood_figures("multinomial", likelihood, length(flat), sum(term != ""))
term_figures("multinomial", flat[term != ""], V[term != "", term != ""], term[term != ""], gvif = FALSE)
ratio_figures("multinomial", flat[term != ""], V)
less <- multinom(Sat ~ Infl + Type, homes, trace = FALSE, reltol = 1e-15, abstol = 1e-20, maxit = 1000)
show("multinomial", "anova", "deviance", deviance(less) + 2 * likelihood)
show("multinomial", "anova", "degrees", length(flat) - less$edf)
show("multinomial", "anova", "p", pchisq(deviance(less) + 2 * likelihood, length(flat) - less$edf, lower.tail = FALSE))

# The same of polr: Newton on the sum of log(F(zeta_k - eta) - F(zeta_k-1 - eta)), from where its optimiser stops.
ordered <- polr(Sat ~ Infl + Type + Cont, homes, Hess = TRUE, control = list(reltol = 1e-15, maxit = 1000))
X <- model.matrix(ordered)[, -1]
level <- as.integer(homes$Sat)
theta <- c(coef(ordered), ordered$zeta)
pieces <- function(theta) {
  eta <- drop(X %*% theta[seq_len(ncol(X))])
  zeta <- c(-Inf, theta[-seq_len(ncol(X))], Inf)
  list(high = plogis(zeta[level + 1] - eta), low = plogis(zeta[level] - eta), at = zeta, eta = eta)
}
for (step in 1:5) {
  at <- pieces(theta)
  p <- at$high - at$low
  fh <- at$high * (1 - at$high)
  fl <- at$low * (1 - at$low)
  gh <- fh * (1 - 2 * at$high)
  gl <- fl * (1 - 2 * at$low)
  J <- function(upper) cbind(-X, sapply(1:2, function(k) as.numeric(level + upper - 1 == k)))
  A <- J(1)
  B <- J(0)
  g <- colSums((A * fh - B * fl) / p)
  H <- -(crossprod(A, A * (gh / p)) - crossprod(B, B * (gl / p)) - crossprod((A * fh - B * fl) / p))
  theta <- theta + solve(H, g)
}
stopifnot(max(abs(theta - c(coef(ordered), ordered$zeta))) < 1e-4)
V <- solve(H)
dimnames(V) <- list(names(theta), names(theta))
likelihood <- sum(log(with(pieces(theta), high - low)))
term <- attr(terms(ordered), "term.labels")[attr(model.matrix(ordered), "assign")]
slopes <- seq_along(term)
coefficients_of("ordinal", theta, V)
likelihood_figures("ordinal", likelihood, length(theta), length(slopes))
term_figures("ordinal", theta[slopes], V[slopes, slopes], term)
ratio_figures("ordinal", theta[slopes], V)
scores <- (A * fh - B * fl) / p
S <- V %*% crossprod(scores) %*% V
for (name in names(theta)) show("ordinal", "HC0", name, sqrt(S[name, name]))
stopifnot(max(abs(sqrt(diag(sandwich(ordered))) / sqrt(diag(S)) - 1)) < 1e-3)
less <- polr(Sat ~ Infl + Type, homes, control = list(reltol = 1e-15, maxit = 1000))
show("ordinal", "anova", "deviance", deviance(less) + 2 * likelihood)
show("ordinal", "anova", "degrees", length(theta) - less$edf)
show("ordinal", "anova", "p", pchisq(deviance(less) + 2 * likelihood, length(theta) - less$edf, lower.tail = FALSE))
