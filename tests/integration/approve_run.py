#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Inside of a sandbox: runs command lines under bash with every program start and every change of a file traced.

usage: approve_run.py WORKSPACE <LINES.json >RESULT.json
Gives for each line [[argv...], ...] of the programs that were started or tried, and [path, ...] of what was made or changed.
"""
import json
import os
import re
import subprocess
import sys

CALLS = ("execve,execveat,open,openat,openat2,creat,truncate,rename,renameat,renameat2,link,linkat,symlink,symlinkat,unlink,unlinkat,"
         "mkdir,mkdirat,rmdir,mknod,mknodat,chmod,fchmodat,chown,fchownat,lchown,connect,bind")
LOG = "/tmp/trace"
STRING = r'"((?:[^"\\]|\\.)*)"'


def unquote(text):
    return re.sub(r"\\x([0-9a-f]{2})", lambda m: chr(int(m.group(1), 16)), text).encode("latin-1").decode("utf-8", "surrogateescape")


def whole_lines(log):
    """A call during which another process ran stands in two lines: joined"""
    begun = {}
    for line in open(log, encoding="latin-1"):
        pid = line.split(" ", 1)[0]
        if "<unfinished ...>" in line:
            begun[pid] = line.split(" <unfinished", 1)[0]
            continue
        m = re.match(r"\d+\s+<\.\.\. \w+ resumed>(.*)", line)
        if m and pid in begun:
            line = begun.pop(pid) + m.group(1)
        yield line
    yield from begun.values()


def events(log, top):
    started, written = [], []
    for line in whole_lines(log):
        m = re.match(r"(?:\d+\s+)?(\w+)\((.*)", line)
        if not m:
            continue
        call, rest = m.groups()
        failed = re.search(r"= -1 E", rest) is not None
        if call in ("execve", "execveat"):
            argv = re.search(r"\[((?:%s(?:, )?)*)\]" % STRING.replace("(", "(?:", 1), rest)
            started.append([unquote(x) for x in re.findall(STRING, argv.group(1))] if argv else [rest])
            continue
        if failed:
            continue
        paths = [unquote(x) for x in re.findall(STRING, rest)]
        if call in ("open", "openat", "openat2") and not re.search(r"O_(WRONLY|RDWR|CREAT|TRUNC)", rest):
            continue
        if call in ("connect", "bind"):
            written.append("%s %s" % (call, rest[:60]))
            continue
        at = re.match(r"(AT_FDCWD|\d+)(?:<(.*?)>)?", rest)
        base = unquote(at.group(2)) if at and at.group(2) else top
        written += [os.path.realpath(os.path.join(base, x)) for x in paths]
    return started, written


def run(line, top):
    p = subprocess.Popen(["strace", "-f", "-qq", "-y", "-xx", "-s", "100000", "-e", "trace=" + CALLS, "-e", "signal=none", "-o", LOG,
                          "bash", "-c", "--", line], cwd=top, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                         stderr=subprocess.DEVNULL, start_new_session=True)
    try:
        p.wait(20)
    except subprocess.TimeoutExpired:
        os.killpg(p.pid, 9)
        p.wait()
    return events(LOG, top)


def main():
    top = sys.argv[1]
    out = []
    for line in json.load(sys.stdin):
        started, written = run(line, top)
        # the first is bash with the line itself
        out.append({"started": started[1:], "written": written, "bash": bool(started) and started[0][:1] == ["bash"]})
    json.dump(out, sys.stdout)


if __name__ == "__main__":
    main()
