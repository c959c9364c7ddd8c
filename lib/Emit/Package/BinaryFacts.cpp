#include "lib/Emit/Package/BinaryFacts.h"

#include "llvm/BinaryFormat/MsgPackDocument.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/Regex.h"

using namespace llvm;
using namespace modelc;

//===----------------------------------------------------------------------===//
// Notes
//===----------------------------------------------------------------------===//

static constexpr uint32_t kMetadataNote = 32;

/// The metadata note of a 64-bit little-endian ELF file, or empty.
static StringRef metadataOf(const object::ELFFile<object::ELF64LE> &file) {
  Expected<object::ELFFile<object::ELF64LE>::Elf_Shdr_Range> sections =
      file.sections();
  if (!sections) {
    consumeError(sections.takeError());
    return "";
  }
  for (const auto &section : *sections) {
    if (section.sh_type != ELF::SHT_NOTE) {
      continue;
    }
    Error error = Error::success();
    StringRef found;
    for (auto note : file.notes(section, error)) {
      if (note.getType() == kMetadataNote) {
        ArrayRef<uint8_t> bytes = note.getDesc(section.sh_addralign);
        found = StringRef(reinterpret_cast<const char *>(bytes.data()),
                          bytes.size());
      }
    }
    consumeError(std::move(error));
    if (!found.empty()) {
      return found;
    }
  }
  return "";
}

static int64_t numberOf(msgpack::MapDocNode &map, StringRef key) {
  auto found = map.find(key);
  if (found == map.end()) {
    return 0;
  }
  msgpack::DocNode &node = found->second;
  return node.getKind() == msgpack::Type::Int
             ? node.getInt()
             : static_cast<int64_t>(node.getUInt());
}

static BinaryFacts factsOf(msgpack::MapDocNode &kernel) {
  BinaryFacts facts;
  facts.registers = numberOf(kernel, ".vgpr_count");
  // What the compiler counts as spilled may be in registers still: scalar ones
  // in lanes of vector ones, vector ones in accumulation registers.
  facts.spilledBytes = numberOf(kernel, ".private_segment_fixed_size");
  facts.sharedBytes = numberOf(kernel, ".group_segment_fixed_size");
  facts.threads = numberOf(kernel, ".max_flat_workgroup_size");
  auto arguments = kernel.find(".args");
  if (arguments == kernel.end()) {
    return facts;
  }
  for (msgpack::DocNode &node : arguments->second.getArray()) {
    msgpack::MapDocNode &argument = node.getMap();
    if (!argument[".value_kind"].getString().starts_with("hidden_")) {
      facts.argumentOffsets.push_back(numberOf(argument, ".offset"));
    }
  }
  return facts;
}

FailureOr<BinaryFacts> modelc::factsFromNotes(StringRef path, StringRef symbol,
                                              std::string &why) {
  auto buffer = MemoryBuffer::getFile(path);
  if (!buffer) {
    why = "expected a binary at '" + path.str() + "'";
    return failure();
  }
  auto file = object::ELFFile<object::ELF64LE>::create((*buffer)->getBuffer());
  if (!file) {
    why = toString(file.takeError());
    return failure();
  }
  msgpack::Document document;
  if (!document.readFromBlob(metadataOf(*file), /*Multi=*/false)) {
    why = "expected metadata in the notes of the binary, got none";
    return failure();
  }
  msgpack::MapDocNode &root = document.getRoot().getMap();
  for (auto &[key, kernels] : root) {
    if (!key.getString().ends_with(".kernels")) {
      continue;
    }
    for (msgpack::DocNode &node : kernels.getArray()) {
      msgpack::MapDocNode &kernel = node.getMap();
      if (kernel[".name"].getString() == symbol) {
        BinaryFacts facts = factsOf(kernel);
        facts.symbol = symbol.str();
        return facts;
      }
    }
  }
  why = "expected a kernel '" + symbol.str() + "' in the binary, got others";
  return failure();
}

//===----------------------------------------------------------------------===//
// Reports
//===----------------------------------------------------------------------===//

/// The number in front of a word, "168" of "Used 168 registers"; 0: not there.
static int64_t numberBefore(StringRef text, StringRef words) {
  Regex pattern(("([0-9]+)[ ]*" + words).str());
  SmallVector<StringRef, 2> matches;
  int64_t number = 0;
  if (pattern.match(text, &matches)) {
    matches[1].getAsInteger(10, number);
  }
  return number;
}

/// Bytes and alignment of one parameter of the intermediate text:
/// ".param .u64 .ptr ... name" or ".param .align 64 .b8 name[128]".
static std::pair<int64_t, int64_t> sizeOfParameter(StringRef line) {
  Regex aggregate("\\.align ([0-9]+) \\.b8 [^[]*\\[([0-9]+)\\]");
  Regex scalar("\\.param \\.[a-z]([0-9]+)");
  SmallVector<StringRef, 3> matches;
  int64_t bytes = 0, align = 1;
  if (aggregate.match(line, &matches)) {
    matches[1].getAsInteger(10, align);
    matches[2].getAsInteger(10, bytes);
  } else if (scalar.match(line, &matches)) {
    matches[1].getAsInteger(10, bytes);
    bytes /= 8;
    align = bytes;
  }
  return {bytes, align};
}

/// The kernel's declaration, from its name to its body.
static StringRef declarationOf(StringRef assembly, StringRef symbol) {
  size_t begin = assembly.find((".entry " + symbol + "(").str());
  return begin == StringRef::npos ? StringRef()
                                  : assembly.substr(begin).take_until(
                                        [](char c) { return c == '{'; });
}

/// Whether the assembler says that the kernel waits for each of its products.
static bool serialisesProducts(StringRef report, StringRef symbol) {
  SmallVector<StringRef> lines;
  report.split(lines, '\n');
  std::string name = ("'" + symbol + "'").str();
  return llvm::any_of(lines, [&](StringRef line) {
    return line.contains("instructions are serialized") && line.contains(name);
  });
}

FailureOr<BinaryFacts> modelc::factsFromReport(StringRef report,
                                               StringRef assembly,
                                               StringRef symbol,
                                               std::string &why) {
  StringRef own =
      report.substr(report.find(("Function properties for " + symbol).str()));
  StringRef declaration = declarationOf(assembly, symbol);
  if (own.empty() || declaration.empty()) {
    why = "expected a report on the kernel '" + symbol.str() +
          "' from the compiler, got:\n" + report.str();
    return failure();
  }
  BinaryFacts facts;
  facts.symbol = symbol.str();
  facts.registers = numberBefore(own, "registers");
  facts.spilledBytes = std::max(numberBefore(own, "bytes stack frame"),
                                numberBefore(own, "bytes spill stores"));
  facts.serialisesProducts = serialisesProducts(report, symbol);
  facts.sharedBytes = numberBefore(own, "bytes smem");
  facts.threads = 0;
  SmallVector<StringRef, 2> matches;
  if (Regex("\\.maxntid ([0-9]+)").match(declaration, &matches)) {
    matches[1].getAsInteger(10, facts.threads);
  }
  SmallVector<StringRef> lines;
  declaration.split(lines, '\n');
  int64_t offset = 0;
  for (StringRef line : lines) {
    if (!line.trim().starts_with(".param")) {
      continue;
    }
    auto [bytes, align] = sizeOfParameter(line);
    offset = llvm::alignTo(offset, align);
    facts.argumentOffsets.push_back(offset);
    offset += bytes;
  }
  return facts;
}
