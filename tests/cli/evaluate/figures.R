# R's figures of scores that were moved to the middles of cells: pROC for the area with DeLong's interval, glm for
# calibration, and the rest by its definition. Prints case,name,value.
#
#   Rscript figures.R CASE FILE [CASE FILE ...]        FILE: columns y (0 or 1) and p; or response and mean
suppressMessages(library(pROC))
words <- commandArgs(trailingOnly = TRUE)
tight <- glm.control(epsilon = 1e-14, maxit = 100)
put <- function(case, name, value) cat(sprintf("%s,%s,%.15g\n", case, name, value))
error_of_mean <- function(x) sqrt((mean(x^2) - mean(x)^2) / length(x))
# Wald's interval of the mean of x, within the bounds that it has.
interval_of_mean <- function(case, name, t, x, least = 0, most = 1) {
  ends <- mean(x) + c(-1, 1) * qnorm(0.975) * error_of_mean(x)
  put(case, paste0(name, "_low@", t), max(least, ends[1]))
  put(case, paste0(name, "_high@", t), min(most, ends[2]))
}
classes <- function(case, y, p) {
  curve <- roc(y, p, levels = c(0, 1), direction = "<", quiet = TRUE)
  interval <- ci.auc(curve, method = "delong")
  put(case, "auc", as.numeric(curve$auc))
  put(case, "auc_low", interval[1])
  put(case, "auc_high", interval[3])
  put(case, "brier", mean((p - y)^2))
  put(case, "brier_error", error_of_mean((p - y)^2))
  loss <- -(y * log(p) + (1 - y) * log(1 - p))
  put(case, "log_loss", mean(loss))
  put(case, "log_loss_error", error_of_mean(loss))
  x <- qlogis(p)
  line <- summary(glm(y ~ x, family = binomial, control = tight))$coefficients
  put(case, "calibration_intercept", line[1, 1])
  put(case, "calibration_slope", line[2, 1])
  put(case, "calibration_slope_error", line[2, 2])
  put(case, "calibration_in_the_large", coef(glm(y ~ 1 + offset(x), family = binomial, control = tight))[[1]])
  for (t in c(0.1, 0.2, 0.5)) {
    at <- coords(curve, t, input = "threshold", ret = c("sensitivity", "specificity", "ppv", "npv"), transpose = FALSE)
    for (name in names(at)) put(case, paste0(name, "@", t), at[[name]])
    put(case, paste0("net_benefit@", t), mean(y == 1 & p >= t) - mean(y == 0 & p >= t) * t / (1 - t))
    flagged <- p >= t
    interval_of_mean(case, "sensitivity", t, flagged[y == 1])
    interval_of_mean(case, "specificity", t, !flagged[y == 0])
    interval_of_mean(case, "ppv", t, y[flagged] == 1)
    interval_of_mean(case, "npv", t, y[!flagged] == 0)
    interval_of_mean(case, "net_benefit", t, (y == 1 & flagged) - (y == 0 & flagged) * t / (1 - t), -Inf, Inf)
  }
}
numbers <- function(case, y, m) {
  put(case, "mse", mean((y - m)^2))
  put(case, "mae", mean(abs(y - m)))
  put(case, "sd", sd(y))
  put(case, "r_squared", 1 - sum((y - m)^2) / sum((y - mean(y))^2))
  put(case, "correlation", cor(y, m))
  line <- coef(lm(y ~ m))
  put(case, "calibration_intercept", line[[1]])
  put(case, "calibration_slope", line[[2]])
}
cat("case,name,value\n")
for (i in seq(1, length(words), by = 2)) {
  rows <- read.csv(words[i + 1])
  if ("p" %in% names(rows)) classes(words[i], rows$y, rows$p) else numbers(words[i], rows$response, rows$mean)
}
