#pragma once
#include "device.hpp"
#include "widthwise/rounder.hpp"

// Tables of values in a device's memory, where kernels/listed.cu looks them up.
namespace widthwise::cuda {

class TableThere {
 public:
  // Of a format that is no table nothing.
  TableThere(Device& device, const Format& f);

  // The same format, its table the one that lies there.
  Format of(Format f) const;

 private:
  Buffer values_, places_, table_;
};

// What kernels read codes by, and round to, for as long as this lives.
template <class U>
class LayoutThere {
 public:
  LayoutThere(Device& device, const Format& f) : table_(device, f), layout_(f) {
    layout_.format = table_.of(f);
  }
  const Layout<U>& operator*() const { return layout_; }

 private:
  TableThere table_;
  Layout<U> layout_;
};

template <class U>
class RounderThere {
 public:
  RounderThere(Device& device, const Format& f, const Env& env) : table_(device, f), to_(f, env) {
    to_.layout.format = table_.of(f);
  }
  const Rounder<U>& operator*() const { return to_; }

 private:
  TableThere table_;
  Rounder<U> to_;
};

}  // namespace widthwise::cuda
