#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes command lines, lets rules judge them, runs each one that is allowed in a sandbox and looks whether all that was started and
written is permitted by a rule. The rules are read again here, without a parser of command lines.

usage: approve_diff.py AK DRIVE WORKSPACE COUNT SEED [--prefix]
--prefix: the lines are judged without the parser; the faults this makes have to be found (then the exit status is 1).
"""
import json
import os
import random
import re
import shlex
import subprocess
import sys

from shell_lines import mutated as any_mutated, soup

RULES = ["+bash(git status*)", "+bash(git log*)", "+bash(git diff*)", "+bash(ls*)", "+bash(echo *)", "+bash(cat *)", "+bash(grep *)",
         "+bash(sort *)", "+bash(head *)", "+bash(wc *)", "+bash(printf *)", "+bash(true)", "+bash(test *)", "+bash([ *)", "+bash(uniq *)",
         "+bash(find *)", "+bash(env A=1 true)", "+bash(B=2 true)", "+bash(./tool *)", "+bash(cut *)", "+bash(diff *)", "+bash(date *)",
         "+write_file(out/*)", "-write_file(out/no*)", "-bash(cat secret*)", "-bash(*--forbidden*)"]

GOOD = ["git status", "git status -s", "git log -1", "git log --oneline -2 -- f", "git diff", "git diff HEAD -- f", "ls", "ls -l src", "ls 'a b'",
        "echo hi", "echo a b", "echo 'x; touch M'", 'echo "a && touch M"', "echo a\\;b", "cat f", "cat f g", "grep -n x f", "grep 'a|b' f",
        "sort f", "sort -u f", "head -1 f", "wc -l f", "printf '%s\\n' a", "true", "test -f f", "[ -f f ]", "uniq f", "env A=1 true",
        "B=2 true", "./tool x", "cut -c1 f", "diff f g", "date +%s", "ls --color=never", "echo a#b", "echo {}", "grep -e '$x' f", "cat -- f",
        "ls -- '*'", "echo ''", "echo \"\"", "'ls' src", "l's' src", "\\ls", "git  status", "git 'status'", "echo 'it'\\''s'", "sort -- -o"]
BAD = ["touch M", "rm g", "./evil", "sh -c 'touch M'", "bash evil.sh", "env touch M", "env A=1 touch M", "xargs touch", "find . -exec touch M \\;",
       "find f -execdir ./evil \\;", "find f -fprint M", "find f -fprintf M x", "sort -o M f", "sort -oM f", "sort f --outp=M", "sort --output M f",
       "sort --compress-prog ./evil -S 1k f", "uniq f M", "git diff --output=M", "git log -1 --outp=M", "git diff --no-index --ext-diff f g",
       "git -c alias.x='!touch M' x", "git grep -O./evil x", "printf -v PATH .; evil", "printf -v PATH %s .; true; git status", "test -v 'a[$(touch M)]'",
       "[ -v 'a[$(touch M)]' ]", "PATH=. ls", "PATH=.; ls", "ls() { touch M; }; ls", "f() { touch M; }; f", "command touch M", "eval touch M",
       "exec touch M", "nice touch M", "timeout 5 touch M", "$0 -c 'touch M'", "C=touch; $C M", "{touch,M}", "t${Z}ouch M", "$'touch' M", "/b?n/t?uch M",
       "alias ls='touch M'; ls", "hash -p ./evil ls; ls", "trap 'touch M' EXIT", "cat secret", "cat 'secret'", "cat secret2", "echo --forbidden",
       "ls --forbidden", "diff -l f g", "date -s x", "awk 'BEGIN{system(\"touch M\")}'", "sed -n '1e touch M' f", "tee M", "cp f M", "ln -s f M", "dd of=M",
       "mv f M", "python3 -c 'open(\"M\",\"w\")'", "cd /tmp; ./tool x", "cd src && ./tool x", "time touch M", "coproc touch M", "(touch M)", "{ touch M; }",
       "if touch M; then ls; fi", "while touch M; do break; done", "for i in 1; do touch M; done", "case x in x) touch M;; esac", "[[ -f f && -f g ]]",
       "((x=1))", "select x in a; do touch M; break; done", "ls=(1)", "a[$(touch M)]=1", ". ./evil.sh", "source ./evil.sh", "export PATH=.; evil"]
INSIDE = ["$(touch M)", "`touch M`", '"$(touch M)"', '"`touch M`"', "<(touch M)", ">(touch M)", "${x:-$(touch M)}", "$((a[$(touch M)]))", "$'\\x3btouch M'",
          '$"x"', "*", "~", "{a,b}", "$HOME", "'$(touch M)'", '"\\$(touch M)"', "\\$\\(touch\\ M\\)", "\\`", '"a\\"; touch M; echo \\"b"', "'a\nb'", "!x", "$", "[a]"]
REDIRS = [">out/a", ">>out/a", "2>out/e", ">out/sub/a", ">M", ">>M", "2>M", "&>M", ">&M", ">|M", "<>M", ">out/no1", ">out/../M", ">out/link/M", ">./out/a",
          ">out/./no2", ">'out/a b'", ">$M", ">~/M", ">/dev/null", "2>/dev/null", "2>&1", ">&2", "<f", "<<<x", ">/dev/tcp/127.0.0.1/9", "3>out/a", "{fd}>M", ">out/a>M",
          ">out/a*", ">\\M", ">\"out/b\"", "<<E\nx\nE\n", "<<'E'\n$(touch M)\nE\n", "<<E\n$(touch M)\nE\n", "<<E\n`touch M`\nE\n"]
JOINS = [" && ", " || ", "; ", " | ", " & ", "\n", "&&", ";", "|", "&", " ;", " |& ", "\r\n", " \\\n", "&\\\n&", " # ", " && \\\n", "; ! ", "\n\n", " `", " $("]


def part(r):
    text = r.choice(GOOD) if r.random() < 0.93 else r.choice(BAD)
    if r.random() < 0.12:
        text += " " + r.choice(INSIDE)
    if r.random() < 0.2:
        text = text + " " + r.choice(REDIRS) if r.random() < 0.8 else r.choice(REDIRS) + " " + text
    if r.random() < 0.03:
        text = r.choice(["A=1 ", "LD_PRELOAD=./x.so ", "GIT_PAGER=./evil ", "PATH=. ", "! ", "BASH_ENV=evil.sh "]) + text
    if r.random() < 0.08:
        text = r.choice(["(%s)", "{ %s; }", "if true; then %s; fi", "if %s; then true; fi", "while ! true; do %s; done", "until true; do %s; done"]) % text
    return text


def mutate(r, text):
    out = list(text)
    for _ in range(r.randint(1, 2)):
        at = r.randrange(len(out) + 1)
        what = r.random()
        if what < 0.3 and out:
            del out[min(at, len(out) - 1)]
        elif what < 0.7:
            out.insert(at, r.choice("'\"`\\$(){}[]<>&|;!#~*?=\n\t "))
        else:
            out.insert(at, r.choice([";touch M;", "\ntouch M\n", "$(touch M)", "'", '"', "\\", ">M ", "\\\n"]))
    return "".join(out)


def lines(count, seed):
    r = random.Random(seed)
    for _ in range(count):
        kind = r.random()
        if kind < 0.04:
            yield soup(r).replace("CMD", "touch M")
            continue
        if kind < 0.08:
            yield any_mutated(r).replace("CMD", "touch M")
            continue
        text = part(r)
        for _ in range(r.choice([0, 0, 1, 1, 2, 3])):
            text += r.choice(JOINS) + part(r)
        yield mutate(r, text) if r.random() < 0.25 else text


def glob(text):
    out = ""
    i = 0
    while i < len(text):
        c = text[i]
        if c == "\\":
            i += 1
            c = re.escape(text[i])
        else:
            c = ".*" if c == "*" else "." if c == "?" else re.escape(c)
        out += c
        i += 1
    return re.compile(out + r"\Z", re.S)


def rules_of(tool, sign):
    return [glob(x[len(tool) + 2:-1]) for x in RULES if x.startswith(sign + tool + "(")]


ALLOW, DENY = rules_of("bash", "+"), rules_of("bash", "-")
WRITE, NO_WRITE = rules_of("write_file", "+"), rules_of("write_file", "-")


def started_ok(argv):
    """Is this program, with these arguments, what a rule allows and none denies?"""
    spellings = [" ".join(argv), " ".join(shlex.quote(x) if re.search(r"[\s'\"\\$`;&|()<>]", x) or not x else x for x in argv)]
    if any(d.match(s) for d in DENY for s in spellings):
        return False
    # an exact rule with a variable in front starts the program without it
    return any(a.match(spellings[1]) or a.match("B=2 " + spellings[1]) for a in ALLOW)


def written_ok(path, top, git):
    if path in ("/dev/null", "/dev/tty") or path.startswith("/tmp/sh-thd"):
        return True
    if not path.startswith(top + "/"):
        return False
    rel = path[len(top) + 1:]
    if git and re.match(r"\.git/(index|index\.lock)\Z", rel):
        return True
    return any(w.match(rel) for w in WRITE) and not any(n.match(rel) for n in NO_WRITE)


def workspace(top):
    os.makedirs(top + "/src", exist_ok=True)
    os.makedirs(top + "/out/sub", exist_ok=True)
    for name, text in {"f": "x\ny\nx\n", "g": "y\n", "src/s": "s\n", "a b": "", "secret": "s\n", "secret2": "s\n", "x.so": "",
                       "evil.sh": "touch M\n"}.items():
        with open(os.path.join(top, name), "w", encoding="utf-8") as f:
            f.write(text)
    for name, text in {"evil": "#!/bin/sh\ntouch M\n", "tool": "#!/bin/true\n", "src/tool": "#!/bin/sh\ntouch M\n"}.items():
        with open(os.path.join(top, name), "w", encoding="utf-8") as f:
            f.write(text)
        os.chmod(os.path.join(top, name), 0o755)
    if not os.path.islink(top + "/out/link"):
        os.symlink("../src", top + "/out/link")
    git = ["git", "-C", top, "-c", "user.name=x", "-c", "user.email=x@y", "-c", "init.defaultBranch=main"]
    for args in (["init", "-q"], ["add", "f", "g", "src"], ["commit", "-q", "--allow-empty", "-m", "x"]):
        subprocess.run(git + args, check=True, stdin=subprocess.DEVNULL)


def main():
    ak, drive, top, count, seed = sys.argv[1:4] + [int(sys.argv[4]), int(sys.argv[5])]
    prefix = sys.argv[6:] == ["--prefix"]
    workspace(top)
    texts = [x for x in lines(count, seed) if "\0" not in x and x]
    judged = subprocess.run([drive] + ["--prefix"] * prefix + [top] + RULES, input=b"\0".join(x.encode() for x in texts) + b"\0",
                            stdout=subprocess.PIPE, check=True).stdout.decode("utf-8", "replace").splitlines()
    assert len(judged) == len(texts), (len(judged), len(texts))
    allowed = [t for t, j in zip(texts, judged) if j[0] == "A"]
    denied = sum(j[0] == "D" for j in judged)
    here = os.path.dirname(os.path.abspath(__file__))
    done, bad, starts, writes = 0, 0, 0, 0
    for at in range(0, len(allowed), 500):
        some = allowed[at:at + 500]
        with open(os.path.join(here, "approve_run.py"), encoding="utf-8") as f:
            code = f.read()
        p = subprocess.run([ak, "exec", "-C", top, "--max-output", "64m", "--cpus", "max", "--", "/usr/bin/python3", "-c", code, top], input=json.dumps(some).encode(),
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        if p.returncode != 0:
            print("FAIL the sandbox: %s" % p.stderr.decode()[-300:])
            return 2
        for text, r in zip(some, json.loads(p.stdout)):
            done += r["bash"]
            git = any(x[:1] == ["git"] for x in r["started"])
            starts += len(r["started"])
            writes += len(r["written"])
            wrong = [x for x in r["started"] if not started_ok(x)] + [x for x in r["written"] if not written_ok(x, top, git)]
            if wrong:
                bad += 1
                if bad <= 20:
                    print("NOT PERMITTED %r: %r" % (text, wrong[:3]))
    print("approve-diff: lines=%d allowed=%d denied=%d run=%d started=%d written=%d not_permitted=%d" %
          (len(texts), len(allowed), denied, done, starts, writes, bad))
    if done != len(allowed) or len(allowed) * 8 < len(texts) or starts == 0 or writes == 0:
        print("FAIL too little was run to say anything")
        return 2
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
