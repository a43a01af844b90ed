/* Several pictures in one drawing, in rows; and drawings into files. */
#include "panels.h"
#include "files.h"
#include "output.h"
#include "report/shared.h"

#include <stdlib.h>
#include <string.h>

enum { GAP = 12 };

/* The height that a plot came out with: its legend comes on top of what was asked for. */
static double height_of(const char *svg)
{
    const char *at = strstr(svg, " height=\"");
    return at != NULL ? mel_to_double(at + strlen(" height=\""), NULL) : (double)CLI_PANEL;
}

/* The outermost element gets a position. */
void cli_panels_put(cli_panels *panels, const char *svg, size_t column)
{
    static const char opening[] = "<svg";
    char *longer = cli_format("%s<svg x=\"%zu\" y=\"%.0f\"%s", panels->text != NULL ? panels->text : "",
                              column * (CLI_PANEL + GAP), panels->top, svg + sizeof opening - 1);
    free(panels->text);
    panels->text = longer;
    panels->columns = column >= panels->columns ? column + 1 : panels->columns;
    panels->tallest = height_of(svg) > panels->tallest ? height_of(svg) : panels->tallest;
}

void cli_panels_end_row(cli_panels *panels)
{
    panels->top += panels->tallest + GAP;
    panels->tallest = 0.0;
}

mel_status cli_panels_close(char **svg, const cli_panels *panels, const char *title, mel_error *err)
{
    const size_t width = panels->columns * (CLI_PANEL + GAP);
    MEL_AUTO_MEMORY char *css = NULL;
    TRY(mel_plot_style(&css, err));
    *svg = cli_format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"mel-plot\" viewBox=\"0 0 %zu %.0f\" "
        "width=\"%zu\" height=\"%.0f\">\n<title>%s</title>\n<style>%s</style>\n<rect class=\"paper\" "
        "width=\"100%%\" height=\"100%%\"/>\n%s</svg>\n",
        width, panels->top, width, panels->top, title, css, panels->text != NULL ? panels->text : "");
    return MEL_OK;
}
