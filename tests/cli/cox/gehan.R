# Gehan 1965: survdiff has no such weights, so the same sums with those who are at risk as weights.
gehan <- function(rows) {
  groups <- sort(unique(rows$group))
  u <- numeric(length(groups))
  v <- matrix(0, length(groups), length(groups))
  for (time in sort(unique(rows$time[rows$event == 1]))) {
    at.risk <- sapply(groups, function(g) sum(rows$group == g & rows$time >= time))
    events <- sapply(groups, function(g) sum(rows$group == g & rows$time == time & rows$event == 1))
    n <- sum(at.risk)
    d <- sum(events)
    u <- u + n * (events - d * at.risk / n)
    if (n > 1) v <- v + n^2 * d * (n - d) / (n - 1) * (diag(at.risk / n) - outer(at.risk, at.risk) / n^2)
  }
  sum(u[-1] * solve(v[-1, -1], u[-1]))
}
