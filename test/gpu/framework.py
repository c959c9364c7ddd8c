"""framework.py HEADS KV_HEADS HEAD_DIM SEQUENCESxLENGTH...

Times the causal attention of PyTorch, by each of its backends, in bf16: what the
prefill attention of a package is compared with. Prints a table in Markdown; where
there is no PyTorch it says so. Times are means of launches that follow one another
in a captured graph, the best of six replays, as those of the suite.
"""

import sys

LAUNCHES, REPLAYS = 10, 6


def seconds_of(torch, launch):
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        launch()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, stream=stream):
            for _ in range(LAUNCHES):
                launch()
        times = []
        for _ in range(REPLAYS):
            first, last = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            first.record(stream)
            graph.replay()
            last.record(stream)
            last.synchronize()
            times.append(first.elapsed_time(last) * 1e-3 / LAUNCHES)
    return min(times)


def main():
    try:
        import torch
        from torch.nn.attention import SDPBackend, sdpa_kernel
    except ImportError:
        print("\nNo PyTorch here: prefill attention stands beside the floor alone.")
        return
    heads, kv_heads, width = map(int, sys.argv[1:4])
    backends = {"cuDNN": SDPBackend.CUDNN_ATTENTION, "FlashAttention-2": SDPBackend.FLASH_ATTENTION}
    print(f"\nCausal attention of PyTorch {torch.__version__}, {heads} heads of {width}, {kv_heads} of keys:\n")
    print("| step | backend | time us | TF |\n|---|---|---|---|")
    for text in sys.argv[4:]:
        sequences, length = map(int, text.split("x"))

        def draw(count):
            return torch.randn(sequences, count, length, width, device="cuda", dtype=torch.bfloat16)

        q, k, v = draw(heads), draw(kv_heads), draw(kv_heads)
        flop = 2 * heads * width * sequences * length * (length + 1)
        for name, backend in backends.items():
            with sdpa_kernel(backend):
                seconds = seconds_of(
                    torch,
                    lambda: torch.nn.functional.scaled_dot_product_attention(
                        q, k, v, is_causal=True, enable_gqa=True
                    ),
                )
            print(f"| {text} | {name} | {seconds * 1e6:.1f} | {flop / seconds * 1e-12:.0f} |")


if __name__ == "__main__":
    main()
