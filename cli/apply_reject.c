/* melicit apply --reject: what a referred case costs, given or found by questions about rules that refer more
 * or fewer cases. */
#include "apply_rule.h"
#include "base/team.h"
#include "output.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_QUESTIONS = 8 };
static const double least_cost = 1e-3, most_cost = 1000.0; /* in cheapest mistakes */
static const double close_enough = 1.25;                   /* ends of the range that differ by less */
/* Shares of cases, and cheapest mistakes, that rounded numbers tell apart. */
static const double least_apart = 0.002, least_lost = 0.001;

mel_status cli_reject_parse(double *cost, bool *ask, const char *text, mel_error *err)
{
    char *end = NULL;
    *ask = text != NULL && strcmp(text, "ask") == 0;
    *cost = text == NULL ? (double)NAN : *ask ? 1.0 : strtod(text, &end);
    if (text == NULL || *ask || (end != text && *end == '\0' && *cost >= 0.0 && *cost <= most_cost))
        return MEL_OK;
    return cli_fail(err, MEL_EINVAL, "--reject %s: expected a cost from 0 to %g, or ask", text, most_cost);
}

/* The best rule at a cost of referring: what it refers, and what it loses by other mistakes, in the cheapest
 * ones. */
typedef struct {
    double cost, referred, lost;
    mel_rule_report report;
} offer;

/* Everything that questions are made from, lent. */
typedef struct {
    const cli_applied_rule *of;
    const mel_rule_rows *rows;
    const mel_rule_options *opt;
    const char *name;
} asking;

static mel_status make_offer(offer *out, const asking *a, double cost, mel_error *err)
{
    mel_rule_options opt = *a->opt;
    mel_classifier *c = NULL;
    opt.refer_cost = cost;
    mel_rule_report_clear(&out->report);
    const mel_status status = mel_rule_find(&c, &out->report, a->rows, a->of->metric, a->name, &opt, err);
    mel_classifier_free(c);
    if (status != MEL_OK)
        return status;
    const mel_rule_report *r = &out->report;
    const size_t d = r->n_decisions, m = a->rows->n_groups > 1 ? a->rows->n_groups : 1;
    out->cost = cost;
    out->referred = 0.0;
    for (size_t cell = d - 1; cell < m * a->rows->n_classes * d; cell += d)
        out->referred += r->shares[cell];
    out->lost = -r->utility / (r->refer_cost / cost) - cost * out->referred;
    return MEL_OK;
}

/* Both sides of the middle of the range, else its ends; *apart false: people could not tell them apart. */
static mel_status make_pair(offer pair[2], bool *apart, const asking *a, const mel_interval *range,
                            mel_error *err)
{
    const double wide[] = { 0.25, 0.0 };
    mel_status status = MEL_OK;
    *apart = false;
    for (size_t way = 0; way < 2 && !*apart && status == MEL_OK; way++) {
        const double ratio = range->high / range->low;
        status = make_offer(&pair[0], a, range->low * pow(ratio, wide[way]), err);
        if (status == MEL_OK)
            status = make_offer(&pair[1], a, range->low * pow(ratio, 1.0 - wide[way]), err);
        *apart = status == MEL_OK && pair[0].referred - pair[1].referred >= least_apart &&
                 pair[1].lost - pair[0].lost >= least_lost;
    }
    return status;
}

/* "212 of 1,000 are referred; 3.1 of cancer are taken for another class, 0.2 of healthy". */
static void show(char number, const offer *o, const asking *a)
{
    const size_t k = a->rows->n_classes, d = k + 1, m = a->rows->n_groups > 1 ? a->rows->n_groups : 1;
    char *text =
        cli_format("  %c: of 1,000 cases %.0f are referred; decided wrong are", number, 1000.0 * o->referred);
    for (size_t i = 0; i < k; i++) {
        double wrong = 0.0;
        for (size_t cell = 0; cell < m * k * d; cell++)
            wrong += cell / d % k == i && cell % d != i && cell % d < k ? o->report.shares[cell] : 0.0;
        char *class_name = cli_short(a->of->problem->class_name[i], 40);
        char *longer = cli_format("%s%s %.1f of %s", text, i > 0 ? "," : "", 1000.0 * wrong, class_name);
        free(class_name);
        free(text);
        text = longer;
    }
    (void)fprintf(stderr, "%s\n", text);
    free(text);
}

/* '1', '2' or '='; of several ranks the first is asked. */
static mel_status read_answer(char *answer, mel_error *err)
{
    char *line = NULL;
    size_t room = 0;
    *answer = '\0';
    while (*answer == '\0' && mel_team_leads()) {
        (void)fputs("Which do you prefer, 1 or 2 (= for neither)? ", stderr);
        const ssize_t n = getline(&line, &room, stdin);
        if (n <= 0)
            break;
        if ((n == 1 || line[1] == '\n' || line[1] == '\r') && strchr("12=", line[0]) != NULL)
            *answer = line[0];
    }
    free(line);
    mel_team_share(answer, 1);
    return *answer != '\0'
               ? MEL_OK
               : cli_fail(err, MEL_EINVAL, "--reject ask: standard input ended before the answers");
}

/* One question: the range becomes smaller. */
static mel_status ask_once(mel_interval *range, const offer pair[2], const asking *a, size_t question,
                           mel_error *err)
{
    /* The cost of a referral at which both are worth the same: extra loss over fewer referrals. */
    const double even = (pair[1].lost - pair[0].lost) / (pair[0].referred - pair[1].referred);
    const double at = fmin(fmax(even, pair[0].cost), pair[1].cost);
    const size_t first = question % 2; /* the one that refers more is not always the first */
    char answer = '\0';
    (void)fprintf(stderr, "Question %zu of at most %d\n", question + 1, MOST_QUESTIONS);
    show('1', &pair[first], a);
    show('2', &pair[1 - first], a);
    const mel_status status = read_answer(&answer, err);
    if (status != MEL_OK)
        return status;
    if (answer == '=')
        *range = (mel_interval){ at, at };
    else if ((answer == '1') == (first == 0)) /* more are referred: it costs less */
        range->high = at;
    else
        range->low = at;
    return MEL_OK;
}

/* From the least cost to one at which nothing is referred. */
static mel_status find_ends(mel_interval *range, offer *room, const asking *a, mel_error *err)
{
    *range = (mel_interval){ least_cost, 1.0 };
    mel_status status = make_offer(room, a, least_cost, err);
    if (status == MEL_OK && !(room->referred >= least_apart))
        return cli_fail(err, MEL_EDATA, "--reject ask: hardly any case would be referred at any cost");
    if (status == MEL_OK)
        status = make_offer(room, a, range->high, err);
    while (status == MEL_OK && room->referred > 0.0 && range->high < most_cost) {
        range->high *= 2.0;
        status = make_offer(room, a, range->high, err);
    }
    return status;
}

mel_status cli_ask_reject(cli_applied_rule *found, const mel_rule_rows *rows, const mel_rule_options *opt,
                          const char *name, mel_error *err)
{
    const asking a = { found, rows, opt, name };
    offer pair[2] = { { .cost = 0.0 }, { .cost = 0.0 } };
    mel_interval *range = &found->refer_range;
    bool apart = true;
    mel_status status = find_ends(range, &pair[0], &a, err);
    while (status == MEL_OK && found->refer_questions < MOST_QUESTIONS &&
           range->high > close_enough * range->low) {
        status = make_pair(pair, &apart, &a, range, err);
        if (status != MEL_OK || !apart)
            break;
        status = ask_once(range, pair, &a, found->refer_questions, err);
        found->refer_questions += status == MEL_OK;
    }
    mel_rule_report_clear(&pair[0].report);
    mel_rule_report_clear(&pair[1].report);
    found->refer_cost = sqrt(range->low * range->high);
    return status;
}
