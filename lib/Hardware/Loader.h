//===- Loader.h - From the files of a target to its members ---------------===//

#ifndef LIB_HARDWARE_LOADER_H
#define LIB_HARDWARE_LOADER_H

#include "lib/Hardware/Fields.h"

namespace modelc {

/// Values that cannot be true together, and what is said of it.
struct Contradiction {
  std::vector<std::string> keys;
  std::string text;
};
std::vector<Contradiction> contradictions(const Target &target);

/// Reads parsed target files into one Target, base file first.
class Loader : public FactReader {
public:
  Loader(Target &target, llvm::raw_ostream &errors)
      : FactReader(errors), target(target) {}

  /// All sections of a file.
  void readFile(const SourceFile &file, const Node &root);
  /// "memory.bandwidth=9 TB/s", as if the last file said so.
  void readOverride(llvm::StringRef text);
  /// Says which required keys no file has given, at the end of `file`.
  void checkComplete(const SourceFile &file);
  /// Says which values cannot be true together, at the last one of them.
  void checkRelations();

private:
  void readTable(const SourceFile &file, llvm::StringRef path,
                 const Node &table, Origin origin);
  void readKey(const SourceFile &file, const std::string &path,
               const Member &member, const Origin &origin);
  void readMap(const SourceFile &file, const Field<Target> &field,
               const Member &member, Origin origin);
  void readMmaRows(const SourceFile &file, const Node &rows);
  void readAccessRows(const SourceFile &file, const Node &rows);

  void keep(const std::string &key, llvm::StringRef unit,
            llvm::StringRef meaning, const Origin &origin,
            const SourceFile &file, const Node &plain) override;

  Target &target;
};

/// Completes and checks a row; empty if it is right, else what is wrong.
std::string finishMmaRow(const Execution &execution, MmaRow &row);

} // namespace modelc

#endif // LIB_HARDWARE_LOADER_H
