# A study of three sites, each an R session of its own, over TLS on loopback: as the guide has it.
library(tacit)

Sys.setenv(R_TESTS = "") # of R CMD check, which the sites' sessions would look for where they are
setTimeLimit(elapsed = 300)
place <- tempfile("study")
dir.create(place, mode = "0700")
old <- setwd(place)
folder <- file.path(place, "consortium")
dir.create(folder, mode = "0700")
writeLines(c('label: {name: relapse, classes: ["no", "yes"]}', "columns:",
  "  - {name: histology, kind: category, levels: [ductal, lobular, other]}",
  "  - {name: stage, kind: category, levels: [I, II]}",
  "  - {name: age, kind: number, low: 20, high: 100}"), file.path(folder, "tumours.schema.yaml"))

rows <- function(site) {
  set.seed(site)
  patients <- data.frame(histology = factor(sample(c("ductal", "lobular", "other"), 80, TRUE)), stage = sample(c("I", "II"), 80, TRUE),
    age = round(runif(80, 30, 80), 3))
  odds <- patients$age + 20 * (patients$stage == "II") + 10 * as.integer(patients$histology) + runif(80, 0, 100)
  patients$relapse <- ifelse(odds > 145, "yes", "no")
  patients
}

con <- tacit_coordinator("consortium")
stopifnot(con$runs)
s <- tacit_study("tumours", relapse ~ histology * stage + age, sites = c("Vienna", "Graz", "Linz"), coordinator = con)
stopifnot(identical(names(s$invitations), c("Vienna", "Graz", "Linz")), identical(tacit_studies(con)$state, "recruiting"))

asked <- tacit_preview(s$invitations[["Vienna"]], home = file.path(place, "early"), write_template = "template.csv")
stopifnot(asked$study == "tumours", setequal(asked$columns$name, c("histology", "stage", "age", "relapse")), length(names(read.csv("template.csv"))) == 4)

# ---- the sites ----
saveRDS(s$invitations, "invitations.rds")
dump("rows", "rows.R")
writeLines(c("library(tacit)", "number <- as.integer(commandArgs(TRUE))", "source('rows.R')", "patients <- rows(number)",
  "site <- tacit_site(readRDS('invitations.rds')[[number]], patients, if (number == 1) 'consortium/tumours.schema.yaml', home = paste0('home', number),",
  "  allow_exact = TRUE, allow_entrusted = TRUE)", "stopifnot(isTRUE(site$document$allowed))", "model <- run(site)",
  "stopifnot(!any(grepl('csv|rows', list.files(paste0('home', number), recursive = TRUE))))"), "site.R") # nothing of the rows is written
for (number in 1:3) system2(file.path(R.home("bin"), "Rscript"), c("site.R", number), stdout = paste0("site", number, ".log"),
  stderr = paste0("site", number, ".log"), wait = FALSE)

seen <- character()
tacit_watch(s, function(status) {
  seen <<- c(seen, status$state)
  TRUE
})
if (seen[length(seen)] != "done") for (number in 1:3) writeLines(readLines(paste0("site", number, ".log")))
stopifnot(seen[length(seen)] == "done", seen[1] == "recruiting")

fit <- run(s); summary(fit); tidy(fit)

# R's own fit of all rows together.
pooled <- do.call(rbind, lapply(1:3, rows))
pooled$relapse <- factor(pooled$relapse)
own <- glm(relapse ~ histology * stage + age, binomial, pooled)
found <- tidy(fit)
at <- match(names(coef(own)), found$term)
stopifnot(!anyNA(at), max(abs(found$estimate[at] - coef(own))) < 1e-6,
  max(abs(found$std.error[at] - summary(own)$coefficients[, "Std. Error"])) < 1e-6)
stopifnot(identical(names(found), c("term", "estimate", "std.error", "statistic", "p.value", "conf.low", "conf.high")))
stopifnot(identical(rownames(summary(fit)$coefficients), found$term), inherits(fit, "tacit_model"))

# ---- what else a study has ----
stopifnot(grepl("Graz", tacit_card(fit, "card.md")), file.exists("card.md"), grepl("<html", tacit_card(fit, "card.html")))
tacit_fetch(s, "audit", "tumours.audit")
stopifnot(file.size("tumours.audit") > 1000, length(tacit_fetch(s, "rounds")$rounds) > 1)
again <- tacit_study("tumours", relapse ~ histology * stage + age, sites = c("Vienna", "Graz", "Linz"), coordinator = con)
stopifnot(length(again$invitations) == 0, identical(tidy(tacit_result(again)), found))
failing <- function(expression) tryCatch({
  expression
  "no error"
}, tacit_error = function(problem) class(problem)[1])
stopifnot(failing(tacit_pause(s)) == "tacit_usage", failing(tacit_study("nowhere", coordinator = con)) == "tacit_not_found",
  failing(tacit_study("tumours", relapse ~ age, sites = c("A", "B", "C"), coordinator = con)) == "tacit_usage",
  failing(tacit_study("other", relapse ~ age, sites = "A", coordinator = con)) == "tacit_usage")
second <- tacit_study("second", relapse ~ age, sites = c("A", "B", "C"), coordinator = con, schema = file.path(folder, "tumours.schema.yaml"), draft = TRUE)
tacit_open(second)
tacit_pause(second)
tacit_resume(second)
changed <- tacit_draft("second", relapse ~ age + stage, parties = 3, schema = file.path(folder, "tumours.schema.yaml"))
stopifnot(tacit_amend(second, changed)$version == 2)
tacit_close(second)
stopifnot(failing(run(second)) == "tacit_io")
close(con)
stopifnot(failing(tacit_studies(con)) == "tacit_usage")

# ---- sites in this session, with missing values ----
writeLines(c(readLines(file.path(folder, "tumours.schema.yaml"))[1], "missing: complete-case", readLines(file.path(folder, "tumours.schema.yaml"))[-1]),
  file.path(folder, "gaps.schema.yaml"))
con <- tacit_coordinator("consortium")
gaps <- tacit_study("gaps", relapse ~ histology * stage + age, sites = c("Vienna", "Graz", "Linz"), coordinator = con)
for (number in 1:3) {
  patients <- rows(number)
  patients$age[number + 4 * (1:5)] <- NA
  patients$histology[7] <- NA
  tacit_study_site(gaps, c("Vienna", "Graz", "Linz")[number], patients)
  rm(patients)
  gc() # the coordinator keeps what the site reads
}
here <- tidy(run(gaps))
pooled <- do.call(rbind, lapply(1:3, function(number) {
  patients <- rows(number)
  patients$age[number + 4 * (1:5)] <- NA
  patients$histology[7] <- NA
  patients
}))
pooled$relapse <- factor(pooled$relapse)
own <- glm(relapse ~ histology * stage + age, binomial, pooled)
stopifnot(max(abs(here$estimate[match(names(coef(own)), here$term)] - coef(own))) < 1e-6)
wrong <- tryCatch({
  tacit_study_site(tacit_study("gap", relapse ~ histology, sites = c("A", "B", "C"), coordinator = con, schema = file.path(folder, "gaps.schema.yaml")), "A",
    rows(1)[, c("age", "relapse")])
  ""
}, tacit_error = conditionMessage)
stopifnot(grepl("histology", wrong))

# ---- frames that are wrong: the sentence names the column and the remedy ----
writeLines(c('label: {name: relapse, classes: ["no", "yes"]}', "missing: error", "strict: yes", "columns:", "  - {name: age, kind: number, low: 20, high: 100}",
  "  - {name: stage, kind: category, levels: [I, II]}", "  - {name: day, kind: number, date: days since 2020-01-01, low: 0, high: 4000}"),
  file.path(folder, "wrong.schema.yaml"))
wrong <- tacit_study("wrong", relapse ~ age + stage + day, sites = c("A", "B", "C"), coordinator = con)
good <- data.frame(age = seq(30, 70, length.out = 40), stage = factor(rep(c("I", "II"), 20)), day = as.Date("2024-01-01") + 1:40, relapse = rep(c("no", "yes"), 20))
says <- function(change) tryCatch({
  tacit_study_site(wrong, "A", change(good))
  "no error"
}, tacit_error = conditionMessage)
cases <- list(
  "(age): 'old' is not a number" = function(x) transform(x, age = "old"), "no column 'stage' (schema); there are age, day, relapse" = function(x) x[-2],
  "(stage): 'IV' is not one of I, II: correct the value" = function(x) transform(x, stage = factor("IV")), "row 1, column 1 (age): a missing value" = function(x) transform(x, age = NA_real_),
  "row 3, column 1 (age): 'inf' is not a finite number" = function(x) { x$age[3] <- Inf; x }, "two columns are called 'age': rename one" = function(x) cbind(x, x["age"]),
  "no rows" = function(x) x[0, ], "no columns" = function(x) x[0], "column day has a date in row 2" = function(x) { x$day[2] <- as.Date(Inf, origin = "1970-01-01"); x },
  "column day has a date in row 1 that is not of the years" = function(x) transform(x, day = as.Date(1e9, origin = "1970-01-01")),
  "(day): '31/12/2024' is not a date: with slashes" = function(x) transform(x, day = "31/12/2024"), "column stage is of class list: make it" = function(x) { x$stage <- rep(list(1:2), 40); x },
  "column age is of class matrix: make it" = function(x) { x$age <- matrix(0, 40, 2); x }, "column age is of class complex: make it" = function(x) transform(x, age = 1i),
  "column age is of class difftime: make it" = function(x) transform(x, age = as.difftime(1:40, units = "days")), "row 2, column 4 (relapse): a missing value" = function(x) { x$relapse[2] <- NA; x },
  "(relapse): 'maybe' is not one of no, yes" = function(x) transform(x, relapse = "maybe"), "(stage): '1' is not one of I, II" = function(x) transform(x, stage = 1:40),
  "column age is of class raw: make it" = function(x) { x$age <- as.raw(1:40); x }, "column 1 of the data frame has no name" = function(x) { names(x)[1] <- NA; x })
for (words in names(cases)) if (!grepl(words, says(cases[[words]]), fixed = TRUE)) stop("not '", words, "' but '", says(cases[[words]]), "'")
close(con)

# ---- through an address and a token ----
con <- tacit_coordinator("consortium", dashboard = 0)
far <- tacit_coordinator(con$address, token = tacit_token(con, study = "tumours"))
stopifnot(identical(tidy(tacit_result(tacit_study("tumours", coordinator = far))), found))
stopifnot(failing(tacit_studies(far)) == "tacit_refused", failing(tacit_coordinator(con$address, token = "tacit.0.0")) == "tacit_refused")
close(far)
close(con)
setwd(old)
unlink(place, recursive = TRUE)
