"""Reads an estimate from standard input: every field of bytes is an integer, spelled as one."""

import json
import sys

fields = []


def note(pairs):
    fields.extend((key, value) for key, value in pairs if key.endswith("_bytes") or "_bytes_" in key)
    return dict(pairs)


json.load(sys.stdin, object_pairs_hook=note)
wrong = [f"{key} {value!r}" for key, value in fields if type(value) is not int]
first = next(f"{key} {value}" for key, value in fields if key == "capacity_bytes")
print(*wrong, sep="\n") if wrong else print(f"{len(fields)} fields of bytes, all whole: {first}")
