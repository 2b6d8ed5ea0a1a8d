#include "elements.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "kernels/elements.hpp"
#include "quantise.hpp"
#include "sim/elementwise/way.hpp"
#include "tables.hpp"
#include "values.hpp"
#include "widthwise/sim/carrier.hpp"
#include "widthwise/sim/said.hpp"
#include "widthwise/sim/text.hpp"

namespace widthwise::cuda {
namespace {

// The definition, in integers of one size.
template <class U>
class Integers final : public Elementwise::Way {
 public:
  Integers(const ElementTask& task, Device& device, Kernel kernel)
      : device_(device),
        kernel_(kernel),
        to_(device, task.to, task.env),
        formats_{layout(task, 0), layout(task, 1), layout(task, 2)},
        elements_{.op = task.op,
                  .operands = arity(task.op),
                  .to = *to_,
                  .format = {*formats_[0], *formats_[1], *formats_[2]}} {}

  const char* name() const override { return "integers"; }

  void run(const ElementArrays& x) const override {
    Elements<U> elements = elements_;
    std::ranges::copy(x.operands, elements.data);
    elements.count = x.count;
    elements.result = x.result;
    elements.flags = x.flags;
    elements.random = x.random;
    launch_each(device_, kernel_, x.count, &elements);
  }

 private:
  // Of operands there are not, what nobody reads.
  LayoutThere<U> layout(const ElementTask& task, std::size_t i) const {
    return {device_, i < task.operands.size() ? task.operands[i] : binary32};
  }

  Device& device_;
  Kernel kernel_;
  RounderThere<U> to_;
  LayoutThere<U> formats_[3];
  Elements<U> elements_;
};

// The kernels that work in integers of one length.
struct ThreadKernels {
  Kernel operation, comparison, classes, to_integers, from_integers;
};
#define WIDTHWISE_KERNELS_OF(source, integers)                                                   \
  {source, "elements_" integers}, {source, "compare_" integers}, {source, "classify_" integers}, \
      {source, "to_integers_" integers}, {                                                       \
    source, "from_integers_" integers                                                            \
  }

// Integers that threads have, and their kernels.
template <class U>
struct ThreadIntegers : ThreadKernels {
  using Carrier = U;
};

// What work on some formats asks for: so many digits, and a look into tables where one is one.
struct Wanted {
  int digits;
  bool listed;
  std::string what;
};

// Calls f with the least integers that have what is wanted.
template <class F>
auto with_integers(const Wanted& w, const F& f) {
  if (w.digits <= 64)
    return f(ThreadIntegers<std::uint64_t>{
        w.listed ? ThreadKernels{WIDTHWISE_KERNELS_OF("listed", "listed_64")}
                 : ThreadKernels{WIDTHWISE_KERNELS_OF("elements", "64")}});
  if (w.digits <= 128)
    return f(ThreadIntegers<uint128>{
        w.listed ? ThreadKernels{WIDTHWISE_KERNELS_OF("listed", "listed_128")}
                 : ThreadKernels{WIDTHWISE_KERNELS_OF("elements_wide", "128")}});
  if (w.digits <= 256)
    return f(ThreadIntegers<Wide<4>>{
        w.listed ? ThreadKernels{WIDTHWISE_KERNELS_OF("listed", "listed_256")}
                 : ThreadKernels{WIDTHWISE_KERNELS_OF("elements_wide", "256")}});
  throw std::invalid_argument(
      fmt::format("{}: {} digits of working precision are needed, a GPU's threads have 256; "
                  "compute on the CPU",
                  said(w.what), w.digits));
}
#undef WIDTHWISE_KERNELS_OF

template <class Integers>
using CarrierOf = typename std::decay_t<Integers>::Carrier;

std::string text(std::span<const Format> operands, const Format& to) {
  std::string all;
  for (const Format& f : operands) all += to_string(f) + ", ";
  return fmt::format("operands {}result {}", all, to_string(to));
}

bool has_tables(const ElementTask& task) {
  const auto is_table = [](const Format& f) { return f.is_table(); };
  return is_table(task.to) || std::ranges::any_of(task.operands, is_table);
}

ElementwiseWay quick_way(const ElementTask& task, Device& device) {
  ElementwiseWay way = quantise_way(task, device);
  if (!way) way = dequantise_way(task, device);
  if (!way) way = fuse_way(task, device);
  return way;
}

ElementwiseWay integers(const ElementTask& task, Device& device) {
  return with_integers({digits_needed(task), has_tables(task), text(task.operands, task.to)},
                       [&](const auto& with) -> ElementwiseWay {
                         using Work = Integers<CarrierOf<decltype(with)>>;
                         return std::make_unique<Work>(task, device, with.operation);
                       });
}

void ask(Device& device, Question question, const CodeArray& a, std::size_t count,
         std::uint8_t* result) {
  const std::string what = fmt::format("classes of {}", to_string(a.format));
  with_integers({digits_needed(a.format), a.format.is_table(), what}, [&](const auto& with) {
    using U = CarrierOf<decltype(with)>;
    const LayoutThere<U> f(device, a.format);
    const Classes<U> classes{question, *f, a.data, count, result};
    launch_each(device, with.classes, count, &classes);
  });
}

}  // namespace

DeviceElementwise::DeviceElementwise(Device& device, Operation op, const Format& to, const Env& env,
                                     std::span<const Format> operands, bool flags) {
  const ElementTask task{op, to, env, operands, flags, 0};
  check(task);
  ElementwiseWay way;
  if (!has_tables(task)) way = quick_way(task, device);
  if (!way) way = integers(task, device);
  way_ = std::move(way);
}

void DeviceElementwise::run(std::span<const void* const> operands, std::size_t count, void* result,
                            std::uint8_t* flags, RandomSource random) const {
  if (count > 0) way_->run({operands, count, result, flags, random});
}

const char* DeviceElementwise::way() const { return way_->name(); }

void scaleb(Device& device, const Format& to, const Env& env, const CodeArray& a,
            const std::int64_t* n, std::size_t count, void* result, std::uint8_t* flags,
            RandomSource random) {
  const int digits = std::max(digits_needed(to, env.rounding), digits_needed(a.format));
  const bool listed = to.is_table() || a.format.is_table();
  with_integers({digits, listed, text({&a.format, 1}, to)}, [&](const auto& with) {
    using U = CarrierOf<decltype(with)>;
    const LayoutThere<U> f(device, a.format);
    const RounderThere<U> rounder(device, to, env);
    const Elements<U> elements{.op = Operation::convert,
                               .operands = 1,
                               .to = *rounder,
                               .format = {*f, *f, *f},
                               .data = {a.data},
                               .count = count,
                               .result = result,
                               .flags = flags,
                               .random = random,
                               .powers = n};
    launch_each(device, with.operation, count, &elements);
  });
}

void to_integers(Device& device, IntegerType type, const Env& env, const CodeArray& a,
                 std::size_t count, std::uint64_t* result, std::uint8_t* flags,
                 RandomSource random) {
  const Wanted wanted{digits_needed(a.format, env.rounding), a.format.is_table(),
                      fmt::format("integers of {}", to_string(a.format))};
  with_integers(wanted, [&](const auto& with) {
    using U = CarrierOf<decltype(with)>;
    const LayoutThere<U> f(device, a.format);
    const ToIntegers<U> codes{type,  RoundingRule(env.rounding), *f, a.data, count, result, flags,
                              random};
    launch_each(device, with.to_integers, count, &codes);
  });
}

void from_integers(Device& device, IntegerType type, const Format& to, const Env& env,
                   const void* a, std::size_t count, void* result, std::uint8_t* flags,
                   RandomSource random) {
  const Wanted wanted{digits_needed(to, env.rounding), to.is_table(),
                      fmt::format("integers to {}", to_string(to))};
  with_integers(wanted, [&](const auto& with) {
    using U = CarrierOf<decltype(with)>;
    const RounderThere<U> rounder(device, to, env);
    const FromIntegers<U> integers{type, *rounder, a, count, result, flags, random};
    launch_each(device, with.from_integers, count, &integers);
  });
}

void compare(Device& device, Comparison how, const CodeArray& a, const CodeArray& b,
             std::size_t count, std::uint8_t* result, std::uint8_t* flags) {
  check(how, a.format, b.format);
  const Wanted wanted{std::max(digits_needed(a.format), digits_needed(b.format)),
                      a.format.is_table() || b.format.is_table(),
                      fmt::format("comparing {} and {}", to_string(a.format), to_string(b.format))};
  with_integers(wanted, [&](const auto& with) {
    using U = CarrierOf<decltype(with)>;
    const LayoutThere<U> fa(device, a.format), fb(device, b.format);
    const Comparisons<U> comparisons{how, *fa, *fb, a.data, b.data, count, result, flags};
    launch_each(device, with.comparison, count, &comparisons);
  });
}

void classify(Device& device, const CodeArray& a, std::size_t count, std::uint8_t* result) {
  ask(device, Question::number_class, a, count, result);
}
void signs(Device& device, const CodeArray& a, std::size_t count, std::uint8_t* result) {
  ask(device, Question::sign, a, count, result);
}

}  // namespace widthwise::cuda
