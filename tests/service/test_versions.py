#!/usr/bin/env python3
"""Programs of different versions of the protocol: today's party and the next coordinator understand each other, and the reverse; where
they have no version in common both are told, and nothing is lost. The programs to come are this one with another range
(tests/session/versions_next.c): TACIT_NEXT speaks versions 2 and 3, TACIT_LATER 3 and 4.

    TACIT=build/src/cli/tacit TACIT_NEXT=build/tests/service/tacit-next TACIT_LATER=... tests/service/test_versions.py
"""
import os
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import deployed
from deployed import POLL, DeployedTest, fields_of, packed, post, tls

TODAY, NEXT, LATER = (os.path.abspath(os.environ[name]) for name in ("TACIT", "TACIT_NEXT", "TACIT_LATER"))
PARTIES = range(3)


def spoken(lowest, highest):
    return packed(1, lowest) + packed(2, highest)


class Versions(DeployedTest):
    def use(self, program):
        deployed.TACIT = program

    def tearDown(self):
        self.use(TODAY)

    def serve(self, program, **changed):
        self.use(program)
        self.study(**changed)
        return self.coordinator()

    def check_together(self, coordinator, parties, **changed):
        self.serve(coordinator, **changed)
        invitations = [self.invite() for _ in PARTIES]
        self.use(parties)
        joined = {party: self.join(party, invitation=invitations[party]) for party in PARTIES}
        for process in joined.values():
            self.assertEqual(process.finish(), 0, process.text())
        self.assertEqual(self.status()["state"], "done")

    def test_the_next_coordinator_asks_parties_of_today(self):
        self.check_together(NEXT, TODAY)

    def test_a_coordinator_of_today_asks_the_next_parties(self):
        self.check_together(TODAY, NEXT, sum="clear")

    def test_later_parties_speak_with_the_next_coordinator(self):
        self.check_together(NEXT, LATER, sum="paillier")

    def test_a_reply_is_in_the_highest_version_that_both_speak(self):
        self.check_together(NEXT, NEXT)
        site = next((self.home(0) / "studies").glob("trial@*"))
        context = tls(site / "ca.crt", site / "party.crt", site / "party.key")
        for said, version in ((b"", 2), (packed(5, spoken(2, 2)), 2), (packed(5, spoken(1, 3)), 3), (packed(5, spoken(3, 9)), 3)):
            status, body = post(self.port, "/v1/poll", POLL + said, context)
            self.assertEqual((status, fields_of(body)[1]), (200, version))
            self.assertEqual(fields_of(body)[7], spoken(2, 3))

    def test_no_version_in_common_is_said_with_both_ranges_and_what_to_do(self):
        for coordinator, party, sentence in (
                (LATER, TODAY, "the party speaks protocol version 2, the coordinator versions 3 to 4: update the party's program"),
                (TODAY, LATER, "the party speaks protocol versions 3 to 4, the coordinator version 2: update the coordinator's program")):
            process = self.serve(coordinator)
            invitation = self.invite()
            self.use(party)
            self.limit(0)
            self.refuse(1, *self.join_words(0, invitation), home=self.home(0), says=[sentence])
            process.kill()
            self.setUp()

    def test_a_party_that_cannot_follow_an_update_goes_on_when_it_is_undone(self):
        coordinator = self.serve(TODAY, method="dpgd", set="{noise: party, rounds: 20}", delta="1e-5")
        parties = {party: self.join(party) for party in PARTIES}
        parties[0].wait_line("round 2: answering")
        coordinator.kill()
        self.use(LATER)
        coordinator = self.coordinator()
        for process in parties.values():
            self.assertEqual(process.finish(), 1, process.text())
            self.assertIn("the coordinator versions 3 to 4: update the party's program", process.text())
        coordinator.kill()
        self.use(TODAY)
        self.coordinator()
        for process in [self.resume(party) for party in PARTIES]:
            self.assertEqual(process.finish(), 0, process.text())
        for party in PARTIES:
            self.assertEqual(len(self.charges(party)), 20)


if __name__ == "__main__":
    unittest.main()
