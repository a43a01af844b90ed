#!/usr/bin/python3
"""The consistency check: how often respondents who err as assumed are flagged (false alarms), and how often those who
answer at random or otherwise than assumed are.

Sessions are real ones with flips learned (bench_noise), one seed each. Respondents: `prior` errs at a rate drawn from the
engine's prior, which is what false alarms are counted on; `random` tosses coins; `other` has a metric one degree higher.
`every` is --repeat-every, 0: nothing comes back. Exit status 1 when false alarms exceed 6%. MELICIT_BUILD names the
build folder (default: build).
"""
import sys
from concurrent.futures import ThreadPoolExecutor

sys.dont_write_bytecode = True
from noise import NAMES, Q6, QUADRATIC, arguments, head, measure, show  # a neighbour in this folder

FLAGGED, DOUBTFUL, MOST_ALARMS = 0.05, 0.2, 0.06
WHO = ["prior", "flip:0.1", "flip:0.35", "random"]
# domain, questions, every, sessions, respondents
ROWS = [
    ("face", 20, 0, 1000, WHO),
    ("face", 20, 6, 1000, WHO),
    ("face", 20, 2, 1000, WHO),
    ("face", 40, 6, 1000, WHO),
    (Q6, 40, 0, 200, WHO),
    (Q6, 40, 6, 200, WHO),
    (QUADRATIC, 40, 0, 200, WHO + ["other"]),
    (QUADRATIC, 40, 6, 200, WHO + ["other"]),
]


def main():
    args = arguments(__doc__, 20001)
    missed = []
    with ThreadPoolExecutor(args.jobs) as pool:
        cells = []
        for domain, questions, every, sessions, respondents in ROWS:
            n = max(20, round(args.share * sessions))
            for who in respondents:
                run = pool.submit(measure, args.first_seed, domain, "active", "flip", who, questions, n, every)
                cells.append((domain, questions, every, n, who, run))
        head("Consistency check, share of the sessions", ["", "questions", "every", "sessions", "respondent",
                                                          "inconsistent", "doubtful"])
        for domain, questions, every, n, who, run in cells:
            p = [checkpoints[-1] for checkpoints in run.result()["consistency"]]
            flagged, doubtful = (sum(x < limit for x in p) / n for limit in (FLAGGED, DOUBTFUL))
            show([NAMES[domain], str(questions), str(every), str(n), who, f"{flagged:.1%}",
                  f"{doubtful - flagged:.1%}"])
            if who == "prior" and flagged > MOST_ALARMS:
                missed.append(f"MISSED {NAMES[domain]}, {questions} questions, every {every}: {flagged:.1%} false alarms")
    print("\n" + ("\n".join(missed) or "all targets met"))
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
