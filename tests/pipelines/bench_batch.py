"""Pictures a second of batch.py and of the same job in OpenCV under Dask.

    bench_batch.py [PICTURES [REPEATS]]

GST_PLUGIN_PATH names the plugin. The job: to grey, threshold at 125, to
200 x 200, from PNG to PNG, over crops of a photograph. Medians of all but the
start of the cluster; and what it costs to make a pipeline for every picture.
"""
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import cv2
import distributed
import numpy as np

PIPELINES = pathlib.Path(__file__).resolve().parents[2] / 'pipelines'
sys.path.insert(0, str(PIPELINES))
import batch_worker  # noqa: E402

RAW = 'video/x-raw(ANY)'
CHAIN = (f'cudacvtcolor ! {RAW},format=GRAY8 ! cudathreshold threshold=125 '
         f'! cudaresize ! {RAW},width=200,height=200')


def make_pictures(folder, count):
    random = np.random.default_rng(1)
    photo = cv2.GaussianBlur(random.integers(0, 256, (700, 900, 3), np.uint8),
                             (0, 0), 3)
    photo = cv2.normalize(photo, None, 0, 255, cv2.NORM_MINMAX)
    for index in range(count):
        height, width = random.integers(60, 260, 2)
        y, x = random.integers(0, 400, 2)
        cv2.imwrite(str(folder / f'{index:06}.png'),
                    photo[y:y + height, x:x + width])


def by_opencv(jobs):
    cv2.setNumThreads(1)
    for source, output in jobs:
        grey = cv2.cvtColor(cv2.imread(source), cv2.COLOR_BGR2GRAY)
        _, grey = cv2.threshold(grey, 125, 255, cv2.THRESH_BINARY)
        cv2.imwrite(output, cv2.resize(grey, (200, 200)))


def opencv_rate(sources, out, workers):
    jobs = [(str(path), str(out / path.name)) for path in sources]
    with distributed.LocalCluster(
            n_workers=workers, threads_per_worker=1, dashboard_address=None,
            local_directory=str(out)) as cluster, \
            distributed.Client(cluster) as client:
        begin = time.monotonic()
        client.gather([client.submit(by_opencv, jobs[i:i + 16], pure=False)
                       for i in range(0, len(jobs), 16)])
        return len(jobs) / (time.monotonic() - begin)


def batch_rate(folder, out, workers):
    subprocess.run(
        [sys.executable, PIPELINES / 'batch.py', '--chain', CHAIN, '--out',
         out, '--workers', str(workers), '--threads', '1', '--report',
         out / 'report.json', folder], check=True, capture_output=True)
    report = json.loads((out / 'report.json').read_text())
    return report['done'] / report['seconds']


def start_up(sources, out):
    """ms for a picture in one process: pipeline kept, and made each time."""
    times = {True: [], False: []}
    for kept, list_of in times.items():
        for path in sources:
            begin = time.monotonic()
            batch_worker.process([{
                'source': str(path), 'output': str(out / path.stem),
                'chain': CHAIN, 'format': 'png', 'quality': 90}])
            if not kept:
                batch_worker.close()
            list_of.append(1000 * (time.monotonic() - begin))
    return [statistics.median(times[kept]) for kept in (True, False)]


def main():
    count, repeats = [int(text) for text in sys.argv[1:]] + \
        [1000, 5][len(sys.argv) - 1:]
    with tempfile.TemporaryDirectory() as top:
        top = pathlib.Path(top)
        folder, out = top / 'in', top / 'out'
        folder.mkdir()
        out.mkdir()
        make_pictures(folder, count)
        sources = sorted(folder.iterdir())
        kept, made = start_up(sources[:200], out)
        print(f'one picture: {kept:.1f} ms, with a pipeline of its own '
              f'{made:.1f} ms')
        for workers in (1, 2):
            rates = [(batch_rate(folder, top / 'out', workers),
                      opencv_rate(sources, out, workers))
                     for _ in range(repeats)]
            ours, theirs = map(statistics.median, zip(*rates))
            print(f'{workers} workers: batch.py {ours:.0f} pictures/s, '
                  f'OpenCV and Dask {theirs:.0f}', flush=True)


if __name__ == '__main__':
    main()
