/* The classifier that optimisation finds, for the files that apply and store it. */
#ifndef MEL_OPTIMISE_CLASSIFIER_H
#define MEL_OPTIMISE_CLASSIFIER_H

#include "optimise/basis.h"

struct mel_weighted {
    mel_blend mixture;
    mel_weight_basis *basis;
    bool majority;
    char **class_name, **label; /* label NULL: not known */
    bool number_texts;
    double value;
};

#endif
