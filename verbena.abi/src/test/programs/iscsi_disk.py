"""A disk of tgtd by iSER, for programs that use libiscsi. iscsi_disk.py FOLDER ADDRESS PROGRAM [ARGUMENT ...], where URL stands for the
disk, and NAME for the name of the initiator."""
import os
import subprocess
import sys
import time

folder, address, *program = sys.argv[1:]
TARGET = "iqn.2026-11.verbena:disk"
INITIATOR = "iqn.2026-11.verbena:initiator"
END = time.time() + 40
os.environ["TGT_IPC_SOCKET"] = f"{folder}/tgtd"


def ask(*words):
    """Whether tgtd did it."""
    done = subprocess.run(["tgtadm", "--lld", "iser", *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return done.returncode == 0


def until(what, *words):
    while not ask(*words):
        if time.time() > END or tgtd.poll() is not None:
            sys.exit(f"tgtd does not {what}")
        time.sleep(0.1)


disk = f"{folder}/iscsi.disk"
with open(disk, "wb") as file:
    file.truncate(16 << 20)
tgtd = subprocess.Popen(["tgtd", "-f"])
try:
    until("start", "--op", "new", "--mode", "target", "--tid", "1", "-T", TARGET)
    ask("--op", "new", "--mode", "logicalunit", "--tid", "1", "--lun", "1", "-b", disk)
    # Over iSER an initiator has to be allowed by its address and by its name; over TCP, by one of them.
    ask("--op", "bind", "--mode", "target", "--tid", "1", "-I", "ALL")
    ask("--op", "bind", "--mode", "target", "--tid", "1", "-Q", INITIATOR)
    names = {"URL": f"iser://{address}/{TARGET}/1", "NAME": INITIATOR}
    status = subprocess.run([names.get(word, word) for word in program], timeout=40).returncode
    # tgtd ends when it has no target, and a target goes when its connections have ended. SIGTERM does not end it.
    until("let the target go", "--op", "delete", "--mode", "target", "--tid", "1")
    ask("--op", "delete", "--mode", "system")
    sys.exit(status or tgtd.wait(20))
finally:
    tgtd.kill()
