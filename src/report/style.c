/* The CSS of plots and pages, with the palette for light, dark and paper. */
#include "report/style.h"

#include "metric/text.h"
#include "report/shared.h"

/* A colour twice: plain for readers that know no CSS variables, then by the theme. */
#define PAINT(what, name, plain) what ":" plain ";" what ":var(--mel-" name ")"
#define INK(what) PAINT(what, "ink", "#1c2530")
#define SOFT(what) PAINT(what, "soft", "#5a6573")
#define PAPER(what) PAINT(what, "paper", "#fff")

/* Series colours keep a contrast of 3:1 to their background and stay apart for the three common kinds of
 * colour blindness; dashes and markers say the same. */
#define SERIES(k, plain, dash)                                                                               \
    ".mel-plot .line-" k "{fill:none;" PAINT(                                                                \
        "stroke", k, plain) ";stroke-width:2;stroke-dasharray:" dash ";stroke-linejoin:round}\n"             \
                            ".mel-plot .fill-" k "{" PAINT("fill", k, plain) ";" PAPER(                      \
                                "stroke") ";stroke-width:1}\n"                                               \
                                          ".mel-plot .open-" k "{" PAPER("fill") ";" PAINT(                  \
                                              "stroke", k,                                                   \
                                              plain) ";stroke-width:2}\n"                                    \
                                                     ".mel-plot .band-" k                                    \
                                                     "{" PAINT("fill", k,                                    \
                                                               plain) ";fill-opacity:.16;stroke:none}\n"

static const char *const plot_style[] = {
    ".mel-plot{--mel-paper:#fff;--mel-ink:#1c2530;--mel-soft:#5a6573;--mel-grid:#e4e8ed;--mel-area:#f1f5fa;",
    "--mel-faint:#b9c2cc;--mel-1:#00549f;--mel-2:#d1540c;--mel-3:#2a9d78;--mel-4:#c05fb0;--mel-5:#5a4300;",
    "--mel-6:#7b8494;font-family:system-ui,-apple-system,\"Segoe UI\",Roboto,\"Helvetica Neue\",",
    "\"Noto Sans\",Arial,sans-serif}\n",
    "@media screen and (prefers-color-scheme:dark){.mel-plot{--mel-paper:#14181d;--mel-ink:#e8ecf1;",
    "--mel-soft:#a3adb9;--mel-grid:#2b323b;--mel-area:#1c232c;--mel-faint:#4a5462;--mel-1:#5aa9f8;",
    "--mel-2:#f2703a;--mel-3:#74f2ca;--mel-4:#e58ad2;--mel-5:#fff0a8;--mel-6:#8791a0}}\n",
    ".mel-plot text{font-size:13px;" INK("fill") "}\n",
    ".mel-plot .tick{font-size:12px;font-variant-numeric:tabular-nums;" SOFT("fill") "}\n",
    ".mel-plot .note{font-size:12px;" SOFT("fill") "}\n",
    ".mel-plot .halo{" PAPER("stroke") ";stroke-width:4;stroke-linejoin:round;paint-order:stroke}\n",
    ".mel-plot .strong{font-weight:600}\n",
    ".mel-plot .head{font-size:16px;font-weight:600}\n",
    ".mel-plot .paper{" PAPER("fill") "}\n",
    ".mel-plot .area{" PAINT("fill", "area", "#f1f5fa") "}\n",
    ".mel-plot .grid{" PAINT("fill", "grid", "#e4e8ed") "}\n",
    ".mel-plot .axis{" SOFT("fill") "}\n",
    ".mel-plot .ink{fill:none;" INK("stroke") ";stroke-width:1.5}\n",
    ".mel-plot .soft{fill:none;" SOFT("stroke") ";stroke-width:1}\n",
    ".mel-plot .dots{stroke-dasharray:2 3}\n",
    ".mel-plot .hatch{fill:none;" PAPER("stroke") ";stroke-width:1.4;stroke-linecap:round}\n",
    SERIES("1", "#00549f", "none"),
    SERIES("2", "#d1540c", "8 4"),
    SERIES("3", "#2a9d78", "2 4"),
    SERIES("4", "#c05fb0", "10 3 2 3"),
    SERIES("5", "#5a4300", "16 4"),
    SERIES("6", "#7b8494", "5 2"),
    ".mel-plot .equals{fill:none;" PAINT("stroke", "2", "#d1540c") ";stroke-width:1;stroke-opacity:.45}\n",
    ".mel-plot .asked{fill:none;" SOFT("stroke") ";stroke-width:.9;stroke-opacity:.75}\n",
    ".mel-plot .won{" INK("fill") ";" PAPER("stroke") ";stroke-width:1}\n",
    ".mel-plot .mark{" INK("fill") "}\n",
    ".mel-plot .lost{" PAPER("fill") ";" SOFT("stroke") ";stroke-width:1.3}\n",
    ".mel-plot .people-found{" PAINT("stroke", "1", "#00549f") ";stroke-width:5.6;stroke-linecap:round}\n",
    ".mel-plot .people-missed{fill:none;" PAINT("stroke", "2", "#d1540c") ";stroke-width:2.2}\n",
    ".mel-plot .people-alarm{fill:none;" PAINT("stroke", "4", "#c05fb0") ";stroke-width:1.5}\n",
    ".mel-plot .people-cleared{" PAINT("stroke", "faint",
                                       "#b9c2cc") ";stroke-width:3;stroke-linecap:round}\n",
    ".mel-plot .people-cleared-key{" PAINT("fill", "faint", "#b9c2cc") "}\n",
    ".mel-plot .solid{stroke-dasharray:none}\n",
    ".mel-plot .thick{stroke-width:2.5}\n",
    ".mel-plot .thin{stroke-width:1.2}\n",
    "@media print{.mel-plot{-webkit-print-color-adjust:exact;print-color-adjust:exact}}\n",
};

void mel_write_plot_style(mel_buffer *out)
{
    for (size_t i = 0; i < sizeof plot_style / sizeof *plot_style; i++)
        mel_buffer_puts(out, plot_style[i]);
}

mel_status mel_plot_style(char **css, mel_error *err)
{
    enum { MOST = 1 << 16 };
    mel_buffer out;
    mel_buffer_init(&out, MOST);
    mel_write_plot_style(&out);
    return mel_text_take(css, &out, "style of plots", err);
}

static const char *const page_style[] = {
    ":root{--ink:#1c2530;--soft:#5a6573;--line:#d8dee5;--paper:#fff;--tint:#f3f6f9;--blue:#00549f;",
    "--orange:#d1540c;--purple:#c05fb0;color-scheme:light dark;",
    "--serif:ui-serif,\"Iowan Old Style\",\"Palatino Linotype\",Palatino,\"Book Antiqua\",Georgia,serif;",
    "--sans:system-ui,-apple-system,\"Segoe UI\",Roboto,\"Helvetica Neue\",\"Noto Sans\",Arial,sans-serif;",
    "--mono:ui-monospace,\"SF Mono\",Menlo,Consolas,\"Liberation Mono\",monospace}\n",
    "@media screen and (prefers-color-scheme:dark){:root{--ink:#e8ecf1;--soft:#a3adb9;--line:#303842;",
    "--paper:#14181d;--tint:#1c2229;--blue:#5aa9f8;--orange:#f2703a;--purple:#e58ad2}}\n",
    "*{box-sizing:border-box}\n",
    "html{-webkit-text-size-adjust:100%;text-size-adjust:100%}\n",
    "body{margin:0;background:var(--paper);color:var(--ink);font:1rem/1.6 var(--sans);",
    "overflow-wrap:break-word}\n",
    ".page{max-width:74rem;margin:0 auto;padding:clamp(1.5rem,5vw,4rem) clamp(1rem,4vw,3rem)}\n",
    "h1{font:600 clamp(1.8rem,4.8vw,3.1rem)/1.13 var(--serif);letter-spacing:-.012em;margin:.2em 0 .35em;",
    "max-width:21em;text-wrap:balance}\n",
    "h1.long{font-size:clamp(1.5rem,3.2vw,2.1rem);max-width:32em}\n",
    "h2{font:600 1.5rem/1.25 var(--serif);margin:0 0 .7rem}\n",
    "p,li{max-width:42em}\n",
    "p{margin:0 0 1rem}\n",
    "ul{padding-left:1.2em;margin:0}\n",
    "li{margin:0 0 .55rem}\n",
    ".kicker{margin:0;font-size:.85rem;font-weight:600;letter-spacing:.06em;text-transform:uppercase;",
    "color:var(--blue)}\n",
    ".lede{font:1.25rem/1.5 var(--serif);color:var(--soft);margin-bottom:1.2rem}\n",
    ".meta{list-style:none;padding:0;font-size:.9rem;color:var(--soft)}\n",
    ".meta li{display:inline}\n",
    ".meta li:not(:last-child)::after{content:\"\\00a0\\00a0\\00b7 \"}\n",
    "section{margin-top:2.6rem;padding-top:1.5rem;border-top:1px solid var(--line)}\n",
    ".tiles{display:grid;grid-template-columns:repeat(auto-fill,minmax(13rem,1fr));gap:1.2rem 2rem;",
    "margin:2.2rem 0 0}\n",
    ".tile{border-top:3px solid var(--ink);padding-top:.6rem}\n",
    ".tile dt{font-size:.85rem;font-weight:600}\n",
    ".tile dd{margin:0;font-size:.9rem;line-height:1.45;color:var(--soft)}\n",
    ".tile .big{font:600 2.3rem/1.2 var(--serif);color:var(--ink);font-variant-numeric:lining-nums}\n",
    ".big small{font-size:.5em;font-weight:400;color:var(--soft)}\n",
    "figure{margin:0;min-width:0}\n",
    "figcaption{font-size:.875rem;line-height:1.45;color:var(--soft);margin-top:.6rem;max-width:36em}\n",
    ".mel-plot{display:block;width:100%;height:auto;max-width:31rem}\n",
    ".pair,.beside{display:grid;grid-template-columns:minmax(0,1fr) minmax(0,1fr);gap:1.5rem 3rem;",
    "align-items:start;margin:0 0 1.4rem}\n",
    ".wide{grid-template-columns:minmax(0,5fr) minmax(0,7fr);gap:1.5rem 2.5rem}\n",
    ".duo{display:grid;grid-template-columns:minmax(0,1fr) minmax(0,1fr);gap:0 3rem}\n",
    "@media (max-width:46rem){.pair,.beside,.duo{grid-template-columns:minmax(0,1fr)}}\n",
    ".scroll{overflow-x:auto;max-width:100%;margin:0 0 1.3rem}\n",
    "table{border-collapse:collapse;width:100%;font-size:.925rem;line-height:1.4;",
    "font-variant-numeric:tabular-nums lining-nums}\n",
    "caption{text-align:left;font-size:.875rem;color:var(--soft);padding:0 0 .5rem}\n",
    "caption span{display:block}\n",
    "th,td{text-align:left;vertical-align:top;padding:.4rem .9rem .4rem 0;",
    "border-bottom:1px solid var(--line)}\n",
    "th:last-child,td:last-child{padding-right:0}\n",
    "th{font-weight:600}\n",
    "thead th{vertical-align:bottom;font-size:.85rem;line-height:1.25;",
    "border-bottom:1.5px solid var(--ink)}\n",
    "tbody th{font-weight:400}\n",
    ".n{text-align:right}\n",
    "@media (min-width:64rem){td.n{white-space:nowrap}}\n",
    ".asked thead th[colspan]{border-bottom:1px solid var(--line);padding-bottom:.15rem;text-align:center}\n",
    ".track{width:45%;vertical-align:middle}\n",
    ".track .bar{height:.55rem;margin:0;border-radius:2px}\n",
    ".bar{display:block;height:3px;margin:.15rem 0 0 auto;background:var(--blue);border-radius:1px;",
    "min-width:1px}\n",
    ".asked{font-size:.875rem}\n",
    ".asked th,.asked td{padding-right:.6rem}\n",
    ".asked .gap{padding-left:.9rem}\n",
    ".asked .bar{opacity:.45}\n",
    ".asked .picked{font-weight:700}\n",
    ".asked .picked .bar{opacity:1}\n",
    ".asked .miss .bar{background:var(--orange)}\n",
    ".asked .alarm .bar{background:var(--purple)}\n",
    ".answer{font-weight:600}\n",
    ".pairs tbody td,.pairs tbody th{border-bottom:0;padding-top:.16rem;padding-bottom:.16rem}\n",
    ".pairs tbody .last>*,.pairs tbody [rowspan]{border-bottom:1px solid var(--line);padding-bottom:.4rem}\n",
    ".pairs tbody [rowspan]{padding-top:.4rem}\n",
    ".pairs tbody [rowspan]~td,.pairs tbody td:has(~[rowspan]){padding-top:.4rem}\n",
    ".pairs .answer{padding-left:.8rem}\n",
    ".matrix th small{font-weight:400;color:var(--soft);display:block}\n",
    ".note{color:var(--soft)}\n",
    "pre{margin:0 0 1.2rem;padding:.8rem 1rem;background:var(--tint);border-radius:6px;white-space:pre-wrap;",
    "font:.875rem/1.5 var(--mono)}\n",
    "code{font-family:inherit}\n",
    "footer{margin-top:3rem;padding-top:1rem;border-top:1px solid var(--line);font-size:.825rem;",
    "color:var(--soft)}\n",
    "@media (max-width:30rem){table{font-size:.85rem}thead th{font-size:.78rem}th,td{padding-right:.5rem}",
    "caption span{max-width:calc(100vw - 2rem)}.asked,.asked thead th{font-size:.78rem}",
    ".asked th,.asked td{padding-right:.35rem}",
    ".asked .gap{padding-left:.35rem}.tiles{grid-template-columns:1fr 1fr;gap:1.2rem 1.2rem}",
    ".tile .big{font-size:1.9rem}}\n",
    "@page{size:A4;margin:16mm 15mm 17mm}\n",
    "@media print{html{font-size:9.2pt}.page{max-width:none;padding:0}",
    ".tiles{grid-template-columns:repeat(4,1fr)}",
    "h2,caption{break-after:avoid}p:has(+pre){break-after:avoid}figure,.tile,tr,li,pre{break-inside:avoid}",
    "thead{display:table-header-group}p{orphans:3;widows:3}",
    ".pair,.beside,.duo{display:flex;gap:2rem;align-items:flex-start;break-inside:avoid}",
    ".pair>*,.beside>*,.duo>*{flex:1 1 0;min-width:0}",
    ".wide{display:block;break-inside:auto}.wide .mel-plot{max-width:24rem;margin:0 auto}",
    ".wide figcaption{margin:.5rem auto 1rem}",
    "section{margin-top:1.4rem;padding-top:.9rem}.scroll{overflow:visible}",
    ".bar,pre{-webkit-print-color-adjust:exact;print-color-adjust:exact}}\n",
};

void mel_write_page_style(mel_buffer *out)
{
    for (size_t i = 0; i < sizeof page_style / sizeof *page_style; i++)
        mel_buffer_puts(out, page_style[i]);
}
