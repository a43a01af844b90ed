#!/usr/bin/python3
"""Builds and runs the tests: `tools/test.py --build build checks sanitize`, as `make test` does.

Stages: `unit` (the tests of the plain build), `lint`, `checks` (both at once, without the tests that `sanitize` runs),
`sanitize` (the same tests under AddressSanitizer and UndefinedBehaviorSanitizer, in a build folder of its own), `threads`
(those of the server under ThreadSanitizer). While the tests of a stage run, the next is built on what they leave of the cores.
Each is a line for its build and a line for its tests; then come the outputs of tests that failed, the reasons of those that
were skipped, and the counts: functions of cmocka, pytest and Node.js, or the program where it does not count. Exit status 1
when anything failed.
"""
import argparse
import collections
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import time
import xml.etree.ElementTree

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Stage: ending of the build folder, options of CMake, choice of tests, what it is called.
STAGES = {
    "unit": ("", ["-DMEL_TESTS_ONCE=OFF"], ["-LE", "lint"], "tests"),
    "lint": ("", [], ["-L", "lint"], "lint"),
    "checks": ("", ["-DMEL_TESTS_ONCE=ON"], [], "tests and lint"),
    "threads": ("-threads", ["-DMEL_THREADS=ON"], ["-R", "^(test_(server|store)|system_test_serve)"], "server tests under ThreadSanitizer"),
    "sanitize": ("-sanitize", ["-DMEL_SANITIZE=ON"], [], "tests under sanitizers"),
}
PYTEST = re.compile(r"^=* ?\d+ (?:passed|failed|skipped|errors?)\b.* in [\d.]+s", re.M)
KINDS = {"pass": "passed", "passed": "passed", "fail": "failed", "failed": "failed", "error": "failed", "skipped": "skipped"}
REASON = re.compile(r"^(?:SKIPPED \[(?P<times>\d+)\] \S+ |\[  SKIPPED \] (?!\d)|ok .*# SKIP )(?P<why>.+)$", re.M)
OUTPUT_BYTES = "4000000"


def count_cases(output):
    """What cmocka, pytest and Node.js say of how many passed, failed and were skipped."""
    said = re.findall(r"^\[  (PASSED|FAILED|SKIPPED) *\] (\d+) test", output, re.M)
    said += [(word, n) for line in PYTEST.findall(output) for n, word in re.findall(r"(\d+) (passed|failed|skipped|error)", line)]
    said += re.findall(r"^# (pass|fail|skipped) (\d+)$", output, re.M)
    found = collections.Counter()
    for word, n in said:
        found[KINDS[word.lower()]] += int(n)
    return found


class Outcome:
    """Counts and reasons of one or more programs."""

    def __init__(self):
        self.count = collections.Counter()
        self.reasons = collections.Counter()
        self.broken = []  # (name, output)

    def add_program(self, name, status, output):
        found = count_cases(output)
        if sum(found.values()) == 0 and status == "run":
            found["passed"] = 1
        if status != "run":
            found["failed"] = max(found["failed"], 1)  # a crash or a timeout says nothing of itself
            self.broken.append((name, output))
        for times, why in set(REASON.findall(output)):  # cmocka says it twice
            self.reasons[f"{why} ({name})"] += int(times or 1)
        self.count.update(found)

    def add(self, other):
        self.count.update(other.count)
        self.reasons.update(other.reasons)


def say(text, end="\n"):
    print(text, end=end, flush=True)


def seconds_since(begin):
    return f"{time.monotonic() - begin:.0f} s"


def run(command, log):
    """The exit status; everything that the command prints goes to the log."""
    with open(log, "ab") as file:
        return subprocess.run(command, stdout=file, stderr=subprocess.STDOUT, cwd=ROOT).returncode


class Build:
    """The build of a stage, which begins now, in the background; one that is for later gives way to the tests."""

    def __init__(self, name, base, jobs, later):
        ending, options, self.choice, self.title = STAGES[name]
        self.folder = pathlib.Path(f"{base}{ending}").resolve()
        self.folder.mkdir(parents=True, exist_ok=True)
        self.log = self.folder / f"{name}.log"
        self.log.unlink(missing_ok=True)
        self.begin = time.monotonic()
        self.done = concurrent.futures.ThreadPoolExecutor(1).submit(self.make, options, str(jobs), ["nice", "-n", "5"] if later else [])

    def make(self, options, jobs, nice):
        configure = ["cmake", "-S", ".", "-B", self.folder, "-G", "Ninja", "--log-level=WARNING", "-DMEL_TESTS=ON", "-DMEL_WERROR=ON", *options]
        made = run(nice + configure, self.log) == 0 and run([*nice, "cmake", "--build", self.folder, "-j", jobs], self.log) == 0
        return made, seconds_since(self.begin)


def run_tests(folder, choice, jobs, log):
    results = folder / "test-results.xml"
    results.unlink(missing_ok=True)
    # A test that computes takes two processors (see the end of cmake/Tests.cmake), of which a core has four here: when
    # one waits for a disk or a process, another computes.
    command = ["ctest", "--test-dir", folder, "--output-on-failure", "--no-tests=error", "-j", str(4 * jobs), "--output-junit", results,
               "--test-output-size-passed", OUTPUT_BYTES, "--test-output-size-failed", OUTPUT_BYTES, *choice]
    status, outcome = run(list(map(str, command)), log), Outcome()
    if results.exists():
        for case in xml.etree.ElementTree.parse(results).getroot().iter("testcase"):
            outcome.add_program(case.get("name"), case.get("status"), case.findtext("system-out") or "")
    if status != 0 and not outcome.broken:
        outcome.add_program("ctest", "fail", log.read_text(errors="replace"))
    return outcome


def run_stage(name, build, jobs):
    begin = time.monotonic()
    say(f"{name}: {build.title} ... ", end="")
    outcome = run_tests(build.folder, build.choice, jobs, build.log)
    say(f"{outcome.count['passed']} passed, {outcome.count['failed']} failed in {seconds_since(begin)} (log: {build.log})")
    return outcome


def run_stages(names, base, jobs):
    """The name and outcome of each stage."""
    ahead = None
    for i, name in enumerate(names):
        build, ahead = ahead or Build(name, base, jobs, later=False), None
        say(f"{name}: building in {build.folder.name} ... ", end="")
        made, seconds = build.done.result()
        say(seconds if made else "failed")
        if i + 1 < len(names) and STAGES[names[i + 1]][0] != STAGES[name][0]:  # not in the folder that is tested
            ahead = Build(names[i + 1], base, jobs, later=made)
        if made:
            outcome = run_stage(name, build, jobs)
        else:
            outcome = Outcome()
            outcome.add_program(f"the build of {build.folder.name}", "fail", build.log.read_text(errors="replace"))
        yield name, outcome


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("stages", nargs="+", choices=STAGES)
    parser.add_argument("--build", default="build")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    args = parser.parse_args()
    total = Outcome()
    for name, outcome in run_stages(args.stages, args.build, args.jobs):
        for program, output in outcome.broken:
            say(f"\n--- {name}: {program} failed\n{output.strip()}\n---")
        total.add(outcome)
    for reason, times in sorted(total.reasons.items()):
        say(f"skipped {times}: {reason}")
    say(", ".join(f"{total.count[kind]} {kind}" for kind in ("passed", "failed", "skipped")))
    return 1 if total.count["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
