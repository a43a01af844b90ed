/* Questions as a person sees them, and answers as a person gives them: in lines and by single keys. */
#define _XOPEN_SOURCE 700 /* pseudo-terminals */
#include "metric/text.h"
#include "oracle/counts.h"
#include "support/test.h"

#include "oracle/shared.h"

#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

typedef struct {
    const char *what;
    mel_layout layout;
    int width;
    bool utf8, sizes, classifiers;
    uint32_t people, number, expected;
    const char *names[3];
    const char *groups[2];
    double a[6], b[6], share[3]; /* share all zero: unknown */
    const char *classifier_a, *classifier_b, *missed, *false_alarm;
    const char *text;
} shown;

/* clang-format off */
static const shown rows[] = {
{ "60 columns",
  { MEL_CONFUSION, MEL_BINARY, 2, 0 }, 60, true, true, false, 0, 3, 7, { "healthy", "cancer" }, { 0 },
  { 0.361, 0.513 }, { 0.349, 0.598 }, { 0.627, 0.373 },
  NULL, NULL, NULL, NULL,
"Question 3 of about 7                    out of 1,000 people\n"
"╭─ A ───────────────────────╮  ╭─ B ───────────────────────╮\n"
"│             predicted     │  │             predicted     │\n"
"│ true     healthy   cancer │  │ true     healthy   cancer │\n"
"│ healthy      513      114 │  │ healthy      598       29 │\n"
"│ cancer        12      361 │  │ cancer        24      349 │\n"
"│                           │  │                           │\n"
"│ missed cancer cases    12 │  │ missed cancer cases    24 │\n"
"│ ██▋                       │  │ █████▎                    │\n"
"│ false alarms          114 │  │ false alarms           29 │\n"
"│ █████████████████████████ │  │ ██████▍                   │\n"
"╰───────────────────────────╯  ╰───────────────────────────╯\n"
"B finds 12 fewer cancer cases; 85 fewer false alarms.\n" },
{ "80 columns",
  { MEL_CONFUSION, MEL_BINARY, 2, 0 }, 80, true, true, false, 0, 3, 7, { "healthy", "cancer" }, { 0 },
  { 0.361, 0.513 }, { 0.349, 0.598 }, { 0.627, 0.373 },
  NULL, NULL, NULL, NULL,
"Question 3 of about 7                                        out of 1,000 people\n"
"╭─ A ─────────────────────────────────╮  ╭─ B ─────────────────────────────────╮\n"
"│                      predicted      │  │                      predicted      │\n"
"│ true            healthy      cancer │  │ true            healthy      cancer │\n"
"│ healthy 627         513         114 │  │ healthy 627         598          29 │\n"
"│ cancer  373          12         361 │  │ cancer  373          24         349 │\n"
"│                                     │  │                                     │\n"
"│ missed cancer cases              12 │  │ missed cancer cases              24 │\n"
"│ ███▋                                │  │ ███████▍                            │\n"
"│ false alarms                    114 │  │ false alarms                     29 │\n"
"│ ███████████████████████████████████ │  │ ████████▉                           │\n"
"╰─────────────────────────────────────╯  ╰─────────────────────────────────────╯\n"
"B finds 12 fewer cancer cases; 85 fewer false alarms.\n" },
{ "100 columns, with the classifiers",
  { MEL_CONFUSION, MEL_BINARY, 2, 0 }, 100, true, true, true, 0, 3, 7, { "healthy", "cancer" }, { 0 },
  { 0.361, 0.513 }, { 0.349, 0.598 }, { 0.627, 0.373 },
  "cancer when the score is at least 0.12", "cancer when the score is at least 0.47, else a coin", NULL, NULL,
"Question 3 of about 7                                                            out of 1,000 people\n"
"╭─ A ───────────────────────────────────────────╮  ╭─ B ───────────────────────────────────────────╮\n"
"│ cancer when the score is at least 0.12        │  │ cancer when the score is at least 0.47, else  │\n"
"│                                               │  │ a coin                                        │\n"
"│                                               │  │                                               │\n"
"│                              predicted        │  │                              predicted        │\n"
"│ true                   healthy         cancer │  │ true                   healthy         cancer │\n"
"│ healthy 627                513            114 │  │ healthy 627                598             29 │\n"
"│ cancer  373                 12            361 │  │ cancer  373                 24            349 │\n"
"│                                               │  │                                               │\n"
"│ missed cancer cases                        12 │  │ missed cancer cases                        24 │\n"
"│ ████▊                                         │  │ █████████▌                                    │\n"
"│ false alarms                              114 │  │ false alarms                               29 │\n"
"│ █████████████████████████████████████████████ │  │ ███████████▌                                  │\n"
"╰───────────────────────────────────────────────╯  ╰───────────────────────────────────────────────╯\n"
"B finds 12 fewer cancer cases; 85 fewer false alarms.\n" },
{ "ASCII, out of 100",
  { MEL_CONFUSION, MEL_BINARY, 2, 0 }, 80, false, true, false, 100, 1, 0, { "healthy", "cancer" }, { 0 },
  { 0.361, 0.513 }, { 0.349, 0.598 }, { 0.627, 0.373 },
  NULL, NULL, NULL, NULL,
"Question 1                                                     out of 100 people\n"
"+- A ---------------------------------+  +- B ---------------------------------+\n"
"|                      predicted      |  |                      predicted      |\n"
"| true            healthy      cancer |  | true            healthy      cancer |\n"
"| healthy 63           52          11 |  | healthy 63           60           3 |\n"
"| cancer  37            1          36 |  | cancer  37            2          35 |\n"
"|                                     |  |                                     |\n"
"| missed cancer cases               1 |  | missed cancer cases               2 |\n"
"| ###                                 |  | ######                              |\n"
"| false alarms                     11 |  | false alarms                      3 |\n"
"| ################################### |  | ##########                          |\n"
"+-------------------------------------+  +-------------------------------------+\n"
"B finds 1 fewer cancer case; 8 fewer false alarms.\n" },
{ "40 columns: one below the other, own words",
  { MEL_CONFUSION, MEL_BINARY, 2, 0 }, 40, true, false, false, 0, 9, 7, { "repaid", "default" }, { 0 },
  { 0.03, 0.8 }, { 0.029, 0.9 }, { 0.95, 0.05 },
  NULL, NULL, "bad loan", "lost customer",
"Question 9          out of 10,000 people\n"
"╭─ A ──────────────────────────────────╮\n"
"│                      predicted       │\n"
"│ true            repaid       default │\n"
"│ repaid           8,000         1,500 │\n"
"│ default            200           300 │\n"
"│                                      │\n"
"│ bad loan cases                   200 │\n"
"│ ████▊                                │\n"
"│ lost customer cases            1,500 │\n"
"│ ████████████████████████████████████ │\n"
"╰──────────────────────────────────────╯\n"
"╭─ B ──────────────────────────────────╮\n"
"│                      predicted       │\n"
"│ true            repaid       default │\n"
"│ repaid           9,000           500 │\n"
"│ default            210           290 │\n"
"│                                      │\n"
"│ bad loan cases                   210 │\n"
"│ █████                                │\n"
"│ lost customer cases              500 │\n"
"│ ████████████                         │\n"
"╰──────────────────────────────────────╯\n"
"B has 10 more bad loan cases; 1,000\n"
"  fewer lost customer cases.\n" },
{ "names of any length and script",
  { MEL_CONFUSION, MEL_BINARY, 2, 0 }, 60, true, true, false, 0, 1, 9, { "kein bösartiger Befund", "乳がん" }, { 0 },
  { 0.2, 0.5 }, { 0.1, 0.65 }, { 0.7, 0.3 },
  NULL, NULL, NULL, NULL,
"Question 1 of about 9                      out of 100 people\n"
"╭─ A ───────────────────────╮  ╭─ B ───────────────────────╮\n"
"│              predicted    │  │              predicted    │\n"
"│ true       kein …  乳がん │  │ true       kein …  乳がん │\n"
"│ kein … 70      50      20 │  │ kein … 70      65       5 │\n"
"│ 乳がん 30      10      20 │  │ 乳がん 30      20      10 │\n"
"│                           │  │                           │\n"
"│ missed cases of \"乳が… 10 │  │ missed cases of \"乳が… 20 │\n"
"│ ████████████▌             │  │ █████████████████████████ │\n"
"│ false alarms           20 │  │ false alarms            5 │\n"
"│ █████████████████████████ │  │ ██████▎                   │\n"
"╰───────────────────────────╯  ╰───────────────────────────╯\n"
"B finds 10 fewer cases of \"乳がん\"; 15 fewer false alarms.\n" },
{ "the same without UTF-8",
  { MEL_CONFUSION, MEL_BINARY, 2, 0 }, 60, false, true, false, 0, 1, 9, { "kein bösartiger Befund", "乳がん" }, { 0 },
  { 0.2, 0.5 }, { 0.1, 0.65 }, { 0.7, 0.3 },
  NULL, NULL, NULL, NULL,
"Question 1 of about 9                      out of 100 people\n"
"+- A -----------------------+  +- B -----------------------+\n"
"|              predicted    |  |              predicted    |\n"
"| true       kein ~     ??? |  | true       kein ~     ??? |\n"
"| kein ~ 70      50      20 |  | kein ~ 70      65       5 |\n"
"| ???    30      10      20 |  | ???    30      20      10 |\n"
"|                           |  |                           |\n"
"| missed cases of \"???\"  10 |  | missed cases of \"???\"  20 |\n"
"| #############             |  | ######################### |\n"
"| false alarms           20 |  | false alarms            5 |\n"
"| ######################### |  | ######                    |\n"
"+---------------------------+  +---------------------------+\n"
"B finds 10 fewer cases of \"???\"; 15 fewer false alarms.\n" },
{ "class shares unknown",
  { MEL_CONFUSION, MEL_BINARY, 2, 0 }, 80, true, true, false, 0, 2, 0, { "healthy", "cancer" }, { 0 },
  { 0.361, 0.513 }, { 0.349, 0.598 }, { 0 },
  NULL, NULL, NULL, NULL,
"Question 2                                                   out of 1,000 people\n"
"╭─ A ─────────────────────────────────╮  ╭─ B ─────────────────────────────────╮\n"
"│ cancer: right                   361 │  │ cancer: right                   349 │\n"
"│ █████████████████████▏              │  │ ████████████████████▍               │\n"
"│ healthy: right                  513 │  │ healthy: right                  598 │\n"
"│ ██████████████████████████████      │  │ ███████████████████████████████████ │\n"
"╰─────────────────────────────────────╯  ╰─────────────────────────────────────╯\n"
"B finds 12 fewer cancer cases; 85 fewer false alarms.\n" },
{ "nothing to see",
  { MEL_CONFUSION, MEL_BINARY, 2, 0 }, 80, true, true, false, 0, 2, 0, { "0", "1" }, { 0 },
  { 0.3, 0.5 }, { 0.3, 0.500001 }, { 0.6, 0.4 },
  NULL, NULL, NULL, NULL,
"Question 2                                                  out of 10,000 people\n"
"╭─ A ─────────────────────────────────╮  ╭─ B ─────────────────────────────────╮\n"
"│                       predicted     │  │                       predicted     │\n"
"│ true                  0           1 │  │ true                  0           1 │\n"
"│ 0    6,000        5,000       1,000 │  │ 0    6,000        5,000       1,000 │\n"
"│ 1    4,000        1,000       3,000 │  │ 1    4,000        1,000       3,000 │\n"
"│                                     │  │                                     │\n"
"│ missed positives              1,000 │  │ missed positives              1,000 │\n"
"│ ███████████████████████████████████ │  │ ███████████████████████████████████ │\n"
"│ false alarms                  1,000 │  │ false alarms                  1,000 │\n"
"│ ███████████████████████████████████ │  │ ███████████████████████████████████ │\n"
"╰─────────────────────────────────────╯  ╰─────────────────────────────────────╯\n"
"A and B look the same at this scale.\n" },
{ "three classes",
  { MEL_CONFUSION, MEL_OFFDIAGONAL, 3, 0 }, 80, true, true, false, 0, 1, 30, { "healthy", "flu", "pneumonia" }, { 0 },
  { 0.05, 0.02, 0.03, 0.01, 0.04, 0.06 }, { 0.06, 0.02, 0.01, 0.01, 0.08, 0.02 }, { 0.5, 0.3, 0.2 },
  NULL, NULL, NULL, NULL,
"Question 1 of about 30                                       out of 1,000 people\n"
"╭─ A ─────────────────────────────────╮  ╭─ B ─────────────────────────────────╮\n"
"│                     predicted       │  │                     predicted       │\n"
"│ true           healt…    flu pneum… │  │ true           healt…    flu pneum… │\n"
"│ healthy   500     430     50     20 │  │ healthy   500     420     60     20 │\n"
"│ flu       300      30    260     10 │  │ flu       300      10    280     10 │\n"
"│ pneumonia 200      40     60    100 │  │ pneumonia 200      80     20    100 │\n"
"│                                     │  │                                     │\n"
"│ wrong, by true class                │  │ wrong, by true class                │\n"
"│ healthy   ██████████████▊        70 │  │ healthy   ████████████████▊      80 │\n"
"│ flu       ████████▍              40 │  │ flu       ████▎                  20 │\n"
"│ pneumonia █████████████████████ 100 │  │ pneumonia █████████████████████ 100 │\n"
"╰─────────────────────────────────────╯  ╰─────────────────────────────────────╯\n"
"From A to B: 40 more pneumonia taken for healthy, 40 fewer pneumonia taken for\n"
"  flu, 20 fewer flu taken for healthy, 10 more healthy taken for flu.\n" },
{ "three classes, right answers only",
  { MEL_CONFUSION, MEL_DIAGONAL, 3, 0 }, 80, true, true, false, 0, 1, 30, { "healthy", "flu", "pneumonia" }, { 0 },
  { 0.45, 0.26, 0.1 }, { 0.43, 0.28, 0.14 }, { 0.5, 0.3, 0.2 },
  NULL, NULL, NULL, NULL,
"Question 1 of about 30                                       out of 1,000 people\n"
"╭─ A ─────────────────────────────────╮  ╭─ B ─────────────────────────────────╮\n"
"│ true               right      wrong │  │ true               right      wrong │\n"
"│ healthy   500        450         50 │  │ healthy   500        430         70 │\n"
"│ flu       300        260         40 │  │ flu       300        280         20 │\n"
"│ pneumonia 200        100        100 │  │ pneumonia 200        140         60 │\n"
"│                                     │  │                                     │\n"
"│ wrong, by true class                │  │ wrong, by true class                │\n"
"│ healthy   ██████████▌            50 │  │ healthy   ██████████████▊        70 │\n"
"│ flu       ████████▍              40 │  │ flu       ████▎                  20 │\n"
"│ pneumonia █████████████████████ 100 │  │ pneumonia ████████████▋          60 │\n"
"╰─────────────────────────────────────╯  ╰─────────────────────────────────────╯\n"
"From A to B: 40 more pneumonia recognised, 20 fewer healthy recognised, 20 more\n"
"  flu recognised.\n" },
{ "two groups of rates",
  { MEL_RATES, MEL_BINARY, 2, 2 }, 80, true, true, false, 0, 1, 30, { "no", "yes" }, { "men", "women" },
  { 0.45, 0.26, 0.1, 0.5 }, { 0.43, 0.28, 0.14, 0.4 }, { 0 },
  NULL, NULL, NULL, NULL,
"Question 1 of about 30                         out of 1,000 people of each class\n"
"╭─ A ─────────────────────────────────╮  ╭─ B ─────────────────────────────────╮\n"
"│ group men                           │  │ group men                           │\n"
"│                       predicted     │  │                       predicted     │\n"
"│ true                 no         yes │  │ true                 no         yes │\n"
"│ no                  260         740 │  │ no                  280         720 │\n"
"│ yes                 550         450 │  │ yes                 570         430 │\n"
"│                                     │  │                                     │\n"
"│ missed positives                550 │  │ missed positives                570 │\n"
"│ █████████████████████▍              │  │ ██████████████████████▏             │\n"
"│ false alarms                    740 │  │ false alarms                    720 │\n"
"│ ████████████████████████████▊       │  │ ████████████████████████████        │\n"
"│                                     │  │                                     │\n"
"│ group women                         │  │ group women                         │\n"
"│                       predicted     │  │                       predicted     │\n"
"│ true                 no         yes │  │ true                 no         yes │\n"
"│ no                  500         500 │  │ no                  400         600 │\n"
"│ yes                 900         100 │  │ yes                 860         140 │\n"
"│                                     │  │                                     │\n"
"│ missed positives                900 │  │ missed positives                860 │\n"
"│ ███████████████████████████████████ │  │ █████████████████████████████████▌  │\n"
"│ false alarms                    500 │  │ false alarms                    600 │\n"
"│ ███████████████████▌                │  │ ███████████████████████▍            │\n"
"╰─────────────────────────────────────╯  ╰─────────────────────────────────────╯\n"
"From A to B: 100 more false alarms in group women, 40 fewer missed positives in\n"
"  group women, 20 fewer false alarms in group men, 20 more missed positives in\n"
"  group men.\n" },
};
/* clang-format on */

static char *show(const mel_question *question, const mel_show_options *opt)
{
    char *text = NULL;
    mel_error err = { 0 };
    assert_ok(mel_question_show(&text, question, opt, &err), &err);
    return text;
}

static mel_question question_of(const shown *row)
{
    return (mel_question){ .number = row->number,
                           .expected = row->expected,
                           .layout = &row->layout,
                           .class_names = row->names,
                           .group_names = row->groups[0] != NULL ? row->groups : NULL,
                           .a = row->a,
                           .b = row->b,
                           .class_share = row->share[0] > 0 ? row->share : NULL,
                           .classifier_a = row->classifier_a,
                           .classifier_b = row->classifier_b };
}

static mel_show_options options_of(const shown *row)
{
    mel_show_options opt;
    mel_show_options_init(&opt);
    opt.width = row->width;
    opt.utf8 = row->utf8;
    opt.sizes = row->sizes;
    opt.classifiers = row->classifiers;
    opt.people = row->people;
    opt.missed = row->missed;
    opt.false_alarm = row->false_alarm;
    return opt;
}

/* Takes colours out, in place. */
static void strip_colours(char *text)
{
    char *to = text;
    for (const char *at = text; *at != '\0';) {
        if (*at == '\x1b')
            at += strcspn(at, "m") + 1;
        else
            *to++ = *at++;
    }
    *to = '\0';
}

static void test_pictures(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const mel_question question = question_of(&rows[i]);
        mel_show_options opt = options_of(&rows[i]);
        print_message("  %s\n", rows[i].what);
        char *text = show(&question, &opt);
        assert_string_equal(text, rows[i].text);
        free(text);
        /* Colours change nothing but colours. */
        opt.colour = true;
        text = show(&question, &opt);
        assert_non_null(strstr(text, "\x1b["));
        strip_colours(text);
        assert_string_equal(text, rows[i].text);
        free(text);
    }
}

/* "predicted", never "labelled". */
static void test_vocabulary(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++)
        assert_null(strstr(rows[i].text, "label"));
}

static void test_refusals(void **state)
{
    (void)state;
    const mel_layout binary = { MEL_CONFUSION, MEL_BINARY, 2, 0 },
                     many = { MEL_CONFUSION, MEL_DIAGONAL, 5000, 0 };
    static double a[5000];
    const double bad_share[] = { 0.5, -0.1 }, no_share[] = { 0, 0 };
    const struct {
        const char *what;
        mel_question question;
        int width;
        mel_status status;
        const char *says;
    } cases[] = {
        { "too narrow", { .layout = &binary, .a = a, .b = a }, 39, MEL_EINVAL, "39 columns" },
        { "too wide", { .layout = &binary, .a = a, .b = a }, 401, MEL_EINVAL, "401 columns" },
        { "no layout", { .a = a, .b = a }, 80, MEL_EINVAL, "no layout" },
        { "negative share",
          { .layout = &binary, .a = a, .b = a, .class_share = bad_share },
          80,
          MEL_EINVAL,
          "share of class 2 is -0.1" },
        { "empty classes",
          { .layout = &binary, .a = a, .b = a, .class_share = no_share },
          80,
          MEL_EINVAL,
          "all zero" },
        { "too many classes", { .layout = &many, .a = a, .b = a }, 80, MEL_ELIMIT, "5000 classes" },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        char *text = (char *)&cases;
        mel_error err = { 0 };
        mel_show_options opt;
        mel_show_options_init(&opt);
        opt.width = cases[i].width;
        print_message("  %s\n", cases[i].what);
        assert_int_equal(mel_question_show(&text, &cases[i].question, &opt, &err), cases[i].status);
        assert_null(text);
        if (strstr(err.text, cases[i].says) == NULL)
            fail_msg("\"%s\" does not say \"%s\"", err.text, cases[i].says);
    }
}

/* Random classes, names, groups and widths: no line is too long, and frames close. */
static void test_lines_fit(void **state)
{
    (void)state;
    static const char *const pool[] = { "a",
                                        "healthy",
                                        "\u4e73\u304c\u3093",
                                        "\u00e9t\u00e9",
                                        "class 12",
                                        "very long name of a class that nobody can read",
                                        "x\ty",
                                        "\xff\xfe",
                                        "42",
                                        "\U0001f600",
                                        "e\u0301e\u0301" };
    mel_rng rng;
    mel_rng_seed(&rng, 12);
    for (int round = 0; round < 1500; round++) {
        const size_t k = 2 + mel_rng_below(&rng, 9);
        const mel_layout layout = { mel_rng_below(&rng, 2) == 0 ? MEL_CONFUSION : MEL_RATES,
                                    k == 2 && mel_rng_below(&rng, 2) == 0 ? MEL_BINARY
                                    : mel_rng_below(&rng, 2) == 0         ? MEL_DIAGONAL
                                                                          : MEL_OFFDIAGONAL,
                                    k, mel_rng_below(&rng, 4) };
        double a[300], b[300], share[16];
        const char *names[16];
        for (size_t i = 0; i < COUNT(a); i++) {
            a[i] = mel_rng_uniform(&rng) / (double)(k * k);
            b[i] = mel_rng_below(&rng, 3) == 0 ? a[i] : mel_rng_uniform(&rng) / (double)(k * k);
        }
        mel_rng_dirichlet(&rng, k, NULL, share);
        for (size_t i = 0; i < k; i++)
            names[i] = pool[mel_rng_below(&rng, COUNT(pool))];
        const mel_question question = { .number = (uint32_t)round,
                                        .expected = 50,
                                        .layout = &layout,
                                        .class_names = names,
                                        .a = a,
                                        .b = b,
                                        .class_share = mel_rng_below(&rng, 3) > 0 ? share : NULL,
                                        .classifier_a = mel_rng_below(&rng, 2) == 0 ? pool[5] : NULL };
        mel_show_options opt;
        mel_show_options_init(&opt);
        opt.width = 40 + (int)mel_rng_below(&rng, 100);
        opt.utf8 = mel_rng_below(&rng, 2) == 0;
        opt.classifiers = mel_rng_below(&rng, 2) == 0;
        opt.people = mel_rng_below(&rng, 4) == 0 ? 1000000 : 0;
        char *text = show(&question, &opt);
        size_t lines = 0;
        for (char *line = text; *line != '\0'; lines++) {
            char *end = strchr(line, '\n');
            assert_non_null(end);
            *end = '\0';
            assert_true(mel_text_is_utf8(line));
            const size_t columns = mel_text_columns(line);
            const bool frame = line[0] == '+' || line[0] == '|' || (unsigned char)line[0] == 0xe2;
            if (columns > (size_t)opt.width || (frame && columns + 1 < (size_t)opt.width))
                fail_msg("%zu columns instead of %d: %s", columns, opt.width, line);
            if (!opt.utf8)
                for (const char *c = line; *c != '\0'; c++)
                    assert_in_range(*c, ' ', '~');
            line = end + 1;
        }
        assert_true(lines > 5);
        free(text);
    }
}

/* People add up: rows to their class, classes to everybody, on both sides. */
static void test_people_add_up(void **state)
{
    (void)state;
    mel_rng rng;
    mel_rng_seed(&rng, 13);
    for (int round = 0; round < 1000; round++) {
        const size_t k = 2 + mel_rng_below(&rng, 5);
        const mel_layout layout = { mel_rng_below(&rng, 2) == 0 ? MEL_CONFUSION : MEL_RATES, MEL_OFFDIAGONAL,
                                    k, 0 };
        double share[8], a[64], b[64], row[8];
        mel_rng_dirichlet(&rng, k, NULL, share);
        for (int side = 0; side < 2; side++) {
            size_t at = 0;
            for (size_t i = 0; i < k; i++) {
                mel_rng_dirichlet(&rng, k, NULL, row);
                for (size_t j = 0; j < k; j++)
                    if (i != j)
                        (side == 0 ? a : b)[at++] = row[j] * (layout.kind == MEL_RATES ? 1 : share[i]);
            }
        }
        const mel_question question = {
            .number = 1, .layout = &layout, .a = a, .b = b, .class_share = share
        };
        mel_counted counted;
        mel_error err = { 0 };
        assert_ok(mel_counted_make(&counted, &question, round % 2 == 0 ? 0 : 777, &err), &err);
        int64_t everybody = 0;
        for (size_t i = 0; i < k; i++) {
            int64_t sums[2] = { 0, 0 };
            for (size_t j = 0; j < k; j++)
                for (int side = 0; side < 2; side++) {
                    const int64_t count = mel_counted_at(&counted, side == 1, 0, i, j);
                    assert_true(count >= 0);
                    sums[side] += count;
                }
            assert_int_equal(sums[0], counted.size[i]);
            assert_int_equal(sums[1], counted.size[i]);
            everybody += counted.size[i];
        }
        assert_int_equal(everybody, layout.kind == MEL_RATES ? counted.people * (int64_t)k : counted.people);
        mel_counted_clear(&counted);
    }
}

static void test_choice_of_people(void **state)
{
    (void)state;
    static const struct {
        double d_tp, d_tn;
        int64_t want;
    } cases[] = {
        { 0.05, 0.08, 100 },  { 0.049, 0.08, 1000 },  { 0.005, 0.3, 1000 }, { 0.0049, 0.3, 10000 },
        { 1e-4, 0.3, 10000 }, { 1e-5, 0.3, 100 },     { 0, 0.06, 100 },     { 0, 0, 10000 },
        { -0.1, 0.1, 100 },   { -0.001, 0.1, 10000 },
    };
    const mel_layout layout = { MEL_CONFUSION, MEL_BINARY, 2, 0 };
    const double share[] = { 0.6, 0.4 };
    for (size_t i = 0; i < COUNT(cases); i++) {
        const double a[] = { 0.2, 0.2 }, b[] = { 0.2 + cases[i].d_tp, 0.2 + cases[i].d_tn };
        const mel_question question = { .layout = &layout, .a = a, .b = b, .class_share = share };
        mel_counted counted;
        assert_ok(mel_counted_make(&counted, &question, 0, NULL), NULL);
        assert_int_equal(counted.people, cases[i].want);
        mel_counted_clear(&counted);
    }
}

/* Runs a dialogue in lines; *out_text is what the person saw, to be freed. */
static mel_reply converse(const char *lines, char **out_text)
{
    char *seen = NULL;
    size_t n_seen = 0;
    FILE *in = lines[0] != '\0' ? fmemopen((void *)lines, strlen(lines), "r") : fopen("/dev/null", "r");
    FILE *out = open_memstream(&seen, &n_seen);
    assert_non_null(in);
    assert_non_null(out);
    mel_terminal_options opt;
    mel_terminal_options_init(&opt);
    opt.in = in;
    opt.out = out;
    opt.show = options_of(&rows[1]);
    char missed[] = "missed tumour";
    opt.show.missed = missed;
    mel_oracle *oracle = NULL;
    mel_error err = { 0 };
    assert_ok(mel_oracle_terminal(&oracle, &opt, &err), &err);
    missed[0] = 'X'; /* the oracle has its own copy */
    const mel_question question = question_of(&rows[1]);
    mel_reply reply = (mel_reply)77;
    assert_ok(mel_oracle_ask(&reply, oracle, &question, &err), &err);
    mel_oracle_free(oracle);
    fclose(in);
    fclose(out);
    *out_text = seen;
    return reply;
}

static void test_lines(void **state)
{
    (void)state;
    static const struct {
        const char *lines;
        mel_reply want;
        const char *seen;
    } cases[] = {
        { "a\n", MEL_REPLY_A, "Which would you rather have?" },
        { "A\n", MEL_REPLY_A, "finds 12 fewer tumour cases; 85 fewer false alarms" },
        { "1\n", MEL_REPLY_A, NULL },
        { " b \r\n", MEL_REPLY_B, NULL },
        { "2", MEL_REPLY_B, NULL },
        { "=\n", MEL_REPLY_SAME, NULL },
        { "same\n", MEL_REPLY_SAME, NULL },
        { "s\n", MEL_REPLY_SKIP, NULL },
        { "Skip\n", MEL_REPLY_SKIP, NULL },
        { "u\n", MEL_REPLY_UNDO, NULL },
        { "Undo\n", MEL_REPLY_UNDO, NULL },
        { "q\n", MEL_REPLY_QUIT, NULL },
        { "QUIT\n", MEL_REPLY_QUIT, NULL },
        { "", MEL_REPLY_QUIT, NULL },
        { "\n\n", MEL_REPLY_QUIT, "Please answer" },
        { "perhaps\nboth\nb\n", MEL_REPLY_B, "Please answer a, b, =, s, u, q or ?: " },
        { "n\na\n", MEL_REPLY_A, "Please answer a, b, =, s, u, q or ?" },
        { "?\na\n", MEL_REPLY_A,
          "A missed tumour is someone who truly is \"cancer\" and is predicted to be" },
        { "help\n=\n", MEL_REPLY_SAME, "A and B are two ways to decide" },
        { "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\nb"
          "\n",
          MEL_REPLY_B, "Please answer" },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        char *seen = NULL;
        const mel_reply reply = converse(cases[i].lines, &seen);
        assert_int_equal(reply, cases[i].want);
        assert_non_null(
            strstr(seen, "a prefer A  b prefer B  = about the same  s can't say  u undo  q save and quit"));
        if (cases[i].seen != NULL && strstr(seen, cases[i].seen) == NULL)
            fail_msg("\"%s\" is not in: %s", cases[i].seen, seen);
        free(seen);
    }
}

/* The narrowest terminal, no words given: the explanation names the mistakes by the classes. */
static void test_narrow_explanation(void **state)
{
    (void)state;
    char lines[] = "?\na\n", *seen = NULL;
    size_t n_seen = 0;
    mel_terminal_options opt;
    mel_terminal_options_init(&opt);
    opt.in = fmemopen(lines, strlen(lines), "r");
    opt.out = open_memstream(&seen, &n_seen);
    assert_non_null(opt.in);
    assert_non_null(opt.out);
    opt.show = options_of(&rows[1]);
    opt.show.width = 40;
    mel_oracle *oracle = NULL;
    assert_ok(mel_oracle_terminal(&oracle, &opt, NULL), NULL);
    const mel_question question = question_of(&rows[1]);
    mel_reply reply = (mel_reply)77;
    assert_ok(mel_oracle_ask(&reply, oracle, &question, NULL), NULL);
    mel_oracle_free(oracle);
    fclose(opt.in);
    fclose(opt.out);
    assert_non_null(
        strstr(seen, "A missed cancer case is someone who\ntruly is \"cancer\" and is predicted to be\n"));
    assert_non_null(strstr(
        seen, "a prefer A  b prefer B  = about the same\ns can't say  u undo  q save and quit\n? explain\n"));
    for (char *line = seen, *end = seen; end != NULL; line = end + 1) {
        end = strchr(line, '\n');
        if (end != NULL)
            *end = '\0';
        assert_true(mel_text_columns(line) <= 40);
    }
    free(seen);
}

static void test_terminal_refusals(void **state)
{
    (void)state;
    mel_oracle *oracle = NULL;
    mel_error err = { 0 };
    mel_terminal_options opt;
    mel_terminal_options_init(&opt);
    assert_true(opt.show.width >= 40 && opt.show.width <= 100);
    opt.in = NULL;
    assert_int_equal(mel_oracle_terminal(&oracle, &opt, &err), MEL_EINVAL);
    mel_terminal_options_init(&opt);
    opt.show.width = 10;
    assert_int_equal(mel_oracle_terminal(&oracle, &opt, &err), MEL_EINVAL);
    assert_non_null(strstr(err.text, "10 columns"));
    assert_null(oracle);
    /* Nowhere to write: said, not ignored. */
    mel_terminal_options_init(&opt);
    opt.show = options_of(&rows[1]);
    opt.in = fopen("/dev/null", "r");
    opt.out = fopen("/dev/full", "w");
    assert_non_null(opt.in);
    assert_non_null(opt.out);
    assert_ok(mel_oracle_terminal(&oracle, &opt, &err), &err);
    const mel_question question = question_of(&rows[1]);
    mel_reply reply = (mel_reply)77;
    assert_int_equal(mel_oracle_ask(&reply, oracle, &question, &err), MEL_EIO);
    mel_oracle_free(oracle);
    fclose(opt.in);
    fclose(opt.out);
}

static void test_environment(void **state)
{
    (void)state;
    static const struct {
        const char *all, *ctype, *lang, *columns;
        bool utf8;
        int width;
    } cases[] = {
        { NULL, NULL, NULL, NULL, false, 80 },
        { NULL, NULL, "C.UTF-8", "60", true, 60 },
        { NULL, "de_DE.utf8", "C", "500", true, 100 },
        { "C", "de_DE.utf8", "de_DE.utf8", "12", false, 40 },
        { "", NULL, "en_GB.UTF-8", "zero", true, 80 },
        { "POSIX", NULL, "en_GB.UTF-8", "-4", false, 80 },
        { NULL, NULL, "en_GB.ISO-8859-1", "", false, 80 },
    };
    const int kept = dup(STDOUT_FILENO), plain = open("/dev/null", O_WRONLY);
    for (size_t i = 0; i < COUNT(cases); i++) {
        const char *const names[] = { "LC_ALL", "LC_CTYPE", "LANG", "COLUMNS" };
        const char *const values[] = { cases[i].all, cases[i].ctype, cases[i].lang, cases[i].columns };
        for (size_t j = 0; j < COUNT(names); j++)
            assert_int_equal(values[j] != NULL ? setenv(names[j], values[j], 1) : unsetenv(names[j]), 0);
        fflush(stdout);
        assert_true(dup2(plain, STDOUT_FILENO) >= 0); /* no window to measure */
        mel_terminal_options opt;
        mel_terminal_options_init(&opt);
        assert_true(dup2(kept, STDOUT_FILENO) >= 0);
        assert_int_equal(opt.show.utf8, cases[i].utf8);
        assert_int_equal(opt.show.width, cases[i].width);
        assert_false(opt.show.colour);
        assert_ptr_equal(opt.in, stdin);
        assert_ptr_equal(opt.out, stdout);
    }
    close(kept);
    close(plain);
}

typedef struct {
    int master, slave; /* the slave is kept open here, so that its settings can be looked at */
    pid_t child;
    struct termios before;
} person;

/* The child's part: asks one question on the terminal and ends with the reply as its exit status. */
static void ask_and_exit(const person *p, const char *name, void (*handler)(int))
{
    close(p->master);
    close(p->slave);
    (void)setsid();
    const int file = open(name, O_RDWR); /* becomes the controlling terminal */
    FILE *in = fdopen(file, "r"), *out = fdopen(dup(file), "w");
    mel_oracle *oracle = NULL;
    mel_terminal_options opt;
    mel_terminal_options_init(&opt);
    opt.in = in;
    opt.out = out;
    opt.show = options_of(&rows[1]);
    struct sigaction mine = { .sa_handler = handler };
    if (sigaction(SIGTERM, &mine, NULL) != 0 || mel_oracle_terminal(&oracle, &opt, NULL) != MEL_OK)
        _exit(100);
    const mel_question question = question_of(&rows[1]);
    mel_reply reply = (mel_reply)0;
    const mel_status status = mel_oracle_ask(&reply, oracle, &question, NULL);
    mel_oracle_free(oracle);
    struct sigaction after;
    const bool restored = sigaction(SIGTERM, NULL, &after) == 0 && after.sa_handler == handler;
    _exit(status != MEL_OK ? 101 : !restored ? 102 : (int)reply);
}

static person sit_down(void (*handler)(int))
{
    person p = { .master = posix_openpt(O_RDWR | O_NOCTTY) };
    assert_true(p.master >= 0);
    assert_int_equal(grantpt(p.master), 0);
    assert_int_equal(unlockpt(p.master), 0);
    char name[128];
    snprintf(name, sizeof name, "%s", ptsname(p.master));
    p.slave = open(name, O_RDWR | O_NOCTTY);
    assert_true(p.slave >= 0);
    assert_int_equal(tcgetattr(p.slave, &p.before), 0);
    p.child = fork();
    assert_true(p.child >= 0);
    if (p.child == 0)
        ask_and_exit(&p, name, handler);
    return p;
}

/* Reads what the terminal shows until `words` appear after what was read before. */
static void read_until(const person *p, const char *words)
{
    static char seen[1 << 16];
    size_t n = 0;
    seen[0] = '\0';
    while (strstr(seen, words) == NULL) {
        struct pollfd one = { .fd = p->master, .events = POLLIN };
        assert_int_equal(poll(&one, 1, 60000), 1);
        const ssize_t got = read(p->master, seen + n, sizeof seen - 1 - n);
        assert_true(got > 0);
        n += (size_t)got;
        seen[n] = '\0';
    }
}

/* The child's status once it has ended; the terminal must be as it was. */
static int leave(const person *p)
{
    int status = 0;
    assert_int_equal(waitpid(p->child, &status, 0), p->child);
    struct termios after;
    assert_int_equal(tcgetattr(p->slave, &after), 0);
    assert_int_equal(after.c_lflag, p->before.c_lflag);
    assert_int_equal(after.c_iflag, p->before.c_iflag);
    assert_memory_equal(after.c_cc, p->before.c_cc, sizeof after.c_cc);
    close(p->master);
    close(p->slave);
    return status;
}

static void test_keys(void **state)
{
    (void)state;
    static const struct {
        const char *keys;
        mel_reply want;
        const char *shown; /* after the key */
    } cases[] = {
        { "a", MEL_REPLY_A, NULL },
        { "A", MEL_REPLY_A, NULL },
        { "1", MEL_REPLY_A, NULL },
        { "\x1b[D", MEL_REPLY_A, NULL },
        { "\x1bOD", MEL_REPLY_A, NULL },
        { "b", MEL_REPLY_B, NULL },
        { "2", MEL_REPLY_B, NULL },
        { "\x1b[C", MEL_REPLY_B, NULL },
        { "=", MEL_REPLY_SAME, NULL },
        { "u", MEL_REPLY_UNDO, NULL },
        { "q", MEL_REPLY_QUIT, NULL },
        { "\x03", MEL_REPLY_QUIT, NULL },
        { "\x04", MEL_REPLY_QUIT, NULL },
        { "\x1c", MEL_REPLY_QUIT, NULL },
        { "xyz \n\x1b[A\x1b[1;5H\x1b[3~b", MEL_REPLY_B, NULL }, /* other keys are nothing */
        { "?a", MEL_REPLY_A, "A and B are two ways to decide" },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        const person p = sit_down(SIG_DFL);
        read_until(&p, "rather have? ");
        struct termios during;
        assert_int_equal(tcgetattr(p.slave, &during), 0);
        assert_int_equal(during.c_lflag & (ICANON | ECHO), 0);
        const size_t n = strlen(cases[i].keys);
        assert_int_equal(write(p.master, cases[i].keys, n), n);
        if (cases[i].shown != NULL)
            read_until(&p, cases[i].shown);
        const int status = leave(&p);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), cases[i].want);
    }
}

/* Escape alone is no answer, and does not swallow the next key. */
static void test_escape_key(void **state)
{
    (void)state;
    const person p = sit_down(SIG_DFL);
    read_until(&p, "rather have? ");
    assert_int_equal(write(p.master, "\x1b", 1), 1);
    /* Nothing says when the moment after Escape is over, other than a second question mark answered. */
    const struct timespec longer = { 0, 300000000 };
    (void)nanosleep(&longer, NULL);
    assert_int_equal(write(p.master, "?", 1), 1);
    read_until(&p, "A and B are two ways to decide");
    assert_int_equal(write(p.master, "=", 1), 1);
    assert_int_equal(WEXITSTATUS(leave(&p)), MEL_REPLY_SAME);
}

static void test_signals_put_the_terminal_back(void **state)
{
    (void)state;
    static const int ending[] = { SIGTERM, SIGHUP, SIGINT, SIGQUIT };
    for (size_t i = 0; i < COUNT(ending); i++) {
        (void)signal(ending[i], SIG_DFL); /* below nohup and in the background of scripts some are ignored */
        const person p = sit_down(SIG_DFL);
        read_until(&p, "rather have? ");
        assert_int_equal(kill(p.child, ending[i]), 0);
        const int status = leave(&p);
        assert_true(WIFSIGNALED(status)); /* it still ends the process, as the shell expects */
        assert_int_equal(WTERMSIG(status), ending[i]);
    }
}

static void keep_going(int number)
{
    (void)number;
}

static void test_host_handler_means_quit(void **state)
{
    (void)state;
    const person p = sit_down(keep_going);
    read_until(&p, "rather have? ");
    assert_int_equal(kill(p.child, SIGTERM), 0);
    const int status = leave(&p);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), MEL_REPLY_QUIT);
}

static void test_ignored_signals_stay_ignored(void **state)
{
    (void)state;
    const person p = sit_down(SIG_IGN);
    read_until(&p, "rather have? ");
    assert_int_equal(kill(p.child, SIGTERM), 0);
    assert_int_equal(write(p.master, "b", 1), 1);
    const int status = leave(&p);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), MEL_REPLY_B);
}

static void test_hang_up_is_quit(void **state)
{
    (void)state;
    const person p = sit_down(SIG_IGN);
    read_until(&p, "rather have? ");
    close(p.slave);
    close(p.master); /* the window is gone: SIGHUP or end of input, whichever comes first */
    int status = 0;
    assert_int_equal(waitpid(p.child, &status, 0), p.child);
    if (WIFSIGNALED(status))
        assert_int_equal(WTERMSIG(status), SIGHUP);
    else
        assert_true(WEXITSTATUS(status) == MEL_REPLY_QUIT || WEXITSTATUS(status) == 101);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pictures),
        cmocka_unit_test(test_vocabulary),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_lines_fit),
        cmocka_unit_test(test_people_add_up),
        cmocka_unit_test(test_choice_of_people),
        cmocka_unit_test(test_lines),
        cmocka_unit_test(test_narrow_explanation),
        cmocka_unit_test(test_terminal_refusals),
        cmocka_unit_test(test_environment),
        cmocka_unit_test(test_keys),
        cmocka_unit_test(test_escape_key),
        cmocka_unit_test(test_signals_put_the_terminal_back),
        cmocka_unit_test(test_host_handler_means_quit),
        cmocka_unit_test(test_ignored_signals_stay_ignored),
        cmocka_unit_test(test_hang_up_is_quit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
