"""Several servers on one database, as docs/deployment.md sets them up: PostgreSQL, pgbouncer, melicit serve, haproxy, with the files of
deploy/ but for ports, paths and TLS."""
import pathlib
import shutil
import socket
import subprocess
import time

from postgres import TOOLS, Postgres

SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent
PROXIES = [shutil.which(name, path="/usr/sbin:/usr/bin") for name in ("haproxy", "pgbouncer")]


def free_ports(n):
    sockets = [socket.socket() for _ in range(n)]
    for s in sockets:
        s.bind(("127.0.0.1", 0))
    ports = [s.getsockname()[1] for s in sockets]
    for s in sockets:
        s.close()
    return ports


def replaced(path, pairs):
    """The text of a file of deploy/ with other ports and paths; each must be there."""
    text = (SOURCE / "deploy" / path).read_text()
    for old, new in pairs:
        assert old in text, (path, old)
        text = text.replace(old, str(new))
    return text


def wait_for(port, seconds=300):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            time.sleep(0.05)
    raise AssertionError(f"nothing listens on port {port}")


class Database(Postgres):
    """PostgreSQL, and pgbouncer in front of it, which does not run as root either."""

    def __init__(self):
        super().__init__()
        self.tool("createdb", "-U", "melicit", "-h", self.folder, "melicit")
        self.port, = free_ports(1)
        settings = pathlib.Path(self.folder, "pgbouncer.ini")
        settings.write_text(replaced("pgbouncer.ini", (
            ("host=/var/run/postgresql", f"host={self.folder}"), ("listen_port = 6432", f"listen_port = {self.port}\nunix_socket_dir ="),
            ("scram-sha-256\nauth_file = /etc/pgbouncer/userlist.txt", f"trust\nauth_file = {self.folder}/users"),
            ("/var/log/postgresql/pgbouncer.log", f"{self.folder}/pgbouncer.log"),
            ("/var/run/postgresql/pgbouncer.pid", f"{self.folder}/pgbouncer.pid"))))
        pathlib.Path(self.folder, "users").write_text('"melicit" ""\n')
        other = ["-u", "postgres"] if self.other else []
        self.pooler = subprocess.Popen([PROXIES[1], "-q", *other, str(settings)], cwd="/", stderr=subprocess.DEVNULL)
        wait_for(self.port)
        self.direct = self.url("melicit")
        self.pooled = f"postgres://melicit@127.0.0.1:{self.port}/melicit"

    def restart(self, how="fast"):
        self.halt(how)
        self.start()

    def ask(self, text):
        """The rows that a statement gives, as lists of texts."""
        told = subprocess.run([f"{TOOLS[-1]}/psql", "-X", "-A", "-t", "-F", "\t", "-c", text, self.direct], check=True, capture_output=True, text=True)
        return [line.split("\t") for line in told.stdout.splitlines()]

    def stop(self):
        self.pooler.terminate()
        self.pooler.wait(600)
        self.remove()


class Proxy:
    """haproxy before these servers' ports."""

    def __init__(self, folder, ports):
        self.port, = free_ports(1)
        lines = replaced("haproxy.cfg", ((":443 ssl crt /etc/haproxy/study.example.org.pem alpn http/1.1", f"127.0.0.1:{self.port}"),)).splitlines()
        lines = [line for line in lines if not line.lstrip().startswith("server ")]
        lines += [f"    server s{i} 127.0.0.1:{port}" for i, port in enumerate(ports)]
        settings = pathlib.Path(folder, "haproxy.cfg")
        settings.write_text("\n".join(lines) + "\n")
        self.process = subprocess.Popen([PROXIES[0], "-q", "-db", "-f", str(settings)])
        wait_for(self.port)

    def stop(self):
        self.process.terminate()
        self.process.wait(600)
