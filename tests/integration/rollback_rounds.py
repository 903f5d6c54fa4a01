# SPDX-License-Identifier: Apache-2.0
"""rollback where the workspace is written directly: random trees and random calls of the file tools, then everything is as it was.

usage: rollback_rounds.py AK FOLDER ROUNDS SEED AT_ONCE
In each second round all of ak is killed at a random moment, and the session is gone on with to roll back; in each fourth that is killed and
begun again, too. Commands play the adversary: they
remove what tools have written, or put links to files outside in its place. Prints one line a fault, and how many rounds there were.
"""
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time

AK, FOLDER, ROUNDS, SEED, AT_ONCE = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4], int(sys.argv[5])
NAMES = ["a", "b", "d/a", "d/e/f", "n/new", "n/m/new", "l", "dl/x", "q q"]


def tree(top):
    """path -> (kind, mode, contents) of everything that is no folder"""
    out = {}
    for base, _, files in os.walk(top):
        for f in files:
            p = os.path.join(base, f)
            st = os.lstat(p)
            link = os.path.islink(p)
            out[os.path.relpath(p, top)] = ("link", os.readlink(p)) if link else ("file", st.st_mode & 0o7777, open(p, "rb").read())
    return out


class Round:
    def __init__(self, n):
        self.n, self.rng = n, random.Random(f"{SEED}:{n}")
        self.dir = os.path.join(FOLDER, f"r{n}")
        self.ws, self.outside = self.dir + "/ws", self.dir + "/outside"
        self.faults, self.calls, self.written = [], 0, []
        self.plant()

    def plant(self):
        rng = self.rng
        os.makedirs(self.ws + "/d/e")
        os.makedirs(self.outside)
        for name in ["a", "d/a", "d/e/f", "q q", "untouched"]:
            if name == "untouched" or rng.random() < 0.8:
                with open(f"{self.ws}/{name}", "wb") as f:
                    f.write(rng.choice([b"", b"one\ntwo\n", rng.randbytes(3000), b"x" * 200000, b"no newline"]))
                os.chmod(f"{self.ws}/{name}", rng.choice([0o644, 0o600, 0o755]))
        os.symlink("a", self.ws + "/l")
        os.symlink("d", self.ws + "/dl")
        with open(self.outside + "/v", "w", encoding="ascii") as f:
            f.write("keep")

    def call(self, name, **args):
        self.calls += 1
        return {"id": f"c{self.calls}", "name": name, "args": args}

    def step(self):
        rng, name = self.rng, self.rng.choice(NAMES)
        kind = rng.random()
        if kind < 0.55:
            self.written.append(name)
            return self.call("write_file", path=name, content="".join(rng.choices("abc\n", k=rng.choice([0, 5, 5000]))))
        if kind < 0.75:
            return self.call("edit_file", path=name, old="one" if rng.random() < 0.5 else "abc", new="1", replace_all=True)
        if not self.written:
            return self.call("read_file", path=name)
        # only what a tool has written: what commands change otherwise is not taken back
        victim = rng.choice(self.written)
        real = {"l": "a"}.get(victim, victim.replace("dl/", "d/"))
        return self.call("bash", command=rng.choice([
            f"test -e '{real}' && rm -f '{real}'", f"test -f '{real}' && rm '{real}' && ln -s {self.outside}/v '{real}'",
            f"test -f '{real}' && rm '{real}' && ln -s untouched '{real}'", f"test -L '{real}' || chmod 700 '{real}'", f"test -L '{real}' || echo more >>'{real}'"]) + "; true")

    def script(self, name, steps, answer="Done."):
        path = f"{self.dir}/{name}"
        with open(path, "w", encoding="utf-8") as f:
            print('{"schema":"ak-replay/1"}', file=f)
            for calls in steps:
                print(json.dumps({"reply": {"text": "Working.", "calls": calls}}), file=f)
            print(json.dumps({"reply": {"text": answer}}), file=f)
        return path

    def start(self, script, *words):
        env = dict(os.environ, HOME=self.dir, XDG_STATE_HOME=self.dir + "/state", XDG_RUNTIME_DIR=self.dir)
        return subprocess.Popen([AK, "run", "-C", self.ws, "--write", "direct", "-y", "--api", "replay", "--replay", script, "-q", "-o", "stream-json",
                                 *words, "go"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env, start_new_session=True)

    def results(self, out):
        found = []
        for line in out.splitlines():
            o = json.loads(line) if line.strip() else {}
            self.session = o.get("session_id") or self.session
            if o.get("type") == "user":
                found += [(c["is_error"], c["content"]) for c in o["message"]["content"]]
        return found

    def run(self):
        before, self.session = tree(self.ws), None
        steps = [[self.step()] for _ in range(self.rng.randrange(3, 12))]
        if self.n % 2:
            p = self.start(self.script("s", steps + [[self.call("bash", command=f"sleep 96{self.n:04}")]]))
            time.sleep(self.rng.uniform(0.0, 0.6))
            os.killpg(p.pid, signal.SIGKILL)
            out, _ = p.communicate(timeout=60)
            self.results(out[: out.rfind(b"\n") + 1])
            if not self.session:
                if tree(self.ws) != before:
                    self.faults.append("changed without a session")
                return
            if self.n % 4 == 3:  # the rollback is killed, too, and begun again
                p = self.start(self.script("s2", [[self.call("rollback")]]), "--resume", self.session)
                time.sleep(self.rng.uniform(0.0, 0.2))
                os.killpg(p.pid, signal.SIGKILL)
                p.communicate(timeout=60)
            p = self.start(self.script("s2", [[self.call("rollback")]]), "--resume", self.session)
        else:
            p = self.start(self.script("s", steps + [[self.call("rollback")], [self.call("rollback")]]))
        out, err = p.communicate(timeout=120)
        if p.returncode:
            self.faults.append(f"exit {p.returncode}: {err.decode()[-300:]}")
        told = self.results(out)
        last = told[-1 if self.n % 2 else -2]
        if last[0] or not ("file(s) to their pre-edit state." in last[1] or "Nothing to roll back" in last[1]):
            self.faults.append(f"rollback said {last}")
        if self.n % 2 == 0 and not told[-1][1].startswith("Nothing to roll back"):
            self.faults.append(f"the second rollback said {told[-1]}")
        after = tree(self.ws)
        for path in sorted(set(before) | set(after)):
            if before.get(path) != after.get(path):
                self.faults.append(f"{path}: {str(before.get(path))[:80]} became {str(after.get(path))[:80]}; {steps}"[:1500])
        if tree(self.outside) != {"v": ("file", 0o644, b"keep")}:
            self.faults.append("the file outside was changed")


def main():
    pids = []
    os.umask(0o022)
    for first in range(AT_ONCE):
        pid = os.fork()
        if pid == 0:
            bad = 0
            for n in range(first, ROUNDS, AT_ONCE):
                r = Round(n)
                try:
                    r.run()
                except Exception as e:  # noqa: a fault of the round, told with it
                    r.faults.append(f"{type(e).__name__}: {e}")
                for f in r.faults:
                    print(f"FAULT round {n}: {f}", flush=True)
                bad += bool(r.faults)
                shutil.rmtree(r.dir, ignore_errors=True)
            os._exit(bad > 0)
        pids.append(pid)
    bad = [p for p in pids if os.waitpid(p, 0)[1]]
    print(f"{ROUNDS} rounds, {'some' if bad else 'none'} bad")
    sys.exit(1 if bad else 0)


main()
