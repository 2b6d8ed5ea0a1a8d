#include <doctest/doctest.h>
#include <fmt/core.h>

#include <algorithm>

#include "rtl_cases.hpp"
#include "widthwise/sim/dot.hpp"
#include "widthwise/sim/trace_operation.hpp"
#include "widthwise/sim/unit_text.hpp"

using namespace tests;
using namespace widthwise;

namespace {

// A number by its leading one's exponent and its digits from there, as a text without zeros behind.
struct Wire {
  bool negative = false;
  std::string digits;
  std::int64_t exponent = 0;
  bool operator==(const Wire&) const = default;
};

std::string binary(const std::string& hexadecimal) {
  std::string bits;
  for (const char c : hexadecimal) {
    const int digit = c <= '9' ? c - '0' : c - 'a' + 10;
    for (int i = 3; i >= 0; --i) bits += digit >> i & 1 ? '1' : '0';
  }
  return bits;
}

// As far as a rounding to so many digits looks: what lies below is one digit that is not zero.
Wire wire(bool negative, const std::string& hexadecimal, std::int64_t exponent, std::size_t looks) {
  std::string bits = binary(hexadecimal);
  const std::size_t first = bits.find('1');
  if (first == std::string::npos) return {negative, "", 0};
  exponent += static_cast<std::int64_t>(bits.size() - first) - 1;
  bits = bits.substr(first);
  const bool rest = bits.size() > looks && bits.find('1', looks) != std::string::npos;
  bits = bits.substr(0, looks) + (rest ? "1" : "");
  bits.erase(bits.find_last_not_of('0') + 1);
  return {negative, bits, exponent};
}

std::int64_t signed_value(const std::string& hexadecimal, int width) {
  const std::uint64_t x = std::stoull(hexadecimal, nullptr, 16);
  return width < 64 && x >> (width - 1) ? static_cast<std::int64_t>(x) - (std::int64_t{1} << width)
                                        : static_cast<std::int64_t>(x);
}

int exponent_bits(const Dut& d) {
  const std::string& top = d.files.front().text;
  const std::size_t at = top.find(".XW(");
  return std::stoi(top.substr(at + 4));
}

// What Icarus reads on the taps; Verilator has to read the same.
Verdicts tapped(const std::vector<Dut>& duts) {
  const Verdicts verdicts = simulate(HdlSimulator::icarus, duts);
  if (have("verilator"))
    for (const auto& [name, verdict] : simulate(HdlSimulator::verilator, duts))
      CHECK(verdict.taps == verdicts.at(name).taps);
  return verdicts;
}

// Taps of the last four stages, and the digits below the point of the exact one.
std::vector<Field> rounding_taps(int xw) {
  return {{"out.sign", 1},   {"out.normal_exp", xw}, {"out.normal", 1},        {"out.subnormal", 1},
          {"out.placed", 1}, {"out.magnitude", 1},   {"out.normalise.zero", 1}};
}

}  // namespace

TEST_CASE("taps carry what the simulator's trace has at the stage of that name") {
  if (!have("iverilog")) return;
  const char* operations[] = {"multiply e4m3fn e4m3fn -> e4m3fn rne", "add e8m7 e8m7 -> e8m7 rup",
                              "fma e5m10 e5m10 e5m10 -> e5m10 rtz", "convert e8m23 -> e5m2 rna",
                              "multiply e5m7;sub=no e5m7;sub=no -> e5m7;sub=no rne"};
  Random random(3);
  std::vector<Dut> duts;
  std::vector<Tuples> tuples;
  for (const char* text : operations) {
    const auto op = operation(text);
    tuples.push_back(aimed_tuples(op.s.read(), 100, random));
    duts.push_back(dut(fmt::format("tap{}", duts.size()), op, tuples.back()));
    duts.back().taps = rounding_taps(exponent_bits(duts.back()));
    for (std::size_t i = 0; i < op.s.arity(); ++i) {
      const std::string x(1, "abc"[i]);
      for (const char* field : {"sign", "exp", "sig"})
        duts.back().taps.push_back({fmt::format("{}_{}", x, field), 1});
    }
  }
  const Verdicts verdicts = tapped(duts);
  long compared[4] = {};
  for (std::size_t d = 0; d < duts.size(); ++d) {
    const auto op = operation(operations[d]);
    const Format& f = op.s.to;
    const int xw = exponent_bits(duts[d]);
    const std::size_t looks = static_cast<std::size_t>(f.precision()) + 1;
    const auto& taps = verdicts.at(duts[d].name).taps;
    REQUIRE(taps.size() == tuples[d].size());
    for (std::size_t i = 0; i < taps.size(); ++i) {
      std::vector<std::vector<std::byte>> bytes;
      std::vector<CodeArray> operands;
      for (std::size_t j = 0; j < op.s.arity(); ++j)
        bytes.push_back(packed({tuples[d][i][j]}, op.s.operands[j]));
      for (std::size_t j = 0; j < op.s.arity(); ++j)
        operands.push_back({op.s.operands[j], bytes[j].data()});
      const auto& tap = taps[i];
      const bool negative = tap[0] == "1";
      const std::int64_t top = signed_value(tap[1], xw);
      CAPTURE(duts[d].vectors[i]);
      for (const TraceRow& row : trace_operation(op.s.op, f, {op.s.rounding}, operands)) {
        const auto traced = [&](std::size_t digits) {
          return wire(row.negative, row.significand, row.exponent, digits);
        };
        const std::int64_t digits_in = f.precision() + 2;  // of normal and placed
        if (row.stage == Stage::unpack && row.kind == Kind::finite) {
          const std::size_t x = 7 + 3 * static_cast<std::size_t>(row.slot[0] - 'a');
          const Format& from = op.s.operands[static_cast<std::size_t>(row.slot[0] - 'a')];
          CHECK(wire(tap[x] == "1", tap[x + 2], signed_value(tap[x + 1], xw) - from.frac_bits,
                     99) == traced(99));
          ++compared[0];
        } else if (row.stage == Stage::normalise) {
          CHECK(wire(negative, tap[2], top - digits_in + 1, looks) == traced(looks));
          ++compared[1];
        } else if (row.stage == Stage::denormalise) {
          const std::int64_t at = tap[3] == "1" ? f.emin() : top;
          const std::size_t kept = tap[3] == "1" && looks > static_cast<std::size_t>(f.emin() - top)
                                       ? looks - static_cast<std::size_t>(f.emin() - top)
                                   : tap[3] == "1" ? 0
                                                   : looks;
          if (kept == 0) continue;  // nothing but the digit that stands for the rest
          CHECK(wire(negative, tap[4], at - digits_in + 1, kept) == traced(kept));
          ++compared[2];
        } else if (row.stage == Stage::round) {
          const std::uint64_t m = std::stoull(tap[5], nullptr, 16), field = m >> f.frac_bits;
          const bool normal = f.all_normal() ? tap[3] == "0" : field != 0;
          const std::uint64_t hidden = std::uint64_t{normal} << f.frac_bits;
          const std::uint64_t sig = (m & ((std::uint64_t{1} << f.frac_bits) - 1)) | hidden;
          const std::int64_t e =
              f.emin() + static_cast<std::int64_t>(field) - (normal && !f.all_normal());
          if (row.exponent + f.frac_bits > f.emax()) continue;  // past the code's exponents
          CHECK(wire(negative, hex(sig, 64), e - f.frac_bits, 99) == traced(99));
          ++compared[3];
        }
      }
    }
  }
  MESSAGE(compared[0] << " unpacked, " << compared[1] << " normalised, " << compared[2]
                      << " denormalised, " << compared[3] << " rounded");
  for (const long n : compared) CHECK(n > 300);
}

TEST_CASE("a unit's taps: products and the aligned sum of hopper.e4m3.f32") {
  if (!have("iverilog")) return;
  Random random(4);
  const Unit u = parse_unit("hopper.e4m3.f32");
  Dut d = dut("hopper", u, 40, random);
  d.taps = {{"product_sig", 1}, {"group_sum_sign", 1}, {"group_sum_exp", 1}, {"group_sum_sig", 1}};
  const Verdicts verdicts = tapped({d});
  const auto& taps = verdicts.at("hopper").taps;
  REQUIRE(taps.size() == d.vectors.size());
  const int xw = exponent_bits(d);
  const auto reference = make_reference(u, 32);
  long products = 0, sums = 0;
  for (std::size_t i = 0; i < taps.size(); ++i) {
    // The codes stand in the vector, the first lane last.
    const std::string& v = d.vectors[i];
    const auto lanes = [&](std::size_t at) {
      std::vector<std::uint8_t> codes;
      for (std::size_t j = 0; j < 32; ++j)
        codes.push_back(
            static_cast<std::uint8_t>(std::stoul(v.substr(at + 62 - 2 * j, 2), nullptr, 16)));
      return codes;
    };
    const auto a = lanes(0), b = lanes(64);
    const auto c = static_cast<std::uint32_t>(std::stoul(v.substr(128, 8), nullptr, 16));
    MatrixProduct p;
    p.m = p.n = 1;
    p.k = 32;
    p.a = {a.data(), 0, 1};
    p.b = {b.data(), 1, 0};
    p.c = {&c, 0, 0};
    std::uint32_t y = 0;
    p.result = &y;
    for (const TraceRow& row : reference->trace(p, 0, 0)) {
      if (row.kind != Kind::finite) continue;
      if (row.stage == Stage::product) {
        const auto at = taps[i][0].size() - 2 * static_cast<std::size_t>(row.lane) - 2;
        CHECK(std::stoul(taps[i][0].substr(at, 2), nullptr, 16) ==
              std::stoul(row.significand, nullptr, 16));
        ++products;
      } else if (row.stage == Stage::group_sum) {
        const std::int64_t e = signed_value(taps[i][2], xw) - 13;
        CHECK(wire(taps[i][1] == "1", taps[i][3], e, 99) ==
              wire(row.negative, row.significand, row.exponent, 99));
        ++sums;
      }
    }
  }
  MESSAGE(products << " products, " << sums << " sums");
  CHECK(products > 200);
  CHECK(sums > 10);
}
