#pragma once
#include <map>
#include <string>
#include <vector>

#include "tools.hpp"
#include "widthwise/hdl/rtl.hpp"

// Exported RTL against vectors, in the simulators of hardware.
namespace tests {

struct Field {
  std::string port;
  int width;
};

// A unit under test. A vector is the fields' digits one after the other, each from a digit of its
// own on.
struct Dut {
  std::string name;
  std::vector<widthwise::hdl::RtlFile> files;
  std::vector<Field> inputs, outputs;
  std::vector<std::string> vectors;
  std::vector<Field> taps;  // hierarchical names below the unit, printed for every vector
};

struct Verdict {
  long vectors = 0, errors = 0;
  std::vector<std::vector<std::string>> taps;  // of every vector, in hexadecimal
};
using Verdicts = std::map<std::string, Verdict>;

enum class HdlSimulator { icarus, verilator };

// All units in one simulation, compiled once.
class Simulation {
 public:
  Simulation(HdlSimulator with, const std::vector<Dut>& duts);
  // The same units, each with as many vectors. Output that is no verdict is a fault; faults are
  // told unless they are wanted.
  Verdicts run_on(const std::vector<Dut>& duts, bool tell = true);

 private:
  Scratch folder_;
  std::string program_;
};

Verdicts simulate(HdlSimulator with, const std::vector<Dut>& duts);

// How many vectors one unit fails, and nothing said of them.
long faults(HdlSimulator with, const Dut& dut);

// The files of all units in a folder; those that they share, once.
void write_files(const Scratch& folder, const std::vector<Dut>& duts);

std::string digits(const std::byte* code, int width);

}  // namespace tests
