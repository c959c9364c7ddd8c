//===- Reader.h - One table of a file, key by key -------------------------===//

#ifndef LIB_IMPORT_READER_H
#define LIB_IMPORT_READER_H

#include "lib/Dsl/Dsl.h"
#include "lib/Import/Import.h"
#include "lib/Support/Support.h"
#include "lib/Text/Text.h"
#include "llvm/ADT/SetVector.h"
#include <map>

namespace modelc {

/// How a checkpoint holds what it has quantised; see #model.held.
struct HeldFormat {
  std::string format, data, scale, tensorScale = {}, tensorDivisor = {};
  /// Patterns of the modules that it does not quantise.
  std::vector<std::string> kept = {};
};

/// A file being read: where to print, what was assumed, whether it failed.
struct Source {
  const SourceFile &file;
  mlir::MLIRContext *context;
  llvm::raw_ostream &notes;
  std::vector<Assumption> assumptions;
  std::string *weights = nullptr; ///< see ImportOptions; both or neither
  std::string *cache = nullptr;
  /// Where the file says what its weights are, if it does.
  std::optional<mlir::Location> weightsPlace = std::nullopt;
  std::optional<HeldFormat> held = std::nullopt;
  bool failed = false;

  /// Prints a mistake and remembers that there was one.
  void error(Place place, const llvm::Twine &message);
  mlir::Location location(Place place) const;
};

class TableReader;

/// Says at a key that the loader converts what the checkpoint holds.
void noteConversion(TableReader &reader, llvm::StringRef key, mlir::Type stored,
                    mlir::Type computed);

/// What to take where a key is absent, and whose default that is.
template <typename T>
struct Default {
  T value;
  llvm::StringRef tomlKey;
  llvm::StringRef why;
};

/// Reads the keys of one table and knows which were asked for.
class TableReader {
public:
  /// `what` names the table in messages: "[model]".
  TableReader(Source &source, const Node &table, std::string what)
      : source(source), root(table), what(std::move(what)) {}

  /// The value of a key, or null if it is absent or JSON's null.
  const Node *find(llvm::StringRef key);
  bool has(llvm::StringRef key) { return find(key) != nullptr; }
  /// Whether the key is there, be it with JSON's null.
  bool states(llvm::StringRef key) const { return root.find(key) != nullptr; }
  /// Where the value of a key is, or the table if it is absent.
  Place place(llvm::StringRef key);
  llvm::StringRef name() const { return what; }
  Where where(llvm::StringRef key) { return source.location(place(key)); }
  std::optional<mlir::Location> location(llvm::StringRef key);

  int64_t requirePositive(llvm::StringRef key);
  double requireNumber(llvm::StringRef key);
  std::string requireString(llvm::StringRef key);
  /// From 1 to kLargestSize.
  std::optional<int64_t> positive(llvm::StringRef key);
  /// From 0 to kLargestSize.
  std::optional<int64_t> natural(llvm::StringRef key);
  /// Finite, and more than zero.
  std::optional<double> number(llvm::StringRef key);
  std::optional<bool> boolean(llvm::StringRef key);
  std::optional<std::string> string(llvm::StringRef key);
  /// The value, or null and a message if it is of another kind.
  const Node *table(llvm::StringRef key);
  const Node *array(llvm::StringRef key);
  /// One of `choices`, by its index.
  std::optional<size_t> choice(llvm::StringRef key,
                               llvm::ArrayRef<llvm::StringRef> choices);

  size_t requireChoice(llvm::StringRef key,
                       llvm::ArrayRef<llvm::StringRef> choices);

  int64_t positiveOr(llvm::StringRef key, const Default<int64_t> &otherwise);
  double numberOr(llvm::StringRef key, const Default<double> &otherwise);
  bool booleanOr(llvm::StringRef key, const Default<bool> &otherwise);

  /// Prints a mistake about a key.
  void error(llvm::StringRef key, const llvm::Twine &message);
  /// Keys that nobody asked for, in the order of the file.
  std::vector<const Member *> others() const;
  /// Each of them is a mistake; `remedy` ends its message.
  void rejectOthers(llvm::StringRef remedy = "");
  /// Takes a key as asked for.
  void know(llvm::StringRef key) { asked.insert(key); }
  bool wasAsked(llvm::StringRef key) const { return asked.contains(key); }

  Source &getSource() { return source; }

private:
  const Node *findKind(llvm::StringRef key, bool (Node::*isKind)() const,
                       llvm::StringRef expected);
  /// Says that a key is absent: misspelled, where one that is near is there.
  void missing(llvm::StringRef key);
  void assume(llvm::StringRef key, llvm::StringRef tomlKey, std::string value,
              llvm::StringRef why);

  Source &source;
  /// The number of a key, if it lies from `least` to kLargestSize.
  std::optional<int64_t> integer(llvm::StringRef key, int64_t least);

  const Node &root;
  std::string what;
  llvm::SetVector<llvm::StringRef> asked;
};

/// Sizes that a file gives names.
class Sizes {
public:
  mlir::LogicalResult readTable(Source &source, const Node &table);
  /// A size: an integer, a name of the table, or a product of these; 1 after a
  /// mistake.
  int64_t read(TableReader &reader, llvm::StringRef key) const;

private:
  std::optional<int64_t> evaluate(TableReader &reader, llvm::StringRef key,
                                  llvm::StringRef term) const;
  std::map<std::string, int64_t> known;
};

/// How a file names the sizes of a decoder.
struct DecoderKeys {
  llvm::StringRef layers, hidden, heads, kvHeads, headDim, ffn, vocab, normEps,
      maxContext, attentionBias, mlpBias, tiedEmbeddings;
};
extern const DecoderKeys kTomlKeys;
/// Of the TOML alone: biases of q, k and v, but not of the output.
inline constexpr llvm::StringLiteral kTomlQkvBias = "qkv_bias";

/// What a decoder has where its file does not say, and whose defaults those
/// are.
struct DecoderDefaults {
  llvm::StringRef why = "default of transformers for a Llama";
  double normEps = 1e-6;
  double ropeTheta = 10000.0;
  int64_t maxContext = 2048;
  int64_t kvHeads = 0;    ///< 0: as many as heads; so is null in the file
  int64_t headDim = 0;    ///< 0: hidden / heads; so is null in the file
  int64_t window = 0;     ///< 0: none; so is null in the file
  int64_t fullLayers = 0; ///< that have no window, of those that may
  int64_t vocab = 0;      ///< 0: the file must say it
  bool attentionBias = false;
  bool tiedEmbeddings = false;
  bool isLatent = false; ///< heads have sizes that are read elsewhere
};

/// Reads the sizes of a decoder and checks that they fit together.
DecoderShape readDecoder(TableReader &reader, const DecoderKeys &keys,
                         const DecoderDefaults &defaults);

/// Reads `factor`, `low_freq_factor` and `high_freq_factor`, and by the key
/// given from `original` the context before, which is no longer than that of
/// now.
Llama3Scaling readLlama3Scaling(TableReader &reader, TableReader &original,
                                llvm::StringRef originalContextKey,
                                int64_t maxContext);

/// A float type by the name that users give it ("bf16", "float16"), or null.
mlir::Type parseElementType(mlir::MLIRContext *context, llvm::StringRef name);
/// "bf16", "f16" or "f32".
std::string printElementType(mlir::Type type);

/// The readers of the formats; they print what is wrong on the source's notes.
/// Checks what a quantised checkpoint says of its linears and its cache against
/// what is asked for, or fills that in.
void readQuantisation(TableReader &config);

mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>>
importHuggingFace(Source &source, const Node &config, llvm::StringRef name);
mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>>
importToml(Source &source, const Node &file, llvm::StringRef name);
/// The form that spells out every op; the tables that both forms share were
/// read into `shape` already.
mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>>
importGraph(Source &source, const Node &file, const DecoderShape &shared);

/// The place of an op of that form, with those of its sizes.
mlir::Location placeOfOp(const Source &source, const Node &op,
                         llvm::ArrayRef<mlir::Value> inputs);

/// Prints a graph op by op.
mlir::LogicalResult exportGraph(model::GraphOp graph, llvm::raw_ostream &os);

} // namespace modelc

#endif // LIB_IMPORT_READER_H
