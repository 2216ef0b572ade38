# The rows of three made-up sites: a data.frame each, of a factor, texts and numbers, some missing.
patients <- function(site) {
  state <- 1000 + site
  draw <- function(below) {
    state <<- (state * 16807) %% 2147483647 # the same numbers in each language
    (state %/% 1000) %% below
  }
  rows <- lapply(1:90, function(i) {
    histology <- draw(3)
    stage <- draw(2)
    age <- 30 + draw(50)
    relapse <- age + 20 * stage + 10 * histology + draw(100) > 130
    unknown <- draw(20) == 0
    data.frame(histology = if (unknown) NA else c("ductal", "lobular", "other")[histology + 1], stage = if (stage == 1) "II" else "I",
      age = if (draw(20) == 0) NA else age, relapse = if (relapse) "yes" else "no")
  })
  rows <- do.call(rbind, rows)
  rows$histology <- factor(rows$histology, levels = c("ductal", "lobular", "other"))
  rows
}
