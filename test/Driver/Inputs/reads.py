"""reads.py json|csv FILE: reads an estimate as another program would.

reads.py ratio FILE OTHER PHASE OP COLUMN: one number of an op over the other's.
"""

import csv
import json
import sys



def number_of(path, phase, op, column):
    with open(path) as file:
        rows = [row for row in csv.DictReader(file) if (row["phase"], row["op"]) == (phase, op)]
    return float(rows[0][column])


if sys.argv[1] == "ratio":
    first, second = (number_of(path, *sys.argv[4:]) for path in sys.argv[2:4])
    print(f"{first / second:.2f}")
    sys.exit()
with open(sys.argv[2]) as file:
    if sys.argv[1] == "json":
        estimate = json.load(file)
        assert estimate["expectation"]["mean_ttft_ms"] > 0, estimate
        print(estimate["model"], estimate["hw"], estimate["tp"])
    else:
        rows = list(csv.DictReader(file))
        for phase in ("prefill", "decode"):
            share = sum(float(row["share"]) for row in rows if row["phase"] == phase)
            assert abs(share - 1) < 1e-2, (phase, share)
            print(phase, "is whole")
