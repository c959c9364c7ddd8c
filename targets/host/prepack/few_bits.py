"""Numbers of few bits: what their bits mean, and how others are rounded to them."""

import numpy as np

ENCODED_AT_ONCE = 1 << 20  # numbers: what is computed of them stays in a cache


class Numbers:
    """A type of few bits, from its entry in the manifest."""

    def __init__(self, bits, signed, fraction_bits, smallest_exponent, largest):
        self.fraction_bits, self.smallest_exponent = fraction_bits, smallest_exponent
        self.largest = np.float32(largest)
        self.power = int(np.frexp(self.largest)[1]) - 1  # of two, of the largest
        self.sign = 1 << (bits - 1) if signed else 0
        self.not_a_number = (self.sign or 1 << bits) - 1
        self.values = self._decoded(np.arange(1 << bits))

    def _decoded(self, codes):
        size = codes & self.not_a_number
        if not self.sign:  # powers of two
            with np.errstate(over="ignore"):  # what lies behind the largest is none
                values = np.ldexp(np.float32(1), size + self.smallest_exponent)
        else:
            exponent, fraction = size >> self.fraction_bits, size & ((1 << self.fraction_bits) - 1)
            whole = fraction + np.where(exponent, 1 << self.fraction_bits, 0)
            exponent = np.maximum(exponent, 1) - 1 + self.smallest_exponent - self.fraction_bits
            values = np.ldexp(whole.astype(np.float32), exponent)
        values = np.where(values > self.largest, np.float32(np.nan), values)
        return np.where(codes & self.sign, -values, values).astype(np.float32)

    def encode(self, values):
        """Rounded to nearest even, saturated; NaN is all ones."""
        flat = np.ascontiguousarray(values, np.float32).reshape(-1)
        codes = np.empty(flat.size, np.uint8)
        for first in range(0, flat.size, ENCODED_AT_ONCE):
            some = slice(first, first + ENCODED_AT_ONCE)
            codes[some] = self._encoded(flat[some])
        return codes.reshape(values.shape)

    def _encoded(self, values):
        size = np.minimum(np.abs(values), self.largest)  # keeps NaN
        exponent = exponent_of(size, self.smallest_exponent)
        codes = (exponent - self.smallest_exponent) << self.fraction_bits
        if self.sign:
            units = np.rint(np.ldexp(size, self.fraction_bits - exponent))
            codes += np.where(np.isnan(size), 0, units).astype(np.int64)
        codes = np.where(np.isnan(size), self.not_a_number, codes)
        return np.where(np.signbit(values), codes | self.sign, codes).astype(np.uint8)


def exponent_of(size, smallest):
    """The power of 2 below numbers that are not negative; at least `smallest`."""
    return np.where(size == 0, smallest, np.maximum(np.frexp(size)[1] - 1, smallest))


def to_six_bits(codes):
    """Blocks of 32 codes as 24 bytes, the first code in the lowest bits."""
    first, second, third, fourth = (codes[..., i::4] for i in range(4))
    threes = first | second << 6, second >> 2 | third << 4, third >> 4 | fourth << 2
    return np.stack(threes, axis=-1).astype(np.uint8).reshape(*codes.shape[:-1], -1)


def from_six_bits(blocks):
    """The codes of blocks of 24 bytes."""
    first, second, third = (blocks[..., i::3].astype(np.int64) for i in range(3))
    whole = first | second << 8 | third << 16
    return np.stack([whole >> 6 * i & 63 for i in range(4)], axis=-1).reshape(*blocks.shape[:-1], -1)


def to_bf16(numbers):
    bits = np.ascontiguousarray(numbers).view(np.uint32)
    rounded = (bits + (0x7FFF + (bits >> 16 & 1))) >> 16
    return np.where(np.isnan(numbers), bits >> 16 | 0x40, rounded).astype(np.uint16)
