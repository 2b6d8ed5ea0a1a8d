#include <doctest/doctest.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <sstream>

#include "dot_text.hpp"
#include "sim/dot/make.hpp"
#include "tests/lib/tally.hpp"
#include "widthwise/sim/unit_text.hpp"

namespace test_dpu {

// The reference against dpu_ref.py, the datapath page in integers of Python: random units, random
// operands. Every pair of carriers that can hold a unit has to give the same code.
namespace {

using namespace tests;

// The lines of a program's output.
class Lines {
 public:
  explicit Lines(const std::string& command) : pipe_(popen(command.c_str(), "r")) {}
  ~Lines() { close(); }

  bool next(std::string& line) {
    line.clear();
    char part[4096];
    while (std::fgets(part, sizeof part, pipe_)) {
      line += part;
      if (line.back() != '\n') continue;
      line.pop_back();
      return true;
    }
    return false;
  }
  // 0 if the program ended well.
  int close() {
    const int status = pipe_ ? pclose(pipe_) : 0;
    pipe_ = nullptr;
    return status;
  }

 private:
  FILE* pipe_;
};

// A unit over every pair of carriers that can hold it.
std::vector<std::unique_ptr<ReferenceUnit>> carriers(const Unit& u, std::size_t k) {
  std::vector<std::unique_ptr<ReferenceUnit>> all;
  const Capacity need = capacity(u, static_cast<std::int64_t>(k));
  for (const Carriers& c : all_carriers)
    if (c.hold(need)) all.push_back(c.make(u, k, {}));
  return all;
}

std::string got(const Question& x) {
  const Unit u = unit_from_toml(x.unit_text);
  const Dot dot(u, x.operands);
  std::string code;
  for (const auto& unit : carriers(u, dot.k())) {
    const std::string own = dot.run(*unit);
    if (code.empty()) code = own;
    if (own != code) return code + ", but " + own + " with " + unit->carriers();
    if (const std::string end = dot.at_the_end_of_the_trace(*unit); end != code)
      return code + ", but " + end + " at the end of the trace with " + unit->carriers();
  }
  return code;
}

std::string description(const std::string& line, const std::string& got, const Question& x) {
  return x.unit_text + "\nA " + x.operands.a + " B " + x.operands.b + " C " + x.operands.c +
         " SA " + x.operands.scale_a + " SB " + x.operands.scale_b + "\ngot " + got + ", want " +
         x.want + "\n" + line;
}

}  // namespace

TEST_CASE("dpu_ref.py and the reference agree on random units and operands, whatever the carrier") {
  const std::string python = "PATH=\"$PWD/.venv/bin:$PATH\" python3 ";
  if (std::system((python + "-c 'import sys; sys.exit(sys.version_info < (3, 11))'").c_str()) !=
      0) {
    std::cout << "SKIPPED: Python 3.11 or newer was not found\n";
    return;
  }
  const std::uint64_t count = std::getenv("WIDTHWISE_LONG") ? 200'000 : 5'000;
  const char* seed = std::getenv("WIDTHWISE_SEED");
  Lines lines(python + "tests/oracle/dpu_blocks.py " + std::to_string(count) + " " +
              (seed ? seed : "1"));
  Tally tally;
  for (std::string line; lines.next(line);) {
    const Question x(line);
    std::string code;
    try {
      code = got(x);
    } catch (const std::invalid_argument& e) {
      code = std::string("refused: ") + e.what();
    }
    tally.check(code == x.want, [&] { return description(line, code, x); });
  }
  CHECK(lines.close() == 0);
  tally.expect(count);
}

}  // namespace test_dpu
