#include "rtl_proofs.hpp"

#include <doctest/doctest.h>
#include <fmt/core.h>

namespace tests {

using widthwise::hdl::RtlFile;

std::string netlist(const Scratch& folder, const std::vector<RtlFile>& files) {
  for (const RtlFile& file : files) write(folder / file.name, file.text);
  const Ran ran = run(folder.path(),
                      "yosys -q -p 'read_verilog *.v; hierarchy -check -top dut; proc; flatten; "
                      "opt; write_smt2 -stbv netlist.smt2'");
  CHECK(ran.output == "");
  REQUIRE(ran.status == 0);
  return read(folder / "netlist.smt2");
}

// cvc5 1.0.3 refuses a sort of one fraction bit, and answers wrongly of two exponent bits.
const Solver cvc5{"cvc5", "--fp-exp --bv-solver=bitblast-internal", "(check-sat)", Sum::add};

// Z3 5.4 refuses fp.add where the exponent is wider than the significand. Without these steps it
// says "unknown"; Z3 4.8 never ends.
const Solver z3{"z3", "",
                "(check-sat-using (then simplify fpa2bv simplify propagate-values solve-eqs "
                "simplify bit-blast simplify aig sat))",
                Sum::fma};

bool have_tools(const Solver& solver) { return have("yosys") && have(solver.program); }

std::string answer(const Solver& solver, const Scratch& folder, const std::string& question) {
  write(folder / "question.smt2", fmt::format("{}{}\n", question, solver.check));
  return run(folder.path(), fmt::format("{} {} question.smt2", solver.program, solver.options))
      .output;
}

void change(std::vector<RtlFile>& files, std::string_view name, std::string_view from,
            std::string_view to) {
  for (RtlFile& file : files)
    if (const std::size_t at = file.text.find(from); file.name == name && at != file.text.npos)
      return void(file.text.replace(at, from.size(), to));
  FAIL(name);
}

}  // namespace tests
