/**
 * SECTION:element-cudaresize
 * @title: cudaresize
 * @short_description: another size, on an NVIDIA GPU or on the CPU
 *
 * Makes a picture as large as downstream asks for in its caps, as OpenCV's
 * resize does with the method of the same name. Where downstream leaves the
 * width, the height or the pixel aspect ratio open, they become such that the
 * picture keeps its shape on the display; where it does not, black borders
 * keep it, unless #GstCudaResize:add-borders is off.
 *
 * ## Example launch line
 * |[
 * gst-launch-1.0 videotestsrc ! cudaresize method=area !
 *     video/x-raw,width=160 ! videoconvert ! autovideosink
 * ]|
 *
 * Since: 0.1
 */
#include "gstcudaresize.h"

#include "resize.h"

enum
{
  PROP_METHOD = 1,
  PROP_ADD_BORDERS
};

#define DEFAULT_ADD_BORDERS TRUE

struct _GstCudaResize {
  GstCudaFilter parent;
  gboolean add_borders; /* under the object lock */
};

G_DEFINE_TYPE (GstCudaResize, gst_cuda_resize, GST_TYPE_CUDA_FILTER);
GST_ELEMENT_REGISTER_DEFINE (cudaresize, "cudaresize", GST_RANK_NONE,
    gst_cuda_resize_get_type ());

static GType
gst_cuda_resize_method_get_type (void)
{
  static const GEnumValue values[] = {
    {IMG_RESIZE_NEAREST, "Nearest pixel", "nearest"},
    {IMG_RESIZE_LINEAR, "Linear between two pixels", "linear"},
    {IMG_RESIZE_CUBIC, "Cubic over four pixels", "cubic"},
    {IMG_RESIZE_AREA, "Mean over the pixels that are covered", "area"},
    {IMG_RESIZE_LANCZOS, "Lanczos over eight pixels", "lanczos"},
    {0, NULL, NULL}
  };
  static gsize type;

  if (g_once_init_enter (&type))
    g_once_init_leave (&type,
        g_enum_register_static ("GstCudaResizeMethod", values));
  return type;
}

static const GstCudaFilterProperty properties[] = {
  GST_CUDA_FILTER_ENUM ("method", "Method", ImgResizeParams, method,
      gst_cuda_resize_method_get_type, IMG_RESIZE_LINEAR,
      "How pixels are made of others, as in OpenCV"),
};

static void
gst_cuda_resize_set_property (GObject * object, guint id, const GValue * value,
    GParamSpec * pspec)
{
  if (id != PROP_ADD_BORDERS) {
    gst_cuda_filter_set_param (object, id, value, pspec);
    return;
  }
  GST_OBJECT_LOCK (object);
  GST_CUDA_RESIZE (object)->add_borders = g_value_get_boolean (value);
  GST_OBJECT_UNLOCK (object);
}

static void
gst_cuda_resize_get_property (GObject * object, guint id, GValue * value,
    GParamSpec * pspec)
{
  if (id != PROP_ADD_BORDERS) {
    gst_cuda_filter_get_param (object, id, value, pspec);
    return;
  }
  GST_OBJECT_LOCK (object);
  g_value_set_boolean (value, GST_CUDA_RESIZE (object)->add_borders);
  GST_OBJECT_UNLOCK (object);
}

/* caps */

static void
gst_cuda_resize_relax (GstCudaFilter * self, GstPadDirection direction,
    GstStructure * structure)
{
  gst_structure_set (structure,
      "width", GST_TYPE_INT_RANGE, 1, G_MAXINT,
      "height", GST_TYPE_INT_RANGE, 1, G_MAXINT, NULL);
  if (gst_structure_has_field (structure, "pixel-aspect-ratio"))
    gst_structure_set (structure, "pixel-aspect-ratio",
        GST_TYPE_FRACTION_RANGE, 1, G_MAXINT, G_MAXINT, 1, NULL);
}

/* A size and shape of pixels that `structure` can have. */
typedef struct {
  const GstStructure *structure;
  gint dar_n, dar_d; /* shape of the picture on the display */
  gint width, height, par_n, par_d;
} GstCudaResizeShape;

/* What the field would become if it were fixated near `target`. */
static gint
gst_cuda_resize_nearest_int (const GstStructure * structure,
    const gchar * field, gint target)
{
  GstStructure *copy = gst_structure_copy (structure);
  gint value = target;

  gst_structure_fixate_field_nearest_int (copy, field, target);
  gst_structure_get_int (copy, field, &value);
  gst_structure_free (copy);
  return value;
}

/* Pixels nearest to those that keep the picture's shape at its size; TRUE if
 * they do. */
static gboolean
gst_cuda_resize_fit_pixels (GstCudaResizeShape * shape)
{
  GstStructure *copy;
  gint n, d;

  if (!gst_util_fraction_multiply (shape->dar_n, shape->dar_d, shape->height,
          shape->width, &n, &d))
    return FALSE;
  shape->par_n = n;
  shape->par_d = d;
  if (!gst_structure_has_field (shape->structure, "pixel-aspect-ratio"))
    return TRUE;
  copy = gst_structure_copy (shape->structure);
  gst_structure_fixate_field_nearest_fraction (copy, "pixel-aspect-ratio", n,
      d);
  gst_structure_get_fraction (copy, "pixel-aspect-ratio", &shape->par_n,
      &shape->par_d);
  gst_structure_free (copy);
  return shape->par_n == n && shape->par_d == d;
}

/* Width for the height, or height for the width, so that the shape is kept
 * with the pixels as they are. */
static void
gst_cuda_resize_fit_size (GstCudaResizeShape * shape)
{
  gint n, d, width, height, nearest_width, nearest_height;

  if (!gst_util_fraction_multiply (shape->dar_n, shape->dar_d, shape->par_d,
          shape->par_n, &n, &d))
    return;
  width = (gint) CLAMP (gst_util_uint64_scale_int_round (shape->height, n, d),
      1, G_MAXINT);
  height = (gint) CLAMP (gst_util_uint64_scale_int_round (shape->width, d, n),
      1, G_MAXINT);
  nearest_width = gst_cuda_resize_nearest_int (shape->structure, "width",
      width);
  nearest_height = gst_cuda_resize_nearest_int (shape->structure, "height",
      height);
  if (nearest_width == width) {
    shape->width = width;
  } else if (nearest_height == height) {
    shape->height = height;
  } else {
    if (gst_structure_has_field_typed (shape->structure, "height", G_TYPE_INT))
      shape->width = nearest_width;
    if (gst_structure_has_field_typed (shape->structure, "width", G_TYPE_INT))
      shape->height = nearest_height;
  }
}

static gboolean
gst_cuda_resize_start_shape (GstCudaResizeShape * shape, const GstCaps * caps)
{
  GstVideoInfo info;

  if (!gst_video_info_from_caps (&info, caps)
      || !gst_util_fraction_multiply (GST_VIDEO_INFO_WIDTH (&info),
          GST_VIDEO_INFO_HEIGHT (&info), GST_VIDEO_INFO_PAR_N (&info),
          GST_VIDEO_INFO_PAR_D (&info), &shape->dar_n, &shape->dar_d))
    return FALSE;
  shape->width = gst_cuda_resize_nearest_int (shape->structure, "width",
      GST_VIDEO_INFO_WIDTH (&info));
  shape->height = gst_cuda_resize_nearest_int (shape->structure, "height",
      GST_VIDEO_INFO_HEIGHT (&info));
  return TRUE;
}

/* As videoscale: the size of the other pad if it can be had, else as near as
 * the picture's shape allows. */
static void
gst_cuda_resize_fixate (GstCudaFilter * self, GstPadDirection direction,
    GstCaps * caps, GstStructure * structure)
{
  const gchar *par = "pixel-aspect-ratio";
  GstCudaResizeShape shape = { structure, 1, 1, 0, 0, 1, 1 };

  /* without it, frames that come in have square pixels */
  if (direction == GST_PAD_SRC && !gst_structure_has_field (structure, par))
    gst_structure_set (structure, par, GST_TYPE_FRACTION, 1, 1, NULL);
  if (!gst_cuda_resize_start_shape (&shape, caps))
    return;
  if (!gst_cuda_resize_fit_pixels (&shape))
    gst_cuda_resize_fit_size (&shape);
  gst_structure_fixate_field_nearest_int (structure, "width", shape.width);
  gst_structure_fixate_field_nearest_int (structure, "height", shape.height);
  if (gst_structure_has_field (structure, par))
    gst_structure_fixate_field_nearest_fraction (structure, par, shape.par_n,
        shape.par_d);
  else if (shape.par_n != shape.par_d)
    gst_structure_set (structure, par, GST_TYPE_FRACTION, shape.par_n,
        shape.par_d, NULL);
}

/* frames */

/* The size in which the picture keeps its shape on the display. */
static gboolean
gst_cuda_resize_fit (const GstVideoInfo * in, const GstVideoInfo * out,
    gint * width, gint * height)
{
  gint n, d;

  *width = GST_VIDEO_INFO_WIDTH (out);
  *height = GST_VIDEO_INFO_HEIGHT (out);
  if (!gst_util_fraction_multiply (GST_VIDEO_INFO_WIDTH (in),
          GST_VIDEO_INFO_HEIGHT (in), GST_VIDEO_INFO_PAR_N (in),
          GST_VIDEO_INFO_PAR_D (in), &n, &d)
      || !gst_util_fraction_multiply (n, d, GST_VIDEO_INFO_PAR_D (out),
          GST_VIDEO_INFO_PAR_N (out), &n, &d))
    return FALSE;
  *height = (gint) MAX (gst_util_uint64_scale_int (*width, d, n), 1);
  if (*height > GST_VIDEO_INFO_HEIGHT (out)) {
    *height = GST_VIDEO_INFO_HEIGHT (out);
    *width = (gint) MAX (gst_util_uint64_scale_int (*height, n, d), 1);
  }
  return TRUE;
}

static void
gst_cuda_resize_complete_params (GstCudaFilter * filter, gpointer params,
    gboolean fields)
{
  GstCudaResize *self = GST_CUDA_RESIZE (filter);
  const GstVideoInfo *out = &filter->out_info;
  ImgResizeParams *p = params;
  gboolean add_borders;
  gint width, height;

  p->x = p->y = p->width = p->height = 0;
  GST_OBJECT_LOCK (self);
  add_borders = self->add_borders;
  GST_OBJECT_UNLOCK (self);
  if (!add_borders
      || !gst_cuda_resize_fit (&filter->in_info, out, &width, &height))
    return;
  if (width < GST_VIDEO_INFO_WIDTH (out)) {
    p->x = (GST_VIDEO_INFO_WIDTH (out) - width) / 2;
    p->width = width;
  }
  if (height < GST_VIDEO_INFO_HEIGHT (out)) {
    p->y = (GST_VIDEO_INFO_HEIGHT (out) - height) / 2 >> fields;
    p->height = MAX (height >> fields, 1);
  }
}

/* Without a change of size there is no border either. */
static gboolean
gst_cuda_resize_is_identity (gconstpointer params)
{
  return TRUE;
}

/* Metas with coordinates know how to scale them. */
static gboolean
gst_cuda_resize_transform_meta (GstCudaFilter * self, GstBuffer * outbuf,
    GstMeta * meta, GstBuffer * inbuf)
{
  static const gchar tag[] = GST_META_TAG_VIDEO_SIZE_STR;
  GstVideoMetaTransform scale = { &self->in_info, &self->out_info };

  if (!gst_meta_api_type_has_tag (meta->info->api,
          g_quark_from_static_string (tag)))
    return TRUE;
  if (meta->info->transform_func)
    meta->info->transform_func (outbuf, meta, inbuf,
        gst_video_meta_transform_scale_get_quark (), &scale);
  return FALSE;
}

static void
gst_cuda_resize_class_init (GstCudaResizeClass * klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstCudaFilterClass *filter_class = GST_CUDA_FILTER_CLASS (klass);

  gst_cuda_filter_class_install (filter_class, &img_resize_cpu,
      &img_resize_cuda, properties, G_N_ELEMENTS (properties));
  filter_class->is_identity = gst_cuda_resize_is_identity;
  filter_class->relax = gst_cuda_resize_relax;
  filter_class->fixate = gst_cuda_resize_fixate;
  filter_class->complete_params = gst_cuda_resize_complete_params;
  filter_class->transform_meta = gst_cuda_resize_transform_meta;
  object_class->set_property = gst_cuda_resize_set_property;
  object_class->get_property = gst_cuda_resize_get_property;
  g_object_class_install_property (object_class, PROP_ADD_BORDERS,
      g_param_spec_boolean ("add-borders", "Add borders",
          "Add black borders if necessary to keep the display aspect ratio",
          DEFAULT_ADD_BORDERS, G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS
          | GST_PARAM_CONTROLLABLE | GST_PARAM_MUTABLE_PLAYING));
  gst_element_class_set_static_metadata (GST_ELEMENT_CLASS (klass),
      "CUDA resize", "Filter/Converter/Video/Scaler/Hardware",
      "Resizes pictures on an NVIDIA GPU, or on the CPU",
      "The gst-cuda-filters authors");
}

static void
gst_cuda_resize_init (GstCudaResize * self)
{
  self->add_borders = DEFAULT_ADD_BORDERS;
}
