// The golden files of test/Golden and what a loader makes of them: weights by
// the sources that a plan states, the table of RoPE.
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

/// A matrix in float; a vector has one column.
struct Matrix {
  int64_t rows = 0, columns = 1;
  std::vector<float> values;
  float &at(int64_t row, int64_t column) {
    return values[size_t(row * columns + column)];
  }
};

/// weights.bin and its index.
class Checkpoint {
public:
  explicit Checkpoint(const std::string &folder)
      : index(readText(folder + "/weights.json")),
        data(readText(folder + "/weights.bin")) {}

  Matrix read(const std::string &name) const {
    size_t at = index.find("\"" + name + "\"");
    if (at == std::string::npos) {
      std::fprintf(stderr, "expected a weight %s\n", name.c_str());
      std::exit(1);
    }
    std::string entry = index.substr(at, index.find('}', at) - at);
    std::vector<int64_t> shape = numbersOf(entry, "shape")[0];
    size_t offset = std::stoull(entry.substr(entry.find("offset") + 8));
    Matrix matrix;
    matrix.rows = shape[0];
    matrix.columns = shape.size() > 1 ? shape[1] : 1;
    for (int64_t i = 0; i < matrix.rows * matrix.columns; ++i) {
      uint16_t bits;
      std::memcpy(&bits, data.data() + offset + size_t(i) * 2, 2);
      matrix.values.push_back(fromBf16(bits));
    }
    return matrix;
  }

private:
  std::string index, data;
};

/// The part of a matrix that a rank holds: of dimension `dim`, cut in `parts`.
inline Matrix partOf(Matrix whole, int dim, int64_t parts, int64_t part) {
  int64_t rows = dim == 0 ? whole.rows / parts : whole.rows;
  int64_t columns = dim == 1 ? whole.columns / parts : whole.columns;
  Matrix result;
  result.rows = rows;
  result.columns = columns;
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < columns; ++j) {
      result.values.push_back(whole.at(i + (dim == 0 ? part * rows : 0),
                                       j + (dim == 1 ? part * columns : 0)));
    }
  }
  return result;
}

/// One source: `"name" split D of N copies C first rank`, what is not said is
/// whole.
inline Matrix readSource(const Checkpoint &checkpoint, const std::string &text,
                         int layer, int rank) {
  size_t open = text.find('"'), close = text.find('"', open + 1);
  std::string name = text.substr(open + 1, close - open - 1);
  if (size_t at = name.find("{layer}"); at != std::string::npos) {
    name.replace(at, 7, std::to_string(layer));
  }
  Matrix matrix = checkpoint.read(name);
  std::istringstream words(text.substr(close + 1));
  std::string word, of;
  int dim = 0;
  int64_t parts = 1, copies = 1;
  while (words >> word) {
    if (word == "split") {
      words >> dim >> of >> parts;
    } else if (word == "copies") {
      words >> copies;
    } else if (word == "first" && rank != 0) {
      matrix.values.assign(matrix.values.size(), 0);
    }
  }
  return parts == 1 ? matrix : partOf(matrix, dim, parts, rank / copies);
}

/// The sources joined along the rows, `interleave` rows of each in turn.
inline Matrix readWeight(const Checkpoint &checkpoint,
                         const std::string &source, int layer, int rank) {
  std::vector<Matrix> parts;
  std::string list = source.substr(1, source.find(']') - 1), item;
  for (std::istringstream items(list); std::getline(items, item, ',');) {
    parts.push_back(readSource(checkpoint, item, layer, rank));
  }
  size_t at = source.find("interleave ");
  int64_t step =
      at == std::string::npos ? 0 : std::stoll(source.substr(at + 11));
  Matrix joined;
  joined.columns = parts[0].columns;
  for (int64_t row = 0; row < (step ? parts[0].rows : 1);
       row += step ? step : 1) {
    for (Matrix &part : parts) {
      int64_t first = row * part.columns;
      int64_t count = step ? step * part.columns : int64_t(part.values.size());
      joined.values.insert(joined.values.end(), part.values.begin() + first,
                           part.values.begin() + first + count);
    }
  }
  joined.rows = int64_t(joined.values.size()) / joined.columns;
  return joined;
}

/// "rope head_dim D theta T": [position, cosines then sines, D / 2].
inline void fillRope(const std::string &source, const mc_tensor &table) {
  double theta = std::stod(source.substr(source.find("theta ") + 6));
  int64_t half = table.shape[2];
  float *values = static_cast<float *>(table.data);
  for (int64_t position = 0; position < table.shape[0]; ++position) {
    for (int64_t i = 0; i < half; ++i) {
      double angle =
          double(position) * std::pow(theta, -double(i) / double(half));
      values[position * 2 * half + i] = float(std::cos(angle));
      values[position * 2 * half + half + i] = float(std::sin(angle));
    }
  }
}

#endif // TEST_ENDTOEND_INPUTS_GOLDEN_H
