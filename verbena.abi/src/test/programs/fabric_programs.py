#!/usr/bin/env python3
"""Programs of infiniband-diags, or opensm, over a soft fabric of their own. Usage: fabric_programs.py VERBENA FOLDER diags|opensm

Run by `verbena run`, so that they find our libibumad. Prints a line for each program, and "all done" when each did what it should.
"""
import os
import signal
import subprocess
import sys
import time

PATIENCE = 50  # seconds
TOPOLOGY = """
switch s1 8
switch s2 8
link s1 s2
hca a
hca b
hca c
link a s1
link b s2
link c s2
"""
# The command, and what it says. LIDs are those that our manager gives: switches first, in the order of the file.
DIAGS = [
    ("ibstat", ["CA 'ib0'", "CA 'ib2'", "State: Active", "Rate: 100"]),
    ("ibnetdiscover", ['"s1" base port 0 lid 1', '# "c"', "4xEDR"]),
    ("iblinkinfo", ["Active/  LinkUp"]),
    ("ibhosts", ['"a"', '"b"', '"c"']),
    ("ibswitches", ['"s1"', '"s2"']),
    ("smpquery nodeinfo 1", ["Switch", "NumPorts:........................8"]),
    ("smpquery -D nodedesc 0,1", ["s1"]),
    ("smpquery -c nodeinfo 1 0,1", ["Switch"]),
    ("smpquery portinfo 4", ["LinkState:.......................Active"]),
    ("smpquery switchinfo 2", ["LinearFdbTop:....................5"]),
    ("smpquery pkeys 4", ["0xffff"]),
    ("smpquery sl2vl 4", ["SL2VL"]),
    ("smpquery vlarb 4", ["0x40"]),
    ("perfquery", ["PortXmitPkts"]),
    ("perfquery -x 4 1", ["PortXmitPkts"]),
    ("saquery", ["NodeDescription.........s2"]),
    ("saquery -C ib2 PIR", ["EndPortLid"]),
    ("saquery -p --src-to-dst 3:4", ["dlid....................4"]),
    ("saquery -s", ["capability_mask"]),
    ("sminfo -C ib1", ["sm lid 3", "SMINFO_MASTER"]),
    ("ibtracert 3 4", ['lid 2-2 "s2"', "To ca"]),
    ("ibroute 1", ["'b'"]),
    ("ibaddr 4", ["LID start 0x4"]),
    ("ibportstate 1 2", ["LinkUp"]),
    ("ibqueryerrors", ["5 nodes checked, 0 bad nodes found"]),
    ("ibping -c 2 4", ["2 received"]),
]


def own_environment():
    """That of a command that is no program of others."""
    return {name: value for name, value in os.environ.items() if name not in ("LD_PRELOAD", "LD_LIBRARY_PATH")}


class Fabric:
    def __init__(self, verbena, folder, *options):
        self.verbena = verbena
        self.folder = folder
        path = os.path.join(folder, "diags.topo")
        with open(path, "w") as file:
            file.write(TOPOLOGY)
        self.process = subprocess.Popen([verbena, "fabric", "up", *options, path], env=own_environment())
        self.wait_until("lid")

    def show(self, *options):
        done = subprocess.run([self.verbena, "fabric", "show", *options], env=own_environment(), capture_output=True, text=True)
        return done.stdout

    def wait_until(self, text, times=1):
        end = time.monotonic() + PATIENCE
        while self.show().count(text) < times:
            if time.monotonic() > end or self.process.poll() is not None:
                self.process.kill()
                sys.exit("the fabric does not come up:\n" + self.show())

    def wait_until_active(self):
        self.wait_until("ACTIVE", 8)  # both ends of four cables

    def close(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait()


def check(command, wanted):
    done = subprocess.run(command.split(), capture_output=True, text=True, timeout=PATIENCE)
    said = done.stdout + done.stderr
    if done.returncode != 0 or not all(text in said for text in wanted):
        print(command, "ended with", done.returncode, "and said:\n" + said)
        return False
    print(command, "ok")
    return True


def diags(fabric):
    fabric.wait_until_active()
    server = subprocess.Popen(["ibping", "-S", "-C", "ib1"])
    try:
        return all([check(command, wanted) for command, wanted in DIAGS])
    finally:
        server.kill()
        server.wait()


def opensm(fabric):
    log = os.path.join(fabric.folder, "opensm.log")
    manager = subprocess.Popen(["opensm", "-f", log, "-s", "2"], stdout=subprocess.DEVNULL, cwd=fabric.folder,
                               env=dict(os.environ, OSM_TMP_DIR=fabric.folder + "/", OSM_CACHE_DIR=fabric.folder + "/"))
    try:
        fabric.wait_until_active()
        end = time.monotonic() + PATIENCE
        said = ""
        while "SUBNET UP" not in said and time.monotonic() < end:
            with open(log) as file:
                said = file.read()
        isUp = "SUBNET UP" in said and "ERR " not in said
        if not isUp:
            print(said)
        routes = "by port" in fabric.show("--routes")
        return all([isUp, routes, check("sminfo -C ib1", ["SMINFO_MASTER"]), check("saquery -C ib2", ["NodeDescription.........s2"]),
                    check("saquery MCMR", ["ff12:401b:ffff::ffff:ffff"])])
    finally:
        manager.send_signal(signal.SIGTERM)
        manager.wait()


def main():
    verbena, folder, what = sys.argv[1:]
    os.environ["VERBENA_FABRIC"] = os.path.join(folder, "fabric-of-" + what, "fabric")
    fabric = Fabric(verbena, folder, *(["--no-manager"] if what == "opensm" else []))
    try:
        good = opensm(fabric) if what == "opensm" else diags(fabric)
    finally:
        fabric.close()
    print("all done" if good else "not all did what they should")
    return 0 if good else 1


sys.exit(main())
