#ifndef MODELC_LIB_SCHEDULEPASSES_PASSES
#define MODELC_LIB_SCHEDULEPASSES_PASSES

include "mlir/Pass/PassBase.td"

/// Every pass asks the machine that the module names in `schedule.target`.
class SchedulePass<string flag> : Pass<flag, "::mlir::ModuleOp"> {
  let options = [
    Option<"targetsDir", "targets-dir", "std::string", "\"\"",
      "folder of the target files; empty: the one the compiler was built with">,
    ListOption<"overrides", "set", "std::string",
      "facts of the target to replace, as key=value">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::modelc::schedule::ScheduleDialect"];
}

def SchedulePairWorkgroups : SchedulePass<"schedule-pair-workgroups"> {
  let summary = "Let the workgroups of a cluster multiply together";
  let description = [{
    Where the kernel attribute `cluster` asks for it (Tiling does, where the cost
    says that it pays), roles are asked for too, and the machine has an
    instruction for so many workgroups: each loads its part of the rows of b,
    which all of them read. Where it has none, but boxes can land in all of them,
    the load of what they read alike is marked `multicast`: each asks for its part
    of the rows and sends it to all. Elsewhere the attribute goes.

    Before:
    ```
    %y = schedule.load %w[%column, %k] : buffer -> tile<256x64>
    %r = schedule.mma %acc, %x, %y : ...
    ```
    After:
    ```
    %part = (%i rem 2) * 128
    %y = schedule.load %w[%column + %part, %k] : buffer -> tile<128x64>
    %r = schedule.mma %acc, %x, %y {workgroups = 2} : ...
    ```
  }];
}

def ScheduleChooseInstruction : SchedulePass<"schedule-choose-instruction"> {
  let summary = "Give every mma a row of the target's [[mma]] table and a grid of waves";
  let description = [{
    The first row of the file whose types are those of the operands, whose shape
    divides the part of a wave, and whose operand places can be had. A kernel
    attribute `instructions` (a list of names) restricts the choice.

    Before:
    ```
    %r = schedule.mma %acc, %x, %y : ...
    ```
    After:
    ```
    %r = schedule.mma %acc, %x, %y {instruction = "Mfma16x16x32Bf16", grid = array<i64: 2, 2>} : ...
    ```
  }];
}

def SchedulePlaceOperands : SchedulePass<"schedule-place-operands"> {
  let summary = "Split the loads that feed an mma into copy, place and load";
  let description = [{
    What the instruction reads decides: registers (a wave), shared memory (four
    waves or one thread). Operands loaded outside the loop, or read by one wave
    in pieces as wide as a copy, go straight to registers.

    Before:
    ```
    %x = schedule.load %a[%row, %k] : buffer -> tile
    ```
    After:
    ```
    %t0 = schedule.copy %a[%row, %k] to %A[%t] : buffer, tile<shared>
    schedule.wait %t0
    schedule.sync workgroup
    %x = schedule.load %A[%t] : tile<shared> -> tile
    ```
  }];
}

def ScheduleDrain : SchedulePass<"schedule-drain"> {
  let summary = "Bring accumulators from tensor memory to registers by columns";
  let description = [{
    What follows from an accumulator element by element, from its load to the
    stores, becomes a loop over chunks of columns: the widest whose values fit
    into half of the registers of a lane. Sums that are changed where they are
    are cut alike, one chunk after the other.

    Before:
    ```
    %c = schedule.load %D[] : tile<128x256xf32, tensor> -> tile<128x256xf32>
    %o = schedule.map (%c) {...}
    schedule.store %o, %d[%row, %column]
    ```
    After:
    ```
    loop (%q) = (0) to (256) step (64) {
      %c = schedule.load %D[0, %q] : tile<128x256xf32, tensor> -> tile<128x64xf32>
      %o = schedule.map (%c) {...}
      schedule.store %o, %d[%row, %column + %q]
    }
    ```
  }];
}

def ScheduleInferLayouts : SchedulePass<"schedule-infer-layouts"> {
  let summary = "Give every value its registers";
  let description = [{
    Anchors are the fragments of the matrix instructions; where there is none,
    vectors of 16 bytes along the columns of the largest memory access. Layouts
    spread through map, reduce, loop and yield; where two meet, `relayout`.

    Before:
    ```
    %p = schedule.map (%s) {...} : tile<64x64xf32> -> tile<64x64xbf16>
    %o = schedule.mma %acc, %p, %v : ...
    ```
    After:
    ```
    %p = schedule.map (%s) {...} : tile<register, #C> -> tile<register, #C>
    %q = schedule.relayout %p : tile<register, #C> -> tile<register, #A>
    %o = schedule.mma %acc, %q, %v : ...
    ```
  }];
}

def ScheduleLoadAhead : SchedulePass<"schedule-load-ahead"> {
  let summary = "Issue loads that no copy fetches trips ahead";
  let description = [{
    In loops that multiply, what waves load from global memory themselves (scales)
    is loaded as many trips ahead as memory takes to answer, as far as there are
    registers, if it follows from the trip what is read.

    Before:
    ```
    loop (%t) { load %S[%t]  ... mma scaled(%S) }
    ```
    After:
    ```
    load %S0[0]  load %S1[1]
    loop (%t) carry(%S = %S0, %Next = %S1) { load %Later[min(%t + 2, last)]  ... mma scaled(%S)  yield %Next, %Later }
    ```
  }];
}

def ScheduleStagger : SchedulePass<"schedule-stagger"> {
  let summary = "Overlap products with the moves of other waves, or of their own";
  let description = [{
    The kernel attribute `stagger` says how many groups of waves share the matrix
    unit, each with a wave for every pipe.

    Two take turns: each product of the loop becomes a phase: reads and copies,
    sync, mma, sync. The second group of waves runs one sync late, so that one
    group multiplies while the other one moves. A place is read once in a trip and filled again in a later phase, for
    the trip that is `slots` later.

    Before:
    ```
    loop (%t) { copy to %A  wait  sync  load %A  copy to %B  wait  sync  load %B  mma  copy to %C ... mma }
    ```
    After:
    ```
    copies of trips 0 .. slots - 1, sync
    loop (%t) { load %A, %B  copy %C[%t+1]  sync  mma  sync  load %C  copy %A[%t+2]  sync  mma  sync } {stagger = 2}
    ```
    One reads for its next product while one runs; what the first product of a
    trip reads was read in the trip before. The emitter puts what moves between
    the instructions of a product. One sync a trip: places that were read before
    it are filled after it.
    ```
    copies of trips 0 .. slots - 1, sync, load %A, %B, sync
    loop (%t) carry(%A, %B) { load %C  copy %C[%t+1]  mma  load %A[%t+1], %B[%t+1]  copy %A[%t+2]  mma  sync } {stagger = 1}
    ```
  }];
}

def ScheduleSpecialise : SchedulePass<"schedule-specialise"> {
  let summary = "Give copies, products and results waves of their own";
  let description = [{
    Where the machine multiplies beside its waves and the kernel asks for `roles`
    (Tiling does, where the cost says that it pays), the one loop that multiplies
    is cut: one thread copies, one thread (tensor memory) or the waves of the
    kernel (registers) multiply, and results in tensor memory are stored by the
    waves of the kernel. They meet at barriers. Where the waves that multiply can
    have registers of those that copy, they get them.

    Before:
    ```
    loop (%t) { arrive %full[%t] {bytes}  copy to %A[%t]  wait on %full[%t]  mma %D, %A[%t], ... }
    load %D  map  store
    ```
    After:
    ```
    role "epilogue" waves(0, 4) { wait on %done[0]  load %D  map  store }
    role "load" waves(4, 1) elect { loop (%t) { wait on %empty[%t - 4]  arrive %full[%t] {bytes}  copy to %A[%t] } }
    role "matrix" waves(5, 1) elect { loop (%t) { wait on %full[%t]  mma  arrive %empty[%t] after }  arrive %done[0] }
    ```
    Where the workgroups of a cluster multiply together, the thread of its first
    one does it for all: its `%full` counts the copies of all and its `%drained`
    the waves of all, its products signal `%empty` and `%done` of all.
  }];
}

def SchedulePipeline : SchedulePass<"schedule-pipeline"> {
  let summary = "Run the copies of a loop ahead of their use";
  let description = [{
    Rings get slots, as many as are needed to keep enough bytes in flight and
    fit (kernel attribute `slots` overrides). Copies of the first trips go
    before the loop, the others slots - 1 trips up; past the last trip they are
    clipped to nothing (counted copies) or left out (boxes). Where each wave awaits
    the products that alone read a slot, it fills the slot behind that wait, for
    the trip that is as many trips up as there are slots. Ring indices stay logical
    trip numbers.

    Before:
    ```
    loop (%t) { copy %a[.., %t] to %A[%t]  wait  sync  load %A[%t]  mma }
    ```
    After:
    ```
    loop (%p) = (0) to (2) { copy %a[.., %p] to %A[%p] }
    loop (%t) { wait {queue = copies}  sync  copy %a[.., %t+2] to %A[%t+2]  load %A[%t]  mma }
    wait {queue = copies}
    ```
  }];
}

def ScheduleLayOut : SchedulePass<"schedule-lay-out"> {
  let summary = "Swizzle every shared tile so that no access conflicts";
  let description = [{
    Units of 16 bytes within a line of 128 bytes are exchanged by bits of the
    line number: the first such map, in order of its number of ones, with the
    least conflict degree for all reads and writes. Box copies allow four of
    them. The degree that was reached is the attribute `conflict_degree`.

    Before: `alloc : tile<128x64xbf16, shared>`
    After:  `alloc {conflict_degree = 1} : tile<128x64xbf16, shared, #layout>`
  }];
}

def ScheduleAssignStorage : SchedulePass<"schedule-assign-storage"> {
  let summary = "Give every place its byte or column, or say what does not fit";
  let description = [{
    Adds the scratch that exchanges across lanes and waves need. Storage whose
    uses lie before and after one another in the body of the grid overlaps.

    Before: `alloc : tile<..., shared, slots = 3>`
    After:  `alloc at 0 : tile<..., shared, slots = 3>`
  }];
}

def ScheduleOrderGrid : SchedulePass<"schedule-order-grid"> {
  let summary = "Order the grid so that neighbours share a cache";
  let description = [{
    Workgroup w belongs to chiplet w mod chiplets; the tiles of one chiplet are
    neighbours, walked in groups of rows. See gridPoint for the map. Of more
    than two axes the last two are of tiles where the kernel is `ordered`.

    Before: `loop (%i, %j) = ... on workgroups`
    After:  `loop (%i, %j) = ... on workgroups attributes {order = array<i64: 8, 4>}`
  }];
}

def ScheduleCountWaits : SchedulePass<"schedule-count-waits"> {
  let summary = "Derive every pending count from tokens and storage; last of all";
  let description = [{
    Hazards are pairs of ops that conflict on a place and slot, in the order of
    the plain program. Each gets the last wait between producer and deadline;
    pending is the least number of entries of the queue behind a needed op.
    The result is checked by running seven trips with every queue as late as its
    waits allow. Nothing may move after this pass.

    Before: `wait {queue = copies}`
    After:  `wait {queue = copies, pending = 6}`
  }];
}

#endif // MODELC_LIB_SCHEDULEPASSES_PASSES
