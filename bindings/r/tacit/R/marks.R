# What a formula says beside its columns: strata() and cluster(), as in package survival, and random effects such as (1 | person),
# as in lme4. They are taken out of the formula, and reach the library as columns of their own.

# The parts of a sum.
summands <- function(expression) {
  if (is.call(expression) && identical(expression[[1]], as.name("+"))) return(unlist(lapply(as.list(expression)[-1], summands)))
  list(expression)
}

called <- function(expression, names) {
  is.call(expression) && deparse1(expression[[1]]) %in% c(names, paste0("survival::", names))
}

is_random <- function(expression) is.call(expression) && identical(expression[[1]], as.name("(")) && is.call(expression[[2]]) && identical(expression[[2]][[1]], as.name("|"))

# Does a mark stand anywhere in here?
holds_mark <- function(expression) {
  if (!is.call(expression)) return(FALSE)
  called(expression, c("strata", "cluster", "tt", "frailty")) || is_random(expression) || any(vapply(as.list(expression)[-1], holds_mark, NA))
}

# The formula without its marks, and the marks: expressions of strata and of clusters, and a random effect's group and slope.
marks_of <- function(formula, data) {
  side <- length(formula)
  if (!holds_mark(formula[[side]])) return(list(formula = formula))
  if (!is.data.frame(data)) usage("strata(), cluster() and random effects need a data frame")
  parts <- summands(formula[[side]])
  strata <- Filter(function(part) called(part, "strata"), parts)
  clusters <- Filter(function(part) called(part, "cluster"), parts)
  random <- Filter(is_random, parts)
  plain <- Filter(function(part) !called(part, c("strata", "cluster")) && !is_random(part), parts)
  for (part in plain)
    if (holds_mark(part)) usage(deparse1(part), " is not supported: strata(), cluster() and random effects stand by themselves in the sum, and tt() and frailty() are not known")
  if (length(clusters) > 1 || (length(clusters) == 1 && length(clusters[[1]]) != 2)) usage("cluster() names one column, once")
  if (length(random) > 1) usage("one random effect is known, such as (1 | person) or (age | person)")
  if (length(random) == 1 && length(clusters) + length(strata) > 0) usage("a random effect goes with no strata() or cluster()")
  marks <- list(strata = unlist(lapply(strata, function(call) as.list(call)[-1])), cluster = if (length(clusters) == 1) clusters[[1]][[2]], random = if (length(random) == 1) random_of(random[[1]][[2]]))
  if (is.null(marks$cluster)) marks$cluster <- marks$random$group
  if (length(plain) == 0) plain <- list(1)
  if ("." %in% unlist(lapply(plain, all.vars))) # all other columns
    for (name in unlist(lapply(c(marks$strata, marks$cluster), all.vars))) plain <- c(plain, list(call("-", as.name(name))))
  formula[[side]] <- Reduce(function(sum, part) if (called(part, "-") && length(part) == 2) call("-", sum, part[[2]]) else call("+", sum, part), plain)
  c(list(formula = formula), marks)
}

has_marks <- function(marks) length(marks$strata) > 0 || !is.null(marks$cluster)

# The group, and the column whose effect differs between groups; NULL: the intercept alone does.
random_of <- function(bar) {
  before <- summands(bar[[2]])
  slopes <- Filter(function(part) !identical(part, 1), before)
  if (length(slopes) > 1 || any(vapply(slopes, is.numeric, NA))) usage("(", deparse1(bar), "): before | stands 1, or one column, whose effect and the intercept then differ between groups")
  list(group = bar[[3]], slope = if (length(slopes) == 1) deparse1(slopes[[1]]))
}

# The columns that marks are about, of the rows of `data`: a factor of strata, with R's names of them, and a text for whose row it is.
mark_columns <- function(marks, data, environment, levels = NULL) {
  columns <- list()
  if (length(marks$strata) > 0) {
    parts <- lapply(marks$strata, function(part) {
      value <- eval(part, data, environment)
      ifelse(is.na(value), NA, paste0(deparse1(part), "=", value))
    })
    whole <- do.call(paste, c(parts, sep = ", "))
    whole[Reduce(`|`, lapply(parts, is.na))] <- NA
    columns$strata <- factor(whole, levels = if (is.null(levels)) sort(unique(whole)) else levels)
  }
  if (!is.null(marks$cluster)) columns$person <- as.character(eval(marks$cluster, data, environment))
  if (any(lengths(columns) != nrow(data))) usage("strata(), cluster() and the group of a random effect need a value for each row")
  columns
}

# The rows of `data` of which strata and persons are known.
rows_with_marks <- function(marks, data, environment) {
  if (!has_marks(marks)) return(data)
  there <- Reduce(`&`, lapply(mark_columns(marks, data, environment), Negate(is.na)))
  if (!any(there)) usage("strata() or cluster() is missing in every row")
  data[there, , drop = FALSE]
}

# The same of the rows that the model frame has kept; nothing where there are no marks.
mark_rows <- function(marks, data, environment, plan) {
  if (!has_marks(marks)) return(list())
  lapply(mark_columns(marks, data, environment), rows_kept, plan, "strata and clusters")
}

# The method, unless one is named, and its settings: what the formula asks for.
method_of <- function(formula, marks) {
  if (!is.null(marks$random)) return("mixed")
  if (is.call(formula[[2]]) && called(formula[[2]], "Surv")) return("cox")
  "plr"
}

check_marks <- function(marks, method, settings) {
  if (!is.null(marks$random) && method != "mixed") usage("random effects are for method = \"mixed\"")
  if (is.null(marks$random) && method == "mixed") usage("method mixed needs a random effect in the formula, such as (1 | person)")
  if (length(marks$strata) > 0 && !method %in% c("cox", "cox-servers")) usage("strata() is for method = \"cox\"")
  if (is.null(marks$random) && !is.null(marks$cluster)) {
    if (!method %in% c("cox", "estimate")) usage("cluster() is for methods \"cox\" and \"estimate\"")
    if (is.null(settings$errors)) settings$errors <- "cluster"
  }
  settings
}
