"""Tensors of a checkpoint, and the text that says which parts of them a weight holds."""

import re
import sys
from dataclasses import dataclass

import numpy as np

# The arrays that hold the bits of a type; of all others bytes.
ARRAYS = {"f32": np.float32, "bf16": np.uint16, "f16": np.float16}
# Types of arrays and of safetensors as numpy, ml_dtypes and torch name them.
SPELLINGS = {"float32": "f32", "bfloat16": "bf16", "float16": "f16", "float8_e4m3fn": "f8E4M3FN",
             "float8_e8m0fnu": "f8E8M0FNU", "float4_e2m1fn_x2": "f4E2M1FNx2"}
TYPES = {*SPELLINGS.values(), "f6E2M3FNx32"}


@dataclass
class Part:
    """One tensor of the checkpoint, and the part of it that a rank has."""

    name: str
    padding: int = 0  # rows of zeros behind the tensor's
    dim: int = 0
    parts: int = 1
    copies: int = 1
    is_first_rank_only: bool = False
    is_of_one: bool = False  # expert: the tensors of others have other names


PART = re.compile(r'"([^"]*)"(?: padded (\d+))?(?: split (\d+) of (\d+))?(?: copies (\d+))?( first rank)?')


def unescaped(text):
    """The name that a text between quotes means, with the bytes that it says in hexadecimal digits."""
    def byte(found):
        return b"\\" if found[1] == b"\\" else bytes.fromhex(found[1].decode())

    return re.sub(rb"\\(\\|[0-9A-Fa-f]{2})", byte, text.encode()).decode()


class Source:
    """The text that says what a weight holds, read."""

    channel_scale = block_scale = tensor_scale = largest = doubled = inverse = transposed = interleaved = halves = \
        is_divisor = False
    block = group = apart = experts = 0
    numbers = scaled = stored = absent = numbers_end = scales_end = second_end = dequantised = None
    VALUES = {"blocks": ("block", int), "of": ("numbers", str), "scaled": ("scaled", str), "stored": ("stored", str),
              "grouped": ("group", int), "apart": ("apart", int), "default": ("absent", np.float32),
              "experts": ("experts", int), "held": ("numbers_end", str), "by": ("scales_end", str),
              "and": ("second_end", str), "over": ("second_end", str), "dequantised": ("dequantised", str)}

    def __init__(self, text, layer, expert=0):
        listed, _, words = text.rpartition("]")
        def filled(name):
            return unescaped(name).replace("{layer}", str(layer)).replace("{expert}", str(expert))

        self.parts = [Part(filled(name), int(padding or 0), int(dim or 0), int(parts or 1), int(copies or 1),
                           bool(first), "{expert}" in name)
                      for name, padding, dim, parts, copies, first in PART.findall(listed)]
        words = iter(words.split())
        for word in words:
            if word in self.VALUES:
                name, kind = self.VALUES[word]
                setattr(self, name, kind(next(words)))
                self.is_divisor |= word == "over"
            elif word == "packed":  # the last; the manifest has it as "order"
                break
            elif getattr(self, word, None) is False:
                setattr(self, word, True)
            else:
                raise ValueError(f"expected a word that says what a weight holds, got '{word}' in {text}")
        for part in self.parts:
            part.dim -= 1 if self.experts and part.parts > 1 else 0  # of one expert


class Tensor:
    """A whole tensor of the checkpoint: its type as the manifest spells it, and its bits in rows."""

    def __init__(self, name, given, few_bits):
        self.type, bits = given if isinstance(given, tuple) else (None, given)
        if hasattr(bits, "detach"):
            spelled, bits = bits_of_torch(bits)
        else:
            spelled = str(bits.dtype)
        self.type = self.type or SPELLINGS.get(spelled) or (few_bits if spelled == "uint8" else spelled)
        array = np.dtype(ARRAYS.get(self.type, np.uint8))
        if self.type not in TYPES or bits.dtype.itemsize != array.itemsize:
            raise ValueError(f"{name}: expected a tensor of {', '.join(SPELLINGS)} or uint8, or a pair of a type and "
                             f"an array of its bits, got {self.type} in an array of {bits.dtype}")
        self.rank, self.rows = bits.ndim, bits.shape[0] if bits.ndim else 1
        self.bits = np.ascontiguousarray(bits).view(array).reshape(self.rows, -1)
        self.is_narrow = self.type in ("f8E4M3FN", "f6E2M3FNx32", "f4E2M1FNx2")
        self.width = self.bits.shape[1] * numbers_of(self.type) // items_of(self.type)


def numbers_of(name):
    """Numbers of one element of a type."""
    count = re.search(r"x(\d+)$", name)
    return int(count[1]) if count else 1


def items_of(name):
    """Items of the array that are one element of a type."""
    return 24 if name.startswith("f6") else 1


def bits_of_torch(tensor):
    """The name that torch gives a tensor's type, and an array of its bits."""
    name = str(tensor.dtype).removeprefix("torch.")
    flat = tensor.detach().cpu().contiguous().reshape(-1).view(sys.modules["torch"].uint8).numpy()
    return name, flat.view(ARRAYS.get(SPELLINGS.get(name), np.uint8)).reshape(tuple(tensor.shape))


class Cut:
    """What a rank has of a tensor."""

    def __init__(self, tensor, part, rank):
        counts, firsts = [tensor.rows + part.padding, tensor.width], [0, 0]
        along = 1 if part.dim else 0
        counts[along] //= part.parts
        if part.parts > 1:
            firsts[along] = counts[along] * (rank // part.copies % part.parts)
        self.row_count, self.column_count = counts
        self.rows, self.columns = (slice(first, first + count) for first, count in zip(firsts, counts))
        self.first_column = firsts[1]
