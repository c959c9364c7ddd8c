//===- EvidenceJson.h - What a manifest says for a kernel's speed ---------===//

#ifndef LIB_EMIT_PACKAGE_EVIDENCEJSON_H
#define LIB_EMIT_PACKAGE_EVIDENCEJSON_H

#include "lib/Emit/Host/HostKernels.h"
#include "llvm/Support/JSON.h"

namespace modelc {

/// The member "evidence" of a kernel that the estimate knows.
void writeEvidence(llvm::json::OStream &json, const HostKernel &kernel,
                   const Target &target, const PackageOptions &options);

} // namespace modelc

#endif // LIB_EMIT_PACKAGE_EVIDENCEJSON_H
