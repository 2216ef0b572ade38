# The figures that methods cox and survival-exact are compared with on data sets of R's survival: lung (Loprinzi 1994), colon (Moertel 1995; deaths), rotterdam (Royston and Altman 2013;
# deaths) and pbc (Therneau and Grambsch 2000), rows with all columns that are used.
#
#     Rscript sets.R FOLDER > sets.csv       # figures of the rows in FOLDER, which is `sets` beside this file
#     Rscript sets.R --write FOLDER          # the rows
#
# sets.csv and the rows were written by R 4.2.2 with survival 3.5. Times are put on the grid that the methods use: cells of 30 days.
library(survival)
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
  quit()
}
formulas <- list(lung = . ~ age + sex + ecog, colon = . ~ arm + sex + age + nodes + extent, rotterdam = . ~ age + size + grade + log(nodes + 1) + hormon + chemo,
                 pbc = . ~ age + edema + log(bili) + log(albumin) + log(protime))
levels <- list(sex = c("m", "f"), arm = c("Obs", "Lev", "Lev5FU"), size = c("small", "middle", "large"), edema = c("none", "some", "much"))
groups <- c(lung = "sex", colon = "arm", rotterdam = "size", pbc = "edema")
tight <- coxph.control(eps = 1e-13, toler.chol = 1e-14, iter.max = 60)
line <- function(...) cat(paste(sapply(list(...), function(x) if (is.character(x)) x else sprintf("%.15g", x)), collapse = "|"), "\n", sep = "")

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
  zph <- cox.zph(fit, "km")$table
  for (k in seq_len(nrow(zph))) line(name, "trend", rownames(zph)[k], zph[k, 1], zph[k, 2], zph[k, 3])
  rows$group <- rows[[groups[[name]]]]
  rows$time <- rows$cell * 30
  curves <- survfit(Surv(time, died) ~ group, rows, conf.type = "log")
  until <- min(tapply(rows$time, rows$group, max))
  line(name, "until", "until", until)
  means <- survival:::survmean(curves, rmean = until)$matrix
  for (group in levels(rows$group)) {
    one <- means[paste0("group=", group), ]
    line(name, "group", group, one["records"], one["events"], one["median"], one["0.95LCL"], one["0.95UCL"], one[5], one[6])
    last <- max(rows$time[rows$group == group & rows$died == 1 & rows$time <= 720])
    at <- summary(curves[which(levels(rows$group) == group)], times = last)
    line(name, paste("curve", group), sprintf("%g", last), at$n.risk, sum(rows$died[rows$group == group & rows$time == last]), at$surv, at$std.err, at$lower, at$upper, at$cumhaz, at$std.chaz)
  }
  for (rho in 0:1) {
    test <- survdiff(Surv(time, died) ~ group, rows, rho = rho)
    degrees <- length(test$n) - 1
    line(name, "test", c("log-rank", "Peto-Peto")[rho + 1], test$chisq, degrees, pchisq(test$chisq, degrees, lower.tail = FALSE))
  }
}
