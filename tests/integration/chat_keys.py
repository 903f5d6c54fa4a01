# SPDX-License-Identifier: Apache-2.0
"""Random keys for `ak chat`: whatever is typed, it lives until it is told to end, and gives the terminal back.

Usage: chat_keys.py SEED ROUNDS CMD...
Prints a line for each round that went wrong, then "rounds N, wrong N"."""
import os
import pty
import random
import select
import signal
import sys
import termios
import time

KEYS = [b"\x1b[200~", b"\x1b[201~", b"\x1b[A", b"\x1b[B", b"\x1b[C", b"\x1b[D", b"\x1bOA", b"\x1b[3~", b"\x1b[1;5C", b"\x1b", b"\x12", b"\x03",
        b"\x1a", b"\\\r", b"\x1b\r", b"\xff", b"\xc3", b"\xe2\x80\xae", b"\x15", b"\x17", b"\x19", b"\x0c", b"\x16", b"\x00", b"\x18\x18",
        b"\x1bx", b"\x1bX", b"\t", b"\x7f", b"\x01", b"\x05", b"\n", b" ", b"abc", b"/help\r", b"/diff\r", b"/clear\r", b"/rollback\r",
        b"/cost 1\r"]
# end of input; what stops output, and what kills while the model works
NEVER = bytes([0x04, 0x13, 0x1c])
LIMIT = 60


def keys(rng):
    k = rng.choice(KEYS) if rng.random() < 0.8 else bytes(rng.randrange(256) for _ in range(rng.randint(1, 30)))
    return k.translate(None, NEVER)


def take(fd, wait):
    if not select.select([fd], [], [], wait)[0]:
        return None
    try:
        return os.read(fd, 65536)
    except OSError:
        return b""


def one_round(rng, cmd):
    pid, fd = pty.fork()
    if pid == 0:
        os.execv(cmd[0], cmd)
    before, got, end = termios.tcgetattr(fd), b"", time.monotonic() + LIMIT
    while b"ak> " not in got and time.monotonic() < end:
        got += take(fd, 0.2) or b""
    for _ in range(rng.randint(5, 120)):
        try:
            os.write(fd, keys(rng))
        except OSError:
            break
        while take(fd, 0):
            pass
    os.kill(pid, signal.SIGTERM)
    done = 0
    while not done and time.monotonic() < end:
        take(fd, 0.02)
        done, status = os.waitpid(pid, os.WNOHANG)
    if not done:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        return "it did not end"
    after = termios.tcgetattr(fd)
    os.close(fd)
    code = os.waitstatus_to_exitcode(status)
    # two Ctrl-C may have ended it before
    return None if code in (0, 143) and after == before else f"exit code {code}, modes {'kept' if after == before else after}"


def main():
    seed, rounds, cmd, wrong = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:], 0
    for r in range(rounds):
        text = one_round(random.Random(f"{seed}.{r}"), cmd)
        if text:
            wrong += 1
            print(f"round {r} of seed {seed}: {text}")
    print(f"rounds {rounds}, wrong {wrong}")


main()
