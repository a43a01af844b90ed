/* Takes linear steps on a sample of class probabilities and prints what it took as JSON: the half of
 * bench/space.py that is ours.
 *
 *     bench_space FOLDER ROWS CLASSES REPEATS THREADS [model]
 *
 * FOLDER holds probability (float64, ROWS x CLASSES), label (uint32) and direction (float64, CLASSES x
 * (CLASSES - 1)) as plain bytes. Time (and processor time of all threads) is of the fastest repeat; memory is
 * the peak of the resident set while the space is made and the first step taken, minus the resident set
 * before, with the data loaded. */
#include "space/shared.h"

#include "measure.h"

static double cpu_seconds(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

int main(int argc, char **argv)
{
    if (argc < 6)
        die("usage: bench_space FOLDER ROWS CLASSES REPEATS THREADS [model]");
    const size_t n = strtoul(argv[2], NULL, 10), k = strtoul(argv[3], NULL, 10);
    const size_t repeats = strtoul(argv[4], NULL, 10), size = k * (k - 1);
    if (k < 2 || repeats < 1)
        die("2 or more classes, 1 or more repeats");
    double *probability = load(argv[1], "probability", n * k * sizeof *probability);
    uint32_t *label = load(argv[1], "label", n * sizeof *label);
    double *direction = load(argv[1], "direction", size * sizeof *direction);
    double *statistics = calloc(size, sizeof *statistics);
    if (statistics == NULL)
        die("memory");
    mel_space_options opt;
    mel_space_options_init(&opt);
    opt.threads = (int)strtol(argv[5], NULL, 10);
    opt.evidence = argc > 6 ? MEL_BY_MODEL : MEL_BY_LABELS;
    const mel_rows sample = { n, k, 0, probability, label, NULL, NULL, NULL };
    mel_space *space = NULL;
    mel_error err;

    const long before = status_kb("VmRSS:");
    reset_peak();
    const double start = seconds();
    if (mel_space_from_sample(&space, &sample, &opt, &err) != MEL_OK)
        die(err.text);
    const double build = seconds() - start;
    double best = 1e300, cpu = 1e300;
    long peak = 0;
    for (size_t i = 0; i < repeats; i++) {
        const double from = seconds(), cpu_from = cpu_seconds();
        if (mel_space_linear(statistics, space, direction, &err) != MEL_OK)
            die(err.text);
        const double took = seconds() - from;
        const double cpu_took = cpu_seconds() - cpu_from;
        best = took < best ? took : best;
        cpu = cpu_took < cpu ? cpu_took : cpu;
        peak = i == 0 ? status_kb("VmHWM:") : peak;
    }
    printf("{\"seconds\": %.6f, \"cpu\": %.6f, \"build\": %.6f, \"extra_kb\": %ld, \"statistics\": [", best,
           cpu, build, peak - before);
    for (size_t c = 0; c < size; c++)
        printf("%s%.17g", c > 0 ? ", " : "", statistics[c]);
    printf("]}\n");
    mel_space_free(space);
    free(probability);
    free(label);
    free(direction);
    free(statistics);
    return 0;
}
