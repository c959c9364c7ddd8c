//===- Text.h - How other languages spell names and numbers ---------------===//
//
// Whatever is pasted into a file that a compiler or a loader reads goes through
// one function of its language here: a name cannot leave its quotes or its
// comment, and a number is read back as the very number it was. A test in
// test/Rules finds what goes round them.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_TEXT_TEXT_H
#define LIB_TEXT_TEXT_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"
#include <string>

namespace llvm::json {
class OStream;
} // namespace llvm::json

namespace modelc {

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

/// The text as a string literal, quotes included, of C, C++, HIP and CUDA. It
/// is printable ASCII whatever the text is, and holds no trigraph.
std::string cString(llvm::StringRef text);

/// A comment of these languages to the end of the line, "// text". What cannot
/// be printed is escaped, and nothing in the text ends the comment or goes on
/// behind the line.
std::string lineComment(const llvm::Twine &text);
/// The same for several lines, in the manner of C: "/* a", " * b", " */", each
/// with a new line.
std::string blockComment(llvm::ArrayRef<std::string> lines);

/// `#include "path"` and a new line.
std::string cInclude(llvm::StringRef path);

/// The text as a basic string of TOML, quotes included.
std::string tomlString(llvm::StringRef text);

/// The text for a message or a table on a terminal: control characters are
/// escaped, so that it stays on its line and moves no cursor.
std::string oneLine(llvm::StringRef text);

/// Whether C and C++ take the text as a name: letters, digits and '_', no digit
/// first, and no word of either language.
bool isName(llvm::StringRef text);

/// A name for any text: letters and digits stay, all else becomes '_'. Never
/// one that a standard library or a compiler keeps to itself, such as a macro
/// in capitals.
std::string nameFrom(llvm::StringRef text);

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

/// The fewest digits that are read back as this number: "0.1", "2.66666667",
/// "1e-05", "309237645312". Whole numbers below 2^63 have all their digits and
/// no point; others that C, JSON and TOML read as integers do not occur.
std::string exactNumber(double value);
/// The same for what is read back in single precision.
std::string exactNumber(float value);
/// The same where an integer would be of another type: "1.0".
std::string exactReal(double value);
std::string exactReal(float value);

/// A number as a value of JSON; null if it is not finite.
void writeNumber(llvm::json::OStream &json, double value);
void writeNumber(llvm::json::OStream &json, llvm::StringRef key, double value);

} // namespace modelc

#endif // LIB_TEXT_TEXT_H
