/* The report's HTML and CSS, which are files of this folder, and filling a template with fields. */
#ifndef MEL_REPORT_TEMPLATE_H
#define MEL_REPORT_TEMPLATE_H

#include "base/buffer.h"
#include "base/json.h"

/* Made from report.html, page.css and plot.css when the library is built. */
extern const char mel_report_html[], mel_page_css[], mel_plot_css[];

/* Fields are looked up in the innermost object, then in those around it:
 *     {{name}}               its text, which is HTML already
 *     {{.}}                  the text that a list is at
 *     {{#name}}..{{/name}}   once for each item of a list; once where it is an object, true, or a text
 *     {{^name}}..{{/name}}   where it is none of these
 * MEL_ESTATE: a text that is not there. */
mel_status mel_template_render(mel_buffer *out, const char *html, const json_t *fields, mel_error *err);

#endif
