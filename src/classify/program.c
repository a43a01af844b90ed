/* Programs: their terms and values. */
#include "classify/program.h"

#include "base/la.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

mel_status mel_program_init(mel_program *out, size_t size, mel_error *err)
{
    *out = (mel_program){ .size = size };
    out->c = mel_alloc_zero(size, sizeof *out->c);
    return out->c != NULL ? MEL_OK : mel_fail_memory(err, "a program");
}

void mel_program_clear(mel_program *program)
{
    free(program->c);
    free(program->term);
    free(program->at);
    free(program->a);
    *program = (mel_program){ 0 };
}

mel_status mel_program_add(mel_program *program, mel_term term, mel_error *err)
{
    if (program->n_terms == program->term_room) {
        const size_t room = 2 * program->term_room + 16;
        if (!mel_grow((void **)&program->term, room, sizeof *program->term))
            return mel_fail_memory(err, "a program");
        program->term_room = room;
    }
    term.first = program->n_entries;
    term.n = 0;
    program->term[program->n_terms++] = term;
    return MEL_OK;
}

mel_status mel_program_entry(mel_program *program, size_t at, double a, mel_error *err)
{
    if (program->n_entries == program->entry_room) {
        const size_t room = 2 * program->entry_room + 64;
        if (!mel_grow((void **)&program->at, room, sizeof *program->at) ||
            !mel_grow((void **)&program->a, room, sizeof *program->a))
            return mel_fail_memory(err, "a program");
        program->entry_room = room;
    }
    program->at[program->n_entries] = at;
    program->a[program->n_entries++] = a;
    program->term[program->n_terms - 1].n++;
    return MEL_OK;
}

double mel_program_term(const mel_program *program, const mel_term *term, const double *x)
{
    double sum = 0.0;
    for (size_t e = term->first; e < term->first + term->n; e++)
        sum += program->a[e] * x[program->at[e]];
    return sum;
}

double mel_program_value(const mel_program *p, const double *x)
{
    double value = mel_dot(p->size, p->c, x) + p->constant, smallest = INFINITY;
    for (size_t t = 0; t < p->n_terms; t++) {
        const double at = mel_program_term(p, &p->term[t], x);
        if (p->term[t].kind == MEL_TERM_ABSOLUTE)
            value -= p->term[t].weight * fabs(at - p->term[t].f);
        else if (p->term[t].kind == MEL_TERM_SMALLEST)
            smallest = fmin(smallest, at + p->term[t].f);
    }
    return isfinite(smallest) ? value + p->smallest_weight * smallest : value;
}

bool mel_program_has_limits(const mel_program *program)
{
    for (size_t t = 0; t < program->n_terms; t++)
        if (program->term[t].kind == MEL_TERM_LIMIT)
            return true;
    return false;
}

void mel_program_gains(double *gain, const mel_program *program, const double *c, const double *price)
{
    memcpy(gain, c, program->size * sizeof *gain);
    for (size_t t = 0; t < program->n_terms; t++) {
        const mel_term *term = &program->term[t];
        /* A smallest term stands in its equation with the other sign. */
        const double by = term->kind == MEL_TERM_SMALLEST ? price[t] : -price[t];
        for (size_t e = term->first; e < term->first + term->n && by != 0.0; e++)
            gain[program->at[e]] += by * program->a[e];
    }
}
