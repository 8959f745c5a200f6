/* threshold: see gstcudathreshold.c. */
#ifndef GST_CUDA_THRESHOLD_H
#define GST_CUDA_THRESHOLD_H

#include "gstcudafilter.h"

G_BEGIN_DECLS

G_DECLARE_FINAL_TYPE (GstCudaThreshold, gst_cuda_threshold, GST, CUDA_THRESHOLD,
    GstCudaFilter)

GST_ELEMENT_REGISTER_DECLARE (cudathreshold);

G_END_DECLS

#endif
