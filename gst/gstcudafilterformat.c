/* Which format, colorimetry and chroma siting the other pad gets, where the
 * element may change them and the neighbour leaves a choice. */
#include "gstcudafilter.h"

/* What a change of format costs. A loss is worse than all that stand above it
 * together: depth, alpha, chroma resolution, then colour. */
enum
{
  CHANGE = 1,
  MODEL_CHANGE = 2,
  DEPTH_LOSS = 8,
  ALPHA_LOSS = 16,
  CHROMA_WIDTH_LOSS = 32,
  CHROMA_HEIGHT_LOSS = 64,
  COLOR_LOSS = 128
};

#define MODEL_FLAGS (GST_VIDEO_FORMAT_FLAG_RGB | GST_VIDEO_FORMAT_FLAG_YUV \
    | GST_VIDEO_FORMAT_FLAG_GRAY)

/* The price of one property that differs: more when it is less in `to`. */
static guint
gst_cuda_filter_price (gint from, gint to, guint loss)
{
  return from == to ? 0 : CHANGE + (to < from ? loss : 0);
}

static guint
gst_cuda_filter_format_loss (const GstVideoFormatInfo * from,
    const GstVideoFormatInfo * to)
{
  const guint model = GST_VIDEO_FORMAT_INFO_FLAGS (to) & MODEL_FLAGS;
  guint loss;

  if (from == to)
    return 0;
  loss = CHANGE
      + gst_cuda_filter_price (from->bits, to->bits, DEPTH_LOSS)
      + gst_cuda_filter_price (GST_VIDEO_FORMAT_INFO_HAS_ALPHA (from),
      GST_VIDEO_FORMAT_INFO_HAS_ALPHA (to), ALPHA_LOSS)
      + gst_cuda_filter_price (-(gint) from->w_sub[1], -(gint) to->w_sub[1],
      CHROMA_WIDTH_LOSS)
      + gst_cuda_filter_price (-(gint) from->h_sub[1], -(gint) to->h_sub[1],
      CHROMA_HEIGHT_LOSS);
  if ((GST_VIDEO_FORMAT_INFO_FLAGS (from) & MODEL_FLAGS) != model)
    loss += MODEL_CHANGE
        + (model == GST_VIDEO_FORMAT_FLAG_GRAY ? COLOR_LOSS : 0);
  return loss;
}

/* Looks at one format, of structure `i`, and keeps it if it is the best yet. */
static void
gst_cuda_filter_rate (const GstVideoFormatInfo * from, const GValue * name,
    guint i, guint * least, guint * chosen, const gchar ** format)
{
  GstVideoFormat to;
  guint loss;

  if (!G_VALUE_HOLDS_STRING (name))
    return;
  to = gst_video_format_from_string (g_value_get_string (name));
  if (to == GST_VIDEO_FORMAT_UNKNOWN)
    return;
  loss = gst_cuda_filter_format_loss (from, gst_video_format_get_info (to));
  if (loss >= *least)
    return;
  *least = loss;
  *chosen = i;
  *format = gst_video_format_to_string (to);
}

GstCaps *
gst_cuda_filter_choose_format (const GstVideoInfo * info, GstCaps * othercaps)
{
  guint least = G_MAXUINT, chosen = 0;
  const gchar *format = NULL;
  GstCaps *result;

  for (guint i = 0; i < gst_caps_get_size (othercaps); i++) {
    const GValue *value = gst_structure_get_value (gst_caps_get_structure
        (othercaps, i), "format");

    if (!value)
      continue;
    gst_cuda_filter_rate (info->finfo, value, i, &least, &chosen, &format);
    for (guint k = 0; GST_VALUE_HOLDS_LIST (value)
        && k < gst_value_list_get_size (value); k++)
      gst_cuda_filter_rate (info->finfo, gst_value_list_get_value (value, k),
          i, &least, &chosen, &format);
  }
  result = gst_caps_copy_nth (othercaps, chosen);
  gst_caps_unref (othercaps);
  if (format)
    gst_caps_set_simple (result, "format", G_TYPE_STRING, format, NULL);
  return result;
}

static gboolean
gst_cuda_filter_same_model (const GstVideoInfo * a, const GstVideoInfo * b)
{
  return (GST_VIDEO_FORMAT_INFO_FLAGS (a->finfo) & MODEL_FLAGS)
      == (GST_VIDEO_FORMAT_INFO_FLAGS (b->finfo) & MODEL_FLAGS);
}

/* The colorimetry that frames of `out` get, made of those of `in`: the same,
 * but range and matrix of another model are those that it has by default. */
static void
gst_cuda_filter_fixate_colorimetry (const GstVideoInfo * in, gboolean named,
    const GstVideoInfo * out, GstStructure * structure)
{
  GstVideoColorimetry wanted = in->colorimetry;
  gchar *text;

  if (!gst_cuda_filter_same_model (in, out)) {
    wanted.matrix = out->colorimetry.matrix;
    wanted.range = out->colorimetry.range;
    if (!named)
      wanted = out->colorimetry;
  }
  text = gst_video_colorimetry_to_string (&wanted);
  if (text && gst_structure_has_field (structure, "colorimetry"))
    gst_structure_fixate_field_string (structure, "colorimetry", text);
  else if (text && (named
          || !gst_video_colorimetry_is_equal (&wanted, &out->colorimetry)))
    gst_structure_set (structure, "colorimetry", G_TYPE_STRING, text, NULL);
  g_free (text);
}

/* Chroma of the same resolution keeps its place. */
static void
gst_cuda_filter_fixate_siting (const GstVideoInfo * in,
    const GstVideoInfo * out, const gchar * site, GstStructure * structure)
{
  if (!site || !GST_VIDEO_INFO_IS_YUV (in) || !GST_VIDEO_INFO_IS_YUV (out)
      || in->finfo->w_sub[1] != out->finfo->w_sub[1]
      || in->finfo->h_sub[1] != out->finfo->h_sub[1])
    return;
  if (gst_structure_has_field (structure, "chroma-site"))
    gst_structure_fixate_field_string (structure, "chroma-site", site);
  else
    gst_structure_set (structure, "chroma-site", G_TYPE_STRING, site, NULL);
}

void
gst_cuda_filter_fixate_color (const GstCaps * caps, const GstVideoInfo * info,
    GstStructure * structure)
{
  const GstStructure *from = gst_caps_get_structure (caps, 0);
  GstStructure *bare = gst_structure_copy (structure);
  GstCaps *out_caps;
  GstVideoInfo out;

  gst_structure_remove_fields (bare, "colorimetry", "chroma-site", NULL);
  out_caps = gst_caps_new_full (bare, NULL);
  out_caps = gst_caps_fixate (out_caps);
  if (gst_video_info_from_caps (&out, out_caps)) {
    gst_cuda_filter_fixate_colorimetry (info,
        gst_structure_has_field (from, "colorimetry"), &out, structure);
    gst_cuda_filter_fixate_siting (info, &out,
        gst_structure_get_string (from, "chroma-site"), structure);
  }
  gst_caps_unref (out_caps);
}
