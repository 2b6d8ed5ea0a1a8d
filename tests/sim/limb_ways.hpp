#pragma once
#include "products.hpp"
#include "widthwise/sim/text.hpp"
#include "widthwise/sim/unit_text.hpp"

// Engines of numbers in limbs against the reference.
namespace tests {

inline bool takes(std::string_view way, const widthwise::Unit& u) {
  return opinion(way, u, true).takes;
}

// The ways that this machine has.
inline std::vector<std::string> ways() {
  if (takes("wide52", widthwise::parse_unit("mac(e15m112)"))) return {"wide", "wide52"};
  return {"wide"};
}

// Compares a unit on random operands of every manner, flags included.
class Comparing {
 public:
  void compare(const std::string& way, const widthwise::Unit& u,
               std::initializer_list<Rival::Shape> shapes) {
    INFO(way << ' ' << widthwise::to_string(u));
    REQUIRE(takes(way, u));
    for (const Rival::Shape& s : shapes) {
      Rival(way, u, tally_, true).compare_random(s, random_);
      expected_ += outputs_compared(s);
    }
  }
  ~Comparing() { tally_.expect(expected_); }

 private:
  ProductRandom random_{1};
  Tally tally_;
  std::uint64_t expected_ = 0;
};

}  // namespace tests
