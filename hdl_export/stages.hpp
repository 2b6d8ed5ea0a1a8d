#pragma once
#include <optional>

#include "netlist.hpp"
#include "widthwise/rounder.hpp"
#include "widthwise/unit.hpp"

// The stages of the datapath as instances: each takes terms, writes its modules into a netlist and
// tells of the term that leaves it. Widths are worked out here, results never.
namespace widthwise::hdl {

// Where a number other than zero has its leading digit.
enum class Lead {
  at_exponent,  // there or above
  above_least,  // there, but for subnormals, which have the least exponent
  anywhere,
};

// Numbers on wires NAME_nan _inf _zero _sign _exp _sig, one or several side by side:
// (-1)^sign * sig * 2^(exp - fraction).
struct Term {
  Bus bus;  // its width is that of the significands
  int fraction;
  Exponent least, largest;  // exponents
  Lead lead;

  Bus nan() const { return bus.part("nan", 1); }
  Bus inf() const { return bus.part("inf", 1); }
  Bus zero() const { return bus.part("zero", 1); }
  Bus sign() const { return bus.part("sign", 1); }
  Bus sig() const { return bus.part("sig", bus.width); }
};

// Where a sum's terms are cut, and the register they are added in.
struct Grid {
  bool fixed = false;  // at `floor`, which no exponent passes; else below the largest exponent
  Exponent fraction = 0;
  Rounding rm{RoundingMode::rtz};
  std::optional<Exponent> floor{};
  int width = 0;  // two's complement
  bool saturates = false;
  bool overflows = false;  // the least number may come up
  bool by_value = false;   // of an exact sum: a term that is 0 has no vote
};

struct RoundingPorts {
  std::string rm, random = "1'b0", mixed = "1'b0", invalid = "1'b0";
  std::string nan{}, inf{}, sign{};  // where the term's own are overridden
  bool staged = false;               // its four steps are stages of the unit
};

// Whether aligning and adding are two stages of the unit, and the register keeps its sum.
struct SumStages {
  bool staged = false, accumulates = false;
};

// Any other is an approximation, whose product may be of any size.
inline constexpr std::string_view exact_multiplier = "ww_multiply";

class Stages {
 public:
  Stages(Netlist& out, Tininess tininess) : out_(out), tininess_(tininess) {}

  // Of codes on `code`; negated for a difference.
  Term unpack(const std::string& name, const std::string& code, const Operand& operand,
              int lanes = 1, bool negate = false);
  // p = a * b, lane by lane; a stage of its own, or a scale's.
  Term product(const std::string& name, const Term& a, const Term& b,
               std::string_view multiplier = exact_multiplier);
  // Lane i is lane index(i) of another term: dealt to groups, or one scale for many.
  Term picked(const std::string& name, const Term& t, int lanes,
              const std::function<std::string(const std::string& i)>& index);
  // x where `when` holds, else y.
  Term chosen(const std::string& name, const std::string& when, const Term& x, const Term& y);
  // t where `when` holds, else a zero of the sign given.
  Term only(const std::string& name, const std::string& when, const Term& t,
            const std::string& sign);
  // Terms of one shape side by side.
  Term joined(const std::string& name, const Term& x, const Term& y);
  // The sums of `groups` runs of neighbouring lanes.
  Term sum(const std::string& name, const Term& terms, int groups, const Grid& grid,
           const SumStages& stages = {});
  // Group sums times their scales, at whose exponents alone they align.
  Term scaled(const std::string& name, const Term& sums, const Exponent& floor, const Term& by_a,
              const Term& by_b);
  // Codes on wires NAME_code and their flags on NAME_flags.
  void deliver(const std::string& name, const Term& t, const Round& round,
               const RoundingPorts& ports);

 private:
  Term sum_module(const std::string& name, const Term& terms, int groups, const Grid& grid,
                  const SumStages& stages);
  void deliver_module(const std::string& name, const Term& t, const Round& round,
                      const RoundingPorts& ports);
  Bus shaped(const std::string& name, const Term& t, int above, int fraction);
  Term declared(const std::string& name, int lanes, int width, int fraction, Exponent least,
                Exponent largest, Lead lead);
  Bus exp(const Term& t) const { return t.bus.part("exp", out_.exponent_bits()); }
  void reach_of_rounding(const Term& t, const Format& f, int digits);
  Connections rounding_parameters(const Term& t, const Round& round, const Rounder<Code>& to) const;
  Connections term_ports(const Term& t, const std::string& index) const;

  Netlist& out_;
  Tininess tininess_;
};

// Two terms whose exact sum is rounded to so many digits, or with k random bits: a grid on which
// the sum rounds as the exact one does.
Grid grid_of_two(const Term& x, const Term& y, int digits, int random_bits);

}  // namespace widthwise::hdl
