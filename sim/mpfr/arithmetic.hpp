#pragma once
#include "deliver.hpp"

namespace widthwise::mpfr {

// The operations as MPFR does them. Operands are normalised, anything special included.
Computation sum(Scaled a, Scaled b);
Computation difference(Scaled a, Scaled b);
Computation product(const Scaled& a, const Scaled& b);
Computation quotient(const Scaled& a, const Scaled& b);
Computation remainder(Scaled a, Scaled b);
Computation square_root(Scaled a);
Computation multiply_add(Scaled a, const Scaled& b, Scaled c);
Computation itself(const Scaled& a);

}  // namespace widthwise::mpfr
