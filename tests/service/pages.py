"""A browser's part without a browser: requests to the pages that programs serve on loopback."""
import http.client
import json
import re
from pathlib import Path

from deployed import PATIENCE

OPENAPI = Path(__file__).resolve().parents[2] / "docs" / "openapi.yaml"


def documented(tag):
    """{(method, path)} of docs/openapi.yaml that carry the tag. The document is laid out two spaces a level."""
    found, path, method = set(), None, None
    for line in OPENAPI.read_text().splitlines():
        if match := re.fullmatch(r"  (/\S*):", line):
            path = match.group(1)
        elif match := re.fullmatch(r"    (get|post|delete|put|patch):", line):
            method = match.group(1).upper()
        elif (match := re.fullmatch(r"      tags: \[(.*)\]", line)) and tag in match.group(1).split(", "):
            found.add((method, path))
    return found


class Page:
    """One browser with its cookie, at the page of a program that was started."""

    def __init__(self, process):
        link = process.wait_line(r"log in once, within ten minutes: http://127\.0\.0\.1:(\d+)/#link=([0-9a-f]{64})")
        self.port, self.link = int(link.group(1)), link.group(2)
        self.cookie = self.csrf = None

    def ask(self, method, path, body=None, **headers):
        """Status, headers, body. Headers are given with _ for -; None leaves one out."""
        sent = {"Host": f"127.0.0.1:{self.port}", "Cookie": self.cookie, "X-Tacit-CSRF": self.csrf,
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
        status, headers, body = self.ask("POST", "/v1/session", how or {"link": self.link})
        if status == 200:
            self.set_cookie = headers["Set-Cookie"]
            self.cookie, self.csrf = self.set_cookie.split(";")[0], json.loads(body)["csrf"]
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
