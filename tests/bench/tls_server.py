# SPDX-License-Identifier: Apache-2.0
"""A model server over TLS on loopback for agent_memory.sh: TURNS replies that each call bash, then an answer.

usage: tls_server.py PORT_FILE TURNS CERT KEY	(Anthropic's stream; ends when its standard input does)
"""
import http.server
import json
import os
import ssl
import sys
import threading

PORT_FILE, TURNS, CERT, KEY = sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4]


def events(turn):
    usage = {"input_tokens": 1000 + turn, "output_tokens": 1}
    yield {"type": "message_start", "message": {"id": f"msg_{turn}", "type": "message", "role": "assistant", "model": "m", "content": [],
                                                "stop_reason": None, "usage": usage}}
    last = turn > TURNS
    block = {"type": "text", "text": ""} if last else {"type": "tool_use", "id": f"toolu_{turn}", "name": "bash", "input": {}}
    yield {"type": "content_block_start", "index": 0, "content_block": block}
    if last:
        yield {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Done."}}
    else:
        text = json.dumps({"command": f"echo turn {turn}; seq 1 300"})
        for i in range(0, len(text), 7):
            yield {"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": text[i : i + 7]}}
    yield {"type": "content_block_stop", "index": 0}
    yield {"type": "message_delta", "delta": {"stop_reason": "end_turn" if last else "tool_use"}, "usage": {"output_tokens": 40}}
    yield {"type": "message_stop"}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        turn = 1 + sum(m["role"] == "assistant" for m in body["messages"])
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for e in events(turn):
            data = f"event: {e['type']}\ndata: {json.dumps(e)}\n\n".encode()
            self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.wfile.write(b"0\r\n\r\n")

    def log_message(self, *args):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(CERT, KEY)
server.socket = context.wrap_socket(server.socket, server_side=True)
with open(PORT_FILE + ".new", "w") as f:
    print(server.server_address[1], file=f)
os.rename(PORT_FILE + ".new", PORT_FILE)
threading.Thread(target=server.serve_forever, daemon=True).start()
sys.stdin.read()
