/* Questions from a pool of classifiers, as APReL asks them: the half of bench/aprel.py that measures.
 *
 *     bench_aprel POOL.csv USERS.csv none|flip|... QUESTIONS [SEED]
 *
 * POOL and USERS have one unit vector a line and no header. Every user's vector is looked for from the whole
 * sphere, without signs, by questions about pairs of the pool, which are answered without errors; the third
 * argument is what is assumed of the answers. SEED (0) shifts the engine's seeds 1, 2, ... Prints a JSON
 * object: l_inf and angular (radians) errors of the normalised posterior mean for each user after each
 * answer; processor milliseconds of choosing a question and from an answer to the next question, for each
 * question. One thread. */
#include "base/la.h"
#include "elicit/active/ask/candidates.h"
#include "melicit/melicit.h"

#include "elicit/shared.h"
#include "measure.h"

#include <math.h>

typedef struct {
    size_t rows, columns;
    double *value; /* rows x columns */
} matrix;

static mel_error err;

static void must(mel_status status)
{
    if (status != MEL_OK)
        die(err.text);
}

static double *array(size_t n)
{
    double *x = calloc(n > 0 ? n : 1, sizeof *x);
    if (x == NULL)
        die("memory");
    return x;
}

static double processor_seconds(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static matrix read_matrix(const char *path)
{
    mel_read_options opt;
    mel_read_options_init(&opt);
    opt.header = MEL_HEADER_NO;
    mel_table *table = NULL;
    must(mel_table_read(&table, path, &opt, &err));
    matrix m = { .rows = mel_table_rows(table), .columns = mel_table_columns(table) };
    m.value = array(m.rows * m.columns);
    for (size_t j = 0; j < m.columns; j++) {
        const double *column = mel_table_numbers(table, j);
        if (column == NULL)
            die("a column that is not numbers");
        for (size_t i = 0; i < m.rows; i++)
            m.value[i * m.columns + j] = column[i];
    }
    mel_table_free(table);
    return m;
}

typedef struct {
    matrix pool, users;
    mel_assumption assume;
    size_t questions;
    uint64_t seed;
    double *error, *angle;  /* users x questions */
    double *choose, *whole; /* the same: milliseconds */
} study;

static void measure(const study *s, const double *truth, const double *mean, size_t at)
{
    const size_t d = s->pool.columns;
    double largest = 0.0, apart2 = 0.0;
    for (size_t j = 0; j < d; j++) {
        largest = fmax(largest, fabs(mean[j] - truth[j]));
        apart2 += (mean[j] - truth[j]) * (mean[j] - truth[j]);
    }
    s->error[at] = largest;
    s->angle[at] = 2.0 * asin(fmin(1.0, 0.5 * sqrt(apart2)));
}

static void answer(const study *s, mel_sampler *sampler, size_t user, size_t a, size_t b)
{
    const size_t d = s->pool.columns;
    const double *truth = s->users.value + user * d;
    double *row = array(d);
    for (size_t j = 0; j < d; j++)
        row[j] = s->pool.value[a * d + j] - s->pool.value[b * d + j];
    const bool first = mel_dot(d, row, truth) > 0.0;
    must(mel_sampler_tell(sampler, row, 1.0, first ? MEL_ANSWER_A : MEL_ANSWER_B, &err));
    free(row);
}

static void run(const study *s, size_t user)
{
    const size_t d = s->pool.columns;
    const mel_sampler_options opt = {
        .dimension = d, .samples = MEL_CANDIDATE_SAMPLES, .assume = s->assume, .seed = s->seed + user + 1
    };
    mel_sampler *sampler = NULL;
    mel_candidates *chooser = NULL;
    must(mel_sampler_new(&sampler, &opt, &err));
    const mel_samples *samples = mel_sampler_samples(sampler);
    must(mel_candidates_new(&chooser, s->pool.rows, d, s->pool.value, samples->count, &err));
    double before = 0.0;
    for (size_t i = 0; i < s->questions; i++) {
        const size_t at = user * s->questions + i;
        size_t a = 0, b = 1;
        mel_outlook outlook;
        const double start = processor_seconds();
        mel_candidates_choose(&a, &b, &outlook, chooser, sampler);
        s->choose[at] = 1e3 * (processor_seconds() - start);
        s->whole[at] = before + s->choose[at];
        const double told = processor_seconds();
        answer(s, sampler, user, a, b);
        before = 1e3 * (processor_seconds() - told);
        measure(s, s->users.value + user * d, samples->centre, at);
    }
    mel_candidates_free(chooser);
    mel_sampler_free(sampler);
}

static void print_rows(const char *name, const study *s, const double *x)
{
    printf("\"%s\": [", name);
    for (size_t i = 0; i < s->users.rows; i++)
        for (size_t j = 0; j < s->questions; j++)
            printf("%s%.6g%s",
                   j > 0   ? ", "
                   : i > 0 ? ", ["
                           : "[",
                   x[i * s->questions + j], j + 1 == s->questions ? "]" : "");
    printf("]");
}

int main(int argc, char **argv)
{
    if (argc < 5)
        die("usage: bench_aprel POOL.csv USERS.csv none|flip|... QUESTIONS [SEED]");
    study s = { .pool = read_matrix(argv[1]), .users = read_matrix(argv[2]) };
    s.questions = strtoul(argv[4], NULL, 10);
    s.seed = argc > 5 ? strtoull(argv[5], NULL, 10) : 0;
    must(mel_assumption_parse(&s.assume, argv[3], &err));
    if (s.pool.columns != s.users.columns || s.questions == 0)
        die("pool and users differ in their dimension, or no questions");
    const size_t cells = s.users.rows * s.questions;
    s.error = array(cells);
    s.angle = array(cells);
    s.choose = array(cells);
    s.whole = array(cells);
    for (size_t i = 0; i < s.users.rows; i++)
        run(&s, i);
    printf("{");
    print_rows("error", &s, s.error);
    printf(", ");
    print_rows("angle", &s, s.angle);
    printf(", ");
    print_rows("choose_ms", &s, s.choose);
    printf(", ");
    print_rows("whole_ms", &s, s.whole);
    printf("}\n");
    free(s.pool.value);
    free(s.users.value);
    free(s.error);
    free(s.angle);
    free(s.choose);
    free(s.whole);
    return 0;
}
