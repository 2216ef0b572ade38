# A model without each fold, by glm, and the scores that it gives to the fold's rows. Writes what evaluate/figures.R
# reads: outcomes and scores at the middles of 1,000 cells; of a number its response and prediction.
#
#   Rscript folds.R FORMULA FAMILY ROWS OUT      ROWS has a column fold; FAMILY is binomial or gaussian
words <- commandArgs(trailingOnly = TRUE)
rows <- read.csv(words[3], na.strings = c("", "NA"))
model <- as.formula(words[1])
rows <- rows[!is.na(rows$fold), ]
tight <- glm.control(epsilon = 1e-14, maxit = 100)
score <- rep(NA, nrow(rows))
for (k in unique(rows$fold)) {
  fit <- glm(model, family = words[2], data = rows[rows$fold != k, ], control = tight)
  score[rows$fold == k] <- predict(fit, rows[rows$fold == k, ], type = "response")
}
y <- eval(model[[2]], rows)
if (words[2] == "binomial") {
  out <- data.frame(y = as.integer(y), p = (pmin(floor(score * 1000), 999) + 0.5) / 1000)
} else {
  out <- data.frame(response = y, mean = score)
}
write.csv(format(out, digits = 17), words[4], row.names = FALSE, quote = FALSE)
