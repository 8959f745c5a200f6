/**
 * SECTION:element-cudasobel
 * @title: cudasobel
 * @short_description: edges by Sobel or Scharr, on an NVIDIA GPU or the CPU
 *
 * Derivatives of a picture with OpenCV's Sobel and Scharr kernels, not
 * normalised: one direction, or the magnitude of both.
 *
 * ## Example launch line
 * |[
 * gst-launch-1.0 videotestsrc ! cudasobel ! videoconvert ! autovideosink
 * ]|
 *
 * Since: 0.1
 */
#include "gstcudasobel.h"

#include "sobel.h"

struct _GstCudaSobel {
  GstCudaFilter parent;
};

G_DEFINE_TYPE (GstCudaSobel, gst_cuda_sobel, GST_TYPE_CUDA_FILTER);
GST_ELEMENT_REGISTER_DEFINE (cudasobel, "cudasobel", GST_RANK_NONE,
    gst_cuda_sobel_get_type ());

static GType
gst_cuda_sobel_direction_get_type (void)
{
  static const GEnumValue values[] = {
    {IMG_SOBEL_MAGNITUDE, "Length of the gradient", "magnitude"},
    {IMG_SOBEL_X, "Horizontal derivative: vertical edges", "x"},
    {IMG_SOBEL_Y, "Vertical derivative: horizontal edges", "y"},
    {0, NULL, NULL}
  };
  static gsize type;

  if (g_once_init_enter (&type))
    g_once_init_leave (&type,
        g_enum_register_static ("GstCudaSobelDirection", values));
  return type;
}

static GType
gst_cuda_sobel_operator_get_type (void)
{
  static const GEnumValue values[] = {
    {IMG_SOBEL_SOBEL, "Sobel", "sobel"},
    {IMG_SOBEL_SCHARR, "Scharr (3x3 only)", "scharr"},
    {0, NULL, NULL}
  };
  static gsize type;

  if (g_once_init_enter (&type))
    g_once_init_leave (&type,
        g_enum_register_static ("GstCudaSobelOperator", values));
  return type;
}

static GType
gst_cuda_sobel_norm_get_type (void)
{
  static const GEnumValue values[] = {
    {IMG_SOBEL_L2, "sqrt (gx*gx + gy*gy)", "l2"},
    {IMG_SOBEL_L1, "|gx| + |gy|", "l1"},
    {0, NULL, NULL}
  };
  static gsize type;

  if (g_once_init_enter (&type))
    g_once_init_leave (&type,
        g_enum_register_static ("GstCudaSobelNorm", values));
  return type;
}

static GType
gst_cuda_sobel_output_get_type (void)
{
  static const GEnumValue values[] = {
    {IMG_SOBEL_ABS, "Absolute value", "abs"},
    {IMG_SOBEL_CLIP, "Negative values become black", "clip"},
    {IMG_SOBEL_OFFSET, "128 is zero", "offset"},
    {0, NULL, NULL}
  };
  static gsize type;

  if (g_once_init_enter (&type))
    g_once_init_leave (&type,
        g_enum_register_static ("GstCudaSobelOutput", values));
  return type;
}

static const GstCudaFilterProperty properties[] = {
  GST_CUDA_FILTER_ENUM ("direction", "Direction", ImgSobelParams, direction,
      gst_cuda_sobel_direction_get_type, IMG_SOBEL_MAGNITUDE,
      "Derivative to take"),
  GST_CUDA_FILTER_ENUM ("operator", "Operator", ImgSobelParams, op,
      gst_cuda_sobel_operator_get_type, IMG_SOBEL_SOBEL,
      "Kernels to take it with"),
  GST_CUDA_FILTER_INT ("kernel-size", "Kernel size", ImgSobelParams,
      kernel_size, 3, 3, 7, "Size of the kernels: 3, 5 or 7 (scharr: 3)"),
  GST_CUDA_FILTER_ENUM ("norm", "Norm", ImgSobelParams, norm,
      gst_cuda_sobel_norm_get_type, IMG_SOBEL_L2,
      "How direction=magnitude joins the two derivatives"),
  GST_CUDA_FILTER_ENUM ("output", "Output", ImgSobelParams, output,
      gst_cuda_sobel_output_get_type, IMG_SOBEL_ABS,
      "What becomes of the sign of one direction"),
  GST_CUDA_FILTER_DOUBLE ("scale", "Scale", ImgSobelParams, scale, 1,
      -G_MAXFLOAT, G_MAXFLOAT, "Factor on the derivative"),
  GST_CUDA_FILTER_DOUBLE ("delta", "Delta", ImgSobelParams, delta, 0,
      -G_MAXFLOAT, G_MAXFLOAT,
      "Added to the scaled derivative (255 = black to white)"),
  GST_CUDA_FILTER_ENUM ("border", "Border", ImgSobelParams, border,
      gst_cuda_filter_border_get_type, IMG_BORDER_REFLECT_101,
      "What stands beyond the edge of the picture"),
  GST_CUDA_FILTER_ENUM ("channels", "Channels", ImgSobelParams, channels,
      gst_cuda_filter_channels_get_type, IMG_CHANNELS_EACH,
      "Which channels to take the derivative of"),
};

static void
gst_cuda_sobel_class_init (GstCudaSobelClass * klass)
{
  gst_cuda_filter_class_install (GST_CUDA_FILTER_CLASS (klass),
      &img_sobel_cpu, &img_sobel_cuda, properties, G_N_ELEMENTS (properties));
  gst_element_class_set_static_metadata (GST_ELEMENT_CLASS (klass),
      "CUDA Sobel", "Filter/Effect/Video/Hardware",
      "Edges by Sobel or Scharr on an NVIDIA GPU, or on the CPU",
      "The gst-cuda-filters authors");
}

static void
gst_cuda_sobel_init (GstCudaSobel * self)
{
}
