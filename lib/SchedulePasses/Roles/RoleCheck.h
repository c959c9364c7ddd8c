//===- RoleCheck.h - Barriers between roles, run in random order ----------===//
//
// Every role is a flat list of steps. A barrier is what the machine has: words
// that count arrivals and bytes, one for each slot, and a parity. Its trip i is
// the phase i / slots of word i % slots; a wait for it passes when the word's
// parity says so, right or wrong. Nothing here knows how the roles were made.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_SCHEDULEPASSES_ROLES_ROLECHECK_H
#define LIB_SCHEDULEPASSES_ROLES_ROLECHECK_H

#include "lib/SchedulePasses/Waits/WaitCounter.h"

namespace modelc {

/// What each phase of a barrier awaits.
struct BarrierCount {
  int64_t slots = 1;
  int64_t arrivals = 0;  ///< of one phase
  int64_t bytes = 0;     ///< of the copies of one phase
  int64_t announced = 0; ///< how often some of them are
};

class RoleCheck {
public:
  using Roles = std::vector<std::vector<WaitStep>>;
  using Barriers = std::map<const void *, BarrierCount>;

  explicit RoleCheck(Roles roles);

  /// Arrivals and bytes of every barrier, whose slots are given; false where
  /// its phases differ.
  static bool count(const Roles &roles, Barriers &barriers);
  /// Runs all roles once; copies complete in any order, products in theirs. The
  /// first step that begins before what it depends on is complete, or a
  /// deadlock; empty: none.
  std::string run(const Barriers &barriers, unsigned seed) const;

private:
  friend class RoleRun;
  /// A step: its role and its place there.
  using Ref = std::pair<size_t, size_t>;

  void findHazards();
  bool isOrdered(Ref first, Ref second) const;

  Roles roles;
  /// For every step of every role, what must be complete before it begins.
  std::vector<std::vector<std::vector<Ref>>> before;
};

} // namespace modelc

#endif // LIB_SCHEDULEPASSES_ROLES_ROLECHECK_H
