#include <doctest/doctest.h>
#include <fmt/format.h>

#include <array>
#include <random>

#include "tests/lib/tally.hpp"
#include "widthwise/sim/elementwise_chain.hpp"

namespace test_elementwise_chain {

// Several operations a chunk at a time, and operations in place.

using namespace tests;
using namespace widthwise;

TEST_CASE("a chain delivers what its operations deliver one after the other") {
  Tally tally;
  std::mt19937_64 random(7);
  const Format half = binary16, wide = binary32;
  const std::vector<Format> formats{half, half};
  const std::vector<ChainStep> steps{
      {Operation::multiply, half, {RoundingMode::rdn}, {0, 1}},
      {Operation::fma, wide, {}, {2, 0, 1}},
      {Operation::add, wide, {Rounding(8, StochasticVariant::plain)}, {3, 3}, 5},
      {Operation::divide, half, {}, {4, 1}}};
  const std::size_t n = 40'000;  // some chunks and a part of one
  std::vector<std::uint16_t> x(n), y(n), t(n), got(n), want(n);
  std::vector<std::uint32_t> u(n), v(n);
  for (std::size_t i = 0; i < n; ++i)
    x[i] = static_cast<std::uint16_t>(random()), y[i] = static_cast<std::uint16_t>(random());
  std::array<std::vector<std::uint8_t>, 4> raised;
  for (auto& flags : raised) flags.resize(n);
  const auto one = [&](std::size_t s, std::initializer_list<CodeArray> from, void* to) {
    elementwise(steps[s].op, steps[s].to, steps[s].env, from, n, to, raised[s].data(),
                {steps[s].seed, 100});
  };
  one(0, {{half, x.data()}, {half, y.data()}}, t.data());
  one(1, {{half, t.data()}, {half, x.data()}, {half, y.data()}}, u.data());
  one(2, {{wide, u.data()}, {wide, u.data()}}, v.data());
  one(3, {{wide, v.data()}, {half, y.data()}}, want.data());

  std::vector<std::uint8_t> flags(n);
  const void* const operands[] = {x.data(), y.data()};
  for (bool flagged : {true, false}) {
    std::fill(got.begin(), got.end(), std::uint16_t{0});
    const ElementwiseChain chain(formats, steps, flagged, n);
    chain.run(operands, n, got.data(), flagged ? flags.data() : nullptr, 100);
    for (std::size_t i = 0; i < n; ++i) {
      const int all = raised[0][i] | raised[1][i] | raised[2][i] | raised[3][i];
      tally.check(got[i] == want[i] && (!flagged || flags[i] == all), [&] {
        return fmt::format("element {}: got {:x} flags {}, want {:x} flags {}", i, got[i], flags[i],
                           want[i], all);
      });
    }
  }
  tally.expect(2 * n);
}

TEST_CASE("a chain refuses steps without operands, and chains without steps") {
  const std::vector<Format> one{binary16};
  CHECK_THROWS_WITH(ElementwiseChain(one, {}, false, 1), "steps: there are none");
  CHECK_THROWS_WITH(ElementwiseChain(one, {{Operation::negate, binary16, {}, {1}}}, false, 1),
                    "step 0 takes value 1; there are 1 before it");
  CHECK_THROWS_WITH(ElementwiseChain(one, {{Operation::add, binary16, {}, {0}}}, false, 1),
                    "operands: 1 given; the operation takes 2");
}

TEST_CASE("a result may overwrite an operand of its width, whichever way it goes") {
  Tally tally;
  std::mt19937_64 random(8);
  const std::size_t n = 200'003;
  for (const Env& env : {Env{}, Env{RoundingMode::rup}, Env{.nan = NanResult::propagate}})
    for (Operation op : {Operation::add, Operation::copysign, Operation::sqrt}) {
      std::vector<std::uint16_t> x(n), y(n), apart(n);
      for (std::size_t i = 0; i < n; ++i)
        x[i] = static_cast<std::uint16_t>(random()), y[i] = static_cast<std::uint16_t>(random());
      const CodeArray operands[] = {{binary16, x.data()}, {binary16, y.data()}};
      const std::span<const CodeArray> taken(operands, static_cast<std::size_t>(arity(op)));
      elementwise(op, binary16, env, taken, n, apart.data(), nullptr);
      std::vector<std::uint16_t>& place = arity(op) == 1 ? x : y;
      elementwise(op, binary16, env, taken, n, place.data(), nullptr);
      for (std::size_t i = 0; i < n; ++i)
        tally.check(place[i] == apart[i], [&] { return fmt::format("element {}", i); });
    }
  tally.expect(9 * n);
}

}  // namespace test_elementwise_chain
