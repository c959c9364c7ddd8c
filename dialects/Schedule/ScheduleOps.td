#ifndef MODELC_DIALECTS_SCHEDULE_OPS
#define MODELC_DIALECTS_SCHEDULE_OPS

include "dialects/Schedule/ScheduleTypes.td"
include "dialects/Schedule/WorkOpInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class ScheduleOp<string mnemonic, list<Trait> traits = []>
    : Op<ScheduleDialect, mnemonic, traits>;
def HasWork : DeclareOpInterfaceMethods<WorkOpInterface>;

//===- Structure ----------------------------------------------------------===//

def KernelOp : ScheduleOp<"kernel", [IsolatedFromAbove, Symbol, NoTerminator, SingleBlock]> {
  let summary = "A grid of equal workgroups.";
  let description = [{
    Arguments are buffers, scalars and the sizes of the run (`index`). `guard`
    says which sizes the kernel serves. `waves` is the number of waves of a
    workgroup. `extents` binds inner `?` extents: (argument, dimension, size
    argument). The body holds index arithmetic, allocations and exactly one
    `loop ... on workgroups`.

    ```mlir
    schedule.kernel @copy(%a: !schedule.buffer<?x64xf32>, %d: !schedule.buffer<?x64xf32>, %m: index)
        guard [#schedule.range<"m", 1 to 65536>] attributes {waves = 4 : i64} {
      %c16 = arith.constant 16 : index
      %c0 = arith.constant 0 : index
      %tiles = arith.ceildivsi %m, %c16 : index
      schedule.loop (%i) = (%c0) to (%tiles) on workgroups {
        %row = arith.muli %i, %c16 : index
        %x = schedule.load %a[%row, %c0] valid(%m) : !schedule.buffer<?x64xf32> -> !schedule.tile<16x64xf32>
        schedule.store %x, %d[%row, %c0] valid(%m) : !schedule.tile<16x64xf32>, !schedule.buffer<?x64xf32>
      }
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<FunctionType>:$function_type,
    StrArrayAttr:$arg_names, TypedArrayAttrBase<RangeAttr, "ranges of size arguments">:$guard,
    DefaultValuedAttr<StageAttr, "::modelc::schedule::Stage::Plain">:$stage,
    DefaultValuedAttr<I64Attr, "4">:$waves,
    OptionalAttr<I64Attr>:$shared_bytes, OptionalAttr<I64Attr>:$tensor_columns,
    OptionalAttr<ArrayAttr>:$extents, OptionalAttr<StrAttr>:$op_name, OptionalAttr<StrAttr>:$note);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::Block &getEntry() { return getBody().front(); }
    /// The argument's name as it is spelled in the IR and in the emitted source.
    ::llvm::StringRef getArgumentName(unsigned index);
    /// The one loop over workgroups.
    ::modelc::schedule::LoopOp getGrid();
  }];
}

def RoleOp : ScheduleOp<"role", [NoTerminator, SingleBlock]> {
  let summary = "Waves that run only this region.";
  let description = [{
    Roles of a kernel are disjoint ranges of waves that cover it and meet only at
    barriers. `elect` lets one lane run the region.
  }];
  let arguments = (ins StrAttr:$name, I64Attr:$first, I64Attr:$waves, UnitAttr:$elect,
    OptionalAttr<I64Attr>:$registers);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$name `waves` `(` $first `,` $waves `)` (`elect` $elect^)? (`registers` `(` $registers^ `)`)? $body attr-dict";
}

def LoopOp : ScheduleOp<"loop", [SingleBlockImplicitTerminator<"YieldOp">, AttrSizedOperandSegments, RecursiveMemoryEffects]> {
  let summary = "Repeat; on workgroups it is the grid.";
  let description = [{
    `on sequence`: one index, carried values. `on workgroups`: one or more
    indices, every combination is one workgroup, no carried values. `step` is 1
    where it is not given. A bound that lives on the device (a `load`) demands
    `expect`, an expression over the workload's symbols. `order` of a grid is
    [chiplets, group rows]; `persistent` runs it with one workgroup a unit.
    `prefetch` says how many trips ahead the copies of the body run (set by
    pipelining); `unroll` is set where storage must be separate objects.
  }];
  let arguments = (ins Variadic<Index>:$lowerBounds, Variadic<Index>:$upperBounds,
    Variadic<Index>:$steps, Variadic<AnyType>:$inits,
    DefaultValuedAttr<LoopKindAttr, "::modelc::schedule::LoopKind::Sequence">:$kind,
    OptionalAttr<StrAttr>:$expect, OptionalAttr<DenseI64ArrayAttr>:$order, UnitAttr:$persistent,
    OptionalAttr<I64Attr>:$unroll, OptionalAttr<I64Attr>:$stagger);
  let results = (outs Variadic<AnyType>:$results);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let skipDefaultBuilders = 1;
  let builders = [OpBuilder<(ins "::mlir::ValueRange":$lowerBounds, "::mlir::ValueRange":$upperBounds,
    "::mlir::ValueRange":$steps, "::mlir::ValueRange":$inits, CArg<"LoopKind", "LoopKind::Sequence">:$kind)>];
  let extraClassDeclaration = [{
    ::mlir::Block::BlockArgListType getInductionVars() { return getBody().front().getArguments().take_front(getUpperBounds().size()); }
    ::mlir::Block::BlockArgListType getCarried() { return getBody().front().getArguments().drop_front(getUpperBounds().size()); }
    YieldOp getYield();
  }];
}

def YieldOp : ScheduleOp<"yield", [Pure, Terminator, ReturnLike]> {
  let summary = "Ends a region.";
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
  let builders = [OpBuilder<(ins),
    [{ build($_builder, $_state, ::mlir::ValueRange()); }]>];
}

//===- Storage and moves --------------------------------------------------===//

def AllocOp : ScheduleOp<"alloc"> {
  let summary = "Storage: a tile, a ring of tiles, barriers, or (host) a buffer.";
  let description = [{
    In a kernel: shared or tensor tiles and barriers for its whole life; `at` is
    the byte offset (tensor memory: the column), set by storage assignment. In a
    plan: a buffer by role: workspace (sizes bind `?`), a weight by the name
    pattern `source` and its layer, a cache, an input or output of the step.
  }];
  let arguments = (ins Variadic<Index>:$sizes, OptionalAttr<I64Attr>:$at,
    OptionalAttr<StorageRoleAttr>:$storage, OptionalAttr<StrAttr>:$source);
  let results = (outs AnyTypeOf<[BufferType, TileType, BarrierType]>:$result);
  let assemblyFormat = "(`(` $sizes^ `)`)? (`at` $at^)? (`as` $storage^)? ($source^)? attr-dict `:` type($result)";
}

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
    as column x row. `peer` selects the device of a buffer that every device of
    the group has. With a token the load is asynchronous: it takes an entry of its
    queue (copies from global memory, reads from shared) and its registers and
    its place are safe only after a wait. Without one the value is simply there.

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
    UnitAttr:$transposed, UnitAttr:$stream);
  let results = (outs TileOrScalar:$result, Optional<TokenType>:$token);
  let builders = [OpBuilder<(ins "::mlir::Type":$result, "::mlir::Value":$source, "::mlir::ValueRange":$offsets,
    CArg<"::mlir::ValueRange", "{}">:$valid), [{
      build($_builder, $_state, result, ::mlir::Type(), source, offsets, ::mlir::Value(), ::mlir::Value(), ::mlir::Value(),
            valid, ::mlir::Value(), ::mlir::DenseI64ArrayAttr(), ::mlir::IntegerAttr(), false, false);
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
    map and signal the barrier `arrives`; others complete in program order.
  }];
  let arguments = (ins AnyTileOrBuffer:$source, Variadic<Index>:$offsets, AnyTileOrBuffer:$destination, Variadic<Index>:$slot,
    Optional<TileType>:$rows, Optional<BufferType>:$pageTable, Optional<Index>:$sequence, Variadic<Index>:$valid,
    Optional<BarrierType>:$arrives, OptionalAttr<DenseI64ArrayAttr>:$dims, OptionalAttr<I64Attr>:$page_size, UnitAttr:$box);
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
    `aSlot`/`bSlot`). After instruction choice `instruction` names a row of the
    target's `[[mma]]` table and `grid` = [waves along M, waves along N]. An
    accumulator in tensor memory is a place; the op then yields a token only.
  }];
  let arguments = (ins TileType:$accumulator, TileType:$a, TileType:$b, Optional<Index>:$aSlot, Optional<Index>:$bSlot,
    Optional<AnyType>:$init, OptionalAttr<StrAttr>:$instruction, OptionalAttr<DenseI64ArrayAttr>:$grid, UnitAttr:$b_transposed,
    UnitAttr:$asynchronous);
  let results = (outs AnyTypeOf<[TileType, TokenType]>:$result);
  let assemblyFormat = [{
    $accumulator `,` $a (`[` $aSlot^ `]`)? `,` $b (`[` $bSlot^ `]`)? (`init` `(` $init^ `:` type($init) `)`)?
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
    `arith` and `math` scalar ops only. Without inputs it makes a constant tile.

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
  let arguments = (ins Variadic<TileType>:$inputs);
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
  }];
  let arguments = (ins TileType:$value, Optional<TileType>:$scratch);
  let results = (outs TileType:$result);
  let assemblyFormat = "$value (`through` $scratch^ `:` type($scratch))? attr-dict `:` type($value) `->` type($result)";
  let hasVerifier = 1;
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
    visible then to the whole workgroup.
  }];
  let arguments = (ins Variadic<TokenType>:$tokens, Optional<AnyTypeOf<[BarrierType, BufferType]>>:$barrier, Variadic<Index>:$trip,
    OptionalAttr<QueueAttr>:$queue, OptionalAttr<I64Attr>:$pending, UnitAttr:$empty);
  let assemblyFormat = "($tokens^)? (`on` $barrier^ `[` $trip `]` `:` type($barrier))? attr-dict";
  let hasVerifier = 1;
}

def ArriveOp : ScheduleOp<"arrive", [AttrSizedOperandSegments, HasWork]> {
  let summary = "Signal a barrier, or a flag in global memory.";
  let description = [{
    With `bytes` it also announces how many bytes of box copies the phase awaits.
    With `after` the signal is sent by the matrix unit when those ops are done.
    A flag is an element of a buffer of i32, with scope device or system: its
    coordinates, then the value to store, after all earlier stores of the
    workgroup are visible at that scope. `peer` selects whose flag.
  }];
  let arguments = (ins AnyTypeOf<[BarrierType, BufferType]>:$barrier, Variadic<Index>:$trip, Variadic<TokenType>:$after, Optional<Index>:$peer,
    OptionalAttr<I64Attr>:$bytes, DefaultValuedAttr<ScopeAttr, "::modelc::schedule::Scope::Workgroup">:$scope);
  let assemblyFormat = "$barrier `[` $trip `]` (`after` `(` $after^ `)`)? (`peer` `(` $peer^ `)`)? attr-dict `:` type($barrier)";
  let hasVerifier = 1;
}

def SyncOp : ScheduleOp<"sync", [HasWork]> {
  let summary = "Rendezvous of all waves of the scope.";
  let arguments = (ins DefaultValuedAttr<ScopeAttr, "::modelc::schedule::Scope::Workgroup">:$scope);
  let assemblyFormat = "$scope attr-dict";
}

//===- Host ---------------------------------------------------------------===//

def LaunchOp : ScheduleOp<"launch", [HasWork]> {
  let summary = "One kernel of a plan.";
  let description = [{
    Several kernels of one op may serve it at different sizes (`kernels`): the
    first whose guard holds is launched.
  }];
  let arguments = (ins ArrayAttr:$kernels, Variadic<AnyType>:$arguments, OptionalAttr<StrAttr>:$label);
  let assemblyFormat = "$kernels `(` $arguments `)` ($label^)? attr-dict `:` type($arguments)";
}

def CollectiveOp : ScheduleOp<"collective", [HasWork]> {
  let summary = "A call of the vendor's communication library.";
  let arguments = (ins StrAttr:$verb, BufferType:$buffer, Variadic<Index>:$sizes, I64Attr:$group, OptionalAttr<StrAttr>:$label);
  let assemblyFormat = "$verb $buffer `(` $sizes `)` `group` $group ($label^)? attr-dict `:` type($buffer)";
}

#endif // MODELC_DIALECTS_SCHEDULE_OPS
