#ifndef MODELC_DIALECTS_SCHEDULE_WORK_OP_INTERFACE
#define MODELC_DIALECTS_SCHEDULE_WORK_OP_INTERFACE

include "mlir/IR/OpBase.td"

def WorkOpInterface : OpInterface<"WorkOpInterface"> {
  let cppNamespace = "::modelc::schedule";
  let description = [{
    What one execution of the op by one workgroup asks of the machine, in
    amounts, never in time: bytes by memory level, flops by type, vector
    operations by class, exchanges, synchronisations. Names no machine.
  }];
  let methods = [InterfaceMethod<"The work of one execution by one workgroup.",
    "::llvm::SmallVector<::modelc::schedule::Work>", "getWork", (ins)>];
}

#endif // MODELC_DIALECTS_SCHEDULE_WORK_OP_INTERFACE
