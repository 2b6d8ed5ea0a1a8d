// What most of these sources include, compiled once for all of them. Each includes what it needs
// all the same.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>
