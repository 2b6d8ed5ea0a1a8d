#include "stages.hpp"

namespace widthwise::hdl {

// Of a zero divided no digit is set; by zero nothing is divided.
Term Stages::quotient(const std::string& name, const Term& n, const Term& d, int digits) {
  const Term z = declared(name, n.bus.lanes, digits + 1, digits, n.least - d.largest,
                          n.largest - d.least, Lead::anywhere);
  out_.lanes(z.bus.lanes, name + "_lane", [&](const std::string& i) {
    out_.assign(z.nan().lane(i), "1'b0");
    out_.assign(z.inf().lane(i), "1'b0");
    out_.assign(z.zero().lane(i), n.zero().lane(i));
    out_.assign(z.sign().lane(i), n.sign().lane(i));
    out_.instance("ww_divide", name + "_stage",
                  {{"WN", decimal(n.bus.width)},
                   {"WD", decimal(d.bus.width)},
                   {"DIGITS", decimal(digits)},
                   {"XW", decimal(out_.exponent_bits())}},
                  {{"n_exp", exp(n).lane(i)},
                   {"d_exp", exp(d).name},
                   {"n", n.sig().lane(i)},
                   {"d", d.sig().name},
                   {"exp_out", exp(z).lane(i)},
                   {"q", z.sig().lane(i)}});
  });
  return z;
}

}  // namespace widthwise::hdl
