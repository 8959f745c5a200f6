"""invert and threshold against NumPy and OpenCV: exact, but for the Gaussian
mean of adaptive threshold."""
import unittest

import cv2
import numpy as np

import imgoracle as ours

TYPES = [cv2.THRESH_BINARY, cv2.THRESH_BINARY_INV, cv2.THRESH_TRUNC,
         cv2.THRESH_TOZERO, cv2.THRESH_TOZERO_INV]
FIXED, OTSU, TRIANGLE, ADAPTIVE_MEAN, ADAPTIVE_GAUSSIAN = range(5)


def threshold(image, level=127, max_value=255, kind=0, method=FIXED,
              block_size=11, offset=2, channels=ours.EACH):
    params = ours.ThresholdParams(level, max_value, kind, method, block_size,
                                  offset, channels)
    return ours.run('threshold', params, image)


def gray_of(image):
    return image if image.ndim == 2 else cv2.cvtColor(image,
                                                      cv2.COLOR_BGR2GRAY)


def like(gray, image):
    """`gray` in as many channels as `image`."""
    return gray if image.ndim == 2 else cv2.merge([gray] * 3)


def all_pictures():
    yield from ours.grays()
    yield from ours.colors()


class Invert(unittest.TestCase):
    def test_8_bits(self):
        for name, image in all_pictures():
            result, _ = ours.run('invert', ours.InvertParams(False), image)
            ours.compare(self, result, cv2.bitwise_not(image), 0, name)

    def test_16_bits(self):
        image = np.random.default_rng(1).integers(0, 65536, (31, 57),
                                                  np.uint16)
        result, _ = ours.run('invert', ours.InvertParams(False), image)
        ours.compare(self, result, 65535 - image, 0, 'GRAY16')

    def test_alpha(self):
        image = np.random.default_rng(2).integers(0, 256, (9, 13, 4), np.uint8)
        for fmt, alpha in [('RGBA', 3), ('BGRA', 3), ('ARGB', 0), ('ABGR', 0)]:
            for inverted in [False, True]:
                result, _ = ours.run_block(
                    'invert', ours.InvertParams(inverted), fmt, 13, 9, image)
                expected = 255 - image
                if not inverted:
                    expected[..., alpha] = image[..., alpha]
                ours.compare(self, result.reshape(image.shape), expected, 0,
                             f'{fmt} invert_alpha {inverted}')


class Fixed(unittest.TestCase):
    def test_each_channel(self):
        for name, image in all_pictures():
            for level in [0, 1, 29.5, 127, 200, 254, 255]:
                for max_value in [255, 128, 200.5, 0]:
                    for kind, flag in enumerate(TYPES):
                        result, computed = threshold(image, level, max_value,
                                                     kind)
                        _, expected = cv2.threshold(image, level, max_value,
                                                    flag)
                        what = f'{name} level {level} max {max_value} {kind}'
                        ours.compare(self, result, expected, 0, what)
                        self.assertEqual(computed, -1, what)

    def test_luma(self):
        for name, image in ours.colors():
            for kind, flag in enumerate(TYPES):
                result, _ = threshold(image, 100, 255, kind,
                                      channels=ours.LUMA)
                _, expected = cv2.threshold(gray_of(image), 100, 255, flag)
                ours.compare(self, result, like(expected, image), 0,
                             f'{name} {kind}')

    def test_16_bits(self):
        image = np.random.default_rng(3).integers(0, 65536, (31, 57),
                                                  np.uint16)
        for kind, flag in enumerate(TYPES):
            result, _ = threshold(image, 100, 200, kind)
            _, expected = cv2.threshold(image.astype(np.float32), 100 * 257,
                                        200 * 257, flag)
            ours.compare(self, result, expected.astype(np.uint16), 0,
                         f'GRAY16 {kind}')


class Luma(unittest.TestCase):
    """TOZERO at level 0 writes the luma itself."""

    def test_equals_cvtcolor(self):
        for name, image in ours.colors():
            result, _ = threshold(image, 0, 255, 3, channels=ours.LUMA)
            ours.compare(self, result, like(gray_of(image), image), 0, name)


class Automatic(unittest.TestCase):
    """Otsu and triangle. The level itself is compared where it is unique:
    between the two levels of a picture any level is as good."""

    def check(self, method, flag):
        unique = ['random', 'coins', *dict(ours.photographs())]
        for name, image in all_pictures():
            for kind in range(5):
                result, computed = threshold(image, 127, 255, kind, method)
                level, expected = cv2.threshold(gray_of(image), 127, 255,
                                                TYPES[kind] | flag)
                if kind != 2 or name in unique:  # TRUNC writes the level
                    ours.compare(self, result, like(expected, image), 0,
                                 f'{name} {kind}')
                if name in unique:
                    self.assertEqual(computed, level, name)

    def test_otsu(self):
        self.check(OTSU, cv2.THRESH_OTSU)

    def test_triangle(self):
        self.check(TRIANGLE, cv2.THRESH_TRIANGLE)

    def test_otsu_16_bits(self):
        for name, gray in ours.grays():
            random = np.random.default_rng(4)
            image = gray.astype(np.uint16) * 256 \
                + random.integers(0, 256, gray.shape, np.uint16)
            result, _ = threshold(image, method=OTSU)
            _, expected = cv2.threshold(image, 0, 65535,
                                        cv2.THRESH_BINARY | cv2.THRESH_OTSU)
            ours.compare(self, result, expected, 0, name)


class Adaptive(unittest.TestCase):
    def cases(self):
        for block_size in [3, 5, 7, 11, 31, 99]:
            for offset in [2, 0, -7, 7.5]:
                for kind in [0, 1]:
                    yield block_size, offset, kind

    def differing(self, image, method, flag, block_size, offset, kind):
        result, _ = threshold(image, 127, 200, kind, method, block_size,
                              offset)
        expected = cv2.adaptiveThreshold(gray_of(image), 200, flag,
                                         TYPES[kind], block_size, offset)
        return result, like(expected, image)

    def test_mean(self):
        for name, image in all_pictures():
            for case in self.cases():
                result, expected = self.differing(
                    image, ADAPTIVE_MEAN, cv2.ADAPTIVE_THRESH_MEAN_C, *case)
                ours.compare(self, result, expected, 0, f'{name} {case}')

    def test_gaussian(self):
        """At most one pixel in 500 falls to the other side."""
        for name, image in all_pictures():
            for case in self.cases():
                result, expected = self.differing(
                    image, ADAPTIVE_GAUSSIAN, cv2.ADAPTIVE_THRESH_GAUSSIAN_C,
                    *case)
                share = np.mean(result != expected)
                self.assertLessEqual(share, 0.002, f'{name} {case}')
