#!/usr/bin/env python3
"""Runs a program of gst-check under valgrind and fails on what valgrind finds
in the plugin: an error or a definite leak with the plugin in its stack. What
GStreamer, GLib and others do by themselves is counted and no more.

  run_valgrind.py PROGRAM

Exits with 77 (skipped) where there is no valgrind.
"""
import os
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

PLUGIN = 'libgstcudafilters'

ENVIRONMENT = {
    'CK_FORK': 'no',
    'G_SLICE': 'always-malloc',
    'G_DEBUG': 'gc-friendly',
    # the driver does things that valgrind does not know
    'CUDA_VISIBLE_DEVICES': '-1',
}


def run(program, report):
    """Runs it; the exit status is the program's."""
    return subprocess.call(
        ['valgrind', '-q', '--child-silent-after-fork=yes',
         '--xml=yes', '--xml-file=' + report,
         '--leak-check=full', '--show-leak-kinds=definite',
         '--num-callers=40', program],
        env={**os.environ, **ENVIRONMENT})


def frames(error):
    """The frames of all stacks of an error, as (library, function)."""
    return [(os.path.basename(frame.findtext('obj', '')),
             frame.findtext('fn', '?')) for frame in error.iter('frame')]


def describe(error):
    text = error.findtext('xwhat/text') or error.findtext('what')
    stack = ''.join(f'\n    {library}: {function}'
                    for library, function in frames(error))
    return f'{error.findtext("kind")}: {text}{stack}'


def main():
    if not shutil.which('valgrind'):
        print('skipped: valgrind is not installed')
        return 77
    with tempfile.TemporaryDirectory() as folder:
        report = os.path.join(folder, 'report.xml')
        status = run(sys.argv[1], report)
        errors = list(xml.etree.ElementTree.parse(report).getroot()
                      .iter('error'))
    ours = [error for error in errors
            if any(PLUGIN in library for library, _ in frames(error))]
    for error in ours:
        print(describe(error))
    print(f'valgrind: {len(ours)} errors in the plugin, '
          f'{len(errors) - len(ours)} elsewhere')
    return 1 if ours else status


if __name__ == '__main__':
    sys.exit(main())
