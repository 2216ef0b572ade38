# The figures that linking files are compared with: rows from tmerge, survSplit and reshape, and estimates from coxph and geeglm on these rows.
#
#     Rscript linking.R EXAMPLES > linking.csv
#
# linking.csv beside this file was written by R 4.2.2 with survival 3.5 and geepack 1.3.9. A table is told by its number of rows and, of each column, the sum of its values and the
# sum of its values times the number of the row, missing ones counting as -1.
suppressMessages({library(survival); library(geepack)})
folder <- commandArgs(trailingOnly = TRUE)[1]
people <- read.csv(file.path(folder, "pbc_people.csv"))
visits <- read.csv(file.path(folder, "pbc_visits.csv"))
wide <- read.csv(file.path(folder, "sleep_wide.csv"))
line <- function(...) cat(paste(sapply(list(...), function(x) if (is.character(x)) x else sprintf("%.15g", x)), collapse = ","), "\n", sep = "")
table.of <- function(case, rows, columns) {
  line(case, "rows", nrow(rows), 0)
  for (name in names(columns)) {
    x <- rows[[columns[[name]]]]
    x[is.na(x)] <- -1
    line(case, name, sum(x), sum(x * seq_along(x)))
  }
}
follow <- function() tmerge(people, people, id = id, event = event(days, died))
cat("case,name,a,b\n")

times <- c(start = "tstart", stop = "tstop", died = "event", id = "id", age = "age")
values <- c(ascites = "ascites", bili = "bili", albumin = "albumin", protime = "protime")
pieces <- follow()
for (name in values) pieces <- eval(parse(text = sprintf("tmerge(pieces, visits, id = id, %s = tdc(day, %s))", name, name)))
table.of("pieces", pieces, c(times, values))

# A value expires 200 days after its visit: a row without one, unless there is a visit before that.
after <- c(ifelse(head(visits$id, -1) == tail(visits$id, -1), tail(visits$day, -1), Inf), Inf)
expiries <- with(visits[after > visits$day + 200, ], data.frame(id = id, day = day + 200, bili = NA))
both <- rbind(visits[, c("id", "day", "bili")], expiries)
both <- both[order(both$id, both$day), ]
table.of("carry", tmerge(follow(), both, id = id, bili = tdc(day, bili), options = list(na.rm = FALSE)), c(times, bili = "bili"))

swollen <- subset(visits, ascites == 1)
table.of("since", tmerge(follow(), swollen[!duplicated(swollen$id), ], id = id, swollen = tdc(day)), c(times, swollen = "swollen"))

parts <- survSplit(Surv(days, died) ~ ., people, cut = c(365, 1000, 2000), episode = "part", start = "start", end = "stop")
table.of("cut", parts, c(start = "start", stop = "stop", died = "died", id = "id", part = "part"))

# At each visit, the albumin of an earlier or the same visit, not older than 400 days, of those visits with an even day.
even <- subset(visits, day %% 2 == 0)
visits$earlier <- mapply(function(who, when) {
  found <- subset(even, id == who & day <= when & !is.na(albumin))
  if (nrow(found) > 0 && when - max(found$day) <= 400) found$albumin[which.max(found$day)] else NA
}, visits$id, visits$day)
table.of("earlier", visits, c(day = "day", bili = "bili", earlier = "earlier"))

long <- reshape(wide, direction = "long", varying = list(2:11), v.names = "reaction", timevar = "day", times = 0:9, idvar = "subject")
table.of("long", long[order(long$subject, long$day), ], c(subject = "subject", day = "day", reaction = "reaction"))

show <- function(case, table, at) for (name in rownames(table)) line(case, name, table[name, 1], table[name, at])
tight <- coxph.control(eps = 1e-13, toler.chol = 1e-14, iter.max = 60)
fit <- coxph(Surv(tstart, tstop, event) ~ log(bili) + log(protime) + age, pieces, control = tight)
show("cox", coef(summary(fit)), 3)
fit <- coxph(Surv(tstart, tstop, event) ~ log(bili) + log(protime) + age + cluster(id), pieces, control = tight)
show("cox cluster", coef(summary(fit)), 4)
# In months: of the visits in a month the last counts, from the month after it on.
months <- transform(people, days = ceiling(days / 30.4375))
monthly <- transform(visits, day = ceiling(day / 30.4375))
monthly <- monthly[!duplicated(monthly[, c("id", "day")], fromLast = TRUE), ]
cells <- tmerge(months, months, id = id, event = event(days, died))
cells <- tmerge(cells, monthly, id = id, bili = tdc(day, bili), protime = tdc(day, protime))
show("cox months", coef(summary(coxph(Surv(tstart, tstop, event) ~ log(bili) + log(protime) + age, cells, control = tight))), 3)
visits <- merge(visits, people, by = "id")
visits$sex <- factor(visits$sex, c("m", "f"))
visits <- visits[order(visits$id, visits$day), ]
fit <- geeglm(bili ~ day + sex + age + albumin, id = id, data = visits, corstr = "independence", control = geese.control(epsilon = 1e-14, maxit = 200))
show("gee", coef(summary(fit)), 2)
