#pragma once
#include <vector>

#include "widthwise/format.hpp"
#include "widthwise/sim/codes.hpp"

namespace tests {

// Codes of a format as they lie in memory.
class Items {
 public:
  explicit Items(const widthwise::Format& f)
      : bytes_(static_cast<std::size_t>(widthwise::item_bytes(f.width()))) {}

  template <class U>
  void add(const U& code) {
    items_.resize(items_.size() + bytes_);
    widthwise::store_code(&items_[items_.size() - bytes_], static_cast<int>(bytes_), code);
  }
  void resize(std::size_t count) { items_.assign(count * bytes_, std::byte{0xa5}); }

  std::size_t count() const { return items_.size() / bytes_; }
  template <class U>
  U at(std::size_t i) const {
    return widthwise::load_code<U>(&items_[i * bytes_], static_cast<int>(bytes_));
  }
  std::uint64_t operator[](std::size_t i) const { return at<std::uint64_t>(i); }
  std::byte* data() { return items_.data(); }

 private:
  std::size_t bytes_;
  std::vector<std::byte> items_;
};

}  // namespace tests
