"""Runs the test-suite of python3-pyverbs, as Debian ships it with rdma-core, over Verbena, and prints a table.

The tests are taken as they are. One thing of their harness is replaced: it finds the network interface of a device in
sysfs, where these devices are not; here it is the interface that the device is named after. LEFT_OUT says which tests
are skipped, and why. Files about one vendor's
cards (mlx5, efa, cuda) are left out: all their tests would be skipped.
"""

import collections
import ctypes
import glob
import gzip
import os
import sys
import tempfile
import time
import unittest

FOLDER = '/usr/share/doc/rdma-core/tests'
# Tests of what these devices cannot be asked for, and why.
LEFT_OUT = {
    'test_rss_traffic': 'There are no work queues, and so no RSS',
    'test_multi_process_alloc_dm': 'The child of a fork has none of its parent\'s objects',
}
VENDORS = ('test_mlx5', 'test_efa', 'test_cuda')


def unpack(into):
    for path in glob.glob(FOLDER + '/*'):
        name = os.path.basename(path)
        if name.startswith(VENDORS):
            continue
        with (gzip.open if name.endswith('.gz') else open)(path, 'rb') as file:
            text = file.read()
        with open(os.path.join(into, name.removesuffix('.gz')), 'wb') as file:
            file.write(text)


def adapt(device):
    import tests.base

    def get_ip_mac(self, dev, port, index):
        try:
            ip, mac = self.get_ip_mac_address(dev.split('_', 1)[1])
        except (KeyError, IndexError):
            ip = mac = None
        self.args.append([dev, port, index, ip, mac])

    tests.base.RDMATestCase._get_ip_mac = get_ip_mac
    for base in (tests.base.RDMATestCase, tests.base.PyverbsAPITestCase):
        base.setUp = leaving_out(base.setUp)


def leaving_out(set_up):
    def wrapper(self):
        if self._testMethodName in LEFT_OUT:
            self.skipTest(LEFT_OUT[self._testMethodName])
        set_up(self)

    return wrapper


class Result(unittest.TestResult):
    def __init__(self, total):
        super().__init__()
        self.total = total
        self.rows = collections.defaultdict(collections.Counter)
        self.reasons = collections.Counter()
        self.is_terminal = sys.stderr.isatty()

    def startTest(self, test):
        super().startTest(test)
        if self.is_terminal:
            print(f'\r\033[K{self.testsRun} of {self.total}: {test.id()}', end='', file=sys.stderr, flush=True)

    def row(self, test):
        return self.rows[test.id().split('.')[1]]

    def addSuccess(self, test):
        self.row(test)['passed'] += 1

    def addSkip(self, test, reason):
        self.row(test)['skipped'] += 1
        self.reasons[reason] += 1

    def addFailure(self, test, error):
        super().addFailure(test, error)
        self.row(test)['failed'] += 1

    def addError(self, test, error):
        super().addError(test, error)
        self.row(test)['failed'] += 1


def main():
    device = sys.argv[1]
    names = sys.argv[2:]
    with tempfile.TemporaryDirectory() as folder:
        into = os.path.join(folder, 'tests')
        os.mkdir(into)
        unpack(into)
        sys.path[:0] = [folder, into]
        from args_parser import parser

        sys.argv = [sys.argv[0], '--dev', device]
        parser.parse_args()
        adapt(device)
        loader = unittest.TestLoader()
        modules = sorted(os.path.basename(path)[:-3] for path in glob.glob(into + '/test_*.py'))
        wanted = names or ['tests.' + name for name in modules]
        suite = loader.loadTestsFromNames(wanted)
        result = Result(suite.countTestCases())
        started = time.monotonic()
        suite.run(result)
        if result.is_terminal:
            print('\r\033[K', end='', file=sys.stderr)
        report(result, device, time.monotonic() - started)
    # Not sys.exit: daemons of multiprocessing are not waited for. The handlers of C run, and the checks report.
    sys.stdout.flush()
    ctypes.CDLL(None).exit(0 if result.wasSuccessful() else 1)


def report(result, device, seconds):
    for test, text in result.failures + result.errors:
        print(f'FAILED {test.id()}\n{text}')
    print('| tests of | passed | skipped | failed |\n|---|---|---|---|')
    whole = collections.Counter()
    for name, row in sorted(result.rows.items()):
        whole.update(row)
        print(f"| `{name}` | {row['passed']} | {row['skipped']} | {row['failed']} |")
    print(f"| all, over `{device}` | {whole['passed']} | {whole['skipped']} | {whole['failed']} |\n")
    print('| skipped because | tests |\n|---|---|')
    for reason, count in result.reasons.most_common():
        print(f'| {reason} | {count} |')
    print(f"\n{whole['passed']} passed, {whole['failed']} failed, {whole['skipped']} skipped, {seconds:.0f} s")


main()
