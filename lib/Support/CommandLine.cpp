#include "llvm/Support/CommandLine.h"
#include "lib/Support/Support.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <csignal>
#include <cstdlib>
#include <set>

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

/// LLVM ends a program whose standard streams failed with a crash: their errors
/// are taken before it looks.
static void allowBrokenPipes() {
  std::signal(SIGPIPE, SIG_IGN);
  llvm::outs(), llvm::errs(); // made before, so that they end after
  std::atexit([] {
    (void)takeError(llvm::outs());
    (void)takeError(llvm::errs());
  });
}

/// An option with one value that was given several, of which LLVM takes the
/// last; empty if there is none. Lists may be given as often as wanted.
static std::string repeatedOption() {
  std::set<std::string> repeated;
  for (llvm::cl::SubCommand *command : llvm::cl::getRegisteredSubcommands()) {
    for (auto &entry : llvm::cl::getRegisteredOptions(*command)) {
      const llvm::cl::Option &option = *entry.second;
      llvm::cl::NumOccurrencesFlag allowed = option.getNumOccurrencesFlag();
      bool isOne =
          allowed == llvm::cl::Optional || allowed == llvm::cl::Required;
      if (isOne && option.getNumOccurrences() > 1) {
        llvm::StringRef dashes = option.ArgStr.size() == 1 ? "-" : "--";
        repeated.insert((dashes + option.ArgStr).str());
      }
    }
  }
  return repeated.empty() ? "" : *repeated.begin();
}

bool parseCommandLine(int argc, char **argv, llvm::StringRef overview,
                      llvm::raw_ostream &errors) {
  allowBrokenPipes();
  llvm::SmallVector<const char *> arguments(argv, argv + argc);
  if (!asksForHelp({argv, size_t(argc)})) {
    arguments.front() = kNameInMessages;
  }
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (llvm::cl::ParseCommandLineOptions(argc, arguments.data(), overview,
                                        &stream)) {
    std::string repeated = repeatedOption();
    if (!repeated.empty()) {
      sayError(errors) << "expected " << repeated
                       << " once, got it several times; keep one\n";
    }
    return repeated.empty();
  }
  if (!text.empty()) {
    printMistake(text, llvm::sys::path::filename(argv[0]), errors);
  }
  return false;
}

} // namespace modelc
