/* Two groups of m at a time cut each other as the edges of a complete graph meet: two sets have a common pair
 * for every common group. The matrix is that of the triangular graph, with the eigenvalues 2(m - 2), m - 4
 * and -2: well-conditioned for 3 and for 5 or more groups, singular for 4, where a set and the
 * rest are the same cut. There all four single groups and two of the three halves do (3.41 to 0.59). Of 3
 * groups single ones are the same cuts as the pairs. */
#include "elicit/search/subsets.h"

#include <string.h>

static void add_pairs(bool *member, size_t m)
{
    for (size_t u = 0; u < m; u++)
        for (size_t v = u + 1; v < m; v++, member += m)
            member[u] = member[v] = true;
}

void mel_subsets(bool *member, size_t n_groups)
{
    const size_t m = n_groups, n_sets = m * (m - 1) / 2;
    memset(member, 0, n_sets * m * sizeof *member);
    if (m > 4) {
        add_pairs(member, m);
        return;
    }
    for (size_t s = 0; s < n_sets; s++) {
        bool *set = member + s * m;
        set[s < m ? s : 0] = true;
        if (s >= m)
            set[s - m + 1] = true;
    }
}

void mel_subset_half(bool *member, size_t n_groups)
{
    for (size_t g = 0; g < n_groups; g++)
        member[g] = g < n_groups / 2;
}

void mel_subset_cuts(double *cut, const bool *member, size_t n_groups)
{
    for (size_t u = 0; u < n_groups; u++)
        for (size_t v = u + 1; v < n_groups; v++)
            *cut++ = member[u] != member[v] ? 1.0 : 0.0;
}
