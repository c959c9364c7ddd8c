//===- SampleFamily.h - The next token of each sequence -------------------===//
//
// Shape, tile and family as in Families.h.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_KERNELS_ROWS_SAMPLEFAMILY_H
#define LIB_KERNELS_ROWS_SAMPLEFAMILY_H

#include "lib/Kernels/Families.h"

namespace modelc::kernels {

struct SampleShape {
  int64_t vocabulary = 0;
  int64_t padding = 0;     ///< logits of a row behind those of the vocabulary
  mlir::Type element = {}; ///< of the logits
  bool isGreedy = true;
  int64_t topK = 0; ///< 0: all
  double topP = 1;  ///< 1: all
  double temperature = 1;
};

template <>
inline constexpr auto kFields<SampleShape> =
    fieldsOf<SampleShape>(Field{"vocabulary", &SampleShape::vocabulary},
                          Field{"padding", &SampleShape::padding},
                          Field{"element", &SampleShape::element},
                          Field{"greedy", &SampleShape::isGreedy},
                          Field{"top_k", &SampleShape::topK},
                          Field{"top_p", &SampleShape::topP},
                          Field{"temperature", &SampleShape::temperature});

struct SampleTile {
  int64_t columns = 0; ///< of the row that is walked at a time
  int64_t waves = 4;
  int64_t ways = 4; ///< thresholds of one step of a search: 2, 4 or 16
};

template <>
inline constexpr auto kFields<SampleTile> =
    fieldsOf<SampleTile>(Field{"n", &SampleTile::columns},
                         Field{"waves", &SampleTile::waves},
                         Field{"ways", &SampleTile::ways});

/// Arguments: logits, [draws], out, sequences.
schedule::KernelOp buildSample(mlir::OpBuilder &builder, const Label &label,
                               const SampleShape &shape, const SampleTile &tile,
                               Range sequences);

} // namespace modelc::kernels

#endif // LIB_KERNELS_ROWS_SAMPLEFAMILY_H
