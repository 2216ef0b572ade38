# The figures that methods cox and survival-exact are compared with on data sets of R's survival: lung (Loprinzi 1994), colon (Moertel 1995; deaths), rotterdam (Royston and Altman 2013;
# deaths) and pbc (Therneau and Grambsch 2000), rows with all columns that are used.
#
#     Rscript sets.R FOLDER > sets.csv       # figures of the rows in FOLDER, which is `sets` beside this file
#     Rscript sets.R --write FOLDER          # the rows
#
# sets.csv and the rows were written by R 4.2.2 with survival 3.5. Times are put on the grid that the methods use: cells of 30 days.
library(survival)
source(file.path(dirname(sub("--file=", "", grep("--file=", commandArgs(), value = TRUE))), "gehan.R"))
words <- commandArgs(trailingOnly = TRUE)
if (words[1] == "--write") {
  keep <- function(name, rows) {
    to <- gzfile(file.path(words[2], paste0(name, ".csv.gz")), "w")
    write.csv(na.omit(rows), to, row.names = FALSE, quote = FALSE)
    close(to)
  }
  keep("lung", with(lung, data.frame(days = time, died = status - 1, age, sex = c("m", "f")[sex], ecog = ph.ecog, karnofsky = ph.karno)))
  keep("colon", with(subset(colon, etype == 2), data.frame(days = time, died = status, arm = sub("[+]", "", as.character(rx)), sex = c("f", "m")[sex + 1], age, nodes, extent)))
  keep("rotterdam", with(rotterdam, data.frame(days = dtime, died = death, age, size = c("small", "middle", "large")[as.integer(size)], grade, nodes, hormon, chemo)))
  keep("pbc", with(pbc, data.frame(days = time, died = as.integer(status == 2), age = round(age, 4), edema = c("none", "some", "much")[1 + 2 * edema], bili, albumin, protime)))
  keep("ends", with(pbc, data.frame(days = time, end = status, edema = c("none", "some", "much")[1 + 2 * edema]))) # 1 a transplant, 2 death
  quit()
}
formulas <- list(lung = . ~ age + sex + ecog, colon = . ~ arm + sex + age + nodes + extent, rotterdam = . ~ age + size + grade + log(nodes + 1) + hormon + chemo,
                 pbc = . ~ age + edema + log(bili) + log(albumin) + log(protime))
levels <- list(sex = c("m", "f"), arm = c("Obs", "Lev", "Lev5FU"), size = c("small", "middle", "large"), edema = c("none", "some", "much"))
groups <- c(lung = "sex", colon = "arm", rotterdam = "size", pbc = "edema")
tight <- coxph.control(eps = 1e-13, toler.chol = 1e-14, iter.max = 60)
line <- function(...) cat(paste(sapply(list(...), function(x) if (is.character(x)) x else sprintf("%.13g", x)), collapse = "|"), "\n", sep = "")

cat("set|kind|name\n")
for (name in names(formulas)) {
  rows <- read.csv(gzfile(file.path(words[1], paste0(name, ".csv.gz"))))
  for (column in intersect(names(rows), names(levels))) rows[[column]] <- factor(rows[[column]], levels[[column]])
  rows$cell <- pmax(1, ceiling(rows$days / 30))
  formula <- update(formulas[[name]], Surv(cell, died) ~ .)
  fit <- coxph(formula, rows, control = tight)
  robust <- coxph(formula, rows, control = tight, robust = TRUE)
  table <- coef(summary(fit))
  for (k in seq_len(nrow(table))) {
    ends <- table[k, 1] + c(-1, 1) * qnorm(0.975) * table[k, 3]
    line(name, "coefficient", rownames(table)[k], table[k, 1], table[k, 3], table[k, 4], table[k, 5], ends[1], ends[2], sqrt(diag(robust$var))[k])
  }
  rows$score <- signif(predict(fit, reference = "zero"), 12) # rows that are alike may differ in the last bit
  order <- concordance(Surv(days, died) ~ score, rows, reverse = TRUE)$concordance
  line(name, "fit", "fit", -2 * fit$loglik[2], -2 * fit$loglik[1], AIC(fit), nrow(rows), sum(rows$died), order)
  base <- basehaz(fit, centered = FALSE)
  steps <- diff(c(0, base$hazard))
  for (k in which(steps > 0)) line(name, "baseline", sprintf("%g", 30 * base$time[k]), steps[k])
  for (term in attr(terms(fit), "term.labels")) {
    at <- fit$assign[[term]]
    wald <- sum(coef(fit)[at] * solve(vcov(fit)[at, at], coef(fit)[at]))
    line(name, "term", term, length(at), wald, pchisq(wald, length(at), lower.tail = FALSE))
  }
  zph <- cox.zph(fit, "km")$table
  for (k in seq_len(nrow(zph))) line(name, "trend", rownames(zph)[k], zph[k, 1], zph[k, 2], zph[k, 3])
  rows$group <- rows[[groups[[name]]]]
  rows$time <- rows$cell * 30
  curves <- survfit(Surv(time, died) ~ group, rows, conf.type = "log")
  others <- survfit(Surv(time, died) ~ group, rows, conf.type = "log-log")
  hazards <- lapply(c("log", "log-log"), function(interval) survfit(Surv(time, died) ~ group, rows, conf.type = interval, stype = 2, ctype = 1)) # exp(-H)
  until <- min(tapply(rows$time, rows$group, max))
  line(name, "until", "until", until)
  means <- survival:::survmean(curves, rmean = until)$matrix
  for (group in levels(rows$group)) {
    one <- means[paste0("group=", group), ]
    line(name, "group", group, one["records"], one["events"], one["median"], one["0.95LCL"], one["0.95UCL"], one[5], one[6])
    at <- summary(curves[which(levels(rows$group) == group)])
    other <- summary(others[which(levels(rows$group) == group)])
    bounds <- lapply(hazards, function(one) summary(one[which(levels(rows$group) == group)]))
    for (k in seq_along(at$time)) {
      line(name, paste("curve", group), sprintf("%g", at$time[k]), at$n.risk[k], at$n.event[k], at$surv[k], at$std.err[k], at$lower[k], at$upper[k], at$cumhaz[k], at$std.chaz[k],
           -log(bounds[[1]]$upper[k]), -log(bounds[[1]]$lower[k]))
      line(name, paste("log-log", group), sprintf("%g", at$time[k]), other$lower[k], other$upper[k], -log(bounds[[2]]$upper[k]), -log(bounds[[2]]$lower[k]))
    }
  }
  for (k in seq_len(nlevels(rows$group))) {
    one <- survival:::survmean(others, rmean = until)$matrix[k, ]
    line(name, "other group", levels(rows$group)[k], one["records"], one["events"], one["median"], one["0.95LCL"], one["0.95UCL"], one[5], one[6])
  }
  ratios <- summary(coxph(Surv(time, died) ~ group, rows, ties = "breslow", control = tight))
  for (k in seq_len(nrow(ratios$coefficients)))
    line(name, "ratio", levels(rows$group)[k + 1], ratios$coefficients[k, 1], ratios$coefficients[k, 3], ratios$coefficients[k, 2], ratios$conf.int[k, 3], ratios$conf.int[k, 4])
  statistic <- gehan(transform(rows, event = died))
  line(name, "test", "Gehan", statistic, nlevels(rows$group) - 1, pchisq(statistic, nlevels(rows$group) - 1, lower.tail = FALSE))
  for (rho in 0:1) {
    test <- survdiff(Surv(time, died) ~ group, rows, rho = rho)
    degrees <- length(test$n) - 1
    line(name, "test", c("log-rank", "Peto-Peto")[rho + 1], test$chisq, degrees, pchisq(test$chisq, degrees, lower.tail = FALSE))
  }
}

# Transplants and deaths of pbc as risks that compete.
ends <- read.csv(gzfile(file.path(words[1], "ends.csv.gz")))
ends$time <- pmax(1, ceiling(ends$days / 30)) * 30
ends$edema <- factor(ends$edema, levels$edema)
for (interval in c("log", "log-log")) {
  all <- summary(survfit(Surv(time, factor(end, 0:2)) ~ edema, ends, conf.type = interval))
  for (k in which(rowSums(all$n.event[, -1]) > 0))
    line("ends", interval, paste(sub("edema=", "", all$strata[k]), all$time[k]), all$pstate[k, 2], all$std.err[k, 2], all$lower[k, 2], all$upper[k, 2],
         all$pstate[k, 3], all$std.err[k, 3], all$lower[k, 3], all$upper[k, 3])
}
