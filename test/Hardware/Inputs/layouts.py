"""Compares printed layouts with the formulas of the vendors' documents.

Usage: layouts.py ARCHITECTURE FILE. FILE holds lines of
modelc-hardware-test: `instruction operand lane register row column` and
`read|write bytes lane phase`. The formulas are written as the documents state
them (division and remainder), not as the bit images that the targets hold.
"""

import sys


# CDNA: LLVM AMDGPU guide and AMD's matrix instruction calculator.
def rows_of(size, per_lane):
    """A and B: row = lane % size, k contiguous in a lane."""
    return lambda lane, reg: (lane % size, per_lane * (lane // size) + reg)


def halves_of(size, k):
    """f8f6f4 with fp8: two halves of 16 elements, k / 2 apart."""
    return lambda lane, reg: (lane % size, 16 * (lane // size) + reg % 16 + k // 2 * (reg // 16))


def scaled(size, per_lane):
    """f8f6f4 with fp4 and fp6: a lane has one block of a row, and the scale of it."""
    operand, scale = rows_of(size, per_lane), lambda lane, reg: (lane % size, lane // size)
    return {"a": operand, "b": operand, "a_scale": scale, "b_scale": scale}


def c16(lane, reg):
    return 4 * (lane // 16) + reg, lane % 16


def c32(lane, reg):
    return 8 * (reg // 4) + 4 * (lane // 32) + reg % 4, lane % 32


def cdna(operand, accumulator):
    return {"a": operand, "b": operand, "c": accumulator}


# PTX ISA, "Matrix Fragments for mma.m16n8k16 with floating point type" and
# "mma.m16n8k32": groupID = lane >> 2, threadID_in_group = lane % 4.
def a16(lane, i):
    row = lane // 4 if i < 2 or 4 <= i < 6 else lane // 4 + 8
    return row, lane % 4 * 2 + (i & 1) + (8 if i >= 4 else 0)


def b16(lane, i):
    return lane // 4, lane % 4 * 2 + (i & 1) + (8 if i >= 2 else 0)


def c8(lane, i):
    return lane // 4 + (0 if i < 2 else 8), lane % 4 * 2 + (i & 1)


def a32(lane, i):
    row = lane // 4 if i < 4 or 8 <= i < 12 else lane // 4 + 8
    return row, lane % 4 * 4 + (i & 3) + (16 if i >= 8 else 0)


def b32(lane, i):
    return lane // 4, lane % 4 * 4 + (i & 3) + (16 if i >= 4 else 0)


# PTX ISA, wgmma: warp w of the group holds rows 16 w to 16 w + 15.
def of_warp(fragment):
    def place(thread, i):
        row, column = fragment(thread % 32, i)
        return 16 * (thread // 32) + row, column
    return place


def wgmma_d(thread, i):
    row = 16 * (thread // 32) + thread % 32 // 4 + 8 * (i // 2 % 2)
    return row, 8 * (i // 4) + thread % 4 * 2 + (i & 1)


def row_of_thread(thread, i):
    """tcgen05.ld .32x32b: one row for each thread."""
    return thread, i


def tensor_scales(blocks):
    """tcgen05, scale factors: byte 16 (r % 32) + 4 (r / 32) + block of a block of
    128 rows, 16 bytes a lane, for K-steps of fewer than four blocks without gaps."""
    def place(lane, byte):
        rest, block = divmod(byte, blocks)
        return lane + 32 * rest, block
    return {"a_scale": place, "b_scale": place, "c": row_of_thread}


MMA_SYNC = {
    "MmaSync16x8x16Bf16": {"a": a16, "b": b16, "c": c8},
    "MmaSync16x8x32F8": {"a": a32, "b": b32, "c": c8},
}
INSTRUCTIONS = {
    "cdna3": {
        "Mfma16x16x16Bf16": cdna(rows_of(16, 4), c16),
        "Mfma32x32x8Bf16": cdna(rows_of(32, 4), c32),
        "Mfma16x16x32F8": cdna(rows_of(16, 8), c16),
        "Mfma32x32x16F8": cdna(rows_of(32, 8), c32),
    },
    "cdna4": {
        "Mfma16x16x32Bf16": cdna(rows_of(16, 8), c16),
        "Mfma32x32x16Bf16": cdna(rows_of(32, 8), c32),
        "Mfma16x16x128F8": cdna(halves_of(16, 128), c16),
        "Mfma32x32x64F8": cdna(halves_of(32, 64), c32),
        "Mfma16x16x128F4": scaled(16, 32) | {"c": c16},
        "Mfma16x16x128F4F8": scaled(16, 32) | {"b": halves_of(16, 128), "c": c16},
        "Mfma16x16x128F6": scaled(16, 32) | {"c": c16},
        "Mfma16x16x128Bf6": scaled(16, 32) | {"c": c16},
        "Mfma16x16x128F6F8": scaled(16, 32) | {"b": halves_of(16, 128), "c": c16},
        "Mfma16x16x128Mx8": scaled(16, 32) | {"a": halves_of(16, 128), "b": halves_of(16, 128), "c": c16},
        "Mfma16x16x32F8": cdna(rows_of(16, 8), c16),
    },
    "hopper": MMA_SYNC | {
        "WgmmaBf16": {"c": wgmma_d},
        "WgmmaBf16FromRegister": {"a": of_warp(a16), "c": wgmma_d},
        "WgmmaF8": {"c": wgmma_d},
        "WgmmaF8FromRegister": {"a": of_warp(a32), "c": wgmma_d},
    },
    "blackwell": MMA_SYNC | {
        "Tcgen05Bf16": {"c": row_of_thread},
        "Tcgen05Bf16FromTensor": {"a": row_of_thread, "c": row_of_thread},
        "Tcgen05F8": {"c": row_of_thread},
        "Tcgen05F8FromTensor": {"a": row_of_thread, "c": row_of_thread},
        "Tcgen05Nvf4": tensor_scales(4),
        "Tcgen05Mxf4": tensor_scales(2),
        "Tcgen05Mx8": tensor_scales(1),
        # Of two workgroups: the rows of each in its own lanes.
        "Tcgen05Bf16Pair": {"c": row_of_thread},
        "Tcgen05F8Pair": {"c": row_of_thread},
        "Tcgen05Nvf4Pair": tensor_scales(4),
        "Tcgen05Mxf4Pair": tensor_scales(2),
        "Tcgen05Mx8Pair": tensor_scales(1),
    },
}


def in_order(lanes):
    return lambda lane: lane // lanes


def by_list(*groups):
    """Groups of the first 32 lanes; the upper 32 repeat them."""
    def phase(lane):
        index = next(i for i, group in enumerate(groups) if lane % 32 in group)
        return index + len(groups) * (lane // 32)
    return phase


def lanes(*ranges):
    return {lane for first, last in ranges for lane in range(first, last + 1)}


NVIDIA = {("read", 16): in_order(8), ("read", 8): in_order(16), ("read", 4): in_order(32),
          ("write", 16): in_order(8), ("write", 8): in_order(16), ("write", 4): in_order(32)}
PHASES = {
    # HipKittens: timing of ds_read_b128.
    "cdna4": {
        ("read", 16): by_list(lanes((0, 3), (12, 15), (20, 27)),
                              lanes((4, 11), (16, 19), (28, 31))),
        ("read", 8): in_order(32), ("read", 4): in_order(64),
        ("write", 16): in_order(8), ("write", 8): in_order(16), ("write", 4): in_order(32)},
    # AMD, "Avoiding LDS bank conflicts on AMD GPUs using CK-Tile".
    "cdna3": {
        ("read", 16): by_list(lanes((0, 3), (20, 23)), lanes((4, 7), (16, 19)),
                              lanes((8, 11), (28, 31)), lanes((12, 15), (24, 27))),
        ("read", 8): in_order(16), ("read", 4): in_order(32),
        ("write", 16): in_order(8), ("write", 8): in_order(16), ("write", 4): in_order(32)},
    "hopper": NVIDIA,
    "blackwell": NVIDIA,
}


def grouping(pairs):
    """Which lanes share a phase, whatever the phases are numbered."""
    groups = {}
    for lane, phase in pairs:
        groups.setdefault(phase, set()).add(lane)
    return {frozenset(group) for group in groups.values()}


def main():
    architecture, path = sys.argv[1:]
    expected, seen, phases, wrong = INSTRUCTIONS[architecture], set(), {}, []
    with open(path, encoding="utf-8") as file:
        for line in file:
            words = line.split()
            if words[0] in ("read", "write"):
                key = words[0], int(words[1])
                phases.setdefault(key, []).append((int(words[2]), int(words[3])))
                continue
            name, operand, lane, reg, row, column = words[:2] + [int(word) for word in words[2:]]
            seen.add((name, operand))
            if expected[name][operand](lane, reg) != (row, column):
                wrong.append(line.strip())
    for name, operands in expected.items():
        wrong += [f"{name}: no layout of {operand}" for operand in operands
                  if (name, operand) not in seen]
    for key, formula in PHASES[architecture].items():
        pairs = phases.get(key, [])
        if not pairs or grouping(pairs) != grouping((lane, formula(lane)) for lane, _ in pairs):
            wrong.append(f"phases of {key}")
    print("\n".join(wrong[:20]))
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
