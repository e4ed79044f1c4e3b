package verbena.abi.verbs;

import static verbena.foreign.rdma.VerbsStructs.DATA_BUF;
import static verbena.foreign.rdma.VerbsStructs.QP_EX;
import static verbena.foreign.rdma.VerbsStructs.SGE;

import java.util.EnumSet;
import java.util.Set;
import verbena.abi.Errno;
import verbena.abi.Handles;
import verbena.abi.Native;
import verbena.foreign.Memory;
import verbena.foreign.rdma.VerbsConstants;
import verbena.verbs.FlushTarget;
import verbena.verbs.SendBatch;

/// Requests are posted one call at a time: ibv_wr_start(3) to ibv_wr_complete(3). None of the calls between says
/// that something was wrong; the first such thing is kept, and told at the end, when nothing is posted then.
final class RequestCalls {
    private static final long WR_ID = QP_EX.at("wr_id");
    private static final long WR_FLAGS = QP_EX.at("wr_flags");
    private static final long SGE_BYTES = SGE.size();
    private static final long SGE_LENGTH = SGE.at("length");
    private static final long SGE_LKEY = SGE.at("lkey");
    private static final long BUFFER_BYTES = DATA_BUF.size();

    /// One call of the program's on a batch.
    private interface Step {
        void on(SendBatch batch);
    }

    private RequestCalls() {}

    static long wrStart(long qp) {
        var handle = QueuePairHandle.get(qp);
        SendBatch batch = null;
        long error = 0;
        try {
            batch = handle.qp.sendBatch();
        } catch (RuntimeException e) {
            error = Errno.of(e);
        }
        handle.whenPosted.clear();
        handle.begun = batch;
        handle.error = error;
        return 0;
    }

    static long wrComplete(long qp) {
        var handle = QueuePairHandle.get(qp);
        try (SendBatch batch = handle.begun) {
            handle.begun = null;
            if (handle.error == 0 && batch != null) {
                batch.submit();
                handle.whenPosted.forEach(Runnable::run);
            } else if (batch != null) {
                batch.discard();
            }
            return batch == null && handle.error == 0 ? Errno.EINVAL : handle.error;
        }
    }

    static long wrAbort(long qp) {
        var handle = QueuePairHandle.get(qp);
        SendBatch batch = handle.begun;
        handle.begun = null;
        if (batch != null) {
            batch.discard();
            batch.close();
        }
        return 0;
    }

    /// Adds a part to the request that was begun last. A request that is to fail takes nothing more.
    private static long more(long qp, Step step) {
        return QueuePairHandle.get(qp).isFaulty ? 0 : step(qp, step);
    }

    private static long step(long qp, Step step) {
        var handle = QueuePairHandle.get(qp);
        SendBatch batch = handle.begun;
        if (batch != null && handle.error == 0) {
            try {
                step.on(batch);
            } catch (RuntimeException e) {
                handle.error = Errno.of(e);
            }
        }
        return 0;
    }

    static long wrRequest(long qp, long opcode, long rkey, long address, long a, long b) {
        long wrId = Memory.getLong(qp + WR_ID);
        int flags = Memory.getInt(qp + WR_FLAGS);
        int key = (int) rkey;
        var handle = begin(qp, (int) opcode);
        return step(qp, batch -> {
            handle.isFaulty = Faults.failsForOperation(batch, handle, (int) opcode, wrId);
            if (handle.isFaulty) {
                return;
            }
            switch ((int) opcode) {
                case VerbsConstants.IBV_WR_SEND -> batch.send(wrId);
                case VerbsConstants.IBV_WR_SEND_WITH_IMM -> batch.sendWithImmediate(wrId, Memory.swap((int) a));
                case VerbsConstants.IBV_WR_SEND_WITH_INV -> batch.sendWithInvalidate(wrId, key);
                case VerbsConstants.IBV_WR_RDMA_WRITE -> batch.write(wrId, address, key);
                case VerbsConstants.IBV_WR_RDMA_WRITE_WITH_IMM ->
                    batch.writeWithImmediate(wrId, address, key, Memory.swap((int) a));
                case VerbsConstants.IBV_WR_RDMA_READ -> batch.read(wrId, address, key);
                case VerbsConstants.IBV_WR_ATOMIC_FETCH_AND_ADD -> batch.fetchAdd(wrId, address, key, a);
                case VerbsConstants.IBV_WR_ATOMIC_CMP_AND_SWP -> batch.compareSwap(wrId, address, key, a, b);
                case VerbsConstants.IBV_WR_LOCAL_INV -> batch.localInvalidate(wrId, key);
                case VerbsConstants.IBV_WR_ATOMIC_WRITE -> batch.atomicWrite(wrId, address, key, a);
                case VerbsConstants.IBV_WR_FLUSH -> flush(batch, wrId, address, key, a, b);
                default -> throw new IllegalArgumentException("opcode: " + opcode);
            }
            SendCalls.flags(batch, flags);
        });
    }

    private static QueuePairHandle begin(long qp, int opcode) {
        var handle = QueuePairHandle.get(qp);
        handle.opcode = opcode;
        handle.isFaulty = false;
        return handle;
    }

    /// @param kinds `enum ibv_placement_type` in the second byte, `enum ibv_selectivity_level` in the first
    private static void flush(SendBatch batch, long wrId, long address, int rkey, long length, long kinds) {
        Set<FlushTarget> targets = EnumSet.noneOf(FlushTarget.class);
        if ((kinds >>> 8 & 1) != 0) {
            targets.add(FlushTarget.GLOBAL);
        }
        if ((kinds >>> 8 & 2) != 0) {
            targets.add(FlushTarget.PERSISTENT);
        }
        if ((kinds & 0xFF) == 1) {
            batch.flushRegion(wrId, rkey, targets);
        } else if (length < 0 || length > Integer.MAX_VALUE) {
            throw new IllegalArgumentException("flush: length: " + Long.toUnsignedString(length));
        } else {
            batch.flush(wrId, address, rkey, (int) length, targets);
        }
    }

    static long wrBindMw(long qp, long mw, long rkey, long info) {
        long wrId = Memory.getLong(qp + WR_ID);
        int flags = Memory.getInt(qp + WR_FLAGS);
        var handle = begin(qp, VerbsConstants.IBV_WR_BIND_MW);
        return step(qp, batch -> {
            handle.isFaulty = Faults.failsForOperation(batch, handle, VerbsConstants.IBV_WR_BIND_MW, wrId);
            if (handle.isFaulty) {
                return;
            }
            var window = SendCalls.bind(batch, handle, wrId, mw, (int) rkey, Native.some(info));
            SendCalls.flags(batch, flags);
            handle.whenPosted.add(() -> window.onBindPosted((int) rkey));
        });
    }

    static long wrSetUdAddr(long qp, long ah, long remoteQpn, long remoteQkey) {
        var handle = QueuePairHandle.get(qp);
        return more(qp, batch -> {
            var way = Handles.get(ah, AddressHandleHandle.class);
            handle.isFaulty = Faults.failsForWay(batch, handle, way);
            if (!handle.isFaulty) {
                batch.to(way.way, (int) remoteQpn, (int) remoteQkey);
            }
        });
    }

    static long wrSetXrcSrqn(long qp, long remoteSrqn) {
        return more(qp, batch -> batch.to((int) remoteSrqn));
    }

    static long wrSetSge(long qp, long lkey, long address, long length) {
        return more(qp, batch -> {
            if (fits(batch, qp, 1, length & 0xFFFF_FFFFL)) {
                batch.sge((int) lkey, address, length & 0xFFFF_FFFFL);
            }
        });
    }

    private static boolean fits(SendBatch batch, long qp, long pieces, long bytes) {
        var handle = QueuePairHandle.get(qp);
        handle.isFaulty = Faults.failsForLength(batch, handle, handle.opcode, pieces, bytes);
        return !handle.isFaulty;
    }

    static long wrSetSgeList(long qp, long count, long list) {
        return more(qp, batch -> {
            if (Long.compareUnsigned(count, QueuePairHandle.get(qp).entriesMax) > 0) {
                throw new IllegalArgumentException("num_sge: " + Long.toUnsignedString(count));
            }
            long bytes = 0;
            for (long sge = list; sge < list + count * SGE_BYTES; sge += SGE_BYTES) {
                bytes += Integer.toUnsignedLong(Memory.getInt(sge + SGE_LENGTH));
            }
            if (!fits(batch, qp, count, bytes)) {
                return;
            }
            for (long sge = list; sge < list + count * SGE_BYTES; sge += SGE_BYTES) {
                batch.sge(
                        Memory.getInt(sge + SGE_LKEY),
                        Memory.getLong(sge),
                        Integer.toUnsignedLong(Memory.getInt(sge + SGE_LENGTH)));
            }
        });
    }

    static long wrSetInline(long qp, long address, long length) {
        return more(qp, batch -> {
            if (length != 0 && fits(batch, qp, 1, length)) {
                batch.inline(Native.at(address, length));
            }
        });
    }

    static long wrSetInlineList(long qp, long count, long list) {
        return more(qp, batch -> {
            for (long buffer = list; buffer < list + count * BUFFER_BYTES; buffer += BUFFER_BYTES) {
                long length = Memory.getLong(buffer + 8);
                if (length != 0) {
                    batch.inline(Native.at(Memory.getLong(buffer), length));
                }
            }
        });
    }
}
