"""Plots and pages through a real XML parser: what the unit tests' samples look like to other programs."""

import os
import pathlib
import re
import subprocess
import xml.etree.ElementTree as ET

import pytest

pytestmark = pytest.mark.plain("about files of the project")

BUILD = pathlib.Path(os.environ.get("MELICIT_BUILD", "build"))
SVG = "{http://www.w3.org/2000/svg}"
HTML = "{http://www.w3.org/1999/xhtml}"
NUMBER = r"-?\d+(?:\.\d{1,2})?"
VOID = {"meta"}


@pytest.fixture(scope="module")
def samples(tmp_path_factory):
    folder = tmp_path_factory.mktemp("samples")
    subprocess.run([BUILD / "test_report", "--write", folder], check=True)
    found = {path.name: ET.fromstring(path.read_bytes()) for path in folder.iterdir()}
    assert len(found) == 13
    return found


def pictures(samples):
    for name, root in samples.items():
        for picture in root.iter(SVG + "svg"):
            yield name, picture


def test_coordinates_are_short_finite_numbers(samples):
    numeric = {"x", "y", "width", "height", "cx", "cy", "r"}
    for name, picture in pictures(samples):
        box = [float(x) for x in picture.get("viewBox").split()]
        assert len(box) == 4 and box[2] > 100 and box[3] > 100, name
        for element in picture.iter():
            for key, value in element.attrib.items():
                if key in numeric:
                    assert re.fullmatch(NUMBER, value), (name, key, value)
            if "d" in element.attrib and element.get("class") != "hatch":
                rest = re.sub(rf"[MLZmhvz]|{NUMBER}|\.\d+|[ ]", "", element.get("d"))
                assert rest == "", (name, rest)


def test_what_is_drawn_is_inside_the_picture(samples):
    for name, picture in pictures(samples):
        _, _, width, height = (float(x) for x in picture.get("viewBox").split())
        for text in picture.iter(SVG + "text"):
            assert 0 <= float(text.get("x")) <= width and 0 <= float(text.get("y")) <= height, (name, text.text)
        for path in picture.iter(SVG + "path"):
            if path.get("clip-path") is None and path.get("class") != "hatch":
                for x, y in re.findall(rf"[ML]({NUMBER}) ({NUMBER})", path.get("d")):
                    assert -1 <= float(x) <= width + 1 and -1 <= float(y) <= height + 1, (name, path.attrib)


def test_pictures_can_be_read_out(samples):
    for name, picture in pictures(samples):
        ids = {e.get("id"): e for e in picture.iter() if e.get("id")}
        assert picture.get("role") == "img"
        for reference in picture.get("aria-labelledby").split():
            assert ids[reference].text, (name, reference)
        assert ids[picture.get("aria-labelledby").split()[1]].text.strip().endswith("."), name


def test_ids_are_unique_and_references_resolve(samples):
    for name, root in samples.items():
        ids = [e.get("id") for e in root.iter() if e.get("id")]
        assert len(ids) == len(set(ids)), name
        for element in root.iter():
            for value in element.attrib.values():
                for reference in re.findall(r"url\(#([^)]+)\)", value):
                    assert reference in ids, (name, reference)
            for reference in (element.get("aria-labelledby") or "").split():
                assert reference in ids, (name, reference)


def test_every_class_has_a_style(samples):
    for name, root in samples.items():
        css = " ".join(e.text for e in root.iter() if e.tag in (SVG + "style", HTML + "style"))
        for element in root.iter():
            for word in (element.get("class") or "").split():
                if element.tag.startswith(SVG) and word not in ("key", "title"):
                    assert re.search(rf"\.{word}\b", css), (name, word)


@pytest.mark.parametrize("page", ["full.html", "bare.html"])
def test_pages_stand_alone(samples, page):
    root = samples[page]
    assert root.get("lang") == "en"
    for element in root.iter():
        tag = element.tag.split("}")[1]
        assert tag not in ("script", "link", "img", "iframe", "object", "form"), tag
        for key, value in element.attrib.items():
            assert not key.startswith("on"), key
            assert key not in ("src", "href"), (key, value)
            assert "url(" not in value or value.startswith("url(#"), value
        if tag == "style":
            assert "url(" not in element.text and "@import" not in element.text


@pytest.mark.parametrize("page", ["full.html", "bare.html"])
def test_headings_and_tables(samples, page):
    root = samples[page]
    levels = [int(e.tag[-1]) for e in root.iter() if re.fullmatch(re.escape(HTML) + r"h[1-6]", e.tag)]
    assert levels[0] == 1 and levels.count(1) == 1 and set(levels[1:]) == {2}
    for table in root.iter(HTML + "table"):
        assert "".join(table.find(HTML + "caption").itertext()).strip()
        assert all(th.get("scope") for th in table.iter(HTML + "th"))
        head = table.find(HTML + "thead")
        first = head.find(HTML + "tr")
        columns = sum(int(cell.get("colspan", 1)) for cell in first)
        for row in table.find(HTML + "tbody"):
            assert sum(int(cell.get("colspan", 1)) for cell in row) == columns


@pytest.mark.parametrize("page", ["full.html", "bare.html"])
def test_html_and_xml_readers_see_the_same(samples, page, tmp_path):
    """No element is closed in a way that only XML understands."""
    subprocess.run([BUILD / "test_report", "--write", tmp_path], check=True)
    text = (tmp_path / page).read_text()
    body = re.sub(r"<svg.*?</svg>", "", text, flags=re.S)
    for tag in re.findall(r"<(\w+)[^>]*/>", body):
        assert tag in VOID, tag
