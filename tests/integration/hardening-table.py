# SPDX-License-Identifier: Apache-2.0
"""Prints the table of docs/hardening.md from real runs.

Usage: hardening-table.py REQUIREMENTS.tsv RESULTS-FOLDER (the -o folder of run-integration.sh)
A test belongs to the requirements whose numbers its name starts with: 12+18:name, or that follow a case: FD-01+26:name. In the suite
run further cases follow one: TOOL-07+11:name."""
import re
import sys


def results(path):
    found = {}
    try:
        lines = open(path, encoding="utf-8", errors="replace").read().splitlines()
    except OSError:
        return None
    for line in lines:
        kind, name, *_ = line.split("\t")
        suite, test = name.split("/", 1)
        if suite == "run" and re.match(r"[A-Z]+-[0-9]", test):
            continue
        m = re.match(r"([0-9+]+):", re.sub(r"^[A-Z]+-[0-9]+\+", "", test))
        # MNT-06+37:name is a case that proves 37
        m = m or re.match(r"(?:[A-Z]+-[0-9]+\+)([0-9+]+):", test)
        for n in m.group(1).split("+") if m else []:
            found.setdefault(int(n), []).append((kind, suite, test))
    return found


def cell(res, number):
    if res is None:
        return "not run"
    tests = res.get(number, [])
    if not tests:
        return "-"
    bad = sum(1 for t in tests if t[0] == "FAIL")
    good = sum(1 for t in tests if t[0] == "PASS")
    skipped = len(tests) - bad - good
    text = "FAIL %d of %d" % (bad, len(tests)) if bad else "pass %d" % good if good else "skipped"
    return text + (", %d skipped" % skipped if skipped and good else "")


def names(number, *all_res):
    seen = []
    for res in all_res:
        for _, suite, test in (res or {}).get(number, []):
            n = "%s/%s" % (suite, test)
            if n not in seen:
                seen.append(n)
    text = ", ".join("`%s`" % n.replace("|", "/") for n in seen[:3])
    return text + (" and %d more" % (len(seen) - 3) if len(seen) > 3 else "")


def main():
    user, root = results(sys.argv[2] + "/user.tsv"), results(sys.argv[2] + "/root.tsv")
    print("| # | requirement | tests | user | root | notes |")
    print("|---|---|---|---|---|---|")
    for line in open(sys.argv[1], encoding="utf-8"):
        number, text, note = line.rstrip("\n").split("\t")
        n = int(number)
        print("| %d | %s | %s | %s | %s | %s |" % (n, text, names(n, user, root), cell(user, n), cell(root, n), note))


main()
