//===- prepare.h - Weights as a plan wants them ---------------------------===//
//
// A weight is a matrix, or one for each expert of a layer.
//
//===----------------------------------------------------------------------===//
#ifndef MODELC_HOST_PREPARE_H
#define MODELC_HOST_PREPARE_H

#include "preparation.h"
#include "view.h"

namespace modelc_host {

inline int64_t elementsOf(const mc_binding &weight) {
  int64_t count = 1;
  for (int i = 0; i < weight.rank; ++i) {
    count *= weight.shape[i];
  }
  return count;
}

/// Leaves the part of one expert; words of scales have groups of its rows in
/// the first dimension, all others a matrix or row for each expert.
inline bool cutToExpert(mc_binding &weight, const WeightSource &source) {
  if (source.isBlockScale && !source.group) {
    const bool isWhole = weight.shape[0] % source.experts == 0;
    weight.shape[0] /= source.experts;
    return isWhole;
  }
  if (weight.rank < 2 || weight.shape[0] != source.experts) {
    return false;
  }
  std::copy(weight.shape + 1, weight.shape + weight.rank, weight.shape);
  --weight.rank;
  return true;
}

inline int prepare(const mc_binding *weight, int64_t layer, int rank,
                   mc_read read, void *context, void *out) {
  if (!weight || weight->role != MC_WEIGHT || !weight->source) {
    return fail(MC_BAD_ARGUMENT, "expected the binding of a weight");
  }
  const WeightSource source(weight->source, layer);
  if (!source.isViewed() || !source.isPossible()) {
    return Preparation(*weight, source, rank, read, context, out).run();
  }
  mc_binding one = *weight;
  const int64_t count = source.experts ? source.experts : 1;
  if (source.experts && !cutToExpert(one, source)) {
    return fail(MC_BAD_ARGUMENT,
                "%s: expected a matrix of each of %lld experts", weight->name,
                (long long)count);
  }
  const int64_t bytes = elementBytes(one.type) * elementsOf(one);
  for (int64_t expert = 0; expert < count; ++expert) {
    const WeightSource own(weight->source, layer, expert);
    CheckpointView view(own, expert, read, context);
    if (int status = Preparation(one, own, rank, CheckpointView::read, &view,
                                 static_cast<char *>(out) + expert * bytes)
                         .run()) {
      return view.mistake.empty() ? status
                                  : fail(MC_BAD_ARGUMENT, "%s: %s",
                                         weight->name, view.mistake.c_str());
    }
  }
  return MC_OK;
}

} // namespace modelc_host

#endif // MODELC_HOST_PREPARE_H
