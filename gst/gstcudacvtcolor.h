/* cvtcolor: see gstcudacvtcolor.c. */
#ifndef GST_CUDA_CVTCOLOR_H
#define GST_CUDA_CVTCOLOR_H

#include "gstcudafilter.h"

G_BEGIN_DECLS

G_DECLARE_FINAL_TYPE (GstCudaCvtcolor, gst_cuda_cvtcolor, GST, CUDA_CVTCOLOR,
    GstCudaFilter)

GST_ELEMENT_REGISTER_DECLARE (cudacvtcolor);

G_END_DECLS

#endif
