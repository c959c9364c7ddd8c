#include "lib/Support/Support.h"
#include "lib/Text/Text.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

namespace modelc {

/// Columns of a line that are shown before and behind the place of a message.
static constexpr unsigned kColumnsAround = 100;

llvm::raw_ostream &sayError(llvm::raw_ostream &errors) {
  return errors << "modelc: error: ";
}

SourceFile::SourceFile(std::string name, std::string text)
    : fileName(std::move(name)), contents(std::move(text)), lineStarts{0} {
  for (size_t i = 0; i < contents.size(); ++i) {
    if (contents[i] == '\n') {
      lineStarts.push_back(uint32_t(i + 1));
    }
  }
}

llvm::StringRef SourceFile::line(unsigned number) const {
  if (number == 0 || number > lineStarts.size()) {
    return "";
  }
  llvm::StringRef rest =
      llvm::StringRef(contents).substr(lineStarts[number - 1]);
  return rest.split('\n').first.rtrim('\r');
}

Place SourceFile::placeOf(size_t offset, unsigned length) const {
  // The line that begins last of those up to the byte.
  auto next = llvm::upper_bound(lineStarts, offset);
  return {unsigned(next - lineStarts.begin()),
          unsigned(offset - *std::prev(next)) + 1, length};
}

static void print(const SourceFile &file, llvm::raw_ostream &os, Place at,
                  llvm::SourceMgr::DiagKind kind, const llvm::Twine &message) {
  std::string text = oneLine(message.str());
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
