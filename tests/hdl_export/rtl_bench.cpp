#include "rtl_bench.hpp"

#include <doctest/doctest.h>
#include <fmt/core.h>

#include <sstream>

namespace tests {
namespace {

constexpr int digits_of(int width) { return (width + 3) / 4; }

}  // namespace

std::vector<int> places(const Dut& dut) {
  std::vector<int> at;
  int end = 0;
  for (const auto* fields : {&dut.inputs, &dut.outputs})
    for (const Field& f : *fields) end += 4 * digits_of(f.width);
  for (const auto* fields : {&dut.inputs, &dut.outputs})
    for (const Field& f : *fields) at.push_back(end -= 4 * digits_of(f.width));
  return at;
}

int vector_width(const Dut& dut) {
  return places(dut).front() + 4 * digits_of(dut.inputs.front().width);
}

Wiring wiring(const Dut& dut, std::string_view due) {
  const std::vector<int> at = places(dut);
  Wiring w;
  for (std::size_t i = 0; i < dut.inputs.size(); ++i)
    w.ports += fmt::format("{}.{}(v[{} +: {}])", i ? ", " : "", dut.inputs[i].port, at[i],
                           dut.inputs[i].width);
  for (std::size_t i = 0; i < dut.outputs.size(); ++i) {
    const Field& f = dut.outputs[i];
    w.wires += fmt::format("  wire [{}:0] {};\n", f.width - 1, f.port);
    w.ports += fmt::format(", .{0}({0})", f.port);
    w.got += (i ? ", " : "") + f.port;
    w.want += fmt::format("{}{}[{} +: {}]", i ? ", " : "", due, at[dut.inputs.size() + i], f.width);
    w.got_width += f.width;
  }
  return w;
}

namespace {

// Takes a vector a clock, and compares at the next one.
std::string bench(const Dut& dut) {
  const Wiring w = wiring(dut, "v");
  const int width = vector_width(dut);
  const std::size_t n = dut.vectors.size();
  std::string shown;
  for (const Field& tap : dut.taps)
    shown += fmt::format("        $write(\" %h\", dut.{});\n", tap.port);
  if (!shown.empty())
    shown =
        fmt::format("        $write(\"TAP {}\");\n{}        $display(\"\");\n", dut.name, shown);
  return fmt::format(R"(
module bench_{0} (input clk);
  reg [{1}:0] mem [0:{2}];
  reg [{1}:0] v;
  integer i, errors;
{3}  {0} dut ({4});
  initial begin
    $readmemh("{0}.hex", mem);
    v = mem[0];
    i = 0;
    errors = 0;
  end
  always @(posedge clk)
    if (i <= {2}) begin
      if ({{{5}}} !== {{{6}}}) begin
        errors = errors + 1;
        if (errors <= 20) $display("FAULT {0} %h got %h", v, {{{5}}});
        if ($test$plusargs("first")) $finish;
      end
      begin
{7}      end
      i = i + 1;
      if (i <= {2}) v = mem[i];
      else $display("DONE {0} %0d %0d", i, errors);
    end
endmodule
)",
                     dut.name, width - 1, n - 1, w.wires, w.ports, w.got, w.want, shown);
}

std::string all_benches(const std::vector<Dut>& duts) {
  std::string text, instances;
  long most = 0;
  for (const Dut& dut : duts) {
    text += dut.timing ? clocked_bench(dut) : bench(dut);
    instances += fmt::format("  bench_{0} b_{0} (.clk(clk));\n", dut.name);
    most = std::max(most, dut.timing ? clocks(dut) : static_cast<long>(dut.vectors.size()));
  }
  return text + fmt::format(
                    "\nmodule benches (input clk);\n{}  integer n;\n  initial n = 0;\n"
                    "  always @(posedge clk) begin\n    n = n + 1;\n"
                    "    if (n > {}) $finish;\n  end\nendmodule\n",
                    instances, most);
}

constexpr const char* icarus_clock =
    "module clocked;\n  reg clk;\n  initial clk = 0;\n  always #1 clk = ~clk;\n"
    "  benches b (.clk(clk));\nendmodule\n";

constexpr const char* verilator_main = R"(#include "Vbenches.h"
#include "verilated.h"
int main(int argc, char** argv) {
  VerilatedContext context;
  context.commandArgs(argc, argv);
  Vbenches top(&context);
  for (top.clk = 0; !context.gotFinish(); top.clk = !top.clk) top.eval();
}
)";

}  // namespace

Verdicts read_verdicts(const std::string& output, bool tell) {
  Verdicts all;
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string kind, name, word;
    words >> kind >> name;
    if (kind == "DONE") {
      words >> all[name].vectors >> all[name].errors;
    } else if (kind == "TAP") {
      auto& values = all[name].taps.emplace_back();
      while (words >> word) values.push_back(word);
    } else if (kind == "FAULT") {
      if (tell) MESSAGE(line);
    } else {
      CHECK_MESSAGE(line.find("$finish") != std::string::npos, line);
    }
  }
  return all;
}

std::string digits(const std::byte* code, int width) {
  std::string text;
  for (int i = digits_of(width); i-- > 0;)
    text += "0123456789abcdef"[static_cast<int>(code[i / 2]) >> i % 2 * 4 & 15];
  return text;
}

void write_files(const Scratch& folder, const std::vector<Dut>& duts) {
  for (const Dut& dut : duts)
    for (const auto& file : dut.files) write(folder / file.name, file.text);
}

namespace {

// Verilator's own library, which takes three seconds to compile: the first simulation's, for all.
class Library {
 public:
  std::string lend(const std::filesystem::path& folder) const {
    std::string kept;
    for (const auto& object : std::filesystem::directory_iterator(kept_.path())) {
      std::filesystem::copy(object, folder / object.path().filename());
      kept += " -o " + object.path().filename().string();  // as good as new, to make
    }
    return kept;
  }
  void keep(const std::filesystem::path& folder) const {
    for (const auto& object : std::filesystem::directory_iterator(folder))
      if (const auto name = object.path().filename();
          name.string().starts_with("verilated") && name.extension() == ".o")
        std::filesystem::copy(object, kept_ / name, std::filesystem::copy_options::skip_existing);
  }

 private:
  Scratch kept_;
};

void check_built(const Ran& built) {
  CHECK(built.output == "");
  CHECK(built.status == 0);
}

const Library& library() {
  static const Library one;
  return one;
}

}  // namespace

Simulation::Simulation(HdlSimulator with, const std::vector<Dut>& duts)
    : program_(with == HdlSimulator::icarus ? "./sim" : "obj_dir/Vbenches") {
  write_files(folder_, duts);
  write(folder_ / "benches.v", all_benches(duts));
  write(folder_ / "clocked.v", icarus_clock);
  write(folder_ / "main.cpp", verilator_main);
  if (with == HdlSimulator::icarus) {
    check_built(run(folder_.path(), "iverilog -g2005 -y . -s clocked -o sim clocked.v benches.v"));
    return;
  }
  const auto objects = folder_ / "obj_dir";
  std::filesystem::create_directory(objects);
  // What is compiled runs for seconds, so the compiler's time is what counts: no optimisation, and
  // few files, each of which reads the same headers.
  check_built(run(folder_.path(),
                  fmt::format("verilator --cc --exe --build -O3 -Wno-lint -Wno-style "
                              "--top-module benches --output-split 1000000 "
                              "-MAKEFLAGS 'OPT_FAST=-O0 OPT_GLOBAL=-O0{}' -y . benches.v main.cpp "
                              "> build.log 2>&1 || {{ cat build.log; false; }}",
                              library().lend(objects))));
  library().keep(objects);
}

Verdicts Simulation::run_on(const std::vector<Dut>& duts, Until until) {
  for (const Dut& dut : duts) {
    std::string lines;
    for (const std::string& vector : dut.vectors) lines += vector + "\n";
    write(folder_ / (dut.name + ".hex"), lines);
  }
  const bool all = until == Until::end;
  const Ran ran = run(folder_.path(), program_ + (all ? "" : " +first"));
  CHECK(ran.status == 0);
  return read_verdicts(ran.output, all);
}

Verdicts simulate(HdlSimulator with, const std::vector<Dut>& duts) {
  return Simulation(with, duts).run_on(duts);
}

long check_verdicts(const std::vector<Dut>& duts, const Verdicts& verdicts) {
  long vectors = 0;
  for (const Dut& d : duts) {
    CAPTURE(d.name);
    REQUIRE(verdicts.contains(d.name));
    const Verdict& v = verdicts.at(d.name);
    CHECK(v.vectors == static_cast<long>(d.vectors.size()));
    CHECK(v.vectors > 0);
    CHECK(v.errors == 0);
    vectors += v.vectors;
  }
  return vectors;
}

void check_all(HdlSimulator with, const std::vector<Dut>& duts) {
  const long vectors = check_verdicts(duts, simulate(with, duts));
  MESSAGE(duts.size() << " units, " << vectors << " vectors");
}

bool fails(const Dut& dut) {
  const Verdict v =
      Simulation(HdlSimulator::icarus, {dut}).run_on({dut}, Until::first_fault)[dut.name];
  return v.errors > 0 || v.vectors < static_cast<long>(dut.vectors.size());
}

}  // namespace tests
