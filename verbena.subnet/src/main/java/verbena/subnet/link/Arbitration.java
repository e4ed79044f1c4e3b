package verbena.subnet.link;

import java.util.stream.IntStream;
import verbena.subnet.node.NodePort;

/// The choice of the lane that sends next: two tables of lanes with weights, and a limit on how much of high
/// priority may go before low priority has a turn (IBTA 7.6.9). For one thread.
public final class Arbitration {
    /// The unit of a weight, in bytes.
    public static final int WEIGHT_BYTES = 64;
    /// The unit of the limit of high priority, in bytes.
    public static final int LIMIT_BYTES = 4_096;
    /// The limit of high priority that lets the lanes of low priority wait for ever.
    public static final int UNLIMITED = 255;

    private static final int NONE = -1;

    /// The packets that the lanes have to send now.
    interface Lanes {
        /// Returns the bytes of the next packet of a lane that has the credits to leave; 0 when there is none.
        int sendable(int lane);
    }

    /// A place in a weighted round.
    private static final class Round {
        int[] lanes = {};
        int[] weights = {};
        int at;
        int left; // bytes, may become negative by the rest of a packet

        void set(int[] newLanes, int[] newWeights) {
            lanes = newLanes.clone();
            weights = newWeights.clone();
            at = 0;
            left = lanes.length == 0 ? 0 : weights[0] * WEIGHT_BYTES;
        }

        int next(Lanes has) {
            for (int tries = 0; tries <= lanes.length; tries++) {
                if (lanes.length == 0) {
                    return NONE;
                }
                if (left > 0 && has.sendable(lanes[at]) > 0) {
                    return lanes[at];
                }
                at = at + 1 == lanes.length ? 0 : at + 1;
                left = weights[at] * WEIGHT_BYTES;
            }
            return NONE;
        }
    }

    private final Round high = new Round();
    private final Round low = new Round();
    private int limit;
    private int highSent;

    /// Makes an arbitration in which all lanes are alike, and none has high priority.
    Arbitration(int lanes) {
        int[] each = new int[lanes];
        int[] weights = new int[lanes];
        for (int lane = 0; lane < lanes; lane++) {
            each[lane] = lane;
            weights[lane] = 64;
        }
        low.set(each, weights);
    }

    /// Sets both tables (VLArbitrationTable) and the limit (PortInfo:VLHighLimit). An entry of weight 0 is skipped.
    ///
    /// @param highLimit in [#LIMIT_BYTES]; 0 for one packet, [#UNLIMITED]
    public void set(int[] highLanes, int[] highWeights, int[] lowLanes, int[] lowWeights, int highLimit) {
        if (highLanes.length != highWeights.length || lowLanes.length != lowWeights.length) {
            throw new IllegalArgumentException("weights: one for each lane");
        }
        high.set(highLanes, highWeights);
        low.set(lowLanes, lowWeights);
        limit = highLimit;
        highSent = 0;
    }

    /// Takes over the tables of a port, without their empty entries.
    void read(NodePort port) {
        int[][] entries = {lanes(port, true), weights(port, true), lanes(port, false), weights(port, false)};
        set(entries[0], entries[1], entries[2], entries[3], port.highLimit());
    }

    private static int[] lanes(NodePort port, boolean isHigh) {
        return used(port, isHigh).map(i -> port.arbitrationLane(isHigh, i)).toArray();
    }

    private static int[] weights(NodePort port, boolean isHigh) {
        return used(port, isHigh).map(i -> port.arbitrationWeight(isHigh, i)).toArray();
    }

    private static IntStream used(NodePort port, boolean isHigh) {
        return IntStream.range(0, NodePort.ARBITRATION_ENTRIES).filter(i -> port.arbitrationWeight(isHigh, i) > 0);
    }

    /// Returns the lane whose packet leaves now, which is accounted for; negative when there is none.
    int next(Lanes has) {
        boolean isHighExhausted = limit != UNLIMITED && highSent > 0 && highSent >= limit * LIMIT_BYTES;
        int lane = isHighExhausted ? low.next(has) : high.next(has);
        boolean isLow = isHighExhausted;
        if (lane == NONE) {
            lane = isHighExhausted ? high.next(has) : low.next(has);
            isLow = !isHighExhausted;
        }
        if (lane == NONE) {
            return NONE;
        }
        int bytes = has.sendable(lane);
        if (isLow) {
            low.left -= bytes;
            highSent = 0;
        } else {
            high.left -= bytes;
            highSent += bytes;
        }
        return lane;
    }
}
