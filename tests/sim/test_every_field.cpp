#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "field_values.hpp"
#include "products.hpp"
#include "tests/lib/tally.hpp"
#include "tests/turns.hpp"
#include "widthwise/sim/unit_text.hpp"

// An engine refuses what it does not know: each value of each field, in units of every engine,
// alone and beside another change. A field that a plan overlooks gives wrong bits here.
using namespace widthwise;

namespace {

using namespace tests;

// Units of which each engine takes some.
constexpr const char* bases[] = {
    "mac(e5m10)",
    "mac(binary32)",
    "mac(binary64)",
    "fma(e4m3fn, sum=binary32)",
    "mac(e5m2, sum=e8m7:rtz)",
    "mac(e4m3fn, product=e8m13:rdn, sum=e8m13:rup)",
    "mac(e9m14, sum=e9m14:sr8)",
    "mac(e14m10)",
    "mac(e11m80)",
    "dot(e4m3fn, lanes=4, align=10:rtz, out=e8m13:rtz)",
    "dot(e5m2, lanes=5, align=10:rdn, out=e5m10)",
    "dot(e4m3fn, lanes=4, out=e8m23)",
    "tree(e5m10, fan=2)",
    "pairwise(bfloat16)",
    "kahan(e5m10)",
    "kulisch(e5m10)",
    "kulisch(binary32, out=binary32)",
    "kulisch(posit8es2)",
    "kulisch(int8, out=int32)",
    "fixedacc(int8, width=32, frac=0, overflow=saturate, out=int32)",
    "mac(fixed8.4)",
    "mac(posit8es2)",
    "mac(posit8es2, sum=e8m23)",
    "volta.f16.f32",
    "hopper.f16.f32",
    "hopper.e4m3.promote128",
    "cdna3.f16",
    "blackwell.mxfp8",
    "blackwell.nvfp4",
};

// Engines that not every machine has: of arithmetic in binary16, of fused multiply-adds, of IFMA.
constexpr std::string_view hang_on_the_machine[] = {"halves", "lanes", "wide52"};

struct Change {
  std::string what;
  Unit unit;
};

// Units that text can say: of those alone it is told what they mean.
bool is_a_unit(const Unit& u) {
  try {
    check(u);
    return unit_from_toml(to_toml(u)) == u;
  } catch (const std::invalid_argument&) {
    return false;
  }
}

std::vector<Change> changes(const Unit& u, const std::string& name) {
  std::vector<Change> all;
  for_each_change(u, [&](const std::string& what, const Unit& changed) {
    if (is_a_unit(changed)) all.push_back({name + what, changed});
  });
  return all;
}

std::vector<std::string> engines() {
  std::vector<std::string> names = engine_names();
  std::erase_if(names, [](const std::string& name) {
    return name == "auto" || name == "reference" || name.starts_with("cuda");
  });
  return names;
}

// A whole number of the blocks that the unit has, and of its scales'; 0 where none of few will do.
std::size_t some_length(const Unit& u) {
  for (const std::size_t k : {19, 20, 32, 64, 256})
    if (has_length(u, k)) return k;
  return 0;
}

class Comparison {
 public:
  void see(const Change& c) {
    const ProductShape s{2, some_length(c.unit), 17};
    if (s.k == 0) return;
    const Rival rival("", c.unit, tally_);
    for (const Manner of_a : {Manner::named, any_manner(random_)}) {
      CAPTURE(c.what);
      const DrawnProduct drawn(c.unit, s, {of_a, of_a, any_manner(random_)}, random_);
      expected_ += rival.compare_engines(engines_, drawn.product());
    }
    for (const std::string& engine : engines_)
      if (opinion(engine, c.unit, false, s.k).takes) reached_.insert(engine);
  }
  // The same with a second change beside it.
  void see_beside_another(const Change& c) {
    const std::vector<Change> more = changes(c.unit, c.what + ",");
    if (!more.empty()) see(more[random_() % more.size()]);
  }
  // Every engine has met changes of a unit that it takes, but for those of other machines.
  void end() const {
    tally_.expect(expected_);
    for (const std::string& engine : engines_) CHECK_MESSAGE(met(engine), engine);
  }

 private:
  bool met(const std::string& engine) const {
    const auto takes = [&](const char* text) {
      const Unit u = parse_unit(text);
      return opinion(engine, u, false, some_length(u)).takes;
    };
    if (std::ranges::any_of(bases, takes)) return reached_.contains(engine);
    return std::ranges::find(hang_on_the_machine, engine) != std::end(hang_on_the_machine);
  }

  ProductRandom random_{turn() + 1};
  const std::vector<std::string> engines_ = engines();
  Tally tally_;
  std::uint64_t expected_ = 0;
  std::set<std::string> reached_;
};

}  // namespace

TEST_CASE("an enumerator that came later is refused by engines that compute in their own words") {
  const auto later = []<class E>(E& x) { x = static_cast<E>(200); };
  const std::pair<const char*, std::function<void(Unit&)>> changes[] = {
      {"a.subnormals", [&](Unit& u) { later(u.a.subnormals); }},
      {"b.subnormals", [&](Unit& u) { later(u.b.subnormals); }},
      {"c.subnormals", [&](Unit& u) { later(u.c.subnormals); }},
      {"product.exponent", [&](Unit& u) { later(u.product.exponent); }},
      {"group_sum.order", [&](Unit& u) { later(u.group_sum.order); }},
      {"group_sum.align.reference", [&](Unit& u) { later(u.group_sum.align.reference); }},
      {"group_sum.overflow", [&](Unit& u) { later(u.group_sum.overflow); }},
      {"c_level", [&](Unit& u) { later(u.c_level); }},
      {"out.subnormals", [&](Unit& u) { later(u.out.subnormals); }},
      {"out.overflow", [&](Unit& u) { later(u.out.overflow); }},
      {"out.zero_sign", [&](Unit& u) { later(u.out.zero_sign); }},
      {"out.tininess", [&](Unit& u) { later(u.out.tininess); }},
      {"chain.c_at", [&](Unit& u) { later(u.chain.c_at); }},
      {"chain.compensation", [&](Unit& u) { later(u.chain.compensation); }},
  };
  std::set<std::string> met;
  for (const char* text : bases)
    for (const char* engine :
         {"lanes", "halves", "wide", "wide52", "tensor", "blocks", "exact", "words", "bytes"})
      for (const auto& [what, change] : changes) {
        Unit u = parse_unit(text);
        const std::size_t k = some_length(u);
        if (!opinion(engine, u, false, k).takes) continue;
        met.insert(engine);
        change(u);
        CAPTURE(std::string(text));
        CAPTURE(std::string(engine));
        CAPTURE(std::string(what));
        CHECK_FALSE(opinion(engine, u, false, k).takes);
      }
  for (const char* engine : {"wide", "tensor", "blocks", "exact", "words", "bytes"})
    CHECK_MESSAGE(met.contains(engine), engine);
}

TEST_CASE("every value of every field: each engine agrees with the reference, or refuses") {
  std::vector<Change> all;
  for (const char* text : bases) {
    std::vector<Change> more = changes(parse_unit(text), text);
    CHECK(more.size() > 100);
    std::ranges::move(more, std::back_inserter(all));
  }
  Comparison comparison;
  for (const Change& c : in_turn(std::move(all), 60)) {
    comparison.see(c);
    comparison.see_beside_another(c);
  }
  comparison.end();
}
