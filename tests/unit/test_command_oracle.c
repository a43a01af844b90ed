/* Programs that answer: real processes, well-behaved and not. */
#include "support/test.h"

#include "base/rng.h"
#include "oracle/shared.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const mel_layout binary = { MEL_CONFUSION, MEL_BINARY, 2, 0 };
static const char *const names[] = { "healthy", "breast \"cancer\"" };
static const double side_a[] = { 0.25, 0.5 }, side_b[] = { 0.125, 0.625 }, share[] = { 0.7, 0.3 };

static mel_question question(uint32_t number)
{
    return (mel_question){ .number = number,
                           .layout = &binary,
                           .class_names = names,
                           .a = side_a,
                           .b = side_b,
                           .class_share = share };
}

static mel_oracle *start(const char *program, double timeout)
{
    mel_oracle *oracle = NULL;
    mel_error err = { 0 };
    mel_command_options opt;
    mel_command_options_init(&opt);
    opt.timeout = timeout;
    opt.grace = 0.2;
    assert_ok(mel_oracle_command(&oracle, program, &opt, &err), &err);
    return oracle;
}

/* Descriptors this process has open. */
static size_t open_files(void)
{
    size_t n = 0;
    DIR *folder = opendir("/proc/self/fd");
    assert_non_null(folder);
    while (readdir(folder) != NULL)
        n++;
    closedir(folder);
    return n;
}

/* Until the program has made the file that says how far it is. */
static void await_file(const char *path)
{
    const struct timespec moment = { 0, 1000000 };
    while (access(path, F_OK) != 0)
        (void)nanosleep(&moment, NULL);
}

static void test_answers(void **state)
{
    (void)state;
    static const struct {
        const char *program;
        const char *replies; /* A, B or = for questions 1, 2, ... */
    } rows[] = {
        { "while read -r line; do echo A; done", "AAA" },
        { "while read -r line; do echo b; done", "BBB" },
        { "while read -r line; do printf ' =\\t\\r\\n'; done", "===" },
        { "exec sed -u -e 's/.*\"question\": [13],.*/A/;t' -e 's/.*/B/'", "ABAB" },
        { "while read -r line; do echo ' ?'; done", "??" },
        { "read -r line; printf a", "A" }, /* the last line may lack its newline */
        { "while read -r l; do case $l in *'\"question\": 2,'*) echo '=';; *) echo A;; esac; done", "A=A" },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        print_message("  %s\n", rows[i].program);
        mel_oracle *oracle = start(rows[i].program, 30);
        for (uint32_t n = 0; rows[i].replies[n] != '\0'; n++) {
            const mel_question q = question(n + 1);
            mel_reply reply = (mel_reply)77;
            mel_error err = { 0 };
            assert_ok(mel_oracle_ask(&reply, oracle, &q, &err), &err);
            assert_int_equal(mel_answer_name((mel_answer)reply)[0], rows[i].replies[n]);
        }
        mel_oracle_free(oracle);
    }
}

static void test_what_the_program_reads(void **state)
{
    (void)state;
    const char *path = test_path("questions.jsonl");
    char program[1024];
    snprintf(program, sizeof program,
             "while read -r line; do printf '%%s\\n' \"$line\" >> '%s'; echo A; done", path);
    mel_oracle *oracle = start(program, 30);
    mel_question q = question(12);
    mel_reply reply = (mel_reply)77;
    assert_ok(mel_oracle_ask(&reply, oracle, &q, NULL), NULL);
    const mel_layout groups = { MEL_RATES, MEL_OFFDIAGONAL, 2, 2 };
    const double four[] = { 0.1, 0.2, 1.0 / 3, 1e-300 };
    const char *const who[] = { "men", "women" };
    const mel_question plain = { .number = 13,
                                 .repetition = 2,
                                 .layout = &groups,
                                 .group_names = who,
                                 .a = four,
                                 .b = four,
                                 .classifier_a = "cancer when score >= 0.5",
                                 .classifier_b = "a \"coin\"" };
    assert_ok(mel_oracle_ask(&reply, oracle, &plain, NULL), NULL);
    mel_oracle_free(oracle);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    char text[4096] = "";
    const size_t n = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[n] = '\0';
    assert_string_equal(
        text,
        "{\"question\": 12, \"a\": {\"statistics\": [0.25, 0.5]}, \"b\": {\"statistics\": [0.125, 0.625]}, "
        "\"layout\": {\"kind\": \"confusion\", \"coordinates\": \"binary\", \"classes\": [\"healthy\", "
        "\"breast \\\"cancer\\\"\"], \"groups\": []}, \"class_share\": [0.7, 0.3]}\n"
        "{\"question\": 13, \"repetition\": 2, \"a\": {\"statistics\": [0.1, 0.2, 0.3333333333333333, "
        "1e-300], "
        "\"classifier\": \"cancer when score >= 0.5\"}, \"b\": {\"statistics\": [0.1, 0.2, "
        "0.3333333333333333, "
        "1e-300], \"classifier\": \"a \\\"coin\\\"\"}, \"layout\": {\"kind\": \"rates\", \"coordinates\": "
        "\"offdiagonal\", \"classes\": [\"0\", \"1\"], \"groups\": [\"men\", \"women\"]}}\n");
    test_cleanup();
}

static void test_python_program(void **state)
{
    (void)state;
    static const char script[] = "import json, sys\n"
                                 "for line in sys.stdin:\n"
                                 "    q = json.loads(line)\n"
                                 "    a, b = (sum(q[s]['statistics']) for s in 'ab')\n"
                                 "    print('A' if a > b else 'B' if b > a else '=', flush=True)\n";
    const char *path = test_file("oracle.py", script, sizeof script - 1);
    char program[1024];
    snprintf(program, sizeof program, "/usr/bin/python3 '%s'", path);
    mel_oracle *oracle = start(program, 60);
    mel_rng rng;
    mel_rng_seed(&rng, 2);
    for (uint32_t n = 0; n < 200; n++) {
        double a[2] = { mel_rng_uniform(&rng), mel_rng_uniform(&rng) }, b[2] = { a[0], a[1] };
        if (n % 5 != 0)
            b[0] = mel_rng_uniform(&rng);
        const mel_question q = { .number = n, .layout = &binary, .a = a, .b = b };
        mel_reply reply = (mel_reply)77;
        mel_error err = { 0 };
        assert_ok(mel_oracle_ask(&reply, oracle, &q, &err), &err);
        const double sa = a[0] + a[1], sb = b[0] + b[1];
        assert_int_equal(reply, sa > sb ? MEL_REPLY_A : sb > sa ? MEL_REPLY_B : MEL_REPLY_SAME);
    }
    mel_oracle_free(oracle);
    test_cleanup();
}

static void test_misbehaviour(void **state)
{
    (void)state;
    static const struct {
        const char *what, *program;
        double timeout;
        const char *says;
    } rows[] = {
        { "another word", "while read -r l; do echo maybe; done", 0,
          "answered \"maybe\"; A, B, = or ? was expected" },
        { "two letters", "while read -r l; do echo AB; done", 0, "answered \"AB\"" },
        { "an empty line", "while read -r l; do echo; done", 0, "answered \"\"" },
        { "control bytes", "while read -r l; do printf 'A\\033\\n'; done", 0, "answered \"A\\x1b\"" },
        { "a long line", "read -r l; head -c 5000 /dev/zero | tr '\\0' x; echo; sleep 1", 0,
          "answered \"xxx" },
        { "ends without a word", "read -r l; exit 3", 0, "gave no answer (exit status 3)" },
        { "ends before the question", "exit 4", 0, "gave no answer (exit status 4)" },
        { "ends in the middle", "read -r l; printf maybe; exit 5", 0, "answered \"maybe\"" },
        { "is killed", "read -r l; kill -9 $$", 0, "gave no answer (killed by signal 9)" },
        { "does not exist", "/nonexistent/program 2>/dev/null", 0, "exit status 127, which means not found" },
        { "closes its output", "read -r l; exec >&-; sleep 2", 0, "gave no answer (still running)" },
        { "never answers", "while read -r l; do :; done", 0.2,
          "no answer from the program within 0.2 seconds" },
        { "answers late", "read -r l; sleep 1; echo A", 0.2,
          "no answer from the program within 0.2 seconds" },
        { "answers half a line", "read -r l; printf A; sleep 1", 0.2, "no answer from the program within" },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        print_message("  %s\n", rows[i].what);
        mel_oracle *oracle = start(rows[i].program, rows[i].timeout);
        const mel_question q = question(6);
        mel_reply reply = (mel_reply)77;
        mel_error err = { 0 };
        assert_int_equal(mel_oracle_ask(&reply, oracle, &q, &err), MEL_EDATA);
        assert_int_equal(reply, 77);
        if (strncmp(err.text, "question 6: ", 12) != 0 || strstr(err.text, rows[i].says) == NULL)
            fail_msg("\"%s\" does not say \"%s\"", err.text, rows[i].says);
        /* Out of step: it is not asked again, so that no late answer meets another question. */
        assert_int_equal(mel_oracle_ask(&reply, oracle, &q, &err), MEL_ESTATE);
        mel_oracle_free(oracle);
    }
}

static void test_talking_out_of_turn(void **state)
{
    (void)state;
    /* Two answers to one question: the second must not be taken for the next one's. */
    mel_oracle *oracle = start("while read -r l; do printf 'A\\nB\\n'; done", 30);
    mel_question q = question(1);
    mel_reply reply = (mel_reply)77;
    mel_error err = { 0 };
    assert_ok(mel_oracle_ask(&reply, oracle, &q, &err), &err);
    assert_int_equal(reply, MEL_REPLY_A);
    q.number = 2;
    assert_int_equal(mel_oracle_ask(&reply, oracle, &q, &err), MEL_EDATA);
    assert_non_null(strstr(err.text, "said \"B\\x0a\" before question 2 was asked"));
    mel_oracle_free(oracle);
    /* A greeting. The program says when it has been said, so that the test need not wait. */
    const char *mark = test_path("said");
    char program[1024];
    snprintf(program, sizeof program, "echo Hello; : > '%s'; while read -r l; do echo A; done", mark);
    oracle = start(program, 30);
    await_file(mark);
    q.number = 1;
    assert_int_equal(mel_oracle_ask(&reply, oracle, &q, &err), MEL_EDATA);
    assert_non_null(strstr(err.text, "said \"Hello\\x0a\" before question 1 was asked"));
    mel_oracle_free(oracle);
    test_cleanup();
}

static volatile sig_atomic_t pipes_broken;

static void on_pipe(int number)
{
    (void)number;
    pipes_broken++;
}

/* Writing to a program that is gone must not raise SIGPIPE here, nor swallow one of the host's own. */
static void test_sigpipe(void **state)
{
    (void)state;
    struct sigaction mine = { .sa_handler = on_pipe }, before;
    assert_int_equal(sigaction(SIGPIPE, &mine, &before), 0);
    pipes_broken = 0;
    const char *mark = test_path("closed");
    char program[1024];
    snprintf(program, sizeof program, "exec <&-; : > '%s'", mark);
    mel_oracle *oracle = start(program, 30);
    mel_error err = { 0 };
    mel_reply reply = (mel_reply)77;
    await_file(mark);
    const mel_question q = question(1);
    assert_int_equal(mel_oracle_ask(&reply, oracle, &q, &err), MEL_EDATA);
    assert_int_equal(pipes_broken, 0);
    sigset_t blocked;
    assert_int_equal(sigprocmask(SIG_BLOCK, NULL, &blocked), 0);
    assert_int_equal(sigismember(&blocked, SIGPIPE), 0); /* the mask is as it was */
    mel_oracle_free(oracle);
    assert_int_equal(raise(SIGPIPE), 0);
    assert_int_equal(pipes_broken, 1);
    assert_int_equal(sigaction(SIGPIPE, &before, NULL), 0);
    test_cleanup();
}

/* With SIGPIPE ignored here, as in many hosts, the program still has it as usual. */
static void test_program_has_default_sigpipe(void **state)
{
    (void)state;
    struct sigaction ignore = { .sa_handler = SIG_IGN }, before;
    assert_int_equal(sigaction(SIGPIPE, &ignore, &before), 0);
    /* sh kills itself with SIGPIPE: ignored, it would live on and answer. */
    mel_oracle *oracle = start("read -r l; kill -PIPE $$; echo A", 30);
    const mel_question q = question(1);
    mel_reply reply = (mel_reply)77;
    mel_error err = { 0 };
    assert_int_equal(mel_oracle_ask(&reply, oracle, &q, &err), MEL_EDATA);
    assert_non_null(strstr(err.text, "killed by signal 13"));
    mel_oracle_free(oracle);
    assert_int_equal(sigaction(SIGPIPE, &before, NULL), 0);
}

static void test_nothing_is_left_behind(void **state)
{
    (void)state;
    static const char *const programs[] = { "cat >/dev/null", "exit 1", "exec sleep 1000",
                                            "trap '' TERM; while :; do sleep 0.1; done",
                                            "/nonexistent 2>/dev/null" };
    const size_t before = open_files();
    for (size_t i = 0; i < COUNT(programs); i++) {
        mel_oracle *oracle = NULL;
        mel_error err = { 0 };
        mel_command_options opt;
        mel_command_options_init(&opt);
        opt.grace = 0.05; /* does not end by itself: told to, then made to */
        print_message("  %s\n", programs[i]);
        assert_ok(mel_oracle_command(&oracle, programs[i], &opt, &err), &err);
        mel_oracle_free(oracle);
        assert_int_equal(open_files(), before);
        assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* no child, running or dead */
        assert_int_equal(errno, ECHILD);
    }
}

/* A host that ignores its children's ends never learns how they went; nothing hangs or is left. */
static void test_ignored_children(void **state)
{
    (void)state;
    struct sigaction ignore = { .sa_handler = SIG_IGN }, before;
    assert_int_equal(sigaction(SIGCHLD, &ignore, &before), 0);
    mel_oracle *oracle = start("read -r l; exit 3", 30);
    const mel_question q = question(1);
    mel_reply reply = (mel_reply)77;
    mel_error err = { 0 };
    assert_int_equal(mel_oracle_ask(&reply, oracle, &q, &err), MEL_EDATA);
    assert_non_null(strstr(err.text, "gave no answer (ended)"));
    mel_oracle_free(oracle);
    assert_int_equal(sigaction(SIGCHLD, &before, NULL), 0);
}

static void test_no_descriptors_left(void **state)
{
    (void)state;
    const size_t before = open_files();
    struct rlimit limit, tight;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    for (rlim_t spare = 0; spare < 4; spare++) { /* two pipes need four */
        mel_oracle *oracle = (mel_oracle *)&limit;
        mel_error err = { 0 };
        tight = limit;
        tight.rlim_cur = (rlim_t)dup(STDIN_FILENO) + spare;
        close((int)(tight.rlim_cur - spare));
        assert_int_equal(setrlimit(RLIMIT_NOFILE, &tight), 0);
        const mel_status status = mel_oracle_command(&oracle, "true", NULL, &err);
        assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
        assert_int_equal(status, MEL_EIO);
        assert_null(oracle);
        assert_non_null(strstr(err.text, "cannot start \"true\" with /bin/sh: Too many open files"));
        assert_int_equal(open_files(), before);
    }
}

static void test_two_at_once(void **state)
{
    (void)state;
    /* Each has its own pipes: ending the first must not wait for the second, which got no end of them. */
    mel_oracle *first = start("while read -r l; do echo A; done", 30);
    mel_oracle *second = start("while read -r l; do echo B; done", 30);
    const mel_question q = question(1);
    mel_reply reply = (mel_reply)77;
    assert_ok(mel_oracle_ask(&reply, second, &q, NULL), NULL);
    assert_int_equal(reply, MEL_REPLY_B);
    assert_ok(mel_oracle_ask(&reply, first, &q, NULL), NULL);
    assert_int_equal(reply, MEL_REPLY_A);
    mel_oracle_free(first);
    assert_ok(mel_oracle_ask(&reply, second, &q, NULL), NULL);
    assert_int_equal(reply, MEL_REPLY_B);
    mel_oracle_free(second);
}

static int stop(void *user, const char *what, double done)
{
    (void)what;
    (void)done;
    *(bool *)user = true;
    return 1;
}

/* A wish to stop while the program does not read, or reads and thinks: it is not waited for. */
static void check_stop(const char *program, const mel_question *q)
{
    bool asked = false;
    mel_oracle *oracle = NULL;
    mel_error err = { 0 };
    mel_reply reply = (mel_reply)77;
    mel_command_options opt;
    mel_command_options_init(&opt);
    opt.grace = 1000.0; /* nor is it when it ends */
    opt.progress = (mel_progress){ stop, &asked };
    assert_ok(mel_oracle_command(&oracle, program, &opt, &err), &err);
    assert_int_equal(mel_oracle_ask(&reply, oracle, q, &err), MEL_ESTOPPED);
    assert_true(asked);
    mel_oracle_free(oracle);
}

static void test_large_questions(void **state)
{
    (void)state;
    /* Longer than a pipe holds, to a program that reads slowly at first. */
    const mel_layout layout = { MEL_RATES, MEL_OFFDIAGONAL, 100, 0 };
    const size_t n = mel_layout_size(&layout);
    double *a = calloc(n, sizeof *a);
    assert_non_null(a);
    for (size_t i = 0; i < n; i++)
        a[i] = 1.0 / (double)(i + 3);
    mel_oracle *oracle = start("sleep 0.2; while read -r l; do echo \"=\"; done", 30);
    const mel_question q = { .number = 1, .layout = &layout, .a = a, .b = a };
    mel_reply reply = (mel_reply)77;
    mel_error err = { 0 };
    assert_ok(mel_oracle_ask(&reply, oracle, &q, &err), &err);
    assert_int_equal(reply, MEL_REPLY_SAME);
    mel_oracle_free(oracle);
    /* One that never reads: the deadline counts while writing too. */
    oracle = start("exec sleep 1000", 0.2);
    assert_int_equal(mel_oracle_ask(&reply, oracle, &q, &err), MEL_EDATA);
    assert_non_null(strstr(err.text, "no answer from the program within"));
    mel_oracle_free(oracle);
    check_stop("exec sleep 1000", &q);
    check_stop("read -r l; exec sleep 1000", &q);
    free(a);
}

static void test_refusals(void **state)
{
    (void)state;
    static const struct {
        const char *program;
        double timeout, grace;
    } rows[] = {
        { "", 0, 5 }, { " \t", 0, 5 }, { "true", -1, 5 }, { "true", (double)NAN, 5 }, { "true", 0, -1 }
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        mel_oracle *oracle = (mel_oracle *)&rows;
        mel_error err = { 0 };
        mel_command_options opt;
        mel_command_options_init(&opt);
        opt.timeout = rows[i].timeout;
        opt.grace = rows[i].grace;
        assert_int_equal(mel_oracle_command(&oracle, rows[i].program, &opt, &err), MEL_EINVAL);
        assert_null(oracle);
        assert_true(err.text[0] != '\0');
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_answers),
        cmocka_unit_test(test_what_the_program_reads),
        cmocka_unit_test(test_python_program),
        cmocka_unit_test(test_misbehaviour),
        cmocka_unit_test(test_talking_out_of_turn),
        cmocka_unit_test(test_sigpipe),
        cmocka_unit_test(test_program_has_default_sigpipe),
        cmocka_unit_test(test_nothing_is_left_behind),
        cmocka_unit_test(test_ignored_children),
        cmocka_unit_test(test_no_descriptors_left),
        cmocka_unit_test(test_two_at_once),
        cmocka_unit_test(test_large_questions),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
