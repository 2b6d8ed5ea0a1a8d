#pragma once
#include "upload.hpp"

namespace widthwise::cuda {

// Rows and columns of outputs.
struct Region {
  std::size_t row, column, rows, columns;

  std::size_t outputs() const { return rows * columns; }
};

// A region of a product on the device.
struct RegionThere {
  MatrixProduct p;            // of the device's addresses, dense
  std::size_t whole_columns;  // of the product that it is a part of
};

// Operands and results of a region on the device.
class RegionMemory {
 public:
  RegionMemory(Device& device, const Unit& u, const MatrixProduct& whole, const Region& region);

  const RegionThere& there() const { return there_; }
  void bring_home() const;

  static std::size_t bytes(const Unit& u, const MatrixProduct& whole, const Region& region);

 private:
  CodeMatrix upload(const CodeMatrix& x, const Format& f, const Region& part);

  Device& device_;
  const MatrixProduct& whole_;
  Region region_;
  std::size_t result_bytes_;
  std::vector<Buffer> operands_;
  Buffer result_, flags_;
  RegionThere there_;
};

// A way to compute what lies on the device.
class Way {
 public:
  virtual ~Way() = default;
  // All outputs, or those whose `redo` (of the device) is not 0.
  virtual void compute(const RegionThere& region, const std::uint8_t* redo) const = 0;
};

}  // namespace widthwise::cuda
