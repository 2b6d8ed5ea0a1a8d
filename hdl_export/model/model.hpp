#pragma once
#include <array>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "../block_run.hpp"
#include "widthwise/sim/dot.hpp"
#include "widthwise/sim/elementwise.hpp"
#include "widthwise/sim/running.hpp"
#include "widthwise/sim/single_operation.hpp"
#include "widthwise_model.h"

namespace widthwise::model {

// A call that cannot be answered; caught where C begins.
struct Refused {
  std::int32_t status;
};

// More than any memory holds: what is told of more is no length, and its bits are not counted.
inline constexpr std::uint64_t most_elements = std::uint64_t{1} << 44;

// A design with one rounding, made ready.
struct Prepared {
  Design design;
  std::unique_ptr<ReferenceUnit> step;     // of a unit: products of NUM_TERMS
  bool runs = false;                       // through `step`, whatever their number
  std::optional<Elementwise> elementwise;  // of an operation
  std::optional<hdl::BlockRun> blocks{};   // of a block's quantiser
};

// n results of k products each, arrays of codes; null: not there.
struct Call {
  std::uint32_t rm;
  RandomSource random;
  std::size_t n, k;
  const void *a, *b, *c, *scale_a, *scale_b;
};

// What answers calls. Threads may share it: a rounding is made ready once, by whoever asks first.
class Model {
 public:
  explicit Model(Design design);

  const Design& design() const { return design_; }
  const Unit* unit() const { return std::get_if<Unit>(&design_); }
  const SingleOperation* operation() const { return std::get_if<SingleOperation>(&design_); }
  const BlockQuantisation* quantiser() const { return std::get_if<BlockQuantisation>(&design_); }
  const SumRequantisation* requantisation() const {
    return std::get_if<SumRequantisation>(&design_);
  }
  std::int64_t terms() const { return unit() ? unit()->lanes : 1; }
  int width(std::int32_t port) const;  // 0: not there
  Rounding rounding() const;
  std::size_t scale_blocks(std::size_t k) const;

  // Refuses n results of k products that the design does not have, before an operand is read.
  void check_length(std::uint64_t k, std::uint64_t n = 1) const;
  // Refuses what is no code of a rounding here, and operands that are missing.
  const Prepared& prepared(std::uint32_t rm) const;
  void check(const Call& call) const;

  void compute(const Call& call, void* y, std::uint8_t* flags) const;
  std::vector<TraceRow> trace(const Call& call) const;

 private:
  static constexpr std::size_t codes = 16;
  struct Slot {
    std::once_flag once;
    Prepared prepared;
  };

  Design design_;
  mutable std::array<Slot, codes> slots_;
};

// A product of one row and column, whose operands lie one after the other.
MatrixProduct product_of(const Unit& u, const Call& call);

// Ports of vectors as codes, which live as long as this.
struct Operands {
  std::vector<std::byte> a, b, c, scale_a, scale_b;
  Call call(std::uint32_t rm, RandomSource random, std::size_t k) const;
};
struct Ports {
  const std::uint32_t *a, *b, *c, *scale_a, *scale_b;
};
Operands operands_of(const Model& model, const Ports& ports, std::size_t k);

// A result as the simulator stores it, and as C takes it.
struct Answer {
  std::vector<std::byte> code;
  std::uint8_t flags = 0;
};
Answer no_answer(const Model& model);  // with room for one
Answer answer(const Model& model, const Call& call);

// Runs f where nothing may be thrown, and tells how it went.
template <class F>
std::int32_t guarded(const F& f) noexcept {
  try {
    f();
    return WIDTHWISE_OK;
  } catch (const Refused& refused) {
    return refused.status;
  } catch (const std::invalid_argument&) {
    return WIDTHWISE_NO_LENGTH;  // all else was looked at when the model was opened
  } catch (const std::bad_alloc&) {
    return WIDTHWISE_NO_MEMORY;
  } catch (...) {
    return WIDTHWISE_FAILED;
  }
}

}  // namespace widthwise::model

// What a handle stands for: a model, or the reason why there is none.
struct widthwise_model {
  std::unique_ptr<widthwise::model::Model> model;
  std::string error;

  const widthwise::model::Model& get() const {
    if (!model) throw widthwise::model::Refused{WIDTHWISE_NOT_OPEN};
    return *model;
  }
};
