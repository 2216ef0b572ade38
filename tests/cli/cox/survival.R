# The figures that method survival-exact is compared with, from R's survival:
#
#     Rscript survival.R WILMS_TIMES_CSV AML_CSV MGUS_CSV > survival.csv
#
# survival.csv beside this file was written by R 4.2.2 with survival 3.5. aml.csv is data set `aml` of that package (23 patients with leukaemia; Miller 1997), mgus.csv every third row of `mgus2`
# (monoclonal gammopathy; Kyle and others 2002): 1 a plasma cell malignancy, 2 death without one.
library(survival)
words <- commandArgs(trailingOnly = TRUE)
wilms <- read.csv(words[1])
wilms$time <- pmax(1, ceiling(wilms$days / 30)) * 30
wilms$group <- wilms$stage
wilms$event <- wilms$relapse
aml <- read.csv(words[2])
aml$time <- aml$weeks
aml$group <- aml$arm
aml$event <- aml$relapse

line <- function(...) {
  cells <- list(...)
  cat(paste(sapply(cells, function(x) if (is.character(x)) x else sprintf("%.15g", x)), collapse = ","), "\n", sep = "")
}

source(file.path(dirname(sub("--file=", "", grep("--file=", commandArgs(), value = TRUE))), "gehan.R"))

show <- function(case, rows, interval, until) {
  fit <- survfit(Surv(time, event) ~ group, rows, conf.type = interval)
  all <- summary(fit)
  other <- summary(survfit(Surv(time, event) ~ group, rows, conf.type = interval, stype = 2, ctype = 1)) # exp(-H)
  tables <- survival:::survmean(fit, rmean = until)$matrix
  for (group in unique(rows$group)) {
    at <- all$strata == paste0("group=", group)
    for (k in which(at))
      line(case, paste("curve", group), sprintf("%.10g", all$time[k]), all$n.risk[k], all$n.event[k], all$surv[k], all$std.err[k], all$lower[k], all$upper[k], all$cumhaz[k], all$std.chaz[k],
           -log(other$upper[k]), -log(other$lower[k]))
    one <- tables[paste0("group=", group), ]
    line(case, "groups", as.character(group), one["records"], one["events"], one["median"], one["0.95LCL"], one["0.95UCL"], one[5], one[6])
  }
  for (rho in 0:1) {
    test <- survdiff(Surv(time, event) ~ group, rows, rho = rho)
    degrees <- length(test$n) - 1
    line(case, "tests", c("log-rank", "Peto-Peto")[rho + 1], test$chisq, degrees, pchisq(test$chisq, degrees, lower.tail = FALSE))
  }
  cox <- summary(coxph(Surv(time, event) ~ factor(group), rows, ties = "breslow", control = coxph.control(eps = 1e-13, toler.chol = 1e-14, iter.max = 100)))
  for (k in seq_len(nrow(cox$coefficients)))
    line(case, "ratios", sub("factor\\(group\\)", "", rownames(cox$coefficients)[k]), cox$coefficients[k, 1], cox$coefficients[k, 3], cox$coefficients[k, 2],
         cox$conf.int[k, 3], cox$conf.int[k, 4])
  line(case, "tests", "Gehan", gehan(rows), degrees, pchisq(gehan(rows), degrees, lower.tail = FALSE))
}

cat("case,table,row\n")
show("wilms", wilms, "log", 5400)
show("aml", aml, "log", 100)
show("aml log-log", aml, "log-log", 100)
show("aml plain", aml, "plain", 100)

incidence <- function(case, rows, interval) {
  fit <- survfit(Surv(time, factor(event, 0:2)) ~ group, rows, conf.type = interval)
  all <- summary(fit)
  for (group in unique(rows$group)) {
    at <- all$strata == paste0("group=", group)
    for (k in which(at))
      line(case, paste("incidence", group), sprintf("%.10g", all$time[k]), all$pstate[k, 2], all$std.err[k, 2], all$lower[k, 2], all$upper[k, 2],
           all$pstate[k, 3], all$std.err[k, 3], all$lower[k, 3], all$upper[k, 3])
  }
}

mgus <- read.csv(words[3])
mgus$time <- pmax(1, ceiling(mgus$months / 6)) * 6
mgus$group <- mgus$sex
mgus$event <- mgus$status
incidence("mgus", mgus, "log")
incidence("mgus log-log", mgus, "log-log")
