/* Limits: reading them, and the terms that hold them. */
#include "classify/goal.h"

#include "classify/shared.h"
#include "data/number.h"
#include "data/quote.h"
#include "problem/shared.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- reading ------------------------------------------------------------------------------------ */

static const struct {
    const char *word;
    mel_limit_kind kind;
    bool of_class, of_group, needs_positive;
} words[] = {
    { "flagged", MEL_LIMIT_SHARE, false, true, true },
    { "share", MEL_LIMIT_SHARE, true, true, false },
    { "referred", MEL_LIMIT_REFERRED, false, true, false },
    { "refer", MEL_LIMIT_REFERRED, false, true, false },
    { "recall", MEL_LIMIT_RECALL, true, true, false },
    { "precision", MEL_LIMIT_PRECISION, true, true, false },
    { "accuracy", MEL_LIMIT_ACCURACY, false, true, false },
    { "equalised-odds", MEL_LIMIT_ODDS, false, false, false },
    { "equalized-odds", MEL_LIMIT_ODDS, false, false, false },
    { "equal-opportunity", MEL_LIMIT_OPPORTUNITY, false, false, true },
    { "demographic-parity", MEL_LIMIT_PARITY, false, false, false },
};
enum { N_WORDS = sizeof words / sizeof *words };

/* The text of the brackets that begin at *at, which moves behind them; false: there are none. */
static bool take_brackets(char *out, size_t size, const char **at)
{
    const char *end = **at == '[' ? strchr(*at, ']') : NULL;
    const size_t n = end != NULL ? (size_t)(end - *at - 1) : 0;
    if (end == NULL || n == 0 || n >= size)
        return false;
    memcpy(out, *at + 1, n);
    out[n] = '\0';
    *at = end + 1;
    return true;
}

static size_t place_of_name(const char *name, size_t n, const char *const *names)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(names[i], name) == 0)
            return i;
    return n;
}

static mel_status read_class(mel_limit *out, const char **at, const char *text, size_t k,
                             const char *const *class_name, mel_error *err)
{
    char name[MEL_LIMIT_TEXT];
    if (!take_brackets(name, sizeof name, at))
        return mel_fail(err, MEL_EINVAL, "%s: of which class? Write recall[CLASS]=0.9",
                        mel_quote_text(text).text);
    out->class_code = place_of_name(name, k, class_name);
    return out->class_code < k ? MEL_OK
                               : mel_fail(err, MEL_EINVAL, "%s: there is no class %s; classes are %s",
                                          mel_quote_text(text).text, mel_quote_text(name).text,
                                          mel_name_list(k, class_name).text);
}

/* [female] or [sex=female]. */
static mel_status read_group(mel_limit *out, const char **at, const char *text, size_t m,
                             const char *const *group_name, mel_error *err)
{
    char name[MEL_LIMIT_TEXT];
    if (!take_brackets(name, sizeof name, at))
        return MEL_OK;
    const char *sign = strchr(name, '=');
    out->group = place_of_name(name, m, group_name);
    if (out->group == m && sign != NULL)
        out->group = place_of_name(sign + 1, m, group_name);
    if (out->group < m)
        return MEL_OK;
    return m < 2 ? mel_fail(err, MEL_EINVAL, "%s: there are no groups", mel_quote_text(text).text)
                 : mel_fail(err, MEL_EINVAL, "%s: there is no group %s; groups are %s",
                            mel_quote_text(text).text, mel_quote_text(name).text,
                            mel_name_list(m, group_name).text);
}

static mel_status read_bound(mel_limit *out, const char *at, const char *text, mel_error *err)
{
    char number[64];
    size_t n = *at == '=' ? strlen(at + 1) : 0;
    const bool percent = n > 0 && at[n] == '%';
    n -= percent ? 1 : 0;
    if (n == 0 || n >= sizeof number)
        return mel_fail(err, MEL_EINVAL,
                        "%s: expected WHAT=NUMBER, as in flagged=10%% or recall[cancer]=0.95",
                        mel_quote_text(text).text);
    memcpy(number, at + 1, n);
    number[n] = '\0';
    char *end = NULL;
    out->bound = mel_to_double(number, &end) / (percent ? 100.0 : 1.0);
    return *end == '\0' && out->bound >= 0.0 && out->bound <= 1.0
               ? MEL_OK
               : mel_fail(err, MEL_EINVAL, "%s: expected a number from 0 to 1 or a percentage",
                          mel_quote_text(text).text);
}

static mel_status check_limit(const mel_limit *limit, const char *text, size_t k, size_t m, mel_error *err)
{
    const bool gap = limit->kind >= MEL_LIMIT_ODDS;
    if (gap && m < 2)
        return mel_fail(err, MEL_EINVAL, "%s compares groups, and there are none", mel_quote_text(text).text);
    if (gap && limit->at_least)
        return mel_fail(err, MEL_EINVAL,
                        "--at-least %s: a difference between groups can only be limited from above",
                        mel_quote_text(text).text);
    if (limit->kind == MEL_LIMIT_OPPORTUNITY && k != 2)
        return mel_fail(err, MEL_EINVAL, "%s is for two classes, not %zu", mel_quote_text(text).text, k);
    if (limit->kind == MEL_LIMIT_SHARE && strncmp(text, "flagged", 7) == 0 && k != 2)
        return mel_fail(err, MEL_EINVAL, "%s: with %zu classes write share[CLASS]", mel_quote_text(text).text,
                        k);
    return MEL_OK;
}

/* Which word a limit begins with; *length: of the word. */
static mel_status find_word(size_t *out, size_t *length, const char *text, mel_error *err)
{
    const size_t n = *length = strcspn(text, "[=");
    size_t w = 0;
    while (w < N_WORDS && (strlen(words[w].word) != n || strncmp(words[w].word, text, n) != 0))
        w++;
    *out = w;
    return w < N_WORDS
               ? MEL_OK
               : mel_fail(
                     err, MEL_EINVAL,
                     "%s: limits are about flagged, share[CLASS], referred, recall[CLASS], precision[CLASS], "
                     "accuracy, equalised-odds, equal-opportunity, demographic-parity",
                     mel_quote_text(text).text);
}

bool mel_limit_needs_positive(const char *text)
{
    size_t w = 0, n = 0;
    return find_word(&w, &n, text, NULL) == MEL_OK && words[w].needs_positive;
}

mel_status mel_limit_names_groups(bool *out, const char *text, mel_error *err)
{
    size_t w = 0, n = 0, brackets = 0;
    TRY(find_word(&w, &n, text, err));
    *out = false;
    for (const char *at = text; *at != '\0'; at++)
        brackets += *at == '[';
    *out = !words[w].of_group || brackets > (words[w].of_class ? 1 : 0);
    return MEL_OK;
}

mel_status mel_limit_parse(mel_limit *out, const char *text, bool at_least, size_t n_classes,
                           const char *const *class_name, size_t n_groups, const char *const *group_name,
                           mel_error *err)
{
    size_t w = 0, n = 0;
    TRY(find_word(&w, &n, text, err));
    *out = (mel_limit){
        .kind = words[w].kind, .at_least = at_least, .class_code = n_classes - 1, .group = SIZE_MAX
    };
    const char *at = text + n;
    TRY(words[w].of_class ? read_class(out, &at, text, n_classes, class_name, err) : MEL_OK);
    if (words[w].of_group)
        TRY(read_group(out, &at, text, n_groups, group_name, err));
    (void)snprintf(out->text, sizeof out->text, "%.*s", (int)(at - text), text);
    TRY(read_bound(out, at, text, err));
    return check_limit(out, text, n_classes, n_groups, err);
}

/* --- terms -------------------------------------------------------------------------------------- */

static bool counts(const mel_limit *limit, size_t g)
{
    return limit->group == SIZE_MAX || limit->group == g;
}

/* Rows that the limit is a share of. */
static double mass_of(const mel_limit *limit, const mel_steps *steps)
{
    const size_t k = steps->n_classes;
    double sum = 0.0;
    for (size_t r = 0; r < steps->n_groups * k; r++)
        if (counts(limit, r / k) && (limit->kind != MEL_LIMIT_RECALL || r % k == limit->class_code))
            sum += steps->mass[mel_steps_row(steps, r / k, r % k)];
    return sum;
}

/* What the limited number has of cell (class i, decision j); precision: that minus its bound. */
static double limited_part(const mel_limit *limit, const mel_steps *steps, size_t i, size_t j)
{
    const size_t c = limit->class_code;
    switch (limit->kind) {
    case MEL_LIMIT_SHARE:
        return j == c ? 1.0 : 0.0;
    case MEL_LIMIT_REFERRED:
        return j == steps->n_classes ? 1.0 : 0.0;
    case MEL_LIMIT_RECALL:
        return i == c && j == c ? 1.0 : 0.0;
    case MEL_LIMIT_PRECISION:
        return j == c ? (i == c ? 1.0 : 0.0) - limit->bound : 0.0;
    case MEL_LIMIT_ACCURACY:
        return i == j ? 1.0 : 0.0;
    default:
        return 0.0;
    }
}

/* What a limit is a share of has no rows. */
static mel_status refuse_empty(const mel_limit *limit, const mel_steps *steps, size_t g, size_t i,
                               mel_error *err)
{
    const bool one = g != SIZE_MAX;
    const mel_status status = one && i == steps->n_classes
                                  ? mel_fail(err, MEL_EDATA, "group %s has no rows",
                                             mel_quote_name(steps->called.group_name, g).text)
                                  : mel_fail_no_rows(err, &steps->called, one ? steps->n_groups : 1, g, i);
    return mel_fail_in(err, status, "%s", limit->text);
}

static mel_status add_plain(mel_program *p, const mel_limit *limit, size_t number, const mel_steps *steps,
                            mel_error *err)
{
    const size_t k = steps->n_classes, d = steps->n_decisions;
    const double sign = limit->at_least ? -1.0 : 1.0, mass = mass_of(limit, steps);
    const mel_term term = { .kind = MEL_TERM_LIMIT,
                            .f = limit->kind == MEL_LIMIT_PRECISION ? 0.0 : sign * limit->bound,
                            .level = MEL_NO_LEVEL,
                            .limit = number };
    if (!(mass > 0.0))
        return refuse_empty(limit, steps, limit->group,
                            limit->kind == MEL_LIMIT_RECALL ? limit->class_code : k, err);
    TRY(mel_program_add(p, term, err));
    for (size_t cell = 0; cell < steps->n_groups * k * d; cell++) {
        const size_t g = cell / (k * d), i = cell / d % k;
        const double part = counts(limit, g) ? limited_part(limit, steps, i, cell % d) : 0.0;
        if (part != 0.0)
            TRY(mel_program_entry(p, mel_steps_row(steps, g, i) * d + cell % d, sign * part / mass, err));
    }
    return MEL_OK;
}

/* R^g_ij, or with i = k the share of decisions j in group g, as entries of the last term. */
static mel_status add_rate(mel_program *p, const mel_limit *limit, const mel_steps *steps, size_t g, size_t i,
                           size_t j, double by, mel_error *err)
{
    const size_t k = steps->n_classes, d = steps->n_decisions;
    double mass = 0.0;
    for (size_t c = 0; c < k; c++)
        mass += i == k || c == i ? steps->mass[mel_steps_row(steps, g, c)] : 0.0;
    if (!(mass > 0.0))
        return refuse_empty(limit, steps, g, i, err);
    for (size_t c = 0; c < k; c++)
        if (i == k || c == i)
            TRY(mel_program_entry(p, mel_steps_row(steps, g, c) * d + j, by / mass, err));
    return MEL_OK;
}

/* All groups within the bound of each other: between a level and that much above it. */
static mel_status add_spread(mel_program *p, const mel_limit *limit, size_t number, const mel_steps *steps,
                             size_t i, size_t j, mel_error *err)
{
    const long level = (long)p->n_levels++;
    for (size_t side = 0; side < 2 * steps->n_groups; side++) {
        const bool above = side % 2 == 0;
        const mel_term term = { .kind = MEL_TERM_LIMIT,
                                .f = above ? limit->bound : 0.0,
                                .level = level,
                                .level_factor = above ? -1.0 : 1.0,
                                .limit = number };
        TRY(mel_program_add(p, term, err));
        TRY(add_rate(p, limit, steps, side / 2, i, j, above ? 1.0 : -1.0, err));
    }
    return MEL_OK;
}

bool mel_limit_compares(const mel_limit *limit, size_t k, size_t i, size_t j)
{
    static const mel_compared what[] = { [MEL_LIMIT_ODDS] = MEL_COMPARED_ODDS,
                                         [MEL_LIMIT_OPPORTUNITY] = MEL_COMPARED_MISSES,
                                         [MEL_LIMIT_PARITY] = MEL_COMPARED_SHARES };
    return mel_compares(what[limit->kind], k, i, j);
}

mel_status mel_limit_add(mel_program *p, const mel_limit *limit, size_t number, const mel_steps *steps,
                         mel_error *err)
{
    const size_t k = steps->n_classes;
    if (limit->kind < MEL_LIMIT_ODDS)
        return add_plain(p, limit, number, steps, err);
    for (size_t q = 0; q < (k + 1) * k; q++)
        if (mel_limit_compares(limit, k, q / k, q % k))
            TRY(add_spread(p, limit, number, steps, q / k, q % k, err));
    return MEL_OK;
}

/* --- what is achieved --------------------------------------------------------------------------- */

/* The share of rows of class i (k: any) that are decided as j (d: any), in the limit's groups. */
static double sum_at(const mel_limit *limit, const mel_shares *of, size_t i, size_t j)
{
    const size_t k = of->n_classes, d = of->n_decisions;
    double sum = 0.0;
    for (size_t cell = 0; cell < of->n_groups * k * d; cell++)
        if (counts(limit, cell / (k * d)) && (i == k || cell / d % k == i) && (j == d || cell % d == j))
            sum += of->x[cell];
    return sum;
}

static double share_of(double part, double all)
{
    return all > 0.0 ? part / all : 0.0;
}

/* R^g_ij, or with i = k the share of decisions j in the group. */
static double rate_at(const mel_shares *of, size_t g, size_t i, size_t j)
{
    const mel_limit here = { .group = g };
    return share_of(sum_at(&here, of, i, j), sum_at(&here, of, i, of->n_decisions));
}

/* The largest difference between groups. */
static double most_spread(const mel_limit *limit, const mel_shares *of)
{
    const size_t k = of->n_classes;
    double most = 0.0;
    for (size_t rate = 0; rate < (k + 1) * k; rate++) {
        double low = INFINITY, high = -INFINITY;
        for (size_t g = 0; g < of->n_groups && mel_limit_compares(limit, k, rate / k, rate % k); g++) {
            low = fmin(low, rate_at(of, g, rate / k, rate % k));
            high = fmax(high, rate_at(of, g, rate / k, rate % k));
        }
        most = fmax(most, high - low);
    }
    return most;
}

size_t mel_limit_parts(const mel_limit *limit, const mel_shares *of)
{
    const size_t k = of->n_classes;
    size_t rates = 0;
    for (size_t rate = 0; rate < (k + 1) * k && limit->kind >= MEL_LIMIT_ODDS; rate++)
        rates += mel_limit_compares(limit, k, rate / k, rate % k);
    return rates * of->n_groups * (of->n_groups - 1);
}

void mel_limit_part_values(double *out, const mel_limit *limit, const mel_shares *of)
{
    const size_t k = of->n_classes;
    for (size_t rate = 0; rate < (k + 1) * k; rate++) {
        if (!mel_limit_compares(limit, k, rate / k, rate % k))
            continue;
        for (size_t g = 0; g < of->n_groups; g++)
            for (size_t h = 0; h < g; h++) {
                *out = rate_at(of, g, rate / k, rate % k) - rate_at(of, h, rate / k, rate % k);
                out[1] = -*out;
                out += 2;
            }
    }
}

double mel_limit_achieved(const mel_limit *limit, const mel_shares *of)
{
    const size_t k = of->n_classes, d = of->n_decisions, c = limit->class_code;
    double right = 0.0;
    switch (limit->kind) {
    case MEL_LIMIT_SHARE:
        return share_of(sum_at(limit, of, k, c), sum_at(limit, of, k, d));
    case MEL_LIMIT_REFERRED:
        return share_of(d > k ? sum_at(limit, of, k, k) : 0.0, sum_at(limit, of, k, d));
    case MEL_LIMIT_RECALL:
        return share_of(sum_at(limit, of, c, c), sum_at(limit, of, c, d));
    case MEL_LIMIT_PRECISION:
        return share_of(sum_at(limit, of, c, c), sum_at(limit, of, k, c));
    case MEL_LIMIT_ACCURACY:
        for (size_t i = 0; i < k; i++)
            right += sum_at(limit, of, i, i);
        return share_of(right, sum_at(limit, of, k, d));
    default:
        return most_spread(limit, of);
    }
}

double mel_limit_price(size_t number, const mel_program *p, const double *price)
{
    double sum = 0.0;
    for (size_t t = 0; t < p->n_terms; t++)
        if (p->term[t].kind == MEL_TERM_LIMIT && p->term[t].limit == number &&
            (p->term[t].level == MEL_NO_LEVEL || p->term[t].level_factor < 0.0))
            sum += price[t];
    return sum;
}
