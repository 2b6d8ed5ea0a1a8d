// Kills: datapath/step.hpp cuda/chain_plan.cpp
// Flags: build/tests/cuda/libhost_kernels.a build/cuda/libwidthwise_device.a
// Flags: build/tests/sim/libproducts.a build/tests/oracle/libwalk.a build/tests/lib/libtrial.a
// Flags: build/sim/libwidthwise.a -Icuda/include -lhwy -lfmt -ltomlplusplus
#define DOCTEST_CONFIG_IMPLEMENT
#include "cuda/chain_plan.cpp"
#include "cuda/chain_tiles.cpp"
#include "tests/cuda/host_chain_kernels.cpp"
#include "tests/cuda/test_chain_tiles.cpp"
#include "tests/sim/random_units.cpp"

// Steps on threads of the tree under test, beside the reference of the unchanged one.
int main() {
  doctest::Context context;
  context.setOption("abort-after", 1);
  return context.run();
}
