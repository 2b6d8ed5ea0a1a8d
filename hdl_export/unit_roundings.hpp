#pragma once
#include "stages.hpp"
#include "unit_shape.hpp"

namespace widthwise::hdl {

// A place of a unit that rounds, where it stands along k.
struct Place {
  std::string name;
  Slot slot;
  Round round;
  std::int64_t step;
  std::optional<std::string> stages{};  // as RoundingPorts has them
};

// What a block's NaNs and infinities make of its result, on wires NAME_nan _inf _plus _minus.
struct Specials {
  std::string name;
  std::string nan() const { return name + "_nan"; }
  std::string inf() const { return name + "_inf"; }
  std::string plus() const { return name + "_plus"; }
  std::string minus() const { return name + "_minus"; }
};

// The places of a unit that round: codes on wires NAME_code, and all flags raised.
class Roundings {
 public:
  Roundings(const Unit& unit, const RtlOptions& options, Netlist& out, Stages& stages)
      : ports_(random_ports(unit, options)), out_(out), stages_(stages) {}

  // `mixed` tells of a zero sum of addends of both signs. Returns the wire that raises the flags.
  std::string round(const Place& place, const Term& exact, const std::string& mixed,
                    const Specials* specials = nullptr);
  // What the format reads from the code.
  Term read(const Place& place);
  // x + y, exact, then rounded once (lib/widthwise/datapath/register.hpp).
  void add(const Place& place, const Term& x, const Term& y);

  void raise(const std::string& flags) { flags_ += (flags_.empty() ? "" : " | ") + flags; }
  const std::string& flags() const { return flags_; }
  // From here on they are those of all blocks since the first one.
  void keep_flags();

 private:
  Bus random(const Place& place, int lanes) const;
  std::string rounding(const Place& place);

  std::vector<RandomPort> ports_;
  Netlist& out_;
  Stages& stages_;
  std::string flags_;
};

}  // namespace widthwise::hdl
