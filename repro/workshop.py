"""What the reproduction scripts share: settings of a run, its results, calls of the program, metric files, charts by the library.

A run is described by environment variables, which repro/run.py sets from its options: REPRO_OUT, the folder of pages, plots and results;
REPRO_SEED (0), from which all random numbers follow; REPRO_METRICS, how many random metrics are drawn (50); REPRO_QUICK, the subset of a minute."""

import concurrent.futures
import ctypes
import html
import itertools
import json
import math
import os
import pathlib
import re
import subprocess
import tempfile

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = pathlib.Path(os.environ.get("MELICIT_BUILD", ROOT / "build")).resolve()
OUT = pathlib.Path(os.environ.get("REPRO_OUT", BUILD / "repro")).resolve()
OUT.mkdir(parents=True, exist_ok=True)
SEED = int(os.environ.get("REPRO_SEED", "0"))
QUICK = bool(os.environ.get("REPRO_QUICK"))
# What version 0.1 found with variants of the searches that were removed since: plug-in thresholds, grids, ratios, one-sided questions.
VARIANTS = json.loads((ROOT / "repro" / "kept" / "variants.json").read_text())
METRICS = int(os.environ.get("REPRO_METRICS", "20" if QUICK else "50"))
REPRODUCED, BETTER, DIFFERS = "reproduced", "better", "differs"


def generator(stream):
    """Random numbers of this stream in a run with this seed."""
    return np.random.default_rng([stream, SEED] if SEED else stream)


def program_seed(i):
    return i + 1000 * SEED


def verdict(better, reproduced=False):
    return BETTER if better else REPRODUCED if reproduced else DIFFERS


class Results:
    """What a chapter found, item by item: what the overview is made of, and what two runs are compared by."""

    def __init__(self, chapter):
        self.chapter, self.rows, self.skipped, self.note = chapter, [], [], ""

    def add(self, items, what, thesis, search="", active="", questions="", verdict="", rule="", why="", values=None):
        """items: tables and figures of the thesis, "Table 3.1". rule: when the verdict would be another one. why: of what differs, with a link.
        values: the numbers that the verdict rests on, by name."""
        values = {name: float(value) for name, value in (values or {}).items()}
        self.rows.append({"items": items, "what": what, "thesis": thesis, "search": search, "active": active, "questions": str(questions), "verdict": verdict,
                          "rule": rule, "why": why, "values": values})
        print(f"    {', '.join(items)}: {verdict}", flush=True)

    def skip(self, what):
        self.skipped.append(what)
        print(f"    skipped: {what}", flush=True)

    def write(self):
        made = {"chapter": self.chapter, "seed": SEED, "metrics": METRICS, "quick": QUICK, "note": self.note, "rows": self.rows, "skipped": self.skipped}
        (OUT / f"{self.chapter}.json").write_text(json.dumps(made, indent=1) + "\n")


def data_file(name, instead, results):
    """A data set of the folder MELICIT_DATA when it is there; else, with a word, the bundled one to take instead."""
    large = pathlib.Path(os.environ.get("MELICIT_DATA", "")) / f"{name}.csv.gz"
    if "MELICIT_DATA" in os.environ and large.exists():
        return large
    results.skip(f"{name}.csv.gz, which is not in the folder MELICIT_DATA: the bundled {instead} stands in")
    return bundled(instead)


def bundled(name):
    return ROOT / "data" / f"{name}.csv.gz"


class Workshop:
    """A temporary folder with metric files, and calls of the program."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)

    def call(self, *words):
        run = subprocess.run([str(BUILD / "melicit"), *map(str, words), "--json"], capture_output=True, text=True)
        if run.returncode != 0:
            raise SystemExit(f"{' '.join(map(str, words))}: {run.stdout}{run.stderr}")
        return json.loads(run.stdout)

    def metric(self, family, layout, coefficients, orientation="utility", name="metric"):
        """Writes a metric file; layout is {"kind": .., "coordinates": .., "classes": [..]}."""
        path = self.folder / f"{name}.json"
        path.write_text(json.dumps({"format": "melicit-metric", "version": 1, "family": family, "orientation": orientation,
                                    "layout": {"groups": [], **layout}, "coefficients": coefficients}))
        return path


def at_once(function, items):
    """[function(i, item)] for all items, as many at a time as there are cores."""
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(function, range(len(items)), items))


def group_pairs(m):
    """("1-2", 0, 1), ... in the order of metric files."""
    return [(f"{u + 1}-{v + 1}", u, v) for u, v in itertools.combinations(range(m), 2)]


class _Series(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("n", ctypes.c_size_t), ("x", ctypes.POINTER(ctypes.c_double)),
                ("y", ctypes.POINTER(ctypes.c_double)), ("low", ctypes.c_void_p), ("high", ctypes.c_void_p),
                ("step", ctypes.c_bool), ("points", ctypes.c_bool)]


class _LineChart(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("n_series", ctypes.c_size_t), ("series", ctypes.POINTER(_Series)),
                ("x_title", ctypes.c_char_p), ("y_title", ctypes.c_char_p), ("log_x", ctypes.c_bool),
                ("log_y", ctypes.c_bool), ("whole_x", ctypes.c_bool), ("y_low", ctypes.c_double),
                ("y_high", ctypes.c_double), ("reference", ctypes.c_double), ("reference_name", ctypes.c_char_p)]


class _BarChart(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("n_groups", ctypes.c_size_t), ("n_series", ctypes.c_size_t),
                ("group_names", ctypes.POINTER(ctypes.c_char_p)), ("series_names", ctypes.POINTER(ctypes.c_char_p)),
                ("value", ctypes.POINTER(ctypes.c_double)), ("low", ctypes.c_void_p), ("high", ctypes.c_void_p),
                ("x_title", ctypes.c_char_p), ("decimals", ctypes.c_int)]


class _PlotOptions(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("width", ctypes.c_double), ("height", ctypes.c_double),
                ("id", ctypes.c_char_p), ("heading", ctypes.c_char_p), ("title", ctypes.c_char_p),
                ("description", ctypes.c_char_p), ("embedded", ctypes.c_bool)]


class _Error(ctypes.Structure):
    _fields_ = [("code", ctypes.c_int), ("text", ctypes.c_char * 480)]


def line_chart(path, series, x_title, y_title, heading, y_range=None, log_x=False, log_y=False):
    """Draws {name: (x, y)} with the library's own plot and writes the SVG."""
    library = ctypes.CDLL(str(BUILD / "libmelicit.so"))
    rows = (_Series * len(series))()
    for row, (name, (x, y)) in zip(rows, series.items()):
        numbers = ctypes.c_double * len(x)
        row.name, row.n, row.points = name.encode(), len(x), True
        row.x, row.y = numbers(*x), numbers(*y)
    chart, options, error, svg = _LineChart(), _PlotOptions(), _Error(), ctypes.c_char_p()
    library.mel_line_chart_init(ctypes.byref(chart))
    library.mel_plot_options_init(ctypes.byref(options))
    chart.n_series, chart.series = len(series), rows
    chart.x_title, chart.y_title, chart.log_x, chart.log_y = x_title.encode(), y_title.encode(), log_x, log_y
    chart.whole_x = all(float(v).is_integer() for x, _ in series.values() for v in x)
    if y_range is not None:
        chart.y_low, chart.y_high = y_range
    options.heading = heading.encode()
    if library.mel_plot_lines(ctypes.byref(svg), ctypes.byref(chart), ctypes.byref(options), ctypes.byref(error)) != 0:
        raise SystemExit(f"{path}: {error.text.decode()}")
    pathlib.Path(path).write_bytes(svg.value)


def bar_chart(path, groups, series, x_title, heading, decimals=3):
    """Draws {name: one value per group} as horizontal bars and writes the SVG."""
    library = ctypes.CDLL(str(BUILD / "libmelicit.so"))
    chart, options, error, svg = _BarChart(), _PlotOptions(), _Error(), ctypes.c_char_p()
    library.mel_bar_chart_init(ctypes.byref(chart))
    library.mel_plot_options_init(ctypes.byref(options))
    names = (ctypes.c_char_p * len(groups))(*(g.encode() for g in groups))
    labels = (ctypes.c_char_p * len(series))(*(n.encode() for n in series))
    flat = [float(v) for values in series.values() for v in values]
    chart.n_groups, chart.n_series = len(groups), len(series)
    chart.group_names, chart.series_names = names, labels
    chart.value, chart.x_title, chart.decimals = (ctypes.c_double * len(flat))(*flat), x_title.encode(), decimals
    options.heading = heading.encode()
    if library.mel_plot_bars(ctypes.byref(svg), ctypes.byref(chart), ctypes.byref(options), ctypes.byref(error)) != 0:
        raise SystemExit(f"{path}: {error.text.decode()}")
    pathlib.Path(path).write_bytes(svg.value)


def plot_style():
    """The colours of the library's plots, light and dark."""
    with tempfile.TemporaryDirectory() as folder:
        line_chart(f"{folder}/any.svg", {"any": ([0.0, 1.0], [0.0, 1.0])}, "x", "y", "any")
        return re.search(r"<style>.*?</style>", pathlib.Path(f"{folder}/any.svg").read_text(), re.S).group(0)


def box_chart(path, ticks, boxes, curves, x_title, y_title, heading):
    """Box plots on a logarithmic axis: {series: values per tick}, whiskers from 5 to 95%, and {curve: one number per tick}."""
    shades, dashes = ("var(--mel-1)", "var(--mel-2)"), ("", "6 4")
    quantiles = {name: [np.quantile(v, [0.05, 0.25, 0.5, 0.75, 0.95]) for v in values] for name, values in boxes.items()}
    numbers = [x for five in quantiles.values() for q in five for x in q] + [x for values in curves.values() for x in values]
    low, high = math.floor(math.log10(max(min(numbers), 1e-9))), math.ceil(math.log10(max(numbers)))
    x_of = lambda i: 70 + 390 * (i + 0.5) / len(ticks)
    y_of = lambda v: 270 - 210 * (math.log10(max(v, 10.0 ** low)) - low) / (high - low)
    text = lambda x, y, words, anchor="middle": f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="12" style="fill:var(--mel-ink)">{html.escape(words)}</text>'
    line = lambda x1, y1, x2, y2, colour, dash="": f'<path d="M{x1:.1f} {y1:.1f}L{x2:.1f} {y2:.1f}" style="stroke:{colour};fill:none" stroke-dasharray="{dash}"/>'
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" class="mel-plot" viewBox="0 0 480 342" width="480" height="342" role="img"><title>{html.escape(heading)}</title>',
           plot_style(), '<rect width="480" height="342" style="fill:var(--mel-paper)"/>', text(240, 20, heading), text(265, 306, x_title), f'<g transform="rotate(-90 16 165)">{text(16, 165, y_title)}</g>']
    for e in range(low, high + 1):
        out += [line(70, y_of(10.0 ** e), 460, y_of(10.0 ** e), "var(--mel-grid)"), text(64, y_of(10.0 ** e) + 4, f"{10.0 ** e:g}", "end")]
    out += [text(x_of(i), 288, str(t)) for i, t in enumerate(ticks)]
    for s, (name, five) in enumerate(quantiles.items()):
        for i, q in enumerate(five):
            x, y = x_of(i) + 26 * (s - (len(boxes) - 1) / 2), [y_of(v) for v in q]
            out += [line(x, y[0], x, y[1], shades[s]), line(x, y[3], x, y[4], shades[s]), line(x - 10, y[2], x + 10, y[2], shades[s]),
                    f'<rect x="{x - 10:.1f}" y="{y[3]:.1f}" width="20" height="{y[1] - y[3]:.1f}" style="fill:none;stroke:{shades[s]}"/>']
        out += [line(70 + 150 * s, 326, 90 + 150 * s, 326, shades[s]), text(94 + 150 * s, 330, name, "start")]
    for s, (name, values) in enumerate(curves.items()):
        points = "L".join(f"{x_of(i):.1f} {y_of(v):.1f}" for i, v in enumerate(values))
        out += [f'<path d="M{points}" style="stroke:var(--mel-soft);fill:none" stroke-dasharray="{dashes[1]}"/>', line(370, 326, 390, 326, "var(--mel-soft)", dashes[1]), text(394, 330, name, "start")]
    pathlib.Path(path).write_text("\n".join(out) + "\n</svg>\n")


class Page:
    """A Markdown page that grows."""

    def __init__(self, *lines):
        self.lines = list(lines)

    def say(self, *lines):
        self.lines.extend(lines)

    def table(self, heading, columns, rows):
        self.say(f"## {heading}\n", "| " + " | ".join(columns) + " |\n|" + " --- |" * len(columns),
                 *("| " + " | ".join(map(str, row)) + " |" for row in rows), "")

    def write(self, path):
        path.write_text("\n".join(self.lines).rstrip() + "\n")
