#pragma once
#include <span>

#include "rtl_vectors.hpp"

// What proofs of exported RTL share: Yosys turns a netlist into functions of bit vectors, and a
// solver looks for operands on which they differ from what a theory says.
namespace tests {

// A unit's module as functions of its ports, called `dut_n PORT` in there.
std::string netlist(const Scratch& folder, const std::vector<widthwise::hdl::RtlFile>& files);

enum class Sum { add, fma };  // b + c is fp.add of them, or fp.fma of 1, b and c

struct Solver {
  std::string program;
  std::string_view options, check;
  Sum sum;
};
extern const Solver cvc5, z3;
bool have_tools(const Solver& solver);
// "sat" with operands that refute the question's claim, else "unsat".
std::string answer(const Solver& solver, const Scratch& folder, const std::string& question);

// A fault in one place of one file.
void change(std::vector<widthwise::hdl::RtlFile>& files, std::string_view name,
            std::string_view from, std::string_view to);

}  // namespace tests
