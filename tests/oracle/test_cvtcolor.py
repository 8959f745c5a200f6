"""cvtcolor against OpenCV's cvtColor, equal, and against a conversion in
float64 by the formulas of ITU-T H.273, within 1."""
import itertools
import unittest

import cv2
import numpy as np

import imgoracle as ours

PACKED = {'RGB': 'RGB', 'BGR': 'BGR', 'RGBA': 'RGBA', 'BGRA': 'BGRA',
          'ARGB': 'ARGB', 'ABGR': 'ABGR', 'RGBx': 'RGBx', 'BGRx': 'BGRx',
          'xRGB': 'xRGB', 'xBGR': 'xBGR'}
PLANAR = {'RGBP': 'RGB', 'BGRP': 'BGR', 'GBR': 'GBR', 'GBRA': 'GBRA'}
# bits, zero bits below them, x and y subsampling, order of the chroma, and
# whether chroma is in one plane
YUV = {'I420': (8, 0, 2, 2, 'UV', False), 'YV12': (8, 0, 2, 2, 'VU', False),
       'NV12': (8, 0, 2, 2, 'UV', True), 'NV21': (8, 0, 2, 2, 'VU', True),
       'Y42B': (8, 0, 2, 1, 'UV', False), 'Y444': (8, 0, 1, 1, 'UV', False),
       'P010_10LE': (10, 6, 2, 2, 'UV', True),
       'P016_LE': (16, 0, 2, 2, 'UV', True),
       'I420_10LE': (10, 0, 2, 2, 'UV', False),
       'Y444_16LE': (16, 0, 1, 1, 'UV', False)}
KR = [0.299, 0.2126, 0.2627]
KB = [0.114, 0.0722, 0.0593]


class Shape:
    """A picture's format and all that its numbers depend on."""

    def __init__(self, fmt, width, height, full=False, matrix=0, siting=1):
        self.fmt, self.width, self.height = fmt, width, height
        self.full, self.matrix, self.siting = full, matrix, siting
        self.yuv = fmt in YUV
        self.bits, self.shift, self.sx, self.sy, self.order, self.semi = \
            YUV.get(fmt, (16 if '16' in fmt else 8, 0, 1, 1, '', False))
        self.type = np.uint8 if self.bits == 8 else np.uint16
        self.max = (1 << self.bits) - 1

    def arguments(self):
        return (self.fmt, self.width, self.height, self.full,
                self.matrix + 1, self.siting + 1, not self.full)

    def scale(self, chroma):
        """Offset and range of a component."""
        unit = 1 << (self.bits - 8)
        if chroma:
            return self.max // 2 + 1, self.max if self.full else 224 * unit
        if self.full or not (self.yuv or 'GRAY' in self.fmt):
            return 0, self.max
        return 16 * unit, 219 * unit

    def join(self, planes):
        """The bytes of components Y U V, R G B A or grey."""
        planes = [np.asarray(p).astype(self.type) << self.shift
                  for p in planes]
        if self.fmt in PACKED:
            named = dict(zip('RGBA', planes))
            named['x'] = np.full_like(planes[0], self.max)
            blocks = [np.dstack([named[c] for c in PACKED[self.fmt]])]
        elif self.fmt in PLANAR:
            named = dict(zip('RGBA', planes))
            blocks = [named[c] for c in PLANAR[self.fmt]]
        elif self.yuv:
            named = dict(zip('YUV', planes))
            chroma = [named[c] for c in self.order]
            blocks = [planes[0]] + ([np.dstack(chroma)] if self.semi
                                    else chroma)
        else:
            blocks = planes[:1]
        return np.concatenate([b.reshape(-1) for b in blocks])

    def random(self, random):
        """Components with all values, past the limits of their range too."""
        chroma = (-(-self.height // self.sy), -(-self.width // self.sx))
        shapes = [(self.height, self.width)] + (
            [chroma] * 2 if self.yuv else [(self.height, self.width)] * 3)
        return [random.integers(0, self.max + 1, s) for s in shapes]


def up(a, axis, cosited):
    """Twice the samples, linearly."""
    a = np.moveaxis(a, axis, 0)
    after = np.concatenate([a[1:], a[-1:]])
    before = np.concatenate([a[:1], a[:-1]])
    result = np.empty((2 * len(a), *a.shape[1:]))
    if cosited:
        result[::2], result[1::2] = a, (a + after) / 2
    else:
        result[::2], result[1::2] = (before + 3 * a) / 4, (3 * a + after) / 4
    return np.moveaxis(result, 0, axis)


def down(a, axis, cosited):
    """Half the samples."""
    a = np.moveaxis(a, axis, 0)
    after = np.concatenate([a[1:], a[-1:]])
    before = np.concatenate([a[:1], a[:-1]])
    result = (before + 2 * a + after) / 4 if cosited else (a + after) / 2
    return np.moveaxis(result[::2], 0, axis)


def move(a, axis, cosited):
    """As many samples, from one place to the other; `cosited`: those before."""
    a = np.moveaxis(a, axis, 0)
    near = np.concatenate([a[1:], a[-1:]] if cosited else [a[:1], a[:-1]])
    return np.moveaxis((3 * a + near) / 4, 0, axis)


def resample(a, source, result):
    """Chroma of `source` where `result` has its samples; None: at luma."""
    for axis, bit in [(0, 2), (1, 1)]:
        sub = [1 if s is None else (s.sx, s.sy)[axis == 0]
               for s in (source, result)]
        site = [s is not None and bool(s.siting & bit)
                for s in (source, result)]
        if sub[0] > sub[1]:
            a = up(a, axis, site[0])
        elif sub[0] < sub[1]:
            a = down(a, axis, site[1])
        elif sub[0] == 2 and site[0] != site[1]:
            a = move(a, axis, site[0])
    return a


def to_rgb(y, u, v, matrix):
    kr, kb = KR[matrix], KB[matrix]
    r, b = y + 2 * (1 - kr) * v, y + 2 * (1 - kb) * u
    return r, (y - kr * r - kb * b) / (1 - kr - kb), b


def to_yuv(r, g, b, matrix):
    kr, kb = KR[matrix], KB[matrix]
    y = kr * r + (1 - kr - kb) * g + kb * b
    return y, (b - y) / (2 * (1 - kb)), (r - y) / (2 * (1 - kr))


def convert(planes, source, result):
    """The components of the result, in float64, rounded at the end."""
    gray = 'GRAY' in source.fmt
    has_alpha = 'A' in source.fmt and not gray
    alpha = planes[3] if has_alpha else np.full(planes[0].shape, 200)
    n = [(p - offset) / size for p, (offset, size) in
         zip(planes, [source.scale(source.yuv and i > 0) for i in range(3)])]
    if gray:
        n = [n[0], 0 * n[0], 0 * n[0]]
    if source.yuv and result.yuv:
        low = [resample(c, source, result) for c in n[1:]]
        full = [resample(c, source, None)[:source.height, :source.width]
                for c in n[1:]]
        crop = [-(-source.height // result.sy), -(-source.width // result.sx)]
        low = [c[:crop[0], :crop[1]] for c in low]
        values = [n[0], *low]
        if source.matrix != result.matrix:
            values[0] = to_yuv(*to_rgb(n[0], *full, source.matrix),
                               result.matrix)[0]
            values[1:] = to_yuv(*to_rgb(0, *low, source.matrix),
                                result.matrix)[1:]
    elif result.yuv and gray:
        values = [n[0], *(resample(c, None, result) for c in n[1:])]
    elif result.yuv:
        y, u, v = to_yuv(*n, result.matrix)
        values = [y, resample(u, None, result), resample(v, None, result)]
    elif 'GRAY' in result.fmt:
        values = [n[0]] if source.yuv or gray else \
            [to_yuv(*n, 0)[0]]
    elif source.yuv:
        full = [resample(c, source, None)[:source.height, :source.width]
                for c in n[1:]]
        values = list(to_rgb(n[0], *full, source.matrix))
    else:
        values = [n[0]] * 3 if gray else n
    values = [v * size + offset for v, (offset, size) in
              zip(values, [result.scale(result.yuv and i > 0)
                           for i in range(3)])]
    # a half is one in spite of the error of float64
    return [np.clip(np.rint(np.round(v, 6)), 0, result.max)
            for v in values] + [alpha]


def run(planes, source, result, alpha=200):
    return ours.run_between('cvtcolor', ours.CvtcolorParams(alpha),
                            source.arguments(), source.join(planes),
                            result.arguments())[0].view(result.type)


class OpenCV(unittest.TestCase):
    def test_gray(self):
        for name, image in ours.colors():
            height, width = image.shape[:2]
            expected = cv2.cvtColor(image, cv2.COLOR_BGR2GRAY)
            for fmt, letters in PACKED.items():
                planes = [image[..., 2], image[..., 1], image[..., 0],
                          image[..., 0]]
                result = run(planes, Shape(fmt, width, height),
                             Shape('GRAY8', width, height, True))
                ours.compare(self, result.reshape(height, width), expected, 0,
                             f'{name} {fmt}')

    def test_order(self):
        for name, image in ours.colors():
            height, width = image.shape[:2]
            shape = Shape('BGR', width, height)
            for fmt, code in [('RGB', cv2.COLOR_BGR2RGB),
                              ('RGBA', cv2.COLOR_BGR2RGBA),
                              ('BGRA', cv2.COLOR_BGR2BGRA)]:
                expected = cv2.cvtColor(image, code)
                planes = [image[..., i] for i in (2, 1, 0)]
                result = run(planes, shape, Shape(fmt, width, height), 255)
                ours.compare(self, result.reshape(expected.shape), expected, 0,
                             f'{name} {fmt}')

    def test_from_gray(self):
        for name, gray in ours.grays():
            height, width = gray.shape
            result = run([gray], Shape('GRAY8', width, height, True),
                         Shape('BGR', width, height))
            ours.compare(self, result.reshape(height, width, 3),
                         cv2.cvtColor(gray, cv2.COLOR_GRAY2BGR), 0, name)

    def test_full_range_601(self):
        """OpenCV's YUV is BT.601 in full range, 4:4:4."""
        for name, image in ours.colors():
            height, width = image.shape[:2]
            ycrcb = cv2.cvtColor(image, cv2.COLOR_BGR2YCrCb)
            result = run([image[..., i] for i in (2, 1, 0)],
                         Shape('BGR', width, height),
                         Shape('Y444', width, height, True))
            ours.compare(self, result.reshape(3, height, width),
                         np.moveaxis(ycrcb[..., [0, 2, 1]], 2, 0), 1, name)


class Float64(unittest.TestCase):
    def check(self, source, result, tolerance=1):
        random = np.random.default_rng(source.width)
        planes = source.random(random)
        expected = result.join(convert(planes, source, result))
        actual = run(planes, source, result)
        if result.shift:
            actual, expected = actual >> result.shift, expected >> result.shift
        what = f'{vars(source)} to {vars(result)}'
        ours.compare(self, actual, expected, tolerance, what)
        # rounding to nearest, but for the halves that float32 misses
        self.assertLess(np.mean(actual != expected),
                        0.005 if result.bits == 8 else 0.05, what)

    def variants(self, fmt, width, height):
        if fmt in YUV:
            for full, matrix in itertools.product([False, True], range(3)):
                yield Shape(fmt, width, height, full, matrix, matrix)
            yield Shape(fmt, width, height, False, 1, 3)
        elif 'GRAY' in fmt:
            yield Shape(fmt, width, height, True)
            yield Shape(fmt, width, height, False)
        else:
            yield Shape(fmt, width, height)

    def check_all(self, sources, results):
        for source, result in itertools.product(sources, results):
            for width, height in [(37, 22), (300, 5)]:
                for s in self.variants(source, width, height):
                    for r in self.variants(result, width, height):
                        self.check(s, r)

    def test_rgb_to_yuv(self):
        self.check_all(['RGB', 'BGRA', 'GBR'], YUV)

    def test_yuv_to_rgb(self):
        self.check_all(YUV, ['BGR', 'RGBA', 'xRGB', 'GBRA'])

    def test_yuv_to_yuv(self):
        self.check_all(['NV12', 'Y42B', 'Y444', 'P010_10LE', 'Y444_16LE'],
                       ['I420', 'NV21', 'Y42B', 'Y444', 'I420_10LE',
                        'P016_LE'])

    def test_gray(self):
        self.check_all(['GRAY8', 'GRAY16_LE'], ['RGB', 'GBRA', 'NV12',
                                                'Y444_16LE', 'GRAY8',
                                                'GRAY16_LE'])
        self.check_all(['NV12', 'P010_10LE'], ['GRAY8', 'GRAY16_LE'])

    def test_rgb_to_rgb(self):
        self.check_all([*PACKED, *PLANAR], [*PACKED, *PLANAR])

    def test_unchanged(self):
        """The same matrix, range and siting: copies in another layout."""
        random = np.random.default_rng(5)
        for names in [('I420', 'NV12'), ('YV12', 'NV21'), ('NV21', 'I420')]:
            source, result = (Shape(n, 37, 23, False, 1, 2) for n in names)
            planes = source.random(random)
            ours.compare(self, run(planes, source, result),
                         result.join(planes), 0, str(names))
