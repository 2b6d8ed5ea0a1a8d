#include "apply.hpp"

namespace tests {

template Result<Wide<4>> apply(Operation, const Rounder<Wide<4>>&, const Coded<Wide<4>>*,
                               const Wide<4>&);
template Result<Wide<17>> apply(Operation, const Rounder<Wide<17>>&, const Coded<Wide<17>>*,
                                const Wide<17>&);
template Result<Wide<65>> apply(Operation, const Rounder<Wide<65>>&, const Coded<Wide<65>>*,
                                const Wide<65>&);

}  // namespace tests
