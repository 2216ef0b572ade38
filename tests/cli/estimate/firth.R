# The figures that bias=firth is compared with, from brglm2 (Kosmidis): Firth's adjusted score equations (AS_mean), which
# for these links are those of the likelihood with Jeffreys' penalty (MPL_Jeffreys).
#
#     Rscript firth.R BREAST_CANCER_CSV WILMS_CSV CLAIMS_CSV LUNG_CSV QUINE_CSV > firth.csv
#
# firth.csv beside this file was written by R 4.2.2 with brglm2 0.9.
suppressMessages(library(brglm2))
words <- commandArgs(trailingOnly = TRUE)
cells <- read.csv(words[1])[1:40, ]
wilms <- read.csv(words[2])
claims <- read.csv(words[3], stringsAsFactors = TRUE)
lung <- read.csv(words[4], stringsAsFactors = TRUE)
lung <- na.omit(lung[c("age", "sex", "karnofsky", "karnofsky_patient", "weight_loss", "died")])
quine <- read.csv(words[5], stringsAsFactors = TRUE)
cells$malignant <- cells$diagnosis == "malignant"
wilms$relapse <- wilms$relapse == "yes"
wilms$stage <- factor(wilms$stage)
quiet <- claims[claims$region != "west" | claims$visits == 0, ]

show <- function(case, formula, family, data, type) {
  fit <- glm(formula, family = family, data = data, method = "brglmFit", type = type, epsilon = 1e-11, maxit = 10000)
  table <- coef(summary(fit))
  x <- model.matrix(fit)
  information <- crossprod(x * sqrt(fit$family$variance(fitted(fit))))
  penalised <- as.numeric(logLik(fit)) + 0.5 * as.numeric(determinant(information)$modulus)
  for (name in rownames(table)) {
    row <- table[name, ]
    ends <- row[1] + c(-1, 1) * qnorm(0.975) * row[2]
    cat(case, type, gsub("[()]", "", name), sprintf("%.15g", c(row, ends)), sep = ",")
    cat("\n")
  }
  cat(case, type, "fit", sprintf("%.15g", c(fit$deviance, fit$null.deviance, fit$aic, penalised, 0, 0)), sep = ",")
  cat("\n")
}

cat("case,type,name,a,b,c,d,e,f\n")
for (type in c("AS_mean", "MPL_Jeffreys")) {
  show("cells", malignant ~ mean_radius + worst_texture + worst_concavity, "binomial", cells, type)
  show("wilms", relapse ~ unfavourable + stage + late_unfavourable + age + study, "binomial", wilms, type)
  show("wilms-few", relapse ~ unfavourable + stage + age, "binomial", wilms[101:180, ], type)
  show("claims", visits ~ age + sex + region, "poisson", claims, type)
  show("claims-quiet", visits ~ age + sex + region, "poisson", quiet, type)
  show("lung", died ~ age + sex + karnofsky + karnofsky_patient + weight_loss, "binomial", lung, type)
  show("absent", Days ~ Eth + Sex + Age + Lrn, "poisson", quine, type)
}
