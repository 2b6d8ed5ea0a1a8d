#pragma once
// The whole definition. Each header also stands alone.
#include "widthwise/op/add.hpp"
#include "widthwise/op/compare.hpp"
#include "widthwise/op/convert.hpp"
#include "widthwise/op/divide.hpp"
#include "widthwise/op/fma.hpp"
#include "widthwise/op/multiply.hpp"
#include "widthwise/op/neighbour.hpp"
#include "widthwise/op/remainder.hpp"
#include "widthwise/op/scale.hpp"
#include "widthwise/op/sqrt.hpp"
