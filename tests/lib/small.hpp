#pragma once
#include <initializer_list>
#include <string_view>
#include <vector>

#include "tally.hpp"
#include "tests/oracle/walk.hpp"
#include "tests/turns.hpp"
#include "trial.hpp"

// The definition against the value-walking oracle, in formats whose values can be listed.
namespace tests {

using Small = std::uint32_t;

// A format's codes, as both sides read them.
struct Codes {
  const oracle::Values* values;
  Layout<Small> layout;
  explicit Codes(const Format& f) : values(&oracle::values(f)), layout(f) {}
  const Format& format() const { return layout.format; }
  std::uint64_t size() const { return values->size(); }
};

struct Operand {
  const Codes* codes;
  std::uint64_t code;
};

// A result format, in all the environments that are to be tried.
class Target {
 public:
  Target(const Format& f, const std::vector<Env>& environments);
  const oracle::Values& values() const { return *values_; }
  const std::vector<Rounder<Small>>& rounders() const { return rounders_; }
  std::uint64_t size() const { return rounders_.size(); }

 private:
  const oracle::Values* values_;
  std::vector<Rounder<Small>> rounders_;
};

// Keeps the tally of one test case, and draws its random bits.
class Judge {
 public:
  // One operation on these operands, once for each of the target's environments.
  void operator()(Operation op, const Target& to, std::initializer_list<Operand> x);
  // The same for every code of f, or every pair of codes.
  void all_codes(Operation op, const Target& to, const Codes& f);
  void all_pairs(Operation op, const Target& to, const Codes& f, const Codes& g);

  // An answer of the definition against the oracle's.
  void compare(const std::string& what, const Rounder<Small>& to, std::uint64_t random,
               const Result<Small>& got, const oracle::Answer& want);

  Random& random() { return random_; }
  Tally& tally() { return tally_; }
  void expect(std::uint64_t cases) const { tally_.expect(cases); }

 private:
  Tally tally_;
  Random random_{20240713};
};

// Of environments that are too many for each run half: every mode by one of two rules of tininess.
inline std::vector<Env> half_of(std::vector<Env> environments) {
  return in_turn(std::move(environments), 2);
}

// Every kind of encoding that there is, at most eight bits wide.
const std::vector<Format>& small_formats();
// One of each family, for what is too much for all of them.
const std::vector<Format>& main_formats();
// All of their codes three at a time can be tried.
const std::vector<Format>& tiny_formats();
std::vector<Format> formats(std::initializer_list<std::string_view> texts);

}  // namespace tests
