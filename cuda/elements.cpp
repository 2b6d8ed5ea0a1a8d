#include "elements.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "kernels/elements.hpp"
#include "quantise.hpp"
#include "sim/elementwise/way.hpp"
#include "values.hpp"
#include "widthwise/sim/carrier.hpp"
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
        elements_{.op = task.op,
                  .operands = arity(task.op),
                  .to = Rounder<U>(task.to, task.env),
                  .format = {layout(task, 0), layout(task, 1), layout(task, 2)}} {}

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
  static Layout<U> layout(const ElementTask& task, std::size_t i) {
    return Layout<U>(i < task.operands.size() ? task.operands[i] : task.to);
  }

  Device& device_;
  Kernel kernel_;
  Elements<U> elements_;
};

// Integers that threads have, and the kernels that work in them.
template <class U>
struct ThreadIntegers {
  using Carrier = U;
  Kernel operation, comparison, classes, to_integers, from_integers;
};

// Calls f with the least of them that have so many digits; `what` wants them.
template <class F>
auto with_integers(int digits, const std::string& what, const F& f) {
  if (digits <= 64)
    return f(ThreadIntegers<std::uint64_t>{{"elements", "elements_64"},
                                           {"elements", "compare_64"},
                                           {"elements", "classify_64"},
                                           {"elements", "to_integers_64"},
                                           {"elements", "from_integers_64"}});
  if (digits <= 128)
    return f(ThreadIntegers<uint128>{{"elements_wide", "elements_128"},
                                     {"elements_wide", "compare_128"},
                                     {"elements_wide", "classify_128"},
                                     {"elements_wide", "to_integers_128"},
                                     {"elements_wide", "from_integers_128"}});
  if (digits <= 256)
    return f(ThreadIntegers<Wide<4>>{{"elements_wide", "elements_256"},
                                     {"elements_wide", "compare_256"},
                                     {"elements_wide", "classify_256"},
                                     {"elements_wide", "to_integers_256"},
                                     {"elements_wide", "from_integers_256"}});
  throw std::invalid_argument(
      fmt::format("{}: {} digits of working precision are needed, a GPU's threads have 256; "
                  "compute on the CPU",
                  what, digits));
}

template <class Integers>
using CarrierOf = typename std::decay_t<Integers>::Carrier;

std::string text(std::span<const Format> operands, const Format& to) {
  std::string all;
  for (const Format& f : operands) all += to_string(f) + ", ";
  return fmt::format("operands {}result {}", all, to_string(to));
}

ElementwiseWay integers(const ElementTask& task, Device& device) {
  return with_integers(digits_needed(task), text(task.operands, task.to),
                       [&](const auto& with) -> ElementwiseWay {
                         using Work = Integers<CarrierOf<decltype(with)>>;
                         return std::make_unique<Work>(task, device, with.operation);
                       });
}

void ask(Device& device, Question question, const CodeArray& a, std::size_t count,
         std::uint8_t* result) {
  refuse_table(a.format);
  const std::string what = fmt::format("classes of {}", to_string(a.format));
  with_integers(digits_needed(a.format), what, [&](const auto& with) {
    using U = CarrierOf<decltype(with)>;
    const Classes<U> classes{question, Layout<U>(a.format), a.data, count, result};
    launch_each(device, with.classes, count, &classes);
  });
}

}  // namespace

void refuse_table(const Format& f) {
  if (f.is_table())
    throw std::invalid_argument(fmt::format(
        "{}: tables are not on the GPU; compute on the CPU, or convert to a float there",
        to_string(f)));
}

DeviceElementwise::DeviceElementwise(Device& device, Operation op, const Format& to, const Env& env,
                                     std::span<const Format> operands, bool flags) {
  const ElementTask task{op, to, env, operands, flags, 0};
  check(task);
  refuse_table(to);
  std::ranges::for_each(operands, refuse_table);
  ElementwiseWay way = quantise_way(task, device);
  if (!way) way = dequantise_way(task, device);
  if (!way) way = fuse_way(task, device);
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
  refuse_table(to), refuse_table(a.format);
  const int digits = std::max(digits_needed(to, env.rounding), digits_needed(a.format));
  with_integers(digits, text({&a.format, 1}, to), [&](const auto& with) {
    using U = CarrierOf<decltype(with)>;
    const Layout<U> f(a.format);
    const Elements<U> elements{.op = Operation::convert,
                               .operands = 1,
                               .to = Rounder<U>(to, env),
                               .format = {f, f, f},
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
  refuse_table(a.format);
  const std::string what = fmt::format("integers of {}", to_string(a.format));
  with_integers(digits_needed(a.format, env.rounding), what, [&](const auto& with) {
    using U = CarrierOf<decltype(with)>;
    const ToIntegers<U> codes{
        type,  RoundingRule(env.rounding), Layout<U>(a.format), a.data, count, result, flags,
        random};
    launch_each(device, with.to_integers, count, &codes);
  });
}

void from_integers(Device& device, IntegerType type, const Format& to, const Env& env,
                   const void* a, std::size_t count, void* result, std::uint8_t* flags,
                   RandomSource random) {
  refuse_table(to);
  const std::string what = fmt::format("integers to {}", to_string(to));
  with_integers(digits_needed(to, env.rounding), what, [&](const auto& with) {
    using U = CarrierOf<decltype(with)>;
    const FromIntegers<U> integers{type, Rounder<U>(to, env), a, count, result, flags, random};
    launch_each(device, with.from_integers, count, &integers);
  });
}

void compare(Device& device, Comparison how, const CodeArray& a, const CodeArray& b,
             std::size_t count, std::uint8_t* result, std::uint8_t* flags) {
  check(how, a.format, b.format);
  refuse_table(a.format), refuse_table(b.format);
  const int digits = std::max(digits_needed(a.format), digits_needed(b.format));
  const std::string what =
      fmt::format("comparing {} and {}", to_string(a.format), to_string(b.format));
  with_integers(digits, what, [&](const auto& with) {
    using U = CarrierOf<decltype(with)>;
    const Comparisons<U> comparisons{
        how, Layout<U>(a.format), Layout<U>(b.format), a.data, b.data, count, result, flags};
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
