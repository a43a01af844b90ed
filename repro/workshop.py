"""What the reproduction scripts share: calls of the program, metric files, charts by the library."""

import concurrent.futures
import ctypes
import itertools
import json
import os
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = pathlib.Path(os.environ.get("MELICIT_BUILD", ROOT / "build")).resolve()


def data_file(name, instead):
    """A data set of the folder MELICIT_DATA when it is there; else, with a word, the bundled one to take instead."""
    large = pathlib.Path(os.environ.get("MELICIT_DATA", "")) / f"{name}.csv.gz"
    if "MELICIT_DATA" in os.environ and large.exists():
        return large
    print(f"    {name}.csv.gz is not in the folder MELICIT_DATA: the bundled {instead} stands in", flush=True)
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
