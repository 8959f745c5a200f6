#!/usr/bin/env python3
"""What people run today for the same pictures, on the same GPU from Python.

    bench_python.py [--ours bench_operations.json] [--json FILE]

PyTorch, CuPy and Numba on pictures that lie in device memory, each with the
conversions from and to 8 bits that it needs; OpenCV on the CPU. Medians in
microseconds. With the results of bench_operations, ours stand beside them. A
library that is not there, or does not run, costs its rows only.
"""
import argparse
import json
import os
import statistics
import time

import numpy as np

SIZES = [(1920, 1080), (3840, 2160)]
ROTATION_BYTES = 320 << 20  # more than any L2 cache
REPEATS = 11
BATCH_SECONDS = 10e-3


def pictures(width, height, channels):
    """Random 8-bit pictures, together more than the caches hold."""
    shape = (height, width, channels) if channels > 1 else (height, width)
    count = max(2, ROTATION_BYTES // (2 * int(np.prod(shape))))
    rng = np.random.default_rng(1)
    first = rng.integers(0, 256, shape, np.uint8)
    return [np.roll(first, i * 7, axis=1) for i in range(min(count, 16))]


def median_us(call, inputs, begin, elapsed_s):
    """Median time of `call` on each of `inputs` in turn; begin () starts a
    clock and elapsed_s (what it returned) reads it when the work has ended."""
    for picture in inputs[:3]:
        call(picture)
    mark = begin()
    call(inputs[0])
    calls = max(1, int(BATCH_SECONDS / max(elapsed_s(mark), 1e-6)))
    times, used = [], 0
    for _ in range(REPEATS):
        mark = begin()
        for _ in range(calls):
            call(inputs[used % len(inputs)])
            used += 1
        times.append(elapsed_s(mark) / calls)
    return statistics.median(times) * 1e6


def cpu_clock():
    return time.perf_counter, lambda mark: time.perf_counter() - mark


def torch_rows():
    import torch
    import torch.nn.functional as F

    def begin():
        mark = torch.cuda.Event(enable_timing=True)
        mark.record()
        return mark

    def elapsed(mark):
        end = torch.cuda.Event(enable_timing=True)
        end.record()
        end.synchronize()
        return mark.elapsed_time(end) * 1e-3

    def upload(picture):
        return torch.from_numpy(picture).cuda()

    x = torch.tensor([[-1., 0, 1], [-2, 0, 2], [-1, 0, 1]], device='cuda')
    kernels = torch.stack([x, x.T])[:, None]

    def planes(picture):
        return picture.permute(2, 0, 1)[:, None].float()

    def sobel(picture):
        gradient = F.conv2d(F.pad(planes(picture), (1, 1, 1, 1), 'reflect'),
                            kernels)
        magnitude = gradient.square().sum(1).sqrt().round().clamp(0, 255)
        return magnitude.byte().permute(1, 2, 0).contiguous()

    offsets = torch.arange(-7., 8, device='cuda')
    weights = torch.exp(-offsets.square() / (2 * 2.6 ** 2))
    weights /= weights.sum()

    def gaussian(picture):
        padded = F.pad(planes(picture), (7, 7, 7, 7), 'reflect')
        blurred = F.conv2d(F.conv2d(padded, weights.view(1, 1, 1, 15)),
                           weights.view(1, 1, 15, 1))
        return (blurred[:, 0].round().byte().permute(1, 2, 0).contiguous())

    def threshold(picture):
        return (picture > 127).byte() * 255

    return 'PyTorch ' + torch.__version__, (begin, elapsed), upload, [
        ('invert', 3, torch.bitwise_not),
        ('threshold-fixed', 3, threshold),
        ('sobel-magnitude', 3, sobel),
        ('gaussian-15', 3, gaussian),
    ]


def cupy_rows():
    import cupy

    def begin():
        mark = cupy.cuda.Event()
        mark.record()
        return mark

    def elapsed(mark):
        end = cupy.cuda.Event()
        end.record()
        end.synchronize()
        return cupy.cuda.get_elapsed_time(mark, end) * 1e-3

    def spectrum(picture):
        magnitude = cupy.abs(cupy.fft.fft2(picture.astype(cupy.float32)))
        shown = cupy.log1p(cupy.fft.fftshift(magnitude))
        low, high = shown.min(), shown.max()
        return ((shown - low) * (255 / (high - low))).astype(cupy.uint8)

    return 'CuPy ' + cupy.__version__, (begin, elapsed), cupy.asarray, [
        ('invert', 3, lambda picture: 255 - picture),
        ('threshold-fixed', 3,
         lambda picture: cupy.where(picture > 127, cupy.uint8(255),
                                    cupy.uint8(0))),
        ('fftmag', 1, spectrum),
    ]


def numba_rows():
    import numba
    from numba import cuda

    @cuda.jit
    def invert_kernel(source, result):
        x, y = cuda.grid(2)
        if y < source.shape[0] and x < source.shape[1]:
            result[y, x] = 255 - source[y, x]

    results = {}

    def invert(picture):
        if picture.shape not in results:
            results[picture.shape] = cuda.device_array_like(picture)
        result = results[picture.shape]
        grid = ((picture.shape[1] + 31) // 32, (picture.shape[0] + 7) // 8)
        invert_kernel[grid, (32, 8)](picture, result)
        return result

    def begin():
        mark = cuda.event()
        mark.record()
        return mark

    def elapsed(mark):
        end = cuda.event()
        end.record()
        end.synchronize()
        return cuda.event_elapsed_time(mark, end) * 1e-3

    def upload(picture):
        return cuda.to_device(picture.reshape(picture.shape[0], -1))

    return 'Numba ' + numba.__version__, (begin, elapsed), upload, [
        ('invert', 3, invert),
    ]


def opencv_rows():
    import cv2

    def sobel(picture):
        x = cv2.Sobel(picture, cv2.CV_32F, 1, 0)
        y = cv2.Sobel(picture, cv2.CV_32F, 0, 1)
        magnitude = cv2.magnitude(x.reshape(-1), y.reshape(-1))
        return cv2.convertScaleAbs(magnitude).reshape(picture.shape)

    def spectrum(picture):
        planes = cv2.dft(np.float32(picture), flags=cv2.DFT_COMPLEX_OUTPUT)
        magnitude = cv2.magnitude(planes[..., 0], planes[..., 1])
        shown = np.fft.fftshift(cv2.log(magnitude + 1))
        return cv2.normalize(shown, None, 0, 255, cv2.NORM_MINMAX, cv2.CV_8U)

    def otsu(picture):
        return cv2.threshold(picture, 0, 255,
                             cv2.THRESH_BINARY | cv2.THRESH_OTSU)[1]

    def adaptive(method):
        return lambda picture: cv2.adaptiveThreshold(
            picture, 255, method, cv2.THRESH_BINARY, 11, 2)

    name = f'OpenCV {cv2.__version__}, {cv2.getNumThreads()} CPU threads'
    return name, cpu_clock(), lambda picture: picture, [
        ('invert', 3, cv2.bitwise_not),
        ('threshold-fixed', 3,
         lambda picture: cv2.threshold(picture, 127, 255,
                                       cv2.THRESH_BINARY)[1]),
        ('threshold-otsu', 1, otsu),
        ('threshold-mean-11', 1, adaptive(cv2.ADAPTIVE_THRESH_MEAN_C)),
        ('threshold-gauss-11', 1, adaptive(cv2.ADAPTIVE_THRESH_GAUSSIAN_C)),
        ('sobel-magnitude', 3, sobel),
        ('gaussian-15', 3,
         lambda picture: cv2.GaussianBlur(picture, (15, 15), 0)),
        ('gaussian-31', 3,
         lambda picture: cv2.GaussianBlur(picture, (31, 31), 0)),
        ('fftmag', 1, spectrum),
    ]


def read_ours(path):
    if not path or not os.path.exists(path):
        return {}
    with open(path) as file:
        results = json.load(file)['results']
    return {(r['operation'], r['format'], r['width']): r['us']
            for r in results}


def measure(library, clock, upload, rows, ours):
    """Prints and returns the results of one library."""
    results = []
    for width, height in SIZES:
        uploaded = {}
        for operation, channels, call in rows:
            if channels not in uploaded:
                uploaded[channels] = [
                    upload(p) for p in pictures(width, height, channels)]
            us = median_us(call, uploaded[channels], *clock)
            fmt = 'RGB' if channels == 3 else 'GRAY8'
            mine = ours.get((operation, fmt, width))
            beside = f'{mine:10.1f} {us / mine:8.1f}' if mine else ''
            print(f'{operation:18} {fmt:6} {width}x{height:<5} {us:10.1f} '
                  f'{beside:19}  {library}', flush=True)
            results.append({'library': library, 'operation': operation,
                            'format': fmt, 'width': width, 'height': height,
                            'us': us, 'ours_us': mine})
    return results


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--ours', help='JSON of bench_operations')
    parser.add_argument('--json', help='file to write')
    args = parser.parse_args()
    ours, results = read_ours(args.ours), []
    print(f'{"operation":18} {"format":6} {"size":10} {"us":>9} {"ours":>10} '
          f'{"times":>8}  library')
    for library_rows in torch_rows, cupy_rows, numba_rows, opencv_rows:
        try:
            results += measure(*library_rows(), ours)
        except Exception as error:  # any library may fail in its own way
            lines = str(error).strip().splitlines() or [type(error).__name__]
            print(f'{library_rows.__name__}: {lines[0]}')
    if args.json:
        with open(args.json, 'w') as file:
            json.dump(results, file, indent=1)


if __name__ == '__main__':
    main()
