#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "widthwise/hdl/constants.hpp"
#include "widthwise/random.hpp"
#include "widthwise/sim/dot.hpp"
#include "widthwise/sim/single_operation.hpp"

// Synthesizable Verilog-2001 of what the simulator computes, bit for bit, flags included: a top
// module whose wires bear the names of the simulator's stages, and the modules it is made of. Taps
// are those wires, read by their hierarchical names: dut.product_sig, dut.out.normalise.sig_out.
namespace widthwise::hdl {

struct RtlFile {
  std::string name;  // "ww_round.v"
  std::string text;
};

// Stages behind which a register stands, as often as one does: {"product", "round"}. Absent: no
// registers, no clock. Each stage of the module has a parameter PIPE_STAGE, how many registers
// stand behind it; these are its defaults, which an instance may override. LATENCY is their sum.
//
//   in_valid, in_ready     a transaction is taken at a clock edge where both are 1
//   out_valid, out_ready   likewise; results come in the order of the operands
//   rst                    synchronous; what is on its way is dropped
//
// One enters at every clock until a result that is not taken stops all stages at once: in_ready is
// 0 while out_valid is 1 and out_ready 0. Taps are of the transaction that is in their stage, if
// STAGE_valid is 1.
using RtlPipeline = std::optional<std::vector<std::string>>;

struct RtlOptions {
  // The result, a unit's `out`, is rounded as a port `rm` says, which takes the codes RM_... of the
  // header; not as the design does.
  bool rounding_port = false;
  // Products of a whole dot product: blocks in a row, and what the unit does at the end of a chain.
  // 0: one block, for a unit that does not take all of K at once.
  int lanes = 0;
  // The module that multiplies significands, with the ports and parameters of ww_multiply.v.
  std::string multiplier = "ww_multiply";
  // Or what the simulator multiplies with, as a module NAME_multiplier: one of lib's is built, any
  // other a table, to 16 digits of both factors together; beyond that its body is left to the user.
  Multiplier multiply{};
  RtlPipeline pipeline{};
  bool accumulate = false;  // keeps a sum over blocks; such a module has a clock
  // The random words are drawn in the module, as the simulator makes them: from ports `seed`,
  // `index` of the output, and for a block `step`, the position of its first lane along k. One
  // generator draws them before the operands go on to a module NAME_datapath, a round of Philox a
  // clock: the module has a clock, and takes operands every II clocks.
  bool generator = false;
};

// A port of random bits: the k-th word from its low end is that of the slot's rounding at step
// steps[k] (lib/widthwise/random.hpp).
struct RandomPort {
  std::string name;
  Slot slot;
  int bits;  // of a word
  std::vector<std::int64_t> steps;
  bool moves = false;  // steps count from the block's first lane, wherever that lies along k
};

// One operation, correctly rounded: y = a + b, a - b, a * b, a * b + c, or a in another format. The
// top module, called `name`, and all that it needs. Refuses what is not built, and says what is. Of
// the options it takes rounding_port, pipeline and generator.
//
//   a, b [, c]     codes; flags are NV DZ OF UF NX, as in the headers
//   rm             the rounding's code, where it is no constant
//   random         as many bits as a stochastic rounding takes
std::vector<RtlFile> rtl(const SingleOperation& operation, std::string_view name,
                         const RtlOptions& options = {});

// One block of a unit: y = c + the sum of a[i] * b[i], lane i in bits [i * WIDTH +: WIDTH]. A chain
// along k feeds y back to c; where C has a format of its own, port `running` tells that c holds
// such a y. Scales come as scale_a and scale_b, one for every block of elements. Where
// options.lanes is given, or the unit does something when a chain ends, it is a dot product as a
// whole: y is what the simulator delivers for so many elements.
//
// Accumulating, it is given the blocks of a sum one after the other:
//
//   in_first     a sum begins, whatever was there before
//   in_last      its result comes out, with the flags of all its blocks
//   c            read with the first block of a chain or a quire; with the last where a unit takes
//                all of K at once into another exact or fixed-point register, which takes `lanes`
//                products at every clock
//
// A chain's blocks wait for one another: II, in the module, is its LATENCY.
std::vector<RtlFile> rtl(const Unit& unit, std::string_view name, const RtlOptions& options = {});

// One block quantised: of n numbers the largest magnitude, from it a scale, and every number over
// it rounded. Of the options it takes rounding_port and pipeline.
//
//   a       n numbers, lane i in bits [i * WIDTH +: WIDTH]
//   b       the tensor's scale, a code of binary32, where it is a port
//   y       n elements; scale: their scale's code
//   flags   those of any element; of a block that holds NaN or infinity NV alone
//
// Such a block has a scale of all ones, and elements that are 0; so has one whose tensor scale is
// no finite number above zero.
std::vector<RtlFile> rtl(const BlockQuantisation& quantiser, std::string_view name,
                         const RtlOptions& options = {});

// A sum of 32 bits, `a`, times a constant or the port b, rounded as a runtime rounds, plus a zero
// point, a constant or the port c, to a code y. Of the options it takes pipeline; flags are OF and
// NX where the code was clamped.
std::vector<RtlFile> rtl(const SumRequantisation& requantisation, std::string_view name,
                         const RtlOptions& options = {});

// The stages that a pipeline may name, in their order.
std::vector<std::string> rtl_stages(const SingleOperation& operation,
                                    const RtlOptions& options = {});
std::vector<std::string> rtl_stages(const Unit& unit, const RtlOptions& options = {});
std::vector<std::string> rtl_stages(const BlockQuantisation& quantiser,
                                    const RtlOptions& options = {});
std::vector<std::string> rtl_stages(const SumRequantisation& requantisation,
                                    const RtlOptions& options = {});
Timing rtl_timing(const SingleOperation& operation, const RtlOptions& options = {});
Timing rtl_timing(const Unit& unit, const RtlOptions& options = {});
Timing rtl_timing(const BlockQuantisation& quantiser, const RtlOptions& options = {});
Timing rtl_timing(const SumRequantisation& requantisation, const RtlOptions& options = {});

// That module's ports of random bits: random_product, random_group_sum, random_block_sum,
// random_join, random (of `out`), random_addend, random_difference, random_error,
// random_compensation, random_compensated, random_promote, random_c_round, random_final, where
// those roundings are stochastic. An operation's is `random`.
std::vector<RandomPort> random_ports(const SingleOperation& operation,
                                     const RtlOptions& options = {});
std::vector<RandomPort> random_ports(const Unit& unit, const RtlOptions& options = {});
std::vector<RandomPort> random_ports(const BlockQuantisation& quantiser,
                                     const RtlOptions& options = {});  // none
std::vector<RandomPort> random_ports(const SumRequantisation& requantisation,
                                     const RtlOptions& options = {});  // none
// Those of a whole dot product of k elements, at least one, of any unit, steps in order.
std::vector<RandomPort> random_ports(const Unit& unit, int k);

}  // namespace widthwise::hdl
