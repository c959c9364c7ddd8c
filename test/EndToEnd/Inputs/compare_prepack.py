"""Compares the weights that a package's Python prepares with those of its C++, to the bit.

    compare_prepack.py PACKAGE WEIGHTS_JSON RANKS PROGRAM CHECKPOINT

PROGRAM is prepareAll.cpp with the package's library, CHECKPOINT where files for it can be put. The tensors of
WEIGHTS_JSON are filled with random numbers twice. `wide`: in 16 or 32 bits, so that the loaders quantise; `stored`: in
the few bits of the package, with scales of their own. Every row, block and group has another scale. Then two mistakes
are planted, which the comparison must find: two bits of each order of scales exchanged, tensors joined in reverse.
"""

import json
import pathlib
import re
import subprocess
import sys

import numpy as np

random = np.random.default_rng(20240917)


def types_of(folder):
    """The numbers of the C types by the names that the manifest has, in capitals."""
    header = (folder / "host/modelc.h").read_text()
    return dict(re.findall(r"MC_(\w+) = (\d+)", header[header.index("enum mc_type"):header.index("MC_ANY")]))


def wide(shape, turn):
    """Numbers whose rows, blocks and tensors differ in size by far; a row and a block of zeros, zeros of both signs."""
    rows, columns = (*shape, 1)[:2]
    values = random.standard_normal((rows, columns)) * np.exp2(random.uniform(-5, 5, (rows, 1)))
    values *= np.exp2(random.uniform(-3, 3, (rows, -(-columns // 16)))).repeat(16, axis=1)[:, :columns]
    values[rows // 3], values[rows // 2, :32], values[0, -1] = 0, -0.0, np.exp2(-140)
    values = values.astype(np.float32).reshape(shape)
    bf16 = (values.view(np.uint32) >> 16).astype(np.uint16)
    return [("f32", values), ("f16", values.astype(np.float16)), ("bf16", bf16)][turn % 3]


def scales(shape):
    return "f32", np.exp2(random.uniform(-9, 9, shape)).astype(np.float32)


def stored(name, shape, source, turn):
    """Numbers of few bits, any bits, and their scales."""
    rows, columns = shape
    kind, bits = (("f4E2M1FNx2", 4) if "of f4E2M1FN" in source else ("f6E2M3FNx32", 6) if "of f6E2M3FN" in source else
                  ("f8E4M3FN", 8))
    made = {name: (kind, random.integers(0, 256, (rows, columns * bits // 8), np.uint8))}
    block = re.search(r"blocks (\d+) of \S+ scaled (\S+)", source)
    group = re.search(r"grouped (\d+)", source)
    if block:
        made[name + "_scale"] = (block[2], random.integers(0, 256, (rows, columns // int(block[1])), np.uint8))
        made[name + "_scale_2"] = scales(())
        made[name.replace(".weight", ".input_scale")] = scales((1,))
    elif group:
        made[name + ("_scale_inv" if turn % 2 else "_scale")] = scales((rows // int(group[1]), columns // int(group[1])))
    else:
        made[name + "_scale"] = scales([(rows,), (rows, 1), (1,)][turn % 3])
    return made


def checkpoint_of(kind, weights, shapes):
    """Types and bits of tensors by their names."""
    narrow = {}
    for weight in weights:
        for name in re.findall(r'"([^"]*)"', weight.source) if " stored " in weight.source else ():
            narrow.update({name.replace("{layer}", str(layer)): weight.source for layer in weight.layers})
    made = {}
    for turn, (name, entry) in enumerate(shapes.items()):
        few = kind == "stored" and name in narrow
        made |= stored(name, entry["shape"], narrow[name], turn) if few else {name: wide(entry["shape"], turn)}
    return made


def write(tensors, types, path):
    index, data = "", bytearray()
    for name, (kind, bits) in tensors.items():
        shape = [*bits.shape[:-1], bits.shape[-1] // 24] if kind == "f6E2M3FNx32" else bits.shape
        index += " ".join(map(str, (name, types[kind.upper()], len(data), bits.ndim, *shape))) + "\n"
        data += bits.tobytes()
    pathlib.Path(path + ".txt").write_text(index)
    pathlib.Path(path + ".bin").write_bytes(data)


def read_from(tensors):
    """As a reader of safetensors gives them: few bits are plain bytes."""
    def read(name):
        kind, bits = tensors.get(name, (None, None))
        return (kind, bits) if kind == "bf16" else bits
    return read


def compare(what, weights, tensors, ranks, expected):
    at, compared, same = 0, 0, 0
    for rank in range(ranks):
        for weight in weights:
            for layer in weight.layers:
                bits = weight.prepare(read_from(tensors), layer, rank).tobytes()
                if bits == expected[at:at + len(bits)]:
                    same += 1
                else:
                    print(f"{weight.name}: wrong, layer {layer} of rank {rank}")
                at, compared = at + len(bits), compared + 1
    assert at == len(expected), "all weights that C++ made"
    print(f"{what}: {same} of {compared} weights are the same")


def count_orders(weights, image):
    """Where all scales of 256 rows and 4 blocks lie, against the formulas of the machines."""
    row, block = np.mgrid[:256, :4]
    tiles = row // 128 * 512 + row % 32 * 16 + row % 128 // 32 * 4 + block
    orders = [weight.order for weight in weights if weight.order]
    found = [image(order["row"], row) ^ image(order["block"], block) for order in orders]
    print(f"{len(found)} orders of scales: {sum((one == tiles).all() for one in found)} of tiles of 128 x 4, "
          f"{sum((one == row * 4 + block).all() for one in found)} of rows")


def swapped(weight):
    """Planted: the bits 1 and 2 of the row exchanged."""
    first, second, third, *others = weight.order["row"]
    weight.order = {**weight.order, "row": [first, third, second, *others]}


def main():
    folder, ranks, program, path = pathlib.Path(sys.argv[1]), int(sys.argv[3]), sys.argv[4], sys.argv[5]
    sys.path.insert(0, str(folder / "python"))
    from prepack import Package
    from prepack.preparation import image
    weights = Package(folder).weights("decode")
    count_orders(weights, image)
    for kind in ("wide", "stored"):
        tensors = checkpoint_of(kind, weights, json.loads(pathlib.Path(sys.argv[2]).read_text()))
        write(tensors, types_of(folder), path)
        subprocess.run([program, path, str(ranks), path + ".out"], check=True)
        expected = pathlib.Path(path + ".out").read_bytes()
        compare(kind, weights, tensors, ranks, expected)
    for weight in weights:
        if weight.order:
            swapped(weight)
    compare("swapped", weights, tensors, ranks, expected)
    weights = Package(folder).weights("decode")
    for weight in weights:
        listed, bracket, words = weight.source[1:].rpartition("]")
        weight.source = "[" + ", ".join(reversed(listed.split(", "))) + bracket + words
    compare("reversed", weights, tensors, ranks, expected)


if __name__ == "__main__":
    main()
