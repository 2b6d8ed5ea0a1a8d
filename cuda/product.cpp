#include "product.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "kernels/unit_outputs.hpp"
#include "sim/dot/capacity.hpp"
#include "sim/dot/lane_order.hpp"
#include "upload.hpp"
#include "widthwise/sim/unit_text.hpp"

namespace widthwise::cuda {
namespace {

constexpr std::size_t threads_of_block = 128;

// Rows and columns of outputs.
struct Region {
  std::size_t row, column, rows, columns;
};

std::size_t bytes_of(const Format& f) { return static_cast<std::size_t>(item_bytes(f.width())); }

// Operands and results of a region on the device.
class RegionMemory {
 public:
  RegionMemory(Device& device, const Unit& u, const MatrixProduct& p, const Region& r)
      : device_(device), whole_(p), region_(r), result_bytes_(bytes_of(result_round(u).fmt)) {
    const std::size_t scales = u.scale ? scale_blocks(u, p.k) : 0;
    const Format& scale = u.scale ? u.scale->fmt : u.a.fmt;
    p_ = p;
    p_.m = r.rows, p_.n = r.columns;
    p_.a = upload(a_, {p.a, r.row, 0, r.rows, p.k, item_bytes(u.a.fmt.width())});
    p_.b = upload(b_, {p.b, 0, r.column, p.k, r.columns, item_bytes(u.b.fmt.width())});
    p_.c = upload(c_, {p.c, r.row, r.column, r.rows, r.columns, item_bytes(u.c.fmt.width())});
    const int scale_bytes = item_bytes(scale.width());
    p_.scale_a = upload(scale_a_, {p.scale_a, r.row, 0, r.rows, scales, scale_bytes});
    p_.scale_b = upload(scale_b_, {p.scale_b, 0, r.column, scales, r.columns, scale_bytes});
    result_ = Buffer(device, outputs() * result_bytes_);
    flags_ = Buffer(device, p.flags ? outputs() : 0);
    p_.result = result_.at();
    p_.flags = flags_.at<std::uint8_t>();
    p_.first_index = p.first_index + r.row * p.n + r.column;
  }

  static std::size_t scale_blocks(const Unit& u, std::size_t k) {
    const auto block = static_cast<std::size_t>(u.scale->block);
    return (k + block - 1) / block;
  }

  const MatrixProduct& product() const { return p_; }

  void bring_home() const {
    const std::size_t first = region_.row * whole_.n + region_.column;
    const auto home = [&](void* data, std::size_t bytes) {
      return Home{static_cast<std::byte*>(data) + first * bytes, whole_.n * bytes};
    };
    brought_home(device_, result_.at(), home(whole_.result, result_bytes_), region_.rows,
                 region_.columns * result_bytes_);
    if (whole_.flags)
      brought_home(device_, flags_.at(), home(whole_.flags, 1), region_.rows, region_.columns);
  }

 private:
  std::size_t outputs() const { return region_.rows * region_.columns; }
  CodeMatrix upload(Uploaded& to, const Part& part) {
    to = uploaded(device_, part);
    return to.matrix;
  }

  Device& device_;
  const MatrixProduct& whole_;
  Region region_;
  std::size_t result_bytes_;
  Uploaded a_, b_, c_, scale_a_, scale_b_;
  Buffer result_, flags_;
  MatrixProduct p_;
};

// Of operands and results on the device.
std::size_t bytes_of_region(const Unit& u, const MatrixProduct& p, const Region& r) {
  const std::size_t outputs = r.rows * r.columns;
  std::size_t bytes = r.rows * p.k * bytes_of(u.a.fmt) + r.columns * p.k * bytes_of(u.b.fmt) +
                      outputs * (bytes_of(result_round(u).fmt) + (p.flags ? 1 : 0));
  if (p.c.data) bytes += outputs * bytes_of(u.c.fmt);
  if (u.scale)
    bytes += (r.rows + r.columns) * RegionMemory::scale_blocks(u, p.k) * bytes_of(u.scale->fmt);
  return bytes;
}

// The definition on the device, over carriers M and H.
template <class M, class H>
class UnitProduct final : public ProductEngine {
 public:
  UnitProduct(const ProductTask& task, Device& device, Kernel kernel)
      : device_(device),
        kernel_(kernel),
        path_(task.unit),
        order_(lane_order(task.unit, task.k)),
        order_there_(copied_in(device, std::span<const std::size_t>(order_))) {}

  void run(const MatrixProduct& p, std::size_t first, std::size_t last) const override {
    const std::size_t budget = device_.free_bytes() / 2;
    run({first, 0, last - first, p.n}, p, budget);
  }

 private:
  // What does not fit goes in halves: whole rows while there are some.
  void run(const Region& r, const MatrixProduct& p, std::size_t budget) const {
    if (r.rows == 0 || r.columns == 0) return;
    if (bytes_of_region(path_.unit, p, r) <= budget && fits(r, p)) return;
    if (r.rows == 1 && r.columns == 1)
      throw std::runtime_error(fmt::format(
          "{}: its memory does not hold the operands of one output, of length {}; engine = 'auto' "
          "computes the same on the CPU",
          device_.name(), p.k));
    const bool across = r.columns > r.rows;
    Region low = r, high = r;
    if (across)
      low.columns /= 2, high.columns -= low.columns, high.column += low.columns;
    else
      low.rows /= 2, high.rows -= low.rows, high.row += low.rows;
    run(low, p, budget);
    run(high, p, budget);
  }
  // Others may take memory meanwhile.
  bool fits(const Region& r, const MatrixProduct& p) const {
    try {
      run(r, p);
      return true;
    } catch (const std::bad_alloc&) {
      return false;
    }
  }

  void run(const Region& r, const MatrixProduct& p) const {
    RegionMemory memory(device_, path_.unit, p, r);
    const std::size_t block = block_of(p.k);
    const std::size_t threads = threads_for(r.rows * r.columns, block);
    const Buffer lanes(device_, threads * block * sizeof(Lane<H>));
    const Buffer terms(device_, threads * UnitOutputs<M, H>::terms_of(block) * sizeof(Term<M>));
    const UnitOutputs<M, H> outputs{path_,
                                    memory.product(),
                                    p.n,
                                    order_there_.template at<const std::size_t>(),
                                    nullptr,
                                    lanes.at<Lane<H>>(),
                                    terms.at<Term<M>>()};
    const std::size_t of_block = std::min(threads, threads_of_block);
    device_.launch(kernel_, {threads / of_block, 1, of_block}, &outputs);
    memory.bring_home();
  }

  std::size_t block_of(std::size_t k) const {
    return path_.unit.lanes ? static_cast<std::size_t>(path_.unit.lanes) : padded_lanes(path_, k);
  }
  // As many as the processors hold at once, if there is room for their terms: whole blocks of
  // them, or a part of one.
  std::size_t threads_for(std::size_t outputs, std::size_t block) const {
    constexpr std::size_t blocks_of_processor = 12;
    const std::size_t room =
        block * sizeof(Lane<H>) + UnitOutputs<M, H>::terms_of(block) * sizeof(Term<M>);
    const std::size_t held = device_.processors() * blocks_of_processor * threads_of_block;
    const std::size_t threads = std::min({outputs, held, device_.free_bytes() / 4 / room});
    if (threads < threads_of_block) return std::max<std::size_t>(1, threads);
    return threads / threads_of_block * threads_of_block;
  }

  Device& device_;
  Kernel kernel_;
  Datapath<M, H> path_;
  std::vector<std::size_t> order_;
  Buffer order_there_;
};

// Which carriers hold the unit's numbers on the way.
enum class Size { small, medium, none };
Size size_of(const Capacity& need) {
  if (need.magnitude_bits <= 126 && need.code_digits <= 64) return Size::small;
  if (need.magnitude_bits <= 766 && need.code_digits <= 128) return Size::medium;
  return Size::none;
}
Capacity need_of(const ProductTask& task) {
  check(task.unit);
  check_scale_groups(task.unit, task.k);
  return capacity(task.unit, static_cast<std::int64_t>(task.k));
}

}  // namespace

Opinion opinion(const ProductTask& task, std::string_view engine, const Device& device) {
  const auto say = [&](bool takes, std::string reason, double rate) {
    return Opinion{std::string(engine), takes, std::move(reason), rate};
  };
  Capacity need{};
  try {
    need = need_of(task);
  } catch (const std::invalid_argument& wrong) {
    return say(false, wrong.what(), 0);
  }
  const Size size = size_of(need);
  if (size == Size::none)
    return say(false,
               fmt::format("numbers of {} bits on their way, and codes of {} digits: more than 766 "
                           "or 128",
                           need.magnitude_bits, need.code_digits),
               0);
  const double of_processor = size == Size::small ? 5e6 : 1e6;  // products a second, estimated
  return say(true,
             fmt::format("the definition on threads, in integers of {} bits",
                         size == Size::small ? 128 : 768),
             of_processor * static_cast<double>(device.processors()));
}

std::unique_ptr<ProductEngine> make(const ProductTask& task, Device& device) {
  if (size_of(need_of(task)) == Size::small)
    return std::make_unique<UnitProduct<uint128, std::uint64_t>>(
        task, device, Kernel{"unit_outputs", "unit_small"});
  return std::make_unique<UnitProduct<Wide<12>, uint128>>(task, device,
                                                          Kernel{"unit_outputs", "unit_medium"});
}

}  // namespace widthwise::cuda
