#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Property of checkpoints: after random operations, and kills, a restore gives back the very tree.

usage: checkpoint_rounds.py AK FOLDER ROUNDS SEED [--exec]
Each round: save, change the tree at random (with --exec some of it by a command in a sandbox), restore - both killed at random moments
and begun again - and compare content, kind, mode, link text, time, attributes and which names are one file. Prints one line a fault.
"""
import os
import random
import shutil
import stat
import subprocess
import sys
import time

AK, TOP, ROUNDS, SEED = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
EXEC = "--exec" in sys.argv
WS = os.path.join(TOP, "ws").encode()
ROOT = os.geteuid() == 0
rnd = random.Random(SEED)
NAMES = [b"a", b"b", b"c", b"d", b"e f", b"g\n", b"\xff", b"-h", b".i", b"long" * 20]


def look():
    """Everything that a restore must give back."""
    seen, first = {}, {}

    def one(path, rel):
        st = os.lstat(path)
        kind = stat.S_IFMT(st.st_mode)
        what = None
        opened = None
        if kind in (stat.S_IFREG, stat.S_IFDIR) and not ROOT and st.st_mode & 0o700 != 0o700:
            opened = stat.S_IMODE(st.st_mode)
            os.chmod(path, opened | 0o700)
        if kind == stat.S_IFREG:
            with open(path, "rb") as f:
                what = f.read()
        elif kind == stat.S_IFLNK:
            what = os.readlink(path)
        attrs = {}
        if kind in (stat.S_IFREG, stat.S_IFDIR):
            for a in os.listxattr(path):
                if a.startswith("user."):
                    attrs[a] = os.getxattr(path, a)
        same = first.setdefault(st.st_ino, rel) if kind != stat.S_IFDIR else rel
        seen[rel] = (kind, stat.S_IMODE(st.st_mode) if kind != stat.S_IFLNK else 0, st.st_uid, st.st_gid, what, st.st_mtime_ns, attrs, same)
        if kind == stat.S_IFDIR:
            for name in sorted(os.listdir(path)):
                one(os.path.join(path, name), os.path.join(rel, name) if rel else name)
        if opened is not None:
            os.chmod(path, opened)

    one(WS, b"")
    return seen


def places():
    out = [WS]
    for top, dirs, _ in os.walk(WS):
        out += [os.path.join(top, d) for d in dirs if not os.path.islink(os.path.join(top, d))]
    return out


def any_entry():
    d = rnd.choice(places())
    names = os.listdir(d)
    return os.path.join(d, rnd.choice(names)) if names else None


def wipe(path):
    if os.path.isdir(path) and not os.path.islink(path):
        for top, dirs, _ in os.walk(path):
            for d in [top] + [os.path.join(top, x) for x in dirs]:
                if not os.path.islink(d):
                    os.chmod(d, 0o700)
        shutil.rmtree(path)
    elif os.path.lexists(path):
        os.unlink(path)


def op_file(new):
    with open(new, "wb") as f:
        f.write(rnd.randbytes(rnd.choice([0, 1, 100, 5000, 70000])))


def op_sparse(new):
    with open(new, "wb") as f:
        f.seek(rnd.choice([1 << 16, 3 << 20]))
        f.write(b"end")
        if rnd.random() < 0.5:
            f.truncate(rnd.choice([4 << 20, 6 << 20]))


OPS = ["create", "create", "edit", "edit", "append", "delete", "rename", "rename", "chmod", "link", "swap", "hard", "folder", "folder", "fifo",
       "sparse", "xattr", "time", "replace", "unhard"]


def operate():
    op = rnd.choice(OPS)
    new = os.path.join(rnd.choice(places()), rnd.choice(NAMES))
    old = any_entry()
    if op in ("create", "folder", "fifo", "sparse", "link") and os.path.lexists(new):
        op = "replace"
    if op == "create":
        op_file(new)
    elif op == "sparse":
        op_sparse(new)
    elif op == "folder":
        os.mkdir(new, rnd.choice([0o755, 0o700, 0o2755, 0o1777]))
    elif op == "fifo":
        os.mkfifo(new)
    elif op == "link":
        os.symlink(rnd.choice([b"a", b"/etc/passwd", b"nowhere", b"../..", WS]), new)
    elif old is None:
        return
    elif op == "edit" and os.path.isfile(old) and not os.path.islink(old) and os.stat(old).st_size < 1 << 20:
        st = os.lstat(old)
        os.chmod(old, 0o600)
        with open(old, "r+b") as f:
            f.write(rnd.randbytes(3))
        if rnd.random() < 0.3:  # the same size and time as before: only the ctime tells
            os.utime(old, ns=(st.st_atime_ns, st.st_mtime_ns))
        os.chmod(old, stat.S_IMODE(st.st_mode))
    elif op == "append" and os.path.isfile(old) and not os.path.islink(old) and os.access(old, os.W_OK):
        with open(old, "ab") as f:
            f.write(b"more")
    elif op == "delete":
        wipe(old)
    elif op == "rename":
        if not (new + b"/").startswith(old + b"/") and not os.path.lexists(new):
            os.rename(old, new)
    elif op == "chmod" and not os.path.islink(old):
        os.chmod(old, rnd.choice([0o755, 0o644, 0o600, 0o444, 0o400]) if not os.path.isdir(old) else rnd.choice([0o755, 0o700]))
    elif op == "swap":
        wipe(old)
        os.symlink(b"/var/tmp", old)
    elif op == "replace":
        wipe(old)
        rnd.choice([op_file, os.mkdir, os.mkfifo])(old)
    elif op == "hard" and os.path.isfile(old) and not os.path.islink(old) and not os.path.lexists(new):
        os.link(old, new)
    elif op == "unhard" and os.path.isfile(old) and not os.path.islink(old) and os.stat(old).st_size < 1 << 20:
        shutil.copy2(old, TOP + "/copy")
        os.rename(TOP + "/copy", old)
    elif op == "xattr" and not os.path.islink(old) and (os.path.isfile(old) or os.path.isdir(old)):
        key, value = "user.k%d" % rnd.randrange(3), rnd.randbytes(rnd.randrange(40))
        if ROOT or os.access(old, os.W_OK):
            os.setxattr(old, key, value)
    elif op == "time" and not os.path.islink(old):
        os.utime(old, ns=(1, rnd.randrange(2 * 10**18)))


SCRIPT = r"""
for i in 1 2 3; do echo $RANDOM >r$i; done; rm -rf ./a; mkdir -p x/y; mv ./b x/y 2>/dev/null; ln -sf / x/l; chmod 700 x; test -f ./c && echo z >>./c 2>/dev/null
find . -name e\* -delete 2>/dev/null; true
"""


def close_some():
    """An ordinary user's own files and folders that nobody may read."""
    for d in reversed(places()[1:]):
        if rnd.random() < 0.1:
            os.chmod(d, rnd.choice([0o000, 0o100, 0o500, 0o300]))


def open_all():
    for top, dirs, files in os.walk(WS):
        for d in dirs:
            p = os.path.join(top, d)
            if not os.path.islink(p):
                os.chmod(p, stat.S_IMODE(os.lstat(p).st_mode) | 0o700)
        for f in files:
            p = os.path.join(top, f)
            if stat.S_ISREG(os.lstat(p).st_mode):
                os.chmod(p, stat.S_IMODE(os.lstat(p).st_mode) | 0o600)


def ak(*args, kill=None):
    p = subprocess.Popen([AK, "checkpoint", args[0], "-C", WS, *args[1:]], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if kill is not None:
        time.sleep(kill)
        p.kill()
    out, err = p.communicate()
    return p.returncode, out.decode(), err.decode()


def fault(n, text):
    print("FAULT round %d seed %d: %s" % (n, SEED, text), flush=True)
    sys.exit(1)


def differ(a, b):
    for k in sorted(set(a) | set(b)):
        if a.get(k) != b.get(k):
            return "%r: %s -> %s" % (k, tuple(x[:40] if isinstance(x, bytes) else x for x in a[k]) if k in a else None,
                                     tuple(x[:40] if isinstance(x, bytes) else x for x in b[k]) if k in b else None)
    return None


def main():
    wipe(WS)
    os.mkdir(WS)
    kills = begun = save_kills = save_begun = 0
    took = save_took = 0.02  # of the last whole restore and save: kills come anywhere within them
    saves = []
    for n in range(ROUNDS):
        for _ in range(rnd.randrange(12)):
            operate()
        closed = not ROOT and rnd.random() < 0.3
        if closed:
            close_some()
        want = look()
        for _ in range(rnd.choice([0, 0, 0, 1, 2])):
            rc, out, err = ak("save", kill=rnd.random() * save_took)
            save_kills += 1
            save_begun += rc == -9
        at = time.monotonic()
        rc, out, err = ak("save")
        save_took = time.monotonic() - at
        if rc:
            fault(n, "save: %d %s" % (rc, err))
        new = out.strip()
        if differ(want, look()):
            fault(n, "a save changed the tree: " + differ(want, look()))
        saves.append((new, want))
        open_all()
        for _ in range(rnd.randrange(1, 20)):
            operate()
        if EXEC and rnd.random() < 0.2:
            subprocess.run([AK, "exec", "-C", WS, "--timeout", "60", "--", "bash", "-c", SCRIPT], check=False, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        ident, want = rnd.choice(saves)
        for _ in range(rnd.choice([0, 0, 1, 2, 3])):
            rc, out, err = ak("restore", ident, kill=rnd.random() * took)
            kills += 1
            begun += rc == -9
        at = time.monotonic()
        rc, out, err = ak("restore", ident)
        took = time.monotonic() - at
        if rc:
            fault(n, "restore: %d %s %s" % (rc, out, err))
        d = differ(want, look())
        if d:
            fault(n, "the restored tree differs: " + d)
        open_all()
        if len(saves) > 6:
            saves.pop(0)
            if n % 10 == 0:
                rc, out, err = ak("list")
                keep = {s[0] for s in saves}
                gone = [line.split()[0] for line in out.splitlines()[1:] if line.split()[0] not in keep]
                if gone:
                    rc, out, err = ak("rm", *gone[:200])
                    if rc:
                        fault(n, "rm: " + err)
    print("OK %d rounds, %d restores killed (%d before their end), %d saves killed (%d before their end)" % (ROUNDS, kills, begun, save_kills, save_begun))


main()
