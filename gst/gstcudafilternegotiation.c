/*
 * The half of GstCudaFilter that talks with the neighbours: caps in both
 * memories, and who allocates what.
 *
 * The rule for the memory that goes out: device memory toward a peer that
 * names CUDAMemory; toward any other peer the memory of the input, or what
 * the peer can take.
 */
#include "gstcudafilter.h"

GST_DEBUG_CATEGORY_EXTERN (gst_cuda_filter_debug);
#define GST_CAT_DEFAULT gst_cuda_filter_debug

static gpointer parent_class;

/* caps */

/* All formats of the operations; xRGB and xBGR are not among those of
 * GStreamer's CUDA memory. */
static void
gst_cuda_filter_add_formats (GstStructure * structure, gboolean device)
{
  GValue formats = G_VALUE_INIT, name = G_VALUE_INIT;
  const ImgFormat *format;

  g_value_init (&formats, GST_TYPE_LIST);
  for (gint i = 0; (format = img_format_at (i)); i++) {
    if (device && format->name[0] == 'x')
      continue;
    g_value_init (&name, G_TYPE_STRING);
    g_value_set_static_string (&name, format->name);
    gst_value_list_append_and_take_value (&formats, &name);
  }
  gst_structure_take_value (structure, "format", &formats);
}

static GstCaps *
gst_cuda_filter_template_caps (void)
{
  GstCaps *caps = gst_caps_from_string ("video/x-raw("
      GST_CUDA_FILTER_MEMORY_FEATURE "), width = (int) [ 1, max ], "
      "height = (int) [ 1, max ], framerate = (fraction) [ 0, max ]; "
      "video/x-raw, width = (int) [ 1, max ], height = (int) [ 1, max ], "
      "framerate = (fraction) [ 0, max ]");

  gst_cuda_filter_add_formats (gst_caps_get_structure (caps, 0), TRUE);
  gst_cuda_filter_add_formats (gst_caps_get_structure (caps, 1), FALSE);
  return caps;
}

static gboolean
gst_cuda_filter_features_are_device (const GstCapsFeatures * features)
{
  return features && !gst_caps_features_is_any (features)
      && gst_caps_features_contains (features, GST_CUDA_FILTER_MEMORY_FEATURE);
}

static gboolean
gst_cuda_filter_caps_are_device (const GstCaps * caps)
{
  return gst_cuda_filter_features_are_device (gst_caps_get_features (caps, 0));
}

/* The structures of `caps` with their memory replaced. */
static GstCaps *
gst_cuda_filter_caps_in_memory (const GstCaps * caps, gboolean device)
{
  GstCaps *result = gst_caps_copy (caps);

  for (guint i = 0; i < gst_caps_get_size (result); i++)
    gst_caps_set_features (result, i, device
        ? gst_caps_features_new (GST_CUDA_FILTER_MEMORY_FEATURE, NULL)
        : gst_caps_features_new_empty ());
  return result;
}

/* Whether caps in device memory can be offered: before the backend is chosen
 * everything is. */
gboolean
gst_cuda_filter_uses_device (GstCudaFilter * self)
{
  GstCudaFilterBackend backend;

  if (self->operation)
    return self->operation == GST_CUDA_FILTER_GET_CLASS (self)->cuda;
  GST_OBJECT_LOCK (self);
  backend = self->backend;
  GST_OBJECT_UNLOCK (self);
  return backend != GST_CUDA_FILTER_BACKEND_CPU;
}

/* The structures of `caps` as the subclass can make them on the other pad. */
static GstCaps *
gst_cuda_filter_relax_caps (GstCudaFilter * self, GstPadDirection direction,
    const GstCaps * caps)
{
  GstCudaFilterClass *klass = GST_CUDA_FILTER_GET_CLASS (self);
  GstCaps *result = gst_caps_copy (caps);

  for (guint i = 0; i < gst_caps_get_size (result); i++)
    klass->relax (self, direction, gst_caps_get_structure (result, i));
  return result;
}

/* All that the other pad can have, best first: the same memory before the
 * other one, so that this is what a peer that does not care gets, and for what
 * comes in no change of format or size before any. What goes out is fixated
 * here, from all that can be had. */
static GstCaps *
gst_cuda_filter_other_caps (GstCudaFilter * self, GstPadDirection direction,
    const GstCaps * caps)
{
  GstCudaFilterClass *klass = GST_CUDA_FILTER_GET_CLASS (self);
  gboolean device = gst_cuda_filter_uses_device (self);
  GstCaps *result = gst_caps_new_empty (), *relaxed;

  for (guint i = 0; i < gst_caps_get_size (caps); i++) {
    GstCaps *one = gst_caps_copy_nth (caps, i);
    gboolean in_device = gst_cuda_filter_caps_are_device (one);

    if (device)
      gst_caps_append (one, gst_cuda_filter_caps_in_memory (one, !in_device));
    if (device || !in_device)
      result = gst_caps_merge (result, one);
    else
      gst_caps_unref (one);
  }
  if (!klass->relax)
    return result;
  relaxed = gst_cuda_filter_relax_caps (self, direction, result);
  if (direction == GST_PAD_SRC)
    return gst_caps_merge (result, relaxed);
  gst_caps_unref (result);
  return relaxed;
}

/* Sorts structures in device memory before the others. Takes `caps`. */
static GstCaps *
gst_cuda_filter_device_first (GstCaps * caps)
{
  GstCaps *device = gst_caps_new_empty (), *others = gst_caps_new_empty ();

  for (guint i = 0; i < gst_caps_get_size (caps); i++)
    gst_caps_append (gst_cuda_filter_features_are_device
        (gst_caps_get_features (caps, i)) ? device : others,
        gst_caps_copy_nth (caps, i));
  gst_caps_unref (caps);
  gst_caps_append (device, others);
  return device;
}

/* What the sink pad can take starts with device memory, also against the order
 * of the filter: so a neighbour that can give both, such as cudaupload, gives
 * that. */
static GstCaps *
gst_cuda_filter_transform_caps (GstBaseTransform * trans,
    GstPadDirection direction, GstCaps * caps, GstCaps * filter)
{
  GstPad *pad = direction == GST_PAD_SINK ? GST_BASE_TRANSFORM_SRC_PAD (trans)
      : GST_BASE_TRANSFORM_SINK_PAD (trans);
  GstCaps *template = gst_pad_get_pad_template_caps (pad);
  GstCaps *other = gst_cuda_filter_other_caps (GST_CUDA_FILTER (trans),
      direction, caps);
  GstCaps *result =
      gst_caps_intersect_full (other, template, GST_CAPS_INTERSECT_FIRST);

  gst_caps_unref (other);
  gst_caps_unref (template);
  if (filter) {
    other = gst_caps_intersect_full (filter, result, GST_CAPS_INTERSECT_FIRST);
    gst_caps_unref (result);
    result = other;
  }
  return direction == GST_PAD_SRC
      ? gst_cuda_filter_device_first (result) : result;
}

/* True if the peer of `pad` names device memory itself. */
static gboolean
gst_cuda_filter_peer_names_device (GstPad * pad)
{
  GstCaps *caps = gst_pad_peer_query_caps (pad, NULL);
  gboolean named = FALSE;

  for (guint i = 0; !named && i < gst_caps_get_size (caps); i++)
    named = gst_cuda_filter_features_are_device (gst_caps_get_features (caps,
            i));
  gst_caps_unref (caps);
  return named;
}

/* The structures of `caps` in the memory wished for, or else all. Takes
 * `caps`. */
static GstCaps *
gst_cuda_filter_choose_memory (GstCaps * caps, gboolean device)
{
  GstCaps *chosen = gst_caps_new_empty ();

  for (guint i = 0; i < gst_caps_get_size (caps); i++)
    if (gst_cuda_filter_features_are_device (gst_caps_get_features (caps, i))
        == device)
      gst_caps_append (chosen, gst_caps_copy_nth (caps, i));
  if (gst_caps_is_empty (chosen)) {
    gst_caps_unref (chosen);
    return caps;
  }
  gst_caps_unref (caps);
  return chosen;
}

/* The first structure of `caps`, or the one with the best format for frames of
 * `info`, which may differ. Takes `caps`. */
static GstCaps *
gst_cuda_filter_choose_structure (GstCudaFilter * self,
    const GstVideoInfo * info, GstCaps * caps)
{
  if (GST_CUDA_FILTER_GET_CLASS (self)->relax)
    return gst_cuda_filter_choose_format (info, caps);
  return gst_caps_truncate (caps);
}

static GstCaps *
gst_cuda_filter_fixate_caps (GstBaseTransform * trans,
    GstPadDirection direction, GstCaps * caps, GstCaps * othercaps)
{
  GstCudaFilter *self = GST_CUDA_FILTER (trans);
  GstCudaFilterClass *klass = GST_CUDA_FILTER_GET_CLASS (self);
  GstPad *pad = direction == GST_PAD_SINK ? GST_BASE_TRANSFORM_SRC_PAD (trans)
      : GST_BASE_TRANSFORM_SINK_PAD (trans);
  GstStructure *structure;
  GstVideoInfo info;

  if (gst_caps_is_empty (othercaps)
      || !gst_video_info_from_caps (&info, caps))
    return othercaps;
  othercaps = gst_cuda_filter_choose_memory (othercaps,
      gst_cuda_filter_caps_are_device (caps)
      || gst_cuda_filter_peer_names_device (pad));
  othercaps = gst_cuda_filter_choose_structure (self, &info, othercaps);
  structure = gst_caps_get_structure (othercaps, 0);
  if (klass->fixate)
    klass->fixate (self, direction, caps, structure);
  if (klass->relax)
    gst_cuda_filter_fixate_color (caps, &info, structure);
  return gst_caps_fixate (othercaps);
}

static gboolean
gst_cuda_filter_get_unit_size (GstBaseTransform * trans, GstCaps * caps,
    gsize * size)
{
  GstVideoInfo info;

  if (!gst_video_info_from_caps (&info, caps))
    return FALSE;
  *size = GST_VIDEO_INFO_SIZE (&info);
  return TRUE;
}

static gboolean
gst_cuda_filter_set_caps (GstBaseTransform * trans, GstCaps * incaps,
    GstCaps * outcaps)
{
  GstCudaFilter *self = GST_CUDA_FILTER (trans);

  if (!gst_video_info_from_caps (&self->in_info, incaps)
      || !gst_video_info_from_caps (&self->out_info, outcaps))
    return FALSE;
  self->in_device = gst_cuda_filter_caps_are_device (incaps);
  self->out_device = gst_cuda_filter_caps_are_device (outcaps);
  return TRUE;
}

/* allocation */

void
gst_cuda_filter_set_pool (GstCudaFilter * self, GstBufferPool * pool)
{
  if (pool)
    gst_object_ref (pool);
  if (self->pool) {
    gst_buffer_pool_set_active (self->pool, FALSE);
    gst_object_unref (self->pool);
  }
  self->pool = pool;
}

/* A pool for frames of `caps`, not active. System memory is page-locked where a
 * GPU copies to and from it, and keeps to the default strides unless
 * `video_meta` says that the other side reads the GstVideoMeta. */
static GstBufferPool *
gst_cuda_filter_new_pool (GstCudaFilter * self, GstCaps * caps,
    gboolean device, gboolean video_meta, guint * size, guint min, guint max)
{
  GstBufferPool *pool;
  GstStructure *config;
  GstAllocator *allocator = NULL;

  if (device)
    return gst_cuda_filter_device_new_pool (self->device, caps, size, min,
        max);
  pool = gst_video_buffer_pool_new ();
  config = gst_buffer_pool_get_config (pool);
  gst_buffer_pool_config_set_params (config, caps, *size, min, max);
  if (gst_cuda_filter_uses_device (self))
    allocator = gst_cuda_filter_device_new_host_allocator (self->device);
  if (allocator)
    gst_buffer_pool_config_set_allocator (config, allocator, NULL);
  if (video_meta)
    gst_buffer_pool_config_add_option (config,
        GST_BUFFER_POOL_OPTION_VIDEO_META);
  gst_clear_object (&allocator);
  if (!gst_buffer_pool_set_config (pool, config))
    gst_clear_object (&pool);
  return pool;
}

gboolean
gst_cuda_filter_make_pool (GstCudaFilter * self, GstCaps * caps)
{
  guint size = (guint) GST_VIDEO_INFO_SIZE (&self->out_info);
  GstBufferPool *pool = gst_cuda_filter_new_pool (self, caps,
      self->out_device, FALSE, &size, 0, 0);

  if (!pool)
    return FALSE;
  gst_cuda_filter_set_pool (self, pool);
  gst_object_unref (pool);
  return TRUE;
}

/* What upstream may allocate its frames from. */
static gboolean
gst_cuda_filter_propose_allocation (GstBaseTransform * trans,
    GstQuery * decide_query, GstQuery * query)
{
  GstCudaFilter *self = GST_CUDA_FILTER (trans);
  GstBufferPool *pool;
  GstVideoInfo info;
  GstCaps *caps;
  guint size;

  if (!GST_BASE_TRANSFORM_CLASS (parent_class)->propose_allocation (trans,
          decide_query, query))
    return FALSE;
  gst_query_parse_allocation (query, &caps, NULL);
  if (!caps || !gst_video_info_from_caps (&info, caps))
    return FALSE;
  gst_query_add_allocation_meta (query, GST_VIDEO_META_API_TYPE, NULL);
  gst_query_add_allocation_meta (query, GST_VIDEO_CROP_META_API_TYPE, NULL);
  if (!gst_cuda_filter_uses_device (self)
      || gst_query_get_n_allocation_pools (query) > 0)
    return TRUE;
  size = (guint) GST_VIDEO_INFO_SIZE (&info);
  pool = gst_cuda_filter_new_pool (self, caps,
      gst_cuda_filter_caps_are_device (caps), FALSE, &size, 0, 0);
  if (!pool)
    return FALSE;
  gst_query_add_allocation_pool (query, pool, size, 0, 0);
  gst_object_unref (pool);
  return TRUE;
}

/* Downstream's pool, if it fits the memory that goes out and takes our caps. */
static GstBufferPool *
gst_cuda_filter_get_peer_pool (GstCudaFilter * self, GstQuery * query,
    GstCaps * caps, guint * size, guint * min, guint * max)
{
  GstBufferPool *pool = NULL;
  GstStructure *config;

  *size = (guint) GST_VIDEO_INFO_SIZE (&self->out_info);
  *min = *max = 0;
  if (gst_query_get_n_allocation_pools (query) > 0)
    gst_query_parse_nth_allocation_pool (query, 0, &pool, size, min, max);
  if (!pool)
    return NULL;
  config = gst_buffer_pool_get_config (pool);
  gst_buffer_pool_config_set_params (config, caps, *size, *min, *max);
  if (gst_buffer_pool_set_config (pool, config) && (!self->out_device
          || gst_cuda_filter_device_adopt_pool (self->device, pool)))
    return pool;
  gst_object_unref (pool);
  *min = *max = 0; /* of that pool */
  return NULL;
}

/* The base class would take stream and allocator out of the configuration of
 * the pool, so its own version does not run. */
static gboolean
gst_cuda_filter_decide_allocation (GstBaseTransform * trans, GstQuery * query)
{
  GstCudaFilter *self = GST_CUDA_FILTER (trans);
  GstBufferPool *pool;
  GstCaps *caps;
  guint size, min, max;

  gst_query_parse_allocation (query, &caps, NULL);
  if (!caps)
    return FALSE;
  pool = gst_cuda_filter_get_peer_pool (self, query, caps, &size, &min, &max);
  if (!pool)
    pool = gst_cuda_filter_new_pool (self, caps, self->out_device,
        gst_query_find_allocation_meta (query, GST_VIDEO_META_API_TYPE, NULL),
        &size, min, max);
  if (!pool) {
    GST_ELEMENT_ERROR (self, RESOURCE, NO_SPACE_LEFT,
        ("No memory for output frames."), ("no pool for %" GST_PTR_FORMAT,
            caps));
    return FALSE;
  }
  gst_cuda_filter_set_pool (self, pool);
  if (gst_query_get_n_allocation_pools (query) > 0)
    gst_query_set_nth_allocation_pool (query, 0, pool, size, min, max);
  else
    gst_query_add_allocation_pool (query, pool, size, min, max);
  gst_object_unref (pool);
  return TRUE;
}

/* metas */

/* A crop rectangle goes when the output is the cropped picture; the base class
 * already keeps those that describe memory. */
static gboolean
gst_cuda_filter_transform_meta (GstBaseTransform * trans, GstBuffer * outbuf,
    GstMeta * meta, GstBuffer * inbuf)
{
  GstCudaFilter *self = GST_CUDA_FILTER (trans);
  GstCudaFilterClass *klass = GST_CUDA_FILTER_GET_CLASS (self);
  const GstVideoMeta *video = gst_buffer_get_video_meta (inbuf);

  if (meta->info->api == GST_VIDEO_CROP_META_API_TYPE && video
      && (video->width != (guint) GST_VIDEO_INFO_WIDTH (&self->in_info)
          || video->height != (guint) GST_VIDEO_INFO_HEIGHT (&self->in_info)))
    return FALSE;
  return !klass->transform_meta
      || klass->transform_meta (self, outbuf, meta, inbuf);
}

void
gst_cuda_filter_class_init_negotiation (GstCudaFilterClass * klass)
{
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstBaseTransformClass *trans_class = GST_BASE_TRANSFORM_CLASS (klass);
  GstCaps *caps = gst_cuda_filter_template_caps ();

  parent_class = g_type_class_peek_parent (klass);
  gst_element_class_add_pad_template (element_class,
      gst_pad_template_new ("sink", GST_PAD_SINK, GST_PAD_ALWAYS, caps));
  gst_element_class_add_pad_template (element_class,
      gst_pad_template_new ("src", GST_PAD_SRC, GST_PAD_ALWAYS, caps));
  gst_caps_unref (caps);

  trans_class->passthrough_on_same_caps = FALSE;
  trans_class->transform_caps = gst_cuda_filter_transform_caps;
  trans_class->fixate_caps = gst_cuda_filter_fixate_caps;
  trans_class->get_unit_size = gst_cuda_filter_get_unit_size;
  trans_class->set_caps = gst_cuda_filter_set_caps;
  trans_class->propose_allocation = gst_cuda_filter_propose_allocation;
  trans_class->decide_allocation = gst_cuda_filter_decide_allocation;
  trans_class->transform_meta = gst_cuda_filter_transform_meta;
}
