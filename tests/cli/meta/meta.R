# The figures that method meta is compared with, from R's glm at each site and metafor over sites:
#
#     Rscript meta.R BCG_CSV SITES_CSV > meta.csv
#
# meta.csv beside this file was written by R 4.2.2 with metafor 3.8-1. bcg.csv is data set `dat.bcg` of that package (13 trials of a vaccine against tuberculosis;
# Colditz 1994), a line for each cell of a trial's table; the rows of sites.csv are made by the test.
suppressMessages(library(metafor))
words <- commandArgs(trailingOnly = TRUE)
bcg <- read.csv(words[1])
sites <- read.csv(words[2])
sites$arm <- factor(sites$arm, c("a", "b"))
strict <- list(tol = 1e-15, maxiter = 10000)

line <- function(...) cat(paste(sapply(list(...), function(x) if (is.character(x)) x else sprintf("%.15g", x)), collapse = ","), "\n", sep = "")

show <- function(case, rows, by, fit) {
  tables <- lapply(split(rows, rows[[by]]), function(own) coef(summary(fit(own))))
  for (name in rownames(tables[[1]])) {
    y <- sapply(tables, function(table) table[name, 1])
    s <- sapply(tables, function(table) table[name, 2])
    for (method in c("FE", "DL", "PM")) {
      at <- rma(y, sei = s, method = method, control = if (method == "PM") strict else list())
      line(case, name, method, at$b[1], at$se, at$zval, at$pval, at$ci.lb, at$ci.ub, at$QE, at$QEp, at$tau2, at$I2, at$H2)
    }
  }
}

cat("case,coefficient,method,estimate,error,z,p,low,high,Q,Qp,tau2,I2,H2\n")
show("bcg", bcg, "trial", function(own) glm(tb ~ vaccine, binomial, own, weights = count, control = glm.control(epsilon = 1e-14, maxit = 100)))
for (count in c(5, 20)) {
  rows <- sites[sites$site <= count, ]
  show(paste0("linear ", count), rows, "site", function(own) lm(pressure ~ age + arm, own))
  show(paste0("logistic ", count), rows, "site", function(own) glm(ill ~ age + arm, binomial, own, control = glm.control(epsilon = 1e-14, maxit = 100)))
}
