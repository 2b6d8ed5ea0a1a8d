#pragma once
#include <algorithm>
#include <memory>
#include <mutex>
#include <vector>

namespace widthwise {

// What was made last, by what it was made for: tables that take as long to fill as a million
// elements take to look up.
template <class Key, class Made>
class Lately {
 public:
  // make() may give nothing, which is remembered as well.
  template <class Make>
  std::shared_ptr<const Made> get(const Key& key, const Make& make) {
    const std::lock_guard lock(busy_);
    const auto found = std::ranges::find(entries_, key, &Entry::key);
    if (found != entries_.end()) return found->made;
    if (entries_.size() == most) entries_.erase(entries_.begin());
    return entries_.emplace_back(Entry{key, make()}).made;
  }

 private:
  static constexpr std::size_t most = 8;
  struct Entry {
    Key key;
    std::shared_ptr<const Made> made;
  };
  std::mutex busy_;
  std::vector<Entry> entries_;
};

}  // namespace widthwise
