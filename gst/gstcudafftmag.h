/* fftmag: see gstcudafftmag.c. */
#ifndef GST_CUDA_FFTMAG_H
#define GST_CUDA_FFTMAG_H

#include "gstcudafilter.h"

G_BEGIN_DECLS

G_DECLARE_FINAL_TYPE (GstCudaFftmag, gst_cuda_fftmag, GST, CUDA_FFTMAG,
    GstCudaFilter)

GST_ELEMENT_REGISTER_DECLARE (cudafftmag);

G_END_DECLS

#endif
