// Each: sim/blocks/pairs.cpp tests/sim/test_block_machine.cpp
// Each: sim/blocks/pairs.cpp tests/sim/test_block_pairs.cpp
// Each: sim/blocks/plan.cpp tests/sim/test_block_borders.cpp
// Each: sim/blocks/plan.cpp tests/sim/test_block_plans.cpp
// Each: sim/blocks/plan.cpp tests/sim/test_block_watch.cpp
// Each: sim/blocks/plan.cpp tests/sim/test_blocks.cpp
// Each: sim/blocks/slots.cpp tests/sim/test_block_borders.cpp
// Each: sim/blocks/slots.cpp tests/sim/test_blocks.cpp
// Each: sim/blocks/slots.cpp tests/sim/test_block_formats.cpp
// Each: sim/blocks/twofold.cpp tests/sim/test_block_twofold.cpp
// Each: sim/elementwise/lane_plan.cpp tests/sim/test_elementwise.cpp
// Each: sim/exact/plan.cpp tests/sim/test_exact.cpp
// Each: sim/lanes/plan.cpp tests/sim/test_lane_plans.cpp
// Each: sim/integers/row_plan.cpp tests/sim/test_row_sums.cpp
// Each: sim/recoded/plan.cpp tests/sim/test_recoded.cpp
// Each: sim/tensor/plan.cpp tests/sim/test_tensor.cpp
// Each: sim/wide/plan.cpp tests/sim/test_wide_engine.cpp
// Kills: $1
// Flags: -DPLAN="$1" -DTESTS="$2" -Wl,--allow-multiple-definition
// Flags: build/tests/sim/libproducts.a build/tests/oracle/libwalk.a
// Flags: build/tests/lib/libtrial.a build/sim/libwidthwise.a -lhwy -lfmt -ltomlplusplus
#define DOCTEST_CONFIG_IMPLEMENT
#include PLAN
#include TESTS

#include "tests/sim/random_units.cpp"

// An engine's own tests, over the conditions of the tree under test. Those that the build's library
// has of them stand beside others that are wanted, in one object: the first ones count.
int main() {
  doctest::Context context;
  context.setOption("abort-after", 1);
  return context.run();
}
