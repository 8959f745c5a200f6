"""fftmag against numpy.fft in double precision: within one level of what |F|
gives, give or take the error of a transform in float32."""
import unittest

import cv2
import numpy as np

import imgoracle as ours

LOG, LINEAR, POWER, DECIBEL = range(4)
MINMAX, RANGE = range(2)
SCALES = [np.log1p, lambda f: f, np.square,
          lambda f: 20 * np.log10(np.maximum(f, 1))]
WINDOWS = [np.ones, np.hanning, np.hamming, np.blackman]


def fftmag(image, scale=LOG, shift=True, normalize=MINMAX, low=0, high=20,
           window=0):
    params = ours.FftmagParams(scale, shift, normalize, low, high, window)
    return ours.run('fftmag', params, image)[0]


def windowed(luma, window):
    height, width = luma.shape
    return luma * np.outer(WINDOWS[window](height), WINDOWS[window](width))


def magnitude(luma, shift):
    f = np.abs(np.fft.fft2(luma))
    return np.fft.fftshift(f) if shift else f


def rounding_error(luma):
    """Of an element of a float32 transform: a few times the machine's epsilon
    times the norm of the picture, which is all that each element sums."""
    return 4 * np.finfo(np.float32).eps * np.linalg.norm(luma)


def stretch(values, normalize, low, high):
    """To 0..1. Values that differ only by rounding count as equal."""
    if normalize == MINMAX:
        low, high = values.min(), values.max()
        if high - low <= 1e-6 * max(abs(high), 1e-3):
            return np.zeros_like(values), 0, 1
    return np.clip((values - low) / (high - low), 0, 1), low, high


class Fftmag(unittest.TestCase):
    def check(self, name, image, top=255, scale=LOG, shift=True,
              normalize=MINMAX, low=0, high=20, window=0):
        what = f'{name} scale {scale} shift {shift} normalize {normalize} ' \
            f'window {window}'
        luma = image if image.ndim == 2 else cv2.cvtColor(image,
                                                          cv2.COLOR_BGR2GRAY)
        luma = windowed(luma * (255 / top), window)
        result = fftmag(image, scale, shift, normalize, low, high, window)
        f, error = magnitude(luma, shift), rounding_error(luma)
        value, low, high = stretch(SCALES[scale](f), normalize, low, high)
        near = [np.clip((SCALES[scale](np.maximum(f + e, 0)) - low)
                        / (high - low), 0, 1) for e in (-error, error)]
        slack = top / 255 + 0.5
        least = np.minimum(near[0], value) * top - slack
        most = np.maximum(near[1], value) * top + slack
        if value.max() == 0 and normalize == MINMAX:  # all equal: black
            least = most = value
        if image.ndim == 3:
            least, most = (np.dstack([v] * 3) for v in (least, most))
        wrong = (result < least) | (result > most)
        if wrong.any():
            at = tuple(int(i) for i in np.argwhere(wrong)[0])
            self.fail(f'{what}: {wrong.sum()} of {wrong.size} wrong, at {at}: '
                      f'{result[at]}, must be {least[at]:.2f}..{most[at]:.2f}')

    def pictures(self):
        yield from ours.grays()
        yield from ours.colors()
        random = np.random.default_rng(8)
        for width, height in [(97, 101), (128, 64), (127, 1), (1, 131),
                              (45, 75), (2, 7)]:
            yield f'{width}x{height}', random.integers(
                0, 256, (height, width), np.uint8)

    def test_scales(self):
        for name, image in self.pictures():
            for scale in range(4):
                for shift in [True, False]:
                    self.check(name, image, scale=scale, shift=shift)

    def test_windows(self):
        for name, image in self.pictures():
            for window in range(1, 4):
                self.check(name, image, window=window)

    def test_range(self):
        ranges = [(LOG, 0, 20), (LOG, 3, 12), (LINEAR, 0, 5000),
                  (POWER, 100, 1e7), (DECIBEL, -20, 140)]
        for name, image in self.pictures():
            for scale, low, high in ranges:
                self.check(name, image, scale=scale, normalize=RANGE, low=low,
                           high=high)

    def test_16_bits(self):
        random = np.random.default_rng(9)
        image = random.integers(0, 65536, (33, 47), np.uint16)
        for scale in range(4):
            self.check('GRAY16', image, 65535, scale=scale)

    def test_zero_frequency(self):
        """Where the mean of the picture lies, odd sizes too."""
        for width, height in [(8, 6), (7, 5), (1, 4), (5, 1), (31, 32)]:
            image = np.full((height, width), 200, np.uint8)
            for shift, at in [(True, (height // 2, width // 2)),
                              (False, (0, 0))]:
                result = fftmag(image, shift=shift)
                self.assertEqual(result[at], 255, (width, height, shift))
                self.assertEqual(np.count_nonzero(result), 1,
                                 (width, height, shift))

    def test_stripes(self):
        """A cosine of k periods lights the frequencies k and -k."""
        x = np.arange(64)
        row = np.rint(128 + 100 * np.cos(2 * np.pi * 5 * x / 64))
        image = np.tile(row.astype(np.uint8), (48, 1))
        result = fftmag(image, scale=LINEAR)
        brightest = {tuple(int(i) for i in at)
                     for at in np.argwhere(result > 60)}
        self.assertEqual(brightest, {(24, 27), (24, 32), (24, 37)})
