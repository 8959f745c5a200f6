/**
 * SECTION:element-cudafftmag
 * @title: cudafftmag
 * @short_description: Fourier spectrum on an NVIDIA GPU, or on the CPU
 *
 * The magnitude of the two-dimensional Fourier transform of the luma, as a
 * grey picture of the same size.
 *
 * ## Example launch line
 * |[
 * gst-launch-1.0 videotestsrc pattern=zone-plate kx2=20 ky2=20 ! cudafftmag !
 *     videoconvert ! autovideosink
 * ]|
 *
 * Since: 0.1
 */
#include "gstcudafftmag.h"

#include "fftmag.h"

struct _GstCudaFftmag {
  GstCudaFilter parent;
};

G_DEFINE_TYPE (GstCudaFftmag, gst_cuda_fftmag, GST_TYPE_CUDA_FILTER);
GST_ELEMENT_REGISTER_DEFINE (cudafftmag, "cudafftmag", GST_RANK_NONE,
    gst_cuda_fftmag_get_type ());

static GType
gst_cuda_fftmag_scale_get_type (void)
{
  static const GEnumValue values[] = {
    {IMG_FFTMAG_LOG, "log (1 + |F|)", "log"},
    {IMG_FFTMAG_LINEAR, "|F|", "linear"},
    {IMG_FFTMAG_POWER, "|F|^2", "power"},
    {IMG_FFTMAG_DECIBEL, "20 log10 |F|", "decibel"},
    {0, NULL, NULL}
  };
  static gsize type;

  if (g_once_init_enter (&type))
    g_once_init_leave (&type,
        g_enum_register_static ("GstCudaFftmagScale", values));
  return type;
}

static GType
gst_cuda_fftmag_normalize_get_type (void)
{
  static const GEnumValue values[] = {
    {IMG_FFTMAG_MINMAX, "Each frame from black to white", "minmax"},
    {IMG_FFTMAG_RANGE, "range-min is black, range-max white", "range"},
    {0, NULL, NULL}
  };
  static gsize type;

  if (g_once_init_enter (&type))
    g_once_init_leave (&type,
        g_enum_register_static ("GstCudaFftmagNormalize", values));
  return type;
}

static GType
gst_cuda_fftmag_window_get_type (void)
{
  static const GEnumValue values[] = {
    {IMG_FFTMAG_WINDOW_NONE, "None", "none"},
    {IMG_FFTMAG_WINDOW_HANN, "Hann", "hann"},
    {IMG_FFTMAG_WINDOW_HAMMING, "Hamming", "hamming"},
    {IMG_FFTMAG_WINDOW_BLACKMAN, "Blackman", "blackman"},
    {0, NULL, NULL}
  };
  static gsize type;

  if (g_once_init_enter (&type))
    g_once_init_leave (&type,
        g_enum_register_static ("GstCudaFftmagWindow", values));
  return type;
}

static const GstCudaFilterProperty properties[] = {
  GST_CUDA_FILTER_ENUM ("scale", "Scale", ImgFftmagParams, scale,
      gst_cuda_fftmag_scale_get_type, IMG_FFTMAG_LOG,
      "What to show of the magnitude |F|"),
  GST_CUDA_FILTER_BOOLEAN ("shift", "Shift", ImgFftmagParams, shift, TRUE,
      "Zero frequency in the centre"),
  GST_CUDA_FILTER_ENUM ("normalize", "Normalize", ImgFftmagParams, normalize,
      gst_cuda_fftmag_normalize_get_type, IMG_FFTMAG_MINMAX,
      "How values become black to white"),
  GST_CUDA_FILTER_DOUBLE ("range-min", "Range minimum", ImgFftmagParams,
      range_min, 0, -G_MAXFLOAT, G_MAXFLOAT,
      "Black of normalize=range, in units of scale"),
  GST_CUDA_FILTER_DOUBLE ("range-max", "Range maximum", ImgFftmagParams,
      range_max, 20, -G_MAXFLOAT, G_MAXFLOAT,
      "White of normalize=range, in units of scale"),
  GST_CUDA_FILTER_ENUM ("window", "Window", ImgFftmagParams, window,
      gst_cuda_fftmag_window_get_type, IMG_FFTMAG_WINDOW_NONE,
      "Window applied before the transform"),
};

static void
gst_cuda_fftmag_class_init (GstCudaFftmagClass * klass)
{
  gst_cuda_filter_class_install (GST_CUDA_FILTER_CLASS (klass),
      &img_fftmag_cpu, &img_fftmag_cuda, properties,
      G_N_ELEMENTS (properties));
  gst_element_class_set_static_metadata (GST_ELEMENT_CLASS (klass),
      "CUDA Fourier magnitude", "Filter/Effect/Video/Hardware",
      "Fourier spectrum on an NVIDIA GPU, or on the CPU",
      "The gst-cuda-filters authors");
}

static void
gst_cuda_fftmag_init (GstCudaFftmag * self)
{
}
