/* gaussian.h on the CPU, and the kernels for both versions. */
#include "gaussian.h"

#include <math.h>

/* Weights of `sigma`, or without one (0) those that OpenCV has for `size`. */
static void
fill_kernel (ImgGaussianKernel *kernel, int size, double sigma)
{
  static const float fixed[4][4] = { { 1 }, { 0.5f, 0.25f },
    { 0.375f, 0.25f, 0.0625f }, { 0.28125f, 0.21875f, 0.109375f, 0.03125f } };
  const int radius = kernel->radius = size / 2;
  const bool is_fixed = size <= 7 && sigma == 0;
  double weight[IMG_GAUSSIAN_MAX_RADIUS + 1] = { 1 }, sum = 1;

  if (sigma == 0)
    sigma = 0.3 * ((size - 1) * 0.5 - 1) + 0.8;
  for (int i = 1; i <= radius; i++) {
    weight[i] = exp (-0.5 * i * i / (sigma * sigma));
    sum += 2 * weight[i];
  }
  for (int i = 0; i <= radius; i++)
    kernel->weight[i] = is_fixed ? fixed[radius][i]
        : (float) (weight[i] / sum);
}

/* The kernel of a channel with half the samples, as gaussian.h says. */
static void
halve_kernel (ImgGaussianKernel *kernel)
{
  const int radius = kernel->radius, half = (radius + 1) / 2;
  float w[IMG_GAUSSIAN_MAX_RADIUS + 3] = { 0 };

  for (int i = 0; i <= radius; i++)
    w[i] = kernel->weight[i];
  kernel->radius = half;
  kernel->weight[0] = w[0] + w[1];
  for (int j = 1; j <= half; j++)
    kernel->weight[j] = w[2 * j] + 0.5f * (w[2 * j - 1] + w[2 * j + 1]);
}

static void
make_kernel (ImgGaussianKernel *kernel, int size, double sigma, int depth,
    int sub)
{
  if (size == 0)
    size = (int) rint (sigma * (depth == 8 ? 3 : 4) * 2 + 1) | 1;
  fill_kernel (kernel, size, sigma);
  while (sub-- > 0)
    halve_kernel (kernel);
}

static bool
check_size (const char *name, int size, ImgError *error)
{
  if (size < 0 || size > 255)
    return img_fail (error, IMG_ERROR_SETTINGS, "The %s of the Gaussian "
        "kernel, %d, is not within 0..255: set one that is", name, size);
  if (size != 0 && size % 2 == 0)
    return img_fail (error, IMG_ERROR_SETTINGS, "The %s of the Gaussian "
        "kernel, %d, is even, so the kernel has no centre: set %d or %d", name,
        size, size - 1, size + 1);
  return true;
}

static bool
check_sigma (const char *name, double sigma, ImgError *error)
{
  if (sigma >= 0 && sigma <= 100)
    return true;
  return img_fail (error, IMG_ERROR_SETTINGS, "%s of the Gaussian kernel, %g, "
      "is not within 0..100: set one that is", name, sigma);
}

bool
img_gaussian_kernels (const ImgGaussianParams *params, int depth, int x_sub,
    int y_sub, ImgGaussianKernel *horizontal, ImgGaussianKernel *vertical,
    ImgError *error)
{
  const int width = params->kernel_width;
  const int height = params->kernel_height ? params->kernel_height : width;
  const double sigma_x = params->sigma_x;
  const double sigma_y = params->sigma_y > 0 ? params->sigma_y : sigma_x;

  if (!check_size ("width", width, error)
      || !check_size ("height", height, error)
      || !check_sigma ("sigma-x", params->sigma_x, error)
      || !check_sigma ("sigma-y", params->sigma_y, error))
    return false;
  if ((width == 0 && sigma_x == 0) || (height == 0 && sigma_y == 0))
    return img_fail (error, IMG_ERROR_SETTINGS, "Neither size nor sigma of "
        "the Gaussian kernel is set: set kernel-width, or sigma-x to more "
        "than 0");
  make_kernel (horizontal, width, sigma_x, depth, x_sub);
  make_kernel (vertical, height, sigma_y, depth, y_sub);
  return true;
}

static bool
prepare (void **state, const ImgView *src, const ImgView *dst,
    const void *params, ImgError *error)
{
  return img_fail (error, IMG_ERROR_UNSUPPORTED, "gaussian: not written yet");
}

static bool
run (void *state, const ImgView *src, const ImgView *dst, const void *params,
    ImgStream stream, ImgError *error)
{
  return img_fail (error, IMG_ERROR_UNSUPPORTED, "gaussian: not written yet");
}

static void
release (void *state)
{
}

const ImgOperation img_gaussian_cpu = { "gaussian", sizeof (ImgGaussianParams),
  false, prepare, run, release };
