# From formulas to bounded columns.
library(tacit)
design <- function(...) tacit:::design(..., response = "class", na.action = na.pass)
failure <- function(expression) tryCatch(expression, error = identity)

rows <- data.frame(y = c(0, 1, 1, 0), a = c(1, 2, NA, 4), f = factor(c("u", "v", "w", "u")), l = c(TRUE, FALSE, TRUE, TRUE))
known <- list(a = c(-1, 5), "I(a^2)" = c(0, 25))

# Factors by their levels, products by their parts.
plan <- design(y ~ a * f + l + I(a^2), rows, known, contrasts = NULL)
expected <- rbind(a = c(-1, 5), fv = c(0, 1), fw = c(0, 1), lTRUE = c(0, 1), "I(a^2)" = c(0, 25), "a:fv" = c(-1, 5), "a:fw" = c(-1, 5))
stopifnot(
  identical(unname(plan$bounds), unname(expected)), identical(rownames(plan$bounds), rownames(expected)),
  plan$intercept, plan$rows == 4, is.null(plan$read_off)
)

# Other contrasts have other ranges; without an intercept each level has a column.
sums <- design(y ~ f, rows, known, contrasts = list(f = "contr.sum"))
stopifnot(identical(unname(sums$bounds), matrix(c(-1, -1, 1, 1), 2)))
full <- design(y ~ f - 1, rows, known, contrasts = NULL)
stopifnot(!full$intercept, identical(full$columns, c("fu", "fv", "fw")), all(full$bounds[, "high"] == 1))

# A data frame of bounds says the same as a list.
table <- data.frame(name = names(known), low = c(-1, 0), high = c(5, 25))
stopifnot(identical(design(y ~ a, rows, table, contrasts = NULL)$bounds, design(y ~ a, rows, known, contrasts = NULL)$bounds))

# Each wrong thing is named.
problem <- failure(design(y ~ a + l, rows, list(b = c(0, 1)), contrasts = NULL))
stopifnot(inherits(problem, "tacit_usage"), grepl("bounds lacks a;", conditionMessage(problem), fixed = TRUE))
stopifnot(
  inherits(failure(design(y ~ a, rows, list(a = c(5, 1)), contrasts = NULL)), "tacit_usage"),
  inherits(failure(design(y ~ a, rows, c(a = 1), contrasts = NULL)), "tacit_usage"),
  inherits(failure(design(~a, rows, known, contrasts = NULL)), "tacit_usage"),
  inherits(failure(design(y ~ 1, rows, known, contrasts = NULL)), "tacit_usage"),
  identical(design(y ~ a + offset(a), rows, known, contrasts = NULL)$offset, as.double(rows$a)),
  inherits(failure(design(a ~ f, rows, known, contrasts = NULL)), "tacit_usage")
)

# A count's lower bound is the one that was declared, whatever the rows have.
counted <- function(bounds) tacit:::design(b ~ a, transform(rows, b = c(0, 7, 8, 9)), bounds, "count", na.pass, NULL)$y
stopifnot(identical(counted(list(a = c(-1, 5), b = c(5, 20)))$bounds, c(5, 20)), identical(counted(NULL)$bounds, c(0, 9)))

# What the rows themselves would decide is found.
rows$text <- c("p", "q", "p", "q")
rows$b <- 1:4
told <- design(y ~ text + poly(b, 2), rows, NULL, contrasts = NULL)$read_off
stopifnot(length(told) == 2, grepl("levels of text", told[1]), grepl("poly(b, 2)", told[2], fixed = TRUE))

# So are levels and numbers that the formula takes from all rows, wherever these are; but not what is worked out row by row.
told <- function(formula, data = rows) design(formula, data, NULL, contrasts = NULL)$read_off
middle <- 2.5
for (formula in list(
  y ~ factor(text), y ~ as.factor(b), y ~ cut(b, 3), y ~ I(b - mean(b)), y ~ I(b / max(b)), factor(text) ~ b, factor(b > 2) ~ b, y ~ rank(b),
  y ~ factor(text, levels = unique(rows$text)), y ~ I(b - mean(rows$b)), y ~ cut(b, quantile(b, 0:2 / 2), include.lowest = TRUE)
)) {
  found <- told(formula)
  call <- deparse(if (is.call(formula[[2]])) formula[[2]] else formula[[3]])
  stopifnot(length(found) == 1, grepl(call, found, fixed = TRUE))
}
for (formula in list(
  y ~ factor(text, levels = c("p", "q")), y ~ cut(b, c(0, 2, 4)), y ~ I(b - middle), y ~ log(b) + I(a^2), y ~ relevel(f, "v"), (text == "p") ~ b,
  factor(text, c("p", "q")) ~ b, rows$y ~ log(rows$b), y ~ I(cbind(b, b^2))
)) stopifnot(is.null(told(formula)))
stopifnot(is.null(told(y ~ log(b), list2env(rows))), grepl("mean", told(y ~ I(b - mean(b)), list2env(rows))))
