# Models with factors, products and functions are exported over the columns of the data; what they say is what R says.
library(tacit)
failure <- function(expression) tryCatch(expression, error = identity)
inputs <- function(file) {
  text <- paste(readLines(file), collapse = "\n")
  found <- regmatches(text, gregexpr("<MiningField name=\"[^\"]*\"", text))[[1]]
  unique(sub("^<MiningField name=\"([^\"]*)\"$", "\\1", found))
}
same <- function(model, rows) {
  file <- tempfile(fileext = ".pmml")
  tacit_export(model, file)
  json <- tempfile(fileext = ".json")
  writeLines(tacit:::raw_json(model), json)
  csv <- tempfile(fileext = ".csv")
  label <- if (model$kind == "class") list(breaks = model$classes[1]) else list()
  write.csv(replace(rows, names(label), label), csv, row.names = FALSE)
  frame <- tacit:::checked(.Call(tacit:::glue_frame_load, csv, "schema", {
    schema <- tempfile(fileext = ".yaml")
    writeLines(tacit:::json_read(paste(readLines(json), collapse = "\n"))$schema, schema)
    schema
  }))
  scores <- tacit:::text_scores(paste(readLines(json), collapse = "\n"), frame, model$kind)
  stopifnot(all.equal(unname(scores), unname(predict(model, rows, type = "link")), tolerance = 1e-6))
  onnx <- tempfile(fileext = ".onnx")
  tacit_export(model, onnx)
  stopifnot(file.size(onnx) > 200)
  inputs(file)
}
breaks <- tacit_glm(breaks ~ wool * tension, warpbreaks, method = "estimate", family = poisson)
stopifnot(all(c("wool", "tension") %in% same(breaks, warpbreaks)), !any(grepl("woolB", same(breaks, warpbreaks))))
rows <- transform(warpbreaks, speed = rep(c(1.5, 2, 4), 18), night = rep(c(TRUE, FALSE), 27), plant = rep(c("x", "y", "z"), each = 18))
mixed <- tacit_glm(breaks > 25 ~ log(speed) * wool + night + plant, rows, method = "estimate")
stopifnot(setequal(setdiff(same(mixed, rows), "breaks > 25"), c("speed", "wool", "night", "plant", "breaks")) || "speed" %in% same(mixed, rows))
none <- tacit_glm(breaks ~ 0 + tension + speed, rows, method = "estimate", family = gaussian)
stopifnot(all(c("tension", "speed") %in% same(none, rows)))
private <- tacit_glm(I(breaks > 25) ~ wool + speed, rows, epsilon = 2, lambda = 0.1, bounds = list(speed = c(0, 5)), method = "output")
stopifnot(all(c("wool", "speed") %in% same(private, rows)))

# A model whose columns are those of the data is exported as it is.
plain <- tacit_glm(breaks > 25 ~ speed, rows, method = "estimate")
stopifnot(!tacit:::needs_raw(plain))

# What the library does not know of a column or a formula is told.
lacking <- tacit_glm(breaks > 25 ~ log(speed) + wool, rows, epsilon = 2, lambda = 0.1, bounds = list(`log(speed)` = c(0, 2)), classes = c(FALSE, TRUE), method = "output")
problem <- failure(tacit_export(lacking, tempfile(fileext = ".onnx")))
stopifnot(inherits(problem, "tacit_usage"), grepl("name it in bounds too", conditionMessage(problem)))
strange <- tacit_glm(breaks > 25 ~ sin(speed), rows, method = "estimate")
stopifnot(inherits(failure(tacit_export(strange, tempfile(fileext = ".pmml"))), "tacit_error"))
