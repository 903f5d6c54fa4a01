#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Random trees and random operations: applying a cow run must give what a direct run gives, however often it is killed.

usage: cow_rounds.py AK FOLDER ROUNDS SEED
Each round makes one random tree twice, runs the same random script directly on one and as cow run on the other, applies the
changes (every second round with SIGKILL at random moments before) and compares both trees: types, modes, bytes, link texts.
"""
import os, random, shutil, signal, stat, subprocess, sys, time

AK, TOP, ROUNDS, SEED = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
NAMES = ["a", "b", "c", "d.txt", "e f", "-x", "\u00e4", "n\nl", "dir", "sub", "q'uote", "$v", "*"]


def path(r, depth=3):
    return "/".join(r.choice(NAMES) for _ in range(r.randint(1, depth)))


def put(p, data, mode):
    # never through a link: root runs this too, and a link may lead anywhere
    fd = os.open(p, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    with os.fdopen(fd, "wb") as f:
        f.write(data)
        os.fchmod(fd, mode)


def make_tree(r, top):
    """Links lead to names of the tree or nowhere: what makes the tree must not be led out of it."""
    os.mkdir(top)
    for _ in range(r.randint(0, 25)):
        p = os.path.join(top, path(r))
        try:
            os.makedirs(os.path.dirname(p), exist_ok=True)
            kind = r.random()
            if kind < 0.2:
                os.mkdir(p)
            elif kind < 0.35:
                os.symlink(r.choice(["a", "dir", "nowhere", "/nonexistent/x"]), p)
            else:
                put(p, r.randbytes(r.choice([0, 3, 100, 70000])), r.choice([0o644, 0o600, 0o755, 0o444]))
        except OSError:
            pass
    for base, dirs, _ in os.walk(top, topdown=False):
        for d in dirs:
            if not os.path.islink(os.path.join(base, d)) and r.random() < 0.1:
                os.chmod(os.path.join(base, d), r.choice([0o700, 0o750]))


def sh(text):
    return "'" + text.replace("'", "'\\''") + "'"


# last, since moving a folder out of an overlay's lower layer is a copy (EXDEV), which a folder closed to its owner stops half-way
CLOSE = "find . -depth -type d -name dir -exec chmod 555 {} +"


# what a copy of a folder into itself does, also through a link, depends on the order in which the folder is read: cp(1) stops where it
# meets its own copy. An overlay reads in another order than the folder below it
INSIDE = 'inside() { case "$(realpath -m -- "$1")/" in "$(realpath -m -- "$2")"/*) return 0 ;; esac; return 1; }'


def operation(r):
    p, q = "./" + path(r), "./" + path(r)
    while p.startswith(q) or q.startswith(p):
        q = "./" + path(r)
    P, Q = sh(p), sh(q)
    return r.choice([
        f"echo {r.random()} > {P}",
        f"echo {r.random()} >> {P}",
        f"mkdir -p {P}",
        f"mkdir {P}; echo x > {P}/new; echo y > {P}/a",
        f"rm -f {P}",
        f"rm -rf {P}",
        f"rm -rf {P}; mkdir -p {P}; echo z > {P}/b",
        f"rm -rf {P}; echo file > {P}",
        f"inside {Q} {P} || mv -f {P} {Q}",
        f"inside {Q} {P} || mv -fT {P} {Q}",
        f"inside {Q} {P} || cp -a {P} {Q}",
        f"[ -f {P} ] && chmod {r.choice(['600', '644', '755', '400', '4755', '2755'])} {P}",
        f"[ -d {P} ] && [ ! -L {P} ] && chmod {r.choice(['700', '750', '755', '1777'])} {P}",
        f"rm -f {P}; ln -s {sh(r.choice(['a', '/etc', '..', 'zz']))} {P}",
        f"ln -sfn {sh(r.choice(['b', '/tmp']))} {P}",
        f"truncate -s {r.choice([0, 5, 200000])} {P}",
        f"touch {P}",
        f"find {P} -type f -exec sh -c 'echo more >> \"$1\"' _ {{}} \\;",
        f"tar cf /tmp/t.tar {P} && rm -rf {P} && tar xf /tmp/t.tar",
        f"mkdir -p {P} && chmod 755 {P} && {{ inside {P} {Q} || cp -a {Q} {P}/; }}",
    ])


def look(top, rel=b""):
    """All below top: type, mode, bytes; closed folders and files are opened for the look and closed again."""
    top = os.fsencode(top)
    seen = {}
    for n in os.listdir(top):
        p, name = os.path.join(top, n), os.path.join(rel, n)
        st = os.lstat(p)
        mode = stat.S_IMODE(st.st_mode)
        if stat.S_ISLNK(st.st_mode):
            seen[name] = ("link", os.readlink(p))
        elif stat.S_ISDIR(st.st_mode):
            seen[name] = ("dir", mode)
            os.chmod(p, mode | 0o700)
            seen.update(look(p, name))
            os.chmod(p, mode)
        else:
            os.chmod(p, mode | 0o400)
            with os.fdopen(os.open(p, os.O_RDONLY | os.O_NOFOLLOW), "rb") as f:
                seen[name] = ("file", mode & 0o1777, f.read())
            os.chmod(p, mode)
    return seen


def open_up(top):
    os.chmod(top, 0o700)
    for n in os.listdir(top):
        p = os.path.join(top, n)
        if os.path.isdir(p) and not os.path.islink(p):
            open_up(p)


def ak(*args):
    return subprocess.run([AK, *args], stdin=subprocess.DEVNULL, capture_output=True, timeout=120)


def apply_killed(r, ident):
    kills = 0
    for _ in range(r.randint(1, 6)):
        p = subprocess.Popen([AK, "apply", ident], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                             stderr=subprocess.DEVNULL, start_new_session=True)
        time.sleep(r.uniform(0, 0.02))
        # ak and its child that writes
        try:
            os.killpg(p.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        if p.wait() < 0:
            kills += 1
        else:
            break
    return kills


def one_round(i):
    r = random.Random(SEED * 1000003 + i)
    a, b, work = (os.path.join(TOP, n) for n in ("direct", "cow", "script"))
    for d in (a, b):
        if os.path.isdir(d):
            open_up(d)
            shutil.rmtree(d)
    make_tree(r, a)
    subprocess.run(["cp", "-a", a, b], check=True)
    script = INSIDE + "\n" + "\n".join(f"{{ {operation(r)} ; }} 2>/dev/null" for _ in range(r.randint(1, 12)))
    script += f"\n{{ {r.choice([CLOSE, 'true'])} ; }} 2>/dev/null\nexit 0\n"
    if os.path.lexists(work):
        os.unlink(work)
    put(work, script.encode(), 0o600)
    time.sleep(0.02)  # what is there is older than the run by more than the clock of files can tell
    x = ak("exec", "-q", "-C", a, "-c", script)
    if i % 2:
        y = ak("exec", "--write", "cow", "--json", "-C", b, "-c", script)
    else:
        y = ak("exec", "-q", "--write", "cow", "--apply", "always", "-C", b, "-c", script)
    kills = 0
    if x.returncode or y.returncode:
        return f"exit codes {x.returncode} {y.returncode}: {x.stderr!r} {y.stderr!r}", 0
    if i % 2:
        import json
        ident = json.loads(y.stdout)["changes"]["id"]
        if ident:
            kills = apply_killed(r, ident)
            z = ak("apply", ident)
            if z.returncode and b"there is no changeset" not in z.stderr:
                return f"apply: {z.stderr!r}", kills
    want, got = look(a), look(b)
    if want != got:
        diff = [(k, want.get(k), got.get(k)) for k in sorted(want.keys() | got.keys()) if want.get(k) != got.get(k)]
        return f"trees differ: {diff[:4]}", kills
    return None, kills


bad = kills = 0
for i in range(ROUNDS):
    why, k = one_round(i)
    kills += k
    if why:
        bad += 1
        print(f"round {i} (seed {SEED}): {why[:1500]}")
        if bad >= 5:
            break
print(f"{ROUNDS} rounds, {bad} bad, {kills} kills")
sys.exit(1 if bad else 0)
