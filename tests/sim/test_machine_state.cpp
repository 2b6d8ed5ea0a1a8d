#include <doctest/doctest.h>
#include <fmt/format.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <random>
#include <set>
#include <string>
#include <vector>

#ifdef __SSE__
#include <xmmintrin.h>
#endif

#include "targets.hpp"
#include "widthwise/sim/affine.hpp"
#include "widthwise/sim/blocks.hpp"
#include "widthwise/sim/elementwise.hpp"
#include "widthwise/sim/engine.hpp"
#include "widthwise/sim/rounded_values.hpp"
#include "widthwise/sim/sum_requantisation.hpp"
#include "widthwise/sim/tables.hpp"
#include "widthwise/sim/text.hpp"
#include "widthwise/sim/unit_text.hpp"

namespace test_machine_state {

// What the calling thread has set, as torch.set_flush_denormal and XLA's threads do, changes no
// bit, and stays set.
using namespace widthwise;

#ifdef __SSE__
namespace {

using namespace tests;

using Bytes = std::vector<std::byte>;

// MXCSR's flush to zero and subnormals read as zero, and its rounding down, up, toward zero.
constexpr unsigned flushes = 0x8040, down = 0x2000, up = 0x4000, toward_zero = 0x6000,
                   usual = 0x1f80, control = ~0x3fU;
constexpr unsigned states[] = {flushes, down, up, toward_zero, flushes | down, flushes | up};

class Machine {
 public:
  explicit Machine(unsigned state) : before_(_mm_getcsr()) { _mm_setcsr(usual | state); }
  ~Machine() { _mm_setcsr(before_); }
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

 private:
  unsigned before_;
};

// `work` makes something ready and runs it.
void check(const std::string& what, const std::function<Bytes()>& work) {
  CAPTURE(what);
  const Bytes want = work();
  REQUIRE(!want.empty());
  for (const unsigned state : states) {
    Bytes got;
    unsigned after;
    {
      const Machine machine(state);
      got = work();
      after = _mm_getcsr() & control;
    }
    CAPTURE(state);
    CHECK((got == want));
    CHECK(after == ((usual | state) & control));
  }
}

template <class T>
Bytes bytes_of(const T& x) {
  Bytes bytes(x.size() * sizeof(x[0]));
  std::memcpy(bytes.data(), x.data(), bytes.size());
  return bytes;
}

// Subnormals, numbers near to 1, of all sizes, ends.
template <class T>
std::vector<T> numbers(std::size_t n) {
  using Limits = std::numeric_limits<T>;
  std::mt19937_64 draw(n);
  std::vector<T> x{T{0},
                   -T{0},
                   Limits::denorm_min(),
                   -Limits::denorm_min(),
                   Limits::min(),
                   -Limits::min(),
                   Limits::max(),
                   -Limits::max(),
                   T(1e-40),
                   T(-1e-40),
                   T(1.1),
                   T(-0.3)};
  while (x.size() < n) {
    const auto digits = static_cast<double>(draw() >> 11);
    const int size = static_cast<int>(draw() % 3 ? draw() % 12 : draw() % 240);
    x.push_back(static_cast<T>(std::ldexp(draw() & 1 ? -digits : digits, -53 + 6 - size)));
  }
  return x;
}

std::set<std::string> ways;

template <class T>
void check_conversions(const Format& from) {
  const std::vector<T> x = numbers<T>(20000);
  for (const char* text :
       {"fixed8.4", "fixed16.-101", "fixed32.20", "fixed24.140", "fixed8.1000",
        "fixed12.4;overflow=wrap", "posit8es2", "posit16es1", "posit32es2", "takum8", "takum16",
        "table(nf4)", "e4m3fn", "e8m7", "e5m10", "e4m3fn;daz;ftz", "e8m23", "e11m20"})
    for (const char* rounding : {"rne", "rna", "rup", "rdn", "raz", "odd", "sr8", "sr8:even"}) {
      const Format to = parse_format(text);
      const Env env{parse_rounding(rounding)};
      if (to.is_table() && env.rounding.mode == RoundingMode::odd) continue;
      const std::vector<Format> operands{from};
      check(fmt::format("{} by {}", text, rounding), [&] {
        Bytes codes(x.size() * static_cast<std::size_t>(item_bytes(to.width())));
        const Elementwise convert(Operation::convert, to, env, operands, false, x.size());
        const void* operand = x.data();
        convert.run({&operand, 1}, x.size(), codes.data(), nullptr, {5, 0, nullptr});
        ways.insert(convert.way());
        return codes;
      });
    }
}

void check_operations() {
  const std::vector<std::uint16_t> x = [] {
    std::mt19937_64 draw(3);
    std::vector<std::uint16_t> words(4096);
    for (auto& w : words) w = static_cast<std::uint16_t>(draw());
    return words;
  }();
  for (const char* text : {"binary16", "bfloat16", "e5m10;daz", "posit16es1", "fixed16.8"})
    for (const Operation op : {Operation::add, Operation::multiply, Operation::divide,
                               Operation::fma, Operation::convert}) {
      const Format f = parse_format(text);
      const Format to = op == Operation::convert ? binary64 : f;
      check(fmt::format("operation {} of {}", static_cast<int>(op), text), [&] {
        const std::vector<Format> formats(static_cast<std::size_t>(arity(op)), f);
        const std::vector<const void*> operands{x.data(), x.data() + 1000, x.data() + 2000};
        Bytes codes(1500 * sizeof(std::uint64_t));
        Elementwise(op, to, {}, formats, false, 1500)
            .run(std::span(operands).first(formats.size()), 1500, codes.data(), nullptr);
        return codes;
      });
    }
}

void check_values() {
  const std::vector<float> x = numbers<float>(3000);
  for (const char* text : {"fixed8.4", "fixed12.100", "fixed25.3", "posit8es2", "e4m3fn", "e8m7",
                           "e8m15", "e4m3fn;daz"})
    for (const char* rounding : {"rne", "rup", "rdn", "rtz", "sr8"})
      check(fmt::format("values of {} by {}", text, rounding), [&] {
        std::vector<float> y = x;
        const RoundedValues values(binary32, parse_format(text), {parse_rounding(rounding)}, 100);
        values.run(y.data(), y.size(), y.data(), {5, 0, nullptr});
        return bytes_of(y);
      });
}

template <class T>
void check_blocks() {
  constexpr BlockGrid grids[] = {{1, 4, 256, 1, 32}, {1, 20, 70, 1, 16}, {1, 16, 256, 4, 128}};
  for (const char* text :
       {"mxfp8_e4m3", "mxfp8_e4m3;flush=block", "mxfp4;scale=nearest", "mxint8", "bfp(8,32,e8)",
        "nvfp4", "block(e4m3fn,128,binary32)", "block(e3m2fn,32,binary32);scale=pow2",
        "block(posit8es2,4,e8m0fnu)", "block(e7m30,16,e8m0fnu)"})
    for (const char* rounding : {"rne", "rup"})
      for (const float tensor_scale : {0x1.8d2p-7F, 0x1p-130F, 0x1.8d2p-110F})
        for (const BlockGrid& g : grids) {
          const BlockFormat f = parse_block_format(text);
          if (sizeof(T) == 8 && f.scale == binary32) continue;
          const std::size_t n = g.outer * g.rows * g.columns;
          std::vector<T> x = numbers<T>(n);
          // Blocks of subnormals alone.
          for (std::size_t i = 0; i < n / 4; ++i) x[i] = static_cast<T>(i % 9) * T(0x1.7p-133);
          check(fmt::format("blocks of {} by {}", text, rounding), [&] {
            BlockHow how{parse_rounding(rounding)};
            if (f.takes_tensor_scale()) how.tensor_scale = tensor_scale;
            const auto element = static_cast<std::size_t>(item_bytes(f.element.width())),
                       scale = static_cast<std::size_t>(item_bytes(f.scale.width()));
            Bytes elements(n * element), all(g.scales() * scale);
            BlockTally tally;
            const auto quantiser = BlockQuantiser::of<T>(f, g, how);
            for (std::size_t i = 0; i < quantiser.panels(); ++i)
              quantiser.run(i, x.data(), elements.data(), all.data(), tally);
            std::vector<float> floats(n);
            std::vector<double> doubles(n);
            const auto to_floats = BlockReader::of<float>(f, g, how.tensor_scale);
            const auto to_doubles = BlockReader::of<double>(f, g, how.tensor_scale);
            for (std::size_t i = 0; i < to_floats.panels(); ++i)
              to_floats.run(i, elements.data(), all.data(), floats.data());
            for (std::size_t i = 0; i < to_doubles.panels(); ++i)
              to_doubles.run(i, elements.data(), all.data(), doubles.data());
            for (const Bytes& more :
                 {elements, bytes_of(floats), bytes_of(doubles),
                  bytes_of(std::array{std::uint64_t{tally.clamped}, std::uint64_t{tally.special}})})
              all.insert(all.end(), more.begin(), more.end());
            return all;
          });
        }
}

void check_single_steps() {
  const std::vector<float> x = numbers<float>(512);
  check("NVFP4 in single steps", [&] {
    BlockHow how;
    how.tensor_scale = 0x1.7p-20F;
    how.steps = BlockSteps::single;
    Bytes elements(x.size()), scales(x.size() / 16);
    BlockTally tally;
    const auto quantiser =
        BlockQuantiser::of<float>(parse_block_format("nvfp4"), {1, 1, x.size(), 1, 16}, how);
    for (std::size_t i = 0; i < quantiser.panels(); ++i)
      quantiser.run(i, x.data(), elements.data(), scales.data(), tally);
    elements.insert(elements.end(), scales.begin(), scales.end());
    return elements;
  });
}

void check_largest() {
  const std::vector<float> x{0x1p-140F, -0x1.8p-139F, 0};
  const std::vector<double> wide{0x1p-1060, -0x1.8p-1059, 0};
  check("largest magnitude", [&] {
    return bytes_of(std::array{largest_magnitude(x.data(), x.size()),
                               largest_magnitude(wide.data(), wide.size())});
  });
}

void check_affine(double scale) {
  std::vector<float> x = numbers<float>(4000);
  for (std::size_t i = 200; i < x.size(); ++i)
    x[i] = static_cast<float>((static_cast<double>(i % 600) / 2 - 150) * scale);
  for (const AffineArithmetic how :
       {AffineArithmetic::exact, AffineArithmetic::onnx, AffineArithmetic::torch})
    check(fmt::format("affine codes by {:a}", scale), [&] {
      AffineRule rule;
      rule.item = {1, true};
      rule.qmin = -128, rule.qmax = 127;
      rule.arithmetic = how;
      const AffineScales scales({.length = x.size()}, {scale}, {3});
      Bytes codes(x.size());
      scales.quantise(rule, x.data(), 0, x.size(), codes.data(), nullptr, {});
      std::vector<float> back(x.size());
      scales.dequantise(rule.item, codes.data(), 0, x.size(), back.data());
      const Bytes values = bytes_of(back);
      codes.insert(codes.end(), values.begin(), values.end());
      const FloatRange range = float_range(x.data() + 8, 2, {INFINITY, -INFINITY});
      const Bytes ends = bytes_of(std::array{range.low, range.high});
      codes.insert(codes.end(), ends.begin(), ends.end());
      return codes;
    });
}

// Products of any codes by every engine that takes the unit; gives their names.
std::set<std::string> check_products() {
  constexpr std::size_t m = 3, k = 36, n = 40;
  std::mt19937_64 draw(6);
  std::vector<std::uint64_t> codes(k * (m + n));
  for (auto& c : codes) c = draw();
  std::set<std::string> taken;
  for (const char* text :
       {"mac(e5m10)", "fma(e8m7)", "fma(e8m23)", "mac(e7m10, sum=e7m10:rna)",
        "mac(e4m3fn, sum=e8m13)", "kulisch(e5m10)", "dot(e8m7, out=binary32:rdn)",
        "kulisch(posit8es2)", "hopper.f16.f32", "fma(e4m3fn, sum=e9m30)", "tree(e5m10, fan=4)",
        "kahan(e5m10)", "mac(e5m2, sum=e5m10:sr8)"})
    for (const std::string& engine : engine_names()) {
      const ProductTask task{.unit = parse_unit(text), .k = k};
      if (engine == "auto" || !opinion(task, engine).takes) continue;
      taken.insert(engine);
      check(fmt::format("{} by {}", text, engine), [&] {
        Bytes results(m * n * sizeof(std::uint64_t));
        MatrixProduct p;
        p.m = m, p.n = n, p.k = k, p.result = results.data();
        p.a = {codes.data(), k, 1};
        p.b = {codes.data() + m * k, n, 1};
        prepare(task, engine).product->run(p, 0, m);
        return results;
      });
    }
  return taken;
}

}  // namespace

// Sanitizers see the same steps elsewhere.
TEST_SUITE_BEGIN("unsanitized");

TEST_CASE("texts, whatever the calling thread's machine rounds by") {
  check("tables", [] {
    static int number = 0;  // for a table is made once
    const double least = 0.001 * ++number;
    const auto values =
        table_values(parse_format(fmt::format("table({},0.1,0.3,1e-5,-0.7,0,1e-310)", least)));
    return bytes_of(std::vector<double>(values.begin() + 1, values.end()));
  });
  check("multipliers", [] {
    const auto s = parse_sum_requantisation("requantize(single, multiplier=0.3)");
    return bytes_of(std::array{s.multiplier});
  });
}

TEST_CASE("conversions and operations, whatever the calling thread's machine rounds by") {
  ways.clear();
  on_every_target([] {
    check_conversions<float>(binary32);
    check_conversions<double>(binary64);
    check_operations();
  });
  for (const char* way :
       {"float lanes", "double lanes", "fixed lanes", "tapered lanes", "stairs", "integers"})
    CHECK_MESSAGE(ways.contains(way), way);
}

TEST_CASE("values, whatever the calling thread's machine rounds by") {
  on_every_target([] { check_values(); });
}

TEST_CASE("blocks, whatever the calling thread's machine rounds by") {
  on_every_target([] {
    check_blocks<float>();
    check_blocks<double>();
    check_single_steps();
    check_largest();
  });
}

TEST_CASE("products, whatever the calling thread's machine rounds by") {
  const std::set<std::string> taken = check_products();
  for (const char* engine : {"lanes", "blocks", "exact", "integers", "tensor", "wide"})
    CHECK_MESSAGE(taken.contains(engine), engine);
}

TEST_CASE("affine codes, whatever the calling thread's machine rounds by") {
  on_every_target([] {
    for (const double scale : {0.1, double{0.1F}, double{0.3F}, 0x1p-130, 1e-39, 0x1.8p-126})
      check_affine(scale);
  });
}

TEST_SUITE_END();

#endif

}  // namespace test_machine_state
