/* gaussian: see gstcudagaussian.c. */
#ifndef GST_CUDA_GAUSSIAN_H
#define GST_CUDA_GAUSSIAN_H

#include "gstcudafilter.h"

G_BEGIN_DECLS

G_DECLARE_FINAL_TYPE (GstCudaGaussian, gst_cuda_gaussian, GST, CUDA_GAUSSIAN,
    GstCudaFilter)

GST_ELEMENT_REGISTER_DECLARE (cudagaussian);

G_END_DECLS

#endif
