"""One weight for a rank: tensors of a checkpoint are cut, joined and converted."""

from dataclasses import replace

import numpy as np

from .checkpoint import ARRAYS, Cut, Source, Tensor, items_of, numbers_of
from .few_bits import exponent_of, from_six_bits, to_bf16, to_six_bits
from .view import View


def image(bases, index):
    """A Layout at each index: the xor of the images of the bits that are set."""
    index = np.asarray(index)
    result = np.zeros(index.shape, np.int64)
    for bit, base in enumerate(bases):
        result ^= np.where(index >> bit & 1, base, 0)
    return result


class Preparation:
    """Makes one weight for a rank: cuts, joins and converts the tensors that its source names."""

    def __init__(self, weight, read, layer, rank, expert=0):
        self.weight, self.given, self.rank = weight, read, rank
        self.source = Source(weight.source, layer, expert)
        self.types = weight.package.numbers
        self.count = int(np.prod(weight.shape)) * numbers_of(weight.type)
        # Types of few bits: of the numbers and, where blocks have them, of scales.
        number = self.source.numbers or "f8E4M3FN"
        self.kept = number + {"f4E2M1FN": "x2", "f6E2M3FN": "x32"}.get(number, "")
        self.number, self.scale = self.types[number], self.types.get(self.source.scaled)
        if self.source.experts or self.source.numbers_end:
            self.given = View(self, read, expert)

    def run(self):
        source = self.source
        lacks_scales = (source.block or self.weight.order) and not self.scale
        if not source.parts or lacks_scales or (source.block_scale and not source.block and not source.group):
            self._fail(f"expected the source of a weight, got {self.weight.source}")
        if source.largest:
            return self._joined([self._largest()])
        pieces = (self._piece(part) for part in source.parts)
        return self._placed(pieces) if self.weight.order else self._joined(pieces)

    def _fail(self, text):
        raise ValueError(f"{self.weight.name}: {text}")

    def _read(self, name, few_bits=None):
        given = self.given(name)
        return None if given is None else Tensor(name, given, few_bits or self.kept)

    def floats(self, tensor, rows=slice(None), columns=slice(None)):
        """Numbers of some rows and columns, in f32."""
        if tensor.type == "f4E2M1FNx2":
            codes = tensor.bits[rows]
            pairs = np.stack([codes & 15, codes >> 4], axis=-1).reshape(codes.shape[0], -1)
            return self.types["f4E2M1FN"].values[pairs[:, columns]]
        if tensor.type == "f6E2M3FNx32":
            blocks = tensor.bits[rows].reshape(-1, tensor.width // 32, 24)
            return self.types["f6E2M3FN"].values[from_six_bits(blocks).reshape(-1, tensor.width)[:, columns]]
        bits = tensor.bits[rows, columns]
        if tensor.type == "bf16":
            return (bits.astype(np.uint32) << 16).view(np.float32)
        return bits.astype(np.float32) if tensor.type in ARRAYS else self.types[tensor.type].values[bits]

    def _kept(self, tensor, cut):
        """The bits that a rank has of a tensor: of the type that the weight or its scales have. Those of six bits move
        among themselves, so these are numbers."""
        if tensor.type == "f6E2M3FNx32":
            return self.floats(tensor, cut.rows, cut.columns)
        together = numbers_of(tensor.type)
        columns = slice(cut.columns.start // together, cut.columns.stop // together)
        return tensor.bits[cut.rows, columns]

    def _largest(self):
        """One number: the largest of all that the checkpoint has."""
        found = []
        for part in self.source.parts:
            tensor = self._read(part.name)
            if tensor is not None:
                value = self.floats(tensor)[0, 0]
                found.append(np.float32(1) / value if self.source.inverse else value)
            elif self.source.absent is None:
                self._fail(f"expected a tensor {part.name}, got none")
        return np.full((1, 1), max(found) if found else self.source.absent, np.float32)

    def _piece(self, part):
        """The rows that a part becomes, in f32."""
        source, tensor = self.source, self._read(part.name)
        if tensor is None:
            if source.absent is None:
                self._fail(f"expected a tensor {part.name}, got none")
            return np.full((1, self.count), source.absent, np.float32)
        cut = Cut(tensor, part, self.rank)
        if source.group:
            return self._grouped(part, tensor, cut)
        if part.is_first_rank_only and self.rank:
            return np.zeros((cut.row_count, cut.column_count), np.float32)
        is_scaled = bool(source.block) or source.channel_scale or self.weight.type.startswith("f8E4M3FN")
        if tensor.is_narrow and (tensor.type != self.kept or not (is_scaled or source.tensor_scale)):
            self._fail(f"expected numbers of 16 bits or more in {part.name}, or of the type of the weight, got others "
                       f"of {8 * items_of(tensor.type) // numbers_of(tensor.type)} bits; compile the model with the weights that the "
                       "checkpoint has")
        if source.tensor_scale:
            return np.full((cut.row_count, 1), self._tensor_scale(part, tensor), np.float32)
        if source.block:
            return self._blocks(part, tensor, cut)
        if is_scaled:
            return self._rows(part, tensor, cut)
        is_same = tensor.type == self.weight.type and not source.doubled
        found = self._kept(tensor, cut) if is_same else self.floats(tensor, cut.rows, cut.columns)
        return np.pad(found, ((0, cut.row_count - found.shape[0]), (0, 0)))

    def _stored(self, name, few_bits=None):
        stored = self._read(name, few_bits)
        return stored if stored is not None else self._fail(f"expected a tensor {name}, got none")

    def _rows(self, part, tensor, cut):
        """Rows over their scales, or these scales: of whole rows, the checkpoint's own or the largest magnitude over
        that of the type; 1 for zeros."""
        stored = self._stored(part.name + "_scale") if tensor.is_narrow else None
        if stored is not None and stored.rows not in (1, tensor.rows):
            self._fail(f"expected {part.name}_scale to have a scale for each of {tensor.rows} rows, or one, got "
                       f"{stored.rows}; try other types of weights")
        if stored is not None and not self.source.channel_scale:
            return self._kept(tensor, cut)
        if stored is not None:
            scales = self.floats(stored).reshape(-1)
            scales = np.broadcast_to(scales, tensor.rows)[cut.rows] if stored.rows == 1 else scales[cut.rows]
        else:
            numbers = self.floats(tensor, cut.rows)
            scales = self._over(np.fmax.reduce(np.abs(numbers), axis=1, initial=0))
        scales = scales[:, None]
        return scales if self.source.channel_scale else numbers[:, cut.columns] / scales

    def _over(self, largest):
        return np.where(largest > 0, largest / self.number.largest, np.float32(1))

    def _grouped(self, part, tensor, cut):
        """Numbers over the scales of their groups of rows and columns, or these scales; or, in a weight of more than
        8 bits, times them where the checkpoint has any."""
        group, stored = self.source.group, None
        if tensor.type == "f8E4M3FN":
            stored = self._read(part.name + "_scale_inv")
            stored = stored or self._read(part.name + "_scale")
            stored = stored or self._fail(f"expected a tensor {part.name}_scale_inv, got none")
        groups = [-(-tensor.rows // group), -(-tensor.width // group)]
        fits = stored is None or (stored.rank == 2 and [stored.rows, stored.width] == groups)
        is_widened = not self.source.block_scale and not self.weight.type.startswith("f8E4M3FN")
        is_whole = is_widened or (cut.row_count % group == 0 and cut.column_count % group == 0)
        if tensor.rank != 2 or tensor.type == "f4E2M1FNx2" or not fits or not is_whole:
            self._fail(f"expected whole groups of {group} x {group} of {part.name} with a scale each, got "
                       f"{cut.row_count} x {cut.column_count}; try other types of weights")
        if is_widened:
            numbers = self.floats(tensor, cut.rows, cut.columns)
            of_row, of_column = (np.arange(some.start, some.stop) // group for some in (cut.rows, cut.columns))
            return numbers if stored is None else numbers * self.floats(stored)[of_row][:, of_column]
        if stored is not None and not self.source.block_scale:
            return self._kept(tensor, cut)
        if stored is not None:
            return self.floats(stored, *(slice(some.start // group, some.stop // group)
                                          for some in (cut.rows, cut.columns)))
        numbers = self.floats(tensor, cut.rows, cut.columns)
        tiles = numbers.reshape(cut.row_count // group, group, cut.column_count // group, group)
        scales = self._over(np.fmax.reduce(np.abs(tiles), axis=(1, 3), initial=0))
        return scales if self.source.block_scale else (tiles / scales[:, None, :, None]).reshape(numbers.shape)

    def _tensor_scale(self, part, tensor):
        """The second scale of NVFP4, of the whole tensor: the checkpoint's own, or that which makes the largest
        magnitude the largest number times the largest scale; 1 for zeros."""
        if tensor.is_narrow:
            return self.floats(self._stored(part.name + "_scale_2"))[0, 0]
        largest = np.fmax.reduce(np.abs(self.floats(tensor)), axis=None, initial=0)
        return np.float32(largest / (self.number.largest * self.scale.largest) if largest > 0 else 1)

    def _blocks(self, part, tensor, cut):
        """Numbers over the scales of their blocks of neighbours, or these scales."""
        block = self.source.block
        if cut.first_column % block or cut.column_count % block:
            self._fail(f"expected columns of {part.name} in whole blocks of {block}, got {cut.column_count}")
        stored = self._stored(part.name + "_scale", self.source.scaled) if tensor.is_narrow else None
        if stored is not None and (stored.type != self.source.scaled or stored.rows != tensor.rows or
                                   stored.width * block != tensor.width):
            self._fail(f"expected {part.name}_scale to have an {self.source.scaled} for each block of {block}, got "
                       "scales of another kind; try other types of weights")
        if stored is not None and self.source.block_scale:
            return stored.bits[cut.rows, cut.columns.start // block:cut.columns.stop // block]
        if stored is not None:
            return self._kept(tensor, cut)
        numbers = self.floats(tensor, cut.rows, cut.columns)
        blocks = numbers.reshape(cut.row_count, -1, block)
        largest = np.fmax.reduce(np.abs(blocks), axis=2, initial=0)
        of_tensor = np.float32(1) if not self.scale.sign else self._tensor_scale(part, tensor)
        scales = self._scales_of(largest, of_tensor)
        if self.source.block_scale:
            return scales
        # A block whose scale rounds to zero is zero.
        divisors = (scales * of_tensor)[:, :, None]
        return np.divide(blocks, divisors, out=np.zeros_like(blocks), where=divisors != 0).reshape(numbers.shape)

    def _scales_of(self, largest, of_tensor):
        """The power of two below the largest magnitude, over that of the largest number; or that magnitude over the
        largest number and over the scale of the tensor, rounded."""
        if self.scale.sign:
            return self.scale.values[self.scale.encode(largest / self.number.largest / of_tensor)]
        exponents = exponent_of(largest, self.scale.smallest_exponent + self.number.power) - self.number.power
        return np.ldexp(np.float32(1), exponents)

    def _joined(self, pieces):
        """Parts below one another, as the type of the weight has them."""
        encoded = [self._encoded(piece).reshape(-1) for piece in pieces]
        items = items_of(self.weight.type)
        done = sum(bits.size for bits in encoded) * numbers_of(self.weight.type) // items
        if done != self.count:
            self._fail(f"expected {self.count} elements of the checkpoint, got {done}")
        shape = [*self.weight.shape, items] if items > 1 else self.weight.shape
        return np.concatenate(encoded).reshape(shape)

    def _encoded(self, numbers):
        """Numbers in f32 in the type of the weight; others are its bits already."""
        bits = self._rounded(numbers) if numbers.dtype == np.float32 else numbers
        if self.weight.type != "f8E4M3FNUZ":
            return bits
        # The same bits are half the number, but zero has no sign and what would be minus zero is NaN.
        return np.where(bits & 0x7F == 0x7F, 0x80, np.where(bits == 0x80, 0, bits)).astype(np.uint8)

    def _rounded(self, numbers):
        numbers = numbers * np.float32(2) if self.source.doubled else numbers
        if self.weight.type == "f32":
            return numbers
        if self.weight.type in ARRAYS:
            return to_bf16(numbers) if self.weight.type == "bf16" else numbers.astype(np.float16)
        codes = self.number.encode(numbers)
        if self.weight.type == "f6E2M3FNx32":
            return self._planes(codes)
        return codes[:, 0::2] | codes[:, 1::2] << 4 if self.weight.type == "f4E2M1FNx2" else codes

    def _planes(self, codes):
        """Rows of blocks of six bits: the first 16 bytes of all, then the last 8; room for whole 256 numbers."""
        rows, columns = codes.shape
        room = self.weight.shape[1] * 32
        if -(-columns // 256) * 256 != room:
            self._fail(f"expected rows of {room} numbers, got {columns}")
        blocks = to_six_bits(np.pad(codes, [(0, 0), (0, room - columns)]).reshape(rows, -1, 32))
        return np.concatenate([blocks[:, :, :16].reshape(rows, -1), blocks[:, :, 16:].reshape(rows, -1)], axis=1)

    def _placed(self, pieces):
        """Scales of blocks, where the Layout of their words says."""
        order, (groups, words, rows) = self.weight.order, self.weight.shape
        per_word = 1 << len(order["block"])
        bits, done = np.zeros(groups * words * rows * per_word, np.uint8), 0
        for piece in pieces:
            count, blocks = piece.shape
            at = np.arange(done, done + count)
            if self.source.apart:  # these begin a group of their own
                beyond = -(-self.source.apart // rows) * rows - self.source.apart
                at = np.where(at >= self.source.apart, at + beyond, at)
            if -(-blocks // per_word) != words:
                self._fail(f"expected rows of {words * per_word} scales, got {blocks}")
            if at[-1] >= groups * rows:
                self._fail(f"expected scales of {groups * rows} rows, got more")
            block = np.arange(blocks)
            outside = ((at // rows * words)[:, None] + block // per_word) * (rows * per_word)
            inside = image(order["row"], at % rows)[:, None] ^ image(order["block"], block % per_word)
            bits[outside + inside] = self.scale.encode(piece) if piece.dtype == np.float32 else piece
            done += count
        if at[-1] < (groups - 1) * rows:
            self._fail(f"expected scales of {groups * rows} rows, got {done}")
        return bits.view("<u4").reshape(self.weight.shape)


def prepared(weight, read, layer, rank):
    """A matrix, or one for each expert; words of scales have groups of an expert's rows in the first dimension."""
    count = Source(weight.source, layer).experts
    if not count:
        return Preparation(weight, read, layer, rank).run()
    first, *others = weight.shape
    if first % count or (not weight.order and first != count):
        raise ValueError(f"{weight.name}: expected a matrix of each of {count} experts")
    one = replace(weight, shape=[first // count, *others] if weight.order else others)
    made = [Preparation(one, read, layer, rank, expert).run() for expert in range(count)]
    return np.concatenate(made) if weight.order else np.stack(made)
