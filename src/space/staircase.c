/* The staircase of a sample: sorted scores of each class, counts below a threshold, and its hull in exact
 * integer arithmetic. */
#define _DEFAULT_SOURCE /* madvise is not POSIX's */
#include "space/face.h"

#include <omp.h>
#include <stdlib.h>
#include <sys/mman.h>

void mel_corners_clear(mel_corners *corners)
{
    free(corners->at);
    *corners = (mel_corners){ 0 };
}

__extension__ typedef __int128 signed_wide;

/* > 0: a, b, c turn counter-clockwise. Coordinates are below 2^62, so that nothing overflows. */
static signed_wide turn(const mel_corner *a, const mel_corner *b, const mel_corner *c)
{
    const int64_t left_ab = (int64_t)(a->tp - b->tp), up_ab = (int64_t)(b->tn - a->tn);
    const int64_t left_ac = (int64_t)(a->tp - c->tp), up_ac = (int64_t)(c->tn - a->tn);
    return (signed_wide)up_ab * left_ac - (signed_wide)left_ab * up_ac;
}

static bool push_corner(mel_corners *corners, mel_corner point)
{
    if (corners->n == corners->capacity) {
        const size_t capacity = corners->capacity < 64 ? 64 : 2 * corners->capacity;
        void *block = corners->at;
        if (!mel_grow(&block, capacity, sizeof *corners->at))
            return false;
        corners->at = block;
        corners->capacity = capacity;
    }
    corners->at[corners->n++] = point;
    return true;
}

bool mel_corners_upper(mel_corners *corners, size_t base, mel_corner point)
{
    while (corners->n >= base + 2 &&
           turn(&corners->at[corners->n - 2], &corners->at[corners->n - 1], &point) <= 0)
        corners->n--;
    return push_corner(corners, point);
}

bool mel_corners_lower(mel_corners *corners, size_t base, mel_corner point)
{
    while (corners->n >= base + 2 &&
           turn(&corners->at[corners->n - 2], &corners->at[corners->n - 1], &point) >= 0)
        corners->n--;
    return push_corner(corners, point);
}

bool mel_corners_join(mel_corners *out, const mel_corners *upper, const mel_corners *lower,
                      uint64_t positives, uint64_t negatives)
{
    *out = (mel_corners){ 0 };
    bool ok = mel_corners_upper(out, 0, (mel_corner){ .tp = positives, .key = mel_score_bits(-INFINITY) });
    /* Reflected, the lower hull runs the other way. */
    for (size_t i = 0, j = lower->n; ok && (i < upper->n || j > 0);) {
        mel_corner mirrored = { 0 };
        if (j > 0) {
            mirrored = lower->at[j - 1];
            mirrored.tp = positives - mirrored.tp;
            mirrored.tn = negatives - mirrored.tn;
            mirrored.inverted = true;
        }
        const bool first =
            j == 0 || (i < upper->n && (upper->at[i].tp > mirrored.tp ||
                                        (upper->at[i].tp == mirrored.tp && upper->at[i].tn <= mirrored.tn)));
        if (first)
            ok = mel_corners_upper(out, 0, upper->at[i++]);
        else {
            ok = mel_corners_upper(out, 0, mirrored);
            j--;
        }
    }
    ok = ok && mel_corners_upper(out, 0, (mel_corner){ .tn = negatives, .key = mel_score_bits(INFINITY) });
    if (!ok)
        mel_corners_clear(out);
    return ok;
}

/* Products of two weights. */
__extension__ typedef unsigned __int128 wide;

mel_staircase *mel_staircase_share(mel_staircase *staircase)
{
    atomic_fetch_add(&staircase->users, 1);
    return staircase;
}

void mel_staircase_release(mel_staircase *staircase)
{
    if (staircase == NULL || atomic_fetch_sub(&staircase->users, 1) > 1)
        return;
    for (size_t role = 0; role < 2; role++) {
        free(staircase->key[role]);
        free(staircase->below[role]);
    }
    mel_boundary_free(&staircase->hull);
    free(staircase->rule);
    free(staircase);
}

/* What one thread needs, and the corners that it found. */
typedef struct {
    mel_corners upper, lower;
    uint64_t *spare[2];
    size_t n_spare;
    bool failed;
} worker;

/* Where the corners of one bucket are. */
typedef struct {
    const worker *by;
    size_t upper, n_upper, lower, n_lower;
} part;

typedef struct {
    mel_staircase *staircase;
    size_t n_buckets;
    size_t *start; /* as mel_rows_places left them */
    uint64_t *mass_before;
    part *parts;
    worker *workers;
    size_t n_workers;
} assembly;

static void assembly_clear(assembly *a)
{
    for (size_t i = 0; a->workers != NULL && i < a->n_workers; i++) {
        mel_corners_clear(&a->workers[i].upper);
        mel_corners_clear(&a->workers[i].lower);
        free(a->workers[i].spare[0]);
        free(a->workers[i].spare[1]);
    }
    free(a->workers);
    free(a->parts);
    free(a->start);
    free(a->mass_before);
}

static bool reserve_spare(worker *w, size_t n, bool weighted)
{
    if (n <= w->n_spare)
        return true;
    for (size_t i = 0; i < 1 + (size_t)weighted; i++) {
        free(w->spare[i]);
        w->spare[i] = mel_alloc(n, sizeof *w->spare[i]);
    }
    w->n_spare = w->spare[0] != NULL && (!weighted || w->spare[1] != NULL) ? n : 0;
    return w->n_spare == n;
}

/* Sorts one role's rows of a bucket and adds their weights up. */
static bool sort_bucket(const assembly *a, worker *w, size_t role, size_t bucket)
{
    const size_t at = role * (a->n_buckets + 1) + bucket, start = a->start[at], n = a->start[at + 1] - start;
    uint64_t *key = a->staircase->key[role] + start;
    uint64_t *below = a->staircase->below[role] != NULL ? a->staircase->below[role] + start : NULL;
    if (!reserve_spare(w, n, below != NULL))
        return false;
    mel_score_bits_sort(n, key, below, w->spare[0], w->spare[1]);
    uint64_t sum = a->mass_before[at];
    for (size_t i = 0; below != NULL && i < n; i++) {
        const uint64_t mass = below[i];
        below[i] = sum;
        sum += mass;
    }
    return true;
}

/* One role's rows of a bucket, walked upwards. */
typedef struct {
    const uint64_t *key, *below;
    size_t at, end;
    uint64_t mass_at_end;
} cursor;

static cursor cursor_at(const assembly *a, size_t role, size_t bucket)
{
    const size_t i = role * (a->n_buckets + 1) + bucket;
    return (cursor){ .key = a->staircase->key[role],
                     .below = a->staircase->below[role],
                     .at = a->start[i],
                     .end = a->start[i + 1],
                     .mass_at_end = a->mass_before[i + 1] };
}

static inline uint64_t mass_below(const cursor *c)
{
    if (c->below == NULL)
        return c->at;
    return c->at < c->end ? c->below[c->at] : c->mass_at_end;
}

static inline uint64_t next_key(const cursor *c)
{
    return c->at < c->end ? c->key[c->at] : MEL_SCORE_BITS_END;
}

/* Moves past the rows with a key below the bound. */
static inline void pass(cursor *c, uint64_t bound)
{
    while (c->at < c->end && c->key[c->at] < bound)
        c->at++;
}

/* With a rising threshold, negatives move the point up and positives move it left. A corner of the upper
 * hull comes after a move up and before a move left, one of the lower hull the other way round; a score
 * that both roles share counts as either. Lower corners matter below the line between the trivial
 * classifiers only: reflected, they then are above it. */
static bool find_corners(const assembly *a, worker *w, size_t bucket)
{
    enum { UP = 1, LEFT = 2, EITHER = UP | LEFT };
    const uint64_t positives = a->staircase->weight[MEL_ROW_POSITIVE],
                   negatives = a->staircase->weight[MEL_ROW_NEGATIVE];
    const size_t upper = w->upper.n, lower = w->lower.n;
    cursor pos = cursor_at(a, MEL_ROW_POSITIVE, bucket), neg = cursor_at(a, MEL_ROW_NEGATIVE, bucket);
    unsigned before = EITHER;
    bool ok = true;
    while (ok && (pos.at < pos.end || neg.at < neg.end)) {
        const uint64_t next_pos = next_key(&pos), next_neg = next_key(&neg);
        const uint64_t key = next_pos < next_neg ? next_pos : next_neg;
        const unsigned after = (next_neg == key ? UP : 0) | (next_pos == key ? LEFT : 0);
        const mel_corner here = { .tp = positives - mass_below(&pos), .tn = mass_below(&neg), .key = key };
        if (before != LEFT && after != UP)
            ok = mel_corners_upper(&w->upper, upper, here);
        if (before != UP && after != LEFT &&
            (wide)here.tp * negatives + (wide)here.tn * positives < (wide)positives * negatives)
            ok = mel_corners_lower(&w->lower, lower, here) && ok;
        if (after != UP)
            pass(&pos, after == LEFT ? next_neg : key + 1);
        if (after != LEFT)
            pass(&neg, after == UP ? next_pos : key + 1);
        before = after;
    }
    a->parts[bucket] = (part){ w, upper, w->upper.n - upper, lower, w->lower.n - lower };
    return ok;
}

static bool finish_buckets(assembly *a)
{
#pragma omp parallel for schedule(dynamic, 4) if (a->n_buckets > 1)
    for (size_t b = 0; b < a->n_buckets; b++) {
        worker *w = &a->workers[omp_get_thread_num()];
        w->failed = w->failed || !sort_bucket(a, w, MEL_ROW_NEGATIVE, b) ||
                    !sort_bucket(a, w, MEL_ROW_POSITIVE, b) || !find_corners(a, w, b);
    }
    bool ok = true;
    for (size_t i = 0; i < a->n_workers; i++)
        ok = ok && !a->workers[i].failed;
    return ok;
}

mel_status mel_boundary_of_corners(mel_upper_boundary *out, const mel_corners *corners, uint64_t total,
                                   mel_error *err)
{
    const size_t n = corners->n;
    const double unit = (double)total;
    TRY(mel_boundary_new(out, n - 1, (double)corners->at[0].tp / unit, (double)corners->at[n - 1].tn / unit,
                         err));
    for (size_t i = 0; i < n; i++) {
        const mel_corner *c = &corners->at[i];
        out->vertex[i] = (mel_point){ (double)c->tp / unit, (double)c->tn / unit };
        if (i > 0)
            out->edge[i - 1] = (mel_point){ (double)(int64_t)(c->tp - c[-1].tp) / unit,
                                            (double)(int64_t)(c->tn - c[-1].tn) / unit };
    }
    mel_boundary_finish(out);
    return MEL_OK;
}

static mel_status join_parts(const assembly *a, mel_error *err)
{
    mel_staircase *staircase = a->staircase;
    MEL_AUTO_CLEAR(mel_corners) upper = { 0 };
    MEL_AUTO_CLEAR(mel_corners) lower = { 0 };
    MEL_AUTO_CLEAR(mel_corners) both = { 0 };
    bool ok = true;
    for (size_t b = 0; ok && b < a->n_buckets; b++) {
        const part *p = &a->parts[b];
        for (size_t i = 0; ok && i < p->n_upper; i++)
            ok = mel_corners_upper(&upper, 0, p->by->upper.at[p->upper + i]);
        for (size_t i = 0; ok && i < p->n_lower; i++)
            ok = mel_corners_lower(&lower, 0, p->by->lower.at[p->lower + i]);
    }
    ok = ok && mel_corners_join(&both, &upper, &lower, staircase->weight[MEL_ROW_POSITIVE],
                                staircase->weight[MEL_ROW_NEGATIVE]);
    staircase->rule = ok ? mel_alloc(both.n, sizeof *staircase->rule) : NULL;
    if (staircase->rule == NULL)
        return mel_fail_memory(err, "the corners of a face");
    for (size_t i = 0; i < both.n; i++)
        staircase->rule[i] = (mel_rule){ mel_score_of_bits(both.at[i].key), both.at[i].inverted };
    return mel_boundary_of_corners(&staircase->hull, &both, staircase->total, err);
}

/* Room for the rows of each role, as counted. */
static mel_status reserve_rows(mel_staircase *staircase, mel_deal *deal, assembly *a,
                               const mel_score_rows *rows, mel_error *err)
{
    static const char *const names[] = { [MEL_ROW_NEGATIVE] = "negative", [MEL_ROW_POSITIVE] = "positive" };
    const size_t ends = 2 * (deal->n_buckets + 1);
    a->n_buckets = deal->n_buckets;
    a->n_workers = (size_t)omp_get_max_threads();
    a->start = mel_alloc(ends, sizeof *a->start);
    a->mass_before = mel_alloc(ends, sizeof *a->mass_before);
    a->parts = mel_alloc_zero(deal->n_buckets, sizeof *a->parts);
    a->workers = mel_alloc_zero(a->n_workers, sizeof *a->workers);
    if (a->start == NULL || a->mass_before == NULL || a->parts == NULL || a->workers == NULL)
        return mel_fail_memory(err, "sorting the scores of a face");
    staircase->total = mel_rows_places(deal, rows, a->start, a->mass_before);
    for (size_t role = 0; role < 2; role++) {
        const size_t end = (role + 1) * (deal->n_buckets + 1) - 1;
        staircase->n[role] = a->start[end];
        staircase->weight[role] = a->mass_before[end];
        if (staircase->weight[role] == 0)
            return mel_fail(err, MEL_EDATA, "no %s rows%s: a face needs both", names[role],
                            rows->weight != NULL ? " of a weight that matters" : "");
        staircase->key[role] = mel_alloc(staircase->n[role], sizeof *staircase->key[role]);
        if (rows->weight != NULL)
            staircase->below[role] = mel_alloc(staircase->n[role], sizeof *staircase->below[role]);
        if (staircase->key[role] == NULL || (rows->weight != NULL && staircase->below[role] == NULL))
            return mel_fail_memory(err, "the scores of a face");
        mel_prefer_large_pages(staircase->key[role], staircase->n[role] * sizeof *staircase->key[role]);
        if (rows->weight != NULL)
            mel_prefer_large_pages(staircase->below[role],
                                   staircase->n[role] * sizeof *staircase->below[role]);
    }
    return MEL_OK;
}

static mel_status build(mel_staircase *staircase, assembly *a, mel_deal *deal, mel_score_rows *rows,
                        mel_error *err)
{
    TRY(mel_rows_count(deal, rows, err));
    TRY(reserve_rows(staircase, deal, a, rows, err));
    mel_rows_scatter(deal, rows, staircase->key, staircase->below);
    if (!finish_buckets(a))
        return mel_fail_memory(err, "sorting the scores of a face");
    return join_parts(a, err);
}

mel_status mel_staircase_new(mel_staircase **out, size_t n, const double *score, const uint8_t *role,
                             const double *weight, mel_error *err)
{
    *out = NULL;
    mel_score_rows rows = { .n = n, .score = score, .role = role, .weight = weight };
    mel_staircase *staircase = mel_alloc_zero(1, sizeof *staircase);
    if (staircase == NULL)
        return mel_fail_memory(err, "a face");
    atomic_init(&staircase->users, 1);
    MEL_AUTO_CLEAR(mel_deal) deal = { 0 };
    MEL_AUTO_CLEAR(assembly) a = { .staircase = staircase };
    const mel_status status = build(staircase, &a, &deal, &rows, err);
    staircase->low = rows.low;
    staircase->high = rows.high;
    if (status == MEL_OK)
        *out = staircase;
    else
        mel_staircase_release(staircase);
    return status;
}

static uint64_t mass_before(const mel_staircase *staircase, size_t role, size_t index)
{
    if (staircase->below[role] == NULL)
        return index;
    return index < staircase->n[role] ? staircase->below[role][index] : staircase->weight[role];
}

mel_point mel_staircase_rule(const mel_staircase *staircase, mel_rule rule)
{
    const uint64_t bound = mel_threshold_bits(rule.threshold);
    uint64_t below[2];
    for (size_t role = 0; role < 2; role++)
        below[role] = mass_before(staircase, role,
                                  mel_score_bits_below(staircase->n[role], staircase->key[role], bound));
    const uint64_t above = staircase->weight[MEL_ROW_POSITIVE] - below[MEL_ROW_POSITIVE];
    const uint64_t tp = rule.inverted ? below[MEL_ROW_POSITIVE] : above;
    const uint64_t tn = rule.inverted ? staircase->weight[MEL_ROW_NEGATIVE] - below[MEL_ROW_NEGATIVE]
                                      : below[MEL_ROW_NEGATIVE];
    return (mel_point){ (double)tp / (double)staircase->total, (double)tn / (double)staircase->total };
}

void mel_staircase_sweep(const mel_staircase *staircase, size_t n, const double *threshold, double *tp,
                         double *tn)
{
    const double total = (double)staircase->total;
    size_t at[2] = { 0, 0 };
    uint64_t last = 0;
    for (size_t i = 0; i < n; i++) {
        const uint64_t bound = mel_threshold_bits(threshold[i]);
        for (size_t role = 0; role < 2; role++)
            at[role] = mel_score_bits_below_from(staircase->n[role], staircase->key[role], bound,
                                                 bound >= last ? at[role] : 0);
        last = bound;
        tp[i] =
            (double)(staircase->weight[MEL_ROW_POSITIVE] - mass_before(staircase, MEL_ROW_POSITIVE, at[1])) /
            total;
        tn[i] = (double)mass_before(staircase, MEL_ROW_NEGATIVE, at[0]) / total;
    }
}

size_t mel_staircase_scores(double *score, double *weight, const mel_staircase *s, size_t role, size_t most)
{
    const uint64_t *key = s->key[role], *below = s->below[role];
    const size_t n = s->n[role];
    size_t different = n > 0, done = 0;
    for (size_t i = 1; i < n; i++)
        different += key[i] != key[i - 1];
    const size_t together = most > 0 && different > most ? (n + most - 1) / most : 1;
    for (size_t from = 0, to; from < n; from = to) {
        const uint64_t until = different > most && n - from > together ? key[from + together - 1] : key[from];
        double sum = mel_score_of_bits(key[from]), taken = 1.0;
        for (to = from + 1; to < n && key[to] <= until; to++) {
            sum += mel_score_of_bits(key[to]);
            taken += 1.0;
        }
        const uint64_t mass =
            below == NULL ? to - from : (to < n ? below[to] : s->weight[role]) - below[from];
        score[done] = key[from] == key[to - 1] ? mel_score_of_bits(key[from]) : sum / taken;
        weight[done++] = (double)mass / (double)s->total;
    }
    return done;
}

/* Asks the system for large pages under large blocks. */
void mel_prefer_large_pages(void *block, size_t bytes)
{
#ifdef MADV_HUGEPAGE
    const size_t page = (size_t)1 << 21, worthwhile = 2 * page;
    const size_t offset = (page - (uintptr_t)block % page) % page;
    /* Refusal is as good as consent: the block only is slower then. */
    if (bytes >= worthwhile + offset)
        (void)madvise((char *)block + offset, (bytes - offset) / page * page, MADV_HUGEPAGE);
#else
    (void)block;
    (void)bytes;
#endif
}
