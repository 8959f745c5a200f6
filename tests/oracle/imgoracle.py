"""The operations of libimgoracle as Python functions on NumPy arrays, and the
pictures that the tests use.

IMG_ORACLE_LIBRARY names the library. IMG_ORACLE_BACKEND=cuda runs the CUDA
versions in place of the CPU versions.
"""
import ctypes
import os

import cv2
import numpy as np

try:
    import skimage.data as photos
except ModuleNotFoundError:  # then a scene of soft shapes has to do
    photos = None

# ImgBorder in order, as OpenCV's constants
BORDERS = [cv2.BORDER_REFLECT_101, cv2.BORDER_REPLICATE, cv2.BORDER_REFLECT,
           cv2.BORDER_WRAP, cv2.BORDER_CONSTANT]
EACH, LUMA = 0, 1


class InvertParams(ctypes.Structure):
    _fields_ = [('invert_alpha', ctypes.c_bool)]


class ThresholdParams(ctypes.Structure):
    _fields_ = [('threshold', ctypes.c_double), ('max_value', ctypes.c_double),
                ('type', ctypes.c_int), ('method', ctypes.c_int),
                ('block_size', ctypes.c_int), ('offset', ctypes.c_double),
                ('channels', ctypes.c_int)]


class SobelParams(ctypes.Structure):
    _fields_ = [('direction', ctypes.c_int), ('op', ctypes.c_int),
                ('kernel_size', ctypes.c_int), ('norm', ctypes.c_int),
                ('output', ctypes.c_int), ('scale', ctypes.c_double),
                ('delta', ctypes.c_double), ('border', ctypes.c_int),
                ('channels', ctypes.c_int)]


class GaussianParams(ctypes.Structure):
    _fields_ = [('kernel_width', ctypes.c_int),
                ('kernel_height', ctypes.c_int), ('sigma_x', ctypes.c_double),
                ('sigma_y', ctypes.c_double), ('border', ctypes.c_int)]


class FftmagParams(ctypes.Structure):
    _fields_ = [('scale', ctypes.c_int), ('shift', ctypes.c_bool),
                ('normalize', ctypes.c_int), ('range_min', ctypes.c_double),
                ('range_max', ctypes.c_double), ('window', ctypes.c_int)]


class CvtcolorParams(ctypes.Structure):
    _fields_ = [('alpha', ctypes.c_double)]


class ResizeParams(ctypes.Structure):
    _fields_ = [('method', ctypes.c_int), ('x', ctypes.c_int),
                ('y', ctypes.c_int), ('width', ctypes.c_int),
                ('height', ctypes.c_int)]


class _Picture(ctypes.Structure):
    _fields_ = [('format', ctypes.c_char_p), ('width', ctypes.c_int),
                ('height', ctypes.c_int), ('full_range', ctypes.c_int),
                ('matrix', ctypes.c_int), ('siting', ctypes.c_int),
                ('limited', ctypes.c_int)]


class _Error(ctypes.Structure):
    _fields_ = [('code', ctypes.c_int), ('text', ctypes.c_char * 256)]


_library = ctypes.CDLL(os.environ['IMG_ORACLE_LIBRARY'])
_library.oracle_size.restype = ctypes.c_size_t
_cuda = int(os.environ.get('IMG_ORACLE_BACKEND', 'cpu') == 'cuda')


def run_between(operation, params, source, block, result):
    """Runs on a picture in any format, a one-dimensional array of bytes.
    `source` and `result`: format, width, height, whether YUV is full range,
    and where it matters what else oracle.c has in a Picture.
    Returns the result and the threshold that was computed."""
    pictures = (_Picture * 2)(*((fmt.encode(), *rest)
                                for fmt, *rest in (source, result)))
    sizes = [_library.oracle_size(ctypes.byref(p)) for p in pictures]
    src = np.ascontiguousarray(block).view(np.uint8).reshape(-1)
    assert src.size == sizes[0], f'{source}: {src.size} != {sizes[0]}'
    dst = np.full(sizes[1], 0xa5, np.uint8)
    computed, error = ctypes.c_double(), _Error()
    if _library.oracle_run(operation.encode(), _cuda, pictures,
                           ctypes.byref(params),
                           src.ctypes.data_as(ctypes.c_void_p),
                           dst.ctypes.data_as(ctypes.c_void_p),
                           ctypes.byref(computed), ctypes.byref(error)) != 0:
        raise RuntimeError(f'{operation} {source}: {error.text.decode()}')
    return dst, computed.value


def run_block(operation, params, fmt, width, height, block, full_range=False):
    """The same, where the result has the format and size of the source."""
    picture = (fmt, width, height, full_range)
    return run_between(operation, params, picture, block, picture)


def run(operation, params, image):
    """Runs on an array as OpenCV has it: grey or BGR of 8 bits, grey of 16.
    Returns the result and the threshold that was computed."""
    fmt = 'BGR' if image.ndim == 3 else \
        'GRAY8' if image.dtype == np.uint8 else 'GRAY16_LE'
    height, width = image.shape[:2]
    dst, computed = run_block(operation, params, fmt, width, height, image)
    return dst.view(image.dtype).reshape(image.shape), computed


def _scene(seed):
    """Something like a photograph, in BGR."""
    random = np.random.default_rng(seed)
    scene = np.zeros((200, 311, 3))
    for sigma in (1, 4, 16):
        noise = random.normal(0, 1, scene.shape)
        scene += cv2.GaussianBlur(noise, (0, 0), sigma) * 16 * sigma ** 1.2
    return np.clip(110 + scene, 0, 255).astype(np.uint8)


def photographs():
    """Name and BGR picture."""
    if photos is None:
        yield from ((f'scene {seed}', _scene(seed)) for seed in (1, 2))
        return
    yield 'astronaut', cv2.cvtColor(photos.astronaut(),
                                    cv2.COLOR_RGB2BGR)[40:240, 150:407]
    yield 'coffee', cv2.cvtColor(photos.coffee(),
                                 cv2.COLOR_RGB2BGR)[101:301, 77:390]


def _synthetic(shape):
    random = np.random.default_rng(7)
    yield 'random', random.integers(0, 256, shape, np.uint8)
    yield 'flat', np.full(shape, 77, np.uint8)
    yield 'black', np.zeros(shape, np.uint8)
    yield 'white', np.full(shape, 255, np.uint8)
    two = random.integers(0, 2, shape, np.uint8)
    yield 'two levels', np.where(two, 201, 30).astype(np.uint8)
    yield 'extremes', two * np.uint8(255)
    dot = np.zeros(shape, np.uint8)
    dot[shape[0] // 3, shape[1] // 2] = 255
    yield 'dot', dot


def grays():
    """Name and picture of one channel."""
    yield from ((name, cv2.cvtColor(image, cv2.COLOR_BGR2GRAY))
                for name, image in photographs())
    if photos is not None:
        yield 'coins', np.ascontiguousarray(photos.coins()[20:191, 30:201])
    yield from _synthetic((67, 93))
    yield from ((f'{w}x{h}', np.random.default_rng(w + h).integers(
        0, 256, (h, w), np.uint8))
        for w, h in [(1, 1), (1, 9), (9, 1), (2, 2), (3, 5), (13, 42)])


def colors():
    """Name and BGR picture."""
    yield from photographs()
    yield from _synthetic((43, 61, 3))


def apart(a, b):
    """The largest difference of two integer arrays."""
    return int(np.abs(a.astype(np.int64) - b.astype(np.int64)).max())


def describe_difference(a, b):
    """Where two arrays are furthest apart, and by how much."""
    at = np.unravel_index(np.argmax(np.abs(
        a.astype(np.int64) - b.astype(np.int64))), a.shape)
    return f'at {tuple(int(i) for i in at)}: ours {a[at]}, theirs {b[at]}'


def compare(test, ours, theirs, tolerance, what):
    """Fails `test` where the arrays are further apart than `tolerance`."""
    test.assertEqual(ours.shape, theirs.shape, what)
    if apart(ours, theirs) > tolerance:
        test.fail(f'{what}: {describe_difference(ours, theirs)}')
