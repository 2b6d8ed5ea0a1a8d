#include "region.hpp"

#include "widthwise/sim/codes.hpp"

namespace widthwise::cuda {
namespace {

std::size_t result_bytes(const Unit& u) {
  return static_cast<std::size_t>(item_bytes(result_round(u).fmt.width()));
}

std::size_t scale_blocks(const Unit& u, std::size_t k) {
  if (!u.scale) return 0;
  const auto block = static_cast<std::size_t>(u.scale->block);
  return (k + block - 1) / block;
}

// What a region of outputs needs of every operand.
struct Parts {
  Part a, b{}, c, scale_a, scale_b;

  Parts(const Unit& u, const WholeProduct& whole, const Region& r) {
    const MatrixProduct& p = whole.p;
    const auto part = [](const CodeMatrix& x, const Format& f, const Region& of) {
      return Part{x, of.row, of.column, of.rows, of.columns, item_bytes(f.width())};
    };
    const Format& scale = u.scale ? u.scale->fmt : u.a.fmt;
    const std::size_t scales = scale_blocks(u, p.k);
    a = part(p.a, u.a.fmt, {r.row, 0, r.rows, p.k});
    if (!whole.windows) b = part(p.b, u.b.fmt, {0, r.column, p.k, r.columns});
    c = part(p.c, u.c.fmt, r);
    scale_a = part(p.scale_a, scale, {r.row, 0, r.rows, scales});
    scale_b = part(p.scale_b, scale, {0, r.column, scales, r.columns});
  }
};

// Whole rows of results are written where they belong, if that is on the device.
bool at_home(const WholeProduct& whole, const Region& r) {
  return whole.lies == Memory::device && r.columns == whole.p.row_outputs();
}

}  // namespace

RegionMemory::RegionMemory(Device& device, const Unit& u, const WholeProduct& whole,
                           const Region& r)
    : device_(device),
      whole_(whole),
      region_(r),
      result_bytes_(result_bytes(u)),
      there_{whole.p, whole.p.row_outputs(), whole.windows} {
  const Parts parts(u, whole, r);
  MatrixProduct& p = there_.p;
  p.m = r.rows, p.n = r.columns, p.result_row = 0;
  p.a = upload(parts.a), p.c = upload(parts.c);
  if (there_.windows)
    there_.windows->places.columns += r.column;
  else
    p.b = upload(parts.b);
  p.scale_a = upload(parts.scale_a), p.scale_b = upload(parts.scale_b);
  p.result = place(whole.p.result, result_bytes_, result_);
  p.flags = static_cast<std::uint8_t*>(place(whole.p.flags, 1, flags_));
  p.first_index = whole.p.where(r.row, r.column).index;
}

CodeMatrix RegionMemory::upload(const Part& part) {
  Uploaded there = uploaded(device_, part, whole_.lies);
  operands_.push_back(std::move(there.memory));
  return there.matrix;
}

std::byte* RegionMemory::home(void* whole, std::size_t item) const {
  return static_cast<std::byte*>(whole) + whole_.p.output(region_.row, region_.column) * item;
}

void* RegionMemory::place(void* whole, std::size_t item, Buffer& own) {
  if (!whole || at_home(whole_, region_)) return whole ? home(whole, item) : nullptr;
  own = Buffer(device_, region_.outputs() * item);
  return own.at();
}

void RegionMemory::bring_home() const {
  if (at_home(whole_, region_)) return;
  const auto bring = [&](const Buffer& from, void* whole, std::size_t item) {
    const Home to{home(whole, item), whole_.p.row_outputs() * item, whole_.lies};
    brought_home(device_, from.at(), to, region_.rows, region_.columns * item);
  };
  bring(result_, whole_.p.result, result_bytes_);
  if (whole_.p.flags) bring(flags_, whole_.p.flags, 1);
}

std::size_t RegionMemory::bytes(const Unit& u, const WholeProduct& whole, const Region& r) {
  const Parts parts(u, whole, r);
  std::size_t bytes = 0;
  for (const Part& x : {parts.a, parts.b, parts.c, parts.scale_a, parts.scale_b})
    bytes += bytes_to_take(x, whole.lies);
  if (at_home(whole, r)) return bytes;
  return bytes + r.outputs() * (result_bytes(u) + (whole.p.flags ? 1 : 0));
}

}  // namespace widthwise::cuda
