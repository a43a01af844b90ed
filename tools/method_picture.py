#!/usr/bin/python3
"""docs/method.svg, the method in one picture: tools/method_picture.py PROGRAM [OUT].

Left: what the bundled mammograms allow, as `melicit space` prints it. Middle: two settings on that curve. Right: the cost
ratios that the answers of a doctor leave who never errs and to whom one missed cancer is as bad as seven false alarms.
"""
import json
import math
import pathlib
import subprocess
import sys

OUT = pathlib.Path(__file__).resolve().parent.parent / "docs" / "method.svg"
WANTED, ANSWERS, LOW, HIGH = 7, 5, 0.3, 150
STYLE = """
    text { font: 15px system-ui, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; fill: #16202b }
    .title { font-size: 17px; font-weight: 700 } .soft { fill: #4b5866; font-size: 13px } .number { font-size: 26px; font-weight: 700 }
    .missed { fill: #bf3f0a } .alarm { fill: #2460c4 } .letter { fill: #fff; font-weight: 700 }
    .card { fill: #fff; stroke: #e1e2de } .chosen { stroke: #1c3a5b; stroke-width: 3 } .axis { stroke: #7b8793; fill: none }
    .curve { stroke: #1c3a5b; stroke-width: 3; fill: none } .chord { stroke: #1c3a5b; stroke-dasharray: 5 4 }
    .left { fill: #b9c9da } .gone { fill: #f1f1ed } .mark { fill: #1c3a5b }"""


def settings(program):
    """(missed, false alarms) per 1,000 of every setting on the frontier, from the most missed to the fewest."""
    told = subprocess.run([program, "space", "--data", "mammographic_mass", "--classes", "benign,malignant", "--json"],
                          check=True, capture_output=True, text=True)
    space = json.loads(told.stdout)
    points = {(1000 * (space["positives"] - tp), 1000 * (space["negatives"] - tn)) for tp, tn in space["vertices"]}
    worst = space["positives"], space["negatives"]
    good = [p for p in points if p[0] / worst[0] + p[1] / worst[1] <= 1000 + 1e-9]
    return sorted(good, key=lambda p: (-p[0], p[1]))


def nearest(points, at):
    return min(points, key=lambda p: math.dist(p, at))


def cut(a, b):
    """The cost ratio at which both settings are equally good."""
    return (b[1] - a[1]) / (a[0] - b[0])


def ranges(points, first):
    """The ratios that each answer leaves, when every pair cuts what is left as close to its middle as pairs can."""
    low, high, found = LOW, HIGH, []
    at = cut(*first)
    cuts = sorted(cut(a, b) for i, a in enumerate(points) for b in points[i + 1:] if min(a[0] - b[0], b[1] - a[1]) > 2)
    for _ in range(ANSWERS):
        low, high = (max(low, at), high) if WANTED > at else (low, min(high, at))
        found.append((low, high))
        at = min(cuts, key=lambda c: abs(math.log(c / math.sqrt(low * high))))
    return found


def picture(points):
    a, b = nearest(points, (75, 133)), nearest(points, (15, 273))
    left = ranges(points, (a, b))
    place = lambda p: (60 + p[1] / 537.5 * 220, 290 - p[0] / 462.5 * 200)
    curve = " ".join(f"{x:.1f},{y:.1f}" for x, y in map(place, points))
    (ax, ay), (bx, by) = place(a), place(b)
    lines = [
        '<text x="20" y="34" class="title">1. One test, many settings</text>',
        '<path d="M60 80V290H290" class="axis"/>', f'<polyline points="{curve}" class="curve"/>',
        f'<line x1="{ax:.1f}" y1="{ay:.1f}" x2="{bx:.1f}" y2="{by:.1f}" class="chord"/>',
        '<text x="60" y="70" class="soft">missed cancers</text><text x="290" y="310" text-anchor="end" class="soft">needless biopsies</text>',
        '<text x="150" y="130" class="soft">Every setting is a point</text><text x="150" y="148" class="soft">of this curve.</text>',
    ]
    for (x, y), letter in (((ax, ay), "A"), ((bx, by), "B")):
        lines.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="11" class="mark"/><text x="{x:.1f}" y="{y + 5:.1f}" text-anchor="middle" class="letter">{letter}</text>')
    lines.append('<text x="345" y="34" class="title">2. Which would you choose?</text>')
    for x, letter, (missed, alarms), chosen in ((345, "A", a, ""), (500, "B", b, " chosen")):
        lines += [f'<rect x="{x}" y="70" width="140" height="190" rx="12" class="card{chosen}"/>',
                  f'<circle cx="{x + 24}" cy="94" r="12" class="mark"/><text x="{x + 24}" y="99" text-anchor="middle" class="letter">{letter}</text>',
                  f'<text x="{x + 16}" y="146" class="number missed">{missed:.0f}</text><text x="{x + 16}" y="166" class="soft">missed cancers</text>',
                  f'<text x="{x + 16}" y="212" class="number alarm">{alarms:.0f}</text><text x="{x + 16}" y="232" class="soft">needless biopsies</text>']
    lines += [f'<text x="345" y="290">B: {a[0] - b[0]:.0f} misses fewer are worth</text>', f'<text x="345" y="310">{b[1] - a[1]:.0f} more biopsies to you.</text>',
              '<text x="690" y="34" class="title">3. Each answer cuts the range</text>',
              '<text x="690" y="62" class="soft">biopsies that one missed cancer is worth</text>']
    across = lambda r: 690 + math.log(r / LOW) / math.log(HIGH / LOW) * 270
    for i, (low, high) in enumerate(left):
        y = 80 + 34 * i
        lines += [f'<rect x="690" y="{y}" width="270" height="20" rx="4" class="gone"/>',
                  f'<rect x="{across(low):.1f}" y="{y}" width="{across(high) - across(low):.1f}" height="20" rx="4" class="left"/>']
    for r in (1, 3, 7, 20, 60):
        lines.append(f'<text x="{across(r):.1f}" y="268" text-anchor="middle" class="soft">{r}</text>')
    low, high = left[-1]
    lines += [f'<line x1="{across(WANTED):.1f}" y1="76" x2="{across(WANTED):.1f}" y2="240" class="chord"/>',
              f'<text x="690" y="300">After {ANSWERS} answers: between {low:.1f} and {high:.1f}.</text>']
    body = "\n  ".join(lines)
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1000 330" role="img" aria-label="A test can be set in many ways; you say '
            f'which of two settings you prefer; each answer cuts the range of cost ratios.">\n  <style>{STYLE}\n  </style>\n'
            f'  <rect width="1000" height="330" fill="#faf9f6"/>\n  {body}\n</svg>\n')


def main():
    if len(sys.argv) not in (2, 3):
        raise SystemExit(__doc__)
    pathlib.Path(sys.argv[2] if len(sys.argv) == 3 else OUT).write_text(picture(settings(sys.argv[1])))


if __name__ == "__main__":
    main()
