#include "lib/Support/Support.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

namespace modelc {

/// Columns of a line that are shown before and behind the place of a message.
static constexpr unsigned kColumnsAround = 100;

llvm::raw_ostream &sayError(llvm::raw_ostream &errors) {
  return errors << "modelc: error: ";
}

SourceFile::SourceFile(std::string name, std::string text)
    : fileName(std::move(name)), contents(std::move(text)) {}

llvm::FailureOr<SourceFile> SourceFile::read(llvm::StringRef path,
                                             llvm::raw_ostream &errors) {
  llvm::ErrorOr<std::unique_ptr<llvm::MemoryBuffer>> buffer =
      llvm::MemoryBuffer::getFile(path, /*IsText=*/true);
  if (!buffer) {
    sayError(errors) << "cannot read \"" << path
                     << "\": " << buffer.getError().message() << "\n";
    return llvm::failure();
  }
  return SourceFile(path.str(), (*buffer)->getBuffer().str());
}

llvm::StringRef SourceFile::line(unsigned number) const {
  llvm::StringRef rest = contents;
  for (unsigned i = 1; i < number; ++i) {
    rest = rest.split('\n').second;
  }
  return number == 0 ? "" : rest.split('\n').first.rtrim('\r');
}

Place SourceFile::placeOf(size_t offset, unsigned length) const {
  llvm::StringRef before = llvm::StringRef(contents).take_front(offset);
  size_t lineStart = before.rfind('\n');
  lineStart = lineStart == llvm::StringRef::npos ? 0 : lineStart + 1;
  return {unsigned(before.count('\n')) + 1, unsigned(offset - lineStart) + 1,
          length};
}

static void print(const SourceFile &file, llvm::raw_ostream &os, Place at,
                  llvm::SourceMgr::DiagKind kind, const llvm::Twine &message) {
  std::string text = message.str();
  // Without a line, SMDiagnostic prints the file and the message only.
  if (at.line == 0) {
    llvm::SMDiagnostic(file.name(), kind, text).print("", os, os.has_colors());
    return;
  }
  unsigned begin = at.column ? at.column - 1 : 0;
  std::string where =
      (file.name() + ":" + llvm::Twine(at.line) + ":" + llvm::Twine(begin + 1))
          .str();
  // Of a long line, the part around the place.
  llvm::StringRef line = file.line(at.line);
  unsigned first = begin > kColumnsAround ? begin - kColumnsAround : 0;
  line = line.substr(first, begin - first + kColumnsAround);
  begin -= first;
  unsigned end = std::min<size_t>(begin + at.length, line.size());
  llvm::SourceMgr none;
  llvm::SMDiagnostic(none, llvm::SMLoc(), file.name(), int(at.line), int(begin),
                     kind, text, line, std::pair(begin, std::max(begin, end)))
      .print(where.c_str(), os, os.has_colors(), /*ShowKindLabel=*/true,
             /*ShowLocation=*/false);
}

void SourceFile::error(llvm::raw_ostream &os, Place at,
                       const llvm::Twine &message) const {
  print(*this, os, at, llvm::SourceMgr::DK_Error, message);
}

void SourceFile::warning(llvm::raw_ostream &os, Place at,
                         const llvm::Twine &message) const {
  print(*this, os, at, llvm::SourceMgr::DK_Warning, message);
}

void SourceFile::note(llvm::raw_ostream &os, Place at,
                      const llvm::Twine &message) const {
  print(*this, os, at, llvm::SourceMgr::DK_Note, message);
}

} // namespace modelc
