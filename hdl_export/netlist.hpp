#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "entries.hpp"
#include "taps.hpp"

namespace widthwise::hdl {

// Sums and differences of exponents of 62 bits.
__extension__ typedef __int128 Exponent;

// A parameter or port of an instance and what it is connected to.
using Connection = std::pair<std::string_view, std::string>;
using Connections = std::vector<Connection>;

// A signal of several lanes side by side, and one lane of it.
struct Bus {
  std::string name;
  int width;  // of a lane
  int lanes = 1;
  std::string range() const;                         // "[11:0] "; nothing for a single bit
  std::string lane(const std::string& index) const;  // "sig[i*4 +: 4]"
  Bus part(std::string_view field, int bits) const;  // lanes alike, another signal
};

// The body of a module while it is written, stage by stage. All its exponents have one width, which
// is known only when every stage has told what it may meet: so a module is written twice.
class Netlist {
 public:
  // Clocked: registers lie between the stages.
  explicit Netlist(int exponent_bits, bool clocked = false)
      : exponent_bits_(exponent_bits), clocked_(clocked) {}

  // An exponent, a difference of two or a shift distance that some wire has to hold.
  void reach(Exponent x);
  int needed_bits() const { return needed_; }
  int exponent_bits() const { return exponent_bits_; }
  std::string exponent(Exponent x) const;  // sized, two's complement

  void input(const Bus& bus);  // of the module, all of them before the first stage
  void stage(std::string_view name);
  // A module with registers of its own, which begins in this stage and goes through further ones.
  void across(const std::vector<std::string_view>& further, const std::function<void()>& write);
  // The one register behind this stage is a state: it is always there, and keeps its last result.
  void keep(std::string_view stage) { kept_ = stage; }
  const std::string& kept() const { return kept_; }
  const std::string& here() const { return stages()[pipeline_.reading()].stage; }
  // How many registers are behind a stage, "PIPE_ROUND", and when they take what is in front.
  std::string depth(std::string_view stage) const;
  std::string enable(std::string_view stage) const;
  std::string clock() const { return clocked_ ? "clk" : "1'b0"; }
  const std::vector<StageRegister>& stages() const { return pipeline_.stages(); }
  std::size_t reading() const { return pipeline_.reading(); }
  std::size_t making() const { return pipeline_.making(); }
  // What has been written that a trace has, too.
  Taps& taps() { return taps_; }
  const Taps& taps() const { return taps_; }

  void section(std::string_view title);  // within a stage

  void wire(const Bus& bus, std::string_view value = {});
  void signed_wire(const Bus& bus);
  void assign(const std::string& to, const std::string& value);
  void instance(std::string_view module, std::string_view name, const Connections& parameters,
                const Connections& ports);
  // The same for every lane; the index is "i", or "0" where there is one.
  void lanes(int count, std::string_view label,
             const std::function<void(const std::string& index)>& one);

  std::string text() const;

 private:
  void line(std::string_view text);
  std::string seen(const std::string& value);  // by the current stage
  std::string list(const Connections& all) const;
  std::string registers(std::size_t stage) const;

  Pipeline pipeline_;
  Taps taps_;
  std::string start_;               // what stands before the first stage
  std::vector<std::string> texts_;  // of the stages
  std::string kept_, indent_ = "  ";
  int exponent_bits_, needed_ = 2;
  bool clocked_;
};

// How many registers stand behind a stage, as a top module's parameter is called.
std::string pipe_parameter(std::string_view stage);
std::string literal(int width, const Code& code);
std::string truth(bool x);  // 1'b1
std::string decimal(int x);

}  // namespace widthwise::hdl
