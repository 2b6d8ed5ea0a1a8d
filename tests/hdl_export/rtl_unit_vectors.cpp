#include <algorithm>

#include "rtl_random_inputs.hpp"
#include "rtl_vectors.hpp"
#include "widthwise/sim/dot.hpp"

namespace tests {
namespace {

using namespace widthwise;

// One set of operands of a block.
struct Operands {
  std::vector<Code> a, b, scale_a, scale_b;
  Code c;
};

std::vector<Code> codes(const Format& f, std::size_t count, int kind, Random& random) {
  const auto& names = named(f);
  const Code middle = random_code(f, random);
  std::vector<Code> all;
  for (std::size_t i = 0; i < count; ++i)
    all.push_back(kind == 0   ? names[random() % names.size()]
                  : kind == 1 ? near(middle, f, random)
                  : kind == 2 ? near(names[random() % names.size()], f, random)
                              : random_code(f, random));
  return all;
}

Operands operands(const Unit& u, const Format& c, std::size_t lanes, Random& random) {
  const auto kind = [&] { return static_cast<int>(random() % 5); };
  Operands x{codes(u.a.fmt, lanes, kind(), random),
             codes(u.b.fmt, lanes, kind(), random),
             {},
             {},
             codes(c, 1, kind(), random)[0]};
  if (random() % 3 == 0 && u.a.fmt.is_signed())  // products that cancel
    for (std::size_t i = 1; i < lanes; ++i)
      if (random() % 2) {
        x.b[i] = x.b[i - 1];
        x.a[i] = x.a[i - 1] ^ bit<Code>(u.a.fmt.width() - 1);
      }
  if (random() % 4 == 0)  // few of them
    for (std::size_t i = 0; i < lanes; ++i)
      if (random() % 4) x.a[i] = Code();
  if (u.scale) {
    const std::size_t n = (lanes + static_cast<std::size_t>(u.scale->block) - 1) /
                          static_cast<std::size_t>(u.scale->block);
    x.scale_a = codes(u.scale->fmt, n, kind(), random);
    x.scale_b = codes(u.scale->fmt, n, kind(), random);
  }
  return x;
}

struct Answer {
  std::vector<std::byte> code;
  std::uint8_t flags = 0;
};

Answer answer(const Unit& u, const ReferenceUnit& reference, const Operands& x, std::uint64_t seed,
              std::uint64_t index) {
  const auto a = packed(x.a, u.a.fmt), b = packed(x.b, u.b.fmt), c = packed({x.c}, u.c.fmt);
  const Format& scale = u.scale ? u.scale->fmt : u.a.fmt;
  const auto scale_a = packed(x.scale_a, scale), scale_b = packed(x.scale_b, scale);
  Answer z;
  z.code.resize(static_cast<std::size_t>(item_bytes(result_round(u).fmt.width())));
  MatrixProduct p;
  p.m = p.n = 1;
  p.k = x.a.size();
  p.a = {a.data(), 0, 1};
  p.b = {b.data(), 1, 0};
  p.c = {c.data(), 0, 0};
  if (u.scale) p.scale_a = {scale_a.data(), 0, 1}, p.scale_b = {scale_b.data(), 1, 0};
  p.result = z.code.data();
  p.flags = &z.flags;
  p.seed = seed;
  p.first_index = index;
  reference.run(p, 0, 1);
  return z;
}

// Where C's port takes two formats: a block alone, of a chain that begins in another.
bool two_kinds_of_c(const Unit& u, const hdl::RtlOptions& options) {
  return u.lanes != 0 && options.lanes == 0 && u.chain == Chain{} &&
         u.c != Operand{.fmt = u.out.fmt};
}

}  // namespace

Dut dut(const std::string& name, const Unit& unit, int count, Random& random,
        const hdl::RtlOptions& options, const Multiplier& multiplier) {
  const int l = options.lanes ? options.lanes : static_cast<int>(unit.lanes);
  const auto lanes = static_cast<std::size_t>(l);
  const bool two_kinds = two_kinds_of_c(unit, options);
  const int c_width =
      two_kinds ? std::max(unit.c.fmt.width(), unit.out.fmt.width()) : unit.c.fmt.width();
  const int y_width = result_round(unit).fmt.width();
  Dut d{.name = name,
        .files = hdl::rtl(unit, name, options),
        .inputs = {{"a", unit.a.fmt.width() * l}, {"b", unit.b.fmt.width() * l}, {"c", c_width}},
        .outputs = {{"y", y_width}, {"flags", 5}},
        .vectors = {},
        .taps = {}};
  if (two_kinds) d.inputs.push_back({"running", 1});
  const int scales =
      !unit.scale ? 0 : static_cast<int>((l + unit.scale->block - 1) / unit.scale->block);
  if (scales)
    for (const char* port : {"scale_a", "scale_b"})
      d.inputs.push_back({port, unit.scale->fmt.width() * scales});
  if (options.rounding_port) d.inputs.push_back({"rm", 4});
  const RandomInputs random_inputs(unit, options);
  for (const Field& f : random_inputs.fields()) d.inputs.push_back(f);

  const int modes = options.rounding_port ? deterministic_modes : 1;
  for (int running = 0; running <= (two_kinds ? 1 : 0); ++running)
    for (int mode = 0; mode < modes; ++mode) {
      Unit u = unit;
      if (running) u.c = Operand{.fmt = unit.out.fmt};
      if (options.rounding_port) u.out.rm = static_cast<RoundingMode>(mode);
      const auto reference = make_reference(u, lanes, multiplier);
      for (int i = 0; i < count; ++i) {
        const Operands x = operands(u, u.c.fmt, lanes, random);
        const auto index = static_cast<std::uint64_t>(i);
        const Answer z = answer(u, *reference, x, 3, index);
        std::string line = bus_digits(x.a, u.a.fmt.width()) + bus_digits(x.b, u.b.fmt.width()) +
                           bus_digits({x.c}, c_width);
        if (two_kinds) line += hex(static_cast<std::uint64_t>(running), 1);
        if (scales)
          line += bus_digits(x.scale_a, u.scale->fmt.width()) +
                  bus_digits(x.scale_b, u.scale->fmt.width());
        if (options.rounding_port) line += hex(rm_codes[mode], 4);
        line += random_inputs.values(3, index, 0);
        d.vectors.push_back(line + digits(z.code.data(), y_width) + hex(z.flags, 5));
      }
    }
  return d;
}

namespace {

// Codes of finite numbers, the others' leading exponent bit cleared.
void calm(std::vector<Code>& codes, const Format& f) {
  const Layout<Code> l(f);
  for (Code& code : codes)
    if (l.max_finite < (code & ones<Code>(f.magnitude_bits())))
      code = code ^ bit<Code>(f.magnitude_bits() - 1);
}

std::vector<Code> some(const std::vector<Code>& codes, std::size_t first, std::size_t count) {
  const auto at = codes.begin() + static_cast<std::ptrdiff_t>(first);
  return {at, at + static_cast<std::ptrdiff_t>(count)};
}

}  // namespace

Dut running_dut(const std::string& name, const Unit& unit, const std::vector<std::size_t>& blocks,
                Random& random, hdl::RtlOptions options) {
  options.accumulate = true;
  const bool at_once = unit.lanes == 0, ends_with_c = at_once && !has_nar(unit.group_sum.overflow);
  const auto l = static_cast<std::size_t>(at_once ? options.lanes : unit.lanes);
  const bool two_kinds = two_kinds_of_c(unit, options);
  const int c_width =
      two_kinds ? std::max(unit.c.fmt.width(), unit.out.fmt.width()) : unit.c.fmt.width();
  const int lanes = static_cast<int>(l), y_width = unit.out.fmt.width();
  Dut d{.name = name,
        .files = hdl::rtl(unit, name, options),
        .inputs = {{"a", unit.a.fmt.width() * lanes},
                   {"b", unit.b.fmt.width() * lanes},
                   {"c", c_width}},
        .outputs = {{"y", y_width}, {"flags", 5}},
        .vectors = {},
        .taps = {},
        .timing = hdl::rtl_timing(unit, options)};
  const RandomInputs random_inputs(unit, options);
  for (const Field& f : random_inputs.fields()) d.inputs.push_back(f);
  d.inputs.push_back({"in_first", 1});
  d.inputs.push_back({"in_last", 1});

  for (std::size_t s = 0; s < blocks.size(); ++s) {
    const std::size_t n = blocks[s];
    Operands x = operands(unit, unit.c.fmt, n * l, random);
    if (s % 4 != 3) calm(x.a, unit.a.fmt), calm(x.b, unit.b.fmt);
    const Answer z = answer(unit, *make_reference(unit, n * l), x, 3, s);
    for (std::size_t i = 0; i < n; ++i) {
      const bool first = i == 0, last = i + 1 == n, reads_c = ends_with_c ? last : first;
      std::string line = bus_digits(some(x.a, i * l, l), unit.a.fmt.width()) +
                         bus_digits(some(x.b, i * l, l), unit.b.fmt.width()) +
                         bus_digits({reads_c ? x.c : random_code(unit.c.fmt, random)}, c_width);
      line += random_inputs.values(3, s, i * l);
      line += hex(first, 1) + hex(last, 1);
      d.vectors.push_back(line + (last ? digits(z.code.data(), y_width) + hex(z.flags, 5)
                                       : hex(0, y_width) + hex(0, 5)));
    }
  }
  return d;
}

}  // namespace tests
