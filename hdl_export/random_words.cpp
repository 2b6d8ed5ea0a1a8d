#include "random_words.hpp"

#include <fmt/core.h>

namespace widthwise::hdl {

std::vector<Port> generator_ports(bool with_step) {
  std::vector<Port> ports{{"input ", {"seed", 64}}, {"input ", {"index", 64}}};
  if (with_step) ports.push_back({"input ", {"step", 32}});
  return ports;
}

void generate_words(Netlist& out, std::span<const RandomPort> ports,
                    const std::function<bool(Slot)>& moves) {
  out.stage("random_words");
  for (const RandomPort& port : ports) {
    const Bus words{port.name, port.bits, static_cast<int>(port.steps.size())};
    out.wire(words);
    for (std::size_t i = 0; i < port.steps.size(); ++i) {
      const std::string own = fmt::format("32'd{}", port.steps[i]);
      out.instance(
          "ww_random", fmt::format("{}_word{}", port.name, i),
          {{"K", decimal(port.bits)}, {"SLOT", fmt::format("32'd{}", static_cast<int>(port.slot))}},
          {{"seed", "seed"},
           {"index", "index"},
           {"step", moves(port.slot) ? "step + " + own : own},
           {"random", words.lane(std::to_string(i))}});
    }
  }
}

}  // namespace widthwise::hdl
