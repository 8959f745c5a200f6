/* Row sharing over one GLib thread pool for the whole process. */
#include "parallel.h"

#include <glib.h>

typedef struct {
  ImgRowsFunc func;
  void *data;
  int rows;
  int piece;   /* rows taken at a time */
  gint next;   /* first row not taken, atomic */
  int helpers; /* pool threads not done with this job, under the lock */
  GMutex lock;
  GCond done;
} Job;

static void
work (Job *job)
{
  int begin;

  while ((begin = g_atomic_int_add (&job->next, job->piece)) < job->rows)
    job->func (begin, MIN (begin + job->piece, job->rows), job->data);
}

static void
help (gpointer data, gpointer unused)
{
  Job *job = data;

  work (job);
  g_mutex_lock (&job->lock);
  if (--job->helpers == 0)
    g_cond_signal (&job->done);
  g_mutex_unlock (&job->lock);
}

static GThreadPool *
pool_get (void)
{
  static GThreadPool *pool;

  if (g_once_init_enter (&pool))
    g_once_init_leave (&pool, g_thread_pool_new (help, NULL,
            (gint) g_get_num_processors (), FALSE, NULL));
  return pool;
}

void
img_parallel_rows (int rows, int min_rows, ImgRowsFunc func, void *data)
{
  int threads = MIN ((int) g_get_num_processors (), rows / MAX (min_rows, 1));
  Job job = { func, data, rows, rows, 0, 0, {}, {} };

  if (threads < 2) {
    if (rows > 0)
      func (0, rows, data);
    return;
  }
  /* four pieces a thread even out what other programs take of a core */
  job.piece = MAX (min_rows, (rows + 4 * threads - 1) / (4 * threads));
  job.helpers = threads - 1;
  g_mutex_init (&job.lock);
  g_cond_init (&job.done);
  for (int i = 1; i < threads; i++)
    g_thread_pool_push (pool_get (), &job, NULL);
  work (&job);
  g_mutex_lock (&job.lock);
  while (job.helpers > 0)
    g_cond_wait (&job.done, &job.lock);
  g_mutex_unlock (&job.lock);
  g_mutex_clear (&job.lock);
  g_cond_clear (&job.done);
}
