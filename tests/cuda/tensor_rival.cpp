#include "tensor_rival.hpp"

#include "cuda/block_tiles.hpp"
#include "cuda/exact_tiles.hpp"
#include "cuda/tensor_tiles.hpp"
#include "ordinary.hpp"
#include "sim/engine/numbers.hpp"

namespace tests {
namespace {

using namespace widthwise;

// The ways alone, for whole products.
class TensorTiles final : public ProductEngine {
 public:
  explicit TensorTiles(const ProductTask& task)
      : unit_(task.unit), way_(cuda::tensor_tiles(task, host_device())) {
    if (!way_) way_ = cuda::block_tiles(task, host_device());
    if (!way_) way_ = cuda::exact_tiles(task, host_device());
  }

  void run(const MatrixProduct& p, std::size_t first, std::size_t last) const override {
    const cuda::RegionMemory memory(host_device(), unit_, {p, cuda::Memory::host},
                                    {first, 0, last - first, p.n});
    way_->compute(memory.there(), nullptr);
    memory.bring_home();
  }

 private:
  Unit unit_;
  std::unique_ptr<const cuda::Way> way_;
};

const bool offered = [] {
  add_engines([] {
    return std::vector<Engine>{
        {tensor_engine,
         false,
         false,
         [](const ProductTask& task) {
           const bool takes = cuda::why_no_tensor_tiles(task).empty() ||
                              cuda::why_no_block_tiles(task).empty() ||
                              cuda::why_no_exact_tiles(task).empty();
           return Opinion{tensor_engine, takes, "", 1};
         },
         [](const ProductTask& task) { return std::make_unique<TensorTiles>(task); },
         {}}};
  });
  return true;
}();

void compare(const Dot& dot, Tally& tally) {
  CAPTURE(dot.what);
  const Unit& u = dot.unit;
  const Format scale = u.scale ? u.scale->fmt : e8m0fnu;
  const CodeList a = encoded(u.a.fmt, dot.a), b = encoded(u.b.fmt, dot.b),
                 c = encoded(u.c.fmt, {dot.c}), scale_a = encoded(scale, dot.scale_a),
                 scale_b = encoded(scale, dot.scale_b);
  REQUIRE(dot.a.size() == dot.b.size());
  MatrixProduct p;
  p.m = p.n = 1, p.k = dot.a.size();
  p.a = a.rows(p.k), p.b = b.rows(1), p.c = c.rows(1);
  if (u.scale) p.scale_a = scale_a.rows(dot.scale_a.size()), p.scale_b = scale_b.rows(1);
  tile_runs().redone = 0;
  Rival(tensor_engine, u, tally).compare(p, dot.what);
  CHECK(tile_runs().redone == dot.redone);
}

std::uint64_t compare_shapes(const std::vector<Rival::Shape>& shapes, const Unit& u, Tally& tally,
                             ProductRandom& random) {
  CAPTURE(to_string(u));
  REQUIRE(opinion(tensor_engine, u).takes);
  std::uint64_t compared = 0;
  for (const Rival::Shape& s : shapes) {
    Rival(tensor_engine, u, tally).compare_random(s, random);
    compared += outputs_compared(s);
  }
  return compared;
}

}  // namespace

CodeList encoded(const Format& f, std::vector<double> numbers) {
  CodeList z(f, numbers.size());
  Codec<double>(f).encode(numbers.data(), numbers.size(), static_cast<std::byte*>(z.data()));
  return z;
}

std::string why_no_tensor_tiles(const Unit& u, bool flags, std::size_t k) {
  return cuda::why_no_tensor_tiles({.unit = u, .k = k, .flags = flags});
}
std::string why_no_block_tiles(const Unit& u, bool flags, std::size_t k) {
  return cuda::why_no_block_tiles({.unit = u, .k = k, .flags = flags});
}
std::string why_no_exact_tiles(const Unit& u, bool flags, std::size_t k) {
  return cuda::why_no_exact_tiles({.unit = u, .k = k, .flags = flags});
}

Unit preset(std::string_view name) { return find_preset(name)->unit; }

void compare(const std::vector<Dot>& dots) {
  Tally tally;
  for (const Dot& dot : dots) compare(dot, tally);
  tally.expect(dots.size());
}

std::uint64_t compare_all_sorts(const Unit& u, Tally& tally, ProductRandom& random) {
  return compare_shapes({{3, 1, 70}, {2, 33, 67}, {5, 70, 3}}, u, tally, random);
}
std::uint64_t compare_relative(const Unit& u, Tally& tally, ProductRandom& random) {
  return compare_shapes({{3, 1, 7}, {2, 75, 5}}, u, tally, random);
}

void compare_ordinary(const Unit& u, ProductRandom& random) {
  CAPTURE(to_string(u));
  Tally tally;
  const Rival::Shape s{130, 96, 70};
  const Ordinary operands(u, s, random);
  tile_runs() = {};
  Rival(tensor_engine, u, tally).compare(operands.p, "about one");
  CHECK(tile_runs().outputs == s.m * s.n);
  CHECK(tile_runs().redone < s.m * s.n / 500);
  tally.expect(s.m * s.n);
}

void check_barriers(const Unit& u) {
  ProductRandom random(4);
  const Rival::Shape s{70, 96, 90};
  Ordinary operands(u, s, random);
  MatrixProduct& p = operands.p;
  CodeList want(result_round(u).fmt, s.m * s.n), got = want;
  p.result = want.data();
  prepare({u, s.k}, "reference").product->run(p, 0, s.m);
  p.result = got.data();
  for (const Barriers some : {Barriers::none_after_load, Barriers::none_after_compute}) {
    tile_runs() = {.barriers = some};
    prepare({u, s.k}, tensor_engine).product->run(p, 0, s.m);
    tile_runs().barriers = Barriers::all;
    std::size_t differ = 0;
    for (std::size_t i = 0; i < s.m * s.n; ++i) differ += !got.same(want, i);
    CHECK(differ + tile_runs().redone > s.m * s.n / 2);
  }
}

}  // namespace tests
