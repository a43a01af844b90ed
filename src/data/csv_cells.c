/* Where the rows of a CSV text end, which cuts a window into spans of whole rows; and cells of these to
 * numbers, codes and findings: what one thread does with one span. */
#include "data/csv.h"

#include "data/number.h"
#include "data/quote.h"
#include "data/table_reader.h"

#include <math.h>
#include <string.h>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

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

/* --- cells ------------------------------------------------------------------------------------------- */

/* The chunk's failure, with the row and, unless it is SIZE_MAX, the column. */
#define fail_at(chunk, row, column, ...)                                                                     \
    (mel_fail(&(chunk)->err, (chunk)->status = MEL_EDATA, __VA_ARGS__), name_place(chunk, row, column))

static const char *name_place(mel_csv_chunk *chunk, size_t row, size_t column)
{
    const size_t number = chunk->row_number + row;
    const mel_dict *names = chunk->csv->names;
    if (column == SIZE_MAX)
        (void)mel_fail_in(&chunk->err, MEL_EDATA, "row %zu", number);
    else if (column < names->n)
        (void)mel_fail_in(&chunk->err, MEL_EDATA, "row %zu, column %s", number,
                          mel_quote_text(mel_dict_text(names, column)).text);
    else
        (void)mel_fail_in(&chunk->err, MEL_EDATA, "row %zu, column %zu", number, column + 1);
    return NULL;
}

static const char *fail_memory(mel_csv_chunk *chunk)
{
    chunk->status = mel_fail_memory(&chunk->err, "the cells of a table");
    return NULL;
}

/* The first delimiter or line end at or behind p. There is one: spans end with a line end. */
#if defined(__SSE2__)
static inline const char *find_end(const char *p, char delimiter)
{
    const __m128i stop = _mm_set1_epi8(delimiter), line_end = _mm_set1_epi8('\n');
    for (;; p += sizeof(__m128i)) {
        const __m128i bytes = _mm_loadu_si128((const void *)p);
        const __m128i hit = _mm_or_si128(_mm_cmpeq_epi8(bytes, stop), _mm_cmpeq_epi8(bytes, line_end));
        const unsigned mask = (unsigned)_mm_movemask_epi8(hit);
        if (mask != 0)
            return p + __builtin_ctz(mask);
    }
}
#else
static inline const char *find_end(const char *p, char delimiter)
{
    while (*p != delimiter && *p != '\n')
        p++;
    return p;
}
#endif

static bool ends_cell(const char *p, char delimiter)
{
    return *p == delimiter || *p == '\n' || (*p == '\r' && p[1] == '\n');
}

/* A quoted cell: p is behind the opening quote. Doubled quotes are undone in the scratch buffer. */
static const char *read_quoted(mel_csv_chunk *chunk, size_t row, size_t column, const char *p,
                               mel_csv_cell *out)
{
    const char *const from = p, *quote;
    mel_buffer_reset(&chunk->scratch);
    for (;; p = quote + 2) {
        quote = memchr(p, '"', (size_t)(chunk->end - p));
        if (quote == NULL)
            return fail_at(chunk, row, column, "the quote before %s is never closed",
                           mel_quote(from, (size_t)(chunk->end - from)).text);
        if (quote[1] != '"')
            break;
        mel_buffer_add(&chunk->scratch, p, (size_t)(quote + 1 - p));
    }
    const char *const after = quote + 1;
    if (!ends_cell(after, chunk->csv->delimiter))
        return fail_at(chunk, row, column, "%s follows the closing quote",
                       mel_quote(after, (size_t)(find_end(after, chunk->csv->delimiter) - after)).text);
    *out = (mel_csv_cell){ .text = from, .n = (size_t)(quote - from), .quoted = true };
    if (p != from) {
        mel_buffer_add(&chunk->scratch, p, (size_t)(quote - p));
        *out = (mel_csv_cell){ .text = chunk->scratch.data, .n = chunk->scratch.size, .quoted = true };
    }
    return chunk->scratch.status == MEL_OK ? after : fail_memory(chunk);
}

/* Returns where the cell ends: at a delimiter or a line end. NULL: the failure is in the chunk. */
static inline const char *read_cell(mel_csv_chunk *chunk, size_t row, size_t column, const char *p,
                                    mel_csv_cell *out)
{
    if (*p == '"')
        return read_quoted(chunk, row, column, p + 1, out);
    const char *after = find_end(p, chunk->csv->delimiter);
    if (*after == '\n' && after > p && after[-1] == '\r')
        after--;
    *out = (mel_csv_cell){ .text = p, .n = (size_t)(after - p) };
    if (chunk->has_quotes && memchr(p, '"', out->n) != NULL)
        return fail_at(chunk, row, column, "%s has a quote inside a cell that does not start with one",
                       mel_quote(p, out->n).text);
    if (chunk->has_bare_cr && memchr(p, '\r', out->n) != NULL)
        return fail_at(chunk, row, column, "%s has a carriage return without a line feed",
                       mel_quote(p, out->n).text);
    return after;
}

static mel_csv_cell trimmed(mel_csv_cell c)
{
    mel_trim(&c.text, &c.n);
    return c;
}

/* May a cell that starts so be a word for missing? Most texts are told apart by their first byte. */
static inline bool may_be_missing(char first)
{
    switch (first) {
    case '?':
    case 'N':
    case 'n':
    case '#':
    case '<':
    case '-':
    case '.':
    case '1':
    case ' ':
    case '\t':
        return true;
    default:
        return false;
    }
}

/* Quoted or not: programs that quote every cell quote numbers, too. */
static bool is_missing_number(mel_csv_cell c)
{
    if (c.n == 0)
        return true;
    const mel_csv_cell t = trimmed(c);
    return may_be_missing(c.text[0]) && mel_missing_number(t.text, t.n);
}

static bool is_quoted_word(mel_csv_cell c)
{
    return c.quoted && c.n != 0;
}

static inline bool is_missing_text(mel_csv_cell c, bool declared)
{
    if (c.n == 0)
        return true;
    if (c.quoted || !may_be_missing(c.text[0])) /* a quoted NA is the text NA */
        return false;
    const mel_csv_cell t = trimmed(c);
    return declared ? mel_missing_declared(t.text, t.n) : mel_missing_text(t.text, t.n);
}

/* A number of n bytes at p. */
static inline void note_width(mel_digit_widths *widths, const char *p, size_t n)
{
    if (mel_has_zeros_in_front(p, n)) /* zeros before a decimal are of no width: never printed again */
        mel_widths_merge(widths, &(mel_digit_widths){ n, mel_has_only_digits(p, n) ? n : n + 1, 0 });
    else if (widths->shortest_other - 1 >= n) /* also where there is none yet */
        widths->shortest_other = n;
}

/* The first one of a look; the fast path goes on from there where points mark decimals. */
static void count_shape(mel_csv_chunk *chunk, mel_csv_finding *f, int shape, size_t row, const char *cell)
{
    const bool points = chunk->csv->decimal == '.';
    if (f->seen[shape].n++ == 0)
        f->seen[shape] = (mel_csv_sight){ 1, row, cell };
    f->has_point |= points && shape == MEL_SHAPE_POINT;
    f->has_thousands |= points && shape == MEL_SHAPE_POINT_OR_THOUSANDS;
}

/* A cell of a column of numbers that is not simply one up to the delimiter. */
static const char *styled_cell(mel_csv_chunk *chunk, size_t row, size_t column, const char *p)
{
    mel_csv_cell c = { 0 };
    const char *const after = read_cell(chunk, row, column, p, &c);
    if (after == NULL)
        return NULL;
    mel_csv_finding *f = &chunk->finding[column];
    double value = NAN;
    f->slow++;
    if (is_missing_number(c)) {
        f->found.quoted_words += is_quoted_word(c);
    } else {
        const mel_csv_cell t = trimmed(c);
        const mel_styled_number number = mel_number_styled(t.text, t.n, chunk->csv->decimal);
        count_shape(chunk, f, (int)number.shape, row, p);
        if (number.percent)
            count_shape(chunk, f, MEL_SEEN_PERCENT, row, p);
        if (number.kind == MEL_NUMBER_FINITE) {
            value = number.value;
            f->found.quoted_numbers += c.quoted;
            note_width(&f->found.widths, t.text, t.n);
        }
    }
    if (f->numbers != NULL)
        f->numbers[row] = value;
    return after;
}

/* One to three digits before the point, not a 0: three behind it may be thousands. */
static bool may_be_thousands(const char *p, const char *decimals)
{
    const size_t whole = (size_t)(decimals - p) - 1 - (*p == '-');
    return whole >= 1 && whole <= 3 && p[*p == '-'] != '0';
}

static inline const char *number_cell(mel_csv_chunk *chunk, size_t row, size_t column, const char *p)
{
    double plain;
    const char *decimals;
    mel_csv_finding *f = &chunk->finding[column];
    const char *after = f->numbers != NULL ? mel_number_fast(p, &plain, &decimals) : NULL;
    if (after == NULL || !ends_cell(after, chunk->csv->delimiter))
        return styled_cell(chunk, row, column, p);
    if (decimals != NULL) {
        const bool three = after - decimals == 3 && may_be_thousands(p, decimals);
        if (!(three ? f->has_thousands : f->has_point))
            return styled_cell(chunk, row, column, p);
        f->points++;
        if (three)
            f->thousands++;
    }
    f->numbers[row] = plain;
    note_width(&f->found.widths, p, (size_t)(after - p));
    return after;
}

/* The code of a text that the column has not had before this chunk, or MEL_MISSING. */
static uint32_t fresh_code(mel_csv_chunk *chunk, mel_csv_finding *finding, mel_csv_cell c, uint64_t hash)
{
    if (finding->fresh == NULL)
        finding->fresh = mel_dict_new();
    const uint32_t code =
        finding->fresh != NULL ? mel_dict_add(finding->fresh, c.text, c.n, hash) : MEL_MISSING;
    if (code == MEL_MISSING || code >= MEL_MISSING - finding->known->n) {
        (void)fail_memory(chunk);
        return MEL_MISSING;
    }
    return code + finding->known->n;
}

static inline const char *text_cell(mel_csv_chunk *chunk, size_t row, size_t column, const char *p)
{
    mel_csv_cell c = { 0 };
    const char *const after = read_cell(chunk, row, column, p, &c);
    if (after == NULL)
        return NULL;
    mel_csv_finding *f = &chunk->finding[column];
    const bool word = is_missing_number(c); /* what it would be among numbers */
    uint32_t code = MEL_MISSING;
    f->found.quoted_words += word && is_quoted_word(c);
    if (!(word && is_missing_text(c, f->declared))) {
        f->found.has_bare_word |= word && !c.quoted;
        const uint64_t hash = mel_dict_hash(c.text, c.n);
        code = mel_dict_find(f->known, c.text, c.n, hash);
        if (code == MEL_MISSING && (code = fresh_code(chunk, f, c, hash)) == MEL_MISSING)
            return NULL;
    }
    f->codes[row] = code;
    return after;
}

mel_quoted mel_csv_quote(mel_csv_chunk *chunk, const char *cell)
{
    mel_csv_cell c = { 0 };
    (void)read_cell(chunk, 0, SIZE_MAX, cell, &c);
    c = trimmed(c);
    return mel_quote(c.text, c.n);
}

size_t mel_csv_count_cells(const char *p, const char *end, char delimiter)
{
    size_t n = 1;
    bool inside = false;
    for (; p < end && (inside || *p != '\n'); p++) {
        inside ^= *p == '"';
        n += !inside && *p == delimiter;
    }
    return n;
}

static const char *fail_ragged(mel_csv_chunk *chunk, size_t row, const char *p)
{
    const size_t due = chunk->csv->n_columns + chunk->names_rows + chunk->csv->dialect.open_end;
    if (*p == '\n' || *p == '\r')
        return fail_at(chunk, row, SIZE_MAX, "the line is empty; expected %zu cells", due);
    const size_t n = mel_csv_count_cells(p, chunk->end, chunk->csv->delimiter);
    return fail_at(chunk, row, SIZE_MAX, "%zu cell%s; expected %zu", n, n == 1 ? "" : "s", due);
}

/* The cell that is no column, behind the last one. */
static const char *read_open_end(mel_csv_chunk *chunk, size_t row, const char *start, const char *p)
{
    mel_csv_cell c = { 0 };
    p = read_cell(chunk, row, SIZE_MAX, p, &c);
    if (p != NULL && *p == chunk->csv->delimiter)
        return fail_ragged(chunk, row, start);
    if (p != NULL && trimmed(c).n != 0)
        return fail_at(chunk, row, SIZE_MAX,
                       "%s stands behind the last column, where the first rows have nothing but a separator",
                       mel_quote(c.text, c.n).text);
    return p;
}

static const char *parse_csv_row(mel_csv_chunk *chunk, size_t row, const char *p)
{
    const char *const start = p;
    if (chunk->names_rows) {
        mel_csv_cell c;
        p = read_cell(chunk, row, SIZE_MAX, p, &c);
        if (p == NULL)
            return NULL;
        if (*p++ != chunk->csv->delimiter)
            return fail_ragged(chunk, row, start);
        const mel_csv_cell name = trimmed(c);
        if (chunk->row_name != NULL)
            chunk->row_name[row] = mel_row_name(name.text, name.n);
    }
    const size_t n_followed =
        chunk->csv->n_columns - !chunk->csv->dialect.open_end; /* columns behind which there is a separator */
    for (size_t j = 0; j < chunk->csv->n_columns; j++) {
        switch (chunk->finding[j].kind) {
        case MEL_CSV_NUMBER:
            p = number_cell(chunk, row, j, p);
            break;
        case MEL_CSV_TEXT:
            p = text_cell(chunk, row, j, p);
            break;
        case MEL_CSV_SKIP: {
            mel_csv_cell c;
            p = read_cell(chunk, row, j, p, &c);
            break;
        }
        }
        if (p == NULL)
            return NULL;
        const bool more = *p == chunk->csv->delimiter;
        if (more != (j < n_followed))
            return fail_ragged(chunk, row, start);
        p += more;
    }
    if (chunk->csv->dialect.open_end && (p = read_open_end(chunk, row, start, p)) == NULL)
        return NULL;
    return p + (*p == '\r') + 1;
}

/* NUL bytes, broken UTF-8: the place is the cell in which the byte lies. */
static const char *fail_byte(mel_csv_chunk *chunk, const char *bad)
{
    size_t row = 0;
    const char *start = chunk->begin;
    bool inside = false;
    for (const char *p = start; p < bad; p++) {
        inside ^= *p == '"';
        if (*p == '\n' && !inside) {
            row++;
            start = p + 1;
        }
    }
    const size_t cell_number = mel_csv_count_cells(start, bad, chunk->csv->delimiter) - 1;
    const size_t column = cell_number >= chunk->names_rows ? cell_number - chunk->names_rows : SIZE_MAX;
    if (*bad == '\0')
        return fail_at(chunk, row, column, "a NUL byte; this is not text");
    const size_t n = (size_t)(chunk->end - bad);
    chunk->not_utf8 = true;
    return fail_at(chunk, row, column, "%s is not valid UTF-8", mel_quote(bad, n < 4 ? n : 4).text);
}

/* One pass that tells whether the slower checks are needed at all. */
static const char *check_bytes(mel_csv_chunk *chunk)
{
    enum { BLOCK = 128 };
    const size_t n = (size_t)(chunk->end - chunk->begin);
    const char *p = chunk->begin;
    size_t n_cr = 0;
    unsigned char high = 0, quotes = 0;
    for (size_t i = 0; i < n;) {
        const size_t stop = n - i < BLOCK ? n : i + BLOCK;
        unsigned char cr = 0;
        for (; i < stop; i++) {
            high |= (unsigned char)p[i];
            quotes |= p[i] == '"';
            cr = (unsigned char)(cr + (p[i] == '\r'));
        }
        n_cr += cr;
    }
    const char *nul = memchr(p, '\0', n);
    const size_t valid = (high & 0x80) != 0 ? mel_utf8_valid(p, n) : n;
    if (nul != NULL || valid < n)
        return fail_byte(chunk, nul != NULL && (size_t)(nul - p) <= valid ? nul : p + valid);
    size_t paired = 0;
    for (size_t i = 0; n_cr != 0 && i + 1 < n; i++)
        paired += p[i] == '\r' && p[i + 1] == '\n';
    chunk->has_bare_cr = paired != n_cr;
    chunk->has_quotes = quotes != 0;
    return p;
}

void mel_csv_parse(mel_csv_chunk *chunk)
{
    chunk->status = MEL_OK;
    const char *p = check_bytes(chunk);
    for (size_t row = 0; p != NULL && p < chunk->end && row < chunk->n_rows; row++)
        p = parse_csv_row(chunk, row, p);
}

static mel_status add_header_name(mel_dict *names, mel_csv_chunk *chunk, size_t column, mel_csv_cell c)
{
    const mel_csv_cell t = c.quoted ? c : trimmed(c);
    if (t.n == 0) {
        const bool first = column == 0 && !chunk->names_rows;
        if (first && !c.quoted && (*t.text == '\n' || *t.text == '\r')) {
            (void)fail_at(chunk, 0, column,
                          "the first line is empty; remove it, or give header=no if it is a missing value");
            return chunk->status;
        }
        (void)fail_at(
            chunk, 0, column, "the column has no name%s; name it, %sor give header=no if the row is data",
            first ? ", and its cells are not whole numbers or names, each once, which would be skipped" : "",
            first ? "leave it out (pandas: index=False, R: row.names=FALSE), " : "");
        return chunk->status;
    }
    const uint64_t hash = mel_dict_hash(t.text, t.n);
    const uint32_t before = mel_dict_find(names, t.text, t.n, hash);
    if (before != MEL_MISSING) {
        (void)fail_at(chunk, 0, column,
                      "the name %s is taken by column %zu; rename one of the two, or give header=no if the "
                      "row is data",
                      mel_quote(t.text, t.n).text, (size_t)before + 1 + chunk->names_rows);
        return chunk->status;
    }
    if (mel_dict_add(names, t.text, t.n, hash) == MEL_MISSING)
        (void)fail_memory(chunk);
    return chunk->status;
}

mel_status mel_csv_parse_header(mel_dict *names, mel_csv_chunk *chunk)
{
    const mel_csv *csv = chunk->csv;
    const char *first = csv->dialect.first_is_row_name ? csv->opt.row_name : NULL;
    chunk->status = MEL_OK;
    const char *p = check_bytes(chunk);
    for (size_t j = 0; p != NULL; j++) {
        mel_csv_cell c = { 0 };
        p = read_cell(chunk, 0, j, p, &c);
        if (p == NULL)
            break;
        if (j == 0 && first != NULL)
            c = (mel_csv_cell){ .text = first, .n = strlen(first) };
        const bool last = *p != csv->delimiter;
        const bool open_end = csv->dialect.open_end && last && j != 0 && trimmed(c).n == 0;
        const bool is_name = !open_end && !(chunk->names_rows && j == 0);
        if (is_name && names->n == csv->opt.max_columns)
            return chunk->status =
                       mel_fail(&chunk->err, MEL_ELIMIT,
                                "more than %zu columns; raise the limit on columns if that is intended",
                                csv->opt.max_columns);
        if (is_name && add_header_name(names, chunk, j, c) != MEL_OK)
            break;
        p = last ? NULL : p + 1;
    }
    return chunk->status;
}
