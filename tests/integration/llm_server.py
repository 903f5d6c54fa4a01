# SPDX-License-Identifier: Apache-2.0
"""A model server on loopback for the suite "llm": the first segment of the path says how it behaves, the rest is the API's.

usage: llm_server.py PORTS_FILE JOURNAL SAMPLES [CERT KEY]
Writes "plain tls dead" (port numbers) to PORTS_FILE when it is ready. Appends one JSON object for each request to JOURNAL:
its path, headers, body as text. Ends when its standard input does.

  /sse:NAME/...    the recorded stream NAME of SAMPLES (anthropic, chat, responses by the path), in pieces
  /script:A,B,.../ the first request gets A, the second B, ...; the last one again and again. A is a mode of this list
  /status:N[:H=V]  an error status with a body of the format, and a header
  others: see MODES
"""
import json
import os
import socket
import ssl
import sys
import threading
import time

SAMPLES = ""
COUNTS = {}
LOCK = threading.Lock()
LONG = 3600


def chunk(data):
    return b"%x\r\n%s\r\n" % (len(data), data)


def plain(status, data, kind="application/json", extra=""):
    head = f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {len(data)}\r\n{extra}\r\n"
    return head.encode() + data


SSE = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"

ERRORS = {
    "anthropic": lambda kind, text: {"type": "error", "error": {"type": kind, "message": text}, "request_id": "req_1"},
    "chat": lambda kind, text: {"error": {"message": text, "type": kind, "param": None, "code": None}},
}


def api_of(path):
    return "anthropic" if path.endswith("/messages") else "responses" if path.endswith("/responses") else "chat"


def sample(name, api):
    with open(os.path.join(SAMPLES, api, name + ".sse"), "rb") as f:
        return f.read()


def stream(sock, data, size=50, end=True):
    sock.sendall(SSE)
    for i in range(0, len(data), size):
        sock.sendall(chunk(data[i : i + size]))
    if end:
        sock.sendall(b"0\r\n\r\n")


def status(sock, word, api):
    number, _, extra = word.partition(":")
    kinds = {"400": "invalid_request_error", "401": "authentication_error", "403": "permission_error", "404": "not_found_error",
             "413": "request_too_large", "429": "rate_limit_error", "500": "api_error", "529": "overloaded_error"}
    texts = {"401": "invalid x-api-key", "404": "model: no-such-model"}
    make = ERRORS.get(api, ERRORS["chat"])
    body = json.dumps(make(kinds.get(number, "error"), texts.get(number, f"status {number}"))).encode()
    sock.sendall(plain(f"{number} X", body, extra=extra.replace("=", ": ") + "\r\n" if extra else ""))


def stall_head(sock, api):
    time.sleep(LONG)


def stall_body(sock, api):
    data = sample("full" if api != "responses" else "text", api)
    stream(sock, data[: len(data) // 2], end=False)
    time.sleep(LONG)


def half_closed(sock, api):
    data = sample("full" if api != "responses" else "text", api)
    stream(sock, data[: len(data) // 2], end=False)
    sock.shutdown(socket.SHUT_WR)
    time.sleep(2)


def clean_end_too_early(sock, api):
    data = sample("full" if api != "responses" else "text", api)
    stream(sock, data[: len(data) // 2])


def refuse_unless(field_names, message):
    """400 with a message while the body has one of the fields, then a reply"""

    def serve(sock, api, body=b""):
        if any(f.encode() in body for f in field_names):
            sock.sendall(plain("400 Bad Request", json.dumps({"error": {"message": message, "type": "invalid_request_error"}}).encode()))
        else:
            stream(sock, sample({"anthropic": "text_keepalive", "chat": "text_usage_after_finish"}.get(api, "text"), api))

    serve.wants_body = True
    return serve


def late_quota(sock, api):
    sock.sendall(plain("429 Too Many Requests", json.dumps({"error": {"message": "You exceeded your current quota", "type": "insufficient_quota",
                                                                     "code": "insufficient_quota"}}).encode()))


MODES = {
    "stallhead": stall_head,
    "stallbody": stall_body,
    "halfclosed": half_closed,
    "cleancut": clean_end_too_early,
    "reset": lambda sock, api: sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\0\0\0\0\0\0\0"),
    "empty": lambda sock, api: sock.sendall(plain("200 OK", b"")),
    "emptystream": lambda sock, api: stream(sock, b""),
    "commentsonly": lambda sock, api: stream(sock, b": hi\n\n: ho\n\n"),
    "html": lambda sock, api: sock.sendall(plain("200 OK", b"<html><head><title>Log in to the proxy</title></head></html>", "text/html")),
    "html502": lambda sock, api: sock.sendall(plain("502 Bad Gateway", b"<html><title>502 Bad Gateway</title></html>", "text/html")),
    "text": lambda sock, api: sock.sendall(plain("200 OK", b"it works!\n", "text/plain")),
    "binary": lambda sock, api: sock.sendall(plain("200 OK", b"\x1b]0;x\x07\xff\xfe{}", "application/json")),
    "badutf8": lambda sock, api: stream(sock, sample("text" if api == "responses" else "full", api).replace(b"msg_", b"m\xff_").replace(b'"c1"', b'"c\xff"')),
    "truncjson": lambda sock, api: sock.sendall(plain("200 OK", b'{"type":"message","content":[')),
    "otherjson": lambda sock, api: sock.sendall(plain("200 OK", b'{"hello":"world"}')),
    "arrayerror": lambda sock, api: sock.sendall(plain("400 Bad Request", b'[{"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT"}}]')),
    "texterror": lambda sock, api: sock.sendall(plain("400 Bad Request", b'{"error":"model \\"x\\" not found, try pulling it first"}')),
    "vllmerror": lambda sock, api: sock.sendall(plain("400 Bad Request", b'{"object":"error","message":"tool choice requires --enable-auto-tool-choice","type":"BadRequestError","code":400}')),
    "redirect": lambda sock, api: sock.sendall(plain("307 Temporary Redirect", b"", extra="Location: http://192.0.2.1/steal\r\n")),
    "quota": late_quota,
    "toolong": lambda sock, api: sock.sendall(plain("400 Bad Request", json.dumps({"type": "error", "error": {"type": "invalid_request_error",
                                                     "message": "prompt is too long: 210000 tokens > 200000 maximum"}}).encode())),
    "jsonstream": lambda sock, api: sock.sendall(plain("200 OK", sample("text" if api == "responses" else "full", api))),
    "nocachecontrol": refuse_unless(["cache_control"], "cache_control: Extra inputs are not permitted"),
    "nostreamoptions": refuse_unless(["stream_options"], "Unknown field: stream_options"),
    "newmaxtokens": refuse_unless(['"max_tokens"'], "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."),
    "noencrypted": refuse_unless(["encrypted_content"], "Encrypted content is not supported with this model."),
    "onlyresponses": refuse_unless(['"messages"'], "Function tools with reasoning_effort are not supported for m in /v1/chat/completions. "
                                   "To use function tools, use /v1/responses or set reasoning_effort to 'none'."),
    "loading": lambda sock, api: sock.sendall(plain("503 Service Unavailable", b'{"error":{"message":"Loading model","type":"unavailable_error","code":503}}')),
}


def act(sock, mode, api, body):
    name, _, rest = mode.partition(":")
    if name == "sse":
        stream(sock, sample(rest, api))
    elif name == "status":
        status(sock, rest, api)
    elif getattr(MODES[name], "wants_body", False):
        MODES[name](sock, api, body)
    else:
        MODES[name](sock, api)


def choose(path, mode):
    if not mode.startswith("script:"):
        return mode
    steps = mode[len("script:") :].split(",")
    with LOCK:
        n = COUNTS[mode] = COUNTS.get(mode, 0) + 1
    return steps[min(n, len(steps)) - 1]


def read_request(sock):
    data = b""
    while b"\r\n\r\n" not in data:
        more = sock.recv(65536)
        if not more:
            return None
        data += more
    head, _, body = data.partition(b"\r\n\r\n")
    lines = head.decode("latin-1").split("\r\n")
    headers = dict(line.split(": ", 1) for line in lines[1:] if ": " in line)
    length = int({k.lower(): v for k, v in headers.items()}.get("content-length", "0"))
    while len(body) < length:
        more = sock.recv(65536)
        if not more:
            return None
        body += more
    return lines[0].split(" ")[1], headers, body


def serve(sock, context, journal):
    try:
        if context:
            sock = context.wrap_socket(sock, server_side=True)
        while True:
            request = read_request(sock)
            if request is None:
                return
            path, headers, body = request
            with LOCK:
                if os.fstat(journal.fileno()).st_size == 0:  # emptied: another test, scripts start anew
                    COUNTS.clear()
                journal.write(json.dumps({"path": path, "headers": headers, "body": body.decode("utf-8", "replace")}) + "\n")
                journal.flush()
            mode = path.split("/")[1].replace("%20", " ")
            step = choose(path, mode)
            act(sock, step, api_of(path.split("?")[0]), body)
            if step in ("halfclosed", "reset"):
                return
    except (OSError, ssl.SSLError):
        pass
    finally:
        sock.close()


def listen(context, journal):
    server = socket.create_server(("127.0.0.1", 0), backlog=64)

    def accept():
        while True:
            sock, _ = server.accept()
            threading.Thread(target=serve, args=(sock, context, journal), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    return server.getsockname()[1]


def main():
    global SAMPLES
    ports_file, journal_name, SAMPLES = sys.argv[1:4]
    journal = open(journal_name, "a", encoding="utf-8")
    tls = 0
    if len(sys.argv) > 5:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(sys.argv[4], sys.argv[5])
        tls = listen(context, journal)
    dead = socket.create_server(("127.0.0.1", 0))
    dead_port = dead.getsockname()[1]
    dead.close()
    port = listen(None, journal)
    with open(ports_file + ".new", "w", encoding="utf-8") as f:
        f.write(f"{port} {tls} {dead_port}\n")
    os.rename(ports_file + ".new", ports_file)
    sys.stdin.read()


main()
