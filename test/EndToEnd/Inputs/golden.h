// The golden files of test/Golden as a checkpoint, and the table of RoPE.
#ifndef TEST_ENDTOEND_INPUTS_GOLDEN_H
#define TEST_ENDTOEND_INPUTS_GOLDEN_H

#include "device.h"

#include <cmath>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <string>

inline std::string readText(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    std::fprintf(stderr, "expected the file %s\n", path.c_str());
    std::exit(1);
  }
  return {std::istreambuf_iterator<char>(file), {}};
}

/// The numbers behind a key of a JSON text, up to the closing bracket of the
/// outermost list.
inline std::vector<std::vector<int64_t>> numbersOf(const std::string &json,
                                                   const std::string &key) {
  std::vector<std::vector<int64_t>> lists;
  size_t at = json.find('[', json.find("\"" + key + "\""));
  for (int depth = 0;; ++at) {
    char c = json[at];
    depth += c == '[' ? 1 : c == ']' ? -1 : 0;
    if (c == '[') {
      lists.emplace_back();
    }
    if (std::isdigit(c)) {
      size_t end;
      lists.back().push_back(std::stoll(json.substr(at), &end));
      at += end - 1;
    }
    if (depth == 0) {
      break;
    }
  }
  return lists;
}

/// One number for each layer behind a key of a JSON text; NaN where it says
/// null.
inline std::vector<float> scalesOf(const std::string &json,
                                   const std::string &key) {
  std::vector<float> scales;
  size_t at = json.find("\"" + key + "\"");
  if (at == std::string::npos) {
    return scales;
  }
  at = json.find('[', at) + 1;
  std::istringstream items(json.substr(at, json.find(']', at) - at));
  for (std::string item; std::getline(items, item, ',');) {
    bool isNull = item.find("null") != std::string::npos;
    scales.push_back(isNull ? NAN : std::stof(item));
  }
  return scales;
}

/// The word behind a key of a JSON text; empty where there is none.
inline std::string wordOf(const std::string &json, const std::string &key) {
  size_t at = json.find("\"" + key + "\":");
  if (at == std::string::npos) {
    return "";
  }
  at = json.find('"', json.find(':', at)) + 1;
  return json.substr(at, json.find('"', at) - at);
}

/// weights.bin and its index. Of a model in 8 or 4 bits also what
/// make_tiny_llama_quantised.py makes of them: rows or blocks with factors,
/// scales of caches.
class Checkpoint {
public:
  Checkpoint(const std::string &weights, const std::string &golden)
      : index(readText(weights + "/weights.json")),
        data(readText(weights + "/weights.bin")),
        golden(readText(golden + "/golden.json")),
        factors(wordOf(this->golden, "factors")),
        keyScales(scalesOf(this->golden, "k_scale")),
        valueScales(scalesOf(this->golden, "v_scale")) {}

  /// An mc_read.
  static int read(void *self, const char *name, mc_tensor *tensor) {
    return static_cast<Checkpoint *>(self)->find(name, *tensor) ? 0 : 1;
  }

private:
  bool find(const std::string &name, mc_tensor &tensor) {
    if (name.find(".input_scale") != std::string::npos) {
      return findInputScale(name, tensor);
    }
    if (name.find("_scale") != std::string::npos) {
      return findScale(name, tensor);
    }
    size_t at = index.find("\"" + name + "\"");
    if (at == std::string::npos) {
      return false;
    }
    std::string entry = index.substr(at, index.find('}', at) - at);
    size_t count = 1;
    const std::vector<int64_t> shape = numbersOf(entry, "shape")[0];
    for (int64_t extent : shape) {
      tensor.shape[tensor.rank++] = extent;
      count *= size_t(extent);
    }
    size_t offset = std::stoull(entry.substr(entry.find("offset") + 8));
    std::vector<uint16_t> &made = weights[name];
    if (made.empty()) {
      made.resize(count);
      std::memcpy(made.data(), data.data() + offset, count * 2);
      multiply(name, size_t(tensor.shape[0]), made);
    }
    tensor.type = MC_BF16;
    tensor.data = made.data();
    return true;
  }

  void multiply(const std::string &name, size_t rows,
                std::vector<uint16_t> &values) const {
    const bool isFine = factors == "fine";
    const bool isOfBlocks = factors == "blocks" || isFine;
    const bool isOfGroups = factors == "groups";
    if ((factors != "rows" && !isOfBlocks && !isOfGroups) ||
        name.find("_proj") == std::string::npos) {
      return;
    }
    const bool isSmall = isFine && (name.find("k_proj") != std::string::npos ||
                                    name.find("up_proj") != std::string::npos);
    size_t width = values.size() / rows;
    for (size_t i = 0; i < values.size(); ++i) {
      size_t block = isOfBlocks ? i % width / (isFine ? 16 : 32) : 0;
      size_t turn = isOfGroups ? i / width / 128 + i % width / 128
                               : i / width * 7 / 5 + block;
      float factor = (isSmall ? 0.0625f : 0.25f) * float(1 << turn % 3);
      values[i] = toBf16(fromBf16(values[i]) * factor);
    }
  }

  /// "model.layers.1.self_attn.q_proj.input_scale"
  bool findInputScale(const std::string &name, mc_tensor &tensor) {
    size_t at = golden.find("\"" + name + "\":");
    if (at == std::string::npos) {
      return false;
    }
    float &scale = inputScales[name];
    scale = std::stof(golden.substr(golden.find(':', at) + 1));
    tensor.type = MC_F32; // a number, without dimensions
    tensor.data = &scale;
    return true;
  }

  /// "model.layers.1.self_attn.k_scale"
  bool findScale(const std::string &name, mc_tensor &tensor) {
    size_t layer = std::stoull(name.substr(std::strlen("model.layers.")));
    if (name.find("_proj.") != std::string::npos) {
      return false; // ModelOpt's names
    }
    bool isKey = name.find(".self_attn.k_scale") != std::string::npos;
    std::vector<float> &scales = isKey ? keyScales : valueScales;
    if (layer >= scales.size() || std::isnan(scales[layer])) {
      return false;
    }
    tensor.type = MC_F32;
    tensor.rank = 1;
    tensor.shape[0] = 1;
    tensor.data = &scales[layer];
    return true;
  }

  std::string index, data, golden, factors;
  std::vector<float> keyScales, valueScales;
  std::map<std::string, float> inputScales;
  std::map<std::string, std::vector<uint16_t>> weights;
};

#endif // TEST_ENDTOEND_INPUTS_GOLDEN_H
