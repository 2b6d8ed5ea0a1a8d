// Kills: datapath/align.hpp datapath/block.hpp datapath/chain.hpp datapath/compensation.hpp
// Kills: datapath/gaps.hpp datapath/magnitude.hpp datapath/operand.hpp datapath/product.hpp
// Kills: datapath/register.hpp datapath/rounding_slot.hpp datapath/sum.hpp datapath/term.hpp
// Flags: -march=native -DHWY_COMPILE_ONLY_STATIC
// Flags: build/tests/sim/libproducts.a build/tests/oracle/libwalk.a build/tests/lib/libtrial.a
// Flags: build/sim/libwidthwise.a -lhwy -lfmt -ltomlplusplus
#define DOCTEST_CONFIG_IMPLEMENT
#include "sim/integers/row_kernels.cpp"
// Highway asks for what every instruction set has before what the kernel takes of one.
#include "sim/integers/kernel_1_2.cpp"
#include "tests/sim/random_units.cpp"
#include "tests/sim/test_row_sums.cpp"
#include "tests/sim/test_rows.cpp"

// Rows of the tree under test, of one word for codes and two for magnitudes, beside the reference
// of the unchanged one.
int main() {
  doctest::Context context;
  context.setOption("abort-after", 1);
  return context.run();
}
