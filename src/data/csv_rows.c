/* Where the rows of a text end: cuts a window into spans of whole rows. */
#include "data/csv.h"

#include <string.h>

enum { LINE_END = '\n', QUOTE = '"', COUNT_BLOCK = 128 };

/* What a piece looks like from inside. Index 0: an even number of quotes precedes in the piece, 1: odd.
 * Whether the piece itself starts inside a quoted cell is known only after the pieces before it. */
typedef struct {
    size_t quotes;
    size_t rows[2];  /* line ends */
    size_t first[2]; /* just behind the first line end */
    size_t last[2];  /* just behind the last line end */
} piece_view;

static size_t count_line_ends(const char *p, size_t n)
{
    size_t total = 0;
    while (n >= COUNT_BLOCK) { /* one byte is enough to count a block: the loop becomes vector code */
        uint8_t count = 0;
        for (size_t i = 0; i < COUNT_BLOCK; i++)
            count = (uint8_t)(count + (p[i] == LINE_END));
        total += count;
        p += COUNT_BLOCK;
        n -= COUNT_BLOCK;
    }
    for (size_t i = 0; i < n; i++)
        total += p[i] == LINE_END;
    return total;
}

static size_t behind_last_line_end(const char *p, size_t n)
{
    while (n > 0 && p[n - 1] != LINE_END)
        n--;
    return n;
}

/* The stretch [from, to) of the piece has no quote and an even or odd number of them before it. */
static void view_stretch(piece_view *view, const char *text, size_t from, size_t to, size_t parity)
{
    const size_t rows = count_line_ends(text + from, to - from);
    if (rows == 0)
        return;
    if (view->rows[parity] == 0) {
        const char *first = memchr(text + from, LINE_END, to - from);
        view->first[parity] = (size_t)(first - text) + 1;
    }
    view->rows[parity] += rows;
    view->last[parity] = from + behind_last_line_end(text + from, to - from);
}

static void view_piece(piece_view *view, const char *text, size_t n)
{
    *view = (piece_view){ 0 };
    size_t from = 0;
    while (from < n) {
        const char *quote = memchr(text + from, QUOTE, n - from);
        const size_t to = quote != NULL ? (size_t)(quote - text) : n;
        view_stretch(view, text, from, to, view->quotes & 1);
        view->quotes += quote != NULL;
        from = to + 1;
    }
}

void mel_csv_cut_rows(mel_csv_cut *out, const char *text, size_t n, size_t piece, int threads)
{
    piece_view view[MEL_CSV_PIECES];
    const size_t n_pieces = n / piece + (n % piece != 0);
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1) if (n_pieces > 1 && threads > 1)
    for (size_t i = 0; i < n_pieces; i++)
        view_piece(&view[i], text + i * piece, i + 1 < n_pieces ? piece : n - i * piece);

    out->n_spans = out->n_rows = out->cut = 0;
    size_t inside = 0;
    for (size_t i = 0; i < n_pieces; i++) {
        const piece_view *v = &view[i];
        const size_t base = i * piece, rows = v->rows[inside];
        const size_t start = i == 0 ? 0 : base + v->first[inside];
        if (rows != 0 || i == 0)
            out->span[out->n_spans++] = (mel_csv_span){ .begin = start, .first_row = out->n_rows + (i != 0) };
        if (rows != 0)
            out->cut = base + v->last[inside];
        out->n_rows += rows;
        inside ^= v->quotes & 1;
    }
    while (out->n_spans != 0 && out->span[out->n_spans - 1].begin >= out->cut)
        out->n_spans--;
    for (size_t i = 0; i < out->n_spans; i++)
        out->span[i].end = i + 1 < out->n_spans ? out->span[i + 1].begin : out->cut;
}

size_t mel_csv_first_row(const char *text, size_t n)
{
    size_t inside = 0, from = 0;
    while (from < n) {
        const char *quote = memchr(text + from, QUOTE, n - from);
        const size_t to = quote != NULL ? (size_t)(quote - text) : n;
        const char *line_end = inside == 0 ? memchr(text + from, LINE_END, to - from) : NULL;
        if (line_end != NULL)
            return (size_t)(line_end - text) + 1;
        inside ^= 1;
        from = to + 1;
    }
    return 0;
}
