// What occupies a unit of the machine in a kernel: every op here has work.

#ifndef MODELC_DIALECTS_SCHEDULE_OPS
#define MODELC_DIALECTS_SCHEDULE_OPS

include "dialects/Schedule/SchedulePlan.td"

//===- Moves --------------------------------------------------------------===//

/// Memory ops share one way to address: `place[offsets]`, one offset for each
/// dimension of a buffer; a ring takes one logical trip number. `dims` says
/// which dimensions of the buffer the tile's rows and columns walk (default: the
/// last two; the last for both offsets of a 1-row tile). `rows(%ids)`: row r of
/// the tile is row ids[r] of dimension dims[0]. `pages(%table, %sequence, size)`:
/// row index i lies at page table[sequence, i / size], entry i % size. `valid`:
/// limits for the row (and column) coordinate; beyond them loads read zero and
/// stores write nothing.
class MemoryOp<string mnemonic, list<Trait> traits = []>
    : ScheduleOp<mnemonic, !listconcat(traits, [AttrSizedOperandSegments, HasWork])>;

def LoadOp : MemoryOp<"load"> {
  let summary = "Memory to a value: a tile, or one scalar.";
  let description = [{
    From a buffer or from a place. `transposed` reads a stored row x column tile
    as column x row. `peer` selects the device of a buffer that every device has.
    With a token the load is asynchronous: it takes an entry of its queue (copies
    from global memory, reads from shared) and its registers and its place are
    safe only after a wait; else the value is simply there. Of a place in tensor
    memory it may read some columns: offsets are then the logical trip and the
    first column. `expect` of a scalar: what the cost takes for it where it limits
    a tile, an expression over the workload's symbols. `distinct` of a scalar:
    how many different values the grid meets, likewise; neighbours along an index
    of the grid have the same. `ahead`: lanes load an operand so many trips before
    its own, behind the copies in front of it.

    ```mlir
    schedule.kernel @f(%a: !schedule.buffer<?x64xf32>, %m: index) guard [] attributes {waves = 1 : i64} {
      %c0 = arith.constant 0 : index
      schedule.loop (%i) = (%c0) to (%m) on workgroups {
        %x = schedule.load %a[%i, %c0] : !schedule.buffer<?x64xf32> -> !schedule.tile<1x64xf32>
      }
    }
    ```
  }];
  let arguments = (ins AnyTileOrBuffer:$source, Variadic<Index>:$offsets, Optional<TileType>:$rows,
    Optional<BufferType>:$pageTable, Optional<Index>:$sequence, Variadic<Index>:$valid, Optional<Index>:$peer,
    OptionalAttr<DenseI64ArrayAttr>:$dims, OptionalAttr<I64Attr>:$page_size,
    UnitAttr:$transposed, UnitAttr:$stream, OptionalAttr<StrAttr>:$expect, OptionalAttr<I64Attr>:$ahead,
    OptionalAttr<StrAttr>:$distinct);
  let results = (outs TileOrScalar:$result, Optional<TokenType>:$token);
  let builders = [OpBuilder<(ins "::mlir::Type":$result, "::mlir::Value":$source, "::mlir::ValueRange":$offsets,
    CArg<"::mlir::ValueRange", "{}">:$valid), [{
      build($_builder, $_state, result, ::mlir::Type(), source, offsets, ::mlir::Value(), ::mlir::Value(), ::mlir::Value(),
            valid, ::mlir::Value(), ::mlir::DenseI64ArrayAttr(), ::mlir::IntegerAttr(), false, false, {}, ::mlir::IntegerAttr(), {});
    }]>];
  let assemblyFormat = [{
    $source `[` $offsets `]` (`rows` `(` $rows^ `:` type($rows) `)`)?
    (`pages` `(` $pageTable^ `,` $sequence `:` type($pageTable) `)`)?
    (`valid` `(` $valid^ `)`)? (`peer` `(` $peer^ `)`)? attr-dict `:` type($source) `->` type($result) (`,` type($token)^)?
  }];
  let hasVerifier = 1;
}

def StoreOp : MemoryOp<"store"> {
  let summary = "A value to memory; `add` is atomic.";
  let description = [{
    Of a place in tensor memory it may write a part of the columns, as a load
    reads them.

    ```mlir
    schedule.kernel @f(%d: !schedule.buffer<?x64xf32>, %m: index) guard [] attributes {waves = 1 : i64} {
      %c0 = arith.constant 0 : index
      schedule.loop (%i) = (%c0) to (%m) on workgroups {
        %x = schedule.load %d[%i, %c0] : !schedule.buffer<?x64xf32> -> !schedule.tile<1x64xf32>
        schedule.store %x, %d[%i, %c0] valid(%m) {add} : !schedule.tile<1x64xf32>, !schedule.buffer<?x64xf32>
      }
    }
    ```
  }];
  let arguments = (ins TileOrScalar:$value, AnyTileOrBuffer:$destination, Variadic<Index>:$offsets, Optional<TileType>:$rows,
    Optional<BufferType>:$pageTable, Optional<Index>:$sequence, Variadic<Index>:$valid, Optional<Index>:$peer,
    OptionalAttr<DenseI64ArrayAttr>:$dims, OptionalAttr<I64Attr>:$page_size,
    UnitAttr:$transposed, UnitAttr:$add);
  let assemblyFormat = [{
    $value `,` $destination `[` $offsets `]` (`rows` `(` $rows^ `:` type($rows) `)`)?
    (`pages` `(` $pageTable^ `,` $sequence `:` type($pageTable) `)`)?
    (`valid` `(` $valid^ `)`)? (`peer` `(` $peer^ `)`)? attr-dict `:` type($value) `,` type($destination)
  }];
  let hasVerifier = 1;
}

def CopyOp : MemoryOp<"copy"> {
  let summary = "Memory to memory without registers, asynchronous.";
  let description = [{
    Global to shared (or shared to global, shared to tensor). The place is a ring
    indexed by the logical trip number `slot`. `box` copies go through a tensor
    map and signal the barrier `arrives`; others complete in program order. With
    `multicast` each workgroup of the cluster asks for its part of the rows of the
    same box and all get all of it, at the barrier of each. The
    blocks of a `packed` buffer lie in the place as they do there. Words of scales
    go from shared to tensor memory by the unit that multiplies, in the order of
    its products: the signal behind a product says that both are done. With
    `workgroups` = W so many of a cluster copy at once, each what lies at the same
    place of its own shared memory.

    ```mlir
    schedule.kernel @f(%a: !schedule.buffer<?x64xbf16>, %m: index) guard [] attributes {waves = 4 : i64} {
      %c0 = arith.constant 0 : index
      %ring = schedule.alloc : !schedule.tile<64x64xbf16, shared, slots = 2>
      schedule.loop (%i) = (%c0) to (%m) on workgroups {
        %t = schedule.copy %a[%i, %c0] to %ring[%i] valid(%m) : !schedule.buffer<?x64xbf16>, !schedule.tile<64x64xbf16, shared, slots = 2>
        schedule.wait %t
        schedule.sync workgroup
        %x = schedule.load %ring[%i] : !schedule.tile<64x64xbf16, shared, slots = 2> -> !schedule.tile<64x64xbf16>
      }
    }
    ```
  }];
  let arguments = (ins AnyTileOrBuffer:$source, Variadic<Index>:$offsets, AnyTileOrBuffer:$destination, Variadic<Index>:$slot,
    Optional<TileType>:$rows, Optional<BufferType>:$pageTable, Optional<Index>:$sequence, Variadic<Index>:$valid,
    Optional<BarrierType>:$arrives, OptionalAttr<DenseI64ArrayAttr>:$dims, OptionalAttr<I64Attr>:$page_size, UnitAttr:$box, UnitAttr:$multicast,
    OptionalAttr<FewAttr>:$workgroups);
  let results = (outs TokenType:$token);
  let assemblyFormat = [{
    $source `[` $offsets `]` `to` $destination `[` $slot `]` (`rows` `(` $rows^ `:` type($rows) `)`)?
    (`pages` `(` $pageTable^ `,` $sequence `:` type($pageTable) `)`)?
    (`valid` `(` $valid^ `)`)? (`arrives` `(` $arrives^ `:` type($arrives) `)`)? attr-dict `:` type($source) `,` type($destination)
  }];
  let hasVerifier = 1;
}

//===- Values -------------------------------------------------------------===//

def MmaOp : ScheduleOp<"mma", [AttrSizedOperandSegments, HasWork]> {
  let summary = "accumulator + a * b^T on a matrix unit.";
  let description = [{
    `a` is M x K, `b` is N x K (K x N with `b_transposed`), the accumulator M x N.
    Operands are values or places (with the trip number of the ring as
    `aSlot`/`bSlot`; `cSlot` is that of a ring of accumulators). After
    instruction choice `instruction` names a row of the target's `[[mma]]` table and `grid` = [waves along M, waves along N]. An
    accumulator in tensor memory is a place; the op then yields a token only.
    `exchanged` = F: the instruction takes `b` as its first operand, so that a
    lane owns runs of neighbouring columns of the accumulator, of which F become
    one, of the same fragment and of others. The operands stay where they are.
    `interleaved` = F: those of F fragments interleave one by one, so that a lane
    owns F neighbouring rows of `b`, whether operands are exchanged or not.
    `workgroups` = W: the workgroups of a cluster multiply together. Each has its
    own rows of `a` and of the accumulator and one part of W of the rows of `b`,
    in the order of their ranks; the product takes the parts of all. Scales are
    those of its own rows of `a` and of all rows of `b`.

    K counts numbers: a packed operand has fewer columns. `scaled` gives a scale
    for each block of neighbours along K of every row of `a` and `b`: a tile of
    one row for each word of scales along K and a column for each row of the
    operand.

    ```mlir
    schedule.kernel @f(%a: !schedule.buffer<?x32xbf16>, %m: index) guard [] attributes {waves = 1 : i64} {
      %c0 = arith.constant 0 : index
      schedule.loop (%i) = (%c0) to (%m) on workgroups {
        %x = schedule.load %a[%i, %c0] : !schedule.buffer<?x32xbf16> -> !schedule.tile<16x32xbf16>
        %zero = schedule.map () { ^bb0(%row: index, %column: index):
          %z = arith.constant 0.0 : f32
          schedule.yield %z : f32
        } : () -> (!schedule.tile<16x16xf32>)
        %c = schedule.mma %zero, %x, %x : !schedule.tile<16x16xf32>, !schedule.tile<16x32xbf16>, !schedule.tile<16x32xbf16> -> !schedule.tile<16x16xf32>
        %max = schedule.reduce max %c along 1 : !schedule.tile<16x16xf32> -> !schedule.tile<16x1xf32>
      }
    }
    ```
  }];
  let arguments = (ins TileType:$accumulator, TileType:$a, TileType:$b, Optional<Index>:$aSlot, Optional<Index>:$bSlot,
    Optional<AnyType>:$init, Optional<Index>:$cSlot, Optional<TileType>:$aScales, Optional<TileType>:$bScales, OptionalAttr<StrAttr>:$instruction, OptionalAttr<ExtentsAttr>:$grid, UnitAttr:$b_transposed,
    UnitAttr:$asynchronous, OptionalAttr<CountAttr>:$exchanged, OptionalAttr<CountAttr>:$interleaved, OptionalAttr<FewAttr>:$workgroups);
  let results = (outs AnyTypeOf<[TileType, TokenType]>:$result);
  let builders = [OpBuilder<(ins "::mlir::Type":$result, "::mlir::Value":$accumulator, "::mlir::Value":$a, "::mlir::Value":$b,
    "::mlir::Value":$aSlot, "::mlir::Value":$bSlot, "::mlir::Value":$init, "::mlir::StringAttr":$instruction,
    "::mlir::DenseI64ArrayAttr":$grid, "::mlir::UnitAttr":$bTransposed, "::mlir::UnitAttr":$asynchronous), [{
      build($_builder, $_state, result, accumulator, a, b, aSlot, bSlot, init, ::mlir::Value(), ::mlir::Value(), ::mlir::Value(), instruction, grid,
            bTransposed, asynchronous, ::mlir::IntegerAttr(), ::mlir::IntegerAttr(), ::mlir::IntegerAttr());
    }]>];
  let assemblyFormat = [{
    $accumulator (`[` $cSlot^ `]`)? `,` $a (`[` $aSlot^ `]`)? `,` $b (`[` $bSlot^ `]`)? (`init` `(` $init^ `:` type($init) `)`)?
    (`scaled` `(` $aScales^ `,` $bScales `:` type($aScales) `,` type($bScales) `)`)?
    attr-dict `:` type($accumulator) `,` type($a) `,` type($b) `->` type($result)
  }];
  let hasVerifier = 1;
}

def MapOp : ScheduleOp<"map", [SingleBlockImplicitTerminator<"YieldOp">, HasWork]> {
  let summary = "Elementwise on tiles of one shape.";
  let description = [{
    The region gets one scalar for each input, then the element's row and column
    in the tile (both always present), and yields one scalar for each result.
    An input of extent 1 is broadcast along that dimension. The region holds
    `arith` and `math` scalar ops only, and those of `vector` that take a packed
    element apart or make one. Without inputs it makes a constant tile.

    `fma_exponentials = n`: n of every 8 elements of a lane take `math.exp2` from
    a polynomial on the vector units instead of the unit of exponentials, with a
    relative error of 8.6e-5; below 2^-126 it is zero.

    ```mlir
    schedule.kernel @f(%m: index) guard [] attributes {waves = 1 : i64} {
      %c0 = arith.constant 0 : index
      schedule.loop (%i) = (%c0) to (%m) on workgroups {
        %zero = schedule.map () { ^bb0(%row: index, %column: index):
          %z = arith.constant 0.0 : f32
          schedule.yield %z : f32
        } : () -> (!schedule.tile<16x16xf32>)
      }
    }
    ```
  }];
  let arguments = (ins Variadic<TileType>:$inputs, OptionalAttr<CountAttr>:$fma_exponentials);
  let results = (outs Variadic<TileType>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "`(` $inputs `)` $body attr-dict `:` functional-type($inputs, $results)";
  let hasVerifier = 1;
}

def ReduceOp : ScheduleOp<"reduce", [Pure, HasWork]> {
  let summary = "Combine along one dimension of a value.";
  let description = [{
    The result has extent 1 there. The layout says how many steps stay in a
    lane, cross lanes, cross waves; the last go through the shared `scratch`.
  }];
  let arguments = (ins CombinerAttr:$combiner, TileType:$value, I64Attr:$dimension, Optional<TileType>:$scratch);
  let results = (outs TileType:$result);
  let assemblyFormat = "$combiner $value `along` $dimension (`through` $scratch^ `:` type($scratch))? attr-dict `:` type($value) `->` type($result)";
  let hasVerifier = 1;
}

def RelayoutOp : ScheduleOp<"relayout", [HasWork]> {
  let summary = "The same elements in another register layout.";
  let description = [{
    Within a lane it is a renaming of registers; across lanes or waves it goes
    through the shared `scratch`.

    ```mlir
    #a = #schedule.layout<(register = [0:1], lane = [1:0], wave = [0:0]) -> (row = 2, column = 2)>
    #b = #schedule.layout<(register = [1:0], lane = [0:1], wave = [0:0]) -> (row = 2, column = 2)>
    schedule.kernel @f(%m: index) guard [] attributes {waves = 2 : i64} {
      %c0 = arith.constant 0 : index
      schedule.loop (%i) = (%c0) to (%m) on workgroups {
        %x = schedule.map () { ^bb0(%row: index, %column: index):
          %z = arith.constant 0.0 : f32
          schedule.yield %z : f32
        } : () -> (!schedule.tile<2x2xf32, register, #a>)
        %y = schedule.relayout %x : !schedule.tile<2x2xf32, register, #a> -> !schedule.tile<2x2xf32, register, #b>
      }
    }
    ```
  }];
  let arguments = (ins TileType:$value, Optional<TileType>:$scratch);
  let results = (outs TileType:$result);
  let assemblyFormat = "$value (`through` $scratch^ `:` type($scratch))? attr-dict `:` type($value) `->` type($result)";
  let hasVerifier = 1;
}

def AnyOp : ScheduleOp<"any", [Pure, HasWork]> {
  let summary = "Whether an element that the wave holds is not zero.";
  let description = [{
    The same in all lanes; waves may differ. It lets a wave leave out what would
    change nothing, as a condition that no wave waits in.

    ```mlir
    #rows = #schedule.layout<(register = [0:0], lane = [1:0], wave = [0:0]) -> (row = 2, column = 1)>
    schedule.kernel @f(%m: index) guard [] attributes {waves = 2 : i64} {
      %c0 = arith.constant 0 : index
      schedule.loop (%i) = (%c0) to (%m) on workgroups {
        %x = schedule.map () { ^bb0(%row: index, %column: index):
          %z = arith.constant 0.0 : f32
          schedule.yield %z : f32
        } : () -> (!schedule.tile<2x1xf32, register, #rows>)
        %some = schedule.any %x : !schedule.tile<2x1xf32, register, #rows>
      }
    }
    ```
  }];
  let arguments = (ins TileType:$value);
  let results = (outs I1:$result);
  let assemblyFormat = "$value attr-dict `:` qualified(type($value))";
}

//===- Order --------------------------------------------------------------===//

def WaitOp : ScheduleOp<"wait", [AttrSizedOperandSegments, HasWork]> {
  let summary = "After it the effects of the tokens are visible to the wave.";
  let description = [{
    Tokens in the plain and pipelined forms. Final: `queue` with `pending` = how
    many later entries of that queue may still fly, or a barrier with the
    logical trip whose completion is awaited. Or a flag in global memory: its
    coordinates, then the value that it must have reached (compared as a signed
    difference, so that values may wrap); what its sender stored before is
    visible then to the whole workgroup. Waits for flags that follow each other
    directly are one, a lane for each flag, with one rendezvous.

    ```mlir
    schedule.kernel @f(%flags: !schedule.buffer<?x8xi32>, %m: index) guard [] attributes {waves = 1 : i64} {
      %c0 = arith.constant 0 : index
      %full = schedule.alloc : !schedule.barrier<1, slots = 3>
      schedule.loop (%i) = (%c0) to (%m) on workgroups {
        schedule.wait {queue = #schedule<queue copies>, pending = 6 : i64}
        schedule.wait on %full[%i] : !schedule.barrier<1, slots = 3>
        schedule.wait on %flags[%i, %c0, %m] : !schedule.buffer<?x8xi32>
      }
    }
    ```
  }];
  let arguments = (ins Variadic<TokenType>:$tokens, Optional<AnyTypeOf<[BarrierType, BufferType]>>:$barrier, Variadic<Index>:$trip,
    OptionalAttr<QueueAttr>:$queue, OptionalAttr<CountAttr>:$pending, UnitAttr:$empty);
  let assemblyFormat = "($tokens^)? (`on` $barrier^ `[` $trip `]` `:` type($barrier))? attr-dict";
  let extraClassDeclaration = [{
    /// A flag and those that follow directly, in order; empty for the latter,
    /// and where nothing waits for a flag.
    ::llvm::SmallVector<::mlir::Operation *> getFlags();
  }];
  let hasVerifier = 1;
}

def ArriveOp : ScheduleOp<"arrive", [AttrSizedOperandSegments, HasWork]> {
  let summary = "Signal a barrier, or a flag in global memory.";
  let description = [{
    With `bytes` it also announces how many bytes of box copies the phase awaits.
    With `after` the signal is sent by the matrix unit when those ops are done.
    A flag is an element of a buffer of i32, with scope device or system: its
    coordinates, then the value to store, after all earlier stores of the
    workgroup are visible at that scope. `peer` selects whose flag. Flags that
    follow each other directly are raised together, by a lane each, behind one
    fence and one rendezvous.

    ```mlir
    schedule.kernel @f(%flags: !schedule.buffer<?x8xi32>, %m: index) guard [] attributes {waves = 1 : i64} {
      %c0 = arith.constant 0 : index
      %full = schedule.alloc : !schedule.barrier<1, slots = 3>
      schedule.loop (%i) = (%c0) to (%m) on workgroups {
        schedule.arrive %full[%i] {bytes = 1024 : i64} : !schedule.barrier<1, slots = 3>
        schedule.arrive %flags[%i, %c0, %m] peer(%c0) {scope = #schedule<scope system>} : !schedule.buffer<?x8xi32>
      }
    }
    ```
  }];
  let arguments = (ins AnyTypeOf<[BarrierType, BufferType]>:$barrier, Variadic<Index>:$trip, Variadic<TokenType>:$after, Optional<Index>:$peer,
    OptionalAttr<BytesAttr>:$bytes, DefaultValuedAttr<ScopeAttr, "::modelc::schedule::Scope::Workgroup">:$scope);
  let assemblyFormat = "$barrier `[` $trip `]` (`after` `(` $after^ `)`)? (`peer` `(` $peer^ `)`)? attr-dict `:` type($barrier)";
  let extraClassDeclaration = [{
    /// A flag and those that follow directly, in order; empty for the latter,
    /// and where a barrier is signalled.
    ::llvm::SmallVector<::mlir::Operation *> getFlags();
  }];
  let hasVerifier = 1;
}

def SyncOp : ScheduleOp<"sync", [HasWork]> {
  let summary = "Rendezvous of all waves of the scope.";
  let arguments = (ins DefaultValuedAttr<ScopeAttr, "::modelc::schedule::Scope::Workgroup">:$scope);
  let assemblyFormat = "$scope attr-dict";
}

#endif // MODELC_DIALECTS_SCHEDULE_OPS
