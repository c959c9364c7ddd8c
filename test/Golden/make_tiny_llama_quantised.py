"""Makes the golden files of the tiny Llama in 8, 6 and 4 bits in test/Golden/tiny-llama-*/.

Written by numpy 2.4.6 with Python 3.11.7; other versions give the same bytes but
for the last digits of the logits.

    python3 -m venv /tmp/golden && /tmp/golden/bin/pip install numpy==2.4.6
    /tmp/golden/bin/python test/Golden/make_tiny_llama_quantised.py

The model is that of tiny-llama/, but where weights are narrow every row r of
the weight of a linear in a layer is multiplied by FACTORS[r * 7 // 5 % 3],
exactly, and where blocks have scales block b of the row by
FACTORS[(r * 7 // 5 + b) % 3], "fine" ones of 16 too: neighbours then differ in
their scales, so that a scale at the wrong place shows; where groups of rows and
columns have scales, those of group (r, c) by FACTORS[(r + c) % 3]. With fine blocks k and up are
a quarter as large, so that those of q and gate do not fit them. Everything is computed in double and rounded
where modelc rounds:

    weights       fp8: e4m3, of each row the largest magnitude becomes 448;
                  mxfp4: e2m1, each block of 32 neighbours over the power of two
                  below its largest magnitude, over 4, saturated at 6;
                  mxfp6: e2m3, over 4, saturated at 7.5;
                  mxfp8: e4m3, over 256, saturated at 448;
                  nvfp4: e2m1, each block of 16 neighbours over its largest
                  magnitude over 6, in e4m3 over a scale of the whole tensor, of
                  which the largest magnitude becomes 6 x 448;
                  fp8_block: e4m3, of each 128 x 128 the largest magnitude becomes
                  448, of activations of each 128 neighbours
    activations   as the weights, or fp8 by weights of mxfp4, before each linear
                  of a layer, each token by itself; with 2 ranks, of what a rank
                  has. To 6 and 4 bits bf16 is quantised, to 8 what a norm has in float.
                  In nvfp4 the scale of all tokens is the largest input_scale of
                  the linears that read them
    keys, values  fp8: e4m3 over the layer's k_scale and v_scale, saturated at 448
    others        bf16: the residual, the outputs of linears, queries, the powers
                  of a softmax before they meet the values, the logits

Two prompts are prefilled, then 8 tokens are decoded greedily. Of SEARCHED random
prompts with varied answers those with the largest distance between best and second
logit are taken.

    golden.json     prompts; tokens[sequence][step]; margin: the smallest distance
                    between the best and the second logit of any step; factors:
                    of "rows", "blocks", "fine" blocks or "groups" of weights, or "none";
                    input_scale of linears, of whose largest magnitudes in
                    CALIBRATED prompts INPUT_PARTS become 6 x 448; k_scale and
                    v_scale of each layer of a cache of 8 bits, null: the
                    checkpoint has none; drift: see below
    logits-tp1.bin  f32 [step 0 = last token of the prefill, 1..8][sequence][vocab]
    logits-tp2.bin  the same on 2 ranks, of two of them

Sums in another order differ by little, but a number that then rounds to the other
of two neighbours in bf16, and later in e4m3, e2m3 or e2m1, differs by a relative 2^-8,
2^-3.5 or 2^-1.5, and that goes on. How far it goes is measured here, by rounding
by chance: every sum of a linear is disturbed by a relative 2^-9, the unit of bf16.
`drift` is the root mean square and the largest of the differences in the logits of
DRIFTS runs.
"""

import json
import pathlib
import sys
from dataclasses import dataclass

import numpy as np

HERE = pathlib.Path(__file__).parent
MODEL = HERE / "tiny-llama"
PROMPT_LENGTHS = (5, 11)
DECODE_STEPS = 8
DRIFTS = 16
SEED, SEARCHED = 4, 512
FACTORS = (0.25, 0.5, 1.0)
BLOCK, FINE_BLOCK, GROUP = 32, 16, 128
CALIBRATED = 16
INPUT_PARTS = {"k_proj": 1 / 16, "v_proj": 1 / 8, "gate_proj": 1 / 16}  # others: 1
SMALL, SMALLER = ("k_proj", "up_proj"), 0.25
K_SCALES = (0.03, 0.013, 0.021)
V_SCALES = (0.017, None, 0.02)
HEADS, KV_HEADS, HEAD_DIM, LAYERS, EPS, THETA = 4, 2, 64, 3, 1e-5, 1e4


def bf16(x):
    bits = np.asarray(x, np.float32).view(np.uint32)
    rounded = (bits + 0x7FFF + (bits >> 16 & 1)) & np.uint32(0xFFFF0000)
    return rounded.view(np.float32).astype(np.float64)


def e4m3(x):
    """The nearest number of 4 exponent and 3 mantissa bits, ties to even."""
    exponent = np.maximum(np.frexp(x)[1] - 1, -6)
    unit = np.ldexp(1.0, exponent - 3)
    return np.clip(np.rint(x / unit) * unit, -448, 448)


def e2m1(x):
    """The nearest number of 2 exponent bits and 1 mantissa bit, ties to even."""
    exponent = np.maximum(np.frexp(x)[1] - 1, 0)
    unit = np.ldexp(1.0, exponent - 1)
    return np.clip(np.rint(x / unit) * unit, -6, 6)


def e2m3(x):
    """The nearest number of 2 exponent and 3 mantissa bits, ties to even."""
    exponent = np.maximum(np.frexp(x)[1] - 1, 0)
    unit = np.ldexp(1.0, exponent - 3)
    return np.clip(np.rint(x / unit) * unit, -7.5, 7.5)


def fp8(x, parts=1):
    """Rows, or each of `parts` of their columns, over a scale of their own."""
    split = x.reshape(*x.shape[:-1], parts, -1)
    largest = np.abs(split).max(-1, keepdims=True)
    scale = np.where(largest > 0, largest / 448, 1.0)
    return (e4m3(split / scale) * scale).reshape(x.shape)


def fp8_group(x, parts=1):
    """Groups of GROUP neighbours; those of all parts are whole."""
    return fp8(x, x.shape[-1] // GROUP)


def fp8_square(w):
    """Groups of GROUP rows and columns."""
    rows, columns = (size // GROUP for size in w.shape)
    squares = w.reshape(rows, GROUP, columns, GROUP).swapaxes(1, 2).reshape(rows * columns, -1)
    return fp8(squares).reshape(rows, columns, GROUP, GROUP).swapaxes(1, 2).reshape(w.shape)


def mxfp4(x, parts=1):
    """Blocks over powers of two; those of all parts are whole."""
    split = bf16(x).reshape(*x.shape[:-1], -1, BLOCK)
    largest = np.abs(split).max(-1, keepdims=True)
    scale = np.ldexp(1.0, np.frexp(largest)[1] - 1 - 2)
    return (e2m1(split / scale) * scale).reshape(x.shape)


def mxfp6(x, parts=1):
    """Blocks over powers of two; those of all parts are whole."""
    split = bf16(x).reshape(*x.shape[:-1], -1, BLOCK)
    largest = np.abs(split).max(-1, keepdims=True)
    scale = np.ldexp(1.0, np.frexp(largest)[1] - 1 - 2)
    return (e2m3(split / scale) * scale).reshape(x.shape)


def mxfp8(x, parts=1):
    """Blocks over powers of two; those of all parts are whole."""
    split = bf16(x).reshape(*x.shape[:-1], -1, BLOCK)
    largest = np.abs(split).max(-1, keepdims=True)
    scale = np.ldexp(1.0, np.frexp(largest)[1] - 1 - 8)
    return (e4m3(split / scale) * scale).reshape(x.shape)


def nvfp4(x, tensor_scale=None):
    """Blocks over e4m3 over a scale of the tensor, in float as modelc does."""
    split = bf16(x).astype(np.float32).reshape(*x.shape[:-1], -1, FINE_BLOCK)
    if tensor_scale is None:
        tensor_scale = np.abs(split).max() / np.float32(6 * 448)
    largest = np.abs(split).max(-1, keepdims=True)
    scale = e4m3(largest / np.float32(6) / tensor_scale).astype(np.float32)
    divisor = np.where(scale > 0, scale * tensor_scale, np.float32(1))
    numbers = np.where(scale > 0, e2m1(split / divisor), 0)
    return (numbers * scale.astype(np.float64) * np.float64(tensor_scale)).reshape(x.shape)


def as_bf16(x, parts=1):
    return bf16(x)


@dataclass
class Variant:
    """What is narrow: a folder of golden files."""

    folder: str
    factors: str  # of "rows", "blocks", "fine", "groups" or "none"
    narrow: callable  # inputs of linears
    weights: callable  # weights of linears
    has_narrow_cache: bool = False
    ranks: tuple = (1,)


VARIANTS = (
    Variant("tiny-llama-fp8", "rows", fp8, fp8, has_narrow_cache=True, ranks=(1, 2)),
    Variant("tiny-llama-mxfp4", "blocks", mxfp4, mxfp4),
    Variant("tiny-llama-fp8-weights", "rows", fp8, fp8),
    Variant("tiny-llama-fp8-cache", "none", as_bf16, as_bf16, has_narrow_cache=True),
    Variant("tiny-llama-mxfp4-fp8", "blocks", fp8, mxfp4, ranks=(1, 2)),
    Variant("tiny-llama-mxfp8", "blocks", mxfp8, mxfp8),
    Variant("tiny-llama-mxfp6", "blocks", mxfp6, mxfp6),
    Variant("tiny-llama-fp8-block", "groups", fp8_group, fp8_square),
    Variant("tiny-llama-nvfp4", "fine", nvfp4, nvfp4, ranks=(1, 2)),
)


class Model:
    def __init__(self, variant, ranks, disturbance=0.0):
        self.variant = variant
        self.input_scales = {}  # of linears, where they have one
        self.largest = {}  # magnitudes that linears read
        self.ranks = ranks
        self.disturbance = disturbance
        self.random = np.random.default_rng(SEED)
        self.index = json.loads((MODEL / "weights.json").read_text())
        self.data = (MODEL / "weights.bin").read_bytes()
        self.weights = {name: self.read(name) for name in self.index}

    def read(self, name):
        entry = self.index[name]
        count = int(np.prod(entry["shape"]))
        bits = np.frombuffer(self.data, np.uint16, count, entry["offset"])
        values = (bits.astype(np.uint32) << 16).view(np.float32)
        values = values.astype(np.float64).reshape(entry["shape"])
        if "_proj" not in name or self.variant.factors == "none":
            return values
        turn = (np.arange(len(values)) * 7 // 5)[:, None]
        if self.variant.factors == "groups":
            turn = (np.arange(len(values)) // GROUP)[:, None] + np.arange(values.shape[1]) // GROUP
        elif self.variant.factors != "rows":
            block = FINE_BLOCK if self.variant.factors == "fine" else BLOCK
            turn = turn + np.arange(values.shape[1]) // block
            if block == FINE_BLOCK and any(part in name for part in SMALL):
                values = values * SMALLER
        return self.variant.weights(values * np.take(FACTORS, turn % 3))

    def narrow(self, x, names, parts=1):
        """What the linears of these names read."""
        for name in names:
            self.largest[name] = max(self.largest.get(name, 0), np.abs(x).max())
        if self.variant.narrow is not nvfp4:
            return self.variant.narrow(x, parts)
        scales = [self.input_scales[name] for name in names if name in self.input_scales]
        return nvfp4(x, max(scales, default=np.float32(1)))

    def norm(self, x, name):
        factor = 1 / np.sqrt((x * x).mean(-1, keepdims=True) + EPS)
        return x * factor * self.weights[name + ".weight"]

    def linear(self, x, name):
        return self.disturb(x @ self.weights[name + ".weight"].T)

    def disturb(self, x):
        return x * (1 + self.disturbance * self.random.standard_normal(x.shape))

    def add_split(self, x, y, name):
        """x + linear(y), of which each rank has a part of the columns of y."""
        if self.ranks == 1:
            return bf16(x + self.linear(self.narrow(y, [name]), name))
        weight = np.split(self.weights[name + ".weight"], self.ranks, axis=1)
        parts = np.split(self.narrow(y, [name], self.ranks), self.ranks, axis=-1)
        total = sum(bf16(self.disturb(part @ w.T)) for part, w in zip(parts, weight))
        return bf16(x + bf16(total))

    def attention(self, x, layer, past, cache):
        """x of [batch, new, hidden]; appends to the layer's keys and values."""
        batch, new = x.shape[:2]
        name = f"model.layers.{layer}.self_attn."
        q, k, v = (bf16(self.linear(x, name + p)).reshape(batch, new, -1, HEAD_DIM)
                   for p in ("q_proj", "k_proj", "v_proj"))
        angle = (past + np.arange(new))[:, None] * THETA ** (-np.arange(0, HEAD_DIM, 2) / HEAD_DIM)
        cosine, sine = (f(angle).astype(np.float32)[:, None] for f in (np.cos, np.sin))

        def rotate(t):
            a, b = np.split(t, 2, axis=-1)
            return np.concatenate([a * cosine - b * sine, b * cosine + a * sine], -1)

        k = rotate(k)
        if self.variant.has_narrow_cache:
            k_scale, v_scale = K_SCALES[layer], V_SCALES[layer] or 1.0
            k = e4m3(k / k_scale) * k_scale
            v = e4m3(v / v_scale) * v_scale
        else:
            k = bf16(k)
        if cache[layer]:
            k, v = (np.concatenate([old, t], 1) for old, t in zip(cache[layer], (k, v)))
        cache[layer] = (k, v)
        group = HEADS // KV_HEADS
        k, v = np.repeat(k, group, 2), np.repeat(v, group, 2)
        scores = np.einsum("bqhd,bkhd->bhqk", bf16(rotate(q)), k) / np.sqrt(HEAD_DIM)
        seen = np.arange(past + new) <= past + np.arange(new)[:, None]
        powers = np.exp(np.where(seen, scores, -np.inf) - np.where(seen, scores, -np.inf).max(-1, keepdims=True))
        sums = powers.sum(-1).transpose(0, 2, 1)[..., None]
        return bf16(np.einsum("bhqk,bkhd->bqhd", bf16(powers), v) / sums).reshape(batch, new, -1)

    def step(self, tokens, past, cache):
        """Logits of the last of the new tokens [batch, new]."""
        x = self.weights["model.embed_tokens.weight"][tokens]
        for layer in range(LAYERS):
            name = f"model.layers.{layer}."
            qkv = [name + "self_attn." + p for p in ("q_proj", "k_proj", "v_proj")]
            n = self.narrow(self.norm(x, name + "input_layernorm"), qkv)
            a = self.attention(n, layer, past, cache)
            x = self.add_split(x, a, name + "self_attn.o_proj")
            gate_up = [name + "mlp." + p for p in ("gate_proj", "up_proj")]
            n = self.narrow(self.norm(x, name + "post_attention_layernorm"), gate_up)
            gate, up = (self.linear(n, p) for p in gate_up)
            x = self.add_split(x, bf16(gate / (1 + np.exp(-gate)) * up), name + "mlp.down_proj")
        last = bf16(self.norm(x[:, -1], "model.norm"))
        return bf16(self.linear(last, "lm_head"))


def run(model, prompts, forced=None):
    """Logits [step, batch, vocab] and tokens [batch, step]; `forced` are fed."""
    cache, past, step = [None] * LAYERS, 0, prompts
    logits, tokens = [], []
    for i in range(DECODE_STEPS + 1):
        logits.append(model.step(step, past, cache))
        past += step.shape[1]
        tokens.append(logits[-1].argmax(-1))
        step = (tokens[-1] if forced is None else forced[:, i])[:, None]
    return np.stack(logits), np.stack(tokens, 1)


def calibrate(variant):
    """The input_scale of each linear, by its name; none of rows or powers of two."""
    if variant.narrow is not nvfp4:
        return {}
    model = Model(variant, 1)
    run(model, np.random.default_rng(SEED + 1).integers(0, 320, (CALIBRATED, max(PROMPT_LENGTHS))))
    return {name: np.float32(largest * INPUT_PARTS.get(name.rsplit(".", 1)[1], 1) / (6 * 448))
            for name, largest in model.largest.items()}


def margins(logits):
    best = np.sort(logits, -1)
    return (best[..., -1] - best[..., -2]).min(0)


def drift(variant, ranks, input_scales, prompts, tokens, logits):
    model = Model(variant, ranks, 2.0**-9)
    model.input_scales = input_scales
    differences = []
    for prompt, forced, exact in zip(prompts, tokens, logits):
        repeated = np.repeat([prompt], DRIFTS, 0)
        other, _ = run(model, repeated, np.repeat([forced], DRIFTS, 0))
        differences.append(other - exact[:, None])
    all_of_them = np.stack(differences)
    return {"rms": float(np.sqrt((all_of_them**2).mean())), "largest": float(np.abs(all_of_them).max())}


def search(models, generator, length):
    """The tokens of one prompt that leave the largest distance, their logits by
    ranks, and that distance."""
    tried = generator.integers(0, 320, (SEARCHED, length))
    logits, chosen = {}, None
    worst = np.inf
    for ranks, model in models.items():
        logits[ranks], tokens = run(model, tried, chosen)
        chosen = tokens if chosen is None else chosen
        worst = np.minimum(worst, margins(logits[ranks])) * (chosen == tokens).all(1)
    varied = np.array([len(set(row)) > DECODE_STEPS // 2 for row in chosen.tolist()])
    best = (worst * varied).argmax()
    return tried[best], chosen[best], {r: l[:, best] for r, l in logits.items()}, worst[best]


def make(variant):
    out = HERE / variant.folder
    out.mkdir(exist_ok=True)
    generator = np.random.default_rng(SEED)
    models = {ranks: Model(variant, ranks) for ranks in variant.ranks}
    input_scales = calibrate(variant)
    for model in models.values():
        model.input_scales = input_scales
    found = [search(models, generator, length) for length in PROMPT_LENGTHS]
    prompts, tokens, logits, margin = zip(*found)
    golden = {"prompts": [p.tolist() for p in prompts], "tokens": [t.tolist() for t in tokens],
              "margin": float(min(margin)), "factors": variant.factors}
    if variant.has_narrow_cache:
        golden |= {"k_scale": K_SCALES, "v_scale": V_SCALES}
    golden |= {name + ".input_scale": float(scale) for name, scale in input_scales.items()}
    for ranks in variant.ranks:
        own = [l[ranks] for l in logits]
        golden[f"drift_tp{ranks}"] = drift(variant, ranks, input_scales, prompts, tokens, own)
        values = np.stack(own, 1)
        (out / f"logits-tp{ranks}.bin").write_bytes(values.astype("<f4").tobytes())
        print(f"{variant.folder}, tp {ranks}: logits std {values.std():.3f}")
    print({key: value for key, value in golden.items() if key not in ("prompts", "tokens")})
    (out / "golden.json").write_text(json.dumps(golden, indent=1) + "\n")


if __name__ == "__main__":
    for one in VARIANTS:
        if not sys.argv[1:] or one.folder in sys.argv[1:]:
            make(one)
