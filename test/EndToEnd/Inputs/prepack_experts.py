"""What the Python of a package makes of experts: the cases of prepareExperts.cpp, whose results are known by hand.

    prepack_experts.py TARGETS_HOST
"""

import sys
from types import SimpleNamespace

import numpy as np

sys.path.insert(0, sys.argv[1])
from prepack import Weight
from prepack.few_bits import Numbers

NUMBERS = {"f4E2M1FN": Numbers(4, True, 1, 0, 6), "f8E4M3FN": Numbers(8, True, 3, -6, 448),
           "f8E8M0FNU": Numbers(8, False, 0, -127, 2.0**127)}
WORDS = {"row": [4, 8, 16, 32, 64, 128, 256, 512], "block": [1, 2]}


def prepared(checkpoint, source, kind, shape, rank=0, order=None):
    weight = Weight(SimpleNamespace(numbers=NUMBERS), "w", kind, shape, source, order, range(3, 4), 0)
    try:
        return weight.prepare(checkpoint.get, 3, rank)
    except ValueError as mistake:
        print(mistake)


def expect(what, found, wanted):
    is_right = found is not None and np.array_equal(np.asarray(found).reshape(-1), np.asarray(wanted).reshape(-1))
    print(f"{what}: {'right' if is_right else 'wrong'}")


def counted(*shape, first=0):
    return (np.arange(np.prod(shape)) + first).astype(np.float32).reshape(shape)


def check_names():
    c = {"l3.0.gate": counted(2, 2), "l3.0.up": counted(2, 2, first=10), "l3.1.gate": counted(2, 2, first=20),
         "l3.1.up": counted(2, 2, first=30), "down": counted(2, 3, 2), "turned": counted(2, 2, 3)}
    expect("a tensor of each, rows of a rank",
           prepared(c, '["l{layer}.{expert}.gate" split 1 of 2, "l{layer}.{expert}.up" split 1 of 2] experts 2', "f32",
                    [2, 2, 2], 1), [2, 3, 12, 13, 22, 23, 32, 33])
    expect("one of all, columns of a rank", prepared(c, '["down" split 2 of 2] experts 2', "f32", [2, 3, 1], 1),
           [1, 3, 5, 7, 9, 11])
    expect("inputs first", prepared(c, '["turned"] experts 2 transposed', "f32", [2, 3, 2]),
           [0, 3, 1, 4, 2, 5, 6, 9, 7, 10, 8, 11])


def check_turns():
    c = {"gu": counted(2, 4, 1), "bias": counted(2, 4)}
    turned = [0, 2, 1, 3, 4, 6, 5, 7]
    expect("gate above up", prepared(c, '["gu"] experts 2 interleaved', "f32", [2, 4, 1]), turned)
    expect("of a rank", prepared(c, '["gu" split 1 of 2] experts 2 interleaved', "f32", [2, 2, 1], 1), [2, 3, 6, 7])
    expect("of a rank, halves", prepared(c, '["gu" split 1 of 2] experts 2 halves', "f32", [2, 2, 1], 1), [1, 3, 5, 7])
    expect("biases", prepared(c, '["bias"] experts 2 interleaved', "f32", [2, 4]), turned)


def check_blocks():
    numbers = (np.arange(256) * 37).astype(np.uint8).reshape(2, 4, 2, 16)
    scales = (np.arange(16) + 120).astype(np.uint8).reshape(2, 4, 2)
    c = {"gu_blocks": numbers, "gu_scales": scales}
    source = '["gu"] stored bf16 blocks 32 of f4E2M1FN scaled f8E8M0FNU held _blocks by _scales experts 2 interleaved'
    expect("blocks are kept, gate above up", prepared(c, source, "f4E2M1FNx2", [2, 4, 32]),
           numbers.reshape(2, 4, 32)[:, [0, 2, 1, 3]])
    words = prepared(c, source + " block_scale", "f8E8M0FNUx4", [2, 1, 256], order=WORDS)
    expect("so are their scales", words.view(np.uint8).reshape(-1)[[0, 1, 4, 8, 1024, 1028]],
           [120, 121, 124, 122, 128, 132])
    made = prepared(c, '["gu"] held _blocks by _scales dequantised f4E2M1FN/f8E8M0FNU experts 2', "f32", [2, 4, 64])
    expect("or numbers times them", made.reshape(-1)[[33, 511]],
           [NUMBERS["f4E2M1FN"].values[numbers.reshape(-1)[16] >> 4] * np.float32(2.0**-6),
            NUMBERS["f4E2M1FN"].values[numbers.reshape(-1)[255] >> 4] * np.float32(2.0**8)])


def check_other_names():
    c = {"a.0.weight_packed": np.arange(1, 9, dtype=np.uint8)[None], "a.0.weight_global_scale": np.float32([4]),
         "a.0.weight_scale": np.uint8([[0x38]])}
    source = ('["a.{expert}.weight"] stored bf16 blocks 16 of f4E2M1FN scaled f8E4M3FN held .weight_packed by '
              ".weight_scale over .weight_global_scale experts 1")
    expect("names of another format", prepared(c, source, "f4E2M1FNx2", [1, 1, 8]), range(1, 9))
    expect("a scale that numbers are divided by", prepared(c, source + " tensor_scale", "f32", [1, 1]), [0.25])
    c["a.input_global_scale"] = np.float32([8])
    expect("the largest of one over each",
           prepared(c, '["a.input_global_scale", "a.0.weight_global_scale"] largest default 1 inverse', "f32", [1]), [0.25])


def check_groups():
    numbers = np.full((130, 130), 0x38, np.uint8)
    numbers[129, 127] = 0x40
    c = {"w.weight": ("f8E4M3FN", numbers), "w_scale_inv": np.float32([[1, 2], [3, 4]])}
    made = prepared(c, '["w"] held .weight by _scale_inv dequantised f8E4M3FN/f32', "f32", [130, 130])
    expect("groups that rows do not fill, times their scales", made[[0, 0, 128, 129, 129], [0, 129, 0, 127, 129]],
           [1, 2, 3, 6, 4])


check_names()
check_turns()
check_blocks()
check_other_names()
check_groups()
prepared({"w.0": counted(2, 2)}, '["w.{expert}"] experts 2', "f32", [2, 2, 2])
prepared({}, '["w.{expert}"] experts 3', "f32", [4, 2, 2])
for turns in "interleaved", "halves":
    prepared({"gu": counted(1, 4, 1)}, f'["gu" split 1 of 4] experts 1 {turns}', "f32", [1, 1, 1], 1)
