// Kills: tensor/plan.cpp
// Flags: build/tests/sim/libproducts.a build/tests/oracle/libwalk.a build/sim/libwidthwise.a
// Flags: -lhwy -lfmt -ltomlplusplus
#define DOCTEST_CONFIG_IMPLEMENT
#include "sim/tensor/plan.cpp"
#include "tests/sim/test_tensor.cpp"

// The engine's own tests, over the conditions of the tree under test.
int main() {
  doctest::Context context;
  context.setOption("abort-after", 1);
  return context.run();
}
