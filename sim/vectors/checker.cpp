#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <utility>

#include "../text/scanner.hpp"
#include "fields.hpp"
#include "task.hpp"
#include "widthwise/sim/values.hpp"

namespace widthwise {
namespace {

constexpr std::size_t batch = 4096;  // vectors computed at a time

}  // namespace

struct VectorChecker::Impl {
  // Disagreements under one reading of inexact.
  struct Tally {
    std::uint64_t errors = 0;
    std::vector<std::string> failures;
  };

  VectorTask task;
  VectorRules rules;
  std::size_t most_failures;

  std::string rest;            // a line whose end has not come yet
  std::string operands_alone;  // a line that the next one goes on with, as TestFloat prints them
  std::deque<std::string> earlier;  // lines whose results are still to come, clocks later
  std::uint64_t line = 0, vectors = 0;
  std::vector<std::vector<std::byte>> operands;  // of the vectors that wait to be computed
  std::vector<std::uint64_t> random;
  std::vector<std::byte> wanted, got;
  std::vector<std::uint8_t> wanted_flags, flags;
  std::vector<std::uint64_t> lines;
  Tally raised, never;

  Impl(const VectorTask& t, const VectorRules& r, std::size_t most)
      : task(t), rules(r), most_failures(most) {
    operands.resize(static_cast<std::size_t>(operand_count(task)));
    for (auto& x : operands) x.resize(batch * operand_size());
    random.resize(batch);
    wanted.resize(batch * result_size()), got.resize(batch * result_size());
    wanted_flags.resize(batch), flags.resize(batch);
    lines.reserve(batch);
  }

  // Fields of a line: operands and random bits, then result and flags.
  std::size_t inputs() const { return operands.size() + (random_width(task) > 0); }
  std::size_t operand_size() const { return static_cast<std::size_t>(operand_bytes(task)); }
  std::size_t result_size() const { return static_cast<std::size_t>(result_bytes(task)); }

  // --- Reading ---

  void take_line(std::string_view text) {
    ++line;
    const Fields fields(text);
    if (fields.count == 0) return;
    if (fields.arrow_first) {
      if (operands_alone.empty()) refuse_count(text, fields.count);
      const std::string whole = std::exchange(operands_alone, {}) + " " + std::string(text);
      return take_fields(Fields(whole), text);
    }
    operands_alone.clear();
    if (fields.count == inputs() && is_printed(fields.field[0])) {
      operands_alone = text;
      return;
    }
    if (rules.latency == 0) return take_fields(fields, text);
    if (fields.count != field_count()) refuse_count(text, fields.count);
    earlier.emplace_back(text);
    if (earlier.size() <= rules.latency) return;
    const std::string entered = std::exchange(earlier.front(), {});
    earlier.pop_front();
    Fields both(entered);
    std::copy_n(fields.field.begin() + static_cast<std::ptrdiff_t>(inputs()),
                field_count() - inputs(),
                both.field.begin() + static_cast<std::ptrdiff_t>(inputs()));
    take_fields(both, text);
  }

  std::size_t field_count() const { return inputs() + 1 + rules.flags; }

  void take_fields(const Fields& fields, std::string_view text) {
    const std::size_t n = inputs();
    if (fields.count != field_count()) refuse_count(text, fields.count);
    const std::size_t i = lines.size();
    for (std::size_t j = 0; j < operands.size(); ++j) {
      std::byte* code = operands[j].data() + i * operand_size();
      read(fields.field[j], task.from, width(task.from), code, operand_size(),
           std::string(1, "abc"[j]));
      if (const auto* type = std::get_if<IntegerType>(&task.from)) extend(*type, code);
    }
    if (const int bits = random_width(task))
      read_number(fields.field[n - 1], bits, reinterpret_cast<std::byte*>(&random[i]),
                  sizeof random[i], "random");
    read(fields.field[n], task.to, result_width(task), wanted.data() + i * result_size(),
         result_size(), "result");
    if (rules.flags) read_flags(fields.field[n + 1], wanted_flags[i]);
    lines.push_back(line);
    if (lines.size() == batch) judge();
  }

  void read_flags(std::string_view field, std::uint8_t& raised_flags) const {
    if (const auto printed = printed_flags(field))
      raised_flags = *printed;
    else
      read_number(field, 5, reinterpret_cast<std::byte*>(&raised_flags), 1, "flags");
  }

  static void extend(IntegerType type, std::byte* code) {
    if (type.width != 32 || !type.is_signed) return;
    std::int32_t low;
    std::memcpy(&low, code, sizeof low);
    const std::int64_t x = low;
    std::memcpy(code, &x, sizeof x);
  }

  void read(std::string_view field, const NumberType& type, int bits, std::byte* code,
            std::size_t bytes, const std::string& what) const {
    const Format* f = std::get_if<Format>(&type);
    if (f && f->is_float() && is_printed(field))
      check(read_printed(field, *f, code, static_cast<int>(bytes)), field, bits, what);
    else
      read_number(field, bits, code, bytes, what);
  }

  void read_number(std::string_view field, int bits, std::byte* code, std::size_t bytes,
                   const std::string& what) const {
    check(read_hex(without_prefix(field), bits, code, static_cast<int>(bytes)), field, bits, what);
  }

  void check(HexFault found, std::string_view field, int bits, const std::string& what) const {
    switch (found) {
      case HexFault::none: return;
      case HexFault::not_hexadecimal:
        throw VectorError(
            fmt::format("line {}: {} = {} is not a hexadecimal number", line, what, quoted(field)));
      case HexFault::too_wide:
        throw VectorError(fmt::format("line {}: {} = {} is too long; it has {} bits, {} digits",
                                      line, what, quoted(field), bits, (bits + 3) / 4));
    }
  }

  [[noreturn]] void refuse_count(std::string_view text, std::size_t found) const {
    constexpr std::string_view names[] = {"operand", "operands a and b", "operands a, b and c"};
    const std::string_view hint =
        found + 1 == field_count() ? "; where there are no flags, say so (--flags no)" : "";
    throw VectorError(fmt::format(
        "line {}: {} has {} fields; {} are wanted: {}, {}result{}{}", line, quoted(text), found,
        field_count(), names[operands.size() - 1], random_width(task) ? "random bits, " : "",
        rules.flags ? ", flags" : "", rules.flags ? hint : ""));
  }

  // --- Judging ---

  void judge() {
    compute(task, operands, random, lines.size(), got.data(), flags.data());
    const bool both = rounds_to_integer();
    for (std::size_t i = 0; i < lines.size(); ++i)
      if (!agrees(i)) count(raised, i);
    if (both) judge_without_inexact();
    vectors += lines.size();
    lines.clear();
  }

  bool rounds_to_integer() const {
    return delivers_integer(task) || task.op == AnyOperation(Operation::round_to_integral) ||
           task.op == AnyOperation(Operation::round_to_integral_exact);
  }

  // TestFloat's -notexact. Where the integer had to be rounded once more, that still is inexact.
  void judge_without_inexact() {
    if (delivers_integer(task)) {
      for (std::size_t i = 0; i < lines.size(); ++i)
        flags[i] &= static_cast<std::uint8_t>(~inexact);
    } else {
      VectorTask quiet = task;
      quiet.op = Operation::round_to_integral;
      compute(quiet, operands, random, lines.size(), got.data(), flags.data());
    }
    for (std::size_t i = 0; i < lines.size(); ++i)
      if (!agrees(i)) count(never, i);
  }

  bool agrees(std::size_t i) const {
    if (rules.flags && flags[i] != wanted_flags[i]) return false;
    const std::size_t size = result_size();
    const std::byte *a = wanted.data() + i * size, *b = got.data() + i * size;
    if (delivers_integer(task)) {
      const unsigned raised_flags = rules.flags ? wanted_flags[i] : flags[i];
      if (raised_flags & invalid && !rules.int_bits) return true;
      return std::memcmp(a, b, std::get<IntegerType>(task.to).width / 8) == 0;
    }
    if (std::memcmp(a, b, size) == 0) return true;
    return !delivers_truth(task) && !rules.nan_bits && is_nan(a) && is_nan(b);
  }

  bool is_nan(const std::byte* code) const {
    return value_of(std::get<Format>(task.to), code).kind == Kind::nan;
  }

  void count(Tally& tally, std::size_t i) const {
    if (tally.errors++ >= most_failures) return;
    std::string text = fmt::format("line {}:", lines[i]);
    for (const auto& x : operands) {
      text += ' ';
      append_hex(text, x.data() + i * operand_size(), width(task.from));
    }
    if (const int bits = random_width(task)) {
      text += ' ';
      append_hex(text, reinterpret_cast<const std::byte*>(&random[i]), bits);
    }
    const auto append = [&](const std::vector<std::byte>& codes, unsigned raised_flags) {
      append_hex(text, codes.data() + i * result_size(), result_width(task));
      if (rules.flags) text += fmt::format(" {:02X}", raised_flags);
    };
    text += ": the vector has ", append(wanted, wanted_flags[i]);
    text += ", this is ", append(got, flags[i]);
    tally.failures.push_back(std::move(text));
  }

  const Tally& tally() const {
    if (!rounds_to_integer() || rules.inexact == InexactIntegers::raised) return raised;
    if (rules.inexact == InexactIntegers::never) return never;
    return never.errors < raised.errors ? never : raised;
  }
};

VectorChecker::VectorChecker(const VectorTask& task, const VectorRules& rules,
                             std::size_t most_failures) {
  VectorTask exact = task;
  if (exact.op == AnyOperation(Operation::round_to_integral))
    exact.op = Operation::round_to_integral_exact;
  impl_ = std::make_unique<Impl>(exact, rules, most_failures);
}
VectorChecker::~VectorChecker() = default;

void VectorChecker::feed(std::string_view text) {
  Impl& x = *impl_;
  if (!x.rest.empty()) {
    const std::size_t end = text.find('\n');
    x.rest.append(text.substr(0, end));
    if (end == text.npos) return;
    x.take_line(std::exchange(x.rest, {}));
    text.remove_prefix(end + 1);
  }
  for (std::size_t end; (end = text.find('\n')) != text.npos; text.remove_prefix(end + 1))
    x.take_line(text.substr(0, end));
  x.rest = text;
}

void VectorChecker::finish() {
  if (!impl_->rest.empty()) impl_->take_line(std::exchange(impl_->rest, {}));
  impl_->judge();
  if (impl_->vectors == 0 && !impl_->earlier.empty())
    throw VectorError(fmt::format(
        "latency = {}: of {} lines none has a result; give a smaller one, or more lines",
        impl_->rules.latency, impl_->earlier.size()));
}

std::uint64_t VectorChecker::vectors() const { return impl_->vectors; }
std::uint64_t VectorChecker::errors() const { return impl_->tally().errors; }
const std::vector<std::string>& VectorChecker::failures() const { return impl_->tally().failures; }

}  // namespace widthwise
