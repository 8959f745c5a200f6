/**
 * SECTION:element-cudathreshold
 * @title: cudathreshold
 * @short_description: threshold on an NVIDIA GPU, or on the CPU
 *
 * Fixed, automatic (Otsu, triangle) and adaptive thresholds with OpenCV's
 * types.
 *
 * ## Example launch line
 * |[
 * gst-launch-1.0 videotestsrc ! cudathreshold method=otsu ! videoconvert !
 *     autovideosink
 * ]|
 *
 * Since: 0.1
 */
#include "gstcudathreshold.h"

#include "threshold.h"

struct _GstCudaThreshold {
  GstCudaFilter parent;

  gdouble computed; /* of the last frame, under the object lock */
};

G_DEFINE_TYPE (GstCudaThreshold, gst_cuda_threshold, GST_TYPE_CUDA_FILTER);
GST_ELEMENT_REGISTER_DEFINE (cudathreshold, "cudathreshold", GST_RANK_NONE,
    gst_cuda_threshold_get_type ());

static GType
gst_cuda_threshold_type_get_type (void)
{
  static const GEnumValue values[] = {
    {IMG_THRESHOLD_BINARY, "Above: max-value, else black", "binary"},
    {IMG_THRESHOLD_BINARY_INV, "Above: black, else max-value", "binary-inv"},
    {IMG_THRESHOLD_TRUNC, "Above: the threshold, else unchanged", "trunc"},
    {IMG_THRESHOLD_TOZERO, "Above: unchanged, else black", "tozero"},
    {IMG_THRESHOLD_TOZERO_INV, "Above: black, else unchanged", "tozero-inv"},
    {0, NULL, NULL}
  };
  static gsize type;

  if (g_once_init_enter (&type))
    g_once_init_leave (&type,
        g_enum_register_static ("GstCudaThresholdType", values));
  return type;
}

static GType
gst_cuda_threshold_method_get_type (void)
{
  static const GEnumValue values[] = {
    {IMG_THRESHOLD_FIXED, "The threshold property", "fixed"},
    {IMG_THRESHOLD_OTSU, "Otsu's, from each frame's histogram", "otsu"},
    {IMG_THRESHOLD_TRIANGLE, "Triangle, from each frame's histogram",
        "triangle"},
    {IMG_THRESHOLD_ADAPTIVE_MEAN, "Mean of the neighbourhood less offset",
        "adaptive-mean"},
    {IMG_THRESHOLD_ADAPTIVE_GAUSSIAN,
          "Gaussian mean of the neighbourhood less offset",
        "adaptive-gaussian"},
    {0, NULL, NULL}
  };
  static gsize type;

  if (g_once_init_enter (&type))
    g_once_init_leave (&type,
        g_enum_register_static ("GstCudaThresholdMethod", values));
  return type;
}

static const GstCudaFilterProperty properties[] = {
  GST_CUDA_FILTER_DOUBLE ("threshold", "Threshold", ImgThresholdParams,
      threshold, 127, 0, 255, "Level of method=fixed (255 = white)"),
  GST_CUDA_FILTER_DOUBLE ("max-value", "Maximum value", ImgThresholdParams,
      max_value, 255, 0, 255, "What the binary types write (255 = white)"),
  GST_CUDA_FILTER_ENUM ("type", "Type", ImgThresholdParams, type,
      gst_cuda_threshold_type_get_type, IMG_THRESHOLD_BINARY,
      "What becomes of pixels above the threshold and of the others"),
  GST_CUDA_FILTER_ENUM ("method", "Method", ImgThresholdParams, method,
      gst_cuda_threshold_method_get_type, IMG_THRESHOLD_FIXED,
      "Where the threshold comes from"),
  GST_CUDA_FILTER_INT ("block-size", "Block size", ImgThresholdParams,
      block_size, 11, 3, 255, "Neighbourhood of the adaptive methods: odd"),
  GST_CUDA_FILTER_DOUBLE ("offset", "Offset", ImgThresholdParams, offset, 2,
      -255, 255, "Subtracted from the mean of the adaptive methods"),
  GST_CUDA_FILTER_ENUM ("channels", "Channels", ImgThresholdParams, channels,
      gst_cuda_filter_channels_get_type, IMG_CHANNELS_EACH,
      "Which channels method=fixed compares; the others compare the luma"),
};

enum
{
  PROP_COMPUTED_THRESHOLD = G_N_ELEMENTS (properties) + 1
};

static void
gst_cuda_threshold_read_results (GstCudaFilter * filter,
    const ImgOperation * operation, gconstpointer state)
{
  gdouble computed = operation == &img_threshold_cuda
      ? img_threshold_computed_cuda (state)
      : img_threshold_computed_cpu (state);

  GST_OBJECT_LOCK (filter);
  GST_CUDA_THRESHOLD (filter)->computed = computed;
  GST_OBJECT_UNLOCK (filter);
}

static void
gst_cuda_threshold_get_property (GObject * object, guint id, GValue * value,
    GParamSpec * pspec)
{
  if (id != PROP_COMPUTED_THRESHOLD) {
    gst_cuda_filter_get_param (object, id, value, pspec);
    return;
  }
  gst_cuda_filter_read_results (GST_CUDA_FILTER (object));
  GST_OBJECT_LOCK (object);
  g_value_set_double (value, GST_CUDA_THRESHOLD (object)->computed);
  GST_OBJECT_UNLOCK (object);
}

/* The adaptive methods read their neighbours after those were written. */
static gboolean
gst_cuda_threshold_can_work_in_place (gconstpointer params)
{
  return ((const ImgThresholdParams *) params)->method <=
      IMG_THRESHOLD_TRIANGLE;
}

static void
gst_cuda_threshold_class_init (GstCudaThresholdClass * klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstCudaFilterClass *filter_class = GST_CUDA_FILTER_CLASS (klass);

  gst_cuda_filter_class_install (filter_class, &img_threshold_cpu,
      &img_threshold_cuda, properties, G_N_ELEMENTS (properties));
  filter_class->read_results = gst_cuda_threshold_read_results;
  filter_class->can_work_in_place = gst_cuda_threshold_can_work_in_place;
  object_class->get_property = gst_cuda_threshold_get_property;
  g_object_class_install_property (object_class, PROP_COMPUTED_THRESHOLD,
      g_param_spec_double ("computed-threshold", "Computed threshold",
          "What otsu or triangle found in the last frame (-1 = nothing)",
          -1, 255, -1, G_PARAM_READABLE | G_PARAM_STATIC_STRINGS));
  gst_element_class_set_static_metadata (GST_ELEMENT_CLASS (klass),
      "CUDA threshold", "Filter/Effect/Video/Hardware",
      "Threshold on an NVIDIA GPU, or on the CPU",
      "The gst-cuda-filters authors");
}

static void
gst_cuda_threshold_init (GstCudaThreshold * self)
{
  self->computed = -1;
}
