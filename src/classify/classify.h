/* What the files of the classify room share. */
#ifndef MEL_CLASSIFY_CLASSIFY_H
#define MEL_CLASSIFY_CLASSIFY_H

#include "base/internal.h"
#include "base/json.h"
#include "classify/shared.h"
#include "melicit/classify.h"

/* What the decision is called that is none of the classes. */
#define MEL_REFER "refer"

/* Names, and where the classifier was found. */
typedef struct {
    char **class_name, **label, **group_name;
    json_t *space;
    bool number_texts;
} mel_classifier_names;

struct mel_classifier {
    size_t n_classes, n_groups; /* n_groups 0: none */
    mel_classifier_names names;
    mel_mixture mixture; /* n 0: plug-in rules instead */
    mel_blend blend;
    size_t n_decisions;        /* n_classes, or one more */
    mel_adjustment adjustment; /* of all columns; n_classes 0: none */
    char **cost_column;        /* n_classes, "" for none; NULL: none at all */
    double *statistics;        /* NULL: read from a file */
    double value;              /* NaN: none */
    json_t *layout, *achieved; /* "layout" and "statistics" of its file; NULL: none */
    json_t *found;             /* "found": for what, how well; NULL: none */
    mel_weight_basis *basis;   /* that gains are of, instead of groups; NULL: none */
    bool majority;             /* what most rules predict, instead of a drawn one */
    bool given;                /* the measure says where its thresholds are, not the rows it was found on */
};

/* One without rules and names. */
mel_status mel_classifier_new(mel_classifier **out, size_t n_classes, size_t n_groups, mel_error *err);
/* Room for n plug-in rules; false without memory. */
bool mel_classifier_make_room(mel_classifier *classifier, size_t n);
/* Takes the basis over; NULL: none. */
void mel_classifier_take_basis(mel_classifier *classifier, mel_weight_basis *basis);
/* "layout" and "statistics" of the file, from the statistics. */
mel_status mel_classifier_note_statistics(mel_classifier *classifier, const mel_domain *domain,
                                          mel_error *err);

/* The threshold on the probability of the second class that 2 x 2 gains amount to. */
mel_rule mel_gain_threshold(const double *gain);

/* mel_decisions.threshold: of linear metrics on a face. */
mel_status mel_classifier_settled(double *probability, const mel_belief *now, mel_error *err);
/* mel_decisions.rule: of linear metrics of a space, or of a ball in one that is known. */
mel_status mel_classifier_rule_settled(double *probability, const mel_belief *now, mel_error *err);

static inline size_t mel_classifier_rules(const mel_classifier *c)
{
    return c->mixture.n > 0 ? c->mixture.n : c->blend.n_rules;
}

/* Groups that have rules of their own, or basis functions, at least 1. */
static inline size_t mel_classifier_blocks(const mel_classifier *c)
{
    const size_t n = c->basis != NULL ? mel_weight_basis_size(c->basis) : c->n_groups;
    return n > 1 ? n : 1;
}

/* Gains of a rule: of each block for every number that it sees. */
static inline size_t mel_classifier_gains(const mel_classifier *c)
{
    return mel_classifier_blocks(c) * c->n_classes * c->n_decisions;
}

static inline const double *mel_classifier_shares(const mel_classifier *c)
{
    return c->mixture.n > 0 ? c->mixture.share : c->blend.share;
}

#endif
