# The same numbers as base R works them out, sessions that find what was wanted, and refusals.
library(melicit)
set.seed(1)
x <- rnorm(1000)
truth <- factor(ifelse(x + rnorm(1000) > 0, "sick", "fine"))
p <- plogis(2 * x)
classes <- c("fine", "sick")
costs <- mel_costs(matrix(c(0, 7, 1, 0), 2, dimnames = list(classes, classes)))
refused <- function(what, words) stopifnot(grepl(words, tryCatch({ what; "" }, error = conditionMessage)))
# Scores.
decided <- factor(ifelse(p > 0.3, "sick", "fine"))
missed <- mean(truth == "sick" & decided == "fine")
alarms <- mean(truth == "fine" & decided == "sick")
stopifnot(all.equal(score(costs, truth, decided), 7 * missed + alarms))
stopifnot(all.equal(score("accuracy", truth, decided), mean(truth == decided)))
hits <- sum(truth == "sick" & decided == "sick")
stopifnot(all.equal(score("f1", truth, decided), 2 * hits / (sum(truth == "sick") + sum(decided == "sick"))))
stopifnot(all.equal(score("recall", truth, decided, positive = "fine"), mean(decided[truth == "fine"] == "fine")))
refused(score("f1", truth, rep("ill", 1000)), "row 1, ill, is none of the classes")
refused(score("f1", truth, decided[-1]), "999 rows, but truth has 1000")

# Sessions: in memory, with groups of people who err, from a table, from a file that goes on.
problem <- mel_problem(p, truth)
session <- simulate(mel_session(problem, for_people = FALSE, tolerance = 0.01), metric = costs)
found <- equivalents(metric(session))
stopifnot(found$low[1] < 7, 7 < found$high[1], abs(found$value[1] - 7) < 0.5)
table <- mel_table(data.frame(x, cut = cut(x, 3), whole = as.integer(10 * x), flag = x > 0, label = truth))
stopifnot(abs(equivalents(metric(simulate(mel_session(table, for_people = FALSE, tolerance = 0.01), metric = costs)))$value[1] - 7) < 1)
path <- tempfile(fileext = ".jsonl")
first <- mel_session(problem, path = path, max_questions = 6)
tell(first, "A")
rm(first)
invisible(gc())
again <- mel_session(problem, path = path, max_questions = 6)
stopifnot(nrow(as.data.frame(again)) == 1, as.data.frame(again)$answer == "A")
refused(mel_session(mel_problem(rev(p), truth), path = path), "holds other rows")
stopifnot(nrow(as.data.frame(undo(again))) == 0)
Sys.setenv(HOME = tempdir())
invisible(mel_session(problem, path = "~/home.jsonl", max_questions = 100000))
stopifnot(file.exists(file.path(tempdir(), c("home.jsonl", "home.probs.csv"))))
long <- data.frame(x, label = truth)
long$big <- structure(x, class = "integer64") # as data.table::fread() reads long numbers: no doubles
refused(mel_table(long), "column big: expected numbers")
page <- readLines(report(session, tempfile()))
stopifnot(any(grepl("</html>", page, fixed = TRUE)))

# Rules: no threshold is better on probabilities that are trusted.
rule <- apply_metric(costs, problem, "model")
expected <- vapply(seq(0.01, 0.99, 0.01), function(t) mean(ifelse(p >= t, 1 - p, 7 * p)), 0)
stopifnot(abs(rule$threshold - 1 / 8) < 0.02, rule$value <= min(expected) + 1e-12)
stopifnot(identical(predict(rule, p) == "sick", unname(p >= rule$threshold)))

# Ranks.
pool <- list(rule = predict(rule, p), half = ifelse(p >= 0.5, "sick", "fine"))
ranking <- as.data.frame(rank(costs, pool, truth))
values <- vapply(pool, function(d) score(costs, truth, d), 0)
stopifnot(identical(ranking$classifier, names(sort(values))), all.equal(ranking$value, unname(sort(values))))
stopifnot(all(ranking$low < ranking$value & ranking$value < ranking$high), identical(rank(c(3, 1, 2)), c(3, 1, 2)))

# Three classes, columns in another order.
three <- matrix(c(0.6, 0.3, 0.1), 300, 3, byrow = TRUE) + matrix(runif(900), 300) / 5
three <- three / rowSums(three)
colnames(three) <- c("c", "a", "b")
y <- factor(colnames(three)[apply(three, 1, function(q) sample(3, 1, prob = q))])
best <- apply_metric("accuracy", mel_problem(as.data.frame(three), y), "model")
stopifnot(identical(as.character(predict(best, three)), colnames(three)[max.col(three)]))
refused(mel_problem(three[, 1:2], y), "are not the classes")
refused(mel_problem(p, truth, positive = "ill"), "of which it is one")
file <- tempfile()
write_metric(costs, file)
stopifnot(identical(summary(mel_metric(file)), summary(costs)))

# A page: the answers come from another program, as a browser sends them (tests/system/test_r.py).
if (nzchar(Sys.getenv("MELICIT_PAGE"))) {
  answered <- elicit(mel_session(problem, max_questions = 3, until = "tolerance"), browser = TRUE,
                     open_page = function(url) system2(Sys.getenv("MELICIT_PAGE"), shQuote(url), wait = FALSE))
  stopifnot(nrow(as.data.frame(answered)) == 3, all(as.data.frame(answered)$answer == "A"))
}
