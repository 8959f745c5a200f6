/* resize: see gstcudaresize.c. */
#ifndef GST_CUDA_RESIZE_H
#define GST_CUDA_RESIZE_H

#include "gstcudafilter.h"

G_BEGIN_DECLS

G_DECLARE_FINAL_TYPE (GstCudaResize, gst_cuda_resize, GST, CUDA_RESIZE,
    GstCudaFilter)

GST_ELEMENT_REGISTER_DECLARE (cudaresize);

G_END_DECLS

#endif
