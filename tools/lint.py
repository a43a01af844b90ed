#!/usr/bin/env python3
"""House rules that a machine can check: formatting, clang-tidy, banned functions, which room may
include which, headers that compile alone, exported symbols, links and long sentences of the documentation. Part of `make test`."""

import argparse
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys

import api
import prose

ROOT = pathlib.Path(__file__).resolve().parent.parent
ROOMS = ["base", "data", "model", "space", "problem", "metric", "oracle", "elicit", "classify", "optimise", "rank", "outcome", "report"]
STRANGERS = {("metric", "space"), ("metric", "problem")}
PUBLIC_HEADER_ROOM = {"arrow": "data", "layout": "base", "face": "space", "certainty": "classify", "trust": "classify", "engine": "optimise"}
BANNED = r"\b(strcpy|strcat|sprintf|vsprintf|gets|atoi|atol|atof|strtok|rand|srand|alloca)\s*\("
# These obey the locale of the program that the library is part of; base/number_text.h has what does not.
OF_LOCALE = r"\b(?:strtod|strtof|v\w*printf)\s*\(|\b(?:snprintf|fprintf|sscanf)\s*\([^;]*?%[-+ #0-9.*l]*[aefgAEFG]\b"
SELF_REALLOC = r"(\b[\w.>\-\[\]]+)\s*=\s*(?:\([^()]*\)\s*)?realloc\s*\(\s*\1\s*,"
FINDINGS = r"\b(mel_(?:closest_metrics|cost_ratio_is_wide|session_weight_ratio|metric_words|metric_threshold|finding_text))\s*\("
# What a report leaves to others.
COMPUTED = r"\b(mel_(?:metric_(?:compare|gradient)|session_(?:result|new)|classifier_best|rng_\w+))\s*\("
# Errors and memory, texts that grow, reading JSON, quantiles: what the server has of the library besides its public headers.
SERVER_KNOWS = ("base/internal.h", "base/buffer.h", "base/json.h", "base/stat.h")
SYMBOLS = ROOT / "tools" / "symbols.txt"
# clang's analyzer takes twenty times as long as all other checks together: make lint and make soak run it, make test does not.
ANALYZER = [] if os.environ.get("MELICIT_SOAK") or os.environ.get("MELICIT_ANALYZER") else ["--checks=-clang-analyzer-*"]
CLANG = "14"  # Debian 12's: other releases of clang format otherwise and find other things
TIDY_AT_ONCE = 16 if ANALYZER else 1  # the analyzer takes one file for the other: it finds lists of arguments that nobody began


def tracked(*patterns):
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", *patterns]
    names = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.split()
    return [ROOT / name for name in names if (ROOT / name).exists()]


def code_only(text):
    """The source with comments and string contents blanked, line structure kept."""
    pattern = r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'"
    return re.sub(pattern, lambda m: re.sub(r"[^\n]", " ", m.group()), text, flags=re.S)


def other_clang(tool):
    """Why a tool's findings do not count here; None where they do."""
    version = re.search(r"version (\d+)", subprocess.run([tool, "--version"], capture_output=True, text=True).stdout)
    return None if version and version.group(1) == CLANG else f"only what {tool} {CLANG} of Debian 12 finds counts"


def check_format(files):
    run = subprocess.run(["clang-format", "--dry-run", "--Werror", *map(str, files)], capture_output=True, text=True)
    return [line for line in run.stderr.splitlines() if "error:" in line]


def check_banned(files):
    found = []
    for path in files:
        for number, line in enumerate(code_only(path.read_text()).splitlines(), 1):
            match = re.search(BANNED, line) or re.search(SELF_REALLOC, line)
            if match:
                found.append(f"{path.relative_to(ROOT)}:{number}: banned: {match.group().strip()}")
            if re.search(r"\bsetlocale\s*\(", line) and "tests" not in path.parts:
                found.append(f"{path.relative_to(ROOT)}:{number}: setlocale: the C locale is assumed everywhere")
            if re.search(r"\bgoto\b", line):
                found.append(f"{path.relative_to(ROOT)}:{number}: goto")
        if path.relative_to(ROOT).parts[0] == "src" and path.stem != "number_text":
            text = path.read_text()
            found += [f"{path.relative_to(ROOT)}:{text.count(chr(10), 0, m.start()) + 1}: obeys the locale: {m.group().split('(')[0]}"
                      for m in re.finditer(OF_LOCALE, text)]
    return found


def check_library_is_silent(files):
    """Library code never prints to the process's streams nor ends the process."""
    found = []
    for path in files:
        if "src" not in path.relative_to(ROOT).parts[:1]:
            continue
        for number, line in enumerate(code_only(path.read_text()).splitlines(), 1):
            if re.search(r"(?<![\w_])(printf|puts|putchar|perror|exit|abort)\s*\(|\bstderr\b", line):
                found.append(f"{path.relative_to(ROOT)}:{number}: the library prints or exits: {line.strip()}")
    return found


def room_of(include):
    if include.startswith("melicit/"):
        name = include[len("melicit/"):-2]
        return PUBLIC_HEADER_ROOM.get(name, name)
    return include.split("/")[0] if "/" in include else None


def check_rooms(files):
    found = []
    for path in files:
        parts = path.relative_to(ROOT).parts
        if parts[0] == "src":
            room = parts[1]
        elif parts[:2] == ("include", "melicit") and parts[2] != "melicit.h":
            room = PUBLIC_HEADER_ROOM.get(path.stem, path.stem)
        else:
            continue
        if room not in ROOMS:
            found.append(f"{path.relative_to(ROOT)}: no such room in the plan: {room}")
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            match = re.match(r'\s*#\s*include\s+"([^"]+)"', line)
            other = room_of(match.group(1)) if match else None
            if other is None:
                continue
            if other not in ROOMS:
                found.append(f"{path.relative_to(ROOT)}:{number}: {other} is not a room")
            elif ROOMS.index(other) > ROOMS.index(room) or (room, other) in STRANGERS:
                found.append(f"{path.relative_to(ROOT)}:{number}: room {room} may not use {other}")
    return found


# What the program still knows of a room beyond its public header, and where. No file may come to these; each that goes is a gain.
PROGRAM_KNOWS = {
    "classify": "apply.h contenders.h predict.h space_args.c",
    "data": "output.c",
    "elicit": "cmd_elicit.c elicit_settings.c optimise_compare.c options.c session_file.c",
    "metric": "session_file.c",
    "optimise": "columns.c optimise.h",
    "oracle": "cmd_elicit.c elicit_settings.c optimise_compare.c",
    "problem": "columns.c contenders.h dataset.h files.c metric_file.c",
    "report": "pictures.c",
    "space": "space_args.h",
}


def check_houses(files):
    """Server and program know the public headers and src/base (the server SERVER_KNOWS of it), the program also the server and what PROGRAM_KNOWS; neither is known
    to what it uses."""
    homes = {"server": ("server", "include"), "cli": ("cli", "include", ".")}
    found = []
    for path in files:
        house = path.relative_to(ROOT).parts[0]
        for number, line in enumerate(path.read_text().splitlines(), 1):
            match = re.match(r'\s*#\s*include\s+"([^"]+)"', line) if house in homes else None
            room = match.group(1).removesuffix("/shared.h") if match and house == "cli" else None
            base = match and match.group(1).startswith("base/") and (house == "cli" or match.group(1) in SERVER_KNOWS)
            if base or room and path.name in PROGRAM_KNOWS.get(room, "").split():
                continue
            if match and not any((ROOT / home / match.group(1)).exists() for home in homes[house]):
                found.append(f"{path.relative_to(ROOT)}:{number}: {house} may not use {match.group(1)}")
    return found


def check_renderers(files):
    """What a session found is worked out in src/outcome; report, program and server only show it."""
    found = []
    for path in files:
        parts = path.relative_to(ROOT).parts
        if parts[0] not in ("cli", "server") and parts[:2] != ("src", "report"):
            continue
        for number, line in enumerate(code_only(path.read_text()).splitlines(), 1):
            match = re.search(FINDINGS, line) or (parts[0] == "src" and re.search(COMPUTED, line))
            if match:
                found.append(f"{path.relative_to(ROOT)}:{number}: {match.group(1)} is for src/outcome; show mel_outcome")
    return found


def compile_alone(header):
    name = header.relative_to(ROOT / "include")
    found = []
    for compiler, language, standard in (("gcc", "c", "c11"), ("g++", "c++", "c++17")):
        command = [compiler, "-x", language, f"-std={standard}", "-Wall", "-Wextra", "-Wpedantic", "-Werror",
                   f"-I{ROOT / 'include'}", "-fsyntax-only", "-"]
        run = subprocess.run(command, input=f'#include "{name}"\n', capture_output=True, text=True)
        if run.returncode != 0:
            found.append(f"{name} does not compile alone as {standard}:\n{run.stderr}")
    return found


def check_headers(pool):
    headers = sorted((ROOT / "include" / "melicit").glob("*.h"))
    umbrella = (ROOT / "include" / "melicit" / "melicit.h").read_text()
    found = [f"melicit.h does not include {h.name}" for h in headers
             if h.name != "melicit.h" and f'"melicit/{h.name}"' not in umbrella]
    found += [f"{h.name}: {other} is of another library" for h in headers
              for other in re.findall(r"json_t\b|#include <(?!std(?:bool|def|int)\.h>)[^>]+>", h.read_text())]
    for result in pool.map(compile_alone, headers):
        found += result
    return found


def check_docs():
    """Relative links of Markdown files lead somewhere, and every room says what it is."""
    rooms = [room for room in (ROOT / "src").iterdir() if room.is_dir()] + [ROOT / "server", ROOT / "cli", ROOT / "web"]
    found = [f"{room.relative_to(ROOT)}: no README.md" for room in rooms if not (room / "README.md").exists()]
    for path in tracked("*.md"):
        for link in re.findall(r"\]\(([^)#]+)", path.read_text()):
            if "://" not in link and not (path.parent / link).exists():
                found.append(f"{path.relative_to(ROOT)}: dead link {link}")
    return found + check_architecture() + check_figures() + check_api_page()


def check_api_page():
    """docs/api.md lists every public function with a sentence from its header."""
    found = [f"include/melicit/: what does {calls} do? Its comment is missing" for header in tracked("include/melicit/*.h")
             for calls, what in api.functions(header.read_text()) if not what]
    if api.page() != (ROOT / "docs" / "api.md").read_text():
        found.append("docs/api.md: the headers say something else: run tools/api.py --write")
    return found


def check_prose():
    """What is too long to read is listed, and may only become less."""
    found, shown = prose.check()
    print("\n".join("  long: " + line for line in shown))
    return found


def check_figures():
    """docs/measurements.md fits the figures, and every figure that a bench records has a row there."""
    rows = {row["what"] for row in json.loads((ROOT / "bench" / "figures.json").read_text())}
    recorded = {(path.name, what) for path in tracked("bench/*.py") for what in re.findall(r'\brecord\("([^"]+)"', path.read_text())}
    found = [f"bench/{name}: bench/figures.json has no row {what!r}" for name, what in sorted(recorded) if what not in rows]
    page = subprocess.run([sys.executable, ROOT / "tools" / "bench.py", "--check"], capture_output=True, text=True)
    return found + ([page.stderr.strip()] if page.returncode else [])


def check_architecture():
    """The files and functions that docs/architecture.md and the READMEs of the code lead to are there; NAME stands for one that is to
    be written."""
    pages = [ROOT / "docs" / "architecture.md", *tracked("src/**/README.md", "server/README.md", "cli/README.md")]
    files = tracked("*.c", "*.h", "*.ts", "*.tsx", "*.py")
    names, stems = [path.as_posix() for path in files], {path.stem for path in files}
    source = "\n".join(path.read_text() for path in files if path.suffix in (".c", ".h", ".ts"))
    found = []
    for page in pages:
        where = page.relative_to(ROOT)
        for word in sorted(set(re.findall(r"`([\w./]+)`", page.read_text()))):
            if word.endswith((".c", ".h", ".ts", ".tsx", ".py")):
                if "NAME" not in word and not any(name.endswith("/" + word) for name in names):
                    found.append(f"{where}: there is no file {word}")
            elif "_" in word and word not in stems and not re.search(rf"\b{re.escape(word)}\b", source):
                found.append(f"{where}: nothing is called {word}")
    return found


def exported(build):
    run = subprocess.run(["nm", "-D", "--defined-only", str(build / "libmelicit.so")], check=True,
                         capture_output=True, text=True)
    return sorted(line.split()[-1] for line in run.stdout.splitlines() if " T " in line or " D " in line or " B " in line)


def check_symbols(build):
    wanted = SYMBOLS.read_text().split() if SYMBOLS.exists() else []
    got = exported(build)
    found = [f"exported but not in tools/symbols.txt: {name} (make symbols, if meant)" for name in got if name not in wanted]
    found += [f"in tools/symbols.txt but not exported: {name}" for name in wanted if name not in got]
    declared = "\n".join(code_only(h.read_text()) for h in (ROOT / "include" / "melicit").glob("*.h"))
    found += [f"exported but declared in no public header: {name}" for name in got if not re.search(rf"\b{name}\b", declared)]
    return found


def tidy_key(entry, config):
    """Changes when the file, a project header, the flags or the checks change."""
    digest = hashlib.sha256(config)
    digest.update(" ".join([*ANALYZER, entry["command"]]).encode())
    digest.update(pathlib.Path(entry["file"]).read_bytes())
    return digest.hexdigest()


def tidy_some(entries, stamps, build):
    """Starting clang-tidy takes as long as checking a file: one run for several."""
    command = ["clang-tidy", "-p", str(build), "--quiet", *ANALYZER, *(entry["file"] for entry in entries)]
    if "/tests/" in entries[0]["file"] and not ANALYZER:  # sanitizers run every path of a test; the analyzer is for the product
        command.insert(1, "--checks=-clang-analyzer-*")
    run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode == 0:
        for stamp in stamps:
            stamp.touch()
        return []
    lines = [line for line in run.stdout.splitlines() if ": error:" in line or ": warning:" in line]
    return lines or [f"clang-tidy failed: {run.stderr[-500:]}"]


def check_tidy(build, pool, under):
    """clang-tidy on every compiled file below a folder; a file that passed is not checked again until it, a header or
    the configuration changes."""
    config = (ROOT / ".clang-tidy").read_bytes()
    for header in sorted(tracked("*.h")):
        config += header.read_bytes()
    cache = build / "tidy"
    cache.mkdir(exist_ok=True)
    files = {str(path) for path in tracked("*.c") if path.is_relative_to(ROOT / under)}
    entries = {entry["file"]: entry for entry in json.loads((build / "compile_commands.json").read_text())
               if entry["file"] in files}  # once, in however many programs it is
    todo = [(entry, stamp) for entry in entries.values() if not (stamp := cache / tidy_key(entry, config)).exists()]
    found = []
    for tests in (False, True):
        part = [pair for pair in todo if ("/tests/" in pair[0]["file"]) == tests]
        chunks = [part[at:at + TIDY_AT_ONCE] for at in range(0, len(part), TIDY_AT_ONCE)]
        for lines in pool.map(lambda chunk: tidy_some(*zip(*chunk), build), chunks):
            found += lines
    return sorted(set(found))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--write-symbols", action="store_true")
    parser.add_argument("--only", help="one check by name")
    parser.add_argument("--under", default="", help="clang-tidy only for the files below this folder")
    args = parser.parse_args()
    args.build = args.build.resolve()
    if args.write_symbols:
        SYMBOLS.write_text("\n".join(exported(args.build)) + "\n")
        return 0
    files = tracked("*.c", "*.h")
    pool = concurrent.futures.ThreadPoolExecutor(args.jobs)
    checks = {
        "format": lambda: check_format(files),
        "banned": lambda: check_banned(files),
        "silent": lambda: check_library_is_silent(files),
        "rooms": lambda: check_rooms(files) + check_houses(files) + check_renderers(files),
        "headers": lambda: check_headers(pool),
        "docs": check_docs,
        "prose": check_prose,
        "symbols": lambda: check_symbols(args.build),
        "tidy": lambda: check_tidy(args.build, pool, args.under),
    }
    failures = 0
    for name, check in checks.items():
        if args.only in (None, name):
            other = other_clang(f"clang-{name}") if name in ("format", "tidy") else None
            if other:
                print(f"[  SKIPPED ] 1 test\nSKIPPED [1] lint {name}: {other}")  # as tools/test.py counts
                continue
            found = check()
            print(f"lint: {name}: {'ok' if not found else f'{len(found)} found'}", flush=True)
            for line in found:
                print("  " + line)
            failures += len(found)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
