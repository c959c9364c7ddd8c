"""Constants of a plan: tables that follow from words, and a number behind each."""

import math

import numpy as np


class Table:
    """The text that says what a table holds, read."""

    def __init__(self, source):
        self.kind, *words = source.split()
        self.said = {word: float(value) for word, value in zip(words[::2], words[1::2])}

    def fill(self, positions):
        """Its numbers, with a dimension of positions first."""
        if self.kind == "rope":
            return self._rope(positions)
        if self.kind == "temperature":
            scale, every = self.said["scale"], self.said["every"]
            return np.array([1 + scale * math.log(1 + math.floor((position + 1) / every))
                             for position in range(positions)], np.float32)
        raise ValueError(f"expected the source of a table, got {self.kind}")

    def _rope(self, positions):
        """Cosines, then sines, of the angle of each pair."""
        pairs = int(self.said["columns"]) // 2
        frequencies = np.array([self._frequency(pair) for pair in range(pairs)])
        angles = (np.arange(positions, dtype=np.float64)[:, None] * frequencies).ravel().tolist()
        magnitude = self.said.get("magnitude", 1.0)

        def of(function):  # that of the C library has the bits of the other host
            return np.fromiter(map(function, angles), np.float64, len(angles)).reshape(positions, pairs) * magnitude

        return np.stack([of(math.cos), of(math.sin)], axis=1).astype(np.float32)

    def _frequency(self, pair):
        said = self.said
        plain = math.pow(said["theta"], -2 * pair / said["columns"])
        if "beta_fast" in said:
            slowed = self._slowed_by_yarn(pair)
            return plain / said["factor"] * slowed + plain * (1 - slowed)
        if "low_freq_factor" in said:
            return self._as_llama3(plain)
        return plain / said.get("stretched", 1.0)

    def _slowed_by_yarn(self, pair):
        """How far a pair is slowed down, from 0 to 1."""
        first, last = (self._pair_that_turns(self.said[beta]) for beta in ("beta_fast", "beta_slow"))
        if self.said["truncate"]:
            first, last = math.floor(first), math.ceil(last)
        first, last = max(first, 0.0), min(last, self.said["columns"] - 1)
        return min(max((pair - first) / (0.001 if last == first else last - first), 0.0), 1.0)

    def _pair_that_turns(self, times):
        """The pair, between two, that turns so many times in the original context."""
        turns = math.log(self.said["original_context"] / (times * 2 * math.pi))
        return self.said["columns"] * turns / (2 * math.log(self.said["theta"]))

    def _as_llama3(self, plain):
        said = self.said
        turns = said["original_context"] * plain / (2 * math.pi)
        low, high = said["low_freq_factor"], said["high_freq_factor"]
        if turns > high:
            return plain
        if turns < low:
            return plain / said["factor"]
        kept = (turns - low) / (high - low)
        return (1 - kept) * plain / said["factor"] + kept * plain
