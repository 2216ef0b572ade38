# A regression over three sites: prints an invitation for each, waits for them, prints the coefficients.
#     Rscript study.R FOLDER SCHEMA
library(tacit)
words <- commandArgs(TRUE)
con <- tacit_coordinator(words[1])
s <- tacit_study("tumours", relapse ~ histology * stage + age, sites = c("Vienna", "Graz", "Linz"), coordinator = con, schema = words[2])
for (site in names(s$invitations)) cat(site, " ", s$invitations[[site]], "\n", sep = "")
flush(stdout())
fit <- run(s)
close(con)
table <- tidy(fit)
cat(sprintf("%s %.17g %.17g\n", table$term, table$estimate, table$std.error), sep = "")
