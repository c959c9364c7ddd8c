//===- PtxDecode.cpp - From names to what they do -------------------------===//

#include "lib/Check/Ptx/PtxLanes.h"

using namespace modelc::ptx;
using llvm::StringRef;

static const Decoders &decoders() {
  static const Decoders all = [] {
    Decoders result;
    addInteger(result);
    addBits(result);
    addFloat(result);
    addConvert(result);
    addPredicates(result);
    addMovement(result);
    addControl(result);
    addAccess(result);
    addAtomics(result);
    addCopies(result);
    addBarriers(result);
    addMatrix(result);
    addGroupMatrix(result);
    addTensor(result);
    return result;
  }();
  return all;
}

static Space spaceNamed(StringRef name) {
  StringRef base = name.split("::").first;
  return base == "global"   ? Space::Global
         : base == "shared" ? Space::Shared
         : base == "local"  ? Space::Local
         : base == "param"  ? Space::Param
         : base == "const"  ? Space::Const
                            : Space::Generic;
}

static void decodeOne(Instruction &i) {
  llvm::SmallVector<StringRef, 12> words;
  StringRef(i.name).split(words, '.');
  llvm::ArrayRef<StringRef> modifiers =
      llvm::ArrayRef<StringRef>(words).drop_front();
  for (StringRef word : modifiers) {
    if (Type type = typeNamed(word); type != Type::None) {
      i.type = type;
    }
    if (i.space == Space::Generic) {
      i.space = spaceNamed(word);
    }
    i.flush |= word == "ftz";
    i.count = word == "v2" ? 2 : word == "v4" ? 4 : word == "v8" ? 8 : i.count;
  }
  auto found = decoders().find(words.front());
  if (found == decoders().end() || !found->second(i, modifiers)) {
    i.handler = nullptr;
  }
}

void modelc::ptx::decode(Program &program) {
  for (Instruction &instruction : program.code) {
    decodeOne(instruction);
    program.awaitsKernels |= instruction.name == "griddepcontrol.wait";
  }
}
