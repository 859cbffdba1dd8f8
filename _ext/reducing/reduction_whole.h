/* The reductions of one type of whole numbers, included by reduction_kernels.h once for each. */

#ifndef DM_SIGNED
#define NAME(part) DM_WHOLE_NAME(sum, part)
#define T DM_WHOLE
#define A DM_WHOLE
#define VALUE DM_AS_IS
#define BOTH DM_PLUS
#define START 0
#include "reduction_template.h"

#define NAME(part) DM_WHOLE_NAME(prod, part)
#define T DM_WHOLE
#define A DM_WHOLE
#define VALUE DM_AS_IS
#define BOTH DM_TIMES_WRAPPED
#define START 1
#include "reduction_template.h"
#endif

#define NAME(part) DM_WHOLE_NAME(max, part)
#define T DM_WHOLE
#define A DM_WHOLE
#define VALUE DM_AS_IS
#define BOTH DM_LARGER
#define START DM_LEAST
#include "reduction_template.h"

#define NAME(part) DM_WHOLE_NAME(min, part)
#define T DM_WHOLE
#define A DM_WHOLE
#define VALUE DM_AS_IS
#define BOTH DM_SMALLER
#define START DM_MOST
#include "reduction_template.h"

#undef DM_WHOLE
#undef DM_WHOLE_NAME
#undef DM_LEAST
#undef DM_MOST
