/* Cases that may end their process, each run in one of its own under a time
 * limit, and streams whose pictures are checked. */
#ifndef GPU_CASE_H
#define GPU_CASE_H

#define GST_USE_UNSTABLE_API

#include <gst/cuda/gstcudacontext.h>
#include <gst/gst.h>

#define GPU_CASE_SKIPPED 77

typedef struct
{
  const gchar *name;
  gint seconds;                 /* after that it counts as hung */
  void (*run) (void);           /* returns if all is right */
  const gchar *variable;        /* set to `value` around the case, or NULL */
  const gchar *value;
} GpuCase;

/* The whole of main (): runs all cases, or the one that argv[1] names. */
gint gpu_case_main (gint argc, gchar ** argv, const GpuCase * cases, guint n);

/* Ends the case. */
void gpu_case_fail (const gchar * format, ...) G_GNUC_PRINTF (1, 2)
    G_GNUC_NORETURN;
void gpu_case_skip (const gchar * reason) G_GNUC_NORETURN;

GstElement *gpu_case_pipeline (const gchar * launch);

/* A context of our own on `device`; free with gst_object_unref (). */
GstCudaContext *gpu_case_context (guint device);

/* Gives `element`, which may be a pipeline, the context, as an application
 * does. */
void gpu_case_set_context (GstElement * element, GstCudaContext * context);

/* The context in which the element called `name` works, or NULL. */
GstCudaContext *gpu_case_context_of (GstElement * pipeline,
    const gchar * name);

/* A moving picture through `chain`, on the GPU and, as the reference, the same
 * on the CPU: there backend=cuda is backend=cpu, and cudaupload, cudadownload
 * and device memory are left out. */
typedef struct
{
  GstElement *gpu;
  GstElement *cpu;
} CheckedStream;

/* Not yet started. */
CheckedStream *checked_stream_new (const gchar * chain, gint width,
    gint height);

/* Compares the next `n` frames; the first call starts both pipelines. */
void checked_stream_compare (CheckedStream * stream, guint n);
void checked_stream_free (CheckedStream * stream);

#endif
