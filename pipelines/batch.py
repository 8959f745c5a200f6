#!/usr/bin/python3
"""Runs one chain of elements over thousands of pictures and videos.

    batch.py --chain 'cudagaussian ! cudasobel' --out DIR INPUT...

INPUT: a file, a folder (all pictures and videos below it) or a glob in quotes.
Pictures become PNG or JPEG, videos H.264 in MP4 without sound. Folders keep
their shape below DIR, where several get one each, by their names; files of one
name get numbers. Nothing is overwritten but what an earlier run made of the
same file: DIR/.batch.jsonl knows.

The work is spread by Dask: without --scheduler over this machine, with a worker
for each GPU, or for each core where there is none. Machines of a cluster need
this plugin, and the files under the same paths.

Exit status: 0; 1 if a file could not be done (the others are); 2 for arguments
that make no sense; 130 when interrupted (--resume goes on).
"""
import argparse
import contextlib
import fcntl
import glob
import itertools
import json
import logging
import mimetypes
import os
import signal
import sys
import tempfile
import threading
import time

import batch_worker

SUFFIXES = ('.png', '.jpg', '.mp4')  # that results may have
AHEAD = 4           # tasks that the scheduler knows of, for each thread
GROUP = 16          # files in a task at most
GROUP_BYTES = 1 << 22
LOG_EVERY = 10      # s between lines of progress that go to a file
JOURNAL = '.batch.jsonl'


class UsageError(Exception):
    """Arguments that make no sense."""


def parse_arguments(arguments):
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add('inputs', nargs='+', metavar='INPUT')
    add('--chain', required=True, help='elements, as for gst-launch')
    add('--out', required=True, metavar='DIR', help='made if missing')
    add('--format', choices=('png', 'jpeg'), default='png',
        help='of the pictures that come out (png)')
    add('--quality', type=number(1, 100), default=90, metavar='1-100',
        help='of JPEG (90)')
    add('--resume', action='store_true',
        help='leave out what an earlier run with the same chain finished')
    add('--retries', type=number(0), default=1, metavar='N',
        help='how often a file that failed is tried again (1)')
    add('--report', metavar='FILE.json', help='what became of every file')
    add('--workers', type=number(1), metavar='N', help='processes here')
    add('--threads', type=number(1), metavar='N',
        help='files at once in each of them')
    add('--scheduler', metavar='ADDRESS',
        help='of a Dask cluster, such as tcp://host:8786')
    options = parser.parse_args(arguments)
    if options.scheduler and (options.workers or options.threads):
        parser.error('--workers and --threads are for local runs: the cluster '
                     'of --scheduler has its own')
    return options


def number(lowest, highest=None):
    def convert(text):
        value = int(text)
        if value < lowest or (highest and value > highest):
            raise argparse.ArgumentTypeError(
                f'{text} is not {lowest} '
                + (f'to {highest}' if highest else 'or more'))
        return value
    convert.__name__ = 'number'
    return convert


def shown(name):
    """A file name for a line of text."""
    return name if name.isprintable() else ascii(name)


def is_media(name):
    return (mimetypes.guess_type(name)[0] or '').startswith(
        ('image/', 'video/'))


def folder_files(folder, left_out):
    """The pictures and videos below a folder, as their names say, sorted."""
    for path, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders
                            if not name.startswith('.') and
                            os.path.realpath(os.path.join(path, name))
                            != left_out)
        for name in sorted(names):
            if not name.startswith('.') and is_media(name):
                yield os.path.join(path, name)


def expand(inputs, out):
    """What the inputs stand for: {true path: name below DIR, no suffix}."""
    paths = []
    for text in inputs:
        found = [] if os.path.lexists(text) else sorted(
            glob.glob(text, recursive=True))
        paths += found or [text]
    folders = [path for path in paths if os.path.isdir(path)]
    sources = {}
    for path in paths:
        if not os.path.isdir(path):
            sources.setdefault(os.path.realpath(path), os.path.basename(path))
            continue
        top = (os.path.basename(os.path.realpath(path))
               if len(folders) > 1 else '')
        for file in folder_files(path, out):
            sources.setdefault(os.path.realpath(file), os.path.join(
                top, os.path.relpath(file, path)))
    return {source: os.path.splitext(name)[0]
            for source, name in sources.items()}


def stamp(source):
    """Changes when the file does."""
    try:
        status = os.stat(source)
    except OSError:
        return None
    return [status.st_mtime_ns, status.st_size]


class Journal:
    """What was made of which file in a folder, one JSON object a line.

    Names are noted before the work begins and results as they come, so that a
    run that was killed leaves nothing that the next one takes for a file of
    somebody else.
    """

    def __init__(self, out, setting):
        self._out, self._setting = out, setting
        self.owners = {}  # name below DIR without suffix -> source
        self._done = {}   # source -> the last entry
        self._file = open(os.path.join(out, JOURNAL), 'a+')
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UsageError(f'{out}: another batch.py is at work there'
                             ) from None
        self._file.seek(0)
        for line in self._file:
            with contextlib.suppress(ValueError):  # cut short by a kill
                entry = json.loads(line)
                self.owners[entry['name']] = entry['source']
                self._done[entry['source']] = entry
        self._file.write('\n')

    def note(self, source, name, output=None):
        entry = {'source': source, 'name': name}
        if output:
            entry.update(output=output, setting=self._setting,
                         stamp=stamp(source))
        self._file.write(json.dumps(entry) + '\n')

    def flush(self):
        self._file.flush()

    def finished(self, source):
        entry = self._done.get(source, {})
        return (entry.get('setting') == self._setting and
                entry.get('stamp') == stamp(source) and
                os.path.exists(entry['output']))

    def remove_parts(self):
        """What workers that were killed left behind."""
        for path, _, names in os.walk(self._out):
            for name in names:
                if name.endswith(batch_worker.PART):
                    os.unlink(os.path.join(path, name))


def choose_names(sources, out, journal):
    """Gives every source a name below DIR that is its own."""
    taken, names = set(), {}
    for source, wanted in sources.items():
        name, count = wanted, 1
        while not is_free(name, source, sources, taken, out, journal):
            count += 1
            name = f'{wanted}-{count}'
        taken.add(name)
        names[source] = name
    return names


def is_free(name, source, sources, taken, out, journal):
    if name in taken:
        return False
    files = [os.path.join(out, name + suffix) for suffix in SUFFIXES]
    if any(file in sources for file in files):
        return False
    owner = journal.owners.get(name)
    if owner is not None:
        return owner == source
    return not any(map(os.path.lexists, files))


class Progress:
    """A bar on a terminal; elsewhere a line every few seconds."""

    def __init__(self, total):
        self._total = total
        self._begin, self._end = time.monotonic(), None
        self.done = self.failed = 0
        self._bar = sys.stderr.isatty()
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._tick, daemon=True)
        self._thread.start()

    def seconds(self):
        return (self._end or time.monotonic()) - self._begin

    def text(self):
        count, seconds = self.done + self.failed, self.seconds()
        rate = count / seconds
        text = f'{count}/{self._total}  {rate:.1f}/s'
        if count:
            left = int((self._total - count) / rate)
            text += (f'  {left // 3600}:{left // 60 % 60:02}:{left % 60:02} '
                     'left')
        return text + (f'  {self.failed} failed' if self.failed else '')

    def _draw(self):
        if self._bar:
            full = 30 * (self.done + self.failed) // self._total
            sys.stderr.write(f'\r\033[K[{"#" * full:30}] {self.text()}')
        else:
            sys.stderr.write(self.text() + '\n')
        sys.stderr.flush()

    def _tick(self):
        while not self._stop.wait(0.2 if self._bar else LOG_EVERY):
            with self._lock:
                self._draw()

    def say(self, text):
        with self._lock:
            sys.stderr.write(('\r\033[K' if self._bar else '') + text + '\n')

    def close(self):
        self._stop.set()
        self._thread.join()
        self._end = time.monotonic()
        self._draw()
        if self._bar:
            sys.stderr.write('\n')


@contextlib.contextmanager
def connect(options):
    """A Dask client of the cluster that the options ask for."""
    import dask
    import distributed
    from distributed.diagnostics.plugin import UploadFile
    logging.getLogger('distributed').setLevel(logging.CRITICAL)
    with tempfile.TemporaryDirectory(prefix='batch-') as folder:
        dask.config.set({'temporary-directory': folder,
                         'distributed.comm.timeouts.connect': '10s'})
        if options.scheduler:
            cluster = None
            try:
                client = distributed.Client(options.scheduler)
            except (OSError, ValueError) as error:
                raise UsageError(f'--scheduler {options.scheduler}: {error}'
                                 ) from None
            client.register_worker_plugin(UploadFile(batch_worker.__file__))
        else:
            gpus = batch_worker.count_gpus()
            cores = len(os.sched_getaffinity(0))
            workers = options.workers or gpus or cores
            cluster = distributed.LocalCluster(
                n_workers=workers, processes=True, memory_limit=0,
                threads_per_worker=options.threads
                or max(1, cores // workers),
                dashboard_address=None, silence_logs=logging.CRITICAL)
            client = distributed.Client(cluster)
        try:
            yield client
        finally:
            with contextlib.suppress(Exception):
                client.run(batch_worker.close)
            client.close()
            if cluster:
                cluster.close()


def groups(jobs, threads):
    """Small files share a task, for a task costs Dask as much as they do."""
    group, size = [], 0
    most = max(1, min(GROUP, len(jobs) // (AHEAD * threads)))
    for job in jobs:
        _, length = stamp(job['source']) or (0, 0)
        if group and (len(group) == most or size + length > GROUP_BYTES):
            yield group
            group, size = [], 0
        group.append(job)
        size += length
    if group:
        yield group


def outcomes_of(future, group):
    """What the jobs of a task say of themselves; None if all of it failed."""
    error = future.exception()
    if error is None:
        return future.result()
    if len(group) > 1:
        return None
    name = type(error).__name__
    text = ('the worker died of it' if name == 'KilledWorker'
            else f'{name}: {error}')
    return [{'error': ' '.join(text.split())}]


def run_jobs(client, jobs, retries):
    """Yields (job, outcome) as they end.

    The scheduler gets them a few ahead: it need not hold all of a million.
    """
    from distributed import as_completed
    threads = max(1, sum(client.nthreads().values()))
    waiting, attempts, running = groups(jobs, threads), {}, {}
    completed = as_completed([])

    def submit(group):
        future = client.submit(batch_worker.process, group, pure=False)
        running[future.key] = group
        completed.add(future)

    for group in itertools.islice(waiting, AHEAD * threads):
        submit(group)
    for future in completed:
        group = running.pop(future.key)
        outcomes = outcomes_of(future, group)
        if outcomes is None:  # who of them was it?
            for job in group:
                submit([job])
            continue
        for job, outcome in zip(group, outcomes):
            count = attempts.get(job['source'], 0) + 1
            if 'error' in outcome and count <= retries:
                attempts[job['source']] = count
                submit([job])
            else:
                yield job, {**outcome, 'attempts': count}
        for group in itertools.islice(waiting, 1):
            submit(group)


def write_report(path, report):
    temporary = path + batch_worker.PART
    with open(temporary, 'w') as file:
        json.dump(report, file, indent=1)
    os.replace(temporary, path)


def work(options, journal, jobs, files):
    """Does the jobs and appends what became of them to files."""
    with connect(options) as client:
        progress = Progress(len(jobs))
        try:
            for job, outcome in run_jobs(client, jobs, options.retries):
                files.append({'source': job['source'], **outcome})
                if 'error' in outcome:
                    progress.failed += 1
                    progress.say(f'*** {shown(job["source"])}: '
                                 f'{outcome["error"]}')
                else:
                    progress.done += 1
                    journal.note(job['source'], job['name'],
                                 outcome['output'])
                    journal.flush()
        finally:
            progress.close()
    return progress


def run(options):
    out = os.path.realpath(options.out)
    fault = None if options.scheduler else batch_worker.check_chain(
        options.chain)
    if fault:
        raise UsageError(f'--chain: {fault}')
    try:
        os.makedirs(out, exist_ok=True)
        journal = Journal(out, [options.chain, options.format,
                                options.quality])
    except OSError as error:
        raise UsageError(f'--out {out}: {error.strerror}') from None
    journal.remove_parts()
    sources = expand(options.inputs, out)
    made = {os.path.join(out, name + suffix)
            for name in journal.owners for suffix in SUFFIXES}
    named = {os.path.realpath(path) for path in options.inputs}
    sources = {source: name for source, name in sources.items()
               if source not in made or source in named}
    skipped = [source for source in sources
               if options.resume and journal.finished(source)]
    names = choose_names(sources, out, journal)
    jobs = [{'source': source, 'name': names[source],
             'output': os.path.join(out, names[source]),
             'chain': options.chain, 'format': options.format,
             'quality': options.quality}
            for source in sources.keys() - set(skipped)]
    jobs.sort(key=lambda job: job['name'])
    for job in jobs:
        journal.note(job['source'], job['name'])
    journal.flush()
    return finish(options, journal, jobs, skipped)


def finish(options, journal, jobs, skipped):
    files, seconds, status = [], 0, 0
    begin = time.monotonic()
    try:
        if jobs:
            seconds = work(options, journal, jobs, files).seconds()
    except KeyboardInterrupt:
        status = 130
    failed = sum('error' in file for file in files)
    done = len(files) - failed
    print(f'{done} done, {failed} failed, {len(skipped)} finished before'
          + (f'; {len(files) / seconds:.1f}/s' if seconds else '')
          + f'; {time.monotonic() - begin:.1f} s in all'
          + ('; interrupted, --resume goes on' if status else ''))
    if options.report:
        write_report(options.report, {
            'chain': options.chain, 'done': done, 'failed': failed,
            'skipped': skipped, 'seconds': round(seconds, 3),
            'files': files})
    return status or (1 if failed else 0)


def interrupt(number, frame):
    raise KeyboardInterrupt


def main():
    sys.stdout.reconfigure(errors='backslashreplace')
    options = parse_arguments(sys.argv[1:])
    signal.signal(signal.SIGTERM, interrupt)
    try:
        return run(options)
    except UsageError as error:
        print(f'batch.py: {error}', file=sys.stderr)
        return 2


if __name__ == '__main__':
    sys.exit(main())
elif __name__ == '__mp_main__':  # a worker: Ctrl-C is for the one above it
    signal.signal(signal.SIGINT, signal.SIG_IGN)
