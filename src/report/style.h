/* The looks: CSS of plots and pages. */
#ifndef MEL_REPORT_STYLE_H
#define MEL_REPORT_STYLE_H

#include "base/buffer.h"

void mel_write_plot_style(mel_buffer *out);
/* The style sheet of a report's page, without that of the plots in it. */
void mel_write_page_style(mel_buffer *out);

#endif
