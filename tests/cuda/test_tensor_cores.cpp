#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <regex>
#include <set>

#include "cuda/driver.hpp"
#include "cuda/gpu_device.hpp"
#include "tensor_core_ptx.hpp"
#include "tests/sim/products.hpp"
#include "widthwise/cuda/gpu.hpp"
#include "widthwise/sim/presets.hpp"

// A GPU's own tensor cores against the presets that are said to be theirs.
namespace {

using namespace widthwise;
using namespace tests;

constexpr std::size_t rows = 16, columns = 8, threads = 32;

struct Instruction {
  const char *type, *shape;
  std::size_t k;
  int bits;             // of an operand in a register
  int least;            // compute capability, 10 times
  const char* version;  // of PTX
};
constexpr Instruction instructions[] = {{"f16", "m16n8k16", 16, 16, 80, "7.0"},
                                        {"bf16", "m16n8k16", 16, 16, 80, "7.0"},
                                        {"tf32", "m16n8k8", 8, 32, 80, "7.0"},
                                        {"e4m3", "m16n8k32", 32, 8, 89, "8.4"},
                                        {"e5m2", "m16n8k32", 32, 8, 89, "8.4"}};

// Datapath page, 1.1: Hopper and B200 have no such instruction for 8-bit operands and lower it.
std::string preset_of(const Instruction& x, int capability) {
  const char* family = capability < 89    ? "ampere"
                       : capability < 90  ? "ada"
                       : capability < 100 ? "hopper"
                                          : "blackwell";
  if (x.bits == 8 && capability >= 90 && capability < 120) family = "lowered";
  return fmt::format("{}.{}.f32", family, x.type);
}

// Where the elements of a tile lie among the registers of 32 threads.
struct Place {
  std::size_t word;
  int shift;
};
struct Fragments {
  int bits;

  // (row, k) of A, 4 registers a thread; (k, column) of B, 2 of them.
  Place a(std::size_t row, std::size_t k) const {
    return place(row % 8, k, row / 8 + k / (4 * held()) * 2, 4);
  }
  Place b(std::size_t k, std::size_t column) const { return place(column, k, k / (4 * held()), 2); }
  // Of C and the result, a register an element.
  static std::size_t c(std::size_t row, std::size_t column) {
    const std::size_t thread = row % 8 * 4 + column / 2;
    return thread * 4 + row / 8 * 2 + column % 2;
  }

 private:
  std::size_t held() const { return static_cast<std::size_t>(32 / bits); }
  Place place(std::size_t line, std::size_t k, std::size_t of_thread, std::size_t count) const {
    const std::size_t thread = line * 4 + k / held() % 4;
    return {thread * count + of_thread, static_cast<int>(k % held()) * bits};
  }
};

int compute_capability() {
  using cuda::DeviceAttribute;
  cuda::DeviceHandle device = 0;
  cuda::expect(cuda::driver()->device(&device, 0), "GPU 0");
  const auto ask = [&](DeviceAttribute attribute) {
    int x = 0;
    cuda::expect(cuda::driver()->device_attribute(&x, attribute, device), "GPU 0");
    return x;
  };
  return 10 * ask(DeviceAttribute::capability_major) + ask(DeviceAttribute::capability_minor);
}

std::string ptx_of(const Instruction& x) {
  std::string text = std::regex_replace(tensor_core_ptx, std::regex("\\$type"), x.type);
  text = std::regex_replace(text, std::regex("\\$shape"), x.shape);
  text = std::regex_replace(text, std::regex("\\$version"), x.version);
  return std::regex_replace(text, std::regex("\\$target"), fmt::format("sm_{}", x.least));
}

// Some tiles of one instruction: their codes, and what the tensor cores make of them.
class Tiles {
 public:
  Tiles(const Instruction& x, const Unit& u, std::size_t count, Manner manner,
        ProductRandom& random)
      : x_(x),
        count_(count),
        a_(codes(u.a.fmt, count * rows * x.k, manner, random)),
        b_(codes(u.b.fmt, count * x.k * columns, manner, random)),
        c_(codes(u.c.fmt, count * rows * columns, manner, random)) {}

  MatrixProduct product(std::size_t tile) const {
    MatrixProduct p;
    p.m = rows, p.n = columns, p.k = x_.k;
    p.a = a_.rows(x_.k, tile * rows * x_.k);
    p.b = b_.rows(columns, tile * x_.k * columns);
    p.c = c_.rows(columns, tile * rows * columns);
    return p;
  }

  // Element by element, as binary32.
  std::vector<std::uint32_t> run() const {
    cuda::Device& device = cuda::gpu(0);
    const auto there = [&](const std::vector<std::uint32_t>& words) {
      return cuda::copied_in(device, std::span<const std::uint32_t>(words));
    };
    const std::vector<std::uint32_t> c = words_of_c();
    const cuda::Buffer a_there = there(words(4, [&](auto place) { each_of_a(place); })),
                       b_there = there(words(2, [&](auto place) { each_of_b(place); })),
                       c_there = there(c), d_there = there(c);
    launch({a_there.at(), b_there.at(), c_there.at(), d_there.at()});
    std::vector<std::uint32_t> d(c.size());
    device.copy_out(d.data(), d_there.at(), d.size() * sizeof d[0]);
    return d;
  }

  std::string operands(std::size_t tile, std::size_t row, std::size_t column) const {
    std::vector<std::string> a, b;
    for (std::size_t k = 0; k < x_.k; ++k) {
      a.push_back(a_.hexadecimal((tile * rows + row) * x_.k + k));
      b.push_back(b_.hexadecimal((tile * x_.k + k) * columns + column));
    }
    return fmt::format("a {}, b {}, c {}", fmt::join(a, " "), fmt::join(b, " "),
                       c_.hexadecimal((tile * rows + row) * columns + column));
  }

 private:
  template <class Visit>
  void each_of_a(const Visit& visit) const {
    for (std::size_t t = 0; t < count_; ++t)
      for (std::size_t i = 0; i < rows; ++i)
        for (std::size_t k = 0; k < x_.k; ++k)
          visit(t, Fragments{x_.bits}.a(i, k), a_[(t * rows + i) * x_.k + k]);
  }
  template <class Visit>
  void each_of_b(const Visit& visit) const {
    for (std::size_t t = 0; t < count_; ++t)
      for (std::size_t k = 0; k < x_.k; ++k)
        for (std::size_t j = 0; j < columns; ++j)
          visit(t, Fragments{x_.bits}.b(k, j), b_[(t * x_.k + k) * columns + j]);
  }
  template <class Each>
  std::vector<std::uint32_t> words(std::size_t of_thread, const Each& each) const {
    std::vector<std::uint32_t> z(count_ * threads * of_thread);
    each([&](std::size_t tile, Place at, std::uint64_t code) {
      z[tile * threads * of_thread + at.word] |= static_cast<std::uint32_t>(code) << at.shift;
    });
    return z;
  }
  std::vector<std::uint32_t> words_of_c() const {
    std::vector<std::uint32_t> z(count_ * rows * columns);
    for (std::size_t t = 0; t < count_; ++t)
      for (std::size_t i = 0; i < rows; ++i)
        for (std::size_t j = 0; j < columns; ++j)
          z[t * rows * columns + Fragments::c(i, j)] =
              static_cast<std::uint32_t>(c_[(t * rows + i) * columns + j]);
    return z;
  }

  // The driver compiles the text for the GPU that it finds.
  void launch(std::array<void*, 4> operands) const {
    const cuda::Driver& driver = *cuda::driver();
    cuda::Context context = nullptr;
    cuda::expect(driver.retain_context(&context, 0), "GPU 0");
    const cuda::InContext in(context, "GPU 0");
    cuda::Module module = nullptr;
    cuda::Function function = nullptr;
    cuda::expect(driver.load_module(&module, ptx_of(x_).c_str()), x_.type);
    cuda::expect(driver.function(&function, module, "tensor_core"), x_.type);
    void* arguments[] = {&operands[0], &operands[1], &operands[2], &operands[3]};
    cuda::expect(driver.launch(function, static_cast<unsigned>(count_), 1, 1, threads, 1, 1, 0,
                               nullptr, arguments, nullptr),
                 x_.type);
    cuda::expect(driver.synchronize(nullptr), x_.type);
  }

  const Instruction& x_;
  std::size_t count_;
  CodeList a_, b_, c_;
};

void compare(const Instruction& x, const Preset& preset, Manner manner, Tally& tally,
             ProductRandom& random) {
  constexpr std::size_t tiles = 64;
  const Tiles of_gpu(x, preset.unit, tiles, manner, random);
  const std::vector<std::uint32_t> found = of_gpu.run();
  const Prepared reference = prepare({preset.unit, x.k}, "reference");
  for (std::size_t t = 0; t < tiles; ++t) {
    CodeList wanted(preset.unit.out.fmt, rows * columns);
    MatrixProduct p = of_gpu.product(t);
    p.result = wanted.data();
    reference.product->run(p, 0, rows);
    for (std::size_t i = 0; i < rows; ++i)
      for (std::size_t j = 0; j < columns; ++j) {
        const std::uint64_t got = found[t * rows * columns + Fragments::c(i, j)];
        tally.check(got == wanted[i * columns + j], [&] {
          return fmt::format("{}: {}: {:08x} of the tensor core, {} of the preset", preset.name,
                             of_gpu.operands(t, i, j), got, wanted.hexadecimal(i * columns + j));
        });
      }
  }
}

}  // namespace

TEST_CASE("fragments hold every element of a tile once") {
  for (const Instruction& x : instructions) {
    const Fragments fragments{x.bits};
    std::set<std::pair<std::size_t, int>> a, b;
    std::set<std::size_t> c;
    for (std::size_t k = 0; k < x.k; ++k) {
      for (std::size_t i = 0; i < rows; ++i)
        a.insert({fragments.a(i, k).word, fragments.a(i, k).shift});
      for (std::size_t j = 0; j < columns; ++j)
        b.insert({fragments.b(k, j).word, fragments.b(k, j).shift});
    }
    for (std::size_t i = 0; i < rows; ++i)
      for (std::size_t j = 0; j < columns; ++j) c.insert(Fragments::c(i, j));
    CHECK(a.size() == rows * x.k);
    CHECK(a.rbegin()->first == threads * 4 - 1);
    CHECK(b.size() == columns * x.k);
    CHECK(b.rbegin()->first == threads * 2 - 1);
    CHECK(c.size() == rows * columns);
  }
}

TEST_CASE("every tensor core has its preset") {
  for (const Instruction& x : instructions)
    for (const int capability : {80, 86, 89, 90, 100, 120})
      if (capability >= x.least) {
        const Preset* preset = find_preset(preset_of(x, capability));
        REQUIRE(preset);
        CHECK(preset->unit.out.fmt == binary32);
      }
}

TEST_CASE("a GPU's tensor cores give what their presets do") {
  cuda::offer_engine();
  if (!cuda::gpus().why_none.empty())
    return fmt::print("SKIPPED: no GPU: {}\n", cuda::gpus().why_none);
  const int capability = compute_capability();
  Tally tally;
  ProductRandom random(7);
  std::uint64_t instructions_tried = 0;
  for (const Instruction& x : instructions) {
    if (capability < x.least) continue;
    const Preset& preset = *find_preset(preset_of(x, capability));
    for (std::size_t manner = 0; manner < manners; ++manner)
      compare(x, preset, static_cast<Manner>(manner), tally, random);
    ++instructions_tried;
  }
  tally.expect(instructions_tried * manners * 64 * rows * columns);
}
