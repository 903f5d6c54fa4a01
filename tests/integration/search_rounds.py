# SPDX-License-Identifier: Apache-2.0
"""search_rounds.py AK_SEARCH ROUNDS SEED FOLDER: random trees with random .gitignore files, listed by ak-search and by git.

Two questions to git a round: what `git ls-files` shows of a tree without an index, and what `git check-ignore` says of every file.
Prints the first difference and ends with 1, or one line with what was compared.
"""
import os
import random
import shutil
import subprocess
import sys

NAMES = ["a", "b", "ab", "abc", "a.c", "b.o", "x y", "build", "\u00e9", "#a", "!b", "a]", ".hidden", "A", "a-b", "c "]
PIECES = ["a", "b", "c", "*", "?", "**", "/", "!", "[ab]", "[!a]", "[^b]", "[a-c]", "[]]", "[[:alpha:]]", "[[:upper:]]", ".o", ".", "\\", " ", "#",
          "build", "\u00e9", "-", "]", "["]
LINES = ["*", "!*", "!*/", "*.o", "/a", "a/", "/*", "!/a", "**/b", "a/**", "a/**/b", "**", "/**", "**/", "#x", "", "\\#a", "\\!b", "x\\ y", "c\\ ", "c ",
         "/build/", "!build/", "*/b", "a/*/c", "abc/**", "[", "a[", "\\", "/", "//", "!", "a//b", "./a", "a/.", "***", "a**", "**a", "a/***/b"]
GIT = {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null", "HOME": "/nonexistent", "PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8"}


def rule(rnd):
    if rnd.random() < 0.5:
        return rnd.choice(LINES)
    return "".join(rnd.choice(PIECES) for _ in range(rnd.randint(1, 5))) + rnd.choice(["", "", "/", " ", "\r"])


def make(rnd, folder, depth):
    if rnd.random() < (0.9 if depth == 0 else 0.4):
        end = rnd.choice(["\n", ""])
        text = "\n".join(rule(rnd) for _ in range(rnd.randint(1, 5))) + end
        with open(os.path.join(folder, ".gitignore"), "w", encoding="utf-8", newline="") as f:
            f.write(rnd.choice(["", "", "", "\ufeff"]) + text)
    for name in rnd.sample(NAMES, rnd.randint(2, 7)):
        path = os.path.join(folder, name)
        kind = rnd.random()
        if kind < 0.4 and depth < 3:
            os.mkdir(path)
            make(rnd, path, depth + 1)
        elif kind < 0.47:
            os.symlink("a", path)
        else:
            open(path, "w", encoding="utf-8").close()


def git(top, *args, stdin=b""):
    r = subprocess.run(["git", "-C", top, *args], input=stdin, capture_output=True, env=GIT, check=False)
    if r.returncode > 1:
        sys.exit("git: " + r.stderr.decode())
    return set(filter(None, r.stdout.split(b"\0")))


def main():
    program, rounds, seed, work = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
    compared = 0
    for i in range(rounds):
        rnd = random.Random(seed + i)
        top = os.path.join(work, "tree")
        shutil.rmtree(top, ignore_errors=True)
        os.mkdir(top)
        git(top, "init", "-q")
        make(rnd, top, 0)
        r = subprocess.run([program, "files", "*"], cwd=top, capture_output=True, check=False)
        ours = set(filter(None, r.stdout.split(b"\n")))
        theirs = git(top, "ls-files", "-z", "--others", "--exclude-per-directory=.gitignore")
        every = set()
        for folder, dirs, files in os.walk(top):
            if ".git" in dirs and folder == top:
                dirs.remove(".git")
            links = [d for d in dirs if os.path.islink(os.path.join(folder, d))]
            every.update(os.path.relpath(os.path.join(folder, f), top).encode() for f in files + links)
        ignored = git(top, "check-ignore", "-z", "--stdin", "--no-index", stdin=b"\0".join(sorted(every)))
        if r.returncode > 1 or ours != theirs or ours != every - ignored:
            print("seed", seed + i, "tree", top)
            for path in sorted((ours ^ theirs) | (ours ^ (every - ignored))):
                print(path, "ours" if path in ours else "-", "ls-files" if path in theirs else "-", "ignored" if path in ignored else "-")
            sys.exit(1)
        compared += len(every)
    print(f"{rounds} trees, {compared} paths")


main()
