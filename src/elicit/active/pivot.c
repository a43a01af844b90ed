/* Binary linear-fractional metrics as pivots, the points that their level lines pass through. */
#include "elicit/active/pivot.h"

#include "base/la.h"

#include <math.h>

const double mel_pivot_cone[MEL_PIVOT_CONE * 3] = {
    1.0, 0.0, 1.0, 1.0, 0.0, -1.0, 0.0, -1.0, 1.0, 0.0, -1.0, -1.0,
};
const double mel_pivot_start[3] = { 1.0, -1.0, 0.0 };

mel_spot mel_spot_of(mel_shares shares, mel_point point)
{
    return (mel_spot){ 2.0 * point.tp / shares.positives - 1.0, 2.0 * point.tn / shares.negatives - 1.0 };
}

mel_point mel_point_of(mel_shares shares, mel_spot spot)
{
    return (mel_point){ 0.5 * shares.positives * (spot.x + 1.0), 0.5 * shares.negatives * (spot.y + 1.0) };
}

void mel_pivot_row(double row[3], mel_spot a, mel_spot b)
{
    row[0] = a.y - b.y;
    row[1] = b.x - a.x;
    row[2] = a.x * b.y - a.y * b.x;
}

/* phi = 1/2 + <(-w_y, w_x), C> / (2 l(C)), l(C) = w_x - w_y - w_z (x - y) > 0. */
double mel_pivot_gain(const double w[3], mel_spot a, mel_spot b)
{
    const double sum = w[0] - w[1];
    return 0.5 * sum / ((sum - w[2] * (a.x - a.y)) * (sum - w[2] * (b.x - b.y)));
}

void mel_pivot_slope(double slope[2], mel_shares shares, const double w[3], mel_spot at)
{
    slope[0] = (at.y * w[2] - w[1]) * shares.negatives;
    slope[1] = (w[0] - at.x * w[2]) * shares.positives;
}

/* c11 TP + c00 TN + c0 in centred and scaled coordinates. */
static void rescale(double out[3], mel_shares shares, const double c[3])
{
    out[0] = 0.5 * shares.positives * c[0];
    out[1] = 0.5 * shares.negatives * c[1];
    out[2] = c[2] + out[0] + out[1];
}

bool mel_pivot_of(double w[3], mel_shares shares, const double coefficient[MEL_FRACTIONAL_COEFFICIENTS])
{
    double p[3], q[3];
    rescale(p, shares, coefficient);
    rescale(q, shares, coefficient + 3);
    w[0] = p[1] * q[2] - p[2] * q[1];
    w[1] = p[2] * q[0] - p[0] * q[2];
    w[2] = p[0] * q[1] - p[1] * q[0];
    const double length = mel_norm2(3, w);
    if (!(length > 1e-12 * mel_norm2(3, p) * mel_norm2(3, q)))
        return false;
    mel_scale(3, 1.0 / length, w);
    return true;
}

void mel_pivot_metric(double coefficient[MEL_FRACTIONAL_COEFFICIENTS], mel_shares shares, const double w[3])
{
    const double p11 = -(w[1] + w[2]) / shares.positives, p00 = (w[0] + w[2]) / shares.negatives;
    const double sum = p11 + p00;
    coefficient[0] = p11 / sum;
    coefficient[1] = p00 / sum;
    coefficient[2] = 0.0;
    coefficient[3] = -2.0 * w[2] / (shares.positives * sum);
    coefficient[4] = 2.0 * w[2] / (shares.negatives * sum);
    coefficient[5] = (w[0] - w[1]) / sum;
}

/* --- a known p11 ---------------------------------------------------------------------------------- */

void mel_pivot_narrow(double out[2], const mel_pivot_line *line, const double w[3])
{
    for (size_t i = 0; i < 2; i++)
        out[i] = mel_dot(3, line->axis[i], w);
}

void mel_pivot_widen(double w[3], const mel_pivot_line *line, const double in[2])
{
    for (size_t i = 0; i < 3; i++)
        w[i] = in[0] * line->axis[0][i] + in[1] * line->axis[1][i];
}

/* The two edges of a cone in the plane are at right angles to two of its normals; between them is the start.
 */
static void find_start(mel_pivot_line *line)
{
    line->start[0] = line->start[1] = 0.0;
    for (size_t j = 0; j < 2 * line->n_cone; j++) {
        const double *g = line->cone + 2 * (j / 2), turn = j % 2 == 0 ? 1.0 : -1.0;
        const double edge[2] = { -turn * g[1] / mel_norm2(2, g), turn * g[0] / mel_norm2(2, g) };
        double least = 0.0;
        for (size_t i = 0; i < line->n_cone; i++)
            least = fmin(least, mel_dot(2, line->cone + 2 * i, edge));
        if (least > -1e-12)
            mel_axpy(2, 1.0, edge, line->start);
    }
}

void mel_pivot_line_of(mel_pivot_line *line, mel_shares shares, double p11)
{
    double p[3];
    rescale(p, shares, (const double[]){ p11, 1.0 - p11, 0.0 });
    mel_scale(3, 1.0 / mel_norm2(3, p), p); /* p[2] = p[0] + p[1] > 0 */
    double *u = line->axis[0], *v = line->axis[1];
    u[0] = p[1];
    u[1] = -p[0];
    u[2] = 0.0;
    mel_scale(3, 1.0 / mel_norm2(3, u), u);
    v[0] = p[1] * u[2] - p[2] * u[1];
    v[1] = p[2] * u[0] - p[0] * u[2];
    v[2] = p[0] * u[1] - p[1] * u[0];
    line->n_cone = 0;
    for (size_t j = 0; j < MEL_PIVOT_CONE; j++) {
        double *g = line->cone + 2 * line->n_cone;
        mel_pivot_narrow(g, line, mel_pivot_cone + 3 * j);
        line->n_cone += mel_norm2(2, g) > 1e-12; /* the plane may touch the cone along a side */
    }
    find_start(line);
}
