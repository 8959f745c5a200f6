/* The base of every element of this plugin; see gstcudafilter.c. */
#ifndef GST_CUDA_FILTER_H
#define GST_CUDA_FILTER_H

#include <gst/base/gstbasetransform.h>
#include <gst/gst.h>
#include <gst/video/video.h>

#include "device.h"
#include "gstcudafilterdevice.h"
#include "operation.h"

G_BEGIN_DECLS

#define GST_TYPE_CUDA_FILTER (gst_cuda_filter_get_type ())
#define GST_CUDA_FILTER(obj) \
  (G_TYPE_CHECK_INSTANCE_CAST ((obj), GST_TYPE_CUDA_FILTER, GstCudaFilter))
#define GST_CUDA_FILTER_CLASS(klass) \
  (G_TYPE_CHECK_CLASS_CAST ((klass), GST_TYPE_CUDA_FILTER, GstCudaFilterClass))
#define GST_CUDA_FILTER_GET_CLASS(obj) \
  (G_TYPE_INSTANCE_GET_CLASS ((obj), GST_TYPE_CUDA_FILTER, GstCudaFilterClass))

#define GST_CUDA_FILTER_MEMORY_FEATURE "memory:CUDAMemory"

typedef struct _GstCudaFilter GstCudaFilter;
typedef struct _GstCudaFilterClass GstCudaFilterClass;

typedef enum {
  GST_CUDA_FILTER_BACKEND_AUTO,
  GST_CUDA_FILTER_BACKEND_CUDA,
  GST_CUDA_FILTER_BACKEND_CPU
} GstCudaFilterBackend;

/* The operation prepared for the frames or fields of one height. */
typedef struct {
  gpointer state;    /* of the operation; NULL: not prepared */
  gpointer params;   /* those of the last prepare */
  ImgView src, dst;  /* those of the last prepare */
} GstCudaFilterState;

struct _GstCudaFilter {
  GstBaseTransform parent;

  /* properties, under the object lock */
  GstCudaFilterBackend backend;
  gint device_id;
  gpointer params; /* the operation's parameter struct */

  /* streaming thread */
  GstCudaFilterDevice *device;
  const ImgOperation *operation; /* of the backend in use; NULL: stopped */
  gpointer frame_params;         /* what the current frame uses */
  GstVideoInfo in_info, out_info;
  gboolean in_device, out_device; /* the caps name CUDAMemory */
  GstBufferPool *pool;
  ImgView upload, download; /* device pictures beside system memory */
  GstBuffer *uploading;     /* input that the GPU may still be reading */
  ImgEvent uploaded;        /* when it has been read */

  /* one for frames and top fields, one for bottom fields; `state` of the first
   * is also read by the property functions, hence the lock */
  GMutex state_lock;
  GstCudaFilterState states[2];
};

/* One property that is a member of the operation's parameter struct. */
typedef struct {
  const gchar *name, *nick, *blurb;
  GType (*enum_type) (void); /* enum; else NULL and by `kind` */
  GType kind;                /* G_TYPE_INT, _DOUBLE, _BOOLEAN or _ENUM */
  gsize offset;              /* of the member */
  gdouble def, min, max;
} GstCudaFilterProperty;

#define GST_CUDA_FILTER_INT(name, nick, Params, member, def, min, max, blurb) \
  { name, nick, blurb, NULL, G_TYPE_INT, G_STRUCT_OFFSET (Params, member), \
    def, min, max }
#define GST_CUDA_FILTER_DOUBLE(name, nick, Params, member, def, min, max, \
    blurb) \
  { name, nick, blurb, NULL, G_TYPE_DOUBLE, G_STRUCT_OFFSET (Params, member), \
    def, min, max }
#define GST_CUDA_FILTER_BOOLEAN(name, nick, Params, member, def, blurb) \
  { name, nick, blurb, NULL, G_TYPE_BOOLEAN, \
    G_STRUCT_OFFSET (Params, member), def, 0, 1 }
#define GST_CUDA_FILTER_ENUM(name, nick, Params, member, type, def, blurb) \
  { name, nick, blurb, type, G_TYPE_ENUM, G_STRUCT_OFFSET (Params, member), \
    def, 0, 0 }

struct _GstCudaFilterClass {
  GstBaseTransformClass parent_class;

  /* set by gst_cuda_filter_class_install () */
  const ImgOperation *cpu, *cuda;
  const GstCudaFilterProperty *properties;
  guint n_properties;

  /* True if the result with `params` is the input, bit for bit. Optional. */
  gboolean (*is_identity) (gconstpointer params);

  /* True if, with `params`, the result may be written over the input. Optional:
   * without it, what the operation says. */
  gboolean (*can_work_in_place) (gconstpointer params);

  /* Called with the parameters of a frame, which are the properties', before it
   * is filtered: fills in what no property holds. `fields`: they are for each
   * of its two fields. Optional. */
  void (*complete_params) (GstCudaFilter * self, gpointer params,
      gboolean fields);

  /* For elements that change format or size: takes out of `structure`, which
   * one pad has, what the other pad may have differently. Optional. */
  void (*relax) (GstCudaFilter * self, GstPadDirection direction,
      GstStructure * structure);

  /* For the same: fixates `structure` of the other pad by `caps`, which are
   * fixed and on the pad of `direction`. Optional. */
  void (*fixate) (GstCudaFilter * self, GstPadDirection direction,
      GstCaps * caps, GstStructure * structure);

  /* For the same: what becomes of `meta` in `outbuf`; TRUE: it is copied as it
   * is. Optional. */
  gboolean (*transform_meta) (GstCudaFilter * self, GstBuffer * outbuf,
      GstMeta * meta, GstBuffer * inbuf);

  /* Reads results of the last frame from `state` of `operation`. Called under
   * the state lock, when a property is read and before the state goes.
   * Optional. */
  void (*read_results) (GstCudaFilter * self, const ImgOperation * operation,
      gconstpointer state);
};

GType gst_cuda_filter_get_type (void);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (GstCudaFilter, gst_object_unref)

/* Makes `klass` (a subclass) run the operation of these two tables, with the
 * members of its parameter struct as properties. Called in class_init;
 * `properties` stays in use. */
void gst_cuda_filter_class_install (GstCudaFilterClass * klass,
    const ImgOperation * cpu, const ImgOperation * cuda,
    const GstCudaFilterProperty * properties, guint n_properties);

/* The set_property and get_property of such a class, for a subclass that has
 * properties beside those of the table, with ids from n_properties + 1. */
void gst_cuda_filter_set_param (GObject * object, guint id,
    const GValue * value, GParamSpec * pspec);
void gst_cuda_filter_get_param (GObject * object, guint id, GValue * value,
    GParamSpec * pspec);

/* Calls read_results () with the state of the last frame, if there is one. */
void gst_cuda_filter_read_results (GstCudaFilter * self);

/* Enum types that several elements share. */
GType gst_cuda_filter_border_get_type (void);
GType gst_cuda_filter_channels_get_type (void);

/* Makes the context, and so the memory, of `buffer` the element's own where
 * `cuda-device-id` allows it. Streaming thread. */
void gst_cuda_filter_follow_context (GstCudaFilter * self, GstBuffer * buffer);

/* Posts `error` as an element error. */
void gst_cuda_filter_post_error (GstCudaFilter * self, const ImgError * error);

/* gstcudafilternegotiation.c */
void gst_cuda_filter_class_init_negotiation (GstCudaFilterClass * klass);
gboolean gst_cuda_filter_uses_device (GstCudaFilter * self);

/* Makes the element's output pool for `caps` anew. */
gboolean gst_cuda_filter_make_pool (GstCudaFilter * self, GstCaps * caps);

/* Replaces the output pool; NULL: none. Takes a reference of its own. */
void gst_cuda_filter_set_pool (GstCudaFilter * self, GstBufferPool * pool);

/* gstcudafilterformat.c */

/* Of the structures of `othercaps`, the one with the format in which frames of
 * `info` lose least, and that format. Takes `othercaps`. */
GstCaps *gst_cuda_filter_choose_format (const GstVideoInfo * info,
    GstCaps * othercaps);

/* Fixates colorimetry and chroma siting of `structure`, whose format and size
 * are fixed, for frames of `caps`, which are `info`. */
void gst_cuda_filter_fixate_color (const GstCaps * caps,
    const GstVideoInfo * info, GstStructure * structure);

/* gstcudafilterview.c */

/* A view for frames of `info`, without pointers. FALSE: not a format of
 * ours. */
gboolean gst_cuda_filter_view_from_info (ImgView * view,
    const GstVideoInfo * info);

/* Sets the pointers and strides of `view`, made from the caps of `frame`, to
 * the mapped frame: to its crop rectangle where the frame is larger than the
 * caps. FALSE: the frame does not hold such a picture. */
gboolean gst_cuda_filter_view_map (ImgView * view, const GstVideoFrame * frame);

/* For mapped frames that are interlaced: adds the last chroma row of a field
 * where it lies beyond the rows of the plane, if both frames hold it. */
void gst_cuda_filter_view_add_field_rows (ImgView * src,
    const GstVideoFrame * in, ImgView * dst, const GstVideoFrame * out);

G_END_DECLS

#endif
