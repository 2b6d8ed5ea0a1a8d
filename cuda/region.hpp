#pragma once
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kernels/places.hpp"
#include "upload.hpp"

namespace widthwise::cuda {

// Rows and columns of outputs.
struct Region {
  std::size_t row, column, rows, columns;

  std::size_t outputs() const { return rows * columns; }
};

// What B is where it is no matrix by itself: elements that its columns share, and an index map.
struct Windows {
  std::size_t elements;
  std::span<const std::size_t> rows;  // as on the device
  Places places;                      // there
};

// A region of a product on the device.
struct RegionThere {
  MatrixProduct p;            // of the device's addresses, dense
  std::size_t whole_columns;  // of the product that it is a part of
  std::optional<Windows> windows{};

  Places places() const { return windows ? windows->places : Places{}; }
  std::size_t elements_of_b() const { return windows ? windows->elements : p.k * p.n; }
};

// A product whose operands and results lie here or there; windows there.
struct WholeProduct {
  const MatrixProduct& p;
  Memory lies;
  std::optional<Windows> windows{};
};

// Operands and results of a region on the device.
class RegionMemory {
 public:
  RegionMemory(Device& device, const Unit& u, const WholeProduct& whole, const Region& region);

  const RegionThere& there() const { return there_; }
  void bring_home() const;

  // What it takes of the device's memory.
  static std::size_t bytes(const Unit& u, const WholeProduct& whole, const Region& region);

 private:
  CodeMatrix upload(const Part& part);
  // Of the region's first result.
  std::byte* home(void* whole, std::size_t item_bytes) const;
  // There, or else a place of the region's own; null of nothing.
  void* place(void* whole, std::size_t item_bytes, Buffer& own);

  Device& device_;
  WholeProduct whole_;
  Region region_;
  std::size_t result_bytes_;
  std::vector<Buffer> operands_;
  Buffer result_, flags_;
  RegionThere there_;
};

// A product whose operands are ready, and whose tiles may run together with others'.
struct Begun {
  std::string tile{};  // its kernel; empty where there is nothing to launch
  Grid grid{};
  std::vector<std::byte> layer{};  // what the kernel's argument has of it
  bool alone = false;              // or all that it is
  std::function<void()> finish;    // what is left to do when its tiles have run
};

// A way to compute what lies on the device.
class Way {
 public:
  virtual ~Way() = default;
  // All outputs, or those whose `redo` (of the device) is not 0.
  virtual void compute(const RegionThere& region, const std::uint8_t* redo) const = 0;
  // The same in two steps.
  virtual Begun begin(const RegionThere& region) const {
    return {.finish = [this, region] { compute(region, nullptr); }};
  }
};

}  // namespace widthwise::cuda
