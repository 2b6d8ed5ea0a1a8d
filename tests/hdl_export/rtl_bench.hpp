#pragma once
#include <map>
#include <optional>
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
  // Of a unit with a clock: a vector is a transaction, and those whose in_last is 0 have no result.
  std::optional<widthwise::hdl::Timing> timing{};
  std::string module{}, parameters{};  // module #(parameters) dut; where it has another name
};

// Where each field lies in a vector, from its low end, and the vector's width.
std::vector<int> places(const Dut& dut);
int vector_width(const Dut& dut);

// A unit's results as wires, what its ports are connected to, and results beside what they are to
// be; operands come from a vector `v`, what is wanted from a vector `due`.
struct Wiring {
  std::string wires, ports, got, want;
  int got_width = 0;
};
Wiring wiring(const Dut& dut, std::string_view due);

// The bench of a unit with a clock: transactions that come and are taken at random, with resets
// among them. Results are compared in their order, and stay while they are not taken.
std::string clocked_bench(const Dut& dut);
long clocks(const Dut& dut);  // enough for all of them

struct Verdict {
  long vectors = 0, errors = 0;
  std::vector<std::vector<std::string>> taps;  // of every vector, in hexadecimal
};
using Verdicts = std::map<std::string, Verdict>;

enum class HdlSimulator { icarus, verilator };
enum class Until { end, first_fault };

// All units in one simulation, compiled once.
class Simulation {
 public:
  Simulation(HdlSimulator with, const std::vector<Dut>& duts);
  // The same units, each with as many vectors. Output that is no verdict is a fault; faults are
  // told unless one is wanted, at which all ends.
  Verdicts run_on(const std::vector<Dut>& duts, Until until = Until::end);

 private:
  Scratch folder_;
  std::string program_;
};

Verdicts simulate(HdlSimulator with, const std::vector<Dut>& duts);
Verdicts read_verdicts(const std::string& output, bool tell = true);

// All vectors of all units were come to, and agree. How many there were.
long check_verdicts(const std::vector<Dut>& duts, const Verdicts& verdicts);
void check_all(HdlSimulator with, const std::vector<Dut>& duts);

// Whether one unit fails a vector in Icarus, or does not come to it; nothing is said of it.
bool fails(const Dut& dut);

// The files of all units in a folder; those that they share, once.
void write_files(const Scratch& folder, const std::vector<Dut>& duts);

std::string digits(const std::byte* code, int width);

}  // namespace tests
