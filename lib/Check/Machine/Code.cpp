//===- Code.cpp - Reading code objects ------------------------------------===//

#include "lib/Check/Machine/Code.h"
#include "lib/Support/Support.h"
#include "llvm/BinaryFormat/MsgPackDocument.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace modelc;
using namespace modelc::check;
using Elf = object::ELFObjectFile<object::ELF64LE>;

static LogicalResult say(raw_ostream &errors, StringRef path,
                         const Twine &message) {
  sayError(errors) << "\"" << path << "\": " << message << "\n";
  return failure();
}

/// Copies the parts of the file that are loaded.
static void loadSegments(const Elf &elf, std::vector<Region> &to) {
  auto headers = elf.getELFFile().program_headers();
  if (!headers) {
    consumeError(headers.takeError());
    return;
  }
  for (const auto &header : *headers) {
    if (header.p_type == ELF::PT_LOAD && header.p_filesz) {
      StringRef bytes = elf.getData().substr(header.p_offset, header.p_filesz);
      Region region{"the code object", header.p_vaddr, false, {}};
      region.bytes.assign(bytes.bytes_begin(), bytes.bytes_end());
      region.bytes.resize(header.p_memsz);
      to.push_back(std::move(region));
    }
  }
}

static const uint8_t *bytesAt(const std::vector<Region> &regions,
                              uint64_t address, uint64_t size) {
  for (const Region &region : regions) {
    uint64_t at = address - region.address;
    if (at < region.bytes.size() && size <= region.bytes.size() - at) {
      return region.bytes.data() + at;
    }
  }
  return nullptr;
}

/// The symbol of a name: its address and size.
static std::optional<std::pair<uint64_t, uint64_t>> findSymbol(const Elf &elf,
                                                               StringRef name) {
  for (const object::ELFSymbolRef symbol : elf.symbols()) {
    Expected<StringRef> its = symbol.getName();
    Expected<uint64_t> address = symbol.getAddress();
    if (its && address && *its == name) {
      return std::pair(*address, symbol.getSize());
    }
    consumeError(its.takeError());
    consumeError(address.takeError());
  }
  return std::nullopt;
}

/// The descriptor of 64 bytes, as the AMDGPU usage guide of LLVM lays it out.
static void readDescriptor(const uint8_t *bytes, uint64_t address,
                           Kernel &kernel) {
  auto word = [&](unsigned at) {
    return support::endian::read32le(bytes + at);
  };
  kernel.sharedBytes = word(0);
  kernel.scratchBytes = word(4);
  kernel.argumentBytes = word(8);
  kernel.entry = address + support::endian::read64le(bytes + 16);
  kernel.setupWord1 = word(48);
  kernel.setupWord2 = word(52);
  kernel.properties = support::endian::read16le(bytes + 56);
  kernel.preload = support::endian::read16le(bytes + 58);
}

static uint64_t number(msgpack::MapDocNode &map, StringRef key) {
  auto found = map.find(key);
  return found == map.end() || found->second.getKind() != msgpack::Type::UInt
             ? 0
             : found->second.getUInt();
}
static StringRef text(msgpack::MapDocNode &map, StringRef key) {
  auto found = map.find(key);
  return found == map.end() || !found->second.isString()
             ? StringRef()
             : found->second.getString();
}

static void readKernelNote(msgpack::MapDocNode &note, Kernel &kernel) {
  kernel.vectorRegisters = number(note, ".vgpr_count");
  kernel.accumulationRegisters = number(note, ".agpr_count");
  kernel.scalarRegisters = number(note, ".sgpr_count");
  kernel.vectorSpills = number(note, ".vgpr_spill_count");
  kernel.scalarSpills = number(note, ".sgpr_spill_count");
  kernel.maxBlock = number(note, ".max_flat_workgroup_size");
  auto arguments = note.find(".args");
  if (arguments == note.end() || !arguments->second.isArray()) {
    return;
  }
  for (msgpack::DocNode &node : arguments->second.getArray()) {
    msgpack::MapDocNode &argument = node.getMap();
    kernel.arguments.push_back({text(argument, ".value_kind").str(),
                                uint32_t(number(argument, ".offset")),
                                uint32_t(number(argument, ".size"))});
  }
}

/// Finds the kernel's part of the note; lists the names of all.
static bool readNotes(const Elf &elf, Kernel &kernel,
                      std::vector<std::string> &names) {
  auto sections = elf.getELFFile().sections();
  if (!sections) {
    consumeError(sections.takeError());
    return false;
  }
  bool found = false;
  for (const auto &section : *sections) {
    if (section.sh_type != ELF::SHT_NOTE) {
      continue;
    }
    Error error = Error::success();
    for (auto note : elf.getELFFile().notes(section, error)) {
      msgpack::Document document;
      if (note.getType() != ELF::NT_AMDGPU_METADATA ||
          !document.readFromBlob(note.getDescAsStringRef(4), false) ||
          !document.getRoot().isMap()) {
        continue;
      }
      auto kernels = document.getRoot().getMap().find("amdhsa.kernels");
      if (kernels == document.getRoot().getMap().end()) {
        continue;
      }
      for (msgpack::DocNode &node : kernels->second.getArray()) {
        StringRef name = text(node.getMap(), ".name");
        names.push_back(name.str());
        if (name == kernel.name) {
          readKernelNote(node.getMap(), kernel);
          found = true;
        }
      }
    }
    consumeError(std::move(error));
  }
  return found;
}

FailureOr<CodeObject> modelc::check::readCodeObject(StringRef path,
                                                    StringRef kernelName,
                                                    raw_ostream &errors) {
  ErrorOr<std::unique_ptr<MemoryBuffer>> buffer = MemoryBuffer::getFile(path);
  if (!buffer) {
    return say(errors, path, "cannot be read: " + buffer.getError().message());
  }
  Expected<std::unique_ptr<object::ObjectFile>> file =
      object::ObjectFile::createObjectFile(**buffer);
  if (!file) {
    return say(errors, path,
               "expected a code object, got: " + toString(file.takeError()));
  }
  auto *elf = dyn_cast<Elf>(file->get());
  std::optional<StringRef> processor =
      elf ? elf->tryGetCPUName() : std::nullopt;
  if (!processor) {
    return say(errors, path, "expected a code object of a GPU");
  }
  CodeObject result;
  Kernel &kernel = result.kernel;
  kernel.name = kernelName.str();
  kernel.processor = processor->str();
  std::vector<std::string> names;
  auto descriptor = findSymbol(*elf, kernel.name + ".kd");
  loadSegments(*elf, result.regions);
  if (!readNotes(*elf, kernel, names) || !descriptor) {
    return say(errors, path,
               "expected a kernel \"" + kernelName + "\", got " +
                   (names.empty() ? "none" : join(names, ", ")));
  }
  const uint8_t *bytes = bytesAt(result.regions, descriptor->first, 64);
  if (!bytes) {
    return say(errors, path, "the descriptor of the kernel is not loaded");
  }
  readDescriptor(bytes, descriptor->first, kernel);
  auto code = findSymbol(*elf, kernel.name);
  kernel.codeBytes = code ? code->second : 0;
  return result;
}
