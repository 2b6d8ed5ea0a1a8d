#include "tables.hpp"

namespace widthwise::cuda {

TableThere::TableThere(Device& device, const Format& f) {
  if (!f.is_table()) return;
  Table t = *f.table;
  values_ = copied_in(device, std::span(t.values, static_cast<std::size_t>(t.count)));
  places_ = copied_in(device, std::span(t.places, std::size_t{1} << t.width));
  t.values = values_.at<const TableValue>(), t.places = places_.at<const std::int32_t>();
  table_ = copied_in(device, std::span<const Table>(&t, 1));
}

Format TableThere::of(Format f) const {
  if (f.is_table()) f.table = table_.at<const Table>();
  return f;
}

}  // namespace widthwise::cuda
