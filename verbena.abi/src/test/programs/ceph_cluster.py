"""A cluster of Ceph, a monitor, a manager and an OSD in memory, whose messages go by RDMA. ceph_cluster.py FOLDER ADDRESS DEVICE cm|plain:
writes and reads by rados bench, and compares an object."""
import os
import subprocess
import sys
import time
import uuid

folder, address, device, how = sys.argv[1:]
HOME = f"{folder}/ceph.{how}"
CONF = f"{HOME}/ceph.conf"
END = time.time() + 280
FSID = str(uuid.uuid4())
# Of the manager's many modules, which take long to load, only those that it insists on.
DISABLED = ",".join(sorted(set(os.listdir("/usr/share/ceph/mgr")) - {"balancer", "crash", "devicehealth", "status"}))
started = []
os.makedirs(HOME)


def run(*words, **how):
    """Ends by then, and well."""
    return subprocess.run(words, check=True, timeout=max(1, END - time.time()), **how)


def ceph(*words):
    return run("ceph", "-c", CONF, *words, capture_output=True, text=True).stdout


def rados(*words):
    return run("rados", "-c", CONF, "-p", "verbena", *words, capture_output=True, text=True).stdout


def start(*words):
    started.append(subprocess.Popen([*words, "-f", "-c", CONF]))


with open(CONF, "w") as file:
    file.write(f"""[global]
fsid = {FSID}
mon initial members = a
mon host = [v2:{address}:3300/0,v1:{address}:6789/0]
public addr = {address}
auth cluster required = none
auth service required = none
auth client required = none
ms type = async+rdma
ms async rdma device name = {device}
{"ms async rdma type = iwarp" if how == "cm" else ""}
ms async rdma cm = {"true" if how == "cm" else "false"}
ms async rdma buffer size = 65536
ms async rdma send buffers = 256
ms async rdma receive buffers = 1024
ms async rdma receive queue len = 256
ms async op threads = 1
mon client hunt interval = 30
osd pool default size = 1
osd pool default min size = 1
osd crush chooseleaf type = 0
osd objectstore = memstore
memstore device bytes = 268435456
osd op num shards = 1
osd data = {HOME}/osd
mon data = {HOME}/mon
mgr data = {HOME}/mgr
mon allow pool size one = true
mon warn on pool no redundancy = false
mon data avail crit = 0
mgr disabled modules = {DISABLED}
run dir = {HOME}
admin socket = {HOME}/$name.asok
pid file = {HOME}/$name.pid
log file = {HOME}/$name.log
setuser match path =
""")
try:
    for each in ("mon", "mgr", "osd"):
        os.makedirs(f"{HOME}/{each}")
    monmap = f"{HOME}/monmap"
    run("monmaptool", "--create", "--fsid", FSID, "--addv", "a", f"[v2:{address}:3300,v1:{address}:6789]", monmap,
        stdout=subprocess.DEVNULL)
    run("ceph-mon", "-c", CONF, "--mkfs", "-i", "a", "--monmap", monmap)
    start("ceph-mon", "-i", "a")
    osd = str(uuid.uuid4())
    if ceph("osd", "new", osd).strip() != "0":
        sys.exit("the monitor gives the first OSD another number")
    run("ceph-osd", "-c", CONF, "-i", "0", "--mkfs", "--osd-uuid", osd, stderr=subprocess.DEVNULL)
    start("ceph-mgr", "-i", "x")
    start("ceph-osd", "-i", "0")
    ceph("osd", "pool", "create", "verbena", "4")
    rados("bench", "3", "write", "-b", "65536", "-t", "4", "--no-cleanup")
    told = rados("bench", "2", "seq", "-t", "4")
    sent = os.urandom(3_000_001)
    with open(f"{HOME}/sent", "wb") as file:
        file.write(sent)
    rados("put", "object", f"{HOME}/sent")
    rados("get", "object", f"{HOME}/got")
    with open(f"{HOME}/got", "rb") as file:
        if file.read() != sent:
            sys.exit("the object is another one")
    for each in started:
        if each.poll() is not None:
            sys.exit(f"a daemon has ended with {each.returncode}")
    print([line for line in told.splitlines() if "Total reads made" in line][0])
    print("ceph: the object is the same")
except subprocess.CalledProcessError as e:
    sys.exit(f"{e}: {e.stdout} {e.stderr}")
except subprocess.TimeoutExpired as e:
    sys.exit(f"{' '.join(e.cmd)} has not ended in time")
finally:
    for each in started:
        each.terminate()
    for each in started:
        try:
            each.wait(5)
        except subprocess.TimeoutExpired:
            each.kill()
