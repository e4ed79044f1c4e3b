"""A guest of QEMU moves to another QEMU by rdma:, and runs on there. qemu_migration.py FOLDER ADDRESS PORT [pin]"""
import json
import socket
import subprocess
import sys
import time

folder, address, port = sys.argv[1:4]
pins = len(sys.argv) > 4
END = time.time() + 50


class Qemu:
    """One that does nothing but show its BIOS, without hardware that needs a file."""

    def __init__(self, name, *options):
        control = f"{folder}/{name}.qmp"
        self.process = subprocess.Popen(
            ["qemu-system-x86_64", "-accel", "tcg", "-machine", "pc", "-m", "64", "-nodefaults", "-display", "none",
             "-qmp", f"unix:{control},server=on,wait=off", *options])
        self.socket = socket.socket(socket.AF_UNIX)
        while self.socket.connect_ex(control) != 0:
            if self.process.poll() is not None or time.time() > END:
                sys.exit(f"{name} does not answer")
            time.sleep(0.05)
        self.lines = self.socket.makefile("rw")
        self.lines.readline()
        self.ask("qmp_capabilities")

    def ask(self, what, **arguments):
        self.lines.write(json.dumps({"execute": what, "arguments": arguments}) + "\n")
        self.lines.flush()
        while True:
            line = self.lines.readline()
            if not line:
                sys.exit(f"QEMU ended at {what}")
            answer = json.loads(line)
            if "error" in answer:
                sys.exit(f"{what}: {answer['error']}")
            if "return" in answer:
                return answer["return"]


uri = f"rdma:{address}:{port}"
there = Qemu("there", "-incoming", uri)
here = Qemu("here")
try:
    if pins:
        for each in (here, there):
            each.ask("migrate-set-capabilities", capabilities=[{"capability": "rdma-pin-all", "state": True}])
    here.ask("migrate", uri=uri)
    told = {}
    while told.get("status") not in ("completed", "failed") and time.time() < END:
        time.sleep(0.05)
        told = here.ask("query-migrate")
    print("migration", told.get("status"), told.get("error-desc", ""))
    print("the guest", "runs on" if there.ask("query-status")["running"] else "stands still")
    here.ask("quit")
    there.ask("quit")
    sys.exit(here.process.wait() or there.process.wait())
finally:
    here.process.kill()
    there.process.kill()
