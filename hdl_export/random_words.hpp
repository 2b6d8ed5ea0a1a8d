#pragma once
#include <span>

#include "rtl_files.hpp"

// What a module takes for its stochastic roundings: random words, or with the simulator's generator
// in front of it what that makes them from.
namespace widthwise::hdl {

// The generator's are seed, index and perhaps step, the first lane's position along k.
std::vector<Port> random_inputs(std::span<const RandomPort> ports, bool generator);

// The module NAME of a top whose words are drawn: it takes operands, draws the words that they need
// one call of the generator after the other, and hands all to NAME_datapath. `parameters` are the
// top's, `latency` the datapath's in terms of them.
std::string drawing_module(const TopModule& top, const std::vector<std::string>& stages,
                           const std::string& parameters, int kept);

// With options.generator: a top whose words are drawn in front of it. Its own ports are then
// `words`, with one for each word.
void draw_words(TopModule& top, std::vector<RandomPort> drawn, const RtlOptions& options,
                std::vector<Port> words);
RtlOptions without_generator(RtlOptions options);

// Clocks that drawing takes, at least.
int drawing_clocks(std::span<const RandomPort> ports);

}  // namespace widthwise::hdl
