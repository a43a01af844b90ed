/* Every allocation of the oracle room fails once. */
#include "support/test.h"

#include "metric/shared.h"
#include "oracle/shared.h"

#include <stdio.h>
#include <stdlib.h>

static const mel_layout binary = { MEL_CONFUSION, MEL_BINARY, 2, 0 };
static const mel_layout diagonal = { MEL_RATES, MEL_OFFDIAGONAL, 3, 2 };
static const char *const names[] = { "healthy", "cancer", "flu" };
static const double side_a[12] = { 0.361, 0.513, 0.1 }, side_b[12] = { 0.349, 0.598, 0.2 },
                    share[] = { 0.6, 0.4, 0 };

static mel_question question(const mel_layout *layout)
{
    return (mel_question){ .number = 1,
                           .layout = layout,
                           .class_names = names,
                           .a = side_a,
                           .b = side_b,
                           .class_share = share,
                           .classifier_a =
                               "positive when the score is at least 0.5, which is a long description" };
}

static mel_status simulate(void *context)
{
    (void)context;
    mel_metric *metric = NULL;
    mel_oracle *inner = NULL, *oracle = NULL;
    mel_error err = { 0 };
    mel_status status = mel_metric_named(&metric, "accuracy", 0.4, names, &err);
    if (status == MEL_OK)
        status = mel_oracle_simulated(&inner, metric, NULL, &err);
    if (status == MEL_OK)
        status = mel_oracle_majority(&oracle, inner, 3, &err); /* takes inner over, on failure too */
    const mel_question q = question(&binary);
    mel_reply reply = MEL_REPLY_QUIT;
    if (status == MEL_OK)
        status = mel_oracle_ask(&reply, oracle, &q, &err);
    mel_oracle_free(oracle);
    mel_metric_free(metric);
    return status;
}

static mel_status answer_a(mel_reply *reply, void *user, const mel_question *q, mel_error *err)
{
    (void)user;
    (void)q;
    (void)err;
    *reply = MEL_REPLY_A;
    return MEL_OK;
}

static mel_status call_back(void *context)
{
    mel_oracle *oracle = NULL;
    mel_error err = { 0 };
    void *user = malloc(8); /* released whatever happens */
    if (user == NULL)
        return MEL_ENOMEM;
    mel_status status = mel_oracle_callback(&oracle, answer_a, user, free, &err);
    const mel_question q = question(context);
    mel_reply reply = MEL_REPLY_QUIT;
    if (status == MEL_OK)
        status = mel_oracle_ask(&reply, oracle, &q, &err);
    mel_oracle_free(oracle);
    return status;
}

static mel_status show(void *context)
{
    char *text = NULL;
    mel_error err = { 0 };
    const mel_question q = question(context);
    mel_show_options opt;
    mel_show_options_init(&opt);
    opt.classifiers = true;
    const mel_status status = mel_question_show(&text, &q, &opt, &err);
    free(text);
    return status;
}

static mel_status ask_terminal(void *context)
{
    (void)context;
    mel_oracle *oracle = NULL;
    mel_error err = { 0 };
    char lines[] = "?\nx\na\n";
    mel_terminal_options opt;
    mel_terminal_options_init(&opt);
    opt.show.width = 80;
    opt.show.missed = "missed tumour";
    opt.show.false_alarm = "false alarm";
    opt.in = fmemopen(lines, sizeof lines - 1, "r");
    opt.out = fopen("/dev/null", "w");
    if (opt.in == NULL || opt.out == NULL)
        abort();
    mel_status status = mel_oracle_terminal(&oracle, &opt, &err);
    const mel_question q = question(&binary);
    mel_reply reply = MEL_REPLY_QUIT;
    if (status == MEL_OK)
        status = mel_oracle_ask(&reply, oracle, &q, &err);
    mel_oracle_free(oracle);
    fclose(opt.in);
    fclose(opt.out);
    return status;
}

static mel_status ask_command(void *context)
{
    (void)context;
    mel_oracle *oracle = NULL;
    mel_error err = { 0 };
    mel_status status = mel_oracle_command(&oracle, "while read -r line; do echo A; done", NULL, &err);
    const mel_question q = question(&binary);
    mel_reply reply = MEL_REPLY_QUIT;
    if (status == MEL_OK)
        status = mel_oracle_ask(&reply, oracle, &q, &err);
    mel_oracle_free(oracle);
    return status;
}

static void test_allocations(void **state)
{
    (void)state;
    test_each_allocation("simulated majority", simulate, NULL);
    test_each_allocation("callback", call_back, (void *)&binary);
    test_each_allocation("binary question", show, (void *)&binary);
    test_each_allocation("question on groups", show, (void *)&diagonal);
    test_each_allocation("terminal", ask_terminal, NULL);
    test_each_allocation("command", ask_command, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_allocations) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
