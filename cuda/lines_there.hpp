#pragma once
#include "device.hpp"
#include "kernels/packed_lines.hpp"
#include "widthwise/sim/engine.hpp"

// Operands on a device, line by line as a unit takes them.
namespace widthwise::cuda {

class LinesThere {
 public:
  LinesThere(const ProductTask& task, Device& device);

  Lines of_a(const MatrixProduct& p) const { return of(unit_.a, p.a, p.scale_a, p.m, p.k); }
  Lines of_b(const MatrixProduct& p) const {
    return of(unit_.b, turned(p.b), turned(p.scale_b), p.n, p.k);
  }

 private:
  static CodeMatrix turned(const CodeMatrix& x) { return {x.data, x.column, x.row}; }
  Lines of(const Operand& operand, const CodeMatrix& codes, const CodeMatrix& scales,
           std::size_t count, std::size_t k) const;

  Unit unit_;
  Buffer order_;  // none where lanes take their own elements
};

constexpr std::size_t rounded_up(std::size_t n, std::size_t to) { return (n + to - 1) / to * to; }

}  // namespace widthwise::cuda
