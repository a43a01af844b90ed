"""The front door: make help names every target, and the driver of make test counts and fails as it should."""
import importlib.util
import json
import os
import re
import subprocess
import sys

import pytest
from conftest import PROGRAM, SOURCE, environment

pytestmark = pytest.mark.plain("about files of the project")

spec = importlib.util.spec_from_file_location("driver", SOURCE / "tools" / "test.py")
driver = importlib.util.module_from_spec(spec)
spec.loader.exec_module(driver)


def test_help_names_every_target():
    env = {k: v for k, v in os.environ.items() if not k.startswith(("MAKE", "MFLAGS"))}
    done = subprocess.run(["make", "help"], cwd=SOURCE, capture_output=True, text=True, check=True, env=env)
    phony = re.search(r"^\.PHONY: (.*)$", (SOURCE / "Makefile").read_text(), re.M).group(1).split()
    told = dict(line.split(None, 1) for line in done.stdout.splitlines())
    assert sorted(told) == sorted(phony) and all(told.values())


def test_one_version(melicit):
    """The version is that of CMakeLists.txt wherever it is said."""
    read = lambda path: (SOURCE / path).read_text()
    version = re.search(r"^project\(melicit VERSION (\S+)", read("CMakeLists.txt"), re.M).group(1)
    assert melicit("--version").done().out.split()[:2] == ["melicit", version]
    assert re.search(rf"^version: {version}$", read("CITATION.cff"), re.M)
    assert json.loads(read("web/package.json"))["version"] == json.loads(read("web/package-lock.json"))["version"] == version
    assert re.findall(r"^## (\S+)", read("CHANGELOG.md"), re.M)[0] == version
    assert f'"{version}"' in read("include/melicit/base.h")
    assert version in melicit("help", "--as", "man").done().out.splitlines()[0]


@pytest.mark.plain("the same sentence without sanitizers")
def test_the_readme_quotes_make_run(tmp_path):
    """The sentence that the README begins with is what make run finds."""
    os.symlink(PROGRAM, tmp_path / "melicit")
    done = subprocess.run(["sh", SOURCE / "tools" / "tour.sh", tmp_path / "melicit"], capture_output=True, text=True, check=True, env=environment())
    said = re.search(r"^One missed cancer counts as much as (.*?)\.$", done.stdout, re.M).group(1)
    assert said in re.sub(r"\s+", " ", (SOURCE / "README.md").read_text())


PROGRAMS = [
    ("cmocka", "run", "[==========] 3 test(s) run.\n[  PASSED  ] 3 test(s).\n", (3, 0, 0), []),
    ("cmocka fails", "fail", "[  PASSED  ] 2 test(s).\n[  FAILED  ] 1 test(s), listed below:\n[  FAILED  ] test_x\n\n 1 FAILED TEST(S)\n",
     (2, 1, 0), []),
    ("cmocka skips", "run", "[  SKIPPED ] test_far\n[  PASSED  ] 2 test(s).\n[  SKIPPED ] 1 test(s), listed below:\n[  SKIPPED ] test_far\n",
     (2, 0, 1), ["test_far (cmocka skips)"]),
    ("pytest", "run", "..s\nSKIPPED [2] ../tests/x.py:10: no thing\n76 passed, 2 skipped, 542 deselected in 20.79s\n", (76, 0, 2),
     ["no thing (pytest)"]),
    ("pytest, long", "run", "= 5 passed in 61.20s (0:01:01) =\n", (5, 0, 0), []),
    ("pytest fails", "fail", "1 failed, 45 passed, 2 errors in 33.98s\n", (45, 3, 0), []),
    ("Node.js", "run", "# tests 5\n# pass 4\n# fail 0\n# skipped 1\nok 3 - x # SKIP no browser\n", (4, 0, 1), ["no browser (Node.js)"]),
    ("silent", "run", "", (1, 0, 0), []),
    ("crash", "fail", "[ RUN      ] test_x\nSegmentation fault\n", (0, 1, 0), []),
    ("timeout after passing", "fail", "[  PASSED  ] 3 test(s).\n", (3, 1, 0), []),
]


@pytest.mark.parametrize("name, status, output, count, reasons", PROGRAMS, ids=[row[0] for row in PROGRAMS])
def test_counts(name, status, output, count, reasons):
    outcome = driver.Outcome()
    outcome.add_program(name, status, output)
    assert tuple(outcome.count[kind] for kind in ("passed", "failed", "skipped")) == count
    assert list(outcome.reasons) == reasons
    assert outcome.broken == ([(name, output)] if status == "fail" else [])


def drive(folder, *stages):
    command = [sys.executable, "tools/test.py", "--build", "build", "--jobs", "2", *stages]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True)


TINY = """cmake_minimum_required(VERSION 3.25)
project(tiny LANGUAGES NONE)
enable_testing()
add_test(NAME good COMMAND ${{CMAKE_COMMAND}} -E echo "SKIPPED [2] x.py:1: no data
7 passed, 2 skipped in 0.10s")
add_test(NAME other COMMAND ${{CMAKE_COMMAND}} -E {other})
"""


@pytest.mark.parametrize("other, code, last", [("true", 0, "8 passed, 0 failed, 2 skipped"), ("false", 1, "7 passed, 1 failed, 2 skipped")])
def test_closing_line(tmp_path, other, code, last):
    """Whole, on a project of two tests."""
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools" / "test.py").write_bytes((SOURCE / "tools" / "test.py").read_bytes())
    (tmp_path / "CMakeLists.txt").write_text(TINY.format(other=other))
    done = drive(tmp_path, "checks")
    lines = done.stdout.splitlines()
    assert done.returncode == code, done.stdout + done.stderr
    assert lines[-2:] == ["skipped 2: no data (good)", last]
    assert ("--- checks: other failed" in lines) == (code == 1)
    assert lines[0].startswith("checks: building in build ... ") and lines[1].startswith("checks: tests and lint ... ")


@pytest.mark.parametrize("broken", [False, True])
def test_two_stages(tmp_path, broken):
    """The second is built while the first is tested, in a folder of its own; when its build fails the first counts all the same."""
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools" / "test.py").write_bytes((SOURCE / "tools" / "test.py").read_bytes())
    text = TINY.format(other="true") + ("if(MEL_SANITIZE)\n  message(FATAL_ERROR no)\nendif()\n" if broken else "")
    (tmp_path / "CMakeLists.txt").write_text(text)
    done = drive(tmp_path, "checks", "sanitize")
    lines = done.stdout.splitlines()
    begins = ["checks: building in build ... ", "checks: tests and lint ... 8 passed, 0 failed in ", "sanitize: building in build-sanitize ... "]
    begins += [] if broken else ["sanitize: tests under sanitizers ... 8 passed, 0 failed in "]
    assert [line[:len(begin)] for line, begin in zip(lines, begins)] == begins, done.stdout
    assert lines[-1] == ("8 passed, 1 failed, 2 skipped" if broken else "16 passed, 0 failed, 4 skipped")
    assert done.returncode == (1 if broken else 0) and ("--- sanitize: the build of build-sanitize failed" in lines) == broken
