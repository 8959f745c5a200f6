"""The same picture in other formats. Every RGB format gives exactly what BGR
gives. YUV gives what the operation on the RGB it stands for gives, within the
tolerance written at each test; the conversion is done here in float64 and
without clipping, so that it has no error of its own."""
import unittest

import cv2
import numpy as np

import imgoracle as ours

# Order of the channels and whether each has its own plane.
RGB_FORMATS = [('RGB', 'RGB', False), ('BGR', 'BGR', False),
               ('RGBA', 'RGBA', False), ('BGRA', 'BGRA', False),
               ('ARGB', 'ARGB', False), ('ABGR', 'ABGR', False),
               ('RGBx', 'RGBA', False), ('BGRx', 'BGRA', False),
               ('xRGB', 'ARGB', False), ('xBGR', 'ABGR', False),
               ('RGBP', 'RGB', True), ('BGRP', 'BGR', True),
               ('GBR', 'GBR', True), ('GBRA', 'GBRA', True)]

OPERATIONS = [
    ('invert', ours.InvertParams(False)),
    ('threshold', ours.ThresholdParams(100, 200, 0, 0, 11, 2, ours.EACH)),
    ('threshold', ours.ThresholdParams(100, 200, 3, 0, 11, 2, ours.LUMA)),
    ('threshold', ours.ThresholdParams(0, 255, 0, 1, 11, 2, ours.LUMA)),
    ('threshold', ours.ThresholdParams(0, 255, 0, 3, 11, 2, ours.LUMA)),
    ('sobel', ours.SobelParams(0, 0, 3, 0, 0, 1, 0, 0, ours.EACH)),
    ('sobel', ours.SobelParams(1, 0, 5, 0, 2, 1, 0, 1, ours.LUMA)),
    ('gaussian', ours.GaussianParams(7, 5, 0, 0, 4)),
    ('fftmag', ours.FftmagParams(0, True, 0, 0, 20, 1)),
]


class RgbFormats(unittest.TestCase):
    def test_same_in_every_layout(self):
        _, image = next(ours.photographs())
        image = np.ascontiguousarray(image[:51, :77])
        alpha = np.random.default_rng(3).integers(0, 256, image.shape[:2],
                                                  np.uint8)
        planes = dict(zip('BGRA', [*cv2.split(image), alpha]))
        for operation, params in OPERATIONS:
            expected = dict(zip('BGR', cv2.split(
                ours.run(operation, params, image)[0])), A=alpha)
            for fmt, order, planar in RGB_FORMATS:
                axis = 0 if planar else 2
                block = np.stack([planes[c] for c in order], axis)
                result, _ = ours.run_block(operation, params, fmt, 77, 51,
                                           block)
                theirs = np.stack([expected[c] for c in order], axis)
                ours.compare(self, result.reshape(theirs.shape), theirs, 0,
                             f'{operation} {fmt}')


class Yuv:
    """One YUV format, whose pictures are three float64 arrays here. Names that
    swap the chroma planes, or lay them out otherwise, are handled alike."""

    def __init__(self, fmt, order, depth, shift, x_sub, y_sub, full):
        self.fmt, self.order, self.depth, self.shift = fmt, order, depth, shift
        self.x_sub, self.y_sub, self.full = x_sub, y_sub, full
        self.dtype = np.uint8 if depth == 8 else np.uint16
        scale = 1 << (depth - 8)
        top = (1 << depth) - 1
        self.black, self.white = (0, top) if full else (16 * scale,
                                                        235 * scale)
        self.neutral = 128 * scale
        self.chroma_span = top if full else 224 * scale

    def __str__(self):
        return f'{self.fmt} {"full" if self.full else "limited"}'

    def upsample(self, plane, height, width):
        """Chroma on the left column and between two lines, linearly."""
        rows = np.arange(height) if not self.y_sub else \
            (np.arange(height) - 0.5) / 2
        columns = np.arange(width) / (1 + self.x_sub)
        x, y = np.meshgrid(columns, rows)
        return cv2.remap(plane.astype(np.float32), x.astype(np.float32),
                         y.astype(np.float32), cv2.INTER_LINEAR,
                         borderMode=cv2.BORDER_REPLICATE).astype(np.float64)

    def downsample(self, plane):
        """The inverse: a triangle across, the mean of two lines."""
        if self.y_sub:
            plane = np.vstack([plane, plane[-1:]])
            plane = (plane[0:-1:2] + plane[1::2]) / 2
        if self.x_sub:
            plane = cv2.sepFilter2D(plane, cv2.CV_64F, np.array([.25, .5, .25]),
                                    np.array([1.0]))[:, ::2]
        return plane

    def encode(self, bgr):
        """The block of a BGR picture of 8 bits, BT.601."""
        b, g, r = (c / 255 for c in cv2.split(bgr.astype(np.float64)))
        y = 0.299 * r + 0.587 * g + 0.114 * b
        u, v = (b - y) / 1.772, (r - y) / 1.402
        planes = [y * (self.white - self.black) + self.black] + [
            self.downsample(c) * self.chroma_span + self.neutral
            for c in (u, v)]
        top = (1 << self.depth) - 1
        y, u, v = (np.clip(np.rint(p), 0, top).astype(self.dtype)
                   << self.shift for p in planes)
        parts = {'Y': y, 'U': u, 'V': v, 'C': np.dstack([u, v]),
                 'D': np.dstack([v, u])}
        return np.concatenate([parts[p].reshape(-1) for p in self.order])

    def split(self, block, width, height):
        """Y, U, V in units of the depth."""
        data = block.view(self.dtype).astype(np.float64) / (1 << self.shift)
        shape = ((height + self.y_sub) >> self.y_sub,
                 (width + self.x_sub) >> self.x_sub)
        size, at, planes = shape[0] * shape[1], width * height, {}
        planes['Y'] = data[:at].reshape(height, width)
        for part in self.order[1:]:
            if part in 'UV':
                planes[part] = data[at:at + size].reshape(shape)
                at += size
            else:
                pair = data[at:].reshape(*shape, 2)
                first, second = 'UV' if part == 'C' else 'VU'
                planes[first], planes[second] = pair[..., 0], pair[..., 1]
        return planes['Y'], planes['U'], planes['V']

    def decode(self, block, width, height):
        """BGR on the 8-bit scale, float64, not clipped."""
        y, u, v = self.split(block, width, height)
        y = (y - self.black) / (self.white - self.black)
        u, v = ((self.upsample(c, height, width) - self.neutral)
                / self.chroma_span for c in (u, v))
        r, b = y + 1.402 * v, y + 1.772 * u
        g = (y - 0.299 * r - 0.114 * b) / 0.587
        return np.dstack([b, g, r]) * 255


FORMATS = [Yuv(*args, full) for full in (False, True) for args in [
    ('I420', 'YUV', 8, 0, 1, 1), ('YV12', 'YVU', 8, 0, 1, 1),
    ('NV12', 'YC', 8, 0, 1, 1), ('NV21', 'YD', 8, 0, 1, 1),
    ('Y42B', 'YUV', 8, 0, 1, 0), ('Y444', 'YUV', 8, 0, 0, 0),
    ('P010_10LE', 'YC', 10, 6, 1, 1), ('P016_LE', 'YC', 16, 0, 1, 1),
    ('I420_10LE', 'YUV', 10, 0, 1, 1), ('Y444_16LE', 'YUV', 16, 0, 0, 0)]]


class YuvFormats(unittest.TestCase):
    def cases(self):
        """Format, photograph as block, size, and the RGB it stands for."""
        for name, image in ours.photographs():
            image = np.ascontiguousarray(image[:101, :151])
            height, width = image.shape[:2]
            for yuv in FORMATS:
                block = yuv.encode(image)
                bgr = yuv.decode(block, width, height)
                yield f'{name} {yuv}', yuv, block, width, height, bgr

    def run_yuv(self, operation, params, yuv, block, width, height):
        result, computed = ours.run_block(operation, params, yuv.fmt, width,
                                          height, block, yuv.full)
        return result, computed, yuv.decode(result, width, height)

    def test_conversion(self):
        """That the conversion here is right: against OpenCV's, which works in
        limited range, BT.601, with chroma repeated: 2 levels on a flat."""
        for color in [(0, 0, 0), (255, 255, 255), (30, 200, 90),
                      (255, 0, 0), (0, 255, 0), (0, 0, 255)]:
            image = np.full((16, 16, 3), color, np.uint8)
            ours.compare(self, FORMATS[0].encode(image).reshape(24, 16),
                         cv2.cvtColor(image, cv2.COLOR_BGR2YUV_I420), 2,
                         str(color))
            back = FORMATS[0].decode(FORMATS[0].encode(image), 16, 16)
            self.assertLess(np.abs(back - image).max(), 2, str(color))

    def test_invert(self):
        """A thousandth of a level: both are the same affine map. (Full-range
        luma mirrors about 127.5, chroma about 128, as its neutral is.)"""
        for name, yuv, block, width, height, bgr in self.cases():
            _, _, result = self.run_yuv('invert', ours.InvertParams(False),
                                        yuv, block, width, height)
            self.assertLess(np.abs(result - (255 - bgr)).max(), 1e-3, name)

    def test_gaussian(self):
        """Rounding luma costs half a level, rounding chroma 1.772 / 2 more,
        and filtering it at half resolution what is left: 3 levels at worst, half
        a level on average."""
        for name, yuv, block, width, height, bgr in self.cases():
            for size, sigma in [(9, 2), (15, 0), (31, 5)]:
                params = ours.GaussianParams(size, size, sigma, sigma, 1)
                _, _, result = self.run_yuv('gaussian', params, yuv, block,
                                            width, height)
                theirs = cv2.GaussianBlur(bgr, (size, size), sigma,
                                          borderType=cv2.BORDER_REPLICATE)
                error = np.abs(result - theirs)
                self.assertLess(error.max(), 3, f'{name} {size}')
                self.assertLess(error.mean(), 0.5, f'{name} {size}')

    def test_threshold(self):
        """Exact: the luma of the RGB is Y."""
        weights = np.array([0.114, 0.587, 0.299])
        for name, yuv, block, width, height, bgr in self.cases():
            for level in [60.3, 127.2, 200.1]:
                params = ours.ThresholdParams(level, 255, 0, 0, 11, 2,
                                              ours.EACH)
                _, _, result = self.run_yuv('threshold', params, yuv, block,
                                            width, height)
                theirs = np.where(bgr @ weights > level, 255.0, 0.0)
                self.assertLess(np.abs(result - theirs[..., None]).max(), 1e-6,
                                f'{name} {level}')

    def test_sobel(self):
        """Rounding costs half a level of luma."""
        weights = np.array([0.114, 0.587, 0.299])
        for name, yuv, block, width, height, bgr in self.cases():
            params = ours.SobelParams(0, 0, 3, 0, 0, 1, 0, 1, ours.EACH)
            _, _, result = self.run_yuv('sobel', params, yuv, block, width,
                                        height)
            luma = bgr @ weights
            gx, gy = (cv2.Sobel(luma, cv2.CV_64F, dx, 1 - dx, ksize=3,
                                borderType=cv2.BORDER_REPLICATE)
                      for dx in (1, 0))
            theirs = np.clip(np.hypot(gx, gy), 0, 255)
            self.assertLess(np.abs(result - theirs[..., None]).max(), 0.6,
                            name)

    def test_fftmag(self):
        """One level of luma, as for grey pictures."""
        weights = np.array([0.114, 0.587, 0.299])
        for name, yuv, block, width, height, bgr in self.cases():
            params = ours.FftmagParams(0, True, 0, 0, 20, 0)
            _, _, result = self.run_yuv('fftmag', params, yuv, block, width,
                                        height)
            value = np.fft.fftshift(np.log1p(np.abs(
                np.fft.fft2(bgr @ weights))))
            theirs = 255 * (value - value.min()) / np.ptp(value)
            self.assertLess(np.abs(result - theirs[..., None]).max(), 1.2,
                            name)
