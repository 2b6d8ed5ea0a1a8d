#include "matrix.hpp"
#include "slices.hpp"
#include "widthwise/random.hpp"
#include "widthwise/sim/operation_text.hpp"

// What MPFR says to results of ours. Without MPFR the module has none of this, and mpfr_version is
// None.
#ifdef WIDTHWISE_MPFR
#include <mpfr.h>

#include "widthwise/sim/mpfr_oracle.hpp"
#include "widthwise/sim/mpfr_unit.hpp"

using namespace widthwise;

namespace {

using Limbs = std::vector<std::uint64_t>;

Limbs limbs_at(const Format& f, const void* data, std::size_t i) {
  const auto bytes = static_cast<std::size_t>(item_bytes(f.width()));
  Limbs code(static_cast<std::size_t>(limbs(f)));
  std::memcpy(code.data(), static_cast<const std::byte*>(data) + i * bytes, bytes);
  return code;
}

// Indices at which MPFR differs, and what it has there: (index, code, flags).
class Differences {
 public:
  void add(std::size_t i, const Limbs& code, int flags) {
    ++count_;
    if (list_.size() < 20) list_.push_back({i, code, flags});
  }
  py::tuple as_tuple() const {
    py::list list;
    for (const auto& d : list_) list.append(py::make_tuple(d.index, to_int(d.code), d.flags));
    return py::make_tuple(count_, list);
  }

 private:
  struct Difference {
    std::size_t index;
    Limbs code;
    int flags;
  };
  std::size_t count_ = 0;
  std::vector<Difference> list_;
};

py::tuple check_elementwise(const std::string& op, const Format& to, const Env& env,
                            const std::vector<std::pair<Format, py::array>>& operands,
                            const py::array& result, const py::array_t<std::uint8_t>& flags,
                            const py::object& random) {
  const Operation what = parse_operation(op);
  std::vector<CodeArray> arrays;
  for (const auto& [f, codes] : operands) arrays.push_back(code_array(f, codes));
  const CodeArray got = code_array(to, result);
  const std::uint8_t* raised = flags.data();
  const RandomSource source = random_source(random, code_count(to, result));
  Differences differences;
  in_slices(code_count(to, result), 256, [&](std::size_t first, std::size_t count) {
    for (std::size_t i = first; i < first + count; ++i) {
      std::vector<Limbs> codes;
      for (const CodeArray& x : arrays) codes.push_back(limbs_at(x.format, x.data, i));
      std::vector<OracleOperand> x;
      for (std::size_t j = 0; j < codes.size(); ++j) x.push_back({arrays[j].format, codes[j]});
      const int k = env.rounding.random_bits;
      const std::uint64_t bits = k == 0         ? 0
                                 : source.given ? source.given[i]
                                                : random_bits(k, {source.seed, i}, Slot::out, 0);
      const OracleResult z = mpfr_compute(what, to, env, x, bits);
      if (z.code != limbs_at(to, got.data, i) || z.flags != raised[i])
        differences.add(i, z.code, z.flags);
    }
  });
  return differences.as_tuple();
}

// Codes of one row or column, each in whole limbs.
Limbs strip(const Format& f, const CodeMatrix& x, std::size_t count, bool along_columns) {
  Limbs codes;
  for (std::size_t i = 0; x.data && i < count; ++i) {
    const std::ptrdiff_t step = along_columns ? x.column : x.row;
    const auto* at = static_cast<const std::byte*>(x.data) +
                     static_cast<std::ptrdiff_t>(i) * step * item_bytes(f.width());
    const Limbs code = limbs_at(f, at, 0);
    codes.insert(codes.end(), code.begin(), code.end());
  }
  return codes;
}

Limbs mpfr_output(const Unit& u, const MatrixProduct& p) {
  const Limbs a = strip(u.a.fmt, p.a, p.k, true), b = strip(u.b.fmt, p.b, p.k, false);
  const Limbs c =
      p.c.data ? strip(u.c.fmt, p.c, 1, true) : Limbs(static_cast<std::size_t>(limbs(u.c.fmt)));
  Limbs scale_a, scale_b;
  if (u.scale) {
    const auto block = static_cast<std::size_t>(u.scale->block);
    const std::size_t blocks = (p.k + block - 1) / block;
    scale_a = strip(u.scale->fmt, p.scale_a, blocks, true);
    scale_b = strip(u.scale->fmt, p.scale_b, blocks, false);
  }
  return mpfr_dot(u, {a, b, c, scale_a, scale_b}, p.seed, p.first_index);
}

// indices: the flat positions of the outputs in the whole result, which random bits depend on.
py::tuple check_dots(const Unit& u, const Operands& x, const py::array& result, std::uint64_t seed,
                     const std::vector<std::uint64_t>& indices) {
  const ProductBatch batch = product_batch(u, x);
  const Format out = result_round(u).fmt;
  const CodeArray got = code_array(out, result);
  Differences differences;
  in_slices(batch.count(), 1, [&](std::size_t i, std::size_t) {
    MatrixProduct p = batch.at(u, i);
    p.seed = seed;
    p.first_index = indices.empty() ? i : indices[i];
    const Limbs z = mpfr_output(u, p);
    if (z != limbs_at(out, got.data, i)) differences.add(i, z, 0);
  });
  return differences.as_tuple();
}

}  // namespace

void bind_verify(py::module_& m) {
  m.attr("mpfr_version") = std::string(mpfr_get_version());
  m.def("mpfr_check_elementwise", &check_elementwise);
  m.def("mpfr_check_dots", &check_dots);
}

#else

void bind_verify(py::module_& m) { m.attr("mpfr_version") = py::none(); }

#endif
