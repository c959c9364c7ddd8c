//===- PtxOperand.h - Operands of matrix instructions ---------------------===//
//
// Operands in shared memory are named by descriptors: a grid of core matrices
// of 8 rows x 16 bytes. Descriptors are taken apart field by field, and every
// address is computed and swizzled as the hardware does.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_CHECK_PTX_PTXOPERAND_H
#define LIB_CHECK_PTX_PTXOPERAND_H

#include "lib/Check/Formats.h"
#include "lib/Check/Ptx/PtxLanes.h"

namespace modelc::ptx {

/// Which dimension is contiguous.
enum class Major : uint8_t { Depth, Rows };

/// A descriptor, taken apart.
struct SharedOperand {
  uint32_t address = 0, leadingBytes = 0, strideBytes = 0, swizzleBytes = 0;
  Major major = Major::Depth;
  uint32_t elementBytes = 2;
  check::Format format = check::Format::Bf16;
};

/// The descriptor's generations differ in where the swizzle stands.
enum class Generation : uint8_t { Group, Tensor };
/// Fails when fields are not what the instruction takes.
bool decodeDescriptor(Warp &warp, uint64_t descriptor, Generation generation,
                      SharedOperand &to);

/// The same operand where the workgroup of a rank has it.
SharedOperand inWorkgroup(SharedOperand operand, unsigned rank);

/// Notes a read of rows x depth elements by a unit.
bool touchOperand(Warp &warp, const SharedOperand &operand, unsigned firstRow,
                  unsigned rows, unsigned depth, Stamp stamp);
/// Reads elements (firstRow + r, k) into out[r * rowStep + k * depthStep]. Of
/// numbers of four bits `depth` counts bytes, k numbers.
void readOperand(const Block &block, const SharedOperand &operand,
                 unsigned firstRow, unsigned rows, unsigned depth, float *out,
                 unsigned rowStep, unsigned depthStep);

/// d[rows, columns] += a[rows, depth] b[depth, columns], sums in the order of
/// k.
void multiply(float *d, const float *a, const float *b, unsigned rows,
              unsigned columns, unsigned depth);

constexpr unsigned kFragmentRows = 16;
/// 16 rows of A from four registers of 32 lanes: lane l has rows l / 4 and
/// l / 4 + 8, the units of k l % 4 (registers 0, 1) and l % 4 + 4 (2, 3).
void readFragment(Warp &warp, llvm::ArrayRef<Operand> registers,
                  check::Format format, unsigned elementBytes, float *out);
/// Calls visit(lane, register, row, column) for a 16 x columns accumulator.
template <typename Visit>
void forAccumulator(unsigned columns, Visit visit) {
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    for (unsigned r = 0; r < columns / 2; ++r) {
      visit(lane, r, lane / 4 + r % 4 / 2 * 8,
            r / 4 * 8 + lane % 4 * 2 + r % 2);
    }
  }
}

/// The format of an operand type ("bf16", "e4m3"); false if it is not known.
bool formatNamed(llvm::StringRef name, check::Format &format);

} // namespace modelc::ptx

#endif // LIB_CHECK_PTX_PTXOPERAND_H
