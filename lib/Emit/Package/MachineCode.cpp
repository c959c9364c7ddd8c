//===- MachineCode.cpp - Loops of a compiler's text -----------------------===//
//
// Blocks begin at labels and end at jumps. An edge to a block that is still
// being walked closes a loop; its blocks are those that reach the edge without
// the loop's first block. An instruction belongs to the smallest loop around.
//
//===----------------------------------------------------------------------===//

#include "lib/Emit/Package/MachineCode.h"

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <array>
#include <map>
#include <numeric>

using namespace llvm;
using namespace modelc;

/// Waits that no compiler drops, moves or joins: a copy of a trip has them all.
static constexpr StringLiteral kWaits[] = {"wait_group", "try_wait",
                                           "bar.sync"};

/// Statements after which the next one does not run.
static constexpr StringLiteral kLeaves[] = {"bra", "bra.uni", "s_branch",
                                            "ret", "exit",    "s_endpgm"};

namespace {
struct CodeBlock {
  std::vector<std::pair<std::string, size_t>> jumps; // to a label, from a line
  SmallVector<unsigned, 2> next, before;
  int64_t matrix = 0;
  std::array<int64_t, std::size(kWaits)> waits = {};
  bool fallsThrough = true;
};

class ControlFlow {
public:
  ControlFlow(StringRef assembly, const std::set<std::string> &mnemonics);
  MatrixCode matrixCode() const;

private:
  void read(StringRef line, size_t number,
            const std::set<std::string> &mnemonics);
  void connect();
  std::vector<std::pair<unsigned, unsigned>> closingEdges() const;
  BitVector bodyOf(unsigned first, unsigned last) const;
  std::vector<BitVector> loops() const;
  void open() {
    blocks.emplace_back();
    endsBlock = false;
  }

  std::vector<CodeBlock> blocks;
  // Text in line may name the same label again: the nearest one is meant.
  std::map<std::string, std::vector<std::pair<size_t, unsigned>>> labels;
  bool endsBlock = false;
};
} // namespace

static bool isLabel(StringRef word) {
  return !word.empty() && all_of(word, [](char c) {
    return isAlnum(c) || c == '_' || c == '$' || c == '.' || c == '@';
  });
}

ControlFlow::ControlFlow(StringRef assembly,
                         const std::set<std::string> &mnemonics) {
  open();
  SmallVector<StringRef, 0> lines;
  assembly.split(lines, '\n');
  for (auto [number, line] : enumerate(lines)) {
    read(line.split("//").first, number, mnemonics);
  }
  connect();
}

void ControlFlow::read(StringRef line, size_t number,
                       const std::set<std::string> &mnemonics) {
  // One statement a line; ';' ends it or begins a comment.
  StringRef statement = line.split(';').first.trim(" \t{}");
  auto [label, rest] = statement.split(':');
  if (rest.data() && statement.contains(':') && isLabel(label) &&
      !rest.starts_with(":")) {
    open();
    labels[label.str()].push_back({number, blocks.size() - 1});
    statement = rest.trim();
  }
  if (endsBlock) {
    open();
  }
  if (any_of(mnemonics,
             [&](const std::string &name) { return line.contains(name); })) {
    ++blocks.back().matrix;
  }
  for (auto [wait, count] : zip(kWaits, blocks.back().waits)) {
    count += statement.contains(wait);
  }
  SmallVector<StringRef> words;
  statement.split(words, ' ', -1, /*KeepEmpty=*/false);
  SmallVector<StringRef> tabbed;
  for (StringRef word : words) {
    word.split(tabbed, '\t', -1, /*KeepEmpty=*/false);
  }
  if (tabbed.empty()) {
    return;
  }
  bool leaves = is_contained(kLeaves, tabbed.front());
  bool jumps = any_of(tabbed, [](StringRef word) {
    return word.starts_with("bra") || word.contains("branch");
  });
  if (jumps) {
    blocks.back().jumps.push_back({tabbed.back().str(), number});
  }
  blocks.back().fallsThrough = !leaves;
  endsBlock = jumps || leaves;
}

void ControlFlow::connect() {
  for (auto [number, block] : enumerate(blocks)) {
    if (block.fallsThrough && number + 1 < blocks.size()) {
      block.next.push_back(number + 1);
    }
    for (const auto &[label, line] : block.jumps) {
      auto known = labels.find(label);
      if (known == labels.end()) {
        continue;
      }
      auto distance = [&, from = line](const auto &place) {
        return place.first > from ? place.first - from : from - place.first;
      };
      auto nearest = std::min_element(
          known->second.begin(), known->second.end(),
          [&](auto &a, auto &b) { return distance(a) < distance(b); });
      block.next.push_back(nearest->second);
    }
    for (unsigned to : block.next) {
      blocks[to].before.push_back(number);
    }
  }
}

/// (from, to) of each edge back to a block that is still being walked.
std::vector<std::pair<unsigned, unsigned>> ControlFlow::closingEdges() const {
  std::vector<std::pair<unsigned, unsigned>> edges;
  BitVector seen(blocks.size()), active(blocks.size());
  std::vector<std::pair<unsigned, unsigned>> path; // block, edges taken
  for (unsigned start = 0; start < blocks.size(); ++start) {
    if (seen[start]) {
      continue;
    }
    seen.set(start);
    active.set(start);
    path.push_back({start, 0});
    while (!path.empty()) {
      auto &[block, taken] = path.back();
      if (taken == blocks[block].next.size()) {
        active.reset(block);
        path.pop_back();
        continue;
      }
      unsigned to = blocks[block].next[taken++];
      if (active[to]) {
        edges.push_back({block, to});
      } else if (!seen[to]) {
        seen.set(to);
        active.set(to);
        path.push_back({to, 0});
      }
    }
  }
  return edges;
}

BitVector ControlFlow::bodyOf(unsigned first, unsigned last) const {
  BitVector body(blocks.size());
  body.set(first);
  SmallVector<unsigned> open = {last};
  while (!open.empty()) {
    unsigned block = open.pop_back_val();
    if (!body[block]) {
      body.set(block);
      append_range(open, blocks[block].before);
    }
  }
  return body;
}

/// The blocks of each loop, smaller loops first.
std::vector<BitVector> ControlFlow::loops() const {
  std::map<unsigned, BitVector> byFirst;
  for (auto [from, to] : closingEdges()) {
    BitVector body = bodyOf(to, from);
    byFirst.try_emplace(to, body).first->second |= body;
  }
  std::vector<BitVector> sorted;
  for (auto &[first, body] : byFirst) {
    sorted.push_back(std::move(body));
  }
  llvm::sort(sorted, [](const BitVector &a, const BitVector &b) {
    return a.count() < b.count();
  });
  return sorted;
}

MatrixCode ControlFlow::matrixCode() const {
  MatrixCode result;
  BitVector taken(blocks.size());
  for (BitVector &body : loops()) {
    CodeLoop loop;
    std::array<int64_t, std::size(kWaits)> waits = {};
    for (unsigned number : body.set_bits()) {
      const CodeBlock &block = blocks[number];
      loop.matrix += taken[number] ? 0 : block.matrix;
      for (size_t i = 0; i < waits.size(); ++i) {
        waits[i] += taken[number] ? 0 : block.waits[i];
      }
    }
    if (loop.matrix == 0) {
      continue;
    }
    taken |= body;
    int64_t copies = 0;
    for (int64_t count : waits) {
      copies = std::gcd(copies, count);
    }
    loop.copies = std::max<int64_t>(copies, 1);
    result.loops.push_back(loop);
  }
  for (auto [number, block] : enumerate(blocks)) {
    result.outside += taken[number] ? 0 : block.matrix;
  }
  return result;
}

MatrixCode modelc::matrixCodeOf(StringRef assembly,
                                const std::set<std::string> &mnemonics) {
  return ControlFlow(assembly, mnemonics).matrixCode();
}
