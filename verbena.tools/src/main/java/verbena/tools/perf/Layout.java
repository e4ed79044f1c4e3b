package verbena.tools.perf;

import verbena.verbs.QpType;

/// Where the messages are: one region with an area to send from for each queue pair, then an area to receive into,
/// or to be written to and read from, for each. Small messages use their area in turn, at multiples of a cache
/// line, so that one does not wait for the other's cache line.
///
/// @param cycle bytes of an area that small messages go around in: a page
/// @param cacheLine bytes
/// @param size of the longest message
record Layout(QpType type, int queuePairs, int cycle, int cacheLine, int size) {
    /// What a datagram has in front of it (IBTA 11.4.1.2).
    static final int DATAGRAM_HEADER_BYTES = 40;

    /// Bytes of the area of one queue pair, one way.
    long area() {
        return Math.max(cycle, size);
    }

    /// Bytes of the region.
    long bytes() {
        return 2L * queuePairs * area() + (type == QpType.UD ? cacheLine : 0);
    }

    /// Where queue pair `i` sends from.
    long sendOffset(int i) {
        return i * area();
    }

    /// Where queue pair `i` is written to or read from.
    long remoteOffset(int i) {
        return (queuePairs + i) * area();
    }

    /// Where queue pair `i` receives; a datagram's header goes in front, so that the message begins a cache line.
    long receiveOffset(int i) {
        return remoteOffset(i) + (type == QpType.UD ? cacheLine - DATAGRAM_HEADER_BYTES : 0);
    }

    /// Bytes that a receive of a message takes.
    int receiveBytes(int message) {
        return type == QpType.UD ? message + DATAGRAM_HEADER_BYTES : message;
    }

    /// From one message to the next in an area.
    int step(int message) {
        return message <= cacheLine ? cacheLine : (message + cacheLine - 1) / cacheLine * cacheLine;
    }

    /// Messages that an area has room for before it starts over.
    int slots(int message) {
        return message <= cycle / 2 ? cycle / step(message) : 1;
    }
}
