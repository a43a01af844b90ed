/* FW-EG on raw arrays: seconds of the fastest of several repeats, the memory on top of the rows, the value.
 */
#include "measure.h"

#include "melicit/optimise.h"

static size_t number(const char *text)
{
    return (size_t)strtoull(text, NULL, 10);
}

/* Arguments: folder, training rows, validation rows, classes, basis functions, iterations, threads, repeats.
 */
int main(int argc, char **argv)
{
    if (argc != 9)
        die("usage: bench_optimise FOLDER N N_VALIDATION K L T THREADS REPEATS");
    const char *folder = argv[1];
    const size_t n = number(argv[2]), nv = number(argv[3]), k = number(argv[4]), l = number(argv[5]);
    const mel_weight_rows train = { n, load(folder, "p", n * k * sizeof(double)),
                                    load(folder, "y", n * sizeof(uint32_t)),
                                    load(folder, "f", n * l * sizeof(double)) };
    const mel_weight_rows validation = { nv, load(folder, "pv", nv * k * sizeof(double)),
                                         load(folder, "yv", nv * sizeof(uint32_t)),
                                         load(folder, "fv", nv * l * sizeof(double)) };
    mel_optimise_options opt;
    mel_optimise_options_init(&opt);
    opt.iterations = (uint32_t)number(argv[6]);
    opt.threads = (int)number(argv[7]);
    mel_measure *measure = NULL;
    mel_error err = { 0 };
    if (mel_measure_named(&measure, "g-mean", k, 0, &err) != MEL_OK)
        die(err.text);
    const mel_black_box box = mel_measure_box(measure, NULL);
    double best = 1e30, value = 0.0;
    reset_peak();
    const long before = status_kb("VmRSS:");
    for (size_t r = 0; r < number(argv[8]); r++) {
        mel_optimise_result got;
        const clock_t begun = clock(); /* processor time: one thread, and others may be busy */
        if (mel_optimise(&got, k, l, &train, &validation, &box, &opt, &err) != MEL_OK)
            die(err.text);
        const double taken = (double)(clock() - begun) / CLOCKS_PER_SEC;
        best = taken < best ? taken : best;
        value = got.value;
        mel_optimise_clear(&got);
    }
    printf("{\"seconds\": %.6f, \"value\": %.12f, \"extra_kb\": %ld}\n", best, value,
           status_kb("VmHWM:") - before);
    mel_measure_free(measure);
    return 0;
}
