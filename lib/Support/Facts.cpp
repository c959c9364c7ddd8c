//===- Facts.cpp - Tables of files of facts, key by key -------------------===//

#include "lib/Support/Support.h"

namespace modelc {

void FactReader::error(const SourceFile &file, Place at,
                       const llvm::Twine &message) {
  file.error(errors, at, message);
  hasFailed = true;
}

bool isOriginKey(llvm::StringRef key) {
  return key == "source" || key == "grade";
}

Origin FactReader::readOrigin(const SourceFile &file, const Node &table,
                              Place at, llvm::StringRef what,
                              const Origin *inherited) {
  Origin origin = inherited ? *inherited : Origin();
  const Node *source = table.find("source");
  const Node *grade = table.find("grade");
  std::string why;
  for (const Member &member : table.members) {
    // One that is misspelled is said to be so where its key is read.
    llvm::StringRef key = member.key;
    bool isMisspelled =
        key.edit_distance("source") == 1 || key.edit_distance("grade") == 1;
    inherited = isMisspelled ? &origin : inherited;
  }
  if (source && llvm::failed(readValue(*source, "", origin.source, why))) {
    error(file, source->place, "source: " + why);
  } else if (!source && !inherited) {
    error(file, at,
          what + " has no source, add source = \"...\", the document or "
                 "measurement behind its values");
  }
  if (grade && llvm::failed(readValue(*grade, "", origin.grade, why))) {
    error(file, grade->place, "grade: " + why);
  } else if (!grade && !inherited) {
    error(file, at,
          what + " has no grade, add grade = \"datasheet\", \"measured\", "
                 "\"derived\" or \"assumed\"");
  }
  return origin;
}

const Node &FactReader::plainValue(const SourceFile &file,
                                   const std::string &key, const Node &value,
                                   Origin &origin) {
  const Node *inner = value.find("value");
  if (!inner) {
    return value;
  }
  origin = readOrigin(file, value, value.place, key, &origin);
  for (const Member &member : value.members) {
    if (member.key != "value" && !isOriginKey(member.key)) {
      error(file, member.place,
            "unknown key \"" + member.key + "\" beside value");
    }
  }
  return *inner;
}

std::vector<llvm::StringRef>
FactReader::sayUnknown(const SourceFile &file, llvm::StringRef path,
                       const Node &table,
                       llvm::ArrayRef<llvm::StringRef> names) {
  std::vector<llvm::StringRef> meant;
  for (const Member &member : table.members) {
    if (!llvm::is_contained(names, member.key)) {
      meant.push_back(nearest(member.key, names));
      error(file, member.place,
            "unknown key \"" + member.key + "\" in " + path +
                didYouMean(member.key, names));
    }
  }
  return meant;
}

bool FactReader::checkRows(const SourceFile &file, llvm::StringRef path,
                           const Node &rows) {
  bool isRows = rows.isArray() && llvm::all_of(rows.items, [](const Node &row) {
                  return row.isTable();
                });
  if (!isRows) {
    error(file, rows.place,
          "expected rows [[" + path + "]], got " + rows.kindName());
  }
  return isRows;
}

} // namespace modelc
