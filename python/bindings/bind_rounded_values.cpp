#include <optional>

#include "bind.hpp"
#include "slices.hpp"
#include "widthwise/sim/codes.hpp"
#include "widthwise/sim/rounded_values.hpp"

using namespace widthwise;

namespace {

constexpr std::size_t short_work = 4096;  // elements for which Python's lock is not given back

const void* from(std::uintptr_t data, std::size_t first, std::size_t bytes) {
  return reinterpret_cast<const std::byte*>(data) + first * bytes;
}
void* to(std::uintptr_t data, std::size_t first, std::size_t bytes) {
  return reinterpret_cast<std::byte*>(data) + first * bytes;
}

// In pieces, and at once where there is little to do.
template <class Work>
void in_pieces(std::size_t count, bool quick, const Work& work) {
  if (quick && count <= short_work) return work(0, count);
  in_slices(count, quick ? looking_slice : element_slice, work);
}

// Floats that another library holds, at addresses that it gives.
class RoundingLoop {
 public:
  RoundingLoop(const Format& own, const Format& format, const Env& env, std::uint64_t low,
               std::uint64_t high)
      : own_(own),
        format_(format),
        env_(env),
        low_(low),
        high_(high),
        bytes_(static_cast<std::size_t>(item_bytes(own.width()))),
        few_(own, format, env, short_work) {}

  // Empty, or what the format has not: then y, which lies elsewhere, means nothing.
  const char* round(std::uintptr_t x, std::uintptr_t y, std::size_t count, std::uint64_t seed) {
    if (count > short_work && !many_) many_.emplace(own_, format_, env_, std::size_t{1} << 20);
    const RoundedValues& values = count <= short_work ? few_ : *many_;
    Unheld found = Unheld::nothing;
    in_pieces(count, values.quick(), [&](std::size_t first, std::size_t n) {
      if (found != Unheld::nothing) return;
      values.run(from(x, first, bytes_), n, to(y, first, bytes_), {seed, first, nullptr});
      found = unheld(own_, format_, from(x, first, bytes_), n);
    });
    return found == Unheld::nothing ? "" : found == Unheld::nan ? "NaN" : "infinities";
  }

  void pass_inside(std::uintptr_t g, std::uintptr_t x, std::uintptr_t y, std::size_t count) const {
    in_pieces(count, true, [&](std::size_t first, std::size_t n) {
      widthwise::pass_inside(own_, from(g, first, bytes_), from(x, first, bytes_), low_, high_, n,
                             to(y, first, bytes_));
    });
  }

 private:
  Format own_, format_;
  Env env_;
  std::uint64_t low_, high_;
  std::size_t bytes_;
  RoundedValues few_;
  std::optional<RoundedValues> many_;  // which may take long to make ready
};

}  // namespace

void bind_rounded_values(py::module_& m) {
  py::class_<RoundingLoop>(m, "RoundedValues")
      .def(py::init<const Format&, const Format&, const Env&, std::uint64_t, std::uint64_t>())
      .def("round", &RoundingLoop::round)
      .def("pass_inside", &RoundingLoop::pass_inside);
}
