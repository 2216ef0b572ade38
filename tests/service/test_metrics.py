#!/usr/bin/env python3
"""Figures for Prometheus and logs for programs: well-formed by a parser of its own, true to what happened, and without any value of
a row.

    TACIT=build/src/cli/tacit tests/service/test_metrics.py
"""
import http.client
import json
import os
import re
import signal
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from deployed import PATIENCE, POLL, DeployedTest, post, tls

NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
LABEL = r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\"n])*)"'


def parse(text):
    """{(name, labels): value} of text format 0.0.4; a wrong line is an error."""
    samples, types, helped, seen = {}, {}, set(), []
    assert text.endswith("\n")
    for line in text.splitlines():
        if match := re.fullmatch(rf"# HELP ({NAME}) (.+)", line):
            assert match[1] not in helped, line
            helped.add(match[1])
        elif match := re.fullmatch(rf"# TYPE ({NAME}) (counter|gauge|histogram)", line):
            assert match[1] in helped and match[1] not in types, line
            types[match[1]] = match[2]
        else:
            match = re.fullmatch(rf"({NAME})(?:\{{({LABEL}(?:,{LABEL})*)\}})? (\S+)", line)
            assert match, line
            family = match[1] if match[1] in types else re.sub("_(bucket|sum|count)$", "", match[1])
            assert family in types, line
            if family != match[1]:
                assert types[family] == "histogram", line
            if types[family] == "counter":
                assert family.endswith("_total"), line
            if not seen or seen[-1] != family:
                assert family not in seen, f"{family} is not in one piece"
                seen.append(family)
            labels = tuple(sorted(re.findall(LABEL, match[2] or "")))
            assert (match[1], labels) not in samples, line
            samples[match[1], labels] = float(match[7])
    return samples, types


def check_histograms(samples, types):
    for family in (name for name, kind in types.items() if kind == "histogram"):
        series = {}
        for (name, labels), value in samples.items():
            if name == family + "_bucket":
                rest = tuple(pair for pair in labels if pair[0] != "le")
                series.setdefault(rest, []).append((float(dict(labels)["le"]), value))
        assert series
        for rest, buckets in series.items():
            buckets.sort()
            values = [value for _, value in buckets]
            assert values == sorted(values) and buckets[-1][0] == float("inf")
            assert samples[family + "_count", rest] == values[-1]
            assert samples[family + "_sum", rest] >= 0


class Figures(DeployedTest):
    def scrape(self, port, path="/metrics", host=None):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
        try:
            connection.request("GET", path, headers={"Host": host} if host else {})
            reply = connection.getresponse()
            self.type = reply.getheader("Content-Type")
            return reply.status, reply.read().decode()
        finally:
            connection.close()

    def figures(self, port):
        status, text = self.scrape(port)
        self.assertEqual((status, self.type), (200, "text/plain; version=0.0.4; charset=utf-8"))
        samples, types = parse(text)
        check_histograms(samples, types)
        self.text = text
        return samples

    @staticmethod
    def port_of(process):
        return int(process.wait_line(r"metrics at http://127.0.0.1:(\d+)/metrics").group(1))

    def value(self, samples, name, **labels):
        return samples[name, tuple(sorted(labels.items()))]

    def test_of_a_coordinator(self):
        self.study()
        coordinator = self.coordinator("--metrics", "0")
        port = self.port_of(coordinator)
        before = self.figures(port)
        self.assertEqual(self.value(before, "tacit_studies", state="recruiting"), 1)
        self.assertEqual(self.value(before, "tacit_parties", study="trial", state="joined"), 0)
        self.assertEqual(post(self.port, "/v1/poll", POLL, tls(self.folder / "ca.crt"))[0], 403)
        waiting = self.join(0)
        meanwhile = self.figures(port)
        self.assertEqual(self.value(meanwhile, "tacit_refusals_total", reason="no_certificate"), 1)
        self.assertEqual(self.value(meanwhile, "tacit_parties", study="trial", state="joined"), 1)
        self.check_done({0: waiting, **{party: self.join(party) for party in (1, 2)}})
        after = self.figures(port)
        self.assertEqual(self.value(after, "tacit_studies", state="done"), 1)
        self.assertEqual(self.value(after, "tacit_rounds_finished", study="trial"), 1)
        self.assertEqual(self.value(after, "tacit_request_seconds_count", path="/v1/join"), 3)
        self.assertGreaterEqual(self.value(after, "tacit_request_seconds_count", path="/v1/answer"), 3)
        for name in ("tacit_received_bytes_total", "tacit_sent_bytes_total", "tacit_registry_seconds_total",
                     "tacit_registry_uses_total"):
            self.assertGreater(self.value(after, name), self.value(before, name))
        self.assertNotIn("party-", self.text)  # nobody is named
        self.assertEqual(self.scrape(port, "/")[0], 403)
        self.assertEqual(self.scrape(port, host="evil.example")[0], 403)

    def test_of_a_party(self):
        self.study()
        self.coordinator()
        self.limit(0, 5)
        self.succeed(*self.join_words(0, self.invite(), "--no-wait"), home=self.home(0))
        others = {party: self.join(party) for party in (1, 2)}
        party = self.start("party", "--metrics", "0", home=self.home(0))
        for process in others.values():
            self.assertEqual(process.finish(), 0, process.text())
        party.wait_line("the study is done")
        samples = self.figures(self.port_of(party))
        source = str(self.rows(0))
        self.assertEqual(self.value(samples, "tacit_ledger_limit_epsilon", source=source, unit="record"), 5)
        shown = json.loads(self.succeed("ledger", "show", "--json", home=self.home(0)).stdout)["sources"][0]["accounts"]
        spent = next(each["spent"]["epsilon"] for each in shown if each["study"] is None and each["unit"] == "record")
        self.assertEqual(self.value(samples, "tacit_ledger_spent_epsilon", source=source, unit="record"), spent)
        self.assertEqual(self.value(samples, "tacit_ledger_entries_total", source=source, entry="charge"), 1)
        self.assertEqual(len([name for name, _ in samples if name == "tacit_certificate_end_seconds"]), 1)
        self.assertEqual(party.kill(signal.SIGTERM), 0)
        page = self.start("page", "--metrics", "0", home=self.home(0))
        self.assertEqual(self.figures(self.port_of(page)), samples)


class Logs(DeployedTest):
    def test_json_lines_with_levels_and_no_value_of_a_row(self):
        self.study()
        coordinator = self.start("coordinator", self.folder, "--log-format", "json")
        address = coordinator.wait_line(r"serving at (https://127.0.0.1:(\d+))")
        self.port = int(address.group(2))
        post(self.port, "/v1/poll", POLL, tls(self.folder / "ca.crt"))
        parties = {}
        for number in range(3):
            self.limit(number)
            self.succeed(*self.join_words(number, self.invite(), "--no-wait"), home=self.home(number))
            parties[number] = self.start("party", "trial", "--log-format", "json", home=self.home(number))
        for process in parties.values():
            self.assertEqual(process.finish(), 0, process.text())
        file = (self.folder / "coordinator.log").read_text()
        lines = [json.loads(line) for line in file.splitlines()]
        for process, program in ((coordinator, "coordinator"), (parties[0], "party")):
            for line in process.lines:
                record = json.loads(line)
                self.assertEqual(set(record), {"time", "level", "program", "message"})
                self.assertEqual(record["program"], program)
                self.assertRegex(record["time"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")
        self.assertEqual({line["level"] for line in lines if "refused POST /v1/poll" in line["message"]}, {"warn"})
        self.assertEqual({line["level"] for line in lines if "joined study" in line["message"]}, {"info"})
        told = file + "".join(process.text() for process in (coordinator, *parties.values()))
        for number in range(3):
            for cell in re.findall(r"0\.\d{6}", self.rows(number).read_text()):
                self.assertNotIn(cell, told)

    def test_a_level_leaves_the_rest_out(self):
        self.study()
        coordinator = self.start("coordinator", self.folder, "--log-level", "warn")
        address = self.folder / "address"
        quiet = self.tacit("coordinator", self.folder, "--log-level", "loud")
        self.assertEqual(quiet.returncode, 2)
        while not address.exists() and coordinator.process.poll() is None:
            os.sched_yield()
        port = int(address.read_text().rsplit(":", 1)[1])
        post(port, "/v1/poll", POLL, tls(self.folder / "ca.crt"))
        coordinator.wait_line("refused POST /v1/poll")
        self.assertNotIn("serving at", coordinator.text() + (self.folder / "coordinator.log").read_text())


if __name__ == "__main__":
    unittest.main(verbosity=2)
