# Metrics, and what they are good for: scores, ranks, rules.

new_metric <- function(handle) {
  about <- .Call(C_r_metric_about, handle)
  names(about) <- c("equivalents", "words", "classes", "groups", "cost")
  about$equivalents <- fromJSON(about$equivalents)
  structure(c(list(handle = handle), about), class = "mel_metric")
}

mel_metric <- function(x) {
  if (inherits(x, "mel_metric")) return(x)
  if (inherits(x, "mel_session")) return(metric(x))
  if (!is.character(x) || length(x) != 1) stop("a metric is a session, a metric file or what mel_costs() makes", call. = FALSE)
  text <- if (file.exists(x)) paste(readLines(x, encoding = "UTF-8"), collapse = "\n") else x
  if (!startsWith(trimws(text), "{")) stop("metric: there is no file ", x, call. = FALSE)
  new_metric(.Call(C_r_metric, text, character()))
}

mel_costs <- function(costs) {
  if (!is.matrix(costs) || is.null(rownames(costs)) || !identical(rownames(costs), colnames(costs)))
    stop("costs: expected a matrix with the classes as names of rows (true) and, in the same order, of columns (decided)", call. = FALSE)
  new_metric(.Call(C_r_metric, as.numeric(t(costs)), rownames(costs)))
}

write_metric <- function(metric, file) {
  writeLines(enc2utf8(.Call(C_r_metric_json, mel_metric(metric)$handle)), file, useBytes = TRUE)
  invisible(file)
}

print.mel_metric <- function(x, ...) {
  cat(strwrap(x$words), sep = "\n")
  invisible(x)
}
summary.mel_metric <- function(object, ...) fromJSON(.Call(C_r_metric_json, object$handle))

# The same preference in the numbers that others use, each with its 95% interval.
as.data.frame.mel_metric <- function(x, row.names = NULL, optional = FALSE, ...) {
  triples <- Filter(function(v) is.numeric(v) && length(v) == 3 && is.null(dim(v)), x$equivalents)
  values <- matrix(as.numeric(unlist(triples)), ncol = 3, byrow = TRUE)
  data.frame(what = names(triples), value = values[, 1], low = values[, 2], high = values[, 3])
}

equivalents <- function(metric) as.data.frame(mel_metric(metric))

# A metric, or the name of a measure ("f1"): what the library takes, and its classes in their order.
measure_of <- function(metric, truth, positive) {
  if (is.character(metric) && length(metric) == 1 && !file.exists(metric) && !startsWith(trimws(metric), "{"))
    return(list(source = metric, classes = class_levels(truth, positive)))
  metric <- mel_metric(metric)
  classes <- metric$classes
  present <- class_levels(truth, NULL)
  if (setequal(classes, c("negative", "positive")) && !all(present %in% classes)) classes <- class_levels(truth, positive)
  else if (!is.null(positive) && as.character(positive) != classes[length(classes)])
    stop("positive: the metric's positive class is ", classes[length(classes)], call. = FALSE)
  list(source = metric$handle, classes = classes, groups = metric$groups)
}

# Codes from 1 of labels among the classes.
coded <- function(labels, classes, what) {
  found <- match(as.character(labels), classes)
  if (anyNA(found)) {
    row <- which(is.na(found))[1]
    stop(what, ": row ", row, ", ", as.character(labels)[row], ", is none of the classes (", paste(classes, collapse = ", "), ")", call. = FALSE)
  }
  found
}

group_codes <- function(measure, groups, n) {
  if (is.null(groups)) {
    if (length(measure$groups)) stop("groups: this metric is about the groups ", paste(measure$groups, collapse = ", "), call. = FALSE)
    return(list(codes = integer(), m = 0L))
  }
  if (length(groups) != n) stop("groups: ", length(groups), " for ", n, " rows", call. = FALSE)
  known <- if (length(measure$groups)) measure$groups else sort(unique(as.character(groups)))
  list(codes = coded(groups, known, "groups"), m = length(known))
}

score <- function(metric, truth, decided, groups = NULL, weights = NULL, positive = NULL) {
  measure <- measure_of(metric, if (is.factor(truth)) truth else c(as.character(truth), as.character(decided)), positive)
  k <- length(measure$classes)
  if (length(truth) != length(decided)) stop("decided: ", length(decided), " rows, but truth has ", length(truth), call. = FALSE)
  true <- coded(truth, measure$classes, "truth")
  predicted <- coded(decided, measure$classes, "decided")
  group <- group_codes(measure, groups, length(true))
  cell <- predicted + k * (true - 1) + if (group$m > 0) k * k * (group$codes - 1) else 0
  counts <- numeric(k * k * max(1L, group$m))
  sums <- tapply(if (is.null(weights)) rep(1, length(cell)) else weights, cell, sum)
  counts[as.integer(names(sums))] <- sums
  as.numeric(.Call(C_r_score, measure$source, counts, k, group$m))
}

rank <- function(x, ...) UseMethod("rank")
rank.default <- function(x, ...) base::rank(x, ...)

rank.mel_metric <- function(x, pool, truth, groups = NULL, positive = NULL, draws = 1000, ...) {
  if (!is.list(pool) || is.null(names(pool))) stop("pool: expected a list or data frame of decisions, a column with a name for each classifier", call. = FALSE)
  measure <- measure_of(x, truth, positive)
  true <- coded(truth, measure$classes, "truth")
  decided <- Map(function(labels, name) {
    if (length(labels) != length(true)) stop(name, ": ", length(labels), " rows, but truth has ", length(true), call. = FALSE)
    coded(labels, measure$classes, name)
  }, as.list(pool), names(pool))
  group <- group_codes(measure, groups, length(true))
  found <- .Call(C_r_rank, measure$source, true, decided, group$codes, length(measure$classes), group$m, as.integer(draws))
  table <- data.frame(classifier = names(pool), value = found[[2]], low = found[[3]], high = found[[4]], best = found[[5]])[found[[1]], ]
  rownames(table) <- NULL
  structure(list(table = table, order_probability = found[[6]], cost = x$cost), class = "mel_ranking")
}
as.data.frame.mel_ranking <- function(x, row.names = NULL, optional = FALSE, ...) x$table
print.mel_ranking <- function(x, ...) {
  print(x$table, row.names = FALSE, digits = 4)
  cat(sprintf("The order is right from top to bottom with probability %.2f.\n", x$order_probability))
  invisible(x)
}
plot.mel_ranking <- function(x, ...) {
  at <- rev(seq_len(nrow(x$table)))
  graphics::plot(x$table$value, at, xlim = range(x$table[, c("value", "low", "high")], na.rm = TRUE), yaxt = "n", pch = 19,
                 xlab = if (x$cost) "cost (less is better), with 95% intervals" else "value, with 95% intervals", ylab = "", ...)
  graphics::segments(x$table$low, at, x$table$high, at)
  graphics::axis(2, at, x$table$classifier, las = 1)
  invisible(x)
}

# The best rule for a metric on the rows of a problem.
apply_metric <- function(metric, problem, evidence = c("calibrated", "model")) {
  evidence <- match.arg(evidence)
  if (is.null(problem$truth)) stop("apply_metric: needs rows of probabilities (mel_problem)", call. = FALSE)
  measure <- measure_of(metric, problem$truth, if (length(problem$classes) == 2) problem$classes[2])
  if (length(measure$groups)) stop("apply_metric: metrics about groups are applied by the program (melicit apply)", call. = FALSE)
  handle <- .Call(C_r_rule, measure$source, t(problem$probability), coded(problem$truth, problem$classes, "truth"), problem$classes,
                  evidence == "calibrated")
  about <- .Call(C_r_rule_about, handle)
  structure(list(handle = handle, value = about[1], threshold = about[2], classes = problem$classes, metric = metric, problem = problem),
            class = "mel_rule")
}

predict.mel_rule <- function(object, newdata, ...) {
  probability <- probability_matrix(newdata, object$classes)
  codes <- .Call(C_r_decide, object$handle, t(probability), nrow(probability))
  factor(object$classes[codes], levels = object$classes)
}

print.mel_rule <- function(x, ...) {
  if (is.nan(x$threshold)) cat("The best rule for ", length(x$classes), " classes", sep = "")
  else cat("Decide ", x$classes[2], " from a probability of ", format(x$threshold, digits = 3), " on", sep = "")
  cat(": worth ", format(x$value, digits = 4), " on ", length(x$problem$truth), " rows\n", sep = "")
  invisible(x)
}

# Net benefit by threshold: of the model, of deciding for everybody and for nobody; the rule's threshold is marked.
plot.mel_rule <- function(x, ...) {
  if (length(x$classes) != 2 || is.nan(x$threshold)) stop("plot: net benefit is for two classes and a threshold", call. = FALSE)
  p <- x$problem$probability[, 2]
  positive <- as.integer(x$problem$truth) == 2
  at <- seq(0.01, 0.99, 0.01)
  benefit <- vapply(at, function(t) mean(p >= t & positive) - mean(p >= t & !positive) * t / (1 - t), 0)
  all <- mean(positive) - mean(!positive) * at / (1 - at)
  graphics::plot(at, benefit, type = "l", ylim = c(min(0, benefit), max(benefit, all)), xlab = "threshold", ylab = "net benefit", ...)
  graphics::lines(at, all, lty = 2)
  graphics::abline(h = 0, lty = 3)
  graphics::abline(v = x$threshold, col = "grey50")
  graphics::legend("topright", c("model", paste("all", x$classes[2]), paste("all", x$classes[1])), lty = 1:3, bty = "n")
  invisible(x)
}

# For metric_set() and tune: larger is better or smaller is, as the metric says.
metric_yardstick <- function(metric, name = "melicit") {
  if (!requireNamespace("yardstick", quietly = TRUE)) stop("metric_yardstick: the package yardstick is not installed", call. = FALSE)
  metric <- mel_metric(metric)
  value <- function(data, truth, estimate, ...) {
    found <- score(metric, rlang::eval_tidy(rlang::enquo(truth), data), rlang::eval_tidy(rlang::enquo(estimate), data))
    data.frame(.metric = name, .estimator = if (length(metric$classes) == 2) "binary" else "multiclass", .estimate = found)
  }
  yardstick::new_class_metric(value, direction = if (metric$cost) "minimize" else "maximize")
}
