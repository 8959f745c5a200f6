"""gaussian: equal to the weighted sum in double precision, rounded to nearest,
and within one level of cv2.GaussianBlur.

On 8-bit pictures cv2 rounds its weights to 1/256, which by itself puts it up to
3 levels off the sum on pictures of extremes (and far more where the kernel is
much larger than the picture). So its float32 version is what every picture is
compared with, and its 8-bit version on photographs."""
import unittest

import cv2
import numpy as np

import imgoracle as ours

# width, height, sigma_x, sigma_y
KERNELS = [(3, 3, 0, 0), (5, 5, 0, 0), (7, 7, 0, 0), (15, 15, 0, 0),
           (3, 3, 1, 0), (5, 9, 1.5, 2.5), (1, 7, 0, 0), (7, 1, 3, 0),
           (31, 3, 0, 0), (3, 31, 5, 0.4), (0, 0, 1.4, 0), (0, 0, 5, 0),
           (255, 255, 0, 0), (99, 51, 100, 33), (0, 0, 0.3, 0.3)]
WRAP = 3


def gaussian(image, width, height, sigma_x, sigma_y, border):
    params = ours.GaussianParams(width, height, sigma_x, sigma_y, border)
    return ours.run('gaussian', params, image)[0]


def resolve(kernel, dtype):
    """Sizes and sigmas as OpenCV's createGaussianKernels fills them in."""
    width, height, sigma_x, sigma_y = kernel
    sigma_y = sigma_y or sigma_x
    if width == 0:
        sigmas = 3 if dtype == np.uint8 else 4
        width = int(np.rint(sigma_x * sigmas * 2 + 1)) | 1
        height = int(np.rint(sigma_y * sigmas * 2 + 1)) | 1
    return width, height, sigma_x, sigma_y


def filtered(image, kernel, border, blur):
    """What `blur` does with the border; wrap by growing the picture."""
    width, height, _, _ = kernel
    flag = ours.BORDERS[border]
    if border != WRAP:
        return blur(image, flag)
    x, y = width // 2, height // 2
    grown = cv2.copyMakeBorder(image, y, y, x, x, flag)
    result = blur(grown, cv2.BORDER_REPLICATE)
    return result[y:y + image.shape[0], x:x + image.shape[1]]


def opencv(image, kernel, border):
    width, height, sigma_x, sigma_y = kernel
    return filtered(image, kernel, border, lambda picture, flag:
                    cv2.GaussianBlur(picture, (width, height), sigma_x,
                                     sigmaY=sigma_y, borderType=flag))


def exact(image, kernel, border):
    """The weighted sum in double precision."""
    width, height, sigma_x, sigma_y = kernel
    row = cv2.getGaussianKernel(width, sigma_x or -1, cv2.CV_64F)
    column = cv2.getGaussianKernel(height, sigma_y or -1, cv2.CV_64F)
    return filtered(image.astype(np.float64), kernel, border,
                    lambda picture, flag: cv2.sepFilter2D(
                        picture, cv2.CV_64F, row, column, borderType=flag))


class Gaussian(unittest.TestCase):
    def check(self, name, image, kernel, border):
        what = f'{name} {kernel} border {border}'
        result = gaussian(image, *kernel, border)
        kernel = resolve(kernel, image.dtype)
        theirs = opencv(image.astype(np.float32), kernel, border)
        self.assertLess(np.abs(result - theirs).max(), 1, what)
        # float32 may fall to the other side where the sum is nearly a half
        error = np.abs(result - exact(image, kernel, border)).max()
        self.assertLessEqual(error, 0.502, what)

    def test_8_bit_opencv(self):
        """At most one component in 10 000 is 2 levels off, none is more."""
        for name, image in ours.photographs():
            for kernel in KERNELS:
                for border in range(5):
                    what = f'{name} {kernel} border {border}'
                    result = gaussian(image, *kernel, border)
                    theirs = opencv(image, resolve(kernel, image.dtype),
                                    border)
                    ours.compare(self, result, theirs, 2, what)
                    off = np.abs(result.astype(int) - theirs) > 1
                    self.assertLessEqual(off.mean(), 1e-4, what)

    def test_kernels(self):
        for name, image in [*ours.grays(), *ours.colors()]:
            for kernel in KERNELS:
                self.check(name, image, kernel, 0)

    def test_borders(self):
        for name, image in ours.grays():
            for border in range(1, 5):
                for kernel in [(3, 3, 0, 0), (15, 7, 0, 0), (31, 31, 8, 0)]:
                    self.check(name, image, kernel, border)

    def test_height_follows_width(self):
        _, image = next(ours.photographs())
        for width in [1, 3, 15, 31]:
            ours.compare(self, gaussian(image, width, 0, 2, 0, 0),
                         gaussian(image, width, width, 2, 2, 0), 0, str(width))

    def test_flat_stays_flat(self):
        for value in [0, 1, 77, 254, 255]:
            image = np.full((33, 65), value, np.uint8)
            for kernel in KERNELS:
                ours.compare(self, gaussian(image, *kernel, 1), image, 0,
                             f'{value} {kernel}')

    def test_16_bits(self):
        """Within 1 of 65535 of the sum in double precision."""
        image = np.random.default_rng(6).integers(0, 65536, (41, 67),
                                                  np.uint16)
        for kernel in KERNELS:
            result = gaussian(image, *kernel, 0)
            theirs = exact(image, resolve(kernel, image.dtype), 0)
            error = np.abs(result - theirs).max()
            self.assertLessEqual(error, 1, str(kernel))
