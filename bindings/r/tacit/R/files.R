# Models as files.

tacit_save <- function(model, file) {
  checked(.Call(glue_model_save, model_pointer(model), path.expand(file)))
  invisible(model)
}

tacit_load <- function(file) {
  result <- described(checked(.Call(glue_model_load, path.expand(file))))
  result$method <- result$document$guarantee$method
  if (length(result$document$classes) > 0) result$classes <- result$document$classes
  class(result) <- "tacit_model"
  result
}

tacit_export <- function(model, file, format = c("onnx", "pmml")) {
  if (missing(format)) format <- tolower(tools::file_ext(file))
  if (!format %in% c("onnx", "pmml")) usage("format must be onnx or pmml; a model of Tacit itself is written by tacit_save()")
  pointer <- if (needs_raw(model)) checked(.Call(glue_model_from_json, raw_json(model))) else model_pointer(model)
  if (format == "onnx") {
    writeBin(checked(.Call(glue_model_to_onnx, pointer)), file)
  } else {
    writeLines(enc2utf8(checked(.Call(glue_model_to_pmml, pointer))), file, useBytes = TRUE)
  }
  invisible(model)
}
