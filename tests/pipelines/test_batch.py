"""batch.py, run as users run it, on clusters of real workers: its results
beside those of OpenCV, and what it does when things go wrong."""
import collections
import json
import os
import pathlib
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest

HERE = pathlib.Path(__file__).resolve().parent
PIPELINES = HERE.parent.parent / 'pipelines'
sys.path[:0] = [str(HERE.parent / 'oracle'), str(PIPELINES)]
from run import Result  # noqa: E402

try:
    import cv2
    import distributed
    import numpy as np
    import batch_worker
except ModuleNotFoundError as missing:
    print(f'skip batch: {missing}')
    print('0 passed, 0 failed, 1 skipped')
    sys.exit(77)

RAW = 'video/x-raw(ANY)'
ONE = f'cudacvtcolor ! cudaresize ! {RAW},format=BGR,width=400,height=400'
LIST = (f'cudacvtcolor ! {RAW},format=BGR ! cudathreshold type=binary-inv '
        f'threshold=105 ! cudaresize ! {RAW},width=200,height=200')
GREY = (f'cudacvtcolor ! {RAW},format=GRAY8 ! cudathreshold threshold=125 '
        f'! cudaresize ! {RAW},width=200,height=200')
SLOW = 'identity sleep-time=20000'  # 20 ms a picture


def batch(*arguments, wait=True, **settings):
    command = [sys.executable, PIPELINES / 'batch.py', *map(str, arguments)]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        errors='replace', **settings)
    if not wait:
        return process
    process.out, process.err = process.communicate(timeout=100)
    return process


def picture(path, width=64, height=48, seed=0):
    """Blurred noise: neither flat nor too hard for JPEG."""
    noise = np.random.default_rng(seed).integers(
        0, 256, (height, width, 3), np.uint8)
    image = cv2.normalize(cv2.GaussianBlur(noise, (0, 0), 2), None, 0, 255,
                          cv2.NORM_MINMAX)
    path.parent.mkdir(parents=True, exist_ok=True)
    assert cv2.imwrite(str(path), image)
    return image


def read(path):
    return cv2.imread(str(path), cv2.IMREAD_UNCHANGED)


def workers_of(pid):
    """The worker processes that a batch.py has started."""
    found = []
    for path in pathlib.Path('/proc').glob('[0-9]*/stat'):
        try:
            parent = int(path.read_text().rsplit(')', 1)[1].split()[1])
            line = (path.parent / 'cmdline').read_text()
        except OSError:
            continue
        if parent == pid and 'spawn_main' in line:
            found.append(int(path.parent.name))
    return found


class Case(unittest.TestCase):
    def setUp(self):
        self.top = pathlib.Path(tempfile.mkdtemp(prefix='test-batch-'))
        self.addCleanup(shutil.rmtree, self.top)
        self.out = self.top / 'out'

    def results(self):
        """The names of the results; nothing else but the journal is there."""
        names = sorted(str(path.relative_to(self.out))
                       for path in self.out.rglob('*') if path.is_file())
        hidden = [name for name in names if '/.' in f'/{name}']
        self.assertEqual(hidden, ['.batch.jsonl'])
        return [name for name in names if name not in hidden]

    def check(self, process, code, summary):
        self.assertEqual(process.returncode, code, process.err)
        self.assertIn(summary, process.out)

    def wait_for(self, process, count):
        """Until so many results are there."""
        end = time.monotonic() + 60
        while len(list(self.out.glob('*.png'))) < count:
            self.assertIsNone(process.poll(), 'ended too early')
            self.assertLess(time.monotonic(), end, 'no results')
            time.sleep(0.02)


class Jobs(Case):
    """The image jobs that people do, beside OpenCV."""

    def compare(self, chain, sources, reference):
        process = batch('--chain', chain, '--out', self.out, '--workers', 1,
                        *sources)
        total = len(self.results())
        self.check(process, 0, f'{total} done, 0 failed')
        for name in self.results():
            source = next(self.top.glob(f'[!o]*/**/{name}'), None)
            ours, theirs = read(self.out / name), reference(cv2.imread(
                str(source or self.top / name)))
            self.assertEqual(ours.shape, theirs.shape)
            self.assertLessEqual(
                np.abs(ours.astype(int) - theirs).max(), 1, name)
        return total

    def test_one(self):
        picture(self.top / 'p.png', 301, 223)
        self.compare(ONE, [self.top / 'p.png'],
                     lambda image: cv2.resize(image, (400, 400)))

    def test_list_of_sizes(self):
        for index, size in enumerate([(640, 480), (97, 55), (1, 1), (200, 7)]):
            picture(self.top / 'in' / f'{index}.png', *size, index)
        self.assertEqual(4, self.compare(
            LIST, [self.top / 'in'], lambda image: cv2.resize(cv2.threshold(
                image, 105, 255, cv2.THRESH_BINARY_INV)[1], (200, 200))))

    def test_sets(self):
        for index in range(12):
            picture(self.top / f's{index % 3}' / f'{index}.png',
                    50 + 9 * index, 80, index)
        self.assertEqual(12, self.compare(
            GREY, [self.top / f's{index}' for index in range(3)],
            lambda image: cv2.resize(cv2.threshold(cv2.cvtColor(
                image, cv2.COLOR_BGR2GRAY), 125, 255,
                cv2.THRESH_BINARY)[1], (200, 200))))
        self.assertIn('s1/4.png', self.results())


class Formats(Case):
    def process(self, path, chain='identity', **settings):
        job = {'source': str(path), 'output': str(self.top / 'out'),
               'chain': chain, 'format': 'png', 'quality': 90, **settings}
        self.addCleanup(batch_worker.close)
        return batch_worker.process([job])[0]

    def test_orientation(self):
        """All eight of EXIF, as OpenCV turns them."""
        picture(self.top / 'p.jpg')
        plain = (self.top / 'p.jpg').read_bytes()
        for value in range(1, 9):
            exif = b'Exif\0\0MM\0*\0\0\0\x08\0\x01' + struct.pack(
                '>HHIHHI', 0x112, 3, 1, value, 0, 0)
            (self.top / 'p.jpg').write_bytes(
                plain[:2] + b'\xff\xe1' + struct.pack('>H', len(exif) + 2)
                + exif + plain[2:])
            self.assertNotIn('error', self.process(self.top / 'p.jpg'))
            ours, theirs = read(self.top / 'out.png'), cv2.imread(
                str(self.top / 'p.jpg'))
            self.assertEqual(ours.shape, theirs.shape)
            self.assertLess(np.abs(ours.astype(int) - theirs).mean(), 12)

    def test_tiff(self):
        decoder = batch_worker.decoder_for('image/tiff')
        if not decoder:
            self.skipTest('no plugin for TIFF')
        if decoder.startswith('avdec_'):
            self.skipTest("libav's TIFF decoder gives other pixels")
        image = picture(self.top / 'p.tiff')
        self.assertNotIn('error', self.process(self.top / 'p.tiff'))
        np.testing.assert_array_equal(read(self.top / 'out.png'), image)

    def test_jpeg_out(self):
        image = picture(self.top / 'p.png')
        self.process(self.top / 'p.png', format='jpeg', quality=95)
        ours = read(self.top / 'out.jpg')
        self.assertLess(np.abs(ours.astype(int) - image).mean(), 8)

    def test_one_pipeline_for_all(self):
        made = []
        create = batch_worker.PicturePlayer

        def count(*arguments):
            made.append(1)
            return create(*arguments)

        batch_worker.PicturePlayer = count
        self.addCleanup(setattr, batch_worker, 'PicturePlayer', create)
        for index in range(40):
            picture(self.top / 'p.png', 20 + index, 90 - index, index)
            self.assertNotIn('error', self.process(self.top / 'p.png', LIST))
        self.assertEqual(len(made), 1)

    def test_video(self):
        subprocess.run(
            ['gst-launch-1.0', '-q', 'videotestsrc', 'num-buffers=12', '!',
             'video/x-raw,width=101,height=75,framerate=10/1', '!', 'jpegenc',
             '!', 'avimux', '!', 'filesink', f'location={self.top}/v.avi'],
            check=True, timeout=30)
        outcome = self.process(self.top / 'v.avi', 'cudainvert')
        self.assertNotIn('error', outcome)
        video = cv2.VideoCapture(outcome['output'])
        frames = 0
        while video.read()[0]:
            frames += 1
        self.assertEqual(frames, 12)


class Trouble(Case):
    def test_killed_worker(self):
        for index in range(240):
            picture(self.top / 'in' / f'{index:03}.png', seed=index)
        process = batch('--chain', f'{SLOW} ! cudainvert', '--out', self.out,
                        '--workers', 2, '--threads', 1, '--report',
                        self.top / 'r.json', self.top / 'in', wait=False)
        self.wait_for(process, 30)
        workers = workers_of(process.pid)
        self.assertEqual(len(workers), 2)
        os.kill(workers[0], signal.SIGKILL)
        process.out, process.err = process.communicate(timeout=60)
        self.check(process, 0, '240 done, 0 failed')
        self.assertEqual(self.results(),
                         [f'{index:03}.png' for index in range(240)])
        for name in self.results():
            np.testing.assert_array_equal(
                read(self.out / name), 255 - read(self.top / 'in' / name))
        report = json.loads((self.top / 'r.json').read_text())
        sources = collections.Counter(f['source'] for f in report['files'])
        self.assertEqual(set(sources.values()), {1})
        self.assertEqual(len(sources), 240)
        pids = {int(f['worker'].split(':')[1]) for f in report['files']}
        self.assertTrue(pids - set(workers), 'nobody took its place')

    def test_killed_run(self):
        """No half file; --resume does the rest, and only that."""
        for index in range(150):
            picture(self.top / 'in' / f'{index:03}.png', seed=index)
        arguments = ['--chain', SLOW, '--out', self.out, '--workers', 2,
                     self.top / 'in']
        process = batch(*arguments, wait=False)
        self.wait_for(process, 90)
        os.kill(process.pid, signal.SIGKILL)
        process.communicate(timeout=30)
        for path in self.out.glob('*.png'):
            self.assertIsNotNone(read(path), path)
        (self.out / f'.000.png.x-1-2{batch_worker.PART}').write_bytes(b'part')
        process = batch(*arguments, '--resume')
        self.assertEqual(process.returncode, 0, process.err)
        done, _, before = map(int, (
            process.out.split()[index] for index in (0, 2, 4)))
        self.assertEqual(done + before, 150)
        self.assertGreater(before, 0)
        self.assertEqual(self.results(),
                         [f'{index:03}.png' for index in range(150)])

    def test_failures(self):
        picture(self.top / 'in' / 'good.png')
        whole = (self.top / 'in' / 'good.png').read_bytes()
        (self.top / 'in' / 'cut.png').write_bytes(whole[:1000])
        (self.top / 'in' / 'bad.png').write_bytes(
            whole[:60] + bytes(300) + whole[360:])
        (self.top / 'in' / 'empty.jpg').write_bytes(b'')
        (self.top / 'in' / 'text.png').write_text('text ' * 100)
        (self.top / 'in' / 'notes.txt').write_text('left out')
        process = batch('--chain', 'identity', '--out', self.out, '--workers',
                        1, '--report', self.top / 'r.json', self.top / 'in',
                        self.top / 'missing.png', self.top / 'no*match')
        self.check(process, 1, '1 done, 6 failed')
        lines = [line for line in process.err.splitlines()
                 if line.startswith('*** ')]
        self.assertEqual(len(lines), 6)
        for name, cause in (('cut.png', 'cut short'), ('bad.png', 'broken'),
                            ('empty.jpg', 'empty'), ('text.png', 'neither'),
                            ('missing.png', 'No such file'),
                            ('no*match', 'No such file')):
            line, = (line for line in lines if f'/{name}: ' in line)
            self.assertIn(cause, line.split(f'{name}: ')[1])
        self.assertEqual(self.results(), ['good.png'])
        report = json.loads((self.top / 'r.json').read_text())
        self.assertEqual({f['attempts'] for f in report['files']
                          if 'error' in f}, {2})

    def test_names(self):
        """Inputs of one name, results beside originals, a file of somebody
        else, odd names."""
        folder = self.top / 'in'
        picture(folder / 'a.png', seed=1)
        picture(folder / 'a.jpg', seed=2)
        picture(self.top / 'b' / 'a.png', seed=3)
        odd = 'it\'s "ä" 100%d\nx! \udcff.png'
        os.rename(picture_path(folder / 'odd.png'), folder / odd)
        (folder / 'a-2.mp4').write_text('mine')
        before = {path: path.read_bytes() for path in folder.iterdir()}
        arguments = ['--chain', 'cudainvert', '--out', folder, '--workers', 1,
                     *before, self.top / 'b' / 'a.png']
        del arguments[arguments.index(folder / 'a-2.mp4')]
        self.check(batch(*arguments), 0, '4 done, 0 failed')
        for path, data in before.items():
            self.assertEqual(path.read_bytes(), data)
        made = set(folder.iterdir()) - set(before)
        self.assertEqual(len(made), 5)  # the journal too
        self.check(batch(*arguments), 0, '4 done, 0 failed')
        self.assertEqual(set(folder.iterdir()) - set(before), made)

    def test_resume(self):
        for index in range(6):
            picture(self.top / 'in' / f'{index}.png', seed=index)
        arguments = ['--out', self.out, '--workers', 1, '--resume',
                     self.top / 'in']
        self.check(batch('--chain', 'identity', *arguments), 0, '6 done')
        self.check(batch('--chain', 'identity', *arguments), 0,
                   '0 done, 0 failed, 6 finished before')
        picture(self.top / 'in' / '3.png', seed=9)
        (self.out / '4.png').unlink()
        self.check(batch('--chain', 'identity', *arguments), 0,
                   '2 done, 0 failed, 4 finished before')
        self.check(batch('--chain', 'cudainvert', *arguments), 0, '6 done')
        self.assertEqual(len(self.results()), 6)

    def test_arguments(self):
        path = self.top / 'p.png'
        picture(path)
        good = ['--chain', 'identity', '--out', self.out]
        for arguments, message in (
                (['--out', self.out, path], '--chain'),
                (['--chain', 'nonesuch', '--out', self.out, path],
                 'no element "nonesuch"'),
                (['--chain', 'fakesink', '--out', self.out, path], 'link'),
                (['--chain', 'identity', '--out', path, path], 'exists'),
                ([*good, '--workers', 0, path], '1 or more'),
                ([*good, '--quality', 101, path], '1 to 100'),
                ([*good, '--format', 'bmp', path], 'bmp'),
                ([*good], 'INPUT'),
                ([*good, '--scheduler', 'tcp://127.0.0.1:1', path],
                 '--scheduler tcp'),
                ([*good, '--scheduler', 'a', '--workers', 1, path],
                 'local runs')):
            process = batch(*arguments)
            self.assertEqual(process.returncode, 2, (arguments, process.err))
            self.assertIn(message, process.err)
            self.assertNotIn('Traceback', process.err)

    def test_scheduler(self):
        for index in range(20):
            picture(self.top / 'in' / f'{index}.png', seed=index)
        with distributed.LocalCluster(
                n_workers=2, threads_per_worker=1, dashboard_address=None,
                local_directory=str(self.top / 'dask')) as cluster:
            for _ in range(2):
                self.check(batch('--chain', 'cudainvert', '--out', self.out,
                                 '--scheduler', cluster.scheduler_address,
                                 self.top / 'in'), 0, '20 done, 0 failed')
        self.assertEqual(len(self.results()), 20)

    def test_devices(self):
        """Workers of a machine take its GPUs in turn; a new one takes the
        place of one that died."""
        def start():
            process = subprocess.Popen(
                [sys.executable, '-c', 'import batch_worker, sys; '
                 'print(batch_worker.device(), flush=True); '
                 'sys.stdin.read()'], stdin=subprocess.PIPE,
                stdout=subprocess.PIPE, text=True, cwd=PIPELINES,
                env={**os.environ, 'CUDA_VISIBLE_DEVICES': '0,1',
                     'TMPDIR': str(self.top)})
            self.addCleanup(process.communicate)
            return process, int(process.stdout.readline())

        processes = [start() for _ in range(3)]
        self.assertEqual([number for _, number in processes], [0, 1, 0])
        processes[1][0].kill()
        processes[1][0].wait()
        self.assertEqual(start()[1], 1)


def picture_path(path):
    picture(path)
    return path


def main():
    result, loader = Result(), unittest.defaultTestLoader
    for case in (Jobs, Formats, Trouble):
        loader.loadTestsFromTestCase(case).run(result)
    print(f'{result.passed} passed, {result.failed} failed, '
          f'{len(result.skipped)} skipped')
    return 1 if result.failed or result.errors else 0


if __name__ == '__main__':
    sys.exit(main())
