#include "widthwise/sim/elementwise.hpp"

#include <fmt/format.h>

#include <stdexcept>
#include <vector>

#include "../engine/machine_rounding.hpp"
#include "kernels.hpp"
#include "way.hpp"
#include "widthwise/sim/carrier.hpp"
#include "widthwise/sim/said.hpp"
#include "widthwise/sim/single_operation.hpp"
#include "widthwise/sim/tables.hpp"
#include "widthwise/sim/text.hpp"

namespace widthwise {
namespace {

template <class U>
struct As {
  using type = U;
};

// Calls f with the carrier of that many digits.
template <class F>
void with_carrier(int digits_wanted, F&& f) {
  switch (least_carrier(digits_wanted)) {
    case 64: return f(As<std::uint64_t>{});
    case 256: return f(As<Wide<4>>{});
    case 4160: return f(As<Wide<65>>{});
#ifndef WIDTHWISE_FEW_CARRIERS
    case 32: return f(As<std::uint32_t>{});
    case 128: return f(As<uint128>{});
    case 576: return f(As<Wide<9>>{});
    case 1088: return f(As<Wide<17>>{});
    case 2112: return f(As<Wide<33>>{});
#endif
    default: refuse_digits(digits_wanted);
  }
}

// Operands, operation and result as integers: any format, any rounding.
class Integers final : public Elementwise::Way {
 public:
  explicit Integers(const ElementTask& task)
      : op_(task.op),
        to_(task.to),
        env_(task.env),
        formats_(task.operands.begin(), task.operands.end()),
        digits_(digits_needed(task)) {
    with_carrier(digits_, [](auto) {});  // there is one
  }

  const char* name() const final { return "integers"; }
  bool quick() const final { return false; }

  void run(const ElementArrays& x) const final {
    ElementwiseJob job{
        op_,        to_,     env_,    {{to_, nullptr}, {to_, nullptr}, {to_, nullptr}},
        arity(op_), nullptr, x.count, x.result,
        x.flags,    x.random};
    for (std::size_t i = 0; i < formats_.size(); ++i) job.operand[i] = {formats_[i], x.operands[i]};
    with_carrier(digits_, [&](auto u) { run_elementwise<typename decltype(u)::type>(job); });
  }

 private:
  Operation op_;
  Format to_;
  Env env_;
  std::vector<Format> formats_;
  int digits_;
};

}  // namespace

void check(const ElementTask& task) {
  check_rounding(task.to, task.env.rounding);
  if (task.operands.size() != static_cast<std::size_t>(arity(task.op)))
    throw std::invalid_argument(fmt::format("operands: {} given; the operation takes {}",
                                            task.operands.size(), arity(task.op)));
  if (keeps_format(task.op) && task.to != task.operands[0])
    throw std::invalid_argument(
        fmt::format("format={} differs from the operand's {}; the operation never rounds, convert "
                    "first",
                    said(task.to), said(task.operands[0])));
}

void check(Comparison how, const Format& a, const Format& b) {
  const bool one_format =
      how == Comparison::total_order || how == Comparison::total_order_magnitude;
  if (one_format && a != b)
    throw std::invalid_argument(fmt::format(
        "total order of {} and {}: one format is wanted, convert first", said(a), said(b)));
}

// Digits from the leading one of an exact result down to the last that its format keeps, where an
// overflow delivers the low ones: nothing between may be lost (docs/semantics.md, F6).
static std::int64_t whole_digits(const ElementTask& task) {
  std::int64_t most = INT64_MIN, digits = 0, last = task.to.least_digit();
  for (const Format& f : task.operands) {
    most = std::max(most, f.emax()), digits += f.digits();
    last = std::min(last, f.least_digit());
  }
  switch (task.op) {
    case Operation::add:
    case Operation::subtract: return most - last + 2;
    case Operation::fma: {
      const Format &a = task.operands[0], &b = task.operands[1], &c = task.operands[2];
      const std::int64_t product = a.least_digit() + b.least_digit();
      return std::max(a.emax() + b.emax() + 1, c.emax()) - std::min(product, c.least_digit()) + 2;
    }
    case Operation::divide:
      return most - task.operands[1].least_digit() - task.to.least_digit() + 2;
    case Operation::sqrt: return most / 2 - task.to.least_digit() + 2;
    default: return digits;
  }
}

void refuse_digits(int wanted) {
  throw std::invalid_argument(fmt::format(
      "formats and rounding need {} digits of working precision; the widest carrier has {}", wanted,
      carrier_digits[std::size(carrier_digits) - 1]));
}

static int checked_whole_digits(const ElementTask& task) {
  const std::int64_t digits = whole_digits(task) + 5;
  if (constexpr int widest = *(std::end(carrier_digits) - 1); digits > widest)
    throw std::invalid_argument(fmt::format(
        "result {}: an overflow that keeps the low digits needs all {} of exact results, and the "
        "widest carrier has {}; take overflow=saturate, or operands of a shorter range",
        to_string(task.to), digits, widest));
  return static_cast<int>(digits);
}

int digits_needed(const ElementTask& task) {
  std::int64_t digits = digits_needed(task.to, task.env.rounding);
  for (const Format& f : task.operands)
    digits = std::max<std::int64_t>(digits, digits_needed(f, task.env.rounding));
  if (task.to.wraps()) digits = std::max<std::int64_t>(digits, checked_whole_digits(task));
  return static_cast<int>(std::min<std::int64_t>(digits, INT_MAX));
}

ElementwiseWay integer_way(const ElementTask& task) { return std::make_unique<Integers>(task); }

Elementwise::Elementwise(Operation op, const Format& to, const Env& env,
                         std::span<const Format> operands, bool flags, std::size_t expected) {
  const ElementTask task{op, to, env, operands, flags, expected};
  check(task);
  const MachineRounding mode(RoundingMode::rne);
  ElementwiseWay way = lane_way(task);
  if (!way) way = fixed_way(task);
  if (!way) way = stairs_way(task);
  if (!way) way = chance_way(task);
  if (!way) way = tapered_way(task);
  if (!way) way = long_codes_way(task);
  if (!way) way = table_way(task);
  if (!way) way = integer_way(task);
  way_ = std::move(way);
}

void Elementwise::run(std::span<const void* const> operands, std::size_t count, void* result,
                      std::uint8_t* flags, RandomSource random) const {
  const MachineRounding mode(RoundingMode::rne);
  way_->run({operands, count, result, flags, random});
}

const char* Elementwise::way() const { return way_->name(); }
bool Elementwise::quick() const { return way_->quick(); }

void elementwise(Operation op, const Format& to, const Env& env,
                 std::span<const CodeArray> operands, std::size_t count, void* result,
                 std::uint8_t* flags, RandomSource random) {
  std::vector<Format> formats;
  std::vector<const void*> data;
  for (const CodeArray& x : operands) formats.push_back(x.format), data.push_back(x.data);
  Elementwise(op, to, env, formats, flags != nullptr, count)
      .run(data, count, result, flags, random);
}

void scaleb(const Format& to, const Env& env, const CodeArray& a, const std::int64_t* n,
            std::size_t count, void* result, std::uint8_t* flags, RandomSource random) {
  check_rounding(to, env.rounding);
  const ElementwiseJob job{
      Operation::convert, to, env, {a, a, a}, 1, n, count, result, flags, random};
  const int needed = std::max(digits_needed(to, env.rounding), digits_needed(a.format));
  with_carrier(needed, [&](auto u) { run_scaleb<typename decltype(u)::type>(job); });
}

void compare(Comparison how, const CodeArray& a, const CodeArray& b, std::size_t count,
             std::uint8_t* result, std::uint8_t* flags) {
  check(how, a.format, b.format);
  const CompareJob job{how, a, b, count, result, flags};
  const int needed = std::max(digits_needed(a.format), digits_needed(b.format));
  with_carrier(needed, [&](auto u) { run_compare<typename decltype(u)::type>(job); });
}

void to_integers(IntegerType type, const Env& env, const CodeArray& a, std::size_t count,
                 std::uint64_t* result, std::uint8_t* flags, RandomSource random) {
  const IntegerJob job{type, env, a, a.format, nullptr, result, nullptr, count, flags, random};
  const int needed = std::max(64, digits_needed(a.format, env.rounding));
  with_carrier(needed, [&](auto u) { run_to_integers<typename decltype(u)::type>(job); });
}

void from_integers(IntegerType type, const Format& to, const Env& env, const std::uint64_t* a,
                   std::size_t count, void* result, std::uint8_t* flags, RandomSource random) {
  check_rounding(to, env.rounding);
  const IntegerJob job{type, env, {to, nullptr}, to, a, nullptr, result, count, flags, random};
  const int needed = std::max(64, digits_needed(to, env.rounding));
  with_carrier(needed, [&](auto u) { run_from_integers<typename decltype(u)::type>(job); });
}

void classify(const CodeArray& a, std::size_t count, std::uint8_t* result) {
  with_carrier(digits_needed(a.format),
               [&](auto u) { run_classify<typename decltype(u)::type>(a, count, result); });
}

}  // namespace widthwise
