// A table of fields that names MEMBER as the second of two.
#include "lib/Kernels/Fields.h"

namespace modelc::kernels {
struct Two {
  int64_t first = 0, second = 0;
};
template <>
inline constexpr auto kFields<Two> =
    fieldsOf<Two>(Field{"first", &Two::first}, Field{KEY, &Two::MEMBER});
} // namespace modelc::kernels
