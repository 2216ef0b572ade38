# Methods, simulations, audits, and interrupts.
library(tacit)
failure <- function(expression) tryCatch(expression, error = identity)

methods <- tacit_methods()
stopifnot(all(c("plr", "estimate", "avg") %in% methods$name), "loss" %in% attr(methods, "settings")$plr$name)
print(methods)

# A function for each method has its settings as arguments.
known <- Filter(nrow, attr(methods, "settings"))
for (name in names(known)) {
  arguments <- formals(get(paste0(gsub("-", "_", name), "_settings")))
  stopifnot(identical(sub("_$", "", names(arguments)), gsub("-", "_", known[[name]]$name)))
  stopifnot(all(vapply(arguments, function(usual) paste(format(usual), collapse = ", "), "") == known[[name]]$default))
}
stopifnot(length(plr_settings()) == 0, identical(plr_settings(loss = "huber"), list(loss = "huber")))
stopifnot(identical(names(pst_s_settings(high_lambda = 1)), "high-lambda"))
stopifnot(tacit_explain("plr", epsilon = 0.5, settings = plr_settings(loss = "huber"))$charged$epsilon == 0.5)

told <- tacit_explain("plr", epsilon = 0.5)
stopifnot(told$charged$epsilon == 0.5, any(grepl("unit ball", capture.output(print(told)))))
stopifnot(inherits(failure(tacit_explain("no-such-method")), "tacit_usage"))
stopifnot(tacit_explain("gop")$charged$delta == 1e-5, tacit_explain("plr")$charged$delta == 0)

holds <- tacit_audit("plr", epsilon = 1, runs = 4000, seed = 1)
broken <- tacit_audit("laplace-halved", epsilon = 1, runs = 20000, seed = 1)
stopifnot(holds$verdict != "broken", holds$epsilon_lower < 1, broken$verdict == "broken", broken$epsilon_lower > 1)
print(broken)

simulate <- function(...) tacit_simulate(diagnosis ~ ., breast_cancer, ..., bounds = breast_cancer_bounds, lambda = 0.05)
sweep <- simulate(c("batch", "avg"), epsilon = c(1, 10), parties = 5, seed = 1, trials = 3)
print(sweep)
runs <- as.data.frame(sweep)
stopifnot(nrow(runs) == 3, setequal(runs$method, c("batch", "avg")), all(runs$accuracy > 0.5), Inf %in% runs$epsilon, sweep$seed == 1)
stopifnot(identical(runs$accuracy, simulate(c("batch", "avg"), epsilon = c(1, 10), parties = 5, seed = 1, trials = 3)$runs$accuracy))

# A method that refuses keeps the others from nothing.
said <- NULL
some <- withCallingHandlers(simulate(c("batch", "vote"), epsilon = 1, parties = 5, seed = 1),
  warning = function(told) { said <<- conditionMessage(told); invokeRestart("muffleWarning") })
stopifnot(grepl("vote needs public auxiliary points", said), some$runs$accuracy[some$runs$method == "batch"] > 0.5,
  is.na(some$runs$accuracy[some$runs$method == "vote"]))

# Whose row is whose; rows to test on; the model that was made.
clinic <- rep(c("north", "south", "west"), length.out = 569)
held <- seq(1, 569, by = 4)
one <- tacit_simulate(diagnosis ~ ., breast_cancer[-held, ], "avg", epsilon = 10, parties = clinic[-held], test = breast_cancer[held, ],
  bounds = breast_cancer_bounds, lambda = 0.05, seed = 1)
right <- mean(predict(one$model, breast_cancer[held, ], type = "class") == breast_cancer$diagnosis[held])
stopifnot(nrow(one$runs) == 1, abs(one$runs$accuracy - right) < 1e-12)

# Ctrl-C is an interrupt, however long the call would be.
stopped <- tryCatch({
  tools::pskill(Sys.getpid(), tools::SIGINT)
  tacit_audit("avg", epsilon = 1, runs = 1e9)
  "not noticed"
}, interrupt = function(condition) "stopped")
stopifnot(stopped == "stopped")

# A plan says what the program says, and its table has the figures that apply.
schema <- tempfile(fileext = ".yaml")
writeLines(c("label: {name: y, kind: number, low: 0, high: 300}", "columns: [{name: a, kind: number, low: 0, high: 1}]"), schema)
plan <- tacit_plan(schema = schema, parties = 10, rows = 1000, epsilon = 3, methods = "dpnewton", signal = 0.5, brief = TRUE)
stopifnot(plan$recommended == "dpnewton", plan$signal == 0.5, abs(plan$pooled$explained$mean - 0.5) < 0.1)
table <- as.data.frame(plan)
stopifnot(identical(table$method, c("a site alone", "all rows pooled", "dpnewton")), identical(names(table), c("method", "explained", "deviance", "verdict")))
stopifnot(any(grepl("Best: dpnewton", utils::capture.output(print(plan)))))
stopifnot(inherits(failure(tacit_plan(schema = schema, parties = 10)), "tacit_usage"))
