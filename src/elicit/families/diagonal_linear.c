/* Diagonal linear metrics: w = a at l1 norm 1; f(r) = r, the diagonal. On a space, questions are chords of
 * its two-class faces: classifiers that predict only two classes, so A and B differ in two coordinates. */
#include "elicit/class_faces.h"
#include "elicit/families/families.h"

#include "base/la.h"
#include "space/shared.h"

#include <stdlib.h>
#include <string.h>

static double size(const mel_basis *f, const double *w)
{
    return mel_norm1(f->size, w);
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
    return mel_metric_linear(out, opt->family, &f->layout, opt->class_names, MEL_UTILITY, coefficient, err);
}

static void free_faces(mel_basis *f)
{
    if (f->own != NULL)
        mel_class_faces_clear(f->own);
    free(f->own);
}

static mel_status face_pair(mel_basis *f, const double *c, const double *delta, double *a, double *b,
                            bool *found, mel_error *err)
{
    (void)c;
    mel_class_faces *faces = f->own;
    const mel_face *face = NULL;
    size_t i, j;
    mel_class_faces_find(faces, delta, delta, &i, &j);
    TRY(mel_class_faces_get(&face, faces, i, j, err));
    mel_point first = { 0 }, second = { 0 };
    *found = mel_face_chord(&first, &second, face, delta[i] * mel_class_faces_unit(faces, i),
                            delta[j] * mel_class_faces_unit(faces, j));
    mel_class_faces_write(a, faces, i, j, first);
    mel_class_faces_write(b, faces, i, j, second);
    return MEL_OK;
}

static void face_note(const mel_basis *f, const mel_session_options *opt, const double *a, const double *b,
                      char *note_a, char *note_b)
{
    mel_class_faces_note(f->own, opt->class_names, a, b, note_a, note_b);
}

static const mel_basis_ops ball_ops = {
    .row = mel_basis_difference,
    .slope = mel_basis_same_slope,
    .pair = mel_basis_pair_central,
    .size = size,
    .coefficients = coefficients,
    .metric = metric,
};

static const mel_basis_ops face_ops = {
    .row = mel_basis_difference,
    .slope = mel_basis_same_slope,
    .pair = face_pair,
    .note = face_note,
    .size = size,
    .coefficients = coefficients,
    .metric = metric,
    .free = free_faces,
};

static mel_status basis(mel_basis *f, const mel_domain *domain, const mel_session_options *opt,
                        mel_error *err)
{
    const mel_space *space = domain->space;
    f->ops = space != NULL ? &face_ops : &ball_ops;
    f->dimension = f->n_reported = f->size;
    f->l1 = true;
    if (space != NULL) {
        f->own = mel_alloc_zero(1, sizeof(mel_class_faces));
        if (f->own == NULL)
            return mel_fail_memory(err, "the faces");
        const mel_status made = mel_class_faces_new(f->own, space, err);
        if (made != MEL_OK)
            return made;
        f->two_only = true;
    }
    TRY(mel_basis_reserve_cone(f, f->size, err));
    return mel_basis_add_signs(f, opt, 1.0, true, err);
}

const mel_elicit_ops mel_elicit_diagonal_linear = {
    .where = MEL_ON_SPACE | MEL_ON_DIAGONAL_BALL,
    .needs = "a space of k classes or a ball, with diagonal statistics",
    .sloped = true,
    .near_best = true,
    .active = mel_engine_features,
    .search = mel_engine_search,
    .basis = basis,
};
