#!/usr/bin/python3
"""An application with the filters inside: its frames are NumPy arrays.

    embed.py PICTURE OUT.png [CHAIN]

PICTURE is any picture that GStreamer decodes. It is read once and sent through
the chain as 100 frames, each a little brighter, as an application would send
what its camera gives; the last result is written to OUT.png.

On a GPU the frames go up at the first element of the chain and come down after
the last one; nothing here has to know about it.
"""
import sys
import threading
import time

import gi
gi.require_version('Gst', '1.0')
gi.require_version('GstApp', '1.0')
gi.require_version('GstVideo', '1.0')
from gi.repository import GLib, Gst, GstApp, GstVideo  # noqa: E402,F401
import numpy as np  # noqa: E402

FRAMES = 100
RATE = 30
DEFAULT_CHAIN = 'cudagaussian kernel-width=7 ! cudasobel'


class PipelineError(Exception):
    """What an element, or the parser of pipelines, complained about."""


def parse(text):
    try:
        return Gst.parse_launch_full(text, None, Gst.ParseFlags.FATAL_ERRORS)
    except GLib.Error as error:
        raise PipelineError(error.message) from None


def check_bus(pipeline):
    """Raises the first error on the bus; prints which backend runs."""
    bus = pipeline.get_bus()
    kinds = Gst.MessageType.ERROR | Gst.MessageType.INFO
    while message := bus.pop_filtered(kinds):
        if message.type == Gst.MessageType.ERROR:
            error, debug = message.parse_error()
            raise PipelineError(
                f'{message.src.get_name()}: {error.message}\n{debug}')
        error, _ = message.parse_info()
        print(f'{message.src.get_name()}: {error.message}')


def pull(pipeline):
    """The next sample, or None at the end of the stream.

    An error does not reach the sink: hence the look at the bus while there is
    no frame.
    """
    sink = pipeline.get_by_name('sink')
    while True:
        ended = sink.is_eos()
        sample = sink.try_pull_sample(Gst.SECOND // 10)
        if sample is None:
            check_bus(pipeline)
        if sample is not None or ended:
            return sample


def to_array(sample):
    """The pixels of an RGB or GRAY8 sample: height x width x channels."""
    info = GstVideo.VideoInfo.new_from_caps(sample.get_caps())
    buffer = sample.get_buffer()
    meta = GstVideo.buffer_get_video_meta(buffer)  # true layout, if it differs
    stride = meta.stride[0] if meta else info.stride[0]
    offset = meta.offset[0] if meta else info.offset[0]
    channels = info.finfo.pixel_stride[0]
    ok, mapped = buffer.map(Gst.MapFlags.READ)
    if not ok:
        raise PipelineError('the frame cannot be mapped')
    try:
        return np.ndarray((info.height, info.width, channels), np.uint8,
                          mapped.data, offset, (stride, channels, 1)).copy()
    finally:
        buffer.unmap(mapped)


def to_buffer(array, index):
    """A buffer with the pixels of an RGB array, its rows as they lie."""
    array = np.ascontiguousarray(array)
    height, width, _ = array.shape
    buffer = Gst.Buffer.new_wrapped(array.tobytes())
    GstVideo.buffer_add_video_meta_full(
        buffer, GstVideo.VideoFrameFlags.NONE, GstVideo.VideoFormat.RGB,
        width, height, 1, [0, 0, 0, 0], [array.strides[0], 0, 0, 0])
    buffer.pts = index * Gst.SECOND // RATE
    buffer.duration = Gst.SECOND // RATE
    return buffer


def load(path):
    pipeline = parse('filesrc name=source ! decodebin ! videoconvert '
                     '! video/x-raw,format=RGB ! appsink name=sink sync=false')
    pipeline.get_by_name('source').set_property('location', path)
    pipeline.set_state(Gst.State.PLAYING)
    try:
        sample = pull(pipeline)
        if sample is None:
            raise PipelineError(f'{path}: no picture in it')
        return to_array(sample)
    finally:
        pipeline.set_state(Gst.State.NULL)


def run_chain(chain, frames, shape):
    """Yields the filtered arrays of an iterable of RGB arrays of one shape."""
    height, width, _ = shape
    pipeline = parse('appsrc name=source format=time block=true '
                     f'! {chain} ! videoconvert ! video/x-raw,format=RGB '
                     '! appsink name=sink sync=false max-buffers=4')
    source = pipeline.get_by_name('source')
    source.set_property('caps', Gst.Caps.from_string(
        f'video/x-raw,format=RGB,width={width},height={height},'
        f'framerate={RATE}/1'))

    def feed():  # appsrc blocks while the chain is busy: a thread of its own
        for index, array in enumerate(frames):
            if source.push_buffer(to_buffer(array, index)) != Gst.FlowReturn.OK:
                break
        source.end_of_stream()

    pipeline.set_state(Gst.State.PLAYING)
    thread = threading.Thread(target=feed, daemon=True)
    thread.start()
    try:
        while sample := pull(pipeline):
            yield to_array(sample)
    finally:
        pipeline.set_state(Gst.State.NULL)
        thread.join()


def save(array, path):
    height, width, _ = array.shape
    sample = Gst.Sample.new(
        to_buffer(array, 0), Gst.Caps.from_string(
            f'video/x-raw,format=RGB,width={width},height={height},'
            'framerate=0/1'), None, None)
    try:
        png = GstVideo.video_convert_sample(
            sample, Gst.Caps.from_string('image/png'), 10 * Gst.SECOND)
    except GLib.Error as error:
        raise PipelineError(error.message) from None
    with open(path, 'wb') as file:
        buffer = png.get_buffer()
        file.write(buffer.extract_dup(0, buffer.get_size()))


def main():
    if not 3 <= len(sys.argv) <= 4:
        sys.exit('usage: embed.py PICTURE OUT.png [CHAIN]')
    Gst.init(None)
    chain = sys.argv[3] if len(sys.argv) > 3 else DEFAULT_CHAIN
    picture = load(sys.argv[1])
    brighter = (np.clip(picture * (0.5 + i / FRAMES), 0, 255).astype(np.uint8)
                for i in range(FRAMES))
    begin, count = time.monotonic(), 0
    for result in run_chain(chain, brighter, picture.shape):
        count += 1
    rate = count / (time.monotonic() - begin)
    print(f'{count} frames of {picture.shape[1]} x {picture.shape[0]}, '
          f'{rate:.1f} frames/s; mean {picture.mean():.1f} before, '
          f'{result.mean():.1f} after')
    save(result, sys.argv[2])
    print(sys.argv[2])


if __name__ == '__main__':
    try:
        main()
    except (PipelineError, OSError) as problem:
        sys.exit(f'embed.py: {problem}')
