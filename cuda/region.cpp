#include "region.hpp"

#include "widthwise/sim/codes.hpp"

namespace widthwise::cuda {
namespace {

std::size_t bytes_of(const Format& f) { return static_cast<std::size_t>(item_bytes(f.width())); }

std::size_t scale_blocks(const Unit& u, std::size_t k) {
  if (!u.scale) return 0;
  const auto block = static_cast<std::size_t>(u.scale->block);
  return (k + block - 1) / block;
}

}  // namespace

RegionMemory::RegionMemory(Device& device, const Unit& u, const MatrixProduct& whole,
                           const Region& r)
    : device_(device),
      whole_(whole),
      region_(r),
      result_bytes_(bytes_of(result_round(u).fmt)),
      result_(device, r.outputs() * result_bytes_),
      flags_(device, whole.flags ? r.outputs() : 0),
      there_{whole, whole.n} {
  const Format& scale = u.scale ? u.scale->fmt : u.a.fmt;
  const std::size_t k = whole.k, scales = scale_blocks(u, k);
  MatrixProduct& p = there_.p;
  p.m = r.rows, p.n = r.columns;
  p.a = upload(whole.a, u.a.fmt, {r.row, 0, r.rows, k});
  p.b = upload(whole.b, u.b.fmt, {0, r.column, k, r.columns});
  p.c = upload(whole.c, u.c.fmt, r);
  p.scale_a = upload(whole.scale_a, scale, {r.row, 0, r.rows, scales});
  p.scale_b = upload(whole.scale_b, scale, {0, r.column, scales, r.columns});
  p.result = result_.at();
  p.flags = flags_.at<std::uint8_t>();
  p.first_index = whole.first_index + r.row * whole.n + r.column;
}

CodeMatrix RegionMemory::upload(const CodeMatrix& x, const Format& f, const Region& part) {
  Uploaded there =
      uploaded(device_, {x, part.row, part.column, part.rows, part.columns, item_bytes(f.width())});
  operands_.push_back(std::move(there.memory));
  return there.matrix;
}

void RegionMemory::bring_home() const {
  const std::size_t first = region_.row * whole_.n + region_.column;
  const auto home = [&](void* data, std::size_t bytes) {
    return Home{static_cast<std::byte*>(data) + first * bytes, whole_.n * bytes};
  };
  brought_home(device_, result_.at(), home(whole_.result, result_bytes_), region_.rows,
               region_.columns * result_bytes_);
  if (whole_.flags)
    brought_home(device_, flags_.at(), home(whole_.flags, 1), region_.rows, region_.columns);
}

std::size_t RegionMemory::bytes(const Unit& u, const MatrixProduct& whole, const Region& r) {
  const std::size_t lines = r.rows + r.columns, k = whole.k;
  std::size_t bytes = r.rows * k * bytes_of(u.a.fmt) + r.columns * k * bytes_of(u.b.fmt) +
                      r.outputs() * (bytes_of(result_round(u).fmt) + (whole.flags ? 1 : 0));
  if (whole.c.data) bytes += r.outputs() * bytes_of(u.c.fmt);
  if (u.scale) bytes += lines * scale_blocks(u, k) * bytes_of(u.scale->fmt);
  return bytes;
}

}  // namespace widthwise::cuda
