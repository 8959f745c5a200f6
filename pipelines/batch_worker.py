"""What batch.py runs in its workers: one file through the chain.

A picture goes through a pipeline that stays alive from one picture to the next
(one for each type of file and thread), for making a pipeline costs more than a
small picture does. A video has a pipeline of its own. Results are written under
a temporary name beside their place and renamed.
"""
import fcntl
import functools
import os
import socket
import subprocess
import tempfile
import threading
import time

import gi
gi.require_version('Gst', '1.0')
gi.require_version('GstApp', '1.0')
gi.require_version('GstBase', '1.0')
gi.require_version('GstTag', '1.0')
from gi.repository import (GLib, GObject, Gst, GstApp,  # noqa: E402,F401
                           GstBase, GstTag)

Gst.init(None)

PART = '.batch-part'  # how temporary names end
PATIENCE = 1          # s without a result, after which the stream is ended
STALL = 120           # s without any progress, after which it is given up
# The order of formats keeps videoconvert from adding alpha. PNG of level 6 is no
# smaller on photographs, and slower.
ENCODERS = {'png': 'video/x-raw,format=(string){{GRAY8,RGB,GRAY16_BE,RGBA}} '
                   '! pngenc compression-level=1',
            'jpeg': 'jpegenc quality={quality}'}
VIDEO_ENCODERS = (('nvh264enc', ''), ('x264enc', 'speed-preset=veryfast'),
                  ('openh264enc', ''))
# image-orientation tags, and what videoflip calls them
TURNS = {'rotate-90': '90r', 'rotate-180': '180', 'rotate-270': '90l',
         'flip-rotate-0': 'horiz', 'flip-rotate-90': 'ur-ll',
         'flip-rotate-180': 'vert', 'flip-rotate-270': 'ul-lr'}

_players = {}  # (thread, type, chain, encoder) -> PicturePlayer
_slot = None


class MediaError(Exception):
    """Why a file could not be done, in one line."""


def count_gpus():
    visible = os.environ.get('CUDA_VISIBLE_DEVICES')
    if visible is not None:
        return len([name for name in visible.split(',') if name.strip()])
    try:
        listed = subprocess.run(['nvidia-smi', '-L'], capture_output=True,
                                text=True, timeout=20)
        if listed.returncode == 0:
            return sum(line.startswith('GPU ')
                       for line in listed.stdout.splitlines())
    except (OSError, subprocess.TimeoutExpired):
        pass
    try:
        return len(os.listdir('/proc/driver/nvidia/gpus'))
    except OSError:
        return 0


class Slot:
    """The lowest number that no other worker of this machine and user has.

    A lock on a file is the claim to it: it ends with the process, so a worker
    that takes the place of a dead one takes its number too.
    """

    def __init__(self):
        self.number = -1
        while True:
            self.number += 1
            path = os.path.join(tempfile.gettempdir(),
                                f'batch-{os.getuid()}-slot-{self.number}')
            self._file = open(path, 'w')
            try:
                fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return
            except BlockingIOError:
                self._file.close()


def device():
    """The GPU of this worker, or None on a machine without any."""
    global _slot
    gpus = count_gpus() if _slot is None else _slot[1]
    if _slot is None:
        _slot = (Slot() if gpus else None, gpus)
    return _slot[0].number % gpus if gpus else None


def parse(text):
    try:
        return Gst.parse_launch_full(text, None, Gst.ParseFlags.FATAL_ERRORS)
    except GLib.Error as error:
        raise MediaError(error.message) from None


def check_chain(chain):
    """The fault of a chain's text, or None."""
    try:
        parse(f'videoconvert ! {chain} ! videoconvert')
    except MediaError as error:
        return str(error)
    return None


def use_device(pipeline):
    """Elements that leave the choice of the GPU open get that of the worker."""
    number = device()
    if number is None:
        return

    def choose(element):
        spec = element.find_property('cuda-device-id')
        if (spec and spec.flags & GObject.ParamFlags.WRITABLE and
                element.get_property('cuda-device-id') == -1):
            element.set_property('cuda-device-id', number)

    pipeline.iterate_recurse().foreach(choose)


def check_bus(pipeline):
    """Raises the first error on the bus."""
    message = pipeline.get_bus().pop_filtered(Gst.MessageType.ERROR)
    if message:
        raise MediaError(error_text(message))


def error_text(message):
    """An error message in one line, with the cause from its debug text."""
    error, debug = message.parse_error()
    name = message.src.get_name()
    # what the first element says when another failed and gave no reason
    text = ('broken, or a fault in the chain' if name == 'batch_source'
            else f'{name}: {error.message}')
    lines = (debug or '').strip().splitlines()
    if len(lines) > 1:
        text += f' ({lines[-1].strip()})'
    return ' '.join(text.split())


@functools.lru_cache
def decoder_for(media_type):
    """The best decoder of a type of picture, or None."""
    factories = Gst.ElementFactory.list_filter(
        Gst.ElementFactory.list_get_elements(
            Gst.ELEMENT_FACTORY_TYPE_DECODER, Gst.Rank.NONE),
        Gst.Caps.from_string(media_type), Gst.PadDirection.SINK, False)
    factories = [factory for factory in factories
                 if factory.get_metadata('klass').startswith('Codec/Decoder')]
    if not factories:
        return None
    name = max(factories, key=Gst.PluginFeature.get_rank).get_name()
    # with more threads these hold pictures back
    return name + ' max-threads=1' * name.startswith('avdec_')


class PicturePlayer:
    """A pipeline that turns pictures of one type, whole files, into results."""

    def __init__(self, media_type, decoder, chain, encoder):
        turn = '! videoflip name=batch_turn' * (media_type == 'image/jpeg')
        self._pipeline = parse(
            'appsrc name=batch_source format=time '
            f'caps={media_type},framerate=0/1 '
            f'! {decoder} ! videoconvert {turn} ! {chain} '
            f'! videoconvert ! {encoder} '
            '! appsink name=batch_sink sync=false')
        use_device(self._pipeline)
        self._source = self._pipeline.get_by_name('batch_source')
        self._sink = self._pipeline.get_by_name('batch_sink')
        self._turn = self._pipeline.get_by_name('batch_turn')
        self._count = 0
        self.usable = True
        self._pipeline.set_state(Gst.State.PLAYING)

    def run(self, data, turn):
        """The encoded result. After an exception the player is of no use."""
        self.usable = False
        while self._sink.try_pull_sample(0):
            pass  # more than one frame came of the last picture
        if self._turn:
            Gst.util_set_object_arg(self._turn, 'video-direction', turn)
        buffer = Gst.Buffer.new_wrapped(data)
        buffer.pts = self._count * Gst.SECOND
        buffer.duration = Gst.SECOND
        self._count += 1
        self._source.push_buffer(buffer)
        result = self._pull()
        self.usable = not self._sink.is_eos()
        return result

    def _pull(self):
        """Waits for the result; ends the stream to get what is held back."""
        begin, ended = time.monotonic(), False
        while True:
            sample = self._sink.try_pull_sample(Gst.SECOND // 20)
            if sample:
                buffer = sample.get_buffer()
                return buffer.extract_dup(0, buffer.get_size())
            check_bus(self._pipeline)
            waited = time.monotonic() - begin
            if self._sink.is_eos():
                raise MediaError('no picture came out')
            if waited > STALL:
                raise MediaError(f'nothing came out in {STALL} s')
            if waited > PATIENCE and not ended:
                self._source.end_of_stream()
                ended = True

    def close(self):
        self._pipeline.set_state(Gst.State.NULL)


def orientation(media_type, data):
    """What videoflip has to do with a picture, by its EXIF data."""
    at = data.find(b'Exif\0\0', 0, 1 << 16)
    if media_type != 'image/jpeg' or at < 0:
        return 'identity'
    tags = GstTag.tag_list_from_exif_buffer_with_tiff_header(
        Gst.Buffer.new_wrapped(data[at + 6:at + (1 << 16)]))
    _, turn = tags.get_string('image-orientation') if tags else (False, None)
    return TURNS.get(turn, 'identity')


def check_whole(media_type, data):
    """Decoders fill in, or wait for, what a cut file lacks; we refuse it."""
    if media_type == 'image/png':
        whole = b'IEND' in data
    elif media_type == 'image/jpeg':  # the end after the last start of a scan
        whole = data.rfind(b'\xff\xd9') > data.rfind(b'\xff\xda')
    else:
        whole = True
    if not whole:
        raise MediaError('the file is cut short')


def do_picture(job, media_type, decoder, temporary):
    encoder = ENCODERS[job['format']].format(**job)
    key = threading.get_ident(), media_type, job['chain'], encoder
    with open(job['source'], 'rb') as file:
        data = file.read()
    check_whole(media_type, data)
    player = _players.get(key)
    if player is None:
        player = _players[key] = PicturePlayer(media_type, decoder,
                                               job['chain'], encoder)
    try:
        result = player.run(data, orientation(media_type, data))
    finally:
        if not player.usable:
            _players.pop(key).close()
    with open(temporary, 'wb') as file:
        file.write(result)


def video_encoder():
    for name, settings in VIDEO_ENCODERS:
        if Gst.ElementFactory.find(name):
            return f'{name} {settings}'
    raise MediaError('no H.264 encoder here: '
                     + ', '.join(name for name, _ in VIDEO_ENCODERS))


def do_video(job, temporary):
    """The same for a video, into H.264 in MP4 without sound."""
    pipeline = parse(
        'filesrc name=batch_source ! decodebin ! videoconvert ! queue '
        f'! {job["chain"]} ! identity name=batch_frames ! queue '
        '! videoconvert ! videoscale '
        '! video/x-raw,format=I420,width=[2,32768,2],height=[2,32768,2] '
        f'! {video_encoder()} ! h264parse ! mp4mux '
        '! filesink name=batch_sink')
    use_device(pipeline)
    pipeline.get_by_name('batch_source').set_property('location',
                                                      job['source'])
    pipeline.get_by_name('batch_sink').set_property('location', temporary)
    frames = [0]

    def count(pad, info):
        frames[0] += 1
        return Gst.PadProbeReturn.OK

    pipeline.get_by_name('batch_frames').get_static_pad('src').add_probe(
        Gst.PadProbeType.BUFFER, count)
    pipeline.set_state(Gst.State.PLAYING)
    try:
        wait_for_end(pipeline, frames)
    finally:
        pipeline.set_state(Gst.State.NULL)
    if frames[0] == 0:
        raise MediaError('no frame came out')


def wait_for_end(pipeline, frames):
    bus = pipeline.get_bus()
    seen, since = 0, time.monotonic()
    while True:
        message = bus.timed_pop_filtered(
            Gst.SECOND, Gst.MessageType.ERROR | Gst.MessageType.EOS)
        if message and message.type == Gst.MessageType.ERROR:
            raise MediaError(error_text(message))
        if message:
            return
        if frames[0] != seen:
            seen, since = frames[0], time.monotonic()
        elif time.monotonic() - since > STALL:
            raise MediaError(f'nothing came out in {STALL} s')


def find_type(path):
    """What a file is by its content, as the name of its caps; None unknown."""
    with open(path, 'rb') as file:
        head = file.read(1 << 16)
    if not head:
        raise MediaError('the file is empty')
    caps, _ = GstBase.type_find_helper_for_data(None, head)
    return caps.get_structure(0).get_name() if caps else None


def write_result(job):
    """Makes the result of a job; returns where it is."""
    media_type = find_type(job['source']) or 'application/unknown'
    kind = media_type.split('/')[0]
    if kind not in ('image', 'video', 'application'):
        raise MediaError(f'neither a picture nor a video, but {media_type}')
    decoder = decoder_for(media_type) if kind == 'image' else None
    suffix = {'png': '.png', 'jpeg': '.jpg'}[job['format']]
    output = job['output'] + (suffix if decoder else '.mp4')
    folder, name = os.path.split(output)
    os.makedirs(folder, exist_ok=True)
    temporary = os.path.join(
        folder, f'.{name}.{socket.gethostname()}-{os.getpid()}-'
        f'{threading.get_ident()}{PART}')
    try:
        if decoder:
            do_picture(job, media_type, decoder, temporary)
        else:
            do_video(job, temporary)
        os.replace(temporary, output)
    finally:
        if os.path.exists(temporary):
            os.unlink(temporary)
    return output


def process_one(job):
    begin = time.monotonic()
    outcome = {'worker': f'{socket.gethostname()}:{os.getpid()}',
               'device': device()}
    try:
        outcome['output'] = write_result(job)
    except MediaError as error:
        outcome['error'] = str(error)
    except OSError as error:
        outcome['error'] = error.strerror or str(error)
    except Exception as error:  # one file must not end the others
        outcome['error'] = f'{type(error).__name__}: {error}'
    outcome['seconds'] = round(time.monotonic() - begin, 4)
    return outcome


def process(jobs):
    """Does jobs; says how each went, with `error` in place of an exception."""
    return [process_one(job) for job in jobs]


def close():
    """Ends the pipelines of this worker."""
    while _players:
        _players.popitem()[1].close()
