#ifndef MODELC_DIALECTS_SCHEDULE_TYPES
#define MODELC_DIALECTS_SCHEDULE_TYPES

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"

def ScheduleDialect : Dialect {
  let name = "schedule";
  let cppNamespace = "::modelc::schedule";
  let summary = "How one kernel moves and multiplies tiles.";
  let description = [{
    Values and storage are typed tiles, arguments are buffers with symbolic
    extents, order is stated by tokens. A kernel family writes the plain form:
    loops over tiles that are "somewhere", loads, matrix products, elementwise
    maps. Passes place the tiles, lay them out, pipeline the copies and derive
    every wait. Emission and cost read the final form.
  }];
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
  let dependentDialects = ["::mlir::arith::ArithDialect"];
  let hasOperationAttrVerify = 1;
}

//===- Attributes ---------------------------------------------------------===//

class Between<int least, int most> : ConfinedAttr<I64Attr, [IntMinValue<least>, IntMaxValue<most>]>;

/// What passes divide by, unroll to or walk one by one.
def FewAttr : Between<1, 1024>;
/// The same where none is meant, too.
def CountAttr : Between<0, 1024>;
def BytesAttr : Between<0, 0x7fffffff>;
def ExtentsAttr : ConfinedAttr<DenseI64ArrayAttr, [DenseArrayStrictlyPositive<DenseI64ArrayAttr>]>;

class ScheduleAttr<string name, string mnem> : AttrDef<ScheduleDialect, name> {
  let mnemonic = mnem;
}

def LayoutAttr : ScheduleAttr<"Layout", "layout"> {
  let summary = "Where the elements of a tile live: a linear map over bits.";
  let description = [{
    `(register = [0:1, 0:2], lane = [1:0, 2:0, 0:4]) -> (row = 4, column = 8)`:
    each input bit has an image, one coordinate for each output; the map is the
    xor over the bits that are set. See `Layout.h`.
  }];
  let parameters = (ins "::modelc::Layout":$layout);
  let hasCustomAssemblyFormat = 1;
}

class ScheduleEnum<string name, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, "", cases> {
  let cppNamespace = "::modelc::schedule";
  let genSpecializedAttr = 0;
}

def SpaceEnum : ScheduleEnum<"Space", [
  I32EnumAttrCase<"None", 0, "none">,
  I32EnumAttrCase<"Register", 1, "register">,
  I32EnumAttrCase<"Shared", 2, "shared">,
  I32EnumAttrCase<"Tensor", 3, "tensor">,
  I32EnumAttrCase<"Global", 4, "global">]>;

def LoopKindEnum : ScheduleEnum<"LoopKind", [
  I32EnumAttrCase<"Sequence", 0, "sequence">,
  I32EnumAttrCase<"Workgroups", 1, "workgroups">]>;
def LoopKindAttr : EnumAttr<ScheduleDialect, LoopKindEnum, "kind">;

def QueueEnum : ScheduleEnum<"Queue", [
  I32EnumAttrCase<"Copies", 0, "copies">,
  I32EnumAttrCase<"Reads", 1, "reads">,
  I32EnumAttrCase<"Stores", 2, "stores">,
  I32EnumAttrCase<"Matrix", 3, "matrix">]>;
def QueueAttr : EnumAttr<ScheduleDialect, QueueEnum, "queue">;

def ScopeEnum : ScheduleEnum<"Scope", [
  I32EnumAttrCase<"Group", 0, "group">,
  I32EnumAttrCase<"Workgroup", 1, "workgroup">,
  I32EnumAttrCase<"Cluster", 2, "cluster">,
  I32EnumAttrCase<"Device", 3, "device">,
  I32EnumAttrCase<"System", 4, "system">]>;
def ScopeAttr : EnumAttr<ScheduleDialect, ScopeEnum, "scope">;

def ReachEnum : ScheduleEnum<"Reach", [
  I32EnumAttrCase<"Own", 0, "own">,
  I32EnumAttrCase<"Leader", 1, "leader">,
  I32EnumAttrCase<"All", 2, "all">]>;

def CombinerEnum : ScheduleEnum<"Combiner", [
  I32EnumAttrCase<"Add", 0, "add">,
  I32EnumAttrCase<"Max", 1, "max">,
  I32EnumAttrCase<"Min", 2, "min">]>;
def CombinerAttr : EnumAttr<ScheduleDialect, CombinerEnum, "combiner">;

def StageEnum : ScheduleEnum<"Stage", [
  I32EnumAttrCase<"Plain", 0, "plain">,
  I32EnumAttrCase<"Final", 1, "final">]>;
def StageAttr : EnumAttr<ScheduleDialect, StageEnum, "stage">;

def RoleEnum : ScheduleEnum<"StorageRole", [
  I32EnumAttrCase<"Workspace", 0, "workspace">,
  I32EnumAttrCase<"Weight", 1, "weight">,
  I32EnumAttrCase<"Cache", 2, "cache">,
  I32EnumAttrCase<"Input", 3, "input">,
  I32EnumAttrCase<"Output", 4, "output">,
  I32EnumAttrCase<"Constant", 5, "constant">,
  I32EnumAttrCase<"Peer", 6, "peer">]>;
def StorageRoleAttr : EnumAttr<ScheduleDialect, RoleEnum, "storage">;

def RangeAttr : ScheduleAttr<"Range", "range"> {
  let summary = "What a kernel demands of one of its size arguments.";
  let description = [{
    `#schedule.range<"m", 1 to 64 by 1>`: argument `m` lies in [1, 64] and is a
    multiple of 1. The guard of a kernel holds where each argument that it names
    lies in one of the ranges of that argument.
  }];
  let parameters = (ins StringRefParameter<"argument">:$argument,
                        "int64_t":$minimum, "int64_t":$maximum,
                        DefaultValuedParameter<"int64_t", "1">:$multiple);
  let assemblyFormat = "`<` $argument `,` $minimum `to` $maximum (`by` $multiple^)? `>`";
  let extraClassDeclaration = [{
    bool contains(int64_t size) const {
      return getMinimum() <= size && size <= getMaximum() &&
             size % getMultiple() == 0;
    }
  }];
}

def ExtentAttr : ScheduleAttr<"Extent", "extent"> {
  let summary = "The size of the run that a `?` of a buffer is.";
  let description = [{
    `#schedule.extent<"pages", 1 is "pages_per_sequence">`: dimension 1 of
    argument `pages` is argument `pages_per_sequence`. The first dimension is
    never asked for and needs none.
  }];
  let parameters = (ins StringRefParameter<"argument">:$argument,
                        "int64_t":$dimension,
                        StringRefParameter<"argument">:$size);
  let assemblyFormat = "`<` $argument `,` $dimension `is` $size `>`";
}

//===- Types --------------------------------------------------------------===//

class ScheduleType<string name, string mnem> : TypeDef<ScheduleDialect, name> {
  let mnemonic = mnem;
}

def BufferType : ScheduleType<"Buffer", "buffer"> {
  let summary = "A row-major array in global memory.";
  let description = [{
    `!schedule.buffer<?x8x128xbf16>`. Only the outermost extent may be a size of
    the run (`?`) unless the kernel names the argument that binds an inner one.
    `packed` gives the layout of a prepacked weight tile: (row, column) to byte
    within each block of that size; blocks are row major.
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape, "::mlir::Type":$elementType,
                        OptionalParameter<"::modelc::schedule::LayoutAttr">:$packed);
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    /// Bytes of one element; fractions (fp4) are rounded up.
    unsigned getElementBytes() const;
    /// Bytes of all, an extent of the run counted as `extentOfRun`.
    double getBytes(double extentOfRun) const;
    int64_t getRank() const { return getShape().size(); }
  }];
}

def TileType : ScheduleType<"Tile", "tile"> {
  let summary = "A tile, in registers of power-of-two extents: a value or a place.";
  let description = [{
    `!schedule.tile<64x128xf32>` is a value somewhere (plain form);
    `!schedule.tile<64x128xf32, register, #layout>` is a value in registers;
    `!schedule.tile<64x128xbf16, shared, #layout, slots = 3>` is a ring of three
    places, made by `alloc` and indexed by the logical trip number.
    Two dimensions, row and column; a row statistic is `64x1`. Layouts are linear
    over bits: that of a place of 192 rows is the one of 256, whose last rows do
    not exist.
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape, "::mlir::Type":$elementType,
                        DefaultValuedParameter<"::modelc::schedule::Space", "::modelc::schedule::Space::None">:$space,
                        OptionalParameter<"::modelc::schedule::LayoutAttr">:$layout,
                        DefaultValuedParameter<"int64_t", "1">:$slots);
  let builders = [
    TypeBuilderWithInferredContext<(ins "::llvm::ArrayRef<int64_t>":$shape, "::mlir::Type":$elementType), [{
      return $_get(elementType.getContext(), shape, elementType, Space::None, LayoutAttr(), 1);
    }]>];
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    int64_t getRows() const { return getShape()[0]; }
    int64_t getColumns() const { return getShape()[1]; }
    int64_t getNumElements() const { return getRows() * getColumns(); }
    unsigned getElementBits() const;
    /// Bytes of one slot.
    int64_t getBytes() const { return getNumElements() * getElementBits() / 8; }
    bool isPlace() const { return getSpace() == Space::Shared || getSpace() == Space::Tensor; }
    TileType with(Space space, LayoutAttr layout, int64_t slots = 1) const;
    TileType withElementType(::mlir::Type type) const;
  }];
}

def TokenType : ScheduleType<"Token", "token"> {
  let summary = "This has happened: the completion of an asynchronous op.";
}

def BarrierType : ScheduleType<"Barrier", "barrier"> {
  let summary = "Storage of `slots` barrier words in shared memory.";
  let description = [{
    Each word completes a phase after `count` arrivals and all expected bytes.
    Every workgroup of a cluster has its own words, at the same address; `to`
    says whose a signal reaches: those of its own workgroup (default), those of
    the cluster's first, `leader`, or those of `all`.
  }];
  let parameters = (ins "int64_t":$count, DefaultValuedParameter<"int64_t", "1">:$slots,
                        DefaultValuedParameter<"::modelc::schedule::Reach", "::modelc::schedule::Reach::Own">:$reach);
  let assemblyFormat = "`<` $count (`,` `slots` `=` $slots^)? (`to` $reach^)? `>`";
  let extraClassDeclaration = [{
    BarrierType withCount(int64_t count) const { return get(getContext(), count, getSlots(), getReach()); }
    BarrierType withSlots(int64_t slots) const { return get(getContext(), getCount(), slots, getReach()); }
    BarrierType withReach(::modelc::schedule::Reach reach) const { return get(getContext(), getCount(), getSlots(), reach); }
  }];
}

def AnyTileOrBuffer : AnyTypeOf<[BufferType, TileType]>;
/// A tile, or one scalar.
def TileOrScalar : AnyTypeOf<[TileType, Index, AnyInteger, AnyFloat]>;

#endif // MODELC_DIALECTS_SCHEDULE_TYPES
