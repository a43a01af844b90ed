/* What an elicitation found, on the terminal: the library says it, this prints it. */
#include "outcome.h"
#include "output.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

mel_status cli_outcome_json(json_t *result, const cli_outcome *o, mel_error *err)
{
    char *text = NULL;
    TRY(mel_outcome_to_json(&text, o->found, err));
    json_t *found = cli_json_made(text);
    cli_put(result, "status", cli_json_text(o->stopped ? "stopped" : "done"));
    cli_put(result, "seconds", cli_json_number(o->seconds));
    const char *key = NULL;
    json_t *value = NULL;
    json_object_foreach(found, key, value) cli_put(result, key, json_incref(value));
    json_decref(found);
    return MEL_OK;
}

/* A line of the result: "  best        predict cancer when ...", wrapped. */
static void print_row(const char *name, const char *text)
{
    cli_print("  %-12s", name);
    cli_wrap(stdout, text, 14, 14, cli_width(stdout));
}

/* What is said about a topic, in one row. */
static void print_topic(const mel_outcome *found, mel_topic topic, const char *name)
{
    char *text = NULL;
    for (size_t i = 0; i < found->n_statements; i++) {
        if (found->statements[i].topic != topic)
            continue;
        char *longer = cli_format("%s%s%s", text != NULL ? text : "", text != NULL ? " " : "",
                                  found->statements[i].text);
        free(text);
        text = longer;
    }
    if (text != NULL)
        print_row(name, text);
    free(text);
}

static void print_weights(const mel_outcome *found)
{
    const bool search = found->options->strategy == MEL_STRATEGY_SEARCH;
    const char *const headers[] = { "", "weight", search ? "interval" : "95% interval" };
    enum { NAME_COLUMNS = 50 };
    cli_table *table = cli_table_new("lrr", headers);
    for (size_t i = 0; i < found->n_coefficients; i++) {
        const mel_coefficient *c = &found->coefficients[i];
        char *name = cli_short(c->meaning, NAME_COLUMNS);
        cli_table_cell(table, "%s", name);
        cli_table_cell(table, "%.4f", c->number.value);
        if (isfinite(c->number.low) && isfinite(c->number.high))
            cli_table_cell(table, "%.4f to %.4f", c->number.low, c->number.high);
        else
            cli_table_cell(table, "not known");
        free(name);
    }
    cli_table_print(table);
    if (found->n_left_out > 0)
        cli_print("  and %zu smaller ones, in the metric file\n", found->n_left_out);
    cli_print("\n");
}

static void print_best(const mel_outcome *found)
{
    char *text = NULL;
    if (found->n_decisions > 0) {
        const mel_decision *best = &found->decisions[0];
        text = cli_format("%s: %s of 1,000 %s", best->words, best->effect, found->people);
    } else if (found->best != NULL) {
        const mel_classifier_parts got = mel_classifier_get(found->best);
        char *point = cli_vector_text(mel_layout_size(mel_metric_layout(found->metric)), got.statistics);
        text = cli_format("%s, value %.6g; melicit apply writes the classifier", point, got.value);
        free(point);
    }
    if (text != NULL)
        print_row("best", text);
    free(text);
}

/* The numbers that others use, in one row; `melicit metric --show` has all of them. */
static void print_equivalents(const mel_outcome *found)
{
    static const char *const usual[] = { "threshold", "score_threshold", "regret", "class_weight", "beta" };
    char *text = NULL;
    for (size_t i = 0; i < found->n_equivalents; i++)
        for (size_t k = 0; k < sizeof usual / sizeof *usual; k++) {
            const mel_equivalent *e = &found->equivalents[i];
            if (strcmp(e->key, usual[k]) != 0 || isnan(e->number.value))
                continue;
            char *longer =
                cli_format("%s%s%s %s", text != NULL ? text : "", text != NULL ? "; " : "", e->name, e->text);
            free(text);
            text = longer;
        }
    if (text != NULL)
        print_row("elsewhere", text);
    free(text);
}

static void print_closest(const mel_outcome *found)
{
    char *text = cli_format("%s", "");
    for (size_t i = 0; i < found->n_closest; i++) {
        char *longer = cli_format("%s%s%s (orders %s%% of pairs alike)", text, i == 0 ? "" : ", ",
                                  found->closest[i].name, found->closest[i].percent);
        free(text);
        text = longer;
    }
    if (found->n_closest > 0)
        print_row("closest", text);
    free(text);
}

/* A word as a shell takes it; freed by the caller. */
static char *shell_word(const char *text)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:=,+@%-";
    if (text[0] != '\0' && strspn(text, plain) == strlen(text))
        return cli_format("%s", text);
    char *quoted = cli_format("'");
    for (const char *at = text; *at != '\0'; at++) {
        char *longer = *at == '\'' ? cli_format("%s'\\''", quoted) : cli_format("%s%c", quoted, *at);
        free(quoted);
        quoted = longer;
    }
    char *whole = cli_format("%s'", quoted);
    free(quoted);
    return whole;
}

/* The command that goes on and writes the same files, on one line, to be copied. */
static void print_next_command(const cli_outcome *o)
{
    const struct {
        const char *option, *value;
    } words[] = { { "session", o->session_path },
                  { "oracle", o->oracle },
                  { "out", o->metric_path },
                  { "report", o->report_path },
                  { "log-questions", o->log_path } };
    cli_print("  go on with  melicit elicit");
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (words[i].value == NULL)
            continue;
        char *word = shell_word(words[i].value);
        cli_print(" --%s %s", words[i].option, word);
        free(word);
    }
    cli_print("\n");
}

static void print_files(const cli_outcome *o)
{
    if (o->metric_path != NULL)
        print_row("metric file", o->metric_path);
    if (o->report_path != NULL)
        print_row("report", o->report_path);
    if (o->stopped && o->session_path != NULL)
        print_next_command(o);
}

void cli_outcome_text(const cli_outcome *o)
{
    const mel_outcome *found = o->found;
    cli_print("\n");
    cli_heading("Result");
    for (size_t i = 0; i < found->n_statements; i++)
        if (found->statements[i].topic == MEL_ABOUT_METRIC)
            cli_wrap(stdout, found->statements[i].text, 0, 0, cli_width(stdout));
    cli_print("\n");
    if (!found->nothing_found)
        print_weights(found);
    print_topic(found, MEL_ABOUT_END, "questions");
    print_topic(found, MEL_ABOUT_KNOWN, "is known");
    print_topic(found, MEL_ABOUT_OPEN, "is not");
    print_topic(found, MEL_ABOUT_ANSWERS, "answers");
    if (!found->nothing_found) {
        print_best(found);
        print_equivalents(found);
        print_closest(found);
    }
    print_files(o);
}

/* --- what mistakes are called ----------------------------------------------------------------------------
 */

static void split(char **one, char **many, const char *given)
{
    const char *bar = given != NULL ? strchr(given, '|') : NULL;
    *one = given == NULL ? NULL
           : bar == NULL ? cli_format("%s", given)
                         : cli_format("%.*s", (int)(bar - given), given);
    *many = bar != NULL ? cli_format("%s", bar + 1) : NULL;
}

cli_mistake_names cli_mistake_names_of(const char *missed, const char *false_alarm)
{
    cli_mistake_names names;
    split(&names.missed, &names.missed_plural, missed);
    split(&names.false_alarm, &names.false_alarms, false_alarm);
    return names;
}

void cli_mistake_names_clear(cli_mistake_names *names)
{
    free(names->missed);
    free(names->missed_plural);
    free(names->false_alarm);
    free(names->false_alarms);
    *names = (cli_mistake_names){ 0 };
}

mel_outcome_options cli_outcome_options(const cli_mistake_names *names, size_t rows)
{
    mel_outcome_options opt;
    mel_outcome_options_init(&opt);
    opt.missed = names->missed;
    opt.missed_plural = names->missed_plural;
    opt.false_alarm = names->false_alarm;
    opt.false_alarms = names->false_alarms;
    opt.rows = rows;
    return opt;
}
