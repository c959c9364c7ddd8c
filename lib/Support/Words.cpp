#include "lib/Support/Support.h"
#include <algorithm>

namespace modelc {

llvm::StringRef nearest(llvm::StringRef word,
                        llvm::ArrayRef<llvm::StringRef> choices) {
  // Two swapped letters, or a third of a long word; more is another word.
  unsigned allowed =
      word.size() < 4 ? 1 : std::max<unsigned>(2, word.size() / 3);
  unsigned best = allowed + 1;
  llvm::StringRef found;
  for (llvm::StringRef choice : choices) {
    unsigned distance = word.edit_distance_insensitive(choice);
    if (distance < best) {
      best = distance;
      found = choice;
    }
  }
  return found;
}

std::string didYouMean(llvm::StringRef word,
                       llvm::ArrayRef<llvm::StringRef> choices) {
  llvm::StringRef found = nearest(word, choices);
  return found.empty() ? "" : ", did you mean \"" + found.str() + "\"";
}

std::string listWords(llvm::ArrayRef<llvm::StringRef> words) {
  std::string text;
  for (size_t i = 0; i < words.size(); ++i) {
    if (i > 0) {
      text += i + 1 == words.size() ? " or " : ", ";
    }
    text += '"' + words[i].str() + '"';
  }
  return text;
}

} // namespace modelc
