#include "apply.hpp"

namespace tests {

template Result<std::uint32_t> apply(Operation, const Rounder<std::uint32_t>&,
                                     const Coded<std::uint32_t>*, const std::uint32_t&);
template Result<std::uint64_t> apply(Operation, const Rounder<std::uint64_t>&,
                                     const Coded<std::uint64_t>*, const std::uint64_t&);
template Result<uint128> apply(Operation, const Rounder<uint128>&, const Coded<uint128>*,
                               const uint128&);

}  // namespace tests
