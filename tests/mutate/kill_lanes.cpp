// Kills: lanes/plan.cpp
// Flags: build/sim/libwidthwise.a -lhwy -lfmt -ltomlplusplus
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "sim/lanes/plan.cpp"
#include "tests/sim/test_lane_plans.cpp"
