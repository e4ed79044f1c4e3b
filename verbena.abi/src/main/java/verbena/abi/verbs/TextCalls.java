package verbena.abi.verbs;

import java.util.HashMap;
import java.util.Map;
import verbena.abi.Native;
import verbena.verbs.WcStatus;

/// Words for numbers, and the tables of rates.
final class TextCalls {
    private static final int WC_STATUS = 0;
    private static final int NODE_TYPE = 1;
    private static final int PORT_STATE = 2;
    private static final int EVENT_TYPE = 3;
    private static final int CM_EVENT = 4;

    private static final String[] NODE_TYPES = {
        "unknown",
        "InfiniBand channel adapter",
        "InfiniBand switch",
        "InfiniBand router",
        "iWARP NIC",
        "usNIC",
        "usNIC UDP",
        "unspecified"
    };
    private static final String[] PORT_STATES = {
        "no state change (NOP)", "down", "init", "armed", "active", "active defer"
    };
    private static final String[] EVENT_TYPES = {
        "CQ error",
        "local work queue catastrophic error",
        "invalid request local work queue error",
        "local access violation work queue error",
        "communication established",
        "send queue drained",
        "path migrated",
        "path migration request error",
        "local catastrophic error",
        "port active",
        "port error",
        "LID change",
        "P_Key change",
        "SM change",
        "SRQ catastrophic error",
        "SRQ limit reached",
        "last WQE reached",
        "client reregistration",
        "GID table change",
        "WQ fatal"
    };
    private static final String[] CM_EVENTS = {
        "RDMA_CM_EVENT_ADDR_RESOLVED",
        "RDMA_CM_EVENT_ADDR_ERROR",
        "RDMA_CM_EVENT_ROUTE_RESOLVED",
        "RDMA_CM_EVENT_ROUTE_ERROR",
        "RDMA_CM_EVENT_CONNECT_REQUEST",
        "RDMA_CM_EVENT_CONNECT_RESPONSE",
        "RDMA_CM_EVENT_CONNECT_ERROR",
        "RDMA_CM_EVENT_UNREACHABLE",
        "RDMA_CM_EVENT_REJECTED",
        "RDMA_CM_EVENT_ESTABLISHED",
        "RDMA_CM_EVENT_DISCONNECTED",
        "RDMA_CM_EVENT_DEVICE_REMOVAL",
        "RDMA_CM_EVENT_MULTICAST_JOIN",
        "RDMA_CM_EVENT_MULTICAST_ERROR",
        "RDMA_CM_EVENT_ADDR_CHANGE",
        "RDMA_CM_EVENT_TIMEWAIT_EXIT"
    };

    /// `enum ibv_rate` by its number: how many times 2.5 Gb/s; 0 for none.
    private static final int[] MULTIPLES = {
        0, 0, 1, 4, 12, 2, 8, 16, 24, 32, 48, 0, 0, 0, 0, 0, 0, 0, 0, 11, 20, 160, 240, 320, 480
    };
    /// The same in Mb/s, where it is not that multiple.
    private static final int[] MEGABITS = {
        0, 0, 2500, 10000, 30000, 5000, 20000, 40000, 60000, 80000, 120000, 14062, 56250, 112500, 168750, 25781, 103125,
        206250, 309375, 28125, 53125, 425000, 637500, 850000, 1275000
    };

    /// A table of texts that are allocated once, because a program keeps them.
    private static final Map<String, Long> TEXTS = new HashMap<>();

    private TextCalls() {}

    static long text(long kind, long code) {
        String text = switch ((int) kind) {
            case WC_STATUS ->
                code >= 0 && code < WcStatus.values().length
                        ? WcStatus.ofCode((int) code).label()
                        : "unknown";
            case NODE_TYPE -> word(NODE_TYPES, code, "unknown");
            case PORT_STATE -> word(PORT_STATES, code, "unknown");
            case EVENT_TYPE -> word(EVENT_TYPES, code, "unknown");
            case CM_EVENT -> word(CM_EVENTS, code, "UNKNOWN EVENT");
            default -> "unknown";
        };
        synchronized (TEXTS) {
            return TEXTS.computeIfAbsent(text, Native::allocate);
        }
    }

    private static String word(String[] words, long code, String otherwise) {
        return code >= 0 && code < words.length ? words[(int) code] : otherwise;
    }

    /// @param way 0 a rate as a multiple of 2.5 Gb/s, 1 back; 2 a rate in Mb/s, 3 back
    static long rate(long way, long value) {
        int[] table = way < 2 ? MULTIPLES : MEGABITS;
        if (way % 2 == 0) {
            boolean is = value >= 0 && value < table.length && table[(int) value] > 0;
            return is ? table[(int) value] : -1;
        }
        for (int i = 0; i < table.length; i++) {
            if (value > 0 && table[i] == value) {
                return i;
            }
        }
        return 0; // IBV_RATE_MAX
    }
}
