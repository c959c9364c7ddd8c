// What the host does in a plan, a function with the attribute `schedule.plan`:
// every op here has work. `arg_names` of a plan names the sizes of the run, its
// arguments; `ranks` is the number of devices that share it, if not one.

#ifndef MODELC_DIALECTS_SCHEDULE_PLAN
#define MODELC_DIALECTS_SCHEDULE_PLAN

include "dialects/Schedule/ScheduleStructure.td"
include "dialects/Schedule/WorkOpInterface.td"

def HasWork : DeclareOpInterfaceMethods<WorkOpInterface>;

def LaunchOp : ScheduleOp<"launch", [HasWork, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "One kernel of a plan.";
  let description = [{
    Arguments are bound by the names that the kernel declares, each once, in any
    order. A buffer may be of another type than the argument if both see the
    same memory. What a kernel reaches on other devices is stored `as peer`, and
    what it writes is no weight, constant or input. Several kernels of one op
    may serve it at different sizes (`kernels`): the first whose guard holds is
    launched, and all must be able to take the arguments.

    ```mlir
    schedule.kernel @small(%m: index) guard [#schedule.range<"m", 1 to 16>] attributes {waves = 4 : i64} {
      %c0 = arith.constant 0 : index
      schedule.loop (%i) = (%c0) to (%m) on workgroups {
      }
    }
    func.func @plan(%tokens: index) attributes {schedule.plan, arg_names = ["tokens"]} {
      schedule.launch [@small] (m = %tokens) "qkv" : index
      return
    }
    ```
  }];
  let arguments = (ins ConfinedAttr<FlatSymbolRefArrayAttr, [ArrayMinCount<1>]>:$kernels,
    Variadic<AnyType>:$arguments, StrArrayAttr:$arg_names, OptionalAttr<StrAttr>:$label);
  let assemblyFormat = "$kernels `(` custom<NamedArguments>($arguments, $arg_names) `)` ($label^)? attr-dict `:` type($arguments)";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The value that is bound to the argument of that name, or null.
    ::mlir::Value getArgument(::llvm::StringRef name);
    /// All names and their values, in the order of the text.
    ::llvm::SmallVector<std::pair<::llvm::StringRef, ::mlir::Value>> getNamedArguments();
  }];
}

def CollectiveOp : ScheduleOp<"collective", [HasWork]> {
  let summary = "A call of the vendor's communication library.";
  let description = [{
    ```mlir
    func.func @plan(%tokens: index) attributes {schedule.plan, arg_names = ["tokens"]} {
      %x = schedule.alloc(%tokens) as workspace : !schedule.buffer<?x64xf32>
      schedule.collective "all-reduce" %x(%tokens) group 8 : !schedule.buffer<?x64xf32>
      return
    }
    ```
  }];
  let arguments = (ins StrAttr:$verb, BufferType:$buffer, Variadic<Index>:$sizes, FewAttr:$group, OptionalAttr<StrAttr>:$label);
  let assemblyFormat = "$verb $buffer `(` $sizes `)` `group` $group ($label^)? attr-dict `:` type($buffer)";
}

#endif // MODELC_DIALECTS_SCHEDULE_PLAN
