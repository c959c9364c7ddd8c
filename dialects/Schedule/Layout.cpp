#include "dialects/Schedule/Layout.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>

using namespace modelc;
using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::StringRef;

/// A row of a matrix over GF(2), bit i = column i.
using Row = uint64_t;

static unsigned rankOf(SmallVector<Row> rows) {
  unsigned rank = 0;
  for (unsigned i = 0; i < rows.size(); ++i) {
    if (!rows[i]) {
      continue;
    }
    ++rank;
    Row pivot = rows[i] & -rows[i];
    for (unsigned j = i + 1; j < rows.size(); ++j) {
      if (rows[j] & pivot) {
        rows[j] ^= rows[i];
      }
    }
  }
  return rank;
}

/// The image as one number: output dimensions side by side, the first lowest.
static Row pack(const Layout::Image &image, ArrayRef<Layout::Output> outputs) {
  Row packed = 0;
  unsigned shift = 0;
  for (auto [value, output] : llvm::zip_equal(image, outputs)) {
    packed |= static_cast<Row>(value) << shift;
    shift += llvm::Log2_32(output.size);
  }
  return packed;
}

static SmallVector<Row> imagesOf(const Layout &layout) {
  SmallVector<Row> rows;
  for (const Layout::Input &input : layout.inputs()) {
    for (const Layout::Image &image : input.bits) {
      rows.push_back(pack(image, layout.outputs()));
    }
  }
  return rows;
}

static unsigned outputBits(const Layout &layout) {
  unsigned bits = 0;
  for (const Layout::Output &output : layout.outputs()) {
    bits += llvm::Log2_32(output.size);
  }
  return bits;
}

const Layout::Input &Layout::input(StringRef name) const {
  static const Input none;
  const auto *it = llvm::find_if(
      ins, [&](const Input &input) { return input.name == name; });
  return it == ins.end() ? none : *it;
}

unsigned Layout::outputIndex(StringRef name) const {
  const auto *it = llvm::find_if(
      outs, [&](const Output &output) { return output.name == name; });
  assert(it != outs.end() && "layout has no such output dimension");
  return it - outs.begin();
}

Layout::Image Layout::apply(ArrayRef<int32_t> values) const {
  assert(values.size() == ins.size() && "one value for each input");
  Image result(outs.size(), 0);
  for (auto [value, input] : llvm::zip_equal(values, ins)) {
    for (auto [bit, image] : llvm::enumerate(input.bits)) {
      if (value >> bit & 1) {
        for (unsigned i = 0; i < outs.size(); ++i) {
          result[i] ^= image[i];
        }
      }
    }
  }
  return result;
}

unsigned Layout::rank() const { return rankOf(imagesOf(*this)); }

bool Layout::isSurjective() const { return rank() == outputBits(*this); }

bool Layout::isInjective() const { return rank() == imagesOf(*this).size(); }

std::optional<Layout> Layout::inverse() const {
  // Gauss-Jordan on [image | input bits]: a row is (output bits, input bits).
  SmallVector<std::pair<Row, Row>> rows;
  for (auto [bit, image] : llvm::enumerate(imagesOf(*this))) {
    rows.push_back({image, Row(1) << bit});
  }
  SmallVector<Row> preimage;
  unsigned done = 0;
  for (unsigned bit = 0; bit < outputBits(*this); ++bit) {
    Row mask = Row(1) << bit;
    auto *pivot = std::find_if(rows.begin() + done, rows.end(),
                               [&](auto &row) { return row.first & mask; });
    if (pivot == rows.end()) {
      return std::nullopt;
    }
    std::swap(rows[done], *pivot);
    for (unsigned i = 0; i < rows.size(); ++i) {
      if (i != done && (rows[i].first & mask)) {
        rows[i].first ^= rows[done].first;
        rows[i].second ^= rows[done].second;
      }
    }
    ++done;
  }
  for (unsigned bit = 0; bit < done; ++bit) {
    preimage.push_back(rows[bit].second);
  }
  SmallVector<Output> newOutputs;
  for (const Input &input : ins) {
    newOutputs.push_back({input.name, input.size()});
  }
  SmallVector<Input> newInputs;
  unsigned next = 0;
  for (const Output &output : outs) {
    Input input{output.name, {}};
    for (unsigned bit = 0; bit < llvm::Log2_32(output.size); ++bit) {
      Row packed = preimage[next++];
      Image image;
      for (const Output &out : newOutputs) {
        image.push_back(packed & (out.size - 1));
        packed >>= llvm::Log2_32(out.size);
      }
      input.bits.push_back(image);
    }
    newInputs.push_back(input);
  }
  return Layout(newInputs, newOutputs);
}

Layout Layout::then(const Layout &next) const {
  SmallVector<Input> newInputs;
  for (const Input &input : ins) {
    Input mapped{input.name, {}};
    for (const Image &image : input.bits) {
      SmallVector<int32_t> values;
      for (const Input &nextInput : next.inputs()) {
        int32_t value = image[outputIndex(nextInput.name)];
        assert(value < nextInput.size() && "layouts of different sizes");
        values.push_back(value);
      }
      mapped.bits.push_back(next.apply(values));
    }
    newInputs.push_back(mapped);
  }
  return Layout(newInputs, next.outputs());
}

Layout Layout::product(const Layout &other) const {
  SmallVector<Input> newInputs(ins.begin(), ins.end());
  SmallVector<Output> newOutputs(outs.begin(), outs.end());
  for (auto [index, output] : llvm::enumerate(newOutputs)) {
    output.size *= other.outs[index].size;
  }
  for (const Input &input : other.ins) {
    auto *it = llvm::find_if(
        newInputs, [&](const Input &own) { return own.name == input.name; });
    if (it == newInputs.end()) {
      newInputs.push_back({input.name, {}});
      it = &newInputs.back();
    }
    for (Image image : input.bits) {
      for (auto [value, own] : llvm::zip_equal(image, outs)) {
        value *= own.size;
      }
      it->bits.push_back(image);
    }
  }
  return Layout(newInputs, newOutputs);
}

Layout Layout::reduced(StringRef name) const {
  unsigned dimension = outputIndex(name);
  Layout result = *this;
  result.outs[dimension].size = 1;
  for (Input &input : result.ins) {
    for (Image &image : input.bits) {
      image[dimension] = 0;
    }
    if (input.name == "register") {
      llvm::erase_if(input.bits, [](const Image &image) {
        return llvm::all_of(image, [](int32_t value) { return value == 0; });
      });
    }
  }
  return result;
}

Layout Layout::transposed() const {
  assert(outs.size() == 2 && "a transpose has two dimensions");
  Layout result = *this;
  std::swap(result.outs[0].size, result.outs[1].size);
  for (Input &input : result.ins) {
    for (Image &image : input.bits) {
      std::swap(image[0], image[1]);
    }
  }
  return result;
}

int32_t Layout::contiguous(StringRef name, int32_t limit) const {
  unsigned dimension = outputIndex(name);
  int32_t count = 1;
  for (const Image &image : input("register").bits) {
    Image expected(outs.size(), 0);
    expected[dimension] = count;
    if (image != expected || count >= limit) {
      break;
    }
    count *= 2;
  }
  return count;
}

bool Layout::lanesOwnNeighbours(StringRef name, int64_t lanes) const {
  const auto &bits = input("lane").bits;
  unsigned index = outputIndex(name);
  unsigned count = llvm::Log2_64(lanes);
  return bits.size() >= count && llvm::all_of(llvm::seq(count), [&](auto bit) {
           return llvm::all_of(
               llvm::enumerate(bits[bit]), [&](const auto &image) {
                 int32_t step = image.index() == index ? 1 << bit : 0;
                 return image.value() == step;
               });
         });
}

void Layout::print(llvm::raw_ostream &os) const {
  os << "(";
  llvm::interleaveComma(ins, os, [&](const Input &input) {
    os << input.name << " = [";
    llvm::interleaveComma(input.bits, os, [&](const Image &image) {
      llvm::interleave(image, os, ":");
    });
    os << "]";
  });
  os << ") -> (";
  llvm::interleaveComma(outs, os, [&](const Output &output) {
    os << output.name << " = " << output.size;
  });
  os << ")";
}

SmallVector<uint64_t> modelc::servedTogether(const Layout &lanesToByte,
                                             const Layout &phase) {
  // Lanes of one phase form a coset of the kernel of `phase`: combinations of
  // lane bits that elimination leaves without a phase.
  SmallVector<std::pair<Row, Row>> rows;
  const Layout::Input &served = phase.input("lane");
  for (auto [bit, image] : llvm::enumerate(lanesToByte.input("lane").bits)) {
    Row number = bit < served.bits.size()
                     ? pack(served.bits[bit], phase.outputs())
                     : Row(0);
    rows.push_back({number, Row(image[0])});
  }
  SmallVector<uint64_t> bytes;
  for (unsigned i = 0; i < rows.size(); ++i) {
    auto [number, byte] = rows[i];
    if (!number) {
      bytes.push_back(byte);
      continue;
    }
    for (unsigned j = i + 1; j < rows.size(); ++j) {
      if (rows[j].first & number & -number) {
        rows[j].first ^= number;
        rows[j].second ^= byte;
      }
    }
  }
  return bytes;
}

unsigned modelc::bankConflictDegree(ArrayRef<uint64_t> bytes, unsigned banks,
                                    unsigned bankBytes) {
  SmallVector<Row> words, bankBits;
  for (uint64_t byte : bytes) {
    words.push_back(byte / bankBytes);
    bankBits.push_back(words.back() % banks);
  }
  return 1u << (rankOf(words) - rankOf(bankBits));
}

unsigned modelc::bankConflictDegree(const Layout &lanesToByte,
                                    const Layout &phase, unsigned banks,
                                    unsigned bankBytes) {
  return bankConflictDegree(servedTogether(lanesToByte, phase), banks,
                            bankBytes);
}
