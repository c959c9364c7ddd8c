//===- view.h - The tensors of a checkpoint as a weight is made of them ---===//
//
// A Preparation makes matrices of matrices: numbers by the name of a part of
// the weight, their scales behind "_scale" or "_scale_inv", a second scale
// behind "_scale_2". Checkpoints differ: all experts in one tensor, rows and
// columns the other way, rows of gate and up in turn, other names. What a
// source says of that is undone here, for one expert at a time.
//
//===----------------------------------------------------------------------===//
#ifndef MODELC_HOST_VIEW_H
#define MODELC_HOST_VIEW_H

#include "cut.h"

#include <map>

namespace modelc_host {

class CheckpointView {
public:
  CheckpointView(const WeightSource &source, int64_t expert, mc_read given,
                 void *context)
      : source(source), expert(expert), given(given), context(context) {}

  /// What is wrong with a tensor that is there; empty: nothing.
  std::string mistake;

  /// An `mc_read` of a view.
  static int read(void *view, const char *name, mc_tensor *tensor) {
    return static_cast<CheckpointView *>(view)->readNamed(name, *tensor);
  }

private:
  int readNamed(const std::string &name, mc_tensor &tensor) {
    for (const SourcePart &part : source.parts) {
      const size_t length = part.name.size();
      if (name.compare(0, length, part.name) == 0) {
        const std::string what = name.substr(length);
        if (what.empty() || what == "_scale" || what == "_scale_inv" ||
            what == "_scale_2") {
          return readPart(part, what, tensor);
        }
      }
    }
    return given(context, name.c_str(), &tensor);
  }

  /// A tensor beside the part's name, of this expert.
  int readPart(const SourcePart &part, const std::string &what,
               mc_tensor &tensor) {
    const std::string held = source.heldName(part.name, what);
    if (held.empty() || given(context, held.c_str(), &tensor)) {
      // Tensors that are not quantised have the part's own name.
      if (!what.empty() || given(context, part.name.c_str(), &tensor)) {
        return 1;
      }
    }
    if (source.experts && !part.isOfOne) {
      slice(tensor);
    }
    flatten(tensor);
    if (what == "_scale_2") {
      return source.isDivisor ? invert(tensor) : 0;
    }
    if (source.isTransposed && what.empty()) {
      transpose(tensor, buffers[what]);
    }
    if ((source.isInterleaved || source.isInHalves) && rowsOf(tensor) > 1) {
      const int64_t parts = part.dim == 0 ? part.parts : 1;
      if (rowsOf(tensor) % (2 * parts)) {
        mistake = "expected as many rows of gate as of up in each of " +
                  std::to_string(parts) + " parts of " + part.name + ", got " +
                  std::to_string(rowsOf(tensor)) + " rows";
        return 1;
      }
      separate(tensor, parts, buffers[what]);
    }
    return what.empty() && source.isDequantised && isNarrow(tensor)
               ? dequantise(part, tensor)
               : 0;
  }

  /// Of a tensor of all experts that of one.
  void slice(mc_tensor &tensor) const {
    int64_t count = 1;
    for (int i = 1; i < tensor.rank; ++i) {
      count *= tensor.shape[i];
    }
    tensor.data = static_cast<char *>(tensor.data) +
                  expert * count * elementBytes(tensor.type);
    std::copy(tensor.shape + 1, tensor.shape + tensor.rank, tensor.shape);
    --tensor.rank;
  }

  /// Rows of all that lies behind the first dimension.
  static void flatten(mc_tensor &tensor) {
    for (; tensor.rank > 2; --tensor.rank) {
      tensor.shape[1] *= tensor.shape[tensor.rank - 1];
    }
  }

  static void transpose(mc_tensor &tensor, std::vector<char> &to) {
    if (tensor.rank != 2) {
      return;
    }
    const int64_t rows = tensor.shape[1], columns = tensor.shape[0];
    const auto bytes = size_t(elementBytes(tensor.type));
    const char *from = static_cast<const char *>(tensor.data);
    std::vector<char> made(size_t(rows * columns) * bytes);
    for (int64_t row = 0; row < rows; ++row) {
      for (int64_t column = 0; column < columns; ++column) {
        std::memcpy(&made[size_t(row * columns + column) * bytes],
                    from + size_t(column * rows + row) * bytes, bytes);
      }
    }
    to = std::move(made);
    tensor.data = to.data();
    std::swap(tensor.shape[0], tensor.shape[1]);
  }

  /// Gates above ups in each of equal parts, of rows in turn or in halves.
  void separate(mc_tensor &tensor, int64_t parts, std::vector<char> &to) const {
    const int64_t rows = rowsOf(tensor), ofPart = rows / parts;
    const auto bytes = size_t((tensor.rank > 1 ? tensor.shape[1] : 1)) *
                       size_t(elementBytes(tensor.type));
    const char *from = static_cast<const char *>(tensor.data);
    std::vector<char> made(size_t(rows) * bytes);
    for (int64_t row = 0; row < rows; ++row) {
      const int64_t half = ofPart / 2, isUp = row % ofPart / half;
      const int64_t number = row / ofPart * half + row % half;
      const int64_t at =
          source.isInHalves ? isUp * rows / 2 + number : 2 * number + isUp;
      std::memcpy(&made[size_t(row) * bytes], from + size_t(at) * bytes, bytes);
    }
    to = std::move(made);
    tensor.data = to.data();
  }

  /// One number that others are divided by, as one that they are multiplied by.
  int invert(mc_tensor &tensor) {
    const float scale = 1 / elementOf(tensor, 0);
    std::vector<char> &made = buffers["_scale_2"];
    made.resize(sizeof scale);
    std::memcpy(made.data(), &scale, sizeof scale);
    tensor.data = made.data();
    tensor.type = MC_F32;
    return 0;
  }

  static bool isNarrow(const mc_tensor &tensor) {
    return tensor.type == MC_F8E4M3FN || tensor.type == MC_F6E2M3FNX32 ||
           tensor.type == MC_F4E2M1FNX2;
  }

  /// Numbers times their scales, in f32.
  int dequantise(const SourcePart &part, mc_tensor &tensor) {
    mc_tensor scale{}, second{};
    if (readPart(part, "_scale", scale)) {
      return 1;
    }
    const bool hasSecond = !readPart(part, "_scale_2", second);
    const float times = hasSecond ? elementOf(second, 0) : 1;
    const int64_t rows = rowsOf(tensor), columns = widthOf(tensor);
    const int64_t ofRow = widthOf(scale), ofColumn = rowsOf(scale);
    // A scale is of all rows, of one or of a group; of all columns or a block.
    const bool isOfRow = ofColumn == rows;
    const int64_t tall = isOfRow ? 1 : ofColumn == 1 ? rows : kGroup;
    const int64_t wide = ofRow == 1 ? columns
                         : isOfRow  ? columns / ofRow
                                    : kGroup;
    std::vector<char> made(size_t(rows * columns) * sizeof(float));
    for (int64_t i = 0; i < rows * columns; ++i) {
      const int64_t at = i / columns / tall * ofRow + i % columns / wide;
      const float value = elementOf(tensor, i) * elementOf(scale, at) * times;
      std::memcpy(&made[size_t(i) * sizeof value], &value, sizeof value);
    }
    buffers[""] = std::move(made);
    tensor.data = buffers[""].data();
    tensor.type = MC_F32;
    tensor.rank = 2;
    tensor.shape[0] = rows;
    tensor.shape[1] = columns;
    return 0;
  }

  static constexpr int64_t kGroup = 128; ///< rows and columns with one scale
  const WeightSource &source;
  int64_t expert;
  mc_read given;
  void *context;
  std::map<std::string, std::vector<char>> buffers; // of what was changed
};

} // namespace modelc_host

#endif // MODELC_HOST_VIEW_H
