package verbena.abi.verbs;

import static verbena.foreign.rdma.VerbsStructs.CQ;
import static verbena.foreign.rdma.VerbsStructs.CQ_EX;
import static verbena.foreign.rdma.VerbsStructs.CQ_INIT_ATTR_EX;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import verbena.abi.Errno;
import verbena.abi.Handles;
import verbena.abi.Native;
import verbena.abi.Operations;
import verbena.foreign.Memory;
import verbena.foreign.rdma.VerbsConstants;
import verbena.verbs.CompletionChannel;
import verbena.verbs.CompletionQueue;
import verbena.verbs.CompletionQueueOptions;

/// Completion channels and queues, polling included.
public final class CompletionCalls {
    private static final String[] POLLING = {
        "start_poll", "next_poll", "end_poll", "read_opcode", "read_vendor_err", "read_wc_flags"
    };
    /// Each needs its bit of `wc_flags`.
    private static final Map<Integer, String> READ_ON_REQUEST = Map.of(
            VerbsConstants.IBV_WC_EX_WITH_BYTE_LEN, "read_byte_len",
            VerbsConstants.IBV_WC_EX_WITH_IMM, "read_imm_data",
            VerbsConstants.IBV_WC_EX_WITH_QP_NUM, "read_qp_num",
            VerbsConstants.IBV_WC_EX_WITH_SRC_QP, "read_src_qp",
            VerbsConstants.IBV_WC_EX_WITH_SLID, "read_slid",
            VerbsConstants.IBV_WC_EX_WITH_SL, "read_sl",
            VerbsConstants.IBV_WC_EX_WITH_DLID_PATH_BITS, "read_dlid_path_bits",
            VerbsConstants.IBV_WC_EX_WITH_COMPLETION_TIMESTAMP, "read_completion_ts",
            VerbsConstants.IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK, "read_completion_wallclock_ns");
    private static final int CQ_FLAGS = 0x3; // SINGLE_THREADED, IGNORE_OVERRUN

    private CompletionCalls() {}

    // ---- channels

    public static long createCompChannel(long context) {
        var channel = Handles.get(context, ContextHandle.class).context.createCompletionChannel();
        return ChannelHandle.of(channel, context).pointer;
    }

    static long destroyCompChannel(long channel) {
        Handles.get(channel, ChannelHandle.class).destroy();
        return 0;
    }

    /// Returns the next step in waiting for an event; see `ibverbs.c`.
    static long awaitCqEvent(long channel, long into, long pollfds, long bytes) {
        return ChannelHandle.await(channel, into, Native.at(pollfds, bytes));
    }

    /// Takes an event after the program has read the descriptor of the channel.
    static long takeCqEvent(long channel, long into) {
        return Handles.get(channel, ChannelHandle.class).take(into);
    }

    static long ackCqEvents(long cq, long count) {
        CompletionQueueHandle.get(cq).onEventsAcknowledged((int) Math.min(count, Integer.MAX_VALUE));
        return 0;
    }

    // ---- queues

    public static long createCq(long context, long entries, long programsOwn, long channel, long vector) {
        var of = Handles.get(context, ContextHandle.class);
        if ((int) entries < 1
                || (int) entries > of.context.attributes().queues().maxCqe()
                || vector != 0) {
            return Errno.EINVAL;
        }
        var on = Optional.ofNullable(channel == 0 ? null : Handles.get(channel, ChannelHandle.class));
        CompletionQueue made = of.context.createCompletionQueue(
                new CompletionQueueOptions((int) entries, on.<CompletionChannel>map(each -> each.channel), false));
        return CompletionQueueHandle.of(made, context, on, programsOwn).pointer;
    }

    static long createCqEx(long context, long attributes) {
        long mask = Integer.toUnsignedLong(Memory.getInt(Native.some(attributes) + CQ_INIT_ATTR_EX.at("comp_mask")));
        long flags = (mask & VerbsConstants.IBV_CQ_INIT_ATTR_MASK_FLAGS) == 0
                ? 0
                : Memory.getInt(attributes + CQ_INIT_ATTR_EX.at("flags"));
        if ((mask & ~3) != 0 || (flags & ~CQ_FLAGS) != 0) {
            return Errno.EINVAL;
        }
        long wanted = Memory.getLong(attributes + CQ_INIT_ATTR_EX.at("wc_flags"));
        var operations = new ArrayList<>(List.of(POLLING));
        for (var each : READ_ON_REQUEST.entrySet()) {
            if ((wanted & each.getKey()) != 0) {
                operations.add(each.getValue());
                wanted &= ~each.getKey();
            }
        }
        if (wanted != 0) {
            return Errno.EOPNOTSUPP;
        }
        long cq = createCq(
                context,
                Memory.getInt(attributes),
                Memory.getLong(attributes + CQ_INIT_ATTR_EX.at("cq_context")),
                Memory.getLong(attributes + CQ_INIT_ATTR_EX.at("channel")),
                Memory.getInt(attributes + CQ_INIT_ATTR_EX.at("comp_vector")));
        if (cq > 0) {
            operations.forEach(name -> Memory.putLong(cq + CQ_EX.at(name), Operations.address(name)));
        }
        return cq;
    }

    static long resizeCq(long cq, long entries) {
        var handle = CompletionQueueHandle.byNumber(cq);
        if ((int) entries < 1
                || (int) entries > handle.cq.context().attributes().queues().maxCqe()) {
            return Errno.EINVAL;
        }
        handle.resize((int) entries);
        Memory.putInt(cq + CQ.at("cqe"), handle.cq.capacity());
        return 0;
    }

    /// Changes the moderation of interrupts: there are none.
    static long modifyCq(long cq, long attributes) {
        CompletionQueueHandle.byNumber(cq);
        return Errno.EOPNOTSUPP;
    }

    static long destroyCq(long cq) {
        CompletionQueueHandle.byNumber(cq).destroy();
        return 0;
    }

    static long reqNotifyCq(long cq, long solicitedOnly) {
        CompletionQueueHandle.byNumber(cq).arm(solicitedOnly != 0);
        return 0;
    }

    // ---- polling

    static long pollCq(long cq, long count, long into) {
        return CompletionQueueHandle.get(cq).poll((int) count, into);
    }

    static long startPoll(long cq, long attributes) {
        var handle = CompletionQueueHandle.get(cq);
        if (Memory.getInt(Native.some(attributes)) != 0) { // a mask of what there is not yet
            return Errno.EINVAL;
        }
        handle.polling.lock();
        if (!handle.next()) {
            handle.polling.unlock();
            return Errno.ENOENT;
        }
        return 0;
    }

    static long nextPoll(long cq) {
        return CompletionQueueHandle.get(cq).next() ? 0 : Errno.ENOENT;
    }

    static long endPoll(long cq) {
        CompletionQueueHandle.get(cq).polling.unlock();
        return 0;
    }

    static long wcRead(long cq, long field) {
        return CompletionQueueHandle.get(cq).read((int) field);
    }
}
