//===- Manifest.cpp - manifest.json ---------------------------------------===//
//
// The contract of a package, for loaders and other hosts: each kernel with its
// arguments, guard and launch, each plan with its bindings and steps. Launch
// expressions are text over the sizes and the derived sizes of the plan, with
// the functions minimum, maximum, ceilDiv, floorDiv and select (condition, what
// if it holds, what else). A guard holds where each of its sizes lies in one of
// its ranges. Keys and their order never depend on the input.
//
//===----------------------------------------------------------------------===//

#include "lib/Emit/Host/HostPlan.h"
#include "lib/Emit/Package/EvidenceJson.h"
#include "lib/Emit/Package/Files.h"
#include "lib/Emit/Package/LoaderJson.h"
#include "lib/Text/Text.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"

using namespace mlir;
using namespace modelc;
using namespace modelc::schedule;
using llvm::json::fixUTF8;
using llvm::json::OStream;

static constexpr int kManifestVersion = 2;

static void writeShape(OStream &json, ArrayRef<int64_t> shape) {
  json.attributeArray("shape", [&] {
    for (int64_t extent : shape) {
      extent < 0 ? json.value("?") : json.value(extent);
    }
  });
}

static std::string layoutText(BufferType type) {
  std::string text;
  llvm::raw_string_ostream os(text);
  type.getPacked().getLayout().print(os);
  return text;
}

static void writeMap(OStream &json, const HostKernel &kernel,
                     const BoxMap &map) {
  json.attribute("kind", "tensor_map");
  json.attribute("of", kernel.argumentName(map.argument));
  json.attributeArray("box", [&] {
    json.value(map.boxRows);
    json.value(map.boxColumns);
  });
  json.attribute("row_dimension", map.rowDimension);
  json.attribute("swizzle_bytes", map.swizzleBytes);
}

static void writeParameter(OStream &json, const HostKernel &kernel,
                           const Parameter &parameter) {
  json.object([&] {
    json.attribute("name", parameter.name);
    if (parameter.kind == Parameter::Kind::Map) {
      return writeMap(json, kernel, kernel.interface.maps[parameter.index]);
    }
    if (parameter.kind == Parameter::Kind::Size) {
      json.attribute("kind", "size");
      json.attribute("dtype", "i32");
      return;
    }
    BufferType type = kernel.bufferType(parameter.index);
    bool isTable = parameter.kind == Parameter::Kind::Peers;
    json.attribute("kind", isTable ? "peers" : "buffer");
    BufferRole role = kernel.role(parameter.index);
    json.attribute("access", !role.isWritten ? "read"
                             : role.isRead   ? "read_write"
                                             : "write");
    json.attribute("dtype", typeName(type.getElementType()));
    writeShape(json, type.getShape());
    json.attribute("align", 16);
    if (type.getPacked()) {
      json.attribute("layout", layoutText(type));
    }
  });
}

static void writeGuard(OStream &json, KernelOp kernel) {
  json.attributeArray("guard", [&] {
    for (const SizeDemand &demand : kernel.getDemands()) {
      json.object([&] {
        json.attribute("size", demand.argument);
        json.attributeArray("ranges", [&] {
          for (RangeAttr range : demand.ranges) {
            json.object([&] {
              json.attribute("minimum", range.getMinimum());
              json.attribute("maximum", range.getMaximum());
              json.attribute("multiple", range.getMultiple());
            });
          }
        });
      });
    }
  });
}

static void writeLaunch(OStream &json, const HostKernel &kernel) {
  KernelOp op = kernel.op;
  json.attributeObject("launch", [&] {
    json.attribute("grid", kernel.grid);
    json.attribute("threads", kernel.threads);
    json.attribute("waves", static_cast<int64_t>(op.getWaves()));
    json.attribute("cluster", kernel.cluster);
    json.attribute("shared_bytes", kernel.sharedBytes);
    json.attribute("dynamic_shared_bytes", kernel.dynamicBytes);
    json.attribute("tensor_columns",
                   static_cast<int64_t>(op.getTensorColumns().value_or(0)));
  });
}

static void writePrediction(OStream &json, const Prediction &prediction) {
  json.attributeObject("predicted", [&] {
    writeNumber(json, "seconds", prediction.seconds);
    writeNumber(json, "joules", prediction.joules);
  });
}

static void writeKernel(OStream &json, const HostKernel &kernel,
                        const PackageFile &source, const Target &target,
                        const PackageOptions &options) {
  KernelOp op = kernel.op;
  json.object([&] {
    json.attribute("op", kernel.opName);
    json.attribute("symbol", kernel.symbol);
    json.attribute("source", source.path);
    json.attribute("sha256", sha256(source.text));
    json.attribute("binary", binaryPath(kernel.symbol, target));
    json.attributeArray("arguments", [&] {
      for (const Parameter &parameter : kernel.interface.parameters) {
        writeParameter(json, kernel, parameter);
      }
    });
    writeGuard(json, op);
    writeLaunch(json, kernel);
    json.attribute("schedule", fixUTF8(op.getNote().value_or("")));
    auto found = options.predictions.find(kernel.symbol);
    if (found != options.predictions.end()) {
      writePrediction(json, found->second);
    }
    writeEvidence(json, kernel, target, options);
  });
}

//===----------------------------------------------------------------------===//
// Plans
//===----------------------------------------------------------------------===//

/// Where among the words of a group of rows that of row r lies.
static std::string placeInGroup(BufferType type, const std::string &rows) {
  std::string text = "r % " + rows;
  if (!type.getPacked()) {
    return text;
  }
  auto words = type.getPacked().getLayout().input("column").bits;
  std::string together = std::to_string(int64_t(1) << words.size());
  text += " / " + together + " * " + together;
  for (size_t from = 0, to; from < words.size(); from = to) {
    // Neighbouring bits that stay neighbours move as one.
    for (to = from + 1; to < words.size() &&
                        words[to].front() == words[from].front() << (to - from);
         ++to) {
    }
    auto times = [](StringRef sign, int64_t number) {
      return number == 1 ? "" : (sign + Twine(number)).str();
    };
    text += " + r" + times(" / ", int64_t(1) << from) + " % " +
            std::to_string(int64_t(1) << (to - from)) +
            times(" * ", words[from].front() / kScalesPerWord);
  }
  return text;
}

/// How numbers lie where their type does not say it, or empty.
static std::string encodingOf(const HostBuffer &buffer) {
  Type number = numberType(buffer.type().getElementType());
  if (isa<Float8E4M3FNUZType>(number)) {
    return "half of the f8E4M3FN number: its bits, but 0 for -0 and 0x80 for "
           "NaN";
  }
  if (isa<Float4E2M1FNType>(number)) {
    return "two numbers in a byte, the first in the lower bits";
  }
  if (isa<Float6E2M3FNType>(number)) {
    return "32 numbers in 24 bytes, the first in the lowest bits; a row holds "
           "the first 16 bytes of all, then the last 8";
  }
  if (packedNumbers(buffer.type().getElementType()) != kScalesPerWord) {
    return "";
  }
  std::string rows = std::to_string(buffer.shape().back());
  std::string blocks = std::to_string(kScalesPerWord);
  return "scale of row r and block b: byte b % " + blocks + " of word [r / " +
         rows + ", b / " + blocks + ", " + placeInGroup(buffer.type(), rows) +
         "]";
}

static void writeBinding(OStream &json, const HostBuffer &buffer) {
  json.object([&] {
    json.attribute("name", buffer.name);
    json.attribute("role", stringifyStorageRole(buffer.role));
    json.attribute("first", buffer.first);
    json.attribute("count", buffer.count);
    json.attribute("dtype", typeName(buffer.type().getElementType()));
    writeShape(json, buffer.shape());
    if (std::string source = buffer.source(); !source.empty()) {
      json.attribute("source", fixUTF8(source));
    }
    if (buffer.role == StorageRole::Cache) {
      json.attribute("row", "page * page_size + slot");
    }
    if (std::string encoding = encodingOf(buffer); !encoding.empty()) {
      json.attribute("encoding", encoding);
    }
    writeOrder(json, buffer);
    if (buffer.layer) {
      json.attribute("first_layer", buffer.firstLayer);
      if (buffer.layerStep > 1) {
        json.attribute("layer_step", buffer.layerStep);
      }
    }
    if (buffer.role == StorageRole::Peer) {
      json.attribute("table", buffer.first + 1);
    }
  });
}

static void writeWorkspace(OStream &json, const HostPlan &plan) {
  json.attributeArray("workspace", [&] {
    for (const HostSlot &slot : plan.slots) {
      json.object([&] {
        json.attribute("bytes", slot.bytes);
        json.attributeArray("buffers", [&] {
          for (unsigned buffer : slot.buffers) {
            json.value(plan.workspace[buffer].name);
          }
        });
      });
    }
  });
}

static std::string argumentText(const HostPlan &plan, Value argument) {
  for (const std::vector<HostBuffer> *list :
       {&plan.bindings, &plan.workspace}) {
    for (const HostBuffer &buffer : *list) {
      if (AllocOp(buffer.op).getResult() == argument) {
        return buffer.name;
      }
    }
  }
  // printPlan has reported what cannot be spelled.
  FailureOr<std::string> text = plan.sizes.text(argument);
  return succeeded(text) ? *text : "";
}

static void writeSteps(OStream &json, const HostPlan &plan,
                       const HostModule &kernels, Block &block) {
  for (Operation &op : block) {
    if (auto loop = dyn_cast<LoopOp>(op)) {
      json.object([&] {
        HostPlan inner = plan;
        inner.sizes.add(loop.getInductionVars()[0], "layer");
        Value upper = loop.getUpperBounds()[0];
        Value condition = conditionOf(loop.getLowerBounds()[0], upper);
        json.attribute(condition ? "if" : "loop",
                       argumentText(plan, condition ? condition : upper));
        if (!loop.getSteps().empty()) {
          json.attribute("by", argumentText(plan, loop.getSteps()[0]));
        }
        json.attributeArray("steps", [&] {
          writeSteps(json, inner, kernels, loop.getBody().front());
        });
      });
    }
    if (auto collective = dyn_cast<CollectiveOp>(op)) {
      json.object([&] {
        json.attribute("label", fixUTF8(collective.getLabel().value_or("")));
        json.attribute("collective", collective.getVerb());
        json.attribute("buffer", argumentText(plan, collective.getBuffer()));
      });
    }
    auto launch = dyn_cast<LaunchOp>(op);
    if (!launch) {
      continue;
    }
    const HostChoice &choice = kernels.choiceOf(launch);
    json.object([&] {
      json.attribute("label",
                     fixUTF8(launch.getLabel().value_or(choice.opName)));
      json.attribute("op", choice.opName);
      json.attributeArray("kernels", [&] {
        for (unsigned kernel : choice.kernels) {
          json.value(kernels.kernels[kernel].symbol);
        }
      });
      json.attributeArray("arguments", [&] {
        KernelOp kernel = choice.first(kernels.kernels).op;
        for (auto name : kernel.getArgNames().getAsValueRange<StringAttr>()) {
          json.value(argumentText(plan, launch.getArgument(name)));
        }
      });
    });
  }
}

static void writePlan(OStream &json, const HostPlan &plan,
                      const HostModule &kernels) {
  func::FuncOp op = plan.op;
  json.object([&] {
    json.attribute("name", plan.name);
    json.attribute("ranks", plan.ranks);
    json.attributeArray("sizes", [&] {
      for (const std::string &name : plan.sizeNames) {
        json.value(name);
      }
    });
    json.attributeArray("derived", [&] {
      for (const HostSize &size : plan.derived) {
        json.object([&] {
          json.attribute("name", size.name);
          json.attribute("value", size.text);
        });
      }
    });
    json.attributeArray("tensors", [&] {
      for (const HostBuffer &buffer : plan.bindings) {
        writeBinding(json, buffer);
      }
    });
    writeWorkspace(json, plan);
    json.attributeArray("steps", [&] {
      writeSteps(json, plan, kernels, op.getBody().front());
    });
  });
}

static void writeToolchain(OStream &json, const Target &target) {
  json.attributeObject("toolchain", [&] {
    json.attribute("driver", target.compiler.driver);
    json.attributeArray("flags", [&] {
      for (StringRef flag : target.compiler.flags) {
        std::string text = flag.str();
        size_t at = text.find("{isa}");
        if (at != std::string::npos) {
          text.replace(at, 5, target.identity.isa);
        }
        json.value(text);
      }
      json.value("-Iinclude");
    });
  });
}

FailureOr<std::string> modelc::emitManifest(ModuleOp module,
                                            const Target &target,
                                            ArrayRef<PackageFile> sources,
                                            const PackageOptions &options) {
  FailureOr<HostModule> kernels = HostModule::of(module, target);
  if (failed(kernels)) {
    return failure();
  }
  FailureOr<std::vector<HostPlan>> plans = plansOf(module, *kernels);
  if (failed(plans)) {
    return failure();
  }
  assert(sources.size() == kernels->kernels.size() && "one source a kernel");
  std::string text;
  llvm::raw_string_ostream os(text);
  OStream json(os, 1);
  json.object([&] {
    json.attribute("version", kManifestVersion);
    json.attribute("target", target.identity.name);
    json.attribute("isa", target.identity.isa);
    json.attribute("language", target.identity.language);
    writeToolchain(json, target);
    writeNumbers(json, module.getContext());
    json.attributeArray("kernels", [&] {
      for (auto [kernel, source] : llvm::zip_equal(kernels->kernels, sources)) {
        writeKernel(json, kernel, source, target, options);
      }
    });
    json.attributeArray("plans", [&] {
      for (const HostPlan &plan : *plans) {
        writePlan(json, plan, *kernels);
      }
    });
  });
  return text + "\n";
}
