#include "exact_tiles.hpp"

#include <fmt/format.h>

#include <climits>

#include "definition.hpp"
#include "kernels/exact_sums.hpp"
#include "kernels/exact_tile.hpp"
#include "lines_there.hpp"
#include "sim/exact/course.hpp"

namespace widthwise::cuda {
namespace {

// Whose shape all tiles have.
using AnyTile = ExactTile<IntoOne>;

exact::Answer plan_of(const ProductTask& task) {
  if (task.k == 0 || task.k > INT_MAX / 2) return {std::nullopt, "of a length that tiles have not"};
  exact::Answer answer = exact::plan(task.unit, task.k, task.flags);
  if (answer.plan && !answer.plan->doubles)
    return {std::nullopt, "doubles do not hold its terms or its register"};
  if (answer.plan && answer.plan->long_rounding)
    return {std::nullopt, "roundings that look at more than 64 digits"};
  return answer;
}

const char* name_of(exact::Sequence sequence) {
  switch (sequence) {
    case exact::Sequence::chain: return "one";
    case exact::Sequence::nearest: return "nearest";
    case exact::Sequence::magnitude: return "magnitude";
    case exact::Sequence::two: return "two";
    case exact::Sequence::three: return "three";
  }
  return "";
}

// The word of every sum, and which digits C may have there.
struct WordPlan {
  exact::Plan plan;
  std::int64_t c_last, c_top;
};

// None where products pass a word.
std::optional<WordPlan> word_plan(const exact::Plan& p, const exact::Extent& products,
                                  std::size_t k) {
  constexpr std::int64_t never = std::int64_t{1} << 62, most = 125;
  if (exact::in_one_word(p)) return WordPlan{p, -never, never};
  const std::int64_t last = exact::of_one_digit(p) ? p.last : products.last;
  const std::int64_t bits = std::max(products.top, last) + std::bit_width(k) - last;
  if (bits > most) return std::nullopt;
  WordPlan z{p, -never, never};
  z.plan.bits = most + 1;
  // Half the digits that are left are C's to use below. A register's last one is all it has.
  z.plan.last = std::max(p.last, last - (most - bits) / 2);
  if (z.plan.last > p.last) z.c_last = z.plan.last;
  z.c_top = z.plan.last + most;
  return z;
}

// Operands as doubles, and what is known of those.
struct Decoded {
  Buffer memory;
  exact::Range range;
};

class ExactTiles final : public Way {
 public:
  ExactTiles(const ProductTask& task, const exact::Plan& plan, Device& device)
      : device_(device),
        unit_(task.unit),
        k_(task.k),
        plan_(plan),
        finish_(task.unit),
        lines_(task, device),
        definition_(definition(task, device)) {}

  void compute(const RegionThere& region, const std::uint8_t*) const override {
    const Decoded a = decoded(lines_.of_a(region.p), false, upward()),
                  b = decoded(of_b(region), !region.windows, false);
    const exact::Extent products = extent(a.range, b.range);
    const auto course = exact::course(plan_, unit_.group_sum, products, k_);
    const auto word = word_plan(plan_, products, k_);
    if (!course || !word) return definition_->compute(region, nullptr);
    const MatrixProduct& p = region.p;
    const Buffer words(device_, p.m * p.n * sizeof(uint128)), redo(device_, p.m * p.n);
    ExactArgs args = constants(*course, word->plan.last);
    args.a = a.memory.at<const double>(), args.b = b.memory.at<const double>();
    args.b_places = region.places();
    args.words = words.at<uint128>(), args.redo = redo.at<std::uint8_t>();
    args.m = static_cast<int>(p.m), args.n = static_cast<int>(p.n);
    launch(course->sequence, args);
    finish(region, *word, args.words, args.redo);
    definition_->compute(region, args.redo);
  }

 private:
  // Up is down with A and the sums negated.
  bool upward() const {
    return plan_.terms == exact::Terms::in_sum &&
           unit_.group_sum.align.rm.mode == RoundingMode::rup;
  }
  bool away() const { return unit_.group_sum.align.rm.mode == RoundingMode::raz; }

  // The order of terms is all one. Elements of windows lie one by one.
  Lines of_b(const RegionThere& region) const {
    Lines z = lines_.of_b(region.p);
    if (region.windows) {
      z.codes = {z.codes.data, 0, 1};
      z.count = 1, z.length = region.windows->elements;
    }
    return z;
  }

  Decoded decoded(Lines lines, bool by_step, bool negated) const {
    lines.order = nullptr;
    const std::size_t count = lines.count * lines.length;
    Decoded z{Buffer(device_, count * sizeof(double)), {}};
    unsigned long long seen[2] = {};
    const Buffer kept = copied_in(device_, std::span<const unsigned long long>(seen));
    const DecodeLines decode{lines, by_step, negated, z.memory.at<double>(),
                             kept.at<unsigned long long>()};
    launch_each(device_, {"exact_tile", "decode_lines"}, count, &decode);
    device_.copy_out(seen, kept.at(), sizeof seen);
    z.range = {seen[0], ~seen[1]};
    return z;
  }

  // Of products that are not 0; if there are none, of any one.
  exact::Extent extent(const exact::Range& a, const exact::Range& b) const {
    if (a.most == 0 || b.most == 0) return {plan_.last, plan_.last};
    return exact::extent(a, plan_.a) * exact::extent(b, plan_.b);
  }

  // But what depends on the operands and results.
  ExactArgs constants(const exact::Course& course, std::int64_t last_of_word) const {
    ExactArgs z{};
    z.k = static_cast<int>(k_);
    z.interval = static_cast<int>(course.levels.steps);
    const double sign = upward() ? -1 : 1;
    for (int l = 0; l < course.levels.count; ++l) {
      const std::int64_t digit = course.levels.digit[l];
      z.level[l] = {course.start[l], sign * exact::two_to(-digit),
                    static_cast<int>(std::min<std::int64_t>(digit - last_of_word, 128))};
    }
    z.rounder = away() ? -course.rounder : course.rounder;
    z.low = course.low, z.high = course.high;
    if (upward())
      z.low = 2 * course.start[0] - course.high, z.high = 2 * course.start[0] - course.low;
    return z;
  }

  void launch(exact::Sequence sequence, const ExactArgs& args) const {
    const std::string name =
        fmt::format("exact_{}{}", name_of(sequence),
                    plan_.reg == exact::Register::saturates ? "_saturating" : "");
    const auto m = static_cast<std::size_t>(args.m), n = static_cast<std::size_t>(args.n);
    device_.launch({"exact_tile", name.c_str()},
                   {(n - 1) / AnyTile::columns + 1, (m - 1) / AnyTile::rows + 1, AnyTile::threads},
                   &args);
  }

  void finish(const RegionThere& region, const WordPlan& word, const uint128* words,
              std::uint8_t* redo) const {
    const MatrixProduct& p = region.p;
    const FinishSums finish{.sum = {word.plan, unit_.group_sum},
                            .finish = finish_,
                            .c_operand = unit_.c,
                            .c_layout = Layout<std::uint64_t>(unit_.c.fmt),
                            .c = static_cast<const std::byte*>(p.c.data),
                            .c_bytes = item_bytes(unit_.c.fmt.width()),
                            .c_last = word.c_last,
                            .c_top = word.c_top,
                            .words = words,
                            .redo = redo,
                            .result = static_cast<std::byte*>(p.result),
                            .flags = p.flags,
                            .bytes = item_bytes(result_round(unit_).fmt.width()),
                            .rows = p.m,
                            .columns = p.n,
                            .seed = p.seed,
                            .first = p.first_index,
                            .row_outputs = region.whole_columns};
    launch_each(device_, {"exact_tile", "finish_sums"}, p.m * p.n, &finish);
  }

  Device& device_;
  Unit unit_;
  std::size_t k_;
  exact::Plan plan_;
  exact::Finish finish_;
  LinesThere lines_;
  std::unique_ptr<const Way> definition_;
};

}  // namespace

std::string why_no_exact_tiles(const ProductTask& task) {
  const exact::Answer answer = plan_of(task);
  return answer.plan ? "" : answer.reason;
}

std::unique_ptr<const Way> exact_tiles(const ProductTask& task, Device& device) {
  const exact::Answer answer = plan_of(task);
  if (!answer.plan) return nullptr;
  return std::make_unique<ExactTiles>(task, *answer.plan, device);
}

}  // namespace widthwise::cuda
