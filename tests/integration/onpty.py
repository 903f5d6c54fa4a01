# SPDX-License-Identifier: Apache-2.0
"""Runs a program on a pty, as a terminal would, and prints what the terminal got.

Usage: onpty.py [--size ROWSxCOLS] [--limit SECONDS] STEPS CMD...
STEPS is JSON: a list of [regex to wait for, text to send]; a send of {"size": [rows, cols]} resizes
instead, one of {"run": text} runs a shell command and waits for it, and one of {"again": text} sends it every second until the
next step's regex comes, for what a program does some time after printing.
The exit code is the program's; 99 when a step's regex never came."""
import fcntl
import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time


def set_size(fd, rows, cols):
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, cols, 0, 0))


def main():
    args = sys.argv[1:]
    size, limit = None, 20.0
    while args[0].startswith("--"):
        if args[0] == "--size":
            size = [int(x) for x in args[1].split("x")]
        elif args[0] == "--limit":
            limit = float(args[1])
        args = args[2:]
    steps, cmd = json.loads(args[0]), args[1:]
    pid, fd = pty.fork()
    if pid == 0:
        if size:
            set_size(0, *size)
        os.execvp(cmd[0], cmd)
    end, got, pos, again, due = time.monotonic() + limit, b"", 0, None, 0
    while time.monotonic() < end:
        while steps:
            m = re.compile(steps[0][0].encode()).search(got, pos)
            if not m:
                break
            pos, send = m.end(), steps.pop(0)[1]
            again = None
            if isinstance(send, dict) and "again" in send:
                again, due = send["again"], time.monotonic() + 1
            elif isinstance(send, dict) and "run" in send:
                subprocess.run(send["run"], shell=True, stdin=subprocess.DEVNULL, check=True)
            elif isinstance(send, dict):
                set_size(fd, *send["size"])
            else:
                os.write(fd, send.encode("latin-1"))
        if again is not None and time.monotonic() >= due:
            os.write(fd, again.encode("latin-1"))
            due = time.monotonic() + 1
        if not select.select([fd], [], [], 0.2)[0]:
            continue
        try:
            data = os.read(fd, 65536)
        except OSError:
            break
        if not data:
            break
        got += data
    else:
        os.kill(pid, signal.SIGKILL)
    sys.stdout.buffer.write(got)
    sys.stdout.flush()
    status = os.waitpid(pid, 0)[1]
    if steps:
        print("onpty.py: never came: %r" % steps[0][0], file=sys.stderr)
        sys.exit(99)
    sys.exit(os.waitstatus_to_exitcode(status) & 0xFF)


main()
