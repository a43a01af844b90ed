"""A PostgreSQL server of one's own, in a folder of its own, reached by a socket there."""
import glob
import os
import shutil
import subprocess
import tempfile

TOOLS = sorted(glob.glob("/usr/lib/postgresql/*/bin"))


class Postgres:
    """Running from the beginning; initdb and the server refuse to run as root."""

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="melicit-pg-")
        self.other = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
        if self.other:
            shutil.chown(self.folder, "postgres", "postgres")
        self.tool("initdb", "-A", "trust", "-U", "melicit", "-D", f"{self.folder}/data")
        self.start()

    def tool(self, name, *words):
        subprocess.run([*self.other, f"{TOOLS[-1]}/{name}", *words], check=True, stdout=subprocess.DEVNULL, cwd="/")

    def url(self, database="postgres"):
        return f"postgres://melicit@/{database}?host={self.folder}"

    def start(self):
        self.tool("pg_ctl", "-D", f"{self.folder}/data", "-o", f"-k {self.folder} -h ''", "-l", f"{self.folder}/log", "-w", "start")

    def halt(self, how="immediate"):
        self.tool("pg_ctl", "-D", f"{self.folder}/data", "-m", how, "-w", "stop")

    def remove(self):
        self.halt()
        shutil.rmtree(self.folder)
