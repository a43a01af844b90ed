/* A person at a terminal, or lines from a file that stands for one. */
#include "oracle/oracle.h"
#include "oracle/screen.h"
#include "oracle/tty_keys.h"

#include "metric/text.h"
#include "oracle/shared.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { MIN_WIDTH = 40, WIDE_ENOUGH = 100, MAX_LINE = 64, MAX_PHRASE = 1 << 14 };

typedef struct {
    mel_oracle base;
    mel_terminal_options opt;
    char *name[4]; /* owned copies behind opt.show */
    bool follows;  /* the width is the window's, whatever that becomes */
} terminal_oracle;

/* What a key or a line asks for, besides the replies. */
enum { WISH_EXPLAIN = 100, WISH_NOTHING = 101, WISH_REDRAW = 102 };

static int wish_of_key(int key)
{
    switch (key) {
    case 'a':
    case 'A':
    case '1':
    case MEL_TTY_LEFT:
        return MEL_REPLY_A;
    case 'b':
    case 'B':
    case '2':
    case MEL_TTY_RIGHT:
        return MEL_REPLY_B;
    case '=':
        return MEL_REPLY_SAME;
    case 's':
    case 'S':
        return MEL_REPLY_SKIP;
    case 'n':
    case 'N':
        return MEL_REPLY_NEITHER;
    case 'u':
    case 'U':
        return MEL_REPLY_UNDO;
    case 'q':
    case 'Q':
    case MEL_TTY_END:
        return MEL_REPLY_QUIT;
    case '?':
    case 'h':
    case 'H':
        return WISH_EXPLAIN;
    case MEL_TTY_RESIZED:
        return WISH_REDRAW;
    default:
        return WISH_NOTHING;
    }
}

static int wish_of_line(const char *line)
{
    static const struct {
        const char *word;
        int wish;
    } words[] = { { "same", MEL_REPLY_SAME }, { "skip", MEL_REPLY_SKIP }, { "neither", MEL_REPLY_NEITHER },
                  { "undo", MEL_REPLY_UNDO }, { "quit", MEL_REPLY_QUIT }, { "exit", MEL_REPLY_QUIT },
                  { "help", WISH_EXPLAIN } };
    if (line[0] != '\0' && line[1] == '\0')
        return wish_of_key((unsigned char)line[0]);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcasecmp(line, words[i].word) == 0)
            return words[i].wish;
    return WISH_NOTHING;
}

/* A line without the blanks around it; longer ones are cut. False at the end of the input. */
static bool read_line(char line[MAX_LINE], FILE *in)
{
    size_t n = 0;
    bool any = false;
    for (int c = getc(in); c != EOF; c = getc(in)) {
        any = true;
        if (c == '\n')
            break;
        const bool blank = c == ' ' || c == '\t' || c == '\r';
        if (n + 1 < MAX_LINE && (n > 0 || !blank))
            line[n++] = (char)c;
    }
    while (n > 0 && strchr(" \t\r", line[n - 1]) != NULL)
        n--;
    line[n] = '\0';
    return any;
}

static mel_status print(const terminal_oracle *self, const mel_canvas *canvas, mel_error *err)
{
    if (canvas->text.status != MEL_OK)
        return mel_fail_memory(err, "a question");
    if (fwrite(canvas->text.data, 1, canvas->text.size, self->opt.out) != canvas->text.size ||
        fflush(self->opt.out) != 0)
        return mel_fail(err, MEL_EIO, "cannot write to the terminal");
    return MEL_OK;
}

/* A few keys with what they do, broken between them. */
static void add_keys(mel_canvas *c, size_t width, bool neither)
{
    static const struct {
        const char *key, *does;
    } keys[] = { { "a", "prefer A" },      { "b", "prefer B" },        { "=", "about the same" },
                 { "s", "can't say" },     { "n", "neither will do" }, { "u", "undo" },
                 { "q", "save and quit" }, { "?", "explain" } };
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        if (*keys[i].key == 'n' && !neither)
            continue;
        const size_t need = strlen(keys[i].key) + 1 + strlen(keys[i].does);
        if (c->column > 0 && c->column + 2 + need > width)
            mel_canvas_newline(c);
        else if (c->column > 0)
            mel_canvas_puts(c, MEL_PLAIN, "  ");
        mel_canvas_puts(c, MEL_BOLD, keys[i].key);
        mel_canvas_puts(c, MEL_DIM, " ");
        mel_canvas_puts(c, MEL_DIM, keys[i].does);
    }
    mel_canvas_newline(c);
}

static void add_prompt(mel_canvas *c)
{
    mel_canvas_puts(c, MEL_BOLD, "Which would you rather have? ");
}

/* "A missed cancer is someone who truly is ...". */
static void add_mistakes(mel_canvas *c, const mel_question *question, const mel_show_options *show)
{
    char number[MEL_NUMBER_NAME];
    mel_buffer text;
    mel_buffer_init(&text, MAX_PHRASE);
    mel_buffer_puts(&text, "A ");
    if (show->missed != NULL)
        mel_buffer_puts(&text, show->missed);
    else
        mel_text_add_missed(&text, mel_question_class(number, question, 1), false);
    mel_buffer_printf(&text, " is someone who truly is \"%s\" ", mel_question_class(number, question, 1));
    mel_buffer_printf(&text, "and is predicted to be \"%s\"; a %s is the reverse.",
                      mel_question_class(number, question, 0),
                      show->false_alarm != NULL ? show->false_alarm : "false alarm");
    if (text.status != MEL_OK)
        c->text.status = text.status;
    else
        (void)mel_canvas_wrap(c, MEL_PLAIN, text.data, (size_t)show->width, 0);
    mel_buffer_free(&text);
    mel_canvas_newline(c);
    mel_canvas_newline(c);
}

static void add_explanation(mel_canvas *c, const mel_question *question, const mel_show_options *show)
{
    static const char *const always[] = {
        "A and B are two ways to decide, applied to the same people. Neither is perfect: what one gets right "
        "more often, the other gets wrong more often.",
        "In each table a line is what people truly have and a column what is predicted for them. Bold "
        "numbers "
        "are right, the others are mistakes. The bars show mistakes, on the same scale for A and B.",
        "Say which one you would rather have in use, all things considered. There is no right answer; what "
        "counts is how bad each kind of mistake is to you.",
        "If both are equally good to you, answer =; if you cannot say, for whatever reason, answer s: the "
        "question is put aside. An answer can be taken back with u. With q everything answered so far is "
        "kept, and you can go on later."
    };
    mel_canvas_newline(c);
    for (size_t i = 0; i < sizeof always / sizeof *always; i++) {
        (void)mel_canvas_wrap(c, MEL_PLAIN, always[i], (size_t)show->width, 0);
        mel_canvas_newline(c);
        mel_canvas_newline(c);
    }
    if (question->layout->n_classes == 2)
        add_mistakes(c, question, show);
}

static int environment_width(void)
{
    struct winsize window = { 0 };
    long width = 80;
    const char *columns = getenv("COLUMNS");
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_col > 0)
        width = window.ws_col;
    else if (columns != NULL && columns[0] != '\0')
        width = strtol(columns, NULL, 10);
    if (width < MIN_WIDTH)
        return width > 0 ? MIN_WIDTH : 80;
    return width > WIDE_ENOUGH ? WIDE_ENOUGH : (int)width;
}

/* The whole question with its keys; on a screen that was cleared when its lines no longer fit. */
static mel_status put_question(terminal_oracle *self, const mel_question *question, bool clear,
                               mel_error *err)
{
    char *text = NULL;
    if (self->follows)
        self->opt.show.width = environment_width();
    const mel_status status = mel_question_show(&text, question, &self->opt.show, err);
    if (status != MEL_OK)
        return status;
    mel_canvas c;
    mel_canvas_init(&c, self->opt.show.utf8, self->opt.show.colour);
    mel_buffer_puts(&c.text, clear && self->opt.show.colour ? "\x1b[2J\x1b[H" : "\n");
    mel_buffer_puts(&c.text, text);
    mel_canvas_newline(&c);
    add_keys(&c, (size_t)self->opt.show.width, question->neither);
    add_prompt(&c);
    free(text);
    const mel_status printed = print(self, &c, err);
    mel_canvas_free(&c);
    return printed;
}

static mel_status put_explanation(const terminal_oracle *self, const mel_question *question, mel_error *err)
{
    mel_canvas c;
    mel_canvas_init(&c, self->opt.show.utf8, self->opt.show.colour);
    add_explanation(&c, question, &self->opt.show);
    add_keys(&c, (size_t)self->opt.show.width, question->neither);
    add_prompt(&c);
    const mel_status status = print(self, &c, err);
    mel_canvas_free(&c);
    return status;
}

/* What was answered, for keys are not echoed; or, where lines are read, what can be. */
static mel_status put_echo(const terminal_oracle *self, int wish, bool keys, bool neither, mel_error *err)
{
    static const char *const echo[] = { "",     "A",    "B",         "about the same",
                                        "undo", "quit", "can't say", "neither will do" };
    mel_canvas c;
    mel_canvas_init(&c, self->opt.show.utf8, self->opt.show.colour);
    if (wish == WISH_NOTHING) {
        mel_canvas_puts(&c, MEL_PLAIN,
                        keys      ? ""
                        : neither ? "Please answer a, b, =, s, n, u, q or ?: "
                                  : "Please answer a, b, =, s, u, q or ?: ");
    } else {
        mel_canvas_puts(&c, MEL_BOLD, keys ? echo[wish] : "");
        mel_canvas_newline(&c);
    }
    const mel_status status = print(self, &c, err);
    mel_canvas_free(&c);
    return status;
}

/* Asks until a wish is a reply. `keys`: single keys can be had. */
static mel_status converse(mel_reply *reply, terminal_oracle *self, const mel_question *question, bool keys,
                           mel_error *err)
{
    mel_status status = put_question(self, question, false, err);
    while (status == MEL_OK) {
        char line[MAX_LINE];
        int wish = keys                            ? wish_of_key(mel_tty_keys_read())
                   : read_line(line, self->opt.in) ? wish_of_line(line)
                                                   : MEL_REPLY_QUIT;
        if (wish == MEL_REPLY_NEITHER && !question->neither)
            wish = WISH_NOTHING;
        status = wish == WISH_EXPLAIN  ? put_explanation(self, question, err)
                 : wish == WISH_REDRAW ? put_question(self, question, true, err)
                                       : put_echo(self, wish, keys, question->neither, err);
        if (wish < WISH_EXPLAIN) {
            *reply = (mel_reply)wish;
            break;
        }
    }
    return status;
}

static mel_status ask_terminal(mel_reply *reply, void *user, const mel_question *question, mel_error *err)
{
    terminal_oracle *self = user;
    /* Before anything is shown: what is typed from then on is meant for this question. */
    const bool keys = mel_tty_keys_begin(fileno(self->opt.in));
    const mel_status status = converse(reply, self, question, keys, err);
    if (keys)
        mel_tty_keys_end();
    return status;
}

static void free_terminal(mel_oracle *oracle)
{
    terminal_oracle *self = (terminal_oracle *)oracle;
    for (size_t i = 0; i < sizeof self->name / sizeof *self->name; i++)
        free(self->name[i]);
    free(self);
}

static bool environment_is_utf8(void)
{
    static const char *const names[] = { "LC_ALL", "LC_CTYPE", "LANG" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *value = getenv(names[i]);
        if (value == NULL || value[0] == '\0')
            continue;
        const char *dot = strchr(value, '.');
        return dot != NULL && (strncasecmp(dot, ".utf-8", 6) == 0 || strncasecmp(dot, ".utf8", 5) == 0);
    }
    return false;
}

static bool environment_has_colour(void)
{
    const char *no = getenv("NO_COLOR"), *term = getenv("TERM");
    const bool wanted = no == NULL || no[0] == '\0';
    const bool able = term != NULL && term[0] != '\0' && strcmp(term, "dumb") != 0;
    return wanted && able && isatty(STDOUT_FILENO) == 1;
}

void mel_terminal_options_init(mel_terminal_options *opt)
{
    *opt = (mel_terminal_options){ .struct_size = sizeof *opt, .in = stdin, .out = stdout };
    mel_show_options_init(&opt->show);
    opt->show.width = environment_width();
    opt->show.utf8 = environment_is_utf8();
    opt->show.colour = environment_has_colour();
}

static bool copy_word(char **copy, const char **word)
{
    if (*word == NULL)
        return true;
    *copy = mel_strdup(*word);
    *word = *copy;
    return *copy != NULL;
}

mel_status mel_oracle_terminal(mel_oracle **out, const mel_terminal_options *opt, mel_error *err)
{
    *out = NULL;
    mel_terminal_options use;
    mel_terminal_options_init(&use);
    const mel_status status = mel_options_take(&use, sizeof use, opt, "terminal options", err);
    if (status != MEL_OK)
        return status;
    if (use.in == NULL || use.out == NULL)
        return mel_fail(err, MEL_EINVAL, "a terminal needs something to read from and to write to");
    if (use.show.width < MIN_WIDTH)
        return mel_fail(err, MEL_EINVAL, "a terminal of %d columns is too narrow; %d are needed",
                        use.show.width, (int)MIN_WIDTH);
    terminal_oracle *self = mel_alloc_zero(1, sizeof *self);
    if (self == NULL)
        return mel_fail_memory(err, "an oracle");
    self->base = (mel_oracle){ ask_terminal, free_terminal };
    self->opt = use;
    self->follows = use.show.width == environment_width();
    mel_show_options *show = &self->opt.show;
    const char **const given[] = { &show->missed, &show->false_alarm, &show->missed_plural,
                                   &show->false_alarms };
    bool copied = true;
    for (size_t i = 0; i < sizeof given / sizeof *given; i++)
        copied = copy_word(&self->name[i], given[i]) && copied;
    if (!copied) {
        free_terminal(&self->base);
        return mel_fail_memory(err, "an oracle");
    }
    *out = &self->base;
    return MEL_OK;
}
