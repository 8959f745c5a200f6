/**
 * SECTION:element-cudacvtcolor
 * @title: cudacvtcolor
 * @short_description: colour conversion on an NVIDIA GPU, or on the CPU
 *
 * Converts between all formats of this plugin, in either memory, by the
 * colorimetry (BT.601, BT.709 and BT.2020, full and limited range) and chroma
 * siting of the caps on both sides. RGB to grey is OpenCV's cvtColor; other
 * results are rounded to nearest. Of the formats that downstream takes, it
 * chooses the one that loses least. Frames pass untouched when nothing changes.
 *
 * ## Example launch line
 * |[
 * gst-launch-1.0 videotestsrc ! cudacvtcolor ! 'video/x-raw(ANY),format=GRAY8' ! cudathreshold ! cudacvtcolor ! autovideosink
 * ]|
 *
 * Since: 0.1
 */
#include "gstcudacvtcolor.h"

#include "cvtcolor.h"

struct _GstCudaCvtcolor {
  GstCudaFilter parent;
};

G_DEFINE_TYPE (GstCudaCvtcolor, gst_cuda_cvtcolor, GST_TYPE_CUDA_FILTER);
GST_ELEMENT_REGISTER_DEFINE (cudacvtcolor, "cudacvtcolor", GST_RANK_NONE,
    gst_cuda_cvtcolor_get_type ());

static const GstCudaFilterProperty properties[] = {
  GST_CUDA_FILTER_DOUBLE ("alpha", "Alpha", ImgCvtcolorParams, alpha, 255, 0,
      255, "Alpha of results whose source has none (255 = opaque)"),
};

/* Caps of which nothing differs need no work. */
static gboolean
gst_cuda_cvtcolor_is_identity (gconstpointer params)
{
  return TRUE;
}

static void
gst_cuda_cvtcolor_relax (GstCudaFilter * filter, GstPadDirection direction,
    GstStructure * structure)
{
  gst_structure_remove_fields (structure, "format", "colorimetry",
      "chroma-site", NULL);
}

/* What describes the colours of the input is not true of the output. */
static gboolean
gst_cuda_cvtcolor_transform_meta (GstCudaFilter * filter, GstBuffer * outbuf,
    GstMeta * meta, GstBuffer * inbuf)
{
  const GstVideoInfo *in = &filter->in_info, *out = &filter->out_info;

  if (GST_VIDEO_INFO_FORMAT (in) == GST_VIDEO_INFO_FORMAT (out)
      && gst_video_colorimetry_is_equal (&in->colorimetry, &out->colorimetry))
    return TRUE;
  return !gst_meta_api_type_has_tag (meta->info->api,
      g_quark_from_static_string (GST_META_TAG_VIDEO_COLORSPACE_STR));
}

static void
gst_cuda_cvtcolor_class_init (GstCudaCvtcolorClass * klass)
{
  GstCudaFilterClass *filter_class = GST_CUDA_FILTER_CLASS (klass);

  gst_cuda_filter_class_install (filter_class, &img_cvtcolor_cpu,
      &img_cvtcolor_cuda, properties, G_N_ELEMENTS (properties));
  filter_class->is_identity = gst_cuda_cvtcolor_is_identity;
  filter_class->relax = gst_cuda_cvtcolor_relax;
  filter_class->transform_meta = gst_cuda_cvtcolor_transform_meta;
  gst_element_class_set_static_metadata (GST_ELEMENT_CLASS (klass),
      "CUDA colour converter", "Filter/Converter/Video/Hardware",
      "Colour conversion on an NVIDIA GPU, or on the CPU",
      "The gst-cuda-filters authors");
}

static void
gst_cuda_cvtcolor_init (GstCudaCvtcolor * self)
{
}
