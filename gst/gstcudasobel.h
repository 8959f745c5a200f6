/* sobel: see gstcudasobel.c. */
#ifndef GST_CUDA_SOBEL_H
#define GST_CUDA_SOBEL_H

#include "gstcudafilter.h"

G_BEGIN_DECLS

G_DECLARE_FINAL_TYPE (GstCudaSobel, gst_cuda_sobel, GST, CUDA_SOBEL,
    GstCudaFilter)

GST_ELEMENT_REGISTER_DECLARE (cudasobel);

G_END_DECLS

#endif
