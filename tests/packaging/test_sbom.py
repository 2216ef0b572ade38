#!/usr/bin/env python3
"""The bill of materials that the build makes names what the program was linked with, in valid CycloneDX, and is the same each time.

    TACIT=build/src/cli/tacit TACIT_SBOM=build/tacit.cdx.json TACIT_SOURCE=. tests/packaging/test_sbom.py
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import unittest

REFERENCE = re.compile(r"^pkg:(deb/debian|npm|generic)/[A-Za-z0-9.%+_~-]+@[A-Za-z0-9.%_~-]+(\?arch=[a-z0-9-]+)?$")


class Sbom(unittest.TestCase):
    def setUp(self):
        self.text = pathlib.Path(os.environ["TACIT_SBOM"]).read_text()
        self.bill = json.loads(self.text)

    def test_it_is_cyclonedx(self):
        bill = self.bill
        self.assertEqual((bill["bomFormat"], bill["specVersion"], bill["version"]), ("CycloneDX", "1.5", 1))
        self.assertRegex(bill["serialNumber"], r"^urn:uuid:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$")
        self.assertEqual(bill["metadata"]["component"]["type"], "application")
        references = [part["bom-ref"] for part in bill["components"]]
        self.assertEqual(len(references), len(set(references)))
        for part in bill["components"]:
            self.assertEqual(part["type"], "library")
            self.assertTrue(part["name"])
            for digest in part.get("hashes", []):
                self.assertEqual(digest["alg"], "SHA-256")
                self.assertRegex(digest["content"], r"^[0-9a-f]{64}$")
            if "purl" in part:
                self.assertRegex(part["purl"], REFERENCE)
                self.assertTrue(part["version"])
        [root] = bill["dependencies"]
        self.assertEqual(root["ref"], bill["metadata"]["component"]["bom-ref"])
        self.assertEqual(root["dependsOn"], references)

    def test_every_linked_library_is_in_it_and_nothing_else(self):
        dynamic = subprocess.run(["readelf", "--dynamic", "--wide", os.environ["TACIT"]], stdout=subprocess.PIPE, text=True, check=True).stdout
        needed = sorted(line[line.index("[") + 1:line.index("]")] for line in dynamic.splitlines() if "(NEEDED)" in line)
        named = sorted(p["value"] for part in self.bill["components"] for p in part.get("properties", []) if p["name"] == "tacit:soname")
        self.assertEqual(named, needed)
        self.assertIn("uPlot", [part["name"] for part in self.bill["components"]])
        self.assertTrue(any(name.startswith("libsodium.so") for name in named))

    @unittest.skipUnless(shutil.which("dpkg-query"), "no Debian packages here")
    def test_packages_have_the_version_that_is_installed(self):
        [sodium] = [part for part in self.bill["components"] if part["name"].startswith("libsodium")]
        version = subprocess.run(["dpkg-query", "--show", "--showformat=${Version}", sodium["name"]], stdout=subprocess.PIPE, text=True,
                                 check=True).stdout
        self.assertEqual(sodium["version"], version)

    def test_the_same_build_gives_the_same_bytes(self):
        script = os.path.join(os.environ["TACIT_SOURCE"], "script", "sbom")
        version = self.bill["metadata"]["component"]["version"]
        again = subprocess.run([script, os.environ["TACIT"], version], stdout=subprocess.PIPE, text=True, check=True).stdout
        self.assertEqual(again, self.text)


if __name__ == "__main__":
    unittest.main()
