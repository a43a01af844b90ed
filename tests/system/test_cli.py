"""The program from outside: every verb, every class of option, exit codes, what is printed where."""
import fcntl
import gzip
import json
import math
import os
import pty
import re
import select
import shutil
import signal
import struct
import subprocess
import termios
import time

import numpy
import pytest

from conftest import DATA, PROGRAM, SOURCE, environment, some

CANCER = "breast_cancer_original"


def verbs():
    done = subprocess.run([str(PROGRAM), "help", "--json"], capture_output=True, env=environment(), check=True)
    return json.loads(done.stdout)["verbs"]


VERBS = verbs() if PROGRAM.exists() else []
OPTIONS = [(verb["name"], option) for verb in VERBS for option in verb["options"]]


def required_words(verb, but=None):
    """Plausible values for the required options of a verb."""
    table = next(v for v in VERBS if v["name"] == verb)
    words = []
    for option in table["options"]:
        if option["required"] and option["name"] != but:
            words += [f"--{option['name']}", "x.npy"]
    return words


def given(option, *value):
    """An option as it is typed, and as errors name it."""
    if "under" in option:
        return [f"--{option['under']}", "=".join([option["name"], *value])], f"--{option['under']} {option['name']}"
    return [f"--{option['name']}", *value], f"--{option['name']}"


# ---- verbs and help ----


def test_no_verb_shows_the_verbs_and_is_wrong_usage(melicit):
    got = melicit()
    assert got.code == 2 and got.out == ""
    for verb in VERBS:
        assert re.search(rf"^  {verb['name']} ", got.err, re.M)


@pytest.mark.parametrize("words", [["help"], ["--help"], ["-h"]])
def test_overview(melicit, words):
    got = melicit(*words).done()
    assert got.err == "" and "usage: melicit VERB" in got.out
    for verb in VERBS:
        assert f"  {verb['name']}" in got.out


@pytest.mark.parametrize("verb", [v["name"] for v in VERBS])
def test_help_of_a_verb(melicit, verb):
    short, whole = melicit("help", verb).done(), melicit("help", verb, "--all").done()
    assert short.err == whole.err == ""
    assert short.out == melicit(verb, "--help").done().out == melicit(verb, "-h").done().out
    table = next(v for v in VERBS if v["name"] == verb)
    shown = {level: [f"{o['under']} {o['name']}" if "under" in o else o["name"] for o in table["options"] if o["level"] == level]
             for level in ("common", "more")}
    assert 1 <= len(shown["common"]) <= 15
    for name in shown["common"]:
        assert f"\n  --{name}" in short.out and f"\n  --{name}" in whole.out
    for name in shown["more"]:
        assert not re.search(rf"\n  --{name}[ =\n]", short.out) and f"\n  --{name}" in whole.out
    for text, lines in ((short.out, table["examples"][:2]), (whole.out, table["examples"])):
        texts, examples = text.split("\nExamples\n")
        assert [line.strip() for line in examples.split("\n\n")[0].splitlines()[1::2]] == lines
        assert max(map(len, texts.splitlines())) <= 80
        assert not re.search(r"[ \t]$", text, re.M)
    assert f"melicit help {verb} --all" in short.out and "--all` lists" not in whole.out


def test_settings_of_the_thesis(melicit):
    """--thesis NAME=VALUE; the former --NAME says how it is written now."""
    space = ("space", "--population", "softmax:1,3,5", "--thesis", "kind=rates", "--json")
    thesis, inscribed = (melicit(*space, "--thesis", f"radius-method={how}").done().json["radius"] for how in ("thesis", "inscribed"))
    assert thesis < inscribed
    for words, parts in ((("--radius-method", "thesis"), ["--thesis radius-method=inscribed|thesis"]),
                         (("--thesis", "radius-method"), ["needs a value"]),
                         (("--thesis", "radius-method=best"), ["--thesis radius-method=best"]),
                         (("--thesis", "xylophone=1"), ["no such setting", "radius-method"]),
                         (("--thesis",), ["NAME=VALUE"])):
        melicit(*space[:-1], *words).refused(2, *parts)
    melicit("elicit", "--population", "softmax:1,3,5", "--thesis", "tournament=perhaps").refused(2, "expected yes or no")
    melicit("train", "--data", "x.csv", "--thesis", "a=1").refused(2, "no option --thesis")


def test_settings_side_by_side(melicit):
    """A comma parts two settings where one follows, and belongs to the value elsewhere."""
    melicit.write("t.csv", "a,b;label\n" + "".join(f"{i % 7},{i % 3}5;{i % 2}\n" for i in range(40)))
    words = ("train", "--data", "t.csv", "--json", "-v", "--read")
    for setting in ("delimiter=;,decimal=,", "decimal=,,delimiter=;", "decimal=,,strict=no,delimiter=;"):
        got = melicit(*words, setting).done().json
        assert got["features"] == 1 and "decimal comma" in got["read"][0], setting
    words = words[:3] + ("--read",)
    melicit(*words, "decimal=,,delimiter=;,stricter").refused(2, "delimiter=;,stricter")
    melicit(*words, "strict,strict=no").refused(2, "--read strict is given twice")
    melicit(*words, "colour=red").refused(2, "no such setting", "delimiter", "max-rows")
    melicit(*words[:-1], "--delimiter", ";").refused(2, "--delimiter is written --read delimiter=C")
    melicit(*words[:-1], "--delimitr", ";").refused(2, "did you mean --read delimiter?")


def test_few_options():
    """Who reads all helps meets about a hundred names: what is rare is a setting of --read, --ask, --thesis."""
    names = {option.get("under", option["name"]) for _, option in OPTIONS}
    assert len(names) <= 105, len(names)


def test_a_bare_file_name(melicit):
    """One word without dashes is what most verbs read."""
    same = [melicit(*words, "--json").done().json["radius"]
            for words in (("space", "breast_cancer_original"), ("space", "--data", "breast_cancer_original"))]
    assert same[0] == same[1]
    melicit("space", "breast_cancer_original", "--skip", "mitoses").done()
    melicit("elicit", "s.jsonl").refused(2, "s.jsonl", "--respondents")
    melicit("score", "--named", "f1", "--labels", "y.csv", "p.csv").refused(2, "p.csv", "--predictions")
    melicit("space", "breast_cancer_original", "magic04").refused(2, '"breast_cancer_original" is not an option')
    melicit("space", "--data", "magic04", "breast_cancer_original").refused(2, '"breast_cancer_original" is not an option')


@pytest.mark.parametrize("verb", [v["name"] for v in VERBS])
def test_help_as_json(melicit, verb):
    assert melicit("help", verb, "--json").done().json == melicit(verb, "--help", "--json").done().json
    assert melicit("help", verb, "--json").json["name"] == verb


def test_defaults_are_what_an_option_takes():
    """What stands for "not given" inside the program is no default that one could type."""
    shown = {f"{verb} --{option['name']}": option["default"] for verb, option in OPTIONS if "default" in option}
    assert shown["elicit --tolerance"] == "0.02"
    assert not [name for name, value in shown.items() if value.startswith("-") or len(value) > 18]


def test_help_of_an_unknown_verb(melicit):
    melicit("help", "trian").refused(2, '"trian"', 'did you mean "train"')
    melicit("help", "xylophone").refused(2, '"xylophone"')
    melicit("help", "train", "--as", "man").refused(2, "leave out train")
    assert melicit("help", "--as", "man", "--json").json["error"]["code"] == "EINVAL"


def test_examples_run(melicit):
    """Every example of every help text runs in a shell, in the order of the verbs."""
    lines = [line for verb in VERBS for line in verb["examples"]]
    assert len(lines) >= 2 * len(VERBS)
    for line in lines:
        got = melicit.shell(f"set -eu\nexec < /dev/null\n{line}")
        # An example that asks a person, with nobody there, stops at the first question.
        asks = line.startswith("melicit elicit") and "--oracle" not in line
        assert got.code == (5 if asks else 0), f"{line}\n{got.err}"
        # New names for the classes of a table are said in a line; those of the mammograms are their own.
        said = [f"melicit: 0 is {a}, 1 is {b}" for name, a, b in re.findall(r"--data (\w+) .*--classes (\w+),(\w+)", line)
                if name != "mammographic_mass"]
        # So is that a person is asked about pairs that nobody would use, where no others are known.
        far = "melicit: realistic pairs are not known here: questions are about the most different ones"
        assert [told for told in got.err.splitlines() if not (asks and told == far)] == said, line


def test_version(melicit):
    got = melicit("--version").done()
    assert re.match(r"melicit \d+\.\d+\.\d+\n", got.out)
    assert got.out == melicit("-V").out
    told = melicit("--version", "--json").done().json
    assert f"melicit {told['version']}\n" in got.out
    assert set(told["libraries"]) == {"openblas", "nlopt", "zlib", "libzip", "jansson", "sodium"}
    assert "OpenBLAS" in told["libraries"]["openblas"]


@pytest.mark.plain("a sanitizer takes more address space than that")
@pytest.mark.parametrize("limit", ["v", "d"])
def test_limits_of_the_shell(melicit, limit):
    """OpenBLAS waits for ever for address space that it does not get: a sentence instead."""
    ran = subprocess.run(["sh", "-c", f"ulimit -{limit} 120000; exec {PROGRAM} --version"], capture_output=True, text=True, timeout=600, env=environment())
    assert ran.returncode == 1 and f"ulimit -{limit}" in ran.stderr and "OPENBLAS_NUM_THREADS" in ran.stderr


def test_manual_page_renders_without_warnings(melicit):
    page = melicit("help", "--as", "man").done().out
    melicit.write("melicit.1", page)
    groff = shutil.which("groff")
    assert groff, "groff-base is one of the test dependencies"
    shown = subprocess.run(
        [groff, "-ww", "-man", "-Tutf8", "-P-c", str(melicit.folder / "melicit.1")], capture_output=True, check=True
    )
    assert shown.stderr == b""
    text = re.sub(".\b", "", shown.stdout.decode())
    for verb in VERBS:
        assert f"MELICIT {verb['name'].upper()}" in text
        for option in verb["options"]:
            assert given(option)[1] in text
    if shutil.which("man"):
        read = subprocess.run(
            ["man", "--warnings", "-l", str(melicit.folder / "melicit.1")],
            capture_output=True,
            env=environment(MANPAGER="cat", MANWIDTH="100"),
        )
        assert read.returncode == 0 and read.stderr == b""


def complete(melicit, *words):
    """What bash offers after these words, the last of them being typed."""
    listed = " ".join(f"'{word}'" for word in words)
    line = (
        'source <(melicit help --as bash)\n'
        f"COMP_WORDS=(melicit {listed}); COMP_CWORD={len(words)}\n"
        "_melicit\n"
        'printf "%s\\n" "${COMPREPLY[@]}"'
    )
    got = melicit.shell(f"set -eu\n{line}")
    assert got.code == 0 and got.err == "", got.err
    return got.out.split()


def test_completion(melicit):
    registered = melicit.shell('source <(melicit help --as bash); complete -p melicit').done()
    assert "-F _melicit melicit" in registered.out
    assert complete(melicit, "tr") == ["train"]
    assert complete(melicit, "") == [v["name"] for v in VERBS]
    assert complete(melicit, "train", "--max-r") == [] and complete(melicit, "train", "--rea") == ["--read"]
    assert complete(melicit, "train", "--read", "max-r") == ["max-rows="]
    assert set(complete(melicit, "train", "--")) == {f"--{option.get('under', option['name'])}" for verb, option in OPTIONS if verb == "train"}
    assert complete(melicit, "train", "--fit", "solver", "=", "n") == ["newton"]
    assert complete(melicit, "train", "--fit", "solver", "=", "l") == ["lbfgs"]
    assert complete(melicit, "train", "--fit", "solver", "=") == ["auto", "newton", "lbfgs"]
    assert complete(melicit, "train", "--label", "") == []
    assert complete(melicit, "help", "pre") == ["predict"]
    assert complete(melicit, "help", "--as", "ma") == ["man", "markdown"]
    melicit.write("table.csv", "")
    assert complete(melicit, "train", "--data", "tab") == ["table.csv"]


def test_completion_of_zsh_and_fish(melicit):
    """The same verbs, options and values; zsh's own functions are replaced by ones that print what they are given."""
    melicit.write("_melicit", melicit("help", "--as", "zsh").done().out)
    melicit.write("melicit.fish", melicit("help", "--as", "fish").done().out)
    melicit.write("table.csv", "")

    def zsh(*words):
        listed = " ".join(f"'{word}'" for word in ("melicit", *words))
        melicit.write("complete.zsh", "compadd() { shift; print -l -- $@ }\n_files() { print files }\n"
                      f"complete() {{ words=({listed}); CURRENT=$#words; . ./_melicit }}\ncomplete\n")
        return melicit.shell("zsh -f complete.zsh").done().out.split()

    def fish(line):
        told = melicit.shell(f'fish --no-config -c "source melicit.fish; complete -C \'{line}\'"').done().out
        return [row.split("\t")[0] for row in told.splitlines()]

    verbs, options = [v["name"] for v in VERBS], {f"--{option.get('under', option['name'])}" for verb, option in OPTIONS if verb == "train"}
    assert zsh("") == verbs and sorted(fish("melicit ")) == sorted(verbs)
    assert set(zsh("train", "--")) == options == set(fish("melicit train --"))
    assert "solver=lbfgs" in zsh("train", "--fit", "") and fish("melicit train --fit solver=n") == ["solver=newton"]
    assert zsh("train", "--data", "") == ["files"] and fish("melicit train --data tab") == ["table.csv"]


def test_completion_in_an_interactive_shell(melicit):
    """The tab key itself, in a bash that has nothing else loaded."""
    melicit.write("rc", 'PS1="> "; source <(melicit help --as bash)\n')
    screen = Terminal(["bash", "--rcfile", "rc", "-i"], melicit.folder)
    screen.wait_for(b"> ")
    screen.type(b"melicit pred\t--mod\t")
    screen.wait_for(b"melicit predict --model ")
    screen.type(b"\x15exit\n")
    screen.finish()


# ---- words that are wrong ----


@pytest.mark.parametrize(
    "words, parts",
    [
        (["tran"], ['"tran"', 'did you mean "train"']),
        (["predcit"], ['did you mean "predict"']),
        (["xylophone"], ['"xylophone"', "melicit help"]),
        ([""], ["melicit help"]),
        (["--json-ish"], ["a verb comes first"]),
        (["train"], ["--data FILE is required"]),
        (["predict", "--model", "m", "--data", "d"], ["--out FILE is required"]),
        (["train", "--labl", "x"], ["--labl", "did you mean --label?"]),
        (["train", "--labl=x"], ["--labl;", "did you mean --label?"]),
        (["train", "--memory", "512M"], ["no option --memory any more", "page cache"]),
        (["train", "--xylophone"], ["--xylophone", "--help"]),
        (["train", "-x"], ["-x"]),
        (["space", "--po", "3"], ["--population", "--point", "--positive"]),
        (["train", "--data", "t.csv", "surplus"], ['"surplus"']),
        (["--version", "--", "--json"], ['"--json"']),
        (["version"], ['no verb "version" any more', "melicit --version"]),
        (["page"], ['no verb "page" any more', "serve --relay"]),
        (["corrupt", "--labels", "y.csv"], ['no verb "corrupt" any more', "NumPy"]),
        (["train", "--data"], ["--data needs a value: --data FILE"]),
        (["train", "--data", ""], ["--data", "empty"]),
        (["train", "--json=yes"], ["--json takes no value"]),
        (["train", "--data", "a", "--data", "b"], ["--data is given twice"]),
        (["train", "--seed", "1", "--seed=1"], ["--seed is given twice"]),
        (["train", "--data", "d", "--read", "delimiter=ab"], ["delimiter=ab"]),
        (["train", "--data", "d", "--read", 'delimiter="'], ['delimiter="']),
        (["train", "--data", "d", "--read", "column=zip"], ["column=zip", "NAME:number"]),
        (["train", "--data", "d", "--read", "column=zip:date"], ["column=zip:date"]),
        (["train", "--data", "d", "--read", "column=:text"], ["column=:text"]),
        (["train", "--data", "-", "--fit", "warm=-"], ["--data -", "--fit warm=-", "standard input"]),
        (["predict", "--model", "-", "--data", "-", "--out", "p.npy"], ["--model -", "--data -", "standard input"]),
        (["predict", "--model", "m", "--data", "d", "--out", "p.txt"], ["--out p.txt", "--as"]),
        (["predict", "--model", "m", "--data", "d", "--out", "p.npy", "--threshold", "0.2"], ["--decisions"]),
    ],
)
def test_wrong_usage(melicit, words, parts):
    melicit(*words).refused(2, *parts)


@pytest.mark.parametrize("words", [["tran"], ["train"], ["train", "--labl", "x"], ["train", "--l2", "x"], ["predict"]])
def test_wrong_usage_as_json(melicit, words):
    got = melicit(*words, "--json")
    assert got.code == 2 and got.err == ""
    error = got.json["error"]
    assert error["code"] == "EINVAL" and error["message"]


@pytest.mark.parametrize("words", [["--out", "-"], []])
def test_two_things_cannot_share_standard_output(melicit, words):
    got = melicit("train", "--data", CANCER, "--json", *words)
    if words:
        assert got.code == 2 and "standard output" in got.json["error"]["message"]
    else:
        got.done()


NUMBERS = ["x", "", " 1", "1 ", "1e", "0x10", "nan", "inf", "-inf", "1e999", "1,5", "--"]
WHOLES = ["x", "", "-1", "+1", "1.5", "1e3", "0x10", "99999999999999999999", " 1"]


@pytest.mark.parametrize("verb, option", [(v, o) for v, o in OPTIONS if o["kind"] in ("number", "whole")])
def test_bad_numbers(melicit, verb, option):
    """Every option with a number refuses what is none and what is outside its range."""
    bad = list(NUMBERS if option["kind"] == "number" else WHOLES)
    if option["low"] > 0 or option["kind"] == "number":
        bad.append("0" if option["low"] >= 1 else "-1")
    if option["high"] < 1e15:
        bad.append(str(int(option["high"]) + 1))
    for value in some(bad, option["name"]):
        words, name = given(option, value)
        got = melicit(verb, *required_words(verb), "=".join(words))
        got.refused(2, name)
        if value:
            assert value in got.err


@pytest.mark.parametrize("verb, option", [(v, o) for v, o in OPTIONS if o["kind"] == "choice"])
def test_bad_choices(melicit, verb, option):
    words, name = given(option, "neither")
    melicit(verb, *required_words(verb), *words).refused(2, f"{name}{'=' if 'under' in option else ' '}neither", *option["choices"])
    assert option.get("default", option["choices"][0]) in option["choices"]  # none where it depends on who answers


@pytest.mark.parametrize("verb, option", [(v, o) for v, o in OPTIONS if o["kind"] != "flag"])
def test_options_need_a_value(melicit, verb, option):
    words, name = given(option)
    melicit(verb, *required_words(verb, but=option["name"]), *words).refused(2, f"{name} needs a value")


def test_names_may_be_shortened_and_joined(melicit):
    long = melicit("train", "--data", CANCER, "--test-share", "0.25", "--json").done().out
    assert melicit("train", f"--data={CANCER}", "--test=0.25", "--js").done().out == long


# ---- train ----


def test_train_tells_what_it_found(melicit, cancer_rows):
    got = melicit("train", "--data", CANCER, "--label", "label", "--json", "--out", "m.json").done()
    assert got.err == ""
    told = got.json
    header, rows = cancer_rows
    assert told["rows"] == len(rows) == 699
    assert told["features"] == len([c for c in header if c != "label" and not c.startswith("meta_")])
    assert told["classes"] == [{"name": "0", "rows": 458, "share": pytest.approx(458 / 699)}, {"name": "1", "rows": 241, "share": pytest.approx(241 / 699)}]
    assert told["positive"] == "1"
    assert told["fit"]["reason"] == "converged" and told["fit"]["gradient_norm"] <= 1e-9
    assert told["train"]["rows"] + told["test"]["rows"] == 699
    assert abs(told["train"]["rows"] - 349.5) < 2
    assert 0 < told["train"]["log_loss"] < told["test"]["log_loss_of_shares"]
    assert told["test"]["accuracy"] > 0.94 > told["test"]["accuracy_of_most_frequent"]
    assert told["test"]["auc"] > 0.98
    assert told["model"] == "m.json" and (melicit.folder / "m.json").exists()
    assert "warnings" not in told


def test_held_out_figures_are_those_of_numpy(melicit):
    """The groups make both halves alike: an even number of rows of each class for each value of v."""
    counts = {0: (30, 2), 1: (24, 8), 2: (12, 12), 3: (6, 20), 4: (2, 34)}
    rows = [(v, y) for v, of_class in counts.items() for y in (0, 1) for _ in range(of_class[y])]
    melicit.write("t.csv", "v,g,label\n" + "".join(f"{v},g{v},{y}\n" for v, y in rows))
    told = melicit("train", "--data", "t.csv", "--group", "g", "--json", "--out", "m.json").done().json
    melicit("predict", "--model", "m.json", "--data", "t.csv", "--out", "p.npy").done()
    p, y = melicit.load("p.npy"), numpy.array([y for _, y in rows])
    test, half = told["test"], len(rows) // 2
    assert told["train"]["rows"] == test["rows"] == half and told["features"] == 1
    loss = -numpy.log(p[numpy.arange(len(rows)), y]).mean()
    assert test["log_loss"] == pytest.approx(loss, rel=1e-12)
    assert told["train"]["log_loss"] == pytest.approx(loss, rel=1e-12)
    shares = numpy.bincount(y) / len(y)
    assert test["log_loss_of_shares"] == pytest.approx(-(shares * numpy.log(shares)).sum(), rel=1e-12)
    assert test["accuracy"] == (p.argmax(axis=1) == y).mean()
    assert test["accuracy_of_most_frequent"] == (y == numpy.bincount(y).argmax()).mean()
    pairs = numpy.sign(p[y == 1, 1][:, None] - p[y == 0, 1][None, :])
    assert test["auc"] == pytest.approx((pairs.mean() + 1) / 2, rel=1e-12)
    for point in test["operating_points"]:
        assert point["threshold"] == 1 / (1 + point["cost_ratio"])
        yes = p[:, 1] >= point["threshold"]
        missed, alarms = int((~yes & (y == 1)).sum()) // 2, int((yes & (y == 0)).sum()) // 2
        assert (point["missed"], point["false_alarms"]) == (missed, alarms)
        assert point["missed_per_1000"] == pytest.approx(1000 * missed / half)
        assert point["false_alarms_per_1000"] == pytest.approx(1000 * alarms / half)
        assert point["recall"] == pytest.approx(yes[y == 1].mean())
        assert point["specificity"] == pytest.approx(1 - yes[y == 0].mean())
    assert len({p["missed"] for p in test["operating_points"]}) > 3
    confusion = numpy.zeros((2, 2), int)
    numpy.add.at(confusion, (y, p.argmax(axis=1)), 1)
    assert (numpy.array(test["confusion"]) * 2).tolist() == confusion.tolist()
    assert test["recall"] == [confusion[i, i] / confusion[i].sum() for i in (0, 1)]


def test_all_rows_may_train(melicit, cancer_rows):
    told = melicit("train", "--data", CANCER, "--json", "--test-share", "0", "--out", "m.json").done().json
    assert told["test"] is None and told["train"]["rows"] == 699
    melicit("predict", "--model", "m.json", "--data", CANCER, "--out", "p.npy").done()
    y = numpy.array([int(row[-1]) for row in cancer_rows[1]])
    loss = -numpy.log(melicit.load("p.npy")[numpy.arange(699), y]).mean()
    assert told["train"]["log_loss"] == pytest.approx(loss, rel=1e-9)
    text = melicit("train", "--data", CANCER, "--test-share", "0").done().out
    assert "held" not in text and "What is achievable" not in text


def test_train_for_people(melicit):
    got = melicit("train", "--data", CANCER, "--out", "m.json").done()
    assert got.err == ""
    for part in ("The data", "The fit", "What is achievable", "per 1000", "AUC", "converged", "m.json", "10 : 1"):
        assert part in got.out
    assert max(map(len, got.out.splitlines())) <= 100
    assert "\033" not in got.out


def test_positive_class(melicit):
    second = melicit("train", "--data", CANCER, "--json").done().json
    first = melicit("train", "--data", CANCER, "--json", "--positive", "0", "--out", "m.json").done().json
    assert [c["name"] for c in first["classes"]] == ["1", "0"] and first["positive"] == "0"
    assert numpy.array_equal(numpy.array(first["test"]["confusion"]), numpy.array(second["test"]["confusion"])[::-1, ::-1])
    melicit("predict", "--model", "m.json", "--data", CANCER, "--out", "p.csv").done()
    assert melicit.rows("p.csv")[0] == ["1", "0"]
    melicit("train", "--data", CANCER, "--positive", "yes").refused(3, '"yes"', '"0"', '"1"')


def test_more_classes(melicit, mixed_csv):
    melicit.write("t.csv", mixed_csv)
    words = ["train", "--data", "t.csv", "--label", "kind", "--skip", "score", "--skip=weight"]
    told = melicit(*words, "--json").done().json
    assert [c["name"] for c in told["classes"]] == ["a", "b", "c"]
    # two numbers, three colours, two sides; meta_id is never a feature
    assert told["features"] == 2 + 3 + 2
    assert len(told["test"]["confusion"]) == 3 and "auc" not in told["test"]
    text = melicit(*words).done().out
    assert "true class" in text and "recall" in text
    melicit(*words, "--positive", "a").refused(2, "--positive", "3 classes")


def test_very_many_classes_print_recalls_only(melicit):
    rows = "".join(f"{i % 20},{i % 7},{chr(97 + i % 20)}\n" for i in range(200))
    melicit.write("t.csv", "u,v,label\n" + rows)
    got = melicit("train", "--data", "t.csv").done()
    assert "found (recall)" in got.out and "true class" not in got.out


def test_groups(melicit, mixed_csv):
    melicit.write("t.csv", mixed_csv)
    words = ["train", "--data", "t.csv", "--label", "kind", "--group", "side", "--skip", "score", "--skip", "weight"]
    told = melicit(*words, "--json").done().json
    assert [g["name"] for g in told["test"]["groups"]] == ["left", "right"]
    total = sum(numpy.array(g["confusion"]) for g in told["test"]["groups"])
    assert total.tolist() == told["test"]["confusion"]
    assert told["features"] == 2 + 3
    assert "By group" in melicit(*words).done().out


def test_weights(melicit, mixed_csv):
    melicit.write("t.csv", mixed_csv)
    words = ["train", "--data", "t.csv", "--label", "kind", "--skip", "score", "--json"]
    weighted = melicit(*words, "--weights", "weight").done().json
    plain = melicit(*words, "--skip", "weight").done().json
    assert weighted["features"] == plain["features"]
    assert weighted["train"]["log_loss"] != plain["train"]["log_loss"]
    melicit(*words[:-1], "--weights", "colour").refused(3, "t.csv", '"colour"', "numbers")
    melicit(*words[:-1], "--weights", "age").refused(3, "t.csv", "row ", '"age"', "missing")
    melicit(*words[:-1], "--weights", "size").refused(3, "t.csv", "row ", '"size"')


def test_a_part_without_weight_is_refused(melicit):
    """Its log-loss would be the mean of nothing."""
    melicit.write("t.csv", "a,label,w\n" + "".join(f"{i % 7},{i % 2},{int(i < 8)}\n" for i in range(40)))
    codes = set()
    for seed in range(8):
        words = ["train", "--data", "t.csv", "--weights", "w", "--test-share", "0.1", "--seed", seed]
        got = melicit(*words, "--json")
        codes.add(got.code)
        if got.code == 0:
            assert got.json["test"]["log_loss"] > 0
        else:
            melicit(*words).refused(3, "t.csv", '"w"', "--weights", "all 4 rows that measure are 0")
    assert codes == {0, 3}


def test_the_log_loss_of_the_shares_is_weighted_too(melicit):
    """Weights of 3 on the positives: shares 1/4 and 3/4 in both parts, whichever rows these are."""
    melicit.write("t.csv", "a,label,w\n" + "".join(f"{i % 7},{i % 2},{1 + 2 * (i % 2)}\n" for i in range(80)))
    told = melicit("train", "--data", "t.csv", "--weights", "w", "--json").done().json
    want = -(0.25 * math.log(0.25) + 0.75 * math.log(0.75))
    assert told["test"]["log_loss_of_shares"] == pytest.approx(want, rel=1e-12)


@pytest.mark.parametrize(
    "words, options",
    [
        (["--group", "label"], ["--label", "--group"]),
        (["--weights", "label"], ["--label", "--weights"]),
        (["--group", "w", "--weights", "w"], ["--group", "--weights"]),
    ],
)
def test_one_column_cannot_play_two_parts(melicit, words, options):
    melicit.write("t.csv", "a,label,w\n" + "".join(f"{i % 7},{i % 2},{1 + i % 3}\n" for i in range(40)))
    melicit("train", "--data", "t.csv", *words).refused(2, f'"{words[-1]}"', *options)


def test_whole_weights_are_repeated_rows(melicit):
    rows = [(i % 5, (i * 7) % 11, int((i * 37) % 10 < 4 + i % 3), 1 + i % 3) for i in range(60)]
    melicit.write("w.csv", "a,b,label,w\n" + "".join(f"{a},{b},{y},{w}\n" for a, b, y, w in rows))
    melicit.write("r.csv", "a,b,label\n" + "".join(f"{a},{b},{y}\n" * w for a, b, y, w in rows))
    words = ["--test-share", "0", "--json"]
    weighted = melicit("train", "--data", "w.csv", "--weights", "w", *words, "--l2", "0").done().json
    repeated = melicit("train", "--data", "r.csv", *words, "--l2", "0").done().json
    assert weighted["train"]["log_loss"] == pytest.approx(repeated["train"]["log_loss"], rel=1e-7)
    assert weighted["fit"]["objective"] == pytest.approx(repeated["fit"]["objective"], rel=1e-7)


def test_quantile_labels(melicit, mixed_csv):
    melicit.write("t.csv", mixed_csv)
    words = ["train", "--data", "t.csv", "--label", "score", "--skip", "kind", "--json"]
    told = melicit(*words, "--fit", "label-quantiles=4").done().json
    assert [c["rows"] for c in told["classes"]] == [100, 100, 100, 100]
    assert melicit(*words).code == 3  # a value of its own per row


def test_models_of_earlier_versions(melicit):
    """A temperature divides the scores, as it did when the file was written; steps are refused."""
    melicit("train", "--data", CANCER, "--out", "m.json").done()
    model = json.loads((melicit.folder / "m.json").read_text())
    melicit.write("t.json", json.dumps(model | {"calibration": {"kind": "temperature", "temperature": 2.5}}))
    for name in "mt":
        melicit("predict", "--model", f"{name}.json", "--data", CANCER, "--out", f"{name}.npy").done()
    plain, cooled = (melicit.load(f"{name}.npy") for name in "mt")
    scores = numpy.log(plain[:, 1] / plain[:, 0])
    assert numpy.abs(cooled[:, 1] - 1 / (1 + numpy.exp(-scores / 2.5))).max() < 1e-9
    melicit.write("s.json", json.dumps(model | {"calibration": {"kind": "isotonic", "from": [0.5], "to": [0.5]}}))
    melicit("predict", "--model", "s.json", "--data", CANCER, "--out", "p.npy").refused(3, "isotonic", "train it again")


def test_solvers_agree(melicit):
    newton = melicit("train", "--data", CANCER, "--json", "--fit", "solver=newton").done().json
    lbfgs = melicit("train", "--data", CANCER, "--json", "--fit", "solver=lbfgs", "--fit", "tolerance=1e-8").done().json
    assert newton["fit"]["solver"] == "newton" and lbfgs["fit"]["solver"] == "lbfgs"
    assert newton["fit"]["objective"] == pytest.approx(lbfgs["fit"]["objective"], rel=1e-9)


def test_iterations_used_up_is_a_warning(melicit):
    words = ["train", "--data", CANCER, "--fit", "max-iterations=1", "--fit", "solver=newton"]
    got = melicit(*words).done()
    assert got.err.startswith("melicit: warning: ") and "--fit max-iterations" in got.err and got.err.count("\n") == 1
    assert "used up" in got.out
    told = melicit(*words, "--json").done()
    assert told.err == "" and told.json["fit"]["reason"] == "budget" and len(told.json["warnings"]) == 1
    assert melicit(*words, "--quiet").done().err == ""


def test_warm_start(melicit, mixed_csv):
    first = melicit("train", "--data", CANCER, "--json", "--out", "m.json").done().json
    again = melicit("train", "--data", CANCER, "--json", "--fit", "warm=m.json").done().json
    assert again["fit"]["iterations"] < first["fit"]["iterations"]
    assert again["fit"]["objective"] == pytest.approx(first["fit"]["objective"], rel=1e-12)
    melicit.write("t.csv", mixed_csv)
    melicit("train", "--data", "t.csv", "--label", "kind", "--fit", "warm=m.json").refused(3, "m.json", "--fit warm")
    melicit("train", "--data", CANCER, "--fit", "warm=none.json").refused(3, "none.json")


def test_warm_start_from_other_classes(melicit):
    def table(name, classes):
        rows = "".join(f"{i % 7},{(i * 5) % 11},{classes[i % len(classes)]}\n" for i in range(60))
        melicit.write(name, "a,b,label\n" + rows)

    table("two.csv", "no,yes".split(","))
    table("three.csv", "maybe,no,yes".split(","))
    table("other.csv", "no,oui".split(","))
    melicit("train", "--data", "two.csv", "--out", "m.json").done()
    melicit("train", "--data", "two.csv", "--fit", "warm=m.json").done()
    melicit("train", "--data", "three.csv", "--fit", "warm=m.json").refused(3, "m.json", "2 classes", "3", "--fit warm")
    melicit("train", "--data", "other.csv", "--fit", "warm=m.json").refused(3, "m.json", '"yes"', '"oui"', "--fit warm")
    melicit("train", "--data", "two.csv", "--positive", "no", "--fit", "warm=m.json").refused(3, "m.json", "--fit warm")


def test_model_on_standard_output(melicit):
    melicit("train", "--data", CANCER, "--out", "m.json").done()
    got = melicit("train", "--data", CANCER, "--out", "-").done()
    assert got.err == "" and got.out == (melicit.folder / "m.json").read_text()
    melicit("predict", "--model", "m.json", "--data", CANCER, "--out", "p.npy").done()
    melicit("predict", "--model", "-", "--data", CANCER, "--out", "q.npy", stdin=got.out).done()
    assert (melicit.folder / "p.npy").read_bytes() == (melicit.folder / "q.npy").read_bytes()


def test_penalty_shrinks_weights(melicit):
    losses = [
        melicit("train", "--data", CANCER, "--json", "--l2", l2).done().json["train"]["log_loss"]
        for l2 in ("0.01", "1", "100")
    ]
    assert losses == sorted(losses) and losses[0] < losses[2]


def test_how_a_file_was_read(melicit):
    """-v says what was found, warnings what may not be meant; --json and --quiet keep standard error clean."""
    rows = "".join(f"{i % 7},{i % 10};{'abc' if i == 15 else i * 13 % 40};{'yn'[i % 3 == 0]}\n" for i in range(40))
    melicit.write("t.csv", ("gr\u00f6\u00dfe;income;label\n" + rows).encode("cp1252"))
    how = "melicit: t.csv: Windows-1252, separator ';', decimal comma, header in row 1, 40 rows, 3 columns\n"
    odd = 't.csv: column income: 1 of 40 cells is not a number, first "abc" in row 17; treated as categories'
    words = ["train", "--data", "t.csv"]
    for flag in ("-v", "--verbose"):
        assert melicit(*words, flag).done().err == how + f"melicit: warning: {odd}\n"
    assert melicit(*words).done().err == f"melicit: warning: {odd}\n"
    assert melicit(*words, "--quiet").done().err == ""
    got = melicit(*words, "--json", "-v").done()
    assert got.err == "" and got.json["warnings"] == [odd]
    melicit(*words, "--read", "strict").refused(3, odd)
    melicit(*words, "--read", "column=income:text", "--read", "strict").done()


def test_headers_are_found(melicit):
    body = "".join(f"{i % 4},{(i * 5) % 7},{'yn'[(i * 3) % 5 < 2]}\n" for i in range(40))
    melicit.write("t.csv", body)
    assert melicit("train", "--data", "t.csv", "--label", "c3", "--json").done().json["rows"] == 40
    melicit.write("h.csv", "a,b,label\n" + body)
    assert melicit("train", "--data", "h.csv", "--json").done().json["rows"] == 40
    got = melicit("train", "--data", "h.csv", "--read", "header=no", "--label", "c3", "--test-share", "0", "--json").done().json
    assert got["rows"] == 41 and [c["name"] for c in got["classes"]] == ["label", "n", "y"]
    melicit("train", "--data", "h.csv", "--read", "header=maybe").refused(2, "--read header=maybe", "auto, yes, no")
    melicit("train", "--data", "h.csv", "--no-header").refused(2, "--no-header")


def test_reading_options(melicit):
    body = "".join(f"{i % 4};{(i * 5) % 7};{'yn'[(i * 3) % 5 < 2]}\n" for i in range(40))
    melicit.write("t.txt", body)
    words = ["train", "--data", "t.txt", "--read", "format=csv", "--read", "delimiter=;", "--read", "header=no", "--label", "c3", "--json"]
    assert melicit(*words).done().json["features"] == 2
    assert melicit(*words, "--read", "column=c1:text").done().json["features"] == 4 + 1
    assert melicit(*words, "--read", "column=c1:text", "--read", "column=c2:text").done().json["features"] == 4 + 7
    tabs = melicit.write("t.csv", "a\tb\tlabel\n" + body.replace(";", "\t"))
    assert melicit("train", "--data", tabs, "--read", "delimiter=tab", "--json").done().json["features"] == 2
    melicit(*words[:-1], "--read", "column=c9:text").refused(3, "t.txt", "c9")
    for limit in ("max-rows", "max-columns", "max-bytes"):
        got = melicit(*words, "--read", f"{limit}=2")
        assert got.code == 3 and got.json["error"]["code"] == "ELIMIT", got.out
    got = melicit(*words, "--read", "column=c1:text", "--read", "max-categories=2")
    assert got.code == 3 and got.json["error"]["code"] == "ELIMIT"


def test_standard_input(melicit, cancer_rows):
    packed = (DATA / f"{CANCER}.csv.gz").read_bytes()
    plain = gzip.decompress(packed)
    from_file = melicit("train", "--data", CANCER, "--json").done().json
    from_pipe = melicit("train", "--data", "-", "--json", stdin=plain).done().json
    assert {**from_pipe, "data": CANCER} == from_file
    melicit("train", "--data", CANCER, "--out", "m.json").done()
    melicit("predict", "--model", "m.json", "--data", CANCER, "--out", "f.npy").done()
    melicit("predict", "--model", "m.json", "--data", "-", "--out", "p.npy", stdin=plain).done()
    assert (melicit.folder / "f.npy").read_bytes() == (melicit.folder / "p.npy").read_bytes()


def test_npy_and_libsvm_tables(melicit):
    rng = numpy.random.Generator(numpy.random.PCG64(1))
    x = rng.normal(size=(80, 3)).round(3)
    y = (x[:, 0] + 0.3 * rng.normal(size=80) > 0).astype(float)
    numpy.save(melicit.folder / "t.npy", numpy.column_stack([x, y]))
    melicit.write("t.csv", "c1,c2,c3,c4\n" + "".join(",".join(map(repr, row)) + "\n" for row in numpy.column_stack([x, y]).tolist()))
    lines = [f"{int(y[i])} " + " ".join(f"{j + 1}:{x[i, j].item()!r}" for j in range(3)) for i in range(80)]
    melicit.write("t.svm", "\n".join(lines) + "\n")
    told = [
        melicit("train", "--data", name, "--label", label, "--json").done().json
        for name, label in (("t.csv", "c4"), ("t.npy", "c4"), ("t.svm", "label"))
    ]
    for other in told[1:]:
        assert other["features"] == 3 and other["rows"] == 80
    assert told[1]["train"]["log_loss"] == pytest.approx(told[0]["train"]["log_loss"], rel=1e-12)


# ---- files that are not there, results that cannot be stored ----


def test_missing_files(melicit):
    melicit("train", "--data", "nowhere.csv").refused(3, "nowhere.csv", "no such file")
    melicit("train", "--data", "some/where.csv").refused(3, "some/where.csv")
    melicit("predict", "--model", "nowhere.json", "--data", CANCER, "--out", "p.npy").refused(3, "nowhere.json")
    melicit("train", "--data", str(melicit.folder)).refused(3, str(melicit.folder))
    got = melicit("train", "--data", "nowhere.csv", "--json")
    assert got.code == 3 and got.json["error"]["code"] == "EDATA" and got.err == ""


def test_known_data_sets_say_where_they_come_from(melicit):
    for name in ("covtype_sample", "covtype_sample.csv.gz", "covtype_sample.csv"):
        melicit("train", "--data", name).refused(3, name, "MELICIT_DATA", "UCI")
    melicit("train", "--data", "covtype_samples").refused(3, "no such file")


def test_data_sets_are_found(melicit):
    folder = melicit.folder / "sets"
    folder.mkdir()
    plain = gzip.decompress((DATA / f"{CANCER}.csv.gz").read_bytes())
    (folder / "mine.csv").write_bytes(plain)
    env = {"MELICIT_DATA": str(folder)}
    for name in ("mine", "mine.csv"):
        assert melicit("train", "--data", name, "--json", env=env).done().json["rows"] == 699
    assert melicit("train", "--data", f"{CANCER}.csv.gz", "--json").done().json["rows"] == 699
    # The path as given comes first.
    melicit.write(f"{CANCER}.csv.gz", gzip.compress(plain[: plain.index(b"\n", 3000) + 1]))
    assert melicit("train", "--data", f"{CANCER}.csv.gz", "--json").done().json["rows"] < 699


@pytest.mark.parametrize("option", ["--label", "--group", "--weights", "--skip"])
def test_unknown_columns(melicit, option):
    melicit("train", "--data", CANCER, option, "labl").refused(3, CANCER, '"labl"', option, 'did you mean "label"')
    melicit("train", "--data", CANCER, option, "xylophone").refused(3, '"xylophone"', option, "label")


def test_results_that_cannot_be_stored(melicit):
    words = ["train", "--data", CANCER, "--out"]
    melicit(*words, "no/such/folder/m.json").refused(4, "no/such/folder/m.json")
    melicit(*words, ".").refused(4, "folder")
    melicit(*words, "m.json").done()
    words = ["predict", "--model", "m.json", "--data", CANCER, "--out"]
    melicit(*words, "no/such/folder/p.npy").refused(4, "no/such/folder/p.npy")
    got = melicit(*words, "no/such/folder/p.npy", "--json")
    assert got.code == 4 and got.json["error"]["code"] == "EIO"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_folder_without_permission(melicit):
    closed = melicit.folder / "closed"
    closed.mkdir(mode=0o555)
    melicit("train", "--data", CANCER, "--out", closed / "m.json").refused(4, "closed/m.json")


def test_full_device(melicit):
    """/dev/full takes no byte: as standard output and as a result file, which stays a device."""
    for line in (
        f"melicit train --data {CANCER} > /dev/full",
        f"melicit train --data {CANCER} --json > /dev/full",
        f"melicit train --data {CANCER} --out - > /dev/full",
        f"melicit train --data {CANCER} --out /dev/full",
        "melicit help > /dev/full",
        "melicit help --as man > /dev/full",
        "melicit train --help > /dev/full",
        "melicit --version --json > /dev/full",
    ):
        got = melicit.shell(line)
        assert got.code == 4, f"{line}: exit {got.code} {got.err}"
        assert "No space left on device" in got.err, line
    melicit("train", "--data", CANCER, "--out", "m.json").done()
    for more in ("--out - > /dev/full", "--out /dev/full --as npy", "--out /dev/full --as csv --decisions"):
        got = melicit.shell(f"melicit predict --model m.json --data {CANCER} {more}")
        assert got.code == 4 and "No space left on device" in got.err, more
    assert not os.path.isfile("/dev/full")
    melicit("train", "--data", CANCER, "--out", "/dev/null").done()
    assert not os.path.isfile("/dev/null")


def test_a_failure_leaves_the_old_result(melicit):
    melicit("train", "--data", CANCER, "--out", "m.json").done()
    melicit.write("p.npy", "precious")
    bad = melicit.write("bad.csv", "a,b\n1,2\n")
    melicit("predict", "--model", "m.json", "--data", bad, "--out", "p.npy").refused(3, "bad.csv")
    assert (melicit.folder / "p.npy").read_text() == "precious"
    assert sorted(path.name for path in melicit.folder.iterdir()) == ["bad.csv", "m.json", "p.npy"]


def test_results_are_readable_as_the_umask_says(melicit):
    melicit.shell(f"umask 022; melicit train --data {CANCER} --out m.json").done()
    melicit.shell(f"umask 022; melicit predict --model m.json --data {CANCER} --out p.npy").done()
    assert oct((melicit.folder / "p.npy").stat().st_mode & 0o777) == "0o644"


def test_reader_that_leaves_early(melicit):
    """`| head` is no failure worth a sentence."""
    melicit("train", "--data", CANCER, "--out", "m.json").done()
    rows = "".join(f"{i % 10},1,1,1,1,1,1,1,1,0\n" for i in range(30000))
    header = gzip.decompress((DATA / f"{CANCER}.csv.gz").read_bytes()).split(b"\n")[0].decode()
    names = [c for c in header.split(",") if not c.startswith("meta_")]
    melicit.write("many.csv", ",".join(names) + "\n" + rows)
    for line in ("melicit help --as man", "melicit predict --model m.json --data many.csv --out -"):
        got = melicit.shell(f"{line} | head -n 1; exit ${{PIPESTATUS[0]}}")
        assert got.err == "" and got.out.count("\n") == 1
    assert got.code == 4


# ---- predict ----


def test_round_trip_is_the_same_for_any_number_of_threads(melicit, mixed_csv):
    melicit.write("t.csv", mixed_csv)
    words = ["train", "--data", "t.csv", "--label", "kind", "--json"]
    outs = []
    for n in ("1", "2", "5"):
        told = melicit(*words, "--threads", n, "--out", "m.json").done().out
        melicit("predict", "--model", "m.json", "--data", "t.csv", "--threads", n, "--out", "p.npy").done()
        melicit("predict", "--model", "m.json", "--data", "t.csv", "--threads", n, "--out", "p.csv").done()
        outs.append([told, *((melicit.folder / f).read_bytes() for f in ("m.json", "p.npy", "p.csv"))])
    assert outs[0] == outs[1] == outs[2]


def test_seed_decides_the_split(melicit):
    def told(seed):
        return melicit("train", "--data", CANCER, "--json", "--seed", seed).done().out

    assert told(1) == melicit("train", "--data", CANCER, "--json").out
    assert told(1) != told(2)
    assert told(9000000000000000000) == told(9000000000000000000)


def test_probabilities(melicit, cancer_rows):
    melicit("train", "--data", CANCER, "--out", "m.json").done()
    got = melicit("predict", "--model", "m.json", "--data", CANCER, "--out", "p.npy").done()
    assert got.err == "" and "699 rows" in got.out and "16 missing cells" in got.out
    told = melicit("predict", "--model", "m.json", "--data", CANCER, "--out", "p.csv", "--json").done().json
    assert (told["rows"], told["classes"], told["imputed"], told["unseen"]) == (699, ["0", "1"], 16, 0)
    assert told["decisions"] is None and told["threshold"] is None
    p = melicit.load("p.npy")
    assert p.shape == (699, 2) and p.dtype == numpy.float64 and numpy.isfinite(p).all()
    assert numpy.abs(p.sum(axis=1) - 1).max() < 1e-12
    header, *rows = melicit.rows("p.csv")
    assert header == ["0", "1"] and numpy.array_equal(numpy.array(rows, float), p)
    printed = melicit("predict", "--model", "m.json", "--data", CANCER, "--out", "-").done()
    assert printed.out == (melicit.folder / "p.csv").read_text() and printed.err == ""
    labels = numpy.array([row[-1] == "1" for row in cancer_rows[1]])
    assert ((p[:, 1] > 0.5) == labels).mean() > 0.95


def test_decisions(melicit):
    melicit("train", "--data", CANCER, "--out", "m.json").done()
    words = ["predict", "--model", "m.json", "--data", CANCER]
    melicit(*words, "--out", "p.npy").done()
    p = melicit.load("p.npy")
    for more, want in (([], p.argmax(axis=1)), (["--threshold", "0.1"], (p[:, 1] >= 0.1).astype(int)),
                       (["--threshold", "0"], numpy.ones(699)), (["--threshold", "1"], (p[:, 1] >= 1).astype(int))):
        told = melicit(*words, "--decisions", "--out", "d.npy", *more, "--json").done().json
        d = melicit.load("d.npy")
        assert d.dtype == numpy.int64 and d.shape == (699,) and numpy.array_equal(d, want)
        assert told["decisions"] == [int((want == 0).sum()), int((want == 1).sum())]
        melicit(*words, "--decisions", "--out", "d.csv", *more).done()
        header, *rows = melicit.rows("d.csv")
        assert header == ["decision"] and [int(row[0]) for row in rows] == want.tolist()


def test_decisions_carry_class_names(melicit):
    names = ['plain', 'with "quotes"', 'with, comma']
    quoted = ['plain', '"with ""quotes"""', '"with, comma"']
    melicit.write("t.csv", "a,label\n" + "".join(f"{i % 3}.{i % 7},{quoted[i % 3]}\n" for i in range(60)))
    melicit("train", "--data", "t.csv", "--out", "m.json", "--test-share", "0").done()
    melicit("predict", "--model", "m.json", "--data", "t.csv", "--out", "d.csv", "--decisions").done()
    header, *rows = melicit.rows("d.csv")
    assert {row[0] for row in rows} == set(names)
    melicit("predict", "--model", "m.json", "--data", "t.csv", "--out", "p.csv").done()
    assert melicit.rows("p.csv")[0] == names
    melicit("predict", "--model", "m.json", "--data", "t.csv", "--out", "d.csv", "--decisions", "--threshold", "0.5").refused(2, "two classes")


def test_class_names_read_back_the_same(melicit):
    """What an unquoted cell would lose: blanks at the ends, and not being a missing value."""
    names = sorted([" left", "right ", "?", "NA", "plain"])
    melicit.write("t.csv", "a,label\n" + "".join(f'{i % 5}.{i % 7},"{names[i % 5]}"\n' for i in range(100)))
    told = melicit("train", "--data", "t.csv", "--out", "m.json", "--test-share", "0", "--json").done().json
    assert [c["name"] for c in told["classes"]] == names
    words = ["predict", "--model", "m.json", "--data", "t.csv", "--out"]
    melicit(*words, "p.csv").done()
    assert melicit.rows("p.csv")[0] == names
    header = (melicit.folder / "p.csv").read_text().splitlines()[0]
    assert header == ",".join(name if name == "plain" else f'"{name}"' for name in names)
    melicit(*words, "d.csv", "--decisions").done()
    lines = (melicit.folder / "d.csv").read_text().splitlines()[1:]
    assert set(lines) <= {name if name == "plain" else f'"{name}"' for name in names} and len(set(lines)) > 1


def test_names_of_probability_columns_must_be_classes(melicit):
    p = [0.1, 0.4, 0.35, 0.8, 0.2, 0.9]
    melicit.write("y.csv", "label\n" + "no\nno\nyes\nyes\nno\nyes\n")

    def space(header, swap=False):
        rows = "".join(f"{x!r},{1 - x!r}\n" if swap else f"{1 - x!r},{x!r}\n" for x in p)
        melicit.write("p.csv", header + "\n" + rows)
        return melicit("space", "--probs", "p.csv", "--labels", "y.csv", "--json")

    want = space("no,yes").done().json["vertices"]
    assert space("yes,no", swap=True).done().json["vertices"] == want
    for header in ("c1,c2", "good,bad", "no,bad", "yes,bad", "p0,yes"):
        space(header)
        first, second = header.split(",")
        melicit("space", "--probs", "p.csv", "--labels", "y.csv").refused(
            3, "p.csv", f'"{first}"', f'"{second}"', '"no"', '"yes"'
        )


def test_form_of_the_result(melicit):
    melicit("train", "--data", CANCER, "--out", "m.json").done()
    words = ["predict", "--model", "m.json", "--data", CANCER, "--out"]
    melicit(*words, "p.npy").done()
    melicit(*words, "p.dat", "--as", "npy").done()
    assert (melicit.folder / "p.npy").read_bytes() == (melicit.folder / "p.dat").read_bytes()
    piped = subprocess.run(
        [str(PROGRAM), *words, "-", "--as", "npy"], cwd=melicit.folder, env=environment(), capture_output=True, check=True
    )
    assert piped.stdout == (melicit.folder / "p.npy").read_bytes()


def test_order_of_columns_does_not_matter(melicit, cancer_rows):
    header, rows = cancer_rows
    melicit("train", "--data", CANCER, "--out", "m.json").done()
    melicit("predict", "--model", "m.json", "--data", CANCER, "--out", "p.npy").done()
    order = [i for i in reversed(range(len(header))) if header[i] != "label"]
    table = [[header[i] for i in order] + ["surplus"]] + [[row[i] for i in order] + ["word"] for row in rows]
    melicit.write("s.csv", "".join(",".join(row) + "\n" for row in table))
    melicit("predict", "--model", "m.json", "--data", "s.csv", "--out", "s.npy").done()
    assert (melicit.folder / "p.npy").read_bytes() == (melicit.folder / "s.npy").read_bytes()
    melicit.write("s.csv", "".join(",".join(row[1:]) + "\n" for row in table))
    melicit("predict", "--model", "m.json", "--data", "s.csv", "--out", "t.npy").refused(3, "s.csv", table[0][0])


def test_unseen_categories_are_counted(melicit, mixed_csv):
    melicit.write("t.csv", mixed_csv)
    melicit("train", "--data", "t.csv", "--label", "kind", "--skip", "score", "--skip", "weight", "--test-share", "0", "--out", "m.json").done()
    melicit.write("n.csv", "age,size,side,colour\n40,1,left,violet\n41,1,left,red\n42,1,up,pink\n")
    words = ["predict", "--model", "m.json", "--data", "n.csv", "--out", "p.npy"]
    got = melicit(*words).done()
    assert re.fullmatch(r"melicit: warning: 3 cells of n\.csv .*\n", got.err)
    told = melicit(*words, "--json").done()
    assert told.err == "" and told.json["unseen"] == 3 and len(told.json["warnings"]) == 1
    assert melicit(*words, "--quiet").done().err == ""
    melicit.write("n.csv", "age,size,side,colour\n40,1,left,violet\n41,1,left,red\n")
    assert re.fullmatch(r"melicit: warning: 1 cell of n\.csv .*\n", melicit(*words).done().err)


def test_text_columns_stay_text(melicit):
    """A column of texts in training is one in prediction too, even when all its cells look like numbers."""
    melicit.write("t.csv", "code,v,label\n" + "".join(f"{'12A'[i % 3]},{i % 5},{(i * 7) % 4 // 2}\n" for i in range(60)))
    melicit("train", "--data", "t.csv", "--out", "m.json").done()
    melicit.write("n.csv", "code,v\n1,0\n2,3\n")
    told = melicit("predict", "--model", "m.json", "--data", "n.csv", "--out", "n.npy", "--json").done().json
    assert told["unseen"] == 0
    melicit.write("a.csv", "code,v\n1,0\n2,3\nA,1\n")
    melicit("predict", "--model", "m.json", "--data", "a.csv", "--out", "a.npy").done()
    assert numpy.array_equal(melicit.load("n.npy"), melicit.load("a.npy")[:2])


def test_tables_without_the_text_columns_of_a_model(melicit):
    melicit.write("t.csv", "colour,c1,label\n" + "".join(f"{'rgb'[i % 3]},{'xy'[i % 2]},{(i * 7) % 4 // 2}\n" for i in range(60)))
    melicit("train", "--data", "t.csv", "--out", "m.json").done()
    numpy.save(melicit.folder / "n.npy", numpy.zeros((4, 2)))
    shutil.copy(melicit.folder / "n.npy", melicit.folder / "n.dat")
    melicit.write("n.svm", "0 1:1\n1 2:1\n")
    melicit.write("n.csv", "c1\nx\n")

    def predict(data, *more):
        return melicit("predict", "--model", "m.json", "--data", data, "--out", "p.npy", *more)

    for data in ("n.npy", "n.dat", "n.csv"):
        got = predict(data).refused(3, f'{data}: there is no column "colour"')
        assert got.err.endswith('"colour"; there are c1\n' if data == "n.csv" else '"colour"; there are c1, c2\n')
    predict("n.dat", "--read", "format=npy").refused(3, 'there is no column "colour"')
    predict("n.svm").refused(3, "n.svm: numbered features where training had named columns")
    predict("n.npy", "--read", "column=c1:text").refused(2, "CSV only")


def test_unseen_features_of_libsvm(melicit):
    melicit.write("t.svm", "".join(f"{i % 2} 1:{i % 5} 2:{(i * 3) % 7}\n" for i in range(60)))
    melicit("train", "--data", "t.svm", "--label", "label", "--out", "m.json").done()
    melicit.write("n.svm", "0 1:1 7:2\n1 2:1\n")
    got = melicit("predict", "--model", "m.json", "--data", "n.svm", "--out", "p.npy").done()
    assert "1 cell of n.svm holds a feature that the training rows did not have" in got.err
    assert "category" not in got.err


def test_number_columns_may_be_missing_altogether(melicit, cancer_rows):
    melicit("train", "--data", CANCER, "--out", "m.json").done()
    names = [c for c in cancer_rows[0] if c != "label" and not c.startswith("meta_")]
    melicit.write("n.csv", ",".join(names) + "\n" + ",".join("?" for _ in names) + "\n")
    told = melicit("predict", "--model", "m.json", "--data", "n.csv", "--out", "n.npy", "--json").done().json
    assert told["imputed"] == len(names)


def test_many_rows(melicit, cancer_rows):
    """A packed file of many rows: each row's result is its own."""
    header, rows = cancer_rows
    melicit("train", "--data", CANCER, "--out", "m.json").done()
    melicit("predict", "--model", "m.json", "--data", CANCER, "--out", "p.npy").done()
    body = "".join(",".join(row) + "\n" for row in rows)
    times = 200
    melicit.write("big.csv.gz", gzip.compress((",".join(header) + "\n" + times * body).encode(), 1))
    melicit("predict", "--model", "m.json", "--data", "big.csv.gz", "--out", "b.npy").done()
    assert numpy.array_equal(melicit.load("b.npy"), numpy.tile(melicit.load("p.npy"), (times, 1)))


# ---- standard output and standard error ----


@pytest.mark.parametrize("more", [[], ["--quiet"], ["--json"], ["--json", "--quiet"]])
def test_silence_on_standard_error(melicit, more):
    for words in (
        ["train", "--data", CANCER, "--out", "m.json"],
        ["predict", "--model", "m.json", "--data", CANCER, "--out", "p.npy"],
        ["--version"],
        ["help"],
    ):
        got = melicit(*words, *more).done()
        assert got.err == ""
        if "--json" in more:
            assert got.json
            assert got.out.startswith("{") and got.out.endswith("}\n")


def test_text_of_files_cannot_reach_the_terminal_raw(melicit):
    """Control characters and broken UTF-8 in names do not come out as they are."""
    melicit.write("t.csv", "a,label\n" + "".join(f"{i % 4},{['bad', 'esc'][i % 2]}\n" for i in range(40)))
    got = melicit("train", "--data", "t.csv", "--label", "no\033[31mne")
    assert got.code == 3 and "\033" not in got.err
    raw = subprocess.run(
        [str(PROGRAM), "train", "--data", b"\xff\xfe.csv", "--json"], cwd=melicit.folder, env=environment(), capture_output=True
    )
    assert raw.returncode == 3 and json.loads(raw.stdout)["error"]["code"] == "EDATA"


class Terminal:
    """A program on a terminal of its own: what it shows, and keys to it."""

    def __init__(self, words, folder, env=None, stdout=None):
        master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 100, 0, 0))
        self.master, self.shown = master, b""

        def own_terminal():
            os.setsid()
            fcntl.ioctl(slave, termios.TIOCSCTTY, 0)

        self.process = subprocess.Popen(
            words, cwd=folder, stdin=slave, stdout=stdout if stdout is not None else slave, stderr=slave,
            env=environment(TERM="xterm", **(env or {})), preexec_fn=own_terminal,
        )
        os.close(slave)

    def pump(self, seconds):
        if select.select([self.master], [], [], seconds)[0]:
            try:
                block = os.read(self.master, 65536)
            except OSError:  # the other side is closed
                return False
            self.shown += block
            return bool(block)
        return True

    def wait_for(self, part, seconds=300):
        end = time.monotonic() + seconds
        while part not in self.shown:
            assert time.monotonic() < end, f"{part!r} does not appear in {self.shown!r}"
            assert self.pump(0.2) or part in self.shown, f"it ended with {self.shown!r}"

    def type(self, keys):
        os.write(self.master, keys)

    def finish(self, seconds=300):
        end = time.monotonic() + seconds
        while self.pump(0.2) and time.monotonic() < end:
            pass
        code = self.process.wait(timeout=seconds)
        os.close(self.master)
        return code


def endless_fit(melicit, rows=30000):
    """Columns that are nearly copies of each other: a fit of a thousand steps and more unless it is stopped."""
    rng = numpy.random.Generator(numpy.random.PCG64(2))
    x = rng.normal(size=(rows, 1)) + 1e-3 * rng.normal(size=(rows, 20))
    y = (1000 * (x[:, :8] - x[:, 8:16]) + rng.normal(size=(rows, 8))).argmax(axis=1)
    lines = [",".join(f"x{j}" for j in range(20)) + ",label"]
    lines += [",".join(f"{v:.7f}" for v in row) + f",{label}" for row, label in zip(x.tolist(), y.tolist())]
    melicit.write("t.csv", "\n".join(lines) + "\n")
    return ["train", "--data", "t.csv", "--fit", "solver=lbfgs", "--fit", "tolerance=1e-300", "--l2", "0", "--fit", "max-iterations=1000000"]


def test_bar_on_a_terminal(melicit):
    words = [str(PROGRAM), "train", "--data", CANCER]
    screen = Terminal(words, melicit.folder)
    assert screen.finish() == 0
    assert re.search(rb"\r\x1b\[K\S.* \[[#.]{30}\] +\d+ %", screen.shown)
    # The bar is wiped before the result is printed, and headings are bold.
    after = screen.shown[screen.shown.rindex(b"\r\x1b[K"):]
    assert b"%" not in after.split(b"The data")[0] and b"\x1b[1mThe data\x1b[0m" in after
    for more, env in ((["--quiet"], {}), ([], {"NO_COLOR": "1"})):
        screen = Terminal(words + more, melicit.folder, env=env)
        assert screen.finish() == 0
        assert (b"\x1b[K" in screen.shown) == (not more)
        assert (b"\x1b[1m" in screen.shown) == ("NO_COLOR" not in env)


def test_bar_does_not_touch_json(melicit):
    with open(melicit.folder / "out.json", "wb") as file:
        screen = Terminal([str(PROGRAM), "train", "--data", CANCER, "--json"], melicit.folder, stdout=file)
        assert screen.finish() == 0
    assert b"%" in screen.shown
    assert json.loads((melicit.folder / "out.json").read_text())["rows"] == 699


def test_control_c_stops_the_fit(melicit):
    words = endless_fit(melicit)
    screen = Terminal([str(PROGRAM), *words, "--out", "m.json"], melicit.folder)
    screen.wait_for(b"fit")
    screen.type(b"\x03")
    assert screen.finish() == 5
    assert b"melicit train: stopped" in screen.shown
    assert not (melicit.folder / "m.json").exists()


def wait_until_caught(process):
    """Until the process handles SIGINT itself."""
    end = time.monotonic() + 300
    while time.monotonic() < end:
        with open(f"/proc/{process.pid}/status") as status:
            caught = int(re.search(r"SigCgt:\s*([0-9a-f]+)", status.read()).group(1), 16)
        if caught & (1 << (signal.SIGINT - 1)):
            return
        time.sleep(0.01)
    raise AssertionError("SIGINT is not handled")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("more", [[], ["--json"]])
def test_signals_while_waiting_for_input(melicit, number, more):
    process = subprocess.Popen(
        [str(PROGRAM), "train", "--data", "-", *more], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, env=environment(), cwd=melicit.folder,
    )
    wait_until_caught(process)
    process.send_signal(number)
    assert process.wait(timeout=600) == 5
    out, err = process.stdout.read().decode(), process.stderr.read().decode()
    process.stdin.close(), process.stdout.close(), process.stderr.close()
    if more:
        assert json.loads(out)["error"]["code"] == "ESTOPPED" and err == ""
    else:
        assert out == "" and "stopped" in err


def test_ignored_signals_stay_ignored(melicit):
    got = melicit.shell(
        f"trap '' INT; zcat {DATA / (CANCER + '.csv.gz')} | (sleep 0.5; cat) | melicit train --data - --json & "
        "sleep 0.2; kill -INT $!; wait $!"
    )
    assert got.code == 0 and got.json["rows"] == 699
