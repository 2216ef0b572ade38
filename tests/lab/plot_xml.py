#!/usr/bin/env python3
"""Charts are well-formed, standalone and harmless, as a real XML parser sees them.

    tests/lab/plot_xml.py build/tests/lab/test_lab_plot
"""
import subprocess
import sys
import unittest
import xml.etree.ElementTree as ElementTree

SVG = "{http://www.w3.org/2000/svg}"
KNOWN = {SVG + name for name in "svg title desc style rect g line circle path text".split()}
PROGRAM = sys.argv.pop() if len(sys.argv) > 1 else None


def chart(name):
    done = subprocess.run([PROGRAM, name], stdout=subprocess.PIPE, check=True, timeout=600)
    return done.stdout


class Chart(unittest.TestCase):
    def test_every_case_is_well_formed_and_has_only_harmless_elements(self):
        for name in "ordinary panels one same odd nothing hostile hostile-panels".split():
            with self.subTest(name):
                root = ElementTree.fromstring(chart(name))
                self.assertEqual(root.tag, SVG + "svg")
                self.assertEqual(root.get("role"), "img")
                for element in root.iter():
                    self.assertIn(element.tag, KNOWN)
                    for attribute in element.attrib:
                        self.assertFalse(attribute.startswith("on") or "href" in attribute, attribute)

    def test_titles_serve_those_who_do_not_see(self):
        root = ElementTree.fromstring(chart("ordinary"))
        names = {element.get("id"): element.text for element in (root[0], root[1])}
        self.assertEqual(root.get("aria-labelledby").split(), list(names))
        self.assertEqual(root[0].tag, SVG + "title")
        self.assertEqual(root[0].text, "A chart")

    def test_hostile_names_are_text_and_nothing_else(self):
        root = ElementTree.fromstring(chart("hostile"))
        self.assertIn('<script>alert("1")</script> & \'x\'', root.find(SVG + "title").text)

    def test_labels_of_one_chart_do_not_overlap(self):
        root = ElementTree.fromstring(chart("ordinary"))
        places = sorted(float(text.get("y")) for text in root.iter(SVG + "text") if text.get("class") == "label")
        self.assertEqual(len(places), 2)
        self.assertGreaterEqual(places[1] - places[0], 17.99)

    def test_everything_lies_on_the_page(self):
        for name in ("ordinary", "panels", "hostile"):
            root = ElementTree.fromstring(chart(name))
            width, height = float(root.get("width")), float(root.get("height"))
            for element in root.iter():
                for attribute, most in (("x", width), ("x2", width), ("cx", width), ("y", height), ("y2", height)):
                    if element.get(attribute):
                        self.assertTrue(0 <= float(element.get(attribute)) <= most, element.attrib)

    def test_the_same_chart_gives_the_same_bytes(self):
        self.assertEqual(chart("panels"), chart("panels"))


if __name__ == "__main__":
    unittest.main()
