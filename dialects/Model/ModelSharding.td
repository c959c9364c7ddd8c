// What ops say of how ranks share them.

#ifndef DIALECTS_MODEL_MODELSHARDING_TD
#define DIALECTS_MODEL_MODELSHARDING_TD

include "mlir/IR/OpBase.td"

def Model_ShardingInterface : OpInterface<"ShardingInterface"> {
  let cppNamespace = "::modelc::model";
  let description = [{
    An op that is shared over an axis of the mesh in a way of its own.
    `model-shard` asks it where it needs its operands, brings them there (cuts
    weights and caches, inserts collectives), and learns where its results are.
    An op without this interface takes and makes whole values, or on each rank
    the rows of that rank's sequences.
  }];
  let methods = [
    InterfaceMethod<[{
      Where the op needs its operands, and where its results are then, if the
      operands are where `operands` says. An op that cannot be shared says why.
    }], "::mlir::FailureOr<::modelc::model::Sharding>", "getSharding",
      (ins "::modelc::model::Axis":$axis, "int64_t":$ranks,
       "::llvm::ArrayRef<::modelc::model::Placement>":$operands)>,
    InterfaceMethod<[{
      What the op cuts in as many equal parts as an axis has ranks.
    }], "::llvm::SmallVector<::modelc::model::Divisible>", "getDivisibles",
      (ins "::modelc::model::Axis":$axis), [{}], [{ return {}; }]>];
}

/// Passes on columns that are cut over ranks.
def Model_SharesColumns
    : DeclareOpInterfaceMethods<Model_ShardingInterface, ["getSharding"]>;

#endif // DIALECTS_MODEL_MODELSHARDING_TD
