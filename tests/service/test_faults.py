#!/usr/bin/env python3
"""Bad networks between parties and coordinator: delays, cuts, half-closed and doubled connections, proxies, loss and partition.

    TACIT=build/src/cli/tacit tests/service/test_faults.py [--seed N]

Whatever happens to connections, the study ends with the model of the undisturbed one, and each answer is paid for once. Loss and
partition need root, ip and nft, and work in network namespaces of their own; they are skipped where these are missing.
"""
import asyncio
import json
import os
import random
import shutil
import socket
import subprocess
import sys
import threading
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from deployed import POLL, DeployedTest, Running, fields_of, post, tls

PARTIES = range(3)
EXACT = ("--allow-entrusted", "--allow-exact")
SEED = random.SystemRandom().randrange(10 ** 6)


class Weather:
    """A relay of bytes to a coordinator, in its own thread, that treats each connection as `fate` says: a coroutine that gets the two
    pairs of streams and ends with the connection."""

    def __init__(self, port, fate):
        self.port, self.fate, self.count, self.ready = port, fate, 0, threading.Event()
        self.thread = threading.Thread(target=lambda: asyncio.run(self.serve()), daemon=True)
        self.thread.start()
        self.ready.wait()

    async def serve(self):
        self.stopped, self.loop = asyncio.Event(), asyncio.get_running_loop()
        server = await asyncio.start_server(self.relay, "127.0.0.1", 0)
        self.address = f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        self.ready.set()
        async with server:
            await self.stopped.wait()

    async def relay(self, *near):
        self.count += 1
        far = None
        try:
            far = await asyncio.open_connection("127.0.0.1", self.port)
            await self.fate(near, far, self.count)
        except (OSError, asyncio.IncompleteReadError):
            pass
        for end in (near, far):
            if end is not None:
                end[1].transport.abort()

    def stop(self):
        self.loop.call_soon_threadsafe(self.stopped.set)
        self.thread.join()


async def pump(reader, writer, before=None, limit=None):
    """Bytes one way, each piece after `before`; up to a limit."""
    while limit is None or limit > 0:
        data = await reader.read(65536 if limit is None else min(limit, 65536))
        if not data:
            break
        if before:
            await before()
        writer.write(data)
        await writer.drain()
        limit = None if limit is None else limit - len(data)


async def both(near, far, before=None, limit=None):
    """Bytes both ways, until either way ends."""
    ways = [asyncio.ensure_future(pump(near[0], far[1], before)), asyncio.ensure_future(pump(far[0], near[1], before, limit))]
    await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
    for way in ways:
        way.cancel()
    await asyncio.gather(*ways, return_exceptions=True)


class FaultTest(DeployedTest):
    def define(self, name="trial"):
        self.study(name, method="estimate", sum="clear", set=None, epsilon=None, **{"lambda": 1})

    def calm(self):
        """The model of an undisturbed run in a folder of its own."""
        ours, self.folder = self.folder, self.path / "calm"
        homes, self.home = self.home, lambda party: self.path / f"calm{party}"
        self.define()
        self.coordinator("--until-done")
        for process in [self.join(party, *EXACT) for party in PARTIES]:
            self.assertEqual(process.finish(), 0, process.text())
        model, charges = (self.folder / "trial.model.json").read_bytes(), [len(self.charges(party)) for party in PARTIES]
        self.folder, self.home = ours, homes
        return model, charges

    def check_as_calm(self, processes):
        calm, charges = self.calm()
        for process in processes:
            self.assertEqual(process.finish(), 0, process.text())
        self.assertEqual((self.folder / "trial.model.json").read_bytes(), calm)
        self.assertEqual([len(self.charges(party)) for party in PARTIES], charges)
        for party in PARTIES:
            self.succeed("ledger", "verify", home=self.home(party))

    def through(self, fate):
        weather = Weather(self.port, fate)
        self.addCleanup(weather.stop)
        return weather


class Connections(FaultTest):
    def run_through(self, fate):
        self.define()
        self.coordinator()
        weather = self.through(fate)
        processes = [self.join_patiently(party, weather.address) for party in PARTIES]
        self.check_as_calm(processes)
        return weather

    def join_patiently(self, party, address):
        """Joining itself is not tried again by the program: a person does that."""
        self.limit(party)
        words = self.join_words(party, self.invite("--url", address), "--no-wait", *EXACT)
        for _ in range(40):
            if self.tacit(*words, home=self.home(party)).returncode == 0:
                return self.resume(party)
        self.fail("never joined")

    def test_latency_and_jitter(self):
        draw = random.Random(SEED)

        async def late():
            await asyncio.sleep(draw.expovariate(1 / 0.02))
        self.run_through(lambda near, far, _: both(near, far, late))

    def test_cuts_at_random_bytes(self):
        """Every connection ends after a random number of bytes from the coordinator: in a handshake, an answer, a question."""
        draw = random.Random(SEED + 1)
        weather = self.run_through(lambda near, far, _: both(near, far, limit=int(draw.expovariate(1 / 4000))))
        self.assertGreater(weather.count, 10, f"seed {SEED}")

    def test_half_closed_connections(self):
        """Every second connection is told, after a while, that the coordinator will say no more, though it still listens."""
        draw = random.Random(SEED + 2)

        async def half(near, far, count):
            if count % 2 == 0:
                return await both(near, far)
            back = asyncio.ensure_future(pump(far[0], near[1], limit=int(draw.expovariate(1 / 6000))))
            there = asyncio.ensure_future(pump(near[0], far[1]))
            await back
            near[1].write_eof()
            await there
        self.run_through(half)

    def test_doubled_connections(self):
        """What a party says to the coordinator is played into a second connection too: TLS knows a replay."""

        async def double(near, far, count):
            twin = await asyncio.open_connection("127.0.0.1", self.port)

            async def forth():
                while data := await near[0].read(65536):
                    far[1].write(data)
                    await far[1].drain()
                    if not twin[1].is_closing():
                        twin[1].write(data)
                        if twin[0].at_eof():
                            twin[1].close()
            there = asyncio.ensure_future(forth())
            try:
                await pump(far[0], near[1])
            finally:
                there.cancel()
                twin[1].transport.abort()
        self.run_through(double)

    def test_two_processes_of_one_party(self):
        """The second is refused; two polls under one certificate get one question each, and one answer counts."""
        self.define()
        self.coordinator()
        parties = [self.join(party, *EXACT) for party in PARTIES[:2]]
        self.refuse(2, "party", "trial", home=self.home(0), says=["another process serves"])
        self.join(2, *EXACT).kill()
        site = next((self.home(2) / "studies").iterdir())
        keys = tls(self.folder / "ca.crt", site / "party.crt", site / "party.key")
        polls = [post(self.port, "/v1/poll", POLL, keys) for _ in range(2)]
        self.assertEqual([status for status, _ in polls], [200, 200])
        questions = [fields_of(fields_of(body)[2]) for _, body in polls]
        self.assertEqual(questions[0], questions[1])
        self.check_as_calm([*parties, self.resume(2)])


class Proxies(FaultTest):
    def proxy(self, *rules):
        """A tinyproxy on a free port of loopback; its address."""
        program = shutil.which("tinyproxy", path=os.environ.get("PATH", "") + ":/usr/bin:/usr/sbin")
        if program is None:
            self.skipTest("needs tinyproxy (apt-get install tinyproxy)")
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        settings = self.path / "tinyproxy.conf"
        settings.write_text("\n".join([f"Port {port}", "Listen 127.0.0.1", "Timeout 600", "MaxClients 50", *rules]) + "\n")
        process = subprocess.Popen([program, "-d", "-c", settings], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.addCleanup(lambda: (process.kill(), process.wait(), process.stdout.close()))
        while True:  # it says on standard output that it listens, in a buffer: so try
            try:
                socket.create_connection(("127.0.0.1", port)).close()
                return f"127.0.0.1:{port}"
            except OSError:
                self.assertIsNone(process.poll())

    def impostor(self, reply):
        """Something else on the proxy's port, which says this to everybody."""
        listener = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(listener.close)

        def serve():
            while True:
                try:
                    caller, _ = listener.accept()
                except OSError:
                    return
                with caller:
                    caller.recv(4096)
                    caller.sendall(reply)
        threading.Thread(target=serve, daemon=True).start()
        return f"127.0.0.1:{listener.getsockname()[1]}"

    def refused(self, proxy, *says):
        line = self.refuse(1, *self.join_words(0, self.invite(), *EXACT, "--proxy", proxy), home=self.home(0), says=says)
        self.assertNotIn("secret", line)
        self.assertFalse((self.home(0) / "studies").exists())

    def test_a_study_through_a_proxy(self):
        self.define()
        self.coordinator()
        proxy = "http://" + self.proxy(f"ConnectPort {self.port}")
        processes = [self.join(party, *EXACT, *(("--proxy", proxy) if party != 1 else ())) for party in PARTIES]
        processes[0].kill()
        settings = json.loads(next(self.home(0).glob("studies/*/settings.json")).read_text())
        self.assertEqual(settings["proxy"], proxy)
        self.check_as_calm([self.resume(0), *processes[1:]])

    def test_a_proxy_with_a_password(self):
        self.define()
        self.coordinator()
        address = self.proxy(f"ConnectPort {self.port}", "BasicAuth clinic secret")
        self.limit(0)
        self.refused("http://" + address, f"the proxy http://{address} wants a name and password (407)",
                     "http://NAME:PASSWORD@HOST:PORT")
        self.refused("http://clinic:secretive@" + address, "(40")
        process = self.join(0, *EXACT, "--proxy", f"http://clinic:secret@{address}")
        settings = next(self.home(0).glob("studies/*/settings.json"))
        self.assertEqual(settings.stat().st_mode & 0o777, 0o600)
        process.kill()

    def test_proxies_that_do_not_serve(self):
        self.define()
        self.coordinator()
        self.limit(0)
        address = self.proxy("ConnectPort 443")
        self.refused("http://" + address, f"the proxy http://{address} does not let us through to {self.url} (403)",
                     "must allow CONNECT")
        with socket.create_server(("127.0.0.1", 0)) as free:
            gone = "127.0.0.1:%d" % free.getsockname()[1]
        self.refused("http://" + gone, f"cannot reach {self.url} through the proxy http://{gone}")
        self.refused("http://" + self.impostor(b"HTTP/1.1 502 no\r\nContent-Length: 0\r\n\r\n"), "cannot reach", "(502)")
        wrong = self.impostor(b"SSH-2.0-OpenSSH_9.2\r\n\r\n")
        self.refused("http://" + wrong, f"through the proxy http://{wrong}")
        wrong = self.impostor(b"HTTP/1.1 200 yes\r\n\r\nand now something else than TLS")
        self.refused("http://" + wrong, f"through the proxy http://{wrong}")

    def test_what_is_no_proxy_is_a_matter_of_usage(self):
        self.define()
        self.coordinator()
        self.limit(0)
        for proxy in ("proxy.example.org", "https://127.0.0.1:1", "socks5://127.0.0.1:1", "http://127.0.0.1", "http://a:1/x"):
            self.refuse(2, *self.join_words(0, self.invite(), *EXACT, "--proxy", proxy), home=self.home(0),
                        says=["http://HOST:PORT"])


def may_make_namespaces():
    if os.geteuid() != 0 or not shutil.which("ip") or not shutil.which("nft", path=os.environ.get("PATH", "") + ":/usr/sbin"):
        return False
    made = subprocess.run(["unshare", "--net", "nft", "add", "table", "inet", "trial"], capture_output=True)
    return made.returncode == 0


class Namespace:
    """A network of its own: a host, as far as the programs in it can tell."""

    def __init__(self, test, name):
        self.name = f"tacit-{os.getpid()}-{name}"
        self.run("ip", "netns", "add", self.name, outside=True)
        test.addCleanup(lambda: self.run("ip", "netns", "del", self.name, outside=True))
        self.run("ip", "link", "set", "lo", "up")

    def run(self, *words, outside=False):
        inside = [] if outside else ["ip", "netns", "exec", self.name]
        done = subprocess.run([*inside, *words], capture_output=True, text=True)
        if done.returncode != 0:
            raise AssertionError(f"{' '.join(words)}: {done.stderr}")

    def join(self, other, mine, theirs):
        """A cable between the two, with these addresses at its ends (192.0.2.0/24: for documentation, routed nowhere)."""
        self.run("ip", "link", "add", "cable", "type", "veth", "peer", "name", "cable", "netns", other.name)
        for end, address in ((self, mine), (other, theirs)):
            end.run("ip", "address", "add", f"{address}/24", "dev", "cable")
            end.run("ip", "link", "set", "cable", "up")

    def rule(self, text):
        self.run("nft", text)


@unittest.skipUnless(may_make_namespaces(), "needs root, ip, nft and the right to make network namespaces")
class Packets(FaultTest):
    """The coordinator on one host, the parties on another."""

    def setUp(self):
        super().setUp()
        self.site, self.center = Namespace(self, "site"), Namespace(self, "center")
        self.center.join(self.site, "192.0.2.1", "192.0.2.2")
        self.where = None

    def start(self, *words, home=None):
        if words[0] not in ("coordinator", "join", "party") or self.where is None:
            return super().start(*words, home=home)
        space = self.center if words[0] == "coordinator" else self.site
        process = Running(words, home, self.path, within=["ip", "netns", "exec", space.name])
        self.addCleanup(process.clean)
        return process

    def begin(self):
        self.where = "namespaces"
        self.define()
        coordinator = self.coordinator("--listen", "192.0.2.1:8443", "--url", "https://192.0.2.1:8443")
        self.assertEqual(self.url, "https://192.0.2.1:8443")
        return coordinator

    def end(self, processes):
        self.where = None
        self.check_as_calm(processes)

    def test_a_fifth_of_all_packets_is_lost(self):
        self.begin()
        for end in (self.site, self.center):
            end.rule("add table inet faults")
            end.rule("add chain inet faults input { type filter hook input priority 0; }")
            end.rule("add rule inet faults input iifname cable numgen random mod 100 < 20 drop")
        self.end([self.join(party, *EXACT) for party in PARTIES])

    def test_a_partition_heals(self):
        """Nothing passes, without a word, for longer than a party needs to notice; then everything does."""
        self.begin()
        parties = [self.join(party, *EXACT) for party in PARTIES[:2]]
        self.site.rule("add table inet faults")
        self.site.rule("add chain inet faults input { type filter hook input priority 0; }")
        self.site.rule("add rule inet faults input iifname cable meta l4proto tcp drop")
        self.site.rule("add rule inet faults input iifname cable reject")
        cut = self.resume_fresh()
        cut.wait_line("trying again until")
        self.site.rule("flush table inet faults")
        cut.wait_line("connected again|round 1: answering")
        self.end([*parties, cut])

    def resume_fresh(self):
        """The third party has joined before the cut, but was not there."""
        self.site.rule("flush table inet faults")
        self.join(2, *EXACT).kill()
        self.site.rule("add rule inet faults input iifname cable meta l4proto tcp drop")
        return self.resume(2)


if __name__ == "__main__":
    if "--seed" in sys.argv:
        at = sys.argv.index("--seed")
        SEED = int(sys.argv[at + 1])
        del sys.argv[at:at + 2]
    print(f"seed {SEED}", file=sys.stderr)
    unittest.main(verbosity=2)
