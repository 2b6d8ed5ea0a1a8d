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
  bool fixed = false;  // all have one exponent, as fixed point and sums on a fixed grid have

  // The exponent of the top digit of sig, above the term's own.
  int top() const { return bus.width - 1 - fraction; }
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
  int width = 0;           // two's complement
  bool overflows = false;  // the least number may come up
  bool in_order = false;   // term by term, for that makes a difference
  bool saturates = false;
  bool quire = false;                   // 10...0 in the register is NaR, which stays,
  bool strict = false;                  // and so is what it does not hold
  bool by_value = false;                // of an exact sum: a term that is 0 has no vote
  std::optional<LateFrac> late{};       // digits kept of the last term and of the others
  std::optional<Exponent> drop_last{};  // the last term is 0 when further below the largest
};

struct RoundingPorts {
  std::string rm;
  Bus random;  // a word for each lane
  std::string mixed = "1'b0", invalid = "1'b0";
  std::string nan{}, inf{}, sign{};       // where the term's own are overridden
  NanResult made = NanResult::canonical;  // the NaN that is delivered, whatever the operands
  std::optional<std::string> stages{};  // its steps are stages of the unit, named with this prefix
  bool cut = false;                     // it was, and zeros of sums have their signs
};

// Whether a sum that is zero keeps its sign there (zero_sign, datapath 3.4).
bool keeps_sum_zeros(const Round& r);

// Whether aligning and adding are two stages of the unit, and the register keeps its sum.
struct SumStages {
  bool staged = false, accumulates = false;
};

// Any other is an approximation, whose product may be of any size.
inline constexpr std::string_view exact_multiplier = "ww_multiply";

class Stages {
 public:
  explicit Stages(Netlist& out) : out_(out) {}

  // Of codes on `code`, conditioned; negated for a difference.
  Term unpack(const std::string& name, const std::string& code, const Operand& operand,
              int lanes = 1, bool negate = false);
  // p = a * b, lane by lane; a stage of its own, or a scale's.
  Term product(const std::string& name, const Term& a, const Term& b,
               std::string_view multiplier = exact_multiplier);
  // Infinite from 2^n on.
  Term limited(const std::string& name, const Term& t, Exponent n);
  // With the leading digit at the exponent, which is what a sum then aligns.
  Term normalised(const std::string& name, const Term& t);
  // Lane i is lane index(i) of another term: dealt to groups, or one scale for many.
  Term picked(const std::string& name, const Term& t, int lanes,
              const std::function<std::string(const std::string& i)>& index);
  // With so many digits above the point and below.
  Term widened(const std::string& name, const Term& t, int above, int fraction);
  // Over 2^scale, |scale| up to `most`; zero where `none` holds. NaN and infinity are no longer
  // told.
  Term rescaled(const std::string& name, const Term& t, const std::string& scale, Exponent most,
                const std::string& none);
  // n over d, which is not 0, and one for all lanes; both are normalised. So many digits, the first
  // of weight 1, and one more that says whether others follow. NaN and infinity are no longer told.
  Term quotient(const std::string& name, const Term& n, const Term& d, int digits);
  // With the other sign.
  Term negated(const std::string& name, const Term& t);
  // +0, as registers of a format start with it.
  Term cleared(const std::string& name, const Format& f);
  // On a wire NAME whether |x| >= |y|; not where one is NaN.
  void at_least(const std::string& name, const Term& x, const Term& y);
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
  // The first of two cuts, as `round` says.
  Term cut(const std::string& name, const Term& t, const Round& round);
  // Codes on wires NAME_code and their flags on NAME_flags.
  void deliver(const std::string& name, const Term& t, const Round& round,
               const RoundingPorts& ports);

 private:
  // The module that delivers a format, and its stages but for `pack`, the last, with the parameter
  // that says how many registers are behind each.
  struct Delivery {
    struct Stage {
      const char *name, *registers;
    };
    std::string_view module;
    Connections parameters;
    std::vector<Stage> stages;
  };
  Term sum_module(const std::string& name, const Term& terms, int groups, const Grid& grid,
                  const SumStages& stages);
  void deliver_module(const std::string& name, const Term& t, const Round& round,
                      const Delivery& how, const RoundingPorts& ports);
  Term unpacked(const std::string& name, const std::string& code, const Operand& operand, int lanes,
                bool negate);
  Term unpacked_float(const std::string& name, const std::string& code, const Operand& operand,
                      int lanes, bool negate);
  Term unpacked_system(const std::string& name, const std::string& code, const Format& f, int lanes,
                       bool negate);
  std::string listed(const Format& f) const;
  // An instance a lane of what takes codes apart; NAME_signaling beside the term.
  void write_unpack(std::string_view module, const Connections& parameters, const Term& t,
                    const Bus& codes);
  Term conditioned(const std::string& name, const Term& t, const Operand& operand);
  Bus shaped(const std::string& name, const Term& t, int above, int fraction);
  Term declared(const std::string& name, int lanes, int width, int fraction, Exponent least,
                Exponent largest, Lead lead);
  Term declared_like(const std::string& name, const Term& t, int lanes);
  Bus exp(const Term& t) const { return t.bus.part("exp", out_.exponent_bits()); }
  void reach_of_rounding(const Term& t, const Format& f, int digits);
  Connections rounding_parameters(const Term& t, const Round& round, const Rounder<Code>& to,
                                  bool cut) const;
  Delivery delivery(const Term& t, const Round& round, const RoundingPorts& ports);
  Delivery fixed_delivery(const Term& t, const Round& round);
  Delivery tapered_delivery(const Term& t, const Round& round);
  Connections term_ports(const Term& t, const std::string& index) const;
  // After ports of its own those of a module that moves a term's digits to their places in another.
  Connections moving_ports(Connections own, const Term& from, const Term& to, const Bus& zero,
                           const std::string& index) const;

  Netlist& out_;
};

// Digits of an exact sum that anybody would build: a Kulisch register of binary64 has 4,196.
inline constexpr int widest_sum = 8192;

// Two terms whose exact sum goes through a rounding that looks `reach` digits below the leading
// one, at all there are for 0: a grid on which the sum rounds as the exact one does.
Grid grid_of_two(const Term& x, const Term& y, std::int64_t reach);

}  // namespace widthwise::hdl
