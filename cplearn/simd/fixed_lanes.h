#pragma once
// For kernels that keep vectors in arrays, which scalable types (SVE, RVV) do not allow. To be
// included before hwy/foreach_target.h.
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
