.onLoad <- function(libname, pkgname) {
  tools::vignetteEngine("page", weave = page_weave, tangle = page_tangle, pattern = "[.]md$", package = pkgname)
}

.onUnload <- function(libpath) library.dynam.unload("tacit", libpath)
