#include "lib/Check/Counts.h"
#include "lib/Hardware/Hardware.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/JSON.h"
#include <map>

using namespace modelc::check;
using llvm::json::OStream;

llvm::StringRef modelc::check::nameOf(Kind kind) {
  static const llvm::StringRef kNames[kKinds] = {
      "scalar",  "scalar_memory", "vector", "transcendental", "lanes",
      "matrix",  "shared",        "global", "copy",           "wait",
      "barrier", "branch",        "other"};
  return kNames[unsigned(kind)];
}

void modelc::check::printInstructions(llvm::ArrayRef<Executed> code,
                                      OStream &json) {
  std::map<llvm::StringRef, uint64_t> kinds, names, matrix;
  uint64_t all = 0;
  for (const Executed &instruction : code) {
    if (instruction.times == 0) {
      continue;
    }
    all += instruction.times;
    kinds[nameOf(instruction.kind)] += instruction.times;
    names[instruction.name] += instruction.times;
    if (instruction.kind == Kind::Matrix) {
      matrix[instruction.name] += instruction.times;
    }
  }
  auto print = [&](llvm::StringRef key, auto &counts) {
    json.attributeObject(key, [&] {
      for (auto [name, count] : counts) {
        json.attribute(name, int64_t(count));
      }
    });
  };
  json.attribute("wave_instructions", int64_t(all));
  print("by_class", kinds);
  print("matrix", matrix);
  print("by_name", names);
}

void modelc::check::printMemory(const Counts &counts, OStream &json) {
  auto put = [&](llvm::StringRef name, uint64_t value) {
    json.attribute(name, int64_t(value));
  };
  json.attributeObject("shared", [&] {
    put("bytes_read", counts.sharedReadBytes);
    put("bytes_written", counts.sharedWrittenBytes);
    put("cycles", counts.sharedCycles);
    put("conflict_cycles", counts.sharedCycles - counts.sharedIdealCycles);
    put("accesses_without_facts", counts.unknownBanks);
  });
  json.attributeObject("global", [&] {
    put("bytes_loaded", counts.loadedBytes);
    put("bytes_stored", counts.storedBytes);
    put("bytes_copied_to_shared", counts.copiedBytes);
    put("bytes_copied_again", counts.repeatedBytes);
    put("lines_of_128", counts.lines);
    put("least_lines", counts.leastLines);
  });
}

void modelc::check::countBanks(Counts &counts, const Target *target,
                               llvm::StringRef kind, unsigned bytes,
                               llvm::ArrayRef<uint32_t> starts) {
  const SharedAccess *row =
      target ? target->shared.access(kind, std::max(4u, bytes)) : nullptr;
  if (!row) {
    ++counts.unknownBanks;
    return;
  }
  // Different words of one bank are served one after the other in a phase.
  std::vector<std::vector<std::vector<uint32_t>>> phases;
  for (unsigned lane = 0; lane < starts.size(); ++lane) {
    unsigned phase = 0;
    for (size_t bit = 0; bit < row->phaseOfLaneBit.size(); ++bit) {
      phase ^= lane >> bit & 1 ? unsigned(row->phaseOfLaneBit[bit]) : 0;
    }
    if (phases.size() <= phase) {
      phases.resize(phase + 1);
    }
    phases[phase].resize(size_t(row->banks));
    if (starts[lane] == kNowhere) {
      continue;
    }
    for (uint32_t word = starts[lane] / 4;
         word <= (starts[lane] + bytes - 1) / 4; ++word) {
      std::vector<uint32_t> &words = phases[phase][word % size_t(row->banks)];
      if (!llvm::is_contained(words, word)) {
        words.push_back(word);
      }
    }
  }
  for (const auto &banks : phases) {
    size_t most = 0;
    for (const auto &words : banks) {
      most = std::max(most, words.size());
    }
    counts.sharedCycles += most;
    counts.sharedIdealCycles += most ? 1 : 0;
  }
}

void modelc::check::countLines(Counts &counts, unsigned bytes,
                               llvm::ArrayRef<uint64_t> addresses) {
  constexpr uint64_t kLine = 128;
  llvm::SmallVector<uint64_t, 128> lines;
  for (uint64_t address : addresses) {
    for (uint64_t line = address / kLine; line <= (address + bytes - 1) / kLine;
         ++line) {
      lines.push_back(line);
    }
  }
  llvm::sort(lines);
  lines.erase(std::unique(lines.begin(), lines.end()), lines.end());
  counts.lines += lines.size();
  counts.leastLines += (addresses.size() * bytes + kLine - 1) / kLine;
}
