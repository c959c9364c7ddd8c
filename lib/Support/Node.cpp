#include "lib/Support/Support.h"
#include "lib/Text/Text.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

namespace modelc {

const Member *Node::member(llvm::StringRef key) const {
  for (const Member &member : members) {
    if (member.key == key) {
      return &member;
    }
  }
  return nullptr;
}

const Node *Node::find(llvm::StringRef key) const {
  const Member *found = member(key);
  return found ? &found->value : nullptr;
}

llvm::StringRef Node::kindName() const {
  switch (kind) {
  case Kind::Null:
    return "null";
  case Kind::Boolean:
    return "a boolean";
  case Kind::Integer:
    return "an integer";
  case Kind::Float:
    return "a number";
  case Kind::String:
    return "a string";
  case Kind::Array:
    return "an array";
  case Kind::Table:
    return "a table";
  }
  llvm_unreachable("all kinds are listed");
}

static void printNode(const Node &node, llvm::raw_ostream &os) {
  switch (node.kind) {
  case Node::Kind::Null:
    os << "null";
    return;
  case Node::Kind::Boolean:
    os << (node.boolean ? "true" : "false");
    return;
  case Node::Kind::Integer:
    os << node.integer;
    return;
  case Node::Kind::Float:
    os << exactNumber(node.number);
    return;
  case Node::Kind::String:
    os << tomlString(node.string);
    return;
  case Node::Kind::Array:
    os << '[';
    llvm::interleaveComma(node.items, os,
                          [&](const Node &item) { printNode(item, os); });
    os << ']';
    return;
  case Node::Kind::Table:
    os << "{ ";
    llvm::interleaveComma(node.members, os, [&](const Member &member) {
      os << member.key << " = ";
      printNode(member.value, os);
    });
    os << " }";
    return;
  }
}

std::string Node::print() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  printNode(*this, os);
  return text;
}

} // namespace modelc
