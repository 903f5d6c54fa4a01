# SPDX-License-Identifier: Apache-2.0
"""Runs of `ak run` that end badly: at a random moment a signal goes to ak, its agent, the provider or the sandbox's init.

usage: ends_rounds.py AK FOLDER ROUNDS SEED AT_ONCE [CGROUP]
Each round is one run over a scripted conversation (a script of --api replay, or a server of one of three wire formats in a process of its
own), and what has to hold whatever happened: the result object is written by whoever of ak and its agent is left, codes agree with
it, nothing is left running, and the session can be gone on with over each of the three formats; the server refuses a conversation that a
provider would refuse. Prints one line a fault, and at the end how many rounds of each kind there were. AK_ENDS_ONE=N does round N only.
"""
import json
import os
import random
import select
import signal
import socket
import struct
import subprocess
import sys
import threading
import time

AK, FOLDER, ROUNDS, SEED, AT_ONCE = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4], int(sys.argv[5])
CGROUP = sys.argv[6] if len(sys.argv) > 6 else ""
APIS = ("anthropic", "chat", "responses")
LIMIT = 90.0  # seconds for what has to come by itself; far more than it takes on a busy machine

# ---- the provider


def sse(events):
    return b"".join((f"event: {n}\n" if n else "").encode() + b"data: " + (d if isinstance(d, str) else json.dumps(d)).encode() + b"\n\n"
                    for n, d in events)


def reply_anthropic(text, calls):
    use = {"input_tokens": 10, "output_tokens": 5}
    ev = [("message_start", {"type": "message_start", "message": {"id": "msg_1", "type": "message", "role": "assistant", "model": "m",
                                                                   "content": [], "stop_reason": None, "usage": use}})]
    blocks = [({"type": "text", "text": ""}, {"type": "text_delta", "text": text})]
    blocks += [({"type": "tool_use", "id": i, "name": n, "input": {}}, {"type": "input_json_delta", "partial_json": json.dumps(a)})
               for i, n, a in calls]
    for k, (start, delta) in enumerate(blocks):
        ev.append(("content_block_start", {"type": "content_block_start", "index": k, "content_block": start}))
        ev.append(("content_block_delta", {"type": "content_block_delta", "index": k, "delta": delta}))
        ev.append(("content_block_stop", {"type": "content_block_stop", "index": k}))
    stop = "tool_use" if calls else "end_turn"
    ev.append(("message_delta", {"type": "message_delta", "delta": {"stop_reason": stop}, "usage": {"output_tokens": 5}}))
    ev.append(("message_stop", {"type": "message_stop"}))
    return sse(ev)


def reply_chat(text, calls):
    def chunk(delta, finish=None, usage=None):
        c = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m",
             "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}
        return c | {"usage": usage} if usage else c

    ev = [chunk({"role": "assistant", "content": text})]
    ev += [chunk({"tool_calls": [{"index": k, "id": i, "type": "function", "function": {"name": n, "arguments": json.dumps(a)}}]})
           for k, (i, n, a) in enumerate(calls)]
    ev.append(chunk({}, "tool_calls" if calls else "stop", {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}))
    return sse([(None, e) for e in ev] + [(None, "[DONE]")])


def reply_responses(text, calls):
    items = [{"type": "message", "id": "m_1", "role": "assistant", "status": "completed",
              "content": [{"type": "output_text", "text": text, "annotations": []}]}]
    items += [{"type": "function_call", "id": "fc_" + i, "call_id": i, "name": n, "arguments": json.dumps(a), "status": "completed"}
              for i, n, a in calls]
    head = {"id": "resp_1", "object": "response", "created_at": 1, "model": "m"}
    ev = [("response.created", {"type": "response.created", "sequence_number": 0, "response": head | {"status": "in_progress", "output": []}})]
    for k, it in enumerate(items):
        ev.append(("response.output_item.added", {"type": "response.output_item.added", "sequence_number": len(ev), "output_index": k, "item": it}))
        ev.append(("response.output_item.done", {"type": "response.output_item.done", "sequence_number": len(ev), "output_index": k, "item": it}))
    ev.append(("response.completed", {"type": "response.completed", "sequence_number": len(ev), "response": head | {
        "status": "completed", "output": items, "usage": {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15}}}))
    return sse(ev)


REPLY = {"anthropic": reply_anthropic, "chat": reply_chat, "responses": reply_responses}


def turns_of(api, body):
    """The conversation as (role, text, ids of calls, ids of results), a tuple for each message or item."""
    out = []
    if api == "responses":
        for it in body["input"]:
            kind = it.get("type", "message")
            if kind == "function_call":
                out.append(("assistant", "", [it["call_id"]], []))
            elif kind == "function_call_output":
                out.append(("result", "", [], [it["call_id"]]))
            elif kind == "message":
                c = it["content"]
                out.append((it["role"], c if isinstance(c, str) else "".join(p.get("text", "") for p in c), [], []))
        return out
    for m in body["messages"]:
        c = m.get("content") or ""
        if api == "chat":
            role = "result" if m["role"] == "tool" else m["role"]
            out.append((role, c if isinstance(c, str) else "".join(p.get("text", "") for p in c), [t["id"] for t in m.get("tool_calls", [])],
                        [m["tool_call_id"]] if role == "result" else []))
            continue
        parts = [{"type": "text", "text": c}] if isinstance(c, str) else c
        results = [p["tool_use_id"] for p in parts if p["type"] == "tool_result"]
        if [p["type"] for p in parts][: len(results)] != ["tool_result"] * len(results):
            raise ValueError("results do not stand first")
        out.append((m["role"], "".join(p.get("text", "") for p in parts if p["type"] == "text"),
                    [p["id"] for p in parts if p["type"] == "tool_use"], results))
    return out


def check(api, turns):
    """What providers refuse: a call without its result right behind it, a result without a call, roles out of turn, nothing said."""
    open_ids, last = [], None
    for role, text, calls, results in turns:
        if role in ("system", "developer"):
            continue
        if open_ids and not results and not (api == "responses" and calls):
            raise ValueError(f"{role} turn while {open_ids} are open")
        if api == "anthropic" and results and sorted(results) != sorted(open_ids):
            raise ValueError(f"results {results} for calls {open_ids}")
        for r in results:
            if r not in open_ids:
                raise ValueError(f"result {r} without a call")
            open_ids.remove(r)
        if api == "anthropic" and role == last:
            raise ValueError(f"two {role} turns in a row")
        if api == "anthropic" and last is None and role != "user":
            raise ValueError("the first turn is not the user's")
        if not text.strip() and not calls and not results:
            raise ValueError(f"an empty {role} turn")
        open_ids += calls
        last = role
    if open_ids or last == "assistant":
        raise ValueError(f"the conversation ends with {last}, open {open_ids}")


class Provider:
    """One process that serves one round on loopback; the plan says what goes wrong with which request."""

    def __init__(self, r, plan, steps):
        self.plan, self.steps, self.faults = plan, steps, os.path.join(r, "provider")
        self.asked = 0
        sock = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = sock.getsockname()[1]
        self.pid = os.fork()
        if self.pid == 0:
            try:
                self.serve(sock)
            finally:
                os._exit(0)
        sock.close()

    def end(self):
        if self.pid:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
            self.pid = 0

    def serve(self, sock):
        for s in (signal.SIGINT, signal.SIGTERM):
            signal.signal(s, signal.SIG_DFL)
        while True:
            c, _ = sock.accept()
            threading.Thread(target=self.talk, args=(c,), daemon=True).start()

    def talk(self, c):
        try:
            while self.one(c):
                pass
        except OSError:
            pass
        finally:
            c.close()

    def one(self, c):
        data = b""
        while b"\r\n\r\n" not in data:
            more = c.recv(65536)
            if not more:
                return False
            data += more
        head, _, body = data.partition(b"\r\n\r\n")
        lines = head.decode("latin-1").split("\r\n")
        length = next(int(x.split(":")[1]) for x in lines if x.lower().startswith("content-length:"))
        while len(body) < length:
            body += c.recv(65536)
        path = lines[0].split(" ")[1]
        api = "anthropic" if path.endswith("/messages") else "responses" if path.endswith("/responses") else "chat"
        n, self.asked = self.asked, self.asked + 1
        return self.answer(c, api, json.loads(body), self.plan.get(n) or self.plan.get("all"))

    def answer(self, c, api, body, fault):
        turns = turns_of(api, body)
        try:
            check(api, turns)
        except ValueError as e:
            with open(self.faults, "a", encoding="utf-8") as f:
                f.write(f"{api}: {e}: {json.dumps(body)[-1500:]}\n")
            c.sendall(b"HTTP/1.1 400 X\r\nContent-Type: application/json\r\nContent-Length: 46\r\n\r\n"
                      b'{"error":{"message":"no such conversation!!"}}')
            return True
        if fault == "silent":
            time.sleep(3600)
        if fault == "reset":
            c.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            return False
        said = [t for t in turns if t[0] == "user" and t[1]]
        done = {i for t in turns for i in t[2]}
        step = next((s for s in self.steps if s[1][0][0] not in done), ("Done.", []))
        text, calls = ("Went on.", []) if "further" in said[-1][1] else step
        data = REPLY[api](text, calls)
        c.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n" + (data[: len(data) // 2] if fault else data))
        if fault == "half-reset":
            time.sleep(0.05)
            c.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        if fault == "half-silent":
            time.sleep(3600)
        return False


# ---- processes


def read(path):
    try:
        with open(path, "rb") as f:
            return f.read()
    except OSError:
        return b""


def born(pid):
    stat = read(f"/proc/{pid}/stat")
    return stat.rpartition(b")")[2].split()[19] if stat else None


def dead(pid, when):
    stat = read(f"/proc/{pid}/stat")
    return not stat or born(pid) != when or stat.rpartition(b")")[2].split()[0] in (b"Z", b"X")


def below(pid):
    """pid -> time of birth, of all descendants"""
    parents = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            stat = read(f"/proc/{name}/stat")
            if stat:
                parents.setdefault(int(stat.rpartition(b")")[2].split()[1]), []).append(int(name))
    found, todo = {}, [pid]
    while todo:
        for child in parents.get(todo.pop(), []):
            found[child] = born(child)
            todo.append(child)
    return found


def agent_of(ak):
    return next((p for p in below(ak) if read(f"/proc/{p}/comm").strip() == b"ak-agent"), None)


def init_of(ak):
    for p in below(ak):
        for line in read(f"/proc/{p}/status").splitlines():
            if line.startswith(b"NSpid:") and len(line.split()) > 2 and line.split()[-1] == b"1":
                return p
    return None


def wait_for(what, limit=LIMIT):
    end = time.monotonic() + limit
    while time.monotonic() < end:
        got = what()
        if got:
            return got
        time.sleep(0.01)
    return None


# ---- one round


class Round:
    def __init__(self, n):
        self.n, self.rng = n, random.Random(f"{SEED}:{n}")
        self.dir = os.path.join(FOLDER, f"r{n}")
        self.ws = os.path.join(self.dir, "ws")
        self.faults, self.seen, self.agent_seen = [], {}, False
        self.target = ("ak", "agent", "provider", "init")[n % 4]
        rng = self.rng
        self.signal = rng.choice([signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
        self.api = rng.choice(APIS + ("replay",)) if self.target != "provider" else rng.choice(APIS)
        self.write = rng.choice(["cow", "direct"])
        self.form = rng.choice(["json", "stream-json"])
        self.delay = rng.uniform(0, 1.0)
        self.fault = rng.choice(["killed", "reset", "half-reset", "half-silent", "silent", "once"]) if self.target == "provider" else None

    def bad(self, text):
        self.faults.append(text)

    def steps(self):
        # what has to be ended lasts; what has to come to an end by itself does not
        last = "sleep 0.3" if self.target in ("provider", "init") else f"sleep 98{os.getpid() % 1000:03}{self.n:04}"
        bash = lambda i, t: (f"call_{i}", "bash", {"command": t})
        return [("Working.", [bash("a", "echo a >a; sleep 0.1"), ("call_b", "write_file", {"path": "b", "content": "b"})]),
                ("More.", [bash("c", f"echo c >c; {last}"), bash("d", "echo d; (sleep 9876 &)")])]

    def script(self, steps, name, end):
        path = os.path.join(self.dir, name)
        with open(path, "w", encoding="utf-8") as f:
            print('{"schema":"ak-replay/1"}', file=f)
            for text, calls in steps:
                print(json.dumps({"reply": {"text": text, "calls": [{"id": i, "name": n, "args": a} for i, n, a in calls]}}), file=f)
            print(json.dumps(end), file=f)
        return path

    def words(self, api, port):
        if api == "replay":
            return ["--api", "replay", "--replay", self.script(self.steps(), "script", {"reply": {"text": "Done."}})]
        path = "" if api == "anthropic" else "/v1"
        return ["--api", api, "-m", "m", "--base-url", f"http://127.0.0.1:{port}{path}"]

    def env(self):
        e = {k: v for k, v in os.environ.items() if not k.startswith("XDG_")}
        e.update(HOME=self.dir, XDG_STATE_HOME=self.dir + "/state", XDG_RUNTIME_DIR=self.dir + "/run", ANTHROPIC_API_KEY="sk-x", OPENAI_API_KEY="sk-x")
        if CGROUP:
            e["AK_CGROUP"] = CGROUP
        return e

    def start(self, words):
        def plain():
            for s in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                signal.signal(s, signal.SIG_DFL)

        return subprocess.Popen([AK, "run", "-C", self.ws, "-q", *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=open(self.dir + "/err", "ab"), env=self.env(), preexec_fn=plain)

    def drain(self, p):
        """Until nobody has its output any more: ak and its agent have ended then."""
        out, end = b"", time.monotonic() + LIMIT
        while select.select([p.stdout], [], [], max(0, end - time.monotonic()))[0]:
            piece = os.read(p.stdout.fileno(), 65536)
            if not piece:
                return out
            out += piece
        self.bad("output is still open: " + " ".join(f"{q}:{read(f'/proc/{q}/comm').decode().strip()}" for q in self.seen))
        return out

    def strike(self, p, provider):
        time.sleep(self.delay)
        self.agent_seen = agent_of(p.pid) is not None
        if self.target == "ak":
            p.send_signal(self.signal)
        elif self.target == "provider":
            if self.fault == "killed":
                provider.end()
        else:
            pid = wait_for(lambda: (agent_of if self.target == "agent" else init_of)(p.pid) or p.poll() is not None)
            if pid and pid is not True:
                try:
                    os.kill(pid, self.signal)
                except ProcessLookupError:
                    pass

    def watch(self, p, stop):
        while not stop.is_set():
            self.seen.update(below(p.pid))
            stop.wait(0.05)

    def run(self):
        os.makedirs(self.ws)
        os.makedirs(self.dir + "/run", 0o700)
        plan = {}
        if self.fault and self.fault != "killed":
            k = self.rng.randrange(3)
            plan = {k: "reset"} if self.fault == "once" else {i: self.fault for i in range(k, 40)}
        provider = Provider(self.dir, plan, self.steps()) if self.api != "replay" else None
        words = ["-y", "-o", self.form, "--write", self.write, "--timeout", "2s" if self.fault not in (None, "once") else "80s"]
        p = self.start(words + self.words(self.api, provider.port if provider else 0) + ["go"])
        stop = threading.Event()
        watcher = threading.Thread(target=self.watch, args=(p, stop))
        watcher.start()
        self.strike(p, provider)
        out = self.drain(p)
        rc = p.wait()
        stop.set()
        watcher.join()
        if provider:
            provider.end()
        session = self.judge(rc, out)
        self.look_left()
        if session:
            self.go_on(session)
        self.look_at_files()

    # -- what has to hold

    def judge(self, rc, out):
        lines = [x for x in out.split(b"\n") if x.strip()]
        try:
            objects = [json.loads(x) for x in lines]
        except ValueError:
            self.bad(f"no JSON: {out[-300:]!r}")
            return None
        last = objects[-1] if objects and objects[-1].get("type") == "result" else None
        if sum(o.get("type") == "result" for o in objects) > 1:
            self.bad("two results")
        if last is None:
            # nobody of ours was left, or ak had not begun
            if self.target != "ak" or rc != -self.signal or (self.agent_seen and self.signal == signal.SIGKILL):
                self.bad(f"no result; exit {rc}, agent seen: {self.agent_seen}, output {out[-200:]!r}")
            return None
        if last["schema"] != "ak-result/1" or (self.form == "json" and len(objects) != 1):
            self.bad(f"not one result: {out[:300]!r}")
        if rc >= 0 and last["exit_code"] != rc:
            self.bad(f"exit {rc}, the result says {last['exit_code']}")
        self.judge_code(rc, last)
        return last["session_id"]

    def judge_code(self, rc, last):
        code, n = last["exit_code"], int(self.signal)
        ended = {130: "error_interrupted", 143: "error_interrupted", 1: "error", 5: "error_sandbox", 0: "success", 4: "error_provider", 13: "error_timeout"}
        want = {"ak": {5} if self.signal == signal.SIGKILL else {128 + n},
                "agent": {1} if self.signal == signal.SIGKILL else {128 + n, 1},
                "init": {0, 5} if self.signal == signal.SIGKILL else {0},
                "provider": {0} if self.fault == "once" else {0, 4, 13} if self.fault == "killed" else {4, 13}}[self.target]
        if code not in want:
            self.bad(f"exit code {code} ({last['error']}), not one of {want}")
        elif last["subtype"] != ended[code]:
            self.bad(f"code {code} and {last['subtype']}")
        if (rc == -9) != (self.target == "ak" and self.signal == signal.SIGKILL):
            self.bad(f"ak itself ended with {rc}")

    def look_left(self):
        left = lambda: [p for p, when in self.seen.items() if not dead(p, when)]
        if not wait_for(lambda: not left(), 20):
            self.bad("left running: " + " ".join(f"{p}:{read(f'/proc/{p}/comm').decode().strip()}" for p in left()))
        with open("/proc/self/mountinfo", encoding="utf-8", errors="replace") as f:
            if any(self.dir in x for x in f):
                self.bad("a mount is left")

    def go_on(self, session):
        # over all of them in a long series
        for api in APIS if ROUNDS > 20 else [self.rng.choice(APIS)]:
            provider = Provider(self.dir, {}, self.steps())
            p = self.start(["-o", "json", "--approval", "auto", "--write", self.write, "--resume", session, *self.words(api, provider.port), "further"])
            out = self.drain(p)
            rc = p.wait()
            provider.end()
            try:
                text = json.loads(out)["result"]
            except ValueError:
                text = None
            if rc != 0 or text != "Went on.":
                self.bad(f"not gone on with over {api}: exit {rc}, {out[-400:]!r}")
        if read(self.dir + "/provider"):
            self.bad("no provider takes this: " + read(self.dir + "/provider").decode()[:1800])

    def look_at_files(self):
        odd = [x for x in os.listdir(self.ws) if x not in "abcd"]
        if odd:
            self.bad(f"files left in the workspace: {odd}")
        try:
            kinds = {x[:2] for x in os.listdir(self.dir + "/state/ak/sessions")} - {"s-", "c-"}
        except OSError:
            kinds = set()
        left = [x for _, _, files in os.walk(self.dir + "/run") for x in files]
        if kinds or left:
            self.bad(f"files left: {kinds} {left}")


def name(r):
    return f"{r.target}:{r.fault or r.signal.name} {r.api} {r.write} {r.form} after {r.delay:.2f}"


def work(first, pipe):
    for n in range(first, ROUNDS, AT_ONCE):
        r = Round(n)
        try:
            r.run()
        except Exception as e:  # noqa: a fault of the round, told with it
            r.bad(f"{type(e).__name__}: {e}")
        err = read(r.dir + "/err").decode(errors="replace").strip()[-300:] if r.faults else ""
        os.write(pipe, (json.dumps([r.target, r.fault or r.signal.name, [f"round {n} ({name(r)}): {f} | {err}" for f in r.faults]]) + "\n").encode())
        if not r.faults:
            subprocess.run(["chmod", "-R", "u+rwX", r.dir], check=False)
            subprocess.run(["rm", "-rf", r.dir], check=False)


def main():
    one = os.environ.get("AK_ENDS_ONE")
    if one:
        r = Round(int(one))
        r.run()
        print(name(r), r.faults)
        return
    pipe = os.pipe()
    for first in range(AT_ONCE):
        if os.fork() == 0:
            os.close(pipe[0])
            work(first, pipe[1])
            os._exit(0)
    os.close(pipe[1])
    kinds, bad, done = {}, 0, 0
    with os.fdopen(pipe[0]) as f:
        for line in f:
            target, what, faults = json.loads(line)
            done += 1
            kinds[f"{target}:{what}"] = kinds.get(f"{target}:{what}", 0) + 1
            bad += bool(faults)
            for fault in faults:
                print("FAULT " + fault, flush=True)
    print(" ".join(f"{k}={v}" for k, v in sorted(kinds.items())))
    print(f"{done} rounds, {bad} bad")
    sys.exit(0 if done == ROUNDS and not bad else 1)


main()
