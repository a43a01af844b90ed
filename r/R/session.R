# Questions and answers.

as_settings <- function(settings) {
  if (length(settings) && (is.null(names(settings)) || any(names(settings) == "")))
    stop("settings need names, as those of `melicit elicit`: max_questions = 12", call. = FALSE)
  vapply(settings, function(x) if (is.logical(x)) tolower(as.character(x)) else format(x, digits = 17, trim = TRUE, scientific = FALSE), "")
}

# Rows that are in memory are kept beside the session's file, so that it goes on with the same ones.
stored_problem <- function(problem, path) {
  if (is.null(problem$truth)) {
    if (length(problem$frames)) stop("path: a session file goes on with a problem of mel_problem(), not of a data frame", call. = FALSE)
    return(problem)
  }
  base <- sub("\\.jsonl?$", "", path)
  keep <- function(suffix, frame) {
    file <- paste0(base, suffix)
    lines <- c(paste0('"', gsub('"', '""', names(frame)), '"', collapse = ","),
               do.call(paste, c(lapply(frame, function(x)
                 if (is.numeric(x)) format(x, digits = 17, trim = TRUE) else paste0('"', gsub('"', '""', x), '"')), sep = ",")))
    if (!file.exists(file)) writeLines(lines, file)
    else if (!identical(readLines(file), lines))
      stop(file, " holds other rows: this session is about other data, choose another path", call. = FALSE)
    file
  }
  options <- c(probs = keep(".probs.csv", problem$frames[["frame:probs"]]), labels = keep(".labels.csv", problem$frames[["frame:labels"]]),
               label = "label")
  if (!is.null(problem$groups)) options <- c(options, groups = keep(".groups.csv", problem$frames[["frame:groups"]]))
  new_problem(options, list(), problem$classes)
}

mel_session <- function(problem, family = "linear", path = NULL, ..., for_people = TRUE, noise = "none") {
  if (!inherits(problem, "mel_problem")) stop("problem: expected what mel_problem() makes", call. = FALSE)
  if (!is.null(path)) path <- path.expand(path)
  about <- made_for(if (is.null(path)) problem else stored_problem(problem, path), family)
  handle <- .Call(C_r_session, about$handle, family, as_settings(list(...)), for_people, noise,
                  if (is.null(path)) character() else path)
  structure(list(handle = handle, problem = problem, family = family, path = path, noise = noise, classes = about$classes,
                 groups = about$groups), class = "mel_session")
}

ask <- function(session) {
  found <- .Call(C_r_ask, session$handle)
  if (is.null(found)) return(NULL)
  names(found) <- c("number", "expected", "people", "of_each_class", "a", "b", "remark", "names")
  k <- length(session$classes)
  groups <- if (length(session$groups)) session$groups else "all"
  for (side in c("a", "b"))
    found[[side]] <- aperm(array(found[[side]], c(k, k, length(groups)), list(session$classes, session$classes, groups)), c(3, 2, 1))
  structure(found, class = "mel_question")
}

tell <- function(session, answer, question = ask(session), seconds = NA_real_) {
  number <- if (is.list(question)) question$number else question
  if (is.null(number)) stop("tell: there is no question left", call. = FALSE)
  .Call(C_r_tell, session$handle, as.numeric(number), answer, as.numeric(seconds))
  invisible(session)
}

undo <- function(session) {
  .Call(C_r_undo, session$handle)
  invisible(session)
}

simulate.mel_session <- function(object, nsim = 1, seed = 1, metric, noise = object$noise, ...) {
  if (is.null(seed)) seed <- 1
  .Call(C_r_simulate, object$handle, mel_metric(metric)$handle, noise, as.numeric(seed))
  invisible(object)
}

metric <- function(session) new_metric(.Call(C_r_session_metric, session$handle))

report <- function(session, file) {
  writeLines(enc2utf8(.Call(C_r_session_text, session$handle, TRUE)), file, useBytes = TRUE)
  invisible(file)
}

# What A and B do wrong, in people; right decisions where mistakes are not known.
mistakes <- function(question) {
  at <- expand.grid(predicted = seq_len(dim(question$a)[3]), true = seq_len(dim(question$a)[2]), group = seq_len(dim(question$a)[1]))
  cell <- as.matrix(at[, c("group", "true", "predicted")])
  classes <- dimnames(question$a)[[2]]
  words <- ifelse(at$true == at$predicted, paste(classes[at$true], "recognised"), paste(classes[at$true], "taken for", classes[at$predicted]))
  if (dim(question$a)[1] > 1) words <- paste0(dimnames(question$a)[[1]][at$group], ": ", words)
  out <- data.frame(what = words, A = question$a[cell], B = question$b[cell], right = at$true == at$predicted)
  out <- out[!is.na(out$A) & !is.na(out$B), ]
  if (any(!out$right)) out[!out$right, 1:3] else out[, 1:3]
}

print.mel_question <- function(x, ...) {
  of <- if (x$expected >= x$number) paste(" of about", x$expected)
  cat("Question ", x$number, of, ": ", format(x$people, big.mark = ","), " people", if (x$of_each_class) " of each class",
      ", two ways to decide. Which is better?\n", sep = "")
  if (nzchar(x$remark)) cat(x$remark, "\n", sep = "")
  table <- mistakes(x)
  names(table)[1] <- ""
  if (length(x$names)) names(table)[2:3] <- paste0(c("A", "B"), " (", x$names, ")")
  print(table, row.names = FALSE)
  invisible(x)
}

help_keys <- "a or b: which is better; =: about the same; s: can't say; u: take the last answer back; q: stop"

elicit <- function(problem, family = "linear", path = NULL, ..., browser = FALSE, respondent = NULL, open_page = browseURL) {
  session <- if (inherits(problem, "mel_session")) problem else mel_session(problem, family, path, ...)
  if (browser) return(elicit_at_a_page(session, open_page))
  if (is.null(respondent) && !interactive())
    stop("elicit: there is no console here; use browser = TRUE, or respondent = function(question) \"A\"", call. = FALSE)
  answers <- c(a = "A", b = "B", "=" = "=", s = "?")
  while (!is.null(question <- ask(session))) {
    if (is.null(respondent)) print(question)
    repeat {
      typed <- if (is.null(respondent)) tolower(trimws(readline("a, b, =, s, u, q, ?: "))) else tolower(respondent(question))
      if (typed == "q") return(session)
      if (typed %in% names(answers)) {
        tell(session, answers[[typed]], question)
        break
      }
      if (typed == "u" && tryCatch({ undo(session); TRUE }, error = function(e) { message(conditionMessage(e)); FALSE })) break
      if (!is.null(respondent) && typed != "u") stop("respondent: \"", typed, "\" is no answer (", help_keys, ")", call. = FALSE)
      if (is.null(respondent) && typed != "u") cat(help_keys, "\n")
    }
  }
  if (is.null(respondent)) print(metric(session))
  session
}

# The program's own server shows the questions at an address of this machine; lines go there through a named pipe.
elicit_at_a_page <- function(session, open_page) {
  program <- Sys.getenv("MELICIT_PROGRAM", Sys.which("melicit"))
  if (!nzchar(program)) stop("browser: the program melicit is not installed (MELICIT_PROGRAM names it)", call. = FALSE)
  to <- tempfile("melicit")
  if (system2("mkfifo", shQuote(to)) != 0) stop("browser: no named pipe can be made here", call. = FALSE)
  server <- pipe(paste(shQuote(program), "serve --relay --port 0 <", shQuote(to)), "r")
  questions <- fifo(to, "w", blocking = TRUE)
  .Call(C_r_close_on_exec)
  on.exit({ close(questions); close(server); unlink(to) }) # closing the questions ends the server
  said <- function(key) {
    line <- readLines(server, 1)
    if (length(line) == 0) stop("the page's server ended by itself; answers so far count", call. = FALSE)
    fromJSON(line)[[key]]
  }
  url <- said("url")
  message("Questions are at ", url)
  open_page(url)
  while (!is.null(question <- ask(session))) {
    writeLines(question_json(question, session), questions)
    flush(questions)
    word <- said("answer")
    if (word == "stop") break
    if (word == "undo") undo(session) else tell(session, word, question)
  }
  session
}

question_json <- function(question, session) {
  side <- function(counts) lapply(seq_len(dim(counts)[1]), function(g) unname(matrix(counts[g, , ], dim(counts)[2])))
  of <- if (question$expected >= question$number) paste(" of about", question$expected) else ""
  shown <- list(number = question$number, title = paste0("Question ", question$number, of), people = question$people,
                of_each_class = question$of_each_class, classes = I(session$classes), groups = I(session$groups), remark = question$remark,
                a = side(question$a), b = side(question$b))
  if (length(question$names)) shown$names <- question$names
  as.character(jsonlite::toJSON(shown, auto_unbox = TRUE, na = "null", digits = NA))
}

print.mel_session <- function(x, ...) {
  cat("melicit session about ", x$family, " metrics, ", nrow(as.data.frame(x)), " answers\n", sep = "")
  if (nrow(as.data.frame(x)) > 0) print(metric(x))
  invisible(x)
}

# Everything that `melicit elicit --json` says about what was found.
summary.mel_session <- function(object, ...) fromJSON(.Call(C_r_session_text, object$handle, FALSE))

as.data.frame.mel_session <- function(x, row.names = NULL, optional = FALSE, ...) {
  found <- .Call(C_r_records, x$handle)
  values <- found[[1]]
  size <- (ncol(values) - 2) / 2
  out <- data.frame(question = seq_along(found[[2]]), answer = found[[2]], seconds = values[, 1], repeated = values[, 2] == 1)
  sides <- as.data.frame(values[, -(1:2), drop = FALSE])
  names(sides) <- paste0(rep(c("a", "b"), each = size), rep(seq_len(size), 2))
  cbind(out, sides)
}
