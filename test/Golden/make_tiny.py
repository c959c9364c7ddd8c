"""Makes the golden files of tiny random models in test/Golden/tiny-*/.

Written by torch 2.15.0+cu132 (on the CPU) and transformers 5.23.0 with
Python 3.11.7; the files change with other versions only in the last digits.

    python3 -m venv /tmp/golden && /tmp/golden/bin/pip install torch==2.15.0 transformers==5.23.0
    /tmp/golden/bin/python test/Golden/make_tiny.py llama mistral qwen2 qwen3 mixtral qwen3-moe turns \
        deepseek gemma3 gpt-oss llama4

The weights are rounded to bf16, everything is computed in float32. Two prompts
of 11 and 21 tokens are prefilled, each alone and without padding, then 8 tokens
are decoded greedily with the KV cache.

    config.json    as transformers saves it
    weights.bin    all tensors, bf16, little endian, row-major, one after another
    weights.json   name -> shape and offset in bytes in weights.bin
    golden.json    prompts; tokens[sequence][step]; smallest distance between the
                   best and the second logit of any step
    logits.bin     f32 [step 0 = last token of the prefill, 1..8][sequence][vocab]
"""

import json
import pathlib
import sys
import tempfile

import safetensors.torch
import torch
from transformers import (DeepseekV3Config, DeepseekV3ForCausalLM, Gemma3ForCausalLM,
                          Gemma3TextConfig, GptOssConfig, GptOssForCausalLM, Llama4ForCausalLM,
                          Llama4TextConfig, LlamaConfig, LlamaForCausalLM, MistralConfig,
                          MistralForCausalLM, MixtralConfig, MixtralForCausalLM, Qwen2Config,
                          Qwen2ForCausalLM, Qwen3Config, Qwen3ForCausalLM, Qwen3MoeConfig,
                          Qwen3MoeForCausalLM)
from transformers.models.llama4.modeling_llama4 import Llama4TextMoe

HERE = pathlib.Path(__file__).parent
PROMPT_LENGTHS = (11, 21)
DECODE_STEPS = 8
# Twice the largest error of a logit that test/EndToEnd allows: with a smaller
# margin a rounding could change a token.
LEAST_MARGIN = 0.118
# Of logits of experts, which have a standard deviation near 1 and are computed from
# numbers rounded to bf16.
LEAST_DISTANCE = 0.05
SHARED = dict(vocab_size=320, max_position_embeddings=256, tie_word_embeddings=False,
              bos_token_id=None, eos_token_id=None)


def make_llama():
    return LlamaForCausalLM(LlamaConfig(
        hidden_size=128, intermediate_size=384, num_hidden_layers=3,
        num_attention_heads=4, num_key_value_heads=2, head_dim=64,
        rms_norm_eps=1e-5, rope_theta=10000.0, attention_bias=False,
        mlp_bias=False, architectures=["LlamaForCausalLM"], **SHARED))


def make_mistral():
    """Heads that are not hidden / heads wide; a window shorter than the prompts."""
    return MistralForCausalLM(MistralConfig(
        hidden_size=64, intermediate_size=128, num_hidden_layers=2,
        num_attention_heads=4, num_key_value_heads=2, head_dim=64,
        rms_norm_eps=1e-5, rope_theta=1000000.0, sliding_window=12,
        architectures=["MistralForCausalLM"], **SHARED))


def make_qwen2():
    """Biases of q, k and v; the head is the embedding; one head of keys, of which
    each of several devices has a copy."""
    return Qwen2ForCausalLM(Qwen2Config(
        hidden_size=128, intermediate_size=128, num_hidden_layers=2,
        num_attention_heads=2, num_key_value_heads=1, rms_norm_eps=1e-6,
        rope_theta=1000000.0, architectures=["Qwen2ForCausalLM"],
        **SHARED | {"tie_word_embeddings": True}))


def make_qwen3():
    """Norms of each head of queries and keys."""
    return Qwen3ForCausalLM(Qwen3Config(
        hidden_size=64, intermediate_size=128, num_hidden_layers=2,
        num_attention_heads=4, num_key_value_heads=2, head_dim=64, rms_norm_eps=1e-6,
        rope_theta=1000000.0, architectures=["Qwen3ForCausalLM"], **SHARED))


def make_mixtral():
    """Two of four experts."""
    return MixtralForCausalLM(MixtralConfig(
        hidden_size=64, intermediate_size=64, num_hidden_layers=2,
        num_attention_heads=2, num_key_value_heads=1, head_dim=64, rms_norm_eps=1e-5,
        num_local_experts=4, num_experts_per_tok=2, rope_theta=1000000.0,
        architectures=["MixtralForCausalLM"], **SHARED))


def make_qwen3_moe():
    """Two of eight experts, their weights as they are."""
    return Qwen3MoeForCausalLM(Qwen3MoeConfig(
        hidden_size=64, intermediate_size=128, moe_intermediate_size=32,
        num_hidden_layers=2, num_attention_heads=2, num_key_value_heads=1, head_dim=64,
        rms_norm_eps=1e-6, num_experts=8, num_experts_per_tok=2, norm_topk_prob=False,
        rope_theta=1000000.0,
        architectures=["Qwen3MoeForCausalLM"], **SHARED))


def make_turns():
    """A Qwen 2 whose layers are of two kinds in turn, the first with a window
    shorter than the prompts; frequencies are stretched by YaRN."""
    yarn = {"rope_type": "yarn", "rope_theta": 10000.0, "factor": 8.0, "truncate": False,
            "original_max_position_embeddings": 32}
    return Qwen2ForCausalLM(Qwen2Config(
        hidden_size=64, intermediate_size=128, num_hidden_layers=4,
        num_attention_heads=2, num_key_value_heads=1, head_dim=64, rms_norm_eps=1e-6,
        use_sliding_window=True, sliding_window=6, rope_parameters=yarn,
        layer_types=["sliding_attention", "full_attention"] * 2,
        architectures=["Qwen2ForCausalLM"], **SHARED))


def make_deepseek():
    """Latent attention; YaRN, whose magnitude is in the scale of scores. The first layer
    has no experts, the second two of eight from two of four groups, chosen with a
    correction, and a shared one."""
    rope = {"rope_type": "yarn", "rope_theta": 10000.0, "factor": 8.0, "mscale": 1.0,
            "mscale_all_dim": 1.0, "beta_fast": 32.0, "beta_slow": 1.0,
            "original_max_position_embeddings": 32}
    return DeepseekV3ForCausalLM(DeepseekV3Config(
        hidden_size=64, intermediate_size=128, num_hidden_layers=2,
        first_k_dense_replace=1, num_attention_heads=4, num_key_value_heads=4,
        q_lora_rank=64, kv_lora_rank=64, qk_nope_head_dim=32, qk_rope_head_dim=32,
        v_head_dim=32, rms_norm_eps=1e-6, rope_parameters=rope, n_routed_experts=8,
        n_group=4, topk_group=2, num_experts_per_tok=2, moe_intermediate_size=64,
        architectures=["DeepseekV3ForCausalLM"], **SHARED))


def make_gemma3():
    """A layer with a window, one without and with another RoPE, then the first of the
    next two; embeddings times a number, norms with weights 1 more, also
    behind attention and feed-forward, GELU; scores with a scale of their own."""
    return Gemma3ForCausalLM(Gemma3TextConfig(
        hidden_size=64, intermediate_size=64, num_hidden_layers=3,
        _sliding_window_pattern=2,
        num_attention_heads=2, num_key_value_heads=1, head_dim=32, rms_norm_eps=1e-6,
        query_pre_attn_scalar=24, sliding_window=12,
        rope_parameters={"sliding_attention": {"rope_type": "default", "rope_theta": 10000.0},
                         "full_attention": {"rope_type": "linear", "rope_theta": 1000000.0,
                                            "factor": 8.0}},
        architectures=["Gemma3ForCausalLM"], **SHARED | {"tie_word_embeddings": True}))


def make_gpt_oss():
    """Sinks, windows in turn, YaRN without rounded bounds, biases of all linears; two of
    four experts with gates and ups in turn, clamped where activations reach."""
    yarn = {"rope_type": "yarn", "rope_theta": 10000.0, "factor": 8.0, "beta_fast": 32.0,
            "beta_slow": 1.0, "truncate": False, "original_max_position_embeddings": 32}
    return GptOssForCausalLM(GptOssConfig(
        hidden_size=64, intermediate_size=64, num_hidden_layers=2, num_attention_heads=2,
        num_key_value_heads=1, head_dim=64, rms_norm_eps=1e-5, sliding_window=12,
        num_local_experts=4, num_experts_per_tok=2, rope_parameters=yarn,
        swiglu_limit=1.0, attn_implementation="eager",
        architectures=["GptOssForCausalLM"], **SHARED))


def make_llama4():
    """A layer with chunks shorter than the prompts, RoPE of neighbours and heads normed
    behind it; one without RoPE whose queries have a temperature, and one of four
    experts whose input is weighed, beside a shared one."""
    return Llama4ForCausalLM(Llama4TextConfig(
        hidden_size=64, intermediate_size=64, intermediate_size_mlp=128,
        num_hidden_layers=2, interleave_moe_layer_step=2, num_attention_heads=2,
        num_key_value_heads=2, head_dim=64, rms_norm_eps=1e-5, num_local_experts=4,
        num_experts_per_tok=1, no_rope_layer_interval=2, attention_chunk_size=12,
        floor_scale=16, attn_scale=0.5, use_qk_norm=True, attn_implementation="eager",
        architectures=["Llama4ForCausalLM"], **SHARED))


# What makes each model, its seed, and among how many prompts of each length the
# one with the largest margin is looked for.
FAMILIES = {"llama": (make_llama, 136, 1), "mistral": (make_mistral, 36, 1000),
            "qwen2": (make_qwen2, 16, 1000), "qwen3": (make_qwen3, 3, 200),
            "mixtral": (make_mixtral, 5, 4000), "qwen3-moe": (make_qwen3_moe, 5, 4000),
            "turns": (make_turns, 16, 1000), "deepseek": (make_deepseek, 7, 4000),
            "gemma3": (make_gemma3, 8, 1500), "gpt-oss": (make_gpt_oss, 5, 4000),
            "llama4": (make_llama4, 5, 2000)}


def make_model(family, seed):
    """Weights that keep activations near 1 and make the tokens matter."""
    torch.manual_seed(seed)
    model = FAMILIES[family][0]().float().eval()
    with torch.no_grad():
        for name, tensor in model.named_parameters():
            if name.endswith("norm.weight"):
                tensor.uniform_(0.5, 1.5)
                if family == "gemma3":
                    tensor.sub_(1)
            elif "embed_tokens" in name:
                tied = model.config.tie_word_embeddings
                tensor.normal_(0.0, tensor.shape[1] ** -0.5 if tied else 1.0)
            elif name.endswith(".bias"):
                tensor.normal_(0.0, 0.25)
            else:
                tensor.normal_(0.0, tensor.shape[-1] ** -0.5)
            tensor.copy_(tensor.bfloat16().float())
        for name, tensor in model.named_buffers():
            if name.endswith("e_score_correction_bias"):
                tensor.normal_(0.0, 0.25)
                tensor.copy_(tensor.bfloat16().float())
    return model


def run(model, prompts):
    """Of prompts of one length: logits of the prefill's last token and of each
    decode step [step, prompt, vocab]; tokens [prompt, step]; the smallest distance
    of the last expert that a token goes to from the next [prompt]."""
    logits, tokens, distances = [], [], []
    step, cache = prompts, None
    routes = {"output_router_logits": True} if hasattr(model, "num_experts") else {}

    def note(scores, count):
        top = scores.topk(count + 1, dim=-1).values
        distances.append((top[:, -2] - top[:, -1]).view(len(prompts), -1).amin(1))

    def note_groups(router, inputs, _):
        # Logits are 4 times as far apart, at least, as what a sigmoid makes of them.
        rows = inputs[0].view(-1, router.hidden_dim).float()
        scores = (rows @ router.weight.float().T).sigmoid() + router.e_score_correction_bias
        scores = 4 * scores
        groups = scores.view(len(scores), router.num_group, -1)
        sums = groups.topk(2, dim=-1).values.sum(-1)
        note(sums, router.topk_group)
        least = sums.topk(router.topk_group, dim=-1).values[:, -1:]
        kept = groups.masked_fill((sums < least)[..., None], float("-inf"))
        note(kept.view(scores.shape), router.top_k)

    hooks = [router.register_forward_hook(note_groups) for router in model.modules()
             if hasattr(router, "e_score_correction_bias")]
    hooks += [layer.router.register_forward_hook(lambda router, _, out: note(out[1], router.top_k))
              for layer in model.modules() if isinstance(layer, Llama4TextMoe)]
    for _ in range(DECODE_STEPS + 1):
        with torch.no_grad():
            out = model(step, past_key_values=cache, use_cache=True, **routes)
        cache = out.past_key_values
        for scores in out.router_logits if routes else ():
            note(scores, model.num_experts_per_tok)
        logits.append(out.logits[:, -1])
        tokens.append(logits[-1].argmax(-1))
        step = tokens[-1][:, None]
    for hook in hooks:
        hook.remove()
    distance = torch.stack(distances).amin(0) if distances else torch.full((len(prompts),), 1.0)
    return torch.stack(logits), torch.stack(tokens, 1), distance


def margins(logits):
    """The smallest distance of the best from the second logit of each prompt."""
    best = logits.topk(2, dim=-1).values
    return (best[..., 0] - best[..., 1]).amin(0)


def choose(model, prompts):
    """The prompt with the largest margin of those whose tokens do not soon repeat and
    whose experts no rounding exchanges; if there are none, the clearest choices."""
    if len(prompts) == 1:
        return prompts
    logits, tokens, distance = run(model, prompts)
    varied = torch.tensor([len(set(row)) > DECODE_STEPS // 2 for row in tokens.tolist()])
    clear = distance.clamp(max=LEAST_DISTANCE) / LEAST_DISTANCE
    enough = margins(logits).clamp(max=2 * LEAST_MARGIN)
    best = (enough * varied * clear).argmax()
    return prompts[best:best + 1]


def write_weights(out, model):
    """All tensors; one that has two names, by the first. Those of experts as
    checkpoints have them, each by itself."""
    index, data = {}, b""
    tensors = dict(model.named_parameters())
    if hasattr(model, "num_experts") or hasattr(model.config, "n_routed_experts"):
        with tempfile.TemporaryDirectory() as folder:
            model.save_pretrained(folder)
            tensors = safetensors.torch.load_file(folder + "/model.safetensors")
    for name, tensor in tensors.items():
        index[name] = {"shape": list(tensor.shape), "offset": len(data)}
        data += tensor.detach().bfloat16().contiguous().view(torch.int16).numpy().tobytes()
    (out / "weights.bin").write_bytes(data)
    write_json(out / "weights.json", index)


def write_json(path, value):
    path.write_text(json.dumps(value, indent=1) + "\n")


def make(family):
    _, seed, tried = FAMILIES[family]
    model = make_model(family, seed)
    generator = torch.Generator().manual_seed(seed)
    prompts = [choose(model, torch.randint(0, model.config.vocab_size, (tried, length),
                                           generator=generator))
               for length in PROMPT_LENGTHS]
    logits, tokens, distance = (torch.cat(parts, d) for d, parts in
                                zip((1, 0, 0), zip(*(run(model, p) for p in prompts))))
    margin, distance = float(margins(logits).min()), float(distance.min())
    assert margin > LEAST_MARGIN, f"margin {margin}: take another seed"
    assert distance > LEAST_DISTANCE / 2, f"distance {distance}: take another seed"
    out = HERE / f"tiny-{family}"
    out.mkdir(exist_ok=True)
    model.config.dtype = torch.bfloat16
    model.config.save_pretrained(out)
    write_weights(out, model)
    (out / "logits.bin").write_bytes(logits.contiguous().float().numpy().tobytes())
    write_json(out / "golden.json", {"prompts": [p[0].tolist() for p in prompts],
                                     "tokens": tokens.tolist(), "margin": margin})
    print(f"{family}: margin {margin:.4f}, logits std {float(logits.std()):.3f}, tokens",
          tokens.tolist())


if __name__ == "__main__":
    for one in sys.argv[1:]:
        make(one)
