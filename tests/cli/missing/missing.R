# The figures that missing values are compared with, from R's glm and mice:
#
#     Rscript missing.R PBC_CSV LUNG_CSV [quick] > missing.csv      # quick: without mice's imputations, which take a minute
#
# missing.csv beside this file was written by R 4.2.2 and mice 3.15.0. Convergence of glm is driven to the end. mice is run
# inside each of two sites, of the odd and of the even numbered patients, and the completed rows are put together, set by set.
suppressPackageStartupMessages(library(mice))
words <- commandArgs(trailingOnly = TRUE)
pbc <- read.csv(words[1], na.strings = "")
pbc$dead <- as.integer(pbc$death == "yes")
pbc$sex <- factor(pbc$sex, levels = c("m", "f"))
pbc$hepato <- factor(pbc$hepato, levels = c("0", "1"))
pbc$stage <- factor(pbc$stage, levels = c("1", "2", "3", "4"))
exactly <- list(epsilon = 1e-14, maxit = 100)
label <- function(name) gsub("[()]", "", name)

line <- function(case, name, figures) cat(paste(c(case, name, sprintf("%.15g", figures)), collapse = ","), "\n", sep = "")

show <- function(case, formula, data) {
  table <- coef(summary(glm(formula, family = binomial, data = data, control = exactly)))
  for (name in rownames(table)) line(case, label(name), table[name, ])
}

cat("case,name,a,b,c,d\n")
show("complete-case", dead ~ age + bili + chol + copper + trig + sex + hepato + stage, pbc)
one <- pbc
one$chol_missing <- as.integer(is.na(one$chol))
one$chol[is.na(one$chol)] <- 1250 # the midpoint of the schema's bounds
one$trig[is.na(one$trig)] <- 120
one$hepato <- addNA(one$hepato)
levels(one$hepato)[3] <- "missing"
one$stage[is.na(one$stage)] <- "3"
show("filled", dead ~ age + chol + chol_missing + trig + hepato + stage, one)

# Rubin's rules alone, on figures that need no chance
three <- as.mira(lapply(1:3, function(k) lm(dist ~ speed, data = cars[-(k * 7), ])))
rules <- summary(pool(three))
pooled <- pool(three)$pooled
line("rules", "speed", c(rules$estimate[2], rules$std.error[2], rules$df[2], rules$p.value[2]))
line("rules", "more", c(pooled$fmi[2], pooled$ubar[2], pooled$b[2], pooled$dfcom[2]))
for (k in 1:3) line("rules", paste0("set", k), c(coef(summary(three$analyses[[k]]))[2, 1:2], 0, 0))
# D1 by its definition (mice's own needs package mitml): two coefficients, four sets
four <- lapply(1:4, function(k) lm(dist ~ speed + I(speed^2), cars[-seq(k, 50, 4), ]))
q <- sapply(four, function(f) coef(f)[2:3])
u <- Reduce(`+`, lapply(four, function(f) vcov(f)[2:3, 2:3])) / 4
r <- (1 + 1 / 4) * sum(diag(cov(t(q)) %*% solve(u))) / 2
d1 <- drop(rowMeans(q) %*% solve(u) %*% rowMeans(q)) / (2 * (1 + r))
a <- r * 6 / (6 - 2)  # Reiter's degrees of freedom, t = 2 (4 - 1)
seen <- 34 * 35 / 37
c1 <- seen - 2 * (1 + a)
c2 <- seen - 4 * (1 + a)
z <- 1 / c2 + a^2 / (6 - 4) * (c1 / ((1 + a)^2 * c2) + 8 * c1 / ((1 + a) * c2^2) + 4 / ((1 + a) * c2) + 4 / (c2 * c1) + 16 * c1 / c2^3 + 8 / c2^2)
line("d1", "speed", c(d1, 4 + 1 / z, pf(d1, 2, 4 + 1 / z, lower.tail = FALSE), r))
if (length(words) > 2 && words[3] == "quick") quit()

sets <- 40
columns <- c("dead", "age", "bili", "chol", "copper", "trig", "sex", "hepato", "stage")
ways <- c(dead = "", age = "", bili = "", chol = "norm", copper = "norm", trig = "norm", sex = "", hepato = "logreg",
          stage = "polyreg")
made <- lapply(1:2, function(site) {
  rows <- pbc[pbc$id %% 2 == site %% 2, columns]
  rows$dead <- factor(rows$dead)
  mice(rows, m = sets, method = ways, maxit = 10, seed = 100 + site, printFlag = FALSE)
})
models <- list(imputed = dead ~ age + bili + chol + copper + trig + sex + hepato + stage,
               terms = dead ~ age * sex + log(bili) + chol * hepato + copper + trig + stage)
if (requireNamespace("brglm2", quietly = TRUE)) models$firth <- models$imputed
for (case in names(models)) {
  fits <- lapply(1:sets, function(k) {
    rows <- rbind(complete(made[[1]], k), complete(made[[2]], k))
    if (case == "firth")
      glm(models[[case]], family = binomial, data = rows, method = brglm2::brglmFit, type = "AS_mean", epsilon = 1e-12, maxit = 500)
    else glm(models[[case]], family = binomial, data = rows, control = exactly)
  })
  pooled <- pool(as.mira(fits))$pooled
  for (k in seq_len(nrow(pooled))) # estimate, mean variance within and variance between the sets, degrees of freedom
    line(case, label(as.character(pooled$term[k])), c(pooled$estimate[k], pooled$ubar[k], pooled$b[k], pooled$df[k]))
}

# An outcome of four classes in order, which the rows lack nowhere here: as before, completed inside each site.
suppressPackageStartupMessages(library(MASS))
known <- pbc[!is.na(pbc$stage), ]
columns <- c("stage", "age", "chol", "copper", "sex", "hepato")
made <- lapply(1:2, function(site) mice(known[known$id %% 2 == site %% 2, columns], m = sets, maxit = 10, seed = 200 + site, printFlag = FALSE,
                                        method = c(stage = "", age = "", chol = "norm", copper = "norm", sex = "", hepato = "logreg")))
fits <- lapply(1:sets, function(k) {
  rows <- rbind(complete(made[[1]], k), complete(made[[2]], k))
  rows$chol <- rows$chol / 1000 # polr's optimiser minds the scale
  rows$copper <- rows$copper / 1000
  fit <- polr(factor(stage, ordered = TRUE) ~ age + chol + copper + sex + hepato, data = rows, Hess = TRUE, control = list(reltol = 1e-15, maxit = 1000))
  scale <- ifelse(names(c(fit$coefficients, fit$zeta)) %in% c("chol", "copper"), 1000, 1)
  list(at = c(fit$coefficients, fit$zeta) / scale, variance = diag(vcov(fit)) / scale^2)
})
at <- sapply(fits, function(fit) fit$at)
for (name in rownames(at))
  line("ordered", name, c(mean(at[name, ]), mean(sapply(fits, function(fit) fit$variance[name])), var(at[name, ]), 0))

# All rows at one site.
lung <- read.csv(words[2], na.strings = "")
lung$dead <- as.integer(lung$died == "yes")
lung$sex <- factor(lung$sex, levels = c("male", "female"))
whole <- function(case, rows, columns, ways, formula, seed) {
  part <- rows[columns]
  part$dead <- factor(part$dead)
  made <- mice(part, m = sets, method = ways, maxit = 10, seed = seed, printFlag = FALSE)
  fits <- lapply(1:sets, function(k) glm(formula, family = binomial, data = complete(made, k), control = exactly))
  pooled <- pool(as.mira(fits))$pooled
  for (k in seq_len(nrow(pooled)))
    line(case, label(as.character(pooled$term[k])), c(pooled$estimate[k], pooled$ubar[k], pooled$b[k], pooled$df[k]))
}
whole("pbc1", pbc, c("dead", "age", "chol", "copper", "trig", "sex", "hepato"),
      c(dead = "", age = "", chol = "norm", copper = "norm", trig = "norm", sex = "", hepato = "logreg"),
      dead ~ age + chol + copper + trig + sex + hepato, 310)
whole("lung1", lung, c("dead", "age", "sex", "karnofsky_patient", "calories", "weight_loss"),
      c(dead = "", age = "", sex = "", karnofsky_patient = "norm", calories = "norm", weight_loss = "norm"),
      dead ~ age + sex + karnofsky_patient + calories + weight_loss, 410)
