#include "lib/Hardware/Loader.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/raw_ostream.h"

namespace modelc {

void Loader::keep(const std::string &key, llvm::StringRef unit,
                  llvm::StringRef meaning, const Origin &origin,
                  const SourceFile &file, const Node &plain) {
  std::string text = plain.isString() ? plain.string : plain.print();
  target.facts[key] = {
      key,           text,         unit.str(),        meaning.str(),
      origin.source, origin.grade, file.name().str(), plain.place.line};
}

void Loader::readMap(const SourceFile &file, const Field<Target> &field,
                     const Member &member, Origin origin) {
  if (!member.value.isTable()) {
    error(file, member.value.place,
          field.name + " (" + field.meaning + "): expected a table, got " +
              member.value.print());
    return;
  }
  origin = readOrigin(file, member.value, member.place, field.name, &origin);
  for (const Member &entry : member.value.members) {
    if (isOriginKey(entry.key)) {
      continue;
    }
    if (!llvm::is_contained(field.entries, entry.key)) {
      error(file, entry.place,
            "unknown entry \"" + entry.key + "\" of " + field.name +
                didYouMean(entry.key, field.entries) + ", expected " +
                listWords(field.entries));
      continue;
    }
    readField(file, field.name + "." + entry.key, field, entry.key, entry.value,
              origin, target);
  }
}

/// The keys right below a section, for "did you mean".
static std::vector<llvm::StringRef> keysOf(llvm::StringRef section) {
  std::vector<llvm::StringRef> keys = {"source", "grade"};
  for (const Field<Target> &field : targetFields()) {
    llvm::StringRef name = field.name;
    if (name.consume_front(section) && name.consume_front(".")) {
      keys.push_back(name);
    }
  }
  return keys;
}

static const Field<Target> *findField(llvm::StringRef name) {
  for (const Field<Target> &field : targetFields()) {
    if (field.name == name) {
      return &field;
    }
  }
  return nullptr;
}

void Loader::readKey(const SourceFile &file, const std::string &path,
                     const Member &member, const Origin &origin) {
  std::string key = path + "." + member.key;
  const Field<Target> *field = findField(key);
  if (!field) {
    error(file, member.place,
          "unknown key \"" + member.key + "\" in [" + path + "]" +
              didYouMean(member.key, keysOf(path)));
  } else if (!field->entries.empty()) {
    readMap(file, *field, member, origin);
  } else {
    readField(file, key, *field, "", member.value, origin, target);
  }
}

void Loader::readMmaRows(const SourceFile &file, const Node &rows) {
  if (!checkRows(file, "mma", rows)) {
    return;
  }
  for (const Node &table : rows.items) {
    const Node *name = table.find("name");
    MmaRow row;
    std::string path = "mma." + (name ? name->string : "?");
    if (!readRow(file, "mma", path, mmaFields(), table, row)) {
      continue;
    }
    std::string wrong = finishMmaRow(target.execution, row);
    if (!wrong.empty()) {
      error(file, table.place, path + ": " + wrong);
    }
    llvm::erase_if(target.mma,
                   [&](const MmaRow &old) { return old.name == row.name; });
    target.mma.push_back(std::move(row));
  }
}

void Loader::readAccessRows(const SourceFile &file, const Node &rows) {
  if (!checkRows(file, "shared.access", rows)) {
    return;
  }
  for (const Node &table : rows.items) {
    SharedAccess row;
    const Node *kind = table.find("kind");
    const Node *bytes = table.find("bytes");
    std::string path = "shared.access." + (kind ? kind->string : "?") + " " +
                       (bytes ? bytes->string : "?");
    if (!readRow(file, "shared.access", path, accessFields(), table, row)) {
      continue;
    }
    llvm::erase_if(target.shared.accesses, [&](const SharedAccess &old) {
      return old.kind == row.kind && old.bytes == row.bytes;
    });
    target.shared.accesses.push_back(std::move(row));
  }
}

void Loader::readTable(const SourceFile &file, llvm::StringRef path,
                       const Node &table, Origin origin) {
  for (const Member &member : table.members) {
    if (path == "shared" && member.key == "access") {
      readAccessRows(file, member.value);
    } else if (!isOriginKey(member.key)) {
      readKey(file, path.str(), member, origin);
    }
  }
}

void Loader::readFile(const SourceFile &file, const Node &root) {
  current = std::make_shared<const SourceFile>(file);
  std::vector<llvm::StringRef> sections = {"inherits", "mma"};
  for (const Field<Target> &field : targetFields()) {
    llvm::StringRef section = llvm::StringRef(field.name).split('.').first;
    if (!llvm::is_contained(sections, section)) {
      sections.push_back(section);
    }
  }
  bool isOutside = false;
  for (const Member &member : root.members) {
    if (member.key == "inherits") {
      continue;
    }
    if (!llvm::is_contained(sections, member.key)) {
      // Keys in front of all sections are those of one whose line is gone.
      bool isFirst = member.value.isTable() || !isOutside;
      isOutside |= !member.value.isTable();
      if (!isFirst) {
        continue;
      }
      error(file, member.place,
            "unknown section [" + member.key + "]" +
                didYouMean(member.key, sections));
    } else if (member.key == "mma") {
      readMmaRows(file, member.value);
    } else if (!member.value.isTable()) {
      error(file, member.value.place,
            "expected a section [" + member.key + "], got " +
                member.value.print());
    } else {
      Origin origin = readOrigin(file, member.value, member.place,
                                 "section [" + member.key + "]", nullptr);
      readTable(file, member.key, member.value, origin);
    }
  }
}

void Loader::checkComplete(const SourceFile &file) {
  std::vector<std::string> missing;
  for (const Field<Target> &field : targetFields()) {
    std::string key = field.name;
    auto next = target.facts.lower_bound(key);
    bool found = next != target.facts.end() &&
                 llvm::StringRef(next->first).starts_with(key) &&
                 (next->first == key || next->first[key.size()] == '.');
    // A longer key can sort between a map and its entries.
    found |= !field.entries.empty() &&
             target.facts.lower_bound(key + ".") != target.facts.end() &&
             llvm::StringRef(target.facts.lower_bound(key + ".")->first)
                 .starts_with(key + ".");
    if (!found && field.need != Need::Optional) {
      missing.push_back("missing key " + key + " (" + field.meaning.str() +
                        (field.unit.empty() ? "" : ", in " + field.unit.str()) +
                        ")");
    }
  }
  if (target.mma.empty()) {
    missing.push_back("missing rows [[mma]] (instructions of the matrix unit)");
  }
  constexpr size_t kMost = 5; // more come from one mistake
  if (missing.size() > kMost) {
    error(file, {},
          missing.front() + " and " + llvm::Twine(missing.size() - 1) +
              " others, try inherits = \"...\", the architecture of the chip");
    return;
  }
  for (const std::string &message : missing) {
    error(file, {}, message);
  }
}

} // namespace modelc
