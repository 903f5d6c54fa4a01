# SPDX-License-Identifier: Apache-2.0
"""A server on loopback that misbehaves as its path says, for the suite "http".

usage: http_server.py PORTS_FILE JOURNAL [CERT KEY]
Writes "plain tls proxy dead full" (port numbers; tls 0 without CERT) to PORTS_FILE when it is ready. Appends each request's head to JOURNAL.
dead: nobody listens. full: a listener whose queue is full, so that connections neither stand nor fail.
Ends when its standard input does.
"""
import gzip
import os
import socket
import ssl
import struct
import sys
import threading
import time

OK = b"HTTP/1.1 200 OK\r\n"
SSE = OK + b"Content-Type: text/event-stream\r\n"
LONG = 3600


def chunk(data):
    return b"%x\r\n%s\r\n" % (len(data), data)


def body(data, head=OK, kind=b"text/plain"):
    return head + b"Content-Type: %s\r\nContent-Length: %d\r\n\r\n" % (kind, len(data)) + data


def status(line, extra=b"", data=b"{}", kind=b"application/json"):
    return body(data, b"HTTP/1.1 " + line + b"\r\n" + extra, kind)


FIXED = {
    "/ok": body(b"hello"),
    "/none": OK + b"Content-Length: 0\r\n\r\n",
    "/204": b"HTTP/1.1 204 No Content\r\n\r\n",
    "/401": status(b"401 Unauthorized", data=b'{"error":{"message":"invalid x-api-key"}}'),
    "/429": status(b"429 Too Many Requests", b"Retry-After: 7\r\n"),
    "/529": status(b"529 Overloaded", b"retry-after-ms: 20\r\n"),
    "/502html": status(b"502 Bad Gateway", data=b"<html><head>\n<title>502 Bad\n Gateway</title></head><body>x</body></html>", kind=b"text/html"),
    "/200html": body(b"<!DOCTYPE html><html><TITLE>Log in</TITLE></html>", kind=b"text/html; charset=utf-8"),
    "/json": body(b'{"type":"message"}', kind=b"application/json"),
    "/binary": body(b"\x1b]0;x\x07\xff\xfe\x00\x9bhi", kind=b"text/html"),
    "/continue": b"HTTP/1.1 100 Continue\r\nX-Info: 1\r\n\r\n" + body(b"hello"),
    "/hints": b"HTTP/1.1 103 Early Hints\r\nretry-after: 9\r\n\r\n" + body(b"hello"),
    "/manyheaders": OK + b"".join(b"X-%d: 1\r\n" % i for i in range(200)) + b"Content-Length: 0\r\n\r\n",
    "/bigheaders": OK + b"".join(b"X-%d: %s\r\n" % (i, b"h" * 2000) for i in range(40)) + b"Content-Length: 0\r\n\r\n",
    "/bigline": OK + b"X-Big: " + b"h" * 200000 + b"\r\nContent-Length: 0\r\n\r\n",
    "/http09": b"hello, this is no HTTP\n",
    "/tlsbytes": b"\x15\x03\x01\x00\x02\x02\x16",
    "/badgzip": OK + b"Content-Encoding: gzip\r\nContent-Length: 5\r\n\r\nhello",
    "/sse": SSE + b"Transfer-Encoding: chunked\r\n\r\n" + chunk(b": hi\n\ndata: 1\n\nda") + chunk(b"ta: 2\n\n") + b"0\r\n\r\n",
    "/sseclose": SSE + b"Connection: close\r\n\r\ndata: 1\n\ndata: 2",
    "/ssehuge": SSE + b"Connection: close\r\n\r\ndata: " + b"x" * (17 << 20),
    "/trailers": OK + b"Transfer-Encoding: chunked\r\n\r\n" + chunk(b"hello") + b"0\r\nX-Trailer: 1\r\n\r\n",
    # ended too early
    "/empty": b"",
    "/cuthead": OK + b"Content-Le",
    "/cutlength": OK + b"Content-Length: 100\r\n\r\nhello",
    "/cutchunk": SSE + b"Transfer-Encoding: chunked\r\n\r\n" + chunk(b"data: 1\n\n"),
    "/cuterror": b"HTTP/1.1 500 Oops\r\nContent-Length: 100\r\n\r\n{\"error\"",
}


def gz(data):
    return gzip.compress(data, 6)


FIXED["/gzip"] = OK + b"Content-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(gz(b"hello" * 100)) + gz(b"hello" * 100)
BOMB = gz(b"\0" * (64 << 20))
FIXED["/bomb"] = OK + b"Content-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(BOMB) + BOMB


class Server:
    def __init__(self, journal):
        self.journal = journal
        self.lock = threading.Lock()
        self.plain = 0
        self.tls = 0
        self.hold = []

    def note(self, text):
        with self.lock:
            with open(self.journal, "ab") as f:
                f.write(text)

    def read_head(self, conn):
        data = b""
        while b"\r\n\r\n" not in data:
            more = conn.recv(65536)
            if not more:
                return None, b""
            data += more
        head, rest = data.split(b"\r\n\r\n", 1)
        return head, rest

    def read_body(self, conn, head, rest):
        for line in head.split(b"\r\n")[1:]:
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                left = int(value) - len(rest)
                while left > 0:
                    more = conn.recv(min(left, 65536))
                    if not more:
                        return
                    left -= len(more)

    def serve(self, conn, peer, who):
        try:
            while True:
                head, rest = self.read_head(conn)
                if head is None:
                    return
                self.note(b"== %s port %d\n%s\n" % (who, peer[1], head.replace(b"\r", b"")))
                path = head.split(b" ")[1].decode()
                if path == "/noread":
                    time.sleep(LONG)
                self.read_body(conn, head, rest)
                if not self.answer(conn, path):
                    return
        except (OSError, ssl.SSLError):
            pass
        finally:
            try:
                conn.close()
            except OSError:
                pass

    # Return: does the connection stay open?
    def answer(self, conn, path):
        name = path.split("?")[0]
        if name in FIXED:
            conn.sendall(FIXED[name])
            ends = b"Content-Length" in FIXED[name] or FIXED[name].endswith(b"\r\n0\r\n\r\n")
            return ends and not name.startswith("/cut")
        return getattr(self, "do_" + name.strip("/").replace("-", "_"))(conn)

    def do_stallhead(self, conn):
        time.sleep(LONG)

    def do_stallinhead(self, conn):
        conn.sendall(OK + b"X-Begun: 1\r\n")
        time.sleep(LONG)

    def do_stallbody(self, conn):
        conn.sendall(SSE + b"Transfer-Encoding: chunked\r\n\r\n" + chunk(b"data: 1\n\n"))
        time.sleep(LONG)

    def do_stallerror(self, conn):
        conn.sendall(b"HTTP/1.1 500 Oops\r\nContent-Length: 100\r\n\r\n{\"error\"")
        time.sleep(LONG)

    def do_halfclosed(self, conn):
        # our side is closed for writing, and the connection stays
        conn.sendall(SSE + b"Transfer-Encoding: chunked\r\n\r\n" + chunk(b"data: 1\n\n"))
        conn.shutdown(socket.SHUT_WR)
        time.sleep(LONG)

    def do_reset(self, conn):
        conn.sendall(SSE + b"Transfer-Encoding: chunked\r\n\r\n" + chunk(b"data: 1\n\n"))
        time.sleep(0.1)
        conn.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        return False

    def do_drip(self, conn):
        conn.sendall(SSE + b"Transfer-Encoding: chunked\r\n\r\n")
        for _ in range(8):
            time.sleep(0.25)
            conn.sendall(chunk(b": life\n\n"))
        conn.sendall(chunk(b"data: 1\n\n") + b"0\r\n\r\n")
        return True

    def do_dripforever(self, conn):
        conn.sendall(SSE + b"Transfer-Encoding: chunked\r\n\r\n")
        while True:
            time.sleep(0.1)
            conn.sendall(chunk(b": life\n\n"))

    def do_bigbody(self, conn):
        conn.sendall(OK + b"Connection: close\r\n\r\n")
        while True:
            conn.sendall(b"x" * 65536)

    def do_bigerror(self, conn):
        conn.sendall(b"HTTP/1.1 500 Oops\r\nConnection: close\r\n\r\n")
        while True:
            conn.sendall(b"e" * 65536)

    def do_redirect(self, conn):
        conn.sendall(b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:%d/ok?stolen\r\nContent-Length: 0\r\n\r\n" % self.plain)
        return True

    def do_closelater(self, conn):
        # says nothing of closing, and closes: the next request on this connection finds it gone
        conn.sendall(FIXED["/ok"])
        return False

    def proxy(self, conn, peer):
        try:
            head, rest = self.read_head(conn)
            if head is None:
                return
            self.note(b"== proxy port %d\n%s\n" % (peer[1], head.replace(b"\r", b"")))
            if head.startswith(b"CONNECT"):
                if b"refuse.test" in head:
                    conn.sendall(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n")
                    return
                conn.sendall(b"HTTP/1.1 200 Established\r\nX-Proxy: 1\r\n\r\n")
                self.tunnel(conn)
                return
            conn.sendall(body(b"by proxy"))
        except OSError:
            pass
        finally:
            conn.close()

    # whatever name was asked for: the TLS server here
    def tunnel(self, conn):
        far = socket.create_connection(("127.0.0.1", self.tls))

        def pump(a, b):
            try:
                while True:
                    data = a.recv(65536)
                    if not data:
                        break
                    b.sendall(data)
            except OSError:
                pass
            try:
                b.shutdown(socket.SHUT_WR)
            except OSError:
                pass

        t = threading.Thread(target=pump, args=(far, conn), daemon=True)
        t.start()
        pump(conn, far)
        t.join()
        far.close()


def listener(queue=64):
    s = socket.socket()
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    s.bind(("127.0.0.1", 0))
    s.listen(queue)
    return s


def loop(sock, handle, wrap=None):
    def one(conn, peer):
        if wrap:
            try:
                conn = wrap(conn)
            except (OSError, ssl.SSLError):
                conn.close()
                return
        handle(conn, peer)

    while True:
        conn, peer = sock.accept()
        threading.Thread(target=one, args=(conn, peer), daemon=True).start()


def main():
    ports_file, journal = sys.argv[1:3]
    server = Server(journal)
    plain, proxy, dead = listener(), listener(), listener()
    server.plain = plain.getsockname()[1]
    threads = [
        (plain, lambda c, p: server.serve(c, p, b"plain"), None),
        (proxy, server.proxy, None),
    ]
    if len(sys.argv) > 3:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(sys.argv[3], sys.argv[4])
        tls = listener()
        server.tls = tls.getsockname()[1]
        threads.append((tls, lambda c, p: server.serve(c, p, b"tls"), lambda c: context.wrap_socket(c, server_side=True)))
    for args in threads:
        threading.Thread(target=loop, args=args, daemon=True).start()
    full = listener(0)
    for _ in range(8):
        s = socket.socket()
        s.setblocking(False)
        s.connect_ex(full.getsockname())
        server.hold.append(s)
    dead_port = dead.getsockname()[1]
    dead.close()
    with open(ports_file + ".new", "w") as f:
        f.write("%d %d %d %d %d\n" % (server.plain, server.tls, proxy.getsockname()[1], dead_port, full.getsockname()[1]))
    os.rename(ports_file + ".new", ports_file)
    sys.stdin.read()


main()
