#include <cstring>

#include "model.hpp"

using namespace widthwise;
using namespace widthwise::model;

struct widthwise_trace {
  std::vector<TraceRow> rows;

  const TraceRow* row(std::int64_t i) const {
    return 0 <= i && i < std::ssize(rows) ? &rows[static_cast<std::size_t>(i)] : nullptr;
  }
};

namespace {

const char* stage_name(const TraceRow& row) { return stage_names[static_cast<int>(row.stage)]; }

// A field of a row, or `otherwise` where there is no such row.
template <class T, class F>
T field(const widthwise_trace* trace, std::int64_t i, T otherwise, const F& f) noexcept {
  const TraceRow* row = trace ? trace->row(i) : nullptr;
  return row ? static_cast<T>(f(*row)) : otherwise;
}

}  // namespace

extern "C" {

widthwise_trace* widthwise_model_trace(const widthwise_model* handle, std::uint32_t rm,
                                       std::uint64_t seed, std::uint64_t index, std::uint64_t k,
                                       const std::uint32_t* a, const std::uint32_t* b,
                                       const std::uint32_t* c, const std::uint32_t* scale_a,
                                       const std::uint32_t* scale_b) {
  std::unique_ptr<widthwise_trace> trace;
  guarded([&] {
    if (!handle) return;
    const Model& model = handle->get();
    model.check_length(k);
    const Operands x = operands_of(model, {a, b, c, scale_a, scale_b}, k);
    trace.reset(new widthwise_trace{model.trace(x.call(rm, {seed, index}, k))});
  });
  return trace.release();
}

void widthwise_trace_close(widthwise_trace* trace) { delete trace; }

std::int64_t widthwise_trace_rows(const widthwise_trace* trace) {
  return trace ? std::ssize(trace->rows) : 0;
}

std::int64_t widthwise_trace_find(const widthwise_trace* trace, const char* stage,
                                  std::int64_t from) {
  for (std::int64_t i = from; trace && trace->row(i); ++i)
    if (std::strcmp(stage_name(*trace->row(i)), stage) == 0) return i;
  return -1;
}

const char* widthwise_trace_stage(const widthwise_trace* trace, std::int64_t row) {
  return field(trace, row, "", stage_name);
}
const char* widthwise_trace_slot(const widthwise_trace* trace, std::int64_t row) {
  return field(trace, row, "", [](const TraceRow& r) { return r.slot.c_str(); });
}
std::int64_t widthwise_trace_lane(const widthwise_trace* trace, std::int64_t row) {
  return field<std::int64_t>(trace, row, 0, [](const TraceRow& r) { return r.lane; });
}
std::int32_t widthwise_trace_kind(const widthwise_trace* trace, std::int64_t row) {
  return field<std::int32_t>(trace, row, 0, [](const TraceRow& r) { return r.kind; });
}
std::int32_t widthwise_trace_negative(const widthwise_trace* trace, std::int64_t row) {
  return field<std::int32_t>(trace, row, 0, [](const TraceRow& r) { return r.negative; });
}
const char* widthwise_trace_significand(const widthwise_trace* trace, std::int64_t row) {
  return field(trace, row, "", [](const TraceRow& r) { return r.significand.c_str(); });
}
std::int64_t widthwise_trace_exponent(const widthwise_trace* trace, std::int64_t row) {
  return field<std::int64_t>(trace, row, 0, [](const TraceRow& r) { return r.exponent; });
}

}  // extern "C"
