# A regression over three sites, whose rows are in memory; prints the coefficients.
#     python study.py FOLDER
# The folder is the coordinator's, and has tumours.schema.yaml in it.
import sys

import tacit
from patients import patients

sites = ["Vienna", "Graz", "Linz"]
with tacit.coordinator(sys.argv[1]) as c:
    s = c.study("tumours", formula="relapse ~ histology * stage + age", sites=sites)
    for number, site in enumerate(sites):
        s.site(site, patients(number))
    fit = s.run()
for one in fit.summary().coefficients:
    print(one["name"], repr(one["estimate"]), repr(one["error"]))
