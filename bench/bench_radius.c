/* Finds the largest ball of off-diagonal rates around the uniform classifier and prints what it took as
 * JSON: part of bench/space.py.
 *
 *     bench_radius FOLDER ROWS CLASSES THREADS [SAMPLE [model]]
 *
 * FOLDER holds probability (float64, ROWS x CLASSES) and label (uint32) as plain bytes. SAMPLE: rows to
 * search when there are more than four times as many; 0: always all. */
#include "melicit/space.h"

#include "measure.h"

int main(int argc, char **argv)
{
    if (argc < 5)
        die("usage: bench_radius FOLDER ROWS CLASSES THREADS [SAMPLE [model]]");
    const size_t n = strtoul(argv[2], NULL, 10), k = strtoul(argv[3], NULL, 10);
    double *probability = load(argv[1], "probability", n * k * sizeof *probability);
    uint32_t *label = load(argv[1], "label", n * sizeof *label);
    const mel_rows sample = { n, k, 0, probability, label, NULL, NULL, NULL };
    mel_space_options opt;
    mel_space_options_init(&opt);
    opt.kind = MEL_RATES;
    opt.threads = (int)strtol(argv[4], NULL, 10);
    opt.evidence = argc > 6 ? MEL_BY_MODEL : MEL_BY_LABELS;
    mel_radius_options how;
    mel_radius_options_init(&how);
    if (argc > 5)
        how.sample_rows = strtoul(argv[5], NULL, 10);
    mel_space *space = NULL;
    mel_ball *ball = NULL;
    mel_radius radius;
    mel_error err;
    const double start = seconds();
    if (mel_space_from_sample(&space, &sample, &opt, &err) != MEL_OK ||
        mel_ball_of_space(&ball, &radius, space, &how, &err) != MEL_OK)
        die(err.text);
    printf("{\"seconds\": %.6f, \"radius\": %.17g, \"descent\": %.17g, \"rays\": %.17g, \"steps\": %llu, "
           "\"passes\": %llu}\n",
           seconds() - start, mel_ball_radius(ball), radius.descent, radius.rays,
           (unsigned long long)radius.steps, (unsigned long long)radius.passes);
    mel_radius_clear(&radius);
    mel_ball_free(ball);
    mel_space_free(space);
    free(probability);
    free(label);
    return 0;
}
