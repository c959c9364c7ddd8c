//===- Experts.h - What readers of families share -------------------------===//

#ifndef LIB_IMPORT_CONFIG_EXPERTS_H
#define LIB_IMPORT_CONFIG_EXPERTS_H

#include "lib/Import/Config/Architecture.h"

namespace modelc {

/// How many experts there are, and how many a token goes through.
ExpertsShape readCounts(TableReader &config, llvm::StringRef countKey,
                        const Architecture &architecture);

/// Which layers have experts.
void markExperts(DecoderShape &shape, llvm::function_ref<bool(int64_t)> has);

/// Sizes and scale of latent attention.
void readLatent(TableReader &config, DecoderShape &shape);

/// Says that layers which draft tokens are left out, if there are some.
void noteDrafts(TableReader &config, llvm::StringRef key);

} // namespace modelc

#endif // LIB_IMPORT_CONFIG_EXPERTS_H
