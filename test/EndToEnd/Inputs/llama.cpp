// Runs the tiny Llama of test/Golden through a generated host library on the
// emulator: two sequences are prefilled together, then 8 tokens are decoded
// with a paged cache, on RANKS devices. Compares with the logits and tokens of
// the reference, which keeps all activations in float.
//
//   llama WEIGHTS GOLDEN LOGITS [CHUNK]
//
// With CHUNK, the first so many tokens of each prompt are prefilled in a step
// of their own: the rest finds their keys in the cache.
//
// Tolerance in 16 bits: the library rounds activations to bf16, to a relative
// 2^-9 each. What one rounding does to the logits, whose spread is about 1, is
// of that order, and some 40 of them (13 a layer) add up as a random walk: 2^-9
// * sqrt(40) = 0.012 is expected of the root mean square, 4 times that of the
// largest of 5760. The smallest distance of the best from the second logit is
// 0.119, so that an error below half of it cannot change a token.
//
// Tolerance in 8 and 4 bits: the reference rounds to e4m3 or e2m1 where the
// library does, but sums in another order may round to the other of two
// neighbours, a relative 2^-3.5 or 2^-1.5 apart. make_tiny_llama_quantised.py
// measures how far that moves the logits; twice that is allowed. A scale at the
// wrong row or block is wrong by a factor of 2 to 4.
#include "golden.h"

#ifndef RANKS
#define RANKS 1
#endif

namespace {

#ifndef LOGITS // of a row, with those of padding
#define LOGITS 320
#endif

constexpr int kPage = 16, kSequences = 2, kPagesOfOne = 2, kSteps = 8,
              kVocabulary = 320;
constexpr int kCacheRows = kPage * (kSequences * kPagesOfOne + 1);
using Bindings = const mc_binding *(*)(int *);

/// Everything in the memory of the devices. Both plans share weights, caches
/// and tables; the others are as large as the larger needs.
class Devices {
public:
  explicit Devices(Checkpoint &checkpoint) : checkpoint(checkpoint) {}

  /// The tensors of a plan on a device, in its order.
  std::vector<mc_tensor> tensorsOf(Bindings bindings, int rank,
                                   int64_t tokens) {
    int count = 0;
    const mc_binding *all = bindings(&count);
    std::vector<mc_tensor> tensors;
    for (int i = 0; i < count; ++i) {
      for (int j = 0; j < all[i].count; ++j) {
        tensors.push_back(tensorOf(all[i], j, rank, tokens));
      }
    }
    return tensors;
  }

  /// An input or output of a device by its name; null if the plan has none.
  mc_tensor *find(const std::string &name, int rank) {
    auto found = known.find(name + " 0 " + std::to_string(rank));
    return found == known.end() ? nullptr : &found->second;
  }

  void setInts(const std::string &name, const std::vector<int> &values) {
    for (int rank = 0; rank < RANKS; ++rank) {
      if (mc_tensor *tensor = find(name, rank)) {
        std::memcpy(tensor->data, values.data(), values.size() * sizeof(int));
      }
    }
  }

private:
  mc_tensor tensorOf(const mc_binding &binding, int j, int rank,
                     int64_t tokens) {
    std::string source = binding.source;
    const int layer = binding.first_layer + j * binding.layer_step;
    std::string key = (binding.role == MC_PEER_TABLE ? "table " : "") + source +
                      " " + std::to_string(layer) + " " + std::to_string(rank);
    mc_tensor &tensor = known[key];
    if (!tensor.data) {
      // Inputs and outputs have room for the longest step.
      tensor = makeTensor(binding.type, shapeOf(binding, kCacheRows));
      fill(binding, source, layer, rank, tensor);
    }
    mc_tensor result = tensor;
    std::vector<int64_t> shape = shapeOf(binding, tokens);
    std::copy(shape.begin(), shape.end(), result.shape);
    return result;
  }

  static std::vector<int64_t> shapeOf(const mc_binding &binding,
                                      int64_t tokens) {
    std::vector<int64_t> shape(binding.shape, binding.shape + binding.rank);
    std::string source = binding.source;
    for (int i = 0; i < binding.rank; ++i) {
      if (shape[size_t(i)] != MC_ANY) {
        continue;
      }
      shape[size_t(i)] = binding.role == MC_CACHE      ? kCacheRows
                         : source == "tokens"          ? tokens
                         : source == "starts"          ? kSequences + 1
                         : source == "pages" && i == 1 ? kPagesOfOne
                                                       : kSequences;
    }
    return shape;
  }

  void fill(const mc_binding &binding, const std::string &source, int layer,
            int rank, const mc_tensor &tensor) {
    if (binding.role == MC_WEIGHT) {
      require(modelc_prepare(&binding, layer, rank, Checkpoint::read,
                             &checkpoint, tensor.data));
    } else if (binding.role == MC_CONSTANT) {
      require(modelc_fill(&binding, tensor.data));
    } else if (binding.role == MC_CACHE) {
      // Nobody has written it: NaN, of these 8 bits too.
      std::memset(tensor.data, tensor.type == MC_F8E4M3FNUZ ? 0x80 : 0xFF,
                  elementsOf(tensor) * bytesOf(tensor.type));
    } else if (binding.role == MC_PEER) {
      std::memset(tensor.data, 0, elementsOf(tensor) * bytesOf(tensor.type));
    } else if (binding.role == MC_PEER_TABLE) {
      tables.push_back({source, tensor});
    }
  }

public:
  /// Once all devices have their tensors: where those of the others lie.
  void linkPeers() {
    for (auto &[source, table] : tables) {
      for (int rank = 0; rank < RANKS; ++rank) {
        static_cast<void **>(table.data)[rank] = find(source, rank)->data;
      }
    }
  }

private:
  Checkpoint &checkpoint;
  std::map<std::string, mc_tensor> known;
  std::vector<std::pair<std::string, mc_tensor>> tables;
};

/// One step on all devices.
template <class Plan>
void runStep(Devices &devices, Plan plan, Bindings bindings,
             int64_t (*workspaceBytes)(const int64_t *),
             std::vector<int64_t> sizes, int64_t tokens) {
  std::vector<void *> workspaces;
  for (int rank = 0; rank < RANKS; ++rank) {
    modelcSetDevice(rank);
    std::vector<int64_t> own = sizes;
    if (RANKS > 1) {
      own.push_back(rank);
    }
    std::vector<mc_tensor> tensors = devices.tensorsOf(bindings, rank, tokens);
    workspaces.push_back(
        emulatorAllocate(size_t(workspaceBytes(own.data())) + 256));
    require(plan(tensors.data(), int(tensors.size()), own.data(),
                 int(own.size()), workspaces.back(),
                 reinterpret_cast<void *>(intptr_t(rank))));
  }
  emulatorSynchronize();
  for (void *workspace : workspaces) {
    emulatorFree(workspace);
  }
}

/// What errors of the logits may be.
struct Tolerance {
  double largest = 0.119 / 2, typical = 0.024;

  /// That of golden.json where it names a drift, else of 16 bits.
  explicit Tolerance(const std::string &json) {
    size_t at = json.find("drift_tp" + std::to_string(RANKS));
    if (at != std::string::npos) {
      largest = 2 * numberBehind(json, "largest", at);
      typical = 2 * numberBehind(json, "rms", at);
    }
  }

private:
  static double numberBehind(const std::string &json, const std::string &key,
                             size_t from) {
    return std::stod(json.substr(json.find(':', json.find(key, from)) + 1));
  }
};

/// Compares what a step made with the reference and prints a line.
class Judge {
public:
  Judge(const std::string &folder, const std::string &file)
      : logits(readText(folder + "/" + file)),
        tokens(numbersOf(readText(folder + "/golden.json"), "tokens")),
        tolerance(readText(folder + "/golden.json")) {}

  int token(int sequence, int step) const {
    return int(tokens[size_t(sequence) + 1][size_t(step)]);
  }

  void check(Devices &devices, int step) {
    double largest = 0;
    int wrong = 0;
    for (int rank = 0; rank < RANKS; ++rank) {
      mc_tensor *out = devices.find(
          RANKS > 1 ? "gathered_" + std::to_string(LOGITS) : "out1", rank);
      mc_tensor *next = devices.find("next_tokens", rank);
      for (int s = 0; s < kSequences; ++s) {
        for (int i = 0; i < kVocabulary; ++i) {
          double error = std::fabs(
              fromBf16(static_cast<uint16_t *>(out->data)[s * LOGITS + i]) -
              golden(step, s, i));
          largest = error <= largest ? largest : error; // NaN is the worst
          squares += error * error;
          ++count;
        }
        wrong += static_cast<int *>(next->data)[s] != token(s, step);
      }
    }
    std::printf("step %d: %s, %d wrong tokens\n", step,
                largest < tolerance.largest ? "right" : "wrong", wrong);
    std::fprintf(stderr, "step %d: largest error %.4f\n", step, largest);
    isRight &= largest < tolerance.largest && !wrong;
  }

  int finish() {
    double typical = std::sqrt(squares / count);
    std::fprintf(stderr, "root mean square of the errors %.4f\n", typical);
    isRight &= typical < tolerance.typical;
    std::printf("%s\n", isRight ? "all right" : "not right");
    return isRight ? 0 : 1;
  }

private:
  float golden(int step, int sequence, int i) const {
    float value;
    std::memcpy(&value,
                logits.data() +
                    ((step * kSequences + sequence) * kVocabulary + i) * 4,
                4);
    return value;
  }

  std::string logits;
  std::vector<std::vector<int64_t>> tokens;
  Tolerance tolerance;
  bool isRight = true;
  double squares = 0;
  int64_t count = 0;
};

using Prompts = std::vector<std::vector<int64_t>>;

/// One step of at most `most` new tokens of each prompt, behind its first
/// `contexts`, which grow by them.
void prefill(Devices &devices, const Prompts &prompts, int most,
             std::vector<int> &contexts) {
  std::vector<int> tokens, starts = {0};
  int longest = 0;
  for (size_t s = 0; s < prompts.size(); ++s) {
    int past = contexts[s];
    int count = std::min(most, int(prompts[s].size()) - past);
    for (int i = 0; i < count; ++i) {
      tokens.push_back(int(prompts[s][size_t(past + i)]));
    }
    starts.push_back(int(tokens.size()));
    contexts[s] += count;
    longest = std::max(longest, count);
  }
  const int64_t count = int64_t(tokens.size());
  devices.setInts("tokens", tokens);
  devices.setInts("starts", starts);
  devices.setInts("contexts", contexts);
  runStep(devices, modelc_prefill, modelc_bindings_prefill,
          modelc_workspace_bytes_prefill,
          {count, kSequences, longest, kPagesOfOne, kCacheRows}, count);
}

} // namespace

int main(int argc, char **argv) {
  const std::string folder = argv[2];
  Checkpoint checkpoint(argv[1], folder);
  Judge judge(folder, argv[3]);
  auto prompts = numbersOf(readText(folder + "/golden.json"), "prompts");
  emulatorOpen(RANKS, WAVE_SIZE, size_t(SHARED_KIB) << 10);
  for (int rank = 0; rank < RANKS; ++rank) {
    modelcSetDevice(rank);
    require(modelc_open("."));
  }
  const Prompts whole = {prompts.begin() + 1, prompts.end()};
  Devices devices(checkpoint);
  for (int rank = 0; rank < RANKS; ++rank) {
    devices.tensorsOf(modelc_bindings_prefill, rank, kCacheRows);
    devices.tensorsOf(modelc_bindings_decode, rank, kSequences);
  }
  devices.linkPeers();
  devices.setInts("pages", {3, 1, 0, 4}); // in no order; page 2 is nobody's
  std::vector<int> contexts(kSequences, 0);
  if (argc > 4) {
    prefill(devices, whole, std::atoi(argv[4]), contexts);
  }
  prefill(devices, whole, kCacheRows, contexts);
  judge.check(devices, 0);

  devices.setInts("starts", {0, 1, 2});
  for (int step = 1; step <= kSteps; ++step) {
    devices.setInts("tokens",
                    {judge.token(0, step - 1), judge.token(1, step - 1)});
    devices.setInts("contexts", {contexts[0] + step, contexts[1] + step});
    runStep(devices, modelc_decode, modelc_bindings_decode,
            modelc_workspace_bytes_decode,
            {kSequences, kPagesOfOne, kCacheRows}, kSequences);
    judge.check(devices, step);
  }
  return judge.finish();
}
