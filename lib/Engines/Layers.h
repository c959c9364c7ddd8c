//===- Layers.h - What layers of engines take beyond kernels --------===//
//
// Measured rows are of layers of serving engines and of their libraries: what
// is known of these, beside the kernels that are predicted for them.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_ENGINES_LAYERS_H
#define LIB_ENGINES_LAYERS_H

#include "lib/Cost/Cost.h"
#include "lib/Engines/Measured.h"

namespace modelc {

/// What is measured alone has found nothing in its cache that it asked for
/// while another kernel ran, and runs again and again: the board does not idle
/// between, so its clock is that of its own work.
Target asAlone(Target target);

/// What engines are known to do for a layer on a machine, beside its kernels.
struct LayerHabits {
  LayerHabits(const MeasuredRow &row, const Target &target,
              const Engines &engines);

  const EngineLaunch *launch; ///< null: nothing is known
  const EngineLayer *layer;   ///< null: nothing else
  bool startsEarly, scalesTensor;
  /// The layer is a linear of the vendor's library, as is the one before: they
  /// are known to follow each other early.
  bool isOfLibrary;

  double gap() const { return launch ? launch->gap : 0; }
  double libraryGap() const { return launch ? launch->libraryGap : 0; }
};

/// Kernels of an engine's layer follow one another as the engine starts them,
/// and ask for nothing early; where nothing is quantised, each is of the
/// library, as is the one before. Few launch early, as ours do. They are taken
/// to walk over tiles, so that no workgroup starts behind another.
Target asEnginesRun(const MeasuredRow &row, Target target,
                    const LayerHabits &habits, const EngineLinear *engine);

/// Launches that take turns find in the last cache what they left there, if all
/// that a turn touches fits.
bool staysInCache(const MeasuredRow &row, const Target &target);

/// The attention layer of the engine that was timed, or null.
const EngineAttention *attentionOf(const MeasuredRow &row, const Target &target,
                                   const Engines &engines);

/// Measured layers are a graph that is launched again and again: its first
/// kernel follows as kernels do that the host launches.
double secondsOfReplay(const MeasuredRow &row, const Target &target);

/// What the engine's layer takes beyond a launch of ours: its own launches,
/// each as long as a kernel that waits for memory once; what it does for each
/// new token and column of queries. Attention takes as long as the workgroups
/// of the engine or as what they read, not as ours.
double secondsOfEngine(const EngineAttention &engine, const LayerHabits &habits,
                       const MeasuredRow &row, const StepCost &step,
                       const Target &target);

/// What binds the attention of an engine.
llvm::StringRef limitOfEngine(const EngineAttention &engine,
                              const MeasuredRow &row, const Target &target);

/// Where one scale serves all rows, a launch that clears it and one that reads
/// all of the input for it come first.
double secondsOfTensorScale(const LayerHabits &habits, const MeasuredRow &row,
                            const Target &target);

/// What quantising takes an engine beyond ours, where it walks rows as the
/// engine says: numbers of PyTorch's types are rounded by many instructions,
/// which memory does not hide where the input comes from L2.
double secondsOfRounding(const EngineLinear &engine, const LayerHabits &habits,
                         const MeasuredRow &row, const StepCost &step,
                         const Target &target);

/// What a linear of the engine takes beyond ours: parts that are added in
/// memory need no kernel of their own, but results of the rate at which memory
/// adds.
double secondsOfAdding(const EngineLinear &engine, const MeasuredRow &row,
                       const StepCost &step);

/// What kernels that add in two steps take beyond ours where engines of more
/// than two devices pull: they read from each other, behind a flag, where ours
/// store; so each step crosses the links once more.
double secondsOfPulling(const LayerHabits &habits, const MeasuredRow &row,
                        const StepCost &step, const Target &target);

/// The kernels that a linear of an engine is one of, once for each number of
/// parts where memory adds these; none: like ours.
std::vector<EngineLinear>
linearsOf(const MeasuredRow &row, const Target &target, const Engines &engines);

} // namespace modelc

#endif // LIB_ENGINES_LAYERS_H
