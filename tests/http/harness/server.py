"""Starts the navd under test on a free port, and sees to it that it ends well."""
import os
import re
import select
import shutil
import signal
import subprocess
import tempfile
import time

from .client import Connection, Dropped

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
BINARY = os.path.abspath(os.environ.get("TEST_BINARY") or os.path.join(ROOT, "build", "navd"))
SHARED = os.environ.get("NAVD_SHARED") or os.path.join(os.path.dirname(ROOT), "shared")
SANITIZED = next((name for name in ("address", "thread") if "san-" + name in BINARY), None)
COMPLAINT = re.compile(r"ERROR: (Address|Leak)Sanitizer|WARNING: ThreadSanitizer|runtime error:")
LISTENING = re.compile(r"navd listening on (?:http://([0-9.]+):(\d+)|(?:http\+)?unix:(?://)?(/.+))$")


def environment(extra=None):
    """The environment of a server: no NAVD_... of ours, sanitizers that tell all they find."""
    env = {k: v for k, v in os.environ.items() if not k.startswith("NAVD_")}
    env["ASAN_OPTIONS"] = "detect_leaks=1:quarantine_size_mb=16"
    env["UBSAN_OPTIONS"] = "print_stacktrace=1"
    suppressions = os.path.join(ROOT, "tests", "tsan.supp")
    env["TSAN_OPTIONS"] = "suppressions=" + suppressions if os.path.exists(suppressions) else ""
    env.update(extra or {})
    return env


def command(*arguments, env=None, timeout=60):
    """Runs `navd arguments` to its end: (exit status, standard output, standard error)."""
    done = subprocess.run([BINARY, *arguments], env=environment(env), stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, timeout=timeout)
    return done.returncode, done.stdout, done.stderr


class Server:
    """A running navd. `files`: {name: bytes} of its mesh folder; None: it has no folder."""

    def __init__(self, files=None, options=(), env=None, folder=None, listen="127.0.0.1:0", wait=True):
        self.home = tempfile.mkdtemp(prefix="navd-test-")
        self.folder = folder
        if files is not None:
            self.folder = os.path.join(self.home, "meshes")
            os.mkdir(self.folder)
            for name, data in files.items():
                self.write(name, data)
        self.options, self.env, self.listen = list(options), env, listen
        self.process = None
        self.start(wait)

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        if kind:
            self.kill()
            self.forget()
        else:
            self.stop()

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, data):
        """Puts a file into the mesh folder by rename."""
        part = os.path.join(self.home, "part")
        with open(part, "wb") as f:
            f.write(data)
        os.rename(part, self.path(name))

    def start(self, wait=True):
        """Starts the process; again after kill() on the same folder."""
        arguments = [BINARY] + ["--listen=" + self.listen] * bool(self.listen)
        if self.folder:
            arguments += ["--meshes", self.folder]
        self.log = open(os.path.join(self.home, "stderr"), "ab+")
        self.process = subprocess.Popen(arguments + self.options, env=environment(self.env), stdin=subprocess.DEVNULL,
                                        stdout=subprocess.PIPE, stderr=self.log, bufsize=0)
        self.addresses = [self._listening()]
        if wait:
            try:
                self.wait_ready()
            except (Dropped, OSError) as error:
                self.kill()
                raise AssertionError("%s; standard error:\n%s" % (error, self.stderr()[-6000:])) from None

    @property
    def address(self):
        return self.addresses[0]

    def _listening(self):
        if not select.select([self.process.stdout], [], [], 60)[0]:
            self.kill()
            raise AssertionError("navd said nothing for a minute: " + self.stderr())
        line = self.process.stdout.readline().decode().strip()
        found = LISTENING.match(line)
        if not found:
            self.kill()
            raise AssertionError("no address in %r; standard error: %s" % (line, self.stderr()))
        return found[3] or (found[1], int(found[2]))

    def listening_also(self):
        """Reads one more address, of a server with several."""
        self.addresses.append(self._listening())

    def wait_ready(self, seconds=60):
        with self.connect() as c:
            end = time.monotonic() + seconds
            while c.request("GET", "/readyz").status != 200:
                if time.monotonic() > end:
                    raise AssertionError("not ready: " + self.stderr())
                time.sleep(0.01)

    def connect(self, timeout=60.0, which=0):
        return Connection(self.addresses[which], timeout)

    def request(self, method, path, body=None, headers=()):
        """One exchange on a connection of its own."""
        with self.connect() as c:
            return c.request(method, path, body, headers)

    def until(self, true, what, seconds=20):
        """Waits until true() holds."""
        end = time.monotonic() + seconds
        while not true():
            if time.monotonic() > end:
                raise AssertionError("waited %g s for: %s\n%s" % (seconds, what, self.stderr()[-2000:]))
            time.sleep(0.02)

    def stderr(self):
        with open(self.log.name, errors="replace") as f:
            return f.read()

    def rss(self):
        """Resident memory, bytes."""
        with open("/proc/%d/statm" % self.process.pid) as f:
            return int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def terminate(self):
        self.process.send_signal(signal.SIGTERM)

    def wait(self, seconds=60):
        """The exit status, None when it does not end in time."""
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            return None

    def stop(self):
        """Ends it as a service manager would; it must leave with status 0 and no complaint."""
        if self.process.poll() is None:
            self.terminate()
        status = self.wait()
        if status is None:
            self.kill()
        text = self.stderr()
        self.forget()
        if status != 0 or COMPLAINT.search(text):
            raise AssertionError("exit status %s; standard error:\n%s" % (status, text[-6000:]))

    def kill(self):
        """kill -9."""
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.process.stdout.close()
        self.log.close()

    def forget(self):
        self.process.stdout.close()
        self.log.close()
        shutil.rmtree(self.home, ignore_errors=True)


__all__ = ["BINARY", "COMPLAINT", "Dropped", "ROOT", "SANITIZED", "SHARED", "Server", "command", "environment"]
