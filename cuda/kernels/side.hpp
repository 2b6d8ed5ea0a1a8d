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
