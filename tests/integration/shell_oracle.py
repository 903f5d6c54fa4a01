#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the reader of command lines with shfmt, and with what bash and dash take for a valid line.

usage: shell_oracle.py DUMP COUNT SEED
Wherever ours claims to understand a line, shfmt has to find the same simple commands with the same words and redirections, and
bash (dash too, unless the line holds a form of bash) has to accept it. Exit status 1 and one line for each difference.
"""
import json
import re
import subprocess
import sys

from shell_lines import CORPUS, generated

UNKNOWN, BASH, CR, COND = 1, 1 << 19, 1 << 21, 8
KINDS = ["<", ">", ">>", ">|", "<>", "<&", ">&", "&>", "&>>", "<<", "<<-", "<<<"]


def ours(dump, lines):
    data = b"\0".join(x.encode("utf-8", "surrogateescape") for x in lines) + b"\0"
    out = subprocess.run([dump], input=data, stdout=subprocess.PIPE, check=True).stdout.decode().splitlines()
    assert len(out) == len(lines), (len(out), len(lines))
    return [json.loads(x) for x in out]


def shfmt(text):
    p = subprocess.run(["shfmt", "-ln", "bash", "--tojson"], input=text.encode("utf-8", "surrogateescape"), stdout=subprocess.PIPE,
                       stderr=subprocess.PIPE)
    return json.loads(p.stdout) if p.returncode == 0 else None


def op_numbers():
    """shfmt numbers its operators: ask it"""
    table = {}
    for op in KINDS:
        text = "a %sx\n" % op + ("x\n" if op.startswith("<<") else "")
        table[shfmt(text)["Stmts"][0]["Redirs"][0]["Op"]] = op
    return table


OPS = op_numbers()


def unescape(text, in_quotes):
    text = text.replace("\\\n", "")
    return re.sub(r'\\([$`"\\])' if in_quotes else r"\\(.)", r"\1", text, flags=re.S)


def value(word):
    """The value of a word of shfmt's, None where it has expansions"""
    out = ""
    for part in word.get("Parts", []):
        kind = part["Type"]
        if kind == "Lit":
            out += unescape(part["Value"], False)
        elif kind == "SglQuoted" and not part.get("Dollar"):
            out += part.get("Value", "")
        elif kind == "DblQuoted" and not part.get("Dollar"):
            for inner in part.get("Parts", []):
                if inner["Type"] != "Lit":
                    return None
                out += unescape(inner["Value"], True)
        else:
            return None
    return out


def assign(a):
    if a.get("Naked"):
        return value(a["Value"]) if "Value" in a else a["Name"]["Value"]
    head = a["Name"]["Value"] + ("+=" if a.get("Append") else "=")
    if "Array" in a or "Index" in a:
        return None
    if "Value" not in a:
        return head
    v = value(a["Value"])
    return None if v is None else head + v


def redir(r):
    n = r["N"]["Value"] if "N" in r else ""
    return (OPS.get(r["Op"], "?"), n, value(r["Word"]))


def walk(node, found):
    if isinstance(node, list):
        for x in node:
            walk(x, found)
    elif isinstance(node, dict):
        if "Type" not in node and ("Cmd" in node or "Redirs" in node):
            cmd = node.get("Cmd", {})
            redirs = [redir(r) for r in node.get("Redirs", [])]
            if cmd.get("Type") == "CallExpr":
                found.append(([assign(a) for a in cmd.get("Assigns", [])], [value(w) for w in cmd.get("Args", [])], redirs))
            elif cmd.get("Type") == "DeclClause":
                found.append(([], [cmd["Variant"]["Value"]] + [assign(a) for a in cmd.get("Args", [])], redirs))
            elif cmd.get("Type") == "LetClause":
                found.append(([], None, redirs))
            elif redirs:
                found.append(([], [], redirs))
        for x in node.values():
            walk(x, found)


def text_of(word):
    return None if word["why"] else word["t"].encode("latin-1").decode("utf-8", "surrogateescape")


def my_commands(line):
    out = []
    for c in line["cmds"]:
        if c["place"] & COND:
            continue
        redirs = []
        for r in c["redirs"]:
            fd = "" if r["fd"] < 0 else str(r["fd"])
            redirs.append((KINDS[r["kind"]], fd, text_of(r)))
        out.append(([text_of(w) for w in c["assigns"]], [text_of(w) for w in c["words"]], redirs))
    return out


def same_words(mine, theirs):
    return len(mine) == len(theirs) and all(m is None or m == t for m, t in zip(mine, theirs))


def same_redirs(mine, theirs):
    if len(mine) != len(theirs):
        return False
    for (mk, mn, mt), (tk, tn, tt) in zip(mine, theirs):
        # >&word is what bash does with &>
        if mk == "&>" and tk == ">&":
            tk = "&>"
        if mk in ("<<", "<<-"):
            mt = None
        if mk != tk or mn.lstrip("0") != tn.lstrip("0") or not (mt is None or mt == tt):
            return False
    return True


def difference(line, tree):
    theirs = []
    walk(tree, theirs)
    # those with the fewest unknown parts first, since an unknown part fits everything
    for mine in sorted(my_commands(line), key=lambda c: repr(c).count("None")):
        for t in theirs:
            if t[1] is not None and same_words(mine[0], t[0]) and same_words(mine[1], t[1]) and same_redirs(mine[2], t[2]):
                theirs.remove(t)
                break
        else:
            return "ours alone: %r; theirs: %r" % (mine, theirs)
    return "theirs alone: %r" % theirs if theirs else None


def accepts(shell, text):
    return subprocess.run([shell, "-n", "-c", " " + text], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0


def main():
    dump, count, seed = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    lines = [x for x in CORPUS + list(generated(count, seed)) if x and "\0" not in x]
    parsed = ours(dump, lines)
    understood = bad = valid = 0
    for text, line in zip(lines, parsed):
        tree = shfmt(text + "\n")
        valid += tree is not None
        # shfmt takes CR for a blank; no shell does
        if line["forms"] & UNKNOWN or line["forms"] & CR:
            continue
        understood += 1
        if not accepts("bash", text):
            why = "bash refuses it"
        elif not line["forms"] & BASH and not accepts("dash", text):
            why = "dash refuses it"
        elif re.search(r"#[^\n]*\\\n", text):
            continue  # shfmt takes a backslash at the end of a comment for a line that goes on; no shell does
        elif tree is None and "$((" in text:
            continue  # shfmt reads what is inside, which shells do when they run it
        elif tree is None:
            why = "shfmt refuses it"
        else:
            why = difference(line, tree)
        if why:
            bad += 1
            if bad <= 30:
                print("DIFFERENT %r: %s" % (text, why))
    print("shell-oracle: lines=%d valid_for_shfmt=%d understood=%d different=%d" % (len(lines), valid, understood, bad))
    # a reader that understands nothing would pass
    if understood * 3 < valid:
        print("FAIL fewer than a third of the valid lines were understood")
        return 1
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
