/* Classifiers on a space, with its names, for the verbs that print or store them. */
#include "classifier.h"
#include "classify/shared.h"
#include "output.h"

#include <stdlib.h>

static mel_domain domain_of(const mel_problem *space)
{
    return (mel_domain){ .face = space->face, .space = space->space };
}

mel_status cli_classifier_name(mel_classifier **classifier, const mel_problem *space, mel_error *err)
{
    const mel_classifier_source source = { .class_name = (const char *const *)space->class_name,
                                           .label = (const char *const *)space->classes.label,
                                           .group_name = mel_classifier_get(*classifier).n_groups > 1
                                                             ? (const char *const *)space->group_name
                                                             : NULL,
                                           .space = space->description,
                                           .number_texts = space->classes.number_texts };
    const mel_status status = mel_classifier_set_source(*classifier, &source, err);
    if (status != MEL_OK) {
        mel_classifier_free(*classifier);
        *classifier = NULL;
    }
    return status;
}

mel_status cli_classifier_best(mel_classifier **out, const mel_problem *space, const mel_metric *metric,
                               mel_error *err)
{
    const mel_domain domain = domain_of(space);
    TRY(mel_classifier_best(out, &domain, metric, err));
    return cli_classifier_name(out, space, err);
}

mel_status cli_classifier_at_point(mel_classifier **out, const mel_problem *space, const double *point,
                                   double delta, mel_error *err)
{
    const mel_domain domain = domain_of(space);
    TRY(mel_classifier_at_point(out, &domain, point, delta, err));
    return cli_classifier_name(out, space, err);
}

json_t *cli_classifier_json(const mel_classifier *classifier)
{
    char *text = NULL;
    (void)mel_classifier_to_json(&text, classifier, NULL);
    return cli_json_made(text);
}

json_t *cli_blend_json(const mel_blend *blend)
{
    char *text = NULL;
    (void)mel_blend_to_json(&text, blend, NULL);
    return cli_json_made(text);
}

char *cli_classifier_words(const mel_classifier *classifier, size_t rule)
{
    char *words = NULL;
    (void)mel_classifier_words(&words, classifier, rule, NULL);
    return cli_made(words);
}
