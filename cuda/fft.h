/* One-dimensional complex Fourier transform of any length, on kissfft. */
#ifndef IMG_FFT_H
#define IMG_FFT_H

#include <stdbool.h>

#include <kiss_fft.h>

typedef struct ImgFft ImgFft;

/* For `n` values, n > 0; NULL if there is no memory. */
ImgFft *img_fft_new (int n);
void img_fft_free (ImgFft *fft);

/* Values that img_fft_run needs as scratch. */
int img_fft_scratch (const ImgFft *fft);

/* out[k] = sum of in[i] exp (-2πi ik/n). No two of the arrays overlap. May run
 * in several threads at once, with scratch of their own. */
void img_fft_run (const ImgFft *fft, const kiss_fft_cpx *in, kiss_fft_cpx *out,
    kiss_fft_cpx *scratch);

#endif
