"""Each `$ curl` line of README.md is run, and what it prints must be what README.md says.

    python3 tests/http/test_readme.py     writes today's answers into README.md
"""
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest

from harness.server import ROOT, Server

README = os.path.join(ROOT, "README.md")
#: Members that differ from run to run.
VOLATILE = {"load_ms", "loaded_at", "memory_bytes", "request_id", "revision"}
WIDTH = 110


def whole(command):
    """Are its quotes closed?"""
    try:
        shlex.split(command)
    except ValueError:
        return False
    return True


def examples():
    """[(command, expected output)] of the console blocks."""
    with open(README) as f:
        text = f.read()
    found = []
    for block in re.findall(r"```console\n(.*?)```", text, re.S):
        for part in re.split(r"^\$ ", block, flags=re.M)[1:]:
            lines = part.split("\n")
            end = next(i for i in range(1, len(lines) + 1) if whole("\n".join(lines[:i])))
            found.append(("\n".join(lines[:end]), "\n".join(lines[end:]).strip()))
    return [(c, out) for c, out in found if c.startswith("curl ")]


def steady(text):
    """The output as a value without what differs from run to run, or in the last digits between compilers."""
    def strip(value):
        if isinstance(value, float):
            return round(value, 4)
        if isinstance(value, dict):
            return {k: strip(v) for k, v in value.items() if k not in VOLATILE}
        return [strip(v) for v in value] if isinstance(value, list) else value
    try:
        return strip(json.loads(text))
    except ValueError:
        return text


class Samples:
    """A server with a copy of samples/, in whose folder commands are run."""

    def __enter__(self):
        self.home = tempfile.TemporaryDirectory()
        folder = os.path.join(self.home.name, "samples")
        shutil.copytree(os.path.join(ROOT, "samples"), folder)
        self.server = Server(folder=folder)
        return self

    def __exit__(self, *_):
        self.server.stop()
        self.home.cleanup()

    def run(self, command):
        command = command.replace("curl", "curl -s", 1).replace("127.0.0.1:8080", "%s:%d" % self.server.address)
        return subprocess.run(["bash", "-c", command], cwd=self.home.name, capture_output=True, text=True, timeout=60)


class Readme(unittest.TestCase):
    def test_examples(self):
        self.assertGreaterEqual(len(examples()), 5)
        with Samples() as samples:
            for command, expected in examples():
                with self.subTest(command):
                    done = samples.run(command)
                    self.assertEqual(done.returncode, 0, done.stderr)
                    self.assertEqual(steady(done.stdout.strip()), steady(expected), "run tests/http/test_readme.py, look at what it changes")


def wrapped(text):
    """Broken between members, so that it can be read."""
    lines = [""]
    for piece in re.split(r'(?<=,)(?=["{\[])', text.strip()):
        if len(lines[-1]) + len(piece) > WIDTH:
            lines.append(" ")
        lines[-1] += piece
    return "\n".join(lines)


def refresh():
    with open(README) as f:
        text = f.read()
    with Samples() as samples:
        for command, expected in examples():
            answer = samples.run(command).stdout
            if steady(answer.strip()) != steady(expected):
                text = text.replace("$ %s\n%s\n" % (command, expected), "$ %s\n%s\n" % (command, wrapped(answer)))
                print("changed: " + command)
    with open(README, "w") as f:
        f.write(text)


if __name__ == "__main__":
    sys.exit(refresh())
