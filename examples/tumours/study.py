# A regression over three sites: prints an invitation for each, waits for them, prints the coefficients.
#     python study.py FOLDER SCHEMA
import sys

import tacit

with tacit.coordinator(sys.argv[1]) as c:
    s = c.study("tumours", formula="relapse ~ histology * stage + age", method="estimate", sites=["Vienna", "Graz", "Linz"], schema=sys.argv[2])
    for site, line in s.invitations.items():
        print(site, line, flush=True)
    fit = s.run()
for one in fit.summary().coefficients:
    print(one["name"], repr(one["estimate"]), repr(one["error"]))
