#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "pipeline.hpp"
#include "widthwise/format.hpp"

// Where a module's wires have what the simulator's trace has: which wires, in which stage, and how
// many of their digits stand below the point.
namespace widthwise::hdl {

// On wires NAME_nan _inf _zero _sign _exp _sig: (-1)^sign * sig * 2^(exp - fraction).
struct TermTap {
  std::string name;
  std::size_t stage;  // whose wires they are, as an index of the module's stages
  int lanes, fraction;
};

// In instances NAME of ww_deliver, one a lane, or of what there is in its place for other systems.
struct RoundingTap {
  std::string name;
  std::size_t normalise, denormalise, round, pack;  // stages
  int lanes;
  Format fmt;
  std::string code;         // the wire that has what is delivered
  std::string slot{"out"};  // as traces call it
  std::int64_t step = 0;    // along k
};

struct Taps {
  std::vector<TermTap> terms;
  std::vector<RoundingTap> roundings;
};

// {"module", "clocked", "stages": [...], "terms": [{...}], "roundings": [{...}]}. Of each stage the
// registers that the module has behind it unless an instance says otherwise.
std::string taps_json(std::string_view module, bool clocked, const Taps& taps,
                      const std::vector<std::pair<std::string, int>>& stages);

}  // namespace widthwise::hdl
