"""Each `$ curl` line of README.md is run, and what it prints must be what README.md says."""
import json
import os
import re
import shlex
import shutil
import subprocess
import tempfile
import unittest

from harness.server import ROOT, Server

#: Members that differ from run to run.
VOLATILE = {"load_ms", "loaded_at", "memory_bytes", "request_id", "revision"}


def whole(command):
    """Are its quotes closed?"""
    try:
        shlex.split(command)
    except ValueError:
        return False
    return True


def examples():
    """[(command, expected output)] of the console blocks."""
    with open(os.path.join(ROOT, "README.md")) as f:
        text = f.read()
    found = []
    for block in re.findall(r"```console\n(.*?)```", text, re.S):
        parts = re.split(r"^\$ ", block, flags=re.M)[1:]
        for part in parts:
            lines = part.split("\n")
            end = next(i for i in range(1, len(lines) + 1) if whole("\n".join(lines[:i])))
            found.append(("\n".join(lines[:end]), "\n".join(lines[end:]).strip()))
    return [(c, out) for c, out in found if c.startswith("curl ")]


def steady(text):
    """The output as a value without what differs from run to run."""
    def strip(value):
        if isinstance(value, dict):
            return {k: strip(v) for k, v in value.items() if k not in VOLATILE}
        return [strip(v) for v in value] if isinstance(value, list) else value
    try:
        return strip(json.loads(text))
    except ValueError:
        return text


class Readme(unittest.TestCase):
    def test_examples(self):
        self.assertGreaterEqual(len(examples()), 5)
        with tempfile.TemporaryDirectory() as home:
            folder = os.path.join(home, "samples")
            shutil.copytree(os.path.join(ROOT, "samples"), folder)
            with Server(folder=folder) as server:
                address = "%s:%d" % server.address
                for line, expected in examples():
                    with self.subTest(line):
                        done = subprocess.run(["bash", "-c", line.replace("curl", "curl -s", 1).replace("127.0.0.1:8080", address)],
                                              cwd=home, capture_output=True, text=True, timeout=60)
                        self.assertEqual(done.returncode, 0, done.stderr)
                        self.assertEqual(steady(done.stdout.strip()), steady(expected))
