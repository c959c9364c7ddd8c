// The tensors of a case in memory of the machine, in as many copies as the last
// cache cannot hold, filled with numbers that follow from the seed.
#ifndef TEST_GPU_TENSORS_H
#define TEST_GPU_TENSORS_H

#include "case.h"
#include "reference.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <random>

BOTH uint64_t randomBits(uint64_t seed, uint64_t i) {
  uint64_t z = (seed + i + 1) * 0x9E3779B97F4A7C15u;
  z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
  z = (z ^ z >> 27) * 0x94D049BB133111EBu;
  return z ^ z >> 31;
}

/// Numbers that their type has exactly: multiples of 1/64 below 2, of 8 bits
/// all from 1/16 to 15, of 32 bits from 1/2 to 1.
struct Fill {
  void *data;
  int32_t type;
  uint64_t seed;

  BOTH void operator()(int64_t i) const {
    uint64_t bits = randomBits(seed, uint64_t(i));
    if (type == MC_BF16) {
      float value = float(int(bits % 255) - 127) / 64;
      uint32_t word;
      memcpy(&word, &value, 4);
      static_cast<uint16_t *>(data)[i] = uint16_t(word >> 16);
    } else if (type == MC_F8E4M3FN) {
      static_cast<uint8_t *>(data)[i] =
          uint8_t((bits & 0x87) | (3 + (bits >> 8) % 7) << 3);
    } else {
      static_cast<float *>(data)[i] = 0.5f + float(bits >> 41) / 16777216.0f;
    }
  }
};

/// Makes scores normal, near -128 or near 128, in turns by query: in the first
/// quarter of the columns all keys are alike. A maximum that starts at zero
/// instead of at no number finds itself there.
struct FarScores {
  void *data;
  int32_t type;
  int64_t width;
  bool areKeys;

  BOTH void operator()(int64_t i) const {
    int64_t turn = i / width % 3;
    if (i % width >= width / 4 || (!areKeys && turn == 0)) {
      return;
    }
    // Over the root of the width, with keys of 8, in a quarter of the columns;
    // powers of two, so that both types have it.
    float query = width <= 64 ? 8 : width <= 256 ? 4 : 2;
    float value = areKeys ? 8 : turn == 1 ? -query : query;
    uint32_t word;
    memcpy(&word, &value, 4);
    if (type == MC_BF16) {
      static_cast<uint16_t *>(data)[i] = uint16_t(word >> 16);
    } else {
      uint32_t exponent = (word >> 23 & 255) - 127 + 7;
      static_cast<uint8_t *>(data)[i] =
          uint8_t(word >> 31 << 7 | exponent << 3);
    }
  }
};

/// Rows of a cache behind the contexts, which nobody has written: NaN.
struct Beyond {
  void *data;
  int32_t type;
  Place place;
  int64_t columns;

  BOTH int64_t rowsOfOne() const {
    return place.pagesPerSequence * place.page - place.context;
  }
  BOTH void operator()(int64_t i) const {
    int64_t row = i / columns, rows = rowsOfOne();
    int64_t at =
        place.cacheRow(row / rows, place.context + row % rows) * columns +
        i % columns;
    if (type == MC_BF16) {
      static_cast<uint16_t *>(data)[at] = 0xFFFF;
    } else {
      static_cast<uint8_t *>(data)[at] = 0xFF;
    }
  }
};

inline int64_t elementsOf(const Argument &argument) {
  return std::accumulate(argument.shape.begin(), argument.shape.end(),
                         int64_t(1), std::multiplies<int64_t>());
}
inline size_t bytesOf(const Argument &argument) {
  size_t element = argument.type == MC_BF16       ? 2
                   : argument.type == MC_F8E4M3FN ? 1
                                                  : 4;
  return size_t(elementsOf(argument)) * element;
}

/// Starts, contexts, pages or ids: whole numbers that mean something.
inline std::vector<int32_t>
indices(const Argument &argument, const Batch &batch, std::mt19937_64 &random) {
  std::vector<int32_t> numbers(size_t(elementsOf(argument)),
                               int32_t(batch.context));
  if (argument.name == "starts") {
    for (size_t i = 0; i < numbers.size(); ++i) {
      numbers[i] = int32_t(int64_t(i) * batch.news);
    }
  } else if (argument.name == "pages") {
    std::iota(numbers.begin(), numbers.end(), 0);
    std::shuffle(numbers.begin(), numbers.end(), random);
  } else if (argument.name == "ids") {
    for (int32_t &number : numbers) {
      number = int32_t(random() % 100); // of any vocabulary
    }
  }
  return numbers;
}

/// One copy of a case's tensors.
class Tensors {
public:
  Tensors(const Case &of, uint64_t seed) : of(of) {
    std::mt19937_64 random(seed);
    for (const Argument &argument : of.arguments) {
      mc_tensor tensor = {};
      tensor.type = argument.type;
      tensor.rank = int32_t(argument.shape.size());
      std::copy(argument.shape.begin(), argument.shape.end(), tensor.shape);
      tensor.data = allocate(std::max<size_t>(bytesOf(argument), 16));
      tensors.push_back(tensor);
      fill(argument, tensor, random);
    }
    if (of.kind == "attention_prefill" || of.kind == "attention_decode") {
      fillAttention();
    }
  }
  ~Tensors() {
    for (mc_tensor &tensor : tensors) {
      release(tensor.data);
    }
  }
  Tensors(const Tensors &) = delete;

  /// Puts the kernels on the stream; false and a message where the library
  /// refuses.
  bool launch(void *stream = nullptr) const {
    for (const Call &call : of.calls) {
      std::vector<mc_tensor> own;
      for (int number : call.tensors) {
        own.push_back(tensors[size_t(number)]);
      }
      if (call.function(own.data(), int(own.size()), call.sizes.data(),
                        int(call.sizes.size()), nullptr, stream)) {
        std::fprintf(stderr, "%s: %s\n", of.label.c_str(), modelc_last_error());
        return false;
      }
    }
    return true;
  }

  /// By the name that the kernel gives it; without data where it has none.
  Numbers numbers(const std::string &name) const {
    const mc_tensor *tensor = find(name);
    return tensor ? Numbers{tensor->data, tensor->type} : Numbers{};
  }
  int64_t extent(const std::string &name, int dimension) const {
    const mc_tensor *tensor = find(name);
    return tensor ? tensor->shape[dimension] : 0;
  }

private:
  void fill(const Argument &argument, const mc_tensor &tensor,
            std::mt19937_64 &random) {
    if (argument.isWritten) {
      poison(tensor.data, bytesOf(argument));
    } else if (argument.type == MC_I32) {
      std::vector<int32_t> numbers = indices(argument, of.batch, random);
      put(tensor.data, numbers.data(), bytesOf(argument));
    } else {
      forEach(elementsOf(argument), Fill{tensor.data, argument.type, random()});
    }
  }
  void fillAttention() const {
    const mc_tensor *q = find("q");
    const Batch &batch = of.batch;
    const Place place = {
        numbers("pages"),         batch.news,  batch.context, batch.page,
        batch.pagesPerSequence(), batch.window};
    forEach(batch.tokens() * q->shape[1] * q->shape[2],
            FarScores{q->data, q->type, q->shape[2], /*areKeys=*/false});
    for (const char *name : {"k_cache", "v_cache"}) {
      const mc_tensor *cache = find(name);
      const int64_t columns = cache->shape[1] * cache->shape[2];
      if (cache != find("v_cache")) {
        forEach(cache->shape[0] * columns,
                FarScores{cache->data, cache->type, cache->shape[2], true});
      }
      Beyond beyond = {cache->data, cache->type, place, columns};
      forEach(batch.sequences * beyond.rowsOfOne() * columns, beyond);
    }
  }
  const mc_tensor *find(const std::string &name) const {
    for (size_t i = 0; i < tensors.size(); ++i) {
      if (of.arguments[i].name == name) {
        return &tensors[i];
      }
    }
    return nullptr;
  }

  const Case &of;
  std::vector<mc_tensor> tensors;
};

#endif // TEST_GPU_TENSORS_H
