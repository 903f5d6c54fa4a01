# SPDX-License-Identifier: Apache-2.0
"""Passes a conversation on to the model server at PORT, keeps the bytes of both sides, and checks that what the server sent of the
assistant's turn goes back to it unchanged: thinking with its signature, reasoning items with their encrypted content.

usage: relay.py PORT DRIVER
"""
import http.client
import http.server
import json
import subprocess
import sys
import threading

PORT = int(sys.argv[1])
SEEN = []


class Relay(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        server = http.client.HTTPConnection("127.0.0.1", PORT)
        server.request("POST", self.path, body, {k: v for k, v in self.headers.items() if k.lower() not in ("host", "content-length")})
        reply = server.getresponse()
        data = reply.read()
        SEEN.append((json.loads(body), data.decode()))
        self.send_response(reply.status)
        self.send_header("content-type", reply.getheader("content-type"))
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *args):
        pass


def talk(api, base):
    SEEN.clear()
    subprocess.run([sys.argv[2], "--api", api, "--base-url", base, "--model", "m", "THINK: x"], check=True, stdout=subprocess.DEVNULL, timeout=60)
    assert len(SEEN) == 2, len(SEEN)
    return SEEN[0][1], SEEN[1][0]


def events(text):
    return [json.loads(l[6:]) for l in text.splitlines() if l.startswith("data: {")]


def main():
    relay = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Relay)
    threading.Thread(target=relay.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{relay.server_address[1]}"

    sent, back = talk("anthropic", url)
    signatures = [e["delta"]["signature"] for e in events(sent) if e.get("delta", {}).get("type") == "signature_delta"]
    assert signatures and "c2lnbmF0dXJlLTE=" in signatures, signatures
    turn = back["messages"][1]["content"]
    assert [b["type"] for b in turn] == ["thinking", "text", "tool_use", "tool_use"], turn
    assert turn[0]["signature"] == signatures[-1] and turn[0]["thinking"] == "let me think", turn[0]
    assert [b["tool_use_id"] for b in back["messages"][2]["content"]] == [b["id"] for b in turn[2:]]

    sent, back = talk("responses", url + "/v1")
    done = [e["item"] for e in events(sent) if e["type"] == "response.output_item.done"]
    assert any(i.get("encrypted_content") for i in done), done
    assert back["input"][1 : 1 + len(done)] == done, (back["input"], done)

    sent, back = talk("chat", url + "/v1")
    thought = "".join(c["delta"].get("reasoning_content") or "" for e in events(sent) for c in e["choices"])
    assert thought == "let me think" and back["messages"][1]["reasoning_content"] == thought, (thought, back["messages"][1])
    print("unchanged")


main()
