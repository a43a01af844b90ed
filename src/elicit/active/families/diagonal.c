/* Diagonal linear metrics: w = a at l1 norm 1; f(r) = r, the diagonal. On a space, questions are chords of
 * its two-class faces: classifiers that predict only two classes, so A and B differ in two coordinates. */
#include "elicit/active/family.h"
#include "elicit/engine.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    const mel_space *space;
    mel_face **face; /* of classes i < j at i k + j; made when first asked about */
} faces;

static void row(const mel_basis *f, const double *a, const double *b, double *x)
{
    for (size_t i = 0; i < f->size; i++)
        x[i] = a[i] - b[i];
}

static void slope(const mel_basis *f, const double *c, const double *w, double *out)
{
    (void)c;
    memcpy(out, w, f->size * sizeof *out);
}

static double size(const mel_basis *f, const double *w)
{
    double sum = 0.0;
    for (size_t i = 0; i < f->size; i++)
        sum += fabs(w[i]);
    return sum;
}

static void coefficients(const mel_basis *f, const double *w, double *out)
{
    const double sum = size(f, w);
    for (size_t i = 0; i < f->size; i++)
        out[i] = w[i] / sum;
}

static mel_status metric(mel_metric **out, const mel_basis *f, const mel_session_options *opt,
                         const double *coefficient, mel_error *err)
{
    return mel_metric_linear(out, MEL_FAMILY_DIAGONAL_LINEAR, &f->layout, opt->class_names, MEL_UTILITY,
                             coefficient, err);
}

static void free_faces(mel_basis *f)
{
    faces *own = f->own;
    if (own == NULL)
        return;
    for (size_t i = 0; own->face != NULL && i < f->size * f->size; i++)
        mel_face_free(own->face[i]);
    free(own->face);
    free(own);
}

/* The face is in shares of all rows; rates are shares of their class. */
static double unit_of(const mel_basis *f, const faces *own, size_t i)
{
    return f->layout.kind == MEL_RATES ? mel_space_class_share(own->space)[i] : 1.0;
}

/* The first two coordinates in which x or y is not 0. */
static void find_two(size_t k, const double *x, const double *y, size_t *i, size_t *j)
{
    *i = 0;
    while (*i + 2 < k && x[*i] == 0.0 && y[*i] == 0.0)
        *i += 1;
    *j = *i + 1;
    while (*j + 1 < k && x[*j] == 0.0 && y[*j] == 0.0)
        *j += 1;
}

static mel_status face_pair(mel_basis *f, const double *c, const double *delta, double *a, double *b,
                            bool *found, mel_error *err)
{
    (void)c;
    faces *own = f->own;
    const size_t k = f->size;
    size_t i, j;
    find_two(k, delta, delta, &i, &j);
    mel_face **face = &own->face[i * k + j];
    const mel_status status = *face == NULL ? mel_space_face(face, own->space, i, j, err) : MEL_OK;
    if (status != MEL_OK)
        return status;
    const double unit_i = unit_of(f, own, i), unit_j = unit_of(f, own, j);
    mel_point first, second;
    *found = mel_face_chord(&first, &second, *face, delta[i] * unit_i, delta[j] * unit_j);
    memset(a, 0, k * sizeof *a);
    memset(b, 0, k * sizeof *b);
    a[i] = first.tp / unit_i;
    a[j] = first.tn / unit_j;
    b[i] = second.tp / unit_i;
    b[j] = second.tn / unit_j;
    return MEL_OK;
}

static void face_note(const mel_basis *f, const mel_session_options *opt, const double *a, const double *b,
                      char *note_a, char *note_b)
{
    const faces *own = f->own;
    const size_t k = f->size;
    size_t i, j;
    char number[2][24];
    const char *name[2];
    find_two(k, a, b, &i, &j);
    const mel_face *face = own->face[i * k + j];
    for (size_t side = 0; side < 2; side++) {
        (void)snprintf(number[side], sizeof number[side], "%zu", side == 0 ? i : j);
        name[side] = opt->class_names != NULL ? opt->class_names[side == 0 ? i : j] : number[side];
    }
    const double unit_i = unit_of(f, own, i), unit_j = unit_of(f, own, j);
    if (face == NULL)
        return;
    mel_note_point(note_a, face, (mel_point){ a[i] * unit_i, a[j] * unit_j }, name[0], name[1]);
    mel_note_point(note_b, face, (mel_point){ b[i] * unit_i, b[j] * unit_j }, name[0], name[1]);
}

static const mel_basis_ops ball_ops = {
    .row = row,
    .slope = slope,
    .pair = mel_basis_pair_central,
    .size = size,
    .coefficients = coefficients,
    .metric = metric,
};

static const mel_basis_ops face_ops = {
    .row = row,
    .slope = slope,
    .pair = face_pair,
    .note = face_note,
    .size = size,
    .coefficients = coefficients,
    .metric = metric,
    .free = free_faces,
};

mel_status mel_basis_diagonal(mel_basis *f, const mel_space *space, const mel_session_options *opt,
                              mel_error *err)
{
    f->ops = space != NULL ? &face_ops : &ball_ops;
    f->dimension = f->n_reported = f->size;
    f->l1 = true;
    if (space != NULL) {
        faces *own = f->own = mel_alloc_zero(1, sizeof *own);
        if (own != NULL)
            own->face = mel_alloc_zero(f->size * f->size, sizeof(mel_face *));
        if (own == NULL || own->face == NULL)
            return mel_fail_memory(err, "the faces");
        own->space = space;
        f->two_only = true;
    }
    const mel_status status = mel_basis_reserve_cone(f, f->size, err);
    return status == MEL_OK ? mel_basis_add_signs(f, opt, 1.0, true, err) : status;
}
