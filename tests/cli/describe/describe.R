# What R says of the example sets: set,what,row,column,value. Rscript describe.R wilms.csv lung.csv
args <- commandArgs(TRUE)
put <- function(...) cat(paste(..., sep = ","), "\n", sep = "")
number <- function(x) format(x, digits = 17)
for (file in args) {
  set <- sub("\\.csv$", "", basename(file))
  rows <- read.csv(file, na.strings = "", colClasses = "character")
  label <- names(rows)[ncol(rows)]
  categories <- c(intersect(c("stage", "sex", "ecog"), names(rows)), label)
  for (name in names(rows)) {
    if (name %in% categories) {
      counts <- table(rows[[name]])
      for (level in names(counts)) put(set, "levels", paste0(name, "=", level), "count", counts[[level]])
      if (name != label) put(set, "levels", paste0(name, "=(missing)"), "count", sum(is.na(rows[[name]])))
    } else {
      x <- as.numeric(rows[[name]])
      put(set, "numbers", name, "count", sum(!is.na(x)))
      put(set, "numbers", name, "missing", sum(is.na(x)))
      put(set, "numbers", name, "mean", number(mean(x, na.rm = TRUE)))
      put(set, "numbers", name, "sd", number(sd(x, na.rm = TRUE)))
      for (value in unique(rows[[label]])) {
        part <- x[rows[[label]] == value]
        row <- paste0(name, " [", label, "=", value, "]")
        put(set, "numbers", row, "mean", number(mean(part, na.rm = TRUE)))
        put(set, "numbers", row, "sd", number(sd(part, na.rm = TRUE)))
      }
      for (p in c(.05, .1, .2, .25, .3, .4, .5, .6, .7, .75, .8, .9, .95))
        put(set, "quantiles", name, paste0(100 * p, "%"), number(quantile(x, p, na.rm = TRUE, type = 1)[[1]]))
    }
  }
  for (name in setdiff(categories, label)) {
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
