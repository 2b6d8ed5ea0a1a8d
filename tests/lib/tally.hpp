#pragma once
#include <doctest/doctest.h>

#include <cinttypes>
#include <cstdint>
#include <cstdio>

// How a loop over cases reports: the first faults in full, then a count, and the number of cases,
// which has to be the one expected: a loop that ran no case has shown nothing.
namespace tests {

class Tally {
 public:
  template <class Describe>
  void check(bool good, const Describe& describe) {
    ++cases_;
    if (good) [[likely]]
      return;
    if (++faults_ <= most_printed) FAIL_CHECK(describe());
  }

  std::uint64_t cases() const { return cases_; }

  void expect(std::uint64_t cases) const {
    std::printf("CASES: %" PRIu64 "\n", cases_);
    CHECK(faults_ == 0);
    CHECK(cases_ == cases);
    CHECK(cases_ > 0);
  }

 private:
  static constexpr std::uint64_t most_printed = 20;
  std::uint64_t cases_ = 0, faults_ = 0;
};

}  // namespace tests
