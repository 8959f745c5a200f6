/* invert: see gstcudainvert.c. */
#ifndef GST_CUDA_INVERT_H
#define GST_CUDA_INVERT_H

#include "gstcudafilter.h"

G_BEGIN_DECLS

G_DECLARE_FINAL_TYPE (GstCudaInvert, gst_cuda_invert, GST, CUDA_INVERT,
    GstCudaFilter)

GST_ELEMENT_REGISTER_DECLARE (cudainvert);

G_END_DECLS

#endif
