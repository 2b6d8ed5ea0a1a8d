#include <algorithm>
#include <cstring>
#include <optional>
#include <vector>

#include "lately.hpp"
#include "look_up.hpp"
#include "way.hpp"

namespace widthwise {
namespace {

constexpr int most_bits = 16;  // of all operands together
constexpr std::size_t table_piece = 1024;

template <class Item>
void put(const void* codes, std::size_t n, unsigned mask, int shift, std::uint16_t* places) {
  const auto* items = static_cast<const Item*>(codes);
  for (std::size_t i = 0; i < n; ++i)
    places[i] = static_cast<std::uint16_t>(places[i] | (items[i] & mask) << shift);
}

template <class Item>
void look_up(const std::vector<std::byte>& table, const std::uint16_t* places, std::size_t n,
             void* result) {
  const std::byte* const from = table.data();
  auto* const to = static_cast<std::byte*>(result);
  for (std::size_t i = 0; i < n; ++i)
    std::memcpy(to + i * sizeof(Item), from + places[i] * sizeof(Item), sizeof(Item));
}

// The results of all operands there are, first operand in the low bits.
class EveryResult final : public Elementwise::Way {
 public:
  explicit EveryResult(const ElementTask& task)
      : formats_(task.operands.begin(), task.operands.end()),
        result_bytes_(item_bytes(task.to.width())) {
    int bits = 0;
    for (const Format& f : formats_) bits += f.width();
    const std::size_t size = std::size_t{1} << bits;
    std::vector<std::vector<std::byte>> all;
    std::vector<const void*> operands;
    int shift = 0;
    for (const Format& f : formats_) {
      all.push_back(every_code(f, size, shift));
      operands.push_back(all.back().data());
      shift += f.width();
    }
    codes_.resize(size * static_cast<std::size_t>(result_bytes_) + elements::read_past);
    flags_.resize(size);
    integer_way(task)->run({operands, size, codes_.data(), flags_.data(), {}});
    if (of_bytes(1) && result_bytes_ == sizeof(std::uint32_t)) {
      std::vector<std::uint32_t> words(size);
      std::memcpy(words.data(), codes_.data(), size * sizeof(std::uint32_t));
      words_.emplace(formats_[0].width(), words.data());
    }
  }

  const char* name() const final { return "table"; }

  void run(const ElementArrays& x) const final {
    if (of_bytes(2) && result_bytes_ == 1 && !x.flags) return run_byte_pairs(x);
    if (words_ && !x.flags)
      return elements::look_up(*words_, static_cast<const std::uint8_t*>(x.operands[0]), x.count,
                               x.result);
    for (std::size_t i = 0; i < x.count; i += table_piece)
      run_piece(x, i, std::min(table_piece, x.count - i));
  }

 private:
  static std::vector<std::byte> every_code(const Format& f, std::size_t size, int shift) {
    const auto bytes = static_cast<std::size_t>(item_bytes(f.width()));
    std::vector<std::byte> codes(size * bytes);
    const std::uint64_t mask = ones<std::uint64_t>(f.width());
    for (std::size_t i = 0; i < size; ++i)
      store_code(&codes[i * bytes], static_cast<int>(bytes), i >> shift & mask);
    return codes;
  }

  bool of_bytes(std::size_t operands) const {
    return formats_.size() == operands && std::ranges::all_of(formats_, [](const Format& f) {
             return item_bytes(f.width()) == 1;
           });
  }

  void run_byte_pairs(const ElementArrays& x) const {
    const elements::BytePairs pairs{static_cast<const std::uint8_t*>(x.operands[0]),
                                    static_cast<const std::uint8_t*>(x.operands[1]),
                                    formats_[0].width(), formats_[1].width()};
    elements::look_up(pairs, codes_.data(), x.count, static_cast<std::uint8_t*>(x.result));
  }

  void run_piece(const ElementArrays& x, std::size_t first, std::size_t n) const {
    std::uint16_t places[table_piece] = {};
    int shift = 0;
    for (std::size_t j = 0; j < formats_.size(); ++j) {
      const int width = formats_[j].width(), bytes = item_bytes(width);
      const void* codes =
          static_cast<const std::byte*>(x.operands[j]) + first * static_cast<std::size_t>(bytes);
      const auto put_items = bytes == 1 ? &put<std::uint8_t> : &put<std::uint16_t>;
      put_items(codes, n, ones<std::uint32_t>(width), shift, places);
      shift += width;
    }
    void* result =
        static_cast<std::byte*>(x.result) + first * static_cast<std::size_t>(result_bytes_);
    switch (result_bytes_) {
      case 1: look_up<std::uint8_t>(codes_, places, n, result); break;
      case 2: look_up<std::uint16_t>(codes_, places, n, result); break;
      case 4: look_up<std::uint32_t>(codes_, places, n, result); break;
      default: look_up<std::uint64_t>(codes_, places, n, result);
    }
    if (x.flags)
      for (std::size_t i = 0; i < n; ++i) x.flags[first + i] = flags_[places[i]];
  }

  std::vector<Format> formats_;
  int result_bytes_;
  std::vector<std::byte> codes_;
  std::vector<std::uint8_t> flags_;
  std::optional<elements::ByteWords> words_;  // of one byte's codes
};

// One that others may look up in, too.
class Shared final : public Elementwise::Way {
 public:
  explicit Shared(std::shared_ptr<const EveryResult> results) : results_(std::move(results)) {}
  const char* name() const final { return results_->name(); }
  void run(const ElementArrays& x) const final { results_->run(x); }

 private:
  std::shared_ptr<const EveryResult> results_;
};

struct Purpose {
  Operation op;
  Format to;
  RoundingMode mode;
  Tininess tininess;
  NanResult nan;
  std::vector<Format> operands;
  bool operator==(const Purpose&) const = default;
};

}  // namespace

ElementwiseWay table_way(const ElementTask& task) {
  int bits = 0;
  for (const Format& f : task.operands) bits += f.width();
  if (bits > most_bits || task.to.width() > 64 || task.env.rounding.stochastic()) return nullptr;
  if (task.expected < std::size_t{2} << bits) return nullptr;  // to fill it would take as long
  static Lately<Purpose, EveryResult> lately;
  const Env& env = task.env;
  return std::make_unique<Shared>(lately.get({task.op,
                                              task.to,
                                              env.rounding.mode,
                                              env.tininess,
                                              env.nan,
                                              {task.operands.begin(), task.operands.end()}},
                                             [&] { return std::make_shared<EveryResult>(task); }));
}

}  // namespace widthwise
