// What a kernel and a plan are made of: regions, storage and hints. These ops
// occupy no unit of the machine.

#ifndef MODELC_DIALECTS_SCHEDULE_STRUCTURE
#define MODELC_DIALECTS_SCHEDULE_STRUCTURE

include "dialects/Schedule/ScheduleTypes.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class ScheduleOp<string mnemonic, list<Trait> traits = []>
    : Op<ScheduleDialect, mnemonic, traits>;

//===- Structure ----------------------------------------------------------===//

def KernelOp : ScheduleOp<"kernel", [IsolatedFromAbove, Symbol, NoTerminator, SingleBlock]> {
  let summary = "A grid of equal workgroups.";
  let description = [{
    Arguments are buffers, scalars and the sizes of the run (`index`). `guard`
    says which sizes the kernel serves. `waves` is the number of waves of a
    workgroup. `extents` says which size an inner `?` of a buffer is. `cluster` workgroups, neighbours in the order of their launch and
    along the rows of the grid, start together and reach each other's barriers. The body holds index arithmetic, allocations and exactly one
    `loop ... on workgroups`.

    What the family asks of passes and cost: rings of `slots`; a loop of products
    in which so many groups of waves `stagger` (one group: it reads ahead);
    `roles` for its waves; at most so many `workgroups_of_unit` at once; a grid
    of more than two axes whose last two are of tiles, `ordered` as suits the
    machine or in groups of `ordered_rows`; products by these `instructions`
    alone.

    What only the cost reads, of kernels that others have written: groups of
    waves take tiles in `turns`; results pass through shared memory in pieces of
    `result_piece` bytes of a wave; lanes copy in front of a product
    (`copies_first`), not between its parts.

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
    DefaultValuedAttr<FewAttr, "4">:$waves, OptionalAttr<FewAttr>:$cluster,
    OptionalAttr<BytesAttr>:$shared_bytes, OptionalAttr<CountAttr>:$tensor_columns,
    OptionalAttr<TypedArrayAttrBase<ExtentAttr, "extents of buffer arguments">>:$extents, OptionalAttr<StrAttr>:$op_name, OptionalAttr<StrAttr>:$note,
    OptionalAttr<FewAttr>:$slots, OptionalAttr<FewAttr>:$stagger, UnitAttr:$roles,
    OptionalAttr<FewAttr>:$workgroups_of_unit, UnitAttr:$ordered,
    OptionalAttr<FewAttr>:$ordered_rows, OptionalAttr<StrArrayAttr>:$instructions,
    OptionalAttr<FewAttr>:$turns, OptionalAttr<BytesAttr>:$result_piece, UnitAttr:$copies_first);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::Block &getEntry() { return getBody().front(); }
    /// The argument's name as it is spelled in the IR and in the emitted source.
    ::llvm::StringRef getArgumentName(unsigned index);
    /// The argument of that name, or null.
    ::mlir::BlockArgument getArgument(::llvm::StringRef name);
    /// The argument that is the extent of a dimension of a buffer argument, or
    /// null.
    ::mlir::BlockArgument getExtent(::mlir::Value buffer, int64_t dimension);
    /// What the body does with a buffer among the arguments.
    ::modelc::schedule::BufferRole getRole(::mlir::Value buffer);
    /// What the guard says, argument by argument.
    ::llvm::SmallVector<::modelc::schedule::SizeDemand> getDemands();
    /// The one loop over workgroups.
    ::modelc::schedule::LoopOp getGrid();
  }];
}

def RoleOp : ScheduleOp<"role", [NoTerminator, SingleBlock]> {
  let summary = "Waves that run only this region.";
  let description = [{
    Roles of a kernel are disjoint ranges of waves that cover it and meet only at
    barriers. `elect` lets one lane run the region; of a `leader` only the first
    workgroup of each cluster runs it.

    ```mlir
    schedule.kernel @f(%m: index) guard [] attributes {waves = 5 : i64} {
      %c0 = arith.constant 0 : index
      schedule.loop (%i) = (%c0) to (%m) on workgroups {
        schedule.role "fill" waves(0, 1) elect {
        }
        schedule.role "multiply" waves(1, 4) registers(232) {
        }
      }
    }
    ```
  }];
  let arguments = (ins StrAttr:$name, CountAttr:$first, FewAttr:$waves, UnitAttr:$elect, UnitAttr:$leader,
    OptionalAttr<FewAttr>:$registers);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$name `waves` `(` $first `,` $waves `)` (`elect` $elect^)? (`leader` $leader^)? (`registers` `(` $registers^ `)`)? $body attr-dict";
}

def LoopOp : ScheduleOp<"loop", [SingleBlockImplicitTerminator<"YieldOp">, AttrSizedOperandSegments, RecursiveMemoryEffects]> {
  let summary = "Repeat; on workgroups it is the grid.";
  let description = [{
    `on sequence`: one index, carried values. `on workgroups`: one or more
    indices, every combination is one workgroup; only a `persistent` one carries
    values, from one of them to the next on the same unit. `step` is 1
    where it is not given. A bound that lives on the device (a `load`) demands
    `expect`, an expression over the workload's symbols. `order` of a grid is
    [chiplets, group rows]; `persistent` runs it with one workgroup a unit.
    `prefetch` says how many trips ahead the copies of the body run (set by
    pipelining); `unroll` is set where storage must be separate objects.

    `delayed`: two trips at least, and a product whose `a` is carried adds what
    the trip before has made. In the first trip that is zero, and in the last
    one nobody reads what the trip makes itself: what is carried of it stays as
    it was. Text writes both out without what they need not do.

    ```mlir
    schedule.kernel @f(%m: index, %n: index) guard [] attributes {waves = 4 : i64} {
      %c0 = arith.constant 0 : index
      %one = arith.constant 1.0 : f32
      schedule.loop (%i, %j) = (%c0, %c0) to (%m, %n) on workgroups attributes {order = array<i64: 8, 4>} {
        %sum = schedule.loop (%t) = (%c0) to (%n) on sequence carry(%s = %one) : f32 {
          %next = arith.addf %s, %one : f32
          schedule.yield %next : f32
        }
      }
    }
    ```
  }];
  let arguments = (ins Variadic<Index>:$lowerBounds, Variadic<Index>:$upperBounds,
    Variadic<Index>:$steps, Variadic<AnyType>:$inits,
    DefaultValuedAttr<LoopKindAttr, "::modelc::schedule::LoopKind::Sequence">:$kind,
    OptionalAttr<StrAttr>:$expect, OptionalAttr<ExtentsAttr>:$order, UnitAttr:$persistent,
    OptionalAttr<FewAttr>:$unroll, OptionalAttr<CountAttr>:$stagger, UnitAttr:$delayed);
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

//===- Storage ------------------------------------------------------------===//

def AllocOp : ScheduleOp<"alloc"> {
  let summary = "Storage: a tile, a ring of tiles, barriers, or (host) a buffer.";
  let description = [{
    In a kernel: shared or tensor tiles and barriers for its whole life; `at` is
    the byte offset (tensor memory: the column), set by storage assignment;
    `conflict_degree` says by how much banks lengthen its dearest access. In a
    plan: a buffer by role: workspace (sizes bind `?`), a weight by the name
    pattern `source` and its layer, a cache, an input or output of the step.

    ```mlir
    schedule.kernel @f(%m: index) guard [] attributes {waves = 4 : i64} {
      %c0 = arith.constant 0 : index
      %ring = schedule.alloc at 0 : !schedule.tile<128x64xbf16, shared, slots = 3>
      %full = schedule.alloc : !schedule.barrier<1, slots = 3>
      schedule.loop (%i) = (%c0) to (%m) on workgroups {
      }
    }
    func.func @plan(%tokens: index) {
      %x = schedule.alloc(%tokens) as workspace : !schedule.buffer<?x64xbf16>
      return
    }
    ```
  }];
  let arguments = (ins Variadic<Index>:$sizes, OptionalAttr<BytesAttr>:$at,
    OptionalAttr<StorageRoleAttr>:$storage, OptionalAttr<StrAttr>:$source,
    OptionalAttr<FewAttr>:$conflict_degree);
  let results = (outs AnyTypeOf<[BufferType, TileType, BarrierType]>:$result);
  let builders = [OpBuilder<(ins "::mlir::Type":$type), [{
    $_state.addTypes(type); // of a kernel: that is all
  }]>];
  let assemblyFormat = "(`(` $sizes^ `)`)? (`at` $at^)? (`as` $storage^)? ($source^)? attr-dict `:` type($result)";
}

//===- Hints --------------------------------------------------------------===//

def PrefetchOp : ScheduleOp<"prefetch", [AttrSizedOperandSegments]> {
  let summary = "Asks the last cache for a tile of a buffer, early.";
  let description = [{
    `rows` x `columns` elements from `source[offsets]` on, in rows below `valid`.
    It has no value and nobody waits for it: what comes is what a later load
    finds. Such ops come first in a workgroup. All others wait for the earlier
    kernels of the stream; these do not, so that they fill the time until then.

    ```mlir
    schedule.kernel @f(%w: !schedule.buffer<4096x512xbf16>, %m: index) guard [] attributes {waves = 4 : i64} {
      %c0 = arith.constant 0 : index
      schedule.loop (%i) = (%c0) to (%m) on workgroups {
        schedule.prefetch %w[%i, %c0] {rows = 16 : i64, columns = 256 : i64} : !schedule.buffer<4096x512xbf16>
      }
    }
    ```
  }];
  let arguments = (ins BufferType:$source, Variadic<Index>:$offsets, Optional<Index>:$valid,
    ConfinedAttr<I64Attr, [IntPositive]>:$rows, ConfinedAttr<I64Attr, [IntPositive]>:$columns);
  let assemblyFormat = "$source `[` $offsets `]` (`valid` `(` $valid^ `)`)? attr-dict `:` type($source)";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Rows begin at multiples of so many bytes and have whole ones (PTX ISA,
    /// cp.async.bulk.prefetch).
    static constexpr int64_t kGranule = 16;
    /// Bytes of one row of the tile.
    int64_t getRowBytes();
  }];
}

#endif // MODELC_DIALECTS_SCHEDULE_STRUCTURE
