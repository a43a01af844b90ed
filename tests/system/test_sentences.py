"""What pages and documents say is true: sentences of the report against its session, and sentences that were withdrawn."""
import json
import pathlib
import re

import numpy
import pytest

SOURCE = pathlib.Path(__file__).resolve().parents[2]
# Often untrue when every number was computed again in simulated sessions.
WITHDRAWN = ("makes no difference how far", "would settle (it|all of it)", "would not have helped", "expect between", "answers vary by",
             "differ as much as possible", "halve what is still plausible", "hold on the rows at hand")


def test_withdrawn_sentences_are_nowhere():
    files = [path for folder in ("src", "cli", "server", "web/src", "web/dist", "python", "docs", "studies", "include")
             for path in sorted((SOURCE / folder).rglob("*")) if path.suffix in (".c", ".h", ".ts", ".tsx", ".js", ".py", ".md", ".json")]
    assert len(files) > 500
    for path in files:
        # As the sentence reads, however it is broken into lines of source.
        text = re.sub(r'"\s*\n\s*"', "", path.read_text(errors="replace"))
        found = re.search("|".join(WITHDRAWN), re.sub(r"\s+", " ", text))
        assert found is None, f"{path}: {found}"


def achievable(points, space):
    """Not above the best decisions, up to whole people of a thousand."""
    corners = numpy.array(space["vertices"])
    best = corners[corners[:, 0] / space["positives"] + corners[:, 1] / space["negatives"] >= 1]
    best = best[numpy.argsort(best[:, 0])]
    return bool((points[:, 1] <= numpy.interp(points[:, 0], *best.T) + 2e-3).all())


@pytest.mark.parametrize("questions", ["realistic", "far", "imagined"])
def test_the_method_in_the_report_is_that_of_the_session(melicit, questions):
    """Ways of deciding "that can really be achieved on these data" are; where questions are about an imagined test nobody says so."""
    space = ("--population", "logistic:a=3,b=0.7")
    melicit("elicit", *space, "--questions", questions, "--session", "s.jsonl", "--report", "r.html", stdin="a\nb\nb\na\n" * 5).done()
    page = " ".join((melicit.folder / "r.html").read_text().split())
    method = page[page.index("The method in three sentences"):]
    assert ("can really be achieved on these data" in method) == (questions != "imagined")
    assert "one whose answer promised to tell much about what is still plausible" in method
    pairs = [json.loads(line) for line in (melicit.folder / "s.jsonl").read_text().splitlines()[1:]]
    points = numpy.array([line[side] for line in pairs for side in "ab"])
    assert achievable(points, melicit("space", *space, "--json").done().json) == (questions != "imagined")
