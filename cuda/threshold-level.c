/* Otsu's and Zack's level of a histogram; threshold-arith.h says how. */
#include "threshold-cpu.h"

static int
otsu_first_best (const uint32_t *histogram, int bins, unsigned n, uint64_t s,
    double *largest)
{
  uint64_t n1 = 0, s1 = 0;
  int level = 0;

  *largest = 0;
  for (int i = 0; i < bins; i++) {
    n1 += histogram[i];
    s1 += (uint64_t) histogram[i] * i;
    const double variance = img_otsu_variance ((unsigned) n1, s1, n, s);
    if (variance > *largest) {
      *largest = variance;
      level = i;
    }
  }
  return level;
}

static int
otsu_count_near (const uint32_t *histogram, int bins, unsigned n, uint64_t s,
    double largest)
{
  uint64_t n1 = 0, s1 = 0;
  int count = 0;

  for (int i = 0; i < bins; i++) {
    n1 += histogram[i];
    s1 += (uint64_t) histogram[i] * i;
    count += img_otsu_near (img_otsu_variance ((unsigned) n1, s1, n, s),
        largest);
  }
  return count;
}

int
img_otsu_level (const uint32_t *histogram, int bins)
{
  uint64_t n = 0, s = 0;
  double largest;
  int level;

  for (int i = 0; i < bins; i++) {
    n += histogram[i];
    s += (uint64_t) histogram[i] * i;
  }
  level = otsu_first_best (histogram, bins, (unsigned) n, s, &largest);
  if (bins == 256
      && otsu_count_near (histogram, bins, (unsigned) n, s, largest) > 1)
    level = img_otsu_recurrence (histogram, (unsigned) n, s);
  return level;
}

int
img_triangle_level_of (const uint32_t *histogram, int bins)
{
  int first = 0, last = bins - 1, peak = 0, position;
  int64_t largest = 0;

  while (first < bins - 1 && histogram[first] == 0)
    first++;
  while (last > 0 && histogram[last] == 0)
    last--;
  for (int i = 1; i < bins; i++)
    if (histogram[i] > histogram[peak])
      peak = i;

  const ImgTriangle triangle = img_triangle (bins, first, last, peak,
      histogram[peak]);

  position = triangle.begin;
  for (int i = triangle.begin + 1; i <= triangle.peak; i++) {
    const int64_t distance = img_triangle_distance (&triangle, i,
        histogram[img_triangle_mirror (&triangle, i)]);

    if (distance > largest) {
      largest = distance;
      position = i;
    }
  }
  return img_triangle_level (&triangle, position);
}
