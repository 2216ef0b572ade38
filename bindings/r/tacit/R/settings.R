# The settings of each method as the arguments of a function.
# Written by script/docs --reference from the program's tables. Change the tables, not this file.

# What is not as the function has it by default.
changed <- function(given, usual) given[!mapply(identical, given, usual)]

avg_settings <- function(noise = "coordinator", unit = "record", calibration = "tight", law = "gamma-norm", loss = "auto", width = 0.5) {
  changed(list(noise = noise, unit = unit, calibration = calibration, law = law, loss = loss,
    width = width), lapply(formals(avg_settings), eval))
}

output_settings <- function(loss = "logistic", width = 0.5, calibration = "tight") {
  changed(list(loss = loss, width = width, calibration = calibration), lapply(formals(output_settings), eval))
}

plr_settings <- function(loss = "logistic", width = 0.5, calibration = "tight", candidates = "none", select = "none") {
  changed(list(loss = loss, width = width, calibration = calibration, candidates = candidates,
    select = select), lapply(formals(plr_settings), eval))
}

gop_settings <- function(loss = "logistic", width = 0.5, calibration = "tight") {
  changed(list(loss = loss, width = width, calibration = calibration), lapply(formals(gop_settings), eval))
}

pst_s_settings <- function(blocks = 5, combiner = "high", low = 0.5, high_lambda = 0, meta = "centred", loss = "logistic", width = 0.5,
                           calibration = "tight", candidates = "none", select = "none", members = "plr", depth = 0, columns = 0) {
  changed(list(blocks = blocks, combiner = combiner, low = low, `high-lambda` = high_lambda, meta = meta, loss = loss, width = width,
    calibration = calibration, candidates = candidates, select = select, members = members, depth = depth,
    columns = columns), lapply(formals(pst_s_settings), eval))
}

pst_f_settings <- function(groups = 5, importance = "uniform", group_lambda = "lambda", rows = "scale", draw = 0, combiner = "high",
                           low = 0.5, high_lambda = 0, meta = "centred", loss = "logistic", width = 0.5, calibration = "tight",
                           candidates = "none", select = "none") {
  changed(list(groups = groups, importance = importance, `group-lambda` = group_lambda, rows = rows, draw = draw, combiner = combiner,
    low = low, `high-lambda` = high_lambda, meta = meta, loss = loss, width = width, calibration = calibration, candidates = candidates,
    select = select), lapply(formals(pst_f_settings), eval))
}

pst_h_settings <- function(sources = 1, source_epsilon = 0, source_lambda = 0, groups = 5, importance = "uniform", group_lambda = "lambda",
                           rows = "scale", draw = 0, combiner = "high", low = 0.5, high_lambda = 0, meta = "centred", loss = "logistic",
                           width = 0.5, calibration = "tight", eta = 0) {
  changed(list(sources = sources, `source-epsilon` = source_epsilon, `source-lambda` = source_lambda, groups = groups,
    importance = importance, `group-lambda` = group_lambda, rows = rows, draw = draw, combiner = combiner, low = low,
    `high-lambda` = high_lambda, meta = meta, loss = loss, width = width, calibration = calibration,
    eta = eta), lapply(formals(pst_h_settings), eval))
}

vote_settings <- function(local = "logistic", local_lambda = 0.0001, calibration = "tight", aux_private = "no") {
  changed(list(local = local, local_lambda = local_lambda, calibration = calibration,
    aux_private = aux_private), lapply(formals(vote_settings), eval))
}

soft_settings <- function(local = "logistic", local_lambda = 0.0001, calibration = "tight", aux_private = "no") {
  changed(list(local = local, local_lambda = local_lambda, calibration = calibration,
    aux_private = aux_private), lapply(formals(soft_settings), eval))
}

soft_stat_settings <- function(local = "logistic", local_lambda = 0.0001, law = "auto") {
  changed(list(local = local, local_lambda = local_lambda, law = law), lapply(formals(soft_stat_settings), eval))
}

pate_settings <- function(local = "logistic", local_lambda = 0.0001, queries = 200) {
  changed(list(local = local, local_lambda = local_lambda, queries = queries), lapply(formals(pate_settings), eval))
}

dpnewton_settings <- function(rounds = 0, rows = 0, noise = "shares", unit = "record", person_rows = 4, purpose = "prediction",
                              moments = "new", folds = 0, fold_seed = 1, line = "asked", widths = "narrow", missing_counts = 0.02) {
  changed(list(rounds = rounds, rows = rows, noise = noise, unit = unit, `person-rows` = person_rows, purpose = purpose, moments = moments,
    folds = folds, fold_seed = fold_seed, line = line, widths = widths,
    missing_counts = missing_counts), lapply(formals(dpnewton_settings), eval))
}

dpgd_settings <- function(rounds = 0, noise = "coordinator", unit = "record", missing_counts = 0.02, schedule = "even", loss = "auto",
                          width = 0.5) {
  changed(list(rounds = rounds, noise = noise, unit = unit, missing_counts = missing_counts, schedule = schedule, loss = loss,
    width = width), lapply(formals(dpgd_settings), eval))
}

dptree_settings <- function(depth = 0, cells = 0, columns = 0, rows = 0, noise = "shares") {
  changed(list(depth = depth, cells = cells, columns = columns, rows = rows, noise = noise), lapply(formals(dptree_settings), eval))
}

psgd_settings <- function(rounds = 100, noise = "both", calibration = "tight", fixed_noise = "shared", schedule = "even") {
  changed(list(rounds = rounds, noise = noise, calibration = calibration, fixed_noise = fixed_noise,
    schedule = schedule), lapply(formals(psgd_settings), eval))
}

dpiw_settings <- function(project = "none", lambda_iw = 0.05, law = "auto", calibration = "tight") {
  changed(list(project = project, lambda_iw = lambda_iw, law = law, calibration = calibration), lapply(formals(dpiw_settings), eval))
}

dphtl_settings <- function(project = "none", lambda_iw = 0.05, law = "auto", calibration = "tight", labelled = 0.4, hypothesis = "output",
                           model = "dphtl", prior = "aware", target_labels = 0.05, floor = 0.01) {
  changed(list(project = project, lambda_iw = lambda_iw, law = law, calibration = calibration, labelled = labelled, hypothesis = hypothesis,
    model = model, prior = prior, target_labels = target_labels, floor = floor), lapply(formals(dphtl_settings), eval))
}

dpsgd_settings <- function(hidden = "32", activation = "tanh", epochs = 10, sampling = 0.05, clip = 0, noise = "coordinator",
                           optimiser = "sgd", rate = 0, schedule = "chosen", momentum = 0.9, scale = 0, weights = "none", keep = 1,
                           upload = "full", patience = 0, shape = "none") {
  changed(list(hidden = hidden, activation = activation, epochs = epochs, sampling = sampling, clip = clip, noise = noise,
    optimiser = optimiser, rate = rate, schedule = schedule, momentum = momentum, scale = scale, weights = weights, keep = keep,
    upload = upload, patience = patience, shape = shape), lapply(formals(dpsgd_settings), eval))
}

dpstgd_settings <- function(hidden = "50,20", activation = "tanh", rounds = 100, sampling = 0.01, keep = 0.1, clip = 0.01, rate = 1,
                            schedule = "constant", scale = 0, calibration = "tight", shape = "none") {
  changed(list(hidden = hidden, activation = activation, rounds = rounds, sampling = sampling, keep = keep, clip = clip, rate = rate,
    schedule = schedule, scale = scale, calibration = calibration, shape = shape), lapply(formals(dpstgd_settings), eval))
}

estimate_settings <- function(family = "auto", optimiser = "newton", level = 0.95, bias = "none", errors = "model", influence = "no",
                              impute = 20, anova = "none", intercepts = "common", folds = 0, fold_seed = 1, rounds = "many", start = "zero") {
  changed(list(family = family, optimiser = optimiser, level = level, bias = bias, errors = errors, influence = influence, impute = impute,
    anova = anova, intercepts = intercepts, folds = folds, fold_seed = fold_seed, rounds = rounds,
    start = start), lapply(formals(estimate_settings), eval))
}

meta_settings <- function(family = "auto", tau = "DL", level = 0.95, bias = "none", errors = "model", forest = "no", missing = "counted") {
  changed(list(family = family, tau = tau, level = level, bias = bias, errors = errors, forest = forest,
    missing = missing), lapply(formals(meta_settings), eval))
}

mixed_settings <- function(family = "auto", group = "person", slope = "none", likelihood = "ML", nodes = 25, level = 0.95,
                           missing = "counted") {
  changed(list(family = family, group = group, slope = slope, likelihood = likelihood, nodes = nodes, level = level,
    missing = missing), lapply(formals(mixed_settings), eval))
}

cox_settings <- function(width = 0, ties = "efron", strata = "none", least = 10, level = 0.95, errors = "model", proportional = "none",
                         unit = "label", concordance = "no", missing = "counted") {
  changed(list(width = width, ties = ties, strata = strata, least = least, level = level, errors = errors, proportional = proportional,
    unit = unit, concordance = concordance, missing = missing), lapply(formals(cox_settings), eval))
}

dpcox_settings <- function(noise = "shares", width = 0, level = 0.95, rows = 0, unit = "label", missing_counts = 0.02) {
  changed(list(noise = noise, width = width, level = level, rows = rows, unit = unit,
    missing_counts = missing_counts), lapply(formals(dpcox_settings), eval))
}

survival_settings <- function(noise = "shares", width = 0, by = "none", level = 0.95, interval = "log", until = 0) {
  changed(list(noise = noise, width = width, by = by, level = level, interval = interval,
    until = until), lapply(formals(survival_settings), eval))
}

survival_exact_settings <- function(width = 0, by = "none", least = 10, level = 0.95, interval = "log", until = 0, unit = "label",
                                    missing = "counted") {
  changed(list(width = width, by = by, least = least, level = level, interval = interval, until = until, unit = unit,
    missing = missing), lapply(formals(survival_exact_settings), eval))
}

describe_settings <- function(noise = "shares", threshold = 10, by = "none", cross = "none", cells = 0, sites = "together",
                              missing = "plain") {
  changed(list(noise = noise, threshold = threshold, by = by, cross = cross, cells = cells, sites = sites,
    missing = missing), lapply(formals(describe_settings), eval))
}

describe_exact_settings <- function(threshold = 10, by = "none", cross = "none", sites = "together", missing = "plain") {
  changed(list(threshold = threshold, by = by, cross = cross, sites = sites,
    missing = missing), lapply(formals(describe_exact_settings), eval))
}

evaluate_settings <- function(cells = 0, groups = 10, least = 5, level = 0.95, by = "none",
                              thresholds = "0.05,0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,0.9", noise = "shares", law = "auto", sites = "together",
                              missing_counts = 0.02) {
  changed(list(cells = cells, groups = groups, least = least, level = level, by = by, thresholds = thresholds, noise = noise, law = law,
    sites = sites, missing_counts = missing_counts), lapply(formals(evaluate_settings), eval))
}

evaluate_exact_settings <- function(cells = 0, groups = 10, least = 5, level = 0.95, by = "none",
                                    thresholds = "0.05,0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,0.9", sites = "together", missing = "counted") {
  changed(list(cells = cells, groups = groups, least = least, level = level, by = by, thresholds = thresholds, sites = sites,
    missing = missing), lapply(formals(evaluate_exact_settings), eval))
}

histogram_settings <- function(cells = 0, noise = "coordinator", negative = "project", label_cells = 0, loss = "auto", width = 0.5) {
  changed(list(cells = cells, noise = noise, negative = negative, label_cells = label_cells, loss = loss,
    width = width), lapply(formals(histogram_settings), eval))
}

consensus_settings <- function(graph = "geometric", draw = 1, rounds = 1000, step = "auto", weigh = "rows", links = 1, leave = 0, away = 10,
                               drift = 0, schedule = "diminishing", loss = "auto", delay = 0) {
  changed(list(graph = graph, draw = draw, rounds = rounds, step = step, weigh = weigh, links = links, leave = leave, away = away,
    drift = drift, schedule = schedule, loss = loss, delay = delay), lapply(formals(consensus_settings), eval))
}

gossip_settings <- function(graph = "geometric", draw = 1, rounds = 1000, step = "auto", weigh = "rows", links = 1, leave = 0, away = 10,
                            drift = 0, schedule = "diminishing", pairs = 0, loss = "auto", delay = 0) {
  changed(list(graph = graph, draw = draw, rounds = rounds, step = step, weigh = weigh, links = links, leave = leave, away = away,
    drift = drift, schedule = schedule, pairs = pairs, loss = loss, delay = delay), lapply(formals(gossip_settings), eval))
}

extra_settings <- function(graph = "geometric", draw = 1, rounds = 1000, step = "auto", weigh = "rows", links = 1, leave = 0, away = 10,
                           drift = 0, loss = "auto", delay = 0) {
  changed(list(graph = graph, draw = draw, rounds = rounds, step = step, weigh = weigh, links = links, leave = leave, away = away,
    drift = drift, loss = loss, delay = delay), lapply(formals(extra_settings), eval))
}

newton_settings <- function(engine = "yao", stop = "likelihood", inference = "yes", level = 0.95, scale = 0, fraction = 36, start = 0,
                            dp = 0, dp_delta = 1e-06, dp_iterations = 8, penalty = "mean") {
  changed(list(engine = engine, stop = stop, inference = inference, level = level, scale = scale, fraction = fraction, start = start,
    dp = dp, `dp-delta` = dp_delta, `dp-iterations` = dp_iterations, penalty = penalty), lapply(formals(newton_settings), eval))
}

privlogit_hessian_settings <- function(engine = "yao", stop = "likelihood", inference = "yes", level = 0.95, scale = 0, fraction = 36,
                                       start = 0, dp = 0, dp_delta = 1e-06, dp_iterations = 8, penalty = "mean") {
  changed(list(engine = engine, stop = stop, inference = inference, level = level, scale = scale, fraction = fraction, start = start,
    dp = dp, `dp-delta` = dp_delta, `dp-iterations` = dp_iterations, penalty = penalty), lapply(formals(privlogit_hessian_settings), eval))
}

privlogit_local_settings <- function(engine = "yao", stop = "likelihood", inference = "yes", level = 0.95, scale = 0, fraction = 36,
                                     start = 0, penalty = "mean", dp = 0, dp_delta = 1e-06, dp_iterations = 8) {
  changed(list(engine = engine, stop = stop, inference = inference, level = level, scale = scale, fraction = fraction, start = start,
    penalty = penalty, dp = dp, `dp-delta` = dp_delta, `dp-iterations` = dp_iterations), lapply(formals(privlogit_local_settings), eval))
}

cox_servers_settings <- function(width = 0, ties = "breslow", strata = "none", level = 0.95, unit = "label", engine = "shares") {
  changed(list(width = width, ties = ties, strata = strata, level = level, unit = unit,
    engine = engine), lapply(formals(cox_servers_settings), eval))
}
