# A regression over three sites, whose rows are in memory; prints the coefficients.
#     Rscript study.R FOLDER
# The folder is the coordinator's, and has tumours.schema.yaml in it.
library(tacit)
source("patients.R")
sites <- c("Vienna", "Graz", "Linz")
con <- tacit_coordinator(commandArgs(TRUE)[1])
s <- tacit_study("tumours", relapse ~ histology * stage + age, sites = sites, coordinator = con)
for (number in 1:3) tacit_study_site(s, sites[number], patients(number - 1))
fit <- run(s)
close(con)
table <- tidy(fit)
cat(sprintf("%s %.17g %.17g\n", table$term, table$estimate, table$std.error), sep = "")
