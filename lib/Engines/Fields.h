//===- Fields.h - The keys of the rows of a file of targets/engines -------===//

#ifndef LIB_ENGINES_FIELDS_H
#define LIB_ENGINES_FIELDS_H

#include "lib/Engines/Engines.h"

namespace modelc {

/// The keys of all rows, and `more`.
template <typename Row>
std::vector<Field<Row>> withScope(std::vector<Field<Row>> more) {
  std::vector<Field<Row>> fields = {
      field("engines", &Row::scope, &EngineScope::engines, "",
            "of a library: those that call it, with a version or of any, "
            "absent = any",
            Need::Optional),
      field("versions", &Row::scope, &EngineScope::versions, "",
            "of the engine, absent = any", Need::Optional),
      field("architectures", &Row::scope, &EngineScope::architectures, "",
            "families of machines, absent = any", Need::Optional),
      field("types", &Row::scope, &EngineScope::types, "",
            "of the layer, as tables of measurements name them, absent = any",
            Need::Optional)};
  fields.insert(fields.end(), more.begin(), more.end());
  return fields;
}

/// The keys of a kind of rows.
template <typename Row>
const std::vector<Field<Row>> &engineFields();
template <>
const std::vector<Field<EngineLaunch>> &engineFields();
template <>
const std::vector<Field<EngineLayer>> &engineFields();
template <>
const std::vector<Field<EngineStep>> &engineFields();
template <>
const std::vector<Field<EngineLinear>> &engineFields();
template <>
const std::vector<Field<EngineAttention>> &engineFields();
template <>
const std::vector<Field<Collector>> &engineFields();
template <>
const std::vector<Field<Correction>> &engineFields();

/// What is wrong with a row whose keys are right, or empty.
std::string checkRow(const EngineLaunch &row);
std::string checkRow(const EngineLayer &row);
std::string checkRow(const EngineStep &row);
std::string checkRow(const EngineLinear &row);
std::string checkRow(const EngineAttention &row);
std::string checkRow(const Collector &row);
std::string checkRow(const Correction &row);

} // namespace modelc

#endif // LIB_ENGINES_FIELDS_H
