#include "lib/Kernels/Rows/SixBits.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace modelc;
using namespace modelc::kernels;

/// Numbers of a block, and words of 8 bytes that it fills: a head of two, and a
/// tail.
static constexpr int64_t kNumbers = 32, kWords = 3, kWordsOfHead = 2;
/// Blocks that rows are padded to: 64 bytes of tails.
static constexpr int64_t kWholeBlocks = 8;

static Type wordOf(KernelBuilder &k) { return k.builder.getI64Type(); }
static VectorType wordsOf(KernelBuilder &k, int64_t count) {
  return VectorType::get({count}, wordOf(k));
}

bool kernels::hasTails(Type number) {
  return isa<Float6E2M3FNType, Float6E3M2FNType>(number);
}

Type kernels::blockOfSixBits(Type number) {
  return VectorType::get({kNumbers}, number);
}

int64_t kernels::tailBytes(int64_t numbers) {
  return numbers / kNumbers * (kWords - kWordsOfHead) * 8;
}

int64_t kernels::blocksOfRow(int64_t columns) {
  int64_t blocks = llvm::divideCeil(columns, kNumbers);
  return static_cast<int64_t>(llvm::alignTo(blocks, kWholeBlocks));
}

int64_t kernels::firstTail(int64_t columns) {
  return blocksOfRow(columns) * kWordsOfHead;
}

std::string kernels::tailsOf(StringRef name) { return (name + "_tails").str(); }

Views kernels::declareViews(KernelBuilder &k, StringRef name, int64_t rows,
                            int64_t columns, ArrayRef<int64_t> inner) {
  int64_t words = blocksOfRow(columns) * kWords;
  auto declare = [&](StringRef own, int64_t extent, Type element) {
    SmallVector<int64_t> shape = {rows, extent};
    for (int64_t size : inner) {
      shape[1] /= size;
      shape.push_back(size);
    }
    return k.buffer(own, shape, element);
  };
  Views views;
  views.heads = declare(name, words / kWordsOfHead, wordsOf(k, kWordsOfHead));
  views.tails = declare(tailsOf(name), words, wordOf(k));
  return views;
}

/// Operations on the words of an element.
namespace {
struct Words {
  KernelBuilder &k;

  Scalar at(Scalar words, int64_t index) const {
    return numberOf(words, index);
  }
  Scalar list(ArrayRef<Scalar> words) const {
    SmallVector<Value> values(words);
    auto type = wordsOf(k, static_cast<int64_t>(words.size()));
    return {&k, vector::FromElementsOp::create(
                    k.builder, k.builder.getUnknownLoc(), type, values)};
  }
  Scalar as(Type type, Scalar bits) const {
    return {&k, vector::BitCastOp::create(k.builder, k.builder.getUnknownLoc(),
                                          type, bits.value)};
  }
};
} // namespace

Value kernels::join(KernelBuilder &k, StringRef name, Type number, Value heads,
                    Value tails) {
  Words words{k};
  return k.map(name, blockOfSixBits(number), {heads, tails}, [&](Element e) {
    return words.as(blockOfSixBits(number),
                    words.list({words.at(e[0], 0), words.at(e[0], 1), e[1]}));
  });
}

Views kernels::separate(KernelBuilder &k, Value blocks) {
  Words words{k};
  auto bits = [&](Element e) { return words.as(wordsOf(k, kWords), e[0]); };
  Views tiles;
  tiles.heads =
      k.map("heads", wordsOf(k, kWordsOfHead), blocks, [&](Element e) {
        Scalar all = bits(e);
        return words.list({words.at(all, 0), words.at(all, 1)});
      });
  tiles.tails = k.map("tails", wordOf(k), blocks, [&](Element e) {
    return words.at(bits(e), kWordsOfHead);
  });
  return tiles;
}
