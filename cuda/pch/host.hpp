// What most of these sources include, compiled once for all of them. Each includes what it needs
// all the same.
#include <fmt/format.h>

#include <algorithm>
#include <climits>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "device.hpp"
#include "product.hpp"
#include "widthwise/sim/text.hpp"
