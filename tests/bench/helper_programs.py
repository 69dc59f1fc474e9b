# SPDX-License-Identifier: GPL-2.0-or-later
"""How often the helper can be injected into ordinary programs ("make
bench-helper-programs COUNT=n"; not part of "make check"): idle programs, and
programs under load.

Each program is started here, on loopback and in its own folder. Prints a row of a
Markdown table per program: its state, tries, successes, the median and longest wait until
the helper was ready, and the median time that a thread was stopped. Further arguments
select programs by name.
"""

import contextlib
import os
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.join(os.environ["srcdir"], "tests", "live"))

# pylint: disable=wrong-import-position
from inject_lib import check_same, facts, tool
from live import IS_ROOT, Skip, as_nobody, check, read_proc, wait_until

SETTLE = 0.5  # seconds that a new program gets for its start
PAUSE = 0.02  # seconds between two tries
LIMIT_MS = 5000  # memstate's own timeout


def program(name, *folders):
    path = shutil.which(name, path=os.pathsep.join([os.environ["PATH"], "/usr/sbin", *folders]))
    if not path:
        raise Skip(f"{name} is not installed")
    return path


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def can_connect(port):
    with socket.socket() as s:
        return s.connect_ex(("127.0.0.1", port)) == 0


@contextlib.contextmanager
def running(*command, **popen):
    """Run the command; its input is a pipe to which nothing is written."""
    popen = {"stdin": subprocess.PIPE, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, **popen}
    with subprocess.Popen(command, **popen) as process:
        try:
            yield process
        finally:
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()


def one(*command):
    """Return a start function for a program that needs nothing but its command."""
    @contextlib.contextmanager
    def start(_folder):
        with running(program(command[0]), *command[1:]) as process:
            yield process.pid
    return start


@contextlib.contextmanager
def on_terminal(*command):
    """Run the command with a terminal as input and output; yield its pid."""
    ours, its = os.openpty()
    drain = threading.Thread(target=lambda: drain_terminal(ours), daemon=True)
    drain.start()
    try:
        with running(program(command[0]), *command[1:], stdin=its, stdout=its, stderr=its,
                     start_new_session=True) as process:
            yield process.pid
    finally:
        os.close(its)
        os.close(ours)


def drain_terminal(fd):
    with contextlib.suppress(OSError):
        while os.read(fd, 4096):
            pass


def at_prompt(*command):
    return lambda _folder: on_terminal(*command)


class Load:
    """Send requests from several threads, each one request after the other."""

    def __init__(self, request, count=2):
        self.is_over, self.failures, self.done = False, [], 0
        self.threads = [threading.Thread(target=self.run, args=(request,)) for _ in range(count)]

    def run(self, request):
        while not self.is_over:
            try:
                request()
                self.done += 1
            except Exception as e:  # pylint: disable=broad-except
                self.failures.append(repr(e))
                return

    def __enter__(self):
        for thread in self.threads:
            thread.start()

    def __exit__(self, *unused):
        self.is_over = True
        for thread in self.threads:
            thread.join()
        check(not self.failures and self.done, f"requests failed: {self.failures[:2]}")


@contextlib.contextmanager
def server(port, *command, **popen):
    with running(*command, **popen) as process:
        wait_until(lambda: can_connect(port) or process.poll() is not None, f"{command[0]} answers")
        check(process.poll() is None, f"{command} ended too early: {process.returncode}")
        yield process.pid


def get(port):
    def request():
        with socket.create_connection(("127.0.0.1", port), 30) as s:
            s.sendall(b"GET / HTTP/1.0\r\n\r\n")
            reply = b""
            while part := s.recv(65536):
                reply += part
            check(b" 200 " in reply[:30], reply[:80])
    return request


def loaded(start, is_busy):
    """start(folder) yields (pid, request)."""
    @contextlib.contextmanager
    def begin(folder):
        with start(folder) as (pid, request):
            with Load(request) if is_busy else contextlib.nullcontext():
                yield pid
    return begin


@contextlib.contextmanager
def php_server(folder):
    port = free_port()
    with open(os.path.join(folder, "index.php"), "w", encoding="ascii") as f:
        f.write('<?php $a = []; for ($i = 0; $i < 5000; $i++) $a[] = str_repeat("x", $i % 99); echo count($a);')
    with server(port, program("php"), "-S", f"127.0.0.1:{port}", "-t", folder) as pid:
        yield pid, get(port)


@contextlib.contextmanager
def node_server(_folder):
    port = free_port()
    code = ("require('http').createServer((q, r) => r.end(JSON.stringify(Array(999).fill(Buffer.alloc(99)"
            f".toString('hex'))))).listen({port}, '127.0.0.1')")
    with server(port, program("node"), "-e", code) as pid:
        yield pid, get(port)


NGINX = """
daemon off; worker_processes 1; error_log stderr crit; pid {folder}/pid;
events {{ worker_connections 256; }}
http {{ access_log off; client_body_temp_path {folder}/1; proxy_temp_path {folder}/2;
fastcgi_temp_path {folder}/3; uwsgi_temp_path {folder}/4; scgi_temp_path {folder}/5;
server {{ listen 127.0.0.1:{port}; root {folder}; }} }}
"""


@contextlib.contextmanager
def nginx(folder, wants_worker=True):
    port, config = free_port(), os.path.join(folder, "nginx.conf")
    os.chmod(folder, 0o755)
    with open(config, "w", encoding="ascii") as f:
        f.write(NGINX.format(folder=folder, port=port))
    with open(os.path.join(folder, "index.html"), "wb") as f:
        f.write(bytes(100000))
    with server(port, program("nginx"), "-c", config, "-p", folder) as pid:
        get(port)()
        worker = int(read_proc(pid, f"task/{pid}/children").split()[0])
        yield worker if wants_worker else pid, get(port)


def nginx_master(folder):
    return nginx(folder, wants_worker=False)


@contextlib.contextmanager
def redis(folder):
    port, bench = free_port(), program("redis-benchmark")

    def request():
        subprocess.run([bench, "-p", str(port), "-n", "20000", "-c", "4", "-q", "-t", "set,get,lpush", "-d", "300"],
                       check=True, stdout=subprocess.DEVNULL)
    with server(port, program("redis-server"), "--port", str(port), "--save", "", "--dir", folder) as pid:
        yield pid, request


class Postgres:
    """A server with one client; its backend is the last one started."""

    def __init__(self, folder):
        found = sorted(os.listdir("/usr/lib/postgresql")) if os.path.isdir("/usr/lib/postgresql") else ["0"]
        self.bin = f"/usr/lib/postgresql/{found[-1]}/bin"
        self.folder, self.port = os.path.join(folder, "data"), free_port()
        self.popen = {"preexec_fn": as_nobody()} if IS_ROOT else {}
        os.chmod(folder, 0o777)
        self.run("initdb", "-D", self.folder, "-U", "bench", "-A", "trust", "--no-sync")

    def command(self, name, *args):
        return [program(name, self.bin), *args]

    def run(self, *args):
        subprocess.run(self.command(*args), check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL, cwd="/", **self.popen)

    def client(self, name, *args):
        return self.command(name, "-h", "127.0.0.1", "-p", str(self.port), "-U", "bench", *args)

    def server(self):
        return server(self.port, *self.command("postgres", "-D", self.folder, "-p", str(self.port), "-k", "",
                                               "-c", "listen_addresses=127.0.0.1", "-c", "fsync=off"),
                      cwd="/", **self.popen)


def backends(pid):
    children = [int(child) for child in read_proc(pid, f"task/{pid}/children").split()]
    names = {child: read_proc(child, "cmdline") for child in children}
    return [child for child, name in names.items() if b"bench" in name]


@contextlib.contextmanager
def postmaster(folder):
    with Postgres(folder).server() as pid:
        yield pid


def backend(is_busy):
    @contextlib.contextmanager
    def start(folder):
        postgres = Postgres(folder)
        with postgres.server() as pid:
            if is_busy:
                postgres.run(*["pgbench", *postgres.client("pgbench", "-i", "postgres")[1:]])
                command = postgres.client("pgbench", "-n", "-c", "1", "-T", "3600", "postgres")
            else:
                command = postgres.client("psql", "-q", "postgres")
            with running(*command) as client:
                if not is_busy:
                    client.stdin.write(b"select count(*) from pg_class, generate_series(1, 999);\n")
                    client.stdin.flush()
                time.sleep(SETTLE)  # pgbench first opens another connection
                wait_until(lambda: backends(pid), "a backend is running")
                yield backends(pid)[-1]
                check(client.poll() is None, f"the client ended too early: {client.returncode}")
    return start


PYTHON_WORK = "x = []\nwhile 1:\n x.append(str(len(x)) * 9)\n if len(x) > 9999: x = []"
PYTHON_THREADS = ("import threading, time\n"
                  "t = [threading.Thread(target=time.sleep, args=(9999,)) for _ in range(4)]\n"
                  "[x.start() for x in t]; [x.join() for x in t]")

PROGRAMS = {
    "sleep": ("asleep", one("sleep", "9999")),
    "cat": ("reads from a pipe", one("cat")),
    "bash": ("at its prompt", at_prompt("bash", "--norc")),
    "bash-wait": ("waits for a child", one("bash", "-c", "cat; :")),
    "perl": ("`sleep`", one("perl", "-e", "my @a = map { 'x' x $_ } 1..9999; sleep 9999")),
    "perl-read": ("reads from a pipe", one("perl", "-e", "my @a = map { 'x' x $_ } 1..999; <STDIN>")),
    "perl-busy": ("allocates all the time", one("perl", "-e", "while (1) { my @a = map { 'x' x $_ } 1..999 }")),
    "ruby": ("`sleep`", one("ruby", "-e", "a = (1..9999).map { |i| 'x' * i }; sleep")),
    "ruby-read": ("reads from a pipe", one("ruby", "-e", "a = (1..999).map { |i| 'x' * i }; gets")),
    "python3": ("at its prompt", at_prompt("python3")),
    "python3-sleep": ("`time.sleep()`", one("python3", "-c", "import time; time.sleep(9999)")),
    "python3-select": ("`select.select()`", one("python3", "-c", "import select; select.select([0], [], [])")),
    "python3-poll": ("`poll()`", one("python3", "-c", "import select as s; p = s.poll(); p.register(0); p.poll(9999999)")),
    "python3-read": ("reads from a pipe", one("python3", "-c", "input()")),
    "python3-threads": ("joins sleeping threads", one("python3", "-c", PYTHON_THREADS)),
    "python3-busy": ("allocates all the time", one("python3", "-c", PYTHON_WORK)),
    "php": ("`php -a`", at_prompt("php", "-a")),
    "php-sleep": ("`sleep()`", one("php", "-r", "$a = range(1, 99999); sleep(9999);")),
    "php-server": ("`php -S`, idle", loaded(php_server, False)),
    "php-server-busy": ("`php -S`, under load", loaded(php_server, True)),
    "node": ("HTTP server, idle", loaded(node_server, False)),
    "node-busy": ("HTTP server, under load", loaded(node_server, True)),
    "nginx-master": ("master, idle", loaded(nginx_master, False)),
    "nginx": ("worker, idle", loaded(nginx, False)),
    "nginx-busy": ("worker, under load", loaded(nginx, True)),
    "redis": ("idle", loaded(redis, False)),
    "redis-busy": ("under load", loaded(redis, True)),
    "postmaster": ("idle", postmaster),
    "postgres": ("backend, idle", backend(False)),
    "postgres-busy": ("backend, under load", backend(True)),
}


def try_often(name, start, count):
    waits, stopped, refusals, stuck = [], [], {}, 0
    with tempfile.TemporaryDirectory() as folder, start(folder) as pid:
        time.sleep(SETTLE)
        before = None
        for _ in range(count):
            cycle = tool(pid, "-l", LIMIT_MS)[0]
            # the first injection may leave what SECURITY.md lists; later
            # ones leave nothing
            if not before and not name.endswith("-busy"):
                before = facts(pid, lambda _: [])
            if cycle["open"] == 0:
                waits.append(cycle["open_ns"] / 1e6)
                stopped.append(cycle["open_stopped_ns"] / 1e6)
                stuck += cycle["close"] != 0
            else:
                refusals[cycle["open_reason"]] = refusals.get(cycle["open_reason"], 0) + 1
            time.sleep(PAUSE)
        if before:
            check_same(before, facts(pid, lambda _: []))
    return waits, stopped, refusals, stuck


def row(name, count):
    what, start = PROGRAMS[name]
    waits, stopped, refusals, stuck = try_often(name, start, count)
    cells = ([f"{statistics.median(waits):.1f}", f"{max(waits):.1f}", f"{statistics.median(stopped):.2f}"]
             if waits else ["-"] * 3)
    print(f"| {name.split('-')[0]} | {what} | {count} | {len(waits)} | {' | '.join(cells)} |", flush=True)
    for reason, times in refusals.items():
        print(f"    refused {times} times: {reason}", file=sys.stderr, flush=True)
    if stuck:
        print(f"    not removed {stuck} times", file=sys.stderr, flush=True)


def main():
    count, wanted = int(sys.argv[1]), sys.argv[2:] or list(PROGRAMS)
    print("| program | state | tries | injected | median wait ms | longest ms | median stop ms |")
    print("|---|---|---|---|---|---|---|", flush=True)
    for name in wanted:
        try:
            row(name, count)
        except Skip as skip:
            print(f"{name}: skipped: {skip}", file=sys.stderr)


main()
