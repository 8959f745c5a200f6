/* kissfft takes time in proportion to the prime factors of a length. Where one
 * is large, Bluestein's algorithm turns the transform into a convolution of a
 * length that has only small ones:
 *   ik = (i² + k² - (k - i)²) / 2, so with c[i] = exp (-πi i²/n)
 *   X[k] = c[k] * sum of (x[i] c[i]) conj (c[k - i]). */
#include "fft.h"

#include <math.h>
#include <stdlib.h>

#include "vector.h"

#define LARGE_PRIME 29 /* from here on Bluestein is the faster one */

struct ImgFft {
  int n;
  kiss_fft_cfg direct; /* NULL: by convolution */
  int m;               /* length of the convolution */
  kiss_fft_cfg forward, inverse;
  kiss_fft_cpx *chirp;  /* c[0..n-1] */
  kiss_fft_cpx *filter; /* transform of conj (c), divided by m */
};

static int
largest_prime (int n)
{
  int largest = 1;

  for (int p = 2; p * p <= n; p++)
    while (n % p == 0) {
      n /= p;
      largest = p;
    }
  return n > 1 ? n : largest;
}

static kiss_fft_cpx
multiply (kiss_fft_cpx a, kiss_fft_cpx b)
{
  const kiss_fft_cpx product = { a.r * b.r - a.i * b.i,
    a.r * b.i + a.i * b.r };

  return product;
}

static void
fill_chirp (ImgFft *fft, kiss_fft_cpx *filter)
{
  for (int i = 0; i < fft->n; i++) {
    /* exp has the period 2n in i² */
    const double square = (double) ((long long) i * i % (2LL * fft->n));
    const double angle = M_PI * square / fft->n;

    fft->chirp[i].r = (float) cos (angle);
    fft->chirp[i].i = (float) -sin (angle);
    filter[i].r = (float) (cos (angle) / fft->m);
    filter[i].i = (float) (sin (angle) / fft->m);
    if (i > 0)
      filter[fft->m - i] = filter[i];
  }
}

static bool
make_convolution (ImgFft *fft)
{
  kiss_fft_cpx *filter;

  fft->m = kiss_fft_next_fast_size (2 * fft->n - 1);
  fft->forward = kiss_fft_alloc (fft->m, 0, NULL, NULL);
  fft->inverse = kiss_fft_alloc (fft->m, 1, NULL, NULL);
  fft->chirp = calloc (fft->n, sizeof (*fft->chirp));
  fft->filter = calloc (fft->m, sizeof (*fft->filter));
  filter = calloc (fft->m, sizeof (*filter));
  if (!fft->forward || !fft->inverse || !fft->chirp || !fft->filter
      || !filter) {
    free (filter);
    return false;
  }
  fill_chirp (fft, filter);
  kiss_fft (fft->forward, filter, fft->filter);
  free (filter);
  return true;
}

ImgFft *
img_fft_new (int n)
{
  ImgFft *fft = calloc (1, sizeof (*fft));

  if (!fft)
    return NULL;
  fft->n = n;
  if (largest_prime (n) < LARGE_PRIME)
    fft->direct = kiss_fft_alloc (n, 0, NULL, NULL);
  if (!fft->direct && !make_convolution (fft)) {
    img_fft_free (fft);
    return NULL;
  }
  return fft;
}

void
img_fft_free (ImgFft *fft)
{
  if (!fft)
    return;
  kiss_fft_free (fft->direct);
  kiss_fft_free (fft->forward);
  kiss_fft_free (fft->inverse);
  free (fft->chirp);
  free (fft->filter);
  free (fft);
}

int
img_fft_scratch (const ImgFft *fft)
{
  return 2 * fft->m;
}

/* result[i] = a[i] * b[i] */
static IMG_VECTOR void
multiply_all (const kiss_fft_cpx *restrict a, const kiss_fft_cpx *restrict b,
    int n, kiss_fft_cpx *restrict result)
{
  for (int i = 0; i < n; i++)
    result[i] = multiply (a[i], b[i]);
}

void
img_fft_run (const ImgFft *fft, const kiss_fft_cpx *in, kiss_fft_cpx *out,
    kiss_fft_cpx *scratch)
{
  kiss_fft_cpx *a = scratch, *b = scratch + fft->m;
  const kiss_fft_cpx zero = { 0, 0 };

  if (fft->direct) {
    kiss_fft (fft->direct, in, out);
    return;
  }
  multiply_all (in, fft->chirp, fft->n, a);
  for (int i = fft->n; i < fft->m; i++)
    a[i] = zero;
  kiss_fft (fft->forward, a, b);
  multiply_all (b, fft->filter, fft->m, a);
  kiss_fft (fft->inverse, a, b);
  multiply_all (b, fft->chirp, fft->n, out);
}
