/* Shares the rows of a picture among the cores of the machine. */
#ifndef IMG_PARALLEL_H
#define IMG_PARALLEL_H

/* Works on rows begin..end-1. */
typedef void (*ImgRowsFunc) (int begin, int end, void *data);

/* Calls `func` for pieces that together are the rows 0..rows-1, each once, in
 * the calling thread and in others, and returns when all are done. A piece has
 * at least `min_rows` rows (but the last), so that small pictures stay in one
 * thread. May be called from several threads at once; not from `func`. */
void img_parallel_rows (int rows, int min_rows, ImgRowsFunc func, void *data);

#endif
