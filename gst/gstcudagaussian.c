/**
 * SECTION:element-cudagaussian
 * @title: cudagaussian
 * @short_description: Gaussian blur on an NVIDIA GPU, or on the CPU
 *
 * Gaussian blur of every channel but alpha, within one level of OpenCV's
 * GaussianBlur. Subsampled chroma is blurred as if at full resolution.
 *
 * ## Example launch line
 * |[
 * gst-launch-1.0 videotestsrc ! cudagaussian kernel-width=0 sigma-x=8 !
 *     videoconvert ! autovideosink
 * ]|
 *
 * Since: 0.1
 */
#include "gstcudagaussian.h"

#include "gaussian.h"

struct _GstCudaGaussian {
  GstCudaFilter parent;
};

G_DEFINE_TYPE (GstCudaGaussian, gst_cuda_gaussian, GST_TYPE_CUDA_FILTER);
GST_ELEMENT_REGISTER_DEFINE (cudagaussian, "cudagaussian", GST_RANK_NONE,
    gst_cuda_gaussian_get_type ());

static const GstCudaFilterProperty properties[] = {
  GST_CUDA_FILTER_INT ("kernel-width", "Kernel width", ImgGaussianParams,
      kernel_width, 15, 0, 255,
      "Width of the kernel: odd, or 0 to follow from sigma-x"),
  GST_CUDA_FILTER_INT ("kernel-height", "Kernel height", ImgGaussianParams,
      kernel_height, 0, 0, 255,
      "Height of the kernel: odd, or 0 for the same as the width"),
  GST_CUDA_FILTER_DOUBLE ("sigma-x", "Sigma x", ImgGaussianParams, sigma_x, 0,
      0, 100, "Standard deviation in pixels (0 = follows from kernel-width)"),
  GST_CUDA_FILTER_DOUBLE ("sigma-y", "Sigma y", ImgGaussianParams, sigma_y, 0,
      0, 100, "Standard deviation in pixels (0 = the same as sigma-x)"),
  GST_CUDA_FILTER_ENUM ("border", "Border", ImgGaussianParams, border,
      gst_cuda_filter_border_get_type, IMG_BORDER_REFLECT_101,
      "What stands beyond the edge of the picture"),
};

/* A kernel of one pixel changes nothing. */
static gboolean
gst_cuda_gaussian_is_identity (gconstpointer params)
{
  const ImgGaussianParams *p = params;

  return p->kernel_width == 1 && p->kernel_height <= 1;
}

static void
gst_cuda_gaussian_class_init (GstCudaGaussianClass * klass)
{
  GstCudaFilterClass *filter_class = GST_CUDA_FILTER_CLASS (klass);

  gst_cuda_filter_class_install (filter_class, &img_gaussian_cpu,
      &img_gaussian_cuda, properties, G_N_ELEMENTS (properties));
  filter_class->is_identity = gst_cuda_gaussian_is_identity;
  gst_element_class_set_static_metadata (GST_ELEMENT_CLASS (klass),
      "CUDA Gaussian blur", "Filter/Effect/Video/Hardware",
      "Gaussian blur on an NVIDIA GPU, or on the CPU",
      "The gst-cuda-filters authors");
}

static void
gst_cuda_gaussian_init (GstCudaGaussian * self)
{
}
