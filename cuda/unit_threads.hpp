#pragma once
#include <algorithm>

#include "kernels/unit_work.hpp"
#include "region.hpp"
#include "sim/dot/lane_order.hpp"
#include "widthwise/sim/engine.hpp"

namespace widthwise::cuda {

// A unit on a device whose outputs threads compute by the definition, in carriers M and H.
template <class M, class H>
class UnitThreads {
 public:
  UnitThreads(const Unit& unit, std::size_t k, Device& device)
      : device_(device),
        path_(unit),
        order_(copied_in(device, std::span<const std::size_t>(lane_order(unit, k)))) {}

  // Runs a kernel that takes what argument(work) makes, one of so many outputs a thread. Each has
  // room for a block of lanes and so many more.
  template <class MakeArgument>
  void launch(const Kernel& kernel, const RegionThere& region, std::size_t outputs,
              std::size_t more_lanes, const MakeArgument& argument) const {
    const MatrixProduct& p = region.p;
    const std::size_t block = block_lanes(path_, padded_lanes(path_, p.k));
    const std::size_t held = block + more_lanes, terms = Work::terms_of(block);
    const std::size_t threads =
        threads_for(outputs, held * sizeof(Lane<H>) + terms * sizeof(Term<M>));
    const Buffer lanes(device_, threads * held * sizeof(Lane<H>)),
        summands(device_, threads * terms * sizeof(Term<M>));
    const Work work{path_,
                    p,
                    region.whole_columns,
                    order_.template at<const std::size_t>(),
                    region.places(),
                    lanes.at<Lane<H>>(),
                    held,
                    summands.at<Term<M>>()};
    const auto all = argument(work);
    const std::size_t of_block = std::min(threads, threads_of_block);
    launch(kernel, {threads / of_block, 1, of_block}, all);
  }

 private:
  using Work = UnitWork<M, H>;
  static constexpr std::size_t threads_of_block = 128;

  template <class Argument>
  void launch(const Kernel& kernel, const Grid& grid, const Argument& all) const {
    if constexpr (std::is_same_v<LaunchArgument<Argument>, Argument>)
      return device_.launch(kernel, grid, &all);
    const Buffer there = copied_in(device_, std::span(&all, 1));
    const InMemory<Argument> argument{there.at<const Argument>()};
    device_.launch(kernel, grid, &argument);
  }

  // As many as the processors hold at once, if there is room for what they work in: whole blocks of
  // them, or a part of one.
  std::size_t threads_for(std::size_t outputs, std::size_t bytes_a_thread) const {
    constexpr std::size_t blocks_of_processor = 12;
    const std::size_t held = device_.processors() * blocks_of_processor * threads_of_block;
    const std::size_t threads =
        std::min({outputs, held, device_.free_bytes() / 4 / bytes_a_thread});
    if (threads < threads_of_block) return std::max<std::size_t>(1, threads);
    return threads / threads_of_block * threads_of_block;
  }

  Device& device_;
  Datapath<M, H> path_;
  Buffer order_;
};

}  // namespace widthwise::cuda
