#include "llvm/Support/CommandLine.h"
#include "lib/Support/Support.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

namespace modelc {

/// LLVM begins its messages with the name of the program: this one makes them
/// ours. Help is told the program's own.
static constexpr char kNameInMessages[] = "modelc: error";

static bool asksForHelp(llvm::ArrayRef<char *> arguments) {
  return llvm::any_of(arguments, [](llvm::StringRef argument) {
    llvm::StringRef flag = argument.ltrim('-');
    return flag != argument && (flag == "h" || flag.starts_with("help"));
  });
}

/// "modelc: error: Unknown command line argument '-x'.  Try: ..." as others say
/// it: small, without a full stop; what follows is a note.
static void printMistake(llvm::StringRef text, llvm::StringRef program,
                         llvm::raw_ostream &errors) {
  std::string shown = text.trim().str();
  auto replaceAll = [&](llvm::StringRef from, llvm::StringRef to) {
    for (size_t at = shown.find(from); at != std::string::npos;
         at = shown.find(from, at + to.size())) {
      shown.replace(at, from.size(), to);
    }
  };
  replaceAll((kNameInMessages + llvm::Twine(": ")).str(), "");
  replaceAll(kNameInMessages, program);
  replaceAll(".  Try: ", "; try ");
  replaceAll(": See: ", "; see ");
  llvm::SmallVector<llvm::StringRef> lines;
  llvm::StringRef(shown).split(lines, '\n');
  for (llvm::StringRef line : lines) {
    bool isNote = line.starts_with("Did you") || line.starts_with("Must") ||
                  line.starts_with("Can");
    (isNote ? errors << "modelc: note: " : sayError(errors))
        << llvm::toLower(line.front()) << line.drop_front().rtrim("!?. ")
        << "\n";
  }
}

bool parseCommandLine(int argc, char **argv, llvm::StringRef overview,
                      llvm::raw_ostream &errors) {
  llvm::SmallVector<const char *> arguments(argv, argv + argc);
  if (!asksForHelp({argv, size_t(argc)})) {
    arguments.front() = kNameInMessages;
  }
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (llvm::cl::ParseCommandLineOptions(argc, arguments.data(), overview,
                                        &stream)) {
    return true;
  }
  if (!text.empty()) {
    printMistake(text, llvm::sys::path::filename(argv[0]), errors);
  }
  return false;
}

} // namespace modelc
