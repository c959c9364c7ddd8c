//===- Decoder.cpp - Machine code to Instructions -------------------------===//
//
// The only file that knows LLVM's disassembler. The numbers of its operands are
// private to that target and move between releases; its assembly language is
// documented and does not. So each instruction is printed and read once, here,
// and never again while it runs.
//
//===----------------------------------------------------------------------===//

#include "lib/Check/Machine/Code.h"
#include "lib/Support/Support.h"
#include "llvm/ADT/Twine.h"
#include "llvm/MC/MCAsmInfo.h"
#include "llvm/MC/MCContext.h"
#include "llvm/MC/MCDisassembler/MCDisassembler.h"
#include "llvm/MC/MCInst.h"
#include "llvm/MC/MCInstPrinter.h"
#include "llvm/MC/MCInstrInfo.h"
#include "llvm/MC/MCRegisterInfo.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/raw_ostream.h"
#include <memory>

extern "C" {
void LLVMInitializeAMDGPUTargetInfo();
void LLVMInitializeAMDGPUTargetMC();
void LLVMInitializeAMDGPUDisassembler();
}

using namespace llvm;
using namespace modelc::check;

namespace {
/// LLVM's objects in the order in which they need each other.
struct Disassembler {
  Triple triple;
  std::unique_ptr<MCRegisterInfo> registers;
  std::unique_ptr<MCAsmInfo> assembly;
  std::unique_ptr<MCInstrInfo> instructions;
  std::unique_ptr<MCSubtargetInfo> subtarget;
  std::unique_ptr<MCContext> context;
  std::unique_ptr<MCDisassembler> decoder;
  std::unique_ptr<MCInstPrinter> printer;

  bool open(StringRef processor, std::string &why);
};
} // namespace

bool Disassembler::open(StringRef processor, std::string &why) {
  triple.setArch(Triple::amdgcn);
  triple.setOS(Triple::AMDHSA);
  LLVMInitializeAMDGPUTargetInfo();
  LLVMInitializeAMDGPUTargetMC();
  LLVMInitializeAMDGPUDisassembler();
  const Target *target = TargetRegistry::lookupTarget(triple, why);
  if (!target) {
    return false;
  }
  registers.reset(target->createMCRegInfo(triple));
  assembly.reset(target->createMCAsmInfo(*registers, triple, {}));
  instructions.reset(target->createMCInstrInfo());
  subtarget.reset(target->createMCSubtargetInfo(triple, processor, ""));
  if (!registers || !assembly || !instructions || !subtarget) {
    why = "LLVM has no such processor";
    return false;
  }
  context = std::make_unique<MCContext>(triple, assembly.get(), registers.get(),
                                        subtarget.get());
  decoder.reset(target->createMCDisassembler(*subtarget, *context));
  printer.reset(target->createMCInstPrinter(triple, 0, *assembly, *instructions,
                                            *registers));
  return decoder && printer;
}

/// The bytes of the kernel's code.
static ArrayRef<uint8_t> codeBytes(const CodeObject &code) {
  const Kernel &kernel = code.kernel;
  for (const Region &region : code.regions) {
    uint64_t at = kernel.entry - region.address;
    if (at < region.bytes.size()) {
      uint64_t rest = region.bytes.size() - at;
      return ArrayRef(region.bytes)
          .slice(at,
                 kernel.codeBytes ? std::min(kernel.codeBytes, rest) : rest);
    }
  }
  return {};
}

/// `name_e32` and its like are all `name`.
static StringRef withoutEncoding(StringRef mnemonic) {
  for (StringRef suffix : {"_e32", "_e64", "_dpp", "_sdwa"}) {
    if (mnemonic.ends_with(suffix)) {
      return mnemonic.drop_back(suffix.size());
    }
  }
  return mnemonic;
}

static modelc::check::Instruction
decodeOne(Disassembler &tools, ArrayRef<uint8_t> bytes, uint64_t address) {
  modelc::check::Instruction result;
  result.address = address;
  MCInst decoded;
  uint64_t size = 0;
  MCDisassembler::DecodeStatus status =
      tools.decoder->getInstruction(decoded, size, bytes, address, nulls());
  result.bytes = status == MCDisassembler::Success ? uint32_t(size) : 4;
  if (status != MCDisassembler::Success) {
    result.name = result.text = "(no instruction)";
    return result;
  }
  raw_string_ostream text(result.text);
  tools.printer->printInst(&decoded, address, "", *tools.subtarget, text);
  result.text = StringRef(result.text).trim().str();
  for (const MCOperand &operand : decoded) {
    if (operand.isImm()) {
      result.immediate = operand.getImm();
      break;
    }
  }
  bool understood = parseInstruction(result.text, result);
  for (StringRef name : {"v_fmac_", "v_mac_", "v_pk_fmac_"}) {
    if (StringRef(result.name).starts_with(name)) {
      result.operands.push_back(Operand(result.operands.front()));
    }
  }
  if (StringRef(result.name).starts_with("v_div_fmas_")) {
    Operand &vcc = result.operands.emplace_back();
    vcc.place = Operand::Place::Scalar;
    vcc.index = kVcc;
    vcc.words = 2;
  }
  auto known = meanings().find(withoutEncoding(result.name));
  if (understood && known != meanings().end()) {
    result.meaning = &known->second;
    result.handler = known->second.handler;
  }
  return result;
}

/// Branches count words from the next instruction.
static void findTargets(std::vector<modelc::check::Instruction> &code) {
  llvm::SmallVector<std::pair<uint64_t, uint32_t>> starts;
  for (uint32_t i = 0; i < code.size(); ++i) {
    starts.push_back({code[i].address, i});
  }
  for (modelc::check::Instruction &instruction : code) {
    StringRef name = instruction.name;
    if (name != "s_branch" && !name.starts_with("s_cbranch_")) {
      continue;
    }
    uint64_t to = instruction.address + 4 + 4 * int16_t(instruction.immediate);
    auto found = std::lower_bound(starts.begin(), starts.end(),
                                  std::pair<uint64_t, uint32_t>(to, 0));
    if (found != starts.end() && found->first == to) {
      instruction.target = found->second;
    }
  }
}

FailureOr<DecodedCode> modelc::check::decodeKernel(const CodeObject &code,
                                                   raw_ostream &errors) {
  Disassembler tools;
  std::string why;
  if (!tools.open(code.kernel.processor, why)) {
    sayError(errors) << "expected a processor that LLVM disassembles, got \""
                     << code.kernel.processor << "\": " << why << "\n";
    return failure();
  }
  ArrayRef<uint8_t> bytes = codeBytes(code);
  DecodedCode result;
  uint64_t address = code.kernel.entry;
  while (bytes.size() >= 4) {
    result.instructions.push_back(decodeOne(tools, bytes, address));
    uint32_t size = result.instructions.back().bytes;
    address += size;
    bytes = bytes.drop_front(std::min<size_t>(size, bytes.size()));
  }
  findTargets(result.instructions);
  result.openFormats = tools.subtarget->checkFeatures("+fp8-cvt-scale-insts");
  return result;
}
