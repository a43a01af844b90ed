/* Questions on the two-class faces of a space: which face, its points as statistics, notes on them. */
#include "elicit/class_faces.h"
#include "space/shared.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

mel_status mel_class_faces_new(mel_class_faces *faces, const mel_space *space, mel_error *err)
{
    const size_t k = mel_layout_size(mel_space_layout(space));
    *faces = (mel_class_faces){ .space = space, .k = k };
    faces->face = mel_alloc_zero(k * k, sizeof(mel_face *));
    return faces->face != NULL ? MEL_OK : mel_fail_memory(err, "the faces");
}

void mel_class_faces_clear(mel_class_faces *faces)
{
    for (size_t i = 0; faces->face != NULL && i < faces->k * faces->k; i++)
        mel_face_free(faces->face[i]);
    free(faces->face);
}

mel_status mel_class_faces_get(const mel_face **out, mel_class_faces *faces, size_t i, size_t j,
                               mel_error *err)
{
    mel_face **face = &faces->face[i * faces->k + j];
    if (*face == NULL)
        TRY(mel_space_face(face, faces->space, i, j, err));
    *out = *face;
    return MEL_OK;
}

double mel_class_faces_unit(const mel_class_faces *faces, size_t i)
{
    const bool rates = mel_space_layout(faces->space)->kind == MEL_RATES;
    return rates ? mel_space_class_share(faces->space)[i] : 1.0;
}

void mel_class_faces_write(double *x, const mel_class_faces *faces, size_t i, size_t j, mel_point point)
{
    memset(x, 0, faces->k * sizeof *x);
    x[i] = point.tp / mel_class_faces_unit(faces, i);
    x[j] = point.tn / mel_class_faces_unit(faces, j);
}

void mel_class_faces_find(const mel_class_faces *faces, const double *x, const double *y, size_t *i,
                          size_t *j)
{
    *i = 0;
    while (*i + 2 < faces->k && x[*i] == 0.0 && y[*i] == 0.0)
        *i += 1;
    *j = *i + 1;
    while (*j + 1 < faces->k && x[*j] == 0.0 && y[*j] == 0.0)
        *j += 1;
}

void mel_class_faces_note(const mel_class_faces *faces, const char *const *names, const double *a,
                          const double *b, char *note_a, char *note_b)
{
    size_t i, j;
    mel_class_faces_find(faces, a, b, &i, &j);
    const mel_face *face = faces->face[i * faces->k + j];
    if (face == NULL)
        return;
    char number[2][24];
    (void)snprintf(number[0], sizeof number[0], "%zu", i);
    (void)snprintf(number[1], sizeof number[1], "%zu", j);
    const char *yes = names != NULL ? names[i] : number[0], *no = names != NULL ? names[j] : number[1];
    const double unit_i = mel_class_faces_unit(faces, i), unit_j = mel_class_faces_unit(faces, j);
    mel_note_point(note_a, face, (mel_point){ a[i] * unit_i, a[j] * unit_j }, yes, no);
    mel_note_point(note_b, face, (mel_point){ b[i] * unit_i, b[j] * unit_j }, yes, no);
}
