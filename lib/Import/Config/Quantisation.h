//===- Quantisation.h - Tables of a checkpoint about its numbers ----------===//

#ifndef LIB_IMPORT_CONFIG_QUANTISATION_H
#define LIB_IMPORT_CONFIG_QUANTISATION_H

#include "lib/Import/Reader.h"

namespace modelc {

/// A format that is converted when it is loaded: integers of 4 bits.
inline constexpr llvm::StringLiteral kIntegers = "int4";

/// How linears are held, or nothing where they are not quantised; its format is
/// a word of --weights, or `kIntegers`. `table` is a "quantization_config", or
/// what hf_quant_config.json has.
std::optional<HeldFormat> readLinearFormat(TableReader &table);

/// What such a table says of the KV cache.
struct CacheScheme {
  llvm::StringRef word; ///< of --kv; empty: nothing is said
  llvm::StringRef key;  ///< that says it
};

/// Reads it. Schemes that --kv cannot name are a mistake, unless `isAsked`:
/// the user chose another.
CacheScheme readCacheScheme(TableReader &table, bool isAsked);

/// Keys of a table of numbers that say how their scales were found, or that
/// something is not so.
void checkNumberKeys(TableReader &numbers);

} // namespace modelc

#endif // LIB_IMPORT_CONFIG_QUANTISATION_H
