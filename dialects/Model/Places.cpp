//===- Places.cpp - Where the subjects of ops are stated ------------------===//
//
// A size that a kernel cannot take is a key of a file, a format is a key or a
// flag: neither is the op that fails. So the location of an op can carry the
// places of its subjects, as metadata of a fused location, which passes keep
// and print to nobody:
//
//   fused<{model.head_dim = loc("config.json":7:14)}>["config.json":5:21]
//
//===----------------------------------------------------------------------===//

#include "dialects/Model/Model.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace modelc;
using namespace modelc::model;

static StringRef keyOf(Subject subject) {
  static constexpr StringRef kKeys[] = {"model.inputs",      "model.outputs",
                                        "model.heads",       "model.head_dim",
                                        "model.max_context", "model.weights",
                                        "model.activations", "model.cache",
                                        "model.queries",     "model.ranks"};
  return kKeys[unsigned(subject)];
}

Location model::withPlaces(Location place, ArrayRef<SubjectPlace> subjects) {
  if (subjects.empty()) {
    return place;
  }
  NamedAttrList list;
  for (auto [subject, where] : subjects) {
    list.set(keyOf(subject), LocationAttr(where));
  }
  MLIRContext *context = place.getContext();
  return FusedLoc::get(context, {place}, list.getDictionary(context));
}

/// What the location itself says, also one of the locations in it.
static std::optional<Location> statedIn(Location location, Subject subject) {
  LocationAttr found;
  location->walk([&](Location inner) {
    auto fused = dyn_cast<FusedLoc>(inner);
    auto places =
        fused ? dyn_cast_or_null<DictionaryAttr>(fused.getMetadata()) : nullptr;
    found = places ? places.getAs<LocationAttr>(keyOf(subject)) : nullptr;
    return found ? WalkResult::interrupt() : WalkResult::advance();
  });
  return found ? std::optional(Location(found)) : std::nullopt;
}

std::optional<Location> model::findPlace(Operation *op, Subject subject) {
  for (; op; op = op->getParentOp()) {
    if (std::optional<Location> place = statedIn(op->getLoc(), subject)) {
      return place;
    }
  }
  return std::nullopt;
}

Location model::placeOf(Operation *op, Subject subject) {
  return findPlace(op, subject).value_or(op->getLoc());
}

Location model::flagPlace(MLIRContext *context, StringRef flag) {
  assert(flag.starts_with("--") && "a flag is told by its dashes");
  return NameLoc::get(StringAttr::get(context, flag));
}

StringRef model::flagOf(Location place) {
  auto name = dyn_cast<NameLoc>(place);
  StringRef flag = name ? name.getName().getValue() : StringRef();
  return flag.starts_with("--") ? flag : StringRef();
}
