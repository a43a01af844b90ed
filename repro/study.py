#!/usr/bin/env python3
"""Table 8.4 of the thesis with simulated participants: its ten subjects' metrics, elicited through whole studies.

Writes repro-study.md. Every participant walks through a study of `melicit study`, as people do in the browser: a
guess, the elicitation, 15 evaluation questions. The thesis' figures are typed in below from its table 8.4."""

import json
import math
import os
import pathlib
import statistics
import subprocess
import tempfile

from workshop import BUILD, OUT, QUICK, Results, program_seed, verdict

PAGE = OUT / "repro-study.md"

# Subject: weight of TN (that of TP is the rest), and on how many percent of 15 questions the metric agreed.
SUBJECTS = {"S1": (0.125, 87), "S2": (0.141, 100), "S3": (0.125, 93), "S4": (0.141, 100), "S5": (0.328, 73),
            "S6": (0.031, 87), "S7": (0.031, 100), "S8": (0.359, 87), "S9": (0.125, 93), "S10": (0.141, 87)}
TOLERANCE = 0.05
TIMES = int(os.environ.get("MELICIT_TIMES", "2" if QUICK else "20"))  # simulated participants per subject, strategy and noise
FAR = {"tolerance": TOLERANCE, "questions": "far"}
STRATEGIES = {"search": {"strategy": "search", "tolerance": TOLERANCE, "max_questions": 200},
              "active": {"strategy": "active", "assume": "flip", "repeat_every": 6, "max_questions": 30, **FAR},
              "realistic": {"questions": "realistic", "assume": "person", "repeat_every": 6, "max_questions": 20,
                            "until": "ratio"}}


def study(strategy, boundary):
    ball = {} if strategy == "realistic" else {"radius": 0.1}
    return {"format": "melicit-study", "version": 1, "title": f"Chapter 8, {strategy}",
            "space": {"population": boundary, "classes": ["healthy", "cancer"]},
            "elicitation": {"family": "linear", **STRATEGIES[strategy]},
            "phases": [{"kind": "guess", "title": "Guess"}, {"kind": "elicitation"},
                       {"kind": "evaluation", "questions": 15, **ball}, {"kind": "done", "title": "Thanks"}]}


class Desk:
    """melicit study on a store of its own."""

    def __init__(self, folder, boundary):
        self.folder, self.boundary = folder, boundary

    def call(self, *words):
        done = subprocess.run([BUILD / "melicit", "study", *map(str, words), "--store", "study.db", "--json"],
                              cwd=self.folder, check=True, capture_output=True, text=True)
        return json.loads(done.stdout)

    def participants(self, strategy, ratio, noise, seed):
        (pathlib.Path(self.folder) / "study.json").write_text(json.dumps(study(strategy, self.boundary)))
        made = self.call("create", "study.json")["id"]
        self.call("rehearse", made, "--participants", TIMES, "--metric", ratio, "--noise", noise, "--seed", program_seed(seed))
        return self.call("show", made)["live"]


def measure(people, tn):
    """What came of the participants whose weight of TN this is."""
    truth = math.atan2(tn, 1 - tn)
    found = [[w["value"] for w in p["weights"]] for p in people]
    off = [abs(math.atan2(b, a) - truth) for a, b in found]
    share = lambda name: 100 * statistics.mean(p["agreement"][name] / p["agreement"]["of"] for p in people)
    bounds = [p["weights"][1] for p in people]
    low, *_, high = sorted(round(100 * p["agreement"]["elicited"] / p["agreement"]["of"]) for p in people)
    return {"tn": statistics.median(b / (a + b) for a, b in found), "within": sum(o <= TOLERANCE for o in off),
            "off": statistics.median(off), "questions": statistics.median(p["questions"] for p in people),
            "m": share("elicited"), "low": low, "high": high, "guess": share("guess"), "accuracy": share("accuracy"),
            "f1": share("f1"), "held": sum((b["low"] or 0) <= math.sin(truth) <= (b["high"] or 1) for b in bounds),
            "self": sum(p["agreement"].get("self", 0) for p in people),
            "self_of": sum(p["agreement"].get("self_of", 0) for p in people)}


def table(out, desk, noise, title, note):
    out.append(f"## {title}\n\n{note}\n")
    columns = "".join(f" {s}: TN | within 0.05 | questions | M (range) |" for s in STRATEGIES)
    out.append(f"| subject | TN, thesis | M, thesis |{columns} M of accuracy | M of F1 |\n|" + " --- |" * 17)
    all_found = {s: [] for s in STRATEGIES}
    subjects = [*SUBJECTS.items()][: 3 if QUICK else None]
    for seed, (name, (tn, m)) in enumerate(subjects, 1):
        row = {}
        for strategy in STRATEGIES:
            row[strategy] = measure(desk.participants(strategy, (1 - tn) / tn, noise, seed), tn)
            all_found[strategy].append({**row[strategy], "apart": abs(row[strategy]["tn"] - tn)})
        cells = "".join(f" {r['tn']:.3f} | {r['within']} of {TIMES} | {r['questions']:g} | {r['m']:.0f} ({r['low']} to {r['high']}) |"
                        for r in row.values())
        out.append(f"| {name} | {tn:.3f} | {m} |{cells} {row['realistic']['accuracy']:.0f} | {row['realistic']['f1']:.0f} |")
    mean = lambda strategy, key: statistics.mean(r[key] for r in all_found[strategy])
    thesis = statistics.mean(m for _, m in SUBJECTS.values())
    out.append("\nOver all subjects: M " + ", ".join(
        f"{mean(s, 'm'):.1f} with {s} after {mean(s, 'questions'):.1f} questions ({100 * mean(s, 'within') / TIMES:.0f}% of the "
        f"participants within {TOLERANCE} rad)" for s in STRATEGIES) + f"; the thesis' subjects {thesis:.1f}.")
    agreed, asked = (sum(r[key] for r in all_found["realistic"]) for key in ("self", "self_of"))
    out.append(f"About realistic pairs: accuracy {mean('realistic', 'accuracy'):.1f}, F1 {mean('realistic', 'f1'):.1f}, the own guess "
               f"{mean('realistic', 'guess'):.1f}; participants gave {agreed} of {asked} repeated questions the same answer "
               f"({100 * agreed / asked:.1f}%; what comes again is the pair that tells most, often one whose answer looks wrong); the 95% interval of the weight held in "
               f"{sum(r['held'] for r in all_found['realistic'])} of {TIMES * len(subjects)} sessions. In the ball: accuracy "
               f"{mean('active', 'accuracy'):.1f}, F1 {mean('active', 'f1'):.1f}, the own guess {mean('active', 'guess'):.1f}.\n")
    return {s: {"m": mean(s, "m"), "questions": mean(s, "questions"), "within": mean(s, "within") / TIMES, "apart": max(r["apart"] for r in all_found[s])} for s in STRATEGIES}


def judge(results, exact, noisy):
    """Table 8.4: people cannot be had again; participants with their metrics can."""
    thesis = statistics.mean(m for _, m in SUBJECTS.values())
    results.add(["Table 8.4"], "weights of the ten subjects' metrics, elicited again from simulated participants who do not err: farthest from the subject's", "0.031 to 0.359",
                f"{exact['search']['apart']:.3f}", f"{exact['active']['apart']:.3f} (far pairs), {exact['realistic']['apart']:.3f} (realistic)",
                f"{exact['search']['questions']:.0f}; {exact['active']['questions']:.0f}, {exact['realistic']['questions']:.0f}",
                verdict(False, max(e["apart"] for e in exact.values()) <= 0.02), "differs: a median weight more than 0.02 off", values={s: e["apart"] for s, e in exact.items()})
    if noisy is not None:
        results.add(["Table 8.4"], "agreement with 15 further answers, mean, one answer in ten wrong", f"{thesis:.1f}% (people)", f"{noisy['search']['m']:.1f}%",
                    f"{noisy['active']['m']:.1f}% (far), {noisy['realistic']['m']:.1f}% (realistic)", f"{noisy['search']['questions']:.0f}; {noisy['active']['questions']:.0f}, {noisy['realistic']['questions']:.0f}",
                    verdict(False, abs(noisy["realistic"]["m"] - thesis) <= 4), "differs: realistic questions more than 4 points from the thesis' people",
                    "how often people err is not known; one in ten fits", {s: e["m"] for s, e in noisy.items()})


def boundary(out, results):
    """Figure 8.1: what was measured, and the boundary smoothed as in the thesis, which is the test of the study; its population."""
    made = subprocess.run([BUILD / "melicit", "space", "--data", "breast_cancer_original", "--classes", "healthy,cancer", "--thesis", "smooth", "--plot",
                           OUT / "repro-study-boundary.svg", "--json"], check=True, capture_output=True, text=True)
    fit = json.loads(made.stdout)["smooth"]
    out.append(f"## Raw and smoothed boundary (figure 8.1)\n\n![raw and smoothed boundary](repro-study-boundary.svg)\n\nThe smoothed boundary is that of "
               f"logistic:a={fit['a']:.4g},b={fit['b']:.4g}, fitted to the thresholds by least squares (`melicit space --thesis smooth --plot`).\n")
    results.add(["Figure 8.1"], "the smoothed boundary of the breast cancer data", "a logistic curve", f"logistic:a={fit['a']:.3g},b={fit['b']:.3g}", "", "", verdict(False, True),
                "drawn; the thesis prints no numbers", values={"a": fit["a"], "b": fit["b"]})
    return f"logistic:a={fit['a']:.6g},b={fit['b']:.6g}"


def main():
    out = ["# Chapter 8: the subjects of table 8.4, re-enacted\n",
           f"Made by `repro/study.py`: {TIMES} simulated participants for every subject, strategy and kind of noise, who walk through "
           "a study on the smoothed Wisconsin breast cancer data and have the metric that was elicited from that subject. TN is the "
           "weight of a healthy patient who is told so, that of a cancer found is the rest (median over participants). \"Within\" counts "
           f"metrics whose angle is off by at most the tolerance of the search, {TOLERANCE}. M is the share of 15 evaluation questions, "
           "in percent, on which the elicited metric prefers what the participant did: the mean, the lowest and the highest. "
           "`search` is the thesis' algorithm with four questions per halving, `active` the program's own strategy about the most "
           "different pairs, flips assumed, every sixth question asked twice; the evaluation questions of both are from the thesis' ball. "
           "`realistic` is what people get by default: pairs that somebody might use in whole numbers of 1,000, `--assume person`, an end "
           "at a factor of 1.6 or after 20 questions, evaluation questions about such pairs, which are closer than those of the ball. The participants' own guess of the ratio is right here by construction, "
           "so its M shows what noise alone takes away.\n"]
    memory = "/dev/shm" if os.path.isdir("/dev/shm") else None
    results, noisy = Results("study"), None
    with tempfile.TemporaryDirectory(dir=memory) as folder:
        desk = Desk(folder, boundary(out, results))
        exact = table(out, desk, "none", "Without noise", "Everybody answers as the metric says.")
        if not QUICK:
            table(out, desk, "flip:0.05", "One answer in twenty is wrong", "In the elicitation and in the evaluation alike.")
            noisy = table(out, desk, "flip:0.1", "One answer in ten is wrong", "In the elicitation and in the evaluation alike.")
    judge(results, exact, noisy)
    PAGE.write_text("\n".join(out))
    results.write()


if __name__ == "__main__":
    main()
