"""The tensors of a checkpoint as a weight is made of them: see host/view.h, which does the same.

A Preparation makes matrices of matrices: numbers by the name of a part of the weight, scales behind "_scale" or
"_scale_inv", a second scale behind "_scale_2". All experts in one tensor, rows and columns the other way, rows of gate
and up in turn, other names: what a source says of that is undone here, for one expert at a time.
"""

import numpy as np

from .checkpoint import SPELLINGS, TYPES, Tensor, bits_of_torch

ENDS = ("", "_scale", "_scale_inv", "_scale_2")
GROUP = 128  # rows and columns with one scale


def array_of(given):
    """The name of a type, or None, and an array of its bits."""
    kind, bits = given if isinstance(given, tuple) else (None, given)
    if hasattr(bits, "detach"):
        spelled, bits = bits_of_torch(bits)
        kind = kind or SPELLINGS.get(spelled)
    return kind, bits


def tensor_of(name, given, few_bits):
    """A tensor of a pair whose type may be None."""
    kind, bits = given
    return Tensor(name, (kind, bits) if kind in TYPES else bits, few_bits)


class View:
    """What a Preparation reads, of one expert."""

    def __init__(self, preparation, given, expert):
        self.preparation, self.given, self.expert = preparation, given, expert
        self.source = preparation.source

    def __call__(self, name):
        for part in self.source.parts:
            if name.startswith(part.name) and name[len(part.name):] in ENDS:
                return self._part(part, name[len(part.name):])
        return self.given(name)

    def _held_name(self, name, end):
        source = self.source
        if not source.numbers_end:
            return name + end
        held = source.numbers_end if not end else source.second_end if end == "_scale_2" else source.scales_end
        return held and name.removesuffix(".weight") + held

    def _part(self, part, end):
        held = self._held_name(part.name, end)
        found = self.given(held) if held else None
        if found is None and not end:  # tensors that are not quantised have the part's own name
            found = self.given(part.name)
        if found is None:
            return None
        kind, bits = array_of(found)
        if self.source.experts and not part.is_of_one:
            bits = bits[self.expert]
        bits = bits.reshape(bits.shape[0], -1) if bits.ndim > 2 else bits
        if end == "_scale_2":
            return ("f32", np.float32(1) / np.asarray(bits, np.float32)) if self.source.is_divisor else (kind, bits)
        if self.source.transposed and not end:
            bits = bits.T
        if (self.source.interleaved or self.source.halves) and bits.ndim and bits.shape[0] > 1:
            parts = part.parts if part.dim == 0 else 1
            if len(bits) % (2 * parts):
                raise ValueError(f"{self.preparation.weight.name}: expected as many rows of gate as of up in each of "
                                 f"{parts} parts of {part.name}, got {len(bits)} rows")
            counts, axes = ((2, parts, -1), (0, 1)) if self.source.halves else ((parts, -1, 2), (1, 2))
            bits = np.swapaxes(bits.reshape(*counts, *bits.shape[1:]), *axes).reshape(bits.shape)
        bits = np.ascontiguousarray(bits)
        return self._dequantised(part, (kind, bits)) if self.source.dequantised and not end else (kind, bits)

    def _dequantised(self, part, given):
        """Numbers times their scales, in f32; others as they are."""
        kinds = self.source.dequantised.split("/")  # of numbers and of scales, where these are plain bytes
        numbers = tensor_of(part.name, given, kinds[0] + ("x2" if kinds[0].startswith("f4") else ""))
        if not numbers.is_narrow:
            return given
        scale = tensor_of(part.name + "_scale", self._part(part, "_scale"), kinds[1])
        second = self._part(part, "_scale_2")
        floats = self.preparation.floats
        times = np.float32(1) if second is None else floats(tensor_of(part.name, second, "f32"))[0, 0]
        values, scales = floats(numbers), floats(scale)
        tall = 1 if scale.rows == numbers.rows else numbers.rows if scale.rows == 1 else GROUP
        wide = numbers.width if scale.width == 1 else numbers.width // scale.width if tall == 1 else GROUP
        rows, columns = np.arange(numbers.rows) // tall, np.arange(numbers.width) // wide
        return "f32", values * scales[rows[:, None], columns[None, :]] * times
