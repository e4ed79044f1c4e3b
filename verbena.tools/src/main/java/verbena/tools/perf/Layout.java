package verbena.tools.perf;

import verbena.verbs.QpType;

/// The places of the messages: one region with an area to send from for each queue pair, then an area to receive
/// into, or to be written to and read from, for each. Small messages use their area in turn, at multiples of a cache
/// line, so that one does not wait for the other's cache line.
///
/// @param cycle bytes of an area that small messages go around in: a page
/// @param cacheLine bytes
/// @param size of the longest message
record Layout(QpType type, int queuePairs, int cycle, int cacheLine, int size) {
    /// The number of bytes that a datagram has in front of it (IBTA 11.4.1.2).
    static final int DATAGRAM_HEADER_BYTES = 40;

    /// Returns the number of bytes of the area of one queue pair in one direction.
    long area() {
        return Math.max(cycle, size);
    }

    /// Returns the number of bytes of the region.
    long bytes() {
        return 2L * queuePairs * area() + (type == QpType.UD ? cacheLine : 0);
    }

    /// Returns the offset from which queue pair `i` sends.
    long sendOffset(int i) {
        return i * area();
    }

    /// Returns the offset at which queue pair `i` is written to or read from.
    long remoteOffset(int i) {
        return (queuePairs + i) * area();
    }

    /// Returns the offset at which queue pair `i` receives; a datagram's header goes in front, so that the message
    /// begins a cache line.
    long receiveOffset(int i) {
        return remoteOffset(i) + (type == QpType.UD ? cacheLine - DATAGRAM_HEADER_BYTES : 0);
    }

    /// Returns the number of bytes that a receive of a message takes.
    int receiveBytes(int message) {
        return type == QpType.UD ? message + DATAGRAM_HEADER_BYTES : message;
    }

    /// Returns the distance from one message to the next in an area.
    int step(int message) {
        return message <= cacheLine ? cacheLine : (message + cacheLine - 1) / cacheLine * cacheLine;
    }

    /// Returns the number of messages that an area has room for before it starts over.
    int slots(int message) {
        return message <= cycle / 2 ? cycle / step(message) : 1;
    }
}
