// Kills: datapath/step.hpp
// Flags: -march=native -DHWY_COMPILE_ONLY_STATIC
// Flags: build/tests/sim/libproducts.a build/tests/oracle/libwalk.a build/tests/lib/libtrial.a
// Flags: build/sim/libwidthwise.a -lhwy -lfmt -ltomlplusplus
#define DOCTEST_CONFIG_IMPLEMENT
#include "sim/integers/step_kernels.cpp"
#include "tests/sim/random_units.cpp"
#include "tests/sim/test_chain.cpp"

// Steps on vectors of the tree under test, beside the reference of the unchanged one.
int main() {
  doctest::Context context;
  context.setOption("abort-after", 1);
  return context.run();
}
