# What R says of the example sets: set,what,row,column,value. Rscript describe.R wilms.csv lung.csv
args <- commandArgs(TRUE)
put <- function(...) cat(paste(..., sep = ","), "\n", sep = "")
number <- function(x) format(x, digits = 17)
# Eighths of the bounds of a column, as the schemas of the test have them; the last one with its upper end.
bounds <- list(
  wilms = list(unfavourable = c(0, 1), late_unfavourable = c(0, 1), age = c(0, 240), study = c(3, 4)),
  lung = list(age = c(18, 100), karnofsky = c(0, 100), karnofsky_patient = c(0, 100), calories = c(0, 4000), weight_loss = c(-50, 100)),
  liver = list(age = c(20, 90), bili = c(0, 40), chol = c(0, 2000), albumin = c(1, 6), copper = c(0, 600)))
histogram <- function(set, name, x, row) {
  edges <- seq(bounds[[set]][[name]][1], bounds[[set]][[name]][2], length.out = 9)
  counts <- hist(x[!is.na(x)], edges, right = FALSE, include.lowest = TRUE, plot = FALSE)$counts
  for (k in 1:8) put(set, "histograms", sprintf("%s: %.6g to %.6g", row, edges[k], edges[k + 1]), "count", counts[k])
}
shares <- c(.05, .1, .2, .25, .3, .4, .5, .6, .7, .75, .8, .9, .95)
# Of the rows themselves, which a report comes near to; and of their counts in 256 cells, rows being spread evenly over each, which it has.
quantiles <- function(set, name, x, row) {
  x <- x[!is.na(x)]
  low <- bounds[[set]][[name]][1]
  high <- bounds[[set]][[name]][2]
  counts <- tabulate(1 + pmin(floor((x - low) / (high - low) * 256), 255), 256)
  gridded <- sapply(shares * length(x), function(rows) {
    k <- which(cumsum(counts) >= rows)[1] # the cell in which so many rows are reached
    low + (high - low) * (k - (sum(counts[1:k]) - rows) / counts[k]) / 256
  })
  for (k in seq_along(shares)) {
    put(set, "quantiles", row, paste0(100 * shares[k], "%"), number(quantile(x, shares[k], type = 1)[[1]]))
    put(set, "gridded", row, paste0(100 * shares[k], "%"), number(gridded[k]))
  }
}
for (file in args) {
  set <- sub("\\.csv$", "", basename(file))
  rows <- read.csv(file, na.strings = "", colClasses = "character")
  label <- names(rows)[ncol(rows)]
  categories <- c(intersect(c("stage", "sex", "ecog"), names(rows)), label)
  for (name in names(rows)) {
    if (name %in% categories) {
      counts <- table(rows[[name]])
      for (level in names(counts)) put(set, "levels", paste0(name, "=", level), "count", counts[[level]])
      put(set, "levels", paste0(name, "=", names(counts)[1]), "share", number(counts[[1]] / nrow(rows)))
      if (name == label) next
      put(set, "levels", paste0(name, "=(missing)"), "count", sum(is.na(rows[[name]])))
      for (value in unique(rows[[label]])) {
        part <- table(factor(rows[[name]], names(counts))[rows[[label]] == value], useNA = "always")
        names(part)[length(part)] <- "(missing)"
        for (level in names(part)) {
          row <- paste0(name, "=", level, " [", label, "=", value, "]")
          put(set, "levels", row, "count", part[[level]])
          put(set, "levels", row, "share", number(part[[level]] / sum(part)))
        }
      }
    } else {
      x <- as.numeric(rows[[name]])
      put(set, "numbers", name, "count", sum(!is.na(x)))
      put(set, "numbers", name, "missing", sum(is.na(x)))
      put(set, "numbers", name, "mean", number(mean(x, na.rm = TRUE)))
      put(set, "numbers", name, "sd", number(sd(x, na.rm = TRUE)))
      histogram(set, name, x, name)
      for (value in unique(rows[[label]])) {
        part <- x[rows[[label]] == value]
        row <- paste0(name, " [", label, "=", value, "]")
        put(set, "numbers", row, "mean", number(mean(part, na.rm = TRUE)))
        put(set, "numbers", row, "sd", number(sd(part, na.rm = TRUE)))
        put(set, "numbers", row, "count", sum(!is.na(part)))
        put(set, "numbers", row, "missing", sum(is.na(part)))
        histogram(set, name, part, row)
        quantiles(set, name, part, row)
      }
      quantiles(set, name, x, name)
    }
  }
  for (name in setdiff(categories, label)) {
    whole <- table(rows[[name]], rows[[label]], useNA = "ifany")
    rownames(whole)[is.na(rownames(whole))] <- "(missing)"
    for (level in rownames(whole)) for (value in colnames(whole)) put(set, paste0("cross:", name, "*", label), level, value, whole[level, value])
    counts <- table(rows[[name]], rows[[label]])
    plain <- suppressWarnings(chisq.test(counts, correct = FALSE))
    row <- paste0(name, "*", label)
    put(set, "tests", row, "chi-square", number(plain$statistic[[1]]))
    put(set, "tests", row, "df", plain$parameter[[1]])
    put(set, "tests", row, "p", number(plain$p.value))
    if (all(dim(counts) == 2)) {
      yates <- suppressWarnings(chisq.test(counts))
      put(set, "tests", row, "chi-square (Yates)", number(yates$statistic[[1]]))
      put(set, "tests", row, "p (Yates)", number(yates$p.value))
    }
  }
}
