package verbena.subnet.node;

import static verbena.wire.mad.Mad.STATUS_BAD_ATTRIBUTE;
import static verbena.wire.mad.Mad.STATUS_BAD_VALUE;

import java.lang.foreign.MemorySegment;
import verbena.wire.mad.ClassPortInfo;
import verbena.wire.mad.Field;
import verbena.wire.mad.PortCounter;
import verbena.wire.mad.PortCounters;
import verbena.wire.mad.PortCountersExtended;

/// The performance management agent: the counters of the ports (IBTA 16.1). It reads and writes the attribute in
/// place, and returns the status of the answer.
final class PerformanceAgent {
    private static final int CAPABILITIES =
            ClassPortInfo.ALL_PORT_SELECT | ClassPortInfo.EXTENDED_WIDTH | ClassPortInfo.XMIT_WAIT;
    private static final PortCounter[] COUNTERS = PortCounter.values();

    private final NodeParts node;

    PerformanceAgent(NodeParts node) {
        this.node = node;
    }

    int access(boolean set, int attribute, MemorySegment data) {
        return switch (attribute) {
            case ClassPortInfo.ATTRIBUTE -> set ? STATUS_BAD_ATTRIBUTE : classPortInfo(data);
            case PortCounters.ATTRIBUTE -> counters(set, data, false);
            case PortCountersExtended.ATTRIBUTE -> counters(set, data, true);
            default -> STATUS_BAD_ATTRIBUTE;
        };
    }

    private static int classPortInfo(MemorySegment data) {
        data.fill((byte) 0);
        ClassPortInfo.BASE_VERSION.put(data, 1);
        ClassPortInfo.CLASS_VERSION.put(data, 1);
        ClassPortInfo.CAPABILITY_MASK.put(data, CAPABILITIES);
        ClassPortInfo.RESP_TIME_VALUE.put(data, 16);
        return 0;
    }

    private int counters(boolean set, MemorySegment data, boolean extended) {
        int select = PortCounters.PORT_SELECT.getInt(data);
        // Port 0 is a switch's own; of an adapter it is what tools ask for that name no port.
        boolean all = select == PortCounters.ALL_PORTS || (select == 0 && !node.isSwitch());
        int first = all ? 1 : select;
        int last = all ? node.ports() : select;
        if (node.portOrNull(first) == null) {
            return STATUS_BAD_VALUE;
        }
        if (set) {
            int mask = PortCounters.COUNTER_SELECT.getInt(data)
                    | (extended ? 0 : PortCounters.COUNTER_SELECT_2.getInt(data) << 16);
            for (int number = first; number <= last; number++) {
                write(node.port(number), data, extended, mask);
            }
        }
        data.fill((byte) 0);
        PortCounters.PORT_SELECT.put(data, select);
        for (PortCounter counter : COUNTERS) {
            Field field = extended ? counter.extended() : counter.classic();
            if (field != null) {
                long sum = 0;
                for (int number = first; number <= last; number++) {
                    NodePort port = node.port(number);
                    sum += extended ? port.count(counter) : port.classicCount(counter);
                }
                long most = field.bits() == 64 ? Long.MAX_VALUE : (1L << field.bits()) - 1;
                field.put(data, Math.clamp(sum, 0, most));
            }
        }
        return 0;
    }

    private static void write(NodePort port, MemorySegment data, boolean extended, int mask) {
        for (PortCounter counter : COUNTERS) {
            Field field = extended ? counter.extended() : counter.classic();
            int bit = extended ? counter.extendedBit() : counter.classicBit();
            if (field != null && (mask >>> bit & 1) != 0) {
                if (extended) {
                    port.setCount(counter, Math.max(0, field.get(data)));
                } else {
                    port.setClassicCount(counter, field.get(data));
                }
            }
        }
    }
}
