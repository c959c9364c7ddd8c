//===- Read.cpp - Text of files that anybody may have written -------------===//
//
// Whatever a path names, reading it ends: only plain files are read, of a size
// that none of our formats needs, and what they hold is text.
//
//===----------------------------------------------------------------------===//

#include "lib/Support/Support.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

namespace modelc {

namespace fs = llvm::sys::fs;

/// More than any description of a model or a machine, tables of measured
/// kernels included, and as much as is read within 1 GiB of memory.
static constexpr uint64_t kMostBytes = 16 << 20;

static constexpr llvm::StringLiteral kUtf8Mark = "\xEF\xBB\xBF";

/// Why the file of that path is not read, or empty.
static std::string reasonAgainst(llvm::StringRef path) {
  fs::file_status status;
  if (std::error_code error = fs::status(path, status)) {
    return error.message();
  }
  if (fs::is_directory(status)) {
    return std::make_error_code(std::errc::is_a_directory).message();
  }
  if (!fs::is_regular_file(status)) {
    return "expected a file, got a pipe or a device";
  }
  if (status.getSize() > kMostBytes) {
    return "expected a file of at most " +
           formatQuantity(double(kMostBytes), "B") + ", got " +
           formatQuantity(double(status.getSize()), "B");
  }
  return "";
}

static llvm::FailureOr<std::string> readBytes(llvm::StringRef path,
                                              llvm::raw_ostream &errors) {
  std::string why = reasonAgainst(path);
  if (why.empty()) {
    llvm::ErrorOr<std::unique_ptr<llvm::MemoryBuffer>> buffer =
        llvm::MemoryBuffer::getFile(path, /*IsText=*/true);
    if (buffer) {
      return (*buffer)->getBuffer().str();
    }
    why = buffer.getError().message();
  }
  sayError(errors) << "cannot read \"" << path << "\": " << why << "\n";
  return llvm::failure();
}

/// The encoding that a mark at the beginning, or the zeros of its letters, give
/// away; empty: perhaps UTF-8.
static llvm::StringRef otherEncoding(llvm::StringRef text) {
  bool isWide = text.starts_with(llvm::StringRef("\xFF\xFE\0\0", 4)) ||
                text.starts_with(llvm::StringRef("\0\0\xFE\xFF", 4));
  bool isTwoBytes = text.starts_with("\xFF\xFE") ||
                    text.starts_with("\xFE\xFF") ||
                    (text.size() > 1 && (text[0] == '\0') != (text[1] == '\0'));
  return isWide ? "UTF-32" : isTwoBytes ? "UTF-16" : "";
}

static llvm::LogicalResult checkText(const SourceFile &file,
                                     llvm::raw_ostream &os) {
  llvm::StringRef encoding = otherEncoding(file.text());
  if (!encoding.empty()) {
    file.error(os, {},
               "expected text in UTF-8, got " + encoding +
                   "; save it as UTF-8");
    return llvm::failure();
  }
  size_t at = 0;
  if (!llvm::json::isUTF8(file.text(), &at)) {
    file.error(os, file.placeOf(at),
               "expected text in UTF-8, got a byte that is none");
    return llvm::failure();
  }
  at = file.text().find('\0');
  if (at != llvm::StringRef::npos) {
    file.error(os, file.placeOf(at), "expected text, got a byte of zero");
    return llvm::failure();
  }
  return llvm::success();
}

static llvm::FailureOr<SourceFile>
asText(llvm::StringRef name, std::string bytes, llvm::raw_ostream &errors) {
  if (llvm::StringRef(bytes).starts_with(kUtf8Mark)) {
    bytes.erase(0, kUtf8Mark.size());
  }
  SourceFile file(name.str(), std::move(bytes));
  if (failed(checkText(file, errors))) {
    return llvm::failure();
  }
  return file;
}

llvm::FailureOr<SourceFile> SourceFile::read(llvm::StringRef path,
                                             llvm::raw_ostream &errors) {
  llvm::FailureOr<std::string> bytes = readBytes(path, errors);
  if (failed(bytes)) {
    return llvm::failure();
  }
  return asText(path, std::move(*bytes), errors);
}

/// Standard input, as a file: at most one byte more than is read.
static llvm::FailureOr<SourceFile> readInput(llvm::raw_ostream &errors) {
  std::string text(kMostBytes + 1, '\0');
  size_t size = 0;
  while (size < text.size()) {
    llvm::Expected<size_t> count = fs::readNativeFile(
        fs::getStdinHandle(),
        llvm::MutableArrayRef(text.data(), text.size()).drop_front(size));
    if (!count) {
      sayError(errors) << "cannot read standard input: "
                       << llvm::toString(count.takeError()) << "\n";
      return llvm::failure();
    }
    if (*count == 0) {
      break;
    }
    size += *count;
  }
  if (size > kMostBytes) {
    sayError(errors) << "cannot read standard input: expected at most "
                     << formatQuantity(double(kMostBytes), "B")
                     << ", got more\n";
    return llvm::failure();
  }
  text.resize(size);
  return asText("<stdin>", std::move(text), errors);
}

std::unique_ptr<llvm::MemoryBuffer> readIr(llvm::StringRef path,
                                           llvm::raw_ostream &errors) {
  llvm::FailureOr<SourceFile> file =
      path == "-" ? readInput(errors) : SourceFile::read(path, errors);
  if (failed(file) || failed(checkBounds(*file, Syntax::Ir, errors))) {
    return nullptr;
  }
  return llvm::MemoryBuffer::getMemBufferCopy(file->text(), file->name());
}

} // namespace modelc
