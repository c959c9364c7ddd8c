#include "lib/Hardware/Loader.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/raw_ostream.h"

namespace modelc {

void Loader::error(const SourceFile &file, Place at,
                   const llvm::Twine &message) {
  file.error(errors, at, message);
  hasFailed = true;
}

static bool isOriginKey(llvm::StringRef key) {
  return key == "source" || key == "grade";
}

Origin Loader::readOrigin(const SourceFile &file, const Node &table, Place at,
                          llvm::StringRef what, const Origin *inherited) {
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

template <typename Owner>
void Loader::readField(const SourceFile &file, const std::string &key,
                       const Field<Owner> &field, llvm::StringRef entry,
                       const Node &value, Origin origin, Owner &owner) {
  // { value = ..., source = ..., grade = ... } states an origin of its own.
  const Node *plain = &value;
  if (const Node *inner = value.find("value")) {
    plain = inner;
    origin = readOrigin(file, value, value.place, key, &origin);
    for (const Member &member : value.members) {
      if (member.key != "value" && !isOriginKey(member.key)) {
        error(file, member.place,
              "unknown key \"" + member.key + "\" beside value");
      }
    }
  }
  std::string why;
  if (llvm::failed(field.read(owner, entry, *plain, why))) {
    error(file, plain->place, key + " (" + field.meaning + "): " + why);
    return;
  }
  statements[key] = {current, plain->place, statementCount++};
  Fact fact{key,
            plain->isString() ? plain->string : plain->print(),
            field.unit.str(),
            field.meaning.str(),
            origin.source,
            origin.grade,
            file.name().str(),
            plain->place.line};
  target.facts[key] = std::move(fact);
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

template <typename Row>
bool Loader::readRow(const SourceFile &file, const std::string &path,
                     const std::vector<Field<Row>> &fields, const Node &table,
                     Row &row) {
  std::vector<llvm::StringRef> names = {"source", "grade"};
  Origin origin = readOrigin(file, table, table.place,
                             "this row of [[" +
                                 path.substr(0, path.find_last_of('.')) + "]]",
                             nullptr);
  for (const Field<Row> &field : fields) {
    names.push_back(field.name);
  }
  std::vector<llvm::StringRef> meant;
  for (const Member &member : table.members) {
    if (!llvm::is_contained(names, member.key)) {
      meant.push_back(nearest(member.key, names));
      error(file, member.place,
            "unknown key \"" + member.key + "\" in " + path +
                didYouMean(member.key, names));
    }
  }
  for (const Field<Row> &field : fields) {
    if (const Node *value = table.find(field.name)) {
      readField(file, path + "." + field.name, field, "", *value, origin, row);
    } else if (field.need != Need::Optional &&
               !llvm::is_contained(meant, field.name)) {
      error(file, table.place,
            path + " has no \"" + field.name + "\" (" + field.meaning + ")");
    }
  }
  return !hasFailed;
}

bool Loader::checkRows(const SourceFile &file, llvm::StringRef path,
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

void Loader::readMmaRows(const SourceFile &file, const Node &rows) {
  if (!checkRows(file, "mma", rows)) {
    return;
  }
  for (const Node &table : rows.items) {
    const Node *name = table.find("name");
    MmaRow row;
    std::string path = "mma." + (name ? name->string : "?");
    if (!readRow(file, path, mmaFields(), table, row)) {
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
    if (!readRow(file, path, accessFields(), table, row)) {
      continue;
    }
    llvm::erase_if(target.shared.accesses, [&](const SharedAccess &old) {
      return old.kind == row.kind && old.bytes == row.bytes;
    });
    target.shared.accesses.push_back(std::move(row));
  }
}

void Loader::readEngineRows(const SourceFile &file, const Node &rows) {
  if (!checkRows(file, "engine", rows)) {
    return;
  }
  for (const Node &table : rows.items) {
    EngineKernels row;
    const Node *name = table.find("name");
    const Node *type = table.find("type");
    std::string path = "engine." + (name ? name->string : "?") + " " +
                       (type ? type->string : "?");
    if (readRow(file, path, engineFields(), table, row)) {
      std::string wrong = checkEngineRow(target, row);
      if (!wrong.empty()) {
        error(file, table.place, path + ": " + wrong);
      }
      target.engines.push_back(std::move(row));
    }
  }
}

/// Strings of a list side by side, else the value as it is printed.
static std::string wordsOf(const Node &value) {
  std::string words;
  for (const Node &item : value.items) {
    words += (words.empty() ? "" : "+") + item.string;
  }
  return !words.empty()         ? words
         : value.string.empty() ? value.print()
                                : value.string;
}

void Loader::readAttentionEngineRows(const SourceFile &file, const Node &rows) {
  if (!checkRows(file, "attention_engine", rows)) {
    return;
  }
  for (const Node &table : rows.items) {
    EngineAttention row;
    const Node *phase = table.find("phase");
    std::string path = "attention_engine";
    char separator = '.';
    for (llvm::StringRef key :
         {"names", "caches", "types", "phase", "most_columns", "most_group",
          "least_columns", "windowed", "sees_all"}) {
      if (const Node *value = table.find(key)) {
        path += separator + wordsOf(*value);
        separator = ' ';
      }
    }
    if (!readRow(file, path, attentionEngineFields(), table, row)) {
      continue;
    }
    if (row.phase != "prefill" && row.phase != "decode") {
      error(file, phase->place,
            path + ".phase: expected \"prefill\" or \"decode\", got " +
                phase->print());
    } else if (row.phase == "prefill" && row.rows == 0) {
      error(file, phase->place,
            path + ": expected \"rows\", the queries of a tile of prefill");
    } else {
      target.attentionEngines.push_back(std::move(row));
    }
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
  std::vector<llvm::StringRef> sections = {"inherits", "mma", "engine",
                                           "attention_engine"};
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
    } else if (member.key == "engine") {
      readEngineRows(file, member.value);
    } else if (member.key == "attention_engine") {
      readAttentionEngineRows(file, member.value);
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
