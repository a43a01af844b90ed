"""Unpacks the one wheel of a folder into its folder `site`, which then is where Python finds the package."""
import sys
import zipfile
from pathlib import Path

folder = Path(sys.argv[1])
(wheel,) = folder.glob("*.whl")
zipfile.ZipFile(wheel).extractall(folder / "site")
