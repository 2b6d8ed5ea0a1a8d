#include "random_words.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace widthwise::hdl {

std::vector<Port> random_inputs(std::span<const RandomPort> ports, bool generator) {
  std::vector<Port> all;
  if (generator) {
    all = {{"input ", {"seed", 64}}, {"input ", {"index", 64}}};
    if (std::ranges::any_of(ports, &RandomPort::moves)) all.push_back({"input ", {"step", 32}});
    return all;
  }
  for (const RandomPort& port : ports)
    all.push_back({"input ", {port.name, port.bits, static_cast<int>(port.steps.size())}});
  return all;
}

void generate_words(Netlist& out, std::span<const RandomPort> ports) {
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
           {"step", port.moves ? "step + " + own : own},
           {"random", words.lane(std::to_string(i))}});
    }
  }
}

}  // namespace widthwise::hdl
