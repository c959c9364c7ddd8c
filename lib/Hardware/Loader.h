//===- Loader.h - From the files of a target to its members ---------------===//

#ifndef LIB_HARDWARE_LOADER_H
#define LIB_HARDWARE_LOADER_H

#include "lib/Hardware/Fields.h"
#include <memory>

namespace modelc {

/// Where the values of a table come from; a value may state its own.
struct Origin {
  std::string source;
  Grade grade = Grade::Assumed;
};

/// Where the value of a key was said, and after how many others.
struct Statement {
  std::shared_ptr<const SourceFile> file;
  Place place;
  size_t order = 0;
};

/// Values that cannot be true together, and what is said of it.
struct Contradiction {
  std::vector<std::string> keys;
  std::string text;
};
std::vector<Contradiction> contradictions(const Target &target);

/// Reads parsed target files into one Target, base file first.
class Loader {
public:
  Loader(Target &target, llvm::raw_ostream &errors)
      : target(target), errors(errors) {}

  /// All sections of a file.
  void readFile(const SourceFile &file, const Node &root);
  /// "memory.bandwidth=9 TB/s", as if the last file said so.
  void readOverride(llvm::StringRef text);
  /// Says which required keys no file has given, at the end of `file`.
  void checkComplete(const SourceFile &file);
  /// Says which values cannot be true together, at the last one of them.
  void checkRelations();
  bool failed() const { return hasFailed; }

private:
  void readTable(const SourceFile &file, llvm::StringRef path,
                 const Node &table, Origin origin);
  void readKey(const SourceFile &file, const std::string &path,
               const Member &member, const Origin &origin);
  void readMap(const SourceFile &file, const Field<Target> &field,
               const Member &member, Origin origin);
  bool checkRows(const SourceFile &file, llvm::StringRef path,
                 const Node &rows);
  void readMmaRows(const SourceFile &file, const Node &rows);
  void readAccessRows(const SourceFile &file, const Node &rows);
  void readEngineRows(const SourceFile &file, const Node &rows);
  void readAttentionEngineRows(const SourceFile &file, const Node &rows);
  template <typename Row>
  bool readRow(const SourceFile &file, const std::string &path,
               const std::vector<Field<Row>> &fields, const Node &table,
               Row &row);
  template <typename Owner>
  void readField(const SourceFile &file, const std::string &key,
                 const Field<Owner> &field, llvm::StringRef entry,
                 const Node &value, Origin origin, Owner &owner);
  /// `source` and `grade` of a table; `inherited` where it has none.
  Origin readOrigin(const SourceFile &file, const Node &table, Place at,
                    llvm::StringRef what, const Origin *inherited);
  void error(const SourceFile &file, Place at, const llvm::Twine &message);

  Target &target;
  llvm::raw_ostream &errors;
  bool hasFailed = false;
  std::map<std::string, Statement> statements; ///< by key, the last of each
  std::shared_ptr<const SourceFile> current;   ///< that is read now
  size_t statementCount = 0;
};

/// Completes and checks a row; empty if it is right, else what is wrong.
std::string finishMmaRow(const Execution &execution, MmaRow &row);
/// What is wrong with a row, or empty.
std::string checkEngineRow(const Target &target, const EngineKernels &row);

} // namespace modelc

#endif // LIB_HARDWARE_LOADER_H
