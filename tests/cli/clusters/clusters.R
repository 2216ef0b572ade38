# The figures that method estimate with errors=cluster is compared with, from generalised estimating equations with independence as the working correlation (geepack):
#
#     Rscript clusters.R SLEEPSTUDY_CSV VISITS_CSV CBPP_CSV PBCSEQ_CSV > clusters.csv
#
# clusters.csv beside this file was written by R 4.2.2 with geepack 1.3.9.
suppressMessages(library(geepack))
words <- commandArgs(trailingOnly = TRUE)
sleep <- read.csv(words[1])
visits <- read.csv(words[2])
cbpp <- read.csv(words[3], colClasses = c(period = "factor"))
liver <- read.csv(words[4])
line <- function(...) cat(paste(sapply(list(...), function(x) if (is.character(x)) x else sprintf("%.15g", x)), collapse = ","), "\n", sep = "")

show <- function(case, fit, groups) {
  table <- coef(summary(fit))
  for (name in rownames(table)) line(case, name, table[name, 1], table[name, 2], groups, length(fit$y))
}

cat("case,name,estimate,error,groups,rows\n")
strict <- geese.control(epsilon = 1e-14, maxit = 200)
show("sleep", geeglm(Reaction ~ Days, id = factor(Subject), data = sleep, corstr = "independence", control = strict), length(unique(sleep$Subject)))
show("visits", geeglm(falls ~ age, poisson, id = factor(who, unique(who)), data = visits, corstr = "independence", control = strict), length(unique(visits$who)))
show("cbpp", geeglm(ill ~ period, binomial, id = factor(herd, unique(herd)), data = cbpp[order(factor(cbpp$herd, unique(cbpp$herd))), ], corstr = "independence", control = strict),
  length(unique(cbpp$herd)))
show("men", geeglm(as.numeric(sex == "m") ~ age + albumin + bili, binomial, id = factor(id, unique(id)), data = liver, corstr = "independence", control = strict),
  length(unique(liver$id)))
