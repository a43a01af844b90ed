"""make install, as somebody who embeds the library meets it: headers, pkg-config, the example of docs/api.md; and the
README's commands."""
import os
import re
import subprocess

import pytest
from conftest import BUILD, SOURCE, environment

pytestmark = pytest.mark.plain("the installed library is the release build")


@pytest.fixture(scope="module")
def prefix(tmp_path_factory):
    where = tmp_path_factory.mktemp("prefix")
    subprocess.run(["cmake", "--install", str(BUILD), "--prefix", str(where)], check=True, capture_output=True)
    return where


def fenced(path, language):
    return re.findall(rf"```{language}\n(.*?)```", path.read_text(), re.S)


@pytest.mark.parametrize("compiler, standard", [("gcc", "c11"), ("g++", "c++17")])
def test_example_of_the_guide(prefix, tmp_path, compiler, standard):
    (example,) = fenced(SOURCE / "docs" / "api.md", "c")
    source = tmp_path / ("example.c" if compiler == "gcc" else "example.cpp")
    source.write_text(example)
    libraries = [path.parent for path in prefix.rglob("libmelicit.so")]
    assert len(libraries) == 1
    env = environment(PKG_CONFIG_PATH=str(libraries[0] / "pkgconfig"), LD_LIBRARY_PATH=str(libraries[0]))
    flags = subprocess.run(["pkg-config", "--cflags", "--libs", "melicit"], env=env, check=True, capture_output=True,
                           text=True).stdout.split()
    subprocess.run([compiler, f"-std={standard}", "-Wall", "-Wextra", "-Werror", str(source), "-o", str(tmp_path / "example"),
                    *flags], env=env, check=True)
    out = subprocess.run([str(tmp_path / "example")], env=env, check=True, capture_output=True, text=True).stdout
    ratio = float(re.search(r"as much as ([0-9.]+) false", out).group(1))
    assert 2.7 <= ratio <= 3.3, out


def test_cmake_finds_the_library(prefix, tmp_path):
    (example,) = fenced(SOURCE / "docs" / "api.md", "c")
    (tmp_path / "example.c").write_text(example)
    (tmp_path / "CMakeLists.txt").write_text("cmake_minimum_required(VERSION 3.25)\nproject(example C)\n"
                                             "find_package(melicit 0.3 REQUIRED)\nadd_executable(example example.c)\n"
                                             "target_link_libraries(example PRIVATE melicit::melicit)\n")
    for command in (["cmake", "-S", ".", "-B", "b", f"-DCMAKE_PREFIX_PATH={prefix}"], ["cmake", "--build", "b"], ["b/example"]):
        subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, env=environment())


def test_installed_program(prefix, tmp_path):
    got = subprocess.run([str(prefix / "bin" / "melicit"), "train", "--data", "breast_cancer_original", "--json"], cwd=tmp_path,
                         env=environment(), capture_output=True, text=True)
    assert got.returncode == 0, got.stdout
    assert list(prefix.rglob("melicit.1")) and list(prefix.rglob("completions/melicit"))


def test_commands_of_the_readme(tmp_path):
    text = (SOURCE / "README.md").read_text()
    tour = text[text.index("## Three minutes at the command line"):text.index("## Where to go next")]
    block = "\n".join(line[4:] for line in tour.splitlines() if line.startswith("    "))
    commands = block.replace("\\\n", " ").splitlines()
    assert len(commands) >= 8
    os.symlink(BUILD, tmp_path / "build")
    for command in commands:
        got = subprocess.run(["bash", "-c", command], cwd=tmp_path, env=environment(), stdin=subprocess.DEVNULL,
                             capture_output=True, text=True, timeout=120)
        asks = " elicit " in command and "--oracle" not in command
        assert got.returncode == (5 if asks else 0), f"{command}\n{got.stdout}{got.stderr}"
