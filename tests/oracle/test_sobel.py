"""sobel against cv2.Sobel and cv2.Scharr in double precision: exact where the
result is an integer, else within one level."""
import unittest

import cv2
import numpy as np

import imgoracle as ours

MAGNITUDE, X, Y = range(3)
SOBEL, SCHARR = range(2)
L2, L1 = range(2)
ABS, CLIP, OFFSET = range(3)
KERNELS = [(SOBEL, 3), (SOBEL, 5), (SOBEL, 7), (SCHARR, 3)]


def sobel(image, direction=MAGNITUDE, op=SOBEL, size=3, norm=L2, output=ABS,
          scale=1, delta=0, border=0, channels=ours.EACH):
    params = ours.SobelParams(direction, op, size, norm, output, scale, delta,
                              border, channels)
    return ours.run('sobel', params, image)[0]


def derivative(image, dx, dy, op, size, border):
    """In float64. cv2 has no wrap here, so the picture itself grows."""
    flag = ours.BORDERS[border]
    pad = 3 if flag == cv2.BORDER_WRAP else 0
    if pad:
        image = cv2.copyMakeBorder(image, pad, pad, pad, pad, flag)
        flag = cv2.BORDER_REPLICATE
    if op == SCHARR:
        result = cv2.Scharr(image, cv2.CV_64F, dx, dy, borderType=flag)
    else:
        result = cv2.Sobel(image, cv2.CV_64F, dx, dy, ksize=size,
                           borderType=flag)
    return result[pad:-pad, pad:-pad] if pad else result


def expected(image, direction=MAGNITUDE, op=SOBEL, size=3, norm=L2,
             output=ABS, scale=1, delta=0, border=0):
    top = np.iinfo(image.dtype).max
    unit = top // 255
    gx = derivative(image, 1, 0, op, size, border)
    gy = derivative(image, 0, 1, op, size, border)
    if direction == MAGNITUDE:
        g = np.hypot(gx, gy) if norm == L2 else np.abs(gx) + np.abs(gy)
        v = g * scale + delta * unit
    else:
        v = (gx if direction == X else gy) * scale + delta * unit
        if output == ABS:
            v = np.abs(v)
        elif output == OFFSET:
            v = v + 128 * unit
    return np.clip(np.rint(v), 0, top).astype(image.dtype)


class Sobel(unittest.TestCase):
    def check(self, name, image, tolerance, **params):
        ours.compare(self, sobel(image, **params), expected(image, **params),
                     tolerance, f'{name} {params}')

    def test_directions(self):
        for name, image in [*ours.grays(), *ours.colors()]:
            for op, size in KERNELS:
                for direction in [X, Y]:
                    for output in [ABS, CLIP, OFFSET]:
                        self.check(name, image, 0, direction=direction, op=op,
                                   size=size, output=output)

    def test_magnitude(self):
        for name, image in [*ours.grays(), *ours.colors()]:
            for op, size in KERNELS:
                self.check(name, image, 0, op=op, size=size, norm=L1)
                self.check(name, image, 1, op=op, size=size, norm=L2)

    def test_borders(self):
        for name, image in ours.grays():
            for border in range(5):
                for op, size in KERNELS:
                    self.check(name, image, 0, op=op, size=size, norm=L1,
                               border=border)

    def test_scale_and_delta(self):
        for name, image in [*ours.grays(), *ours.colors()]:
            for scale, delta in [(0.25, 0), (-1, 255), (2.5, -30), (0.1, 7.5)]:
                for direction in [MAGNITUDE, X, Y]:
                    for output in [ABS, CLIP, OFFSET]:
                        self.check(name, image, 1, direction=direction,
                                   output=output, scale=scale, delta=delta)

    def test_luma(self):
        for name, image in ours.colors():
            for direction in [MAGNITUDE, X, Y]:
                gray = cv2.cvtColor(image, cv2.COLOR_BGR2GRAY)
                theirs = expected(gray, direction=direction, norm=L1)
                result = sobel(image, direction=direction, norm=L1,
                               channels=ours.LUMA)
                ours.compare(self, result, cv2.merge([theirs] * 3), 0, name)

    def test_16_bits(self):
        image = np.random.default_rng(5).integers(0, 65536, (41, 67),
                                                  np.uint16)
        for op, size in KERNELS:
            for direction in [MAGNITUDE, X, Y]:
                for output in [ABS, CLIP, OFFSET]:
                    self.check('GRAY16', image, 1, direction=direction, op=op,
                               size=size, output=output, scale=0.05, delta=9)
