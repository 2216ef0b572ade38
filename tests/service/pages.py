"""A browser's part without a browser: requests to the pages that programs serve on loopback."""
import http.client
import http.server
import json
import re
import threading
from pathlib import Path

from deployed import PATIENCE

OPENAPI = Path(__file__).resolve().parents[2] / "docs" / "openapi.yaml"


def documented(tag):
    """{(method, path): summary} of docs/openapi.yaml that carry the tag. The document is laid out two spaces a level."""
    found, path, method = {}, None, None
    for line in OPENAPI.read_text().splitlines():
        if match := re.fullmatch(r"  (/\S*):", line):
            path = match.group(1)
        elif match := re.fullmatch(r"    (get|post|delete|put|patch):", line):
            method = match.group(1).upper()
        elif (match := re.fullmatch(r"      tags: \[(.*)\]", line)) and tag in match.group(1).split(", "):
            found[method, path] = None
        elif (match := re.fullmatch(r"      summary: (.*)", line)) and (method, path) in found:
            found[method, path] = match.group(1)
    return found


class Page:
    """One browser with its session's token, at the page of a program that was started."""

    def __init__(self, process):
        link = process.wait_line(r"log in once, within ten minutes: http://127\.0\.0\.1:(\d+)/#link=([0-9a-f]{64})")
        self.port, self.link = int(link.group(1)), link.group(2)
        self.token = None

    def ask(self, method, path, body=None, **headers):
        """Status, headers, body. Headers are given with _ for -; None leaves one out."""
        sent = {"Host": f"127.0.0.1:{self.port}", "Authorization": f"Bearer {self.token}" if self.token else None,
                "Content-Type": "application/json" if body is not None else None,
                **{name.replace("_", "-"): value for name, value in headers.items()}}
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        try:
            connection.request(method, path, body=json.dumps(body) if body is not None else None,
                               headers={name: value for name, value in sent.items() if value is not None})
            reply = connection.getresponse()
            return reply.status, reply.headers, reply.read()
        finally:
            connection.close()

    def get(self, path):
        """The document of a request that succeeds."""
        status, _, body = self.ask("GET", path)
        if status != 200:
            raise AssertionError(f"GET {path}: {status} {body}")
        return json.loads(body)

    def log_in(self, **how):
        status, _, body = self.ask("POST", "/v1/session", how or {"link": self.link})
        if status == 200:
            self.token = json.loads(body)["token"]
        return status

    def event(self, last=None):
        """The next event's number and state."""
        while True:
            status, headers, body = self.ask("GET", "/v1/events", Last_Event_ID=last)
            if status != 200 or headers["Content-Type"] != "text/event-stream":
                raise AssertionError(f"events: {status} {body}")
            lines = dict(line.split(": ", 1) for line in body.decode().splitlines() if ": " in line)
            if "data" in lines:
                return lines["id"], json.loads(lines["data"])


class Neighbour:
    """Another program that listens on another port of this machine: it serves one page, and keeps what browsers send to it."""

    def __init__(self, html):
        heard, moved = [], threading.Condition()

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                with moved:
                    heard.append({"path": self.path, "headers": list(self.headers.items()), "body": body.decode()})
                    moved.notify_all()
                page = html.encode() if self.path == "/" else b""
                self.send_response(200)
                self.send_header("Content-Type", "text/html")
                self.send_header("Content-Length", str(len(page)))
                self.end_headers()
                self.wfile.write(page)

            do_POST = do_GET

            def log_message(self, *words):
                pass

        self.heard, self.moved = heard, moved
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.server.server_address[1]}/"
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        self.thread.start()

    def wait(self, path):
        """All that was heard, once this path was asked for."""
        with self.moved:
            if not self.moved.wait_for(lambda: any(one["path"] == path for one in self.heard), PATIENCE):
                raise AssertionError(f"nobody asked for {path}: {self.heard}")
            return list(self.heard)

    def close(self):
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()


def pieces(heard):
    """Every text in what was heard that could be a secret."""
    return set(re.findall(r"[0-9A-Za-z_-]{16,}", json.dumps(heard)))
