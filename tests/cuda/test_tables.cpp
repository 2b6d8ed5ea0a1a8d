#include <fmt/format.h>

#include "cuda/elements.hpp"
#include "cuda/tables.hpp"
#include "host_kernels.hpp"
#include "some_tables.hpp"
#include "tests/lib/operands.hpp"
#include "tests/lib/tally.hpp"
#include "tests/sim/items.hpp"
#include "widthwise/op/convert.hpp"
#include "widthwise/sim/operation_text.hpp"
#include "widthwise/sim/text.hpp"

namespace test_tables {

// Tables of values on a device whose kernels run on the CPU by their own bodies, against the CPU's
// own.
namespace {

using namespace widthwise;
using namespace tests;

constexpr RandomSource source{3, 0xffffffc0};  // the index passes a word

struct Trial {
  Operation op;
  Format to;
  Env env;
  std::vector<Format> formats;
  std::vector<Items> operands;

  Trial(Operation op, const Format& to, const Env& env, std::vector<Format> of)
      : op(op), to(to), env(env), formats(std::move(of)) {
    for (const Format& f : formats) operands.emplace_back(f);
  }

  std::size_t check(Tally& tally) {
    const std::size_t count = operands[0].count();
    std::vector<CodeArray> arrays;
    std::vector<const void*> data;
    for (std::size_t i = 0; i < formats.size(); ++i) {
      arrays.push_back({formats[i], operands[i].data()});
      data.push_back(operands[i].data());
    }
    Items got(to), want(to);
    got.resize(count), want.resize(count);
    std::vector<std::uint8_t> raised(count), expected(count);
    elementwise(op, to, env, arrays, count, want.data(), expected.data(), source);
    const cuda::DeviceElementwise there(host_device(), op, to, env, formats, true);
    there.run(data, count, got.data(), raised.data(), source);
    for (std::size_t i = 0; i < count; ++i)
      tally.check(got[i] == want[i] && raised[i] == expected[i], [&] {
        return fmt::format("{} of {} to {} {}, element {}: got {:x} flags {}, want {:x} flags {}",
                           to_string(op), to_string(formats[0]), to_string(to),
                           to_string(env.rounding), i, got[i], raised[i], want[i], expected[i]);
      });
    return count;
  }
};

constexpr const char* modes[] = {"rne", "rna", "rtz", "rup", "sr8"};

}  // namespace

TEST_CASE("tables are looked up there by every operation: all codes of two operands") {
  using enum Operation;
  Tally tally;
  std::uint64_t expected = 0;
  for (const Format& f : tables())
    for (const Format& to : {f, binary32, parse_format("e5m10")})
      for (const Operation op : {add, subtract, multiply, divide, sqrt, fma, convert, maximum,
                                 round_to_integral, next_up, next_down})
        for (const char* mode : modes) {
          if ((op == next_up || op == next_down) && to != f) continue;
          const auto n = static_cast<std::size_t>(arity(op));
          Trial trial(op, to, {.rounding = parse_rounding(mode)}, std::vector<Format>(n, f));
          const std::uint64_t codes = std::uint64_t{1} << f.width();
          for (std::uint64_t i = 0; i < (n > 1 ? codes * codes : codes); ++i)
            for (std::size_t j = 0; j < n; ++j)
              trial.operands[j].add(j == 0 ? i % codes : j == 1 ? i / codes : i * 7 % codes);
          expected += trial.check(tally);
        }
  tally.expect(expected);
}

TEST_CASE("numbers are rounded to tables there as on the CPU") {
  Tally tally;
  std::uint64_t expected = 0;
  Random random(2);
  for (const Format& to : tables())
    for (const char* from : {"binary32", "binary64", "bfloat16", "e4m3fn", "e15m64", "posit16es1"})
      for (const char* mode : modes) {
        const Format f = parse_format(from);
        Trial trial(Operation::convert, to, {.rounding = parse_rounding(mode)}, {f});
        const Operands<uint128> codes(f);
        for (int i = 0; i < 500; ++i) trial.operands[0].add(codes.any(random));
        expected += trial.check(tally);
      }
  tally.expect(expected);
}

// What this machine has of it is overwritten before it is looked into.
TEST_CASE("a table is read where the device has it, by operands and by results") {
  const Format shipped = find_table("nf4");
  Table here = *shipped.table;
  std::vector<TableValue> values(here.values, here.values + here.count);
  std::vector<std::int32_t> places(here.places, here.places + (std::size_t{1} << here.width));
  here.values = values.data(), here.places = places.data();
  const cuda::LayoutThere<std::uint64_t> there(host_device(), table_format(here));
  const cuda::RounderThere<std::uint64_t> to(host_device(), table_format(here), {});
  std::ranges::fill(values, TableValue{});
  std::ranges::fill(places, Table::unlisted);
  here.values = nullptr, here.places = nullptr;

  const Rounder<std::uint64_t> to_double(binary64);
  for (std::uint64_t code = 0; code < 16; ++code) {
    const double value = table_values(shipped)[code];
    const auto bits = std::bit_cast<std::uint64_t>(value);
    CHECK(convert(to_double, *there, code).code == bits);
    CHECK(convert(*to, Layout<std::uint64_t>(binary64), bits).code == code);
  }
}

}  // namespace test_tables
