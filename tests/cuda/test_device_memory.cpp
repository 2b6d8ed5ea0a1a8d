#include "cuda/product.hpp"
#include "host_kernels.hpp"
#include "tests/sim/products.hpp"
#include "widthwise/sim/text.hpp"
#include "widthwise/sim/unit_text.hpp"

namespace test_device_memory {

// Products whose operands and results lie on the device, which is this CPU, against the reference.
namespace {

using namespace widthwise;
using namespace tests;

HostDevice& device() { return host_device(); }

constexpr const char* engine = "cuda there on the CPU";
const bool offered = [] {
  add_engines([] {
    return std::vector<Engine>{
        {engine,
         true,
         false,
         [](const ProductTask& task) { return cuda::opinion(task, engine, device()); },
         [](const ProductTask& task) { return make(task, device(), cuda::Memory::device); },
         {}}};
  });
  return true;
}();

constexpr Rival::Shape shape{7, 33, 21};

// One of each way, and codes of every size.
constexpr const char* units[] = {"mac(e5m10)",      "mac(e4m3fn, sum=e5m10)", "hopper.e4m3.f32",
                                 "blackwell.mxfp8", "mac(binary64)",          "mac(e15m112)"};

}  // namespace

TEST_CASE("products of operands that lie on a device are computed there") {
  Tally tally;
  ProductRandom random(1);
  for (const char* unit : units) {
    Rival(engine, parse_unit(unit), tally, true).compare_random(shape, random);
    Rival(engine, parse_unit(unit), tally, false).compare_random(shape, random);
  }
  tally.expect(std::size(units) * 2 * outputs_compared(shape));
  CHECK(device().taken == 0);
}

TEST_CASE("products of operands that lie on a device go in parts where its memory is short") {
  Tally tally;
  ProductRandom random(2);
  device().memory = device().most_taken = 1 << 15;
  constexpr Rival::Shape wide{2, 64, 700};
  for (const char* unit : {"mac(e5m10, sum=e5m10:sr9)", "blackwell.mxfp8"})
    Rival(engine, parse_unit(unit), tally, true).compare_random(wide, random);
  CHECK(device().most_taken <= device().memory);
  device().memory = std::size_t{1} << 28;
  tally.expect(2 * outputs_compared(wide));
}

TEST_CASE("dense operands on a device are neither copied nor moved") {
  ProductRandom random(3);
  CodeList a = codes(binary64, 64 * 64, Manner::bits, random), sum(binary64, 64 * 64);
  MatrixProduct p;
  p.m = p.n = p.k = 64;
  p.a = p.b = a.rows(64), p.result = sum.data();
  const Prepared product = prepare({parse_unit("mac(binary64)"), 64}, engine);
  device().copied = 0;
  product.product->run(p, 0, 64);
  CHECK(device().copied < 64 * 64);  // what a launch tells of its operands
}

}  // namespace test_device_memory
