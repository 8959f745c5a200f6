"""resize against cv2.resize: nearest, and area by integer factors, equal; the
others within one level of 8 bits."""
import unittest

import cv2
import numpy as np

import imgoracle as ours

NEAREST, LINEAR, CUBIC, AREA, LANCZOS = range(5)
FLAGS = [cv2.INTER_NEAREST, cv2.INTER_LINEAR, cv2.INTER_CUBIC, cv2.INTER_AREA,
         cv2.INTER_LANCZOS4]
SIZES = [(1, 1), (1, 7), (2, 3), (16, 16), (33, 9), (50, 120), (101, 57),
         (200, 200), (311, 200), (400, 400), (777, 13), (640, 401)]


def resize(image, width, height, method, rectangle=(0, 0, 0, 0)):
    fmt = 'BGR' if image.ndim == 3 else \
        'GRAY8' if image.dtype == np.uint8 else 'GRAY16_LE'
    result, _ = ours.run_between(
        'resize', ours.ResizeParams(method, *rectangle),
        (fmt, image.shape[1], image.shape[0], 0), image,
        (fmt, width, height, 0))
    return result.view(image.dtype).reshape(height, width, *image.shape[2:])


class Resize(unittest.TestCase):
    def check(self, name, image, width, height, method, tolerance):
        theirs = cv2.resize(image, (width, height),
                            interpolation=FLAGS[method])
        ours.compare(self, resize(image, width, height, method), theirs,
                     tolerance, f'{name} {image.shape} to {width}x{height} '
                     f'method {method}')

    def check_all(self, method, tolerance):
        for name, image in [*ours.grays(), *ours.colors()]:
            for width, height in SIZES:
                self.check(name, image, width, height, method, tolerance)

    def test_nearest(self):
        self.check_all(NEAREST, 0)

    def test_linear(self):
        self.check_all(LINEAR, 1)

    def test_cubic(self):
        self.check_all(CUBIC, 1)

    def test_area(self):
        self.check_all(AREA, 1)

    def test_lanczos(self):
        self.check_all(LANCZOS, 1)

    def test_integer_factors(self):
        """Area is exact, and so is linear by two, which is the same."""
        for shape in [(3, 5), (3, 5, 3), (20, 31), (20, 31, 3)]:
            for fx in range(1, 9):
                for fy in range(1, 9):
                    whole = (shape[0] * fy, shape[1] * fx, *shape[2:])
                    random = np.random.default_rng(fx * 10 + fy)
                    image = random.integers(0, 256, whole, np.uint8)
                    self.check(f'{fx}x{fy}', image, shape[1], shape[0], AREA,
                               0)
                    if fx == fy == 2:
                        self.check('2x2', image, shape[1], shape[0], LINEAR,
                                   0)

    def test_same_size(self):
        for name, image in [*ours.grays(), *ours.colors()]:
            for method in range(5):
                result = resize(image, image.shape[1], image.shape[0], method)
                ours.compare(self, result, image, 0, f'{name} {method}')

    def test_flat_stays_flat(self):
        for value in [0, 1, 77, 254, 255]:
            image = np.full((31, 45), value, np.uint8)
            for method in range(5):
                for width, height in SIZES:
                    result = resize(image, width, height, method)
                    self.assertTrue((result == value).all(),
                                    f'{value} {width}x{height} {method}')

    def test_16_bits(self):
        """Within 2 of 65535: OpenCV adds up float32 in another order, and
        has float32 positions."""
        image = np.random.default_rng(6).integers(0, 65536, (41, 67),
                                                  np.uint16)
        self.check('16 bits', image, 100, 100, NEAREST, 0)
        for method in [LINEAR, CUBIC, AREA, LANCZOS]:
            for width, height in [(134, 82), (67, 41), (33, 20), (100, 11)]:
                self.check('16 bits', image, width, height, method, 2)

    def test_rectangle(self):
        """Black around, and inside what a picture of that size would be."""
        for name, image in ours.photographs():
            for method in range(5):
                result = resize(image, 200, 150, method, (11, 7, 120, 130))
                inside = resize(image, 120, 130, method)
                expected = np.zeros((150, 200, 3), np.uint8)
                expected[7:137, 11:131] = inside
                ours.compare(self, result, expected, 0, f'{name} {method}')


class Chroma(unittest.TestCase):
    """A picture whose values are linear in x and y stays so, away from the
    edges, where luma and chroma lie right."""

    @staticmethod
    def ramp(width, height, step, left, top):
        """Samples `step` apart, the first at (left, top), in luma pixels."""
        x = np.arange(width) * step + left
        y = np.arange(height) * step + top
        return x[None, :], y[:, None]

    def check(self, fmt, size, x_slope, y_slope):
        # chroma on the left luma column, between two lines (MPEG-2)
        width, height = 64, 48
        x, y = self.ramp(width, height, 1, 0.5, 0.5)
        cx, cy = self.ramp(width // 2, height // 2, 2, 0.5, 1)
        planes = [x_slope * a + y_slope * b + 500
                  for a, b in [(x, y), (cx, cy), (cx, cy)]]
        block = np.concatenate([np.rint(p).astype(np.uint16).reshape(-1)
                                for p in planes])
        for method in [LINEAR, CUBIC, AREA, LANCZOS]:
            if method == AREA and (size[0] > width or size[1] > height):
                continue  # it makes blocks of a ramp
            out, _ = ours.run_between('resize', ours.ResizeParams(method),
                                      (fmt, width, height, 0), block,
                                      (fmt, *size, 0))
            out = out.view(np.uint16)
            x, y = self.ramp(size[0] // 2, size[1] // 2, 2, 0.5, 1)
            expected = (x * width / size[0] * x_slope
                        + y * height / size[1] * y_slope + 500)
            n = size[0] * size[1]
            for got in [out[n:n + n // 4], out[n + n // 4:]]:
                got = got.reshape(expected.shape)
                inner = np.s_[expected.shape[0] // 4:-expected.shape[0] // 4,
                              expected.shape[1] // 4:-expected.shape[1] // 4]
                error = np.abs(got[inner] - expected[inner]).max()
                self.assertLess(error, 2, f'{fmt} {size} method {method}')

    def test_stays_in_place(self):
        """In steps of 10: a shift of a quarter of a pixel would be 2.5."""
        for size in [(32, 24), (128, 96), (96, 96), (40, 30), (128, 24)]:
            self.check('I420_10LE', size, 5, 0)
            self.check('I420_10LE', size, 0, 8)


if __name__ == '__main__':
    unittest.main()
