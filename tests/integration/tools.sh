# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash source=lib.sh
# Real tools doing small real work inside the default profile. A tool that is not installed is skipped.
. "$TESTS/lib.sh"

# the toolchains of the real home, where a root caller has them below /root
[ "$WHO" = root ] && [ -d "$REALHOME" ] && export HOME=$REALHOME
PATH=$PATH:$HOME/.cargo/bin:$HOME/.pyenv/shims:$HOME/.local/bin
export PATH
LIMIT=150

# tool NAME TEXT - the shell text must succeed inside
tool() {
	ak -c "set -e; $2"
	is "code" "$RC" 0
}

t "122:gcc"
if need gcc; then
	printf '#include <stdio.h>\n#include <math.h>\nint main(int c,char**v){printf("%%.1f\\n", sqrt(c+3.0));return 0;}\n' >"$WS/a.c"
	tool gcc 'gcc -O2 -Wall -pipe -o a a.c -lm; ./a; gcc -O2 -flto -c a.c; gcc -static -o s a.c -lm && ./s'
	is output "$(out | tr '\n' ' ')" "2.0 2.0 "
fi

t "122:g++"
if need g++; then
	printf '#include <thread>\n#include <iostream>\nint main(){std::thread t([]{std::cout<<"th\\n";});t.join();}\n' >"$WS/a.cc"
	tool g++ 'g++ -pthread -o a a.cc; ./a'
	is output "$(out)" th
fi

t "122:clang"
if need clang; then
	printf 'int main(void){return 0;}\n' >"$WS/a.c"
	tool clang 'clang -O1 -fsanitize=address -o a a.c && ./a; clang -o b a.c; ./b'
fi

t "122:make"
if need make gcc; then
	printf 'all: a b c\na b c: %%: ; @echo $@; sleep 0.1; test -x /bin/sh\n' >"$WS/Makefile"
	tool make 'make -j4 --output-sync=target | sort | tr "\n" " "'
	like output "$(out)" 'a b c'
fi

t "122:cmake"
if need cmake gcc; then
	printf 'cmake_minimum_required(VERSION 3.13)\nproject(p C)\nenable_testing()\nadd_executable(p p.c)\nadd_test(NAME t COMMAND p)\n' >"$WS/CMakeLists.txt"
	printf 'int main(void){return 0;}\n' >"$WS/p.c"
	tool cmake 'cmake -S . -B b >/dev/null; cmake --build b >/dev/null; cd b; ctest 2>&1 | tail -n 3'
	like output "$(out)" "100% tests passed"
fi

t "122:git"
if need git; then
	tool git 'git init -q -b main r; cd r; git config user.name x; git config user.email x@x; for i in 1 2 3; do echo $i >f; git add f; git commit -qm $i; done
git gc -q; git fsck; git worktree add -q ../w -b w; git clone -q . ../c; cd ../c; git log --oneline | wc -l; git bundle create ../b main 2>/dev/null; git status --porcelain'
	like output "$(out)" 3
fi

t "122:python"
if need python3; then
	tool python 'python3 -c "
import sqlite3,ssl,json,subprocess,tempfile,threading,multiprocessing,socket,asyncio,ctypes,hashlib
assert subprocess.run([\"true\"]).returncode==0
t=threading.Thread(target=print,args=(\"thread\",)); t.start(); t.join()
c=sqlite3.connect(\"x.db\"); c.execute(\"create table t(a)\"); c.commit()
with tempfile.TemporaryFile() as f: f.write(b\"x\")
async def m():
    s=await asyncio.start_server(lambda r,w:w.close(),\"127.0.0.1\",0)
    p=s.sockets[0].getsockname()[1]; r,w=await asyncio.open_connection(\"127.0.0.1\",p); print(len(await r.read()))
asyncio.run(m())
print(multiprocessing.Pool(2).map(abs,[-1,-2]))"'
	like output "$(out | tr '\n' ' ')" 'thread 0 \[1, 2\]'
fi

t "122:python-venv"
if need python3; then
	if python3 -c 'import ensurepip' 2>/dev/null; then
		mkdir "$WS/pkg"
		printf 'from setuptools import setup\nsetup(name="pk",version="1",py_modules=["pk"])\n' >"$WS/pkg/setup.py"
		echo 'X=7' >"$WS/pkg/pk.py"
		tool venv 'python3 -m venv v; . v/bin/activate; python -m pip --version >/dev/null; python -c "import sys; print(sys.prefix != sys.base_prefix)"; cp pkg/pk.py v/lib/python3*/site-packages/; python -c "import pk; print(pk.X)"'
		is output "$(out | tr '\n' ' ')" "True 7 "
	else skip "python3 without ensurepip"; fi
fi

t "122:node"
if need node; then
	printf 'const {Worker,isMainThread}=require("worker_threads"),cp=require("child_process"),fs=require("fs"),http=require("http");
fs.writeFileSync("x","y");console.log(cp.execSync("echo sub").toString().trim());
const s=http.createServer((q,r)=>r.end("web")).listen(0,"127.0.0.1",()=>http.get({port:s.address().port,host:"127.0.0.1"},r=>r.on("data",d=>{console.log(d.toString());s.close()})));' >"$WS/a.js"
	tool node 'node a.js'
	is output "$(out | tr '\n' ' ')" "sub web "
fi

t "PKG-01:npm-offline"
if need npm; then
	mkdir "$WS/m"
	printf '{"name":"akm","version":"1.0.0","main":"i.js","bin":{"akm":"i.js"}}' >"$WS/m/package.json"
	printf '#!/usr/bin/env node\nconsole.log("akm")\n' >"$WS/m/i.js"
	before=$(ls -A "$HOME" | sort)
	tool npm 'cd m; npm pack --silent >/dev/null; mv akm-1.0.0.tgz ..; cd ..; mkdir p; cd p; npm init -y >/dev/null; npm i ../akm-1.0.0.tgz --no-audit --no-fund --offline >/dev/null; npx --no-install akm; node -e "require(\"akm\")"'
	is output "$(out | tr '\n' ' ')" "akm akm "
	is "home of the host" "$(ls -A "$HOME" | sort)" "$before"
fi

t "122:java"
if need java javac; then
	printf 'public class A{public static void main(String[] a)throws Exception{Thread t=new Thread(()->System.out.println("java"));t.start();t.join();}}\n' >"$WS/A.java"
	tool java 'javac A.java; java A; jar cf a.jar A.class; java -cp a.jar A'
	is output "$(out | tr '\n' ' ')" "java java "
fi

t "122:rust"
if need rustc cargo && rustc --version >/dev/null 2>&1; then
	mkdir -p "$WS/src"
	printf '[package]\nname="p"\nversion="0.1.0"\nedition="2021"\n' >"$WS/Cargo.toml"
	printf 'fn main(){let h=std::thread::spawn(||println!("rust"));h.join().unwrap();}\n#[test]\nfn t(){assert_eq!(1+1,2);}\n' >"$WS/src/main.rs"
	tool rust 'cargo build --offline -q; ./target/debug/p; cargo test --offline -q 2>&1 | grep -c "1 passed"'
	is output "$(out | tr '\n' ' ')" "rust 1 "
else [ -n "$TEST_SKIP" ] || skip "rustc is there but has no toolchain for this user"; fi

t "122:go"
if need go; then
	printf 'package main\nimport "fmt"\nfunc main(){c:=make(chan int);go func(){c<-7}();fmt.Println(<-c)}\n' >"$WS/a.go"
	tool go 'go run a.go'
	is output "$(out)" 7
fi

t "122:perl"
if need perl; then
	tool perl 'perl -MPOSIX -MSocket -e "my \$p=fork; if(!\$p){exit 3} waitpid(\$p,0); print \$?>>8, \"\\n\""'
	is output "$(out)" 3
fi

t "122:ruby"
if need ruby; then
	tool ruby 'ruby -e "puts Thread.new{1+1}.value"'
	is output "$(out)" 2
fi

t "122:tar-and-friends"
tool tar 'mkdir d; echo x >d/f; ln -s f d/l; tar czf a.tgz d; rm -r d; tar xzf a.tgz; cat d/l; find . -name f | xargs grep -l x; sort -R /etc/passwd | sort -c 2>/dev/null || true; cp -a d e; diff -r d e; stat -c %h d/f >/dev/null; free >/dev/null; uptime >/dev/null; ps ax >/dev/null; nproc >/dev/null; df . >/dev/null'
like output "$(out)" '^x'

t "122:curl-to-a-server-inside"
if need curl python3; then
	echo served >"$WS/f"
	tool curl 'python3 -m http.server --bind 127.0.0.1 8123 >/dev/null 2>&1 & for i in $(seq 100); do curl -sf http://127.0.0.1:8123/f && break || sleep 0.2; done; curl -sm 3 http://192.0.2.1/ || echo "rc $?"'
	is output "$(out | tr '\n' ' ')" "served rc 7 "
fi

t "69:gdb"
if need gdb gcc; then
	printf 'int main(void)\n{\n\tint x = 41;\n\tx++;\n\treturn x;\n}\n' >"$WS/a.c"
	tool gdb 'gcc -g -o a a.c; gdb -nx -batch -ex "break main" -ex run -ex next -ex next -ex "print x" ./a 2>&1'
	like output "$(out)" '= 42'
fi

t "69:strace"
if need strace; then
	tool strace 'strace -f -o t -e trace=execve true; grep -c execve t'
	like output "$(out)" '^[1-9]'
fi

t "122:bash-job-control"
if need bash; then
	ak -- bash -c 'set -m; sleep 1.5 & sleep 1.5 & jobs | wc -l; wait; (exit 5) & wait $!; echo $?; coproc cat; echo hi >&"${COPROC[1]}"; read -r x <&"${COPROC[0]}"; echo $x; diff <(echo a) <(echo a) && echo same'
	is output "$(out | tr '\n' ' ')" "2 5 hi same "
fi

t "122:valgrind"
if need valgrind; then
	tool valgrind 'valgrind -q /bin/true'
fi

# docs/tools.md: the flags, and why
t "122:chromium"
if need chromium python3; then
	printf '<p>page</p><script>document.write("sum "+(40+2))</script>' >"$WS/i.html"
	# shellcheck disable=SC2016
	ak -m 2g -c 'python3 -m http.server --bind 127.0.0.1 8124 >/dev/null 2>&1 &
for i in $(seq 100); do curl -sf http://127.0.0.1:8124/i.html >/dev/null && break || sleep 0.2; done
chromium --headless --no-sandbox --disable-gpu --dump-dom http://127.0.0.1:8124/i.html 2>/dev/null
chromium --headless --no-sandbox --disable-gpu --screenshot=s.png --window-size=320,200 http://127.0.0.1:8124/i.html 2>/dev/null
file -b s.png 2>/dev/null || head -c 4 s.png'
	is code "$RC" 0
	like dom "$(out)" 'page.*sum 42'
	like picture "$(out)" 'PNG'
fi

done_suite
