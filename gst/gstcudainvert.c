/**
 * SECTION:element-cudainvert
 * @title: cudainvert
 * @short_description: negative of a picture on an NVIDIA GPU, or on the CPU
 *
 * Replaces every colour value by its opposite: max - value in RGB and grey. In
 * YUV luma is mirrored inside its range and chroma about neutral, so that the
 * picture looks like inverting the RGB that it stands for.
 *
 * ## Example launch line
 * |[
 * gst-launch-1.0 videotestsrc ! cudainvert ! videoconvert ! autovideosink
 * ]|
 *
 * Since: 0.1
 */
#include "gstcudainvert.h"

#include "invert.h"

struct _GstCudaInvert {
  GstCudaFilter parent;
};

G_DEFINE_TYPE (GstCudaInvert, gst_cuda_invert, GST_TYPE_CUDA_FILTER);
GST_ELEMENT_REGISTER_DEFINE (cudainvert, "cudainvert", GST_RANK_NONE,
    gst_cuda_invert_get_type ());

static const GstCudaFilterProperty properties[] = {
  GST_CUDA_FILTER_BOOLEAN ("invert-alpha", "Invert alpha", ImgInvertParams,
      invert_alpha, FALSE, "Invert the alpha channel too"),
};

static void
gst_cuda_invert_class_init (GstCudaInvertClass * klass)
{
  gst_cuda_filter_class_install (GST_CUDA_FILTER_CLASS (klass),
      &img_invert_cpu, &img_invert_cuda, properties,
      G_N_ELEMENTS (properties));
  gst_element_class_set_static_metadata (GST_ELEMENT_CLASS (klass),
      "CUDA invert", "Filter/Effect/Video/Hardware",
      "Negative of a picture on an NVIDIA GPU, or on the CPU",
      "The gst-cuda-filters authors");
}

static void
gst_cuda_invert_init (GstCudaInvert * self)
{
}
