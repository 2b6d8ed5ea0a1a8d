#pragma once
// What a GPU's compiler wants to be told and a CPU's does not know. Kernels are plain functions of
// both, so that tests run them where there is no GPU.
#ifdef __CUDACC__
#define WIDTHWISE_BOTH __host__ __device__
#define WIDTHWISE_BOTH_INLINE __host__ __device__ __forceinline__
#else
#define WIDTHWISE_BOTH
#define WIDTHWISE_BOTH_INLINE inline
#endif

// Before loops over registers, which must not be arrays in memory, and before loops so long that
// more of them would pass the instruction cache.
#ifdef __CUDACC__
#define WIDTHWISE_UNROLLED _Pragma("unroll")
#define WIDTHWISE_NOT_UNROLLED _Pragma("unroll 1")
#else
#define WIDTHWISE_UNROLLED
#define WIDTHWISE_NOT_UNROLLED
#endif
