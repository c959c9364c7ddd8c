//===- Case.cpp - The JSON that says what to run --------------------------===//

#include "lib/Check/Check.h"
#include "lib/Support/Support.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <bit>

using namespace llvm;
using namespace modelc;

namespace {
/// Reads members of a case and says where a mistake is.
struct CaseReader {
  const SourceFile &file;
  raw_ostream &errors;

  LogicalResult error(const Node &at, const Twine &message) {
    file.error(errors, at.place, message);
    return failure();
  }
  std::string resolve(const Node &path) {
    SmallString<128> full(path.string);
    if (sys::path::is_relative(full)) {
      full = sys::path::parent_path(file.name());
      sys::path::append(full, path.string);
    }
    return std::string(full);
  }
  LogicalResult readText(const Node &table, StringRef key, std::string &to);
  LogicalResult readExtent(const Node &table, StringRef key,
                           std::array<uint32_t, 3> &to);
  LogicalResult readArgument(const Node &node, CheckArgument &to);
  LogicalResult readMap(const Node &node, CheckArgument &to);
  LogicalResult readNumbers(const Node &table, StringRef key,
                            std::vector<uint64_t> &to);
  LogicalResult readOutput(const Node &node, const CheckCase &of,
                           CheckOutput &to);
  LogicalResult readLists(const Node &root, CheckCase &to);
};
} // namespace

LogicalResult CaseReader::readText(const Node &table, StringRef key,
                                   std::string &to) {
  const Node *node = table.find(key);
  if (!node || !node->isString()) {
    return error(node ? *node : table,
                 "expected \"" + key + "\" to be a string");
  }
  to = node->string;
  return success();
}

/// `n` or `[x, y, z]`.
LogicalResult CaseReader::readExtent(const Node &table, StringRef key,
                                     std::array<uint32_t, 3> &to) {
  const Node *node = table.find(key);
  if (!node) {
    return error(table, "expected \"" + key + "\": a number or [x, y, z]");
  }
  std::vector<Node> items = node->isArray() ? node->items : std::vector{*node};
  if (items.empty() || items.size() > 3) {
    return error(*node,
                 "expected one to three numbers, got " + Twine(items.size()));
  }
  for (size_t axis = 0; axis < items.size(); ++axis) {
    if (!items[axis].isInteger() || items[axis].integer < 1) {
      return error(items[axis],
                   "expected a positive integer, got " + items[axis].print());
    }
    to[axis] = uint32_t(items[axis].integer);
  }
  return success();
}

/// The bytes of a number of a type.
static bool appendValue(const Node &node, StringRef type,
                        std::vector<uint8_t> &to) {
  uint64_t bits = 0;
  unsigned bytes = type.ends_with("64") ? 8 : 4;
  if ((type == "f32" || type == "f64") && node.isNumber()) {
    bits = bytes == 8 ? std::bit_cast<uint64_t>(node.number)
                      : std::bit_cast<uint32_t>(float(node.number));
  } else if ((type == "i32" || type == "i64") && node.isInteger()) {
    bits = uint64_t(node.integer);
  } else {
    return false;
  }
  for (unsigned byte = 0; byte < bytes; ++byte) {
    to.push_back(uint8_t(bits >> 8 * byte));
  }
  return true;
}

LogicalResult CaseReader::readNumbers(const Node &table, StringRef key,
                                      std::vector<uint64_t> &to) {
  const Node *node = table.find(key);
  if (!node || !node->isArray()) {
    return error(node ? *node : table,
                 "expected \"" + key + "\" to be an array of numbers");
  }
  for (const Node &item : node->items) {
    if (!item.isInteger() || item.integer < 0) {
      return error(item, "expected a number, got " + item.print());
    }
    to.push_back(uint64_t(item.integer));
  }
  return success();
}

/// {"buffer": file, "element_bytes": n, "sizes": [...], "strides": [...],
/// "box": [...]} and, if not 0, "offset" and "swizzle".
LogicalResult CaseReader::readMap(const Node &node, CheckArgument &to) {
  CheckMap &map = to.map.emplace();
  to.isBuffer = true;
  const Node *bytes = node.find("element_bytes");
  if (failed(readText(node, "buffer", to.file)) ||
      failed(readNumbers(node, "sizes", map.sizes)) ||
      failed(readNumbers(node, "strides", map.strides)) ||
      failed(readNumbers(node, "box", map.box))) {
    return failure();
  }
  if (!bytes || !bytes->isInteger() || map.sizes.size() != map.box.size() ||
      map.sizes.size() != map.strides.size() + 1 || map.sizes.size() > 5) {
    return error(node,
                 "expected \"element_bytes\", a size and an extent of the "
                 "box for each of 1 to 5 dimensions, and a stride for "
                 "each but the first");
  }
  to.file = resolve(*node.find("buffer"));
  map.elementBytes = uint32_t(bytes->integer);
  const Node *offset = node.find("offset"), *swizzle = node.find("swizzle");
  to.offset = offset ? uint64_t(offset->integer) : 0;
  map.swizzleBytes = swizzle ? uint32_t(swizzle->integer) : 0;
  return success();
}

LogicalResult CaseReader::readArgument(const Node &node, CheckArgument &to) {
  StringRef wanted = "expected an argument: {\"buffer\": file}, "
                     "{\"buffer_bytes\": n}, {\"addresses\": [file, ...]}, "
                     "{\"map\": {...}} or {\"i32\", "
                     "\"i64\", \"f32\" or \"f64\": value}";
  const Node *offset = node.isTable() ? node.find("offset") : nullptr;
  const Node *constant = node.isTable() ? node.find("constant") : nullptr;
  size_t members = 1 + (offset ? 1 : 0) + (constant ? 1 : 0);
  if (!node.isTable() || node.members.size() != members ||
      (offset && !offset->isInteger()) ||
      (constant && !constant->isBoolean())) {
    return error(node, wanted);
  }
  to.offset = offset ? uint64_t(offset->integer) : 0;
  to.isConstant = constant && constant->boolean;
  const Member &member = node.members.front();
  if (member.key == "buffer" && member.value.isString()) {
    to.isBuffer = true;
    to.file = resolve(member.value);
    return success();
  }
  if (member.key == "addresses" && member.value.isArray()) {
    to.isBuffer = true;
    for (const Node &item : member.value.items) {
      if (!item.isString()) {
        return error(item, "expected a file, got " + item.print());
      }
      to.pointees.push_back(resolve(item));
    }
    return success();
  }
  if (member.key == "map" && member.value.isTable()) {
    return readMap(member.value, to);
  }
  if (member.key == "buffer_bytes" && member.value.isInteger()) {
    to.isBuffer = true;
    to.bufferBytes = uint64_t(member.value.integer);
    return success();
  }
  return appendValue(member.value, member.key, to.value) ? success()
                                                         : error(node, wanted);
}

LogicalResult CaseReader::readOutput(const Node &node, const CheckCase &of,
                                     CheckOutput &to) {
  const Node *argument = node.find("argument"), *path = node.find("file");
  const Node *buffer = node.find("buffer");
  if (buffer && buffer->isString() && path && path->isString()) {
    to = {0, resolve(*buffer), resolve(*path)};
    return success();
  }
  if (!argument || !argument->isInteger() || !path || !path->isString()) {
    return error(node, "expected {\"argument\": number, \"file\": name}, or "
                       "a \"buffer\" that others point to");
  }
  uint64_t number = uint64_t(argument->integer);
  if (number >= of.arguments.size() || !of.arguments[number].isBuffer) {
    return error(*argument, "expected the number of a buffer, counted from 0");
  }
  to = {unsigned(number), "", resolve(*path)};
  return success();
}

LogicalResult CaseReader::readLists(const Node &root, CheckCase &to) {
  const Node *arguments = root.find("arguments");
  if (!arguments || !arguments->isArray()) {
    return error(root, "expected \"arguments\" to be an array");
  }
  for (const Node &node : arguments->items) {
    if (failed(readArgument(node, to.arguments.emplace_back()))) {
      return failure();
    }
  }
  const Node *outputs = root.find("outputs");
  if (!outputs) {
    return success();
  }
  for (const Node &node : outputs->items) {
    if (failed(readOutput(node, to, to.outputs.emplace_back()))) {
      return failure();
    }
  }
  return success();
}

FailureOr<CheckCase> modelc::readCheckCase(StringRef path,
                                           raw_ostream &errors) {
  FailureOr<SourceFile> file = SourceFile::read(path, errors);
  if (failed(file)) {
    return failure();
  }
  FailureOr<Node> root = parseJson(*file, errors);
  if (failed(root)) {
    return failure();
  }
  CaseReader reader{*file, errors};
  const StringRef kKeys[] = {"code",        "kernel",  "grid",
                             "block",       "cluster", "dynamic_shared_bytes",
                             "target",      "outputs", "arguments",
                             "starts_early"};
  for (const Member &member : root->members) {
    if (!is_contained(kKeys, member.key)) {
      file->error(errors, member.place,
                  "unknown key \"" + member.key + "\"" +
                      didYouMean(member.key, kKeys));
      return failure();
    }
  }
  CheckCase result;
  if (failed(reader.readText(*root, "code", result.code)) ||
      failed(reader.readText(*root, "kernel", result.kernel)) ||
      failed(reader.readExtent(*root, "grid", result.grid)) ||
      failed(reader.readExtent(*root, "block", result.block)) ||
      failed(reader.readLists(*root, result))) {
    return failure();
  }
  result.code = reader.resolve(*root->find("code"));
  if (const Node *target = root->find("target")) {
    result.target = target->string;
  }
  if (const Node *bytes = root->find("dynamic_shared_bytes")) {
    result.dynamicSharedBytes = uint32_t(bytes->integer);
  }
  if (const Node *cluster = root->find("cluster")) {
    result.cluster = std::max(uint32_t(cluster->integer), 1u);
  }
  if (const Node *early = root->find("starts_early")) {
    if (!early->isBoolean()) {
      file->error(errors, early->place,
                  "expected \"starts_early\" to be true or false");
      return failure();
    }
    result.startsEarly = early->boolean;
  }
  return result;
}
