/**
 * SECTION:gstcudafilter
 * @title: GstCudaFilter
 * @short_description: base of the CUDA image filters
 *
 * An abstract #GstBaseTransform that owns all that is GStreamer and CUDA: the
 * backend, the context, pools, mapping, transfers at the edges, properties and
 * errors. A subclass names an operation of the library in cuda/ and lists the
 * members of its parameter struct that are properties.
 *
 * Since: 0.1
 */

/*
 * This file: class and properties, choice of the backend, and the way of a
 * frame. Negotiation is in gstcudafilternegotiation.c.
 */
#include "gstcudafilter.h"

#include <string.h>

#include "types.h"

GST_DEBUG_CATEGORY (gst_cuda_filter_debug);
#define GST_CAT_DEFAULT gst_cuda_filter_debug

enum
{
  PROP_0,
  PROP_BACKEND,
  PROP_DEVICE_ID
};

#define DEFAULT_BACKEND GST_CUDA_FILTER_BACKEND_AUTO
#define DEFAULT_DEVICE_ID -1

#define gst_cuda_filter_parent_class parent_class
G_DEFINE_ABSTRACT_TYPE (GstCudaFilter, gst_cuda_filter,
    GST_TYPE_BASE_TRANSFORM);

/* enum types */

static GType
gst_cuda_filter_backend_get_type (void)
{
  static const GEnumValue values[] = {
    {GST_CUDA_FILTER_BACKEND_AUTO, "The GPU where one is usable, else the CPU",
        "auto"},
    {GST_CUDA_FILTER_BACKEND_CUDA, "The GPU, or an error", "cuda"},
    {GST_CUDA_FILTER_BACKEND_CPU, "The CPU", "cpu"},
    {0, NULL, NULL}
  };
  static gsize type;

  if (g_once_init_enter (&type))
    g_once_init_leave (&type,
        g_enum_register_static ("GstCudaFilterBackend", values));
  return type;
}

GType
gst_cuda_filter_border_get_type (void)
{
  static const GEnumValue values[] = {
    {IMG_BORDER_REFLECT_101, "gfedcb|abcdefgh|gfedcba", "reflect-101"},
    {IMG_BORDER_REPLICATE, "aaaaaa|abcdefgh|hhhhhhh", "replicate"},
    {IMG_BORDER_REFLECT, "fedcba|abcdefgh|hgfedcb", "reflect"},
    {IMG_BORDER_WRAP, "cdefgh|abcdefgh|abcdefg", "wrap"},
    {IMG_BORDER_CONSTANT, "Black", "constant"},
    {0, NULL, NULL}
  };
  static gsize type;

  if (g_once_init_enter (&type))
    g_once_init_leave (&type,
        g_enum_register_static ("GstCudaFilterBorder", values));
  return type;
}

GType
gst_cuda_filter_channels_get_type (void)
{
  static const GEnumValue values[] = {
    {IMG_CHANNELS_EACH, "Every colour channel by itself (YUV: luma)", "each"},
    {IMG_CHANNELS_LUMA, "The luma, written to every colour channel", "luma"},
    {0, NULL, NULL}
  };
  static gsize type;

  if (g_once_init_enter (&type))
    g_once_init_leave (&type,
        g_enum_register_static ("GstCudaFilterChannels", values));
  return type;
}

/* properties */

static void
gst_cuda_filter_set_property (GObject * object, guint id, const GValue * value,
    GParamSpec * pspec)
{
  GstCudaFilter *self = GST_CUDA_FILTER (object);

  GST_OBJECT_LOCK (self);
  switch (id) {
    case PROP_BACKEND:
      self->backend = g_value_get_enum (value);
      break;
    case PROP_DEVICE_ID:
      self->device_id = g_value_get_int (value);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
      break;
  }
  GST_OBJECT_UNLOCK (self);
}

static void
gst_cuda_filter_get_property (GObject * object, guint id, GValue * value,
    GParamSpec * pspec)
{
  GstCudaFilter *self = GST_CUDA_FILTER (object);

  GST_OBJECT_LOCK (self);
  switch (id) {
    case PROP_BACKEND:
      g_value_set_enum (value, self->backend);
      break;
    case PROP_DEVICE_ID:
      g_value_set_int (value, self->device_id);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
      break;
  }
  GST_OBJECT_UNLOCK (self);
}

/* The properties of a subclass: its table, and the members of `params`. Their
 * ids are the rows of the table, from 1. */

void
gst_cuda_filter_set_param (GObject * object, guint id, const GValue * value,
    GParamSpec * pspec)
{
  GstCudaFilter *self = GST_CUDA_FILTER (object);
  const GstCudaFilterProperty *property =
      &GST_CUDA_FILTER_GET_CLASS (self)->properties[id - 1];
  gpointer member = (guint8 *) self->params + property->offset;

  GST_OBJECT_LOCK (self);
  switch (property->kind) {
    case G_TYPE_INT:
      *(int *) member = g_value_get_int (value);
      break;
    case G_TYPE_DOUBLE:
      *(double *) member = g_value_get_double (value);
      break;
    case G_TYPE_BOOLEAN:
      *(bool *) member = g_value_get_boolean (value);
      break;
    default:
      *(int *) member = g_value_get_enum (value);
      break;
  }
  GST_OBJECT_UNLOCK (self);
}

void
gst_cuda_filter_get_param (GObject * object, guint id, GValue * value,
    GParamSpec * pspec)
{
  GstCudaFilter *self = GST_CUDA_FILTER (object);
  const GstCudaFilterProperty *property =
      &GST_CUDA_FILTER_GET_CLASS (self)->properties[id - 1];
  gconstpointer member = (const guint8 *) self->params + property->offset;

  GST_OBJECT_LOCK (self);
  switch (property->kind) {
    case G_TYPE_INT:
      g_value_set_int (value, *(const int *) member);
      break;
    case G_TYPE_DOUBLE:
      g_value_set_double (value, *(const double *) member);
      break;
    case G_TYPE_BOOLEAN:
      g_value_set_boolean (value, *(const bool *) member);
      break;
    default:
      g_value_set_enum (value, *(const int *) member);
      break;
  }
  GST_OBJECT_UNLOCK (self);
}

static GParamSpec *
gst_cuda_filter_param_spec (const GstCudaFilterProperty * p)
{
  GParamFlags flags = G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS
      | GST_PARAM_CONTROLLABLE | GST_PARAM_MUTABLE_PLAYING;

  switch (p->kind) {
    case G_TYPE_INT:
      return g_param_spec_int (p->name, p->nick, p->blurb, (gint) p->min,
          (gint) p->max, (gint) p->def, flags);
    case G_TYPE_DOUBLE:
      return g_param_spec_double (p->name, p->nick, p->blurb, p->min, p->max,
          p->def, flags);
    case G_TYPE_BOOLEAN:
      return g_param_spec_boolean (p->name, p->nick, p->blurb, p->def != 0,
          flags);
    default:
      gst_type_mark_as_plugin_api (p->enum_type (), 0);
      return g_param_spec_enum (p->name, p->nick, p->blurb, p->enum_type (),
          (gint) p->def, flags);
  }
}

void
gst_cuda_filter_class_install (GstCudaFilterClass * klass,
    const ImgOperation * cpu, const ImgOperation * cuda,
    const GstCudaFilterProperty * properties, guint n_properties)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);

  klass->cpu = cpu;
  klass->cuda = cuda;
  klass->properties = properties;
  klass->n_properties = n_properties;
  object_class->set_property = gst_cuda_filter_set_param;
  object_class->get_property = gst_cuda_filter_get_param;
  for (guint i = 0; i < n_properties; i++)
    g_object_class_install_property (object_class, i + 1,
        gst_cuda_filter_param_spec (&properties[i]));
}

/* errors */

void
gst_cuda_filter_post_error (GstCudaFilter * self, const ImgError * error)
{
  const gchar *name = GST_CUDA_FILTER_GET_CLASS (self)->cpu->name;

  switch (error->code) {
    case IMG_ERROR_SETTINGS:
      GST_ELEMENT_ERROR (self, LIBRARY, SETTINGS, ("%s", error->text),
          ("%s refuses its settings", name));
      break;
    case IMG_ERROR_UNSUPPORTED:
      GST_ELEMENT_ERROR (self, STREAM, FORMAT, ("%s", error->text),
          ("%s cannot work on these frames", name));
      break;
    case IMG_ERROR_NO_MEMORY:
      GST_ELEMENT_ERROR (self, RESOURCE, NO_SPACE_LEFT, ("%s", error->text),
          ("%s ran out of memory", name));
      break;
    case IMG_ERROR_NO_DEVICE:
      GST_ELEMENT_ERROR (self, RESOURCE, NOT_FOUND, ("%s", error->text),
          ("%s found no usable GPU; backend=cpu works without", name));
      break;
    default:
      GST_ELEMENT_ERROR (self, RESOURCE, FAILED, ("%s", error->text),
          ("%s failed on the GPU", name));
      break;
  }
}

/* state of the operation */

void
gst_cuda_filter_read_results (GstCudaFilter * self)
{
  GstCudaFilterClass *klass = GST_CUDA_FILTER_GET_CLASS (self);

  g_mutex_lock (&self->state_lock);
  if (klass->read_results && self->states[0].state)
    klass->read_results (self, self->operation, self->states[0].state);
  g_mutex_unlock (&self->state_lock);
}

static void
gst_cuda_filter_clear_state (GstCudaFilter * self, GstCudaFilterState * state)
{
  if (state->state)
    self->operation->release (state->state);
  g_free (state->params);
  memset (state, 0, sizeof (*state));
}

static void
gst_cuda_filter_clear_view (ImgView * view)
{
  img_cuda_free (view->plane[0].data);
  memset (view, 0, sizeof (*view));
}

/* Gives the last uploaded buffer back to its owner, once the GPU has read it:
 * long ago, as a rule, so this does not wait. */
static gboolean
gst_cuda_filter_end_upload (GstCudaFilter * self, ImgError * error)
{
  gboolean ok = !self->uploading || img_cuda_event_is_past (self->uploaded)
      || img_cuda_synchronize (gst_cuda_filter_device_get_stream
      (self->device), error);

  gst_clear_buffer (&self->uploading);
  return ok;
}

/* Forgets what was made in a context that is gone, and with it the memory. */
static void
gst_cuda_filter_abandon (GstCudaFilter * self)
{
  gst_clear_buffer (&self->uploading);
  self->uploaded = NULL;
  memset (&self->upload, 0, sizeof (self->upload));
  memset (&self->download, 0, sizeof (self->download));
  for (guint i = 0; i < G_N_ELEMENTS (self->states); i++) {
    g_free (self->states[i].params);
    memset (&self->states[i], 0, sizeof (self->states[i]));
  }
}

/* Gives back all that was made for frames. On a GPU its context must be the
 * current one. */
static void
gst_cuda_filter_release (GstCudaFilter * self)
{
  gst_cuda_filter_read_results (self);
  g_mutex_lock (&self->state_lock);
  gst_cuda_filter_clear_state (self, &self->states[0]);
  gst_cuda_filter_clear_state (self, &self->states[1]);
  g_mutex_unlock (&self->state_lock);
}

static void
gst_cuda_filter_release_device (GstCudaFilter * self)
{
  ImgError error;

  img_cuda_synchronize (gst_cuda_filter_device_get_stream (self->device),
      &error);
  gst_cuda_filter_end_upload (self, &error);
  img_cuda_event_free (self->uploaded);
  self->uploaded = NULL;
  gst_cuda_filter_clear_view (&self->upload);
  gst_cuda_filter_clear_view (&self->download);
  gst_cuda_filter_release (self);
}

/* Back to what start () left, on either backend. */
static void
gst_cuda_filter_reset (GstCudaFilter * self)
{
  if (self->operation != GST_CUDA_FILTER_GET_CLASS (self)->cuda) {
    gst_cuda_filter_release (self);
  } else if (gst_cuda_filter_device_push (self->device)) {
    gst_cuda_filter_release_device (self);
    gst_cuda_filter_device_pop (self->device);
  } else {
    g_mutex_lock (&self->state_lock);
    gst_cuda_filter_abandon (self);
    g_mutex_unlock (&self->state_lock);
  }
  gst_cuda_filter_set_pool (self, NULL);
}

/* Makes `state` ready for such pictures, if it is not. */
static gboolean
gst_cuda_filter_prepare (GstCudaFilter * self, GstCudaFilterState * state,
    const ImgView * src, const ImgView * dst, ImgError * error)
{
  const ImgOperation *op = self->operation;

  if (state->state
      && memcmp (state->params, self->frame_params, op->params_size) == 0
      && img_view_same_layout (&state->src, src)
      && img_view_same_layout (&state->dst, dst))
    return TRUE;
  if (!op->prepare (&state->state, src, dst, self->frame_params, error)) {
    gst_cuda_filter_clear_state (self, state);
    return FALSE;
  }
  g_free (state->params);
  state->params = g_memdup2 (self->frame_params, op->params_size);
  state->src = *src;
  state->dst = *dst;
  return TRUE;
}

/* The operation on one frame or field. */
static gboolean
gst_cuda_filter_run (GstCudaFilter * self, gint field, const ImgView * src,
    const ImgView * dst, ImgError * error)
{
  GstCudaFilterState *state = &self->states[field];
  gboolean ok;

  if (dst->height == 0)
    return TRUE; /* the bottom field of a single line */
  g_mutex_lock (&self->state_lock);
  ok = gst_cuda_filter_prepare (self, state, src, dst, error)
      && self->operation->run (state->state, src, dst, self->frame_params,
      gst_cuda_filter_device_get_stream (self->device), error);
  g_mutex_unlock (&self->state_lock);
  return ok;
}

static gboolean
gst_cuda_filter_is_interlaced (GstCudaFilter * self, GstBuffer * buffer)
{
  switch (GST_VIDEO_INFO_INTERLACE_MODE (&self->in_info)) {
    case GST_VIDEO_INTERLACE_MODE_INTERLEAVED:
      return TRUE;
    case GST_VIDEO_INTERLACE_MODE_MIXED:
      return GST_BUFFER_FLAG_IS_SET (buffer, GST_VIDEO_BUFFER_FLAG_INTERLACED);
    default:
      return FALSE;
  }
}

/* The operation on a whole picture; field by field where it is interlaced. */
static gboolean
gst_cuda_filter_process (GstCudaFilter * self, gboolean interlaced,
    const ImgView * src, const ImgView * dst, ImgError * error)
{
  if (!interlaced)
    return gst_cuda_filter_run (self, 0, src, dst, error);
  for (gint field = 0; field < 2; field++) {
    ImgView from = img_view_field (src, field);
    ImgView to = img_view_field (dst, field);

    if (!gst_cuda_filter_run (self, field, &from, &to, error))
      return FALSE;
  }
  return TRUE;
}

/* the way of a frame */

/* A picture of the layout of `view` in device memory, kept in `scratch`. */
static gboolean
gst_cuda_filter_get_scratch (ImgView * scratch, const ImgView * view,
    ImgError * error)
{
  gpointer data;

  if (scratch->plane[0].data && img_view_same_layout (scratch, view))
    return TRUE;
  gst_cuda_filter_clear_view (scratch);
  *scratch = *view;
  data = img_cuda_alloc (img_view_lay_out (scratch, NULL, 256), error);
  if (!data) {
    memset (scratch, 0, sizeof (*scratch));
    return FALSE;
  }
  img_view_lay_out (scratch, data, 256);
  return TRUE;
}

/* Queues a copy of `host`, which is `buffer` mapped, to the device. Where the
 * memory is page-locked the buffer is kept until the next frame comes, rather
 * than wait for the GPU here; else end_frame () waits, since a driver may read
 * ordinary memory later too, and who knows how long it lasts. */
static gboolean
gst_cuda_filter_upload (GstCudaFilter * self, GstBuffer * buffer,
    const ImgView * host, ImgError * error)
{
  ImgStream stream = gst_cuda_filter_device_get_stream (self->device);

  if (!gst_cuda_filter_end_upload (self, error)
      || !gst_cuda_filter_get_scratch (&self->upload, host, error)
      || !img_cuda_copy (&self->upload, host, stream, error)
      || !img_cuda_event_record (&self->uploaded, stream, error))
    return FALSE;
  if (img_cuda_host_is_locked (host->plane[0].data))
    self->uploading = gst_buffer_ref (buffer);
  return TRUE;
}

static gboolean
gst_cuda_filter_download (GstCudaFilter * self, const ImgView * host,
    ImgError * error)
{
  ImgStream stream = gst_cuda_filter_device_get_stream (self->device);

  return img_cuda_copy (host, &self->download, stream, error)
      && img_cuda_synchronize (stream, error)
      && gst_cuda_filter_end_upload (self, error);
}

/* A frame on the GPU: `src` and `dst` are the mapped buffers, each in device
 * or in system memory. */
static gboolean
gst_cuda_filter_process_cuda (GstCudaFilter * self, GstBuffer * inbuf,
    GstBuffer * outbuf, const ImgView * src, const ImgView * dst,
    ImgError * error)
{
  gboolean interlaced = gst_cuda_filter_is_interlaced (self, inbuf);
  gboolean in_device = gst_cuda_filter_device_owns (self->device, inbuf);
  gboolean out_device = gst_cuda_filter_device_owns (self->device, outbuf);

  if (in_device && !gst_cuda_filter_device_begin (self->device, inbuf, error))
    return FALSE;
  if (out_device && outbuf != inbuf
      && !gst_cuda_filter_device_begin (self->device, outbuf, error))
    return FALSE;
  if (!in_device && !gst_cuda_filter_upload (self, inbuf, src, error))
    return FALSE;
  if (!out_device && !gst_cuda_filter_get_scratch (&self->download, dst, error))
    return FALSE;
  if (!gst_cuda_filter_process (self, interlaced,
          in_device ? src : &self->upload, out_device ? dst : &self->download,
          error))
    return FALSE;
  if (!out_device && !gst_cuda_filter_download (self, dst, error))
    return FALSE;
  if (out_device && !gst_cuda_filter_device_end (self->device, outbuf, TRUE,
          error))
    return FALSE;
  return !in_device || outbuf == inbuf
      || gst_cuda_filter_device_end (self->device, inbuf, FALSE, error);
}

/* Before the buffers are unmapped. */
static gboolean
gst_cuda_filter_end_frame (GstCudaFilter * self, GstBuffer * inbuf,
    ImgError * error)
{
  return gst_cuda_filter_device_owns (self->device, inbuf) || self->uploading
      || !self->uploaded || img_cuda_event_wait (self->uploaded, error);
}

static gboolean
gst_cuda_filter_process_mapped (GstCudaFilter * self,
    const GstVideoFrame * in_frame, const GstVideoFrame * out_frame,
    ImgError * error)
{
  ImgError late;
  ImgView src, dst;
  gboolean ok;

  if (!gst_cuda_filter_view_from_info (&src, &self->in_info)
      || !gst_cuda_filter_view_from_info (&dst, &self->out_info))
    return img_fail (error, IMG_ERROR_UNSUPPORTED, "unknown video format");
  if (!gst_cuda_filter_view_map (&src, in_frame)
      || !gst_cuda_filter_view_map (&dst, out_frame))
    return img_fail (error, IMG_ERROR_UNSUPPORTED,
        "the frame is smaller than its caps say");
  if (gst_cuda_filter_is_interlaced (self, in_frame->buffer))
    gst_cuda_filter_view_add_field_rows (&src, in_frame, &dst, out_frame);
  if (self->operation == GST_CUDA_FILTER_GET_CLASS (self)->cpu)
    return gst_cuda_filter_process (self,
        gst_cuda_filter_is_interlaced (self, in_frame->buffer), &src, &dst,
        error);
  if (!gst_cuda_filter_device_push (self->device))
    return img_fail (error, IMG_ERROR_DEVICE, "the CUDA context is gone: "
        "another part of this process has destroyed it; start anew");
  ok = gst_cuda_filter_process_cuda (self, in_frame->buffer,
      out_frame->buffer, &src, &dst, error);
  if (!gst_cuda_filter_end_frame (self, in_frame->buffer, &late) && ok) {
    *error = late;
    ok = FALSE;
  }
  gst_cuda_filter_device_pop (self->device);
  return ok;
}

static gboolean
gst_cuda_filter_process_buffers (GstCudaFilter * self, GstBuffer * inbuf,
    GstBuffer * outbuf, ImgError * error)
{
  GstVideoFrame in_frame, out_frame;
  gboolean ok;

  if (inbuf == outbuf) {
    if (!gst_cuda_filter_device_map (self->device, &in_frame, &self->in_info,
            inbuf, GST_MAP_READWRITE))
      return img_fail (error, IMG_ERROR_UNSUPPORTED, "cannot map the frame");
    ok = gst_cuda_filter_process_mapped (self, &in_frame, &in_frame, error);
    gst_video_frame_unmap (&in_frame);
    return ok;
  }
  if (!gst_cuda_filter_device_map (self->device, &in_frame, &self->in_info,
          inbuf, GST_MAP_READ))
    return img_fail (error, IMG_ERROR_UNSUPPORTED,
        "cannot map the input frame");
  ok = gst_cuda_filter_device_map (self->device, &out_frame, &self->out_info,
      outbuf, GST_MAP_WRITE);
  if (ok) {
    ok = gst_cuda_filter_process_mapped (self, &in_frame, &out_frame, error);
    gst_video_frame_unmap (&out_frame);
  } else {
    img_fail (error, IMG_ERROR_NO_MEMORY, "cannot map the output frame");
  }
  gst_video_frame_unmap (&in_frame);
  return ok;
}

/* True if the frame is already what goes out. */
static gboolean
gst_cuda_filter_is_identity (GstCudaFilter * self, GstBuffer * inbuf)
{
  GstCudaFilterClass *klass = GST_CUDA_FILTER_GET_CLASS (self);

  return klass->is_identity && klass->is_identity (self->frame_params)
      && self->in_device == self->out_device
      && gst_cuda_filter_device_owns (self->device, inbuf) == self->in_device
      && gst_video_info_is_equal (&self->in_info, &self->out_info);
}

/* True if the result may be written over the input. */
static gboolean
gst_cuda_filter_is_in_place (GstCudaFilter * self, GstBuffer * inbuf)
{
  GstCudaFilterClass *klass = GST_CUDA_FILTER_GET_CLASS (self);

  return (klass->can_work_in_place
          ? klass->can_work_in_place (self->frame_params)
          : self->operation->in_place)
      && self->in_device == self->out_device
      && gst_cuda_filter_device_owns (self->device, inbuf) == self->in_device
      && gst_video_info_is_equal (&self->in_info, &self->out_info)
      && !gst_buffer_get_video_crop_meta (inbuf)
      && gst_buffer_is_writable (inbuf)
      && gst_buffer_is_all_memory_writable (inbuf);
}

/* Called for every frame before its output is allocated: one snapshot of the
 * properties, and the context that the frame comes with. */
static void
gst_cuda_filter_before_transform (GstBaseTransform * trans, GstBuffer * buffer)
{
  GstCudaFilter *self = GST_CUDA_FILTER (trans);
  GstClockTime time = gst_segment_to_stream_time (&trans->segment,
      GST_FORMAT_TIME, GST_BUFFER_PTS (buffer));

  if (GST_CLOCK_TIME_IS_VALID (time))
    gst_object_sync_values (GST_OBJECT (self), time);
  GST_OBJECT_LOCK (self);
  memcpy (self->frame_params, self->params, self->operation->params_size);
  GST_OBJECT_UNLOCK (self);
  if (gst_cuda_filter_uses_device (self))
    gst_cuda_filter_follow_context (self, buffer);
}

void
gst_cuda_filter_follow_context (GstCudaFilter * self, GstBuffer * buffer)
{
  GstCaps *caps;
  gint device_id;

  GST_OBJECT_LOCK (self);
  device_id = self->device_id;
  GST_OBJECT_UNLOCK (self);
  if (!gst_cuda_filter_device_should_follow (self->device, buffer, device_id))
    return;
  gst_cuda_filter_reset (self);
  gst_cuda_filter_device_follow (self->device, buffer);
  caps = gst_pad_get_current_caps (GST_BASE_TRANSFORM_SRC_PAD (self));
  if (caps && self->out_device)
    gst_cuda_filter_make_pool (self, caps);
  gst_clear_caps (&caps);
  /* the neighbours may want other pools now */
  gst_base_transform_reconfigure_sink (GST_BASE_TRANSFORM (self));
  gst_base_transform_reconfigure_src (GST_BASE_TRANSFORM (self));
}

static GstFlowReturn
gst_cuda_filter_prepare_output_buffer (GstBaseTransform * trans,
    GstBuffer * inbuf, GstBuffer ** outbuf)
{
  GstCudaFilter *self = GST_CUDA_FILTER (trans);
  GstCudaFilterClass *klass = GST_CUDA_FILTER_GET_CLASS (self);
  GstFlowReturn flow;

  /* not earlier: what goes out may have been negotiated anew for this frame */
  if (klass->complete_params)
    klass->complete_params (self, self->frame_params,
        gst_cuda_filter_is_interlaced (self, inbuf));
  if (gst_cuda_filter_is_identity (self, inbuf)
      || gst_cuda_filter_is_in_place (self, inbuf)) {
    *outbuf = inbuf;
    return GST_FLOW_OK;
  }
  if (!self->pool || !gst_buffer_pool_set_active (self->pool, TRUE)) {
    GST_ELEMENT_ERROR (self, RESOURCE, NO_SPACE_LEFT,
        ("No memory for output frames."), (NULL));
    return GST_FLOW_ERROR;
  }
  flow = gst_buffer_pool_acquire_buffer (self->pool, outbuf, NULL);
  if (flow == GST_FLOW_ERROR)
    GST_ELEMENT_ERROR (self, RESOURCE, NO_SPACE_LEFT,
        ("No memory for an output frame."), (NULL));
  if (flow == GST_FLOW_OK)
    GST_BASE_TRANSFORM_GET_CLASS (trans)->copy_metadata (trans, inbuf,
        *outbuf);
  return flow;
}

static GstFlowReturn
gst_cuda_filter_transform (GstBaseTransform * trans, GstBuffer * inbuf,
    GstBuffer * outbuf)
{
  GstCudaFilter *self = GST_CUDA_FILTER (trans);
  ImgError error = { IMG_ERROR_DEVICE, "" };

  if (inbuf == outbuf && gst_cuda_filter_is_identity (self, inbuf))
    return GST_FLOW_OK;
  if (gst_cuda_filter_process_buffers (self, inbuf, outbuf, &error))
    return GST_FLOW_OK;
  gst_cuda_filter_post_error (self, &error);
  return GST_FLOW_ERROR;
}

/* start and stop */

/* The text stands twice because gst-launch-1.0 prints only the second. */
static void
gst_cuda_filter_post_backend (GstCudaFilter * self, const gchar * backend,
    const gchar * reason)
{
  GST_ELEMENT_INFO (self, RESOURCE, SETTINGS,
      ("Running on %s%s.", backend, reason),
      ("Running on %s%s.", backend, reason));
}

/* Opens the GPU. If there is none, `auto` takes the CPU and says so. */
static gboolean
gst_cuda_filter_open (GstCudaFilter * self, GstCudaFilterBackend backend,
    gint device_id)
{
  GstCudaFilterClass *klass = GST_CUDA_FILTER_GET_CLASS (self);
  ImgError error;
  gchar *name;

  if (gst_cuda_filter_device_open (self->device, device_id, &error)) {
    self->operation = klass->cuda;
    name = gst_cuda_filter_device_describe (self->device);
    gst_cuda_filter_post_backend (self, name, "");
    g_free (name);
    return TRUE;
  }
  if (backend == GST_CUDA_FILTER_BACKEND_CUDA) {
    gst_cuda_filter_post_error (self, &error);
    return FALSE;
  }
  self->operation = klass->cpu;
  gst_cuda_filter_post_backend (self, "the CPU: ", error.text);
  return TRUE;
}

static gboolean
gst_cuda_filter_start (GstBaseTransform * trans)
{
  GstCudaFilter *self = GST_CUDA_FILTER (trans);
  GstCudaFilterBackend backend;
  gint device_id;

  GST_OBJECT_LOCK (self);
  backend = self->backend;
  device_id = self->device_id;
  GST_OBJECT_UNLOCK (self);
  if (backend != GST_CUDA_FILTER_BACKEND_CPU)
    return gst_cuda_filter_open (self, backend, device_id);
  self->operation = GST_CUDA_FILTER_GET_CLASS (self)->cpu;
  return TRUE;
}

static gboolean
gst_cuda_filter_stop (GstBaseTransform * trans)
{
  GstCudaFilter *self = GST_CUDA_FILTER (trans);

  gst_cuda_filter_reset (self);
  gst_cuda_filter_device_close (self->device);
  self->operation = NULL;
  return TRUE;
}

/* Before a pause of unknown length the owner gets its last buffer back. */
static gboolean
gst_cuda_filter_sink_event (GstBaseTransform * trans, GstEvent * event)
{
  GstCudaFilter *self = GST_CUDA_FILTER (trans);
  ImgError error;

  if (self->uploading && (GST_EVENT_TYPE (event) == GST_EVENT_EOS
          || GST_EVENT_TYPE (event) == GST_EVENT_FLUSH_STOP)
      && gst_cuda_filter_device_push (self->device)) {
    gst_cuda_filter_end_upload (self, &error);
    gst_cuda_filter_device_pop (self->device);
  }
  return GST_BASE_TRANSFORM_CLASS (parent_class)->sink_event (trans, event);
}

/* context */

static void
gst_cuda_filter_set_context (GstElement * element, GstContext * context)
{
  GstCudaFilter *self = GST_CUDA_FILTER (element);
  gint device_id;

  GST_OBJECT_LOCK (self);
  device_id = self->device_id;
  GST_OBJECT_UNLOCK (self);
  gst_cuda_filter_device_set_context (self->device, context, device_id);
  GST_ELEMENT_CLASS (parent_class)->set_context (element, context);
}

static gboolean
gst_cuda_filter_query (GstBaseTransform * trans, GstPadDirection direction,
    GstQuery * query)
{
  GstCudaFilter *self = GST_CUDA_FILTER (trans);

  if (GST_QUERY_TYPE (query) == GST_QUERY_CONTEXT
      && gst_cuda_filter_device_answer_query (self->device, query))
    return TRUE;
  return GST_BASE_TRANSFORM_CLASS (parent_class)->query (trans, direction,
      query);
}

/* class and instance */

static void
gst_cuda_filter_set_default (gpointer params, const GstCudaFilterProperty * p)
{
  gpointer member = (guint8 *) params + p->offset;

  if (p->kind == G_TYPE_DOUBLE)
    *(double *) member = p->def;
  else if (p->kind == G_TYPE_BOOLEAN)
    *(bool *) member = p->def != 0;
  else
    *(int *) member = (int) p->def;
}

/* Here, and not in init, the class of the object is the subclass's. */
static void
gst_cuda_filter_constructed (GObject * object)
{
  GstCudaFilter *self = GST_CUDA_FILTER (object);
  GstCudaFilterClass *klass = GST_CUDA_FILTER_GET_CLASS (self);

  self->params = g_malloc0 (klass->cpu->params_size);
  self->frame_params = g_malloc0 (klass->cpu->params_size);
  for (guint i = 0; i < klass->n_properties; i++)
    gst_cuda_filter_set_default (self->params, &klass->properties[i]);
  G_OBJECT_CLASS (parent_class)->constructed (object);
}

static void
gst_cuda_filter_finalize (GObject * object)
{
  GstCudaFilter *self = GST_CUDA_FILTER (object);

  gst_cuda_filter_device_free (self->device);
  g_mutex_clear (&self->state_lock);
  g_free (self->params);
  g_free (self->frame_params);
  G_OBJECT_CLASS (parent_class)->finalize (object);
}

static void
gst_cuda_filter_class_init (GstCudaFilterClass * klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstBaseTransformClass *trans_class = GST_BASE_TRANSFORM_CLASS (klass);
  GParamFlags flags = G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS
      | GST_PARAM_MUTABLE_READY;

  GST_DEBUG_CATEGORY_INIT (gst_cuda_filter_debug, "cudafilter", 0,
      "CUDA image filters");
  object_class->set_property = gst_cuda_filter_set_property;
  object_class->get_property = gst_cuda_filter_get_property;
  object_class->constructed = gst_cuda_filter_constructed;
  object_class->finalize = gst_cuda_filter_finalize;
  GST_ELEMENT_CLASS (klass)->set_context = gst_cuda_filter_set_context;
  trans_class->start = gst_cuda_filter_start;
  trans_class->stop = gst_cuda_filter_stop;
  trans_class->query = gst_cuda_filter_query;
  trans_class->sink_event = gst_cuda_filter_sink_event;
  trans_class->before_transform = gst_cuda_filter_before_transform;
  trans_class->prepare_output_buffer = gst_cuda_filter_prepare_output_buffer;
  trans_class->transform = gst_cuda_filter_transform;
  gst_cuda_filter_class_init_negotiation (klass);

  g_object_class_install_property (object_class, PROP_BACKEND,
      g_param_spec_enum ("backend", "Backend", "What computes the pictures",
          gst_cuda_filter_backend_get_type (), DEFAULT_BACKEND, flags));
  g_object_class_install_property (object_class, PROP_DEVICE_ID,
      g_param_spec_int ("cuda-device-id", "CUDA device ID",
          "The GPU to use (-1 = the first that comes)", -1, G_MAXINT,
          DEFAULT_DEVICE_ID, flags));
  gst_type_mark_as_plugin_api (GST_TYPE_CUDA_FILTER, 0);
  gst_type_mark_as_plugin_api (gst_cuda_filter_backend_get_type (), 0);
}

static void
gst_cuda_filter_init (GstCudaFilter * self)
{
  self->backend = DEFAULT_BACKEND;
  self->device_id = DEFAULT_DEVICE_ID;
  self->device = gst_cuda_filter_device_new (GST_ELEMENT (self));
  g_mutex_init (&self->state_lock);
  gst_base_transform_set_qos_enabled (GST_BASE_TRANSFORM (self), TRUE);
  /* else the order of a peer that takes anything would come before ours, in
   * which device memory is first */
  gst_base_transform_set_prefer_passthrough (GST_BASE_TRANSFORM (self), FALSE);
}
