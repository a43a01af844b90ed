"""Unpacks the one wheel of a folder into its folder `site`, which then is where Python finds the package."""
import sys
import zipfile
from pathlib import Path

folder = Path(sys.argv[1])
(wheel,) = folder.glob("*.whl")
with zipfile.ZipFile(wheel) as packed:
    for member in packed.infolist():
        Path(packed.extract(member, folder / "site")).chmod(member.external_attr >> 16)  # zipfile forgets who may run what
