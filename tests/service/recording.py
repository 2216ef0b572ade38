#!/usr/bin/env python3
"""What programs say to each other, as bytes: whole studies through a proxy that writes down every kind of message once.

A release records its messages and keeps them in tests/session/recorded; test_recorded.c holds later versions to them.

    TACIT=/usr/bin/tacit tests/service/recording.py FOLDER
"""
import http.client
import http.server
import os
import ssl
import sys
import threading
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from deployed import DeployedTest, fields_of
from stopped import KINDS, PARTIES

STEPS = {10: "step", 11: "mail"}  # of a question


class Recording(DeployedTest):
    def runTest(self):
        pass

    def keep(self, name, body):
        path = self.out / f"{name}.bin"
        if body and not path.exists():
            path.write_bytes(body)

    def upstream(self, certificate):
        """To the coordinator as the party that came here."""
        context = ssl.create_default_context(cafile=self.folder / "ca.crt")
        for path in self.path.glob("home*/studies/*/party.crt") if certificate else ():
            if ssl.PEM_cert_to_DER_cert(path.read_text()) == certificate:
                context.load_cert_chain(path, path.with_name("party.key"))
        return http.client.HTTPSConnection("127.0.0.1", self.port, context=context)

    def told(self, kind, path, said, body):
        """One exchange."""
        name = path.rsplit("/", 1)[1]
        if name in ("look", "join", "catalogue", "renew", "poll"):
            self.keep(f"{name}_request", said)
        if name in ("look", "join", "catalogue", "renew"):
            self.keep(f"{name}_reply", body)
        if name == "poll" and body:
            event = fields_of(body)
            if 2 in event:
                question = fields_of(event[2])
                steps = [f"{STEPS[number]}{fields_of(question[number]).get(1, 0)}" for number in STEPS if number in question]
                what = "_".join([kind, *steps, *(["sum"] if 9 in question else [])])
                self.keep(f"poll_reply_{what}", body)
                self.asked[question[7]] = what
            elif 3 in event:
                self.keep("poll_reply_finished", body)
        if name == "answer":
            self.keep(f"answer_{self.asked.get(fields_of(said)[4], kind)}", said)

    def proxy(self, kind):
        recording = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def pass_on(self):
                said = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                connection = recording.upstream(self.connection.getpeercert(True))
                connection.request(self.command, self.path, body=said)
                reply = connection.getresponse()
                body = reply.read()
                if reply.status == 200:
                    recording.told(kind, self.path, said, body)
                self.send_response(reply.status)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)
                connection.close()

            do_GET = do_POST = pass_on

            def log_message(self, *words):
                pass
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.folder / "server.crt", self.folder / "server.key")
        context.load_verify_locations(self.folder / "ca.crt")
        context.verify_mode = ssl.CERT_OPTIONAL
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        server.socket = context.wrap_socket(server.socket, server_side=True)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        return server

    def record(self, kind, out):
        self.out, self.asked = out, {}
        changed, allowed, _ = KINDS[kind]
        self.study(**changed)
        self.coordinator()
        server = self.proxy(kind)
        port = server.server_address[1]
        invitations = [self.invite("--url", f"https://127.0.0.1:{port}") for _ in PARTIES]
        parties = [self.join(party, *allowed, invitation=invitations[party]) for party in PARTIES]
        for process in parties:
            process.finish()
        server.shutdown()
        server.server_close()


if __name__ == "__main__":
    for kind in KINDS:
        recording = Recording()
        recording.setUp()
        recording.record(kind, Path(sys.argv[1]))
        recording.doCleanups()
