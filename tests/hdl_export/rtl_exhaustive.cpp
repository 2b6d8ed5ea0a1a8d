#include "rtl_exhaustive.hpp"

#include <doctest/doctest.h>
#include <fmt/core.h>

#include <array>
#include <cstdio>

#include "rtl_vectors.hpp"

namespace tests {
namespace {

using widthwise::Elementwise;
using widthwise::Rounding;
using widthwise::RoundingMode;
using widthwise::SingleOperation;
using widthwise::hdl::RtlFile;

// Reads for every mode and every a the results of all b and c, then their flags, a byte each.
constexpr const char* bench = R"(#include <cstdio>
#include <vector>
#include "Vdut.h"
#include "verilated.h"
int main() {{
  VerilatedContext context;
  Vdut dut(&context);
  const unsigned modes[] = {{{}}};
  const unsigned as = {}, bs = {}, cs = {};
  std::vector<unsigned char> y(bs * cs), flags(bs * cs);
  long vectors = 0, errors = 0;
  for (const unsigned rm : modes)
    for (unsigned a = 0; a < as; ++a) {{
      if (std::fread(y.data(), 1, y.size(), stdin) != y.size() ||
          std::fread(flags.data(), 1, flags.size(), stdin) != flags.size())
        return 1;
      for (unsigned i = 0; i < bs * cs; ++i, ++vectors) {{
        dut.rm = rm, dut.a = a, dut.b = i / cs, dut.c = i % cs;
        dut.eval();
        if (dut.y != y[i] || dut.flags != flags[i])
          if (++errors <= 20)
            std::printf("FAULT dut %u %02x %02x %02x, %02x %02x got %02x %02x\n", rm, a, i / cs,
                        i % cs, y[i], flags[i], dut.y, dut.flags);
      }}
    }}
  std::printf("DONE dut %ld %ld\n", vectors, errors);
}}
)";

void build(const Scratch& folder, const SingleOperation& s, std::span<const RtlFile> files) {
  std::string modes;
  for (const std::uint64_t code : rm_codes) modes += fmt::format("{}, ", code);
  for (const RtlFile& file : files) write(folder / file.name, file.text);
  write(folder / "main.cpp", fmt::format(bench, modes, 1 << s.operands[0].width(),
                                         1 << s.operands[1].width(), 1 << s.operands[2].width()));
  int bits = 0;
  for (const widthwise::Format& f : s.operands) bits += f.width();
  const char* optimised = bits > 16 ? "-O2" : "-O0";  // compiling takes longer than few triples do
  const Ran built =
      run(folder.path(),
          fmt::format("verilator --cc --exe --build -O3 -Wno-lint -Wno-style --top-module dut "
                      "-CFLAGS {0} -MAKEFLAGS 'OPT_FAST={0} OPT_GLOBAL={0}' -y . dut.v main.cpp "
                      "> build.log 2>&1 || {{ cat build.log; false; }}",
                      optimised));
  CHECK(built.output == "");
  REQUIRE(built.status == 0);
}

// Codes of b and c, all pairs of them, and of one a at a time.
struct Operands {
  explicit Operands(const SingleOperation& s)
      : cs(std::size_t{1} << s.operands[2].width()),
        count(cs << s.operands[1].width()),
        a(count),
        b(count),
        c(count) {
    for (std::size_t i = 0; i < count; ++i) {
      b[i] = static_cast<std::uint8_t>(i / cs);
      c[i] = static_cast<std::uint8_t>(i % cs);
    }
  }
  std::size_t cs, count;
  std::vector<std::uint8_t> a, b, c;
};

void say_all(const SingleOperation& s, std::FILE* to) {
  Operands x(s);
  std::vector<std::uint8_t> y(x.count), flags(x.count);
  const std::array<const void*, 3> at{x.a.data(), x.b.data(), x.c.data()};
  const std::size_t as = std::size_t{1} << s.operands[0].width();
  for (int mode = 0; mode < widthwise::deterministic_modes; ++mode) {
    const Elementwise say(s.op, s.to,
                          {Rounding{static_cast<RoundingMode>(mode)}, s.tininess, s.nan}, s.read(),
                          true, as * x.count);
    for (std::size_t a = 0; a < as; ++a) {
      x.a.assign(x.count, static_cast<std::uint8_t>(a));
      say.run(at, x.count, y.data(), flags.data());
      std::fwrite(y.data(), 1, x.count, to);
      std::fwrite(flags.data(), 1, x.count, to);
    }
  }
}

}  // namespace

Verdict on_every_triple(const SingleOperation& s, std::span<const RtlFile> files, bool tell) {
  const Scratch folder;
  build(folder, s, files);
  std::FILE* pipe =
      popen(fmt::format("cd {} && obj_dir/Vdut > said", folder.path().string()).c_str(), "w");
  REQUIRE(pipe);
  say_all(s, pipe);
  CHECK(pclose(pipe) == 0);
  return read_verdicts(read(folder / "said"), tell)["dut"];
}

}  // namespace tests
