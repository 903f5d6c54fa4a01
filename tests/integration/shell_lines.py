#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Command lines for tests of the reader of command lines: a corpus by hand, and lines made from a grammar or from loose tokens."""
import random

CORPUS = r"""
git status
git status && rm -rf x
a || b; c & d | e |& f
! a | b
{ a; b; }
( a; b ) >x
if a; then b; elif c; then d; else e; fi
while a; do b; done <x
until a; do b; done
for i in a b "c d"; do echo $i; done
for i; do a; done
case $x in a|b) c;; (d) e;; *) f;; esac
case x in esac
f() { a; }; f
function g { a; }
f () ( a )
[ -f x ] && [[ -n $y && -f z ]] || a
a >x 2>&1 <y >>z 2>/dev/null
a <>x >|y 3<&0 4>&-
a &>x
a &>>x
a >&x
cat <<<word
echo "a $(b "c" `d`) e" 'f' \g
echo $(a; b | c) `e; f`
echo ${x} ${x:-y} ${#x} ${x%%.c} "${x:-$(a)}"
echo $((1+2*x)) $x $1 $@ "$*" $? $$
X=1 Y="a b" cmd arg
X=1; Y=$(a)
a=(b c) d
echo {a,b} {1..3} {} a{b ~ ~/x a=~/b *.c [ab] a?b
echo a#b # comment ; rm x
time a | b
a;b
a&b
a&&b||c
a|b
>x
<x cat
>x echo a >y b
echo 'a
b'
echo a \
 b
a\
b c
echo "a\"b\\c\$d\e"
export A=1 B
export PATH="$PATH:/x" C
declare -x A=1
local x=1
readonly R=2
exec 3>&1
trap 'rm x' EXIT
find . -name '*.c' -exec rm {} \;
find . \( -name a -o -name b \)
grep -e "a|b" 'c' <in | sort | uniq -c
echo "unterminated
echo 'unterminated
echo $(unterminated
echo `unterminated
( a
{ a
if a; then b
a )
a }
a ;; b
a | | b
a && && b
&& a
; a
a <
a >> ;
case x in a) b
for in a; do b; done
echo \
echo a\
echo $'a\n' $"b"
echo $'a\'b'
((a+1))
echo $(( (1+2)*3 ))
echo $((a) )
select x in a; do b; done
coproc a
[[ a =~ b(c) ]]
a[1]=2
echo a[1]
echo @(a|b)
echo <(a; b) >(c)
diff <(a) <(b) >c
{fd}>x a
2>&1 a
a 2>x3 4
a 12>x
echo "a" "b"'c'd
"a b" c
\a b
'i'f a
if\
 a; then b; fi
echo if then fi
echo }
echo ! a
a ! b
! ! a
time -p a
echo "$(echo "$(echo "$(a)")")"
echo "`a`" "`b \`c\``"
{ { { a; }; }; }
( ( a ) )
((a)) && b
a $(b) >$(c) `d`=e
echo ${x/a/b} ${x//a/b} ${x^^} ${!x} ${x[1]}
echo "${x}"y$z
echo a=b c+=d
a+=b c
a= b
=b c
1a=b c
echo $ a$ "$" $%
echo "a!b" a!b !x !=
echo ^a^b
echo %1 @x ,y .z :w +v -u
git commit -m "fix: it's done" -- a/b 'c d'
[ a = b ] || { echo no; exit 1; }
echo 1 2>x 3
echo 1>x
echo a1>x
f(){ a;};f
if a
then
  b
fi
while :; do a; done & b
a | while read x; do b $x; done
a &&
b
a |
b
a && # why
b
{
a
b
}
(a
b)
f() {
a
}
case a in
b)
 c
 ;;
d) e ;&
f) g ;;&
esac
""".strip("\n").split("\n")

# lines of several lines
CORPUS += [
    "cat <<EOF\nhi $(a) `b` $c\nEOF\nd",
    "cat <<'EOF'\nhi $(a)\nEOF\nd",
    "cat <<-EOF\n\thi\n\tEOF\nd",
    "cat <<A <<B\n1\nA\n2\nB\nc",
    "cat <<E | b\nx\nE",
    "a <<E; b\nx\nE\nc",
    "cat <<EOF\nhi",
    "cat <<E\nx\\\nE\nE",
    "echo 'a\nb' \"c\nd\"\ne",
    "if a\nthen\n  b\nelse c\nfi\nd",
    "case a in\nb)\n c\n ;;\nd) e ;;\nesac",
    "f() {\na\n}\nb",
    "a && # why\nb",
    "a |\n\nb",
    "{\na\nb\n}\n(c\nd)",
    "a\n\n\nb",
    "a # x\nb",
    "a \\\n&& b",
    "a &\\\n& b",
    "i\\\nf a; then b; fi",
    "echo \"a\\\nb\"",
    "echo $\\\nx",
    "for x in a b\ndo c\ndone",
    "for x\ndo c\ndone",
    "\n\na\n",
    "\t a \t b \t",
    "a\rb c\r",
]

WORDS = ["a", "git", "status", "-x", "--long=v", "x.c", "'q q'", '"d d"', '"$v"', "$v", "${v}", "${v:-w}", "$(CMD)", "`b`", '"$(CMD)"',
         "\\e", "a\\ b", "{}", "{a,b}", "*", "a?c", "[a]", "~", "~/y", "H~1", "a=b", "a:b", "''", '""', "'a'\"b\"c", "$", "a$", "!", "a!b", "#x",
         "a#b", "]", "}", "if", "done", "$((1+2))", "$'x'", '$"x"', "12", "@", "%", "^", ",", "+", "-", "--", "=", "a\\\nb", '"\\$x\\"y"', "'*'",
         '"*"', "\\*", "a'b'c", "${#v}", "$1", "$@", '"$@"', "$?", "\xc3\xbc", "<(CMD)"]
NAMES = ["a", "git", "ls", "rm", "env", "echo", "'r'm", "\\rm", "/bin/x", "./y", "[", "true", ":", "cd", "test", "x-y"]
REDIRS = [">x", "> x", ">>x", "<x", "2>x", "2>&1", ">&2", "<&0", ">|x", "<>x", "&>x", ">&x", "<<<x", ">$v", ">\"x y\"", "2>/dev/null", ">~/x", "3>&-"]
TOKENS = WORDS + NAMES + REDIRS + ["&&", "||", ";", "&", "|", "|&", "\n", "(", ")", "{", "}", "!", "then", "fi", "if", "do", "done", "while", "for",
                                   "in", "case", "esac", ";;", "`", "'", '"', "\\", "$(", "$((", "))", "[[", "]]", "function", "f()", "time",
                                   "<<E", "\nE\n", "#", " ", "\t", "<", ">", "${", "a(", "\r"]


def simple(r, depth):
    parts = []
    for _ in range(r.choice([0, 0, 0, 0, 1, 2])):
        parts.append(r.choice(["A=1", "B=", "C='x y'", "D=$v", "E+=1", "F=~/x", "G=$(CMD)"]))
    if r.random() < 0.9 or not parts:
        parts.append(r.choice(NAMES))
        for _ in range(r.choice([0, 1, 1, 2, 3])):
            parts.append(r.choice(WORDS))
    for _ in range(r.choice([0, 0, 0, 1, 2])):
        parts.insert(r.randint(0, len(parts)), r.choice(REDIRS))
    text = r.choice([" ", " ", "  ", "\t"]).join(parts)
    while "CMD" in text:
        text = text.replace("CMD", line(r, depth + 1) if depth < 3 else "z", 1)
    return text


def command(r, depth):
    if depth > 3 or r.random() < 0.75:
        return simple(r, depth)
    inner = lambda: line(r, depth + 1)
    shape = r.randrange(9)
    return [lambda: "{ %s; }" % inner(), lambda: "(%s)" % inner(), lambda: "if %s; then %s; fi" % (inner(), inner()),
            lambda: "if %s; then %s; else %s; fi" % (inner(), inner(), inner()), lambda: "while %s; do %s; done" % (inner(), inner()),
            lambda: "for i in a $v; do %s; done" % inner(), lambda: "case $v in a|b) %s;; *) %s;; esac" % (inner(), inner()),
            lambda: "f() { %s; }" % inner(), lambda: "{ %s; } %s" % (inner(), r.choice(REDIRS))][shape]()


def line(r, depth=0):
    text = r.choice(["", "", "", "", "! "]) + command(r, depth)
    for _ in range(r.choice([0, 0, 1, 1, 2, 3])):
        text += r.choice([" && ", " || ", "; ", " | ", " & ", "\n", "&&", ";", "|", " &&\n"]) + command(r, depth)
    return text


def soup(r):
    return r.choice(["", " "]).join(r.choice(TOKENS) for _ in range(r.randint(1, 9)))


def mutated(r):
    text = list(line(r))
    for _ in range(r.randint(1, 3)):
        at = r.randrange(len(text) + 1)
        if r.random() < 0.5 and text:
            del text[min(at, len(text) - 1)]
        else:
            text.insert(at, r.choice("'\"`\\$(){}[]<>&|;!#~*?=\n\t a0"))
    return "".join(text)


def generated(count, seed):
    r = random.Random(seed)
    for _ in range(count):
        yield r.choice([line, line, soup, mutated])(r).replace("CMD", "z")
