#include "sweep.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <list>
#include <new>
#include <stdexcept>

#include "definition.hpp"
#include "elements.hpp"
#include "kernels/errors.hpp"
#include "kernels/product_tile.hpp"
#include "lane_tiles.hpp"
#include "product.hpp"
#include "widthwise/sim/codes.hpp"

namespace widthwise::cuda {
namespace {

// As many as one launch takes.
constexpr std::size_t at_once = TileLayers<float>::most;
// Outputs are measured by so many threads, whose sums are joined in two steps.
constexpr std::size_t measuring = 4096, joining = 64;

std::size_t bytes_of(const Format& f) { return static_cast<std::size_t>(item_bytes(f.width())); }

// Values of one operand as codes of the formats that are asked for, each made once.
class Codes {
 public:
  Codes(Device& device, const double* values, std::size_t count, const Rounding& rounding)
      : device_(device), values_(values), count_(count), env_{.rounding = rounding} {}

  const void* of(const Format& f) {
    for (const auto& [format, codes] : made_)
      if (format == f) return codes.at();
    Buffer codes(device_, count_ * bytes_of(f));
    const Format from[] = {binary64};
    const void* operands[] = {values_};
    DeviceElementwise(device_, Operation::convert, f, env_, from, false)
        .run(operands, count_, codes.at(), nullptr);
    made_.emplace_back(f, std::move(codes));
    return made_.back().second.at();
  }

 private:
  Device& device_;
  const double* values_;
  std::size_t count_;
  Env env_;
  std::list<std::pair<Format, Buffer>> made_;
};

// Rows of one unit's product, from codes of those of A and of all B to the sums of its errors.
class SweptUnit {
 public:
  SweptUnit(Device& device, const Unit& unit, const SweepValues& v, const DeviceSweep::Rows& rows,
            std::uint64_t seed, Codes& a, Codes& b)
      : device_(device),
        unit_(unit),
        first_(rows.first * v.n),
        count_(rows.count * v.n),
        way_(best_way({.unit = unit, .k = v.k, .outputs = count_}, device)),
        result_(device, count_ * bytes_of(result_round(unit).fmt)) {
    const auto matrix = [](const void* codes, std::size_t columns) {
      return CodeMatrix{codes, static_cast<std::ptrdiff_t>(columns), 1};
    };
    MatrixProduct& p = region_.p;
    p.m = rows.count, p.k = v.k, p.n = v.n;
    p.a = matrix(a.of(unit.a.fmt), v.k);
    p.b = matrix(b.of(unit.b.fmt), v.n);
    p.result = result_.at();
    p.seed = seed;
    p.first_index = first_;
    region_.whole_columns = v.n;
    begun_ = way_->begin(region_);
  }

  const Begun& begun() const { return begun_; }

  // After its tiles have run.
  void measure(const Buffer& exact, ErrorSums* sums) const {
    begun_.finish();
    const Format& f = result_round(unit_).fmt;
    const Buffer seen(device_, measuring * sizeof(ErrorSums)),
        some(device_, joining * sizeof(ErrorSums));
    const MeasureErrors errors{.to = Rounder<std::uint64_t>(Round{.fmt = binary64}),
                               .layout = Layout<std::uint64_t>(f),
                               .codes = result_.at<const std::byte>(),
                               .exact = exact.at<const double>() + first_,
                               .count = count_,
                               .bytes = item_bytes(f.width()),
                               .sums = seen.at<ErrorSums>()};
    device_.launch({"errors", "measure_errors"}, {measuring / 256, 1, 256}, &errors);
    join(seen, some.at<ErrorSums>(), joining, measuring / joining);
    join(some, sums, 1, joining);
  }

 private:
  void join(const Buffer& from, ErrorSums* to, std::size_t count, std::size_t each) const {
    const JoinErrors joined{from.at<const ErrorSums>(), to, count, each};
    device_.launch({"errors", "join_errors"}, {1, 1, count}, &joined);
  }

  Device& device_;
  Unit unit_;
  std::size_t first_, count_;  // outputs
  std::unique_ptr<const Way> way_;
  Buffer result_;
  RegionThere region_{};
  Begun begun_;
};

// Runs their tiles together.
std::vector<ErrorSums> measured(Device& device, const std::list<SweptUnit>& swept,
                                const Buffer& exact) {
  std::vector<Begun> begun;
  for (const SweptUnit& u : swept) begun.push_back(u.begun());
  launch_together(device, begun);
  std::vector<ErrorSums> sums(swept.size());
  const std::size_t bytes = sums.size() * sizeof(ErrorSums);
  const Buffer there(device, bytes);
  auto* at = there.at<ErrorSums>();
  for (const SweptUnit& u : swept) u.measure(exact, at++);
  device.copy_out(sums.data(), there.at(), bytes);
  return sums;
}

ErrorMetrics metrics(const ErrorSums& s) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN(),
                   infinity = std::numeric_limits<double>::infinity();
  const auto outputs = static_cast<double>(s.outputs), not_zero = static_cast<double>(s.not_zero);
  const double whole = s.exacts.root(), error = s.errors.root();
  return {.max_abs = s.outputs ? s.largest : nan,
          .mean_abs = s.outputs ? s.total / outputs : nan,
          .max_rel = s.not_zero ? s.largest_relative : nan,
          .mean_rel = s.not_zero ? s.total_relative / not_zero : nan,
          .rel_norm = whole > 0                 ? error / whole
                      : s.outputs && error == 0 ? 0
                                                : infinity,
          .exact = static_cast<double>(s.right) / std::max(1.0, outputs),
          .not_finite = static_cast<double>(s.not_finite)};
}

// What rows of one unit's product take, more or less: codes, and values in lanes or words.
std::size_t bytes_of_a_unit(const SweepValues& v, std::size_t rows) {
  return 16 * (rows * v.k + v.k * v.n) + 28 * rows * v.n;
}

}  // namespace

std::string why_no_sweep(const Unit& unit, std::size_t k) {
  try {
    carriers_for({.unit = unit, .k = k});
    if (result_round(unit).fmt.width() > 64) return "results wider than 64 bits";
    if (unit.scale) return "blocks that are scaled";
    return {};
  } catch (const std::invalid_argument& wrong) {
    return wrong.what();
  }
}

DeviceSweep::DeviceSweep(Device& device, const SweepValues& v)
    : device_(device),
      values_(v),
      a_(copied_in(device, std::span(v.a, v.m * v.k))),
      b_(copied_in(device, std::span(v.b, v.k * v.n))),
      exact_(copied_in(device, std::span(v.exact, v.m * v.n))) {}

std::vector<ErrorMetrics> DeviceSweep::run(std::span<const Unit> units, std::uint64_t seed) const {
  std::vector<ErrorMetrics> found;
  while (found.size() < units.size()) {
    const std::size_t room = budget() / bytes_of_a_unit(values_, values_.m);
    const std::size_t count =
        std::min({at_once, std::max<std::size_t>(1, room), units.size() - found.size()});
    std::vector<ErrorSums> sums(count);
    add_errors(units.subspan(found.size(), count), {0, values_.m}, seed, sums.data());
    for (const ErrorSums& s : sums) found.push_back(metrics(s));
  }
  return found;
}

// Half of what is free: some ways take more than others, and sums of errors do.
std::size_t DeviceSweep::budget() const { return device_.free_bytes() / 2; }

// What does not fit, or passes a grid, goes in halves: of units, and of one unit's rows.
void DeviceSweep::add_errors(std::span<const Unit> units, const Rows& rows, std::uint64_t seed,
                             ErrorSums* sums) const {
  const bool tall = rows.count > Grid::most_lines;
  const bool small = units.size() * bytes_of_a_unit(values_, rows.count) <= budget();
  if (!tall && small && fit(units, rows, seed, sums)) return;
  if (!tall && units.size() > 1) {
    const std::size_t half = units.size() / 2;
    add_errors(units.first(half), rows, seed, sums);
    return add_errors(units.subspan(half), rows, seed, sums + half);
  }
  if (rows.count == 1)
    throw std::runtime_error(fmt::format(
        "{}: its memory does not hold one row of {} values times {} columns beside the values of a "
        "sweep; engine = 'auto' computes the same on the CPU",
        device_.name(), values_.k, values_.n));
  const std::size_t half = rows.count / 2;
  add_errors(units, {rows.first, half}, seed, sums);
  add_errors(units, {rows.first + half, rows.count - half}, seed, sums);
}

// Adds nothing where memory is short; others may take it meanwhile.
bool DeviceSweep::fit(std::span<const Unit> units, const Rows& rows, std::uint64_t seed,
                      ErrorSums* sums) const {
  try {
    Codes a(device_, a_.at<const double>() + rows.first * values_.k, rows.count * values_.k,
            values_.rounding),
        b(device_, b_.at<const double>(), values_.k * values_.n, values_.rounding);
    std::list<SweptUnit> swept;
    for (const Unit& u : units) swept.emplace_back(device_, u, values_, rows, seed, a, b);
    for (const ErrorSums& more : measured(device_, swept, exact_)) (sums++)->join(more);
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

}  // namespace widthwise::cuda
