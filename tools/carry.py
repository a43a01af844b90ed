"""Puts the libraries that programs of this build need beside them, so that they run where nothing is installed: every
library but those of glibc and GCC's unwinder is copied under a name of its own, found by relative paths (patchelf), with
its licence.

usage: tools/carry.py wheel WHEEL FOLDER       the wheel as a stand-alone one, tagged by the glibc that it needs
       tools/carry.py bundle FOLDER            a folder with bin/ and lib/, in place; prints the glibc that it needs"""
import base64
import hashlib
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent
# What every Linux system has: these must be the system's own.
SYSTEM = re.compile(r"^(ld-linux.*|lib(c|m|dl|rt|pthread|util|resolv|gcc_s))\.so\.\d+$")


LARGE = 250_000  # bytes of a data set that a wheel is too small for


def run(*command) -> str:
    return subprocess.run([str(part) for part in command], check=True, capture_output=True, text=True).stdout


def needed(path: Path) -> list:
    return re.findall(r"\(NEEDED\).*\[(.*)\]", run("readelf", "-d", "-W", path))


def found_at(path: Path) -> dict:
    """Where the loader finds the libraries of an object here."""
    said = run("ldd", path)
    missing = re.findall(r"^\s*(\S+) => not found", said, re.M)
    if missing:
        sys.exit(f"carry: {path.name} needs {', '.join(missing)}, which the loader does not find here")
    return {name: Path(at).resolve() for name, at in re.findall(r"^\s*(\S+) => (/\S+)", said, re.M)}


def glibc(path: Path) -> tuple:
    """The newest version of glibc whose symbols an object uses."""
    versions = re.findall(r"GLIBC_(\d+)\.(\d+)", run("readelf", "-V", "-W", path))
    return max((int(major), int(minor)) for major, minor in versions) if versions else (2, 0)


def licence_of(library: Path, into: Path) -> None:
    """What Debian says about the library's copyright."""
    for at in (library, Path(str(library).removeprefix("/usr"))):  # packages may name the former place of merged folders
        done = subprocess.run(["dpkg-query", "-S", str(at)], capture_output=True, text=True)
        if done.returncode == 0:
            package = done.stdout.split(":")[0]
            text = Path(f"/usr/share/doc/{package}/copyright").read_text()
            (into / f"{package}.txt").write_text(text)
            for whole in re.findall(r"/usr/share/common-licenses/([A-Za-z]+-[0-9.]*[0-9])", text):
                if Path("/usr/share/common-licenses", whole).exists():
                    shutil.copyfile(Path("/usr/share/common-licenses", whole), into / f"{whole}.txt")
            return
    sys.exit(f"carry: no package of Debian has {library}, so its licence is not known")


def carry(objects: list, libraries: Path, licences: Path) -> tuple:
    """Copies what the objects need to the folder `libraries`; the glibc that all of it needs."""
    libraries.mkdir(parents=True, exist_ok=True)
    licences.mkdir(parents=True, exist_ok=True)
    own = {path.name for path in objects}
    run("strip", "--strip-unneeded", *objects)  # lines for backtraces are half of them
    copies, waiting = {}, list(objects)
    while waiting:
        at = found_at(waiting.pop())
        for name, place in at.items():
            if SYSTEM.match(name) or name in own or name in copies:
                continue
            # A name of its own: another library of this name may be in the same process.
            stem, dot, rest = name.partition(".so")
            mark = hashlib.sha256(place.read_bytes()).hexdigest()[:8]
            copies[name] = libraries / f"{stem}-{mark}{dot}{rest}"
            shutil.copyfile(place, copies[name])
            copies[name].chmod(0o755)
            licence_of(place, licences)
            waiting.append(place)
    for name, path in copies.items():
        run("patchelf", "--set-soname", path.name, path)
    for path in [*objects, *copies.values()]:
        uses = [name for name in needed(path) if name in copies]
        renamed = [part for name in uses for part in ("--replace-needed", name, copies[name].name)]
        places = [libraries] + ([path.parent] if any(name in own for name in needed(path)) else [])
        origins = ["$ORIGIN" + relative(path.parent, place) for place in dict.fromkeys(places)]
        if renamed:
            run("patchelf", *renamed, path)
        run("patchelf", "--set-rpath", ":".join(origins), path)
    inside = own | {path.name for path in copies.values()}
    for path in [*objects, *copies.values()]:
        outside = [name for name in needed(path) if name not in inside and not SYSTEM.match(name)]
        if outside:
            sys.exit(f"carry: {path.name} still needs {', '.join(outside)} of the system")
    return max(glibc(path) for path in [*objects, *copies.values()])


def relative(start: Path, end: Path) -> str:
    up, down = start.resolve().parts, end.resolve().parts
    same = next((i for i, (a, b) in enumerate(zip(up, down)) if a != b), min(len(up), len(down)))
    steps = [".."] * (len(up) - same) + list(down[same:])
    return "".join("/" + step for step in steps)


def record(path: Path, name: str) -> str:
    data = path.read_bytes()
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    return f"{name},sha256={digest},{len(data)}"


def wheel(given: Path, folder: Path) -> Path:
    with tempfile.TemporaryDirectory() as temporary:
        tree = Path(temporary)
        with zipfile.ZipFile(given) as packed:
            for member in packed.infolist():
                Path(packed.extract(member, tree)).chmod(member.external_attr >> 16)  # zipfile forgets who may run what
        (about,) = tree.glob("*.dist-info")
        large = [path.name for path in (SOURCE / "data").iterdir() if path.stat().st_size > LARGE]
        shutil.copytree(SOURCE / "data", tree / "melicit" / "share" / "melicit", ignore=lambda _, names: set(large) & set(names))
        objects = [path for path in (tree / "melicit").rglob("*") if path.is_file() and path.read_bytes()[:4] == b"\x7fELF"]
        newest = carry(objects, tree / "melicit.libs", about / "licenses")
        old, tag = "linux_" + platform.machine(), "manylinux_%d_%d_" % newest + platform.machine()
        (about / "WHEEL").write_text((about / "WHEEL").read_text().replace(old, tag))
        files = sorted(path for path in tree.rglob("*") if path.is_file() and path.name != "RECORD")
        lines = [record(path, str(path.relative_to(tree))) for path in files]
        (about / "RECORD").write_text("\n".join(lines + [f"{about.name}/RECORD,,"]) + "\n")
        folder.mkdir(parents=True, exist_ok=True)
        out = folder / given.name.replace(old, tag)
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as packed:
            for path in [*files, about / "RECORD"]:
                packed.write(path, path.relative_to(tree))
    return out


def bundle(folder: Path) -> tuple:
    library = next((folder / "lib").glob("libmelicit.so.?.*"))
    return carry([folder / "bin" / "melicit", library], folder / "lib", folder / "licences")


if __name__ == "__main__":
    if sys.argv[1:2] == ["wheel"] and len(sys.argv) == 4:
        print(wheel(Path(sys.argv[2]), Path(sys.argv[3])))
    elif sys.argv[1:2] == ["bundle"] and len(sys.argv) == 3:
        print("%d.%d" % bundle(Path(sys.argv[2])))
    else:
        sys.exit(__doc__)
