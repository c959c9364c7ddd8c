"""Joins the graphs of two phases to one module, each returning its logits too.

Usage: join_phases.py PREFILL DECODE > BOTH
"""

import re
import sys


def graph_of(path):
    """The lines between the module's braces."""
    lines = open(path).read().splitlines()
    first = next(i for i, line in enumerate(lines) if "model.graph" in line)
    last = max(i for i, line in enumerate(lines) if line == "}")
    return lines[:first], lines[first:last]


def return_logits(lines):
    text = "\n".join(lines)
    logits = re.search(r"model\.sample (%\S+),.* : (tensor\S+) ->", text)
    token = re.search(r"model\.return (%\S+) : (\S+)", text)
    gathered = re.search(re.escape(logits[1]) + r" = model\.all_gather", text)
    if gathered:  # its buffer is bound by the caller already
        return text
    text = text.replace(token[0], f"model.return {token[1]}, {logits[1]} : {token[2]}, {logits[2]}")
    return text.replace(f"-> {token[2]} attributes", f"-> ({token[2]}, {logits[2]}) attributes", 1)


def main():
    head, prefill = graph_of(sys.argv[1])
    _, decode = graph_of(sys.argv[2])
    print("\n".join(head + ["module {"] * (not any("module" in line for line in head))))
    for name, graph in (("prefill", prefill), ("decode", decode)):
        print(re.sub(r'model\.graph @("[^"]*"|\w+)', f"model.graph @{name}_graph",
                     return_logits(graph), count=1))
    print("}")


if __name__ == "__main__":
    main()
