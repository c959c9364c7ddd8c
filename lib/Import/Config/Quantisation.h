//===- Quantisation.h - Tables of a checkpoint about its numbers ----------===//

#ifndef LIB_IMPORT_CONFIG_QUANTISATION_H
#define LIB_IMPORT_CONFIG_QUANTISATION_H

#include "lib/Import/Reader.h"

namespace modelc {

/// The word of --weights that is the format of the linears, or empty where they
/// are not quantised. `table` is a "quantization_config", or what
/// hf_quant_config.json has.
llvm::StringRef readLinearFormat(TableReader &table);

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
