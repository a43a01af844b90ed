/* The two-class faces of a space: classifiers that predict only two of its classes. Points differ from 0 in
 * two coordinates, in the space's layout of diagonal statistics. */
#ifndef MEL_ELICIT_CLASS_FACES_H
#define MEL_ELICIT_CLASS_FACES_H

#include "elicit/engine.h"

typedef struct {
    const mel_space *space; /* lent */
    size_t k;               /* classes */
    mel_face **face;        /* of classes i < j at i k + j; made when first asked for */
} mel_class_faces;

mel_status mel_class_faces_new(mel_class_faces *faces, const mel_space *space, mel_error *err);
void mel_class_faces_clear(mel_class_faces *faces); /* of a zeroed one too */
/* The face of classes i < j; lent. */
mel_status mel_class_faces_get(const mel_face **out, mel_class_faces *faces, size_t i, size_t j,
                               mel_error *err);
/* The face is in shares of all rows; rates are shares of their class. */
double mel_class_faces_unit(const mel_class_faces *faces, size_t i);
/* A point of the face of classes i and j as statistics. */
void mel_class_faces_write(double *x, const mel_class_faces *faces, size_t i, size_t j, mel_point point);
/* The first two coordinates in which x or y is not 0. */
void mel_class_faces_find(const mel_class_faces *faces, const double *x, const double *y, size_t *i,
                          size_t *j);
/* What achieves the points of a question, in words; names: of the classes, or NULL. */
void mel_class_faces_note(const mel_class_faces *faces, const char *const *names, const double *a,
                          const double *b, char *note_a, char *note_b);

#endif
