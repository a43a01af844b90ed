# What questions are about. A problem is made for each family of metrics when a session needs it.

# Classes of the truth, the positive one of two last; what cannot be matched is refused.
class_levels <- function(truth, positive) {
  classes <- if (is.factor(truth)) levels(droplevels(truth)) else as.character(sort(unique(truth)))
  if (anyNA(truth)) stop("truth: row ", which(is.na(truth))[1], " is missing", call. = FALSE)
  if (length(classes) < 2) stop("truth: there is one class only, ", classes, call. = FALSE)
  if (is.null(positive)) return(classes)
  if (length(classes) != 2 || !as.character(positive) %in% classes)
    stop("positive: for two classes, of which it is one, not ", paste(classes, collapse = ", "), call. = FALSE)
  c(setdiff(classes, as.character(positive)), as.character(positive))
}

# Probabilities as a matrix with a column for each class, in their order: columns are matched by name.
probability_matrix <- function(predictions, classes) {
  if (is.null(dim(predictions)) || ncol(predictions) == 1L) {
    if (length(classes) != 2) stop("predictions: one column is for two classes, not ", length(classes), call. = FALSE)
    p <- as.numeric(if (is.data.frame(predictions)) predictions[[1]] else predictions)
    out <- cbind(1 - p, p)
  } else {
    given <- colnames(predictions)
    if (is.null(given) || !setequal(given, classes) || anyDuplicated(given))
      stop("predictions: the columns (", paste(given, collapse = ", "), ") are not the classes (",
           paste(classes, collapse = ", "), ")", call. = FALSE)
    out <- as.matrix(predictions)[, classes, drop = FALSE]
  }
  storage.mode(out) <- "double"
  dimnames(out) <- list(NULL, classes)
  if (anyNA(out)) stop("predictions: row ", which(rowSums(is.na(out)) > 0)[1], " is missing", call. = FALSE)
  out
}

new_problem <- function(options = character(), frames = list(), classes = character(), ...)
  structure(list(options = options, frames = frames, classes = classes, made = new.env(parent = emptyenv()), ...), class = "mel_problem")

mel_problem <- function(predictions, truth, groups = NULL, positive = NULL) {
  classes <- class_levels(truth, positive)
  probability <- probability_matrix(predictions, classes)
  if (nrow(probability) != length(truth))
    stop("predictions: ", nrow(probability), " rows, but truth has ", length(truth), call. = FALSE)
  truth <- factor(as.character(truth), levels = classes)
  frames <- list("frame:probs" = as.data.frame(probability, optional = TRUE), "frame:labels" = list(label = as.character(truth)))
  options <- c(probs = "frame:probs", labels = "frame:labels", label = "label")
  if (!is.null(groups)) {
    groups <- factor(groups)
    if (length(groups) != length(truth) || anyNA(groups))
      stop("groups: expected one for each of ", length(truth), " rows, none missing", call. = FALSE)
    frames[["frame:groups"]] <- list(group = as.character(groups))
    options <- c(options, groups = "frame:groups")
  }
  new_problem(options, frames, classes, probability = probability, truth = truth, groups = groups)
}

mel_table <- function(data, label = "label", group = NULL, positive = NULL) {
  if (!is.data.frame(data)) stop("data: expected a data frame", call. = FALSE)
  no_number <- c("Date", "POSIXt", "difftime", "integer64")
  odd <- !vapply(data, function(x) (is.numeric(x) && is.null(dim(x)) && !inherits(x, no_number)) || is.character(x) ||
                   is.factor(x) || is.logical(x), NA)
  if (any(odd)) stop("column ", names(data)[odd][1], ": expected numbers, texts, a factor or TRUE and FALSE", call. = FALSE)
  new_problem(c(data = "frame:data", label = label, group = group, positive = positive), list("frame:data" = as.list(data)))
}

mel_population <- function(name, classes = character()) new_problem(c(population = name), classes = classes)

# For questions about metrics of a family; made once.
made_for <- function(problem, family) {
  if (is.null(problem$made[[family]])) {
    handle <- .Call(C_r_problem, problem$options, problem$classes, problem$frames, family)
    about <- .Call(C_r_problem_about, handle)
    names(about) <- c("classes", "groups", "rows", "corners")
    problem$made[[family]] <- c(list(handle = handle), about)
  }
  problem$made[[family]]
}

print.mel_problem <- function(x, ...) {
  what <- if (is.null(x$truth)) paste(names(x$options), x$options, sep = " = ", collapse = ", ") else paste(length(x$truth), "rows")
  cat("melicit problem:", what, if (length(x$classes)) paste0("(", paste(x$classes, collapse = ", "), ")"), "\n")
  invisible(x)
}

# What classifiers can achieve: two classes.
plot.mel_problem <- function(x, ...) {
  corners <- made_for(x, "linear")$corners
  if (nrow(corners) == 0) stop("plot: what is achievable is planar for two classes without groups only", call. = FALSE)
  corners <- corners[c(seq_len(nrow(corners)), 1L), ]
  graphics::plot(corners, type = "l", xlab = "true positives (share of all)", ylab = "true negatives (share of all)", ...)
  graphics::polygon(corners, col = "grey90")
  invisible(x)
}
